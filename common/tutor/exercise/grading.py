"""From a student's files to points: what is compared, and what each criterion says."""

import functools
import json
import pathlib
import random
import re
from array import array
from typing import NamedTuple

import catalogue
import sandbox
import submitted_file
import tasks
from submitted_file import SECONDS, UNDER_A_DETECTOR, DoesNotCompile, NothingToRunOn  # noqa: F401  raised from here, too

BROKE_OFF = "others broke off"
EXCHANGE = re.compile(r"\b(atom\w*(xchg|exch|cas|store)\w*|\w*exchange\w*|store)\b", re.IGNORECASE)
TURNS = 2  # of the processes in which time is taken


def one_missing(text, in_cuda, missing):
    """A launch in groups that are smaller by one item, and seem as large as they were. No kernel can know which is missing."""
    if in_cuda:
        return f"""__device__ dim3 missing_blockDim() {{ return dim3(blockDim.x + 1, blockDim.y, blockDim.z); }}
__device__ dim3 missing_threadIdx() {{ return dim3(threadIdx.x + (threadIdx.x >= {missing}), threadIdx.y, threadIdx.z); }}
""" + re.sub(r"\b(blockDim|threadIdx)\b", r"missing_\1()", text)
    return f"""size_t missing_get_local_size(uint d) {{ return get_local_size(d) + (d == 0); }}
size_t missing_get_local_id(uint d) {{ return get_local_id(d) + (d == 0 && get_local_id(d) >= {missing}); }}
size_t missing_get_global_size(uint d) {{ return get_num_groups(d) * missing_get_local_size(d); }}
size_t missing_get_global_id(uint d) {{ return get_group_id(d) * missing_get_local_size(d) + missing_get_local_id(d); }}
""" + re.sub(r"\bget_(?=(local|global)_(size|id)\b)", "missing_get_", text)


def alone(text, in_cuda, missing):
    """Nobody waits for anybody."""
    name = "__syncthreads" if in_cuda else "(?:work_group_)?barrier"
    return "#define nobody_waits(...)\n" + re.sub(rf"\b{name}\b", "nobody_waits", text)


# In each of these the right kernel is wrong.
STRUCTURE = ((one_missing, "it needs only a part of the work-items that are launched, such as one of each group", "kernels"),
             (alone, "nothing passes through local memory: it is as right without a barrier", "local_memory"))


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
        return sum(verdict.points for verdict in self.verdicts)

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


def outcomes(file, runs):
    """What came of each. If one ends its process, the rest run in another, a few times. Raises DoesNotCompile."""
    found, broken_off = [], 0
    while len(found) < len(runs):
        left, broken_off = runs[len(found):], broken_off + 1
        done, results = file.process(left)
        found += [compared(file.exercise, *pair) for pair in zip(left, results)]
        if len(results) < len(left):
            found.append(Outcome(left[len(results)], False, why_not(file, done)))
        if done.ended or broken_off == 4:  # nor would the others end well
            found += [Outcome(run, False, f"not run, because {done.ended or BROKE_OFF}") for run in runs[len(found):]]
    return found


@functools.lru_cache(256)
def truth(task, run):
    return task.truth(run)


def compared(exercise, run, result):
    """What is wrong with what a run gave: (bytes, times)."""
    task, data = tasks.task_of(exercise), result[0]
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
    last = [line[:300] for line in done.said.strip().splitlines() if not line.startswith("on ")][-1:] or [""]
    if done.status == 0 and not done.ended:
        return "it ended before it had counted"
    said = re.sub(r"^run_\w+: |,? (at|from call at) \S*run_\w+\.cpp:\d+", "", last[0])
    said = re.sub(r"error (-\d+)", lambda error: opencl_errors().get(error.group(1), "error") + f" ({error.group(1)})", said)
    crashed = ": are its arguments, their order and their sizes right?" if file.exercise.kind == "host" and done.status < 0 else ""
    if done.status == 1 and said:
        return said
    return f"{done.why()}{crashed}{': ' if said else ''}{said}"


