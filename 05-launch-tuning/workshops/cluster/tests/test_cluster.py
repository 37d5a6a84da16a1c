"""Jobs of several ranks: each input, what goes wrong in one rank, and what is refused."""

import collections
import json
import os
import pathlib
import random
import re
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "common" / "tests"))
import programs  # noqa: E402
from programs import BUILD, CASES, GIVEN, IMAGES, QUICK, ROOT, Test  # noqa: E402

LAUNCHER = shlex.split(os.environ["MPI_LAUNCHER"])
# More ranks than cores, none bound to one, and one that waits leaves its core to others; a job that fails ends at once,
# not a second later; and the libraries of fast networks, such as UCX and PSM, are not asked, which takes longer than most
# jobs. For Open MPI 4 and 5, which also has to be told that root may use it; others pass over it.
os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_pml": "ob1",
               "OMPI_MCA_odls_base_sigkill_timeout": "0", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
               "PRTE_MCA_hwloc_default_binding_policy": "none", "PRTE_MCA_odls_base_sigkill_timeout": "0"}
# One of each kind: what a kernel does with the others its chapter tests, and small files are tried below.
INPUTS = ("size-0", "size-1", "size-257", "prime", "contention-40", "ramp", "constant-large", "tiled", "colour", "many blocks", "tiles")

def counts_of(pixels):
    """As --counts writes them."""
    counts = collections.Counter(pixels)
    return "bin,count\n" + "".join(f"{value},{counts[value]}\n" for value in range(256))


class Cluster:
    """The tests of one program, whose cache is the test's own."""

    def setUp(self):
        self.program = programs.built(f"05-launch-tuning/workshops/cluster/{self.api}")
        if not self.program:
            self.skipTest(f"cluster/{self.api} was not built")
        if BUILD["sanitize"]:
            self.skipTest("a build with sanitizers: what leaks is MPI's own")
        self.here = self.folder()
        self.kept = {"XDG_CACHE_HOME": str(self.here)}

    def command(self, ranks, *arguments, program=()):
        return [*LAUNCHER, str(ranks), *(program or [self.program]), *map(str, arguments)]

    def job(self, ranks, *arguments, **expected):
        return self.expect(self.command(ranks, *arguments), environment=self.kept, **expected)

    def counted(self, ranks, *arguments):
        """The counts of a job."""
        self.job(ranks, *arguments, "--counts", self.here / "counts.csv")
        return (self.here / "counts.csv").read_text()

    def ends(self, status, command, *words, environment=()):
        """The job ends so, and one line, no more, has each of the words."""
        run = programs.Run(command, {**self.kept, **dict(environment)})
        if run.status == 77 != status:
            self.cannot_run(run.err)
        self.assertEqual(run.status, status, run)
        lines = [line for line in (run.out + run.err).splitlines() if line.startswith("05-launch-tuning/workshops/cluster/")]
        self.assertEqual(len(lines), 1, run)
        for word in words:
            self.assertIn(word, lines[0])

    def test_inputs_on_one_to_four_ranks(self):
        """Each checks itself, and chapter 01 counts the same."""
        lines = [(case["name"], [str(ROOT / word) if word.startswith("images/") else word for word in case["arguments"]])
                 for case in CASES["inputs"]]
        lines += [("many blocks", ["--random", "3000001", "--contention", "40"]), ("tiles", [str(IMAGES / "landscape.bmp"), "--tile", "5M"])]
        for turn, (name, arguments) in enumerate(lines):
            if name in INPUTS:
                with self.subTest(name):
                    counts = self.counted(turn % 4 + 1, *arguments, "--repeat", "2", "--check")
                    self.expect([programs.built("01-cpu/cpu"), *arguments, *QUICK, "--variant", "serial", "--counts", self.here / "one.csv"])
                    self.assertEqual(counts, (self.here / "one.csv").read_text())

    def test_json(self):
        file = self.here / "out.json"
        self.job(2, "--random", "3000001", "--json", file)
        self.assertRegex(self.document(file, "cluster")["mpi"], r"^[A-Z][\w ]*MPI|^MPI")

    def test_options_that_mean_nothing_here(self):
        own = ["groups", "group-size"] if self.api == "cpu" else ["no-diagnosis"]
        for option in ["plot", "no-ceiling", "time-limit", *own]:
            self.expect([self.program, f"--{option}", "1"], 2, err=f"--{option} means nothing here: ", one_line=True)

    def test_no_such_device(self):
        self.ends(2, self.command(2, "--random", "1000", "--device", "nosuch"), "nosuch", "rank 0 of 2")


