// What lab.html shows of pixels and counts: the picture, small, and the histogram.
(function (root) {
  "use strict";

  const { element, drawing } = play;
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

  root.labPicture = { draw, chart };
})(globalThis);
