"""Each strategy is whole: its kernels, its place in both host programs, its section in the lesson."""

import re

import programs
from programs import ROOT, Test

# The published launch of uchar-bins, with its kernel and in its section: only its steps are looked at.
ONLY_A_LAUNCH = "04-per-thread-bins/uchar-overflow"


def strategies(chapter, host):
    """The names in the program's kProgram."""
    text = (ROOT / chapter / host).read_text(encoding="utf-8")
    listed = re.search(r"const (?:common::)?Program kProgram\{(.*?)\}\}[,}]", text, re.DOTALL)[1]
    return re.findall(r'\{"([a-z0-9-]+)",', listed)


def steps(text):
    """The numbered steps of a program: number, and what stands there up to the next."""
    parts = re.split(r"\n *// ([0-9]+)\. ", text)
    return dict(zip(parts[1::2], parts[2::2]))


def lacking(chapter, strategy, files):
    """What is missing of a strategy, in words. Files: the texts of the chapter, by name."""
    quoted = f'"{strategy}"'
    found = [[number for number, step in steps(files[host]).items() if quoted in step] for host in ("opencl.cpp", "cuda.cu")]
    for host, numbers in zip(("opencl.cpp", "cuda.cu"), found):
        if not numbers:
            yield f"no numbered step of {host} runs it"
    if all(found) and found[0] != found[1]:
        yield f"its step is {found[0]} in OpenCL and {found[1]} in CUDA"
    if f"{chapter}/{strategy}" == ONLY_A_LAUNCH:
        return
    for kernels in ("histogram.cl", "histogram.cuh"):
        if not re.search(rf"^// ---- {strategy}:", files[kernels], re.MULTILINE):
            yield f"no heading in {kernels} names it"
    if not re.search(rf"^### {strategy}:", files["README.md"], re.MULTILINE):
        yield "no section of README.md is about it"


def texts(chapter):
    folder = ROOT / chapter
    return {name: (folder / name).read_text(encoding="utf-8") for name in ("opencl.cpp", "cuda.cu", "histogram.cl", "histogram.cuh", "README.md")}


class Strategies(Test):
    def test_each_is_whole(self):
        for chapter in sorted(path.name for path in ROOT.glob("0[2-5]-*")):
            files, names = texts(chapter), strategies(chapter, "opencl.cpp")
            self.assertGreaterEqual(len(names), 3, chapter)
            self.assertEqual(names, strategies(chapter, "cuda.cu"), f"the programs of {chapter} have other strategies")
            for name in names:
                with self.subTest(f"{chapter}/{name}"):
                    self.assertEqual(list(lacking(chapter, name, files)), [])

    def test_each_kernel_is_launched(self):
        """In CUDA; in OpenCL test_program.py tells by the result."""
        for folder in sorted(ROOT.glob("0[2-5]-*")):
            text = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.cu*")))
            kernels = re.findall(r"__global__ [^;{]*?\bvoid (\w+)\(", text)
            self.assertGreaterEqual(len(kernels), 4, folder.name)
            self.assertEqual([name for name in kernels if len(re.findall(rf"\b{name}\b", text)) < 2], [], folder.name)


if __name__ == "__main__":
    programs.main()
