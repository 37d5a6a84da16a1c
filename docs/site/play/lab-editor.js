// The editor of lab.html: a text field whose letters are clear, over the same text in colours, and the numbers of its lines. It takes
// Tab for nothing, so that the keyboard leads on.
(function (root) {
  "use strict";

  const { at, element, sum } = play;
  const WORDS = /(\/\/[^\n]*|\/\*[^]*?\*\/)|\b(fn|let|var|const|override|struct|for|while|loop|if|else|return|break|continue|true|false)\b|\b(u32|i32|bool|atomic|array|vec[234]u?|storage|uniform|workgroup|read|read_write)\b|(@\w+|\b(?:atomic[A-Z]\w*|\w+Barrier)\b)|(\b\d\w*)/g;
  const KINDS = ["comment", "keyword", "type", "special", "number"];

  function coloured(text) {
    const parts = [];
    let from = 0;
    for (const found of text.matchAll(WORDS)) {
      const kind = KINDS[found.slice(1).findIndex(Boolean)];
      parts.push(text.slice(from, found.index), element("span", { class: kind }, found[0]));
      from = found.index + found[0].length;
    }
    return [...parts, text.slice(from), "\n"];
  }

  function scrolled() {
    at("lines").scrollTop = at("colours").scrollTop = at("code").scrollTop;
    at("colours").scrollLeft = at("code").scrollLeft;
  }

  // Shows a text, and what a compiler says of it: [{line, column, words}].
  function show(text, messages = []) {
    if (at("code").value !== text) at("code").value = text;
    const bad = new Set(messages.map((each) => each.line));
    at("lines").replaceChildren(...text.split("\n").flatMap((_, place) =>
      [element("span", bad.has(place + 1) ? { class: "bad" } : {}, String(place + 1)), "\n"]));
    if (at("colours").textContent !== `${text}\n`) at("colours").replaceChildren(...coloured(text));
    scrolled();
    at("messages").replaceChildren(...messages.map((each) => {
      if (each.line === 0) return element("li", {}, each.words);
      const button = element("button", { type: "button" }, `Line ${each.line}, column ${each.column}: ${each.words}`);
      button.addEventListener("click", () => goTo(each.line, each.column));
      return element("li", {}, button);
    }));
  }

  function goTo(line, column = 1) {
    const before = at("code").value.split("\n").slice(0, line - 1);
    const place = sum(before.map((each) => each.length + 1)) + column - 1;
    at("code").focus();
    at("code").setSelectionRange(place, place);
    showLine(line);
  }

  function showLine(line) {
    at("code").scrollTop = (line - 1) * parseFloat(getComputedStyle(at("code")).lineHeight);
  }

  at("code").addEventListener("scroll", scrolled);
  root.labEditor = { show, showLine };
})(globalThis);
