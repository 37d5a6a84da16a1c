"""Programs under test: which there are, how one is run, and what is expected of a run.

A file of tests ends in `programs.main()`, and is called

    test_something.py [--build BUILD] [--program NAME] [CLASS ...]

The build folder is build/ if none is named; CMake's notes in it say what was found and built. Exit status: 0 all pass, 1 one does
not, 77 all are skipped.
"""

import argparse
import fcntl
import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
IMAGES = ROOT / "images"
DETECTORS = json.loads((ROOT / "common/tutor/detectors.json").read_text(encoding="utf-8"))
CASES = json.loads((ROOT / "common/run/cases.json").read_text(encoding="utf-8"))
SCHEMA = json.loads((ROOT / "common/report/schema.json").read_text(encoding="utf-8"))
QUICK = ["--repeat", "1", "--no-ceiling"]


def finds(detector):
    """All that a detector says of what is wrong, as a regular expression."""
    return f"{DETECTORS[detector]['faults']}|{DETECTORS[detector]['misuse']}"


def arguments():
    """What this file of tests was called with; unittest gets the rest."""
    options = argparse.ArgumentParser()
    options.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    options.add_argument("--program", default="", help="such as 03-local-atomics/opencl")
    options.add_argument("--variant", default="", help="one of its strategies")
    options.add_argument("--may-skip", nargs="*", default=[], help="strategies that need something that may be missing")
    given, rest = options.parse_known_args()
    if not (given.build / "CMakeCache.txt").is_file():
        options.error(f"nothing is configured in {given.build}: ./tutorial run does it")
    sys.argv[1:] = [word for word in rest if word != "--"]
    return given


GIVEN = arguments()
NOTED = dict(re.findall(r"^(\w+):\w+=(.*)$", (GIVEN.build / "CMakeCache.txt").read_text(encoding="utf-8"), re.MULTILINE))
BUILD = {"cmake": NOTED["CMAKE_COMMAND"], "compiler": NOTED["CMAKE_CXX_COMPILER"], "generator": NOTED["CMAKE_GENERATOR"],
         "sanitize": NOTED["TUTORIAL_SANITIZE"], "opencl_required": NOTED["TUTORIAL_OPENCL"] == "REQUIRED"}
for tool in ("oclgrind", "compute_sanitizer"):
    BUILD[tool] = NOTED[tool.upper()].replace(f"{tool.upper()}-NOTFOUND", "")
DRIVER = GIVEN.build.resolve() / "common/tests/libfault_injecting_driver.so"
BUILD["fault_injecting_driver"] = str(DRIVER) if DRIVER.exists() else ""


def built(name):
    """The path of a program, such as 03-local-atomics/opencl; None where it was not built, or where ThreadSanitizer would watch what an
    OpenCL driver does."""
    if BUILD["sanitize"] == "thread" and name.endswith("/opencl"):
        return None
    for line in (GIVEN.build / "programs.tsv").read_text(encoding="utf-8").splitlines():
        folder, _, path, _ = line.split("\t")
        if path != "-" and f"{folder}/{pathlib.Path(path).name}" == name:
            return path
    return None


def has_device(command, environment=()):
    """Whether the program in this command finds a device; False where there is none in it. A strategy that may be missing is no
    question of that.
    """
    words = list(map(str, command))
    program = next((word for word in words if word.startswith(str(GIVEN.build.resolve())) and pathlib.Path(word).is_file()), None)
    return program is not None and not {GIVEN.variant, *words} & set(GIVEN.may_skip) and Run([program, "--list-devices"], environment).status == 0


def described(program):
    """What the program says of itself."""
    return json.loads(subprocess.run([program, "--describe"], check=True, capture_output=True, text=True).stdout)


@functools.cache
def why_no_simulator():
    """Why Oclgrind gives no device, as where its libraries are missing; else empty."""
    program = built("02-global-atomics/opencl")
    run = program and Run([BUILD["oclgrind"], program, "--list-devices"])
    return "" if not run or "Oclgrind" in run.out else f"{run.err}{run.out}".strip()


class Run:
    """A finished run of a program. The first finding of ThreadSanitizer is enough, and it need not wait for more at the end."""

    def __init__(self, command, environment=(), text=None):
        if command[0] is None and BUILD["sanitize"] == "thread":
            raise unittest.SkipTest("OpenCL's drivers are not ThreadSanitizer's")
        self.command = [str(word) for word in command]
        done = subprocess.run(self.command, input=text, stdin=subprocess.DEVNULL if text is None else None, capture_output=True,
                              text=True, errors="replace", check=False,
                              env={**os.environ, "TSAN_OPTIONS": "halt_on_error=1:atexit_sleep_ms=0", **dict(environment)})
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr

    def __str__(self):
        return f"{shlex.join(self.command)}\nexit status {self.status}\n{self.out[-4000:]}\n{self.err[-4000:]}"


