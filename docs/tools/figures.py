#!/usr/bin/env python3
"""Draws what the lessons explain: docs/figures/*.svg, but for the plots, which docs/tools/plots.py draws.

    docs/tools/figures.py             draw all
    docs/tools/figures.py --check     change nothing; exit 1 where a committed figure differs

Every figure is a function below, in the order of the chapters. What it shows is what the kernels do: who
changes a kernel looks at its figure, too.
"""

import argparse
import sys
from pathlib import Path

from diagram import MARGIN, WIDTH, Diagram
from svg import keep

FIGURES = Path(__file__).resolve().parent.parent / "figures"

# Threads or groups that have to be told apart, in this order.
COLOURS = ("blue", "green", "purple", "yellow")
FULL = WIDTH - 2 * MARGIN
HALF = (FULL - 16) / 2
RIGHT_HALF = MARGIN + HALF + 16


# ---- chapter 01: cpu-threads.svg -----------------------------------------------------------------


def cpu_threads():
    """The strategies of chapter 01: who counts where."""
    figure = Diagram(652, "Counting on the CPU: who uses which counters",
                     "The picture is divided in equal parts, one for each thread. threads-atomic: all share one table "
                     "and queue up at its counters. threads-false-sharing: each has counters of its own, but those of "
                     "eight threads lie on one cache line. threads-private: a table for each thread, merged at the "
                     "end. interleaved: one thread, eight tables, used in turn.")
    figure.text(MARGIN, 56, "The pixels in equal parts, one for each thread:", "fill-ink")
    parts = [f"thread {number}" for number in range(8)]
    figure.cells(MARGIN, 66, FULL / 8, 28, parts, ["blue", "green"] + ["plain"] * 6)
    _threads_atomic(figure, MARGIN, 110)
    _threads_false_sharing(figure, RIGHT_HALF, 110)
    _threads_private(figure, MARGIN, 382)
    _interleaved(figure, RIGHT_HALF, 382)
    return figure


def _threads_atomic(figure, x, y):
    figure.panel(x, y, HALF, 256, "threads-atomic", "one table for all")
    waiting = [("thread 0", "blue"), ("thread 1", "green"), ("thread 4", "plain"), ("thread 6", "plain")]
    for place, (name, colour) in enumerate(waiting):
        figure.box(x + 24 + 86 * place, y + 62, 72, 24, colour, name)
        if place:
            figure.arrow((x + 24 + 86 * place, y + 74), (x + 24 + 86 * place - 13, y + 74), colour="orange")
    figure.notes(x + 24, y + 54, ["adds now"])
    figure.notes(x + 110, y + 54, ["wait: they have the same pixel value"], "orange")
    figure.arrow((x + 60, y + 88), (x + 60, y + 126), colour="blue")
    figure.code(x + 72, y + 112, "fetch_add(1)")
    figure.cells(x + 28, y + 130, 64, 28, ["bin 127", "128", "129", "130", "..."], ["orange"] + ["plain"] * 4)
    figure.notes(x + 14, y + 193, ["An atomic addition cannot be split, so none is lost.",
                                  "Additions to one counter take turns, and the cache",
                                  "line with the counter moves from core to core."])


def _threads_false_sharing(figure, x, y):
    figure.panel(x, y, HALF, 256, "threads-false-sharing", "private counters")
    left, width = x + 12, 22
    figure.bracket(left, left + 16 * width, y + 58, "one cache line: 64 bytes, 16 counters")
    owners = [f"t{number % 8}" for number in range(16)]
    colours = (["blue", "green"] + ["plain"] * 6) * 2
    figure.cells(left, y + 70, width, 28, owners, colours)
    figure.bracket(left + 2, left + 8 * width - 2, y + 108, "bin v", above=False)
    figure.bracket(left + 8 * width + 2, left + 16 * width - 2, y + 108, "bin v + 1", above=False)
    figure.box(left, y + 148, 112, 26, "blue", "core of thread 0")
    figure.box(left + 16 * width - 112, y + 148, 112, 26, "green", "core of thread 1")
    figure.arrow((left + 118, y + 161), (left + 16 * width - 118, y + 161), colour="orange", width=2, both=True)
    figure.notes(left + 8 * width, y + 152, ["the line moves"], "orange", "middle")
    figure.notes(x + 14, y + 201, ["No two threads ever use the same counter (t0, t1, ...).",
                                  "But a core must own the whole line to write to it, so",
                                  "they wait for each other all the same."])


def _threads_private(figure, x, y):
    figure.panel(x, y, HALF, 254, "threads-private", "tables of their own")
    places = [("thread 0", "blue"), ("thread 1", "green"), ("...", "plain"), ("thread 7", "plain")]
    for place, (name, colour) in enumerate(places):
        left = x + 14 + 90 * place
        if name == "...":
            figure.text(left + 39, y + 82, "...", "fill-muted bold", "middle")
            continue
        figure.notes(left + 39, y + 56, [name], anchor="middle")
        figure.table(left, y + 64, 78, 22, colour, 6)
        figure.arrow((left + 39, y + 90), (x + 188 + (left + 39 - x - 188) * 0.5, y + 134), colour="muted")
    figure.notes(x + 178, y + 114, ["then: merge"])
    figure.table(x + 110, y + 138, 156, 24, "ink", 12)
    figure.notes(x + 276, y + 155, ["histogram"])
    figure.notes(x + 14, y + 190, ["Each counts on its own stack, with the interleaved loop.",
                                  "Nobody waits. The merge adds 256 numbers for each",
                                  "thread, once: nothing beside millions of pixels."])


def _interleaved(figure, x, y):
    figure.panel(x, y, HALF, 254, "interleaved", "eight tables, one thread")
    left, width = x + 92, 34
    figure.notes(x + 14, y + 70, ["pixels"])
    figure.cells(left, y + 54, width, 24, ["90"] * 8)
    for lane in range(8):
        middle = left + width * (lane + 0.5)
        figure.arrow((middle, y + 80), (middle, y + 104), colour="blue")
    figure.notes(x + 14, y + 123, ["bin 90 of"])
    figure.cells(left, y + 107, width, 24, [f"t{lane}" for lane in range(8)], "blue")
    figure.arrow((left + 4 * width, y + 135), (left + 4 * width, y + 155))
    figure.notes(left + 4 * width + 12, y + 150, ["at the end: add up"])
    figure.box(left + 2.5 * width, y + 158, 3 * width, 22, "ink", "histogram[90]", "note code")
    figure.notes(x + 14, y + 205, ["Eight neighbours of one value use eight tables.",
                                  "In serial they use one counter, and each has to wait",
                                  "until the one before has written its sum."])


# ---- chapter 01: simd.svg ------------------------------------------------------------------------


def simd():
    """The two halves of simd: split, and count."""
    figure = Diagram(420, "simd: two halves that take turns",
                     "Split: the two top bits of each of 64 pixels choose one of four stacks, onto which it is pushed. "
                     "Count: each pixel of the fullest stack becomes a word of 64 bits, of which the one of its value is "
                     "set. Words are added column by column with full adders, into ones, twos, fours and eights; what is "
                     "carried out of the eights is worth 16 pixels, and is counted.")
    _split(figure, MARGIN, 56)
    _add_columns(figure, RIGHT_HALF, 56)
    return figure


def _split(figure, x, y):
    figure.panel(x, y, HALF, 340, "1. split", "64 pixels at a time")
    pixels, left, width = ["5", "200", "70", "66", "130", "9", "255", "..."], x + 22, 41
    owner = {"5": 0, "9": 0, "70": 1, "66": 1, "130": 2, "200": 3, "255": 3}
    colours = [COLOURS[owner[pixel]] if pixel in owner else "plain" for pixel in pixels]
    figure.notes(left, y + 58, ["pixels; their two top bits choose:"])
    figure.cells(left, y + 68, width, 26, pixels, colours)
    for stack, (name, tops) in enumerate((("0 to 63", ["9", "5"]), ("64 to 127", ["66", "70"]),
                                          ("128 to 191", ["130"]), ("192 to 255", ["255", "200"]))):
        at = x + 22 + 84 * stack
        figure.arrow((left + 4 * width, y + 98), (at + 34, y + 138), colour=COLOURS[stack])
        for depth in range(4):
            words = tops[depth - 4 + len(tops)] if depth >= 4 - len(tops) else ""
            figure.box(at, y + 142 + 24 * depth, 70, 24, COLOURS[stack], words)
        figure.notes(at + 35, y + 258, [name], anchor="middle")
    figure.notes(x + 14, y + 288, ["A turn pushes 2,048 pixels onto the four stacks, and",
                                   "counts 2,048 of the fullest. Six bits are left to tell",
                                   "the pixels of a stack apart."])


