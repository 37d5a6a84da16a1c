"""All cells of the notebook run, on a small picture: test_notebook.py [--build FOLDER]

Skipped where there is no Jupyter (nbclient, ipykernel, matplotlib) or the programs are not built. It runs in a copy of the
repository, which the notebook may write to.
"""

import os
import pathlib
import shutil
import tempfile
import unittest

import repository

ROOT = repository.ROOT
PROGRAMS = ("01-cpu/cpu", "02-global-atomics/opencl", "03-local-atomics/opencl", "04-per-thread-bins/opencl")
BUILD = repository.folder_option("--build") or ROOT / "build"


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
            copy, scratch = pathlib.Path(folder, "copy"), pathlib.Path(folder, "scratch")
            shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("build*", ".git"))
            scratch.mkdir()
            os.environ.update(HISTOGRAM_BUILD=str(BUILD), HISTOGRAM_PIXELS="256K", HISTOGRAM_ARGUMENTS="--repeat 3", PYTHONDONTWRITEBYTECODE="1",
                              TMPDIR=str(scratch))
            before = sorted(copy.rglob("*"))
            notebook = nbformat.read(ROOT / "docs" / "notebook.ipynb", as_version=4)
            client = nbclient.NotebookClient(notebook, timeout=100, kernel_name="python3", resources={"metadata": {"path": str(copy / "docs")}})
            client.execute()
            self.assertEqual(sorted(copy.rglob("*")), before)
            self.assertEqual([path.name for path in scratch.iterdir() if "pocl" not in path.name.lower()], [])
        self.look_at([cell.outputs for cell in notebook.cells if cell.cell_type == "code"])

    def look_at(self, outputs):
        """What came out of the cells, first to last: little text, the mistake's name, and pictures."""
        text = ["".join(output.get("text", "") for output in each) for each in outputs]
        self.assertEqual(text[0], "")
        self.assertEqual(text[1], "Right: all 256 bins match.\n")
        self.assertIn("Wrong: ", text[2])
        self.assertIn("(wrong-stride)", text[2])
        self.assertLess(sum(each.count("\n") for each in text), 10)
        for plot in outputs[1:]:
            self.assertTrue(any("image/png" in output.get("data", {}) for output in plot))


if __name__ == "__main__":
    unittest.main()
