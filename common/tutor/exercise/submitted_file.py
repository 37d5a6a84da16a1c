"""One submitted file: how it is compiled and run, each time in a sandbox of its own.

Kernels run in run_opencl and run_cuda, which are the grader's, or in run_emulated where there is no GPU. A host program
(kind "host") is the student's own, and so is C++ (kind "c++"): they are loaded as libraries, when all that is sent to them
has been read. What comes back is believed only as far as it is right.

The detectors get what the others get: OpenCL and C++ are preprocessed once, without a word that tells one compiler from
another, and what comes of that is compiled for all of them.
"""

import functools
import json
import re
import threading
import time

import catalogue
import sandbox
import tasks
from catalogue import ROOT, BadInput

HERE, ON_CPU = ROOT / "common/tutor/exercise", ROOT / "common/cuda/on_cpu"
LARGEST_FILE = 1 << 20
SECONDS, TO_COMPILE, UNDER_A_DETECTOR = 20, 60, 60  # for one process; runs take a fraction of a second each
IN_ALL = 180  # for all processes of a file
LARGEST_MADE = 16 << 20
NOT_COMPILED = 3
OCLGRIND_FINDS, SANITIZER_FINDS = (re.compile(f"({catalogue.DETECTORS[each]['faults']})[^\\n]*") for each in ("oclgrind", "compute-sanitizer"))
# An uneven barrier before the races that come of it.
EMULATION_FINDS = re.compile(f"(?:{catalogue.DETECTORS['emulated']['faults']})(?!(?s:.*)not all threads of a block)"
                             r"(?:\(\)[^\n]*?(?=, from call|\n|\Z))?")
COMPILER_FINDS = re.compile(r"(?<=ThreadSanitizer: )data race|(?<=AddressSanitizer: )[a-z-]+|(?<=runtime error: )[^\n]*")
# What OpenCL C 1.2 says of itself; nothing that PoCL and Oclgrind disagree about.
OPENCL_DEFINES = ("__OPENCL_VERSION__=120", "__OPENCL_C_VERSION__=120", "CL_VERSION_1_0=100", "CL_VERSION_1_1=110",
                  "CL_VERSION_1_2=120", "__ENDIAN_LITTLE__=1", "CHAR_BIT=8", "UCHAR_MAX=255", "USHRT_MAX=65535")
# Names that begin with two underscores are the compiler's own, and tell one from another.
OPENCL_NAMES = re.compile(r"\b(?!(?:__(?:kernel|global|local|constant|private|attribute__|read_only|write_only|OPENCL_VERSION__))\b)"
                          r"(__\w+|asm)\b")
# What may switch a sanitizer off in C++: its names, machine code, and names that are pasted together.
SWITCHES = re.compile(r"sanitiz|safety_analysis|annotate|_[atu]b?san_|^(?:_*asm_*|##|%:%:|__CONCAT)$", re.IGNORECASE)
# C++ as far as it tells what is a comment: in a string, a character or a number there is none.
CPP_COMMENT = re.compile(r"""(\b(?:u8|[uUL])?R"([^()\\\s]*)\(.*?(?:\)\2"|\Z)|"(?:\\.|[^"\\\n])*"?|\b\d[\w.']*|'(?:\\.|[^'\\\n])*'?)"""
                         r"|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
COMMENT = re.compile(r"""(\b(?:u8|[uUL])?R"([^()\\\s]*)\(.*?\)\2"|"(?:\\.|[^"\\\n])*"|\b\d[\w.']*|'(?:\\.|[^'\\\n])*')"""
                         r"|//[^\n]*|/\*.*?\*/", re.DOTALL)
COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)


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


def without_switches(text):
    """The C++, if nothing in it can switch a sanitizer off. Raises DoesNotCompile."""
    seen = CPP_COMMENT.sub(lambda each: each.group(1) or " ", re.sub(r"\\[ \t]*\n", "", text))
    for word in re.findall(r"\w+|##|%:%:", seen):
        if SWITCHES.search(word):
            raise DoesNotCompile(f"'{word[:80]}' is not for exercises: it may keep a detector from looking")
    return text


