// The model behind docs/site/play/lab.html. What is said of kernels is seen in test_lab_wgsl.js, where they run.
"use strict";

const assert = require("node:assert");
const { test } = require("node:test");
const data = require("../site/play/lab-data.js");
const { source, seeded } = require("./models.js");
const model = require("../site/play/lab-model.js");

test("what becomes of a run", () => {
  const [right, less, more] = [Uint32Array.of(2, 2), Uint32Array.of(2, 1), Uint32Array.of(3, 2)];
  assert.deepStrictEqual([[right, right], [less, less], [less, right], [more], [right, more]].map((times) => model.outcomeOf(right, times)), ["right", "too-few", "too-few-changing", "too-many", "too-many"]);
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

test("what a reader has changed", () => {
  const before = "a;\nb; // TODO\n\nc;\nd;\n";
  for (const [now, gone, come] of [["  a;\nb;\nc;\nd;", [], []], ["a;\nx;\nc;\nd;", ["b;"], ["x;"]], ["c;\nd;\na;", ["a;", "b;"], ["a;"]], ["", ["a;", "b;", "c;", "d;"], []],
    ["x;\na;\nb;\nc;\nd;\ny;", [], ["x;", "y;"]]]) {
    assert.deepStrictEqual(model.changesOf(before, now), [gone, come]);
  }
});

test("pixels from the words of the tests", () => {
  assert.strictEqual(model.POISON, 0xa5a5a5a5);
  assert.match(source("common/histogram/histogram.hpp"), /kPoison = 0xA5A5'A5A5;/);
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
