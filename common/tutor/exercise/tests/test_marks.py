"""What submissions get: one table of them, of what their behaviour shows, and of their points.

    test_marks.py --program 03/five-steps --variant opencl Exercise

The class Exercise is for one exercise and opencl, cuda, c++, or cuda-on-cpu: CUDA emulated on a processor. All may run beside
whatever else is busy.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[2] / "tests")]
import catalogue  # noqa: E402
import exercises  # noqa: E402
import for_the_reader  # noqa: E402
import grading  # noqa: E402
import programs  # noqa: E402
import reports  # noqa: E402
import sandbox  # noqa: E402
import submitted_file  # noqa: E402
import tasks  # noqa: E402
from programs import GIVEN, Test  # noqa: E402

BUILD = GIVEN.build.resolve()
SEED = 5  # one with which the detectors' largest run is a small one
POCL = "Portable Computing Language"  # a GPU may stand before it
HAS_POCL = (BUILD / "common/run_opencl").is_file() and POCL in subprocess.run(
    [BUILD / "03-local-atomics/opencl", "--list-devices"], capture_output=True, text=True, check=False).stdout


def solution(name, api="opencl"):
    exercise = catalogue.exercise_of(name)
    return next(iter(exercise.solution(exercise.api(api if api in exercise.files else None)).values()))


def submitted(text, name="03/five-steps", api="opencl"):
    exercise = catalogue.exercise_of(name)
    api = exercise.api(api if api in exercise.files else None)
    data = text if isinstance(text, bytes) else text.encode()
    text = submitted_file.text_of(pathlib.Path(exercise.files[api][0]), data)
    device = POCL if api == "opencl" and HAS_POCL else ""
    return submitted_file.submitted(exercise, api, {exercise.files[api][0]: text}, BUILD, device)[0]


def changed(text, *edits):
    """The text with each `old` replaced by `new`, which has to be there once."""
    for old, new in edits:
        if text.count(old) != 1:
            raise AssertionError(f"{text.count(old)} times: {old}")
        text = text.replace(old, new)
    return text


def steps(*edits):
    return changed(solution("03/five-steps"), *edits)


def instead(body, name="03/five-steps"):
    """The solution with this in the place of all that its kernel does."""
    text = solution(name)
    return text[:text.index("{\n") + 2] + body + "}\n"


def host(body):
    """The host exercise with this in the place of the student's part."""
    return catalogue.PART.sub(lambda part: f"{part[1]}{body}\n{part[3]}", solution("02/host-side"))


COUNT, NEXT, FIRST = "atomic_inc(&table[pixels[i]])", "i += get_global_size(0)", "    const size_t item"
MERGES = "    barrier(CLK_LOCAL_MEM_FENCE);\n    for (size_t bin"
RACE = steps((COUNT, "++table[pixels[i]]"))
ALONE = "    if ({}) for (ulong i = {}; i < count; i += {}) atomic_inc(&histogram[pixels[i]]);\n"
GLOBAL = "    for (ulong i = get_global_id(0); i < count; i += get_global_size(0))\n        atomic_inc(&histogram[pixels[i]]);\n"
EXCHANGE = "for (uint seen = table[pixels[i]], before; (before = atomic_cmpxchg(&table[pixels[i]], seen, seen + 1)) != seen;) seen = before"
MERGE, HOST, PAIRS, LOST = "01/merge", "02/host-side", "05/equal-neighbours", "02/no-lost-counts"
LOCK, ADD = "const std::lock_guard<std::mutex> mine(shared.one_at_a_time);", "shared.histogram[bin] += own[bin];"
UNLOCKED = changed(solution(MERGE), (LOCK, ""))
CU_EXCHANGE = EXCHANGE.replace("uint seen", "unsigned seen").replace("atomic_cmpxchg", "atomicCAS")
CU, CU_BARRIER = solution("03/five-steps", "cuda"), "    __syncthreads();\n    for (std::size_t i"


