"""Failures, one by one: in one program of each kind the n-th allocation, call of the system or call of OpenCL fails.

Each time it ends with one line and the right exit status, or goes on without what failed; and each file that it writes
is the old one or the new one, with nothing beside it.
"""

import os
import re
import subprocess

import programs
from programs import BUILD, QUICK, ROOT, Test

PICTURES = ROOT / "common/image/corpus"
WHOLE = {"run.json": r"(?s)\{.*\}\n", "counts.csv": r"bin,count\n([0-9]+,[0-9]+\n){256}"}
NONE_FAILED = 99  # what both libraries end with where there is no n-th one
NOT_ON_DISK = 98  # renamed before it is
# What is said besides the reason: what goes on, and what is passed over.
PROGRESS = re.compile(r"|  .*|[0-9]{2}-[a-z-]+, .*|passed over .*")


class Failing:
    program = ""
    arguments = ()
    input = ("--random", "1K")

    def setUp(self):
        if BUILD["sanitize"] or not BUILD["failing_library"]:
            self.skipTest("no library that fails: it wants to be loaded first")
        self.path = programs.built(self.program)
        if not self.path:
            self.skipTest(f"{self.program} was not built")
        self.expect([self.path, *self.arguments, *self.input, *QUICK])  # it can run, and has compiled

    def fail_each(self, kind, step=1):
        """The first fails, then the one `step` further, until there is none. Gives the number of runs."""
        folder, runs, n = self.folder(), 0, 1
        command = [self.path, *self.arguments, *self.input, *QUICK, "--json", "run.json", "--counts", "counts.csv"]
        library = BUILD["fault_injecting_driver" if kind == "opencl" else "failing_library"]
        while True:
            told = {"FAULT_INJECTING_DRIVER": f"fail={n}"} if kind == "opencl" else {"FAILING_LIBRARY": f"{kind}:{n}"}
            for name in WHOLE:
                (folder / name).write_text("old")
            done = subprocess.run(command, cwd=folder, env={**os.environ, **told, "LD_PRELOAD": library}, check=False,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
            if done.returncode == NONE_FAILED:
                return runs
            self.assertNotEqual(done.returncode, NOT_ON_DISK, done)
            with self.subTest(kind=kind, n=n):
                # What this machine lacks is neither a mismatch nor a device that is missing.
                self.assertIn(done.returncode, (0, 2, 77) if kind == "opencl" else (0, 2), done)
                reasons = [line for line in done.stderr.splitlines() if not PROGRESS.fullmatch(line)]
                self.assertEqual(len(reasons), 0 if done.returncode == 0 else 1, done)
                self.assertFalse(reasons and kind == "malloc" and "memory" not in reasons[0], done)
                self.assertEqual({path.name for path in folder.iterdir()}, set(WHOLE), done)
                for name, whole in WHOLE.items():
                    text = (folder / name).read_text()
                    self.assertTrue(re.fullmatch(whole, text) or (text == "old" and done.returncode != 0), (name, text, done))
            runs, n = runs + 1, n + step

    def each(self, **steps):
        for kind, step in steps.items():
            self.assertGreater(self.fail_each(kind, step), 5, kind)


class OfProcessors(Failing, Test):
    program = "01-cpu/cpu"
    arguments = ("--variant", "serial")

    def test_each(self):
        self.each(malloc=7, file=1)

    def test_each_of_a_picture(self):
        for name in ("b8.bmp", "rgb.png", "rgb-0-0.jpg", "a.pgm"):
            self.input = (PICTURES / name,)
            self.each(malloc=13, file=1)


class OpenCLOfChapters(Failing, Test):
    program = "03-local-atomics/opencl"
    arguments = ("--variant", "local")

    def test_each(self):
        self.each(file=1, opencl=1)


class OpenCLOfWorkshops(Failing, Test):
    program = "05-launch-tuning/workshops/end-to-end/opencl"
    arguments = ("--variant", "pipelined")

    def test_each(self):
        self.each(opencl=1)


if __name__ == "__main__":
    programs.main()
