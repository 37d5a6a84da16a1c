"""The site: how its pages are laid out, and (--build FOLDER) that Sphinx builds it without a
warning, into a folder that test_play.py then opens.

The last is skipped where there is no Sphinx with what docs/site/conf.py needs: ./tutorial site installs it.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import repository

ROOT = repository.ROOT
sys.path.append(str(ROOT / "docs" / "tools"))
import generate  # noqa: E402

BUILT = repository.folder_option("--build")
NEEDED = "import sphinx, myst_parser, furo, sphinx_copybutton, sphinx_design"


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
        cls.root = stage(place.name, "https://example.org/r")

    def page(self, name):
        return (self.root / name).read_text(encoding="utf-8")

    def test_what_stands_where(self):
        """Not whether links lead somewhere, and what tabs and tables do: that is tested where the site is built."""
        for page, pattern in (
                ("index.md", r'(?s)<textarea id="code"[^>]*>for [^{]*{\n    plain_histogram\[pixel\(i\)\] \+= 1u;\n}</textarea>.*'
                 r"lab.html#strategy=02%2Fno-lost-counts.*<noscript>.*\n\n!\[the sample picture.*</noscript>.*\./tutorial run"),
                ("index.md", r"\[MIT\]\(LICENSE.md\)"),
                ("index.md", r"in a clone of \[this repository\]\(https://example.org/r\)\."),
                (f"{self.LESSON}/index.md", r"\[histogram.cl\]\(histogram.cl.md\)"),
                (f"{self.LESSON}/index.md", r'\n- <span id="measured"></span>(<span id="[\w-]+"></span>)+\[Measured\]\(measured.md\)\n'),
                (f"{self.LESSON}/measured.md", r"(?s)^---\nsection: true\n---\n\n# Measured\n.*\n## .*\n\*\*[^\n]*\*\*\n\n{\.measured}\n\| Strategy"),
                ("02-global-atomics/the-strategy.md", r"(?s):sync-group: api\n\n::::{tab-item} OpenCL\n:sync: opencl\n\n```cpp\n// A whole OpenCL.*?"
                 r":sync: cuda\n\n```cpp\n// A whole CUDA"),
                # An answer at a page's end is behind its question here.
                (f"{self.LESSON}/predict-then-run.md", "The answers are behind the questions[.]"),
                (f"{self.LESSON}/predict-then-run.md",
                 r'(?s)\*\*5\.(?:(?!\n## ).)*class="predict"(?:(?!\n## ).)*<summary>Answer</summary>\n\nEach work-item still'),
                (f"{self.EXERCISE}/index.md", r'<a href="../../../docs/site/play/lab.html#strategy=03%2Ffive-steps">a task in the lab</a>'),
                ("docs/results/index.md", r"\n\| \[NVIDIA H100 80GB HBM3 \(h100\)\]\(h100.md\) \| CUDA \| -( \| \d\d?(\.\d+)?){4} \| 1 GiB \| 2026-"),
                ("_extra/docs/site/play/lab.html", 'href="../../../02-global-atomics/index.html"')):
            with self.subTest(page=page, pattern=pattern):
                self.assertRegex(self.page(page), pattern)

    def test_the_repository_says_where_the_site_is_published(self):
        with tempfile.TemporaryDirectory() as folder:
            settings = pathlib.Path(folder, "conf.py")
            settings.write_text('html_baseurl = "https://example.org/h/"  # here\n', encoding="utf-8")
            words = generate.published(None, settings)[0]
            self.assertTrue(words.startswith("**[Try it now](https://example.org/h/docs/site/play/lab.html#run=1)** in your browser"), words)
            settings.write_text('html_baseurl = ""\n', encoding="utf-8")
            self.assertIn("published nowhere yet", " ".join(generate.published(None, settings)))


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
        read_on = self.read_on()
        self.assertEqual(list(dict.fromkeys(page.parent.name for page in read_on)), sorted(page.parent.name for page in ROOT.glob("0*/README.md")))
        self.assertEqual([page.stem for page in read_on[:2]] + [read_on[-1].stem], ["index", "what-you-will-learn", "answers"])
        self.assertIn('<span class="kt">__kernel</span>', (self.site / "03-local-atomics" / "the-strategy.html").read_text(encoding="utf-8"))
        search = (self.site / "searchindex.js").read_text(encoding="utf-8")
        for title, is_found in (("Chapter 02: global atomics", True), ("common/report/schema.json", False)):
            self.assertEqual(f'"{title}"' in search.partition('"titles":')[2], is_found, title)

    def read_on(self):
        """The chapters' pages, as one goes on from the first one."""
        page, found = self.site / "index.html", []
        while len(found) < 99 and (following := re.search(r'class="next-page" href="([^"]+)"', page.read_text(encoding="utf-8"))):
            page = (page.parent / following.group(1)).resolve()
            found.append(page)
        return found


if __name__ == "__main__":
    unittest.main(defaultTest="Build" if BUILT else "Staged")
