"""One submitted file: how it is compiled and run, each time in a sandbox of its own.

Kernels are run by run_opencl and run_cuda, which are the grader's; run_emulated is run_cuda where there is no GPU. A host
program, CUDA's kernels and C++ are libraries that these and run_cpp load, when all that is sent to them has been read.
What comes back is believed only as far as it is right.
"""

import functools
import re
from typing import NamedTuple

import catalogue
import sandbox
import tasks
from catalogue import ROOT, BadInput

ON_CPU = ROOT / "common/cuda/on_cpu"
LARGEST_FILE, LARGEST_MADE = 1 << 20, 16 << 20
# Of processor time: for all runs in a process, which take a fraction of a second each, half as long each time that some have no
# end; and for a compiler.
SECONDS, TO_COMPILE = 10, 60
NOT_COMPILED = 3
# How run_cuda launches CUDA's kernels: a translation unit of its own, in which nothing of a student's is defined.
LAUNCH = """
extern "C" void {0}({1});
extern "C" cudaError_t launch_{0}(unsigned groups, unsigned group_size, void** arguments, unsigned long shared_bytes) {{
    cudaFuncAttributes allowed{{}};
    if (const cudaError_t error = cudaFuncGetAttributes(&allowed, {0}); error != cudaSuccess) return error;
    if (group_size > static_cast<unsigned>(allowed.maxThreadsPerBlock)) group_size = allowed.maxThreadsPerBlock;
    const cudaError_t error = cudaLaunchKernel({0}, dim3(groups), dim3(group_size), arguments, shared_bytes);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}}
"""


class NothingToRunOn(Exception):
    """There is no device, or no compiler, for this API; the text says which."""


class DoesNotCompile(Exception):
    """What the compiler said."""


class NotEmulated(sandbox.Busy):
    """It needs a word or a header of CUDA's that the emulation lacks, and is not known to lack anything itself."""

    # As the compilers tell a word of ON_CPU_MISSING, which they come to when nothing else is wrong; or a header of CUDA's.
    LACKS = re.compile(r"([^\s:]+:\d+):\d+: (?:fatal )?error: (?:call to \W?(?:\w[\w ]* )?(?:\w+::)*(\w+)<"
                       r"[^\n]* declared with [a-z' ]*: |[^\n]*?(__shared__): )CUDA has"
                       r"|([^\s:]+:\d+):\d+: fatal error: '?((?:cub|thrust|cuda|cooperative_groups)/[^\s:']+|(?:cuda_|curand)\w+\.h|mma\.h)\b")

    @classmethod
    def of(cls, said):
        """It, where the compiler says nothing else; or None."""
        errors = [line[:1000] for line in said.splitlines() if "error:" in line][:1000]
        lacking = [found for line in errors if (found := cls.LACKS.match(line))]
        if not lacking or len(lacking) < len(errors):
            return None
        at, word = filter(None, lacking[0].groups())
        return cls(f"could not be judged here: {at}: CUDA has {word}, and the emulation does not")


class Result(NamedTuple):
    """What came back of a run."""

    data: bytes


class Detector(NamedTuple):
    """A program that a run is started with, or a sanitizer that it is compiled with; and what that says of a fault."""

    name: str
    finds: tuple  # patterns: what the first finds comes before what the second does
    command: tuple = ()
    sanitizer: str = ""  # as the compiler names it

    def found(self, said):
        """The first fault that it tells."""
        said = RACE.sub(lambda race: "" if begins_an_exchange(race) else race[0], said)
        if exchanged := set(EXCHANGED.findall(said)):
            said = UNWRITTEN.sub(lambda says: "" if not says[1] or says[1] in exchanged else says[0], said)
        return next(filter(None, (pattern.search(said) for pattern in self.finds)), None)

    def lines(self, found, name):
        """The lines of the file of this name, of one place or of two, that a report names."""
        report = found.string[found.start():found.start() + 10000]
        if self.name == "oclgrind":
            at = re.findall(rf"^\tAt line (\d+) \(column \d+\) of {re.escape(name)}:", REPORT.match(report)[0], re.MULTILINE)
        elif self.name == "compute-sanitizer":
            at = re.findall(rf"\b{re.escape(name)}:(\d+)", report.split("\n=========\n")[0])[:2]
        else:
            two = report.split("\n\n")[:2] if found[0].endswith("data race") else [report]
            at = [its[1] for each in two if (its := re.search(rf"\b{re.escape(name)}:(\d+)", each))]
        return list(dict.fromkeys(each for each in at if each != "0"))


