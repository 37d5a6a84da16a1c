"""A copy of the repository for students: without the solutions, and without the answers.

What an instructor alone should have is left out or said to be left out; everything else is as it was, and the copy's own
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
NEVER = re.compile(r"^(0[^/]*/exercise/[^/]*/solution/|0[^/]*/broken/|\.ci/|\.github/|docs/(tests/|CMakeLists.txt|results/gallery)"
                   r"|common/tutor/exercise/tests/test_)")
LEFT_OUT = {"docs/course.md": "Using this in a course", "docs/gallery.md": "The gallery of mistakes"}
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


# Gradescope unpacks the folder as /autograder/source, runs setup.sh once and run_autograder for each submission.
GRADESCOPE = {
    "setup.sh": """#!/usr/bin/env bash
# Installs what the grader needs and builds it, by grading the exercise as it is handed out.
set -euo pipefail
cd -- "$(dirname -- "$0")/tutorials"
apt-get update
apt-get install -y --no-install-recommends ca-certificates python3
./tutorial grade {exercise} || [ $? -eq 1 ]
""",
    "run_autograder": """#!/usr/bin/env bash
# Grades what was handed in. Where there is nothing to run it on, there is no result, and Gradescope says so.
set -uo pipefail
cd -- "$(dirname -- "$(readlink -f -- "$0")")/tutorials" 2> /dev/null || cd /autograder/source/tutorials || exit
mkdir -p /autograder/results
./tutorial grade {exercise} /autograder/submission --gradescope /autograder/results/results.json || [ $? -le 2 ]
""",
}


def sources():
    """What belongs to the repository, as relative paths: what git knows of, or all but what is built."""
    done = None
    if catalogue.has_git():
        done = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True)
    if done and done.returncode == 0:
        names = [name for name in done.stdout.split("\0") if name]
    else:
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()]
        names = [name for name in names if not name.startswith(("build", ".git/")) and "__pycache__" not in name]
    return sorted(name for name in names if (ROOT / name).is_file())


def chosen(chapters):
    """The exercises of these chapters; all of them where none is named. Raises BadInput."""
    found = catalogue.exercises()
    numbers = {exercise.chapter[:2] for exercise in found}
    for chapter in chapters:
        if chapter not in numbers:
            raise BadInput(f"there is no chapter '{chapter}' with exercises: there are {', '.join(sorted(numbers))}")
    return [exercise for exercise in found if not chapters or exercise.chapter[:2] in chapters]


def text_for_students(name, text, exam):
    if name in LEFT_OUT:
        return f"# {LEFT_OUT[name]}\n\nThis page is for instructors, and not part of this copy.\n"
    if name.endswith("README.md") and "/exercise/" not in name:
        return ANSWER.sub("", text)
    if exam and "/exercise/" in name and name.endswith("README.md"):
        return HINT.sub("", text)
    return text


def copy(into, exercises, exam):
    folders = tuple(f"{exercise.folder.relative_to(ROOT)}/" for exercise in exercises)
    for name in sources():
        if NEVER.match(name) or (exam and not IN_AN_EXAM.match(name)) or ("/exercise/" in name and name[0] == "0" and
                                                                        not name.startswith(folders)):
            continue
        path = into / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, path)
        if name.endswith(".md"):
            path.write_text(text_for_students(name, path.read_text(encoding="utf-8"), exam), encoding="utf-8")
    lab = into / "docs/site/play_data.py"
    if lab.exists():  # the page's mistakes are the gallery's, which is not there
        subprocess.run([sys.executable, "-B", lab], check=True)
    skeletons = [path for exercise in exercises for api in exercise.files for path in exercise.skeletons(api)]
    (into / MANIFEST).write_text(json.dumps({str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in skeletons}, indent=2) + "\n")
    for page in into.rglob("*.md"):
        page.write_text(without_dead_links(page), encoding="utf-8")
    if exam:
        (into / "README.md").write_text(EXAM_PAGE.format(first=exercises[0].name), encoding="utf-8")


def without_dead_links(page):
    """The page with the words alone where a link leads to what is left out."""
    return LINK.sub(lambda link: link.group(0) if (page.parent / link.group(2)).exists() else link.group(1),
                    page.read_text(encoding="utf-8"))


def skeleton(path):
    """What this file was when the copy was made; None in what is no such copy."""
    if not (ROOT / MANIFEST).is_file():
        return None
    return json.loads((ROOT / MANIFEST).read_text(encoding="utf-8")).get(str(path.relative_to(ROOT)))


def add_autograder(made, name):
    """What starts the grader there, beside the copy."""
    made.rename(made.with_name("tutorials"))
    made.mkdir()
    made.with_name("tutorials").rename(made / "tutorials")
    for file, text in GRADESCOPE.items():
        (made / file).write_text(text.format(exercise=name), encoding="utf-8")
        (made / file).chmod(0o755)


def make(folder, chapters, exam, gradescope=None):
    """Makes the copy, all of it or nothing, and says what it is; `gradescope`: an autograder for this exercise. Raises BadInput."""
    exercises = [catalogue.exercise_of(gradescope)] if gradescope else chosen(chapters)
    if (ROOT / MANIFEST).is_file():
        raise BadInput("this is such a copy already: it has no solutions to leave out")
    if folder.exists():
        raise BadInput(f"{folder}: is there already")
    if ROOT in folder.resolve().parents:
        raise BadInput(f"{folder}: is inside of what is copied")
    try:
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as temporary:
            made = pathlib.Path(temporary, "copy")
            copy(made, exercises, exam or gradescope)
            if gradescope:
                add_autograder(made, gradescope)
            made.rename(folder)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written: {error.strerror}") from None
    if gradescope:
        return f"{folder}: an autograder for {gradescope}: zip what is in it, and give that to Gradescope"
    return (f"{folder}: {len(exercises)} exercises, without solutions and answers"
            f"{', without the lessons and their kernels' if exam else ''}\n"
            "Try it before you give it away: ./tutorial test there")
