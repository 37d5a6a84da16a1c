"""plots.py: --check notices a figure that its results no longer give.

What it draws stands in docs/figures, which is compared with what the real results give.
"""

import json
import unittest
from unittest import mock

import repository

try:  # all of it, before the programs of each repository ask for it: it is there once
    import matplotlib.backends.backend_svg
    import matplotlib.pyplot
except ImportError:
    matplotlib = None

FIGURES = "docs/figures"
CHANGED = "climb.svg: is not what the results give"


@unittest.skipUnless(matplotlib, "no matplotlib (package python3-matplotlib)")
class Plots(repository.RepositoryTest):
    """The recorded results of one device, and their figures."""

    def setUp(self):
        super().setUp()
        (self.root / FIGURES).mkdir()
        self.contents = json.loads((repository.ROOT / "docs/results/h100.json").read_text(encoding="utf-8"))
        self.contents.update(experiments=[], bins=[])
        self.write_results(self.contents, "h100")
        self.succeed("plots.py")

    def drawn_by(self, program):
        """As if that were the Matplotlib here."""
        return mock.patch.object(repository.modules_of(self.root)["plots"], "DRAWN_BY", program)

    def test_a_changed_missing_or_needless_figure_is_noticed(self):
        before = self.read(f"{FIGURES}/climb.svg")
        self.succeed("plots.py")
        self.assertEqual(self.read(f"{FIGURES}/climb.svg"), before)  # each run gives the same file
        entry = next(each for each in self.contents["runs"] if (each["program"], each["input"]) == ("03-local-atomics/cuda", "photo"))
        entry["run"]["results"][0]["gb_s"] += 1
        self.write(f"{FIGURES}/bins.svg", before)
        self.write_results(self.contents, "h100")
        (self.root / FIGURES / "contention.svg").unlink()
        done = self.run_program("plots.py", "--check")
        self.assertEqual(done.returncode, 1)
        for line in (CHANGED, "contention.svg: is not what", "bins.svg: the results have nothing to draw it from"):
            self.assertIn(line, done.stderr)
        with self.drawn_by(None):
            self.assertEqual(self.run_program("plots.py", "--check").stderr, done.stderr)

    def test_without_the_matplotlib_that_drew_it_the_sum_tells(self):
        """Of what a figure shows, and of the drawing."""
        right = self.read(f"{FIGURES}/climb.svg")
        for program in (None, "Another Matplotlib"):
            with self.drawn_by(program):
                self.succeed("plots.py", "--check")
                for old, new in (("<desc>Each", "<desc>Not each"), ("#c04e00", "#0072b2"), (">181<", ">182<"),
                                 ("<!-- Matplotlib", "<!-- Some Matplotlib"), ("<!-- ", ""), (right, "")):
                    self.write(f"{FIGURES}/climb.svg", right.replace(old, new))
                    self.fail_with(CHANGED, "plots.py", "--check")
                self.write(f"{FIGURES}/climb.svg", right)

    def test_with_it_the_drawing_itself_is_compared(self):
        """A program that draws otherwise than before."""
        with mock.patch.dict(repository.modules_of(self.root)["plots"].STYLE, {"lines.linewidth": 2}):
            self.fail_with(CHANGED, "plots.py", "--check")
            with self.drawn_by("Another Matplotlib"):
                self.succeed("plots.py", "--check")


if __name__ == "__main__":
    unittest.main()
