#!/usr/bin/env python3
"""Lays out the pages for Sphinx: the repository's own Markdown, nothing of it written twice.

    docs/site/stage.py FOLDER [REPOSITORY]    written anew: what Sphinx reads, and in _extra what it copies as it stands

REPOSITORY is the address that the first page asks a reader to clone.

The pages stay written for GitHub and for an editor. Here
- README.md becomes index.md, and links to source files lead to pages that show these files;
- each section of a chapter's README is a page, and the README a list of them;
- a kernel or a program in OpenCL, with the same in CUDA behind it, becomes two tabs;
- each file of recorded results becomes a page;
- the folder of a README becomes its part of the table of contents, in the order in which the README links to it.
Sphinx runs with -W: a link that leads nowhere, or a page that no contents list, ends the build.
"""

import functools
import html
import json
import os
import pathlib
import re
import shlex
import shutil
import sys
import textwrap
import urllib.parse

SITE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(SITE.parent / "tools"))
import pages  # noqa: E402
import play_data  # noqa: E402
import predictions  # noqa: E402
import recorded  # noqa: E402
import tables  # noqa: E402

ROOT = pages.ROOT
PLAY = pathlib.Path("docs/site/play")
FIRST, DOCS = pathlib.Path("README.md"), pathlib.Path("docs/README.md")
LANGUAGES = {".cl": "c", ".cpp": "cpp", ".hpp": "cpp", ".cu": "cuda", ".cuh": "cuda", ".py": "python", ".cmake": "cmake",
             ".json": "json"}
# What `kernels` and `whole` write (docs/tools/excerpts.py).
BLOCK = r"(```(?:(?!^```).)*^```)"
FOLDED = re.compile(rf"^OpenCL \(\[[\w.]+\]\([\w.]+\)\):\n\n{BLOCK}\n\n"
                    rf"<details><summary>The same in CUDA \([\w.]+\)</summary>\n\n{BLOCK}\n\n</details>$",
                    re.DOTALL | re.MULTILINE)
