"""What is recorded with one thing changed at a time and all else equal: the lists.

record.py runs them (--steps, --experiment), tables.py shows them. An experiment is a table: each of its runs is
the cell of a row and a column, and rows and columns that are neighbours differ in one thing.
"""

from typing import NamedTuple, Optional

ATOMICS, LOCAL, LANES, LESSON = "02-global-atomics", "03-local-atomics", "04-per-thread-bins", "05-launch-tuning"
WORKSHOPS = f"{LESSON}/workshops"
MANY = f"{WORKSHOPS}/many"


class Edit(NamedTuple):
    """A text of histogram.cl that stands there once, and what a step puts in its place."""

    old: str
    new: str


def with_units(arguments, units):
    """The arguments with numbers for "4*UNITS", which stands for four times the device's compute units."""
    return [str(int(text[: -len("*UNITS")]) * units) if text.endswith("*UNITS") else text for text in arguments]


class Run(NamedTuple):
    """A cell of an experiment's table: one strategy of a chapter, and how it is run."""

    chapter: str
    row: str
    column: str  # "" where the columns are inputs
    strategy: str
    arguments: tuple
    edit: Optional[Edit] = None  # OpenCL only
    may_lose: bool = False  # counts, for it races

    def command(self, units=0):
        return ["--variant", self.strategy, *with_units(self.arguments, units)]

    def needs_units(self):
        return any(text.endswith("*UNITS") for text in self.arguments)


class Experiment(NamedTuple):
    """Runs of the programs of these APIs on each of the inputs."""

    about: str  # for the command line's help
    corner: str  # the title of the rows
    unit: str  # "ms" or "GB/s"
    apis: tuple
    inputs: tuple
    size: str
    runs: tuple
    note: str = "Medians."  # below the table
    counter: str = ""  # of Nsight Compute, in the place of the time; CUDA alone. In percent, or
    bytes_each: int = 0  # a sum of so many bytes each, shown for each pixel


# ---- chapter 05, step by step --------------------------------------------------------------------

# As --steps records it: the row is the step's name in the results, the column what is new in it.
STEPS = (
    Run(LESSON, "two-per-sm", "two groups of 256 for each unit", "two-per-sm", ()),
    Run(LESSON, "two-per-sm, device filled", "four groups of 512 for each unit", "two-per-sm",
        ("--group-size", "512", "--groups", "4*UNITS")),
    Run(LESSON, "occupancy, 1 row at once", "the walk over the picture, a row at a time", "occupancy", (),
        Edit("#define ROWS_AT_ONCE 8", "#define ROWS_AT_ONCE 1")),
    Run(LESSON, "occupancy", "eight rows at a time", "occupancy", ()),
    Run(LESSON, "vector", "16 pixels per load", "vector", ()),
    Run(LESSON, "tuned 1 copy 1 load two launches", "groups of 1024, the next load under way while one is counted", "tuned",
        ("--copies", "1", "--loads", "1", "--launches", "two")),
    Run(LESSON, "tuned 32 copies, the place as an index", "a copy of the table for each lane", "tuned",
        ("--copies", "32", "--loads", "1", "--launches", "two"),
        Edit("    __local uchar* bin = (__local uchar*)table + (value * (COPIES * 4) | own);\n"
             "    atomic_inc((__local uint*)bin);\n",
             "    atomic_inc(&table[value * COPIES + own / 4]);\n")),
    Run(LESSON, "tuned 32 copies", "fewer instructions to find the place", "tuned",
        ("--copies", "32", "--loads", "1", "--launches", "two")),
    Run(LESSON, "tuned 32 copies 3 loads", "three loads under way", "tuned",
        ("--copies", "32", "--loads", "3", "--launches", "two")),
    Run(LESSON, "tuned one launch", "the histogram zeroed and finished by the kernel itself", "tuned",
        ("--copies", "32", "--loads", "3")),
)


# ---- the chapters --------------------------------------------------------------------------------


def launch(groups, group_size):
    return "--groups", str(groups), "--group-size", str(group_size)


