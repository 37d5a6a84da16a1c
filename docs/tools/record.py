#!/usr/bin/env python3
"""Records what this machine measures, for the tables and figures in the lessons.

    docs/tools/record.py NAME                            e.g. docs/tools/record.py epyc-zen4

docs/measuring.md has more examples.

Runs every chapter program that is built, on each input, and keeps the JSON that it writes in docs/results/NAME.json;
what is not measured this time stays there as it was. --workshop adds runs of the workshops. `tune` goes before all
others: what it finds is kept in the user's cache folder, and `tuned` is launched that way in all runs that follow, in
this call and in later ones; only --experiment, which changes one thing at a time, knows of no search. --cluster runs
the workshop's programs on these numbers of ranks in turn, three times around, and keeps of each the round with the
fastest run.

A strategy that does not match, or a program that fails, stops the recording; only `racy`, and kernels that an
experiment has edited to count otherwise, may be wrong. The file is written behind each run, so what was finished is
kept. Build all first (cmake --build build), close what else is running, and look at the numbers before committing them.
docs/tools/generate.py and docs/tools/plots.py then bring them into the lessons.
"""

import argparse
import contextlib
import csv
import datetime
import itertools
import json
import os
import pathlib
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple, Optional

import experiments
import recorded
from experiments import EXPERIMENTS
from recorded import ROOT

# What is kept of a run where its results are not.
WHERE = ("chapter", "api", "device", "driver", "input")
# What one rank counts in --cluster.
CLUSTER_SIZE = {"C++": "256M", "CUDA": "4G"}
# How often each number of ranks is measured.
ROUNDS = 3
# Open MPI 4 and 5: root may start a job in a container, and the launcher says no more than the program.
MPI_VARIABLES = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_orte_execute_quiet": "1"}
# 512 x 512, and the sizes of photographs.
PHOTOGRAPHS = ("256K", "1M", "2M", "4M", "8M", "12M")


class Workshop(NamedTuple):
    """What --workshop runs: the programs of these APIs in a folder, on each of the inputs."""

    kind: str
    folder: str
    inputs: tuple
    runs: tuple  # of a size, more arguments, and what the results call that: "" where it needs no name
    apis: tuple = ("C++", "OpenCL", "CUDA")


WORKSHOPS = {
    "peers": Workshop("runs", "peers", (*recorded.PICTURES, *recorded.CONTENTIONS),
                      tuple((size, "", "") for size in ("256K", "16M", "100M", "1G")), ("CUDA",)),
    "peers-on-a-cpu": Workshop("runs", "peers", recorded.PICTURES, (("256K", "", ""), ("100M", "", "")), ("C++",)),
    "queued": Workshop("queued", "peers", recorded.PICTURES, tuple((size, "--queued", "") for size in PHOTOGRAPHS), ("CUDA",)),
    "end-to-end": Workshop("end_to_end", "end-to-end", ("photo",), (("100M", "", ""),)),
    "many": Workshop("many", "many", ("uniform",), tuple(
        (size, f"--side {side}", side) for side, size in (("64", "256M"), ("256", "1G"), ("512", "1G")))),
    "bins": Workshop("bins", "bins", ("uniform", "constant"), tuple(  # pixels of 16 bits
        ("256M", f"--bins {bins}", str(bins)) for bins in (256, 1024, 4096, 8192, 16384, 32768, 65536))),
}


class Program(NamedTuple):
    """A line of the build's programs.tsv."""

    folder: str  # a chapter, or within one a workshop
    api: str
    path: str  # "-" where it was not built
    why: str

    @property
    def name(self):
        """As the results know it, such as "04-per-thread-bins/cuda"."""
        return f"{self.folder}/{pathlib.Path(self.path).name}"

    def build(self):
        """The folder of the build that it is in."""
        return pathlib.Path(self.path).parents[self.folder.count("/") + 1]


class Job(NamedTuple):
    """One run of a program."""

    kind: str  # the array of the results that it belongs to
    program: Program
    input: Optional[str]
    size: Optional[str]
    arguments: list
    experiment: Optional[str] = None  # its name

    def __str__(self):
        kind = "" if self.kind == "runs" else f"--{self.kind}"
        return " ".join(word for word in (self.program.name, self.input, self.size, kind, self.experiment) if word)


class Stopped(Exception):
    """The recording cannot go on; the text says why."""


