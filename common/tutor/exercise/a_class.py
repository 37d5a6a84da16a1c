"""The submissions of a class: graded one by one, a row and a report for each."""

import concurrent.futures
import csv
import hashlib
import io
import os
import re
import sys

import grading
import handed_in
import reports
import sandbox
from catalogue import BadInput


def digest(submitted):
    return hashlib.sha256(repr([(file.name, file.text) for file in submitted]).encode()).hexdigest()[:16]


def no_points(exercise, options, why):
    why = sandbox.printable(str(why))
    return grading.Grade(exercise.name, options.api, options.seed, grading.nothing(exercise, why), status=why)


def graded(exercise, options, path):
    """The grade of a submission, whatever is wrong with it, and which files it is for."""
    files = ""
    try:
        submitted = handed_in.submission(exercise, options, [path])
        files = digest(submitted)
        return grading.graded(submitted, options.seed), files
    except grading.NothingToRunOn:
        raise
    except BadInput as why:
        return no_points(exercise, options, why), files
    except Exception as error:  # whatever it is, the others are graded
        return no_points(exercise, options, f"the grader failed: {type(error).__name__}: {error}"), files


# ---- rows and reports ----------------------------------------------------------------------------


def read_rows(path):
    """{who: row} of a CSV that was written before. Raises BadInput."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return {row["submission"]: row for row in csv.DictReader(file) if None not in row.values() and row.get("submission")}
    except (OSError, UnicodeDecodeError, csv.Error, KeyError) as error:
        raise BadInput(f"{path}: cannot be read as a CSV of grades: {error}") from None


def write_rows(path, exercise, rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, ["submission", "points", "of", *exercise.points, "why", "seed", "files"], extrasaction="ignore",
                            lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows[who] for who in sorted(rows))
    reports.write_whole(path, text.getvalue())


def row_of(who, grade, files):
    return {"submission": who, "points": str(grade.points), "of": grade.of, **{v.criterion: v.points for v in grade.verdicts},
            "why": reports.cell(grade.first), "seed": grade.seed, "files": files}


def unchanged(exercise, options, row, path):
    """Whether this row is still what would come out."""
    try:
        return row["seed"] == str(options.seed) and row["files"] == digest(handed_in.submission(exercise, options, [path]))
    except BadInput:
        return False


def rows_to_keep(exercise, options, found):
    """Those of the CSV that are not graded anew."""
    before = read_rows(options.csv) if (options.resume or options.only) and options.csv.exists() else {}
    return {who: row for who, row in before.items()
            if (who not in options.only if options.only else who in found and unchanged(exercise, options, row, found[who]))}


def write_reports(folder, who, grade):
    """All forms of a grade, in a folder for each student."""
    name = re.sub(r"[^\w .()-]", "_", who)  # which two may have
    into = folder / (name if name == who else f"{name}-{hashlib.sha256(who.encode()).hexdigest()[:8]}")
    into.mkdir(parents=True, exist_ok=True)
    for name, form in reports.IN_A_FOLDER.items():
        reports.write_whole(into / name, form(grade))


def compared(old, rows):
    """What has changed since another grading, in lines."""
    both = sorted(set(old) & set(rows))
    lines = [f"  {who}: {old[who]['points']} -> {rows[who]['points']}" for who in both if old[who]["points"] != rows[who]["points"]]
    same = len(both) - len(lines)
    lines += [f"  {who}: in one of the two alone" for who in sorted(set(old) ^ set(rows))]
    return "\n".join([f"Compared with the other grading: {same} the same, {len(lines)} not", *lines])


def grade_all(exercise, options):
    if sandbox.missing() and not options.unsafe:
        raise BadInput(f"submissions cannot be isolated here ({sandbox.missing()}), so each could change the others' points: "
                       "--unsafe grades them all the same")
    found, passed_over = handed_in.in_folder(options.all, exercise, options.api)
    absent, unknown = handed_in.on_roster(options.roster, list(found)) if options.roster else ([], [])
    old = read_rows(options.compare) if options.compare else {}
    for name in options.only:
        if name not in found:
            raise BadInput(f"--only {name}: there is no such submission")
    rows = rows_to_keep(exercise, options, found)
    todo = {who: path for who, path in found.items() if who not in rows}
    for line in (reports.not_isolated(), f"{exercise.name}, {options.api}, seed {options.seed}",
                 f"passed over: {reports.cell(' '.join(passed_over))}" if passed_over else "", f"kept from before: {len(rows)}" if rows else ""):
        print(*reports.wrapped(line), sep="\n", end="\n" if line else "")

    def write():
        if options.csv:
            write_rows(options.csv, exercise, rows)

    def done(who, grade, files=""):
        rows[who] = row_of(who, grade, files)
        write()  # now, so that whatever comes, this is not lost
        if options.reports:
            write_reports(options.reports, who, grade)
        print(f"  {grade.points:>3}  {who:<20} {rows[who]['why']}".rstrip()[:reports.WIDTH], flush=True)

    write()
    for who in absent:
        done(who, no_points(exercise, options, "nothing was handed in"))
    together = concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs or os.cpu_count())
    try:
        jobs = {together.submit(graded, exercise, options, path): who for who, path in todo.items()}
        for job in concurrent.futures.as_completed(jobs):
            done(jobs[job], *job.result())
    except BaseException:
        together.shutdown(wait=False, cancel_futures=True)
        raise
    for name in unknown:
        print(f"not on the roster: {name}", file=sys.stderr)
    if old:
        print(compared(old, rows))
    return 0 if all(row["points"] == str(row["of"]) for row in rows.values()) else 1
