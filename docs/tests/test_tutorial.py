"""What `./tutorial` runs, what it says of a build folder that CMake would refuse, and how long a test may take.

All in a small clone: the script, the presets and the choice of CTest are the project's, the rest is next to nothing.
"""

import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CMAKE_LISTS = """cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES NONE)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_SOURCE_DIR}/common/cmake)
include(Testing)
add_custom_target(programs)
add_test(NAME passes COMMAND ${CMAKE_COMMAND} -E true)
add_test(NAME is-slow COMMAND ${CMAKE_COMMAND} -E true)
set_tests_properties(is-slow PROPERTIES TIMEOUT 1234)
"""
# All that the script may call here: not apt-get, or it would install what this machine lacks.
TOOLS = ("bash", "cat", "cmake", "ctest", "dirname", "env", "grep", "head", "mkdir", "ninja", "readlink", "rm", "sed", "sort", "tee", "uname")


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
            path = shutil.which(tool)
            if path is None:
                self.skipTest(f"no {tool}")
            (self.root / "bin" / tool).symlink_to(path)
        self.environment = {**os.environ, "PATH": str(self.root / "bin"), "CXX": "c++"}
        self.environment.pop("CI", None)

    def call(self, *command, cwd=None):
        return subprocess.run(command, cwd=cwd or self.clone, env=self.environment, capture_output=True, text=True)

    def succeed(self, *command, cwd=None):
        done = self.call(*command, cwd=cwd)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout


class BuildFolder(Small):
    def refuses(self, line, clone):
        """Both commands end with 2 and say this one line, and CMake has not been there."""
        before = (clone / "build" / "CMakeCache.txt").read_text()
        for command in ("run", "test"):
            done = self.call("./tutorial", command, cwd=clone)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr, f"tutorial: {line}: ./tutorial clean removes it\n")
        self.assertEqual((clone / "build" / "CMakeCache.txt").read_text(), before)
        self.assertFalse((clone / "build" / "configure.log").exists())

    def test_where_it_was_made_it_is_used_again(self):
        self.succeed("./tutorial", "test")
        self.succeed("./tutorial", "test")

    def test_a_link_leads_to_the_same_place(self):
        self.succeed("./tutorial", "test")
        (self.root / "link").symlink_to(self.clone)
        self.succeed(self.root / "link" / "tutorial", "test")

    def test_a_moved_clone(self):
        self.succeed("./tutorial", "test")
        moved = self.root / "moved"
        self.clone.rename(moved)
        self.refuses(f"build/ was made in another place ({self.clone})", moved)
        self.succeed("./tutorial", "clean", cwd=moved)
        self.succeed("./tutorial", "test", cwd=moved)

    def test_a_copied_clone(self):
        self.succeed("./tutorial", "test")
        shutil.copytree(self.clone, self.root / "copy")
        self.refuses(f"build/ was made in another place ({self.clone})", self.root / "copy")

    def test_a_build_folder_that_was_moved_alone(self):
        self.succeed("cmake", "-G", "Ninja", "-B", "build-other")
        (self.clone / "build-other").rename(self.clone / "build")
        self.refuses(f"build/ was made in another place ({self.clone / 'build-other'})", self.clone)

    def test_another_generator(self):
        self.succeed("cmake", "--preset", "default")
        cache = self.clone / "build" / "CMakeCache.txt"
        cache.write_text(cache.read_text().replace("CMAKE_GENERATOR:INTERNAL=Ninja", "CMAKE_GENERATOR:INTERNAL=Unix Makefiles"))
        self.refuses("build/ was made for Unix Makefiles, not for Ninja", self.clone)

    def test_a_cache_that_says_nothing_is_left_to_cmake(self):
        (self.clone / "build").mkdir()
        (self.clone / "build" / "CMakeCache.txt").write_text("")
        self.succeed("./tutorial", "test")


