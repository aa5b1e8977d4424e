#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hip_paused.py DATABASE OUTPUT LOG: of what a program (tests/programs/hip/paused.hip) did, which has numbers,
that with even numbers is in the database, once, and nothing with an odd one; the GPU's log has both.
Nothing is missed."""
import collections
import re
import sqlite3
import sys

COPY = 1 << 20


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


def main():
    db = sqlite3.connect(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        last = int(re.search(r"^numbers (\d+)$", file.read(), re.M)[1])
    log = numbers_of_log(sys.argv[3])
    queries = {
        "kernels": "SELECT grid_x / 64 FROM rtl_dispatches WHERE kernel = 'numbered'",
        "copies": "SELECT bytes - %d FROM rtl_copies WHERE bytes > %d" % (COPY, COPY),
        "calls": "SELECT CAST(substr(args, instr(args, 'len=') + 4) AS INTEGER) - 1024"
                 " FROM rtl_calls WHERE function = 'hipDeviceGetName'",
        "marks": "SELECT CAST(substr(name, 6) AS INTEGER) FROM rtl_markers WHERE NOT is_range",
        "ranges": "SELECT CAST(substr(name, 7) AS INTEGER) FROM rtl_markers WHERE is_range"
                  " AND name <> 'recording paused'",
    }
    problems = []
    for what, query in queries.items():
        got = sorted(n for n, in db.execute(query))
        want = sorted(n for n in log[what] if n % 2 == 0) if what in log else None
        if what in log and not any(n % 2 for n in log[what]):
            problems.append("%s: the log has none while paused" % what)
        if not got or any(n % 2 or not 0 < n <= last for n in got) or len(set(got)) != len(got) or \
                want not in (None, got):
            problems.append("%s: recorded %s, expected %s" % (what, got, want))
        print("hip_paused: %s: %d recorded, %d done" % (what, len(got), len(log.get(what, got))))
    lost = db.execute("SELECT stream, published, delivered, missed FROM rtl_ledger"
                      " WHERE published <> delivered OR missed").fetchall()
    if lost:
        problems.append("ledger: %s" % lost)
    unlinked = db.execute("SELECT count(*) FROM rtl_dispatch WHERE correlation = 0").fetchone()[0]
    if unlinked:
        problems.append("%d dispatches are linked to no call" % unlinked)
    for problem in problems:
        print("hip_paused: %s" % problem, file=sys.stderr)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
