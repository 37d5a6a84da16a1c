"""Little's law in the recorded experiments: bytes in flight on a multiprocessor, and the speed that they gave.

J. D. C. Little, "A proof for the queuing formula L = λ W", Operations Research 9 (1961): what is in flight is what
arrives in a second times how long each is on its way.
"""

import statistics
from typing import NamedTuple

import recorded
from experiments import LANES, LOCAL
from recorded import NotRecorded

# Where the runs are that differ in their launch and their loads alone.
EXPERIMENTS = ("under-way", "launches", "lanes", "walks")
# `lane-bins`: pixels to a load, and loads in flight, by --loads.
LOADS = {"0": (1, 1), "1": (16, 1), "4": (16, 4)}
SIZE = "1G"  # of the runs whose read ceiling it is held against
FEW = 1024  # bytes: far from every ceiling, so that an answer takes as long as it would alone
MAX_GROUPS_OF_LANE_BINS = 6  # of 33 KiB, on a multiprocessor with 228 KiB


class Point(NamedTuple):
    under_way: int  # bytes on each multiprocessor
    launch: str
    strategy: str
    gb_s: float
    answer_ns: float  # what Little's law gives
    bytes_a_load: int


def _point(run, units):
    words = run["arguments"]
    options = dict(zip(words[::2], words[1::2]))
    strategy, result = options["--variant"], run["result"]
    groups, size = int(options["--groups"]) // units, int(options["--group-size"])
    if run.get("edit") or result["check"] != "match" or options.get("--walk", "interleaved") != "interleaved":
        return None
    if strategy == "lane-bins":
        if options.get("--copies", "32") != "32" or groups > MAX_GROUPS_OF_LANE_BINS:
            return None
        pixels, loads = LOADS[options.get("--loads", "4")]
    elif strategy == "local":
        pixels, loads = 1, 1
    else:
        return None
    under_way = groups * size * pixels * loads
    words = f"{groups} group{'s' if groups > 1 else ''} of {size}"
    if pixels > 1:
        words += ", 16 bytes a load" + (f", {loads} loads" if loads > 1 else "")
    return Point(under_way, words, strategy, result["gb_s"], units * under_way / result["gb_s"], pixels)


def points(recording, api):
    """(the entries that they are of, the points by their bytes). Raises NotRecorded where there are none."""
    found, entries = {}, []
    for name in EXPERIMENTS:
        for entry in recording["experiments"]:
            run = entry["run"]
            if entry["experiment"] != name or run["api"] != api or run["chapter"] not in (LOCAL, LANES) or entry["input"] != "uniform":
                continue
            for kept in run["runs"]:
                point = _point(kept, run["units"])
                if point and (point.launch, point.strategy) not in found:
                    found[point.launch, point.strategy] = point
                    entries.append(entry)
    if not found:
        raise NotRecorded(f"no launches of {api} that differ in their bytes in flight")
    return list({id(entry): entry for entry in entries}.values()), sorted(found.values())


def answer_ns(all_points):
    """The time of an answer where few bytes are in flight, one a load: each pixel more takes time to count."""
    return statistics.median(point.answer_ns for point in all_points if point.under_way <= FEW and point.bytes_a_load == 1)


def ceiling(recording, entries):
    """The read ceiling of the device, in GB/s."""
    return max(recorded.read_ceiling(recording, {**entry, "size": SIZE}) for entry in entries)
