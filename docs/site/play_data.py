#!/usr/bin/env python3
"""Writes what the pages to play with have from elsewhere, each as a script in docs/site/play/; the build and the site's do so.

    photo.js    the sample picture
    lab-data.js the chapters' kernels in WGSL, the mistakes of the gallery in them, the tests' inputs, and tasks: exercises with
                what the grader runs

A page that is opened from the disk may not read other files, so they stand in scripts.
"""

import base64
import collections
import functools
import json
import os
import pathlib
import re
import sys

SITE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(SITE.parent / "tools"), *(str(SITE.parents[1] / "common/tutor" / room) for room in ("gallery", "exercise", "counting"))]
import catalogue  # noqa: E402
import gallery  # noqa: E402
import model  # noqa: E402
import recorded  # noqa: E402
import tasks as graded  # noqa: E402
from recorded import write_atomically  # noqa: E402

ROOT = recorded.ROOT
# What the lab runs: in a chapter's histogram.wgsl under a heading of its own.
STRATEGIES = {"racy": "02-global-atomics", "global": "02-global-atomics", "local": "03-local-atomics",
              "lane-bins": "04-per-thread-bins"}
# The tasks, the easy ones first: the exercise whose grader's runs check it, the chapter that it has its declarations from, hints
# in words of WGSL; and where it is no exercise itself, its kernel, as a text or as changes of a strategy's.
TASKS = json.loads((SITE / "play/tasks.json").read_text(encoding="utf-8"))
COPIES = 8  # at most: work-group memory for 32 is not everywhere
PHOTO = "images/landscape.bmp"


def parts(chapter):
    """What all kernels of a chapter share, and the part of each."""
    return re.split(r"^(?=// ---- )", (ROOT / chapter / "histogram.wgsl").read_text(encoding="utf-8"), flags=re.MULTILINE)


def shown(chapter, head, section):
    """What the editor shows, and the line where it begins."""
    return {"chapter": chapter, "code": (head + section).rstrip() + "\n", "line": head.count("\n") + 1}


def kernel(strategy):
    """What the editor shows of a chapter's file: what all its kernels share, and the strategy's part."""
    head, *others = parts(STRATEGIES[strategy])
    section, = (part for part in others if re.match(rf"// ---- {strategy}:", part))
    return shown(STRATEGIES[strategy], head, section)


