"""The site: how its pages are laid out, and (--build FOLDER) that Sphinx builds it without a
warning, into a folder that test_play.py then opens.

The last is skipped where there is no Sphinx with what docs/site/conf.py needs: ./tutorial site installs it.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import repository

ROOT = repository.ROOT
sys.path.append(str(ROOT / "docs" / "site"))
import pages  # noqa: E402

BUILT = repository.folder_option("--build")
NEEDED = "import sphinx, myst_parser, furo, sphinx_design"


def call(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, encoding="utf-8")


def stage(root, folder):
    """Lays out the pages of a repository; the folder."""
    done = call(sys.executable, "-B", root / "docs" / "site" / "stage.py", folder)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return pathlib.Path(folder)


class Small(repository.RepositoryTest):
    """Each test has a repository of a few pages, laid out in self.root/build."""

    def setUp(self):
        super().setUp()
        self.write("README.md", "# First\n\n[one](02-two/README.md#part) [docs](docs/) [licence](LICENSE)\n")
        self.write("LICENSE", "Do.\n")
        self.write("docs/README.md", "# Docs\n\n[b](b.md) [a](a.md)\n")
        self.write("docs/a.md", "# A\n")
        self.write("docs/b.md", "# B\n")
        self.write("docs/results/README.md", "# Results\n")
        self.write("docs/site/search.js", "")
        self.write("docs/site/play/README.md", "# Play\n\n[race](race.html)\n")
        self.write("docs/site/play/race.html", '<a href="../../../02-two/README.md#part">back</a>')
        self.write("02-two/README.md", "# Chapter 02: two\n\n## Part\n\n![picture](../docs/p.svg) [kernels](histogram.cl)\n")
        self.write("docs/p.svg", "<svg/>")
        self.write("02-two/histogram.cl", "kernel\n")
        self.write("02-two/cuda.cu", "kernel\n")

    def staged(self, page):
        self.succeed("stage.py", self.root / "build" / "pages")
        return self.read(f"build/pages/{page}")

    def test_links_lead_to_the_pages_of_the_site(self):
        self.assertIn("[one](02-two/index.md#part) [docs](docs/index.md) [licence](LICENSE.md)", self.staged("index.md"))
        self.assertIn("![picture](../docs/p.svg) [kernels](source.md#file-02-two-histogram-cl)", self.staged("02-two/index.md"))
        self.assertTrue((self.root / "build/pages/docs/p.svg").is_file())
        self.assertIn("literalinclude", self.staged("LICENSE.md"))

    def test_a_page_says_what_it_is_about(self):
        self.write("docs/a.md", '# A\n\n![p](p.svg)\n\n**Goal.** One *"word"* of\n[b](b.md), `c * d`.\n\nTwo.\n')
        self.assertIn('description: "One \\\"word\\\" of b, c * d."\n', self.staged("docs/a.md"))

    def test_two_kernels_become_tabs(self):
        folded = ("OpenCL ([histogram.cl](histogram.cl)):\n\n```c\none\n```\n\n<details><summary>The same in CUDA (histogram.cuh)"
                  "</summary>\n\n```cpp\ntwo\n```\n\n</details>\n")
        self.write("02-two/README.md", "# Chapter 02: two\n\n" + folded)
        page = self.staged("02-two/index.md")
        self.assertRegex(page, r"(?s)tab-set.*:sync: opencl\n\n```c\none\n```.*:sync: cuda\n\n```cpp\ntwo\n```")
        self.assertNotIn("details", page)

    def test_the_sources_of_a_chapter(self):
        page = self.staged("02-two/source.md")
        self.assertRegex(page, r"(?s)# Chapter 02: the sources.*:sync: opencl.*02-two/histogram.cl.*:sync: cuda.*02-two/cuda.cu")

    def test_an_exercise_shows_its_files_and_not_its_solution(self):
        self.write("02-two/exercise/e/README.md", "# E\n\n[edit](histogram.cl)\n")
        for name in ("histogram.cl", "histogram.cu", "host.cpp", "host.cu", "call.cpp", "solution/histogram.cl"):
            self.write(f"02-two/exercise/e/{name}", "code\n")
        page = self.staged("02-two/exercise/e/index.md")
        self.assertIn("[edit](#file-02-two-exercise-e-histogram-cl)", page)
        self.assertRegex(page, r"(?s)OpenCL.*/histogram.cl.*/host.cpp.*CUDA.*/histogram.cu.*/host.cu.*\n:::::\n.*/call.cpp")
        self.assertNotIn("solution", page)
        self.assertIn(":::{grid-item-card} E\n:link: exercise/e/index\n", self.staged("02-two/index.md"))

    def test_the_first_page_says_what_to_clone(self):
        self.write("README.md", "# First\n\nClone this repository, and [read](02-two/README.md).\n[d](docs/) [l](LICENSE)\n")
        self.assertIn("In the clone that this site was built in", self.staged("index.md"))
        self.succeed("stage.py", self.root / "build" / "pages", "https://example.org/r")
        self.assertIn("Clone [the repository](https://example.org/r), and", self.read("build/pages/index.md"))

    def test_recorded_results_stand_beside_each_other(self):
        runs = [repository.run_entry(f"02-two/{program}", {"global": 123.4 + place}) for place, program in enumerate(("opencl", "cuda"))]
        self.write_results(repository.recording([*runs, repository.run_entry("02-two/opencl", {"global": 1.0}, size="1M")]))
        page = self.staged("docs/results/device.md")
        self.assertRegex(page, r"<details open><summary>[^\n]* photo, 1 GiB</summary>\n\n{\.sortable}\n"
                               r"\| Chapter \| Strategy \| OpenCL, GB/s \| CUDA, GB/s")
        self.assertRegex(page, r"\n\| 02-two \| `global` \| 123 \| 124 \|")
        self.assertEqual((page.count("<details open>"), page.count("<details>")), (1, 1))
        self.assertIn("\ndevice\n", self.staged("docs/results/index.md"))
        self.write("docs/a.md", "# A\n\n<!-- results: docs/results/device.json x -->\n**T**\n\n| a |\n|---|\n<!-- end -->\n")
        self.assertIn("**T**\n\n{.sortable}\n| a |", self.staged("docs/a.md"))


class Whole(unittest.TestCase):
    """The repository's own pages, without Sphinx."""

    def test_every_page_is_there_and_in_the_contents_once(self):
        with tempfile.TemporaryDirectory() as folder:
            root = stage(ROOT, folder)
            listed = []
            for page in root.rglob("*.md"):
                for entries in re.findall(r"```{toctree}\n:hidden:\n\n(.*?)\n```", page.read_text(encoding="utf-8"), re.DOTALL):
                    listed += [os.path.relpath(page.parent / f"{entry}.md", root) for entry in entries.split("\n")]
            for page in pages.pages():
                name = page.relative_to(ROOT).as_posix().replace("README.md", "index.md")
                self.assertTrue((root / name).is_file(), name)
                self.assertEqual(listed.count(name), 0 if name == "index.md" else 1, name)


