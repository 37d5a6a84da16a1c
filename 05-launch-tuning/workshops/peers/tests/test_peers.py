"""The comparison with other people's loops on the CPU."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "common" / "tests"))
import programs  # noqa: E402
from programs import GIVEN, ROOT, Test  # noqa: E402

FOLDER = "05-launch-tuning/workshops/peers"
PEERS, LIBRARIES = programs.built(f"{FOLDER}/cpu"), GIVEN.build / FOLDER


class Peers(Test):
    """Other people's loops: what is installed takes part, what is not is no failure, and a library of one's own."""

    def library(self, name):
        return LIBRARIES / f"lib05-launch-tuning-workshops-peers-{name}.so"

    def test_a_library(self):
        self.expect([PEERS, "--random", "100003", "--repeat", "2", "--variant", "serial", "--peer", self.library("right")],
                    out="(?s)check\n.*-\nserial [^\n]* match\nforwards [^\n]* match\nbackwards [^\n]* match\n$")

    def test_a_library_with_a_mistake(self):
        self.expect([PEERS, "--random", "100003", "--repeat", "2", "--variant", "serial", "--peer", self.library("wrong")], 1,
                    err="backwards: does not match the CPU, before timing\n",
                    out="(?s)forwards [^\n]* match\nbackwards [^\n]* mismatch: [0-9]+ of 256 bins wrong[^\n]*\n$")

    def test_a_time_is_of_one_picture(self):
        file = self.folder() / "run.json"
        self.expect([PEERS, "--random", "1000", "--repeat", "5", "--variant", "serial", "--json", file])
        (row,) = json.loads(file.read_text())["results"]
        self.assertLess(row["kernel_ms"]["min"], 0.05)  # of a thousand in a row

    def test_bad_command_lines(self):
        for arguments, says in (("--peer nosuch.so", "--peer: .*nosuch.so: cannot open"),
                                (f"--peer {ROOT}/01-cpu/cpu.cpp", "--peer: .*cpu.cpp"),
                                ("--group-size 64", "--group-size means nothing here"),
                                ("--groups 2000", "more than 1024 threads")):
            self.expect([PEERS, *arguments.split(" ")], 2, err=says, one_line=True)


if __name__ == "__main__":
    programs.main()
