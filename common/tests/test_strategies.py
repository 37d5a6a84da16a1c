"""Each strategy is whole: its kernels, its place in both host programs, its section in the lesson, its mistake in broken/."""

import re

import programs
from programs import ROOT, Test

# Of these only the steps of the host programs are looked at, and why.
MISTAKES_THEMSELVES = {
    "02-global-atomics/racy": "it is a mistake itself, so none in broken/ is its",
    "04-per-thread-bins/uchar-overflow": "it is the published launch of uchar-bins, with its kernel and in its section",
}
# Of these no mistake is asked for, and why.
MISTAKES_ELSEWHERE = {"05-launch-tuning/two-per-sm": "it is chapter 03's `local`, whose mistakes stand there"}


def strategies(chapter, host):
    """The names in the program's kProgram."""
    text = (ROOT / chapter / host).read_text(encoding="utf-8")
    listed = re.search(r"const common::Program kProgram\{(.*?)\}\}[,}]", text, re.DOTALL)[1]
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
    if f"{chapter}/{strategy}" in MISTAKES_THEMSELVES:
        return
    for kernels in ("histogram.cl", "histogram.cuh"):
        if not re.search(rf"^// ---- {strategy}:", files[kernels], re.MULTILINE):
            yield f"no heading in {kernels} names it"
    if not re.search(rf"^### {strategy}:", files["README.md"], re.MULTILINE):
        yield "no section of README.md is about it"
    # (A copy for students has no mistakes.)
    asked = files["broken"] and f"{chapter}/{strategy}" not in MISTAKES_ELSEWHERE
    if asked and not re.search(rf"^variant: {strategy}$", files["broken"], re.MULTILINE):
        yield "no mistake in broken/ is its"


def texts(chapter):
    folder = ROOT / chapter
    files = {name: (folder / name).read_text(encoding="utf-8") for name in ("opencl.cpp", "cuda.cu", "histogram.cl", "histogram.cuh", "README.md")}
    return {**files, "broken": "\n".join(path.read_text(encoding="utf-8") for path in sorted((folder / "broken").glob("*.txt")))}


class Strategies(Test):
    def test_each_is_whole(self):
        for chapter in sorted(path.name for path in ROOT.glob("0[2-5]-*")):
            files, names = texts(chapter), strategies(chapter, "opencl.cpp")
            self.assertGreaterEqual(len(names), 3, chapter)
            self.assertEqual(names, strategies(chapter, "cuda.cu"), f"the programs of {chapter} have other strategies")
            for name in names:
                with self.subTest(f"{chapter}/{name}"):
                    self.assertEqual(list(lacking(chapter, name, files)), [])


if __name__ == "__main__":
    programs.main()
