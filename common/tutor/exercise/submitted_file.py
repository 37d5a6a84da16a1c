"""One submitted file: in which folder it is compiled and run, and how.

Kernels run in run_opencl and run_cuda, which are the grader's. A host program (kind "host") is the student's own, and so is
C++ (kind "c++"): they run in a process whose result alone is believed, and only as far as it is right.
"""

import contextlib
import json
import pathlib
import re
import shutil
import tempfile

import catalogue
import sandbox
import tasks
from catalogue import ROOT, BadInput

LARGEST_FILE = 1 << 20
SECONDS = 20  # for one process; a few runs of a fraction of a second each
NOT_COMPILED, NO_DEVICE = 3, 77
OCLGRIND_FINDS, SANITIZER_FINDS = (re.compile(f"({catalogue.DETECTORS[each]['faults']})[^\\n]*") for each in ("oclgrind", "compute-sanitizer"))
COMPILER_FINDS = re.compile(r"(?<=ThreadSanitizer: )data race|(?<=AddressSanitizer: )[a-z-]+|(?<=runtime error: )[^\n]*")


class NothingToRunOn(Exception):
    """There is no device, or no compiler, for this API; the text says which."""


def text_of(path):
    """What the student hands in. Raises BadInput for whatever is not one small text file."""
    if path.is_symlink() or not path.is_file():
        raise BadInput(f"{path}: not a file")
    if path.stat().st_size > LARGEST_FILE:
        raise BadInput(f"{path}: larger than {LARGEST_FILE >> 20} MiB")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"{path}: not a text") from None


def tool(name):
    """Where a tool of the CUDA toolkit is: on PATH, or where NVIDIA's packages put it; else None."""
    return shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")


class SubmittedFile:
    """One submitted file, in a folder with nothing else of the student's."""

    def __init__(self, exercise, api, source, build, folder, device=""):
        self.exercise, self.api, self.build, self.folder, self.device = exercise, api, build.resolve(), folder, device
        self.source = folder / source.name
        self.source.write_text(text_of(source), encoding="utf-8")
        self.number = 0
        self.ran_on = ""  # the device, where the program that runs kernels names it

    @property
    def on_pocl(self):
        """Whether the work-items of a group take turns."""
        return "(Portable Computing Language)" in self.ran_on

    def program(self, name):
        path = self.build / "common" / name
        if not path.is_file():
            raise BadInput(f"{path} is not built: start this with ./tutorial")
        return str(path)

    def nvcc(self):
        if not tool("nvcc"):
            raise NothingToRunOn("there is no CUDA compiler (nvcc)")
        return tool("nvcc")

    def compiled_once(self, made, command):
        """`made`, by this command if it is not there; and what the compiler said, where it does not compile."""
        if made.exists():
            return made, ""
        done = sandbox.run(list(map(str, command)), self.folder, 120)
        return made, "" if done.status == 0 else done.said or done.why()

    def new_folder(self):
        self.number += 1
        folder = self.folder / str(self.number)
        folder.mkdir()
        return folder

    def job(self, runs, kernels, device, rounds):
        """Writes a job for the programs that run kernels, {a run's options: (path, options)}: its path, and its cases."""
        folder = self.new_folder()
        cases = [{**tasks.case_of(self.exercise, run, folder, number), "program": list(kernels).index(run.options), "rounds": rounds}
                 for number, run in enumerate(runs)]
        programs = [{"kernels": str(source), "options": options} for source, options in kernels.values()]
        path = folder / "job.json"
        path.write_text(json.dumps({"programs": programs, "device": device, "cases": cases}))
        return path, [(folder / f"pixels-{number}", pathlib.Path(case["to"])) for number, case in enumerate(cases)]

    def ended(self, command, folder, seconds, memory, under):
        done = sandbox.run([*under, *map(str, command)], folder, seconds, memory)
        named = re.search(r"^on (.+)$", done.said, re.MULTILINE)
        if named and not under:  # a detector is a device of its own
            self.ran_on = named.group(1)
        # The device is named before anything of the student's runs: behind that, 77 is the student's.
        if done.status == NO_DEVICE and not named:
            raise NothingToRunOn((done.said.strip().splitlines() or ["there is no device"])[-1])
        return done

    def detectors(self):
        """What looks for faults, each with what it says then: none where none is there."""
        if self.api == "opencl":
            oclgrind = shutil.which("oclgrind")
            return [([oclgrind, *how], OCLGRIND_FINDS) for how in (
                ("--data-races", "--max-errors", "20"), ("--uninitialized", "--max-errors", "20000"))] if oclgrind else []
        sanitizer = tool("compute-sanitizer")
        return [([sanitizer, "--tool", each], SANITIZER_FINDS) for each in ("memcheck", "racecheck", "synccheck")] \
            if sanitizer else []

    def process(self, runs, under=(), seconds=SECONDS, rounds=1):
        """Runs these in one process: how it ended, and the files (pixels, result), none where it does not compile."""
        raise NotImplementedError


class KernelsFile(SubmittedFile):
    """Kernels alone: in CUDA as PTX, so that of what else stands in the file nothing runs."""

    def compiled(self, options):
        if self.api == "opencl":
            return self.source, ""
        ptx = self.folder / f"kernels{options.replace('=', '-')}.ptx"
        return self.compiled_once(ptx, [self.nvcc(), "-std=c++17", "-lineinfo", "-ptx", *options.split(), "-o", ptx, self.source.name])

    def process(self, runs, under=(), seconds=SECONDS, rounds=1):
        in_opencl, kernels = self.api == "opencl", {}
        for options in dict.fromkeys(run.options for run in runs):
            made, said = self.compiled(options)
            if said:
                return sandbox.Done(NOT_COMPILED, said, False), []
            kernels[options] = made, options if in_opencl else ""
        device = "Oclgrind" if under and in_opencl else self.device
        job, files = self.job(runs, kernels, device, rounds)
        program = self.program("run_opencl" if in_opencl else "run_cuda")
        return self.ended([program, job], job.parent, seconds, in_opencl, under), files


