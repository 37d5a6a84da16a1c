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
from typing import NamedTuple

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
SCHEDULERS, CLOCK = 4, 1.98  # of a multiprocessor, each of which issues an instruction of a warp in a clock; GHz
BYTES_A_QUEUE = 512


class Plot(NamedTuple):
    """A figure, on logarithmic scales, of nothing but what JSON can hold."""

    title: str
    about: str  # what a screen reader says of it
    subtitle: str
    source: str
    axes: tuple  # the words below and beside them
    ticks: dict  # {value: words} below
    ends: tuple  # of the axes: (from, to), (from, to)
    limit: tuple  # a value, and the words at the dashed line across the figure that has it
    lines: tuple  # of each: points, dashes
    words: tuple  # at such a line: x, y, the words, how they are aligned; none where there are none
    series: dict  # {name: its points}
    marks: tuple  # the form, size and colour of each series
    named: bool = False  # whether each is one point, whose name stands beside the figure


def source_of(entries):
    """What a figure says of its numbers."""
    run = entries[0]["run"]
    return f"{run['device']}; medians, recorded {recorded.dates(entries)}."


def drawing_of(plot):
    """The figure as Matplotlib has it."""
    from matplotlib.figure import Figure
    right = WIDTH - (240 if plot.named else 30)
    figure = Figure(figsize=(WIDTH / 72, HEIGHT / 72), facecolor=LIGHT["page"])
    axes = figure.add_axes((LEFT_END / WIDTH, 1 - BOTTOM / HEIGHT, (right - LEFT_END) / WIDTH, (BOTTOM - TOP) / HEIGHT))
    axes.set_yscale("log", subs=[])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xscale("log")
    axes.set_xticks([*plot.ticks], plot.ticks.values(), size=SMALL)
    axes.set_xticks([], minor=True)
    axes.set_xlabel(plot.axes[0], labelpad=8)
    axes.grid(axis="y")
    axes.axhline(plot.limit[0], color=LIGHT["muted"], dashes=(5, 4))
    axes.annotate(plot.limit[1].format(digits(plot.limit[0])), (0, plot.limit[0]), (4, 11), xycoords=("axes fraction", "data"),
                  textcoords="offset points", gid=HALO, zorder=4, **MUTED)
    for y, words, how in ((28, plot.title, {"size": 16 if len(plot.title) < 75 else 14, **BOLD}), (48, plot.subtitle, MUTED),
                          (70, plot.axes[1], MUTED), (BOTTOM + 68, plot.source, {"size": SMALL, **MUTED})):
        figure.text(16 / WIDTH, 1 - y / HEIGHT, words, **how)
    axes.set(xlim=plot.ends[0], ylim=plot.ends[1])
    for points, dashes in plot.lines:
        axes.plot(*zip(*points), color=LIGHT["green"], dashes=dashes)
    for x, y, words, align in plot.words:
        axes.text(x, y, words, color=LIGHT["green"], gid=HALO, ha=align)
    for (name, points), (form, size, colour) in zip(plot.series.items(), plot.marks):
        axes.plot(*zip(*points), form, color=LIGHT[colour], markersize=size, label=name)
    if plot.named:
        name_points(axes, plot.series)
    else:
        axes.legend(loc="lower right", bbox_to_anchor=(1.01, 0.08), labelcolor="markerfacecolor", prop=BOLD, handletextpad=0.2)
    return figure


def name_points(axes, series):
    """The name of each point on the right, in the order of their heights, with a line to it."""
    to_axes = axes.transData - axes.transAxes
    places = {name: to_axes.transform(points[0]) for name, points in series.items()}
    label = 2
    for name in sorted(places, key=lambda name: -places[name][1]):
        x, y = places[name]
        label = min(y, label - 17 / (BOTTOM - TOP))
        how = {"transform": axes.transAxes, "clip_on": False}
        axes.plot([x, 1.02, 1.04], [y, label, label], linewidth=1, color=LIGHT["grid"], zorder=1, **how)
        axes.text(1.05, label, name, va="center_baseline", size=SMALL, **CODE, **how)


def in_bytes(low, high, step=1):
    """Ticks {bytes: words}, a power of two to each `step`."""
    powers = (power for power in range(0, 32, step) if low <= 2**power <= high)
    return {2**power: f"{2 ** (power % 10)}{('', ' Ki', ' Mi', ' Gi')[power // 10]}" for power in powers}


def law_plot(recording):
    """GB/s against the bytes in flight on a multiprocessor, in CUDA. Raises NotRecorded."""
    entries, points = laws.launches(recording, "CUDA")
    run, ceiling, answer = entries[0]["run"], laws.ceiling(recording, entries), laws.answer_ns(points)
    first, last = points[0].under_way, points[-1].under_way
    loads = {1: "a byte a load: local and lane-bins", 16: "16 bytes a load: lane-bins"}
    return Plot("Twice the bytes in flight, twice the speed, up to the ceiling",
                "GB/s of the same launches as in the table of chapter 03, on logarithmic scales, against the bytes that "
                "a multiprocessor has in flight: "
                "a byte a load, the points follow a line of slope one; 16 bytes a load, they bend to the read ceiling.",
                f"{run['api']}, {size_in_words(run['input']['pixels'])} of random pixels; both scales logarithmic", source_of(entries),
                ("bytes in flight on each multiprocessor", "GB/s"), in_bytes(first, last),
                ((first / 1.5, last * 1.5), (10 ** math.floor(math.log10(points[0].gb_s)), 5000)), (ceiling, "read ceiling, {} GB/s"),
                (([(first, first * run["units"] / answer), (ceiling * answer / run["units"], ceiling)], ()),),
                ((1400, 200, f"slope one: a byte a load, an answer in {answer:.0f} ns", "left"),),
                {words: [(point.under_way, point.gb_s) for point in points if point.bytes_a_load == load] for load, words in loads.items()},
                (("o", 9, "blue"), ("D", 7, "orange")))


