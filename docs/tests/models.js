// What the tests of the models share.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const ROOT = path.join(__dirname, "..", "..");

// A file of the repository, such as a kernel that a model is held against.
const source = (file) => fs.readFileSync(path.join(ROOT, file), "utf8");

const sum = (list) => list.reduce((total, value) => total + value, 0);

// Numbers from 0 up to 1, the same ones for the same seed.
function seeded(seed) {
  let state = seed;
  return () => (state = (state * 16807) % 2147483647) / 2147483647;
}

module.exports = { ROOT, source, sum, seeded };
