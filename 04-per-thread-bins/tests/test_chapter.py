"""What only chapter 04 tests: the published mistake, which is broken on purpose."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common" / "tests"))
import programs  # noqa: E402
from programs import QUICK, Test  # noqa: E402


class Overflow(Test):
    """256 equal pixels for each work-item: every 8-bit counter comes back to 0, and the check sees it."""

    def is_caught(self, name):
        program = programs.built(name)
        if not program:
            self.skipTest(f"{name} was not built")
        self.expect([program, "--constant", "127", "--random", "4M", "--variant", "uchar-overflow", *QUICK], 1, err="wrong bins: 1 of 256")

    def test_opencl(self):
        self.is_caught("04-per-thread-bins/opencl")

    def test_cuda(self):
        self.is_caught("04-per-thread-bins/cuda")


if __name__ == "__main__":
    programs.main()
