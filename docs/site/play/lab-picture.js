// What lab.html shows of pixels and counts: the picture, small, and the histogram; and a picture of 6 x 7 pixels in four greys, to be
// counted by hand before any code.
(function (root) {
  "use strict";

  const { at, element, drawing, recall, keep } = play;
  const SIDE = 256; // of the picture as it is shown

  // The pixels, every n-th of them where there are many.
  function draw(canvas, pixels, width) {
    const height = Math.ceil(pixels.length / width) || 1;
    const step = Math.max(1, Math.ceil(Math.max(width, height) / SIDE));
    canvas.width = Math.max(1, Math.floor(width / step));
    canvas.height = Math.max(1, Math.floor(height / step));
    const image = new ImageData(canvas.width, canvas.height);
    const { data, width: across } = image;
    for (let place = 0; 4 * place < data.length; ++place) {
      const from = Math.floor(place / across) * step * width + (place % across) * step;
      data.fill(pixels[from], 4 * place, 4 * place + 3);
      data[4 * place + 3] = from < pixels.length ? 255 : 0;
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
  }

  // The truth, and in front of it what was counted.
  function chart(place, expected, counts = null) {
    const most = Math.max(1, ...expected);
    const filled = (fill, bins, from, height) => drawing("path", { fill, d: [...bins].map((bin) => `M${bin} ${from}h1v${-height(bin)}h-1z`).join("") });
    const bars = (fill, list, bins = list.keys()) => filled(fill, bins, 100, (bin) => Math.min(100, 100 * list[bin] / most));
    const isWrong = (bin) => counts[bin] !== expected[bin];
    const wrong = counts ? [...counts.keys()].filter(isWrong) : [];
    place.setAttribute("aria-label", `The histogram: up to ${most} pixels of a value${counts ? `; ${wrong.length} bins of 256 are wrong` : ""}`);
    place.replaceChildren(element("span", {}, most.toLocaleString("en"), element("br"), "pixels"), element("span", { class: "least" }, "0"),
      drawing("svg", { viewBox: "0 0 256 104", preserveAspectRatio: "none" }, bars("var(--muted)", expected),
        ...counts ? [bars("var(--blue)", counts), bars("var(--orange)", counts, wrong), filled("var(--orange)", wrong, 104, () => 3)] : []),
      element("div", { class: "values" }, ...["0", "64", "128", "192", "value 255"].map((value) => element("span", {}, value))));
  }

  // ---- by hand -----------------------------------------------------------------------------------

  const WIDTH = 6;
  const ROWS = ["033330", "300003", "302203", "300003", "301103", "300003", "033330"];
  const GREYS = [0, 85, 170, 255];
  const KEY = "lab-hand";

  const pixels = Uint8Array.from(ROWS.join(""), (grey) => GREYS[grey]);
  const truth = labModel.serial(pixels);
  const picture = { width: WIDTH, height: ROWS.length, pixels, whole: [WIDTH, ROWS.length], name: "the picture counted by hand" };

  // `done` is called when all four counts are right.
  function begin(done) {
    const cell = (grey) => element("td", { style: `background: rgb(${grey} ${grey} ${grey}); color: ${grey > 127 ? "#000" : "#fff"}` }, String(grey));
    const row = (_row, y) => element("tr", {}, ...Array.from(pixels.subarray(y * WIDTH, (y + 1) * WIDTH), cell));
    at("grid").replaceChildren(element("tbody", {}, ...ROWS.map(row)));
    const fields = GREYS.map((grey) => element("input", { type: "number", min: 0, max: pixels.length, inputmode: "numeric", id: `count-${grey}` }));
    at("tally").prepend(...fields.map((field, place) => element("label", {}, `How often ${GREYS[place]}? `, field)));
    at("tally").addEventListener("submit", (event) => {
      event.preventDefault();
      const wrong = GREYS.filter((grey, place) => Number(fields[place].value) !== truth[grey]);
      const total = fields.reduce((all, field) => all + Number(field.value), 0);
      at("tallied").textContent = wrong.length > 0 ? `Not yet: ${wrong.join(", ")}. Your counts make ${total} pixels, of ${pixels.length}.`
        : `Right: these ${GREYS.length} numbers are the histogram of the picture. A kernel does the same for 256 greys, and its work-items share the pixels. Run it on this picture, then on larger ones.`;
      if (wrong.length > 0) return;
      keep(KEY, "done");
      done();
    });
    at("hand").open = recall(KEY) === null && location.hash === "" && self === top;
  }

  root.labPicture = { draw, chart, byHand: picture, begin };
})(globalThis);
