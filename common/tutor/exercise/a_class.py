"""The submissions of a class: read as learning systems deliver them, graded one by one, a row and a report for each."""

import concurrent.futures
import csv
import hashlib
import io
import os
import pathlib
import re
import sys
import zipfile
import zlib

import grading
import reports
import sandbox
import submitted_file
from catalogue import BadInput

JUNK = re.compile(r"(^|/)(\.[^/]*|__MACOSX|Thumbs\.db|desktop\.ini)(/|$)", re.IGNORECASE)
MANY, LARGE, LARGEST_ZIP = 200, submitted_file.LARGEST_FILE, 4 << 20  # files in a submission; bytes of a file, and of a zip
BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError)


def cell(text):
    """A cell of a spreadsheet, or a name in a line: no formula, and nothing that is not read."""
    text = sandbox.printable(str(text)).replace("\n", " ").replace("\t", " ")
    text = text[:500]
    return f"'{text}" if text.lstrip().startswith(("=", "+", "-", "@")) else text


# ---- what was handed in --------------------------------------------------------------------------


def most_of(name):
    return LARGEST_ZIP if name.casefold().endswith(".zip") else LARGE + 1


def unpacked(name, data, left):
    """(name, bytes) of a file, or of all that is in it where it is a zip. Raises BadInput."""
    if not data.startswith(b"PK\3\4"):
        yield name, data
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            for info in packed.infolist():
                if not next(left, None):
                    raise BadInput(f"{name}: more than {MANY} files")
                if not info.is_dir() and not JUNK.search(info.filename):
                    with packed.open(info) as file:
                        yield from unpacked(f"{name}/{info.filename}", file.read(most_of(info.filename)), left)
    except BROKEN_ZIP as error:
        raise BadInput(f"{name}: cannot be unpacked: {error}") from None


def members(path, left=None):
    """(name, bytes) of all files in a file, a zip or a folder, zips in zips among them. Raises BadInput."""
    left = left or iter(range(MANY, 0, -1))
    if path.is_symlink() or not (path.is_dir() or path.is_file()):
        raise BadInput(f"{path}: a link, or no file")
    if path.is_file():
        with open(path, "rb") as file:
            yield from unpacked(path.name, file.read(most_of(path.name)), left)
        return
    for each in sorted(path.iterdir()):
        if not next(left, None):
            raise BadInput(f"{path.name}: more than {MANY} files")
        if not JUNK.search(each.name):
            yield from ((f"{path.name}/{name}", data) for name, data in members(each, left))


def texts_of(exercise, api, files):
    """{name: text} of what the exercise asks for, wherever it lies and whatever is beside it. Raises BadInput."""
    found = {}
    for wanted in exercise.files[api]:
        suffix = pathlib.Path(wanted).suffix
        named = [each for each in files if pathlib.Path(each[0]).name.casefold() == wanted]
        if not named and len(exercise.files[api]) == 1:  # such as histogram(1).cl, or ann.cl
            named = [each for each in files if each[0].casefold().endswith(suffix)]
        if len({data for _, data in named}) > 1:
            raise BadInput(f"which of these is {wanted}: {' '.join(name for name, _ in named)}?")
        if not named:
            others = ", ".join(name.partition("/")[2] or name for name, _ in files[:5])
            raise BadInput(f"{wanted} is missing; there is {others or 'nothing'}")
        name, data = named[0]
        if len(data) > LARGE:
            raise BadInput(f"{name}: larger than {LARGE >> 20} MiB")
        found[wanted] = submitted_file.text_of(name, data)
    return found


def handed_in(folder, exercise, api):
    """{who: the file, folder or zip}, and what was passed over. Raises BadInput."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: not a folder")
    if all((folder / name).is_file() for name in exercise.files[api]):
        raise BadInput(f"{folder}: is one submission, and no folder of them")
    paths = sorted(folder.iterdir())
    there = [path for path in paths if not JUNK.search(path.name)]
    stems = [path.name if path.is_dir() else path.stem for path in there]
    if not there:
        raise BadInput(f"{folder}: no submissions: a folder, a file or a zip for each student")
    # A name without its ending, where that tells one from the other.
    return ({cell(stem if stems.count(stem) == 1 else path.name): path for stem, path in zip(stems, there)},
            [path.name for path in paths if path not in there])


def words_of(name):
    return " ".join(re.findall(r"\w+", name.casefold().replace("_", " ")))


def on_roster(path, names):
    """Who of a roster, a text or a CSV with the names first, handed nothing in; and what belongs to nobody on it."""
    try:
        lines = [cell(row[0]) for row in csv.reader(submitted_file.text_of(path).splitlines()) if row and row[0].strip()]
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
    theirs = {line: [name for name in names if f" {words_of(line)} " in f" {words_of(name)} "] for line in lines}
    return [line for line in lines if not theirs[line]], [name for name in names if not any(name in each for each in theirs.values())]


# ---- rows and reports ----------------------------------------------------------------------------


def columns(exercise):
    return ["submission", "points", "of", *exercise.points, "why", "seed", "files"]


def digest(texts):
    return hashlib.sha256(repr(sorted(texts.items())).encode()).hexdigest()[:16]


def read_rows(path):
    """{who: row} of a CSV that was written before. Raises BadInput."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return {row["submission"]: row for row in csv.DictReader(file) if None not in row.values() and row.get("submission")}
    except (OSError, UnicodeDecodeError, csv.Error, KeyError) as error:
        raise BadInput(f"{path}: cannot be read as a CSV of grades: {error}") from None


