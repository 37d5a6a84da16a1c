#!/usr/bin/env python3
"""Draws the recorded results: docs/figures/*.svg.

    docs/tools/plots.py             draw all that there are results for
    docs/tools/plots.py --check     change nothing; exit 1 where a picture differs from what the results give
    docs/tools/plots.py --search FILE.json OUT.svg
                              draw the heat map of a search: what build/05-launch-tuning/workshops/tune/opencl or
                              tune/cuda wrote with --json FILE.json

    climb.svg                     how far each chapter's strategies come, in percent of the read ceiling
    law.svg                       bytes under way against speed: a line of slope one, and the ceiling
    contention.svg                the strategies and the libraries, from no to full contention
    bins.svg                      256 to 65,536 bins of pixels of 16 bits: which strategy is the fastest
    tuning-DEVICE-PROGRAM.svg     what the search found, a heat map for each size

What is not recorded yet is not drawn.
"""

import argparse
import contextlib
import json
import math
import pathlib
import sys
from collections import Counter

import law
import recorded
from recorded import ROOT, NotRecorded, digits, size_in_words, speeds_of, unique
from svg import HEAT, Picture

RESULTS = ROOT / "docs" / "results"
FIGURES = ROOT / "docs" / "figures"
# Pictures that this program makes and nobody else does.
OURS = ("climb.svg", "law.svg", "contention.svg", "bins.svg", "tuning-*.svg")
# The climb and the contention are those of one device, on inputs of one size.
DEVICE, SIZE = "h100", "1G"
WIDTH = 800


# ---- axes ----------------------------------------------------------------------------------------


class Scale:
    """Puts values between two others on a line between two coordinates: by their logarithm, or by themselves (float)."""

    def __init__(self, low, high, start, end, by=math.log):
        self.low, self.high, self.start, self.end, self.by = low, high, start, end, by

    def __call__(self, value):
        low, high = self.by(self.low), self.by(self.high)
        return self.start + (self.by(value) - low) / (high - low) * (self.end - self.start)

    def decades(self):
        """The powers of ten on it."""
        first = math.ceil(round(math.log10(self.low), 9))
        last = math.floor(round(math.log10(self.high), 9))
        return [10**power if power >= 0 else 1 / 10**-power for power in range(first, last + 1)]


def decade_below(value):
    return 10 ** math.floor(math.log10(value))


def plain(value):
    """0.1, 1, 10, 1000: a power of ten without an exponent."""
    return f"{value:g}" if value < 1 else f"{value:.0f}"


def apart(places, gap, lowest):
    """The places in ascending order, moved as little as it takes to be `gap` apart and above `lowest`."""
    moved = []
    for place in places:
        moved.append(max(place, moved[-1] + gap) if moved else place)
    for i in range(len(moved) - 1, -1, -1):
        limit = lowest if i == len(moved) - 1 else moved[i + 1] - gap
        moved[i] = min(moved[i], limit)
    return moved


def source(entries):
    """What a picture says of its numbers."""
    run = entries[0]["run"]
    return f"{run['device']}; medians, recorded {recorded.dates(entries)}"


# ---- climb.svg -----------------------------------------------------------------------------------

# API: form, colour, where its rates end, and how far its marks stand from the middle of the row, so that
# neither hides the other.
APIS = {"OpenCL": ("diamond", "orange", 696, -4.5), "CUDA": ("circle", "blue", 776, 4.5)}
ROW = 24


def climb_rows(recording, entries):
    """{chapter: {strategy: {API: (GB/s, percent of the ceiling)}}}, chapters and strategies in order."""
    chapters = {}
    for entry in entries:
        strategies = chapters.setdefault(entry["run"]["chapter"], {})
        for result in entry["run"]["results"]:
            rate, percent, _ = speeds_of(recording, entry, result)
            if percent:
                strategies.setdefault(result["variant"], {})[entry["run"]["api"]] = rate, percent
    return chapters


