#!/usr/bin/env python3
"""The exercises' files, and a grader that does not let itself be led astray.

    test_exercises.py BUILD
"""

import argparse
import collections
import contextlib
import csv
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "gallery")]
import catalogue  # noqa: E402
import exercises  # noqa: E402
import gallery  # noqa: E402
import grading  # noqa: E402
import handout  # noqa: E402
import pictures  # noqa: E402
import sandbox  # noqa: E402
import submitted_file  # noqa: E402
import tasks  # noqa: E402
from catalogue import BEGIN, END  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else catalogue.ROOT / "build"
PROGRAM = HERE.parent / "exercises.py"
FIVE_STEPS = catalogue.exercise_of("03/five-steps")
SOLUTION = FIVE_STEPS.solutions("opencl")[0].read_text(encoding="utf-8")
needs_oclgrind = unittest.skipUnless(shutil.which("oclgrind"), "no Oclgrind (package oclgrind)")
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

    def test_there_are_two_to_four_a_chapter(self):
        found = collections.Counter(exercise.chapter for exercise in catalogue.exercises())
        self.assertEqual(set(found), {path.name for path in catalogue.ROOT.glob("0*")})
        self.assertTrue(all(2 <= number <= 4 for number in found.values()), found)
        self.assertLessEqual(catalogue.exercises()[0].minutes, 10)

    def test_points_are_100_for_criteria_that_there_are(self):
        others = {"compiles", "free of faults", "speed"}
        for exercise in catalogue.exercises():
            with self.subTest(exercise=exercise.name):
                self.assertEqual(sum(exercise.points.values()), 100)
                self.assertEqual(set(exercise.points) - set(tasks.CRITERIA) - others, set())
                self.assertEqual("speed" in exercise.points, "at_least_as_fast" in exercise.data)

    def test_marks_are_seen(self):
        begin, end = f"    {BEGIN}count ----", f"    {END}"
        self.assertEqual(outside_marks("\n".join(["a", begin, "b", end, "c"])), (["a", begin, end, "c"], 1))

    def test_each_has_a_task_with_its_parts(self):
        for exercise in catalogue.exercises():
            with self.subTest(exercise=exercise.name):
                text = (exercise.folder / "README.md").read_text(encoding="utf-8")
                for part in ("**Goal.**", "**What to do.**", "**What you should see.**", f"./tutorial watch {exercise.name} "):
                    self.assertIn(part, text)
                self.assertIn(len(exercise.hints()), (2, 3))

    def test_an_unknown_exercise_lists_those_there_are(self):
        with self.assertRaisesRegex(catalogue.BadInput, "no exercise '03/nosuch': there are .*03/five-steps"):
            catalogue.exercise_of("03/nosuch")


class Inputs(unittest.TestCase):
    def test_another_seed_gives_other_pixels(self):
        for criterion in ("sizes", "distributions", "launches"):
            one, again, other = ([run.pixels for run in tasks.runs_of(FIVE_STEPS, criterion, seed)] for seed in (1, 1, 2))
            self.assertEqual(one, again)
            self.assertNotEqual(one, other)

    def test_another_seed_gives_other_kernels_to_host_programs(self):
        self.assertEqual(len({tasks.key_of(seed) for seed in (1, 2, 3)}), 3)

    def test_each_kind_of_a_run_is_there(self):
        exercise = catalogue.exercise_of("05/sixteen-at-once")
        self.assertEqual({run.first for run in tasks.runs_of(exercise, "launches", 1)}, set(exercise.data["first"]))
        exercise = catalogue.exercise_of("04/copies")
        self.assertEqual({run.options for run in tasks.runs_of(exercise, "sizes", 1)}, set(exercise.data["options"]))


