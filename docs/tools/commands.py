#!/usr/bin/env python3
"""Runs the commands that the pages quote, on small pictures, and checks how each ends.

    docs/tools/commands.py [--build DIRECTORY] [PAGE ...]

It takes the ```sh blocks of the top page, the lessons, the workshops and docs/, and of their lines those that run a
program of build/: alone, under oclgrind, compute-sanitizer or mpirun, or with a variable before it. Sizes of millions of pixels
become small, and a program runs once instead of many times. A comment at the end of a line promises
something: "# exits 1" where it does not end well, "# exits 0 or 1" where luck decides, and
'# says "data race at"' that these words are among what it writes.

A program that was not built, or that finds nothing to run on (status 77), is passed over with its
reason; so is a tool that is missing.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import record
from recorded import ROOT

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
EXITS = re.compile(r"\bexits (\d+)(?: or (\d+))?")
SAYS = re.compile(r'\bsays "([^"]+)"')
SIZE = re.compile(r"\d+[MG]")
SMALL = "300K"  # more than the sample picture, and in it work for several groups
SECONDS = 120
TOOLS = {"oclgrind", "compute-sanitizer", "mpirun"}
# More ranks than cores, of which one that waits leaves its core to others.
MPI_VARIABLES = {**record.MPI_VARIABLES, "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
                 "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
# Options after which a program does not count, so that it takes no number of runs.
NO_RUN = {"--help", "--list-devices"}
SEARCH = "build/05-launch-tuning/tune/"
CLUSTER = "build/05-launch-tuning/cluster/"


def lines_of(text):
    """The lines of the sh blocks; one that ends in a backslash goes on in the next."""
    for block in BLOCK.findall(text):
        yield from re.sub(r"\\\n\s*", "", block).splitlines()


class Command:
    """A line that runs a program of build/."""

    def __init__(self, variables, words, promise):
        self.variables = variables
        self.words = made_small(words)
        exits = EXITS.search(promise)
        self.statuses = {int(status) for status in exits.groups() if status} if exits else {0}
        self.says = SAYS.findall(promise)

    def __str__(self):
        return " ".join([*(f"{name}={value}" for name, value in self.variables.items()), *self.words])

    def broken_promises(self, status, output):
        if status not in self.statuses:
            yield f"ends with {status}, not {' or '.join(map(str, sorted(self.statuses)))}"
        for text in self.says:
            if text not in output:
                yield f"does not say '{text}'"


def parsed(line):
    """The command in a line, or None where it runs something else."""
    code, _, promise = line.partition(" #")
    words = shlex.split(code, comments=True)
    variables = {}
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    if not words or not (words[0].startswith("build/") or words[0] in TOOLS):
        return None
    return Command(variables, words, promise)


def made_small(words):
    """The same command on few pixels, run once, and a search that is over soon."""
    words = [SMALL if SIZE.fullmatch(word) else word for word in words]
    words = ["1" if before == "--seconds" else word for before, word in zip(["", *words], words)]
    if NO_RUN & set(words):
        return words
    if any(word.startswith(SEARCH) for word in words):
        words += [] if "--seconds" in words else ["--seconds", "1"]
    else:
        words += [] if "--repeat" in words else ["--repeat", "1"]
        measures_none = "--no-ceiling" in words or any(word.startswith(CLUSTER) for word in words)
        words += [] if measures_none else ["--no-ceiling"]
    return words


def why_not(words, build):
    """Why a command cannot be run here, or None."""
    if words[0] in TOOLS and not shutil.which(words[0]):
        return f"no {words[0]}"
    program = next((word for word in words if word.startswith("build/")), "")
    files = {"C++": "cpu", "OpenCL": "opencl", "CUDA": "cuda"}
    return next((each.why for each in record.built_programs(build)
                 if each.path == "-" and program == f"build/{each.folder}/{files[each.api]}"), None)


def run(command, folder):
    """(status, what it wrote). The folder holds `build` and the files that commands name."""
    # What a command keeps for its next run is not to replace what the reader has kept.
    cache = (folder / "build").resolve() / "docs" / "cache"
    environment = {**os.environ, **MPI_VARIABLES, "XDG_CACHE_HOME": str(cache), **command.variables}
    try:
        done = subprocess.run(command.words, cwd=folder, env=environment, timeout=SECONDS,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired:
        return f"nothing within {SECONDS} seconds", ""
    except OSError as error:
        return str(error), ""
    return done.returncode, done.stdout.decode(errors="replace")


def place(folder, build):
    """A folder to run in: the build, the pictures, and a reader's own photo."""
    (folder / "build").symlink_to(build, target_is_directory=True)
    if (ROOT / "images").is_dir():
        (folder / "images").symlink_to(ROOT / "images", target_is_directory=True)
        shutil.copy(ROOT / "images" / "colour.bmp", folder / "photo.png")


def pages(names):
    if names:
        return [pathlib.Path(name).resolve() for name in names]
    patterns = ("README.md", "0*/**/README.md", "docs/*.md")
    return sorted({page for pattern in patterns for page in ROOT.glob(pattern)})


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    arguments.add_argument("pages", nargs="*", metavar="PAGE")
    options = arguments.parse_args()
    build = options.build.resolve()
    ran, wrong, results = 0, 0, {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        place(folder, build)
        for page in pages(options.pages):
            for line in lines_of(page.read_text(encoding="utf-8")):
                command = parsed(line)
                if command is None:
                    continue
                where = f"{page.relative_to(ROOT)}: {command}"
                why = why_not(command.words, build)
                if str(command) not in results:  # what several pages quote runs once
                    results[str(command)] = (77, why) if why else run(command, folder)
                status, output = results[str(command)]
                if status == 77:
                    print(f"{where}: skipped, {output.strip().splitlines()[-1]}", flush=True)
                    continue
                ran += 1
                faults = list(command.broken_promises(status, output))
                if not faults:
                    print(f"{where}: {status}", flush=True)
                    continue
                wrong += 1
                print(f"{where}: {' and '.join(faults)}\n{output}", file=sys.stderr, flush=True)
    print(f"{ran} commands ran, {wrong} of them not as the page says")
    sys.exit(1 if wrong or not ran else 0)


if __name__ == "__main__":
    main()
