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
sys.path.insert(0, str(SITE.parent))
import recorded  # noqa: E402
from recorded import write_whole  # noqa: E402

DATA = SITE / "play" / "data.js"
RESULTS = "h100.json"
EXPERIMENT, PROGRAM = "lanes", "04-per-thread-bins/cuda"
# Every 64th row of the sample picture: 8 of 512.
EVERY = 64


def option(arguments, name):
    return arguments[arguments.index(name) + 1]


def measured():
    """{input: {copies: milliseconds}} of `lane-bins` in its usual launch, and where that was."""
    recording = recorded.load(recorded.ROOT / "docs" / "results" / RESULTS)
    entries = [entry for entry in recording["experiments"]
               if (entry.get("experiment"), entry["program"]) == (EXPERIMENT, PROGRAM)]
    times = {}
    for entry in entries:
        for run in entry["run"]["runs"]:
            arguments = run["arguments"]
            if option(arguments, "--group-size") == "1024" and option(arguments, "--loads") == "4":
                of_input = times.setdefault(entry["input"], {})
                of_input[option(arguments, "--copies")] = round(run["result"]["kernel_ms"]["median"], 4)
    if not times:
        raise recorded.NotRecorded(f"{RESULTS} has no experiment {EXPERIMENT} of {PROGRAM}")
    run = entries[0]["run"]
    return {"device": run["device"], "api": run["api"], "size": recorded.size_in_words(run["input"]["pixels"]),
            "date": recorded.dates(entries), "ms": times}


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
        contents = json.dumps({"measured": measured(), "photo": rows()}, indent=1)
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