def climb(recording):
    """How far each strategy comes: a row for each, a mark for each API. Raises NotRecorded."""
    entries = [entry for entry in recorded.select(recording, "runs", input="photo", size=SIZE)
               if entry["program"] != recorded.PEERS and entry["run"]["api"] in APIS]
    chapters = climb_rows(recording, entries)
    shares = [percent for strategies in chapters.values() for results in strategies.values()
              for _, percent in results.values()]
    top = 92
    bottom = top + ROW * (len(chapters) + sum(len(strategies) for strategies in chapters.values()))
    picture = Picture(WIDTH, bottom + 84, "How far each chapter's strategies come",
                      "Each strategy's speed in percent of the read ceiling, on a logarithmic scale, in OpenCL and "
                      "in CUDA; the same numbers stand in the tables of the chapters.")
    scale = Scale(decade_below(min(shares)), max(100, *shares) * 1.06, 190, 566)
    climb_head(picture, entries, scale, top, bottom)
    y = top
    for chapter, strategies in chapters.items():
        picture.rect(16, y, WIDTH - 32, ROW, "fill-band")
        picture.text(24, y + 17, chapter, "fill-ink bold")
        y += ROW
        for name, results in strategies.items():
            climb_row(picture, scale, y, name, results)
            y += ROW
    return picture.to_text()


def climb_head(picture, entries, scale, top, bottom):
    """Title, legend, axis, the columns' heads, and the source."""
    given = entries[0]["run"]["input"]
    picture.text(16, 28, "How far each chapter comes, in % of the read ceiling", "fill-ink title")
    picture.text(16, 48, f"{given['name']}, {size_in_words(given['pixels'])}; logarithmic scale", "fill-muted")
    for place, (api, (shape, colour, x, _)) in enumerate(APIS.items()):
        picture.mark(shape, 24 + 86 * place, top - 18.5, f"fill-{colour}")
        picture.text(34 + 86 * place, top - 14, api, f"fill-{colour} bold")
        picture.text(x, top - 24, api, "fill-ink bold", "end")
        picture.text(x, top - 8, "GB/s", "fill-muted", "end")
    for tick in scale.decades():
        picture.line(scale(tick), top, scale(tick), bottom, "line-muted" if tick == 100 else "line-grid",
                     1.5 if tick == 100 else 1, "5 4" if tick == 100 else None)
        picture.text(scale(tick), bottom + 20, f"{plain(tick)} %", "fill-muted", "middle")
    picture.text(scale(100), top - 8, "read ceiling", "fill-muted", "middle")
    picture.text(16, bottom + 52, f"{source(entries)}.", "fill-muted small")
    picture.text(16, bottom + 68, "The ceiling is what the device's memory gives to a program that only reads.",
                 "fill-muted small")


def climb_row(picture, scale, y, name, results):
    """One strategy: its name, its marks, and its rates."""
    picture.text(36, y + 17, name, "fill-ink code")
    places = [scale(percent) for _, percent in results.values()]
    picture.line(scale.start, y + 12.5, max(places), y + 12.5, "line-grid", 2)
    for api, (shape, colour, x, shift) in APIS.items():
        rate, percent = results.get(api, (None, None))
        picture.text(x, y + 17, digits(rate), "fill-ink", "end")
        if percent:
            picture.mark(shape, scale(percent), y + 12.5 + shift, f"fill-{colour}", 4.5)


# ---- speed against something else ----------------------------------------------------------------

TOP, BOTTOM, LEFT_END, RIGHT = 80, 440, 70, 620


def chart(title, words, about, entries, ceiling, across, up, ticks, below, note=""):
    """A picture of GB/s with both its axes, the read ceiling and the source; what was measured is drawn upon it.

    `words` stand below the title, `below` under the axis, whose `ticks` are {value: words}; `about` is for a screen reader.
    """
    picture = Picture(WIDTH, 520, title, about)
    right = across.end
    picture.text(16, 28, title, "fill-ink title")
    picture.text(16, 48, f"{entries[0]['run']['api']}, {words}", "fill-muted")
    picture.text(16, 70, "GB/s", "fill-muted")
    for tick in up.decades():
        picture.line(LEFT_END, up(tick), right, up(tick))
        picture.text(LEFT_END - 10, up(tick) + 4.5, plain(tick), "fill-muted", "end")
    for value, name in ticks.items():
        picture.line(across(value), BOTTOM, across(value), BOTTOM + 5, "line-muted")
        picture.text(across(value), BOTTOM + 20, name, "fill-muted small", "middle")
    picture.text((LEFT_END + right) / 2, BOTTOM + 42, below, "fill-muted", "middle")
    picture.line(LEFT_END, up(ceiling), right, up(ceiling), "line-muted", 1.5, "5 4")
    picture.text(LEFT_END + 4, up(ceiling) - 11, f"read ceiling, {digits(ceiling)} GB/s", "fill-muted halo")
    picture.text(16, BOTTOM + 68, f"{source(entries)}.{note}", "fill-muted small")
    return picture


