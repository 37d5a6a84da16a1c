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

  // Where a compiler expects something, it looks at what comes next; the reader looks at what is before.
  function placed(text, { line, column, words }) {
    const before = text.split("\n").slice(0, line - 1);
    const isFirst = /^expected '?[;)}]/.test(words) && !text.split("\n")[line - 1]?.slice(0, column - 1).trim();
    while (isFirst && before.length > 0 && !/^\s*[^\s/]/.test(before.at(-1))) before.pop();
    const bare = before.at(-1)?.replace(/\s*(\/\/.*)?$/, "");
    return isFirst && bare ? { line: before.length, column: bare.length + 1, words } : { line, column, words };
  }

  // Shows a text, and what a compiler says of it: [{line, column, words}]. Behind what it expects there is much that follows from it.
  function show(text, messages = []) {
    if (at("code").value !== text) at("code").value = text;
    messages = messages.map((each) => placed(text, each));
    if (messages[0]?.words.startsWith("expected")) messages = messages.slice(0, 1);
    const wrong = (place) => messages.filter(({ line }) => line === place + 1).map(({ words }) => element("span", { class: "wrong" }, `  \u25c2 ${words.split("\n")[0]}`));
    const rows = text.split("\n");
    at("lines").replaceChildren(...rows.flatMap((_, place) => [element("span", wrong(place).length > 0 ? { class: "bad" } : {}, String(place + 1)), "\n"]));
    if (messages.length > 0) at("colours").replaceChildren(...rows.flatMap((row, place) => [...coloured(row).slice(0, -1), ...wrong(place), "\n"]));
    else if (at("colours").textContent !== `${text}\n`) at("colours").replaceChildren(...coloured(text));
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

  // The line of an event that is looked at.
  function here(line, isInSight) {
    [...at("lines").children].forEach((each, place) => each.classList.toggle("here", place + 1 === line));
    const top = (line - 1) * parseFloat(getComputedStyle(at("code")).lineHeight);
    if (isInSight && (top < at("code").scrollTop || top > at("code").scrollTop + at("code").clientHeight - 40)) showLine(line - 2);
  }

  const lineHere = () => at("code").value.slice(0, at("code").selectionStart).split("\n").length;

  // As if the reader had written it, so that it can be undone.
  function write(text, isAll) {
    at("code").focus({ preventScroll: true });
    if (isAll) at("code").select();
    document.execCommand("insertText", false, text);
  }

  // A new line begins where the last did, and further in behind a brace.
  at("code").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.isComposing) return;
    event.preventDefault();
    const line = at("code").value.slice(0, at("code").selectionStart).split("\n").at(-1);
    write(`\n${/^\s*/.exec(line)[0]}${/\{\s*$/.test(line) ? "    " : ""}`);
  });
  at("code").addEventListener("scroll", scrolled);
  root.labEditor = { show, showLine, here, lineHere, write };
})(globalThis);
