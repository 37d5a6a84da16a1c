#!/usr/bin/env python3
"""The exercises: ./tutorial list, next, hint, watch, grade and handout call this.

    ./tutorial list                            all of them, and which are done
    ./tutorial hint 03/five-steps              the next hint
    ./tutorial watch 03/five-steps             check at each save; Ctrl-C ends it
    ./tutorial grade 03/five-steps [FILE]      points, criterion by criterion; FILE in place of the exercise's own
    ./tutorial grade 03/five-steps --all DIR --csv F    every folder or file in DIR
    ./tutorial handout DIR                     a copy for students, without the solutions

Exit status: 0 full marks; 1 not; 2 what was asked for makes no sense; 77 nothing to run it on.
"""

import argparse
import concurrent.futures
import csv
import io
import json
import os
import pathlib
import re
import secrets
import signal
import sys
import tempfile
import time

import catalogue
import grading
import handout
import pictures
import reports
import tasks
from catalogue import ROOT, BadInput

sys.path.append(str(ROOT / "common" / "files"))
import contextlib

import whole  # noqa: E402

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


def write_whole(path, text):
    """All of it or nothing. Raises BadInput."""
    try:
        whole.write_whole(pathlib.Path(path), text)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None


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
    return f"Hint {given + 1} of {len(hints)}:\n{text}{last}"


# ---- grade ---------------------------------------------------------------------------------------


def the_files(exercise, api, files):
    """The files that are handed in, which have the names of the exercise's own."""
    wanted = exercise.files[api]
    if not files:
        return exercise.skeletons(api)
    if sorted(file.name for file in files) != sorted(wanted):
        raise BadInput(f"{exercise.name} takes {' '.join(wanted)}, and not {' '.join(map(str, files))}")
    return sorted(files, key=lambda file: wanted.index(file.name))


def grade_one(exercise, options, sources, seed, guarded=True):
    with grading.submission(exercise, options.api, sources, options.build, options.device) as submitted:
        done = grading.graded(submitted, seed, guarded=guarded)
        if sources == exercise.skeletons(options.api):
            show_picture(exercise, submitted[0])
        return done


def grade(exercise, options):
    sources = the_files(exercise, options.api, options.files)
    done = grade_one(exercise, options, sources, options.seed)
    print(reports.table_of(done))
    for path, report in ((options.json, reports.as_json), (options.junit, reports.as_junit),
                         (options.gradescope, reports.as_gradescope)):
        if path:
            write_whole(path, report(done))
    if done.full and not options.files:
        keep(exercise.name, done=options.api)
    return 0 if done.full else 1


def show_picture(exercise, file):
    """Writes what an exercise makes of the sample picture beside the picture, where it makes one."""
    if exercise.data.get("task") != "equalized":
        return
    sample = next(tasks.real_pictures(exercise, tasks.task_of(exercise), 0))
    (outcome,) = grading.outcomes(file, [sample])
    if outcome.result is None:
        return
    run, made = outcome.run, outcome.result.read_bytes()
    path = ROOT / "build" / f"{exercise.folder.name}.bmp"
    write_whole(path, pictures.side_by_side(run.width, run.height, run.pixels, made))
    print(f"The picture, and what your kernels make of it: {path.relative_to(ROOT)}\n")


