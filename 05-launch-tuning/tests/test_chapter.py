"""What only chapter 05 tests: its own options, races in every kernel that `tuned` may be, and its workshops."""

import json
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common" / "tests"))
import programs  # noqa: E402
from programs import BUILD, DETECTORS, IMAGES, QUICK, ROOT, Test  # noqa: E402

FOLDER = "05-launch-tuning"
SMALL = ["--random", "100003", "--repeat", "1"]


class Workshop:
    """Programs of this chapter, whose caches are the test's own: what is kept on this machine must not decide."""

    def setUp(self):
        self.cache = self.folder()
        self.kept = {"XDG_CACHE_HOME": str(self.cache)}

    def program(self, name):
        path = programs.built(f"{FOLDER}/{name}")
        if not path:
            self.skipTest(f"{FOLDER}/{name} was not built")
        return path

    def each_api(self, workshop):
        """The programs of a workshop, or of the lesson, that were built."""
        return self.built_in(f"{FOLDER}/{workshop}".rstrip("/"), ("opencl", "cuda"))

    def refused(self, program, rows):
        for arguments, says in rows.items():
            with self.subTest(program=program, arguments=arguments):
                self.expect([program, *arguments.split(" ")], 2, err=says, one_line=True, environment=self.kept)

    def mistaken(self, kernels, right, wrong):
        """A copy of a kernel file of this chapter with one text in the place of another, which stands there once."""
        text = (ROOT / FOLDER / kernels).read_text(encoding="utf-8")
        self.assertEqual(text.count(right), 1)
        copy = self.folder() / "kernels.cl"
        copy.write_text(text.replace(right, wrong))
        return copy

    def looked_at(self, name, *arguments, also=""):
        """Oclgrind finds nothing in this program, nor does it say anything else."""
        run = programs.Run([*self.oclgrind(*DETECTORS["oclgrind"]["options"]), self.program(name), *arguments, *QUICK, "--device", "Oclgrind"],
                           self.kept)
        self.assertEqual(run.status, 0, run)
        self.assertNotRegex(run.out + run.err, programs.finds("oclgrind") + also, run)

    def looked_at_on_a_cpu(self, name, *arguments):
        """The sanitizers find nothing in this program of CUDA on a CPU."""
        for sanitizer in ("thread", "address"):
            program = programs.sanitized(self.program(name), sanitizer)
            if not program.exists():
                self.skipTest(f"{program} was not built")
            with self.subTest(sanitizer=sanitizer, arguments=arguments):
                # That a load's address is no multiple of its size, a processor does not mind.
                self.assertEqual(b"__ubsan_handle_type_mismatch" in program.read_bytes(), sanitizer == "address")
                run = self.expect([program, *arguments, *QUICK])
                self.assertNotRegex(run.out + run.err, programs.finds("emulated"), run)

    def json_is_right(self, command, definition):
        file = self.folder() / "out.json"
        self.expect([*command, "--json", file], environment=self.kept)
        return self.document(file, definition)


class Lesson(Workshop, Test):
    """The options of chapter 05's own programs."""

    def test_bad_command_lines(self):
        for program in self.each_api(""):
            self.refused(program, {"--pitch 511": "--pitch 511: a row of this picture has 512 pixels", "--copies 3": "--copies",
                                   "--loads 5": "--loads", "--launches 3": "--launches"})

    def test_a_compiler_that_hangs_later(self):
        self.expect([self.program("opencl"), *SMALL, "--no-ceiling"], 2, environment={**self.kept, **self.faulty("hang=rebuild")},
                    err="\ncompiling: not done after 120 s")

    def test_a_device_whose_groups_are_flat(self):
        self.expect([self.program("opencl"), "--variant", "vector", "--pitch", "513", *QUICK], 77, environment=self.faulty("flat"), out=" x 1\n$")

    def test_totals_that_are_left(self):
        """Between two runs, also where the counts are right."""
        zeroed = "atom_xchg(&totals[bin * APART], 0UL);"
        kernels = self.mistaken("histogram.cl", zeroed, zeroed + " totals[1] = 1;")
        self.expect([self.program("opencl"), "--kernels", kernels, "--variant", "tuned", "--random", "1K", *QUICK], 2, environment=self.kept,
                    err="the last launch did not leave its totals at zero")


