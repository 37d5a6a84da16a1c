"""From a student's files to points: what is compared, and what each criterion says."""

import contextlib
import itertools
import json
import pathlib
import re
from array import array
from typing import NamedTuple, Optional

import catalogue
import sandbox
import submitted_file
import tasks
from submitted_file import NOT_COMPILED, SECONDS, NothingToRunOn  # noqa: F401  NothingToRunOn is raised from here, too

NO_END = "it does not end"
ROUNDS, TURNS = 5, 5  # of a run whose time is taken; the shortest counts, for others may be busy meanwhile


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
    pixels: Optional[pathlib.Path] = None
    result: Optional[pathlib.Path] = None  # the words that came back, as a file


class Grade(NamedTuple):
    exercise: str
    api: str
    seed: int
    verdicts: list
    diagnosis: str
    device: str = ""

    @property
    def points(self):
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def of(self):
        return sum(verdict.of for verdict in self.verdicts)

    @property
    def full(self):
        return self.points == self.of


# ---- results -------------------------------------------------------------------------------------


def outcomes(file, runs):
    """What came of each. Where one ends its process, those behind it run in another."""
    found = []
    while len(found) < len(runs):
        left = runs[len(found):]
        done, files = file.process(left)
        if not files:
            return found + [Outcome(run, False, "it does not compile") for run in left]
        came = sum(1 for _ in itertools.takewhile(lambda pair: pair[1].is_file(), files))
        now = len(left) if done.timed_out or done.too_many else came + 1  # nor would those end
        found += [compared(file.exercise, run, *pair, done) for run, pair in zip(left[:now], files)]
    return found


def compared(exercise, run, pixels, result, done):
    task = tasks.task_of(exercise)
    wanted = task.truth(run)
    if not result.is_file():
        return Outcome(run, False, why_not(done))
    data, size = result.read_bytes(), array(task.word).itemsize
    if not size * len(wanted) <= len(data) <= max(size * len(wanted) + 3, 4):  # buffers are of whole words, one at least
        return Outcome(run, False, "what came back has another size")
    got = array(task.word, data[:size * len(wanted)])
    wrong = task.wrong(run, wanted, got)
    if not wrong:
        return Outcome(run, True, "", pixels, result)
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
    return Outcome(run, False, words, pixels, result)


def why_not(done):
    last = [line for line in done.said.strip().splitlines() if not line.startswith("on ")][-1:] or [""]
    if done.status == 0 and not done.timed_out:
        return "it ended before it had counted"
    return f"{done.why()}{': ' if last[0] else ''}{last[0]}"


# ---- criteria ------------------------------------------------------------------------------------


def compiles(file, seed):
    """Each way to compile it, on one pixel; what is wrong with more than that is for the other criteria, but no end is."""
    of, task = file.exercise.points["compiles"], tasks.task_of(file.exercise)
    done, _ = file.process([tasks.Run("one pixel", 1, 1, task.pixel(7), 1, 1, options, key=tasks.key_of(seed))
                            for options in file.exercise.data.get("options", [""])])
    if done.status == NOT_COMPILED:
        lines = [line for line in done.said.splitlines() if line.strip() and not line.startswith("on ")]
        return Verdict("compiles", 0, of, "it does not compile:\n" + "\n".join(lines[:12]))
    return Verdict("compiles", of, of, done.why() if done.timed_out or done.too_many else "")


def results(file, criterion, seed):
    """The verdict of a criterion that compares, and the outcomes behind it."""
    found = outcomes(file, tasks.runs_of(file.exercise, criterion, seed))
    wrong = [outcome for outcome in found if not outcome.right]
    of = file.exercise.points[criterion]
    words = f"{len(found) - len(wrong)} of {len(found)} runs are right"
    if wrong:
        words += f"; {wrong[0].run.words}: {wrong[0].why}"
    # Half of the points are for the runs that are right, and half for all of them being so.
    points = of * (len(found) - len(wrong)) // (2 * len(found)) if wrong else of
    return Verdict(criterion, points, of, words), found


def faults(file, seed):
    """What the detectors say first; None where there is no detector, "" where they say nothing."""
    under = file.detectors()
    if not under:
        return None
    runs = tasks.for_detectors(file.exercise, seed)
    for command, finds in under:
        done, _ = file.process(runs, command, 60)
        found = finds.search(done.said)
        if found:
            at = re.compile(rf"{re.escape(file.source.name)}:(\d+)|\bAt line (\d+)").search(done.said, found.start())
            says = re.sub(r" address 0x[0-9a-f]+", "", found.group(0)).strip() + (f", line {at.group(1) or at.group(2)}" if at else "")
            return says + (": no lock that all threads share is held there" if file.exercise.kind == "c++" and says.startswith("data race") else "")
        if done.timed_out or done.status not in (0, 1):
            return f"under {pathlib.Path(command[0]).name} {done.why()}"
    return ""


def milliseconds(file, runs):
    """The shortest time of each run; endless where it does not end well."""
    done, files = file.process(runs, rounds=ROUNDS)
    if done.status != 0:
        return [float("inf")] * len(runs)
    return [min(float(line) for line in pathlib.Path(f"{result}.ms").read_text().split()) for _, result in files]


