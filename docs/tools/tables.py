"""Tables of the recorded results, for generate.py:

    results: docs/results/h200.json 04-per-thread-bins/cuda photo 1G
                                     one run: a row for each strategy
    inputs: docs/results/h200.json 05-launch-tuning/cuda 1G
                                     one program: a row for each input
    chapters: docs/results/h200.json photo 1G
                                     a row for each program: its fastest strategy
    peers: docs/results/h200.json 1G
                                     a row for each input: the strategies beside the libraries
    queued: docs/results/h200.json 1M
                                     the same with all commands in the device's queue before it begins, beside
                                     reading alone; with an input, such as photo, in place of the size a row for
                                     each size
    experiment: docs/results/h100.json lanes CUDA uniform,ramp 256M
                                     one of docs/tools/experiments.py: a row and a column for each thing that changes,
                                     or a column for each of several inputs
    steps: docs/results/h200.json ramp 1G
                                     a row for each step from chapter 03's kernel to `tuned`, in both APIs
    end-to-end: docs/results/h200.json 05-launch-tuning/end-to-end/cuda photo 1G
                                     a row for each way to copy and count
    tuning: docs/results/h200.json 05-launch-tuning/tune/cuda
                                     a row for each size: the best launch that the search found
    counters: docs/results/h200.json uniform 1G
                                     a row for each kernel: what it kept busy, as the profiler read it
    weak: docs/results/cluster/h200-x2.json 05-launch-tuning/cluster/cuda 4G
                                     a row for each number of ranks, each of which counts so many pixels
    strong: docs/results/cluster/h200-x2.json 05-launch-tuning/cluster/cuda
                                     a row for each number of pixels, which all ranks share, a column for each
                                     number of ranks
    archive: docs/results/cluster/h200-x2.json 05-launch-tuning/cluster/cuda 4G
                                     what 1,024 machines like this one would need for a petabyte

What they were measured on and with stands once on a page, for each file that its tables are from:

    provenance: docs/results/h200.json
                                     when, at which commits, with which drivers and compilers, on which host

"Times faster than serial" and "% of the read ceiling" have one baseline for all runs of a machine on the same
input and size: docs/measuring.md says which.
"""

import inspect
from collections import Counter

import recorded
from experiments import EXPERIMENTS, STEPS
from recorded import ROOT, NotRecorded, digits, ratio, size_in_words, speeds_of, unique

# Below this a rate says little, as most of the time is what a launch costs: times are shown instead.
SMALL = 1 << 20


# ---- what all tables share -----------------------------------------------------------------------


def markdown(columns, rows):
    """A table. A column whose title begins with '<' is aligned to the left, every other to the right."""
    titles = [title.lstrip("<") for title in columns]
    lines = ["| " + " | ".join(titles) + " |"]
    lines.append("|" + "".join("---|" if title[0] == "<" else "--:|" for title in columns))
    lines += ["| " + " | ".join(cells) + " |" for cells in rows]
    return lines


def heading(entry, what):
    run = entry["run"]
    return f"**{run['api']} on {run['device']}: {what}**"


def input_of(entry):
    given = entry["run"]["input"]
    return f"{given['name']}, {size_in_words(given['pixels'])}"


def duration(milliseconds):
    """A time with its unit, for columns that hold both short and long ones."""
    if milliseconds is None:
        return "-"
    return f"{digits(1000 * milliseconds)} µs" if milliseconds < 1 else f"{digits(milliseconds)} ms"


def ceiling_words(recording, entries):
    """The read ceiling behind these entries, in a sentence; nothing where none was measured."""
    ceilings = {recorded.read_ceiling(recording, entry): entry["run"]["device"] for entry in entries}
    ceilings.pop(None, None)
    rates = [digits(rate) + (f" ({device})" if len(ceilings) > 1 else "") for rate, device in ceilings.items()]
    return f" Read ceiling: {', '.join(rates)} GB/s." if rates else ""


