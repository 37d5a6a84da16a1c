"""Counts what a kernel's warps do: `./tutorial count 03 local`, and the form in which the counts are kept.

    counts = {"form": 1,
        "chapter": "03-local-atomics", "strategy": "local", "api": "CUDA" or "OpenCL",
        "device": "h100",               its multiprocessors and limits made the launch
        "input": "--random 16M", "pixels",   the options behind the strategy
        "counted_pixels",               that the program had: of more, the counts are drawn on by a line through two sizes
        "launches": [launch, ...]}      in the order of the program, each kernel once

    launch = {
        "kernel": "histogram_local",
        "groups", "group_size",         work-groups (CUDA: blocks), work-items of one
        "local_bytes",                  of local (shared) memory that a group takes
        "resident_groups",              at once on a multiprocessor; registers are not known (launch__occupancy_limit_...)
        "resident_limit",               what it is that lets no more in: "work-items", "local memory", "groups"
        "counted_groups",               which ran; all other numbers here are of the whole launch
        "warps", "idle",                of them, those that load nothing
        "barriers",                     that a work-item comes to
        "registers",                    of a work-item, where --registers tells them
        "blocks", "blocks_parted",      basic blocks that warps enter; those that not all of its lanes enter together
        "blocks_loading",               those of warps that load something
        "loads_ahead", "bytes_ahead",   of a work-item in its main loop: loads from global memory (bytes) that it has asked for,
                                        at most, when the first of them is needed; "in flight" by Little's law
        "others_ahead",                 the accesses of local memory and own arrays that it makes meanwhile
        "instructions": {"all", "popc", "words", "chain"},   of warps, estimated (instructions.py); not there for OpenCL
        "queues": [80 numbers],         visits of atomics in the L2 cache, by queue (pieces of 256 bytes, two queues for each KiB)
        "allocations": [bytes, ...],    of global memory, in the order of first use
        "lines": [line, ...]}           by file and line

    line = {
        "file": "histogram.cuh", "line": 36, "text": "atomicAdd(&table[pixels[i]], 1U);",
        "what": "load", "store", "add one" (an atomic that adds a constant 1) or "atomic",
        "memory": "global", "local" (CUDA: shared), "own" (a work-item's own array; CUDA: local) or "constant",
        "bytes",                        of one lane's access
        "allocation",                   which one, in global memory; -1 elsewhere
        "lanes", "requests",            accesses; the warps' instructions that they are
        "sectors",                      of 32 bytes that the requests touch, in global memory and in own arrays
        "tags",                         lines of 128 bytes that they touch
        "waits",                        requests of loads for sectors that the first-level cache lacks, or that the warp has not had before
        "unsure",                       requests of lanes with lines of their own, of which the cache has a part
        "found",                        of them, loads that the first-level cache had
        "shared",                       of them, stores to memory that has fewer sectors than the launch has groups
        "near",                         of the others, those of other memory than the pixels' that the L2 cache has
        "again",                        requests of loads of those sectors that the warp has stored last
        "visits",                       of atomics in the L2 cache: a visit adds to each address of a sector once
        "whole",                        of them, those that add to all eight words of a sector
        "passes",                       of the banks of local memory
        "largest_passes"}               of one request
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import tempfile

import catalogue
import instructions
import model
import sandbox
import submitted_file
import tasks
from catalogue import ROOT, BadInput
from gallery import Refused

MOST = {"CUDA": 64 << 20, "OpenCL": 16 << 20}  # pixels that are counted
DEFAULT = ["--random", "16M"]
LIKE = "h100", "h200"
FIXED = ["--repeat", "1", "--no-ceiling", "--no-diagnosis", "--variant"]
SUMS = "lanes", "requests", "sectors", "tags", "found", "waits", "unsure", "again", "visits", "whole", "passes"
L2_BYTES = 50 << 20  # of an H100
# Launches that the hosts of chapter 05 choose on an H100, of which NVIDIA's driver tells more than Oclgrind.
ON_H100 = {"occupancy": {"--groups": "528"}, "vector": {"--groups": "528"}, "tuned": {"--group-size": "1024"}}
# A multiprocessor of an H100 has 48 KiB of local memory for a group that asks for no more.
OCLGRIND = ["oclgrind", "--num-threads", "1", "--quick", "--compute-units", "132", "--local-mem-size", "49152", "--plugins"]


# ---- a program of a chapter, and what it leaves ------------------------------------------------------


def missing(build, api):
    """Why nothing is counted in this API, or nothing: what CMake has found is in its notes on the build folder."""
    notes = (build / "CMakeCache.txt").read_text(encoding="utf-8")

    def found(*names):
        return all(re.search(rf"^{name}:\w+=(?!OFF$).+(?<!-NOTFOUND)$", notes, re.MULTILINE) for name in names)

    if api == "CUDA" and not found("TUTORIAL_CLANG"):
        return "CUDA's kernels are counted with clang++, which is not there (package clang)"
    if api == "OpenCL" and not found("TUTORIAL_OCLGRIND", "TUTORIAL_OCLGRIND_HEADERS", "TUTORIAL_LLVM_HEADERS", "OCLGRIND"):
        return ("OpenCL's kernels are counted by a plugin for Oclgrind, which is not there (packages oclgrind, liboclgrind-dev, llvm-14-dev; "
                "Debian 13 has none): --api cuda counts the same strategy")
    return ""


def targets(api, chapter):
    """What counts a chapter's strategies, as CMake calls it."""
    return [f"{chapter}-cuda-on-cpu-counts"] if api == "CUDA" else [f"{chapter}-opencl", "oclgrind_counts"]


