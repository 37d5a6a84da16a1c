#!/usr/bin/env python3
"""The commands of ./tutorial that need Python, which starts this: the exercises', ask, broken, slow, count, tune, cluster and site.

Arguments that make no sense are refused before anything is installed, configured or built. The script installs and
configures what a command needs from the system (`./tutorial set-up KIND`); this program builds the rest.

Exit status: 0 well; 1 not full marks, or wrong; 2 what was asked for makes no sense; 77 nothing to run it on.
"""

# ruff: noqa: E402
import os
import signal
import sys

if sys.version_info < (3, 9):  # noqa: UP036  whatever python3 is
    print("tutorial: this needs Python 3.9 or newer as python3; docs/install.md says how to get it", file=sys.stderr)
    sys.exit(2)
if __name__ == "__main__":
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # before anything takes time
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])

import argparse
import concurrent.futures
import contextlib
import fcntl
import importlib.machinery
import json
import pathlib
import re
import secrets
import shutil
import subprocess


class Text(importlib.machinery.SourceFileLoader):
    """A module from its text: no compiled one is taken from where somebody may have put it."""

    def get_code(self, fullname):
        return self.source_to_code(self.get_data(self.path), self.path)


for room in ("counting", "exercise", "gallery", "../files"):  # which python -I leaves out
    sys.path.insert(0, str((pathlib.Path(__file__).parent / room).resolve()))
    sys.path_importer_cache[sys.path[0]] = importlib.machinery.FileFinder(sys.path[0], (Text, [".py"]))
import a_class
import atomic_write
import catalogue
import count
import exercises
import gallery
import grading
import handed_in
import handout
import model
import questions
import sandbox
import slow as slow_kernels
from catalogue import ROOT, BadInput
from gallery import Refused

RESULTS = pathlib.Path("build/results")
LOCK = 9  # the number of the script's lock, too


def say(*lines):
    """Progress: where nobody can read it, the work goes on."""
    with contextlib.suppress(OSError):
        print(*lines, sep="\n", file=sys.stderr, flush=True)


def shown(text):
    """As one line that a terminal shows and does not obey, like the programs' common::shown."""
    text = os.fsencode(text).decode("utf-8", "backslashreplace")
    text = text.replace("\n", r"\n").replace("\t", r"\t")
    return re.sub("[\x00-\x1f\x7f-\x9f]", lambda found: "".join(f"\\x{byte:02x}" for byte in found[0].encode()), text)


def given_path(text):
    """A path of the command line, which was typed where the caller was."""
    return pathlib.Path(os.environ.get("CALLER", "."), text)


# ---- what a command needs --------------------------------------------------------------------------


def call(*command, **how):
    """Its exit status, as a shell has it. Ctrl-C is the child's to take: this waits until that has ended."""
    with subprocess.Popen(command, **how) as child:
        try:
            status = child.wait()
        except KeyboardInterrupt:
            child.wait()
            raise
    return status if status >= 0 else 128 - status


