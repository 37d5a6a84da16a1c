// Work-items that count their pixels one small step at a time, in any order: the model behind race.html.
//
// No state is ever changed: each step gives a new one, so that a page can go back. Three ways to count:
//   plain    ++histogram[pixel]: load, add, store, and between them anybody may come (chapter 02's `racy`)
//   atomic   the three as one step that nobody can split (chapter 02's `global`)
//   tables   each work-item counts in a table of its own; when all have, each bin of the histogram is summed up by one
//            of them (chapter 02's `subhist` and `sum_tables`)
(function (root) {
  "use strict";

  const WAYS = ["plain", "atomic", "tables"];
  const LEAST = 2;
  const MOST = 8;

  function zeros(count) {
    return new Array(count).fill(0);
  }

  // The truth: chapter 01's `serial` loop.
  function serial(pixels, bins) {
    const histogram = zeros(bins);
    for (const pixel of pixels.flat()) histogram[pixel] += 1;
    return histogram;
  }

  // `pixels` has the pixels of each work-item, each less than `bins`.
  function begin(way, pixels, bins) {
    if (!WAYS.includes(way)) throw new RangeError(`there is no way to count called ${way}`);
    if (pixels.length < LEAST || pixels.length > MOST) throw new RangeError(`${LEAST} to ${MOST} work-items`);
    return {
      way,
      bins,
      pixels,
      histogram: zeros(bins),
      // What was counted so far, if nothing had been lost.
      counted: zeros(bins),
      // next: the pixel that a work-item is at; phase: what it does next to it; register: what it has loaded.
      items: pixels.map(() => ({ next: 0, phase: "load", register: null })),
      tables: way === "tables" ? pixels.map(() => zeros(bins)) : [],
      merged: zeros(bins),
    };
  }

  function hasCounted(state, item) {
    return state.items[item].next >= state.pixels[item].length;
  }

  function allHaveCounted(state) {
    return state.items.every((_, item) => hasCounted(state, item));
  }

  // The bin that a work-item sums up next: every n-th is its own; -1 where none is left.
  function binToMerge(state, item) {
    for (let bin = item; bin < state.bins; bin += state.items.length) {
      if (!state.merged[bin]) return bin;
    }
    return -1;
  }

  // What a work-item does next: "load", "add", "store", "atomic", "merge", or "" where it has to wait or is done.
  function nextStep(state, item) {
    if (!hasCounted(state, item)) return state.way === "atomic" ? "atomic" : state.items[item].phase;
    if (state.way !== "tables" || !allHaveCounted(state)) return "";
    return binToMerge(state, item) < 0 ? "" : "merge";
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
    if (kind === "merge") {
      const bin = binToMerge(state, item);
      const value = state.tables.reduce((sum, table) => sum + table[bin], 0);
      next.histogram = withValue(state.histogram, bin, value);
      next.merged = withValue(state.merged, bin, 1);
      return { state: next, event: { item, kind, bin, value, missed: 0 } };
    }

    const bin = state.pixels[item][state.items[item].next];
    const own = state.way === "tables";
    const table = own ? state.tables[item] : state.histogram;
    const old = state.items[item];
    const finished = { next: old.next + 1, phase: "load", register: null };
    let value = table[bin];
    let missed = 0;
    let after = finished;
    if (kind === "load") after = { ...old, phase: "add", register: value };
    if (kind === "add") {
      value = old.register + 1;
      after = { ...old, phase: "store", register: value };
    }
    if (kind === "store" || kind === "atomic") {
      value = kind === "atomic" ? table[bin] + 1 : old.register;
      missed = table[bin] + 1 - value;
      if (own) next.tables = withValue(state.tables, item, withValue(table, bin, value));
      else next.histogram = withValue(table, bin, value);
      next.counted = withValue(state.counted, bin, state.counted[bin] + 1);
    }
    next.items = withValue(state.items, item, after);
    return { state: next, event: { item, kind, bin, value, missed } };
  }

  // Counts that are missing, bin by bin. With tables the histogram is complete only after the merge.
  function lost(state) {
    const held = (bin) => (state.way === "tables" && !state.merged[bin]
      ? state.tables.reduce((sum, table) => sum + table[bin], 0) : state.histogram[bin]);
    return state.counted.map((count, bin) => count - held(bin));
  }

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

  const api = { LEAST, MOST, serial, begin, nextStep, ready, isDone, step, lost, losingOrder };
  if (typeof module === "object") module.exports = api;
  else root.raceModel = api;
})(globalThis);
