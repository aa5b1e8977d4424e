#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hip_database.py DATABASE OUTPUT [LOG]: rows of rocpd_api and rtl_call, as `rtl trace --mode hip` has
stored them, against what a program says it called (see hip_compare.py)."""
import collections
import sqlite3
import sys

from hip_compare import read_output, same_args


def main():
    db = sqlite3.connect(sys.argv[1])
    threads, kernels, arguments = read_output(sys.argv[2])
    rows = collections.defaultdict(list)
    for row in db.execute(
            "SELECT tid, function, result, ifnull(stream, 0), ifnull(device, -1), args, status,"
            " failed, category, correlation FROM rtl_calls WHERE domain = 'hip'"
            " ORDER BY tid, begin_ns, api_id"):
        rows[row[0]].append(row[1:])
    problems = []
    for tid in sorted(set(threads) | set(rows)):
        want = [call[:4] for call in threads.get(tid, [])]
        got = [row[:4] for row in rows[tid]]
        for number, (one, other) in enumerate(zip(want, got)):
            if one != other:
                problems.append("thread %d, call %d: %s, stored %s" % (tid, number, one, other))
                break
        if len(want) != len(got):
            problems.append("thread %d: %d calls, %d stored" % (tid, len(want), len(got)))
    if not problems:
        for (tid, number), text in arguments.items():
            row = rows[tid][number]
            if not same_args(text, row[4].replace("\\", "/")):
                problems.append("%s: called with (%s), stored (%s)" % (row[0], text, row[4]))
        for (tid, number), (count, part) in kernels.items():
            linked = db.execute("SELECT count(*) FROM rtl_dispatches WHERE correlation = ? AND"
                                " tid = ? AND instr(mangled, ?)",
                                (rows[tid][number][8], tid, part)).fetchone()[0]
            if linked != count:
                problems.append("%d kernels of %s, %d stored" % (count, rows[tid][number], linked))
    for row in (row for one in rows.values() for row in one):
        failed = row[5] not in (None, "hipSuccess", "hipErrorNotReady") and row[7] != "error"
        if not row[7] or bool(row[6]) != failed:
            problems.append("category or failure: %s" % (row,))
    count = db.execute("SELECT count(*) FROM rocpd_api AS a JOIN rocpd_string AS s"
                       " ON s.id = a.domain_id WHERE s.string = 'hip'").fetchone()[0]
    total = sum(len(one) for one in rows.values())
    if count != total or not total or not arguments or not kernels:
        problems.append("%d rows of rocpd_api, %d of rtl_call" % (count, total))
    events = db.execute("SELECT name FROM sqlite_master WHERE name LIKE 'rtl_e_rtl_hip_call%'").fetchall()
    stored = sum(db.execute("SELECT count(*) FROM %s" % name).fetchone()[0] for name, in events)
    if stored != total:
        problems.append("%d events for %d calls" % (stored, total))
    ledger = db.execute("SELECT sum(published), sum(delivered) FROM rtl_ledger"
                        " WHERE stream LIKE 'rtl.hip.call%'").fetchone()
    if ledger != (total, total):
        problems.append("ledger %s, %d calls" % (ledger, total))
    print("hip_database: %d calls" % total)
    sys.exit("\n".join("hip_database: %s" % problem for problem in problems[:20]) or 0)


if __name__ == "__main__":
    main()
