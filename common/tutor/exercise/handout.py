"""A copy of the repository for students: without the solutions, and without the answers.

What an instructor alone should have is left out; everything else is as it was, and the copy's own tests pass.
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
NEVER = re.compile(r"^(0[^/]*/exercise/[^/]*/solution|0[^/]*/(broken|slow)/|\.ci/|\.github/|docs/(tests/|CMakeLists.txt|course)"
                   r"|common/tutor/exercise/tests/)")
ANSWER = re.compile(r"^( *)<details><summary>Answers?(?:: [^<]*)?</summary>\n.*?^\1</details>\n+", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)")


def sources():
    """What belongs to the repository, as relative paths. Raises BadInput."""
    done = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True) if catalogue.has_git() else None
    if not done or done.returncode != 0:
        raise BadInput("this is no clone of a repository: nobody knows what belongs to it")
    return [name for name in done.stdout.split("\0") if (ROOT / name).is_file()]


def copy(into):
    for name in sources():
        if not NEVER.match(name):
            path = into / name
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, path)
    # The page's mistakes are the gallery's, which is not there.
    subprocess.run([sys.executable, "-B", into / "docs/site/play_data.py"], check=True)
    skeletons = [path for exercise in catalogue.exercises() for api in exercise.files for path in exercise.skeletons(api)]
    (into / MANIFEST).write_text(json.dumps({str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in skeletons}, indent=2) + "\n")
    for page in into.rglob("*.md"):
        text = ANSWER.sub("", page.read_text(encoding="utf-8"))
        # The words alone where a link leads to what is left out.
        page.write_text(LINK.sub(lambda link, at=page.parent: link[0] if (at / link[2]).exists() else link[1], text), encoding="utf-8")


def skeleton(path):
    """What this file was when the copy was made; None in what is no such copy."""
    if not (ROOT / MANIFEST).is_file():
        return None
    return json.loads((ROOT / MANIFEST).read_text(encoding="utf-8")).get(str(path.relative_to(ROOT)))


def make(folder):
    """Makes the copy, all of it or nothing, and says what it is. Raises BadInput."""
    if (ROOT / MANIFEST).is_file():
        raise BadInput("this is such a copy already: it has no solutions to leave out")
    if folder.exists():
        raise BadInput(f"{folder}: is there already")
    if ROOT in folder.resolve().parents:
        raise BadInput(f"{folder}: is inside of what is copied")
    try:
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as temporary:
            made = pathlib.Path(temporary, "copy")
            copy(made)
            made.rename(folder)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written: {error.strerror}") from None
    return f"{folder}: a copy without solutions and answers\nTry it before you give it away: ./tutorial test there"
