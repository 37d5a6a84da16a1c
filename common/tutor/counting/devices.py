#!/usr/bin/env python3
"""Computes the constants of the devices, devices.json, from recorded runs: `devices.py` measures, `devices.py --fit` also fits.

Measured: docs/results/h100.json and, of words.cu, docs/results/counting/words-h100.json. Fitted, to the seen half of accuracy.json
alone: what no experiment of ours shows by itself (FITTED). The H200 has the same multiprocessors; its ceiling is its own recording's, all
else is taken from the H100. `limits` are facts of compute capability 9.0.
"""

import argparse
import json
import math
import statistics
import sys

import accuracy
import model

sys.path.append(str(accuracy.ROOT / "docs" / "tools"))
import experiments  # noqa: E402
import recorded  # noqa: E402
import tables  # noqa: E402

# Nanoseconds of a warp for an instruction; which part of the chain really waits; what a turn takes besides; how much of
# the queue at the end nobody hides; how sharply one limit gives way to another. Where the search begins.
FITTED = {"instruction_ns": 0.5, "chain_share": 1, "loop_ns": 10, "end_share": 0.4, "end_hidden": 0.6, "bend": 3.5, "queue_bend": 2}
# How long one waits for an answer, of words.cu.
ANSWERS = {"popc": "popc", "vote": "vote", "shuffle": "shuffle", "reduce": "reduce", "match": "match, 1 value", "local": "shared load",
           "global": "load, first-level cache", "own": "load, first-level cache"}
# How long a multiprocessor's unit is busy with one, of words.cu with 32 warps: the word, and how often a turn has it.
UNITS = {"popc": ("popc", 1), "vote": ("four votes", 4), "shuffle": ("shuffle", 1), "reduce": ("reduce", 1), "match": ("match, 32 values", 32)}
QUEUES = 80  # of the L2 cache (counts.cpp)
LIMITS = {"work_items": 2048, "groups": 32, "registers": 65536, "local_bytes": 228 << 10, "reserved_bytes": 1 << 10,
          "schedulers": 4}


def gb_s(recording, experiment, *words, size="256M", api="CUDA"):
    """Of the run of an experiment on random pixels that has these words."""
    for entry in recording["experiments"]:
        if (entry["experiment"], entry["input"], entry["size"], entry["run"]["api"]) == (experiment, "uniform", size, api):
            for run in entry["run"]["runs"]:
                if " ".join(words) in " ".join(run["arguments"]) and not run.get("edit"):
                    return run["result"]["gb_s"]
    raise recorded.NotRecorded(f"{experiment} {words}")


def start(recording, api):
    """Microseconds that `lane-bins` takes beside its pixels: the `a` of chapter 03's time = a + n / b."""
    sizes = [(recorded.pixels_of(size), recorded.pixels_of(size) / gb_s(recording, "sizes", "lane-bins", size=size, api=api) / 1000)
             for size in experiments.EXPERIMENTS["sizes"].size.split()]
    return tables.fitted(sizes)[0]


