// walk.html: shows the model of walk-model.js, and hands it what the reader picks.
(() => {
  "use strict";

  const model = walkModel;
  const { at, able, drawing, tableRow, fillTable, say, sum, many, chosen, stepper, follow, goals } = play;
  const COUNT = 2048;
  const ROW = model.LINE;
  const NAMES = { interleaved: "interleaved", blocked: "blocked", vectors: "16 bytes to a load", gpu: "GPU", cpu: "CPU" };
  const PAUSE_MS = { gpu: 250, cpu: 40 };

  const reach = goals({ most: "Find a walk of a warp for which 32 times the bytes come that it asks for.", cache: "Find a walk to which only the large cache helps.",
    few: "Read all with 4 requests." });

  let requests = [];
  let delivered = []; // for each request
  let place = 0; // of the request that is shown

  const items = () => Number(at("items").value);
  const cache = () => chosen("cache");

  function begin() {
    running.pause();
    requests = model.requestsOf(chosen("walk"), chosen("order"), items(), COUNT);
    delivered = model.deliveries(requests, chosen("order"), cache());
    const comes = (how) => model.costOf(requests, chosen("order"), how).comes;
    reach("most", chosen("order") === "gpu" && cache() === "none" && comes("none") * model.unitOf("gpu") === 32 * COUNT);
    reach("cache", cache() === "large" && comes("small") === comes("none") && comes("large") < comes("none"));
    reach("few", requests.length === 4);
    at("place").max = requests.length - 1;
    showCosts();
    go(0);
  }

  const last = () => requests.length - 1;

  function go(to) {
    place = Math.max(0, Math.min(to, last()));
    show();
  }

  // ---- showing -----------------------------------------------------------------------------------

  function show() {
    const request = requests[place];
    const unit = model.unitOf(chosen("order"));
    const { units, fresh } = delivered[place];
    const asked = sum(request.map((each) => each.bytes));
    const who = request.length === 1 ? `work-item ${request[0].item} asks`
      : `work-items ${request[0].item} to ${request[request.length - 1].item} ask`;
    const comes = fresh.size === 0 ? "Nothing comes: the cache has it all."
      : `${fresh.size * unit} bytes come${fresh.size < units.size ? "; the cache has the others" : `, ${Math.round((100 * asked) / (fresh.size * unit))} % of them asked for`}.`;
    say(`Request ${place + 1} of ${requests.length}: ${who} for ${many(asked, "byte")}, in `
      + `${many(units.size, unit === model.SECTOR ? "sector" : "line")}. ${comes}`, asked < fresh.size * unit ? "bad" : "good");
    at("place").value = place;
    at("place").setAttribute("aria-valuetext", `request ${place + 1}`);
    at("bytes").setAttribute("aria-label", `The 2048 bytes, 64 in a row. ${at("said").textContent}`);
    able(at("next"), place < last());
    able(at("back"), place > 0);
    draw(request, fresh, unit);
  }

  // A square for each byte.
  const squares = Array.from({ length: COUNT }, (_, byte) =>
    drawing("rect", { x: byte % ROW, y: Math.floor(byte / ROW), width: 0.95, height: 0.95 }));
  at("bytes").append(...squares);

  function draw(request, fresh, unit) {
    const paint = (byte, colour) => squares[byte].setAttribute("fill", `var(--${colour})`);
    for (let byte = 0; byte < COUNT; ++byte) paint(byte, "band");
    const bytesOf = (each) => Array.from({ length: each.bytes }, (_, n) => each.first + n);
    for (const one of fresh) for (let byte = one * unit; byte < (one + 1) * unit; ++byte) paint(byte, "orange");
    for (const before of requests.slice(0, place)) before.flatMap(bytesOf).forEach((byte) => paint(byte, "muted"));
    request.flatMap(bytesOf).forEach((byte) => paint(byte, "blue"));
  }

  function showCosts() {
    const rows = model.WALKS.flatMap((walk) => model.ORDERS.map((order) => {
      const cost = model.costOf(model.requestsOf(walk, order, items(), COUNT), order, cache());
      const now = walk === chosen("walk") && order === chosen("order");
      return tableRow([NAMES[walk], NAMES[order], cost.requests, cost.comes, cost.comes * model.unitOf(order)], now ? { class: "now" } : {});
    }));
    fillTable("costs", ["Walk", "Order", "requests", "sectors (CPU: lines) that come", "bytes that come"], rows);
  }

  // ---- the page ----------------------------------------------------------------------------------

  const running = stepper({ next: "next", forward: () => go(place + 1), back: () => go(place - 1),
    isOver: () => place === last(), rewind: () => go(0), milliseconds: () => PAUSE_MS[chosen("order")], toTheEnd: () => go(last()) }); // not through all of them
  at("place").addEventListener("input", () => {
    running.pause();
    go(Number(at("place").value));
  });
  follow(at("settings"), begin);
})();