# ---- the table: (the exercise, the submission, its text, the most points, what is said of it) ------
#
# Five points are for what compiles, and a run of no pixels may be right by chance.

NOT_RIGHT = (
    ("03/five-steps", "no kernel", "", 0, "there is no kernel histogram_local in this file"),
    ("03/five-steps", "a merge that strides by all", steps(("    for (size_t bin = item; bin < BINS; bin += group_size) {\n        atomic",
     "    for (size_t bin = item; bin < BINS; bin += get_global_size(0)) {\n        atomic")), 50, r"\(merge-strided-globally\)"),
    ("03/five-steps", "a loop without end", steps((NEXT, "i += 0")), 17, "does not end"),
    (HOST, "counted by the host", host("for (int bin = 0; bin < 256; ++bin) result[bin] = 0;\n"
                                       "for (std::size_t i = 0; i < count; ++i) ++result[pixels[i]];"), 17, "bins are wrong"),
    (HOST, "an end like a skipped test", host('std::puts("no device"); std::exit(77);'), 5, "it ends with 77"),
    (HOST, "another launch", changed(solution(HOST), ("groups * group_size", "group_size")), 17, "1 of 5 runs"),
    (HOST, "a size of an argument", changed(solution(HOST), ("kernel, 1, sizeof pixel_count", "kernel, 1, 4")), 5,
     r"clSetKernelArg\(1\): CL_INVALID_ARG_SIZE \(-51\)"),
    (HOST, "one run that fails", changed(solution(HOST), ("count > 0 ? count : 1", "count")), 72, "4 of 5 runs are right"),
    (MERGE, "results before there are pixels", solution(MERGE) + "#include <cstdio>\n#include <cstdlib>\nstatic const int begun = "
     '(std::puts("1024 0"), std::exit(0), 0);\n', 5, "it ended before it had counted"),
)
# The detectors look at these, too: what they find leaves no points but for what compiles.
LOOKED_AT = (
    ("03/five-steps", "a wild write", instead("    *(volatile __global uint*)8 = 1;\n"), 17, "it crashes"),
    ("03/five-steps", "a race", RACE, 5, r"data race at local memory.*histogram\.cl:\d+"),
    ("03/five-steps", "a race beside a launch without end", changed(RACE, (FIRST, "    while (get_local_size(0) == 1) {}\n" + FIRST)), 5,
     "data race at local memory"),
)
# Of these it is enough to see what the detectors say: then there are no points, as for the races above.
NOT_FREE_OF_FAULTS = (
    ("03/five-steps", "a read behind the pixels", steps(("i < count; i +=", "i <= count; i +=")), "Invalid read of size 1 at global memory"),
    ("03/five-steps", "a table that nobody zeroes", steps(("        table[bin] = 0;\n", "")), "Uninitialized value written to local memory"),
    ("03/five-steps", "a barrier left out behind exchanges", steps((COUNT, EXCHANGE), (MERGES, "    for (size_t bin")), "data race at local"),
    ("03/five-steps", "no local table", instead(GLOBAL), "nothing passes through local memory"),
    (HOST, "two arguments in the wrong order", changed(solution(HOST), ("sizeof(cl_mem), &input", "sizeof(cl_mem), &counts")),
     "the kernel is right: what are its arguments"),
    (MERGE, "a race", UNLOCKED, "data race.*no lock that all threads share"),
)
EMULATED = (
    ("03/five-steps", "a race", changed(CU, ("atomicAdd(&table[pixels[i]], 1U)", "++table[pixels[i]]")), r"data race.*histogram\.cu:19\b"),
    ("03/five-steps", "a barrier for some", changed(CU, (CU_BARRIER, CU_BARRIER.replace("__sync", "if (threadIdx.x < 8) __sync"))),
     r"not all threads of a block reach .* at histogram\.cu:17, others at histogram\.cu:\d+"),
    ("03/five-steps", "a bin too many", changed(CU, ("kBins; bin += blockDim.x) {\n        table", "kBins + 1; bin += blockDim.x) {\n        table")),
     r"AddressSanitizer: [a-z-]+.*histogram\.cu:15\b"),
    (HOST, "a buffer that is too small", changed(solution(HOST, "cuda"), ("256 * sizeof *counts", "256")),
     r"AddressSanitizer: heap-buffer-overflow.*host\.cu"),
    ("03/five-steps", "compare and exchange", changed(CU, ("atomicAdd(&table[pixels[i]], 1U)", CU_EXCHANGE)), "^$"),
    ("03/five-steps", "a barrier left out behind exchanges", changed(CU, ("atomicAdd(&table[pixels[i]], 1U)", CU_EXCHANGE),
     ("    __syncthreads();\n    for (unsigned bin", "    for (unsigned bin")), r"data race.*histogram\.cu:\d\d"),
)
# Behaviour does not show what is missing here. Whoever reads the report does.
FOR_THE_READER = (
    (LOST, "one work-item that counts all", instead(ALONE.format("get_global_id(0) == 0", "0", "1"), LOST), "1 of 144 work-items read pixels"),
    (LOST, "one of each group", instead(ALONE.format("get_local_id(0) == 0", "get_group_id(0)", "get_num_groups(0)"), LOST),
     "3 of 144 work-items read pixels"),
    (LOST, "nothing", solution(LOST), "144 of 144 work-items read pixels, 6 to 7 times each; 0 accesses to local memory"),
)

