"""The gallery: each mistake of a chapter is made, caught by the input that shows it, called by its name, and not caught by
the input that hides it.

    test_gallery.py --program CHAPTER/API [--variant NAME] Chapter   API is opencl, cuda, cuda-on-cpu or cpu
    test_gallery.py Parser      what a file must and may say
"""

import functools
import pathlib
import re
import shlex
import sys
from unittest import mock

import gallery
from gallery import EMULATED, EMULATED_SAYS, POCL, ROOT

sys.path.append(str(ROOT / "common" / "tests"))
import programs  # noqa: E402
import served  # noqa: E402
from programs import BUILD, GIVEN, QUICK, Test  # noqa: E402

NO_DEVICE = 77


class NotAsWritten(AssertionError):
    """What a mistake does is not what its file says."""


class Skipped(Exception):
    """There is nothing to check it with."""


@functools.cache
def run(*command):
    """(exit status, all that it said)"""
    done = programs.Run(command)
    return done.status, done.out + done.err


class Check:
    """A mistake in one API, checked with the command that starts a program: the chapter's, or one that has the mistake. `ask` runs
    a command line of the chapter's program in a process that is there already."""

    def __init__(self, mistake, api, program, folder, ask=None):
        self.mistake, self.api = mistake.in_cuda() if api in ("cuda", EMULATED) else mistake, api
        if api == EMULATED and self.mistake.shows == "nothing":  # on a GPU
            self.mistake = mistake
        self.program, self.folder, self.ask = list(program), pathlib.Path(folder), ask
        self.command = []  # what was run last

    def words(self, arguments, more=(), right=False):
        words = ["--variant", self.mistake.variant, *QUICK]
        if self.api == "opencl" and "histogram.cl" in self.mistake.files() and not right:
            words += ["--kernels", str(self.folder / "histogram.cl")]
        return [*words, *more, *gallery.arguments_of(arguments)]

    def run(self, words, under=()):
        self.command = [*under, *self.program, *words]
        return run(*self.command)

    def check(self):
        """What was seen. Raises NotAsWritten, Skipped."""
        gallery.make(self.mistake, self.folder, self.mistake.files(self.api))
        if self.api == EMULATED:
            return self.emulated()
        if self.mistake.shows == "nothing":
            raise Skipped("nothing shows it for certain in CUDA")
        tool, _, arguments = self.mistake.shows.partition(" ")
        if re.fullmatch("oclgrind|tsan|[a-z]+check", tool):
            return self.under(tool, arguments)
        return self.by_itself()

    def under(self, tool, arguments):
        """What a detector says of it, and does not say of what is right or hides it."""
        if tool == "oclgrind" and self.api != "opencl":
            raise Skipped("Oclgrind alone shows it")
        program = {"oclgrind": BUILD["oclgrind"], "tsan": "in the program itself"}.get(tool, BUILD["compute_sanitizer"])
        if not program:
            raise Skipped(f"there is no {tool} for it")
        under, more = (program, "--tool", tool), ("--no-diagnosis",)
        if tool == "oclgrind":
            under, more = (program, "--data-races", "--max-errors", "20"), ("--device", "Oclgrind", "--no-diagnosis")
        elif tool == "tsan":
            under, more = (), ()
        _, said = self.run(self.words(arguments, more), under)
        if re.search("nothing to run it on|no CUDA device|unexpected memory mapping", said):
            raise Skipped(f"{tool} does not run here")
        if not re.search(self.mistake.names, said):
            raise NotAsWritten(f"{tool} does not say: {self.mistake.names}\n{said}")
        quiet = self.words(self.mistake.hides) if tool == "tsan" else self.words(arguments, more, right=True)
        if tool == "tsan" or (tool == "oclgrind" and "histogram.cl" in self.mistake.files()):
            status, said = self.run(quiet, under)
            if status != 0 or re.search(self.mistake.names, said):
                raise NotAsWritten(f"{tool} says so, too, where it is right: exit status {status}\n{said}")
        return f"{tool} says {self.mistake.names}"

    def emulated(self):
        """In CUDA on a CPU; what a tool says there has a line of the mistake's own source."""
        how, shows = self.mistake.emulated, gallery.without_tool(self.mistake.shows)
        if how == "nothing":
            raise Skipped("nothing shows it for certain on a CPU")
        status, said = self.run(self.words(shows, ("--no-diagnosis",)))
        if "unexpected memory mapping" in said:
            raise Skipped("ThreadSanitizer does not run here")
        if not how:
            if status != 1 and gallery.called(said) not in gallery.ENDS:
                raise NotAsWritten(f"not caught: exit status {status}\n{said}")
            return "caught"
        found = gallery.says_where(how, said)
        if not found:
            raise NotAsWritten(f"nothing says: {EMULATED_SAYS[how]}, and a line\n{said}")
        return f"{how} says so, at {found}"

    def result_of(self, words):
        """(exit status, the name, what was said)"""
        self.command = [*self.program, *words]
        answer = self.ask(words) if self.ask else None
        if answer is None or answer["kind"] in served.Served.ENDS:  # the program itself says what has become of it
            status, said = self.run(words)
            return status, gallery.called(said), said
        results = answer.get("run", {}).get("results", [{}])
        findings = results[0].get("diagnosis") or [{"name": "unclear"}]
        return answer["status"], findings[0]["name"], answer["error"] or results[0].get("reason", "")

    def by_itself(self):
        device = ("--device", POCL) if self.api == "opencl" else ()
        status, name, said = self.result_of(self.words(self.mistake.shows, device))
        if status == NO_DEVICE:
            raise Skipped("nothing to run it on")
        if status == 2 and "no OpenCL device is called" in said:
            raise Skipped("no PoCL (package pocl-opencl-icd)")
        if status != 1 and name not in gallery.ENDS:
            raise NotAsWritten(f"not caught: exit status {status}\n{said}")
        names = self.mistake.names.split()
        if self.api == "cpu":
            name = "nothing"  # chapter 01 is not looked into
        if name not in names:
            raise NotAsWritten(f"called {name}, and not {' or '.join(names)}\n{said}")
        if self.mistake.hides != "nothing":
            quiet = () if self.api == "cpu" else ("--no-diagnosis",)
            status, _, said = self.result_of(self.words(self.mistake.hides, (*device, *quiet)))
            if status != 0:
                raise NotAsWritten(f"not hidden: exit status {status}\n{said}")
        return f"called {name}"


