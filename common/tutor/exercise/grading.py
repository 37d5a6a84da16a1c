"""From a student's files to points: what is compared, and what each criterion says."""

import functools
import json
import pathlib
import re
import subprocess
from array import array
from typing import NamedTuple

import for_the_instructor
import limits
import sandbox
import submitted_file
import tasks
from submitted_file import DoesNotCompile, NothingToRunOn  # noqa: F401  raised from here, too

PROCESSES = 3  # for the runs of a file, where some of them do not end well; two under a detector


class Verdict(NamedTuple):
    """What a criterion says."""

    criterion: str
    points: int
    of: int
    words: str
    found: bool = False  # by a detector


class Outcome(NamedTuple):
    """What came of one run."""

    run: tasks.Run
    right: bool
    why: str  # where it is not right
    result: bytes = b""  # the words that came back


class Grade(NamedTuple):
    exercise: str
    api: str
    seed: int
    verdicts: list
    diagnosis: str = ""
    device: str = ""
    status: str = "graded"  # or why it could not be

    @property
    def points(self):
        """None where it could not be judged."""
        return sum(verdict.points for verdict in self.verdicts) if self.verdicts else None

    @property
    def of(self):
        return sum(verdict.of for verdict in self.verdicts)

    @property
    def full(self):
        return self.points == self.of

    @property
    def first(self):
        """What to say of it in a line: what a detector found comes before what is wrong because of it."""
        named = re.search(r"^\s*why: (?!unclear)(.*)$", self.diagnosis, re.MULTILINE)
        order = sorted(self.verdicts, key=lambda v: not v.found)
        lacking = next((v for v in order if v.points < v.of), None)
        if not lacking or (named and not lacking.found):
            return named.group(1) if named else ""
        return f"{lacking.criterion}: {' '.join(lacking.words.splitlines()[:2])}"


# ---- results -------------------------------------------------------------------------------------


def outcomes(file, runs, detector=None):
    """What came of each, and how their processes ended. If one run ends its process, the rest run in another, a few times.

    Raises DoesNotCompile.
    """
    found, ends = [], []
    while len(found) < len(runs):
        left = runs[len(found):]
        if len(ends) == (2 if detector else PROCESSES) or (ends and detector and detector.found(ends[-1].said)):
            return found + [Outcome(run, False, "not run, because others broke off") for run in left], ends
        done, results = file.process(left, detector)
        found += [compared(file.exercise, *pair) for pair in zip(left, results)]
        if len(results) < len(left):
            found.append(Outcome(left[len(results)], False, why_not(file, done)))
        ends.append(done)
    return found, ends


@functools.lru_cache(256)
def truth(task, run):
    return task.truth(run)


def compared(exercise, run, result):
    """What is wrong with what a run gave."""
    task, data = tasks.task_of(exercise), result.data
    wanted, size = truth(task, run), array(task.word).itemsize
    if not size * len(wanted) <= len(data) <= max(size * len(wanted) + 3, 4):  # buffers are of whole words, one at least
        return Outcome(run, False, "what came back has another size")
    got = array(task.word, data[:size * len(wanted)])
    wrong = task.wrong(run, wanted, got)
    if not wrong:
        return Outcome(run, True, "", data)
    at = max(wrong[:4096], key=lambda at: abs(got[at] - wanted[at]))  # of millions of pixels enough
    poison = int.from_bytes(tasks.POISON * size, "little")
    unwritten = sum(got[at] == poison for at in wrong)
    where, want, have = task.position(run, at), wanted[at], got[at]
    words = f"{where}: expected {want}, got {have} ({have - want:+})"
    things = where.split(", ")[-1].split()[0] + "s"  # bins, pixels
    if unwritten == len(wrong):
        words = f"{unwritten} of {len(wanted)} {things} were never written"
    elif things == "bins":
        words = f"{len(wrong)} of {len(wanted)} bins are wrong, total {sum(got)} instead of {sum(wanted)}; {words}"
        words += f"; {unwritten} hold what was in the memory before" if unwritten else ""
    elif things == "pixels":
        words = f"{len(wrong)} of {len(wanted)} pixels are wrong; {words}"
    return Outcome(run, False, words, data)


