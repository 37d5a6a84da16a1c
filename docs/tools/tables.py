"""Tables of the recorded results, for generate.py.

What they were measured on and with stands once on a page, for each file that its tables are from:

    provenance: docs/results/h200.json

"Times the speed of serial" and "% of the read ceiling" have one baseline for all runs of a machine on the same
input and size: docs/measuring.md says which.

"""

import contextlib
import inspect
import re
from collections import Counter
from typing import NamedTuple

import laws
import recorded
from experiments import ATOMICS, EXPERIMENTS, LANES, LESSON, LOCAL, PROFILE, STALLS, gallery, recorded_of, stall
from pages import FENCED, HEADING, anchor
from recorded import ROOT, NotRecorded, digits, ratio, select, size_in_words, speeds_of, unique

# ---- what tables share ---------------------------------------------------------------------------


def markdown(columns, rows):
    """A table. A column whose title begins with '<' is aligned to the left, every other to the right."""
    lines = ["| " + " | ".join(title.lstrip("<") for title in columns) + " |",
             "|" + "".join("---|" if title[0] == "<" else "--:|" for title in columns)]
    return lines + ["| " + " | ".join(cell if isinstance(cell, str) else digits(cell) for cell in cells) + " |" for cells in rows]


def device(entry):
    return f"{entry['run']['api']} on {entry['run']['device']}"


def pixels_in(entry):
    return entry["run"]["input"]["pixels"]


def input_of(entry):
    return f"{entry['run']['input']['name']}, {size_in_words(pixels_in(entry))}"


def ceiling_words(recording, entries):
    """The read ceiling behind these entries, in a sentence; nothing where none was measured."""
    ceilings = {recorded.read_ceiling(recording, entry): entry["run"]["device"] for entry in entries}
    ceilings.pop(None, None)
    rates = [digits(rate) + (f" ({name})" if len(ceilings) > 1 else "") for rate, name in ceilings.items()]
    return f" Read ceiling: {', '.join(rates)} GB/s." if rates else ""


def launches(entries, variants=None):
    """How these variants were launched, where the runs say it."""
    by_variant = {}
    for result in results_of(entries):
        if result.get("launch") and (variants is None or result["variant"] in variants):
            by_variant.setdefault(result["variant"], []).append(result["launch"])
    parts = [f"`{variant}` was {' or '.join(unique(texts))}" for variant, texts in by_variant.items()]
    return f" {'; '.join(parts)}." if parts else ""


def skipped(entries):
    """Which variants were skipped, and why."""
    reasons = unique(f"`{result['variant']}` ({result['reason']})" for result in results_of(entries) if result["check"] == "skipped")
    return f" Skipped: {'; '.join(reasons)}." if reasons else ""


def results_of(entries):
    return [result for entry in entries for result in entry["run"]["results"]]


def variants_of(entries):
    return unique(result["variant"] for result in results_of(entries))


def rates_of(entry):
    """{strategy: GB/s} of a run; a wrong result has none."""
    return {result["variant"]: None if result["check"] == "mismatch" else result["gb_s"]
            for result in entry["run"]["results"]}


# ---- the kinds of tables -------------------------------------------------------------------------
#
# Each gives the entries that it shows, its title, its columns, its rows and what stands below it. What follows the
# recording are the words behind the file on a page.


def results_table(recording, program, name, size):
    """one run: a row for each strategy"""
    (entry,) = select(recording, "runs", program=program, input=name, size=size)
    rows = [[f"`{result['variant']}`", result["kernel_ms"] and result["kernel_ms"]["median"], *speeds_of(recording, entry, result), result["check"]]
            for result in entry["run"]["results"]]
    return ([entry], f"{device(entry)}: {input_of(entry)}",
            ["<Strategy", "Time, ms", "GB/s", "% of the read ceiling", "Times the speed of `serial`", "<Check"], rows,
            f"Medians.{ceiling_words(recording, [entry])} `serial` on the host: {digits(recorded.serial_ms(recording, entry))} ms."
            + launches([entry]))


