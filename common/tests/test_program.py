"""What every program of a chapter is tested for, beside its strategies on all inputs (self_test.py)."""

import json
import pathlib
import re
import sys
import unittest

import programs
import served
from programs import BUILD, DETECTORS, GIVEN, QUICK, Test

PROGRAM = programs.built(GIVEN.program)
if PROGRAM is None and programs.BUILD["sanitize"] == "thread":
    sys.exit(77)  # OpenCL's drivers are not ThreadSanitizer's
ABOUT = programs.described(PROGRAM)
FOLDER = pathlib.Path(GIVEN.program).parent  # of a chapter, or of a workshop
API, CHAPTER, EMULATED = ABOUT["api"], ABOUT["chapter"], ABOUT["emulated"]
SOUND = [each["name"] for each in ABOUT["variants"] if not each["broken_on_purpose"]]
SMALL = ["--random", "100003", "--repeat", "1"]
for_opencl = unittest.skipUnless(API == "OpenCL", "for OpenCL")
for_a_gpu = unittest.skipUnless(API == "CUDA" and not EMULATED, "for CUDA on a GPU")

# For the race detectors. Once so many that every loop over pixels has a second turn, in which the counters of the first are
# used again; with few work-items that takes few pixels. Once fewer pixels than work-items, or an early `return` before a
# barrier would not show.
FEWER = ["--random", "150", "--groups", "1", "--group-size", str(DETECTORS["larger_than_bins"][0])]
LAUNCHES = (["--random", "3203", "--contention", "40", "--groups", "2", "--group-size", "4"],  # a byte counts 255 pixels in a turn
            ["--random", "0", "--groups", "2", "--group-size", "64"], FEWER)
LAUNCHES_OF_CHOICES = (["--random", "1103", "--contention", "40", "--groups", "2", "--group-size", "4"], FEWER)

# The arguments, and what the one line on standard error must match.
BAD_COMMAND_LINES = {
    "--nosuch": "nosuch",
    "nosuch.bmp": "nosuch.bmp: .*[Nn]o such file",
    str(pathlib.Path(__file__).with_name("text.bmp")): "text.bmp: not a picture",
    "": "IMAGE: the name is empty",
    "--random 5G": "32-bit",
    "--json /nosuch/folder/out.json": "/nosuch/folder",
    "--device nosuch-device": "nosuch-device",
}


def modes(variant):
    """The arguments of the strategy's kernels: each value of each choice, of which one is as without options."""
    return [[f"--{choice['name']}", value] for choice in ABOUT["choices"] if variant in choice["variants"]
            for value in choice["values"]] or [[]]


def races(variant):
    """The arguments of its runs under a race detector."""
    for number, mode in enumerate(modes(variant)):
        for launch in LAUNCHES if number == 0 else LAUNCHES_OF_CHOICES:
            yield [*QUICK, "--variant", variant, *mode, *launch]


class All(Test):
    """`all` runs every strategy that is not broken on purpose, and each matches."""

    def test_all(self):
        expected = "-\n"
        for name in SOUND:
            expected += rf"{name} [^\n]* " + (r"(match|skipped[^\n]*)\n" if name in GIVEN.may_skip else r"match\n")
        for order in ("0", "1", "2") if EMULATED else ("",):
            run = self.expect([PROGRAM, "--repeat", "2"], out=expected + "$",
                              environment={"CUDA_ON_CPU_ORDER": order, "CUDA_ON_CPU_WANTS_POISON": "1"})
            self.assertFalse(EMULATED and re.search(r"\d (ms|GB/s)|\d\.\d", run.out + run.err), f"a time: {run}")


    @for_opencl
    def test_each_runs_its_own_kernels(self):
        """Where the kernels under its heading do nothing, a strategy's result is wrong."""
        parts = re.split(r"^(?=// ---- )", (programs.ROOT / FOLDER / "histogram.cl").read_text(encoding="utf-8"), flags=re.MULTILINE)
        file = self.folder() / "histogram.cl"
        with served.Served(PROGRAM) as one_process:
            for name in SOUND:
                emptied = [re.sub(r"(?ms)^(__kernel .*?\) \{\n).*?^\}", r"\1}", part) if re.match(rf"// ---- ([\w-]+, )*{name}[:, ]", part) else part
                           for part in parts]
                file.write_text("".join(emptied), encoding="utf-8")
                answer = one_process.ask([*SMALL, "--no-ceiling", "--no-diagnosis", "--variant", name, "--kernels", file])
                if answer["kind"] == "nothing-to-run-on":
                    self.cannot_run(answer["error"])
                with self.subTest(name):
                    self.assertEqual([result["check"] for result in answer.get("run", {}).get("results", [])], ["mismatch"], answer)


