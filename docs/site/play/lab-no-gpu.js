// In the place of lab-gpu.js where there is no GPU, or where the reader wants to say who goes next: lab-wgsl.js in a worker. The two
// have the same functions, and know nothing of the page.
(function (root) {
  "use strict";

  const { STRATEGIES, withGiven, laidOut } = labModel;
  const { DoesNotCompile, DoesNotEnd } = labGpu;
  const PATIENCE_MS = 60000;
  const MOST_PIXELS = 2 ** 18;
  const MOST_ITEMS = 1024; // of a group
  const MOST_COPIES = 32;

  function inWorker(make) {
    const wgsl = make();
    onmessage = ({ data: { code, kernels, bound, groups, order, turns } }) => {
      try {
        const program = wgsl.compile(code);
        kernels.forEach((kernel) => wgsl.launch(program, kernel, bound, groups, order, Math.random, turns));
        postMessage({ bound });
      } catch (error) {
        const { line = 0, column = 0, message } = error;
        postMessage(error instanceof wgsl.Endless ? { isEndless: true } : { refused: { line, column, words: message } });
      }
    };
  }

  class Interpreter {
    constructor(order) {
      Object.assign(this, { order, isLost: "", worker: null, most: { groupSize: MOST_ITEMS, copies: MOST_COPIES, pixels: MOST_PIXELS } });
      this.about = { name: "no GPU", software: true, lanes: labWgsl().LANES[order] };
      this.times = order === "random" ? 3 : 1; // the other orders do the same each time
    }

    compile(strategy, code, groupSize, { copies = MOST_COPIES } = {}) {
      return { strategy, groupSize, code: withGiven(code, groupSize, copies) };
    }

    // The 256 counts of one run. Raises DoesNotEnd, DoesNotCompile.
    async count(input, { strategy, groupSize, code }, groups) {
      const { kernels, zeroed } = STRATEGIES[strategy];
      const { turns, bound } = laidOut(input, strategy, { groups, groupSize });
      for (const binding of zeroed) bound[binding].fill(0);
      this.worker ??= play.workerOf(`(${inWorker})(${labWgsl})`);
      const answer = await new Promise((done) => {
        const timer = setTimeout(() => done({ isEndless: true, isStuck: true }), PATIENCE_MS);
        this.worker.onmessage = ({ data }) => {
          clearTimeout(timer);
          done(data);
        };
        this.worker.postMessage({ code, kernels, bound, groups, order: this.order, turns });
      });
      if (answer.isStuck) {
        this.worker.terminate();
        this.worker = null;
      }
      if (answer.isEndless) throw new DoesNotEnd();
      if (answer.refused) throw new DoesNotCompile([answer.refused]);
      return answer.bound[2];
    }
  }

  root.labNoGpu = { Interpreter };
})(globalThis);
