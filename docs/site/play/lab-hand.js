// Counting by hand, before any code, in lab.html: a picture of 6 x 7 pixels in four greys.
(function (root) {
  "use strict";

  const { at, element, recall, keep } = play;
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

  root.labHand = { picture, begin };
})(globalThis);
