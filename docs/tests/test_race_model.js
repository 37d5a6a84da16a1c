// The model behind docs/site/play/race.html, held against the truth and against all orders there are.
"use strict";

const assert = require("node:assert");
const { test } = require("node:test");
const { seeded, anyReady } = require("./models.js");
const model = require("../site/play/race-model.js");

// The ends of all orders, by a search that knows nothing of `losingOrder`.
function everyOutcome(state, found = []) {
  if (model.isDone(state)) found.push(state);
  for (const item of model.ready(state)) everyOutcome(model.step(state, item).state, found);
  return found;
}

test("the six steps of chapter 02 lose one of two counts", () => {
  let state = model.begin("plain", 2, 1);
  const events = [];
  for (const item of model.losingOrder(state)) {
    const done = model.step(state, item);
    state = done.state;
    events.push([done.event.item, done.event.kind, done.event.value, done.event.missed]);
  }
  assert.deepStrictEqual(events, [[0, "load", 0, 0], [1, "load", 0, 0], [0, "add", 1, 0], [1, "add", 1, 0], [0, "store", 1, 0], [1, "store", 1, 1]]);
  assert.deepStrictEqual([state.counter, state.counted, model.lost(state)], [1, 2, 1]);
  assert.throws(() => model.step(state, 0), RangeError);
});

test("of the 20 orders of two work-items with one pixel two lose nothing", () => {
  const outcomes = everyOutcome(model.begin("plain", 2, 1));
  assert.strictEqual(outcomes.length, 20);
  assert.strictEqual(outcomes.filter((state) => state.counter === 2).length, 2);
  assert.ok(outcomes.every((state) => state.counter + model.lost(state) === 2));
});

test("atomics lose nothing in any order", () => {
  for (const state of everyOutcome(model.begin("atomic", 3, 2))) assert.deepStrictEqual([state.counter, state.counted], [6, 6]);
});

test("with plain ++ the counter and what is lost are the truth together, at each step of any order", () => {
  for (let seed = 1; seed <= 200; ++seed) {
    const random = seeded(seed);
    let state = model.begin("plain", 4, 3);
    while (!model.isDone(state)) {
      ({ state } = model.step(state, anyReady(model, state, random)));
      assert.ok(model.lost(state) >= 0 && model.lost(state) + state.counter === state.counted);
    }
    assert.strictEqual(state.counted, 12);
  }
});