class HostFile(SubmittedFile):
    """A host program, as a library that run_host loads; the kernel that it launches is the grader's."""

    def kernels(self, run):
        """The exercise's kernel, with other bins than the student knows."""
        name = {"opencl": "histogram.cl", "cuda": "histogram.cuh"}[self.api]
        launch = {"opencl": "get_num_groups(0) * 5 + get_local_size(0) * 3", "cuda": "gridDim.x * 5 + blockDim.x * 3"}[self.api]
        bins = tasks.task_of(self.exercise).bin_of(run).replace("LAUNCH", launch)
        return name, f"#define BIN_OF(pixel) ({bins})\n" + text_of(self.exercise.folder / name)

    def compiled(self, run):
        name, text = self.kernels(run)
        folder = self.folder / f"key-{run.key}"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text)
        made = folder / "host.so"
        if self.api == "cuda":
            command = [self.nvcc(), "-std=c++17", "-shared", "-Xcompiler", "-fPIC", "-I", folder, "-o", made, self.source.name]
        else:
            command = [compiler(), "-std=c++20", "-O1", "-g", "-shared", "-fPIC", "-DCL_TARGET_OPENCL_VERSION=120", "-o", made,
                       self.source.name, "-lOpenCL"]
        made, said = self.compiled_once(made, command)
        return made, folder / name, said

    def process(self, runs, under=(), seconds=SECONDS, rounds=1):
        made, kernels, said = self.compiled(runs[0])
        if said:
            return sandbox.Done(NOT_COMPILED, said, False), []
        device = "Oclgrind" if under and self.api == "opencl" else self.device
        job, files = self.job(runs, {"": (kernels, "")}, device, rounds)
        done = self.ended([self.program("run_host"), self.api, made, job], job.parent, seconds, self.api == "opencl", under)
        return by_itself(done), files


class CppFile(SubmittedFile):
    """C++, together with call.cpp of the exercise, which calls it, and run_cpp.cpp, which has main."""

    SANITIZE = "-fsanitize="

    def compiled(self, sanitize=""):
        shutil.copy(self.exercise.folder / "call.cpp", self.folder)
        made = self.folder / f"program{sanitize}"
        how = [sanitize, "-g", "-O1"] if sanitize else ["-O2"]
        return self.compiled_once(made, [compiler(), "-std=c++20", *how, "-pthread", "-I", self.folder, "-o", made, "call.cpp",
                                         ROOT / "common/tutor/exercise/run_cpp.cpp"])

    def detectors(self):
        """The sanitizers of the compiler that exercise.json names."""
        how = self.SANITIZE + self.exercise.data["sanitizer"]
        made, said = self.compiled(how)
        if said:
            return []
        trial, _ = self.process([tasks.Run("", 0, 1, b"", 1, 1)], (how,))
        return [] if "unexpected memory mapping" in trial.said else [((how,), COMPILER_FINDS)]

    def process(self, runs, under=(), seconds=SECONDS, rounds=1):
        made, said = self.compiled(*under)
        if said:
            return sandbox.Done(NOT_COMPILED, said, False), []
        folder, task = self.new_folder(), tasks.task_of(self.exercise)
        files = [(folder / f"pixels-{number}", folder / f"result-{number}") for number in range(len(runs))]
        arguments = []
        for run, (pixels, result) in zip(runs, files):
            pixels.write_bytes(task.memory(run))
            arguments += [pixels, run.groups, result]
        return by_itself(sandbox.run([str(made), *map(str, arguments)], folder, seconds, not under)), files


def by_itself(done):
    """How a student's own process ended: it has been compiled, whatever its exit status says."""
    return done._replace(status=1) if done.status == NOT_COMPILED else done


def compiler():
    return shutil.which("c++") or shutil.which("g++") or shutil.which("clang++") or "c++"


class Guard:
    """Sees whether files of the grader's were changed meanwhile, and puts them back.

    What students edit is not among them: they may save while this looks.
    """

    more = ()  # for the tests

    def __init__(self, build):
        theirs = {path for exercise in catalogue.exercises() for api in exercise.files for path in exercise.skeletons(api)}
        folders = [ROOT / "common" / "tutor" / "exercise", ROOT / "common" / "files", *ROOT.glob("0*/exercise")]
        files = [path for folder in folders for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        files += [path for name in ("run_*", "diagnose") for path in (build / "common").glob(name) if path.is_file()]
        files = [path for path in (*files, *self.more) if path not in theirs and path.suffix != ".md"]
        self.were = {path: (path.read_bytes(), path.stat().st_mode) for path in files}

    def changed(self):
        """The names of those that were changed; they are as they were when this returns."""
        found = []
        for path, (data, mode) in self.were.items():
            try:
                same = path.read_bytes() == data
            except OSError:
                same = False
            if not same:
                found.append(str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name))
                path.unlink(missing_ok=True)
                path.write_bytes(data)
                path.chmod(mode)
        return found


KINDS = {"kernels": KernelsFile, "host": HostFile, "c++": CppFile}


@contextlib.contextmanager
def in_own_folder(exercise, api, source, build, device=""):
    """One submitted file, in a folder which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="exercise-") as folder:
        yield KINDS[exercise.kind](exercise, api, source, build, pathlib.Path(folder), device)
