"""What `./tutorial` runs, and what it says where it cannot.

All in a small clone: the script, the presets and the choice of CTest are the project's, the rest is next to nothing.
"""

import fcntl
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
CMAKE_LISTS = """cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES NONE)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_SOURCE_DIR}/common/cmake)
include(Testing)
add_custom_target(programs)
add_custom_target(cluster_programs)
add_custom_target(tune)
add_test(NAME passes COMMAND ${CMAKE_COMMAND} -E true)
add_test(NAME is-slow COMMAND ${CMAKE_COMMAND} -E true)
set_tests_properties(is-slow PROPERTIES TIMEOUT 1234)
"""
CHAPTER = """
add_custom_target(things-{0} ALL COMMAND ${{CMAKE_COMMAND}} -E touch made.h)
add_test(NAME {0}.passes COMMAND ${{CMAKE_COMMAND}} -E echo "skipped: no Thing (package libthing-{0})")
add_test(NAME {0}.mistake COMMAND ${{CMAKE_COMMAND}} -E true)
set_tests_properties({0}.passes PROPERTIES LABELS "chapter-{0}" SKIP_REGULAR_EXPRESSION ^skipped)
set_tests_properties({0}.mistake PROPERTIES LABELS "chapter-{0};broken")
"""
CHAPTER_PASSES = """
foreach(n RANGE 17) # with two that are skipped 20, which begins as 2 does
    add_test(NAME 01.right-${n} COMMAND ${CMAKE_COMMAND} -E true)
    set_tests_properties(01.right-${n} PROPERTIES LABELS chapter-01)
endforeach()
"""
# All that the script may call here: not apt-get, or it would install what this machine lacks.
TOOLS = ("basename", "bash", "cat", "cmake", "ctest", "dirname", "env", "find", "grep", "head", "id", "mkdir", "ninja", "paste", "readlink", "rm",
         "sed", "sh", "sort", "tail", "tee", "touch", "tr", "uname")


