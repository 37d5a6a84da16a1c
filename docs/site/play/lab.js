// lab.html: the editor, the run, and what is said of it.
(() => {
  "use strict";

  const model = labModel;
  const { at, able, recall, keep, element, tableRow, fillTable, say, many, randomFrom, follow, samplePicture } = play;
  const { show: edit, showLine } = labEditor;
  const { Refused, DoesNotCompile, DoesNotEnd } = labGpu;
  const ROOT = "../../../";
  const NO_GPU = "This is no GPU: the page itself takes the work-items through the kernel, one step at a time, in the order that you choose. "
    + "It can be right or wrong, and never fast or slow.";
  const photo = samplePicture();

  const interpreters = { alone: new labGpu.Interpreter("alone"), together: new labGpu.Interpreter("together"), random: new labGpu.Interpreter("random") };
  let gpu = null;
  let isReady = false;
  let shown = ""; // the strategy that is in the editor
  let planted = null; // the mistake that is in the editor
  let changed = []; // the settings that it has changed, or a check: [id, before, now]
  let showing = ""; // the words of the pixels that show it
  let turn = 0; // of what is shown: a run that ends after the settings have changed says nothing

  const { tasks } = labData;
  const strategies = { ...labData.strategies, ...tasks };
  Object.assign(model.STRATEGIES, tasks);

  const strategy = () => at("strategy").value;
  const original = () => strategies[strategy()].code;
  const key = () => `lab-${strategy()}`;
  const launch = () => ({ groups: Number(at("groups").value), groupSize: Number(at("size").value), copies: Number(at("copies").value) });
  const toPress = () => `Press Run${strategy() in tasks ? " to see what it does; change it, and press Check" : ""}.`;
  const plain = (name) => name.replaceAll("-", " ");

  // The words of the pixels that Run counts.
  const wordsOf = () => (at("input").value === "shows" ? showing : labData.inputs[at("input").value]);
  const input = () => shortened(model.inputOf(wordsOf(), photo, randomFrom));
  const interpreter = () => interpreters[at("on").value];

  // An interpreter counts no more than it can in a second or two.
  function shortened(picture) {
    const most = interpreter()?.most.pixels ?? Infinity;
    return picture.pixels.length > most ? { ...picture, pixels: picture.pixels.subarray(0, most), isCut: true } : picture;
  }

  // ---- the kernel --------------------------------------------------------------------------------

  function show() {
    at("copies").parentElement.hidden = !original().includes("override COPIES");
    if (shown !== strategy()) showKernel();
    showChanged();
    showPixels();
    at("measure").hidden = Boolean(interpreter()) || !gpu || gpu.about.software || !gpu.canTime;
    if (isReady) say(`${interpreter() ? `${NO_GPU} ` : ""}${toPress()}`);
  }

  function showKernel() {
    plant(null);
    shown = strategy();
    const { chapter, line } = strategies[shown];
    at("chapter").href = `${ROOT}${chapter}/${at("chapter").getAttribute("href").split("/").pop()}`;
    at("chapter").textContent = `Chapter ${chapter.slice(0, 2)}`;
    edit(recall(key()) ?? original());
    showLine(line);
    document.body.classList.toggle("tasked", shown in tasks);
    delete at("line").dataset.chosen;
    task.show(shown);
    const own = labData.mistakes.filter((each) => each.strategy === shown);
    at("mistakes").replaceChildren(...own.length === 0 ? [shown === "racy" ? "This kernel is broken as it comes." : "There is none for this kernel."] : own.map((each) => {
      const button = element("button", { type: "button" }, plain(each.name));
      button.addEventListener("click", () => (planted === each ? restore("The mistake is out again.") : plant(each)));
      return button;
    }));
  }

  // Puts a mistake into the editor, and pixels and a launch that show it into the settings; what the reader has written stays kept.
  // Nothing: takes it out again.
  function plant(mistake) {
    unsettle();
    planted = mistake;
    at("foresee").hidden = !mistake;
    at("answer").textContent = "";
    document.querySelectorAll("input[name=foreseen]").forEach((each) => { each.checked = false; });
    for (const button of at("mistakes").children) button.setAttribute("aria-pressed", String(Boolean(mistake) && button.textContent === plain(mistake.name)));
    if (!mistake) return;
    let text = original();
    for (const [old, changed] of mistake.changes) text = text.replace(old, () => changed);
    edit(text);
    const [old, now] = mistake.changes[0];
    const place = original().indexOf(old);
    showLine(original().slice(0, place).split("\n").length);
    settle(mistake.words);
    say(`${now ? "The mistake is in the kernel." : "Something is missing from the kernel now."} What will happen?`);
  }

  // Puts pixels and a launch into the settings, for a mistake or a check, and remembers how they were.
  function settle(words, others = {}) {
    unsettle();
    showing = words;
    at("input").append(element("option", { value: "shows" }, model.inWords(words)));
    const { groups, "group-size": size, copies } = model.optionsOf(words);
    for (const [id, value] of Object.entries({ groups, size, copies, input: "shows", ...others })) {
      if (!value || at(id).value === value) continue;
      if (![...at(id).options].some((each) => each.value === value)) at(id).append(element("option", {}, value));
      changed.push([id, at(id).value, value]);
      at(id).value = value;
    }
    show();
  }

  // All as it was before, but what the reader has changed since.
  function unsettle() {
    for (const [id, before, now] of changed) {
      if (at(id).value === now) at(id).value = before;
    }
    changed = [];
    at("input").querySelector("[value=shows]")?.remove();
  }

  // Takes a mistake out; the kernel is as the reader wrote it, or as in the chapter.
  function restore(words) {
    plant(null);
    edit(recall(key()) ?? original());
    show();
    say(words);
  }

  // Which settings are changed, and how they will be again.
  function showChanged() {
    const held = changed.filter(([id, , now]) => at(id).value === now);
    for (const label of at("settings").children) label.classList.toggle("changed", held.some(([id]) => label.contains(at(id))));
    at("changed").textContent = held.length === 0 ? "" : `Changed by the ${planted ? "mistake" : "check"}: ${held.map(([id, before]) =>
      `${at(id).parentElement.firstChild.textContent.trim().toLowerCase()} (before: ${before})`).join(", ")}. Without it they are as before.`;
  }

  // ---- running -----------------------------------------------------------------------------------

  async function opened() {
    if (!gpu || gpu.isLost) gpu = await labGpu.open();
    return gpu;
  }

  const ran = (device, code, pixels, shape) => labGpu.ran(device, strategy(), code, pixels, { ...launch(), ...shape });
  const engine = async () => interpreter() || opened();

  // Run is in sight everywhere, and so is what comes of it.
  let keepsPlace = false; // whoever writes
  const inSight = (id) => keepsPlace || at(id).scrollIntoView({ block: "nearest" });

  // What an order of events and the counts say of it; why it is wrong is told before it is counted.
  function watched(code, isWrong) {
    const mine = turn;
    return new Promise((told) => {
      labGpu.watch(strategy(), code, input().pixels, launch(), (found) => {
        if (turn === mine) labViews.showStory(found.story);
        if (turn === mine && isWrong) showWhy(found);
        told();
      }).then((counts) => turn === mine && labViews.show(counts, code));
    });
  }

  async function run() {
    const code = at("code").value;
    showPixels();
    say("It runs ...");
    const mine = turn;
    inSight("said");
    try {
      const device = await engine();
      const result = await ran(device, code, input());
      if (turn !== mine) return;
      const outcome = model.outcomeOf(result.expected, result.actual);
      edit(code);
      showCounts(result);
      const why = watched(code, outcome !== "right");
      if (outcome !== "right") await why;
      if (turn === mine) showAnswer(outcome);
    } catch (error) {
      if (turn !== mine) return;
      if (error instanceof DoesNotCompile) {
        edit(code, error.messages);
        say(interpreter() ? `The page cannot run this kernel: ${error.message}.` : `The compiler refuses the kernel: ${many(error.messages.length, "error")}.`, "bad");
        showAnswer("refused", error.message);
        if (error.message.includes("uniform control flow")) watched(code, false);
        inSight("messages");
      } else if (error instanceof DoesNotEnd) {
        say("It does not end: a loop that goes on for ever, or a barrier that not all reach. The page has stopped it (does-not-end).", "bad");
        showAnswer("does-not-end");
      } else say(error instanceof Refused ? error.message : `The GPU does not do this: ${error.message}`, "bad");
    }
  }

  function showWhy(found) {
    const { chapter } = strategies[strategy()];
    at("named").replaceChildren(element("p", {}, `Why: ${labViews.why(found)} `,
      ...(at("code").value === labData.strategies.racy.code ? ["Mend it there: ", element("code", {}, "atomicAdd(&histogram[pixel(i)], 1u);"), " and run it again. "] : []), element("a", { href: `${at("chapter").getAttribute("href")}#the-race-conditions` },
      `Read on in chapter ${chapter.slice(0, 2)}.`)));
  }

  // ---- what came of it ---------------------------------------------------------------------------

  // What Run will count, and nothing of what it counted before.
  function showPixels() {
    turn += 1;
    for (const id of ["bins", "named", "messages", "answer"]) at(id).replaceChildren();
    labViews.showStory(null);
    labViews.show(null);
    const { pixels, width, isCut } = input();
    const across = Math.min(width, pixels.length);
    labViews.draw(at("picture"), pixels, across);
    const size = isCut || pixels.length === 0 ? "" : pixels.length % across ? `, shown in rows of ${across}` : `, ${across} x ${pixels.length / across}`;
    const cut = isCut ? `, of which the first ${pixels.length.toLocaleString("en")}` : "";
    const { groups, groupSize } = launch();
    at("what").textContent = `${model.inWords(wordsOf())}${size}${cut}. Run counts it with ${many(groups, "group")} of ${many(groupSize, "work-item")}.`;
    labViews.chart(at("chart"), model.serial(pixels));
  }

  // A task is done: nothing of a failure is left, and the histogram is the right one.
  function showDone() {
    unsettle();
    show();
    labViews.chart(at("chart"), ...Array(2).fill(model.serial(input().pixels)));
    watched(at("code").value, false);
  }

  function showCounts(result) {
    const { expected } = result;
    const { counts, wrong } = labViews.outcome(result, !interpreter());
    if (wrong.length === 0) return;
    const rows = wrong.slice(0, 5).map((bin) => tableRow([bin, expected[bin], counts[bin], counts[bin] - expected[bin]]));
    for (const row of rows) row.lastChild.className = "bad";
    fillTable("bins", [`Bin${wrong.length > 5 ? " (the first five)" : ""}`, "the truth", "counted", "difference"], rows);
  }

  function showAnswer(outcome, words = "") {
    if (!planted) return;
    const foreseen = document.querySelector("input[name=foreseen]:checked");
    const happened = model.OUTCOMES[outcome];
    const guess = !foreseen ? "" : foreseen.value === outcome ? "As you said. " : "Not as you said. ";
    const why = planted.called === "nothing" && outcome === "right" ? " In WGSL it cannot show; in OpenCL and CUDA it does." : outcome === "right" ? " It did not show this time, here." : "";
    at("answer").textContent = `${guess}${happened}${words ? `: ${words}` : ""}. ${planted.sentence}${why}`;
  }

  // GB/s beside what the memory can do, as the programs time it. Not where the GPU is software: it would be no lesson.
  async function measure() {
    say("It is timed ...");
    try {
      const device = await opened();
      const shape = launch();
      const pixels = model.tiled(input().pixels, Math.min(device.most.pixels, labGpu.TIMED_BYTES));
      const compiled = await device.compile(strategy(), at("code").value, shape.groupSize, { copies: shape.copies, asWritten: true });
      const { median, min, max, runs } = await device.time({ pixels, width: 512 }, compiled, shape.groups);
      const rate = (ms) => pixels.length / ms / 1e6;
      const ceiling = rate((await device.readCeiling(pixels)).median);
      say(`${rate(median).toFixed(1)} GB/s, ${Math.round(100 * rate(median) / ceiling)} % of the ${ceiling.toFixed(1)} GB/s at which this GPU reads. `
        + `Median of ${runs} runs: ${median.toFixed(3)} ms (${min.toFixed(3)} to ${max.toFixed(3)}), ${many(pixels.length, "pixel")}, ${device.about.name}.`);
    } catch (error) {
      say(error instanceof DoesNotEnd ? "It does not end." : error.message, "bad");
    }
  }

  // ---- the page ----------------------------------------------------------------------------------

  // One thing at a time on the GPU.
  const alone = (work) => async () => {
    for (const id of ["run", "check", "measure"]) able(at(id), false);
    await work().catch((error) => say(error.message, "bad"));
    for (const id of ["run", "check", "measure"]) able(at(id), true);
    keepsPlace = false;
  };

  const runsAtOnce = new URLSearchParams(location.hash.slice(1)).has("run"); // for who comes to see what it does

  async function begin() {
    follow(at("settings"), show);
    let words = NO_GPU;
    try {
      const { about } = await opened();
      if (!interpreter()) words = `Your GPU: ${about.name}.${about.software ? " It is software, so no times are shown." : ""}`;
    } catch (error) {
      words = `${error instanceof Refused ? error.message : `WebGPU does not start: ${error.message}`} ${NO_GPU}`;
      at("on").querySelector("[value=gpu]").disabled = true;
      if (!interpreter()) at("on").value = "together";
    }
    show();
    isReady = true;
    say(`${words} ${toPress()}`);
    if (runsAtOnce) at("run").click();
  }

  for (const [name, { chapter }] of Object.entries(labData.strategies)) at("chapters").append(element("option", { value: name }, `${chapter.slice(0, 2)} ${name}`));
  const task = labTasks({ photo, interpreters, ran, settle, unsettle, run, engine, inSight, turn: () => turn, done: showDone });
  for (const name of Object.keys(labData.inputs)) at("input").append(element("option", name === "landscape" ? { selected: "" } : {}, name));
  for (const [value, words] of Object.entries(model.OUTCOMES)) {
    at("foresee").append(element("label", {}, element("input", { type: "radio", name: "foreseen", value }), element("span", {}, words)));
  }
  at("code").addEventListener("input", () => {
    const { value } = at("code");
    keep(key(), value === original() ? null : value);
    edit(value);
  });
  at("run").addEventListener("click", alone(run));
  at("check").addEventListener("click", alone(task.check));
  at("measure").addEventListener("click", alone(measure));
  at("reset").addEventListener("click", () => {
    restore("The kernel is as at first. Ctrl+Z in the editor brings back what you wrote.");
    labEditor.write(original(), true);
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    keepsPlace = true;
    at(strategy() in tasks ? "check" : "run").click();
  });
  document.addEventListener("selectionchange", () => {
    if (document.activeElement === at("code")) labViews.pointAt(labEditor.lineHere());
  });
  document.body.dataset.begun = "";
  begin();
})();
