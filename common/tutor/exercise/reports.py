"""A grade as a table, and as the files that other programs read."""

import json
import xml.etree.ElementTree as xml


def table_of(grade):
    on = f" on {grade.device}" if grade.device else ""
    lines = [f"{grade.exercise}, {grade.api}{on}, seed {grade.seed}", ""]
    for verdict in grade.verdicts:
        first, *more = verdict.words.splitlines() or [""]
        lines.append(f"  {verdict.points:>3} of {verdict.of:>3}  {verdict.criterion:<15} {first}".rstrip())
        lines += [f"{'':29} {line}" for line in more]
    if grade.diagnosis:
        lines += ["", grade.diagnosis]
    return "\n".join([*lines, "", f"  {grade.points:>3} of {grade.of:>3}"])


def as_json(grade):
    criteria = [{"criterion": v.criterion, "points": v.points, "of": v.of, "words": v.words} for v in grade.verdicts]
    return json.dumps({"exercise": grade.exercise, "api": grade.api, "seed": grade.seed, "device": grade.device, "points": grade.points,
                       "of": grade.of, "criteria": criteria, "diagnosis": grade.diagnosis}, indent=2) + "\n"


def as_junit(grade):
    suite = xml.Element("testsuite", name=f"{grade.exercise} {grade.api}", tests=str(len(grade.verdicts)),
                        failures=str(sum(v.points < v.of for v in grade.verdicts)))
    for verdict in grade.verdicts:
        case = xml.SubElement(suite, "testcase", classname=grade.exercise, name=verdict.criterion)
        if verdict.points < verdict.of:
            xml.SubElement(case, "failure", message=f"{verdict.points} of {verdict.of} points").text = verdict.words
    return xml.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def as_gradescope(grade):
    tests = [{"name": v.criterion, "score": v.points, "max_score": v.of, "output": v.words} for v in grade.verdicts]
    return json.dumps({"output": grade.diagnosis, "tests": tests}, indent=2) + "\n"
