"""Runs a program that cannot be trusted: with limits of time, memory and output, and nothing left of it behind."""

import contextlib
import ctypes
import os
import pathlib
import resource
import secrets
import signal
import subprocess
import tempfile
import threading
import time
from typing import NamedTuple

MEMORY = 16 << 30  # of addresses: drivers reserve far more than they use
OUTPUT = 64 << 20  # in one file, what it prints among them
SHOWN = 1 << 16
PROCESSES = 64  # at a time; compilers start some of their own
MARK = "EXERCISE_RUN"  # what it starts inherits this, wherever it goes


_starting = threading.Lock()
_running = set()  # the processes that this program has started, and not yet ended


def _adopt():
    """What loses its parent becomes a child of this program, and so can be found; Linux alone."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


_adopt()


class Done(NamedTuple):
    """How it ended."""

    status: int  # its exit status; negative: the signal that ended it
    said: str  # both of its outputs, the beginning of them
    timed_out: bool
    too_many: bool = False  # processes

    def why(self):
        """In words, where it did not end by itself."""
        if self.too_many:
            return "it starts processes without end"
        if self.timed_out:
            return "it does not end"
        if self.status == -signal.SIGXFSZ:
            return "it writes without end"
        if self.status < 0:
            return f"it crashes ({signal.Signals(-self.status).name})"
        return f"it ends with {self.status}"


def _limits(memory):
    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT, OUTPUT))
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    return limit


def _processes():
    """How many there are on this machine, which is known at once."""
    return sum(name.isdigit() for name in os.listdir("/proc"))


def _marked(mark):
    """The processes that have this mark in their environment, in whatever group or session they are."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes():
                found.append(int(process.name))
        except OSError:  # gone by now, or somebody else's
            pass
    return found


def _are_too_many(process, mark):
    """Stops them while it counts: there would be thousands at the end of it."""
    try:
        os.killpg(process.pid, signal.SIGSTOP)
        too_many = len(_marked(mark)) > PROCESSES
        os.killpg(process.pid, signal.SIGKILL if too_many else signal.SIGCONT)
        return too_many
    except ProcessLookupError:
        return False


def _end_all(process, mark):
    """Ends it and all that it started. One look is not enough for what starts more of itself meanwhile."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for _ in range(100):
        left = _marked(mark)
        if not left:
            return
        for how in (signal.SIGSTOP, signal.SIGKILL):
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, how)


def _orphans():
    """Children of this program that it has not started: what left the process that had started them."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent, pid = int(stat.read_text().rpartition(")")[2].split()[1]), int(stat.parent.name)
        except OSError:  # gone by now
            continue
        if parent == os.getpid() and pid not in _running:
            found.append(pid)
    return found


def _end_orphans():
    """Ends them, and then their children, which become this program's by that."""
    with _starting:
        while left := _orphans():
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                except (ProcessLookupError, ChildProcessError):
                    pass


def run(command, folder, seconds, memory=True):
    """Runs it in this folder, and ends all processes that it started with it."""
    value = secrets.token_hex(8)
    mark = f"{MARK}={value}".encode()
    with tempfile.TemporaryFile() as output:
        with _starting:
            process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                       start_new_session=True, preexec_fn=_limits(memory),
                                       env={**os.environ, "TMPDIR": str(folder), MARK: value})
            _running.add(process.pid)
        too_many, end, most = False, time.monotonic() + seconds, _processes() + PROCESSES
        try:
            while process.poll() is None and time.monotonic() < end and not too_many:
                try:
                    process.wait(0.02)  # often, for they may double in a millisecond
                except subprocess.TimeoutExpired:
                    too_many = _processes() > most and _are_too_many(process, mark)
            timed_out = process.poll() is None
        finally:  # also where the grader itself is interrupted
            _end_all(process, mark)
            _running.discard(process.pid)
            _end_orphans()
        output.seek(0)
        return Done(process.returncode, output.read(SHOWN).decode("utf-8", "replace"), timed_out, too_many)
