#!/usr/bin/env python3
"""Draws the recorded results with Matplotlib: docs/figures/*.svg.

    docs/tools/plots.py             draw all that there are results for
    docs/tools/plots.py --check     change nothing; exit 1 where a figure is not what the results give

    law.svg                       bytes in flight against speed: a line of slope one, and the ceiling
    queues-law.svg                bytes of a table against the queues of the L2 cache at work, likewise
    predicted.svg                 times predicted from counts against measured ones
    roofline.svg                  instructions for each byte from memory against instructions a nanosecond

What is not recorded yet is not drawn. A file ends with what drew it, and with a sum of that, of what it shows and of the
drawing, which --check computes again, with or without Matplotlib.
"""

import argparse
import contextlib
import hashlib
import io
import json
import math
import sys
from typing import Callable, NamedTuple

import laws
import predicted
import recorded
import tables
from recorded import ROOT, NotRecorded, digits, size_in_words
from svg import HALO, LIGHT, head

RESULTS = ROOT / "docs" / "results"
FIGURES = ROOT / "docs" / "figures"
DEVICE = "h100"
WIDTH, HEIGHT = 800, 520  # pixels, as are all lengths here: a point of Matplotlib is one in the file
TOP, BOTTOM, LEFT_END = 80, 440, 70
SMALL = 11
STYLE = {
    "svg.fonttype": "none", "svg.hashsalt": "histogram",  # text stays text, and each run gives the same file
    "font.size": 13, "font.sans-serif": "DejaVu Sans", "font.monospace": "DejaVu Sans Mono",
    "text.color": LIGHT["ink"], "axes.labelcolor": LIGHT["muted"], "xtick.color": LIGHT["muted"], "ytick.color": LIGHT["muted"],
    "axes.facecolor": "none", "axes.axisbelow": True, "grid.color": LIGHT["grid"], "grid.linewidth": 1, "legend.frameon": False,
    "ytick.major.size": 0, "ytick.major.pad": 10, "xtick.major.size": 5, "lines.linewidth": 1.5,
    **{f"axes.spines.{side}": False for side in ("left", "right", "top", "bottom")},
}
MUTED, CODE, BOLD = {"color": LIGHT["muted"]}, {"family": "monospace"}, {"weight": "bold"}
LEGEND = {"labelcolor": "markerfacecolor", "prop": BOLD, "handletextpad": 0.2}


class Plot(NamedTuple):
    """A figure: its title, what a screen reader says of it, what it shows, and the function that draws that."""

    title: str
    about: str
    shows: dict  # with the title the arguments of `draw`; JSON can hold them
    draw: Callable


def source_of(entries):
    """What a figure says of its numbers."""
    run = entries[0]["run"]
    return f"{run['device']}; medians, recorded {recorded.dates(entries)}."


def chart(title, subtitle, below, source, ceiling, ticks, lowest, highest, right=WIDTH - 30, unit="GB/s", limit="read ceiling, {} GB/s"):
    """GB/s on logarithmic scales, with the read ceiling, the words `below` the axis, and the source; (figure, axes).

    `ticks` are {value: words}.
    """
    from matplotlib.figure import Figure
    figure = Figure(figsize=(WIDTH / 72, HEIGHT / 72), facecolor=LIGHT["page"])
    axes = figure.add_axes((LEFT_END / WIDTH, 1 - BOTTOM / HEIGHT, (right - LEFT_END) / WIDTH, (BOTTOM - TOP) / HEIGHT))
    axes.set_yscale("log", subs=[])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set(ylim=(10 ** math.floor(math.log10(lowest)), highest))
    axes.set_xscale("log")
    axes.set_xticks([*ticks], ticks.values(), size=SMALL)
    axes.set_xticks([], minor=True)
    axes.set_xlabel(below, labelpad=8)
    axes.grid(axis="y")
    axes.axhline(ceiling, color=LIGHT["muted"], dashes=(5, 4))
    axes.annotate(limit.format(digits(ceiling)), (0, ceiling), (4, 11), xycoords=("axes fraction", "data"),
                  textcoords="offset points", gid=HALO, zorder=4, **MUTED)
    for y, words, how in ((28, title, {"size": 16 if len(title) < 75 else 14, **BOLD}), (48, subtitle, MUTED), (70, unit, MUTED),
                          (BOTTOM + 68, source, {"size": SMALL, **MUTED})):
        figure.text(16 / WIDTH, 1 - y / HEIGHT, words, **how)
    return figure, axes


