"""tables.py: the tables it writes, and everything that --check must notice."""

import sys
import unittest

import repository
from repository import recording, result, run_document, run_entry

sys.path.insert(0, str(repository.DOCS))
import recorded  # noqa: E402

MARKER = "<!-- results: docs/results/device.json 02-global-atomics/cuda photo 1M -->"
PAGE = f"""# A lesson

{MARKER}
<!-- end of results -->

The end.
"""
HOST = "host: Some CPU, family 6, model 7, c++ 12"


def page_with(marker):
    return f"<!-- {marker} -->\n<!-- end of results -->\n"


class Tables(repository.RepositoryTest):
    def setUp(self):
        super().setUp()
        self.entry = run_entry("02-global-atomics/cuda", {"global": 4.0, "subhist": 160.0}, size="1M")
        self.write_results(recording([self.entry]))

    def table(self, contents, marker):
        """The lines that stand between a marker and its end."""
        self.write_results(contents)
        self.write("README.md", page_with(marker))
        self.succeed("tables.py")
        self.succeed("tables.py", "--check")
        lines = self.read("README.md").splitlines()
        self.assertEqual((lines[0], lines[-1]), (f"<!-- {marker} -->", "<!-- end of results -->"))
        return lines[1:-1]

    def test_results(self):
        self.write("README.md", PAGE)
        self.succeed("tables.py")
        self.assertEqual(self.read("README.md"), f"""# A lesson

{MARKER}
**CUDA on Some device: picture.bmp, 1 MiB**

| Strategy | Time, ms | GB/s | % of the read ceiling | Times faster than `serial` | End to end, ms | Check |
|---|--:|--:|--:|--:|--:|---|
| `global` | 0.262 | 4.00 | 0.100 | 2.00 | 0.524 | match |
| `subhist` | 0.007 | 160 | 4.00 | 80.0 | 0.013 | match |

Medians, recorded 2026-01-02. CUDA driver; Some GPU, 1.0; {HOST}; read ceiling 4000 GB/s; `serial` on the host took 500 ms.
<!-- end of results -->

The end.
""")

    def test_numbers_have_three_digits(self):
        rates = {"a": 1234.5, "b": 99.96, "c": 9.994, "d": 0.0123}
        marker = "results: docs/results/device.json 02-global-atomics/cuda photo 1M"
        entry = run_entry("02-global-atomics/cuda", rates, size="1M")
        lines = self.table(recording([entry]), marker)
        self.assertEqual([line.split(" | ")[2] for line in lines[4:8]], ["1234", "100", "9.99", "0.012"])

    def test_inputs(self):
        photo = run_entry("05-launch-tuning/cuda", {"vector": 1000.0, "tuned": 3900.0})
        ramp = run_entry("05-launch-tuning/cuda", {"vector": 500.0, "tuned": None}, name="ramp")
        photo["run"]["results"][1]["launch"] = "4 groups of 8"
        others = [run_entry("05-launch-tuning/opencl", {"vector": 1.0, "tuned": 1.0}),
                  run_entry("05-launch-tuning/cuda", {"vector": 1.0, "tuned": 1.0}, size="1M")]
        marker = "inputs: docs/results/device.json 05-launch-tuning/cuda 1G"
        lines = self.table(recording([*others, photo, ramp]), marker)
        self.assertEqual(lines[:6], ["**CUDA on Some device: 1 GiB, GB/s**", "",
                                     "| Input | Read ceiling | `vector` | `tuned` | `tuned`, % of the read ceiling |",
                                     "|---|--:|--:|--:|--:|", "| photo | 4000 | 1000 | 3900 | 97.5 |",
                                     "| ramp | 4000 | 500 | - | - |"])
        self.assertTrue(lines[7].endswith(f"{HOST}. `tuned` was 4 groups of 8."), lines[7])

    def test_chapters(self):
        entries = [self.entry, run_entry("04-per-thread-bins/cuda", {"private": 50.0, "lane-bins": 3900.0}, size="1M"),
                   run_entry("05-launch-tuning/peers", {"cub": 9999.0}, size="1M"),
                   run_entry("04-per-thread-bins/cuda", {"lane-bins": 1.0}, "uniform", "1M")]
        lines = self.table(recording(entries), "chapters: docs/results/device.json photo 1M")
        self.assertEqual(lines[2:6], [
            "| Chapter | API | Fastest strategy | GB/s | % of the read ceiling | Times faster than `serial` |",
            "|---|---|---|--:|--:|--:|",
            "| 02-global-atomics | CUDA | `subhist` | 160 | 4.00 | 80.0 |",
            "| 04-per-thread-bins | CUDA | `lane-bins` | 3900 | 97.5 | 1950 |",
        ])
        self.assertEqual(lines[6], "")

    def test_chapters_without_a_gpu_name_the_processor_once(self):
        entries = [run_entry("01-cpu/cpu", {"serial": 2.0}, size="1M"),
                   run_entry("02-global-atomics/opencl", {"global": 1.0}, size="1M")]
        contents = recording(entries)
        for gpu, devices in (("Some GPU, 1.0", "Some device"), (None, "Some CPU")):
            contents["machine"] = {**contents["machine"], "gpu": gpu}
            lines = self.table(contents, "chapters: docs/results/device.json photo 1M")
            self.assertTrue(lines[0].startswith(f"**The fastest of each chapter on {devices}: "), lines[0])

    def test_peers(self):
        entry = run_entry("05-launch-tuning/peers", {"cub": 2000.0, "tuned": 3000.0}, "contention-40", "1G")
        entry["run"]["results"].append(result("npp", None, 1 << 30, "skipped", "no NPP here"))
        lines = self.table(recording([entry]), "peers: docs/results/device.json 1G")
        self.assertEqual(lines, [
            "**CUDA on Some device: 1 GiB, GB/s**",
            "",
            "| Input | Read ceiling | `cub` | `tuned` | `npp` | `tuned`, % of the read ceiling | `tuned` / CUB "
            "| `tuned` / NPP |",
            "|---|--:|--:|--:|--:|--:|--:|--:|",
            "| contention-40 | 4000 | 2000 | 3000 | - | 75.0 | 1.50 | - |",
            "",
            f"Medians, recorded 2026-01-02. CUDA driver; Some GPU, 1.0; {HOST}. The last two columns: how many times "
            "as fast `tuned` is. Skipped: `npp` (no NPP here).",
        ])

    def test_a_wrong_result_has_a_time_and_no_speed(self):
        entry = run_entry("05-launch-tuning/peers", {"cub": 20.0, "tuned": 40.0})
        entry["run"]["results"][1]["check"] = "mismatch"
        lines = self.table(recording([entry]), "results: docs/results/device.json 05-launch-tuning/peers photo 1G")
        self.assertEqual(lines[4:6], ["| `cub` | 53.7 | 20.0 | 0.500 | 10.0 | 107 | match |",
                                      "| `tuned` | 26.8 | - | - | - | 53.7 | mismatch |"])
        lines = self.table(recording([entry]), "peers: docs/results/device.json 1G")
        self.assertEqual(lines[4], "| photo | 4000 | 20.0 | - | - | - | - |")

    def test_peers_on_a_small_picture_show_times(self):
        entry = run_entry("05-launch-tuning/peers", {"cub": 20.0, "tuned": 40.0}, size="256K")
        lines = self.table(recording([entry]), "peers: docs/results/device.json 256K")
        self.assertEqual(lines[0], "**CUDA on Some device: 256 KiB, µs**")
        self.assertEqual(lines[4], "| photo | 0.066 | 13.1 | 6.55 | 1.00 | 2.00 | - |")

    def test_the_commits_are_named(self):
        entries = [{**run_entry("05-launch-tuning/peers", {"tuned": 1.0}, name), "commit": commit}
                   for name, commit in (("photo", "abc1234"), ("uniform", "def5678"), ("ramp", None))]
        lines = self.table(recording(entries), "peers: docs/results/device.json 1G")
        self.assertIn("recorded 2026-01-02, commit abc1234 and def5678. CUDA driver", lines[-1])

    def test_queued_has_no_read_ceiling(self):
        entry = run_entry("05-launch-tuning/peers", {"cub": 20.0, "tuned": 40.0}, size="256K")
        idle = run_entry("05-launch-tuning/peers", {"cub": 1.0, "tuned": 1.0}, size="256K")
        lines = self.table(recording([idle], queued=[entry]), "queued: docs/results/device.json 256K")
        self.assertEqual(lines[0], "**CUDA on Some device: 256 KiB, µs, all commands queued**")
        self.assertEqual(lines[2], "| Input | `cub` | `tuned` | `tuned` / CUB | `tuned` / NPP |")
        self.assertEqual(lines[4], "| photo | 13.1 | 6.55 | 2.00 | - |")

    def test_loads(self):
        def trial(copies, loads, gb_s, kernel="lane-bins", outcome="measured", pixels=1 << 30, size=1024, groups=1):
            return {"pixels": pixels, "kernel": kernel, "copies": copies, "loads": loads, "outcome": outcome,
                    "gb_s": gb_s, "group_size": size, "groups_per_unit": groups}

        trials = [trial(1, 2, 50.0), trial(32, 1, 100.0), trial(32, 1, 990.0, size=512), trial(32, 2, 200.0),
                  trial(32, 2, 999.0, groups=2), trial(16, 2, 999.0), trial(32, 3, 999.0, outcome="wrong"),
                  trial(32, 2, 999.0, pixels=1 << 20), trial(1, 2, 999.0, kernel="local")]
        run = {"api": "CUDA", "device": "Some device", "driver": "CUDA driver", "trials": trials}
        entry = {"program": "05-launch-tuning/cuda", "date": "2026-01-02", "commit": None, "run": run}
        lines = self.table(recording(tune=[entry]), "loads: docs/results/device.json 1G 1024 1")
        self.assertEqual(lines[:6], ["**`lane-bins` on Some device: 1 GiB, GB/s**", "",
                                     "| API | Copies | 1 load | 2 loads |", "|---|--:|--:|--:|",
                                     "| CUDA | 1 | - | 50.0 |", "| CUDA | 32 | 100 | 200 |"])
        self.assertTrue(lines[7].startswith("In groups of 1024, 1 for each unit; the picture that took longest, "))
        self.write("README.md", page_with("loads: docs/results/device.json 1G 256 1"))
        self.fail_with("in groups of 256, 1 for each unit, is not among its tune", "tables.py")

    def test_launches_are_named(self):
        entry = run_entry("05-launch-tuning/peers", {"cub": 20.0, "tuned": 40.0, "from-cache": 50.0})
        entry["run"]["results"][1]["launch"] = "4 groups of 8"
        entry["run"]["results"][2]["launch"] = "2 groups of 9"
        other = run_entry("05-launch-tuning/peers", {"cub": 20.0, "tuned": 40.0}, name="ramp")
        other["run"]["results"][1]["launch"] = "5 groups of 8"
        again = run_entry("05-launch-tuning/peers", {"cub": 20.0, "tuned": 40.0}, name="uniform")
        again["run"]["results"][1]["launch"] = "4 groups of 8"
        lines = self.table(recording([entry, other, again]), "peers: docs/results/device.json 1G")
        self.assertTrue(lines[-1].endswith("`tuned` is. `tuned` was 4 groups of 8 or 5 groups of 8; "
                                           "`from-cache` was 2 groups of 9."), lines[-1])
        chapter = run_entry("05-launch-tuning/cuda", {"vector": 20.0, "tuned": 40.0})
        chapter["run"]["results"][1]["launch"] = "4 groups of 8"
        lines = self.table(recording([chapter]), "results: docs/results/device.json 05-launch-tuning/cuda photo 1G")
        self.assertTrue(lines[-1].endswith("took 500 ms. `tuned` was 4 groups of 8."), lines[-1])

    def test_small_pictures_have_no_column_from_cache(self):
        entry = run_entry("05-launch-tuning/peers", {"cub": 20.0, "tuned": 40.0, "from-cache": 50.0}, size="256K")
        for result_ in entry["run"]["results"][1:]:
            result_["launch"] = f"{result_['variant']} in groups"
        lines = self.table(recording([entry]), "peers: docs/results/device.json 256K")
        self.assertNotIn("from-cache", "".join(lines))
        self.assertTrue(lines[-1].endswith("`tuned` was tuned in groups."))

    def test_counters(self):
        def kernel(variant, values):
            percent = dict(zip(recorded.COUNTERS.values(), values))
            return {"variant": variant, "kernel": "void f()", "percent": percent}

        run = run_document("05-launch-tuning", "CUDA", [], 1 << 30)
        run["counters"] = [kernel("vector", [20.0, 99.51, 15.2, 30.0]), kernel("tuned", [94.01, 58.3, 57.36, 9.87])]
        entry = {"program": "05-launch-tuning/cuda", "input": "uniform", "size": "1G", "date": "2026-01-02",
                 "commit": "abc", "run": run}
        other = {**entry, "input": "ramp", "run": {**run, "counters": []}}
        lines = self.table(recording(counters=[other, entry]), "counters: docs/results/device.json uniform 1G")
        self.assertEqual(lines[:6], ["**CUDA on Some device: 1 GiB of uniform pixels, busy in %**", "",
                                     "| Chapter | Strategy | Memory | Shared memory | Integer unit | "
                                     "Instructions issued |", "|---|---|--:|--:|--:|--:|",
                                     "| 05-launch-tuning | `vector` | 20.0 | 99.5 | 15.2 | 30.0 |",
                                     "| 05-launch-tuning | `tuned` | 94.0 | 58.3 | 57.4 | 9.87 |"])
        self.assertEqual(lines[7], "Of the memory's bytes in percent of what its clock allows, which reading alone does "
                                   "not reach either; of the others in percent of the clocks in which a multiprocessor "
                                   "was at work. One launch under Nsight Compute, "
                                   f"recorded 2026-01-02, commit abc. CUDA driver; Some GPU, 1.0; {HOST}.")
        self.write("README.md", page_with("counters: docs/results/device.json photo 1G"))
        self.fail_with("photo 1G is not among its counters", "tables.py")

    def test_end_to_end(self):
        document = run_document("05-launch-tuning", "CUDA", [], 1 << 30)
        times = {"median": 20.0, "min": 19.0, "max": 21.0, "runs": 7}
        document["pinned_copy_ms"] = 19.5
        document["end_to_end"] = [{"variant": "pinned", "check": "match", "reason": "", "end_to_end_ms": times,
                                   "gb_s": 53.6870912, "percent_of_pinned_copy": 97.5}]
        document["end_to_end"].append({**document["end_to_end"][0], "variant": "wrong", "check": "mismatch"})
        entry = {**run_entry("05-launch-tuning/cuda", {}), "run": document}
        lines = self.table(recording(end_to_end=[entry]),
                           "end-to-end: docs/results/device.json 05-launch-tuning/cuda photo 1G")
        self.assertEqual(lines[2:6], [
            "| Way | Time, ms | GB/s | % of the speed of the copy alone | Check |",
            "|---|--:|--:|--:|---|",
            "| `pinned` | 20.0 | 53.7 | 97.5 | match |",
            "| `wrong` | 20.0 | - | - | mismatch |",
        ])
        self.assertTrue(lines[-1].endswith(f"{HOST}; the copy from pinned memory alone took 19.5 ms."))

    def test_tuning(self):
        best = {"pixels": 1 << 18, "kernel": "lane-bins", "copies": 8, "loads": 4, "group_size": 256,
                "groups_per_unit": 2, "worst_ms": 0.00512, "gb_s": 51.2}
        run = {**run_document("05-launch-tuning", "CUDA", [], 0), "seconds": 12.5, "best": [best],
               "trials": [{"outcome": "measured"}, {"outcome": "measured"}, {"outcome": "refused"}]}
        entry = {"program": "05-launch-tuning/cuda", "date": "2026-01-02", "commit": None, "run": run}
        lines = self.table(recording(tune=[entry]), "tuning: docs/results/device.json 05-launch-tuning/cuda")
        self.assertEqual(lines[4], "| 256 KiB | `lane-bins` | 8 | 4 | 256 | 2 | 5.12 µs | 51.2 |")
        self.assertTrue(lines[-1].endswith(
            "the search took 12.5 s: of 3 launches 2 measured, 1 refused, 0 wrong, 0 not tried."))

    def test_a_changed_number_is_noticed(self):
        self.write("README.md", PAGE)
        self.succeed("tables.py")
        self.succeed("tables.py", "--check")
        self.entry["run"]["results"][1]["gb_s"] = 161.0
        self.write_results(recording([self.entry]))
        self.fail_with("README.md: a table differs from its results", "tables.py", "--check")

    def test_check_changes_nothing(self):
        self.write("README.md", PAGE)
        self.fail_with("README.md: a table differs", "tables.py", "--check")
        self.assertEqual(self.read("README.md"), PAGE)

    def test_what_is_not_recorded_is_an_error_and_the_page_stays(self):
        for marker, line in (
            ("results: docs/results/device.json 02-global-atomics/cuda photo 1G",
             "02-global-atomics/cuda photo 1G is not among its runs"),
            ("results: docs/results/nosuch.json 02-global-atomics/cuda photo 1M",
             "there is no docs/results/nosuch.json"),
            ("inputs: docs/results/device.json 05-launch-tuning/cuda 1M", "05-launch-tuning/cuda 1M is not among its"),
            ("peers: docs/results/device.json 1M", "05-launch-tuning/peers 1M is not among its runs"),
            ("chapters: docs/results/device.json photo 1G", "no chapter's run on photo 1G is recorded"),
            ("end-to-end: docs/results/device.json 05-launch-tuning/cuda photo 1M", "is not among its end_to_end"),
            ("tuning: docs/results/device.json 05-launch-tuning/cuda", "is not among its tune"),
            ("loads: docs/results/device.json 1M 1024 1", "lane-bins at 1M in groups of 1024, 1 for"),
            ("loads: docs/results/device.json 1M many 1", "'loads' of 1M many 1: invalid literal"),
            ("queued: docs/results/device.json 1M", "05-launch-tuning/peers 1M is not among its queued"),
            ("nosuch: docs/results/device.json 1M", "there is no kind of table 'nosuch'"),
            ("peers: docs/results/device.json 1M photo", "'peers' takes, after the file: size"),
        ):
            with self.subTest(marker=marker):
                self.write("README.md", page_with(marker))
                self.fail_with(line, "tables.py", "--check")
                self.fail_with(line, "tables.py")
                self.assertEqual(self.read("README.md"), page_with(marker))

    def test_a_marker_without_its_end_swallows_nothing(self):
        page = f"{MARKER}\nOne.\n\n{PAGE}"
        self.write("README.md", page)
        self.fail_with("README.md: a table's first comment has no end", "tables.py")
        self.assertIn(f"{MARKER}\nOne.\n", self.read("README.md"))


if __name__ == "__main__":
    unittest.main()
