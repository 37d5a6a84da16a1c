"""Failures of a device, one by one: the n-th call of OpenCL fails, in one program of each kind.

Each time it ends with one line and the right exit status, or goes on without what failed; and each file that it writes
is the old one or the new one, with nothing beside it.
"""

import re

import programs
from programs import QUICK, Run, Test

WHOLE = {"run.json": rb"(?s)\{.*\}\n", "plot.png": rb"(?s)\x89PNG.*IEND.{4}"}
NONE_FAILED = 99  # what the driver ends with where there is no n-th call
# What is said besides the reason: what goes on, and what is passed over.
PROGRESS = re.compile(r"|  .*|[0-9]{2}-[a-z-]+, .*|passed over .*")


class OpenCLFailing(Test):
    def fail_each(self, name, variant):
        """The first fails, then the second, until there is none."""
        program, folder = programs.built(name), self.folder()
        command = [program, "--variant", variant, "--random", "1K", *QUICK, "--json", folder / "run.json", "--plot", folder / "plot.png"]
        self.expect(command)  # it can run, and has compiled
        for n in range(1, 1000):
            for file in WHOLE:
                (folder / file).write_text("old")
            run = Run(command, self.faulty(f"fail={n}"))
            if run.status == NONE_FAILED:
                return self.assertGreater(n, 6)
            with self.subTest(name, n=n):
                # A failing call of the driver is neither a mismatch nor a missing device.
                self.assertIn(run.status, (0, 2, 77), run)
                reasons = [line for line in run.err.splitlines() if not PROGRESS.fullmatch(line)]
                self.assertEqual(len(reasons), 0 if run.status == 0 else 1, run)
                self.assertEqual({path.name for path in folder.iterdir()}, set(WHOLE), run)
                for file, whole in WHOLE.items():
                    text = (folder / file).read_bytes()
                    self.assertTrue(re.fullmatch(whole, text) or (text == b"old" and run.status != 0), (file, text, run))
        return self.fail("it calls without end")

    def test_a_chapter(self):
        self.fail_each("03-local-atomics/opencl", "local")

if __name__ == "__main__":
    programs.main()
