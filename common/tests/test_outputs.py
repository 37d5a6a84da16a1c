"""outputs.py, seen to object to every kind of damage in what a right program has written."""

import copy
import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import outputs
import programs
from programs import GIVEN, Test

PROGRAM = GIVEN.build / "common/tests/wrong_program"


def every_field(value, path=()):
    """The paths of all fields of a JSON value, and of one number of each list."""
    pairs = value.items() if isinstance(value, dict) else list(enumerate(value))[:1] if isinstance(value, list) else ()
    for name, inner in pairs:
        yield (*path, name)
        yield from every_field(inner, (*path, name))


@unittest.skipIf(outputs.jsonschema is None, "no Python module jsonschema (package python3-jsonschema)")
class Outputs(Test):
    @classmethod
    def setUpClass(cls):
        cls.right = pathlib.Path(tempfile.mkdtemp(prefix="histogram-tests-"))
        cls.addClassCleanup(shutil.rmtree, cls.right)
        files = [word for option, name in outputs.FILES.items() for word in (option, str(cls.right / name))]
        command = [PROGRAM, "--variant", "right", "--random", str(outputs.PIXELS), "--repeat", "2", "--no-ceiling", *files]
        subprocess.run(command, check=True, capture_output=True)
        cls.document = json.loads((cls.right / "out.json").read_text())

    def setUp(self):
        self.damaged = self.folder()
        shutil.copytree(self.right, self.damaged, dirs_exist_ok=True)

    def check(self, chapter="tests", variants=("right",), may_skip=()):
        outputs.check_files(self.damaged, chapter, variants, may_skip)

    def objects(self, says, **asked):
        with self.assertRaisesRegex(outputs.Wrong, says):
            self.check(**asked)

    def write(self, document):
        (self.damaged / "out.json").write_text(json.dumps(document))

    def changed(self, path, value):
        """The document with another value at this path, or without the field."""
        document = copy.deepcopy(self.document)
        *outer, last = path
        parent = document
        for name in outer:
            parent = parent[name]
        if value is None and isinstance(parent, dict):
            del parent[last]
        else:
            parent[last] = value
        self.write(document)

    def test_passes(self):
        self.check()

    def test_a_missing_field(self):
        for path in every_field(self.document):
            if isinstance(path[-1], str):
                with self.subTest(path=path):
                    self.changed(path, None)
                    self.objects(f"'{path[-1]}' is a required property")

    def test_a_field_of_another_type(self):
        for path in every_field(self.document):
            with self.subTest(path=path):
                self.changed(path, True if path[-1] != "only_later" else "yes")
                self.objects("not as common/report/schema.json has it")

    def test_a_field_that_nobody_knows(self):
        for path in (("more",), ("input", "more"), ("results", 0, "more"), ("results", 0, "kernel_ms", "more")):
            with self.subTest(path=path):
                self.changed(path, 1)
                self.objects("'more' was unexpected")

    def test_a_wrong_value(self):
        for path, value, says in (
            (("results", 0, "check"), "mismatch", "right: mismatch"),
            (("input", "pixels"), 4095, "wrong value"),
            (("read_ceiling_gb_s",), 1.5, "a read ceiling"),
            (("results", 0, "percent_of_ceiling"), 1.5, "percent of nothing"),
            (("results", 0, "gb_s"), 0, "wrong value: gb_s"),
            (("results", 0, "kernel_ms", "runs"), 1, "wrong times"),
            (("results", 0, "kernel_ms", "min"), 1e9, "wrong times"),
            (("counts", 0), 5000, "wrong counts: the JSON has others"),
        ):
            with self.subTest(path=path, value=value):
                self.changed(path, value)
                self.objects(says)
        shutil.copy(self.right / "out.json", self.damaged)
        self.objects("wrong value: chapter", chapter="01-cpu")
        self.objects("wrong number of results: 1", variants=("right", "left"))

    def test_damaged_files(self):
        counts = (self.right / "out.csv").read_text()
        for name, content, says in (
            ("out.json", "{", "not JSON"),
            ("out.png", "a picture", "not a PNG"),
            ("out.csv", counts[: counts.rindex("255,")], "wrong counts"),
            ("out.csv", counts.replace("\n1,", "\n2,"), "wrong counts: bin 1"),
            ("out.json.unfinished", "x", "wrong files: out.csv out.json out.json.unfinished out.png"),
        ):
            with self.subTest(name=name, says=says):
                self.setUp()
                (self.damaged / name).write_text(content)
                self.objects(says)


if __name__ == "__main__":
    programs.main()
