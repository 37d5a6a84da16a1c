"""The exercises: which there are, and what stands in their folders."""

import json
import pathlib
import re
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[3]
DETECTORS = json.loads((ROOT / "common/tutor/detectors.json").read_text(encoding="utf-8"))
FILES = {"opencl": ["histogram.cl"], "cuda": ["histogram.cu"]}
POINTS = {"compiles": 5, "sizes": 25, "distributions": 25, "launches": 25, "free of faults": 20}
PART = re.compile(r"(.*// ---- your part: .*\n)((?:.*\n)*?)(.*// ---- end of your part ----)")


class BadInput(Exception):
    """The arguments make no sense: why, in one line; and lines that may stand below it."""


class Exercise:
    """One folder: exercise.json, the files to edit, solution.txt, README.md."""

    def __init__(self, folder):
        self.folder = folder
        self.name = f"{folder.parent.parent.name[:2]}/{folder.name}"
        self.chapter = folder.parent.parent.name
        self.data = json.loads((folder / "exercise.json").read_text(encoding="utf-8"))
        self.title, self.minutes = self.data["title"], self.data["minutes"]
        self.kind = self.data.get("kind", "kernels")  # or "host" or "c++"
        self.files = self.data.get("files", FILES)  # {API: the names of what the student edits}
        self.points = self.data.get("points", POINTS)  # {criterion: points}

    def api(self, asked):
        """The API to work in; the first where none is asked for. Raises BadInput."""
        if asked and asked not in self.files:
            raise BadInput(f"{self.name} is not there for --api {asked}: leave it out")
        return asked or next(iter(self.files))

    def skeletons(self, api):
        """What the student edits."""
        return [self.folder / name for name in self.files[api]]

    def parts(self):
        """{name: the student's parts of that file, as they are right}: in solution.txt behind `--- NAME ...`, with `+++` between."""
        _, *found = re.split(r"^--- (.*)\n", (self.folder / "solution.txt").read_text(encoding="utf-8"), flags=re.MULTILINE)
        return {name: text.split("+++\n") for names, text in zip(found[::2], found[1::2]) for name in names.split()}

    def solution(self, api):
        """{name: text} of the files with these parts in them."""
        parts = {name: iter(each) for name, each in self.parts().items()}
        return {path.name: PART.sub(lambda part, of=parts[path.name]: part[1] + next(of) + part[3], path.read_text(encoding="utf-8"))
                for path in self.skeletons(api)}

    def hints(self):
        """The hints of its README, in order: what stands folded under "Hint"."""
        text = (self.folder / "README.md").read_text(encoding="utf-8")
        parts = text.split("<details><summary>Hint")[1:]
        return [part.split("</summary>", 1)[1].split("</details>", 1)[0].strip() for part in parts]


def has_git():
    return shutil.which("git") is not None and (ROOT / ".git").exists()


def exercises():
    """All of them, chapter by chapter, the shortest first."""
    found = [Exercise(path.parent) for path in ROOT.glob("0*/exercise/*/exercise.json")]
    return sorted(found, key=lambda exercise: (exercise.chapter, exercise.minutes, exercise.name))


def exercise_of(name):
    """The exercise of this name, such as 03/five-steps. Raises BadInput."""
    found = {exercise.name: exercise for exercise in exercises()}
    if name in found:
        return found[name]
    alike = [each for each in found if each.split("/")[1] == name.split("/")[-1]]
    raise BadInput(f"there is no exercise '{name}': " + (f"is it {alike[0]}?" if alike else "./tutorial list shows all"))
