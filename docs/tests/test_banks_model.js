// The model behind docs/site/play/banks.html, held against the kernels, another way to count passes, and what chapter 04 says of them.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const { test } = require("node:test");
const { ROOT, source, sum, seeded } = require("./models.js");
const model = require("../site/play/banks-model.js");

const ROW = model.LANES * model.PIXELS;

function rowsOf(count, value) {
  return Array.from({ length: count }, () => Uint8Array.from({ length: ROW }, (_, place) => value(place)));
}

// The sample picture: a BMP of 512 x 512 with a palette of greys, from the last row up.
function photo() {
  const bytes = fs.readFileSync(path.join(ROOT, "images", "landscape.bmp"));
  const first = bytes.readUInt32LE(10);
  return Array.from({ length: 512 }, (_, y) => Uint8Array.from({ length: 512 }, (_, x) => bytes[54 + 4 * bytes[first + (511 - y) * 512 + x]]));
}

const random = seeded(5);
const INPUTS = {
  photo: photo(),
  uniform: rowsOf(300, () => Math.floor(random() * 256)),
  constant: rowsOf(1, () => 127),
  ramp: rowsOf(1, (place) => place % 256),
};

// Passes once more, by serving: in a pass each bank takes one word, and all lanes that want it together.
function served(row, step, copies) {
  let waiting = Array.from({ length: 32 }, (_, lane) => row[lane * 16 + step] * copies + (lane % copies));
  let passes = 0;
  for (; waiting.length > 0; ++passes) {
    const taken = new Map();
    waiting = waiting.filter((word) => {
      if (!taken.has(word % 32)) {
        taken.set(word % 32, word);
        return false;
      }
      return taken.get(word % 32) !== word;
    });
  }
  return passes;
}

test("a word is where the kernels put it", () => {
  const kernels = { "histogram.cl": [/own = table \+ item % COPIES;/, /&own\[\(four & 0xff\) \* COPIES\]/, /table\[bin \* COPIES \+/],
    "histogram.cuh": [/own = table \+ threadIdx\.x % copies;/, /&own\[\(four & 0xff\) \* copies\]/, /table\[bin \* copies \+/] };
  for (const [file, lines] of Object.entries(kernels)) {
    const text = source(`04-per-thread-bins/${file}`);
    for (const line of lines) assert.match(text, line, file);
  }
  for (const copies of model.COPIES) {
    for (const [bin, lane] of [[0, 0], [5, 31], [255, 17]]) assert.strictEqual(model.wordOf(bin, lane, copies), (lane % copies) + bin * copies);
  }
});

test("passes are what serving takes", () => {
  for (const rows of Object.values(INPUTS)) {
    for (const row of rows.slice(0, 20)) {
      for (const copies of model.COPIES) {
        const passes = model.passesOfRow(row, copies);
        for (let step = 0; step < 16; ++step) assert.strictEqual(passes[step], served(row, step, copies));
      }
    }
  }
});

test("32 copies never meet in a bank, whatever the picture", () => {
  for (const rows of Object.values(INPUTS)) {
    assert.ok(rows.every((row) => model.passesOfRow(row, 32).every((passes) => passes === 1)));
  }
});

const passes = (rows, copies) => sum(rows.map((row) => sum(model.passesOfRow(row, copies)))) / rows.length / 16;

test("chapter 04 says how many passes pictures take, and what the ramp's predict", () => {
  const said = source("04-per-thread-bins/README.md").replace(/\s+/g, " ");
  const few = passes(INPUTS.ramp, 1);
  const most = ((132 * 32 * 1.98) / few).toLocaleString("en-US", { maximumFractionDigits: 0 });
  assert.ok(said.includes(`${few} passes in place of one`) && said.includes(`132 x 32 x 1.98 / ${few} = ${most} GB/s at most`), `${few} ${most}`);
  for (const [input, words] of [["uniform", "Random pixels take # passes with one table and # with eight copies"], ["photo", "The photo takes # and #,"]]) {
    const numbers = [1, 8].map((copies) => passes(INPUTS[input], copies).toFixed(1));
    assert.ok(said.includes(words.replace("#", numbers[0]).replace("#", numbers[1])), `${input} ${numbers}`);
  }
});