def row_of(exercise, who, grade, files=""):
    row = {"submission": who, "points": grade.points, "of": grade.of, **{v.criterion: v.points for v in grade.verdicts},
           "why": cell(grade.first), "seed": grade.seed, "files": files}
    return {name: str(row.get(name, "")) for name in columns(exercise)}


def graded(exercise, options, path):
    """The grade of a submission, whatever is wrong with it, and which files it is for."""
    files = ""
    try:
        texts = texts_of(exercise, options.api, list(members(path)))
        files = digest(texts)
        return grading.graded(submitted_file.submitted(exercise, options.api, texts, options.build, options.device), options.seed), files
    except grading.NothingToRunOn:
        raise
    except Exception as error:  # whatever it is, the others are graded
        why = sandbox.printable(str(error) if isinstance(error, BadInput) else f"the grader failed: {type(error).__name__}: {error}")
        return grading.Grade(exercise.name, options.api, options.seed, grading.nothing(exercise, why), status=why), files


def unchanged(exercise, options, row, path):
    """Whether this row is still what would come out."""
    try:
        return row["seed"] == str(options.seed) and row["files"] == digest(texts_of(exercise, options.api, list(members(path))))
    except BadInput:
        return False


def write_reports(folder, who, grade):
    """All forms of a grade, in a folder for each student."""
    name = re.sub(r"[^\w .()-]", "_", who)  # which two may have
    into = folder / (name if name == who else f"{name}-{hashlib.sha256(who.encode()).hexdigest()[:8]}")
    into.mkdir(parents=True, exist_ok=True)
    for name, form in reports.IN_A_FOLDER.items():
        reports.write_whole(into / name, form(grade))


def compared(old, rows):
    """What has changed since another grading, in lines."""
    lines = [f"  {row['submission']}: {old[who]['points']} -> {row['points']}" for who, row in rows.items()
             if who in old and old[who]["points"] != row["points"]]
    lines += [f"  {who}: in one of the two alone" for who in sorted(set(old) ^ set(rows))]
    same = sum(who in old and old[who]["points"] == row["points"] for who, row in rows.items())
    return "\n".join([f"Compared with the other grading: {same} the same, {len(lines)} not", *lines])


def grade_all(exercise, options):
    if sandbox.missing() and not options.unsafe:
        raise BadInput(f"submissions cannot be isolated here ({sandbox.missing()}), so each could change the others' points: "
                       "--unsafe grades them all the same")
    found, passed_over = handed_in(options.all, exercise, options.api)
    absent, unknown = on_roster(options.roster, list(found)) if options.roster else ([], [])
    old = read_rows(options.compare) if options.compare else {}
    for name in options.only:
        if name not in found:
            raise BadInput(f"--only {name}: there is no such submission")
    before = read_rows(options.csv) if (options.resume or options.only) and options.csv.exists() else {}
    kept = {who: row for who, row in before.items() if (who not in options.only if options.only else
            options.resume and who in found and unchanged(exercise, options, row, found[who]))}
    todo = {who: path for who, path in found.items() if who not in kept and (not options.only or who in options.only)}
    nobody = grading.Grade(exercise.name, options.api, options.seed, grading.nothing(exercise, "nothing was handed in"), status="absent")
    rows = {**kept, **{who: row_of(exercise, who, nobody) for who in absent}}
    for line in (reports.not_isolated(), f"{exercise.name}, {options.api}, seed {options.seed}",
                 f"passed over: {cell(' '.join(passed_over))}" if passed_over else "", f"kept from before: {len(kept)}" if kept else ""):
        print(*reports.wrapped(line), sep="\n", end="\n" if line else "")
    with open(options.csv or os.devnull, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns(exercise), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows.values())
        file.flush()

        def done(who, grade, files=""):
            rows[who] = row_of(exercise, who, grade, files)
            writer.writerow(rows[who])  # now, so that whatever comes, this is not lost
            file.flush()
            if options.reports:
                write_reports(options.reports, who, grade)
            print(f"  {grade.points:>3}  {who:<20} {rows[who]['why']}".rstrip()[:reports.WIDTH], flush=True)

        for who in absent:
            if options.reports:
                write_reports(options.reports, who, nobody)
            print(f"    0  {who:<20} nothing was handed in"[:reports.WIDTH])
        together = concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs or os.cpu_count())
        try:
            jobs = {together.submit(graded, exercise, options, path): who for who, path in todo.items()}
            for job in concurrent.futures.as_completed(jobs):
                done(jobs[job], *job.result())
        except BaseException:
            together.shutdown(wait=False, cancel_futures=True)
            raise
    ordered = {who: rows[who] for who in sorted(rows)}
    if options.csv:
        text = io.StringIO()
        writer = csv.DictWriter(text, columns(exercise), lineterminator="\n")
        writer.writeheader()
        writer.writerows(ordered.values())
        reports.write_whole(options.csv, text.getvalue())
    for name in unknown:
        print(f"not on the roster: {name}", file=sys.stderr)
    if old:
        print(compared(old, ordered))
    return 0 if all(row["points"] == row["of"] for row in rows.values()) else 1
