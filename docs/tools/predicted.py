"""Predicted times beside measured ones, and the constants that they are made with: common/tutor/counting/accuracy.json, devices.json.

    accuracy: chapters|others|limits|kernels
        how far predictions were off: of the chapters' recorded runs or of unseen.cu's kernels, by half; by what limits; each kernel
    constants: all
        the constants of the devices, and which of them are fitted
"""

import itertools
import sys

from recorded import ROOT
from tables import markdown

sys.path.append(str(ROOT / "common" / "tutor" / "counting"))
import accuracy  # noqa: E402
import model  # noqa: E402


def rows():
    return accuracy.contents()["rows"]


HEAD = "rows", "with a number", "within 5 %", "10 %", "25 %", "a factor 1.5", "worst factor"
CONSTANTS = {
    "multiprocessors": "multiprocessors", "clock_ghz": "clock, GHz", "ceiling_gb_s": "read ceiling, GB/s",
    "answer_ns": "how much longer memory takes to answer than the first-level cache, ns",
    "sector_ns": "and longer for each further sector in flight, ns",
    "near_ns": "the same for the second-level cache, ns", "visit_ns": "one visit in one queue of the L2 cache, ns",
    "whole_ns": "the same for one that adds to all eight words of a sector, ns",
    "spread_share": "the part of the time that each of many queues is busy",
    "popc_clocks": "clocks of a multiprocessor for a `__popc` of a warp", "vote_clocks": "the same for a vote (`__any_sync`)",
    "match_clocks": "the same for each value that a `__match_any_sync` finds", "integer_clocks": "the same for an integer instruction",
    "constant_clocks": "the same for each address that a load from constant memory has",
    "barrier_ns": "a barrier, ns", "instruction_ns": "each instruction of a warp between two waits, ns",
    "loop_ns": "each wait, beside the answer, ns",
    "chain_share": "instructions that need each other's results: their time, by the sum of their latencies",
    "end_share": "the part of the merges' queue that nothing hides", "end_hidden": "what can hide of it, as a part of the time before",
    "bend": "the power with which limits are added up", "queue_bend": "the same for the queues"}


def shares(of_rows):
    of = accuracy.summary(of_rows)
    return [str(of["rows"]), str(of["numbers"]), *(f"{100 * of[f'within_{limit}']:.0f} %" for limit in (5, 10, 25, 50)), f"{of['worst']:.2f}"]


def accuracy_lines(page, which):
    all_rows, found = rows(), []
    others = [row for row in all_rows if row["of"] == "others"]
    if which == "kernels":
        for kernel in dict.fromkeys(row["name"].split()[0] for row in others):
            of = [row for row in others if row["name"].split()[0] == kernel]
            factors = sorted(row["predicted_us"] / row["measured_us"] for row in of if row["predicted_us"])
            found.append([f"`{kernel}`", of[0]["half"], f"{factors[0]:.2f} to {factors[-1]:.2f}" if factors else "none", str(len(factors)),
                          of[0]["limit"]])
        return markdown(("<kernel", "half", "predicted by measured", "numbers for 16 runs", "lowest limit, random pixels"), found)
    if which == "limits":
        names = sorted({row["limit"] for row in all_rows})
        return markdown(("<the lowest limit", *HEAD), [[name, *shares([row for row in all_rows if row["limit"] == name])] for name in names])
    of_kind = [row for row in all_rows if row["of"] == "chapters"] if which == "chapters" else others
    for api, half in itertools.product(("CUDA", "OpenCL"), ("seen", "unseen")):
        of = [row for row in of_kind if (row["api"], row["half"]) == (api, half)]
        if of:
            right, pairs = accuracy.in_order(of)
            found.append([f"{api}, {half}", *shares(of), f"{right} of {pairs}"])
    if which == "others":
        unseen = [row for row in others if row["half"] == "unseen"]
        of = list(accuracy.with_registers(unseen, accuracy.contents()["counts"], model.devices()["h100"]))
        found.append(["the same with `--registers`", *shares(of), "{} of {}".format(*accuracy.in_order(of))])
    return markdown(("<half", *HEAD, "pairs in order"), found)


def constants_lines(page, which):
    both = {name: {**of, **{f"{word}_clocks": clocks for word, clocks in of["word_clocks"].items()}} for name, of in model.devices().items()}
    lines = [[words, *(of[key] for of in both.values()), "fitted" if key in both["h100"]["fitted"] else "measured"]
             for key, words in CONSTANTS.items()]
    lines += [[f"a launch, with zeroing, {api}, us", *(of["launch_us"][api] for of in both.values()), "measured"] for api in ("CUDA", "OpenCL")]
    return markdown(("<constant", *(name.upper() for name in both), "from"), lines)


KINDS = {"accuracy": accuracy_lines, "constants": constants_lines}
