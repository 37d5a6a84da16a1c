#!/usr/bin/env python3
"""The exercises: ./tutorial list, hint, watch and grade call this.

    exercises.py list                          all of them, and which are done
    exercises.py hint 03/five-steps            the next hint (again: one more)
    exercises.py watch 03/five-steps           check at each save; Ctrl-C ends it
    exercises.py grade 03/five-steps [FILE]    points, criterion by criterion; FILE in place of the exercise's own
    exercises.py grade 03/five-steps --all DIR --csv F    every folder or file in DIR

Exit status: 0 full marks; 1 not; 2 what was asked for makes no sense; 77 nothing to run it on.
"""

import argparse
import concurrent.futures
import csv
import io
import json
import os
import pathlib
import secrets
import signal
import sys
import time
import xml.etree.ElementTree as xml

import catalogue
import grading
from catalogue import FILES, ROOT, BadInput
from grading import POINTS

sys.path.append(str(ROOT / "docs"))
import recorded  # noqa: E402

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
    try:
        write_whole(KEPT, json.dumps(now, indent=2) + "\n")
    except BadInput:
        pass


def write_whole(path, text):
    """All of it or nothing. Raises BadInput."""
    try:
        recorded.write_whole(pathlib.Path(path), text)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None


# ---- list, hint ----------------------------------------------------------------------------------


def listing():
    done = kept()
    lines = []
    for each in catalogue.exercises():
        mark = "done" if done.get(each.name, {}).get("done") else "    "
        lines.append(f"  {mark}  {each.name:<22} {each.minutes:>4} min  {each.title}")
    return "\n".join([*lines, "", "./tutorial watch NAME checks while you work; what to do stands in NAME's README.md:",
                      "0N-.../exercise/.../README.md"])


def next_undone():
    done = kept()
    return next((each for each in catalogue.exercises() if not done.get(each.name, {}).get("done")), None)


def hint(exercise):
    hints = exercise.hints()
    given = kept().get(exercise.name, {}).get("hints", 0) % max(len(hints), 1)
    keep(exercise.name, hints=given + 1)
    return f"Hint {given + 1} of {len(hints)}:\n{hints[given]}" if hints else "There is no hint for this one."


# ---- reports -------------------------------------------------------------------------------------


def table_of(grade):
    lines = [f"{grade.exercise}, {grade.api}, seed {grade.seed}", ""]
    for verdict in grade.verdicts:
        first, *more = verdict.words.splitlines() or [""]
        lines.append(f"  {verdict.points:>3} of {verdict.of:>3}  {verdict.criterion:<15} {first}".rstrip())
        lines += [f"{'':29} {line}" for line in more]
    if grade.diagnosis:
        lines += ["", grade.diagnosis]
    return "\n".join([*lines, "", f"  {grade.points:>3} of {sum(POINTS.values()):>3}"])


def as_json(grade):
    return {"exercise": grade.exercise, "api": grade.api, "seed": grade.seed, "points": grade.points,
            "of": sum(POINTS.values()), "criteria": [{"criterion": v.criterion, "points": v.points, "of": v.of, "words": v.words} for v in grade.verdicts],
            "diagnosis": grade.diagnosis}


def as_junit(grade):
    suite = xml.Element("testsuite", name=f"{grade.exercise} {grade.api}", tests=str(len(grade.verdicts)),
                        failures=str(sum(v.points < v.of for v in grade.verdicts)))
    for verdict in grade.verdicts:
        case = xml.SubElement(suite, "testcase", classname=grade.exercise, name=verdict.criterion)
        if verdict.points < verdict.of:
            xml.SubElement(case, "failure", message=f"{verdict.points} of {verdict.of} points").text = verdict.words
    return xml.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def as_gradescope(grade):
    tests = [{"name": v.criterion, "score": v.points, "max_score": v.of, "output": v.words} for v in grade.verdicts]
    return {"output": grade.diagnosis, "tests": tests}


# ---- grade ---------------------------------------------------------------------------------------


def the_file(exercise, api, files):
    """The one file that may be handed in."""
    if not files:
        return exercise.file(api)
    wanted = FILES[api]
    others = [file for file in files if file.name != wanted]
    if others or len(files) > 1:
        raise BadInput(f"{exercise.name} takes one file, {wanted}, and not {' '.join(map(str, others or files))}")
    return files[0]


def grade_one(exercise, options, source, seed):
    with grading.workplace(exercise, options.api, source, options.build, options.device) as place:
        return grading.graded(place, seed)


def grade(exercise, options):
    source = the_file(exercise, options.api, options.files)
    done = grade_one(exercise, options, source, options.seed)
    print(table_of(done))
    for path, text in ((options.json, lambda: json.dumps(as_json(done), indent=2) + "\n"),
                       (options.junit, lambda: as_junit(done)),
                       (options.gradescope, lambda: json.dumps(as_gradescope(done), indent=2) + "\n")):
        if path:
            write_whole(path, text())
    if done.full and not options.files:
        keep(exercise.name, done=options.api)
    return 0 if done.full else 1