def libraries(variants):
    """What the libraries' short names stand for, in a sentence; nothing where none is among the variants."""
    names = {"cub": "`cub` is CUB, NVIDIA's library of parallel primitives",
             "npp": "`npp` is NPP, the NVIDIA Performance Primitives for images"}
    each = [words for name, words in names.items() if name in variants]
    return f" {'; '.join(each)}." if each else ""


# ---- the kinds of tables -------------------------------------------------------------------------


def results_table(recording, program, name, size):
    """One run: a row for each strategy."""
    entry = recorded.find(recording, "runs", program, name, size)
    run = entry["run"]
    copies = run["api"] != "C++"
    columns = ["<Strategy", "Time, ms", "GB/s", "% of the read ceiling", "Times faster than `serial`"]
    columns += (["End to end, ms"] if copies else []) + ["<Check"]
    rows = []
    for result in run["results"]:
        median = result["kernel_ms"]["median"] if result["kernel_ms"] else None
        cells = [f"`{result['variant']}`", digits(median), *map(digits, speeds_of(recording, entry, result))]
        cells += [digits(result["end_to_end_ms"])] if copies else []
        rows.append(cells + [result["check"]])
    return [entry], [
        heading(entry, input_of(entry)),
        "",
        *markdown(columns, rows),
        "",
        f"Medians.{ceiling_words(recording, [entry])} `serial` on the host: "
        f"{digits(recorded.serial_ms(recording, entry))} ms."
        + libraries([result["variant"] for result in run["results"]]) + launches([entry]),
    ]


def launches(entries, variants=None):
    """How these variants were launched, in a sentence of its own; nothing where the runs do not say."""
    by_variant = {}
    for entry in entries:
        for result in entry["run"]["results"]:
            if result.get("launch") and (variants is None or result["variant"] in variants):
                by_variant.setdefault(result["variant"], []).append(result["launch"])
    each = [f"`{variant}` was {' or '.join(unique(texts))}" for variant, texts in by_variant.items()]
    return f" {'; '.join(each)}." if each else ""


def fastest(run):
    """The fastest strategy of a run, or None where none was measured."""
    measured = [result for result in run["results"] if result["check"] == "match" and result["gb_s"]]
    return max(measured, key=lambda result: result["gb_s"], default=None)


def rates_of(entry):
    """{strategy: GB/s} of a run."""
    return {result["variant"]: None if result["check"] == "mismatch" else result["gb_s"]
            for result in entry["run"]["results"]}


def percent_of_ceiling(recording, entry, variant):
    share = ratio(rates_of(entry).get(variant), recorded.read_ceiling(recording, entry))
    return digits(share and 100 * share)


def inputs_table(recording, program, size):
    """One program: a row for each input. The last strategy is held against the read ceiling."""
    entries = [entry for entry in recording["runs"] if (entry["program"], entry["size"]) == (program, size)]
    if not entries:
        raise NotRecorded(f"{program} {size} is not among its runs")
    variants = unique(result["variant"] for entry in entries for result in entry["run"]["results"])
    rows = [[entry["input"], *(digits(rates_of(entry).get(variant)) for variant in variants),
             percent_of_ceiling(recording, entry, variants[-1])] for entry in entries]
    columns = ["<Input", *(f"`{variant}`" for variant in variants)]
    return entries, [
        heading(entries[0], f"{size_in_words(entries[0]['run']['input']['pixels'])}, GB/s"),
        "",
        *markdown(columns + [f"`{variants[-1]}`, % of the read ceiling"], rows),
        "",
        "Medians." + ceiling_words(recording, entries) + launches(entries),
    ]


