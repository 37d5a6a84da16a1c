"""What a warp wants of chapter 02's one table at a step, worked out from the pixels: for tables.py."""

import random
import sys
from collections import Counter

from recorded import ROOT

sys.path.append(str(ROOT / "common" / "tutor" / "exercise"))
from pictures import read_bmp  # noqa: E402

WARP = 32
COUNTERS_IN_A_SECTOR = 8  # of 4 bytes, in 32
STEPS = 1 << 15  # of a warp, where pixels are random


def pixels_of(name):
    """Pixels of an input, by the name that the results have for it: as many as show what a warp gets."""
    if name == "photo":
        return read_bmp(ROOT / "images" / "landscape.bmp")[2]
    if name in ("uniform", "four-values"):
        generator = random.Random(1)
        return [generator.randrange(256 if name == "uniform" else 4) for _ in range(WARP * STEPS)]
    return [127] * WARP if name == "constant" else list(range(256))


def wants(pixels, place=lambda value: value):
    """(sectors, times): how many sectors the counters of 32 neighbouring pixels lie in, where `place` says which counter is a
    value's, and how often the commonest value is among the 32; on average."""
    warps = [pixels[first:first + WARP] for first in range(0, len(pixels) - WARP + 1, WARP)]
    sectors = sum(len({place(value) // COUNTERS_IN_A_SECTOR for value in warp}) for warp in warps)
    times = sum(max(Counter(warp).values()) for warp in warps)
    return sectors / len(warps), times / len(warps)