def one_at_a_time():
    """The script's lock: two that build, measure and write their results at once would mix all of it."""
    folder = os.open(".", os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("Another ./tutorial is at work in this folder: waiting for it to end ...")
        fcntl.flock(folder, fcntl.LOCK_EX)
    except OSError:
        pass  # not every network's file system has locks
    if folder != LOCK:
        os.dup2(folder, LOCK)
        os.close(folder)


def set_up(kind):
    """Everything that commands of this kind need, installed where that can be done, and configured."""
    one_at_a_time()
    status = call("./tutorial", "set-up", kind, pass_fds=[LOCK])
    if status:
        sys.exit(status)  # it has said why


def build(*targets):
    status = call("./tutorial", "build", *targets)
    if status:
        sys.exit(status)  # it has said why


def programs():
    """(folder, API, program or -, why there is none) of all that was configured."""
    return [line.split("\t") for line in pathlib.Path("build/programs.tsv").read_text(encoding="utf-8").split("\n") if line]


def workshop(name):
    """(API, program, why) of the workshop in the folder of this name."""
    return [row for folder, *row in programs() if folder.endswith(f"/{name}")]


# ---- run -------------------------------------------------------------------------------------------


def number(value):
    """Three digits that count; "-" where there is none."""
    return "-" if value is None else f"{value:.0f}" if value >= 100 else f"{value:#.3g}"


def results_of(chapter, api, program, picture):
    """What a program wrote, or why there is nothing. What it says on the way is shown where something is wrong."""
    written, log, plot = (RESULTS / name for name in (f"{chapter}-{api}.json", f"{chapter}-{api}.log", "histogram.png"))
    say(f"Running {chapter}, {api} ...")
    with log.open("wb") as file:
        drawn = [] if plot.exists() else ["--plot", plot]  # all count the same pixels
        command = program, picture, "--json", written, *drawn
        status = call(*command, stdout=subprocess.DEVNULL, stderr=file)
    said = log.read_text(encoding="utf-8", errors="replace").splitlines()
    if status == 77:
        return None, f"skipped: {(said or [''])[-1].partition(': ')[2]}"
    for line in said:
        if status or line.startswith("passed over"):  # a device that does not work
            say(line)
    if status == 2 and drawn:
        sys.exit(2)  # the first has refused the picture: no other would take it
    if written.exists():
        return json.loads(written.read_text(encoding="utf-8")), ""
    # What it says of itself begins with its name; what a driver says may go on for many lines.
    why = [line for line in said if line.startswith(f"{chapter}/")] or said[-1:] or ["it said nothing; a driver may have crashed"]
    return None, f"FAILED: exit status {status}: {why[0]}"


def results_folder():
    """Raises BadInput."""
    try:
        RESULTS.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{RESULTS} cannot be made: {error.strerror}") from None
    if not os.access(RESULTS, os.W_OK | os.X_OK):
        raise BadInput(f"{RESULTS}/ cannot be written to (was it made by another user, with sudo?)")


def predicted(strategies, picture, built=ROOT / "build"):
    """What an H100 would reach with them, {(chapter, strategy): GB/s}, for this picture repeated to 1 Gi pixels: those of CUDA's kernels
    that can be counted here and carry a number."""
    if not strategies or count.missing(built, "CUDA"):
        return {}
    say("Counting what a GPU would do ...")
    if call("./tutorial", "build", *sorted({target for chapter, _ in strategies for target in count.targets("CUDA", chapter)})):
        return {}  # it has said why, and what was measured is shown all the same
    device = model.devices()["h100"]

    def of(strategy):
        with contextlib.suppress(Refused, BadInput):
            counts = count.of_program(built, *strategy, "CUDA", [picture, "--tile", "1G"])
            return model.predict(counts, device)["gb_s"]

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(strategies, pool.map(of, strategies)))
    return {strategy: gb_s for strategy, gb_s in found.items() if gb_s}