class Cpu(Cluster, Test):
    """Also what is the same in both programs."""

    api = "cpu"

    def test_files_of_every_size(self):
        file = self.here / "file.raw"
        for ranks, size in enumerate((0, 1, 15, 16, 17, 100003), 1):
            with self.subTest(size=size):
                pixels = random.Random(size).randbytes(size)
                file.write_bytes(pixels)
                self.assertEqual(self.counted(ranks, "--raw", file, "--check"), counts_of(pixels))

    def test_a_rank_that_sees_other_files(self):
        """Only --check sees that it is another one of the same size; and a wrong result is in no file."""
        counts, document, both = self.here / "counts.csv", self.here / "run.json", []
        for rank, text in enumerate(("abcdef", None)):
            folder = self.here / str(rank)
            folder.mkdir()
            if text:
                (folder / "file.raw").write_text(text)
            both.append(["-n", "1", "-wdir", str(folder), self.program, "--raw", "file.raw", "--check", "--counts", counts, "--json", document])
        command = [*LAUNCHER[:-1], *both[0], ":", *both[1]]
        self.ends(2, command, "file.raw: No such file", "rank 1 of 2")
        (folder / "file.raw").write_text("abc")
        self.ends(2, command, "rank 0 has another command line or other files", "rank 1 of 2")
        (folder / "file.raw").write_text("abcdeg")
        self.expect(command, 1, out="check: does not match", environment=self.kept,
                    err="does not match: total: expected 6, got 6; the first wrong bin is 102: expected 1, got 0\n")
        self.assertFalse(counts.exists())
        self.assertEqual(json.loads(document.read_text())["check"], "mismatch")

    def test_pixels_that_are_lost(self):
        """They are seen without --check, too."""
        self.program = GIVEN.build / "05-launch-tuning/workshops/cluster/lossy_cluster"
        self.job(2, "--random", "1000", status=1, err="does not match: 998 pixels were counted, and there are 1000\n")

    def test_a_rank_with_another_command_line(self):
        self.ends(2, self.command(1, "--random", "1000", ":", "-n", "1", self.program, "--random", "1000", "--seed", "2"),
                  "rank 0 has another command line", "rank 1 of 2")

    def test_a_file_that_is_shorter_than_it_says(self):
        file = pathlib.Path("/sys/devices/system/cpu/online")
        if not file.exists():
            self.skipTest(f"no {file}")
        self.ends(2, self.command(1, "--raw", file), "online: fewer than 4096 bytes", "rank 0 of 1")

    def test_several_programs_of_which_mpi_knows_one(self):
        command = [self.program, "--random", "1000"]
        for variable in ("OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "PMI_SIZE"):
            self.ends(2, command, f"4 programs were started ({variable})", environment={variable: "4"})
        # An mpirun of one program, in each of four tasks.
        self.expect(command, environment={**self.kept, "OMPI_COMM_WORLD_SIZE": "1", "SLURM_STEP_NUM_TASKS": "4"})

    def test_a_file_that_cannot_be_written(self):
        self.ends(2, self.command(2, "--random", "1000", "--json", "/nosuch/folder/run.json"), "/nosuch/folder")

    def test_an_output_is_no_input(self):
        file = self.here / "file.json"
        file.write_text("abca")
        self.ends(2, self.command(2, "--raw", file, "--json", file), "--raw and --json name the same file")
        self.assertEqual(file.read_text(), "abca")

    def test_what_cannot_be_counted(self):
        pipe, picture = self.here / "pipe", self.here / "bad.pgm"
        os.mkfifo(pipe)
        picture.write_text("P5 20 20 255\nshort")
        for words, says in ((("--raw", IMAGES), "images: "), (("--raw", pipe), "pipe: "), ((IMAGES,), "images: "), ((picture,), "bad.pgm: "),
                            (("--raw", picture, "--random", "5"), "exclude each other"), (("--random", (1 << 60) + 1), "at most 1152921504606846976 ")):
            self.ends(2, self.command(2, *words), says, "rank 0 of 2")

    def test_ranks_with_nothing_to_do(self):
        said = self.job(4, "--random", "3", "--check", out="(?m)^3 .* 0 .*\\n\\nall: ").out
        # Each part of the time is told once.
        counting, waiting = map(float, re.search(r"(?m)^0 .* ([\d.]+) +([\d.]+)$", said).groups())
        merging, whole = (float(re.search(f"{before} ([0-9.]+) ", said)[1]) for before in ("counters:", "\nall:"))
        self.assertAlmostEqual(counting + waiting + merging / 1000, whole, delta=0.02 * whole)

    def test_more_pixels_than_32_bits(self):
        if os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < 7 << 30:
            self.skipTest("this machine has less than 7 GiB of memory")
        counts = self.counted(2, "--constant", "127", "--random", "4100M")
        self.assertIn("\n127,4299161600\n", counts)
        self.assertEqual(counts.count(",0\n"), 255)


class Cuda(Cluster, Test):
    api = "cuda"

    def test_no_device(self):
        self.ends(77, self.command(2, "--random", "1000"), "rank 0 of 2", environment={"CUDA_VISIBLE_DEVICES": ""})

    def test_groups_that_are_too_large(self):
        self.ends(2, self.command(1, "--random", "1000", "--group-size", "1048576"), "1048576")


if __name__ == "__main__":
    programs.main()
