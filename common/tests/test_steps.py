"""The kernels of a chapter go through the same steps in each language, and so do its programs.

Kernels: the strategies in their order, and the comments that begin with "Step" and a number, but for the APIs' own words. In WGSL
there are some of the strategies.

Programs: the OpenCL and the CUDA program of a chapter, or of a workshop, go through the same numbered steps, and each step calls
the same functions of common/ in the same order. A step is a comment that begins with its number; what is compared is the
number and the first words up to a colon, full stop or comma, in which the APIs use the same terms."""

import re

import programs
from programs import ROOT, Test

# What only OpenCL needs: a context, and a compiler while the program runs; its limits vary more, and so do its clocks.
ONLY_OPENCL = ("read_kernel_file|max_work_group_size|error_name|has_extension|require_memory|profiling|"
               "plausible_ms|kernel_file|options.wants|max_block_size")
# What the programs call that is neither API's: the frame, and what common/ has for both.
OF_COMMON = (r"(?:common::|\boptions\.(?!c_str)|lesson\.(?:options\.)?)[a-z_:]*|"
             r"\b(?:choose_device|read_ceiling_gb_s|unsupported_reason|poison|add_rows|report_exception)")
PAIRS = sorted(path.parent for path in ROOT.glob("0[2-5]-*/**/opencl.cpp") if (path.parent / "cuda.cu").exists())


def course(text):
    """The steps and the calls of a program, as they come."""
    found = re.findall(rf"\n *(// [0-9]+\. [^:.,\n]*)|(//[^\n]*)|((?:{OF_COMMON})\()", text)
    for step, _, call in found:
        call = re.sub(r"::(opencl|cuda)::", "::", call).strip()
        call = re.sub(r"::compute_units|::multiprocessors", "::units", call)  # one number, two words,
        if step or (call and not re.search(rf"(?:::|lesson\.)({ONLY_OPENCL})\(", call)):
            yield step or call


def difference(opencl, cuda):
    """What differs first, in a line; nothing where they agree."""
    courses = [list(course(text)) for text in (opencl, cuda)]
    steps = [[each for each in one if each.startswith("//")] for one in courses]
    if len(steps[0]) < 5:
        return f"{len(steps[0])} numbered steps"
    if steps[0] != steps[1]:
        return f"different steps: {steps[0]} and {steps[1]}"
    step = "what stands before the first step"
    for one, other in zip(*courses):
        if one != other:
            return f"different calls in {step}: {one} and {other}"
        step = one if one.startswith("//") else step
    return "" if len(courses[0]) == len(courses[1]) else f"different calls in {step}: one goes on"


# A heading of a strategy, or a numbered step.
STEP = re.compile(r"^ *// (---- [\w-]+: .*|Step [0-9]: .*)$", re.MULTILINE)
ONE_WORD = (("block", "group"), ("thread", "work-item"), ("shared memory", "local memory"), ("Shared memory", "Local memory"))


def steps_of(kernels):
    """{strategy: its steps up to the first full stop or comma, in OpenCL's words}"""
    found, strategy = {}, ""
    for line in STEP.findall(kernels):
        for cuda, opencl in ONE_WORD:
            line = line.replace(cuda, opencl)
        if line.startswith("----"):
            strategy = line.strip("- ").partition(":")[0]
            found[strategy] = []
        else:
            found[strategy].append(re.split(r"[.,]", line)[0])
    return found


def kernel_difference(opencl, other, has_all):
    """Which strategies have other steps; nothing where they agree."""
    opencl, other = steps_of(opencl), steps_of(other)
    shared = [name for name in opencl if has_all or name in other]
    if list(other) != shared:
        return sorted({*shared} ^ {*other}) or ["another order"]
    return [name for name, steps in other.items() if steps != opencl[name]]