def build(*targets):
    """Brings them up to date. One at a time: Ninja does not share a folder."""
    with (GIVEN.build / "tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = Run([BUILD["cmake"], "--build", GIVEN.build, "--target", *targets])
    if done.status != 0:
        raise AssertionError(f"{' '.join(targets)} does not build: {done}")


def sanitized(program, sanitizer):
    """A program of CUDA on a CPU once more: as a sanitizer, thread or address, watches it. A chapter's folder is built without these,
    so it is brought up to date here: an old one would speak of kernels that were."""
    program = pathlib.Path(program)
    if not BUILD["sanitize"]:
        build(f"{program.resolve().relative_to(GIVEN.build.resolve())}-{sanitizer}".replace("/", "-"))
    return program.with_name(sanitizer) / program.name


class Test(unittest.TestCase):
    """What is expected of runs. Where there is nothing to run them on the test is skipped, with the program's own reason."""

    maxDiff = None

    def cannot_run(self, why):
        """Skipped; but where OpenCL is required a mistake may have kept the program from finding its device."""
        if BUILD["opencl_required"] and "OpenCL" in why:
            self.fail(f"OpenCL is required, and yet: {why}")
        self.skipTest(why.strip() or "nothing to run it on")

    def expect(self, command, status=0, out="", err="", one_line=False, environment=()):
        """Runs it: its exit status, and regular expressions for its two outputs. One line: all that it says on standard error."""
        run = Run(command, environment)
        if run.status == 77 and status != 77:
            self.assertFalse(has_device(command, environment), f"a device is there, and yet: {run}")
            self.cannot_run(run.err or run.out)
        self.assertEqual(run.status, status, run)
        for expected, said in ((out, run.out), (err, run.err)):
            self.assertTrue(not expected or re.search(expected, said), f"no /{expected}/ in {run}")
        self.assertFalse(one_line and not re.fullmatch(r"[^\n]+\n", run.err), f"not exactly one line of reasons: {run}")
        return run

    def document(self, path, definition):
        """The JSON in the file, which is what common/report/schema.json promises under this name."""
        try:
            import jsonschema  # which takes as long as most tests; few need it
        except ImportError:
            self.skipTest("no Python module jsonschema (package python3-jsonschema)")
        document = json.loads(path.read_text(encoding="utf-8"))
        validator = jsonschema.Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{definition}"})
        error = jsonschema.exceptions.best_match(validator.iter_errors(document))
        self.assertIsNone(error and f"{'.'.join(map(str, error.absolute_path))}: {error.message[:300]}")
        return document

    def built_in(self, folder, apis=("opencl", "cuda", "cuda-on-cpu")):
        """The programs of a folder in these APIs that were built; skipped where none was."""
        return [path for api in apis if (path := built(f"{folder}/{api}"))] or self.skipTest(f"nothing was built in {folder}")

    def folder(self):
        """A folder of the test's own, gone at its end."""
        path = pathlib.Path(tempfile.mkdtemp(prefix="histogram-tests-"))
        self.addCleanup(shutil.rmtree, path, ignore_errors=True)
        return path

    def oclgrind(self, *options):
        """The command that runs an OpenCL program in the simulator; the program's own options end with --device Oclgrind."""
        if BUILD["sanitize"]:
            self.skipTest("a build with sanitizers: both want to be loaded first")
        if not BUILD["oclgrind"]:
            self.skipTest("no Oclgrind (package oclgrind)")
        if why := why_no_simulator():
            self.skipTest(f"Oclgrind does not start: {why}")
        return [BUILD["oclgrind"], *options]

    def faulty(self, words):
        """The environment in which the OpenCL driver behaves as these words say (fault_injecting_driver.cpp)."""
        if BUILD["sanitize"] or not BUILD["fault_injecting_driver"]:
            self.skipTest("no driver that injects faults: it wants to be loaded first")
        return {"FAULT_INJECTING_DRIVER": words, "LD_PRELOAD": BUILD["fault_injecting_driver"]}


def main():
    """Runs the classes that are named, or all."""
    module = sys.modules["__main__"]
    program = unittest.main(module=module, argv=[sys.argv[0], "-v", *sys.argv[1:]], exit=False)
    result = program.result
    sys.stderr.flush()
    if not result.wasSuccessful() or result.testsRun == 0:
        sys.exit(1)
    sys.exit(77 if len(result.skipped) >= result.testsRun else 0)
