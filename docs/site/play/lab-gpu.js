// The host programs of lab.html, one for the reader's own GPU through WebGPU, and one that needs none. They compile a chapter's WGSL,
// run a strategy on pixels, and hand back 256 counts, by the same functions. They know nothing of the page.
(function (root) {
  "use strict";

  const { BINS, STRATEGIES, bounded, withGiven, laidOut, sampleOf, trialsOf, looksOf } = labModel;
  const FLAG = 4; // the binding that says that a loop was ended
  const PATIENCE_MS = 30000;
  const COMPILING_MS = 60000;
  const ROUNDED_MS = 20; // a browser's clock may count in tenths of a millisecond
  const MOST_BYTES = 256 * 2 ** 20;
  const TIMED_BYTES = 128 * 2 ** 20; // more than the caches of most GPUs hold
  // Reads all and counts nothing: what the memory can do.
  const READS = `
override GROUP_SIZE: u32;
@group(0) @binding(0) var<storage, read> vectors: array<vec4u>;
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;
@compute @workgroup_size(GROUP_SIZE)
fn read_all(@builtin(global_invocation_id) item: vec3u, @builtin(num_workgroups) groups: vec3u) {
    var sum = vec4u();
    for (var i = item.x; i < arrayLength(&vectors); i += groups.x * GROUP_SIZE) { sum += vectors[i]; }
    if (all(sum == vec4u(1u, 2u, 3u, 4u))) { sums[0] = 1u; }
}`;

  // Something that a reader can do nothing about, or has to: one line.
  class Refused extends Error {}

  // Compiler messages: [{line, column, words}]; line 0 where there is none.
  class DoesNotCompile extends Error {
    constructor(messages) {
      super(messages.map((each) => each.words).join("\n"));
      this.messages = messages;
    }
  }

  class DoesNotEnd extends Error {}

  // Opens the GPU. Raises Refused with the reason.
  async function open() {
    if (!navigator.gpu) {
      throw new Refused(isSecureContext ? "This browser has no WebGPU." : "WebGPU needs a page from disk or over https.");
    }
    const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
    if (!adapter) throw new Refused("WebGPU finds no GPU here: none that it trusts, or it is switched off.");
    const has = adapter.limits;
    const requiredLimits = {
      maxComputeInvocationsPerWorkgroup: has.maxComputeInvocationsPerWorkgroup,
      maxComputeWorkgroupSizeX: has.maxComputeWorkgroupSizeX,
      maxComputeWorkgroupStorageSize: has.maxComputeWorkgroupStorageSize,
      maxStorageBufferBindingSize: Math.min(has.maxStorageBufferBindingSize, MOST_BYTES),
      maxBufferSize: Math.min(has.maxBufferSize, MOST_BYTES),
    };
    const requiredFeatures = adapter.features.has("timestamp-query") ? ["timestamp-query"] : [];
    const device = await adapter.requestDevice({ requiredLimits, requiredFeatures });
    const info = adapter.info || {};
    const name = info.description || [info.vendor, info.architecture].filter(Boolean).join(" ") || "a GPU without a name";
    const software = Boolean(info.isFallbackAdapter || adapter.isFallbackAdapter) || /swiftshader|llvmpipe|software|basic render/i.test(name);
    return new Gpu(device, { name, software });
  }

  class Gpu {
    constructor(device, about) {
      Object.assign(this, { device, about, isLost: "", compiled: new Map(), times: 3 }); // that a run is repeated, to see whether it changes
      device.lost.then((lost) => { this.isLost = lost.message || lost.reason; });
      const storage = (binding, type) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type } });
      this.layout = device.createBindGroupLayout({ entries: [storage(0, "read-only-storage"), storage(1, "uniform"),
        storage(2, "storage"), storage(3, "storage"), storage(FLAG, "storage")] });
      this.pipelineLayout = device.createPipelineLayout({ bindGroupLayouts: [this.layout] });
      this.canTime = device.features.has("timestamp-query");
    }

    get most() {
      const { maxComputeInvocationsPerWorkgroup: items, maxComputeWorkgroupSizeX: across, maxComputeWorkgroupStorageSize: bytes,
        maxStorageBufferBindingSize: pixels } = this.device.limits;
      return { groupSize: Math.min(items, across), copies: Math.min(32, Math.floor(bytes / (4 * BINS))), pixels };
    }

    // The strategy's kernels, compiled; `asWritten` without a bound to the loops. Raises DoesNotCompile.
    async compile(strategy, code, groupSize, { copies = 32, asWritten = false } = {}) {
      const { device } = this;
      const key = [strategy, groupSize, copies, asWritten, code].join("\n");
      if (this.compiled.has(key)) return this.compiled.get(key);
      code = withGiven(code, groupSize, Math.min(copies, this.most.copies));
      device.pushErrorScope("validation");
      const original = device.createShaderModule({ code });
      const { messages } = await this.within(original.getCompilationInfo());
      await device.popErrorScope();
      const refused = messages.filter((each) => each.type === "error");
      if (refused.length > 0) throw new DoesNotCompile(refused.map((each) => ({ line: each.lineNum, column: each.linePos, words: each.message })));
      if (groupSize > this.most.groupSize) throw new Refused(`Groups of ${groupSize} are more than this GPU has: ${this.most.groupSize}.`);
      const built = (module) => Promise.all(STRATEGIES[strategy].kernels.map((entryPoint) =>
        device.createComputePipelineAsync({ layout: this.pipelineLayout, compute: { module, entryPoint } })));
      const withBounds = bounded(code, FLAG);
      try {
        device.pushErrorScope("validation");
        const module = device.createShaderModule({ code: withBounds });
        // A bound that the compiler does not accept (around a barrier, say) is left out: then there is only the patience.
        const isRefused = (await device.popErrorScope()) || asWritten;
        const pipelines = await this.within(built(isRefused ? original : module), COMPILING_MS);
        this.compiled.set(key, { strategy, groupSize, pipelines });
        return this.compiled.get(key);
      } catch (error) {
        if (error instanceof DoesNotEnd) throw error;
        throw new DoesNotCompile([{ line: 0, column: 0, words: error.message }]);
      }
    }

    buffer(size, usage, contents) {
      const buffer = this.device.createBuffer({ size: Math.max(16, Math.ceil(size / 16) * 16), usage: usage | GPUBufferUsage.COPY_DST });
      if (contents) this.device.queue.writeBuffer(buffer, 0, contents);
      return buffer;
    }

    // What a strategy reads and writes, for these pixels and this launch. To be destroyed.
    prepare(input, { strategy, groupSize }, groups) {
      const { turns, bound } = laidOut(input, strategy, { groups, groupSize });
      if (bound[0].byteLength > this.most.pixels) throw new Refused(`${input.pixels.length} pixels are more than this GPU gives a page.`);
      const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC;
      const buffers = [...bound, new Uint32Array([0, turns, 0, 0])].map((words, binding) =>
        this.buffer(words.byteLength, binding === 1 ? GPUBufferUsage.UNIFORM : usage, words));
      const bindings = this.device.createBindGroup({ layout: this.layout, entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })) });
      return { buffers, bindings, groups, destroy: () => buffers.forEach((buffer) => buffer.destroy()) };
    }

    // Zeroes and counts: what is timed.
    encode(encoder, { strategy, pipelines }, prepared) {
      for (const binding of STRATEGIES[strategy].zeroed) encoder.clearBuffer(prepared.buffers[binding]);
      const pass = encoder.beginComputePass();
      pass.setBindGroup(0, prepared.bindings);
      for (const pipeline of pipelines) {
        pass.setPipeline(pipeline);
        pass.dispatchWorkgroups(prepared.groups);
      }
      pass.end();
    }

    // The times of runs by the GPU's clock, in milliseconds: {median, min, max, runs}. A browser rounds that clock, so each
    // time is that of so many runs in a row that it matters little.
    async time(input, compiled, groups) {
      const { device } = this;
      const prepared = this.prepare(input, compiled, groups);
      const queries = device.createQuerySet({ type: "timestamp", count: 2 });
      const stamps = device.createBuffer({ size: 16, usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC });
      const back = device.createBuffer({ size: 16, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
      const once = async (inARow) => {
        const encoder = device.createCommandEncoder();
        encoder.beginComputePass({ timestampWrites: { querySet: queries, beginningOfPassWriteIndex: 0 } }).end();
        for (let run = 0; run < inARow; ++run) this.encode(encoder, compiled, prepared);
        encoder.beginComputePass({ timestampWrites: { querySet: queries, endOfPassWriteIndex: 1 } }).end();
        encoder.resolveQuerySet(queries, 0, 2, stamps, 0);
        encoder.copyBufferToBuffer(stamps, 0, back, 0, 16);
        device.queue.submit([encoder.finish()]);
        await this.within(back.mapAsync(GPUMapMode.READ));
        const [first, last] = new BigUint64Array(back.getMappedRange().slice());
        back.unmap();
        return Number(last - first) / 1e6 / inARow;
      };
      let inARow = 1;
      for (let ms = await once(1); ms * inARow < root.labGpu.ROUNDED_MS && inARow < 1024; ms = await once(inARow)) inARow *= 2;
      const timing = await measure(() => once(inARow));
      [queries, stamps, back, prepared].forEach((each) => each.destroy());
      return timing;
    }

    // The same for reading all, in the best of some launches.
    async readCeiling(pixels) {
      let best = null;
      for (const groups of [256, 1024, 4096, 16384]) {
        if (best && groups * 256 * 16 > pixels.length) break; // of its work-items some would read nothing
        const compiled = await this.compile("read ceiling", READS, 256, { asWritten: true });
        const timing = await this.time({ pixels, width: pixels.length }, compiled, groups);
        if (!best || timing.median < best.median) best = timing;
      }
      return best;
    }

    // The 256 counts of one run, after the poison. Raises DoesNotEnd, DoesNotCompile, Refused.
    async count(input, compiled, groups) {
      const { device } = this;
      const prepared = this.prepare(input, compiled, groups);
      device.pushErrorScope("validation");
      const encoder = device.createCommandEncoder();
      this.encode(encoder, compiled, prepared);
      const [,, from] = prepared.buffers;
      const { size } = from;
      const back = device.createBuffer({ size: size + 4, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
      encoder.copyBufferToBuffer(from, 0, back, 0, size);
      encoder.copyBufferToBuffer(prepared.buffers[FLAG], 0, back, size, 4);
      device.queue.submit([encoder.finish()]);
      const error = await device.popErrorScope();
      if (error) throw new DoesNotCompile([{ line: 0, column: 0, words: error.message }]);
      await this.within(back.mapAsync(GPUMapMode.READ));
      const rows = new Uint32Array(back.getMappedRange().slice());
      const wasEnded = rows[size / 4] > 0;
      back.destroy();
      prepared.destroy();
      if (wasEnded) throw new DoesNotEnd();
      return rows.subarray(0, BINS);
    }

    // Waits, but not for ever: what does not end is left behind together with its device.
    async within(promise, patience = PATIENCE_MS) {
      let timer = 0;
      const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new DoesNotEnd()), patience); });
      const lost = this.device.lost.then(() => { throw new DoesNotEnd(); });
      try {
        return await Promise.race([promise, late, lost]);
      } catch (error) {
        if (!(error instanceof DoesNotEnd) && !this.isLost) throw error;
        this.device.destroy();
        throw new DoesNotEnd();
      } finally {
        clearTimeout(timer);
      }
    }
  }

  // Compiles and counts. Raises what `compile` and `count` raise.
  async function ran(device, strategy, code, input, { groups, groupSize, copies = 1 }) {
    const compiled = await device.compile(strategy, code, groupSize, { copies });
    const actual = [];
    for (let time = 0; time < device.times; ++time) actual.push(await device.count(input, compiled, groups));
    return { ...input, expected: labModel.serial(input.pixels), actual, launch: { groups, groupSize, copies: Math.min(copies, device.most.copies) } };
  }

  async function measure(call) {
    const times = [];
    while (times.length < 9) times.push(await call());
    times.sort((a, b) => a - b);
    return { median: times[4], min: times[0], max: times.at(-1), runs: times.length };
  }

  // ---- without a GPU: lab-wgsl.js in a worker, where there is none, or where the reader wants to say who goes next ----

  const MOST = { pixels: 2 ** 18, groupSize: 1024, copies: 32 };

  function inWorker(make, makeWatch) {
    const wgsl = make();
    const watch = makeWatch(wgsl);
    onmessage = ({ data: { task, code, kernels, bound, groups, order, turns, ...more } }) => {
      try {
        if (task) return void postMessage(watch[task]({ code, kernels, bound, groups, ...more }));
        const program = wgsl.compile(code);
        kernels.forEach((kernel) => wgsl.launch(program, kernel, bound, groups, order, Math.random, turns));
        postMessage({ bound });
      } catch (error) {
        const { line = 0, column = 0, message } = error;
        postMessage(error instanceof wgsl.Endless ? { isEndless: true } : { refused: { line, column, words: message } });
      }
    };
  }

  // From its text, for a page from the disk may not read a worker's file.
  function started() {
    const address = URL.createObjectURL(new Blob([`(${inWorker})(${labWgsl}, ${labWatch})`]));
    const worker = new Worker(address);
    URL.revokeObjectURL(address);
    return worker;
  }

  const asked = (worker, message) => new Promise((done) => Object.assign(worker, { onmessage: ({ data }) => done(data) }).postMessage(message));

  // What a kernel does in a launch (lab-predict.js), or the reason that the page cannot tell.
  async function counted(strategy, code, pixels, launch, size, worker = started()) {
    const sample = sampleOf(pixels, strategy, code, launch);
    const answer = pixels.length > 0 ? await asked(worker, { task: "count", ...sample }) : {};
    worker.terminate();
    return answer.counted ? labPredict.countsOf(answer, sample, size) : { reason: answer.refused?.words ?? (answer.isEndless ? "it does not end" : "there are no pixels") };
  }

  // The same of a run; and before, to `told`, what is wrong in it: {fault, story} (lab-watch.js). Another run ends it.
  let watcher = null;
  async function watch(strategy, code, pixels, launch, told) {
    watcher?.terminate();
    const worker = watcher = started();
    const trials = trialsOf(strategy, code);
    const { fault = {}, story } = await asked(worker, { task: "why", looks: looksOf(strategy, code, Math.min(launch.copies, 4)), trials });
    told({ fault, story: story?.orders ? { ...story, ...trials[story.place] } : null });
    return counted(strategy, code, pixels, launch, undefined, worker);
  }

  class Interpreter {
    constructor(order) {
      // `times`: that a run is made; the other orders do the same each time.
      Object.assign(this, { order, worker: null, most: MOST, times: order === "random" ? 3 : 1 });
    }

    compile(strategy, code, groupSize, { copies }) {
      return { strategy, groupSize, code: withGiven(code, groupSize, copies) };
    }

    // The 256 counts of one run. Raises DoesNotEnd, DoesNotCompile.
    async count(input, { strategy, groupSize, code }, groups) {
      const { kernels, zeroed } = STRATEGIES[strategy];
      const { turns, bound } = laidOut(input, strategy, { groups, groupSize });
      for (const binding of zeroed) bound[binding].fill(0);
      this.worker ??= started();
      const answer = await asked(this.worker, { code, kernels, bound, groups, order: this.order, turns });
      if (answer.isEndless) throw new DoesNotEnd();
      if (answer.refused) throw new DoesNotCompile([answer.refused]);
      return answer.bound[2];
    }
  }

  root.labGpu = { TIMED_BYTES, ROUNDED_MS, Refused, DoesNotCompile, DoesNotEnd, open, ran, counted, watch, Interpreter };
})(globalThis);