def _add_columns(figure, x, y):
    figure.panel(x, y, HALF, 340, "2. count", "a column for each value")
    left, width = x + 92, 34
    figure.notes(left, y + 52, ["one bit is set: that of the value"])
    for row, (pixel, value) in enumerate((("70: 6", 1), ("66: 2", 5), ("66: 2", 5))):
        figure.notes(x + 14, y + 78 + 26 * row, [f"pixel {pixel}"])
        bits = ["1" if column == value else "0" for column in range(8)]
        figure.cells(left, y + 61 + 26 * row, width, 24, bits, ["green" if bit == "1" else "plain" for bit in bits])
    for column in range(8):
        figure.notes(left + width * (column + 0.5), y + 152, [str(7 - column)], "muted", "middle")
    figure.arrow((left + 4 * width, y + 158), (left + 4 * width, y + 178))
    figure.notes(left + 4 * width + 12, y + 173, ["full adders"])
    for row, (name, ones) in enumerate((("ones", (1,)), ("twos", (5,)), ("fours", ()), ("eights", ()))):
        figure.notes(x + 14, y + 199 + 24 * row, [name])
        bits = ["1" if column in ones else "0" for column in range(8)]
        figure.cells(left, y + 183 + 24 * row, width, 22, bits, ["blue" if bit == "1" else "plain" for bit in bits])
    figure.notes(x + 14, y + 300, ["Shown: 3 words of 8 bits. In a register: 8 words of 64,",
                                   "all at once. A carry out of the eights is 16 pixels."])


# ---- chapters 01 and 02: lost-update.svg ---------------------------------------------------------


def lost_update():
    """How an update is lost, step by step, and why an atomic addition loses none."""
    figure = Diagram(432, "A lost update: two work-items (CUDA: threads), one counter",
                     "Left, plain ++: A reads 41, B reads 41, both add one, both write 42; two pixels, one count. "
                     "Right, atomic: A's read, add and write happen as one, then B's; the counter goes from 41 to 42 "
                     "to 43.")
    _plain_increment(figure, MARGIN, 46)
    _atomic_increment(figure, RIGHT_HALF, 46)
    return figure


def _lifelines(figure, x, y, bottom):
    """Heads and lines of A, the counter and B; gives their places."""
    places = x + 82, x + 196, x + 310
    for place, name, colour in zip(places, ("work-item A", "counter", "work-item B"), ("blue", "ink", "green")):
        figure.box(place - 44, y, 88, 26, colour, name)
        figure.line(place, y + 26, place, bottom, "line-grid", 2)
    figure.box(places[1] - 20, y + 36, 40, 24, "plain", "41", "code")
    return places


def _plain_increment(figure, x, y):
    figure.panel(x, y, HALF, 370, "++histogram[v]", "three steps")
    a, counter, b = _lifelines(figure, x, y + 44, y + 326)
    first, step = y + 122, 33
    for number in range(6):
        figure.badge(x + 20, first + step * number, number + 1, "muted")
    _message(figure, counter - 4, a + 4, first, "reads 41", "blue")
    _message(figure, counter + 4, b - 4, first + step, "reads 41", "green")
    figure.box(a - 34, first + 2 * step - 12, 68, 24, "blue", "41 + 1", "code")
    figure.box(b - 34, first + 3 * step - 12, 68, 24, "green", "41 + 1", "code")
    _message(figure, a + 4, counter - 22, first + 4 * step, "writes 42", "blue")
    figure.box(counter - 20, first + 4 * step - 12, 40, 24, "plain", "42", "code")
    _message(figure, b - 4, counter + 22, first + 5 * step, "writes 42", "green")
    figure.box(counter - 20, first + 5 * step - 12, 40, 24, "orange", "42", "code")
    figure.text(x + HALF / 2, y + 351, "two pixels, one count: an update is lost", "fill-orange bold", "middle")


def _atomic_increment(figure, x, y):
    figure.panel(x, y, HALF, 370, "atomic_inc", "CUDA: atomicAdd")
    a, counter, b = _lifelines(figure, x, y + 44, y + 326)
    top = y + 114
    figure.arrow((a + 4, top + 14), (counter - 46, top + 14), colour="blue", width=2)
    _indivisible(figure, counter, top, ("reads 41", "adds 1", "writes 42"), "blue")
    queue = counter + 62
    figure.line(b - 4, top + 14, queue, top + 14, "line-green", 2)
    figure.arrow((queue, top + 14), (queue, top + 112), (counter + 46, top + 112), colour="orange", dashes="5 3")
    figure.notes(queue + 8, top + 66, ["waits"], "orange clear")
    _indivisible(figure, counter, top + 98, ("reads 42", "adds 1", "writes 43"), "green")
    figure.box(counter - 20, top + 182, 40, 24, "plain", "43", "code")
    figure.notes(a - 66, top + 50, ["nothing", "comes", "between", "the three"])
    figure.text(x + HALF / 2, y + 351, "two pixels, two counts, in either order", "fill-green bold", "middle")


def _message(figure, start, end, y, words, colour):
    """An arrow from one lifeline to another, and what it carries."""
    figure.arrow((start, y), (end, y), colour=colour, width=2)
    figure.notes((start + end) / 2, y - 7, [words], anchor="middle")


def _indivisible(figure, middle, y, steps, colour):
    """The three steps as one block."""
    figure.box(middle - 42, y, 84, 72, colour)
    figure.notes(middle, y + 20, steps, anchor="middle", step=21)


# ---- chapter 02: global-atomics.svg --------------------------------------------------------------


def global_atomics():
    """The two walks of chapter 02 over the pixels, and where they count."""
    figure = Diagram(702, "Chapter 02: counting in global memory",
                     "global: all work-items of the launch walk over the pixels side by side, and add to one table "
                     "with atomics. subhist: groups cover columns of a picture with padded rows, walk down the rows, "
                     "and add to a table for each group; a second kernel sums the tables.")
    _grid_stride(figure, MARGIN, 46)
    _sub_histograms(figure, MARGIN, 362)
    return figure