def chapters_table(recording, name, size):
    """A row for each program: its fastest strategy."""
    entries = [
        entry
        for entry in recording["runs"]
        if (entry["input"], entry["size"]) == (name, size)
        and entry["program"] not in (recorded.PEERS, recorded.CPU_PEERS)
        and fastest(entry["run"])
    ]
    if not entries:
        raise NotRecorded(f"no chapter's run on {name} {size} is recorded")
    rows = []
    for entry in entries:
        best = fastest(entry["run"])
        cells = [entry["run"]["chapter"], entry["run"]["api"], f"`{best['variant']}`", digits(best["gb_s"])]
        rows.append(cells + [*map(digits, speeds_of(recording, entry, best)[1:])])
    columns = ["<Chapter", "<API", "<Fastest strategy", "GB/s", "% of the read ceiling"]
    # Without a GPU all of them ran on the one processor, which OpenCL calls by another name.
    hosts = [recorded.host(recording, entry) for entry in entries]
    names = [entry["run"]["device"] if where["gpu"] else where["processor"] for entry, where in zip(entries, hosts)]
    devices = " and ".join(unique(names))
    return entries, [
        f"**The fastest of each chapter on {devices}: {input_of(entries[0])}**",
        "",
        *markdown(columns + ["Times faster than `serial`"], rows),
        "",
        "Medians." + ceiling_words(recording, entries),
    ]


def library_ratios(entry):
    """How many times as fast as each library `tuned` is."""
    rates = rates_of(entry)
    return [digits(ratio(rates.get("tuned"), rates.get(library))) for library in ("cub", "npp")]


RATIOS = ["`tuned` / CUB", "`tuned` / NPP"]


def peers_table(recording, size):
    """A row for each input: the strategies beside the libraries."""
    entries = [e for e in recording["runs"] if (e["program"], e["size"]) == (recorded.PEERS, size)]
    if not entries:
        raise NotRecorded(f"{recorded.PEERS} {size} is not among its runs")
    pixels = entries[0]["run"]["input"]["pixels"]
    small = pixels < SMALL
    variants = unique(result["variant"] for entry in entries for result in entry["run"]["results"])

    def shown(gb_s):
        return digits(ratio(pixels / 1000, gb_s) if small else gb_s)

    columns = ["<Input", *(f"`{variant}`" for variant in variants), "`tuned`, % of the read ceiling", *RATIOS]
    rows = [[entry["input"], *(shown(rates_of(entry).get(variant)) for variant in variants),
             percent_of_ceiling(recording, entry, "tuned"), *library_ratios(entry)] for entry in entries]
    return entries, [
        heading(entries[0], f"{size_in_words(pixels)}, {'µs' if small else 'GB/s'}"),
        "",
        *markdown(columns, rows),
        "",
        "Medians." + ceiling_words(recording, entries) + " The last two columns: how many times as fast `tuned` is."
        + libraries(variants) + launches(entries, variants) + skipped(entries),
    ]


def cpu_peers_table(recording, size):
    """A row for each input: chapter 01's strategies beside other people's, and `simd` beside the best of these."""
    entries = [e for e in recording["runs"] if (e["program"], e["size"]) == (recorded.CPU_PEERS, size)]
    if not entries:
        raise NotRecorded(f"{recorded.CPU_PEERS} {size} is not among its runs")
    variants = unique(result["variant"] for entry in entries for result in entry["run"]["results"])
    peers = [variant for variant in variants if variant not in recorded.CPU_OWN]
    rows = []
    for entry in entries:
        rates = rates_of(entry)
        best = max((rates[peer] for peer in peers if rates.get(peer)), default=None)
        rows.append([entry["input"], *(digits(rates.get(variant)) for variant in variants),
                     digits(ratio(rates.get("simd"), best))])
    columns = ["<Input", *(f"`{variant}`" for variant in variants), "`simd` / best peer"]
    return entries, [
        heading(entries[0], f"{size_in_words(entries[0]['run']['input']['pixels'])}, GB/s"),
        "",
        *markdown(columns, rows),
        "",
        "Medians. `threads-` run on all threads, the others on one. The last column: how many times as fast `simd` is as "
        "the fastest peer of its row." + launches(entries, peers) + skipped(entries),
    ]