def device_table(recording, chapter, inputs, size):
    """a chapter on one device: the photo in both APIs, and the other inputs in CUDA, where that was recorded"""
    names = inputs.split(",")
    runs = {(entry["run"]["api"], entry["input"]): entry for entry in select(recording, "runs", size=size)
            if entry["program"] in (f"{chapter}/cuda", f"{chapter}/opencl")}
    apis = [api for api in ("OpenCL", "CUDA") if (api, "photo") in runs]
    if not apis:
        raise NotRecorded(f"{chapter} photo {size} is not among its runs")
    last = apis[-1]
    rates = {each: rates_of(entry) for each, entry in runs.items()}
    main = runs[last, "photo"]
    entries = [runs[api, "photo"] for api in apis] + [runs[last, name] for name in names if name != "photo"]
    rows = []
    for result in main["run"]["results"]:
        _, percent, faster = speeds_of(recording, main, result)
        name = result["variant"]
        rows.append([f"`{name}`", *(rates[api, "photo"].get(name) for api in apis), percent, faster,
                     *(rates[last, other].get(name) for other in names if other != "photo"), result["end_to_end_ms"]])
    of = f"{last}, " if len(apis) > 1 else ""
    columns = ["<Strategy", *(f"{api}, GB/s" for api in apis), f"{of}% of the read ceiling", f"{of}times `serial`",
               *(f"{of}{name}, GB/s" for name in names if name != "photo"), f"{of}end to end, ms"]
    wrong = [f"`{result['variant']}` {result['check']}" for result in results_of(entries) if result["check"] != "match"]
    note = (f"Medians; {'; '.join(unique(wrong)) or 'every result matches'}.{ceiling_words(recording, entries)} "
            f"`serial` on the host, photo: {digits(recorded.serial_ms(recording, main))} ms.")
    return entries, f"{main['run']['device']}: {input_of(main)}", columns, rows, note + launches(entries)


def by_entry(entries, what, first, more, note, show=lambda entry, rate: rate):
    """A row for each entry: what `first` gives of it, the speed of each strategy as `show` has it, and what `more` makes of these.

    Both are {title: function of an entry and of its {strategy: GB/s}}.
    """
    variants = variants_of(entries)
    rows = [[*(of(entry, rates) for of in first.values()), *(show(entry, rates.get(variant)) for variant in variants),
             *(of(entry, rates) for of in more.values())] for entry, rates in zip(entries, map(rates_of, entries))]
    return entries, f"{device(entries[0])}: {what}", [*first, *(f"`{variant}`" for variant in variants), *more], rows, note


INPUT = {"<Input": lambda entry, _: entry["input"]}
BESIDE_CUB = {"`tuned` / CUB": lambda _, rates: ratio(rates.get("tuned"), rates.get("cub"))}


def microseconds(entry, rate):
    return ratio(pixels_in(entry) / 1000, rate)


def percent(rate, ceiling):
    share = ratio(rate, ceiling)
    return share and 100 * share


def best(rates):
    return max((rate for rate in rates if rate), default=None)


def peers_table(recording, size):
    """a row for each input: the strategies beside the library; of contention a few"""
    entries = [entry for entry in select(recording, "runs", program=recorded.PEERS, size=size)
               if entry["input"] in (*recorded.PICTURES, "contention-10", "contention-40", "contention-90")]
    share = {"`tuned`, % of the read ceiling": lambda entry, rates: percent(rates.get("tuned"), recorded.read_ceiling(recording, entry))}
    return by_entry(entries, f"{size_in_words(pixels_in(entries[0]))}, GB/s", INPUT, {**share, **BESIDE_CUB},
                    f"Medians.{ceiling_words(recording, entries)} The last column: how many times as fast `tuned` is."
                    + launches(entries) + skipped(entries))


def cpu_peers_table(recording, size):
    """a row for each input: chapter 01's strategies beside other people's, and `simd` beside the best of these"""
    entries = select(recording, "runs", program=recorded.CPU_PEERS, size=size)
    peers = [variant for variant in variants_of(entries) if variant not in recorded.CPU_OWN]
    return by_entry(entries, f"{size_in_words(pixels_in(entries[0]))}, GB/s", INPUT,
                    {"`simd` / best peer": lambda _, rates: ratio(rates.get("simd"), best(map(rates.get, peers)))},
                    "Medians. `threads-` run on all threads, the others on one. The last column: how many times as fast `simd` is as "
                    "the fastest peer of its row." + launches(entries, peers) + skipped(entries))


