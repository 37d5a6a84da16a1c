"""The exercises: where they are, what the grader runs of them, and what should come out."""

import collections
import json
import pathlib
import random
import struct
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILES = {"opencl": "histogram.cl", "cuda": "histogram.cu"}
POISON = b"\xa5"  # as in common/histogram
BEGIN, END = "// ---- your part: ", "// ---- end of your part ----"


class BadInput(Exception):
    """What was asked for makes no sense; the text says why, in one line."""


class Exercise:
    """One folder: exercise.json, the files to edit, solution/, README.md."""

    def __init__(self, folder):
        self.folder = folder
        self.name = f"{folder.parent.parent.name[:2]}/{folder.name}"
        self.chapter = folder.parent.parent.name
        self.data = json.loads((folder / "exercise.json").read_text(encoding="utf-8"))
        self.title, self.minutes = self.data["title"], self.data["minutes"]

    def file(self, api):
        """What the student edits."""
        return self.folder / FILES[api]

    def solution(self, api):
        return self.folder / "solution" / FILES[api]

    def hints(self):
        """The hints of its README, in order: what stands folded under "Hint"."""
        text = (self.folder / "README.md").read_text(encoding="utf-8")
        parts = text.split("<details><summary>Hint")[1:]
        return [part.split("</summary>", 1)[1].split("</details>", 1)[0].strip() for part in parts]


def exercises():
    """All of them, chapter by chapter, the shortest first."""
    found = [Exercise(path.parent) for path in ROOT.glob("0*/exercise/*/exercise.json")]
    return sorted(found, key=lambda exercise: (exercise.chapter, exercise.minutes, exercise.name))


def exercise_of(name):
    """The exercise of this name, such as 03/five-steps. Raises BadInput."""
    for exercise in exercises():
        if exercise.name == name:
            return exercise
    raise BadInput(f"there is no exercise '{name}': there are {', '.join(each.name for each in exercises())}")


# ---- what is run ---------------------------------------------------------------------------------


class Run(NamedTuple):
    """One case: an input, a launch, and which of the exercise's ways to compile and to begin."""

    words: str
    pixels: bytes
    groups: int
    group_size: int
    options: str = ""
    first: int = 0  # where in the buffer the pixels begin


def drawn(seed, count, below=256):
    generator = random.Random(f"{seed} {count} {below}")
    if below == 256:
        return generator.randbytes(count)
    return bytes(generator.randrange(below) for _ in range(count))


def contention(seed, count, percent):
    """Random pixels, this share of which is one value."""
    generator = random.Random(f"{seed} {count} contention")
    value = generator.randrange(256)
    noise = generator.randbytes(count)
    return bytes(value if generator.randrange(100) < percent else pixel for pixel in noise)


SIZES = (0, 1, 255, 257, 1048573)
MIDDLE, SMALL = 50021, 20011


def sizes(exercise, seed):
    for count in SIZES:
        yield Run(f"{count} random pixels", drawn(seed, count), 3, 64)


def distributions(exercise, seed):
    for value in (0, 127, 255):
        yield Run(f"{MIDDLE} pixels of the value {value}", bytes([value]) * MIDDLE, 4, 128)
    # So many for each work-item that a small counter overflows.
    yield Run(f"{MIDDLE} pixels of the value 201, 1 group of 64", bytes([201]) * MIDDLE, 1, 64)
    yield Run(f"{MIDDLE} pixels of four values", drawn(seed, MIDDLE, 4), 4, 128)
    yield Run(f"a ramp of {MIDDLE} pixels", bytes(i % 256 for i in range(MIDDLE)), 4, 128)
    yield Run(f"{MIDDLE} pixels, 40 in 100 of one value", contention(seed, MIDDLE, 40), 4, 128)


def launches(exercise, seed):
    largest = exercise.data.get("largest_group", 1024)
    for groups, size in ((1, 1), (1, 64), (5, 96), (2, 256), (1, 1024), (700, 64)):
        size = min(size, largest)
        yield Run(f"{SMALL} random pixels, {groups} group{'s' if groups > 1 else ''} of {size}",
                  drawn(seed, SMALL), groups, size)


def of_each_kind(exercise, runs):
    """The runs, shared out among the exercise's ways to compile and to begin."""
    options = exercise.data.get("options", [""])
    firsts = exercise.data.get("first", [0])
    for number, run in enumerate(runs):
        yield run._replace(options=options[number % len(options)], first=firsts[number % len(firsts)])
    if len(options) > 1 or len(firsts) > 1:  # each of them once on the same pixels
        last = run
        for number in range(max(len(options), len(firsts))):
            option, first = options[number % len(options)], firsts[number % len(firsts)]
            said = ", ".join(filter(None, (option, f"from byte {first}" if len(firsts) > 1 else "")))
            yield last._replace(words=f"{last.words}, {said}", options=option, first=first)


# Small, for the detectors: fewer work-items than pixels, and more; more of them than bins.
def for_detectors(exercise, seed):
    largest = min(exercise.data.get("largest_group", 320), 320)
    options = exercise.data.get("options", [""])
    return [Run("1000 random pixels, 3 groups of 64", drawn(seed, 1000), 3, min(64, largest), options[-1]),
            Run(f"150 random pixels, 2 groups of {largest}", drawn(seed, 150), 2, largest, options[-1],
                exercise.data.get("first", [0])[-1])]


CRITERIA = {"sizes": sizes, "distributions": distributions, "launches": launches}


def truth(exercise, run):
    """The words that should come back, worked out here: the histogram of the pixels."""
    counts = collections.Counter(run.pixels)
    return [counts[bin] for bin in range(256)]


def words_of(data):
    return list(struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4]))


def case_of(exercise, run, folder, number):
    """The case for run_opencl or run_cuda (job.hpp); writes its pixels into the folder."""
    pixels = folder / f"pixels-{number}"
    pixels.write_bytes(POISON * run.first + run.pixels)
    names = {"count": len(run.pixels), "first": run.first, "group_size": run.group_size, "groups": run.groups}

    def argument(text):
        kind, _, expression = text.partition(" ")
        # The expressions are exercise.json's own, such as 256*group_size.
        return {kind: eval(expression, {"__builtins__": {}}, names)} if expression else text

    return {
        "buffers": {"pixels": {"file": str(pixels)}, **exercise.data["buffers"]},
        "steps": [{"kernel": step["kernel"], "groups": run.groups, "group_size": run.group_size,
                   "arguments": [argument(text) for text in step["arguments"]]} for step in exercise.data["steps"]],
        "result": exercise.data["result"],
        "to": str(folder / f"result-{number}"),
    }
