"""What a warp wants of chapter 02's one table at a step, worked out from the pixels: for tables.py."""

import functools
import random
import sys
from collections import Counter

from recorded import ROOT

sys.path.append(str(ROOT / "common" / "tutor" / "exercise"))
from pictures import read_bmp  # noqa: E402

WARP = 32
COUNTERS_IN_A_SECTOR = 8  # of 4 bytes, in 32
COUNTERS_IN_A_PIECE = 64  # pieces of 256 bytes; the four of the table go to two queues of the L2 cache, one after the other
STEPS = 1 << 15  # of a warp, where pixels are random


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
    sectors, visits = 0, Counter()
    for warp in warps:
        commonest = {}
        for value, times in Counter(warp).items():
            sector = place(value) // COUNTERS_IN_A_SECTOR
            commonest[sector] = max(times, commonest.get(sector, 0))
        sectors += len(commonest)
        for sector, times in commonest.items():
            visits[sector * COUNTERS_IN_A_SECTOR // COUNTERS_IN_A_PIECE % 2] += times
    return sectors / len(warps), sum(visits.values()) / len(warps), max(visits.values()) / len(warps)