def queued_table(recording, name):
    """a row for each size: times with all commands in the device's queue before it begins, beside reading alone"""
    def ceiling(entry):
        return recorded.read_ceiling(recording, entry, ("queued",))

    entries = select(recording, "queued", program=recorded.PEERS, input=name)
    first = {"<Size": lambda entry, _: size_in_words(pixels_in(entry)), "Reading alone": lambda entry, _: microseconds(entry, ceiling(entry))}
    more = {"`tuned` / reading alone": lambda entry, rates: ratio(ceiling(entry), rates.get("tuned")), **BESIDE_CUB}
    return by_entry(entries, f"{name}, µs, all commands queued", first, more,
                    "Medians. `tuned` / reading alone: how many times as long it takes; the last column: how many times as "
                    "fast it is." + launches(entries) + skipped(entries), microseconds)


def shown(experiment, kept, pixels, column=""):
    """The number that an experiment shows of a run; None where it was too short for one."""
    if experiment.counters:
        counter = column if column in experiment.counters else experiment.counters[0]
        return kept["percent"][counter] / pixels * (32 if "32 pixels" in experiment.unit else 1)
    took = kept["result"]["kernel_ms"]
    if took is None or experiment.unit in ("ms", "us", "ns a hop"):
        return took and took["median"] * (1000 if experiment.unit == "us" else 1)
    # A run that counts wrongly on purpose has no rate in its JSON, and a time all the same.
    return kept["result"]["gb_s"] or ratio(pixels / 1e6, took["median"])


def experiment_table(recording, name, apis, inputs, sizes):
    """one of docs/tools/experiments.py: a row and a column for each thing that changes, or of several APIs, inputs, sizes"""
    apis, inputs, sizes = apis.split(","), inputs.split(","), sizes.split(",")
    found = [each for api in apis for given in inputs for size in sizes
             for each in recorded_of(recording, name, api=api, input=given, size=size)]
    experiment, entries, cells = EXPERIMENTS[name], [entry for _, entry, _ in found], {}
    for run, entry, kept in found:
        row = run.row if len(sizes) == 1 else size_in_words(pixels_in(entry))
        cells.setdefault(row, {})[entry["run"]["api"], entry["input"], run.column] = shown(experiment, kept, pixels_in(entry), run.column)
    columns = [(api, given, column) for api in apis for given in inputs
               for column in unique(run.column for run in experiment.runs)]
    tells = len(apis) > 1, len(inputs) > 1, True
    heads = [", ".join(word for word, told in zip(each, tells) if told and word) or each[1] for each in columns]
    rows = [[row, *map(of.get, columns)] for row in unique([*(run.row for run in experiment.runs), *cells])
            if (of := cells.get(row))]  # what was not asked then is left out
    where = device(entries[0]) if len(apis) == 1 else entries[0]["run"]["device"]
    given = [size_in_words(pixels_in(entries[0])), *(inputs if len(inputs) == 1 else [])] if len(sizes) == 1 else []
    what = ", ".join([*given, experiment.unit])
    return (entries, f"{where}: {what}", [f"<{experiment.corner}", *heads], rows, experiment.note)


def slow_table(recording):
    """the chapters' slow/: how many times as fast what is beside each of them is, as the model says it, and as recorded"""
    rows, entries, cells = [], [], {}
    for one in gallery.mistakes(folder="slow"):
        name, row = "slow" if one.picture() == "uniform" else f"slow-{one.picture()}", f"{one.number} `{one.name}`"
        if name not in cells:
            found, *_, shown_rows, _ = experiment_table(recording, name, "CUDA,OpenCL", one.picture(), "256M")
            entries, cells[name] = entries + found, {each[0]: each[1:] for each in shown_rows}
        cuda, beside, opencl, beside_opencl = cells[name][row]
        rows.append([row, one.picture(), one.limit, cuda, beside, one.gain, ratio(beside, cuda), ratio(beside_opencl, opencl)])
    return (entries, f"{entries[0]['run']['device']}: 256 MiB, what is slow and what is fast beside it",
            ["<Kernel", "<Picture", "<Limit", "Slow, GB/s", "Beside it, GB/s", "Times as fast, predicted", "measured", "in OpenCL"], rows,
            "Medians; those without an API are of CUDA.")


