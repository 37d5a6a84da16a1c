#!/usr/bin/env python3
"""Checks the pages: links and pictures lead somewhere, and lessons have their headings.

    docs/tools/pages.py     exit 1 where a link or picture is not there, a picture or a table's column has no words, a link's #part is no
                      heading of its page, or a lesson's headings differ from those below
    docs/tools/pages.py --site FOLDER     the links of a built site; those to pages of others are for
                      `./tutorial site links`, which needs a network
"""

import argparse
import functools
import html
import pathlib
import re
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PLAY = ROOT / "docs" / "site" / "play"
HEADINGS = ["What you will learn", "The idea in one picture", "The strategy", "The race conditions", "Where the data lives", "Predict, then run",
            "Measured", "What went wrong in published code", "Exercises", "Check yourself", "Sources"]
ANSWERS = "Answers"  # a lesson may end with them, where no question is above its answer

FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
GENERATED = re.compile(r"^<!-- [\w-]+: .*?^<!-- end -->$", re.DOTALL | re.MULTILINE)  # by generate.py
# HTML's links and pictures; and Markdown's, in which HTML stands, too, for what Markdown cannot do.
IN_HTML = re.compile(r'\b(?:src|srcset|href)="([^"\s]+)"')
LINK = re.compile(rf"""\]\(([^)\s]+)(?:\s+"[^"]*")?\)|{IN_HTML.pattern}""")
HEADING = re.compile(r"^(#{1,6})[ ]+(.+?)[ ]*#*$", re.MULTILINE)


def plain(text, keep_code=False):
    """A paragraph on one line, without links and marks; code stays between ` where it is kept."""
    text = text if keep_code else text.replace("`", "").replace("**", "")
    return " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)|\*+([^*`]+)\*+", r"\1\2", text).split())


def anchor(title):
    """A heading as GitHub turns it into a name."""
    title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)  # a link in a heading: its text
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


@functools.cache
def anchors(text):
    """What a link to a part of this page may be called: the names of its headings, or what HTML calls so."""
    names = [anchor(title) for _, title in HEADING.findall(FENCED.sub("", text))]
    again = [f"{name}-{names[:place].count(name)}" for place, name in enumerate(names) if name in names[:place]]
    return {*re.findall(r'\bid="([^"]+)"', text), *names, *again}


def links_of(page, text):
    if page.suffix == ".html":
        return [html.unescape(link) for link in IN_HTML.findall(text)]
    without_code = re.sub(r"`[^`\n]*`", "`code`", FENCED.sub("", text))
    return [in_markdown or in_html for in_markdown, in_html in LINK.findall(without_code)]


def dead_links(page, text, root=ROOT):
    """What is wrong with the links and pictures of a page, which lead to nothing outside of `root`."""
    wrong = []
    for link in links_of(page, text):
        if re.match(r"[a-z][a-z+.-]*:|//", link):  # https:, mailto:
            continue
        path, _, part = urllib.parse.unquote(link).partition("#")
        target = page.parent / path.partition("?")[0] if path else page
        if target.is_dir() and page.suffix == ".html":
            target = target / "index.html"
        if not target.exists():
            wrong.append(f"the link to {link} leads nowhere")
        elif not target.resolve().is_relative_to(root):
            wrong.append(f"the link to {link} leads out of {root}")
        # a=b is the state of a page to play with
        elif part and target.suffix in (".md", ".html") and "=" not in part:
            other = text if target == page else target.read_text(encoding="utf-8")
            if part not in anchors(other):
                wrong.append(f"the link to {link} names no heading of that page")
    return wrong


def lesson_faults(text):
    """What a chapter's README lacks as a lesson."""
    wrong = []
    headings = [title for level, title in HEADING.findall(FENCED.sub("", text)) if level == "##"]
    if headings not in (HEADINGS, [*HEADINGS, ANSWERS]):
        first = next(pair for pair in zip(headings + ["nothing"], HEADINGS + ["nothing"]) if pair[0] != pair[1])
        wrong.append(f"the headings of a lesson: '{first[0]}' stands where '{first[1]}' should")
    to_predict, at_end = (text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0] for heading in ("Predict, then run", ANSWERS))
    asked, told = re.findall(r"^\*\*(\d+)\.", to_predict, re.MULTILINE), re.findall(r"Answer: predict (\d+)<", at_end)
    if at_end and asked != told:
        wrong.append(f"the questions {', '.join(asked)} have the answers {', '.join(told)}")
    answers = re.findall(rf"<summary>Answer{': predict' if at_end else '<'}.*?</details>", at_end or to_predict, re.DOTALL)
    return wrong + ["an answer has nothing to predict"] * sum("<!-- predict: " not in answer for answer in answers)


def pages():
    patterns = ("*.md", "0*/**/*.md", "docs/**/*.md", "images/*.md", "common/**/*.md")
    return sorted({page for pattern in patterns for page in ROOT.glob(pattern)})


def wordless(text):
    """What a screen reader would say nothing of."""
    text = FENCED.sub("", text)
    return (["a picture has no words"] * len(re.findall(r"!\[\s*\]\(", text))
            + ["a column of a table has no head"] * len(re.findall(r"^\|(?:.*\|)? +\|.*\n\|[-:|]+\|$", text, re.MULTILINE)))


def faults(page):
    """What is wrong with a page of the repository."""
    text = page.read_text(encoding="utf-8")
    is_lesson = re.fullmatch(r"0\d-[^/]*/README.md", page.relative_to(ROOT).as_posix())
    return dead_links(page, text) + wordless(text) + (lesson_faults(text) if is_lesson else [])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--site", type=pathlib.Path, metavar="FOLDER", help="check the links of this site")
    site = arguments.parse_args().site
    root = site.resolve() if site else ROOT
    if site:
        wrong = {page: dead_links(page, page.read_text(encoding="utf-8"), root) for page in sorted(root.rglob("*.html"))}
    else:
        wrong = {page: faults(page) for page in (*pages(), *sorted(PLAY.glob("*.html")))}
    if not wrong:
        sys.exit(f"{root} has no pages")
    lines = [f"{page.relative_to(root)}: {line}" for page, of_page in wrong.items() for line in of_page]
    sys.exit("\n".join(lines) or 0)


if __name__ == "__main__":
    main()
