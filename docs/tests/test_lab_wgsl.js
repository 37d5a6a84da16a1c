// The interpreter behind docs/site/play/lab.html: it runs every kernel of the chapters rightly in every order, shows the mistakes of the
// gallery under their names, counts as WGSL counts, and says what it does not know.
"use strict";

const assert = require("node:assert");
const { test } = require("node:test");
const data = require("../site/play/lab-data.js");
const { source, seeded, sum } = require("./models.js");
const model = require("../site/play/lab-model.js");
const predict = require("../site/play/lab-predict.js");
const wgsl = require("../site/play/lab-wgsl.js")();
const watch = require("../site/play/lab-watch.js")(wgsl);

Object.assign(model.STRATEGIES, data.tasks);
const COPIES = 8;
const MOST = 2039; // pixels of an input here, its first ones: 127 vectors and a rest
const FIRST = 16411; // of one that a mistake is looked for in: more than a turn of each loop
const TURNS = 2 ** 15; // of a work-item: more than FIRST takes one alone
const LAUNCHES = [[16, 64], [16, 1], [7, 96], [1, 256], [5, 32], [1, 1]];
const known = new Map(); // inputs and runs that were made, by what they are made from

const photo = { pixels: Uint8Array.from({ length: 2 ** 18 }, (_, i) => (i * 7 + Math.floor(i / 512) * 3) % 256), width: 512 };

function ran(strategy, code, words, [groups, groupSize], order, times = 1, most = FIRST, copies = COPIES) {
  const key = [strategy, code, words, groups, groupSize, order, times, most, copies].join("\n");
  if (known.has(key)) return known.get(key);
  if (!known.has(words)) known.set(words, model.inputOf(words.replace("17M", "17K"), photo, seeded));
  const { pixels, width } = known.get(words);
  const input = { pixels: pixels.subarray(0, most), width };
  const { kernels, zeroed } = model.STRATEGIES[strategy];
  const program = wgsl.compile(model.withGiven(code, groupSize, copies));
  const random = seeded(7);
  const actual = Array.from({ length: times }, () => {
    const { turns, bound } = model.laidOut(input, strategy, { groups, groupSize });
    for (const binding of zeroed) bound[binding].fill(0);
    for (const kernel of kernels) wgsl.launch(program, kernel, bound, groups, order, random, Math.min(turns, TURNS));
    return bound[2];
  });
  known.set(key, { ...input, strategy, expected: model.serial(input.pixels), actual, launch: { groups, groupSize, lanes: wgsl.LANES[order], copies } });
  return known.get(key);
}

const outcome = ({ expected, actual }) => model.outcomeOf(expected, actual);

test("every kernel is right on the inputs and in the launches of the tests, whoever goes next", () => {
  const all = [...Object.values(data.inputs).map((words) => [words, [4, 64]]), ...LAUNCHES.map((launch) => ["--random 10007", launch])];
  for (const [strategy, { code }] of Object.entries(data.strategies)) {
    for (const order of Object.keys(wgsl.LANES)) {
      const wrong = all.filter(([words, launch]) => outcome(ran(strategy, code, words, launch, order, 1, MOST)) !== "right");
      if (strategy !== "racy" || order === "alone") assert.deepStrictEqual(wrong, [], `${strategy} ${order}`);
      else assert.ok(wrong.length > 5, `${strategy} ${order}`);
    }
  }
});

const changed = (changes, code) => changes.reduce((text, [old, now]) => (assert.ok(text.includes(old), old), text.replace(old, () => now)), code);

// What is said of a kernel, as lab-views.js says it: what is wrong in any order, or what an order shows.
function whyOf(strategy, code) {
  const { fault, story } = watch.why({ looks: model.looksOf(strategy, code, 2), trials: model.trialsOf(strategy, code) });
  if (fault.words) return `${fault.line ?? ""} ${fault.words}`;
  return story.isStuck ? "stuck" : story.events?.find((event) => event.isLost)?.isLost ?? "";
}

