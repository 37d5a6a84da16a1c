"""From a student's file to points: what is run, what is compared, and what each criterion says."""

import contextlib
import json
import pathlib
import re
import shutil
import tempfile
from typing import NamedTuple, Optional

import catalogue
import sandbox
from catalogue import FILES, BadInput

POINTS = {"compiles": 5, "sizes": 25, "distributions": 25, "launches": 25, "free of races": 20}
LARGEST_FILE = 1 << 20
SECONDS = 20  # for one process; a few runs of a fraction of a second each
NOT_COMPILED, NO_DEVICE = 3, 77
NO_END = "it does not end"
POISON = int.from_bytes(catalogue.POISON * 4, "little")  # of the words of a buffer that is not zeroed
OCLGRIND_FINDS = re.compile(r"(data race at|Invalid (?:read|write)|divergence detected|Uninitialized value [a-z ]*local memory|"
                            r"Controlflow depends on uninit)[^\n]*")
SANITIZER_FINDS = re.compile(r"(Race reported|Invalid __\w+__|[Bb]arrier error|[Mm]isaligned|Uninitialized __global__)[^\n]*")


class NothingToRunOn(Exception):
    """There is no device, or no compiler, for this API; the text says which."""


class Verdict(NamedTuple):
    """What a criterion says."""

    criterion: str
    points: int
    of: int
    words: str
    found: bool = False  # by a detector


class Outcome(NamedTuple):
    """What came of one run."""

    run: catalogue.Run
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

    @property
    def points(self):
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def full(self):
        return self.points == sum(verdict.of for verdict in self.verdicts)


class Workplace:
    """A folder of one submission, with the student's file in it and nothing else of the student's."""

    def __init__(self, exercise, api, source, build, folder, device=""):
        self.exercise, self.api, self.build, self.folder, self.device = exercise, api, build, folder, device
        self.kernels = folder / FILES[api]
        self.kernels.write_text(text_of(source), encoding="utf-8")
        self.number = 0
        self.on_pocl = False  # the work-items of a group take turns there

    def program(self, name):
        path = self.build / "common" / name
        if not path.is_file():
            raise BadInput(f"{path} is not built: start this with ./tutorial")
        return str(path)

    def compiled(self, options):
        """What the job names as its kernels; and what the compiler said, where it does not compile."""
        if self.api == "opencl":
            return self.kernels, ""
        nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        if not pathlib.Path(nvcc).is_file():
            raise NothingToRunOn("there is no CUDA compiler (nvcc)")
        ptx = self.folder / f"kernels{options.replace('=', '-')}.ptx"
        if ptx.exists():
            return ptx, ""
        done = sandbox.run([nvcc, "-std=c++17", "-lineinfo", "-ptx", *options.split(), "-o", str(ptx), self.kernels.name],
                           self.folder, 60)
        return ptx, done.said if done.status else ""

    def process(self, runs, under=(), device=None, seconds=SECONDS):
        """Runs these, which have the same options, in one process: how it ended, and the files that came back."""
        kernels, said = self.compiled(runs[0].options)
        if said:
            return sandbox.Done(NOT_COMPILED, said, False), []
        self.number += 1
        folder = self.folder / str(self.number)
        folder.mkdir()
        cases = [catalogue.case_of(self.exercise, run, folder, number) for number, run in enumerate(runs)]
        job = folder / "job.json"
        job.write_text(json.dumps({"kernels": str(kernels), "options": runs[0].options if self.api == "opencl" else "",
                                   "device": self.device if device is None else device, "cases": cases}))
        command = [*under, self.program("run_opencl" if self.api == "opencl" else "run_cuda"), str(job)]
        done = sandbox.run(command, folder, seconds, memory=self.api == "opencl")
        if not under:  # a detector is a device of its own
            self.on_pocl = "(Portable Computing Language)" in done.said
        if done.status == NO_DEVICE:
            raise NothingToRunOn(done.said.strip().splitlines()[-1])
        return done, [(folder / f"pixels-{number}", pathlib.Path(case["to"])) for number, case in enumerate(cases)]

    def outcomes(self, runs):
        """What came of each; where a process ends badly, what came back before is still compared."""
        found = []
        for options in dict.fromkeys(run.options for run in runs):
            mine = [run for run in runs if run.options == options]
            done, files = self.process(mine)
            if not files:
                found += [Outcome(run, False, "it does not compile") for run in mine]
            found += [self.compared(run, pixels, result, done) for run, (pixels, result) in zip(mine, files)]
        return found

    def compared(self, run, pixels, result, done):
        wanted = catalogue.truth(self.exercise, run)
        if not result.is_file():
            return Outcome(run, False, why_not(done))
        got = catalogue.words_of(result.read_bytes())
        if len(got) != len(wanted):
            return Outcome(run, False, "what came back has another size")
        wrong = [(bin, w, g) for bin, (w, g) in enumerate(zip(wanted, got)) if w != g]
        if not wrong:
            return Outcome(run, True, "", pixels, result)
        unwritten = sum(have == POISON for _, _, have in wrong)
        bin, want, have = max(wrong, key=lambda each: abs(each[1] - each[2]))
        words = (f"{len(wrong)} of {len(wanted)} bins are wrong, total {sum(got)} instead of {sum(wanted)}; "
                 f"bin {bin}: expected {want}, got {have} ({have - want:+})")
        if unwritten:
            words = f"{unwritten} of {len(wanted)} bins were never written"
        return Outcome(run, False, words, pixels, result)


def why_not(done):
    last = [line for line in done.said.strip().splitlines() if not line.startswith("on ")][-1:] or [""]
    return f"{done.why()}{': ' if last[0] else ''}{last[0]}"


