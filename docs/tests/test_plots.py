"""plots.py: --check notices a figure that its results no longer give, or that somebody has changed.

What it draws stands in docs/figures, which is compared with what the real results give.
"""

import pathlib
import shutil
import tempfile
import unittest
from unittest import mock

from repository import ROOT, recorded, run_main  # isort: split

import plots  # which that has made to be found


class Plots(unittest.TestCase):
    def test_what_is_wrong_is_noticed(self):
        with tempfile.TemporaryDirectory(dir=ROOT / "docs") as folder:
            figures, contents = pathlib.Path(folder, "figures"), recorded.load(ROOT / "docs/results/h100.json")
            shutil.copytree(ROOT / "docs/figures", figures)
            figure = figures / "climb.svg"
            right = figure.read_text(encoding="utf-8")
            with mock.patch.object(plots, "FIGURES", figures), mock.patch.object(recorded, "load", return_value=contents):
                climb = plots.climb(contents)
                self.assertTrue(plots.is_right(climb, figure))
                for old, new in (("<desc>Each", "<desc>Not each"), ("#c04e00", "#0072b2"), (">181<", ">182<"),
                                 ("<!-- Matplotlib", "<!-- Some Matplotlib"), ("<!-- ", ""), (right, "")):
                    figure.write_text(right.replace(old, new), encoding="utf-8")
                    self.assertFalse(plots.is_right(climb, figure), old)
                figure.unlink()
                self.assertFalse(plots.is_right(climb, figure))
                figure.write_text(right, encoding="utf-8")
                entry, = recorded.select(contents, "runs", program="03-local-atomics/cuda", input="photo")
                entry["run"]["results"][0]["gb_s"] += 1
                contents["experiments"] = []
                done = run_main(plots, "--check")
                self.assertEqual(done.returncode, 1)
                for line in ("climb.svg: is not what the results give", "law.svg: the results have nothing to draw it from"):
                    self.assertIn(line, done.stderr)


if __name__ == "__main__":
    unittest.main()