def run_of(pixels, width=None, **more):
    width = len(pixels) if width is None else width
    return tasks.Run("", width, len(pixels) // width if width else 1, bytes(pixels), 1, 1)._replace(**more)


class Truths(unittest.TestCase):
    """Each task's, on pixels few enough to count by hand."""

    def nonzero(self, task, run):
        return {at: count for at, count in enumerate(tasks.TASKS[task].truth(run)) if count}

    def test_histogram(self):
        self.assertEqual(self.nonzero("histogram", run_of([5, 5, 255])), {5: 2, 255: 1})
        self.assertEqual(len(tasks.TASKS["histogram"].truth(run_of([]))), 256)

    def test_channels(self):
        self.assertEqual(self.nonzero("channels", run_of([1, 2, 3, 1, 9, 3], 2)), {1: 2, 256 + 2: 1, 256 + 9: 1, 512 + 3: 2})

    def test_more_bins(self):
        values = (0, 63, 64, 65535)
        run = run_of(b"".join(value.to_bytes(2, "little") for value in values), 4)
        self.assertEqual(self.nonzero("more-bins", run), {0: 2, 1: 1, 1023: 1})

    def test_tiles_at_the_edges(self):
        run = run_of([7] * (33 * 33), 33)
        self.assertEqual(self.nonzero("tiles", run), {7: 1024, 256 + 7: 32, 512 + 7: 32, 768 + 7: 1})

    def test_a_picture_is_counted_without_header_and_gaps(self):
        task, run = tasks.TASKS["picture"], run_of([1, 2, 3, 4, 5, 6], 3)
        self.assertEqual(self.nonzero("picture", run), dict.fromkeys(range(1, 7), 1))
        names, memory = task.names(run), task.memory(run)
        self.assertEqual((names["first"], names["pitch"], len(memory)), (1078, 4, 1078 + 8))
        rows = [memory[names["first"] + y * names["pitch"]:][:3] for y in range(2)]
        self.assertEqual(sorted(b"".join(rows)), [1, 2, 3, 4, 5, 6])

    def test_equalized(self):
        self.assertEqual(list(tasks.TASKS["equalized"].truth(run_of([10, 10, 10, 200]))), [191, 191, 191, 255])

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


class Pictures(unittest.TestCase):
    def test_what_is_written_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "picture.bmp")
            path.write_bytes(pictures.bmp_of(3, 2, b"abcdef"))
            self.assertEqual(pictures.read_bmp(path), (3, 2, b"abcdef"))
            path.write_bytes(pictures.side_by_side(2, 2, b"abcd", b"ABCD"))
            self.assertEqual(pictures.read_bmp(path), (4, 2, b"abABcdCD"))

    def test_others_are_refused(self):
        for name in ("colour", "palette", "top-down"):
            with self.assertRaisesRegex(ValueError, "no grey picture"):
                pictures.read_bmp(tasks.PICTURES / f"{name}.bmp")


class Sandbox(unittest.TestCase):
    def run_shell(self, script, seconds=5):
        with tempfile.TemporaryDirectory() as folder:
            begin = time.monotonic()
            done = sandbox.run(["sh", "-c", script], folder, seconds)
            return done, time.monotonic() - begin

    def test_how_it_ends_is_told(self):
        self.assertEqual(self.run_shell("echo hello; exit 3")[0], sandbox.Done(3, "hello\n", False))
        self.assertEqual(self.run_shell("kill -SEGV $$")[0].why(), "it crashes (SIGSEGV)")

    def test_what_does_not_end_is_ended_with_its_children(self):
        done, took = self.run_shell("sleep 60 & echo $!; sleep 60", 0.5)
        self.assertEqual(done.why(), "it does not end")
        self.assertLess(took, 10)
        with self.assertRaises(ProcessLookupError):
            for _ in range(100):  # until it is reaped
                os.kill(int(done.said), 0)
                time.sleep(0.05)

    def test_what_leaves_its_session_is_ended_too(self):
        done, _ = self.run_shell("setsid sleep 60 & echo $!; sleep 0.3")
        with self.assertRaises(ProcessLookupError):
            for _ in range(100):
                os.kill(int(done.said), 0)
                time.sleep(0.05)

    def test_what_sheds_its_environment_is_ended_too(self):
        done, _ = self.run_shell("setsid env -i sleep 61 & echo $!; sleep 0.3")
        with self.assertRaises(ProcessLookupError):
            os.kill(int(done.said), 0)

    def test_and_so_are_the_children_of_that(self):
        done, _ = self.run_shell("setsid env -i sh -c 'sleep 62 & echo $!; sleep 62' & sleep 0.3")
        with self.assertRaises(ProcessLookupError):
            os.kill(int(done.said), 0)

    def test_processes_without_end_are_named(self):
        done, took = self.run_shell("f() { f & f; }; f", 20)
        self.assertEqual(done.why(), "it starts processes without end")
        self.assertLess(took, 20)

    def test_a_flood_is_cut_off(self):
        done, _ = self.run_shell("yes", 20)
        self.assertIn(done.status, (-signal.SIGXFSZ, 1))
        self.assertFalse(done.timed_out)
        self.assertLessEqual(len(done.said), sandbox.SHOWN)


