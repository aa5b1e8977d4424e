#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reports what is wrong with the *.md files: links that lead nowhere, words that must not come back.

Status 1 if anything is.
"""
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
# They read like a translation; write what happens, subject first.
WORDS = ["makes no sense", "heeded", "heeds", "a line says so", "says so in a line", "which a line says", "learnt from",
         "without a rest", "has to do with", "one is told", "no word unless"]
LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")


def prose(text):
    """The lines of a page outside of code blocks, with their numbers."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


def anchors(path):
    """As GitHub makes them of headings."""
    found = set()
    for _, line in prose(path.read_text(encoding="utf-8")):
        if line.startswith("#"):
            title = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip()).lower()
            found.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return found


def faults(path):
    for number, line in prose(path.read_text(encoding="utf-8")):
        for word in WORDS:
            if word in line.lower():
                yield number, f"\"{word}\": write it in plain English"
        for target, anchor in LINK.findall(line):
            if ":" in target:
                continue
            to = path if not target else (path.parent / target)
            if not to.exists():
                yield number, f"there is no {target}"
            elif anchor and to.suffix == ".md" and anchor not in anchors(to):
                yield number, f"{to.name} has no heading #{anchor}"


def main():
    status = 0
    for path in sorted(TOP.rglob("*.md")):
        if {"build", ".git"} & set(path.relative_to(TOP).parts):
            continue
        for number, fault in faults(path):
            print(f"{path.relative_to(TOP)}:{number}: {fault}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
