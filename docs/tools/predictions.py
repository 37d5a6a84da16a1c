"""What a lesson asks its reader to predict, at the end of the answer, for generate.py and the site (docs/site/stage.py):

    predict: choice =WORDS WORDS ...     one of these; the right one begins with =
    predict: number UNIT FILE PROGRAM INPUT SIZE STRATEGY [/ PROGRAM INPUT SIZE STRATEGY] [ours=NUMBER]
                                         a speed in GB/s, or how many times one is the other; what we expected
    predict: lost UNIT FILE PROGRAM INPUT  how many percent of the counts `racy` loses in its experiment
    predict: profile UNIT FILE KERNEL COLUMN [ours=NUMBER]  what the profiler counted, by the words of its table

All take ask="WORDS" at their end, where the question in the page is not the one. `bins` and `many` have their experiment, such as
1024 or 64, in place of the size.
"""

import re

import recorded
import tables
from recorded import ROOT, NotRecorded, digits, select


def speed(recording, program, name, size, strategy):
    kind = next((kind for kind in ("many", "bins") if f"/{kind}/" in program), "runs")  # which have their experiment in place of a size
    (entry,) = select(recording, kind, program=program, input=name, **{"size" if kind == "runs" else "experiment": size})
    rate = tables.rates_of(entry).get(strategy)
    if not rate:
        raise NotRecorded(f"{program} has no {strategy}")
    return entry, rate


def lost(recording, program, name):
    (entry,) = select(recording, "experiments", program=program, input=name, experiment="racy")
    reason = next(kept["result"]["reason"] for kept in entry["run"]["runs"] if kept["result"]["variant"] == "racy")
    total, pixels = map(int, re.search(r"total (\d+) instead of (\d+)", reason).groups())
    return entry, 100 * (1 - total / pixels)


def profiled(recording, kernel, column):
    for row, entry, counted in tables.profiles(recording, tables.PROFILES):
        if row.replace("`", "") == kernel:
            return entry, tables.counts_of(entry, counted)[column]
    raise NotRecorded(f"{kernel} was not profiled")


def question(kind, *words):
    """What the site asks: {kind, ask, and choices and right, or unit, measured, where, ours}; and {file: the entries that it is of}."""
    named = dict(word.split("=", 1) for word in words if re.match("(ours|ask)=", word))
    words = [word for word in words if word.partition("=")[0] not in named]
    asked = {"kind": kind, "ask": named.get("ask")}
    if kind == "choice":
        right = [place for place, word in enumerate(words) if word.startswith("=")]
        if len(words) < 2 or len(right) != 1:
            raise ValueError("of several choices one begins with =")
        return {**asked, "choices": [word.lstrip("=") for word in words], "right": right[0]}, {}
    unit, file, *of = words
    recording = recorded.loaded(ROOT / file)
    if kind not in ("lost", "profile", "number"):
        raise ValueError(f"a prediction is a choice, a number, lost or profile, not '{kind}'")
    wanted = [part.split() for part in " ".join(of).split(" / ")] if kind == "number" else [of]
    found = [{"lost": lost, "profile": profiled, "number": speed}[kind](recording, *each) for each in wanted]
    (first, value), *others = found
    host = recorded.host(recording, first)
    # Without a GPU the device is the processor, which its machine names better than its driver does.
    where = f"{first['run']['device'] if host['gpu'] else host['processor']} ({first['run']['api']})"
    return ({**asked, "kind": "number", "unit": unit, "measured": digits(value / others[0][1] if others else value), "where": where,
             "ours": named.get("ours")}, {file: [entry for entry, _ in found]})


def predict(page, *words):
    asked, shown = question(*words)
    for file, entries in shown.items():
        page.shown.setdefault(file, []).extend(entries)
    if asked["kind"] == "choice":
        return []
    ours = f"We expected {asked['ours']} {asked['unit']}. " if asked["ours"] else ""
    return [f"{ours}Measured on {asked['where']}: {asked['measured']} {asked['unit']}."]


KINDS = {"predict": predict}