# Chapter 03's and chapter 04's kernels with four pixels loaded before the first of them is counted: what stands in the
# place of their loop.
def four_at_once(first, end, step, count):
    loads = "".join(f"const uchar {name} = pixels[i + {n} * {step}]; " for n, name in enumerate("abcd"))
    counts = " ".join(count.format(name) for name in "abcd")
    return (f"    ulong i = {first};\n"
            f"    for (; i + 3 * {step} < {end}; i += 4 * {step}) {{ {loads}{counts} }}\n"
            f"    for (; i < {end}; i += {step}) {{ {count.format('pixels[i]')} }}\n")


FOUR_INTERLEAVED = Edit("    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {\n"
                        "        atomic_inc(&table[pixels[i]]);\n    }\n    // Step 4: nobody reads",
                        four_at_once("get_global_id(0)", "count", "get_global_size(0)", "atomic_inc(&table[{}]);")
                        + "    // Step 4: nobody reads")
FOUR_BLOCKED = Edit("#pragma unroll 1\n    for (ulong i = get_global_id(0) * stretch; i < end; ++i) {\n"
                    "        atomic_inc(&table[pixels[i]]);\n    }\n",
                    four_at_once("get_global_id(0) * stretch", "end", "1", "atomic_inc(&table[{}]);"))
FOUR_BYTES = Edit("        for (ulong i = first + item; i < end; i += group_size) {\n            ++own[pixels[i]];\n        }\n",
                  four_at_once("first + item", "end", "group_size", "++own[{}];"))
SIZE_KNOWN = Edit("    const size_t group_size = get_local_size(0);\n    __local uchar* bins",
                  "    const size_t group_size = UCHAR_GROUP_SIZE;\n    __local uchar* bins")
# Chapter 03's kernel with the plain increment of `racy`: without other work-items at the same time, as on
# PoCL, where a group is one thread, nothing is lost.
PLAIN = Edit("        atomic_inc(&table[pixels[i]]);\n    }\n    // Step 4: nobody reads",
             "        ++table[pixels[i]];\n    }\n    // Step 4: nobody reads")
PLAIN_BLOCKED = Edit("; ++i) {\n        atomic_inc(&table[pixels[i]]);", "; ++i) {\n        ++table[pixels[i]];")


def walls():
    """Walk, instruction and table: each taken away by itself, in one and in two groups of 256."""
    for groups, walk in ((1, "interleaved"), (1, "blocked"), (2, "interleaved"), (2, "blocked")):
        row = f"{groups} group{'s' if groups > 1 else ''}, {walk}"
        how = (*launch(groups, 256), "--walk", walk)
        plain = PLAIN if walk == "interleaved" else PLAIN_BLOCKED
        yield Run(LOCAL, row, "a table for each group, `++`", "local", how, plain)
        yield Run(LOCAL, row, "a table for each group, atomic (`local`)", "local", how)
        yield Run(ATOMICS, row, "one table, `++` (`racy`)", "racy", how, may_lose=True)
        yield Run(ATOMICS, row, "one table, atomic (`global`)", "global", how)


def private_launches():
    for groups, group_size in ((4, 256), (4, 8), (128, 8), (1024, 1), (2, 1)):
        row = (f"{groups} groups of {group_size}: a stride of {groups * group_size}, and a core has {group_size} "
               f"table{'s' if group_size > 1 else ''} at once")
        yield Run(LANES, row, "ms", "private", launch(groups, group_size))


def walks():
    """The two walks on any device, in launches that fit a GPU."""
    for chapter, strategy, groups in ((ATOMICS, "global", 2), (LOCAL, "local", 2), (LOCAL, "local", 8)):
        for walk in ("interleaved", "blocked"):
            yield Run(chapter, f"`{strategy}`, {groups} groups of 256 for each unit", walk, strategy,
                      (*launch(f"{groups}*UNITS", 256), "--walk", walk))


