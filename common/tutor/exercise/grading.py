"""From a student's files to points: what is compared, and what each criterion says."""

import functools
import json
import pathlib
import random
import re
import subprocess
from array import array
from typing import NamedTuple

import for_the_instructor
import limits
import sandbox
import tasks
from submitted_file import DoesNotCompile, NothingToRunOn  # noqa: F401  raised from here, too

NOTHING = "it compiles, but no run shows that it counts the pixels"
HALF = ", but something else is not right"
NOT_RUN = "not run, because others broke off"
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
    near: bool = False  # at most half of what should be counted is missing, or too much

    @property
    def is_seen(self):
        """Whether it shows that pixels are counted, as no guess would."""
        if not self.near:  # a single number: of many random pixels a guess knows it
            return self.right and "random" in self.run.words and 100 <= self.run.count < 1000
        return "four values" in self.run.words or self.right and "random" in self.run.words and self.run.count >= 100


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
        named = re.search(r"^\s*why[^:\n]*: (?!unclear)(.*)$", self.diagnosis, re.MULTILINE)
        order = sorted(self.verdicts, key=lambda v: (not v.found, NOT_RUN in v.words))
        lacking = next((v for v in order if v.points < v.of and not v.words.endswith(HALF) and NOTHING not in v.words), None)
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
            return found + [Outcome(run, False, NOT_RUN) for run in left], ends
        done, results = file.process(left, detector)
        found += [compared(file.exercise, *pair) for pair in zip(left, results)]
        if len(results) < len(left):
            found.append(Outcome(left[len(results)], False, why_not(file, done)))
        ends.append(done)
    # An emulation is slow at some words, such as a warp's: what alone does not end, and has much to do, gets more time.
    late = [at for at, each in enumerate(found) if not each.right]
    if file.emulated and not detector and all(found[at].run.count > 1000000 and found[at].why.startswith(sandbox.NO_END) for at in late):
        for at in late:
            found[at] = next((compared(file.exercise, runs[at], result) for result in file.process([runs[at]], longer=8)[1]), found[at])
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
        return Outcome(run, True, "", data, len(wanted) > 1)
    at = max(wrong[:4096], key=lambda at: abs(got[at] - wanted[at]))  # of millions of pixels enough
    poison = int.from_bytes(tasks.POISON * size, "little")
    unwritten = sum(got[at] == poison for at in wrong)
    near = len(wanted) > 1 and 2 * sum(wanted[at] if got[at] == poison else abs(got[at] - wanted[at]) for at in wrong) <= sum(wanted)
    where, want, have = task.position(run, at), wanted[at], got[at]
    words = f"{where}: expected {want}, got {have} ({have - want:+})"
    things = where.split(", ")[-1].split()[0] + "s"  # bins, pixels
    if unwritten == len(wrong):
        words = f"{unwritten} of {len(wanted)} {things} were never written"
        if unwritten == wrong[-1] + 1 - wrong[0] == len(wanted) - wrong[0] < len(wanted):  # the end of them
            words += f": what comes back ends after {size * wrong[0]} of {size * len(wanted)} bytes"
    elif things == "bins":
        words = f"{len(wrong)} of {len(wanted)} bins are wrong, total {sum(got)} instead of {sum(wanted)}; {words}"
        words += f"; {unwritten} hold what was in the memory before" if unwritten else ""
        began = {got[at] - wanted[at] for at in wrong} if len(wrong) == len(wanted) > 1 else set()
        if began == {poison} or any(got[at] - wanted[at] > 1000 * (run.count + 1) for at in wrong):
            words += "; a count is larger than the picture: what is counted in has to be zero at first"
    elif things == "pixels":
        words = f"{len(wrong)} of {len(wanted)} pixels are wrong; {words}"
    return Outcome(run, False, words, data, near)


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


WHOSE = (("opencl", "CUDA", re.compile(r"'(atomic(?:Add|CAS|Max|Inc)\w*|__\w*sync\w*|(?:thread|block)(?:Idx|Dim)|gridDim|"
                                  r"__shared__|__global__|__device__)'")),
         ("cuda", "OpenCL", re.compile(r"['‘](get_\w+_(?:id|size)|get_num_groups|barrier|CLK_\w+|atomic_\w+|__(?:local|kernel)|u(?:char|long))['’]")))


