"""A grade as a table, and as the files that other programs read."""

import json
import pathlib
import re
import sys
import textwrap

import sandbox
from catalogue import ROOT, BadInput

sys.path.append(str(ROOT / "common" / "files"))
import atomic_write  # noqa: E402

WIDTH = 80


def write_atomically(path, text):
    """All of it or nothing. Raises BadInput."""
    try:
        atomic_write.write_atomically(pathlib.Path(path), text)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None


def cell(text):
    """A cell of a spreadsheet, or a name in a line: no formula, and nothing that is not read."""
    text = sandbox.printable(str(text)).replace("\n", " ").replace("\t", " ")[:500]
    text = re.sub(r"([;|]\s*)(?=[=+@-])", r"\1'", text)  # some spreadsheets part cells there
    return f"'{text}" if text.lstrip().startswith(("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")) else text


def wrapped(text, indent=0):
    """Its lines, none of them wider than a terminal. Program text behind four spaces stays as it is."""
    lines = []
    for line in text.splitlines():
        lines += [line[:WIDTH - indent]] if line.startswith("    ") else textwrap.wrap(
            line, WIDTH - indent, break_on_hyphens=False, subsequent_indent=" " * (len(line) - len(line.lstrip()) + 2)) or [""]
    return [f"{' ' * indent}{line}".rstrip() for line in lines]


def not_isolated():
    """What to say first where submissions were not isolated; else ""."""
    if why := sandbox.missing():
        return f"NOT ISOLATED, so a dishonest file may have set its own points: {why}"
    return "" if sandbox.rules() else "Isolated, but all calls of the system are open to submissions: there is no libseccomp"


def cause_first(verdicts):
    return sorted(verdicts, key=lambda verdict: not verdict.found)


def table_of(grade):
    on = f" on {grade.device}" if grade.device else ""
    lines = [*wrapped(not_isolated()), *wrapped(f"{grade.exercise}, {grade.api}{on}, seed {grade.seed}"), ""]
    for verdict in cause_first(grade.verdicts):
        line = f"  {verdict.points:>3} of {verdict.of:>3}  {verdict.criterion:<15} {verdict.words}".rstrip()
        short = len(line) <= WIDTH and "\n" not in line
        lines += [line] if short else [line[:29].rstrip(), *wrapped(verdict.words, 14)]
    if grade.diagnosis:
        lines += ["", *wrapped(grade.diagnosis)]
    return "\n".join([*lines, "", f"  {grade.points:>3} of {grade.of:>3}" if grade.verdicts else f"  {grade.status}"])


def as_json(grade):
    """As Gradescope's autograder takes its results.json; what that does not know stands in `extra_data`."""
    tests = [{"name": v.criterion, "score": v.points, "max_score": v.of, "output": v.words, "output_format": "text",
              "status": "passed" if v.points == v.of else "failed", "visibility": "visible"} for v in cause_first(grade.verdicts)]
    output = "\n\n".join(filter(None, (not_isolated(), grade.status if grade.status != "graded" else "", grade.diagnosis)))
    more = {"exercise": grade.exercise, "api": grade.api, "seed": grade.seed, "device": grade.device, "status": grade.status,
            "isolated": not sandbox.missing(), "of": grade.of}
    return json.dumps({"score": grade.points, "output": output, "output_format": "text", "visibility": "visible", "tests": tests,
                       "extra_data": more}, indent=2) + "\n"