# ---- honest work: other styles and algorithms; none of them costs a point -----------------------------

SUM_OWN = "\n".join(("    uint own = 0, last = 0;", "    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {",
                     "        if (pixels[i] != last) { if (own) atomic_add(&table[last], own); own = 0; last = pixels[i]; }",
                     "        ++own;", "    }", "    if (own) atomic_add(&table[last], own);"))
LOOP = "    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {\n        atomic_inc(&table[pixels[i]]);\n    }"
HONEST = (
    ("03/five-steps", "words, and restrict", steps(("const uchar* pixels", "const uchar* __restrict pixels"), (FIRST,
     '    const size_t words = sizeof("asm no_sanitize get_local_id __has_include");\n    (void)words;\n' + FIRST))),
    ("03/five-steps", "runs of equal pixels", steps((LOOP, SUM_OWN))),
    ("03/five-steps", "two tables, of which zeroes are not merged",
     steps(("table[BINS];", "table[2 * BINS];"), ("bin < BINS; bin += group_size) {\n        table",
     "bin < 2 * BINS; bin += group_size) {\n        table"), (COUNT, "atomic_inc(&table[item % 2 * BINS + pixels[i]])"),
     ("        atomic_add(&histogram", "        if (table[bin] + table[BINS + bin] > 0) atomic_add(&histogram"),
     ("table[bin]);", "table[bin] + table[BINS + bin]);"))),
    ("03/five-steps", "compare and exchange", steps((COUNT, EXCHANGE))),
    (HOST, "a copy of the pixels", changed(solution(HOST), ("CL_MEM_READ_ONLY, count > 0 ? count : 1, nullptr", "CL_MEM_READ_ONLY | "
     "(count > 0 ? CL_MEM_COPY_HOST_PTR : 0), count > 0 ? count : 1, count > 0 ? const_cast<std::uint8_t*>(pixels) : nullptr"))),
    (MERGE, "atomics", changed(UNLOCKED, (ADD, "std::atomic_ref(shared.histogram[bin]).fetch_add(own[bin]);"),
                               ("#include <mutex>", "#include <mutex>\n#include <atomic>"))),
)


