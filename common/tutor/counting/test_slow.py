"""What is right and slow (the chapters' slow/): each is right, and has more than what is fast of the count that gives it away.

    test_slow.py [--build BUILD] [CLASS ...]
"""

import contextlib
import io
import pathlib
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / room) for room in ("exercise", "gallery", "../tests")]
import gallery  # noqa: E402
import model  # noqa: E402
import programs  # noqa: E402
import slow  # noqa: E402
from programs import GIVEN, QUICK, Test  # noqa: E402
from served import Served  # noqa: E402
from test_counting import built, groups  # noqa: E402

SLOW = gallery.mistakes(folder="slow")
# 100 work-items are no whole warps, and seven groups no share of anything.
INPUTS = ("--random 100003", "--random 70001 --values 4 --group-size 100 --groups 7", "--random 5 --group-size 100")


class Gallery(Test):
    def test_there_are_twelve_and_each_changes_both_apis(self):
        self.assertEqual([len(SLOW), len({one.name for one in SLOW})], [12, 12])
        for one in SLOW:
            self.assertTrue(one.files() == ["histogram.cl", "histogram.cuh"] or (one.beside and not one.changes), one.number)
            self.assertIn(one.counts, slow.COUNTED, one.number)

    def test_the_list_gives_nothing_away(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            slow.listing()
        for one in SLOW:
            self.assertIn(f"{one.number} ", said.getvalue())
            self.assertNotIn(one.name, said.getvalue())
        with self.assertRaisesRegex(gallery.Refused, "no slow kernel '09/1'"):
            gallery.find("09/1", "slow")


class Right(Test):
    """On a CPU, in OpenCL. In CUDA they ran on an H100: docs/tools/record.py takes no time of what is wrong."""

    def test_opencl(self):
        built("OpenCL", *{one.chapter for one in SLOW})
        for chapter in dict.fromkeys(one.chapter for one in SLOW):
            with Served(GIVEN.build / chapter / "opencl") as program, tempfile.TemporaryDirectory() as folder:
                for one in (one for one in SLOW if one.chapter == chapter):
                    kernels = ["--kernels", pathlib.Path(folder, "histogram.cl")] if one.changes else []
                    if one.changes:
                        gallery.make(one, folder, ["histogram.cl"])
                    for words in INPUTS:
                        with self.subTest(one.number, words=words):
                            answer = program.ask(["--variant", one.variant, *QUICK, "--no-diagnosis", *kernels, *words.split(),
                                                  "--device", gallery.POCL])
                            self.assertEqual([each["check"] for each in answer.get("run", {}).get("results", [])], ["match"], answer)


class Counts(Test):
    """More of what gives it away, what the model says limits it, and how much the change gains."""

    def compare(self, api, run_groups):
        built(api, *{one.chapter for one in SLOW})
        for one in SLOW:
            with tempfile.TemporaryDirectory() as folder, groups(run_groups), self.subTest(one.number):
                # Where a few requests decide, a line through small counts leads astray.
                most = 64 if one.counts in ("sectors", "visits") else 16
                if api == "OpenCL":  # where nothing is predicted: so few that no line has to be drawn on
                    fewer = "64M" if one.counts == "sectors" else "4M"
                    one = one._replace(shows=one.shows.replace("256M", fewer), beside=one.beside.replace("256M", fewer))
                of = [slow.counts_of(GIVEN.build, one, api, is_slow, folder, most) for is_slow in (True, False)]
                values = [slow.value_of(one, counts) for counts in of]
                said = [model.predict(counts, model.devices()["h100"]) for counts in of] if api == "CUDA" else []
                gain = "none" if None in [each["us"] for each in said] else said and f"{said[0]['us'] / said[1]['us']:.2f}"
                print(f"{api} {one.number}: {one.counts} {values[0]:.3g} and {values[1]:.3g}; {said and said[0]['limits'][0][0]}, {gain}", flush=True)
                self.assertGreater(values[0], 1.9 * values[1], one.counts)
                if said:
                    self.assertEqual(said[0]["limits"][0][0], one.limit)
                    self.assertEqual(gain == "none", one.gain == "none")
                    if gain != "none":
                        self.assertAlmostEqual(float(gain) / float(one.gain), 1, delta=0.1)

    def test_cuda(self):
        self.compare("CUDA", 8)

    def test_opencl(self):
        self.compare("OpenCL", 2)


programs.main()
