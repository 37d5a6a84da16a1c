// What the pages to play with share: the light or dark that was chosen on the site, and small helpers.
(function (root) {
  "use strict";

  // Where a browser refuses storage, the system's choice stays.
  try {
    const theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // nothing was remembered
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

  function still() {
    return matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

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

  // A button that runs, beat by beat until it is over, and pauses. Without motion the result comes at once.
  function runner(button) {
    let timer = 0;

    function pause() {
      clearInterval(timer);
      timer = 0;
      button.textContent = "Run";
      button.setAttribute("aria-pressed", "false");
    }

    function start(beat, isOver, milliseconds) {
      if (still()) {
        while (!isOver()) beat();
        return;
      }
      button.textContent = "Pause";
      button.setAttribute("aria-pressed", "true");
      const next = () => {
        beat();
        if (isOver()) pause();
      };
      timer = setInterval(next, milliseconds);
      next();
    }

    return { start, pause, isRunning: () => timer !== 0 };
  }

  root.play = { element, drawing, still, randomFrom, runner };
})(globalThis);
