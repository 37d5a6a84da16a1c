// Work-items that count their pixels, all of one value, one small step at a time, in any order: the model behind race.html.
//
// No state is ever changed: each step gives a new one, so that a page can go back. Two ways to count:
//   plain    ++counter: load, add, store, and between them anybody may come (chapter 02's `racy`)
//   atomic   the three as one step that nobody can split (chapter 02's `global`)
(function (root) {
  "use strict";

  // `counted`: what the counter would hold if nothing had been lost. Of a work-item `done`: its pixels that are counted; `phase`: what it
  // does next to the next one; `register`: what it has loaded.
  function begin(way, items, pixels) {
    return { way, pixels, counter: 0, counted: 0, items: Array.from({ length: items }, () => ({ done: 0, phase: "load", register: null })) };
  }

  // What a work-item does next: "load", "add", "store", "atomic", or "" where it has counted all.
  function nextStep(state, item) {
    const { done, phase } = state.items[item];
    if (done === state.pixels) return "";
    return state.way === "atomic" ? "atomic" : phase;
  }

  // The work-items that can do something now.
  const ready = (state) => [...state.items.keys()].filter((item) => nextStep(state, item) !== "");
  const isDone = (state) => ready(state).length === 0;

  // One step of a work-item. Gives the new state, and what happened: `value` is what was loaded, added up or written;
  // `missed` says how many additions of others a plain store has written over, because it did not know of them.
  function step(state, item) {
    const kind = nextStep(state, item);
    if (kind === "") throw new RangeError(`work-item ${item} has nothing to do`);
    const { done, register } = state.items[item];
    const value = { load: state.counter, add: register + 1, store: register, atomic: state.counter + 1 }[kind];
    const writes = kind === "store" || kind === "atomic";
    const after = writes ? { done: done + 1, phase: "load", register: null } : { done, phase: kind === "load" ? "add" : "store", register: value };
    return { event: { item, kind, value, missed: writes ? state.counter + 1 - value : 0 }, state: { ...state,
      counter: writes ? value : state.counter,
      counted: state.counted + Number(writes),
      items: state.items.map((old, number) => (number === item ? after : old)) } };
  }

  const lost = (state) => state.counted - state.counter;

  // The order in which two work-items that go in step lose an update if they can: from the beginning.
  const losingOrder = (state) => (state.way === "atomic" ? [0, 1] : [0, 1, 0, 1, 0, 1]);

  const api = { begin, nextStep, ready, isDone, step, lost, losingOrder };
  if (typeof module === "object") module.exports = api;
  else root.raceModel = api;
})(globalThis);
