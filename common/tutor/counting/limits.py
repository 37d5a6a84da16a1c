"""Points for what is counted: the limits in an exercise's `counts`, and how a submission keeps them.

Nothing is timed, so the marks are the same on a busy machine. docs/grading.md says what is counted.
"""

import count
import sandbox
import submitted_file
import tasks
from gallery import Refused


def lines(counts, *memories, whats=("load", "store", *count.ATOMICS)):
    return [line for launch in counts["launches"] for line in launch["lines"] if line["memory"] in memories and line["what"] in whats]


def most(found, value):
    """(the largest value, its line)"""
    line = max(found, key=value, default=None)
    return (value(line), line) if line else (0, None)


def sum_of(name, each, *memories, **more):
    """A counter: the sum over these accesses for so many pixels, and the line that has most of it."""
    def counter(counts):
        found = lines(counts, *memories, **more)
        return each * sum(line[name] for line in found) / counts["pixels"], most(found, lambda line: line[name])[1]
    return counter


def ahead(name):
    """A counter: what a work-item has asked for when it needs the first of it, in the launch that has most of that."""
    return lambda counts: (max(launch[name] for launch in counts["launches"]), most(lines(counts, "global", whats=["load"]), lambda l: l["lanes"])[1])


COUNTERS = {
    "passes for 32 pixels": sum_of("passes", 32, "local"),
    "passes of an access": lambda counts: most(lines(counts, "local"), lambda line: line["passes"] / line["requests"]),
    "sectors for 32 pixels": sum_of("sectors", 32, "global", whats=["load"]),
    "own arrays' sectors for 32 pixels": sum_of("sectors", 32, "own"),
    "atomics for 1000 pixels": sum_of("lanes", 1000, "global", "local", whats=count.ATOMICS),
    "global atomics for 1000 pixels": sum_of("lanes", 1000, "global", whats=count.ATOMICS),
    "visits for 32 pixels": sum_of("visits", 32, "global"),
    "visits of the fullest queue for 32 pixels": lambda counts: (32 * sum(max(of["queues"]) for of in counts["launches"]) / counts["pixels"],
                                                                 most(lines(counts, "global"), lambda line: line["visits"])[1]),
    "loads in flight": ahead("loads_ahead"),
    "bytes in flight": ahead("bytes_ahead"),
}


def short(value):
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def at(line):
    return f"{line['file']}:{line['line']}"


def kept(limit, counts):
    """Whether this limit of exercise.json is kept, and in words."""
    found, line = COUNTERS[limit["counter"]](counts)
    least = "least" in limit
    right = found >= limit["least"] if least else found <= limit["most"]
    wanted = f"at {'least' if least else 'most'} {limit['least' if least else 'most']}"
    words = f"{limit['counter']}: {short(found)}, {wanted}{'' if right else ' is wanted'}"
    return right, words + (f"; see {at(line)}" if line and not right else "")


def costliest(counts):
    """The line that costs most, by its passes or by what it asks the L2 cache for."""
    cost, line = most(lines(counts, "global", "local", "own"), lambda line: count.cost_of(line)[0])
    return f"the line that costs most: {at(line)}, {short(32 * cost / counts['pixels'])} {count.cost_of(line)[1]} for 32 pixels" if line else ""


def missing(file):
    """Why nothing can be counted here, or nothing."""
    api = "CUDA" if file.api == "cuda" else "OpenCL"
    program = "run_emulated-counts" if api == "CUDA" else "liboclgrind_counts.so"
    return count.missing(file.build, api) or ("" if (file.build / "common" / program).is_file() else f"{program} is not built")


def judged(file, seed, compared):
    """(the share of the limits that are kept, in words); None in place of the share where it cannot be judged.

    `compared` says what is wrong with these runs as the grader makes the others; "" if nothing is.
    """
    limits = file.exercise.data["counts"]
    if why := missing(file):
        return None, f"could not be judged here: {why}"
    runs = {pixels: tasks.counted(file.exercise, seed, pixels) for pixels in dict.fromkeys(each["pixels"] for each in limits)}
    if why := compared(list(runs.values())):
        return 0, f"a run that is counted is wrong: {why}"
    try:
        counted = dict(zip(runs, count.of_exercise(file.build, file.exercise, file.api, {file.name: file.text}, *runs.values())))
    except submitted_file.NotEmulated as why:
        return None, str(why)
    except (Refused, submitted_file.DoesNotCompile) as why:  # another compiler than that of its results
        return None, f"could not be judged here: {str(why.args[-1])[:300]}"
    for counts in counted.values():
        if sum(map(count.pixels_loaded, counts["launches"])) < 0.9 * counts["pixels"]:
            return 0, "it does not read all pixels where it is counted"
    said = [(*kept(each, counted[each["pixels"]]), each["pixels"]) for each in limits]
    words = [f"{words} ({pixels})" for _, words, pixels in sorted(said)]  # those that are not kept come first
    return sum(right for right, *_ in said) / len(said), "\n".join([*words, costliest(counted[limits[0]["pixels"]])])
