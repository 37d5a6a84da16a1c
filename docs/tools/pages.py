#!/usr/bin/env python3
"""Checks the pages: links and pictures lead somewhere, lessons have their headings, they and workshops their length.

    docs/tools/pages.py     exit 1 where a link or picture is not there, a link's #part is no heading of its
                      page, a lesson's headings differ from those below, or it or the page of a workshop, a
                      folder within a chapter, is too short or too long
"""

import argparse
import pathlib
import re
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEADINGS = [
    "What you will learn",
    "The idea in one picture",
    "The strategy",
    "The race conditions",
    "Where the data lives",
    "Predict, then run",
    "Measured",
    "What went wrong in published code",
    "Exercises",
    "Check yourself",
    "Sources",
]
FEWEST, MOST = 1500, 2500
# The fewest and the most words of a workshop's page.
WORKSHOPS = {"tune": (400, 900), "end-to-end": (400, 900), "peers": (400, 900), "cluster": (800, 1200), "many": (800, 1200), "bins": (400, 900)}

FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
GENERATED = re.compile(r"^<!-- [\w-]+: .*?^<!-- end -->$", re.DOTALL | re.MULTILINE)  # by generate.py
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
# Markdown's links and pictures, and HTML's, which can do what Markdown cannot.
LINK = re.compile(r"""\]\(([^)\s]+)(?:\s+"[^"]*")?\)|\b(?:src|srcset|href)="([^"\s]+)\"""")
HEADING = re.compile(r"^(#{1,6})[ ]+(.+?)[ ]*#*$", re.MULTILINE)


def without_code(text):
    return re.sub(r"`[^`\n]*`", "`code`", FENCED.sub("", text))


# ---- links ---------------------------------------------------------------------------------------


def anchor(title):
    """A heading as GitHub turns it into a name."""
    title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)  # a link in a heading: its text
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def anchors(text):
    """What a link to a part of this page may be called: the names of its headings."""
    names, seen = set(), {}
    for _, title in HEADING.findall(FENCED.sub("", text)):
        name = anchor(title)
        again = seen.get(name, 0)
        seen[name] = again + 1
        names.add(f"{name}-{again}" if again else name)
    return names | set(re.findall(r'\bid="([^"]+)"', text))


def dead_links(page, text):
    """What is wrong with the links and pictures of a page."""
    wrong = []
    for markdown, html in LINK.findall(without_code(text)):
        link = markdown or html
        if re.match(r"[a-z][a-z+.-]*:", link):  # https:, mailto:
            continue
        path, _, part = urllib.parse.unquote(link).partition("#")
        target = page.parent / path if path else page
        if not target.exists():
            wrong.append(f"the link to {link} leads nowhere")
        elif part and target.suffix == ".md":
            other = text if target == page else target.read_text(encoding="utf-8")
            if part not in anchors(other):
                wrong.append(f"the link to {link} names no heading of that page")
    return wrong


# ---- lessons -------------------------------------------------------------------------------------


def words(text):
    """Words of prose: no code, no tables, nothing generated, no pictures' descriptions."""
    for no_prose in (GENERATED, FENCED, COMMENT, PICTURE):
        text = no_prose.sub("", text)
    prose = [line for line in text.splitlines() if not line.startswith("|")]
    return sum(1 for word in " ".join(prose).split() if re.search(r"\w", word))


def lesson_faults(text):
    """What a chapter's README lacks as a lesson."""
    wrong = []
    headings = [title for level, title in HEADING.findall(FENCED.sub("", text)) if level == "##"]
    if headings != HEADINGS:
        first = next(pair for pair in zip(headings + ["nothing"], HEADINGS + ["nothing"]) if pair[0] != pair[1])
        wrong.append(f"the headings of a lesson: '{first[0]}' stands where '{first[1]}' should")
    return wrong + length_faults(text, "lesson", FEWEST, MOST)


def length_faults(text, what, fewest, most):
    """Whether a page is too short or too long."""
    count = words(text)
    return [] if fewest <= count <= most else [f"a {what} has {fewest} to {most} words, this one {count}"]


def pages():
    patterns = ("*.md", "0*/**/*.md", "docs/**/*.md", "images/*.md", "common/**/*.md")
    return sorted({page for pattern in patterns for page in ROOT.glob(pattern)})


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--words", action="store_true", help="tell how long lessons and workshops are")
    tell = arguments.parse_args().words
    wrong = []
    for page in pages():
        name = page.relative_to(ROOT)
        text = page.read_text(encoding="utf-8")
        found = dead_links(page, text)
        lesson = re.fullmatch(r"0\d-[^/]*/README.md", name.as_posix())
        workshop = re.fullmatch(rf"0\d-[^/]*/({'|'.join(WORKSHOPS)})/README.md", name.as_posix())
        if lesson:
            found += lesson_faults(text)
        if workshop:
            found += length_faults(text, "workshop", *WORKSHOPS[workshop.group(1)])
        if tell and (lesson or workshop):
            print(f"{name}: {words(text)} words")
        wrong += [f"{name}: {line}" for line in found]
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
