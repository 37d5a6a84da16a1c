#!/usr/bin/env python3
"""Records what this machine measures, for the tables in the lessons.

    docs/record.py NAME                            e.g. docs/record.py epyc-zen4
    docs/record.py h200 --size 1G --api CUDA OpenCL --input photo uniform

Runs every chapter program that is built, on each input below, and keeps the JSON that it writes in
docs/results/NAME/CHAPTER-API-INPUT.json, beside machine.json, which says what it was measured on. Build
first (./tutorial run), close what else is running, and look at the numbers before committing them.
docs/tables.py then writes them into the lessons.
"""

import argparse
import datetime
import json
import pathlib
import platform
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The number of pixels is put after each.
INPUTS = {
    "photo": [str(ROOT / "images" / "landscape.bmp"), "--tile"],
    "uniform": ["--random"],
    "four-values": ["--values", "4", "--random"],
    "constant": ["--constant", "127", "--random"],
    "ramp": ["--ramp", "--random"],
}


def first_line(*command):
    """The first line that a command prints, or None where it does not run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip().split("\n")[0] or None


def cpu_field(name):
    """A field of the first processor in /proc/cpuinfo, or None."""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return None
    found = re.search(rf"^{name}\s*: (.*)$", text, re.MULTILINE)
    return found.group(1) if found else None


def cached(build, name):
    found = re.search(rf"^{name}:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)
    return found.group(1) if found else None


def nvcc_release(nvcc):
    """Such as "release 13.0, V13.0.88", or None."""
    if not nvcc or nvcc.endswith("NOTFOUND"):
        return None
    done = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True)
    return re.search(r"release .*", done.stdout).group(0)


def machine(build):
    return {
        "date": datetime.date.today().isoformat(),
        "commit": first_line("git", "-C", str(ROOT), "describe", "--always", "--dirty"),
        "system": platform.platform(),
        "processor": cpu_field("model name"),
        "processor_family": cpu_field("cpu family"),
        "processor_model": cpu_field("model"),
        "compiler": first_line(cached(build, "CMAKE_CXX_COMPILER"), "--version"),
        "build_type": cached(build, "CMAKE_BUILD_TYPE"),
        "nvcc": nvcc_release(cached(build, "CMAKE_CUDA_COMPILER")),
        "gpu": first_line("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"),
    }


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("name", help="the folder in docs/results, named after the machine")
    arguments.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    arguments.add_argument("--size", default="100M", help="pixels, as the programs take them")
    arguments.add_argument("--input", nargs="+", choices=INPUTS, default=["photo", "uniform"])
    arguments.add_argument("--api", nargs="+", choices=["C++", "OpenCL", "CUDA"])
    options = arguments.parse_args()
    programs = options.build / "programs.tsv"
    if not programs.is_file():
        sys.exit(f"record.py: {programs} is missing: build first (./tutorial run)")

    folder = ROOT / "docs" / "results" / options.name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "machine.json").write_text(json.dumps(machine(options.build), indent=2) + "\n")
    for line in programs.read_text().splitlines():
        chapter, api, program, why = line.split("\t")
        if options.api and api not in options.api:
            continue
        if program == "-":
            print(f"{chapter}, {api}: skipped, {why}")
            continue
        for name in options.input:
            result = folder / f"{chapter}-{api}-{name}.json"
            command = [program, *INPUTS[name], options.size, "--json", result]
            done = subprocess.run(command, stdout=subprocess.DEVNULL)
            if done.returncode == 77:
                print(f"{chapter}, {api}: nothing to run it on")
                break
            if done.returncode != 0:
                sys.exit(f"record.py: {program} ended with {done.returncode}; {folder} is not complete")
            print(f"wrote {result.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