def compiler_words(said, api=""):
    """A compiler's first errors, which have the student's lines."""
    lines = [re.sub(r"<Spelling=[^>]{0,200}>", "", line[:300]) for line in said.splitlines()[:200] if line.strip()]
    lines = ([line for line in lines if "error:" in line] or lines)[:4]
    words = {f"({found[1]} is a word of {whose}'s)": 0 for its, whose, word in WHOSE if its == api for found in map(word.search, lines) if found}
    return "\n".join(["it does not compile:", *lines, *words])


def results_verdict(exercise, criterion, found, share=1):
    """All of the points, or the share of them that is left when something is not right, here or elsewhere."""
    wrong = [outcome for outcome in found if not outcome.right]
    words = f"{len(found) - len(wrong)} of {len(found)} runs are right"
    if wrong:
        first = min(wrong, key=lambda each: (not each.result and each.why == NOT_RUN, not each.run.count, each.run.count))
        words += f"; {first.run.words}: {first.why}"
    elif share < 1:
        words += HALF
    of = exercise.points[criterion]
    return Verdict(criterion, int(of * share), of, words)


def fault(file, detector, runs, right, seen):
    """What this detector says first; "" where it finds nothing. Where it is not even right by itself, it may be wrong here.

    Adds what came of its runs to what was seen.
    """
    try:
        found, ends = outcomes(file, runs, detector)
    except DoesNotCompile as why:
        return f"under {detector.name} {compiler_words(str(why), file.api)}" + ("\n(it is to be OpenCL C 1.2)" if file.api == "opencl" else "")
    seen += found
    for done in ends:
        if says := detector.found(done.said):
            if file.exercise.kind == "c++" and detector.sanitizer == "thread" and "__tsan_atomic_thread_fence" in file.symbols:
                raise NotAlike("could not be judged: ThreadSanitizer tells of a race, but it does not know std::atomic_thread_fence")
            at = [f"{file.name}:{line}" for line in detector.lines(says, file.name)]
            if file.api == "opencl" and not at and file.exercise.kind == "kernels" and "-cl-opt-disable" not in detector.command:
                return fault(file, detector._replace(command=(*detector.command, "--build-options", "-cl-opt-disable")), runs, right, seen)
            words = re.sub(r" address 0x[0-9a-f]+", "", says.group(0)[:200]).strip()
            at = [each for each in at if each not in words]
            words += f", {' and '.join(at)}" if at else ""
            if file.exercise.kind == "host":
                words += "; the kernel is right: what are its arguments, in which order, and how large are the buffers?"
            return words + (": no lock that all threads share is held there" if "data race" in words and file.exercise.kind == "c++" else "")
    # What has too much to do where each step is looked at has an end elsewhere.
    slow = right and len(found) > 1 and found[-1].run.count > 10000 and found[-1].why.startswith(sandbox.NO_END)
    wrong = next((each for each in (found[:-1] if slow else found) if not each.right), None)
    order = "; there the last work-item of a group runs first" if file.api == "opencl" else "; there CUDA_ON_CPU_ORDER is 1" if file.emulated else ""
    if right and wrong:
        return f"under {detector.name} it is not right: {wrong.run.words}: {wrong.why}{order}"
    if right and not slow and any(done.status and not (done.status == 66 and "ThreadSanitizer: data race" in done.said) for done in ends):
        return f"under {detector.name} {ends[-1].why()}"
    return ""


