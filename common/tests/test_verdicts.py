"""A whole program with planted mistakes: the verdict reaches the exit status, and output that is lost is no success."""

import json
import os
import re

import programs
from programs import BUILD, GIVEN, ROOT, Test

WRONG = GIVEN.build / "common/tests/wrong_program"
INPUT = ["--random", "1000", "--repeat", "2"]  # not a multiple of a group: there is a tail
FULL = "cannot write standard output: No space left on device\n$"


class Verdicts(Test):
    """One wrong strategy, or one wrong run of one, is enough. (runs_test.cpp has what is said of each.)"""

    def test_one_that_is_right_does_not_make_up_for_the_others(self):
        wrong = "".join(rf"{name} [^\n]*mismatch[^\n]*\n" for name in ("swapped", "dropped-tail", "later", "unwritten"))
        self.expect([WRONG, *INPUT], 1, out=f"-\nright [^\n]* match\n{wrong}$")

    def test_the_counts_are_the_references(self):
        # 301 pixels of a ramp: the bins 0 to 44 twice, the others once, also where the result is wrong.
        file = self.folder() / "run.json"
        for variant, status in (("right", 0), ("dropped-tail", 1)):
            self.expect([WRONG, "--ramp", "--random", "301", "--repeat", "2", "--variant", variant, "--json", file], status)
            self.assertEqual(json.loads(file.read_text())["counts"], [2] * 45 + [1] * 211)


class LostOutput(Test):
    """Every program ends through the same code, so these stand for all."""

    def shell(self, line, status, **expected):
        return self.expect(["sh", "-c", line, "sh", WRONG, *INPUT], status, **expected)

    def test_a_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        self.shell('"$@" --variant right > /dev/full', 2, err=f"\ntests/wrong_program: {FULL}")
        self.shell('"$1" --help > /dev/full', 2, err=FULL, one_line=True)
        self.shell('"$@" --variant right --json /dev/full > /dev/full', 2,
                   err=" match\n[^\n]* cannot write /dev/full: No space left on device\n$")
        self.shell('"$@" --variant swapped > /dev/full', 1, err=FULL)
        self.shell('"$@" --variant swapped --json /dev/full', 1, err="\ntests/wrong_program: cannot write /dev/full: No space left on device\n$")
        self.shell('"$@" --variant right 2> /dev/full', 0, out=" match\n$")
        self.shell('"$@" --variant swapped 2> /dev/full', 1, out="mismatch")

    def test_a_file_that_would_become_too_large(self):
        """The old file is still there, and nothing else."""
        if BUILD["sanitize"] == "thread":
            self.skipTest("ThreadSanitizer takes the signal for itself")
        folder = self.folder()
        for option in ("json", "plot"):
            kept = folder / option
            kept.mkdir()
            (kept / "file").write_text("old")
            self.shell(f'cd "{folder}" && ulimit -f 0 && "$@" --variant right --{option} {option}/file', 2,
                       err=f" cannot write {option}/file: File too large\n$")
            self.assertEqual([(path.name, path.read_text()) for path in kept.iterdir()], [("file", "old")])

    def test_standard_output_that_is_closed(self):
        self.shell('"$@" --variant right >&-', 2, err="cannot write standard output: it is closed\n$")
        self.shell('"$@" --variant swapped >&-', 1, err="cannot write standard output: it is closed\n$")

    def test_whoever_leaves_a_pipe_has_seen_enough(self):
        self.shell('(sleep 0.3; "$@" --variant right; echo ended with $? >&2) | :', 0, err=" match\nended with 141\n$")


