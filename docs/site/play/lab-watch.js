// Watches the work-items of a kernel, access by access, where lab-wgsl.js runs it: what a warp does together, by the rules
// of ./tutorial count (docs/counting.md), and an order of events in which a count is lost. One function, for a worker.
function labWatch(wgsl) {
  "use strict";

  const LANES = 32;
  const SHOWN = 64; // of the steps of a place
  const TURNS = 2 ** 20; // of a work-item's loops
  const ORDERS = 300; // that are tried in each launch
  const INTERRUPTIONS = 3; // in an order: somebody else goes on, where one could have gone on
  const SUMS = ["lanes", "requests", "sectors", "tags", "found", "again", "visits", "whole", "passes"];
  const POISON = 0xa5a5a5a5; // in the result at first
  const [PIXELS, ARGUMENTS] = [0, 1]; // bindings that only the host writes

  // Runs kernels under `run`; `seen` then has the last access: {name, at, words, read, wrote, over, isLocal}. Of `pixels` there may be more
  // than memory has: then they come again and again.
  function launch(program, { kernels, groups, pixels }, bound, seen, run) {
    const watched = (name, memory, isLocal = true, length = memory.length) => new Proxy(memory, {
      get(_, key) {
        if (key === "length") return length;
        const value = memory[length === memory.length ? key : key % memory.length];
        if (seen.at === null) Object.assign(seen, { name, isLocal, at: Number(key), read: value });
        seen.words += 1;
        return seen.isOther ? ~value >>> 0 : value;
      },
      set(_, key, value) {
        Object.assign(seen, { name, isLocal, at: Number(key), over: memory[key], words: 1 });
        seen.wrote = memory[key] = value >>> 0;
        return true;
      },
    });
    const memory = bound.map((words, binding) => (binding === ARGUMENTS ? words : watched(program.names[binding], words, false,
      binding === PIXELS && pixels ? pixels / 4 : undefined)));
    for (const kernel of kernels) wgsl.launch(program, kernel, memory, groups, "", null, TURNS, { run: (those) => run(those, kernel), tools: { watched } });
  }

  // One step of a work-item that stops before an access: whether it can go on, and `seen` what it did.
  const stepped = (item, step, seen) => {
    Object.assign(seen, { at: null, words: 0, read: null, wrote: null, over: null });
    return step(item);
  };

  // ---- a warp (common/cuda/on_cpu/counts.cpp) --------------------------------------------------------

  const mostOf = (map) => Math.max(0, ...map.values());
  const more = (map, key, by = 1) => map.set(key, (map.get(key) ?? 0) + by);
  const isAtomic = (what) => what === "add one" || what === "atomic";

  // Passes of the banks. Lanes that want one word share one where they read, or add a constant 1; of wide accesses each half of the warp
  // has passes of its own.
  function passesOf({ what, bytes }, lanes, at) {
    const atOnce = bytes <= 4 ? LANES : LANES / 2;
    let passes = 0;
    for (let begin = 0; begin < LANES; begin += atOnce) {
      const banks = new Map();
      const known = new Set();
      at.forEach((first, place) => {
        if (lanes[place] < begin || lanes[place] >= begin + atOnce) return;
        for (let word = first; word < first + bytes / 4; ++word) {
          if (what === "atomic" || !known.has(word)) more(banks, word % LANES);
          known.add(word);
        }
      });
      passes += mostOf(banks);
    }
    return passes;
  }

  // Its sectors of 32 bytes, each with its visits, as often as its commonest address occurs, and those of them that add to all its words.
  function sectorsOf({ what, bytes }, at) {
    const sectors = new Map();
    for (const word of at) {
      for (let sector = Math.floor(word / 8); 32 * sector < 4 * word + bytes; ++sector) more(sectors.get(sector) ?? sectors.set(sector, new Map()).get(sector), word);
    }
    return [...sectors].sort(([a], [b]) => a - b).map(([sector, addresses]) => (isAtomic(what)
      ? [sector, mostOf(addresses), addresses.size === 8 ? Math.min(...addresses.values()) : 0] : [sector, 0, 0]));
  }

  // Of a piece of 256 bytes: two queues for each KiB.
  function queueOf(piece) {
    const kib = Math.floor(piece / 4);
    return (kib < 256 ? kib % 32 : kib % 40) * 2 + (piece + Math.floor(kib / 64)) % 2;
  }

  // A group's first-level cache: a line of 128 bytes comes in four sectors; four lines share a place, and chance says which of them goes.
  function cacheOf(bytes, random) {
    const sets = Math.max(1, Math.floor(bytes / 512));
    const [numbers, sectors] = [new Float64Array(4 * sets).fill(-1), new Uint8Array(4 * sets)];
    const lineOf = (sector) => Math.floor(sector / 4);
    function find(line) {
      const first = (Math.imul(line ^ line / 2 ** 32, 0x9e3779b1) >>> 4) % sets * 4;
      return [first, [0, 1, 2, 3].map((way) => first + way).find((place) => numbers[place] === line)];
    }
    return {
      has: (sector) => (sectors[find(lineOf(sector))[1]] >> sector % 4 & 1) === 1,
      takeOut(sector) { sectors[find(lineOf(sector))[1]] &= ~(1 << sector % 4); },
      bring(sector) {
        const [first, there] = find(lineOf(sector));
        const place = there ?? [0, 1, 2, 3].map((way) => first + way).find((each) => sectors[each] === 0) ?? first + random() % 4;
        if (numbers[place] !== lineOf(sector)) [numbers[place], sectors[place]] = [lineOf(sector), 0];
        sectors[place] |= 1 << sector % 4;
      },
    };
  }

  const randomFrom = (state) => () => (state = state * 48271 % 2147483647);

  // Warps take turns by chance: an access, and in another turn its answer, which brings what was not there. A warp waits for that, and for a
  // sector that it has not had.
  function playCache(cache, warps, had, weight, random) {
    const left = warps.map((steps, warp) => ({ steps, next: 0, missing: [], had: had[warp] ??= new Set() })).filter(({ steps }) => steps.length > 0);
    while (left.length > 0) {
      const which = random() % left.length;
      const warp = left[which];
      if (warp.missing.length > 0) warp.missing.splice(0).forEach(cache.bring);
      else if (warp.next === warp.steps.length) {
        left[which] = left.at(-1);
        left.pop();
      } else {
        const { sum, sectors } = warp.steps[warp.next++];
        const has = sectors.map((sector) => sum.what === "load" && cache.has(sector));
        if (sum.what === "load" && sectors.some((sector, place) => !has[place] || !warp.had.has(sector))) sum.waits += weight;
        sectors.forEach((sector, place) => {
          if (sum.what !== "load") cache.takeOut(sector);
          else if (has[place]) sum.found += weight;
          else warp.missing.push(sector);
          if (sum.what === "load") warp.had.add(sector);
        });
      }
    }
  }

  // What the driver leaves a group of the cache: of 256 KiB what local memory does not take, which is dealt in steps.
  const KIB = [8, 16, 32, 64, 100, 132, 164, 196, 228];
  function cacheBytes({ groups, group_size: size, local_bytes: local }) {
    const fit = Math.min(Math.floor(2048 / (Math.ceil(size / LANES) * LANES)), Math.floor((228 << 10) / (local + 1024)), 32);
    const here = Math.min(fit, Math.ceil(groups / 132));
    return ((256 << 10) - ((KIB.find((kib) => kib >= here * (local + 1024) >> 10) ?? KIB.at(-1)) << 10)) / here;
  }

  // What the first work-item has asked for when it needs the first of it. A load gets another value: where the list of accesses then
  // differs, the value was needed.
  function aheadOf(program, kernel, bound, others) {
    function list(other = -1) {
      const seen = {};
      const found = [];
      launch(program, { ...others, kernels: [kernel] }, bound, seen, ({ groupOf, step }) => {
        const [item] = groupOf(0);
        while (!item.isDone) {
          seen.isOther = found.length === other;
          const { site, turns } = item;
          stepped(item, step, seen);
          if (seen.at !== null) found.push({ site, turns, what: program.sites[site].what, name: seen.name, isLocal: seen.isLocal, at: seen.at, bytes: 4 * seen.words });
        }
      });
      return found;
    }
    const all = list();
    const isLoad = (each) => each.what === "load" && !each.isLocal;
    const sizeOf = ({ name }) => (name === program.names[PIXELS] ? Infinity : bound[program.names.indexOf(name)]?.length ?? 0);
    const most = Math.max(...all.filter(isLoad).map(sizeOf));
    const loads = [...all.keys()].filter((place) => isLoad(all[place]) && sizeOf(all[place]) === most);
    const times = new Map();
    for (const place of loads) more(times, all[place].site);
    const chosen = new Map(); // in the middle of the longest loop, one of each place
    for (const place of loads.slice(loads.length >> 1)) {
      if (2 * times.get(all[place].site) >= mostOf(times) && !chosen.has(all[place].site) && chosen.size < 8) chosen.set(all[place].site, place);
    }
    const ahead = { loads_ahead: 0, bytes_ahead: 0, others_ahead: 0 };
    for (const load of chosen.values()) {
      const changed = list(load);
      const need = all.findIndex(({ site, at }, place) => changed[place]?.site !== site || changed[place].at !== at);
      if (need < 0) continue;
      const meanwhile = all.slice(load, need);
      let [loads_ahead, others_ahead] = [meanwhile.filter(isLoad).length, meanwhile.filter((each) => each.isLocal).length];
      let bytes_ahead = meanwhile.filter(isLoad).reduce((sum, { bytes }) => sum + bytes, 0);
      // What a turn of a loop loads, a compiler asks for at its begin, unless global memory changes in it.
      const goesOn = (place) => all[place]?.turns === all[load].turns && (all[place].what === "load" || all[place].isLocal);
      let [begin, end] = [load, load];
      while (goesOn(begin - 1)) begin -= 1;
      while (goesOn(end) && (end !== need || !isLoad(all[need]))) end += 1; // an address that is what this load brings
      const ofTurn = all.slice(begin, end).filter(isLoad).length;
      if (ofTurn > loads_ahead) [loads_ahead, bytes_ahead, others_ahead] = [ofTurn, ofTurn * all[load].bytes, 0];
      for (const [key, value] of Object.entries({ loads_ahead, bytes_ahead, others_ahead })) ahead[key] = Math.max(ahead[key], value);
    }
    return ahead;
  }

  // The launches of these kernels in the form of common/tutor/counting/count.py; each line also has `name`, and `steps`: the first of the
  // first warp. `counted` of the groups run, and stand for the others.
  function countOf(program, { kernels, bound, groups, counted, pixels }) {
    const seen = {};
    bound[ARGUMENTS][0] = pixels;
    const launches = [];
    launch(program, { kernels, groups, pixels }, bound, seen, ({ groupOf, step, pass }, kernel) => {
      const [group_size] = program.sizes[kernel];
      const made = { kernel, groups, group_size, local_bytes: program.localBytes, has_own: program.hasOwn, counted_groups: counted, idle: 0, barriers: 0,
        queues: new Array(80).fill(0) };
      const lines = new Map();
      const weight = groups / counted;

      // An access of these lanes; into `steps` where the first-level cache sees it.
      function add(site, cells, steps, isShown) {
        const [{ name, isLocal, words }] = cells;
        const key = `${site} ${words}`;
        if (!lines.has(key)) {
          lines.set(key, { ...program.sites[site], memory: isLocal ? "local" : "global", name, bytes: 4 * words, allocation: name, steps: [], waits: 0, unsure: 0,
            all_bytes: name === program.names[PIXELS] ? Infinity : 4 * (bound[program.names.indexOf(name)]?.length ?? 0),
            ...Object.fromEntries(SUMS.map((each) => [each, 0])) });
        }
        const sum = lines.get(key);
        const [lanes, at] = [cells.map(({ lane }) => lane), cells.map((cell) => cell.at)];
        const sectors = isLocal ? [] : sectorsOf(sum, at);
        const cost = { lanes: lanes.length, requests: 1, sectors: sectors.length, tags: new Set(sectors.map(([sector]) => Math.floor(sector / 4))).size, found: 0,
          visits: sectors.reduce((all, [, visits]) => all + visits, 0), whole: sectors.reduce((all, [, , whole]) => all + whole, 0), again: 0, passes: isLocal ? passesOf(sum, lanes, at) : 0 };
        for (const each of SUMS) sum[each] += weight * cost[each];
        for (const [sector, visits] of sectors) made.queues[queueOf(Math.floor(sector / 8))] += weight * visits;
        const allocation = 2 ** 40 * program.names.indexOf(name);
        if (!isLocal) steps.push({ sum, sectors: sectors.map(([sector]) => sector + allocation) });
        if (isShown && sum.steps.length < SHOWN) sum.steps.push({ ...cost, lanes, at });
      }

      for (let one = 0; one < counted; ++one) {
        const group = groupOf(Math.floor(one * groups / counted));
        const random = randomFrom(1);
        const cache = cacheOf(cacheBytes(made), random);
        const [busy, had] = [new Set(), []]; // warps that load, and which sectors
        for (let goes = true; goes;) {
          const warps = [];
          for (let first = 0; first < group.length; first += LANES) {
            warps.push([]);
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
              add(site, cells, warps.at(-1), one === 0 && first === 0);
            }
            let stored = null;
            for (const { sum, sectors } of warps.at(-1)) {
              if (sum.what === "store") stored = sectors;
              if (sum.what !== "load") continue;
              busy.add(first);
              if (stored?.join() === sectors.join()) sum.again += weight;
            }
          }
          playCache(cache, warps, had, weight, random);
          goes = pass(group);
          made.barriers += goes ? 1 / counted : 0;
        }
        made.idle += weight * (Math.ceil(group.length / LANES) - busy.size);
      }
      launches.push({ ...made, lines: [...lines.values()].sort((a, b) => a.line - b.line) });
    });
    return launches.map((each) => ({ ...each, ...aheadOf(program, each.kernel, bound, { groups, pixels }) }));
  }

  // The launches with two numbers of pixels, the second twice the first: the first ones for which a load costs in both the same.
  function count({ code, sizes: [size], bound, ...others }) {
    const program = wgsl.compile(code, true);
    const of = (pixels) => countOf(program, { ...others, pixels, bound: bound.map((memory) => memory.slice()) });
    const costs = (launches) => launches.flatMap(({ lines }) => lines.filter(({ memory }) => memory === "global").map((line) => (line.sectors + line.tags) / line.requests));
    let counted = [of(size), of(2 * size)];
    for (let more = 0; more < 4; ++more) {
      const [before, behind] = counted.map(costs);
      if (before.every((cost, place) => Math.abs(cost / behind[place] - 1) < 0.1)) break;
      size *= 2;
      counted = [counted[1], of(2 * size)];
    }
    return { counted, sizes: [size, 2 * size] };
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

  // The terminal's name of it (common/tutor/diagnosis), where an order shows it; "" where it is stuck, or has none.
  function nameOf(events, result) {
    const lost = events.find((event) => event.isLost);
    if (events.some((each) => lost && each.id === lost.id && each.what === "load" && each.name === lost.name && each.at === lost.at && each.line === lost.line)) return "lost-updates";
    if (lost?.isLocal) return lost.isLost === "late" ? "no-barrier-before-merge" : "no-barrier-after-zeroing";
    return lost?.name === result ? "merge-overwrites" : "";
  }

  // The first wrong order, with as few interruptions as can be: {orders, place, name, events, bins, isStuck}, or {orders} where none is found. What
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
          if (found && (isRight || found.isStuck || found.events.some((event) => event.isLost === "over"))) return { orders: orders + tried, place, name: nameOf(found.events, program.names[2]), ...found };
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

  // The first thing that is wrong where each work-item goes on as long as it can, whatever else is: {line, words}; {} where nothing is.
  function faultIn(trial) {
    const program = wgsl.compile(trial.code, true);
    const { events, isStuck, bins } = played(program, trial, []);
    if (isStuck) return { line: events.at(-1).line, words: "not all of a group come to this barrier" };
    if (bins.every((count) => count === POISON)) return { words: "nobody writes the result" };
    if (bins.every((count) => count === 0)) return { words: "no count arrives in the result" };
    const [known, words] = [new Set(), new Set()];
    for (const { line, what, name, at, group, isLocal, words: many } of events) {
      if (!what) continue;
      for (let word = at; name === program.names[PIXELS] && word < at + many; ++word) words.add(word);
      if (!isLocal || known.has(`${group} ${name} ${at}`)) continue;
      if (what !== "store") return { line, words: `${name}[${at}] is used before anybody has zeroed it; local memory holds anything at first, in OpenCL and CUDA` };
      known.add(`${group} ${name} ${at}`);
    }
    mark(events, program.names[2]);
    const lost = events.find((event) => event.isLost);
    if (lost?.isLost === "over") return { line: lost.line, words: `this writes over what others have counted in ${lost.name}[${lost.at}]` };
    if (lost) return { line: lost.line, words: `what is counted in ${lost.name}[${lost.at}] is read by nobody any more` };
    const left = [...Array(Math.ceil(trial.pixels / 4)).keys()].find((word) => !words.has(word));
    if (left !== undefined) return { words: `pixel ${4 * left} of ${trial.pixels} is read by nobody` };
    const bin = bins.findIndex((count, value) => count !== trial.expected[value]);
    if (bin >= 0) return { words: `of ${trial.expected[bin]} pixels of the value ${bin}, of ${trial.pixels}, it counts ${bins[bin]}` };
    return {};
  }

  // And in which launch.
  function fault(looks) {
    for (const { code, kernels, bound, ...launch } of looks) {
      const found = faultIn({ code, kernels, bound, ...launch });
      if (found.words) return { ...found, launch };
    }
    return {};
  }

  const why = ({ looks, trials }) => ({ fault: fault(looks), story: story({ trials }) });

  return { count, story, fault, why };
}

if (typeof module === "object") module.exports = labWatch;