def profiles(recording, experiments):
    """[(row, entry, {counter: value})] of the kernels that these experiments have profiled, in their order."""
    return [(run.row + (", ramp" if entry["input"] == "ramp" else ""), entry, kept["percent"])
            for name in experiments for run, entry, kept in recorded_of(recording, name)]


PROFILES = ("profile", "profile-ramp")


def counts_of(entry, counted):
    """{what a column is called: what is shown there}; None where the profiler counted nothing."""
    return {title: None if counted[counter] is None else of(counted[counter], pixels_in(entry)) for title, (counter, of) in PROFILE.items()}


def profile_table(recording):
    """a row for each kernel: what Nsight Compute counted while it ran"""
    found = profiles(recording, PROFILES)
    rows = [[row, *counts_of(entry, counted).values()] for row, entry, counted in found]
    return ([entry for _, entry, _ in found], f"{device(found[0][1])}: {size_in_words(pixels_in(found[0][1]))} of random pixels",
            ["<Kernel", *PROFILE], rows, "One launch of each under Nsight Compute.")


def stalls_table(recording):
    """a row for each kernel: what its warps spend their time on, as Nsight Compute says"""
    found, rows = profiles(recording, PROFILES), []
    for row, _, counted in found:
        samples = [sum(counted[stall(reason)] or 0 for reason in reasons) for reasons in STALLS.values()]
        rows.append([row, *(100 * each / sum(samples) for each in samples)])
    return ([entry for _, entry, _ in found], f"{device(found[0][1])}: what a warp waits for, in % of its time", ["<Kernel", *STALLS], rows,
            "One launch of each under Nsight Compute: the stall reasons `"
            + "`; `".join("`, `".join(reasons) for reasons in STALLS.values()) + "`, in the order of the columns.")


# The kernels of the exercise, in an order that gives nothing away, and the columns of the profile that are its rows.
WHOSE = ("`vector`, ramp", "`local`", "`tuned`", "`vector`", "`lane-bins`", "`tuned`, ramp")
BUSY = {"Memory": "Memory busy, %", "Shared memory": "Banks busy, %", "Integer unit": "Integer unit busy, %",
        "Instructions issued": "Clocks in which one is issued, %"}


def whose_table(recording):
    """six profiles without the kernels' names: what each kept busy"""
    found = {row: (entry, counts_of(entry, counted)) for row, entry, counted in profiles(recording, PROFILES)}
    rows = [[title, *(found[row][1][column] for row in WHOSE)] for title, column in BUSY.items()]
    return ([found[row][0] for row in WHOSE], "Whose profile is this?", ["<Busy, %", *"ABCDEF"], rows,
            "CUDA on an H100, one launch of each under Nsight Compute.")


def under_way_table(recording):
    """the fastest launch for each number of bytes in flight, and the time of an answer by Little's law"""
    entries, points = laws.launches(recording, "CUDA")
    more, others = laws.launches(recording, "OpenCL")
    in_opencl = {(point.launch, point.strategy): point.gb_s for point in others}
    rows = []
    for under_way in unique(point.under_way for point in points):
        best = max((point for point in points if point.under_way == under_way), key=lambda point: point.gb_s)
        rows.append([f"{under_way:,}", best.launch, f"`{best.strategy}`", in_opencl.get((best.launch, best.strategy)), best.gb_s,
                     best.answer_ns])
    title = f"Bytes in flight on {entries[0]['run']['device']}: {size_in_words(pixels_in(entries[0]))} of random pixels"
    return (entries + more, title, ["Bytes in flight", "<On each multiprocessor", "<Strategy", "OpenCL, GB/s", "CUDA, GB/s",
                                    "CUDA: multiprocessors x bytes / speed, ns"], rows,
            f"Medians. {entries[0]['run']['units']} multiprocessors.")


def fitted(points):
    """(a, b, the largest miss of a point in %) of time = a + n / b, by least squares of what is missed in relation to the time."""
    weights = [1 / time**2 for _, time in points]
    n, t = (sum(weight * point[place] for weight, point in zip(weights, points)) / sum(weights) for place in (0, 1))
    slope = (sum(weight * (pixels - n) * (time - t) for weight, (pixels, time) in zip(weights, points))
             / sum(weight * (pixels - n) ** 2 for weight, (pixels, _) in zip(weights, points)))
    a = t - slope * n
    return a, 1 / slope, max(abs(100 * ((a + slope * pixels) / time - 1)) for pixels, time in points)