# ---- criteria ------------------------------------------------------------------------------------

# As GCC, Clang and nvcc write it, and as PoCL does.
COMPILER_LINE = re.compile(r"^(?:error: (?=.*:\d+: )|(?=.*error: ))(?:\S*/)?([\w.-]+\.\w+)[:(](\d+)(?::(\d+))?\)?: (?:(?:fatal )?error: )?(.*)$",
                           re.MULTILINE)


def compiler_words(file, said):
    """A compiler's errors with the student's lines: the first three, and how many there are."""
    lines = [line[:300] for line in said.splitlines()[:200] if line.strip() and not line.startswith("on ")]
    found = [each for each in dict.fromkeys(COMPILER_LINE.findall("\n".join(lines))) if each[0] == file.name]
    if not found:
        return "it does not compile:\n" + "\n".join(lines[:12])
    words, source = ["it does not compile:"], file.text.splitlines()
    for name, line, column, what in found[:3]:
        words.append(f"{name}:{line}{':' + column if column else ''}: error: {what}")
        if int(line) <= len(source):
            text, at = source[int(line) - 1], len(source[int(line) - 1][:int(column or 1) - 1].expandtabs(4))
            cut = len(text.expandtabs(4)) - len(text.expandtabs(4).lstrip())
            words += [f"    {sandbox.printable(text.expandtabs(4))[cut:]}", *([f"    {'':{max(at - cut, 0)}}^"] if column else [])]
    return "\n".join(words + ([f"and {len(found) - 3} more"] if len(found) > 3 else []))


def results_verdict(exercise, criterion, found):
    wrong = [outcome for outcome in found if not outcome.right]
    of = exercise.points[criterion]
    words = f"{len(found) - len(wrong)} of {len(found)} runs are right"
    if wrong:
        words += f"; {wrong[0].run.words}: {wrong[0].why}"
    # Half of the points are for the runs that are right, and half for all of them being so.
    points = of * (len(found) - len(wrong)) // (2 * len(found)) if wrong else of
    return Verdict(criterion, points, of, words)


def faults(file, seed, right=True):
    """What a detector says first; None where there is no detector, "" where nothing was found.

    Where it is not even right by itself, a detector need not find it right.
    """
    under, few = file.detectors(), tasks.for_detectors(file.exercise, seed)
    for command, finds in under:
        runs = few + (tasks.as_large_as_others(file.exercise, seed) if "--data-races" in command else [])
        name = pathlib.Path(command[0]).name
        try:
            done, results = file.process(runs, command, UNDER_A_DETECTOR)
        except DoesNotCompile as why:
            return f"under {name} {compiler_words(file, str(why))}"
        found = finds.search(done.said)
        if found:
            at = re.compile(rf"{re.escape(file.name)}:(\d+)|\bAt line (\d+)").search(done.said, found.start())
            says = re.sub(r" address 0x[0-9a-f]+", "", found.group(0)[:300]).strip()
            says += f", {file.name}:{at.group(1) or at.group(2)}" if at and at.group() not in says else ""
            if file.exercise.kind == "host":
                says += "; the kernel is right: what are its arguments, in which order, and how large are the buffers?"
            return says + (": no lock that all threads share is held there" if file.exercise.kind == "c++" and says.startswith("data race") else "")
        wrong = [each for each in map(functools.partial(compared, file.exercise), runs, results) if not each.right]
        if done.cut:
            return f"under {name} it says more than can be read"
        unable = re.search(r"FATAL ERROR.*\n(.*)", done.said)
        if unable:
            return f"{name} cannot run it: {unable.group(1).strip()}"
        if right and (done.ended or done.status != 0 or len(results) < len(runs)):
            return f"under {name} {why_not(file, done)}"
        if right and wrong:
            return f"under {name} the counts are wrong: {wrong[0].run.words}: {wrong[0].why}"
        if file.exercise.kind == "c++" and not finds.search(file.planted(few).said):
            return f"{name[len('-fsanitize='):]} sanitizer: it does not see what this code does: something in it switches it off"
    if not under:
        return None
    return structure(file, few) if right else ""


