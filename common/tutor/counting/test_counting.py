"""What is counted: beside Nsight Compute's counters of an H100, in one API beside the other, and the command.

    test_counting.py [--build BUILD] [CLASS ...]
"""

import argparse
import contextlib
import io
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest
import unittest.mock

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / room) for room in ("", "exercise", "gallery", "../tests")]
import catalogue  # noqa: E402
import count  # noqa: E402
import programs  # noqa: E402
import tutorial  # noqa: E402
from catalogue import BadInput  # noqa: E402
from programs import BUILD, GIVEN, Test  # noqa: E402

PIXELS = 256 << 20  # of the record
RECORDED = json.loads((count.ROOT / "docs/results/h100.json").read_text(encoding="utf-8"))
TWICE = 1.5  # the L2 cache has two halves, and counts what comes by way of the other one twice (docs/profiler.md)
# What an H100 adds to each atomic in local memory where a group has 768 work-items or more: in the same kernel with 640 it
# reports no conflict of banks, and so it is counted here. (docs/counting.md)
LARGE_GROUP, MORE_PASSES = 768, 0.1
CACHED = "racy", "private", "--walk"  # where the first-level cache finds what is loaded, or own arrays are in its way


def built(api, *chapters):
    """Builds what counts; the tests are skipped where it cannot be."""
    why = count.missing(GIVEN.build, api)
    if why or BUILD["sanitize"]:
        raise unittest.SkipTest(f"no counters ({why})" if why else "a sanitizer watches the whole build")
    if not chapters:
        return
    programs.build(*(target for chapter in chapters for target in count.targets(api, chapter)))


@contextlib.contextmanager
def groups(number):
    os.environ["COUNTS_GROUPS"] = str(number)
    yield
    del os.environ["COUNTS_GROUPS"]


def totals(launch):
    """Of all lines, by what they access and how: requests, sectors, visits, passes, lanes."""
    found = {}
    for line in launch["lines"]:
        for name in ("lanes", "requests", "sectors", "visits", "passes", "found"):
            key = line["memory"], line["what"], name
            found[key] = found.get(key, 0) + line[name]
    return found


class Record(Test):
    """Counted with a sixteenth of the pixels, and drawn on, beside the record of all kernels of docs/profiler.md."""

    def rows(self):
        for entry in RECORDED["experiments"]:
            if entry["experiment"] in ("profile", "profile-ramp"):
                for kept in entry["run"]["runs"]:
                    yield entry["program"].split("/")[0], kept["arguments"][1:], entry["input"], kept["percent"]

    def counted(self, chapter, arguments, picture, most=16 << 20):
        count.MOST["CUDA"] = most
        words = ["--random", str(most if most > 16 << 20 else PIXELS), *(["--ramp"] if picture == "ramp" else []), *arguments[1:]]
        with groups(8):
            return count.of_program(GIVEN.build, chapter, arguments[0], "CUDA", words)["launches"][0]

    def test_sectors_visits_and_passes(self):
        chapters = {chapter for chapter, *_ in self.rows()}
        built("CUDA", *chapters)
        for chapter, arguments, picture, seen in self.rows():
            launch = self.counted(chapter, arguments, picture)
            atomics = count.total(launch, "requests", "local", "add one")
            loads = count.total(launch, "sectors", "global", "load") - count.total(launch, "found", "global", "load")
            passes = count.total(launch, "passes", "local") + (MORE_PASSES * atomics if launch["group_size"] >= LARGE_GROUP else 0)
            wanted = {"lts__t_sectors_op_red.sum": TWICE * count.total(launch, "visits", "global"),
                      "lts__t_sectors_op_read.sum": TWICE * (loads + count.total(launch, "sectors", "own", "load")),
                      "lts__t_sectors_op_write.sum": TWICE * sum(count.total(launch, "sectors", of, "store") for of in ("global", "own")),
                      "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": passes}
            for name, found in wanted.items():
                cached = set(CACHED) & set(arguments)
                if cached and (name != "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum" or "1056" in arguments):
                    continue  # below
                if name == "lts__t_sectors_op_red.sum" and "tuned" in arguments:
                    continue  # its atomics give a value back, and are no reductions
                with self.subTest(arguments=arguments, picture=picture, counter=name):
                    if found > 0:
                        self.assertAlmostEqual(found / seen[name], 1, delta=0.05)
                    else:  # what is not the kernel's own
                        self.assertLess(seen[name], 0.1 * PIXELS / 32)

    def test_what_the_first_level_cache_finds(self):
        built("CUDA", "02-global-atomics", "03-local-atomics", "04-per-thread-bins")
        name = f"{count.HIT_RATE}.pct"
        for chapter, arguments, picture, seen in self.rows():
            if picture == "ramp" or not set(CACHED) & set(arguments):
                continue
            launch = self.counted(chapter, arguments, picture, 64 << 20 if "1056" in arguments else 16 << 20)
            found = 100 * count.total(launch, "found", "global", "load") / count.total(launch, "sectors", "global", "load")
            with self.subTest(arguments=arguments):
                # With answers that come at once, `racy` would be 7 points off.
                self.assertAlmostEqual(found, seen[name], delta=5 if "racy" in arguments else 10)
            if "private" in arguments:  # its own array goes by way of the L2 cache, each time
                for direction, what in (("read", "load"), ("write", "store")):
                    sectors = sum(count.total(launch, "sectors", of, what) for of in ("own", "global"))
                    with self.subTest(direction=direction):
                        self.assertAlmostEqual(TWICE * sectors / seen[f"lts__t_sectors_op_{direction}.sum"], 1, delta=0.05)


