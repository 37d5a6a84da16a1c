"""What is right and slow (the chapters' slow/): counted beside what is fast, and shown to be found."""

import pathlib
import subprocess

import count
import gallery
import model
from gallery import Refused

UNITS = 132  # of an H100, whose launch is counted
LOADS, LOCAL = ("global", "load"), ("local", "load", "store", *count.ATOMICS)


def most(counts):
    """The launch that does most."""
    return max(counts["launches"], key=lambda of: sum(line["lanes"] for line in of["lines"]))


def for_32(name, *which):
    return lambda of, pixels: count.total(of, name, *which) / pixels * 32


# What a file in slow/ may call the count that gives it away: in words, and of a launch.
COUNTED = {
    "requests": ("requests of loads, for 32 pixels", for_32("requests", *LOADS)),
    "sectors": ("sectors that are loaded, for 32 pixels", for_32("sectors", *LOADS)),
    "own": ("sectors of own arrays, for 32 pixels", for_32("sectors", "own", "load", "store")),
    "passes": ("passes of the banks, for 32 pixels", for_32("passes", *LOCAL)),
    "visits": ("visits of atomics in the L2 cache, for 32 pixels", for_32("visits", "global")),
    "queue": ("of them in the fullest queue", lambda of, pixels: max(of["queues"]) / pixels * 32),
    "lanes": ("warps' loads for each that has all its lanes",
              lambda of, _: 32 * count.total(of, "requests", *LOADS) / count.total(of, "lanes", *LOADS)),
    "barriers": ("barriers that a work-item comes to", lambda of, _: of["barriers"]),
    "places": ("times that the multiprocessors have to be filled with groups", lambda of, _: max(1, of["groups"] / UNITS / of["resident_groups"])),
    "share": ("pixels of a work-item", lambda of, pixels: pixels / of["groups"] / of["group_size"]),
}


def value_of(one, counts):
    """That which gives it away."""
    return COUNTED[one.counts][1](most(counts), counts["pixels"])


def source_of(api):
    return "histogram.cuh" if api == "CUDA" else "histogram.cl"


def counts_of(build, one, api, is_slow, folder, most=0):
    """Its counts, or those of what is fast beside it, of `most` million pixels. Where its source is changed it lies in the folder."""
    words = gallery.arguments_of(one.shows if is_slow else one.beside or one.shows)
    if is_slow and one.changes:
        gallery.make(one, folder, [source_of(api)])
        words += ["--kernels", str(pathlib.Path(folder, source_of(api)).resolve())]
    # So many that a work-item of 03/1 comes back to each of its columns: else its bytes, side by side, count as one wide load.
    count.MOST[api] = (most or (64 if api == "CUDA" or one.counts == "sectors" else 16)) << 20
    return count.of_program(build, one.chapter, one.variant, api, words)


# ---- ./tutorial slow ---------------------------------------------------------------------------------


def all_of_them():
    found = gallery.mistakes(folder="slow")
    if not found:
        raise Refused(2, "this copy has no gallery of slow kernels")
    return found


def listing():
    print("Each is right, and slow for one reason. Find it: ./tutorial slow NUMBER, such as 03/1, counts it, and says where its source is.\n")
    for one in all_of_them():
        print(f"  {one.number:<6} {one.variant:<18} shown by: {one.shows}")
    print("\nThen: ./tutorial slow 03/1 answer")


def show(build, one, api, is_answered):
    """Counts it. An answer says what it is, and counts what is fast, too."""
    folder = pathlib.Path("build/slow", one.number.replace("/", "-"))
    counts = counts_of(build, one, api, True, folder)
    source = folder / source_of(api) if one.changes else f"{one.chapter}/{source_of(api)}"
    print(count.in_words(counts), "", *model.in_words(counts, "h100"), "",
          f"Its source: {source}; its options: --variant {one.variant} {one.shows}", sep="\n")
    if not is_answered:
        return
    fast = counts_of(build, one, api, False, folder)
    print("", one.sentence, f"What limits it: {one.limit}.",
          f"{COUNTED[one.counts][0]}: {value_of(one, counts):.3g}, and {value_of(one, fast):.3g} beside it.",
          f"Predicted: what is beside it is {one.gain} times as fast on an H100." if one.gain != "none" else
          "How much faster it is beside it, the model does not say: which lines stay in a cache is not known.",
          "docs/counting.md has what an H100 says.", sep="\n")
    if not one.changes:
        print(f"Beside it: {one.beside}")
        return
    command = ["diff", "-u", source, f"{one.chapter}/{source_of(api)}"]
    print("", subprocess.run(command, capture_output=True, text=True, check=False).stdout, sep="\n", end="")
