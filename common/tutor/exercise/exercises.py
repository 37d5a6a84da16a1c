"""What ./tutorial list, next, hint, reset, watch and grade do; common/tutor/tutorial.py reads the command line."""

import contextlib
import itertools
import json
import re
import shutil
import subprocess
import textwrap
import time

import a_class
import catalogue
import grading
import handed_in
import handout
import pictures
import reports
import sandbox
import tasks
from catalogue import ROOT, BadInput
from reports import write_atomically

KEPT = ROOT / "build" / "exercises.json"  # what is done, and which hints were given


def kept():
    try:
        return json.loads(KEPT.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def keep(name, **what):
    """Adds to what is kept of an exercise. That it cannot be kept stops nobody."""
    now = kept()
    now.setdefault(name, {}).update(what)
    with contextlib.suppress(BadInput):
        write_atomically(KEPT, json.dumps(now, indent=2) + "\n")


# ---- list, hint ----------------------------------------------------------------------------------


def listing():
    done = kept()
    lines = []
    for each in catalogue.exercises():
        mark = "done" if done.get(each.name, {}).get("done") else "    "
        lines.append(f"  {mark}  {each.name:<22} {each.minutes:>4} min  {each.title}")
    first = catalogue.exercises()[0]
    return "\n".join([*lines, "", "./tutorial watch NAME checks while you work. What to do stands in a README.md:",
                      f"{(first.folder / 'README.md').relative_to(ROOT)} is that of {first.name}."])


def next_in_words(after=""):
    """The first that is not done, of those behind this one if there is one; behind its chapter's lesson, where that is new."""
    done = {name for name, what in kept().items() if what.get("done")}
    found = catalogue.exercises()
    place = [each.name for each in found].index(after) + 1 if after else 0
    following = next((each for each in found[place:] + found[:place] if each.name not in done), None)
    if not following:
        return "All are done."
    begun = any(name.startswith(following.name[:3]) for name in done)
    lesson = "" if begun else f"{following.chapter}/README.md, then "
    return f"Read {lesson}{following.folder.relative_to(ROOT)}/README.md, then: ./tutorial watch {following.name}"


def hint(exercise):
    hints = exercise.hints()
    given = kept().get(exercise.name, {}).get("hints", 0) % len(hints)
    keep(exercise.name, hints=given + 1)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", hints[given])  # links lead nowhere from a terminal
    last = "\n(That was the last one; the next will be the first again.)" if given + 1 == len(hints) else ""
    paragraphs = (textwrap.fill(each, reports.WIDTH, break_on_hyphens=False) for each in text.split("\n\n"))
    return f"Hint {given + 1} of {len(hints)}:\n" + "\n\n".join(paragraphs) + last


# ---- reset ---------------------------------------------------------------------------------------


def as_begun(path):
    """What a file was before anybody worked on it, as bytes. Raises BadInput."""
    if (text := handout.skeleton(path)) is not None:
        return text.encode("utf-8")
    name = path.relative_to(ROOT)
    done = subprocess.run(["git", "-C", str(ROOT), "show", f"HEAD:{name}"], capture_output=True) if catalogue.has_git() else None
    if not done or done.returncode != 0:
        why = "git, which may know it, is not there"
        if shutil.which("git"):
            why = "this is neither a clone of a repository nor a copy from ./tutorial handout"
        raise BadInput(f"nobody knows what {name} was: {why}")
    return done.stdout


def reset(exercise, api):
    """Each file as it was; what was there lies beside it, under the next free name."""
    lines = []
    for path, text in [(path, as_begun(path)) for path in exercise.skeletons(api)]:
        name = path.relative_to(ROOT)
        if path.exists() and path.read_bytes() == text:
            lines.append(f"{name} is as it was (as it was committed, in a repository of your own)")
            continue
        if path.exists():
            names = (path.with_name(f"{path.name}.{number}") for number in itertools.count(1))
            beside = next(each for each in names if not each.exists())
            shutil.copy(path, beside)
            lines.append(f"What was in {name} is in {beside.name} beside it.")
        write_atomically(path, text)
    keep(exercise.name, done="", hints=0)
    return "\n".join(line for each in lines for line in reports.wrapped(each))


# ---- grade ---------------------------------------------------------------------------------------


def graded(exercise, options):
    """The grade of the files that are named, or of a folder or a zip with them; else of the exercise's own."""
    submitted = handed_in.submission(exercise, options, options.files or exercise.skeletons(options.api))
    done = grading.graded(submitted, options.seed)
    if not options.files:
        show_picture(exercise, submitted[0])
    return done


def grade(exercise, options):
    status = 0
    try:
        done = graded(exercise, options)
    except BadInput as why:
        if not options.json:
            raise
        # The report says it, too.
        done, status = a_class.no_points(exercise, options, why), 2
    print(reports.table_of(done))
    if options.json:
        write_atomically(options.json, reports.as_json(done))
    if done.full and not options.files:
        keep(exercise.name, done=options.api)
    return status or (0 if done.full else 1)


def show_picture(exercise, file):
    """Writes what an exercise makes of the sample picture beside the picture, where it makes one."""
    if exercise.data.get("task") != "equalized":
        return
    sample = tasks.Run("", *pictures.read_bmp(tasks.PICTURES / "landscape.bmp"), 3, 128)
    try:
        (outcome,), _ = grading.outcomes(file, [sample])
    except grading.DoesNotCompile:
        return
    if not outcome.result:
        return
    run = outcome.run
    path = ROOT / "build" / f"{exercise.folder.name}.bmp"
    write_atomically(path, pictures.side_by_side(run.width, run.height, run.pixels, outcome.result))
    print(*reports.wrapped(f"The picture, and what your kernels make of it: {path.relative_to(ROOT)}"), "", sep="\n")


# ---- watch ---------------------------------------------------------------------------------------


def look(exercise, options):
    """Checks the student's files once, and says what to do next. Whether it is done."""
    done = graded(exercise, options)
    print(reports.table_of(done))
    if not done.full:
        print(f"Next: mend that, and save. ./tutorial hint {exercise.name} gives a hint.")
        return False
    keep(exercise.name, done=options.api)
    print("Done.", next_in_words(exercise.name))
    return True


def watch(exercise, options):
    sources = exercise.skeletons(options.api)
    names = " ".join([str(sources[0].relative_to(ROOT)), *(source.name for source in sources[1:])])
    print(*reports.wrapped(f"Watching {names}; Ctrl-C ends this."), sep="\n")
    seen = before = None
    while True:
        now = None  # while an editor writes one anew
        with contextlib.suppress(OSError):
            now = [(source.stat().st_mtime_ns, source.stat().st_size) for source in sources]
        # A file that changed a moment ago may not be complete yet.
        if now is not None and now != seen and now == before:
            seen = now
            print()
            try:
                if look(exercise, options):
                    return 0
            except (BadInput, sandbox.Busy) as error:
                print(error)
        before = now
        time.sleep(0.1)