def finds(name, more=r"[\w ]{0,60}"):
    """A fault as this detector tells it; of what stands behind it in the line only words, for a submission may have written it."""
    return (re.compile(f"(?:{catalogue.DETECTORS[name]['faults']}){more}"),)


# Whatever a submission prints, these read it once: each begins where a line does, or looks no further than its line's end.
# An uneven barrier, or a lane that does not come, before the races that come of it.
EMULATION_FINDS = (re.compile(r"(?:not all threads of a block reach the same __syncthreads|thread \d{1,9} (?:waits in|calls) \w{1,99} at )"
                              r"(?:(?:\(\)|(?<= at ))[^\n]*?(?=, from call|\n|\Z))?"), *finds("emulated", ""))
COMPILER_FINDS = (re.compile(r"ThreadSanitizer: data race|AddressSanitizer: [a-z-]+|runtime error: [\w ',.*()-]{0,99}"),)
# Oclgrind takes what atomic_xchg writes for what was there before, so it does not know of a table that is zeroed like that.
EXCHANGED = re.compile(r"^Uninitialized value written to local memory address (0x\w{1,16})\n.*\n.*\n.*atomic_xchg", re.MULTILINE)
UNWRITTEN = re.compile(r"Uninitialized value [a-z ]{1,40}address (0x\w{1,16})|Controlflow depends on uninit")
REPORT = re.compile(r".*\n?(?:\t.*\n?)*")  # of Oclgrind's

# Two accesses that race, as Oclgrind and ThreadSanitizer tell of them.
RACE = re.compile(r"^Read-write data race at.*\n.*\n.*\n(\tFirst entity:.*\n.*\n.*)\n.*\n.*\n(\tSecond entity:.*\n.*\n.*)|"
                  r"^WARNING: ThreadSanitizer: data race.*\n(  (?:Read|Atomic write) .*\n(?:    #.*\n){1,99})\n"
                  r"(  Previous (?:read|atomic write) .*\n(?:    #.*\n){1,99})", re.MULTILINE)
ATOMICS = (ON_CPU / "cuda_runtime.h").read_text(encoding="utf-8")
EXCHANGES = ATOMICS[:ATOMICS.index("__atomic_compare_exchange(", ATOMICS.index("T atomicCAS("))].count("\n") + 1  # the line that does it


def begins_an_exchange(race):
    """Whether it is the plain read that stands above a compare-and-exchange, which sees whether another has changed the counter
    since: neither OpenCL 1.2 nor CUDA has an atomic read."""
    lines = {}
    for access in filter(None, race.groups()):
        kind = re.search(rf" = (load) |(ead) of size|(_cmpxchg)|(cuda_runtime\.h:{EXCHANGES})\n", access)
        line = re.search(r"(?:At line |\.cu:)(\d+)", access)
        if kind and line:
            lines["read" if kind[1] or kind[2] else "exchange"] = int(line[1])
    return len(lines) == 2 and lines["read"] <= lines["exchange"]


