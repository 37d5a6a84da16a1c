#!/usr/bin/env python3
"""Which input shows which mistake: runs the gallery (the chapters' broken/) and writes docs/gallery.md.

    docs/tools/gallery.py            run each mistake in OpenCL (PoCL) on each input, and under Oclgrind; record and write
    docs/tools/gallery.py --cuda     the same in CUDA on a GPU, and under compute-sanitizer; --commit names what is run
    docs/tools/gallery.py --check    run nothing; exit 1 where the page is not what was recorded

What was recorded stands in docs/results/gallery/gallery.json, and the table is made of it alone. The mistakes' programs have to
be built (cmake --build build --target gallery_opencl gallery_cuda).
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import record
import recorded
from recorded import ROOT

RESULTS = ROOT / "docs" / "results" / "gallery" / "gallery.json"
PAGE = ROOT / "docs" / "gallery.md"
ONE, THREE, SIX = (["--groups", str(groups), "--group-size", "64"] for groups in (1, 3, 6))
# The columns: what a careless test, and then a better one, might run.
INPUTS = {
    "sample picture": [],
    "random": ["--random", "100003", *THREE],
    "one group": ["--random", "100003", *ONE],
    "odd rows": [str(ROOT / "images" / "colour.bmp"), *SIX],
    "one value": ["--random", "1000003", "--constant", "127", *THREE],
    "few pixels": ["--random", "100", *THREE],
}
CPU = "01-cpu"
POCL = "Portable Computing Language"
OCLGRIND = ["oclgrind", "--data-races", "--max-errors", "50"]
SMALL = ["--random", "1000", *THREE]
LARGE = ["--random", "150", "--groups", "2", "--group-size"]  # fewer pixels than work-items, more of those than bins
FINDS = re.compile(r"data race at|Invalid (?:read|write)|divergence detected|Uninitialized value [a-z ]*local memory")
SANITIZER_FINDS = re.compile(r"Race reported|Invalid __\w+__|[Bb]arrier error|[Mm]isaligned")
NAMED = re.compile(r"^  why[^\n]*\(([a-z0-9-]+)\)$|\((out-of-bounds|does-not-end)\)", re.MULTILINE)


def fields_of(file):
    """What stands above the changes in a mistake's file."""
    head, *_ = file.read_text(encoding="utf-8").split("\n--- ")
    sentence, *lines = head.splitlines()
    return {"sentence": sentence, **dict(line.split(": ", 1) for line in lines if ": " in line)}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=120)
    return done.returncode, done.stdout + done.stderr


def verdict(status):
    """ "right" (66 is ThreadSanitizer's: a race, and a right result), "wrong" (also where it crashes or does not end), or what else it was."""
    return {0: "right", 1: "wrong", 66: "right", 77: "cannot run"}.get(status, f"ends with {status}")


def called_by(command, shows):
    """What the diagnosis says of a run that shows the mistake."""
    os.environ["TUTORIAL_DIAGNOSIS_SECONDS"] = "20"
    match = NAMED.search(run([*command, *shows])[1])
    return (match.group(1) or match.group(2)) if match else "unclear"


def usual(given):
    """The arguments of every run of a mistake."""
    arguments = ["--variant", given["variant"], "--repeat", "1", "--no-ceiling", "--time-limit", "10"]
    return arguments + (["--walk", "blocked"] if "--walk blocked" in given["shows"] else [])


def arguments_of(shows):
    return shows.replace("PICTURES", str(ROOT / "images")).replace("--walk blocked ", "").split()


def room_of(given):
    """Work-items for a group of more than there are bins, or as many as there is memory for."""
    return "96" if given["variant"].startswith("uchar") else "320"


