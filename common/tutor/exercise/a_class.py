"""The submissions of a class: graded one by one, a row and a report for each."""

import concurrent.futures
import contextlib
import csv
import hashlib
import io
import os
import re

import for_the_instructor
import grading
import handed_in
import reports
import sandbox
from catalogue import BadInput


def no_points(exercise, options, why):
    why = sandbox.printable(str(why))
    return grading.Grade(exercise.name, options.api, options.seed, grading.nothing(exercise, why), status=why)


def graded(exercise, options, path):
    """The grade of a submission, whatever is wrong with it."""
    try:
        return grading.graded(handed_in.submission(exercise, options, [path]), options.seed)
    except grading.NothingToRunOn:
        raise
    except BadInput as why:
        return no_points(exercise, options, why)
    except Exception as error:  # whatever it is, it costs nobody a point, and the others are graded
        why = str(error) if isinstance(error, sandbox.Busy) else f"could not be judged: {type(error).__name__}: {error}"
        return grading.Grade(exercise.name, options.api, options.seed, [], status=sandbox.printable(why))


# ---- rows and reports ----------------------------------------------------------------------------


def write_rows(path, exercise, rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, ["submission", "points", "of", *exercise.points, "why", "seed"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows[who] for who in sorted(rows))
    reports.write_atomically(path, text.getvalue())


def row_of(who, grade):
    """No number stands where it could not be judged."""
    points = grade.points if grade.verdicts else ""
    return {"submission": who, "points": points, "of": grade.of, **{v.criterion: v.points for v in grade.verdicts},
            "why": reports.cell(grade.first if grade.verdicts else grade.status), "seed": grade.seed}


def folder_of(folder, who):
    """For the reports of a student, by a name that a file system takes."""
    name = re.sub(r"[^\w ()-]", "_", who)[:60]  # which two may have
    into = folder / (name if name == who else f"{name}-{hashlib.sha256(who.encode()).hexdigest()[:8]}")
    into.mkdir(parents=True, exist_ok=True)
    return into


def write_for_the_instructor(folder, exercise, options, found):
    """Whose files are alike, and each one's difference to what all began with, beside its reports."""
    texts = {}
    for who, path in found.items():
        with contextlib.suppress(BadInput):
            texts[who] = handed_in.submission(exercise, options, [path])
    twins = for_the_instructor.twins({who: for_the_instructor.own_pieces(submitted) for who, submitted in texts.items()})
    for who, submitted in texts.items():
        lines = [f"{alike} in 100 of what differs from the beginning is as in {other}" for alike, other in twins[who]]
        text = "\n".join([*lines, *map(for_the_instructor.difference, submitted)])
        reports.write_atomically(folder_of(folder, who) / "for-the-instructor.txt", sandbox.printable(text) + "\n")


def grade_all(exercise, options):
    if sandbox.missing() and not options.unsafe:
        raise BadInput(f"submissions cannot be isolated here ({sandbox.missing()}), so each could change the others' points: "
                       "--unsafe grades them all the same")
    found, rows = handed_in.in_folder(options.all, exercise, options.api), {}
    for line in (reports.not_isolated(), f"{exercise.name}, {options.api}, seed {options.seed}"):
        print(*reports.wrapped(line), sep="\n", end="\n" if line else "")

    def done(who, grade):
        rows[who] = row_of(who, grade)
        if options.reports:  # now, so that whatever comes, this is not lost
            folder = folder_of(options.reports, who)
            reports.write_atomically(folder / "report.txt", reports.table_of(grade) + "\n")
            reports.write_atomically(folder / "results.json", reports.as_json(grade))
            write_rows(options.reports / "points.csv", exercise, rows)
        print(f"  {rows[who]['points']:>3}  {who:<20} {rows[who]['why']}".rstrip()[:reports.WIDTH], flush=True)

    together = concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count())
    try:
        jobs = {together.submit(graded, exercise, options, path): who for who, path in found.items()}
        for job in concurrent.futures.as_completed(jobs):
            done(jobs[job], job.result())
    except BaseException:
        together.shutdown(wait=False, cancel_futures=True)
        raise
    if options.reports:
        write_for_the_instructor(options.reports, exercise, options, found)
    return 0 if all(row["points"] == row["of"] for row in rows.values()) else 1
