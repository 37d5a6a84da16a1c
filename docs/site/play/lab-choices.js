// What a kernel would count in which one choice has become something else, such as the stride of a loop: by the table from which the
// programs' diagnosis names mistakes, too (common/tutor/diagnosis/choices.json, which says how it is read).
(function (root) {
  "use strict";

  const BINS = 256;
  // What the numbers of the table are in WGSL.
  const IN_WGSL = { item: "item", id: "group.x * GROUP_SIZE + item", size: "GROUP_SIZE", all: "groups.x * GROUP_SIZE",
    groups: "groups.x", tables: "groups.x", count: "args.count", group: "group.x", copies: "COPIES", width: "width" };
  const RANKS = [["|"], ["^"], ["&"], ["==", ">="], ["<", ">"], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]];
  const MEANS = { "/": (a, b) => `quotient(${a}, ${b})`, "%": (a, b) => `rest(${a}, ${b})`, "<<": (a, b) => `(${a} * 2 ** ${b})`, ">>": (a, b) => `quotient(${a}, 2 ** ${b})` };

  // The choices of the lab's kernels, in the order of the kernel, with what is right in the words of the diagnosis; what is added
  // has none.
  const loop = (start, end, stride) => ({ times: "", start, end, stride });
  const COUNTED = { value: "v", weight: "" };
  const each = (which) => ({ times: "", which }); // of several, each by its position
  const WALKS = {
    turns: { pixels: { ...loop("id", "count", "all"), ...COUNTED } },
    // Sixteen at a time, four times in a turn.
    loads: { loads: loop("id", "vectors - 3 * all", "4 * all"), load: each("load"), word: each("word"),
      byte: { ...each("byte"), value: "v" }, rest: loop("next", "vectors", "all"),
      tail: { ...loop("vectors * 16 + id", "count", "all"), ...COUNTED }, pixels: { weight: "" } },
  };
  const MERGE = { ...loop("item", "256", "size"), weight: "" };
  const ENDS = {
    count: {},
    merge: { merge: MERGE },
    copies: { merge: MERGE, copies: loop("0", "copies", "1") },
  };

  // A function of {X, item, id, ...} from an expression in C, of whole numbers.
  function functionOf(text) {
    const tokens = text.match(/\w+|<<|>>|==|>=|[-+*/%&|^<>?:(),]/g);
    const take = (sign) => tokens[0] === sign && tokens.shift();
    const value = () => {
      const token = tokens.shift();
      if (token === "-") return `(-${value()})`;
      if (token === "min") return `Math.min(${list()})`;
      if (token !== "(") return /^\d/.test(token) ? token : `of.${token}`;
      const inner = choice();
      take(")");
      return `(${inner})`;
    };
    const list = () => {
      const found = [];
      take("(");
      do found.push(choice()); while (take(","));
      take(")");
      return found;
    };
    const binary = (rank) => {
      if (rank === RANKS.length) return value();
      let left = binary(rank + 1);
      while (RANKS[rank].includes(tokens[0])) {
        const sign = tokens.shift();
        const right = binary(rank + 1);
        left = MEANS[sign]?.(left, right) ?? `Number(${left} ${sign} ${right})`;
      }
      return left;
    };
    function choice() {
      const condition = binary(0);
      if (!take("?")) return condition;
      const yes = choice();
      take(":");
      return `(${condition} ? ${yes} : ${choice()})`;
    }
    const js = choice();
    return new Function("quotient", "rest", `return (of) => ${js}`)((a, b) => (b === 0 ? 0 : Math.trunc(a / b)), (a, b) => (b === 0 ? 0 : a % b));
  }

  // The counts of a run if at this choice stands what `becomes` says; null where that cannot be known. {walk, end} are the
  // strategy's, by the names above.
  function counted({ pixels, width, launch: { groupSize: size, groups, copies } }, { walk, end }, { part, place, position, becomes }) {
    const of = { size, all: groups * size, groups, tables: groups, count: pixels.length, width, copies };
    const held = Math.max(16, Math.ceil(pixels.length / 16) * 16); // bytes, of whole vectors
    let isKnown = true;
    const chosen = (its, where, right, at) => {
      if (its !== part || where !== place || at !== position) return right;
      of.X = right;
      return becomes(of);
    };

    function over(where, first, last, stride, body) {
      for (let times = chosen("times", where, 1); times > 0 && isKnown; --times) {
        const step = chosen("stride", where, stride);
        if (step < 1) isKnown = false;
        for (let i = chosen("start", where, first); isKnown && i < chosen("end", where, last); i += step) body(i);
      }
    }

    // What lies outside of memory is not known, and what is counted there is lost.
    const from = (list, at) => list[at] ?? (isKnown = false, 0);
    function add(list, at, value) {
      if (at >= 0 && at < list.length) list[at] += value;
    }

    function every(body) {
      for (let item = 0; item < size && isKnown; ++item) body(Object.assign(of, { item, id: of.group * size + item }));
    }

    const counts = new Uint32Array(BINS);
    let table = counts; // into which this group counts
    const count = (at, where, position_) => {
      of.where = at;
      of.v = at >= 0 && at < held ? pixels[at] ?? 0 : from(pixels, at);
      const bin = chosen("value", where, of.v, position_);
      const to = end === "copies" ? bin * copies + of.item % copies : bin;
      add(table, to, chosen("weight", where === "tail" ? where : "pixels", 1));
    };
    const several = (where, body) => {
      for (let its = 0; its < 4; ++its) {
        if (chosen("times", where, 1, its)) body(chosen("which", where, its, its), its);
      }
    };
    const four = (first) => several("byte", (byte, its) => count(first + byte, "byte", its));
    const sixteen = (first) => several("word", (word) => four(16 * first + 4 * word));
    const walks = {
      turns: () => over("pixels", of.id, of.count, of.all, (i) => count(i, "pixels")),
      loads: () => {
        const vectors = Math.floor(of.count / 16);
        let next = of.id;
        over("loads", of.id, vectors - 3 * of.all, 4 * of.all, (i) => {
          several("load", (load) => sixteen(i + load * of.all));
          next = i + 4 * of.all;
        });
        over("rest", next, vectors, of.all, sixteen);
        over("tail", vectors * 16 + of.id, of.count, of.all, (i) => count(i, "tail"));
      },
    };
    for (let group = 0; group < groups && isKnown; ++group) {
      of.group = group;
      if (end !== "count") table = new Uint32Array(BINS * (end === "copies" ? copies : 1));
      every(walks[walk]);
      if (end === "count") continue;
      every(() => over("merge", of.item, BINS, size, (bin) => {
        let sum = 0;
        if (end === "copies") over("copies", 0, copies, 1, (copy) => { sum += from(table, bin * copies + copy); });
        else sum = from(table, bin);
        sum = chosen("weight", "merge", sum);
        add(counts, bin, sum);
      }));
    }
    return isKnown ? counts : null;
  }

  // All that may be chosen otherwise on this way, the most usual first: [{part, place, position, words, right, becomes, name}].
  function changes({ places, outcomes, lists, called }, { walk, end }) {
    const found = [];
    const all = { ...WALKS[walk], ...ENDS[end] };
    for (const [place, parts] of Object.entries(all)) {
      const group = Object.keys(places).find((name) => place in places[name]);
      const seen = new Set(Object.entries(parts).map(([part, right]) => `${part} ${right}`));
      for (const { part, at, name, becomes } of outcomes) {
        if (!(part in parts) || (at !== "any" && at !== group && !at.includes(place))) continue;
        for (const [bits, ...others] of becomes.flatMap((row) => (typeof row === "string" ? lists[row] : [row]))) {
          for (const words of others) {
            const key = `${part} ${words}`;
            if (seen.has(key)) continue;
            seen.add(key);
            const names = called[place] || {};
            const change = { part, place, words, bits, right: parts[part], becomes: functionOf(words),
              name: names[`${name}: ${words}`] ?? names[name] ?? names[""] ?? name };
            const positions = "which" in parts ? [0, 1, 2, 3] : [undefined];
            for (const position of positions) found.push({ ...change, position });
          }
        }
      }
    }
    return found.sort((a, b) => a.bits - b.bits);
  }

  // A sentence about a change, in words of WGSL.
  function sentenceOf({ places, parts }, { part, place, words, right }) {
    const said = (text, x) => text.replace(/[A-Za-z]+/g, (word) => (word === "X" ? x : IN_WGSL[word] ?? word));
    const now = said(words, part === "value" ? "v" : said(right, "") || "the count");
    const form = parts[part].is?.[words] ?? parts[part].says;
    const where = Object.assign({}, ...Object.values(places))[place];
    const text = form.replace("{0}", where).replace("{1}", said(right, "") || "the count")
      .replace("{2}", part === "times" ? now.split(" ?")[0] : now);
    return text[0].toUpperCase() + text.slice(1);
  }

  const api = { counted, changes, sentenceOf };
  if (typeof module === "object") module.exports = api;
  else root.labChoices = api;
})(globalThis);