def tried(file, folder):
    """What the inputs and Oclgrind say of a mistake in OpenCL."""
    chapter, given = file.parent.parent.name, fields_of(file)
    build = ROOT / "build" / chapter
    if chapter == CPU:
        command = [str(build / "broken" / file.stem / "cpu"), "--variant", given["variant"], "--repeat", "1", "--no-ceiling"]
        runs = {name: run([*command, *(word for word in arguments if word not in ("--group-size", "64"))])
                for name, arguments in INPUTS.items()}
        return {"chapter": chapter, "mistake": file.stem, "variant": given["variant"], "sentence": given["sentence"],
                "verdicts": {name: verdict(status) for name, (status, _) in runs.items()},
                "found": sorted({found for _, said in runs.values() for found in re.findall("ThreadSanitizer: (data race)", said)}),
                "names": given["names"], "called": None}
    command = [str(build / "opencl")]
    if "\n--- opencl.cpp" in file.read_text(encoding="utf-8"):
        command = [str(build / "broken" / file.stem / "opencl")]
    subprocess.run(["cmake", f"-DMISTAKE={file}", f"-DFOLDER={folder}", "-P", ROOT / "common/gallery/make.cmake"],
                   check=True, capture_output=True)
    if (pathlib.Path(folder) / "histogram.cl").exists():
        command += ["--kernels", f"{folder}/histogram.cl"]
    command += usual(given)
    on_pocl, quiet = [*command, "--device", POCL], [*command, "--no-diagnosis"]
    verdicts = {name: verdict(run([*quiet, "--device", POCL, *arguments])[0]) for name, arguments in INPUTS.items()}
    shows = arguments_of(given["shows"])
    launches = [SMALL, [*LARGE, room_of(given)]] + ([shows[1:]] if shows[0] == "oclgrind" else [])
    found = [set(FINDS.findall(run([*OCLGRIND, *quiet, "--device", "Oclgrind", *launch])[1])) for launch in launches]
    called = None if shows[0] == "oclgrind" else called_by(on_pocl, shows)  # None: Oclgrind alone shows it
    return {"chapter": chapter, "mistake": file.stem, "variant": given["variant"], "sentence": given["sentence"],
            "verdicts": verdicts, "found": sorted(set.union(*found)), "names": given["names"], "called": called}


def tried_in_cuda(file):
    """What the inputs and compute-sanitizer say of a mistake in CUDA; None where it has no form there."""
    chapter, given = file.parent.parent.name, fields_of(file)
    if not re.search(r"^--- (cuda.cu|histogram.cuh)$", file.read_text(encoding="utf-8"), re.MULTILINE):
        return None
    command = [str(ROOT / "build" / chapter / "broken" / file.stem / "cuda"), *usual(given)]
    quiet = [*command, "--no-diagnosis"]
    verdicts = {name: verdict(run([*quiet, *arguments])[0]) for name, arguments in INPUTS.items()}
    found = [tool for tool, launch in (("memcheck", SMALL), ("racecheck", SMALL), ("synccheck", [*LARGE, room_of(given)]))
             if SANITIZER_FINDS.search(run(["compute-sanitizer", "--tool", tool, *quiet, *launch])[1])]
    names, shows = given.get("gpu", given["names"]), arguments_of(given.get("gpu-shows", given["shows"]))
    by_a_tool = not shows[0].startswith("-") and "/" not in shows[0]
    return {"chapter": chapter, "mistake": file.stem, "verdicts": verdicts, "found": found, "names": names,
            "called": None if by_a_tool else called_by(command, shows)}


def recorded_now(cuda, commit):
    """What one API's half of the results is now. What was stopped goes on where it was, at the same commit."""
    files = sorted(ROOT.glob("0*/broken/*.txt"))
    machine = record.machine(ROOT / "build", commit)
    begun = ROOT / "build" / f"gallery-{'cuda' if cuda else 'opencl'}-{machine['commit']}.jsonl"
    known = {}
    if begun.exists():
        known = dict(json.loads(line) for line in begun.read_text(encoding="utf-8").splitlines())

    def row_of(file):
        name = str(file.relative_to(ROOT))
        if name not in known:
            with tempfile.TemporaryDirectory() as folder:
                known[name] = tried_in_cuda(file) if cuda else tried(file, folder)
            with begun.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps([name, known[name]]) + "\n")
            print(f"[{len(known)}/{len(files)}] {name}", flush=True)
        return known[name]

    # A GPU has room for several at once; on PoCL they would be in each other's way.
    with concurrent.futures.ThreadPoolExecutor(max_workers=6 if cuda else 1) as together:
        rows = [row for row in together.map(row_of, files) if row]
    begun.unlink()
    _, devices = run([str(ROOT / "build/03-local-atomics" / ("cuda" if cuda else "opencl")), "--list-devices"])
    device = next(line for line in devices.splitlines() if cuda or POCL in line).split(": ", 1)[1]
    return {"machine": machine, "device": device, "mistakes": rows}


def cells_of(row, in_cuda):
    """A row of the table: each input, the two tools, and what it is called."""
    cells = []
    for name in INPUTS:
        letters = [letter for letter, of_api in (("P", row), ("G", in_cuda)) if of_api and of_api["verdicts"][name] != "right"]
        cells.append(" ".join(letters))
    called = f"`{row['called']}`" if row["called"] else ""
    if in_cuda and in_cuda["called"] and in_cuda["called"] != row["called"]:
        called += f"{', ' if called else ''}in CUDA `{in_cuda['called']}`"
    return [*cells, "x" if row["found"] else "", ", ".join(in_cuda["found"]) if in_cuda else "", called]


