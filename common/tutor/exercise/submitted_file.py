"""One submitted file: how it is compiled and run, each time in a sandbox of its own.

Kernels run in run_opencl and run_cuda, which are the grader's. A host program (kind "host") is the student's own, and so is
C++ (kind "c++"): they are loaded as libraries, when all that is sent to them has been read. What comes back is believed only
as far as it is right.

The detectors get what the others get: OpenCL and C++ are preprocessed once, without a word that tells one compiler from
another, and what comes of that is compiled for all of them.
"""

import functools
import json
import re
import shutil

import catalogue
import sandbox
import tasks
from catalogue import ROOT, BadInput

HERE = ROOT / "common/tutor/exercise"
LARGEST_FILE = 1 << 20
SECONDS, TO_COMPILE, UNDER_A_DETECTOR = 20, 60, 60  # for one process; runs take a fraction of a second each
NOT_COMPILED, NO_DEVICE = 3, 77
OCLGRIND_FINDS, SANITIZER_FINDS = (re.compile(f"({catalogue.DETECTORS[each]['faults']})[^\\n]*") for each in ("oclgrind", "compute-sanitizer"))
COMPILER_FINDS = re.compile(r"(?<=ThreadSanitizer: )data race|(?<=AddressSanitizer: )[a-z-]+|(?<=runtime error: )[^\n]*")
# What OpenCL C 1.2 says of itself; nothing that PoCL and Oclgrind disagree about.
OPENCL_DEFINES = ("__OPENCL_VERSION__=120", "__OPENCL_C_VERSION__=120", "CL_VERSION_1_0=100", "CL_VERSION_1_1=110",
                  "CL_VERSION_1_2=120", "__ENDIAN_LITTLE__=1", "CHAR_BIT=8", "UCHAR_MAX=255", "USHRT_MAX=65535")
OPENCL_NAMES = re.compile(r"\b(?!(?:__(?:kernel|global|local|constant|private|attribute__|read_only|write_only))\b)(__\w+|asm)\b")


class NothingToRunOn(Exception):
    """There is no device, or no compiler, for this API; the text says which."""


class DoesNotCompile(Exception):
    """What the compiler said."""