class WithAFolder(unittest.TestCase):
    """What the tests of whole submissions share."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, text, name="histogram.cl"):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    @contextlib.contextmanager
    def submitted(self, text, exercise=FIVE_STEPS):
        api = exercise.api(None)
        try:
            device = POCL if api == "opencl" and HAS_POCL else ""
            with submitted_file.in_own_folder(exercise, api, self.write(text, exercise.files[api][0]), BUILD, device) as file:
                yield file
        except grading.NothingToRunOn as why:
            self.skipTest(str(why))

    def graded(self, text, exercise=FIVE_STEPS, criteria=("sizes",)):
        with self.submitted(text, exercise) as file:
            return grading.graded([file], 7, criteria)

    def faults(self, text, exercise=FIVE_STEPS):
        """What the detectors say. That nothing is worth points then, test_a_race_that_comes_out_right_is_worth_nothing sees."""
        with self.submitted(text, exercise) as file:
            return grading.faults(file, 7)

    def changed(self, old, new):
        self.assertEqual(SOLUTION.count(old), 1, old)
        return SOLUTION.replace(old, new)

    def command(self, *arguments, status):
        done = subprocess.run([sys.executable, "-B", str(PROGRAM), *map(str, arguments), "--build", str(BUILD)],
                              capture_output=True, text=True)
        if done.returncode == 77:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done


@unittest.skipUnless(HAS_OPENCL, "run_opencl is not built")
class Grader(WithAFolder):

    @needs_oclgrind
    def test_the_detector_does_not_pass_for_the_device(self):
        with self.submitted(SOLUTION) as file:
            grading.compiles(file, 1)
            before = file.on_pocl
            grading.faults(file, 1)
            self.assertEqual(file.on_pocl, before)

    def points(self, text, **more):
        return {verdict.criterion: verdict.points for verdict in self.graded(text, **more).verdicts}

    def test_each_way_to_compile_runs_as_itself(self):
        exercise = catalogue.exercise_of("04/copies")
        text = "#if COPIES == 8\n#define get_global_id(dimension) 0\n#endif\n" + self.solution(exercise)
        runs = [run_of(range(64))._replace(options=f"-DCOPIES={copies}", group_size=64) for copies in (1, 8)]
        with self.submitted(text, exercise) as file:
            self.assertEqual([each.right for each in grading.outcomes(file, runs)], [True, False])

    # ---- ways to points that are not deserved

    def no_points(self, text, **more):
        points = self.points(text, **more)
        self.assertEqual(points["free of faults"], 0)
        self.assertLess(sum(points.values()), catalogue.POINTS["compiles"] + 8)
        return points

    BODY = SOLUTION[SOLUTION.index("    const size_t item"):SOLUTION.rindex("}")]

    def test_a_constant_answer_is_worth_nothing(self):
        self.no_points(SOLUTION.replace(self.BODY, "    for (int bin = 0; bin < BINS; ++bin) histogram[bin] = 1;\n"))

    def test_to_print_pass_and_the_right_total_are_worth_nothing(self):
        self.no_points(SOLUTION.replace(self.BODY, '    printf("PASS 100 of 100\\n");\n'
                                                   "    if (get_global_id(0) == 0) histogram[0] = count;\n"))

    def test_another_kernel_is_worth_nothing(self):
        self.no_points(SOLUTION.replace("histogram_local", "histogram_globl"))

    def test_an_empty_file_is_worth_nothing(self):
        self.no_points("")

    @needs_oclgrind
    def test_a_race_that_comes_out_right_is_worth_nothing(self):
        grade = self.graded(self.changed("atomic_inc(&table[pixels[i]])", "++table[pixels[i]]"))
        self.assertEqual({verdict.criterion: verdict.points for verdict in grade.verdicts},
                         {"compiles": 5, "sizes": 0, "free of faults": 0})
        self.assertIn("data race at local memory", grade.verdicts[-1].words)

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
        self.assertRegex(file.ran_on, "[^,]*, groups of 100 in place of 1024, groups of 100 in place of 256$")

    def test_what_only_a_detector_sees(self):
        for old, new, says in (("i < count; i +=", "i <= count; i +=", "Invalid read of size 1 at global memory"),
                               ("        table[bin] = 0;\n", "", "Uninitialized value written to local memory"),
                               ("barrier(CLK_LOCAL_MEM_FENCE);\n    for (ulong", "for (ulong", "data race at local memory")):
            with self.subTest(says=says):
                self.assertIn(says, self.faults(self.changed(old, new)))

    def test_without_a_detector_it_is_not_full_marks(self):
        path = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        os.environ["PATH"] = str(self.folder)
        grade = self.graded(SOLUTION)
        self.assertEqual(grade.verdicts[-1].words, "not graded: no race detector")
        self.assertFalse(grade.full)

    def test_a_kernel_that_does_not_end_is_named_in_time(self):
        begin = time.monotonic()
        with unittest.mock.patch.object(submitted_file.KernelsFile.process, "__defaults__", ((), 2, 1)):
            grade = self.graded(self.changed("i += get_global_size(0)", "i += 0"))
        self.assertLess(time.monotonic() - begin, 30)
        self.assertIn("it does not end", grade.verdicts[0].words)
        self.assertEqual({verdict.points for verdict in grade.verdicts[1:]}, {0})

    def test_a_wild_write_is_named(self):
        grade = self.graded(SOLUTION.replace(self.BODY, "    *(volatile __global uint*)8 = 1;\n"))
        self.assertIn("it crashes", grade.verdicts[0].words + grade.verdicts[1].words)
        self.assertLess(grade.points, 10)

    def test_compiler_errors_have_the_students_lines(self):
        grade = self.graded(self.changed("table[bin] = 0;", "table[bin] = 0"))
        line = SOLUTION[:SOLUTION.index("table[bin] = 0;")].count("\n") + 1
        self.assertEqual(grade.points, 0)
        self.assertRegex(grade.verdicts[0].words, rf"histogram.cl:{line}:\d+: expected ';'")

    # ---- host programs and C++, which are the student's own processes

    HOST = catalogue.exercise_of("02/host-side")
    MERGE = catalogue.exercise_of("01/merge")

    def solution(self, exercise):
        return exercise.solutions(exercise.api(None))[0].read_text(encoding="utf-8")

    def host(self, body):
        """The host exercise with this in the place of the student's part."""
        text = self.solution(self.HOST)
        begin, end = text.index(BEGIN), text.index(END)
        return text[:begin] + BEGIN + "----\n" + body + "\n    " + text[end:]

    def test_a_host_program_that_counts_by_itself_is_worth_nothing(self):
        self.no_points(self.host("for (int bin = 0; bin < 256; ++bin) result[bin] = 0;\n"
                                 "for (std::size_t i = 0; i < count; ++i) ++result[pixels[i]];"), exercise=self.HOST)

    def test_a_host_program_that_ends_at_once_is_worth_nothing(self):
        grade = self.graded(self.host('std::puts("100 of 100"); std::exit(0);'), exercise=self.HOST)
        self.assertEqual(grade.points, 5)
        self.assertIn("it ended before it had counted", grade.verdicts[1].words)

    def test_another_launch_than_was_asked_for_is_wrong(self):
        text = self.solution(self.HOST).replace("groups * group_size", "group_size")
        self.assertNotEqual(text, self.solution(self.HOST))
        self.assertEqual(self.graded(text, exercise=self.HOST).verdicts[1].points, 2)  # that of no pixels

    def test_one_run_that_ends_the_process_does_not_take_the_others_along(self):
        text = self.solution(self.HOST).replace("count > 0 ? count : 1", "count")
        self.assertIn("4 of 5 runs are right", self.graded(text, exercise=self.HOST).verdicts[1].words)

    def victim(self):
        """A file that is guarded like the grader's, and that no other test reads meanwhile."""
        path = self.folder / "victim"
        path.write_bytes(b"as it was")
        patched = unittest.mock.patch.object(submitted_file.Guard, "more", (path,))
        patched.start()
        self.addCleanup(patched.stop)
        return path

    def test_what_a_student_saves_meanwhile_is_not_put_back(self):
        guarded = submitted_file.Guard(BUILD).were
        self.assertNotIn(FIVE_STEPS.skeletons("opencl")[0], guarded)
        for path in (FIVE_STEPS.solutions("opencl")[0], FIVE_STEPS.folder / "exercise.json", PROGRAM, self.HOST.folder / "histogram.cl"):
            self.assertIn(path, guarded)

    def test_who_changes_the_grader_gets_nothing_and_changes_nothing(self):
        victim = self.victim()
        spoils = self.solution(self.MERGE).replace(
            "#include <mutex>", f'#include <cstdio>\n#include <mutex>\nstatic auto* spoil = std::fopen("{victim}", "w");')
        with unittest.mock.patch.object(submitted_file.CppFile, "detectors", return_value=[]):  # which would compile it once more
            grade = self.graded(spoils, exercise=self.MERGE)
        self.assertEqual(victim.read_bytes(), b"as it was")
        self.assertEqual(grade.points, 0)
        self.assertIn("it changes files of the grader: victim", grade.verdicts[0].words)

    def test_a_race_in_cpp_is_worth_nothing(self):
        says = self.faults(self.solution(self.MERGE).replace("const std::lock_guard", "// const std::lock_guard"), self.MERGE)
        if says is None:
            self.skipTest("the compiler has no ThreadSanitizer")
        self.assertRegex(says, r"data race, line \d+")

    def test_a_main_of_ones_own_does_not_compile(self):
        grade = self.graded(self.solution(self.MERGE) + "int main() { return 0; }\n", exercise=self.MERGE)
        self.assertEqual(grade.points, 0)

    def test_an_exit_status_of_ones_own_stops_nobody(self):
        for status in (3, 77):
            begin = f'struct Begin {{ Begin() {{ std::puts("no device"); std::exit({status}); }} }} begin;\n'
            text = self.solution(self.HOST).replace("// Counts `count`", begin + "// Counts `count`", 1)
            self.assertIn("Begin()", text)
            grade = self.graded(text, exercise=self.HOST)
            self.assertEqual(grade.points, 5)

    def test_a_host_program_that_does_not_end_is_named_in_time(self):
        begin = time.monotonic()
        with unittest.mock.patch.object(submitted_file.HostFile.process, "__defaults__", ((), 2, 1)):
            grade = self.graded(self.host("for (;;) {}"), exercise=self.HOST)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertIn("it does not end", grade.verdicts[0].words)
        self.assertEqual(grade.points, 5)

    def test_who_changes_the_grader_harms_no_other_in_a_class(self):
        victim = self.victim()
        class_folder, right = self.folder / "class", self.solution(self.HOST)
        spoil = f'#include <fstream>\nstatic std::ofstream spoil("{victim}", std::ios::app);\n'
        spoil += 'static bool spoilt = bool(spoil << "// x" << std::flush);\n'
        for who, text in (("bea", spoil + right), ("cyd", right)):
            (class_folder / who).mkdir(parents=True)
            (class_folder / who / "host.cpp").write_text(text)
        options = argparse.Namespace(api="opencl", all=class_folder, csv=self.folder / "points.csv", seed=7, build=BUILD, device="")
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(exercises.grade_all(self.HOST, options), 1)
        except grading.NothingToRunOn as why:
            self.skipTest(str(why))
        self.assertIn("victim was changed meanwhile", said.getvalue())
        rows = {row["submission"]: row for row in csv.DictReader(options.csv.read_text().splitlines())}
        self.assertEqual(victim.read_bytes(), b"as it was")
        self.assertEqual(rows["bea"]["points"], "0")
        self.assertIn("it changes files of the grader", rows["bea"]["why"])
        self.assertEqual(rows["cyd"]["points"], "100" if shutil.which("oclgrind") else "80")

    # ---- speed, and several files

    def test_what_is_right_and_slow_gets_no_points_for_speed(self):
        exercise = catalogue.exercise_of("05/equal-neighbours")
        # On a busy machine 1.2 times, which it wants, is a matter of luck.
        wanted = unittest.mock.patch.dict(exercise.data, {"at_least_as_fast": 10})
        with unittest.mock.patch.object(grading, "TURNS", 2), wanted:
            grade = self.graded(self.solution(exercise).replace("if (one == two)", "if (false)"), exercise=exercise)
        self.assertEqual({v.criterion: v.points for v in grade.verdicts}["speed"], 0)
        self.assertIn("10 times is wanted", grade.verdicts[-1].words)

    def test_one_wrong_file_of_four_costs_a_quarter(self):
        exercise = catalogue.exercise_of("03/four-mistakes")
        said = [([grading.Verdict("sizes", points, 25, f"{points} of 25")], "") for points in (25, 25, 25, 2)]
        with unittest.mock.patch.object(grading, "graded_file", side_effect=said), \
                grading.submission(exercise, "opencl", exercise.skeletons("opencl"), BUILD) as submitted:
            (verdict,) = grading.graded(submitted, 7).verdicts
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
        with unittest.mock.patch.object(sys, "argv", [str(PROGRAM), *map(str, arguments), "--build", str(BUILD)]), \
                self.assertRaises(catalogue.BadInput) as wrong:
            exercises.main()
        self.assertNotIn("\n", str(wrong.exception))
        return str(wrong.exception)

    def test_bad_requests_are_one_line(self):
        self.assertEqual(self.command("hint", "03/x", status=2).stderr, f"tutorial: {self.one_line('hint', '03/x')}\n")
        self.assertIn("there is no exercise '03/x'", self.one_line("grade", "03/x"))
        self.assertIn("not a file", self.one_line("grade", "03/five-steps", self.folder / "histogram.cl"))
        other = self.write("", "opencl.cpp")
        self.assertIn("takes histogram.cl, and not", self.one_line("grade", "03/five-steps", other))
        mine = self.write(SOLUTION)
        self.assertIn("takes histogram.cl", self.one_line("grade", "03/five-steps", mine, other))
        link = self.folder / "link" / "histogram.cl"
        link.parent.mkdir()
        link.symlink_to(FIVE_STEPS.solutions("opencl")[0])
        self.assertIn("not a file", self.one_line("grade", "03/five-steps", link))
        mine.write_bytes(b"\xff\xfe\x00")
        self.assertIn("not a text", self.one_line("grade", "03/five-steps", mine))
        self.assertIn("--api", self.one_line("grade", "03/five-steps", "--api", "metal"))
        self.assertIn("grade needs an exercise", self.one_line("grade"))
        self.assertIn("--csv needs --all", self.one_line("grade", "03/five-steps", "--csv", "x"))
        self.assertIn("--all does not go with --json", self.one_line("grade", "03/five-steps", "--all", ".", "--json", "x"))
        self.assertIn("--exam means nothing to grade", self.one_line("grade", "03/five-steps", "--exam"))
        self.assertIn("01/merge is not there for --api cuda", self.one_line("grade", "01/merge", "--api", "cuda"))
        self.assertIn("takes first.cl second.cl third.cl fourth.cl, and not", self.one_line("grade", "03/four-mistakes", self.write("")))
        self.assertIn("handout needs a folder", self.one_line("handout"))
        self.assertIn("no submissions", self.one_line("grade", "03/five-steps", "--all", self.folder / "link", "--api", "cuda"))
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

    def test_reports_say_the_same(self):
        mine = self.write(SOLUTION)
        for name in ("json", "junit", "gradescope"):
            self.assertFalse((self.folder / name).exists())
        done = subprocess.run([sys.executable, "-B", str(PROGRAM), "grade", "03/five-steps", str(mine), "--build", str(BUILD),
                               "--seed", "5", "--json", str(self.folder / "json"), "--junit", str(self.folder / "junit"),
                               "--gradescope", str(self.folder / "gradescope")], capture_output=True, text=True)
        if done.returncode == 77:
            self.skipTest(done.stderr)
        report = json.loads((self.folder / "json").read_text())
        self.assertEqual((report["exercise"], report["api"], report["seed"]), ("03/five-steps", "opencl", 5))
        self.assertEqual(sum(each["points"] for each in report["criteria"]), report["points"])
        suite = xml.fromstring((self.folder / "junit").read_text())
        self.assertEqual(len(suite.findall("testcase")), len(report["criteria"]))
        self.assertEqual(int(suite.get("failures")), sum(each["points"] < each["of"] for each in report["criteria"]))
        scope = json.loads((self.folder / "gradescope").read_text())
        self.assertEqual([test["score"] for test in scope["tests"]], [each["points"] for each in report["criteria"]])
        self.assertIn(f"{report['points']} of 100", done.stdout)

    def test_a_class_is_graded_one_by_one(self):
        class_folder = self.folder / "class"
        class_folder.mkdir()
        (class_folder / "ann.cl").write_text(SOLUTION)
        (class_folder / "bob.cl").write_text("does not compile")
        (class_folder / "eve").mkdir()
        (class_folder / "eve" / "histogram.cl").write_text(SOLUTION)
        (class_folder / "eve" / "run_opencl").write_text("exit 0")
        (class_folder / "zoe").mkdir()
        (class_folder / "max.cl").write_text(self.changed("atomic_inc(&table[pixels[i]])", "++table[pixels[i]]"))
        table = self.folder / "points.csv"
        self.command("grade", "03/five-steps", "--all", class_folder, "--csv", table, status=1)
        rows = {row["submission"]: row for row in csv.DictReader(table.read_text().splitlines())}
        self.assertGreaterEqual(int(rows["ann"]["points"]), 80)
        self.assertEqual([rows[who]["points"] for who in ("bob", "eve", "zoe")], ["0", "0", "0"])
        self.assertIn("other files than", rows["eve"]["why"])
        self.assertIn("compile", rows["bob"]["why"])
        if shutil.which("oclgrind"):
            self.assertEqual(rows["max"]["points"], "5")
            self.assertIn("free of faults: data race at", rows["max"]["why"])
        self.assertIn("histogram.cl is missing", rows["zoe"]["why"])

    def test_an_exercise_that_is_nearly_named_is_named(self):
        self.assertIn("is it 03/five-steps?", self.one_line("grade", "5/five-steps"))

    def test_list_and_hint(self):
        self.assertIn("03/five-steps", self.command("list", status=0).stdout)
        self.assertRegex(self.command("hint", "03/five-steps", status=0).stdout, r"Hint \d of 3:")


