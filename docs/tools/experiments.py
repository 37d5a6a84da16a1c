"""What is recorded with one thing changed at a time and all else equal: the lists.

record.py runs them (--experiment), tables.py shows them. An experiment is a table: each of its runs is
the cell of a row and a column, and rows and columns that are neighbours differ in one thing.
"""

import re
import sys
from typing import NamedTuple, Optional

import recorded

sys.path.append(str(recorded.ROOT / "common" / "tutor" / "gallery"))
import gallery  # noqa: E402

ATOMICS, LOCAL, LANES, LESSON = "02-global-atomics", "03-local-atomics", "04-per-thread-bins", "05-launch-tuning"
WORKSHOPS = f"{LESSON}/workshops"
MANY = f"{WORKSHOPS}/many"
PROBES = f"{WORKSHOPS}/probes"
# Where an edit is made: OpenCL's kernels are read at run time, the others are compiled again.
SOURCES = {"OpenCL": "histogram.cl", "CUDA": "histogram.cuh", "C++": "histogram.hpp"}


class Edit(NamedTuple):
    """A text that stands once in the kernels' source, and what a step puts in its place."""

    old: str
    new: str
    file: str = ""  # none: that of SOURCES


def with_units(arguments, units):
    """The arguments with numbers for "4*UNITS", which stands for four times the device's compute units."""
    return [str(int(float(text[: -len("*UNITS")]) * units)) if text.endswith("*UNITS") else text for text in arguments]


class Run(NamedTuple):
    """A cell of an experiment's table: one strategy of a chapter, and how it is run."""

    chapter: str
    row: str
    column: str  # "" where the columns are inputs
    strategy: str
    arguments: tuple
    edit: Optional[Edit] = None  # of OpenCL's kernels
    may_lose: bool = False  # counts, for it races
    compiled: Optional[Edit] = None  # the same edit in CUDA, or in C++

    def command(self, units=0):
        return ["--variant", self.strategy, *with_units(self.arguments, units)]

    def edit_of(self, api):
        return self.edit if api == "OpenCL" else self.compiled

    def is_for(self, api):
        """Whether this API has it: what is edited in one has to be edited in the other."""
        return self.edit_of(api) is not None or not (self.edit or self.compiled)

    def needs_units(self):
        return any(text.endswith("*UNITS") for text in self.arguments)


class Experiment(NamedTuple):
    """Runs of the programs of these APIs on each of the inputs."""

    about: str  # for the command line's help
    corner: str  # the title of the rows
    runs: tuple
    unit: str = "GB/s"  # or what a run's milliseconds are called
    apis: tuple = ("OpenCL", "CUDA")
    inputs: tuple = ("uniform",)
    size: str = "256M"  # or several, by spaces
    note: str = "Medians."  # below the table
    counters: tuple = ()  # of Nsight Compute, in the place of the time; CUDA alone. One is shown for each pixel; several have a table.


def recorded_of(recording, name, **wanted):
    """[(run, entry, what was kept of it)] of an experiment's runs, in their order, in all entries of it whose fields are these."""
    if name not in EXPERIMENTS:
        raise recorded.NotRecorded(f"there is no experiment {name}, only {', '.join(EXPERIMENTS)}")
    found, entries = [], recorded.select(recording, "experiments", experiment=name, **wanted)
    for run in EXPERIMENTS[name].runs:
        for entry in entries:
            change, command = run.edit_of(entry["run"]["api"]), run.command(entry["run"]["units"])
            is_of = run.chapter, command, change and {"from": change.old, "to": change.new}
            found += [(run, entry, kept) for kept in entry["run"]["runs"]
                      if (entry["program"].rpartition("/")[0], kept["arguments"], kept.get("edit")) == is_of]
    return found


# ---- the chapters --------------------------------------------------------------------------------


def launch(groups, group_size):
    return "--groups", str(groups), "--group-size", str(group_size)


def steps():
    """From chapter 03's kernel to `tuned`, one thing new in each row."""
    two = "--launches", "two"
    for row, strategy, arguments, opencl, cuda in (
        ("`two-per-sm`: two groups of 256 for each unit", "two-per-sm", (), None, None),
        ("and filled: four groups of 512 for each unit", "two-per-sm", ("--group-size", "512", "--groups", "4*UNITS"), None, None),
        ("`occupancy`: the walk over the picture, a row at a time (edited)", "occupancy", (),
         Edit("#define ROWS_AT_ONCE 8", "#define ROWS_AT_ONCE 1"),
         Edit("constexpr unsigned kRowsAtOnce = 8;", "constexpr unsigned kRowsAtOnce = 1;")),
        ("and eight rows at a time", "occupancy", (), None, None),
        ("`vector`: 16 pixels per load", "vector", (), None, None),
        ("`tuned`: groups of 1024, the next load in flight while one is counted", "tuned", ("--copies", "1", "--loads", "1", *two),
         None, None),
        ("and a copy of the table for each lane (edited)", "tuned", ("--copies", "32", "--loads", "1", *two),
         Edit("    __local uchar* bin = (__local uchar*)table + (value * (COPIES * 4) | own);\n"
              "    atomic_inc((__local uint*)bin);\n",
              "    atomic_inc(&table[value * COPIES + own / 4]);\n"),
         Edit("    char* const bin = reinterpret_cast<char*>(table) + (value * (kCopies * 4) | own);\n"
              "    atomicAdd(reinterpret_cast<std::uint32_t*>(bin), 1U);\n",
              "    atomicAdd(&table[value * kCopies + own / 4], 1U);\n")),
        ("and fewer instructions to find the place", "tuned", ("--copies", "32", "--loads", "1", *two), None, None),
        ("and three loads in flight", "tuned", ("--copies", "32", "--loads", "3", *two), None, None),
        ("and the histogram zeroed and finished by the kernel itself", "tuned", ("--copies", "32", "--loads", "3"), None, None),
    ):
        yield Run(LESSON, row, "", strategy, arguments, opencl, compiled=cuda)