# law.svg
BYTES_A_LOAD = {1: ("circle", "blue", "a byte a load: local and lane-bins"), 16: ("diamond", "orange", "16 bytes a load: lane-bins")}


def law_picture(recording):
    """GB/s against the bytes under way on a multiprocessor, in CUDA. Raises NotRecorded."""
    entries, points = law.points(recording, "CUDA")
    run = entries[0]["run"]
    ceiling, answer = law.ceiling(recording, entries), law.answer_ns(points)
    first, last = (points[end].under_way for end in (0, -1))
    across = Scale(first / 1.5, last * 1.5, LEFT_END, WIDTH - 30)
    up = Scale(decade_below(points[0].gb_s), 5000, BOTTOM, TOP)
    powers = range(math.ceil(math.log2(first)), math.floor(math.log2(last)) + 1)
    picture = chart("Twice the bytes under way, twice the speed, up to the ceiling",
                    f"{size_in_words(run['input']['pixels'])} of random pixels; both scales logarithmic",
                    "GB/s of the same launches as in the table of chapter 03, on logarithmic scales, against the bytes that "
                    "a multiprocessor has under way: "
                    "a byte a load, the points follow a line of slope one; 16 bytes a load, they bend to the read ceiling.",
                    entries, ceiling, across, up, {2**power: f"{2**power}" if power < 10 else f"{2 ** (power - 10)} Ki" for power in powers},
                    "bytes under way on each multiprocessor")
    bend = ceiling * answer / run["units"]
    picture.path([(across(first), up(first * run["units"] / answer)), (across(bend), up(ceiling))], "line-green", 1.5)
    picture.text(across(1400), up(200), f"slope one: a byte a load, an answer in {answer:.0f} ns", "fill-green halo")
    for point in points:
        shape, colour, _ = BYTES_A_LOAD[point.bytes_a_load]
        picture.mark(shape, across(point.under_way), up(point.gb_s), f"fill-{colour}", 4.5)
    for place, (shape, colour, words) in enumerate(BYTES_A_LOAD.values()):
        picture.mark(shape, 520, 380 + 22 * place, f"fill-{colour}")
        picture.text(532, 384.5 + 22 * place, words, f"fill-{colour} bold")
    return picture.to_text()


# contention.svg and bins.svg: what each variant is called, its form, colour, width of its line. Form and colour tell the same,
# so that either is enough. The first is drawn first, and wide: what lies upon it does not hide it.
LINES = {
    "tuned": ("tuned", "circle", "blue", 7),
    "npp": ("NPP", "square", "purple", 1.5),
    "cub": ("CUB", "triangle", "green", 1.5),
    "global": ("global", "wedge", "yellow", 1.5),
    "local": ("local", "cross", "muted", 1.5),
    "lane-bins": ("lane-bins", "diamond", "orange", 1.5),
    "passes": ("passes", "square", "purple", 1.5),
    "cluster": ("cluster", "circle", "blue", 1.5),
}


def lines_of(entries, place):
    """{variant: [(place, GB/s)]} of the right results of more than one entry, in the order of LINES; `place` is that of an entry."""
    lines = {}
    for entry in entries:
        for result in entry["run"]["results"]:
            if result["check"] == "match" and result["gb_s"]:
                lines.setdefault(result["variant"], []).append((place(entry), result["gb_s"]))
    return {name: sorted(lines[name]) for name in sorted(lines, key=[*LINES].index) if len(lines[name]) > 1}


