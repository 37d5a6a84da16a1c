"""commands.py: that a command which ends otherwise than promised is noticed, and what it makes of a line of a page."""

import sys
import unittest
from unittest import mock

import repository
from commands import RUNS, broken_promises, lines_of, made_small, main, record, why_not


class Commands(unittest.TestCase):
    def test_what_is_promised_is_held(self):
        for promise, status, kept in (("", 0, True), ("", 1, False), ("exits 1: broken on purpose", 1, True), ("exits 1", 0, False),
                                      ("exits 0 or 1", 0, True), ("exits 0 or 1", 1, True), ("exits 0 or 1", 2, False),
                                      ('says "a race"', 0, True), ('says "nosuch"', 0, False)):
            with self.subTest(promise=promise, status=status):
                self.assertEqual(list(broken_promises(promise, status, "here is a race")) == [], kept)

    def test_lines_and_what_is_made_of_them(self):
        page = "```sh\nA=b build/01-cpu/cpu --tile 1G \\\n    --repeat 9\n./tutorial run\n```\nbuild/01-cpu/cpu\n"
        runs = [(line, found[2]) for line in lines_of(page) if (found := RUNS.match(line))]
        self.assertEqual([made_small(*each) for each in runs], ["A=b build/01-cpu/cpu --tile 300K --repeat 9 --no-ceiling"])

    def test_what_cannot_run_here(self):
        missing = [record.Program("02-a", "CUDA", "-", "no compiler")]
        with mock.patch.object(record, "built_programs", return_value=missing):
            self.assertEqual(why_not(None, "build/02-a/cuda", None), "no compiler")
            self.assertIsNone(why_not(None, "build/01-cpu/cpu", None))
        self.assertEqual(why_not("nosuch-tool", "build/01-cpu/cpu", None), "no nosuch-tool")

    def test_where_no_command_runs_nothing_is_checked(self):
        with mock.patch.object(sys, "argv", ["commands.py", str(repository.ROOT / "docs/README.md")]), self.assertRaises(SystemExit) as ended:
            main()
        self.assertEqual(ended.exception.code, 1)


if __name__ == "__main__":
    unittest.main()
