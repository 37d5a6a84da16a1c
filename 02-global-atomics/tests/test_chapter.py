"""What only chapter 02 tests: the race that is broken on purpose, and drivers that behave as few do (for all programs)."""

import os
import pathlib
import re
import shutil
import subprocess
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
        run = self.expect(GLOBAL, environment=self.faulty("times=fast"), out="times: by the host's clock", err="the host's clock is used\n")
        self.assertLess(float(re.search(r"read ceiling: ([0-9.]+) GB/s", run.out).group(1)), 1e5)

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
                                     ("hang=build", "compiling histogram.cl: not done after 120 s", ["--no-ceiling"]),
                                     ("hang=read_ memory=8388608", "the read ceiling: not done after 1 s: ", [])):
            with self.subTest(words):
                self.expect([*GLOBAL, *options, "--time-limit", "1"], 2, err=says, environment=self.faulty(words))
        self.expect(GLOBAL, 77, environment=self.faulty("hang=devices"), one_line=True, err="no OpenCL device: .*: it hangs")


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

    def test_a_gpu_that_cannot_be_used_is_not_taken(self):
        self.expect([OPENCL, "--list-devices"], environment=self.faulty("unusable-gpu-first"), out="^0: .*\n1: ")
        self.expect(GLOBAL, environment=self.faulty("unusable-gpu-first"), out=" match\n$")

    def test_groups_are_as_large_as_their_first_dimension(self):
        self.expect([*GLOBAL, "--no-ceiling", "--json", "/dev/stdout"], environment=self.faulty("info-1005=16,8,4"), out='"group_size": 16,')

    def test_none(self):
        none = {**self.faulty("platforms=none"), "OCL_ICD_VENDORS": str(self.folder()), "OCL_ICD_FILENAMES": ""}
        self.expect(GLOBAL, 77, environment=none, err=" names no driver [^\n]*\n$", one_line=True)
        self.expect(GLOBAL, 77, environment=self.faulty("platforms=none"), err="^02-global-atomics/opencl: no OpenCL device: [^\n]*\n$")
        self.expect(GLOBAL, 2, environment=self.faulty("platforms=failing"), one_line=True,
                    err="this machine has too little memory: CL_OUT_OF_HOST_MEMORY ")


