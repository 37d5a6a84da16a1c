"""Runs a program that cannot be trusted: with limits of time, memory and output, and nothing left of it behind."""

import os
import resource
import signal
import subprocess
import tempfile
from typing import NamedTuple

MEMORY = 16 << 30  # of addresses: drivers reserve far more than they use
OUTPUT = 64 << 20  # in one file, what it prints among them
SHOWN = 1 << 16


class Done(NamedTuple):
    """How it ended."""

    status: int  # its exit status; negative: the signal that ended it
    said: str  # both of its outputs, the beginning of them
    timed_out: bool

    def why(self):
        """In words, where it did not end by itself."""
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


def run(command, folder, seconds, memory=True):
    """Runs it in this folder, in a group of processes of its own, all of which are ended with it."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                   start_new_session=True, preexec_fn=_limits(memory),
                                   env={**os.environ, "TMPDIR": str(folder)})
        timed_out = False
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:  # also where the grader itself is interrupted
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        output.seek(0)
        return Done(process.returncode, output.read(SHOWN).decode("utf-8", "replace"), timed_out)
