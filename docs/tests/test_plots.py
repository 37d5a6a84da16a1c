"""plots.py: --check notices a picture that its results no longer give; and a search of the reader's own.

What it draws stands in docs/figures, which is compared with what the real results give.
"""

import json
import unittest

import repository

FIGURES = "docs/figures"


class Plots(repository.RepositoryTest):
    """The recorded results of one device, and their pictures."""

    def setUp(self):
        super().setUp()
        (self.root / FIGURES).mkdir()
        self.contents = json.loads((repository.ROOT / "docs/results/h100.json").read_text(encoding="utf-8"))
        self.write_results(self.contents, "h100")
        self.succeed("plots.py")

    def test_a_search_of_the_readers_own(self):
        run = {**self.contents["tune"][0]["run"], "date": "2026-01-02T03:04:05Z", "api": "CUDA", "device": "My device"}
        search, out = self.write("mine.json", json.dumps(run)), self.root / "mine.svg"
        self.succeed("plots.py", "--search", search, out)
        self.assertIn("What the search found: CUDA on My device", out.read_text())
        self.assertIn("Recorded 2026-01-02; ", out.read_text())
        out.unlink()
        for text in ("{", json.dumps(self.contents), json.dumps({**run, "trials": []})):
            search.write_text(text)
            self.fail_with(f"plots.py: {search} cannot be drawn: ", "plots.py", "--search", search, out)
            self.assertFalse(out.exists())

    def test_a_changed_missing_or_needless_picture_is_noticed(self):
        self.succeed("plots.py", "--check")
        entry = next(each for each in self.contents["runs"] if (each["program"], each["input"]) == ("03-local-atomics/cuda", "photo"))
        entry["run"]["results"][0]["gb_s"] += 1
        self.contents["tune"] = []
        self.write_results(self.contents, "h100")
        (self.root / FIGURES / "contention.svg").unlink()
        for line in ("climb.svg: is not what the results give", "contention.svg: is not what",
                     "tuning-h100-opencl.svg: the results have nothing to draw it from"):
            self.fail_with(line, "plots.py", "--check")


if __name__ == "__main__":
    unittest.main()