class Refusals(Test):
    """Bad command lines: one line, exit status 2."""

    def test_bad_command_lines(self):
        for bad, says in BAD_COMMAND_LINES.items():
            with self.subTest(bad):
                self.expect([PROGRAM, *bad.split(" ")], 2, err=says, one_line=True)

    def test_groups_that_are_too_large(self):
        if API != "C++":
            self.expect([PROGRAM, "--group-size", "1048576", "--random", "100"], 2, one_line=True,
                        err="(work-groups of 1048576 work-items|blocks of 1048576 threads): this device")

    def test_launches_that_are_too_large(self):
        for groups in ("2147483647", "200000000") if "workshops" not in GIVEN.program else ():
            self.expect([PROGRAM, "--groups", groups, "--random", "1M", *QUICK], 2,
                        err="(groups are far too many for 1048576 pixels[^\n]*|more than 1024 threads are of no use)\n$")

    def test_a_walk_that_a_strategy_does_not_have(self):
        for choice in (each for each in ABOUT["choices"] if each["name"] == "walk"):
            for variant in set(SOUND) - set(choice["variants"]):
                self.expect([PROGRAM, "--walk", "blocked", "--variant", variant, *SMALL], 77, out=f"\n{variant} [^\n]* skipped: --walk ")


class Outputs(Test):
    """The files that it writes: --json as the schema has it, and a PNG."""

    def test_files(self):
        folder, pixels = self.folder(), 4096
        files = {"--json": folder / "out.json", "--plot": folder / "out.png"}
        command = [PROGRAM, "--random", str(pixels), "--repeat", "2", "--no-ceiling", *(word for pair in files.items() for word in pair)]
        for _ in range(2):
            self.expect(command)
            self.assertEqual({path.name for path in folder.iterdir()}, {path.name for path in files.values()})
            run = self.document(files["--json"], "run")
            self.assertEqual((run["chapter"], run["input"]["pixels"], run["input"]["seed"], run["read_ceiling_gb_s"]), (CHAPTER, pixels, 1, None))
            self.assertEqual(run["serial_ms"] is None, EMULATED)
            self.assertEqual([result["variant"] for result in run["results"]], SOUND)
            for result in run["results"]:
                self.check_result(result)
            self.assertEqual(sum(run["counts"]), pixels)
            picture = files["--plot"].read_bytes()
            self.assertTrue(picture.startswith(b"\x89PNG\r\n\x1a\n") and 2000 < len(picture) < 1000000, len(picture))
            # Again, onto files that are there already, and longer than what replaces them.
            for path in files.values():
                path.write_text("old content " * 100000)

    def check_result(self, result):
        """A row of a right run, in which nothing was measured to take percents of; on an emulated device nothing at all."""
        if result["check"] == "skipped" and result["variant"] in GIVEN.may_skip:
            self.assertTrue(result["reason"] and result["kernel_ms"] is None, result)
            return
        self.assertEqual((result["check"], result["reason"], result["percent_of_ceiling"]), ("match", "", None), result)
        if EMULATED:
            for time in ("kernel_ms", "clock", "gb_s", "speedup_over_serial", "end_to_end_ms"):
                self.assertIsNone(result[time], f"a time or speed of an emulated device: {time}")
            return
        self.assertIn(result["clock"], ("host",) if API == "C++" else ("host", "device"), result)
        times = result["kernel_ms"]
        self.assertEqual(times["runs"], 2)
        self.assertTrue(0 < times["min"] <= times["median"] <= times["max"], result)
        self.assertTrue(result["gb_s"] > 0 and result["speedup_over_serial"] > 0, result)