def up_to(ceiling, lines):
    """The scale for all points of these lines and the ceiling."""
    rates = [rate for points in lines.values() for _, rate in points]
    return Scale(decade_below(min(rates)), max(*rates, ceiling) * 1.3, BOTTOM, TOP)


def draw_lines(picture, across, up, lines):
    """Each line; its name and its rate at its right end, led to it where labels had to move apart."""
    for name, points in lines.items():
        _, shape, colour, width = LINES[name]
        places = [(across(value), up(rate)) for value, rate in points]
        picture.path(places, f"line-{colour}", width)
        for x, y in places:
            picture.mark(shape, x, y, f"fill-{colour}", 6 if width > 2 else 4)
    ends = sorted((up(points[-1][1]), name) for name, points in lines.items())
    labels = apart([y for y, _ in ends], 17, BOTTOM)
    for (y, name), place in zip(ends, labels):
        words, shape, colour, _ = LINES[name]
        picture.path([(RIGHT + 7, y), (RIGHT + 13, y), (RIGHT + 25, place), (RIGHT + 31, place)], f"line-{colour}", 1)
        picture.mark(shape, RIGHT + 40, place, f"fill-{colour}", 4)
        picture.text(RIGHT + 50, place + 4.5, words, f"fill-{colour} bold")
        picture.text(WIDTH - 10, place + 4.5, digits(lines[name][-1][1]), f"fill-{colour}", "end")


def contention(recording):
    """GB/s against contention, a line for each variant of peers. Raises NotRecorded."""
    entries = [entry for entry in recorded.select(recording, "runs", program=recorded.PEERS, size=SIZE)
               if entry["input"] in recorded.CONTENTIONS]
    lines = lines_of(entries, lambda entry: int(entry["input"].split("-")[1]))
    ceiling = recorded.read_ceiling(recording, entries[0])
    across, up = Scale(0, 100, LEFT_END, RIGHT, by=float), up_to(ceiling, lines)
    picture = chart("What contention costs",
                    f"{size_in_words(entries[0]['run']['input']['pixels'])} of random pixels; logarithmic scale",
                    "GB/s of each strategy and library, on a logarithmic scale, against the share of pixels that "
                    "have one and the same value; the table in chapter 05 has the same numbers.",
                    entries, ceiling, across, up, {percent: f"{percent}" for percent in range(0, 101, 10)},
                    "contention: % of the pixels that have one and the same value")
    draw_lines(picture, across, up, lines)
    return picture.to_text()


def bins_picture(recording):
    """GB/s against the number of bins, a line for each strategy, in CUDA. Raises NotRecorded."""
    entries = [entry for entry in recorded.select(recording, "bins", api="CUDA", input="uniform") if entry["experiment"].isdigit()]
    lines = lines_of(entries, lambda entry: int(entry["experiment"]))
    bins = sorted(int(entry["experiment"]) for entry in entries)
    ceiling = recorded.read_ceiling(recording, entries[0], ("bins",))
    across, up = Scale(bins[0], bins[-1], LEFT_END + 10, RIGHT), up_to(ceiling, lines)
    picture = chart("More bins, and where to count them",
                    f"{size_in_words(entries[0]['run']['input']['pixels']).removesuffix('B')} random pixels of 16 bits; both scales logarithmic",
                    "GB/s of each strategy against the number of bins, on logarithmic scales; the table of the workshop bins has "
                    "the same numbers.",
                    entries, ceiling, across, up, {number: f"{number:,}" for number in bins}, "bins",
                    " At the right: GB/s with the most bins that the strategy takes.")
    draw_lines(picture, across, up, lines)
    return picture.to_text()


# ---- tuning-DEVICE-PROGRAM.svg -------------------------------------------------------------------

LEFT = 132
CELL_HEIGHT = 21
SIGNS = {"wrong": "!", "refused": "×", "not tried": "·"}


def row_of(trial):
    """The row of a heat map that a trial belongs to."""
    return f"replicated × {trial['copies']}" if trial["kernel"] == "replicated" else trial["kernel"]


def column_of(trial):
    return trial["group_size"], trial["groups_per_unit"]


