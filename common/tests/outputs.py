"""What programs write, held against what the documents promise: --json against common/report/schema.json, and of a
chapter's program also --plot, a PNG of a plausible size, and --counts, as docs/command-line.md has them."""

import json
import pathlib
import re

try:
    import jsonschema
except ImportError:
    jsonschema = None

SCHEMA = pathlib.Path(__file__).resolve().parent.parent / "report" / "schema.json"
PIXELS = 4096
FILES = {"--counts": "out.csv", "--json": "out.json", "--plot": "out.png"}


class Wrong(Exception):
    """What is wrong with the files, in a line."""


def expect(condition, what):
    if not condition:
        raise Wrong(what)


def document_of(path, definition):
    """The JSON in the file, which is what the schema defines."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Wrong(f"not JSON: {error}") from None
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator({**schema, "$ref": f"#/$defs/{definition}"})
    error = jsonschema.exceptions.best_match(validator.iter_errors(document))
    if error:
        where = ".".join(map(str, error.absolute_path))
        raise Wrong(f"not as common/report/schema.json has it: {where or 'the object'}: {error.message[:300]}")
    return document


def check_result(result, variant, may_skip, emulated):
    """A row of a right run, in which nothing was measured to take percents of; on an emulated device nothing at all."""
    expect(result["variant"] == variant, f"{variant} is called {result['variant']}")
    if result["check"] == "skipped" and may_skip:
        expect(result["reason"] and result["kernel_ms"] is None, f"{variant}: skipped without a reason, or with times")
        return
    expect((result["check"], result["reason"]) == ("match", ""), f"{variant}: {result['check']}: {result['reason']}")
    times = result["kernel_ms"]
    if emulated:
        for time in ("kernel_ms", "clock", "gb_s", "percent_of_ceiling", "speedup_over_serial", "end_to_end_ms"):
            expect(result[time] is None, f"{variant}: a time or speed of an emulated device: {time} is {result[time]}")
        return
    expect(times and times["runs"] == 2, f"{variant}: wrong times: {times}")
    expect(0 < times["min"] <= times["median"] <= times["max"], f"{variant}: wrong times: {times}")
    for rate in ("gb_s", "speedup_over_serial"):
        expect(result[rate] and result[rate] > 0, f"{variant}: wrong value: {rate} is {result[rate]}")
    expect(result["percent_of_ceiling"] is None, f"{variant}: percent of nothing")


def check_run(document, chapter, variants, may_skip, emulated):
    expect(document["chapter"] == chapter, f"wrong value: chapter is {document['chapter']}")
    expect(document["input"]["pixels"] == PIXELS and document["input"]["seed"] == 1, f"wrong value: {document['input']}")
    expect(document["read_ceiling_gb_s"] is None, "a read ceiling, which was not asked for")
    expect(len(document["results"]) == len(variants), f"wrong number of results: {len(document['results'])}")
    for result, variant in zip(document["results"], variants):
        check_result(result, variant, variant in may_skip, emulated)
    expect((document["serial_ms"] is None) == emulated, f"wrong value: serial_ms is {document['serial_ms']}")


def check_counts(path, document):
    """The counts of the random pixels, the same in both files."""
    lines = path.read_text(encoding="utf-8").split("\n")
    expect(lines[0] == "bin,count" and lines[-1] == "" and len(lines) == 258, f"wrong counts: {len(lines)} lines, {lines[0]}")
    counts = []
    for number, line in enumerate(lines[1:-1]):
        match = re.fullmatch(rf"{number},(\d+)", line)
        expect(match, f"wrong counts: bin {number}: {line}")
        counts.append(int(match[1]))
    expect(sum(counts) == PIXELS, f"wrong counts: {sum(counts)} pixels")
    expect(counts == document["counts"], "wrong counts: the JSON has others")


def check_picture(path):
    data = path.read_bytes()
    expect(data[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG")
    expect(2000 < len(data) < 1000000, f"a PNG of {len(data)} bytes")


def check_files(folder, chapter, variants, may_skip, emulated=False):
    """What a chapter's program has written into the folder."""
    found = sorted(path.name for path in folder.iterdir())
    expect(found == sorted(FILES.values()), f"wrong files: {' '.join(found)}")
    document = document_of(folder / "out.json", "run")
    check_run(document, chapter, variants, may_skip, emulated)
    check_counts(folder / "out.csv", document)
    check_picture(folder / "out.png")
