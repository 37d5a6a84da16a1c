// race.html: shows the model of race-model.js, and hands it what the reader does.
(() => {
  "use strict";

  const model = raceModel;
  const { at, able, element, drawing, tableRow, fillTable, say, many, chosen, randomFrom, stepper, story, colour, name, follow, goals } = play;
  const PAUSE_MS = 700;

  let random = randomFrom(1);
  let planned = []; // who goes next where an update is to be lost

  const reach = goals({ one: "Lose a count.", three: "Lose 3 of 4 counts.", luck: "Count with plain ++ and lose nothing, with two work-items or more that take turns." });

  // ---- doing -------------------------------------------------------------------------------------

  function begin() {
    running.pause();
    planned = [];
    random = randomFrom(1);
    past.begin(model.begin(chosen("way"), Number(at("items").value), Number(at("pixels").value)));
  }

  function end(state) {
    running.pause();
    const [lost, all] = [model.lost(state), state.counted];
    const whoWent = past.events().map(({ item }) => item);
    reach("three", all === 4 && lost === 3);
    reach("luck", state.way === "plain" && lost === 0 && whoWent.some((item, place) => place > 0 && item < whoWent[place - 1]));
  }

  function step() {
    if (isOver()) return;
    const onPurpose = planned.length > 0;
    past.go(onPurpose ? planned.shift() : past.whoIsNext(random));
    if (onPurpose && planned.length === 0 && model.lost(past.now().state) === 0) {
      say(`${at("said").textContent} The same order, and nothing is lost.`, "good");
    }
  }

  function back() {
    planned = [];
    past.back();
  }

  // Two go in step. Where it cannot lose anything, the same order shows why.
  function lose() {
    begin();
    planned = model.losingOrder(past.now().state);
    running.run(() => planned.length === 0);
  }

  // ---- showing -----------------------------------------------------------------------------------

  function told({ event, state }) {
    const words = {
      load: `${name(event.item)} loads the counter: ${event.value}.`,
      add: `${name(event.item)} adds one, in a register of its own: ${event.value}.`,
      store: `${name(event.item)} stores ${event.value} in the counter.`,
      atomic: `${name(event.item)} loads, adds and stores as one: the counter is ${event.value}.`,
    }[event.kind];
    return event.missed > 0 ? `${words} It did not know of ${many(event.missed, "addition")}: lost.` : words;
  }

  function verdict(state) {
    const [missing, all] = [model.lost(state), state.counted];
    return missing > 0 ? ` All done: ${all} pixels, ${all - missing} counts. ${missing} lost.`
      : ` All done: ${all} pixels, ${all} counts. ${state.way === "plain" ? "Right, by luck: try another order." : "Right, in any order."}`;
  }

  function show() {
    const { state, event } = past.now();
    const missing = model.lost(state);
    const done = model.isDone(state);
    reach("one", missing > 0);
    if (!event) say("Nothing has happened yet. Press Step, or choose who goes first.");
    else say(told({ event, state }) + (done ? verdict(state) : ""), event.missed > 0 || (done && missing > 0) ? "bad" : done ? "good" : "");
    able(at("step"), !done);
    able(at("run"), !done);
    able(at("back"), event !== null);
    at("log").scrollTop = at("log").scrollHeight;
    showItems(state);
    showCounter(state);
    showChart(state);
  }

  function showItems(state) {
    // The buttons stay the same elements, so that the keyboard's focus stays where it is.
    while (at("choice").children.length > state.items.length) at("choice").lastChild.remove();
    state.items.forEach((item, number) => {
      let entry = at("choice").children[number];
      if (!entry) {
        const button = element("button", { type: "button", style: `--colour: ${colour(number)}` });
        button.addEventListener("click", () => {
          running.pause();
          planned = [];
          past.go(number);
        });
        entry = element("li", {}, button);
        at("choice").append(entry);
      }
      const next = model.nextStep(state, number);
      const holds = item.register === null ? `pixel ${item.done + 1} of ${state.pixels}` : `register: ${item.register}`;
      able(entry.firstChild, next !== "");
      entry.firstChild.replaceChildren(element("span", {}, `${name(number)}: ${next || "done"}`),
        element("small", {}, next === "" ? " " : holds));
    });
  }

  function showCounter(state) {
    const row = tableRow([state.counter, state.counted, model.lost(state)]);
    if (model.lost(state) > 0) row.lastChild.className = "bad";
    fillTable("counter", ["The counter", "pixels counted: the truth", "lost"], [row]);
  }

  // The figure of chapter 02: time goes down, the memory in the middle, work-items on both sides.
  function showChart(state) {
    const box = at("chart");
    const events = past.events();
    const lane = Math.min(160, Math.max(92, Math.floor((box.clientWidth - 20) / (state.items.length + 1))));
    const half = Math.min(44, lane / 2 - 4);
    const row = 30;
    const top = 46;
    const left = Math.ceil(state.items.length / 2);
    const width = (state.items.length + 1) * lane + 16;
    const height = top + Math.max(4, events.length) * row + 16;
    const centre = (place) => 8 + lane * (place + 0.5);
    const memory = centre(left);
    const x = (item) => centre(item < left ? item : item + 1);
    const parts = [];

    const head = (place, words, stroke) => parts.push(
      drawing("line", { x1: place, x2: place, y1: 34, y2: height, stroke: "var(--grid)", "stroke-width": 2 }),
      drawing("rect", { x: place - half, y: 8, width: 2 * half, height: 26, rx: 4, fill: "var(--page)", stroke, "stroke-width": 2 }),
      drawing("text", { x: place, y: 26, "text-anchor": "middle" }, words));
    head(memory, "counter", "var(--ink)");
    state.items.forEach((_, item) => head(x(item), half < 43 ? name(item) : `work-item ${name(item)}`, colour(item)));

    events.forEach((event, number) => {
      const y = top + row * (number + 0.5);
      const group = drawing("g", number === events.length - 1 ? { class: "enters" } : {});
      const note = (place, words) => group.append(drawing("rect", { x: place - half, y: y - 11, width: 2 * half, height: 22, rx: 4,
        fill: "var(--page)", stroke: event.missed > 0 && place === memory ? "var(--orange)" : colour(event.item), "stroke-width": 2 }),
      drawing("text", { x: place, y: y + 4.5, "text-anchor": "middle", class: "code small" }, words));
      const arrow = (from, to, words) => {
        const side = Math.sign(to - from);
        const [start, end] = [from + side * 6, to - side * (to === memory ? half + 2 : 8)];
        group.append(drawing("path", { d: `M${start} ${y}H${end}m${-6 * side} -4l${6 * side} 4l${-6 * side} 4`,
          stroke: colour(event.item), fill: "none", "stroke-width": 2 }),
        drawing("text", { x: (from + side * (from === memory ? half : 6) + to - side * (to === memory ? half : 6)) / 2, y: y - 4, "text-anchor": "middle", class: "small halo" }, words));
      };
      if (event.kind === "add") note(x(event.item), `${event.value - 1} + 1`);
      else if (event.kind === "load") arrow(memory, x(event.item), `loads ${event.value}`);
      else {
        arrow(x(event.item), memory, event.kind === "atomic" ? "adds 1" : `stores ${event.value}`);
        note(memory, `${event.value}${event.missed > 0 ? ", lost" : ""}`);
      }
      parts.push(group);
    });

    box.replaceChildren(drawing("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, ...parts));
    box.scrollTop = box.scrollHeight;
  }

  // ---- the page ----------------------------------------------------------------------------------

  const past = story({ model, told, ended: end, show });
  const isOver = () => model.isDone(past.now().state);
  const running = stepper({ next: "step", forward: step, back, isOver, milliseconds: () => PAUSE_MS });
  at("again").addEventListener("click", begin);
  at("lose").addEventListener("click", lose);
  addEventListener("resize", () => showChart(past.now().state));
  follow(at("settings"), begin);
})();
