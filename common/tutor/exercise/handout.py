"""A copy of the repository for students: without the solutions, and without the answers.

What an instructor alone should have is left out; everything else is as it was, and the copy's own
tests pass. For an examination the lessons and the chapters' kernels are left out, too.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import catalogue
from catalogue import ROOT, BadInput

MANIFEST = pathlib.Path("common/tutor/exercise/handed-out.json")  # what the skeletons were
NEVER = re.compile(r"^(0[^/]*/exercise/[^/]*/solution/|0[^/]*/broken/|\.ci/|\.github/|docs/(tests/|CMakeLists.txt|results/gallery|course|gallery)"
                   r"|common/tutor/exercise/tests/test_)")
IN_AN_EXAM = re.compile(r"^(CMake|LICENSE|tutorial$|\.git|\.clang|common/|images/|docs/(grading|install)\.md$|0[^/]*/exercise/)")
ANSWER = re.compile(r"^( *)<details><summary>Answers?</summary>\n.*?^\1</details>\n+", re.MULTILINE | re.DOTALL)
HINT = re.compile(r"^<details><summary>Hint.*?^</details>\n*", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)")
EXAM_PAGE = """# Examination

The tasks are in the chapters' `exercise/` folders: a `README.md` each, and the files to edit.

```sh
./tutorial list                          # all of them
./tutorial watch {first:<23} # checks at each save; Ctrl-C ends it
```

The first time takes minutes, most of them compiling. [docs/grading.md](docs/grading.md) says what is checked,
[docs/install.md](docs/install.md) what a machine needs.
"""


def sources():
    """What belongs to the repository, as relative paths. Raises BadInput."""
    done = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True) if catalogue.has_git() else None
    if not done or done.returncode != 0:
        raise BadInput("this is no clone of a repository: nobody knows what belongs to it")
    return [name for name in done.stdout.split("\0") if (ROOT / name).is_file()]


def chosen(chapters):
    """The exercises of these chapters; all of them where none is named. Raises BadInput."""
    found = catalogue.exercises()
    for chapter in chapters:
        if chapter not in (exercise.chapter[:2] for exercise in found):
            raise BadInput(f"there is no chapter '{chapter}' with exercises")
    return [exercise for exercise in found if not chapters or exercise.chapter[:2] in chapters]


def copy(into, exercises, exam):
    folders = tuple(f"{exercise.folder.relative_to(ROOT)}/" for exercise in exercises)
    for name in sources():
        if NEVER.match(name) or (exam and not IN_AN_EXAM.match(name)) or ("/exercise/" in name and name[0] == "0" and
                                                                        not name.startswith(folders)):
            continue
        path = into / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, path)
    lab = into / "docs/site/play_data.py"
    if lab.exists():  # the page's mistakes are the gallery's, which is not there
        subprocess.run([sys.executable, "-B", lab], check=True)
    skeletons = [path for exercise in exercises for api in exercise.files for path in exercise.skeletons(api)]
    (into / MANIFEST).write_text(json.dumps({str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in skeletons}, indent=2) + "\n")
    for page in into.rglob("*.md"):
        text = ANSWER.sub("", page.read_text(encoding="utf-8"))
        page.write_text(without_dead_links(page, HINT.sub("", text) if exam else text), encoding="utf-8")
    if exam:
        (into / "README.md").write_text(EXAM_PAGE.format(first=exercises[0].name), encoding="utf-8")


def without_dead_links(page, text):
    """The words alone where a link leads to what is left out."""
    return LINK.sub(lambda link: link.group(0) if (page.parent / link.group(2)).exists() else link.group(1), text)


def skeleton(path):
    """What this file was when the copy was made; None in what is no such copy."""
    if not (ROOT / MANIFEST).is_file():
        return None
    return json.loads((ROOT / MANIFEST).read_text(encoding="utf-8")).get(str(path.relative_to(ROOT)))


def make(folder, chapters, exam):
    """Makes the copy, all of it or nothing, and says what it is. Raises BadInput."""
    exercises = chosen(chapters)
    if (ROOT / MANIFEST).is_file():
        raise BadInput("this is such a copy already: it has no solutions to leave out")
    if folder.exists():
        raise BadInput(f"{folder}: is there already")
    if ROOT in folder.resolve().parents:
        raise BadInput(f"{folder}: is inside of what is copied")
    try:
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as temporary:
            made = pathlib.Path(temporary, "copy")
            copy(made, exercises, exam)
            made.rename(folder)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written: {error.strerror}") from None
    return (f"{folder}: {len(exercises)} exercises, without solutions and answers"
            f"{', without the lessons and their kernels' if exam else ''}\n"
            "Try it before you give it away: ./tutorial test there")
