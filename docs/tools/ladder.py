"""The ladder of a chapter and of the book, for tables.py: kernel by kernel, the one change and what it gave."""

from typing import NamedTuple

from experiments import ATOMICS, EXPERIMENTS, FILLED, LANES, LESSON, LOCAL
from pages import FENCED, HEADING, anchor
from recorded import ROOT, NotRecorded, digits, pixels_of, read_ceiling, size_in_words

KI = 1 << 10
CPU = "01-cpu"


class Rung(NamedTuple):
    """A kernel, in its default launch, or the row of an experiment that stands on the way to it."""

    chapter: str
    kernel: str
    change: str
    under_way: int = 0  # bytes on each multiprocessor: groups x work-items x bytes a load x loads; 0 on a CPU
    experiment: str = ""  # where it is no run
    row: str = ""
    in_book: bool = True


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
    Rung(LOCAL, "local-buckets", "each group writes a row, the host adds the rows", 512, in_book=False),
    Rung(LOCAL, "local-subhist", "a second kernel adds the rows", 512, in_book=False),
    Rung(LANES, "lane-bins", "16 pixels to a load", 8 * KI, "lanes", "one table, 16 pixels per load"),
    Rung(LANES, "lane-bins", "and four loads under way", 32 * KI, "lanes", "and four loads under way"),
    Rung(LANES, "lane-bins", "and a copy of the table for each lane", 32 * KI, "lanes", "and 32 copies of the table"),
    Rung(LANES, "lane-bins", "and groups of 1,024: `lane-bins` as it is", 64 * KI),
    Rung(LANES, "private", "a table for each work-item, in private memory", 512, in_book=False),
    Rung(LANES, "uchar-bins", "8-bit counters for each work-item, in local memory", 256, in_book=False),
    Rung(LANES, "uchar-bins-banked", "the same, each work-item in a bank of its own", 256, in_book=False),
    Rung(LESSON, "two-per-sm", "chapter 03's kernel", 512, in_book=False),
    Rung(LESSON, "two-per-sm", "as many work-items as the device holds", 2 * KI, "steps", FILLED, in_book=False),
    Rung(LESSON, "occupancy", "a walk in x and y, eight rows one after the other", 2 * KI, in_book=False),
    Rung(LESSON, "vector", "16 pixels to a load", 24 * KI, in_book=False),
    Rung(LESSON, "tuned", "copies, loads and launch that a search found for this device", 64 * KI),
)


def link(rung, which):
    """The kernel's name, with a link to the part of its chapter that is about it, or to the chapter."""
    text = (ROOT / rung.chapter / "README.md").read_text(encoding="utf-8")
    titles = [title for _, title in HEADING.findall(FENCED.sub("", text))]
    parts = [anchor(title) for title in titles if title.replace("`", "").startswith(f"{rung.kernel}:")]
    page = {rung.chapter: "", "book": f"{rung.chapter}/README.md"}.get(which, f"../{rung.chapter}/README.md")
    place = page + (f"#{parts[0]}" if parts else "")
    return f"[`{rung.kernel}`]({place})" if place else f"`{rung.kernel}`"


def result_of(entry, rung):
    """The right result that a rung has in an entry of its kind, or None."""
    run = entry["run"]
    if rung.experiment:
        wanted = [each.command(run["units"]) for each in EXPERIMENTS[rung.experiment].runs if each.row == rung.row]
        results = [kept["result"] for kept in run["runs"] if kept["arguments"] in wanted]
    else:
        results = [result for result in run["results"] if result["variant"] == rung.kernel]
    return next((result for result in results if result["check"] == "match" and result["gb_s"]), None)


def found_in(recording, rung, name, size):
    """{API: (entry, result)} of a rung."""
    def fits(entry):
        return (entry["program"].rpartition("/")[0] == rung.chapter and entry["input"] == name
                and entry["size"] == size and entry.get("experiment", "") == rung.experiment)

    kind = "experiments" if rung.experiment else "runs"
    found = {entry["run"]["api"]: (entry, result_of(entry, rung)) for entry in recording[kind] if fits(entry)}
    return {api: each for api, each in found.items() if each[1]}


def rungs_of(which):
    """Those of the book; or of a chapter, and before them where it comes from: chapter 05 begins with 03's kernel itself."""
    if which == "book":
        return [rung for rung in RUNGS if rung.in_book and rung.chapter != CPU]
    before = [rung for rung in RUNGS if CPU < rung.chapter < which != LESSON and rung.in_book]
    return before[-1:] + [rung for rung in RUNGS if rung.chapter == which]


def table(recording, which, name, size):
    """`book`, or a chapter: its kernels in order, the one change of each, and what it gave"""
    rows = [(rung, found) for rung in rungs_of(which) if (found := found_in(recording, rung, name, size))]
    if not rows:
        raise NotRecorded(f"{which} {name} {size} is not among its runs")
    apis = sorted({api for _, found in rows for api in found}, reverse=True)
    entries = [entry for _, found in rows for entry, _ in found.values()]
    ceiling = read_ceiling(recording, {**entries[0], "size": size})
    of, waits = f"{apis[-1]}, " if len(apis) > 1 else "", any(rung.under_way for rung, _ in rows)
    columns = ["<Kernel", "<The one change", *(["Bytes under way"] if waits else []),
               *(f"{api}, GB/s" if of else "GB/s" for api in apis), f"{of}% of the read ceiling"]
    cells = []
    for rung, found in rows:
        rates = [found[api][1]["gb_s"] if api in found else None for api in apis]
        cells.append([link(rung, which), rung.change, *([f"{rung.under_way:,}"] if waits else []), *rates,
                      100 * rates[-1] / ceiling if rates[-1] else None])
    launch = rows[-1][1][apis[-1]][1].get("launch")
    note = (f"Medians. Read ceiling: {digits(ceiling)} GB/s."
            + (" Bytes under way: on each multiprocessor, in CUDA." if waits else "")
            + (f" `{rows[-1][0].kernel}` in {apis[-1]} was {launch}." if launch else ""))
    title = (f"The {'book' if which == 'book' else 'chapter'}, kernel by kernel, on {entries[0]['run']['device']}: "
             f"{size_in_words(pixels_of(size))}, {name}")
    return list({id(entry): entry for entry in entries}.values()), title, columns, cells, note