# Chapter 03's kernel with the plain increment of `racy`: without other work-items at the same time, as on
# PoCL, where a group is one thread, nothing is lost.
PLAIN = Edit("        atomic_inc(&table[pixels[i]]);\n    }\n    // Step 4: nobody reads",
             "        ++table[pixels[i]];\n    }\n    // Step 4: nobody reads")
PLAIN_BLOCKED = Edit("; ++i) {\n        atomic_inc(&table[pixels[i]]);", "; ++i) {\n        ++table[pixels[i]];")


def walls():
    """Walk, instruction and table: each taken away by itself, in one and in two groups of 256."""
    for groups, walk in ((1, "interleaved"), (1, "blocked"), (2, "interleaved"), (2, "blocked")):
        row = f"{groups_of(groups)}, {walk}"
        how = (*launch(groups, 256), "--walk", walk)
        plain = PLAIN if walk == "interleaved" else PLAIN_BLOCKED
        yield Run(LOCAL, row, "a table for each group, `++`", "local", how, plain)
        yield Run(LOCAL, row, "a table for each group, atomic (`local`)", "local", how)
        yield Run(ATOMICS, row, "one table, `++` (`racy`)", "racy", how, may_lose=True)
        yield Run(ATOMICS, row, "one table, atomic (`global`)", "global", how)


GROUPS = (1, 2, 4, 6, 8)


def groups_of(number):
    return f"{number} group{'s' if number > 1 else ''}"


# The strategies of chapter 04 beside chapter 03's `local`, all in the same launches.
EQUAL_LAUNCHES = tuple(Run(chapter, f"`{strategy}`", groups_of(groups), strategy, launch(f"{groups}*UNITS", 128))
                       for groups in GROUPS for chapter, strategy in (
                           (LOCAL, "local"), (LANES, "private"), (LANES, "uchar-bins"), (LANES, "uchar-bins-banked"), (LANES, "lane-bins")))


# Chapter 04's kernel with four pixels loaded before the first of them is counted: what stands in the place of its loop.
def four_at_once(first, end, step, count):
    loads = "".join(f"const uchar {name} = pixels[i + {n} * {step}]; " for n, name in enumerate("abcd"))
    counts = " ".join(count.format(name) for name in "abcd")
    return (f"    ulong i = {first};\n"
            f"    for (; i + 3 * {step} < {end}; i += 4 * {step}) {{ {loads}{counts} }}\n"
            f"    for (; i < {end}; i += {step}) {{ {count.format('pixels[i]')} }}\n")


FOUR_BYTES = Edit("        for (ulong i = first + item; i < end; i += group_size) {\n            ++own[pixels[i]];\n        }\n",
                  four_at_once("first + item", "end", "group_size", "++own[{}];"))
SIZE_KNOWN = Edit("    const size_t group_size = get_local_size(0);\n    __local uchar* bins",
                  "    const size_t group_size = UCHAR_GROUP_SIZE;\n    __local uchar* bins")


# In place of a remainder for each other work-item's counters.
MASK = [Edit(f"({item} + n) % {size}", f"({item} + n) & ({size} - 1)") for item, size in (("item", "group_size"), ("threadIdx.x", "blockDim.x"))]


def probe(row, column, name, groups="2*UNITS", group_size=256, **options):
    words = [word for option, value in options.items() for word in (f"--{option}", str(value))]
    return Run(PROBES, row, column, name, (*launch(groups, group_size), *words))


def contention(**more):
    """Random counters, from one to 65,536, in three spacings."""
    for counters in (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536):
        for spacing in (4, 32, 128):
            yield probe(f"{counters:,}", f"{spacing} bytes apart", "contention", counters=counters, spacing=spacing, **more)


# Another counter for each value: equal pixels still meet, and neighbouring values lie in different places.
SCATTERED = Edit("    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {\n        atomic_inc(&histogram[pixels[i]]);",
                 "    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {\n"
                 "        atomic_inc(&histogram[pixels[i] * 101 & 255]);")
IDEAS = (("one table, eight pixels at a time", "eight-tables", Edit("++tables[lane][pixels[lane]];", "++tables[0][pixels[lane]];")),
         ("eight counters per bin, side by side", "side-by-side", None),
         ("eight tables, one behind the other, without padding", "eight-tables", Edit("kBins + 8>, kLanes>", "kBins>, kLanes>")),
         ("eight tables, one behind the other", "eight-tables", None),
         ("and the next pixels prefetched: `interleaved`", "prefetched", None))


_LOOP = ("    for (ulong i = begin; i < begin + length; ++i) {{\n#pragma unroll\n"
         "        for (uint place = 0; place < PLACES; ++place) {{\n            {}\n        }}\n    }}\n")
_COUNTER = "tables[place * TABLE + pixels[i + place * length]]"
COUNT_IN_PLACES = _LOOP.format(f"++{_COUNTER};")


def places():
    """`core-bins`: in how many places it reads at once, and the same with half of what `++` does."""
    def run(row, edit=None):
        return Run(LANES, row, "", "core-bins", tuple(launch("1*UNITS", 1)), edit, may_lose=edit is not None and edit.old == COUNT_IN_PLACES)
    for number in 1, 2, 4, 6, 8:
        edit = None if number == 6 else Edit("#define PLACES 6", f"#define PLACES {number}")
        yield run(f"{number} place{'s' if number > 1 else ''}" + (": as it is" if number == 6 else ""), edit)
    yield run("6 places, counters written and not read", Edit(COUNT_IN_PLACES, _LOOP.format(f"{_COUNTER} = i;")))
    yield run("6 places, counters read and not written",
              Edit(COUNT_IN_PLACES,
                   "    uint sums[PLACES] = {0};\n" + _LOOP.format(f"sums[place] += {_COUNTER};")
                   + "    for (uint place = 0; place < PLACES; ++place) {\n        tables[place] = sums[place];\n    }\n"))