class Devices(Test):
    """Devices that are other than most, or not there."""

    @for_opencl
    def test_a_small_device(self):
        self.expect([PROGRAM, *SMALL], environment=self.faulty("group=32 local=8192 memory=8388608 no-profiling discrete"),
                    out="(?s)times: by the host's clock.*" + self.each("match"), err="no times: from here on the host's clock is used")

    @for_opencl
    def test_what_a_kernel_writes_to_was_poisoned(self):
        self.expect([PROGRAM, *SMALL, "--no-ceiling"], environment=self.faulty("unpoisoned=refused"), out=self.each("match"))

    @for_opencl
    def test_their_read_ceiling(self):
        file = self.folder() / "run.json"
        self.expect([PROGRAM, *SMALL, "--variant", SOUND[-1], "--json", file])
        percent = json.loads(file.read_text())["results"][0]["percent_of_ceiling"]
        self.assertTrue(0 < percent < 100, f"so few pixels are counted at {percent} % of what can be read")

    @for_opencl
    def test_a_list_of_them(self):
        self.expect([PROGRAM, "--list-devices"], out=r"^0: [^\n]+ \([^\n]+, driver [^\n]+\)\n")

    @for_opencl
    def test_groups_of_1(self):
        self.expect([PROGRAM, *SMALL, "--no-ceiling"], environment=self.faulty("group=1 flat"), out=self.each("match"))

    @for_opencl
    def test_kernels_that_want_smaller_groups_than_the_device(self):
        # (core-bins wants no more.)
        for name in SOUND:
            self.expect([PROGRAM, *SMALL, "--no-ceiling", "--group-size", "2", "--variant", name], 0 if name == "core-bins" else 77,
                        environment=self.faulty("kernel-group=1"),
                        out="match\n$" if name == "core-bins" else "skipped: this device runs it in groups of at most 1: --group-size 1\n$")

    @for_opencl
    def test_little_memory(self):
        for words in ("memory=65536", "info-1010=65536", "info-101f=65536"):  # of both the largest buffer alone, and all memory
            self.expect([PROGRAM, *SMALL], 2, one_line=True, environment=self.faulty(words),
                        err="take 100003 bytes, and this device has at most 65536 in one piece\n$")

    @for_a_gpu
    def test_why_there_is_no_cuda_device(self):
        self.expect([PROGRAM, "--random", "1K"], 77, one_line=True, environment={"CUDA_VISIBLE_DEVICES": ""},
                    err="cuda: no CUDA device: (there is no NVIDIA driver|the NVIDIA driver is one for CUDA [^\n]*|"
                        "CUDA_VISIBLE_DEVICES='' leaves none)\n$")

    @staticmethod
    def each(check):
        return "\n" + "".join(rf"{name} [^\n]* {check}\n" for name in SOUND) + "$"


class Races(Test):
    """The kernels of a strategy under a race detector, which sees races and memory errors that the results do not show."""

    @for_opencl
    def test_oclgrind(self):
        detector = DETECTORS["oclgrind"]
        large, less = DETECTORS["larger_than_bins"]
        for words in races(GIVEN.variant):
            command = [*self.oclgrind(*detector["options"]), PROGRAM, "--device", "Oclgrind", *words]
            with self.subTest(words):
                run = programs.Run(command)
                if run.status in (2, 77) and str(large) in words:
                    run = programs.Run([*command[:-1], str(less)])
                self.assertEqual(run.status, 0, run)
                self.assertNotRegex(run.out + run.err, programs.finds("oclgrind"), run)

    @unittest.skipUnless(EMULATED, "for CUDA on a CPU")
    def test_emulated(self):
        asked = [words for variant in SOUND for words in races(variant)]
        for sanitizer in ("thread", "address"):
            with self.subTest(sanitizer):
                program = programs.sanitized(PROGRAM, sanitizer)
                run = programs.Run([program], served.environment(program), "".join(json.dumps(words) + "\n" for words in asked))
                self.assertNotRegex(run.err, programs.finds("emulated"), run)
                answers = [json.loads(line) for line in run.out.splitlines()]
                checks = [[result["check"] for result in answer.get("run", {}).get("results", [])] or answer["kind"] for answer in answers]
                wrong = [(words, check) for words, check in zip(asked, checks) if check not in (["match"], ["skipped"])]
                # (Some launches have no room: those of 04's byte counters.)
                self.assertEqual((run.status, len(answers), [each for each in wrong if each[1] != "unsupported"]), (0, len(asked), []), run)

    @for_a_gpu
    def test_compute_sanitizer(self):
        if not BUILD["compute_sanitizer"]:
            self.skipTest("no compute-sanitizer (it comes with the CUDA toolkit)")
        detector = DETECTORS["compute-sanitizer"]
        for mode in modes(GIVEN.variant):
            for tool in detector["tools"]:
                with self.subTest(mode=mode, tool=tool):
                    run = self.expect([BUILD["compute_sanitizer"], "--tool", tool, "--error-exitcode", "1", PROGRAM, "--random", "100003",
                                       "--contention", "40", "--variant", GIVEN.variant, *mode, *QUICK])
                    if "no CUDA device" in run.out + run.err:
                        self.cannot_run(run.err)
                    self.assertNotRegex(run.out + run.err, programs.finds("compute-sanitizer"), run)


class Large(Test):
    """More pixels than a signed 32-bit index reaches. On a CPU this would take minutes."""

    def test_more_than_2_31_pixels(self):
        self.expect([PROGRAM, "--list-devices"])  # it draws its pixels first, and asks for a device then
        self.expect([PROGRAM, "--random", "4294967295", *QUICK])  # the most that a count of 32 bits can hold
        for choice in ABOUT["choices"]:
            if choice["name"] == "walk":
                for variant in set(choice["variants"]) & set(SOUND):
                    self.expect([PROGRAM, "--random", "2200M", "--variant", variant, "--walk", "blocked", *QUICK])


if __name__ == "__main__":
    programs.main()
