"""tables.py: what the numbers of a table are worked out from, and everything that generate.py --check must notice.

How each kind looks stands in the pages, which are compared with what is generated from the real results.
"""

import unittest

import repository
from experiments import PLAIN  # in docs/tools
from pictures import bmp_of  # in common/tutor/exercise
from repository import recorded, recording, result, run_entry

FILE = "docs/results/device.json"
MARKER = f"<!-- results: {FILE} 02-global-atomics/cuda photo 1M -->"
PROVENANCE = f"<!-- provenance: {FILE} -->\n<!-- end -->\n"
PEERS = "05-launch-tuning/peers/cuda"


def page_with(marker):
    return f"<!-- {marker} -->\n<!-- end -->\n{PROVENANCE}"


class Tables(repository.RepositoryTest):
    def setUp(self):
        super().setUp()
        self.entry = run_entry("02-global-atomics/cuda", {"global": 4.0, "subhist": 160.0}, size="1M")
        self.write_results(recording([self.entry]))

    def table(self, contents, kind, *words):
        """The rows of a table, each a list of cells without the first, and the line below it."""
        self.write_results(contents)
        self.write("README.md", page_with(" ".join([f"{kind}: {FILE}", *words])))
        self.succeed("generate.py")
        lines = self.read("README.md").split("<!-- end -->")[0].splitlines()
        rows = [line.strip("| ").split(" | ")[1:] for line in lines if line.startswith("|")]
        return rows[2:], lines[-1]

    def test_a_page(self):
        self.write("README.md", f"# A lesson\n\n{MARKER}\n<!-- end -->\n\nThe end.\n\n{PROVENANCE}")
        self.succeed("generate.py")
        self.assertEqual(self.read("README.md"), f"""# A lesson

{MARKER}
**CUDA on Some device: picture.bmp, 1 MiB**

| Strategy | Time, ms | GB/s | % of the read ceiling | Times the speed of `serial` | End to end, ms | Check |
|---|--:|--:|--:|--:|--:|---|
| `global` | 0.262 | 4.00 | 0.100 | 2.00 | 0.524 | match |
| `subhist` | 0.007 | 160 | 4.00 | 80.0 | 0.013 | match |

Medians. Read ceiling: 4000 GB/s. `serial` on the host: 0.524 ms.
<!-- end -->

The end.

<!-- provenance: {FILE} -->
The numbers from `{FILE}` were recorded on 2026-01-02. CUDA: CUDA driver. Some GPU, 1.0. Host: Some CPU, family 6, model 7. Compiled with c++ 12.
<!-- end -->
""")
        self.succeed("generate.py", "--check")

    def test_numbers_have_three_digits(self):
        for value, text in ((1234.5, "1234"), (99.96, "100"), (9.994, "9.99"), (0.0123, "0.012"), (0, "0"), (None, "-")):
            self.assertEqual(recorded.digits(value), text)

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
                  entry(PEERS, 1.0, 8000.0)]  # reads less than the chapters at this size
        contents = recording([entry("02-global-atomics/cuda", 100.0, 2000.0), *others], queued=[entry(PEERS, 1.0, 9999.0)])
        rows, note = self.table(contents, "results", "02-global-atomics/cuda photo 1M")
        # Of 100, 1.2, 0.8, 1 and 1 ms the median, over 0.00655; and 160 of 3200 GB/s.
        self.assertEqual(rows, [["0.007", "160", "5.00", "153", "0.013", "match"]])
        self.assertEqual(note, "Medians. Read ceiling: 3200 GB/s. `serial` on the host: 1.00 ms.")

    def test_without_a_gpu_all_programs_read_the_same_memory(self):
        cpu, pocl = (run_entry(program, {"a": 10.0}, size="1M") for program in ("01-cpu/cpu", "02-global-atomics/opencl"))
        cpu["run"]["read_ceiling_gb_s"] = 20.0
        pocl["run"].update(read_ceiling_gb_s=50.0, device="Some CPU, as PoCL calls it")
        contents = recording([cpu, pocl])
        for gpu, share in (("Some GPU, 1.0", "50.0"), (None, "20.0")):
            contents["machine"] = {**contents["machine"], "gpu": gpu}
            self.assertEqual(self.table(contents, "results", "01-cpu/cpu photo 1M")[0][0][2], share)
        self.table(contents, "chapters", "photo 1M")
        self.assertIn("**The fastest of each chapter on Some CPU: ", self.read("README.md"))

    def test_a_wrong_result_has_a_time_and_no_speed(self):
        entry = run_entry(PEERS, {"cub": 20.0, "tuned": 40.0})
        entry["run"]["results"][1]["check"] = "mismatch"
        rows, _ = self.table(recording([entry]), "results", f"{PEERS} photo 1G")
        self.assertEqual(rows[1], ["26.8", "-", "-", "-", "53.7", "mismatch"])
        self.assertEqual(self.table(recording([entry]), "peers", "1G")[0], [["20.0", "-", "-", "-", "-"]])
        chapter = run_entry("02-global-atomics/cuda", {"subhist": 9.0, "global": 4.0})
        chapter["run"]["results"][0]["check"] = "mismatch"
        self.assertEqual(self.table(recording([chapter, entry]), "chapters", "photo 1G")[0], [["CUDA", "`global`", "4.00", "0.100", "2.00"]])
        way = {"end_to_end_ms": {"median": 20.0}, "gb_s": 53.7, "percent_of_pinned_copy": 97.5}
        chapter["run"].update(pinned_copy_ms=19.5, end_to_end=[{**way, "variant": check, "check": check} for check in ("match", "mismatch")])
        rows, _ = self.table(recording(end_to_end=[chapter]), "end-to-end", "02-global-atomics photo 1G")
        self.assertEqual(rows, [["20.0", "53.7", "97.5", "match"], ["20.0", "-", "-", "mismatch"]])

    def test_two_apis_stand_beside_each_other(self):
        both = [run_entry("02-global-atomics/cuda", {"global": 4.0, "subhist": 8.0}), run_entry("02-global-atomics/opencl", {"global": 2.0})]
        alone = run_entry("03-local-atomics/opencl", {"local": 9.0})
        rows, _ = self.table(recording([*both, alone]), "chapters", "photo 1G")
        self.assertEqual([row[:3] for row in rows], [["`subhist`, `global`", "2.00", "8.00"], ["`local`", "9.00", "-"]])
        for entry, ms in zip(both, (20.0, 40.0)):
            way = {"variant": "pinned", "end_to_end_ms": {"median": ms}, "gb_s": 1000 / ms, "percent_of_pinned_copy": 97.5, "check": "match"}
            entry["run"].update(pinned_copy_ms=19.5, end_to_end=[way])
        rows, _ = self.table(recording(end_to_end=both), "end-to-end", "02-global-atomics photo 1G")
        self.assertEqual(rows, [["40.0", "20.0", "25.0", "50.0", "97.5", "97.5", "match"]])

    def test_a_chapter_on_a_device(self):
        both = [run_entry("02-global-atomics/opencl", {"global": 3.0, "subhist": 120.0}, size="1M"), self.entry,
                run_entry("02-global-atomics/cuda", {"global": 2.0, "subhist": 80.0}, "uniform", "1M")]
        rows, _ = self.table(recording(both), "device", "02-global-atomics uniform 1M")
        self.assertEqual(rows, [["3.00", "4.00", "0.100", "2.00", "2.00", "0.524"], ["120", "160", "4.00", "80.0", "80.0", "0.013"]])
        rows, note = self.table(recording(both[:1]), "device", "02-global-atomics photo 1M")
        self.assertEqual([row[0] for row in rows], ["3.00", "120"])
        both[0]["run"]["results"][0]["check"] = "mismatch"
        rows, wrong = self.table(recording(both[:1]), "device", "02-global-atomics photo 1M")
        self.assertEqual(rows[0][0], "-")
        self.assertIn("every result matches", note)
        self.assertIn("`global` mismatch", wrong)

    def test_peers(self):
        entry = run_entry(PEERS, {"cub": 2000.0, "tuned": 3000.0}, "contention-40")
        entry["run"]["results"][1]["launch"] = "4 groups of 8"
        entry["run"]["results"].append(result("npp", None, 1 << 30, "skipped", "no NPP here"))
        rows, note = self.table(recording([entry]), "peers", "1G")
        self.assertEqual(rows, [["2000", "3000", "-", "75.0", "1.50", "-"]])
        self.assertTrue(note.endswith(" `tuned` was 4 groups of 8. Skipped: `npp` (no NPP here)."), note)
        small = run_entry(PEERS, {"cub": 20.0, "tuned": 40.0}, size="256K")  # in µs
        self.assertEqual(self.table(recording([small]), "peers", "256K")[0], [["13.1", "6.55", "1.00", "2.00", "-"]])

    def test_cpu_peers_are_held_against_the_fastest_that_is_right(self):
        entries = [run_entry("01-cpu/peers/cpu", {"simd": 6.0, "threads-simd": 11.0, "zstd": 2.0, "engel": 4.0}, name, "1M")
                   for name in ("photo", "ramp")]
        entries[1]["run"]["results"][3]["check"] = "mismatch"
        entries.append(run_entry("01-cpu/peers/cpu", {"simd": 6.0}, "uniform", "1M"))
        rows, _ = self.table(recording(entries), "cpu-peers", "1M")
        self.assertEqual([row[-2:] for row in rows], [["4.00", "1.50"], ["-", "3.00"], ["-", "-"]])

    def test_many_pictures(self):
        kept = []
        for side, number in (("512", 4096), ("64..2048", 700), ("64", 65536)):
            entry = {**run_entry("05-launch-tuning/many/cuda", {"queued": 50.0, "group-each": 2000.0}), "experiment": side}
            entry["run"]["input"]["name"] = f"uniform, seed 1; {number} pictures of that side"
            entry["run"]["read_ceiling_gb_s"] = 4000.0
            kept.append(entry)
        kept[2]["run"]["results"][1]["check"] = "mismatch"
        rows, _ = self.table(recording(many=kept), "many", "05-launch-tuning/many/cuda GB/s")
        self.assertEqual(rows, [["photo", "65536", "50.0", "-", "1.25"], ["photo", "4096", "50.0", "2000", "50.0"],
                                ["photo", "700", "50.0", "2000", "50.0"]])
        rows, _ = self.table(recording(many=kept), "many", "05-launch-tuning/many/cuda µs")
        self.assertEqual(rows, [["photo", "65536", "0.0819", "-"], ["photo", "4096", "5.24", "0.131"]])
        self.write("README.md", page_with(f"many: {FILE} 05-launch-tuning/many/cuda libraries"))
        self.assertIn("no library is among the many", self.run_program("generate.py").stderr)
        kept[0]["run"]["results"] += [{**result("cub", 20.0, 1 << 20), "launch": "CUB 3.0.1"},
                                      result("npp", None, 0, "skipped", "no")]
        rows, note = self.table(recording(many=kept[:2]), "many", "05-launch-tuning/many/cuda libraries")
        self.assertEqual(rows, [["photo", "4096", "`group-each`", "0.131", "13.1", "100"]])
        self.assertEqual(note, "Medians. The last column: how many times as fast. `cub` was CUB 3.0.1. Skipped: `npp` (no).")

    def test_more_bins(self):
        kept = []
        for name in ("RGB", "65536", "256"):
            entry = {**run_entry("05-launch-tuning/bins/cuda", {"global": 50.0, "local": 2000.0}), "experiment": name}
            entry["run"]["read_ceiling_gb_s"] = 4000.0
            kept.append(entry)
        kept[1]["run"]["results"][1].update(check="skipped", reason="no room", gb_s=None)
        rows, note = self.table(recording(bins=kept), "bins", "05-launch-tuning/bins/cuda")
        self.assertEqual(rows, [["photo", "50.0", "2000", "50.0"], ["photo", "50.0", "-", "1.25"], ["photo", "50.0", "2000", "50.0"]])
        self.assertIn("Skipped: `local` (no room).", note)

    def test_queued_has_a_ceiling_of_its_own(self):
        queued, idle = run_entry(PEERS, {"cub": 20.0, "tuned": 40.0}, size="256K"), run_entry(PEERS, {"tuned": 1.0}, size="256K")
        queued["run"]["read_ceiling_gb_s"], idle["run"]["read_ceiling_gb_s"] = 50.0, 99.0
        rows, _ = self.table(recording([idle], queued=[queued]), "queued", "photo")
        self.assertEqual(rows, [["5.24", "13.1", "6.55", "1.25", "2.00", "-"]])

    def experiment(self, program, name, *runs, given="photo", units=0):
        """An entry of an experiment: each run is a strategy, its arguments, its GB/s and its edit."""
        made = {**run_entry(program, {}, given, "1M"), "experiment": name}
        made["run"]["units"] = units
        made["run"]["runs"] = [{"arguments": ["--variant", strategy, *arguments.split()], "edit": edit, "result": result(strategy, gb_s, 1 << 20)}
                               for strategy, arguments, gb_s, edit in runs]
        return made

    def test_a_cell_of_an_experiment_is_the_run_of_its_arguments_and_edit(self):
        walk = "--groups 2 --group-size 256 --walk interleaved"
        edit = {"from": PLAIN.old, "to": PLAIN.new}
        lost = self.experiment("02-global-atomics/opencl", "walls", ("racy", walk, 0.5, None), ("global", walk.replace("2", "3", 1), 1.0, None))
        lost["run"]["runs"][0]["result"].update(check="mismatch", gb_s=None)  # a time all the same
        contents = recording(experiments=[
            lost, self.experiment("03-local-atomics/opencl", "walls", ("local", walk, 1.0, None), ("local", walk, 2.0, edit)),
            self.experiment("02-global-atomics/opencl", "strides", ("global", walk, 9.9, None))])
        rows, _ = self.table(contents, "experiment", "walls OpenCL photo 1M")
        self.assertEqual(rows, [["-"] * 4] * 2 + [["0.524", "1.05", "2.10", "-"], ["-"] * 4])
        lanes = [self.experiment("04-per-thread-bins/cuda", "lanes", ("lane-bins", "--groups 14 --group-size 256 --copies 32 --loads 0", gb_s, None),
                                 given=given, units=7) for given, gb_s in (("uniform", 2.0), ("ramp", 0.5))]
        lanes[1]["run"]["runs"][0]["result"].update(check="mismatch", gb_s=None)
        rows, _ = self.table(recording(experiments=lanes), "experiment", "lanes CUDA ramp,uniform 1M")
        self.assertEqual(rows[:3], [["-", "-"], ["0.500", "2.00"], ["-", "-"]])

    def test_what_a_warp_wants(self):
        (self.root / "images").mkdir()
        # 8 each of 0, 1, 100 and 255, whose counters lie in three sectors.
        (self.root / "images/landscape.bmp").write_bytes(bmp_of(32, 1, bytes([0, 1, 100, 255] * 8)))
        runs = [run_entry("02-global-atomics/cuda", {"global": gb_s}, name) for name, gb_s in (("photo", 8.0), ("constant", 1.0))]
        far = self.experiment("02-global-atomics/opencl", "near", ("global", "", 9.0, None), ("global", "", 2.0, {"from": "a", "to": "b"}),
                              given="ramp")
        rows, _ = self.table(recording(runs, experiments=[{**far, "size": "256M"}]), "warps")
        self.assertEqual(rows, [["3.00", "8.00", "8.00", "4.00", "8.00"], ["1.00", "32.0", "32.0", "32.0", "1.00"],
                                ["29.0", "1.00", "1.00", "16.0", "2.00"]])

    def test_scaling(self):
        program = "05-launch-tuning/cluster/cuda"

        def entry(experiment, size, *runs):
            made = {**run_entry(program, {}, "uniform"), "experiment": experiment, "size": size}
            made["run"].update(mpi="Some MPI v1", rounds=3, scaling=list(runs))
            return made

        document = repository.cluster_document
        contents = recording(cluster=[entry("weak", "1G", document(1, 3000.0, 1 << 30), document(2, 5700.0, 1 << 31, devices=1)),
                                      entry("strong", "1G", document(1, 3000.0, 1 << 30), document(4, 9000.0, 1 << 30))])
        rows, note = self.table(contents, "weak", program, "1G")
        self.assertEqual(rows, [["1 GiB", "0.716", "0.358", "3000", "100", "1.50"], ["2 GiB", "0.754", "0.377", "5700", "95.0", "3.00"]])
        self.assertIn("3 rounds of 31 runs each; shown is the round with the fastest run. Some MPI v1. Devices: 2 ranks on 1. Without NCCL", note)
        self.assertEqual(self.table(contents, "strong", program)[0], [["358 µs", "119 µs", "3.00"]])
        self.assertEqual([row[-1] for row in self.table(contents, "archive", program, "1G")[0]], ["0.171 s", "1000 s", "3.00 ms"])

    def test_provenance_is_that_of_all_tables(self):
        entries = [{**run_entry(PEERS, {"tuned": 1.0}, name), "commit": commit, "date": day}
                   for name, commit, day in (("photo", "abc1234", "2026-01-03"), ("uniform", "def5678", "2026-01-02"),
                                             ("ramp", None, "2026-01-02"), ("constant", "abc1234", "2026-01-02"))]
        entries += [run_entry("02-global-atomics/opencl", {"global": 1.0}),
                    {**run_entry("03-local-atomics/cuda", {"local": 1.0}), "commit": "not-shown"}]
        entries[0]["machine"] = {"processor": "Other CPU", "nvcc": "release 13.0"}
        self.write_results(recording(entries))
        self.write("README.md", page_with(f"peers: {FILE} 1G") + f"<!-- results: {FILE} 02-global-atomics/opencl photo 1G -->\n<!-- end -->\n")
        self.succeed("generate.py")
        self.assertIn(f"\nThe numbers from `{FILE}` were recorded on 2026-01-02 at commit def5678 and "
                      "abc1234, on 2026-01-03 at commit abc1234. CUDA: CUDA driver; OpenCL: OpenCL driver. "
                      "Some GPU, 1.0. Host: Other CPU, family 6, model 7 and Some CPU, family 6, model 7. "
                      "Compiled with c++ 12; nvcc release 13.0.\n", self.read("README.md"))

    def test_a_page_says_once_where_its_numbers_are_from(self):
        table = f"{MARKER}\n<!-- end -->\n"
        there_are = f"README.md: there are tables of {FILE}, and "
        for page, line in ((table, there_are + "0 comments"), (table + 2 * PROVENANCE, there_are + "2 comments"),
                           (PROVENANCE, f"README.md: provenance: {FILE}: no table of the page is of this file")):
            with self.subTest(page=page):
                self.write("README.md", page)
                self.fail_with(line, "generate.py", "--check")

    def test_a_changed_number_is_noticed(self):
        self.write("README.md", page_with(MARKER[5:-4]))
        self.succeed("generate.py")
        page = self.read("README.md")
        for wrong in (page.replace("160", "161"), page.replace("2026-01-02", "2026-01-03"), page.replace("| `global`", "| `local`")):
            self.write("README.md", wrong)
            self.fail_with("differs from its source", "generate.py", "--check")
            self.assertEqual(self.read("README.md"), wrong)
        self.write("README.md", page)
        self.succeed("generate.py", "--check")
        self.entry["run"]["results"][1]["gb_s"] = 161.0
        self.write_results(recording([self.entry]))
        self.fail_with("02-global-atomics/cuda photo 1M: differs from its source", "generate.py", "--check")

    def test_what_cannot_be_made_is_an_error_and_the_page_stays(self):
        for marker, line in (
            (f"results: {FILE} 02-global-atomics/cuda photo 1G", "02-global-atomics/cuda photo 1G is not among its runs"),
            (f"experiment: {FILE} lanes CUDA photo 1M", "lanes CUDA photo 1M is not among its experiments"),
            (f"experiment: {FILE} nosuch CUDA photo 1M", "there is no experiment nosuch, only ideas"),
            ("results: docs/results/nosuch.json a photo 1M", "there is no docs/results/nosuch.json"),
            (f"nosuch: {FILE} 1M", "there is no kind 'nosuch'"),
            (f"peers: {FILE} 1M photo", "peers_table() takes 2 positional arguments but 3 were given"),
        ):
            with self.subTest(marker=marker):
                self.write("README.md", page_with(marker))
                self.fail_with(line, "generate.py", "--check")
                self.fail_with(line, "generate.py")
                self.assertEqual(self.read("README.md"), page_with(marker))

    def test_a_marker_without_its_end_swallows_nothing(self):
        page = f"{MARKER}\nOne.\n\n{page_with(MARKER[5:-4])}"
        self.write("README.md", page)
        self.fail_with("README.md: what is generated stands between", "generate.py")
        self.assertEqual(self.read("README.md"), page)


if __name__ == "__main__":
    unittest.main()
