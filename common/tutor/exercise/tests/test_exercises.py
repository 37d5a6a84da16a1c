"""The exercises' files, the sandbox, what is read of a class, what is handed out; and what submissions get: one table of them, of
what their behaviour shows, and of their points.

    test_exercises.py --program 03 --variant opencl Exercise

The class Exercise is for a chapter and opencl, cuda, c++, or cuda-on-cpu: CUDA emulated on a processor. All may run beside
whatever else is busy.
"""

import csv
import functools
import io
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / room) for room in ("exercise", "counting", "gallery", ".", "../tests")]
import catalogue  # noqa: E402
import exercises  # noqa: E402
import for_the_instructor  # noqa: E402
import grading  # noqa: E402
import handout  # noqa: E402
import limits  # noqa: E402
import programs  # noqa: E402
import reports  # noqa: E402
import sandbox  # noqa: E402
import submitted_file  # noqa: E402
import tasks  # noqa: E402
import tutorial  # noqa: E402
from programs import GIVEN, Test  # noqa: E402

BUILD = GIVEN.build.resolve()
PROGRAM = HERE.parents[1] / "tutorial.py"
sandbox.COMPILED = BUILD / "pocl-cache-of-submissions"
sandbox.COMPILED.mkdir(exist_ok=True)
sandbox.COMPILED.chmod(0o777)  # a submission is nobody's
FIVE_STEPS = catalogue.exercise_of("03/five-steps")
SOLUTION = FIVE_STEPS.solution("opencl")["histogram.cl"]
needs_bubblewrap = unittest.skipIf(sandbox.missing(), f"no sandbox: {sandbox.missing()} (package bubblewrap)")
needs_opencl = unittest.skipUnless((BUILD / "common" / "run_opencl").is_file(), "run_opencl is not built")


class Files(Test):
    def test_a_solution_has_a_part_for_each_that_is_the_students(self):
        for exercise in catalogue.exercises():
            with self.subTest(exercise=exercise.name):
                paths = [path for api in exercise.files for path in exercise.skeletons(api)]
                self.assertEqual({path.name: len(catalogue.PART.findall(path.read_text(encoding="utf-8"))) for path in paths},
                                 {name: len(parts) for name, parts in exercise.parts().items()})
                self.assertNotIn("TODO", (exercise.folder / "solution.txt").read_text(encoding="utf-8"))

    def test_each_has_100_points_and_a_task_with_its_parts(self):
        others = {"compiles", "free of faults", "counts"}
        for exercise in catalogue.exercises():
            with self.subTest(exercise=exercise.name):
                self.assertEqual(sum(exercise.points.values()), 100)
                self.assertEqual(set(exercise.points) - set(tasks.CRITERIA) - others, set())
                self.assertEqual("counts" in exercise.points, "counts" in exercise.data)
                self.assertLessEqual({limit["counter"] for limit in exercise.data.get("counts", [])}, set(limits.COUNTERS))
                text = (exercise.folder / "README.md").read_text(encoding="utf-8")
                for part in ("**Goal.**", "**What to do.**", "**What you should see.**", f"./tutorial watch {exercise.name} "):
                    self.assertIn(part, text)
                self.assertIn(len(exercise.hints()), (2, 3))


    @unittest.skipUnless(sandbox.where("nvcc"), "no nvcc")
    def test_nvcc_links_a_kernel_with_its_launcher(self):
        text = FIVE_STEPS.solution("cuda")["histogram.cu"]
        for words in ('extern "C" __global__', "__global__"):  # with the name that is launched, and with C++'s
            file = submitted_file.CudaFile(FIVE_STEPS, "cuda", "histogram.cu", changed(text, ('extern "C" __global__', words)), BUILD)
            symbols = submitted_file.symbols_of(file.library("", tasks.for_detectors(FIVE_STEPS, 1)[0], None))
            self.assertRegex(symbols, r"(?m)^[0-9a-f]+ T launch_histogram_local$")
            self.assertNotRegex(symbols, r"(?m)^ +U histogram_local$")


class Inputs(Test):
    def test_another_seed_gives_other_pixels(self):
        for criterion in tasks.CRITERIA:
            one, again, other = ([run.pixels for run in tasks.runs_of(FIVE_STEPS, criterion, seed)] for seed in (1, 1, 2))
            self.assertEqual(one, again)
            self.assertNotEqual(one, other)

    def test_small_pictures_begin_anywhere_too(self):
        firsts = {run.first for run in tasks.runs_of(catalogue.exercise_of("05/sixteen-at-once"), "sizes", 1) if run.count < 300}
        self.assertGreater(len(firsts), 1)

    def test_a_detector_sees_a_size_like_those_that_are_compared(self):
        sizes = {tasks.for_detectors(FIVE_STEPS, seed)[-1].count for seed in range(1, 9)}
        self.assertEqual(len(sizes), 8)
        self.assertGreater(max(sizes), 50000)


class Truths(Test):
    """What no solution's grade shows of them: each is right on its own task's."""

    def run_of(self, pixels, **more):
        return tasks.Run("", len(pixels), 1, bytes(pixels), 1, 1)._replace(**more)

    def test_threshold(self):
        task, run = tasks.TASKS["threshold"], self.run_of([10, 12, 200, 201])
        for threshold, wrong in ((12, []), (100, []), (199, []), (11, [0]), (200, [0]), (256, [0])):  # the first three part the same pixels
            self.assertEqual(task.wrong(run, task.truth(run), [threshold]), wrong)
        run = self.run_of([0, 127, 255])
        self.assertEqual((task.truth(run), task.wrong(run, [127], [0])), ([127], [0]))  # half a percent less apart

    def test_pitched_rows_begin_anywhere_and_permuted_counts_depend_on_key_and_launch(self):
        self.assertNotEqual(tasks.TASKS["pitched"].names(self.run_of([1]))["pitch"] % 4, 0)
        task, few = tasks.TASKS["permuted"], self.run_of([1, 1, 9])
        self.assertEqual(task.truth(self.run_of(range(256), key=3)), [1] * 256)
        truths = [task.truth(few._replace(key=key, groups=groups)) for key, groups in ((1, 1), (2, 1), (1, 2))]
        self.assertEqual([sorted(truth)[-2:] for truth in truths], [[1, 2]] * 3)
        self.assertEqual(len(set(map(tuple, truths))), 3)


