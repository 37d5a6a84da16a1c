#!/usr/bin/env python3
"""Plants faults in common/ and the chapters, one at a time, and says which of them no test notices.

    mutate.py [--count 100] [--seed 1] [--unusual] [PATH...]
    mutate.py --guards [WORD...]    the faults of guards.json, or those whose guard or file has such a word

A fault is a small edit, such as `<=` for `<` or a statement that is missing, drawn by the seed from the sources, or
from those whose path begins with PATH; --unusual draws only those that show in unusual sizes, in the first or last of
several. It is planted in a clone of the last commit, in build-mutants/; what it needs is built there, and what should
notice it is run (NOTICED_BY), up to the first test that fails. An edit that does not compile, or compiles to the same
code, is not counted. guards.json has for each guard a fault that it alone sees: the guard, the file, a text in it and
what stands there with the fault, what is built, and the tests of which one must fail. Exit status: 0 all are noticed, 1
some are not, 2 a test fails without a fault.

Left out are CUDA's sources, which need a GPU, tests, the files of the exercises that students begin with, and files that
end processes: a fault there could end others.
"""

import argparse
import ast
import collections
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLONE = ROOT / "build-mutants"
BUILD = CLONE / "build"
MEMORY = 16 << 30  # bytes that a program with a fault may take
SECONDS = 300  # that a build may take: programs run in it, to tell their tests

SOURCES = re.compile(r"(common|0\d-[^/]*)/.*\.([ch]pp|cl|py)")
LEFT_OUT = re.compile(r"/(tests|peers)/|/test_|_test\.|cuda|/exercise/[^/]+/(?!call|reference)[^/]+\.(cl|cpp)$")
ENDS_PROCESSES = re.compile(r"\bkill(pg)?\(")
# They need more than is built here, or compare texts alone.
NO_TESTS = r"\.large$|cuda|not-built|Configure|broken\.cpu|SameSteps|Kernels|OpenCLFailing"

UNIT = "common/tests/unit_tests --gtest_fail_fast --gtest_brief=1 --gtest_filter="  # many tests in one process
COMMON = "unit_tests opencl_tests wrong_program"
PROGRAMS = ("01-cpu-cpu 02-global-atomics-opencl", r"^(01-cpu\.(cpu|W)|02-global-atomics\.(opencl|OpenCL))")
# Where a fault is, and what should notice it, in turns: targets to build, and tests, as ctest's -R or a program. The first
# row that fits.
NOTICED_BY = [(re.compile(path), turns) for path, *turns in (
    ("common/tutor/diagnosis/", ("unit_tests", UNIT + "Diagnosis.*:Observe.*"),
     ("why 02-global-atomics-opencl 03-local-atomics-opencl 04-per-thread-bins-opencl 05-launch-tuning-opencl", r"^0[2345].*broken\.opencl")),
    ("common/tutor/gallery/", ("", r"^common\.Gallery|^02.*broken\.opencl|^docs\.tutorial$")),
    ("common/run/", (COMMON, r"^common.([^D]|D[^i])"), ("why 02-global-atomics-opencl", r"^02.*broken\.opencl")),
    ("common/(tutor/exercise/|files/atomic_write.py)", ("exercises", r"^exercises\.(02|03)"), ("", r"^exercises\.(0[45]|[a-z])")),
    ("common/", ("unit_tests", UNIT + "-Diagnosis.*"), (COMMON, r"^common\.([^D]|D[^i])"), PROGRAMS),
    ("(0.)-.*/exercise/([^/]*)/", ("exercises", r"^exercises.\1.\2")),
    ("(05-launch-tuning)/workshops/tune/", ("\\1-workshops-tune-opencl tune_test", r"^\1.(workshops.tune|Tune)")),
    ("(05-launch-tuning)/workshops/end-to-end/", ("\\1-workshops-end-to-end-opencl", r"^\1.EndToEnd")),
    ("(05-launch-tuning)/workshops/many/", ("many_test", r"^\1.workshops.many.[A-Z]")),
    ("(05-launch-tuning)/workshops/cluster/", ("\\1-workshops-cluster-cpu", r"^\1.workshops.cluster")),
    (r"(0.-[a-z-]*)/histogram\.cl", ("", r"^\1.opencl.all$"), ("", r"^\1.(opencl.*races$|OpenCLR)"), ("", r"^\1.opencl.")),
    ("(05-launch-tuning)/", ("\\1-opencl launch_test", r"^\1.([^bEcTw]|workshops.many|T.*d$)"),
     ("programs fault_injecting_driver", "^common.(Times|Hosts)$")),
    ("(01-cpu)/", ("\\1-cpu simd_tests", r"^\1.")),
    ("(0.-[a-z-]*)/", ("\\1-opencl", r"^\1.[^b]"), ("programs fault_injecting_driver", "^common.(Times|Hosts)$")),
)]

