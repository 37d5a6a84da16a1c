#!/usr/bin/env python3
"""Which input shows which mistake: runs the gallery (the chapters' broken/) and writes docs/gallery.md.

    docs/gallery.py            run each mistake in OpenCL on each input, and under Oclgrind; record and write
    docs/gallery.py --check    run nothing; exit 1 where the page is not what was recorded

What was recorded stands in docs/results/gallery.json, and the table is made of it alone.
"""

import argparse
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

RESULTS = ROOT / "docs" / "results" / "gallery.json"
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
OCLGRIND = ["oclgrind", "--data-races", "--max-errors", "50"]
SMALL = ["--random", "1000", *THREE]
LARGE = ["--random", "150", "--groups", "2", "--group-size"]  # fewer pixels than work-items, more of those than bins
FINDS = re.compile(r"data race at|Invalid (?:read|write)|divergence detected|Uninitialized value [a-z ]*local memory")
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
    """ "right", "wrong" (also where it crashes or does not end), or what else it was."""
    return {0: "right", 1: "wrong", 77: "cannot run"}.get(status, f"ends with {status}")


def tried(file, folder):
    """What the inputs and Oclgrind say of a mistake."""
    chapter, given = file.parent.parent.name, fields_of(file)
    build = ROOT / "build" / chapter
    command = [str(build / "opencl")]
    if "\n--- opencl.cpp" in file.read_text(encoding="utf-8"):
        command = [str(build / "broken" / file.stem / "opencl")]
    subprocess.run(["cmake", f"-DMISTAKE={file}", f"-DFOLDER={folder}", "-P", ROOT / "common/gallery/make.cmake"],
                   check=True, capture_output=True)
    if (pathlib.Path(folder) / "histogram.cl").exists():
        command += ["--kernels", f"{folder}/histogram.cl"]
    command += ["--variant", given["variant"], "--repeat", "1", "--no-ceiling", "--time-limit", "10"]
    if "--walk blocked" in given["shows"]:
        command += ["--walk", "blocked"]
    quiet = [*command, "--no-diagnosis"]
    verdicts = {name: verdict(run([*quiet, *arguments])[0]) for name, arguments in INPUTS.items()}
    shows = given["shows"].replace("PICTURES", str(ROOT / "images")).replace("--walk blocked ", "").split()
    room = "96" if given["variant"].startswith("uchar") else "320"
    launches = [SMALL, [*LARGE, room]] + ([shows[1:]] if shows[0] == "oclgrind" else [])
    found = [set(FINDS.findall(run([*OCLGRIND, *quiet, "--device", "Oclgrind", *launch])[1])) for launch in launches]
    called = None  # where Oclgrind alone shows it
    if shows[0] != "oclgrind":
        os.environ["TUTORIAL_DIAGNOSIS_SECONDS"] = "20"
        match = NAMED.search(run([*command, *shows])[1])
        called = (match.group(1) or match.group(2)) if match else "unclear"
    return {"chapter": chapter, "mistake": file.stem, "variant": given["variant"], "sentence": given["sentence"],
            "verdicts": verdicts, "oclgrind": sorted(set.union(*found)), "names": given["names"], "called": called}


def recorded_now():
    files = sorted(ROOT.glob("0*/broken/*.txt"))
    rows = []
    for number, file in enumerate(files, 1):
        print(f"[{number}/{len(files)}] {file.relative_to(ROOT)}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            rows.append(tried(file, folder))
    _, devices = run([str(ROOT / "build/03-local-atomics/opencl"), "--list-devices"])
    return {"machine": record.machine(ROOT / "build", None), "device": devices.splitlines()[0].split(": ", 1)[1], "mistakes": rows}


def page_of(contents):
    rows = contents["mistakes"]
    shown_by_default = sum(row["verdicts"]["sample picture"] == "wrong" for row in rows)
    by_some = sum("wrong" in row["verdicts"].values() for row in rows)
    by_either = sum("wrong" in row["verdicts"].values() or bool(row["oclgrind"]) for row in rows)
    asked = [row for row in rows if row["called"]]
    named = [row for row in asked if row["called"] in row["names"].split()]
    machine = contents["machine"]
    lines = [
        "# Which input shows which mistake",
        "",
        "The mistakes of the gallery (`broken/` in each chapter, `./tutorial broken`), each run in OpenCL on six inputs and under",
        "Oclgrind. A cross: the result differs from the CPU's, or the program crashes or does not end; in the last column but",
        "one Oclgrind says something. **The empty cells are the lesson**: a test without the right input, launch and tool passes.",
        "(A race between groups shows on a CPU by luck, so its crosses change from run to run.)",
        "",
        f"Of {len(rows)} mistakes the sample picture alone, in the usual launch, shows {shown_by_default}; the six inputs together",
        f"{by_some}; with Oclgrind {by_either}. What is left needs an input of its own, which its file names. \"Called\" is what the",
        f"[diagnosis](diagnosis.md) says on that input: of {len(asked)} that it was asked about it names {len(named)} as it should.",
        "",
        "*Random*: 100003 pixels in 3 groups of 64. *One group*: the same in one. *Odd rows*: 1021 pixels wide, 6 groups of 64. *One",
        "value*: 1000003 pixels. *Few pixels*: 100, fewer than work-items.",
        "",
    ]
    for chapter in recorded.unique(row["chapter"] for row in rows):
        lines += [f"## {chapter}", ""]
        lines.append("| Mistake | " + " | ".join(INPUTS) + " | Oclgrind | Called |")
        lines.append("|---|" + ":-:|" * (len(INPUTS) + 1) + "---|")
        for row in rows:
            if row["chapter"] == chapter:
                cells = [{"wrong": "x", "right": ""}.get(row["verdicts"][name], row["verdicts"][name]) for name in INPUTS]
                called = f"`{row['called']}`" if row["called"] else ""
                lines.append(f"| `{row['mistake']}` | " + " | ".join([*cells, "x" if row["oclgrind"] else "", called]) + " |")
        lines.append("")
    lines += [f"Recorded on {machine['date']} at commit {machine['commit']} on {contents['device']}; host: {machine['processor']},",
              f"family {machine['processor_family']}, model {machine['processor_model']}. `docs/gallery.py` runs it and writes this page.", ""]
    return "\n".join(lines)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true", help="run nothing, and exit 1 where the page differs")
    if arguments.parse_args().check:
        contents = json.loads(RESULTS.read_text(encoding="utf-8"))
        if PAGE.read_text(encoding="utf-8") != page_of(contents):
            sys.exit("docs/gallery.md is not what was recorded (docs/gallery.py writes it)")
        return
    contents = recorded_now()
    recorded.write_whole(RESULTS, recorded.text_of(contents) + "\n")
    recorded.write_whole(PAGE, page_of(contents))


if __name__ == "__main__":
    main()
