// How the search of the site orders what it finds: first the section of a chapter that says most of it. Sphinx finds pages by their
// words, and this leads on to the section, and from a page that lists others to the one that was asked for. CHAPTERS, {page: [[part,
// title, words]]}, and LISTED, {page: [[other page, title, words]]}, are what stage.py puts before it.
globalThis.Scorer = (() => {
  "use strict";
  const inSections = 200; // more than any page's score

  function asked() {
    return (new URLSearchParams(location.search).get("q") || "").toLowerCase().trim();
  }

  // How often the words stand there, and as they are one behind the other; the title counts for ten.
  function said(query, title, text) {
    const all = `${`${title.toLowerCase()} `.repeat(10)}${text}`;
    const times = (words) => all.split(words).length - 1;
    const words = query.split(/\s+/).map(times);
    return words.includes(0) ? 0 : words.reduce((a, b) => a + b) + 5 * times(query);
  }

  // A result: [page, title, part, description, score, file]. A page's becomes its best section's, or that of the page that it lists.
  function score(result) {
    const [page, title, part, , points] = result;
    if (part || !(page in CHAPTERS || page in LISTED)) return points + (page in CHAPTERS ? inSections : 0);
    const found = (CHAPTERS[page] || LISTED[page]).map(([id, name, text]) => [said(asked(), name, text), id, name, text]).sort((a, b) => b[0] - a[0])[0];
    if (!found || found[0] === 0) return points;
    if (page in LISTED) [, result[0], result[1], result[3]] = found;
    else if (found[1]) [result[1], result[2]] = [`${title} > ${found[2]}`, `#${found[1]}`];
    return inSections + Math.min(found[0], inSections);
  }

  // ---- where the search finds nothing: the words of the pages that are nearest to what was typed

  // Levenshtein's: letters to put in, to leave out, or to change.
  function distance(a, b) {
    let row = [...Array(b.length + 1).keys()];
    [...a].forEach((letter, i) => {
      const next = [i + 1];
      [...b].forEach((other, j) => next.push(Math.min(row[j + 1] + 1, next[j] + 1, row[j] + (letter === other ? 0 : 1))));
      row = next;
    });
    return row.at(-1);
  }

  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false; // a page from the disk may read no other
  addEventListener("load", () => {
    document.querySelector("article").prepend(element("h1", { textContent: "Search" }));
    const typed = asked();
    const place = document.getElementById("search-results");
    if (typed.length < 3 || !place) return;
    const observer = new MutationObserver(look);
    observer.observe(place, { childList: true, subtree: true, characterData: true });
    look();

    function look() {
      if (!/did not match any/.test(place.textContent)) return;
      observer.disconnect();
      const near = Object.keys(Search._index.terms).map((word) => [distance(typed, word), word]).filter(([far]) => far <= 2)
        .sort().slice(0, 3).map(([, word]) => element("a", { href: `?q=${encodeURIComponent(word)}`, textContent: word }));
      const words = near.length === 0 ? ["No page has such a word."] : ["Did you mean ", ...near.flatMap((link, at) => (at ? [", ", link] : [link])), "?"];
      place.append(element("p", {}, ...words));
    }
  });

  return { objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0, title: 15, partialTitle: 7, term: 5,
    partialTerm: 2, score };
})();
