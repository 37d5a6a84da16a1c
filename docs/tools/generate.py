#!/usr/bin/env python3
"""Writes what is generated into the pages, and checks that the pages have it.

    docs/tools/generate.py            rewrite it; exit 1 where something cannot be made
    docs/tools/generate.py --check    change nothing; exit 1 where a page differs, too

What is generated stands in a page between two comments. The first says what it is, the second is always
the same. Words with spaces stand in quotation marks.

    <!-- results: docs/results/h200.json 04-per-thread-bins/cuda photo 1G -->
    <!-- end -->
"""

import argparse
import pathlib
import re
import shlex
import sys
from typing import NamedTuple

import excerpts
import predicted
import predictions
import recorded
import tables
from pages import pages
from recorded import ROOT


def published(_page, settings):
    """
    published: FILE     where one tries the lab: the site's address is html_baseurl in Sphinx's settings
    """
    address = re.search(r'^html_baseurl = "(.*?)"', (ROOT / settings).read_text(encoding="utf-8"), re.MULTILINE)[1]
    if address:
        return [f"**[Try it now]({address}docs/site/play/lab.html#run=1)** in your browser, with nothing installed"]
    return ["**[Try it now](docs/site/play/lab.html#run=1)** in your browser: the page opens from a clone that `./tutorial run` has built, for the",
            "site is published nowhere yet."]


# {kind: what writes it}: a function of the page and of the words behind the colon, which gives the lines.
KINDS = {**tables.KINDS, **excerpts.KINDS, **predictions.KINDS, **predicted.KINDS, "published": published}
OPENING = re.compile(r"^<!-- [\w-]+: ", re.MULTILINE)
CLOSING = re.compile(r"^<!-- end -->$", re.MULTILINE)
BLOCK = re.compile(r"^<!-- (?P<kind>[\w-]+): (?P<words>[^\n]*?) -->\n(?:(?!<!-- ).)*?^<!-- end -->$", re.DOTALL | re.MULTILINE)


class Page(NamedTuple):
    path: pathlib.Path
    shown: dict  # {file of results: the entries that its tables are of}
    told: dict  # {file of results of which it says when they were recorded: how many entries it had shown by then}


def written(block, page, wrong, different):
    """A block as it should be; what cannot be made stays, and the reason is added to `wrong`. What changes is
    added to `different`."""
    kind, words = block["kind"], block["words"]
    try:
        if kind not in KINDS:
            raise ValueError(f"there is no kind '{kind}', only {', '.join(KINDS)}")
        lines = KINDS[kind](page, *shlex.split(words))
    except (OSError, ValueError, TypeError) as error:
        wrong.append(f"{kind}: {words}: {error}")
        return block[0]
    new = "\n".join([f"<!-- {kind}: {words} -->", *lines, "<!-- end -->"])
    if new != block[0]:
        different.append(f"{kind}: {words}: differs from its source (docs/tools/generate.py writes it)")
    return new


def with_generated(path, text, wrong, different):
    """The page's text with all that is generated in it."""
    page = Page(path, {}, {})
    if not len(OPENING.findall(text)) == len(CLOSING.findall(text)) == len(BLOCK.findall(text)):
        wrong.append("what is generated stands between <!-- kind: words --> and <!-- end -->, each on a line of its own")
        return text
    text = BLOCK.sub(lambda block: written(block, page, wrong, different), text)
    wrong += tables.untold(page)
    return text


def main():
    help_text = "\n".join(module.__doc__ for module in (sys.modules["__main__"], tables, excerpts, predictions, predicted, published))
    arguments = argparse.ArgumentParser(description=help_text, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true", help="change nothing, and exit 1 where something is wrong")
    check = arguments.parse_args().check
    recorded.loaded.cache_clear()
    wrong = []
    for path in pages():
        name = path.relative_to(ROOT)
        old = path.read_text(encoding="utf-8")
        found, different = [], []
        new = with_generated(path, old, found, different)
        if check:
            found += different
        elif new != old:
            recorded.write_atomically(path, new)
            print(f"wrote {name}")
        wrong += [f"{name}: {line}" for line in found]
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
