"""record.py: what it merges, and that nothing that goes wrong harms what was recorded before."""

import json
import os
import signal
import subprocess
import sys
import time
import unittest

import repository
from experiments import EXPERIMENTS, STEPS  # in docs/, as recorded
from repository import recorded

# A program that writes the JSON that stands beside it, and the arguments that it was given.
MATCHES = """#!/bin/sh
echo "$@" >> "$0.arguments"
for last; do :; done
cp "$0.json" "$last"
"""
NOTHING_TO_RUN_ON = "#!/bin/sh\nexit 77\n"
# A mismatch has its JSON written all the same.
MISMATCHES = MATCHES + "exit 1\n"
# One that notes what is kept of searches, too, and a line of the kernel file that it finds beside it.
NOTES = MATCHES + """kernels="$(dirname "$0")/histogram.cl"
echo "$(find "$XDG_CACHE_HOME" | wc -l) $(grep -s -e ROWS_AT_ONCE -e 'own / 4' "$kernels" | head -n 1)" >> "$0.notes"
"""
# One that notes how often the kernel file that it finds beside it has the plain increment.
WALKS = MATCHES + """echo "$(grep -sFc '++table[' "$(dirname "$0")/histogram.cl")" >> "$0.notes"
"""
# A profiler that runs the program behind its own arguments, and writes the log that stands beside it.
NCU = """#!/bin/sh
echo "$@" >> "$0.arguments"
while [ "$1" != --metrics ]; do
    [ "$1" = --log-file ] && log=$2
    shift
done
shift 2
"$@" || exit $?
cp "$0.log" "$log"
"""


def ncu_log(values):
    """What Nsight Compute writes with --csv: {counter: value as text}."""
    lines = ["==PROF== Connected to process 7 (/build/cuda)",
             '==PROF== Profiling "histogram_tuned": 0%....50%....100% - 3 passes',
             '"ID","Kernel Name","CC","Section Name","Metric Name","Metric Unit","Metric Value"']
    lines += [f'"0","void histogram_tuned<32, 4>(const unsigned char *)","9.0","Metrics","{name}","%","{value}"'
              for name, value in values.items()]
    return "\n".join([*lines, "==PROF== Disconnected from process 7"]) + "\n"


