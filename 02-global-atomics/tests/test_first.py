"""first.cpp and first.cu, the two programs that stand alone: the line at their top compiles them, and nothing else is needed."""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common" / "tests"))
import programs  # noqa: E402
from programs import IMAGES, ROOT, Run, Test  # noqa: E402

CHAPTER = ROOT / "02-global-atomics"
OPENCL, CUDA = ((CHAPTER / name).read_text(encoding="utf-8") for name in ("first.cpp", "first.cu"))
# first.cu emulated, as it is and with a wrong bin: CMakeLists.txt tells where, if it can be built.
ON_CPU = [os.environ.get(f"FIRST_ON_CPU_{name}") for name in ("right", "wrong")]
# NVIDIA's own packages leave nvcc off PATH; this is where they put it.
ENVIRONMENT = {**os.environ, "PATH": f"{os.environ['PATH']}{os.pathsep}/usr/local/cuda/bin"}
# What a first program includes and links, and the package that has it.
NEEDED = (("stb/stb_image.h", "libstb-dev"), ("CL/cl.h", "opencl-headers"), ("-lOpenCL", "ocl-icd-opencl-dev"))
PLACE = tempfile.TemporaryDirectory()


@functools.cache
def compiled(text):
    """The program that the line at the top makes of this text, in a folder of its own beside the pictures."""
    command = re.search(r"^//   Compile:  (.*)$", text, re.MULTILINE).group(1)
    compiler, source = command.split()[:2]
    if shutil.which(compiler, path=ENVIRONMENT["PATH"]) is None:
        raise unittest.SkipTest(f"no {compiler}")
    folder = pathlib.Path(tempfile.mkdtemp(dir=PLACE.name)) / CHAPTER.name
    folder.mkdir()
    (folder.parent / "images").symlink_to(IMAGES)
    (folder / source).write_text(text, encoding="utf-8")
    done = subprocess.run(command, shell=True, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    for file, package in NEEDED:
        if done.returncode != 0 and re.search(rf"(fatal error|cannot find):? {re.escape(file)}", done.stderr):
            raise unittest.SkipTest(f"no {file} (package {package})")
    if done.returncode != 0 or done.stdout or done.stderr:
        raise AssertionError(f"{command}\nexit status {done.returncode}\n{done.stdout}{done.stderr}")
    return folder / "first"


class First:
    """What is expected of both; no tests of its own."""

    def expect_right(self, program):
        """It counts pictures of all kinds, and has one clear line for what is none."""
        constant, empty = self.folder() / "constant.pgm", self.folder() / "empty.bmp"
        constant.write_bytes(b"P5 1000 701 255\n" + b"\x7f" * 701000)
        empty.touch()
        for picture, size in ((IMAGES / "landscape.bmp", "512 x 512"), (IMAGES / "one-pixel.bmp", "1 x 1"), (IMAGES / "one-column.bmp", "1 x 1000"),
                              (IMAGES / "colour.bmp", "[0-9]+ x [0-9]+"), (constant, "1000 x 701")):
            self.expect([program, picture], out=rf"\A[^\n]+: {size} pixels in [0-9.]+ ms, 0 of 256 bins are wrong\n\Z", err=r"\A\Z")
        for none in ("nosuch.bmp", ROOT / "README.md", ROOT, empty):
            self.expect([program, none], 2, out=r"\A\Z", err=f"^first: {re.escape(str(none))} is not a picture", one_line=True)

    def planted(self, text, old, new):
        """The text with a mistake in it."""
        self.assertEqual(text.count(old), 1)
        return text.replace(old, new)


class OpenCLFirst(First, Test):
    def test_pictures(self):
        self.expect_right(compiled(OPENCL))

    def test_its_own_picture(self):
        self.expect(["sh", "-c", 'cd "$0" && ./first', compiled(OPENCL).parent], out=": 512 x 512 pixels in .* 0 of 256 bins are wrong\n$")

    def test_a_wrong_bin(self):
        wrong = self.planted(OPENCL, "histogram[pixels[i]]", "histogram[pixels[i] ^ 1]")
        self.expect([compiled(wrong), IMAGES / "one-pixel.bmp"], 1, out=", 2 of 256 bins are wrong\n$")

    def test_a_kernel_that_does_not_compile(self):
        wrong = self.planted(OPENCL, "atomic_inc", "atomic_nosuch")
        self.expect([compiled(wrong), IMAGES / "one-pixel.bmp"], 2, err=r"(?s)atomic_nosuch.*\nfirst.cpp:[0-9]+: OpenCL error -11 ")

    def test_no_device(self):
        environment = {**self.faulty("platforms=none"), "OCL_ICD_VENDORS": str(self.folder())}
        run = Run([compiled(OPENCL), IMAGES / "one-pixel.bmp"], environment)
        self.assertEqual((run.status, run.out, run.err), (77, "", "first: there is no OpenCL device\n"))

    def test_a_clock_that_cannot_be_true(self):
        for clock in ("zero", "backwards", "fast"):
            self.expect([compiled(OPENCL), IMAGES / "one-pixel.bmp"], environment=self.faulty(f"times={clock}"),
                        out="1 x 1 pixels in an unknown time, 0 of")

    def test_a_gpu_is_taken_first(self):
        # Oclgrind says that it is one. It would also tell of a wrong call, and of a race.
        detector = self.oclgrind("--data-races", "--check-api")
        self.expect([*detector, compiled(OPENCL), IMAGES / "one-column.bmp"],
                    out=r"\AOclgrind Simulator: 1 x 1000 pixels in [0-9.]+ ms, 0 of 256 bins are wrong\n\Z", err=r"\A\Z")

    def test_a_call_that_fails(self):
        command = [compiled(OPENCL), IMAGES / "one-pixel.bmp"]
        lines = set()
        for number in range(1, 100):
            run = Run(command, self.faulty(f"fail={number}"))
            if run.status == 99:  # there are fewer calls
                break
            self.assertEqual(run.status, 2, run)
            # Where the program ends while PoCL still compiles, that says so behind it.
            line, *others = run.err.splitlines(keepends=True)
            self.assertRegex(line, r"\Afirst\.cpp:[0-9]+: OpenCL error -5 [^\n]*\n\Z", run)
            self.assertNotIn("first.cpp", "".join(others), run)
            lines.add(line)
        calls = re.findall(r"\bcl[A-Z]\w+\(", OPENCL)
        # That driver passes on what releases. And no log is asked for.
        untried = [call for call in calls if call.startswith("clRelease") or call == "clGetProgramBuildInfo("]
        self.assertEqual(len(lines), len(calls) - len(untried))


class CudaFirst(First, Test):
    def setUp(self):
        if programs.built("02-global-atomics/cuda") is None:
            self.skipTest("no CUDA compiler that works (nvcc), or it was switched off")

    def test_pictures(self):
        run = Run([compiled(CUDA), IMAGES / "one-pixel.bmp"])
        if run.status == 77:
            self.assertRegex(run.err, r"\Afirst: there is no CUDA device: [^\n]+\n\Z")
            self.skipTest(f"compiled, and not run: {run.err.strip()}")
        self.expect_right(compiled(CUDA))


class CudaFirstOnCpu(First, Test):
    def setUp(self):
        if None in ON_CPU:
            self.skipTest("first.cu was not made for a CPU: that needs Linux, and stb/stb_image.h (package libstb-dev)")

    def test_pictures(self):
        self.expect_right(ON_CPU[0])

    def test_a_wrong_bin(self):
        self.expect([ON_CPU[1], IMAGES / "one-pixel.bmp"], 1, out=", 2 of 256 bins are wrong\n$")


class FirstSteps(Test):
    def test_both_go_through_the_same(self):
        steps = [re.findall(r"^    // ([0-9]+\. [^:.,]*)", text, re.MULTILINE) for text in (OPENCL, CUDA)]
        self.assertEqual([step.split(".")[0] for step in steps[0]], [str(number) for number in range(1, 14)])
        self.assertEqual(*steps)

    def test_each_call_is_checked(self):
        for text in (OPENCL, CUDA):
            calls = re.findall(r"(CHECK_\w+\(|=|)\s*\b((?:cl|cuda)[A-Z]\w+)\(", text)
            self.assertGreater(len(calls), 15)
            self.assertEqual([call for checked, call in calls if not checked and call != "cudaGetErrorString"], [])

if __name__ == "__main__":
    programs.main()
