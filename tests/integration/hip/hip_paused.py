#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hip_paused.py [--ranges] DATABASE OUTPUT LOG: of what a program (tests/programs/hip/paused.hip) did, which has
numbers, that with even numbers is in the database, once, and nothing with an odd one; the GPU's log has both. Nothing
is missed. --ranges: what is not there is counted as left out."""
import collections
import re
import sqlite3
import sys

COPY = 1 << 20
QUERIES = {
    "kernels": "SELECT grid_x / 64 FROM rtl_dispatches WHERE kernel = 'numbered'",
    "copies": "SELECT bytes - %d FROM rtl_copies WHERE bytes > %d" % (COPY, COPY),
    "calls": "SELECT CAST(substr(args, instr(args, 'len=') + 4) AS INTEGER) - 1024"
             " FROM rtl_calls WHERE function = 'hipDeviceGetName'",
    "marks": "SELECT CAST(substr(name, 6) AS INTEGER) FROM rtl_markers WHERE NOT is_range",
    "ranges": "SELECT CAST(substr(name, 7) AS INTEGER) FROM rtl_markers WHERE name LIKE 'range %'",
}


def numbers_of_log(path):
    found = collections.defaultdict(list)
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            row = dict(re.findall(r"(\w+)=(\S*)", line))
            if " kind=transfer " in line and int(row["bytes"]) > COPY:
                found["copies"].append(int(row["bytes"]) - COPY)
            elif " kind=dispatch " in line and row["name"] == "numbered":
                found["kernels"].append(int(row["grid"].split(",")[0]) // 64)
    return found


def check_ranges(db, left_out, outside, problems):
    if left_out.get("rtl.hsa", 0) < outside or left_out.get("rtl.hsa.copy") != outside or \
            "rtl.roctx" not in left_out:
        problems.append("%d are outside, left out: %s" % (outside, left_out))
    names = {n for n, in db.execute("SELECT name FROM rtl_markers WHERE name LIKE '%wanted'")}
    if names != {"wanted"}:
        problems.append("ranges that choose: %s" % names)


def main():
    ranges = sys.argv[1] == "--ranges"
    path, output, log_path = sys.argv[1 + ranges:]
    db = sqlite3.connect(path)
    with open(output, encoding="utf-8") as file:
        last = int(re.search(r"^numbers (\d+)$", file.read(), re.M)[1])
    log = numbers_of_log(log_path)
    want = sorted(n for n in log["kernels"] if n % 2 == 0)
    outside = len(log["kernels"]) - len(want)
    problems = []
    if not outside or sorted(log["kernels"]) != sorted(log["copies"]) or max(log["kernels"]) > last:
        problems.append("the log has other copies than kernels, or none that is not to be recorded: %s" % log)
    for what, query in QUERIES.items():
        got = sorted(n for n, in db.execute(query))
        if got != want:
            problems.append("%s: recorded %s, expected %s" % (what, got, want))
    causes = db.execute("SELECT stream, cause, count FROM rtl_left_out").fetchall()
    left_out = {stream: count for stream, cause, count in causes if cause == "outside of the ranges"}
    all_left_out = collections.Counter()
    for stream, _, count in causes:
        all_left_out[stream] += count
    if ranges:
        check_ranges(db, left_out, outside, problems)
    elif left_out:
        problems.append("left out: %s" % left_out)
    for stream, published, delivered, lost in db.execute(
            "SELECT stream, published, delivered, discarded + abandoned + missed FROM rtl_ledger"):
        if lost or published != delivered + all_left_out[stream]:
            problems.append("ledger of %s: %d, %d, %d lost" % (stream, published, delivered, lost))
    unlinked = db.execute("SELECT count(*) FROM rtl_dispatch WHERE correlation = 0").fetchone()[0]
    if unlinked:
        problems.append("%d dispatches are linked to no call" % unlinked)
    print("hip_paused: %d recorded, %d not" % (len(want), outside))
    sys.exit("\n".join("hip_paused: %s" % problem for problem in problems) or 0)


if __name__ == "__main__":
    main()
