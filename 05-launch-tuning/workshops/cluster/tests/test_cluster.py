"""Jobs of several ranks: what they count, what goes wrong in one rank, and what is refused."""

import json
import os
import pathlib
import re
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "common" / "tests"))
import programs  # noqa: E402
from programs import BUILD, IMAGES, Test  # noqa: E402

LAUNCHER = shlex.split(os.environ["MPI_LAUNCHER"])
# More ranks than cores, and as root. A job that fails ends at once, and nobody looks for fast networks, which takes longer than most jobs.
os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_pml": "ob1",
               "OMPI_MCA_odls_base_sigkill_timeout": "0", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
               "PRTE_MCA_hwloc_default_binding_policy": "none", "PRTE_MCA_odls_base_sigkill_timeout": "0"}


class Cluster:
    """The tests of one program, whose cache is the test's own."""

    def setUp(self):
        self.program = programs.built(f"05-launch-tuning/workshops/cluster/{self.api}")
        if not self.program or BUILD["sanitize"]:
            self.skipTest("not built, or with sanitizers: what leaks is MPI's own")
        self.file = self.folder() / "run.json"
        self.environment = {"XDG_CACHE_HOME": str(self.file.parent)}

    def job(self, ranks, *arguments, status=0, environment=(), **expected):
        command = [*LAUNCHER, ranks, self.program, "--json", self.file, *arguments]
        return self.expect(command, status, environment={**self.environment, **dict(environment)}, **expected)

    def refused(self, speaker, why, *command, status=2, environment=()):
        """All ranks end with this status, and one line of one rank says why."""
        run = self.job(*command, status=status, environment=environment)
        lines = [line for line in (run.out + run.err).splitlines() if line.startswith("05-launch-tuning/workshops/cluster/")]
        self.assertRegex("\n".join(lines), rf"\A[^\n]*rank {speaker} of 2 [^\n]*{re.escape(why)}[^\n]*\Z")

    def test_all_pixels_are_counted_once(self):
        """The program holds them against the serial loop over the pixels of all ranks."""
        for ranks, words in enumerate((["--random", "0"], ["--random", "1"], ["--random", "3000001", "--contention", "40"],
                                       [IMAGES / "landscape.bmp", "--tile", "5M"], ["--constant", "7", "--random", "2"]), 1):
            self.job(min(ranks, 4), *words, "--repeat", "2", out="check: match")
            document = self.document(self.file, "cluster")
            self.assertEqual(sum(document["counts"]), document["input"]["pixels"])
        self.assertEqual([document["counts"][7], document["check"], document["all_ms"]["runs"]], [2, "match", 2])

    def test_a_rank_with_other_pixels(self):
        self.refused(0, "one rank has 5 pixels to count, and another one 6", 1, "--random", "5", ":", "-n", "1", self.program, "--random", "6")
        self.job(1, "--constant", "3", "--random", "5", ":", "-n", "1", self.program, "--constant", "4", "--random", "5",
                 status=1, out="check: mismatch")

    def test_a_run_that_is_wrong_before_one_that_is_right(self):
        library = pathlib.Path(self.program).with_name("lib05-launch-tuning-workshops-cluster-wrong_sum.so")
        self.job(1, "--random", "5", "--repeat", "2", environment={"LD_PRELOAD": str(library)}, status=1, out="check: mismatch")

    def test_a_rank_that_fails(self):
        self.refused(1, "nosuch.bmp", 1, "--random", "5", ":", "-n", "1", self.program, "nosuch.bmp")
        self.refused(0, "--plot means nothing here", 2, "--plot", "a.png")
        self.file = "/dev/full"  # which shows when the others no longer ask
        self.refused(0, "cannot write /dev/full", 2, "--random", "5")


class Cpu(Cluster, Test):
    api = "cpu"

    def test_more_pixels_than_32_bits(self):
        if os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < 7 << 30:
            self.skipTest("this machine has less than 7 GiB of memory")
        self.job(2, "--constant", "127", "--random", "4100M")
        self.assertEqual(json.loads(self.file.read_text())["counts"][126:129], [0, 4299161600, 0])


class Cuda(Cluster, Test):
    api = "cuda"

    def test_no_device(self):
        self.refused(0, "no CUDA device", 2, "--random", "1000", status=77, environment={"CUDA_VISIBLE_DEVICES": ""})


if __name__ == "__main__":
    programs.main()
