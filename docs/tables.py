#!/usr/bin/env python3
"""Writes the recorded results into the pages, and checks that pages and results agree.

    docs/tables.py             rewrite the tables
    docs/tables.py --check     change nothing; exit 1 where a page differs or a link leads nowhere

A table stands in a page between these two lines, the file relative to the root of the repository:

    <!-- results: docs/results/NAME/CHAPTER-API-INPUT.json -->
    <!-- end of results -->
"""

import argparse
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = re.compile(r"<!-- results: (\S+) -->\n(.*?)<!-- end of results -->", re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def digits(value):
    """Three significant digits without an exponent; '-' where there is no number."""
    if value is None:
        return "-"
    decimals = max(0, 2 - len(str(int(abs(value)))) + 1) if abs(value) >= 1 else 3
    return f"{value:.{decimals}f}"


def size(pixels):
    """A number of pixels as the command line takes it, where it is a whole number of MiB or GiB."""
    for unit, letter in ((1 << 30, "GiB"), (1 << 20, "MiB")):
        if pixels >= unit and pixels % unit == 0:
            return f"{pixels // unit} {letter}"
    return f"{pixels} pixels"


def table(path):
    run = json.loads(path.read_text())
    where = json.loads((path.parent / "machine.json").read_text())
    copies = run["api"] != "C++"
    titles = ["Strategy", "Time, ms", "GB/s", "% of the read ceiling", "Times faster than `serial`"]
    titles += ["End to end, ms"] if copies else []
    titles += ["Check"]
    lines = [
        f"**{run['api']} on {run['device']}: {run['input']['name']}, {size(run['input']['pixels'])}**",
        "",
        "| " + " | ".join(titles) + " |",
        "|---|" + "--:|" * (len(titles) - 2) + "---|",
    ]
    for row in run["results"]:
        median = row["kernel_ms"]["median"] if row["kernel_ms"] else None
        cells = [f"`{row['variant']}`", digits(median), digits(row["gb_s"])]
        cells += [digits(row["percent_of_ceiling"]), digits(row["speedup_over_serial"])]
        cells += [digits(row["end_to_end_ms"])] if copies else []
        cells += [row["check"]]
        lines.append("| " + " | ".join(cells) + " |")
    host = f"{where['processor']}, family {where['processor_family']}, model {where['processor_model']}"
    lines += [
        "",
        f"Medians, recorded {where['date']}. {run['driver']}; "
        + (f"{where['gpu']}; " if where["gpu"] else "")
        + f"host: {host}, {where['compiler']}; "
        f"read ceiling {digits(run['read_ceiling_gb_s'])} GB/s; "
        f"`serial` on the host took {digits(run['serial_ms'])} ms.",
    ]
    return "\n".join(lines) + "\n"


def pages():
    return sorted(
        page
        for page in [*ROOT.glob("*.md"), *ROOT.glob("0*/**/*.md"), *ROOT.glob("docs/**/*.md"),
                     *ROOT.glob("images/*.md"), *ROOT.glob("common/**/*.md")]
    )


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--check", action="store_true")
    check = arguments.parse_args().check
    wrong = []
    for page in pages():
        name = page.relative_to(ROOT)
        old = page.read_text()

        def written(match):
            source = ROOT / match.group(1)
            if not source.is_file():
                wrong.append(f"{name}: there is no {match.group(1)}")
                return match.group(0)
            return f"<!-- results: {match.group(1)} -->\n{table(source)}<!-- end of results -->"

        new = TABLE.sub(written, old)
        if new != old and check:
            wrong.append(f"{name}: a table differs from its results (docs/tables.py writes it)")
        elif new != old:
            page.write_text(new)
            print(f"wrote {name}")
        for target in LINK.findall(new):
            if "://" not in target and not (page.parent / target).exists():
                wrong.append(f"{name}: the link to {target} leads nowhere")
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
