// The model behind docs/site/play/lab.html, held against the names of common/tutor/diagnosis, and what is to have no name. That each
// mistake is named is seen in test_lab_wgsl.js, where kernels run.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const { test } = require("node:test");
const choices = require("../site/play/lab-choices.js");
const data = require("../site/play/lab-data.js");
const { ROOT, source, sum, seeded } = require("./models.js");
const model = require("../site/play/lab-model.js");
Object.assign(model.STRATEGIES, data.tasks);

// The runs that the page makes of a strategy, without what was counted.
const inputs = model.PROBES.map(([words]) => model.inputOf(words, null, seeded));
const probes = (strategy) => model.PROBES.map(([words, times], place) => {
  const { groups, "group-size": groupSize } = model.optionsOf(words);
  const expected = model.serial(inputs[place].pixels);
  return { ...inputs[place], strategy, times, expected, launch: { groups: Number(groups), groupSize: Number(groupSize), lanes: 4, copies: 32 } };
});

const named = (runs) => model.diagnose(runs).map(({ name }) => name);

test("every name is one of the diagnosis", () => {
  const known = new Set([...fs.readdirSync(path.join(ROOT, "common/tutor/diagnosis"))].flatMap((file) =>
    [...source(`common/tutor/diagnosis/${file}`).matchAll(/"([a-z0-9]+(?:-[a-z0-9]+)+)"/g)].map(([, name]) => name)));
  const table = JSON.parse(source("common/tutor/diagnosis/choices.json"));
  for (const { name } of table.outcomes) known.add(name);
  for (const names of Object.values(table.called)) Object.values(names).forEach((name) => known.add(name));
  for (const [name] of [...model.HYPOTHESES, ...model.PATTERNS]) {
    assert.ok(known.has(name), name);
    assert.ok(model.SENTENCES[name], name);
  }
  assert.strictEqual(model.POISON, 0xa5a5a5a5);
  assert.match(source("common/histogram/histogram.hpp"), /kPoison = 0xA5A5'A5A5;/);
});

// As the diagnosis reads it: common/tutor/diagnosis/diagnosis_test.cpp has the same cases.
test("the table of choices is read as the programs read it", () => {
  const pixels = Uint8Array.from({ length: 4011 }, (_, i) => 7 * i + Math.floor(i / 100));
  const cases = JSON.parse(source("common/tutor/diagnosis/choices_cases.json")).cases.filter((each) => each.wgsl);
  assert.ok(cases.length >= 14);
  for (const { strategy, name, sum: expected, wgsl } of cases) {
    const run = { pixels, width: 180, strategy, launch: { groups: 6, groupSize: 64, copies: 32 } };
    const change = choices.changes(data.choices, model.WAYS[strategy]).find((each) => choices.sentenceOf(data.choices, each) === wgsl);
    assert.strictEqual(change?.name, name, wgsl);
    const counts = choices.counted(run, model.WAYS[strategy], change);
    assert.strictEqual(sum([...counts].map((count, bin) => Math.imul(count, bin + 1) >>> 0)) % 2 ** 32, expected, wgsl);
  }
});

test("what is right, and what fits nothing, has no name", () => {
  const right = probes("local").map((run) => ({ ...run, actual: Array(run.times).fill(run.expected) }));
  assert.deepStrictEqual(named(right), []);
  const odd = right.map((run) => ({ ...run, actual: run.actual.map((counts) => counts.map((count, bin) => (bin === 77 ? count + 5 : count))) }));
  assert.deepStrictEqual(named(odd), []);
  // One run that contradicts is enough.
  const none = new Uint32Array(model.BINS);
  const almost = probes("local").map((run, place) => ({ ...run, actual: [place === 4 ? run.expected : none] }));
  assert.ok(!named(almost).includes("nothing-counted"));
});

test("mistakes that leave a pattern", () => {
  const of = (strategy, counts) => named(probes(strategy).map((run) => {
    const tables = model.tablesOf(run);
    return { ...run, actual: Array.from({ length: run.times }, (_, time) => run.expected.map((count, bin) => counts(run, tables, bin, time))) };
  }));
  assert.deepStrictEqual(of("local", (run, tables, bin, time) => tables[(bin + time) % tables.length][bin]), ["merge-overwrites"]);
  assert.deepStrictEqual(of("local", (run, tables, bin, time) => tables.reduce((sum, table, group) => sum + (group === 1 && (bin + time) % 3 === 0 ? 0 : table[bin]), 0)),
    ["merge-without-atomic"]);
  assert.deepStrictEqual(of("global", (run, _, bin, time) => Math.max(0, run.expected[bin] - ((bin * 7 + time) % 5))), ["lost-updates"]);
});

test("what becomes of a run", () => {
  const [right, less, more] = [Uint32Array.of(2, 2), Uint32Array.of(2, 1), Uint32Array.of(3, 2)];
  assert.deepStrictEqual([[right, right], [less, less], [less, right], [more]].map((times) => model.outcomeOf(right, times)), ["right", "too-few", "too-few-changing", "too-many"]);
});

test("every loop gets a bound, on the line where it is", () => {
  const code = "fn a() {\n  for (var i = f((1u)); i < 2u; i++) { // for {\n    while (x) {\n      loop { y; } } }\n  /* for\n (;;) { */ let form = 1;\n}\n";
  const lines = model.bounded(code, 4).split("\n");
  assert.deepStrictEqual(code.split("\n").slice(0, -1).map((line) => line.replace(/(for \(var[^{]*|while[^{]*|loop )\{/, "$1{ if (lab_is_endless()) { break; }")),
    lines.slice(0, code.split("\n").length - 1));
  for (const { code: kernel } of Object.values(data.strategies)) {
    const loops = kernel.replace(/\/\/[^\n]*/g, "").match(/\bfor\b/g).length;
    assert.strictEqual(model.bounded(kernel, 4).match(/lab_is_endless\(\)\) \{ break/g).length, loops);
  }
});

test("pixels from the words of the tests", () => {
  const photo = { pixels: Uint8Array.from([1, 2, 3]), width: 3 };
  for (const words of Object.values(data.inputs)) assert.doesNotThrow(() => model.inputOf(words.replace("17M", "17K"), photo, seeded), words);
  const pixels = (words) => [...model.inputOf(words, photo, seeded).pixels];
  assert.deepStrictEqual(pixels("images/landscape.bmp --tile 7"), [1, 2, 3, 1, 2, 3, 1]);
  assert.deepStrictEqual([...model.tiled(new Uint8Array(0), 5)], []);
  assert.deepStrictEqual(pixels("--ramp --random 258").slice(254), [254, 255, 0, 1]);
  assert.deepStrictEqual(pixels("--constant 7 --random 3"), [7, 7, 7]);
  assert.ok(pixels("--random 1K --values 4").every((value) => value < 4));
  assert.throws(() => pixels("images/colour.bmp"), RangeError);
});