def submissions(folder, exercise, api):
    """{who: files} of a folder that has a folder for each, or a file where one is handed in. Raises BadInput."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: not a folder")
    wanted, found = exercise.files[api], {}
    suffix = pathlib.Path(wanted[0]).suffix
    if all((folder / name).is_file() for name in wanted):
        raise BadInput(f"{folder}: is one submission, and no folder of them")
    for each in sorted(folder.iterdir()):
        if each.is_dir():
            found[each.name] = [each / name for name in wanted]
        elif each.suffix == suffix and len(wanted) == 1:
            found[each.stem] = [each]
    if not found:
        raise BadInput(f"{folder}: no submissions: a folder with {' '.join(wanted)} for each"
                       + (f", or NAME{suffix}" if len(wanted) == 1 else ""))
    return found


def taken(exercise, options, who, sources, into):
    """A copy of what was handed in, made before anything of it runs; or why there is none, in a line."""
    wanted = exercise.files[options.api]
    if sources[0].parent != options.all:  # a folder of its own
        others = sorted({path.name for path in sources[0].parent.iterdir()} - set(wanted))
        missing = [source.name for source in sources if not source.exists()]
        if missing:
            return f"{' '.join(missing)} is missing" + (f"; there is {' '.join(others)}" if others else "")
        if others:
            return f"other files than {' '.join(wanted)} were handed in"
    (into / who).mkdir()
    copies = [into / who / name for name in wanted]
    try:
        for source, copy in zip(sources, copies):
            copy.write_text(grading.submitted_file.text_of(source), encoding="utf-8")
    except BadInput as error:
        return str(error)
    return copies


def row_of(exercise, options, who, sources, guarded):
    """A submission's line; whatever is wrong with it is in the line."""
    nothing = {"submission": who, "points": 0, "of": sum(exercise.points.values())}
    if isinstance(sources, str):
        return {**nothing, "why": sources}
    try:
        done = grade_one(exercise, options, sources, options.seed, guarded)
    except (BadInput, OSError) as error:
        return {**nothing, "why": str(error)}
    # What a detector says comes before what is wrong because of it.
    order = sorted(done.verdicts, key=lambda v: not (v.criterion == "free of faults" and v.found))
    first = next((v for v in order if v.points < v.of), None)
    named = next((line.strip()[len("why: "):] for line in done.diagnosis.splitlines() if line.strip().startswith("why: ")), "")
    why = named or (f"{first.criterion}: {' '.join(first.words.splitlines()[:2])}" if first else "")
    return {**nothing, "points": done.points, "of": done.of, **{v.criterion: v.points for v in done.verdicts}, "why": why}


def rows_of(exercise, options, handed_in):
    """All lines: together; and where somebody changed files of the grader's meanwhile, all again, one after the other."""
    guard = grading.submitted_file.Guard(options.build.resolve())
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as together:
        jobs = [together.submit(row_of, exercise, options, who, sources, False) for who, sources in handed_in.items()]
        concurrent.futures.wait(jobs)
    changed = guard.changed()
    if not changed:
        return [job.result() for job in jobs]
    print(f"{changed[0]} was changed meanwhile, and is as it was: all are graded again, one by one.", file=sys.stderr)
    return [row_of(exercise, options, who, sources, True) for who, sources in handed_in.items()]


