// What lab.html knows without a GPU: pixels from the words of a command line, what a mistake would count, and which mistake
// fits. The names are those of common/tutor/diagnosis, and so is the way: a mistake is named if it predicts every count of
// every run. Here are a few of them; the programs know many more, and look into more runs.
(function (root) {
  "use strict";

  const [table, theirs] = typeof module === "object" ? [require("./lab-choices.js"), require("./lab-data.js").choices] : [root.labChoices, root.labData.choices];
  const BINS = 256;
  const POISON = 0xa5a5a5a5;
  const WIDTH = 512; // of a row of pixels that are no picture's
  const TURNS = 2 ** 24;
  const MANY = 4 * 2 ** 20; // pixels that no prediction walks over

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

  // ---- who counts which pixel --------------------------------------------------------------------

  const likeOf = ({ strategy }) => STRATEGIES[strategy].like ?? strategy;
  const items = ({ launch }) => launch.groups * launch.groupSize;

  // [group, work-item in it] of the work-item that counts pixel i.
  function whoOf(run) {
    const { groupSize } = run.launch;
    const of = (id) => [Math.floor(id / groupSize), id % groupSize];
    if (likeOf(run) !== "lane-bins") return (i) => of(i % items(run));
    const whole = Math.floor(run.pixels.length / 16) * 16;
    return (i) => of((i < whole ? Math.floor(i / 16) : i - whole) % items(run));
  }

  // The counts if pixel i is counted so often.
  function countIf(run, often) {
    const counts = new Uint32Array(BINS);
    for (let i = 0; i < run.pixels.length; ++i) counts[run.pixels[i]] += Number(often(i, run.pixels[i]));
    return counts;
  }

  function tablesOf(run) {
    const who = whoOf(run);
    const tables = Array.from({ length: run.launch.groups }, () => new Uint32Array(BINS));
    run.pixels.forEach((pixel, i) => { tables[who(i)[0]][pixel] += 1; });
    return tables;
  }

  // ---- a launch ----------------------------------------------------------------------------------

  // What a strategy needs, as its host program in the chapter has it. `zeroed`: what the host zeroes, by its binding. The page adds the
  // tasks, which may be `like` one of them, and may have a number of `tables`.
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

  // What one of several mistakes is looked for in.
  function trialOf(strategy, code, copies) {
    const [groups, groupSize, pixels] = [3, 32, 301];
    const { kernels, zeroed } = STRATEGIES[strategy];
    const input = Uint8Array.from({ length: pixels }, (_, i) => i);
    const { bound } = laidOut({ pixels: input }, strategy, { groups, groupSize });
    for (const binding of zeroed) bound[binding].fill(0);
    return { code: withGiven(code, groupSize, copies), kernels, bound, groups, pixels, expected: serial(input) };
  }

  // ---- what a mistake would count ----------------------------------------------------------------

  // The work-items that run in step reach a place together; those before them are further, without a barrier.
  function inStep(holds) {
    return (run) => {
      if (likeOf(run) !== "local" || !run.launch.lanes) return null;
      const who = whoOf(run);
      const turn = (item) => Math.floor(item / run.launch.lanes);
      return countIf(run, (i, pixel) => holds(turn(who(i)[1]), turn(pixel % run.launch.groupSize)));
    };
  }

  // How a strategy goes over its pixels, and how it ends: what may be chosen otherwise (lab-choices.js).
  const WAYS = { racy: { walk: "turns", end: "count" }, global: { walk: "turns", end: "count" },
    local: { walk: "turns", end: "merge" }, "lane-bins": { walk: "loads", end: "copies" }, copies: { walk: "turns", end: "copies" } };
  const changesOf = new Map(); // of such ways

  // What one choice that became something else would count: [name, prediction, sentence], the most usual first.
  function choices(run) {
    const way = WAYS[likeOf(run)];
    if (!way) return [];
    if (!changesOf.has(way)) changesOf.set(way, table.changes(theirs, way));
    // Where only the last group's table arrives, it is more likely that the groups write over each other's (PATTERNS).
    return changesOf.get(way).filter(({ name }) => name !== "only-the-last-group").map((change) =>
      [change.name, (of) => countedOnce(of, way, change), () => table.sentenceOf(theirs, change)]);
  }

  // A probe is the same in every look.
  function countedOnce(run, way, change) {
    if (!run.probe) return table.counted(run, way, change);
    const { groups, groupSize, copies } = run.launch;
    const key = [run.probe, run.pixels.length, groups, groupSize, copies].join();
    change.known ??= new Map();
    if (!change.known.has(key)) change.known.set(key, table.counted(run, way, change));
    return change.known.get(key);
  }

  // [name, prediction]: {pixels, width, strategy, expected, launch} -> counts; null where it cannot be known.
  const HYPOTHESES = [
    ["nothing-written", () => new Uint32Array(BINS).fill(POISON)],
    ["nothing-counted", () => new Uint32Array(BINS)],
    ["no-barrier-after-zeroing", inStep((turn, owner) => turn >= owner)],
    ["no-barrier-before-merge", inStep((turn, owner) => turn <= owner)],
    // As if the work-items that run in step counted equal pixels once.
    ["lost-updates", (run) => {
      const { lanes } = run.launch;
      if (run.strategy === "lane-bins" || !lanes) return null;
      return countIf(run, (i, pixel) => run.pixels.subarray(i - (i % lanes), i).indexOf(pixel) < 0);
    }],
    // Of work-items in step that each add a table of their own, the last one's count stays.
    ["merge-without-atomic", (run) => {
      const { lanes, groupSize } = run.launch;
      if (likeOf(run) !== "items" || !lanes) return null;
      const who = whoOf(run);
      return countIf(run, (i) => (who(i)[1] + 1) % lanes === 0 || who(i)[1] + 1 === groupSize);
    }],
  ];

  // What each name means; the diagnosis of the programs says it of the strategy in question.
  const SENTENCES = {
    "nothing-written": "Nobody writes the result: the kernel does not get there, or the result is copied before the kernel has finished.",
    "nothing-counted": "The result is zeroed, and no count arrives: a loop or a test lets no pixel through, or the tables are never added to it.",
    "no-barrier-after-zeroing": "There is no barrier between zeroing the table and counting: work-items count while others still zero.",
    "no-barrier-before-merge": "There is no barrier between counting and merging: work-items merge bins while others still count.",
    "lost-updates": "Counts are lost between work-items that add to one counter at the same time: the addition is not atomic.",
    "table-not-zeroed": "Not all of a group's table is zero before the counting: local memory holds anything at first, in OpenCL and CUDA.",
    "merge-overwrites": "The groups overwrite each other's counts when they merge: an assignment in the place of an addition.",
    "merge-without-atomic": "Tables are merged without an atomic: of two additions to one bin at the same time one is lost.",
  };

  // ---- mistakes that leave a pattern -------------------------------------------------------------

  // Whether each count is one of the groups' counts; with `sums` the sum of some of them.
  function isMadeOf(run, counts, sums) {
    if (run.launch.groups < 2 || run.launch.groups > 8) return false;
    const tables = tablesOf(run);
    return counts.every((count, bin) => {
      let possible = new Set(sums ? [0] : []);
      for (const table of tables) possible = new Set([...possible, ...(sums ? [...possible].map((one) => one + table[bin]) : [table[bin]])]);
      return possible.has(count);
    });
  }

  const merges = (run) => !["racy", "global"].includes(likeOf(run));

  // Tables of a group, in its own memory.
  const tablesIn = (run) => ({ local: 1, "lane-bins": run.launch.copies, copies: run.launch.copies })[likeOf(run)] ?? 0;
  const isLeft = (run, over) => [...Array(tablesIn(run) + 1).keys()].some((tables) => (over - tables * run.launch.groups * POISON) % 2 ** 32 === 0);

  // [name, what fits a run that is wrong, what is seen, whether it is between groups, so that a single one is right].
  const PATTERNS = [
    ["table-not-zeroed", (run, counts) => counts.every((count, bin) => isLeft(run, count - run.expected[bin])),
      "what is too much is what was in the groups' memory", false],
    ["merge-overwrites", (run, counts) => isMadeOf(run, counts, false), "each count is that of one group alone, and a single group is right", true],
    ["merge-without-atomic", (run, counts) => isMadeOf(run, counts, true), "what is lost is a group's whole count of a bin, and a single group is right", true],
  ];

  // The runs that tell mistakes apart, as in common/tutor/diagnosis/probes.cpp: words, and how often.
  const PROBES = [["--random 100003 --groups 1 --group-size 64", 1], ["--random 100003 --groups 2 --group-size 64", 1],
    ["--random 100003 --groups 3 --group-size 256", 1], ["--random 100 --groups 3 --group-size 64", 1],
    ["--constant 201 --random 12803 --groups 1 --group-size 64", 1], ["--random 1000003 --groups 4 --group-size 256", 4]];

  // Whether it predicts the counts of all runs for which it can say something, wrong ones among them. The smallest speak first.
  function predicts(runs, wrong, predict) {
    let known = 0;
    let knownWrong = 0;
    for (const run of [...runs].sort((a, b) => a.pixels.length - b.pixels.length)) {
      const predicted = predict(run);
      if (predicted && !equal(predicted, run.actual[0])) return false;
      known += predicted ? 1 : 0;
      knownWrong += predicted && wrong.includes(run) ? 1 : 0;
    }
    return known > runs.length / 2 && knownWrong > 0;
  }

  // What fits all runs: [{name, because}], the likeliest first; nothing where nothing does. Each run also has `actual`, the
  // counts of each time that it ran.
  function diagnose(runs) {
    const small = runs.filter((run) => run.pixels.length <= MANY);
    const isRight = (run) => run.actual.every((counts) => equal(counts, run.expected));
    const changes = (run) => run.actual.some((counts) => !equal(counts, run.actual[0]));
    const wrong = small.filter((run) => !isRight(run));
    if (wrong.length === 0) return [];
    const found = [];
    const because = `this mistake explains every count of ${small.length} runs, ${wrong.length} of them wrong`;
    const fits = (predict) => predicts(small, wrong, predict);
    const isSteady = !wrong.some(changes);
    for (const [name, predict] of isSteady ? HYPOTHESES : []) {
      if (fits(predict)) found.push({ name, because });
    }
    const changed = isSteady && found.length === 0 && choices(wrong[0]).find(([, predict]) => fits(predict));
    if (changed) found.push({ name: changed[0], sentence: changed[2](), because });
    if (found.length > 0) return found;
    const every = (isSo) => wrong.every((run) => run.actual.every((counts) => equal(counts, run.expected) || isSo(run, counts)));
    const several = wrong.some((run) => run.pixels.length >= 4 * BINS * run.launch.groups) && wrong.every((run) => run.launch.groups > 1);
    for (const [name, isSo, because, isBetween] of PATTERNS) {
      if ((several && merges(wrong[0]) || !isBetween) && every(isSo)) return [{ name, because }];
    }
    if (wrong.some(changes) && every((run, counts) => counts.every((count, bin) => count <= run.expected[bin]))) {
      return [{ name: "lost-updates", because: "no bin ever has too many, and the result changes from run to run" }];
    }
    return [];
  }

  // Runs that tell mistakes apart, and the mistake that fits them all, or none. `ways`: the engines to try, the last of them that of the
  // first run; `ran(way, words, launch, times)` makes a run.
  async function lookInto(first, ways, ran) {
    for (const way of ways) {
      const runs = way === ways.at(-1) ? [first] : [];
      let found;
      for (const [words, times] of PROBES) {
        if (times > 1) [found] = diagnose(runs);
        if (found) break; // that one is for what changes
        const { groups, "group-size": size } = optionsOf(words);
        // lane-bins takes its time to compile: groups of one size.
        const groupSize = first.strategy === "lane-bins" ? first.launch.groupSize : Math.min(Number(size), way.most.groupSize);
        try {
          runs.push({ ...await ran(way, words, { groups: Number(groups), groupSize }, times), probe: words });
        } catch {
          // what does not end is no evidence
        }
      }
      found ??= diagnose(runs)[0];
      if (found) return { ...found, way };
    }
    return null;
  }

  // What became of a run, as one may foresee it.
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

  const api = { WAYS, BINS, POISON, HYPOTHESES, PATTERNS, SENTENCES, PROBES,
    OUTCOMES, STRATEGIES, withGiven, laidOut, sampleOf, trialsOf, trialOf, serial, optionsOf, inWords, numberOf, inputOf, tiled, tablesOf, diagnose, lookInto, outcomeOf, bounded };
  if (typeof module === "object") module.exports = api;
  else root.labModel = api;
})(globalThis);
