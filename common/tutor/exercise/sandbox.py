"""Runs a program that cannot be trusted: alone, with limits, and nothing left of it behind.

With bubblewrap it has a process tree, a network and a /tmp of its own, and sees the system's programs and libraries and
the files that it is given; all of that is gone afterwards. Its input and its output go through pipes.
Without bubblewrap the limits hold, and nothing else.

No clock decides: the limit is one of processor time, and what waits for something that never comes is seen by that, too.
Where a machine is so busy that it cannot be told, it is run once more, alone; then Busy is raised.
"""

import contextlib
import ctypes
import errno
import functools
import mmap
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from typing import NamedTuple

from catalogue import ROOT

MEMORY = 4 << 30  # that all of its processes use together
DISK = 512 << 20
OUTPUT = 64 << 20  # in one file, and in its results
PRINTS = 8 << 20  # a detector says much
PROCESSES = 128 + 2 * (os.cpu_count() or 1)  # at a time, and threads; drivers start some for each core
PLACES = os.cpu_count() or 1  # for so many at a time; what waits needs none
CLOCK = 20  # times the processor time that it may take, and that at least a minute: the machine was too busy
NOBODY = 65534  # root is held by no limit
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt/intel", "/opt/rocm",
          "/etc/alternatives", "/etc/ld.so.cache", "/etc/OpenCL", "/sys")
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/cuda/bin"
DEVICES = ("/dev/dri", "/dev/kfd", "/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
# Seconds, all in all, in which none of its threads could run: it waits for what never comes, or for a GPU.
WAITS = 20 if any(map(os.path.exists, DEVICES)) else 10
# Calls of the system that are not there: what speaks to others, memory that belongs to no process, a machine's affairs, and a low
# priority, with which what has no end takes its time.
NO_CALLS = """socket socketpair add_key request_key keyctl ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd shmget
msgget semget mq_open memfd_create memfd_secret io_uring_setup userfaultfd perf_event_open bpf unshare setns mount umount2
move_mount open_tree fsopen pivot_root chroot name_to_handle_at open_by_handle_at fanotify_init quotactl acct syslog
init_module finit_module delete_module kexec_load reboot swapon swapoff settimeofday clock_settime sethostname
sched_setscheduler sched_setattr setpriority""".split()
# All that is there for C++ in a process of its own, which counts in threads and prints; and while it is loaded, when what it
# begins with runs. No memory becomes executable but a file's then, and none is opened but to be read.
COUNTS = """brk mmap mprotect munmap mremap madvise futex clone clone3 set_robust_list rseq rt_sigprocmask rt_sigaction
rt_sigreturn sched_yield sched_getaffinity gettid getpid tgkill clock_gettime clock_nanosleep nanosleep getrandom write writev
fstat newfstatat exit exit_group restart_syscall""".split()
IS_LOADED = [*COUNTS, *"openat read pread64 lseek close getcwd readlink prctl".split()]
NO_END, TOO_MANY, TOO_LARGE = "it does not end", "it starts processes without end", "it takes memory without end"
COMPILED = None  # a folder for what PoCL has compiled, which all runs share: for tests, which know their submissions
FLOODS, TOO_BUSY = "it writes without end", "could not be judged: the machine was too busy"


class Busy(Exception):
    """The machine was too busy, also for this program alone: nothing is known of it."""


class Done(NamedTuple):
    """How it ended."""

    status: int  # its exit status; negative: the signal that ended it
    said: str  # on standard error, the beginning of it
    out: bytes = b""  # standard output
    ended: str = ""  # why it was ended, where it was

    def why(self):
        """In words, where it did not end well."""
        if self.status < 0 and not self.ended:
            return f"it crashes ({next((each.name for each in signal.Signals if each == -self.status), -self.status)})"
        return self.ended or f"it ends with {self.status}"


def _drivers():
    """Where the environment has OpenCL's loader look for drivers, and these with what lies beside them in a folder of libraries."""
    vendors = pathlib.Path(os.environ.get("OCL_ICD_VENDORS") or os.environ.get("OPENCL_VENDOR_PATH") or "/etc/OpenCL/vendors")
    names = os.environ.get("OCL_ICD_FILENAMES", "").split(":")
    for icd in [vendors] if vendors.is_file() else vendors.glob("*.icd"):
        with contextlib.suppress(OSError):
            names += icd.read_text(errors="replace").splitlines()[:1]
    there = [each for name in names if name.startswith("/") for each in (name, os.path.realpath(name))]
    folders = [os.path.dirname(each) for each in there if "/lib" in os.path.dirname(each)]
    found = [os.path.abspath(vendors), *there, *folders, *(f"{each[:each.rindex('/lib')]}/share/pocl" for each in folders)]
    return [path for path in dict.fromkeys(found) if not ROOT.resolve().is_relative_to(path)
            and not any(pathlib.Path(path).is_relative_to(each) for each in SYSTEM)]


def bubblewrap(files, devices, rules=None):
    """The words before a command. `files` are those that it finds in its folder: {name: an open file}; `rules` is one, too."""
    words = ["bwrap", "--unshare-user", "--unshare-all", "--disable-userns", "--cap-drop", "ALL", "--new-session",
             "--die-with-parent", "--proc", "/proc", "--dev", "/dev", "--size", str(DISK), "--tmpfs", "/tmp"]
    for path in SYSTEM:
        words += ["--symlink", os.readlink(path), path] if os.path.islink(path) else ["--ro-bind-try", path, path]
    for path in _drivers() if devices else ():
        words += ["--ro-bind-try", path, path]
    for path in DEVICES if devices else ():
        words += ["--dev-bind-try", path, path]
    if any(path.is_relative_to(folder) for path in (ROOT, ROOT.resolve()) for folder in SYSTEM):  # such as /usr/src/tutorials
        words += ["--tmpfs", str(ROOT.resolve())]
    if COMPILED:
        words += ["--bind", str(COMPILED), "/tmp/pocl"]
    if rules:
        words += ["--seccomp", str(rules.fileno())]
    for name, file in files.items():
        words += ["--perms", "0555", "--file", str(file.fileno()), f"/files/{name}"]
    return [*words, "--dir", "/files", "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/files", "--"]


def limits(*more):
    """The words before a command, within bubblewrap's: not of Python, which for its own would run code behind each fork."""
    return ["prlimit", "--core=0", f"--fsize={OUTPUT}", *more, "--"] if shutil.which("prlimit") else []


class _Compared(ctypes.Structure):
    """An argument, as libseccomp compares it."""

    _fields_ = [("number", ctypes.c_uint), ("how", ctypes.c_int), ("mask", ctypes.c_uint64), ("value", ctypes.c_uint64)]

    @classmethod
    def without(cls, number, bits):
        return cls(number, 7, bits, 0)  # SCMP_CMP_MASKED_EQ


PLAIN = {"mmap": _Compared.without(2, mmap.PROT_EXEC), "mprotect": _Compared.without(2, mmap.PROT_EXEC),
         "openat": _Compared.without(2, os.O_ACCMODE | os.O_CREAT)}
if os.path.exists("/dev/nvidiactl"):  # CUDA asks for a socket of the sandbox's own; other kinds may lead out of it
    PLAIN["socket"] = _Compared(0, 1, socket.AF_UNIX, 0)  # SCMP_CMP_NE


@functools.lru_cache(None)
def rules(only=()):
    """What seccomp takes, so that NO_CALLS are not there, or these alone are; b"" where libseccomp is not."""
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        return b""
    allow, refuse = (ctypes.c_uint32(each) for each in (0x7FFF0000, 0x50000 | (errno.EPERM if only else errno.ENOSYS)))
    library.seccomp_init.restype = ctypes.c_void_p
    made = ctypes.c_void_p(library.seccomp_init(refuse if only else allow))
    named = [(name, PLAIN.get(name)) for name in only or NO_CALLS]  # libseccomp has no number for calls that this kernel lacks
    if "openat" in only:
        named.append(("mmap", _Compared.without(3, mmap.MAP_ANONYMOUS)))
    for name, how in named:
        library.seccomp_rule_add_array(made, allow if only else refuse, library.seccomp_syscall_resolve_name(name.encode()),
                                       1 if how else 0, ctypes.byref(how) if how else None)
    with tempfile.TemporaryFile() as file:
        library.seccomp_export_bpf(made, file.fileno())
        library.seccomp_release(made)
        file.seek(0)
        return file.read()


def _user():
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


@functools.lru_cache(None)
def missing():
    """Why submissions are not isolated, in a line; "" where they are."""
    for name in ("bwrap", "prlimit"):
        if not shutil.which(name):
            return f"there is no {name} (package {'bubblewrap' if name == 'bwrap' else 'util-linux'})"
    tried = subprocess.run([*bubblewrap({}, False), "true"], cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           errors="replace", **_user())
    return "" if tried.returncode == 0 else (tried.stderr.strip().splitlines() or ["bwrap fails"])[-1]


# What changes a terminal, or is no character of XML; and what turns the direction of a line.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]")


def printable(text):
    """The text with nothing in it but what is read."""
    return _CONTROL.sub("?", text.replace("\r\n", "\n"))


def _tree(pid):
    """{process: (processor time in s, memory in bytes)} of all that it has started, and its own, as Linux has them."""
    seen, second, page = {}, os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    for name in filter(str.isdigit, os.listdir("/proc")) if os.path.isdir("/proc") else ():
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
            seen[int(name)] = int(fields[1]), (sum(map(int, fields[11:15])) / second, int(fields[21]) * page)
    found = [pid]
    for each in found:
        found += [other for other, (parent, _) in seen.items() if parent == each]
    return {each: seen[each][1] for each in found if each in seen}


def _could_run(processes):
    """Whether any of their threads runs, would if there were a processor for it, or waits for a disk: not for a child of its own,
    as behind vfork()."""
    for pid in processes:
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                its = pathlib.Path(f"/proc/{pid}/task/{thread}")
                with contextlib.suppress(OSError):
                    state = (its / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
                    if state == "R" or state == "D" and not (its / "children").read_text():
                        return True
    return False


def _end(process):
    """Ends it and all that it started: in bubblewrap the first takes the others along."""
    for pid in _tree(process.pid) if missing() else (process.pid,):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _path():
    return f"{os.environ['PATH']}:{PATH}" if missing() else PATH


def where(name):
    """Where a program is that can be run here; else None."""
    return shutil.which(name, path=_path())


def _environment(folder):
    kept = {name: value for name, value in os.environ.items() if name.startswith(("POCL_", "OCL_", "OPENCL_VENDOR_PATH", "CUDA_VISIBLE_"))}
    return {**kept, "PATH": _path(), "LC_ALL": "C.UTF-8", "HOME": folder, "TMPDIR": folder,
            "POCL_CACHE_DIR": str(COMPILED) if COMPILED and missing() else f"{folder}/pocl",
            "ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "atexit_sleep_ms=0:print_summary=0"}


# ---- pipes ----------------------------------------------------------------------------------------


class _Read(threading.Thread):
    """What comes through a pipe, up to so many bytes."""

    def __init__(self, pipe, most):
        super().__init__(daemon=True)
        self.pipe, self.most, self.read, self.floods = pipe, most, b"", False
        self.start()

    def run(self):
        parts = bytearray()
        while len(parts) <= self.most and (part := self.pipe.read1(1 << 16)):
            parts += part
        self.read, self.floods = bytes(parts[:self.most]), len(parts) > self.most


def _write(pipe, data):
    with contextlib.suppress(OSError), pipe:  # who does not read it need not
        pipe.write(data)


def _opened(stack, data):
    file = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  the stack closes it
    file.write(data)
    file.seek(0)
    return file


# ---- a run ----------------------------------------------------------------------------------------


_door, _inside = threading.Condition(), 0  # how many run; -1: one of them, alone


@contextlib.contextmanager
def _entered(alone):
    """Has one of the places, or all; and gives what leaves it, once, before the end."""
    global _inside
    with _door:
        _door.wait_for(lambda: _inside == 0 if alone else 0 <= _inside < PLACES)
        _inside += -1 if alone else 1
    has_left = False

    def leave():
        nonlocal has_left
        global _inside
        with _door:
            _inside -= 0 if has_left else -1 if alone else 1
            has_left = True
            _door.notify_all()
    try:
        yield leave
    finally:
        leave()


def _watched(process, seconds, waits, out, said, leave):
    """Waits for its end, and gives why it has to be ended before that; "" where not."""
    began = now = time.monotonic()
    took = idle = 0.0
    while True:
        try:
            process.wait(0.3)
            return ""
        except subprocess.TimeoutExpired:
            before, now, theirs = now, time.monotonic(), _tree(process.pid)
        used = max(0.0, sum(used for used, _ in theirs.values()) - took)
        took += used
        if used < now - before and not _could_run(theirs):  # however often it wakes for a moment
            idle += now - before - used
        if idle > 1:
            leave()
        for ended, is_so in ((NO_END, took > seconds or idle > waits), (TOO_MANY, len(theirs) > PROCESSES),
                             (TOO_LARGE, sum(memory for _, memory in theirs.values()) > MEMORY),
                             (FLOODS, out.floods or said.floods), (TOO_BUSY, now > began + CLOCK * max(seconds, 3))):
            if is_so:
                return ended


def _run(command, seconds, data, files, devices, waits, leave):
    with contextlib.ExitStack() as stack:
        if missing():
            command = [*limits(), *command]
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="exercise-")), "files")
            for name, what in files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(what)
                (folder / name).chmod(0o555)
            folder.mkdir(exist_ok=True)
            how = {"cwd": folder, "env": _environment(str(folder.parent))}
        else:
            opened = {name: _opened(stack, what) for name, what in files.items()}
            filters = [_opened(stack, rules())] if rules() else []
            command = [*bubblewrap(opened, devices, *filters), *limits(f"--nproc={PROCESSES}"), *command]
            how = {"cwd": "/", "env": _environment("/tmp"), "pass_fds": [file.fileno() for file in (*opened.values(), *filters)],
                   **_user()}
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True, **how)
        out, said = _Read(process.stdout, OUTPUT), _Read(process.stderr, PRINTS)
        threading.Thread(target=_write, args=(process.stdin, data), daemon=True).start()
        ended = ""
        try:
            ended = _watched(process, seconds, waits, out, said, leave)
        finally:  # also where the grader itself is interrupted
            _end(process)
        out.join()
        said.join()
        process.stdout.close()
        process.stderr.close()
        status = process.returncode if process.returncode < 129 else 128 - process.returncode  # as bwrap and shells say it
        return Done(status, printable(said.read.decode("utf-8", "replace")), out.read, ended)


def run(command, seconds, data=b"", files=None, devices=False, waits=None):
    """Runs it for so many seconds of processor time, in a folder with these files, {name: bytes}, and with this data to read."""
    for alone in (False, True):
        with _entered(alone) as leave:
            done = _run(command, seconds, data, files or {}, devices, WAITS if waits is None else waits, leave)
        if done.ended != TOO_BUSY:
            return done
    raise Busy(TOO_BUSY)
