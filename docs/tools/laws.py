"""Two laws in the recorded experiments, each with the points that it is drawn through.

Little's law: bytes in flight on a multiprocessor, and the speed that they gave. J. D. C. Little, "A proof for the queuing
formula L = λ W", Operations Research 9 (1961): what is in flight is what arrives in a second times how long each is on its way.

The queues of the L2 cache, where additions to counters wait: how much of a queue's time a warp takes, and how many were at
work. One counter alone keeps one queue at work. A warp's visit to a sector takes a queue as long as its commonest counter
takes there; so what a warp takes is known from its counters, and how many queues shared it follows from the speed.
"""

import functools
import random
import statistics
import sys
from collections import Counter
from typing import NamedTuple

import recorded
from experiments import LANES, LOCAL, recorded_of
from experiments import EXPERIMENTS, LANES, LOCAL
from recorded import ROOT, NotRecorded, select

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


# ---- queues --------------------------------------------------------------------------------------

WARP = 32
COUNTERS_IN_A_SECTOR = 8  # of 4 bytes, in 32
COUNTERS_IN_A_PIECE = 64  # pieces of 256 bytes; the four of the table go to two queues of the L2 cache, one after the other
STEPS = 1 << 15  # of a warp, where pixels are random; where counters are, fewer
FEWER = 1 << 11
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


@functools.cache
def visits(counters, spacing=BYTES, together=1):
    """How often a warp goes to a sector where each work-item, or all together, choose one of so many counters."""
    if together > 1:
        return WARP
    generator = random.Random(1)
    chosen = [generator.randrange(counters) for _ in range(WARP * FEWER)]
    return wants(chosen, lambda counter: counter * spacing // BYTES)[1]


def probes(recording, name, api):
    """(its entry, [(counters, spacing, together, additions/ns)]) of an experiment with the probe `contention`."""
    found = recorded_of(recording, name, api=api)
    options = [dict(zip(run.arguments[::2], run.arguments[1::2])) for run, _, _ in found]
    return found[0][1], [(int(each["--counters"]), int(each["--spacing"]), int(each.get("--together", 1)), kept["result"]["gb_s"])
                         for each, (_, _, kept) in zip(options, found)]


def additions(recording, api="CUDA"):
    """(the entries, {series: [(bytes from the first counter to the end of the last, queues)]}, additions/ns to one counter)."""
    entries, found = [], {}
    first, measured = probes(recording, "contention", api)
    alone = next(rate for counters, _, _, rate in measured if counters == 1)

    def add(series, table, rate, a_warp):
        found.setdefault(series, []).append((table, round(rate * a_warp / WARP / alone, 4)))

    for name in ("contention", "warps"):
        entry, measured = probes(recording, name, api)
        entries.append(entry)
        for counters, spacing, together, rate in measured:
            series = "a warp at one counter" if together > 1 else f"random counters, {spacing} bytes apart"
            add(series, (counters - 1) * spacing + BYTES, rate, visits(counters, spacing, together))
    for entry in select(recording, "runs", program=f"02-global-atomics/{api.lower()}", size="1G"):
        entries.append(entry)
        for result in entry["run"]["results"]:
            pixels, tables = pixels_of(entry["input"]), 1 if result["variant"] == "global" else 2 * first["run"]["units"]
            if result["variant"] == "global" or entry["input"] == "uniform":
                add(f"{result['variant']}, chapter 02", (tables * 256 - 255 + max(pixels) - min(pixels)) * BYTES, result["gb_s"],
                    usual(entry["input"])[1])
    for entry in select(recording, "bins", api=api, input="uniform"):
        for result in entry["run"]["results"]:
            if result["variant"] == "global" and result["gb_s"]:
                entries.append(entry)
                counters = int(entry["experiment"])
                add("bins, the workshop", counters * BYTES, result["gb_s"] / 2, visits(counters))  # a pixel has two bytes
    return entries, found, alone