def profiled():
    """The kernels whose profile is shown."""
    for row, chapter, strategy, how in (
        ("`racy`", ATOMICS, "racy", ()), ("`global`", ATOMICS, "global", ()),
        ("`local`", LOCAL, "local", ()), ("`local`, blocked", LOCAL, "local", ("--walk", "blocked")),
        ("`local`, blocked, 8 groups", LOCAL, "local", (*launch("8*UNITS", 256), "--walk", "blocked")),
        ("`private`", LANES, "private", ()), ("`lane-bins`", LANES, "lane-bins", ()),
        ("`two-per-sm`, device filled", LESSON, "two-per-sm", launch("4*UNITS", 512)), ("`occupancy`", LESSON, "occupancy", ()),
        ("`vector`", LESSON, "vector", ()), ("`vector`, 3 groups", LESSON, "vector", launch("3*UNITS", 512)),
        ("`tuned`", LESSON, "tuned", ("--copies", "32", "--loads", "3")),
    ):
        yield Run(chapter, row, "", strategy, how, may_lose=strategy == "racy")


def for_a_step(value, pixels):
    """For the 32 pixels that a warp counts in one step with a byte a load."""
    return 32 * value / pixels


# What Nsight Compute reads for the profiles: what a column of the table is called, the counter, and what is shown of it.
PROFILE = {
    "GB/s": ("gpu__time_duration.sum", lambda value, pixels: pixels / value),
    "Bytes read from memory, a pixel": ("dram__bytes_read.sum", lambda value, pixels: value / pixels),
    "Bytes written to memory, a pixel": ("dram__bytes_write.sum", lambda value, pixels: value / pixels),
    "Sectors read in the L2 cache, 32 pixels": ("lts__t_sectors_op_read.sum", for_a_step),
    "Sectors written there, 32 pixels": ("lts__t_sectors_op_write.sum", for_a_step),
    "Sectors of its atomics, 32 pixels": ("lts__t_sectors_op_red.sum", for_a_step),
    "Loads found in the L1 cache, %": ("l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", lambda value, _: value),
    "Memory busy, %": ("dram__throughput.avg.pct_of_peak_sustained_elapsed", lambda value, _: value),
    "Banks busy, %": ("l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_active", lambda value, _: value),
    "Integer unit busy, %": ("sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active", lambda value, _: value),
    "Passes of the banks, 32 pixels": ("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", for_a_step),
    "Instructions, 32 pixels": ("smsp__inst_executed.sum", for_a_step),
    "Clocks in which one is issued, %": ("smsp__issue_active.avg.pct_of_peak_sustained_active", lambda value, _: value),
    "Achieved occupancy, %": ("sm__warps_active.avg.pct_of_peak_sustained_active", lambda value, _: value),
}
STALLS = {
    "Memory": ("long_scoreboard",),
    "Local memory (CUDA: shared)": ("short_scoreboard",),
    "Room in a queue": ("lg_throttle", "mio_throttle"),
    "Barrier": ("barrier", "membar"),
    "Instruction before": ("wait", "branch_resolving", "math_pipe_throttle", "no_instruction", "dispatch_stall"),
    "Nothing: it goes on, or could": ("not_selected", "selected"),
    "Its last writes": ("drain",),
}


def stall(reason):
    return f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"


PROFILED = (*(counter for counter, _ in PROFILE.values()), *(stall(reason) for reasons in STALLS.values() for reason in reasons))


def slow(*pictures):
    """The gallery of what is right and slow, each beside what is fast; all of it, or what shows on these pictures."""
    for one in gallery.mistakes(folder="slow"):
        if one.picture() in (pictures or (one.picture(),)):
            opencl, cuda = (Edit(*one.edit(file)) if file in one.files() else None for file in ("histogram.cl", "histogram.cuh"))
            launches = one.launches()
            yield Run(one.chapter, f"{one.number} `{one.name}`", "slow", one.variant, tuple(launches[0]), opencl, compiled=cuda)
            yield Run(one.chapter, f"{one.number} `{one.name}`", "beside it", one.variant, tuple(launches[1]))


# ---- what one sentence of a lesson rests on; each prediction was written down before it was measured ---------------

# `tuned` with the request where it is needed. (Behind the counts it would not be late: nvcc moves a single one in front of them.)
WHEN_NEEDED = {api: Edit(f"            const {word} later = i + ({loads} + n) * stride;\n            next[n] = later",
                         f"            const {word} later = i + n * stride;\n            now[n] = next[n] = later")
               for api, word, loads in (("OpenCL", "uint", "LOADS"), ("CUDA", "unsigned", "kLoads"))}
