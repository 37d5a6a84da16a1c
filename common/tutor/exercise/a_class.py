"""The submissions of a class: graded one by one, a row and a report for each."""

import collections
import concurrent.futures
import csv
import hashlib
import io
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
    """The grade of a submission, whatever is wrong with it, and its files, where they can be read."""
    submitted = []
    try:
        submitted = handed_in.submission(exercise, options, [path])
        return grading.graded(submitted, options.seed), submitted
    except grading.NothingToRunOn:
        raise
    except BadInput as why:
        return no_points(exercise, options, why), submitted
    except Exception as error:  # whatever it is, it costs nobody a point, and the others are graded
        why = str(error) if isinstance(error, sandbox.Busy) else f"could not be judged: {type(error).__name__}: {error}"
        return grading.Grade(exercise.name, options.api, options.seed, [], status=sandbox.printable(why)), submitted


# ---- rows and reports ----------------------------------------------------------------------------


def write_rows(path, exercise, rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, ["submission", "points", "of", "why", "alike", "stands out", *exercise.points, "seed"], lineterminator="\n")
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


def looked_at(file, seed):
    try:
        return for_the_instructor.words(file, seed)
    except sandbox.Busy as why:
        return str(why)


def write_for_the_instructor(folder, exercise, options, rows, files):
    """A page for the class, and beside the reports of each the difference to what all began with."""
    alike = for_the_instructor.twins({who: for_the_instructor.own_pieces(its) for who, its in files.items()})
    looked = {who: "; ".join(filter(None, (looked_at(file, options.seed) for file in its if rows[who]["points"] == rows[who]["of"])))
              for who, its in files.items()}
    out = for_the_instructor.outstanding(files)
    for who, its in files.items():
        rows[who].update({"alike": reports.cell(", ".join(f"{other} ({percent})" for percent, other in alike[who])),
                          "stands out": reports.cell(out.get(who, ""))})
        lines = [*filter(None, (looked[who], out.get(who))), *(f"{percent} in 100 of what differs from the beginning is as in {other}"
                                                             for percent, other in alike[who])]
        text = "\n".join([*lines, *map(for_the_instructor.difference, its)])
        reports.write_atomically(folder_of(folder, who) / "for-the-instructor.txt", sandbox.printable(text) + "\n")
    reports.write_atomically(folder / "class.txt", page_of(exercise, options, rows, alike, out))
    write_rows(folder / "points.csv", exercise, rows)


def cause_of(who, why):
    """What many may have in common, of a reason: no name, no line and no number."""
    if "runs are right" in why:
        return (re.search(r": (it [^:;]*)", why) or ["", "wrong counts"])[1]
    words = why if why.startswith("could not be judged") else why.split(": ", 1)[-1]
    return re.sub(r",? [\w.]+:\d.*|[:;].*", "", re.sub(rf"^{re.escape(who)}[^:]*: |\w+Sanitizer: ", "", words))


def page_of(exercise, options, rows, alike, out):
    """The class at a glance: how the points lie, the first cause of each that lacks some, who is alike, and who stands out."""
    shares = [100 * row["points"] // max(row["of"], 1) if row["points"] != "" else -1 for row in rows.values()]
    bars = [(f"{ten}{' to ' + str(ten + 9) if ten < 100 else ''}", sum(share // 10 * 10 == ten for share in shares)) for ten in range(100, -1, -10)]
    lines = [f"{exercise.name}, {options.api}, seed {options.seed}: {len(rows)} submissions, {shares.count(100)} with full marks, "
             f"{shares.count(-1)} not judged", "", "Points of 100"]
    lines += [f"  {words:<9} {number:>3}  {'#' * min(number, 60)}".rstrip() for words, number in bars if number]
    causes = collections.Counter(cause_of(who, row["why"]) for who, row in rows.items() if row["why"])
    lines += ["", "Why not all"] + [f"  {number:>3}  {cause}" for cause, number in causes.most_common(10)]
    lines += ["", "Alike, whatever their names, their layout and their comments"]
    left = {who for who, others in alike.items() if others}
    while left:
        group, more = set(), {min(left)}
        while more:
            group |= more
            more = {other for who in more for _, other in alike[who]} - group
        left -= group
        lines += [f"  {max(percent for who in group for percent, _ in alike[who])} in 100: {', '.join(sorted(group))}"]
    lines += ["", "Who stands out"] + [f"  {who}: {why}" for who, why in sorted(out.items())]
    return sandbox.printable("\n".join(lines)) + "\n"


def grade_all(exercise, options):
    if sandbox.missing() and not options.unsafe:
        raise BadInput(f"submissions cannot be isolated here ({sandbox.missing()}), so each could change the others' points: "
                       "--unsafe grades them all the same")
    found, rows, files = handed_in.in_folder(options.all, exercise, options.api), {}, {}
    for line in (reports.not_isolated(), f"{exercise.name}, {options.api}, seed {options.seed}"):
        print(*reports.wrapped(line), sep="\n", end="\n" if line else "")

    def done(who, grade, submitted):
        rows[who] = row_of(who, grade)
        if submitted:
            files[who] = submitted
        if options.reports:  # now, so that whatever comes, this is not lost
            folder = folder_of(options.reports, who)
            reports.write_atomically(folder / "report.txt", reports.table_of(grade) + "\n")
            reports.write_atomically(folder / "results.json", reports.as_json(grade))
            write_rows(options.reports / "points.csv", exercise, rows)
        print(f"  {rows[who]['points']:>3}  {who:<20} {rows[who]['why']}".rstrip()[:reports.WIDTH], flush=True)

    together = concurrent.futures.ThreadPoolExecutor(max_workers=4 * sandbox.PLACES)  # those that wait have no place
    try:
        jobs = {together.submit(graded, exercise, options, path): who for who, path in found.items()}
        for job in concurrent.futures.as_completed(jobs):
            done(jobs[job], *job.result())
    except BaseException:
        together.shutdown(wait=False, cancel_futures=True)
        raise
    if options.reports:
        write_for_the_instructor(options.reports, exercise, options, rows, files)
    return 0 if all(row["points"] == row["of"] for row in rows.values()) else 1