# ---- what this machine is ------------------------------------------------------------------------


def output_of(*command):
    """What a command prints; nothing where it does not run or is None."""
    with contextlib.suppress(OSError, subprocess.CalledProcessError, TypeError):
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return ""


def part_of(text, pattern):
    """The group of the pattern in the text, or None."""
    found = re.search(pattern, text, re.MULTILINE)
    return found and found.group(1)


def machine(build, commit):
    """What the results are measured on, with what, and when."""
    cache, processor = (build / "CMakeCache.txt").read_text(), output_of("cat", "/proc/cpuinfo")
    compiler, build_type, nvcc = (part_of(cache, rf"^{name}:\w+=(.*)$")
                                  for name in ("CMAKE_CXX_COMPILER", "CMAKE_BUILD_TYPE", "CMAKE_CUDA_COMPILER"))
    name, family, model = (part_of(processor, rf"^{field}\s*: (.*)$") for field in ("model name", "cpu family", "model"))
    return {
        "date": datetime.date.today().isoformat(),
        "commit": commit or part_of(output_of("git", "-C", str(ROOT), "describe", "--always", "--dirty"), "(.+)"),
        "system": platform.platform(),
        "processor": name, "processor_family": family, "processor_model": model,
        "compiler": part_of(output_of(compiler, "--version"), "(.+)"), "build_type": build_type,
        "nvcc": part_of(output_of(nvcc, "--version"), "(release .*)"),
        "gpu": part_of(output_of("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"), "(.+)"),
    }


# ---- what there is to run ------------------------------------------------------------------------


