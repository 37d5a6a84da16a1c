#!/usr/bin/env python3
"""Which input shows which mistake: runs the gallery (the chapters' broken/), for docs/gallery.md.

    docs/tools/gallery_record.py            run each mistake in OpenCL (PoCL) on each input, and under Oclgrind; and record
    docs/tools/gallery_record.py --cuda     the same in CUDA on a GPU, and under compute-sanitizer; --commit names what is run
    docs/tools/gallery_record.py --emulated   the same in CUDA on a CPU, and under its sanitizers

What was recorded stands in docs/results/gallery/gallery.json. The mistakes' programs have to be built (cmake --build build --target
gallery_opencl gallery_cuda gallery_cuda-on-cpu). For generate.py there are:

    gallery: counts                  how many mistakes the inputs show
    gallery: emulated                what CUDA on a CPU shows, and what it does not
    gallery: names                   how many the diagnosis names rightly
    gallery: 02-global-atomics       which inputs show that chapter's mistakes
    gallery: recorded                when and where that was recorded
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

import record
import recorded
from recorded import ROOT

sys.path.append(str(ROOT / "common" / "tutor" / "gallery"))
import gallery  # noqa: E402
from gallery import POCL  # noqa: E402

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
OCLGRIND = ["oclgrind", "--data-races", "--max-errors", "50"]
SMALL = ["--random", "1000", *THREE]
LARGE = ["--random", "150", "--groups", "2", "--group-size"]  # fewer pixels than work-items, more of those than bins
DETECTORS = json.loads((ROOT / "common" / "tutor" / "detectors.json").read_text(encoding="utf-8"))
FINDS, SANITIZER_FINDS = (re.compile(DETECTORS[each]["faults"]) for each in ("oclgrind", "compute-sanitizer"))


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=120,
                          env={**os.environ, "TSAN_OPTIONS": "halt_on_error=1"})  # the first finding is enough
    return done.returncode, done.stdout + done.stderr


def verdict(status, said):
    """ "right" (66 is ThreadSanitizer's: a race, and a right result), "wrong" (also where it crashes or does not end), or what else it was."""
    if status == 2 and gallery.called(said) in gallery.ENDS:
        return "wrong"
    return {0: "right", 1: "wrong", 66: "right", 77: "cannot run"}.get(status, f"ends with {status}")


def usual(mistake):
    """The arguments of every run of a mistake."""
    arguments = ["--variant", mistake.variant, "--repeat", "1", "--no-ceiling", "--time-limit", "10"]
    return arguments + (["--walk", "blocked"] if "--walk blocked" in mistake.shows else [])


def arguments_of(shows):
    return gallery.arguments_of(shows.replace("--walk blocked ", ""))


def room_of(mistake):
    """Work-items for a group of more than there are bins, or as many as there is memory for."""
    room, little_room = DETECTORS["larger_than_bins"]
    return str(little_room if mistake.variant.startswith("uchar") else room)


def row_of(mistake, verdicts, found, called):
    return {"chapter": mistake.chapter, "mistake": mistake.name, "variant": mistake.variant, "sentence": mistake.sentence,
            "verdicts": verdicts, "found": sorted(found), "names": mistake.names, "called": called}


def tried(mistake):
    """What the inputs and Oclgrind say of a mistake in OpenCL; or the inputs and ThreadSanitizer, of one of chapter 01."""
    if mistake.files("cpu"):
        command = [*gallery.command_of(ROOT / "build", mistake, "cpu"), "--variant", mistake.variant, "--repeat", "1", "--no-ceiling"]
        runs = {name: run([*command, *(word for word in arguments if word not in ("--group-size", "64"))])
                for name, arguments in INPUTS.items()}
        return row_of(mistake, {name: verdict(*ended) for name, ended in runs.items()},
                      {found for _, said in runs.values() for found in re.findall("ThreadSanitizer: (data race)", said)}, None)
    with tempfile.TemporaryDirectory() as folder:
        gallery.make(mistake, folder)
        command = gallery.command_of(ROOT / "build", mistake, "opencl")
        if "histogram.cl" in mistake.files():
            command += ["--kernels", f"{folder}/histogram.cl"]
        command += usual(mistake)
        on_pocl, quiet = [*command, "--device", POCL], [*command, "--no-diagnosis"]
        verdicts = {name: verdict(*run([*quiet, "--device", POCL, *arguments])) for name, arguments in INPUTS.items()}
        shows = arguments_of(mistake.shows)
        launches = [SMALL, [*LARGE, room_of(mistake)]] + ([shows[1:]] if shows[0] == "oclgrind" else [])
        found = [set(FINDS.findall(run([*OCLGRIND, *quiet, "--device", "Oclgrind", *launch])[1])) for launch in launches]
        # None: Oclgrind alone shows it
        called = None if shows[0] == "oclgrind" else gallery.called(run([*on_pocl, *shows])[1])
    return row_of(mistake, verdicts, set.union(*found), called)


def tried_in_cuda(mistake):
    """What the inputs and compute-sanitizer say of a mistake in CUDA; None where it has no form there."""
    if not mistake.files("cuda"):
        return None
    command = [*gallery.command_of(ROOT / "build", mistake, "cuda"), *usual(mistake)]
    quiet = [*command, "--no-diagnosis"]
    verdicts = {name: verdict(*run([*quiet, *arguments])) for name, arguments in INPUTS.items()}
    found = [tool for tool, launch in (("memcheck", SMALL), ("racecheck", SMALL), ("synccheck", [*LARGE, room_of(mistake)]))
             if SANITIZER_FINDS.search(run(["compute-sanitizer", "--tool", tool, *quiet, *launch])[1])]
    there = mistake.in_cuda()
    shows = arguments_of(there.shows)
    by_a_tool = not shows[0].startswith("-") and "/" not in shows[0]
    return {"chapter": mistake.chapter, "mistake": mistake.name, "verdicts": verdicts, "found": found, "names": there.names,
            "called": None if by_a_tool else gallery.called(run([*command, *shows])[1])}


def tried_emulated(mistake):
    """What the inputs and the sanitizers say of a mistake in CUDA on a CPU, and an uneven barrier; with the line that is told."""
    if not mistake.files("cuda"):
        return None

    def said(how, arguments):
        return run([*gallery.command_of(ROOT / "build", mistake, gallery.EMULATED, how), *usual(mistake), "--no-diagnosis", *arguments])

    shows = gallery.arguments_of(gallery.without_tool(mistake.in_cuda().shows).replace("--walk blocked ", "").replace("nothing", ""))
    # Not a picture: under a sanitizer it takes long.
    launches = [SMALL, [*LARGE, room_of(mistake)], *([shows] if "--random" in shows else [])]
    runs = {name: said("plain-all", arguments) for name, arguments in INPUTS.items()}
    found = {"launch": gallery.says_where("launch", "\n".join(text for _, text in [*runs.values(), said("plain-all", launches[1])]))}
    for how in ("thread", "address"):
        found[how] = gallery.says_where(how, "\n".join(said(f"{how}-all", launch)[1] for launch in launches))
    return {"chapter": mistake.chapter, "mistake": mistake.name, "verdicts": {name: verdict(*ended) for name, ended in runs.items()},
            "found": {how: line for how, line in found.items() if line}}


# What is recorded: how a mistake is tried, with which program, and how many at once. A GPU has room for several; on PoCL they would be
# in each other's way.
HALVES = {"opencl": (tried, "opencl", 1), "cuda": (tried_in_cuda, "cuda", 6), "emulated": (tried_emulated, gallery.EMULATED, 2)}


def recorded_now(half, commit):
    """What a half is in the results now."""
    try_it, program, at_once = HALVES[half]
    machine = record.machine(ROOT / "build", commit)
    with concurrent.futures.ThreadPoolExecutor(max_workers=at_once) as together:
        rows = [row for row in together.map(try_it, gallery.mistakes()) if row]
    _, devices = run([str(ROOT / "build/03-local-atomics" / program), "--list-devices"])
    device = next(line for line in devices.splitlines() if half != "opencl" or POCL in line).split(": ", 1)[1]
    return {"machine": machine, "device": device, "mistakes": rows}


def cells_of(row, in_cuda, emulated):
    """A row of the table: each input, the tools, and what it is called."""
    cells = []
    for name in INPUTS:
        letters = [letter for letter, of_api in (("P", row), ("G", in_cuda), ("E", emulated))
                   if of_api and of_api["verdicts"][name] != "right"]
        cells.append(" ".join(letters))
    called = f"`{row['called']}`" if row["called"] else ""
    if in_cuda and in_cuda["called"] and in_cuda["called"] != row["called"]:
        called += f"{', ' if called else ''}in CUDA `{in_cuda['called']}`"
    return [*cells, "x" if row["found"] else "", ", ".join(in_cuda["found"]) if in_cuda else "",
            ", ".join(sorted(emulated["found"])) if emulated else "", called]


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


def mistakes_of(chapter, rows, in_cuda, emulated):
    return [
        "| Mistake | " + " | ".join(INPUTS) + " | Oclgrind | compute-sanitizer | on a CPU | Called |",
        "|---|" + ":-:|" * (len(INPUTS) + 3) + "---|",
        *(f"| `{row['mistake']}` | " + " | ".join(cells_of(row, *(half.get((chapter, row["mistake"])) for half in (in_cuda, emulated)))) + " |"
          for row in rows if row["chapter"] == chapter),
    ]


def told(rows):
    return ", ".join(f"`{row['chapter'][:2]}/{row['mistake']}`" for row in rows) or "none"


def of_emulated(in_cuda, emulated):
    """What CUDA on a CPU shows, and what a GPU and its tools show and it does not; and the other way round."""
    rows = list(emulated.values())
    result = {key for key, row in emulated.items() if shows([row], *INPUTS)}
    tools = {how: [row for row in rows if how in row["found"]] for how in ("thread", "address", "launch")}
    seen = result | {key for key, row in emulated.items() if row["found"]}
    blind = [row for key, row in emulated.items() if "thread" in row["found"] and "racecheck" not in in_cuda[key]["found"]]
    on_a_gpu = {key for key, row in in_cuda.items() if shows([row], *INPUTS) or row["found"]}
    return [
        f"Emulated on a CPU, the sample picture shows {shows(rows, 'sample picture')} of the {len(rows)}, and the six inputs show {len(result)}."
        f" ThreadSanitizer names the line of {len(tools['thread'])}, AddressSanitizer of {len(tools['address'])}; {len(tools['launch'])} end the"
        f" launch with an error that names the barrier. Together that is {len(seen)}.",
        "",
        f"- Shown on the GPU or by its tools, and not on a CPU: {told(emulated[key] for key in sorted(on_a_gpu - seen) if key in emulated)}.",
        f"- Shown on a CPU, and neither on the GPU nor by its tools: {told(emulated[key] for key in sorted(seen - on_a_gpu))}.",
        f"- Races that ThreadSanitizer names there and racecheck does not: {told(blind)}.",
        f"- Shown there by none of these, for each needs an input of its own: {told(row for key, row in emulated.items() if key not in seen)}.",
    ]


def block(_, what):
    """What docs/gallery.md has from the record."""
    contents = json.loads(RESULTS.read_text(encoding="utf-8"))
    rows = contents["opencl"]["mistakes"]
    in_cuda = {(row["chapter"], row["mistake"]): row for row in contents["cuda"]["mistakes"]}
    emulated = {(row["chapter"], row["mistake"]): row for row in contents["emulated"]["mistakes"]}
    if what == "recorded":
        return [f"OpenCL was recorded {where_recorded(contents['opencl'])}; CUDA {where_recorded(contents['cuda'])}; CUDA on a CPU"
                f" {where_recorded(contents['emulated'])}."]
    if what == "emulated":
        return of_emulated(in_cuda, emulated)
    if what in ("counts", "names"):
        return {"counts": counts, "names": names}[what](rows, in_cuda)
    lines = mistakes_of(what, rows, in_cuda, emulated)
    if len(lines) == 2:
        raise recorded.NotRecorded("no mistake of such a chapter")
    return lines


KINDS = {"gallery": block}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    half = arguments.add_mutually_exclusive_group()
    half.add_argument("--cuda", dest="half", action="store_const", const="cuda", help="run the CUDA programs, in the place of OpenCL's")
    half.add_argument("--emulated", dest="half", action="store_const", const="emulated", help="run those of CUDA on a CPU")
    arguments.set_defaults(half="opencl")
    arguments.add_argument("--commit", help="what is run, where there is no git to ask")
    options = arguments.parse_args()
    contents = json.loads(RESULTS.read_text(encoding="utf-8"))
    contents[options.half] = recorded_now(options.half, options.commit)
    recorded.write_whole(RESULTS, recorded.text_of(contents) + "\n")


if __name__ == "__main__":
    main()
