// What all pages of the site have: what scrolls is reached with the keyboard; and what the scripts behind this one share.
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

(() => {
  "use strict";

  // Code, tables and figures that are wider than the page; they may be in a part that is folded.
  function letScroll() {
    for (const part of document.querySelectorAll("article :is(pre, .table-wrapper, p:has(> img))")) {
      if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
      else part.removeAttribute("tabindex");
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "Contents of the book");
    document.querySelector(".toc-drawer")?.setAttribute("aria-label", "Contents of the page");
    letScroll();
    addEventListener("load", letScroll);
    addEventListener("resize", letScroll);
    document.addEventListener("toggle", letScroll, true);
  });
})();