def loads_under_way():
    """The two walks once more, with four loads of a work-item under way."""
    for groups in (2, 8):
        for walk, edit in (("interleaved", FOUR_INTERLEAVED), ("blocked", FOUR_BLOCKED)):
            for column, change in (("one load, one count", None), ("four loads, four counts", edit)):
                yield Run(LOCAL, f"{walk}, {groups} groups of 256 for each unit", column, "local",
                          (*launch(f"{groups}*UNITS", 256), "--walk", walk), change)


def lane_steps():
    """From chapter 03's kernel to `lane-bins`, a step at a time, and then `lane-bins` without each of the steps."""
    small, large = launch("2*UNITS", 256), launch("1*UNITS", 1024)
    for row, copies, loads, how in (
        ("one table, a pixel per load, two groups of 256 for each unit: as `local`", 1, 0, small),
        ("the same with 32 copies of the table", 32, 0, small),
        ("one table, 16 pixels per load", 1, 1, small),
        ("and four loads under way", 1, 4, small),
        ("and 32 copies of the table", 32, 4, small),
        ("and one group of 1024 for each unit: `lane-bins`", 32, 4, large),
        ("`lane-bins` with one table", 1, 4, large),
        ("`lane-bins` with 8 copies", 8, 4, large),
        ("`lane-bins` with a pixel per load, one under way", 32, 0, large),
        ("`lane-bins` with one load under way", 32, 1, large),
    ):
        yield Run(LANES, row, "", "lane-bins", (*how, "--copies", str(copies), "--loads", str(loads)))


def under_way():
    """`lane-bins` with 32 bytes to 64 KiB under way on each multiprocessor, most numbers of bytes in more than one way."""
    for group_size in (32, 64, 128, 256, 512, 1024):
        for column, loads in (("1 byte", 0), ("16 bytes", 1), ("4 loads of 16 bytes", 4)):
            yield Run(LANES, f"1 group of {group_size}", column, "lane-bins",
                      (*launch("1*UNITS", group_size), "--copies", "32", "--loads", str(loads)))


GROUPS = (1, 2, 4, 6, 8)


def byte_loads():
    """`uchar-bins`: what the compiler makes of its loop."""
    for groups in GROUPS:
        for row, change in (("`uchar-bins`", None), ("the group's size is a number", SIZE_KNOWN),
                            ("four loads, four counts", FOUR_BYTES)):
            yield Run(LANES, row, f"{groups} group{'s' if groups > 1 else ''}", "uchar-bins",
                      launch(f"{groups}*UNITS", 128), change)


def equal_launches():
    """The strategies of chapter 04 beside chapter 03's `local`, all in the same launches."""
    for groups in GROUPS:
        for chapter, strategy in ((LOCAL, "local"), (LANES, "private"), (LANES, "uchar-bins"), (LANES, "uchar-bins-banked"),
                                  (LANES, "lane-bins")):
            yield Run(chapter, f"`{strategy}`", f"{groups} group{'s' if groups > 1 else ''}", strategy,
                      launch(f"{groups}*UNITS", 128))


def racy_launches():
    """Half the work-items: what waits is half as fast, what queues is as fast as before."""
    for strategy in ("global", "racy"):
        for groups in (1, 2):
            yield Run(ATOMICS, f"`{strategy}`", f"{groups} group{'s' if groups > 1 else ''}", strategy, launch(f"{groups}*UNITS", 256),
                      may_lose=strategy == "racy")


def bytes_that_fit():
    """The 8-bit counters of so many groups: what NVIDIA's driver makes room for, and how many of them run at once."""
    for strategy in ("uchar-bins", "uchar-bins-banked"):
        for groups in (6, 7):
            yield Run(LANES, f"`{strategy}`", f"{groups} groups", strategy, launch(f"{groups}*UNITS", 128))


# Another counter for each value: equal pixels still meet, and neighbouring values lie in different places.
SCATTERED = Edit("    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {\n        atomic_inc(&histogram[pixels[i]]);",
                 "    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {\n"
                 "        atomic_inc(&histogram[pixels[i] * 101 & 255]);")
IDEAS = {"side-by-side": "eight counters per bin, side by side", "eight-tables": "eight tables, one behind the other",
         "prefetched": "and the next pixels prefetched: `interleaved`"}


