#!/usr/bin/env python3
"""The gallery of mistakes: what the files in the chapters' broken/ and slow/ say, and the sources with the mistake in them.

    gallery.py make MISTAKE FOLDER [FILE]    the sources that it changes, or one of them, changed, into the folder
    gallery.py cmake CHAPTER                 the programs that its mistakes need: API|how|files of the chapter
    gallery.py together CHAPTER API HOW FILE  the source of such a program, with all of its mistakes

A mistake is named by its number, such as 03/4, its name, or its file. It is a text file, such as
03-local-atomics/broken/04-NAME.txt. Its number never changes; a new mistake gets the next one of its chapter.

    What is wrong, in one sentence.
    variant: local                       the strategy that has it
    shows: --random 100003               an input and a launch on which the result is wrong
    hides: --constant 7 --random 4K      and one on which it is right all the same; or `nothing`
    names: merge-strided-globally        what the diagnosis calls it; several where they cannot be told apart
    seen: where it was seen in print     (optional)

    --- histogram.cl
     lines that stand in this file once, as in a patch:
    -one that goes
    +one that comes
    --- cuda.cu
    ...

`shows` may also be `oclgrind` and an input, for what the results on a CPU do not show, or by luck only: `names` is
then the words that Oclgrind says. `gpu:`, `gpu-shows:` and `gpu-hides:` stand for `names`, `shows` and `hides` in CUDA,
where they differ. `gpu-shows` may begin with a tool of compute-sanitizer, such as racecheck, and `gpu` is then what that
says; it is `nothing` where no run and no tool shows it for certain. `shows` may begin with `tsan` in chapter 01, where
the program is built with ThreadSanitizer then; what it shows is called nothing there. `wgsl:` and `wgsl-shows:` stand for
`names` and `shows` where the page docs/site/play/lab.html runs it; `wgsl` may also be `nothing`, or `refused` and words of
WGSL's compiler, which then refuses it.

`emulated:` says what shows it in CUDA on a CPU: thread, address (the sanitizers), launch (which ends with an error), or
`nothing`. Where it is left out, the result is wrong.

What stands in slow/, such as 03-local-atomics/slow/01-NAME.txt, is right and slow. Beside `variant` and `shows` it has

    beside: --random 256M --groups 1056  (optional) the launch of what is fast, where the launch is the cause; nothing need be changed
    limit: memory                        what limits it (common/tutor/counting/model.py)
    counts: sectors                      what is less without it: a word of COUNTED (common/tutor/counting/slow.py)
    gain: 7.6                            how many times as fast an H100 would be, by the model; `none` where that gives no number
"""

import collections
import contextlib
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[3]
POCL = "Portable Computing Language"  # what shows, and as what, is written down for it: a GPU may stand before it
FILES = {"opencl": ("opencl.cpp", "histogram.cl"), "cuda": ("cuda.cu", "histogram.cuh"), "cpu": ("cpu.cpp", "histogram.hpp"),
         "wgsl": ("histogram.wgsl",)}
EMULATED = "cuda-on-cpu"
EMULATED_SAYS = {"thread": "ThreadSanitizer: data race", "address": "AddressSanitizer: [a-z-]+",
                 "launch": "not all threads of a block reach the same __syncthreads"}
ENDS = ("out-of-bounds", "does-not-end")  # what leaves no counts: the program ends with status 2
NAMED = re.compile(rf"^  why[^\n]*\(([a-z0-9-]+)\)$|\(({'|'.join(ENDS)})\)", re.MULTILINE)


class BadMistake(Exception):
    """A file that is no mistake, or fits the sources no more."""


class Refused(Exception):
    """What ./tutorial does not do: (exit status, why; lines below it)."""


class Change(NamedTuple):
    """What stands once in a source of the chapter, and what stands there instead."""

    file: str
    old: str
    new: str


# By the folder; of broken/ the first four are needed, of slow/ all but the last.
FIELDS = {"broken": ("variant", "shows", "hides", "names", "gpu", "gpu_shows", "gpu_hides", "wgsl", "wgsl_shows", "seen", "emulated"),
          "slow": ("variant", "shows", "limit", "counts", "gain", "beside")}
