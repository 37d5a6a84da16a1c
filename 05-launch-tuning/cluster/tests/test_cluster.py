"""Jobs of several ranks: each input, pictures, what goes wrong in one rank, and what is refused."""

import os
import pathlib
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "common" / "tests"))
import outputs  # noqa: E402
import programs  # noqa: E402
from programs import BUILD, CASES, GIVEN, IMAGES, ROOT, Test  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
LAUNCHER = shlex.split(os.environ["MPI_LAUNCHER"])
# More ranks than cores, none bound to one, and one that waits leaves its core to others; a job that fails ends at once,
# not a second later; and the libraries of fast networks, such as UCX and PSM, are not asked, which takes longer than most
# jobs. For Open MPI 4 and 5, which also has to be told that root may use it; others pass over it.
os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_pml": "ob1",
               "OMPI_MCA_odls_base_sigkill_timeout": "0", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
               "PRTE_MCA_hwloc_default_binding_policy": "none", "PRTE_MCA_odls_base_sigkill_timeout": "0"}
ON_DEVICES = ("size-0", "size-1", "size-257", "prime", "contention-40", "ramp", "tiled", "colour")
JOBS = {"cpu": "bad-picture bad-picture-skipped as-chapter-01 killed unreadable-on-one-rank shorter-on-one-rank becomes-shorter other-program "
               "other-command-line no-launcher no-such-device not-writable idle-ranks help more-than-32-bits",
        "opencl": "bad-picture bad-picture-skipped as-chapter-01 killed other-kernels no-such-device no-device",
        "cuda": "bad-picture bad-picture-skipped as-chapter-01 killed no-such-device no-device"}


def inputs():
    for case in CASES["inputs"]:
        yield case["name"], [str(ROOT / word) if word.startswith("images/") else word for word in case["arguments"]]


class Cluster:
    """The tests of one program, whose cache is the test's own."""

    def setUp(self):
        self.program = programs.built(f"05-launch-tuning/cluster/{self.api}")
        if not self.program:
            self.skipTest(f"cluster/{self.api} was not built")
        if BUILD["sanitize"]:
            self.skipTest("a build with sanitizers: what leaks is MPI's own")
        self.kept = {"XDG_CACHE_HOME": str(self.folder())}

    def job(self, ranks, *arguments):
        return self.expect([*LAUNCHER, str(ranks), self.program, *arguments], environment=self.kept)

    def test_inputs_on_one_to_four_ranks(self):
        for turn, (name, arguments) in enumerate(inputs()):
            if self.api == "cpu" or name in ON_DEVICES:
                with self.subTest(name):
                    self.job(turn % 4 + 1, *arguments, "--chunk", "20011", "--check")

    def test_folders_and_parts_of_pictures(self):
        self.job(3, IMAGES, "--check", "--each", self.folder() / "each.csv")
        self.job(2, IMAGES, "--check", "--chunk", "4099")

    def test_resident(self):
        self.job(2, "--random", "3000001", "--resident", "--repeat", "3", "--check")

    def test_json(self):
        if outputs.jsonschema is None:
            self.skipTest("no Python module jsonschema (package python3-jsonschema)")
        file = self.folder() / "out.json"
        self.job(2, "--random", "3000001", "--json", file)
        outputs.document_of(file, "cluster")

    def test_more_pixels_than_the_device_has_memory_for(self):
        if self.api == "opencl":
            self.expect([self.program, "--random", "1000003", "--chunk", "16384", "--check"],
                        environment={**self.kept, **self.faulty("memory=65536")})

    def test_options_that_mean_nothing_here(self):
        own = ["groups", "group-size"] if self.api == "cpu" else ["no-diagnosis"]
        for option in ["plot", "no-ceiling", "time-limit", *own]:
            self.expect([self.program, f"--{option}", "1"], 2, err=f"--{option} means nothing here: ", one_line=True)

    def test_what_goes_wrong_in_a_job(self):
        environment = {**self.kept, "KERNELS": str(ROOT / "05-launch-tuning/histogram.cl"), "CHAPTER_01": programs.built("01-cpu/cpu"),
                       "IMAGE": str(IMAGES / "landscape.bmp"), "OTHER": programs.built("05-launch-tuning/cluster/opencl") or ""}
        for case in JOBS[self.api].split():
            with self.subTest(case):
                self.expect(["sh", HERE / "jobs.sh", case, self.folder(), self.program, *LAUNCHER], environment=environment)


class Cpu(Cluster, Test):
    api = "cpu"

    def test_all_inputs_on_1_to_8_ranks_in_one_job(self):
        lines = [" ".join(f'"{word}"' if "/" in word else word for word in arguments) for _, arguments in inputs()]
        self.expect([*LAUNCHER, "8", GIVEN.build / "05-launch-tuning/cluster/work_queue_test", self.folder(), *lines], environment=self.kept)


class OpenCL(Cluster, Test):
    api = "opencl"


class Cuda(Cluster, Test):
    api = "cuda"


if __name__ == "__main__":
    programs.main()
