#!/usr/bin/env python3
"""Writes the recorded results into the pages, and checks that pages and results agree.

    docs/tables.py             rewrite the tables
    docs/tables.py --check     change nothing; exit 1 where a page differs or a result that a page names
                               is not recorded

A table stands in a page between two comments. The first says what it shows:

    results: docs/results/h200.json 04-per-thread-bins/cuda photo 1G
                                     one run: a row for each strategy
    inputs: docs/results/h200.json 05-launch-tuning/cuda 1G
                                     one program: a row for each input
    chapters: docs/results/h200.json photo 1G
                                     a row for each program: its fastest strategy
    peers: docs/results/h200.json 1G
                                     a row for each input: the strategies beside the libraries
    queued: docs/results/h200.json 256K
                                     the same with all commands in the device's queue before it begins
    end-to-end: docs/results/h200.json 05-launch-tuning/cuda photo 1G
                                     a row for each way to copy and count
    tuning: docs/results/h200.json 05-launch-tuning/cuda
                                     a row for each size: the best launch that --tune found
    loads: docs/results/h200.json 1G 1024 1
                                     a row for each API: what --tune found for each number of loads in groups
                                     of 1024, one for each unit
    counters: docs/results/h200.json uniform 1G
                                     a row for each kernel: what it kept busy, as the profiler read it

The second is always "end of results". The pages have examples.
"""

import argparse
import inspect
import re
import sys
from collections import Counter

import recorded
from pages import pages
from recorded import ROOT, NotRecorded, digits, size_in_words, unique

OPENING = re.compile(r"<!-- [\w-]+: docs/results/")
END = "<!-- end of results -->"
TABLE = re.compile(rf"<!-- ([\w-]+): (docs/results/\S+)([^>\n]*) -->\n((?:(?!<!-- ).)*){END}", re.DOTALL)
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


def provenance(recording, entries):
    """When and on what these entries were measured."""
    hosts = [recorded.host(recording, entry) for entry in entries]
    parts = unique(entry["run"]["driver"] for entry in entries) + unique(where["gpu"] for where in hosts)
    names = unique(
        f"{where['processor']}, family {where['processor_family']}, model {where['processor_model']}, "
        f"{where['compiler']}"
        for where in hosts
    )
    commits = unique(entry["commit"] for entry in entries)
    when = recorded.dates(entries) + (f", commit {' and '.join(commits)}" if commits else "")
    return f"recorded {when}. {'; '.join(parts)}; host: {' and '.join(names)}"


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


def speeds_of(result):
    """GB/s, percent of the ceiling and times faster than `serial`; a wrong result has none of them."""
    fields = ("gb_s", "percent_of_ceiling", "speedup_over_serial")
    return [None if result["check"] == "mismatch" else result[field] for field in fields]