ALL = tuple(dict.fromkeys(FIELDS["broken"] + FIELDS["slow"]))


class Mistake(collections.namedtuple("Mistake", ["path", "name", "chapter", "number", "sentence", "changes", *ALL], defaults=[""] * len(ALL))):
    """What its file says. Its number, such as 03/4, says nothing of what is wrong."""

    def files(self, api=""):
        """The sources that it changes; or those of one API."""
        files = dict.fromkeys(change.file for change in self.changes)
        return [file for file in files if not api or file in FILES["cuda" if api == EMULATED else api]]

    def needs_program(self, api):
        """Whether it needs a program of its own. OpenCL's kernels are read at run time, and WGSL's run in a page."""
        return any(file not in ("histogram.cl", "histogram.wgsl") for file in self.files(api))

    def how(self, api):
        """How the program is built that it shows in: thread and address are sanitizers, plain is without one."""
        if api == "cpu":
            return "thread" if self.shows.startswith("tsan ") else "plain"
        return self.emulated if api == EMULATED and self.emulated in ("thread", "address") else "plain"

    def in_cuda(self):
        """What it is there."""
        return self._replace(names=self.gpu or self.names, shows=self.gpu_shows or self.shows, hides=self.gpu_hides or self.hides)

    # ---- of what is slow ----

    def picture(self):
        """As the recorded results call it."""
        return next((name for name in ("ramp", "constant") if f"--{name} " in self.shows), "uniform")

    def launches(self):
        """The options of its launch, and of that beside it."""
        return [re.sub(r"--(ramp|constant [0-9]+|random \w+) ?", "", words).split() for words in (self.shows, self.beside or self.shows)]

    def edit(self, file):
        """All that it changes in a source, as one text that stands there once, and what comes in its place. Raises BadMistake."""
        old, new = (self.path.parent.parent / file).read_text(encoding="utf-8"), changed(self, file)
        spans = [(old.index(change.old), old.index(change.old) + len(change.old)) for change in self.changes if change.file == file]
        begin, end = min(spans)[0], max(spans)[1]
        return old[begin:end], new[begin:len(new) + end - len(old)]


def parse(path):
    """The mistake in this file, or what is slow in it. Raises BadMistake."""
    number, _, name = path.stem.partition("-")
    if not re.fullmatch("[0-9]{2}", number) or not name:
        raise BadMistake(f"{path}: its name has no number of two digits, as 07-NAME.txt has")
    head, *parts = path.read_text(encoding="utf-8").split("\n--- ")
    sentence, *lines = head.splitlines()
    kind = path.parent.name
    fields, known = {}, FIELDS[kind]
    for line in filter(None, lines):
        field, _, value = line.partition(":")
        fields[field.replace("-", "_")] = value.strip()
        if field.replace("-", "_") not in known:
            raise BadMistake(f"{path}: no such field: {line}")
    for field in known[:-1] if kind == "slow" else known[:4]:
        if not fields.get(field):
            raise BadMistake(f"{path}: no line `{field}:`")
    if not parts and not fields.get("beside"):
        raise BadMistake(f"{path}: nothing is changed")
    changes = []
    for part in parts:
        file, *lines = part.splitlines()
        if not any(file in files for files in FILES.values()):
            raise BadMistake(f"{path}: no source of a chapter: {file}")
        if wrong := [line for line in lines if line[:1] not in ("", " ", "-", "+")]:
            raise BadMistake(f"{path}: a line of a patch begins with a space, - or +: {wrong[0]}")
        old, new = ("".join(f"{line[1:]}\n" for line in lines if line[:1] != other) for other in "+-")
        if old == new:
            raise BadMistake(f"{path}: nothing is changed in {file}")
        changes.append(Change(file, old, new))
    chapter = path.parent.parent.name
    return Mistake(path, name, chapter, f"{chapter[:2]}/{int(number)}", sentence, tuple(changes), **fields)


