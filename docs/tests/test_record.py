"""record.py: what it runs and what it keeps; and that what goes wrong harms nothing that was recorded before."""

import json
import os
import pathlib
import unittest

import repository
from experiments import EXPERIMENTS, PROFILED, SOURCES
from record import WORKSHOPS, input_arguments
from repository import recorded

# A program that writes the JSON that stands beside it, and the arguments that it was given.
MATCHES = """#!/bin/sh
echo "$@" >> "$0.arguments"
for last; do :; done
cp "$0.json" "$last"
"""
NOTHING_TO_RUN_ON = "#!/bin/sh\nexit 77\n"
MISMATCHES = MATCHES + "exit 1\n"  # a mismatch has its JSON written all the same
# One that notes how much is kept of searches, and whether the kernel file beside it is an edited one.
NOTES = MATCHES + """beside="$(dirname "$0")/histogram.cl"
echo "$(find "$XDG_CACHE_HOME" | wc -l) $([ ! -e "$beside" ] || echo edited)" >> "$0.notes"
"""
# A profiler that runs the program behind its own arguments, and writes the log that stands beside it.
NCU = """#!/bin/sh
while [ "$1" != --metrics ]; do
    [ "$1" = --log-file ] && log=$2
    shift
done
shift 2
"$@" || exit $?
cp "$0.log" "$log"
"""
# A build that compiles nothing, but notes what it is asked for, and whether the source is an edited one; it leaves another program.
CMAKE = """#!/bin/sh
echo "$4 $(grep -c 'kRowsAtOnce = 1' 05-launch-tuning/histogram.cuh)" >> build/made
cp build/05-launch-tuning/cuda build/05-launch-tuning/made && echo 'echo edited >> "$0.notes"' >> build/05-launch-tuning/made
mv build/05-launch-tuning/made build/05-launch-tuning/cuda
"""
KERNEL = "void histogram_tuned<32, 4>(const unsigned char *)"


def ncu_log(values):
    """What Nsight Compute writes with --csv: {counter: value as text}."""
    lines = ["==PROF== Connected to process 7 (/build/cuda)", '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"']
    return "\n".join([*lines, *(f'"0","{KERNEL}","{name}","%","{value}"' for name, value in values.items())]) + "\n"