def input_arguments(name, size):
    """What makes a program count this input."""
    if name == "photo":
        return [str(ROOT / "images" / "landscape.bmp"), "--tile", size]
    if name in recorded.DRAWN:
        path, generator = pathlib.Path(tempfile.gettempdir(), f"{name}.pgm"), random.Random(1)
        if name == "shuffled":  # of the picture the last bytes are the pixels, and grey
            photo = (ROOT / "images" / "landscape.bmp").read_bytes()[-512 * 512:]
            pixels = bytes(generator.sample(photo, len(photo)))
        elif name in recorded.RAMPS:
            kind, number = name.split("-")
            pixels = bytes(i % int(number) if kind == "modulo" else i * int(number) % 256 for i in range(512 * 512))
        elif name in recorded.ORDERS:
            run = int(name.split("-")[1])
            pixels = b"".join(bytes([generator.randrange(256)]) * run for _ in range(512 * 512 // run))
        else:
            factor = 1 if name == "one-line" else 16
            pixels = bytes(factor * generator.randrange(16) for _ in range(512 * 512))
        path.write_bytes(b"P5 512 512 255\n" + pixels)
        return [str(path), "--tile", size]
    kinds = {"uniform": [], "four-values": ["--values", "4"], "constant": ["--constant", "127"], "ramp": ["--ramp"]}
    kinds.update({contention: ["--contention", contention.split("-")[1]] for contention in recorded.CONTENTIONS})
    return [*kinds[name], "--random", size]


def built_programs(build):
    """The programs of the build's list, those that were not built among them; what emulates CUDA has no times."""
    programs = [Program(*line.split("\t")) for line in (build / "programs.tsv").read_text().splitlines()]
    return [program for program in programs if program.api != "CUDA-on-CPU"]


def jobs_of(options):
    """Everything that the command line asks for, in the order in which it is run."""
    programs = built_programs(options.build)
    chapters = sorted({program.folder for program in programs if "/" not in program.folder})
    for name in options.chapter or []:
        if name not in chapters:
            raise Stopped(f"there is no chapter {name} in the build: it has {', '.join(chapters)}")

    def of(*folders):
        return [program for program in programs if program.folder in folders]

    def grid(kind, programs, inputs, sizes, more=(), experiment=None):
        """Each program on each input in each size: those of the command line, else those given."""
        return [Job(kind, program, name, size, [*input_arguments(name, size), *more], experiment)
                for program in programs for size in options.size or sizes for name in options.input or inputs]

    workshops = experiments.WORKSHOPS
    jobs = []
    if "tune" in options.workshop:
        jobs += [Job("tune", program, None, None, []) for program in of(f"{workshops}/tune")]
    if not options.no_chapters:
        jobs += grid("runs", of(*(options.chapter or chapters)), ["photo", "uniform"], ["100M"])
    beside = [word for library in options.peer for word in ("--peer", str(library))]
    for name, each in WORKSHOPS.items():
        run_by = [program for program in of(f"{workshops}/{each.folder}") if name in options.workshop and program.api in each.apis]
        for size, words, experiment in each.runs:
            jobs += grid(each.kind, run_by, each.inputs, [size],
                         words.split() + (beside if each.apis == ("C++",) else []), experiment or None)
    for name in options.experiment or []:
        of_it = EXPERIMENTS[name]
        run_by = [program for program in of(*(run.chapter for run in of_it.runs)) if program.api in of_it.apis]
        jobs += grid("experiments", run_by, of_it.inputs, of_it.size.split(), experiment=name)
    if options.cluster:
        for program in of(f"{workshops}/cluster"):
            sizes = options.size or [CLUSTER_SIZE[program.api]]
            jobs += [Job("cluster", program, "uniform", size, options.cluster) for size in sizes]
    jobs = [job for job in jobs if job.program.api in (options.api or [job.program.api])]
    for program in recorded.unique(job.program for job in jobs if job.program.path == "-"):
        print(f"{program.folder}, {program.api}: skipped, {program.why}", flush=True)
    jobs = [job for job in jobs if job.program.path != "-"]
    for job in jobs:  # before an hour of measuring, not after it
        if not pathlib.Path(job.program.path).is_file():
            raise Stopped(f"{job.program.path} is missing: build first (cmake --build build)")
    return jobs


# ---- running it ----------------------------------------------------------------------------------


def run(job, arguments=(), under=(), variables=None, may_lose=False):
    """The JSON that the program writes, or None where it finds nothing to run on. Raises Stopped.

    `arguments` follow those of the job; `under` is a command that runs the program; `variables` go into its environment. With
    `may_lose` a result that does not match is kept.
    """
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder, "run.json")
        command = [*under, job.program.path, *job.arguments, *arguments, "--json", str(result)]
        try:
            done = subprocess.run(command, stdout=subprocess.DEVNULL, env={**os.environ, **(variables or {})})
        except OSError as error:
            raise Stopped(f"{job}: {error}") from None
        if done.returncode == 77:
            return None
        if done.returncode == 1 and not may_lose:
            raise Stopped(f"{job}: a result does not match the CPU")
        if done.returncode not in (0, 1):
            raise Stopped(f"{job}: ended with {done.returncode}")
        try:
            return json.loads(result.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise Stopped(f"{job}: wrote no JSON that can be read: {error}") from None


def under_profiler(job, arguments, counters, may_lose=False):
    """What the program writes of one strategy, and {"kernel": its name, "percent": {counter: value}} as Nsight Compute
    counts them; twice None where there is nothing to run it on.

    `arguments` begin with --variant and its name; with `may_lose` its result may be wrong. Raises Stopped.
    """
    what = f"{job} {arguments[1]}"
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder, "ncu.csv")
        log.touch()
        # The second launch of the strategy's kernel: the first may have to load it.
        under = ["ncu", "--csv", "--log-file", str(log), "--clock-control", "none", "--print-units", "base", "--check-exit-code", "no",
                 "--kernel-name", "regex:histogram_|subhist|contention", "--launch-skip", "1", "--launch-count", "1", "--metrics", ",".join(counters)]
        document = run(job, [*arguments, "--repeat", "3", "--no-ceiling"], under, may_lose=may_lose)
        lines = log.read_text(encoding="utf-8").splitlines()
    if document is None:
        return None, None
    if document["results"][0]["check"] != "match" and not may_lose:
        raise Stopped(f"{what}: the result does not match the CPU")
    rows = list(csv.DictReader(line for line in lines if line.startswith('"')))
    values = {row["Metric Name"]: row["Metric Value"].replace(",", "") for row in rows}
    counted = {counter: float(values[counter]) if re.match(r"[0-9]", values.get(counter, "")) else None for counter in counters}
    if not any(value is not None for value in counted.values()):  # some it may not have for this kernel
        raise Stopped(f"{what}: ncu counted nothing: {' '.join(line for line in lines if line.startswith('==ERROR=='))}")
    return document, {"kernel": rows[0]["Kernel Name"], "percent": counted}


@contextlib.contextmanager
def edited(program, edit):
    """Within it the program has an edited source: of OpenCL beside it, where it looks first; else it is compiled with
    the edit, and the source and the program are as before at the end. Raises Stopped."""
    source = ROOT / program.folder / (edit and edit.file or experiments.SOURCES[program.api])
    path = pathlib.Path(program.path)
    is_read = program.api == "OpenCL"
    place = path.with_name(source.name) if is_read else source
    if is_read and place.exists():
        raise Stopped(f"{program.name}: {place} is in the way: remove it")
    if not edit:
        yield
        return
    text = source.read_text(encoding="utf-8")
    if text.count(edit.old) != 1:
        raise Stopped(f"{source}: '{edit.old.strip()}' stands there {text.count(edit.old)} times, not once")
    kept = None if is_read else shutil.copy2(path, path.with_suffix(".kept"))
    try:
        place.write_text(text.replace(edit.old, edit.new), encoding="utf-8")
        if not is_read:
            made = subprocess.run(["cmake", "--build", program.build(), "--target", program.name.replace("/", "-")], stdout=subprocess.DEVNULL)
            if made.returncode != 0:
                raise Stopped(f"{program.name}: it does not compile with '{edit.new.strip()}'")
        yield
    finally:
        if is_read:
            place.unlink(missing_ok=True)
        else:
            source.write_text(text, encoding="utf-8")
            os.replace(kept, path)


def run_untuned(job, arguments, may_lose=False):
    """A run that knows nothing of what a search has found. Raises Stopped."""
    with tempfile.TemporaryDirectory() as cache:
        return run(job, arguments, variables={"XDG_CACHE_HOME": cache}, may_lose=may_lose)


def units_of(job):
    """The compute units of the device: chapter 05's `tuned`, left to itself, is launched with a group for each. None where there is
    no device. Raises Stopped."""
    path = job.program.build() / experiments.LESSON / pathlib.Path(job.program.path).name
    program = job.program._replace(folder=experiments.LESSON, path=str(path))
    asked = job._replace(program=program, arguments=["--random", "64M", "--repeat", "1", "--no-ceiling"])
    with edited(program, None):
        document = run_untuned(asked, ["--variant", "tuned"])
    groups = document and re.search(r"(\d+) groups? of", document["results"][0]["launch"])
    if document and groups is None:
        raise Stopped(f"{asked}: tuned does not say how it was launched")
    return document and int(groups.group(1))


def one_by_one(job):
    """What the program writes, with what the list of an experiment has for it in place of its results, or None. Raises Stopped."""
    of_it, kept, units = EXPERIMENTS[job.experiment], [], 0
    mine = [each for each in of_it.runs if each.chapter == job.program.folder and each.is_for(job.program.api)]
    if any(each.needs_units() for each in mine) and (units := units_of(job)) is None:
        return None
    for change, runs in itertools.groupby(mine, lambda each: each.edit_of(job.program.api)):
        with edited(job.program, change):
            for each in runs:
                arguments = each.command(units)
                print(f"    {' '.join(arguments)}" + (" (edited)" if change else ""), flush=True)
                if of_it.counters:
                    found, what = under_profiler(job, arguments, of_it.counters, each.may_lose)
                elif found := run_untuned(job, [*arguments, "--no-ceiling"], each.may_lose):
                    (result,) = found["results"]
                    result.pop("counts", None)  # of a mismatch
                    what = {"edit": change and {"from": change.old, "to": change.new}, "result": result}
                if found is None:
                    return None
                kept.append({"arguments": arguments, **what})
    return {**{field: found[field] for field in (*WHERE, "serial_ms")}, "units": units, "runs": kept}


def scaling(job):
    """What the program writes on each number of ranks, which are the job's arguments, or None. Raises Stopped."""
    best = {}
    for _ in range(ROUNDS):
        for ranks in job.arguments:
            pixels = recorded.pixels_of(job.size) * ranks
            arguments = ["--random", str(pixels), "--repeat", "31"]
            launcher = os.environ.get("MPIEXEC", "mpirun")
            document = run(job._replace(arguments=arguments), under=[launcher, "-n", str(ranks)], variables=MPI_VARIABLES)
            if document is None:
                return None
            document.pop("counts")
            if ranks not in best or document["all_ms"]["min"] < best[ranks]["all_ms"]["min"]:
                best[ranks] = document
    kept = [best[ranks] for ranks in job.arguments]
    return {**{field: kept[0][field] for field in (*WHERE, "mpi")}, "rounds": ROUNDS, "scaling": kept}


def entry_of(job, document, where):
    """What the results keep of a run."""
    document.pop("counts", None)  # which say nothing of the device
    entry = {"program": job.program.name, "input": job.input, "size": job.size, "experiment": job.experiment}
    entry = {name: value for name, value in entry.items() if value}
    return {**entry, "date": where["date"], "commit": where["commit"], "run": document}


def record(options, path):
    """Measures, and writes the file behind each run. Raises Stopped."""
    recording = recorded.load(path) if path.exists() else None
    where = machine(options.build, options.commit)
    jobs, nowhere, count = jobs_of(options), set(), 0
    for number, job in enumerate(jobs, 1):
        if job.program in nowhere:
            continue
        print(f"[{number}/{len(jobs)}] {job}", flush=True)
        document = {"experiments": one_by_one, "cluster": scaling}.get(job.kind, run)(job)
        if document is None:
            print(f"{job.program.name}: nothing to run it on", flush=True)
            nowhere.add(job.program)
            continue
        recording = recorded.merged(recording, where, job.kind, entry_of(job, document, where))
        recorded.save(path, recording)
        count += 1
    if not count:
        raise Stopped("nothing was recorded")
    print(f"{path.relative_to(ROOT)} has {count} of {len(jobs)} runs")


def size_argument(text):
    """A size as the programs take it, 1G for 1024M. argparse makes a message of the ValueError."""
    return recorded.short_size(recorded.pixels_of(text))


def parse_arguments():
    """The command line. --input and --size hold for everything that is asked for with them."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("name", help="the file in docs/results without its .json, named after the device")
    arguments.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    arguments.add_argument("--commit", help="what is measured, where the sources came without git")
    arguments.add_argument("--size", nargs="+", type=size_argument,
                           help="pixels, as the programs take them; default 100M; workshops and experiments have their own")
    arguments.add_argument("--input", nargs="+", choices=recorded.INPUTS, metavar="INPUT",
                           help=f"default photo uniform, for a workshop or an experiment its own; of "
                                f"{', '.join((*recorded.PICTURES, *recorded.DRAWN))}, contention-0 ... contention-100")
    arguments.add_argument("--api", nargs="+", choices=["C++", "OpenCL", "CUDA"])
    arguments.add_argument("--chapter", nargs="+", help="only the programs of these, such as 04-per-thread-bins")
    arguments.add_argument("--no-chapters", action="store_true", help="only what the options below ask for")
    arguments.add_argument("--workshop", nargs="+", choices=["tune", *WORKSHOPS], default=[], metavar="WORKSHOP",
                           help=f"of tune, {', '.join(WORKSHOPS)}")
    arguments.add_argument("--peer", nargs="+", type=pathlib.Path, default=[], metavar="FILE",
                           help="with --workshop peers-on-a-cpu: shared libraries, as its program takes them")
    arguments.add_argument("--experiment", nargs="+", choices=EXPERIMENTS, metavar="NAME",
                           help="one thing changed at a time, on inputs and sizes of its own: "
                                + "; ".join(f"{name}, {each.about}" for name, each in EXPERIMENTS.items()))
    arguments.add_argument("--cluster", nargs="+", type=int, metavar="RANKS",
                           help="the programs for MPI on so many ranks each; --size is what one of them counts "
                                f"(default {CLUSTER_SIZE['C++']}, on devices {CLUSTER_SIZE['CUDA']})")
    options = arguments.parse_args()
    if not re.fullmatch(r"(cluster/)?\w[\w.-]*", options.name):
        arguments.error(f"{options.name} is no name for a file")
    return options


def main():
    options = parse_arguments()
    if not (options.build / "programs.tsv").is_file():
        print(f"record.py: nothing is built in {options.build}: ./tutorial run does it", file=sys.stderr)
        sys.exit(2)
    try:
        record(options, ROOT / "docs" / "results" / f"{options.name}.json")
    except KeyboardInterrupt:
        sys.exit(130)
    except (Stopped, recorded.NotRecorded, OSError) as error:
        sys.exit(f"record.py: {error}")


if __name__ == "__main__":
    main()
