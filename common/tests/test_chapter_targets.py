"""Whether `./tutorial test 03` builds all that the tests of chapter 03 run or load. With Ninja, in this build folder:

    test_chapter_targets.py BUILD CTEST FOLDER
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys


def said(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(build, ctest, folder):
    if not shutil.which("ninja") or not pathlib.Path(build, "build.ninja").is_file():
        print("skipped: not a build folder of Ninja (package ninja-build)")
        return 0
    # From a folder of its own: CTest empties the log of the folder where it is called.
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    pathlib.Path(folder, "CTestTestfile.cmake").write_text(f'subdirs("{build}")\n', encoding="utf-8")
    tests = json.loads(said(ctest, "--test-dir", folder, "--show-only=json-v1"))["tests"]
    targets = said("ninja", "-C", build, "-t", "targets", "all")
    chapters = sorted(set(re.findall(r"^chapter-([0-9]+): phony", targets, re.MULTILINE)))
    if not chapters:
        print("skipped: there are no chapters here")
        return 0
    linked = set(re.findall(r"^(.*): \S*_LINKER_", targets, re.MULTILINE))
    checked = 0
    lacking = {}
    for chapter in chapters:
        commands = said("ninja", "-C", build, "-t", "commands", f"chapter-{chapter}")
        built = set(re.findall(r" -o (\S+)", commands))
        for test in tests:
            properties = {each["name"]: each["value"] for each in test["properties"]}
            if f"chapter-{chapter}" not in properties.get("LABELS", []) or "broken" in properties["LABELS"]:
                continue
            named = " ".join([*test.get("command", []), *properties.get("ENVIRONMENT", [])])
            paths = set(re.findall(re.escape(build) + r"/([^\s\"';|&]+)", named))
            for path in (each for each in linked if each in paths or ".so" in each and os.path.dirname(each) in paths):
                checked += 1
                if path not in built:
                    lacking.setdefault(f"chapter-{chapter} does not build {path}", test["name"])
    print(f"{checked} programs and libraries in the tests' command lines")
    for what, test in lacking.items():
        print(f"{what}, which {test} needs")
    return 1 if lacking or not checked else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
