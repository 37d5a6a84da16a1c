// banks.html: shows the model of banks-model.js, and hands it what the reader picks.
(() => {
  "use strict";

  const model = banksModel;
  const { at, able, element, drawing, tableRow, fillTable, say, sum, many, chosen, randomFrom, stepper, colour, follow, goals, samplePicture } = play;
  const ROW = model.LANES * model.PIXELS;
  const PAUSE_MS = 1200;

  let row = new Uint8Array(ROW);
  let copies = 1; // as chosen
  let step = 0;
  let kind = ""; // of row
  let which = 0; // of the rows of this kind

  const EVERY = 64; // rows of the sample picture, of which one is shown
  const photo = samplePicture();
  const reach = goals({ worst: "Make a step take 8 passes.", useless: "Find a row where 8 copies need as many passes as one table.", free: "Find a row of more than one value for which one table is enough." });

  // ---- rows --------------------------------------------------------------------------------------

  // A row of a picture; a narrow one is repeated, as --tile does.
  function rowOf({ width, height, pixels }, first) {
    return Uint8Array.from({ length: ROW }, (_, x) => pixels[((first % height) * width + x) % pixels.length]);
  }

  function madeRow(kind) {
    const random = randomFrom(which + 1);
    const filled = (value) => Uint8Array.from({ length: ROW }, (_, place) => value(place));
    switch (kind) {
      case "photo": return rowOf(photo, EVERY / 2 + which * EVERY);
      case "uniform": return filled(() => Math.floor(random() * 256));
      case "four-values": return filled(() => Math.floor(random() * 4));
      case "ramp": return filled((place) => place % 256);
      default: return filled(() => 127);
    }
  }

  function newRow() {
    running.pause();
    row = madeRow(at("kind").value);
    step = 0;
    able(at("other"), !["constant", "ramp"].includes(at("kind").value));
    copies = Number(chosen("copies"));
    show();
  }

  // ---- showing -----------------------------------------------------------------------------------

  function show() {
    const all = model.passesOfRow(row, copies);
    const now = model.countStep(row, step, copies);
    const most = Math.max(4, ...all);
    [...at("steps").children].forEach((button, number) => {
      button.textContent = String(all[number]);
      button.style.height = `${Math.max(30, 100 * all[number] / most)}%`;
      button.setAttribute("aria-pressed", String(number === step));
      button.setAttribute("aria-label", `Step ${number + 1}: ${many(all[number], "pass")}`);
    });
    const busy = now.passesOfBank.indexOf(now.passes);
    const conflicts = now.passes - 1;
    say(`Step ${step + 1} of ${model.PIXELS}: ${many(now.passes, "pass")}, ${conflicts === 0 ? "no conflict" : many(conflicts, "conflict")}. `
      + (now.passes > 1 ? `Bank ${busy} has the most to do. ` : "No bank has more than one pass. ")
      + `The whole row: ${sum(all)} passes, ${sum(all) - model.PIXELS} of them for conflicts.`, conflicts > 0 ? "bad" : "good");
    reach("worst", now.passes === 8);
    const passes = (count) => sum(model.passesOfRow(row, count));
    reach("useless", copies === 8 && new Set(row).size > 1 && passes(8) >= passes(1));
    reach("free", copies === 1 && new Set(row).size > 1 && passes(1) === model.PIXELS);
    showBanks(now);
    showTotals();
  }

  // A column for each bank, on a narrow page 16 beside each other. A box is a word; in a higher box it waits for those below.
  function showBanks({ banks, passesOfBank, passes }) {
    const cell = 24;
    const high = 28;
    const across = (at("banks").clientWidth || 600) < 500 ? model.BANKS / 2 : model.BANKS;
    const foot = Math.max(4, ...model.passesOfRow(row, copies)) * high + 4;
    const parts = [];
    banks.forEach((words, bank) => {
      const x = (bank % across) * cell;
      const top = Math.floor(bank / across) * (foot + 26);
      parts.push(drawing("rect", { x: x + 1, y: top + foot, width: cell - 2, height: 18, rx: 3,
        fill: passesOfBank[bank] === passes && passes > 1 ? "var(--orange)" : words.length ? "var(--blue)" : "var(--grid)" }),
      drawing("text", { x: x + cell / 2, y: top + foot + 13, "text-anchor": "middle", class: words.length ? "in" : "small" }, String(bank)));
      words.forEach(({ bin, lanes }, pass) => {
        const y = top + foot - high * (pass + 1);
        parts.push(drawing("g", { class: "pass", style: `animation-delay: ${pass * 0.15}s` },
          drawing("rect", { x: x + 1, y, width: cell - 2, height: high - 2, rx: 3, fill: colour(pass) }),
          drawing("text", { x: x + cell / 2, y: y + 13, "text-anchor": "middle", class: "in" }, String(bin)),
          ...(lanes.length > 1 ? [drawing("text", { x: x + cell / 2, y: y + 23, "text-anchor": "middle", class: "many" }, `×${lanes.length}`)] : [])));
      });
    });
    const height = (model.BANKS / across) * (foot + 26);
    at("banks").replaceChildren(drawing("svg", { viewBox: `0 0 ${across * cell} ${height}`, "aria-hidden": "true" }, ...parts));
    at("words").textContent = banks.map((words, bank) => (words.length === 0 ? "" : `bank ${bank}: ${words.map(({ bin, lanes }) =>
      `bin ${bin}${lanes.length > 1 ? ` for ${lanes.length} lanes` : ""}`).join(", ")}`)).filter(Boolean).join("; ");
  }

  function showTotals() {
    fillTable("totals", ["Copies", "passes", "for conflicts", "passes a step"], model.COPIES.map((count) => {
      const passes = sum(model.passesOfRow(row, count));
      return tableRow([count, passes, passes - model.PIXELS, (passes / model.PIXELS).toFixed(2)], count === copies ? { class: "now" } : {});
    }));
  }

  // ---- the page ----------------------------------------------------------------------------------

  // The step so many further on, or back; behind the last comes the first.
  function goOn(by) {
    step = (step + by + model.PIXELS) % model.PIXELS;
    show();
  }

  for (const count of model.COPIES) {
    const input = element("input", { type: "radio", name: "copies", value: count, ...(count === 1 ? { checked: "" } : {}) });
    at("copies").append(element("label", {}, input, element("span", {}, count === 1 ? "one table" : String(count))));
  }
  for (let number = 0; number < model.PIXELS; ++number) {
    const button = element("button", { type: "button" });
    button.addEventListener("click", () => {
      running.pause();
      step = number;
      show();
    });
    at("steps").append(button);
  }
  at("other").addEventListener("click", () => {
    which += 1;
    newRow();
  });
  const running = stepper({ next: "next", forward: () => goOn(1), back: () => goOn(-1),
    isOver: () => step === model.PIXELS - 1, rewind: () => { step = -1; }, milliseconds: PAUSE_MS });
  addEventListener("resize", show);
  follow(at("settings"), () => {
    if (at("kind").value !== kind) which = 0;
    kind = at("kind").value;
    const before = step;
    newRow();
    step = before;
    show();
  });
})();
