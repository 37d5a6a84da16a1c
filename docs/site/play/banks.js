// banks.html: shows the model of banks-model.js, and hands it what the reader picks.
(() => {
  "use strict";

  const model = banksModel;
  const { element, drawing, randomFrom, runner } = play;
  const at = (id) => document.getElementById(id);
  const running = runner(at("run"));
  const ROW = model.LANES * model.PIXELS;
  const COLOURS = ["blue", "green", "purple", "yellow"];
  const PAUSE_MS = 1200;

  let row = new Uint8Array(ROW);
  let copies = 1;
  let step = 0;
  let which = 0; // of the rows of this kind
  let picture = null; // a reader's own: {width, height, grey}

  const sum = (list) => list.reduce((total, value) => total + value, 0);
  const rule = () => document.querySelector("input[name=rule]:checked").value;
  const times = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

  // ---- rows --------------------------------------------------------------------------------------

  // A row of a picture; a narrow one is repeated, as --tile does.
  function rowOf({ width, height, grey }, number) {
    const first = (Math.floor(height / 2) + number * Math.max(1, Math.floor(height / 8))) % height;
    return Uint8Array.from({ length: ROW }, (_, x) => grey[(first * width + x) % grey.length]);
  }

  function madeRow(kind) {
    const random = randomFrom(which + 1);
    const filled = (value) => Uint8Array.from({ length: ROW }, (_, place) => value(place));
    switch (kind) {
      case "photo": return Uint8Array.from(atob(playData.photo[which % playData.photo.length]), (letter) => letter.charCodeAt(0));
      case "uniform": return filled(() => Math.floor(random() * 256));
      case "four-values": return filled(() => Math.floor(random() * 4));
      case "ramp": return filled((place) => place % 256);
      case "own": return rowOf(picture, which);
      default: return filled(() => 127);
    }
  }

  // A picture turned to grey as the programs do it (docs/pictures.md).
  async function take(file) {
    if (!file) return;
    try {
      const bitmap = await createImageBitmap(file);
      const canvas = element("canvas", { width: bitmap.width, height: bitmap.height });
      const context = canvas.getContext("2d");
      context.drawImage(bitmap, 0, 0);
      const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
      const grey = Uint8Array.from({ length: bitmap.width * bitmap.height }, (_, pixel) =>
        (77 * data[4 * pixel] + 150 * data[4 * pixel + 1] + 29 * data[4 * pixel + 2]) >> 8);
      picture = { width: bitmap.width, height: bitmap.height, grey };
    } catch {
      say(`${file.name} is no picture that this browser reads.`, "bad");
      return;
    }
    at("kind").querySelector("[value=own]").disabled = false;
    at("kind").value = "own";
    which = 0;
    newRow();
  }

  function newRow() {
    running.pause();
    row = madeRow(at("kind").value);
    step = 0;
    at("other").disabled = ["constant", "ramp"].includes(at("kind").value);
    const context = at("row").getContext("2d");
    const image = context.createImageData(ROW, 1);
    row.forEach((value, place) => image.data.set([value, value, value, 255], 4 * place));
    context.putImageData(image, 0, 0);
    show();
  }

  // ---- showing -----------------------------------------------------------------------------------

  function say(words, kind = "") {
    at("said").textContent = words;
    at("said").className = kind;
  }

  function show() {
    const all = model.turnsOfRow(row, copies, rule());
    const now = model.countStep(row, step, copies, rule());
    const most = Math.max(4, ...all);
    [...at("steps").children].forEach((button, number) => {
      button.textContent = String(all[number]);
      button.style.height = `${Math.max(30, 100 * all[number] / most)}%`;
      button.setAttribute("aria-pressed", String(number === step));
      button.setAttribute("aria-label", `Step ${number + 1}: ${times(all[number], "turn")}`);
    });
    const busy = now.turnsOfBank.indexOf(now.turns);
    const conflicts = now.turns - 1;
    // Lanes that want one word contend; that is no bank conflict, and a turn all the same.
    const what = rule() === "added-up" ? "conflict" : "wait";
    say(`Step ${step + 1} of ${model.PIXELS}: ${times(now.turns, "turn")}, ${conflicts === 0 ? `no ${what}` : times(conflicts, what)}. `
      + (now.turns > 1 ? `Bank ${busy} has the most to do. ` : "No bank has more than one turn. ")
      + `The whole row: ${sum(all)} turns, ${sum(all) - model.PIXELS} of them for ${what}s.`, conflicts > 0 ? "bad" : "good");
    showBanks(now);
    showTotals();
  }

  // A column for each bank. A box is a word; in a higher box it waits for those below.
  function showBanks({ banks, turnsOfBank, turns }) {
    const cell = 24;
    const addedUp = rule() === "added-up";
    const high = addedUp ? 28 : 20;
    const foot = Math.max(4, ...model.turnsOfRow(row, copies, rule())) * high + 4;
    const parts = [];
    banks.forEach((words, bank) => {
      const x = bank * cell;
      parts.push(drawing("rect", { x: x + 1, y: foot, width: cell - 2, height: 18, rx: 3,
        fill: turnsOfBank[bank] === turns && turns > 1 ? "var(--orange)" : words.length ? "var(--blue)" : "var(--grid)" }),
      drawing("text", { x: x + cell / 2, y: foot + 13, "text-anchor": "middle", class: words.length ? "in" : "small" }, String(bank)));
      let turn = 0;
      words.forEach(({ bin, lanes }, number) => {
        const boxes = addedUp ? 1 : lanes.length;
        for (let each = 0; each < boxes; ++each, ++turn) {
          const y = foot - high * (turn + 1);
          parts.push(drawing("g", { class: "turn", style: `animation-delay: ${turn * 0.15}s` },
            drawing("rect", { x: x + 1, y, width: cell - 2, height: high - 2, rx: 3, fill: `var(--${COLOURS[number % 4]})` }),
            drawing("text", { x: x + cell / 2, y: y + 13, "text-anchor": "middle", class: "in" }, String(bin)),
            ...(addedUp && lanes.length > 1
              ? [drawing("text", { x: x + cell / 2, y: y + 23, "text-anchor": "middle", class: "many" }, `×${lanes.length}`)] : [])));
        }
      });
    });
    at("banks").replaceChildren(drawing("svg", { viewBox: `0 0 ${model.BANKS * cell} ${foot + 20}`, "aria-hidden": "true" }, ...parts));
  }

  function showTotals() {
    const measured = playData.lanes;
    const ms = measured.ms[at("kind").value] || {};
    const slowest = Math.max(...Object.values(ms), 0);
    const rows = model.COPIES.map((count) => {
      const turns = sum(model.turnsOfRow(row, count, rule()));
      const time = ms[count];
      const line = element("tr", count === copies ? { class: "now" } : {}, element("th", { scope: "row" }, String(count)),
        element("td", {}, String(turns)), element("td", {}, String(turns - model.PIXELS)), element("td", {}, (turns / model.PIXELS).toFixed(2)),
        element("td", {}, time ? time.toFixed(4) : "not recorded"), element("td", { style: "text-align: left" }));
      if (time) line.lastChild.append(element("span", { class: "bar", style: `width: ${(6 * time / slowest).toFixed(2)}rem` }));
      return line;
    });
    const heads = ["Copies", "turns", rule() === "added-up" ? "for conflicts" : "for waits", "turns a step", `${measured.size} of such pixels, ms`, ""];
    at("totals").replaceChildren(element("thead", {}, element("tr", {}, ...heads.map((head) =>
      element(head ? "th" : "td", head ? { scope: "col" } : {}, head)))), element("tbody", {}, ...rows));
    const one = rule() === "added-up" ? "" : " It was measured with additions of 1, which are added up.";
    at("note").textContent = `The times: lane-bins, ${measured.api} on ${measured.device}, recorded ${measured.date}; not of this row but of `
      + `all pixels of such an input.${one} Few turns hide behind the reading of the pixels: below about two the time hardly changes.`;
  }

  // ---- the page ----------------------------------------------------------------------------------

  function next() {
    step = (step + 1) % model.PIXELS;
    show();
  }

  function run() {
    if (running.isRunning()) {
      running.pause();
      return;
    }
    const last = model.PIXELS - 1;
    if (step === last) step = -1;
    running.start(next, () => step === last, PAUSE_MS);
  }

  for (const count of model.COPIES) {
    const input = element("input", { type: "radio", name: "copies", value: count });
    input.checked = count === copies;
    input.addEventListener("change", () => {
      copies = count;
      show();
    });
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
  document.querySelectorAll("input[name=rule]").forEach((input) => input.addEventListener("change", show));
  at("kind").addEventListener("change", () => {
    which = 0;
    newRow();
  });
  at("other").addEventListener("click", () => {
    which += 1;
    newRow();
  });
  at("next").addEventListener("click", () => {
    running.pause();
    next();
  });
  at("run").addEventListener("click", run);
  at("file").addEventListener("change", () => take(at("file").files[0]));
  for (const [name, over] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
    addEventListener(name, (event) => {
      event.preventDefault();
      at("drop").classList.toggle("over", over);
      if (name === "drop") take(event.dataTransfer.files[0]);
    });
  }
  newRow();
})();
