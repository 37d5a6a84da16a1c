// underway.html: shows the model of underway-model.js beside what was recorded.
(() => {
  "use strict";

  const model = underwayModel;
  const { at, element, drawing, say, follow, goals } = play;
  const reach = goals({ ceiling: "Reach the ceiling.", few: "Reach it with 256 work-items on each multiprocessor." });

  const number = (id) => Number(at(id).value);
  const recordedOn = () => playData.underWay[number("device")];
  const size = (bytes) => (bytes < 1024 ? `${bytes} bytes` : `${Number((bytes / 1024).toFixed(1))} KiB`);

  function settings() {
    return { items: 2 ** number("items"), bytes: 2 ** number("bytes"), loads: number("loads"), units: recordedOn().units,
      answerNs: recordedOn().answer_ns, ceiling: recordedOn().ceiling };
  }

  function begin() {
    const now = settings();
    for (const [id, value] of Object.entries({ items: now.items, bytes: now.bytes, loads: now.loads })) {
      at(`${id}-said`).textContent = value;
      at(id).setAttribute("aria-valuetext", String(value));
    }
    showSpeed(now);
    const { device, api, size: pixels, date, answer_ns: answer, few, ceiling } = recordedOn();
    at("source").textContent = `Recorded ${date}: ${api} on ${device}, ${pixels} of random pixels. `
      + `Read ceiling ${ceiling} GB/s; ${answer} ns is what the runs with a byte a load and at most ${few} bytes under way give. Between the two lies a bend that is rounder than the model's.`;
  }

  function showSpeed(now) {
    const rate = model.speed(now);
    const underWay = now.items * now.bytes * now.loads;
    const full = rate === now.ceiling;
    say(`${size(underWay)} under way on each of ${now.units} multiprocessors, an answer in ${now.answerNs} ns: ${Math.round(rate)} GB/s. `
      + (full ? "That is the ceiling: more loads change nothing." : `Below the ceiling: twice the bytes are twice the speed, up to ${size(Math.round(model.bend(now)))}.`), full ? "good" : "");
    reach("ceiling", full);
    reach("few", full && now.items <= 256);
    draw(now, underWay, rate);
  }

  // Both scales are logarithmic. A mark for each recorded run, and the one that is chosen.
  function draw(now, underWay, rate) {
    const width = Math.max(300, at("chart").clientWidth || 600);
    const height = Math.min(360, Math.max(240, width * 0.5));
    const [left, right, top, bottom] = [44, width - 14, 14, height - 42];
    const x = (bytes) => left + ((right - left) * Math.log2(bytes / 32)) / Math.log2(2 ** 18 / 32);
    const y = (gb) => bottom - ((bottom - top) * Math.log10(gb / 10)) / Math.log10(6000 / 10);
    const parts = [];
    for (const gb of [10, 100, 1000]) {
      parts.push(drawing("line", { x1: left, x2: right, y1: y(gb), y2: y(gb), stroke: "var(--grid)" }),
        drawing("text", { x: left - 5, y: y(gb) + 4, "text-anchor": "end", class: "small" }, String(gb)));
    }
    for (let power = 5; power <= 18; power += width < 500 ? 4 : 2) {
      parts.push(drawing("line", { x1: x(2 ** power), x2: x(2 ** power), y1: bottom, y2: bottom + 4, stroke: "var(--muted)" }),
        drawing("text", { x: x(2 ** power), y: bottom + 17, "text-anchor": "middle", class: "small" }, power < 10 ? String(2 ** power) : `${2 ** (power - 10)} Ki`));
    }
    parts.push(drawing("text", { x: (left + right) / 2, y: height - 8, "text-anchor": "middle", class: "small" }, "bytes under way on each multiprocessor"),
      drawing("text", { x: left + 4, y: top, class: "small" }, "GB/s"));
    const bend = model.bend(now);
    const lineAt = (bytes) => model.speed({ ...now, items: bytes, bytes: 1, loads: 1 });
    const first = Math.max(32, (10 * now.answerNs) / now.units);
    parts.push(drawing("path", { d: `M${x(first)} ${y(lineAt(first))}L${x(bend)} ${y(now.ceiling)}H${right}`, fill: "none", stroke: "var(--green)", "stroke-width": 2 }));
    for (const [bytes, gb, , launch] of recordedOn().points) {
      parts.push(!launch.includes("16 bytes") ? drawing("circle", { cx: x(bytes), cy: y(gb), r: 4, fill: "var(--blue)" })
        : drawing("path", { d: `M${x(bytes)} ${y(gb) - 5.5}l5.5 5.5l-5.5 5.5l-5.5 -5.5z`, fill: "var(--purple)" }));
    }
    parts.push(drawing("circle", { cx: x(underWay), cy: y(rate), r: 9, fill: "none", stroke: "var(--orange)", "stroke-width": 3 }));
    at("chart").replaceChildren(drawing("svg", { viewBox: `0 0 ${width} ${height}` }, ...parts));
  }

  // ---- the page ----------------------------------------------------------------------------------

  playData.underWay.forEach(({ device, api }, place) => at("device").append(element("option", { value: place }, `${device}, ${api}`)));
  for (const slider of document.querySelectorAll("input[type=range]")) slider.addEventListener("input", begin);
  addEventListener("resize", begin);
  follow(at("settings"), begin);
})();
