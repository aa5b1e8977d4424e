#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hip_ranges.py DATABASE OUTPUT LOG: of what a program (hip_ranges.hip) did, which has numbers, that with even
numbers is in the database, once, and nothing with an odd one; the GPU's log has both. What is not there is
counted as left out, and nothing else is missing."""
import re
import sqlite3
import sys

from hip_paused import COPY, numbers_of_log

QUERIES = {
    "kernels": "SELECT grid_x / 64 FROM rtl_dispatches WHERE kernel = 'numbered'",
    "copies": "SELECT bytes - %d FROM rtl_copies WHERE bytes > %d" % (COPY, COPY),
    "calls": "SELECT CAST(substr(args, instr(args, 'len=') + 4) AS INTEGER) - 1024"
             " FROM rtl_calls WHERE function = 'hipDeviceGetName'",
    "marks": "SELECT CAST(substr(name, 6) AS INTEGER) FROM rtl_markers WHERE NOT is_range",
    "ranges": "SELECT CAST(substr(name, 7) AS INTEGER) FROM rtl_markers WHERE name LIKE 'range %'",
}


def main():
    db = sqlite3.connect(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        last = int(re.search(r"^numbers (\d+)$", file.read(), re.M)[1])
    log = numbers_of_log(sys.argv[3])
    problems = []
    for what, query in QUERIES.items():
        got = sorted(n for n, in db.execute(query))
        want = sorted(n for n in log.get("kernels") if n % 2 == 0)
        if got != want or not all(0 < n <= last for n in got):
            problems.append("%s: recorded %s, expected %s" % (what, got, want))
        print("hip_ranges: %s: %d recorded" % (what, len(got)))
    outside = sum(n % 2 for n in log["kernels"])
    if not outside or outside != sum(n % 2 for n in log["copies"]):
        problems.append("the log has %d kernels outside, and other copies" % outside)
    left_out = {stream: count for stream, cause, count in db.execute(
        "SELECT stream, cause, count FROM rtl_left_out") if cause == "outside of the ranges"}
    if left_out.get("rtl.hsa", 0) < outside or left_out.get("rtl.hsa.copy") != outside or \
            "rtl.roctx" not in left_out:
        problems.append("%d are outside, left out: %s" % (outside, left_out))
    for stream, published, delivered, lost in db.execute(
            "SELECT stream, published, delivered, discarded + abandoned + missed FROM rtl_ledger"):
        if lost or published != delivered + left_out.get(stream, 0):
            problems.append("ledger of %s: %d, %d, %d lost" % (stream, published, delivered, lost))
    names = [n for n, in db.execute("SELECT name FROM rtl_markers WHERE name LIKE '%wanted'")]
    if not names or set(names) != {"wanted"}:
        problems.append("ranges that choose: %s" % names)
    for problem in problems:
        print("hip_ranges: %s" % problem, file=sys.stderr)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
