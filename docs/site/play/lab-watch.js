// Watches the work-items of a kernel, access by access, where lab-wgsl.js runs it: what a warp does together, by the rules
// of ./tutorial count (docs/counting.md), and an order of events in which a count is lost. One function, for a worker.
function labWatch(wgsl) {
  "use strict";

  const LANES = 32;
  const [GROUPS, SHOWN] = [4, 64]; // that are counted, at most (standsFor); of the steps of a place
  const TURNS = 2 ** 20; // of a work-item's loops
  const ORDERS = 300; // that are tried in each launch
  const INTERRUPTIONS = 3; // in an order: somebody else goes on, where one could have gone on
  const SUMS = ["lanes", "requests", "sectors", "visits", "passes"];
  const ARGUMENTS = 1; // the binding that only the host writes

  // Runs kernels under `run`; `seen` then has the last access: {name, at, words, read, wrote, over, isLocal}.
  function launch(program, { kernels, groups }, bound, seen, run) {
    const watched = (name, memory, isLocal = true) => new Proxy(memory, {
      get(_, key) {
        if (key === "length") return memory.length;
        if (seen.at === null) Object.assign(seen, { name, isLocal, at: Number(key), read: memory[key] });
        seen.words += 1;
        return memory[key];
      },
      set(_, key, value) {
        Object.assign(seen, { name, isLocal, at: Number(key), over: memory[key], words: 1 });
        seen.wrote = memory[key] = value >>> 0;
        return true;
      },
    });
    const memory = bound.map((words, binding) => (binding === ARGUMENTS ? words : watched(program.names[binding], words, false)));
    for (const kernel of kernels) wgsl.launch(program, kernel, memory, groups, "", null, TURNS, { run, tools: { watched } });
  }

  // One step of a work-item that stops before an access: whether it can go on, and `seen` what it did.
  const stepped = (item, step, seen) => {
    Object.assign(seen, { at: null, words: 0, read: null, wrote: null, over: null });
    return step(item);
  };

  // ---- a warp --------------------------------------------------------------------------------------

  const mostOf = (map) => Math.max(0, ...map.values());
  const more = (map, key, by = 1) => map.set(key, (map.get(key) ?? 0) + by);

  // Of an access of a warp's lanes to `at`, in bytes: sectors of 32 bytes; visits of atomics, by pieces of 256 bytes; passes of banks.
  function costOf({ what, isLocal }, at) {
    const banks = new Map();
    const sectors = new Map();
    const pieces = new Map();
    for (const from of isLocal && what !== "atomic" ? new Set(at) : at) { // lanes that want one word share a pass
      if (isLocal) more(banks, from / 4 % LANES);
      else more(sectors.get(Math.floor(from / 32)) ?? sectors.set(Math.floor(from / 32), new Map()).get(Math.floor(from / 32)), from);
    }
    if (what === "add one" || what === "atomic") {
      for (const [sector, addresses] of sectors) more(pieces, Math.floor(sector / 8), mostOf(addresses));
    }
    return { sectors: sectors.size, visits: [...pieces.values()].reduce((all, visits) => all + visits, 0), passes: mostOf(banks), pieces };
  }

  // For how many groups one stands; 0 where it is not counted. The first and the last may be unlike all others.
  function standsFor(group, groups) {
    if (groups <= GROUPS || group === 0 || group === groups - 1) return 1;
    return group === Math.floor(groups / 3) || group === Math.floor(groups / 1.5) ? (groups - 2) / 2 : 0;
  }

  // {lines: [{line, what, name, isLocal, bytes, steps, and SUMS}], queues}: counts of the whole launch, and the first steps of the first warp.
  function count({ code, bound, groups, ...others }) {
    const program = wgsl.compile(code, true);
    const seen = {};
    const lines = new Map();
    const queues = new Array(64).fill(0);

    function add(site, cells, weight, isShown) {
      const [{ name, isLocal, words }] = cells;
      if (!lines.has(site)) lines.set(site, { ...program.sites[site], isLocal, name, bytes: 4 * words, steps: [], ...Object.fromEntries(SUMS.map((key) => [key, 0])) });
      const sum = lines.get(site);
      const cost = { lanes: cells.length, requests: 1, ...costOf(sum, cells.map(({ at }) => 4 * at)) };
      for (const key of SUMS) sum[key] += weight * cost[key];
      for (const [piece, visits] of cost.pieces) queues[Math.floor(piece / 4) % 32 * 2 + piece % 2] += weight * visits;
      if (isShown && sum.steps.length < SHOWN) sum.steps.push({ ...cost, lanes: cells.map(({ lane }) => lane), at: cells.map(({ at }) => at) });
    }

    launch(program, { groups, ...others }, bound, seen, ({ all, groupOf, step, pass }) => {
      for (const number of all.filter((each) => standsFor(each, groups) > 0)) {
        const group = groupOf(number);
        do {
          for (let first = 0; first < group.length; first += LANES) {
            let going = group.slice(first, first + LANES).filter(step);
            while (going.length > 0) { // lanes that part at a branch wait for those that are further up in the text
              const site = Math.max(...going.map((lane) => lane.site));
              const cells = [];
              going = going.filter((lane) => {
                if (lane.site !== site) return true;
                const goesOn = stepped(lane, step, seen);
                cells.push({ ...seen, lane: lane.item % LANES });
                return goesOn;
              });
              add(site, cells, standsFor(number, groups), number === 0 && first === 0);
            }
          }
        } while (pass(group));
      }
    });
    // The groups that are counted may have some more or fewer pixels than others: what they load is made all, or several times all.
    const found = [...lines.values()].sort((a, b) => a.line - b.line);
    const times = found.filter(({ name }) => name === program.names[0]).reduce((sum, each) => sum + each.lanes * each.bytes, 0) / bound[ARGUMENTS][0];
    const by = groups > GROUPS && Math.abs(times / Math.round(times) - 1) < 0.1 ? Math.round(times) / times : 1;
    for (const key of SUMS) found.forEach((each) => { each[key] *= by; });
    return { lines: found, queues: queues.map((visits) => visits * by) };
  }

  // ---- an order of events ----------------------------------------------------------------------------

  // One order: at step n goes choices[n], or else the one who went before, as long as it can. {events, steps: [{ready, chosen, isFree}], ...}
  function played(program, trial, choices) {
    const seen = {};
    const bound = trial.bound.map((memory) => memory.slice());
    const events = [];
    const steps = [];
    let items = [];
    const goOn = (item, step) => {
      item.canGo = stepped(item, step, seen);
      return () => item.at > 0 && events.push({ id: item.id, line: item.at, waits: true });
    };
    const run = ({ all, groupOf, step, pass }) => {
      let open = all.map(groupOf);
      items = open.flat();
      items.forEach((item, id) => goOn(Object.assign(item, { id }), step)());
      for (let last = null; ;) {
        open = open.filter((group) => {
          while (group.every((item) => !item.canGo)) {
            if (!pass(group)) return false;
            last = null;
            group.forEach((item) => goOn(item, step)());
          }
          return true;
        });
        const ready = items.filter((item) => item.canGo);
        if (ready.length === 0) return;
        const isFree = !last?.canGo; // to choose: nobody is interrupted
        last = items[choices[steps.length]] ?? (isFree ? ready[0] : last);
        steps.push({ ready: ready.map(({ id }) => id), chosen: last.id, isFree });
        const site = program.sites[last.site];
        const waits = goOn(last, step);
        events.push({ id: last.id, ...site, ...seen, group: seen.isLocal ? last.number : -1 });
        waits();
      }
    };
    try {
      launch(program, trial, bound, seen, run);
    } catch (error) {
      if (!error.message.startsWith(wgsl.UNIFORM)) throw error;
      for (const { id, at, isDone } of items.filter((item) => item.at > 0 && !item.isDone)) events.push({ id, line: at, isStuck: !isDone });
    }
    const [bins, isStuck] = [[...bound[2].slice(0, trial.expected.length)], Boolean(events.at(-1)?.isStuck)];
    return { events, steps, bins, isStuck, isWrong: isStuck || bins.some((value, bin) => value !== trial.expected[bin]) };
  }

  // Marks where a count is lost: "over", a store over what others have counted since this work-item looked; where there is none, "late", a
  // count that nobody reads any more. Whether there is one.
  function mark(events, result) {
    const cells = new Map();
    events.forEach((event, place) => {
      if (!event.what) return;
      const key = [event.group, event.name, event.at].join();
      if (!cells.has(key)) cells.set(key, { counted: [], looked: new Map(), read: event.name === result ? Infinity : -1 });
      const cell = cells.get(key);
      if (event.what === "store") {
        event.isLost = cell.counted.some((each) => each.event.id !== event.id && each.place > (cell.looked.get(event.id) ?? -1)) && "over";
        cell.counted = [];
      } else if (event.what === "load") cell.read = Math.max(cell.read, place);
      cell.looked.set(event.id, place);
      if (event.what !== "load" && (event.wrote > event.over || event.isLost)) cell.counted.push({ event, place });
    });
    if (events.some((event) => event.isLost)) return true;
    for (const { counted, read } of cells.values()) counted.forEach(({ event, place }) => { event.isLost = place > read && "late"; });
    return events.some((event) => event.isLost);
  }

  // The first wrong order, with as few interruptions as can be: {orders, place, events, bins, isStuck}, or {orders} where none is found. What
  // is wrong in every order is no matter of order, but for a store over others' counts. `trials`: [{code, kernels, bound, groups, expected}].
  function story({ trials }) {
    let orders = 0;
    for (const [place, trial] of trials.entries()) {
      const program = wgsl.compile(trial.code);
      const waiting = Array.from({ length: INTERRUPTIONS + 1 }, () => []);
      waiting[0].push([]);
      let tried = 0;
      let isRight = false; // some order
      let found = null;
      for (const [interruptions, list] of waiting.entries()) {
        for (let next = 0; next < list.length && tried < ORDERS; ++next) {
          const choices = list[next];
          const { steps, isWrong, ...order } = played(program, trial, choices);
          tried += 1;
          isRight ||= !isWrong;
          if (isWrong && !found && (order.isStuck || mark(order.events, program.names[2]))) found = order;
          if (found && (isRight || found.isStuck || found.events.some((event) => event.isLost === "over"))) return { orders: orders + tried, place, ...found };
          for (let at = choices.length; at < steps.length && list.length < ORDERS; ++at) {
            const before = steps.slice(0, at).map((step) => step.chosen);
            for (const other of steps[at].ready.filter((id) => id !== steps[at].chosen)) waiting[interruptions + (steps[at].isFree ? 0 : 1)]?.push([...before, other]);
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