def where_recorded(half):
    machine = half["machine"]
    return (f"on {machine['date']} at commit {machine['commit']} on {half['device']} (host: {machine['processor']}, "
            f"family {machine['processor_family']}, model {machine['processor_model']})")


def page_of(contents):
    rows = contents["opencl"]["mistakes"]
    in_cuda = {(row["chapter"], row["mistake"]): row for row in contents["cuda"]["mistakes"]}

    def how_many(of_rows, *inputs):
        return sum(any(row["verdicts"][name] != "right" for name in inputs) for row in of_rows)

    def named(of_rows):
        asked = [row for row in of_rows if row["called"]]
        return f"{sum(row['called'] in row['names'].split() for row in asked)} of {len(asked)}"

    gpu = list(in_cuda.values())
    by_either = sum(any(v != "right" for v in row["verdicts"].values()) or bool(row["found"]) for row in rows)
    lines = [
        "# Which input shows which mistake",
        "",
        "These are the mistakes of the gallery (`broken/` in each chapter, `./tutorial broken`). Each was run on six inputs, in OpenCL",
        "through PoCL and in CUDA on a GPU, and under the tools. **P** (on PoCL) and **G** (on the GPU) mean that the result differs",
        "from the CPU's, or that the program crashes or does not end. The columns of the tools show whether Oclgrind reports a fault",
        "(x), and which tools of compute-sanitizer do. (Chapter 01 is C++: there P is the CPU, and x is ThreadSanitizer.) **The empty",
        "cells are the lesson**: a test without the right input, launch and tool passes. (A race shows by luck, between groups on a",
        "CPU and everywhere on a GPU, so its letters change from run to run.)",
        "",
        f"There are {len(rows)} mistakes. On PoCL the sample picture alone, in the usual launch, shows {how_many(rows, 'sample picture')} of them, the six inputs",
        f"together show {how_many(rows, *INPUTS)}, and the inputs and Oclgrind together show {by_either}. In CUDA {len(gpu)} of the mistakes can be made. On the",
        f"GPU the sample picture shows {how_many(gpu, 'sample picture')} of these, and the six inputs show {how_many(gpu, *INPUTS)}. Each of the others needs an input of its own,",
        "which its file names.",
        "",
        '"Called" is the name that the [diagnosis](diagnosis.md) gives the mistake on the input that its file names: in OpenCL',
        f"{named(rows)} get the right name, in CUDA {named(gpu)}.",
        "",
        "*Random*: 100003 pixels in 3 groups of 64. *One group*: the same pixels in one group. *Odd rows*: 1021 pixels wide, 6 groups",
        "of 64. *One value*: 1000003 pixels. *Few pixels*: 100, fewer than there are work-items.",
        "",
    ]
    for chapter in recorded.unique(row["chapter"] for row in rows):
        lines += [f"## {chapter}", ""]
        lines.append("| Mistake | " + " | ".join(INPUTS) + " | Oclgrind | compute-sanitizer | Called |")
        lines.append("|---|" + ":-:|" * (len(INPUTS) + 2) + "---|")
        lines += [f"| `{row['mistake']}` | " + " | ".join(cells_of(row, in_cuda.get((chapter, row["mistake"])))) + " |"
                  for row in rows if row["chapter"] == chapter]
        lines.append("")
    lines += [f"OpenCL was recorded {where_recorded(contents['opencl'])}; CUDA", f"{where_recorded(contents['cuda'])}.",
              "`docs/tools/gallery.py` runs them and writes this page.", ""]
    return "\n".join(lines)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true", help="run nothing, and exit 1 where the page differs")
    arguments.add_argument("--cuda", action="store_true", help="run the CUDA programs, in the place of OpenCL's")
    arguments.add_argument("--commit", help="what is run, where there is no git to ask")
    options = arguments.parse_args()
    contents = json.loads(RESULTS.read_text(encoding="utf-8"))
    if options.check:
        if PAGE.read_text(encoding="utf-8") != page_of(contents):
            sys.exit("docs/gallery.md is not what was recorded (docs/tools/gallery.py writes it)")
        return
    contents["cuda" if options.cuda else "opencl"] = recorded_now(options.cuda, options.commit)
    recorded.write_whole(RESULTS, recorded.text_of(contents) + "\n")
    recorded.write_whole(PAGE, page_of(contents))


if __name__ == "__main__":
    main()