def fixed_table(recording, name="sizes"):
    """a row for each strategy and API of the experiment `sizes`, or of another: time = a + n / b, where there are three sizes or more"""
    points, shown = {}, {}
    for run, entry, kept in recorded_of(recording, name):
        key = run.row, entry["run"]["api"]
        points.setdefault(key, []).append((pixels_in(entry), 1e6 * kept["result"]["kernel_ms"]["median"]))
        shown.setdefault(key, []).append(entry)
    enough = [key for key in points if len(points[key]) > 2]
    if not enough:
        raise NotRecorded("no strategy has three sizes")
    entries = [entry for key in enough for entry in shown[key]]
    rows = []
    for row, api in enough:
        a, b, miss = fitted(points[row, api])
        rows.append([row, api, a / 1000, b, f"{miss:.1f}"])
    least, most = (size_in_words(of(pixels for key in enough for pixels, _ in points[key])) for of in (min, max))
    return (entries, f"time = a + n / b on {entries[0]['run']['device']}: random pixels, {least} to {most}",
            ["<Strategy", "<API", "a, µs", "b, GB/s", "Largest error of the fit, %"], rows,
            "Fitted to medians by least squares, in relation to the time. Only what was recorded in three sizes or more.")


def warps_table(recording):
    """chapter 02's `global`: what a warp wants of the table at a step, and how long that takes; then with near values far apart"""
    usual = select(recording, "runs", program="02-global-atomics/cuda", size="1G")
    far = [(entry, kept) for run, entry, kept in recorded_of(recording, "near", api="OpenCL", size="256M") if run.edit]
    rows = [[entry["input"], *laws.usual(entry["input"]), rates_of(entry)["global"]] for entry in usual]
    queue = next(row[-1] for row in rows if row[0] == "constant")
    rows += [[f"{entry['input']}, 101 v % 256", *laws.wants(laws.pixels_of(entry["input"]), lambda value: 101 * value % 256),
              shown(EXPERIMENTS["near"], kept, pixels_in(entry))] for entry, kept in far]
    # One value has 32 additions to one counter, one after the other.
    rows = [[*row, row[-1] / queue, laws.WARP / rate, rate] for *row, rate in rows]
    return (usual + [entry for entry, _ in far], f"`global` on {usual[0]['run']['device']}: the 32 pixels of a warp at one step",
            ["<Pixels", "Sectors", "Visits", "In the fuller queue", f"x {1 / queue:.2f} ns", "Measured for each warp, ns", "GB/s"],
            rows,
            f"The first three numbers are worked out from the pixels. {1 / queue:.2f} ns: a 32nd of what a warp of `constant` "
            "takes. Medians; CUDA, 1 GiB; the rows with 101 OpenCL, 256 MiB; their counts are right, but in other places.")


def end_to_end_table(recording, folder, name, size):
    """a row for each way to copy and count, in the APIs beside each other"""
    entries = [entry for entry in select(recording, "end_to_end", input=name, size=size) if entry["program"].rsplit("/", 1)[0] == folder]
    entries.sort(key=lambda entry: entry["run"]["api"] == "CUDA")
    apis = [entry["run"]["api"] for entry in entries]
    ways = [{way["variant"]: (way["kernel_ms"]["median"], way["gb_s"], way["check"]) for way in entry["run"]["results"]} for entry in entries]
    copied = [of.pop("copy")[0] for of in ways]
    rows = []
    for variant in unique(variant for of in ways for variant in of):
        times, speeds, checks = zip(*(of.get(variant, (None, None, None)) for of in ways))  # one API may have more ways
        right = [check != "mismatch" for check in checks]  # a wrong result has no speed
        percent = [100 * copy / time if is_right and time else None for copy, time, is_right in zip(copied, times, right)]
        speeds = [speed if is_right else None for speed, is_right in zip(speeds, right)]
        rows.append([f"`{variant}`", *times, *speeds, *percent, ", ".join(unique(filter(None, checks)))])
    heads = [f"{api}, {what}" for what in ("ms", "GB/s", "% of the speed of the copy alone") for api in apis]
    copies = " and ".join(f"{digits(copy)} ms ({api})" for api, copy in zip(apis, copied))
    return (entries, f"{entries[0]['run']['device']}: {input_of(entries[0])}, end to end", ["<Way", *heads, "<Check"], rows,
            f"Medians. The copy from pinned memory alone took {copies}.")


