#!/usr/bin/env python3
"""Writes what the pages to play with have from elsewhere, each as a script in docs/site/play/:

    data.js     recorded results
    photo.js    the sample picture
    lab-data.js the chapters' kernels in WGSL, the mistakes of the gallery in them, the tests' inputs

    docs/site/play_data.py            write them
    docs/site/play_data.py --check    change nothing; exit 1 where one differs

A page that is opened from the disk may not read other files, so they stand in scripts.
"""

import base64
import json
import pathlib
import re
import sys

SITE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(SITE.parent / "tools"), str(SITE.parents[1] / "common/tutor/gallery")]
import gallery  # noqa: E402
import law  # noqa: E402
import recorded  # noqa: E402
from recorded import write_whole  # noqa: E402

ROOT = recorded.ROOT
# For the banks: a file of results, an experiment, a program.
LANES = ("h100.json", "lanes", "04-per-thread-bins/cuda")
# For the walk: the same, and the strategies. On the CPU `++`, as an atomic would hide the walk (chapter 02, three walls).
WALKS = (("h100.json", "walks", "03-local-atomics/cuda", "local"),
         ("xeon-2-threads.json", "walls", "02-global-atomics/opencl", "racy"))
# What the lab runs: in a chapter's histogram.wgsl under a heading of its own.
STRATEGIES = {"racy": "02-global-atomics", "global": "02-global-atomics", "subhist": "02-global-atomics",
              "local": "03-local-atomics", "local-buckets": "03-local-atomics", "lane-bins": "04-per-thread-bins"}
PHOTO = "images/landscape.bmp"


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


def under_way():
    """Bytes under way on a multiprocessor, and the speed that they gave."""
    found = []
    for api in ("CUDA", "OpenCL"):
        recording = recorded.load(ROOT / "docs" / "results" / LANES[0])
        entries, points = law.points(recording, api)
        found.append({**where(entries[0]), "units": entries[0]["run"]["units"], "ceiling": round(law.ceiling(recording, entries), 1),
                      "answer_ns": round(law.answer_ns(points), 1), "few": law.FEW,
                      "points": [[point.under_way, round(point.gb_s, 1), point.strategy, point.launch] for point in points]})
    return found


def kernel(strategy):
    """What the editor shows of a chapter's file: what all its kernels share, and the strategy's part."""
    head, *parts = re.split(r"^(?=// ---- )", (ROOT / STRATEGIES[strategy] / "histogram.wgsl").read_text(encoding="utf-8"), flags=re.MULTILINE)
    own, = (part for part in parts if re.match(rf"// ---- {strategy}:", part))
    return {"chapter": STRATEGIES[strategy], "code": (head + own).rstrip() + "\n", "line": head.count("\n") + 1}


def mistakes():
    """Those of the gallery that are there in WGSL, each with an input and a launch."""
    found = []
    for one in gallery.mistakes():
        changes = [[change.old, change.new] for change in one.changes if change.file == "histogram.wgsl"]
        if changes:
            shows = one.wgsl_shows or re.sub(r"^[a-z]+ ", "", one.gpu_shows if one.gpu_shows not in ("", "nothing") else one.shows)
            found.append({"name": one.name, "strategy": one.variant, "sentence": one.sentence, "called": one.wgsl or one.names,
                          "words": shows.replace("PICTURES", "images"), "changes": changes})
    return found


def inputs():
    """The tests' inputs: generated ones, and the sample picture."""
    cases = json.loads((ROOT / "common/run/cases.json").read_text(encoding="utf-8"))["inputs"]
    return {case["name"]: " ".join(case["arguments"]) for case in cases
            if PHOTO in case["arguments"] or not any(word.endswith(".bmp") for word in case["arguments"])}


def scripts():
    """{file: text}"""
    contents = {"data.js": ("playData", "docs/results", {"lanes": lanes(), "walks": walks(), "underWay": under_way()}),
                "photo.js": ("playPhoto", PHOTO, base64.b64encode((ROOT / PHOTO).read_bytes()).decode()),
                "lab-data.js": ("labData", "the chapters, common/run/cases.json and common/tutor", {
                    "strategies": {name: kernel(name) for name in STRATEGIES}, "mistakes": mistakes(), "inputs": inputs()})}
    return {file: f"// Written by docs/site/play_data.py from {source}.\n(function (root) {{\nconst {name} = {recorded.text_of(value)};\n"
                  f'if (typeof module === "object") module.exports = {name};\nelse root.{name} = {name};\n}})(globalThis);\n'
            for file, (name, source, value) in contents.items()}


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    try:
        texts = scripts()
    except (recorded.NotRecorded, gallery.BadMistake) as error:
        sys.exit(str(error))
    for file, text in texts.items():
        path = SITE / "play" / file
        if not sys.argv[1:]:
            write_whole(path, text)
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path.relative_to(ROOT)} differs from what it is made of (docs/site/play_data.py writes it)")


if __name__ == "__main__":
    main()