def faults(file, seed, right=True, seen=None):
    """What a detector says first; None where there is no detector, "" where nothing was found."""
    seen = [] if seen is None else seen
    under, runs = file.detectors(), tasks.for_detectors(file.exercise, seed)
    not_right = ""  # under one; another may find why
    for detector in under:
        says = fault(file, detector, runs[:-1] if "--uninitialized" in detector.command else runs, right, seen)
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
    if for_the_instructor.accesses(file, seed).copies:
        return Verdict("counts", 0, 0, "could not be judged here: copies of a whole group (async_work_group_copy) are not counted")
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
    random.Random(f"{seed} order").shuffle(runs)
    try:
        found, ends = outcomes(file, [run for _, run in runs])
    except DoesNotCompile as why:
        return nothing(exercise, compiler_words(str(why), file.api)), ""
    wrong, under = any(not each.right for each in found), []
    of, says = exercise.points["free of faults"], faults(file, seed, not wrong, under)
    if wrong and not says:
        not_alike(file, found)
    # Each mistake costs the same, in however many runs it shows; and what no run shows is nothing.
    is_seen = any(each.is_seen for each in (*found, *under))
    share = 1 if not wrong and not says else 0.5 if is_seen else 0
    compiles = exercise.points["compiles"] if is_seen else 0
    words = "" if is_seen else is_empty(file) or NOTHING
    warned = "" if file.emulated else warnings_of(file, ends)
    verdicts = [Verdict("compiles", compiles, exercise.points["compiles"], "; ".join(filter(None, (words, warned))))]
    for criterion in criteria:
        verdicts.append(results_verdict(exercise, criterion, [each for (its, _), each in zip(runs, found) if its == criterion], share))
    if says:
        verdicts.append(Verdict("free of faults", 0, of, says, True))
    elif says is None:
        verdicts.append(Verdict("free of faults", 0, 0, "could not be judged here: there is no race detector"))
    elif wrong:
        looked = "nothing was found in what ends, but there are points only where the results are right"
        verdicts.append(Verdict("free of faults", 0, of, looked))
    else:
        verdicts.append(Verdict("free of faults", of, of, ""))
    if "counts" in exercise.points:
        not_right = Verdict("counts", 0, exercise.points["counts"], "not looked at: it is for what is right")
        verdicts.append(not_right if wrong or says else counts_verdict(file, seed))
    # In CUDA on a GPU no tool sees races in global memory.
    race_free = says == "" and (file.api == "opencl" or file.emulated)
    return verdicts, diagnosis(file, found, race_free, under) if (wrong or says) and not is_empty(file) else ""


def is_empty(file):
    """What to say of a file of whose parts none has anything in it but comments; else ""."""
    behind = [each.partition("\n")[2].partition("// ---- end of your part ----") for each in file.text.split("// ---- your part: ")[1:]]
    parts = [for_the_instructor.COMMENT.sub("", part) for part, end, _ in behind if end]
    return "your part is still empty" if parts and not "".join(parts).strip() else ""


def warnings_of(file, ends):
    """The first of a compiler's, of what compiles."""
    lines = (line[:200] for line in ends[0].said[:100000].splitlines() if "warning: " in line[:200] and f"{file.name}:" in line[:200])
    return next((f"the compiler warns: {line}" for line in lines), "")


class NotAlike(sandbox.Busy):
    """Two devices differ, and no detector says why: one of them may be wrong."""


def not_alike(file, found):
    """Raises NotAlike where all that is wrong on PoCL is right under Oclgrind."""
    wrong = [each for each in found if not each.right]
    if not file.on_pocl or not (oclgrind := file.oclgrind()) or not all(each.result for each in wrong):
        return
    few = [each for each in sorted(wrong, key=lambda each: each.run.count)[:3] if each.run.count < 100000]  # the others take too long
    if few and all(each.right for each in outcomes(file, [each.run for each in few], file.alone_under(oclgrind))[0]):
        raise NotAlike(f"could not be judged: {few[0].run.words}: on PoCL {few[0].why}; under Oclgrind it is right, and no fault is found")


def diagnosis(file, found, race_free=False, under=()):
    """What is most likely wrong, in lines; nothing where the exercise is not one that the diagnosis knows.

    A run that did not end is no evidence; nor is one under a detector if nobody knows in which order its work-items ran.
    """
    variant = file.exercise.data.get("diagnosed_as")
    under = [each for each in under if each.result and each.run.first == 0 and file.api == "opencl" and file.on_pocl]
    if all(each.right for each in found):  # where a compiler sees to it, as PoCL's does that a barrier is missing in a loop
        found = ()
    came = [each for each in (*found, *under) if each.result and each.run.first == 0]
    if not variant or all(each.right for each in came):
        return ""
    cases = [{"pitch": 0, "from_the_end": number >= len(came) - len(under), **tasks.task_of(file.exercise).names(run),
              "words": run.words, "pixels": len(run.pixels)} for number, (run, *_) in enumerate(came)]
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