def compiler():
    found = next(filter(None, map(sandbox.where, ("c++", "g++", "clang++"))), None)
    if not found:
        raise NothingToRunOn("there is no C++ compiler among the system's programs")
    return found


def results_of(out, most):
    """[(bytes, times in ms)]: as many as came back whole, and were asked for."""
    found, at = [], 0
    while len(found) < most and (end := out.find(b"\n", at)) >= 0:
        try:
            size, *times = map(float, out[at:end].split())
            at, body = end + 1 + int(size), out[end + 1:end + 1 + int(size)]
        except (ValueError, OverflowError):
            break
        if size < 0 or len(body) < size:
            break
        found.append((body, times))
    return found


@functools.lru_cache(None)
def named_device(name, program, device, under):
    job = json.dumps({"programs": [], "device": device, "cases": []}).encode()
    done = sandbox.run([*under, f"./{name}"], UNDER_A_DETECTOR, job + b"\n", {name: program}, memory=name == "run_opencl", devices=True)
    named = re.search(r"^on (.+)$", done.said, re.MULTILINE)
    if done.status != 0 or not named:
        raise NothingToRunOn((done.said.strip().splitlines() or [done.why()])[-1])
    return named.group(1)


class SubmittedFile:
    """One submitted file. `text` is the student's."""

    emulated = False  # on the CPU

    def __init__(self, exercise, api, name, text, build, device=""):
        self.exercise, self.api, self.build, self.device = exercise, api, build.resolve(), device
        self.name, self.text = name, text
        self.made = {}  # what was compiled already
        self.left = IN_ALL  # seconds
        self.ran_on = ""  # the device, where the program that runs kernels names it
        self.smaller = set()  # groups that it ran in place of larger ones

    def ran_where(self):
        """The device, and which groups it made smaller."""
        return ", ".join(filter(None, [self.ran_on, *sorted(self.smaller)]))

    @property
    def runner(self):
        """The program that runs kernels."""
        return f"run_{self.api}"

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
        if not sandbox.where("nvcc"):
            raise NothingToRunOn("there is no CUDA compiler (nvcc)")
        return sandbox.where("nvcc")

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

    def sandboxed(self, command, seconds, *more, **how):
        """As sandbox.run(), until the time for all of them is up."""
        begin = time.monotonic()
        done = sandbox.run(command, max(min(seconds, self.left), 1), *more, **how)
        self.left -= time.monotonic() - begin
        return done

    def made_by(self, files, command, name):
        """The file of this name that a command makes in $TMPDIR. Raises DoesNotCompile."""
        script = 'made="$TMPDIR/$1"; shift; "$@" -o "$made" >&2 && cat "$made"'
        done = self.sandboxed(["sh", "-c", script, "sh", name, *command], TO_COMPILE, files=files)
        if done.status != 0 or len(done.out) > LARGEST_MADE:
            raise DoesNotCompile(done.ended or done.said or (done.why() if done.status else "what comes of it is too large"))
        return done.out

    def named_device(self, under=()):
        """What kernels run on; a process that has nothing of the student's says it. Raises NothingToRunOn."""
        return named_device(self.runner, self.program(self.runner), "Oclgrind" if under else self.device, under)

    def run_job(self, command, files, runs, programs, under, seconds):
        """Sends a job to one of the programs that run kernels: how it ended, and its results."""
        if not under:  # a detector is a device of its own
            self.ran_on = self.named_device()
        blobs, numbers = [each.pop("bytes", b"") for each in programs], list(dict.fromkeys(run.options for run in runs))
        programs = [{**each, "binary": len(blob)} for each, blob in zip(programs, blobs)]
        cases = []
        for run in runs:
            case, pixels = tasks.case_of(self.exercise, run)
            cases.append({**case, "program": numbers.index(run.options)})
            blobs.append(pixels)
        oclgrind = under and self.api == "opencl"
        job = {"programs": programs, "device": "Oclgrind" if oclgrind else self.device, "cases": cases}
        done = self.sandboxed([*under, *command], seconds, json.dumps(job).encode() + b"\n" + b"".join(blobs), files,
                           memory=self.api == "opencl", devices=True)
        if not under:  # a detector is a device of its own
            self.smaller |= set(re.findall(r"^on (groups of \d+ in place of \d+)$", done.said, re.MULTILINE))
        return done, results_of(done.out, len(runs) or len(programs))

    def detectors(self):
        """What looks for faults, each with what it says then: none where none is there."""
        if self.api == "opencl":
            oclgrind = self.oclgrind()
            return [([oclgrind, *how], OCLGRIND_FINDS) for how in (
                ("--data-races", "--max-errors", "20"),
                # What LLVM's optimisations make of a division, this one does not know: nothing would be counted.
                ("--uninitialized", "--max-errors", "20000", "--build-options", "-cl-opt-disable"))] if oclgrind else []
        sanitizer = sandbox.where("compute-sanitizer")
        return [([sanitizer, "--log-file", "/dev/stderr", "--tool", each], SANITIZER_FINDS) for each in ("memcheck", "racecheck", "synccheck")] \
            if sanitizer else []

    def oclgrind(self):
        """Where it is, if it runs; else None."""
        try:
            self.named_device((sandbox.where("oclgrind") or "oclgrind",))
        except (NothingToRunOn, OSError):
            return None
        return sandbox.where("oclgrind")

    def plain_detector(self):
        """What kernels run under where nothing is looked for; None where it is not there."""
        return [] if self.api == "cuda" else self.turns_detector()

    def turns_detector(self):
        """The same, where the items of a group take turns at barriers alone."""
        return [self.oclgrind()] if self.api == "opencl" and self.oclgrind() else None

    def process(self, runs, under=(), seconds=SECONDS, world=str):
        """Runs these in one process: how it ended, and the results of those that ended. Raises DoesNotCompile.

        `world` is what the kernels' text becomes before.
        """
        raise NotImplementedError


