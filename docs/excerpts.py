#!/usr/bin/env python3
"""Writes functions from the sources into the pages, and checks that pages and sources agree.

    docs/excerpts.py           rewrite the excerpts
    docs/excerpts.py --check   change nothing; exit 1 where a page differs from the sources

Rewriting needs cog (https://cog.readthedocs.io); where that is missing, checking does without. In a page an excerpt stands between two comments; the
first calls a function of this file:

    <!-- [[[cog excerpt("cpu.cpp", "count_serial") ]]] -->
    <!-- [[[end]]] -->

excerpt(file, function) shows a function; the file is relative to the page. kernels(function) shows
the function of histogram.cl and that of cuda.cu, folded. Both take since="text" and upto="text": only
the lines from the first that holds the one to the first after it that holds the other, and on to where
the blocks that begin there end.
"""

import argparse
import importlib.util
import pathlib
import re
import subprocess
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parent.parent
OPENING = "<!-- [[[cog "


class NoExcerpt(Exception):
    """There is no such function, or no such line in it."""


def function_lines(source, name):
    """The lines of a function that is defined at the left margin, from its name to its last brace."""
    lines = source.splitlines()
    starts = [number for number, line in enumerate(lines) if re.match(rf"\w[^;=]*\b{re.escape(name)}\(", line)]
    if len(starts) != 1:
        raise NoExcerpt(f"{len(starts)} functions are called {name}")
    for end in range(starts[0], len(lines)):
        if lines[end] == "}":
            return lines[starts[0] : end + 1]
    raise NoExcerpt(f"{name} has no end")


def depth(lines):
    """How many blocks are open at the end of these lines."""
    text = "".join(lines)
    return text.count("{") - text.count("}")


def part_of(lines, since, upto):
    """The lines from the one that holds `since` to the one that holds `upto`, or to where the blocks that begin
    there end, without the common indent."""

    def find(text, first):
        for number in range(first, len(lines)):
            if text in lines[number]:
                return number
        raise NoExcerpt(f"no line holds '{text}'")

    first = 0 if since is None else find(since, 0)
    last = len(lines) - 1 if upto is None else find(upto, first)
    while upto and last < len(lines) - 1 and depth(lines[first : last + 1]) > 0:
        last += 1
    if (since or upto) and lines[last] == "}":  # the function's own brace, whose partner is not shown
        last -= 1
    shown = lines[first : last + 1]
    # Directives stand at the left margin, whatever is around them.
    code = [line for line in shown if line.strip() and not line.startswith("#")]
    indent = min((len(line) - len(line.lstrip()) for line in code), default=0)
    return [line if line.startswith("#") else line[indent:] for line in shown]


def cut(path, name, since=None, upto=None):
    """What an excerpt shows. Raises NoExcerpt."""
    try:
        source = path.read_text(encoding="utf-8")
    except OSError as error:
        raise NoExcerpt(str(error)) from None
    try:
        return part_of(function_lines(source, name), since, upto)
    except NoExcerpt as error:
        raise NoExcerpt(f"{path.name}: {error}") from None


# ---- what the pages call -------------------------------------------------------------------------


def excerpt(file, name, since=None, upto=None):
    """Writes a function, or a part of one, of a file beside the page."""
    import cog  # exists while cog runs a page

    lines = cut(pathlib.Path(cog.inFile).parent / file, name, since, upto)
    language = "c" if file.endswith(".cl") else "cpp"
    cog.outl("\n".join([f"```{language}", *lines, "```"]))


def kernels(name, since=None, upto=None):
    """Writes a kernel, or a part of it, in OpenCL, and folded below it in CUDA: not to be read twice in a row.

    (Lines of code are too long for two columns on most pages.)
    """
    import cog

    cog.outl("OpenCL ([histogram.cl](histogram.cl)):\n")
    excerpt("histogram.cl", name, since, upto)
    cog.outl("\n<details><summary>The same in CUDA (cuda.cu)</summary>\n")
    excerpt("cuda.cu", name, since, upto)
    cog.outl("\n</details>")


# ---- the pages -----------------------------------------------------------------------------------


def pages():
    """The pages that have excerpts."""
    found = sorted({page for pattern in ("*.md", "0*/*.md", "docs/*.md") for page in ROOT.glob(pattern)})
    return [page for page in found if OPENING in page.read_text(encoding="utf-8")]


def with_excerpts(page):
    """The page as the sources have it. Raises NoExcerpt, also for a comment that makes no sense."""
    # Through its command line, which stays the same from version to version.
    cog = [sys.executable, "-B", "-m", "cogapp", "-n", "utf-8", "-I", str(ROOT / "docs")]
    done = subprocess.run([*cog, "-p", "from excerpts import excerpt, kernels", str(page)], capture_output=True)
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["cog failed"]
        raise NoExcerpt(lines[-1].removeprefix("excerpts.").removeprefix("NoExcerpt: "))
    return done.stdout.decode("utf-8")


MARKED = re.compile(r"(<!-- \[\[\[cog (.*?) \]\]\] -->\n).*?(<!-- \[\[\[end\]\]\] -->)", re.DOTALL)


def without_cog(page):
    """The same for systems that have no cog: enough to check by, for here a comment is one call."""
    written = []
    sys.modules["cog"] = types.SimpleNamespace(inFile=str(page), outl=lambda text="": written.append(f"{text}\n"))

    def replaced(match):
        written.clear()
        try:
            eval(match.group(2), {"excerpt": excerpt, "kernels": kernels})
        except (SyntaxError, NameError, TypeError, OSError) as error:
            raise NoExcerpt(f"{match.group(2)}: {error}") from None
        return match.group(1) + "".join(written) + match.group(3)

    return MARKED.sub(replaced, page.read_text(encoding="utf-8"))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true", help="change nothing, and exit 1 where a page differs")
    check = arguments.parse_args().check
    has_cog = importlib.util.find_spec("cogapp") is not None
    if not has_cog and not check:
        print(f"skipped: no cog for {sys.executable} (package python3-cogapp)")
        sys.exit(77)
    wrong = []
    for page in pages():
        name = page.relative_to(ROOT)
        old = page.read_text(encoding="utf-8")
        try:
            new = with_excerpts(page) if has_cog else without_cog(page)
        except NoExcerpt as error:
            wrong.append(f"{name}: {error}")
            continue
        if new != old and check:
            wrong.append(f"{name}: an excerpt differs from its source (docs/excerpts.py writes it)")
        elif new != old:
            page.write_text(new, encoding="utf-8")
            print(f"wrote {name}")
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
