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
from pages import pages

ROOT = repository.ROOT

BUILT = repository.folder_option("--build")
NEEDED = "import sphinx, myst_parser, furo, sphinx_design"


def call(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, encoding="utf-8")


def stage(folder, *repository):
    """Lays out the pages; the folder."""
    done = call(sys.executable, "-B", ROOT / "docs" / "site" / "stage.py", folder, *repository)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return pathlib.Path(folder)


class Staged(unittest.TestCase):
    """The repository's own pages as stage.py lays them out, without Sphinx."""

    LESSON, EXERCISE = "03-local-atomics", "03-local-atomics/exercise/five-steps"

    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.root = stage(place.name)

    def page(self, name):
        return (self.root / name).read_text(encoding="utf-8")

    def test_links_lead_to_the_pages_of_the_site(self):
        self.assertIn("](01-cpu/index.md)", self.page("index.md"))
        self.assertIn("[MIT](LICENSE.md)", self.page("index.md"))
        self.assertIn("literalinclude", self.page("LICENSE.md"))
        self.assertIn("[histogram.cl](source.md#file-03-local-atomics-histogram-cl)", self.page(f"{self.LESSON}/index.md"))
        self.assertTrue((self.root / "docs/figures/climb.svg").is_file())
        race = self.page("_extra/docs/site/play/race.html")
        self.assertIn('href="../../../02-global-atomics/index.html#the-race-conditions"', race)

    def test_a_page_says_what_it_is_about(self):
        self.assertRegex(self.page(f"{self.EXERCISE}/index.md"), r'\A---\nmyst:\n  html_meta:\n    description: "[A-Z][^*\[\]`]+"\n---\n')

    def test_two_kernels_become_tabs(self):
        pages_with_tabs = 0
        for path in self.root.glob("0*/index.md"):
            text = path.read_text(encoding="utf-8")
            self.assertNotIn("The same in CUDA", text)
            pages_with_tabs += bool(re.search(r"(?s)tab-set.*?:sync: opencl\n\n```c\n.*?:sync: cuda\n\n```cpp\n", text))
        self.assertGreaterEqual(pages_with_tabs, 4)
        self.assertRegex(self.page("02-global-atomics/index.md"),
                         r"(?s):sync: opencl\n\n```cpp\n// A whole OpenCL.*?:sync: cuda\n\n```cpp\n// A whole CUDA")

    def test_the_sources_of_a_chapter(self):
        self.assertRegex(self.page(f"{self.LESSON}/source.md"), r"(?s)# Chapter 03: the sources.*:sync: opencl.*03-local-atomics/histogram.cl"
                                                                r".*/opencl.cpp.*:sync: cuda.*03-local-atomics/histogram.cuh.*/cuda.cu")

    def test_an_exercise_shows_its_files_and_not_its_solution(self):
        page = self.page(f"{self.EXERCISE}/index.md")
        self.assertIn("[histogram.cl](#file-03-local-atomics-exercise-five-steps-histogram-cl)", page)
        self.assertRegex(page, r"(?s):sync: opencl.*/histogram.cl.*:sync: cuda.*/histogram.cu.*\n:::::\n")
        self.assertNotRegex(page, "literalinclude[^\n]*solution")
        self.assertIn(":::{grid-item-card} Exercise: the five steps\n:link: exercise/five-steps/index\n", self.page(f"{self.LESSON}/index.md"))

    def test_the_first_page_says_what_to_clone(self):
        self.assertIn("In the clone that this site was built in", self.page("index.md"))
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("Clone [the repository](https://example.org/r),", (stage(folder, "https://example.org/r") / "index.md").read_text())

    def test_recorded_results_stand_beside_each_other(self):
        page = self.page("docs/results/h100.md")
        self.assertRegex(page, r"<details open><summary>[^\n]* photo, 1 GiB</summary>\n\n{\.sortable}\n\| Chapter \| Strategy "
                               r"\| OpenCL, GB/s \| CUDA, GB/s[^\n]*\n[^\n]*\n"
                               r"\| 02-global-atomics \| `global` \| [\d.]+ \| [\d.]+ \|")
        self.assertEqual(page.count("<details open>"), 1)
        self.assertIn("\nh100\n", self.page("docs/results/index.md"))
        self.assertRegex(self.page(f"{self.LESSON}/index.md"), r"\n\*\*[^\n]*\*\*\n\n{\.sortable}\n\| Strategy")

    def test_every_page_is_there_and_in_the_contents_once(self):
        listed = []
        for page in self.root.rglob("*.md"):
            for entries in re.findall(r"```{toctree}\n:hidden:\n\n(.*?)\n```", page.read_text(encoding="utf-8"), re.DOTALL):
                listed += [os.path.relpath(page.parent / f"{entry}.md", self.root) for entry in entries.split("\n")]
        for page in pages():
            name = page.relative_to(ROOT).as_posix().replace("README.md", "index.md")
            self.assertTrue((self.root / name).is_file(), name)
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
                        stage(f"{folder}/pages"), self.site)
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
    unittest.main(defaultTest="Build" if BUILT else "Staged")