def speed(file, seed):
    """How fast it is beside the exercise's reference: the shortest times of both, measured in turns on the same machine.

    Points are given on a processor alone: what is fast there need not be on a GPU, and the exercise asks why.
    """
    of, least = file.exercise.points["speed"], file.exercise.data["at_least_as_fast"]
    runs = tasks.for_speed(file.exercise, seed, not file.on_pocl)
    source = file.exercise.folder / f"reference{file.source.suffix}"
    with submitted_file.in_own_folder(file.exercise, file.api, source, file.build, file.device) as reference:
        turns = [(milliseconds(file, runs), milliseconds(reference, runs)) for _ in range(TURNS)]
    mine, theirs = ([min(times) for times in zip(*each)] for each in zip(*turns))
    ratios = [their / my for my, their in zip(mine, theirs)]
    words = "; ".join(f"{ratio:.2f} times as fast as {source.name} on {run.words}" for ratio, run in zip(ratios, runs))
    if not file.on_pocl:
        return Verdict("speed", 0, 0, f"{words}; points are given for it on a processor alone (PoCL)")
    if ratios[0] >= least:
        return Verdict("speed", of, of, words)
    return Verdict("speed", 0, of, f"{words}; {least} times is wanted on the first")


def refused(exercise, done, why):
    """Verdicts of no points for what comes after these."""
    return [*done, *(Verdict(each, 0, of, why) for each, of in exercise.points.items() if each not in {v.criterion for v in done})]


def graded_file(file, seed, criteria=None, known=None):
    """The verdicts of one file, and its diagnosis. `known` has what results() has said already."""
    exercise = file.exercise
    verdicts, found = [compiles(file, seed)], []
    if verdicts[0].words:
        return refused(exercise, verdicts, "not run" if verdicts[0].points else ""), ""
    for criterion in criteria or [each for each in exercise.points if each in tasks.CRITERIA]:
        verdict, came = (known or {}).get(criterion) or results(file, criterion, seed)
        verdicts.append(verdict)
        found += came
        if any(outcome.why.startswith(NO_END) for outcome in came):  # nor would it another time
            return refused(exercise, verdicts, "not run"), ""
    wrong = any(not outcome.right for outcome in found)
    of, says = exercise.points["free of faults"], faults(file, seed)
    if says:
        # What came out right came out right by luck.
        verdicts = [verdicts[0], *(v._replace(points=0, words=v.words + "; no points, for it is not free of faults")
                                   for v in verdicts[1:]), Verdict("free of faults", 0, of, says, True)]
    elif says is None:
        verdicts.append(Verdict("free of faults", 0, of, "not graded: no race detector"))
    elif wrong:
        verdicts.append(Verdict("free of faults", 0, of, "nothing was found; points where the results are right"))
    else:
        verdicts.append(Verdict("free of faults", of, of, ""))
    if "speed" in exercise.points:
        slow = Verdict("speed", 0, exercise.points["speed"], "not looked at: it is for what is right")
        verdicts.append(slow if wrong or says else speed(file, seed))
    return verdicts, diagnosis(file, found) if wrong and not says else ""


def diagnosis(file, found):
    """What is most likely wrong, in lines; nothing where the exercise is not one that the diagnosis knows."""
    variant = file.exercise.data.get("diagnosed_as")
    cases = [{"words": each.run.words, "pixels": str(each.pixels), "groups": each.run.groups,
              "group_size": each.run.group_size, "counts": str(each.result)}
             for each in found if each.result is not None and each.run.first == 0]
    lesson = catalogue.ROOT / file.exercise.chapter / "README.md"
    if not variant or not cases or not lesson.is_file():  # in an examination nobody helps
        return ""
    asked = file.folder / "diagnose.json"
    asked.write_text(json.dumps({"chapter": file.exercise.chapter, "variant": variant, "in_cuda": file.api == "cuda",
                                 "one_by_one": file.on_pocl, "cases": cases}))
    done = sandbox.run([file.program("diagnose"), str(asked)], file.folder, SECONDS)
    return done.said.rstrip() if done.status == 0 else ""


# ---- a submission, which has one file or several -------------------------------------------------


@contextlib.contextmanager
def submission(exercise, api, sources, build, device=""):
    """Each file of a submission, in a folder of its own."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(submitted_file.in_own_folder(exercise, api, source, build, device)) for source in sources]


def graded(submitted, seed, criteria=None, known=None, guarded=True):
    """The grade of a submission, by its files. `known` has, for each file, what results() has said already.

    Not guarded: whoever calls sees to it that no file of the grader's was changed.
    """
    exercise, api = submitted[0].exercise, submitted[0].api
    guard = submitted_file.Guard(submitted[0].build) if guarded else None
    each = [graded_file(file, seed, criteria, (known or {}).get(file.source.name)) for file in submitted]
    changed = guard and guard.changed()
    if changed:
        why = f"it changes files of the grader: {changed[0]}"
        return Grade(exercise.name, api, seed, refused(exercise, [], why), "")
    if len(each) == 1:
        return Grade(exercise.name, api, seed, *each[0], submitted[0].ran_on)
    verdicts = []
    for of_files in zip(*(verdicts for verdicts, _ in each)):
        words = [f"{file.source.name}: {verdict.words}" for file, verdict in zip(submitted, of_files)
                 if verdict.points < verdict.of]
        points = sum(verdict.points for verdict in of_files) // len(of_files)
        verdicts.append(of_files[0]._replace(points=points, words="\n".join(words), found=any(v.found for v in of_files)))
    named = [f"{file.source.name}:\n{said}" for file, (_, said) in zip(submitted, each) if said]
    return Grade(exercise.name, api, seed, verdicts, "\n\n".join(named), submitted[0].ran_on)
