"""Submitted CUDA files on a processor (common/cuda/on_cpu): in place of submitted_file.KINDS, where there is no GPU."""

import re

import sandbox
import submitted_file
from catalogue import DETECTORS, ROOT
from submitted_file import NOT_COMPILED, SECONDS

ON_CPU = ROOT / "common/cuda/on_cpu"
FINDS = re.compile(f"({DETECTORS['emulated']['faults']})[^\\n]*")
SANITIZERS = ("thread", "address")


class Emulated:
    """Compiled by the C++ compiler, as a library."""

    def as_cpp(self, source, kernels=()):
        """The C++ that this file becomes, with these kernels known by their names."""
        made = source.with_suffix(".cpp") if source.suffix == ".cu" else source.parent / "on_cpu" / source.name
        made.parent.mkdir(exist_ok=True)
        sandbox.run(["cmake", f"-DFROM={source}", f"-DTO={made}", "-P", str(ON_CPU / "to_cpp.cmake")], self.folder, 120)
        with made.open("a", encoding="utf-8") as text:
            text.writelines(f"\nON_CPU_KERNEL({kernel})" for kernel in kernels)
        return made

    def library(self, made, source, *how):
        return self.compiled_once(made, [submitted_file.compiler(), "-std=c++20", "-O1", "-g1", "-w", "-shared", "-fPIC", *how,
                                         "-I", ROOT, "-I", ON_CPU, "-o", made, source])


class Kernels(Emulated, submitted_file.KernelsFile):
    def compiled(self, options, sanitizer=""):
        kernels = dict.fromkeys(step["kernel"] for step in self.exercise.data["steps"])
        how = [f"-fsanitize={sanitizer}"] if sanitizer else []
        return self.library(self.folder / f"kernels{options.replace('=', '-')}{sanitizer}.so", self.as_cpp(self.source, kernels),
                            *how, *options.split())

    def detectors(self):
        return [((sanitizer,), FINDS) for sanitizer in SANITIZERS]

    def process(self, runs, under=(), seconds=SECONDS, rounds=1):
        kernels = {}
        for options in dict.fromkeys(run.options for run in runs):
            made, said = self.compiled(options, *under)
            if said:
                return sandbox.Done(NOT_COMPILED, said, False), []
            kernels[options] = made, ""
        job, files = self.job(runs, kernels, "", rounds)
        return self.ended([self.program("-".join(["run_emulated", *under])), job], job.parent, seconds, False, ()), files


class Host(Emulated, submitted_file.HostFile):
    def compiled(self, run):
        name, text = self.kernels(run)
        folder = self.folder / f"key-{run.key}"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text)
        self.as_cpp(folder / name)
        made, said = self.library(folder / "host.so", self.as_cpp(self.source), "-I", folder / "on_cpu")
        return made, folder / name, said

    def detectors(self):
        return []

    def program(self, name):
        return super().program(f"{name}_emulated")


KINDS = {"kernels": Kernels, "host": Host}
