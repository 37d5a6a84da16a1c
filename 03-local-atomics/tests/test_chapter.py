"""What only chapter 03 tests: mistakes that a comparison with the CPU on PoCL does not show, in the launch in which its
kernels are tested for races. PoCL works through the items of a group one by one, and in groups of 256 and less the
second barrier is for everyone."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common" / "tests"))
import programs  # noqa: E402
from programs import DETECTORS, QUICK, Test  # noqa: E402

OPENCL = programs.built("03-local-atomics/opencl")
# A kernel of the test's own: the reader edits the chapter's.
KERNEL = """
__kernel void histogram_local(__global const uchar* pixels, ulong count, __global uint* histogram) {
    __local uint table[256];
    const size_t item = get_local_id(0);
    for (size_t bin = item; bin < 256; bin += get_local_size(0)) table[bin] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) atomic_inc(&table[pixels[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t bin = item; bin < 256; bin += get_local_size(0)) atomic_add(&histogram[bin], table[bin]);
}
"""


class OpenCLDetector(Test):
    """Oclgrind says what is wrong, and says nothing of a right kernel."""

    def says(self, kernels):
        file = self.folder() / "histogram.cl"
        file.write_text(kernels, encoding="utf-8")
        run = programs.Run([*self.oclgrind("--data-races", "--max-errors", "1"), OPENCL, "--random", "1000", "--variant", "local", *QUICK,
                            "--kernels", file, "--device", "Oclgrind", "--group-size", str(DETECTORS["larger_than_bins"][0]), "--groups", "3"])
        return run.out + run.err

    def test_planted(self):
        right = self.says(KERNEL)
        self.assertIn(" match\n", right)
        for text, by, expected in (("atomic_inc(&table[pixels[i]])", "++table[pixels[i]]", "data race at"),
                                   ("    barrier(", "    if (item < 256) barrier(", "divergence detected")):
            self.assertNotIn(expected, right)
            self.assertIn(expected, self.says(KERNEL.replace(text, by)))


if __name__ == "__main__":
    programs.main()