def text_of(path):
    """What the student hands in. Raises BadInput for whatever is not one small text file."""
    if path.is_symlink() or not path.is_file():
        raise BadInput(f"{path}: not a file")
    if path.stat().st_size > LARGEST_FILE:
        raise BadInput(f"{path}: larger than {LARGEST_FILE >> 20} MiB")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"{path}: not a text") from None


# ---- criteria ------------------------------------------------------------------------------------


def compiles(place):
    """Each way to compile it, on one pixel."""
    for options in place.exercise.data.get("options", [""]):
        done, _ = place.process([catalogue.Run("one pixel", b"\x07", 1, 1, options)])
        if done.status == NOT_COMPILED:
            lines = [line for line in done.said.splitlines() if line.strip() and not line.startswith("on ")]
            return Verdict("compiles", 0, POINTS["compiles"], "it does not compile:\n" + "\n".join(lines[:12]))
    return Verdict("compiles", POINTS["compiles"], POINTS["compiles"], "")


def results(place, criterion, seed):
    """The verdict of sizes, distributions or launches, and the outcomes behind it."""
    runs = list(catalogue.of_each_kind(place.exercise, catalogue.CRITERIA[criterion](place.exercise, seed)))
    found = place.outcomes(runs)
    wrong = [outcome for outcome in found if not outcome.right]
    of = POINTS[criterion]
    words = f"{len(found) - len(wrong)} of {len(found)} runs are right"
    if wrong:
        words += f"; {wrong[0].run.words}: {wrong[0].why}"
    # Half of the points are for the runs that are right, and half for all of them being so.
    points = of * (len(found) - len(wrong)) // (2 * len(found)) if wrong else of
    return Verdict(criterion, points, of, words), found


def detectors(place):
    """The commands that look for races and stray accesses, each with what it says then; none where none is there."""
    if place.api == "opencl":
        oclgrind = shutil.which("oclgrind")
        return [([oclgrind, *how], OCLGRIND_FINDS) for how in (
            ("--data-races", "--max-errors", "20"), ("--uninitialized", "--max-errors", "20000"))] if oclgrind else []
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    return [([sanitizer, "--tool", tool], SANITIZER_FINDS) for tool in ("memcheck", "racecheck", "synccheck")] \
        if pathlib.Path(sanitizer).is_file() else []


def races(place, seed):
    """What the detectors say first; None where there is no detector, "" where they say nothing."""
    under = detectors(place)
    if not under:
        return None
    runs = catalogue.for_detectors(place.exercise, seed)
    for command, finds in under:
        done, _ = place.process(runs, command, "Oclgrind" if place.api == "opencl" else None, 60)
        found = finds.search(done.said)
        if found:
            return found.group(0).strip()
        if done.timed_out or done.status not in (0, 1):
            return f"under {pathlib.Path(command[0]).name} {done.why()}"
    return ""


def graded(place, seed, criteria=tuple(catalogue.CRITERIA)):
    """The grade of what lies in this workplace."""
    exercise = place.exercise
    verdict = compiles(place)
    verdicts, found = [verdict], []
    if verdict.points == 0:
        verdicts += [Verdict(each, 0, POINTS[each], "") for each in (*criteria, "free of races")]
        return Grade(exercise.name, place.api, seed, verdicts, "")
    for number, criterion in enumerate(criteria):
        verdict, outcomes = results(place, criterion, seed)
        verdicts.append(verdict)
        found += outcomes
        if any(outcome.why.startswith(NO_END) for outcome in outcomes):  # nor would it another time
            verdicts += [Verdict(each, 0, POINTS[each], "not run") for each in (*criteria[number + 1:], "free of races")]
            return Grade(exercise.name, place.api, seed, verdicts, "")
    wrong = any(not outcome.right for outcome in found)
    of, says = POINTS["free of races"], races(place, seed)
    if says is None:
        verdicts.append(Verdict("free of races", 0, of, "not graded: no race detector"))
    elif says:
        # What came out right came out right by luck.
        verdicts = [verdicts[0], *(v._replace(points=0, words=v.words + "; no points, for it races or goes astray")
                                   for v in verdicts[1:]), Verdict("free of races", 0, of, says, True)]
    elif wrong:
        verdicts.append(Verdict("free of races", 0, of, "nothing was found; points where the results are right"))
    else:
        verdicts.append(Verdict("free of races", of, of, ""))
    return Grade(exercise.name, place.api, seed, verdicts, diagnosis(place, found) if wrong and not says else "")


def diagnosis(place, found):
    """What is most likely wrong, in lines; nothing where the exercise is not one that the diagnosis knows."""
    variant = place.exercise.data.get("diagnosed_as")
    cases = [{"words": each.run.words, "pixels": str(each.pixels), "groups": each.run.groups,
              "group_size": each.run.group_size, "counts": str(each.result)}
             for each in found if each.result is not None and each.run.first == 0]
    if not variant or not cases:
        return ""
    asked = place.folder / "diagnose.json"
    asked.write_text(json.dumps({"chapter": place.exercise.chapter, "variant": variant, "in_cuda": place.api == "cuda",
                                 "one_by_one": place.on_pocl, "cases": cases}))
    done = sandbox.run([place.program("diagnose"), str(asked)], place.folder, SECONDS)
    return done.said.rstrip() if done.status == 0 else ""


@contextlib.contextmanager
def workplace(exercise, api, source, build, device=""):
    """A folder for one submission, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="exercise-") as folder:
        yield Workplace(exercise, api, source, build, pathlib.Path(folder), device)