def input_of(run):
    """A run of the grader in words of a command line: what kind of pixels it has, not which."""
    values, count = collections.Counter(run.pixels), run.count
    kind = ""
    if count > 1 and len(values) == 1:
        kind = f"--constant {run.pixels[0]} "
    elif count > 256 and run.pixels == (bytes(range(256)) * (count // 256 + 1))[:count]:
        kind = "--ramp "
    elif count > 16 and len(values) == 4:
        kind = "--values 4 "
    elif count > 16 and max(values.values()) > count / 4:
        kind = "--contention 40 "
    copies = int(run.options.partition("=")[2] or 0)  # -DCOPIES=32
    return f"{kind}--random {count} --groups {run.groups} --group-size {run.group_size}{f' --copies {min(copies, COPIES)}' if copies else ''}"


def runs_of(exercise):
    """The runs of a grading, a line each: its criterion and its words. The small ones for the detectors come last."""
    found = [(criterion, graded.runs_of(exercise, criterion, "lab")) for criterion in graded.CRITERIA if criterion in exercise.points]
    small = graded.for_detectors(exercise, "lab")[:-1][-2:] if exercise.kind == "kernels" else graded.runs_of(exercise, "sizes", "lab")[1:4]
    found.append(("free of faults", small))
    return "\n".join(recorded.unique(f"{criterion}: {input_of(run)}" for criterion, runs in found for run in runs))


def said(text, exercise):
    """Paragraphs of an exercise's page on one line, with links as the lab needs them: from where it is."""
    text = re.sub(r"\]\(([^)]*)\)", lambda m: f"]({os.path.relpath(exercise.folder / m.group(1), SITE / 'play')})", text)
    return " ".join(re.sub(r"\*+([^*`]+)\*+", r"\1", text).split())


def texts_of(name, task, exercise):
    """{name: kernel} of a task; the four mistakes are four of them."""
    wrong = f"{name}: this does not stand once in the chapter's kernel"

    def section(strategy):
        section = next(part for part in parts(task["chapter"])[1:] if part.startswith(f"// ---- {strategy}:"))
        return re.sub(r" *//.*\n", "", section).replace("\n\n", "\n")

    if "text" in task:
        return {name: task["text"]}
    if "from" in task:
        text = functools.reduce(lambda text, change: gallery.replaced(text, *change, wrong), task["changes"], section(task["from"]))
        return {name: f"// In the lab: {task['title']}.\n{text}"}
    if (exercise.folder / "histogram.wgsl").is_file():
        return {name: (exercise.folder / "histogram.wgsl").read_text(encoding="utf-8")}
    return {f"{name}/{part}": f"// Exercise {name}, in the lab: the {part}. One thing is wrong.\n{gallery.replaced(section('local'), *change, wrong)}"
            for part, change in json.loads((exercise.folder / "lab.json").read_text(encoding="utf-8")).items() if part != "what"}


def tasks():
    """{name: what the lab shows of a task}."""
    found, there = {}, {exercise.name: exercise for exercise in catalogue.exercises()}
    for name, task in TASKS.items():
        if task["exercise"] not in there:  # in a copy for students
            continue
        exercise = there[task["exercise"]]
        head, goal = parts(task.get("head", task["chapter"]))[0], task.get("goal")
        if not goal:
            goal = re.search(r"\*\*Goal\.\*\* (.*?)\n\n", (exercise.folder / "README.md").read_text(encoding="utf-8"), re.DOTALL).group(1)
        buffers = exercise.data.get("buffers", {"histogram": {"zero": True}})
        zeroed = [binding for binding, buffer in ((2, "histogram"), (3, "tables")) if buffers.get(buffer, {}).get("zero")]
        runs = runs_of(exercise)
        for each, text in texts_of(name, task, exercise).items():
            found[each] = {
                **shown(task["chapter"], head, text), "exercise": exercise.folder.relative_to(ROOT).as_posix() if name == exercise.name else "",
                "title": task.get("title", exercise.title), "goal": said(goal, exercise), "hints": task["hints"],
                "counts": task.get("counts", exercise.data.get("counts", [])), "points": 0 if "counts" in task else exercise.points.get("counts", 0),
                "kernels": re.findall(r"@compute[^{]*?fn (\w+)", text), "zeroed": zeroed,
                "tables": buffers.get("tables", {"words": 0})["words"] // 256, "runs": runs}
    return found


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


def predictions():
    """The constants of the model of times, and for each limit how often it was right on an H100: {of whose kernels: [within a quarter, of]}."""
    def right(limit, of, halves):
        found = [model.is_near(row) for row in model.rows(limit=limit, of=of) if row["half"] in halves]
        return [sum(found), len(found)]

    return {"devices": model.devices(), "REGISTERS": model.REGISTERS, "LIMITS": model.LIMITS, "WORDS": model.WORDS,
            "IN_A_LOOP": model.IN_A_LOOP, "LEAST_GAIN": model.LEAST_GAIN,
            "right": {limit: {words: right(limit, *kind) for words, kind in model.KINDS.items()} for limit in model.LIMITS.values()}}


def write():
    """What the lab has. Raises BadMistake."""
    lab = {"strategies": {name: kernel(name) for name in STRATEGIES}, "tasks": tasks(), "mistakes": mistakes(),
           "inputs": inputs(), "model": predictions()}
    contents = {"photo.js": ("playPhoto", base64.b64encode((ROOT / PHOTO).read_bytes()).decode()),
                "lab-data.js": ("labData", lab)}
    for file, (name, value) in contents.items():
        text = json.dumps(value, ensure_ascii=False)
        write_atomically(SITE / "play" / file, f'globalThis.{name} = {text};\nif (typeof module === "object") module.exports = {name};\n')
    return lab


if __name__ == "__main__":
    try:
        write()
    except gallery.BadMistake as error:
        sys.exit(str(error))
