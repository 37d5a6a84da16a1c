"""Many runs of one program in one process: common/run/served.cpp, a library that is loaded before the program, makes them."""

import contextlib
import json
import os
import pathlib
import select
import signal
import subprocess

LIMIT = 30  # seconds, for an answer


def environment(program):
    """What makes of this program one that answers command lines."""
    library = next(path for folder in pathlib.Path(program).resolve().parents if (path := folder / "common/libserved.so").exists())
    options = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    return {**os.environ, "SERVE_COMMAND_LINES": "1", "LD_PRELOAD": str(library), "ASAN_OPTIONS": options}


class Served:
    """Where a run crashes or hangs, the next one gets another process."""

    CRASHED, NOT_FINISHED = "it crashes", "it is not finished in time"
    ENDS = ("failed", "crashed", "not-finished")

    def __init__(self, program):
        self.program, self.process = str(program), None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def ask(self, words):
        """The answer to this command line (served.cpp); where its process was ended, or LIMIT seconds passed, it says that."""
        if not self.process or self.process.poll() is not None:
            self.end()
            self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                            env=environment(self.program), start_new_session=True)
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(list(map(str, words))).encode() + b"\n")
            self.process.stdin.flush()
        line = b""
        if in_time := select.select([self.process.stdout], [], [], LIMIT)[0]:
            line = self.process.stdout.readline()
        if line.endswith(b"\n"):
            answer = json.loads(line)
            if answer["kind"] in self.ENDS:
                self.end()
            return answer
        killed = in_time and self.process.wait() == -signal.SIGKILL
        self.end()
        return {"status": 2, "kind": "crashed" if in_time else "not-finished",
                "error": "it was killed, perhaps for want of memory" if killed else self.CRASHED if in_time else self.NOT_FINISHED}

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