class KernelsFile(SubmittedFile):
    """Kernels alone: in CUDA as PTX, so that of what else stands in the file nothing runs."""

    def compiled(self, options, world):
        """What the driver gets: PTX, or OpenCL C of which only the driver's own names are not yet replaced."""
        if self.api == "cuda":
            files = {self.name: world(self.text).encode()}
            return self.made_by(files, [self.nvcc(), "-std=c++17", "-lineinfo", "-ptx", *options.split(), self.name], "ptx").decode()
        defines = [f"-D{each}" for each in OPENCL_DEFINES]
        flags = ["-E", "-x", "c", "-std=c99", "-undef", "-nostdinc", *defines, *options.split()]
        text = self.made_by({self.name: self.text.encode()}, [compiler(), *flags, self.name], "kernels.cl").decode("utf-8", "replace")
        written, made = COMMENT.sub(" ", self.text).split("\n"), text.split("\n")  # as compilers part lines
        for line in (*written, *(line for line in made if not line.startswith("#"))):
            if wrong := OPENCL_NAMES.search(line):
                raise DoesNotCompile(f"'{wrong.group()}' is not for kernels: {line.strip()}")
        for line in made:  # the driver's preprocessor has nothing left to do
            if re.match(r"\s*(#|%:)(?! \d|pragma )", line):
                raise DoesNotCompile(f"a directive that a macro makes is not for kernels: {line.strip()}")
        return world(text)

    def process(self, runs, under=(), seconds=SECONDS, world=str):
        programs = [{"name": self.name, "text": self.once((options, world), functools.partial(self.compiled, options, world)),
                     "options": ""} for options in dict.fromkeys(run.options for run in runs)]
        done, results = self.run_job([f"./{self.runner}"], {self.runner: self.program(self.runner)}, runs, programs, under, seconds)
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
            return self.made_by({**files, name: text.encode()}, [self.nvcc(), "-std=c++17", "-shared", "-Xcompiler", "-fPIC", self.name], "host.so")
        return self.made_by(files, [compiler(), "-std=c++20", "-O1", "-g", "-shared", "-fPIC", "-DCL_TARGET_OPENCL_VERSION=120",
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

    def process(self, runs, under=(), seconds=SECONDS, world=str):
        library = self.once("library", lambda: self.library(runs[0]))
        binary = self.once(("binary", *under[:1]), lambda: self.binary(runs[0], under))
        return self.run_job(["./run_host", self.api, "./host.so"], {"run_host": self.program("run_host"), "host.so": library}, runs,
                            [{"name": "", "options": "", "bytes": binary}], under, seconds)


class Emulated:
    """CUDA on a processor (common/cuda/on_cpu): the C++ compiler makes a library of it, which is native code."""

    emulated, runner = True, "run_emulated"
    SANITIZERS = ("-fsanitize=thread", "-fsanitize=address")

    def as_cpp(self, name, text):
        """The C++ that a CUDA source becomes."""
        files = {name: without_switches(text).encode(), "to_cpp.cmake": (ON_CPU / "to_cpp.cmake").read_bytes()}
        return self.made_by(files, ["sh", "-c", 'cmake "-DFROM=$0" "-DTO=$2" -P to_cpp.cmake', name], "it.cpp")

    def libraries(self, run, under, options="", world=str):
        """The library for one sanitizer or none, preprocessed once for all of them."""
        def preprocessed():
            headers = {f"common/cuda/on_cpu/{name}": (ON_CPU / name).read_bytes() for name in ("cuda_runtime.h", "cuda_runtime_api.h")}
            flags = ["-std=c++20", "-E", "-w", "-I.", "-Icommon/cuda/on_cpu", *options.split(), "it.cpp"]
            return self.made_by({**headers, **self.sources(run, world)}, [compiler(), *flags], "it.ii")
        text = self.once(("it.ii", options, world), preprocessed)
        flags = ["-std=c++20", "-O1", "-g1", "-w", "-shared", "-fPIC", *under, "it.ii"]
        return self.once((options, world, *under), lambda: self.made_by({"it.ii": text}, [compiler(), *flags], "it.so"))

    def watched(self, name, under):
        """The grader's program of this name, as this sanitizer needs it."""
        return "-".join([name, *(each.removeprefix("-fsanitize=") for each in under)])

    def detectors(self):
        """The sanitizers, where they run here."""
        try:
            for each in self.SANITIZERS:
                program = self.watched(self.runner, (each,))
                named_device(program, self.program(program), "", ())
        except NothingToRunOn:
            return []
        return [((each,), EMULATION_FINDS) for each in self.SANITIZERS]


class EmulatedKernels(Emulated, KernelsFile):
    def turns_detector(self):
        return []  # the threads of a block do

    def sources(self, run, world):
        kernels = dict.fromkeys(step["kernel"] for step in self.exercise.data["steps"])
        known = "".join(f"\nON_CPU_KERNEL({kernel})" for kernel in kernels)  # by their names
        return {"it.cpp": self.as_cpp(self.name, world(self.text)) + known.encode()}

    def process(self, runs, under=(), seconds=SECONDS, world=str):
        programs = [{"name": self.name, "options": "", "bytes": self.libraries(runs[0], under, options, world)}
                    for options in dict.fromkeys(run.options for run in runs)]
        program = self.watched(self.runner, under)
        return self.run_job([f"./{program}"], {program: self.program(program)}, runs, programs, (), seconds)


class EmulatedHost(Emulated, HostFile):
    SANITIZERS = ("-fsanitize=address",)  # the kernel, which is the grader's, has no race

    def sources(self, run, _):
        name, text = self.kernels(run)
        return {"it.cpp": self.as_cpp(self.name, self.text), name: self.as_cpp(name, text)}

    def process(self, runs, under=(), seconds=SECONDS, world=str):
        program = self.watched("run_host_emulated", under)
        files = {program: self.program(program), "host.so": self.libraries(runs[0], under)}
        return self.run_job([f"./{program}", "cuda", "./host.so"], files, runs, [{"name": "", "options": ""}], (), seconds)


_run_cpp, _compiling = {}, threading.Lock()  # {how: what run_cpp() gives}, for all submissions


class CppFile(SubmittedFile):
    """C++, with call.cpp of the exercise behind it, loaded by run_cpp.cpp, which starts the threads."""

    PLANTED = {"thread": "r", "address,undefined": "b"}

    def sanitizer(self):
        return f"-fsanitize={self.exercise.data['sanitizer']}"

    def preprocessed(self):
        flags = [compiler(), "-std=c++20", "-E", self.name]
        text = self.made_by({self.name: without_switches(self.text).encode()}, flags, "it.ii")
        return text + b'\n# 1 "call.cpp"\n' + (self.exercise.folder / "call.cpp").read_bytes()

    def library(self, how):
        text = self.once("text", self.preprocessed)
        return self.made_by({"it.ii": text}, [compiler(), "-std=c++20", *how, "-pthread", "-fPIC", "-shared", "it.ii"], "it.so")

    def run_cpp(self, how):
        """run_cpp, which is the grader's, compiled in this way. Raises DoesNotCompile."""
        with _compiling:
            if how not in _run_cpp:
                name = "run_cpp.cpp"
                _run_cpp[how] = self.made_by({name: (HERE / name).read_bytes()},
                                             [compiler(), "-std=c++20", *how, "-pthread", name, "-ldl"], "run_cpp")
        return _run_cpp[how]

    def detectors(self):
        """The sanitizers of the compiler that exercise.json names, where they run here."""
        try:
            done = sandbox.run(["./run_cpp"], TO_COMPILE, files={"run_cpp": self.run_cpp((self.sanitizer(), "-g", "-O1"))}, memory=False)
        except DoesNotCompile:
            return []
        return [] if "unexpected memory mapping" in done.said else [((self.sanitizer(),), COMPILER_FINDS)]

    def planted(self, runs):
        """How it ends where the grader's own part has a fault, which a detector at work reports."""
        return self.process(runs, (self.sanitizer(),), UNDER_A_DETECTOR, plant=self.PLANTED[self.exercise.data["sanitizer"]])[0]

    def process(self, runs, under=(), seconds=SECONDS, world=str, plant="-"):
        how = (*under, "-g", "-O1") if under else ("-O2",)
        files = {"it.so": self.once(how, lambda: self.library(how)), "run_cpp": self.run_cpp(how)}
        task, data = tasks.task_of(self.exercise), b""
        for run in runs:
            pixels = task.memory(run)
            data += b"%d %d %s\n" % (len(pixels), run.groups if "launches" in self.exercise.points else 1, plant.encode()) + pixels
        # The first race is enough, and each takes time to tell.
        first = "TSAN_OPTIONS=halt_on_error=1:atexit_sleep_ms=0"
        done = self.sandboxed(["env", first, "./run_cpp", "./it.so"], seconds, data, files, memory=not under)
        return done, results_of(done.out, len(runs))


KINDS = {"kernels": KernelsFile, "host": HostFile, "c++": CppFile}
EMULATED = {"kernels": EmulatedKernels, "host": EmulatedHost}


@functools.lru_cache(None)  # the same for a whole class
def no_gpu(build):
    """Whether CUDA is emulated: there is an emulation, and no GPU or no compiler for one."""
    program = build / "common" / "run_cuda"
    if not (build / "common" / Emulated.runner).is_file():
        return False
    try:
        return not (sandbox.where("nvcc") and program.is_file() and named_device(program.name, program.read_bytes(), "", ()))
    except NothingToRunOn:
        return True


def submitted(exercise, api, texts, build, device=""):
    """The files of a submission, {name: text}, in the exercise's order."""
    kinds = EMULATED if api == "cuda" and not device and no_gpu(build) else KINDS
    return [kinds[exercise.kind](exercise, api, name, texts[name], build, device) for name in exercise.files[api]]