def grade_all(exercise, options):
    found = submissions(options.all, exercise, options.api)
    with tempfile.TemporaryDirectory(prefix="exercise-") as folder:
        handed_in = {who: taken(exercise, options, who, sources, pathlib.Path(folder)) for who, sources in found.items()}
        rows = rows_of(exercise, options, handed_in)
    print(f"{exercise.name}, {options.api}, seed {options.seed}\n")
    for row in rows:
        print(f"  {row['points']:>3}  {row['submission']:<20} {row['why']}".rstrip())
    text = io.StringIO()
    writer = csv.DictWriter(text, ["submission", "points", "of", *exercise.points, "why"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    if options.csv:
        write_whole(options.csv, text.getvalue())
    return 0 if all(row["points"] == row["of"] for row in rows) else 1


# ---- watch ---------------------------------------------------------------------------------------

QUICK = ("sizes", "launches")


def look_quickly(file, seed, known):
    """Checks one file on what is checked quickly, and prints what comes of it. Whether it is right so far."""
    verdict = grading.compiles(file, seed)
    if verdict.words:
        print(verdict.words)
        return False
    found = []
    for criterion in QUICK:
        if criterion in file.exercise.points:
            known[criterion] = verdict, outcomes = grading.results(file, criterion, seed)
            found += outcomes
            print(f"  {criterion}: {verdict.words}")
    if all(each.right for each in found):
        return True
    # Where the counts name no mistake, a detector may: a missing barrier looks like anything.
    said = grading.diagnosis(file, found) or grading.faults(file, seed)
    if said:
        print(said)
    return False


def look(exercise, options):
    """Checks the student's files once, quickly first, and says what to do next. Whether it is done."""
    with grading.submission(exercise, options.api, exercise.skeletons(options.api), options.build, options.device) as submitted:
        known = {}
        for file in submitted:
            if len(submitted) > 1:
                print(f" {file.source.name}")
            if not look_quickly(file, options.seed, known.setdefault(file.source.name, {})):
                print(f"Next: mend that, and save. ./tutorial hint {exercise.name} gives a hint.")
                return False
        print("  all right so far; now all criteria ...", flush=True)
        done = grading.graded(submitted, options.seed, known=known)
        show_picture(exercise, submitted[0])
    print(reports.table_of(done))
    if not done.full:
        return False
    keep(exercise.name, done=options.api)
    following = next_undone(exercise.name)
    print("Done." + (f" Next: ./tutorial watch {following.name}" if following else " That was the last one."))
    return True


def last_saved(sources):
    """When one of them was last written; None while an editor writes one anew."""
    try:
        return [source.stat().st_mtime_ns for source in sources]
    except OSError:
        return None


def watch(exercise, options):
    sources = exercise.skeletons(options.api)
    names = " ".join(str(source.relative_to(ROOT)) for source in sources)
    seen = None
    while True:
        now = last_saved(sources)
        if now is not None and now != seen:
            seen = now
            print(f"\n{exercise.name}: {names}", flush=True)
            try:
                done = look(exercise, options)
                if done or options.once:
                    return 0 if done else 1
            except BadInput as error:
                print(error)
                if options.once:
                    return 1
            print(f"Watching {names}; Ctrl-C ends this.", flush=True)
        time.sleep(0.2)


# ---- the command line ----------------------------------------------------------------------------


def given_path(text):
    """A path of the command line, which was typed where the caller was."""
    return pathlib.Path(os.environ.get("CALLER", "."), text)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise BadInput(message)


def parsed():
    parser = Parser(prog="tutorial", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["list", "next", "hint", "watch", "grade", "handout"])
    parser.add_argument("exercise", nargs="?", help="such as 03/five-steps; handout: the folder to make")
    parser.add_argument("files", nargs="*", type=given_path, help="in place of the exercise's own files")
    parser.add_argument("--api", choices=["opencl", "cuda"])
    parser.add_argument("--device", default="", help="as the programs' --device, for OpenCL and CUDA")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=None, help="of the inputs; another one each time where it is not given")
    parser.add_argument("--json", type=given_path, help="write the grade to this file (docs/grading.md)")
    parser.add_argument("--junit", type=given_path, help="write it as JUnit's XML")
    parser.add_argument("--gradescope", type=given_path, help="write it as Gradescope's results.json")
    parser.add_argument("--all", type=given_path, metavar="DIR", help="grade each folder or file in DIR")
    parser.add_argument("--csv", type=given_path, help="with --all: write the table to this file")
    parser.add_argument("--chapter", nargs="+", default=[], help="handout: the exercises of these chapters alone, such as 03")
    parser.add_argument("--exam", action="store_true", help="handout: without the lessons and the chapters' kernels, too")
    parser.add_argument("--once", action="store_true", help="watch: look once")
    options = parser.parse_intermixed_args()
    if options.seed is None:
        options.seed = secrets.randbelow(1 << 32)
    return options


# What goes with what; each of these is refused elsewhere, and not passed over.
ALONE = {"files": "grade", "json": "grade", "junit": "grade", "gradescope": "grade", "all": "grade", "csv": "grade",
         "chapter": "handout", "exam": "handout", "once": "watch"}


def check_combination(options):
    for name, what in ALONE.items():
        if getattr(options, name) and options.what != what:
            raise BadInput(f"{'a file' if name == 'files' else '--' + name} means nothing to {options.what}")
    for name in ("json", "junit", "gradescope", "csv"):  # before minutes of grading, not after
        path = getattr(options, name)
        written = path.parent if path and (path.is_file() or not path.exists()) else path  # a device is no file to replace
        if path and (path.is_dir() or not written.exists() or not os.access(written, os.W_OK)):
            raise BadInput(f"{path}: cannot be written")
    if options.csv and not options.all:
        raise BadInput("--csv needs --all: one submission's grade is written by --json, --junit and --gradescope")
    for name in ("files", "json", "junit", "gradescope"):
        if options.all and getattr(options, name):
            raise BadInput(f"--all does not go with {'a file' if name == 'files' else '--' + name}: it writes --csv")


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
        print(handout.make(given_path(options.exercise), options.chapter, options.exam))
        return 0
    if not options.exercise:
        raise BadInput(f"{options.what} needs an exercise: {', '.join(each.name for each in catalogue.exercises())}")
    exercise = catalogue.exercise_of(options.exercise)
    if options.what == "hint":
        print(hint(exercise))
        return 0
    options.api = exercise.api(options.api)
    if options.what == "watch":
        return watch(exercise, options)
    return grade_all(exercise, options) if options.all else grade(exercise, options)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except BadInput as wrong:
        print(f"tutorial: {wrong}", file=sys.stderr)
        sys.exit(2)
    except grading.NothingToRunOn as wrong:
        print(f"tutorial: {wrong}", file=sys.stderr)
        sys.exit(77)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(141)
