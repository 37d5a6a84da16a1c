"""The exercises' files, the sandbox, what is read of a class, and what is handed out; test_marks.py has the marks."""

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
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1]), str(HERE.parents[2] / "tests")]
import catalogue  # noqa: E402
import for_the_reader  # noqa: E402
import grading  # noqa: E402
import handout  # noqa: E402
import programs  # noqa: E402
import reports  # noqa: E402
import sandbox  # noqa: E402
import submitted_file  # noqa: E402
import tasks  # noqa: E402
import tutorial  # noqa: E402
from programs import Test  # noqa: E402

BUILD = programs.GIVEN.build.resolve()
PROGRAM = HERE.parents[1] / "tutorial.py"
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
        others = {"compiles", "free of faults", "speed"}
        for exercise in catalogue.exercises():
            with self.subTest(exercise=exercise.name):
                self.assertEqual(sum(exercise.points.values()), 100)
                self.assertEqual(set(exercise.points) - set(tasks.CRITERIA) - others, set())
                self.assertEqual("speed" in exercise.points, "at_least_as_fast" in exercise.data)
                text = (exercise.folder / "README.md").read_text(encoding="utf-8")
                for part in ("**Goal.**", "**What to do.**", "**What you should see.**", f"./tutorial watch {exercise.name} "):
                    self.assertIn(part, text)
                self.assertIn(len(exercise.hints()), (2, 3))


class Inputs(Test):
    def test_another_seed_gives_other_pixels(self):
        for criterion in tasks.CRITERIA:
            one, again, other = ([run.pixels for run in tasks.runs_of(FIVE_STEPS, criterion, seed)] for seed in (1, 1, 2))
            self.assertEqual(one, again)
            self.assertNotEqual(one, other)

    def test_a_detector_sees_a_size_like_those_that_are_compared(self):
        sizes = {tasks.for_detectors(FIVE_STEPS, seed)[-1].count for seed in range(1, 9)}
        self.assertEqual(len(sizes), 8)
        self.assertGreater(max(sizes), 50000)

    def test_each_kind_of_a_run_is_there(self):
        exercise = catalogue.exercise_of("05/sixteen-at-once")
        self.assertEqual({run.first for run in tasks.runs_of(exercise, "launches", 1)}, set(exercise.data["first"]))
        exercise = catalogue.exercise_of("04/copies")
        self.assertEqual({run.options for run in tasks.runs_of(exercise, "sizes", 1)}, set(exercise.data["options"]))


