#!/usr/bin/env python3
"""Which input shows which mistake: runs the gallery (the chapters' broken/), for docs/gallery.md.

    docs/tools/gallery.py            run each mistake in OpenCL (PoCL) on each input, and under Oclgrind; and record
    docs/tools/gallery.py --cuda     the same in CUDA on a GPU, and under compute-sanitizer; --commit names what is run

What was recorded stands in docs/results/gallery/gallery.json. The mistakes' programs have to be built (cmake --build build --target
gallery_opencl gallery_cuda). For generate.py there are:

    gallery: counts                  how many mistakes the inputs show
    gallery: names                   how many the diagnosis names rightly
    gallery: 02-global-atomics       which inputs show that chapter's mistakes
    gallery: recorded                when and where that was recorded
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import tempfile

import record
import recorded
from recorded import ROOT

RESULTS = ROOT / "docs" / "results" / "gallery" / "gallery.json"
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
    subprocess.run(["cmake", f"-DMISTAKE={file}", f"-DFOLDER={folder}", "-P", ROOT / "common/tutor/gallery/make.cmake"],
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


def shows(rows, *inputs):
    """How many of these mistakes one of these inputs shows."""
    return sum(any(row["verdicts"][name] != "right" for name in inputs) for row in rows)


def counts(rows, in_cuda):
    shown = sum(any(verdict != "right" for verdict in row["verdicts"].values()) or bool(row["found"]) for row in rows)
    return [
        f"There are {len(rows)} mistakes. On PoCL the sample picture alone, in the usual launch, shows {shows(rows, 'sample picture')}"
        f" of them, the six inputs together show {shows(rows, *INPUTS)}, and the inputs and Oclgrind together show {shown}. In CUDA"
        f" {len(in_cuda)} of the mistakes can be made. On the GPU the sample picture shows {shows(in_cuda.values(), 'sample picture')} of these,"
        f" and the six inputs show {shows(in_cuda.values(), *INPUTS)}.",
    ]


def names(rows, in_cuda):
    def right(of_rows):
        asked = [row for row in of_rows if row["called"]]
        return f"{sum(row['called'] in row['names'].split() for row in asked)} of {len(asked)}"

    return [f"In OpenCL {right(rows)} get the right name, in CUDA {right(in_cuda.values())}."]


def mistakes_of(chapter, rows, in_cuda):
    return [
        "| Mistake | " + " | ".join(INPUTS) + " | Oclgrind | compute-sanitizer | Called |",
        "|---|" + ":-:|" * (len(INPUTS) + 2) + "---|",
        *(f"| `{row['mistake']}` | " + " | ".join(cells_of(row, in_cuda.get((chapter, row["mistake"])))) + " |"
          for row in rows if row["chapter"] == chapter),
    ]


def block(_, what):
    """What docs/gallery.md has from the record."""
    contents = json.loads(RESULTS.read_text(encoding="utf-8"))
    rows = contents["opencl"]["mistakes"]
    in_cuda = {(row["chapter"], row["mistake"]): row for row in contents["cuda"]["mistakes"]}
    if what == "recorded":
        return [f"OpenCL was recorded {where_recorded(contents['opencl'])}; CUDA {where_recorded(contents['cuda'])}."]
    if what in ("counts", "names"):
        return {"counts": counts, "names": names}[what](rows, in_cuda)
    lines = mistakes_of(what, rows, in_cuda)
    if len(lines) == 2:
        raise recorded.NotRecorded("no mistake of such a chapter")
    return lines


KINDS = {"gallery": block}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--cuda", action="store_true", help="run the CUDA programs, in the place of OpenCL's")
    arguments.add_argument("--commit", help="what is run, where there is no git to ask")
    options = arguments.parse_args()
    contents = json.loads(RESULTS.read_text(encoding="utf-8"))
    contents["cuda" if options.cuda else "opencl"] = recorded_now(options.cuda, options.commit)
    recorded.write_whole(RESULTS, recorded.text_of(contents) + "\n")


if __name__ == "__main__":
    main()
