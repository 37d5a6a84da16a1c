"""What was handed in, as learning systems deliver it: folders, files and zips, whatever is in them."""

import collections
import io
import pathlib
import re
import zipfile

import reports
import submitted_file
from catalogue import BadInput

JUNK = re.compile(r"(^|/)(\._[^/]*|\.DS_Store|\.git|__MACOSX|Thumbs\.db|desktop\.ini)(/|$)", re.IGNORECASE)
HIDDEN = re.compile(r"/\.[^/.]")  # such as an editor's copies: looked at where nothing else is there
MUCH, DEEP = 16 << 20, 50  # bytes that are read of a submission, and folders in folders


def members(path):
    """[(name, bytes)] of all files in a file, a zip or a folder, zips in zips among them. Raises BadInput."""
    found, left = [], MUCH

    def add(name, data):
        nonlocal left
        left -= len(data) + 1000  # many empty ones are much, too
        if left < 0:
            raise BadInput(f"{path.name}: more than {MUCH >> 20} MiB, or {MUCH // 1000} files")
        if name.count("/") > DEEP:
            raise BadInput(f"{path.name}: more than {DEEP} folders deep")
        if data[:4] not in (b"PK\3\4", b"PK\5\6"):  # the second: with nothing in it
            found.append((name, data))
            return
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as packed:
                for info in packed.infolist():
                    if not info.is_dir() and len(info.filename) < 4096 and not JUNK.search(info.filename):
                        with packed.open(info) as file:
                            add(f"{name}/{info.filename}", file.read(MUCH + 1))
        except BadInput:
            raise
        except Exception as error:  # whatever the libraries of the ways to pack raise
            raise BadInput(f"{name}: cannot be unpacked: {error}") from None

    def look(path, name):
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            if "/" in name:  # something beside what is asked for, as it seems
                add(f"{name} (a link, or no file)", b"")
                return
            raise BadInput(f"{path.name}: a link, or no file")
        if name.count("/") > DEEP:
            raise BadInput(f"{name.split('/')[0]}: more than {DEEP} folders deep")
        if path.is_dir():
            for each in sorted(path.iterdir()):
                if not JUNK.search(each.name):
                    look(each, f"{name}/{each.name}")
            return
        with open(path, "rb") as file:
            add(name, file.read(MUCH + 1))

    try:
        look(path, path.name)
    except OSError as error:
        raise BadInput(f"{path.name}: cannot be read: {error.strerror}") from None
    return found


def texts_of(exercise, api, files):
    """{name: text} of what the exercise asks for, wherever it lies and whatever is beside it. Raises BadInput."""
    found = {}
    for wanted in exercise.files[api]:
        suffix, named = pathlib.Path(wanted).suffix, []
        for among in ([each for each in files if not HIDDEN.search(each[0])], files):
            named = named or [each for each in among if pathlib.Path(each[0]).name.casefold() == wanted]
            if not named and len(exercise.files[api]) == 1:  # such as histogram(1).cl, or ann.cl
                named = [each for each in among if each[0].casefold().endswith(suffix)]
        if len({data for _, data in named}) > 1:
            raise BadInput(f"which of these is {wanted}: {' '.join(name for name, _ in named[:5])}{' ...' * (len(named) > 5)}?")
        if not named:
            others = ", ".join(name.partition("/")[2] or name for name, _ in files[:5])
            raise BadInput(f"{wanted} is missing; there is {others or 'nothing'}")
        name, data = named[0]
        found[wanted] = submitted_file.text_of(name, data)
    return found


def in_folder(folder, exercise, api):
    """{who: the file, folder or zip}. Raises BadInput."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: not a folder")
    if all((folder / name).is_file() for name in exercise.files[api]):
        raise BadInput(f"{folder}: is one submission, and no folder of them")
    there = [path for path in sorted(folder.iterdir()) if not JUNK.search(path.name)]
    if not there:
        raise BadInput(f"{folder}: no submissions: a folder, a file or a zip for each student")
    stems, found = [path.name if path.is_dir() else path.stem for path in there], {}
    times = collections.Counter(stems)
    for path, stem in zip(there, stems):
        who = reports.cell(stem if times[stem] == 1 else path.name)  # without its ending, where that tells one from the other
        while who in found:  # names that differ in what is not read
            who += " (another)"
        found[who] = path
    return found


def submission(exercise, options, paths):
    """The files that the exercise asks for, of all that is in these. Raises BadInput."""
    texts = texts_of(exercise, options.api, [each for path in paths for each in members(path)])
    return submitted_file.submitted(exercise, options.api, texts, options.build, options.device)