def by_number(recording, kind, program, kinds):
    """The entries of a workshop by the number that it changes, a column with the best in % of the read ceiling, and the ceilings."""
    entries = sorted(select(recording, kind, program=program), key=lambda entry: int(entry["experiment"]))
    ceilings = unique(recorded.read_ceiling(recording, entry, kinds) for entry in entries)
    share = {"The best, % of the read ceiling": lambda entry, rates: percent(best(rates.values()), recorded.read_ceiling(recording, entry, kinds))}
    return entries, share, f" Read ceiling: {', '.join(map(digits, ceilings))} GB/s."


PIXELS = {"<Pixels": lambda entry, _: entry["input"]}


def many_table(recording, program, unit):
    """a row for each side of many pictures: the strategies, in GB/s or in µs a picture"""
    def a_picture(entry, rate):
        time = ratio(int(entry["experiment"]) ** 2 / 1000, rate)
        return f"{time:#.3g}" if time and time < 0.1 else time  # three digits of times below a tenth, too

    entries, share, below = by_number(recording, "many", program, ("runs", "many"))
    first = {"<Pictures": lambda entry, _: f"{entry['experiment']} x {entry['experiment']}", **PIXELS,
             "Number": lambda entry, _: re.search(r"(\d+) pictures?", entry["run"]["input"]["name"])[1]}
    in_all = {"more": share, "note": f"Medians.{below}{skipped(entries)}"}
    return by_entry(entries, f"a histogram for each picture, {unit}", first,
                    **(in_all if unit == "GB/s" else {"more": {}, "note": f"Medians.{skipped(entries)}", "show": a_picture}))


def bins_table(recording, program):
    """a row for each number of bins: the strategies, in GB/s, on random pixels and on equal ones"""
    entries, share, below = by_number(recording, "bins", program, ("bins",))
    return by_entry(entries, "more bins than 256, GB/s", {"<Bins": lambda entry, _: entry["experiment"], **PIXELS}, share,
                    f"Medians.{below}{skipped(entries)}")


def tuning_table(recording, program):
    """a row for each size: the best launch that the search found"""
    (entry,) = select(recording, "tune", program=program)
    run = entry["run"]
    rows = [[size_in_words(best["pixels"]), f"`{best['kernel']}`",
             *(str(best[part]) for part in ("copies", "loads", "group_size", "groups_per_unit")),
             f"{digits(1000 * worst)} µs" if (worst := best["worst_ms"]) < 1 else f"{digits(worst)} ms", best["gb_s"]] for best in run["best"]]
    count = Counter(trial["outcome"] for trial in run["trials"])
    outcomes = ", ".join(f"{count[name]} {name}" for name in ("measured", "refused", "wrong", "not tried"))
    return ([entry], f"{device(entry)}: the best launch found for each size",
            ["<Pixels", "<Kernel", "Copies", "Loads", "Group size", "Groups for each unit", "Time", "GB/s"], rows,
            f"The time is that of the picture that took longest; the search took {digits(run['seconds'])} s: "
            f"of {len(run['trials'])} launches {outcomes}.")


def cluster_table(recording, program, size):
    """a row for each number of ranks, each of which counts so many pixels"""
    (entry,) = select(recording, "cluster", program=program, size=size)
    runs = entry["run"]["scaling"]
    rows = [[str(run["ranks"]), size_in_words(run["input"]["pixels"]), run["all_ms"]["median"], run["all_ms"]["min"],
             run["input"]["pixels"] / run["all_ms"]["median"] / 1e6, ratio(100 * runs[0]["all_ms"]["median"], run["all_ms"]["median"]),
             run["all_reduce"][0]["median_us"]] for run in runs]
    return ([entry], f"{device(entry)}: {size_in_words(recorded.pixels_of(size))} for each rank",
            ["Ranks", "Pixels", "Median, ms", "Fastest, ms", "GB/s", "Efficiency, %", "All-reduce, µs"], rows,
            f"GB/s and efficiency are by medians: one rank's time over that of so many, for as many pixels each. {entry['run']['rounds']} "
            f"rounds of {runs[0]['all_ms']['runs']} runs each; shown is the round with the fastest run. {entry['run']['mpi']}.")