# ---- faults ----------------------------------------------------------------------------------------

STRING = r'"(?:\\.|[^"\\\n])*"'
NOT_CODE = re.compile(rf"//[^\n]*|(?m:^\s*#[^\n]*)|R\"\(.*?\)\"|{STRING}|(?<![\da-fA-F])'(?:\\.|[^'\\\n])'", re.DOTALL)
NOT_CODE_PY = re.compile(rf"\"\"\".*?\"\"\"|{STRING}|'(?:\\.|[^'\\\n])*'|#[^\n]*", re.DOTALL)
BOTH = {"<": "<= >=", "<=": "< >", ">": ">= <=", ">=": "> <", "==": "!=", "!=": "==", "+": "-", "-": "+", "*": "/", "%": "/", "+=": "-="}
SWAPS = {**BOTH, "/": "*", "&&": "||", "||": "&&", "<<": ">>", ">>": "<<", "&": "|", "|": "&"}
SWAPS_PY = {**BOTH, "//": "*", "and": "or", "or": "and", "is": "is_not"}
WORDS = {"true": "false", "false": "true", "std::min": "std::max", "std::max": "std::min", "break": "continue", "++": "--"}
WORDS_PY = {"True": "False", "False": "True", "min": "max", "max": "min", "all": "any", "any": "all", "break": "continue"}
NUMBER = re.compile(r"(?<![\w.'\"])\d+(?=U?\b)(?![.'\w]*['.xb])")
NO_STATEMENT = r"(return|throw|case|using|delete|raise|import|else|default)\b|[\w:<>, ]+[&*]? \w+( =|;|\(|\{)"  # or a declaration
STATEMENT = re.compile(rf"^ +((?!{NO_STATEMENT})[\w*+(][^\n{{}}]*)$", re.MULTILINE)
# A number or a bound that only an unusual size crosses; a status that the last alone sets; all but the first or the last looked at.
UNUSUAL = ((r"\bstd::(size_t|uint64_t)(?=\{[a-z])", "std::uint32_t"), (r"(?<![:\w])ulong(?= \w+ =)", "uint"), (r"(?<=\d)UL\b", "U"),
           (r"(?<=; )(\w+) < ((?!BINS|kBins|\d)[^;{}\n]+)(?=;)", r"\1 < \2 && \1 < 1024", r"\1 < \2 && \1 < 65535", r"\1 + 1 < \2"),
           (r" [|&]= ", " = "), (r"(\w+) = std::max\(\1, ([^()]+)\)", r"\1 = \2"), (r"(?<=\w = )(\w+) (&&|\|\|) (?=\w)", ""),
           (r"(for \((?:const )?\w[\w:<>]*& (\w+) : (\w+)\))", r"\1 if (&\2 != &*std::begin(\3))",
            r"\1 if (&\2 != &*std::prev(std::end(\3)))"))
UNUSUAL_PY = ((r"(?<= in )([\w.]+)(?=[:)\]])", r"list(\1)[1:]", r"list(\1)[:-1]"), (r" [|+&]= ", " = "),
              (r"(\w+) = max\(\1, ([^()]+)\)", r"\1 = \2"), (r"(?<=\w = )(\w+) (and|or) (?=\w)", ""))


def edits(text, python, unusual=False):
    """Where a fault may be, and what stands there then: (begin, end, new)."""
    code = (NOT_CODE_PY if python else NOT_CODE).sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for pattern, *news in UNUSUAL_PY if python else UNUSUAL:
        for match in re.finditer(pattern, code):
            for new in news:
                yield *match.span(), match.expand(new)
    if unusual:
        return
    for old, news in (SWAPS_PY if python else SWAPS).items():
        for match in re.finditer(rf"(?<= ){re.escape(old)}(?=[ \n])", code):
            for new in news.split():
                yield *match.span(), new.replace("_", " ")
    for old, new in (WORDS_PY if python else WORDS).items():
        for match in re.finditer(rf"(?<![\w.]){re.escape(old)}(?![\w])" if old != "++" else re.escape(old), code):
            yield *match.span(), new
    for match in re.finditer(r"\bnot (?!in)" if python else r"(?<=[( ])!(?=\w)", code):
        yield *match.span(), ""
    for match in NUMBER.finditer(code):
        for new in {int(match[0]) + 1, abs(int(match[0]) - 1)}:
            yield *match.span(), str(new)
    for match in STATEMENT.finditer(code):
        line, before = match[1].rstrip(), code[:match.start()].rstrip()
        whole = line.count("(") == line.count(")") and line.count("[") == line.count("]")
        if python and whole and before[-1:] not in "([{,+-*/=\\" and re.match(r"[\w.]+(\[.*\])?(\(| \+?= )", line) and line[-1] not in ":,([{":
            yield match.start(1), match.start(1) + len(line), "pass"
        if not python and whole and line.endswith(";") and before[-1:] in tuple(";{})"):
            yield match.start(1), match.start(1) + len(line), ";"