def text_of(name, data):
    """What the student hands in, as a text in whatever encoding. Raises BadInput for whatever is not a small text."""
    if len(data) > LARGEST_FILE:
        raise BadInput(f"{name}: larger than {LARGEST_FILE >> 20} MiB")
    for encoding in ("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "latin-1"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text.replace("\r\n", "\n").replace("\r", "\n")
    raise BadInput(f"{name}: not a text")


def compiler():
    found = next(filter(None, map(sandbox.where, ("c++", "g++", "clang++"))), None)
    if not found:
        raise NothingToRunOn("there is no C++ compiler among the system's programs")
    return found


def watched(runner, sanitizer):
    """The same program, compiled with a sanitizer where there is one."""
    return "-".join(filter(None, (runner, sanitizer.split(",")[0])))


def results_of(out, most):
    """[Result]: as many as came back whole, and were asked for."""
    found, at = [], 0
    while len(found) < most and (end := out.find(b"\n", at)) >= 0:
        try:
            size = int(out[at:end])
            at, body = end + 1 + size, out[end + 1:end + 1 + size]
            if size < 0 or len(body) < size:
                break
            found.append(Result(body))
        except ValueError:
            break
    return found


@functools.lru_cache(None)
def named_device(name, program, device, under):
    """What runs there, which a process says that has nothing of a student's. Raises NothingToRunOn."""
    done = sandbox.run([*under, f"./{name}"], SECONDS, tasks.job(device=device), {name: program}, devices=True)
    named = results_of(done.out, 1)
    if done.status != 0 or not named:
        raise NothingToRunOn((done.said.strip().splitlines() or [done.why()])[-1])
    return named[0].data.decode("utf-8", "replace")


class SubmittedFile:
    """One submitted file. `text` is the student's."""

    runner = ""  # the program of the grader's that runs it
    emulated = False  # on the CPU

    def __init__(self, exercise, api, name, text, build, device=""):
        self.exercise, self.api, self.build, self.device = exercise, api, build.resolve(), device
        self.name, self.text = name, text
        self.made = {}  # what was compiled already
        self.without_end = 0  # processes, or without any result
        self.ran_on = ""  # the device, where the program that runs kernels has named it

    @property
    def on_pocl(self):
        """Whether the work-items of a group take turns."""
        return "(Portable Computing Language)" in self.ran_on

    def program(self, name):
        path = self.build / "common" / name
        if not path.is_file():
            raise BadInput(f"{path} is not built: start this with ./tutorial")
        return path.read_bytes()

    def once(self, what, make, *arguments):
        """The result of make(), which is called once."""
        if what not in self.made:
            self.made[what] = make(*arguments)
        return self.made[what]

    def made_by(self, files, command, name, seconds=TO_COMPILE):
        """The file of this name that a command makes in $TMPDIR. Raises DoesNotCompile."""
        script = 'made="$TMPDIR/$1"; shift; "$@" -o "$made" >&2 && cat "$made"'
        done = sandbox.run(["sh", "-c", script, "sh", name, *command], seconds, files=files)
        if done.status != 0 or len(done.out) > LARGEST_MADE:
            raise DoesNotCompile(done.ended or done.said or (done.why() if done.status else "what comes of it is too large"))
        return done.out

    def calls(self):
        """The calls of the system that are there while it is loaded, and behind that, as seccomp takes them."""
        return []

    def parts(self, runs, detector):
        """What is compiled: a program for each of the runs' options; files beside them; a host program's library."""
        raise NotImplementedError

    def process(self, runs, detector=None, without_pixels=False, longer=1):
        """Runs these in one process: how it ended, and the results of those that ended. Raises DoesNotCompile."""
        command, runner = (detector.command, watched(self.runner, detector.sanitizer)) if detector else ((), self.runner)
        if not detector:  # which is a device of its own
            self.ran_on = named_device(runner, self.program(runner), self.device, ())
        programs, files, library = self.parts(runs, detector)
        numbers = list(dict.fromkeys(run.options for run in runs))
        cases = [tasks.case_of(self.exercise, run, numbers.index(run.options), without_pixels) for run in runs]
        device = "Oclgrind" if detector and self.api == "opencl" else self.device
        seconds = longer * SECONDS if longer > 1 else (2 * SECONDS if detector else SECONDS) / 2 ** self.without_end
        job = tasks.job(cases, device=device, library=library, calls=[] if detector else self.calls(), programs=programs)
        done = sandbox.run([*command, f"./{runner}"], seconds, job, {runner: self.program(runner), **files}, True,
                           max(sandbox.WAITS / 4 ** self.without_end, 2))
        results = results_of(done.out, len(runs))
        self.without_end += bool(done.ended) or not results
        if done.status == NOT_COMPILED and not results:
            raise DoesNotCompile(done.said)
        return done, results


# Under a detector work-items are numbered from the end, and so run in the other order: a work-item that merges without
# waiting is not the last of its group in both.
FROM_THE_END = ("-Dget_local_id(d)=(get_local_size(d)-1-get_local_id(d)) "
                "-Dget_global_id(d)=(get_group_id(d)*get_local_size(d)+get_local_id(d))")


LOCAL_MEMORY = "--local-mem-size", "65536"  # bytes; by itself it has half of what GPUs have


class OpenCLFile(SubmittedFile):
    runner = "run_opencl"

    def parts(self, runs, detector):
        programs = []
        for options in dict.fromkeys(run.options for run in runs):
            options = " ".join(filter(None, (options, FROM_THE_END if detector else "")))
            programs.append({"name": self.name, "text": self.text, "options": options})
        return programs, {}, ""

    def detectors(self):
        """The detectors that this machine has."""
        oclgrind = self.oclgrind()
        return [Detector("oclgrind", finds("oclgrind"), (oclgrind, *how)) for how in (
            (*LOCAL_MEMORY, "--data-races", "--max-errors", "2000"),
            # This check does not know the instructions that LLVM makes of a division: nothing would be counted.
            (*LOCAL_MEMORY, "--uninitialized", "--max-errors", "20000", "--build-options", "-cl-opt-disable"))] if oclgrind else []

    def alone_under(self, oclgrind):
        """Oclgrind as a device, which looks for nothing."""
        return Detector("oclgrind", (), (oclgrind, *LOCAL_MEMORY))

    def oclgrind(self):
        """Where it is, if it runs; else None."""
        try:
            found = sandbox.where("oclgrind") or "oclgrind"
            named_device(self.runner, self.program(self.runner), "Oclgrind", (found,))
            return found
        except NothingToRunOn:
            return None


class OpenCLHost(OpenCLFile):
    """A host program; the kernel that it launches is the grader's."""

    def parts(self, runs, detector):
        kernel = host_kernel(self.exercise, runs[0], "histogram.cl", "get_num_groups(0) * 5 + get_local_size(0) * 3")
        flags = ["-O1", "-g", "-shared", "-fPIC", "-DCL_TARGET_OPENCL_VERSION=120", "-Wl,--require-defined=histogram"]
        made = self.once("library", self.made_by, {self.name: self.text.encode()},
                         [compiler(), "-std=c++20", *flags, self.name, "-lOpenCL"], "host.so")
        return [{"name": "histogram.cl", "text": kernel, "options": ""}], {"host.so": made}, "./host.so"


def host_kernel(exercise, run, name, launch):
    """The kernel of a host exercise, with other bins than the student knows."""
    bins = tasks.task_of(exercise).bin_of(run).replace("LAUNCH", launch)
    return f"#define BIN_OF(pixel) ({bins})\n" + (exercise.folder / name).read_text(encoding="utf-8")


def symbols_of(library):
    """As nm tells them."""
    return sandbox.run(["nm", "it.so"], TO_COMPILE, files={"it.so": library}).out.decode("utf-8", "replace")


# What a sanitizer calls, defined by somebody else; or what turns it off, as no compiler calls it.
HOOK = re.compile(r"^[0-9a-f]+ [A-Za-z] (__(?:[alt]san|ubsan|sanitizer|interceptor)_\w+|Annotate[A-Z]\w+)$|^ +[Uvw] (Annotate[A-Z]\w+|__tsan_"
                  r"(?!init$|func_|(?:unaligned_|volatile_)*(?:read|write)|vptr_|atomic|mem)\w+|__[al]san_(?:(?:un)?poison_mem|set_\w*call|default|on_|ignore)\w+"
                  r"|__sanitizer_\w+)$", re.MULTILINE)


class Library(SubmittedFile):
    """What becomes a library by a C++ compiler, for each sanitizer and for none."""

    flags, names = ("-O1", "-g1", "-w"), ()  # the sanitizers' names
    symbols = ""  # of what was linked last

    def compiled(self, files, words, detector):
        """The library of these files; `words` say what is compiled."""
        how = [f"-fsanitize={detector.sanitizer}", "-O1", "-g1", "-w"] if detector else self.flags
        command = [compiler(), "-std=c++20", "-shared", "-fPIC", "-pthread", *how, *words]
        return self.once((*how, *words), self.linked, files, command)

    def linked(self, files, command):
        """What the command makes, if it leaves the detectors alone. Raises DoesNotCompile."""
        made = self.made_by(files, command, "it.so")
        self.symbols = symbols_of(made)
        if hook := HOOK.search(self.symbols):
            raise DoesNotCompile(f"{hook[1] or hook[2]} is a detector's own: no submission may define or call it")
        return made

    def detectors(self):
        """The sanitizers of the compiler, where they run here."""
        try:
            for each in self.names:
                named_device(watched(self.runner, each), self.program(watched(self.runner, each)), "", ())
        except NothingToRunOn:
            return []
        return [Detector(f"the {each} sanitizer", self.pattern, sanitizer=each) for each in self.names]


class CppFile(Library):
    """C++, with call.cpp of the exercise behind it; run_cpp starts the threads."""

    runner, flags, pattern = "run_cpp", ("-O2",), COMPILER_FINDS

    @property
    def names(self):
        return [self.exercise.data["sanitizer"]]

    def calls(self):
        return [list(rules) for each in (sandbox.IS_LOADED, sandbox.COUNTS) if (rules := sandbox.rules(tuple(each)))]

    def detectors(self):
        first = ("env", "TSAN_OPTIONS=halt_on_error=1:atexit_sleep_ms=0")  # is enough, and each race takes time to tell
        return [each._replace(command=first) for each in super().detectors()]

    def parts(self, runs, detector):
        files = {self.name: self.text.encode(), "call.cpp": (self.exercise.folder / "call.cpp").read_bytes()}
        try:
            return [], {"it.so": self.compiled(files, ["-include", self.name, "call.cpp"], detector)}, "./it.so"
        except DoesNotCompile as why:
            if "error:" in str(why):
                self.compiled(files, ["-c", "-x", "c++", self.name], detector)  # without it the errors are the student's alone
            raise


class EmulatedFile(Library):
    """CUDA on a processor (common/cuda/on_cpu), where its kernels are native code."""

    emulated, runner, pattern = True, "run_emulated", EMULATION_FINDS
    watched = "thread", "address"

    @property
    def names(self):
        return ("address",) if self.exercise.kind == "host" else self.watched  # its kernel is the grader's, and has no race

    def detectors(self):
        return [each._replace(command=("env", "CUDA_ON_CPU_ORDER=1")) for each in super().detectors()]  # as FROM_THE_END

    def as_cpp(self, name, text):
        """The C++ that a CUDA source becomes."""
        if not sandbox.where("cmake"):
            raise NothingToRunOn("there is no cmake among the system's programs")
        files = {name: text.encode(), "to_cpp.cmake": (ON_CPU / "to_cpp.cmake").read_bytes()}
        return self.made_by(files, ["sh", "-c", 'cmake "-DFROM=$0" "-DTO=$2" -P to_cpp.cmake', name], "it.cpp", 5)

    def sources(self, run):
        """{name: text} of the file and what it includes of the exercise."""
        if self.exercise.kind == "host":
            launch = "gridDim.x * 5 + blockDim.x * 3"
            return {self.name: self.text, "histogram.cuh": host_kernel(self.exercise, run, "histogram.cuh", launch)}
        return {self.name: self.text}

    def launcher(self, name):
        """Its file of this name beside that of kernels: {name: bytes}."""
        kernels = {} if self.exercise.kind == "host" else {step["kernel"]: step["arguments"] for step in self.exercise.data["steps"]}
        types = {"ulong": "unsigned long, ", "uint": "unsigned, ", "local": ""}
        text = [LAUNCH.format(kernel, "".join(types.get(each.partition(" ")[0], "void*, ") for each in arguments)[:-2])
                for kernel, arguments in kernels.items()]
        return {name: "".join(["#include <cuda_runtime.h>\n", *text]).encode()} if kernels else {}

    def with_kernels(self, made, again):
        """The library, if its kernels have the names that are launched; else what again() makes with those of C++ for these."""
        there = symbols_of(made)
        more = []
        for kernel in re.findall(r"^ +U (\w+)$", there, re.MULTILINE) if self.exercise.kind != "host" else ():
            if any(kernel == step["kernel"] for step in self.exercise.data["steps"]):
                mangled = re.search(rf"^[0-9a-f]+ [Tt] (_Z{len(kernel)}{kernel}\w+)$", there, re.MULTILINE)
                if not mangled:
                    raise DoesNotCompile(f"there is no kernel {kernel} in this file")
                more.append(f"-Wl,--defsym={kernel}={mangled[1]}")
        return again(more) if more else made

    def library(self, options, run, detector):
        files = {str(path.relative_to(ROOT)): path.read_bytes() for path in ON_CPU.rglob("*") if path.is_file() and path.suffix in (".h", "")}
        for name, text in self.sources(run).items():
            files[name.replace(self.name, "it.cpp")] = self.once(name, self.as_cpp, name, text)
        words = ["-I.", "-Icommon/cuda/on_cpu", *options.split(), "it.cpp", *(launcher := self.launcher("launch.cpp"))]
        try:
            made = self.compiled({**files, **launcher}, words, detector)
            return self.with_kernels(made, lambda more: self.compiled({**files, **launcher}, [*words, *more], detector))
        except DoesNotCompile as why:
            raise NotEmulated.of(str(why)) or why from None

    def parts(self, runs, detector):
        options = dict.fromkeys(run.options for run in runs)
        files = {f"{number}.so": self.library(each, runs[0], detector) for number, each in enumerate(options)}
        programs = [{"name": f"./{name}", "text": "", "options": ""} for name in files]
        return programs, files, "./0.so" if self.exercise.kind == "host" else ""


class CudaFile(EmulatedFile):
    """CUDA on a GPU."""

    emulated, runner = False, "run_cuda"

    def library(self, options, run, detector):
        nvcc = sandbox.where("nvcc")
        if not nvcc:
            raise NothingToRunOn("there is no CUDA compiler (nvcc)")
        files = {**{name: text.encode() for name, text in self.sources(run).items()}, **(launcher := self.launcher("launch.cu"))}
        command = [nvcc, "-std=c++17", "-lineinfo", "-shared", "-Xcompiler", "-fPIC", *options.split(), self.name, *launcher]

        def made(more=()):
            return self.once((options, *more), self.made_by, files, [*command, *(f"-Xlinker={each[4:]}" for each in more)], "it.so")
        return self.with_kernels(made(), made)

    def detectors(self):
        found = sandbox.where("compute-sanitizer")
        return [Detector("compute-sanitizer", finds("compute-sanitizer"), (found, "--log-file", "/dev/stderr", "--tool", tool))
                for tool in ("memcheck", "racecheck", "synccheck")] if found else []


KINDS = {("kernels", "opencl"): OpenCLFile, ("host", "opencl"): OpenCLHost, ("c++", "c++"): CppFile}


@functools.lru_cache(None)  # the same for a whole class
def no_gpu(build):
    """Whether CUDA is emulated: there is an emulation, and no GPU or no compiler for one."""
    program = build / "common" / CudaFile.runner
    if not (build / "common" / EmulatedFile.runner).is_file():
        return False
    try:
        return not (sandbox.where("nvcc") and program.is_file() and named_device(program.name, program.read_bytes(), "", ()))
    except NothingToRunOn:
        return True


def submitted(exercise, api, texts, build, device=""):
    """The files of a submission, {name: text}, in the exercise's order."""
    kind = KINDS.get((exercise.kind, api)) or (EmulatedFile if not device and no_gpu(build) else CudaFile)
    return [kind(exercise, api, name, texts[name], build, device) for name in exercise.files[api]]