def _grid_stride(figure, x, y):
    figure.panel(x, y, FULL, 300, "global", "a grid-stride loop, one table for the whole device")
    left, width, top = x + 24, 30, y + 74
    for step in range(3):
        figure.bracket(left + 8 * width * step + 3, left + 8 * width * (step + 1) - 3, y + 58, f"step {step + 1}")
    for i in range(24):
        colour = COLOURS[i % 8 // 4]
        if i < 21:
            figure.box(left + width * i, top, width, 26, colour, str(i % 8))
        else:
            figure.box(left + width * i, top, width, 26, "plain", "", dashes="3 3")
    figure.notes(left + 21.2 * width, top + 42, ["nothing left"], "muted")
    for i in (3, 11):
        start, end = left + width * (i + 0.5) + 3, left + width * (i + 8.5) - 3
        figure.arrow((start, top + 30), (start, top + 54), (end, top + 54), (end, top + 30), colour="blue")
    for step in range(2):
        middle = left + width * (7.5 + 8 * step)
        figure.notes(middle, top + 48, ["+ all work-items"], anchor="middle")
    figure.notes(left, top + 76, ["The number on a pixel is the work-item (CUDA: thread) that counts it; the step is "
                                  "get_global_size(0) = 8", "(CUDA: gridDim.x * blockDim.x)."])
    figure.box(left + 9 * width, top + 81, 16, 14, "blue")
    figure.box(left + 9 * width + 20, top + 81, 16, 14, "green")
    figure.notes(left + 9 * width + 44, top + 93, ["work-groups (CUDA: blocks) 0 and 1, of 4 work-items each"])
    _one_table_for_all(figure, left, top + 104)


def _one_table_for_all(figure, x, y):
    """Additions of five work-items to the histogram, three of them to one counter."""
    waiting = [(1, "blue"), (3, "blue"), (6, "green")]
    for place, (item, colour) in enumerate(waiting):
        figure.box(x + 190 + 34 * place, y + 12, 28, 24, colour, str(item))
    figure.arrow((x + 204, y + 38), (x + 204, y + 64), colour="orange", width=2)
    figure.notes(x + 182, y + 28, ["one value, one counter:", "they queue up"], "orange", "end")
    figure.box(x + 420, y + 12, 28, 24, "blue", "0")
    figure.arrow((x + 434, y + 38), (x + 434, y + 64), colour="blue", width=2)
    figure.box(x + 560, y + 12, 28, 24, "green", "5")
    figure.arrow((x + 574, y + 38), (x + 574, y + 64), colour="green", width=2)
    figure.cells(x, y + 66, 20, 24, [""] * 36, ["orange" if place == 10 else "ink" for place in range(36)])
    figure.notes(x, y + 108, ["histogram: 256 counters in global memory. atomic_inc (CUDA: atomicAdd) once for each "
                              "pixel."])


PICTURE_WIDTH, PICTURE_PITCH, PICTURE_ROWS, LAST_ROW = 13, 16, 7, 9


def _sub_histograms(figure, x, y):
    figure.panel(x, y, FULL, 324, "subhist", "a table for each group, a second kernel for the sum")
    left, top, cell = x + 24, y + 90, 21
    figure.bracket(left, left + cell * PICTURE_PITCH, y + 58, "image_pitch_bytes")
    figure.bracket(left, left + cell * PICTURE_WIDTH, y + 82, "width")
    for row in range(PICTURE_ROWS):
        pixels = PICTURE_WIDTH if row < PICTURE_ROWS - 1 else LAST_ROW
        colours = [COLOURS[row % 2 + 2 * (column // 8)] for column in range(pixels)]
        figure.cells(left, top + cell * row, cell, cell, [""] * pixels, colours)
        figure.hatch(left + cell * pixels, top + cell * row, cell * (PICTURE_PITCH - pixels), cell)
    middle = left + cell * 2.5
    for row in (0, 2, 4):
        figure.arrow((middle, top + cell * (row + 0.5)), (middle, top + cell * (row + 2.4)), colour="ink", width=2)
    figure.notes(left, top + cell * 7 + 20, [
        "Each work-item walks down its column. Groups that",
        "cover the same columns take the rows in turn: here",
        "four groups (x, y) of 8. Hatched: no pixels."])
    _tables_of_groups(figure, x + 404, y + 66)


def _tables_of_groups(figure, x, y):
    """A table for each of four groups, and the second kernel, which adds them up."""
    width, height = 24, 24
    names = ("(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)")
    figure.notes(x + 60, y, ["a table for each group, in global memory"])
    for group, (name, colour) in enumerate(zip(names, COLOURS)):
        top = y + 10 + 34 * group
        figure.notes(x, top + 16, [name])
        figure.cells(x + 60, top, width, height, [""] * 11, colour)
    bottom = y + 10 + 34 * 4
    for bin_ in range(11):
        middle = x + 60 + width * (bin_ + 0.5)
        figure.arrow((middle, y + 14), (middle, bottom + 20), colour="muted", width=1.2)
    figure.cells(x + 60, bottom + 23, width, height, [""] * 11, "ink")
    figure.notes(x, bottom + 40, ["sum"])
    figure.notes(x, bottom + 66, ["table_pitch_bins from table to table. Atomics, but",
                                 "queues as short as a group. sum_tables, the second",
                                 "kernel: a work-item for each bin, no atomics."])


# ---- chapter 02: two-walks.svg -------------------------------------------------------------------

WALKERS, LINE, PIXELS, PIXEL = 4, 4, 16, 22


def two_walks():
    """Who reads which pixel when, in both walks, on a GPU and on a CPU."""
    figure = Diagram(474, "Two walks over the same pixels: who reads which, and when",
                     "Sixteen pixels in four cache lines, four work-items. Interleaved: work-item 0 takes pixels 0, 4, 8, 12. "
                     "On a GPU all four read one line in a step. On a CPU through PoCL work-item 0 reads from all four "
                     "lines, then work-item 1 does so again. Blocked: work-item 0 takes pixels 0 to 3. On a GPU the four "
                     "read from four lines in each step. On a CPU work-item 0 reads one line to its end, then work-item 1 "
                     "the next.")
    _walk(figure, MARGIN, "interleaved", "every 4th pixel", lambda pixel: (pixel % WALKERS, pixel // WALKERS))
    _walk(figure, RIGHT_HALF, "blocked", "a stretch of its own", lambda pixel: (pixel // WALKERS, pixel % WALKERS))
    return figure


def _walk(figure, x, name, words, owner_and_turn):
    """One panel. `owner_and_turn`: the work-item that reads a pixel, and as which of its own."""
    y, left = 46, x + 12
    figure.panel(x, y, HALF, 412, name, words)
    places = [owner_and_turn(pixel) for pixel in range(PIXELS)]
    for line in range(PIXELS // LINE):
        start = left + line * LINE * PIXEL
        figure.bracket(start + 2, start + LINE * PIXEL - 2, y + 58, "a cache line")
    figure.cells(left, y + 68, PIXEL, 26, [owner for owner, _ in places], [COLOURS[owner] for owner, _ in places])
    figure.notes(left, y + 112, ["whose pixel: work-item 0, 1, 2 or 3"], "muted")

    def step(top, what, chosen, words_of):
        """The pixels that are read in a step of the walk, and how many lines they lie in."""
        figure.notes(left, top, [what])
        figure.cells(left, top + 8, PIXEL, 24, [words_of(place) if chosen(place) else "" for place in places],
                     [COLOURS[place[0]] if chosen(place) else "plain" for place in places])
        lines = len({pixel // LINE for pixel, place in enumerate(places) if chosen(place)})
        figure.notes(left + PIXELS * PIXEL, top, [f"{lines} line{'s' if lines > 1 else ''}"],
                     "orange" if lines > 1 else "ink", "end")

    figure.text(left, y + 142, "GPU: the work-items side by side", "fill-ink bold")
    for turn in range(2):
        step(y + 166 + 46 * turn, f"step {turn + 1}: all read their {('1st', '2nd')[turn]} pixel",
             lambda place, turn=turn: place[1] == turn, lambda place: place[0])
    figure.text(left, y + 270, "CPU, through PoCL: one after the other", "fill-ink bold")
    for item in range(2):
        step(y + 294 + 46 * item, f"{('first', 'then')[item]} work-item {item}, its 1st to 4th pixel",
             lambda place, item=item: place[0] == item, lambda place: place[1] + 1)
    figure.notes(left, y + 396, {"interleaved": ["... and for each work-item all lines are fetched again"],
                                 "blocked": ["... and each line is fetched once"]}[name], "muted")


# ---- chapter 03: five-steps.svg ------------------------------------------------------------------

# Where the steps begin on the axis of time, and the barriers between them, for two groups: a barrier is for
# one group, so the other may reach its own at another time.
START = 140
BARRIERS = ((252, 556), (272, 590))
MERGED = (690, 724)
# What four work-items of each group take for zeroing and for counting, as a part of the time they have.
ZEROING = ((0.86, 1.0, 0.7, 0.8), (1.0, 0.75, 0.9, 0.65))
COUNTING = ((0.92, 0.8, 1.0, 0.87), (0.78, 1.0, 0.9, 0.95))
COUNTS = ((3, 0, 5, 1, 0, 2, 4, 1), (2, 1, 4, 0, 0, 3, 6, 0))


def five_steps():
    """Chapter 03's `local` over time: zero, barrier, count, barrier, merge."""
    figure = Diagram(640, "local: five steps, over time, in two work-groups (CUDA: blocks)",
                     "Each group zeroes its table in local memory, meets at a barrier, counts, meets at a second "
                     "barrier, and adds its table to the histogram in global memory. Groups do not wait for each "
                     "other. Steps 1 and 5 stride by the size of the group, step 3 by all work-items of the launch.")
    first, second = (sum(pair) / 2 for pair in zip(*BARRIERS))
    middles = ((START + first) / 2 - 8, first, (first + second) / 2, second, (second + 707) / 2 + 8)
    for number, (x, name) in enumerate(zip(middles, ("zero", "barrier", "count", "barrier", "merge")), 1):
        figure.badge(x, 56, number)
        figure.text(x, 82, name, "fill-ink bold", "middle")
    figure.notes(WIDTH - MARGIN, 82, ["dotted: waits"], "muted", "end")
    for group in range(2):
        _steps_of_group(figure, 94 + 184 * group, group)
    _merged(figure, 462)
    _strides(figure, 530)
    return figure


def _steps_of_group(figure, y, group):
    """Four work-items of a group, their barriers, and the group's table before and after each step."""
    colour = COLOURS[group]
    first, second = BARRIERS[group]
    figure.band(MARGIN, y, FULL, 174)
    figure.text(MARGIN + 12, y + 26, f"group {group}", f"fill-{colour} bold")
    for item in range(4):
        top = y + 12 + 24 * item
        figure.notes(START - 8, top + 13, [f"item {item}"], "muted", "end")
        zeroed = START + (first - 8 - START) * ZEROING[group][item]
        counted = first + 8 + (second - first - 16) * COUNTING[group][item]
        figure.box(START, top, zeroed - START, 17, colour)
        figure.box(first + 8, top, counted - first - 8, 17, colour)
        figure.box(second + 8, top, MERGED[group] - second - 8, 17, colour)
        for start, end in ((zeroed, first), (counted, second)):
            figure.line(start + 2, top + 8.5, end - 4, top + 8.5, "line-muted", 1.2, "2 3")
    for barrier in (first, second):
        figure.line(barrier, y + 6, barrier, y + 110, "line-ink", 4)
    figure.notes(MARGIN + 12, y + 131, ["its table in", "local memory", "(CUDA: shared)"])
    for left, width, contents in ((START, 13, "????????"), (first + 8, 16, "00000000"),
                                  (second - 8 - 8 * 16, 16, COUNTS[group])):
        figure.cells(left, y + 120, width, 24, list(contents), colour, "note code")
    figure.notes(first + 8, y + 162, ["all zero"], "muted")
    figure.notes(second - 8, y + 162, ["all counted"], "muted", "end")
    figure.arrow((second - 4, y + 132), (second + 20, y + 132), colour="ink")
    figure.notes(second + 26, y + 128, ["atomic_add", "(CUDA: atomicAdd)"])


def _merged(figure, y):
    """The histogram, which holds the sums of both tables."""
    figure.notes(MARGIN + 12, y + 18, ["The histogram in global memory, 8 of its 256 bins:",
                                       "zeroed before the launch, in the end the sum of all tables"])
    left = 590 - 8 * 24
    sums = [a + b for a, b in zip(*COUNTS)]
    figure.cells(left, y + 8, 24, 26, sums, "ink", "note code")
    for group, (_, second) in enumerate(BARRIERS):
        merge = 94 + 184 * group + 132
        figure.path([(second + 144, merge), (768, merge), (768, y + 21)], "line-ink", 2)
    figure.arrow((768, y + 21), (594, y + 21), colour="ink", width=2)


def _strides(figure, y):
    figure.text(MARGIN, y + 14, "Which stride?", "fill-ink bold")
    rows = (("1", "bins", "get_local_size(0)", "CUDA: blockDim.x", "the group shares its own table's 256 bins"),
            ("3", "pixels", "get_global_size(0)", "CUDA: gridDim.x * blockDim.x",
             "the whole launch shares the picture"),
            ("5", "bins", "get_local_size(0)", "CUDA: blockDim.x", "again the group's own table, every bin of it"))
    for number, (step, what, opencl, cuda, why) in enumerate(rows):
        top = y + 38 + 26 * number
        figure.badge(MARGIN + 12, top - 4, step)
        figure.notes(MARGIN + 32, top, [what])
        figure.code(96, top, opencl)
        figure.notes(244, top, [cuda], "muted")
        figure.notes(468, top, [why])


# ---- chapter 03: merge.svg -------------------------------------------------------------------


def merge():
    """Three ways to get from the groups' tables to one histogram."""
    figure = Diagram(532, "Three ways to merge the tables of work-groups (CUDA: blocks)",
                     "local: the groups add their tables to one histogram in global memory with atomics. "
                     "local-buckets: each group writes a row of its own, and the host adds the rows. local-subhist: "
                     "each writes a row of its own, and a second kernel adds the rows.")
    bands = ((96, "local memory", "(CUDA: shared)"), (196, "global memory", ""), (386, "host memory", ""))
    heights = (84, 178, 68)
    for (y, name, other), height in zip(bands, heights):
        figure.band(MARGIN, y, FULL, height)
        figure.notes(MARGIN + 10, y + 22, [name, other], "ink")
    columns = ((130, "local", _merge_by_atomics), (350, "local-buckets", _merge_to_host),
               (570, "local-subhist", _merge_to_kernel))
    for x, name, draw in columns:
        figure.text(x, 58, name, "fill-ink code bold")
        for group in range(3):
            figure.notes(x, 124 + 24 * group, [f"group {group}"])
            figure.table(x + 58, 110 + 24 * group, 132, 18, COLOURS[group])
        draw(figure, x)
    figure.notes(130, 78, ["global atomics"], "muted")
    figure.notes(350, 78, ["the host adds rows"], "muted")
    figure.notes(570, 78, ["a second kernel adds rows"], "muted")
    lines = (("histogram zeroed first;", "256 atomics for each group", "instead of one for each pixel"),
             ("nothing to zero, no global", "atomics; the rows cross the", "bus, the host does the rest"),
             ("no global atomics either; one", "more launch; its pictures have", "pitched rows, as in chapter 02"))
    for (x, _, _), words in zip(columns, lines):
        figure.notes(x, 478, words)
    return figure


def _to_the_host(figure, x, start):
    figure.arrow((x + 124, start), (x + 124, 402), colour="ink", width=2)
    figure.table(x + 58, 406, 132, 22, "ink")
    figure.notes(x + 124, 445, ["histogram"], anchor="middle")


def _merge_by_atomics(figure, x):
    for place, colour in enumerate(COLOURS[:3]):
        left = x + 84 + 40 * place
        figure.arrow((left, 184), (left, 282), colour=colour, width=2)
    figure.notes(x + 124, 232, ["atomic_add", "CUDA: atomicAdd"], "ink clear", "middle")
    figure.table(x + 58, 286, 132, 22, "ink")
    figure.notes(x + 50, 301, ["sum"], "ink", "end")
    figure.notes(x + 132, 350, ["copied to", "the host"])
    _to_the_host(figure, x, 312)


def _rows_of_groups(figure, x):
    """Each table copied to a row of its own."""
    figure.arrow((x + 124, 182), (x + 124, 212), colour="muted", width=2)
    for group, colour in enumerate(COLOURS[:3]):
        figure.notes(x, 230 + 24 * group, [f"row {group}"])
        figure.table(x + 58, 216 + 24 * group, 132, 18, colour)


def _merge_to_host(figure, x):
    _rows_of_groups(figure, x)
    figure.notes(x + 114, 314, ["mapped (CUDA:", "copied); then the", "CPU adds the rows"], anchor="end")
    _to_the_host(figure, x, 288)


def _merge_to_kernel(figure, x):
    _rows_of_groups(figure, x)
    for place in range(8):
        middle = x + 58 + 132 / 8 * (place + 0.5)
        figure.arrow((middle, 288), (middle, 324), width=1.2)
    figure.notes(x + 50, 310, ["sum_tables"], "ink", "end")
    figure.table(x + 58, 328, 132, 22, "ink")
    figure.notes(x + 50, 343, ["sum"], "ink", "end")
    figure.notes(x + 132, 369, ["copied"])
    _to_the_host(figure, x, 354)


# ---- chapter 03: memory-hierarchy.svg ------------------------------------------------------------


def memory_hierarchy():
    """The memories of a device and of its host: who shares each, how large it is, who counts there."""
    figure = Diagram(608, "Where counters can live",
                     "From top to bottom: private memory of a work-item, local memory of a work-group, the L2 cache, "
                     "global memory, and across the bus the host's memory; each is larger, farther away and "
                     "slower than the one above.")
    figure.notes(MARGIN, 52, ["Downwards: larger, farther away, slower."], "muted")
    figure.band(MARGIN, 66, 420, 412)
    figure.notes(MARGIN + 12, 84, ["device (a GPU)"], "muted")
    for unit in range(2):
        _unit(figure, MARGIN + 9 + 206 * unit, 92, unit)
    figure.box(MARGIN + 9, 306, 402, 44, "purple", "L2 cache")
    for x in (MARGIN + 107, MARGIN + 313):
        figure.arrow((x, 290), (x, 304), both=True)
    figure.arrow((MARGIN + 210, 352), (MARGIN + 210, 382), both=True)
    figure.box(MARGIN + 9, 384, 402, 80, "yellow", "global memory: pixels, tables, histogram")
    figure.arrow((MARGIN + 210, 466), (MARGIN + 210, 520), width=3, both=True)
    figure.notes(MARGIN + 222, 502, ["bus, for example PCI Express"])
    figure.box(MARGIN, 522, 420, 70, "ink", "host memory: the picture, the result")
    _memory_facts(figure, 456)
    return figure


def _unit(figure, x, y, unit):
    """A multiprocessor with two groups: the work-items with their registers, and the groups' local memory."""
    figure.box(x, y, 196, 198, "plain")
    figure.notes(x + 98, y + 18, ["compute unit" if unit == 0 else "another, and so on"], anchor="middle")
    for group in range(2):
        left = x + 8 + 92 * group
        figure.notes(left + 44, y + 38, [f"group {2 * unit + group}"], anchor="middle")
        for item in range(4):
            figure.box(left + 22 * item, y + 46, 20, 38, "blue")
        figure.arrow((left + 43, y + 106), (left + 43, y + 126), both=True)
        figure.box(left, y + 128, 86, 60, "green")
        figure.notes(left + 43, y + 154, ["local", "memory"], anchor="middle")
    figure.notes(x + 98, y + 101, ["private to each work-item"], "muted", "middle")


def _memory_facts(figure, x):
    facts = (
        (96, "blue", "private memory (CUDA: registers)",
         ("one work-item (CUDA: thread)", "NVIDIA: at most 255 registers of 4 bytes",
          "has no addresses: ch. 04, private, spills")),
        (198, "green", "local memory (CUDA: shared memory)",
         ("the work-items of one work-group (CUDA: block)", "a group: 48 KiB or more (OpenCL: at least 32 KiB)",
          "ch. 03, 04 and 05 count here")),
        (306, "purple", "L2 cache", ("all compute units (CUDA: multiprocessors)", "some MiB to tens of MiB",
                                     "holds what was used last of global memory")),
        (396, "yellow", "global memory", ("all work-items of all groups", "some GiB to more than a hundred",
                                          "ch. 02 counts here; all read the pixels here")),
        (526, "ink", "host memory", ("the CPU's threads; the device by copies", "some GiB to TiB",
                                     "ch. 01 counts here")),
    )
    for y, colour, name, lines in facts:
        figure.line(x - 6, y - 10, x - 6, y + 58, f"line-{colour}", 3)
        figure.text(x + 4, y + 2, name, "fill-ink bold")
        for number, line in enumerate(lines):
            figure.notes(x + 4, y + 20 + 17 * number, [line], "muted" if number == 1 else "ink")


# ---- chapter 04: private-tables.svg --------------------------------------------------------------


def private_tables():
    """Counters for each work-item: where they end up, and what 8 bits can hold."""
    figure = Diagram(700, "Chapter 04: a table for each work-item (CUDA: thread)",
                     "private: an array that is indexed by the pixel cannot stay in registers and spills to memory as "
                     "far away as global memory. 8-bit counters: 255 and one more is 0. uchar-bins: 256 bytes for each "
                     "work-item in local memory, at most 255 pixels each, then they are added up.")
    _spill(figure, MARGIN, 46)
    _eight_bits(figure, RIGHT_HALF, 46)
    _uchar_bins(figure, MARGIN, 338)
    return figure


def _spill(figure, x, y):
    figure.panel(x, y, HALF, 276, "private", "uint counters[256]")
    figure.notes(x + 14, y + 56, ["registers of one work-item"])
    figure.cells(x + 14, y + 64, 43.5, 26, [*(f"r{number}" for number in range(7)), "..."], "blue", "note code")
    figure.notes(x + 14, y + 108, ["fast, but they have names instead of addresses"], "muted")
    figure.arrow((x + 36, y + 116), (x + 36, y + 160), colour="orange", width=2, dashes="5 3")
    figure.notes(x + 50, y + 136, ["spills: counters[pixel] takes an address", "that is known only at run time"],
                 "orange")
    figure.cells(x + 14, y + 164, 43.5, 26, ["[0]", "[1]", "[2]", "[3]", "...", "...", "[254]", "[255]"], "orange",
                 "note")
    figure.notes(x + 14, y + 212, ["1024 bytes for each work-item, private by name only:",
                                  "as far away as global memory. (CUDA calls it local",
                                  "memory, which is not what OpenCL calls local.)"])


def _eight_bits(figure, x, y):
    figure.panel(x, y, HALF, 276, "uchar-overflow", "8 bits, 256 pixels")
    rows = (("254 equal pixels", 254, "green"), ("255 equal pixels", 255, "green"), ("256 equal pixels", 256, "orange"))
    figure.notes(x + 14, y + 54, ["counted"], "muted")
    figure.notes(x + 250, y + 54, ["the counter"], "muted", "middle")
    for number, (words, count, colour) in enumerate(rows):
        top = y + 66 + 40 * number
        figure.notes(x + 14, top + 17, [words])
        figure.cells(x + 164, top, 19, 26, f"{count % 256:08b}", colour, "note code")
        figure.text(x + 328, top + 18, f"= {count % 256}", f"fill-{colour} bold")
    figure.box(x + 137, y + 146, 19, 26, "plain", "1", "note code", dashes="3 3")
    figure.arrow((x + 146, y + 176), (x + 146, y + 192), colour="orange")
    figure.notes(x + 146, y + 206, ["does not fit: 256 counts are lost"], "orange", "middle")
    figure.notes(x + 14, y + 236, ["On most pictures it is right, on a picture of one",
                                  "colour it is not. With at most 255 it always is."])


def _uchar_bins(figure, x, y):
    figure.panel(x, y, FULL, 346, "uchar-bins", "256 counters of 8 bits for each work-item")
    left, top, width = x + 98, y + 92, 30
    figure.bracket(left, left + 12 * width, y + 56,
                   "256 bytes; for 128 work-items 32 KiB of local (CUDA: shared) memory")
    heads = ["0", "1", "2", *[""] * 6, "...", "254", "255"]
    for bin_, head in enumerate(heads):
        figure.notes(left + width * (bin_ + 0.5), y + 84, [head], "muted", "middle")
    figure.notes(left - 8, y + 84, ["bin"], "muted", "end")
    for place, name in enumerate(("item 0", "item 1", "item 2", "...", "item 127")):
        figure.notes(left - 8, top + 28 * place + 17, [name], "ink", "end")
        if name == "...":
            continue
        counts = [(7 * place + 5 * bin_ + place * bin_ * bin_) % 6 for bin_ in range(12)]
        colours = ["yellow" if bin_ == 2 else COLOURS[place % 3] for bin_ in range(12)]
        figure.cells(left, top + 28 * place, width, 24, counts, colours, "note code")
    middle = left + width * 2.5
    figure.arrow((middle, top + 138), (middle, top + 170), colour="yellow", width=2.5)
    figure.notes(middle + 14, top + 160, ["each bin's sum over all work-items"])
    figure.cells(left, top + 174, width, 24, [""] * 12, "ink")
    figure.notes(left - 8, top + 191, ["the row"], "ink", "end")
    figure.notes(left, top + 218, ["32 bits for each bin, in global memory: a row for each",
                                   "work-group (CUDA: block); the host adds the rows."])
    _turns(figure, x + 518, y + 62)


def _turns(figure, x, y):
    """The loop of uchar-bins, with its three barriers."""
    figure.text(x, y - 4, "In each turn:", "fill-ink bold")
    steps = (("zero all tables", ""), ("count: at most 255", "pixels for each item"),
             ("add each bin's sum", "to the row"))
    for number, words in enumerate(steps):
        top = y + 10 + 76 * number
        figure.box(x, top, 186, 44, COLOURS[number])
        figure.badge(x + 18, top + 22, number + 1)
        figure.notes(x + 36, top + (19 if words[1] else 27), words)
        for left, right in ((x, x + 62), (x + 124, x + 186)):
            figure.line(left, top + 60, right, top + 60, "line-ink", 4)
        figure.notes(x + 93, top + 64, ["barrier"], "ink", "middle")
    bottom = y + 10 + 76 * 2 + 60
    figure.arrow((x + 194, bottom), (x + 216, bottom), (x + 216, y + 32), (x + 192, y + 32), colour="ink")
    figure.notes(x, bottom + 26, ["Until all pixels are counted."])


# ---- chapter 04: banks.svg -----------------------------------------------------------------------

BANKS = 32
GRID_LEFT, BANK_WIDTH, BANK_HEIGHT = 80, 21.6, 18
# The pixels of the 32 lanes of a warp: neighbours in a picture are often equal.
LANE_PIXELS = (5, 5, 5, 5, 4, 4, 5, 3, 3, 3, 2, 2, 2, 2, 1, 0, 0, 0, 0, 1, 1, 2, 4, 4, 4, 3, 5, 5, 5, 1, 1, 0)


def banks():
    """Who sits in which bank of local memory: one table, a copy for each lane, and 8-bit counters."""
    figure = Diagram(774, "Local memory (CUDA: shared memory) has banks: 32 on most GPUs, of 4 bytes",
                     "One table: bins b and b + 32 lie in one bank, and lanes that want both wait for each other. "
                     "lane-bins: bin b of copy k is word b times 32 plus k, so lane k only uses bank k. uchar-bins: "
                     "tables 256 bytes apart, so equal pixels fall into one bank. uchar-bins-banked: work-item t only "
                     "uses bank t modulo 32.")
    figure.notes(MARGIN, 50, [
        "In one step a bank serves one word. Lanes (work-items that run in step; on NVIDIA the 32 threads of a warp)",
        "that want other words of the same bank wait for each other: a bank conflict."], "muted")
    _one_table_in_banks(figure, MARGIN, 80)
    _lane_bins(figure, MARGIN, 312)
    _bytes_in_banks(figure, MARGIN, 578, "uchar-bins", 4, lambda t, word: (2 * t + word // BANKS, word % BANKS))
    figure.notes(MARGIN + 14, 730, ["The table of work-item t begins at word 64 * t, in",
                                    "bank 0: equal pixels meet in one bank, and wait."])
    _bytes_in_banks(figure, RIGHT_HALF, 578, "uchar-bins-banked", BANKS, lambda t, word: (word, t % BANKS))
    figure.notes(RIGHT_HALF + 14, 730, ["The work-items' words take turns: work-item t uses",
                                        "only bank t % 32. (Drawn for a group of 32.)"])
    return figure


def _bank_cell(figure, top, row, bank, colour, words=""):
    figure.box(GRID_LEFT + BANK_WIDTH * bank, top + BANK_HEIGHT * row, BANK_WIDTH, BANK_HEIGHT, colour, words)


def _bank_grid(figure, top, labels):
    for row, label in enumerate(labels):
        figure.notes(GRID_LEFT - 6, top + BANK_HEIGHT * row + 13.5, [label], "ink", "end")
        for bank in range(BANKS):
            _bank_cell(figure, top, row, bank, "plain")


def _bank_heads(figure, y, name):
    figure.notes(GRID_LEFT - 6, y, [name], "muted", "end")
    for bank in range(BANKS):
        figure.notes(GRID_LEFT + BANK_WIDTH * (bank + 0.5), y, [str(bank)], "muted", "middle")


def _one_table_in_banks(figure, x, y):
    figure.panel(x, y, FULL, 216, "one table", "bin b is word b, in bank b % 32 (chapter 03)")
    _bank_heads(figure, y + 50, "bank")
    top = y + 56
    _bank_grid(figure, top, [f"{32 * row}-{32 * row + 31}" for row in range(8)])
    _bank_cell(figure, top, 0, 12, "blue", "12")
    for row in range(3):
        _bank_cell(figure, top, row, 5, "orange", str(5 + 32 * row))
    remarks = ((0, 14, 17, "lane 0 has pixel 5, lane 1 has pixel 12: two banks, at once", "ink"),
               (1, 7, 16, "lane 2 has pixel 37: another word of bank 5, so it waits", "orange"),
               (2, 7, 15, "lane 3 has pixel 69: bank 5 again, so it waits as well", "orange"),
               (4, 7, 23, "Equal pixels want one word. NVIDIA adds them up and goes once, if each adds 1.", "ink"))
    for row, bank, width, words, colour in remarks:
        left = GRID_LEFT + BANK_WIDTH * bank
        figure.box(left, top + BANK_HEIGHT * row, BANK_WIDTH * width, BANK_HEIGHT, "plain")
        figure.notes(left + 6, top + BANK_HEIGHT * row + 13.5, [words], colour)


def _lane_bins(figure, x, y):
    figure.panel(x, y, FULL, 250, "lane-bins", "bin b of copy k is word b * 32 + k, always in bank k")
    _bank_heads(figure, y + 50, "lane")
    figure.notes(GRID_LEFT - 6, y + 72, ["its pixel"], "ink", "end")
    top = y + 96
    _bank_grid(figure, top, [f"bin {row}" for row in range(6)])
    for lane, pixel in enumerate(LANE_PIXELS):
        middle = GRID_LEFT + BANK_WIDTH * (lane + 0.5)
        figure.box(middle - BANK_WIDTH / 2, y + 58, BANK_WIDTH, BANK_HEIGHT, "yellow", str(pixel))
        figure.arrow((middle, y + 78), (middle, top + BANK_HEIGHT * pixel + 2), colour="blue", width=1)
        _bank_cell(figure, top, pixel, lane, "blue", "+1")
    figure.notes(GRID_LEFT, top + 126, [
        "Lane k stays in column k, which is bank k, whatever the pixels are: 32 lanes, 32 banks, no conflict.",
        "The copies are added up at the end. Here 6 of the 256 bins are shown."])


def _bytes_in_banks(figure, x, y, name, items, place_of):
    """8-bit counters: the words that work-items with pixel 20 use, in eight rows of all banks.

    `place_of` gives the row and the bank of a work-item's word; a word holds four bins.
    """
    figure.panel(x, y, HALF, 182, name, "all have pixel 20")
    left, top, width, height = x + 14, y + 38, (HALF - 28) / BANKS, 12
    for row in range(8):
        for bank in range(BANKS):
            figure.box(left + width * bank, top + height * row, width, height, "plain")
    for item in range(items):
        row, bank = place_of(item, 20 // 4)
        colour = "orange" if items < BANKS else "blue"
        figure.box(left + width * bank, top + height * row, width, height, colour)
        if items < BANKS:
            figure.box(left + width * 20, top + height * row, width * 8, 2 * height, "plain", f"work-item {item}")


# ---- chapter 05: occupancy-walk.svg --------------------------------------------------------------

ROWS_AT_ONCE = 8


def occupancy_walk():
    """The launch of `occupancy`, moved over the picture like a stamp."""
    figure = Diagram(448, "occupancy: a launch as large as the device holds, moved like a stamp",
                     "The launch is one group wide and as many groups high as the device holds at once, each group "
                     "eight rows of pixels. It is moved down the picture, then across and down again. Each work-item "
                     "counts eight rows of its column at each step.")
    _stamp(figure, 40, 96)
    _eight_rows(figure, 508, 96)
    return figure


def _stamp(figure, x, y):
    width, band, groups = 140, 30, 3
    height, picture_width, picture_height, pitch = band * groups, 330, 222, 364
    figure.bracket(x, x + pitch, y - 34, "pitch: bytes from row to row")
    figure.bracket(x, x + picture_width, y - 10, "width")
    figure.rect(x, y, picture_width, picture_height, "box-plain")
    figure.hatch(x + picture_width, y, pitch - picture_width, picture_height)
    # The last row is short.
    figure.hatch(x + picture_width * 0.6, y + picture_height - 6, picture_width * 0.4, 6)
    for group in range(groups):
        figure.box(x, y + band * group, width, band, COLOURS[group])
        figure.notes(x + 32, y + band * group + 19, [f"group {group}"])
    for place in range(9):
        left, top = x + width * (place // 3), y + height * (place % 3)
        figure.way([(left + 1.5, top + 1.5), (left + width - 1.5, top + 1.5), (left + width - 1.5, top + height - 1.5),
                    (left + 1.5, top + height - 1.5), (left + 1.5, top + 1.5)], "ink", 1, "5 4")
        figure.badge(left + 15, top + 15, place + 1)
    ways = (x + 118, x + 212, x + 316)
    for column, way in enumerate(ways):
        figure.arrow((way, y + 44), (way, y + height * 2 + 30), colour="blue", width=2)
        if column < 2:
            figure.arrow((way + 6, y + height * 2 + 26), (ways[column + 1] - 5, y + 46), colour="blue", dashes="5 3")
    figure.notes(x, y + 298, ["The stamp is the whole launch: one group (CUDA: block) wide, and so many",
                              "below each other as the device holds at once, here 3. It goes down the",
                              "picture, then across and down again. Hatched and beyond: no pixels."])


def _eight_rows(figure, x, y):
    """One group's band: a column of eight pixels for each work-item."""
    cell, columns, chosen = 24, 10, 3
    figure.text(x, y - 30, "One group at one step", "fill-ink bold")
    figure.bracket(x, x + cell * columns, y - 7, "work-items (CUDA: threads) side by side")
    for row in range(ROWS_AT_ONCE):
        words = [str(row + 1) if column == chosen else "" for column in range(columns)]
        colours = ["blue" if column == chosen else "plain" for column in range(columns)]
        figure.cells(x, y + cell * row, cell, cell, words, colours)
    middle = x + cell * (chosen + 0.5)
    figure.path([(x + cell * columns + 5, y), (x + cell * columns + 10, y),
                 (x + cell * columns + 10, y + cell * 8), (x + cell * columns + 5, y + cell * 8)], "line-muted", 1.2)
    figure.notes(x + cell * columns + 15, y + cell * 4, ["8", "rows"], "muted", step=15)
    figure.arrow((middle, y + cell * 8 + 4), (middle, y + cell * 8 + 30), colour="blue", width=2)
    figure.notes(x, y + cell * 8 + 50, ["Each work-item counts eight rows of its",
                                        "column, then moves on by the height of",
                                        "the stamp: 8 * get_global_size(1)",
                                        "(CUDA: 8 * gridDim.y).",
                                        "Nobody waits for the others."])


# ---- chapter 05: under-way.svg -------------------------------------------------------------------

# What a multiprocessor has asked for and not got yet: work-items times bytes. Those of `tuned` in the launch
# that large pictures get where no search was made.
UNDER_WAY = (("two-per-sm", 512, 1), ("occupancy", 2048, 1), ("vector", 2048, 16), ("tuned", 1024, 48))


def under_way():
    """How much is on its way from memory, and what is done meanwhile."""
    figure = Diagram(448, "While memory has not answered yet",
                     "Above, how many bytes a multiprocessor has asked for at once: 512 in two-per-sm, 2,048 in "
                     "occupancy, 32 KiB in vector, 48 KiB in tuned. Below, a work-item in time: one that waits for "
                     "each load before it counts it, and one that asks for the next before it counts the present.")
    _bytes_under_way(figure, MARGIN, 46)
    _now_and_next(figure, MARGIN, 238)
    return figure


def _bytes_under_way(figure, x, y):
    figure.panel(x, y, FULL, 176, "under way", "bytes that a multiprocessor (compute unit) has asked for and not got, as the source reads")
    for row, (name, items, bytes_) in enumerate(UNDER_WAY):
        top = y + 42 + 32 * row
        total = items * bytes_
        figure.code(x + 14, top + 16, name)
        figure.box(x + 110, top, max(total * 400 / 49152, 4), 24, COLOURS[row])
        words = f"{items:,} x {bytes_} = {total:,} bytes" if total < 4096 else f"{items:,} x {bytes_} = {total // 1024} KiB"
        figure.notes(x + 110 + max(total * 400 / 49152, 4) + 10, top + 16, [words])


def _now_and_next(figure, x, y):
    figure.panel(x, y, FULL, 194, "one work-item", "in time; not to scale")
    figure.notes(x + 14, y + 62, ["a load,", "then its count"])
    left = x + 130
    for place in range(3):
        start = left + 200 * place
        figure.box(start, y + 44, 130, 30, "plain", f"load {place + 1}", dashes="4 3")
        figure.box(start + 130, y + 44, 66, 30, "blue", f"count {place + 1}")
    figure.notes(x + 14, y + 112, ["the next asked for,", "then the count"])
    figure.box(left, y + 94, 130, 30, "plain", "load 1", dashes="4 3")
    for place in range(4):
        start = left + 130 + 70 * place
        figure.box(start, y + 94, 66, 30, "blue", f"count {place + 1}")
        figure.box(start - 4, y + 128, 70, 24, "plain", f"load {place + 2}", dashes="4 3")
    figure.arrow((left, y + 170), (x + FULL - 20, y + 170), colour="muted", width=1)
    figure.notes(x + FULL - 20, y + 186, ["time"], "muted", "end")
    figure.notes(left, y + 186, ["`next` is on its way while `now` is counted: the wait is hidden, if counting takes as long."],
                 "muted")


# ---- chapter 05: one-launch.svg ------------------------------------------------------------------

# (group, its sum of the bin), in the order in which they arrive.
ARRIVALS = ((2, 7), (0, 5), (3, 0), (1, 9))


def one_launch():
    """How `tuned` does in one launch what takes the others two commands."""
    figure = Diagram(614, "tuned: one launch that zeroes, counts and finishes",
                     "Two commands, zero and count, against one launch. In the one launch each group adds to a 64-bit "
                     "total for each bin, whose upper half counts the groups and whose lower half is the sum. The "
                     "group that sees from the returned value that it is the last writes the bin of the histogram and "
                     "leaves zero in the total.")
    _two_commands(figure, MARGIN, 46)
    _totals(figure, MARGIN, 206)
    return figure


def _two_commands(figure, x, y):
    figure.panel(x, y, FULL, 146, "the device's time", "not to scale")
    figure.notes(x + 14, y + 66, ["two commands"])
    figure.box(x + 150, y + 46, 90, 32, "orange", "zero")
    figure.line(x + 244, y + 62, x + 292, y + 62, "line-muted", 1.5, "3 3")
    figure.notes(x + 268, y + 56, ["gap"], "muted", "middle")
    figure.box(x + 296, y + 46, 330, 32, "blue", "count, then add to the histogram")
    figure.notes(x + 14, y + 118, ["tuned"], "ink code")
    figure.box(x + 150, y + 98, 330, 32, "blue", "count, then add to the totals; the last writes")
    figure.arrow((x + 150, y + 138), (x + FULL - 20, y + 138), colour="muted", width=1)
    figure.notes(x + FULL - 20, y + 130, ["time"], "muted", "end")


def _totals(figure, x, y):
    groups = len(ARRIVALS)
    figure.panel(x, y, FULL, 392, "the total of one bin", f"64 bits in global memory; {groups} groups (CUDA: blocks)")
    heads = ((x + 14, "who comes"), (x + 128, "adds, in one atomic operation"), (x + 366, "gets back"),
             (x + 564, "the total then"))
    for left, words in heads:
        figure.notes(left, y + 56, [words], "muted")
    _halves(figure, x + 564, y + 68, 0, 0, "plain")
    figure.notes(x + 14, y + 85, ["before the launch: zero, as the launch before it left it"])
    count = total = 0
    for place, (group, sum_) in enumerate(ARRIVALS):
        top = y + 108 + 40 * place
        last = place == groups - 1
        figure.box(x + 14, top, 80, 26, COLOURS[group], f"group {group}")
        _halves(figure, x + 128, top, 1, sum_, COLOURS[group])
        _halves(figure, x + 366, top, count, total, "green" if last else "plain")
        count, total = count + 1, total + sum_
        _halves(figure, x + 564, top, count, total, "plain")
        figure.arrow((x + 336, top + 13), (x + 360, top + 13))
    figure.bracket(x + 128, x + 190, y + 262, "upper half:", above=False)
    figure.bracket(x + 194, x + 316, y + 262, "lower half:", above=False)
    figure.notes(x + 159, y + 293, ["groups"], "muted", "middle")
    figure.notes(x + 255, y + 293, ["the sum"], "muted", "middle")
    figure.arrow((x + 460, y + 258), (x + 460, y + 284), colour="green", width=2)
    before = total - ARRIVALS[-1][1]
    figure.text(x + 366, y + 303, f"{groups - 1} were here before: I am the last of {groups}.", "fill-green bold")
    figure.box(x + 366, y + 316, 264, 26, "ink", f"histogram[bin] = {before} + {total - before} = {total}", "note code")
    figure.box(x + 366, y + 348, 264, 26, "plain", "total = 0, for the next launch", "note code")
    figure.notes(x + 14, y + 325, ["A group adds even if its sum is 0: it has to be",
                                   "counted. Nobody waits for anybody. A device",
                                   "without 64-bit atomics takes two commands."])


def _halves(figure, x, y, groups, sum_, colour):
    """A 64-bit word: upper and lower half."""
    figure.box(x, y, 64, 26, colour, str(groups), "code")
    figure.box(x + 64, y, 124, 26, colour, str(sum_), "code")


# ---- chapter 05: head-and-tail.svg ---------------------------------------------------------------

BYTE = 8.4
FIRST, ROW_PIXELS, ROW_PITCH = 5, 56, 59


def head_and_tail():
    """16-byte loads from rows that begin anywhere."""
    figure = Diagram(460, "16 pixels to a load, from a row that begins anywhere",
                     "A load of 16 bytes needs an address that 16 divides. Each row of the picture has a head before "
                     "the first such address, a body that is loaded 16 bytes at a time, and a tail, which are counted "
                     "one by one. A row may begin at such an address and have no head; a short row may have no body.")
    left = 96
    figure.notes(MARGIN, 58, ["byte"], "muted")
    for place in range(6):
        x = left + BYTE * 16 * place
        figure.notes(x, 58, [f"+{16 * place}"], "muted", "middle")
        figure.line(x, 64, x, 366, "line-muted", 1.2, "4 4")
    for row in range(3):
        start = FIRST + row * ROW_PITCH
        _vector_row(figure, left, 80 + 74 * row, f"row {row}", start, start + ROW_PIXELS)
    _vector_row(figure, left, 80 + 74 * 3, "a short row", 3, 11)
    figure.notes(MARGIN, 392, [
        f"Dashed: addresses that 16 divides. Row y begins at byte first + y * pitch, here {FIRST} + {ROW_PITCH} * y, "
        f"and has {ROW_PIXELS} pixels.",
        "The head ends at the first such address, the tail begins at the last; in a row without one all is head.",
        "Body: neighbouring work-items (CUDA: threads) load neighbouring 16 bytes, as a uint4: 4 words of 4 pixels.",
        "Head and tail: at most 15 pixels each, counted one by one. No load leaves the row."])
    return figure


def _vector_row(figure, left, y, name, start, end):
    """A row from byte start to byte end, drawn from the last address before it that 16 divides."""
    head_end = min((start + 15) // 16 * 16, end)
    tail = max(end // 16 * 16, head_end)
    origin = start // 16 * 16

    def place(byte):
        return left + BYTE * (byte - origin)

    figure.notes(MARGIN, y + 14, [name, f"from {start}"])
    for first, last, colour in ((start, head_end, "green"), (tail, end, "purple")):
        for byte in range(first, last):
            figure.box(place(byte), y, BYTE, 28, colour)
    for number, byte in enumerate(range(head_end, tail, 16)):
        figure.box(place(byte), y, BYTE * 16, 28, "blue", f"work-item {number}")
    for first, last, words, colour in ((start, head_end, "head", "green"), (head_end, tail, "body", "blue"),
                                       (tail, end, "tail", "purple")):
        if last > first:
            figure.bracket(place(first) + 1, place(last) - 1, y + 34, f"{words}: {last - first}", False, colour, "halo")


# ---- chapter 05, cluster: four-levels.svg --------------------------------------------------------


def four_levels():
    """Node, device, group, lane: private tables and a merge, four times."""
    figure = Diagram(596, "The same picture four times",
                     "On each of four levels, lane, group, device and node, those who count have counters of their own, "
                     "and a merge makes one table of them, with which the next level goes on.")
    levels = (
        ("lanes", "of a group", "chapters 04 and 05", "lane", "a copy of the table each,", "in local memory",
         ("the group adds its copies", "1 KiB each, at its end")),
        ("groups", "of a device", "chapters 03 and 05", "group", "a table each,", "in local memory",
         ("64-bit atomics in global memory", "256 additions for each group")),
        ("devices", "of a node", "here: a rank each", "rank", "a histogram for each chunk,", "32-bit counters",
         ("the host adds, in 64 bits", "256 additions for each chunk")),
        ("nodes", "of a cluster", "here: many ranks", "node", "its ranks' counters,", "64 bits each",
         ("MPI_Allreduce", "2 KiB for each rank, once")),
    )
    for place, level in enumerate(levels):
        _level(figure, 48 + 128 * place, *level)
        if place:
            top = 48 + 128 * place
            figure.arrow((684, top - 30), (684, top - 6), (330, top - 6), (330, top + 24), colour="muted", dashes="4 3")
    figure.notes(MARGIN, 580, ["Dashed: what one level has merged is what one of many brings to the next. "
                               "Nobody ever counts where somebody else counts."])
    return figure


def _level(figure, y, name, of, where, worker, first, second, merge):
    """Four who count, each with a table, and the one table that the merge makes."""
    figure.band(MARGIN, y, FULL, 112)
    figure.text(MARGIN + 12, y + 28, name, "fill-ink bold")
    figure.notes(MARGIN + 12, y + 48, [of, where, first, second])
    for number, colour in enumerate(COLOURS):
        left = 206 + 88 * number
        figure.box(left, y + 26, 72, 24, colour, f"{worker} {number}")
        figure.arrow((left + 36, y + 52), (left + 36, y + 62), colour=colour)
        figure.table(left, y + 64, 72, 18, colour, 6)
        figure.way([(left + 36, y + 82), (left + 36, y + 96)], "muted")
    figure.arrow((242, y + 96), (572, y + 96), (572, y + 73), (600, y + 73))
    figure.table(604, y + 64, 160, 18, "ink", 12)
    figure.notes(684, y + 36, merge, anchor="middle")


# ---- the files -----------------------------------------------------------------------------------

DRAWINGS = {
    "cpu-threads.svg": cpu_threads,
    "simd.svg": simd,
    "lost-update.svg": lost_update,
    "global-atomics.svg": global_atomics,
    "two-walks.svg": two_walks,
    "five-steps.svg": five_steps,
    "merge.svg": merge,
    "memory-hierarchy.svg": memory_hierarchy,
    "private-tables.svg": private_tables,
    "banks.svg": banks,
    "occupancy-walk.svg": occupancy_walk,
    "under-way.svg": under_way,
    "one-launch.svg": one_launch,
    "head-and-tail.svg": head_and_tail,
    "four-levels.svg": four_levels,
}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true", help="change nothing, and exit 1 where a figure differs")
    check = arguments.parse_args().check
    drawn = {name: draw().to_text() for name, draw in DRAWINGS.items()}
    wrong = keep(drawn, FIGURES, check, "is not what docs/tools/figures.py draws")
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
