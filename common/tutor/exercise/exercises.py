#!/usr/bin/env python3
"""The exercises: ./tutorial list, next, hint, reset, watch, grade and handout call this.

    ./tutorial list                            all of them, and which are done
    ./tutorial hint 03/five-steps              the next hint
    ./tutorial reset 03/five-steps             begin anew; what was there is kept beside it
    ./tutorial watch 03/five-steps             check at each save; Ctrl-C ends it
    ./tutorial grade 03/five-steps [FILE]      points, criterion by criterion; FILE in place of the exercise's own
    ./tutorial grade 03/five-steps --all DIR --csv F    every folder, file or zip in DIR
    ./tutorial handout DIR                     a copy for students, without the solutions

Exit status: 0 full marks; 1 not; 2 what was asked for makes no sense; 77 nothing to run it on.
"""

# ruff: noqa: E402
import os
import signal

if __name__ == "__main__":
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # before anything takes time
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])

import argparse
import contextlib
import json
import pathlib
import re
import secrets
import subprocess
import sys
import textwrap
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))  # which python -I leaves out
import a_class
import catalogue
import grading
import handed_in
import handout
import pictures
import reports
import tasks
from catalogue import ROOT, BadInput
from reports import write_whole

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
        write_whole(KEPT, json.dumps(now, indent=2) + "\n")


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


def next_undone(after=""):
    """The first that is not done, of those behind this one if there is one."""
    done = kept()
    undone = [each for each in catalogue.exercises() if not done.get(each.name, {}).get("done")]
    names = [each.name for each in catalogue.exercises()]
    behind = [each for each in undone if after and names.index(each.name) > names.index(after)]
    return next(iter(behind or undone), None)


def hint(exercise):
    hints = exercise.hints()
    if not hints:
        return "There is no hint here."
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
        raise BadInput(f"nobody knows what {name} was: this is neither a clone of a repository nor a copy from ./tutorial handout")
    return done.stdout


def reset(exercise, api):
    """Each file as it was; what was there lies beside it, under the next free name."""
    lines = []
    for path, text in [(path, as_begun(path)) for path in exercise.skeletons(api)]:
        name = path.relative_to(ROOT)
        if path.exists() and path.read_bytes() == text:
            lines.append(f"{name} is as it was (as it was committed, in a repository of your own)")
            continue
        number = next(number for number in range(1, 10**6) if not path.with_name(f"{path.name}.{number}").exists())
        beside = path.with_name(f"{path.name}.{number}")
        if path.exists():
            with open(beside, "xb") as file:
                file.write(path.read_bytes())
            lines.append(f"What was in {name} is in {beside.name} beside it.")
        write_whole(path, text)
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
    status, asked = 0, {form: getattr(options, form) for form in reports.FORMATS if getattr(options, form)}
    try:
        done = graded(exercise, options)
    except BadInput as why:
        if not asked:
            raise
        # Who reads a report is told there, too.
        done, status = a_class.no_points(exercise, options, why), 2
    print(reports.table_of(done))
    for form, path in asked.items():
        write_whole(path, reports.FORMATS[form](done))
    if done.full and not options.files:
        keep(exercise.name, done=options.api)
    return status or (0 if done.full else 1)


def show_picture(exercise, file):
    """Writes what an exercise makes of the sample picture beside the picture, where it makes one."""
    if exercise.data.get("task") != "equalized":
        return
    sample = tasks.Run("", *tasks.picture("landscape"), 3, 128)
    try:
        (outcome,) = grading.outcomes(file, [sample])
    except grading.DoesNotCompile:
        return
    if not outcome.result:
        return
    run = outcome.run
    path = ROOT / "build" / f"{exercise.folder.name}.bmp"
    write_whole(path, pictures.side_by_side(run.width, run.height, run.pixels, outcome.result))
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
    following = next_undone(exercise.name)
    print("Done." + (f" Next: ./tutorial watch {following.name}" if following else " That was the last one."))
    return True


def last_saved(sources):
    """When they were last written, and how large they are; None while an editor writes one anew."""
    try:
        return [(source.stat().st_mtime_ns, source.stat().st_size) for source in sources]
    except OSError:
        return None


def watch(exercise, options):
    sources = exercise.skeletons(options.api)
    names = " ".join([str(sources[0].relative_to(ROOT)), *(source.name for source in sources[1:])])
    print(*reports.wrapped(f"Watching {names}; Ctrl-C ends this."), sep="\n", flush=True)
    seen = before = None
    while True:
        now = last_saved(sources)
        # What changed a moment ago may not be written to its end.
        if now is not None and now != seen and now == before:
            seen = now
            print(flush=True)
            try:
                if look(exercise, options):
                    return 0
            except BadInput as error:
                print(error)
        before = now
        time.sleep(0.1)


# ---- the command line ----------------------------------------------------------------------------


def given_path(text):
    """A path of the command line, which was typed where the caller was."""
    return pathlib.Path(os.environ.get("CALLER", "."), text)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise BadInput(message)


