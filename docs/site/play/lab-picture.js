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
    for (let place = 0; place < canvas.width * canvas.height; ++place) {
      const from = Math.floor(place / canvas.width) * step * width + (place % canvas.width) * step;
      const grey = pixels[from];
      image.data.set([grey, grey, grey, from < pixels.length ? 255 : 0], 4 * place);
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
  }

  // The truth, and in front of it what was counted.
  function chart(place, expected, counts = null) {
    const most = Math.max(1, ...expected);
    const bars = (list, colour) => [...list].map((count, bin) => {
      const height = Math.min(100, 100 * count / most);
      return drawing("rect", { x: bin, width: 1, y: 100 - height, height, fill: colour(bin) });
    });
    const isWrong = (bin) => counts[bin] !== expected[bin];
    const wrong = counts ? [...counts.keys()].filter(isWrong) : [];
    place.setAttribute("aria-label", `The histogram: up to ${most} pixels of a value${counts ? `; ${wrong.length} bins of 256 are wrong` : ""}`);
    place.replaceChildren(element("span", {}, most.toLocaleString("en"), element("br"), "pixels"), element("span", { class: "least" }, "0"),
      drawing("svg", { viewBox: "0 0 256 104", preserveAspectRatio: "none" }, ...bars(expected, () => "var(--muted)"),
        ...counts ? bars(counts, (bin) => (isWrong(bin) ? "var(--orange)" : "var(--blue)")) : [],
        ...wrong.map((bin) => drawing("rect", { x: bin, width: 1, y: 101, height: 3, fill: "var(--orange)" }))),
      element("div", { class: "values" }, ...["0", "64", "128", "192", "value 255"].map((value) => element("span", {}, value))));
  }

  root.labPicture = { draw, chart };
})(globalThis);