def queued_table(recording, size_or_input):
    """The same in time, with all commands in the device's queue before it begins: a row for each input or size."""
    asked, shown = ("input", "size") if size_or_input in recorded.INPUTS else ("size", "input")
    entries = [e for e in recording["queued"] if (e["program"], e[asked]) == (recorded.PEERS, size_or_input)]
    if not entries:
        raise NotRecorded(f"{recorded.PEERS} {size_or_input} is not among its queued")
    variants = unique(result["variant"] for entry in entries for result in entry["run"]["results"])
    rows = []
    for entry in entries:
        pixels, rates = entry["run"]["input"]["pixels"], rates_of(entry)
        ceiling = recorded.read_ceiling(recording, entry, ("queued",))
        times = [digits(ratio(pixels / 1000, rate)) for rate in (ceiling, *(rates.get(name) for name in variants))]
        label = size_in_words(pixels) if shown == "size" else entry["input"]
        rows.append([label, *times, digits(ratio(ceiling, rates.get("tuned"))), *library_ratios(entry)])
    what = size_in_words(entries[0]["run"]["input"]["pixels"]) if shown == "input" else size_or_input
    columns = [f"<{shown.capitalize()}", "Reading alone", *(f"`{variant}`" for variant in variants)]
    return entries, [
        heading(entries[0], f"{what}, µs, all commands queued"),
        "",
        *markdown([*columns, "`tuned` / reading alone", *RATIOS], rows),
        "",
        "Medians. `tuned` / reading alone: how many times as long it takes; the last two columns: how many times as "
        "fast it is." + libraries(variants) + launches(entries, variants) + skipped(entries),
    ]


def steps_table(recording, name, size):
    """A row for each step of chapter 05, a column for each API."""
    entries = [entry for entry in recording["steps"] if (entry["input"], entry["size"]) == (name, size)]
    if not entries:
        raise NotRecorded(f"{name} {size} is not among its steps")
    rates = {(entry["run"]["api"], step["step"]): step["result"]["gb_s"]
             for entry in entries for step in entry["run"]["steps"]}
    apis = ("OpenCL", "CUDA")
    rows = [[step.name + (" (edited)" if step.edit else ""), step.what,
             *(digits(rates.get((api, step.name))) for api in apis)] for step in STEPS]
    return entries, [
        f"**One thing at a time on {entries[0]['run']['device']}: {size_in_words(recorded.pixels_of(size))} of {name} "
        "pixels, GB/s**",
        "",
        *markdown(["<Step", "<What is new", *apis], rows),
        "",
        f"Medians.{ceiling_words(recording, entries)} What CUDA lacks is a kernel that was edited for one run.",
    ]


def shown(experiment, kept, pixels):
    """The number that an experiment shows of a run; None where it was too short for one."""
    if experiment.counter:
        return kept["percent"][experiment.counter]
    took = kept["result"]["kernel_ms"]
    if took is None or experiment.unit == "ms":
        return took and took["median"]
    # A run that counts wrongly on purpose has no rate in its JSON, and a time all the same.
    return kept["result"]["gb_s"] or ratio(pixels / 1e6, took["median"])


def experiment_table(recording, name, api, inputs, size):
    """An experiment's rows and columns in one API, for each of the inputs; where it has no columns, they are the inputs."""
    if name not in EXPERIMENTS:
        raise NotRecorded(f"there is no experiment {name}, only {', '.join(EXPERIMENTS)}")
    experiment = EXPERIMENTS[name]
    inputs = inputs.split(",")
    entries = [entry for entry in recording["experiments"]
               if entry["experiment"] == name and entry["run"]["api"] == api and entry["input"] in inputs and entry["size"] == size]
    for wanted in inputs:
        if wanted not in [entry["input"] for entry in entries]:
            raise NotRecorded(f"{name} {api} {wanted} {size} is not among its experiments")
    cells = {}
    for entry in entries:
        for run in experiment.runs:
            edit = run.edit and {"from": run.edit.old, "to": run.edit.new}
            for kept in entry["run"]["runs"]:
                if (run.chapter, run.command(entry["run"]["units"]), edit) == (entry["run"]["chapter"], kept["arguments"], kept.get("edit")):
                    cells[(run.row, run.column, entry["input"])] = digits(shown(experiment, kept, entry["run"]["input"]["pixels"]))
    columns = [(column, given) for given in inputs for column in unique(run.column for run in experiment.runs)]
    rows = [[row, *(cells.get((row, *column), "-") for column in columns)] for row in unique(run.row for run in experiment.runs)]
    titles = [column or given if len(inputs) == 1 else f"{given}, {column}".removesuffix(", ") for column, given in columns]
    what = f"{size_in_words(recorded.pixels_of(size))}" + (f", {inputs[0]}" if len(inputs) == 1 else "")
    return entries, [heading(entries[0], f"{what}, {experiment.unit}"), "",
                     *markdown([f"<{experiment.corner}", *titles], rows), "", experiment.note]


