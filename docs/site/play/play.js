// What the pages to play with share: light or dark, the state in the address, pictures, and small helpers.
(function (root) {
  "use strict";

  const at = (id) => document.getElementById(id);

  // What a reader's browser remembers. Where it refuses storage, nothing is.
  function recall(key) {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  }

  function keep(key, value) {
    try {
      if (value === null) localStorage.removeItem(key);
      else localStorage.setItem(key, value);
    } catch {
      // not remembered
    }
  }

  // element("td", {class: "x"}, "text", child)
  function element(name, attributes = {}, ...children) {
    return filled(document.createElement(name), attributes, children);
  }

  function drawing(name, attributes = {}, ...children) {
    return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
  }

  function filled(node, attributes, children) {
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }

  // A row of a table, whose first cell is its head.
  function tableRow(cells, attributes = {}) {
    const [head, ...others] = cells.map(String);
    return element("tr", attributes, element("th", { scope: "row" }, head), ...others.map((cell) => element("td", {}, cell)));
  }

  // A table's head and rows.
  function fillTable(id, heads, rows) {
    at(id).replaceChildren(element("thead", {}, element("tr", {}, ...heads.map((head) =>
      element(head ? "th" : "td", head ? { scope: "col" } : {}, head)))), element("tbody", {}, ...rows));
  }

  function say(words, kind = "") {
    at("said").textContent = words;
    at("said").className = kind;
  }

  const sum = (list) => list.reduce((total, value) => total + value, 0);
  const many = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : what.endsWith("s") ? "es" : "s"}`;

  // Whether a button can be pressed. Not `disabled`, which would take the keyboard's focus away.
  function able(button, can) {
    button.setAttribute("aria-disabled", String(!can));
  }

  addEventListener("click", (event) => {
    if (event.target.closest("[aria-disabled=true]")) event.stopImmediatePropagation();
  }, true);

  // Numbers from 0 up to 1, the same ones for the same seed (mulberry32).
  function randomFrom(seed) {
    let state = seed >>> 0;
    return () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
    };
  }

  // ---- light or dark -----------------------------------------------------------------------------

  // As the reader has chosen on the site; without that as the system has it.
  function showTheme() {
    const theme = recall("theme");
    if (["light", "dark"].includes(theme)) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  }

  // ---- the state in the address --------------------------------------------------------------------

  // The form's lists, as they stand in the address: #strategy=local&groups=3. What is as at first is left out. `begin` is called once now,
  // and whenever the form or the address changes.
  function follow(form, begin) {
    const lists = [...form.querySelectorAll("select")];
    const state = () => new Map(lists.map((list) => [list.id, list.value]));
    const first = state();

    function read() {
      // What the address has no value for, or one that there is not, is as at first.
      for (const wanted of [first, new Map(new URLSearchParams(location.hash.slice(1)))]) {
        for (const list of lists) {
          if ([...list.options].some((each) => each.value === wanted.get(list.id) && !each.disabled)) list.value = wanted.get(list.id);
        }
      }
      begin();
    }

    function write() {
      const now = new URLSearchParams([...state()].filter(([key, value]) => first.get(key) !== value)).toString();
      history.replaceState(null, "", `${location.pathname}${location.search}${now ? `#${now}` : ""}`);
      begin();
    }

    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("change", write);
    addEventListener("hashchange", read);
    read();
  }

  // ---- pictures ----------------------------------------------------------------------------------

  // The sample picture: 8-bit with a palette of greys, from the last row up.
  function samplePicture() {
    const letters = atob(playPhoto);
    const byte = (place) => letters.charCodeAt(place);
    const word = (place) => byte(place) + 256 * byte(place + 1) + 65536 * byte(place + 2);
    const [width, height, first] = [word(18), word(22), word(10)];
    return { width, height, pixels: new Uint8Array(width * height).map((_, i) =>
      byte(54 + 4 * byte(first + (height - 1 - Math.floor(i / width)) * width + (i % width)))) };
  }

  showTheme();
  addEventListener("storage", showTheme);

  root.play = { at, recall, keep, element, drawing, tableRow, fillTable, say, sum, many, able, randomFrom, follow, samplePicture };
})(globalThis);
