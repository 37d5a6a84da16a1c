"""generate.py: what it must notice, and what is worked out of several recordings, as none of the real ones shows.

How each kind looks, and what is cut out of the sources, stands in the pages: those are compared with what is generated.
"""

import unittest

import repository
from repository import recording, run_entry

FILE = "docs/results/device.json"
MARKER = f"<!-- results: {FILE} 02-global-atomics/cuda photo 1M -->"
PROVENANCE = f"<!-- provenance: {FILE} -->\n<!-- end -->\n"
PEERS = "05-launch-tuning/workshops/peers/cuda"


def page_with(marker):
    return f"<!-- {marker} -->\n<!-- end -->\n{PROVENANCE}"


class Generate(repository.RepositoryTest):
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
        self.assertEqual(rows, [["0.007", "160", "5.00", "153", "match"]])
        self.assertEqual(note, "Medians. Read ceiling: 3200 GB/s. `serial` on the host: 1.00 ms.")

    def test_a_wrong_result_has_a_time_and_no_speed(self):
        entry = run_entry(PEERS, {"cub": 20.0, "tuned": 40.0})
        entry["run"]["results"][1]["check"] = "mismatch"
        rows, _ = self.table(recording([entry]), "results", f"{PEERS} photo 1G")
        self.assertEqual(rows[1], ["26.8", "-", "-", "-", "mismatch"])
        self.assertEqual(self.table(recording([entry]), "peers", "1G")[0], [["20.0", "-", "-", "-"]])

    def test_ways_are_held_against_the_copy(self):
        entry = run_entry("05-launch-tuning/end-to-end/cuda", {"copy": 50.0, "pageable": 10.0, "pinned": 40.0})
        entry["run"]["results"][1]["check"] = "mismatch"
        rows, note = self.table(recording(end_to_end=[entry]), "end-to-end", "05-launch-tuning/end-to-end photo 1G")
        self.assertEqual(rows, [["107", "-", "-", "mismatch"], ["26.8", "40.0", "80.0", "match"]])
        self.assertEqual(note, "Medians. The copy from pinned memory alone took 21.5 ms (CUDA).")

    def test_a_ladder_has_the_rungs_that_are_recorded(self):
        runs = [run_entry("02-global-atomics/cuda", {"global": 4.0, "subhist": 80.0}, "uniform"),
                run_entry("03-local-atomics/opencl", {"local": 100.0}, "uniform"),
                run_entry("03-local-atomics/cuda", {"local": 200.0}, "uniform")]
        runs[1]["run"]["results"][0]["check"] = "mismatch"
        self.write("02-global-atomics/README.md", "# subhist\n")
        self.write("03-local-atomics/README.md", "# local\n")
        rows, note = self.table(recording(runs), "ladder", "03-local-atomics uniform 1G")
        self.assertEqual([row[1:] for row in rows], [["512", "80.0", "2.00"], ["512", "200", "5.00"]])
        self.assertEqual(note, "Medians. Read ceiling: 4000 GB/s. Bytes in flight: on each multiprocessor, in CUDA.")

    def test_a_fixed_time_is_fitted_where_there_are_sizes_enough(self):
        def sized(mebi, strategy, program, milliseconds):
            entry = {**run_entry(program, {strategy: 1.0}, "uniform", "1M"), "size": f"{mebi}M"}
            entry["run"]["input"]["pixels"] = mebi << 20
            kept = {"arguments": ["--variant", strategy], "edit": None, "result": {"kernel_ms": {"median": milliseconds}}}
            return {**entry, "experiment": "sizes", "run": {**entry["run"], "units": 132, "runs": [kept]}}

        line = [sized(mebi, "lane-bins", "04-per-thread-bins/cuda", 0.010 + (mebi << 20) / 2e9) for mebi in (64, 256, 1024)]
        short = [sized(mebi, "vector", "05-launch-tuning/cuda", 1.0) for mebi in (64, 256)]
        self.assertEqual(self.table(recording(experiments=line + short), "fixed")[0], [["CUDA", "10.0", "2000", "0.0"]])
        line[2]["run"]["runs"][0]["result"]["kernel_ms"]["median"] *= 1.1
        self.assertEqual(self.table(recording(experiments=line), "experiment", "sizes CUDA uniform 64M")[0], [["43.6"]], "microseconds")
        (_, a, b, off), = self.table(recording(experiments=line), "fixed")[0]
        self.assertTrue(float(a) < 10 and float(b) < 2000 and 2 < float(off) < 10, (a, b, off))

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
        self.write("02-a/histogram.cl", "__kernel void count(__global uint* a) {\n    first();\n}\n")
        self.write("histogram.cl", "__kernel void count(__global uint* a) {\n    first();\n}\n")
        self.write("histogram.cuh", "__global__ void count(unsigned* a) {\n    other();\n}\n")
        table = f"{MARKER}\n<!-- end -->\n"
        for page, line in (
            (table, f"there is no comment <!-- provenance: {FILE} --> behind the tables"),
            (table + PROVENANCE + table, f"there is no comment <!-- provenance: {FILE} --> behind the tables"),
            (PROVENANCE, f"provenance: {FILE}: no table of the page is of this file"),
            (f"{MARKER}\nOne.\n\n{table}{PROVENANCE}", "what is generated stands between"),  # a marker without its end swallows nothing
            (page_with(f"results: {FILE} 02-global-atomics/cuda photo 1G"), "02-global-atomics/cuda photo 1G is not among its runs"),
            (page_with(f"experiment: {FILE} lanes CUDA photo 1M"), "lanes CUDA photo 1M is not among its experiments"),
            (page_with(f"experiment: {FILE} nosuch CUDA photo 1M"), "there is no experiment nosuch, only steps"),
            (page_with("results: docs/results/nosuch.json a photo 1M"), "there is no docs/results/nosuch.json"),
            (page_with(f"nosuch: {FILE} 1M"), "there is no kind 'nosuch'"),
            (page_with(f"peers: {FILE} 1M photo"), "peers_table() takes 2 positional arguments but 3 were given"),
            (page_with("predict: choice One Two"), "of several choices one begins with ="),
            (page_with(f"predict: number GB/s {FILE} 02-global-atomics/cuda photo 1M local"), "02-global-atomics/cuda has no local"),
            (page_with("excerpt: 02-a/histogram.cl nosuch"), "histogram.cl: 0 functions are called nosuch"),
            (page_with("excerpt: 02-a/nosuch.cl count"), "No such file"),
            (page_with("whole: 02-a/histogram.cl 02-a/nosuch.cu"), "No such file"),
            (page_with('excerpt: 02-a/histogram.cl count since="nosuch"'), "histogram.cl: no line holds 'nosuch'"),
            (page_with('kernels: count since="first"'),
             "histogram.cuh: no line holds 'first'"),
        ):
            with self.subTest(line):
                self.write("README.md", page)
                self.fail_with(line, "generate.py", "--check")
                self.assertEqual(self.read("README.md"), page)
        self.fail_with(line, "generate.py")  # which writes
        self.assertEqual(self.read("README.md"), page)


if __name__ == "__main__":
    unittest.main()
