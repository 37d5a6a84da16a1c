"""What stands in several files and has to be the same in all of them."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "docs" / "tools"))
from excerpts import function_lines  # noqa: E402

VERSIONS = {"CMakeLists.txt": r"^    VERSION (\S+)$", "CITATION.cff": r"^version: (\S+)$", "CHANGELOG.md": r"^## ([0-9.]+)\b"}
# Chapters include nothing of each other: a kernel that chapter 05 has again.
AGAIN = [
    ("histogram_local", "03-local-atomics/histogram.cuh", "05-launch-tuning/histogram.cuh"),
    ("histogram_local", "03-local-atomics/histogram.cl", "05-launch-tuning/histogram.cl"),
]


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

    def test_kernels_are_the_chapters_own(self):
        for name, original, again in AGAIN:
            with self.subTest(name=name, file=again):
                self.assertEqual(code(again, name), code(original, name))

    def test_a_lesson_includes_no_workshop_and_no_other_chapter(self):
        for file in ROOT.glob("0*/*.[ch]*"):
            includes = re.findall(r'#include "(\d\d-.*)/[^/"]+"', file.read_text(encoding="utf-8"))
            self.assertLessEqual(set(includes), {file.parent.name}, file.name)

    def test_a_workshop_includes_no_other_workshop(self):
        for file in ROOT.glob("05-launch-tuning/workshops/*/**/*.[ch]*"):
            workshop = file.relative_to(ROOT).parts[2]
            included = re.findall(r'#include "05-launch-tuning/workshops/([^/"]+)/', file.read_text(encoding="utf-8"))
            self.assertLessEqual(set(included), {workshop}, file)

    def test_lane_bins_is_launched_as_chapter_04_does_without_options(self):
        host = read("04-per-thread-bins/cuda.cu")
        usual = [re.search(rf'number\("{option}"\)\.value_or\((\d+)\)', host)[1] for option in ("copies", "loads")]
        launched = re.findall(r"histogram_lanes<(\d+)><<<.*>>>\(.*, (\d+)\);", read("05-launch-tuning/workshops/peers/cuda.cu"))
        self.assertEqual(launched, [tuple(usual)])

    def test_a_test_has_as_long_however_ctest_is_called(self):
        [seconds] = set(re.findall(r'"timeout": (\d+)', read("CMakePresets.json")))
        self.assertIn(f"set(DART_TESTING_TIMEOUT {seconds})", read("common/cmake/Testing.cmake"))


if __name__ == "__main__":
    unittest.main()
