"""pages.py: everything about links, headings and lengths that it must notice."""

import unittest

import repository

HEADINGS = ["What you will learn", "The idea in one picture", "The strategy", "The race conditions",
            "Where the data lives", "Predict, then run", "Measured", "What went wrong in published code",
            "Exercises", "Check yourself", "Sources"]
LESSON = "02-global-atomics/README.md"


def lesson(headings=HEADINGS, words=2000):
    """A lesson of that many words, those of the title and of the headings among them."""
    here = 2 + sum(len(heading.split()) for heading in headings)
    sections = "".join(f"## {heading}\n\n" for heading in headings)
    return f"# Chapter 02\n\n{sections}{'word ' * (words - here)}\n"


class Links(repository.RepositoryTest):
    def setUp(self):
        super().setUp()
        self.write("docs/there.md", "# The top\n\n## One, two\n\n## Again\n\n## Again\n\n```sh\n# no heading\n```\n")

    def test_links_that_lead_nowhere(self):
        for dead in ("[a](docs/nosuch.md)", "[a](docs/nosuch.md#part)", "![a](docs/nosuch.svg)",
                     '![a](docs/nosuch.svg "title")', '<img alt="a" src="docs/nosuch.svg">'):
            with self.subTest(dead=dead):
                self.write("README.md", f"[b](docs/there.md) {dead} [c](https://example.org/nosuch)\n")
                self.fail_with("README.md: the link to docs/nosuch.", "pages.py")

    def test_parts_that_are_not_there(self):
        for part in ("docs/there.md#nosuch", "docs/there.md#again-2", "docs/there.md#no-heading", "#the-top"):
            with self.subTest(part=part):
                self.write("README.md", f"# A\n\n[b]({part})\n")
                self.fail_with(f"README.md: the link to {part} names no heading", "pages.py")


class Lessons(repository.RepositoryTest):
    def test_the_headings(self):
        for headings, line in (([*HEADINGS[:4], *HEADINGS[5:]], "'Predict, then run' stands where 'Where the data lives' should"),
                               ([*HEADINGS[:8], "Sources", "Exercises"], "'Sources' stands where 'Exercises' should"),
                               ([*HEADINGS, "More"], "'More' stands where 'nothing' should")):
            self.write(LESSON, lesson(headings))
            self.fail_with(f"{LESSON}: the headings of a lesson: {line}", "pages.py")

    def test_the_length(self):
        self.write("02-global-atomics/tests/README.md", "Short.\n")  # other pages may be
        for page, what, text, fewest, most in ((LESSON, "lesson", lesson, 1500, 2500),
                                               ("05-launch-tuning/tune/README.md", "workshop", lambda words: "word " * words, 400, 900)):
            for words in (fewest, most):
                self.write(page, text(words=words))
                self.succeed("pages.py")
            for words in (fewest - 1, most + 1):
                self.write(page, text(words=words))
                self.fail_with(f"{page}: a {what} has {fewest} to {most} words, this one {words}", "pages.py")
            self.write(page, text(words=most))

    def test_code_and_tables_are_no_words(self):
        no_prose = ("```c\nint a b c;\n```\n", "| a | b |\n|---|---|\n", "![a picture of that](p.svg)\n",
                    "<!-- results: docs/results/x.json a b 1G -->\nmany words here\n<!-- end -->\n")
        self.write("02-global-atomics/p.svg", "")
        self.write(LESSON, lesson(words=1499) + "\n".join(no_prose))
        self.fail_with("this one 1499", "pages.py")


if __name__ == "__main__":
    unittest.main()
