"""The kernels that chapter 05 has again are those of the chapters before it: chapters include nothing of each other."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "docs" / "tools"))
from excerpts import function_lines  # noqa: E402

PEERS = "05-launch-tuning/peers/cuda.cu"
AGAIN = [
    ("histogram_global", "02-global-atomics/cuda.cu", PEERS),
    ("histogram_lanes", "04-per-thread-bins/cuda.cu", PEERS),
    ("count_four", "04-per-thread-bins/cuda.cu", PEERS),
    ("count_sixteen", "04-per-thread-bins/cuda.cu", PEERS),
    ("histogram_local", "03-local-atomics/cuda.cu", "05-launch-tuning/histogram.cuh"),
    ("histogram_local", "03-local-atomics/histogram.cl", "05-launch-tuning/histogram.cl"),
]


def read(file):
    return (ROOT / file).read_text(encoding="utf-8")


def code(file, name):
    """A function from its name on, without comments and white space."""
    text = "\n".join(function_lines(read(file), name))
    return re.sub(r"\s", "", re.sub(r"//.*|/\*(?s:.*?)\*/", "", text[text.index(f"{name}(") :]))


class Peers(unittest.TestCase):
    def test_kernels_are_the_chapters_own(self):
        for name, original, again in AGAIN:
            with self.subTest(name=name, file=again):
                self.assertEqual(code(again, name), code(original, name))

    def test_lane_bins_is_launched_as_chapter_04_does_without_options(self):
        usual = re.findall(r"options.number\(.*\)\.value_or\((\d+)\)", read("04-per-thread-bins/cuda.cu"))
        launched = re.findall(r"histogram_lanes<(\d+)><<<.*>>>\(.*, (\d+)\);", read(PEERS))
        self.assertEqual(launched, [tuple(usual)])


if __name__ == "__main__":
    unittest.main()
