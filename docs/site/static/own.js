// On the page of a device: all strategies as recorded, and beside them what a program wrote on the reader's own. Nothing leaves the browser.
(() => {
  "use strict";

  // {chapter strategy API: row} of what --json has written, a run or a file of docs/results.
  function rowsOf(text) {
    const given = JSON.parse(text);
    const runs = Array.isArray(given.runs) ? given.runs.map((entry) => entry.run) : [given];
    const rows = {};
    for (const { chapter, api, device, input, read_ceiling_gb_s: ceiling, results } of runs) {
      if (!chapter || !api || !input || !Array.isArray(results)) throw new Error("no result of a program");
      for (const { variant, check, gb_s: speed } of results) {
        const before = rows[`${chapter} ${variant} ${api}`];
        if (before && before.pixels >= input.pixels) continue; // the largest input tells most
        rows[`${chapter} ${variant} ${api}`] = { device, input: input.name, pixels: input.pixels, check, speed, percent: speed && ceiling ? (100 * speed) / ceiling : null };
      }
    }
    return rows;
  }

  const digits = (value) => (value ? (value >= 1000 ? value.toFixed(0) : value.toPrecision(3)) : "-");

  function table(recorded, rows) {
    const line = (kind, cells) => element("tr", {}, ...cells.map((textContent) => element(kind, { textContent })));
    const here = new Set(recorded.rows.map((row) => row.slice(0, 3).join(" ")));
    const others = Object.keys(rows).filter((key) => !here.has(key)).map((key) => [...key.split(" "), null, null]);
    const yours = Object.keys(rows).length ? ["Yours, GB/s", "Yours, % of the read ceiling", "Check"] : [];
    const heads = ["Chapter", "Strategy", "API", "Here, GB/s", "Here, % of the read ceiling", ...yours];
    return element("table", { className: "docutils" }, element("thead", {}, line("th", heads)), element("tbody", {},
      ...[...recorded.rows, ...others].map(([chapter, strategy, api, ...speeds]) => {
        const { speed, percent, check = "-" } = rows[`${chapter} ${strategy} ${api}`] || {};
        return line("td", [chapter, strategy, api, ...[...speeds, speed, percent].map(digits), check].slice(0, heads.length));
      })));
  }

  function begin(place) {
    const recorded = JSON.parse(place.dataset.recorded);
    const input = element("input", { type: "file", multiple: true, accept: ".json" });
    const said = element("p", { role: "status", textContent: `Here: ${recorded.input}.` });
    const wrapper = element("div", { className: "table-wrapper", tabIndex: 0 }, table(recorded, {}));
    place.append(element("label", {}, "Your results: ", input), said, wrapper);
    input.addEventListener("change", async () => {
      const rows = {}, wrong = [];
      for (const file of input.files) {
        try {
          Object.assign(rows, rowsOf(await file.text()));
        } catch (error) {
          wrong.push(`${file.name}: ${error instanceof SyntaxError ? "no JSON" : "no result of a program"}.`);
        }
      }
      const unique = (field) => [...new Set(Object.values(rows).map((row) => row[field]))].join("; ");
      said.textContent = [...wrong, ...(Object.keys(rows).length ? [`Yours: ${unique("device")}; ${unique("input")}. Here: ${recorded.input}.`] : [])].join(" ");
      wrapper.replaceChildren(table(recorded, rows));
    });
  }

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll(".own").forEach(begin));
})();
