"""plots.py: --check notices a picture that its results no longer give; and a search of the reader's own.

What it draws stands in docs/figures, which is compared with what the real results give.
"""

import json
import unittest

import repository
from repository import recording, run_entry

FIGURES = "docs/figures"


def trial(kernel, outcome, worst_ms, group_size=256, pixels=1 << 20):
    return {"pixels": pixels, "kernel": kernel, "copies": 1, "loads": 4, "group_size": group_size,
            "groups_per_unit": 1, "outcome": outcome, "worst_ms": worst_ms,
            "gb_s": worst_ms and pixels / worst_ms / 1e6, "reason": ""}


def some():
    """Results for three of the pictures."""
    runs = [
        run_entry("02-global-atomics/cuda", {"global": 5.8, "subhist": 146.0}),
        run_entry("02-global-atomics/opencl", {"global": 5.79}),
        run_entry("04-per-thread-bins/cuda", {"lane-bins": 3900.0}),
    ]
    runs += [run_entry("05-launch-tuning/peers/cuda", {"cub": 2000.0 - percent, "tuned": 3990.0}, f"contention-{percent}")
             for percent in (0, 50, 100)]
    trials = [trial("local", "measured", 0.02), trial("replicated", "measured", 0.01),
              trial("replicated", "refused", None, 512), trial("local", "not tried", None, pixels=1 << 24)]
    run = {"api": "CUDA", "device": "Some device", "driver": "CUDA driver", "seconds": 1.0, "best": [trials[1]],
           "trials": trials}
    tune = [{"program": "05-launch-tuning/tune/cuda", "date": "2026-01-02", "commit": None, "run": run}]
    return recording(runs, tune=tune)


class Plots(repository.RepositoryTest):
    def setUp(self):
        super().setUp()
        (self.root / FIGURES).mkdir()
        self.contents = some()
        self.write_results(self.contents, "h100")
        self.succeed("plots.py")

    def test_a_search_of_the_readers_own(self):
        run = {**self.contents["tune"][0]["run"], "date": "2026-01-02T03:04:05Z", "device": "My device"}
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
        self.write(f"{FIGURES}/climb.svg", self.read(f"{FIGURES}/climb.svg").replace("146", "147"))
        (self.root / FIGURES / "contention.svg").unlink()
        self.write(f"{FIGURES}/tuning-h100-opencl.svg", "<svg/>")
        for line in ("climb.svg: is not what", "contention.svg: is not what",
                     "tuning-h100-opencl.svg: the results have nothing to draw it from"):
            self.fail_with(line, "plots.py", "--check")
        self.fail_with("tuning-h100-opencl.svg: the results have nothing", "plots.py")
        (self.root / FIGURES / "tuning-h100-opencl.svg").unlink()
        self.contents["runs"][0]["run"]["results"][0]["gb_s"] = 6.8
        self.write_results(self.contents, "h100")
        self.fail_with("climb.svg: is not what the results give", "plots.py", "--check")


if __name__ == "__main__":
    unittest.main()
