"""What only chapter 01 tests: a processor without AVX-512, and its workshop `peers`."""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common" / "tests"))
import programs  # noqa: E402
from programs import GIVEN, QUICK, ROOT, Test  # noqa: E402

CPU, PEERS = programs.built("01-cpu/cpu"), programs.built("01-cpu/peers/cpu")
LIBRARIES = GIVEN.build / "01-cpu" / "peers"


class WithoutSimd(Test):
    """simd is skipped where the processor, or the user, has none of it."""

    def test_off(self):
        self.expect([CPU, "--simd", "off", *QUICK],
                    out="(?s)\nsimd [^\n]* skipped: --simd off\n.*\nthreads-simd [^\n]* skipped: --simd off\n$")

    def test_the_processor_is_asked_for_all_that_is_compiled_for(self):
        compiled = re.search(r"set\(avx512 ([^)]*)\)", (ROOT / "01-cpu/CMakeLists.txt").read_text(encoding="utf-8"))[1]
        asked = re.findall(r'__builtin_cpu_supports\("([a-z0-9]+)"\)', (ROOT / "01-cpu/simd.hpp").read_text(encoding="utf-8"))
        self.assertEqual(sorted(asked), sorted(flag.removeprefix("-m") for flag in compiled.split()))


class Ceiling(Test):
    """A read ceiling is measured, and one thread that counts one pixel after the other stays below it."""

    def test_ceiling(self):
        file = self.folder() / "run.json"
        self.expect([CPU, "--random", "16M", "--variant", "serial", "--repeat", "1", "--json", file])
        self.assertLess(json.loads(file.read_text())["results"][0]["percent_of_ceiling"], 90)


class Peers(Test):
    """Other people's loops: what is installed takes part, what is not is no failure, and a library of one's own."""

    def library(self, name):
        return LIBRARIES / f"lib01-cpu-peers-{name}.so"

    def test_a_library(self):
        self.expect([PEERS, "--random", "100003", "--repeat", "2", "--variant", "serial", "--peer", self.library("right")],
                    out="(?s)one-by-one: of its 2 functions the fastest was (forwards|backwards)\n.*x best peer +check\n"
                        ".*-\nserial [^\n]* match\none-by-one [^\n]* match\nreference [^\n]* match\n$")

    def test_a_library_with_a_mistake(self):
        self.expect([PEERS, "--random", "100003", "--repeat", "2", "--variant", "serial", "--peer", self.library("wrong")], 1,
                    err="one-by-one backwards: does not match the CPU\n",
                    out="(?s)one-by-one [^\n]* mismatch: backwards: [0-9]+ of 256 bins wrong\nreference [^\n]* match\n$")

    def test_nothing_installed(self):
        self.expect([LIBRARIES / "01-cpu-peers-alone", "--random", "100003", "--repeat", "1"],
                    err="opencv: skipped, not found[^\n]*\n  zstd: skipped, not found[^\n]*\n  numpy: skipped, not found",
                    out="(?s)serial [^\n]* - +match\n.*opencv [^\n]*skipped: not found.*\nzstd [^\n]*skipped.*\nnumpy [^\n]*skipped[^\n]*\n$")

    def test_bad_command_lines(self):
        for arguments, says in (("--peer nosuch.so", "--peer: .*nosuch.so: cannot open"),
                                (f"--peer {self.library('taken')}", "--peer: the name is taken: serial"),
                                (f"--peer {ROOT}/01-cpu/cpu.cpp", "--peer: .*cpu.cpp"),
                                ("--group-size 64", "--group-size means nothing here"),
                                ("--groups 2000", "more than 1024 threads")):
            self.expect([PEERS, *arguments.split(" ")], 2, err=says, one_line=True)


if __name__ == "__main__":
    programs.main()