def run(options):
    """The chapters' programs on one picture, and the table of all that they found."""
    shutil.rmtree(RESULTS, ignore_errors=True)
    results_folder()
    rows, devices, counted, emulated = [], [], "", []
    chapters = [row for row in programs() if "/" not in row[0]]  # a workshop of a chapter is no strategy
    for chapter, api, program, why in chapters:
        emulates = api == "CUDA-on-CPU"  # in the place of a GPU, where there is none
        if emulates and (program == "-" or rows and rows[-1][2] == "CUDA" and not rows[-1][-1].startswith("skipped")):
            continue
        found, outcome = (None, f"skipped: {why}") if program == "-" else results_of(chapter, api, program, options.picture)
        if emulates and rows and rows[-1][:3] == [chapter, "all", "CUDA"]:
            rows.pop()
        if found is None:
            rows.append([chapter, "all", api, "-", "-", "-", "-", outcome])
            continue
        counted = f"{found['input']['name']} ({found['input']['pixels']} pixels)"
        devices += [] if found["device"] in devices else [found["device"]]
        where = [found["api"], f"[{devices.index(found['device']) + 1}]"]
        matches = all(each["check"] == "match" for each in found["results"])
        emulated += [(chapter, each["variant"]) for each in found["results"] if emulates and matches]
        if emulates and matches and any(row[0] == chapter and row[1] != "all" for row in rows):  # which is all there is to say of them
            rows.append([chapter, "all", *where, "-", "-", "-", "match"])
            continue
        for each in found["results"]:
            numbers = (each["kernel_ms"] or {}).get("median"), each["gb_s"], each["speedup_over_serial"]
            outcome = ": ".join(filter(None, (each["check"], each["reason"])))
            rows.append([chapter, each["variant"], *where, *map(number, numbers), outcome])
    titles, on_h100 = ["chapter", "strategy", "API", "device", "time ms", "GB/s", "x serial"], {}
    try:
        on_h100 = predicted(emulated, options.picture)
    except Exception as error:  # whatever it is, what was measured is shown
        say(f"Nothing is predicted: {type(error).__name__}: {error}")
    for row in rows if on_h100 else []:
        row.insert(-1, number(on_h100.get((row[0], row[1]))))
    titles += [*(["H100 predicted"] if on_h100 else []), "matches the CPU"]
    widths = [max(len(row[i]) for row in (titles, *rows)) for i in range(len(titles))]
    print(f"input: {shown(counted)}\n")
    for row in (titles, ["-" * width for width in widths], *rows):
        cells = (cell.rjust(width) if 4 <= i < len(titles) - 1 else cell.ljust(width) for i, (cell, width) in enumerate(zip(row, widths)))
        print(shown("  ".join(cells).rstrip()))
    print("", *(f"[{i}] {shown(device)}" for i, device in enumerate(devices, 1)), "", sep="\n")
    print("A strategy is one way to count; time ms: the median of its runs; GB/s: pixels, a byte each, in that time;\n"
          "x serial: times as fast as the plain loop, `serial`, of the same program.")
    if emulated:
        print("On a processor most of what is made for a GPU is slower than that loop. It is slow at an atomic addition for\n"
              "each pixel, and at pixels that lie far apart: 01-cpu/memory/README.md. CUDA is emulated:\n"
              "that shows whether it is right, not how fast.")
    if on_h100:
        judged = [model.is_near(row) for row in model.rows(of="chapters", api="CUDA")]
        print("H100 predicted: GB/s of the strategy's CUDA kernel on that GPU, with this picture repeated to 1 Gi pixels. Counted here, not\n"
              f"measured; within a quarter for {sum(judged)} of {len(judged)} recorded runs of these kernels; no number where counts do not\n"
              "decide, and no order where two differ by a few percent. Why: ./tutorial count 03 local.")
    elif emulated:
        print("What a GPU would do is counted: ./tutorial count 03 local. Where that works, this table ends with it.")
    print("", f"The picture beside its histogram: {RESULTS}/histogram.png", f"All numbers, for programs:        {RESULTS}/*.json",
          f"What to read next:                {chapters[0][0]}/README.md", sep="\n")
    ends = {row[-1].partition(":")[0] for row in rows}
    return 1 if "mismatch" in ends else 2 if "FAILED" in ends else 0


# ---- exercises -------------------------------------------------------------------------------------


def make_handout(options):
    if not options.folder:
        raise BadInput("handout needs a folder to make")
    print(handout.make(options.folder))


def exercise_of(options):
    """The exercise that is named. From here on options.api is one of its own. Raises BadInput."""
    if not options.exercise:
        raise BadInput(f"{options.command} needs an exercise, such as 03/five-steps: ./tutorial list shows all")
    exercise = catalogue.exercise_of(options.exercise)
    options.api = exercise.api(getattr(options, "api", None))
    return exercise