def submissions(folder, api):
    """{who: file} of a folder that has a folder or a file for each. Raises BadInput."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: not a folder")
    found = {}
    for each in sorted(folder.iterdir()):
        if each.is_dir():
            found[each.name] = each / FILES[api]
        elif each.suffix == pathlib.Path(FILES[api]).suffix:
            found[each.stem] = each
    if not found:
        raise BadInput(f"{folder}: no submissions: a folder with {FILES[api]} for each, or NAME{pathlib.Path(FILES[api]).suffix}")
    return found


def row_of(exercise, options, who, source):
    """A submission's line; whatever is wrong with it is in the line."""
    try:
        if source.parent != options.all and len(list(source.parent.iterdir())) > 1:
            raise BadInput(f"other files than {source.name} were handed in")
        done = grade_one(exercise, options, source, options.seed)
    except BadInput as error:
        return {"submission": who, "points": 0, "why": str(error)}
    # What a detector says comes before what is wrong because of it.
    order = sorted(done.verdicts, key=lambda v: not (v.criterion == "free of races" and v.found))
    first = next((v for v in order if v.points < v.of), None)
    named = done.diagnosis.splitlines()[0].strip() if done.diagnosis else ""
    why = named or (f"{first.criterion}: {first.words.splitlines()[0] if first.words else ''}" if first else "")
    return {"submission": who, "points": done.points, **{v.criterion: v.points for v in done.verdicts}, "why": why}


def grade_all(exercise, options):
    found = submissions(options.all, options.api)
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as together:
        jobs = [together.submit(row_of, exercise, options, who, source) for who, source in found.items()]
        rows = [job.result() for job in jobs]
    text = io.StringIO()
    writer = csv.DictWriter(text, ["submission", "points", *POINTS, "why"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    if options.csv:
        write_whole(options.csv, text.getvalue())
    print(f"{exercise.name}, {options.api}, seed {options.seed}\n")
    for row in rows:
        print(f"  {row['points']:>3}  {row['submission']:<20} {row['why']}".rstrip())
    return 0 if all(row["points"] == sum(POINTS.values()) for row in rows) else 1


# ---- watch ---------------------------------------------------------------------------------------

QUICK = ("sizes", "launches")


def look(exercise, options):
    """Checks the student's file once, quickly first, and says what to do next. Whether it is done."""
    source = exercise.file(options.api)
    with grading.workplace(exercise, options.api, source, options.build, options.device) as place:
        verdict = grading.compiles(place)
        if verdict.points == 0:
            print(verdict.words)
            return False
        found = []
        for criterion in QUICK:
            verdict, outcomes = grading.results(place, criterion, options.seed)
            found += outcomes
            print(f"  {criterion}: {verdict.words}")
        if any(not each.right for each in found):
            said = grading.diagnosis(place, found)
            print((said + "\n" if said else "") + f"Next: mend that, and save. ./tutorial hint {exercise.name} gives a hint.")
            return False
        print("  all right so far; now all criteria ...", flush=True)
        done = grading.graded(place, options.seed)
    print(table_of(done))
    if not done.full:
        return False
    keep(exercise.name, done=options.api)
    following = next_undone()
    print("Done." + (f" Next: ./tutorial watch {following.name}" if following else " That was the last one."))
    return True


def watch(exercise, options):
    source = exercise.file(options.api)
    seen = None
    while True:
        try:
            now = source.stat().st_mtime_ns
        except OSError:
            now = None  # an editor may be writing it anew
        if now is not None and now != seen:
            seen = now
            print(f"\n{exercise.name}: {source.relative_to(ROOT)}", flush=True)
            try:
                if look(exercise, options) or options.once:
                    return 0
            except BadInput as error:
                print(error)
            print(f"Watching {source.relative_to(ROOT)}; Ctrl-C ends this.", flush=True)
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
    parser.add_argument("what", choices=["list", "next", "hint", "watch", "grade"])
    parser.add_argument("exercise", nargs="?", help="such as 03/five-steps")
    parser.add_argument("files", nargs="*", type=given_path, help="in place of the exercise's own file")
    parser.add_argument("--api", choices=list(FILES), default="opencl")
    parser.add_argument("--device", default="", help="as the programs' --device, for OpenCL and CUDA")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=None, help="of the inputs; another one each time where it is not given")
    parser.add_argument("--json", type=given_path, help="write the grade to this file (docs/grading.md)")
    parser.add_argument("--junit", type=given_path, help="write it as JUnit's XML")
    parser.add_argument("--gradescope", type=given_path, help="write it as Gradescope's results.json")
    parser.add_argument("--all", type=given_path, metavar="DIR", help="grade each folder or file in DIR")
    parser.add_argument("--csv", type=given_path, help="with --all: write the table to this file")
    parser.add_argument("--once", action="store_true", help="watch: look once")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = secrets.randbelow(1 << 32)
    return options


def main():
    options = parsed()
    if options.what == "list":
        print(listing())
        return 0
    if options.what == "next":
        following = next_undone()
        print(f"{following.name}: {following.folder.relative_to(ROOT)}/README.md" if following else "All are done.")
        return 0
    if not options.exercise:
        raise BadInput(f"{options.what} needs an exercise: {', '.join(each.name for each in catalogue.exercises())}")
    exercise = catalogue.exercise_of(options.exercise)
    if options.what == "hint":
        print(hint(exercise))
        return 0
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