def skipped(entries):
    """Which variants were skipped, and why, in a sentence of its own; nothing where none was."""
    reasons = unique(
        f"`{result['variant']}` ({result['reason']})"
        for entry in entries
        for result in entry["run"]["results"]
        if result["check"] == "skipped"
    )
    return f" Skipped: {'; '.join(reasons)}." if reasons else ""


def end_to_end_table(recording, program, name, size):
    """A row for each way to copy and count."""
    entry = recorded.find(recording, "end_to_end", program, name, size)
    run = entry["run"]
    rows = []
    for way in run["end_to_end"]:
        wrong = way["check"] == "mismatch"  # a wrong result has no speed
        speeds = [None if wrong else way[field] for field in ("gb_s", "percent_of_pinned_copy")]
        cells = [f"`{way['variant']}`", digits(way["end_to_end_ms"]["median"]), *map(digits, speeds)]
        rows.append([*cells, way["check"]])
    return [entry], [
        heading(entry, f"{input_of(entry)}, end to end"),
        "",
        *markdown(["<Way", "Time, ms", "GB/s", "% of the speed of the copy alone", "<Check"], rows),
        "",
        f"Medians. The copy from pinned memory alone took {digits(run['pinned_copy_ms'])} ms.",
    ]


def tuning_table(recording, program):
    """A row for each size: the best launch that the search found."""
    entry = recorded.find(recording, "tune", program)
    run = entry["run"]
    rows = []
    for best in run["best"]:
        cells = [size_in_words(best["pixels"]), f"`{best['kernel']}`"]
        cells += [str(best[part]) for part in ("copies", "loads", "group_size", "groups_per_unit")]
        rows.append(cells + [duration(best["worst_ms"]), digits(best["gb_s"])])
    columns = ["<Pixels", "<Kernel", "Copies", "Loads", "Group size", "Groups for each unit"]
    count = Counter(trial["outcome"] for trial in run["trials"])
    outcomes = ", ".join(f"{count[name]} {name}" for name in ("measured", "refused", "wrong", "not tried"))
    return [entry], [
        heading(entry, "the best launch found for each size"),
        "",
        *markdown(columns + ["Time", "GB/s"], rows),
        "",
        f"The time is that of the picture that took longest; the search took {digits(run['seconds'])} s: "
        f"of {len(run['trials'])} launches {outcomes}.",
    ]


def counters_table(recording, name, size):
    """A row for each kernel: what it kept busy."""
    entries = [entry for entry in recording["counters"] if (entry["input"], entry["size"]) == (name, size)]
    if not entries:
        raise NotRecorded(f"{name} {size} is not among its counters")
    rows = [
        [entry["run"]["chapter"], f"`{kernel['variant']}`",
         *(digits(kernel["percent"][counter]) for counter in recorded.COUNTERS.values())]
        for entry in entries
        for kernel in entry["run"]["counters"]
    ]
    return entries, [
        heading(entries[0], f"{size_in_words(entries[0]['run']['input']['pixels'])} of {name} pixels, busy in %"),
        "",
        *markdown(["<Chapter", "<Strategy", *recorded.COUNTERS], rows),
        "",
        "Of the memory's bytes in percent of what its clock allows, which reading alone does not reach either; of the "
        "others in percent of the clocks in which a multiprocessor was at work. One launch under Nsight Compute.",
    ]


