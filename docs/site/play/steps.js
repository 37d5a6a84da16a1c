// steps.html: shows the model of steps-model.js, and hands it what the reader does.
(() => {
  "use strict";

  const model = stepsModel;
  const { at, able, element, say, sum, many, randomFrom, stepper, story, colour, name, follow, goals } = play;
  const PAUSE_MS = 500;
  const reach = goals({ lose: "Lose a count with one change.", luck: "Find a change that is right in one order and wrong in another.",
    wait: "Make a group wait for ever.", many: "Count a pixel more than once." });

  let random = randomFrom(1);
  let outcomes = new Set(); // of these settings

  function settings() {
    const { items, pixels } = Object.fromEntries(["items", "pixels"].map((id) => [id, Number(at(id).value)]));
    const texts = Object.fromEntries(["countStride", "mergeStride"].map((id) => [id, at(id).value]));
    const ticks = Object.fromEntries([...document.querySelectorAll("#settings input[type=checkbox]")].map((box) => [box.id, box.checked]));
    return { ...ticks, ...texts, items, pixels };
  }

  const isChanged = () => Object.entries(settings()).some(([key, value]) => !["items", "pixels", "tables"].includes(key) && value !== model.RIGHT[key]);

  // ---- doing -------------------------------------------------------------------------------------

  function begin() {
    outcomes = new Set();
    restart();
  }

  function restart() {
    running.pause();
    random = randomFrom(1);
    past.begin(model.begin(settings()));
  }

  function end(state) {
    running.pause();
    const wrong = model.wrongBins(state);
    const hangs = model.hanging(state).length > 0;
    outcomes.add(hangs ? "hangs" : wrong.length > 0 ? "wrong" : "right");
    reach("lose", isChanged() && wrong.some(([, difference]) => difference < 0) && !hangs);
    reach("many", isChanged() && settings().zero && wrong.some(([, difference]) => difference > 0) && !hangs);
    reach("wait", hangs);
    reach("luck", outcomes.has("right") && outcomes.has("wrong"));
  }

  function step() {
    if (!isOver()) past.go(past.whoIsNext(random));
  }

  function search() {
    const order = model.wrongOrder(settings(), randomFrom(7));
    if (!order) {
      say("None of 2,000 orders goes wrong.", "good");
      return;
    }
    restart();
    order.forEach(past.go);
    say(`${at("said").textContent} Go back, step by step, to where it began.`, "bad");
  }

  // ---- showing -----------------------------------------------------------------------------------

  const WORDS = { zero: "zeroes", add: "adds one to", load: "loads", store: "stores", merge: "merges", "merge-load": "loads to merge", "merge-store": "stores the sum of" };
  const whose = ({ kind, bin, group }) => (kind === "merge-store" || !settings().tables ? `bin ${bin} of the histogram` : `bin ${bin} of the table of group ${group}`);

  function told({ event: { item, kind, bin, value, group, missed } }) {
    const result = { zero: "", load: `: ${value}`, "merge-load": `: ${value} with what the histogram holds` }[kind]
      ?? (kind === "merge" ? `: the histogram has ${value}` : `: ${value}`);
    return `${name(item)} ${WORDS[kind]} ${whose({ kind, bin, group })}${result}.${missed > 0 ? ` It did not know of ${many(missed, "addition")}: lost.` : ""}`;
  }

  function verdict(state) {
    const hangs = model.hanging(state);
    if (hangs.length > 0) return ` Group ${hangs.join(" and group ")} waits for ever at a barrier.`;
    const wrong = model.wrongBins(state);
    if (wrong.length === 0) return ` All done, and right${isChanged() ? ", in this order" : ""}.`;
    const lost = -sum(wrong.map(([, difference]) => Math.min(0, difference)));
    const more = sum(wrong.map(([, difference]) => Math.max(0, difference)));
    return ` All done, and wrong in bin ${wrong.map(([bin]) => bin).join(", ")}: ${[lost && `${many(lost, "count")} lost`, more && `${more} too many`].filter(Boolean).join(", ")}.`;
  }

  function show() {
    const { state, event } = past.now();
    const done = model.isDone(state);
    const failed = done && (model.wrongBins(state).length > 0 || model.hanging(state).length > 0);
    say(event ? told({ event }) + (done ? verdict(state) : "") : `Nothing has happened yet.${state.settings.tables ? " The tables hold what was there before." : ""} Press Step, or choose who goes first.`, failed ? "bad" : done ? "good" : "");
    able(at("step"), !done);
    able(at("run"), !done);
    able(at("back"), event !== null);
    showGroups(state, event);
    showHistogram(state, event, done);
    for (const each of document.querySelectorAll(".with-tables")) each.hidden = !state.settings.tables;
    for (const each of document.querySelectorAll(".without-tables")) each.hidden = state.settings.tables;
    [...at("log").children].forEach((line, number, all) => line.classList.toggle("now", number === all.length - 1));
    at("log").scrollTop = at("log").scrollHeight;
  }

  function doing(state, item) {
    if (model.isOver(state, item)) return "done";
    if (model.waits(state, item)) return "waits at the barrier";
    const { kind, bin } = model.next(state, item);
    const short = { zero: "zero", add: "add 1 to", load: "load", store: "store", merge: "merge", "merge-load": "load for", "merge-store": "store sum of" };
    const { register } = state.items[item];
    return `${short[kind]} bin ${bin}${register === null ? "" : `, has ${register}`}`;
  }

  const touched = (event, group, bin) => Boolean(event) && event.group === group && event.bin === bin && event.kind !== "merge-store";

  // The buttons stay the same elements, so that the keyboard's focus stays where it is.
  function showGroups(state, event) {
    const { items } = state.settings;
    if (at("groups").querySelectorAll("button").length !== model.GROUPS * items) {
      at("groups").replaceChildren(...Array.from({ length: model.GROUPS }, (_, group) => element("section", { "aria-label": `Group ${group}` },
        element("h2", {}, `Group ${group}`, element("span", { class: "with-tables" }, ": its table")), element("div", { class: "cells with-tables" }), element("ul", { class: "items" },
          ...Array.from({ length: items }, (__, local) => {
            const item = group * items + local;
            const button = element("button", { type: "button", style: `--colour: ${colour(item)}` });
            button.addEventListener("click", () => {
              running.pause();
              past.go(item);
            });
            return element("li", {}, button);
          })))));
    }
    const ready = model.ready(state);
    [...at("groups").querySelectorAll("button")].forEach((button, item) => {
      button.textContent = `${name(item)}: ${doing(state, item)}`;
      able(button, ready.includes(item));
    });
    [...at("groups").querySelectorAll(".cells")].forEach((cells, group) => cells.replaceChildren(...state.tables[group].map((value, bin) => {
      const untouched = !past.events().some((each) => each.group === group && each.bin === bin && ["zero", "add", "store"].includes(each.kind));
      return element("span", { class: `${untouched ? "old" : ""} ${touched(event, group, bin) ? "now" : ""}` }, String(value));
    })));
  }

  function showHistogram(state, event, done) {
    const truth = model.serial(state.settings);
    at("histogram").replaceChildren(...state.histogram.map((value, bin) => element("span", {
      class: `${done && value !== truth[bin] ? "bad" : ""} ${event && event.bin === bin && (!state.settings.tables || ["merge", "merge-store"].includes(event.kind)) ? "now" : ""}` }, String(value))));
    at("truth").replaceChildren(...truth.map((value) => element("span", {}, String(value))));
  }

  // ---- the page ----------------------------------------------------------------------------------

  const past = story({ model, told, ended: end, show });
  const isOver = () => model.isDone(past.now().state);
  const running = stepper({ next: "step", forward: step, back: past.back, isOver, milliseconds: PAUSE_MS });
  at("again").addEventListener("click", restart);
  at("search").addEventListener("click", search);
  follow(at("settings"), begin);
})();
