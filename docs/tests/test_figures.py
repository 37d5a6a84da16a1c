"""figures.py: what it draws can be read, and --check notices a figure that differs."""

import re
import unittest
import xml.etree.ElementTree

import repository

FIGURES = "docs/figures"
SVG = "{http://www.w3.org/2000/svg}"


class Figures(repository.RepositoryTest):
    def setUp(self):
        super().setUp()
        self.succeed("figures.py")
        self.drawn = sorted((self.root / FIGURES).iterdir())

    def test_draws_the_same_again(self):
        self.assertEqual(len(self.drawn), 15)
        self.assertEqual(self.succeed("figures.py").stdout, "")
        self.succeed("figures.py", "--check")

    def test_can_be_read(self):
        for path in self.drawn:
            with self.subTest(path.name):
                tree = xml.etree.ElementTree.parse(path).getroot()
                self.assertEqual(tree.get("width"), "800")
                self.assertTrue(tree.findtext(f"{SVG}title"))
                self.assertTrue(tree.findtext(f"{SVG}desc"))
                # A class that the style sheet does not know draws in black on any page.
                known = set(re.findall(r"\.([a-z-]+) ", tree.findtext(f"{SVG}style")))
                for part in tree.iter():
                    self.assertLessEqual(set(part.get("class", "").split()), known)
                    # Letters of 11 pixels are too small in a page.
                    self.assertNotIn("small", part.get("class", "").split())
                for text in tree.iter(f"{SVG}text"):
                    self.assertLess(float(text.get("y")), int(tree.get("height")))

    def test_a_changed_or_missing_figure_is_noticed(self):
        self.write(f"{FIGURES}/banks.svg", self.read(f"{FIGURES}/banks.svg").replace("bank", "tank"))
        (self.root / FIGURES / "five-steps.svg").unlink()
        self.fail_with("docs/figures/banks.svg: is not what docs/tools/figures.py draws", "figures.py", "--check")
        self.fail_with("docs/figures/five-steps.svg: is not what", "figures.py", "--check")


if __name__ == "__main__":
    unittest.main()