def prepare_to_grade(options):
    """Builds what runs students' kernels."""
    if options.seed is None:
        options.seed = secrets.randbelow(1 << 32)
    if options.build:  # a test's
        return
    options.build = ROOT / "build"
    set_up("exercises")
    build("exercises")
    os.close(LOCK)  # watch goes on for hours, and builds nothing


def watch(options):
    exercise = exercise_of(options)
    prepare_to_grade(options)
    return exercises.watch(exercise, options)


def check_writable(path):
    """Raises BadInput."""
    if path and (path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK)):
        raise BadInput(f"{path}: cannot be written")


def check_combination(options):
    """What does not go together is refused, and not passed over. Raises BadInput."""
    check_writable(options.json)  # before minutes of grading, not after
    for name in ("reports", "unsafe"):
        if getattr(options, name) and not options.all:
            raise BadInput(f"--{name} needs --all: one submission's grade is written by --json")
    for name in ("files", "json"):
        if options.all and getattr(options, name):
            raise BadInput(f"--all does not go with {'a file' if name == 'files' else '--json'}: it writes --reports")
    if options.reports:
        try:
            options.reports.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"{options.reports}: cannot be made: {error.strerror}") from None


def grade(options):
    check_combination(options)
    exercise = exercise_of(options)
    if options.all and not options.build:  # before minutes of building, not after
        handed_in.in_folder(options.all, exercise, options.api)
    elif options.files and not options.json:  # where it is told, too
        handed_in.texts_of(exercise, options.api, [each for path in options.files for each in handed_in.members(path)])
    prepare_to_grade(options)
    return a_class.grade_all(exercise, options) if options.all else exercises.grade(exercise, options)


# ---- broken ----------------------------------------------------------------------------------------


def broken(options):
    if options.mistake is None:
        return gallery.listing()
    mistake = gallery.Broken(options.mistake, options.answer is not None)
    chapter, api, target = mistake.needs()
    set_up("run")
    for *found, program, why in programs():
        if (found, program) == ([chapter, api], "-"):
            raise Refused(77, f"{mistake.word} runs in {api}, whose programs were not built: {why}")
    build(target, "why")
    if mistake.is_answered:
        mistake.answer()
    return mistake.run()


# ---- count ------------------------------------------------------------------------------------------


def counted(words):
    """What the warps of a strategy's kernels do; its own options, and behind them the program's."""
    if {"-h", "--help"} & set(words):
        print("usage: tutorial count CHAPTER STRATEGY | CHAPTER/EXERCISE [--api cuda|opencl] [--like h100|h200|FILE]\n"
              "       [--registers N] [--json FILE] [--kernels FILE] [OPTION ...]\n\n"
              "What a GPU would do with a strategy's kernels, counted; behind it the program's own options, such as --random 4M.\n"
              "docs/counting.md says how.")
        return 0
    asked = count.Asked(words)
    check_writable(None if asked.json is None else given_path(asked.json))
    device = None
    if asked.like not in count.LIKE:
        import devices  # the results' tools with it
        try:
            device = devices.of_recording(given_path(asked.like))
        except devices.recorded.NotRecorded as error:
            raise Refused(2, str(error)) from None
    api = api_to_count(asked.api)
    build(*asked.targets(api))
    counts = asked.counts(ROOT / "build", api, given_path("."))
    counts["device"] = asked.like
    if asked.json:
        atomic_write.write_atomically(given_path(asked.json), json.dumps(counts, indent=1) + "\n")
    print(count.in_words(counts), "", *model.in_words(counts, asked.like, device), sep="\n")
    return 0


def api_to_count(asked):
    """That which is asked for, or one that can be counted here; set up."""
    set_up("count")
    whys = {api: count.missing(ROOT / "build", api) for api in (["CUDA", "OpenCL"] if asked is None else [asked])}
    api = next((api for api, why in whys.items() if not why), None)
    if api is None:
        raise Refused(77, "; ".join(whys.values()))
    return api


