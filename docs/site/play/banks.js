// banks.html: shows the model of banks-model.js, and hands it what the reader picks.
(() => {
  "use strict";

  const model = banksModel;
  const { at, able, element, drawing, tableRow, fillTable, say, sum, many, chosen, randomFrom, stepper, colour, follow, goals, samplePicture, ownPictures } = play;
  const ROW = model.LANES * model.PIXELS;
  const PAUSE_MS = 1200;

  let row = new Uint8Array(ROW);
  let copies = 1; // as chosen
  let step = 0;
  let kind = ""; // of row
  let which = 0; // of the rows of this kind
  let picture = null; // a reader's own: {width, height, pixels}

  const EVERY = 64; // rows of the sample picture, of which one is shown
  const photo = samplePicture();
  const reach = goals({ worst: "Make a step take 32 passes.", useless: "Find a row where 8 copies need as many passes as one table.", free: "Find a row of more than one value for which one table is enough." });

  const rule = () => chosen("rule");

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
      case "own": return rowOf(picture, Math.floor(picture.height / 2) + which * Math.max(1, Math.floor(picture.height / 8)));
      default: return filled(() => 127);
    }
  }

  function take(own) {
    picture = own;
    at("kind").querySelector("[value=own]").disabled = false;
    at("kind").value = "own";
    which = 0;
    newRow();
  }

  function newRow() {
    running.pause();
    row = madeRow(at("kind").value);
    step = 0;
    able(at("other"), !["constant", "ramp"].includes(at("kind").value));
    copies = Number(chosen("copies"));
    const context = at("row").getContext("2d");
    const image = context.createImageData(ROW, 1);
    row.forEach((value, place) => image.data.set([value, value, value, 255], 4 * place));
    context.putImageData(image, 0, 0);
    show();
  }

  // ---- showing -----------------------------------------------------------------------------------

  function show() {
    const all = model.passesOfRow(row, copies, rule());
    const now = model.countStep(row, step, copies, rule());
    const most = Math.max(4, ...all);
    [...at("steps").children].forEach((button, number) => {
      button.textContent = String(all[number]);
      button.style.height = `${Math.max(30, 100 * all[number] / most)}%`;
      button.setAttribute("aria-pressed", String(number === step));
      button.setAttribute("aria-label", `Step ${number + 1}: ${many(all[number], "pass")}`);
    });
    const busy = now.passesOfBank.indexOf(now.passes);
    const conflicts = now.passes - 1;
    // Lanes that want one word contend; that is no bank conflict, and a pass all the same.
    const what = rule() === "added-up" ? "conflict" : "wait";
    say(`Step ${step + 1} of ${model.PIXELS}: ${many(now.passes, "pass")}, ${conflicts === 0 ? `no ${what}` : many(conflicts, what)}. `
      + (now.passes > 1 ? `Bank ${busy} has the most to do. ` : "No bank has more than one pass. ")
      + `The whole row: ${sum(all)} passes, ${sum(all) - model.PIXELS} of them for ${what}s.`, conflicts > 0 ? "bad" : "good");
    reach("worst", now.passes === model.LANES);
    const passes = (count) => sum(model.passesOfRow(row, count, rule()));
    reach("useless", copies === 8 && new Set(row).size > 1 && passes(8) >= passes(1));
    reach("free", copies === 1 && new Set(row).size > 1 && passes(1) === model.PIXELS);
    showBanks(now);
    showTotals();
  }

  // A column for each bank, on a narrow page 16 beside each other. A box is a word; in a higher box it waits for those below.
  function showBanks({ banks, passesOfBank, passes }) {
    const cell = 24;
    const addedUp = rule() === "added-up";
    const high = addedUp ? 28 : 20;
    const across = (at("banks").clientWidth || 600) < 500 ? model.BANKS / 2 : model.BANKS;
    const foot = Math.max(4, ...model.passesOfRow(row, copies, rule())) * high + 4;
    const parts = [];
    banks.forEach((words, bank) => {
      const x = (bank % across) * cell;
      const top = Math.floor(bank / across) * (foot + 26);
      parts.push(drawing("rect", { x: x + 1, y: top + foot, width: cell - 2, height: 18, rx: 3,
        fill: passesOfBank[bank] === passes && passes > 1 ? "var(--orange)" : words.length ? "var(--blue)" : "var(--grid)" }),
      drawing("text", { x: x + cell / 2, y: top + foot + 13, "text-anchor": "middle", class: words.length ? "in" : "small" }, String(bank)));
      let pass = 0;
      words.forEach(({ bin, lanes }, number) => {
        const boxes = addedUp ? 1 : lanes.length;
        for (let each = 0; each < boxes; ++each, ++pass) {
          const y = top + foot - high * (pass + 1);
          parts.push(drawing("g", { class: "pass", style: `animation-delay: ${pass * 0.15}s` },
            drawing("rect", { x: x + 1, y, width: cell - 2, height: high - 2, rx: 3, fill: colour(number) }),
            drawing("text", { x: x + cell / 2, y: y + 13, "text-anchor": "middle", class: "in" }, String(bin)),
            ...(addedUp && lanes.length > 1
              ? [drawing("text", { x: x + cell / 2, y: y + 23, "text-anchor": "middle", class: "many" }, `×${lanes.length}`)] : [])));
        }
      });
    });
    const height = (model.BANKS / across) * (foot + 26);
    at("banks").replaceChildren(drawing("svg", { viewBox: `0 0 ${across * cell} ${height}`, "aria-hidden": "true" }, ...parts));
    at("words").textContent = banks.map((words, bank) => (words.length === 0 ? "" : `bank ${bank}: ${words.map(({ bin, lanes }) =>
      `bin ${bin}${lanes.length > 1 ? ` for ${lanes.length} lanes` : ""}`).join(", ")}`)).filter(Boolean).join("; ");
  }

  function showTotals() {
    const measured = playData.lanes;
    const ms = measured.ms[at("kind").value] || {};
    const slowest = Math.max(...Object.values(ms), 0);
    const rows = model.COPIES.map((count) => {
      const passes = sum(model.passesOfRow(row, count, rule()));
      const time = ms[count];
      const line = tableRow([count, passes, passes - model.PIXELS, (passes / model.PIXELS).toFixed(2), time ? time.toFixed(4) : "not recorded", ""],
        count === copies ? { class: "now" } : {});
      line.lastChild.style.textAlign = "left";
      if (time) line.lastChild.append(element("span", { class: "length", style: `width: ${(6 * time / slowest).toFixed(2)}rem` }));
      return line;
    });
    const heads = ["Copies", "passes", rule() === "added-up" ? "for conflicts" : "for waits", "passes a step", `${measured.size} of such pixels, ms`, ""];
    fillTable("totals", heads, rows);
    const one = rule() === "added-up" ? "" : " It was measured with additions of 1, which are added up.";
    at("note").textContent = `The times: lane-bins, ${measured.api} on ${measured.device}, recorded ${measured.date}; not of this row but of `
      + `all pixels of such an input.${one} Few passes hide behind the reading of the pixels: below about two the time hardly changes.`;
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
    isOver: () => step === model.PIXELS - 1, rewind: () => { step = -1; }, milliseconds: () => PAUSE_MS });
  addEventListener("resize", show);
  ownPictures(take);
  follow(at("settings"), () => {
    if (at("kind").value !== kind) which = 0;
    kind = at("kind").value;
    const before = step;
    newRow();
    step = before;
    show();
  });
})();
