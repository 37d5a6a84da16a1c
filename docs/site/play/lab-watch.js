// Watches the work-items of a kernel, access by access, where lab-wgsl.js runs it: what a warp does together, as `./tutorial count` counts
// it (docs/counting.md), and an order of events in which a count is lost.
//
// Like lab-wgsl.js it is one function that needs nothing from outside, for a worker.
function labWatch(wgsl) {
  "use strict";

  const LANES = 32;
  const GROUPS = 4; // that are counted, at most
  const SHOWN = 64; // of the steps of a place
  const TURNS = 2 ** 20; // of a work-item's loops
  const ORDERS = 300; // that are tried in each launch
  const MOST_SWITCHES = 3; // between work-items, where one could have gone on
  const SUMS = ["lanes", "requests", "sectors", "visits", "passes"];
  const ARGUMENTS = 1; // the binding that only the host writes

  // A memory that tells of each access; `seen` has the last one.
  function watched(name, memory, seen) {
    return new Proxy(memory, {
      get(_, key) {
        if (key === "length") return memory.length;
        const at = Number(key);
        if (seen.at === null) Object.assign(seen, { name, at, read: memory[at], words: 0 });
        seen.words += 1;
        return memory[at];
      },
      set(_, key, value) {
        const at = Number(key);
        const old = memory[at];
        memory[at] = value;
        Object.assign(seen, { name, at, wrote: memory[at], over: old, words: 1 });
        return true;
      },
    });
  }

  const none = () => ({ name: "", at: null, read: null, wrote: null, over: null, words: 0 });
  const toolsFor = (seen, locals) => ({ watched: (name, memory) => {
    locals.add(name);
    return watched(name, memory, seen);
  } });
  const boundFor = ({ names }, bound, seen) => bound.map((memory, binding) => (binding === ARGUMENTS ? memory : watched(names[binding], memory, seen)));

  // ---- a warp --------------------------------------------------------------------------------------

  const mostOf = (map) => Math.max(0, ...map.values());
  const more = (map, key, by = 1) => map.set(key, (map.get(key) ?? 0) + by);

  // Of a warp's access {what, isLocal, bytes, at: [byte], lanes}: its sectors, visits by piece, passes. Rules: common/cuda/on_cpu/counts.cpp.
  function costOf({ what, isLocal, bytes, at, lanes }) {
    if (isLocal) {
      const atOnce = bytes <= 4 ? LANES : LANES * 4 / bytes;
      let passes = 0;
      for (let first = 0; first < LANES; first += atOnce) {
        const banks = new Map();
        const known = new Set();
        at.forEach((from, place) => {
          if (lanes[place] < first || lanes[place] >= first + atOnce) return;
          for (let word = from / 4; word < (from + bytes) / 4; ++word) {
            if (what !== "atomic" && known.has(word)) continue; // which share a pass
            known.add(word);
            more(banks, word % LANES);
          }
        });
        passes += mostOf(banks);
      }
      return { sectors: 0, visits: 0, passes, pieces: new Map() };
    }
    const sectors = new Map();
    for (const from of at) {
      const sector = Math.floor(from / 32);
      if (!sectors.has(sector)) sectors.set(sector, new Map());
      more(sectors.get(sector), from);
    }
    const pieces = new Map();
    if (what === "add one" || what === "atomic") {
      for (const [sector, addresses] of sectors) more(pieces, Math.floor(sector / 8), mostOf(addresses));
    }
    return { sectors: sectors.size, visits: [...pieces.values()].reduce((all, visits) => all + visits, 0), passes: 0, pieces };
  }

  // For how many groups one stands; 0 where it is not counted.
  function standsFor(group, groups) {
    if (groups <= GROUPS) return 1;
    const n = Math.ceil(group * (GROUPS - 1) / (groups - 1));
    if (Math.floor(n * (groups - 1) / (GROUPS - 1)) !== group) return 0;
    return n === 0 || n === GROUPS - 1 ? 1 : (groups - 2) / (GROUPS - 2);
  }

  // {lines: [{line, what, name, isLocal, bytes, lanes, requests, sectors, visits, passes, largest, steps}], queues}: counts of the whole
  // launch, and the first steps of the first warp, each {lanes, at: [word], sectors, visits, passes}.
  function count({ code, kernels, bound, groups }) {
    const program = wgsl.compile(code, true);
    const seen = none();
    const locals = new Set();
    const lines = new Map();
    const queues = new Array(64).fill(0);

    function add(site, cells, weight, isShown) {
      const { line, what } = program.sites[site];
      const [{ name, words }] = cells;
      const isLocal = locals.has(name);
      if (!lines.has(site)) {
        lines.set(site, { line, what, isLocal, name, bytes: 4 * words, lanes: 0, requests: 0, sectors: 0, visits: 0, passes: 0, largest: 0, steps: [] });
      }
      const sum = lines.get(site);
      const lanes = cells.map(({ lane }) => lane);
      const cost = costOf({ ...sum, lanes, at: cells.map(({ at }) => 4 * at) });
      sum.lanes += weight * lanes.length;
      sum.requests += weight;
      for (const key of ["sectors", "visits", "passes"]) sum[key] += weight * cost[key];
      sum.largest = Math.max(sum.largest, cost.passes, ...cost.pieces.values());
      for (const [piece, visits] of cost.pieces) queues[Math.floor(piece / 4) % 32 * 2 + piece % 2] += weight * visits;
      if (isShown && sum.steps.length < SHOWN) sum.steps.push({ ...cost, lanes, at: cells.map(({ at }) => at) });
    }

    // Lanes that part at a branch wait for those that are further up in the text.
    const run = ({ all, groupOf, step, pass }) => {
      for (const number of all) {
        const weight = standsFor(number, groups);
        if (weight === 0) continue;
        const group = groupOf(number);
        do {
          for (let first = 0; first < group.length; first += LANES) {
            let going = group.slice(first, first + LANES).filter(step);
            while (going.length > 0) {
              const site = Math.max(...going.map((lane) => lane.site));
              const together = going.filter((lane) => lane.site === site);
              const left = new Set(going);
              const cells = together.map((lane) => {
                Object.assign(seen, none());
                if (!step(lane)) left.delete(lane);
                return { ...seen, lane: lane.item % LANES };
              });
              going = [...left];
              add(site, cells, weight, number === 0 && first === 0);
            }
          }
        } while (pass(group));
      }
    };
    const memory = boundFor(program, bound, seen);
    for (const kernel of kernels) wgsl.launch(program, kernel, memory, groups, "", null, TURNS, { run, tools: toolsFor(seen, locals) });
    // The groups that are counted may have some more or fewer pixels than others: what they load is made all, or several times all.
    const all = [...lines.values()].sort((a, b) => a.line - b.line);
    const times = all.filter(({ name }) => name === program.names[0]).reduce((sum, each) => sum + each.lanes * each.bytes, 0) / bound[ARGUMENTS][0];
    const by = groups > GROUPS && Math.abs(times / Math.round(times) - 1) < 0.1 ? Math.round(times) / times : 1;
    for (const each of all) {
      for (const key of SUMS) each[key] *= by;
    }
    return { lines: all, queues: queues.map((visits) => visits * by) };
  }

  // ---- an order of events ----------------------------------------------------------------------------

  // One order: at step n goes choices[n], or else the one who went before, as long as it can. {events, steps: [{ready, chosen, isFree}], counts}
  function played(program, { kernels, bound, groups }, choices) {
    const seen = none();
    const locals = new Set();
    const mine = bound.map((memory) => memory.slice());
    const events = [];
    const steps = [];
    let items = [];
    const run = ({ all, groupOf, step, pass }) => {
      items = [];
      let open = all.map(groupOf);
      open.forEach((group) => group.forEach((item) => items.push(Object.assign(item, { id: items.length }))));
      const enter = (item) => { item.canGo = step(item); };
      const waits = (item) => {
        if (item.at > 0) events.push({ id: item.id, line: item.at, waits: true });
      };
      items.forEach((item) => { enter(item); waits(item); });
      let last = null;
      for (;;) {
        open = open.filter((group) => {
          while (group.every((item) => !item.canGo)) {
            if (!pass(group)) return false;
            last = null;
            group.forEach((item) => { enter(item); waits(item); });
          }
          return true;
        });
        const ready = items.filter((item) => item.canGo);
        if (ready.length === 0) return;
        const isFree = !last?.canGo; // to choose: nobody is interrupted
        const wanted = choices[steps.length];
        last = wanted === undefined ? (isFree ? ready[0] : last) : items[wanted];
        steps.push({ ready: ready.map(({ id }) => id), chosen: last.id, isFree });
        const { line, what } = program.sites[last.site];
        Object.assign(seen, none());
        last.canGo = step(last);
        const { name, at, read, wrote, over } = seen;
        events.push({ id: last.id, line, what, name, at, read, wrote, over, group: locals.has(name) ? last.number : -1 });
        waits(last);
      }
    };
    const memory = boundFor(program, mine, seen);
    let isStuck = false;
    try {
      for (const kernel of kernels) wgsl.launch(program, kernel, memory, groups, "", null, TURNS, { run, tools: toolsFor(seen, locals) });
    } catch (error) {
      if (!error.message.startsWith(wgsl.UNIFORM)) throw error;
      isStuck = true;
      for (const { id, at, isDone } of items) {
        if (at > 0 && !isDone) events.push({ id, line: at, isStuck });
      }
    }
    return { events, steps, counts: mine[2], isStuck };
  }

  // Marks where a count is lost: "over", a store over what others have counted since this work-item looked; where there is none, "late", a
  // count that nobody reads any more. Whether there is one.
  function mark(events, result) {
    const cells = new Map(); // [{event, place}] that count, of each; and when each work-item has looked
    events.forEach((event, place) => {
      if (!event.what) return;
      const key = [event.group, event.name, event.at].join();
      if (!cells.has(key)) cells.set(key, { counted: [], looked: new Map(), isResult: event.name === result });
      const cell = cells.get(key);
      const unseen = cell.counted.filter((each) => each.event.id !== event.id && each.place > (cell.looked.get(event.id) ?? -1));
      cell.looked.set(event.id, place);
      if (event.what === "load") cell.isRead = place;
      if (event.what === "store") {
        event.isLost = unseen.length > 0 && "over";
        cell.counted = [];
      }
      if (event.what !== "load" && event.wrote > event.over) cell.counted.push({ event, place });
      else if (event.isLost) cell.counted.push({ event, place });
    });
    if (events.some((event) => event.isLost)) return true;
    for (const { counted, isRead = -1, isResult } of cells.values()) {
      for (const { event, place } of counted) event.isLost = !isResult && place > isRead && "late";
    }
    return events.some((event) => event.isLost);
  }

  // The first wrong order, with as few interruptions as can be: {orders, events, place}, or {orders} where none is found. `trials`:
  // [{code, kernels, bound, groups, expected}].
  function story({ trials }) {
    let orders = 0;
    for (const [place, trial] of trials.entries()) {
      const program = wgsl.compile(trial.code);
      const waiting = Array.from({ length: MOST_SWITCHES + 1 }, () => []);
      waiting[0].push([]);
      let tried = 0;
      let isByOrder = false; // some order is right
      let found = null;
      for (const [interruptions, list] of waiting.entries()) {
        for (let next = 0; next < list.length && tried < ORDERS; ++next) {
          const choices = list[next];
          const { events, steps, counts, isStuck } = played(program, trial, choices);
          tried += 1;
          const isWrong = isStuck || trial.expected.some((count, bin) => counts[bin] !== count);
          isByOrder ||= !isWrong;
          if (isWrong && !found && (isStuck || mark(events, program.names[2]))) found = { place, events, isStuck, bins: [...counts.slice(0, trial.expected.length)] };
          if (found && (isByOrder || isStuck || found.events.some((event) => event.isLost === "over"))) return { orders: orders + tried, ...found };
          for (let at = choices.length; at < steps.length && list.length < ORDERS; ++at) {
            const { ready, chosen, isFree } = steps[at];
            for (const other of ready.filter((id) => id !== chosen)) {
              waiting[interruptions + (isFree ? 0 : 1)]?.push([...steps.slice(0, at).map((step) => step.chosen), other]);
            }
          }
        }
      }
      orders += tried;
    }
    return { orders };
  }

  return { count, story };
}

if (typeof module === "object") module.exports = labWatch;
