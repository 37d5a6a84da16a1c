#!/usr/bin/env python3
"""How often the model is right: counts the recorded kernels, predicts them, and writes both into accuracy.json.

    accuracy.py --build build     counts what has not been counted (half an hour of a processor), then predicts all
    accuracy.py                   predicts all again, from the counts that the file keeps

Rows are the chapters' recorded runs and those of unseen.cu's kernels. The model was made with the rows that are "seen" (devices.py fits
constants to them, or they have shown what it lacked), and is judged by the others: of the chapters' rows those whose name has an odd
hash; of the kernels the last eight, by somebody who had not seen the model.
"""

import argparse
import copy
import functools
import hashlib
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent / "exercise"), str(HERE.parent / "gallery")]
import count  # noqa: E402
import model  # noqa: E402

FILE = HERE / "accuracy.json"
RESULTS = ROOT / "docs" / "results"
KERNELS = tuple(RESULTS / "counting" / f"{name}-h100.json" for name in ("unseen", "eight", "second", "third", "fourth", "fifth"))
TABLES = "lanes", "steps", "under-way", "walks", "launches", "one-value"
SIZES = {"1G": 1 << 30, "256M": 1 << 28}
INPUTS = {"photo": ["--tile"], "uniform": ["--random"], "four-values": ["--values", "4", "--random"], "constant": ["--constant", "127", "--random"],
          "ramp": ["--ramp", "--random"]}


def hashed(name):
    return hashlib.sha256(name.encode()).hexdigest()


def rows_of_chapters():
    """(name, chapter, words, input, pixels, API, microseconds) of the recorded runs."""
    recording = json.loads((RESULTS / "h100.json").read_text(encoding="utf-8"))
    for entry in [*recording["runs"], *recording["experiments"]]:
        chapter, _, program = entry["program"].partition("/")
        table = entry.get("experiment", "chapters")
        if program not in ("cuda", "opencl") or entry["size"] not in SIZES or table not in ("chapters", *TABLES):
            continue
        runs = entry["run"].get("runs") or [{"result": each, "arguments": ["--variant", each["variant"]]} for each in entry["run"]["results"]]
        for run in runs:
            result, words = run["result"], list(run["arguments"])
            launch = re.match(r"(\d+) cop\w+, (\d+) loads?, (\d+) groups of (\d+)", result["launch"] or "")
            if launch and "experiment" not in entry:
                words += ["--copies", launch[1], "--loads", launch[2], "--groups", launch[3], "--group-size", launch[4]]
            if result["check"] == "match" and not run.get("edit"):
                api = entry["run"]["api"]
                name = " ".join((table, chapter, *words, entry["input"], entry["size"], api))
                yield name, chapter, words, entry["input"], SIZES[entry["size"]], api, result["kernel_ms"]["median"] * 1000


@functools.cache
def rows_of(file):
    return json.loads(file.read_text(encoding="utf-8"))["rows"]


@functools.cache
def counted_chapter(build, chapter, words, picture, pixels):
    at = words.index("--variant")
    options = [*words[:at], *words[at + 2:], *INPUTS[picture], str(pixels)]
    # So many that each work-item has some turns, also where a turn is four loads of 16 bytes.
    count.MOST["CUDA"] = (64 if words[at + 1] in ("tuned", "lane-bins", "uchar-bins", "uchar-bins-banked") or "blocked" in words else 16) << 20
    return count.of_program(build, chapter, words[at + 1], "CUDA", options)["launches"]


@functools.cache
def counted_sizes(program, kernel, picture, groups, sizes):
    """Of these numbers of pixels, one after the other."""
    found = []
    for size in sizes:
        words = ["--only", kernel, "--picture", picture, "--pixels", str(size), "--groups", str(groups), "--repeat", "1"]
        launches = count.named(count.run([program, *words], folder=ROOT)[0])
        for launch in launches:
            launch["lines"] = count.lines_of(launch["lines"], HERE)
        found.append(launches)
    return found