# `tuned` with its requests as copies to local memory, for groups of 256 and one load. What was its loop has nothing left.
COPIED = {
    "OpenCL": Edit("    for (uint i = item; i < vector_count; i += LOADS * stride) {\n        uint4", """\
    __local uint4 staged[2 * GROUP_SIZE];
    uint begin = get_group_id(0) * GROUP_SIZE;
    uint length = min((uint)GROUP_SIZE, vector_count - min(begin, vector_count));
    event_t here = async_work_group_copy(staged, vectors + begin, length, 0);
    for (uint k = 0; begin < vector_count; k ^= 1) {
        const uint after = begin + get_global_size(0);
        length = min((uint)GROUP_SIZE, vector_count - min(after, vector_count));
        event_t next = async_work_group_copy(staged + (k ^ 1) * GROUP_SIZE, vectors + after, length, 0);
        wait_group_events(1, &here);
        if (begin + get_local_id(0) < vector_count) {
            const uint4 sixteen = staged[k * GROUP_SIZE + get_local_id(0)];
            count_word(table, own, sixteen.x);
            count_word(table, own, sixteen.y);
            count_word(table, own, sixteen.z);
            count_word(table, own, sixteen.w);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        here = next;
        begin = after;
    }
    wait_group_events(1, &here);
    for (uint i = vector_count; i < vector_count; i += LOADS * stride) {
        uint4"""),
    "CUDA": Edit("    for (unsigned i = item; i < vector_count; i += kLoads * stride) {\n        uint4", """\
    __shared__ uint4 staged[2][256];
    const auto ask = [&](unsigned i, unsigned k) {
        if (i < vector_count) {
            const auto to = static_cast<unsigned>(__cvta_generic_to_shared(&staged[k][threadIdx.x]));
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(&vectors[i]));
        }
        asm volatile("cp.async.commit_group;");
    };
    ask(item, 0);
    for (unsigned i = item, k = 0; i < vector_count; i += stride, k ^= 1) {
        ask(i + stride, k ^ 1);
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        const uint4 sixteen = staged[k][threadIdx.x];
        count_word<kCopies>(table, own, sixteen.x);
        count_word<kCopies>(table, own, sixteen.y);
        count_word<kCopies>(table, own, sixteen.z);
        count_word<kCopies>(table, own, sixteen.w);
    }
    for (unsigned i = vector_count; i < vector_count; i += kLoads * stride) {
        uint4"""),
}


# `now[n] = next[n]` is a move from register to register, and waits for the load. In a loop that is unrolled twice there is none.
UNROLLED = {api: Edit(f"    for ({word} i = item; i < vector_count; i += {loads} * stride) {{\n        uint4",
                      f"#pragma unroll 2\n    for ({word} i = item; i < vector_count; i += {loads} * stride) {{\n        uint4")
            for api, word, loads in (("OpenCL", "uint", "LOADS"), ("CUDA", "unsigned", "kLoads"))}


def ahead():
    """`tuned`, which asks for the next loads before it counts, beside itself without that. Predicted: n loads ahead are as fast as 2 n
    asked for when needed, for as many are in flight; copies to local memory are as fast as registers. It was not so, and the machine
    code told why (see UNROLLED). Predicted then: unrolled twice, n loads ahead are as fast as 2 n, and as copies. Not so: there nvcc 13.0
    puts a shift of what is counted in front of the next request. Only the copies have two in flight."""
    for change, column in ((WHEN_NEEDED, "when needed"), (None, "ahead: `tuned`"), (UNROLLED, "ahead, unrolled twice"), (COPIED, "ahead, as copies")):
        for groups, group_size, most in ((2, 256, 4), (1, 1024, 2)):
            for loads in range(1, most + 1):
                if change is not COPIED or (group_size, loads) == (256, 1):
                    row = f"{groups} group{'s' if groups > 1 else ''} of {group_size}, {loads} load{'s' if loads > 1 else ''}"
                    yield Run(LESSON, row, column, "tuned", (*launch(f"{groups}*UNITS", group_size), "--copies", "32", "--loads", str(loads)),
                              change and change["OpenCL"], compiled=change and change["CUDA"])


def stretches():
    """`local` blocked. Predicted: if the latency decides, two groups for each unit are twice as fast as one; if the cache's look-ups do, all
    are equally fast. Neither: 243, 270, 523, 319 GB/s. A warp waits for its slowest lane, and lanes whose stretches begin at n different
    places of a sector miss in n of 32 loads. Predicted then, for these numbers of groups, whose stretches begin at 1 to 32 places of a
    sector: a round trip of 48 ns, and n 32nds of 126 to 330 more."""
    for groups, places in ((99, 1), (107, 2), (109, 4), (121, 8), (125, 16), (131, 32)):
        yield Run(LOCAL, f"{groups} groups, {places}", "", "local", (*launch(groups, 128), "--walk", "blocked"))
    for groups, places in ((1, 2), (2, 4), (3, 2), (4, 8)):
        yield Run(LOCAL, f"{groups} group{'s' if groups > 1 else ''} for each unit, {places}", "", "local",
                  (*launch(f"{groups}*UNITS", 128), "--walk", "blocked"))


def apart():
    """`local` in eight groups, its lanes so many bytes apart, in turn through the whole picture. Predicted: a sector of 32 bytes comes
    for so many pixels as one holds, so from 8 bytes on the speed is the ceiling, divided by the bytes for each pixel, down to 32."""
    for bytes_apart in (1, 2, 4, 8, 16, 32, 64):
        yield Run(LOCAL, str(bytes_apart), "", "local", launch("8*UNITS", 256), None if bytes_apart == 1 else Edit(
            "    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {\n"
            "        atomic_inc(&table[pixels[i]]);\n    }\n    // Step 4: nobody reads",
            f"    for (ulong column = 0; column < {bytes_apart}; ++column) {{\n"
            f"        for (ulong i = get_global_id(0) * {bytes_apart} + column; i < count; i += get_global_size(0) * {bytes_apart}) {{\n"
            "            atomic_inc(&table[pixels[i]]);\n        }\n    }\n    // Step 4: nobody reads"), compiled=None if bytes_apart == 1 else Edit(
            "    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;\n         i += stride) {\n"
            "        atomicAdd(&table[pixels[i]], 1U);\n    }\n    // Step 4: nobody reads",
            f"    for (std::size_t column = 0; column < {bytes_apart}; ++column) {{\n"
            "        const std::size_t item = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;\n"
            f"        for (std::size_t i = item * {bytes_apart} + column; i < count; i += stride * {bytes_apart}) {{\n"
            "            atomicAdd(&table[pixels[i]], 1U);\n        }\n    }\n    // Step 4: nobody reads"))


SLICES = ("lts__d_atomic_input_cycles_active.max", "lts__t_sectors_op_red.max", "lts__cycles_elapsed.max",
          "lts__d_atomic_input_cycles_active.sum", "lts__t_sectors_op_red.sum", "lts__cycles_elapsed.avg.per_second")


