// The model behind docs/site/play/underway.html, held against the recorded runs.
"use strict";

const assert = require("node:assert");
const { test } = require("node:test");
const model = require("../site/play/underway-model.js");
const data = require("../site/play/data.js");

test("recorded runs lie on the line where few bytes are under way, and never above it", () => {
  for (const { units, answer_ns: answerNs, ceiling, few, points } of data.underWay) {
    assert.ok(points.filter(([bytes]) => bytes <= few).length >= 5);
    for (const [items, gb, , launch] of points) {
      const part = gb / model.speed({ items, bytes: 1, loads: 1, units, answerNs, ceiling });
      const isCountedAtOnce = items <= few && !launch.includes("16 bytes");  // with 16 pixels the counting takes longer
      assert.ok(part < 1.05 && part > (isCountedAtOnce ? 0.95 : 0.45), `${items} bytes: ${part}`);
    }
    // What is twice the bytes of the bend is the ceiling in the model, and three quarters of it when measured.
    const bend = model.bend({ units, answerNs, ceiling });
    for (const [bytes, gb] of points) if (bytes > 2 * bend) assert.ok(gb > 0.74 * ceiling, `${bytes}: ${gb}`);
  }
});

test("bytes are bytes, however they come", () => {
  const device = { units: 132, answerNs: 400, ceiling: 3000 };
  const speed = (items, bytes, loads) => model.speed({ ...device, items, bytes, loads });
  assert.strictEqual(speed(256, 16, 1), speed(1024, 1, 4));
  assert.strictEqual(speed(512, 1, 1), 2 * speed(256, 1, 1));
  assert.strictEqual(speed(2048, 16, 8), 3000);
});
