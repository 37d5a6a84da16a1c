// What lab.html knows without a GPU: pixels from the words of a command line, what a launch has, where it is counted and looked into, and
// what became of a run.
(function (root) {
  "use strict";

  const BINS = 256;
  const POISON = 0xa5a5a5a5;
  const WIDTH = 512; // of a row of pixels that are no picture's
  const TURNS = 2 ** 24;

  const sum = (list) => list.reduce((total, value) => total + value, 0);
  const equal = (a, b) => a.every((value, place) => value === b[place]);

  // The truth: chapter 01's `serial` loop.
  function serial(pixels) {
    const counts = new Uint32Array(BINS);
    for (const pixel of pixels) counts[pixel] += 1;
    return counts;
  }

  // ---- pixels ------------------------------------------------------------------------------------

  const UNITS = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 };

  // {random: "100003", groups: "3", ...} from "--random 100003 --groups 3".
  function optionsOf(words) {
    const options = {};
    const list = words.trim().split(/\s+/);
    while (list.length > 0) {
      const word = list.shift();
      if (word === "--ramp") options.ramp = true;
      else if (word.startsWith("--")) options[word.slice(2)] = list.shift();
      else options.image = word;
    }
    return options;
  }

  // The same in words.
  function inWords(words) {
    const { image, tile, random, constant, ramp, values, contention } = optionsOf(words);
    const count = (text) => numberOf(text).toLocaleString("en");
    if (image) return `${image.split("/").pop()}${tile ? `, again and again up to ${count(tile)} pixels` : ""}`;
    if (constant) return `${count(random)} pixels of the value ${constant}`;
    if (ramp) return `${count(random)} pixels, from 0 up to 255 and again`;
    return `${count(random)} random pixel${random === "1" ? "" : "s"}${values ? ` of ${values} values` : ""}${contention ? `, ${contention} in 100 of one value` : ""}`;
  }

  const numberOf = (text) => parseInt(text, 10) * (UNITS[text.slice(-1)] || 1);

  // The pixels that these words ask for; the generator is the page's own, so random ones are not the programs'.
  function inputOf(words, photo, randomFrom) {
    const { image, tile, random, constant, ramp, values = "256", contention, seed = "1" } = optionsOf(words);
    if (image) {
      if (!image.endsWith("landscape.bmp")) throw new RangeError(`the page has no ${image}`);
      return { pixels: tile ? tiled(photo.pixels, numberOf(tile)) : photo.pixels, width: photo.width };
    }
    if (constant) return { pixels: new Uint8Array(numberOf(random)).fill(Number(constant)), width: WIDTH };
    const next = randomFrom(Number(seed));
    const hot = Math.floor(next() * BINS);
    const any = (most) => Math.floor(next() * most);
    let pixel = () => any(Number(values));
    if (ramp) pixel = (place) => place % BINS;
    if (contention) pixel = () => (100 * next() < Number(contention) ? hot : any(BINS));
    return { pixels: new Uint8Array(numberOf(random)).map((_, place) => pixel(place)), width: WIDTH };
  }

  function tiled(pixels, count) {
    if (pixels.length === 0) return pixels;
    const all = new Uint8Array(count);
    for (let at = 0; at < count; at += pixels.length) all.set(pixels.subarray(0, Math.min(pixels.length, count - at)), at);
    return all;
  }

  // ---- a launch ----------------------------------------------------------------------------------

  // What a strategy needs, as its host program in the chapter has it. `zeroed`: what the host zeroes, by its binding. The page adds the
  // tasks, which may have a number of `tables`.
  const STRATEGIES = {
    racy: { kernels: ["histogram_racy"], zeroed: [2] },
    global: { kernels: ["histogram_global"], zeroed: [2] },
    local: { kernels: ["histogram_local"], zeroed: [2] },
    "lane-bins": { kernels: ["histogram_lanes"], zeroed: [2] },
    "read ceiling": { kernels: ["read_all"], zeroed: [] }, // what the memory can do
  };

  // The code with the numbers in it that a host passes; not as constants of the pipeline, for not every browser gives arrays such a size.
  const withGiven = (code, groupSize, copies) =>
    code.replace(/override (GROUP_SIZE|COPIES): u32;/g, (_, name) => `const ${name} = ${name === "COPIES" ? copies : groupSize}u;`);

  // What a strategy reads and writes, for these pixels in this launch: the words of each binding; turns of a work-item's loops, more than
  // any that ends has use for.
  function laidOut({ pixels }, strategy, { groups, groupSize }) {
    const { tables = 0 } = STRATEGIES[strategy];
    const bytes = new Uint8Array(Math.max(16, Math.ceil(pixels.length / 16) * 16));
    bytes.set(pixels);
    const turns = Math.ceil(pixels.length / groupSize + TURNS / (groups * groupSize)) + 2 ** 14 + BINS * tables;
    return { turns, bound: [new Uint32Array(bytes.buffer), new Uint32Array([pixels.length, 4, 0, 0]), // 4 loads, where a kernel asks
      new Uint32Array(BINS).fill(POISON), new Uint32Array(BINS * tables).fill(POISON)] };
  }

  // How a launch is counted (lab-watch.js): some groups stand for all, with so many pixels that each work-item makes whole turns. A picture
  // comes again and again.
  function sampleOf(pixels, strategy, code, { groups, groupSize, copies }, least = 2 ** 14) {
    const counted = Math.max(1, Math.min(4, groups, Math.floor(1024 / groupSize)));
    const turn = code.includes("vec4") ? 64 : 16;
    const size = groups * groupSize * Math.ceil(least / (groupSize * counted) / turn) * turn;
    const { bound } = laidOut({ pixels: tiled(pixels, Math.max(2 ** 16, Math.floor(pixels.length / 16) * 16)) }, strategy, { groups, groupSize });
    for (const binding of STRATEGIES[strategy].zeroed) bound[binding].fill(0);
    return { code: withGiven(code, groupSize, copies), kernels: STRATEGIES[strategy].kernels, bound, groups, counted, sizes: [size] };
  }

  // What an order is looked for in: few bins, work-items and pixels, all of value 1; in the last a vector of 16 for each.
  const SHAPES = [[1, 2, 2], [1, 2, 1], [2, 1, 2], [1, 3, 3], [2, 2, 4], [1, 2, 32]]; // groups, work-items in each, pixels
  const FEW = 2;
  const trialsOf = (strategy, code) => SHAPES.map(([groups, groupSize, pixels]) => {
    const { kernels, zeroed } = STRATEGIES[strategy];
    const few = code.replace(/const (BINS|TABLES) = \d+u;/g, (_, name) => `const ${name} = ${name === "BINS" ? FEW : 1}u;`);
    const { bound } = laidOut({ pixels: new Uint8Array(pixels).fill(1) }, strategy, { groups, groupSize });
    for (const binding of zeroed) bound[binding].fill(0);
    return { code: withGiven(few, groupSize, 1), kernels, bound, groups, groupSize, pixels, expected: [0, pixels] };
  });

  // What faults are looked for in: [groups, work-items in each, pixels].
  const LOOKS = [[3, 32, 301], [2, 4, 1003], [1, 1, 5]];
  const looksOf = (strategy, code, copies) => LOOKS.map(([groups, groupSize, pixels]) => {
    const { kernels, zeroed } = STRATEGIES[strategy];
    const input = Uint8Array.from({ length: pixels }, (_, i) => i);
    const { bound } = laidOut({ pixels: input }, strategy, { groups, groupSize });
    for (const binding of zeroed) bound[binding].fill(0);
    return { code: withGiven(code, groupSize, copies), kernels, bound, groups, groupSize, pixels, expected: serial(input) };
  });

  // ---- what became of a run ----------------------------------------------------------------------

  // As one may foresee it.
  const OUTCOMES = {
    refused: "The compiler refuses it",
    right: "All counts are right",
    "too-few": "Counts are missing, the same ones each time",
    "too-few-changing": "Counts are missing, others each time",
    "too-many": "There are too many counts",
    "does-not-end": "It does not end",
  };

  function outcomeOf(expected, times) {
    if (times.every((counts) => equal(counts, expected))) return "right";
    if (times.some((counts) => sum(counts) > sum(expected))) return "too-many";
    return times.some((counts) => !equal(counts, times[0])) ? "too-few-changing" : "too-few";
  }

  // The lines of code that only one of two texts has: [before, now].
  function changesOf(...texts) {
    const [old, now] = texts.map((text) => text.replace(/\/\/.*/g, "").split("\n").map((line) => line.trim()).filter(Boolean));
    const both = Array.from({ length: old.length + 1 }, () => Array(now.length + 1).fill(0)); // lines that both have, from here on
    for (let i = old.length - 1; i >= 0; --i) {
      for (let j = now.length - 1; j >= 0; --j) both[i][j] = old[i] === now[j] ? 1 + both[i + 1][j + 1] : Math.max(both[i + 1][j], both[i][j + 1]);
    }
    const changes = [[], []];
    for (let i = 0, j = 0; i < old.length || j < now.length;) {
      if (old[i] === now[j]) [i, j] = [i + 1, j + 1];
      else if (j === now.length || both[i + 1]?.[j] >= both[i][j + 1]) changes[0].push(old[i++]);
      else changes[1].push(now[j++]);
    }
    return changes;
  }

  // ---- loops without end -------------------------------------------------------------------------

  // The code with a bound to every loop: no right kernel meets it, and no loop goes on for ever. Lines stay where they are.
  function bounded(code, binding) {
    const bare = code.replace(/\/\/[^\n]*|\/\*[^]*?\*\//g, (comment) => comment.replace(/[^\n]/g, " "));
    let text = "";
    let from = 0;
    for (const { index } of bare.matchAll(/\b(for|while|loop)\b/g)) {
      let at = index;
      for (let depth = 0; at < bare.length && !(bare[at] === "{" && depth === 0); ++at) depth += { "(": 1, ")": -1 }[bare[at]] || 0;
      text += `${code.slice(from, at + 1)} if (lab_is_endless()) { break; }`;
      from = at + 1;
    }
    return `${text}${code.slice(from)}
struct Lab { ended: atomic<u32>, turns: u32 }
@group(0) @binding(${binding}) var<storage, read_write> lab: Lab;
var<private> lab_turns: u32;
fn lab_is_endless() -> bool {
    lab_turns += 1u;
    let is_endless = lab_turns > lab.turns;
    if (is_endless) { atomicStore(&lab.ended, 1u); }
    return is_endless;
}
`;
  }

  const api = { BINS, POISON, OUTCOMES, STRATEGIES, withGiven, laidOut, sampleOf, trialsOf, looksOf, serial, optionsOf, inWords, numberOf, inputOf, tiled, outcomeOf, changesOf, bounded };
  if (typeof module === "object") module.exports = api;
  else root.labModel = api;
})(globalThis);