# ---- the ladder of a chapter and of the book: kernel by kernel, what changes and what it gave --------

KI, CPU = 1 << 10, "01-cpu"


class Rung(NamedTuple):
    """A kernel, in its default launch, or the row of an experiment that stands on the way to it."""

    chapter: str
    kernel: str
    change: str
    under_way: int = 0  # bytes on each multiprocessor: groups x work-items x bytes a load x loads; 0 on a CPU
    experiment: str = ""  # where it is no run
    row: str = ""
    in_book: bool = True
    options: str = ""


RUNGS = (
    Rung(CPU, "serial", "one loop, one table"),
    Rung(CPU, "interleaved", "eight counters for each bin"),
    Rung(CPU, "simd", "no store for each pixel"),
    Rung(CPU, "threads-atomic", "threads, and one table of atomics for all"),
    Rung(CPU, "threads-false-sharing", "a counter for each thread, on one cache line"),
    Rung(CPU, "threads-private", "a table for each thread"),
    Rung(CPU, "threads-simd", "a table for each thread, no store for each pixel"),
    Rung(ATOMICS, "global", "one table for all, an atomic addition for each pixel", 512),
    Rung(ATOMICS, "subhist", "a table for each group, in global memory, and a second kernel adds them", 512),
    Rung(LOCAL, "local", "the group's table in local memory", 512),
    Rung(LANES, "lane-bins", "16 pixels to a load", 8 * KI, "lanes", "one table, 16 pixels per load",
         options=" --copies 1 --loads 1"),
    Rung(LANES, "lane-bins", "and four loads in flight", 32 * KI, "lanes", "and four loads in flight",
         options=" --copies 1 --loads 4"),
    Rung(LANES, "lane-bins", "and a copy of the table for each lane", 32 * KI, "lanes", "and 32 copies of the table",
         options=" --copies 32 --loads 4"),
    Rung(LANES, "lane-bins", "and twice the work-items, so twice the bytes in flight: `lane-bins` as it is", 64 * KI, "lanes",
         "and one group of 1024 for each unit: `lane-bins`"),
    Rung(LANES, "private", "a table for each work-item, in private memory", 512, in_book=False),
    Rung(LANES, "uchar-bins", "8-bit counters for each work-item, in local memory", 256, in_book=False),
    Rung(LANES, "uchar-bins-banked", "the same, each work-item in a bank of its own", 256, in_book=False),
    Rung(LESSON, "tuned", "another kernel, which asks for its loads ahead; the launch that a search found", 64 * KI),
)


def link(rung, which):
    """The kernel's name, with a link to the part of its chapter that is about it, or to the chapter."""
    text = (ROOT / rung.chapter / "README.md").read_text(encoding="utf-8")
    titles = [title for _, title in HEADING.findall(FENCED.sub("", text))]
    parts = [anchor(title) for title in titles if title.replace("`", "").startswith(f"{rung.kernel}:")]
    page = {rung.chapter: "", "book": f"{rung.chapter}/README.md"}.get(which, f"../{rung.chapter}/README.md")
    place = page + (f"#{parts[0]}" if parts else "")
    name = f"`{rung.kernel}{rung.options}`"
    return f"[{name}]({place})" if place else name


def found_in(recording, rung, name, size):
    """{API: (entry, its right result)} of a rung."""
    where = {"input": name, "size": size}
    found = {}
    with contextlib.suppress(NotRecorded):
        if rung.experiment:
            results = [(entry, kept["result"]) for run, entry, kept in recorded_of(recording, rung.experiment, **where) if run.row == rung.row]
        else:
            results = [(entry, result) for entry in select(recording, "runs", **where) for result in entry["run"]["results"]
                       if entry["program"].rpartition("/")[0] == rung.chapter and result["variant"] == rung.kernel]
        found = {entry["run"]["api"]: (entry, result) for entry, result in results if result["check"] == "match" and result["gb_s"]}
    return found


