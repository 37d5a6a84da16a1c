// Which bytes of a picture the work-items ask for, in which order, and what of the memory that touches: the model behind
// walk.html. The three walks are those of chapter 02 (`--walk interleaved` and `blocked`) and of chapter 05 (`vector`).
(function (root) {
  "use strict";

  const WALKS = ["interleaved", "blocked", "vectors"];
  const ORDERS = ["gpu", "cpu"];
  const WARP = 32; // work-items that ask in one request on NVIDIA's GPUs
  const SECTOR = 32; // bytes that their memory delivers at least
  const LINE = 64; // bytes of a cache line of most CPUs
  const VECTOR = 16; // bytes of a uint4

  // The bytes that a work-item asks for, [first, number], one after the other.
  function placesOf(walk, item, items, count) {
    const places = [];
    if (walk === "interleaved") for (let i = item; i < count; i += items) places.push([i, 1]);
    if (walk === "blocked") {
      const stretch = Math.floor((count + items - 1) / items);
      for (let i = item * stretch; i < Math.min((item + 1) * stretch, count); ++i) places.push([i, 1]);
    }
    // No head and no tail: the picture begins where a vector may, and is a multiple of 16 long.
    if (walk === "vectors") for (let x = VECTOR * item; x < count; x += VECTOR * items) places.push([x, VECTOR]);
    return places;
  }

  // All requests in their order. On a GPU the work-items of a warp ask together, and all warps take the same step before
  // the next one (which is only likely). On a CPU, as through PoCL, a work-item goes all its way before the next begins.
  function requestsOf(walk, order, items, count) {
    const ways = Array.from({ length: items }, (_, item) => placesOf(walk, item, items, count));
    const of = (item, step) => ({ item, first: ways[item][step][0], bytes: ways[item][step][1] });
    if (order === "cpu") return ways.flatMap((way, item) => way.map((_, step) => [of(item, step)]));
    const requests = [];
    for (let step = 0; ways.some((way) => step < way.length); ++step) {
      for (let first = 0; first < items; first += WARP) {
        const request = [];
        for (let item = first; item < Math.min(first + WARP, items); ++item) if (step < ways[item].length) request.push(of(item, step));
        if (request.length > 0) requests.push(request);
      }
    }
    return requests;
  }

  // The sectors or lines that a request touches, each once.
  function touched(request, unit) {
    const found = new Set();
    for (const { first, bytes } of request) {
      for (let at = Math.floor(first / unit); at * unit < first + bytes; ++at) found.add(at);
    }
    return found;
  }

  const unitOf = (order) => (order === "gpu" ? SECTOR : LINE);

  // What a cache has after a request: nothing, what that request touched, or all that was ever touched. Real ones lie between
  // the last two, and all who use one share its room.
  const CACHES = { none: () => new Set(), small: (_, units) => units, large: (held, units) => new Set([...held, ...units]) };

  // For each request the units that it touches, and those of them that come from the memory, as the cache has not got them.
  function deliveries(requests, order, cache) {
    let held = new Set();
    return requests.map((request) => {
      const units = touched(request, unitOf(order));
      const fresh = new Set([...units].filter((one) => !held.has(one)));
      held = CACHES[cache](held, units);
      return { units, fresh };
    });
  }

  // How many requests there are, and how many units come for all of them.
  function costOf(requests, order, cache) {
    return { requests: requests.length, comes: deliveries(requests, order, cache).reduce((sum, { fresh }) => sum + fresh.size, 0) };
  }

  const api = { WALKS, ORDERS, WARP, SECTOR, LINE, CACHES, unitOf, placesOf, requestsOf, touched, deliveries, costOf };
  if (typeof module === "object") module.exports = api;
  else root.walkModel = api;
})(globalThis);
