"""tables.py: the tables that generate.py writes, and everything that its --check must notice."""

import sys
import unittest

import repository
from repository import recording, result, run_document, run_entry

sys.path.insert(0, str(repository.TOOLS))
import recorded  # noqa: E402
from experiments import EXPERIMENTS, PLAIN, STEPS  # noqa: E402

MARKER = "<!-- results: docs/results/device.json 02-global-atomics/cuda photo 1M -->"
PAGE = f"""# A lesson

{MARKER}
<!-- end -->

The end.

<!-- provenance: docs/results/device.json -->
<!-- end -->
"""
HOST = "Some GPU, 1.0. Host: Some CPU, family 6, model 7. Compiled with c++ 12."
PROVENANCE = "<!-- provenance: docs/results/device.json -->\n<!-- end -->\n"


def page_with(marker):
    return f"<!-- {marker} -->\n<!-- end -->\n{PROVENANCE}"


class Tables(repository.RepositoryTest):
    def setUp(self):
        super().setUp()
        self.entry = run_entry("02-global-atomics/cuda", {"global": 4.0, "subhist": 160.0}, size="1M")
        self.write_results(recording([self.entry]))

    def table(self, contents, marker):
        """The lines that stand between a marker and its end."""
        self.write_results(contents)
        self.write("README.md", page_with(marker))
        self.succeed("generate.py")
        self.succeed("generate.py", "--check")
        lines = self.read("README.md").splitlines()
        self.assertEqual(lines[0], f"<!-- {marker} -->")
        *_, self.provenance, end = lines
        self.assertEqual((lines[-4], end), ("<!-- end -->",) * 2)
        return lines[1:-4]

    def test_results(self):
        self.write("README.md", PAGE)
        self.succeed("generate.py")
        self.assertEqual(self.read("README.md"), f"""# A lesson

{MARKER}
**CUDA on Some device: picture.bmp, 1 MiB**

| Strategy | Time, ms | GB/s | % of the read ceiling | Times faster than `serial` | End to end, ms | Check |
|---|--:|--:|--:|--:|--:|---|
| `global` | 0.262 | 4.00 | 0.100 | 2.00 | 0.524 | match |
| `subhist` | 0.007 | 160 | 4.00 | 80.0 | 0.013 | match |

Medians. Read ceiling: 4000 GB/s. `serial` on the host: 0.524 ms.
<!-- end -->

The end.

<!-- provenance: docs/results/device.json -->
The numbers from `docs/results/device.json` were recorded on 2026-01-02. CUDA: CUDA driver. {HOST}
<!-- end -->
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
                                     "| Input | `vector` | `tuned` | `tuned`, % of the read ceiling |",
                                     "|---|--:|--:|--:|", "| photo | 1000 | 3900 | 97.5 |", "| ramp | 500 | - | - |"])
        self.assertEqual(lines[7], "Medians. Read ceiling: 4000 GB/s. `tuned` was 4 groups of 8.")

    def test_chapters(self):
        entries = [self.entry, run_entry("04-per-thread-bins/cuda", {"private": 50.0, "lane-bins": 3900.0}, size="1M"),
                   run_entry("05-launch-tuning/peers/cuda", {"cub": 9999.0}, size="1M"),
                   run_entry("01-cpu/peers/cpu", {"engel": 9999.0}, size="1M"),
                   run_entry("04-per-thread-bins/cuda", {"lane-bins": 1.0}, "uniform", "1M")]
        lines = self.table(recording(entries), "chapters: docs/results/device.json photo 1M")
        self.assertEqual(lines[2:6], [
            "| Chapter | API | Fastest strategy | GB/s | % of the read ceiling | Times faster than `serial` |",
            "|---|---|---|--:|--:|--:|",
            "| 02-global-atomics | CUDA | `subhist` | 160 | 4.00 | 80.0 |",
            "| 04-per-thread-bins | CUDA | `lane-bins` | 3900 | 97.5 | 1950 |",
        ])
        self.assertEqual(lines[6:], ["", "Medians. Read ceiling: 4000 GB/s."])

    def test_one_baseline_for_a_machine(self):
        def entry(program, serial_ms, ceiling, name="photo", **more):
            made = run_entry(program, {"subhist": 160.0}, name, "1M")
            made["run"].update({"serial_ms": serial_ms, "read_ceiling_gb_s": ceiling}, **more)
            return made

        elsewhere = {**entry("03-local-atomics/cuda", 900.0, 5000.0, device="Other device"),
                     "machine": {"processor": "Other CPU", "gpu": "Other GPU, 1.0"}}
        newer_driver = {**entry("03-local-atomics/opencl", 0.8, 1600.0), "machine": {"gpu": "Some GPU, 2.0"}}
        others = [entry("01-cpu/cpu", 1.2, 9000.0), newer_driver, elsewhere,
                  entry("04-per-thread-bins/cuda", 700.0, 3200.0, "uniform"),  # has the ceiling, but not the input
                  {**entry("05-launch-tuning/cuda", 700.0, 7000.0), "size": "16M"},
                  entry("05-launch-tuning/peers/cuda", 1.0, 8000.0)]  # reads less than the chapters at this size
        contents = recording([entry("02-global-atomics/cuda", 100.0, 2000.0), *others],
                             queued=[entry("05-launch-tuning/peers/cuda", 1.0, 9999.0)])
        lines = self.table(contents, "results: docs/results/device.json 02-global-atomics/cuda photo 1M")
        # Of 100, 1.2, 0.8, 1 and 1 ms the median, over 0.00655; and 160 of 3200 GB/s.
        self.assertEqual(lines[4], "| `subhist` | 0.007 | 160 | 5.00 | 153 | 0.013 | match |")
        self.assertEqual(lines[6], "Medians. Read ceiling: 3200 GB/s. `serial` on the host: 1.00 ms.")

    def test_without_a_gpu_all_programs_read_the_same_memory(self):
        cpu, pocl = (run_entry(program, {"a": 10.0}, size="1M") for program in ("01-cpu/cpu", "02-global-atomics/opencl"))
        cpu["run"]["read_ceiling_gb_s"] = 20.0
        pocl["run"].update(read_ceiling_gb_s=50.0, device="Some CPU, as PoCL calls it")
        contents = recording([cpu, pocl])
        marker = "results: docs/results/device.json 01-cpu/cpu photo 1M"
        self.assertIn("| 50.0 |", self.table(contents, marker)[4])
        contents["machine"] = {**contents["machine"], "gpu": None}
        self.assertIn("| 20.0 |", self.table(contents, marker)[4])
        self.assertIn("Read ceiling: 50.0 GB/s.", self.table(contents, marker)[6])

    def test_chapters_without_a_gpu_name_the_processor_once(self):
        entries = [run_entry("01-cpu/cpu", {"serial": 2.0}, size="1M"),
                   run_entry("02-global-atomics/opencl", {"global": 1.0}, size="1M")]
        contents = recording(entries)
        for gpu, devices in (("Some GPU, 1.0", "Some device"), (None, "Some CPU")):
            contents["machine"] = {**contents["machine"], "gpu": gpu}
            lines = self.table(contents, "chapters: docs/results/device.json photo 1M")
            self.assertTrue(lines[0].startswith(f"**The fastest of each chapter on {devices}: "), lines[0])

    def test_peers(self):
        entry = run_entry("05-launch-tuning/peers/cuda", {"cub": 2000.0, "tuned": 3000.0}, "contention-40", "1G")
        entry["run"]["results"].append(result("npp", None, 1 << 30, "skipped", "no NPP here"))
        lines = self.table(recording([entry]), "peers: docs/results/device.json 1G")
        self.assertEqual(lines, [
            "**CUDA on Some device: 1 GiB, GB/s**",
            "",
            "| Input | `cub` | `tuned` | `npp` | `tuned`, % of the read ceiling | `tuned` / CUB | `tuned` / NPP |",
            "|---|--:|--:|--:|--:|--:|--:|",
            "| contention-40 | 2000 | 3000 | - | 75.0 | 1.50 | - |",
            "",
            "Medians. Read ceiling: 4000 GB/s. The last two columns: how many times as fast `tuned` is. `cub` is CUB, "
            "NVIDIA's library of parallel primitives; `npp` is NPP, the NVIDIA Performance Primitives for images. "
            "Skipped: `npp` (no NPP here).",
        ])

    def test_cpu_peers(self):
        entry = run_entry("01-cpu/peers/cpu", {"simd": 6.0, "threads-simd": 11.0, "zstd": 2.0, "engel": 4.0}, size="1M")
        entry["run"]["results"][3]["launch"] = "vhist256"
        entry["run"]["results"].append(result("numpy", None, 1 << 20, "skipped", "no numpy here"))
        wrong = run_entry("01-cpu/peers/cpu", {"simd": 6.0, "threads-simd": 11.0, "zstd": 2.0, "engel": 4.0}, "ramp", "1M")
        wrong["run"]["results"][3]["check"] = "mismatch"
        alone = run_entry("01-cpu/peers/cpu", {"simd": 6.0}, "uniform", "1M")
        lines = self.table(recording([entry, wrong, alone]), "cpu-peers: docs/results/device.json 1M")
        self.assertEqual(lines, [
            "**C++ on Some device: 1 MiB, GB/s**",
            "",
            "| Input | `simd` | `threads-simd` | `zstd` | `engel` | `numpy` | `simd` / best peer |",
            "|---|--:|--:|--:|--:|--:|--:|",
            "| photo | 6.00 | 11.0 | 2.00 | 4.00 | - | 1.50 |",
            "| ramp | 6.00 | 11.0 | 2.00 | - | - | 3.00 |",
            "| uniform | 6.00 | - | - | - | - | - |",
            "",
            "Medians. `threads-` run on all threads, the others on one. The last column: how many times as fast `simd` is "
            "as the fastest peer of its row. `engel` was vhist256. Skipped: `numpy` (no numpy here).",
        ])

    def test_a_wrong_result_has_a_time_and_no_speed(self):
        entry = run_entry("05-launch-tuning/peers/cuda", {"cub": 20.0, "tuned": 40.0})
        entry["run"]["results"][1]["check"] = "mismatch"
        lines = self.table(recording([entry]), "results: docs/results/device.json 05-launch-tuning/peers/cuda photo 1G")
        self.assertEqual(lines[4:6], ["| `cub` | 53.7 | 20.0 | 0.500 | 10.0 | 107 | match |",
                                      "| `tuned` | 26.8 | - | - | - | 53.7 | mismatch |"])
        lines = self.table(recording([entry]), "peers: docs/results/device.json 1G")
        self.assertEqual(lines[4], "| photo | 20.0 | - | - | - | - |")

    def test_peers_on_a_small_picture_show_times(self):
        entry = run_entry("05-launch-tuning/peers/cuda", {"cub": 20.0, "tuned": 40.0}, size="256K")
        lines = self.table(recording([entry]), "peers: docs/results/device.json 256K")
        self.assertEqual(lines[0], "**CUDA on Some device: 256 KiB, µs**")
        self.assertEqual(lines[4], "| photo | 13.1 | 6.55 | 1.00 | 2.00 | - |")

    def test_provenance_is_that_of_all_tables(self):
        entries = [{**run_entry("05-launch-tuning/peers/cuda", {"tuned": 1.0}, name), "commit": commit, "date": day}
                   for name, commit, day in (("photo", "abc1234", "2026-01-03"), ("uniform", "def5678", "2026-01-02"),
                                             ("ramp", None, "2026-01-02"), ("constant", "abc1234", "2026-01-02"))]
        entries.append(run_entry("02-global-atomics/opencl", {"global": 1.0}))
        entries[0]["machine"] = {"processor": "Other CPU", "nvcc": "release 13.0"}
        entries += [{**run_entry("03-local-atomics/cuda", {"local": 1.0}), "commit": "not-shown"}]
        self.write_results(recording(entries))
        self.write("README.md", page_with("peers: docs/results/device.json 1G") +
                   "<!-- results: docs/results/device.json 02-global-atomics/opencl photo 1G -->\n"
                   "<!-- end -->\n")
        self.succeed("generate.py")
        self.assertIn("\nThe numbers from `docs/results/device.json` were recorded on 2026-01-02 at commit def5678 and "
                      "abc1234, on 2026-01-03 at commit abc1234. CUDA: CUDA driver; OpenCL: OpenCL driver. "
                      "Some GPU, 1.0. Host: Other CPU, family 6, model 7 and Some CPU, family 6, model 7. "
                      "Compiled with c++ 12; nvcc release 13.0.\n", self.read("README.md"))
        self.succeed("generate.py", "--check")

    def test_a_page_says_once_where_its_numbers_are_from(self):
        table = f"{MARKER}\n<!-- end -->\n"
        there_are = "README.md: there are tables of docs/results/device.json, and "
        for page, line in ((table, there_are + "0 comments"), (table + 2 * PROVENANCE, there_are + "2 comments"),
                           (PROVENANCE, "README.md: provenance: docs/results/device.json: no table of the page is of this file"),
                           (table + PROVENANCE.replace("device", "other"), there_are + "0 comments")):
            with self.subTest(page=page):
                self.write("README.md", page)
                self.fail_with(line, "generate.py")
                self.fail_with(line, "generate.py", "--check")

    def test_queued_beside_reading_alone(self):
        entries = [run_entry("05-launch-tuning/peers/cuda", {"cub": 20.0, "tuned": 40.0}, name, size)
                   for name, size in (("photo", "256K"), ("ramp", "256K"), ("photo", "1M"))]
        for entry, ceiling in zip(entries, (48.0, 50.0, 60.0)):
            entry["run"]["read_ceiling_gb_s"] = ceiling
        idle = run_entry("05-launch-tuning/peers/cuda", {"cub": 1.0, "tuned": 1.0}, size="256K")
        idle["run"]["read_ceiling_gb_s"] = 99.0
        contents = recording([idle], queued=entries)
        lines = self.table(contents, "queued: docs/results/device.json 256K")
        self.assertEqual(lines[0], "**CUDA on Some device: 256 KiB, µs, all commands queued**")
        self.assertEqual(lines[2], "| Input | Reading alone | `cub` | `tuned` | `tuned` / reading alone | `tuned` / CUB "
                                   "| `tuned` / NPP |")
        self.assertEqual(lines[4:6], ["| photo | 5.24 | 13.1 | 6.55 | 1.25 | 2.00 | - |",
                                      "| ramp | 5.24 | 13.1 | 6.55 | 1.25 | 2.00 | - |"])
        lines = self.table(contents, "queued: docs/results/device.json photo")
        self.assertEqual(lines[0], "**CUDA on Some device: photo, µs, all commands queued**")
        self.assertEqual(lines[4:6], ["| 256 KiB | 5.24 | 13.1 | 6.55 | 1.25 | 2.00 | - |",
                                      "| 1 MiB | 17.5 | 52.4 | 26.2 | 1.50 | 2.00 | - |"])
        entries[2]["run"]["read_ceiling_gb_s"] = None  # as it was recorded once
        self.assertEqual(self.table(contents, "queued: docs/results/device.json 1M")[4],
                         "| photo | - | 52.4 | 26.2 | - | 2.00 | - |")

    def test_steps(self):
        def entry(program, rates):
            made = run_entry(program, {}, "ramp")
            made["run"]["steps"] = [{"step": name, "result": result(name, gb_s, 1 << 30)} for name, gb_s in rates.items()]
            return made

        first, second, third, *_ = STEPS
        contents = recording(steps=[entry("05-launch-tuning/cuda", {first.name: 187.0, second.name: 674.0}),
                                    entry("05-launch-tuning/opencl", {first.name: 188.0, third.name: 1000.0})])
        lines = self.table(contents, "steps: docs/results/device.json ramp 1G")
        self.assertEqual(lines[:7], ["**One thing at a time on Some device: 1 GiB of ramp pixels, GB/s**", "",
                                     "| Step | What is new | OpenCL | CUDA |", "|---|---|--:|--:|",
                                     f"| {first.name} | {first.what} | 188 | 187 |",
                                     f"| {second.name} | {second.what} | - | 674 |",
                                     f"| {third.name} (edited) | {third.what} | 1000 | - |"])
        self.assertEqual(len(lines), 4 + len(STEPS) + 2)
        self.assertTrue(lines[-1].startswith("Medians. Read ceiling: 4000 GB/s. "))

    def experiment(self, program, name, *runs, given="photo", units=0):
        """An entry of an experiment: each run is a strategy, its arguments, its time and its edit."""
        made = {**run_entry(program, {}, given, "1M"), "experiment": name}
        made["run"]["units"] = units
        made["run"]["runs"] = [
            {"arguments": ["--variant", strategy, *arguments.split()], "edit": edit,
             "result": {**result(strategy, gb_s, 1 << 20), "kernel_ms": gb_s and {"median": 10 * gb_s}}}
            for strategy, arguments, gb_s, edit in runs]
        return made

    def test_an_experiment_in_milliseconds(self):
        def walk(groups, walk):
            return f"--groups {groups} --group-size 256 --walk {walk}"

        edit = {"from": PLAIN.old, "to": PLAIN.new}
        lost = self.experiment("02-global-atomics/opencl", "walls", ("racy", walk(2, "interleaved"), 8.0, None),
                               ("global", walk(1, "interleaved"), 1.1, None), ("global", walk(1, "blocked"), None, None))
        lost["run"]["runs"][0]["result"].update(check="mismatch", gb_s=None)
        contents = recording(experiments=[
            lost, self.experiment("03-local-atomics/opencl", "walls", ("local", walk(1, "interleaved"), 1.5, None),
                                  ("local", walk(1, "interleaved"), 1.6, edit), ("local", walk(3, "blocked"), 1.7, None)),
            self.experiment("02-global-atomics/opencl", "strides", ("racy", walk(1, "blocked"), 9.9, None))])
        lines = self.table(contents, "experiment: docs/results/device.json walls OpenCL photo 1M")
        self.assertEqual(lines, [
            "**OpenCL on Some device: 1 MiB, photo, ms**", "",
            "| Launch, walk | a table for each group, `++` | a table for each group, atomic (`local`) | "
            "one table, `++` (`racy`) | one table, atomic (`global`) |", "|---|--:|--:|--:|--:|",
            "| 1 group, interleaved | 16.0 | 15.0 | - | 11.0 |",
            "| 1 group, blocked | - | - | - | - |",
            "| 2 groups, interleaved | - | - | 80.0 | - |",
            "| 2 groups, blocked | - | - | - | - |", "",
            "Medians. `racy` may lose counts where there are two groups; its time is a time all the same."])

    def test_an_experiment_of_a_counter(self):
        counter = EXPERIMENTS["hits"].counter
        entry = self.experiment("03-local-atomics/cuda", "hits", units=7)
        for walk, percent in (("interleaved", 0.0), ("blocked", 96.22)):
            arguments = f"--variant local --groups 14 --group-size 256 --walk {walk}".split()
            entry["run"]["runs"].append({"arguments": arguments, "kernel": "histogram_local", "percent": {counter: percent}})
        lines = self.table(recording(experiments=[entry]), "experiment: docs/results/device.json hits CUDA photo 1M")
        self.assertEqual(lines[0], "**CUDA on Some device: 1 MiB, photo, % of the loads found in the L1 cache**")
        self.assertEqual(lines[4:6], ["| `local`, 2 groups of 256 for each unit | 0 | 96.2 |",
                                      "| `local`, 8 groups of 256 for each unit | - | - |"])
        self.assertIn("l1tex", lines[-1])

    def test_an_experiment_whose_columns_are_inputs(self):
        def lanes(given, gb_s):
            arguments = "--groups 14 --group-size 256 --copies 32 --loads 0"
            return self.experiment("04-per-thread-bins/cuda", "lanes", ("lane-bins", arguments, gb_s, None),
                                   given=given, units=7)

        # What counts wrongly on purpose has no rate: it is that of its time.
        wrong = lanes("ramp", 0.5)
        wrong["run"]["runs"][0]["result"].update(check="mismatch", gb_s=None)
        contents = recording(experiments=[lanes("uniform", 2.0), wrong, lanes("photo", 4.0)])
        lines = self.table(contents, "experiment: docs/results/device.json lanes CUDA ramp,uniform 1M")
        self.assertEqual(lines[:4], ["**CUDA on Some device: 1 MiB, GB/s**", "", "| Launch | ramp | uniform |", "|---|--:|--:|"])
        self.assertEqual(lines[5], "| 32 copies of the table | 0.210 | 2.00 |")
        self.assertEqual([line[-9:] for line in lines[6:13]], ["| - | - |"] * 7)
        self.assertEqual(lines[-1], "Medians.")

    def test_launches_are_named(self):
        entry = run_entry("05-launch-tuning/peers/cuda", {"cub": 20.0, "tuned": 40.0})
        entry["run"]["results"][1]["launch"] = "4 groups of 8"
        other = run_entry("05-launch-tuning/peers/cuda", {"cub": 20.0, "tuned": 40.0}, name="ramp")
        other["run"]["results"][1]["launch"] = "5 groups of 8"
        again = run_entry("05-launch-tuning/peers/cuda", {"cub": 20.0, "tuned": 40.0}, name="uniform")
        again["run"]["results"][1]["launch"] = "4 groups of 8"
        lines = self.table(recording([entry, other, again]), "peers: docs/results/device.json 1G")
        self.assertTrue(lines[-1].endswith(" `tuned` was 4 groups of 8 or 5 groups of 8."), lines[-1])
        chapter = run_entry("05-launch-tuning/cuda", {"vector": 20.0, "tuned": 40.0})
        chapter["run"]["results"][1]["launch"] = "4 groups of 8"
        lines = self.table(recording([chapter]), "results: docs/results/device.json 05-launch-tuning/cuda photo 1G")
        self.assertTrue(lines[-1].endswith("host: 537 ms. `tuned` was 4 groups of 8."), lines[-1])

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
                                   "was at work. One launch under Nsight Compute.")
        self.assertIn("recorded on 2026-01-02 at commit abc. CUDA: CUDA driver. ", self.provenance)
        self.write("README.md", page_with("counters: docs/results/device.json photo 1G"))
        self.fail_with("photo 1G is not among its counters", "generate.py")

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
        self.assertEqual(lines[-1], "Medians. The copy from pinned memory alone took 19.5 ms.")

    CLUSTER = "05-launch-tuning/cluster/cuda"

    def cluster(self, experiment, size, *runs):
        document = {field: runs[0][field] for field in ("chapter", "api", "device", "driver", "input", "mpi")}
        return {"program": self.CLUSTER, "input": "uniform", "size": size, "experiment": experiment, "date": "2026-01-02",
                "commit": None, "run": {**document, "rounds": 3, "scaling": list(runs)}}

    def test_weak_scaling(self):
        runs = [repository.cluster_document(1, 3000.0, 1 << 30), repository.cluster_document(2, 5700.0, 1 << 31, devices=1)]
        lines = self.table(recording(cluster=[self.cluster("weak", "1G", *runs)]),
                           f"weak: docs/results/device.json {self.CLUSTER} 1G")
        self.assertEqual(lines, [
            "**CUDA on Some device: 1 GiB for each rank**", "",
            "| Ranks | Pixels | Median, ms | Fastest, ms | GB/s | Efficiency, % | All-reduce by MPI, µs |",
            "|--:|--:|--:|--:|--:|--:|--:|",
            "| 1 | 1 GiB | 0.716 | 0.358 | 3000 | 100 | 1.50 |",
            "| 2 | 2 GiB | 0.754 | 0.377 | 5700 | 95.0 | 3.00 |", "",
            "GB/s and efficiency are those of the fastest run, the efficiency held against one rank's GB/s times the number "
            "of ranks. 3 rounds of 31 runs each; shown is the round with the fastest run. Some MPI v1. "
            "Devices: 2 ranks on 1. Without NCCL (built without it).",
        ])

    def test_strong_scaling(self):
        def shared(size, *rates):
            return self.cluster("strong", size, *(repository.cluster_document(ranks, rate, recorded.pixels_of(size))
                                                  for ranks, rate in zip((1, 4), rates)))
        lines = self.table(recording(cluster=[shared("1M", 100.0, 50.0), shared("1G", 3000.0, 9000.0)]),
                           f"strong: docs/results/device.json {self.CLUSTER}")
        self.assertEqual(lines[2:6], [
            "| Pixels | 1 rank | 4 ranks | Times as fast on 4 |",
            "|---|--:|--:|--:|",
            "| 1 MiB | 10.5 µs | 21.0 µs | 0.500 |",
            "| 1 GiB | 358 µs | 119 µs | 3.00 |",
        ])
        self.write("README.md", page_with(f"weak: docs/results/device.json {self.CLUSTER} 1G"))
        self.fail_with(f"{self.CLUSTER} 1G weak is not among its cluster", "generate.py", "--check")

    def test_a_petabyte(self):
        entry = self.cluster("weak", "1G", *(repository.cluster_document(ranks, 2000.0 * ranks, ranks << 30) for ranks in (1, 2)))
        lines = self.table(recording(cluster=[entry]), f"archive: docs/results/device.json {self.CLUSTER} 1G")
        self.assertEqual([line.rsplit("|", 2)[1].strip() for line in lines[4:]], ["0.244 s", "1000 s", "3.00 ms"])
        self.assertIn("4000 GB/s by 2 ranks", lines[4])

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
        self.succeed("generate.py")
        self.succeed("generate.py", "--check")
        self.entry["run"]["results"][1]["gb_s"] = 161.0
        self.write_results(recording([self.entry]))
        self.fail_with("02-global-atomics/cuda photo 1M: differs from its source", "generate.py", "--check")

    def test_check_changes_nothing(self):
        self.write("README.md", PAGE)
        self.fail_with("README.md: results: docs/results/device.json 02-global-atomics/cuda photo 1M: differs from its source",
                       "generate.py", "--check")
        self.assertEqual(self.read("README.md"), PAGE)

    def test_what_is_not_recorded_is_an_error_and_the_page_stays(self):
        for marker, line in (
            ("results: docs/results/device.json 02-global-atomics/cuda photo 1G",
             "02-global-atomics/cuda photo 1G is not among its runs"),
            ("results: docs/results/nosuch.json 02-global-atomics/cuda photo 1M",
             "there is no docs/results/nosuch.json"),
            ("inputs: docs/results/device.json 05-launch-tuning/cuda 1M", "05-launch-tuning/cuda 1M is not among its"),
            ("cpu-peers: docs/results/device.json 1M", "01-cpu/peers/cpu 1M is not among its runs"),
            ("peers: docs/results/device.json 1M", "05-launch-tuning/peers/cuda 1M is not among its runs"),
            ("chapters: docs/results/device.json photo 1G", "no chapter's run on photo 1G is recorded"),
            ("end-to-end: docs/results/device.json 05-launch-tuning/end-to-end/cuda photo 1M", "is not among its end_to_end"),
            ("tuning: docs/results/device.json 05-launch-tuning/cuda", "is not among its tune"),
            ("steps: docs/results/device.json ramp 1M", "ramp 1M is not among its steps"),
            ("experiment: docs/results/device.json lanes CUDA photo 1M", "lanes CUDA photo 1M is not among its experiments"),
            ("experiment: docs/results/device.json nosuch CUDA photo 1M", "there is no experiment nosuch, only ideas"),
            ("queued: docs/results/device.json 1M", "05-launch-tuning/peers/cuda 1M is not among its queued"),
            ("nosuch: docs/results/device.json 1M", "there is no kind 'nosuch'"),
            ("peers: docs/results/device.json 1M photo", "'peers' takes, after the file: size"),
        ):
            with self.subTest(marker=marker):
                self.write("README.md", page_with(marker))
                self.fail_with(line, "generate.py", "--check")
                self.fail_with(line, "generate.py")
                self.assertEqual(self.read("README.md"), page_with(marker))

    def test_a_marker_without_its_end_swallows_nothing(self):
        page = f"{MARKER}\nOne.\n\n{PAGE}"
        self.write("README.md", page)
        self.fail_with("README.md: what is generated stands between", "generate.py")
        self.assertIn(f"{MARKER}\nOne.\n", self.read("README.md"))


if __name__ == "__main__":
    unittest.main()
