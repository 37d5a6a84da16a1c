"""Functions from the sources, for generate.py:

    excerpt: histogram.hpp count_serial
                                     a function of a file beside the page
    kernels: histogram_global        the function of histogram.cl, and folded below it that of histogram.cuh
    hosts: "in OpenCL" last "in CUDA" last
                                     lines of main() in opencl.cpp, from one text to another, and folded below it those of
                                     cuda.cu; where there is no last text, the one line
    whole: first.cpp first.cu        a program, from its first line to its last, and folded below it the same in CUDA

The first two take since="text" and upto="text": only the lines from the first that holds the one to the first after it
that holds the other, and on to where the blocks that begin there end. For `kernels:` each text stands in both files.
"""

import re


class NoExcerpt(ValueError):
    """There is no such function, or no such line in it."""


def function_lines(source, name):
    """The lines of a function that is defined at the left margin, from its name to its last brace."""
    lines = source.splitlines()
    starts = [number for number, line in enumerate(lines) if re.match(rf"\w[^;=]*\b{re.escape(name)}\(", line)]
    if len(starts) != 1:
        raise NoExcerpt(f"{len(starts)} functions are called {name}")
    if "}" not in lines[starts[0]:]:
        raise NoExcerpt(f"{name} has no end")
    return lines[starts[0] : lines.index("}", starts[0]) + 1]


def depth(lines):
    """How many blocks are open at the end of these lines."""
    text = "".join(lines)
    return text.count("{") - text.count("}")


def part_of(lines, since=None, upto=None):
    """The lines from the one that holds `since` to the one that holds `upto`, or to where the blocks that begin
    there end, without the common indent."""

    def find(text, first):
        found = next((number for number in range(first, len(lines)) if text in lines[number]), None)
        if found is None:
            raise NoExcerpt(f"no line holds '{text}'")
        return found

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


def code(file, lines):
    return ["```c" if file.endswith(".cl") else "```cpp", *lines, "```"]


def folded(opencl, opencl_code, cuda, cuda_code):
    """Code in OpenCL, and folded below it in CUDA: not to be read twice in a row.

    (Lines of code are too long for two columns on most pages.)
    """
    return [f"OpenCL ([{opencl}]({opencl})):", "", *opencl_code, "",
            f"<details><summary>The same in CUDA ({cuda})</summary>", "", *cuda_code, "", "</details>"]


def excerpt(page, file, name, *part):
    """A function, or a part of one, of a file beside the page. Raises NoExcerpt or OSError."""
    try:
        lines = function_lines((page.path.parent / file).read_text(encoding="utf-8"), name)
        return code(file, part_of(lines, **dict(word.partition("=")[::2] for word in part)))
    except NoExcerpt as error:
        raise NoExcerpt(f"{file}: {error}") from None


def kernels(page, name, *part):
    """A kernel, or a part of it: histogram.cl and histogram.cuh must both have what is asked for."""
    return folded(*(each for file in ("histogram.cl", "histogram.cuh") for each in (file, excerpt(page, file, name, *part))))


def hosts(page, *words):
    """What is new in the host programs."""
    return folded(*(each for file, since, upto in (("opencl.cpp", *words[:2]), ("cuda.cu", *words[2:]))
                    for each in (file, excerpt(page, file, "main", f"since={since}", f"upto={upto or since}"))))


def whole(page, *files):
    """A program that stands alone."""
    return folded(*(each for file in files for each in (file, code(file, (page.path.parent / file).read_text(encoding="utf-8").splitlines()))))


KINDS = {"excerpt": excerpt, "kernels": kernels, "hosts": hosts, "whole": whole}