def ideas():
    """`interleaved` on a CPU, one idea after the other."""
    yield Run("01-cpu", "`serial`", "", "serial", ())
    for loop, row in IDEAS.items():
        yield Run("01-cpu", row, "", "interleaved", ("--loop", loop))


def starts():
    """Threads that wait for work, and threads that are started for it."""
    yield Run("01-cpu", "`serial`", "", "serial", ())
    for strategy in "threads-private", "threads-simd":
        for start, row in ("once", "started once"), ("each-run", "started for each run"):
            yield Run("01-cpu", f"`{strategy}`, {row}", "", strategy, ("--start", start))


_LOOP = ("    for (ulong i = begin; i < begin + length; ++i) {{\n#pragma unroll\n"
         "        for (uint place = 0; place < PLACES; ++place) {{\n            {}\n        }}\n    }}\n")
_COUNTER = "tables[place * TABLE + pixels[i + place * length]]"
COUNT_IN_PLACES = _LOOP.format(f"++{_COUNTER};")
HALF_OF_IT = "Medians. Where counters are only written or only read nothing is counted; the time is still valid."


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


def many_launches():
    """`many`: work-items of a group and copies of its table, for pictures of several sizes."""
    for group_size in (128, 256, 512, 1024):
        for copies in (4, 8, 32):
            for side in (64, 128, 256, 512):
                yield Run(MANY, f"Groups of {group_size}, {copies} copies", f"{side} x {side}", "group-each",
                          ("--side", str(side), "--group-size", str(group_size), "--copies", str(copies)))


def counted(about, unit, runs, counter, what="", bytes_each=0):
    """An experiment that reads a counter of Nsight Compute: its corner and its pixels are those of `runs`."""
    corner, given, of_runs = runs
    return Experiment(about, corner, unit, ("CUDA",), (given,), "256M", of_runs,
                      f"One launch of each under Nsight Compute: `{counter.split('.')[0]}`{what}.", counter, bytes_each)


