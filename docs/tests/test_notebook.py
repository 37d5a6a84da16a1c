"""The notebook: that it is kept without results, and (--build FOLDER) that all its cells run, on a small picture.

The second is skipped where there is no Jupyter (nbclient, ipykernel, matplotlib) or the programs are not built. It runs in a
copy of the repository, which the notebook may write to.
"""

import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
PROGRAMS = ("01-cpu/cpu", "02-global-atomics/opencl", "03-local-atomics/opencl", "04-per-thread-bins/opencl")
BUILD = None


class Kept(unittest.TestCase):
    def test_it_has_no_results(self):
        notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
        self.assertEqual(set(notebook["metadata"]), {"kernelspec", "language_info"})
        for cell in notebook["cells"]:
            self.assertEqual(cell["metadata"], {}, cell["id"])
            if cell["cell_type"] == "code":
                self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None), cell["id"])

    def test_it_names_what_there_is(self):
        """Links of the texts, and the options that it gives to programs."""
        text = NOTEBOOK.read_text(encoding="utf-8")
        self.assertIn("(../01-cpu/README.md)", text)
        options = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
        for option in ("--kernels", "--tile", "--random", "--contention", "--variant", "--no-ceiling", "--json"):
            self.assertIn(f'\\"{option}\\"', text)
            self.assertIn(f"`{option}", options)


class Executed(unittest.TestCase):
    def test_all_cells(self):
        try:
            import ipykernel  # noqa: F401
            import matplotlib  # noqa: F401
            import nbclient
            import nbformat
        except ImportError as error:
            self.skipTest(f"no Jupyter, {error} (package python3-nbclient, python3-ipykernel, python3-matplotlib)")
        for program in PROGRAMS:
            if not (BUILD / program).is_file():
                self.skipTest(f"{program} is not built")
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "copy")
            shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("build*", ".git"))
            os.environ.update(HISTOGRAM_BUILD=str(BUILD), HISTOGRAM_PIXELS="256K", HISTOGRAM_ARGUMENTS="--repeat 3", PYTHONDONTWRITEBYTECODE="1")
            notebook = nbformat.read(NOTEBOOK, as_version=4)
            client = nbclient.NotebookClient(notebook, timeout=100, kernel_name="python3", resources={"metadata": {"path": str(copy / "docs")}})
            client.execute()
            self.assertTrue((copy / "my-mistake.cl").is_file())
            self.assertFalse((ROOT / "my-mistake.cl").exists())
        self.look_at([cell.outputs for cell in notebook.cells if cell.cell_type == "code"])

    def look_at(self, outputs):
        """What came out of the cells, first to last."""
        text = ["".join(output.get("text", "") for output in each) for each in outputs]
        for strategy in ("serial", "global", "local", "lane-bins"):
            self.assertIn(strategy, text[2])
        for plot in (outputs[3], outputs[4]):
            self.assertTrue(any("image/png" in output.get("data", {}) for output in plot))
        self.assertRegex(text[6], r"global .*match")
        self.assertNotIn("MISMATCH", text[6].upper())
        self.assertIn("MISMATCH", text[7].upper())
        self.assertIn("(wrong-stride)", text[7])


if __name__ == "__main__":
    if "--build" in sys.argv:
        place = sys.argv.index("--build")
        BUILD = pathlib.Path(sys.argv[place + 1]).resolve()
        del sys.argv[place : place + 2]
        unittest.main(defaultTest="Executed")
    unittest.main(defaultTest="Kept")
