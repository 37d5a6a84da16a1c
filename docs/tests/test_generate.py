"""generate.py: what it must notice, and what is worked out of several recordings, as none of the real ones shows.

How each kind looks, and what is cut out of the sources, stands in the pages: those are compared with what is generated.
"""

import unittest

import repository
from repository import recording, run_entry

FILE = "docs/results/device.json"
MARKER = f"<!-- results: {FILE} 02-global-atomics/cuda photo 1M -->"
PROVENANCE = f"<!-- provenance: {FILE} -->\n<!-- end -->\n"
PEERS = "05-launch-tuning/peers/cuda"


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
        self.assertEqual(rows, [["0.007", "160", "5.00", "153", "0.013", "match"]])
        self.assertEqual(note, "Medians. Read ceiling: 3200 GB/s. `serial` on the host: 1.00 ms.")

    def test_a_wrong_result_has_a_time_and_no_speed(self):
        entry = run_entry(PEERS, {"cub": 20.0, "tuned": 40.0})
        entry["run"]["results"][1]["check"] = "mismatch"
        rows, _ = self.table(recording([entry]), "results", f"{PEERS} photo 1G")
        self.assertEqual(rows[1], ["26.8", "-", "-", "-", "53.7", "mismatch"])
        self.assertEqual(self.table(recording([entry]), "peers", "1G")[0], [["20.0", "-", "-", "-", "-"]])

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

    def excerpt(self, call):
        """A page with this part of a source."""
        self.write("02-a/histogram.cl", "__kernel void count(__global uint* a) {\n    first();\n    second();\n}\n")
        self.write("README.md", f"One.\n\n<!-- {call} -->\n<!-- end -->\n\nTwo.\n")

    def test_a_part_of_a_source_that_changes_is_noticed(self):
        self.excerpt("excerpt: 02-a/histogram.cl count")
        self.succeed("generate.py")
        self.succeed("generate.py", "--check")
        for file in ("02-a/histogram.cl", "README.md"):
            before = self.read(file)
            self.write(file, before.replace("first", "last"))
            self.fail_with("README.md: excerpt: 02-a/histogram.cl count: differs from its source", "generate.py", "--check")
            self.write(file, before)

    def test_a_part_that_is_not_there_is_an_error(self):
        for call, line in (("histogram.cl nosuch", "histogram.cl: 0 functions are called nosuch"), ("nosuch.cl count", "No such file"),
                           ('histogram.cl count since="nosuch"', "histogram.cl: no line holds 'nosuch'")):
            with self.subTest(call=call):
                self.excerpt(f"excerpt: 02-a/{call}")
                self.fail_with(line, "generate.py", "--check")


if __name__ == "__main__":
    unittest.main()