class Table(Test):
    def grade(self, text, name, api="opencl"):
        try:
            return grading.graded([submitted(text, name, api)], SEED)
        except grading.NothingToRunOn as why:
            self.cannot_run(str(why))

    def hold(self, rows, api="opencl"):
        for exercise, name, text, most, says in rows:
            limits = {"SECONDS": 1, "IN_ALL": 3} if "without end" in name else {"SECONDS": 10}
            with self.subTest(exercise=exercise, submission=name), unittest.mock.patch.multiple(submitted_file, **limits), \
                    unittest.mock.patch.object(grading, "PROCESSES", 2):
                grade = self.grade(text, exercise, api)
                table = reports.table_of(grade)
                self.assertLessEqual(grade.points, most, table)
                said = " ".join([*(verdict.words for verdict in grade.verdicts), grade.diagnosis]).replace("\n", " ")
                self.assertRegex(said, says, table)

    def hold_faults(self, rows, api="opencl"):
        for exercise, name, text, says in rows:
            with self.subTest(exercise=exercise, submission=name):
                self.assertRegex(grading.faults(submitted(text, exercise, api), SEED) or "", says)


@unittest.skipUnless(HAS_POCL and shutil.which("oclgrind"), "it needs PoCL and Oclgrind (package oclgrind)")
class Marks(Table):
    def test_what_is_not_right(self):
        with unittest.mock.patch.object(grading, "faults", return_value=""):  # which give no points, and take time
            self.hold(NOT_RIGHT)
        self.hold(LOOKED_AT)

    def test_what_is_not_free_of_faults(self):
        self.hold_faults(NOT_FREE_OF_FAULTS)

    def test_what_a_reader_has_to_see(self):
        for exercise, name, text, says in FOR_THE_READER:
            with self.subTest(name):
                self.assertIn(says, for_the_reader.words(submitted(text, exercise), SEED))
        grade = self.grade(text, exercise)
        self.assertTrue(grade.full, reports.table_of(grade))
        self.assertIn(says, grade.verdicts[-1].words)

    def test_honest_work_has_full_marks(self):
        for exercise, name, text in HONEST:
            with self.subTest(name):
                grade = self.grade(text, exercise)
                self.assertTrue(grade.full, reports.table_of(grade))

    @unittest.mock.patch.object(tasks, "TIMED", (1 << 18, *tasks.TIMED[1:]))
    def test_what_is_fast_and_wrong_or_right_and_slow_has_no_points_for_speed(self):
        returns = changed(solution(PAIRS), ("    const size_t item", "    if (count > 190000 && count != 1048573) return;\n    const size_t item"))
        slow = changed(solution(PAIRS), ("if (one == two)", "if (false)"))
        for text, says in ((returns, "a run of which the time is taken is wrong"), (slow, "1.2 times is wanted on the first")):
            file = submitted(text, PAIRS)
            grading.outcomes(file, tasks.runs_of(file.exercise, "sizes", SEED)[:1])
            verdict = grading.speed(file, 7)
            self.assertEqual(verdict.points, 0)
            self.assertIn(says, verdict.words)

    def test_an_addition_of_two_atomic_accesses_loses_counts(self):
        """No detector sees a race there: the threads have to meet, and on a busy machine they do not every time."""
        stores = "{ std::atomic_ref<std::uint32_t> count(shared.histogram[bin]); count.store(count.load() + own[bin]); }"
        file = submitted("#include <atomic>\n" + changed(UNLOCKED, (ADD, stores)), MERGE)
        if len(os.sched_getaffinity(0)) > 1:
            self.assertTrue(any("not right" in grading.faults(file, SEED) for _ in range(9)))

    def test_a_third_barrier_that_is_missing_is_a_race(self):
        """It is needed in what goes round again, so the detector has to see it go round."""
        zeroing = "for (size_t bin = item; bin < BINS; bin += group_size) {", "if (item == 0) for (size_t bin = 0; bin < BINS; ++bin) {"
        for name, edit in (("03/tiles", zeroing), ("04/no-overflow", ("", ""))):
            text = solution(name)
            begin, end = text[:text.rindex("barrier(")], text[text.rindex("barrier("):].split(";", 1)[1]
            with self.subTest(exercise=name):
                self.assertIn("data race", grading.faults(submitted(begin.replace(*edit, 1) + end, name), SEED))

    def test_without_a_detector_it_is_not_full_marks(self):
        with unittest.mock.patch.object(submitted_file.OpenCLFile, "detectors", return_value=[]):
            grade = self.grade(steps(), "03/five-steps")
        self.assertEqual((grade.points, grade.verdicts[-1].words), (80, "not graded: no race detector"))

    def test_compiler_errors_have_the_students_lines(self):
        grade = self.grade(steps(("        table[bin] = 0;", "\ttable[bin] = 0")), "03/five-steps")
        line = steps()[:steps().index("table[bin] = 0;")].count("\n") + 1
        said = grade.verdicts[0].words.splitlines()
        self.assertEqual((grade.points, len(said)), (0, 2))
        self.assertRegex(said[1], rf"^histogram.cl:{line}:\d+: error: expected ';'")

    @unittest.skipIf(sandbox.missing(), f"no sandbox: {sandbox.missing()} (package bubblewrap)")
    def test_nobody_is_harmed(self):
        paths = f'"{HERE.parent}/__pycache__/grading.pyc", "/usr/bin/c++", "/var/tmp/left"'
        harm = f"""#include <csignal>
#include <initializer_list>
#include <unistd.h>
static const int harm = [] {{
    for (const char* path : {{{paths}}})
        if (std::FILE* file = std::fopen(path, "w")) std::fputs("spoilt", file);
    kill(getppid(), SIGKILL);
    kill(getppid(), SIGSTOP);
    return kill(-1, SIGKILL);
}}();
"""
        self.assertTrue(self.grade(changed(solution(HOST), ("#include <cstdlib>\n", "#include <cstdlib>\n" + harm)), HOST).full)
        self.assertFalse(pathlib.Path("/var/tmp/left").exists())

    @unittest.skipUnless(sandbox.rules(), "no libseccomp")
    def test_a_process_of_chapter_01_counts_and_does_little_else(self):
        tried = {"memory": "mmap(nullptr, 1, PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED",
                 "write": 'open("/tmp/x", O_CREAT, 7) >= 0',
                 "pages": "mprotect(reinterpret_cast<void*>(reinterpret_cast<size_t>(&here) & ~4095ul), 1, PROT_EXEC) == 0",
                 "read": 'open("/etc/ld.so.cache", O_RDONLY) >= 0', "socket": "socket(AF_INET, SOCK_STREAM, 0) >= 0"}
        does = "".join(f'if ({what}) std::fputs("{name} ", stderr); ' for name, what in tried.items())
        headers = "".join(f"#include <{name}>\n" for name in ("fcntl.h", "sys/mman.h", "sys/socket.h", "cstdio"))
        text = f'static int try_all(const char* when) {{ static int here; std::fputs(when, stderr); {does}return here; }}\n'
        begins = 'static const int begun = try_all("at first: ");\n'
        file = submitted(headers + text + begins + changed(solution(MERGE), (LOCK, f'{LOCK} try_all("then: ");')), MERGE)
        done, results = file.process(tasks.runs_of(file.exercise, "sizes", SEED)[:1])
        self.assertEqual((done.status, len(results)), (0, 1), done.said)
        self.assertRegex(done.said, "^at first: read (then: )+$")

    def test_each_way_to_compile_runs_as_itself(self):
        text = "#if COPIES == 8\n#define get_global_id(dimension) 0\n#endif\n" + solution("04/copies")
        run = tasks.runs_of(catalogue.exercise_of("04/copies"), "sizes", SEED)[2]._replace(group_size=64)
        runs = [run._replace(options=f"-DCOPIES={copies}") for copies in (1, 8)]
        self.assertEqual([each.right for each in grading.outcomes(submitted(text, "04/copies"), runs)[0]], [True, False])

    def test_one_wrong_file_of_four_costs_a_quarter(self):
        exercise = catalogue.exercise_of("03/four-mistakes")
        files = submitted_file.submitted(exercise, "opencl", dict.fromkeys(exercise.files["opencl"], ""), BUILD)
        said = [([grading.Verdict("sizes", points, 25, f"{points} of 25")], "") for points in (25, 25, 25, 2)]
        with unittest.mock.patch.object(grading, "graded_file", side_effect=said):
            (verdict,) = grading.graded(files, 7).verdicts
        self.assertEqual((verdict.points, verdict.words), (19, "fourth.cl: 2 of 25"))


