"""What no point depends on, for the instructor: which work-items read the pixels, what differs from the file that all began
with, and whose files are alike."""

import collections
import difflib
import itertools
import re
from typing import NamedTuple

import tasks
from submitted_file import LOCAL_MEMORY, Detector, DoesNotCompile, finds

READ = re.compile(r"^Invalid read of size \d+ at global memory.*\n.*\n[ \t]*Entity: Global\((\d{1,9}),", re.MULTILINE)
LOCAL = re.compile(r"^ *(\d{1,18}) - (?:load local|store local|call \w*?PU3AS3)", re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
NAME = re.compile(r"([A-Za-z_]\w*)\b(?!\s*\()|\w+|[^\w\s]")
TOKENS = 8  # that are alike one after the other
COMMON = 8  # so many may have the same, or a quarter of the class: what more have is the exercise's
ALIKE = 60  # in 100, from which on two are named


class Accesses(NamedTuple):
    """In one launch; nothing is known where there is no Oclgrind."""

    items: int = 0
    reads: tuple = ()  # of the pixels, by each work-item that has any
    local: int = -1  # to local memory, by all of them

    @property
    def copies(self):
        """Whether no work-item reads a pixel by itself, as far as is known."""
        return bool(self.items) and not self.reads

    def __str__(self):
        if not self.items:
            return ""
        who = f"{len(self.reads)} of {self.items} work-items read pixels, {min(self.reads)} to {max(self.reads)} times each" if self.reads else (
            "no work-item reads a pixel by itself; a copy of the group's may")
        return f"{who}; {self.local} accesses to local memory"


def accesses(file, seed):
    """The reads of pixels, as Oclgrind tells them of a launch whose buffer of pixels ends before the first of them."""
    if file.api != "opencl" or file.exercise.kind != "kernels" or not file.oclgrind():
        return Accesses()
    most = max(tasks.for_detectors(file.exercise, seed)[:-1], key=lambda run: run.count / (run.groups * run.group_size))
    counts = Detector("oclgrind", finds("oclgrind"), (file.oclgrind(), *LOCAL_MEMORY, "--inst-counts", "--max-errors", "1000000"))

    def looked():
        try:
            done, _ = file.process([most], counts, without_pixels=True)
        except DoesNotCompile:
            return Accesses()
        if done.ended:  # such as by so much to tell: then its accesses to local memory are counted where nothing is wrong
            done, _ = file.process([most], counts)
            return Accesses() if done.ended else Accesses(local=sum(map(int, LOCAL.findall(done.said))))
        reads = tuple(collections.Counter(READ.findall(done.said)).values())
        return Accesses(most.groups * most.group_size, reads, sum(map(int, LOCAL.findall(done.said))))
    return file.once("accesses", looked)


def words(file, seed):
    """What to look at in a file that is right."""
    asked = [str(accesses(file, seed)), file.exercise.data.get("for_the_instructor")]
    if file.exercise.data.get("local_memory") and not accesses(file, seed).items:
        asked.append("do the counts pass through shared memory?")
    return "; ".join(filter(None, asked))


# ---- texts ---------------------------------------------------------------------------------------


def begun(file):
    """What a student begins with."""
    return (file.exercise.folder / file.name).read_text(encoding="utf-8")


def difference(file):
    """Line by line, to what a student begins with."""
    lines = difflib.unified_diff(begun(file).splitlines(), file.text.splitlines(), "as it begins", file.name, lineterm="", n=1)
    return "\n".join(lines)


def pieces(text):
    """All that stands one after the other in it, whatever the layout, the comments, and the names of all but functions."""
    tokens = ["name" if found[1] else found[0] for found in NAME.finditer(COMMENT.sub(" ", text))]
    return {tuple(tokens[at:at + TOKENS]) for at in range(len(tokens) - TOKENS + 1)}


def own_pieces(submitted):
    """Those of a submission that were not there at the beginning."""
    return set().union(*(pieces(file.text) - pieces(begun(file)) for file in submitted))


def twins(of_each):
    """{who: [(in 100, another)]} of a class, {who: pieces}: what two share of what they have together."""
    times = collections.Counter(itertools.chain.from_iterable(of_each.values()))
    common = {piece for piece, number in times.items() if number > max(COMMON, len(of_each) // 4)}
    of_each = {who: its - common for who, its in of_each.items()}
    found = {who: [] for who in of_each}
    for (who, its), (other, others) in itertools.combinations(of_each.items(), 2):
        few, many = sorted((len(its), len(others)))
        if few * 100 < many * ALIKE or not many:
            continue
        both = len(its & others)
        if (alike := 100 * both // (few + many - both)) >= ALIKE:
            found[who].append((alike, other))
            found[other].append((alike, who))
    return {who: sorted(others, reverse=True) for who, others in found.items()}


def outstanding(files):
    """{who: why} of a class, {who: files}: what few of the work-items do, and what is far longer than the others'."""
    found, own = {}, {who: len(own_pieces(its)) for who, its in files.items()}
    usual = sorted(own.values())[len(own) // 2] if own else 0
    for who, its in files.items():
        looked = [file.made["accesses"] for file in its if file.made.get("accesses")]
        few = [f"{len(each.reads)} of {each.items} work-items read pixels" for each in looked if 0 < 2 * len(each.reads) < each.items]
        long = [f"{own[who] / usual:.0f} times as long as half of the class"] if len(own) > 3 and own[who] > 3 * max(usual, 20) else []
        same = [] if own[who] else ["nothing is added to what all began with"]
        if few or long or same:
            found[who] = "; ".join(few + long + same)
    return found
