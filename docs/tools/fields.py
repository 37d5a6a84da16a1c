"""The fields of the JSON objects that the programs write, for generate.py:

    fields: common/report/schema.json run     a row for each field of this definition of the JSON schema
"""

import functools
import json

from recorded import ROOT, NotRecorded


@functools.lru_cache
def definitions(file):
    return json.loads((ROOT / file).read_text(encoding="utf-8"))["$defs"]


def type_of(what, of):
    """The type of a field in words: "string", "number or null"."""
    if "$ref" in what:
        _, _, name, *field = what["$ref"].split("/")
        return type_of(of[name]["properties"][field[1]] if field else of[name], of)
    if "anyOf" in what:
        return " or ".join(type_of(one, of) for one in what["anyOf"])
    if "type" not in what:
        values = what.get("enum", [what.get("const")])
        return "string" if all(isinstance(value, str) for value in values) else "integer"
    types = what["type"]
    return types if isinstance(types, str) else " or ".join(types)


def meaning(what):
    """The description, and before it the values where there are few."""
    values = [value for value in what.get("enum", []) if value is not None]
    if not values:
        return what["description"]
    *others, last = [f"`{json.dumps(value)}`" for value in values]
    return f"{', '.join(others)} or {last}. {what['description']}"


def fields(_, file, name):
    """A row for each field; the fields that are another object's, as they are there, in one row."""
    of = definitions(file)
    if name not in of:
        raise NotRecorded(f"{file} defines no '{name}'")
    rows, same = [], {}
    for field, what in of[name]["properties"].items():
        if "description" in what:
            rows.append(f"| `{field}` | {type_of(what, of)} | {meaning(what)} |")
        else:
            same.setdefault(what["$ref"].split("/")[2], []).append(f"`{field}`")
    rows = [f"| {', '.join(names)} | | As in `{other}`. |" for other, names in same.items()] + rows
    return ["| Field | Type | Meaning |", "|---|---|---|", *rows]


KINDS = {"fields": fields}
