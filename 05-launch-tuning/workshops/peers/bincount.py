"""numpy.bincount in turns of its own: cpu.cpp runs this, and reads what it prints.

    bincount.py FILE TURNS RUNS     FILE holds the pixels; a turn is RUNS runs in a row

Three lines: the 256 counts before the first turn, those after the last, and the milliseconds of a run in each turn.
"""

import sys
import time

import numpy

pixels = numpy.fromfile(sys.argv[1], dtype=numpy.uint8)
turns, runs = int(sys.argv[2]), int(sys.argv[3])
print(*numpy.bincount(pixels, minlength=256))  # and it is warm
times = []
for _ in range(turns):
    begin = time.perf_counter()
    for _ in range(runs):
        counts = numpy.bincount(pixels, minlength=256)
    times.append(1000 * (time.perf_counter() - begin) / runs)
print(*counts)
print(*times)
