"""Writes what choices.json says as tables in C++, for choices.cpp: outcomes.py CHOICES INTO"""

import json
import pathlib
import re
import sys

table = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
places = [(place, group) for group, its in table["places"].items() for place in its]
parts = list(table["parts"])


def code_of(words, part):
    """The expression of a place's members, and of X, in 64 bits as these are. Mere words are known by their number."""
    if "says" not in part:
        return str(list(part["is"]).index(words))
    named = re.sub(r"[a-z]\w*", lambda name: name[0] if name[0] == "min" else f"place.{name[0]}", words)
    return re.sub(r"\b\d+\b", r"Number{\g<0>}", named)


def listed(becomes):
    """(bits, words) of each, those of lists among them."""
    for each in becomes:
        yield from listed(table["lists"][each]) if isinstance(each, str) else ((each[0], words) for words in each[1:])


def text(words):
    return json.dumps(words, ensure_ascii=False)


lines = ["constexpr const char* kPlaces[][2] = {"]
lines += [f"{{{text(place)}, {text(table['places'][group][place])}}}," for place, group in places]
lines += ["};", "constexpr const char* kNumbers[][3] = {"]
lines += [f"{{{text(word)}, {text(opencl)}, {text(cuda)}}}," for word, (_, opencl, cuda) in table["numbers"].items()]
lines += ["};", "constexpr const char* kCalled[][3] = {"]
lines += [f"{{{text(place)}, {text(what)}, {text(name)}}}," for place, its in table["called"].items() for what, name in its.items()]
lines += ["};", "const Outcome kOutcomes[] = {"]
for row in table["outcomes"]:
    part, at = table["parts"][row["part"]], row["at"]
    is_one = [at in ("any", group) or (isinstance(at, list) and place in at) for place, group in places]
    bits = sum(1 << number for number, its in enumerate(is_one) if its)
    for unusual, words in listed(row["becomes"]):
        sentence = part.get("is", {}).get(words, part.get("says", ""))
        lines += [f"{{Part{{{parts.index(row['part'])}}}, {bits}U, {text(row['name'])}, {text(words)}, {text(sentence)}, "
                  "[]([[maybe_unused]] const ItemState& place, [[maybe_unused]] Number X) -> Number { "
                  f"return {code_of(words, part)}; }}, {unusual}}},"]
pathlib.Path(sys.argv[2]).write_text("\n".join([*lines, "};", ""]), encoding="utf-8")
