// Bytes under way and speed (Little's law), and how many groups a multiprocessor holds: the model behind underway.html.
(function (root) {
  "use strict";

  const WARP = 32;
  // What a multiprocessor has, by NVIDIA's compute capability (libcu++'s arch_traits.h and cuda_occupancy.h): work-items
  // and groups at once, registers, bytes of local memory, and the bytes of it that each group takes for itself.
  const DEVICES = {
    "compute capability 9.0, such as an H100": { items: 2048, groups: 32, registers: 65536, local: 228 * 1024, ofEach: 1024 },
    "compute capability 8.6, such as an RTX 3060": { items: 1536, groups: 16, registers: 65536, local: 100 * 1024, ofEach: 1024 },
    "compute capability 7.5, such as a T4": { items: 1024, groups: 16, registers: 65536, local: 64 * 1024, ofEach: 0 },
  };
  const REGISTERS_AT_ONCE = 256; // a warp gets them in such parts

  // GB/s: the bytes under way on all multiprocessors over the time of an answer, up to the ceiling.
  function speed({ items, bytes, loads, units, answerNs, ceiling }) {
    return Math.min(ceiling, (units * items * bytes * loads) / answerNs);
  }

  // The bytes under way on each multiprocessor at which the line bends.
  function bend({ units, answerNs, ceiling }) {
    return (ceiling * answerNs) / units;
  }

  // How many groups of this kind a multiprocessor holds by each limit; the least of them counts.
  function groupsHeld(device, { groupSize, registers, local }) {
    const warps = Math.ceil(groupSize / WARP);
    const ofWarp = Math.ceil((registers * WARP) / REGISTERS_AT_ONCE) * REGISTERS_AT_ONCE;
    const limits = {
      "work-items": Math.floor(device.items / (warps * WARP)),
      groups: device.groups,
      registers: Math.floor(device.registers / (warps * ofWarp)),
      "local memory": local === 0 ? Infinity : Math.floor(device.local / (local + device.ofEach)),
    };
    const held = Math.min(...Object.values(limits));
    return { limits, held, by: Object.keys(limits).filter((name) => limits[name] === held), items: held * groupSize };
  }

  const api = { DEVICES, WARP, speed, bend, groupsHeld };
  if (typeof module === "object") module.exports = api;
  else root.underwayModel = api;
})(globalThis);
