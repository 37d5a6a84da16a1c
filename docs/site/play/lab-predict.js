// A time from counts: common/tutor/counting/model.py and what count.py does to counts before, function by function, under their names.
// docs/tests/test_predicted.py compares all that they say. The constants come from the repository's devices.json (play_data.py).
(function (root) {
  "use strict";

  const { REGISTERS, LIMITS, WORDS, IN_A_LOOP, LEAST_GAIN, devices, right } = typeof module === "object" ? require("./lab-data.js").model : root.labData.model;
  const WARP = 32;
  const API = "OpenCL"; // whose instructions are estimated by the accesses, too
  const ATOMICS = ["add one", "atomic"];
  const SUMS = ["lanes", "requests", "sectors", "tags", "found", "waits", "unsure", "again", "visits", "whole", "passes"];
  const sum = (list) => list.reduce((total, value) => total + value, 0);

  // ---- count.py ------------------------------------------------------------------------------------

  function lines_of(sites) {
    for (const site of sites) {
      const [loads, missed] = [site.what === "load" && site.memory === "global", 1 - site.found / (site.sectors || 1)];
      site.unsure = loads && missed < 0.9 && site.tags > 16 * site.requests ? site.requests : 0;
    }
    return sites;
  }

  // Memory has to give and take each sector once of what the second-level cache holds: of all but the pixels.
  function near(lines, groups) {
    const asked = new Map();
    for (const line of lines) {
      line.near = line.memory === "global" && ["load", "store"].includes(line.what) ? line.sectors - line.found : 0;
      line.shared = line.memory === "global" && line.what === "store" && line.all_bytes < 32 * groups ? line.sectors : 0;
      asked.set(line.name, (asked.get(line.name) ?? 0) + line.near);
    }
    for (const line of lines) line.near *= line.near ? Math.max(1 - line.all_bytes / 32 / asked.get(line.name), 0) : 0;
    return lines;
  }

  // The counts of so many pixels: those of two sizes, and on by a straight line.
  function drawn_on(small, large, size, counted, pixels) {
    const on = (a, b) => Math.max(b + (b - a) * (pixels - counted) / (counted - size), 0);
    return large.map((other, place) => {
      const one = small[place];
      const lines = other.lines.map((line) => {
        const of = one.lines.find((each) => ["line", "what", "memory", "bytes", "column"].every((key) => each[key] === line[key])) ?? line;
        return line.requests > 1.05 * of.requests ? { ...line, ...Object.fromEntries(SUMS.map((name) => [name, on(of[name], line[name])])) } : line;
      });
      const [idle, barriers] = ["idle", "barriers"].map((name) => on(one[name], other[name]));
      return { ...other, lines: near(lines, other.groups), queues: other.queues.map((visits, queue) => on(one.queues[queue], visits)), idle, barriers };
    });
  }

  // What was counted (lab-watch.js) of a sample (lab-model.js), for PIXELS of such pixels: {launches, pixels, ...}.
  const PIXELS = 2 ** 30;
  function countsOf({ counted, sizes }, { groups, counted: some }, pixels = PIXELS) {
    const [small, large] = counted.map((launches) => launches.map((launch) => ({ ...launch, lines: lines_of(launch.lines) })));
    return { launches: drawn_on(small, large, ...sizes, pixels), pixels, sizes, groups, counted: some };
  }

  // ---- model.py ------------------------------------------------------------------------------------

  // The counts do not carry a prediction, and why.
  class NoNumber extends Error {}

  function reduced(launch) {
    const total = (name, memory, whats, { few = Infinity, by = null, bytes = 0 } = {}) => sum(launch.lines.filter((line) => line.memory === memory
      && whats.includes(line.what) && (few === Infinity || line.requests * 4 < few) && line.bytes >= bytes).map((line) => line[name] * (by ? line[by] : 1)));

    const loads = total("requests", "global", ["load"]);
    const local = ["load", "store", ...ATOMICS];
    const accesses = loads + total("requests", "local", local) + total("requests", "own", local);
    const estimated = launch.instructions ?? { all: 4 * accesses, integers: 2 * accesses, chain: 20 * accesses };
    const visits = total("visits", "global", ATOMICS);
    const name = REGISTERS[launch.kernel.split("<")[0]] ?? 32;
    const own = total("sectors", "own", local);
    return {
      groups: launch.groups, group_size: launch.group_size, local_bytes: launch.local_bytes,
      registers: typeof name === "number" ? name : name[launch.kernel.slice(-3, -2)] ?? 32,
      parted: launch.instructions ? launch.blocks_parted / (launch.blocks || 1) : 0, idle: launch.idle,
      // In the lab a warp that loads nothing has nothing to do.
      loading: launch.blocks_loading === undefined ? 1 : launch.blocks_loading / (launch.blocks || 1), constants: total("passes", "constant", ["load"]), barriers: launch.barriers, loads_ahead: Math.max(launch.loads_ahead, 1), others_ahead: launch.others_ahead,
      loads, waits: total("waits", "global", ["load"]), sectors: total("sectors", "global", ["load"]),
      missed: total("sectors", "global", ["load"]) - total("found", "global", ["load"]), tags: total("tags", "global", ["load"]),
      unsure: total("unsure", "global", ["load"]), again: total("again", "global", ["load"]), near: total("near", "global", ["load"]),
      near_stores: total("near", "global", ["store"]), shared_stores: total("shared", "global", ["store"]), whole: total("whole", "global", ATOMICS),
      stores: total("sectors", "global", ["store"]), own, own_missed: own - total("found", "own", ["load"]),
      local: total("requests", "local", local), passes: total("passes", "local", local),
      visits, visits_at_end: total("visits", "global", ATOMICS, { few: loads }), fullest: Math.max(...launch.queues, 0),
      load_bytes: total("lanes", "global", ["load"], { by: "bytes" }) / (total("lanes", "global", ["load"]) || 1),
      wide_atomics: total("requests", "local", ATOMICS, { bytes: 8 }), instructions: estimated.all, integers: estimated.integers,
      chain: estimated.chain, ...Object.fromEntries(WORDS.map((word) => [word, estimated[word] ?? 0])), values: total("passes", "local", ["match"]),
    };
  }

  function places(of, device) {
    const threads = Math.ceil(of.group_size / WARP) * WARP;
    const { limits } = device;
    return Math.max(1, Math.min(Math.floor(limits.work_items / threads), Math.floor(limits.local_bytes / (of.local_bytes + limits.reserved_bytes)),
      limits.groups, Math.floor(limits.registers / (Math.ceil(of.registers / 8) * 8 * threads))));
  }

  function refuse(of, device) {
    if (of.own_missed > 0.05 * of.loads) throw new NoNumber("the work-items' own arrays lie in memory, and which of their lines stay in a cache is not known");
    if (of.wide_atomics > 0.05 * of.loads) throw new NoNumber("an atomic of 8 bytes in local memory is a loop on a GPU, and how often it begins again is not counted");
    if (of.again > 0.05 * of.loads) throw new NoNumber("a warp loads what it has just stored, and how soon the first-level cache has it is not known");
    if (of.shared_stores > 0.05 * of.loads) throw new NoNumber("groups store to the same memory without atomics, and how they disturb each other is not known");
    if (of.unsure > 0.05 * of.loads) throw new NoNumber("each lane reads a line of its own, and how often one of them waits for memory is not known");
    const more = { ...of, instructions: 1.5 * of.instructions, integers: 1.5 * of.integers, chain: 1.5 * of.chain };
    if (of.parted > 0.2 && times(more, device).together > 1.2 * times(of, device).together) throw new NoNumber("the lanes of a warp part at branches, and how long a GPU takes for these is not counted");
  }

  function times(of, device) {
    const units = Math.min(device.multiprocessors, of.groups);
    const warps = Math.max(of.groups * Math.ceil(of.group_size / WARP) - of.idle, 1);
    const clock = 1 / device.clock_ghz;
    const waits = Math.max(of.waits, 1e-9);
    const others = of.local / waits;
    const ahead = others ? Math.min(of.others_ahead / others, of.loads_ahead - 1) : 0;
    const batch = Math.max(1, of.loads_ahead * Math.min(1, waits / Math.max(of.loads, 1)) - ahead);
    const batches = of.waits / warps / batch;
    const near = of.near / Math.max(of.missed, 1e-9);
    const answer = device.answer_ns * (1 - near) + device.near_ns * near + device.sector_ns * (Math.max(1, of.missed / waits) * batch - 1);
    const chain = of.chain + (of.values - of.match) * device.value_answer;
    let counting = of.instructions * device.instruction_ns + chain * clock * device.chain_share;
    counting *= of.loading / (warps * Math.max(batches, 1e-9));
    const hidden = Math.min(1, ahead / batch) * counting;
    const turn = Math.max(answer / Math.max(1, ahead / batch) + device.loop_ns, hidden) + counting - hidden;
    const spread = Math.min(Math.max(of.visits / Math.max(of.fullest, 1) - 8, 0) / 8, 1);
    const visit = device.visit_ns + (device.whole_ns - device.visit_ns) * of.whole / (of.visits || 1);
    const fullest = of.fullest * visit / (1 - spread * (1 - device.spread_share));
    const at_end = of.visits_at_end / (of.visits || 1);
    const limits = {
      wait: batches * turn + of.barriers * device.barrier_ns,
      memory: 32 * (of.missed - of.near + of.stores - of.near_stores + of.own_missed) / device.ceiling_gb_s,
      banks: (of.passes + of.tags + of.shuffle) * clock / units,
      instructions: Math.max(of.constants * device.constant_clocks, of.instructions / device.limits.schedulers, of.integers * device.integer_clocks,
        sum(WORDS.filter((word) => word !== "match").map((word) => of[word] * device.word_clocks[word])) + of.values * device.word_clocks.match) * clock / units,
      queue: fullest * (1 - at_end),
    };
    if (of.barriers > IN_A_LOOP + 0.5) limits.wait += of.loading * limits.banks / Math.min(places(of, device), of.groups / units);
    let [left, together] = [of.groups / units, 0];
    const fit = places(of, device);
    const waves = Math.ceil(left / fit - 1e-9);
    while (left > 1e-9) {
      const share = Math.min(fit, left) * units / of.groups;
      const { bend, queue_bend } = device;
      const without = (limits.wait ** bend + sum(["memory", "banks", "instructions"].map((name) => (share * limits[name]) ** bend))) ** (1 / bend);
      together += (without ** queue_bend + (share * limits.queue) ** queue_bend) ** (1 / queue_bend);
      left -= fit;
    }
    const end = fullest * at_end;
    together += end - Math.min(end * (1 - device.end_share), together * device.end_hidden);
    return { ...limits, wait: limits.wait * waves, together, waves };
  }

  function time_us(launches, device, api) {
    const together = launches.map((of) => times(of, device).together);
    launches.filter((_, n) => together[n] > 0.05 * sum(together)).forEach((of) => refuse(of, device));
    return all_us(launches, device, api);
  }

  function all_us(launches, device, api) {
    return device.launch_us[api] + sum(launches.map((of) => times(of, device).together)) / 1000;
  }

  const twice_the_items = (of) => ({ ...of, groups: of.groups * 2, visits_at_end: of.visits_at_end * 2, visits: of.visits + of.visits_at_end,
    fullest: of.fullest * (of.visits + of.visits_at_end) / (of.visits || 1) });
  const wider = (of) => (of.load_bytes > 4 ? of : { ...of, loads: of.loads / 4, load_bytes: of.load_bytes * 4, waits: of.waits / 4,
    instructions: of.instructions * 0.8, chain: of.chain / 3 });
  const copies = (of) => ({ ...of, passes: Math.min(of.passes, of.local), local_bytes: Math.max(of.local_bytes, 32 << 10) });
  const half_the_visits = (of) => ({ ...of, fullest: of.fullest / 2, visits: of.visits / 2, visits_at_end: of.visits_at_end / 2, whole: of.whole / 2 });
  const CHANGES = [["twice the work-items", twice_the_items], ["loads four times as wide", wider], ["a local table for each lane", copies],
    ["half the visits in the L2 cache", half_the_visits]];

  function changes(launches, device, api) {
    const all = launches.map((of) => times(of, device).together);
    const most = all.indexOf(Math.max(...all));
    const now = all_us(launches, device, api);
    return CHANGES.map(([words, change]) => {
      const of = change(launches[most]);
      const isChanged = Object.keys(of).some((key) => of[key] !== launches[most][key]);
      const gain = isChanged ? now / all_us([...launches.slice(0, most), of, ...launches.slice(most + 1)], device, api) : 1;
      return [words, gain >= LEAST_GAIN ? gain : 1];
    });
  }

  function limits(launches, pixels, device, api) {
    const totals = launches.map((of) => times(of, device));
    const ns = Object.fromEntries(["wait", "memory", "banks", "instructions", "queue"].map((name) => [name, sum(totals.map((each) => each[name]))]));
    ns.places = sum(totals.map((each) => each.wait * (1 - 1 / each.waves)));
    ns.wait -= ns.places;
    ns.launch = device.launch_us[api] * 1000;
    return Object.entries(ns).filter(([, value]) => value > 0).map(([name, value]) => [LIMITS[name], pixels / value]).sort(([, a], [, b]) => a - b);
  }

  // {us, gb_s, reason, limits, changes} of reduced launches; us is null where there is a reason.
  function predict(launches, pixels, device, api) {
    let [us, reason] = [null, ""];
    try {
      us = time_us(launches, device, api);
    } catch (because) {
      if (!(because instanceof NoNumber)) throw because;
      reason = because.message;
    }
    return { us, gb_s: us && pixels / us / 1000, reason, limits: limits(launches, pixels, device, api), changes: us ? changes(launches, device, api) : [] };
  }

  // The same of countsOf(); nothing is known of own arrays, which the page does not count.
  const predicted = ({ launches, pixels }, device) => (launches.some((launch) => launch.has_own) ? { reason: "the work-items' own arrays are not counted here" }
    : predict(launches.map(reduced), pixels, devices[device], API));

  // ---- limits.py -----------------------------------------------------------------------------------

  const all = (counts, memories, whats = null) => counts.launches.flatMap(({ lines }) => lines.filter(({ memory, what }) => memories.includes(memory) && (!whats || whats.includes(what))));
  const most = (found, value) => found.reduce((best, line) => (value(line) > best[0] ? [value(line), line] : best), [0, null]);
  const sum_of = (name, each, memories, whats) => (counts) => [each * sum(all(counts, memories, whats).map((line) => line[name])) / counts.pixels,
    most(all(counts, memories, whats), (line) => line[name])[1]];
  const ahead = (name) => (counts) => [Math.max(...counts.launches.map((launch) => launch[name])), most(all(counts, ["global"], ["load"]), (line) => line.lanes)[1]];
  const COUNTERS = {
    "passes for 32 pixels": sum_of("passes", 32, ["local"]),
    "passes of an access": (counts) => most(all(counts, ["local"]), (line) => line.passes / line.requests),
    "sectors for 32 pixels": sum_of("sectors", 32, ["global"], ["load"]),
    "global atomics for 1000 pixels": sum_of("lanes", 1000, ["global"], ATOMICS),
    "visits of the fullest queue for 32 pixels": (counts) => [32 * sum(counts.launches.map(({ queues }) => Math.max(...queues))) / counts.pixels,
      most(all(counts, ["global"]), (line) => line.visits)[1]],
    "loads in flight": ahead("loads_ahead"),
    "bytes in flight": ahead("bytes_ahead"),
  };

  // Whether a limit of a task is kept, and in words: {right, words, line}.
  const wanted = ({ least, most: limit }) => `at ${least ? "least" : "most"} ${least ?? limit}`;
  function kept(limit, counts) {
    const [number, line] = COUNTERS[limit.counter](counts);
    return { right: limit.least ? number >= limit.least : number <= limit.most, words: `${limit.counter}: ${number.toPrecision(3)}`, line };
  }

  const api = { PIXELS, COUNTERS, kept, wanted, countsOf, reduced, predict, predicted, devices, right };
  if (typeof module === "object") module.exports = api;
  else root.labPredict = api;
})(globalThis);
