"""What no point depends on, for the instructor: which work-items read the pixels, what differs from the file that all began
with, and whose files are alike."""

import difflib
import re
from typing import NamedTuple

import tasks
from submitted_file import Detector, DoesNotCompile, finds

READ = re.compile(r"Invalid read of size \d+ at global memory.*\n.*\n\s*Entity: Global\((\d+),")
LOCAL = re.compile(r"^ *(\d+) - (?:load local|store local|call \w*PU3AS3\w*\()", re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
TOKENS = 6  # that are alike one after the other
ALIKE = 60  # in 100, from which on two are named


class Accesses(NamedTuple):
    """In one launch; nothing is known where there is no Oclgrind."""

    items: int = 0
    reads: tuple = ()  # of the pixels, by each work-item that has any
    local: int = -1  # to local memory, by all of them

    def __str__(self):
        if not self.items:
            return ""
        each = f", {min(self.reads)} to {max(self.reads)} times each" if self.reads else ""
        return f"{len(self.reads)} of {self.items} work-items read pixels{each}; {self.local} accesses to local memory"


def accesses(file, seed):
    """The reads of pixels, as Oclgrind tells them of a launch whose buffer of pixels ends before the first of them."""
    if file.api != "opencl" or file.exercise.kind != "kernels" or not file.oclgrind():
        return Accesses()
    most = max(tasks.for_detectors(file.exercise, seed)[:-1], key=lambda run: run.count / (run.groups * run.group_size))
    counts = Detector("oclgrind", finds("oclgrind"), (file.oclgrind(), "--inst-counts", "--max-errors", "1000000"))

    def looked():
        try:
            done, _ = file.process([most], counts, without_pixels=True)
        except DoesNotCompile:
            return Accesses()
        who = READ.findall(done.said)
        reads = tuple(who.count(each) for each in dict.fromkeys(who))
        return Accesses(most.groups * most.group_size, reads, sum(int(number) for number in LOCAL.findall(done.said)))
    return file.once("accesses", looked)


def words(file, seed):
    """What to look at in a file that is right."""
    asked = [str(accesses(file, seed)), file.exercise.data.get("for_the_instructor")]
    if file.exercise.data.get("local_memory") and not accesses(file, seed).items:
        asked.append("do the counts pass through shared memory?")
    said = "; ".join(filter(None, asked))
    return f"for the instructor: {said}" if said else ""


# ---- texts ---------------------------------------------------------------------------------------


def begun(file):
    """What a student begins with."""
    return (file.exercise.folder / file.name).read_text(encoding="utf-8")


def difference(file):
    """Line by line, to what a student begins with."""
    lines = difflib.unified_diff(begun(file).splitlines(), file.text.splitlines(), "as it begins", file.name, lineterm="", n=1)
    return "\n".join(lines)


def pieces(text):
    """All that stands one after the other in it, whatever the layout and the comments."""
    tokens = re.findall(r"\w+|[^\w\s]", COMMENT.sub(" ", text))
    return {tuple(tokens[at:at + TOKENS]) for at in range(len(tokens) - TOKENS + 1)}


def own_pieces(submitted):
    """Those of a submission that were not there at the beginning."""
    return set().union(*(pieces(file.text) - pieces(begun(file)) for file in submitted))


def twins(of_each):
    """{who: [(in 100, another)]} of a class, {who: pieces}: what two share of what they have together."""
    found = {who: [] for who in of_each}
    for who, its in of_each.items():
        for other, others in of_each.items():
            alike = 100 * len(its & others) // max(len(its | others), 1)
            if other != who and alike >= ALIKE:
                found[who].append((alike, other))
    return {who: sorted(others, reverse=True)[:5] for who, others in found.items()}
