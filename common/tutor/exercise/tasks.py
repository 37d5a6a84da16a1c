"""What the exercises count: how pixels lie in memory, which runs the grader makes, and what should come back.

All of it is worked out here, from the pixels alone, and has nothing of what a student hands in.
"""

import collections
import functools
import json
import random
from array import array
from typing import NamedTuple

import catalogue
import pictures

POISON = b"\xa5"  # as in common/histogram
COUNTED = 1 << 20, 16, 256  # pixels, a few less; groups, group size
LARGER_THAN_BINS = catalogue.DETECTORS["larger_than_bins"][0]
PICTURES = catalogue.ROOT / "images"


class Run(NamedTuple):
    """One case: an input, a launch, and which of the exercise's ways to compile and to begin."""

    words: str
    width: int
    height: int
    pixels: bytes  # row by row, without gaps
    groups: int
    group_size: int
    options: str = ""
    first: int = 0  # where in the buffer the pixels begin
    key: int = 0  # with which the kernel of a host exercise is made different in each grading

    @property
    def count(self):
        return self.width * self.height


class Histogram:
    """256 counts of 8-bit pixels. The other tasks say in what they differ."""

    pixel_bytes = 1
    word = "I"  # what comes back, as array names its types
    sizes = ((0, 1), (1, 1), (255, 1), (257, 1), (1048573, 1))
    middle, small = (83003, 1), (20011, 1)  # at least; more of one value than 16 bits count, and what 8 bits lose is no multiple of that

    def of_middle(self, generator):
        """A size, another one in each grading, for those who grade as for the detectors."""
        return int(self.middle[0] * generator.uniform(1, 1.12)), self.middle[1]

    def of_small(self, generator):
        return int(self.small[0] * generator.uniform(1, 3)), self.small[1]

    def tiny(self, generator):
        """Two sizes for the detectors, which are slow: other ones in each grading."""
        return (generator.randrange(900, 1400), 1), (generator.randrange(120, 220), 1)

    def pixel(self, value):
        """A pixel's bytes, of a value from 0 to 255."""
        return bytes([value])

    def memory(self, run):
        """What the buffer `pixels` holds."""
        return POISON * run.first + run.pixels

    def names(self, run):
        """What exercise.json's expressions may name."""
        return {"count": run.count, "first": run.first, "width": run.width, "height": run.height,
                "group_size": run.group_size, "groups": run.groups}

    def truth(self, run):
        counts = collections.Counter(run.pixels)
        return [counts[bin] for bin in range(256)]

    def wrong(self, run, wanted, got):
        """Where it is not right: indices."""
        return [at for at, (w, g) in enumerate(zip(wanted, got)) if w != g]

    def position(self, run, at):
        return f"bin {at}"


class MoreBins(Histogram):
    """1,024 counts of 16-bit pixels, 64 values a bin."""

    pixel_bytes = 2

    def pixel(self, value):
        return (value * 257).to_bytes(2, "little")

    def truth(self, run):
        counts = collections.Counter(value >> 6 for value in array("H", run.pixels))
        return [counts[bin] for bin in range(1024)]