def text_of(path, data=None):
    """What the student hands in, as a text. Raises BadInput for whatever is not one small text file."""
    if data is None:
        if path.is_symlink() or not path.is_file():
            raise BadInput(f"{path}: not a file")
        if path.stat().st_size > LARGEST_FILE:
            raise BadInput(f"{path}: larger than {LARGEST_FILE >> 20} MiB")
        data = path.read_bytes()
    wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")  # as some editors write
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise BadInput(f"{path}: not a text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def tool(name):
    """Where a tool of the CUDA toolkit is: on PATH, or where NVIDIA's packages put it; else None."""
    return shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")


def compiler():
    return next(filter(shutil.which, ("c++", "g++", "clang++")), "c++")


def results_of(out):
    """[(bytes, times in ms)]: as many as came back whole."""
    found, at = [], 0
    while (end := out.find(b"\n", at)) >= 0:
        try:
            size, *times = map(float, out[at:end].split())
            at, body = end + 1 + int(size), out[end + 1:end + 1 + int(size)]
        except (ValueError, OverflowError):
            break
        if size < 0 or len(body) < size:
            break
        found.append((body, times))
    return found


def made_by(files, command, name):
    """The file of this name that a command makes in $TMPDIR. Raises DoesNotCompile."""
    script = 'made="$TMPDIR/$1"; shift; "$@" -o "$made" >&2 && cat "$made"'
    done = sandbox.run(["sh", "-c", script, "sh", name, *command], TO_COMPILE, files=files)
    if done.status != 0:
        raise DoesNotCompile(done.said or done.why())
    return done.out


class SubmittedFile:
    """One submitted file. `text` is the student's."""

    def __init__(self, exercise, api, name, text, build, device=""):
        self.exercise, self.api, self.build, self.device = exercise, api, build.resolve(), device
        self.name, self.text = name, text
        self.made = {}  # what was compiled already
        self.ran_on = ""  # the device, where the program that runs kernels names it
        self.smaller = set()  # groups that it ran in place of larger ones

    @property
    def on_pocl(self):
        """Whether the work-items of a group take turns."""
        return "(Portable Computing Language)" in self.ran_on

    def program(self, name):
        path = self.build / "common" / name
        if not path.is_file():
            raise BadInput(f"{path} is not built: start this with ./tutorial")
        return path.read_bytes()

    def nvcc(self):
        if not tool("nvcc"):
            raise NothingToRunOn("there is no CUDA compiler (nvcc)")
        return tool("nvcc")

    def once(self, what, make):
        """What make() gives, or raises, made once."""
        if what not in self.made:
            try:
                self.made[what] = make()
            except DoesNotCompile as wrong:
                self.made[what] = wrong
        if isinstance(self.made[what], DoesNotCompile):
            raise self.made[what]
        return self.made[what]

    def run_job(self, command, files, runs, programs, under, seconds, rounds=1):
        """Sends a job to one of the programs that run kernels: how it ended, and its results."""
        blobs, numbers = [each.pop("bytes", b"") for each in programs], list(dict.fromkeys(run.options for run in runs))
        programs = [{**each, "binary": len(blob)} for each, blob in zip(programs, blobs)]
        cases = []
        for run in runs:
            case, pixels = tasks.case_of(self.exercise, run)
            cases.append({**case, "program": numbers.index(run.options), "rounds": rounds})
            blobs.append(pixels)
        oclgrind = under and self.api == "opencl"
        job = {"programs": programs, "device": "Oclgrind" if oclgrind else self.device, "cases": cases}
        done = sandbox.run([*under, *command], seconds, json.dumps(job).encode() + b"\n" + b"".join(blobs), files,
                           memory=self.api == "opencl", devices=True)
        named = re.search(r"^on (.+)$", done.said, re.MULTILINE)
        if named and not under:  # a detector is a device of its own
            self.smaller |= set(re.findall(r"^on (groups of \d+ in place of \d+)$", done.said, re.MULTILINE))
            self.ran_on = ", ".join([named.group(1), *sorted(self.smaller)])
        # The device is named before anything of the student's runs: behind that, 77 is the student's.
        if done.status == NO_DEVICE and not named:
            raise NothingToRunOn((done.said.strip().splitlines() or ["there is no device"])[-1])
        return done, results_of(done.out)

    def detectors(self):
        """What looks for faults, each with what it says then: none where none is there."""
        if self.api == "opencl":
            oclgrind = shutil.which("oclgrind")
            return [([oclgrind, *how], OCLGRIND_FINDS) for how in (
                ("--data-races", "--max-errors", "20"),
                # What LLVM's optimisations make of a division, this one does not know: nothing would be counted.
                ("--uninitialized", "--max-errors", "20000", "--build-options", "-cl-opt-disable"))] if oclgrind else []
        sanitizer = tool("compute-sanitizer")
        return [([sanitizer, "--tool", each], SANITIZER_FINDS) for each in ("memcheck", "racecheck", "synccheck")] \
            if sanitizer else []

    def plain_detector(self):
        """What runs like a detector and looks for nothing; None where there is no such thing."""
        return [shutil.which("oclgrind")] if self.api == "opencl" and shutil.which("oclgrind") else None

    def process(self, runs, under=(), seconds=SECONDS, rounds=1, world=""):
        """Runs these in one process: how it ended, and the results of those that ended. Raises DoesNotCompile."""
        raise NotImplementedError


class KernelsFile(SubmittedFile):
    """Kernels alone: in CUDA as PTX, so that of what else stands in the file nothing runs."""

    def compiled(self, options):
        """What the driver gets: PTX, or OpenCL C of which only the driver's own names are not yet replaced."""
        files = {self.name: self.text.encode()}
        if self.api == "cuda":
            return made_by(files, [self.nvcc(), "-std=c++17", "-lineinfo", "-ptx", *options.split(), self.name], "ptx").decode()
        defines = [f"-D{each}" for each in OPENCL_DEFINES]
        text = made_by(files, [compiler(), "-E", "-x", "c", "-std=c99", "-undef", "-nostdinc", *defines, *options.split(), self.name],
                       "kernels.cl").decode("utf-8", "replace")
        for line in text.splitlines():
            wrong = re.match(r"\s*(#|%:)(?! \d|pragma )", line) or (not line.startswith("#") and OPENCL_NAMES.search(line))
            if wrong:
                raise DoesNotCompile(f"'{wrong.group(1)}' is not for kernels: {line.strip()}")
        return text

    def process(self, runs, under=(), seconds=SECONDS, rounds=1, world=""):
        in_opencl = self.api == "opencl"
        programs = [{"name": self.name, "text": world + self.once(options, functools.partial(self.compiled, options)),
                     "options": ""} for options in dict.fromkeys(run.options for run in runs)]
        name = "run_opencl" if in_opencl else "run_cuda"
        done, results = self.run_job([f"./{name}"], {name: self.program(name)}, runs, programs, under, seconds, rounds)
        if done.status == NOT_COMPILED and not results:
            raise DoesNotCompile(done.said)
        return done, results


class HostFile(SubmittedFile):
    """A host program, as a library that run_host loads; the kernel that it launches is the grader's."""

    def kernels(self, run):
        """The exercise's kernel, with other bins than the student knows."""
        name = {"opencl": "histogram.cl", "cuda": "histogram.cuh"}[self.api]
        launch = {"opencl": "get_num_groups(0) * 5 + get_local_size(0) * 3", "cuda": "gridDim.x * 5 + blockDim.x * 3"}[self.api]
        bins = tasks.task_of(self.exercise).bin_of(run).replace("LAUNCH", launch)
        return name, f"#define BIN_OF(pixel) ({bins})\n" + text_of(self.exercise.folder / name)

    def library(self, run):
        files = {self.name: self.text.encode()}
        if self.api == "cuda":
            name, text = self.kernels(run)
            return made_by({**files, name: text.encode()}, [self.nvcc(), "-std=c++17", "-shared", "-Xcompiler", "-fPIC", self.name], "host.so")
        return made_by(files, [compiler(), "-std=c++20", "-O1", "-g", "-shared", "-fPIC", "-DCL_TARGET_OPENCL_VERSION=120",
                               "-Wl,--require-defined=histogram", self.name, "-lOpenCL"], "host.so")

    def binary(self, run, under):
        """The kernels compiled, by a process that has nothing of the student's."""
        if self.api == "cuda":
            return b""
        name, text = self.kernels(run)
        done, results = self.run_job(["./run_opencl", "compile"], {"run_opencl": self.program("run_opencl")}, [],
                                     [{"name": name, "text": text, "options": ""}], under[:1], TO_COMPILE)
        if not results:
            raise NothingToRunOn(f"the exercise's own kernel does not compile: {done.said.strip()[-200:]}")
        return results[0][0]

    def process(self, runs, under=(), seconds=SECONDS, rounds=1, world=""):
        library = self.once("library", lambda: self.library(runs[0]))
        binary = self.once(("binary", *under[:1]), lambda: self.binary(runs[0], under))
        return self.run_job(["./run_host", self.api, "./host.so"], {"run_host": self.program("run_host"), "host.so": library}, runs,
                            [{"name": "", "options": "", "bytes": binary}], under, seconds, rounds)


class CppFile(SubmittedFile):
    """C++, with call.cpp of the exercise behind it, loaded by run_cpp.cpp, which starts the threads."""

    PLANTED = {"thread": "r", "address,undefined": "b"}

    def sanitizer(self):
        return f"-fsanitize={self.exercise.data['sanitizer']}"

    def preprocessed(self):
        flags = [compiler(), "-std=c++20", "-E", self.name]
        text = made_by({self.name: self.text.encode()}, flags, "it.ii")
        return text + b'\n# 1 "call.cpp"\n' + (self.exercise.folder / "call.cpp").read_bytes()

    def library(self, how):
        text = self.once("text", self.preprocessed)
        return made_by({"it.ii": text}, [compiler(), "-std=c++20", *how, "-pthread", "-fPIC", "-shared", "it.ii"], "it.so")

    def detectors(self):
        """The sanitizers of the compiler that exercise.json names, where they run here."""
        try:
            done = sandbox.run(["./run_cpp"], TO_COMPILE, files={"run_cpp": run_cpp((self.sanitizer(), "-g", "-O1"))}, memory=False)
        except DoesNotCompile:
            return []
        return [] if "unexpected memory mapping" in done.said else [((self.sanitizer(),), COMPILER_FINDS)]

    def planted(self, runs):
        """How it ends where the grader's own part has a fault, which a detector at work reports."""
        return self.process(runs, (self.sanitizer(),), UNDER_A_DETECTOR, plant=self.PLANTED[self.exercise.data["sanitizer"]])[0]

    def process(self, runs, under=(), seconds=SECONDS, rounds=1, world="", plant="-"):
        how = (*under, "-g", "-O1") if under else ("-O2",)
        files = {"it.so": self.once(how, lambda: self.library(how)), "run_cpp": run_cpp(how)}
        task, data = tasks.task_of(self.exercise), b""
        for run in runs:
            pixels = task.memory(run)
            data += b"%d %d %s\n" % (len(pixels), run.groups if "launches" in self.exercise.points else 1, plant.encode()) + pixels
        done = sandbox.run(["./run_cpp", "./it.so"], seconds, data, files, memory=not under)
        return done, results_of(done.out)


@functools.lru_cache(None)
def run_cpp(how):
    """run_cpp, which is the grader's, compiled in this way. Raises DoesNotCompile."""
    name = "run_cpp.cpp"
    return made_by({name: (HERE / name).read_bytes()}, [compiler(), "-std=c++20", *how, "-pthread", name, "-ldl"], "run_cpp")


KINDS = {"kernels": KernelsFile, "host": HostFile, "c++": CppFile}


def submitted(exercise, api, texts, build, device=""):
    """The files of a submission, {name: text}, in the exercise's order."""
    return [KINDS[exercise.kind](exercise, api, name, texts[name], build, device) for name in exercise.files[api]]