def plugin_of(build):
    return build / "common/liboclgrind_counts.so"


def with_kernels(build, chapter, file, made):
    """The counted program of a chapter with this file in place of histogram.cuh, made as Ninja makes the chapter's own. Raises Refused."""
    made = pathlib.Path(made)
    cpp = ["cmake", f"-DFROM={file}", f"-DTO={made / chapter / 'histogram.cuh'}", "-P", submitted_file.ON_CPU / "to_cpp.cmake"]
    (made / chapter).mkdir()
    said = subprocess.run(["ninja", "-C", build, "-t", "commands", *targets("CUDA", chapter)], capture_output=True, text=True, check=True).stdout
    *compile_and_more, link = said.splitlines()
    link = re.sub(r" -o \S+", f" -o {made / 'cuda-on-cpu'}", link)
    commands = [cpp]
    for number, line in enumerate(line for line in compile_and_more if "/counted.rsp" in line):
        of = re.search(r" -o (\S+)", line)[1]
        mine = str(made / f"{number}.o")
        commands.append(["sh", "-c", re.sub(r" && \S+ -E cmake_transform_depfile .*", "", line).replace(of, mine).replace(" -I", f" -I{made} -I", 1)])
        link = link.replace(os.path.relpath(of, build), mine)
    for command in [*commands, ["sh", "-c", link]]:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=build)
        if done.returncode:
            wrong = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines() or ["it does not compile"]
            raise Refused(2, wrong[0])
    return made / "cuda-on-cpu"


def run(command, environment=(), folder="."):
    """The launches that a command counts, and what it says. Raises Refused with its last line where there are none."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=folder,
                              env={**os.environ, **dict(environment), "COUNTS": file.name})
        text = pathlib.Path(file.name).read_text(encoding="utf-8")
    launches = launches_in(text)
    if not launches:
        said = [line for line in done.stderr.splitlines() if line.strip()] or [f"exit status {done.returncode}, and no launch"]
        raise Refused(done.returncode if done.returncode in (2, 77) else 2, said[-1].partition(": ")[2] or said[-1])
    return launches, done.stdout


def launches_in(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith('{"kernel": ')]


def value_of(words, option):
    """What stands behind an option, the last time that it does: (where, its value)."""
    for at in range(len(words) - 1, -1, -1):
        name, _, value = words[at].partition("=")
        if name == option:
            return (at, value) if value else (at + 1, words[at + 1] if at + 1 < len(words) else "")
    return None, ""


def pixels_of(words):
    """(where, how many) of --random or --tile; None where neither stands there as a number."""
    for option in ("--random", "--tile"):
        at, value = value_of(words, option)
        found = re.fullmatch(r"([0-9]{1,10})([KMG]?)", value)
        if found:
            return at, int(found[1]) << 10 * " KMG".index(found[2] or " ")
    return None, None


def of_program(build, chapter, strategy, api, words, folder="."):
    """The counts of a chapter's strategy; the words name files of this folder. Raises Refused and BadInput."""
    program = build / chapter / ("counts/cuda-on-cpu" if api == "CUDA" else "opencl")
    words = list(words)
    at, kernels = value_of(words, "--kernels")
    kernels = kernels and str(pathlib.Path(folder, kernels))
    if kernels and api == "CUDA":
        if not os.path.isfile(kernels):
            raise BadInput(f"count: --kernels: {kernels} is not a file")
        words = words[:at if "=" in words[at] else at - 1] + words[at + 1:]
        with tempfile.TemporaryDirectory() as made:
            return of_words(with_kernels(build, chapter, os.path.abspath(kernels), made), build, chapter, strategy, api, words, folder, kernels)
    return of_words(program, build, chapter, strategy, api, words, folder, kernels)


