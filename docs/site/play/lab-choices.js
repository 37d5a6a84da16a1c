// What a kernel would count in which one choice has become something else, such as the stride of a loop: by the table from which the
// programs' diagnosis names mistakes, too (common/tutor/diagnosis/choices.json, which says how it is read).
(function (root) {
  "use strict";

  const BINS = 256;
  const POISON = 0xa5a5a5a5;
  // What the numbers of the table are in WGSL; `right` in a sentence where none of them is meant.
  const IN_WGSL = { item: "item", id: "group.x * GROUP_SIZE + item", size: "GROUP_SIZE", all: "groups.x * GROUP_SIZE", groups: "groups.x", tables: "groups.x",
    count: "the.count", group: "group.x", copies: "COPIES" };
  const RANKS = [["|"], ["^"], ["&"], ["==", ">="], ["<", ">"], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]];
  const MEANS = { "/": (a, b) => `quotient(${a}, ${b})`, "%": (a, b) => `rest(${a}, ${b})`, "<<": (a, b) => `(${a} * 2 ** ${b})`, ">>": (a, b) => `quotient(${a}, 2 ** ${b})` };

  // What is right: of each loop the start, the end and the stride.
  const RIGHTS = { pixels: { start: "id", end: "count", stride: "all", value: "v", weight: "1" }, merge: { start: "item", end: "256", stride: "size" },
    sum: { start: "0", end: "tables", stride: "1" }, "bin-loop": { start: "0", end: "256", stride: "1" }, copies: { start: "0", end: "copies", stride: "1" } };

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

  // The counts if at this choice stands what `becomes` says; null where that cannot be known. `steps`: "count" for one histogram,
  // "merge" for a table of each group, "rows" for a row of each that is summed, "copies" for copies of a group's table. `who`: the
  // [group, work-item] of a pixel where the loop over them is not that over all work-items. `groups`: those with a table.
  function counted(run, groups, steps, { part, place, becomes }, who) {
    const { pixels, launch: { groupSize: size, copies } } = run;
    const of = { size, all: groups * size, groups, tables: groups, count: pixels.length, width: run.width, copies };
    let isKnown = true;
    const chosen = (its, where, right) => {
      if (its !== part || where !== place) return right;
      of.X = right;
      return becomes(of);
    };

    function loop(where, first, end, stride, body) {
      for (let times = chosen("times", where, 1); times > 0 && isKnown; --times) {
        const step = chosen("stride", where, stride);
        if (step < 1) isKnown = false;
        for (let i = chosen("start", where, first); isKnown && i < chosen("end", where, end); i += step) body(i);
      }
    }

    // Into a list, where nothing may lie outside.
    function add(list, at, value) {
      if (at >= 0 && at < list.length) list[at] += value;
      else isKnown = false;
    }

    function each(body) {
      for (let item = 0; item < size && isKnown; ++item) body(Object.assign(of, { item, id: of.group * size + item }));
    }

    const counts = new Uint32Array(BINS);
    const tables = Array.from({ length: groups }, () => (steps === "count" ? counts : new Uint32Array(BINS * (steps === "copies" ? copies : 1))));
    if (who) {
      pixels.forEach((v, i) => {
        const [group, item] = who(i);
        tables[group][steps === "copies" ? v * copies + item % copies : v] += 1;
      });
    }
    const rows = tables.map((table) => (who ? table : new Uint32Array(BINS).fill(POISON)));
    tables.forEach((table, group) => {
      of.group = group;
      if (!who) {
        each(() => loop("pixels", of.id, of.count, of.all, (i) => {
          if (i < 0 || i >= pixels.length) isKnown = false;
          of.v = pixels[i];
          add(table, chosen("value", "pixels", of.v), chosen("weight", "pixels", 1));
        }));
      }
      if (steps === "count" || (steps === "rows" && who)) return;
      each(() => loop("merge", of.item, BINS, size, (bin) => {
        if (bin < 0 || bin >= BINS) isKnown = false;
        else if (steps === "rows") rows[group][bin] = chosen("weight", "merge", table[bin]);
        else if (steps === "merge") counts[bin] += chosen("weight", "merge", table[bin]);
        else loop("copies", 0, copies, 1, (copy) => add(counts, bin, table[bin * copies + copy] ?? (isKnown = false)));
      }));
    });
    if (steps === "rows") {
      Object.assign(of, { group: 0, item: 0, id: 0 });
      loop("sum", 0, groups, 1, (row) => {
        if (row < 0 || row >= groups) isKnown = false;
        else loop("bin-loop", 0, BINS, 1, (bin) => add(counts, bin, rows[row][bin] ?? (isKnown = false)));
      });
    }
    return isKnown ? counts : null;
  }

  const asked = { count: ["pixels"], merge: ["pixels", "merge"], rows: ["pixels", "merge", "sum", "bin-loop"], copies: ["pixels", "merge", "copies"] };

  // Of these steps all that may be chosen otherwise, the most usual first: [{part, place, becomes, words, name}].
  function changes({ groups, outcomes, lists, called }, steps) {
    const found = [];
    for (const place of asked[steps]) {
      const seen = new Set();
      for (const { part, at, name, becomes } of outcomes) {
        if (at !== "any" && at !== groups[place] && !at.includes(place)) continue;
        for (const [bits, ...all] of becomes.flatMap((each) => (typeof each === "string" ? lists[each] : [each]))) {
          for (const words of all) {
            const key = `${part} ${words}`;
            if (seen.has(key) || words === RIGHTS[place][part]) continue;
            seen.add(key);
            const names = called[place] || {};
            found.push({ part, place, words, bits, name: names[`${name}: ${words}`] ?? names[name] ?? names[""] ?? name });
          }
        }
      }
    }
    return found.sort((a, b) => a.bits - b.bits).map((change) => ({ ...change, becomes: functionOf(change.words) }));
  }

  // A sentence about a change, in words of WGSL.
  function sentenceOf({ places, parts }, { part, place, words }) {
    const right = RIGHTS[place][part] ?? "the count";
    const said = (text, x) => text.replace(/[A-Za-z]+/g, (word) => (word === "X" ? x : IN_WGSL[word] ?? word));
    const now = said(words, part === "value" ? "v" : said(right, ""));
    const form = parts[part].is?.[words] ?? parts[part].says;
    const text = form.replace("{0}", places[place]).replace("{1}", said(right, "")).replace("{2}", part === "times" ? now.split(" ?")[0] : now);
    return text[0].toUpperCase() + text.slice(1);
  }

  const api = { functionOf, counted, changes, sentenceOf };
  if (typeof module === "object") module.exports = api;
  else root.labChoices = api;
})(globalThis);
