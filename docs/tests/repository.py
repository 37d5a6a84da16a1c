"""A small repository in a temporary folder for the tests of the programs in docs/tools/."""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOOLS = ROOT / "docs" / "tools"
sys.path[:0] = [str(TOOLS), str(ROOT / "common" / "tutor" / "exercise")]
import generate  # noqa: E402
import pages  # noqa: E402
import predictions  # noqa: E402
import record  # noqa: E402
import recorded  # noqa: E402
import tables  # noqa: E402

MACHINE = {"date": "2026-01-02", "commit": "abc1234", "system": "Linux", "processor": "Some CPU", "processor_family": "6", "processor_model": "7",
           "compiler": "c++ 12", "build_type": "Release", "nvcc": None, "gpu": "Some GPU, 1.0"}
PIXELS = {"1M": 1 << 20, "1G": 1 << 30}


def folder_option(name):
    """The folder that stands behind this option of the command line, which unittest then does not see; None without it."""
    if name not in sys.argv:
        return None
    place = sys.argv.index(name)
    folder = pathlib.Path(sys.argv[place + 1]).resolve()
    del sys.argv[place : place + 2]
    return folder


def result(variant, gb_s, pixels):
    """A strategy's result as a program writes it."""
    median = pixels / gb_s / 1e6
    return {"variant": variant, "check": "match", "reason": "", "kernel_ms": {"median": median, "min": median, "max": median, "runs": 7},
            "gb_s": gb_s, "percent_of_ceiling": gb_s / 40, "speedup_over_serial": gb_s / 2, "end_to_end_ms": 2 * median}


def run_entry(program, rates, name="photo", size="1G"):
    """What the results keep of a run: {strategy: GB/s}. Its `run` is what --json writes."""
    chapter, *_, file = program.split("/")
    api = {"cpu": "C++", "opencl": "OpenCL"}.get(file, "CUDA")
    document = {"chapter": chapter, "api": api, "device": "Some device", "driver": f"{api} driver",
                "input": {"name": "picture.bmp", "pixels": PIXELS[size], "seed": None}, "read_ceiling_gb_s": 4000.0,
                "serial_ms": PIXELS[size] / 2e6,  # 2 GB/s
                "results": [result(variant, gb_s, PIXELS[size]) for variant, gb_s in rates.items()]}
    return {"program": program, "input": name, "size": size, "date": "2026-01-02", "commit": None, "run": document}


def recording(runs=(), **kinds):
    """A file of results: {kind: entries}; without entries the kinds that are not named."""
    kinds = {"runs": runs, **kinds}
    return {"machine": MACHINE, **{kind: list(kinds.get(kind, [])) for kind in recorded.KINDS}}


def run_main(module, *arguments):
    """Runs a program in this process; its exit status and what it wrote are in the result."""
    command = [module.__file__, *map(str, arguments)]
    out, errors, status = io.StringIO(), io.StringIO(), 0
    with mock.patch.object(sys, "argv", command), contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            module.main()
        except SystemExit as end:
            status = end.code
    if isinstance(status, str):  # as Python ends a program
        print(status, file=errors)
        status = 1
    return subprocess.CompletedProcess(command, status or 0, out.getvalue(), errors.getvalue())


class RepositoryTest(unittest.TestCase):
    """Each test has a repository of its own, at self.root, on which the programs of docs/tools work."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        for name in ("docs/results", "build"):
            (self.root / name).mkdir(parents=True)
        for module in (generate, pages, predictions, record, recorded, tables):
            patch = mock.patch.object(module, "ROOT", self.root)
            patch.start()
            self.addCleanup(patch.stop)

    def run_program(self, name, *arguments):
        """Runs a program of docs/tools/."""
        return run_main({"generate.py": generate, "record.py": record}[name], *arguments)

    def succeed(self, name, *arguments):
        done = self.run_program(name, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def fail_with(self, line, name, *arguments):
        """The program exits 1 and says `line`."""
        done = self.run_program(name, *arguments)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(line, done.stderr)

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def read(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def write_results(self, contents, name="device"):
        return self.write(f"docs/results/{name}.json", json.dumps(contents))

    def results(self, name="device"):
        return json.loads(self.read(f"docs/results/{name}.json"))
