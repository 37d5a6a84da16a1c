"""What stands in several files and has to be the same in all of them."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "docs" / "tools"))
from excerpts import function_lines  # noqa: E402

VERSIONS = {"CMakeLists.txt": r"^    VERSION (\S+)$", "CITATION.cff": r"^version: (\S+)$", "CHANGELOG.md": r"^## ([0-9.]+)\b"}
# Chapters include nothing of each other: chapter 05 has a kernel of chapter 03 again.
AGAIN = "03-local-atomics", "05-launch-tuning", "histogram_local"


def read(file):
    return (ROOT / file).read_text(encoding="utf-8")


def code(file, name):
    """A function from its name on, without comments and white space."""
    text = "\n".join(function_lines(read(file), name))
    return re.sub(r"\s", "", re.sub(r"//.*|/\*(?s:.*?)\*/", "", text[text.index(f"{name}(") :]))


class Texts(unittest.TestCase):
    def test_the_version(self):
        found = [re.findall(pattern, read(name), re.MULTILINE)[0] for name, pattern in VERSIONS.items()]
        self.assertEqual(len(set(found)), 1, found)

    def test_a_kernel_that_stands_in_two_chapters_is_the_same(self):
        *chapters, name = AGAIN
        for file in ("histogram.cl", "histogram.cuh"):
            self.assertEqual(*(code(f"{chapter}/{file}", name) for chapter in chapters), file)

    def test_a_lesson_includes_no_workshop_and_no_other_chapter(self):
        for file in ROOT.glob("0*/*.[ch]*"):
            includes = re.findall(r'#include "(\d\d-.*)/[^/"]+"', file.read_text(encoding="utf-8"))
            self.assertLessEqual(set(includes), {file.parent.name}, file.name)

    def test_a_workshop_includes_no_other_workshop(self):
        for file in ROOT.glob("05-launch-tuning/workshops/*/**/*.[ch]*"):
            workshop = file.relative_to(ROOT).parts[2]
            included = re.findall(r'#include "05-launch-tuning/workshops/([^/"]+)/', file.read_text(encoding="utf-8"))
            self.assertLessEqual(set(included), {workshop}, file)


if __name__ == "__main__":
    unittest.main()