# law.svg
BYTES_A_LOAD = {1: ("o", 9, "blue", "a byte a load: local and lane-bins"), 16: ("D", 7, "orange", "16 bytes a load: lane-bins")}


def law_plot(recording):
    """GB/s against the bytes in flight on a multiprocessor, in CUDA. Raises NotRecorded."""
    entries, points = laws.launches(recording, "CUDA")
    run = entries[0]["run"]
    return Plot("Twice the bytes in flight, twice the speed, up to the ceiling",
                "GB/s of the same launches as in the table of chapter 03, on logarithmic scales, against the bytes that "
                "a multiprocessor has in flight: "
                "a byte a load, the points follow a line of slope one; 16 bytes a load, they bend to the read ceiling.",
                {"subtitle": f"{run['api']}, {size_in_words(run['input']['pixels'])} of random pixels; both scales logarithmic",
                 "source": source_of(entries), "ceiling": laws.ceiling(recording, entries), "answer": laws.answer_ns(points),
                 "units": run["units"], "points": [(point.under_way, point.gb_s, point.bytes_a_load) for point in points]}, draw_law)


def draw_law(title, subtitle, source, ceiling, answer, units, points):
    """`points`: (bytes in flight on each multiprocessor, GB/s, bytes a load), by their bytes."""
    first, last = points[0][0], points[-1][0]
    ticks = {2**power: f"{2**power}" if power < 10 else f"{2 ** (power - 10)} Ki" for power in range(32) if first <= 2**power <= last}
    figure, axes = chart(title, subtitle, "bytes in flight on each multiprocessor", source, ceiling, ticks, points[0][1], 5000)
    axes.set(xlim=(first / 1.5, last * 1.5))
    axes.plot([first, ceiling * answer / units], [first * units / answer, ceiling], color=LIGHT["green"])
    axes.text(1400, 200, f"slope one: a byte a load, an answer in {answer:.0f} ns", color=LIGHT["green"], gid=HALO)
    for load, (form, size, colour, words) in BYTES_A_LOAD.items():
        places = [(x, y) for x, y, bytes_a_load in points if bytes_a_load == load]
        axes.plot(*zip(*places), form, color=LIGHT[colour], markersize=size, label=words)
    axes.legend(loc="lower right", **LEGEND)
    return figure


# queues-law.svg: the form and the colour of each series
SERIES = (("o", 7, "blue"), ("D", 6, "orange"), ("s", 6, "green"), ("x", 8, "muted"), ("*", 15, "purple"), ("P", 11, "best"), ("^", 9, "yellow"))
BYTES_A_QUEUE = 512


def queues_plot(recording):
    """The queues of the L2 cache at work against the bytes of the counters, in CUDA. Raises NotRecorded."""
    entries, found, alone = laws.additions(recording)
    series = {}
    for point in found:
        series.setdefault(point.series.replace("`", ""), []).append((point.table, round(point.queues, 4)))
    run = entries[0]["run"]
    return Plot("Twice the table, twice the queues, up to the device's limit",
                "Queues of the L2 cache at work, on logarithmic scales, against the bytes over which the counters are spread: one "
                f"for each {BYTES_A_QUEUE} bytes, up to a limit. Probes, chapter 02 and the workshop bins on one line.",
                {"subtitle": f"{run['api']}; both scales logarithmic; one counter alone: {digits(alone)} additions/ns, one queue",
                 "source": source_of(entries), "limit": max(queues for points in series.values() for _, queues in points),
                 "series": series}, draw_queues)


