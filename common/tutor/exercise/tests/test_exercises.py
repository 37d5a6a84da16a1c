#!/usr/bin/env python3
"""The exercises' files, and a grader that does not let itself be led astray.

    test_exercises.py BUILD
"""

import base64
import contextlib
import csv
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import xml.etree.ElementTree as xml
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "gallery"), str(HERE.parents[1])]
import catalogue  # noqa: E402
import gallery  # noqa: E402
import grading  # noqa: E402
import handout  # noqa: E402
import reports  # noqa: E402
import sandbox  # noqa: E402
import submitted_file  # noqa: E402
import tasks  # noqa: E402
import tutorial  # noqa: E402
from catalogue import BEGIN, END  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else catalogue.ROOT / "build"
PROGRAM = HERE.parents[1] / "tutorial.py"
FIVE_STEPS = catalogue.exercise_of("03/five-steps")
SOLUTION = FIVE_STEPS.solutions("opencl")[0].read_text(encoding="utf-8")
SEED = 5  # one with which the detectors' largest run is a small one
needs_oclgrind = unittest.skipUnless(shutil.which("oclgrind"), "no Oclgrind (package oclgrind)")
needs_bubblewrap = unittest.skipIf(sandbox.missing(), f"no sandbox: {sandbox.missing()} (package bubblewrap)")
HAS_OPENCL = (BUILD / "common" / "run_opencl").is_file()
# What a crash, an error of the compiler and a speed look like is PoCL's: a GPU may stand before it.
POCL = "Portable Computing Language"
HAS_POCL = HAS_OPENCL and POCL in subprocess.run([BUILD / "common" / "devices"], capture_output=True, text=True, check=False).stdout


def outside_marks(text):
    """The lines that are not the student's, and how many parts are."""
    lines, inside, parts = [], False, 0
    for line in text.splitlines():
        inside = inside and END not in line
        if not inside:
            lines.append(line)
        if BEGIN in line:
            inside, parts = True, parts + 1
    return lines, parts


class Files(unittest.TestCase):
    def test_skeletons_and_solutions_differ_between_the_marks_alone(self):
        for exercise in catalogue.exercises():
            for api in exercise.files:
                for pair in zip(exercise.skeletons(api), exercise.solutions(api)):
                    with self.subTest(skeleton=pair[0]):
                        skeleton, solution = (path.read_text(encoding="utf-8") for path in pair)
                        self.assertEqual(outside_marks(skeleton), outside_marks(solution))
                        self.assertGreater(outside_marks(solution)[1], 0)
                        self.assertNotIn("TODO", solution)

    def test_points_are_100_for_criteria_that_there_are(self):
        others = {"compiles", "free of faults", "speed"}
        for exercise in catalogue.exercises():
            with self.subTest(exercise=exercise.name):
                self.assertEqual(sum(exercise.points.values()), 100)
                self.assertEqual(set(exercise.points) - set(tasks.CRITERIA) - others, set())
                self.assertEqual("speed" in exercise.points, "at_least_as_fast" in exercise.data)

    def test_each_has_a_task_with_its_parts(self):
        for exercise in catalogue.exercises():
            with self.subTest(exercise=exercise.name):
                text = (exercise.folder / "README.md").read_text(encoding="utf-8")
                for part in ("**Goal.**", "**What to do.**", "**What you should see.**", f"./tutorial watch {exercise.name} "):
                    self.assertIn(part, text)
                self.assertIn(len(exercise.hints()), (2, 3))


class Inputs(unittest.TestCase):
    def test_another_seed_gives_other_pixels(self):
        for criterion in ("sizes", "distributions", "launches"):
            one, again, other = ([run.pixels for run in tasks.runs_of(FIVE_STEPS, criterion, seed)] for seed in (1, 1, 2))
            self.assertEqual(one, again)
            self.assertNotEqual(one, other)

    def test_pictures_are_other_parts_with_another_seed(self):
        for run, other in zip(*(list(tasks.real_pictures(FIVE_STEPS, tasks.TASKS["picture"], seed)) for seed in (1, 2)), strict=True):
            self.assertNotEqual(run.pixels, other.pixels)
            self.assertEqual(len(run.pixels), run.count)
            self.assertGreater(run.count, 900)

    def test_no_two_runs_whose_time_is_taken_have_the_same_pixels(self):
        runs = tasks.for_speed(catalogue.exercise_of("05/equal-neighbours"), 1, False)
        self.assertEqual(len({run.pixels for run in runs}), len(runs))

    def test_a_detector_sees_sizes_like_those_that_are_compared_and_timed(self):
        timed = {len(run.pixels) >> 16 for run in tasks.for_speed(catalogue.exercise_of("05/equal-neighbours"), 1, False)}
        self.assertEqual({len(run.pixels) >> 16 for run in tasks.as_large_as_others(catalogue.exercise_of("05/equal-neighbours"), 1)}, timed)
        sizes = [tasks.as_large_as_others(FIVE_STEPS, seed)[0].count for seed in range(1, 9)]
        self.assertEqual(len(set(sizes)), 8)
        self.assertGreater(max(sizes), 100000)

    def test_each_kind_of_a_run_is_there(self):
        exercise = catalogue.exercise_of("05/sixteen-at-once")
        self.assertEqual({run.first for run in tasks.runs_of(exercise, "launches", 1)}, set(exercise.data["first"]))
        exercise = catalogue.exercise_of("04/copies")
        self.assertEqual({run.options for run in tasks.runs_of(exercise, "sizes", 1)}, set(exercise.data["options"]))