class SameKernels(Test):
    def test_each_chapter(self):
        in_wgsl = 0
        for folder in sorted(path.parent for path in ROOT.glob("0[2-4]-*/histogram.cl")):
            opencl = (folder / "histogram.cl").read_text()
            self.assertEqual(kernel_difference(opencl, (folder / "histogram.cuh").read_text(), True), [], folder.name)
            wgsl = (folder / "histogram.wgsl").read_text()
            self.assertEqual(kernel_difference(opencl, wgsl, False), [], folder.name)
            in_wgsl += len(steps_of(wgsl))
        self.assertEqual(in_wgsl, 4)


class SameSteps(Test):
    def test_each_pair(self):
        self.assertGreaterEqual(len(PAIRS), 6)
        for folder in PAIRS:
            with self.subTest(folder.relative_to(ROOT)):
                self.assertEqual(difference((folder / "opencl.cpp").read_text(), (folder / "cuda.cu").read_text()), "")

# The most lines of a chapter's host, in OpenCL and in CUDA; and where its first launch stands at the latest, which no frame may
# push away from the top.
MOST_LINES = {"02": (145, 117), "03": (173, 135), "04": (203, 167), "05": (210, 182)}
FIRST_LAUNCH = {"02": 88, "03": 88, "04": 105, "05": 105}
LAUNCH = re.compile(r"clEnqueueNDRangeKernel\(|<<<")
# What an OpenCL program needs, all of it on its page.
CALLS = (
    "clCreateContext", "clCreateCommandQueue", "clCreateProgramWithSource", "clBuildProgram", "clCreateKernel",
    "clCreateBuffer", "clSetKernelArg", "clEnqueueWriteBuffer", "clEnqueueFillBuffer", "clEnqueueNDRangeKernel",
    "clEnqueueReadBuffer", "clGetEventProfilingInfo")
# A raw call whose error is looked at, by the name that it has: the next call would else be blamed.
CHECKED = re.compile(r"\b(?:CHECK_CL|CHECK_CUDA|check_build)\( ?(?:cl|cuda)[A-Z]|"
                     r"\b(cl[A-Z]\w*)\([^;]*&error\)+; CHECK_CL\(error, (?:\(?\"\1\b|name\))|cudaGet(LastError|ErrorString)\(")


class Kernels(Test):
    def test_each_is_launched(self):
        """In CUDA; in OpenCL test_program.py tells by the result."""
        for folder in sorted(ROOT.glob("0[2-5]-*")):
            text = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.cu*")))
            kernels = re.findall(r"__global__ [^;{]*?\bvoid (\w+)\(", text)
            self.assertGreaterEqual(len(kernels), 4, folder.name)
            self.assertEqual([name for name in kernels if len(re.findall(rf"\b{name}\b", text)) < 2], [], folder.name)


class Hosts(Test):
    """A host is read from top to bottom, in minutes, with every raw call in sight."""

    def test_each_host(self):
        for chapter, most_lines in MOST_LINES.items():
            for file, most in zip(("opencl.cpp", "cuda.cu"), most_lines):
                with self.subTest(chapter=chapter, file=file):
                    [path] = ROOT.glob(f"{chapter}-*/{file}")
                    text = path.read_text()
                    self.assertLessEqual(text.count("\n"), most)
                    self.assertLessEqual(len(re.findall('^#include "', text, re.MULTILINE)), 6)
                    self.assertNotRegex(text, "tutor|diagnos|serve")
                    first = text[:LAUNCH.search(text).start()].count("\n") + 1
                    self.assertLessEqual(first, FIRST_LAUNCH[chapter])
                    missing = [call for call in CALLS if file == "opencl.cpp" and f"{call}(" not in text]
                    self.assertEqual(missing, [])

    def test_each_call_is_checked(self):
        for path in (folder / file for folder in PAIRS for file in ("opencl.cpp", "cuda.cu")):
            code = " ".join(re.sub("//[^\n]*", "", path.read_text()).split())
            with self.subTest(path):
                self.assertEqual(re.findall(r'(?<!")\b(?:cl|cuda)[A-Z]\w*\(.{,60}', CHECKED.sub("", code)), [])


if __name__ == "__main__":
    programs.main()