def draw_queues(title, subtitle, source, limit, series):
    """`series`: {its name: [(bytes of the table, queues)]}."""
    places = [table for points in series.values() for table, _ in points]
    ticks = {4**power: f"{4**power}" if power < 5 else f"{4**power >> 10} Ki" if power < 10 else f"{4**power >> 20} Mi" for power in range(1, 13)}
    figure, axes = chart(title, subtitle, "bytes from the first counter to the last", source, limit, ticks, 1, 300,
                         unit="queues at work", limit="most: {} queues")
    axes.set(xlim=(min(places) / 1.5, max(places) * 1.5), ylim=(0.8, 150))
    axes.plot([1, BYTES_A_QUEUE, BYTES_A_QUEUE * limit], [1, 1, limit], color=LIGHT["green"])
    axes.text(5000, 14, f"one for each {BYTES_A_QUEUE} bytes", color=LIGHT["green"], gid=HALO, ha="right")
    for (name, points), (form, size, colour) in zip(series.items(), SERIES):
        axes.plot(*zip(*points), form, color=LIGHT[colour], markersize=size, label=name)
    axes.legend(loc="lower right", bbox_to_anchor=(1.01, 0.08), **LEGEND)
    return figure


# roofline.svg
SCHEDULERS, CLOCK = 4, 1.98  # of a multiprocessor, each of which issues an instruction of a warp in a clock; GHz


def roofline(recording):
    """Instructions a nanosecond against instructions for each byte from memory, of all profiled kernels. Raises NotRecorded."""
    found = tables.profiles(recording, tables.PROFILES)
    first = found[0][1]
    points = {}
    for row, _, counted in found:
        instructions, ns = counted["smsp__inst_executed.sum"], counted["gpu__time_duration.sum"]
        points[row.replace("`", "")] = instructions / counted["dram__bytes_read.sum"], instructions / ns
    units = max(each["run"]["units"] for _, each, _ in found)  # an entry without a launch of its own has none
    if len(points) < 3:  # one kernel makes no figure
        raise NotRecorded("too few kernels were profiled")
    return Plot("A roofline: what holds a kernel up, the memory, the instructions or neither",
                "Instructions of warps a nanosecond against instructions for each byte from memory, on logarithmic scales, for each kernel "
                "that was profiled. A slope is what the memory gives, a level what the schedulers issue; most kernels lie far below both.",
                {"subtitle": f"{first['run']['api']}; both scales logarithmic; under the profiler", "source": source_of([first]),
                 "ceiling": laws.ceiling(recording, [first]), "most": units * SCHEDULERS * CLOCK, "points": points},
                draw_roofline)


def draw_roofline(title, subtitle, source, ceiling, most, points):
    """`points`: {kernel: (instructions for each byte, instructions a nanosecond)}."""
    xs, ys = zip(*points.values())
    low, high = min(xs) / 2, max(xs) * 2
    ticks = {value: f"{value:g}" for value in (0.03, 0.1, 0.3, 1, 3, 10) if low <= value <= high}
    figure, axes = chart(title, subtitle, "instructions of a warp for each byte from memory", source, most, ticks, min(ys), 3 * most,
                         560, "instructions of warps a ns", "the schedulers issue no more: {} a ns")
    axes.set(xlim=(low, high))
    axes.plot([low, most / ceiling], [low * ceiling, most], color=LIGHT["green"])
    axes.text(high / 1.1, 0.3 * high * ceiling, f"the memory: {digits(ceiling)} GB/s", color=LIGHT["green"], gid=HALO, ha="right")
    to_axes = axes.transData - axes.transAxes
    places = {name: to_axes.transform(point) for name, point in points.items()}
    label = 2
    for name in sorted(places, key=lambda name: -places[name][1]):
        x, y = places[name]
        label = min(y, label - 17 / (BOTTOM - TOP))
        how = {"transform": axes.transAxes, "clip_on": False}
        axes.plot([x, 1.02, 1.04], [y, label, label], linewidth=1, color=LIGHT["grid"], zorder=1, **how)
        axes.plot(x, y, "o", color=LIGHT["blue"], markersize=8, **how)
        axes.text(1.05, label, name, va="center_baseline", size=SMALL, **CODE, **how)
    return figure


# predicted.svg
HALVES = (("o", 6, "blue", "chapters, CUDA"), ("D", 6, "orange", "other kernels, seen"), ("^", 7, "purple", "other kernels, unseen"),
          ("s", 6, "yellow", "other kernels, stranger"))