test("each mistake of the gallery counts wrongly, and is told", () => {
  const told = {};
  for (const { name, strategy, called, words, changes } of data.mistakes) {
    const code = changed(changes, data.strategies[strategy].code);
    const { groups = "64", "group-size": size = "64" } = model.optionsOf(words);
    for (const order of Object.keys(wgsl.LANES)) {
      const run = () => ran(strategy, code, words, [Number(groups), Number(size)], order);
      if (called.startsWith("refused ")) assert.throws(run, (error) => error instanceof wgsl.CodeError && error.message.includes(called.slice(8)), name);
      else assert.strictEqual(outcome(run()) === "right", called === "lost-updates" && order === "alone", `${name} ${order}`); // nobody comes between
    }
    told[name] = whyOf(strategy, code);
  }
  assert.deepStrictEqual(told, { "if-for-loop": " pixel 96 of 301 is read by nobody", "loop-stride-too-short": " of 2 pixels of the value 0, of 301, it counts 4", "no-atomic": "over",
    "tail-dropped": " pixel 288 of 301 is read by nobody", "barrier-in-a-branch": "stuck", "early-return": "stuck",
    "merge-by-assignment": "47 this writes over what others have counted in histogram[0]", "merge-strided-globally": "40 what is counted in table[32] is read by nobody any more",
    "no-atomic-in-the-table": "over", "no-barrier-after-zeroing": "over", "no-barrier-before-merge": "late",
    "table-not-zeroed": "36 table[0] is used before anybody has zeroed it; local memory holds anything at first, in OpenCL and CUDA",
    "last-copy-left-out": "35 what is counted in table[33] is read by nobody any more" });
  for (const [name, { code }] of Object.entries(data.strategies)) assert.strictEqual(whyOf(name, code), name === "racy" ? "over" : "", name);
});

// What solves the tasks: [what stands there at first, what has to].
const SIXTEEN = "for (var n = 0u; n < 4u; n++) { count_four(sixteen[n]); }";
const SOLVED = {
  "02/no-lost-counts": [["plain_histogram[pixel(i)] += 1u;", "atomicAdd(&histogram[pixel(i)], 1u);"]],
  "03/four-mistakes/first": [["    }\n    for (var bin", "    }\n    workgroupBarrier();\n    for (var bin"]],
  "03/four-mistakes/second": [["if (item < BINS) {\n        atomicStore(&table[item], 0u);", "for (var bin = item; bin < BINS; bin += GROUP_SIZE) {\n        atomicStore(&table[bin], 0u);"]],
  "03/four-mistakes/third": [["    if (group.x * GROUP_SIZE + item >= args.count) { return; }\n", ""]],
  "03/four-mistakes/fourth": [["bin += groups.x * GROUP_SIZE", "bin += GROUP_SIZE"]],
  "01/merge": [["plain_histogram[bin] += own[bin];", "atomicAdd(&histogram[bin], own[bin]);"]],
  "03/nothing-to-add": [["atomicAdd(&histogram[bin], atomicLoad(&table[bin]));", "let count = atomicLoad(&table[bin]); if (count > 0u) { atomicAdd(&histogram[bin], count); }"]],
  "02/neighbours": [["var i = item.x * share; i < min(args.count, (item.x + 1u) * share); i += 1u", "var i = item.x; i < args.count; i += groups.x * GROUP_SIZE"]],
  "04/which-bank": [["copy * BINS + bin;", "bin * COPIES + copy;"]],
  "03/five-steps": [["// TODO 1", "for (var bin = item; bin < BINS; bin += GROUP_SIZE) { atomicStore(&table[bin], 0u); } //"], ["// TODO 2", "workgroupBarrier(); //"],
    ["// TODO 3", "for (var i = group.x * GROUP_SIZE + item; i < args.count; i += groups.x * GROUP_SIZE) { atomicAdd(&table[pixel(i)], 1u); } //"],
    ["// TODO 4", "workgroupBarrier(); //"], ["// TODO 5", "for (var bin = item; bin < BINS; bin += GROUP_SIZE) { atomicAdd(&histogram[bin], atomicLoad(&table[bin])); } //"]],
  "02/striped": [["// TODO: the launch", "for (var i = item.x; i < args.count; i += groups.x * GROUP_SIZE) { atomicAdd(&tables[item.x % TABLES * BINS + pixel(i)], 1u); } //"],
    ["// TODO: from", "var sum = 0u; for (var t = 0u; t < TABLES; t++) { sum += plain_tables[t * BINS + bin]; } plain_histogram[bin] = sum; //"]],
  "04/copies": [["for (var bin = item; bin < BINS; bin += GROUP_SIZE) {\n        atomicStore(&table[bin * COPIES], 0u);", "for (var word = item; word < BINS * COPIES; word += GROUP_SIZE) {\n        atomicStore(&table[word], 0u);"],
    ["atomicAdd(&histogram[bin], atomicLoad(&table[bin * COPIES]));", "var sum = 0u; for (var k = 0u; k < COPIES; k++) { sum += atomicLoad(&table[bin * COPIES + (item + k) % COPIES]); } atomicAdd(&histogram[bin], sum);"]],
  "05/sixteen-at-once": [["for (var i = first; i", `for (var v = first; v < args.count / 16u; v += stride) { let sixteen = vectors[v]; ${SIXTEEN} }\n    for (var i = args.count / 16u * 16u + first; i`]],
  "05/four-loads": [["    // ---- end of", "    for (; v + 3u * stride < args.count / 16u; v += 4u * stride) { let a = vectors[v]; let b = vectors[v + stride]; let c = vectors[v + 2u * stride];"
    + " let d = vectors[v + 3u * stride]; count_sixteen(a); count_sixteen(b); count_sixteen(c); count_sixteen(d); }\n    // ---- end of"]],
};
const KINDS = { "random pixels": "--random 64K", "pixels of one value": "--constant 127 --random 64K", "pixels of a ramp": "--ramp --random 64K" };

