// What all pages of the site have: what scrolls is reached with the keyboard, and speeds have bars; and what predict.js makes elements with.
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

(() => {
  "use strict";

  // Code, tables and figures that are wider than the page; they may be in a part that is folded. On a phone a table's rows become cards then.
  function letScroll() {
    for (const wrapper of document.querySelectorAll("article .table-wrapper")) {
      wrapper.classList.remove("cards");
      wrapper.classList.toggle("cards", innerWidth < 740 && wrapper.scrollWidth > wrapper.clientWidth + 1);
      const heads = [...wrapper.querySelectorAll("thead th")].map((head) => head.textContent);
      for (const cell of wrapper.querySelectorAll("tbody :is(td, th)")) cell.dataset.head = heads[cell.cellIndex] ?? "";
    }
    // Where code or a figure is cut, the contents of the page give it their room.
    const contents = document.querySelector(".toc-drawer");
    if (contents?.textContent.trim()) {
      contents.classList.remove("no-toc");
      contents.classList.toggle("no-toc", [...document.querySelectorAll("article :is(pre, p:has(> img))")].some((part) => part.scrollWidth > part.clientWidth + 1));
    }
    for (const figure of document.querySelectorAll("article p > img")) {
      if (figure.naturalWidth > 0 && figure.naturalWidth < 500) figure.style.width = "450px"; // whose letters are larger than those of the wide ones
    }
    for (const part of document.querySelectorAll("article :is(pre, .table-wrapper, p:has(> img))")) {
      if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
      else part.removeAttribute("tabindex");
    }
  }

  // A bar in each cell of a speed, or of a part of a speed; columns of one unit share one scale, so that OpenCL and CUDA can be compared.
  function addBars(table) {
    const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent);
    for (const unit of ["GB/s", "% of the read ceiling"]) {
      const cells = heads.flatMap((head, column) => (head.includes(unit) ? [...table.tBodies[0].rows].map((row) => row.cells[column]) : []));
      const most = Math.max(unit === "GB/s" ? 0 : 100, ...cells.map((cell) => parseFloat(cell.textContent) || 0));
      for (const cell of cells) cell.style.setProperty("--part", `${100 * (parseFloat(cell.textContent) || 0) / most}%`);
      for (const cell of cells) cell.classList.add("bar");
    }
  }

  // What was read to its end has a mark wherever a link leads there; this browser remembers it.
  const READ = "read";
  const read = () => new Set(JSON.parse(localStorage.getItem(READ) ?? "[]"));
  function showRead() {
    const all = read();
    for (const link of document.querySelectorAll(".sidebar-tree a, .sections a, .next-page, .prev-page")) link.classList.toggle("read", all.has(new URL(link.href).pathname));
    const [parts, done] = [".sections a", ".sections a.read"].map((each) => document.querySelectorAll(each).length);
    document.querySelector(".sections")?.setAttribute("data-done", done ? `${done} of ${parts} read` : "");
  }
  const isRead = () => scrollY + innerHeight >= document.querySelector("article").getBoundingClientRect().bottom + scrollY - 40;
  function noteRead() {
    if (!document.querySelector(".next-page, .prev-page") || !isRead()) return;
    localStorage.setItem(READ, JSON.stringify([...read().add(location.pathname)]));
    removeEventListener("scroll", noteRead);
    showRead();
  }

  // On to the next page and back by arrow keys, where nothing else takes them.
  function turn(event) {
    const way = { ArrowRight: ".next-page", ArrowLeft: ".prev-page" }[event.key];
    if (!way || event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea, summary, [tabindex], [role=tab]")) return;
    document.querySelector(way)?.click();
  }

  // Links from elsewhere lead to a part of a chapter, whose sections are pages of their own here.
  function goToPart() {
    const part = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const link = part?.closest(".sections li")?.querySelector("a");
    if (link) location.replace(link.href + location.hash);
    return Boolean(link);
  }

  document.addEventListener("DOMContentLoaded", () => {
    if (goToPart()) return;  // nobody reads this page: its end may well be in sight until the other one is there
    addEventListener("load", () => {  // before, pictures are missing, and the end is nearer
      addEventListener("scroll", noteRead);
      noteRead();
    });
    addEventListener("keydown", turn);
    showRead();
    document.querySelectorAll("table.measured").forEach(addBars);
    document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "Contents of the book");
    document.querySelector(".toc-drawer")?.setAttribute("aria-label", "Contents of the page");
    const found = document.querySelector("#search-results"); // where the sections of all chapters have the same names
    const of = (link) => (link.textContent.startsWith("Chapter") ? "" : `Chapter ${link.getAttribute("href").slice(0, 2)}: `);
    if (found) new MutationObserver(() => found.querySelectorAll("li > a[href^='0']").forEach((link) => { link.dataset.of = of(link); })).observe(found, { childList: true, subtree: true });
    found?.before(element("h1", { textContent: "Search" }));
    letScroll();
    addEventListener("load", letScroll);
    addEventListener("resize", letScroll);
    document.addEventListener("toggle", letScroll, true);
  });
})();