def mistakes(chapter="0*", root=ROOT, folder="broken"):
    """All of them, by number; or those of one chapter. Raises BadMistake."""
    found = [parse(path) for path in sorted(root.glob(f"{chapter}/{folder}/*.txt"))]
    taken = {}
    for one in found:
        for what in (one.number, f"{one.chapter}/{one.name}"):
            other = taken.setdefault(what, one)
            if other is not one:
                raise BadMistake(f"{one.path}: {what} is {other.path.name} already")
    return found


def find(word, folder="broken"):
    """The mistake of this number, name or file."""
    found = [one for one in mistakes(folder=folder) if word in (one.number, one.name) or pathlib.Path(word).resolve() == one.path]
    if not found:
        what = "mistake" if folder == "broken" else "slow kernel"
        raise Refused(2, f"there is no {what} '{word}': ./tutorial {folder} lists them")
    return found[-1]


def make(mistake, folder, files=()):
    """The chapter's sources that it changes, or these of them, changed, into the folder. Raises BadMistake."""
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for file in files or mistake.files():
        pathlib.Path(folder, file).write_text(changed(mistake, file), encoding="utf-8")


def arguments_of(shows):
    """The words of an input and a launch."""
    return shlex.split(shows.replace("PICTURES", shlex.quote(str(ROOT / "images"))))


def changed(mistake, file):
    """The text of a source of the chapter, with the mistake in it. Raises BadMistake."""
    text = (mistake.path.parent.parent / file).read_text(encoding="utf-8")
    for change in mistake.changes:
        if change.file != file:
            continue
        text = replaced(text, change.old, change.new, f"{mistake.path}: this does not stand once in {file}")
    return text


def replaced(text, old, new, wrong):
    """The text with one in place of the other, which stands in it once. Raises BadMistake, which begins with what is wrong."""
    if text.count(old) != 1:
        raise BadMistake(f"{wrong}:\n{old}")
    return text.replace(old, new)


def sources(chapter, api):
    """What is compiled of a chapter, headers first."""
    if api == "opencl":  # kernels are read at run time
        return ["opencl.cpp"]
    return ["histogram.hpp", "cpu.cpp"] if api == "cpu" else [
        "histogram.cuh", *sorted(path.name for path in (ROOT / chapter).glob("*.cu") if path.name != "first.cu")]  # a program of its own


KERNEL = re.compile(r"^((?:template <([^>]*)>\n)?(?:static )?__global__ void (\w+)\(([^)]*)\) \{\n).*?^\}$", re.DOTALL | re.MULTILINE)


def choosing(kernels, numbers):
    """CUDA's kernels, each of which is that of the mistake that was chosen: so they need one host program."""
    def names(parameters):
        return ", ".join(re.findall(r"(\w+)(?=,|$)", " ".join((parameters or "").split())))

    within = "".join(f"{name}::" for name in re.findall(r"^namespace (\w+) ", kernels, re.MULTILINE))

    def body(kernel):
        head, template, name, parameters = kernel.groups()
        call = name + (f"<{names(template)}>" if template else "") + f"({names(parameters)})"
        return head + "".join(f"    if (chosen == {number}) return mistake_{number}::{within}{call};\n" for number in numbers) + "}"

    return KERNEL.sub(body, kernels)


