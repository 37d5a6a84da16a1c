// Runs WGSL without a GPU: a kernel becomes JavaScript, in which each work-item is a generator that stops before every access to
// memory that others share. So work-items take turns in any order, and a race shows where the order has one.
//
// It knows what the kernels of the chapters need and a little more: u32, i32, bool, vectors of u32, arrays, structures of the
// host's, atomics, barriers. Of anything else it says that it does not know it; and it refuses less than a compiler does.
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
    const WORD = /(\s+|\/\/[^\n]*|\/\*[^]*?\*\/)|(0[xX][\da-fA-F]+[ui]?|\d+[ui]?(?![.\w]))|([A-Za-z_]\w*)|(->|<<=|>>=|<<|>>|[<>=!+\-*/%&|^]=|&&|\|\||\+\+|--|[-+*/%&|^!~<>=(){}[\];:,.@])/y;
    const tokens = [];
    let line = 1;
    let start = 0; // of the line
    while (WORD.lastIndex < code.length) {
      const at = WORD.lastIndex;
      const place = { line, column: at - start + 1 };
      const found = WORD.exec(code);
      if (!found) throw new CodeError(place, `'${/^[\w.]+|^[^]/.exec(code.slice(at))[0]}' is not known here (this page's interpreter has whole numbers only)`);
      const [text, blank, number, name] = found;
      if (!blank) tokens.push({ text, kind: number ? "number" : name ? "name" : "sign", ...place });
      for (const [index, letter] of [...text].entries()) {
        if (letter === "\n") [line, start] = [line + 1, at + index + 1];
      }
    }
    tokens.push({ text: "the end of the kernel", kind: "end", line, column: code.length - start + 1 });
    return tokens;
  }

  // ---- types: "u32", "i32", "bool", "int" (a number of either kind), or an object ------------------

  const isInteger = (type) => ["u32", "i32", "int"].includes(type);
  const isVector = (type) => type.kind === "vec";
  const nameOf = (type) => (typeof type === "string" ? type : { vec: `vec${type.size}<u32>`, atomic: `atomic<${type.of && nameOf(type.of)}>`,
    array: `array<${type.of && nameOf(type.of)}>`, ptr: `&${type.of && nameOf(type.of)}` }[type.kind] || type.name);
  const same = (a, b) => nameOf(a) === nameOf(b);
  const vector = (size) => ({ kind: "vec", size });

  // In words of 32 bits.
  const alignOf = (type) => (isVector(type) ? (type.size === 2 ? 2 : 4) : type.kind === "array" ? alignOf(type.of)
    : type.fields ? Math.max(...type.fields.map((field) => alignOf(field.type))) : 1);
  const upTo = (size, unit) => Math.ceil(size / unit) * unit;
  const stepOf = (type) => upTo(sizeOf(type), alignOf(type));
  const sizeOf = (type) => (isVector(type) ? type.size : type.kind === "array" ? type.count * stepOf(type.of) : type.fields ? type.words : 1);

  // ---- from a kernel to JavaScript -----------------------------------------------------------------

  const AND_THEN = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="], ["<", ">", "<=", ">="], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]];
  const ATOMICS = ["Load", "Store", "CompareExchangeWeak", "Add", "Sub", "Max", "Min", "And", "Or", "Xor", "Exchange"];
  const BUILTINS = ["local_invocation_index", "local_invocation_id", "global_invocation_id", "workgroup_id", "num_workgroups"];

  // The kernel's program: what `launch` runs. Raises CodeError.
  function compile(code) {
    const tokens = tokensOf(code);
    let next = 0;
    let count = 0; // of names that were made
    let scopes = [new Map()];
    // The function that is being written; its `varies`: whether work-items may differ in the value that is read now, in what they do
    // here, for the rest of this loop, and of the function.
    const outside = { varies: {}, temporaries: [] };
    let own = outside;

    const peek = (ahead = 0) => tokens[Math.min(next + ahead, tokens.length - 1)];
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

    const expect = (text) => accept(text) || fail(`expected '${text}', and here is '${peek().text}'`);
    const nameHere = () => (peek().kind === "name" ? take() : fail(`expected a name, and here is '${peek().text}'`));

    function find(token) {
      for (const scope of [...scopes].reverse()) {
        if (scope.has(token.text)) return scope.get(token.text);
      }
      return fail(`unresolved value '${token.text}'`, token);
    }

    function declare(token, what) {
      if (scopes.at(-1).has(token.text)) fail(`redeclaration of '${token.text}'`, token);
      scopes.at(-1).set(token.text, what);
      return what;
    }

    const fresh = (name) => `${name}$${++count}`;
    const temporary = () => (own.temporaries.push(fresh("t")), own.temporaries.at(-1));

    // ---- types ---------------------------------------------------------------------------------------

    function type() {
      const token = nameHere();
      const short = /^vec([234])u$/.exec(token.text);
      if (short) return vector(Number(short[1]));
      if (["u32", "i32", "bool"].includes(token.text)) return token.text;
      if (/^vec[234]$/.test(token.text)) {
        expect("<");
        const of = nameHere();
        if (of.text !== "u32") unknown(`vectors of ${of.text}`, of);
        expect(">");
        return vector(Number(token.text[3]));
      }
      if (token.text === "atomic" || token.text === "array") {
        expect("<");
        const of = type();
        const many = token.text === "array" && accept(",") ? constant(sum()) : null;
        accept(",");
        expect(">");
        return { kind: token.text, of, count: many };
      }
      if (["f32", "f16", "ptr", "mat4x4f"].includes(token.text) || /^vec[234][fih]$/.test(token.text)) unknown(`'${token.text}'`, token);
      const named = find(token);
      return named.struct || fail(`'${token.text}' is no type`, token);
    }

    // A number that is known before anything runs.
    function constant(value) {
      try {
        return new Function(...Object.keys(TOOLS), `"use strict"; return ${value.js}`)(...Object.values(TOOLS));
      } catch {
        return fail("this has to be a constant", value.token);
      }
    }

    // ---- values: {js, type, token}, and a place where they stand in memory ----------------------------

    // place: {memory, offset, shared} or {name}, of a variable of JavaScript's
    function loaded(value) {
      if (value.type.kind === "atomic") fail("an atomic is read by atomicLoad", value.token);
      if (!value.place || value.place.name) return value;
      const { memory, offset, shared } = value.place;
      if (value.type.kind === "array" || value.type.fields) unknown("copies of a whole array or structure", value.token);
      const read = isVector(value.type) ? `load(${memory}, ${offset}, ${value.type.size})` : `${memory}[${offset}]${value.type === "i32" ? " | 0" : value.type === "bool" ? " !== 0" : ""}`;
      own.varies.value ||= shared;
      return { ...value, place: null, js: shared ? `((yield), ${read})` : `(${read})` };
    }

    // Of a value what stands where `wanted` is needed.
    function as(wanted, value, what = "this") {
      const have = loaded(value);
      if (same(wanted, have.type)) return have;
      if (have.type === "int" && isInteger(wanted)) return { ...have, type: wanted };
      return fail(`${what} is '${nameOf(have.type)}', and '${nameOf(wanted)}' is needed`, value.token);
    }

    function combined(sign, left, right) {
      let [a, b] = [loaded(left), loaded(right)];
      const { token } = sign;
      const wrong = () => fail(`no matching '${sign.text}' for '${nameOf(a.type)}' and '${nameOf(b.type)}'`, token);
      if (["&&", "||"].includes(sign.text)) {
        if (a.type !== "bool" || b.type !== "bool") wrong();
        return { js: `(${a.js} ${sign.text} ${b.js})`, type: "bool", token };
      }
      if (isVector(a.type) || isVector(b.type)) {
        const size = (isVector(a.type) ? a : b).type.size;
        const one = scalar(sign.text, "u32");
        if (!one || [a, b].some((each) => (isVector(each.type) ? each.type.size !== size : !["u32", "int"].includes(each.type)))) wrong();
        return { js: `each(${a.js}, ${b.js}, (a, b) => ${one("a", "b")})`, type: vector(size), token };
      }
      if (["<<", ">>"].includes(sign.text)) {
        if (!isInteger(a.type) || !["u32", "int"].includes(b.type)) wrong();
        return { js: scalar(sign.text, a.type)(a.js, b.js), type: a.type, token };
      }
      if (a.type === "int") a = { ...a, type: b.type };
      if (b.type === "int") b = { ...b, type: a.type };
      if (!same(a.type, b.type) || !(isInteger(a.type) || (a.type === "bool" && ["==", "!=", "&", "|"].includes(sign.text)))) wrong();
      if (["==", "!=", "<", ">", "<=", ">="].includes(sign.text)) return { js: `(${a.js} ${sign.text.replace(/^[=!]=/, "$&=")} ${b.js})`, type: "bool", token };
      if (a.type === "bool") return { js: `Boolean(${a.js} ${sign.text} ${b.js})`, type: "bool", token };
      return { js: scalar(sign.text, a.type)(a.js, b.js), type: a.type, token };
    }

    function scalar(sign, kind) {
      const whole = kind === "u32" ? ">>> 0" : kind === "i32" ? "| 0" : "";
      return { "+": (a, b) => `((${a} + ${b}) ${whole})`, "-": (a, b) => `((${a} - ${b}) ${whole})`,
        "*": (a, b) => (whole ? `(Math.imul(${a}, ${b}) ${whole})` : `(${a} * ${b})`), "/": (a, b) => `(over(${a}, ${b}) ${whole})`, "%": (a, b) => `(rest(${a}, ${b}) ${whole})`,
        "&": (a, b) => `((${a} & ${b}) ${whole})`, "|": (a, b) => `((${a} | ${b}) ${whole})`, "^": (a, b) => `((${a} ^ ${b}) ${whole})`,
        "<<": (a, b) => `((${a} << ${b}) ${whole})`, ">>": (a, b) => (kind === "u32" ? `(${a} >>> ${b})` : `(${a} >> ${b})`) }[sign];
    }

    function expression(level = 0) {
      if (level === AND_THEN.length) return unary();
      let value = expression(level + 1);
      while (AND_THEN[level].includes(peek().text)) {
        const token = take();
        value = combined({ text: token.text, token }, value, expression(level + 1));
      }
      return value;
    }

    // What may stand between < and >, where those signs are none of its own.
    const sum = () => expression(AND_THEN.findIndex((signs) => signs.includes("+")));

    function unary() {
      const token = peek();
      if (accept("&")) {
        const value = unary();
        if (!value.place || !value.place.memory) unknown("the address of what is no memory of the kernel", token);
        return { type: { kind: "ptr", of: value.type }, place: value.place, token };
      }
      for (const sign of ["-", "~", "!"]) {
        if (!accept(sign)) continue;
        const value = loaded(unary());
        if (sign === "!" ? value.type !== "bool" : !isInteger(value.type) || (sign === "-" && value.type === "u32")) fail(`no '${sign}' of '${nameOf(value.type)}'`, token);
        return { js: sign === "!" ? `(!${value.js})` : `(${sign}${value.js} ${value.type === "u32" ? ">>> 0" : "| 0"})`, type: value.type, token };
      }
      if (is("*")) unknown("pointers", token);
      return ending(primary());
    }

    function ending(value) {
      for (;;) {
        const token = peek();
        if (accept("[")) {
          const index = loaded(expression());
          expect("]");
          if (!isInteger(index.type)) fail("an index is a whole number", index.token);
          value = indexed(value, index, token);
        } else if (accept(".")) {
          value = member(value, nameHere());
        } else return value;
      }
    }

    function indexed(value, index, token) {
      if (isVector(value.type)) return component(value, `within(${index.js}, ${value.type.size})`, token);
      if (value.type.kind !== "array") fail(`'${nameOf(value.type)}' has no elements`, token);
      const { memory, offset, shared } = value.place;
      const step = stepOf(value.type.of);
      const elements = value.type.count ?? `${memory}.length / ${step}`;
      return { type: value.type.of, token: value.token, place: { memory, shared, offset: `${offset} + within(${index.js}, ${elements}) * ${step}` } };
    }

    function component(value, at, token) {
      if (value.place && value.place.memory) return { type: "u32", token: value.token, place: { ...value.place, offset: `${value.place.offset} + ${at}` } };
      return { js: `${value.js}[${at}]`, type: "u32", token, place: value.place && { name: `${value.place.name}[${at}]`, fixed: value.place.fixed } };
    }

    function member(value, name) {
      if (isVector(value.type)) {
        const at = name.text.length === 1 ? Math.max("xyzw".indexOf(name.text), "rgba".indexOf(name.text)) : -1;
        if (at < 0 || at >= value.type.size) unknown(`'.${name.text}' of a vector`, name);
        return component(value, at, name);
      }
      const field = value.type.fields?.find((each) => each.name === name.text);
      if (!field) fail(`there is no '${name.text}' in '${nameOf(value.type)}'`, name);
      if (!value.place) return { js: `${value.js}.${field.name}`, type: field.type, token: name };
      return { type: field.type, token: name, place: { ...value.place, offset: `${value.place.offset} + ${field.offset}` } };
    }

    function primary() {
      const token = take();
      if (token.kind === "number") {
        const kind = { u: "u32", i: "i32" }[token.text.at(-1)] || "int";
        return { js: String(Number(token.text.replace(/[ui]$/, ""))), type: kind, token };
      }
      if (token.text === "(") {
        const value = expression();
        expect(")");
        return value;
      }
      if (token.kind !== "name") fail(`expected a value, and here is '${token.text}'`, token);
      if (token.text === "true" || token.text === "false") return { js: token.text, type: "bool", token };
      if (is("(") || (is("<") && /^(vec[234]|array|bitcast)$/.test(token.text))) return call(token);
      const what = find(token);
      if (what.signature) fail(`'${token.text}' is a function: where are its arguments?`, token);
      own.varies.value ||= what.varies;
      return { ...what, token, origin: what };
    }

    function values() {
      const found = [];
      expect("(");
      while (!is(")")) {
        found.push(expression());
        if (!accept(",")) break;
      }
      expect(")");
      return found;
    }

    function call(token) {
      const name = token.text;
      if (/^vec[234](u|$)/.test(name)) {
        next -= 1;
        return constructed(type(), token);
      }
      if (is("<")) unknown(`'${name}<...>(...)'`, token);
      const what = scopes[0].get(name);
      const given = values();
      const need = (many) => given.length === many || fail(`'${name}' has ${many} argument${many === 1 ? "" : "s"}, and here are ${given.length}`, token);
      if (what && what.signature) {
        need(what.signature.length);
        const js = given.map((value, place) => as(what.signature[place].type, value, `argument ${place + 1}`).js).join(", ");
        if (what.hasBarrier) uniform(token);
        own.varies.value ||= what.waits;
        return { js: what.waits ? `(yield* ${what.js}(${js}))` : `${what.js}(${js})`, type: what.type, token };
      }
      const atomic = /^atomic(\w+)$/.exec(name);
      if (atomic && ATOMICS.includes(atomic[1])) return atomically(atomic[1], given, token, need);
      switch (name) {
        case "workgroupBarrier": case "storageBarrier":
          need(0);
          uniform(token);
          return { js: `(yield ${token.line})`, type: "nothing", token };
        case "arrayLength":
          need(1);
          return { js: `(${given[0].place.memory}.length / ${stepOf(given[0].type.of.of)})`, type: "u32", token };
        case "u32": case "i32": {
          need(1);
          const value = loaded(given[0]);
          if (!isInteger(value.type) && value.type !== "bool") fail(`no '${name}' of '${nameOf(value.type)}'`, token);
          return { js: `(Number(${value.js}) ${name === "u32" ? ">>> 0" : "| 0"})`, type: name, token };
        }
        case "min": case "max": {
          need(2);
          const kind = combined({ text: "+", token }, ...given).type;
          if (!isInteger(kind)) unknown(`'${name}' of '${nameOf(kind)}'`, token);
          return { js: `Math.${name}(${given.map((value) => as(kind, value).js).join(", ")})`, type: kind, token };
        }
        case "select": {
          need(3);
          const [no, yes] = given.map(loaded);
          const kind = no.type === "int" ? yes.type : no.type;
          const [a, b, c] = [as(kind, no), as(kind, yes), as("bool", given[2])];
          return { js: `[${a.js}, ${b.js}][Number(${c.js})]`, type: kind, token };
        }
        case "countOneBits":
          need(1);
          return { js: `ones(${as("u32", given[0]).js})`, type: "u32", token };
        default:
          return unknown(`'${name}': it is no function of the kernel${atomic ? `, and WGSL's atomics are ${ATOMICS.map((each) => `atomic${each}`).join(", ")}` : ""}`, token);
      }
    }

    function constructed(wanted, token) {
      const given = values().map((value) => as("u32", value).js);
      if (![0, 1, wanted.size].includes(given.length)) fail(`a '${nameOf(wanted)}' has ${wanted.size} numbers`, token);
      return { js: given.length === wanted.size ? `[${given}]` : `Array(${wanted.size}).fill(${given[0] || 0})`, type: wanted, token };
    }

    function atomically(what, given, token, need) {
      const [target, ...others] = given;
      if (!target || target.type.kind !== "ptr" || target.type.of.kind !== "atomic") fail(`'${token.text}' needs the address of an atomic, such as &histogram[bin]`, token);
      const kind = target.type.of.of;
      const { memory } = target.place;
      own.varies.value = true;
      need({ Load: 1, CompareExchangeWeak: 3 }[what] || 2);
      // All that it is given is worked out before; then it is one step.
      const offset = temporary();
      const names = others.map(temporary);
      const value = () => names.join(", ");
      const before = [`${offset} = ${target.place.offset}`, ...others.map((each, place) => `${names[place]} = ${as(kind, each).js}`)].join(", ");
      const result = (js) => ({ js: `(${before}, (yield), ${js}${kind === "i32" ? " | 0" : ""})`, type: kind, token });
      if (what === "Load") return result(`${memory}[${offset}]`);
      if (what === "Store") return { ...result(`${memory}[${offset}] = ${value()}`), type: "nothing" };
      if (what === "CompareExchangeWeak") {
        const fields = [{ name: "old_value", type: kind }, { name: "exchanged", type: "bool" }];
        return { ...result(`exchange(${memory}, ${offset}, ${value()})`), type: { kind: "struct", name: "its result", fields } };
      }
      return result(`atomic${what}(${memory}, ${offset}, ${value()})`);
    }

    // ---- what differs between work-items, by a rule that is coarser than WGSL's ---------------------------

    function uniform(token) {
      if (own.varies.here) fail(`${UNIFORM}: here some work-items of a group may come by, and others not`, token);
    }

    // What `read` reads, and whether work-items differ in it.
    function watched(read) {
      own.varies.value = false;
      const value = read();
      return [value, Boolean(own.varies.value || own.varies.here)];
    }

    // A part that not all may come to, or in a loop not all equally often.
    function under(differs, part, isLoop = false) {
      const { varies } = own;
      const { here: before, loop: outer } = varies;
      varies.here = differs;
      if (isLoop) varies.loop = false;
      const js = part();
      if (isLoop) varies.loop = outer;
      varies.here = before || varies.loop || varies.function;
      return js;
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
        const [condition, differs] = is(";") ? ["true", own.varies.here] : watched(test);
        expect(";");
        const js = under(differs, () => {
          const update = is(")") ? "" : simple();
          expect(")");
          return `{ ${first}; for (; turn() && ${condition}; ${update}) ${block()}}\n`;
        }, true);
        scopes.pop();
        return js;
      }
      if (accept("while") || accept("loop")) {
        const [condition, differs] = token.text === "loop" ? ["true", own.varies.here] : watched(test);
        return under(differs, () => `while (turn() && ${condition}) ${block()}`, true);
      }
      if (["switch", "continuing", "const_assert", "discard"].includes(token.text)) unknown(`'${token.text}'`, token);
      let js = "";
      if (accept("break") || accept("continue")) {
        js = is("if") ? unknown("'break if'") : token.text;
        own.varies.loop ||= own.varies.here;
      } else if (accept("return")) {
        js = is(";") ? "return" : `return ${as(own.type, expression(), "what is returned").js}`;
        own.varies.function ||= own.varies.here;
      }
      else js = simple();
      expect(";");
      return `${js};\n`;
    }

    const test = () => as("bool", expression()).js;

    function decision() {
      const [condition, differs] = watched(test);
      return under(differs, () => `if (${condition}) ${block()}${accept("else") ? `else ${accept("if") ? decision() : block()}` : ""}`);
    }

    // What may also stand in the head of a loop.
    function simple() {
      const token = peek();
      if (accept("var") || accept("let") || accept("const")) return declaration(token.text);
      if (accept("_")) {
        expect("=");
        return loaded(expression()).js;
      }
      const target = unary();
      const sign = take();
      if (sign.text === "++" || sign.text === "--") return assigned(target, { text: sign.text[0], token: sign }, { js: "1", type: "int", token: sign });
      if (/^([-+*/%&|^]|<<|>>)?=$/.test(sign.text)) {
        const [value, differs] = watched(expression);
        if (differs && target.origin) target.origin.varies = true;
        return assigned(target, sign.text === "=" ? null : { text: sign.text.slice(0, -1), token: sign }, value);
      }
      next -= 1;
      if (!target.js || target.place) fail(`expected '=' or a call, and here is '${sign.text}'`, sign);
      return target.js;
    }

    function declaration(kind) {
      if (is("<")) {
        next += 1;
        if (!accept("function")) unknown(`'var<${peek().text}>' in a function`);
        expect(">");
      }
      const name = nameHere();
      let wanted = accept(":") ? type() : null;
      const [first, varies] = accept("=") ? watched(() => loaded(expression())) : [null, own.varies.here];
      if (!first && (kind !== "var" || !wanted)) fail(`what is '${name.text}' at first?`, name);
      wanted ??= first.type === "int" ? "i32" : first.type;
      if (wanted === "nothing") fail("this call has no result", first.token);
      const js = fresh(name.text);
      if (wanted.kind === "array" || wanted.fields) {
        if (first) unknown("an array that is not zero at first", name);
        declare(name, { type: wanted, varies, place: { memory: js, offset: "0", shared: false } });
        return `const ${js} = new Uint32Array(${sizeOf(wanted)})`;
      }
      const value = first ? as(wanted, first).js : isVector(wanted) ? `Array(${wanted.size}).fill(0)` : wanted === "bool" ? "false" : "0";
      declare(name, { js, type: wanted, varies, place: { name: js, fixed: kind !== "var" } });
      return `let ${js} = ${isVector(wanted) ? `[...${value}]` : value}`;
    }

    // In memory that others share, += reads in one step and writes in another.
    function assigned(target, sign, value) {
      if (!target.place || target.place.fixed) fail("nothing can be assigned to this", target.token);
      if (target.type.kind === "atomic") fail("cannot assign to an atomic: atomicStore or atomicAdd does it", target.token);
      if (target.place.isRead) fail("this memory can be read only", target.token);
      if (target.place.name) {
        const now = as(target.type, sign ? combined(sign, target, value) : value).js;
        return `${target.place.name} = ${isVector(target.type) ? `[...${now}]` : now}`;
      }
      const { memory, shared } = target.place;
      const [offset, result] = [temporary(), temporary()];
      const here = { ...target, place: { memory, offset, shared } };
      const now = as(target.type, sign ? combined(sign, here, value) : value).js;
      const write = isVector(target.type) ? `${memory}.set(${result}, ${offset})` : `${memory}[${offset}] = ${result}`;
      return `(${offset} = ${target.place.offset}, ${result} = ${now}, ${shared ? "(yield), " : ""}${write})`;
    }

    // ---- what stands outside of functions ----------------------------------------------------------------

    function attributes() {
      const found = {};
      while (accept("@")) {
        const name = nameHere().text;
        if (!is("(")) found[name] = true;
        else if (name === "builtin") {
          expect("(");
          found.builtin = nameHere();
          expect(")");
        } else found[name] = values().map(constant);
      }
      return found;
    }

    function skipBlock() {
      for (let depth = 0; ; next += 1) {
        if (peek().kind === "end") fail("expected '}'");
        depth += { "{": 1, "}": -1 }[peek().text] || 0;
        if (depth === 0 && is("}")) break;
      }
      next += 1;
    }

    const functions = [];
    const groupMemory = []; // [name, words]

    function variable(given) {
      expect("<");
      const space = nameHere();
      const access = accept(",") ? nameHere().text : "read";
      expect(">");
      if (!["storage", "uniform", "workgroup"].includes(space.text)) unknown(`'var<${space.text}>'`, space);
      const name = nameHere();
      expect(":");
      const wanted = type();
      if (is("=")) unknown("a first value here");
      const isRead = space.text === "uniform" || (space.text === "storage" && access === "read");
      const js = space.text === "workgroup" ? fresh(name.text) : `bound[${given.binding?.[0] ?? fail("it has no @binding", name)}]`;
      if (space.text === "workgroup") groupMemory.push([js, sizeOf(wanted)]);
      declare(name, { type: wanted, place: { memory: js, offset: "0", shared: !isRead, isRead }, isShared: !isRead });
    }

    function structure() {
      const name = nameHere();
      const made = { kind: "struct", name: name.text, fields: [], words: 0 };
      expect("{");
      while (!is("}")) {
        attributes();
        const field = nameHere().text;
        expect(":");
        const wanted = type();
        const offset = upTo(made.words, alignOf(wanted));
        made.fields.push({ name: field, type: wanted, offset });
        made.words = offset + sizeOf(wanted);
        if (!accept(",")) break;
      }
      expect("}");
      declare(name, { struct: made });
    }

    function head(given) {
      const name = nameHere();
      const signature = [];
      expect("(");
      while (!is(")")) {
        const { builtin } = attributes();
        const argument = { name: nameHere(), builtin };
        if (builtin && !BUILTINS.includes(builtin.text)) unknown(`'${builtin.text}'`, builtin);
        expect(":");
        argument.type = type();
        signature.push(argument);
        if (!accept(",")) break;
      }
      expect(")");
      const result = accept("->") ? (attributes(), type()) : "nothing";
      const what = { js: fresh(name.text), signature, type: result, name: name.text, size: given.workgroup_size, isEntry: Boolean(given.compute), begin: next, temporaries: [], varies: {} };
      declare(name, what);
      functions.push(what);
      if (!is("{")) fail("expected '{'");
      skipBlock();
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
      } else if (token.text === "var") {
        variable(given);
        expect(";");
      } else if (token.text === "struct") {
        structure();
        accept(";");
      } else if (token.text === "fn") head(given);
      else if (token.text !== ";") fail(`expected a declaration, and here is '${token.text}'`, token);
    }

    // A function waits if it touches what others share, or calls one that does.
    const uses = (what, test) => tokens.slice(what.begin, what.end).some(({ text }) => test(text, scopes[0].get(text) || {}));
    for (const _ of functions) { // at most so deep are their calls
      for (const what of functions) {
        what.hasBarrier = uses(what, (text, used) => /Barrier$/.test(text) || used.hasBarrier);
        what.waits = what.isEntry || what.hasBarrier || uses(what, (_text, used) => used.isShared || used.waits);
      }
    }

    const bodies = functions.map((what) => {
      next = what.begin;
      own = what;
      const globals = scopes[0];
      scopes = [globals, new Map()];
      const names = what.signature.map((argument) => {
        const js = fresh(argument.name.text);
        declare(argument.name, { js, type: argument.type, varies: /^(local|global)/.test(argument.builtin?.text), place: { name: js, fixed: true } });
        return js;
      });
      const js = block();
      scopes = [globals];
      const temporaries = what.temporaries.length > 0 ? `let ${what.temporaries.join(", ")};\n` : "";
      return `function${what.waits ? "*" : ""} ${what.js}(${names.join(", ")}) { ${temporaries}${js}}\n`;
    });
    const made = groupMemory.map(([name, words]) => `const ${name} = new Uint32Array(${words}).fill(${LEFT});\n`);
    const entries = functions.filter((what) => what.isEntry).map((what) =>
      `${JSON.stringify(what.name)}: (ids) => ${what.js}(${what.signature.map(({ builtin }) => `ids.${builtin.text}`).join(", ")})`);
    const text = `"use strict"; return () => { ${made.join("")}${bodies.join("")}return { ${entries.join(", ")} }; };`;
    return { text, sizes: Object.fromEntries(functions.filter((what) => what.isEntry).map((what) => [what.name, what.size])) };
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
    within: (index, count) => (index >= 0 && index < count ? index : count - 1), // as a GPU's robust access
    load: (memory, at, size) => Array.from(memory.subarray(at, at + size)),
    each: (a, b, act) => (Array.isArray(a) ? a : b).map((_, at) => act(Array.isArray(a) ? a[at] : a, Array.isArray(b) ? b[at] : b)),
    ones: (value) => value.toString(2).replaceAll("0", "").length,
    exchange: (memory, at, wanted, value) => {
      const old = memory[at];
      if (old === wanted) memory[at] = value;
      return { old_value: old, exchanged: old === wanted };
    },
    atomicAdd: changing((old, value) => old + value), atomicSub: changing((old, value) => old - value), atomicMax: changing(Math.max), atomicMin: changing(Math.min),
    atomicAnd: changing((old, value) => old & value), atomicOr: changing((old, value) => old | value), atomicXor: changing((old, value) => old ^ value),
    atomicExchange: changing((_, value) => value),
  };

  // ---- work-items, taking turns --------------------------------------------------------------------

  // Runs a kernel on `bound`, an Uint32Array for each binding; `most`: turns of a work-item's loops. Raises Endless, and CodeError at a
  // barrier that not all reach.
  function launch(program, kernel, bound, [across, down], order, random, most) {
    let now = null; // whose turn it is
    const turn = () => {
      if (++now.turns > most) throw new Endless();
      return true;
    };
    if (!program.sizes[kernel]) throw new CodeError({ line: 0, column: 0 }, `there is no kernel of the name '${kernel}'`);
    const [groupSize] = program.sizes[kernel];
    const make = new Function("bound", "turn", ...Object.keys(TOOLS), program.text)(bound, turn, ...Object.values(TOOLS));

    function groupOf(number) {
      const entry = make()[kernel];
      const workgroup_id = [number % across, Math.floor(number / across), 0];
      return Array.from({ length: groupSize }, (_, item) => ({ at: 0, turns: 0, isDone: false, go: entry({ local_invocation_index: item, workgroup_id, local_invocation_id: [item, 0, 0],
        global_invocation_id: [workgroup_id[0] * groupSize + item, workgroup_id[1], 0], num_workgroups: [across, down, 1] }) }));
    }

    // One step; whether it can go on before others come to where it is.
    function step(item) {
      now = item;
      const { done, value } = item.go.next();
      item.isDone = done;
      item.at = value || 0;
      return !done && !value;
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
          while (going.length > 0) {
            let kept = 0;
            for (const item of going) {
              if (step(item)) going[kept++] = item;
            }
            going.length = kept;
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

    const all = [...Array(across * down).keys()];
    if (order !== "random") all.forEach((number) => inTurn(groupOf(number)));
    else for (let first = 0; first < all.length; first += RESIDENT) anyhow(all.slice(first, first + RESIDENT));
  }

  return { CodeError, Endless, LANES, compile, launch };
}

if (typeof module === "object") module.exports = labWgsl;
