// Runs WGSL without a GPU: a kernel becomes JavaScript, in which each work-item is a generator that stops before every access to
// memory that others share. So work-items take turns in any order, and a race shows where the order has one.
//
// It knows what the kernels of the chapters need and a little more: u32, bool, arrays, the vectors and structures that a host
// passes, atomics, barriers. Of anything else it says that it does not know it; and it refuses less than a compiler does.
//
// All of it is one function that needs nothing from outside, so that a page can hand its text to a worker.
function labWgsl() {
  "use strict";

  // What a compiler would say: a token's line and column, and words.
  class CodeError extends Error {
    constructor({ line, column }, words) {
      super(words);
      Object.assign(this, { line, column });
    }
  }
  class Endless extends Error {}

  const LEFT = 0xa5a5a5a5; // in a group's memory at first: WGSL zeroes it, but OpenCL and CUDA do not
  const RESIDENT = 8; // groups that run at the same time where the order is random
  const UNIFORM = "'workgroupBarrier' must only be called from uniform control flow";
  const LANES = { alone: 1, together: 32, random: 0 };

  // ---- words -------------------------------------------------------------------------------------

  function tokensOf(code) {
    const WORD = /(\s+|\/\/[^\n]*|\/\*[^]*?\*\/)|(0[xX][\da-fA-F]+u?|\d+u?(?![.\w]))|([A-Za-z_]\w*)|(->|<<=|>>=|<<|>>|[<>=!+\-*/%&|^]=|&&|\|\||\+\+|--|[-+*/%&|^!~<>=(){}[\];:,.@])/y;
    const tokens = [];
    let line = 1;
    let start = 0; // of the line
    while (WORD.lastIndex < code.length) {
      const at = WORD.lastIndex;
      const place = { line, column: at - start + 1 };
      const found = WORD.exec(code);
      if (!found) throw new CodeError(place, `'${/^[\w.]+|^[^]/.exec(code.slice(at))[0]}' is not known here (this page's interpreter has whole numbers without a sign only)`);
      const [text, blank, number, name] = found;
      if (!blank) tokens.push({ text, kind: number ? "number" : name ? "name" : "sign", index: tokens.length, ...place });
      for (const [index, letter] of [...text].entries()) {
        if (letter === "\n") [line, start] = [line + 1, at + index + 1];
      }
    }
    tokens.push({ text: "the end of the kernel", kind: "end", index: tokens.length, line, column: code.length - start + 1 });
    return tokens;
  }

  // ---- from a kernel to JavaScript -----------------------------------------------------------------

  // Types: "u32", "bool", "int" (a number that may be either's), "nothing", or an object. All others are unknown.
  const nameOf = (type) => type.kind ?? type;
  const AND_THEN = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="], ["<", ">", "<=", ">="], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]];
  const COMPARES = [...AND_THEN[5], ...AND_THEN[6]];
  const MEANS = { "*": (a, b) => `(Math.imul(${a}, ${b}) >>> 0)`, "/": (a, b) => `over(${a}, ${b})`, "%": (a, b) => `rest(${a}, ${b})`, ">>": (a, b) => `(${a} >>> ${b})` };
  const ATOMICS = ["Load", "Store", "Add", "Sub", "Max", "Min", "And", "Or", "Xor", "Exchange"];
  const FUNCTIONS = { min: ["u32", "u32"], max: ["u32", "u32"], select: ["u32", "u32", "bool"] }; // and what they are given
  const BUILTINS = ["local_invocation_index", "local_invocation_id", "global_invocation_id", "workgroup_id", "num_workgroups"];

  // In words of 32 bits.
  const sizeOf = (type) => (type.kind === "vec" ? 2 * Math.ceil(type.size / 2) : type.kind === "array" ? type.count * sizeOf(type.of) : 1);

  // The kernel's program: what `launch` runs; with `isWatched` work-items stop at loads that nobody else writes, too. Raises CodeError.
  function compile(code, isWatched = false) {
    const tokens = tokensOf(code);
    let next = 0;
    let count = 0; // of names that were made
    let scopes = [new Map()];
    let returned = "nothing"; // by the function that is being written: its type
    let hasOwn = false; // arrays of a work-item

    const peek = () => tokens[Math.min(next, tokens.length - 1)];
    const is = (text) => peek().text === text && peek().kind !== "end";
    const take = () => tokens[next++];
    const fail = (words, token = peek()) => { throw new CodeError(token, words); };
    const unknown = (what, token) => fail(`this page's interpreter does not know ${what}`, token);

    function accept(text) {
      if (text === ">" && peek().text.length > 1 && peek().text[0] === ">") { // of two that close
        tokens[next] = { ...peek(), text: peek().text.slice(1) };
        return true;
      }
      if (!is(text)) return false;
      next += 1;
      return true;
    }

    // What is yielded at a stop: below zero, and the further down in the text, the lower.
    const sites = {};
    const names = []; // of the bindings
    function stop({ index, line }, what, isSecond = 0) {
      const site = -2 * index - 1 - isSecond;
      sites[site] = { line, what };
      return site;
    }

    const expect = (text) => accept(text) || fail(`expected '${text}', and here is '${peek().text}'`);
    const nameHere = () => (peek().kind === "name" ? take() : fail(`expected a name, and here is '${peek().text}'`));

    // What `read` reads, with commas between, up to where it ends.
    function list(end, read) {
      const found = [];
      while (!is(end)) {
        found.push(read());
        if (!accept(",")) break;
      }
      expect(end);
      return found;
    }

    function find(token) {
      const scope = scopes.findLast((each) => each.has(token.text));
      return scope ? scope.get(token.text) : fail(`unresolved value '${token.text}'`, token);
    }

    function declare(token, what) {
      if (scopes.at(-1).has(token.text)) fail(`redeclaration of '${token.text}'`, token);
      scopes.at(-1).set(token.text, what);
    }

    const fresh = (name) => `${name}$${++count}`;

    function type() {
      const token = nameHere();
      const { text } = token;
      if (text === "u32" || text === "bool") return text;
      const [, size, isShort] = /^vec([234])(u?)$/.exec(text) || [];
      if (size) {
        if (!isShort && !(accept("<") && accept("u32") && accept(">"))) unknown("vectors of anything but u32", token);
        return { kind: "vec", size: Number(size) };
      }
      if (text === "atomic" || text === "array") {
        expect("<");
        const of = type();
        const many = accept(",") ? constant(sum()) : null;
        expect(">");
        return { kind: text, of, count: many };
      }
      return scopes[0].get(text)?.struct ?? unknown(`the type '${text}'`, token);
    }

    // A number that is known before anything runs.
    function constant(value) {
      try {
        return new Function(...Object.keys(TOOLS), `"use strict"; return ${value.js}`)(...Object.values(TOOLS));
      } catch {
        return fail("this has to be a constant", value.token);
      }
    }

    // ---- values: {js, type, token}, and a place where they stand: {memory, offset, shared}, or {name} of a variable ----

    // What stands there; where others may write, the work-item stops before it reads.
    function loaded(value) {
      if (value.type.kind === "atomic") fail("an atomic is read by atomicLoad", value.token);
      if (!value.place?.memory) return value;
      const { memory, offset, shared } = value.place;
      if (value.type !== "u32" && value.type.kind !== "vec") unknown(`a copy of what is '${nameOf(value.type)}' in memory`, value.token);
      const read = value.type === "u32" ? `${memory}[${offset}]` : `load(${memory}, ${offset}, ${value.type.size})`;
      return { ...value, place: null, js: shared ? `((yield ${stop(value.token, "load")}), ${read})` : read };
    }

    // Of a value what stands where `wanted` is needed.
    function as(wanted, value, what = "this") {
      const have = loaded(value);
      if (nameOf(wanted) === nameOf(have.type) && wanted.size === have.type.size) return have;
      if (have.type === "int" && wanted === "u32") return { ...have, type: wanted };
      return fail(`${what} is '${nameOf(have.type)}', and '${nameOf(wanted)}' is needed`, value.token);
    }

    function combined(sign, token, left, right) {
      const [a, b] = [loaded(left), loaded(right)];
      const ofBool = ["&&", "||"].includes(sign) || (["==", "!="].includes(sign) && a.type === "bool");
      const fits = ({ type: each }) => (ofBool ? each === "bool" : each === "u32" || each === "int");
      if (!fits(a) || !fits(b)) fail(`no '${sign}' of '${nameOf(a.type)}' and '${nameOf(b.type)}' is known here`, token);
      const isTruth = ofBool || COMPARES.includes(sign);
      const js = MEANS[sign]?.(a.js, b.js) ?? `(${a.js} ${sign} ${b.js})`;
      return { js: isTruth || MEANS[sign] ? js : `(${js} >>> 0)`, type: isTruth ? "bool" : a.type === "int" ? b.type : a.type, token };
    }

    function expression(level = 0) {
      if (level === AND_THEN.length) return unary();
      let value = expression(level + 1);
      while (AND_THEN[level].includes(peek().text)) {
        const token = take();
        value = combined(token.text, token, value, expression(level + 1));
      }
      return value;
    }

    // What may stand between < and >, where those signs are none of its own.
    const sum = () => expression(AND_THEN.findIndex((signs) => signs.includes("+")));

    function unary() {
      const token = peek();
      if (accept("&")) {
        const { type: of, place } = ending(primary());
        return { type: { kind: "address", of }, place, token };
      }
      if (accept("!")) return { js: `(!${as("bool", unary()).js})`, type: "bool", token };
      if (accept("~")) return { js: `(~${as("u32", unary()).js} >>> 0)`, type: "u32", token };
      if (is("-") || is("*")) unknown(`'${token.text}' before a value`, token);
      return ending(primary());
    }

    function ending(value) {
      for (;;) {
        const token = peek();
        if (accept("[")) {
          const index = as("u32", expression(), "an index").js;
          expect("]");
          value = indexed(value, index, token);
        } else if (accept(".")) {
          value = member(value, nameHere());
        } else return value;
      }
    }

    function indexed(value, index, token) {
      if (value.type.kind === "vec") return part(value, `within(${index}, ${value.type.size})`, token);
      if (value.type.kind !== "array") fail(`'${nameOf(value.type)}' has no elements`, token);
      const step = sizeOf(value.type.of);
      const elements = value.type.count ?? `${value.place.memory}.length / ${step}`;
      return { type: value.type.of, token: value.token, place: { ...value.place, offset: `within(${index}, ${elements}) * ${step}` } };
    }

    function member(value, name) {
      const at = value.type.kind === "vec" ? "xyzw".slice(0, value.type.size).indexOf(name.text) : value.type.fields?.indexOf(name.text) ?? -1;
      return at < 0 ? unknown(`'.${name.text}' of '${nameOf(value.type)}'`, name) : part(value, at, name);
    }

    // A number of a vector or a structure.
    function part(value, at, token) {
      if (value.place?.memory) return { type: "u32", token, place: { ...value.place, offset: `${value.place.offset} + ${at}` } };
      return { js: `${value.js}[${at}]`, type: "u32", token };
    }

    function primary() {
      const token = take();
      const { text } = token;
      if (token.kind === "number") return { js: String(Number(text.replace("u", ""))), type: text.endsWith("u") ? "u32" : "int", token };
      if (text === "(") {
        const value = expression();
        expect(")");
        return value;
      }
      if (token.kind !== "name") fail(`expected a value, and here is '${text}'`, token);
      if (text === "true" || text === "false") return { js: text, type: "bool", token };
      if (accept("(")) return call(token, list(")", expression));
      const what = find(token);
      return what.signature ? fail(`'${text}' is a function: where are its arguments?`, token) : { ...what, token };
    }

    function call(token, given) {
      const name = token.text;
      const what = scopes[0].get(name);
      const all = (types) => {
        if (given.length !== types.length) fail(`'${name}' has ${types.length} argument${types.length === 1 ? "" : "s"}, and here are ${given.length}`, token);
        return given.map((value, place) => as(types[place], value, `argument ${place + 1}`).js).join(", ");
      };
      if (what?.signature) {
        const js = `${what.js}(${all(what.signature.map((argument) => argument.type))})`;
        return { js: what.waits ? `(yield* ${js})` : js, type: what.type, token };
      }
      if (FUNCTIONS[name]) return { js: `${name}(${all(FUNCTIONS[name])})`, type: "u32", token };
      if (/^(workgroup|storage)Barrier$/.test(name)) return { js: `(yield ${token.line}${all([])})`, type: "nothing", token };
      const [isAtomic, kind] = /^atomic(\w+)$/.exec(name) || [];
      if (!ATOMICS.includes(kind)) {
        unknown(`'${name}': it is no function of the kernel${isAtomic ? `, and WGSL's atomics are ${ATOMICS.map((each) => `atomic${each}`).join(", ")}` : ""}`, token);
      }
      const target = given.shift();
      if (target?.type.of?.kind !== "atomic") fail(`'${name}' needs the address of an atomic, such as &histogram[bin]`, token);
      const value = kind === "Load" ? all([]) || 0 : all(["u32"]);
      const does = { Load: "load", Store: "store", Add: value === "1" ? "add one" : "atomic" }[kind] ?? "atomic";
      // All that it is given is worked out before the stop; then it is one step.
      return { js: `${name}(${target.place.memory}, ${target.place.offset}, ${value}, yield ${stop(token, does)})`, type: kind === "Store" ? "nothing" : "u32", token };
    }

    // ---- statements ------------------------------------------------------------------------------------

    function block() {
      expect("{");
      scopes.push(new Map());
      let js = "";
      while (!is("}")) {
        if (peek().kind === "end") fail("expected '}'");
        js += statement();
      }
      scopes.pop();
      expect("}");
      return `{ ${js}}\n`;
    }

    const test = (end) => (is(end) ? "true" : as("bool", expression()).js);

    function statement() {
      const token = peek();
      if (accept(";")) return "";
      if (is("{")) return block();
      if (accept("if")) return decision();
      if (accept("for")) {
        expect("(");
        scopes.push(new Map());
        const first = is(";") ? "" : simple();
        expect(";");
        const condition = test(";");
        expect(";");
        const update = is(")") ? "" : simple();
        expect(")");
        const js = `{ ${first}; for (; turn() && ${condition}; ${update}) ${block()}}\n`;
        scopes.pop();
        return js;
      }
      if (accept("while") || accept("loop")) return `while (turn() && ${test("{")}) ${block()}`;
      if (["switch", "continuing", "const_assert", "discard"].includes(token.text)) unknown(`'${token.text}'`, token);
      let js = "";
      if (accept("break") || accept("continue")) js = token.text;
      else if (accept("return")) js = is(";") ? "return" : `return ${as(returned, expression(), "what is returned").js}`;
      else js = simple();
      expect(";");
      return `${js};\n`;
    }

    const decision = () => `if (${test("{")}) ${block()}${accept("else") ? `else ${accept("if") ? decision() : block()}` : ""}`;

    // What may also stand in the head of a loop.
    function simple() {
      const token = peek();
      if (accept("var") || accept("let") || accept("const")) return declaration(token.text);
      const target = unary();
      const sign = take();
      if (sign.text === "++" || sign.text === "--") return assigned(target, sign, sign.text[0], { js: "1", type: "u32" });
      if (/^([-+*/%&|^]|<<|>>)?=$/.test(sign.text)) return assigned(target, sign, sign.text.slice(0, -1), expression());
      next -= 1;
      if (!target.js || target.place) fail(`expected '=' or a call, and here is '${sign.text}'`, sign);
      return target.js;
    }

    function declaration(kind) {
      if (is("<")) unknown(`'${kind}<...>' in a function`);
      const name = nameHere();
      let wanted = accept(":") ? type() : null;
      const first = accept("=") ? loaded(expression()) : null;
      if (!first && (kind !== "var" || !wanted)) fail(`what is '${name.text}' at first?`, name);
      wanted ??= first.type;
      if (wanted === "int") unknown(`numbers with a sign: is '${first.js}u' meant?`, first.token);
      if (wanted === "nothing") fail("this call has no result", first.token);
      const js = fresh(name.text);
      if (wanted.kind === "array") {
        declare(name, { type: wanted, place: { memory: js, offset: "0", shared: false } });
        hasOwn = true;
        return `const ${js} = new Uint32Array(${sizeOf(wanted)})`;
      }
      if (wanted.kind && !first) unknown(`'${nameOf(wanted)}' without a value`, name);
      declare(name, { js, type: wanted, place: { name: js, fixed: kind !== "var" } });
      return `let ${js} = ${first ? as(wanted, first).js : 0}`;
    }

    // In memory that others share, += reads in one step and writes in another.
    function assigned({ type: wanted, token, place, js }, at, sign, value) {
      if (!place || place.fixed) fail("nothing can be assigned to this", token);
      if (wanted.kind === "atomic") fail("cannot assign to an atomic: atomicStore or atomicAdd does it", token);
      if (place.isRead) fail("this memory can be read only", token);
      const changed = (old, other) => as(wanted, sign ? combined(sign, at, { js: old, type: wanted }, other) : other).js;
      if (place.name) return `${place.name} = ${changed(js, value)}`;
      if (wanted !== "u32") unknown(`how '${nameOf(wanted)}' is written`, token);
      const given = `${place.memory}, ${place.offset}, ${as("u32", value).js}`;
      const act = `(old, more) => ${changed("old", { js: "more", type: "u32" })}`;
      if (!place.shared) return `alter(${given}, ${sign ? act : "(old, more) => more"})`;
      if (sign) stop(token, "load");
      const site = stop(token, "store", 1);
      return sign ? `yield* alterInSteps(${given}, ${act}, ${site})` : `alter(${given}, (old, more) => more, yield ${site})`;
    }

    // ---- what stands outside of functions ----------------------------------------------------------------

    function attributes() {
      const found = {};
      while (accept("@")) {
        const name = nameHere().text;
        found[name] = true;
        if (accept("(")) found[name] = list(")", name === "builtin" ? nameHere : () => constant(expression()));
      }
      return found;
    }

    const functions = [];
    const groupMemory = []; // [name, words]

    function variable({ binding }) {
      expect("<");
      const space = nameHere();
      const access = accept(",") ? nameHere().text : "read";
      expect(">");
      if (!["storage", "uniform", "workgroup"].includes(space.text)) unknown(`'var<${space.text}>'`, space);
      const name = nameHere();
      expect(":");
      const wanted = type();
      if (is("=")) unknown("a first value here");
      expect(";");
      const isRead = space.text !== "workgroup" && access === "read";
      const js = space.text === "workgroup" ? fresh(name.text) : `bound[${binding?.[0] ?? fail("it has no @binding", name)}]`;
      if (space.text === "workgroup") groupMemory.push([js, sizeOf(wanted), name.text]);
      else names[binding[0]] ??= name.text;
      const isShared = !isRead || (isWatched && space.text === "storage");
      declare(name, { type: wanted, place: { memory: js, offset: "0", shared: isShared, isRead }, isShared });
    }

    // Of the host's numbers.
    function structure() {
      const name = nameHere();
      expect("{");
      const fields = list("}", () => {
        const field = nameHere();
        expect(":");
        return type() === "u32" ? field.text : unknown("structures of anything but u32", field);
      });
      declare(name, { struct: { kind: "struct", fields } });
    }

    function head(given) {
      const name = nameHere();
      expect("(");
      const signature = list(")", () => {
        const { builtin: [builtin] = [] } = attributes();
        if (builtin && !BUILTINS.includes(builtin.text)) unknown(`'${builtin.text}'`, builtin);
        const argument = { name: nameHere(), builtin };
        expect(":");
        return { ...argument, type: type() };
      });
      const result = accept("->") ? type() : "nothing";
      const what = { js: fresh(name.text), signature, type: result, name: name.text, size: given.workgroup_size, isEntry: Boolean(given.compute), begin: next };
      declare(name, what);
      functions.push(what);
      for (let depth = 0; depth > 0 || what.begin === next; next += 1) { // its body is written when all names are known
        if (peek().kind === "end" || (depth === 0 && !is("{"))) fail(`expected '${depth === 0 ? "{" : "}"}'`);
        depth += { "{": 1, "}": -1 }[peek().text] || 0;
      }
      what.end = next;
    }

    while (peek().kind !== "end") {
      const given = attributes();
      const token = take();
      if (token.text === "const") {
        const name = nameHere();
        const wanted = accept(":") ? type() : null;
        expect("=");
        const value = wanted ? as(wanted, expression()) : expression();
        expect(";");
        declare(name, { js: String(constant(value)), type: value.type });
      } else if (token.text === "var") variable(given);
      else if (token.text === "struct") structure();
      else if (token.text === "fn") head(given);
      else if (token.text !== ";") fail(`expected a declaration, and here is '${token.text}'`, token);
    }

    // A function waits if it has a barrier or touches what others share, or calls one that does.
    for (const _ of functions) { // at most so deep are their calls
      for (const what of functions) {
        what.waits ||= what.isEntry || tokens.slice(what.begin, what.end).some(({ text }) => {
          const used = scopes[0].get(text);
          return /Barrier$/.test(text) || used?.isShared || used?.waits;
        });
      }
    }

    const globals = scopes[0];
    const bodies = functions.map((what) => {
      next = what.begin;
      returned = what.type;
      scopes = [globals, new Map()];
      const names = what.signature.map(({ name, type: wanted }) => {
        const js = fresh(name.text);
        declare(name, { js, type: wanted, place: { name: js, fixed: true } });
        return js;
      });
      return `function${what.waits ? "*" : ""} ${what.js}(${names.join(", ")}) ${block()}`;
    });
    const made = groupMemory.map(([js, words, name]) => `const ${js} = watched("${name}", new Uint32Array(${words}).fill(${LEFT}));\n`);
    const entries = functions.filter((what) => what.isEntry);
    const calls = entries.map(({ name, js, signature }) => `${JSON.stringify(name)}: (ids) => ${js}(${signature.map(({ builtin }) => `ids.${builtin.text}`).join(", ")})`);
    const text = `"use strict"; return () => { ${made.join("")}${bodies.join("")}return { ${calls.join(", ")} }; };`;
    return { text, sites, names, hasOwn, localBytes: 4 * groupMemory.reduce((all, [, words]) => all + words, 0), sizes: Object.fromEntries(entries.map((what) => [what.name, what.size])) };
  }

  // What the JavaScript of a kernel calls.
  const changing = (change) => (memory, at, value) => {
    const old = memory[at];
    memory[at] = change(old, value);
    return old;
  };
  const TOOLS = {
    over: (a, b) => (b === 0 ? a : Math.trunc(a / b)),
    rest: (a, b) => (b === 0 ? 0 : a % b),
    min: Math.min,
    max: Math.max,
    select: (no, yes, isSo) => (isSo ? yes : no),
    within: (index, count) => (index < count ? index : count - 1), // as a GPU's robust access
    load: (memory, at, size) => Array.from({ length: size }, (_, part) => memory[at + part]),
    watched: (_, memory) => memory,
    alter: (memory, at, value, act) => { memory[at] = act(memory[at], value); },
    *alterInSteps(memory, at, value, act, site) {
      yield site + 1;
      const old = memory[at];
      yield site;
      memory[at] = act(old, value);
    },
    atomicLoad: changing((old) => old), atomicStore: changing((_, value) => value), atomicExchange: changing((_, value) => value),
    atomicAdd: changing((old, value) => old + value), atomicSub: changing((old, value) => old - value), atomicMax: changing(Math.max), atomicMin: changing(Math.min),
    atomicAnd: changing((old, value) => old & value), atomicOr: changing((old, value) => old | value), atomicXor: changing((old, value) => old ^ value),
  };

  // ---- work-items, taking turns --------------------------------------------------------------------

  // Runs a kernel on `bound`, an Uint32Array for each binding; `most`: turns of a work-item's loops. Raises Endless, and CodeError at a
  // barrier that not all reach. With `watch` that says who goes next, and is told of groups' memory.
  function launch(program, kernel, bound, groups, order, random, most, watch = null) {
    let now = null; // whose turn it is
    const turn = () => {
      if (++now.turns > most) throw new Endless();
      return true;
    };
    if (!program.sizes[kernel]) throw new CodeError({ line: 0, column: 0 }, `there is no kernel of the name '${kernel}'`);
    const [groupSize] = program.sizes[kernel];
    const tools = { ...TOOLS, ...watch?.tools };
    const make = new Function("bound", "turn", ...Object.keys(tools), program.text)(bound, turn, ...Object.values(tools));

    function groupOf(number) {
      const entry = make()[kernel];
      const workgroup_id = [number, 0, 0];
      return Array.from({ length: groupSize }, (_, item) => ({ at: 0, site: 0, turns: 0, isDone: false, number, item, go: entry({ local_invocation_index: item, workgroup_id, local_invocation_id: [item, 0, 0],
        global_invocation_id: [number * groupSize + item, 0, 0], num_workgroups: [groups, 1, 1] }) }));
    }

    // One step; whether it can go on before others come to where it is.
    function step(item) {
      now = item;
      const { done, value } = item.go.next();
      item.isDone = done;
      item.at = value > 0 ? value : 0;
      item.site = value;
      return !done && !item.at;
    }

    // Where all of a group have come to: whether they can go on.
    function pass(group) {
      const [first] = group;
      const differs = group.find((item) => item.isDone !== first.isDone || item.at !== first.at);
      if (differs) {
        throw new CodeError({ line: first.at || differs.at, column: 1 },
          `${UNIFORM}: here some work-items of a group have come to a barrier, and others have not`);
      }
      return !first.isDone;
    }

    // As many as run in step go on together until they wait or are done; then the next.
    function inTurn(group) {
      do {
        for (let first = 0; first < groupSize; first += LANES[order]) {
          const going = group.slice(first, first + LANES[order]);
          for (let left = going.length; left > 0;) {
            let kept = 0;
            for (let place = 0; place < left; ++place) {
              if (step(going[place])) going[kept++] = going[place];
            }
            left = kept;
          }
        }
      } while (pass(group));
    }

    function anyhow(numbers) {
      const groups = numbers.map(groupOf);
      const waiting = groups.map(() => groupSize); // of how many steps are still to come
      const ready = groups.flatMap((group, of) => group.map((item) => ({ item, of })));
      while (ready.length > 0) {
        const place = Math.floor(random() * ready.length);
        const { item, of } = ready[place];
        if (step(item)) continue;
        ready[place] = ready.at(-1);
        ready.pop();
        waiting[of] -= 1;
        if (waiting[of] > 0 || !pass(groups[of])) continue;
        waiting[of] = groupSize;
        for (const each of groups[of]) ready.push({ item: each, of });
      }
    }

    const all = [...Array(groups).keys()];
    if (watch) watch.run({ all, groupOf, step, pass });
    else if (order !== "random") all.forEach((number) => inTurn(groupOf(number)));
    else for (let first = 0; first < all.length; first += RESIDENT) anyhow(all.slice(first, first + RESIDENT));
  }

  return { CodeError, Endless, LANES, LEFT, UNIFORM, compile, launch };
}

if (typeof module === "object") module.exports = labWgsl;
