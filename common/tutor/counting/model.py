"""A time from counts: how long a kernel would take on a GPU, what limits it, and what would change it.

The constants are a device's (devices.json, made by devices.py from recorded runs); accuracy.json says how far predictions were from
what was measured, and docs/counting.md how the model works, in words.
"""

import functools
import json
import math
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
WARP = 32
ATOMICS = "add one", "atomic"
# `nvcc -Xptxas -v` of CUDA 13.0 for compute capability 9.0. Of others at most 32 are assumed, which let all work-items in.
REGISTERS = {"histogram_vector": 40, "histogram_tuned": {"3": 40, "4": 48}}  # by loads: histogram_tuned<32u, 3u>
LIMITS = {"wait": "bytes in flight", "memory": "memory", "banks": "banks of local memory", "instructions": "instructions",
          "queue": "queues of the L2 cache",
          "places": "places on the multiprocessors", "launch": "the launch itself"}


# Barriers: before and behind a loop there are two or three.
IN_A_LOOP = 4


class NoNumber(Exception):
    """The counts do not carry a prediction, and why."""


def devices():
    return json.loads((HERE / "devices.json").read_text(encoding="utf-8"))


WORDS = "popc", "vote", "shuffle", "reduce", "match"


def reduced(launch):
    """What the model takes of a launch's counts (count.py has their form): plain numbers."""
    def total(name, memory, *whats, few=None, by=None, bytes=0):
        return sum(line[name] * (line[by] if by else 1) for line in launch["lines"] if line["memory"] == memory and line["what"] in whats
                   and (few is None or line["requests"] * 4 < few) and line["bytes"] >= bytes)

    loads = total("requests", "global", "load")
    local = ("load", "store", *ATOMICS)
    accesses = loads + total("requests", "local", *local) + total("requests", "own", *local)
    estimated = launch.get("instructions") or {"all": 4 * accesses, "integers": 2 * accesses, "chain": 20 * accesses}
    visits = total("visits", "global", *ATOMICS)
    kernel, _, template = launch["kernel"].partition("<")
    by_loads = REGISTERS.get(kernel, 32)
    own = total("sectors", "own", *local)
    return {
        "groups": launch["groups"], "group_size": launch["group_size"], "local_bytes": launch["local_bytes"],
        "registers": launch.get("registers") or (by_loads if isinstance(by_loads, int) else by_loads.get(template[-3:-2], 32)),
        "parted": launch["blocks_parted"] / (launch["blocks"] or 1) if "instructions" in launch else 0, "idle": launch["idle"],
        "loading": launch["blocks_loading"] / (launch["blocks"] or 1), "constants": total("passes", "constant", "load"),
        "barriers": launch["barriers"], "loads_ahead": max(launch["loads_ahead"], 1), "others_ahead": launch["others_ahead"],
        "loads": loads, "waits": total("waits", "global", "load"), "sectors": total("sectors", "global", "load"),
        "missed": total("sectors", "global", "load") - total("found", "global", "load"), "tags": total("tags", "global", "load"),
        "unsure": total("unsure", "global", "load"), "again": total("again", "global", "load"), "near": total("near", "global", "load"),
        "near_stores": total("near", "global", "store"), "shared_stores": total("shared", "global", "store"),
        "whole": total("whole", "global", *ATOMICS),
        "stores": total("sectors", "global", "store"), "own": own, "own_missed": own - total("found", "own", "load"),
        "local": total("requests", "local", *local), "passes": total("passes", "local", *local),
        "visits": visits, "visits_at_end": total("visits", "global", *ATOMICS, few=loads), "fullest": max(launch["queues"], default=0),
        "load_bytes": total("lanes", "global", "load", by="bytes") / (total("lanes", "global", "load") or 1),
        "wide_atomics": total("requests", "local", *ATOMICS, bytes=8), "instructions": estimated["all"], "integers": estimated["integers"],
        "chain": estimated["chain"], **{word: estimated.get(word, 0) for word in WORDS}, "values": total("passes", "local", "match"),
    }


