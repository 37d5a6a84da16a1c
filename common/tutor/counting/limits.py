"""Points for what is counted: the limits in an exercise's `counts`, and how a submission keeps them.

Nothing is timed, so the marks are the same on a busy machine. docs/grading.md says what is counted.
"""

import count
import model
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
    def counter(counts):
        loads = lines(counts, "global", whats=["load"])
        return max(launch[name] for launch in counts["launches"]), most(loads, lambda line: line["lanes"])[1]
    return counter


def costliest(counts):
    """What costs most, by its passes or by what it asks the L2 cache for, and its line."""
    return most(lines(counts, "global", "local", "own"), lambda line: count.cost_of(line)[0])


def of_ceiling(counts):
    """A counter: how fast an H100 would be, by the model, without the launch's own time, which no kernel changes. Raises NoNumber."""
    device = model.devices()["h100"]
    said = model.predict(counts, device)
    if said["us"] is None:
        raise model.NoNumber(said["reason"])
    ns = 1000 * (said["us"] - device["launch_us"][counts["api"]])
    return 100 * counts["pixels"] / ns / device["ceiling_gb_s"], costliest(counts)[1]


COUNTERS = {
    "passes for 32 pixels": sum_of("passes", 32, "local"),
    "passes of an access": lambda counts: most(lines(counts, "local"), lambda line: line["passes"] / line["requests"] / max(line["bytes"] / 4, 1)),
    "sectors for 32 pixels": sum_of("sectors", 32, "global", whats=["load"]),
    "own arrays' sectors for 32 pixels": sum_of("sectors", 32, "own"),
    "atomics for 1000 pixels": sum_of("lanes", 1000, "global", "local", whats=count.ATOMICS),
    "global atomics for 1000 pixels": sum_of("lanes", 1000, "global", whats=count.ATOMICS),
    "visits for 32 pixels": sum_of("visits", 32, "global"),
    "visits of the fullest queue for 32 pixels": lambda counts: (32 * sum(max(of["queues"]) for of in counts["launches"]) / counts["pixels"],
                                                                 most(lines(counts, "global"), lambda line: line["visits"])[1]),
    "loads in flight": ahead("loads_ahead"),
    "bytes in flight": ahead("bytes_ahead"),
    "percent of an H100's ceiling": of_ceiling,
}


def short(value):
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def at(line):
    return f"{line['file']}:{line['line']}"


def kinds_of(limit):
    return [limit["pixels"]] if isinstance(limit["pixels"], str) else limit["pixels"]


def kept(limit, counted):
    """Whether this limit of exercise.json is kept on all of its pixels, and in words: on those that are furthest from it."""
    least, wanted, name = "least" in limit, limit.get("least", limit.get("most")), limit["counter"]
    found = {pixels: COUNTERS[name](counted[pixels]) for pixels in kinds_of(limit)}
    pixels = (min if least else max)(found, key=lambda each: found[each][0])
    number, line = found[pixels]
    right = number >= wanted if least else number <= wanted
    words = f"{name}: {short(number)}, at {'least' if least else 'most'} {wanted}{'' if right else ' is wanted'}"
    return right, f"{words}{f'; see {at(line)}' if line and not right else ''} ({pixels})"


def costliest_in_words(counts):
    cost, line = costliest(counts)
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
    limits, pixels = file.exercise.data["counts"], file.exercise.data.get("counted_as")
    if why := missing(file):
        return None, f"could not be judged here: {why}"
    kinds = list(dict.fromkeys(kind for each in limits for kind in kinds_of(each)))
    runs = [tasks.counted(file.exercise, seed, kind, 0.5 if pixels else 1) for kind in kinds]
    if why := compared(runs):
        return 0, f"a run that is counted is wrong: {why}"
    larger = [tasks.counted(file.exercise, seed, kind) for kind in kinds] if pixels else []
    try:
        counted = count.of_exercise(file.build, file.exercise, file.api, {file.name: file.text}, *runs, *larger)
        if any(sum(count.pixels_loaded(launch) for launch in each["launches"]) < 0.9 * each["pixels"] for each in counted):
            return 0, "it does not read all pixels where it is counted"
        for small, large in zip(counted, counted[len(runs):]):
            large["launches"] = count.drawn_on(small["launches"], large["launches"], small["pixels"], large["pixels"], pixels)
            large["pixels"] = pixels
        counted = counted[-len(runs):]
        said = [kept(each, dict(zip(kinds, counted))) for each in limits]
    except submitted_file.NotEmulated as why:
        return None, str(why)
    except (Refused, submitted_file.DoesNotCompile, model.NoNumber) as why:  # another compiler than that of its results
        return None, f"could not be judged here: {str(why.args[-1])[:300]}"
    # Those that are not kept come first.
    return sum(right for right, _ in said) / len(said), "\n".join([*(words for _, words in sorted(said)), costliest_in_words(counted[0])])