def parsed():
    parser = Parser(prog="tutorial", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["list", "next", "hint", "reset", "watch", "grade", "handout"])
    parser.add_argument("exercise", nargs="?", help="such as 03/five-steps; handout: the folder to make")
    parser.add_argument("files", nargs="*", type=given_path, help="in place of the exercise's own files")
    parser.add_argument("--api", choices=["opencl", "cuda"])
    parser.add_argument("--device", default="", help="as the programs' --device, for OpenCL and CUDA")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=None, help="of the inputs; another one each time where it is not given")
    parser.add_argument("--json", type=given_path, help="write the grade to this file (docs/grading.md)")
    parser.add_argument("--junit", type=given_path, help="write it as JUnit's XML")
    parser.add_argument("--gradescope", type=given_path, help="write it as Gradescope's results.json")
    parser.add_argument("--classroom", type=given_path, help="write it as a step's output for GitHub Classroom's reporter")
    parser.add_argument("--all", type=given_path, metavar="DIR", help="grade each folder, file or zip in DIR")
    parser.add_argument("--csv", type=given_path, help="with --all: write the table to this file, a row when it is known")
    parser.add_argument("--reports", type=given_path, metavar="DIR", help="with --all: a folder of reports for each submission")
    parser.add_argument("--roster", type=given_path, help="with --all: who should have handed in, a name a line")
    parser.add_argument("--jobs", type=int, default=0, help="with --all: how many at a time; as many as there are cores")
    parser.add_argument("--only", nargs="+", default=[], metavar="WHO", help="with --all: these alone; the CSV keeps the others")
    parser.add_argument("--resume", action="store_true", help="with --all: keep the CSV's rows of the same files and seed")
    parser.add_argument("--compare", type=given_path, metavar="CSV", help="with --all: say what differs from another grading")
    parser.add_argument("--unsafe", action="store_true", help="with --all: also where submissions cannot be isolated")
    parser.add_argument("--chapter", nargs="+", default=[], help="handout: the exercises of these chapters alone, such as 03")
    parser.add_argument("--exam", action="store_true", help="handout: without the lessons and the chapters' kernels, too")
    parser.add_argument("--for", dest="autograder", nargs=2, metavar=("gradescope|classroom", "EXERCISE"),
                        help="handout: an autograder's folder, or a copy with a workflow that gives points")
    options = parser.parse_intermixed_args()
    options.seed_is_new = options.seed is None
    if options.seed_is_new:
        options.seed = secrets.randbelow(1 << 32)
    return options


# What goes with what; each of these is refused elsewhere, and not passed over.
ALONE = {"files": "grade", "all": "grade", **dict.fromkeys(reports.FORMATS, "grade"),
         "chapter": "handout", "exam": "handout", "autograder": "handout"}
OF_A_CLASS = ("csv", "reports", "roster", "jobs", "only", "resume", "compare", "unsafe")


def check_combination(options):
    for name, what in ALONE.items():
        if getattr(options, name) and options.what != what:
            raise BadInput(f"{'a file' if name == 'files' else '--' + name} means nothing to {options.what}")
    for name in (*reports.FORMATS, "csv"):  # before minutes of grading, not after
        path = getattr(options, name)
        written = path.parent if path and (path.is_file() or not path.exists()) else path  # a device is no file to replace
        if path and (path.is_dir() or not written.exists() or not os.access(written, os.W_OK)):
            raise BadInput(f"{path}: cannot be written")
    for name in OF_A_CLASS:
        if getattr(options, name) and not options.all:
            raise BadInput(f"--{name} needs --all: one submission's grade is written by --json, --junit, --gradescope and --classroom")
    for name in ("files", *reports.FORMATS):
        if options.all and getattr(options, name):
            raise BadInput(f"--all does not go with {'a file' if name == 'files' else '--' + name}: it writes --csv and --reports")
    if (options.resume or options.only) and not options.csv:
        raise BadInput("--resume and --only go with --csv, where the other rows are")
    if options.resume and options.seed_is_new:
        raise BadInput("--resume needs the --seed of before")
    if options.jobs < 0:
        raise BadInput(f"--jobs {options.jobs}: a number of submissions at a time")


def main():
    options = parsed()
    check_combination(options)
    if options.what == "list":
        print(listing())
        return 0
    if options.what == "next":
        following = next_undone()
        print(f"{following.name}: {following.folder.relative_to(ROOT)}/README.md" if following else "All are done.")
        return 0
    if options.what == "handout":
        if not options.exercise:
            raise BadInput("handout needs a folder to make")
        print(handout.make(given_path(options.exercise), options.chapter, options.exam, options.autograder))
        return 0
    if not options.exercise:
        raise BadInput(f"{options.what} needs an exercise: {', '.join(each.name for each in catalogue.exercises())}")
    exercise = catalogue.exercise_of(options.exercise)
    if options.what == "hint":
        print(hint(exercise))
        return 0
    options.api = exercise.api(options.api)
    if options.what == "reset":
        print(reset(exercise, options.api))
        return 0
    if options.what == "watch":
        return watch(exercise, options)
    return a_class.grade_all(exercise, options) if options.all else grade(exercise, options)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.exit(main())
    except BadInput as wrong:
        print(f"tutorial: {wrong}", file=sys.stderr)
        sys.exit(2)
    except grading.NothingToRunOn as wrong:
        print(f"tutorial: {wrong}", file=sys.stderr)
        sys.exit(77)
    except KeyboardInterrupt:
        os._exit(130)  # and not when the last of a class is graded; a sandbox ends with this program
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(141)