def slow(options):
    if options.kernel is None:
        return slow_kernels.listing()
    one = gallery.find(options.kernel, "slow")
    api = api_to_count({"cuda": "CUDA", "opencl": "OpenCL"}.get(options.api))
    build(*count.targets(api, one.chapter))
    return slow_kernels.show(ROOT / "build", one, api, options.answer is not None)


# ---- ask ---------------------------------------------------------------------------------------------

PREDICTED = pathlib.Path("build/predictions.json")  # by the names that the site has for its questions


def ask(options):
    """A chapter's questions, one by one: takes a prediction, runs the commands, and then tells."""
    asked = questions.of_chapter(options.chapter)
    set_up("run")
    build(f"chapter-{options.chapter[:2]}")
    os.close(LOCK)  # commands of a page may be calls of the script
    kept = json.loads(PREDICTED.read_text(encoding="utf-8")) if PREDICTED.exists() else {}
    try:
        for question in asked:
            print("", f"Question {question.text}", *(f"    {command}" for command in question.commands), "", sep="\n")
            values = []
            for prediction in question.predictions:
                while (value := prediction.of(input(prediction.field()))) is None:
                    print("That is none of these." if prediction.choices else "That is no number.", "(Ctrl-D leaves.)")
                values.append(value)
                kept[prediction.key] = value
                atomic_write.write_atomically(PREDICTED, json.dumps(kept, indent=1) + "\n")
            if question.commands and input("Enter runs the commands, s passes them over: ") != "s":
                for command in question.commands:
                    say(f"$ {command}")
                    call("bash", "-c", command)
            print("", *(prediction.outcome(value) for prediction, value in zip(question.predictions, values)), "", question.answer, sep="\n")
    except EOFError:
        print()
    return 0


# ---- tune ------------------------------------------------------------------------------------------


def tune(_):
    set_up("run")
    build("tune")
    results_folder()
    ends = []
    for api, program, why in workshop("tune"):
        if program == "-":
            say(f"{api}: skipped, {why}")
            continue
        listed = subprocess.run([program, "--list-devices"], capture_output=True, text=True, check=False)
        if listed.returncode != 0:
            say(f"{api}: skipped, {(listed.stderr.splitlines() or [''])[-1].partition(': ')[2]}")
            continue
        for device in filter(None, listed.stdout.splitlines()):
            number, _, name = device.partition(":")
            say(f"{api} on{name}")
            ends.append(call(program, "--device", number, "--json", RESULTS / f"tune-{api}-{number}.json"))
    if not ends:
        raise Refused(77, "no device to search on")
    print("", f"All that was measured: {RESULTS}/tune-*", sep="\n")
    return max(ends)


# ---- cluster ---------------------------------------------------------------------------------------


def cluster(words):
    """The ranks of this machine: with CUDA where there is an NVIDIA GPU, else on the processor."""
    ranks = "2"
    if words and re.fullmatch("[-+]?[0-9]+", words[0]):
        ranks, *words = words
        # Those of all machines are for mpirun itself: this is a try on one.
        if len(ranks) > 9 or not 1 <= int(ranks) <= 64:
            raise BadInput(f"cluster starts 1 to 64 ranks here, not {ranks}")
    elif words and not words[0].startswith("-") and not given_path(words[0]).exists():
        raise BadInput(f"cluster takes a number of ranks, then options or pictures, not '{words[0]}'")
    words = words or ["--random", "1G"]
    set_up("cluster")
    if not shutil.which("mpirun"):
        raise BadInput("not found: mpirun; docs/install.md names the packages for this system")
    build("cluster_programs")
    # For Open MPI 4 and 5: more ranks than cores are no mistake here, and root may start them in a container.
    os.environ.update(OMPI_MCA_rmaps_base_oversubscribe="1", PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe",
                      OMPI_MCA_orte_execute_quiet="1")
    if os.getuid() == 0:
        os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    made, status = {}, 77
    for api, program, why in workshop("cluster"):
        if (api, program) == ("C++", "-"):
            raise BadInput(f"the programs were not built: {why}")
        made[api] = program
    for program in (made[api] for api in ("CUDA", "C++") if made.get(api, "-") != "-"):
        say(f"mpirun -n {ranks} {program} {' '.join(map(shown, words))}")
        status = call("mpirun", "-n", str(int(ranks)), program, *words, cwd=given_path("."))
        if status != 77:
            break
        say("Nothing to run that on: the next one")
    return status


