"""Writes each expression of choices.json as a function in C++, for choices.cpp: expressions.py CHOICES INTO"""

import json
import pathlib
import re
import sys


def code_of(words):
    """The expression of a place's members, and of X. Numbers have 64 bits, as members have."""
    named = re.sub(r"[a-z]\w*", lambda name: name[0] if name[0] == "min" else f"place.{name[0]}", words, flags=re.IGNORECASE)
    return re.sub(r"\b\d+\b", r"Number{\g<0>}", named.replace("place.X", "X"))


table = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
becomes = [row["becomes"] for row in table["outcomes"] if "says" in table["parts"][row["part"]]]
words = {words for each in (*becomes, *table["lists"].values()) for some in each if isinstance(some, list) for words in some[1:]}
functions = {each: code_of(each) for each in words}
for part in table["parts"].values():  # what has nothing but words becomes their number
    if "says" not in part:
        functions.update((each, f"Number{{{number}}}") for number, each in enumerate(part["is"]))
lines = [f'{{"{each}", []([[maybe_unused]] const Place& place, [[maybe_unused]] Number X) -> Number {{ return {code}; }}}},' for each, code in sorted(functions.items())]
pathlib.Path(sys.argv[2]).write_text("\n".join(lines) + "\n", encoding="utf-8")