class Record(repository.RepositoryTest):
    def setUp(self):
        super().setUp()
        self.lines = []
        self.write("build/CMakeCache.txt", "CMAKE_CXX_COMPILER:FILEPATH=/bin/true\nCMAKE_BUILD_TYPE:STRING=Release\n")
        self.write("build/programs.tsv", "")

    def program(self, name, script, rates=None):
        """A program of the build: a script, and the document that it writes."""
        entry = repository.run_entry(name, rates or {"strategy": 100.0}, size="1M")
        path = self.write(f"build/{name}", script)
        path.chmod(0o755)
        self.write(f"build/{name}.json", json.dumps(entry["run"]))
        self.list_program(name.rpartition("/")[0], entry["run"]["api"], path)

    def list_program(self, folder, api, path, why="-"):
        self.lines.append(f"{folder}\t{api}\t{path}\t{why}\n")
        self.write("build/programs.tsv", "".join(self.lines))

    def arguments_of(self, name):
        return self.read(f"build/{name}.arguments").splitlines()

    def keys(self, kind="runs"):
        return [(e["program"], e.get("input"), e.get("size")) for e in self.results()[kind]]

    def test_keeps_what_the_program_wrote(self):
        self.program("01-cpu/cpu", MATCHES, {"serial": 2.5573635086506093})
        self.succeed("record.py", "device", "--size", "1M", "--input", "photo")
        (entry,) = self.results()["runs"]
        self.assertEqual(entry["run"], json.loads(self.read("build/01-cpu/cpu.json")))
        self.assertEqual((entry["program"], entry["input"], entry["size"]), ("01-cpu/cpu", "photo", "1M"))
        self.assertEqual(entry["date"], self.results()["machine"]["date"])
        self.assertIn("commit", entry)

    def test_the_counts_are_not_kept(self):
        self.program("01-cpu/cpu", MATCHES)
        document = json.loads(self.read("build/01-cpu/cpu.json"))
        self.write("build/01-cpu/cpu.json", json.dumps({**document, "counts": [0] * 256}))
        self.succeed("record.py", "device", "--size", "1M", "--input", "photo")
        (entry,) = self.results()["runs"]
        self.assertEqual(entry["run"], document)

    def test_inputs_become_arguments(self):
        self.program("01-cpu/cpu", MATCHES)
        self.succeed("record.py", "device", "--size", "1024K", "2M", "--input", "photo", "contention-40")
        landscape = self.root / "images" / "landscape.bmp"
        given = [line.rsplit(" --json ", 1)[0] for line in self.arguments_of("01-cpu/cpu")]
        self.assertEqual(given, [f"{landscape} --tile 1M", "--contention 40 --random 1M",
                                 f"{landscape} --tile 2M", "--contention 40 --random 2M"])

    def test_merges_what_was_measured_again(self):
        self.write_results(repository.recording([
            repository.run_entry("01-cpu/cpu", {"serial": 1.0}, "photo", "1M"),
            repository.run_entry("01-cpu/cpu", {"serial": 1.0}, "uniform", "1M"),
            repository.run_entry("01-cpu/cpu", {"serial": 1.0}, "photo", "1G"),
            repository.run_entry("02-global-atomics/opencl", {"global": 1.0}, "photo", "1M"),
        ]))
        self.program("01-cpu/cpu", MATCHES, {"serial": 3.0})
        self.program("02-global-atomics/opencl", MATCHES, {"global": 3.0})
        self.succeed("record.py", "device", "--size", "1M", "--input", "photo", "--chapter", "01-cpu")
        rates = [entry["run"]["results"][0]["gb_s"] for entry in self.results()["runs"]]
        self.assertEqual(list(zip(self.keys(), rates)), [
            (("01-cpu/cpu", "photo", "1M"), 3.0),
            (("01-cpu/cpu", "uniform", "1M"), 1.0),
            (("01-cpu/cpu", "photo", "1G"), 1.0),
            (("02-global-atomics/opencl", "photo", "1M"), 1.0),
        ])

    def test_another_machine_is_told_apart(self):
        other = repository.run_entry("01-cpu/cpu", {"serial": 1.0}, "uniform", "1M")
        self.write_results(repository.recording([other]))
        self.program("01-cpu/cpu", MATCHES)
        self.succeed("record.py", "device", "--size", "1M", "--input", "photo")
        new, old = self.results()["runs"]
        self.assertNotIn("machine", old)
        self.assertEqual(self.results()["machine"]["processor"], "Some CPU")
        self.assertNotEqual(new["machine"]["processor"], "Some CPU")
        self.assertNotIn("date", new["machine"])
        self.assertEqual(self.results()["machine"]["date"], new["date"])

    def test_goes_on_past_what_finds_no_device(self):
        self.program("01-cpu/cpu", MATCHES)
        self.program("02-global-atomics/cuda", NOTHING_TO_RUN_ON)
        self.program("02-global-atomics/opencl", MATCHES)
        self.list_program("03-local-atomics", "CUDA", "-", "no CUDA compiler")
        done = self.succeed("record.py", "device", "--size", "1M", "--input", "photo", "uniform")
        self.assertIn("02-global-atomics/cuda: nothing to run it on", done.stdout)
        self.assertIn("03-local-atomics, CUDA: skipped, no CUDA compiler", done.stdout)
        self.assertEqual({program for program, _, _ in self.keys()}, {"01-cpu/cpu", "02-global-atomics/opencl"})

    def assert_stops(self, line):
        """The recording fails with this line, and the file and its folder stay as they were."""
        old = repository.run_entry("01-cpu/cpu", {"serial": 1.0}, "photo", "1M")
        self.write_results(repository.recording([old]))
        before = self.read("docs/results/device.json")
        self.fail_with(line, "record.py", "device", "--size", "1M", "--input", "photo")
        self.assertEqual(self.read("docs/results/device.json"), before)
        self.assertEqual(os.listdir(self.root / "docs" / "results"), ["device.json"])

    def test_a_mismatch_stops_and_harms_nothing(self):
        self.program("01-cpu/cpu", MATCHES)
        self.program("02-global-atomics/cuda", NOTHING_TO_RUN_ON)
        self.program("02-global-atomics/opencl", MISMATCHES)
        self.assert_stops("02-global-atomics/opencl photo 1M: a result does not match the CPU")

    def test_a_failing_program_stops_and_harms_nothing(self):
        self.program("01-cpu/cpu", MATCHES)
        self.program("02-global-atomics/opencl", "#!/bin/sh\nexit 2\n")
        self.assert_stops("02-global-atomics/opencl photo 1M: ended with 2")

    def test_a_program_that_writes_nothing_stops_and_harms_nothing(self):
        self.program("01-cpu/cpu", "#!/bin/sh\nexit 0\n")
        self.assert_stops("01-cpu/cpu photo 1M: wrote no JSON")

    def test_nothing_to_record_is_an_error(self):
        self.program("01-cpu/cpu", NOTHING_TO_RUN_ON)
        self.assert_stops("nothing was recorded")

    def test_a_damaged_file_is_found_before_anything_is_measured(self):
        self.program("01-cpu/cpu", MATCHES)
        self.write("docs/results/device.json", "{")
        self.fail_with("docs/results/device.json is no file of results", "record.py", "device")
        self.assertEqual(self.read("docs/results/device.json"), "{")
        self.assertFalse((self.root / "build/01-cpu/cpu.arguments").exists())

    def test_a_file_is_written_whole_or_not_at_all(self):
        path = self.write_results(repository.recording())
        before = self.read("docs/results/device.json")
        with self.assertRaises(TypeError):
            recorded.save(path, {"machine": {}, "runs": [object()]})
        self.assertEqual(self.read("docs/results/device.json"), before)
        self.assertEqual(os.listdir(path.parent), ["device.json"])

    def test_an_interrupt_keeps_what_was_finished(self):
        self.program("01-cpu/cpu", MATCHES)
        self.program("02-global-atomics/opencl", '#!/bin/sh\ntouch "$0.began"\nexec sleep 60\n')
        command = [sys.executable, str(self.root / "docs/tools/record.py"), "device", "--size", "1M", "--input", "photo"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
            began = self.root / "build/02-global-atomics/opencl.began"
            deadline = time.monotonic() + 30
            while not began.exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            running.send_signal(signal.SIGTERM)
            output, _ = running.communicate(timeout=30)
        self.assertEqual(running.returncode, 130, output)
        self.assertIn("1 of 2 runs, interrupted", output)
        self.assertEqual(self.keys(), [("01-cpu/cpu", "photo", "1M")])

    def test_peers_has_inputs_and_sizes_of_its_own(self):
        self.program("01-cpu/cpu", MATCHES)
        self.program("05-launch-tuning/peers/cuda", MATCHES)
        self.succeed("record.py", "device", "--no-chapters", "--peers")
        self.assertEqual(len(self.keys()), 16 * 4)
        self.assertEqual({size for _, _, size in self.keys()}, {"256K", "16M", "100M", "1G"})
        self.assertEqual(self.keys()[0], ("05-launch-tuning/peers/cuda", "photo", "256K"))
        self.assertEqual(self.keys()[15], ("05-launch-tuning/peers/cuda", "contention-100", "256K"))

    def test_peers_on_the_cpu_have_others_and_libraries(self):
        self.program("01-cpu/cpu", MATCHES)
        self.program("01-cpu/peers/cpu", MATCHES)
        self.succeed("record.py", "device", "--no-chapters", "--peers", "--peer", "one.so", "two.so")
        self.assertEqual(self.keys(), [("01-cpu/peers/cpu", name, size) for size in ("256K", "100M")
                                       for name in ("photo", "uniform", "four-values", "constant", "ramp")])
        given = self.arguments_of("01-cpu/peers/cpu")
        self.assertEqual(["--peer one.so --peer two.so" in line for line in given], [True] * 10)
        self.fail_with("nothing was recorded", "record.py", "device", "--no-chapters", "--queued")

    def test_queued_is_kept_beside_peers(self):
        self.program("05-launch-tuning/peers/cuda", MATCHES)
        self.succeed("record.py", "device", "--no-chapters", "--peers", "--size", "256K")
        self.succeed("record.py", "device", "--no-chapters", "--queued")
        self.assertEqual(len(self.keys()), 16)
        self.assertEqual([(name, size) for _, name, size in self.keys("queued")],
                         [(name, size) for size in ("256K", "1M", "2M", "4M", "8M", "12M")
                          for name in ("photo", "uniform", "four-values", "constant", "ramp")])
        given = self.arguments_of("05-launch-tuning/peers/cuda")
        self.assertEqual(["--queued" in line for line in given], [False] * 16 + [True] * 30)

    def test_a_workshop_is_no_chapter(self):
        for name in ("05-launch-tuning", "05-launch-tuning/tune", "05-launch-tuning/end-to-end"):
            self.program(f"{name}/opencl", MATCHES)
        self.list_program("05-launch-tuning/peers", "CUDA", "-", "no CUDA compiler")
        done = self.succeed("record.py", "device", "--size", "1M", "--input", "photo")
        self.assertEqual(self.keys(), [("05-launch-tuning/opencl", "photo", "1M")])
        self.assertNotIn("skipped", done.stdout)
        self.fail_with("there is no chapter 05-launch-tuning/tune", "record.py", "device", "--chapter",
                       "05-launch-tuning/tune")
        done = self.run_program("record.py", "device", "--no-chapters", "--peers")
        self.assertIn("05-launch-tuning/peers, CUDA: skipped, no CUDA compiler", done.stdout)

    def test_end_to_end_and_tune_have_places_of_their_own(self):
        for folder in ("05-launch-tuning", "05-launch-tuning/tune", "05-launch-tuning/end-to-end"):
            for api in ("opencl", "cuda"):
                self.program(f"{folder}/{api}", MATCHES + 'echo "$0" >> "$(dirname "$0")/../../order"\n')
        self.succeed("record.py", "device", "--no-chapters", "--end-to-end", "--tune", "--size", "1M")
        self.assertEqual(self.keys(), [])
        self.assertEqual(self.keys("end_to_end"), [("05-launch-tuning/end-to-end/cuda", "photo", "1M"),
                                                   ("05-launch-tuning/end-to-end/opencl", "photo", "1M")])
        self.assertEqual(self.keys("tune"), [("05-launch-tuning/tune/cuda", None, None),
                                             ("05-launch-tuning/tune/opencl", None, None)])
        self.assertTrue(self.arguments_of("05-launch-tuning/tune/cuda")[0].startswith("--json "))
        self.assertIn("--tile 1M --json ", self.arguments_of("05-launch-tuning/end-to-end/cuda")[0])
        order = [line.split("/")[-2] for line in self.read("build/order").splitlines()]
        self.assertEqual(order, ["tune"] * 2 + ["end-to-end"] * 2, "so that `tuned` is tuned in what follows")

    def test_scaling_is_the_best_of_three_rounds(self):
        # Each run is a millisecond faster than the one before.
        script = MATCHES.replace('cp "$0.json" "$last"', 'sed "s/MEDIAN/$((100 - $(wc -l < "$0.arguments")))/" "$0.json" > "$last"')
        self.program("05-launch-tuning/cluster/cuda", script)
        document = repository.cluster_document(1, 100.0, 1 << 20, all_ms={"min": "MEDIAN"})
        self.write("build/05-launch-tuning/cluster/cuda.json", json.dumps(document).replace('"MEDIAN"', "MEDIAN"))
        launcher = self.write("mpirun", '#!/bin/sh\necho "$2" >> "$0.ranks"\nshift 2\nexec "$@"\n')
        launcher.chmod(0o755)
        os.environ["MPIEXEC"] = str(launcher)
        self.addCleanup(os.environ.pop, "MPIEXEC")
        self.succeed("record.py", "cluster/two", "--no-chapters", "--cluster", "1", "2", "--size", "1M", "--api", "CUDA")
        weak, *strong = sorted(self.results("cluster/two")["cluster"], key=lambda entry: entry["experiment"] != "weak")
        self.assertEqual((weak["size"], weak["experiment"], weak["run"]["mpi"]), ("1M", "weak", "Some MPI v1"))
        self.assertEqual([run["all_ms"]["min"] for run in weak["run"]["scaling"]], [95, 94])
        self.assertNotIn("counts", weak["run"]["scaling"][0])
        self.assertEqual([entry["size"] for entry in strong], ["4K", "64K", "1M", "16M", "256M"])
        self.assertEqual(self.read("mpirun.ranks").split(), ["1", "2"] * 3 * 6)
        given = self.arguments_of("05-launch-tuning/cluster/cuda")
        self.assertTrue(given[0].startswith("--random 1048576 --chunk 131072 --resident --repeat 31 --check --json "))
        self.assertTrue(given[1].startswith("--random 2097152 --chunk 131072 "))
        self.assertTrue(given[7].startswith("--random 4096 --chunk 256 "))

    KERNELS = "05-launch-tuning/histogram.cl"

    def lesson(self, script, api="opencl"):
        """Chapter 05's program, whose only result says how it was launched, and its kernels."""
        self.program(f"05-launch-tuning/{api}", script, {"tuned": 100.0})
        path = f"build/05-launch-tuning/{api}.json"
        document = json.loads(self.read(path))
        document["results"][0]["launch"] = "lane-bins, 32 copies, 3 loads, 7 groups of 1024"
        self.write(path, json.dumps(document))
        self.write(self.KERNELS, (repository.ROOT / self.KERNELS).read_text(encoding="utf-8"))
        return document

    def record_steps(self):
        return ["record.py", "device", "--no-chapters", "--steps", "--input", "ramp", "--size", "1M"]

    def test_steps_change_one_thing_at_a_time(self):
        document = self.lesson(NOTES)
        self.lesson(NOTES, "cuda")
        self.succeed(*self.record_steps())
        self.assertEqual(self.keys("steps"), [("05-launch-tuning/cuda", "ramp", "1M"),
                                              ("05-launch-tuning/opencl", "ramp", "1M")])
        cuda, opencl = [entry["run"] for entry in self.results()["steps"]]
        self.assertEqual([step["step"] for step in opencl["steps"]], [step.name for step in STEPS])
        self.assertEqual([step["step"] for step in cuda["steps"]],
                         [step.name for step in STEPS if not step.edit])
        self.assertEqual(opencl["read_ceiling_gb_s"], document["read_ceiling_gb_s"])
        self.assertEqual(opencl["steps"][1]["arguments"][-2:], ["--groups", "28"], "four for each of 7 units")
        self.assertEqual(opencl["steps"][2]["edit"], {"from": "#define ROWS_AT_ONCE 8", "to": "#define ROWS_AT_ONCE 1"})
        self.assertEqual(opencl["steps"][0]["result"], document["results"][0])
        given = [line.rsplit(" --json ", 1)[0] for line in self.arguments_of("05-launch-tuning/opencl")]
        self.assertEqual(given[:2], ["--ramp --random 1M --variant tuned",
                                     "--ramp --random 1M --variant two-per-sm --no-ceiling"])
        self.assertEqual([line.endswith(" --no-ceiling") for line in given], [False] + [True] * 10)
        # No search is kept, and the kernels are edited where they are to be, and there alone.
        self.assertEqual(self.read("build/05-launch-tuning/opencl.notes").splitlines(),
                         ["1 ", "1 ", "1 ", "1 #define ROWS_AT_ONCE 1", "1 ", "1 ", "1 ",
                          "1 #define ROWS_AT_ONCE 8", "1 ", "1 ", "1 "])
        self.assertFalse((self.root / "build" / self.KERNELS).exists())

    def assert_no_steps(self, line):
        self.fail_with(line, *self.record_steps())
        self.assertFalse((self.root / "docs/results/device.json").exists())

    def test_an_edited_kernel_is_removed_whatever_happens(self):
        self.lesson(MATCHES + '[ ! -e "$(dirname "$0")/histogram.cl" ] || exit 1\n')
        self.assert_no_steps("05-launch-tuning/opencl ramp 1M --steps: a result does not match the CPU")
        self.assertFalse((self.root / "build" / self.KERNELS).exists())

    def test_an_edit_has_one_place(self):
        self.lesson(MATCHES)
        text = self.read(self.KERNELS)
        for wrong, times in ((text.replace("ROWS_AT_ONCE 8", "ROWS_AT_ONCE 4"), 0),
                             (text + "#define ROWS_AT_ONCE 8\n", 2)):
            self.write(self.KERNELS, wrong)
            self.assert_no_steps(f"'#define ROWS_AT_ONCE 8' stands there {times} times, not once")

    def test_kernels_of_the_reader_are_in_the_way_of_steps(self):
        self.lesson(MATCHES)
        self.write(f"build/{self.KERNELS}", "mine")
        self.assert_no_steps("histogram.cl is in the way: remove it")
        self.assertEqual(self.read(f"build/{self.KERNELS}"), "mine")

    CHAPTERS = ("02-global-atomics", "03-local-atomics", "04-per-thread-bins")

    def record(self, *names):
        return ["record.py", "device", "--no-chapters", "--experiment", *names]

    def chapters(self, script, but=None, other="", apis=("opencl",)):
        """The programs that experiments run, of which chapter `but` is another script, and their kernels."""
        for chapter in self.CHAPTERS:
            for api in apis:
                self.program(f"{chapter}/{api}", other if chapter == but else script)
            kernels = f"{chapter}/histogram.cl"
            self.write(kernels, (repository.ROOT / kernels).read_text(encoding="utf-8"))

    def assert_no_edit_is_left(self):
        self.assertEqual(list((self.root / "build").rglob("histogram.cl")), [])

    def test_an_experiment_is_the_runs_of_its_list(self):
        self.chapters(WALKS)
        for name in ("02-global-atomics/cuda", "05-launch-tuning/opencl"):
            self.program(name, MATCHES)
        self.succeed(*self.record("walls"))
        self.assertEqual(self.keys("experiments"),
                         [(f"{chapter}/opencl", "photo", "16M") for chapter in self.CHAPTERS[:2]])
        for chapter, entry in zip(self.CHAPTERS, self.results()["experiments"]):
            runs = [run for run in EXPERIMENTS["walls"].runs if run.chapter == chapter]
            self.assertEqual(len(runs), 8)
            picture = f"{self.root / 'images' / 'landscape.bmp'} --tile 16M"
            self.assertEqual([line.rsplit(" --json ", 1)[0] for line in self.arguments_of(f"{chapter}/opencl")],
                             [f"{picture} {' '.join(run.command())} --no-ceiling" for run in runs])
            (result,) = json.loads(self.read(f"build/{chapter}/opencl.json"))["results"]
            edits = [run.edit and {"from": run.edit.old, "to": run.edit.new} for run in runs]
            self.assertEqual(entry["experiment"], "walls")
            self.assertEqual(entry["run"]["units"], 0)
            self.assertEqual(entry["run"]["runs"],
                             [{"arguments": run.command(), "edit": edit, "result": result}
                              for run, edit in zip(runs, edits)])
            # The kernels are edited where they are to be, and there alone.
            self.assertEqual(self.read(f"build/{chapter}/opencl.notes").splitlines(),
                             ["1" if edit else "" for edit in edits])
        self.assert_no_edit_is_left()

    def test_each_experiment_has_an_entry_of_its_own(self):
        self.chapters(MATCHES)
        self.succeed(*self.record("strides"))
        self.succeed(*self.record("walls", "private"))
        self.succeed(*self.record("walls"))
        self.assertEqual([(entry["experiment"], entry["program"]) for entry in self.results()["experiments"]],
                         [("private", "04-per-thread-bins/opencl"), ("strides", "02-global-atomics/opencl"),
                          ("walls", "02-global-atomics/opencl"), ("walls", "03-local-atomics/opencl")])

    def test_launches_follow_the_units_of_each_device(self):
        self.chapters(MATCHES, apis=("opencl", "cuda"))
        self.lesson(NOTES)
        document = self.lesson(NOTES, "cuda")
        document["results"][0]["launch"] = "lane-bins, 32 copies, 3 loads, 5 groups of 1024"
        self.write("build/05-launch-tuning/cuda.json", json.dumps(document))
        self.succeed(*self.record("walks"), "--input", "uniform", "--size", "1M")
        self.assertEqual([(entry["program"], entry["run"]["units"]) for entry in self.results()["experiments"]],
                         [("02-global-atomics/cuda", 5), ("02-global-atomics/opencl", 7),
                          ("03-local-atomics/cuda", 5), ("03-local-atomics/opencl", 7)])
        given = [run["arguments"] for run in self.results()["experiments"][2]["run"]["runs"]]
        self.assertEqual(given[0], ["--variant", "local", "--groups", "10", "--group-size", "256", "--walk", "interleaved"])
        self.assertEqual(given[3], ["--variant", "local", "--groups", "40", "--group-size", "256", "--walk", "blocked"])
        # What a search has found would say nothing of the units.
        self.assertEqual(set(self.read("build/05-launch-tuning/cuda.notes").splitlines()), {"1 "})

    def test_an_experiment_without_the_lesson_says_so(self):
        self.chapters(MATCHES)
        self.fail_with("05-launch-tuning/opencl", *self.record("lanes"))

    def test_an_experiment_keeps_what_racy_loses(self):
        self.chapters(MATCHES, "02-global-atomics", MATCHES + 'case "$*" in *racy*) exit 1 ;; esac\n')
        self.succeed(*self.record("walls"))
        self.assertEqual(len(self.results()["experiments"][0]["run"]["runs"]), 8)

    def test_an_experiment_stops_at_whatever_else_goes_wrong(self):
        does_not_match = "a result does not match the CPU"
        for chapter, name, script, line in (
            ("02-global-atomics", "walls", MATCHES + 'case "$*" in *global\\ *) exit 1 ;; esac\n', does_not_match),
            ("02-global-atomics", "walls", MATCHES + 'case "$*" in *racy*) exit 2 ;; esac\n', "ended with 2"),
            ("02-global-atomics", "walls", MATCHES + 'case "$*" in *racy*) rm "$last"; exit 1 ;; esac\n', "wrote no JSON"),
            ("03-local-atomics", "walls", MATCHES + '[ ! -e "$(dirname "$0")/histogram.cl" ] || exit 1\n', does_not_match),
            ("04-per-thread-bins", "private", MISMATCHES, does_not_match),
        ):
            with self.subTest(chapter=chapter, line=line):
                self.lines = []
                self.chapters(MATCHES, chapter, script)
                self.fail_with(f"{chapter}/opencl photo 16M --experiment {name}: {line}", *self.record(name))
                self.assertFalse((self.root / "docs/results/device.json").exists())
                self.assert_no_edit_is_left()

    def test_an_experiment_passes_over_what_cannot_run(self):
        self.chapters(MATCHES, "03-local-atomics", NOTHING_TO_RUN_ON)
        self.lines.pop()
        self.list_program("04-per-thread-bins", "OpenCL", "-", "no OpenCL")
        done = self.succeed(*self.record("walls", "private"))
        self.assertIn("03-local-atomics/opencl: nothing to run it on", done.stdout)
        self.assertIn("04-per-thread-bins, OpenCL: skipped, no OpenCL", done.stdout)
        self.assertEqual(self.keys("experiments"), [("02-global-atomics/opencl", "photo", "16M")])

    def test_every_edit_has_its_place_in_the_kernels(self):
        runs = [run for experiment in EXPERIMENTS.values() for run in experiment.runs if run.edit]
        edits = {(run.chapter, run.edit) for run in runs} | {("05-launch-tuning", step.edit) for step in STEPS if step.edit}
        self.assertEqual(len(edits), 11)
        for chapter, edit in edits:
            text = (repository.ROOT / chapter / "histogram.cl").read_text(encoding="utf-8")
            self.assertEqual(text.count(edit.old), 1, edit.old)

    def profiler(self, log, more=""):
        """Puts a profiler on the PATH, which writes this log, and does `more`."""
        self.write("tools/ncu", NCU + more).chmod(0o755)
        self.write("tools/ncu.log", log)
        self.set_path(f"{self.root / 'tools'}{os.pathsep}{os.environ['PATH']}")

    def set_path(self, path):
        """The PATH until the test is over."""
        self.addCleanup(os.environ.__setitem__, "PATH", os.environ["PATH"])
        os.environ["PATH"] = path

    COUNTED = {counter: f"{10 * at}.5" for at, counter in enumerate(recorded.COUNTERS.values(), 1)}

    def test_counters_are_those_of_each_strategy(self):
        self.program("01-cpu/cpu", MATCHES)
        self.program("05-launch-tuning/cuda", MATCHES)
        self.program("05-launch-tuning/opencl", MATCHES)
        document = json.loads(self.read("build/05-launch-tuning/cuda.json"))
        document["results"][0]["launch"] = "4 groups of 8"
        self.write("build/05-launch-tuning/cuda.json", json.dumps(document))
        self.profiler(ncu_log(self.COUNTED))
        self.succeed("record.py", "device", "--no-chapters", "--counters", "--size", "1M")
        self.assertEqual(self.keys("counters"), [("05-launch-tuning/cuda", "uniform", "1M")])
        (entry,) = self.results()["counters"]
        percent = {counter: float(value) for counter, value in self.COUNTED.items()}
        kernel = "void histogram_tuned<32, 4>(const unsigned char *)"
        self.assertEqual(entry["run"]["counters"],
                         [{"variant": "vector", "launch": "4 groups of 8", "kernel": kernel, "percent": percent},
                          {"variant": "tuned", "launch": "4 groups of 8", "kernel": kernel, "percent": percent}])
        self.assertNotIn("results", entry["run"])
        self.assertEqual(entry["run"]["device"], "Some device")
        given = [line.rsplit(" --json ", 1)[0] for line in self.arguments_of("05-launch-tuning/cuda")]
        self.assertEqual(given, [f"--random 1M --variant {variant} --repeat 3 --no-ceiling"
                                 for variant in ("vector", "tuned")])
        self.assertIn(",".join(self.COUNTED), self.read("tools/ncu.arguments"))

    def test_an_experiment_may_be_of_a_counter(self):
        self.chapters(MATCHES, apis=("opencl", "cuda"))
        document = self.lesson(NOTES, "cuda")
        document["results"][0]["launch"] = "lane-bins, 32 copies, 3 loads, 5 groups of 1024"
        self.write("build/05-launch-tuning/cuda.json", json.dumps(document))
        counter = EXPERIMENTS["hits"].counter
        self.profiler(ncu_log({counter: "96.5"}))
        self.succeed(*self.record("hits"))
        (entry,) = self.results()["experiments"]  # CUDA's
        self.assertEqual((entry["program"], entry["run"]["units"]), ("03-local-atomics/cuda", 5))
        kernel = "void histogram_tuned<32, 4>(const unsigned char *)"
        self.assertEqual(entry["run"]["runs"],
                         [{"arguments": run.command(5), "kernel": kernel, "percent": {counter: 96.5}}
                          for run in EXPERIMENTS["hits"].runs])
        given = [line.rsplit(" --json ", 1)[0].split(" --variant ")[1] for line in self.arguments_of("03-local-atomics/cuda")]
        self.assertEqual(given[3], "local --groups 40 --group-size 256 --walk blocked --repeat 3 --no-ceiling")
        self.profiler(ncu_log({}))
        self.fail_with("03-local-atomics/cuda photo 256M --experiment hits local: ncu: it wrote no counters", *self.record("hits"))

    def assert_no_counters(self, line):
        self.fail_with(line, "record.py", "device", "--no-chapters", "--counters", "--size", "1M")
        self.assertFalse((self.root / "docs/results/device.json").exists())

    def test_counters_that_cannot_be_read_stop(self):
        self.program("05-launch-tuning/cuda", MATCHES)
        for log in ["", ncu_log({}), ncu_log({**self.COUNTED, recorded.COUNTERS["Memory"]: "n/a"}),
                    ncu_log(dict(list(self.COUNTED.items())[1:]))]:
            self.profiler(log)
            self.assert_no_counters("05-launch-tuning/cuda uniform 1M --counters vector: ncu: it wrote no counters")
        for more in ("", "exit 1\n"):  # whatever the profiler's exit status
            self.profiler("==ERROR== ERR_NVGPUCTRPERM - no permission\n", more)
            self.assert_no_counters("ncu: ==ERROR== ERR_NVGPUCTRPERM - no permission")

    def test_counters_without_cuda_say_so(self):
        self.program("01-cpu/cpu", MATCHES)
        self.list_program("05-launch-tuning", "CUDA", "-", "no CUDA compiler")
        done = self.run_program("record.py", "device", "--no-chapters", "--counters")
        self.assertEqual(done.returncode, 1)
        self.assertIn("05-launch-tuning, CUDA: skipped, no CUDA compiler", done.stdout)

    def test_counters_of_what_does_not_match_stop(self):
        self.profiler(ncu_log(self.COUNTED))
        self.program("05-launch-tuning/cuda", MISMATCHES)
        self.assert_no_counters("a result does not match the CPU")
        document = json.loads(self.read("build/05-launch-tuning/cuda.json"))
        document["results"][0]["check"] = "mismatch"
        self.write("build/05-launch-tuning/cuda", MATCHES).chmod(0o755)
        self.write("build/05-launch-tuning/cuda.json", json.dumps(document))
        self.assert_no_counters("vector: the result does not match the CPU")

    def test_counters_need_the_profiler(self):
        self.program("05-launch-tuning/cuda", MATCHES)
        self.set_path(str(self.root))
        self.assert_no_counters("there is no ncu on the PATH")

    def test_a_missing_program_is_found_before_anything_is_measured(self):
        self.program("01-cpu/cpu", MATCHES)
        self.list_program("02-global-atomics", "OpenCL", self.root / "build/02-global-atomics/opencl")
        self.fail_with("02-global-atomics/opencl is missing: build first", "record.py", "device")
        self.assertFalse((self.root / "build/01-cpu/cpu.arguments").exists())

    def test_refuses_what_it_does_not_know(self):
        self.program("01-cpu/cpu", MATCHES)
        self.fail_with("there is no chapter 06", "record.py", "device", "--chapter", "06")
        for arguments in (["--size", "1Q"], ["--input", "nosuch"], ["--api", "Metal"]):
            self.assertEqual(self.run_program("record.py", "device", *arguments).returncode, 2)
        self.assertEqual(self.run_program("record.py", "../device").returncode, 2)


if __name__ == "__main__":
    unittest.main()