class OpenCLResident(Workshop, Test):
    """How many work-items a device holds, as an extension of NVIDIA's tells it. (A processor that claims to have it.)"""

    def says(self, words, *parts):
        self.expect([self.program("opencl"), "--random", "1000", "--variant", "occupancy", "--group-size", "16", "--groups", "4", *QUICK],
                    environment=self.faulty(words), err=re.escape(" work-items (".join(parts)) + r"\) / groups of 16 = 4\n")

    def test_nvidia(self):
        for major, minor, items in ((7, 0, 2048), (7, 5, 1024), (8, 0, 2048), (8, 6, 1536), (8, 7, 1536), (9, 0, 2048), (10, 0, 2048), (12, 1, 1536)):
            self.says(f"extensions=cl_nv_device_attribute_query info-4000={major} info-4001={minor}",
                      f" units x {items}", f"compute capability {major}.{minor}")

    def test_as_many_groups_as_the_numbers_give(self):
        for api in ("opencl", "cuda-on-cpu"):
            with self.subTest(api):
                file = self.folder() / "run.json"
                run = self.expect([self.program(api), "--random", "1000", "--variant", "occupancy", *QUICK, "--json", file])
                units, items, size, groups = map(int, re.search(r"(\d+) units x (\d+) [^\n]*/ \w+ of (\d+) = (\d+)", run.err).groups())
                self.assertEqual((groups, json.loads(file.read_text())["results"][0]["groups"]), (units * items // size,) * 2)

    def test_a_device_that_does_not_tell(self):
        self.says("group=64", " units x 64", "its largest group; this device does not tell how many it holds")


class OpenCLRaces(Workshop, Test):
    """What only chapter 05's kernels have to show under the detector."""

    def lesson(self, *arguments):
        self.looked_at("opencl", *arguments, also="|does not fit")

    def test_tuned(self):
        """In all its shapes, also where the detector sees what is read behind the picture: with one load there
        are several steps, so that the last must ask for nothing."""
        large = str(DETECTORS["larger_than_bins"][0])
        for group_size, *options in (("64", "--copies", "1"), (large, "--copies", "1"), ("64", "--copies", "16"),
                                     ("64", "--copies", "16", "--loads", "1"), ("64", "--copies", "1", "--launches", "two")):
            with self.subTest(group_size=group_size, options=options):
                self.lesson("--random", "5000", "--variant", "tuned", *options, "--offset", "3",
                               "--group-size", group_size, "--groups", "3")

    def test_second_turns(self):
        """Of the loops that the other launches go through once: over rows, and over the few pixels before and behind vectors."""
        few = ["--offset", "1", "--groups", "1", "--group-size", "8"]
        for variant in ("occupancy", "vector"):
            with self.subTest(variant):
                words = "--variant", variant, str(IMAGES / "two-tone.bmp"), "--pitch", "131", *few
                self.lesson(*words)
                self.looked_at_on_a_cpu("cuda-on-cpu", *words)
        self.lesson("--variant", "tuned", "--random", "5000", *few)


class Tune(Workshop, Test):
    """The search, from the first launch to what is kept of it, and what the lesson's program makes of that."""

    def tuned(self, lesson, says):
        self.expect([lesson, "--random", "100003", "--variant", "tuned", *QUICK], environment=self.kept, out="\ntuned [^\n]* match\n", err=says)

    def keeps_what_it_finds(self, tune, lesson):
        devices = self.expect([tune, "--list-devices"], err="^$", environment=self.kept).out
        self.assertEqual(devices, self.expect([lesson, "--list-devices"], environment=self.kept).out)
        self.tuned(lesson, "the rule of thumb, as tune has not run here")
        file = self.folder() / "tune.json"
        done = self.expect([tune, "--seconds", "0.3", "--json", file], environment=self.kept,
                           out=r"(?s)\n256 Ki pixels +\d+ cop[^\n]* [0-9.]+ +[0-9.]+\n.*\nkept for `tuned` in [^\n]+\n$",
                           err="  1 of [0-9]+ launches\n")
        kept = [path for path in (self.cache / "histogram-tutorials").rglob("*") if path.is_file()]
        self.assertEqual([str(path) for path in kept], re.findall("kept for `tuned` in (.+)\n$", done.out))
        found = json.loads(file.read_text())
        lines = [line.split("\t") for line in kept[0].read_text().splitlines()]
        self.assertEqual({tuple(line[:3]) for line in lines}, {(found["api"], found["device"], found["driver"])})
        self.assertLessEqual({int(line[3]) for line in lines}, {trial["pixels"] for trial in found["trials"]})
        self.tuned(lesson, "found by tune on 20")
        kept[0].write_text(kept[0].read_text()[:-30])
        self.tuned(lesson, "tuned, ")
        kept[0].write_text("\t".join(lines[0][:2]))
        self.tuned(lesson, "the rule of thumb, as tune has not run here")
        self.expect([tune, "--seconds", "0.3"], environment=self.kept)
        self.tuned(lesson, "  tuned, [^\n]*found by tune on 20")
        # What cannot be written is said before the search, and nothing is waited for.
        self.expect([tune, "--json", kept[0]], 2, environment=self.kept, err="the launches and --json name the same file", one_line=True)
        kept[0].unlink()
        self.expect([tune, "--json", kept[0]], 2, environment=self.kept, err="the launches and --json name the same file", one_line=True)
        os.mkfifo(kept[0])
        self.expect([tune], 2, environment=self.kept, err="a named pipe", one_line=True)
        self.tuned(lesson, "the rule of thumb, as tune has not run here")

    def test_each_api(self):
        for program in self.each_api("workshops/tune/"):
            with self.subTest(program):
                self.setUp()  # a cache of its own
                self.keeps_what_it_finds(program, self.program(pathlib.Path(program).name))

    def test_json(self):
        for program in self.each_api("workshops/tune/"):
            with self.subTest(program):
                self.json_is_right([program, "--seconds", "0.3"], "search")

    def test_bad_command_lines(self):
        for program in self.each_api("workshops/tune/"):
            self.refused(program, {"--seconds 0": "--seconds", "picture.bmp": "picture.bmp", "--device nosuch-device": "nosuch-device|no CUDA device",
                                   "--json /nosuch/folder/out.json": "/nosuch/folder",
                                   "--list-devices --seconds 3": "excludes", "--list-devices --json nosuch.json": "excludes"}
                         if "cuda" not in program else {"--seconds 0": "--seconds", "picture.bmp": "picture.bmp"})

    def test_a_small_device_without_a_clock(self):
        self.expect([self.program("workshops/tune/opencl"), "--seconds", "0.1"], err="from here on the host's clock is used",
                    environment={**self.kept, **self.faulty("group=32 local=16384 memory=8388608 times=zero")})

    def test_what_the_device_refuses_is_told_from_what_fails(self):
        # The kernel that is tried first on a processor.
        tune, kernel = self.program("workshops/tune/opencl"), "histogram_tuned"
        self.expect([tune, "--seconds", "0.1"], 2, environment={**self.kept, **self.faulty(f"fails={kernel}")},
                    err=r"^  FAILED: [0-9]+ cop[^\n]*\n[^\n]*tune/opencl: CL_OUT_OF_RESOURCES \(-5\) from clEnqueueReadBuffer[^\n]*\n$")
        self.assertFalse((self.cache / "histogram-tutorials").exists())
        self.expect([tune, "--seconds", "0.3"], 2, environment={**self.kept, **self.faulty(f"refuses={kernel}")},
                    out="\n  refused: CL_OUT_OF_RESOURCES\n", err="no launch could be measured; nothing is kept\n$")


class EndToEnd(Workshop, Test):
    """Copies and counts that overlap, in one chunk, in several, and in one that is not full."""

    WAYS = ("copy", "pageable", "pinned", "pipelined", "mapped")

    def test_each_api(self):
        for program in self.built_in(f"{FOLDER}/workshops/end-to-end"):
            for arguments in ("--random 1 --repeat 2", "--random 100003 --repeat 2", "--random 40000003 --repeat 1",
                              "--constant 127 --random 1M --repeat 1", "--random 100003 --repeat 1 --variant pipelined"):
                with self.subTest(program=program, arguments=arguments):
                    self.expect([program, *arguments.split(" ")], environment=self.kept)

    def test_json(self):
        for program in self.each_api("workshops/end-to-end/"):
            with self.subTest(program):
                found = self.json_is_right([program, "--random", "100003", "--repeat", "2"], "run")
                self.assertEqual([(way["variant"], way["check"], way["clock"]) for way in found["results"]],
                                 [(way, "match", "host") for way in self.WAYS])

    def test_a_way_that_counts_nothing(self):
        """The counts that the way before has left in its row do not help it."""
        begin = "    __local uint table[BINS * COPIES];\n"
        kernels = self.mistaken("histogram.cl", begin, begin + "    if (histogram[0] == 0xA5A5A5A5) return;\n")
        self.expect([self.program("workshops/end-to-end/opencl"), *SMALL, "--kernels", kernels, "--no-diagnosis"], 1, environment=self.kept,
                    out="".join(rf"{way} [^\n]* mismatch: 256 of 256 bins wrong[^\n]*\n" for way in self.WAYS) + "$")

    def test_copies_that_do_not_arrive(self):
        """The pixels that the copy before has left there do not help them."""
        self.expect([self.program("workshops/end-to-end/opencl"), *SMALL, "--no-diagnosis"], 1,
                    environment={**self.kept, **self.faulty("copies=first")},
                    out="".join(rf"{way} [^\n]* mismatch[^\n]*\n" for way in self.WAYS[:4]) + "mapped [^\n]* match")

    def test_the_copy_is_waited_for(self):
        self.expect([self.program("workshops/end-to-end/opencl"), *SMALL, "--variant", "copy"], out=r"\ncopy +[1-9]\d\d [^\n]* match\n",
                    environment={**self.kept, **self.faulty("copies=late")})

    def test_percent_of_the_copy(self):
        """As the table has it: copy, median, ..., percent."""
        for program in self.each_api("workshops/end-to-end/"):
            with self.subTest(program):
                table = self.expect([program, "--random", "4000003", "--repeat", "3"], environment=self.kept).out
                rows = {line.split()[0]: line.split() for line in table.splitlines() if line.endswith(" match")}
                self.assertEqual(rows["copy"][-2], "100")
                for row in rows.values():
                    self.assertAlmostEqual(float(row[-2]) * float(row[1]) / float(rows["copy"][1]), 100, delta=1.5)
                alone = self.expect([program, *SMALL, "--variant", "pinned"], environment=self.kept).out
                self.assertRegex(alone, r"\npinned [^\n]* -  match\n$")

    def test_bad_command_lines(self):
        for program in self.each_api("workshops/end-to-end/"):
            self.refused(program, {"--plot x.png": "nothing to draw", "--variant nosuch": "it has copy, pageable, pinned, pipelined, mapped"})
            self.expect([program, *SMALL, "--groups", "2147483647"], 2, err="groups are far too many", environment=self.kept)
        self.refused(self.program("workshops/end-to-end/opencl"), {"--random 0": "no pixels to copy"})

    def test_strange_devices(self):
        program = self.program("workshops/end-to-end/opencl")
        self.expect([program, *SMALL], environment={**self.kept, **self.faulty("group=32 local=16384 no-profiling")},
                    out="".join(rf"{way} [^\n]* match\n" for way in self.WAYS) + "$")
        self.expect([program, *SMALL], environment={**self.kept, **self.faulty("extensions=-cl_khr_int64_base_atomics")})
        self.expect([program, *SMALL], 2, environment={**self.kept, **self.faulty("memory=65536")}, one_line=True,
                    err="take 100003 bytes, and this device has at most 65536 ")
        self.expect([program, *SMALL, "--time-limit", "1"], 2, environment={**self.kept, **self.faulty("hang=copy")},
                    err="copy: a run has not ended after 1 s: ")


class Many(Workshop, Test):
    """Many pictures: races, and what the options refuse."""

    CUT = ["--random", "4K", "--side", "20", "--groups", "3", "--group-size", "16"]  # the last picture is not whole

    def test_bad_command_lines(self):
        self.refused(self.program("workshops/many/cuda-on-cpu"), {"--side ": "--side: '' is not a whole number", "--copies 3": "--copies",
                                                                  "--side 0": "--side: '0' is not a whole number", "--side 9..3": "--side"})

    def test_races_between_pictures_in_cuda(self):
        for variant in ("queued", "group-each"):
            self.looked_at_on_a_cpu("workshops/many/cuda-on-cpu", "--variant", variant, *self.CUT)


class Bins(Workshop, Test):
    """More bins than 256: a table that has no room, and races in pixels of 16 bits. (bins_test.cpp has what is refused.)"""

    def test_a_table_that_does_not_fit(self):
        self.expect([self.program("workshops/bins/cuda-on-cpu"), "--random", "1000", "--bins", "65536", *QUICK],
                    out=r"\nlocal .* skipped: a table of 262144 bytes, and a group has 49152 of local memory\n")

    def test_races_in_cuda(self):
        self.looked_at_on_a_cpu("workshops/bins/cuda-on-cpu", "--random", "5000", "--bins", "1024", "--groups", "2", "--group-size", "16")


class CudaMany(Workshop, Test):
    """What only a GPU has: pictures one after the other under its detectors."""

    def test_races_between_pictures(self):
        program = self.program("workshops/many/cuda")
        if not BUILD["compute_sanitizer"]:
            self.skipTest("no compute-sanitizer (it comes with the CUDA toolkit)")
        self.expect([program, "--list-devices"])
        for tool in DETECTORS["compute-sanitizer"]["tools"]:
            with self.subTest(tool):
                run = self.expect([BUILD["compute_sanitizer"], "--tool", tool, "--error-exitcode", "1", program, "--random", "500003",
                                   "--side", "200", "--groups", "7", *QUICK])
                self.assertNotRegex(run.out + run.err, programs.finds("compute-sanitizer"), run)


class CudaPeers(Workshop, Test):
    """The comparison with the libraries, from a queue that is full."""

    def test_queued(self):
        self.expect([self.program("workshops/peers/cuda"), "--queued", "--repeat", "20"], environment=self.kept)


if __name__ == "__main__":
    programs.main()
