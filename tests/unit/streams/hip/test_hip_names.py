#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_hip_names.py FOLDER...: no value of an enum of HIP's goes by a marker of its section, a bound or what is
unused (streams/hip/functions.def) where the headers in one of the folders (with hip/hip_runtime_api.h) have
another name for it. Folders without headers are passed over."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
WORDS = ("Begin", "End", "Min", "Max", "First", "Last", "Count", "Num", "Force", r"Unused\d*")
MARKER = re.compile(r"(%s|_(%s))$" % ("|".join(WORDS), "|".join(
    word.upper().replace("\\D", "\\d") for word in WORDS)))

# Those that were wrong.
KNOWN = {("hipDeviceAttribute_t", 0): "hipDeviceAttributeEccEnabled",
         ("hipDeviceAttribute_t", 10000): "hipDeviceAttributeClockInstructionRate",
         ("hipDeviceAttribute_t", 64): "hipDeviceAttributeName",
         ("hipDeviceAttribute_t", 9999): "hipDeviceAttributeCudaCompatibleEnd"}


def table():
    found, name = {}, None
    with open(os.path.join(HERE, "../../../../streams/hip/functions.def"), encoding="utf-8") as file:
        for line in file:
            begin = re.match(r"CALL_ENUMERATION\((\w+),", line)
            value = re.match(r'\t"(-?\d+)=([\w|]+);?"', line)
            name = begin[1] if begin else name
            if value:
                found[name, int(value[1])] = value[2].split("|")
    return found


def enumerators(folder):
    """Names of HIP's enumerators, with their values: asked of the compiler."""
    header = os.path.join(folder, "hip", "hip_runtime_api.h")
    if not os.path.exists(header):
        return {}
    run = subprocess.run(["cc", "-E", "-P", "-D__HIP_PLATFORM_AMD__", "-I", folder, header],
                         stdout=subprocess.PIPE, text=True, check=True)
    names = sorted(set(re.findall(r"\b(?:hip|HIP_)\w+(?=\s*(?:=|,|\}))", " ".join(
        re.findall(r"enum\s*\w*\s*\{.*?\}", run.stdout, re.S)))))
    source = "#include <hip/hip_runtime_api.h>\n#include <stdio.h>\nint main(void) {\n%s}\n" % "".join(
        'printf("%s %%lld\\n", (long long)%s);\n' % (n, n) for n in names)
    program = os.path.join(os.environ.get("TMPDIR", "/tmp"), "test_hip_names.%d" % os.getpid())
    try:
        subprocess.run(["cc", "-w", "-D__HIP_PLATFORM_AMD__", "-I", folder, "-x", "c", "-o", program,
                        "-"], input=source, text=True, check=True)
        said = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout
    finally:
        if os.path.exists(program):
            os.unlink(program)
    return {name: int(value) for name, value in (line.split() for line in said.splitlines())}


def main():
    names, problems = table(), []
    for key, name in KNOWN.items():
        if names.get(key) != [name]:
            problems.append("%s %d is %s, not %s" % (key + (names.get(key), name)))
    for folder in sys.argv[1:]:
        values = enumerators(folder)
        print("%s: %d enumerators" % (folder, len(values)))
        for (enum, value), used in names.items():
            # an enum's names begin alike: what another enum calls that number is not asked
            for marker in (n for n in used if MARKER.search(n)):
                stem = os.path.commonprefix([n for (e, _), all_ in names.items() if e == enum
                                             for n in all_])
                others = [n for n, v in values.items() if v == value and n != marker and
                          len(stem) > 5 and n.startswith(stem) and not MARKER.search(n)]
                if others or len(used) > 1:
                    problems.append("%s %d is %s, and %s" % (enum, value, used, others))
    sys.exit("\n".join("test_hip_names: %s" % problem for problem in problems) or 0)


if __name__ == "__main__":
    main()
