"""Runs a program that cannot be trusted: alone, with limits, and nothing left of it behind.

With bubblewrap it has a process tree, a network and a /tmp of its own, and sees the system's programs and libraries and
the files that it is given; all of that is gone afterwards. It gets its data on standard input, and gives results back on
standard output. Without bubblewrap the limits hold, and nothing else.
"""

import contextlib
import errno
import functools
import os
import pathlib
import re
import resource
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import time
from typing import NamedTuple

from catalogue import ROOT

ADDRESSES = 16 << 30  # for one process: drivers reserve far more than they use
MEMORY = 4 << 30  # that all of its processes use together
DISK = 512 << 20
OUTPUT = 64 << 20  # in one file; its results and what it prints are such files
READ = 8 << 20  # of what it says: a detector says much
PROCESSES = 128 + 2 * (os.cpu_count() or 1)  # at a time, and threads; drivers start some for each core
NOBODY = 65534  # root is held by no limit
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt/intel", "/opt/rocm",
          "/etc/alternatives", "/etc/ld.so.cache", "/etc/OpenCL", "/sys")
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/cuda/bin"
DEVICES = ("/dev/dri", "/dev/kfd", "/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")


class Done(NamedTuple):
    """How it ended."""

    status: int  # its exit status; negative: the signal that ended it
    said: str  # on standard error, the beginning of it
    out: bytes = b""  # standard output
    ended: str = ""  # why it was ended, where it was
    cut: bool = False  # it said more than that

    def why(self):
        """In words, where it did not end well."""
        if self.ended:
            return self.ended
        if self.status == -signal.SIGXFSZ:
            return "it writes without end"
        if self.status < 0:
            name = next((each.name for each in signal.Signals if each == -self.status), str(-self.status))
            return f"it crashes ({name})"
        return f"it ends with {self.status}"


NO_END, TOO_MANY, TOO_LARGE = "it does not end", "it starts processes without end", "it takes memory without end"


def bubblewrap(files, devices, rules=None):
    """The words before a command. `files` are those that it finds in its folder: {name: an open file}; `rules` is one, too."""
    words = ["bwrap", "--unshare-user", "--unshare-all", "--disable-userns", "--cap-drop", "ALL", "--new-session",
             "--die-with-parent", "--proc", "/proc", "--dev", "/dev", "--size", str(DISK), "--tmpfs", "/tmp"]
    for path in SYSTEM:
        words += ["--symlink", os.readlink(path), path] if os.path.islink(path) else ["--ro-bind-try", path, path]
    for path in DEVICES if devices else ():
        words += ["--dev-bind-try", path, path]
    if any(path.is_relative_to(folder) for path in (ROOT, ROOT.resolve()) for folder in SYSTEM):  # such as /usr/src/tutorials
        words += ["--tmpfs", str(ROOT.resolve())]
    if rules:
        words += ["--seccomp", str(rules.fileno())]
    for name, file in files.items():
        words += ["--perms", "0555", "--file", str(file.fileno()), f"/files/{name}"]
    return [*words, "--dir", "/files", "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/files", "--",
            "prlimit", f"--nproc={PROCESSES}", "--"]


@functools.lru_cache(None)
def _rules():
    """For seccomp: there is no shmget, whose memory belongs to no process, and so to no limit. On other processors all there is."""
    machine, number = {"x86_64": (0xC000003E, 29), "aarch64": (0xC00000B7, 194)}.get(os.uname().machine, (0, 0))
    load, both, equal, done, refused, allowed = 0x20, 0x54, 0x15, 0x06, 0x50000 + errno.ENOSYS, 0x7FFF0000
    steps = ((load, 0, 0, 4), (equal, 0, 3, machine), (load, 0, 0, 0), (both, 0, 0, 0xBFFFFFFF), (equal, 0, 1, number),
             (done, 0, 0, refused), (done, 0, 0, allowed))
    return b"".join(struct.pack("=HBBI", *step) for step in (steps if machine else steps[-1:]))


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


def _limits(memory):
    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT, OUTPUT))
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    return limit


def _descendants(pid):
    """All that a process has started, by what Linux says of each one's parent."""
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")) if os.path.isdir("/proc") else ():
        with contextlib.suppress(OSError):
            with open(f"/proc/{name}/stat", errors="replace") as file:
                parent = file.read().rpartition(")")[2].split()[1]
            children.setdefault(int(parent), []).append(int(name))
    found = children.get(pid, [])
    for each in found:
        found += children.get(each, [])
    return found


def _used(pids):
    """The memory that these use together, in bytes: their own, what they share, and files that are in memory alone."""
    pages, unnamed = 0, {}
    for pid in pids:
        with contextlib.suppress(OSError, ValueError):
            pages += int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
            for each in os.scandir(f"/proc/{pid}/fd"):
                file = os.stat(each.path)
                if stat.S_ISREG(file.st_mode) and not file.st_nlink:
                    unnamed[file.st_dev, file.st_ino] = file.st_blocks * 512
    return pages * resource.getpagesize() + sum(unnamed.values())


def _end(process):
    """Ends it and all that it started: in bubblewrap the first takes the others along."""
    for pid in (*_descendants(process.pid), process.pid) if missing() else (process.pid,):
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
    kept = {name: value for name, value in os.environ.items() if name.startswith(("POCL_", "OCL_", "CUDA_VISIBLE_"))}
    return {**kept, "PATH": _path(), "LC_ALL": "C.UTF-8", "HOME": folder,
            "TMPDIR": folder, "POCL_CACHE_DIR": f"{folder}/pocl",
            "ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "atexit_sleep_ms=0"}


def _opened(stack, data=b""):
    file = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  the stack closes it
    file.write(data)
    file.seek(0)
    return file


def run(command, seconds, data=b"", files=None, memory=True, devices=False):
    """Runs it in a folder with these files, {name: bytes}, and with this data to read."""
    with contextlib.ExitStack() as stack:
        given, out, said = _opened(stack, data), _opened(stack), _opened(stack)
        if missing():
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="exercise-")), "files")
            folder.mkdir()
            for name, what in (files or {}).items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(what)
                (folder / name).chmod(0o555)
            how = {"cwd": folder, "env": _environment(str(folder.parent))}
        else:
            opened = {name: _opened(stack, what) for name, what in (files or {}).items()}
            rules = _opened(stack, _rules())
            command = [*bubblewrap(opened, devices, rules), *command]
            how = {"cwd": "/", "env": _environment("/tmp"), "pass_fds": [file.fileno() for file in (*opened.values(), rules)], **_user()}
        process = subprocess.Popen(command, stdin=given, stdout=out, stderr=said, start_new_session=True,
                                   preexec_fn=_limits(memory), **how)
        ended, end, looked = "", time.monotonic() + seconds, 0.0
        try:
            while not ended:
                try:
                    process.wait(0.02)
                    break
                except subprocess.TimeoutExpired:
                    now = time.monotonic()
                if now > looked + 0.2:
                    theirs, looked = _descendants(process.pid), now
                    ended = (NO_END if now > end else TOO_MANY if len(theirs) > PROCESSES
                             else TOO_LARGE if _used(theirs) > MEMORY else "")
        finally:  # also where the grader itself is interrupted
            _end(process)
        out.seek(0)
        said.seek(0)
        status = process.returncode if process.returncode < 129 else 128 - process.returncode  # as bwrap and shells say it
        text = said.read(READ + 1)
        return Done(status, printable(text[:READ].decode("utf-8", "replace")), out.read(), ended, len(text) > READ)
