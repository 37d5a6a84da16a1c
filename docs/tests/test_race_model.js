// The model behind docs/site/play/race.html, held against the serial loop and against all orders there are.
"use strict";

const assert = require("node:assert");
const { test } = require("node:test");
const { sum, seeded, anyReady } = require("./models.js");
const model = require("../site/play/race-model.js");

// Runs to the end, in any order.
function finish(state, random) {
  while (!model.isDone(state)) ({ state } = model.step(state, anyReady(model, state, random)));
  return state;
}

// The histograms of all orders, by a search that knows nothing of `losingOrder`.
function everyOutcome(state, found = []) {
  if (model.isDone(state)) found.push(state);
  for (const item of model.ready(state)) everyOutcome(model.step(state, item).state, found);
  return found;
}

// The truth: chapter 01's `serial` loop.
const serial = (pixels, bins) => Array.from({ length: bins }, (_, bin) => pixels.flat().filter((pixel) => pixel === bin).length);

function randomPixels(items, each, bins, random) {
  return Array.from({ length: items }, () => Array.from({ length: each }, () => Math.floor(random() * bins)));
}

test("the six steps of chapter 02 lose one of two counts", () => {
  let state = model.begin("plain", [[0], [0]], 1);
  const events = [];
  for (const item of [0, 1, 0, 1, 0, 1]) {
    const done = model.step(state, item);
    state = done.state;
    events.push([done.event.kind, done.event.value, done.event.missed]);
  }
  assert.deepStrictEqual(events, [["load", 0, 0], ["load", 0, 0], ["add", 1, 0], ["add", 1, 0], ["store", 1, 0], ["store", 1, 1]]);
  assert.deepStrictEqual(state.histogram, [1]);
  assert.deepStrictEqual(model.lost(state), [1]);
});

test("of the 20 orders of two work-items with one pixel two lose nothing", () => {
  const outcomes = everyOutcome(model.begin("plain", [[0], [0]], 1));
  assert.strictEqual(outcomes.length, 20);
  assert.strictEqual(outcomes.filter((state) => state.histogram[0] === 2).length, 2);
  assert.ok(outcomes.every((state) => state.histogram[0] + model.lost(state)[0] === 2));
});

test("atomics give the serial loop's counts in every order", () => {
  for (const state of everyOutcome(model.begin("atomic", [[0, 1], [1]], 2))) assert.deepStrictEqual(state.histogram, [1, 2]);
  for (let seed = 1; seed <= 200; ++seed) {
    const random = seeded(seed);
    const pixels = randomPixels(2 + (seed % 7), 1 + (seed % 4), 4, random);
    const state = finish(model.begin("atomic", pixels, 4), random);
    assert.deepStrictEqual(state.histogram, serial(pixels, 4), `seed ${seed}`);
    assert.strictEqual(sum(model.lost(state)), 0);
  }
});

test("with plain ++ counters and lost counts are the truth together, at each step of any order", () => {
  for (let seed = 1; seed <= 200; ++seed) {
    const random = seeded(seed);
    let state = model.begin("plain", randomPixels(4, 3, 2, random), 2);
    while (!model.isDone(state)) {
      ({ state } = model.step(state, anyReady(model, state, random)));
      model.lost(state).forEach((lost, bin) => assert.ok(lost >= 0 && lost + state.histogram[bin] === state.counted[bin]));
    }
    assert.deepStrictEqual(state.counted, serial(state.pixels, 2));
  }
});

test("losing on purpose loses with plain ++, and nothing otherwise", () => {
  for (const [way, missing] of [["plain", 1], ["atomic", 0]]) {
    let state = model.begin(way, [[1], [0], [1]], 2);
    const order = model.losingOrder(state);
    assert.deepStrictEqual([...new Set(order)], [0, 2]);
    for (const item of order) ({ state } = model.step(state, item));
    assert.strictEqual(sum(model.lost(state)), missing, way);
  }
  assert.deepStrictEqual(model.losingOrder(model.begin("plain", [[0], [1]], 2)), []);
});