@unittest.skipUnless((BUILD / "common/run_emulated").is_file(), "run_emulated is not built")
class Emulated(Table):
    """CUDA without a GPU; here also where there is one."""

    def setUp(self):
        patch = unittest.mock.patch.object(submitted_file, "no_gpu", lambda _: True)
        patch.start()
        self.addCleanup(patch.stop)

    def test_emulated(self):
        self.hold_faults(EMULATED, "cuda")

    def test_the_grade_says_that_it_is_emulated_and_nothing_is_timed(self):
        file = submitted(solution(PAIRS, "cuda"), PAIRS, "cuda")
        grading.outcomes(file, tasks.runs_of(file.exercise, "sizes", SEED)[:1])
        self.assertIn("emulated on the CPU", file.ran_on)
        self.assertEqual(grading.speed(file, 7)[1:3], (0, 0))


class Exercise(Test):
    """The solution has full marks; of what a student begins with each file lacks something. (In CUDA on a processor the solution
    alone is looked at, for races but not for stray accesses, as time is short.)"""

    def setUp(self):
        self.on_cpu = GIVEN.variant == "cuda-on-cpu"
        self.exercise, self.api = catalogue.exercise_of(GIVEN.program), "cuda" if self.on_cpu else GIVEN.variant
        enough = (1 << 18, *tasks.TIMED[1:])  # for a solution that is far faster than is wanted
        for of, name, what in ((submitted_file, "no_gpu", lambda _: self.on_cpu), (submitted_file.EmulatedFile, "watched", ("thread",)),
                               (tasks, "TIMED", enough)):
            patch = unittest.mock.patch.object(of, name, what)
            patch.start()
            self.addCleanup(patch.stop)

    def files(self, texts):
        return submitted_file.submitted(self.exercise, self.api, texts, BUILD)

    def test_the_solution_has_full_marks(self):
        # The solutions of four mistakes are one, but for the comment.
        files = {for_the_reader.COMMENT.sub("", file.text): file for file in self.files(self.exercise.solution(self.api))}
        for file in files.values():
            try:
                grade = grading.graded([file], SEED)
            except grading.NothingToRunOn as why:
                self.cannot_run(str(why))
            lacking = [each for each in grade.verdicts if each.points < each.of and "no race detector" not in each.words]
            self.assertEqual(lacking, [])

    def test_what_it_begins_with_lacks_something(self):
        paths = self.exercise.skeletons(self.api)
        files = self.files({path.name: path.read_text(encoding="utf-8") for path in paths})
        for path, file in [] if self.on_cpu else zip(paths, files):
            try:
                self.assertTrue(not is_as_begun(path) or grading.faults(file, SEED) or not grading.graded([file], SEED).full, path)
            except grading.NothingToRunOn as why:
                self.cannot_run(str(why))


def is_as_begun(path):
    """Where a student has worked on it it may be right by now."""
    try:
        return exercises.as_begun(path) == path.read_bytes()
    except catalogue.BadInput:  # nobody knows
        return False


if __name__ == "__main__":
    programs.main()