def quarter_warps():
    """`subhist`, and with 8 working lanes in each of four times as many warps: the same tables, loads and bytes in flight. Its fullest
    queue has 0.496 visits for 32 pixels. Predicted: 55 GB/s if the queue idles as before, 70 or more if it idled since the visits of a
    warp come all at once."""
    yield Run(ATOMICS, "32 lanes of a warp add: `subhist`", "", "subhist", launch("2*UNITS", 256))
    yield Run(ATOMICS, "8 lanes of a warp add, in four times as many warps", "", "subhist", launch("2*UNITS", 1024), compiled=Edit(
        "    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;\n"
        "    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;\n         i += stride) {\n"
        "        atomicAdd(&table[pixels[i]], 1U);\n",
        "    if (threadIdx.x % 32 >= 8) return;\n"
        "    const std::size_t warp = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;\n"
        "    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x / 4;\n"
        "    for (std::size_t i = warp * 8 + threadIdx.x % 32; i < count; i += stride) {\n"
        "        atomicAdd(&table[pixels[i]], 1U);\n"))


def halves():
    """`racy`, and each half of what its `++` does. Predicted: what it writes is the reason why it is slower than `global`, so with the
    stores alone it is as slow; with the loads alone it is much faster. The first is not so. But what is only read comes from the L1
    cache, and what was written does not. Predicted then: read in the L2 cache, where all want the same sectors, it is slow. That is not
    enough either: one after the other both would be four to six times as fast as `racy`."""
    where = "    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {{\n        {};\n    }}\n"
    plain = where.format("++histogram[pixels[i]]")
    for row, change in (
        ("`racy`: counters read and written", None),
        ("written, not read", Edit(plain, where.format("histogram[pixels[i]] = i"))),
        ("read, not written", Edit(plain, "    uint sum = 0;\n" + where.format("sum += histogram[pixels[i]]")
                                   + "    if (sum == 1) {\n        histogram[0] = sum;\n    }\n")),
        ("read in the L2 cache, not written", Edit(plain, "    uint sum = 0;\n    volatile __global uint* counters = histogram;\n"
                                                   + where.format("sum += counters[pixels[i]]")
                                                   + "    if (sum == 1) {\n        histogram[0] = sum;\n    }\n")),
    ):
        yield Run(ATOMICS, row, "", "racy", launch("2*UNITS", 256), change, may_lose=True)
    yield Run(ATOMICS, "`global`: an atomic addition", "", "global", launch("2*UNITS", 256))


def aggregated():
    """`global`, and the same with one addition for the equal pixels of a warp. Predicted, from the fullest queues that count says: one
    value gains up to 32 times, until latency decides; the photo 2.8 times, random pixels 1.1 times, the ramp nothing."""
    loop = "         i += stride) {\n        atomicAdd(&histogram[pixels[i]], 1U);"
    once = ("         i += stride) {  // 32 divides the pixels: whole warps\n"
            "        const unsigned same = __match_any_sync(0xffffffffU, pixels[i]);\n"
            "        if (static_cast<unsigned>(__ffs(same)) == threadIdx.x % 32 + 1) {\n"
            "            atomicAdd(&histogram[pixels[i]], static_cast<std::uint32_t>(__popc(same)));\n        }")
    yield Run(ATOMICS, "`global`", "", "global", launch("2*UNITS", 256))
    yield Run(ATOMICS, "and one addition for the equal pixels of a warp", "", "global", launch("2*UNITS", 256), compiled=Edit(loop, once))


def carve_out():
    """8-bit counters in many groups. Predicted: six groups of 33 KiB need 198 KiB, and the driver has given 196; where it is told to give
    all that it can, no group waits, and six are 1.5 times as fast as four. It was not so: nvcc gives the kernel 95 registers, and six
    groups have room for 85. Predicted then: where it is told that six groups are to fit, they are."""
    told = Edit("histogram_uchar_banked : histogram_uchar;\n", "histogram_uchar_banked : histogram_uchar;\n"
                "        CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100));\n", "cuda.cu")
    few = Edit("void histogram_uchar_banked(", "void __launch_bounds__(128, 6) histogram_uchar_banked(")
    for change, row in ((None, "`uchar-bins-banked`, 95 registers"), (told, "with all the room that shared memory can have"),
                        (few, "with at most 80 registers")):
        for groups in (4, 6):
            yield Run(LANES, row, f"{groups} groups", "uchar-bins-banked", launch(f"{groups}*UNITS", 128), compiled=change)


def finish():
    """Two commands, and two ways to need one. Predicted: a barrier for all groups takes as long as an answer from the L2 cache, or a few of
    them, and both ways save the second command. (All groups fit, so none waits for one that has not begun.)"""
    how = *launch("1*UNITS", 1024), "--copies", "32", "--loads", "3"
    yield Run(LESSON, "zeroed by a command", "", "tuned", (*how, "--launches", "two"))
    yield Run(LESSON, "the sum counts the groups: `tuned`", "", "tuned", how)
    yield Run(LESSON, "a barrier for all groups (edited)", "", "tuned", how, compiled=Edit(
        "    // Each bin: its copies, beginning with another one each time, so that the banks take turns.\n", """\
    if (totals != nullptr) {
        for (unsigned bin = threadIdx.x; blockIdx.x == 0 && bin < kBins; bin += blockDim.x) {
            histogram[bin] = 0;
        }
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(&totals[0], 1ULL);
            while (atomicAdd(&totals[0], 0ULL) < gridDim.x) {
            }
            if (atomicAdd(&totals[1], 1ULL) == gridDim.x - 1) {
                atomicExch(&totals[0], 0ULL);
                atomicExch(&totals[1], 0ULL);
            }
        }
        __syncthreads();
        totals = nullptr;
    }
"""))


