#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each option, verb and setting that `rtl` prints is in its man page, and the reverse."""

import json
import os
import re
import subprocess
import sys

RTL, MAN = os.environ["RTL"], os.environ["RTL_TEST_MAN"]


def output(*arguments):
    return subprocess.run([RTL, *arguments], check=True, capture_output=True, text=True).stdout


def page(name):
    with open(os.path.join(MAN, name), encoding="utf-8") as file:
        text = file.read()
    # Without fonts and escapes: what a reader sees, one request a line.
    text = re.sub(r"\\f.", "", text).replace("\\-", "-").replace("\\c", "")
    return re.sub(r'^\.[BI]?[BIR] |"', "", text, flags=re.M)


def options_of(text):
    return set(re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", text, flags=re.I))


def check(page_name, documented, printed):
    faults = [f"{page_name} does not document {x}" for x in sorted(printed - documented)]
    return faults + [f"{page_name} documents {x}, which there is not"
                     for x in sorted(documented - printed)]


def option_section(text):
    return text.split(".SH OPTIONS")[1].split(".SH ")[0]


def main():
    faults = []
    text = output("--help")
    verbs = re.findall(r"^  ([a-z][a-z-]+) ", text.split("Options:")[0], flags=re.M) + ["completion"]
    faults += [f"rtl.1 does not name rtl-{v}" for v in verbs if f"rtl-{v} (1)" not in page("rtl.1")]
    faults += check("rtl.1", options_of(option_section(page("rtl.1"))) ,
                    options_of(text.split("Options:")[1].split("`rtl")[0]))
    for verb in verbs:
        name = f"rtl-{verb}.1"
        # Options stand at the beginning of their lines, in the help and after .TP in the page.
        printed = "\n".join(re.findall(r"^  (?:  )?(?:  )?(-.*?)(?:  |$)",
                                       output(verb, "--help").split("Options:")[1], flags=re.M))
        documented = "\n".join(re.findall(r"^\.TP\n(.*)$", option_section(page(name)), flags=re.M))
        faults += check(name, options_of(documented), options_of(printed))
    for plugin in json.loads(output("list-subscribers", "--json"))["subscribers"]:
        if plugin.get("name") in ("stats", "clickhouse"):
            name = f"rtl-{plugin['name']}.7"
            settings = {s["key"] + "=" for s in plugin["settings"]}
            section = page(name).split(".SH SETTINGS")[1].split(".SH ")[0]
            faults += check(name, set(re.findall(r"^\.TP\n(\w+=)", section, flags=re.M)), settings)
    print("\n".join(faults) or f"{len(verbs)} commands: pages and help agree")
    return bool(faults) or len(verbs) < 5


sys.exit(main())