# ---- site ------------------------------------------------------------------------------------------


def install_for_site(first=lambda kind: None):
    """What the site is made with, in an environment of its own; once, and again where the list has changed. `first` sets up what
    that needs. Whether anything was installed.
    """
    wanted, have, log = map(pathlib.Path, ("docs/site/requirements.txt", "build/site-env/installed.txt", "build/site.log"))
    if have.exists() and have.read_bytes() == wanted.read_bytes():
        return False
    first("site")
    say("Installing what the site is made with, in build/site-env ...")
    shutil.rmtree("build/site-env", ignore_errors=True)
    command = f"python3 -m venv build/site-env && build/site-env/bin/pip install --no-deps -r {wanted}"
    with log.open("wb") as file:
        failed = call("sh", "-c", command, stdout=file, stderr=file)
    if failed:
        say(*log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:])
        raise BadInput(f"that failed; all that was said is in {log}")
    shutil.copy(wanted, have)
    return True


def site(options):
    if not (ROOT / "docs/site/conf.py").exists():
        raise BadInput("this copy has no site")
    if not install_for_site(set_up):  # which takes the lock
        one_at_a_time()
    python, pages, out = "build/site-env/bin/python", "build/site-pages", "build/site"
    sphinx = [python, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", "auto", "-d", "build/site-doctrees", "-c", "docs/site"]
    for why, *command in (("the pages could not be laid out", python, "-B", "docs/site/stage.py", pages, options.repository or ""),
                          ("the old site cannot be removed", "rm", "-rf", out),
                          ("the site has warnings, and may lack something: see above", *sphinx, pages, out),
                          ("the site has mistakes: see above", python, "-B", "docs/tools/pages.py", "--site", out)):
        if call(*command):
            raise Refused(1, why)
    if options.links:
        asked = pathlib.Path("build/site-links.log")
        with asked.open("wb") as log:
            failed = call(*sphinx, "-b", "linkcheck", pages, "build/site-links", stderr=log)
        if failed:
            said = [line for line in asked.read_text(encoding="utf-8").splitlines() if "NameResolutionError" not in line]
            say(*said)
            raise Refused(1, "links lead nowhere: see above") if said else Refused(77, "no network, so the pages of others were not asked for")
    print(f"The site: {out}/index.html")


# ---- the command line ------------------------------------------------------------------------------


def url(text):
    if not re.fullmatch(r"[^\s:]+://\S+|\S*@\S*:\S+", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no address, such as https://...")
    return text


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise BadInput(f"{self.prog.partition(' ')[2]}: {message}")


COMMANDS = {
    "run": (run, "every chapter on a picture, when the script has built it"),
    "list": (lambda _: print(exercises.listing()), "the exercises, and which are done"),
    "next": (lambda _: print(exercises.next_in_words()), "the first exercise that is not done"),
    "hint": (lambda options: print(exercises.hint(exercise_of(options))), "the next hint"),
    "reset": (lambda options: print(exercises.reset(exercise_of(options), options.api)), "begin anew; what was there is kept beside it"),
    "watch": (watch, "check at each save; Ctrl-C ends it"),
    "grade": (grade, "points, criterion by criterion; with --all those of a class"),
    "handout": (make_handout, "a copy for students, without solutions and answers"),
    "broken": (broken, "mistakes to find: a list, and each of them run where it shows"),
    "slow": (slow, "kernels that are right and slow, each for a reason to find: a list, and each of them counted"),
    "ask": (ask, "the questions of a chapter: it takes your prediction, runs the commands, and tells"),
    "tune": (tune, "look for the best launch of chapter 05 on every device (--help of the workshop's programs lists their options)"),
    "site": (site, "the lessons as a site, in build/site"),
}


WITH_WORDS = {"cluster": cluster, "count": counted}  # most of which are programs' own


def parser_of(command):
    do, what = COMMANDS[command]
    parser = Parser(prog=f"tutorial {command}", description=what)
    parser.set_defaults(do=do, command=command)
    add = parser.add_argument
    add("--build", type=pathlib.Path, help=argparse.SUPPRESS)
    if command in ("hint", "reset", "watch", "grade"):
        add("exercise", nargs="?", help="such as 03/five-steps")
    if command in ("reset", "watch", "grade", "slow"):
        add("--api", choices=["opencl", "cuda"])
    if command in ("watch", "grade"):
        add("--device", default="", help="as the programs' --device, for OpenCL and CUDA")
        add("--seed", type=int, help="of the inputs; another one each time where it is not given")
    if command == "watch":
        parser.set_defaults(files=[])
    elif command == "grade":
        add("files", nargs="*", type=given_path, help="in place of the exercise's own files")
        add("--json", type=given_path, metavar="FILE", help="write the grade to this file, as Gradescope takes it")
        add("--all", type=given_path, metavar="DIR", help="grade each folder, file or zip in DIR")
        add("--reports", type=given_path, metavar="DIR", help="with --all: points.csv, and a folder of reports for each submission")
        add("--unsafe", action="store_true", help="with --all: also where submissions cannot be isolated")
    elif command == "handout":
        add("folder", nargs="?", type=given_path, help="the folder to make")
    elif command == "run":
        add("picture")
    elif command == "ask":
        add("chapter", help="such as 03")
    elif command == "broken":
        add("mistake", nargs="?", help="its number or its name")
        add("answer", nargs="?", choices=["answer"], help="say what is wrong, too")
    elif command == "slow":
        add("kernel", nargs="?", help="its number or its name")
        add("answer", nargs="?", choices=["answer"], help="say why, too, beside what is fast")
    elif command == "site":
        add("links", nargs="?", choices=["links"], help="ask for the pages of others, too")
        add("--repository", type=url, metavar="URL", help="what a reader is to clone")
    return parser


def main(command, *words):
    try:
        options = command in WITH_WORDS or parser_of(command).parse_intermixed_args(words)  # whose programs have the options
    except SystemExit:  # --help
        return 0
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what has begun by then is to be ended, too
    return WITH_WORDS[command](words) if command in WITH_WORDS else options.do(options)


def refused(status, line, *more):
    say(f"tutorial: {shown(line)}", *more)
    return status


def ended(words):
    """The exit status, whatever happens; and one line for what is no mistake of this program."""
    try:
        status = main(*words)
        sys.stdout.flush()
        return status
    except (BadInput, gallery.BadMistake) as wrong:
        return refused(2, *wrong.args)
    except Refused as wrong:
        return refused(*wrong.args)
    except (grading.NothingToRunOn, sandbox.Busy) as wrong:
        return refused(77, str(wrong))
    except KeyboardInterrupt:
        os._exit(130)  # and not when the last of a class is graded; a sandbox ends with this program
    except OSError as error:
        if error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what Python still has to write
        return 141 if isinstance(error, BrokenPipeError) else refused(2, f"cannot write standard output: {error.strerror}")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.stdout.reconfigure(line_buffering=True)  # in a pipe, too: `watch` goes on for hours
    sys.exit(ended(sys.argv[1:]))
