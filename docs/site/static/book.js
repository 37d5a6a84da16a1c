// What all pages of the site have: a button at each block of code that copies it, and what scrolls is reached with the keyboard.
(() => {
  "use strict";

  function addButton(block) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const code = block.querySelector("pre").cloneNode(true);
      code.querySelectorAll(".linenos").forEach((number) => number.remove());
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not allowed";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    block.prepend(button);
  }

  // Code, tables and figures that are wider than the page; they may be in a part that is folded.
  function letScroll() {
    for (const part of document.querySelectorAll("article :is(pre, .table-wrapper, p:has(> img))")) {
      if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
      else part.removeAttribute("tabindex");
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("div.highlight").forEach(addButton);
    document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "Contents of the book");
    document.querySelector(".toc-drawer")?.setAttribute("aria-label", "Contents of the page");
    letScroll();
    addEventListener("load", letScroll);
    addEventListener("resize", letScroll);
    document.addEventListener("toggle", letScroll, true);
  });
})();