def rungs_of(which):
    """Those of the book; or of a chapter, and before them where it comes from."""
    if which == "book":
        return [rung for rung in RUNGS if rung.in_book and rung.chapter != CPU]
    before = [rung for rung in RUNGS if CPU < rung.chapter < which and rung.in_book]
    return before[-1:] + [rung for rung in RUNGS if rung.chapter == which]


def ladder_table(recording, which, name, size):
    """`book`, or a chapter: its kernels in order, what changes with each, and what it gave"""
    rows = [(rung, found) for rung in rungs_of(which) if (found := found_in(recording, rung, name, size))]
    if not rows:
        raise NotRecorded(f"{which} {name} {size} is not among its runs")
    apis = sorted({api for _, found in rows for api in found}, reverse=True)
    entries = [entry for _, found in rows for entry, _ in found.values()]
    ceiling = recorded.read_ceiling(recording, {**entries[0], "size": size})
    of, waits = f"{apis[-1]}, " if len(apis) > 1 else "", which != "book" and any(rung.under_way for rung, _ in rows)
    columns = ["<Kernel", "<What changes", *(["Bytes in flight"] if waits else []),
               *(f"{api}, GB/s" if of else "GB/s" for api in apis), f"{of}% of the read ceiling"]
    cells = []
    for rung, found in rows:
        rates = [found[api][1]["gb_s"] if api in found else None for api in apis]
        cells.append([link(rung, which), rung.change, *([f"{rung.under_way:,}"] if waits else []), *rates,
                      100 * rates[-1] / ceiling if rates[-1] else None])
    launch = rows[-1][1][apis[-1]][1].get("launch")
    note = (f"Medians. Read ceiling: {digits(ceiling)} GB/s."
            + (" Bytes in flight: on each multiprocessor, in CUDA." if waits else "")
            + (f" `{rows[-1][0].kernel}` in {apis[-1]} was {launch}." if launch else ""))
    title = (f"The {'book' if which == 'book' else 'chapter'}, kernel by kernel, on {entries[0]['run']['device']}: "
             f"{size_in_words(recorded.pixels_of(size))}, {name}")
    return entries, title, columns, cells, note


TABLES = {"ladder": ladder_table, "results": results_table, "device": device_table, "peers": peers_table,
          "cpu-peers": cpu_peers_table, "queued": queued_table, "experiment": experiment_table, "under-way": under_way_table, "fixed": fixed_table,
          "profile": profile_table, "stalls": stalls_table, "whose": whose_table, "warps": warps_table, "slow": slow_table,
          "end-to-end": end_to_end_table, "many": many_table, "bins": bins_table, "tuning": tuning_table, "cluster": cluster_table}
__doc__ += "".join(f"    {kind}: FILE {' '.join(list(inspect.signature(table).parameters)[1:])}\n        {table.__doc__}\n"
                   for kind, table in TABLES.items())


def provenance(file, recording, entries):
    """When, at which commits, with what and on what these entries were measured."""
    hosts = [recorded.host(recording, entry) for entry in entries]
    commits = {day: unique(re.sub("(?<=^[0-9a-f]{8})[0-9a-f]+", "", entry["commit"] or "") for entry in entries if entry["date"] == day)
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


# ---- what the pages call -------------------------------------------------------------------------


def table_of(kind):
    """What writes such a table into a page."""

    def write(page, file, *arguments):
        entries, title, columns, rows, note = TABLES[kind](recorded.loaded(ROOT / file), *arguments)
        page.shown.setdefault(file, []).extend(entries)
        return [f"**{title}**", "", *markdown(columns, rows), *(["", note] if note else [])]

    return write


def provenance_of(page, file):
    page.told[file] = len(page.shown.get(file, []))
    if not page.shown.get(file):
        raise NotRecorded("no table of the page is of this file")
    return provenance(file, recorded.loaded(ROOT / file), page.shown[file])


def untold(page):
    """The files of which a page has tables, but does not say behind them when they were recorded."""
    return [f"there is no comment <!-- provenance: {file} --> behind the tables of {file}"
            for file, shown in page.shown.items() if page.told.get(file) != len(shown)]


KINDS = {**{kind: table_of(kind) for kind in TABLES}, "provenance": provenance_of}