class Ends(Test):
    """What ends a run before its time: its own mistake, or its surroundings."""

    def setUp(self):
        if BUILD["sanitize"]:
            self.skipTest("a build with sanitizers: a crash is theirs")

    def test_a_crash(self):
        self.expect([WRONG, *INPUT, "--variant", "crashes"], 2, err="\ncrashes: it crashed; most likely the kernel reads or writes outside")

    def test_who_gives_up_may_have_said_why(self):
        self.expect([WRONG, *INPUT, "--variant", "aborts"], 2, err="\naborts: the driver or the C library has given up [(]SIGABRT[)], and may have")

    def test_too_little_memory_is_not_the_kernels_mistake(self):
        self.expect([WRONG, *INPUT, "--variant", "out-of-memory"], 2,
                    err="\nout-of-memory: it crashed when memory had run out: this machine has too little, or a limit is too low [(]ulimit -v[)]\n$")


class Times(Test):
    """By a device's clock on which each fill takes 700 ns, and each kernel 300."""

    FOLDERS = ("02-global-atomics", "03-local-atomics", "04-per-thread-bins", "05-launch-tuning")
    # Those that have no fill in their time: nothing has to be zeroed before, or the launch before has done it.
    NO_ZEROING = {"local-buckets", "local-subhist", "uchar-bins", "uchar-bins-banked", "uchar-overflow", "group-each"}
    WITH_TOTALS = {"tuned", "one-by-one", "queued"}

    @staticmethod
    def launches(name, variant):
        """One for each of four pictures; one that counts, and one that adds tables up, of each of two slices; or one."""
        its = f"{name.split('/')[-1]} {variant}"
        return 4 if re.fullmatch("many (one-by-one|queued)|bins passes", its) else 2 if re.search("subhist|bins local", its) else 1

    @staticmethod
    def words(name):
        return ["--random", "1K", *(["--side", "16"] if name.endswith("many") else []), *programs.QUICK]

    def test_zeroing_is_part_of_them(self):
        for name in self.FOLDERS:
            program, file = programs.built(f"{name}/opencl"), self.folder() / "run.json"
            if not program:
                self.skipTest("no OpenCL")
            for driver, none in (("", self.NO_ZEROING | self.WITH_TOTALS), (" extensions=-cl_khr_int64_base_atomics", self.NO_ZEROING)):
                with self.subTest(name + driver):
                    self.expect([program, *self.words(name), "--json", file],
                                environment=self.faulty("times=known" + driver))
                    times = {row["variant"]: row["kernel_ms"]["median"] for row in json.loads(file.read_text())["results"]}
                    for variant, time_ms in times.items():
                        launches = self.launches(name, variant)
                        fills = 0 if variant in none else launches if variant in self.WITH_TOTALS else 1
                        self.assertAlmostEqual(time_ms, 0.0007 * fills + 0.0003 * launches, msg=variant)

    def test_zeroing_is_part_of_them_in_cuda(self):
        for name in (*self.FOLDERS, "05-launch-tuning/workshops/many", "05-launch-tuning/workshops/bins"):
            program = programs.built(f"{name}/cuda-on-cpu")
            if not program:
                self.skipTest("no CUDA on a CPU")
            for variant in (each["name"] for each in programs.described(program)["variants"]):
                if variant == "racy" and BUILD["sanitize"] == "thread":
                    continue  # it has one
                with self.subTest(f"{name} {variant}"):
                    run = programs.Run([program, *self.words(name), "--variant", variant], {"CUDA_ON_CPU_TELLS_TIMES": "1"})
                    told = re.findall("fills: ([0-9]+), launches: ([0-9]+)", run.err)
                    self.assertTrue(told or "skipped" in run.out, run)
                    for fills, launches in told:
                        self.assertEqual(int(fills) > 0, variant not in self.NO_ZEROING | self.WITH_TOTALS, run)
                        self.assertEqual(int(launches), self.launches(name, variant), run)


class Guards(Test):
    def test_the_faults_fit_the_sources(self):
        """mutate.py --guards plants them."""
        for guard, path, old, *_ in json.loads((ROOT / "common/tests/guards.json").read_text(encoding="utf-8")):
            self.assertEqual((ROOT / path).read_text(encoding="utf-8").count(old), 1, guard)


if __name__ == "__main__":
    programs.main()
