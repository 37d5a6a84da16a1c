"""A program on all that it is tested with: every strategy on every input and in every launch of common/run/cases.json, and of
tests/cases.json beside its source where there is one.

    self_test.py PROGRAM [--variant NAME] [--may-skip]

One process of it makes them all (served.py), so that each takes no longer than it must; a crash or a hang costs one case. Says a line for
each case that fails, with the command that repeats it, and at the end how many there were. A launch that the device has no room
for is skipped; an input never is, but with --may-skip. Exit status: 0 all match, 1 one does not, 77 nothing could run.
"""

import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import time
from collections import namedtuple

from served import Served

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAX_NOT_FINISHED = 3

Case = namedtuple("Case", "name words variants is_input")  # variants: to which it means something; none: to all


def cases_for(about):
    """What all programs are tested on, and what only those of its folder are; cases with_choices once more for each of their values."""
    folder = ROOT / about["chapter"] / pathlib.Path(about["program"]).parent
    for file in filter(pathlib.Path.exists, (ROOT / "common/run/cases.json", folder / "tests/cases.json")):
        kinds = json.loads(file.read_text(encoding="utf-8"))
        for kind in ("inputs", "launches") if about["api"] != "C++" else ("inputs",):
            for one in kinds.get(kind, []):
                words = one.get("emulated", one["arguments"]) if about["emulated"] else one["arguments"]
                if one.get("api", about["api"]) != about["api"] or words == "never":
                    continue
                words = [str(ROOT / word) if word.startswith("images/") else word for word in words]
                yield Case(one["name"], words, one.get("variants"), kind == "inputs")
                for choice in about["choices"] if one.get("with_choices") else ():
                    for value in choice["values"]:
                        option = [f"--{choice['name']}", value]
                        yield Case(" ".join([one["name"], *option]), words + option, choice["variants"], False)


class NothingToRunOn(Exception):
    """With the program's own reason."""


class SelfTest:
    def __init__(self, program, about, may_skip):
        self.program, self.may_skip = program, may_skip
        self.cases = list(cases_for(about))
        # A diagnosis is asked for by hand.
        self.quick = ["--no-ceiling"] if about["api"] == "C++" else ["--no-ceiling", "--no-diagnosis"]
        self.served = Served(program)
        self.matched = self.skipped = self.failed = self.not_finished = 0

    def fail(self, variant, case, why, words):
        self.failed += 1
        print(f"FAILED {variant} on {case.name}: {why}; again: {shlex.join([self.program, *words])}")

    def ask(self, words):
        """The check of a run, and why it is not a match."""
        answer = self.served.ask([*words, *self.quick])
        if answer["kind"] == "nothing-to-run-on":
            raise NothingToRunOn(answer["error"])
        results = answer.get("run", {}).get("results", [])
        if len(results) == 1:
            return results[0]["check"], results[0]["reason"]
        return "skipped" if answer["kind"] == "unsupported" else answer["kind"], answer["error"]

    def test(self, variant):
        """False where it is of no use to go on."""
        matched, failed, skipped, skipped_because = self.matched, self.failed, [], ""
        for case in self.cases:
            if case.variants and variant not in case.variants:
                continue
            # One timed run is enough where the case does not say how many.
            words = [*case.words, "--variant", variant, *([] if "--repeat" in case.words else ["--repeat", "1"])]
            check, why = self.ask(words)
            if check == "crashed" and why == self.served.CRASHED:
                # Perhaps it is the runs before that have written where they should not.
                check, again = self.ask(words)
                if again != why:
                    check, why = "crashed", "it crashes behind other runs, not alone"
            if check == "does-not-build":
                self.failed += 1
                print(f"FAILED {variant}: {why}")
                return False
            if check == "match":
                self.matched += 1
            elif check == "skipped":
                self.skipped += 1
                if case.is_input:
                    skipped.append((case, words))
                    skipped_because = why
            else:
                self.fail(variant, case, why, words)
                self.not_finished += why == self.served.NOT_FINISHED
                if self.not_finished == MAX_NOT_FINISHED:
                    print(f"FAILED {variant}: no more cases are tried after {MAX_NOT_FINISHED} like this")
                    return False
        # One input that is skipped would go unnoticed among others that match.
        if self.matched > matched and not self.may_skip:
            for case, words in skipped:
                self.fail(variant, case, f"skipped, unlike others: {skipped_because}", words)
        if (self.matched, self.failed) == (matched, failed):
            print(f"skipped {variant}: {skipped_because}")
            self.failed += not self.may_skip  # a device is there
        return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--variant", default="all")
    parser.add_argument("--may-skip", action="store_true")
    given = parser.parse_args()
    about = json.loads(subprocess.run([given.program, "--describe"], check=True, capture_output=True, text=True).stdout)
    names = [each["name"] for each in about["variants"] if each["name"] == given.variant or
             (given.variant == "all" and not each["broken_on_purpose"])]
    if not names:
        parser.error(f"{given.program} has no {given.variant}")
    test, began = SelfTest(given.program, about, given.may_skip), time.monotonic()
    try:
        with test.served:
            all(test.test(name) for name in names)
    except NothingToRunOn as why:
        print(why, file=sys.stderr)
        return 77
    print(f"{test.matched} cases match, {test.skipped} skipped, {test.failed} failed ({time.monotonic() - began:.1f} s)")
    return 1 if test.failed else 0 if test.matched else 77


if __name__ == "__main__":
    sys.exit(main())
