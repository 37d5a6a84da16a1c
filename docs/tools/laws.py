"""Two laws in the recorded experiments, each with the points that it is drawn through.

Little's law: bytes in flight on a multiprocessor, and the speed that they gave. J. D. C. Little, "A proof for the queuing
formula L = λ W", Operations Research 9 (1961): what is in flight is what arrives in a second times how long each is on its way.

The queues of the L2 cache, where additions to counters wait. One counter alone keeps one queue at work; so where a warp adds to one
counter, how many queues were at work follows from the speed. A warp's visit to a sector takes a queue as long as its commonest counter
takes there.
"""

import functools
import random
import statistics
import sys
from collections import Counter
from typing import NamedTuple

import recorded
from experiments import LANES, LOCAL, recorded_of
from recorded import ROOT, NotRecorded

sys.path.append(str(ROOT / "common" / "tutor" / "exercise"))
from pictures import read_bmp  # noqa: E402

# Where the runs are that differ in their launch and their loads alone.
LAUNCHES = ("under-way", "launches", "lanes", "walks")
# `lane-bins`: pixels to a load, and loads in flight, by --loads.
LOADS = {"0": (1, 1), "1": (16, 1), "4": (16, 4)}
SIZE = "1G"  # of the runs whose read ceiling it is held against
FEW = 1024  # bytes: far from every ceiling, so that an answer takes as long as it would alone
MAX_GROUPS_OF_LANE_BINS = 6  # of 33 KiB, on a multiprocessor with 228 KiB


class Launch(NamedTuple):
    under_way: int  # bytes on each multiprocessor
    launch: str
    strategy: str
    gb_s: float
    answer_ns: float  # what Little's law gives
    bytes_a_load: int


def _launch(run, units):
    words = run["arguments"]
    options = {"--walk": "interleaved", "--copies": "32", "--loads": "4", **dict(zip(words[::2], words[1::2]))}
    strategy, result = options["--variant"], run["result"]
    groups, size = int(options["--groups"]) // units, int(options["--group-size"])
    if run.get("edit") or result["check"] != "match" or options["--walk"] != "interleaved" or strategy not in ("local", "lane-bins"):
        return None
    if strategy == "lane-bins" and (options["--copies"] != "32" or groups > MAX_GROUPS_OF_LANE_BINS):
        return None
    pixels, loads = LOADS[options["--loads"]] if strategy == "lane-bins" else (1, 1)
    under_way = groups * size * pixels * loads
    words = f"{groups} group{'s' if groups > 1 else ''} of {size}"
    if pixels > 1:
        words += ", 16 bytes a load" + (f", {loads} loads" if loads > 1 else "")
    return Launch(under_way, words, strategy, result["gb_s"], units * under_way / result["gb_s"], pixels)


def launches(recording, api):
    """(the entries that they are of, the points by their bytes). Raises NotRecorded where there are none."""
    found, entries = {}, []
    for entry in (entry for name in LAUNCHES for entry in recording["experiments"] if entry["experiment"] == name):
        run = entry["run"]
        if run["api"] == api and run["chapter"] in (LOCAL, LANES) and entry["input"] == "uniform":
            for point in filter(None, (_launch(kept, run["units"]) for kept in run["runs"])):
                entries += [] if (point.launch, point.strategy) in found else [entry]
                found.setdefault((point.launch, point.strategy), point)
    if not found:
        raise NotRecorded(f"no launches of {api} that differ in their bytes in flight")
    return entries, sorted(found.values())


def answer_ns(all_points):
    """The time of an answer where few bytes are in flight, one a load: each pixel more takes time to count."""
    return statistics.median(point.answer_ns for point in all_points if point.under_way <= FEW and point.bytes_a_load == 1)


def ceiling(recording, entries):
    """The read ceiling of the device, in GB/s."""
    return max(recorded.read_ceiling(recording, {**entry, "size": SIZE}) for entry in entries)


WARP = 32
COUNTERS_IN_A_SECTOR = 8  # of 4 bytes, in 32
COUNTERS_IN_A_PIECE = 64  # pieces of 256 bytes; the four of the table go to two queues of the L2 cache, one after the other
STEPS = 1 << 15  # of a warp, where pixels are random
BYTES = 4  # of a counter


@functools.cache
def pixels_of(name):
    """Pixels of an input, by the name that the results have for it: as many as show what a warp gets."""
    if name == "photo":
        return read_bmp(ROOT / "images" / "landscape.bmp")[2]
    if name in ("uniform", "four-values"):
        generator = random.Random(1)
        return [generator.randrange(256 if name == "uniform" else 4) for _ in range(WARP * STEPS)]
    return [127] * WARP if name == "constant" else list(range(256))


def wants(pixels, place=lambda value: value):
    """(sectors, visits, in_fuller) of 32 neighbouring pixels, on average, where `place` says which counter is a value's: how many
    sectors their counters lie in; the same, but each as often as the commonest of its values; and those of the fuller queue."""
    warps = [pixels[first:first + WARP] for first in range(0, len(pixels) - WARP + 1, WARP)]
    sector_of = {value: place(value) // COUNTERS_IN_A_SECTOR for value in set(pixels)}
    sectors, visits = 0, Counter()
    for warp in warps:
        commonest = dict(sorted((sector_of[value], times) for value, times in Counter(warp).items()))
        sectors += len(commonest)
        for sector, times in commonest.items():
            visits[sector * COUNTERS_IN_A_SECTOR // COUNTERS_IN_A_PIECE % 2] += times
    return sectors / len(warps), sum(visits.values()) / len(warps), max(visits.values()) / len(warps)


@functools.cache
def usual(name):
    """The same of an input, where counters lie in the order of their values."""
    return wants(pixels_of(name))


def queues(recording):
    """(the entry, {how far counters are apart: [(bytes from the first to the end of the last, queues at work)]}, additions/ns to one
    counter) of the probe in which the 32 of a warp go to one counter, in CUDA. Raises NotRecorded."""
    found, series = recorded_of(recording, "warps", api="CUDA"), {}
    alone = found[0][2]["result"]["gb_s"]
    for run, _, kept in found:
        options = dict(zip(run.arguments[::2], run.arguments[1::2]))
        counters, spacing = int(options["--counters"]), int(options["--spacing"])
        series.setdefault(f"counters {spacing} bytes apart", []).append(((counters - 1) * spacing + BYTES, kept["result"]["gb_s"] / alone))
    return found[0][1], series, alone
