"""The questions that a chapter's page asks under "Predict, then run", for `./tutorial ask`, and what came of a prediction."""

import re
import shlex
from typing import NamedTuple, Optional

from catalogue import ROOT, BadInput


class Prediction(NamedTuple):
    key: str  # what the site calls it
    choices: list  # or none, where it is a number
    right: Optional[int]
    unit: str
    measured: Optional[float]
    where: str
    asked: str = ""  # where it is another question than the page's

    def field(self):
        if not self.choices:
            return f"{self.asked}Your prediction, {self.unit}, on {self.where}: "
        words = "".join(f"  {number}  {choice}\n" for number, choice in enumerate(self.choices, 1))
        return self.asked + "\n" * bool(self.asked) + words + "Your prediction, a number: "

    def of(self, text):
        """The prediction that somebody has typed, as the site keeps it; None where it is none."""
        try:
            value = float(text) if not self.choices else int(text) - 1
        except ValueError:
            return None
        return value if 0 <= value < (len(self.choices) or float("inf")) else None

    def outcome(self, value):
        if self.choices:
            return "That is it." if value == self.right else f"It is: {self.choices[self.right]}."
        times = max(value, self.measured) / min(value, self.measured) if value and self.measured else float("inf")
        return f"Yours is {value:g}, recorded were {self.measured:g} {self.unit}: " + ("about that." if times < 1.1 else f"{times:.2g} times off.")


class Question(NamedTuple):
    text: str
    commands: list
    predictions: list
    answer: str


def plain(text):
    """As a terminal shows it: without comments, folds and the addresses of links."""
    text = re.sub(r"<!--.*?-->\n?|</?details>|<summary>.*?</summary>", "", text, flags=re.DOTALL)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)).strip()


def predictions_of(text, folder):
    """Those of a page, by where their comments stand."""
    found = {}
    for number, comment in enumerate(re.finditer(r"^<!-- predict: (.*?) -->\n(.*?)<!-- end -->", text, re.MULTILINE | re.DOTALL), 1):
        kind, *words = shlex.split(comment[1])
        asked = next((word.partition("=")[2] + " " for word in words if word.startswith("ask=")), "")
        words = [word for word in words if not word.startswith(("ask=", "ours="))]
        measured = re.search(r"Measured on (.*): ([\d.]+) (.*)\.\n", comment[2])
        right = next((place for place, word in enumerate(words) if word.startswith("=")), None) if kind == "choice" else None
        found[comment.start()] = Prediction(f"prediction {folder} {number}", [word.lstrip("=") for word in words] if kind == "choice" else [], right,
                                            *((measured[3], float(measured[2]), measured[1]) if measured else ("", None, "")), asked)
    return found


def of_chapter(text):
    """The questions of chapter 03 or 03-local-atomics. Raises BadInput."""
    pages = [page for page in ROOT.glob("0[1-9]-*/README.md") if text in (page.parent.name, page.parent.name[:2])]
    if not pages:
        raise BadInput(f"ask takes a chapter, such as 03, not '{text}'")
    page = pages[0].read_text(encoding="utf-8")
    told = predictions_of(page, pages[0].parent.name)
    begin = page.find("\n## Predict, then run\n") + 1
    end = page.find("\n## ", begin) + 1
    questions = []
    for asked in re.compile(r"^\*\*(\d+)\.(.*?)(?=^\*\*\d+\.|\Z)", re.MULTILINE | re.DOTALL).finditer(page, begin, end):
        answer = (re.search(rf"<summary>Answer: predict {asked[1]}</summary>.*?</details>", page, re.DOTALL)
                  or re.compile(r"<summary>Answer</summary>.*?</details>", re.DOTALL).search(page, *asked.span()))
        if answer:
            lines = "".join(re.findall(r"^```sh\n(.*?)^```$", asked[0], re.MULTILINE | re.DOTALL)).replace("\\\n", " ").splitlines()
            text = asked[0].partition("<details>")[0].partition("```sh")[0]
            questions.append(Question(plain(text).replace("**", ""), [re.sub(r" +", " ", line.partition(" #")[0]).strip() for line in lines],
                                      [told[place] for place in sorted(told) if answer.start() < place < answer.end()], plain(answer[0])))
    if not questions:
        raise BadInput(f"the page of {pages[0].parent.name} has no questions with answers")
    return questions