class Truths(Test):
    """What no solution's grade shows of them: each is right on its own task's."""

    def run_of(self, pixels, **more):
        return tasks.Run("", len(pixels), 1, bytes(pixels), 1, 1)._replace(**more)

    def test_threshold(self):
        task, run = tasks.TASKS["threshold"], self.run_of([10, 12, 200, 201])
        for threshold, wrong in ((12, []), (100, []), (199, []), (11, [0]), (200, [0]), (256, [0])):  # the first three part the same pixels
            self.assertEqual(task.wrong(run, task.truth(run), [threshold]), wrong)

    def test_the_permuted_histogram_depends_on_key_and_launch(self):
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

    def test_half_of_the_points_are_for_the_runs_that_are_right(self):
        criterion = next(each for each in FIVE_STEPS.points if each in tasks.CRITERIA)
        of = FIVE_STEPS.points[criterion]
        for right, points in (([True] * 4, of), ([True, True, True, False], of * 3 // 8), ([False] * 4, 0)):
            self.assertEqual(grading.results_verdict(FIVE_STEPS, criterion, self.outcomes(*right)).points, points)

    def test_counts_that_are_wrong_only_under_a_detector_are_a_fault(self):
        detector = unittest.mock.Mock(found=lambda said: None)
        with unittest.mock.patch.object(grading, "outcomes", return_value=(self.outcomes(True, False), [sandbox.Done(0, "", b"")])):
            self.assertIn("it is not right: a run: it is wrong", grading.fault(None, detector, [], True))
            self.assertEqual(grading.fault(None, detector, [], False), "")


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
        for call in ("socket.socket()", "os.memfd_create('')", "ctypes.CDLL(None).shmget(0, 4096, 0o1600) < 0 and exit(1)"):
            self.assertEqual(sandbox.run(["/usr/bin/python3", "-c", f"import ctypes, os, socket; {call}"], 9).status, 1, call)

    def test_results_are_read_as_far_as_they_are_results(self):
        results = [tuple(each) for each in submitted_file.results_of(b"3 0.5\nabc0 1\n2 0\nxy", 9)]
        self.assertEqual(results, [(b"abc", 0.5), (b"", 1), (b"xy", 0)])
        self.assertEqual(len(submitted_file.results_of(b"0 0\n" * 10, 3)), 3)
        for garbage in (b"nan 0\n", b"1e400 0\nx", b"-5 1\nabcdef", b"9 0\nshort", b"no line", b"\n\n", b"9" * 9999 + b" 0\nx", b"1\nx"):
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
        full = 100 if shutil.which("oclgrind") else 80
        # What cannot be read, or shouts at whoever reads, gets a report, too.
        for text, status, points in ((SOLUTION, 0 if full == 100 else 1, full), (b"\xff\xfe\x00", 2, 0), (b"\x1b[2J", 1, 0)):
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
            self.assertRegex(reports.not_isolated() + str(sandbox.missing()), "there is no (libseccomp|bwrap)")

    def test_list_and_hint(self):
        self.assertIn("03/five-steps", self.command("list").out)
        said = self.command("hint", "03/five-steps").out
        self.assertRegex(said, r"Hint \d of 3:")
        self.assertLessEqual(max(map(len, said.splitlines())), reports.WIDTH)

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
                unittest.mock.patch("sys.stdout", io.StringIO()) as out, unittest.mock.patch("sys.stderr", io.StringIO()) as err:
            self.assertEqual(tutorial.main(*map(str, words)), 1)
        self.said = out.getvalue() + err.getvalue()
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
                "two/a/histogram.cl": "one", "two/b/histogram.cl": "two", "=HYPERLINK(x).cl": full, ".DS_Store": "x", "odd\x1b.cl": full,
                "same.cl": full, "same.zip": self.zipped(**{"histogram.cl": full}), "odd\x1a.cl": full, "x;=1.cl": full,
                "points.csv/histogram.cl": full,
                "bomb.zip": self.zipped(**{f"{n}.zip": bytes(4 << 20) for n in range(5)}), "nothing.zip": self.zipped(), f"{long}.cl": full,
                "zeros.zip": self.zipped(**{"histogram.cl": bytes(64 << 20)}), "fault.cl": "fault", "busy.cl": "busy"}.items():
            self.write(text, f"class/{name}")
        (self.folder / "class" / "eve").symlink_to(self.folder / "class" / "ann")
        pathlib.Path(os.fsdecode(os.fsencode(self.folder / "class") + b"/\xff.cl")).write_text(full)
        with open(self.folder / "class" / "hole.cl", "wb") as hole:
            hole.truncate(1 << 30)
        rows = self.grade()
        right = ("ann", "bom", "wide", "crlf", "west", "upper", "deep", "other", "more", "packed", "moodle", "flat_123", "'=HYPERLINK(x)", "odd?",
                 "odd? (another)", "same.cl", "same.zip", "x;'=1", f"'{long}", "?", "points.csv")
        wrong = {"binary": "not a text", "broken": "cannot be unpacked", "none": "is missing; there is x.txt", "empty": "there is nothing",
                 "bomb": "more than 16 MiB", "large": "larger than 1 MiB", "two": "which of these", "eve": "a link", "zeros": "more than 16 MiB",
                 "nothing": "there is nothing", "hole": "more than 16 MiB", "fault": "could not be judged: ValueError: a mistake of ours",
                 "busy": "could not be judged: the machine was too busy"}
        self.assertEqual({who for who, row in rows.items() if row["points"] == "100"}, set(right))
        self.assertEqual(set(rows), {*right, *wrong})
        for who, says in wrong.items():
            self.assertIn(says, rows[who]["why"])
        self.assertEqual({who for who, row in rows.items() if not row["points"]}, {"busy", "fault"})
        self.assertIn("passed over: .DS_Store", self.said)
        self.assertEqual(len(list((self.folder / "reports").glob("*/results.json"))), len(rows))
        for each in (self.folder / "reports").glob("*/*"):
            self.assertNotRegex(each.read_text(), "[\x1b\0]")

    def test_the_reader_sees_what_was_added_and_whose_files_are_alike(self):
        self.write(SOLUTION, "class/ann.cl")
        self.write(SOLUTION.replace("    //", "  // of my own:").replace("\n\n", "\n"), "class/bob.cl")
        self.write(FIVE_STEPS.skeletons("opencl")[0].read_bytes(), "class/cyd.cl")
        self.grade()
        texts = {who: (self.folder / "reports" / who / "for-the-reader.txt").read_text() for who in ("ann", "bob", "cyd")}
        self.assertTrue(texts["ann"].startswith("100 in 100 of what differs from the beginning is as in bob\n--- as it begins"))
        self.assertIn("\n+        atomic_inc(&table[pixels[i]]);", texts["ann"])
        self.assertEqual(texts["cyd"], "\n")
        pieces = for_the_reader.pieces
        self.assertEqual(pieces("a = b /* c */ + 1; // d\n"), pieces("a=b+1;"))

    @unittest.skipUnless(shutil.which("oclgrind") and not sandbox.missing(), "no Oclgrind, or no sandbox")
    def test_a_class_is_graded(self):
        for name, text in {"ann.cl": SOLUTION, "bob.cl": "does not compile", "max/histogram.cl": SOLUTION.replace("atomic_inc(&", "++*(&")}.items():
            self.write(text, f"class/{name}")
        self.command("grade", "03/five-steps", "--all", self.folder / "class", "--reports", self.folder / "reports", status=1)
        rows = {row["submission"]: row for row in csv.DictReader((self.folder / "reports/points.csv").read_text().splitlines())}
        self.assertEqual([rows[who]["points"] for who in ("ann", "bob", "max")], ["100", "0", "5"])
        self.assertIn("free of faults: data race at", rows["max"]["why"])


def lines_of(text):
    """Its lines that say something, as they stand in no other layout."""
    lines = (re.sub(r"\s+", " ", line).strip() for line in text.splitlines())
    return {line for line in lines if len(line) > 8 and not line.startswith(("//", "#"))}


class Handout(Commands):
    @classmethod
    def setUpClass(cls):
        """A copy that is made once."""
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.copy = pathlib.Path(folder.name, "copy")
        handout.make(cls.copy)

    def test_what_is_handed_out_has_no_solution_and_no_answer(self):
        there = set().union(*(lines_of(path.read_bytes().decode("utf-8", "replace")) for path in self.copy.rglob("*") if path.is_file()))
        # What stands beside the skeletons, or in the lessons, is no secret.
        known = [path for exercise in catalogue.exercises() for path in exercise.folder.glob("*.*")]
        known += [path for folder in ("common", "0*") for path in catalogue.ROOT.glob(f"{folder}/**/*") if "exercise" not in path.parts]
        known = set().union(*(lines_of(path.read_text(encoding="utf-8")) for path in known if path.suffix in (".cl", ".cu", ".cpp", ".hpp", ".cuh")))
        answers = {line for exercise in catalogue.exercises() for api in exercise.files for text in exercise.solution(api).values()
                   for line in lines_of(text)} - known
        self.assertGreater(len(answers), 50)
        self.assertIn("__kernel void histogram_local(__global const uchar* pixels, ulong count, __global uint* histogram) {", there)
        self.assertEqual(answers & there, set())
        self.assertEqual([path for path in self.copy.rglob("*") if path.name in ("solution.txt", "broken", ".github")], [])
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
            self.command("grade", "03/five-steps", status=0 if shutil.which("oclgrind") else 1, program=program)
            self.command("reset", "03/five-steps", program=program)  # what was there stays beside it
            self.assertEqual((mine.read_bytes(), mine.with_name(f"{mine.name}.{number}").read_text()), (begun, SOLUTION))
        self.assertIn("such a copy already", self.command("handout", self.folder / "another", status=2, program=program).err)
        (self.copy / handout.MANIFEST).unlink()
        mine.write_text(SOLUTION)
        done = self.command("reset", "03/five-steps", status=2, program=program)
        self.assertEqual((done.err.count("\n"), mine.read_text()), (1, SOLUTION))


if __name__ == "__main__":
    programs.main()
