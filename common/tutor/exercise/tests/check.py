#!/usr/bin/env python3
"""One exercise in one API: the solution gets full marks, and what a student begins with does not (in CUDA on a processor
the solution alone is looked at, for races but not for stray accesses, as time is short).

    check.py 03/five-steps opencl [--build BUILD]        opencl, cuda, c++, or cuda-on-cpu: CUDA emulated on a processor
"""

import argparse
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import catalogue  # noqa: E402
import for_the_reader  # noqa: E402
import grading  # noqa: E402
import handout  # noqa: E402
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


def mistake(exercise, api, source, build):
    """The first thing that is wrong with a file, which is enough; nothing where all is right."""
    file = next(each for each in files_of(exercise, api, exercise.skeletons(api), build) if each.name == source.name)
    # Small runs under a detector are the quickest: PoCL takes most of a second to compile.
    under = file.detectors()
    found, _ = grading.outcomes(file, tasks.for_detectors(exercise, seed=SEED), *under[:1])
    wrong = [each.why for each in found if not each.right]
    if wrong:
        return wrong[0]
    if not under:
        return "nothing is seen without a race detector"
    grade = grading.graded([file], seed=SEED)
    return None if grade.full else grade.first


def edited(path):
    """Whether a student has worked on it: then it may be right by now."""
    begun = handout.skeleton(path)
    if begun is not None:
        return begun != path.read_text(encoding="utf-8")
    if not catalogue.has_git():
        return True  # nobody knows
    done = subprocess.run(["git", "-C", str(path.parent), "diff", "--quiet", "HEAD", "--", path.name], capture_output=True)
    return done.returncode == 1


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("exercise")
    arguments.add_argument("api")
    arguments.add_argument("--build", type=pathlib.Path, default=catalogue.ROOT / "build")
    options = arguments.parse_args()
    exercise = catalogue.exercise_of(options.exercise)
    on_cpu = options.api == "cuda-on-cpu"
    submitted_file.no_gpu = lambda _: on_cpu
    if on_cpu:
        options.api = "cuda"
        exercise.skeletons = lambda _: []
        submitted_file.EmulatedFile.watched = ("thread",)
    tasks.TIMED = (1 << 18, *tasks.TIMED[1:])  # enough for a solution that is far faster than is wanted
    try:
        solved = lacking(exercise, options.api, options.build)
        begun = {source: mistake(exercise, options.api, source, options.build)  # each file must have something to do
                 for source in exercise.skeletons(options.api) if not edited(source)}
    except grading.NothingToRunOn as why:
        print(f"skipped: {why}")
        return 0
    if any("no race detector" not in verdict.words for verdict in solved):
        return f"the solution of {exercise.name} does not get full marks"
    for source, found in begun.items():
        print(f"{source.name} as it stands: {found or 'all is right'}")
        if not found:
            return f"a file of {exercise.name} gets full marks as it stands: there is nothing to do"
    return 0


if __name__ == "__main__":
    sys.exit(main())
