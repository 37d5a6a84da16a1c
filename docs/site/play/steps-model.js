// The five steps of chapter 03, one small step of one work-item at a time, in any order: the model behind steps.html.
//
// Two work-groups zero, count and merge a table each; or without `tables` count in the histogram at once, as chapter 02 does. Any of it
// can be changed. No state is ever changed: each step gives a new one, so that a page can go back.
(function (root) {
  "use strict";

  const GROUPS = 2;
  const BINS = 4;
  // As chapter 03's `local` has it. `pixels` and `items` (of a group) are how much there is of it.
  const RIGHT = { tables: true, zero: true, barrierAfterZero: true, atomicCount: true, barrierBeforeMerge: true, atomicMerge: true, earlyReturn: false,
    countStride: "launch", mergeStride: "group", items: 2, pixels: 6 };
  // What the tables hold before anybody has zeroed them.
  const BEFORE = [[3, 1, 4, 1], [5, 9, 2, 6]];

  const sum = (list) => list.reduce((total, value) => total + value, 0);

  // The values of the pixels: not equally many of each.
  function pixelsOf({ pixels }) {
    return Array.from({ length: pixels }, (_, i) => [0, 0, 1, 2, 0, 3][i % 6]);
  }

  function serial(settings) {
    const counts = new Array(BINS).fill(0);
    for (const pixel of pixelsOf(settings)) counts[pixel] += 1;
    return counts;
  }

  // All that a work-item does: {kind, bin}, in its order. `item` is its number in the launch.
  function programOf(settings, item) {
    const { items, tables } = settings;
    const all = GROUPS * items;
    const local = item % items;
    const pixels = pixelsOf(settings);
    const counting = [];
    for (let i = item; i < pixels.length; i += tables && settings.countStride === "group" ? items : all) {
      if (settings.atomicCount) counting.push({ kind: "add", bin: pixels[i] });
      else counting.push({ kind: "load", bin: pixels[i] }, { kind: "store", bin: pixels[i] });
    }
    if (!tables) return counting;
    if (settings.earlyReturn && item >= pixels.length) return [{ kind: "return" }];
    const program = [];
    const bins = (stride) => Array.from({ length: BINS }, (_, bin) => bin).filter((bin) => bin >= local && (bin - local) % stride === 0);
    if (settings.zero) for (const bin of bins(items)) program.push({ kind: "zero", bin });
    if (settings.barrierAfterZero) program.push({ kind: "barrier" });
    program.push(...counting);
    if (settings.barrierBeforeMerge) program.push({ kind: "barrier" });
    for (const bin of bins(settings.mergeStride === "group" ? items : all)) {
      if (settings.atomicMerge) program.push({ kind: "merge", bin });
      else program.push({ kind: "merge-load", bin }, { kind: "merge-store", bin });
    }
    return program;
  }

  // ---- one step after the other ------------------------------------------------------------------

  function begin(settings) {
    const programs = Array.from({ length: GROUPS * settings.items }, (_, item) => programOf(settings, item));
    return released({ settings, programs, tables: BEFORE.map((table) => [...table]), histogram: new Array(BINS).fill(0),
      items: programs.map(() => ({ next: 0, register: null })) });
  }

  const groupOf = (state, item) => Math.floor(item / state.settings.items);
  const next = (state, item) => state.programs[item][state.items[item].next];
  const isOver = (state, item) => { const op = next(state, item); return !op || op.kind === "return"; };
  const waits = (state, item) => !isOver(state, item) && next(state, item).kind === "barrier";

  // The work-items that can do something now.
  function ready(state) {
    return state.items.map((_, item) => item).filter((item) => !isOver(state, item) && !waits(state, item));
  }

  // A barrier opens when all of the group have come.
  function released(state) {
    for (let group = 0; group < GROUPS; ++group) {
      const isMine = (_, item) => groupOf(state, item) === group;
      if (state.items.every((each, item) => !isMine(each, item) || waits(state, item))) {
        return released({ ...state, items: state.items.map((each, item) => (isMine(each, item) ? { ...each, next: each.next + 1 } : each)) });
      }
    }
    return state;
  }

  // One step of a work-item: the new state, and what happened; `missed` are the additions of others over which it has stored.
  function step(state, item) {
    if (!ready(state).includes(item)) throw new RangeError(`work-item ${item} has nothing to do`);
    const { kind, bin } = next(state, item);
    const group = groupOf(state, item);
    const { tables } = state.settings;
    const table = tables ? state.tables[group] : state.histogram;
    const { register } = state.items[item];
    const inTable = { zero: () => 0, add: () => table[bin] + 1, store: () => register + 1 }[kind];
    const inHistogram = { merge: () => state.histogram[bin] + table[bin], "merge-store": () => register }[kind];
    const loaded = { load: () => table[bin], "merge-load": () => state.histogram[bin] + table[bin] }[kind];
    const value = (inTable || inHistogram || loaded)();
    const missed = kind === "store" ? Math.max(0, table[bin] - register) : 0;
    const put = (list, place, what) => list.map((old, at) => (at === place ? what : old));
    return { event: { item, group, kind, bin, value, missed }, state: released({ ...state,
      tables: inTable && tables ? put(state.tables, group, put(table, bin, value)) : state.tables,
      histogram: inHistogram || (inTable && !tables) ? put(state.histogram, bin, value) : state.histogram,
      items: put(state.items, item, { next: state.items[item].next + 1, register: loaded ? value : null }) }) };
  }

  const isDone = (state) => ready(state).length === 0;

  // The groups of which some wait at a barrier that others never reach.
  function hanging(state) {
    return isDone(state) ? [0, 1].filter((group) => state.items.some((_, item) => groupOf(state, item) === group && waits(state, item))) : [];
  }

  function wrongBins(state) {
    return serial(state.settings).map((count, bin) => [bin, state.histogram[bin] - count]).filter(([, difference]) => difference !== 0);
  }

  // An order in which it goes wrong, as the work-items that go; null where none of so many is found.
  function wrongOrder(settings, random, tries = 2000) {
    for (let n = 0; n < tries; ++n) {
      let state = begin(settings);
      const order = [];
      // Some go far ahead of the others: that finds more than all in turn.
      const weights = state.items.map(() => random() ** 3);
      while (!isDone(state)) {
        const list = ready(state);
        let at = random() * sum(list.map((item) => weights[item]));
        const item = list.find((each) => (at -= weights[each]) < 0) ?? list[0];
        order.push(item);
        state = step(state, item).state;
      }
      if (wrongBins(state).length > 0 || hanging(state).length > 0) return order;
    }
    return null;
  }

  const api = { GROUPS, RIGHT, serial, programOf, begin, next, isOver, waits, ready, step, isDone, hanging, wrongBins, wrongOrder };
  if (typeof module === "object") module.exports = api;
  else root.stepsModel = api;
})(globalThis);