// The limits of a task that a kernel does not keep, and their lines.
const missed = (name, code) => data.tasks[name].counts.map((limit) => {
  const sample = model.sampleOf(model.inputOf(KINDS[limit.pixels], photo, seeded).pixels, name, code, { groups: 1, groupSize: 256, copies: 32 }, 2 ** 12);
  return [limit.counter, predict.kept(limit, predict.countsOf(watch.count(sample), sample, 2 ** 20))];
}).filter(([, { right }]) => !right).map(([counter, { line }]) => `${counter}: ${code.split("\n")[line.line - 1].trim()}`);

test("each task is wrong at first, and told, or misses its goal, and is right when it is solved", () => {
  assert.deepStrictEqual(Object.keys(data.tasks), Object.keys(SOLVED));
  const names = {};
  for (const [name, { code, hints, runs }] of Object.entries(data.tasks)) {
    assert.strictEqual(hints.length, 3, name);
    assert.ok(!/barrier\(|get_|__local|__shared__|threadIdx|atomic_|__global/.test(hints.join()), name); // words of the other APIs
    const lines = runs.split("\n").map((line) => line.split(": "));
    assert.deepStrictEqual([...new Set(lines.map(([criterion]) => criterion))], ["sizes", "distributions", "launches", "free of faults"], name);
    const small = lines.map(([, words]) => words.replace("1048573", "20011").replace("83003", "8303").replace("--groups 700", "--groups 70"));
    const first = (kernel, order) => {
      for (const words of small) {
        const { groups, "group-size": size, copies = 1 } = model.optionsOf(words);
        const run = ran(name, kernel, words, [Number(groups), Number(size)], order, 1, MOST, Number(copies));
        if (outcome(run) !== "right") return run;
      }
      return null;
    };
    try {
      names[name] = first(code, "together") ? whyOf(name, code) : missed(name, code).join("; ");
    } catch (error) {
      names[name] = whyOf(name, code) || error.message;
    }
    const solved = changed(SOLVED[name], code);
    for (const order of Object.keys(wgsl.LANES)) assert.strictEqual(first(solved, order), null, `${name} ${order}`);
    assert.deepStrictEqual(missed(name, solved), [], name);
  }
  assert.deepStrictEqual(names, { "02/no-lost-counts": "over", "03/four-mistakes/first": "late",
    "03/four-mistakes/second": "32 table[96] is used before anybody has zeroed it; local memory holds anything at first, in OpenCL and CUDA", "03/four-mistakes/third": "stuck",
    "03/four-mistakes/fourth": "32 what is counted in table[32] is read by nobody any more", "01/merge": "over",
    "03/nothing-to-add": "global atomics for 1000 pixels: atomicAdd(&histogram[bin], atomicLoad(&table[bin]));",
    "02/neighbours": "sectors for 32 pixels: return (words[i / 4u] >> (8u * (i % 4u))) & 0xffu;",
    "04/which-bank": "passes of an access: atomicAdd(&table[word(pixel(i), item % COPIES)], 1u);", "03/five-steps": " no count arrives in the result", "02/striped": " nobody writes the result",
    "04/copies": "37 table[3] is used before anybody has zeroed it; local memory holds anything at first, in OpenCL and CUDA", "05/sixteen-at-once": "bytes in flight: return (vectors[i / 16u][i / 4u % 4u] >> (8u * (i % 4u))) & 0xffu;",
    "05/four-loads": "loads in flight: count_sixteen(vectors[v]);" });
});

test("of several mistakes one is told after the other", () => {
  const { code } = data.strategies.local;
  const faultOf = (...changes) => {
    const { launch: { groups, groupSize }, ...found } = watch.fault(model.looksOf("local", changed(changes, code), 2));
    assert.deepStrictEqual([groups, groupSize], [3, 32]);
    return found;
  };
  const [unset, late, unread] = [["bin < BINS; bin += GROUP_SIZE) {\n        atomicStore", "bin < 200u; bin += GROUP_SIZE) {\n        atomicStore"],
    ["bin < BINS; bin += GROUP_SIZE) {\n        atomicAdd(&h", "bin < 100u; bin += GROUP_SIZE) {\n        atomicAdd(&h"], ["i < args.count", "i < args.count - 9u"]];
  assert.deepStrictEqual(faultOf(unset, late, unread), { line: 40, words: "table[200] is used before anybody has zeroed it; local memory holds anything at first, in OpenCL and CUDA" });
  assert.deepStrictEqual(faultOf(late, unread), { line: 40, words: "what is counted in table[192] is read by nobody any more" });
  assert.deepStrictEqual(faultOf(unread), { words: "pixel 292 of 301 is read by nobody" });
  for (const [name, solved] of Object.entries(SOLVED)) assert.deepStrictEqual(watch.fault(model.looksOf(name, changed(solved, data.tasks[name].code), 2)), {}, name);
});

test("each race and each missing barrier has its order of events, and nothing else has one", () => {
  const storyOf = (strategy, code) => {
    const { name, isStuck } = watch.story({ trials: model.trialsOf(strategy, code) });
    return isStuck ? "stuck" : name ?? "";
  };
  const trials = model.trialsOf("racy", data.strategies.racy.code);
  const racy = watch.story({ trials });
  assert.deepStrictEqual(racy.events.map(({ id, line, what, read, wrote, isLost }) => [id, line, what, read, wrote, isLost]), [[0, 32, "load", 0, null, undefined],
    [1, 32, "load", 0, null, undefined], [1, 32, "store", null, 1, false], [0, 32, "store", null, 1, "over"]]);
  assert.deepStrictEqual([racy.bins, racy.orders], [[0, 1], 3]);
  assert.strictEqual(watch.story({ trials: trials.slice(4, 5) }).events.filter((event) => event.isLost).length, 1); // of four additions
  assert.deepStrictEqual(watch.story({ trials: model.trialsOf("local", data.strategies.local.code) }), { orders: 1008 }); // in some all that there are
  const stories = (list) => Object.fromEntries(list.map(([name, ...kernel]) => [name, storyOf(...kernel)]).filter(([, story]) => story));
  const strategies = Object.entries(data.strategies);
  assert.deepStrictEqual(stories(data.mistakes.map(({ name, strategy, changes }) => [name, strategy, changed(changes, data.strategies[strategy].code)])),
    Object.fromEntries(data.mistakes.filter(({ called }) => /^(lost|merge-o|no-b|refused)/.test(called)).map(({ name, called }) => [name, called.startsWith("refused") ? "stuck" : called])));
  assert.deepStrictEqual(stories(strategies.map(([name, { code }]) => [name, name, code])), { racy: "lost-updates" });
  const without = strategies.flatMap(([name, { code }]) => [...code.matchAll(/ {4}workgroupBarrier\(\);/g)].map(({ index, 0: { length } }) =>
    [`${name} ${index}`, name, code.slice(0, index) + code.slice(index + length)]));
  assert.deepStrictEqual(Object.values(stories(without)), Array(2).fill(["no-barrier-after-zeroing", "no-barrier-before-merge"]).flat());
  const tasks = Object.entries(data.tasks);
  assert.deepStrictEqual(stories(tasks.map(([name, { code }]) => [name, name, code])), { "01/merge": "lost-updates", "02/no-lost-counts": "lost-updates",
    "03/four-mistakes/first": "no-barrier-before-merge", "03/four-mistakes/third": "stuck" });
  assert.deepStrictEqual(stories(tasks.map(([name, { code }]) => [name, name, changed(SOLVED[name], code)])), {});
});

// What is counted of a launch, for 32 pixels.
function counted(strategy, code, words, groups, groupSize, copies = 32) {
  const { pixels } = model.inputOf(words, photo, seeded);
  const sample = model.sampleOf(pixels, strategy, code, { groups, groupSize, copies });
  const { counted: [, [launch]], sizes } = watch.count(sample);
  const of = (key) => sum(launch.lines.filter(({ what }) => key !== "sectors" || what === "load").map((each) => each[key])) / (sizes[1] / 32);
  return { ...launch, sectors: of("sectors"), visits: of("visits"), passes: of("passes"), queue: Math.max(...launch.queues) / (sizes[1] / 32) };
}

test("counts are those of Nsight Compute on an H100, and of the rules", () => {
  const TWICE = 1.5; // the L2 cache has two halves, and counts what comes by way of the other one twice (docs/profiler.md)
  const rows = JSON.parse(source("docs/results/h100.json")).experiments.filter(({ experiment }) => experiment === "profile").flatMap(({ run }) => run.runs);
  const seen = (name, counter) => rows.find(({ arguments: [, its, ...more] }) => its === name && more.length === 0).percent[`${counter}.sum`] / (2 ** 28 / 32);
  const near = (value, expected, what) => assert.ok(Math.abs(value / expected - 1) < 0.05, `${what}: ${value}, not ${expected}`);
  const of = (name, words, ...launch) => counted(name, data.strategies[name].code, words, ...launch);
  const global = of("global", "--random 64K", 4, 64);
  near(TWICE * global.visits, seen("global", "lts__t_sectors_op_red"), "visits");
  near(TWICE * global.sectors, seen("global", "lts__t_sectors_op_read"), "sectors");
  const local = of("local", "--random 256K", 4, 256);
  near(local.passes, seen("local", "l1tex__data_pipe_lsu_wavefronts_mem_shared") + 64 / 1024, "passes, and those of zeroing and merging");
  assert.deepStrictEqual([local.barriers, local.local_bytes, local.loads_ahead, local.bytes_ahead, local.others_ahead], [2, 1024, 1, 4, 0]);
  const copies = of("lane-bins", "--random 256K", 2, 256);
  assert.deepStrictEqual([copies.loads_ahead, copies.bytes_ahead, copies.others_ahead], [4, 64, 0]);
  const both = ["--constant 7 --random 4K", "--ramp --random 4K"].map((words) => of("global", words, 4, 64));
  assert.deepStrictEqual(both.map(({ sectors, visits, queue }) => [sectors, visits, queue]), [[1, 32, 32], [1, 4, 2]]);
  // An atomic that does not add a constant 1 is not shared; lanes that part at a branch come together behind it.
  const atomic = data.strategies.local.code.replace("atomicAdd(&table[pixel(i)], 1u)", "if (item % 2u == 0u) { atomicAdd(&table[7], 2u); } atomicAdd(&table[pixel(i)], item)");
  const [even, all] = counted("local", atomic, "--constant 7 --random 4K", 4, 64).lines.filter(({ name, what }) => name === "table" && what === "atomic");
  assert.deepStrictEqual([even.passes / even.requests, all.passes / all.requests, all.requests / even.requests], [16, 32, 1]);
  // Neighbours that are read again are found, and own arrays are told.
  const blocked = data.strategies.global.code.replace("var i = item.x; i < args.count; i += groups.x * GROUP_SIZE", "var i = item.x * 64u; i < item.x * 64u + 64u; i++");
  const [load] = counted("global", blocked, "--random 64K", 4, 64).lines;
  assert.deepStrictEqual([load.sectors / load.requests, load.found / load.sectors > 0.8], [32, true]);
  assert.ok(counted("01/merge", data.tasks["01/merge"].code, "--random 4K", 4, 64).has_own && !local.has_own);
  // Of 64 groups some stand for all.
  assert.strictEqual(of("global", "--ramp --random 16K", 64, 64).visits, 4);
});

// What a work-item of a group of four writes to its word.
function written(body, order = "alone", before = "") {
  const code = `${before}
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<atomic<u32>>;
var<workgroup> shared_word: u32;
@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) item: u32, @builtin(workgroup_id) group: vec3<u32>) { ${body} }`;
  const bound = [new Uint32Array(4), new Uint32Array(4)];
  wgsl.launch(wgsl.compile(code), "main", bound, 1, order, seeded(3), 1000);
  return [...bound[0]];
}

test("it counts as WGSL does", () => {
  const first = (body, before) => written(`if (item == 0u) { ${body} }`, "alone", before)[0];
  for (const [value, expected] of [["4294967295u + 2u", 1], ["0u - 1u", 2 ** 32 - 1], ["65537u * 65537u", 131073], ["7u / 2u", 3], ["7u / (item * 1u)", 7], ["7u % (item * 1u)", 0],
    ["1u << 31u", 2 ** 31], ["0xfffffff0u >> 4u", 0x0fffffff], ["~0u", 2 ** 32 - 1], ["select(1u, 2u, item < 1u)", 2],
    ["max(3u, item) + min(2, 1)", 4], ["2u + 3u * 4u - (1u ^ 3u)", 12], ["select(0, 1, true && !(1 > 2))", 1], ["group.z + N * 2", 6], ["twice(4u)", 8], ["out[9]", 5]]) {
    assert.strictEqual(first(`out[3] = 5u; out[0] = ${value};`, "const N = 3u; fn twice(x: u32) -> u32 { return 2u * x; }"), expected, value);
  }
  assert.strictEqual(first("var n = 0u; for (var i = 0u; i < 9u; i++) { if (i == 3u) { continue; } if (i > 5u) { break; } n += i; } var k = 4u; while (k > 0u) { k -= 1u; n = n + 1u; }"
    + "loop { n += 100u; if (n > 300u) { break; } } var own: array<u32, 3>; own[n % 3u] += n; let i = own[n % 3u]; { let i = 1u; n += i; } out[0] = i + n;"), 316 + 317);
  assert.deepStrictEqual(written("shared_word = 40u; workgroupBarrier(); out[item] = shared_word + item;"), [40, 41, 42, 43]);
});

test("an atomic is one step, and what is none is several", () => {
  for (const order of Object.keys(wgsl.LANES)) {
    const addition = "atomicAdd(&sums[0], 1u); workgroupBarrier(); out[item] = atomicLoad(&sums[0]);";
    assert.deepStrictEqual(written(addition, order), [4, 4, 4, 4]);
  }
  assert.deepStrictEqual(written("if (item == 0u) { shared_word = 0u; } workgroupBarrier(); shared_word += 1u; workgroupBarrier(); out[item] = shared_word;", "together"), [1, 1, 1, 1]);
});

test("what a compiler would refuse, and what it does not know, has a place and words", () => {
  for (const [body, column, words] of [["out[0] = nosuch;", 10, "unresolved value 'nosuch'"], ["out[0] = 1u", 12, "expected ';', and here is '}'"], ["out[0] = item + true;", 15, "no '+' of 'u32' and 'bool' is known"], ["let x = 5;", 9, "with a sign: is '5u' meant?"],
    ["out[0] = sums[0];", 10, "an atomic is read by atomicLoad"], ["sums[0] += 1u;", 1, "cannot assign to an atomic"], ["let x = 1u; x = 2u;", 13, "nothing can be assigned"], ["out[0] = true;", 10, "'bool', and 'u32' is needed"],
    ["out[0] = 1.5;", 10, "whole numbers"], ["switch (item) {}", 1, "does not know 'switch'"],
    ["out[0] = abs(item);", 10, "does not know 'abs'"], ["out[0] = nosuch(item);", 10, "does not know 'nosuch': it is no function of the kernel"],
    ["atomic_inc(&sums[0]);", 1, "does not know 'atomic_inc': it is no function of the kernel, and WGSL's atomics are atomicLoad,"], ["atomicAdd(&out[0], 1u);", 1, "needs the address of an atomic"]]) {
    const line = "fn main(@builtin(local_invocation_index) item: u32) {\n";
    const code = `@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n@group(0) @binding(1) var<storage, read_write> sums: array<atomic<u32>>;\n@compute @workgroup_size(4) ${line}${body}}`;
    assert.throws(() => wgsl.compile(code), (error) => {
      assert.ok(error instanceof wgsl.CodeError, `${body}: ${error.stack}`);
      assert.ok(error.message.includes(words), `${body}: ${error.message}`);
      assert.deepStrictEqual([error.line, error.column], [4, column], body);
      return true;
    });
  }
  // Where only the run shows it.
  for (const body of ["if (item > 1u) { workgroupBarrier(); }", "if (item > 1u) { return; } workgroupBarrier();", "for (var i = item; i < 4u; i++) { workgroupBarrier(); }",
    "if (item > 1u) { workgroupBarrier(); } else {\n workgroupBarrier(); }"]) {
    for (const order of Object.keys(wgsl.LANES)) assert.throws(() => written(body, order), /uniform control flow/);
  }
  assert.throws(() => written("while (true) { out[0] = 1u; }"), wgsl.Endless);
});