class Place(Small):
    """Where the clone is, and who else is at work in it."""

    def says(self, line, *arguments, status=2, clone=None, **how):
        done = subprocess.run(["./tutorial", *arguments], cwd=clone or self.clone, env=self.environment, capture_output=True, text=True, **how)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (status, "", f"tutorial: {line}\n"))

    def test_a_link_elsewhere_to_the_script(self):
        (self.root / "elsewhere").mkdir()
        (self.root / "link").symlink_to(self.clone / "tutorial")
        (self.root / "elsewhere" / "link").symlink_to("../link")
        self.succeed("./link", "test", cwd=self.root / "elsewhere")
        self.assertTrue((self.clone / "build" / "CMakeCache.txt").exists())

    def test_paths_that_work(self):
        for name in ("-a space", "ü's (1)&=,%~+@!"):
            with self.subTest(name=name):
                clone = self.root / name
                shutil.copytree(self.clone, clone)
                self.succeed("./tutorial", "test", cwd=clone)

    def test_paths_that_do_not(self):
        for name in ("$x", "a;b", "a#b", "a\\b", 'a"b', "a\nb", "a\n", "a[b", "a]", "a*", "?"):
            with self.subTest(name=name):
                clone = self.root / name
                shutil.copytree(self.clone, clone)
                done = self.call("./tutorial", "test", cwd=clone)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, r"\Atutorial: nothing can be built in a folder with such a name: [^\n]+\n\Z")
                self.assertFalse((clone / "build").exists())
                self.succeed("./tutorial", "help", cwd=clone)

    def test_build_is_no_folder(self):
        build = self.clone / "build"
        for make in (lambda: build.write_text("kept"), lambda: build.symlink_to("nowhere")):
            make()
            for command in ("run", "test"):
                self.says("build is in the way: it should be a folder", command)
            build.unlink()

    def test_a_clone_that_cannot_be_written_to(self):
        how = {}
        if os.geteuid() == 0:  # who may write everywhere
            how = {"user": 65534, "group": 65534, "extra_groups": []}
            self.root.chmod(0o755)
        self.clone.chmod(0o555)
        self.addCleanup(self.clone.chmod, 0o755)
        self.says("build/ cannot be made here: Permission denied", "test", **how)
        self.clone.chmod(0o755)
        (self.clone / "build").mkdir(0o555)
        self.says("build/ cannot be written to (was it made by another user, with sudo?)", "test", **how)

    def test_one_waits_for_another(self):
        (self.root / "bin" / "flock").symlink_to(shutil.which("flock") or self.skipTest("no flock"))
        other = os.open(self.clone, os.O_RDONLY)
        self.addCleanup(os.close, other)
        fcntl.flock(other, fcntl.LOCK_EX)
        with subprocess.Popen(["./tutorial", "test"], cwd=self.clone, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as waiting:
            self.assertEqual(waiting.stderr.readline(), "Another ./tutorial is at work in this folder: waiting for it to end ...\n")
            self.assertFalse((self.clone / "build").exists())
            fcntl.flock(other, fcntl.LOCK_UN)
            self.assertIn("100% tests passed", waiting.communicate()[0])

    def test_a_file_that_may_not_grow(self):
        self.succeed("./tutorial", "test")
        done = self.call("bash", "-c", "ulimit -f 0; ./tutorial test")
        self.assertGreater(done.returncode, 0)
        self.assertLess(done.returncode, 128)
        self.assertIn("File too large", done.stdout + done.stderr)


class Test(Small):
    """./tutorial test, of all or of one chapter."""

    def setUp(self):
        super().setUp()
        (self.clone / "CMakeLists.txt").write_text(CMAKE_LISTS + """
add_subdirectory(01-one)
add_subdirectory(03-three)
add_chapter_targets()
""")
        for folder in ("01-one", "03-three"):
            (self.clone / folder).mkdir()
            number = folder[:2]
            (self.clone / folder / "CMakeLists.txt").write_text(f"""
add_library(things-{number} INTERFACE made.h)
add_custom_command(OUTPUT made.h COMMAND ${{CMAKE_COMMAND}} -E touch made.h)
add_test(NAME {folder}.passes COMMAND ${{CMAKE_COMMAND}} -E echo "skipped: no Thing (package libthing-{number})")
set_tests_properties({folder}.passes PROPERTIES LABELS "chapter-{number};cpu" SKIP_REGULAR_EXPRESSION ^skipped)
add_test(NAME {folder}.device COMMAND ${{CMAKE_COMMAND}} -E echo "skipped: no CUDA device (nothing to run it on)")
set_tests_properties({folder}.device PROPERTIES LABELS "chapter-{number}" SKIP_REGULAR_EXPRESSION ^skipped)
add_test(NAME {folder}.mistake COMMAND ${{CMAKE_COMMAND}} -E true)
set_tests_properties({folder}.mistake PROPERTIES LABELS "chapter-{number};broken")
""")

    def test_one_chapter(self):
        said = self.succeed("./tutorial", "test", "03")
        self.assertIn("03-three.passes", said)
        self.assertNotIn("01-one", said)
        self.assertNotIn("mistake", said)
        self.assertNotIn("is-slow", said)
        self.assertTrue((self.clone / "build" / "03-three" / "made.h").exists())
        self.assertFalse((self.clone / "build" / "01-one" / "made.h").exists())

    def test_two_chapters(self):
        said = self.succeed("./tutorial", "test", "01", "03")
        self.assertIn("01-one.passes", said)
        self.assertIn("03-three.passes", said)
        self.assertNotIn("is-slow", said)

    def test_what_is_no_chapter(self):
        for word in ("3", "02", "0[13]", "03-three", "chapter", ""):
            done = self.call("./tutorial", "test", "03", word)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr, f"tutorial: test takes numbers of chapters, such as 03, not '{word}' "
                                          "(ctest --test-dir build takes much more)\n")
        self.assertFalse((self.clone / "build").exists())

    def test_packages_that_were_missed(self):
        said = "Some tests were skipped for want of a package:\n"
        self.assertTrue(self.succeed("./tutorial", "test", "03").endswith(f"{said}  no Thing (package libthing-03)\n"))
        self.assertTrue(self.succeed("./tutorial", "test").endswith(
            f"{said}  no Thing (package libthing-01)\n  no Thing (package libthing-03)\n"))

    def test_no_package_was_missed(self):
        for folder in ("01-one", "03-three"):
            path = self.clone / folder / "CMakeLists.txt"
            path.write_text(path.read_text().replace("package", "something"))
        self.assertNotIn("package", self.succeed("./tutorial", "test"))


