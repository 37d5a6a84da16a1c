"""numpy.bincount in a process of its own: cpu.cpp runs this, tells it what to count, and reads what it prints.

Standard input is a line with the number of pixels, the pixels, a byte each, and for each turn a line: how often to count them in a
row. A turn is answered by a line: milliseconds for all of it, and the 256 counts.
"""

import sys
import time

import numpy

told = sys.stdin.buffer
pixels = numpy.frombuffer(told.read(int(told.readline())), dtype=numpy.uint8)
for turn in told:
    begin = time.perf_counter()
    for _ in range(int(turn)):
        counts = numpy.bincount(pixels, minlength=256)
    print(1000 * (time.perf_counter() - begin), *counts, flush=True)
