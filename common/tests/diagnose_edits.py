#!/usr/bin/env python3
"""What the diagnosis says of kernels with one edit, drawn by chance: the share of each verdict.

usage: diagnose_edits.py BUILD [--count 60] [--seed 1] [--json FILE]

An edit is one of mutate.py's, in the kernels of chapters 02 to 04. The strategy that it belongs to is run on three inputs,
up to the first that shows it. One line for each edit, then the shares. --json writes them down, as in
docs/results/gallery/edits.json; a line that is named is right if it is the edited one or the next to it.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from mutate import ROOT, edits

STRATEGIES = {
    "02-global-atomics": {"histogram_global": "global", "histogram_global_blocked": "global --walk blocked",
                          "subhist": "subhist", "sum_tables": "subhist"},
    "03-local-atomics": {"histogram_local": "local", "histogram_local_blocked": "local --walk blocked",
                         "histogram_buckets": "local-buckets", "subhist": "local-subhist", "sum_tables": "local-subhist"},
    "04-per-thread-bins": {"histogram_private": "private", "histogram_uchar": "uchar-bins",
                           "histogram_uchar_banked": "uchar-bins-banked", "count_four": "lane-bins",
                           "count_sixteen": "lane-bins", "histogram_lanes": "lane-bins"},
}  # fmt: skip
INPUTS = ("--random 1000003", "--random 100003 --groups 3 --group-size 64", "--constant 7 --random 1000003")
FUNCTION = re.compile(r"^(?:__kernel .*?)?void (\w+)\(", re.MULTILINE)


def every_edit():
    """(chapter, variant, line, what it was and is, the text with it)."""
    for chapter, strategies in STRATEGIES.items():
        text = (ROOT / chapter / "histogram.cl").read_text(encoding="utf-8")
        for begin, end, new in edits(text, python=False):
            functions = FUNCTION.findall(text[:begin])
            if not functions or functions[-1] not in strategies:
                continue
            faulty = text[:begin] + new + text[end:]
            line = text.count("\n", 0, begin)
            words = f"{text.splitlines()[line].strip()}  ->  {faulty.splitlines()[line].strip()}"
            yield chapter, strategies[functions[-1]], line + 1, words, faulty


def verdict(build, chapter, variant, kernels):
    """What is said of it, by which name, and the line that is named."""
    for given in INPUTS:
        command = [build / chapter / "opencl", "--kernels", kernels, "--variant", *variant.split(), *given.split()]
        run = subprocess.run([*map(str, command), "--repeat", "1", "--no-ceiling", "--device", "Portable"],
                             capture_output=True, text=True, errors="replace", check=False)  # fmt: skip
        why = re.search(r"^  (why[^:]*): (.*)", run.stderr, re.MULTILINE)
        if why:
            how = "unclear" if why[2].startswith("unclear") else why[1]
            at = re.search(r"^  look at .*:(\d+)$", run.stderr, re.MULTILINE)
            return how, (re.findall(r"\(([\w-]+)\)$", why[2]) or [""])[0], int(at[1]) if at else None
        if run.returncode != 0:
            return ("does not build" if run.returncode == 2 else "crashes or does not end"), "", None
    return "does not show", "", None


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("build", type=lambda word: pathlib.Path(word).resolve())
    arguments.add_argument("--count", type=int, default=60)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--json", type=pathlib.Path)
    options = arguments.parse_args()
    found = list(every_edit())
    random.Random(options.seed).shuffle(found)
    number, lines = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        kernels = pathlib.Path(folder) / "histogram.cl"
        for chapter, variant, line, words, faulty in found[: options.count]:
            kernels.write_text(faulty, encoding="utf-8")
            how, name, at = verdict(options.build, chapter, variant, kernels)
            number[how] += 1
            if how.startswith("why"):
                lines["none" if at is None else "right" if abs(at - line) <= 1 else "another"] += 1
            print(f"{how:<24}{name:<28}{chapter}/histogram.cl:{line}: {words}", flush=True)
    for how, times in number.most_common():
        print(f"{times:4} {how}")
    print(f"{sum(number.values())} of {len(found)} edits, seed {options.seed}; lines: {dict(lines)}")
    if options.json:
        options.json.write_text(json.dumps({
            "commit": subprocess.check_output(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], text=True).strip(),
            "edits": len(found), "seed": options.seed, "verdicts": dict(number.most_common()), "lines": dict(lines),
        }, indent=2) + "\n")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