class Broken(Small):
    def test_without_opencl(self):
        (self.clone / "02-two" / "broken").mkdir(parents=True)
        (self.clone / "02-two" / "broken" / "spoilt.txt").write_text("variant: v\nshows: wrong\n\n--- histogram.cl\n")
        with (self.clone / "CMakeLists.txt").open("a") as lines:
            lines.write('file(WRITE ${CMAKE_BINARY_DIR}/programs.tsv "02-two\tOpenCL\t-\tno loader\n")\n')
        for tool in ("basename", "sh"):
            (self.root / "bin" / tool).symlink_to(shutil.which(tool))
        done = self.call("./tutorial", "broken", "02/1")
        self.assertEqual((done.returncode, done.stdout), (77, ""))
        self.assertTrue(done.stderr.endswith("tutorial: 02/1 runs in OpenCL, whose programs were not built: no loader\n"), done.stderr)


class Run(Small):
    def test_a_folder_is_no_picture(self):
        done = self.call("./tutorial", "run", "common")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", "tutorial: common: a folder, and no picture\n"))
        self.assertFalse((self.clone / "build").exists())

    def test_workshops_are_not_run(self):
        programs = self.clone / "programs.tsv"
        script = '#!/bin/sh\necho "$0" >> "$(dirname "$0")/../ran"\n'
        for folder in ("02-chapter", "02-chapter/workshop"):
            (self.root / folder).mkdir()
            (self.root / folder / "cuda").write_text(script)
            (self.root / folder / "cuda").chmod(0o755)
            with programs.open("a") as lines:
                lines.write(f"{folder}\tCUDA\t{self.root}/{folder}/cuda\t-\n")
        summary = self.clone / "summary"
        summary.write_text("#!/bin/sh\n")
        summary.chmod(0o755)
        (self.clone / "CMakeLists.txt").write_text(CMAKE_LISTS + """
configure_file(programs.tsv ${CMAKE_BINARY_DIR}/programs.tsv COPYONLY)
configure_file(summary ${CMAKE_BINARY_DIR}/common/summary COPYONLY)
""")
        picture = self.clone / "picture.bmp"
        picture.write_text("pixels")
        self.succeed("./tutorial", "run", picture)
        self.assertEqual((self.root / "ran").read_text(), f"{self.root}/02-chapter/cuda\n")
        self.assertFalse((self.root / "02-chapter" / "ran").exists())


class Site(Small):
    def refuses(self, line, *arguments):
        done = self.call("./tutorial", "site", *arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"tutorial: {line}\n"))

    def test_a_copy_without_it(self):
        self.refuses("this copy has no site")

    def test_what_it_takes(self):
        self.refuses("site takes nothing but the word links", "link")

    def test_without_python(self):
        (self.clone / "docs" / "site").mkdir(parents=True)
        for name in ("conf.py", "requirements.txt"):
            (self.clone / "docs" / "site" / name).write_text("some\n")
        self.refuses("not found: python3 with its modules venv and ensurepip")


