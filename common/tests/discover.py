"""Writes the tests of a program as CTest reads them, once it is built: it says itself which strategies it has.

    discover.py OUTPUT PYTHON BUILD NAME LABELS PROGRAM [STRATEGY_THAT_MAY_SKIP ...]
"""

import json
import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).with_name("test_program.py")
SELF_TEST = pathlib.Path(__file__).with_name("self_test.py")


def main(output, python, build, name, labels, program, *may_skip):
    about = json.loads(subprocess.run([program, "--describe"], check=True, capture_output=True, text=True).stdout)
    noted = pathlib.Path(build, "CMakeCache.txt").read_text(encoding="utf-8")
    prefix = name.replace("/", ".")
    # What a search has found on this machine must not decide what is tested.
    environment = {"ENVIRONMENT": f"XDG_CACHE_HOME={pathlib.Path(output).parent}/nothing-kept"}
    lines = []

    def add(test, command, label=labels, **properties):
        words = " ".join(f"[==[{word}]==]" for word in command)
        said = " ".join(f"{key} [==[{value}]==]" for key, value in {"LABELS": label, **environment, **properties}.items())
        lines.append(f"add_test([==[{prefix}.{test}]==] {words})\nset_tests_properties([==[{prefix}.{test}]==] PROPERTIES {said})\n")

    def add_python(test, classes, *options, **properties):
        skip = [] if not may_skip else ["--may-skip", *may_skip, "--"]
        add(test, [python, "-B", SCRIPT, "--build", build, "--program", name, *options, *skip, *classes], SKIP_RETURN_CODE=77, **properties)

    required = "TUTORIAL_OPENCL:STRING=REQUIRED\n" in noted and about["api"] == "OpenCL"
    for variant in about["variants"]:
        if variant["broken_on_purpose"]:
            continue
        skips = {} if required else {"SKIP_RETURN_CODE": 77}
        only_some = ["--may-skip"] if variant["name"] in may_skip else []
        # What depends on the order of threads is to show: not the usual one.
        order = {"ENVIRONMENT": f"{environment['ENVIRONMENT']};CUDA_ON_CPU_ORDER=7"} if about["emulated"] else {}
        add(variant["name"], [python, "-B", SELF_TEST, program, "--variant", variant["name"], *only_some], **skips, **order)
        if about["api"] == "C++" or variant["name"] in may_skip or about["emulated"]:
            continue
        detector = "races" if about["api"] == "OpenCL" else "sanitizer"
        add_python(f"{variant['name']}.{detector}", ["Races"], "--variant", variant["name"], label=f"{labels};{detector}", TIMEOUT=600)
    for test in ("All", "Refusals", "Outputs", "Devices"):
        if test != "Devices" or (about["api"] != "C++" and not about["emulated"]):
            add_python(test.lower(), [test])
    if about["emulated"]:
        if "TUTORIAL_SANITIZE:STRING=\n" in noted:
            add_python("races", ["Races"], label=f"{labels};races;sanitizer", TIMEOUT=600)
    elif about["api"] == "CUDA":
        add_python("large", ["Large"], label=f"{labels};large", RUN_SERIAL="ON", TIMEOUT=600)
    if about["api"] != "C++" and not about["emulated"] and not required:
        # Asked whenever CTest starts: without a device one test says why, in place of all that would.
        lines.insert(0, f"execute_process(COMMAND [==[{program}]==] --list-devices OUTPUT_VARIABLE devices ERROR_QUIET)\nif(devices)\n")
        lines.append("else()\n")
        add("no-device", [program, "--random", "1", "--no-ceiling"], SKIP_RETURN_CODE=77)
        lines.append("endif()\n")
    pathlib.Path(output).write_text("".join(lines), encoding="utf-8")


main(*sys.argv[1:])