def is_picture(words, n):
    """Whether this is neither an option nor what stands behind one."""
    before = words[n - 1] if n else ""
    return not words[n].startswith("-") and (not before.startswith("-") or "=" in before or before in ("--ramp", *FIXED))


def of_words(program, build, chapter, strategy, api, words, folder, kernels):
    if not any(word.partition("=")[0] in ("--random", "--tile") or is_picture(words, n) for n, word in enumerate(words)):
        words = [*DEFAULT, *words]
    at, pixels = pixels_of(words)

    def counted(size):
        given = [*words]
        if size != pixels:
            given[at] = re.sub("[0-9]+[KMG]?$", str(size), given[at])
        if api == "CUDA":
            launches, said = run([program, *given, *FIXED, strategy], folder=folder)
            launches = named(launches)
        else:
            launch = {**ON_H100.get(strategy, {}), **({"--loads": "1"} if strategy == "tuned" and (size or 0) < 8 << 20 else {})}
            given += [word for each in launch.items() if each[0] not in str(given) for word in each]
            command = [*OCLGRIND, plugin_of(build), program, *given, "--device", "Oclgrind"]
            launches, said = run([*command, *FIXED, strategy], {"COUNTS_GROUPS": "2"}, folder)
        of = re.search(r"^input: .* \(([0-9]+) pixels\)$", said, re.MULTILINE)
        for launch in launches:
            launch["lines"] = lines_of(launch["lines"], ROOT / chapter, kernels)
        return launches, int(of[1]) if of else size or int(max(map(pixels_loaded, launches)))

    size = min(pixels, MOST[api]) if pixels else pixels
    launches, counted_pixels = counted(size)
    if pixels and size < pixels:
        launches = drawn_on(counted(size // 2)[0], launches, size // 2, size, pixels)
    for launch in launches:
        whole(launch, pixels or counted_pixels)
    return {"form": 1, "chapter": chapter, "strategy": strategy, "api": api, "device": "h100", "input": " ".join(words),
            "pixels": pixels or counted_pixels, "counted_pixels": counted_pixels, "launches": launches}


def named(launches, program=None):
    """With the kernels' names, and the lines of their sites: the innermost of those that are no word of CUDA's. `program` is where
    they are now, if it is another place than it was."""
    sites = {launch["kernel"]: 0 for launch in launches}
    for launch in launches:
        sites.update((line["site"], -1) for line in launch["lines"])  # a hook returns behind its call
    places = [site.rpartition("+") for site in sites]
    addresses = [hex(int(place, 16) + by) for (_, _, place), by in zip(places, sites.values())]
    command = ["addr2line", "-a", "-i", "-f", "-C", "-e", program or places[0][0], *addresses]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = {}
    for site, frames in zip(sites, re.split(r"^0x[0-9a-f]+\n", said, flags=re.MULTILINE)[1:]):
        functions, places = frames.splitlines()[::2], [re.sub(r" \(discriminator.*", "", line) for line in frames.splitlines()[1::2]]
        place = next((each for each in places if "/cuda/on_cpu/" not in each), places[0])
        kernel = next((each for each in reversed(functions) if "on_cpu::" not in each and "operator()" not in each), functions[-1])
        found[site] = re.sub(r"^.*?(\w+(<[^()]*>)?)\(.*", r"\1", kernel), place
    for launch in launches:
        launch["instructions"] = instructions.of(program or launch["kernel"].rpartition("+")[0], launch)
        launch["kernel"] = found[launch["kernel"]][0]
        for line in launch["lines"]:
            line["site"] = found[line["site"]][1]
    return launches


def lines_of(sites, folder, kernels="", texts=None):
    """The sites of a line, an access and a memory are one; its text with them, from these files or {name: text}."""
    found, texts = {}, {name: text.splitlines() for name, text in (texts or {}).items()}
    for site in sites:
        path, _, number = site.pop("site").rpartition(":")
        loads, missed = site["what"] == "load" and site["memory"] == "global", 1 - site["found"] / (site["sectors"] or 1)
        site["waits"] *= loads
        site["unsure"] = site["requests"] if loads and missed < 0.9 and site["tags"] > 16 * site["requests"] else 0
        path = pathlib.Path(kernels if kernels and kernels.endswith(pathlib.Path(path).name) else path)
        if path.name not in texts:
            # A compiler's cache may name the clone that it was filled from.
            file = next((each for each in (folder / path, folder / path.name) if each.is_file()), None)
            texts[path.name] = file.read_text(encoding="utf-8", errors="replace").splitlines() if file else []
        line = int(number) if number.isdigit() else 0
        text = texts[path.name][line - 1].strip() if 0 < line <= len(texts[path.name]) else ""
        key = path.name, line, site["what"], site["memory"], site["bytes"], site["allocation"]
        if key not in found:
            found[key] = {"file": path.name, "line": line, "text": text, **site}
            continue
        for name in SUMS:
            found[key][name] += site[name]
        found[key]["largest_passes"] = max(found[key]["largest_passes"], site["largest_passes"])
    return [found[key] for key in sorted(found)]


def drawn_on(small, large, size, counted, pixels):
    """The counts of so many pixels: those of two sizes, and on by a straight line; but for what does not grow with the pixels."""
    def on(a, b):
        return max(b + (b - a) * (pixels - counted) / (counted - size), 0)

    for one, other in zip(small, large):
        before = {(line["line"], line["what"], line["memory"], line["bytes"]): line for line in one["lines"]}
        for line in other["lines"]:
            of = before.get((line["line"], line["what"], line["memory"], line["bytes"]), line)
            if line["requests"] > 1.05 * of["requests"]:
                line.update((name, on(of[name], line[name])) for name in SUMS)
        other["queues"] = [on(a, b) for a, b in zip(one["queues"], other["queues"])]
        other.update((name, on(one[name], other[name])) for name in ("idle", "blocks", "blocks_loading", "blocks_parted", "barriers"))
        if "instructions" in other:
            other["instructions"] = {name: on(one["instructions"][name], value) for name, value in other["instructions"].items()}
    return large


def allocation_of_pixels(launch):
    """The largest of the memory that it loads from."""
    loads = {line["allocation"] for line in launch["lines"] if line["what"] == "load" and line["memory"] == "global"}
    return max(loads, key=lambda each: launch["allocations"][each], default=None)


def pixels_loaded(launch):
    """Bytes that are loaded from there."""
    of_pixels = allocation_of_pixels(launch)
    return sum(line["lanes"] * line["bytes"] for line in launch["lines"]
               if line["what"] == "load" and line["memory"] == "global" and line["allocation"] == of_pixels)


def whole(launch, pixels):
    """The groups that were counted may have some more or fewer pixels than others: what they loaded is made all pixels, or twice all. Of
    two groups the last may have none."""
    of_pixels, times = allocation_of_pixels(launch), pixels_loaded(launch) / max(pixels, 1)
    nearest = max(round(times), 1)
    few = launch["counted_groups"] == 2 and 0.4 < times < 1
    if launch["counted_groups"] < launch["groups"] and (few or abs(times / nearest - 1) < 0.1):
        for line in launch["lines"]:
            line.update((name, line[name] * nearest / times) for name in SUMS)
        if "instructions" in launch:
            launch["instructions"] = {name: value * nearest / times for name, value in launch["instructions"].items()}
    # Memory has to give and take each sector once of what the L2 cache holds.
    asked = collections.Counter()
    for line in launch["lines"]:
        line["near"] = (line["sectors"] - line["found"]) * (line["memory"] == "global" and line["what"] in ("load", "store"))
        asked[line["allocation"]] += line["near"]
    for line in launch["lines"]:
        size = launch["allocations"][line["allocation"]] if line["memory"] == "global" else 0
        # Memory with fewer sectors than there are groups: they store over each other's.
        line["shared"] = line["sectors"] * (line["what"] == "store" and 0 < size < 32 * launch["groups"])
        is_near = line["allocation"] != of_pixels and size < L2_BYTES and line["near"]
        line["near"] *= max(1 - size / 32 / asked[line["allocation"]], 0) if is_near else 0
    launch.pop("entered", None)
    visits = sum(line["visits"] for line in launch["lines"])
    launch["queues"] = [each * visits / (sum(launch["queues"]) or 1) for each in launch["queues"]]


# ---- an exercise ---------------------------------------------------------------------------------------


class CountedCuda(submitted_file.EmulatedFile):
    """Compiled with a hook for each access."""

    def compiled(self, files, words, _):
        clang = next(filter(None, map(sandbox.where, ("clang++", "clang++-14"))), "clang++")
        files = {**files, "counted.rsp": (submitted_file.ON_CPU / "counted.rsp").read_bytes()}
        return self.once(tuple(words), self.made_by, files, [clang, "@counted.rsp", "-shared", "-fPIC", *words], "it.so")


class CountedOpenCL(submitted_file.OpenCLFile):
    """Run by Oclgrind with the plugin; its work-items keep their numbers."""

    def parts(self, runs, _):
        programs, files, library = super().parts(runs, None)
        return programs, {**files, "counts.so": plugin_of(self.build).read_bytes()}, library


def of_exercise(build, exercise, api, texts, *runs):
    """The counts of what a student has written, {name: text}, in each run of tasks.py; in the sandbox. Raises Refused and DoesNotCompile."""
    if exercise.kind != "kernels":
        raise BadInput(f"count takes an exercise with kernels to write, not {exercise.name}")
    kind, command = (CountedCuda, ()) if api == "cuda" else (CountedOpenCL, (*OCLGRIND, "./counts.so"))
    files = {name: kind(exercise, api, name, texts[name], build) for name in exercise.files[api]}
    return [of_run(exercise, api, files, command, run) for run in runs]


def of_run(exercise, api, files, command, run):
    found, names = [], {"cuda": "CUDA", "opencl": "OpenCL"}
    for name, file in files.items():
        of = {"COUNTS": "-", **({"COUNTS_GROUPS": "2"} if command else {})}
        how = ("env", *(f"{each}={value}" for each, value in of.items()), *command)
        done, _ = file.process([run], submitted_file.Detector("counts", None, how, "" if command else "counts"))
        launches = launches_in(done.said)
        if not launches:
            raise Refused(2, (done.ended or done.said or "no launch").strip().splitlines()[-1])
        if not command:
            with tempfile.NamedTemporaryFile() as library:
                pathlib.Path(library.name).write_bytes(next(made for made in file.made.values() if made[:4] == b"\x7fELF"))
                launches = named(launches, library.name)
        for launch in launches:
            launch["lines"] = lines_of(launch["lines"], exercise.folder, texts={name: file.text})
            whole(launch, run.count)
        found += launches
    return {"form": 1, "chapter": exercise.chapter, "strategy": exercise.name, "api": names[api], "device": "h100",
            "input": f"{run.words}{run.options and ', '}{run.options}", "pixels": run.count, "counted_pixels": run.count, "launches": found}


def run_of_exercise(exercise, words):
    """The run that a command line asks for. Raises BadInput."""
    given = {"--random": "4M", "--groups": "264", "--group-size": "256"}
    for option in [word for word in words if word.startswith("--") and word != "--ramp"]:
        if option not in given or not re.fullmatch("[0-9]+[KMG]?", value_of(words, option)[1]):
            raise BadInput(f"count: an exercise takes {', '.join(given)} with a number, and --ramp, not '{option}'")
        given[option] = value_of(words, option)[1]
    size, groups, group_size = (int(text.rstrip("KMG")) << 10 * " KMG".index(text.lstrip("0123456789") or " ") for text in given.values())
    if not (0 < size <= 64 << 20 and 0 < groups <= 4096 and 0 < group_size <= 1024):
        raise BadInput("count: all of an exercise's pixels are counted: at most 64M, in at most 4096 groups of 1024, and at least one of each")
    task = tasks.task_of(exercise)
    across = min(size, 4096)
    size = (size, 1) if task.middle[1] == 1 else (across, size // across)
    pixels = b"".join(map(task.pixel, range(256))) * (size[0] * size[1] // 256 + 1) if "--ramp" in words else tasks.drawn(task, 1, size)
    run = tasks.run_of(size, "pixels", pixels[:size[0] * size[1] * task.pixel_bytes], groups, group_size)
    return run._replace(options=exercise.data.get("options", [""])[-1])


# ---- what is shown -----------------------------------------------------------------------------------


def total(launch, name, memory, *whats):
    """Of all lines that access this memory so."""
    return sum(line[name] for line in launch["lines"] if line["memory"] == memory and (not whats or line["what"] in whats))


ATOMICS = "add one", "atomic"
# Plain words, Nsight Compute's name, and the number, for 32 pixels.
COUNTERS = (
    ("loads: requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld", lambda of: total(of, "requests", "global", "load")),
    ("  their sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld", lambda of: total(of, "sectors", "global", "load")),
    ("stores: sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st", lambda of: total(of, "sectors", "global", "store")),
    ("atomics: visits", "lts__t_sectors_op_red", lambda of: total(of, "visits", "global")),
    ("  fullest queue", "", lambda of: max(of["queues"])),
    ("passes of banks", "l1tex__data_pipe_lsu_wavefronts_mem_shared", lambda of: total(of, "passes", "local")),
    ("constant: passes", "", lambda of: total(of, "passes", "constant", "load")),
    ("own arrays: loads", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld", lambda of: total(of, "sectors", "own", "load")),
    ("  stores", "l1tex__t_sectors_pipe_lsu_mem_local_op_st", lambda of: total(of, "sectors", "own", "store")),
)
HIT_RATE = "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate"


def number(value):
    """Three digits that count."""
    return "0" if value < 0.0005 else f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def cost_of(line):
    """What is compared between lines: passes, or what the L2 cache is asked for; and in words."""
    if line["memory"] == "local":
        return line["passes"], "passes"
    return (line["visits"], "visits") if line["what"] in ATOMICS else (line["sectors"] - line["found"], "sectors")


def launch_in_words(launch, pixels):
    """Lines of at most 80 columns."""
    steps = pixels / 32
    local = f", {launch['local_bytes']:,} bytes of local memory each" if launch["local_bytes"] else ""
    fit, limit = launch["resident_groups"], launch["resident_limit"]
    if (by_registers := model.places(model.reduced(launch), model.devices()["h100"])) < fit:
        fit, limit = by_registers, "registers"
    lines = [f"{launch['kernel']}: {launch['groups']:,} groups of {launch['group_size']}{local}",
             f"  Counted: {launch['counted_groups']} of the groups. On a multiprocessor {fit} fit at once ({limit}).",
             f"  Loads asked for before the first is needed: {launch['loads_ahead']}, {launch['bytes_ahead']} bytes.", "",
             f"  {'for 32 pixels':18} {'counted':>8}  Nsight Compute's name (.sum)"]
    for words, name, value in COUNTERS:
        found = value(launch)
        if found > 0:
            lines.append(f"  {words:18} {number(found / steps):>8}  {name}".rstrip())
    sectors, found = total(launch, "sectors", "global", "load"), total(launch, "found", "global", "load")
    if found > 0.0005 * sectors:
        lines.append(f"  {'found in L1, %':18} {number(100 * found / sectors):>8}  {HIT_RATE}")
    lines += ["", "  The lines that cost most, for 32 pixels:"]
    of_line = collections.defaultdict(collections.Counter)
    for line in launch["lines"]:  # a line may load and store, or add in two places
        cost, what = cost_of(line)
        of_line[line["file"], line["line"], line["text"]][what] += cost
    for place in sorted(of_line, key=lambda each: -max(of_line[each].values()))[:4]:
        (_, at, text), (what, cost) = place, of_line[place].most_common(1)[0]
        lines.append(f"  {at:4}  {text[:44]:44} {number(cost / steps):>8} {what}")
    return lines


def in_words(counts):
    lines = [f"{counts['strategy']}, chapter {counts['chapter'][:2]}, {counts['api']}: counted, not timed",
             f"{counts['pixels']:,} pixels: {counts['input']}"]
    if counts["counted_pixels"] < counts["pixels"]:
        lines.append(f"Counted: {counts['counted_pixels']:,}, and half as many; from there by a straight line.")
    for launch in counts["launches"]:
        lines += ["", *launch_in_words(launch, counts["pixels"])]
    return "\n".join(line[:80] for line in lines)


# ---- the command -------------------------------------------------------------------------------------


def chapter_of(text):
    """03 or 03-local-atomics. Raises BadInput."""
    found = [path.parent.name for path in ROOT.glob("0[2-9]-*/cuda.cu") if text in (path.parent.name, path.parent.name[:2])]
    if not found:
        raise BadInput(f"count takes a chapter with kernels, such as 03, not '{text}'")
    return found[0]


class Asked:
    """A command line. Raises BadInput."""

    def __init__(self, words):
        self.api, self.like, self.json, self.registers, self.words = None, "h100", None, None, []
        own = {"--api": ("cuda", "opencl"), "--like": LIKE, "--json": None, "--registers": tuple(map(str, range(16, 256)))}
        named, words = [], list(words)
        while words and not words[0].startswith("-") and len(named) < (1 if named and "/" in named[0] else 2):
            named.append(words.pop(0))
        self.exercise = catalogue.exercise_of(named[0]) if named and "/" in named[0] else None
        if len(named) < 2 and not self.exercise:
            raise BadInput("count takes a chapter and a strategy, such as 03 local, or an exercise, such as 04/copies")
        self.chapter, self.strategy = (self.exercise.chapter, "") if self.exercise else (chapter_of(named[0]), named[1])
        while words:
            name, equals, value = words.pop(0).partition("=")
            if name not in own:
                self.words.append(name + equals + value)
                continue
            if not equals and not words:
                raise BadInput(f"count: {name} needs a value")
            value = value if equals else words.pop(0)
            if own[name] and value not in own[name] and not (name == "--like" and value.endswith(".json")):
                among = {"--like": "h100, h200 or a recording (docs/results/*.json)", "--registers": "16 to 255"}.get(name, ", ".join(own[name]))
                raise BadInput(f"count: {name} is one of {among}, not '{value}'")
            setattr(self, name[2:], value)
        if self.exercise:
            self.run = run_of_exercise(self.exercise, self.words)
        kernels = value_of(self.words, "--kernels")[1]
        self.api = {"cuda": "CUDA", "opencl": "OpenCL"}.get(self.api or ("opencl" if kernels.endswith(".cl") else None))

    def targets(self, api):
        """What is built for it."""
        if not self.exercise:
            return targets(api, self.chapter)
        return ["run_emulated-counts"] if api == "CUDA" else ["run_opencl", "oclgrind_counts"]

    def counts(self, build, api, folder):
        """Raises Refused and BadInput."""
        found = self.counted(build, api, folder)
        for launch in found["launches"]:
            launch.update({"registers": int(self.registers)} if self.registers else {})
        return found

    def counted(self, build, api, folder):
        if not self.exercise:
            return of_program(build, self.chapter, self.strategy, api, self.words, folder)
        texts = {path.name: submitted_file.text_of(path.name, path.read_bytes()) for path in self.exercise.skeletons(self.exercise.api(api.lower()))}
        try:
            return of_exercise(build, self.exercise, api.lower(), texts, self.run)[0]
        except submitted_file.DoesNotCompile as why:
            raise Refused(2, f"{self.exercise.name} does not compile", str(why).strip()) from None