class Cluster(Small):
    # What the machine lacks, by a function in the place of each question.
    ASK = """
        eval "$(sed -n '/^missing_packages()/,/^}/p' tutorial)"
        have() { false; } && have_compiler() { :; } && have_cmake() { :; } && offered() { false; } && have_jsonschema() { :; }
        missing_packages "$1"
    """

    def test_mpi_is_installed_for_cluster_alone(self):
        for command in ("run", "test", "exercises"):
            self.assertNotIn("mpi", self.succeed("bash", "-c", self.ASK, "bash", command))
        wanted = self.succeed("bash", "-c", self.ASK, "bash", "cluster").split()
        self.assertEqual([name for name in wanted if "mpi" in name], ["openmpi-bin", "libopenmpi-dev"])

    def test_a_number_of_ranks_that_makes_no_sense(self):
        for words, says in ((["0"], "cluster starts 1 to 64 ranks here, not 0"), (["2000"], "1 to 64 ranks here, not 2000"),
                            (["four"], "cluster takes a number of ranks, then options or pictures, not 'four'")):
            done = self.call("./tutorial", "cluster", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(says, done.stderr)

    def test_without_a_launcher_it_says_so(self):
        done = self.call("./tutorial", "cluster", "3")
        self.assertEqual(done.returncode, 2)
        self.assertIn("tutorial: not found: mpirun", done.stderr)

    def place(self, cuda_status):
        """A build whose programs say how they were called, and a launcher that starts one rank."""
        for name, text in (("mpirun", 'shift 2; exec "$@"'), ("cuda", f'echo "cuda $*"; exit {cuda_status}'),
                           ("cpu", 'echo "cpu $* in $(basename "$PWD")"')):
            path = self.root / "bin" / name
            path.write_text(f"#!/bin/sh\n{text}\n")
            path.chmod(0o755)
        for tool in ("basename", "id"):
            (self.root / "bin" / tool).symlink_to(shutil.which(tool))
        folder = "05-launch-tuning/cluster"
        (self.clone / "programs.tsv").write_text(f"{folder}\tC++\t{self.root}/bin/cpu\t-\n{folder}\tOpenCL\t-\tno\n"
                                                 f"{folder}\tCUDA\t{self.root}/bin/cuda\t-\n")
        (self.clone / "CMakeLists.txt").write_text(CMAKE_LISTS + """
add_custom_target(cluster_programs)
configure_file(programs.tsv ${CMAKE_BINARY_DIR}/programs.tsv COPYONLY)
""")

    def test_without_a_gpu_it_counts_on_the_processor(self):
        self.place(77)
        done = self.succeed("../clone/tutorial", "cluster", "4", "--raw", "a file", cwd=self.root / "bin")
        self.assertEqual(done, "cuda --raw a file\ncpu --raw a file in bin\n")

    def test_its_status_is_the_jobs(self):
        self.place(2)
        done = self.call("./tutorial", "cluster")
        self.assertEqual((done.returncode, done.stdout), (2, "cuda --random 1G --check\n"))

    def test_without_mpi_it_says_why(self):
        self.place(0)
        tsv = self.clone / "programs.tsv"
        tsv.write_text(tsv.read_text().replace(f"{self.root}/bin/cpu\t-", "-\tno MPI"))
        done = self.call("./tutorial", "cluster")
        self.assertEqual(done.returncode, 2)
        self.assertIn("tutorial: the programs were not built: no MPI", done.stderr)


class Timeout(Small):
    def limits(self, *arguments):
        """{test: seconds} as CTest computes them."""
        text = self.succeed("ctest", "-V", "-j1", *arguments)
        return dict(zip(re.findall(r"Start \d+: (\S+)", text), map(int, re.findall(r"timeout computed to be: (\d+)", text))))

    def test_each_test_has_one_however_ctest_is_called(self):
        self.succeed("cmake", "--preset", "default")
        plain = self.limits("--test-dir", "build")
        self.assertEqual(plain["is-slow"], 1234)
        self.assertIn(plain["passes"], range(30, 601))
        for preset in ("default", "ci", "cuda", "asan", "tsan"):
            with self.subTest(preset=preset):
                self.succeed("cmake", "--preset", preset)
                self.assertEqual(self.limits("--preset", preset), plain)


if __name__ == "__main__":
    unittest.main()
