// What lab.html shows of pixels and counts; and of a kernel that was watched (lab-watch.js): its counts, a warp's access as a picture,
// and an order of events that loses a count.
(function (root) {
  "use strict";

  const { at, able, element, drawing, tableRow, fillTable, say, many, sum } = play;
  const isAtomic = ({ what }) => what === "add one" || what === "atomic";
  const isLocal = ({ memory }) => memory === "local";

  const SIDE = 256; // of the picture as it is shown

  // The pixels, every n-th of them where there are many.
  function draw(canvas, pixels, width) {
    const height = Math.ceil(pixels.length / width) || 1;
    const step = Math.max(1, Math.ceil(Math.max(width, height) / SIDE));
    canvas.width = Math.max(1, Math.floor(width / step));
    canvas.height = Math.max(1, Math.floor(height / step));
    const image = new ImageData(canvas.width, canvas.height);
    const { data, width: across } = image;
    for (let place = 0; 4 * place < data.length; ++place) {
      const from = Math.floor(place / across) * step * width + (place % across) * step;
      data.fill(pixels[from], 4 * place, 4 * place + 3);
      data[4 * place + 3] = from < pixels.length ? 255 : 0;
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
  }

  // What became of some runs (labGpu.ran), in words and as a chart. Their wrong bins, and the counts of one run that shows them.
  function outcome({ pixels, expected, actual, launch }, isOnGpu) {
    const counts = actual.find((each) => each.some((count, bin) => count !== expected[bin])) || actual[0];
    const wrong = [...counts.keys()].filter((bin) => counts[bin] !== expected[bin]);
    const missing = pixels.length - sum(counts);
    const where = `${many(pixels.length, "pixel")}, ${many(launch.groups, "group")} of ${launch.groupSize}${isOnGpu ? "" : ", without a GPU"}`;
    const totals = [...new Set(actual.map((each) => sum(each).toLocaleString("en")))].join(", then ");
    say(wrong.length === 0 ? `Right: all 256 bins${actual.length > 1 ? `, ${actual.length} times` : ""}${isOnGpu ? "" : ", in this order"}. ${where}.`
      : `Wrong: ${many(wrong.length, "bin")} of 256; `
        + `${missing > 0 ? `${many(missing, "count")} lost` : missing < 0 ? `${many(-missing, "count")} too many` : "the total is right"}. `
        + `${where}, counted as ${totals}.`, wrong.length === 0 ? "good" : "bad");
    chart(at("chart"), expected, counts);
    return { counts, wrong };
  }

  // The truth, and in front of it what was counted.
  function chart(place, expected, counts = null) {
    const most = Math.max(1, ...expected);
    const filled = (fill, bins, from, height) => drawing("path", { fill, d: [...bins].map((bin) => `M${bin} ${from}h1v${-height(bin)}h-1z`).join("") });
    const bars = (fill, list, bins = list.keys()) => filled(fill, bins, 100, (bin) => Math.min(100, 100 * list[bin] / most));
    const isWrong = (bin) => counts[bin] !== expected[bin];
    const wrong = counts ? [...counts.keys()].filter(isWrong) : [];
    place.setAttribute("aria-label", `The histogram: up to ${most} pixels of a value${counts ? `; ${wrong.length} bins of 256 are wrong` : ""}`);
    place.replaceChildren(element("span", {}, most.toLocaleString("en"), element("br"), "pixels"), element("span", { class: "least" }, "0"),
      drawing("svg", { viewBox: "0 0 256 104", preserveAspectRatio: "none" }, bars("var(--muted)", expected),
        ...counts ? [bars("var(--blue)", counts), bars("var(--orange)", counts, wrong), filled("var(--orange)", wrong, 104, () => 3)] : []),
      element("div", { class: "values" }, ...["0", "64", "128", "192", "value 255"].map((value) => element("span", {}, value))));
  }

  // ---- counts --------------------------------------------------------------------------------------

  const total = (key, memory, ...whats) => ({ launches }) => sum(launches.flatMap(({ lines: all }) => all.filter((line) => line.memory === memory
    && (whats.length === 0 || whats.includes(line.what))).map((line) => line[key])));
  // The words of ./tutorial count, and the number.
  const COUNTERS = [["loads: requests", total("requests", "global", "load")], ["their sectors", total("sectors", "global", "load")],
    ["stores: sectors", total("sectors", "global", "store")], ["atomics: visits", total("visits", "global")],
    ["fullest queue", ({ launches }) => sum(launches.map(({ queues }) => Math.max(...queues)))], ["passes of banks", total("passes", "local")]];
  const digits = (value) => (value < 0.0005 ? "0" : value < 1000 ? String(Number(value.toPrecision(3))) : Math.round(value).toLocaleString("en"));

  function showCounts(counts) {
    at("counted").hidden = !counts?.launches;
    if (!counts?.launches) return;
    const rows = COUNTERS.map(([words, of]) => [words, of(counts) / (counts.pixels / 32)]).filter(([, value]) => value > 0);
    const [found, sectors] = ["found", "sectors"].map((key) => total(key, "global", "load")(counts));
    if (found > 0.0005 * sectors) rows.push(["found in L1, %", 100 * found / sectors]);
    rows.push(["bytes in flight of a work-item", Math.max(...counts.launches.map((each) => each.bytes_ahead))]);
    fillTable("counts", ["For 32 pixels", "counted"], rows.map(([words, value]) => tableRow([words, digits(value)])));
    at("sample").textContent = `Counted, not timed: ${counts.counted} of ${many(counts.groups, "group")}, with ${counts.sizes.map((size) => size.toLocaleString("en")).join(" and ")} pixels; `
      + `from there to ${counts.pixels.toLocaleString("en")} by a straight line.`;
  }

  // What an H100 would give, by labPredict.
  function showSpeed(counts) {
    const isWhole = counts?.reason || counts?.pixels === labPredict.PIXELS; // and not what a task's goal is counted in
    at("predicted").hidden = !isWhole;
    if (!isWhole) return;
    const { gb_s: speed, reason, limits, changes } = counts.reason ? counts : labPredict.predicted(counts, "h100");
    at("speed").textContent = speed ? `Predicted, not measured: ${digits(speed)} GB/s on an H100` : "Predicted for an H100: no number";
    for (const id of ["limits", "changes"]) at(id).replaceChildren();
    if (!speed) return void (at("right").textContent = `Nothing can be said, since ${reason}.`);
    fillTable("limits", ["What limits it", "alone, GB/s"], limits.map(([words, allows], place) => {
      const row = tableRow([`${words}${place === 0 ? " \u25c2 the lowest" : ""}`, digits(allows)]);
      row.className = place === 0 ? "now" : "";
      return row;
    }));
    const gains = changes.filter(([, gain]) => gain > 1).map(([words, gain]) => `${words}: ${gain.toFixed(2)} times as fast`);
    at("changes").textContent = `What would change it: ${gains.join("; ") || "none of what the model knows"}.`;
    const others = Object.entries(labPredict.right[limits[0][0]]).filter(([, [, all]]) => all > 0).map(([words, [some, all]]) => `${words} ${some} of ${all}`).join("; ");
    at("right").textContent = `By the model of ./tutorial count, for 1 GiB of such pixels in this launch; an H200: ${digits(labPredict.predicted(counts, "h200").gb_s)} GB/s. `
      + (others ? `Recorded runs with this limit for which it is within a quarter: ${others}.` : "No recorded run has this limit.");
  }

  // ---- the access ----------------------------------------------------------------------------------

  const [LANE, WIDTH, TOP] = [14, 32 * 14, 72]; // of a lane, of all; of the columns
  let lines = [];
  let step = 0;
  const line = () => lines[Number(at("line").value)];

  function grouped(pairs) {
    const found = new Map();
    for (const [key, value] of pairs) found.set(key, [...(found.get(key) ?? []), value]);
    return found;
  }

  // What lanes wait for, in columns: banks with words, pieces of 256 bytes with visits, or sectors with words. [[name, [[lane]]]]
  function columnsOf({ memory, what }, words) {
    if (isLocal({ memory })) {
      const found = grouped([...words].flatMap(([word, lanes]) => (what === "atomic" ? lanes.map((lane) => [word % 32, [lane]]) : [[word % 32, lanes]])));
      return Array.from({ length: 32 }, (_, bank) => [bank, found.get(bank) ?? []]);
    }
    const sectors = grouped([...words].map(([word, lanes]) => [Math.floor(word / 8), lanes]));
    if (!isAtomic({ what })) return [...sectors].sort(([a], [b]) => a - b);
    // A visit adds to each address of a sector once.
    const visits = [...sectors].flatMap(([sector, all]) => Array.from({ length: Math.max(...all.map((lanes) => lanes.length)) }, (_, turn) =>
      [Math.floor(sector / 8), all.flatMap((lanes) => lanes.slice(turn, turn + 1))]));
    return [...grouped(visits)].sort(([a], [b]) => a - b);
  }

  function drawAccess() {
    const { name, steps, line: place } = line();
    const now = steps[step];
    const [what, cost] = isLocal(line()) ? ["bank", "pass"] : isAtomic(line()) ? ["piece of 256 bytes", "visit"] : ["sector of 32 bytes", "sector"];
    const words = grouped(now.at.map((word, index) => [word, now.lanes[index]]));
    const columns = columnsOf(line(), words);
    const most = Math.max(...columns.map(([, blocks]) => blocks.length));
    const wide = Math.min(60, WIDTH / columns.length);
    const high = most > 12 ? 192 / most : 16;
    const drawn = [];
    const text = (x, y, said, colour) => drawn.push(drawing("text", { x, y, style: `fill: var(--${colour})`, "text-anchor": "middle" }, String(said)));
    const box = (x, y, width, height, fill, stroke = "none") => drawn.push(drawing("rect", { x, y, width, height, fill: `var(--${fill})`, stroke }));
    for (let lane = 0; lane < 32; ++lane) {
      const colour = now.lanes.includes(lane) ? "ink" : "grid";
      box(lane * LANE + 0.5, 1, LANE - 1, 18, "band", `var(--${colour})`);
      if (lane % 4 === 0) text((lane + 0.5) * LANE, 14, lane, colour === "ink" ? "ink" : "muted");
    }
    columns.forEach(([number, blocks], index) => {
      const middle = WIDTH / 2 + (index + 0.5 - columns.length / 2) * wide;
      const colour = cost !== "sector" && most > 1 && blocks.length === most ? "orange" : "blue";
      for (const lane of blocks.flat()) drawn.push(drawing("path", { d: `M${(lane + 0.5) * LANE} 19L${middle} ${TOP - 16}`, stroke: `var(--${colour})` }));
      if (columns.length <= 16 || index % 4 === 0) text(middle, TOP - 4, number, "ink");
      blocks.forEach((lanes, height) => {
        box(middle - wide / 2 + 0.5, TOP + height * high, wide - 1, high - 1, colour);
        if (lanes.length > 1 && high > 12) text(middle, TOP + height * high + 12, `×${lanes.length}`, "page");
      });
    });
    const said = `Line ${place}, step ${step + 1} of ${steps.length}: ${many(now.lanes.length, "lane")}, ${many(words.size, "address")} of ${name}, `
      + `${many({ pass: now.passes, visit: now.visits, sector: now.sectors }[cost], cost)}${cost === "sector" ? "" : `; the fullest ${what} has ${most}`}.`;
    at("lanes").replaceChildren(drawing("svg", { viewBox: `0 0 ${WIDTH} ${TOP + high * most + 2}`, role: "img", "aria-label": said }, ...drawn));
    at("lanes-said").textContent = `${said} Above the lanes, below them each ${what} by its number; ×2: two lanes share.`;
    at("lanes-words").textContent = [...words].map(([word, lanes]) => `${name}[${word}]: lane${lanes.length > 1 ? "s" : ""} ${lanes.join(", ")}`).join("; ");
    able(at("access-back"), step > 0);
    able(at("access-on"), step + 1 < steps.length);
  }

  function showAccess(counts, code) {
    lines = (counts?.launches ?? []).flatMap((launch) => launch.lines).filter((each) => each.steps.length > 0);
    at("access").hidden = lines.length === 0;
    if (lines.length === 0) return;
    const kept = at("line").dataset.chosen && Number(at("line").value);
    at("line").replaceChildren(...lines.map((each, place) => element("option", { value: place },
      `${each.line}: ${each.what} ${each.memory} ${each.name} (${code.split("\n")[each.line - 1].trim()})`)));
    // If nothing was chosen, where most is counted.
    const accesses = lines.map((each) => each.lanes + (isAtomic(each) ? 1e9 : 0));
    at("line").value = kept in lines ? kept : accesses.lastIndexOf(Math.max(...accesses));
    turnTo(0);
  }

  function turnTo(next) {
    step = Math.max(0, Math.min(next, line().steps.length - 1));
    drawAccess();
  }

  // The line that the reader points at, if it touches memory.
  function pointAt(number) {
    const place = lines.findLastIndex((each) => each.line === number);
    if (place < 0 || line().line === number) return;
    at("line").value = place;
    at("line").dispatchEvent(new Event("change"));
  }

  // ---- an order of events --------------------------------------------------------------------------

  const { LEFT } = labWgsl();
  const valued = (value) => (value === LEFT ? "anything" : value > LEFT && value < LEFT + 99 ? `anything + ${value - LEFT}` : value);
  const LOST = { over: ". A count is lost: this writes over it.", late: ". A count is lost: nobody reads it any more." };
  let told = []; // events
  let event = 0;

  function inWords({ what, name, at: place, read, wrote, over, waits, isStuck, isLost }) {
    if (isStuck || waits) return isStuck ? "waits for ever" : "waits at the barrier";
    const cell = `${name}[${place}]`;
    if (what === "load") return `reads ${valued(read)} in ${cell}`;
    return (what === "store" ? `writes ${valued(wrote)} into ${cell}` : `adds to ${cell}: reads ${valued(over)}, writes ${valued(wrote)}`) + (LOST[isLost] ?? "");
  }

  function showStory(story) {
    at("story").hidden = !story;
    at("events").hidden = !story?.events;
    if (!story) return;
    const { orders, events, bins, groups, groupSize, pixels, isStuck } = story; // of the launch that shows it
    at("story-title").textContent = isStuck ? "An order in which some wait for ever" : events ? "An order that loses a count" : "No order that loses a count";
    at("story-said").textContent = !events ? `None was found among ${orders.toLocaleString("en")} orders of two, three or four work-items. That is no proof.`
      : `Your kernel with 2 bins, ${many(groups, "group")} of ${many(groupSize, "work-item")}, and ${many(pixels, "pixel")} of the value 1. `
        + `${isStuck ? "Not all of a group come to the barrier at which others wait." : `In the end bin 1 holds ${bins[1]}.`} ${many(orders, "order")} tried. Arrow keys step.`;
    if (!events) return;
    told = events;
    const items = [...Array(groups * groupSize).keys()];
    fillTable("steps", ["Step", "line", ...items.map((id) => `${groups > 1 ? `group ${Math.floor(id / groupSize)}, ` : ""}work-item ${id % groupSize}`)], told.map((each, place) => {
      const row = tableRow([place + 1, each.line, ...items.map((id) => (id === each.id ? inWords(each) : ""))]);
      if (each.isLost || each.isStuck) row.cells[2 + each.id].className = "bad";
      return row;
    }));
    goTo(0, false);
  }

  function goTo(next, isInSight = true) {
    event = Math.max(0, Math.min(next, told.length - 1));
    const { rows } = at("steps").tBodies[0];
    [...rows].forEach((row, place) => { row.className = place === event ? "now" : ""; });
    if (isInSight) rows[event].scrollIntoView({ block: "nearest" });
    labEditor.here(told[event].line, isInSight);
    able(at("story-back"), event > 0);
    able(at("story-on"), event + 1 < told.length);
  }

  // Forwards and back, by buttons or by arrow keys; the site's first page has neither.
  for (const [name, by] of at("story") ? [["access", (way) => turnTo(step + way)], ["story", (way) => goTo(event + way)]] : []) {
    at(`${name}-on`).addEventListener("click", () => by(1));
    at(`${name}-back`).addEventListener("click", () => by(-1));
    at(name).querySelector(".scroll").addEventListener("keydown", (pressed) => {
      const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[pressed.key];
      if (!way) return;
      pressed.preventDefault();
      by(way);
    });
  }
  at("line")?.addEventListener("change", () => {
    at("line").dataset.chosen = "yes";
    turnTo(0);
  });

  // Why a run is wrong, from what was found: in any order, or in one.
  function why({ fault, story }) {
    const lost = story?.events?.find((each) => each.isLost);
    if (fault.words) {
      const { groups, groupSize, pixels } = fault.launch;
      return `${fault.line ? `in line ${fault.line}, ` : ""}with ${many(groups, "group")} of ${many(groupSize, "work-item")} and ${many(pixels, "pixel")}, ${fault.words}. `
        + "There may be more: mend it, and run again.";
    }
    if (story?.isStuck) return "not all work-items of a group come to a barrier at which the others wait.";
    if (!lost) return "unclear. Nothing is wrong in the orders that the page has tried.";
    const name = story.name && ` In the terminal this is ${story.name}.`;
    if (lost.isLost === "late") return `line ${lost.line} counts when nobody reads it any more. Is a barrier missing before the counters are read?${name}`;
    return story.name === "lost-updates" ? `line ${lost.line} adds in several steps, and what others add in between is lost: the addition is not atomic.${name}`
      : `line ${lost.line} writes over what others have counted. Is a barrier missing before it, or should it be an addition?${name}`;
  }

  const show = (counts, code) => [showSpeed(counts), showCounts(counts), showAccess(counts, code)];

  root.labViews = { draw, chart, outcome, show, showStory, why, pointAt };
})(globalThis);
