"""What only chapter 03 tests: mistakes that a comparison with the CPU on PoCL does not show, in the launch in which its
kernels are tested for races. PoCL works through the items of a group one by one, and in groups of 256 and less the
second barrier is for everyone."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common" / "tests"))
import programs  # noqa: E402
from programs import DETECTORS, QUICK, ROOT, Test  # noqa: E402

OPENCL = programs.built("03-local-atomics/opencl")
KERNELS = (ROOT / "03-local-atomics/histogram.cl").read_text(encoding="utf-8")


class OpenCLDetector(Test):
    """Oclgrind says what is wrong, and says nothing of the right kernels."""

    def says(self, kernels):
        file = self.folder() / "histogram.cl"
        file.write_text(kernels, encoding="utf-8")
        run = programs.Run([*self.oclgrind("--data-races", "--max-errors", "1"), OPENCL, "--random", "1000", "--variant", "local", *QUICK,
                            "--kernels", file, "--device", "Oclgrind", "--group-size", str(DETECTORS["larger_than_bins"][0]), "--groups", "3"])
        return run.out + run.err

    def test_planted(self):
        right = self.says(KERNELS)
        for text, by, expected in (("atomic_inc(&table[pixels[i]])", "++table[pixels[i]]", "data race at"),
                                   ("    barrier(", "    if (item < 256) barrier(", "divergence detected")):
            self.assertIn(text, KERNELS)
            self.assertNotIn(expected, right)
            self.assertIn(expected, self.says(KERNELS.replace(text, by)))


if __name__ == "__main__":
    programs.main()
