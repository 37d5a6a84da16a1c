"""plots.py: --check finds docs/figures as the results give them, and notices one that they no longer give, or that somebody has changed."""

import pathlib
import shutil
import tempfile
import unittest
from unittest import mock

from repository import ROOT, recorded, run_main  # isort: split

import plots  # which that has made to be found


class Plots(unittest.TestCase):
    def test_figures_are_what_the_results_give_and_what_is_wrong_is_noticed(self):
        done = run_main(plots, "--check")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with tempfile.TemporaryDirectory(dir=ROOT / "docs") as folder:
            figures, contents = pathlib.Path(folder, "figures"), recorded.load(ROOT / "docs/results/h100.json")
            shutil.copytree(ROOT / "docs/figures", figures)
            figure = figures / "law.svg"
            right = figure.read_text(encoding="utf-8")
            with mock.patch.object(plots, "FIGURES", figures), mock.patch.object(recorded, "load", return_value=contents):
                law = plots.law_plot(contents)
                self.assertTrue(plots.is_right(law, figure))
                for old, new in (("<desc>GB/s", "<desc>No GB/s"), ("#c04e00", "#0072b2"), ("382 ns", "383 ns"),
                                 ("<!-- Matplotlib", "<!-- Some Matplotlib"), ("<!-- ", ""), (right, "")):
                    figure.write_text(right.replace(old, new), encoding="utf-8")
                    self.assertFalse(plots.is_right(law, figure), old)
                figure.unlink()
                self.assertFalse(plots.is_right(law, figure))
                figure.write_text(right, encoding="utf-8")
                contents["experiments"] = [entry for entry in contents["experiments"] if not entry["experiment"].startswith("profile")]
                next(iter(recorded.select(contents, "experiments", experiment="under-way", api="CUDA")))["run"]["runs"][0]["result"]["gb_s"] += 1
                done = run_main(plots, "--check")
                self.assertEqual(done.returncode, 1)
                for line in ("law.svg: is not what the results give", "roofline.svg: the results have nothing to draw it from"):
                    self.assertIn(line, done.stderr)


if __name__ == "__main__":
    unittest.main()
