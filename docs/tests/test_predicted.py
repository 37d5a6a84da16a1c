"""The lab's numbers beside the terminal's: docs/site/play/lab-predict.js says of counts what common/tutor/counting/model.py says, and what
the lab counts of its kernels is what `./tutorial count` counts of the chapters'.

    test_predicted.py [--build BUILD]
"""

import fcntl
import json
import shutil
import subprocess
import sys
import unittest
import unittest.mock

import repository

ROOT = repository.ROOT
BUILD = repository.folder_option("--build")
sys.path[:0] = [str(ROOT / "common/tutor" / room) for room in ("counting", "exercise", "gallery")] + [str(ROOT / "docs/site")]
import accuracy  # noqa: E402
import count  # noqa: E402
import limits  # noqa: E402
import model  # noqa: E402
import play_data  # noqa: E402

PREDICT = "given.map(([launches, pixels, device, api]) => predict.predict(launches, pixels, predict.devices[device], api))"
# Of a strategy, in words of the terminal: what is counted, reduced, and what is said of it.
COUNT = """given.map(([strategy, words, groups, groupSize, least]) => {
  const { pixels } = model.inputOf(words, null, seeded);
  const sample = model.sampleOf(pixels, strategy, data.strategies[strategy].code, { groups, groupSize, copies: 32 }, least);
  const counts = predict.countsOf(watch.count(sample), sample);
  return { reduced: counts.launches.map(predict.reduced), ...predict.predicted(counts, "h100") };
})"""
HEAD = """const data = require("./lab-data.js"), model = require("./lab-model.js"), predict = require("./lab-predict.js");
const { seeded } = require("../../tests/models.js");
const watch = require("./lab-watch.js")(require("./lab-wgsl.js")());
const given = JSON.parse(require("fs").readFileSync(0));
"""


def in_the_lab(expression, given):
    command = [shutil.which("node"), "-e", f"{HEAD}console.log(JSON.stringify({expression}));"]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, cwd=ROOT / "docs/site/play")
    if done.returncode:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


@unittest.skipIf(shutil.which("node") is None, "no Node.js (package nodejs)")
class Predicted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        play_data.write()

    def near(self, found, expected, by, *where):
        """Numbers that are within so much of each other, in lists and objects."""
        if isinstance(expected, dict):
            for name, value in expected.items():
                self.near(found[name], value, by, *where, name)
        elif isinstance(expected, (list, tuple)):
            self.assertEqual(len(found), len(expected), where)
            for place, value in enumerate(expected):
                self.near(found[place], value, by, *where, place)
        elif isinstance(expected, (int, float)) and isinstance(found, (int, float)):
            self.assertLessEqual(abs(found - expected), by * abs(expected) + 1e-9, (*where, found, expected))
        else:
            self.assertEqual(found, expected, where)

    def test_the_model_is_the_terminals(self):
        """Of the counts that accuracy.json keeps; and where a count is 0, in every second case of a few."""
        contents, devices = accuracy.contents(), model.devices()
        of_launch = dict.fromkeys(("groups", "group_size", "local_bytes", "idle", "blocks", "blocks_loading", "barriers",
                                   "loads_ahead", "others_ahead"), 0)
        names = model.reduced({"kernel": "", "lines": [], "queues": [], **of_launch})
        cases = [([{name: of.get(name) or (0.01 * of["loads"] if n % 2 else 0) for name in names} for of in contents["counts"][row["key"]]],
                  row["pixels"], device, row["api"]) for n, row in enumerate(contents["rows"]) for device in devices]
        self.assertGreater(len(cases), 1000)
        with unittest.mock.patch.object(model, "reduced", lambda launch: launch):
            expected = [model.predict({"launches": launches, "pixels": pixels}, devices[device], api) for launches, pixels, device, api in cases]
        self.near(in_the_lab(PREDICT, cases), expected, 1e-9)

    def test_what_is_counted_is_what_the_terminal_counts(self):
        """Within 2 %, but for the bytes of a load: WGSL has no bytes."""
        why = count.missing(BUILD, "OpenCL") if BUILD else "no build folder: --build FOLDER"
        if why:
            self.skipTest(why)
        kernels = [("racy", 264, 256, 1 << 15), ("global", 264, 256, 1 << 14), ("local", 264, 256, 1 << 14), ("local", 64, 64, 1 << 14),
                   ("lane-bins", 132, 1024, 1 << 14)]
        chapters = [play_data.STRATEGIES[strategy] for strategy, *_ in kernels]
        with (BUILD / "tests.lock").open("w") as lock:  # Ninja does not share a folder
            fcntl.flock(lock, fcntl.LOCK_EX)
            targets = {target for chapter in chapters for target in count.targets("OpenCL", chapter)}
            subprocess.run(["cmake", "--build", BUILD, "--target", *targets], check=True, stdout=subprocess.DEVNULL)
        found = in_the_lab(COUNT, [(strategy, "--random 256K", *launch) for strategy, *launch in kernels])
        for (strategy, groups, size, _), chapter, lab in zip(kernels, chapters, found):
            words = ["--random", "1G", "--groups", str(groups), "--group-size", str(size)]
            words += ["--copies", "32", "--loads", "4"] if strategy == "lane-bins" else []
            counts = count.of_program(BUILD, chapter, strategy, "OpenCL", words)
            launches = [model.reduced(launch) for launch in counts["launches"]]
            counters = in_the_lab("Object.entries(predict.COUNTERS).map(([name, of]) => [name, of(given)[0]])", counts)
            with self.subTest(strategy=strategy, groups=groups):
                self.near(counters, [(name, limits.COUNTERS[name](counts)[0]) for name, _ in counters], 1e-9)
                self.near(in_the_lab("given.launches.map(predict.reduced)", counts), launches, 1e-9)
                self.assertEqual(len(lab["reduced"]), len(launches))
                for one, launch in zip(lab["reduced"], launches):
                    # Chance plays in the cache; and the terminal draws visits at a group's end on, too, which do not grow with the pixels.
                    few = [name for name in ("visits", "visits_at_end", "fullest", "whole") if launch["visits_at_end"]] + ["missed"]
                    self.near(one, {name: value for name, value in launch.items() if name not in (*few, "load_bytes")}, 0.02)
                    self.near(one, {name: launch[name] for name in few}, 0.05)
                self.near(lab["gb_s"], model.predict(counts, model.devices()["h100"])["gb_s"], 0.02)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