def ratio(one, other):
    return None if one is None or not other else one / other


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
        cells = [f"`{result['variant']}`", digits(median), *map(digits, speeds_of(result))]
        cells += [digits(result["end_to_end_ms"])] if copies else []
        rows.append(cells + [result["check"]])
    return [
        heading(entry, input_of(entry)),
        "",
        *markdown(columns, rows),
        "",
        f"Medians, {provenance(recording, [entry])}; "
        f"read ceiling {digits(run['read_ceiling_gb_s'])} GB/s; "
        f"`serial` on the host took {digits(run['serial_ms'])} ms." + launches([entry]),
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
    return {result["variant"]: speeds_of(result)[0] for result in entry["run"]["results"]}


def beside_the_ceiling(entry, variants, compared, shown):
    """An input's cells: the read ceiling, the strategies, and how much of the ceiling one of them reaches."""
    rates, ceiling = rates_of(entry), entry["run"]["read_ceiling_gb_s"]
    share = ratio(rates.get(compared), ceiling)
    return [entry["input"], shown(ceiling), *(shown(rates.get(variant)) for variant in variants),
            digits(None if share is None else 100 * share)]


def inputs_table(recording, program, size):
    """One program: a row for each input. The last strategy is held against the read ceiling."""
    entries = [entry for entry in recording["runs"] if (entry["program"], entry["size"]) == (program, size)]
    if not entries:
        raise NotRecorded(f"{program} {size} is not among its runs")
    variants = unique(result["variant"] for entry in entries for result in entry["run"]["results"])
    rows = [beside_the_ceiling(entry, variants, variants[-1], digits) for entry in entries]
    columns = ["<Input", "Read ceiling", *(f"`{variant}`" for variant in variants)]
    return [
        heading(entries[0], f"{size_in_words(entries[0]['run']['input']['pixels'])}, GB/s"),
        "",
        *markdown(columns + [f"`{variants[-1]}`, % of the read ceiling"], rows),
        "",
        f"Medians, {provenance(recording, entries)}." + launches(entries),
    ]


def chapters_table(recording, name, size):
    """A row for each program: its fastest strategy."""
    entries = [
        entry
        for entry in recording["runs"]
        if (entry["input"], entry["size"]) == (name, size) and entry["program"] != recorded.PEERS
        and fastest(entry["run"])
    ]
    if not entries:
        raise NotRecorded(f"no chapter's run on {name} {size} is recorded")
    rows = []
    for entry in entries:
        best = fastest(entry["run"])
        cells = [entry["run"]["chapter"], entry["run"]["api"], f"`{best['variant']}`", digits(best["gb_s"])]
        rows.append(cells + [digits(best["percent_of_ceiling"]), digits(best["speedup_over_serial"])])
    columns = ["<Chapter", "<API", "<Fastest strategy", "GB/s", "% of the read ceiling"]
    # Without a GPU all of them ran on the one processor, which OpenCL calls by another name.
    hosts = [recorded.host(recording, entry) for entry in entries]
    names = [entry["run"]["device"] if where["gpu"] else where["processor"] for entry, where in zip(entries, hosts)]
    devices = " and ".join(unique(names))
    return [
        f"**The fastest of each chapter on {devices}: {input_of(entries[0])}**",
        "",
        *markdown(columns + ["Times faster than `serial`"], rows),
        "",
        f"Medians, {provenance(recording, entries)}; each beside the read ceiling and the `serial` of its own run.",
    ]


def peers_table(recording, size):
    """A row for each input: the strategies beside the libraries."""
    return beside_the_libraries(recording, "runs", size)


def queued_table(recording, size):
    """The same with all commands in the device's queue before it begins. It has no read ceiling."""
    return beside_the_libraries(recording, "queued", size)


def beside_the_libraries(recording, kind, size):
    entries = [e for e in recording[kind] if (e["program"], e["size"]) == (recorded.PEERS, size)]
    if not entries:
        raise NotRecorded(f"{recorded.PEERS} {size} is not among its {kind}")
    pixels = entries[0]["run"]["input"]["pixels"]
    small = pixels < SMALL
    variants = unique(result["variant"] for entry in entries for result in entry["run"]["results"])
    if small:  # of a picture that is no larger than a cache it says nothing
        variants = [variant for variant in variants if variant != "from-cache"]

    def shown(gb_s):
        return digits(ratio(pixels / 1000, gb_s) if small else gb_s)

    columns = ["<Input", "Reading alone" if small else "Read ceiling", *(f"`{variant}`" for variant in variants)]
    lines = [columns + ["`tuned`, % of the read ceiling", "`tuned` / CUB", "`tuned` / NPP"]]
    for entry in entries:
        rates = rates_of(entry)
        ratios = [digits(ratio(rates.get("tuned"), rates.get(library))) for library in ("cub", "npp")]
        lines.append(beside_the_ceiling(entry, variants, "tuned", shown) + ratios)
    what = f"{size_in_words(pixels)}, {'µs' if small else 'GB/s'}"
    if kind == "queued":
        what += ", all commands queued"
        of_the_ceiling = (1, 2 + len(variants))
        lines = [[cell for at, cell in enumerate(line) if at not in of_the_ceiling] for line in lines]
    return [
        heading(entries[0], what),
        "",
        *markdown(lines[0], lines[1:]),
        "",
        f"Medians, {provenance(recording, entries)}. The last two columns: how many times as fast `tuned` is."
        + launches(entries, variants) + skipped(entries),
    ]


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
    return [
        heading(entry, f"{input_of(entry)}, end to end"),
        "",
        *markdown(["<Way", "Time, ms", "GB/s", "% of the speed of the copy alone", "<Check"], rows),
        "",
        f"Medians, {provenance(recording, [entry])}; "
        f"the copy from pinned memory alone took {digits(run['pinned_copy_ms'])} ms.",
    ]


def tuning_table(recording, program):
    """A row for each size: the best launch that --tune found."""
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
    return [
        heading(entry, "the best launch found for each size"),
        "",
        *markdown(columns + ["Time", "GB/s"], rows),
        "",
        f"The time is that of the picture that took longest, {provenance(recording, [entry])}; "
        f"the search took {digits(run['seconds'])} s: of {len(run['trials'])} launches {outcomes}.",
    ]


def loads_table(recording, size, group_size, groups):
    """A row for each API and for one copy and the most: lane-bins in one launch for each number of loads."""
    pixels = recorded.pixels_of(size)
    launch = (pixels, "lane-bins", int(group_size), int(groups), "measured")
    rows, entries, numbers = [], [], set()
    for entry in recording["tune"]:
        rates = {
            (trial["copies"], trial["loads"]): trial["gb_s"]
            for trial in entry["run"]["trials"]
            if (trial["pixels"], trial["kernel"], trial["group_size"], trial["groups_per_unit"],
                trial["outcome"]) == launch
        }
        if rates:
            entries.append(entry)
            numbers.update(loads for _, loads in rates)
            rows += [(entry["run"]["api"], copies, rates) for copies in unique([1, max(copies for copies, _ in rates)])]
    if not rows:
        raise NotRecorded(f"lane-bins at {size} in groups of {group_size}, {groups} for each unit, is not among its tune")
    columns = ["<API", "Copies", *(f"{number} load{'s' if number > 1 else ''}" for number in sorted(numbers))]
    cells = [[api, str(copies), *(digits(rates.get((copies, number))) for number in sorted(numbers))]
             for api, copies, rates in rows]
    return [
        f"**`lane-bins` on {entries[0]['run']['device']}: {size_in_words(pixels)}, GB/s**",
        "",
        *markdown(columns, cells),
        "",
        f"In groups of {group_size}, {groups} for each unit; the picture that took longest, "
        f"{provenance(recording, entries)}.",
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
    return [
        heading(entries[0], f"{size_in_words(entries[0]['run']['input']['pixels'])} of {name} pixels, busy in %"),
        "",
        *markdown(["<Chapter", "<Strategy", *recorded.COUNTERS], rows),
        "",
        "Of the memory's bytes in percent of what its clock allows, which reading alone does not reach either; of the "
        "others in percent of the clocks in which a multiprocessor was at work. One launch under Nsight Compute, "
        f"{provenance(recording, entries)}.",
    ]


KINDS = {
    "results": results_table,
    "inputs": inputs_table,
    "chapters": chapters_table,
    "peers": peers_table,
    "queued": queued_table,
    "end-to-end": end_to_end_table,
    "tuning": tuning_table,
    "loads": loads_table,
    "counters": counters_table,
}


# ---- the pages -----------------------------------------------------------------------------------


def table(kind, file, arguments):
    """The lines between the two comments. Raises NotRecorded, also for a comment that makes no sense."""
    if kind not in KINDS:
        raise NotRecorded(f"there is no kind of table '{kind}', only {', '.join(KINDS)}")
    wanted = list(inspect.signature(KINDS[kind]).parameters)[1:]
    if len(arguments) != len(wanted):
        raise NotRecorded(f"'{kind}' takes, after the file: {' '.join(wanted)}")
    try:
        return "\n".join(KINDS[kind](recorded.load(ROOT / file), *arguments)) + "\n"
    except KeyError as error:
        raise NotRecorded(f"{file} lacks the field {error}") from None
    except ValueError as error:
        raise NotRecorded(f"'{kind}' of {' '.join(arguments)}: {error}") from None


def with_tables(text, wrong):
    """The page with its tables as the results have them; what cannot be is added to `wrong`."""

    def written(match):
        kind, file, arguments, _ = match.groups()
        try:
            return f"<!-- {kind}: {file}{arguments} -->\n{table(kind, file, arguments.split())}{END}"
        except NotRecorded as error:
            wrong.append(f"{file}{arguments}: {error}")
            return match.group(0)

    if len(OPENING.findall(text)) != len(TABLE.findall(text)):
        wrong.append("a table's first comment has no end, or is not written as docs/tables.py says")
    return TABLE.sub(written, text)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true", help="change nothing, and exit 1 where something is wrong")
    check = arguments.parse_args().check
    wrong = []
    for page in pages():
        name = page.relative_to(ROOT)
        old = page.read_text(encoding="utf-8")
        found = []
        new = with_tables(old, found)
        if new != old and check:
            found.append("a table differs from its results (docs/tables.py writes it)")
        elif new != old:
            page.write_text(new, encoding="utf-8")
            print(f"wrote {name}")
        wrong += [f"{name}: {line}" for line in found]
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