def sources(below, compiled):
    """Those that may get a fault: kernels and Python, and what is compiled here."""
    listed = subprocess.run(["git", "-C", CLONE, "ls-files"], check=True, capture_output=True, text=True).stdout.split()
    for path in filter(SOURCES.fullmatch, listed):
        text = (CLONE / path).read_text(encoding="utf-8")
        if (any(map(path.startswith, below)) and not LEFT_OUT.search(path) and not ENDS_PROCESSES.search(text)
                and (path in compiled or path.endswith((".cl", ".py")) or "/exercise/" in path)):
            yield path, text


def drawn(below, compiled, seed, unusual):
    """Faults without end: (path, line, what it was and is, the text with it). Each line has the same chance."""
    generator, lines = random.Random(seed), []
    for path, text in sources(below, compiled):
        at_line = collections.defaultdict(list)
        for begin, end, new in edits(text, path.endswith(".py"), unusual):
            at_line[text.count("\n", 0, begin) + 1].append((begin, end, new))
        lines += [(path, text, line, found) for line, found in sorted(at_line.items())]
    if not lines:
        fail("there is nothing to edit")
    generator.shuffle(lines)
    for path, text, line, found in lines:
        begin, end, new = generator.choice(found)
        was = text.splitlines()[line - 1]
        faulty = text[:begin] + new + text[end:]
        yield path, line, f"{was.strip()}  ->  {faulty.splitlines()[line - 1].strip()}", faulty


def fail(why):
    print(f"mutate.py: {why}", file=sys.stderr)
    sys.exit(2)


# ---- the clone -------------------------------------------------------------------------------------