# Where the lab is, which here is on the page.
PUBLISHED = re.compile(r"(?<=^<!-- published: docs/site/conf.py -->\n).*?(?=\n<!-- end -->)", re.DOTALL | re.MULTILINE)
# The picture of the first page: on the site the lab, whose static/first.js runs the loop of a kernel.
PICTURE = re.compile(r"^!\[.*$", re.MULTILINE)
LOOP = re.compile(r"^    for .*^    }$", re.DOTALL | re.MULTILINE)
# Of a page that the search leaves out: it leads to lessons, not to listings.
NO_SEARCH = "---\nnosearch: true\n---\n\n"
# Code, in which nothing is a link: a block, or words in a line.
CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.DOTALL | re.MULTILINE)
TO_PLAY = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]*\.html(?:#[^)\s]*)?)\)")
# An answer that is folded, what is asked in it, and the question before it.
ANSWER = re.compile(r"^<details><summary>Answer</summary>\n.*?^</details>$", re.DOTALL | re.MULTILINE)
ASKED = re.compile(r"^<!-- predict: (.*?) -->$", re.MULTILINE)
# The same at the end of a lesson, for a terminal, which folds nothing: here it comes back behind its question.
AT_END = re.compile(r"^<details><summary>Answer: predict (\d+)</summary>\n(.*?^</details>\n)\n?", re.DOTALL | re.MULTILINE)
QUESTION = re.compile(r"^\*\*(\d+)\.(?:\*\*)? (.*?)(?=\n\n)", re.DOTALL | re.MULTILINE)
GOAL = re.compile(r"^\*\*Goal\.\*\* .*?(?=\n\n)", re.DOTALL | re.MULTILINE)
TARGET = re.compile(r"\]\(([^)\s]+)((?:\s+\"[^\"]*\")?)\)")


def place(page):
    """Where a page goes: a README is what its folder opens with."""
    return page.with_name("index.md") if page.name == "README.md" else page


def is_chapter(page):
    return re.fullmatch(r"0\d-[^/]*/README.md", page.as_posix()) is not None


def sections_of(text):
    """(name of its page, heading, the anchors in it) of each section."""
    found = []
    for level, heading in re.findall(r"^(##+) (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE):
        if level == "##":
            found.append((pages.anchor(heading), heading, []))
        found[-1][2].append(pages.anchor(heading))
    return found


def in_sections(text, sections):
    """(name, text) of the list of a chapter's sections, and of each of them, one level up. The list has their anchors, for links of others."""
    rest, parts = text, []
    for name, heading, _ in reversed(sections):
        rest, _, own = rest.rpartition(f"\n## {heading}\n")
        code = re.split(r"(^```.*?^```$)", own, flags=re.DOTALL | re.MULTILINE)
        code[::2] = [re.sub(r"^##", "#", part, flags=re.MULTILINE) for part in code[::2]]
        parts.insert(0, (name, f"---\nsection: true\n---\n\n# {heading}\n" + "".join(code)))
    entries = ["- " + "".join(f'<span id="{each}"></span>' for each in anchors) + f"[{heading}]({name}.md)" for name, heading, anchors in sections]
    return [("index", "\n".join([rest, "", '<div class="sections">', "", *entries, "", "</div>", ""])), *parts]


def relative(target, page):
    """The way from a page to a file, both from the root."""
    return pathlib.PurePosixPath(os.path.relpath(target, page.parent)).as_posix()


def two_tabs(match):
    """Code in OpenCL and in CUDA, in two tabs; the choice holds for all pages, and is remembered."""
    tab = "::::{{tab-item}} {}\n:sync: {}\n\n{}\n::::\n"
    return (":::::{tab-set}\n:sync-group: api\n\n" + tab.format("OpenCL", "opencl", match[1])
            + tab.format("CUDA", "cuda", match[2]) + ":::::")


def shown(file, page):
    """A whole file."""
    real = os.path.relpath(ROOT / file, (PAGES / page).parent)
    return f"```{{literalinclude}} {real}\n:language: {LANGUAGES.get(file.suffix, 'text')}\n:linenos:\n```\n"


class Links:
    """Where links lead on the site. What needs a page of its own for it is in `wanted`."""

    def __init__(self):
        self.pages = {page.relative_to(ROOT) for page in pages.pages()}
        self.wanted = set()
        self.copied = set()
        self.sections = {page: sections_of((ROOT / page).read_text(encoding="utf-8")) for page in self.pages if is_chapter(page)}

    def place(self, page, part):
        """Where this part of a page goes."""
        name = next((name for name, _, parts in self.sections.get(page, ()) if part in parts), None)
        return page.with_name(f"{name}.md") if name else place(page)

    def target(self, link, page):
        """The link as the site has it."""
        path, hash_, part = link.partition("#")
        if re.match(r"[a-z][a-z+.-]*:", link) or (not path and page not in self.sections):
            return link
        target = pathlib.Path(os.path.normpath(page.parent / urllib.parse.unquote(path or page.name)))
        if target in self.pages:
            return relative(self.place(target, part), place(page)) + hash_ + part
        if (ROOT / target).is_dir():
            readme = target / "README.md"
            if readme not in self.pages:
                self.wanted.add(target)
            return relative(place(readme) if readme in self.pages else target / "files.md", place(page))
        if target.suffix in (".svg", ".png", ".bmp"):
            self.copied.add(target)
            return link
        self.wanted.add(target)
        return relative(target.with_name(target.name + ".md"), place(page))

    def rewrite(self, text, page):
        """A page's text with its links as the site has them."""
        parts = CODE.split(text)
        for number in range(0, len(parts), 2):
            part = re.sub(rf"^{TO_PLAY.pattern}$", r'<a class="try" href="\2">\1</a> in the lab', parts[number], flags=re.MULTILINE)
            part = TO_PLAY.sub(r'<a href="\2">\1</a>', part)
            parts[number] = TARGET.sub(lambda m: f"]({self.target(m.group(1), page)}{m.group(2)})", part)
        return "".join(parts)


def contents(entries):
    """What stands below a page in the table of contents."""
    lines = [entry.with_suffix("").as_posix() for entry in entries]
    return "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(lines) + "\n```\n" if lines else ""


@functools.cache
def top(links):
    """What the first page lists."""
    chapters = sorted(filter(is_chapter, links.pages))
    return chapters + [PLAY / "README.md", pathlib.Path("docs/results/README.md"), DOCS]


def above(page, links):
    """The README in whose contents a page stands: that of its folder, or of the nearest around it."""
    if page in top(links):
        return FIRST
    folders = list(page.parents)[page.name == "README.md":]
    folder = next(folder for folder in folders if folder / "README.md" in links.pages)
    return folder / "README.md" if folder.parts else DOCS


def below(page, links):
    """What stands below a README in the contents, in the order in which it links to it."""
    text = (ROOT / page).read_text(encoding="utf-8")
    linked = [os.path.normpath(page.parent / link) for link in pages.links_of(page, text)]

    def order(other):
        return linked.index(str(other)) if str(other) in linked else len(linked), other

    mine = [other for other in links.pages if other != FIRST and above(other, links) == page]
    found = top(links) if page == FIRST else sorted(mine, key=order)
    return [pathlib.PurePosixPath(relative(place(other), page)) for other in found]


def asked(text, page, links, foretold):
    """The text with a place for a prediction before each answer that is asked for (docs/tools/predictions.py); they are added to `foretold`."""
    title, before = text.partition("\n")[0].lstrip("# ").split(":")[0], len(foretold)

    def with_places(answer):
        places = ""
        for words in ASKED.findall(answer[0]):
            of_it = predictions.question(*shlex.split(words))[0]
            number, question = ([("", "")] + QUESTION.findall(text[:answer.start()]))[-1]
            heading = re.findall(r"^## (.*)", text[:answer.start()], re.MULTILINE)[-1]
            its = page.parent if page.name == "README.md" else page.with_suffix("")
            foretold.append({
                **of_it, "id": f"{its} {len(foretold) - before + 1}",
                "link": f"{links.place(page, pages.anchor(heading)).with_suffix('.html').as_posix()}#{pages.anchor(heading)}",
                "unit": pages.plain(of_it.get("unit", "")), "title": f"{title}, question {number}" if number else title,
                "text": pages.plain(of_it["ask"] or question), "ask": of_it["ask"] and pages.plain(of_it["ask"])})
            places += prediction(foretold[-1], page) + "\n\n"
        return places + answer[0]

    return ANSWER.sub(with_places, text)


def prediction(what, page):
    """A place for one, or for the list of all of them."""
    text = html.escape(json.dumps(what, ensure_ascii=False))
    return f'<div class="predict" data-asked="{text}" data-all="{relative("predictions.html", page)}"></div>'


def answers_back(text):
    """The text with each answer to a prediction behind its question, and not at the page's end."""
    for number, answer in AT_END.findall(text):
        question = re.compile(rf"(^\*\*{number}\..*?)(?=^\*\*\d+\.|^## )", re.DOTALL | re.MULTILINE)
        before, heading, rest = text.partition("\n## Predict, then run\n")
        text = before + heading + question.sub(lambda m, answer=answer: f"{m[1]}<details><summary>Answer</summary>\n{answer}\n", rest, count=1)
    text = re.sub(r"\s+are\s+at\s+the\s+end\s+of\s+the\s+page\.", " are behind the questions.", text.replace("[answers](#answers)", "answers"))
    return AT_END.sub("", text)


def staged(page, links, foretold):
    """(where, text) of a page as Sphinx reads it, or of several."""
    text = asked(answers_back((ROOT / page).read_text(encoding="utf-8")), page, links, foretold)
    if page.parent in TASKS:
        in_lab = relative(PLAY / "lab.html", page) + f"#strategy={urllib.parse.quote(TASKS[page.parent], safe='')}"
        text = GOAL.sub(rf"\g<0> It is [a task in the lab]({in_lab}), too, in the browser.", text, count=1)
    text = FOLDED.sub(two_tabs, text)
    if page == FIRST and REPOSITORY:
        text = text.replace("in a clone of this repository", f"in a clone of [this repository]({REPOSITORY})")
    if page == FIRST:
        text = PICTURE.sub(lambda m: first_lab(m[0]), PUBLISHED.sub("", text), count=1)
    text = links.rewrite(text, page)
    text = pages.GENERATED.sub(lambda m: m.group(0).replace("\n\n|", "\n\n{.measured}\n|", 1), text)
    if page.name != "README.md":
        return [(place(page), text)]
    entries, folder = below(page, links), page.parent
    if page in links.sections:
        (_, text), *others = in_sections(text, links.sections[page])
        entries = [pathlib.Path(f"{name}.md") for name, _ in others] + entries
        return [(place(page), text + contents(entries)), *((folder / f"{name}.md", part) for name, part in others)]
    if folder.as_posix() == "docs/results":
        text += all_devices()
        entries += [pathlib.Path(f"{path.stem}.md") for path, *_ in recordings()]
    if page == FIRST:
        entries.insert(-1, pathlib.Path("predictions.md"))
    return [(place(page), text + contents(entries))]


def first_lab(picture):
    """The lab of the first page, and its picture where no script runs."""
    loop = textwrap.dedent(LOOP.search(play_data.kernel("racy")["code"])[0])
    page = (SITE / "first.html").read_text(encoding="utf-8").replace("{loop}", html.escape(loop))
    return page.replace("{task}", urllib.parse.quote(next(iter(play_data.TASKS)), safe="")).replace("{picture}", picture)


def recordings():
    """(path, its recording, the largest size of the sample picture in it, the chapters' runs of that, what device it was)."""
    for path in sorted((ROOT / "docs" / "results").glob("*.json")):
        recording = recorded.loaded(path)
        runs = recorded.select(recording, "runs", input="photo")
        size = max((entry["size"] for entry in runs), key=recorded.pixels_of)
        entries = [entry for entry in runs if entry["size"] == size and "/workshops/" not in entry["program"]]
        where = recording["machine"]
        on_gpu = where["gpu"] and any(entry["run"]["api"] != "C++" for entry in recording["runs"])
        name = where["gpu"].rsplit(",", 1)[0] if on_gpu else where["processor"]  # several files may be of one
        yield path, recording, size, entries, f"{name.replace('(R)', '').replace(' Processor', '')} ({path.stem})"


def all_devices():
    """A table of the chapters' best on each device, beside each other."""
    chapters, rows = sorted(folder.name for folder in ROOT.glob("0?-*")), []
    for path, recording, size, entries, name in recordings():
        for api in recorded.unique(entry["run"]["api"] for entry in entries):
            of_api = [entry for entry in entries if entry["run"]["api"] == api]
            best = {entry["run"]["chapter"]: max(recorded.speeds_of(recording, entry, result)[1] or 0 for result in entry["run"]["results"])
                    for entry in of_api}
            rows.append([f"[{name}]({path.stem}.md)", api, *(best.get(chapter) or None for chapter in chapters),
                         recorded.size_in_words(recorded.pixels_of(size)), recorded.dates(of_api)])
    return ("\n## All devices\n\nHow close each chapter's best comes to the read ceiling of the device, in %, on the sample picture.\n\n{.measured}\n"
            + "\n".join(tables.markdown(["<Device", "<API", *(chapter[:2] for chapter in chapters), "<Pixels", "<Recorded"], rows)) + "\n")


def results_page(path, recording, entries, name):
    """The chapters' programs on a machine: all strategies."""
    provenance, = tables.provenance(f"docs/results/{path.name}", recording, recording["runs"])
    rows = [[entry["run"]["chapter"], f"`{result['variant']}`", entry["run"]["api"], *recorded.speeds_of(recording, entry, result)]
            for entry in entries for result in entry["run"]["results"]]
    table = tables.markdown(["<Chapter", "<Strategy", "<API", "GB/s", "% of the read ceiling", "Times the speed of `serial`"], rows)
    return "\n".join([f"{NO_SEARCH}# {name}", "", f"All strategies on {tables.input_of(entries[0])}. What the numbers mean: "
                      f"[measuring](../measuring.md). All that was recorded is in `docs/results/{path.name}`.",
                      "", "{.measured}", *table, "", provenance, ""])


def file_page(path):
    """A page for a file or a folder that a page names."""
    head = f"---\norphan: true\nnosearch: true\n---\n\n# {path}\n\n"
    if (ROOT / path).is_dir():
        inside = sorted(file.relative_to(ROOT / path).as_posix() for file in (ROOT / path).rglob("*.*") if "__pycache__" not in file.parts)
        return path / "files.md", head + "".join(f"- `{name}`\n" for name in inside)
    page = path.with_name(path.name + ".md")
    return page, head + shown(path, page)


def write(page, text):
    path = PAGES / page
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    global PAGES, REPOSITORY, TASKS
    REPOSITORY = sys.argv[2] if len(sys.argv) == 3 else ""
    PAGES = pathlib.Path(sys.argv[1]).resolve()
    shutil.rmtree(PAGES, ignore_errors=True)
    TASKS = {pathlib.Path(task["exercise"]): name for name, task in reversed(play_data.write()["tasks"].items())
             if task["exercise"]}  # the first of several
    links, foretold = Links(), []
    for page in sorted(links.pages):
        for where, text in staged(page, links, foretold):
            write(where, text)
    write("predictions.md", f"{NO_SEARCH}# Your predictions\n\nThey stay in this browser.\n\n{prediction(foretold, pathlib.Path())}\n")
    for path, recording, _, entries, name in recordings():
        write(pathlib.Path("docs/results", f"{path.stem}.md"), results_page(path, recording, entries, name))
    for path in sorted(links.wanted):
        write(*file_page(path))
    for picture in links.copied:
        (PAGES / picture).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / picture, PAGES / picture)
    # The pages to play with are whole already; only their way back leads to a page of the site.
    for file in (ROOT / PLAY).glob("*.[hjc]*"):
        text = file.read_text(encoding="utf-8")
        write(f"_extra/{PLAY}/{file.name}", re.sub(r'href="([^":#]*)README\.md', r'href="\1index.html', text) if file.suffix == ".html" else text)


if __name__ == "__main__":
    main()