class OpenCLDrivers(Test):
    """A driver that is bad costs itself, and why there is no device is said of each."""

    BAD = """#include <stdlib.h>
        extern "C" int clIcdGetPlatformIDsKHR(unsigned, void*, unsigned*) { abort(); }
        extern "C" int clGetPlatformInfo(void*, unsigned, size_t, void*, size_t*) { return -32; }
        extern "C" void* clGetExtensionFunctionAddress(const char*) { return (void*)clIcdGetPlatformIDsKHR; }"""

    def setUp(self):
        self.pocl = pathlib.Path("/etc/OpenCL/vendors/pocl.icd")
        if not self.pocl.exists() or programs.BUILD["sanitize"]:
            self.skipTest("no PoCL (package pocl-opencl-icd)")
        if re.search("libOpenCL.* => .*cuda", subprocess.run(["ldd", OPENCL], capture_output=True, text=True).stdout):
            self.skipTest("the CUDA toolkit's loader does not look where OCL_ICD_VENDORS says")
        self.drivers = self.folder()

    def refused(self, says, **environment):
        """Nothing to run on, for this reason, in one line; the list of devices says the same."""
        for options in (["--no-ceiling"], ["--list-devices"]):
            self.expect([*GLOBAL, *options], 77, one_line=True, err=f"^02-global-atomics/opencl: no OpenCL device: {says}\n$",
                        environment={"OCL_ICD_VENDORS": str(self.drivers), "OCL_ICD_FILENAMES": "", **environment})

    def test_one_that_crashes_or_ends_the_program_when_it_is_asked(self):
        for how, says in (("exit(0)", "it ends the program"), ("abort()", "it crashes")):
            made, bad, says = self.drivers / f"{how}.so", self.drivers / "a.icd", f"{says} when it is asked for its devices"
            subprocess.run([programs.BUILD["compiler"], "-shared", "-fPIC", "-x", "c++", "-", "-o", made], input=self.BAD.replace("abort()", how),
                           text=True, check=True)
            bad.write_text(f"{made}\n")
            (self.drivers / "b.icd").unlink(missing_ok=True)
            self.refused(f"{bad}: {says}.*")
            shutil.copy(self.pocl, self.drivers / "b.icd")
            self.expect([*GLOBAL, "--no-ceiling"], out="match\n$", err=f"^passed over OpenCL driver {bad}: {says}[^\n]*\n  global \\.\\.\\. match",
                        environment={"OCL_ICD_VENDORS": str(self.drivers), "OCL_ICD_FILENAMES": "", "TMPDIR": "/proc"})  # where nothing can be made
        (self.drivers / "b.icd").unlink()
        kernels = self.drivers / "wrong.cl"
        kernels.write_text((programs.ROOT / "02-global-atomics/histogram.cl").read_text().replace("i < count", "i + 1 < count"))
        # The runs of the diagnosis find the driver, too.
        self.expect([*GLOBAL, "--no-ceiling", "--kernels", kernels], 1, err="of [0-9]+ runs that differ",
                    environment={"OCL_ICD_VENDORS": str(self.drivers), "OCL_ICD_FILENAMES": self.pocl.read_text().strip()})
        shutil.copy(self.pocl, self.drivers / "b.icd")
        os.mkfifo(self.drivers / "pipe.icd")
        self.expect([*GLOBAL, "--no-ceiling"], out="match\n$", err=r"(?s)passed over.*passed over OpenCL driver .*/pipe.icd: a named pipe",
                    environment={"OCL_ICD_VENDORS": str(self.drivers), "OCL_ICD_FILENAMES": ""})

    def test_why_one_has_no_device(self):
        self.refused(f"{self.drivers} names no driver .*")
        self.refused("/no/a.icd: No such [^;]*; /no/b.icd: No such [^;]*", OCL_ICD_FILENAMES="/no/a.icd:/no/b.icd")
        (self.drivers / "a.icd").write_text("libnosuch.so.1\n")
        self.refused(f"{self.drivers}/a.icd: libnosuch.so.1: cannot open shared object file: No such file or directory")
        (self.drivers / "a.icd").write_text("")
        shutil.copy(self.pocl, self.drivers / "b.icd")
        self.refused(f"{self.drivers}/a.icd: an empty file; {self.drivers}/b.icd: POCL_DEVICES=nosuch names none of its", POCL_DEVICES="nosuch")
        (self.drivers / "a.icd").unlink()
        self.refused(f"{self.drivers}/b.icd: PoCL cannot write to /proc/nosuch: .*", POCL_CACHE_DIR="/proc/nosuch")
        self.refused(f"{self.drivers}/b.icd: POCL_CACHE_DIR is empty", POCL_CACHE_DIR="")
        self.expect([*GLOBAL, "--no-ceiling"], 2, environment={"POCL_CACHE_DIR": "/dev/null"}, one_line=True,
                    err="no word of the compiler about histogram.cl: PoCL cannot write to /dev/null: ")

    def test_one_that_ends_the_program_at_work(self):
        # LLVM does, with status 1, where it cannot write what it has compiled.
        self.expect(["bash", "-c", 'ulimit -f 64; exec "$@"', "-", *GLOBAL, "--no-ceiling"], 2,
                    environment={"POCL_CACHE_DIR": str(self.folder()), "OCL_ICD_VENDORS": str(self.pocl)},
                    err="LLVM ERROR: [^\n]*\n(compiling histogram.cl|global[^\n]*): the driver has ended the program, and may have said why above\n$")

    def test_more_private_memory_than_its_threads_have_stack(self):
        kernels, head = self.folder() / "histogram.cl", "__global uint* histogram) {\n"
        text = (programs.ROOT / "02-global-atomics/histogram.cl").read_text(encoding="utf-8")
        much = "volatile uint own[1 << 22]; for (uint i = 1 << 22; i-- > 0;) own[i] = i;\n"
        kernels.write_text(text.replace(head, head + much, 2), encoding="utf-8")
        self.expect([*GLOBAL, "--no-ceiling", "--kernels", kernels], 2, environment={"OCL_ICD_VENDORS": str(self.pocl)},
                    err=r"\nglobal [^\n]*: it crashed; most likely [^\n]*, or needs more stack than there is[.] [^\n]*\n$")


if __name__ == "__main__":
    programs.main()