class Rows(Histogram):
    """256 counts of a picture, whose rows lie one behind the other."""

    sizes = ((0, 1), (1, 1), (255, 1), (1, 257), (1021, 1031))
    middle, small = (283, 251), (149, 131)

    def tiny(self, generator):
        return tuple((generator.randrange(low, high), generator.randrange(low // 2, high // 2)) for low, high in ((40, 50), (13, 19)))


class Picture(Rows):
    """A picture as it stands in its file: behind a header, in rows with gaps."""

    def memory(self, run):
        return pictures.bmp_of(run.width, run.height, run.pixels)

    def names(self, run):
        return {**super().names(run), "first": pictures.HEADER, "pitch": pictures.pitch_of(run.width)}


class Pitched(Histogram):
    """256 counts of a picture in rows that lie a pitch apart, no multiple of 4; the last may be short."""

    def names(self, run):
        width = 101 + run.count % 97
        return {**super().names(run), "width": width, "pitch": width // 4 * 4 + 7}

    def memory(self, run):
        names = self.names(run)
        rows = (run.pixels[at:at + names["width"]] for at in range(0, run.count, names["width"]))
        return b"".join(row.ljust(names["pitch"], POISON) for row in rows)


class Tiles(Rows):
    """A histogram for each tile of a picture, 32 x 32 pixels, smaller at the right and lower edge."""

    side = 32

    def tiny(self, generator):  # more tiles than groups
        return (generator.randrange(66, 80), generator.randrange(34, 42)), (generator.randrange(66, 80), generator.randrange(8, 14))

    def across(self, run):
        return (run.width + self.side - 1) // self.side

    def down(self, run):
        return (run.height + self.side - 1) // self.side

    def names(self, run):
        return {**super().names(run), "side": self.side, "tiles": self.across(run) * self.down(run)}

    def truth(self, run):
        words = []
        for y in range(0, run.height, self.side):
            rows = [run.pixels[row * run.width:(row + 1) * run.width] for row in range(y, min(y + self.side, run.height))]
            for x in range(0, run.width, self.side):
                counts = collections.Counter(b"".join(row[x:x + self.side] for row in rows))
                words += [counts[bin] for bin in range(256)]
        return words

    def position(self, run, at):
        tile = at // 256
        return f"tile in column {tile % self.across(run)}, row {tile // self.across(run)}, bin {at % 256}"


class Equalized(Rows):
    """The picture with its greys spread: v becomes 255 * (pixels of v or less) / (all pixels), rounded down."""

    word = "B"
    sizes = (*Rows.sizes, (4111, 4103))  # 255 times the pixels of the last does not fit 32 bits

    def truth(self, run):
        counts, upto, table = collections.Counter(run.pixels), 0, []
        for value in range(256):
            upto += counts[value]
            table.append(255 * upto // max(run.count, 1))
        return run.pixels.translate(bytes(table))

    def wrong(self, run, wanted, got):
        return [] if got.tobytes() == wanted else super().wrong(run, wanted, got)

    def position(self, run, at):
        return f"row {at // run.width}, pixel {at % run.width}"


class Threshold(Histogram):
    """From 256 counts the grey that parts dark from light best: Otsu's."""

    def memory(self, run):
        return array("I", super().truth(run)).tobytes()

    def apart(self, counts, threshold):
        """How far apart the two classes are: their sizes times the square between their means."""
        dark, light = range(threshold + 1), range(threshold + 1, 256)
        below, above = sum(counts[v] for v in dark), sum(counts[v] for v in light)
        if not below or not above:
            return 0.0
        mean = [sum(v * counts[v] for v in dark) / below, sum(v * counts[v] for v in light) / above]
        return below * above * (mean[0] - mean[1]) ** 2

    def truth(self, run):
        counts = super().truth(run)
        return [max(range(256), key=lambda threshold: self.apart(counts, threshold))]

    def wrong(self, run, wanted, got):
        """Others may part as well as the first best, but for the rounding."""
        counts = super().truth(run)
        if got[0] < 256 and self.apart(counts, got[0]) >= self.apart(counts, wanted[0]) * (1 - 1e-9):
            return []
        return [0]

    def position(self, run, at):
        return "the threshold"


class Permuted(Histogram):
    """For host programs: the kernel is the grader's, and counts each value in another bin in each grading.

    The bin depends on the launch, too. So what has not been through the kernel, in the launch that was asked for, is wrong.
    """

    def bin_of(self, run):
        """As an expression of the kernels, and of Python."""
        return f"((pixel) * {2 * run.key % 256 + 1} + {run.key % 251} + LAUNCH) & 255"

    def truth(self, run):
        counts, permuted = collections.Counter(run.pixels), [0] * 256
        for pixel, count in counts.items():
            at = eval(self.bin_of(run), {"pixel": pixel, "LAUNCH": run.groups * 5 + run.group_size * 3})
            permuted[at] += count
        return permuted


TASKS = {"histogram": Histogram(), "more-bins": MoreBins(), "picture": Picture(), "pitched": Pitched(), "tiles": Tiles(),
         "equalized": Equalized(), "threshold": Threshold(), "permuted": Permuted()}


def task_of(exercise):
    return TASKS[exercise.data.get("task", "histogram")]


# ---- the runs of each criterion ------------------------------------------------------------------


def drawn(task, seed, size):
    return random.Random(f"{seed} {size}").randbytes(size[0] * size[1] * task.pixel_bytes)


def chosen(task, seed, size, values):
    """Pixels of these values, which one by chance."""
    generator, pixels = random.Random(f"{seed} {size} {len(values)}"), [task.pixel(value) for value in values]
    return b"".join(generator.choices(pixels, k=size[0] * size[1]))


def run_of(size, kind, pixels, groups, group_size, after=""):
    across, down = size
    return Run(f"{across} {kind}{after}" if down == 1 else f"{across} x {down} {kind}{after}", *size, pixels, groups, group_size)


def sizes(exercise, task, seed):
    generator = random.Random(f"{seed} sizes")
    for across, down in task.sizes:
        size = tuple(side + (generator.randrange(side // 64) if side > 1000 else 0) for side in (across, down))
        yield run_of(size, "random pixels", drawn(task, seed, size), 3, 64)


def distributions(exercise, task, seed):  # groups as large as some of launches(): of each size a kernel is compiled
    generator = random.Random(seed)
    size = task.of_middle(generator)
    count = size[0] * size[1]
    for value in (0, 127, 255):
        yield run_of(size, f"pixels of the value {value}", task.pixel(value) * count, 4, 96)
    # So many for each work-item that a small counter overflows.
    yield run_of(size, "pixels of the value 201", task.pixel(201) * count, 1, 64, ", 1 group of 64")
    four = generator.sample(range(256), 4)
    yield run_of(size, "pixels of four values", chosen(task, seed, size, four), 4, 96)
    yield run_of(size, "pixels of a ramp", b"".join(task.pixel(i % 256) for i in range(count)), 4, 96)
    often = [generator.randrange(256)] * 171 + list(range(256))  # 171 of 427 are 40 in 100
    yield run_of(size, "pixels, 40 in 100 of one value", chosen(task, seed, size, often), 4, 96)


def launches(exercise, task, seed):
    generator, largest = random.Random(f"{seed} launches"), exercise.data.get("largest_group", 1024)
    size = task.of_small(generator)
    if exercise.kind == "c++":
        for threads in (1, 2, 3, 8, 64):
            yield run_of(size, "random pixels", drawn(task, seed, size), threads, 1, f", {threads} thread{'s' if threads > 1 else ''}")
        return
    # Two as small as the detectors' are, and of pixels as those are, too.
    sizes = [size, size, size, *task.tiny(generator)]
    generator.shuffle(sizes)
    for its, groups, group_size in zip(sizes, (1, 1, 5, 1, 700), (1, 64, 96, 1024, 64)):
        group_size = min(group_size, largest)
        pixels = in_runs(task, generator, its) if generator.random() < 0.5 or its != size else drawn(task, seed, its)
        yield run_of(its, "random pixels", pixels, groups, group_size, f", {groups} group{'s' if groups > 1 else ''} of {group_size}")


def real_pictures(exercise, task, seed):
    """A part of each, another one in each grading: what comes of the whole is known to everybody."""
    generator = random.Random(f"{seed} pictures")
    for name in ("landscape", "four-values", "nearly-constant", "one-column"):
        width, height, pixels = pictures.read_bmp(PICTURES / f"{name}.bmp")
        left, top = generator.randrange(min(width, 32)), generator.randrange(32)
        rows = (pixels[y * width + left:(y + 1) * width] for y in range(top, height))
        yield Run(f"images/{name}.bmp from column {left}, row {top}", width - left, height - top, b"".join(rows), 3, 96)


CRITERIA = {"sizes": sizes, "distributions": distributions, "launches": launches, "pictures": real_pictures}


def key_of(seed):
    """The same for all runs of a grading, so that the host program and its kernel are compiled once for all of them."""
    return random.Random(seed).randrange(1, 1 << 16)


@functools.lru_cache(16)
def runs_of(exercise, criterion, seed):
    """The runs, shared out among the exercise's ways to compile and to begin."""
    options = exercise.data.get("options", [""])
    firsts = exercise.data.get("first", [0])
    runs = [run._replace(options=options[number % len(options)], first=firsts[number % len(firsts)], key=key_of(seed))
            for number, run in enumerate(CRITERIA[criterion](exercise, task_of(exercise), seed))]
    if len(options) > 1 or len(firsts) > 1:  # each of them once on the same pixels
        last = runs[-1]
        for number in range(max(len(options), len(firsts))):
            option, first = options[number % len(options)], firsts[number % len(firsts)]
            said = ", ".join(filter(None, (option, f"from byte {first}" if len(firsts) > 1 else "")))
            runs.append(last._replace(words=f"{last.words}, {said}", options=option, first=first))
    return runs


def in_runs(task, generator, size):
    """Pixels of which a few at a time are equal, as neighbours are in pictures."""
    few, pixels = [task.pixel(generator.randrange(256)) for _ in range(64)], []
    while len(pixels) < size[0] * size[1]:
        pixels += [generator.choice(few)] * generator.randrange(1, 5)
    return b"".join(pixels[:size[0] * size[1]])


@functools.lru_cache(16)
def for_detectors(exercise, seed):
    """Fewer work-items than pixels, so that loops turn, and more; more of them than bins; and one run of a size and a group that
    are compared, too. Not too large, for detectors are slow."""
    if exercise.kind == "c++":  # but for these, which see all that is compared
        return [run for criterion in CRITERIA if criterion in exercise.points for run in runs_of(exercise, criterion, seed)]
    generator, task = random.Random(f"{seed} detectors"), task_of(exercise)
    launches = [((each[0][0] + generator.randrange(100), each[0][1]), *each[1:]) for each in exercise.data.get("for_detectors", [])]
    launches = launches or [*zip(task.tiny(generator), (3, 2), (generator.choice((32, 48, 64)), LARGER_THAN_BINS))]
    large = generator.choice((task.of_small, task.of_small, task.of_middle))(generator)
    launches.append((large, *generator.choice(((3, 64), (5, 96), (1, 1024)))))
    return [for_detector(exercise, seed, generator, number, *launch) for number, launch in enumerate(launches)]


def for_detector(exercise, seed, generator, number, size, groups, group_size):
    options, first = exercise.data.get("options", [""]), exercise.data.get("first", [0])
    task, group_size = task_of(exercise), min(group_size, exercise.data.get("largest_group", group_size))
    words = f", {groups} groups of {group_size}"
    run = run_of(size, "random pixels", in_runs(task, generator, size), groups, group_size, words)
    return run._replace(options=options[-1 - number % len(options)], first=first[-1] if number else 0, key=key_of(seed))


@functools.lru_cache(16)
def counted(exercise, seed, pixels, share=1):
    """The run in which a kernel's accesses are counted: so many random pixels, of a ramp, of one value, or a photo's; or a share of them."""
    task, generator = task_of(exercise), random.Random(f"{seed} counted")
    count, groups, group_size = exercise.data.get("counted", COUNTED)
    size, value = (int(count * share) - generator.randrange(1 << 10), 1), generator.randrange(256)
    data = {"random pixels": lambda: drawn(task, seed, size), "pixels of a ramp": lambda: b"".join(map(task.pixel, range(256))) * (count >> 8),
            "pixels of one value": lambda: task.pixel(value) * count,
            "pixels of a photo": lambda: pictures.read_bmp(PICTURES / "landscape.bmp")[2] * (count >> 18)}[pixels]()
    run = run_of(size, pixels, data[:size[0] * task.pixel_bytes], groups, group_size, f", {groups} groups of {group_size}")
    return run._replace(options=exercise.data.get("options", [""])[-1], first=exercise.data.get("first", [0])[-1])


# ---- one run, as the programs that run it take it (job.hpp) ---------------------------------------


def case_of(exercise, run, program, without_pixels=False):
    """The case, and the bytes of its buffers."""
    task, kinds = task_of(exercise), {"local": 1, "uint": 2, "ulong": 3}

    def worked_out(expression):  # exercise.json's own, such as 256*group_size
        return eval(str(expression), {"__builtins__": {}}, task.names(run))

    buffers = {"pixels": b"" if without_pixels else task.memory(run)}
    for name, what in exercise.data.get("buffers", {}).items():
        words = worked_out(what["words"])
        zero = 4 * words if what.get("zero") is True else 4 * what.get("zero", 0)
        buffers[name] = bytes(zero).ljust(4 * words, POISON) * worked_out(what.get("times", 1))

    def argument(text):
        kind, _, expression = text.partition(" ")
        kind, value = (kinds[kind], worked_out(expression)) if expression else (0, list(buffers).index(text))
        return {"kind": kind, "value": value}

    groups = 1 if exercise.kind == "c++" and "launches" not in exercise.points else run.groups
    steps = [{"kernel": step["kernel"], "groups": step.get("groups", groups), "group_size": run.group_size,
              "arguments": list(map(argument, step["arguments"]))}
             for step in exercise.data.get("steps", [{"kernel": "", "arguments": []}])]
    result = list(buffers).index(exercise.data.get("result", "pixels"))
    # In both APIs a buffer of nothing is an error.
    data = [each if each or exercise.kind == "c++" else POISON * 4 for each in buffers.values()]
    return {"program": program, "result": result, "sizes": list(map(len, data)), "steps": steps}, b"".join(data)


def job(cases=(), **more):
    """All that a program reads."""
    what = {"device": "", "library": "", "calls": [], "programs": [], "cases": [case for case, _ in cases], **more}
    return json.dumps(what).encode() + b"\n" + b"".join(data for _, data in cases)