def cells_of(trials):
    """{(row, column): trial}, the fastest over the loads; where none was measured, what kept it from that."""
    rank = ["measured", *SIGNS]
    best = {}
    for trial in sorted(trials, key=lambda t: (rank.index(t["outcome"]), t["worst_ms"] or 0)):
        best.setdefault((row_of(trial), column_of(trial)), trial)
    return best


def tuning(entry):
    """What the search tried, a heat map for each size. Raises NotRecorded."""
    run = entry["run"]
    if not any(trial["outcome"] == "measured" for trial in run["trials"]):
        raise NotRecorded("the search measured nothing")
    sizes = sorted({trial["pixels"] for trial in run["trials"]})
    rows = unique(row_of(trial) for trial in run["trials"])
    columns = sorted({column_of(trial) for trial in run["trials"]})
    panel = CELL_HEIGHT * len(rows) + 88
    top = 104
    picture = Picture(WIDTH, top + panel * len(sizes) + 24, f"What the search found on {run['device']} with {run['api']}",
                      "For each size of picture a heat map: the speed of each kernel in each launch, in percent of "
                      "the fastest.")
    picture.text(16, 28, f"What the search found: {run['api']} on {run['device']}", "fill-ink title")
    picture.text(16, 48, "in % of the fastest of the same size; each cell is the best over the number of loads",
                 "fill-muted")
    heat_key(picture, 66, {trial["outcome"] for trial in run["trials"]})
    for number, pixels in enumerate(sizes):
        trials = [trial for trial in run["trials"] if trial["pixels"] == pixels]
        heat_map(picture, top + panel * number, pixels, rows, columns, trials)
    picture.text(16, top + panel * len(sizes) + 8, f"Recorded {entry['date']}; {outcomes(run)}. A time is that of the "
                 "picture that took longest.", "fill-muted small")
    return picture.to_text()


def outcomes(run):
    """How many launches were measured, refused and so on."""
    count = Counter(trial["outcome"] for trial in run["trials"])
    return ", ".join(f"{count[name]} {name}" for name in ("measured", *SIGNS) if count[name])


def heat_key(picture, y, outcomes_there):
    """What the colours and signs mean."""
    for step in range(len(HEAT)):
        picture.rect(16 + 28 * step, y, 28, 14, f"heat-{step}")
    for part in (0, 50, 100):
        anchor = {0: "start", 50: "middle", 100: "end"}[part]
        picture.text(16 + 2.8 * part, y + 27, f"{part} %", "fill-muted small", anchor)
    x = 330
    for name, sign in SIGNS.items():
        if name in outcomes_there:
            picture.text(x, y + 11, f"{sign}  {name}", "fill-muted")
            x += 90
    picture.rect(x, y - 1, 24, 15, "line-best", 2.5)
    picture.text(x + 32, y + 11, "the fastest", "fill-muted")


def heat_map(picture, top, pixels, rows, columns, trials):
    """One size: its heading, a row for each kernel, and under it what the columns are."""
    width = (WIDTH - 16 - LEFT) / len(columns)
    cells = cells_of(trials)
    found = [trial for trial in cells.values() if trial["outcome"] == "measured"]
    best = min(found, key=lambda trial: trial["worst_ms"], default=None)
    picture.text(16, top + 28, f"{size_in_words(pixels)}", "fill-ink bold")
    picture.text(LEFT, top + 28, best_words(best), "fill-ink")
    y = top + 38
    for number, row in enumerate(rows):
        picture.text(LEFT - 10, y + CELL_HEIGHT * number + 15, row, "fill-ink code small", "end")
    for (row, column), trial in cells.items():
        x = LEFT + width * columns.index(column)
        heat_cell(picture, x, y + CELL_HEIGHT * rows.index(row), width, trial, best)
    if best:
        picture.rect(LEFT + width * columns.index(column_of(best)) - 0.5,
                     y + CELL_HEIGHT * rows.index(row_of(best)) - 0.5, width, CELL_HEIGHT, "line-best", 2.5)
    heat_columns(picture, y + CELL_HEIGHT * len(rows), columns, width)