def measured(recording, words):
    units = next(entry["run"]["units"] for entry in recording["experiments"] if entry["experiment"] == "reads")
    ceiling = max(run["run"]["read_ceiling_gb_s"] for run in recording["runs"] if run["size"] == "1G")
    of = {(each["word"], each["warps"]): each for each in words["words"]}
    # `global` on the ramp: for 32 pixels four visits, in one queue or the other by turns.
    ramp = next(run for run in recording["runs"] if (run["program"], run["input"], run["size"]) == ("02-global-atomics/cuda", "ramp", "1G"))
    whole = next(each for each in ramp["run"]["results"] if each["variant"] == "global")
    visit = 1 / gb_s(recording, "contention", "--counters 1 --spacing 4", size="32M")
    slowest = of["match, 32 values", 32]  # so long a run that its launch does not count
    one, four = (units * size / gb_s(recording, "reads", "--group-size 32", *words) for size, words in
                 ((32, ("--bytes 1 --counted 0",)), (2048, ("--bytes 16 --loads 4 --counted 0",))))
    chase = {entry["size"]: entry["run"]["runs"][0]["result"]["kernel_ms"]["median"] for entry in recording["experiments"]
             if entry["experiment"] == "chase" and entry["run"]["api"] == "CUDA"}
    apis = {entry["run"]["api"] for entry in recording["experiments"] if entry["experiment"] == "sizes"}
    return {
        "multiprocessors": units, "ceiling_gb_s": ceiling, "clock_ghz": slowest["clocks"] / slowest["ns"],
        # An answer from memory, less what the first-level cache takes, which the chain of instructions has already.
        "answer_ns": chase["1G"] - chase["64K"], "near_ns": chase["16M"] - chase["64K"], "sector_ns": (four - one) / 63,
        "visit_ns": visit, "whole_ns": 16 / whole["gb_s"],
        "spread_share": visit * gb_s(recording, "contention", "--counters 65536 --spacing 128", size="32M") / QUEUES,
        "word_clocks": {name: round(of[word, 32]["clocks"] / 32 / times, 3) for name, (word, times) in UNITS.items()},
        "value_answer": (of["match, 32 values", 1]["clocks"] - of["match, 1 value", 1]["clocks"]) / 31,
        "constant_clocks": of["constant, 32 addresses", 32]["clocks"] / 32 / 32,
        "integer_clocks": of["multiply", 32]["clocks"] / 32,
        "barrier_ns": of["barrier", 8]["ns"],
        "answers": {name: round(of[word, 1]["clocks"]) for name, word in ANSWERS.items()},
        "launch_us": {api: start(recording, api if api in apis else "CUDA") for api in ("CUDA", "OpenCL")}, "limits": LIMITS,
    }


def of_recording(path):
    """A CUDA device by its own recording (docs/counting.md says which); its words' clocks, its limits and what is fitted are the H100's.

    Raises NotRecorded.
    """
    try:
        found = measured(recorded.load(path.resolve()), json.loads((accuracy.RESULTS / "counting/words-h100.json").read_text(encoding="utf-8")))
    except (KeyError, StopIteration, ValueError) as error:
        raise recorded.NotRecorded(f"{path} does not have all that a device is known by (docs/counting.md, your own GPU): "
                                   f"{str(error) or 'chapter 02 on the ramp, or one of the experiments'}") from None
    return {**model.devices()["h100"], **found}


def error(rows, counts, device):
    """How far off the predicted rows are, as a logarithm, of which a half is the most: the mean of the chapters' and of the others'."""
    off = {}
    for row in rows:
        row = accuracy.predicted(row, counts, device)
        if row["predicted_us"]:
            off.setdefault(row["of"], []).append(min(abs(math.log(row["predicted_us"] / row["measured_us"])), 0.5))
    return statistics.mean(map(statistics.mean, off.values()))


def fitted(device, rows, counts):
    """One constant at a time, up and down, as long as that helps."""
    best = error(rows, counts, device)
    for step in (1.3, 1.1, 1.03) * 3:
        for name in FITTED:
            for factor in (step, 1 / step):
                other = {**device, name: device[name] * factor}
                while (now := error(rows, counts, other)) < best:
                    device, best = other, now
                    other = {**device, name: device[name] * factor}
    return device


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fit", action="store_true")
    fits = parser.parse_args().fit
    results = {name: json.loads((accuracy.RESULTS / f"{name}.json").read_text(encoding="utf-8")) for name in ("h100", "h200", "counting/words-h100")}
    kept = model.devices()["h100"] if not fits else FITTED
    device = {**{name: kept[name] for name in FITTED}, **measured(results["h100"], results["counting/words-h100"])}
    if fits:
        contents = accuracy.contents()
        device = fitted(device, [row for row in contents["rows"] if row["half"] == "seen" and row["api"] == "CUDA"], contents["counts"])
    device = {name: round(value, 4) if isinstance(value, float) else value for name, value in device.items()}
    device["launch_us"] = {api: round(value, 2) for api, value in device["launch_us"].items()}
    ceiling = max(run["run"]["read_ceiling_gb_s"] for run in results["h200"]["runs"] if run["size"] == "1G")
    both = {"h100": {**device, "fitted": list(FITTED)}, "h200": {**device, "ceiling_gb_s": round(ceiling, 4), "fitted": list(FITTED)}}
    (accuracy.HERE / "devices.json").write_text(json.dumps(both, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
