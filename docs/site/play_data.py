#!/usr/bin/env python3
"""Writes docs/site/play/data.js: what the pages to play with show of the recorded results and of the sample picture.

    docs/site/play_data.py            write it
    docs/site/play_data.py --check    change nothing; exit 1 where it differs

A page that is opened from the disk may not read other files, so they stand in a script.
"""

import base64
import json
import pathlib
import struct
import sys

SITE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(SITE.parent / "tools"))
import recorded  # noqa: E402
from recorded import write_whole  # noqa: E402

DATA = SITE / "play" / "data.js"
# For the banks: a file of results, an experiment, a program.
LANES = ("h100.json", "lanes", "04-per-thread-bins/cuda")
# For the walk: the same, and the strategies. On the CPU `++`, as an atomic would hide the walk (chapter 02, three walls).
WALKS = (("h100.json", "walks", "03-local-atomics/cuda", "local"),
         ("xeon-2-threads.json", "walls", "02-global-atomics/opencl", "racy"))
# Every 64th row of the sample picture: 8 of 512.
EVERY = 64


def option(arguments, name):
    return arguments[arguments.index(name) + 1]


def entries_of(results, experiment, program):
    """The entries of an experiment. Raises NotRecorded where there is none."""
    recording = recorded.load(recorded.ROOT / "docs" / "results" / results)
    return recorded.select(recording, "experiments", experiment=experiment, program=program)


def where(entry):
    run = entry["run"]
    return {"device": run["device"], "api": run["api"], "size": recorded.size_in_words(run["input"]["pixels"]), "date": entry["date"]}


def milliseconds(run):
    return float(f"{run['result']['kernel_ms']['median']:.4g}")


def lanes():
    """{input: {copies: milliseconds}} of `lane-bins` in its usual launch, and where that was."""
    times = {}
    for entry in entries_of(*LANES):
        for run in entry["run"]["runs"]:
            arguments = run["arguments"]
            if option(arguments, "--group-size") == "1024" and option(arguments, "--loads") == "4":
                times.setdefault(entry["input"], {})[option(arguments, "--copies")] = milliseconds(run)
    return {**where(entries_of(*LANES)[0]), "ms": times}


def walks():
    """The two walks over the sample picture, each in some launches."""
    found = []
    for *place, strategy in WALKS:
        entry = next(entry for entry in entries_of(*place) if entry["input"] == "photo")
        launches = {}
        for run in entry["run"]["runs"]:
            arguments = run["arguments"]
            if option(arguments, "--variant") == strategy and run["edit"] is None:
                groups = int(option(arguments, "--groups"))
                name = f"{groups} group{'s' if groups > 1 else ''} of {option(arguments, '--group-size')}"
                launches.setdefault(name, {})[option(arguments, "--walk")] = milliseconds(run)
        found.append({**where(entry), "strategy": strategy, "launches": launches})
    return found


def rows():
    """Rows of the sample picture, which is 8-bit with a palette of greys."""
    data = (recorded.ROOT / "images" / "landscape.bmp").read_bytes()
    offset, = struct.unpack("<I", data[10:14])
    width, height, _, depth = struct.unpack("<iiHH", data[18:30])
    assert (width, height, depth) == (512, 512, 8), "the sample picture has changed"
    greys = [data[54 + 4 * value] for value in range(256)]
    # The rows of a BMP go upwards.
    return [base64.b64encode(bytes(greys[value] for value in data[offset + (height - 1 - y) * width:][:width])).decode()
            for y in range(EVERY // 2, height, EVERY)]


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    try:
        contents = json.dumps({"lanes": lanes(), "walks": walks(), "photo": rows()}, indent=1)
    except recorded.NotRecorded as error:
        sys.exit(str(error))
    text = ("// Written by docs/site/play_data.py from docs/results and images/landscape.bmp.\n"
            "(function (root) {\n"
            f"const playData = {contents};\n"
            'if (typeof module === "object") module.exports = playData;\n'
            "else root.playData = playData;\n"
            "})(globalThis);\n")
    if sys.argv[1:] and (not DATA.is_file() or DATA.read_text(encoding="utf-8") != text):
        sys.exit(f"{DATA.relative_to(recorded.ROOT)} differs from the results or the picture (docs/site/play_data.py writes it)")
    if not sys.argv[1:]:
        write_whole(DATA, text)


if __name__ == "__main__":
    main()
