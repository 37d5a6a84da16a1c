// Which banks of local memory (CUDA: shared memory) the 32 lanes of a warp want while they count: the model behind
// banks.html, and chapter 04's `lane-bins` with 1 to 32 copies of the table.
//
// A lane has 16 pixels that lie side by side, and counts one of them in each step. In a step each bank serves one word
// in a pass; the step takes as many passes as the bank with the most to do. Lanes that want the same word share a pass: so
// it is for reads, and on an H100 for additions of 1, which are added up before they reach the bank (chapter 04:
// `ATOMS.POPC.INC`), but for no other additions.
(function (root) {
  "use strict";

  const LANES = 32;
  const BANKS = 32;
  const PIXELS = 16; // of each lane: what one load brings
  const COPIES = [1, 2, 8, 32];

  // Where bin b of a lane's copy is: histogram.cl's `own[b * COPIES]`, where own is `table + item % COPIES`.
  function wordOf(bin, lane, copies) {
    return bin * copies + (lane % copies);
  }

  // One step of a row of LANES * PIXELS pixels: for each bank the words that are wanted of it, each with its lanes; and the passes that it all takes.
  function countStep(row, step, copies) {
    const banks = Array.from({ length: BANKS }, () => []);
    for (let lane = 0; lane < LANES; ++lane) {
      const bin = row[lane * PIXELS + step];
      const word = wordOf(bin, lane, copies);
      const bank = banks[word % BANKS];
      const found = bank.find((each) => each.word === word);
      if (found) found.lanes.push(lane);
      else bank.push({ word, bin, lanes: [lane] });
    }
    const passes = banks.map((bank) => bank.length);
    return { banks, passesOfBank: passes, passes: Math.max(...passes) };
  }

  // The passes of each of the row's steps.
  function passesOfRow(row, copies) {
    return Array.from({ length: PIXELS }, (_, step) => countStep(row, step, copies).passes);
  }

  const api = { LANES, BANKS, PIXELS, COPIES, wordOf, countStep, passesOfRow };
  if (typeof module === "object") module.exports = api;
  else root.banksModel = api;
})(globalThis);
