// Work-items that count their pixels one small step at a time, in any order: the model behind race.html.
//
// No state is ever changed: each step gives a new one, so that a page can go back. Two ways to count:
//   plain    ++histogram[pixel]: load, add, store, and between them anybody may come (chapter 02's `racy`)
//   atomic   the three as one step that nobody can split (chapter 02's `global`)
(function (root) {
  "use strict";

  function zeros(count) {
    return new Array(count).fill(0);
  }

  // `pixels` has the pixels of each work-item, each less than `bins`.
  function begin(way, pixels, bins) {
    return {
      way,
      bins,
      pixels,
      histogram: zeros(bins),
      // What was counted so far, if nothing had been lost.
      counted: zeros(bins),
      // next: the pixel that a work-item is at; phase: what it does next to it; register: what it has loaded.
      items: pixels.map(() => ({ next: 0, phase: "load", register: null })),
    };
  }

  function hasCounted(state, item) {
    return state.items[item].next >= state.pixels[item].length;
  }

  // What a work-item does next: "load", "add", "store", "atomic", or "" where it is done.
  function nextStep(state, item) {
    if (hasCounted(state, item)) return "";
    return state.way === "atomic" ? "atomic" : state.items[item].phase;
  }

  // The work-items that can do something now.
  function ready(state) {
    return state.items.map((_, item) => item).filter((item) => nextStep(state, item) !== "");
  }

  function isDone(state) {
    return ready(state).length === 0;
  }

  function withValue(list, place, value) {
    return list.map((old, number) => (number === place ? value : old));
  }

  // One step of a work-item. Gives the new state, and what happened: `value` is what was loaded, added up or written;
  // `missed` says how many additions of others a plain store has written over, because it did not know of them.
  function step(state, item) {
    const kind = nextStep(state, item);
    if (kind === "") throw new RangeError(`work-item ${item} has nothing to do`);
    const next = { ...state };
    const bin = state.pixels[item][state.items[item].next];
    const old = state.items[item];
    const finished = { next: old.next + 1, phase: "load", register: null };
    let value = state.histogram[bin];
    let missed = 0;
    let after = finished;
    if (kind === "load") after = { ...old, phase: "add", register: value };
    if (kind === "add") {
      value = old.register + 1;
      after = { ...old, phase: "store", register: value };
    }
    if (kind === "store" || kind === "atomic") {
      value = kind === "atomic" ? state.histogram[bin] + 1 : old.register;
      missed = state.histogram[bin] + 1 - value;
      next.histogram = withValue(state.histogram, bin, value);
      next.counted = withValue(state.counted, bin, state.counted[bin] + 1);
    }
    next.items = withValue(state.items, item, after);
    return { state: next, event: { item, kind, bin, value, missed } };
  }

  // Counts that are missing, bin by bin.
  const lost = (state) => state.counted.map((count, bin) => count - state.histogram[bin]);

  // Work-items that lose an update if they can: two that are about to load the same counter go in step. The order of their
  // steps, or nothing where no two have equal pixels now.
  function losingOrder(state) {
    const wants = (item) => !hasCounted(state, item) && state.items[item].phase === "load"
      && state.pixels[item][state.items[item].next];
    for (const first of ready(state)) {
      for (const second of ready(state)) {
        if (first < second && wants(first) !== false && wants(first) === wants(second)) {
          return state.way === "atomic" ? [first, second] : [first, second, first, second, first, second];
        }
      }
    }
    return [];
  }

  const api = { begin, nextStep, ready, isDone, step, lost, losingOrder };
  if (typeof module === "object") module.exports = api;
  else root.raceModel = api;
})(globalThis);
