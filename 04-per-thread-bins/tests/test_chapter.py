"""What only chapter 04 tests: the published mistake, which is broken on purpose."""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common" / "tests"))
import programs  # noqa: E402
from programs import QUICK, Run, Test  # noqa: E402


class Overflow(Test):
    """256 equal pixels for each work-item: every 8-bit counter comes back to 0, and the check sees it."""

    def test_each_api(self):
        for program in self.built_in("04-per-thread-bins", ("opencl", "cuda")):
            with self.subTest(program):
                self.expect([program, "--constant", "127", "--random", "4M", "--variant", "uchar-overflow", *QUICK], 1, err="wrong bins: 1 of 256")


class OpenCLLoads(Test):
    """--loads 4 goes through the loop of four, and neither through it nor through that of one does what asks for fewer."""

    def test_each_has_its_loop(self):
        text = (programs.ROOT / "04-per-thread-bins/histogram.cl").read_text(encoding="utf-8")
        file = self.folder() / "histogram.cl"
        for left_out, statuses in (("count_sixteen(own, fourth);", (0, 0, 1)), ("count_sixteen(own, vectors[i]);", (0, 1, 1))):
            self.assertEqual(text.count(left_out), 1)
            file.write_text(text.replace(left_out, ""), encoding="utf-8")
            for loads, status in zip(("0", "1", "4"), statuses):
                self.expect([programs.built("04-per-thread-bins/opencl"), "--random", "100003", "--group-size", "64", "--groups", "3",
                             "--variant", "lane-bins", "--loads", loads, "--kernels", file, "--no-diagnosis", *QUICK], status)


class OpenCLLocalMemory(Test):
    """A compiler that keeps some local memory for itself takes nothing from the strategies that leave some."""

    def runs(self, words, *arguments, **expected):
        command = [programs.built("04-per-thread-bins/opencl"), "--random", "100003", *arguments, *QUICK]
        self.expect(command, environment=self.faulty(words), **expected)

    def test_what_is_kept(self):
        self.runs("local=32768 local-kept=64", "--group-size", "64",
                  out=r"\nprivate [^\n]* match\nuchar-bins [^\n]* match\n"
                      r"uchar-bins-banked [^\n]* match\nlane-bins [^\n]* match\ncore-bins [^\n]* match\n$",
                  err="  lane-bins [^\n]*\n    copies that the device's local memory has room for: 16\n")

    def test_groups_that_take_all(self):
        self.runs("local=32768 local-kept=64",
                  out=r"\nuchar-bins [^\n]* skipped: it needs 32832 bytes of local memory: this device has 32768\n(?s:.*)"
                      r"\nlane-bins [^\n]* match\ncore-bins [^\n]* match\n$")

    def test_groups_where_none_are_asked_for(self):
        for words, variant, size in (("group=2048", "lane-bins", 1024), ("group=512", "lane-bins", 512), ("local=16384", "uchar-bins", 64)):
            report = self.folder() / "report.json"
            self.runs(words, "--variant", variant, "--json", report)
            self.assertEqual(json.loads(report.read_text())["results"][0]["group_size"], size)

    def test_copies_that_were_asked_for(self):
        self.runs("local=16384", "--variant", "lane-bins", "--copies", "32", status=2, err="--copies: local memory has room for 16\n$")
        run = Run([programs.built("04-per-thread-bins/opencl"), "--list-devices"], self.faulty(""))
        if re.search("Portable Computing Language.*driver [5-9][.]", run.out):
            self.skipTest("PoCL 5 and 6 do not say how much local memory a kernel takes, as PoCL 3.1 does")
        self.runs("local=32768 local-kept=64", "--variant", "lane-bins", "--copies", "32", status=77,
                  out="lane-bins [^\n]* skipped: it needs 32832 bytes of local memory: this device has 32768\n$")


if __name__ == "__main__":
    programs.main()