def together(chapter, api, how, file):
    """One source of the mistakes of a chapter that need a program and show in one that is built so (plain, thread, address), each in
    a namespace of its own: to compile each by itself takes several times as long. Where one is in CUDA's kernels alone, so is its
    namespace, and all such share the host program."""
    found = [one for one in mistakes(chapter) if one.needs_program(api) and one.how(api) == how]
    include = re.compile(r"^#(?:include .*|pragma once)$", re.MULTILINE)
    headers, parts, table, shared = {}, ["static int chosen = 0;"], [], []

    def add(namespace, place, texts):
        parts.append(f"namespace {namespace} {{")
        for name, text in texts.items():
            headers.update(dict.fromkeys(line for line in include.findall(text) if f'"{chapter}/histogram.' not in line and "pragma" not in line))
            parts.append(f'#line 1 "{place}/{name}"\n' + include.sub("", text))
        parts.append("}")

    right = {name: (ROOT / chapter / name).read_text(encoding="utf-8") for name in sources(chapter, api)}
    for number, one in enumerate(found):
        # Not where kernels take structures, of which each namespace has its own; nor on a GPU, whose kernels call no kernel.
        of_kernels = api == EMULATED and one.files(api) == ["histogram.cuh"] and "struct " not in right["histogram.cuh"]
        try:
            texts = {name: changed(one, name) for name in (one.files(api) if of_kernels else sources(chapter, api))}
        except BadMistake:  # as its test says; the others can be run
            continue
        add(f"mistake_{number}", f'build/broken/{one.number.replace("/", "-")}', texts)
        shared += [number] if of_kernels else []
        host = "shared" if of_kernels else f"mistake_{number}"
        table.append(f'    if (name == "{one.name}") return chosen = {number}, {host}::main(argc, argv);')
    if shared:
        add("shared", chapter, {**right, "histogram.cuh": choosing(right["histogram.cuh"], shared)})
    text = "\n".join([*headers, "#include <cstdio>", "#include <cstdlib>", "#include <string>", *parts, "int main(int argc, char** argv) {",
                      '    const char* const given = std::getenv("MISTAKE");', '    const std::string name = given != nullptr ? given : "";',
                      *table, '    std::fputs("MISTAKE names none of this program\\n", stderr);', "    return 2;", "}", ""])
    pathlib.Path(file).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(file).write_text(text, encoding="utf-8")


def command_of(build, mistake, api, how=""):
    """The command that starts the program with this mistake; its kernel file is added later."""
    folder = pathlib.Path(build, mistake.chapter)
    if not mistake.needs_program(api):
        return [str(folder / api)]
    return ["env", f"MISTAKE={mistake.name}", str(folder / "broken" / f"{api}-{how or mistake.how(api)}" / api)]


def without_tool(shows):
    """The same without the tool that it may begin with."""
    return re.sub(r"^([a-z]+check|oclgrind|tsan) ", "", shows)


def says_where(how, said):
    """The file and line that thread, address or launch names; None where it says nothing."""
    found = re.search(rf"{EMULATED_SAYS[how]}(?s:.*?)((?:histogram\.cuh|cuda\.cu):[0-9]+)", said)
    return found and found[1]


def first_race(said):
    """ThreadSanitizer's first report: what accesses, who, and where in the chapter's sources; or its first words."""
    lines = ["ThreadSanitizer: data race"]
    for part in said.partition("SUMMARY:")[0].split("\n\n"):
        access = re.search(r"(?mi)^  ((?:previous )?(?:atomic )?(?:read|write) of size .*):$", part)
        if access:
            where = re.search(r"(?:histogram\.hpp|cpu\.cpp):[0-9]+", part)
            lost = "no line (is there a symbolizer? package llvm)" if "<null>" in part else "it no longer knows where"
            lines.append(f"  {access[1]}: {where[0] if where else lost}")
    return lines if lines[1:] else said.splitlines()[:1]


def called(said):
    """What a program called the mistake that it saw."""
    match = NAMED.search(said)
    return (match[1] or match[2]) if match else "unclear"


# ---- ./tutorial broken -----------------------------------------------------------------------------


def listing():
    found = mistakes()
    if not found:
        raise Refused(2, "this copy has no gallery of mistakes")
    print("Each has one mistake. Find it: ./tutorial broken NUMBER, such as 01/1, runs it where it shows, and says where its source is.\n")
    for one in found:
        print(f"  {one.number:<6} {one.variant:<18} shown by: {one.shows}")
    print("\nThen: ./tutorial broken 01/1 answer")


