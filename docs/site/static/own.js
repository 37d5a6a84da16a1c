// On the page of a device: what a program wrote on the reader's own, beside what was recorded here. Nothing leaves the browser.
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
    const heads = ["Chapter", "Strategy", "API", "Here, GB/s", "Here, % of the read ceiling", "Yours, GB/s", "Yours, % of the read ceiling", "Check"];
    const made = document.createElement("table");
    const line = (cells, kind, parent) => {
      const row = parent.insertRow();
      cells.forEach((cell) => row.append(Object.assign(document.createElement(kind), { textContent: cell })));
    };
    line(heads, "th", made.createTHead());
    const body = made.createTBody();
    const here = new Set(recorded.rows.map((row) => row.slice(0, 3).join(" ")));
    for (const [chapter, strategy, api, speed, percent] of recorded.rows) {
      const own = rows[`${chapter} ${strategy} ${api}`] || {};
      line([chapter, strategy, api, digits(speed), digits(percent), digits(own.speed), digits(own.percent), own.check || "-"], "td", body);
    }
    for (const [key, own] of Object.entries(rows)) {
      if (!here.has(key)) line([...key.split(" "), "-", "-", digits(own.speed), digits(own.percent), own.check], "td", body);
    }
    return made;
  }

  function begin(place) {
    const recorded = JSON.parse(place.dataset.recorded);
    const label = Object.assign(document.createElement("label"), { textContent: "Your results: " });
    const input = Object.assign(document.createElement("input"), { type: "file", multiple: true, accept: ".json" });
    const said = Object.assign(document.createElement("p"), { role: "status" });
    const wrapper = Object.assign(document.createElement("div"), { className: "table-wrapper", tabIndex: 0 });
    label.append(input);
    place.append(label, said);
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
      wrapper.replaceChildren(...(Object.keys(rows).length ? [table(recorded, rows)] : []));
      place.append(wrapper);
    });
  }

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll(".own").forEach(begin));
})();