@functools.lru_cache(None)
def opencl_errors():
    """{number: name}, as OpenCL's header has them; nothing where there is none."""
    try:
        text = pathlib.Path("/usr/include/CL/cl.h").read_text(encoding="utf-8")
    except OSError:
        return {}
    return {number: name for name, number in re.findall(r"^#define (CL_\w+)\s+(-\d+)$", text, re.MULTILINE)}


def why_not(file, done):
    """Why a run gave nothing, and the last that its process said."""
    if done.status == 0 and not done.ended:
        return "it ended before it had counted"
    last = (done.said.strip().splitlines() or [""])[-1][:1000]
    said = re.sub(r"^run_\w+: |,? (at|from call at) \S*run_\w+\.cpp:\d+", "", last)[:200]
    said = re.sub(r"error (-\d+)", lambda error: opencl_errors().get(error.group(1), "error") + f" ({error.group(1)})", said)
    crashed = ": are its arguments, their order and their sizes right?" if file.exercise.kind == "host" and done.status < 0 else ""
    why = "" if done.status == 2 and said else f"{done.why()}{crashed}"
    return f"{why}{': ' if why and said else ''}{said}"


# ---- criteria ------------------------------------------------------------------------------------


def compiler_words(said):
    """A compiler's first errors, which have the student's lines."""
    lines = [line[:300] for line in said.splitlines()[:200] if line.strip()]
    return "\n".join(["it does not compile:", *([line for line in lines if "error:" in line] or lines)[:4]])


def results_verdict(exercise, criterion, found):
    wrong = [outcome for outcome in found if not outcome.right]
    of = exercise.points[criterion]
    words = f"{len(found) - len(wrong)} of {len(found)} runs are right"
    if wrong:
        words += f"; {wrong[0].run.words}: {wrong[0].why}"
    # Half of the points are for the runs that are right, and half for all of them being so.
    points = of * (len(found) - len(wrong)) // (2 * len(found)) if wrong else of
    return Verdict(criterion, points, of, words)


def fault(file, detector, runs, right):
    """What this detector says first; "" where it finds nothing. Where it is not even right by itself, it may be wrong here."""
    try:
        found, ends = outcomes(file, runs, detector)
    except DoesNotCompile as why:
        return f"under {detector.name} {compiler_words(str(why))}"
    for done in ends:
        if says := detector.found(done.said):
            at = re.compile(rf"{re.escape(file.name)}:(\d+)|\bAt line (\d+)").search(says.string, says.start())
            words = re.sub(r" address 0x[0-9a-f]+", "", says.group(0)[:200]).strip()
            words += f", {file.name}:{at.group(1) or at.group(2)}" if at and at.group() not in words else ""
            if file.exercise.kind == "host":
                words += "; the kernel is right: what are its arguments, in which order, and how large are the buffers?"
            return words + (": no lock that all threads share is held there" if "data race" in words and file.exercise.kind == "c++" else "")
    wrong = next((each for each in found if not each.right), None)
    if right and wrong:
        return f"under {detector.name} it is not right: {wrong.run.words}: {wrong.why}"
    if right and any(done.status for done in ends):
        return f"under {detector.name} {ends[-1].why()}"
    return ""


def faults(file, seed, right=True):
    """What a detector says first; None where there is no detector, "" where nothing was found."""
    under, runs = file.detectors(), tasks.for_detectors(file.exercise, seed)
    not_right = ""  # under one; another may find why
    for detector in under:
        says = fault(file, detector, runs[:-1] if "--uninitialized" in detector.command else runs, right)
        if says and not says.startswith("under "):
            return says
        not_right = not_right or says
    if not_right:
        return not_right
    if under and right and file.exercise.data.get("local_memory") and for_the_instructor.accesses(file, seed).local == 0:
        return "nothing passes through local memory: there is no access to it"
    return "" if under else None


def counts_verdict(file, seed):
    """What its accesses come to, counted and not timed."""
    def wrong(runs):
        return next((f"{each.run.words}: {each.why}" for each in outcomes(file, runs)[0] if not each.right), "")

    of = file.exercise.points["counts"]
    share, words = limits.judged(file, seed, wrong)
    return Verdict("counts", 0, 0, words) if share is None else Verdict("counts", int(of * share + 1e-6), of, words)


