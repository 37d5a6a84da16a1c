#!/usr/bin/env python3
"""One exercise in one API: the solution gets full marks, and what a student begins with does not (in CUDA on a processor
the solution alone is looked at, for races but not for stray accesses, as time is short).

    check.py 03/five-steps opencl [--build BUILD]        opencl, cuda, c++, or cuda-on-cpu: CUDA emulated on a processor
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import catalogue  # noqa: E402
import exercises  # noqa: E402
import for_the_reader  # noqa: E402
import grading  # noqa: E402
import submitted_file  # noqa: E402
import tasks  # noqa: E402

SEED = 5  # one with which the detectors' largest run is a small one


def files_of(exercise, api, sources, build):
    return submitted_file.submitted(exercise, api, {path.name: path.read_text(encoding="utf-8") for path in sources}, build)


def lacking(exercise, api, build):
    """What the solution gets no full marks for. A copy for students has none."""
    sources = exercise.solutions(api)
    if not all(path.exists() for path in sources):
        return []
    # The solutions of four mistakes are one, but for the comment.
    files = {for_the_reader.COMMENT.sub("", file.text): file for file in files_of(exercise, api, sources, build)}
    done = grading.graded(list(files.values()), seed=SEED)
    print(done.points, *done.verdicts, sep="\n  ")
    return [verdict for verdict in done.verdicts if verdict.points < verdict.of]


def mistake(file):
    """The first thing that is wrong with a file, which is enough; nothing where all is right."""
    # Small runs under a detector are the quickest: PoCL takes most of a second to compile.
    under = file.detectors()
    found, _ = grading.outcomes(file, tasks.for_detectors(file.exercise, seed=SEED)[:-1], *under[:1])
    if wrong := [each.why for each in found if not each.right]:
        return wrong[0]
    if not under:
        return "nothing is seen without a race detector"
    grade = grading.graded([file], seed=SEED)
    return None if grade.full else grade.first


def edited(path):
    """Whether a student has worked on it: then it may be right by now."""
    try:
        return exercises.as_begun(path) != path.read_bytes()
    except catalogue.BadInput:  # nobody knows
        return True


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("exercise")
    arguments.add_argument("api")
    arguments.add_argument("--build", type=pathlib.Path, default=catalogue.ROOT / "build")
    options = arguments.parse_args()
    exercise, on_cpu = catalogue.exercise_of(options.exercise), options.api == "cuda-on-cpu"
    api = "cuda" if on_cpu else options.api
    submitted_file.no_gpu = lambda _: on_cpu
    submitted_file.EmulatedFile.watched = ("thread",)
    tasks.TIMED = (1 << 18, *tasks.TIMED[1:])  # enough for a solution that is far faster than is wanted
    try:
        solved = lacking(exercise, api, options.build)
        begun = [] if on_cpu else files_of(exercise, api, exercise.skeletons(api), options.build)
        found = {file.name: mistake(file) for file in begun if not edited(exercise.folder / file.name)}
    except grading.NothingToRunOn as why:
        print(f"skipped: {why}")
        return 0
    for name, what in found.items():  # each file must have something to do
        print(f"{name} as it stands: {what or 'all is right'}")
    if any("no race detector" not in verdict.words for verdict in solved):
        return f"the solution of {exercise.name} does not get full marks"
    return 0 if all(found.values()) else f"a file of {exercise.name} gets full marks as it stands: there is nothing to do"


if __name__ == "__main__":
    sys.exit(main())