class Record(repository.RepositoryTest):
    def setUp(self):
        super().setUp()
        self.lines = []
        self.write("build/CMakeCache.txt", "CMAKE_CXX_COMPILER:FILEPATH=/bin/true\nCMAKE_BUILD_TYPE:STRING=Release\n")

    def program(self, name, script=MATCHES, rates=None, **more):
        """A program of the build: a script, and the document that it writes, whose results have `more`."""
        document = repository.run_entry(name, rates or {"strategy": 100.0}, size="1M")["run"]
        document["results"][0].update(more)
        path = self.write(f"build/{name}", script)
        path.chmod(0o755)
        self.write(f"build/{name}.json", json.dumps(document))
        self.list_program(name.rpartition("/")[0], document["api"], path)
        return document

    def chapters(self, *names, script=MATCHES):
        """OpenCL programs of these chapters, with the real kernels."""
        for name in names:
            self.program(f"{name}/opencl", script, launch="replicated, 32 copies, 7 groups of 1024")
            self.copy_source(name, "histogram.cl")

    def copy_source(self, chapter, name):
        return self.write(f"{chapter}/{name}", (repository.ROOT / chapter / name).read_text(encoding="utf-8"))

    def tool(self, name, script):
        """Puts a program on the PATH."""
        self.write(f"tools/{name}", script).chmod(0o755)
        self.addCleanup(os.environ.__setitem__, "PATH", os.environ["PATH"])
        os.environ["PATH"] = f"{self.root / 'tools'}{os.pathsep}{os.environ['PATH']}"

    def list_program(self, folder, api, path, why="-"):
        self.lines.append(f"{folder}\t{api}\t{path}\t{why}\n")
        self.write("build/programs.tsv", "".join(self.lines))

    def arguments_of(self, name):
        return [line.rsplit(" --json ", 1)[0] for line in self.read(f"build/{name}.arguments").splitlines()]

    def keys(self, kind="runs"):
        return [(e["program"], e.get("input"), e.get("size")) for e in self.results()[kind]]

    def fails_and_harms_nothing(self, line, *arguments):
        """The recording fails with this line; the results, and the kernels of the build, stay as they were."""
        self.write_results(repository.recording([repository.run_entry("01-cpu/cpu", {"serial": 1.0}, "photo", "1M")]))
        before, kernels = [[path.read_text() for path in (self.root / folder).rglob(name)]
                           for folder, name in (("docs/results", "*"), ("build", "histogram.cl"))]
        self.fail_with(line, "record.py", "device", *arguments)
        self.assertEqual([path.read_text() for path in (self.root / "docs" / "results").rglob("*")], before)
        self.assertEqual([path.read_text() for path in (self.root / "build").rglob("histogram.cl")], kernels)

    SMALL = ("--size", "1M", "--input", "photo")

    def test_keeps_what_the_program_wrote_but_for_the_counts(self):
        document = self.program("01-cpu/cpu")
        self.write("build/01-cpu/cpu.json", json.dumps({**document, "counts": [0] * 256}))
        self.succeed("record.py", "device", "--size", "1024K", "2M", "--input", "photo", "contention-40")
        landscape = self.root / "images" / "landscape.bmp"
        self.assertEqual(self.arguments_of("01-cpu/cpu"), [f"{landscape} --tile 1M", "--contention 40 --random 1M",
                                                           f"{landscape} --tile 2M", "--contention 40 --random 2M"])
        entry = self.results()["runs"][0]
        self.assertEqual((entry["program"], entry["input"], entry["size"], entry["run"]), ("01-cpu/cpu", "photo", "1M", document))
        self.assertEqual(entry["date"], self.results()["machine"]["date"])

    def test_replaces_what_was_measured_again_and_tells_machines_apart(self):
        names = [("01-cpu/cpu", "photo", "1M"), ("01-cpu/cpu", "uniform", "1M"), ("01-cpu/cpu", "photo", "1G"),
                 ("02-global-atomics/opencl", "photo", "1M")]
        self.write_results(repository.recording([repository.run_entry(program, {"serial": 1.0}, *where) for program, *where in names]))
        self.program("01-cpu/cpu", rates={"serial": 3.0})
        self.program("02-global-atomics/opencl")
        self.succeed("record.py", "device", *self.SMALL, "--chapter", "01-cpu")
        runs = self.results()["runs"]
        self.assertEqual(self.keys(), names)
        self.assertEqual([entry["run"]["results"][0]["gb_s"] for entry in runs], [3.0, 1.0, 1.0, 1.0])
        self.assertEqual(["machine" in entry for entry in runs], [True, False, False, False])
        self.assertEqual(self.results()["machine"]["processor"], "Some CPU")
        self.assertNotEqual(runs[0]["machine"]["processor"], "Some CPU")

    def test_goes_on_past_what_cannot_run(self):
        self.program("01-cpu/cpu")
        self.program("02-global-atomics/cuda", NOTHING_TO_RUN_ON)
        self.program("02-global-atomics/opencl")
        self.program("05-launch-tuning/workshops/tune/opencl")  # a workshop, and no chapter
        self.list_program("03-local-atomics", "CUDA", "-", "no CUDA compiler")
        self.list_program("04-per-thread-bins", "CUDA-on-CPU", "build/04-per-thread-bins/cuda-on-cpu")  # what is emulated has no times
        done = self.succeed("record.py", "device", *self.SMALL)
        self.assertIn("02-global-atomics/cuda: nothing to run it on", done.stdout)
        self.assertIn("03-local-atomics, CUDA: skipped, no CUDA compiler", done.stdout)
        self.assertEqual([program for program, _, _ in self.keys()], ["01-cpu/cpu", "02-global-atomics/opencl"])

    def test_what_goes_wrong_harms_nothing(self):
        for script, line in ((MISMATCHES, "a result does not match the CPU"), ("#!/bin/sh\nexit 2\n", "ended with 2"),
                             ("#!/bin/sh\nexit 0\n", "wrote no JSON")):
            self.lines = []
            self.program("02-global-atomics/opencl", script)
            self.fails_and_harms_nothing(f"02-global-atomics/opencl photo 1M: {line}", *self.SMALL)
        self.lines = []
        self.program("01-cpu/cpu", NOTHING_TO_RUN_ON)
        self.fails_and_harms_nothing("nothing was recorded")
        self.fails_and_harms_nothing("there is no chapter 06", "--chapter", "06")

    def test_what_was_finished_is_kept(self):
        self.program("01-cpu/cpu")
        self.program("02-global-atomics/opencl", MISMATCHES)
        self.fail_with("does not match", "record.py", "device", *self.SMALL)
        self.assertEqual(self.keys(), [("01-cpu/cpu", "photo", "1M")])

    def test_what_is_wrong_is_found_before_anything_is_measured(self):
        self.program("01-cpu/cpu")
        self.write("docs/results/device.json", "{")
        self.fail_with("docs/results/device.json is no file of results", "record.py", "device")
        self.list_program("02-global-atomics", "OpenCL", self.root / "build/02-global-atomics/opencl")
        self.fail_with("02-global-atomics/opencl is missing: build first", "record.py", "other")
        self.assertFalse((self.root / "build/01-cpu/cpu.arguments").exists())

    def test_workshops_have_inputs_sizes_and_places_of_their_own(self):
        order = MATCHES + 'echo "$0" >> "${0%%/build/*}/build/order"\n'
        for name in ("peers/cpu", "peers/cuda", "end-to-end/cuda", "tune/cuda", "many/cuda", "bins/cuda"):
            self.program(f"05-launch-tuning/workshops/{name}", order)
        self.program("01-cpu/cpu", order)
        self.succeed("record.py", "device", "--no-chapters", "--peer", "a.so", "--workshop", "tune", *WORKSHOPS)
        count = {kind: len(self.keys(kind)) for kind in recorded.KINDS}
        self.assertEqual(count, {**dict.fromkeys(recorded.KINDS, 0), "runs": 16 * 4 + 5 * 2, "queued": 5 * 6, "end_to_end": 1, "tune": 1,
                                 "many": 3, "bins": 14})
        self.assertEqual(self.keys("tune"), [("05-launch-tuning/workshops/tune/cuda", None, None)])
        self.assertIn("tune", self.read("build/order").splitlines()[0], "so that `tuned` is tuned in what follows")
        self.assertTrue(all(line.endswith("--peer a.so") for line in self.arguments_of("05-launch-tuning/workshops/peers/cpu")))
        self.assertEqual(["--queued" in line for line in self.arguments_of("05-launch-tuning/workshops/peers/cuda")], [False] * 64 + [True] * 30)

    def test_scaling_is_the_best_of_three_rounds(self):
        # Each run is a millisecond faster than the one before.
        script = MATCHES.replace('cp "$0.json" "$last"', 'sed "s/MEDIAN/$((100 - $(wc -l < "$0.arguments")))/" "$0.json" > "$last"')
        document = {**self.program("05-launch-tuning/workshops/cluster/cuda", script),
                    "mpi": "Some MPI", "all_ms": {"min": "MEDIAN"}, "counts": [0] * 256}
        self.write("build/05-launch-tuning/workshops/cluster/cuda.json", json.dumps(document).replace('"MEDIAN"', "MEDIAN"))
        launcher = self.write("mpirun", '#!/bin/sh\necho "$2" >> "$0.ranks"\nshift 2\nexec "$@"\n')
        launcher.chmod(0o755)
        os.environ["MPIEXEC"] = str(launcher)
        self.addCleanup(os.environ.pop, "MPIEXEC")
        self.succeed("record.py", "cluster/two", "--no-chapters", "--cluster", "1", "2", "--size", "1M")
        (entry,) = self.results("cluster/two")["cluster"]
        self.assertEqual([run["all_ms"]["min"] for run in entry["run"]["scaling"]], [95, 94])
        self.assertNotIn("counts", entry["run"]["scaling"][0])
        self.assertEqual(self.read("mpirun.ranks").split(), ["1", "2"] * 3)
        given = self.arguments_of("05-launch-tuning/workshops/cluster/cuda")
        self.assertEqual(given[0], "--random 1048576 --repeat 31")
        self.assertTrue(given[1].startswith("--random 2097152 "))

    LESSON = "05-launch-tuning"
    STEPS = ("--no-chapters", "--experiment", "steps", "--size", "1M")

    def test_an_experiment_changes_one_thing_at_a_time(self):
        self.chapters(self.LESSON, script=NOTES)
        document = self.program(f"{self.LESSON}/cuda", NOTES, launch="7 groups of 1024")
        source = self.copy_source(self.LESSON, "histogram.cuh")
        kernels, program = source.read_text(), self.read(f"build/{self.LESSON}/cuda")
        self.tool("cmake", CMAKE.replace("build/", f"{self.root}/build/").replace(" 05-", f" {self.root}/05-"))
        self.succeed("record.py", "device", *self.STEPS)
        steps = EXPERIMENTS["steps"].runs
        cuda, opencl = [entry["run"] for entry in self.results()["experiments"]]
        for api, run in ("CUDA", cuda), ("OpenCL", opencl):
            edits = [each.edit_of(api) and {"from": each.edit_of(api).old, "to": each.edit_of(api).new} for each in steps]
            self.assertEqual([(each["arguments"], each["edit"]) for each in run["runs"]],
                             [(each.command(7), edit) for each, edit in zip(steps, edits)])
        self.assertEqual(cuda["runs"][0]["result"], document["results"][0])
        self.assertIn("28", opencl["runs"][1]["arguments"], "four for each of 7 units")
        # No search is kept, and the kernels are edited where they are to be, and there alone.
        self.assertEqual(self.read(f"build/{self.LESSON}/opencl.notes").splitlines(),
                         ["1 ", *("1 edited" if step.edit else "1 " for step in steps)])
        self.assertEqual(list((self.root / "build").rglob("histogram.cl")), [])
        # CUDA's are compiled for it, and then source and program are as before.
        self.assertEqual(self.read("build/made").splitlines(), ["05-launch-tuning-cuda 1", "05-launch-tuning-cuda 0"])
        self.assertEqual(self.read(f"build/{self.LESSON}/cuda.notes").split().count("edited"), 2)
        self.assertEqual([source.read_text(), self.read(f"build/{self.LESSON}/cuda")], [kernels, program])

    def test_an_edit_may_be_of_the_host(self):
        self.program(f"{self.LESSON}/cuda", launch="7 groups of 1024")
        self.program("04-per-thread-bins/cuda")
        sources = [self.copy_source("04-per-thread-bins", name) for name in ("cuda.cu", "histogram.cuh")]
        before = [source.read_text() for source in sources]
        self.tool("cmake", f"#!/bin/sh\ncd {self.root}\ngrep -c -e Carveout -e 'launch_bounds' 04-*/cuda.cu 04-*/histogram.cuh >> build/made\n")
        self.succeed("record.py", "device", "--no-chapters", "--experiment", "carve-out", "--size", "1M")
        counted = [line.rpartition(":")[2] for line in self.read("build/made").splitlines()]
        self.assertEqual(counted, ["1", "0", "0", "1"], "the host's edit, and then the kernels'")
        self.assertEqual([source.read_text() for source in sources], before)

    def test_pictures_have_their_pixels_in_another_order(self):
        picture = self.write("images/landscape.bmp", "")
        picture.write_bytes((repository.ROOT / "images" / "landscape.bmp").read_bytes())
        photo, shuffled, twos, fours = (pathlib.Path(input_arguments(name, "1M")[0]).read_bytes()[-512 * 512:]
                                        for name in ("photo", "shuffled", "runs-2", "runs-4"))
        self.assertEqual(sorted(photo), sorted(shuffled))
        self.assertNotEqual(photo, shuffled)
        for pixels, run in (twos, 2), (fours, 4):
            self.assertEqual(pixels[::run], pixels[run - 1::run])
            self.assertNotEqual(pixels[run - 1:-1:run], pixels[run::run])

    def test_an_edit_that_goes_wrong_harms_nothing(self):
        self.chapters(self.LESSON, script=MATCHES + '[ ! -e "$(dirname "$0")/histogram.cl" ] || exit 1\n')
        self.fails_and_harms_nothing("uniform 1M --experiments steps: a result does not match the CPU", *self.STEPS)
        self.write(f"build/{self.LESSON}/histogram.cl", "mine")
        self.fails_and_harms_nothing("histogram.cl is in the way: remove it", *self.STEPS)
        (self.root / "build" / self.LESSON / "histogram.cl").unlink()
        self.write(f"{self.LESSON}/histogram.cl", "#define ROWS_AT_ONCE 8\n" * 2)
        self.fails_and_harms_nothing("'#define ROWS_AT_ONCE 8' stands there 2 times, not once", *self.STEPS)

    def test_only_racy_may_lose_counts(self):
        for case, line in (("*racy*) exit 1", ""), ("*global\\ *) exit 1", "a result does not match the CPU"),
                           ("*racy*) exit 2", "ended with 2")):
            self.chapters("02-global-atomics", script=MATCHES + f'case "$*" in {case} ;; esac\n')
            if line:
                self.fails_and_harms_nothing(f"--experiments walls: {line}", "--no-chapters", "--experiment", "walls")
            else:
                self.succeed("record.py", "device", "--no-chapters", "--experiment", "walls")

    def test_every_edit_has_its_place_in_the_kernels(self):
        runs = [run for experiment in EXPERIMENTS.values() for run in experiment.runs]
        edits = {(run.chapter, source, edit) for run in runs for api, source in SOURCES.items() if (edit := run.edit_of(api))
                 and (api != "C++") == (run.chapter != "01-cpu")}
        self.assertGreater(len(edits), 10)
        for chapter, source, edit in edits:
            text = (repository.ROOT / chapter / (edit.file or source)).read_text(encoding="utf-8")
            self.assertEqual(text.count(edit.old), 1, edit.old)

    def profiler(self, log):
        """Puts a profiler on the PATH, which writes this log."""
        self.tool("ncu", NCU)
        self.write("tools/ncu.log", log)

    COUNTED = {counter: f"{at}.5" for at, counter in enumerate(PROFILED)}
    PROFILE = ("--no-chapters", "--experiment", "profile-ramp", "--size", "1M")

    def test_counters_are_those_of_each_run(self):
        self.program(f"{self.LESSON}/cuda", launch="4 groups of 8")
        self.profiler(ncu_log(self.COUNTED))
        self.succeed("record.py", "device", *self.PROFILE)
        (entry,) = self.results()["experiments"]
        percent = {counter: float(value) for counter, value in self.COUNTED.items()}
        self.assertEqual(entry["run"]["runs"], [{"arguments": run.command(4), "kernel": KERNEL, "percent": percent}
                                                for run in EXPERIMENTS["profile-ramp"].runs])

    def test_counters_that_cannot_be_read_harm_nothing(self):
        self.program(f"{self.LESSON}/cuda", launch="4 groups of 8")
        for log, line in ((ncu_log(dict.fromkeys(self.COUNTED, "n/a")), "ncu counted nothing"),
                          ("==ERROR== ERR_NVGPUCTRPERM", "ncu counted nothing: ==ERROR== ERR_NVGPUCTRPERM")):
            self.profiler(log)
            self.fails_and_harms_nothing(line, *self.PROFILE)


if __name__ == "__main__":
    unittest.main()
