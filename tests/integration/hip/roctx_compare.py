#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""roctx_compare.py TRACE OUTPUT: what hip_dump wrote of rtl.roctx against what roctx_calls says."""
import collections
import re
import sys


def fields(line):
    return {key: int(value, 0) for key, value in re.findall(r"(\w+)=(\S+)", line)}


def read_trace(path):
    ranges, begins, left, marks, names, ledger = {}, {}, {}, [], [], {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            line, _, name = line.rstrip("\n").partition(" : ")
            word, *rest = line.split()
            if word in ("range_begin", "range_end", "range_open"):
                place = {"range_begin": begins, "range_end": ranges, "range_open": left}[word]
                event = dict(fields(line), name=name or "(empty)")
                assert event["instance"] not in place, "twice: %s" % line
                place[event["instance"]] = event
            elif word == "mark":
                marks.append(dict(fields(line), name=name or "(empty)"))
            elif word == "name":
                names.append("%d 0x%x %s" % (fields(line)["kind"], fields(line)["object"], name))
            elif word == "ledger" and rest[0] == "rtl.roctx":
                ledger = fields(line)
    return ranges, begins, left, marks, names, ledger


def main():
    ranges, begins, left, marks, names, ledger = read_trace(sys.argv[1])
    said = collections.defaultdict(list)
    with open(sys.argv[2], encoding="utf-8") as file:
        for line in file:
            kind, _, rest = line.rstrip("\n").partition(" ")
            said[kind].append(rest)

    def parent(event):
        return begins[event["parent"]]["name"] if event["parent"] else "-"

    got = {
        "range": ["%d %s %s" % (r["level"], r["name"], parent(r)) for r in ranges.values()
                  if r["level"] >= 0],
        "started": [r["name"] for r in ranges.values() if r["level"] < 0],
        "open": [b["name"] for i, b in begins.items() if i not in ranges],
        "mark": ["%s %s" % (m["name"], parent(m)) for m in marks],
        "name": names,
    }
    problems = ["%s: said %s, traced %s" % (kind, sorted(set(said[kind]) - set(got[kind]))[:5],
                                            sorted(set(got[kind]) - set(said[kind]))[:5])
                for kind in got if sorted(said[kind]) != sorted(got[kind])]
    if {i: dict(b, flags=b["flags"] | 4, tid=0) for i, b in begins.items() if i not in ranges} != {
            i: dict(b, tid=0) for i, b in left.items()}:
        problems.append("open at the end: %s" % left)
    for instance, event in ranges.items():
        begin = begins.get(instance, {})
        same = ("name", "begin", "parent", "level", "id", "begin_tid", "flags")
        if not begin or any(begin[key] != event[key] for key in same) or begin["end"]:
            problems.append("begin %s, end %s" % (begin, event))
        if not 0 < event["begin"] <= event["end"]:
            problems.append("ends before it begins: %s" % event)
        if bool(event["flags"] & 2) != (event["level"] < 0) or bool(event["flags"] & 1) != (
                len(event["name"]) == 1024):
            problems.append("flags: %s" % event)
        if event["tid"] != event["begin_tid"] and event["name"] != "by-another":
            problems.append("ended by another thread: %s" % event)
        outer = ranges.get(event["parent"])
        if event["level"] > 0 and outer and not (
                outer["begin"] <= event["begin"] and event["end"] <= outer["end"]):
            problems.append("not within its parent: %s" % event)
    if not [r for r in ranges.values() if r["tid"] != r["begin_tid"]]:
        problems.append("no range is ended by another thread")
    if not ledger or ledger["published"] != ledger["delivered"] or ledger["missed"]:
        problems.append("ledger: %s" % ledger)
    for problem in problems[:20]:
        print("roctx_compare: %s" % problem, file=sys.stderr)
    print("roctx_compare: %d ranges, %d marks, %d names" % (len(ranges), len(marks), len(names)))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
