// The model behind docs/site/play/steps.html, held against the kernels, the serial loop, and many orders.
"use strict";

const assert = require("node:assert");
const { test } = require("node:test");
const { source, seeded } = require("./models.js");
const model = require("../site/play/steps-model.js");

const CHANGES = { zero: false, barrierAfterZero: false, atomicCount: false, barrierBeforeMerge: false, atomicMerge: false, countStride: "group", mergeStride: "launch" };

// The end of a run in an order that `seed` chooses.
function end(settings, seed) {
  const random = seeded(seed);
  let state = model.begin(settings);
  while (!model.isDone(state)) {
    const ready = model.ready(state);
    ({ state } = model.step(state, ready[Math.floor(random() * ready.length)]));
  }
  return state;
}

test("the five steps are those of the kernel", () => {
  const text = source("03-local-atomics/histogram.cl");
  const steps = [...text.matchAll(/\/\/ Step (\d): (\w+)/g)].map(([, number, word]) => [number, word]);
  assert.deepStrictEqual(steps, [["1", "zero"], ["2", "nobody"], ["3", "count"], ["4", "nobody"], ["5", "add"]]);
  const kinds = (settings) => model.programOf({ ...model.RIGHT, ...settings }, 1).map(({ kind, bin }) => `${kind} ${bin ?? ""}`.trim());
  assert.deepStrictEqual(kinds({ tables: false, earlyReturn: true, countStride: "group" }), ["add 0", "add 3"]);
  assert.deepStrictEqual(kinds(), ["zero 1", "zero 3", "barrier", "add 0", "add 3", "barrier", "merge 1", "merge 3"]);
});

test("as it is, every order is right", () => {
  for (const items of [2, 3, 4]) {
    for (const pixels of [3, 6, 12]) {
      for (const tables of [true, false]) {
        const settings = { ...model.RIGHT, tables, items, pixels };
        for (let seed = 1; seed <= 20; ++seed) assert.deepStrictEqual(end(settings, seed).histogram, model.serial(settings));
        assert.strictEqual(model.wrongOrder(settings, seeded(5), 20), null);
      }
    }
  }
});

test("each change alone can go wrong", () => {
  for (const [name, value] of Object.entries(CHANGES)) {
    const settings = { ...model.RIGHT, [name]: value };
    const order = model.wrongOrder(settings, seeded(5));
    assert.ok(order, name);
    let state = model.begin(settings);
    for (const item of order) ({ state } = model.step(state, item));
    assert.ok(model.isDone(state) && model.wrongBins(state).length > 0, name);
  }
});

test("without tables a plain ++ loses what others have added since it loaded, and says so", () => {
  const settings = { ...model.RIGHT, tables: false, atomicCount: false };
  for (let seed = 1; seed <= 50; ++seed) {
    const random = seeded(seed);
    let state = model.begin(settings);
    let missed = 0;
    while (!model.isDone(state)) {
      const ready = model.ready(state);
      const done = model.step(state, ready[Math.floor(random() * ready.length)]);
      state = done.state;
      missed += done.event.missed;
    }
    assert.strictEqual(model.wrongBins(state).reduce((all, [, difference]) => all + difference, missed), 0);
  }
  const [a, b] = [0, 1, 0, 1].reduce(([state], item) => { const { state: next, event } = model.step(state, item); return [next, event]; }, [model.begin(settings)]);
  assert.deepStrictEqual([a.histogram[0], b], [1, { item: 1, group: 0, kind: "store", bin: 0, value: 1, missed: 1 }]);
});

test("who returns before a barrier leaves the others waiting", () => {
  const settings = { ...model.RIGHT, pixels: 3, earlyReturn: true };
  assert.deepStrictEqual(model.hanging(end(settings, 1)), [1]);
  assert.deepStrictEqual(model.hanging(end({ ...settings, pixels: 6 }, 1)), []);
  assert.deepStrictEqual(model.hanging(end({ ...settings, barrierAfterZero: false, barrierBeforeMerge: false }, 1)), []);
});

test("each step leaves the state before as it was", () => {
  let state = model.begin(model.RIGHT);
  while (!model.isDone(state)) {
    const before = JSON.stringify(state);
    const after = model.step(state, model.ready(state)[0]).state;
    assert.strictEqual(JSON.stringify(state), before);
    state = after;
  }
  assert.throws(() => model.step(state, 0), RangeError);
});