class Verdicts(Test):
    """What is given for results that are made up."""

    @staticmethod
    def outcomes(*right):
        return [grading.Outcome(tasks.Run("a run", 0, 1, b"", 1, 1), each, "" if each else "it is wrong") for each in right]

    def test_what_one_detector_finds_comes_before_what_is_wrong_under_another(self):
        file, two = submitted_file.OpenCLFile(FIVE_STEPS, "opencl", "histogram.cl", "", BUILD), [submitted_file.Detector(name, ()) for name in "ab"]
        for under, says, found in ((two, ("under a", "race"), "race"), (two, ("under a", ""), "under a"),
                                  (two, ("", "under b"), "under b"), ([], (), None)):
            with unittest.mock.patch.object(file, "detectors", return_value=under), unittest.mock.patch.object(grading, "fault", side_effect=says):
                self.assertEqual(grading.faults(file, 1, False), found)

    def test_what_gives_nothing_has_half_of_the_time_next(self):
        file, seen = submitted_file.OpenCLFile(FIVE_STEPS, "opencl", "histogram.cl", "", BUILD), []
        with unittest.mock.patch.object(submitted_file, "named_device"), unittest.mock.patch.object(file, "program", return_value=b""), \
                unittest.mock.patch.object(sandbox, "run", lambda _, seconds, *__: seen.append(seconds) or sandbox.Done(-25, "")):
            grading.outcomes(file, tasks.runs_of(FIVE_STEPS, "sizes", 1))
        self.assertEqual(seen, [10, 5, 2.5])

    def test_a_compiler_without_end_is_not_started_again(self):
        file = submitted("", "01/merge", "c++")
        with unittest.mock.patch.object(file, "made_by", side_effect=submitted_file.DoesNotCompile(sandbox.NO_END)) as made:
            self.assertRaises(submitted_file.DoesNotCompile, file.parts, [], None)
        self.assertEqual(made.call_count, 1)

    def test_what_was_not_run_is_no_cause(self):
        words = (f"0 of 5 runs are right; a ramp: {grading.NOT_RUN}", "0 of 5 runs are right; a ramp: it does not end")
        verdicts = [grading.Verdict(each, 0, 25, says) for each, says in zip(("sizes", "launches"), words)]
        self.assertEqual(grading.Grade("", "", 1, verdicts).first, f"launches: {words[1]}")

    def test_all_of_the_points_are_for_all_runs_and_half_for_a_mistake_in_one(self):
        criterion = next(each for each in FIVE_STEPS.points if each in tasks.CRITERIA)
        of = FIVE_STEPS.points[criterion]
        for right, share, points in (([True] * 4, 1, of), ([True, True, True, False], 0.5, of // 2), ([True] * 4, 0.5, of // 2), ([False] * 4, 0, 0)):
            self.assertEqual(grading.results_verdict(FIVE_STEPS, criterion, self.outcomes(*right), share).points, points)


class Said(unittest.TestCase):
    """What is read of all that a submission may print."""

    def test_reading_takes_a_time_in_proportion(self):
        oclgrind, emulated = (submitted_file.Detector("oclgrind", found)
                              for found in (submitted_file.finds("oclgrind"), submitted_file.EMULATION_FINDS))
        race, thread, read = "Read-write data race at", "WARNING: ThreadSanitizer: data race (pid=1)", "Invalid read of size 1 at global memory"
        for name, look, word in (
                ("a race", oclgrind.found, race), ("its entities", oclgrind.found, f"{race}\n\n\n\tFirst entity:{{}}\n\n\n\n\n\tSecond entity:"),
                ("a line of entities", oclgrind.found, f"{race}\n\n\n" + "First entity:" * 20), ("a race of threads", oclgrind.found, thread),
                ("its frames", oclgrind.found, "ThreadSanitizer: data race\n  Read of\n    #0\n"),
                ("faults", emulated.found, "AddressSanitizer: x\n"),
                ("exchanges", oclgrind.found, "Uninitialized value written to local memory address 0x1\n"),
                ("reads", for_the_instructor.READ.findall, read), ("empty lines", for_the_instructor.READ.findall, f"{read}\n\n\n"),
                ("calls", for_the_instructor.LOCAL.findall, "1 - call PU3AS3"),
                ("a word", submitted_file.NotEmulated.of, "a.cu:1:1: error: call to a<"),
                ("parts", lambda text: grading.is_empty(types.SimpleNamespace(text=text)), "// ---- your part: x\n"),
                ("errors", submitted_file.NotEmulated.of, "error: "), ("tokens", for_the_instructor.pieces, "name "),
                ("comments", for_the_instructor.pieces, "/* ")):
            for text in (word * (1000000 // len(word)), word + " " * 1000000, word + "\n" * 1000000, word + "a" * 1000000):
                with self.subTest(name):
                    began = time.process_time()
                    look(text)
                    self.assertLess(time.process_time() - began, 3)

    def test_a_word_of_a_namespace_that_the_emulation_lacks_is_known(self):
        said = "histogram.cu:22:60: error: call to ‘cooperative_groups::coalesced_threads<>’ declared with attribute error: CUDA has this word"
        self.assertIn("CUDA has coalesced_threads", str(submitted_file.NotEmulated.of(said)))

    def test_both_lines_of_a_race_are_named(self):
        oclgrind, thread = (submitted_file.Detector(name, ()) for name in ("oclgrind", "the thread sanitizer"))
        for detector, said, lines in (
                (oclgrind, "data race\n\tKernel: k\n\t\n\tAt line 14 (column 9) of x.cl:\n"
                           "\tAt line 0 (column 0) of x.cl:\n\tAt line 19 (column 1) of x.cl:\n\n"
                           "next\n\tAt line 7 (column 1) of x.cl:\n", ["14", "19"]),
                (thread, "data race\n  Read of\n    #0 cuda_runtime.h:7\n    #1 x.cl:14\n\n"
                         "  Previous write\n    #0 x.cl:19\n    #1 x.cl:20\n", ["14", "19"])):
            self.assertEqual(detector.lines(re.match(".*data race", said), "x.cl"), lines)


class Sandbox(Test):
    def shell(self, script, seconds=9, **more):
        return sandbox.run(["sh", "-c", script], seconds, **more)

    def test_how_it_ends_is_told(self):
        self.assertEqual(self.shell("cat x -; echo hello >&2; exit 3", data=b"data", files={"x": b"file "}),
                         sandbox.Done(3, "hello\n", b"file data"))
        self.assertEqual(self.shell("kill -SEGV $$").why(), "it crashes (SIGSEGV)")
        self.assertEqual(self.shell("printf '\\033[2J\\r\\nx\\000' >&2").said, "?[2J\nx?")  # no command to a terminal

    def test_what_goes_in_and_out_goes_one_way(self):
        self.assertEqual(self.shell("cat > /dev/null; stat -Lc %F - <&0 >&2; cat /dev/stdin", data=b"once").out, b"")
        self.assertEqual(self.shell("stat -Lc %F /dev/fd/0 /dev/fd/1 /dev/fd/2").out, b"fifo\n" * 3)

    def test_what_never_ends_is_ended_with_its_children(self):
        self.assertEqual(self.shell("while true; do true; done", 0.5).why(), "it does not end")
        with unittest.mock.patch.object(sandbox, "WAITS", 1):
            self.assertEqual(self.shell("setsid sleep 61.7 & setsid env -i sleep 61.7 & sleep 60").why(), "it does not end")
        for _ in range(100):
            if not (left := "sleep 61.7" in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout):
                break
            time.sleep(0.05)
        self.assertFalse(left and not sandbox.missing())

    def test_what_wakes_for_a_moment_does_not_end_and_keeps_no_place(self):
        with unittest.mock.patch.multiple(sandbox, WAITS=3, PLACES=1):
            drip = threading.Thread(target=lambda: ends.append(self.shell("while sleep 0.4; do i=$((i+1)); done").why()))
            ends, began = [], time.monotonic()
            drip.start()
            time.sleep(0.3)
            self.shell("true")
            self.assertFalse(ends)  # another has run beside it
            drip.join()
        self.assertEqual(ends, ["it does not end"])
        self.assertLess(time.monotonic() - began, 20)

    def test_what_waits_for_a_child_of_its_own_waits_for_no_disk(self):
        with unittest.mock.patch.multiple(sandbox, WAITS=1, CLOCK=2):
            forks = "import ctypes; c = ctypes.CDLL(None); c.vfork() or c.pause()"
            self.assertEqual(sandbox.run(["/usr/bin/python3", "-c", forks], 3).why(), "it does not end")

    def test_where_the_machine_is_too_busy_it_is_tried_again_alone(self):
        seen, first = [], ["too busy"]

        def run(command, *_):
            seen.append((command, sandbox._inside))
            return sandbox.Done(0, "", b"", sandbox.TOO_BUSY if command == "b" or first and first.pop() else "")
        with unittest.mock.patch.object(sandbox, "_run", run):
            self.assertEqual(sandbox.run("a", 1).ended, "")
            self.assertRaisesRegex(sandbox.Busy, "could not be judged: the machine was too busy", sandbox.run, "b", 1)
        self.assertEqual((seen, sandbox._inside), ([("a", 1), ("a", -1), ("b", 1), ("b", -1)], 0))
        with unittest.mock.patch.object(sandbox, "CLOCK", 0):
            self.assertRaises(sandbox.Busy, self.shell, "sleep 5")

    def test_floods_are_cut_off(self):
        for script in ("yes", "yes >&2"):
            done = self.shell(script, 60)
            self.assertEqual(done.why(), "it writes without end")
            self.assertLessEqual(len(done.said), sandbox.PRINTS)

    @needs_bubblewrap
    def test_it_is_alone(self):
        self.assertEqual(self.shell(f"ls {catalogue.ROOT} {pathlib.Path.home()} /home /var").out, b"")
        self.assertEqual(self.shell("tail -n +3 /proc/net/dev | grep -cv lo:").out, b"0\n")
        self.assertLess(int(self.shell("ls /proc | grep -c '^[0-9]'").out), 9)
        for path in ("/files/x", "/usr/x", "/dev/shm/x", "/x", "/etc/x"):
            self.assertNotEqual(self.shell(f"echo > {path}").status, 0, path)
        for script in ("kill -9 $PPID", "kill -STOP $PPID", "kill -9 -1", f"kill -9 {os.getpid()}"):
            self.shell(script, 1)  # and this goes on

    @needs_bubblewrap
    def test_a_driver_that_the_environment_names_is_seen(self):
        folder = self.folder()
        for path, text in {"lib/driver.so": "code", "lib/help.so": "more", "vendors/x.icd": f"{folder}/lib/driver.so\n"}.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text)
        folder.chmod(0o755)
        look = f"cat {folder}/vendors/x.icd {folder}/lib/*.so"
        for names in ({"OCL_ICD_VENDORS": f"{folder}/vendors", "OCL_ICD_FILENAMES": ""},
                      {"OCL_ICD_VENDORS": "", "OPENCL_VENDOR_PATH": f"{folder}/vendors"},
                      {"OCL_ICD_VENDORS": f"{folder}/vendors/x.icd"}, {"OCL_ICD_VENDORS": "", "OCL_ICD_FILENAMES": f"x.so:{folder}/lib/driver.so"}):
            with unittest.mock.patch.dict(os.environ, names):
                self.assertEqual(self.shell(look, devices=True).out[-8:], b"codemore", names)
                self.assertIn(f"{folder}/".encode(), self.shell("env", devices=True).out, names)
                self.assertEqual(self.shell(look).out, b"")

    @needs_bubblewrap
    def test_its_disk_its_processes_and_its_memory_have_an_end(self):
        done = self.shell("i=0; while head -c 60000000 /dev/zero > /tmp/$i; do i=$((i+1)); done; cat /tmp/* | wc -c", 60)
        self.assertLessEqual(int(done.out or 0), sandbox.DISK)
        self.assertIn("No space", done.said)
        self.assertNotEqual(self.shell("f() { f & f; }; f", 20).status, 0)
        with unittest.mock.patch.object(sandbox, "MEMORY", 1 << 27):
            takes = "shared = mmap.mmap(-1, 1 << 28); [shared.write(b'x' * (1 << 20)) for _ in range(1 << 8)]"
            done = sandbox.run(["/usr/bin/python3", "-c", f"import mmap, time; {takes}; time.sleep(9)"], 9)
            self.assertEqual(done.why(), "it takes memory without end")

    @needs_bubblewrap
    @unittest.skipUnless(sandbox.rules(), "no libseccomp")
    def test_calls_that_no_exercise_needs_are_not_there(self):
        for call in ("socket.socket()", "os.memfd_create('')", "os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))", "os.nice(1)",
                     "ctypes.CDLL(None).shmget(0, 4096, 0o1600) < 0 and exit(1)"):
            self.assertEqual(sandbox.run(["/usr/bin/python3", "-c", f"import ctypes, os, socket; {call}"], 9).status, 1, call)

    def test_results_are_read_as_far_as_they_are_results(self):
        results = [tuple(each) for each in submitted_file.results_of(b"3\nabc0\n2\nxy", 9)]
        self.assertEqual(results, [(b"abc",), (b"",), (b"xy",)])
        self.assertEqual(len(submitted_file.results_of(b"0\n" * 10, 3)), 3)
        for garbage in (b"nan\n", b"1e400\nx", b"-5\nabcdef", b"9\nshort", b"no line", b"\n\n", b"9" * 9999 + b"\nx", b"1 0\nx"):
            self.assertEqual(submitted_file.results_of(garbage, 3), [], garbage[:20])


class Commands(Test):
    """What the tests of commands share."""

    def setUp(self):
        self.folder = self.folder()

    def write(self, text, name="histogram.cl"):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def command(self, *arguments, status=0, program=PROGRAM):
        return self.expect([sys.executable, "-I", "-B", program, *arguments, "--build", BUILD], status)

    def one_line(self, *arguments):
        """What is wrong with these arguments. A process of its own for each of them would start Python twenty times."""
        with self.assertRaises(catalogue.BadInput) as wrong:
            tutorial.main(*map(str, arguments), "--build", str(BUILD))
        self.assertNotIn("\n", str(wrong.exception))
        return str(wrong.exception)


@needs_opencl
class Command(Commands):
    def test_bad_requests_are_one_line(self):
        self.assertEqual(self.command("hint", "03/x", status=2).err, f"tutorial: {self.one_line('hint', '03/x')}\n")
        mine, two, taken = self.write(SOLUTION), self.write("", "b/histogram.cl"), self.write("", "opencl.cpp")
        (self.folder / "none").mkdir()
        link, binary = self.folder / "link" / "histogram.cl", self.write(b"\xff\xfe\x00", "c/histogram.cl")
        link.parent.mkdir()
        link.symlink_to(mine)
        grade = "grade", "03/five-steps"
        for words, says in (
                (["grade", "03/x"], "there is no exercise '03/x': ./tutorial list shows all"), (["grade", "5/five-steps"], "is it 03/five-steps?"),
                ([*grade, self.folder / "x.cl"], "no file"), ([*grade, taken], "histogram.cl is missing; there is opencl.cpp"),
                ([*grade, mine, two], "which of these is histogram.cl"), ([*grade, link.parent], "a link"), ([*grade, binary], "not a text"),
                (["grade"], "grade needs an exercise"), (["grade", "01/merge", "--api", "cuda"], "not there for --api cuda"),
                ([*grade, "--reports", "x"], "--reports needs --all"), ([*grade, "--all", ".", "--json", "x"], "--all does not go with --json"),
                ([*grade, "--all", ".", "--reports", mine], "cannot be made"), ([*grade, mine, "--json", self.folder / "none"], "cannot be written"),
                ([*grade, "--all", self.folder / "none"], "no submissions"), ([*grade, "--all", FIVE_STEPS.folder], "is one submission")):
            with self.subTest(words=words[1:]), unittest.mock.patch.object(sandbox, "missing", return_value=""):
                self.assertRegex(self.one_line(*words), says)

    def test_the_report_says_the_same(self):
        full = 100 if shutil.which("oclgrind") else 65
        # A file that cannot be read, or would control the terminal, gets a report, too.
        for text, status, points in ((SOLUTION, 0, full), (b"\xff\xfe\x00", 2, 0), (b"\x1b[2J", 1, 0)):
            done = self.command("grade", "03/five-steps", self.write(text), "--json", self.folder / "json", status=status)
            self.assertLessEqual(max(map(len, done.out.splitlines())), 80)
            report = json.loads((self.folder / "json").read_text())
            self.assertEqual((report["extra_data"]["exercise"], report["score"], report["visibility"]), ("03/five-steps", points, "visible"))
            self.assertEqual(sum(each["score"] for each in report["tests"]), points)

    def test_without_a_sandbox_the_first_line_says_so(self):
        with unittest.mock.patch.object(sandbox, "missing", return_value="there is no bwrap (package bubblewrap)"):
            self.assertRegex(reports.table_of(grading.Grade("x", "opencl", 1, [])), "^NOT ISOLATED, so a dishonest .*no bwrap")
            self.assertIn("--unsafe", self.one_line("grade", "03/five-steps", "--all", self.folder))
            self.assertEqual(sandbox.run(["cat", "x", "-"], 9, b"data", {"x": b"file "}).out, b"file data")
        with unittest.mock.patch.object(sandbox, "rules", return_value=b""):
            self.assertRegex(reports.not_isolated() + str(sandbox.missing()), "there is no (libseccomp|bwrap)|bwrap: ")

    def test_what_comes_next(self):
        all_done = {each.name: {"done": "opencl"} for each in catalogue.exercises()}
        but_one, last = {**all_done, "01/merge": {}}, catalogue.exercises()[-1].name
        otsu = "Read 01-cpu/exercise/otsu/README.md, then: ./tutorial watch 01/otsu"
        for done, after, says in (({}, "", "Read 01-cpu/README.md, then 01-cpu/exercise/merge/README.md, then: ./tutorial watch 01/merge"),
                                  ({"01/merge": {"done": "c++"}}, "01/merge", otsu), ({"01/merge": {"done": "c++"}}, "", otsu),
                                  ({}, "01/otsu", "Read 02-global-atomics/README.md, then 02-global-"),
                                  (but_one, last, "Read 01-cpu/exercise/merge/README.md, then"), (all_done, "", "All are done.")):
            with unittest.mock.patch.object(exercises, "kept", return_value=done):
                self.assertTrue(exercises.next_in_words(after).startswith(says), (done, after))

    def test_watch_says_each_line_at_once(self):
        command = (sys.executable, "-I", "-S", "-B", PROGRAM, "watch", "03/five-steps", "--build", BUILD)
        with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE) as process:
            said = select.select([process.stdout], [], [], 30)[0]
            process.kill()
        self.assertTrue(said)

    def test_ctrl_c_ends_it_at_once(self):
        if subprocess.run(["env", "--block-signal=INT", "true"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("env cannot block signals here")
        for after in (0.05, 0.2, 0.6):
            process = subprocess.Popen(["env", "--block-signal=INT", sys.executable, "-I", "-S", "-B", str(PROGRAM), "watch", "03/five-steps",
                                        "--build", str(BUILD)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            time.sleep(after)
            process.send_signal(2)
            _, said = process.communicate(timeout=100)
            self.assertIn(process.returncode, (130, -2), said)
            self.assertEqual(said, "")


@needs_opencl
class AClass(Commands):
    def zipped(self, **files):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, text in files.items():
                packed.writestr(name.replace("--", "/"), text)
        return data.getvalue()

    def graded(self, submitted, seed):
        """In place of a grade: whose text begins with "full" is right."""
        text = submitted[0].text
        if text.startswith("busy"):
            raise sandbox.Busy(sandbox.TOO_BUSY)
        if text.startswith("fault"):
            raise ValueError("a mistake of ours")
        right = text.startswith("full")
        verdicts = [grading.Verdict(each, of if right else 0, of, "=1+1") for each, of in FIVE_STEPS.points.items()]
        return grading.Grade("03/five-steps", "opencl", seed, verdicts)

    def grade(self):
        """The rows of the table."""
        words = ("grade", "03/five-steps", "--all", self.folder / "class", "--reports", self.folder / "reports", "--seed", "7", "--build", BUILD)
        with unittest.mock.patch.object(grading, "graded", self.graded), \
                unittest.mock.patch.object(sandbox, "missing", return_value=""), \
                unittest.mock.patch("sys.stdout", io.StringIO()):
            self.assertEqual(tutorial.main(*map(str, words)), 1)
        return {row["submission"]: row for row in csv.DictReader((self.folder / "reports/points.csv").read_text().splitlines())}

    def test_whatever_is_handed_in_is_read_or_named(self):
        full, long = "full\n", "+" * 248
        for name, text in {
                "ann/histogram.cl": full, "bom/histogram.cl": b"\xef\xbb\xbffull", "wide/histogram.cl": "full".encode("utf-16"),
                "crlf/histogram.cl": b"full\r\n", "west/histogram.cl": b"full // f\xfcr", "upper/Histogram.CL": full, "deep/a/b/histogram.cl": full,
                "other/histogram(1).cl": full, "more/histogram.cl": full, "more/README.txt": "hello", "more/.DS_Store": "x",
                "more/__MACOSX/._histogram.cl": "x", "packed.zip": self.zipped(**{"a--histogram.cl": full, "__MACOSX--histogram.cl": "x"}),
                "moodle/all.zip": self.zipped(**{"inner.zip": self.zipped(**{"x--histogram.cl": full})}), "flat_123.cl": full,
                "binary.cl": b"\0\1", "broken.zip": b"PK\3\4 no", "none/x.txt": "x", "empty/.keep": "", "large.cl": "x" * (2 << 20),
                **{f"two/{n}/histogram.cl": str(n) for n in range(99)}, "=HYPERLINK(x).cl": full, ".DS_Store": "x", "odd\x1b.cl": full,
                "same.cl": full, "same.zip": self.zipped(**{"histogram.cl": full}), "odd\u2067.cl": full, "x;=1.cl": full,
                "points.csv/histogram.cl": full, "!.cl": full, "twice/a/histogram.cl": full, "twice/b/histogram.cl": full,
                "bomb.zip": self.zipped(**{f"{n}.zip": bytes(4 << 20) for n in range(5)}), "nothing.zip": self.zipped(), f"{long}.cl": full,
                "zeros.zip": self.zipped(**{"histogram.cl": bytes(64 << 20)}), "many.zip": self.zipped(**dict.fromkeys(map(str, range(17000)), "")),
                ".dots.cl": full, "bsd.zip": self.zipped(**{".--": "", ".--histogram.cl": full}), "lab/.lab3/histogram.cl": full,
                "editor/histogram.cl": full, "editor/.history/histogram.cl": "older", "quine.zip": functools.reduce(lambda inner, _: self.zipped(
                    **{"x.zip": inner}), range(60), self.zipped(x="x")), "fault.cl": "fault", "busy.cl": "busy"}.items():
            self.write(text, f"class/{name}")
        for depth in range(1300):
            os.mkdir(f"{self.folder}/class/down{'/d' * depth}")
        self.addCleanup(subprocess.run, ["rm", "-r", self.folder / "class" / "down"])  # which shutil cannot
        for number in range(10000):
            (self.folder / "class" / "more" / f"{number}.txt").touch()
        (self.folder / "class" / "leads").mkdir()
        for link in ("eve", "more/link", "leads/histogram.cl"):
            (self.folder / "class" / link).symlink_to(self.folder / "class" / "ann")
        pathlib.Path(os.fsdecode(os.fsencode(self.folder / "class") + b"/\xff.cl")).write_text(full)
        with open(self.folder / "class" / "hole.cl", "wb") as hole:
            hole.truncate(1 << 30)
        with unittest.mock.patch.object(for_the_instructor, "accesses", side_effect=sandbox.Busy(sandbox.TOO_BUSY)):
            rows = self.grade()
        self.assertIn(sandbox.TOO_BUSY, (self.folder / "reports/ann/for-the-instructor.txt").read_text())
        right = ("ann", "bom", "wide", "crlf", "west", "upper", "deep", "other", "more", "packed", "moodle", "flat_123", "'=HYPERLINK(x)", "odd?",
                 "odd? (another)", "same.cl", "same.zip", "x;'=1", f"'{long}", "?", "points.csv", ".dots", "bsd", "lab", "editor", "twice", "!")
        wrong = {"binary": "not a text", "broken": "cannot be unpacked", "none": "is missing; there is x.txt", "empty": "there is .keep",
                 "bomb": "more than 16 MiB", "large": "larger than 1 MiB", "two": "two/12/histogram.cl ...?", "eve": "a link",
                 "leads": "is missing; there is histogram.cl (a link", "zeros": "more than 16 MiB", "many": "or 16777 files",
                 "nothing": "there is nothing", "hole": "more than 16 MiB", "fault": "could not be judged: ValueError: a mistake of ours",
                 "busy": "could not be judged: the machine was too busy",
                 "down": "more than 50 folders deep", "quine": "more than 50 folders deep"}
        self.assertEqual({who for who, row in rows.items() if row["points"] == "100"}, set(right))
        self.assertEqual(set(rows), {*right, *wrong})
        for who, says in wrong.items():
            self.assertIn(says, rows[who]["why"])
        self.assertEqual({who for who, row in rows.items() if not row["points"]}, {"busy", "fault"})
        self.assertIn("\n    4  more than 16 MiB, or 16777 files\n", (self.folder / "reports/class.txt").read_text())
        self.assertEqual(len(list((self.folder / "reports").glob("*/results.json"))), len(rows))
        for each in (self.folder / "reports").glob("*/*"):
            self.assertNotRegex(each.read_text(), "[\x1b\0]")

    def test_the_reader_sees_what_was_added_and_whose_files_are_alike(self):
        self.write(SOLUTION, "class/ann.cl")
        self.write(SOLUTION.replace("    //", "  // of my own:").replace("\n\n", "\n"), "class/bob.cl")
        self.write(FIVE_STEPS.skeletons("opencl")[0].read_bytes(), "class/cyd.cl")
        rows = self.grade()
        texts = {who: (self.folder / "reports" / who / "for-the-instructor.txt").read_text() for who in ("ann", "bob", "cyd")}
        self.assertIn("100 in 100 of what differs from the beginning is as in bob\n--- as it begins", texts["ann"])
        self.assertIn("\n+        atomic_inc(&table[pixels[i]]);", texts["ann"])
        self.assertEqual(texts["cyd"], "nothing is added to what all began with\n\n")
        page = (self.folder / "reports" / "class.txt").read_text()
        self.assertIn("100 in 100: ann, bob\n", page)
        self.assertRegex(page, r"3 submissions, 0 with full marks, 0 not judged\n\nPoints of 100\n  0 to 9 +3  ###\n")
        self.assertEqual((rows["bob"]["alike"], rows["cyd"]["alike"]), ("ann (100)", ""))
        for why, cause in (("compiles: ann.cl: not a text", "not a text"),
                           ("could not be judged here: x.cu:9: CUDA has a", "could not be judged here"),
                           ("free of faults: ThreadSanitizer: data race, x.cu:9", "data race"),
                           ("sizes: 0 of 5 runs are right; a: b", "wrong counts"),
                           ("sizes: 0 of 5 runs are right; a ramp: it does not end", "it does not end")):
            self.assertEqual(tutorial.a_class.cause_of("ann", why), cause)
        pieces = for_the_instructor.pieces
        self.assertEqual(pieces("if (a < f(b)) a = b /* c */ + 1; // d\n"), pieces("if(n<f(m)) n=m+1;"))
        self.assertNotEqual(pieces("if (a < f(b)) a = b + 1;"), pieces("if (a < g(b)) a = b + 1;"))
        many = {str(who): pieces("if (a < f(b)) a = b + 1;") for who in range(9)}
        self.assertEqual(for_the_instructor.twins(many)["0"], [])  # it is the exercise's
        many = {**many, "x": pieces("while (c(a)) b = a + d[b] - 1;"), "y": pieces("while (c(e)) f = e + g[f] - 1;")}
        self.assertEqual(for_the_instructor.twins(many)["x"], [(100, "y")])

    @unittest.skipUnless(shutil.which("oclgrind") and not sandbox.missing(), "no Oclgrind, or no sandbox")
    def test_a_class_is_graded(self):
        for name, text in {"ann.cl": SOLUTION, "bob.cl": "does not compile", "max/histogram.cl": SOLUTION.replace("atomic_inc(&", "++*(&")}.items():
            self.write(text, f"class/{name}")
        self.command("grade", "03/five-steps", "--all", self.folder / "class", "--reports", self.folder / "reports", status=1)
        rows = {row["submission"]: row for row in csv.DictReader((self.folder / "reports/points.csv").read_text().splitlines())}
        self.assertEqual([rows[who]["points"] for who in ("ann", "bob", "max")], ["100", "0", "35"])
        self.assertIn("free of faults: data race at", rows["max"]["why"])


def lines_of(text):
    """Its lines that say something, as they stand in no other layout."""
    lines = (re.sub(r"\s+", " ", line).strip() for line in text.splitlines())
    return {line for line in lines if len(line) > 8 and not line.startswith(("//", "#"))}


class Handout(Commands):
    @classmethod
    def setUpClass(cls):
        """A copy that is made once."""
        if not shutil.which("git"):
            raise unittest.SkipTest("no git (package git)")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.copy = pathlib.Path(folder.name, "copy")
        handout.make(cls.copy)

    def test_what_is_handed_out_has_no_solution_and_no_answer(self):
        there = set().union(*(lines_of(path.read_bytes().decode("utf-8", "replace")) for path in self.copy.rglob("*") if path.is_file()))
        # Files beside the skeletons, and the lessons, are no secret.
        known = [path for exercise in catalogue.exercises() for path in exercise.folder.glob("*.*")]
        known += [path for folder in ("common", "0*") for path in catalogue.ROOT.glob(f"{folder}/**/*") if "exercise" not in path.parts]
        known = set().union(*(lines_of(path.read_text(encoding="utf-8")) for path in known if path.suffix in (".cl", ".cu", ".cpp", ".hpp", ".cuh")))
        answers = {line for exercise in catalogue.exercises() for api in exercise.files for text in exercise.solution(api).values()
                   for line in lines_of(text)} - known
        self.assertGreater(len(answers), 50)
        self.assertIn("__kernel void histogram_local(__global const uchar* pixels, ulong count, __global uint* histogram) {", there)
        self.assertEqual(answers & there, set())
        self.assertEqual([path for path in self.copy.rglob("*") if path.name in ("solution.txt", "broken", "slow", ".github")], [])
        self.assertIn('"mistakes": []', (self.copy / "docs/site/play/lab-data.js").read_text())
        self.assertEqual([path for path in self.copy.glob("0*/README.md") if "<summary>Answer" in path.read_text()], [])
        self.assertIn("<summary>Answer", (catalogue.ROOT / "01-cpu/README.md").read_text())
        self.assertEqual([f"{page.relative_to(self.copy)}: {link.group(2)}" for page in self.copy.rglob("*.md")
                          for link in handout.LINK.finditer(page.read_text(encoding="utf-8")) if not (page.parent / link.group(2)).exists()], [])

    def test_bad_requests_leave_nothing(self):
        for folder, says in ((self.folder, "is there already"), (catalogue.ROOT / "copy", "inside of what is copied"),
                             (self.folder / "not" / "there", "cannot be written")):
            with self.assertRaisesRegex(catalogue.BadInput, says):
                handout.make(folder)
        self.assertEqual(list(self.folder.iterdir()), [])

    @needs_opencl
    def test_it_grades_and_begins_anew(self):
        mine = self.copy / FIVE_STEPS.skeletons("opencl")[0].relative_to(catalogue.ROOT)
        begun = mine.read_bytes()

        program = self.copy / PROGRAM.relative_to(catalogue.ROOT)
        for number in (1, 2):
            mine.write_text(SOLUTION)
            self.command("grade", "03/five-steps", status=0, program=program)
            self.command("reset", "03/five-steps", program=program)  # what was there stays beside it
            self.assertEqual((mine.read_bytes(), mine.with_name(f"{mine.name}.{number}").read_text()), (begun, SOLUTION))
        self.assertIn("such a copy already", self.command("handout", self.folder / "another", status=2, program=program).err)
        (self.copy / handout.MANIFEST).unlink()
        mine.write_text(SOLUTION)
        done = self.command("reset", "03/five-steps", status=2, program=program)
        self.assertEqual((done.err.count("\n"), mine.read_text()), (1, SOLUTION))


# ---- marks -------------------------------------------------------------------------------------------

SEED = 5  # one with which the detectors' largest run is a small one
POCL = "Portable Computing Language"  # a GPU may stand before it


@functools.cache
def has_pocl():
    return (BUILD / "common/run_opencl").is_file() and POCL in subprocess.run(
        [BUILD / "03-local-atomics/opencl", "--list-devices"], capture_output=True, text=True, check=False).stdout


def solution(name, api="opencl"):
    exercise = catalogue.exercise_of(name)
    return next(iter(exercise.solution(exercise.api(api if api in exercise.files else None)).values()))


def submitted(text, name="03/five-steps", api="opencl"):
    exercise = catalogue.exercise_of(name)
    api = exercise.api(api if api in exercise.files else None)
    data = text if isinstance(text, bytes) else text.encode()
    text = submitted_file.text_of(pathlib.Path(exercise.files[api][0]), data)
    device = POCL if api == "opencl" and has_pocl() else ""
    return submitted_file.submitted(exercise, api, {exercise.files[api][0]: text}, BUILD, device)[0]


def changed(text, *edits):
    """The text with each `old` replaced by `new`, which has to be there once."""
    for old, new in edits:
        if text.count(old) != 1:
            raise AssertionError(f"{text.count(old)} times: {old}")
        text = text.replace(old, new)
    return text


def steps(*edits):
    return changed(solution("03/five-steps"), *edits)


def instead(body, name="03/five-steps"):
    """The solution with this in the place of all that its kernel does."""
    text = solution(name)
    return text[:text.index("{\n") + 2] + body + "}\n"


def host(body):
    """The host exercise with this in the place of the student's part."""
    return catalogue.PART.sub(lambda part: f"{part[1]}{body}\n{part[3]}", solution("02/host-side"))


COUNT, NEXT, FIRST = "atomic_inc(&table[pixels[i]])", "i += get_global_size(0)", "    const size_t item"
MERGES = "    barrier(CLK_LOCAL_MEM_FENCE);\n    for (size_t bin"
RACE = steps((COUNT, "++table[pixels[i]]"))
ALONE = "    if ({}) for (ulong i = {}; i < count; i += {}) atomic_inc(&histogram[pixels[i]]);\n"
GLOBAL = "    for (ulong i = get_global_id(0); i < count; i += get_global_size(0))\n        atomic_inc(&histogram[pixels[i]]);\n"
EXCHANGE = "for (uint seen = table[pixels[i]], before; (before = atomic_cmpxchg(&table[pixels[i]], seen, seen + 1)) != seen;) seen = before"
MERGE, HOST, LOST, PITCHED = "01/merge", "02/host-side", "02/no-lost-counts", "02/pitched-rows"
LOCK, ADD = "const std::lock_guard<std::mutex> mine(shared.one_at_a_time);", "shared.histogram[bin] += own[bin];"
UNLOCKED = changed(solution(MERGE), (LOCK, ""))
CU_EXCHANGE = EXCHANGE.replace("uint seen", "unsigned seen").replace("atomic_cmpxchg", "atomicCAS")
CU, CU_BARRIER = solution("03/five-steps", "cuda"), "    __syncthreads();\n    for (std::size_t i"
# Its plain reads stand above the exchanges, as those that begin one do; where the last of a group runs last it is right.
LAST = "for (int bin = 0; bin < 256; ++bin) {}(&histogram[bin], table[bin]);\n}}\n\n"
ABOVE = changed(steps((COUNT, EXCHANGE)).rpartition(MERGES)[0] + "    if (item == group_size - 1) last(table, histogram);\n}\n", (
    "__kernel", "void last(__local uint* table, __global uint* histogram) {\n    " + LAST.format("atomic_add") + "__kernel"))
CU_HANDED = changed(CU, ("    const std::size_t thread =", "    __shared__ unsigned boxes[1024], ones;\n"
                         "    boxes[threadIdx.x] = 1;\n    __syncwarp();\n"
                         "    const unsigned one = boxes[threadIdx.x / warpSize * warpSize];\n    const std::size_t thread ="),
                    ("[i]], 1U)", "[i]], one)"))
CU_ABOVE = changed(CU.rpartition("    __syncthreads();")[0] + "    if (threadIdx.x == blockDim.x - 1) last(table, histogram);\n}\n", (
    "atomicAdd(&table[pixels[i]], 1U)", CU_EXCHANGE), ('extern "C" __global__', "__device__ void last(std::uint32_t* table, "
    "std::uint32_t* histogram) {\n    " + LAST.format("atomicAdd") + 'extern "C" __global__'))


# ---- the table: (the exercise, the submission, its text, its points, what is said of it) ------
#
# A mistake costs the same, in however many runs it shows, and where pixels are not counted at all there is nothing.

NOT_RIGHT = (
    ("03/five-steps", "no kernel", "", 0, "there is no kernel histogram_local in this file"),
    ("03/five-steps", "a merge that strides by all", steps(("    for (size_t bin = item; bin < BINS; bin += group_size) {\n        atomic",
     "    for (size_t bin = item; bin < BINS; bin += get_global_size(0)) {\n        atomic")), 35, r"\(merge-strided-globally\)"),
    ("03/five-steps", "a loop without end", steps((NEXT, "i += 0")), 0, "does not end"),
    ("01/otsu", "a guess", solution("01/otsu").replace("return best;", "return 127;"), 0, "no run shows that it counts"),
    (MERGE, "an end of the function that is missing", solution(MERGE).rstrip()[:-1], 0, r"not compile: histogram\.cpp:\d+:\d+: error: expected .}."),
    (PITCHED, "a short last row", changed(solution(PITCHED), ("y * width + x < count)", "true)")), 41, r"\(last-row-taken-as-full\)"),
    (PITCHED, "a number of rows that is rounded down",
     changed(solution(PITCHED), ("y * width < count", "y < count / width")), 41, r"\(tail-dropped\)"),
    (HOST, "counted by the host", host("for (int bin = 0; bin < 256; ++bin) result[bin] = 0;\n"
                                       "for (std::size_t i = 0; i < count; ++i) ++result[pixels[i]];"), 0, "bins are wrong"),
    (HOST, "an end like a skipped test", host('std::puts("no device"); std::exit(77);'), 0, "it ends with 77"),
    (HOST, "another launch", changed(solution(HOST), ("groups * group_size", "group_size")), 41, "1 of 5 runs"),
    (HOST, "a size of an argument", changed(solution(HOST), ("kernel, 1, sizeof pixel_count", "kernel, 1, 4")), 0,
     r"clSetKernelArg\(1\): CL_INVALID_ARG_SIZE \(-51\)"),
    (HOST, "one run that fails", changed(solution(HOST), ("count > 0 ? count : 1", "count")), 41, "4 of 5 runs are right"),
    (MERGE, "results before there are pixels", solution(MERGE) + "#include <cstdio>\n#include <cstdlib>\nstatic const int begun = "
     '(std::puts("1024 0"), std::exit(0), 0);\n', 0, "it ended before it had counted"),
)
# The detectors look at these, too: what they find leaves no points but for what compiles.
LOOKED_AT = (
    ("03/five-steps", "a wild write", instead("    *(volatile __global uint*)8 = 1;\n"), 0, "it crashes"),
    ("03/five-steps", "a race", RACE, 35, r"data race at local memory.*histogram\.cl:\d+"),
    ("03/five-steps", "a race beside a launch without end", changed(RACE, (FIRST, "    while (get_local_size(0) == 1) {}\n" + FIRST)), 35,
     "data race at local memory"),
)
# Of these it is enough to see what the detectors say: then there are no points, as for the races above.
NOT_FREE_OF_FAULTS = (
    ("03/five-steps", "a read behind the pixels", steps(("i < count; i +=", "i <= count; i +=")), "Invalid read of size 1 at global memory"),
    ("05/sixteen-at-once", "a vector from any address", changed(solution("05/sixteen-at-once"), ("min((16 - first % 16) % 16, count)", "0")),
     r"Invalid memory load - source pointer is not aligned.*histogram\.cl:31"),
    ("03/five-steps", "a table that nobody zeroes, beside an exchange", steps(("        table[bin] = 0;\n", ""), (
     FIRST, "    __local uint other;\n    atomic_xchg(&other, 0U);\n" + FIRST)), "Uninitialized value written to local memory"),
    ("03/five-steps", "a barrier left out behind exchanges", steps((COUNT, EXCHANGE), (MERGES, "    for (size_t bin")), "data race at local"),
    ("03/five-steps", "a merge without a barrier in a function above", ABOVE, "not right.*the last work-item of a group runs first"),
    ("03/five-steps", "a barrier in a loop", steps(("    for (ulong i", "    for (int n = 0; n < (int)item; ++n) barrier(CLK_LOCAL_MEM_FENCE);\n"
     "    for (ulong i")),
     r"divergence detected.*histogram\.cl:13"),
    ("03/five-steps", "no barrier before the merge", steps((MERGES, "    for (size_t bin")), r"histogram\.cl:17 and histogram\.cl:14$"),
    ("03/five-steps", "no local table", instead(GLOBAL), "nothing passes through local memory"),
    (PITCHED, "a pitch in bytes used for elements", solution(PITCHED).replace("(table_pitch_bytes / sizeof(uint))", "table_pitch_bytes"),
     r"Invalid (read|write) of size 4 at global memory.*histogram\.cl:15\b"),
    (HOST, "two arguments in the wrong order", changed(solution(HOST), ("sizeof(cl_mem), &input", "sizeof(cl_mem), &counts")),
     "the kernel is right: what are its arguments"),
    (MERGE, "a race", UNLOCKED, "data race.*no lock that all threads share"),
)
EMULATED = (
    ("03/five-steps", "a race", changed(CU, ("atomicAdd(&table[pixels[i]], 1U)", "++table[pixels[i]]")), r"data race.*histogram\.cu:19\b"),
    ("03/five-steps", "a race that is kept from being told", "#include <unistd.h>\nstatic const int closed = close(2);\n" + changed(CU, (
     "atomicAdd(&table[pixels[i]], 1U)", "++table[pixels[i]]")), "thread sanitizer it ends with 66"),
    ("03/five-steps", "a barrier for some", changed(CU, (CU_BARRIER, CU_BARRIER.replace("__sync", "if (threadIdx.x < 8) __sync"))),
     r"not all threads of a block reach .* at histogram\.cu:17, others at histogram\.cu:\d+$"),
    ("03/five-steps", "a bin too many", changed(CU, ("kBins; bin += blockDim.x) {\n        table", "kBins + 1; bin += blockDim.x) {\n        table")),
     r"AddressSanitizer: [a-z-]+.*histogram\.cu:15\b"),
    (PITCHED, "a pitch in bytes used for elements", solution(PITCHED, "cuda").replace("(table_pitch_bytes / sizeof *tables)", "table_pitch_bytes"),
     r"AddressSanitizer: heap-buffer-overflow.*histogram\.cu:\d\d"),
    (HOST, "a buffer that is too small", changed(solution(HOST, "cuda"), ("256 * sizeof *counts", "256")),
     r"AddressSanitizer: heap-buffer-overflow.*host\.cu"),
    ("03/five-steps", "compare and exchange, and a bound of the launch", changed(CU, ("atomicAdd(&table[pixels[i]], 1U)", CU_EXCHANGE),
     ("__global__ void", "__global__ __launch_bounds__(1024) void")), "^$"),
    ("03/five-steps", "a barrier left out behind exchanges", changed(CU, ("atomicAdd(&table[pixels[i]], 1U)", CU_EXCHANGE),
     ("    __syncthreads();\n    for (unsigned bin", "    for (unsigned bin")), r"data race.*histogram\.cu:\d\d"),
    ("03/five-steps", "a merge without a barrier in a function above", CU_ABOVE, "not right.*CUDA_ON_CPU_ORDER is 1"),
    ("03/five-steps", "handed on in a warp", CU_HANDED, "^$"),
    ("03/five-steps", "handed on without waiting", changed(CU_HANDED, ("__syncwarp();", "__ballot_sync(~0U, 1);")),
     r"data race.*histogram\.cu:1[24]\b"),
    ("03/five-steps", "a detector's hook", CU + 'extern "C" void __tsan_read4(void*) {}\n', "__tsan_read4 is a detector's own"),
    ("03/five-steps", "a detector that is sent away", changed(CU, (
     "    __syncthreads();\n    for (std::size_t i", "    AnnotateIgnoreWritesBegin(\"\", 0);\n"
     "    for (std::size_t i"), ('extern "C" __global__', 'extern "C" __attribute__((weak)) void AnnotateIgnoreWritesBegin(const char*, int);\n'
     'extern "C" __global__')),
     "AnnotateIgnoreWritesBegin is a detector's own"),
    ("03/five-steps", "an alphabet of one's own, and an IDE's headers",
     "#include <cuda.h>\n#include \"device_launch_parameters.h\"\n" + CU.replace("table", "πίνακας"), "^$"),
    ("03/five-steps", "a kernel with C++'s name", changed(CU, ('extern "C" __global__', "__global__")), "^$"),
    ("03/five-steps", "a lane that does not come", changed(CU_HANDED, ("__syncwarp();", "if (threadIdx.x % 32 < 8) __ballot_sync(~0U, 1);")),
     r"thread \d+ waits in __ballot_sync at histogram\.cu:13 for lane 8 of its warp, which waits in __syncthreads at histogram\.cu:21\b"),
)
# None of these is known to be wrong; and two that are.
LACKING = (
    ("unsigned all = __activemask();", r"could not be judged here: histogram\.cu:14: CUDA has __activemask, and the emulation does not"),
    ('asm volatile("bfe.u32 %0, %1, 8, 8;" : "=r"(*table) : "r"(count));', r"could not be judged here: histogram\.cu:14: CUDA has inline_asm"),
    ("#include <cub/cub.cuh>", r"could not be judged here: histogram\.cu:14: CUDA has cub/cub\.cuh"),
    ("__shared__ union { int a, b; } both;", r"could not be judged here: histogram\.cu:14: CUDA has __shared__"),
    ("__shared__ union { int a, b; } both; int none = nothing;", "it does not compile:.*nothing"),
    ("#include <cab/cub.cuh>", "it does not compile:.*cab/cub"),
)
# Behaviour does not show what is missing here; the instructor finds it in the report.
FOR_THE_INSTRUCTOR = (
    (LOST, "one of each group", instead(ALONE.format("get_local_id(0) == 0", "get_group_id(0)", "get_num_groups(0)"), LOST),
     "3 of 144 work-items read pixels"),
    (LOST, "nothing", solution(LOST), "144 of 144 work-items read pixels, 6 to 7 times each; 0 accesses to local memory"),
)

# ---- honest work: other styles and algorithms; none of them costs a point -----------------------------

SUM_OWN = "\n".join(("    uint own = 0, last = 0;", "    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {",
                     "        if (pixels[i] != last) { if (own) atomic_add(&table[last], own); own = 0; last = pixels[i]; }",
                     "        ++own;", "    }", "    if (own) atomic_add(&table[last], own);"))
LOOP = "    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {\n        atomic_inc(&table[pixels[i]]);\n    }"
OWNERS = instead("""    __local uint own[BINS];
    const ulong stretch = (count + get_num_groups(0) - 1) / get_num_groups(0), begin = min(get_group_id(0) * stretch, count);
    for (uint bin = get_local_id(0); bin < BINS; bin += get_local_size(0)) own[bin] = 0;
    for (ulong i = begin; i < min(begin + stretch, count); ++i)
        if (pixels[i] % get_local_size(0) == get_local_id(0)) ++own[pixels[i]];
    for (uint bin = get_local_id(0); bin < BINS; bin += get_local_size(0)) atomic_add(&histogram[bin], own[bin]);
""")
HONEST = (
    ("03/five-steps", "words, and restrict", steps(("const uchar* pixels", "const uchar* __restrict pixels"), (FIRST,
     '    const size_t words = sizeof("asm no_sanitize get_local_id __has_include");\n    (void)words;\n' + FIRST))),
    ("03/five-steps", "runs of equal pixels", steps((LOOP, SUM_OWN))),
    ("03/five-steps", "two tables, of which zeroes are not merged",
     steps(("table[BINS];", "table[2 * BINS];"), ("bin < BINS; bin += group_size) {\n        table",
     "bin < 2 * BINS; bin += group_size) {\n        table"), (COUNT, "atomic_inc(&table[item % 2 * BINS + pixels[i]])"),
     ("        atomic_add(&histogram", "        if (table[bin] + table[BINS + bin] > 0) atomic_add(&histogram"),
     ("table[bin]);", "table[bin] + table[BINS + bin]);"))),
    ("03/five-steps", "compare and exchange", steps((COUNT, EXCHANGE))),
    ("03/five-steps", "zeroed by an exchange", steps(("        table[bin] = 0;", "        atomic_xchg(&table[bin], 0U);"))),
    (HOST, "a copy of the pixels", changed(solution(HOST), ("CL_MEM_READ_ONLY, count > 0 ? count : 1, nullptr", "CL_MEM_READ_ONLY | "
     "(count > 0 ? CL_MEM_COPY_HOST_PTR : 0), count > 0 ? count : 1, count > 0 ? const_cast<std::uint8_t*>(pixels) : nullptr"))),
    ("03/five-steps", "padded copies", steps(("table[BINS];", "table[32][BINS + 1];"),
     ("        table[bin] = 0;", "        for (int copy = 0; copy < 32; ++copy) "
     "table[copy][bin] = 0;"), (COUNT, "atomic_inc(&table[item % 32][pixels[i]])"), ("        atomic_add(&histogram[bin], table[bin]);",
     "        uint sum = 0;\n        for (int copy = 0; copy < 32; ++copy) sum += table[copy][bin];\n        atomic_add(&histogram[bin], sum);"))),
    ("03/five-steps", "a copy of the group's", instead("""    __local uchar some[256];
    __local uint table[BINS];
    for (size_t bin = get_local_id(0); bin < BINS; bin += get_local_size(0)) table[bin] = 0;
    for (ulong first = get_group_id(0) * 256; first < count; first += get_num_groups(0) * 256) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint size = min(count - first, (ulong)256);
        event_t copied = async_work_group_copy(some, pixels + first, size, 0);
        wait_group_events(1, &copied);
        for (uint i = get_local_id(0); i < size; i += get_local_size(0)) atomic_inc(&table[some[i]]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t bin = get_local_id(0); bin < BINS; bin += get_local_size(0)) atomic_add(&histogram[bin], table[bin]);
""")),
    (MERGE, "a line that each thread prints", changed(solution(MERGE), ("#include <mutex>", "#include <iostream>\n#include <mutex>"),
                                                      (LOCK, 'std::cout << "here" << std::endl;\n    ' + LOCK))),
    (MERGE, "a lock that is waited for so long", changed(solution(MERGE), ("std::mutex one", "std::timed_mutex one"),
     ("#include <mutex>", "#include <chrono>\n#include <mutex>"),
     (LOCK, "while (!shared.one_at_a_time.try_lock_for(std::chrono::seconds(1))) {}\n    const std::lock_guard<std::timed_mutex> "
      "mine(shared.one_at_a_time, std::adopt_lock);"))),
)


# ---- right, and counted: (the exercise, the API, the submission, its text, points of 15, what is said of it) ----------------

CEILING = "05/half-the-ceiling"
COPIES, STRIPED, WARP, WIDE, PAIRS = "04/copies", "02/striped", "02/one-for-a-warp", "05/sixteen-at-once", "05/equal-neighbours"
NEIGHBOURS = changed(solution(COPIES), ("pixels[i] * COPIES + item % COPIES", "item % COPIES * BINS + pixels[i]"),
                     ("bin * COPIES + (item + k) % COPIES", "k * BINS + bin"))
OWN = instead("""    uint own[BINS];
    for (int bin = 0; bin < BINS; ++bin) own[bin] = 0;
    const ulong size = (count + get_global_size(0) - 1) / get_global_size(0), begin = get_global_id(0) * size;
    for (ulong i = begin; i < min(begin + size, count); ++i) ++own[pixels[i]];
    for (int bin = 0; bin < BINS; ++bin) atomic_add(&histogram[bin], own[bin]);
""", COPIES)
BYTES = re.sub(r"(?s)    const ulong head.*(?=    // ---- end)", LOOP.replace("pixels[i]", "pixels[first + i]") + "\n", solution(WIDE))
COUNTED = (
    (COPIES, "opencl", "copies one behind the other", NEIGHBOURS, 9, "passes for 32 pixels: 3", "passes of an access: 3"),
    (COPIES, "opencl", "a merge that begins with copy 0", changed(solution(COPIES), ("(item + k) % COPIES", "k")), 9,
     r"passes of an access: 8.*histogram\.cl:2\d"),
    (COPIES, "opencl", "zeroed 16 bytes at once", changed(solution(COPIES), (
     "word = item; word < BINS * COPIES;", "word = item * 4; word < BINS * COPIES;"),
     ("word += group_size", "word += group_size * 4"), ("table[word] = 0;", "vstore4((uint4)(0), word / 4, table);")), 15),
    (COPIES, "opencl", "own arrays, blocked", OWN, 6, "sectors for 32 pixels: 32", "own arrays' sectors for 32 pixels: ",
     "global atomics for 1000 pixels: "),
    ("03/five-steps", "opencl", "global atomics", instead(GLOBAL), 0, "global atomics for 1000 pixels: 1000"),
    (STRIPED, "opencl", "one table", changed(solution(STRIPED), ("get_global_id(0) % TABLES * BINS", "0")), 0,
     "visits of the fullest queue for 32 pixels: 1"),
    (WIDE, "opencl", "bytes", BYTES, 0, "bytes in flight: 1.00", "sectors for 32 pixels: 2.00"),  # they begin at byte 17
    (PAIRS, "opencl", "an addition for each", changed(solution(PAIRS), ("if (one == two)", "if (false)")), 7, "atomics for 1000 pixels: 10"),
    (PAIRS, "opencl", "in global memory", solution(PAIRS).replace("&table[", "&histogram["), 7, "global atomics for 1000 pixels: 1002"),
    (WARP, "cuda", "an addition for each", (catalogue.exercise_of(WARP).skeletons("cuda")[0]).read_text(encoding="utf-8"), 0,
     "visits of the fullest queue for 32 pixels: 7.65", "atomics for 1000 pixels: 1000"),
    (CEILING, "cuda", "a copy for 8 lanes", changed(solution(CEILING, "cuda"), ("kCopies = 32", "kCopies = 4")), 15,
     "percent of an H100's ceiling: (5|6)"),
    (CEILING, "opencl", "a copy for two lanes", changed(solution(CEILING), ("COPIES 32", "COPIES 16")), 30, "percent of an H100's ceiling: (8|9)"),
    (CEILING, "opencl", "one table", changed(solution(CEILING), ("COPIES 32", "COPIES 1")), 0, "percent of an H100's ceiling: 3.*of a ramp"),
)


class Table(Test):
    def grade(self, text, name, api="opencl"):
        try:
            return grading.graded([submitted(text, name, api)], SEED)
        except grading.NothingToRunOn as why:
            self.cannot_run(str(why))

    def hold(self, rows, api="opencl"):
        for exercise, name, text, points, says in rows:
            seconds = 2 if "without end" in name else 10
            with self.subTest(exercise=exercise, submission=name), unittest.mock.patch.object(submitted_file, "SECONDS", seconds), \
                    unittest.mock.patch.object(grading, "PROCESSES", 2):
                grade = self.grade(text, exercise, api)
                table = reports.table_of(grade)
                self.assertEqual(grade.points, points, table)
                said = " ".join([*(verdict.words for verdict in grade.verdicts), grade.diagnosis]).replace("\n", " ")
                self.assertRegex(said, says, table)

    def hold_faults(self, rows, api="opencl"):
        for exercise, name, text, says in rows:
            with self.subTest(exercise=exercise, submission=name):
                self.assertRegex(grading.faults(submitted(text, exercise, api), SEED) or "", says)


class Marks(Table):
    def setUp(self):
        if not (has_pocl() and shutil.which("oclgrind")):
            self.skipTest("it needs PoCL and Oclgrind (package oclgrind)")

    def test_what_is_not_right(self):
        with unittest.mock.patch.object(grading, "faults", return_value=""):  # which give no points, and take time
            self.hold(NOT_RIGHT)
        self.hold(LOOKED_AT)

    def test_what_is_not_free_of_faults(self):
        self.hold_faults(NOT_FREE_OF_FAULTS)

    def test_what_a_reader_has_to_see(self):
        for exercise, name, text, says in FOR_THE_INSTRUCTOR:
            with self.subTest(name):
                self.assertIn(says, for_the_instructor.words(submitted(text, exercise), SEED))
        self.assertGreater(for_the_instructor.accesses(submitted(OWNERS), SEED).local, 0)  # whose reads are more than is read
        grade = self.grade(text, exercise)
        self.assertTrue(grade.full, reports.table_of(grade))
        self.assertNotIn(says, reports.as_json(grade))  # which a student may see

    def test_honest_work_has_full_marks(self):
        for exercise, name, text in HONEST:
            with self.subTest(name):
                grade = self.grade(text, exercise)
                self.assertTrue(grade.full, reports.table_of(grade))

    def test_an_addition_of_two_atomic_accesses_loses_counts(self):
        """No detector sees a race there: the threads have to meet, and on a busy machine they do not every time."""
        stores = "{ std::atomic_ref<std::uint32_t> count(shared.histogram[bin]); count.store(count.load() + own[bin]); }"
        file = submitted("#include <atomic>\n" + changed(UNLOCKED, (ADD, stores)), MERGE)
        if len(os.sched_getaffinity(0)) > 1:
            self.assertTrue(any("not right" in grading.faults(file, SEED) for _ in range(9)))

    def test_a_third_barrier_that_is_missing_is_a_race(self):
        """It is needed in what goes round again, so the detector has to see it go round."""
        zeroing = "for (size_t bin = item; bin < BINS; bin += group_size) {", "if (item == 0) for (size_t bin = 0; bin < BINS; ++bin) {"
        for name, edit in (("03/tiles", zeroing), ("04/no-overflow", ("", ""))):
            text = solution(name)
            begin, end = text[:text.rindex("barrier(")], text[text.rindex("barrier("):].split(";", 1)[1]
            with self.subTest(exercise=name):
                self.assertIn("data race", grading.faults(submitted(begin.replace(*edit, 1) + end, name), SEED))

    def test_where_two_devices_differ_it_is_not_judged(self):
        here = "#if defined __x86_64__ || defined __aarch64__\n    if (get_global_id(0) == 0) atomic_inc(histogram);\n#endif\n"
        with self.assertRaisesRegex(sandbox.Busy, "on PoCL 1 of 256 bins are wrong.*under Oclgrind it is right"):
            self.grade(steps((FIRST, here + FIRST)), "03/five-steps")
        fences = changed(solution(MERGE), ("std::mutex one", "std::atomic<bool> one"), ("#include <mutex>", "#include <atomic>"), (
            LOCK, "while (shared.one_at_a_time.exchange(true, std::memory_order_relaxed)) {}\n"
                  "    std::atomic_thread_fence(std::memory_order_acquire);"),
            (ADD, ADD + "\n    std::atomic_thread_fence(std::memory_order_release);\n"
                  "    shared.one_at_a_time.store(false, std::memory_order_relaxed);"))
        with self.assertRaisesRegex(sandbox.Busy, "does not know std::atomic_thread_fence"):
            self.grade(fences, MERGE)

    def test_a_page_promises_what_is_named(self):
        outcomes = json.loads((HERE.parents[1] / "diagnosis/choices.json").read_text())["outcomes"]
        names = {row["name"] for row in outcomes} | {"no-barrier-after-zeroing"}
        barrier = solution("03/five-steps").replace("    barrier(CLK_LOCAL_MEM_FENCE);\n    for (ulong", "    for (ulong")
        texts = {"no-barrier-after-zeroing": barrier, "8-bit-overflow": (catalogue.exercise_of("04/no-overflow").folder / "histogram.cl").read_text()}
        promised = [(exercise.name, name) for exercise in catalogue.exercises()
                    for name in re.findall(r"`([a-z0-9-]+)`", (exercise.folder / "README.md").read_text()) if name in names]
        self.assertEqual(len(promised), 2)
        for exercise, name in promised:
            self.assertIn(f"({name})", self.grade(texts[name], exercise).diagnosis)

    def test_what_a_beginner_is_told(self):
        begun = FIVE_STEPS.skeletons("opencl")[0].read_text(encoding="utf-8")
        for name, text, says in (
                ("nothing yet", changed(begun, *[]) if is_as_begun(FIVE_STEPS.skeletons("opencl")[0]) else instead(""),
                 "your part is still empty|no run shows"),
                ("CUDA's word", steps((COUNT, "atomicAdd(&table[pixels[i]], 1)")), r"\(atomicAdd is a word of CUDA's\)"),
                ("a warning", steps((FIRST, "    uint x = 3; if (x = 5) x = 6;\n" + FIRST)), "the compiler warns: .*histogram.cl:6")):
            with self.subTest(name), unittest.mock.patch.object(grading, "faults", return_value=""):
                grade = self.grade(text, "03/five-steps")
                self.assertRegex(grade.verdicts[0].words.replace("\n", " "), says)
                self.assertEqual(grade.diagnosis, "")
        result = b"".join(count.to_bytes(4, "little") for count in [1] * 64) + tasks.POISON * 768
        run = tasks.Run("", 256, 1, bytes(range(256)), 1, 1)
        self.assertIn("ends after 256 of 1024 bytes", grading.compared(catalogue.exercise_of(LOST), run, submitted_file.Result(result)).why)
        began = b"".join((0xa5a5a5a5 + 1).to_bytes(4, "little") for _ in range(256))
        self.assertIn("has to be zero at first", grading.compared(catalogue.exercise_of(LOST), run, submitted_file.Result(began)).why)

    def test_without_a_detector_no_point_is_lost(self):
        with unittest.mock.patch.object(submitted_file.OpenCLFile, "detectors", return_value=[]):
            grade = self.grade(steps(), "03/five-steps")
        self.assertEqual(grade.verdicts[-2][1:4], (0, 0, "could not be judged here: there is no race detector"))
        self.assertTrue(grade.full)

    def test_compiler_errors_have_the_students_lines(self):
        grade = self.grade(steps(("        table[bin] = 0;", "\ttable[bin] = 0")), "03/five-steps")
        line = steps()[:steps().index("table[bin] = 0;")].count("\n") + 1
        self.assertEqual(grade.points, 0)
        self.assertRegex(grade.verdicts[0].words, rf"histogram.cl:{line}:\d+: expected ';'")

    @unittest.skipIf(sandbox.missing(), f"no sandbox: {sandbox.missing()} (package bubblewrap)")
    def test_nobody_is_harmed(self):
        paths = f'"{HERE.parent}/__pycache__/grading.pyc", "/usr/bin/c++", "/var/tmp/left"'
        harm = f"""#include <csignal>
#include <initializer_list>
#include <unistd.h>
static const int harm = [] {{
    for (const char* path : {{{paths}}})
        if (std::FILE* file = std::fopen(path, "w")) std::fputs("spoilt", file);
    kill(getppid(), SIGKILL);
    kill(getppid(), SIGSTOP);
    return kill(-1, SIGKILL);
}}();
"""
        self.assertTrue(self.grade(changed(solution(HOST), ("#include <cstdlib>\n", "#include <cstdlib>\n" + harm)), HOST).full)
        self.assertFalse(pathlib.Path("/var/tmp/left").exists())

    @unittest.skipUnless(sandbox.rules(), "no libseccomp")
    def test_a_process_of_chapter_01_counts_and_does_little_else(self):
        tried = {"memory": "mmap(nullptr, 1, PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED",
                 "write": 'open("/tmp/x", O_CREAT, 7) >= 0',
                 "pages": "mprotect(reinterpret_cast<void*>(reinterpret_cast<size_t>(&here) & ~4095ul), 1, PROT_EXEC) == 0",
                 "read": 'open("/etc/ld.so.cache", O_RDONLY) >= 0', "socket": "socket(AF_INET, SOCK_STREAM, 0) >= 0"}
        does = "".join(f'if ({what}) std::fputs("{name} ", stderr); ' for name, what in tried.items())
        headers = "".join(f"#include <{name}>\n" for name in ("fcntl.h", "sys/mman.h", "sys/socket.h", "cstdio"))
        text = f'static int try_all(const char* when) {{ static int here; std::fputs(when, stderr); {does}return here; }}\n'
        begins = 'static const int begun = try_all("at first: ");\n'
        file = submitted(headers + text + begins + changed(solution(MERGE), (LOCK, f'{LOCK} try_all("then: ");')), MERGE)
        done, results = file.process(tasks.runs_of(file.exercise, "sizes", SEED)[:1])
        self.assertEqual((done.status, len(results)), (0, 1), done.said)
        self.assertRegex(done.said, "^at first: read (then: )+$")

    def test_each_way_to_compile_runs_as_itself(self):
        text = "#if COPIES == 8\n#define get_global_id(dimension) 0\n#endif\n" + solution("04/copies")
        run = tasks.runs_of(catalogue.exercise_of("04/copies"), "sizes", SEED)[2]._replace(group_size=64)
        runs = [run._replace(options=f"-DCOPIES={copies}") for copies in (1, 8)]
        self.assertEqual([each.right for each in grading.outcomes(submitted(text, "04/copies"), runs)[0]], [True, False])

    def test_one_wrong_file_of_four_costs_a_quarter(self):
        exercise = catalogue.exercise_of("03/four-mistakes")
        files = submitted_file.submitted(exercise, "opencl", dict.fromkeys(exercise.files["opencl"], ""), BUILD)
        said = [([grading.Verdict("sizes", points, 25, f"{points} of 25", points == 2)], "why" * (points == 2)) for points in (25, 25, 25, 2)]
        with unittest.mock.patch.object(grading, "graded_file", side_effect=said):
            grade = grading.graded(files, 7)
        self.assertEqual(grade.verdicts, [grading.Verdict("sizes", 19, 25, "fourth.cl: 2 of 25", True)])
        self.assertEqual(grade.diagnosis, "fourth.cl:\nwhy")


@unittest.skipUnless((BUILD / "common/run_emulated").is_file(), "run_emulated is not built")
@unittest.skipUnless(sandbox.where("cmake"), "cmake is none of the system's programs, which a sandbox has")
class Emulated(Table):
    """CUDA without a GPU; here also where there is one."""

    def setUp(self):
        patch = unittest.mock.patch.object(submitted_file, "no_gpu", lambda _: True)
        patch.start()
        self.addCleanup(patch.stop)

    def test_emulated(self):
        self.hold_faults(EMULATED, "cuda")

    def test_what_the_emulation_is_slow_at_gets_more_time(self):
        file, (small, large) = submitted(CU, api="cuda"), tasks.runs_of(FIVE_STEPS, "sizes", SEED)[-2:]
        process, given = file.process, []

        def slow(runs, detector=None, longer=1):
            given.append(longer)
            few = runs if longer > 1 else [run for run in runs if run.count < 1000000]
            return process(few)[0]._replace(ended=sandbox.NO_END), process(few)[1] if few else []
        with unittest.mock.patch.object(file, "process", slow):
            self.assertEqual([each.right for each in grading.outcomes(file, [small, large])[0]], [True, True])
        self.assertEqual(given, [1, 8])

    def test_nobody_else_launches(self):
        launches = "#define cudaLaunchKernel(kernel, groups, ...) on_cpu::launch([](auto...) {}, groups, 1)()\n" \
                   "#define launch_histogram_local(...) my_launch()\n"
        grade = grading.graded([submitted(re.sub(r"(?s)\{.*\}", "{}", CU) + launches, api="cuda")], SEED)
        self.assertEqual(grade.points, 0, reports.table_of(grade))

    def test_a_word_that_the_emulation_lacks_costs_no_mark(self):
        for words, says in LACKING:
            with self.subTest(words):
                file = submitted(changed(CU_HANDED, ("    __syncwarp();", "    __syncwarp();\n" + words)), api="cuda")
                try:
                    why = grading.graded([file], SEED).verdicts[0].words
                except sandbox.Busy as error:
                    why = str(error)
                self.assertRegex(why.replace("\n", " "), says)

    def test_the_grade_says_that_it_is_emulated(self):
        file = submitted(CU, "03/five-steps", "cuda")
        grading.outcomes(file, tasks.runs_of(file.exercise, "sizes", SEED)[:1])
        self.assertIn("emulated on the CPU", file.ran_on)


class Counts(Test):
    """Right submissions that keep their limits or break them."""

    def verdict(self, text, exercise, api):
        with unittest.mock.patch.object(submitted_file, "no_gpu", lambda _: True):
            file = submitted(text, exercise, api)
        try:
            if why := limits.missing(file):
                self.skipTest(why)
            return grading.counts_verdict(file, SEED)
        except grading.NothingToRunOn as why:
            self.cannot_run(str(why))

    def test_each_limit_is_broken_by_one(self):
        broken, apis = set(), set()
        for exercise, api, name, text, points, *says in COUNTED:
            with self.subTest(exercise=exercise, submission=name):
                verdict = self.verdict(text, exercise, api)
                apis.add(api)
                self.assertEqual(verdict[1:3], (points, 45 if exercise == CEILING else 15), verdict.words)
                for each in says:
                    self.assertRegex(verdict.words, each)
                    broken.add((exercise, each.partition(":")[0]))
        if len(apis) == 2:  # else not all was counted here, and each has said why
            self.assertEqual({(each.name, limit["counter"]) for each in catalogue.exercises()
                              for limit in each.data.get("counts", [])} - broken, set())

    def test_what_the_page_of_one_for_a_warp_says(self):
        exercise, kinds = catalogue.exercise_of(WARP), {"photo": "of a photo", "one value": "of one value", "random": "", "ramp": "of a ramp"}
        runs = [tasks.counted(exercise, SEED, f"pixels {kind}" if kind else "random pixels") for kind in kinds.values()]
        queue = limits.COUNTERS["visits of the fullest queue for 32 pixels"]
        self.verdict(CU, "03/five-steps", "cuda")  # skips this where nothing is counted
        both = [[queue(counts)[0] for counts in limits.count.of_exercise(BUILD, exercise, "cuda", {"histogram.cu": text}, *runs)]
                for text in (exercise.skeletons("cuda")[0].read_text(encoding="utf-8"), solution(WARP, "cuda"))]
        page = (exercise.folder / "README.md").read_text(encoding="utf-8")
        for kind, before, after in zip(kinds, *both):
            self.assertIn(f"| {kind} | {before:.2f} | {after:.2f} | {round(before / after, 1 if after > 1.5 else 0):g} |", page)

    def test_what_is_not_counted_as_it_runs_elsewhere_has_no_points(self):
        text = steps((FIRST, "    if (count > 1040000 && count != 1048573) return;\n" + FIRST))
        self.assertRegex(self.verdict(text, "03/five-steps", "opencl").words, "^a run that is counted is wrong: .* bins are wrong")
        with unittest.mock.patch.object(limits.count, "pixels_loaded", return_value=0):
            self.assertEqual(self.verdict(SOLUTION, "03/five-steps", "opencl")[1:], (0, 15, "it does not read all pixels where it is counted", False))

    def test_where_nothing_is_counted_no_point_is_lost(self):
        with unittest.mock.patch.object(limits, "missing", return_value="there is no clang++"):
            self.assertEqual(grading.counts_verdict(submitted(SOLUTION), SEED)[1:3], (0, 0))
        verdict = self.verdict("#ifdef __clang__\n#error\n#endif\n" + CU, "03/five-steps", "cuda")
        self.assertEqual(verdict[1:3], (0, 0), verdict.words)


class Exercise(Test):
    """Of each exercise of a chapter: the solution has full marks; of what a student begins with each file lacks something. (In CUDA on
    a processor the solution alone is looked at, for races but not for stray accesses, as time is short.)"""

    def setUp(self):
        self.on_cpu = GIVEN.variant == "cuda-on-cpu"
        self.api = "cuda" if self.on_cpu else GIVEN.variant
        self.exercises = [each for each in catalogue.exercises() if each.name.startswith(f"{GIVEN.program}/") and self.api in each.files]
        self.assertTrue(self.exercises)
        for of, name, what in ((submitted_file, "no_gpu", lambda _: self.on_cpu), (submitted_file.EmulatedFile, "watched", ("thread",))):
            patch = unittest.mock.patch.object(of, name, what)
            patch.start()
            self.addCleanup(patch.stop)

    def asked(self, what, of):
        try:
            return what(of, SEED)
        except grading.NothingToRunOn as why:
            self.cannot_run(str(why))

    def test_the_solution_has_full_marks(self):
        for exercise in self.exercises:
            # The solutions of four mistakes are one, but for the comment.
            files = {for_the_instructor.COMMENT.sub("", file.text): file
                     for file in submitted_file.submitted(exercise, self.api, exercise.solution(self.api), BUILD)}
            for file in files.values():
                with self.subTest(exercise.name):
                    verdicts = self.asked(grading.graded, [file]).verdicts
                    self.assertEqual([each for each in verdicts if each.points < each.of and "no race detector" not in each.words], [])

    def test_what_it_begins_with_lacks_something(self):
        for exercise in [] if self.on_cpu else self.exercises:
            paths = exercise.skeletons(self.api)
            texts = {path.name: path.read_text(encoding="utf-8") for path in paths}
            for path, file in zip(paths, submitted_file.submitted(exercise, self.api, texts, BUILD)):
                with self.subTest(path):
                    if is_as_begun(path) and not self.asked(grading.faults, file):
                        with unittest.mock.patch.object(grading, "faults", return_value=""):  # they are known
                            self.assertFalse(self.asked(grading.graded, [file]).full)


def is_as_begun(path):
    """Where a student has worked on it it may be right by now."""
    try:
        return exercises.as_begun(path) == path.read_bytes()
    except catalogue.BadInput:  # nobody knows
        return False


if __name__ == "__main__":
    programs.main()
