// The model behind docs/site/play/walk.html, held against the kernels, and against what chapter 02 says of the walks.
"use strict";

const assert = require("node:assert");
const { test } = require("node:test");
const { source } = require("./models.js");
const model = require("../site/play/walk-model.js");

const COUNT = 2048;

test("the loops are those of the kernels", () => {
  for (const [file, line] of [
    ["02-global-atomics/histogram.cl", "for (ulong i = get_global_id(0); i < count; i += get_global_size(0))"],
    ["02-global-atomics/histogram.cl", "const ulong stretch = (count + get_global_size(0) - 1) / get_global_size(0);"],
    ["02-global-atomics/histogram.cl", "const ulong end = min((get_global_id(0) + 1) * stretch, count);"],
    ["02-global-atomics/histogram.cl", "for (ulong i = get_global_id(0) * stretch; i < end; ++i)"],
    ["05-launch-tuning/histogram.cl", "for (ulong x = head + 16 * get_global_id(0); x < tail; x += 16 * get_global_size(0))"],
  ]) assert.ok(source(file).includes(line), `${file}: ${line}`);
  assert.deepStrictEqual(model.placesOf("interleaved", 3, 8, 20), [[3, 1], [11, 1], [19, 1]]);
  assert.deepStrictEqual(model.placesOf("blocked", 7, 8, 20), []);
  assert.deepStrictEqual(model.placesOf("blocked", 6, 8, 20), [[18, 1], [19, 1]]);
  assert.deepStrictEqual(model.placesOf("vectors", 1, 4, 128), [[16, 16], [80, 16]]);
});

test("each walk reads each byte once, in either order", () => {
  for (const walk of model.WALKS) {
    for (const order of model.ORDERS) {
      for (const items of [8, 32, 64]) {
        const read = new Array(COUNT).fill(0);
        for (const { first, bytes } of model.requestsOf(walk, order, items, COUNT).flat()) {
          for (let at = first; at < first + bytes; ++at) read[at] += 1;
        }
        assert.ok(read.every((times) => times === 1), `${walk} ${order} ${items}`);
      }
    }
  }
});

test("what the walks cost, with each cache", () => {
  const cost = (walk, order, items) => ["none", "small", "large"].map((cache) => model.costOf(model.requestsOf(walk, order, items, COUNT), order, cache).comes);
  const requests = (walk, order, items) => model.requestsOf(walk, order, items, COUNT).length;
  assert.deepStrictEqual(["interleaved", "blocked", "vectors"].map((walk) => requests(walk, "gpu", 32)), [64, 64, 4]);
  assert.deepStrictEqual(cost("interleaved", "gpu", 32), [64, 64, 64]);
  assert.deepStrictEqual(cost("blocked", "gpu", 32), [2048, 64, 64]);
  assert.deepStrictEqual(cost("vectors", "gpu", 32), [64, 64, 64]);
  assert.deepStrictEqual(cost("blocked", "cpu", 32), [2048, 32, 32]);
  // Chapter 02: with a stride of a line or more each pixel is a new line.
  assert.deepStrictEqual(cost("interleaved", "cpu", 64), [2048, 2048, 32]);
  assert.deepStrictEqual(cost("interleaved", "cpu", 32), [2048, 1024, 32]);
});