def best_words(best):
    if best is None:
        return "nothing was measured"
    return (f"fastest: {row_of(best)}, {best['loads']} load{'s' if best['loads'] > 1 else ''}, groups of "
            f"{best['group_size']}, {best['groups_per_unit']} for each unit: {digits(best['gb_s'])} GB/s")


def heat_cell(picture, x, y, width, trial, best):
    """A cell with its percentage, or with the sign of what kept it from being measured."""
    middle = x + (width - 1) / 2
    if trial["outcome"] != "measured":
        picture.rect(x, y, width - 1, CELL_HEIGHT - 1, "fill-band")
        picture.text(middle, y + 15, SIGNS[trial["outcome"]], "fill-muted small", "middle")
        return
    percent = 100 * best["worst_ms"] / trial["worst_ms"]
    step = min(int(percent / 100 * len(HEAT)), len(HEAT) - 1)
    picture.rect(x, y, width - 1, CELL_HEIGHT - 1, f"heat-{step}")
    if width >= 20:
        picture.text(middle, y + 14, f"{percent:.0f}", f"{'on-bright' if step > 4 else 'on-dark'} small", "middle")


def heat_columns(picture, y, columns, width):
    """Groups for each unit under each column, and the group size under each run of columns."""
    for number, (_, groups) in enumerate(columns):
        picture.text(LEFT + width * (number + 0.5), y + 13, str(groups), "fill-muted small", "middle")
    for size in unique(size for size, _ in columns):
        places = [number for number, column in enumerate(columns) if column[0] == size]
        start, end = LEFT + width * places[0], LEFT + width * (places[-1] + 1)
        picture.line(start + 2, y + 19, end - 3, y + 19, "line-muted")
        picture.text((start + end) / 2, y + 33, str(size), "fill-ink small", "middle")
    picture.text(LEFT - 10, y + 13, "groups for each unit", "fill-muted small", "end")
    picture.text(LEFT - 10, y + 33, "group size", "fill-muted small", "end")


# ---- the files -----------------------------------------------------------------------------------


def pictures():
    """{file name: contents} of everything that there are results for."""
    recordings = {path.stem: recorded.load(path) for path in sorted(RESULTS.glob("*.json"))}
    todo = {name: (draw, recordings[DEVICE])
            for name, draw in (("climb.svg", climb), ("law.svg", law_picture), ("contention.svg", contention), ("bins.svg", bins_picture))}
    for name, recording in recordings.items():
        todo.update({f"tuning-{name}-{entry['program'].split('/')[-1]}.svg": (tuning, entry) for entry in recording["tune"]})
    drawn = {}
    for name, (draw, what) in todo.items():
        with contextlib.suppress(NotRecorded):
            drawn[name] = draw(what)
    return drawn


def differences(drawn):
    """{file: what is wrong with it} of the committed pictures."""
    files = {path.name for pattern in OURS for path in FIGURES.glob(pattern)}
    wrong = dict.fromkeys(sorted(files - drawn.keys()), "the results have nothing to draw it from")
    for name, text in drawn.items():
        if name not in files or (FIGURES / name).read_text(encoding="utf-8") != text:
            wrong[name] = "is not what the results give (docs/tools/plots.py draws it)"
    return wrong


def draw_search(file, out):
    """The heat map of a search that a program has written. Ends with the reason where that cannot be."""
    try:
        run = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
        recorded.write_whole(pathlib.Path(out), tuning({"run": run, "date": run["date"][:10]}))
    except (OSError, ValueError, LookupError, TypeError) as error:
        sys.exit(f"plots.py: {file} cannot be drawn: {error}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true", help="change nothing, and exit 1 where a picture differs")
    arguments.add_argument("--search", nargs=2, metavar=("FILE.json", "OUT.svg"), help="draw what a search found")
    options = arguments.parse_args()
    if options.search:
        draw_search(*options.search)
        return
    drawn = pictures()
    wrong = differences(drawn)
    for name in [] if options.check else [name for name in wrong if name in drawn]:
        (FIGURES / name).write_text(drawn[name], encoding="utf-8")
        print(f"wrote {name}")
        del wrong[name]
    for name, why in wrong.items():
        print(f"{(FIGURES / name).relative_to(ROOT)}: {why}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