@unittest.skipUnless(HAS_OPENCL, "run_opencl is not built")
class Gallery(WithAFolder):
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
            with self.subTest(mistake=mistake.name), self.submitted(made, exercise) as file:
                detectors = file.detectors()
                if mistake.shows.startswith("oclgrind") and not detectors:
                    self.skipTest("only a detector finds it")
                if not grading.faults(file, 7):
                    verdict, found = grading.results(file, "sizes", 7)
                    self.assertLess(verdict.points, verdict.of)
                    if detectors:  # without them it may be a race, whose name depends on who came last
                        self.assertRegex(grading.diagnosis(file, found), rf"why: .*\(({mistake.names.replace(' ', '|')})\)")
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
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name, "copy")

    def lines(self):
        """{line: file} of every text in the copy."""
        found = {}
        for path in self.folder.rglob("*"):
            if path.is_file():
                found |= dict.fromkeys(lines_of(path.read_bytes().decode("utf-8", "replace")), path.relative_to(self.folder))
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
        handout.make(self.folder, [], True)
        lines, given = self.lines(), self.given("common/**/*")
        self.assertIn("__kernel void histogram_local(__global const uchar* pixels, ulong count, __global uint* histogram) {", lines)
        answers = {line: name for line, name in self.answers().items() if line not in given}
        self.assertEqual(len(set(answers.values())), len(catalogue.exercises()) - 2, set(answers.values()))
        self.assertEqual({line: lines[line] for line in answers if line in lines}, {})

    def test_what_is_handed_out_has_no_solution(self):
        handout.make(self.folder, [], False)
        lines, given = self.lines(), self.given("common/**/*", "0*/**/*")
        answers = {line: name for line, name in self.answers().items() if line not in given}
        self.assertGreater(len(set(answers.values())), len(catalogue.exercises()) // 2)
        self.assertEqual({line: lines[line] for line in answers if line in lines}, {})
        self.assertEqual([path for path in self.folder.rglob("*") if path.name == "solution" or path.name == "broken"], [])
        self.assertEqual([path for path in self.folder.glob("0*/README.md") if "<summary>Answer" in path.read_text()], [])
        self.assertIn("<summary>Answer", (catalogue.ROOT / "01-cpu/README.md").read_text())

    def test_one_chapter_alone(self):
        handout.make(self.folder, ["03"], False)
        self.assertEqual({path.parent.parent.parent.name for path in self.folder.glob("0*/exercise/*/exercise.json")},
                         {"03-local-atomics"})

    def test_no_link_leads_to_what_is_left_out(self):
        for number, (chapters, exam) in enumerate((([], False), (["03"], False), (["03"], True))):
            folder = self.folder.with_name(str(number))
            handout.make(folder, chapters, exam)
            dead = [f"{page.relative_to(folder)}: {link.group(2)}" for page in folder.rglob("*.md")
                    for link in handout.LINK.finditer(page.read_text(encoding="utf-8"))
                    if not (page.parent / link.group(2)).exists()]
            self.assertEqual(dead, [])
        self.assertNotIn("<summary>Hint", (folder / "03-local-atomics/exercise/five-steps/README.md").read_text())
        self.assertIn("<summary>Hint", (self.folder.with_name("0") / "03-local-atomics/exercise/five-steps/README.md").read_text())

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
        handout.make(self.folder, ["03"], True)
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
        self.assertRegex(run("common/tutor/exercise/exercises.py", "grade", "03/five-steps").stdout, "(100|80) of 100|^$")
        again = run("common/tutor/exercise/exercises.py", "handout", str(self.folder.parent / "another"))
        self.assertIn("such a copy already", again.stderr)


if __name__ == "__main__":
    unittest.main()