def run_of(pixels, width=None, **more):
    width = len(pixels) if width is None else width
    return tasks.Run("", width, len(pixels) // width if width else 1, bytes(pixels), 1, 1)._replace(**more)


class Truths(unittest.TestCase):
    """What no solution's grade shows of them: each is right on its own task's."""

    def test_threshold(self):
        task, run = tasks.TASKS["threshold"], run_of([10, 12, 200, 201])
        for threshold in (12, 100, 199):  # all part the same pixels
            self.assertEqual(task.wrong(run, task.truth(run), [threshold]), [])
        for threshold in (11, 200, 256):
            self.assertEqual(task.wrong(run, task.truth(run), [threshold]), [0])

    def test_the_permuted_histogram_depends_on_key_and_launch(self):
        task, run = tasks.TASKS["permuted"], run_of(range(256))
        self.assertEqual(task.truth(run._replace(key=3)), [1] * 256)
        few = run_of([1, 1, 9])
        truths = [task.truth(few._replace(key=key, groups=groups)) for key, groups in ((1, 1), (2, 1), (1, 2))]
        self.assertEqual([sorted(truth)[-2:] for truth in truths], [[1, 2]] * 3)
        self.assertNotEqual(truths[0], truths[1])
        self.assertNotEqual(truths[0], truths[2])


class Sandbox(unittest.TestCase):
    def run_shell(self, script, seconds=5, **more):
        begin = time.monotonic()
        done = sandbox.run(["sh", "-c", script], seconds, **more)
        return done, time.monotonic() - begin

    def test_how_it_ends_is_told(self):
        self.assertEqual(self.run_shell("cat x -; echo hello >&2; exit 3", data=b"data", files={"x": b"file "})[0],
                         sandbox.Done(3, "hello\n", b"file data"))
        self.assertEqual(self.run_shell("kill -SEGV $$")[0].why(), "it crashes (SIGSEGV)")

    def test_what_does_not_end_is_ended_with_its_children(self):
        done, took = self.run_shell("setsid sleep 61.7 & setsid env -i sleep 61.7 & sleep 60", 0.5)
        self.assertEqual(done.why(), "it does not end")
        self.assertLess(took, 10)
        for _ in range(100):
            left = [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if b"61.7" in self.words_of(path)]
            if not left:
                break
            time.sleep(0.05)
        self.assertFalse(left and not sandbox.missing())

    def words_of(self, path):
        try:
            return path.read_bytes()
        except OSError:  # gone by now
            return b""

    def test_floods_are_cut_off(self):
        for script in ("yes", "yes >&2"):
            done, _ = self.run_shell(script, 20)
            self.assertEqual(done.why(), "it writes without end")
            self.assertLessEqual(len(done.said), sandbox.READ)

    def test_what_it_says_is_no_command_to_a_terminal(self):
        self.assertEqual(self.run_shell("printf '\\033[2J\\r\\nx\\000' >&2")[0].said, "?[2J\nx?")

    @needs_bubblewrap
    def test_it_is_alone(self):
        self.assertEqual(self.run_shell(f"ls {catalogue.ROOT} {pathlib.Path.home()} /home /var")[0].out, b"")
        self.assertEqual(self.run_shell("tail -n +3 /proc/net/dev | grep -cv lo:")[0].out, b"0\n")
        self.assertLess(int(self.run_shell("ls /proc | grep -c '^[0-9]'")[0].out), 9)
        for path in ("/files/x", "/usr/x", "/dev/shm/x", "/x", "/etc/x"):
            self.assertNotEqual(self.run_shell(f"echo > {path}")[0].status, 0, path)

    @needs_bubblewrap
    def test_its_disk_and_its_processes_have_an_end(self):
        done, _ = self.run_shell("i=0; while head -c 60000000 /dev/zero > /tmp/$i; do i=$((i+1)); done; cat /tmp/* | wc -c", 30)
        self.assertLessEqual(int(done.out or 0), sandbox.DISK)
        self.assertIn("No space", done.said)
        done, took = self.run_shell("f() { f & f; }; f", 20)
        self.assertLess(took, 15)

    @needs_bubblewrap
    def test_memory_counts_whoever_has_it(self):
        for takes in ("shared = mmap.mmap(-1, 1 << 28); [shared.write(b'x' * (1 << 20)) for _ in range(1 << 8)]",
                      "[(file := os.memfd_create(''), os.write(file, b'x' * (1 << 25))) for _ in range(8)]"):
            with self.subTest(takes), unittest.mock.patch.object(sandbox, "MEMORY", 1 << 27):
                done = sandbox.run(["python3", "-c", f"import mmap, os, time; {takes}; time.sleep(9)"], 9)
                self.assertEqual(done.why(), "it takes memory without end")
        done = sandbox.run(["python3", "-c", "import ctypes; print(ctypes.CDLL(None).shmget(0, 4096, 0o1600))"], 9)
        self.assertEqual(done.out, b"-1\n")

    @needs_bubblewrap
    def test_nobody_outside_hears_its_signals(self):
        for script in ("kill -9 $PPID", "kill -STOP $PPID", "kill -9 -1", f"kill -9 {os.getpid()}"):
            self.run_shell(script, 1)  # and this goes on


class FromOutside(unittest.TestCase):
    """What is read of what a submission sends."""

    def test_results_are_read_as_far_as_they_are_results(self):
        self.assertEqual(submitted_file.results_of(b"3 0.5\nabc0 1\n2\nxy", 9), [(b"abc", [0.5]), (b"", [1]), (b"xy", [])])
        self.assertEqual(len(submitted_file.results_of(b"0 0\n" * 10, 3)), 3)
        for garbage in (b"nan\n", b"1e400 0\nx", b"-5 1\nabcdef", b"9 0\nshort", b"no line", b"\n\n", b"9" * 9999 + b"\nx"):
            self.assertEqual(submitted_file.results_of(garbage, 3), [], garbage[:20])

    def test_what_switches_a_sanitizer_off_is_seen_behind_what_looks_like_a_comment(self):
        for text in ("[[gnu::no_\\\nsanitize(\"thread\")]]", 'char a[] = "/*"; asm(""); char b[] = "*/";', "int a = 1'0, b = '/*'; asm(\"\");",
                     'R"(/*)"; __asm__("nop")', "#define PASTED(a, b) a##b", "void AnnotateIgnoreWritesBegin();", "&__tsan_init"):
            with self.assertRaisesRegex(submitted_file.DoesNotCompile, "is not for exercises"):
                submitted_file.without_switches(text)
        for text in ("// as the sanitizer says", "/* asm */", "int a = 1'0; // asm", "char quote = '\"'; /* asm \" */", "disassembly();"):
            self.assertEqual(submitted_file.without_switches(text), text)

    def test_comments_without_end_take_no_time(self):
        begin = time.monotonic()
        self.assertEqual(submitted_file.COMMENT.sub("", "a/* " + "/* " * 400000), "a")
        for long in ("/* ", "\\'", '\\"', "R\"(", "a", "_", "asm ", "\\ ", "1'"):
            with contextlib.suppress(submitted_file.DoesNotCompile):
                submitted_file.without_switches("a " + long * 300000)
        self.assertLess(time.monotonic() - begin, 5)


class WithAFolder(unittest.TestCase):
    """What the tests of whole submissions share."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def instead_of(self, module, name, what):
        """While this test runs."""
        patch = unittest.mock.patch.object(module, name, what)
        patch.start()
        self.addCleanup(patch.stop)

    def write(self, text, name="histogram.cl"):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def submitted(self, text, exercise=FIVE_STEPS):
        api = exercise.api(None)
        device = POCL if api == "opencl" and HAS_POCL else ""
        (file,) = submitted_file.submitted(exercise, api, {exercise.files[api][0]: text}, BUILD, device)
        return file

    def graded(self, text, exercise=FIVE_STEPS, seed=SEED):
        try:
            return grading.graded([self.submitted(text, exercise)], seed)
        except grading.NothingToRunOn as why:
            self.skipTest(str(why))

    def faults(self, text, exercise=FIVE_STEPS, seed=SEED):
        """What the detectors say. That nothing is worth points then, test_a_race_that_comes_out_right_is_worth_nothing sees."""
        return grading.faults(self.submitted(text, exercise), seed)

    def solution(self, exercise):
        return exercise.solutions(exercise.api(None))[0].read_text(encoding="utf-8")

    def changed(self, old, new, text=SOLUTION):
        self.assertEqual(text.count(old), 1, old)
        return text.replace(old, new)

    def command(self, *arguments, status):
        done = subprocess.run([sys.executable, "-I", "-B", str(PROGRAM), *map(str, arguments), "--build", str(BUILD)],
                              capture_output=True, text=True)
        if done.returncode == 77:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done


@unittest.skipUnless((BUILD / "common" / "run_emulated").is_file(), "run_emulated is not built")
class Emulated(WithAFolder):
    """CUDA without a GPU; here also where there is one."""

    CUDA = FIVE_STEPS.solutions("cuda")[0].read_text(encoding="utf-8")

    def setUp(self):
        super().setUp()
        self.instead_of(submitted_file, "no_gpu", lambda _: True)

    def submitted(self, text, exercise=FIVE_STEPS):
        (file,) = submitted_file.submitted(exercise, "cuda", {exercise.files["cuda"][0]: text}, BUILD)
        if not file.detectors():
            self.skipTest("the compiler's sanitizers do not run here")
        return file

    def host(self):
        return HOST.solutions("cuda")[0].read_text(encoding="utf-8")

    def test_the_grade_says_that_it_is_emulated(self):
        file = self.submitted(self.CUDA)
        self.assertTrue(grading.outcomes(file, [run_of([1, 2, 3])])[0].right)
        self.assertIn("emulated on the CPU", file.ran_where())

    def test_a_fault_is_named_with_its_line(self):
        zeroing, counting = "table[bin] = 0;", "table[pixels[i]]"
        for what, old, new, lines in (
                ("ThreadSanitizer: data race", "atomicAdd(&table[pixels[i]], 1U)", "++table[pixels[i]]", [counting]),
                ("ThreadSanitizer: data race", "    __syncthreads();\n    for (std::size_t", "    for (std::size_t", [zeroing, counting]),
                ("AddressSanitizer: [a-z-]+", "bin < kBins; bin += blockDim.x) {\n        table", "bin <= kBins; bin += blockDim.x) {\n        table",
                 [zeroing])):
            text = self.changed(old, new, self.CUDA)
            numbers = [number for number, line in enumerate(text.splitlines(), 1) if any(each in line for each in lines)]
            with self.subTest(new):
                self.assertRegex(self.faults(text), f"^({what}).*histogram\\.cu:({'|'.join(map(str, numbers))})\\b")

    def test_a_barrier_that_not_all_reach_is_named_with_its_line(self):
        barrier = "    __syncthreads();\n    for (std::size_t"
        text = self.changed(barrier, barrier.replace("__sync", "if (threadIdx.x < 8) __sync"), self.CUDA)
        line = text[:text.index("if (threadIdx.x < 8)")].count("\n") + 1
        self.assertRegex(self.faults(text), rf"not all threads of a block reach .* at histogram\.cu:{line}, others at histogram\.cu:\d+$")

    def test_who_lets_others_stand_idle_is_worth_nothing(self):
        body = self.CUDA[self.CUDA.index("    __shared__"):self.CUDA.rindex("}")]
        for text, says in (("    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == blockDim.x - 1)\n"
                            "        for (std::size_t i = 0; i < count; ++i) ++histogram[pixels[i]];\n", "only a part of the work-items"),
                           ("    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)\n"
                            "        atomicAdd(&histogram[pixels[i]], 1U);\n", "nothing passes through local memory")):
            file = self.submitted(self.CUDA.replace(body, text))
            self.assertIn(says, grading.structure(file, tasks.for_detectors(FIVE_STEPS, SEED)))

    def test_a_host_programs_buffer_that_is_too_small_is_a_stray_access(self):
        text = self.changed("256 * sizeof *counts", "256", self.host())
        self.assertIn("AddressSanitizer: heap-buffer-overflow, host.cu:", self.faults(text, HOST))

    def test_there_are_no_points_for_speed(self):
        exercise = catalogue.exercise_of("05/equal-neighbours")
        verdict = grading.speed(self.submitted(exercise.solutions("cuda")[0].read_text(encoding="utf-8"), exercise), 7)
        self.assertEqual((verdict.points, verdict.of), (0, 0))
        self.assertIn("emulated on the CPU", verdict.words)

    def test_a_gpu_that_is_named_is_not_emulated(self):
        (file,) = submitted_file.submitted(FIVE_STEPS, "cuda", {"histogram.cu": self.CUDA}, BUILD, "no such GPU")
        self.assertFalse(file.emulated)


RACE = SOLUTION.replace("atomic_inc(&table[pixels[i]])", "++table[pixels[i]]")
BODY = SOLUTION[SOLUTION.index("    const size_t item"):SOLUTION.rindex("}")]
MERGE, HOST = catalogue.exercise_of("01/merge"), catalogue.exercise_of("02/host-side")


def instead(body):
    """The five steps with this in their place."""
    return SOLUTION.replace(BODY, body)


def hidden(condition):
    """The race where this holds for the preprocessor, and the solution elsewhere."""
    return f"#if {condition}\n#define COUNT(p) ++*(p)\n#else\n#define COUNT(p) atomic_inc(p)\n#endif\n" + SOLUTION.replace(
        "atomic_inc(&table[pixels[i]])", "COUNT(&table[pixels[i]])")


@unittest.skipUnless(HAS_OPENCL, "run_opencl is not built")
class Undeserved(WithAFolder):
    """Ways to points that are not deserved: each was one, or is near to one."""

    def no_points(self, text, exercise=FIVE_STEPS):
        """Not more than for what compiles, and for a run or two that are right by chance."""
        grade = self.graded(text, exercise)
        self.assertLess(grade.points, catalogue.POINTS["compiles"] + 12, reports.table_of(grade))
        return grade

    def test_what_does_not_count_is_worth_nothing(self):
        self.no_points(instead('    printf("PASS 100 of 100\\n");\n    if (get_global_id(0) == 0) histogram[0] = count;\n'))

    def test_where_no_kernel_is_nothing_compiles(self):
        for text in ("", SOLUTION.replace("histogram_local", "histogram_globl")):
            grade = self.graded(text)
            self.assertEqual(grade.points, 0)
            self.assertIn("there is no kernel histogram_local in this file", grade.first)

    @needs_oclgrind
    def test_a_race_that_comes_out_right_is_worth_nothing(self):
        grade = self.graded(RACE)
        self.assertEqual({verdict.criterion: verdict.points for verdict in grade.verdicts},
                         {"compiles": 5, "sizes": 0, "distributions": 0, "launches": 0, "free of faults": 0})
        self.assertIn("data race at local memory", grade.verdicts[-1].words)

    @needs_oclgrind
    def test_a_race_is_not_hidden_from_the_detector(self):
        counts = " || ".join(f"count == {count}" for count in (1000, 150))
        for name, text in {
                "the compiler's name": hidden("defined(__x86_64__)"),
                "the detector's name": hidden("!defined(__SPIR__) && !defined(__SPIR32__) && !defined(__SPIR64__)"),
                "what was the detector's input": self.changed(
                    "atomic_inc(&table[pixels[i]])", f"if ({counts}) atomic_inc(&table[pixels[i]]); else ++table[pixels[i]]"),
                "a flood": self.changed("    barrier(CLK_LOCAL_MEM_FENCE);\n    for (ulong",
                                        '    for (int i = 0; i < 99; ++i) printf("%0999d", i);\n    for (ulong'),
                "where the detector's memory lies": RACE.replace(
                    "    const size_t item", "    if ((ulong)pixels >> 48) return;\n    const size_t item", 1),
                "no kernel for the detector": "#ifdef __x86_64__\n" + RACE + "#endif\n",
                "an error for the detector": "#ifndef __x86_64__\n#error\n#endif\n" + RACE}.items():
            with self.subTest(name):
                self.assertTrue(self.faults(text))

    @needs_oclgrind
    def test_the_compilers_own_names_are_not_for_kernels(self):
        for name, text in {"asm": '    asm volatile("nop");\n', "__asm__": '    __asm__("nop");\n', "a directive that is made": "",
                           "__has_builtin": "    if (__has_builtin(__builtin_ia32_pause)) ++table[0];\n"}.items():
            begin = "#define HASH #\nHASH ifdef __x86_64__\nHASH endif\n" if not text else ""
            with self.subTest(name):
                grade = self.graded(begin + SOLUTION.replace("    const size_t item", text + "    const size_t item"))
                self.assertEqual(grade.points, 0)
                self.assertIn("is not for kernels", grade.first)

    @needs_oclgrind
    def test_who_lets_others_stand_idle_is_worth_nothing(self):
        alone = "    if ({}) for (ulong i = {}; i < count; i += {}) atomic_inc(&histogram[pixels[i]]);\n"
        for text in (alone.format("get_global_id(0) == 0", "0", "1"),
                     alone.format("get_local_id(0) == 0", "get_group_id(0)", "get_num_groups(0)"),
                     alone.format("get_global_id(0) == get_global_size(0) - 1", "0", "1"),
                     "    if (get_local_size(0) % 2 != 0) return;\n" + alone.format("get_global_id(0) == get_global_size(0) - 1", "0", "1")):
            found = grading.structure(self.submitted(instead(text)), tasks.for_detectors(FIVE_STEPS, SEED))
            self.assertIn("it needs only a part of the work-items", found)
        only_when_small = "    if (count < 3000) {\n" + alone.format("get_global_id(0) == 0", "0", "1") + "        return;\n    }\n"
        self.no_points(RACE.replace("    const size_t item", only_when_small + "    const size_t item"))

    @needs_oclgrind
    def test_five_steps_without_a_local_table_are_worth_nothing(self):
        grade = self.no_points(instead("    for (ulong i = get_global_id(0); i < count; i += get_global_size(0))\n"
                                       "        atomic_inc(&histogram[pixels[i]]);\n"))
        self.assertIn("nothing passes through local memory", grade.first)

    @needs_oclgrind
    def test_equal_neighbours_without_an_atomic_are_seen_with_every_seed(self):
        exercise = catalogue.exercise_of("05/equal-neighbours")
        text = re.sub(r"atomic_add\(&table\[one\], 2\)", "table[one] += 2", self.solution(exercise))
        self.assertNotEqual(text, self.solution(exercise))
        with unittest.mock.patch.object(tasks, "as_large_as_others", lambda *_: []):  # the small runs are enough
            for seed in range(1, 5):
                self.assertIn("data race", self.faults(text, exercise, seed))

    def test_a_run_of_which_the_time_is_taken_is_compared(self):
        exercise = catalogue.exercise_of("05/equal-neighbours")
        text = self.changed("    const size_t item", "    if (count > 900000 && count != 1048573) return;\n    const size_t item",
                            self.solution(exercise))
        verdict = grading.speed(self.submitted(text, exercise), 7)
        self.assertEqual(verdict.points, 0)
        self.assertIn("a run of which the time is taken is wrong", verdict.words)

    @needs_bubblewrap
    def test_no_file_of_others_is_included(self):
        for path in (FIVE_STEPS.solutions("opencl")[0], self.write(SOLUTION, "ann/histogram.cl")):
            self.assertEqual(self.graded(f'#include "{path}"\n').points, 0)

    # ---- C++

    LOCK = "const std::lock_guard"

    def test_a_race_in_cpp_is_not_hidden_from_the_detector(self):
        racy = self.changed(self.LOCK, "// const std::lock_guard", self.solution(MERGE))
        if self.faults(racy, MERGE) is None:
            self.skipTest("the compiler has no ThreadSanitizer")
        either = self.changed(self.LOCK, "#ifdef __SANITIZE_THREAD__\n    const std::lock_guard", self.solution(MERGE))
        either = re.sub(r"(lock_guard.*?;\n)", r"\1#endif\n", either, count=1)
        off = "extern \"C\" __attribute__((used)) const char* __tsan_default_{}() {{ return \"{}\"; }}\n"
        shared = "inline void count_part"
        for name, text in {
                "plainly": racy,
                "an attribute": racy.replace(shared, '__attribute__((no_sanitize("thread"))) ' + shared),
                "its options": racy + off.format("options", "report_bugs=0"),
                "its suppressions": racy + off.format("suppressions", "race:count_part"),
                "its macro": either,
                "an error for it": "#ifdef __SANITIZE_THREAD__\n#error\n#endif\n" + racy,
                "a macro for the grader": racy + "#define thread never\n",
                "what it says where it cannot run": racy + '#include <cstdio>\n#include <cstdlib>\nstatic const int said = [] {\n'
                '    std::fputs("FATAL: ThreadSanitizer: unexpected memory mapping\\n", stderr);\n    return 0;\n}();\n',
                "assembly": self.changed("shared.histogram[bin] += own[bin];",
                                         'asm volatile("addl %1, %0" : "+m"(shared.histogram[bin]) : "r"(own[bin]));', racy),
                "a lock for show": racy.replace("own[bin];", "own[bin];\n    const std::lock_guard<std::mutex> mine(shared.one_at_a_time);")
                }.items():
            if name == "assembly" and os.uname().machine != "x86_64":
                continue
            with self.subTest(name):
                self.assertRegex(self.faults(text, MERGE), "data race|is not for exercises")
        # Words that are not known: what the grader plants is not reported.
        with unittest.mock.patch.object(submitted_file, "without_switches", str):
            quiet = self.changed(shared, '__attribute__((no_sanitize("thread"))) ' + shared, self.solution(MERGE))
            self.assertIn("switches it off", self.faults(quiet, MERGE))

    def test_an_addition_of_two_atomic_accesses_loses_counts(self):
        """No detector sees a race there: the threads have to meet."""
        stores = "{ std::atomic_ref<std::uint32_t> count(shared.histogram[bin]); count.store(count.load() + own[bin]); }"
        text = self.changed(self.LOCK, "// const", self.changed("shared.histogram[bin] += own[bin];", stores, self.solution(MERGE)))
        if len(os.sched_getaffinity(0)) > 1:
            file = self.submitted("#include <atomic>\n" + text, MERGE)  # on a busy machine they do not meet every time
            self.assertTrue(any("the counts are wrong" in (grading.faults(file, SEED) or "") for _ in range(9)))
        for name, exercise in (("atomic_xchg", FIVE_STEPS), ("store", MERGE)):
            asked = grading.for_the_reader(self.submitted(f"int x = {name}(1);\n// atomic_cmpxchg", exercise))
            self.assertIn(f"does {name} lose what others add in between?", asked)
            self.assertNotIn("cmpxchg", asked)

    def test_only_what_the_function_gives_counts(self):
        """Whatever begins before it has no pixels, and prints to nobody."""
        begin = '#include <cstdio>\n#include <cstdlib>\nstatic const int begun = [] {\n    std::puts("1024");\n' \
                "    std::exit(0);\n    return 0;\n}();\n"
        grade = self.graded(begin + self.solution(MERGE), MERGE)
        self.assertEqual(grade.points, 5)
        self.assertIn("it ended before it had counted", grade.verdicts[1].words)
        self.assertEqual(self.graded(self.solution(MERGE) + "int main() { return 0; }\n#error\n", MERGE).points, 0)

    # ---- host programs

    def host(self, body, before=""):
        """The host exercise with this in the place of the student's part."""
        text = self.solution(HOST)
        begin, end = text.index(BEGIN), text.index(END)
        return before + text[:begin] + BEGIN + "----\n" + body + "\n    " + text[end:]

    def test_a_host_program_that_counts_by_itself_is_worth_nothing(self):
        self.no_points(self.host("for (int bin = 0; bin < 256; ++bin) result[bin] = 0;\n"
                                 "for (std::size_t i = 0; i < count; ++i) ++result[pixels[i]];"), HOST)

    def test_the_driver_does_not_tell_what_the_kernel_does(self):
        asks = """cl_program program = nullptr;
    clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof program, &program, nullptr);
    std::size_t size = 0;
    char text[65536] = {};
    clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof text, text, &size);
    std::fprintf(stderr, "%s\\n", std::strstr(text, "BIN_OF") ? "it tells" : "it does not tell");
    std::_Exit(1);"""
        grade = self.no_points(self.host(asks, "#include <cstring>\n"), HOST)
        self.assertIn("it does not tell", grade.first)

    def test_ends_of_ones_own_stop_nobody(self):
        for ends, says in (("std::exit(0);", "it ended before it had counted"), ('std::puts("no device"); std::exit(77);', "it ends with 77"),
                           ("if (ftruncate(2, 0)) {} std::_Exit(77);", "it ends with 77")):
            (outcome,) = grading.outcomes(self.submitted(self.host(ends, "#include <unistd.h>\n"), HOST), tasks.runs_of(HOST, "sizes", SEED)[:1])
            self.assertFalse(outcome.right)
            self.assertIn(says, outcome.why)

    def test_what_no_student_can_help_is_no_grade(self):
        file = submitted_file.submitted(FIVE_STEPS, "opencl", {"histogram.cl": SOLUTION}, BUILD, "no such device")[0]
        with self.assertRaisesRegex(grading.NothingToRunOn, "no such device"):
            grading.graded([file], 7)

    def test_another_launch_than_was_asked_for_is_wrong(self):
        text = self.changed("groups * group_size", "group_size", self.solution(HOST))
        self.assertIn("1 of 5 runs", self.graded(text, HOST).verdicts[1].words)  # that of no pixels

    @needs_bubblewrap
    def test_nothing_is_left_of_it_and_nobody_is_harmed(self):
        planted = self.write("as it was", "victim")
        harm = f"""static const int harm = [] {{
    for (const char* path : {{"{planted}", "{HERE.parent}/__pycache__/grading.pyc", "/usr/bin/c++", "/var/tmp/left"}})
        if (std::FILE* file = std::fopen(path, "w")) std::fputs("spoilt", file);
    kill(getppid(), SIGKILL);
    kill(getppid(), SIGSTOP);
    kill(-1, SIGKILL);
    return 0;
}}();
"""
        harm = "#include <csignal>\n#include <initializer_list>\n#include <unistd.h>\n" + harm
        text = self.solution(HOST).replace("// What a call", harm + "// What a call", 1)
        grade = self.graded(text, HOST)
        self.assertEqual(grade.points, 100 if shutil.which("oclgrind") else 80, reports.table_of(grade))
        self.assertEqual(planted.read_text(), "as it was")
        self.assertFalse(pathlib.Path("/var/tmp/left").exists())


@unittest.skipUnless(HAS_OPENCL, "run_opencl is not built")
class Grader(WithAFolder):

    @needs_oclgrind
    def test_the_detector_does_not_pass_for_the_device(self):
        file = self.submitted(SOLUTION)
        grading.outcomes(file, [run_of([1])])
        before = file.on_pocl
        grading.faults(file, SEED)
        self.assertEqual(file.on_pocl, before)

    def test_each_way_to_compile_runs_as_itself(self):
        exercise = catalogue.exercise_of("04/copies")
        text = "#if COPIES == 8\n#define get_global_id(dimension) 0\n#endif\n" + self.solution(exercise)
        runs = [run_of(range(64))._replace(options=f"-DCOPIES={copies}", group_size=64) for copies in (1, 8)]
        self.assertEqual([each.right for each in grading.outcomes(self.submitted(text, exercise), runs)], [True, False])

    @needs_oclgrind
    def test_another_launch_than_was_asked_for_is_said(self):
        driver = BUILD / "common/tests/libfault_injecting_driver.so"
        if not HAS_POCL or not driver.is_file():
            self.skipTest("no driver that injects faults")

        def in_small_groups(command, seconds, data, files, **limits):
            done = subprocess.run([BUILD / "common/run_opencl"], input=data, capture_output=True, check=True, timeout=seconds,
                                  env={**os.environ, "FAULT_INJECTING_DRIVER": "kernel-group=100", "LD_PRELOAD": str(driver)})
            return sandbox.Done(done.returncode, done.stderr.decode(), done.stdout)

        file = submitted_file.submitted(FIVE_STEPS, "opencl", {"histogram.cl": SOLUTION}, BUILD, "Portable")[0]
        runs = tasks.runs_of(FIVE_STEPS, "launches", 1)
        with unittest.mock.patch.object(sandbox, "run", in_small_groups):
            _, results = file.run_job([], {}, runs, [{"name": "histogram.cl", "text": SOLUTION, "options": ""}], (), 60)
        self.assertTrue(all(grading.compared(FIVE_STEPS, *pair).right for pair in zip(runs, results, strict=True)))
        self.assertRegex(file.ran_where(), "groups of 100 in place of 1024, groups of 100 in place of 256$")

    def test_what_only_a_detector_sees(self):
        for old, new, says in (("i < count; i +=", "i <= count; i +=", "Invalid read of size 1 at global memory"),
                               ("        table[bin] = 0;\n", "", "Uninitialized value written to local memory"),
                               ("barrier(CLK_LOCAL_MEM_FENCE);\n    for (ulong", "for (ulong", "data race at local memory")):
            with self.subTest(says=says):
                self.assertIn(says, self.faults(self.changed(old, new)))

    def test_without_a_detector_it_is_not_full_marks(self):
        with unittest.mock.patch.object(submitted_file.KernelsFile, "detectors", return_value=[]):
            grade = self.graded(SOLUTION)
        self.assertEqual(grade.verdicts[-1].words, "not graded: no race detector")
        self.assertFalse(grade.full)

    def test_a_kernel_that_does_not_end_is_named_in_time(self):
        begin = time.monotonic()
        with unittest.mock.patch.object(submitted_file.KernelsFile.process, "__defaults__", ((), 3, str)):
            grade = self.graded(self.changed("i += get_global_size(0)", "i += 0"))
        self.assertLess(time.monotonic() - begin, 30)
        self.assertRegex(grade.first, r"sizes: .*: it does not end")
        self.assertLess(grade.points, 10)
        self.assertIn("not run, because it does not end", grade.verdicts[3].words)

    def test_a_wild_write_is_named(self):
        grade = self.graded(instead("    *(volatile __global uint*)8 = 1;\n"))
        self.assertIn("it crashes", grade.verdicts[1].words)
        self.assertLess(grade.points, 10)

    def test_compiler_errors_have_the_students_lines(self):
        grade = self.graded(self.changed("        table[bin] = 0;", "\ttable[bin] = 0"))
        line = SOLUTION[:SOLUTION.index("table[bin] = 0;")].count("\n") + 1
        self.assertEqual(grade.points, 0)
        said = grade.verdicts[0].words.splitlines()
        self.assertRegex(said[1], rf"^histogram.cl:{line}:\d+: error: expected ';'")
        self.assertEqual(said[2:4], ["    table[bin] = 0", "                  ^"])
        self.assertEqual(len(said), 4)

    def test_wrong_arguments_of_a_host_program_are_named(self):
        right = self.solution(HOST)
        for old, new, says in (("kernel, 1, sizeof pixel_count", "kernel, 1, 4", r"clSetKernelArg\(1\): CL_INVALID_ARG_SIZE \(-51\)"),
                               ("sizeof(cl_mem), &input", "sizeof(cl_mem), &counts", "the kernel is right: what are its arguments")):
            if shutil.which("oclgrind") or "INVALID" in says:
                self.assertRegex(self.graded(self.changed(old, new, right), HOST).first, says)

    def test_one_run_that_ends_the_process_does_not_take_the_others_along(self):
        text = self.changed("count > 0 ? count : 1", "count", self.solution(HOST))
        self.assertIn("4 of 5 runs are right", self.graded(text, HOST).verdicts[1].words)

    # ---- speed, and several files

    def test_what_is_right_and_slow_gets_no_points_for_speed(self):
        exercise = catalogue.exercise_of("05/equal-neighbours")
        # On a busy machine 1.2 times, which it wants, is a matter of luck.
        with unittest.mock.patch.object(grading, "TURNS", 1), unittest.mock.patch.dict(exercise.data, {"at_least_as_fast": 10}):
            file = self.submitted(self.changed("if (one == two)", "if (false)", self.solution(exercise)), exercise)
            grading.outcomes(file, [run_of([1])])
            verdict = grading.speed(file, 7)
        if file.on_pocl:
            self.assertEqual(verdict.points, 0)
            self.assertIn("10 times is wanted", verdict.words)

    def test_one_wrong_file_of_four_costs_a_quarter(self):
        exercise = catalogue.exercise_of("03/four-mistakes")
        said = [([grading.Verdict("sizes", points, 25, f"{points} of 25")], "") for points in (25, 25, 25, 2)]
        with unittest.mock.patch.object(grading, "graded_file", side_effect=said):
            (verdict,) = grading.graded(submitted_file.submitted(exercise, "opencl", dict.fromkeys(exercise.files["opencl"], ""), BUILD), 7).verdicts
        self.assertEqual((verdict.points, verdict.words), (19, "fourth.cl: 2 of 25"))

    @needs_oclgrind
    def test_a_third_barrier_that_is_missing_is_a_race(self):
        """It is needed in what goes round again, so the detector has to see it go round."""
        for name, zeroing in (("03/tiles", "if (item == 0) for (size_t bin = 0; bin < BINS; ++bin) {"), ("04/no-overflow", None)):
            exercise = catalogue.exercise_of(name)
            text = self.solution(exercise)
            begin, end = text[:text.rindex("barrier(")], text[text.rindex("barrier("):].split(";", 1)[1]
            if zeroing:
                begin = begin.replace("for (size_t bin = item; bin < BINS; bin += group_size) {", zeroing, 1)
            with self.subTest(exercise=name):
                self.assertIn("data race", self.faults(begin + end, exercise))

    # ---- the command

    def one_line(self, *arguments):
        """What is wrong with these arguments. A process of its own for each of them would start Python twenty times."""
        with self.assertRaises(catalogue.BadInput) as wrong:
            tutorial.main(*map(str, arguments), "--build", str(BUILD))
        self.assertNotIn("\n", str(wrong.exception))
        return str(wrong.exception)

    def test_bad_requests_are_one_line(self):
        self.assertEqual(self.command("hint", "03/x", status=2).stderr, f"tutorial: {self.one_line('hint', '03/x')}\n")
        self.assertRegex(self.one_line("grade", "03/x"), "there is no exercise '03/x': there are .*03/five-steps")
        self.assertIn("is it 03/five-steps?", self.one_line("grade", "5/five-steps"))
        self.assertIn("no file", self.one_line("grade", "03/five-steps", self.folder / "histogram.cl"))
        self.assertIn("histogram.cl is missing; there is opencl.cpp", self.one_line("grade", "03/five-steps", self.write("", "opencl.cpp")))
        mine = self.write(SOLUTION)
        self.assertIn("which of these is histogram.cl", self.one_line("grade", "03/five-steps", mine, self.write("", "b/histogram.cl")))
        link = self.folder / "link" / "histogram.cl"
        link.parent.mkdir()
        link.symlink_to(FIVE_STEPS.solutions("opencl")[0])
        self.assertIn("a link", self.one_line("grade", "03/five-steps", link))
        self.assertIn("a link", self.one_line("grade", "03/five-steps", link.parent))
        mine.write_bytes(b"\xff\xfe\x00")
        self.assertIn("not a text", self.one_line("grade", "03/five-steps", mine))
        self.assertIn("--api", self.one_line("grade", "03/five-steps", "--api", "metal"))
        self.assertIn("grade needs an exercise", self.one_line("grade"))
        for option in ("--csv", "--reports", "--roster", "--compare"):
            self.assertIn(f"{option} needs --all", self.one_line("grade", "03/five-steps", option, "x"))
        self.assertIn("--all does not go with --json", self.one_line("grade", "03/five-steps", "--all", ".", "--json", "x"))
        self.assertIn("go with --csv", self.one_line("grade", "03/five-steps", "--all", ".", "--only", "x"))
        self.assertIn("needs the --seed", self.one_line("grade", "03/five-steps", "--all", ".", "--resume", "--csv", self.folder / "c"))
        self.assertIn("grade: unrecognized arguments: --exam", self.one_line("grade", "03/five-steps", "--exam"))
        self.assertIn("01/merge is not there for --api cuda", self.one_line("grade", "01/merge", "--api", "cuda"))
        self.assertIn("first.cl is missing; there is histogram.cl", self.one_line("grade", "03/four-mistakes", self.write("")))
        self.assertIn("handout needs a folder", self.one_line("handout"))
        self.assertIn("--for takes", self.one_line("handout", self.folder / "new", "--for", "moodle", "03/five-steps"))
        (self.folder / "none").mkdir()
        with unittest.mock.patch.object(sandbox, "missing", return_value=""):
            self.assertIn("no submissions", self.one_line("grade", "03/five-steps", "--all", self.folder / "none"))
            self.assertIn("is one submission", self.one_line("grade", "03/five-steps", "--all", FIVE_STEPS.folder))
        self.assertIn("cannot be written", self.one_line("grade", "03/five-steps", "--all", ".", "--csv", self.folder / "no" / "f"))

    def test_an_unwritable_report_is_one_line(self):
        mine = self.write(SOLUTION)
        self.assertIn("cannot be written", self.one_line("grade", "03/five-steps", mine, "--json", self.folder / "no" / "f"))
        (self.folder / "taken").mkdir()
        self.assertIn("cannot be written", self.one_line("grade", "03/five-steps", mine, "--json", self.folder / "taken"))
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["histogram.cl", "taken"])

    def test_a_report_to_a_device_is_written_there(self):
        mine = self.write("no kernel")
        done = self.command("grade", "03/five-steps", mine, "--json", "/dev/stderr", status=1)
        self.assertEqual(json.loads(done.stderr)["points"], 0)
        self.assertTrue(pathlib.Path("/dev/stderr").is_symlink())
        link, real = self.folder / "link", self.folder / "real"
        link.symlink_to(real)
        self.command("grade", "03/five-steps", mine, "--json", link, status=1)
        self.assertTrue(link.is_symlink())
        self.assertEqual(json.loads(real.read_text())["points"], 0)

    def check_reports(self, points):
        report = json.loads((self.folder / "json").read_text())
        self.assertEqual((report["exercise"], report["api"], report["points"]), ("03/five-steps", "opencl", points))
        self.assertEqual(sum(each["points"] for each in report["criteria"]), points)
        suite = xml.fromstring((self.folder / "junit").read_text())
        self.assertEqual(int(suite.get("failures")), sum(each["points"] < each["of"] for each in report["criteria"]))
        scope = json.loads((self.folder / "gradescope").read_text())
        self.assertEqual([test["score"] for test in scope["tests"]], [each["points"] for each in report["criteria"]])
        self.assertEqual({test["status"] for test in scope["tests"]} - {"passed", "failed"}, set())
        self.assertEqual((scope["score"], scope["visibility"], scope["output_format"]), (points, "visible", "text"))
        name, _, value = (self.folder / "classroom").read_text().partition("=")
        room = json.loads(base64.b64decode(value))
        self.assertEqual((name, room["max_score"], sum(test["score"] for test in room["tests"])), ("result", 100, points))

    def test_reports_say_the_same(self):
        forms = [word for form in reports.FORMATS for word in (f"--{form}", self.folder / form)]
        done = self.command("grade", "03/five-steps", self.write(SOLUTION), *forms, status=0 if shutil.which("oclgrind") else 1)
        self.check_reports(100 if shutil.which("oclgrind") else 80)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)
        # What cannot be read, or shouts at whoever reads, gets reports, too.
        for text, status in ((b"\xff\xfe\x00", 2), (b"", 1), (b"\x1b[2J", 1)):
            self.command("grade", "03/five-steps", self.write(text), *forms, status=status)
            self.check_reports(0)

    def test_without_a_sandbox_the_first_line_says_so(self):
        with unittest.mock.patch.object(sandbox, "missing", return_value="there is no bwrap (package bubblewrap)"):
            table = reports.table_of(grading.Grade("x", "opencl", 1, []))
            self.assertRegex(table, "^NOT ISOLATED, so a dishonest .*no bwrap")
            self.assertIn("--unsafe", self.one_line("grade", "03/five-steps", "--all", self.folder))
            self.assertTrue(grading.outcomes(self.submitted(SOLUTION), [run_of([1, 2, 3])])[0].right)

    def test_list_and_hint(self):
        self.assertIn("03/five-steps", self.command("list", status=0).stdout)
        said = self.command("hint", "03/five-steps", status=0).stdout
        self.assertRegex(said, r"Hint \d of 3:")
        self.assertLessEqual(max(map(len, said.splitlines())), reports.WIDTH)

    def test_ctrl_c_ends_it_at_once(self):
        if subprocess.run(["env", "--block-signal=INT", "true"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("env cannot block signals here")
        for after in (0.05, 0.1, 0.2, 0.3, 0.6):
            process = subprocess.Popen(["env", "--block-signal=INT", sys.executable, "-I", "-S", "-B", str(PROGRAM), "watch",
                                        "03/five-steps", "--build", str(BUILD)],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            time.sleep(after)
            process.send_signal(2)
            _, said = process.communicate(timeout=10)
            self.assertIn(process.returncode, (130, -2))
            self.assertEqual(said, "")


@unittest.skipUnless(HAS_OPENCL, "run_opencl is not built")
class AClass(WithAFolder):
    def zipped(self, **files):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, text in files.items():
                packed.writestr(name.replace("--", "/"), text)
        return data.getvalue()

    def grade(self, *more, points=None, status=1):
        """The rows of the CSV; each submission whose text begins with "full" is right, without a run of it."""
        def graded(submitted, seed):
            right = submitted[0].text.startswith("full")
            verdicts = [grading.Verdict(each, of if right else 0, of, "" if right else "=1+1\x1b") for each, of in FIVE_STEPS.points.items()]
            return grading.Grade("03/five-steps", "opencl", seed, verdicts)
        words = ("grade", "03/five-steps", "--all", self.folder / "class", "--csv", self.folder / "c.csv", "--seed", "7", "--build", BUILD, *more)
        with unittest.mock.patch.object(grading, "graded", points or graded), \
                unittest.mock.patch.object(sandbox, "missing", return_value=""), \
                unittest.mock.patch("sys.stdout", io.StringIO()) as out, unittest.mock.patch("sys.stderr", io.StringIO()) as err:
            self.assertEqual(tutorial.main(*map(str, words)), status)
        self.said = out.getvalue() + err.getvalue()
        return {row["submission"]: row for row in csv.DictReader((self.folder / "c.csv").read_text().splitlines())}

    def test_what_learning_systems_deliver_is_read_or_named(self):
        full = "full\n"
        for name, text in {
                "ann/histogram.cl": full, "bom/histogram.cl": b"\xef\xbb\xbffull", "wide/histogram.cl": "full".encode("utf-16"),
                "crlf/histogram.cl": b"full\r\n", "upper/Histogram.CL": full, "deep/a/b/histogram.cl": full, "other/histogram(1).cl": full,
                "more/histogram.cl": full, "more/README.txt": "hello", "more/.DS_Store": "x", "more/__MACOSX/._histogram.cl": "x",
                "packed.zip": self.zipped(histogram_cl="x", **{"a--histogram.cl": full, "__MACOSX--histogram.cl": "x"}),
                "moodle/all.zip": self.zipped(**{"inner.zip": self.zipped(**{"x--histogram.cl": full})}), "flat_123.cl": full,
                "binary.cl": b"\0\1", "broken.zip": b"PK\3\4 no", "none/x.txt": "x", "empty/.keep": "", "large.cl": "x" * (2 << 20),
                "two/a/histogram.cl": "one", "two/b/histogram.cl": "two", "=HYPERLINK(x).cl": full, ".DS_Store": "x", "odd\x1b.cl": full,
                "same.cl": full, "same.zip": self.zipped(**{"histogram.cl": full}), "odd\x1a.cl": full, "x;=1.cl": full,
                "bomb.zip": self.zipped(**{f"{n}.zip": bytes(4 << 20) for n in range(5)}, histogram_cl="x")}.items():
            self.write(text, f"class/{name}")
        (self.folder / "class" / "eve").symlink_to(self.folder / "class" / "ann")
        rows = self.grade("--reports", self.folder / "reports")
        right = ("ann", "bom", "wide", "crlf", "upper", "deep", "other", "more", "packed", "moodle", "flat_123", "'=HYPERLINK(x)", "odd?",
                 "odd? (another)", "same.cl", "same.zip", "x;'=1")
        wrong = {"binary": "not a text", "broken": "cannot be unpacked", "none": "is missing; there is x.txt", "empty": "there is nothing",
                 "bomb": "more than 16 MiB", "large": "larger than 1 MiB", "two": "which of these", "eve": "a link"}
        self.assertEqual({who for who, row in rows.items() if row["points"] == "100"}, set(right))
        self.assertEqual(set(rows), {*right, *wrong})
        for who, says in wrong.items():
            self.assertIn(says, rows[who]["why"])
        self.assertIn("passed over: .DS_Store", self.said)
        self.assertEqual(len(list((self.folder / "reports").glob("*/results.json"))), len(rows))
        for each in (self.folder / "reports").glob("*/*"):
            self.assertNotRegex(each.read_text(), "[\x1b\0]")
            if each.suffix == ".json":
                json.loads(each.read_text())
            if each.suffix == ".xml":
                xml.fromstring(each.read_text())

    def test_who_is_absent_who_is_kept_and_what_differs(self):
        for who in ("Ann Lee_17_file", "bob", "cyd"):
            self.write("full" if who != "bob" else "not", f"class/{who}/histogram.cl")
        roster = self.write("Ann Lee,17\nAnn\nbob\nDan Ray\n", "roster.csv")
        rows = self.grade("--roster", roster)
        for who in ("Dan Ray", "Ann"):
            self.assertEqual((rows[who]["points"], rows[who]["why"]), ("0", "compiles: nothing was handed in"))
        self.assertIn("not on the roster: cyd", self.said)
        shutil.copy(self.folder / "c.csv", self.folder / "old.csv")
        self.write("full", "class/bob/histogram.cl")
        asked = []
        again = self.grade("--resume", "--compare", self.folder / "old.csv", status=0, points=lambda submitted, seed: asked.append(submitted) or
                           grading.Grade("03/five-steps", "opencl", seed, [grading.Verdict(n, of, of, "") for n, of in FIVE_STEPS.points.items()]))
        self.assertEqual((len(asked), again["bob"]["points"], set(again)), (1, "100", {"Ann Lee_17_file", "bob", "cyd"}))
        self.assertIn("bob: 0 -> 100", self.said)
        self.assertIn("Dan Ray: in one of the two alone", self.said)
        self.grade("--only", "cyd", status=0)
        self.assertEqual(len((self.folder / "c.csv").read_text().splitlines()), 4)

    def test_a_row_is_there_when_it_is_done_and_a_fault_of_the_grader_is_a_row(self):
        for who in ("ann", "bob", "cyd"):
            self.write(who, f"class/{who}.cl")
        seen = []

        def graded(submitted, seed):
            until = time.monotonic() + 10  # the row before is written beside this
            while (lines := (self.folder / "c.csv").read_text().count("\n")) <= len(seen) and time.monotonic() < until:
                time.sleep(0.01)
            seen.append(lines)
            if submitted[0].text == "bob":
                raise ValueError("a mistake of ours")
            return grading.Grade("x", "opencl", seed, [grading.Verdict("sizes", 0, 25, "")])
        rows = self.grade("--jobs", "1", points=graded)
        self.assertEqual(seen, [1, 2, 3])
        self.assertIn("the grader failed: ValueError: a mistake of ours", rows["bob"]["why"])
        self.assertEqual(set(rows), {"ann", "bob", "cyd"})

    def test_a_class_is_graded(self):
        for name, text in {"ann.cl": SOLUTION, "bob.cl": "does not compile", "max/histogram.cl": RACE}.items():
            self.write(text, f"class/{name}")
        if sandbox.missing():
            self.skipTest(f"no sandbox: {sandbox.missing()} (package bubblewrap)")
        self.command("grade", "03/five-steps", "--all", self.folder / "class", "--csv", self.folder / "c.csv", status=1)
        rows = {row["submission"]: row for row in csv.DictReader((self.folder / "c.csv").read_text().splitlines())}
        self.assertGreaterEqual(int(rows["ann"]["points"]), 80)
        self.assertEqual(rows["bob"]["points"], "0")
        if shutil.which("oclgrind"):
            self.assertEqual(rows["max"]["points"], "5")
            self.assertIn("free of faults: data race at", rows["max"]["why"])


@unittest.skipUnless(HAS_OPENCL, "run_opencl is not built")
class Gallery(WithAFolder):
    def setUp(self):
        super().setUp()
        self.instead_of(tasks, "as_large_as_others", lambda *_: [])  # small runs are enough

    def gallery_handed_in(self, exercise, variant, more_than):
        """The mistakes of a chapter's kernel, each handed in as this exercise: a detector finds it, or its counts are wrong
        and the diagnosis names it."""
        exercise, tried = catalogue.exercise_of(exercise), 0
        for mistake in gallery.mistakes(exercise.chapter):
            if mistake.variant != variant or "blocked" in mistake.shows or "histogram.cl" not in mistake.files():
                continue
            gallery.make(mistake, self.folder / "made")
            made = (self.folder / "made" / "histogram.cl").read_text(encoding="utf-8")
            # Any group is a group here: the chapter's host says how large, the exercise's does not.
            made = made.replace("__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))", "")
            with self.subTest(mistake=mistake.name):
                file = self.submitted(made, exercise)
                detectors = file.detectors()
                if mistake.shows.startswith("oclgrind") and not detectors:
                    self.skipTest("only a detector finds it")
                if not grading.faults(file, SEED, False):
                    found = grading.outcomes(file, tasks.runs_of(exercise, "sizes", 7))
                    self.assertFalse(all(each.right for each in found))
                    if detectors:  # without them it may be a race, whose name depends on who came last
                        names = mistake.names.replace(" ", "|")
                        self.assertRegex(grading.diagnosis(file, found), rf"(why(, one of these)?|this fits also): .*\(({names})\)")
            tried += 1
        self.assertGreater(tried, more_than)

    def test_the_gallerys_mistakes_in_local_are_refused(self):
        self.gallery_handed_in("03/five-steps", "local", 12)

    def test_the_gallerys_mistakes_in_global_are_refused(self):
        self.gallery_handed_in("02/no-lost-counts", "global", 5)


def lines_of(text):
    """Its lines that say something, as they stand in no other layout."""
    lines = (re.sub(r"\s+", " ", line).strip() for line in text.splitlines())
    return {line for line in lines if len(line) > 8 and not line.startswith(("//", "#"))}


class Handout(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.shared = pathlib.Path(folder.name)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name, "copy")

    def made(self, *chapters, exam):
        """A copy that is made once, for whoever only reads in it."""
        folder = self.shared / "-".join([*chapters, str(exam)])
        if not folder.exists():
            handout.make(folder, list(chapters), exam)
        return folder

    def lines(self, folder):
        """{line: file} of every text in a copy."""
        found = {}
        for path in folder.rglob("*"):
            if path.is_file():
                found |= dict.fromkeys(lines_of(path.read_bytes().decode("utf-8", "replace")), path.relative_to(folder))
        return found

    def given(self, *folders):
        """The lines that are no secret: in what stands beside the skeletons, and in these folders."""
        exercises = (path for exercise in catalogue.exercises() for path in exercise.folder.glob("*.*"))
        others = (path for folder in folders for path in catalogue.ROOT.glob(folder) if "exercise" not in path.parts)
        return set().union(*(lines_of(path.read_text(encoding="utf-8")) for path in (*exercises, *others)
                             if path.suffix in (".cl", ".cu", ".cpp", ".hpp", ".cuh")))

    def answers(self):
        return {line: exercise.name for exercise in catalogue.exercises() for api in exercise.files
                for path in exercise.solutions(api) for line in lines_of(path.read_text(encoding="utf-8"))}

    def test_an_examination_has_no_line_of_a_solution(self):
        lines, given = self.lines(self.made(exam=True)), self.given("common/**/*")
        self.assertIn("__kernel void histogram_local(__global const uchar* pixels, ulong count, __global uint* histogram) {", lines)
        answers = {line: name for line, name in self.answers().items() if line not in given}
        self.assertEqual(len(set(answers.values())), len(catalogue.exercises()) - 2, set(answers.values()))
        self.assertEqual({line: lines[line] for line in answers if line in lines}, {})

    def test_what_is_handed_out_has_no_solution(self):
        folder = self.made(exam=False)
        lines, given = self.lines(folder), self.given("common/**/*", "0*/**/*")
        answers = {line: name for line, name in self.answers().items() if line not in given}
        self.assertGreater(len(set(answers.values())), len(catalogue.exercises()) // 2)
        self.assertEqual({line: lines[line] for line in answers if line in lines}, {})
        self.assertEqual([path for path in folder.rglob("*") if path.name == "solution" or path.name == "broken"], [])
        self.assertIn('"mistakes": [],', (folder / "docs/site/play/lab-data.js").read_text())
        self.assertEqual([path for path in folder.glob("0*/README.md") if "<summary>Answer" in path.read_text()], [])
        self.assertIn("<summary>Answer", (catalogue.ROOT / "01-cpu/README.md").read_text())
        self.assertFalse((folder / ".github").exists())

    def test_one_chapter_alone(self):
        self.assertEqual({path.parent.parent.parent.name for path in self.made("03", exam=False).glob("0*/exercise/*/exercise.json")},
                         {"03-local-atomics"})

    def test_no_link_leads_to_what_is_left_out(self):
        hint = "03-local-atomics/exercise/five-steps/README.md"
        for chapters, exam in (((), False), (("03",), False), (("03",), True)):
            folder = self.made(*chapters, exam=exam)
            dead = [f"{page.relative_to(folder)}: {link.group(2)}" for page in folder.rglob("*.md")
                    for link in handout.LINK.finditer(page.read_text(encoding="utf-8"))
                    if not (page.parent / link.group(2)).exists()]
            self.assertEqual(dead, [])
            self.assertEqual("<summary>Hint" in (folder / hint).read_text(), not exam)

    def test_an_autograder_is_made(self):
        said = handout.make(self.folder, [], False, ("gradescope", "03/five-steps"))
        self.assertIn("an autograder for 03/five-steps", said)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["run_autograder", "setup.sh", "tutorials"])
        for name in ("run_autograder", "setup.sh"):
            self.assertTrue(os.access(self.folder / name, os.X_OK))
            self.assertEqual(subprocess.run(["bash", "-n", self.folder / name]).returncode, 0)
        self.assertEqual([path.name for path in self.folder.rglob("solution")], [])
        room = self.folder.with_name("room")
        handout.make(room, ["03"], False, ("classroom", "03/five-steps"))
        workflow = (room / ".github" / "workflows" / "classroom.yml").read_text()
        self.assertIn("./tutorial grade 03/five-steps --classroom", workflow)
        self.assertIn("${{ steps.grade.outputs.result }}", workflow)

    def test_a_skeleton_comes_back_and_what_was_there_stays(self):
        mine = FIVE_STEPS.skeletons("opencl")[0].relative_to(catalogue.ROOT)
        shutil.copytree(self.made("03", exam=True), self.folder)
        begun = (self.folder / mine).read_bytes()
        command = [sys.executable, "-I", "-B", self.folder / PROGRAM.relative_to(catalogue.ROOT), "reset", "03/five-steps"]
        for number, text in enumerate(("one", "two", "three"), 1):
            (self.folder / mine).write_text(text)
            self.assertEqual(subprocess.run(command, capture_output=True).returncode, 0)
            self.assertEqual((self.folder / mine).read_bytes(), begun)
            self.assertEqual((self.folder / f"{mine}.{number}").read_text(), text)
        self.assertIn(b"is as it was", subprocess.run(command, capture_output=True).stdout)
        (self.folder / handout.MANIFEST).unlink()
        (self.folder / mine).write_text("four")
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr.count("\n"), (self.folder / mine).read_text()), (2, 1, "four"))

    def test_bad_requests_leave_nothing(self):
        for folder, chapters, says in ((self.folder, ["9"], "no chapter '9'"), (self.folder.parent, [], "is there already"),
                                       (catalogue.ROOT / "copy", [], "inside of what is copied"),
                                       (self.folder / "not" / "there", [], "cannot be written")):
            with self.assertRaisesRegex(catalogue.BadInput, says):
                handout.make(folder, chapters, False)
        self.assertEqual(list(self.folder.parent.iterdir()), [])

    @unittest.skipUnless(HAS_OPENCL, "run_opencl is not built")
    def test_it_checks_itself(self):
        """In the copy a skeleton is refused, what was edited is the student's, and the solution is right."""
        shutil.copytree(self.made("03", exam=True), self.folder)
        mine, solution = (self.folder / path.relative_to(catalogue.ROOT) for path in (
            FIVE_STEPS.skeletons("opencl")[0], FIVE_STEPS.solutions("opencl")[0]))
        self.assertFalse(solution.exists())

        def run(script, *arguments):
            return subprocess.run([sys.executable, "-B", str(self.folder / script), *arguments, "--build", str(BUILD)],
                                  capture_output=True, text=True)

        check = ("common/tutor/exercise/tests/check.py", "03/five-steps", "opencl")
        begun = run(*check)
        self.assertEqual(begun.returncode, 0, begun.stdout + begun.stderr)
        self.assertRegex(begun.stdout, "^(histogram.cl as it stands: .* bins are wrong|skipped)")
        mine.write_text(SOLUTION)
        edited = run(*check)
        self.assertEqual((edited.returncode, edited.stdout), (0, ""))
        self.assertRegex(run("common/tutor/tutorial.py", "grade", "03/five-steps").stdout, "(100|80) of 100|^$")
        again = run("common/tutor/tutorial.py", "handout", str(self.folder.parent / "another"))
        self.assertIn("such a copy already", again.stderr)


if __name__ == "__main__":
    unittest.main()
