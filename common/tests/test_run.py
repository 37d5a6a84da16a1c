"""Many runs in one process, self_test.py and --describe, on a program with planted mistakes."""

import json
import pathlib
import subprocess
import sys

import programs
from programs import GIVEN, Test
from served import environment

SELF_TEST = pathlib.Path(__file__).with_name("self_test.py")
PROGRAM = GIVEN.build / "common/tests/wrong_program"
SHORT = ["--repeat", "1", "--no-ceiling"]


def served(*lines):
    """The answers to these command lines, and the exit status at the end."""
    asked = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    done = subprocess.run([PROGRAM], input=asked, capture_output=True, text=True, check=False, env=environment(PROGRAM))
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode


def tested(*arguments):
    done = subprocess.run([sys.executable, "-B", SELF_TEST, PROGRAM, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class Serve(Test):
    def test_answers_one_line_after_the_other(self):
        right = ["--random", "3000", "--variant", "right", *SHORT]
        answers, status = served(right, [*right[:-4], "swapped", *SHORT], right)
        self.assertEqual(status, 0)
        self.assertEqual([answer["status"] for answer in answers], [0, 1, 0])
        self.assertEqual([answer["run"]["results"][0]["check"] for answer in answers], ["match", "mismatch", "match"])
        self.assertEqual(sum(answers[1]["run"]["results"][0]["counts"]), 3000)

    def test_says_why_it_did_not_run(self):
        answers, status = served(["--variant", "does-not-build"], ["--variant", "unsupported"], ["--random", "1", *SHORT])
        self.assertEqual(status, 0)
        self.assertEqual([(answer["status"], answer["kind"]) for answer in answers], [(2, "does-not-build"), (2, "unsupported"), (1, "ran")])
        self.assertEqual(answers[0]["error"], "k.cl does not build: two lines\nof a compiler")

    def test_what_fails_ends_it(self):
        answers, status = served(["--random", "1x"], ["--random", "1", *SHORT])
        self.assertEqual([(answer["kind"], answer["error"][:8]) for answer in answers], [("failed", "--random")])
        self.assertEqual(status, 2)

    def test_a_crash_ends_it_behind_the_answers_before(self):
        answers, status = served(["--random", "1", *SHORT], ["--variant", "crashes", *SHORT], ["--random", "1", *SHORT])
        if programs.BUILD["sanitize"]:  # a crash is theirs
            self.assertEqual((len(answers), status in (1, 66)), (1, True))
        else:
            self.assertEqual(([answer["kind"] for answer in answers], status), (["ran", "crashed"], 2))


class SelfTest(Test):
    def test_a_mistake_fails_where_it_shows_and_can_be_repeated(self):
        status, out, _ = tested("--variant", "dropped-tail")
        self.assertEqual(status, 1)
        line = next(line for line in out.splitlines() if line.startswith("FAILED dropped-tail on size-257: "))
        self.assertIn("total 256 instead of 257", line)
        again = subprocess.run(line.split("; again: ")[1], shell=True, capture_output=True, check=False)
        self.assertEqual(again.returncode, 1)
        self.assertNotIn("on size-256:", out)

    def test_a_crash_costs_one_case(self):
        status, out, _ = tested("--variant", "crashes-on-ramps")
        self.assertEqual(status, 1)
        self.assertRegex(out, r"^FAILED crashes-on-ramps on ramp: it crashes; again: [^\n]*\n\d\d cases match, 0 skipped, 1 failed")

    def test_memory_that_runs_out_is_no_crash(self):
        if programs.BUILD["sanitize"]:
            self.skipTest("a build with sanitizers: a crash is theirs")
        status, out, _ = tested("--variant", "out-of-memory")
        self.assertEqual(status, 1)
        self.assertRegex(out, "^FAILED out-of-memory on [^\n]*: it ended for want of memory; again: ")
        self.assertNotIn("it crashes", out)

    def test_kernels_that_do_not_build_are_told_once(self):
        status, out, _ = tested("--variant", "does-not-build")
        self.assertEqual(status, 1)
        self.assertRegex(out, r"^FAILED does-not-build: k.cl does not build: two lines\nof a compiler\n0 cases match, 0 skipped, 1 failed")

    def test_what_cannot_run_is_no_success(self):
        for words, expected, failed in (([], 1, 1), (["--may-skip"], 77, 0)):
            status, out, _ = tested("--variant", "unsupported", *words)
            self.assertEqual(status, expected)
            self.assertRegex(out, f"^skipped unsupported: this device has too little\n0 cases match, [1-9][0-9]* skipped, {failed} failed ")


class Loop(Test):
    def test_one_that_is_left_early_is_told(self):
        self.expect([PROGRAM, "--random", "10", "--variant", "left-early", *SHORT], 2,
                    err="tests/wrong_program: left-early: its loop was left before runs.next\\(\\) ended it\n$")


if __name__ == "__main__":
    programs.main()