def queues_plot(recording):
    """The queues of the L2 cache at work against the bytes of the counters, in CUDA. Raises NotRecorded."""
    entry, series, alone = laws.queues(recording)
    places, queues = zip(*(point for points in series.values() for point in points))
    limit = max(queues)
    return Plot("Twice the table, twice the queues, up to the device's limit",
                "Queues of the L2 cache at work, on logarithmic scales, against the bytes over which the counters are spread: one "
                f"for each {BYTES_A_QUEUE} bytes, up to a limit. Counters in three spacings, on one line.",
                f"CUDA; both scales logarithmic; one counter alone: {digits(alone)} additions/ns, one queue", source_of([entry]),
                ("bytes from the first counter to the last", "queues at work"), in_bytes(4, 4**12, 2),
                ((min(places) / 1.5, max(places) * 1.5), (0.8, 150)), (limit, "most: {} queues"),
                (([(1, 1), (BYTES_A_QUEUE, 1), (BYTES_A_QUEUE * limit, limit)], ()),),
                ((5000, 14, f"one for each {BYTES_A_QUEUE} bytes", "right"),), series, (("o", 7, "blue"), ("D", 6, "orange"), ("s", 6, "green")))


def roofline(recording):
    """Instructions a nanosecond against instructions for each byte from memory, of all profiled kernels. Raises NotRecorded."""
    found = tables.profiles(recording, tables.PROFILES)
    first, points = found[0][1], {}
    for row, _, counted in found:
        instructions, ns = counted["smsp__inst_executed.sum"], counted["gpu__time_duration.sum"]
        points[row.replace("`", "")] = [(instructions / counted["dram__bytes_read.sum"], instructions / ns)]
    if len(points) < 3:  # one kernel makes no figure
        raise NotRecorded("too few kernels were profiled")
    units = max(each["run"]["units"] for _, each, _ in found)  # an entry without a launch of its own has none
    most, ceiling = units * SCHEDULERS * CLOCK, laws.ceiling(recording, [first])
    xs, ys = zip(*(point for point, in points.values()))
    low, high = min(xs) / 2, max(xs) * 2
    return Plot("A roofline: what holds a kernel up, the memory, the instructions or neither",
                "Instructions of warps a nanosecond against instructions for each byte from memory, on logarithmic scales, for each kernel "
                "that was profiled. A slope is what the memory gives, a level what the schedulers issue; most kernels lie far below both.",
                f"{first['run']['api']}; both scales logarithmic; under the profiler", source_of([first]),
                ("instructions of a warp for each byte from memory", "instructions of warps a ns"),
                {value: f"{value:g}" for value in (0.03, 0.1, 0.3, 1, 3, 10) if low <= value <= high},
                ((low, high), (10 ** math.floor(math.log10(min(ys))), 3 * most)), (most, "the schedulers issue no more: {} a ns"),
                (([(low, low * ceiling), (most / ceiling, most)], ()),),
                ((high / 1.1, 0.3 * high * ceiling, f"the memory: {digits(ceiling)} GB/s", "right"),),
                points, (("o", 8, "blue"),) * len(points), named=True)


def predicted_plot(recording):
    """Predicted against measured GB/s."""
    series = {words: [] for words in ("chapters, CUDA", *(f"other kernels, {half}" for half in ("seen", "unseen")))}
    for row in predicted.rows():
        if row["predicted_us"] and row["api"] == "CUDA":
            name = "chapters, CUDA" if row["of"] == "chapters" else f"other kernels, {row['half']}"
            series[name].append([float(digits(row["pixels"] / row[key] / 1000)) for key in ("measured_us", "predicted_us")])
    return Plot("Predicted from counts, and measured", "Predicted against measured GB/s on logarithmic scales: most points lie near the diagonal, "
                "between the lines of a quarter more and less; kernels of other kinds spread further than those of the chapters.",
                "each point a kernel, a picture and a launch; the lines: as measured, and a quarter off",
                f"{recording['machine']['gpu']}; medians (docs/counting.md).", ("measured, GB/s", "predicted, GB/s"),
                {value: f"{value}" for value in (1, 10, 100, 1000)}, ((1, 5000),) * 2, (3133, "read ceiling, {} GB/s"),
                tuple(([(1, off), (5000, 5000 * off)], dashes) for off, dashes in ((1, ()), (1.25, (5, 4)), (0.8, (5, 4)))), (), series,
                (("o", 6, "blue"), ("D", 6, "orange"), ("^", 7, "purple")))


def signed(plot, drawing, by):
    """The file: a drawing, what drew it, and the sum of that and of what it shows."""
    text = json.dumps(plot) + drawing + by
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
        drawing_of(plot).savefig(out, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
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
