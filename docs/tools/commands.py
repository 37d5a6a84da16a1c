#!/usr/bin/env python3
"""Runs the commands that the pages quote, on small pictures, and checks how each ends.

    docs/tools/commands.py [--build DIRECTORY] [PAGE ...]

It takes the ```sh blocks of all pages, and of their lines those that run a program of build/: alone, under oclgrind,
compute-sanitizer or mpirun, or with a variable before it. Sizes of millions of pixels become small, and a program runs
once instead of many times. A comment at the end of a line promises something: "# exits 1" where it does not end well,
"# exits 0 or 1" where luck decides, and '# says "data race at"' that these words are among what it writes.

A program that was not built, or that finds nothing to run on (status 77), is passed over with its reason; so is a tool
that is missing.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import pages
import record
from recorded import ROOT

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
RUNS = re.compile(r"(?:[A-Z_]+=\S+ )*(?:(oclgrind|compute-sanitizer|mpirun) .*?)?(build/\S+)")
EXITS = re.compile(r"\bexits (\d+)(?: or (\d+))?")
SAYS = re.compile(r'\bsays "([^"]+)"')
SMALL = "300K"  # more than the sample picture, and in it work for several groups
SECONDS = 120
# More ranks than cores, of which one that waits leaves its core to others.
MPI_VARIABLES = {**record.MPI_VARIABLES, "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
                 "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}


def lines_of(text):
    """The lines of the sh blocks; one that ends in a backslash goes on in the next."""
    for block in BLOCK.findall(text):
        yield from re.sub(r"\\\n\s*", "", block).splitlines()


def made_small(code, program):
    """The same command on few pixels, run once, and a search that is over soon."""
    code = re.sub(r"--seconds \d+", "--seconds 0.3", re.sub(r"(?<= )\d+[MG]\b", SMALL, code))
    if "--help" in code or "--list-devices" in code:  # then it does not count
        return code
    usual = ["--seconds 0.3"] if "/tune/" in program else ["--repeat 1"] if "/cluster/" in program else ["--repeat 1", "--no-ceiling"]
    return " ".join([code, *(option for option in usual if option.split()[0] not in code.split())])


def why_not(tool, program, build):
    """Why a command cannot be run here, or None."""
    if tool and not shutil.which(tool):
        return f"no {tool}"
    files = {"C++": "cpu", "OpenCL": "opencl", "CUDA": "cuda"}
    return next((each.why for each in record.built_programs(build)
                 if each.path == "-" and program == f"build/{each.folder}/{files[each.api]}"), None)


def run(command, folder):
    """(status, what it wrote). The folder holds `build` and the files that commands name."""
    # What a command keeps for its next run is not to replace what the reader has kept.
    cache = (folder / "build").resolve() / "docs" / "cache"
    try:
        done = subprocess.run(command, shell=True, cwd=folder, timeout=SECONDS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, **MPI_VARIABLES, "XDG_CACHE_HOME": str(cache), "TSAN_OPTIONS": "atexit_sleep_ms=0"})
    except subprocess.TimeoutExpired:
        return f"nothing within {SECONDS} seconds", ""
    return done.returncode, done.stdout.decode(errors="replace")


def broken_promises(promise, status, output):
    exits = EXITS.search(promise)
    statuses = [int(number) for number in exits.groups() if number] if exits else [0]
    if status not in statuses:
        yield f"ends with {status}, not {' or '.join(map(str, statuses))}"
    yield from (f"does not say '{text}'" for text in SAYS.findall(promise) if text not in output)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    arguments.add_argument("pages", nargs="*", metavar="PAGE", type=lambda name: pathlib.Path(name).resolve())
    options = arguments.parse_args()
    build = options.build.resolve()
    ran, wrong, results = 0, 0, {}
    with tempfile.TemporaryDirectory() as name:  # has the build, the pictures, and a reader's own photo
        folder = pathlib.Path(name)
        for target in (build, ROOT / "images"):
            (folder / ("build" if target == build else "images")).symlink_to(target, target_is_directory=True)
        shutil.copy(ROOT / "images" / "colour.bmp", folder / "photo.png")
        lines = [(page, *line.partition(" #")) for page in options.pages or pages.pages()
                 for line in lines_of(page.read_text(encoding="utf-8"))]
        for page, code, _, promise in lines:
            if not (found := RUNS.match(code)):
                continue
            command = made_small(code.strip(), found[2])
            if command not in results:  # what several pages quote runs once
                why = why_not(*found.groups(), build)
                results[command] = (77, why) if why else run(command, folder)
            status, output = results[command]
            faults = [] if status == 77 else list(broken_promises(promise, status, output))
            ran, wrong = ran + (status != 77), wrong + bool(faults)
            came = " and ".join(faults) + f"\n{output}" if faults else f"skipped, {output.strip().splitlines()[-1]}" if status == 77 else status
            print(f"{page.relative_to(ROOT)}: {command}: {came}", flush=True)
    print(f"{ran} commands ran, {wrong} of them not as the page says")
    sys.exit(1 if wrong or not ran else 0)


if __name__ == "__main__":
    main()