def structure(file, runs):
    """What the exercise is about and the counts do not show; "" where it is there, or nothing can tell."""
    if file.exercise.kind != "kernels":
        return ""
    most = max(runs, key=lambda run: run.count / (run.groups * run.group_size))
    missing = random.Random(most.pixels).randrange(1, most.group_size - 1)  # not the first or the last, which may do all of the work
    for world, words, asked in STRUCTURE:
        under = file.turns_detector() if world is alone else file.plain_detector()
        if under is None or not (asked == "kernels" or file.exercise.data.get(asked)):
            continue
        run = most._replace(group_size=most.group_size - 1) if world is one_missing else most
        try:
            changed = functools.partial(world, in_cuda=file.api == "cuda", missing=missing)
            _, results = file.process([run], under, UNDER_A_DETECTOR, changed)
        except DoesNotCompile as why:
            return compiler_words(file, str(why))
        if results and compared(file.exercise, run, results[0]).right:
            return words
    return ""


def for_the_reader(file):
    """What no program has looked at."""
    asked = [file.exercise.data.get("for_the_reader")]
    if file.exercise.data.get("local_memory") and file.turns_detector() is None:
        asked.append("do the counts pass through shared memory?")
    if exchange := EXCHANGE.search(submitted_file.COMMENT.sub(" ", file.text)):
        asked.append(f"does {exchange.group()} lose what others add in between?")
    return "; ".join(f"for the reader: {each}" for each in asked if each)


def milliseconds(file, runs):
    """The shortest times of the two kinds of runs, and what is wrong with the counts."""
    done, results = file.process(runs, seconds=UNDER_A_DETECTOR)
    if len(results) < len(runs) or not all(times for _, times in results):
        return [], why_not(file, done)
    wrong = next((each for each in map(functools.partial(compared, file.exercise), runs, results) if not each.right), None)
    return [min(times[0] for _, times in results[kind::2]) for kind in (0, 1)], f"{wrong.run.words}: {wrong.why}" if wrong else ""


def speed(file, seed):
    """How fast it is beside the exercise's reference: the shortest times of both, measured in turns on the same machine
    (on a processor in its time, not the wall's: with two busy cores one of PoCL's threads may do all).

    Points are given on a processor alone: what is fast there need not be on a GPU, and the exercise asks why.
    """
    of, least = file.exercise.points["speed"], file.exercise.data["at_least_as_fast"]
    if file.emulated:
        return Verdict("speed", 0, 0, "not measured: emulated on the CPU, where no time means anything")
    runs = tasks.for_speed(file.exercise, seed, not file.on_pocl)
    source = file.exercise.folder / f"reference{pathlib.Path(file.name).suffix}"
    reference = type(file)(file.exercise, file.api, source.name, submitted_file.text_of(source), file.build, file.device)
    mine, theirs = [], []
    for _ in range(TURNS):
        times, wrong = milliseconds(file, runs)
        if wrong:
            return Verdict("speed", 0, of, f"a run of which the time is taken is wrong: {wrong}")
        mine.append(times)
        theirs.append(milliseconds(reference, runs)[0])
    ratios = [min(their) / min(my) for my, their in zip(zip(*mine), zip(*theirs))]
    words = "; ".join(f"{ratio:.2f} times as fast as {source.name} on {run.words}" for ratio, run in zip(ratios, runs))
    if not file.on_pocl:
        return Verdict("speed", 0, 0, f"{words}; points are given for it on a processor alone (PoCL)")
    if ratios[0] >= least:
        return Verdict("speed", of, of, words)
    return Verdict("speed", 0, of, f"{words}; {least} times is wanted on the first")


def nothing(exercise, why):
    """Verdicts of no points, the first of which says why."""
    return [Verdict(each, 0, of, "" if number else why) for number, (each, of) in enumerate(exercise.points.items())]