def scaling_of(recording, program, kind, size=None):
    """The entries of weak or strong scaling. Raises NotRecorded."""
    entries = [entry for entry in recording["cluster"]
               if (entry["program"], entry["experiment"]) == (program, kind) and size in (None, entry["size"])]
    if not entries:
        raise NotRecorded(f"{program} {size or ''} {kind} is not among its cluster".replace("  ", " "))
    return entries


def number_of(ranks):
    return f"{ranks} rank" + ("" if ranks == 1 else "s")


def on_devices(runs):
    """What several ranks of a run share, in a sentence; nothing where each has a device of its own."""
    shared = [f"{number_of(run['ranks'])} on {run['devices']}" for run in runs if run["devices"] < run["ranks"]]
    return f" Devices: {', '.join(shared)}." if shared else ""


def fastest_gb_s(run):
    return run["input"]["pixels"] / run["all_ms"]["min"] / 1e6


def rounds_words(entry):
    """How often it was measured, and with what."""
    run = entry["run"]
    return f"{run['rounds']} rounds of {run['scaling'][0]['all_ms']['runs']} runs each; shown is the round with the fastest run. {run['mpi']}."


def weak_table(recording, program, size):
    """A row for each number of ranks, each of which counts so many pixels."""
    (entry,) = scaling_of(recording, program, "weak", size)
    runs = entry["run"]["scaling"]
    libraries_of = unique(one["library"] for run in runs for one in run["all_reduce"] if one["median_us"])
    rows = []
    for run in runs:
        efficiency = ratio(100 * fastest_gb_s(run) * runs[0]["ranks"], run["ranks"] * fastest_gb_s(runs[0]))
        cost = {one["library"]: one["median_us"] for one in run["all_reduce"]}
        rows.append([str(run["ranks"]), size_in_words(run["input"]["pixels"]), digits(run["all_ms"]["median"]), digits(run["all_ms"]["min"]),
                     digits(fastest_gb_s(run)), digits(efficiency), *(digits(cost.get(library)) for library in libraries_of)])
    columns = ["Ranks", "Pixels", "Median, ms", "Fastest, ms", "GB/s", "Efficiency, %"]
    skipped_libraries = unique(f"{one['library']} ({one['reason']})" for run in runs for one in run["all_reduce"] if one["reason"])
    return [entry], [
        heading(entry, f"{size_in_words(recorded.pixels_of(size))} for each rank"),
        "",
        *markdown([*columns, *(f"All-reduce by {library}, µs" for library in libraries_of)], rows),
        "",
        f"GB/s and efficiency are those of the fastest run, the efficiency held against one rank's GB/s times the number of "
        f"ranks. {rounds_words(entry)}{on_devices(runs)}"
        + (f" Without {' and '.join(skipped_libraries)}." if skipped_libraries else ""),
    ]


def strong_table(recording, program):
    """A row for each number of pixels, which all ranks share."""
    entries = scaling_of(recording, program, "strong")
    ranks = [run["ranks"] for run in entries[0]["run"]["scaling"]]
    rows = []
    for entry in entries:
        times = [run["all_ms"]["min"] for run in entry["run"]["scaling"]]
        rows.append([size_in_words(recorded.pixels_of(entry["size"])), *map(duration, times), digits(ratio(times[0], times[-1]))])
    return entries, [
        heading(entries[0], "the same pixels for all ranks"),
        "",
        *markdown(["<Pixels", *map(number_of, ranks), f"Times as fast on {ranks[-1]}"], rows),
        "",
        f"The fastest runs. {rounds_words(entries[0])}" + on_devices(entries[0]["run"]["scaling"]),
    ]


