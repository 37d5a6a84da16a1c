"""The recorded results: they have the form that the schema gives a run, and they can be true."""

import copy
import json
import unittest

import repository
from repository import recorded

try:
    import jsonschema
except ImportError:
    jsonschema = None

ROOT = repository.ROOT
FILES = sorted((ROOT / "docs" / "results").glob("*.json"))
# What every result has. Other fields came later, so that old recordings lack them; `counts` is left out of all.
FIELDS = ["variant", "check", "reason", "kernel_ms", "gb_s"]
NOISE = 1.03  # two measurements of the same differ by less


def schema():
    """That of a file, whose runs are those of the programs."""
    file, report = (json.loads((ROOT / place / "schema.json").read_text(encoding="utf-8")) for place in ("docs/tools", "common/report"))
    report["$defs"]["run"]["required"].remove("counts")
    report["$defs"]["result"]["required"] = FIELDS
    return {**file, "$defs": {**report["$defs"], **file["$defs"]}}


def what_cannot_be_true(recording):
    """A line for each strategy above its ceiling, and for each chapter whose best is slower than that of the chapter before."""
    best = {}
    for entry in recording["runs"]:
        run = entry["run"]
        for result in run["results"]:
            speed, percent, _ = recorded.speeds_of(recording, entry, result)
            what = f"{entry['program']} {result['variant']}, {entry['input']}, {entry['size']}"
            if percent and percent > 100 * NOISE:
                yield f"{what}: {percent:.0f} % of the read ceiling"
            if speed and result["check"] == "match" and "/workshops/" not in entry["program"] and entry["input"] == "photo" \
                    and not run["device"].startswith(("pthread", "cpu")):  # a processor wants chapter 04's `core-bins`
                of = best.setdefault((run["api"], run["device"], entry["size"]), {})
                of[run["chapter"]] = max(speed, of.get(run["chapter"], 0))
    for where, of in best.items():
        chapters = sorted(of)
        for before, chapter in zip(chapters, chapters[1:]):
            if of[chapter] * NOISE < of[before]:
                yield f"{' '.join(where)}: {chapter} is slower than {before}"


class Results(unittest.TestCase):
    def test_they_can_be_true(self):
        for path in FILES:
            self.assertEqual(list(what_cannot_be_true(recorded.load(path))), [], path.name)

    @unittest.skipUnless(jsonschema, "no Python module jsonschema (package python3-jsonschema)")
    def test_they_have_the_form_of_the_schema(self):
        validator = jsonschema.Draft202012Validator(schema())
        for path in FILES:
            found = [f"{list(error.absolute_path)}: {error.message}" for error in validator.iter_errors(json.loads(path.read_text(encoding="utf-8")))]
            self.assertEqual(found, [], path.name)
        self.assertTrue(list(validator.iter_errors({"machine": {}, "runs": [{"program": "01-cpu/cpu", "run": {"api": "Metal"}}]})))

    @unittest.skipUnless(jsonschema, "no Python module jsonschema (package python3-jsonschema)")
    def test_exercises_have_the_form_of_theirs(self):
        validator = jsonschema.Draft202012Validator(json.loads((ROOT / "common/tutor/exercise/schema.json").read_text(encoding="utf-8")))
        for path in ROOT.glob("0*/exercise/*/exercise.json"):
            self.assertEqual([error.message for error in validator.iter_errors(json.loads(path.read_text(encoding="utf-8")))], [], path)
        self.assertTrue(list(validator.iter_errors({"title": "A", "minutes": 5, "nosuch": 1})))

    def test_what_cannot_be_true_is_noticed(self):
        right = recorded.load(ROOT / "docs" / "results" / "h100.json")
        for program, factor, line in (("05-launch-tuning/cuda", 1.2, "05-launch-tuning/cuda tuned, photo, 1G: 118 % of the read ceiling"),
                                      ("04-per-thread-bins/opencl", 0.01, "04-per-thread-bins is slower than 03-local-atomics")):
            wrong = copy.deepcopy(right)
            for entry in (entry for entry in wrong["runs"] if entry["program"] == program):
                for result in entry["run"]["results"]:
                    result["gb_s"] *= factor
            self.assertIn(line, "\n".join(what_cannot_be_true(wrong)))


if __name__ == "__main__":
    unittest.main()