def graded_file(file, seed):
    """The verdicts of one file, and its diagnosis."""
    exercise = file.exercise
    criteria = [each for each in exercise.points if each in tasks.CRITERIA]
    runs = [(criterion, run) for criterion in criteria for run in tasks.runs_of(exercise, criterion, seed)]
    try:
        found = outcomes(file, [run for _, run in runs])
    except DoesNotCompile as why:
        return nothing(exercise, compiler_words(file, str(why))), ""
    verdicts = [Verdict("compiles", exercise.points["compiles"], exercise.points["compiles"], "")]
    for criterion in criteria:
        verdicts.append(results_verdict(exercise, criterion, [each for (its, _), each in zip(runs, found) if its == criterion]))
    wrong = [each for each in found if not each.right]
    ended = any(each.why.startswith("not run") and not each.why.endswith(BROKE_OFF) for each in found)  # a detector waits as long
    of, says = exercise.points["free of faults"], "" if ended else faults(file, seed, not wrong)
    if says:
        # What came out right came out right by luck.
        verdicts = [verdicts[0], *(v._replace(points=0, words=v.words + "; no points, for it is not free of faults")
                                   for v in verdicts[1:]), Verdict("free of faults", 0, of, says, True)]
    elif says is None:
        verdicts.append(Verdict("free of faults", 0, of, "not graded: no race detector"))
    elif wrong:
        looked = "not looked at: it has to end" if ended else "nothing was found, but there are points only where the results are right"
        verdicts.append(Verdict("free of faults", 0, of, looked))
    else:
        verdicts.append(Verdict("free of faults", of, of, for_the_reader(file)))
    if "speed" in exercise.points:
        slow = Verdict("speed", 0, exercise.points["speed"], "not looked at: it is for what is right")
        verdicts.append(slow if wrong or says else speed(file, seed))
    # In CUDA on a GPU no tool sees races in global memory.
    race_free = says == "" and (file.api == "opencl" or file.emulated)
    return verdicts, diagnosis(file, found, race_free) if wrong and not ended else ""


def diagnosis(file, found, race_free=False):
    """What is most likely wrong, in lines; nothing where the exercise is not one that the diagnosis knows."""
    variant = file.exercise.data.get("diagnosed_as")
    came = [each for each in found if each.result and each.run.first == 0]
    lesson = catalogue.ROOT / file.exercise.chapter / "README.md"
    if not variant or not came or not lesson.is_file():  # in an examination nobody helps
        return ""
    asked = {"chapter": file.exercise.chapter, "variant": variant, "in_cuda": file.api == "cuda", "one_by_one": file.on_pocl or file.emulated,
             "kernel": file.text, "file": file.name, "race_free": race_free,
             "cases": [{"words": each.run.words, "pixels": each.run.count, "groups": each.run.groups, "group_size": each.run.group_size}
                       for each in came]}
    data = json.dumps(asked).encode() + b"\n" + b"".join(each.run.pixels + each.result for each in came)
    done = sandbox.run(["./diagnose"], SECONDS, data, {"diagnose": file.program("diagnose")})
    return sandbox.printable(done.out.decode("utf-8", "replace")).rstrip() if done.status == 0 else ""


# ---- a submission, which has one file or several -------------------------------------------------


def graded(submitted, seed):
    """The grade of a submission, by its files."""
    exercise, api = submitted[0].exercise, submitted[0].api
    each = [graded_file(file, seed) for file in submitted]
    if len(each) == 1:
        return Grade(exercise.name, api, seed, *each[0], submitted[0].ran_where())
    verdicts = []
    for of_files in zip(*(verdicts for verdicts, _ in each)):
        words = [f"{file.name}: {verdict.words}" for file, verdict in zip(submitted, of_files) if verdict.points < verdict.of]
        points = sum(verdict.points for verdict in of_files) // len(of_files)
        verdicts.append(of_files[0]._replace(points=points, words="\n".join(words), found=any(v.found for v in of_files)))
    named = [f"{file.name}:\n{said}" for file, (_, said) in zip(submitted, each) if said]
    return Grade(exercise.name, api, seed, verdicts, "\n\n".join(named), submitted[0].ran_where())