def counted_kernel(program, kernel, picture, groups, pixels):
    """The counts of so many pixels, on the straight line through two sizes that take the emulation a second or two each."""
    large = {"staged": 32 << 20, "bytes_32_apart": 32 << 20, "runs": 64 << 20, "pairs_16bit": 32 << 20, "transposed_tile": 64 << 20,
             "warps_257": 64 << 20, "own_columns": 32 << 20}.get(kernel, 16 << 20)
    # Of few pixels some warps of the first have none; the others add up after so many turns, which no line through few tells.
    sizes = (pixels,) if kernel in ("bytes_2048_apart", "byte_counters", "packed_64") else (large // 2, large)
    if kernel == "peel_leaders":
        sizes = (groups << 12, groups << 13)  # more than 16 turns do not fit in the list of a work-item
    found = copy.deepcopy(counted_sizes(program, kernel, picture, groups, sizes))
    launches = found[0] if len(sizes) == 1 else count.drawn_on(*found, *sizes, pixels)
    for launch in launches:
        count.whole(launch, pixels)
    return launches


def all_rows(build, kept):
    """The rows with their counts: those that the file keeps, others counted where there is a build folder."""
    for name, chapter, words, picture, pixels, api, us in rows_of_chapters():
        key = " ".join((chapter, *words, picture, str(pixels)))
        if key not in kept and build:
            kept[key] = [model.reduced(launch) for launch in counted_chapter(build, chapter, tuple(words), picture, pixels)]
            save(kept)
        if key in kept:
            half = "seen" if int(hashed(name), 16) % 2 == 0 else "unseen"
            yield {"name": name, "of": "chapters", "half": half, "api": api, "pixels": pixels, "key": key, "measured_us": us}
    for file, row in ((each, row) for each in KERNELS for row in rows_of(each)):
        key = " ".join((row["kernel"], row["picture"], str(row["groups"]), str(row["pixels"])))
        if key not in kept and build and (build / "common/tutor/counting/counts/cuda-on-cpu").exists():
            program = build / "common/tutor/counting/counts/cuda-on-cpu"
            kept[key] = [model.reduced(launch) for launch in counted_kernel(program, row["kernel"], row["picture"], row["groups"], row["pixels"])]
            save(kept)
        if key in kept:
            yield {"name": key, "of": "others", "half": "unseen" if file == KERNELS[-1] else "seen", "api": "CUDA", "pixels": row["pixels"],
                   "key": key, "measured_us": row["median_us"]}


def contents():
    return json.loads(FILE.read_text(encoding="utf-8"))


def save(counts, rows=()):
    def tidy(value):
        return float(f"{value:.6g}") if isinstance(value, float) else value

    counts = {key: [{name: tidy(value) for name, value in of.items()} for of in launches] for key, launches in counts.items()}
    lines = ",\n".join(json.dumps({**row, "measured_us": tidy(row["measured_us"]), "predicted_us": tidy(row["predicted_us"])}) for row in rows)
    kept = ",\n".join(f"{json.dumps(key)}: {json.dumps(launches)}" for key, launches in sorted(counts.items()))
    FILE.write_text(f'{{"rows": [\n{lines}],\n"counts": {{\n{kept}}}}}\n', encoding="utf-8")


def predicted(row, counts, device):
    launches = counts[row["key"]]
    try:
        us, reason = model.time_us(launches, device, row["api"]), ""
    except model.NoNumber as because:
        us, reason = None, str(because)
    return {**row, "predicted_us": us, "reason": reason, "limit": model.lowest(launches, row["pixels"], device, row["api"])}


def with_registers(rows, counts, device):
    """Rows of kernels whose registers are recorded, predicted again with them (`count --registers`)."""
    of = {each["kernel"]: each["registers"] for file in KERNELS for each in json.loads(file.read_text(encoding="utf-8"))["kernels"]}
    for row in rows:
        first, *others = counts[row["key"]]
        yield predicted(row, {row["key"]: [{**first, "registers": of[row["name"].split()[0]]}, *others]}, device)


def summary(rows):
    """{"rows", "numbers", and the shares of these within 5, 10, 25 % and a factor 1.5; "worst"} of predicted rows."""
    off = [max(row["predicted_us"] / row["measured_us"], row["measured_us"] / row["predicted_us"]) for row in rows if row["predicted_us"]]
    shares = {f"within_{round(limit * 100 - 100)}": sum(each <= limit for each in off) / (len(off) or 1) for limit in (1.05, 1.1, 1.25, 1.5)}
    return {"rows": len(rows), "numbers": len(off), **shares, "worst": max(off, default=0)}


def in_order(rows, apart=1.25):
    """(right, pairs): of the pairs of one input and size whose measured times differ by so much, those that the model has in order."""
    right = pairs = 0
    groups = {}
    for row in rows:
        if row["predicted_us"]:
            words = row["name"].split()
            where = (row["of"], row["api"], row["pixels"], next(word for word in words if word in INPUTS))
            groups.setdefault(where, []).append(row)
    for each in groups.values():
        for n, one in enumerate(each):
            for other in each[:n]:
                if max(one["measured_us"] / other["measured_us"], other["measured_us"] / one["measured_us"]) > apart:
                    pairs += 1
                    right += (one["measured_us"] > other["measured_us"]) == (one["predicted_us"] > other["predicted_us"])
    return right, pairs


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path)
    build = parser.parse_args(arguments).build
    counts = contents()["counts"] if FILE.exists() else {}
    rows, device = list(all_rows(build and build.resolve(), counts)), model.devices()["h100"]
    rows = [predicted(row, counts, device) for row in rows]
    save(counts, rows)
    for of in ("chapters", "others"):
        for half in ("seen", "unseen"):
            print(of, half, summary([row for row in rows if row["of"] == of and row["half"] == half]))


if __name__ == "__main__":
    main()