@unittest.skipIf(BUILT is None, "no folder to build it in: --build FOLDER")
class Build(unittest.TestCase):
    site = BUILT

    def test_without_a_warning(self):
        shutil.rmtree(self.site, ignore_errors=True)
        pythons = [sys.executable, ROOT / "build" / "site-env" / "bin" / "python"]
        python = next((each for each in pythons if pathlib.Path(each).exists() and call(each, "-c", NEEDED).returncode == 0), None)
        if python is None:
            self.skipTest("no Sphinx with what the site needs (./tutorial site installs it)")
        with tempfile.TemporaryDirectory() as folder:
            done = call(python, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", "auto", "-d", f"{folder}/trees", "-c", ROOT / "docs" / "site",
                        stage(ROOT, f"{folder}/pages"), self.site)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = call(sys.executable, "-B", ROOT / "docs" / "tools" / "pages.py", "--site", self.site)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.read_on(), sorted(page.parent.name for page in ROOT.glob("0*/README.md")))
        search = (self.site / "searchindex.js").read_text(encoding="utf-8")
        for title, is_found in (("Chapter 02: global atomics", True), ("Chapter 02: the sources", False), ("common/report/schema.json", False)):
            self.assertEqual(f'"{title}"' in search.partition('"titles":')[2], is_found, title)

    def read_on(self):
        """The chapters, as one goes on from the first page."""
        page, found = self.site / "index.html", []
        while len(found) < 5 and (following := re.search(r'class="next-page" href="([^"]+)"', page.read_text(encoding="utf-8"))):
            page = (page.parent / following.group(1)).resolve()
            found.append(page.parent.name)
        return found


if __name__ == "__main__":
    unittest.main(defaultTest="Build" if BUILT else ["Small", "Whole"])