def run(*command, seconds=None, memory=False):
    """(exit status, what it said); killed, with all that it has started, after so many seconds."""
    environment = {**os.environ, "CCACHE_BASEDIR": str(CLONE), "CCACHE_NOHASHDIR": "1", "POCL_CACHE_DIR": str(CLONE / "build-pocl")}
    limit = (lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))) if memory else None
    with subprocess.Popen(list(map(str, command)), cwd=CLONE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", start_new_session=True, preexec_fn=limit) as process:
        try:
            said, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate()
        return process.returncode, said


def must(*command):
    status, said = run(*command)
    if status != 0:
        print(said[-4000:], file=sys.stderr)
        fail(f"{' '.join(map(str, command))} fails without a fault")
    return said


def prepare(is_built=True):
    """A clone of the last commit, and built. What it is: a commit; and what each source is compiled to: {path: objects}."""
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    if not CLONE.exists():
        subprocess.run(["git", "clone", "--quiet", "--shared", "--no-checkout", ROOT, CLONE], check=True)
    must("git", "checkout", "--quiet", "--force", "--detach", commit)
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if run("sh", "-c", "command -v ccache")[0] == 0 else []
    must("cmake", "--preset", "default", "-DTUTORIAL_CUDA=OFF", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG", *launcher)  # compiled quickly
    if not is_built:
        return commit[:7], {}
    must("cmake", "--build", BUILD)
    compiled = collections.defaultdict(set)
    for line in must("ninja", "-C", BUILD, "-t", "deps").splitlines():
        if not line.startswith(" "):
            made = line.partition(":")[0]
        else:
            compiled[os.path.relpath(BUILD / line.strip(), CLONE)].add(BUILD / made)
    return commit[:7], compiled


def hashes(objects):
    return {each: hashlib.sha256(each.read_bytes()).digest() for each in objects}


# ---- one fault -------------------------------------------------------------------------------------

sound = set()  # turns that were seen to pass without a fault


def built(targets):
    return run("cmake", "--build", BUILD, "--target", *targets.split(), seconds=SECONDS) if targets else (0, "")


def tested(tests, memory=True, left_out=NO_TESTS):
    """The test that fails; nothing where all pass."""
    if not tests.startswith("^"):
        status, said = run(*(BUILD / tests).as_posix().split(), seconds=SECONDS, memory=memory)
        return (re.findall(r"\[  FAILED  \] (\S+)", said) or ["unit_tests"])[0] if status != 0 else ""
    how = ("--stop-on-failure", "--parallel", 2, "--timeout", 120)
    left_out += "|OpenCLDrivers" if memory else ""  # it says that there is a limit
    status, said = run("ctest", "--test-dir", BUILD, *how, "-R", tests, "-E", left_out, memory=memory)
    if "No tests were found" in said:
        fail(f"there is no test {tests}")
    failed = re.findall(r"(\S+) \.*\*\*\*(?!Skipped)", said)
    return (failed or ["a test"])[0] if status != 0 else ""


def turns_of(path):
    for row, turns in NOTICED_BY:
        match = row.match(path)
        if match:
            return [(match.expand(targets), match.expand(tests)) for targets, tests in turns]
    raise ValueError(path)


def judged(path, faulty, objects, turns=(), left_out=NO_TESTS):
    """`noticed` and by what, `alive`, or why it is no fault."""
    memory = not path.startswith(("01-cpu/", "05-launch-tuning/", "common/opencl/", "common/tutor/"))  # the sanitizers there lay claim to more
    file = CLONE / path
    text, before = file.read_text(encoding="utf-8"), hashes(objects)
    is_built, is_same = False, True
    try:
        file.write_text(faulty, encoding="utf-8")
        began = time.time() - 1
        for targets, tests in turns or turns_of(path):
            fails, (status, said) = "", built(targets)
            if "unknown target" in said:
                fail(said)
            if status != 0 and re.search(r"\berror:", said) and "static assertion" not in said:
                return "does not compile", ""
            if status != 0:
                return "noticed", "the build"
            made = [each for each in objects if each.stat().st_mtime >= began]
            is_built = is_built or not objects or bool(made)
            if objects and hashes(made).items() <= before.items():
                continue  # perhaps it is part of a later turn
            is_same, fails = False, tested(tests, memory, left_out)
            if fails:
                break
    finally:
        file.write_text(text, encoding="utf-8")
    if not is_built:
        fail(f"nothing that NOTICED_BY names is built from {path}")
    if not fails:
        return "same code" if is_same else "alive", ""
    if tests not in sound:
        built(targets)
        if tested(tests, memory, left_out):
            return "cannot be told", f"without the fault, too: {fails}"
        sound.add(tests)
    return "noticed", fails


def same_python(path, text, faulty):
    if not path.endswith(".py"):
        return False
    try:
        return ast.dump(ast.parse(text)) == ast.dump(ast.parse(faulty))
    except SyntaxError:
        return True


def guards(words):
    """How many of the table's faults are noticed, and so on: {verdict: number}."""
    number = collections.Counter()
    for guard, path, old, new, targets, tests in json.loads((CLONE / "common/tests/guards.json").read_text(encoding="utf-8")):
        if words and not any(word in guard or word in path for word in words):
            continue
        text = (CLONE / path).read_text(encoding="utf-8")
        if text.count(old) != 1:
            fail(f"guards.json: {guard}: {path} has this {text.count(old)} times: {old}")
        verdict, by = judged(path, text.replace(old, new), (), [(targets, tests)], "^$")
        number[verdict] += 1
        print(f"{verdict:<16} {guard}" + (f"  [{by}]" if by else ""), flush=True)
    return number


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--guards", action="store_true")
    arguments.add_argument("--count", type=int, default=100)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("below", metavar="PATH", nargs="*")
    arguments.add_argument("--unusual", action="store_true")
    options = arguments.parse_args()
    commit, compiled = prepare(not options.guards)
    if options.guards:
        number = guards(options.below)
        print(", ".join(f"{count} {verdict}" for verdict, count in number.items()) + f"; commit {commit}")
        return 1 if set(number) - {"noticed"} else 0
    number = collections.Counter()
    for path, line, words, faulty in drawn(options.below or ["common/", "0"], compiled, options.seed, options.unusual):
        if number["noticed"] + number["alive"] == options.count:
            break
        if same_python(path, (CLONE / path).read_text(encoding="utf-8"), faulty):
            continue
        began = time.monotonic()
        verdict, by = judged(path, faulty, compiled.get(path, ()))
        number[verdict] += 1
        print(f"{verdict:<16} {path}:{line}: {words}" + (f"  [{by}, {time.monotonic() - began:.0f} s]" if by else ""), flush=True)
    print(f"{number['noticed'] + number['alive']} faults, {number['alive']} not noticed; seed {options.seed}, commit {commit}; "
          f"{number['does not compile']} more did not compile, {number['same code']} compiled to the same code")
    return 2 if number["cannot be told"] else 1 if number["alive"] else 0


if __name__ == "__main__":
    sys.exit(main())
