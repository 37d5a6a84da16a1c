"""plots.py: what it draws, and that --check notices a picture that its results no longer give."""

import json
import os
import unittest
import xml.etree.ElementTree

import repository
from repository import recording, run_entry

FIGURES = "docs/figures"


def trial(kernel, outcome, worst_ms, group_size=256, pixels=1 << 20):
    return {"pixels": pixels, "kernel": kernel, "copies": 1, "loads": 4, "group_size": group_size,
            "groups_per_unit": 1, "outcome": outcome, "worst_ms": worst_ms,
            "gb_s": worst_ms and pixels / worst_ms / 1e6, "reason": ""}


def everything():
    """Results for every picture."""
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
    bins = [{**run_entry("05-launch-tuning/bins/cuda", rates, "uniform"), "experiment": experiment}
            for experiment, rates in (("1024", {"local": 2900.0, "cluster": 700.0}), ("256", {"local": 3000.0}),
                                      ("65536", {"cluster": 710.0}), ("RGB", {"local": 77.0}))]
    return recording(runs, tune=tune, experiments=[launches()], bins=bins)


def launches(api="cuda"):
    """Runs on 10 multiprocessors that count a byte a nanosecond on each, but for those that are not to be shown."""
    def one(gb_s, words, strategy="local", check="match", **more):
        return {"arguments": ["--variant", strategy, *words.split()], "result": repository.result(strategy, gb_s, 1 << 28, check), **more}

    entry = run_entry(f"03-local-atomics/{api}", {}, "uniform")
    entry["run"].update(units=10, runs=[
        one(3.2, "--groups 10 --group-size 32"),
        one(12.8, "--groups 10 --group-size 128 --walk interleaved"),
        one(51.2, "--groups 20 --group-size 256"),
        one(409.6, "--groups 10 --group-size 256 --loads 1", "lane-bins"),
        # As few bytes, of which it counts sixteen in each answer: twice the time. The line is of a byte a load.
        *(one(units * size / 12.5, f"--groups {units} --group-size {size} --loads 1", "lane-bins")
          for units, size in ((10, 32), (20, 32), (10, 64))),
        one(7.0, "--groups 10 --group-size 64 --walk blocked"),
        one(7.0, "--groups 10 --group-size 64", check="mismatch"),
        one(7.0, "--groups 10 --group-size 64", edit={"from": "a", "to": "b"}),
        one(7.0, "--groups 10 --group-size 64", "private"),
        one(7.0, "--groups 10 --group-size 64 --copies 1", "lane-bins"),
        one(7.0, "--groups 70 --group-size 64", "lane-bins"),  # not all of them at once
    ])
    return {**entry, "experiment": "launches"}


class Plots(repository.RepositoryTest):
    def setUp(self):
        super().setUp()
        (self.root / FIGURES).mkdir()
        self.contents = everything()
        self.write_results(self.contents, "h100")
        self.succeed("plots.py")

    def texts(self, name):
        """The words of a picture; fails where it is no XML."""
        tree = xml.etree.ElementTree.parse(self.root / FIGURES / name)
        return [text.text for text in tree.iter("{http://www.w3.org/2000/svg}text")]

    def test_draws_what_there_are_results_for(self):
        self.assertEqual(sorted(os.listdir(self.root / FIGURES)), ["bins.svg", "climb.svg", "contention.svg", "law.svg", "tuning-h100-cuda.svg"])
        for name, words in (("climb.svg", ("02-global-atomics", "subhist", "lane-bins", "5.79", "5.80", "146", "3900")),
                            ("contention.svg", ("CUB", "tuned", "1900", "3990", "read ceiling, 4000 GB/s")),
                            ("law.svg", ("slope one: a byte a load, an answer in 100 ns", "read ceiling, 4000 GB/s")),
                            ("bins.svg", ("256", "1,024", "65,536", "cluster", "2900", "710", "read ceiling, 4000 GB/s")),
                            ("tuning-h100-cuda.svg", ("1 MiB", "local", "replicated × 1", "50", "100", "×", "·", "nothing was measured"))):
            self.assertLessEqual(set(words), set(self.texts(name)))

    def test_bytes_under_way(self):
        law = repository.modules_of(self.root)["law"]
        _, points = law.points(self.contents, "CUDA")
        self.assertEqual([(point.under_way, point.launch, point.gb_s, round(point.answer_ns, 3)) for point in points], [
            (32, "1 group of 32", 3.2, 100.0), (128, "1 group of 128", 12.8, 100.0), (512, "1 group of 32, 16 bytes a load", 25.6, 200.0),
            (512, "2 groups of 256", 51.2, 100.0), (1024, "1 group of 64, 16 bytes a load", 51.2, 200.0),
            (1024, "2 groups of 32, 16 bytes a load", 51.2, 200.0), (4096, "1 group of 256, 16 bytes a load", 409.6, 100.0)])
        tree = xml.etree.ElementTree.parse(self.root / FIGURES / "law.svg")
        marks = [float(mark.get("cx")) for mark in tree.iter("{http://www.w3.org/2000/svg}circle")]
        self.assertTrue(marks and all(70 < x < 770 for x in marks), marks)  # between the axes' ends
        with self.assertRaises(ValueError):
            law.points(self.contents, "OpenCL")

    def test_colours_are_no_number_of_bins(self):
        self.assertNotIn("77.0", self.texts("bins.svg"))

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

    def test_changed_numbers_are_noticed(self):
        runs = self.contents["runs"]
        for name, result, field, value in (
            ("climb.svg", runs[0]["run"]["results"][0], "gb_s", 6.8),
            ("climb.svg", runs[0]["run"], "read_ceiling_gb_s", 4400.0),
            ("contention.svg", runs[-2]["run"]["results"][0], "gb_s", 1800.0),
            ("law.svg", self.contents["experiments"][0]["run"]["runs"][0]["result"], "gb_s", 13.8),
            ("bins.svg", self.contents["bins"][0]["run"]["results"][1], "gb_s", 800.0),
            ("tuning-h100-cuda.svg", self.contents["tune"][0]["run"]["trials"][0], "worst_ms", 0.021),
        ):
            with self.subTest(name=name, field=field):
                before, result[field] = result[field], value
                self.write_results(self.contents, "h100")
                self.fail_with(f"docs/figures/{name}: is not what the results give", "plots.py", "--check")
                result[field] = before
        self.write_results(self.contents, "h100")
        self.succeed("plots.py", "--check")

    def test_a_changed_missing_or_needless_picture_is_noticed(self):
        self.write(f"{FIGURES}/climb.svg", self.read(f"{FIGURES}/climb.svg").replace("146", "147"))
        (self.root / FIGURES / "contention.svg").unlink()
        self.write(f"{FIGURES}/tuning-h100-opencl.svg", "<svg/>")
        for line in ("climb.svg: is not what", "contention.svg: is not what",
                     "tuning-h100-opencl.svg: the results have nothing to draw it from"):
            self.fail_with(line, "plots.py", "--check")
        self.fail_with("tuning-h100-opencl.svg: the results have nothing", "plots.py")


if __name__ == "__main__":
    unittest.main()