def archive_table(recording, program, size):
    """What 1,024 machines like this one would need for a petabyte, if nothing else held them up."""
    (entry,) = scaling_of(recording, program, "weak", size)
    node = entry["run"]["scaling"][-1]
    nodes, levels, petabyte, file_system_gb_s = 1024, 10, 1e15, 1000
    merge_us = next(one["median_us"] for one in node["all_reduce"] if one["library"] == "MPI")
    rows = [
        ["Counting", f"{nodes:,} nodes, each like the machine above: {digits(fastest_gb_s(node))} GB/s by {number_of(node['ranks'])}",
         f"{digits(petabyte / (nodes * fastest_gb_s(node) * 1e9))} s"],
        ["Reading", "assumed: a file system that gives 1 TB/s, to all nodes together",
         f"{digits(petabyte / (file_system_gb_s * 1e9))} s"],
        ["Merging", f"assumed: {levels} steps, for 2^{levels} nodes, and each, though over a network, no more than a hundred times "
         f"the {digits(merge_us)} µs of the all-reduce above", duration(levels * 100 * merge_us / 1000)],
    ]
    return [entry], [
        heading(entry, f"10^15 pixels on {nodes:,} such machines, on paper"),
        "",
        *markdown(["<What", "<Reckoned from", "Time"], rows),
    ]


def provenance(file, recording, entries):
    """When, at which commits, with what and on what these entries were measured."""
    hosts = [recorded.host(recording, entry) for entry in entries]
    commits = {day: unique(entry["commit"] for entry in entries if entry["date"] == day)
               for day in sorted(unique(entry["date"] for entry in entries))}
    when = [f"on {day}" + (f" at commit {' and '.join(names)}" if names else "") for day, names in commits.items()]
    drivers = unique(f"{entry['run']['api']}: {entry['run']['driver']}" for entry in entries)
    compilers = unique(where["compiler"] for where in hosts)
    if any(entry["run"]["api"] == "CUDA" for entry in entries):
        compilers += unique(where["nvcc"] and f"nvcc {where['nvcc']}" for where in hosts)
    processors = unique(f"{where['processor']}, family {where['processor_family']}, model {where['processor_model']}"
                        for where in hosts)
    return [f"The numbers from `{file}` were recorded {', '.join(when)}. {'; '.join(drivers)}. "
            + "".join(f"{gpu}. " for gpu in unique(where["gpu"] for where in hosts))
            + f"Host: {' and '.join(processors)}. Compiled with {'; '.join(compilers)}."]


TABLES = {
    "results": results_table,
    "inputs": inputs_table,
    "chapters": chapters_table,
    "peers": peers_table,
    "cpu-peers": cpu_peers_table,
    "queued": queued_table,
    "steps": steps_table,
    "experiment": experiment_table,
    "end-to-end": end_to_end_table,
    "tuning": tuning_table,
    "counters": counters_table,
    "weak": weak_table,
    "strong": strong_table,
    "archive": archive_table,
}


# ---- what the pages call -------------------------------------------------------------------------


def table_of(kind):
    """What writes such a table into a page: the function below, for generate.py."""

    def write(page, file, *arguments):
        wanted = list(inspect.signature(TABLES[kind]).parameters)[1:]
        if len(arguments) != len(wanted):
            raise NotRecorded(f"'{kind}' takes, after the file: {' '.join(wanted)}")
        try:
            entries, lines = TABLES[kind](recorded.load(ROOT / file), *arguments)
        except KeyError as error:
            raise NotRecorded(f"{file} lacks the field {error}") from None
        page.shown.setdefault(file, []).extend(entries)
        return lines

    return write


def provenance_of(page, file):
    """Where the numbers of a page's tables are from."""
    page.told.append(file)
    if not page.shown.get(file):
        raise NotRecorded("no table of the page is of this file")
    return provenance(file, recorded.load(ROOT / file), page.shown[file])


def untold(page):
    """The files of which a page has tables, but does not say once when they were recorded."""
    return [f"there are tables of {file}, and {page.told.count(file)} comments <!-- provenance: {file} -->, not one"
            for file in page.shown if page.told.count(file) != 1]


LAST = ("provenance",)
KINDS = {**{kind: table_of(kind) for kind in TABLES}, "provenance": provenance_of}
