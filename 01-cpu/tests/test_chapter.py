"""What only chapter 01 tests: a processor without AVX-512, and the read ceiling."""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common" / "tests"))
import programs  # noqa: E402
from programs import QUICK, ROOT, Test  # noqa: E402

CPU = programs.built("01-cpu/cpu")


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


if __name__ == "__main__":
    programs.main()