class OpenCLCounts(Test):
    """A strategy is the same kernel in both, so its counts are equal: where the launch is the same, and the same two groups are
    counted. Only the loads that the cache finds come by chance."""

    LAUNCH = "--random", "256K"
    CASES = {"02-global-atomics": ("racy", "global", "subhist"), "03-local-atomics": ("local", "local-buckets", "local-subhist"),
             "04-per-thread-bins": ("private", "uchar-bins", "uchar-bins-banked", "lane-bins"),
             "05-launch-tuning": ("two-per-sm", "occupancy --groups 64", "vector --groups 64", "vector --groups 64 --pitch 4099",
                                 "tuned --copies 8 --loads 2 --groups 32 --group-size 256")}

    def test_equal(self):
        for api in ("CUDA", "OpenCL"):
            built(api, *self.CASES)
        for chapter, strategies in self.CASES.items():
            for strategy, *words in map(str.split, strategies):
                with self.subTest(strategy=strategy), groups(2):
                    cuda, opencl = (count.of_program(GIVEN.build, chapter, strategy, api, [*self.LAUNCH, *words])["launches"]
                                    for api in ("CUDA", "OpenCL"))
                    self.assertEqual(len(cuda), len(opencl))
                    for one, other in zip(cuda, opencl):
                        ahead = () if one["kernel"] == "sum_tables" else ("loads_ahead", "bytes_ahead")  # clang unrolls its loop
                        for name in ("groups", "group_size", "local_bytes", "barriers", *ahead):
                            self.assertEqual(one[name], other[name], (one["kernel"], name))
                        mine, its = totals(one), totals(other)
                        self.assertEqual(mine.keys(), its.keys())
                        for key in mine:
                            if key[-1] != "found":
                                self.assertAlmostEqual(mine[key], its[key], delta=1e-6 * mine[key], msg=(one["kernel"], key))
        for strategy in ("occupancy", "vector", "tuned"):  # whose launches an H100's driver decides
            asked = [count.of_program(GIVEN.build, "05-launch-tuning", strategy, api, [*self.LAUNCH])["launches"][0] for api in ("CUDA", "OpenCL")]
            self.assertEqual(*((launch["groups"], launch["group_size"]) for launch in asked))

    def test_exercise(self):
        """One that merges copy after copy, from copy 0, wants one bank with all lanes."""
        exercise = catalogue.exercise_of("04/copies")
        for api, target in (("cuda", ["run_emulated-counts"]), ("opencl", ["run_opencl", "oclgrind_counts"])):
            built({"cuda": "CUDA", "opencl": "OpenCL"}[api])
            programs.build(*target)
            run = count.run_of_exercise(exercise, ["--random", "256K"])
            for most, rotates in ((1, True), (32, False)):
                texts = {name: text if rotates else re.sub(r"\((item|threadIdx.x) \+ k\)", "k", text)
                         for name, text in exercise.solution(api).items()}
                try:
                    counts, = count.of_exercise(GIVEN.build, exercise, api, texts, run)
                except count.submitted_file.NothingToRunOn as why:
                    self.skipTest(str(why))
                line, = (line for line in counts["launches"][0]["lines"] if line["text"].startswith("sum +="))
                self.assertEqual((line["passes"] / line["requests"], line["largest_passes"]), (most, most), (api, rotates))


