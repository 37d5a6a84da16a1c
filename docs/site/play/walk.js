// walk.html: shows the model of walk-model.js, and hands it what the reader picks.
(() => {
  "use strict";

  const model = walkModel;
  const { element, still, runner } = play;
  const at = (id) => document.getElementById(id);
  const running = runner(at("run"));
  const COUNT = 2048;
  const ROW = model.LINE;
  const NAMES = { interleaved: "interleaved", blocked: "blocked", vectors: "16 bytes to a load", gpu: "GPU", cpu: "CPU" };
  const PAUSE_MS = { gpu: 250, cpu: 40 };

  let requests = [];
  let place = 0; // of the request that is shown

  const chosen = (name) => document.querySelector(`input[name=${name}]:checked`).value;
  const items = () => Number(at("items").value);
  const many = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
  const sum = (list) => list.reduce((total, value) => total + value, 0);

  function begin() {
    running.pause();
    requests = model.requestsOf(chosen("walk"), chosen("order"), items(), COUNT);
    at("place").max = requests.length - 1;
    showCosts();
    go(0);
  }

  function go(to) {
    place = to;
    show();
  }

  function run() {
    if (running.isRunning()) {
      running.pause();
      return;
    }
    const last = requests.length - 1;
    if (still()) {  // not through all of them
      go(last);
      return;
    }
    if (place === last) go(0);
    running.start(() => go(place + 1), () => place === last, PAUSE_MS[chosen("order")]);
  }

  // ---- showing -----------------------------------------------------------------------------------

  function show() {
    const request = requests[place];
    const unit = chosen("order") === "gpu" ? model.SECTOR : model.LINE;
    const units = model.touched(request, unit);
    const asked = sum(request.map((each) => each.bytes));
    const who = request.length === 1 ? `work-item ${request[0].item} asks`
      : `work-items ${request[0].item} to ${request[request.length - 1].item} ask`;
    const before = place > 0 ? model.touched(requests[place - 1], unit) : new Set();
    const fresh = [...units].filter((one) => !before.has(one)).length;
    const comes = fresh === 0 ? "The request before asked there, too: a cache may still have it."
      : `${fresh * unit} bytes come, ${Math.round(100 * asked / (fresh * unit))} % of them asked for.`;
    at("said").textContent = `Request ${place + 1} of ${requests.length}: ${who} for ${many(asked, "byte")}, in `
      + `${many(units.size, unit === model.SECTOR ? "sector" : "line")}. ${comes}`;
    at("said").className = asked < fresh * unit ? "bad" : "good";
    at("place").value = place;
    at("place").setAttribute("aria-valuetext", `request ${place + 1}`);
    at("next").disabled = place === requests.length - 1;
    draw(request, units, unit);
  }

  function draw(request, units, unit) {
    const canvas = at("bytes");
    const context = canvas.getContext("2d");
    const size = canvas.width / ROW;
    const style = getComputedStyle(canvas);
    const paint = (byte, colour) => {
      context.fillStyle = colour;
      context.fillRect((byte % ROW) * size, Math.floor(byte / ROW) * size, size - 1, size - 1);
    };
    // A property that holds light-dark() is not computed before it is used.
    const colours = Object.fromEntries(["band", "muted", "orange", "blue"].map((name) => {
      canvas.style.color = `var(--${name})`;
      return [name, style.color];
    }));
    context.clearRect(0, 0, canvas.width, canvas.height);
    for (let byte = 0; byte < COUNT; ++byte) paint(byte, colours.band);
    const bytesOf = (each) => Array.from({ length: each.bytes }, (_, n) => each.first + n);
    for (const one of units) for (let byte = one * unit; byte < (one + 1) * unit; ++byte) paint(byte, colours.orange);
    for (const before of requests.slice(0, place)) before.flatMap(bytesOf).forEach((byte) => paint(byte, colours.muted));
    request.flatMap(bytesOf).forEach((byte) => paint(byte, colours.blue));
  }

  function showCosts() {
    const heads = ["Walk", "Order", "requests", "sectors", "new lines"];
    const rows = model.WALKS.flatMap((walk) => model.ORDERS.map((order) => {
      const cost = model.costOf(model.requestsOf(walk, order, items(), COUNT));
      const now = walk === chosen("walk") && order === chosen("order");
      return element("tr", now ? { class: "now" } : {}, element("th", { scope: "row" }, NAMES[walk]), element("td", {}, NAMES[order]),
        ...[cost.requests, order === "gpu" ? cost.sectors : "–", order === "gpu" ? "–" : cost.lines].map((number) => element("td", {}, String(number))));
    }));
    fill("costs", heads, rows);
  }

  function showMeasured() {
    const heads = ["Device", "Strategy, launch", "pixels", "interleaved, ms", "blocked, ms"];
    const rows = playData.walks.flatMap((each) => Object.entries(each.launches).map(([launch, ms]) =>
      element("tr", {}, element("th", { scope: "row" }, `${each.api} on ${each.device}`), element("td", {}, `${each.strategy}, ${launch}`),
        element("td", {}, each.size), element("td", {}, String(ms.interleaved)), element("td", {}, String(ms.blocked)))));
    fill("measured", heads, rows);
  }

  function fill(id, heads, rows) {
    at(id).replaceChildren(element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
      element("tbody", {}, ...rows));
  }

  // ---- the page ----------------------------------------------------------------------------------

  at("settings").addEventListener("change", begin);
  at("settings").addEventListener("submit", (event) => event.preventDefault());
  at("next").addEventListener("click", () => {
    running.pause();
    go(place + 1);
  });
  at("run").addEventListener("click", run);
  at("again").addEventListener("click", begin);
  at("place").addEventListener("input", () => {
    running.pause();
    go(Number(at("place").value));
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  showMeasured();
  begin();
})();
