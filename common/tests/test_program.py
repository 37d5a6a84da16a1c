"""What every program of a chapter is tested for, beside its strategies on all inputs (--self-test)."""

import json
import pathlib
import re

import outputs
import programs
from programs import BUILD, DETECTORS, GIVEN, QUICK, Test

PROGRAM = programs.built(GIVEN.program)
ABOUT = programs.described(PROGRAM)
API, CHAPTER, EMULATED = ABOUT["api"], ABOUT["chapter"], ABOUT["emulated"]
SOUND = [each["name"] for each in ABOUT["variants"] if not each["broken_on_purpose"]]
SMALL = ["--random", "100003", "--repeat", "1"]

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
    f"--json {PROGRAM}": "this program and --json name the same file",
    f"--json {pathlib.Path(__file__)}": "it is a source file",
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
            run = self.expect([PROGRAM, "--repeat", "2"], out=expected + "$", environment={"CUDA_ON_CPU_ORDER": order})
            self.assertFalse(EMULATED and re.search(r"\d (ms|GB/s)|\d\.\d", run.out + run.err), f"a time: {run}")


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


class Outputs(Test):
    """The files that it writes."""

    def test_files(self):
        if outputs.jsonschema is None:
            self.skipTest("no Python module jsonschema (package python3-jsonschema)")
        folder = self.folder()
        command = [PROGRAM, "--random", str(outputs.PIXELS), "--repeat", "2", "--no-ceiling"]
        for option, name in outputs.FILES.items():
            command += [option, folder / name]
        for _ in range(2):
            self.expect(command)
            outputs.check_files(folder, CHAPTER, SOUND, GIVEN.may_skip, EMULATED)
            # Again, onto files that are there already, and longer than what replaces them.
            for name in outputs.FILES.values():
                (folder / name).write_text("old content " * 100000)


class Devices(Test):
    """Devices that are other than most, or not there."""

    def test_a_small_device(self):
        self.opencl_only()
        self.expect([PROGRAM, *SMALL], environment=self.faulty("group=32 local=4096 memory=8388608 no-profiling discrete"),
                    out="(?s)times: by the host's clock.*" + self.each("match"), err="no times: from here on the host's clock is used")

    def test_their_read_ceiling(self):
        self.opencl_only()
        file = self.folder() / "run.json"
        self.expect([PROGRAM, *SMALL, "--variant", SOUND[-1], "--json", file])
        percent = json.loads(file.read_text())["results"][0]["percent_of_ceiling"]
        self.assertTrue(0 < percent < 100, f"so few pixels are counted at {percent} % of what can be read")

    def test_a_list_of_them(self):
        self.opencl_only()
        self.expect([PROGRAM, "--list-devices"], out=r"^0: [^\n]+ \([^\n]+, driver [^\n]+\)\n")

    def test_groups_of_1(self):
        self.opencl_only()
        self.expect([PROGRAM, *SMALL, "--no-ceiling"], environment=self.faulty("group=1 flat"), out=self.each("match"))

    def test_kernels_that_want_smaller_groups_than_the_device(self):
        self.opencl_only()
        self.expect([PROGRAM, *SMALL, "--no-ceiling", "--group-size", "2"], 77, environment=self.faulty("kernel-group=1"),
                    out=self.each("skipped: this device runs it in groups of at most 1: --group-size 1"))

    def test_little_memory(self):
        self.opencl_only()
        self.expect([PROGRAM, *SMALL], 2, one_line=True, environment=self.faulty("memory=65536"),
                    err="take 100003 bytes, and this device has at most 65536 .*--chunk 16384\n$")

    def test_surroundings_that_are_too_small(self):
        self.opencl_only()
        for limit, says in (("-s 64", "the stack is limited to 64 KiB"),
                            ("-f 0", "PoCL cannot write to its cache, [^\n]*: File too large [(]POCL_CACHE_DIR")):
            self.expect(["sh", "-c", f'ulimit {limit}; exec "$@"', "sh", PROGRAM, *SMALL], 2, err=says, one_line=True,
                        environment={**self.faulty("as usual"), "POCL_CACHE_DIR": str(self.folder())})

    def test_why_there_is_no_cuda_device(self):
        if API != "CUDA" or EMULATED:
            self.skipTest("for CUDA on a GPU")
        self.expect([PROGRAM, "--random", "1K"], 77, one_line=True, environment={"CUDA_VISIBLE_DEVICES": ""},
                    err="cuda: no CUDA device: (there is no NVIDIA driver|the NVIDIA driver is one for CUDA [^\n]*|"
                        "CUDA_VISIBLE_DEVICES='' leaves none)\n$")

    def opencl_only(self):
        if API != "OpenCL":
            self.skipTest("for OpenCL")

    @staticmethod
    def each(check):
        return "\n" + "".join(rf"{name} [^\n]* {check}\n" for name in SOUND) + "$"


class Races(Test):
    """The kernels of a strategy under a race detector, which sees races and memory errors that the results do not show."""

    def test_oclgrind(self):
        if API != "OpenCL":
            self.skipTest("for OpenCL")
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

    def test_emulated(self):
        if not EMULATED:
            self.skipTest("for CUDA on a CPU")
        asked = [words for variant in SOUND for words in races(variant)]
        for sanitizer in ("thread", "address"):
            with self.subTest(sanitizer):
                run = programs.Run([programs.sanitized(PROGRAM, sanitizer), "--serve"], text="".join(json.dumps(words) + "\n" for words in asked))
                self.assertNotRegex(run.err, programs.finds("emulated"), run)
                answers = [json.loads(line) for line in run.out.splitlines()]
                checks = [[result["check"] for result in answer.get("run", {}).get("results", [])] or answer["kind"] for answer in answers]
                wrong = [(words, check) for words, check in zip(asked, checks) if check not in (["match"], ["skipped"])]
                # (Some launches have no room: those of 04's byte counters.)
                self.assertEqual((run.status, len(answers), [each for each in wrong if each[1] != "unsupported"]), (0, len(asked), []), run)

    def test_compute_sanitizer(self):
        if API != "CUDA" or EMULATED:
            self.skipTest("for CUDA on a GPU")
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
        self.expect([PROGRAM, "--random", "2200M", *QUICK])
        for choice in ABOUT["choices"]:
            if choice["name"] == "walk":
                for variant in set(choice["variants"]) & set(SOUND):
                    self.expect([PROGRAM, "--random", "2200M", "--variant", variant, "--walk", "blocked", *QUICK])


if __name__ == "__main__":
    programs.main()
