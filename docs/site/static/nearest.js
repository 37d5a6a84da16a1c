// Where the search finds nothing: the words of the pages that are nearest to what was typed.
(() => {
  "use strict";

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

  addEventListener("load", () => {
    const typed = (new URLSearchParams(location.search).get("q") || "").trim().toLowerCase();
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
})();
