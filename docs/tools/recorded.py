"""The recorded results, one file for each device: finding one in it, and writing it.

docs/results/README.md describes the file. record.py writes it; tables.py and plots.py read it.
"""

import functools
import json
import os
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "common" / "files"))
from atomic_write import write_atomically  # noqa: E402

KINDS = ("runs", "queued", "end_to_end", "tune", "experiments", "cluster", "many", "bins")
PEERS = "05-launch-tuning/workshops/peers/cuda"
CPU_PEERS = "05-launch-tuning/workshops/peers/cpu"
# What that one runs of its own chapter, two of them on all threads; all others are peers, on one.
CPU_OWN = ("serial", "interleaved", "simd", "threads-private", "threads-simd")
# What can be counted, by the names that the results know it by; record.py knows the arguments.
CONTENTIONS = tuple(f"contention-{percent}" for percent in range(0, 101, 10))
PICTURES = ("photo", "uniform", "four-values", "constant", "ramp")
# Sixteen values, each as often: neighbours, or each 16 from the next.
LINES = ("one-line", "sixteen-lines")
# The sample picture's pixels in random order, and random pixels of which so many neighbours are equal.
ORDERS = ("shuffled", "runs-2", "runs-4")
# A ramp over so many values, and a ramp that takes such steps: how many sectors a warp's counters lie in.
RAMPS = ("modulo-8", "modulo-16", "modulo-32", "modulo-128", "step-2", "step-4", "step-8")
DRAWN = (*LINES, *ORDERS, *RAMPS)
INPUTS = (*PICTURES, *CONTENTIONS, *DRAWN)
UNITS = (("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10))
# An object or array that is no longer than this stands on one line of the file: a strategy's result.
LONGEST_LINE = 320


class NotRecorded(ValueError):
    """The results do not have what was asked for; the text says what."""


def pixels_of(size):
    """The number of pixels that "16M" stands for. Raises ValueError for what is no size."""
    factor = dict(UNITS).get(size[-1:], 0)
    return int(size[:-1]) * factor if factor else int(size)


def short_size(pixels):
    """A number of pixels as the command line takes it: 1G, 100M, 256K, 1000."""
    for letter, factor in UNITS:
        if pixels >= factor and pixels % factor == 0:
            return f"{pixels // factor}{letter}"
    return str(pixels)


def size_in_words(pixels):
    """A number of pixels for a reader: 1 GiB, 100 MiB, 256 KiB, 1000 pixels."""
    short = short_size(pixels)
    return f"{short} pixels" if short.isdigit() else f"{short[:-1]} {short[-1]}iB"


def digits(value):
    """Three significant digits without an exponent; 0 alone; '-' where there is no number."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    rounded = abs(float(f"{value:.3g}"))  # 99.96 has become 100 before its digits are counted
    decimals = max(0, 3 - len(str(int(rounded)))) if rounded >= 1 else 3
    return f"{value:.{decimals}f}"


def load(path):
    """The contents of a file of results. Raises NotRecorded where there is none or it is damaged."""
    name = os.path.relpath(path, ROOT)
    if not path.is_file():
        raise NotRecorded(f"there is no {name}")
    try:
        recording = json.loads(path.read_text(encoding="utf-8"))
        return {"machine": recording["machine"], **{kind: recording.get(kind, []) for kind in KINDS}}
    except (ValueError, TypeError, KeyError) as error:
        raise NotRecorded(f"{name} is no file of results: {error}") from None


loaded = functools.cache(load)  # for those who only look, and look again


def key(entry):
    """What a newer recording replaces: the same program on the same input of the same size, in the same experiment."""
    return entry["program"], entry.get("input"), entry.get("size"), entry.get("experiment")


def select(recording, kind, **wanted):
    """The entries of `kind` whose fields are these; `api` is that of the run. Raises NotRecorded where there are none."""
    def has(entry, field, value):
        return (entry["run"]["api"] if field == "api" else entry.get(field)) == value

    found = [entry for entry in recording[kind] if all(has(entry, *each) for each in wanted.items())]
    if not found:
        raise NotRecorded(f"{' '.join(wanted.values())} is not among its {kind}")
    return found


def host(recording, entry):
    """The machine that an entry was measured on."""
    return {**recording["machine"], **entry.get("machine", {})}


def _machine(recording, entry):
    """What tells one machine from another: its processor, how the host's loop was compiled, and its GPU."""
    where = host(recording, entry)
    gpu = where["gpu"] and where["gpu"].rsplit(",", 1)[0]  # without its driver
    fields = ("processor", "processor_family", "processor_model", "compiler", "build_type")
    return (*(where[field] for field in fields), gpu)


def serial_ms(recording, entry):
    """The baseline of "times faster than serial": the median over all runs of its machine, input and size, or None.

    One run's own would not do: on a shared machine the same loop takes half as long again an hour later.
    """
    def of(other):
        return _machine(recording, other), other.get("input"), other.get("size")

    times = [other["run"]["serial_ms"] for kind in KINDS for other in recording[kind]
             if of(other) == of(entry) and other["run"].get("serial_ms")]
    return statistics.median(times) if times else None


def read_ceiling(recording, entry, kinds=("runs",)):
    """The best that any run of these kinds gave on its device at its size, in GB/s, or None.

    Without a GPU the device is the processor, of whatever program. The comparison with the libraries reads
    the picture alone and the chapters at least 256 MiB, so below that each has a ceiling of its own.
    """
    def of(other):
        run = other["run"]
        on_host = run["api"] == "C++" or not host(recording, other)["gpu"]
        least = 0 if other["program"] == PEERS else 1 << 28
        device = _machine(recording, other) if on_host else run["device"]
        return device, other["size"], max(pixels_of(other["size"]), least)

    rates = [other["run"]["read_ceiling_gb_s"] for kind in kinds for other in recording[kind] if of(other) == of(entry)]
    return max((rate for rate in rates if rate), default=None)


def speeds_of(recording, entry, result):
    """GB/s, percent of the read ceiling and times faster than `serial`; a wrong result has none of them."""
    if result["check"] == "mismatch" or not result["kernel_ms"]:
        return [None] * 3
    share = ratio(result["gb_s"], read_ceiling(recording, entry))
    faster = ratio(serial_ms(recording, entry), result["kernel_ms"]["median"])
    return [result["gb_s"], share and 100 * share, faster]


def ratio(one, other):
    return None if one is None or not other else one / other


def unique(values):
    """The values without repetitions and without None, in order."""
    return list(dict.fromkeys(value for value in values if value is not None))


def dates(entries):
    """When the entries were recorded: a day, or the first and the last."""
    days = sorted({entry["date"] for entry in entries})
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def merged(old, machine, kind, entry):
    """`old`, a recording or None, with this entry, measured on `machine`, in place of that of the same key.

    The file names one machine. Where this one differs from it, and entries from then are kept, the new entry says in what.
    """
    kept = {each: [e for e in old[each] if each != kind or key(e) != key(entry)] if old else [] for each in KINDS}
    base = {**old["machine"], "date": machine["date"], "commit": machine["commit"]} if any(kept.values()) else machine
    differs = {field: value for field, value in machine.items() if base.get(field) != value}
    mark = {"machine": differs} if differs else {}
    marked = {**{field: value for field, value in entry.items() if field != "run"}, **mark, "run": entry["run"]}
    return {"machine": base, **kept, kind: sorted([*kept[kind], marked], key=_order)}


def _order(entry):
    """By program, size and input, so that a new recording changes the lines of its own entries only."""
    program, name, size, experiment = key(entry)
    return experiment or "", program, pixels_of(size or "0"), INPUTS.index(name) if name else 0


def text_of(value, indent=""):
    """JSON in which short objects and arrays take one line, so that a result can be read and compared."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) <= LONGEST_LINE or not isinstance(value, (dict, list)):
        return line
    deeper = indent + "  "
    if isinstance(value, dict):
        parts = [f"{json.dumps(name)}: {text_of(part, deeper)}" for name, part in value.items()]
        return "{\n" + ",\n".join(deeper + part for part in parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(deeper + text_of(part, deeper) for part in value) + f"\n{indent}]"


def save(path, recording):
    """Writes the file whole or not at all: until it is complete, the old one stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text_of(recording) + "\n")
