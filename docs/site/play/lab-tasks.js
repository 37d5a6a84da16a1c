// The tasks of lab.html: exercises of the chapters, with the texts of their folders, checked in the runs of the terminal's grader. The
// runs that the grader hands to race detectors are made without a GPU, whoever goes next.
(function (root) {
  "use strict";

  const { at, element, recall, keep, say, sum, many, randomFrom } = play;
  const { tasks } = labData;
  const { DoesNotCompile, DoesNotEnd } = labGpu;
  const DETECTORS = "free of faults";
  const KEY = "lab-tasks";
  // The launch in which it is counted, as the grader does (common/tutor/exercise/tasks.py), and its pixels by their names there.
  const COUNTED = { groups: 16, groupSize: 256, copies: 32, pixels: 2 ** 20 };
  const KINDS = { "random pixels": "--random 256K", "pixels of one value": "--constant 127 --random 64K", "pixels of a ramp": "--ramp --random 64K" };
  const EMPTY = /^ *\/\/ -+ your part.*\n(?: *\/\/(?! -+ end).*\n|\s*\n)*? *\/\/ -+ end of your part/m;

  const done = () => (recall(KEY) || "").split(" ").filter((name) => name in tasks);
  const titleOf = (name) => `${tasks[name].title}${name.split("/")[2] ? `: the ${name.split("/")[2]}` : ""}`;
  // The first that is not done, of those behind this one, or of all.
  const nextOf = (name) => [...Object.keys(tasks).slice(Object.keys(tasks).indexOf(name) + 1), ...Object.keys(tasks)].find((each) => !done().includes(each));

  const readme = () => at("chapter").getAttribute("href").split("/").pop(); // README.md, on the site index.html

  // Words with code between `, and links.
  const inline = (text) => text.split(/(`[^`]*`|\[[^\]]*\]\([^)]*\))/).map((part) => {
    if (part[0] === "`") return element("code", {}, part.slice(1, -1));
    const [, words, link] = /^\[(.*)\]\((.*)\)$/.exec(part) || [];
    return link ? element("a", { href: link.replace("README.md", readme()) }, words) : part;
  });

  function go(name) {
    at("strategy").value = name;
    at("settings").dispatchEvent(new Event("change"));
    at("task-title").focus(); // which comes into sight
  }

  function showList() {
    const reached = done();
    at("progress").replaceChildren(element("progress", { value: reached.length, max: Object.keys(tasks).length, "aria-label": "Tasks that are done" }),
      ` ${reached.length} of ${Object.keys(tasks).length} done. What you write stays in this browser.`);
    at("tasks").replaceChildren(...Object.keys(tasks).map((name) => {
      const link = element("a", { href: `#strategy=${encodeURIComponent(name)}` }, `${name.slice(0, 2)} ${titleOf(name)}`);
      link.addEventListener("click", (event) => {
        event.preventDefault();
        go(name);
      });
      return element("li", reached.includes(name) ? { class: "reached" } : {}, link, reached.includes(name) ? element("span", {}, " Done.") : "");
    }));
  }

  // What the page says of this task; of none, where it is no task.
  function show(name) {
    const task = tasks[name];
    for (const id of ["task", "check"]) at(id).hidden = !task;
    showList();
    showNext(name);
    if (!task) return;
    at("task-title").textContent = titleOf(name);
    at("goal").replaceChildren(...inline(task.goal), " ", ...(task.exercise ? [element("a", { href: `../../../${task.exercise}/${readme()}` }, "The same in a terminal.")] : []),
      ...task.counts.flatMap((limit) => [element("br"), `\u25b8 ${limit.counter}: ${labPredict.wanted(limit)} (${limit.pixels})`]));
    at("hints").replaceChildren(...task.hints.map((hint, place) =>
      element("details", {}, element("summary", {}, `Hint ${place + 1}`), element("p", {}, ...inline(hint)))));
  }

  function showNext(name) {
    at("next").hidden = (name in tasks && !done().includes(name)) || !nextOf(name);
  }

  root.labTasks = (lab) => {
    // All runs of the grader, until one is wrong: then the settings are those of that run, and it is made once more, to be looked at.
    async function check() {
      const name = at("strategy").value;
      if (EMPTY.test(at("code").value)) return void say("Your part is empty yet: write it between the two comments that say where it begins and ends.", "bad");
      const runs = tasks[name].runs.split("\n").map((line) => line.split(": "));
      lab.unsettle();
      say("It is checked ...");
      lab.inSight("said");
      const code = at("code").value;
      const began = lab.turn();
      const device = await lab.engine();
      const right = new Map(runs.map(([criterion]) => [criterion, 0]));
      let unknown = ""; // why the page itself could not run it
      for (const [criterion, words] of runs) {
        const { groups, "group-size": size, copies = 1 } = labModel.optionsOf(words);
        const ways = criterion === DETECTORS ? Object.entries(lab.interpreters) : [[at("on").value, device]];
        for (const [on, way] of ways) {
          const launch = { groups: Number(groups), groupSize: Math.min(Number(size), way.most.groupSize), copies: Number(copies) };
          const isRight = await isRightOn(way, code, labModel.inputOf(words, lab.photo, randomFrom), launch).catch((error) => {
            // What the GPU has run, and the page itself does not know.
            if (criterion === DETECTORS && error instanceof DoesNotCompile && !error.message.includes("uniform control flow")) unknown = error.message;
            else if (!(error instanceof DoesNotCompile || error instanceof DoesNotEnd)) throw error;
            return unknown !== "";
          });
          if (lab.turn() !== began) return;
          if (!isRight) {
            lab.settle(words, { on, size: String(launch.groupSize) });
            await lab.run();
            say(`${at("said").textContent} Right before that: ${inWords(right)}.`, "bad");
            return;
          }
        }
        right.set(criterion, right.get(criterion) + 1);
        say(`It is checked ... ${inWords(right)}`);
      }
      const reached = [];
      for (const limit of tasks[name].counts) {
        say("It is counted ...");
        const counts = await labGpu.counted(name, code, labModel.inputOf(KINDS[limit.pixels], lab.photo, randomFrom).pixels, COUNTED, COUNTED.pixels);
        if (lab.turn() !== began) return;
        const { right: isKept, words, line } = counts.reason ? { right: true } : labPredict.kept(limit, counts);
        unknown ||= counts.reason;
        if (isKept) {
          if (words) reached.push(`${words} (wanted: ${labPredict.wanted(limit)})`);
          continue;
        }
        labViews.show(counts, code);
        if (line) labViews.pointAt(line.line);
        say(`All counts are right, but the goal is not reached: ${words}, and wanted is ${labPredict.wanted(limit)}${line ? `; see line ${line.line}` : ""}.`, "bad");
        return;
      }
      keep(KEY, [...new Set([...done(), name])].join(" "));
      lab.done();
      showList();
      showNext(name);
      say(unknown ? `Right on all inputs and launches, but not tried in other orders of the work-items: ${unknown}.`
        : `Done. All counts are right in ${many(sum([...right.values()]), "run")}, the last of them in three orders of the work-items.`, "good");
      at("said").append(element("br"), ...mended(labModel.changesOf(tasks[name].code, code)), ...(reached.length === 0 ? [] : [element("br"),
        `Counted: ${reached.join("; ")}.${tasks[name].points ? ` To the terminal's grader such counts are worth ${tasks[name].points} of 100 points.` : ""}`]));
    }

    // What a reader has changed: the lines, or how many they are.
    function mended([gone, come]) {
      if (Math.max(gone.length, come.length) > 2) return [`Mended: ${many(gone.length, "line")} out, ${many(come.length, "line")} in.`];
      const [before, now] = [gone, come].map((lines) => (lines.length === 0 ? ["nothing "] : lines.flatMap((line) => [element("code", {}, line), " "])));
      return ["Mended: ", ...before, "\u2192 ", ...now];
    }

    async function isRightOn(way, code, pixels, launch) {
      const { expected, actual } = await lab.ran(way, code, pixels, launch);
      return labModel.outcomeOf(expected, actual) === "right";
    }

    const inWords = (right) => [...right].filter(([, count]) => count > 0).map(([criterion, count]) => `${criterion}: ${many(count, "run")}`).join(", ") || "nothing";

    for (const name of Object.keys(tasks)) at("task-names").append(element("option", { value: name }, `${name.slice(0, 2)} ${titleOf(name)}`));
    at("next").addEventListener("click", () => go(nextOf(at("strategy").value)));
    return { show, check };
  };
})(globalThis);
