"""The probes give the right answer in every arrangement, in both APIs, and notice a wrong one."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "common" / "tests"))
import programs  # noqa: E402
from programs import QUICK, ROOT, Test  # noqa: E402

FOLDER = "05-launch-tuning/workshops/probes"
ARRANGEMENTS = (
    "contention --counters 1", "contention --counters 2 --spacing 1280 --together 32", "contention --counters 4 --spacing 32",
    "contention --counters 65536 --spacing 128",
    "chase", "read --bytes 1", "read --bytes 4 --counted 2",
    "read --bytes 4 --loads 2", "read", "read --counted 0 --loads 4 --groups 7 --group-size 32", "read --counted 12")
# What a kernel should do, and a mistake in it.
MISTAKES = (("contention", "& mask) * spacing", "& mask) * spacing + spacing / 2"),
            ("contention", "        uint x = (uint)i", "        if (i == 0) atomic_inc(&counters[1]);\n        uint x = (uint)i"),
            ("chase", "hop = 0", "hop = 1"),
            ("read", "first + k < COUNTED", "first + k <= COUNTED"))


class Probes(Test):
    def program(self, api):
        return programs.built(f"{FOLDER}/{api}") or self.skipTest(f"{api} was not built")

    def test_each_api(self):
        for program in self.built_in(FOLDER):
            for words in ARRANGEMENTS:
                with self.subTest(program=program, words=words):
                    self.expect([program, "--random", "16K", *QUICK, "--variant", *words.split()], out=r" match\n")

    def test_what_cannot_be_run(self):
        program = self.program("cuda-on-cpu")
        for words, why in (("1000 --variant chase", "not whole lines"), ("1001 --variant read", "not whole loads"),
                           ("16 --variant read --bytes 4 --counted 8", "no more pixels than bytes"),
                           ("16 --variant read --loads 2 --counted 1", "no pixel is counted")):
            self.expect([program, "--random", *words.split(), *QUICK], 77, out=why)
        self.expect([program, "--random", "0", *QUICK], 2, err="there are no pixels", one_line=True)

    def test_a_mistake_is_noticed(self):
        program = self.program("opencl")
        text = (ROOT / FOLDER / "probes.cl").read_text()
        for probe, right, wrong in MISTAKES:
            self.assertEqual(text.count(right), 1)
            kernels = self.folder() / "probes.cl"
            kernels.write_text(text.replace(right, wrong))
            self.expect([program, "--random", "16K", *QUICK, "--variant", probe, "--kernels", kernels, "--counted", "8",
                         "--spacing", "32"], 1, out=f"{probe} .* mismatch")


if __name__ == "__main__":
    programs.main()
