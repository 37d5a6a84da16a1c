"""commands.py: which lines of a page it runs, and that one which ends otherwise than promised is noticed."""

import os
import unittest
from unittest import mock

import repository

# Stands for a program of a chapter: it says how it was called, and ends with the number after --status.
PROGRAM = """#!/bin/sh
echo "called with $*, LUCK=$LUCK"
while [ $# -gt 0 ]; do
    if [ "$1" = --status ]; then exit "$2"; fi
    shift
done
"""


class Commands(repository.RepositoryTest):
    def setUp(self):
        super().setUp()
        self.write("build/01-cpu/cpu", PROGRAM).chmod(0o755)
        self.write("build/programs.tsv", "01-cpu\tC++\tbuild/01-cpu/cpu\t-\n02-a\tCUDA\t-\tno compiler\n"
                   "02-a/b\tCUDA\t-\tno compiler\n")

    def page(self, *lines):
        self.write("README.md", "\n".join(["# A", "", "```sh", *lines, "```", ""]))

    def ran(self, *lines):
        self.page(*lines)
        return self.succeed("commands.py").stdout.splitlines()

    def test_what_is_promised_is_held(self):
        self.ran("build/01-cpu/cpu --status 1  # exits 1: broken on purpose",
                 "build/01-cpu/cpu --status 1  # exits 0 or 1", "build/01-cpu/cpu  # exits 0 or 1")
        for line, why in (("build/01-cpu/cpu --status 1", "ends with 1, not 0"),
                          ("build/01-cpu/cpu  # exits 1", "ends with 0, not 1"),
                          ("build/01-cpu/cpu --status 2  # exits 0 or 1", "ends with 2, not 0 or 1"),
                          ("build/01-cpu/nosuch", "ends with 127, not 0"),
                          ('build/01-cpu/cpu  # says "nosuch"', "does not say 'nosuch'")):
            with self.subTest(line=line):
                self.page(line)
                self.fail_with(why, "commands.py")
        self.page("./tutorial run")  # where nothing runs something is wrong
        self.assertEqual(self.run_program("commands.py").returncode, 1)

    def test_what_cannot_run_here_is_passed_over(self):
        with mock.patch.dict(os.environ, PATH=""):
            lines = self.ran("build/02-a/cuda --tile 1G", "build/01-cpu/cpu --status 77", "build/01-cpu/cpu",
                             "compute-sanitizer --tool racecheck build/01-cpu/cpu", "build/02-a/b/cuda")
        self.assertIn("skipped, no compiler", lines[0])
        self.assertIn("skipped, called with --status 77", lines[1])
        self.assertIn("skipped, no compute-sanitizer", lines[3])
        self.assertIn("skipped, no compiler", lines[4])
        self.assertEqual(lines[-1], "1 commands ran, 0 of them not as the page says")


if __name__ == "__main__":
    unittest.main()
