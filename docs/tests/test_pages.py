"""pages.py: what it must notice in a text. That the real pages pass is a test of its own (docs.links-and-headings)."""

import pathlib
import tempfile
import unittest

import repository
from pages import HEADINGS, dead_links, lesson_faults, wordless

PAGE = repository.ROOT / "docs" / "README.md"


class Faults(unittest.TestCase):
    def test_links_and_parts_that_are_not_there(self):
        for dead in ("[a](nosuch.md)", "[a](nosuch.md#part)", "![a](nosuch.svg)", '![a](nosuch.svg "title")', '<img alt="a" src="nosuch.svg">',
                     "[a](results/README.md#nosuch)", "## A\n\n## A\n\n[a](#a-2)", "```sh\n# no heading\n```\n\n[a](#no-heading)", "[a](../..)"):
            with self.subTest(dead):
                self.assertEqual(len(dead_links(PAGE, f"[b](results/README.md) \n{dead}\n[c](https://example.org/nosuch)")), 1)

    def test_a_built_site(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.html")
            for link, count in (("page.html?q#b", 0), ("page.html#state=1", 0), ("https://x/", 0), ("#c", 1), ("q.svg", 1), (".", 1), (__file__, 1)):
                text = f'<h1 id="b">A</h1><img src="{link}">'
                page.write_text(text)
                self.assertEqual(len(dead_links(page, text, page.parent)), count, link)

    def test_tables_and_pictures_say_what_they_show(self):
        for text, count in (("| | b |\n|---|--:|\n", 1), ("| a | |\n|---|---|\n", 1), ("| a | b |\n|---|---|\n| | c |\n", 0),
                            ("![](figures/law.svg)", 1)):
            self.assertEqual(len(wordless(text)), count, text)

    def test_headings_of_a_lesson(self):
        for headings, line in ((HEADINGS[1:], "'The idea in one picture' stands where 'What you will learn' should"),
                               ([*HEADINGS, "More"], "'More' stands where 'nothing' should"),
                               ([*HEADINGS, "Answers", "More"], "'Answers' stands where 'nothing' should")):
            self.assertIn(line, lesson_faults("".join(f"## {heading}\n\n" for heading in headings))[0])

    def test_an_answer_is_predicted(self):
        here = "\n## Predict, then run\n\n**1.** So?\n\n<details><summary>Answer</summary>\nYes.\n{}</details>\n"
        at_end = here.replace("<details><summary>Answer<", "## Answers\n\n<details><summary>Answer: predict 1<")
        for answer in (here, at_end):
            for between, asks in (("", False), ("<!-- predict: choice =Yes No -->\n<!-- end -->\n", True)):
                self.assertEqual("an answer has nothing to predict" not in lesson_faults(answer.format(between)), asks)
        self.assertIn("the questions 1 have the answers 2", lesson_faults(at_end.replace("predict 1", "predict 2")))


if __name__ == "__main__":
    unittest.main()