LOCAL_WALKS = "Launch", "photo", tuple(run for run in walks() if run.chapter == LOCAL)
BYTES_THAT_FIT = "Groups of 128 for each unit", "uniform", tuple(bytes_that_fit())
PRIVATE_GROUPS = "Groups of 128 for each unit", "uniform", tuple(run for run in equal_launches() if run.strategy == "private")
STRIDES = (1, 8, 32, 64, 256, 1024)
OPENCL, BOTH = ("OpenCL",), ("OpenCL", "CUDA")
EXPERIMENTS = {
    "ideas": Experiment("the ideas of `interleaved`, for a CPU", "Loop", "GB/s", ("C++",),
                        ("photo", "uniform", "four-values", "constant"), "100M", tuple(ideas())),
    "ideas-in-cache": Experiment("the same on pixels that fit a cache", "Loop", "GB/s", ("C++",),
                                 ("photo", "uniform", "four-values", "constant"), "256K", tuple(ideas())),
    "starts": Experiment("threads started once or for each run, for a CPU", "Threads", "ms", ("C++",),
                         ("photo", "uniform"), "256K", tuple(starts())),
    "places": Experiment("`core-bins` in one place to eight, for a CPU", "Reads in", "GB/s", OPENCL,
                         ("photo", "uniform", "constant"), "100M", tuple(places()),
                         HALF_OF_IT),
    "places-in-cache": Experiment("the same on pixels that fit a cache", "Reads in", "GB/s", OPENCL,
                                  ("photo", "uniform", "constant"), "1M", tuple(places()),
                                  HALF_OF_IT),
    "walls": Experiment("walk, instruction and table taken away one at a time, for a CPU", "Launch, walk", "ms", OPENCL,
                        ("photo",), "16M", tuple(walls()),
                        "Medians. `racy` may lose counts where there are two groups; its time is still valid."),
    "strides": Experiment("`racy` in one group, whose size is the stride of the walk, for a CPU", "One group of", "ms",
                          OPENCL, ("photo",), "16M",
                          tuple(Run(ATOMICS, "ms", str(stride), "racy", launch(1, stride), may_lose=True)
                                for stride in STRIDES)),
    "private": Experiment("`private` in several launches, for a CPU", "Launch", "ms", OPENCL, ("photo",), "16M",
                          tuple(private_launches())),
    "walks": Experiment("the two walks", "Launch", "GB/s", BOTH, ("uniform", "photo"), "256M", tuple(walks())),
    "hits": counted("what the walks find in the L1 cache", "% of the loads found in the L1 cache", LOCAL_WALKS,
                    "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct"),
    "fetched": counted("what the walks fetch from the L2 cache", "bytes from the L2 cache for each pixel", LOCAL_WALKS,
                       "lts__t_sectors_srcunit_tex_op_read.sum", ", of 32 bytes", 32),
    "from-memory": counted("what the walks fetch from memory", "bytes from memory for each pixel", LOCAL_WALKS, "dram__bytes_read.sum", bytes_each=1),
    "l1-busy": counted("how busy the walks keep the L1 cache", "% of what the L1 cache can do", LOCAL_WALKS,
                       "l1tex__throughput.avg.pct_of_peak_sustained_active", ", the busiest of its parts"),
    "l2-busy": counted("how busy the walks keep the L2 cache", "% of what the L2 cache can do", LOCAL_WALKS,
                       "lts__throughput.avg.pct_of_peak_sustained_elapsed", ", the busiest of its parts"),
    "racy": Experiment("`racy` beside `global`", "Groups of 256 for each unit", "GB/s", BOTH, ("uniform", "photo"), "256M",
                       tuple(racy_launches())),
    "near": Experiment("`global`, and the same with neighbouring values far apart", "Counter of value v", "GB/s", OPENCL,
                       ("uniform", "photo", "ramp"), "256M",
                       tuple(Run(ATOMICS, row, "", "global", launch("2*UNITS", 256), edit, may_lose=edit is not None)
                             for row, edit in (("v: `global`", None), ("101 v % 256", SCATTERED))),
                       "Medians. The second row's counts are right, but in other places; its time is valid."),
    "loads": Experiment("`local` in the two walks, with one and with four loads under way", "Walk, launch", "GB/s", OPENCL,
                        ("photo",), "256M", tuple(loads_under_way())),
    "lanes": Experiment("from `local` to `lane-bins`", "Launch", "GB/s", BOTH, ("uniform", "photo", "constant", "ramp"),
                        "256M", tuple(lane_steps())),
    "under-way": Experiment("bytes under way, 32 to 64 Ki on each multiprocessor", "Launch for each unit", "GB/s", BOTH,
                            ("uniform",), "256M", tuple(under_way())),
    "launches": Experiment("chapters 03 and 04 in equal launches", "Groups of 128 for each unit", "GB/s", BOTH,
                           ("uniform",), "256M", tuple(equal_launches())),
    "room": counted("how much of a multiprocessor is shared memory for 8-bit counters", "bytes of shared memory", BYTES_THAT_FIT,
                    "launch__shared_mem_config_size"),
    "occupancy": counted("how many of these groups run at once", "% of the places for warps taken", BYTES_THAT_FIT,
                         "sm__warps_active.avg.pct_of_peak_sustained_active", ", achieved occupancy"),
    "private-hits": counted("what `private` finds of its tables in the L1 cache", "% of its loads found in the L1 cache", PRIVATE_GROUPS,
                            "l1tex__t_sector_pipe_lsu_mem_local_op_ld_hit_rate.pct"),
    "private-memory": counted("what `private` fetches from memory", "bytes from memory for each pixel", PRIVATE_GROUPS, "dram__bytes_read.sum",
                              bytes_each=1),
    "many-launches": Experiment("`group-each` of `many` in several launches", "Launch", "GB/s", BOTH, ("uniform",), "256M",
                                tuple(many_launches())),
    "bytes": Experiment("`uchar-bins`, and what the compiler knows of it", "Groups of 128 for each unit", "GB/s", OPENCL,
                        ("uniform",), "256M", tuple(byte_loads())),
}
