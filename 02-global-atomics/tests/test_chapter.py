"""What only chapter 02 tests: the race that is broken on purpose, and drivers that behave as few do (for all programs)."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common" / "tests"))
import programs  # noqa: E402
from programs import QUICK, Test  # noqa: E402

OPENCL, CUDA = programs.built("02-global-atomics/opencl"), programs.built("02-global-atomics/cuda")
GLOBAL = [OPENCL, "--variant", "global", "--random", "1K", "--repeat", "1"]


class OpenCLRace(Test):
    """The detector is seen to work: on a strategy that races on purpose."""

    def test_oclgrind_catches_it(self):
        for walk in ([], ["--walk", "blocked"]):
            run = programs.Run([*self.oclgrind("--data-races", "--max-errors", "1"), OPENCL, "--random", "1000", "--variant", "racy", *walk, *QUICK,
                                "--device", "Oclgrind", "--group-size", "64", "--groups", "3"])
            self.assertRegex(run.out + run.err, "(?s)data race at.*of histogram.cl:", run)

    def test_what_is_skipped_has_lost_nothing(self):
        run = self.expect([OPENCL, "--random", "1000", "--variant", "racy", "--group-size", "2", *QUICK], 77,
                          environment=self.faulty("kernel-group=1"), out="racy [^\n]* skipped: ")
        self.assertNotIn("lost", run.err)

    def test_the_ceiling_is_not_measured_there(self):
        self.expect([*self.oclgrind(), *GLOBAL, "--device", "Oclgrind", "--group-size", "8", "--groups", "1"],
                    err="the read ceiling is not measured: Oclgrind simulates")


class OpenCLClocks(Test):
    """What a device's clock says is held against the host's."""

    def test_clocks_that_cannot_be_true(self):
        for clock in ("no-times", "times=zero", "times=backwards"):
            with self.subTest(clock):
                self.expect([*GLOBAL, "--no-ceiling", "--json", "/dev/stdout"], environment=self.faulty(clock),
                            out="(?s)times: by the host's clock.* match\n.*\"clock\": \"host\"",
                            err="\n[^\n]*: from here on the host's clock is used\n")

    def test_one_that_began_long_ago(self):
        self.expect([*GLOBAL, "--no-ceiling", "--json", "/dev/stdout"], environment=self.faulty("times=epoch"),
                    out="(?s)pixels.\n\nvariant.* match\n.*\"clock\": \"device\"")


class OpenCLCeiling(Test):
    def test_all_is_read(self):
        for processor_or_gpu in ("", " info-1000=4"):
            self.expect(GLOBAL, environment=self.faulty("to-the-end=read_ memory=8388608" + processor_or_gpu), out="read ceiling: ")


class OpenCLHangs(Test):
    """What hangs ends the program, with one line that names it."""

    def test_hangs(self):
        for words, says, options in (("hang=histogram_", "global .*: a run has not ended after 1 s: ", ["--no-ceiling"]),
                                     ("hang=copy", "global .*: a run has not ended after 1 s: ", ["--no-ceiling"]),
                                     ("hang=devices", "asking the OpenCL drivers for their devices: not done after 120 s", []),
                                     ("hang=build", "compiling histogram.cl: not done after 120 s", ["--no-ceiling"]),
                                     ("hang=read_ memory=8388608", "the read ceiling: not done after 1 s: ", [])):
            with self.subTest(words):
                self.expect([*GLOBAL, *options, "--time-limit", "1"], 2, err=says, environment=self.faulty(words))


class OpenCLPlatforms(Test):
    """Platforms that are empty, or fail, and devices that cannot be used."""

    def test_one_of_two_is_enough(self):
        self.expect([*GLOBAL, "--no-ceiling"], environment=self.faulty("platforms=empty-first"), out="match\n$",
                    err="^  global \\.\\.\\. match")
        self.expect([*GLOBAL, "--no-ceiling"], environment=self.faulty("platforms=failing-first"), out="match\n$",
                    err="^passed over OpenCL platform 0: [^\n]* CL_OUT_OF_HOST_MEMORY [^\n]*\n  global \\.\\.\\. match")

    def test_devices_that_cannot_be_used(self):
        for words, says in (("info-1027=0", "it is not available"), ("info-1028=0", "it has no compiler for kernels"),
                            ("version=1.1", "it has OpenCL 1.1")):
            self.expect(GLOBAL, 77, environment=self.faulty(words), err=f"cannot be used: [^\n]*{says}")

    def test_none(self):
        none = {**self.faulty("platforms=none"), "OCL_ICD_VENDORS": str(self.folder())}
        self.expect(GLOBAL, 77, environment=none, err=" names no driver [^\n]*\n$", one_line=True)
        self.expect(GLOBAL, 77, environment=self.faulty("platforms=none"), err="^02-global-atomics/opencl: no OpenCL device: [^\n]*\n$")
        self.expect(GLOBAL, 2, environment=self.faulty("platforms=failing"), one_line=True,
                    err="this machine has too little memory: CL_OUT_OF_HOST_MEMORY ")


if __name__ == "__main__":
    programs.main()
