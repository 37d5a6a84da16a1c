"""Many runs of one program, which answers command lines one after the other (common/run/serve.hpp)."""

import contextlib
import json
import os
import select
import signal
import subprocess

LIMIT = 30  # seconds, for an answer


class Served:
    """PROGRAM --serve. Where a run crashes or hangs, the next one gets another process."""

    CRASHED, NOT_FINISHED = "it crashes", "it is not finished in time"

    def __init__(self, program):
        self.program, self.process, self.why = str(program), None, ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def ask(self, words):
        """The answer to this command line; None where the process ended, or LIMIT seconds passed: `why` says which."""
        if not self.process or self.process.poll() is not None:
            self.end()
            self.process = subprocess.Popen([self.program, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, start_new_session=True)
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(list(map(str, words))).encode() + b"\n")
            self.process.stdin.flush()
        line = b""
        if in_time := select.select([self.process.stdout], [], [], LIMIT)[0]:
            line = self.process.stdout.readline()
        if line.endswith(b"\n"):
            return json.loads(line)
        self.why = self.how_it_ended() if in_time else self.NOT_FINISHED
        self.end()
        return None

    def how_it_ended(self):
        """Before it had answered: what is not its kernel's fault is told."""
        status = self.process.wait()
        return {2: "it ended for want of memory", -signal.SIGKILL: "it was killed, perhaps for want of memory"}.get(status, self.CRASHED)

    def end(self):
        """Ends the process, and those that it started."""
        if self.process:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process.stdout.close()
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
            self.process = None