def solved():
    """The solution of exercise 05/half-the-ceiling in the place of chapter 03's kernel. Predicted by `count`, that task's judge: 3,040
    GB/s on random pixels and on the ramp."""
    file = recorded.ROOT / LESSON / "exercise/half-the-ceiling/solution.txt"  # a copy for students has none
    _, opencl, cuda = re.split(r"^--- .*\n", file.read_text(encoding="utf-8"), flags=re.MULTILINE) if file.exists() else ("", "", "")
    heads = "__kernel OF_GROUP_SIZE void histogram_local(", "__global__ void histogram_local("
    edits = [Edit(head, re.sub('extern "C" |#define BINS.*|constexpr unsigned kBins.*', "", text).replace("histogram_fast", "histogram_local")
                  + head.replace("_local(", "_replaced(")) for head, text in zip(heads, (opencl, cuda))]
    yield Run(LOCAL, "our solution", "", "local", launch("2*UNITS", 1024), edits[0], compiled=edits[1])


CPU, OPENCL, CUDA = ("C++",), ("OpenCL",), ("CUDA",)
NOTHING_READ = "Medians. No pixels are read."
EXPERIMENTS = {
    "steps": Experiment("chapter 05, step by step", "Step", tuple(steps()), size="1G"),
    "ideas": Experiment("the ideas of `interleaved`, for a CPU", "Loop", (Run("01-cpu", "`serial`", "", "serial", ()), *(
        Run("01-cpu", row, "", "interleaved", ("--loop", loop), compiled=edit) for row, loop, edit in IDEAS)), "GB/s", CPU,
                        ("photo", "uniform", "four-values", "constant"), "100M"),
    "lines": Experiment("sixteen values whose counters lie on one cache line, or on sixteen, for a CPU", "Strategy",
                        (Run("01-cpu", "`threads-atomic`", "", "threads-atomic", ()),), "ms", CPU, recorded.LINES, "16M"),
    "starts": Experiment("threads started once or for each run, for a CPU", "Threads", (Run("01-cpu", "`serial`", "", "serial", ()), *(
        Run("01-cpu", f"`{strategy}`, {row}", "", strategy, ("--start", start)) for strategy in ("threads-private", "threads-simd")
        for start, row in (("once", "started once"), ("each-run", "started for each run")))), "ms", CPU, ("photo", "uniform"), "256K"),
    "places": Experiment("`core-bins` in one place to eight, for a CPU", "Reads in", tuple(places()), "GB/s", OPENCL,
                         ("photo", "uniform", "constant"), "100M",
                         "Medians. Where counters are only written or only read nothing is counted; the time is still valid."),
    "walls": Experiment("walk, instruction and table taken away one at a time, for a CPU", "Launch, walk", tuple(walls()), "ms", OPENCL, ("photo",),
                        "16M", "Medians. `racy` may lose counts where there are two groups; its time is still valid."),
    "strides": Experiment("`racy` in one group, whose size is the stride of the walk, for a CPU", "One group of",
                          tuple(Run(ATOMICS, "ms", str(stride), "racy", launch(1, stride), may_lose=True) for stride in (1, 8, 32, 64, 256, 1024)),
                          "ms", OPENCL, ("photo",), "16M"),
    "private": Experiment("`private` in several launches, for a CPU", "Launch", tuple(
        Run(LANES, f"{groups} groups of {size}: a stride of {groups * size}, and a core has {size} table{'s' if size > 1 else ''} at once",
            "ms", "private", launch(groups, size)) for groups, size in ((4, 256), (4, 8), (128, 8), (1024, 1), (2, 1))),
        "ms", OPENCL, ("photo",), "16M"),
    "walks": Experiment("the two walks", "Launch", tuple(
        Run(chapter, f"`{strategy}`, {groups} groups of 256 for each unit", walk, strategy, (*launch(f"{groups}*UNITS", 256), "--walk", walk))
        for chapter, strategy, groups in ((ATOMICS, "global", 2), (LOCAL, "local", 2), (LOCAL, "local", 8))
        for walk in ("interleaved", "blocked")), inputs=("uniform", "photo")),
    # Half the work-items: what waits is half as fast, what queues is as fast as before.
    "racy": Experiment("`racy` beside `global`", "Groups of 256 for each unit", tuple(
        Run(ATOMICS, f"`{strategy}`", groups_of(groups), strategy, launch(f"{groups}*UNITS", 256), may_lose=strategy == "racy")
        for strategy in ("global", "racy") for groups in (1, 2)), inputs=("uniform", "photo")),
    "near": Experiment("`global`, and the same with neighbouring values far apart", "Counter of value v",
                       tuple(Run(ATOMICS, row, "", "global", launch("2*UNITS", 256), edit, may_lose=edit is not None)
                             for row, edit in (("v: `global`", None), ("101 v % 256", SCATTERED))), "GB/s", OPENCL, ("uniform", "photo", "ramp"),
                       note="Medians. The second row's counts are right, but in other places; its time is valid."),
    "bytes": Experiment("`uchar-bins`, and what the compiler knows of it", "Groups of 128 for each unit", tuple(
        Run(LANES, row, groups_of(groups), "uchar-bins", launch(f"{groups}*UNITS", 128), change) for groups in GROUPS
        for row, change in (("`uchar-bins`", None), ("the group's size is a number", SIZE_KNOWN), ("four loads, four counts", FOUR_BYTES))),
        "GB/s", OPENCL),
    # A step at a time, and then `lane-bins` without each of the steps.
    "lanes": Experiment("from `local` to `lane-bins`", "Launch", tuple(
        Run(LANES, row, "", "lane-bins", (*(launch("1*UNITS", 1024) if is_large else launch("2*UNITS", 256)), "--copies", copies, "--loads", loads))
        for row, copies, loads, is_large in (
            ("one table, a pixel per load, two groups of 256 for each unit: as `local`", "1", "0", False),
            ("the same with 32 copies of the table", "32", "0", False),
            ("one table, 16 pixels per load", "1", "1", False),
            ("and four loads in flight", "1", "4", False),
            ("and 32 copies of the table", "32", "4", False),
            ("and one group of 1024 for each unit: `lane-bins`", "32", "4", True),
            ("`lane-bins` with one table", "1", "4", True),
            ("`lane-bins` with 8 copies", "8", "4", True),
            ("`lane-bins` with a pixel per load, one in flight", "32", "0", True),
            ("`lane-bins` with one load in flight", "32", "1", True))), inputs=("uniform", "photo", "constant", "ramp")),
    # Most numbers of bytes in more than one way.
    "under-way": Experiment("bytes in flight, 32 to 64 Ki on each multiprocessor", "Launch for each unit", tuple(
        Run(LANES, f"1 group of {size}", column, "lane-bins", (*launch("1*UNITS", size), "--copies", "32", "--loads", loads))
        for size in (32, 64, 128, 256, 512, 1024) for column, loads in (("1 byte", "0"), ("16 bytes", "1"), ("4 loads of 16 bytes", "4")))),
    "launches": Experiment("chapters 03 and 04 in equal launches", "Groups of 128 for each unit", EQUAL_LAUNCHES),
    "private-memory": Experiment("what `private` fetches from memory", "Groups of 128 for each unit",
                                 tuple(run for run in EQUAL_LAUNCHES if run.strategy == "private"), "bytes from memory for each pixel", CUDA,
                                 note="One launch of each under Nsight Compute: `dram__bytes_read`.", counters=("dram__bytes_read.sum",)),
    "many-launches": Experiment("`group-each` of `many` in several launches", "Launch", tuple(
        Run(MANY, f"Groups of {size}, {copies} copies", f"{side} x {side}", "group-each",
            ("--side", str(side), "--group-size", str(size), "--copies", str(copies)))
        for size in (128, 256, 512, 1024) for copies in (4, 32) for side in (64, 128, 256, 512)), "GB/s", CUDA),
    "remainders": Experiment("`uchar-bins-banked` with a mask in place of the remainder", "Groups of 128 for each unit", tuple(
        Run(LANES, row, groups_of(groups), strategy, launch(f"{groups}*UNITS", 128), edits[0], compiled=edits[1])
        for row, strategy, edits in (("`uchar-bins`", "uchar-bins", (None, None)), ("`uchar-bins-banked`", "uchar-bins-banked", (None, None)),
                                     ("a mask in place of the remainder", "uchar-bins-banked", MASK)) for groups in GROUPS)),
    # Predicted: if the wait for a pixel and the wait in the queue come one after the other, eight groups of `subhist` give 122 GB/s on
    # random pixels; if one hides behind the other, 147. Neither: 95.
    "two-waits": Experiment("`subhist` beside `local` in more and more groups", "Groups of 256 for each unit", tuple(
        Run(chapter, f"`{strategy}`", groups_of(groups), strategy, launch(f"{groups}*UNITS", 256))
        for chapter, strategy in ((ATOMICS, "subhist"), (LOCAL, "local")) for groups in (1, 2, 4, 8)), inputs=("uniform", "ramp")),
    # Predicted by the rule of the queues: 10.8 GB/s up to modulo-32, for four visits are in one queue; 21.6 for modulo-128, as for the ramp;
    # steps of 2, 4 and 8: 10.8, 5.4 and 2.7. If a warp's visits to neighbouring sectors are what the ramp gains by, so does modulo-32, and
    # modulo-8 does not. Both do, so it is that a visit adds to a whole sector.
    "ramps": Experiment("`global` on ramps whose warps visit one sector to 32", "Strategy",
                        (Run(ATOMICS, "`global`", "", "global", launch("2*UNITS", 256)),), inputs=(*recorded.RAMPS, "ramp"), size="64M"),
    "half-the-ceiling": Experiment("the solution of exercise 05/half-the-ceiling", "Kernel", tuple(solved()), inputs=("uniform", "ramp"), size="1G"),
    # What waits where all pixels are equal: `vector` counts before it asks again, `tuned` asks first. Three groups are what its registers allow.
    "one-value": Experiment("one value with one copy and one load", "Launch", (
        Run(LESSON, "`vector`", "", "vector", ()), Run(LESSON, "`vector`, three groups for each unit", "", "vector", launch("3*UNITS", 512)), *(
            Run(LESSON, f"`tuned`, {copies} {'copies' if copies > 1 else 'copy'}, {loads} load{'s' if loads > 1 else ''}", "", "tuned",
                ("--copies", str(copies), "--loads", str(loads), "--launches", "two"))
            for copies, loads in ((1, 1), (32, 1), (1, 3), (32, 3)))), inputs=("constant",)),
    "contention": Experiment("additions to random counters", "Counters", tuple(contention()), "additions/ns", size="32M", note=NOTHING_READ),
    "warps": Experiment("the same, but the 32 of a warp go to one counter", "Counters", tuple(contention(together=32)), "additions/ns", CUDA,
                        size="32M", note=NOTHING_READ),
    # Whether two counters wait in one queue or in two.
    "pairs": Experiment("two counters, so far apart", "Two counters", tuple(
        probe(f"{spacing:,} bytes apart", column, "contention", counters=2, spacing=spacing, together=together)
        for spacing in (4, 32, 64, 128, 256, 512, 768, 1024, 1280, 2048, 4096, 65536)
        for together, column in ((1, "each work-item at one of the two"), (32, "each warp at one of the two"))), "additions/ns", CUDA,
        size="32M", note=NOTHING_READ),
    "chase": Experiment("one work-item follows a chain", "A chain through", (Run(PROBES, "", "", "chase", ()),), "ns a hop", size="64K 16M 1G",
                        note="Medians of runs of a million hops. 64 KiB lie in the first-level cache, 16 MiB in the L2 cache, 1 GiB in no cache."),
    "reads": Experiment("the launches of the law, read only", "Launch for each unit", tuple(
        probe(f"1 group of {size}", column, "read", "1*UNITS", size, **options) for size in (32, 128, 512, 1024)
        for column, options in (("1 byte, not counted", {"bytes": 1, "counted": 0}), ("1 byte, counted", {"bytes": 1, "counted": 1}),
                                ("16 bytes, not counted", {"bytes": 16, "counted": 0}),
                                ("4 loads of 16 bytes, not counted", {"bytes": 16, "loads": 4, "counted": 0})))),
    "counted": Experiment("wide loads, of which some pixels are counted", "Pixels counted", tuple(
        probe(str(pixels), column, "read", bytes=width, counted=pixels) for width, column in ((1, "1 byte a load"), (4, "4 bytes"), (16, "16 bytes"))
        for pixels in (0, 1, 2, 4, 8, 12, 16) if pixels <= width)),
    # What does not grow with the picture, and what does: time = a + n / b.
    "sizes": Experiment("the same launches on pictures of several sizes", "Strategy", (
        Run(LOCAL, "`local`, 8 groups of 256 for each unit", "", "local", launch("8*UNITS", 256)), *(
            Run(chapter, f"`{strategy}`", "", strategy, ()) for chapter, strategy in ((LESSON, "vector"), (LANES, "lane-bins"), (LESSON, "tuned")))),
        unit="us", size="64M 256M 1G 3G"),
    "ahead": Experiment("`tuned` without its loads ahead", "Launch for each unit", tuple(ahead())),
    "stretches": Experiment("the blocked walk in few groups", "Groups of 128, and places of a sector where their stretches begin", tuple(stretches()),
                            "GB/s", CUDA, ("photo",)),
    "apart": Experiment("`local` with its lanes apart", "Bytes from lane to lane", tuple(apart())),
    "quarter-warps": Experiment("`subhist` whose warps add 8 pixels at a time", "Kernel", tuple(quarter_warps()), "GB/s", CUDA),
    # Predicted, as loads come by way of the L2 cache's other half: 1.5 look-ups for each addition. If a slice looks up one in a cycle, that
    # limits `contention`; if `subhist` waits for the same, its fullest slice has nearly a look-up in each cycle.
    "slices": Experiment("what the slices of the L2 cache do for additions", "Kernel", tuple(
        run._replace(column=counter) for run in (
            Run(ATOMICS, "`global`", "", "global", launch("2*UNITS", 256)),
            *(Run(ATOMICS, f"`subhist`, {groups} groups for each unit", "", "subhist", launch(f"{groups}*UNITS", 256)) for groups in (2, 8)),
            probe("`contention`, 65,536 counters", "", "contention", counters=65536, spacing=128)) for counter in SLICES[:3]),
        "for 32 pixels", CUDA, note="One launch of each under Nsight Compute.", counters=SLICES),
    "halves": Experiment("`racy`, and each half of its `++`", "Counters", tuple(halves()), "GB/s", OPENCL, ("uniform", "photo"), "64M",
                         "Medians. Where counters are only written or only read nothing is counted; the time is still valid."),
    "aggregated": Experiment("`global` with one addition for the equal pixels of a warp", "Kernel", tuple(aggregated()), "GB/s", CUDA,
                             ("photo", "uniform", "constant", "ramp"), "64M"),
    "carve-out": Experiment("8-bit counters in six groups, with more room and with fewer registers", "Groups of 128 for each unit",
                            tuple(carve_out()), "GB/s", CUDA),
    "finish": Experiment("three ways in which `tuned` comes to its end", "The histogram", tuple(finish()), "us", CUDA, size="64M"),
    "fabric": Experiment("sectors that come by way of the L2 cache's other half", "Kernel",
                         (Run(LOCAL, "`local`", "", "local", launch("2*UNITS", 256)),), "sectors for each pixel", CUDA,
                         note="One launch under Nsight Compute: `lts__t_sectors_srcunit_ltcfabric`.",
                         counters=("lts__t_sectors_srcunit_ltcfabric.sum",)),
    # Predicted: a core guesses whether a load needs what was stored before; where neighbours are equal now and then it guesses wrong. So
    # runs of two are slow; shuffled the photo is nearly as fast as `uniform`. Of two threads with one table: they keep a line while their
    # neighbours are equal, so shuffled the photo is slower than as it is.
    "orders": Experiment("the photo's pixels in other orders, for a CPU", "Strategy", tuple(
        Run("01-cpu", f"`{strategy}`", "", strategy, ()) for strategy in ("serial", "interleaved", "threads-atomic")), "GB/s", CPU,
                         ("photo", *recorded.ORDERS, "uniform", "constant"), "100M"),
    "slow": Experiment("what is right and slow, each with one cause, and what is fast beside it", "Kernel", tuple(slow())),
    "slow-constant": Experiment("the same on one value", "Kernel", tuple(slow("constant")), inputs=("constant",)),
    "slow-ramp": Experiment("the same on a ramp", "Kernel", tuple(slow("ramp")), inputs=("ramp",)),
    "sums": Experiment("a sum of 32-bit numbers", "Loads", tuple(
        probe(row, "", "read", counted=0, **options) for row, options in (
            ("4 bytes a load", {"bytes": 4}), ("16 bytes", {"bytes": 16}), ("two loads of 16 bytes", {"bytes": 16, "loads": 2}),
            ("four loads of 16 bytes", {"bytes": 16, "loads": 4}))), size="1G"),
    "profile": Experiment("the profiles of some kernels", "", tuple(profiled()), "", CUDA, counters=PROFILED),
    "profile-ramp": Experiment("the profiles of two kernels on the ramp", "", tuple(run for run in profiled() if run.strategy in ("vector", "tuned")),
                               "", CUDA, ("ramp",), counters=PROFILED),
}
