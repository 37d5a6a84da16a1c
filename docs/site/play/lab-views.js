// What lab.html shows of a kernel that was watched (lab-watch.js): its counts, a warp's access as a picture, and an order of events that
// loses a count.
(function (root) {
  "use strict";

  const { at, able, element, drawing, tableRow, fillTable, many, sum } = play;
  const isAtomic = ({ what }) => what === "add one" || what === "atomic";

  // ---- counts --------------------------------------------------------------------------------------

  const total = (lines, key, test) => sum(lines.filter(test).map((each) => each[key]));
  // As common/tutor/counting/count.py says them, for 32 pixels.
  const COUNTERS = [
    ["accesses of lanes", ({ lines }) => total(lines, "lanes", () => true)],
    ["loads: requests", ({ lines }) => total(lines, "requests", (each) => !each.isLocal && each.what === "load")],
    ["their sectors", ({ lines }) => total(lines, "sectors", (each) => !each.isLocal && each.what === "load")],
    ["stores: sectors", ({ lines }) => total(lines, "sectors", (each) => !each.isLocal && each.what === "store")],
    ["atomics: visits", ({ lines }) => total(lines, "visits", () => true)],
    ["fullest queue", ({ queues }) => Math.max(...queues)],
    ["passes of banks", ({ lines }) => total(lines, "passes", () => true)],
  ];
  const number = (value) => (value < 0.0005 ? "0" : value < 1000 ? String(Number(value.toPrecision(3))) : Math.round(value).toLocaleString("en"));

  function showCounts(counts) {
    at("counted").hidden = !counts;
    if (!counts) return;
    const rows = COUNTERS.map(([words, of]) => [words, of(counts) / (counts.pixels / 32)]).filter(([, value]) => value > 0);
    fillTable("counts", ["For 32 pixels", "counted"], rows.map(([words, value]) => tableRow([words, number(value)])));
    at("sample").textContent = `Counted, not timed, on ${many(counts.pixels, "pixel")} of this run.`;
  }

  // ---- the access ----------------------------------------------------------------------------------

  const WIDTH = 448;
  const LANE = WIDTH / 32;
  const TOP = 72; // of the columns
  let lines = [];
  let step = 0;

  // What lanes wait for, in columns: banks with words, pieces of 256 bytes with visits, or sectors with words. [{name, blocks: [[lane]]}]
  function columnsOf(line, { lanes, at: places }) {
    const words = new Map(); // lanes of each address
    places.forEach((place, index) => words.set(place, [...(words.get(place) ?? []), lanes[index]]));
    const columns = new Map();
    const column = (name) => columns.get(name) ?? columns.set(name, []).get(name);
    if (line.isLocal) {
      for (let bank = 0; bank < 32; ++bank) column(bank);
      for (const [word, those] of words) column(word % 32).push(...(line.what === "atomic" ? those.map((lane) => [lane]) : [those]));
    } else if (isAtomic(line)) {
      const visits = new Map(); // of each sector: the lanes of the first, the second, ...
      for (const [word, those] of words) {
        const sector = Math.floor(word / 8);
        if (!visits.has(sector)) visits.set(sector, []);
        those.forEach((lane, turn) => (visits.get(sector)[turn] ??= []).push(lane));
      }
      for (const [sector, turns] of visits) column(Math.floor(sector / 8)).push(...turns);
    } else {
      for (const [word, those] of words) column(Math.floor(word / 8)).push(those);
    }
    return [...columns].sort(([a], [b]) => a - b).map(([name, blocks]) => ({ name, blocks }));
  }

  const kindOf = (line) => (line.isLocal ? ["bank", "pass"] : isAtomic(line) ? ["piece of 256 bytes", "visit"] : ["sector of 32 bytes", "sector"]);

  function drawAccess(line) {
    const now = line.steps[step];
    const columns = columnsOf(line, now);
    const most = Math.max(...columns.map(({ blocks }) => blocks.length));
    const wide = Math.min(60, WIDTH / columns.length);
    const high = most > 12 ? 192 / most : 16;
    const left = (WIDTH - wide * columns.length) / 2;
    const waits = line.isLocal || isAtomic(line);
    const drawn = [];
    const text = (x, y, words, fill = "var(--ink)") => drawing("text", { x, y, style: `fill: ${fill}`, "text-anchor": "middle" }, String(words));
    for (let lane = 0; lane < 32; ++lane) {
      const isIn = now.lanes.includes(lane);
      drawn.push(drawing("rect", { x: lane * LANE + 0.5, y: 1, width: LANE - 1, height: 18, fill: "var(--band)", stroke: isIn ? "var(--ink)" : "var(--grid)" }),
        text(lane * LANE + LANE / 2, 14, lane, isIn ? "var(--ink)" : "var(--muted)"));
    }
    columns.forEach(({ name, blocks }, place) => {
      const middle = left + (place + 0.5) * wide;
      const isFullest = waits && most > 1 && blocks.length === most;
      for (const lane of blocks.flat()) {
        drawn.push(drawing("path", { d: `M${lane * LANE + LANE / 2} 19L${middle} ${TOP - 16}`, stroke: isFullest ? "var(--orange)" : "var(--blue)", fill: "none" }));
      }
      drawn.push(text(middle, TOP - 4, name));
      blocks.forEach((lanes, height) => {
        drawn.push(drawing("rect", { x: middle - wide / 2 + 0.5, y: TOP + height * high, width: wide - 1, height: high - 1, fill: isFullest ? "var(--orange)" : "var(--blue)" }));
        if (lanes.length > 1 && high > 12) drawn.push(text(middle, TOP + height * high + 12, `×${lanes.length}`, "var(--page)"));
      });
    });
    const [what, cost] = kindOf(line);
    const of = { pass: now.passes, visit: now.visits, sector: now.sectors }[cost];
    const fullest = waits ? `; the fullest ${what} has ${most}` : "";
    const words = `Line ${line.line}, step ${step + 1} of ${line.steps.length}: ${many(now.lanes.length, "lane")}, ${many(new Set(now.at).size, "address")} of ${line.name}, ${many(of, cost)}${fullest}.`;
    at("lanes").replaceChildren(drawing("svg", { viewBox: `0 0 ${WIDTH} ${TOP + high * most + 2}`, role: "img", "aria-label": words }, ...drawn));
    at("lanes-said").textContent = `${words} Above the lanes, below them each ${what} by its number; ×2: two lanes share.`;
    const addresses = new Map();
    now.at.forEach((place, index) => addresses.set(place, [...(addresses.get(place) ?? []), now.lanes[index]]));
    at("lanes-words").textContent = [...addresses].map(([place, those]) => `${line.name}[${place}]: lane${those.length > 1 ? "s" : ""} ${those.join(", ")}`).join("; ");
    able(at("access-back"), step > 0);
    able(at("access-on"), step + 1 < line.steps.length);
  }

  function showAccess(counts, code) {
    lines = (counts?.lines ?? []).filter((each) => each.steps.length > 0);
    at("access").hidden = lines.length === 0;
    if (lines.length === 0) return;
    const texts = code.split("\n");
    const kept = Number(at("line").value);
    at("line").replaceChildren(...lines.map((each, place) => element("option", { value: place },
      `${each.line}: ${each.what} ${each.isLocal ? "local" : "global"} ${each.name} (${texts[each.line - 1].trim()})`)));
    // If nothing was chosen, where most is counted.
    const accesses = lines.map((each) => each.lanes + (isAtomic(each) ? 1e9 : 0));
    at("line").value = kept in lines && at("line").dataset.chosen ? kept : accesses.lastIndexOf(Math.max(...accesses));
    turnTo(0);
  }

  function turnTo(next) {
    const line = lines[Number(at("line").value)];
    step = Math.max(0, Math.min(next, line.steps.length - 1));
    drawAccess(line);
  }

  // The line that the reader points at, if it touches memory.
  function pointAt(number) {
    const place = lines.findLastIndex((each) => each.line === number);
    if (place < 0 || lines[Number(at("line").value)].line === number) return;
    at("line").value = place;
    at("line").dataset.chosen = "yes";
    turnTo(0);
  }

  // ---- an order of events --------------------------------------------------------------------------

  const LEFT = labWgsl().LEFT;
  const valued = (value) => (value >= LEFT && value < LEFT + 99 ? "anything" : String(value));
  const LOST = { over: "A count is lost: this writes over it.", late: "A count is lost: nobody reads it any more." };
  let told = null; // the story
  let event = 0;

  function inWords({ what, name, at: place, read, wrote, over, waits, isStuck }) {
    const cell = `${name}[${place}]`;
    if (isStuck) return "waits for ever.";
    if (waits) return "waits at the barrier";
    if (what === "load") return `reads ${valued(read)} in ${cell}`;
    return what === "store" ? `writes ${valued(wrote)} into ${cell}` : `adds to ${cell}: reads ${valued(over)}, writes ${valued(wrote)}`;
  }

  function showStory(story) {
    at("story").hidden = !story;
    at("events").hidden = !story?.events;
    told = null;
    if (!story) return;
    const { orders, groups, groupSize, pixels, isStuck } = story; // of the launch that shows it
    if (!story.events) {
      at("story-title").textContent = "An order that loses a count";
      at("story-said").textContent = `Not found in ${orders.toLocaleString("en")} orders of two, three or four work-items.`;
      return;
    }
    at("story-title").textContent = isStuck ? "An order in which some wait for ever" : "An order that loses a count";
    told = story.events;
    const [, counted] = story.bins;
    at("story-said").textContent = `Your kernel with 2 bins, ${many(groups, "group")} of ${many(groupSize, "work-item")}, and ${many(pixels, "pixel")} of the value 1. `
      + (isStuck ? "A work-item that waits at a barrier waits for all of its group, and not all of them come. " : `In the end bin 1 holds ${counted}. `)
      + `${many(orders, "order")} tried. Arrow keys step.`;
    const items = [...Array(groups * groupSize).keys()];
    fillTable("steps", ["Step", "line", ...items.map((id) => `${groups > 1 ? `group ${Math.floor(id / groupSize)}, ` : ""}work-item ${id % groupSize}`)],
      told.map((each, place) => {
        const row = tableRow([place + 1, each.line, ...items.map((id) => (id === each.id ? `${inWords(each)}${each.isLost ? `. ${LOST[each.isLost]}` : ""}` : ""))]);
        if (each.isLost || each.isStuck) row.cells[2 + each.id].className = "bad";
        row.addEventListener("click", () => goTo(place));
        return row;
      }));
    goTo(0, false);
  }

  function goTo(next, isStep = true) {
    event = Math.max(0, Math.min(next, told.length - 1));
    [...at("steps").tBodies[0].rows].forEach((row, place) => {
      row.className = place === event ? "now" : "";
      row.ariaCurrent = place === event ? "step" : null;
    });
    if (isStep) at("steps").tBodies[0].rows[event].scrollIntoView({ block: "nearest" });
    labEditor.here(told[event].line, isStep);
    able(at("story-back"), event > 0);
    able(at("story-on"), event + 1 < told.length);
  }

  // Forwards and back, by buttons or by arrow keys.
  function stepper(name, region, by) {
    at(`${name}-on`).addEventListener("click", () => by(1));
    at(`${name}-back`).addEventListener("click", () => by(-1));
    at(region).addEventListener("keydown", (pressed) => {
      const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[pressed.key];
      if (!way) return;
      pressed.preventDefault();
      by(way);
    });
  }
  stepper("access", "lanes", (way) => turnTo(step + way));
  stepper("story", "events", (way) => goTo(event + way));
  at("line").addEventListener("change", () => {
    at("line").dataset.chosen = "yes";
    turnTo(0);
  });

  root.labViews = { showCounts, showAccess, showStory, pointAt };
})(globalThis);