class Small(unittest.TestCase):
    """Each test has a small clone of its own, at self.clone."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.clone = self.root / "clone"
        (self.clone / "common" / "cmake").mkdir(parents=True)
        for name in ("tutorial", "CMakePresets.json", "common/cmake/Testing.cmake"):
            shutil.copy(ROOT / name, self.clone / name)
        (self.clone / "CMakeLists.txt").write_text(CMAKE_LISTS)
        (self.root / "bin").mkdir()
        for tool in TOOLS:
            (self.root / "bin" / tool).symlink_to(shutil.which(tool) or self.skipTest(f"no {tool}"))
        (self.root / "bin" / "python3").symlink_to(sys.executable)
        self.environment = {**os.environ, "PATH": str(self.root / "bin"), "CXX": "c++"}
        self.environment.pop("CI", None)

    def call(self, *command, cwd=None):
        return subprocess.run(command, cwd=cwd or self.clone, env=self.environment, capture_output=True, text=True)

    def succeed(self, *command, cwd=None):
        done = self.call(*command, cwd=cwd)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def refuses(self, line, *arguments, status=2, cwd=None):
        """It ends with this status and this one line, and has built nothing."""
        done = self.call("./tutorial", *arguments, cwd=cwd)
        self.assertEqual((done.returncode, done.stdout), (status, ""))
        self.assertRegex(done.stderr, rf"\Atutorial: {line}[^\n]*\n\Z")
        self.assertFalse((pathlib.Path(cwd or self.clone) / "build" / "configure.log").exists())

    def with_python(self):
        """The clone has the commands that need it, too."""
        for room in ("tutor", "files", "cuda"):
            shutil.copytree(ROOT / "common" / room, self.clone / "common" / room, dirs_exist_ok=True)

    def programs(self, *rows):
        """What the small project says was built."""
        (self.clone / "programs.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
        with (self.clone / "CMakeLists.txt").open("a") as lines:
            lines.write("configure_file(programs.tsv ${CMAKE_BINARY_DIR}/programs.tsv COPYONLY)\n")

    def script(self, path, text):
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)


class CommandLines(Small):
    """Each row of command-lines.tsv, in a copy of all sources: what makes no sense is one line, said before anything is made."""

    def test_each(self):
        shutil.rmtree(self.clone)
        shutil.copytree(ROOT, self.clone, ignore=shutil.ignore_patterns(".git", "build*", "__pycache__"))
        self.environment["BUILD"] = str(BUILD)
        if shutil.which("bwrap"):
            (self.root / "bin" / "bwrap").symlink_to(shutil.which("bwrap"))
        blind = subprocess.run("bwrap --dev-bind / / --tmpfs /sys true && test -e /etc/OpenCL/vendors/pocl.icd", shell=True).returncode == 0
        for row in pathlib.Path(__file__).with_name("command-lines.tsv").read_text().splitlines():
            status, line, says = row.split("\t")
            if any(not (BUILD / name).exists() for name in re.findall(r"\$BUILD/(\S+)", line)) or line.startswith("bwrap") and not blind:
                continue
            with self.subTest(line):
                done = self.call("bash", "-o", "pipefail", "-c", line)
                self.assertEqual(done.returncode, int(status), done.stderr)
                self.assertRegex(done.stderr, rf"\A{says}\n\Z" if says else r"\A\Z")
                self.assertFalse((self.clone / "build").exists())


class Place(Small):
    """Where the clone and its build folder are, and who else is at work in it."""

    def test_a_moved_clone_and_a_clock_that_was_wrong(self):
        self.succeed("./tutorial", "test")
        (self.root / "link").symlink_to(self.clone)  # which leads to the same place
        self.succeed(self.root / "link" / "tutorial", "test")
        moved = self.root / "moved"
        self.clone.rename(moved)
        for command in ("run", "test"):
            self.refuses(re.escape(f"build/ was made in another place ({self.clone}): ./tutorial clean removes it"), command, cwd=moved)
        # Or this place's own, but under another name.
        notes = moved / "build" / "CMakeCache.txt"
        notes.write_text(notes.read_text().replace(f"={self.clone}/build\n", f"={moved}/other\n").replace(f"={self.clone}\n", f"={moved}\n"))
        self.refuses(re.escape(f"build/ was made in another place ({moved}/other): ./tutorial clean removes it"), "test", cwd=moved)
        self.succeed("./tutorial", "clean", cwd=moved)
        os.utime(moved / "CMakeLists.txt", (2e9, 2e9))  # in 2033
        self.succeed("./tutorial", "test", cwd=moved)
        os.utime(moved / "build" / "build.ninja", (2e9, 2e9))
        self.refuses("build/ is newer than now", "test", cwd=moved)

    def test_names_of_folders(self):
        clone = self.root / "ü's (1)&=,%~+@!"
        shutil.copytree(self.clone, clone)
        self.succeed("./tutorial", "test", cwd=clone)
        for name in ("$x;#", 'a\\"b', "a\nb", "a[*", "a|b", "a<b"):
            with self.subTest(name=name):
                clone = self.root / name
                shutil.copytree(self.clone, clone)
                self.refuses("nothing can be built in a folder with such a name: ", "test", cwd=clone)

    def test_no_room_on_the_disk(self):
        done = self.call("bash", "-c", "ulimit -f 100 && ./tutorial run")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"\Atutorial: build/ cannot be written to: [^\n]*\n\Z")

    def test_one_waits_for_another(self):
        (self.root / "bin" / "flock").symlink_to(shutil.which("flock") or self.skipTest("no flock"))
        other = os.open(self.clone, os.O_RDONLY)
        self.addCleanup(os.close, other)
        fcntl.flock(other, fcntl.LOCK_EX)
        with subprocess.Popen(["./tutorial", "test"], cwd=self.clone, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as waiting:
            self.assertEqual(waiting.stderr.readline(), "Another ./tutorial is at work in this folder: waiting for it to end ...\n")
            time.sleep(0.3)
            self.assertFalse((self.clone / "build").exists())
            fcntl.flock(other, fcntl.LOCK_UN)
            self.assertIn("100% tests passed", waiting.communicate()[0])


class Test(Small):
    """./tutorial test, of all or of one chapter."""

    def setUp(self):
        super().setUp()
        with (self.clone / "CMakeLists.txt").open("a") as lines:
            lines.write("add_subdirectory(01-one)\nadd_subdirectory(03-three)\n")
        for folder in ("01-one", "03-three"):
            (self.clone / folder).mkdir()
            (self.clone / folder / "CMakeLists.txt").write_text(CHAPTER.format(folder[:2]))

    def test_chapters(self):
        done = self.call("./tutorial", "test", "03")  # whose only test is skipped
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertTrue(done.stderr.endswith("tutorial: all tests of chapter-03 were skipped, for the reasons above\n"), done.stderr)
        said = done.stdout
        self.assertIn("03.passes", said)
        for other in ("01.passes", "mistake", "is-slow"):
            self.assertNotIn(other, said)
        self.assertTrue(said.endswith("\n  no Thing (package libthing-03)\n"), said)
        self.assertTrue((self.clone / "build" / "03-three" / "made.h").exists())
        self.assertFalse((self.clone / "build" / "01-one" / "made.h").exists())
        with (self.clone / "01-one" / "CMakeLists.txt").open("a") as lines:
            lines.write(CHAPTER_PASSES)
        said = self.succeed("./tutorial", "test", "01", "03")
        self.assertIn("01.right", said)
        self.assertIn("03.passes", said)
        self.assertTrue(said.endswith("Some tests were skipped for want of a package:\n  no Thing (package libthing-01)\n"
                                      "  no Thing (package libthing-03)\n"), said)
        self.assertIn("is-slow", self.succeed("./tutorial", "test"))

    @unittest.skipUnless(os.getuid() == 0 and re.search("^ID=(debian|ubuntu)$", pathlib.Path("/etc/os-release").read_text(), re.MULTILINE),
                         "no root on Debian or Ubuntu")
    def test_what_is_installed_is_configured_and_another_apt_waited_for(self):
        self.call("./tutorial", "test", "03")
        (self.root / "bin" / "python3").unlink()
        asked = self.root / "asked"
        for name, tool in (("sleep", "true"), ("chmod", "chmod")):
            (self.root / "bin" / name).symlink_to(shutil.which(tool))
        self.script(self.root / "bin" / "apt-get", f'''echo "$1" >> {asked}
            [ $(grep -c . {asked}) -gt 2 ] || {{ echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1" >&2; exit 100; }}
            case " $* " in *" python3 "*) printf '#!/bin/sh\\n' > {self.root}/bin/python3; chmod +x {self.root}/bin/python3 ;; esac''')
        done = self.call("./tutorial", "test", "03")
        self.assertEqual(asked.read_text().split(), ["update", "update", "update", "install"])
        self.assertEqual(done.stderr.count("Another apt is at work on this system: waiting for it to end"), 1)
        self.assertIn("Configuring ...", done.stderr)
        self.assertNotIn("Configuring ...", self.call("./tutorial", "test", "03").stderr)
        self.script(self.root / "bin" / "apt-get", "echo E: no such package >&2; exit 100")
        (self.root / "bin" / "python3").unlink()
        self.assertIn("tutorial: the packages could not be installed", self.call("./tutorial", "test", "03").stderr)
        (self.root / "bin" / "id").unlink()
        self.script(self.root / "bin" / "id", "echo 1000")
        said = self.call("./tutorial", "run").stderr
        self.assertRegex(said, r"As root, which here is not done with sudo:\nType this once, then start again:\n    apt-get install .*\bpython3\b")
        self.script(self.root / "bin" / "bwrap", "[ $1 = --version ] && echo bubblewrap 1.0")
        self.assertIn("it can isolate nothing here", self.call("./tutorial", "doctor").stdout)


class Run(Small):
    def test_what_is_missing(self):
        for name in ("python3", "ninja"):
            (self.root / "bin" / name).unlink()
        self.refuses("not found: python3; docs/install.md names the packages for this system", "list")
        self.refuses("not found: Ninja; Python 3.9 or newer; docs/install.md names the packages for this system", "run")

    def test_a_build_is_shown_where_it_fails(self):
        with (self.clone / "CMakeLists.txt").open("a") as lines:
            lines.write("add_custom_target(fails COMMAND no-such)\n")
        self.succeed("./tutorial", "set-up", "run")
        done = self.call("./tutorial", "build", "fails")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"\ABuilding \.{3}\n(?s:.*)no-such(?s:.*)\ntutorial: building failed; .* build/build.log\n\Z")

    def table(self, *rows, status=0):
        """What `run` says of these programs: (chapter, API, exit status, what it says of itself, {strategy: check})."""
        programs = []
        for chapter, api, end, said, checks in rows:
            checks = [{"variant": name, "check": check, "reason": "", "kernel_ms": {"median": 0.2} if api == "OpenCL" else None,
                       "gb_s": 1234.5 if api == "OpenCL" else None, "speedup_over_serial": None} for name, check in checks.items()]
            found = {"input": {"name": "p\nq", "pixels": 6}, "api": api.partition("-")[0], "device": f"a {api}", "results": checks}
            write = f"cat > \"$3\" << 'END'\n{json.dumps(found)}\nEND\n[ -z \"$5\" ] || : > \"$5\"\n" if checks else ""
            programs.append([chapter, api, self.script(self.root / "bin" / f"{chapter}-{api}", f"{write}echo '{said}' >&2; exit {end}"), "-"])
        self.with_python()
        self.programs(*programs)
        (self.clone / "picture.bmp").write_text("BM")
        done = self.call("./tutorial", "run", "picture.bmp")
        self.assertEqual(done.returncode, status, done.stderr)
        self.said = done.stderr
        return re.sub(" +", " ", done.stdout)

    def test_the_table(self):
        """Not the workshops, and what is emulated in the place of CUDA where that is skipped."""
        on_cpu = "02-a", "CUDA-on-CPU", 0, "fine", {"one": "match", "two": "match"}
        table = self.table(("02-a", "OpenCL", 0, "passed over that one", {"one": "match"}), ("02-a/w", "OpenCL", 0, "", {"no": "match"}),
                           ("02-a", "CUDA", 77, "02-a/cuda: no GPU", {}), on_cpu)
        self.assertIn("input: p\\nq (6 pixels)\n", table)
        self.assertIn("-\n02-a one OpenCL [1] 0.200 1234 - match\n02-a all CUDA [2] - - - match\n\n[1] a OpenCL\n[2] a CUDA-on-CPU\n", table)
        self.assertRegex(table, r"slower than that loop(?s:.*)What to read next: 02-a/README.md\n\Z")
        self.assertEqual([line for line in self.said.splitlines() if re.match("passed|fine|02", line)], ["passed over that one"])
        table = self.table(("02-a", "CUDA", 0, "", {"one": "match"}), on_cpu)
        self.assertIn("-\n02-a one CUDA [1] - - - match\n\n[1] a CUDA\n\n", table)
        self.assertNotIn("slower", table)

    def test_results_that_cannot_be_written(self):
        self.with_python()
        self.programs()
        (self.clone / "build").mkdir()
        (self.clone / "build" / "results").write_text("in the way")
        (self.clone / "picture.bmp").write_text("BM")
        done = self.call("./tutorial", "run", "picture.bmp")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"\ntutorial: build/results cannot be made: File exists\n\Z")

    def test_what_is_wrong(self):
        wrong = "02-a", "CUDA-on-CPU", 1, "why it is wrong", {"one": "match", "two": "mismatch"}
        table = self.table(("02-a", "CUDA", 77, "02-a/cuda: no GPU", {}), wrong, status=1)
        self.assertIn("-\n02-a one CUDA [1] - - - match\n02-a two CUDA [1] - - - mismatch\n", table)
        self.assertIn("why it is wrong\n", self.said)
        table = self.table(("02-a", "CUDA", 3, "02-a/cuda: it broke\nother words", {}), wrong, status=2)
        self.assertIn("-\n02-a all CUDA - - - - FAILED: exit status 3: 02-a/cuda: it broke\n\n", table)
        self.table(("02-a", "CUDA", 3, "it broke", {}), ("03-a", "OpenCL", 1, "", {"one": "mismatch"}), status=1)
        self.assertEqual(self.table(("02-a", "CUDA", 2, "02-a/cuda: no picture", {}), wrong, status=2), "")


class Python(Small):
    """What common/tutor/tutorial.py does beside its exercises."""

    def setUp(self):
        super().setUp()
        self.with_python()

    def test_who_watches_holds_nobody_up(self):
        """The lock is one call's while it builds and measures, and free when this has ended."""
        (self.root / "bin" / "flock").symlink_to(shutil.which("flock") or self.skipTest("no flock"))
        free = "subprocess.run(['flock', '-n', '.', 'bash', '-c', ':']).returncode"
        said = self.succeed("python3", "-c", "import os, subprocess, sys; sys.path.append('common/tutor'); import tutorial; "
                            f"tutorial.one_at_a_time(); print({free}); os.close(tutorial.LOCK); print({free})")
        self.assertEqual(said, "1\n0\n")

    def test_each_device_is_searched(self):
        self.programs(["05-x/tune", "OpenCL", self.script(self.root / "bin" / "search", """
            [ "$1" != --list-devices ] || { printf '0: One\\n1: Two (2)\\n'; exit; }
            [ "$2" = 1 ] || exit 3
            printf '4096 pixels\\nmap\\nbest: 7\\n'"""), "-"], ["05-x/tune", "CUDA", "-", "no nvcc"])
        done = self.call("./tutorial", "tune")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("map\nbest: 7\n\nAll that was measured", done.stdout)
        self.assertIn("\nOpenCL on One\nOpenCL on Two (2)\nCUDA: skipped, no nvcc\n", done.stderr)

    def test_a_question_is_told_behind_its_prediction(self):
        page = ("# A\n\n## Predict, then run\n\n**1.** Which [way](a.md)?\n\n```sh\necho r\\\n  an $0  # well\n```\n\n"
                "**2.** And how fast?\n\n"
                "<details><summary>Answer</summary>\n\nSlow.\n\n<!-- predict: number GB/s f p i 1M s ask=\"Or a ramp?\" -->\n"
                "Measured on One (CUDA): 2.50 GB/s.\n<!-- end -->\n\n</details>\n\n"
                "## Answers\n\n<details><summary>Answer: predict 1</summary>\n\nThis [way](b.md).\n\n"
                '<!-- predict: choice "Left" "=Right" -->\n<!-- end -->\n\n</details>\n')
        (self.clone / "02-a").mkdir()
        (self.clone / "02-a" / "README.md").write_text(page)
        with (self.clone / "CMakeLists.txt").open("a") as lines:
            lines.write("add_custom_target(chapter-02)\n")

        def ask(typed):
            done = subprocess.run(["./tutorial", "ask", "02"], cwd=self.clone, env=self.environment, input=typed, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout, json.loads((self.clone / "build" / "predictions.json").read_text())

        said, kept = ask("3\n2\n\n5\n")
        self.assertRegex(said, r"(?s)Question 1. Which way\?\n    echo r an \$0\n\n  1  Left\n.*none of these.*r an bash\n\nThat is it.\n\n"
                         r"This way.\n.*Question 2. And how fast\?.*Or a ramp\? Your prediction, GB/s, on One \(CUDA\): "
                         r".*Yours is 5, recorded were 2.5 GB/s: 2 times off.\n\nSlow.\n")
        self.assertEqual(kept, {"prediction 02-a 2": 1, "prediction 02-a 1": 5})
        said, kept = ask("1\ns\n")  # and then nobody types
        self.assertIn("It is: Right.", said)
        self.assertEqual(kept, {"prediction 02-a 2": 0, "prediction 02-a 1": 5})


class Cluster(Small):
    def setUp(self):
        super().setUp()
        self.with_python()

    def built(self, cuda, why="-"):
        """A build whose programs say how they were called, and a launcher that starts one rank."""
        self.script(self.root / "bin" / "mpirun", 'shift 2; exec "$@"')
        cpu = self.script(self.root / "bin" / "cpu", 'echo "cpu $* in $(basename "$PWD")"')
        folder = "05-launch-tuning/workshops/cluster"
        self.programs([folder, "C++", cpu if why == "-" else "-", why], [folder, "OpenCL", "-", "no"],
                      [folder, "CUDA", self.script(self.root / "bin" / "cuda", f'echo "cuda $*"; exit {cuda}'), "-"])

    def test_without_a_gpu_it_counts_on_the_processor(self):
        self.built(77)
        done = self.succeed("../clone/tutorial", "cluster", "4", "--tile", "a size", cwd=self.root / "bin")
        self.assertEqual(done, "cuda --tile a size\ncpu --tile a size in bin\n")

    def test_its_status_is_the_jobs_or_it_says_why(self):
        self.built(2)
        done = self.call("./tutorial", "cluster")
        self.assertEqual((done.returncode, done.stdout), (2, "cuda --random 1G\n"))
        self.built(0, "no MPI")
        self.assertIn("tutorial: the programs were not built: no MPI", self.call("./tutorial", "cluster").stderr)


if __name__ == "__main__":
    if "--build" in sys.argv:
        at = sys.argv.index("--build")
        BUILD = pathlib.Path(sys.argv[at + 1])
        del sys.argv[at : at + 2]
    unittest.main()