class Broken:
    """What ./tutorial broken builds and runs, in the folder of the sources."""

    def __init__(self, word, is_answered):
        if not mistakes():
            raise Refused(2, "this copy has no gallery of mistakes")
        self.word, self.mistake, self.is_answered = word, find(word), is_answered
        self.api = "cpu" if self.mistake.files("cpu") else "opencl"
        self.folder = pathlib.Path("build/broken", self.mistake.number.replace("/", "-"))
        self.files = self.mistake.files(self.api)

    def needs(self):
        """The chapter, its API as build/programs.tsv has it, and what to build."""
        chapter, alone = self.mistake.chapter, self.mistake.needs_program(self.api)
        target = f"{chapter}-broken-{self.api}-{self.mistake.how(self.api)}" if alone else f"{chapter}-{self.api}"
        return chapter, {"opencl": "OpenCL", "cpu": "C++"}[self.api], target

    def make(self):
        try:
            make(self.mistake, self.folder, self.files)
        except BadMistake as error:
            raise Refused(2, f"{self.mistake.path.relative_to(ROOT)} does not fit the sources any more", str(error)) from None

    def answer(self):
        self.make()
        head, _, _ = self.mistake.path.read_text(encoding="utf-8").partition("\n--- ")
        print(head)
        for file in self.files:
            print(end=subprocess.run(["diff", "-u", f"{self.mistake.chapter}/{file}", self.folder / file],
                                     capture_output=True, text=True, check=False).stdout)

    def command(self):
        """Where it shows. By its number nothing is given away."""
        mistake = self.mistake
        program = command_of("build", mistake, self.api)
        command = [*program, "--variant", mistake.variant, "--repeat", "3", "--no-ceiling"]
        if self.word == mistake.number and not self.is_answered and self.api != "cpu":
            command.append("--no-diagnosis")
        if "histogram.cl" in self.files:
            command += ["--kernels", str(self.folder / "histogram.cl")]
        tool, *words = mistake.shows.replace("PICTURES", "images").split()
        if tool == "oclgrind":
            if not shutil.which(tool):
                raise Refused(77, f"{self.word} shows under Oclgrind alone, which is not installed")
            command = [tool, "--data-races", "--max-errors", "1", *command, "--device", "Oclgrind"]
        elif tool != "tsan":  # whose program is built with it
            words.insert(0, tool)
            listed = subprocess.run([*program, "--list-devices"], capture_output=True, text=True, check=False).stdout
            if POCL in listed:  # what shows there need not show on a GPU
                command += ["--device", POCL]
        return command + words

    def run(self):
        self.make()
        command = self.command()
        with contextlib.suppress(OSError):
            print("The source with the mistake:", *(self.folder / file for file in self.files), file=sys.stderr)
        log = self.folder / "ThreadSanitizer.log"
        for old in self.folder.glob(f"{log.name}.*"):
            old.unlink()
        status = subprocess.run(["env", f"TSAN_OPTIONS=history_size=7:log_path={log}", *command], check=False).returncode
        for new in self.folder.glob(f"{log.name}.*"):  # its name has the number of the process
            said = new.replace(log).read_text(encoding="utf-8", errors="replace")
            print("", *first_race(said), f"All that it said: {log}. Where the counts match, they do by luck.", sep="\n")
        crashes = re.search("out-of-bounds|Invalid", self.mistake.names)
        shows = (1, 2, 66) if crashes else (1, 66)  # 66 is ThreadSanitizer's
        return 0 if status in shows else status if status >= 0 else 128 - status


# ---- the command line ------------------------------------------------------------------------------


def for_cmake(chapter):
    found = mistakes(chapter)
    for api in (*FILES, EMULATED):
        needed = dict.fromkeys(one.how(api) for one in found if one.needs_program(api))
        for how in needed:
            print(api, how, ",".join(sources(chapter, api)), sep="|")


def main(command="", *words):
    if command == "cmake":
        return for_cmake(*words)
    if command == "together":
        return together(*words)
    if command == "make":
        word, folder, *files = words
        return make(find(word), folder, files)
    sys.exit(__doc__)


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except (BadMistake, Refused) as error:
        print(f"gallery.py: {error.args[-1]}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
