#!/usr/bin/env python3
"""One exercise in one API: the solution gets full marks, and what a student begins with does not.

    check.py 03/five-steps opencl --build BUILD
"""

import argparse
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import catalogue  # noqa: E402
import grading  # noqa: E402


def grade(exercise, api, source, build):
    with grading.workplace(exercise, api, source, build) as place:
        return grading.graded(place, seed=1)


def edited(path):
    """Whether a student has worked on it: then it may be right by now."""
    done = subprocess.run(["git", "-C", str(path.parent), "diff", "--quiet", "HEAD", "--", path.name], capture_output=True)
    return done.returncode == 1


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("exercise")
    arguments.add_argument("api", choices=list(catalogue.FILES))
    arguments.add_argument("--build", type=pathlib.Path, required=True)
    options = arguments.parse_args()
    exercise = catalogue.exercise_of(options.exercise)
    try:
        solved = grade(exercise, options.api, exercise.solution(options.api), options.build)
        begun = None if edited(exercise.file(options.api)) else grade(exercise, options.api, exercise.file(options.api), options.build)
    except grading.NothingToRunOn as why:
        print(f"skipped: {why}")
        return 0
    for each in filter(None, (solved, begun)):
        print(each.points, *each.verdicts, sep="\n  ")
    lacking = [verdict for verdict in solved.verdicts if verdict.points < verdict.of]
    if any("no race detector" not in verdict.words for verdict in lacking):
        return f"the solution of {exercise.name} gets {solved.points} points"
    if begun and (begun.full or all(verdict.points == verdict.of for verdict in begun.verdicts[:-1])):
        return f"{exercise.name} gets full marks as it stands: there is nothing to do"
    return 0


if __name__ == "__main__":
    sys.exit(main())
