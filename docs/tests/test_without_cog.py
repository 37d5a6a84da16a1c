"""excerpts.py --check where there is no cog: it has to see the same."""

import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import excerpts  # noqa: E402, from the folder above


class WithoutCog(unittest.TestCase):
    """What --check does where there is no cog."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.addCleanup(sys.modules.pop, "cog", None)

    def page(self, source):
        (self.folder / "cpu.cpp").write_text(source)
        page = self.folder / "README.md"
        page.write_text('A.\n<!-- [[[cog excerpt("cpu.cpp", "one") ]]] -->\n```cpp\nint one() {\n    return 1;\n}\n```\n'
                        "<!-- [[[end]]] -->\nB.\n")
        return page

    def test_gives_the_pages_of_this_project(self):
        self.assertGreater(len(excerpts.pages()), 3)
        for page in excerpts.pages():
            self.assertEqual(excerpts.without_cog(page), page.read_text(encoding="utf-8"))

    def test_notices_a_changed_source(self):
        page = self.page("int one() {\n    return 1;\n}\n")
        self.assertEqual(excerpts.without_cog(page), page.read_text())
        page = self.page("int one() {\n    return 2;\n}\n")
        self.assertIn("return 2;", excerpts.without_cog(page))

    def test_refuses_what_makes_no_sense(self):
        page = self.page("int two() {\n}\n")
        with self.assertRaises(excerpts.NoExcerpt):
            excerpts.without_cog(page)
        page.write_text("<!-- [[[cog nosuch() ]]] -->\n<!-- [[[end]]] -->\n")
        with self.assertRaises(excerpts.NoExcerpt):
            excerpts.without_cog(page)


if __name__ == "__main__":
    unittest.main()