def places(of, device):
    """Groups that fit on a multiprocessor at once."""
    threads = math.ceil(of["group_size"] / WARP) * WARP
    limits = device["limits"]
    return max(1, min(limits["work_items"] // threads, limits["local_bytes"] // (of["local_bytes"] + limits["reserved_bytes"]),
                      limits["groups"], limits["registers"] // (math.ceil(of["registers"] / 8) * 8 * threads)))


def refuse(of, device):
    """Raises NoNumber where something decides that the counts do not have."""
    if of["own_missed"] > 0.05 * of["loads"]:
        raise NoNumber("the work-items' own arrays lie in memory, and which of their lines stay in a cache is not known")
    if of["wide_atomics"] > 0.05 * of["loads"]:
        raise NoNumber("an atomic of 8 bytes in local memory is a loop on a GPU, and how often it begins again is not counted")
    if of["again"] > 0.05 * of["loads"]:
        raise NoNumber("a warp loads what it has just stored, and how soon the first-level cache has it is not known")
    if of["shared_stores"] > 0.05 * of["loads"]:
        raise NoNumber("groups store to the same memory without atomics, and how they disturb each other is not known")
    if of["unsure"] > 0.05 * of["loads"]:
        raise NoNumber("each lane reads a line of its own, and how often one of them waits for memory is not known")
    more = {**of, **{name: 1.5 * of[name] for name in ("instructions", "integers", "chain")}}
    if of["parted"] > 0.2 and times(more, device)["together"] > 1.2 * times(of, device)["together"]:
        raise NoNumber("the lanes of a warp part at branches, and how long a GPU takes for these is not counted")


def times(of, device):
    """Nanoseconds of a launch, {limit: of all its groups}, and of them together; "wait" is that of one group."""
    units = min(device["multiprocessors"], of["groups"])
    warps = max(of["groups"] * math.ceil(of["group_size"] / WARP) - of["idle"], 1)
    clock = 1 / device["clock_ghz"]
    waits = max(of["waits"], 1e-9)
    others = of["local"] / waits
    # Loads of a batch, which is asked for together; where others are asked for before it is counted, one turn or more ahead.
    ahead = min(of["others_ahead"] / others, of["loads_ahead"] - 1) if others else 0
    batch = max(1, of["loads_ahead"] * min(1, waits / max(of["loads"], 1)) - ahead)
    batches = of["waits"] / warps / batch
    near = of["near"] / max(of["missed"], 1e-9)  # what the second-level cache answers
    answer = device["answer_ns"] * (1 - near) + device["near_ns"] * near + device["sector_ns"] * (max(1, of["missed"] / waits) * batch - 1)
    chain = of["chain"] + (of["values"] - of["match"]) * device["value_answer"]
    counting = of["instructions"] * device["instruction_ns"] + chain * clock * device["chain_share"]
    counting *= of["loading"] / (warps * max(batches, 1e-9))  # what warps do that load nothing hides behind the waits of others
    hidden = min(1, ahead / batch) * counting
    turn = max(answer / max(1, ahead / batch) + device["loop_ns"], hidden) + counting - hidden
    # Where many queues are used, none is always busy; from sixteen on each is for a fifth of the time not.
    spread = min(max(of["visits"] / max(of["fullest"], 1) - 8, 0) / 8, 1)
    visit = device["visit_ns"] + (device["whole_ns"] - device["visit_ns"]) * of["whole"] / (of["visits"] or 1)
    fullest = of["fullest"] * visit / (1 - spread * (1 - device["spread_share"]))
    at_end = of["visits_at_end"] / (of["visits"] or 1)
    words = sum(of[word] * device["word_clocks"][word] for word in WORDS if word != "match") + of["values"] * device["word_clocks"]["match"]
    limits = {
        "wait": batches * turn + of["barriers"] * device["barrier_ns"],
        "memory": 32 * (of["missed"] - of["near"] + of["stores"] - of["near_stores"] + of["own_missed"]) / device["ceiling_gb_s"],
        "banks": (of["passes"] + of["tags"] + of["shuffle"]) * clock / units,
        "instructions": max(of["constants"] * device["constant_clocks"], of["instructions"] / device["limits"]["schedulers"],
                            of["integers"] * device["integer_clocks"], words) * clock / units,
        "queue": fullest * (1 - at_end),
    }
    if of["barriers"] > IN_A_LOOP + 0.5:  # a group's passes cannot hide behind its own waits, only behind those of others
        limits["wait"] += of["loading"] * limits["banks"] / min(places(of, device), of["groups"] / units)
    # In waves, as many groups as fit. A wave takes what its slowest part takes, and a little more where others take nearly as long.
    left, together, fit = of["groups"] / units, 0, places(of, device)
    waves = math.ceil(left / fit - 1e-9)
    while left > 1e-9:
        share = min(fit, left) * units / of["groups"]
        bend = device["bend"]
        without = (limits["wait"] ** bend + sum((share * limits[name]) ** bend for name in ("memory", "banks", "instructions"))) ** (1 / bend)
        together += (without ** device["queue_bend"] + (share * limits["queue"]) ** device["queue_bend"]) ** (1 / device["queue_bend"])
        left -= fit
    # Groups end one after the other, so that most of the queue at the end hides behind the last of them; but no more than some of their time.
    end = fullest * at_end
    together += end - min(end * (1 - device["end_share"]), together * device["end_hidden"])
    return {**limits, "wait": limits["wait"] * waves, "together": together, "waves": waves}


def time_us(launches, device, api="CUDA"):
    """Microseconds of reduced launches, one behind the other. Raises NoNumber."""
    together = [times(of, device)["together"] for of in launches]
    for of, ns in zip(launches, together):
        if ns > 0.05 * sum(together):
            refuse(of, device)
    return all_us(launches, device, api)


def all_us(launches, device, api):
    return device["launch_us"][api] + sum(times(of, device)["together"] for of in launches) / 1000


# ---- what would change it ----------------------------------------------------------------------------


def twice_the_items(of):
    """The same work in twice the groups; what each does at its beginning and end is done twice."""
    return {**of, "groups": of["groups"] * 2, "visits_at_end": of["visits_at_end"] * 2, "visits": of["visits"] + of["visits_at_end"],
            "fullest": of["fullest"] * (of["visits"] + of["visits_at_end"]) / (of["visits"] or 1)}


def wider(of):
    """Four times the bytes in each load; a fifth of the instructions goes with the loops."""
    if of["load_bytes"] > 4:
        return of  # 16 bytes are the most
    return {**of, "loads": of["loads"] / 4, "load_bytes": of["load_bytes"] * 4, "waits": of["waits"] / 4,
            "instructions": of["instructions"] * 0.8, "chain": of["chain"] / 3}


def copies(of):
    """A copy of the table for each lane, in as many banks: one pass for each access."""
    return {**of, "passes": min(of["passes"], of["local"]), "local_bytes": max(of["local_bytes"], 32 << 10)}


def half_the_visits(of):
    return {**of, **{name: of[name] / 2 for name in ("fullest", "visits", "visits_at_end", "whole")}}


CHANGES = (("twice the work-items", twice_the_items), ("loads four times as wide", wider), ("a local table for each lane", copies),
           ("half the visits in the L2 cache", half_the_visits))
# A gain below this is none: the model is not that exact.
LEAST_GAIN = 1.05


def changes(launches, device, api="CUDA"):
    """[(what, how many times as fast)], of the launch that takes longest; 1 where it gains nothing."""
    most = max(range(len(launches)), key=lambda n: times(launches[n], device)["together"])
    now, found = all_us(launches, device, api), []
    for words, change in CHANGES:
        of = change(launches[most])
        # What is not there cannot be changed.
        gain = now / all_us([*launches[:most], of, *launches[most + 1:]], device, api) if of != launches[most] else 1
        found.append((words, gain if gain >= LEAST_GAIN else 1))
    return found


def limits(launches, pixels, device, api="CUDA"):
    """[(words, GB/s that it would allow if it were alone)], the lowest first."""
    totals = [times(of, device) for of in launches]
    ns = {name: sum(each[name] for each in totals) for name in ("wait", "memory", "banks", "instructions", "queue")}
    # What later waves wait for, since not all groups find a place at once.
    ns["places"] = sum(each["wait"] * (1 - 1 / each["waves"]) for each in totals)
    ns["wait"] -= ns["places"]
    ns["launch"] = device["launch_us"][api] * 1000
    return sorted(((LIMITS[name], pixels / value) for name, value in ns.items() if value > 0), key=lambda each: each[1])


def lowest(launches, pixels, device, api="CUDA"):
    return limits(launches, pixels, device, api)[0][0]


def predict(counts, device, api=None):
    """{"us", "gb_s", "reason", "limits", "changes"} of counts (count.py); "us" is None where there is a reason."""
    launches, pixels, api = [reduced(launch) for launch in counts["launches"]], counts["pixels"], api or counts["api"]
    try:
        us, reason = time_us(launches, device, api), ""
    except NoNumber as because:
        us, reason = None, str(because)
    return {"us": us, "gb_s": us and pixels / us / 1000, "reason": reason, "limits": limits(launches, pixels, device, api),
            "changes": changes(launches, device, api) if us else []}


def digits(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


@functools.cache
def judged():
    """The recorded runs by which the model is judged: the rows of accuracy.json."""
    return json.loads((HERE / "accuracy.json").read_text(encoding="utf-8"))["rows"]


def rows(**like):
    """Those of them that are like this, and have a number."""
    return [row for row in judged() if row["predicted_us"] and all(row[name] == value for name, value in like.items())]


def is_near(row):
    return 0.8 <= row["predicted_us"] / row["measured_us"] <= 1.25


# Of whose kernels the recorded runs are.
KINDS = {"the chapters' kernels": ("chapters", ("seen", "unseen")), "others, with which it was made": ("others", ("seen",)),
         "others, which it had not seen": ("others", ("unseen",))}


def in_words(counts, name, device=None):
    """What a prediction says of a device that is known, or of another, in lines of at most 80 columns."""
    said = predict(counts, device or devices()[name])
    least, speed = said["limits"][0][0], said["gb_s"]
    kinds = {words: [is_near(row) for row in rows(limit=least, of=kind) if row["half"] in halves] for words, (kind, halves) in KINDS.items()}
    which, gives = name if device else name.upper(), f"{digits(speed)} GB/s, {digits(said['us'])} us." if speed else "no number, since"
    lines = [f"Predicted, not measured, for {which}: {gives}",
             *([] if speed else [f"  {said['reason']}."]),
             *(["  Recorded runs with this limit for which it is within a quarter:"] if speed else []),
             *(f"     {words:36} {sum(right):>4} of {len(right)}" for words, right in kinds.items() if speed),
             "  What each limit would allow alone, GB/s:"]
    lines += [f"  {'->' if n == 0 else '  '} {words:36} {digits(allows):>8}" for n, (words, allows) in enumerate(said["limits"])]
    if said["changes"]:
        lines += ["  What would change it:", *(f"     {words:36} {'none' if gain == 1 else f'{gain:.2f} times'}" for words, gain in said["changes"])]
    return lines
