#!/usr/bin/env python3
"""Checks a built site: links within it lead somewhere, headings are in order, pictures have words.

    docs/site/check.py FOLDER    exit 1 where something is wrong

Links to pages of others are for `./tutorial site links`, which needs a network.
"""

import html.parser
import pathlib
import re
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """What a page has of links, names, headings and pictures."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.levels, self.wordless, self.language = [], set(), [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if given.get("id"):
            self.ids.add(given["id"])
        self.links += [given[name] for name in ("href", "src") if given.get(name)]
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if tag == "img" and not (given.get("alt") or "").strip() and "logo" not in (given.get("class") or ""):
            self.wordless.append(given.get("src"))
        if tag == "html":
            self.language = given.get("lang")


def faults(path, page, site, read):
    """What is wrong with a page, line by line."""
    for link in page.links:
        if re.match(r"[a-z][a-z+.-]*:|//", link):
            continue
        file, _, part = urllib.parse.unquote(link).partition("#")
        target = path.parent / file.partition("?")[0] if file else path
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file():
            yield f"the link to {link} leads nowhere"
        elif site not in target.resolve().parents:
            yield f"the link to {link} leads out of the site"
        elif part and "=" not in part and target.suffix == ".html" and part not in read(target).ids:  # a=b: the state of a page to play with
            yield f"the link to {link} names no part of that page"
    for source in page.wordless:
        yield f"the picture {source} has no words"
    if page.levels.count(1) != 1 and path != site / "search.html":  # which gets its own from its program
        yield f"{page.levels.count(1)} headings of level 1, not one"
    for before, after in zip(page.levels, page.levels[1:]):
        if after > before + 1:
            yield f"a heading of level {after} stands below one of level {before}"
    if not page.language:
        yield "no language"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    site = pathlib.Path(sys.argv[1]).resolve()
    pages = {}

    def read(path):
        path = path.resolve()
        if path not in pages:
            pages[path] = Page(path.read_text(encoding="utf-8"))
        return pages[path]

    files = sorted(site.rglob("*.html"))
    wrong = [f"{path.relative_to(site)}: {line}" for path in files for line in faults(path, read(path), site, read)]
    wrong += [] if files else [f"{site} has no pages"]
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