def nothing(exercise, why):
    """Verdicts of no points, the first of which says why."""
    return [Verdict(each, 0, of, "" if number else why) for number, (each, of) in enumerate(exercise.points.items())]


def graded_file(file, seed):
    """The verdicts of one file, and its diagnosis."""
    exercise = file.exercise
    criteria = [each for each in exercise.points if each in tasks.CRITERIA]
    runs = [(criterion, run) for criterion in criteria for run in tasks.runs_of(exercise, criterion, seed)]
    try:
        found, _ = outcomes(file, [run for _, run in runs])
    except DoesNotCompile as why:
        return nothing(exercise, compiler_words(str(why))), ""
    verdicts = [Verdict("compiles", exercise.points["compiles"], exercise.points["compiles"], "")]
    for criterion in criteria:
        verdicts.append(results_verdict(exercise, criterion, [each for (its, _), each in zip(runs, found) if its == criterion]))
    wrong = any(not each.right for each in found)
    of, says = exercise.points["free of faults"], faults(file, seed, not wrong)
    if says:
        # The right results were luck.
        verdicts = [verdicts[0], *(v._replace(points=0, words=v.words + "; no points, for it is not free of faults")
                                   for v in verdicts[1:]), Verdict("free of faults", 0, of, says, True)]
    elif says is None:
        verdicts.append(Verdict("free of faults", 0, of, "not graded: no race detector"))
    elif wrong:
        looked = "nothing was found in what ends, but there are points only where the results are right"
        verdicts.append(Verdict("free of faults", 0, of, looked))
    else:
        verdicts.append(Verdict("free of faults", of, of, for_the_instructor.words(file, seed)))
    if "counts" in exercise.points:
        not_right = Verdict("counts", 0, exercise.points["counts"], "not looked at: it is for what is right")
        verdicts.append(not_right if wrong or says else counts_verdict(file, seed))
    # In CUDA on a GPU no tool sees races in global memory.
    race_free = says == "" and (file.api == "opencl" or file.emulated)
    return verdicts, diagnosis(file, found, race_free) if wrong else ""


def diagnosis(file, found, race_free=False):
    """What is most likely wrong, in lines; nothing where the exercise is not one that the diagnosis knows.

    A run that did not end is no evidence.
    """
    variant = file.exercise.data.get("diagnosed_as")
    came = [each for each in found if each.result and each.run.first == 0]
    if not variant or not came:
        return ""
    cases = [{"pitch": 0, **tasks.task_of(file.exercise).names(run), "words": run.words, "pixels": len(run.pixels)} for run, *_ in came]
    asked = {"chapter": file.exercise.chapter, "variant": variant, "one_by_one": file.on_pocl or file.emulated,
             "in_cuda": file.api == "cuda", "race_free": race_free, "cases": cases}
    data = json.dumps(asked).encode() + b"\n" + b"".join(each.run.pixels + each.result for each in came)
    done = subprocess.run([file.build / "common/tutor/why"], input=data, capture_output=True)  # of the student's it reads a text
    return sandbox.printable(done.stdout.decode("utf-8", "replace")).rstrip() if done.returncode == 0 else ""


# ---- a submission, which has one file or several -------------------------------------------------


def graded(submitted, seed):
    """The grade of a submission, by its files. Raises sandbox.Busy where it could not be judged."""
    exercise, api = submitted[0].exercise, submitted[0].api
    each = [graded_file(file, seed) for file in submitted]
    if len(each) == 1:
        return Grade(exercise.name, api, seed, *each[0], submitted[0].ran_on)
    verdicts = []
    for of_files in zip(*(verdicts for verdicts, _ in each)):
        words = [f"{file.name}: {verdict.words}" for file, verdict in zip(submitted, of_files) if verdict.points < verdict.of]
        points = sum(verdict.points for verdict in of_files) // len(of_files)
        verdicts.append(of_files[0]._replace(points=points, words="\n".join(words), found=any(v.found for v in of_files)))
    named = [f"{file.name}:\n{said}" for file, (_, said) in zip(submitted, each) if said]
    return Grade(exercise.name, api, seed, verdicts, "\n\n".join(named), submitted[0].ran_on)