def predicted_plot(recording):
    """Predicted against measured GB/s."""
    series = {words: [] for _, _, _, words in HALVES}
    for row in predicted.rows():
        if row["predicted_us"] and row["api"] == "CUDA":
            name = "chapters, CUDA" if row["of"] == "chapters" else f"other kernels, {row['half']}"
            series[name].append([float(digits(row["pixels"] / row[key] / 1000)) for key in ("measured_us", "predicted_us")])
    return Plot("Predicted from counts, and measured", "Predicted against measured GB/s on logarithmic scales: most points lie near the diagonal, "
                "between the lines of a quarter more and less; kernels of other kinds spread further than those of the chapters.",
                {"subtitle": "each point a kernel, a picture and a launch; the lines: as measured, and a quarter off", "series": series,
                 "source": f"{recording['machine']['gpu']}; medians (docs/counting.md)."}, draw_predicted)


def draw_predicted(title, subtitle, source, series):
    ticks = {value: f"{value}" for value in (1, 10, 100, 1000)}
    figure, axes = chart(title, subtitle, "measured, GB/s", source, 3133, ticks, 1, 5000, unit="predicted, GB/s")
    axes.set(xlim=(1, 5000))
    for off, dashes in ((1, ()), (1.25, (5, 4)), (0.8, (5, 4))):
        axes.plot([1, 5000], [off, 5000 * off], color=LIGHT["green"], dashes=dashes, scalex=False, scaley=False)
    for form, size, colour, words in HALVES:
        axes.plot(*zip(*series[words]), form, color=LIGHT[colour], markersize=size, label=words)
    axes.legend(loc="lower right", **LEGEND)
    return figure


# ---- the files -----------------------------------------------------------------------------------


def signed(plot, drawing, by):
    """The file: a drawing, what drew it, and the sum of that and of what it shows."""
    text = json.dumps([plot.title, plot.about, plot.shows]) + drawing + by
    return f"{drawing}<!-- {by}; {hashlib.sha256(text.encode()).hexdigest()} -->\n</svg>\n"


def drawn(plot):
    """The file, as this Matplotlib draws it."""
    try:
        import matplotlib.style
        from matplotlib.ft2font import __freetype_version__ as freetype
    except ImportError:
        sys.exit("plots.py: no matplotlib (package python3-matplotlib)")
    out = io.StringIO()
    with matplotlib.style.context(["default", STYLE]):
        figure = plot.draw(plot.title, **plot.shows)
        figure.savefig(out, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    # Its own head gives the lengths in points, which are not pixels.
    drawing = out.getvalue().partition("<defs>")[2].removesuffix("</svg>\n")
    return signed(plot, f"{head(WIDTH, HEIGHT, plot.title, plot.about)}<defs>{drawing}", f"Matplotlib {matplotlib.__version__}, FreeType {freetype}")


PLOTS = {"law.svg": law_plot, "predicted.svg": predicted_plot, "queues-law.svg": queues_plot, "roofline.svg": roofline}


def plots():
    """{file name: plot} of everything that there are results for."""
    recording, found = recorded.load(RESULTS / f"{DEVICE}.json"), {}
    for name, plot in PLOTS.items():
        with contextlib.suppress(NotRecorded):
            found[name] = plot(recording)
    return found


def is_right(plot, path):
    """Whether the file shows what the results give, and is as it was drawn."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    drawing, _, end = text.rpartition("<!-- ")
    return text == signed(plot, drawing, end.partition(";")[0])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true", help="change nothing, and exit 1 where a figure differs")
    options = arguments.parse_args()
    wanted = plots()
    there = {name for name in PLOTS if (FIGURES / name).exists()}
    wrong = dict.fromkeys(sorted(there - wanted.keys()), "the results have nothing to draw it from")
    for name, plot in wanted.items():
        if not options.check:
            (FIGURES / name).write_text(drawn(plot), encoding="utf-8")
        elif not is_right(plot, FIGURES / name):
            wrong[name] = "is not what the results give (docs/tools/plots.py draws it)"
    for name, why in wrong.items():
        print(f"{(FIGURES / name).relative_to(ROOT)}: {why}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
