// Tables of class "sortable": a button in the head of each column sorts the rows by it, and once more the other way; and a bar in
// each cell of a speed, or of a part of a speed.
(() => {
  "use strict";

  // What a cell is sorted by: its number where it begins with one, else its text; "-" comes last either way.
  function keyOf(row, column) {
    const text = row.cells[column].textContent.trim();
    const number = parseFloat(text);
    return text === "-" ? null : Number.isNaN(number) ? text : number;
  }

  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  }

  function sort(table, column, direction) {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, key: keyOf(row, column) }));
    rows.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
      return direction * compare(a.key, b.key);
    });
    body.append(...rows.map((each) => each.row));
  }

  function makeSortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...(head.querySelector("p") || head).childNodes);
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
        sort(table, column, direction);
      });
    });
  }

  // Columns of one unit share one scale, so that OpenCL and CUDA can be compared.
  function addBars(table) {
    const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent);
    for (const unit of ["GB/s", "% of the read ceiling"]) {
      const cells = heads.flatMap((head, column) => (head.includes(unit) ? [...table.tBodies[0].rows].map((row) => row.cells[column]) : []));
      const most = Math.max(unit === "GB/s" ? 0 : 100, ...cells.map((cell) => parseFloat(cell.textContent) || 0));
      for (const cell of cells) cell.style.setProperty("--part", `${100 * (parseFloat(cell.textContent) || 0) / most}%`);
      for (const cell of cells) cell.classList.add("bar");
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("table.sortable").forEach((table) => {
      if (table.tHead && table.tBodies.length === 1) {
        addBars(table);
        makeSortable(table);
      }
    });
  });
})();