class Command(Test):
    def test_words(self):
        asked = count.Asked(["03", "local", "--groups", "5", "--api=opencl", "--like", "h200", "--json", "F", "a.bmp"])
        self.assertEqual((asked.chapter, asked.strategy, asked.api, asked.like, asked.json), ("03-local-atomics", "local", "OpenCL", "h200", "F"))
        self.assertEqual(asked.words, ["--groups", "5", "a.bmp"])
        for words in (["03"], ["09", "local"], ["01", "serial"], ["03", "local", "--api"], ["03", "local", "--api", "hip"], ["--json", "F"],
                      ["03", "local", "--like", "h300"], ["04/copies", "--random", "1024M"], ["04/copies", "--groups", "0"]):
            with self.subTest(words=words), self.assertRaises(BadInput):
                count.Asked(words)

    def test_what_is_missing_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            notes = pathlib.Path(folder, "CMakeCache.txt")
            for found, lacks in (("", "CUDA OpenCL"), ("TUTORIAL_CLANG:FILEPATH=/usr/bin/clang++\n", "OpenCL"),
                                 ("TUTORIAL_CLANG:FILEPATH=TUTORIAL_CLANG-NOTFOUND\n", "CUDA OpenCL")):
                notes.write_text(found)
                self.assertEqual([api for api in ("CUDA", "OpenCL") if count.missing(pathlib.Path(folder), api)], lacks.split())

    def test_what_is_shown_and_written(self):
        built("CUDA", "03-local-atomics")
        asked = count.Asked(["03", "local", "--api", "cuda", "--random", "1M"])
        counts = json.loads(json.dumps(asked.counts(GIVEN.build, "CUDA", count.ROOT)))
        said = count.in_words(counts)
        self.assertLessEqual(max(map(len, said.splitlines())), 80)
        self.assertRegex(said, r"passes of banks +3\.[0-9]+  l1tex__data_pipe_lsu_wavefronts_mem_shared\n")
        self.assertRegex(count.in_words({**counts, "pixels": 2 << 20}), "passes of banks +1\\.[5-9]")  # drawn on, for 32 of all pixels
        self.assertRegex(said + "\n", r"30  atomicAdd\(&table\[pixels\[i\]\], 1U\); +3\.[0-9]+ passes\n")
        self.assertEqual((counts["pixels"], counts["launches"][0]["kernel"]), (1 << 20, "histogram_local"))
        self.assertEqual(count.pixels_loaded(counts["launches"][0]), 1 << 20)
        lines = counts["launches"][0]["lines"]
        lines += [{**line, "what": "store"} for line in lines if line["text"].startswith("atomicAdd(&table")]
        self.assertRegex(count.in_words(counts) + "\n", r"U\); +6\.[0-9]+ passes\n")  # one line with all that it does

    def test_registers_let_fewer_groups_in(self):
        built("CUDA", "03-local-atomics")
        asked = count.Asked(["03", "local", "--random", "64K", "--registers", "64"])
        self.assertIn(" 4 fit at once (registers)", count.in_words(asked.counts(GIVEN.build, "CUDA", count.ROOT)))
        with self.assertRaises(BadInput):
            count.Asked(["03", "local", "--registers", "6"])
        built("CUDA", "05-launch-tuning")
        asked = count.Asked(["05", "tuned", "--random", "64K", "--copies", "32", "--loads", "3"])
        said = count.in_words(asked.counts(GIVEN.build, "CUDA", count.ROOT))
        self.assertRegex(said, r"(?s) 1 fit at once \(registers\)\..* [0-9]+  atomicAdd\(")  # and its lines, wherever they were compiled

    def test_the_table_of_a_run_ends_with_it(self):
        built("CUDA", "02-global-atomics", "04-per-thread-bins")
        of = [("02-global-atomics", "global"), ("04-per-thread-bins", "private"), ("02-global-atomics", "no-such")]
        with unittest.mock.patch.object(tutorial, "call", side_effect=[0, 2]):
            found = tutorial.predicted(of, str(programs.IMAGES / "landscape.bmp"), GIVEN.build)
            self.assertEqual(list(found), of[:1])  # caches decide for the second
            self.assertTrue(4 < found[of[0]] < 8, found)  # an H100: 5.8 GB/s
            self.assertEqual(tutorial.predicted(of, "", GIVEN.build), {})  # what counts cannot be built
            with unittest.mock.patch.object(count, "missing", return_value="there is no clang++"):
                self.assertEqual(tutorial.predicted(of, "", GIVEN.build), {})

    def test_the_table_of_a_run_is_shown_whatever_becomes_of_it(self):
        one = {"variant": "global", "check": "match", "reason": "", "kernel_ms": None, "gb_s": None, "speedup_over_serial": None}
        found = {"input": {"name": "x", "pixels": 1}, "device": "cpu", "api": "CUDA-on-CPU", "results": [one]}
        with unittest.mock.patch.multiple(tutorial, RESULTS=self.folder(), programs=lambda: [("02", "CUDA-on-CPU", "x", "")], say=lambda *_: None,
                                          results_of=lambda *_: (found, ""), predicted=unittest.mock.Mock(side_effect=KeyError("h100"))), \
                unittest.mock.patch("sys.stdout", io.StringIO()) as shown:
            self.assertEqual(tutorial.run(argparse.Namespace(picture="x")), 0)
        self.assertRegex(shown.getvalue(), r"\n02 +global .* match\n")

    def test_what_the_program_refuses_is_its_line(self):
        built("CUDA", "03-local-atomics")
        for words, says in ((["--random", "3X"], "'3X' is not a number of pixels"), (["none.bmp"], "none.bmp: No such file")):
            with self.subTest(words=words), self.assertRaises(count.Refused) as refused:
                count.of_program(GIVEN.build, "03-local-atomics", "local", "CUDA", words)
            self.assertEqual(refused.exception.args[0], 2)
            self.assertIn(says, refused.exception.args[1])

    def test_more_pixels_are_drawn_on(self):
        built("CUDA", "03-local-atomics")
        count.MOST["CUDA"] = 4 << 20
        with groups(4):
            far = count.of_program(GIVEN.build, "03-local-atomics", "local", "CUDA", ["--random", "16M"])["launches"][0]
            count.MOST["CUDA"] = 16 << 20
            all_of_it = count.of_program(GIVEN.build, "03-local-atomics", "local", "CUDA", ["--random", "16M"])["launches"][0]
        for key, number in totals(all_of_it).items():
            self.assertAlmostEqual(totals(far)[key], number, delta=0.02 * number, msg=key)


if __name__ == "__main__":  # test_slow.py takes from here, too
    programs.main()