class Chapter(Test):
    def test_each_mistake_is_caught_and_named(self):
        chapter, api = GIVEN.program.split("/")
        program, checked, skipped = GIVEN.build / GIVEN.program, 0, "nothing to run it on"
        mistakes = [one for one in gallery.mistakes(chapter) if one.files(api) and GIVEN.variant in ("", one.variant)]
        has_device = program.exists() and run(program, "--list-devices")[0] == 0
        if has_device and any(one.needs_program(api) for one in mistakes):
            programs.build(f"gallery_{chapter[:2]}_{api}")
        with served.Served(program) as one_process:
            for mistake in mistakes:
                alone, command = mistake.needs_program(api), gallery.command_of(GIVEN.build, mistake, api)
                check = Check(mistake, api, command, program.parent / "broken" / mistake.name, None if alone else one_process.ask)
                with self.subTest(mistake.number):
                    seen, wrong = "", None
                    try:
                        if alone and not has_device:
                            raise Skipped("nothing to run it on")
                        seen = check.check()
                        checked += 1
                    except Skipped as why:
                        skipped = str(why)
                        seen = f"skipped: {why}"
                    except (NotAsWritten, gallery.BadMistake) as error:
                        seen, wrong = "WRONG", error
                        checked += 1
                    print(f"{mistake.number} {mistake.name}: {seen}", flush=True)
                    if wrong:
                        again = check.command or ["python3", gallery.__file__, "make", mistake.number, check.folder]
                        self.fail(f"{mistake.number} {mistake.name}: {wrong}\n{shlex.join(map(str, again))}")
        if not checked:
            self.cannot_run(skipped)


HEAD = "A sentence.\nvariant: v\nshows: wrong\nhides: right\nnames: a-name\n"
CHANGE = "\n--- histogram.cl\n-three; [four]\n+four\n"


class Parser(Test):
    def setUp(self):
        self.chapter = self.folder() / "01-chapter"
        (self.chapter / "broken").mkdir(parents=True)
        (self.chapter / "histogram.cl").write_text("one\ntwo\ntwo\nthree; [four]\n")

    def mistakes(self, text, file="01-name.txt"):
        (self.chapter / "broken" / file).write_text(text)
        return gallery.mistakes(root=self.chapter.parent)

    def objects(self, says, *mistake):
        with self.assertRaisesRegex(gallery.BadMistake, says):
            gallery.make(self.mistakes(*mistake)[0], self.chapter / "made")

    def test_what_does_not_fit(self):
        for says, old in (("does not stand once in histogram.cl", "five"), ("does not stand once in histogram.cl", "two")):
            self.objects(says, f"{HEAD}\n--- histogram.cl\n-{old}\n+6\n")

    def test_what_lacks_something(self):
        self.objects("begins with a space, - or", f"{HEAD}\n--- histogram.cl\ntwo\n")
        self.objects("nothing is changed in histogram.cl", f"{HEAD}\n--- histogram.cl\n two\n")
        self.objects("nothing is changed", HEAD)
        self.objects("no line `hides:`", HEAD.replace("hides: right\n", "") + CHANGE)
        self.objects("no such field: shown", f"{HEAD}shown: wrong\n{CHANGE}")
        self.objects("no source of a chapter: kernel.cl", HEAD + CHANGE.replace("histogram.cl", "kernel.cl"))

    def test_numbers(self):
        self.mistakes(HEAD + CHANGE, "07-late.txt")
        found = self.mistakes(HEAD + CHANGE, "02-8-bit.txt")
        self.assertEqual([(one.number, one.name) for one in found], [("01/2", "8-bit"), ("01/7", "late")])
        self.objects("07-other.txt: 01/7 is 07-late.txt already", HEAD + CHANGE, "07-other.txt")

    def test_a_run_that_could_not_be_shows_no_mistake(self):
        with mock.patch.object(gallery, "mistakes", return_value=self.mistakes(HEAD + CHANGE)):  # a student's copy has no other
            broken = gallery.Broken("01/1", False)
        for does, ends in (("exit 1", 0), ("exit 66", 0), ("exit 2", 2), ("exit 77", 77), ("exit 0", 0), ("kill -9 $$", 137)):
            with mock.patch.multiple(broken, make=lambda: None, command=lambda does=does: ["sh", "-c", does], folder=self.chapter):
                self.assertEqual(broken.run(), ends)

if __name__ == "__main__":
    programs.main()
