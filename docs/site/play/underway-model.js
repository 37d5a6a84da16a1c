// Bytes under way and speed (Little's law): the model behind underway.html.
(function (root) {
  "use strict";

  // GB/s: the bytes under way on all multiprocessors over the time of an answer, up to the ceiling.
  function speed({ items, bytes, loads, units, answerNs, ceiling }) {
    return Math.min(ceiling, (units * items * bytes * loads) / answerNs);
  }

  // The bytes under way on each multiprocessor at which the line bends.
  function bend({ units, answerNs, ceiling }) {
    return (ceiling * answerNs) / units;
  }

  const api = { speed, bend };
  if (typeof module === "object") module.exports = api;
  else root.underwayModel = api;
})(globalThis);
