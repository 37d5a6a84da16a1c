// The lab on the first page: the loop of chapter 02's kernel that loses counts, on the sample picture. The lab's own scripts run it; they come
// when the browser has nothing else to do, or when a reader begins.
(() => {
  "use strict";

  const form = document.getElementById("first");
  if (!form) return;
  const SCRIPTS = ["play", "photo", "lab-data", "lab-model", "lab-wgsl", "lab-watch", "lab-gpu", "lab-editor", "lab-views"];
  const SHAPE = { groups: 64, groupSize: 64 };
  const [said, button, code, lost, next] = ["said", "run", "code", "lost", "next"].map((id) => document.getElementById(id));
  const broken = code.defaultValue.split("\n")[1].trim();
  let photo, truth, before, behind, device; // the picture and its counts; what the kernel has around its loop

  const loaded = (name) => new Promise((done) => {
    document.body.append(element("script", { src: `docs/site/play/${name}.js`, async: false, onload: done }));
  });
  let begun = null;
  const begin = () => begun ??= Promise.all(SCRIPTS.map(loaded)).then(() => {
    photo = play.samplePicture();
    [before, behind] = labData.strategies.racy.code.split(/^    for [^]*^    }$/m);
    labViews.draw(play.at("picture"), photo.pixels, photo.width);
    truth = labModel.serial(photo.pixels);
    labViews.chart(play.at("chart"), truth);
    labEditor.show(code.value);
    code.addEventListener("input", () => labEditor.show(code.value));
    document.body.dataset.begun = "";
  });

  async function run() {
    if (button.ariaDisabled === "true") return;
    button.ariaDisabled = "true";
    said.textContent = "It runs ...";
    lost.hidden = next.hidden = true;
    await begin();
    labViews.chart(play.at("chart"), truth);
    if (!device || device.isLost) device = await labGpu.open().catch(() => new labGpu.Interpreter("together"));
    let isMended = false; // and not right by luck
    try {
      const { wrong } = labViews.outcome(await labGpu.ran(device, "racy", before + code.value + behind, photo, SHAPE), Boolean(device.about));
      if (!device.about) said.append(" No WebGPU here: the page itself takes the steps.");
      labEditor.show(code.value);
      isMended = wrong.length === 0 && !code.value.includes(broken);
    } catch (error) {
      const above = before.split("\n").length - 1;
      labEditor.show(code.value, (error.messages ?? []).map((each) => ({ ...each, line: Math.max(0, each.line - above) })));
      play.say(error instanceof labGpu.DoesNotEnd ? "It does not end." : error.messages ? "It does not compile." : error.message, "bad");
    }
    next.hidden = !isMended;
    lost.hidden = isMended;
    (isMended ? next : lost).scrollIntoView({ block: "nearest" });
    button.ariaDisabled = "false";
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  form.addEventListener("focusin", begin);
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  document.getElementById("mend").addEventListener("click", () => {
    code.value = code.defaultValue.replace(broken, lost.querySelector("code:last-of-type").textContent);
    labEditor.show(code.value);
    play.say("Press Run again.");
    button.focus();
  });
  addEventListener("load", () => (globalThis.requestIdleCallback ?? setTimeout)(begin));
})();
