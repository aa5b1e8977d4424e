#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""roctx_database.py DATABASE OUTPUT: the markers that `rtl trace --mode hip` has stored against what
roctx_calls says (see there)."""
import collections
import sqlite3
import sys


def main():
    db = sqlite3.connect(sys.argv[1])
    said = collections.defaultdict(list)
    with open(sys.argv[2], encoding="utf-8") as file:
        for line in file:
            kind, _, rest = line.rstrip("\n").partition(" ")
            said[kind].append(rest.replace("(empty)", ""))
    said["started"].append("recording paused")  # roctxProfilerPause ... Resume, once
    rows = db.execute("SELECT is_range, level, name, instance, parent, tid, end_tid, duration_ns, begin_ns"
                      " FROM rtl_markers WHERE NOT unfinished").fetchall()
    unfinished = db.execute("SELECT name, end_tid, duration_ns FROM rtl_markers"
                            " WHERE unfinished AND is_range").fetchall()
    named = {row[3]: row[2] for row in rows if row[0]}
    problems = []
    got = {
        "open": [row[0] for row in unfinished],
        "range": ["%d %s %s" % (row[1], row[2], named.get(row[4], "-")) for row in rows
                  if row[0] and row[1] >= 0],
        "started": [row[2] for row in rows if row[0] and row[1] < 0],
        "mark": ["%s %s" % (row[2], named.get(row[4], "-")) for row in rows if not row[0]],
        "name": ["%d 0x%x %s" % row for row in db.execute(
            "SELECT kind, object, name FROM rtl_e_rtl_roctx_name")],
    }
    for kind, lines in got.items():
        if sorted(lines) != sorted(said[kind]):
            problems.append("%s: said %s, stored %s" % (
                kind, sorted(set(said[kind]) - set(lines))[:5],
                sorted(set(lines) - set(said[kind]))[:5]))
    if [row for row in rows if row[7] < 0 or (row[5] != row[6] and row[2] != "by-another")]:
        problems.append("times or threads")
    if [row for row in unfinished if row[1] or row[2] < 0]:
        problems.append("times or threads of open ranges")
    markers = db.execute("SELECT count(*) FROM api WHERE apiName = 'UserMarker' AND"
                         " domain = 'roctx' AND args IS NOT NULL").fetchone()[0]
    if markers != len(rows) + len(unfinished) or not rows:
        problems.append("%d rows of rocpd_api, %d of rtl_marker" % (
            markers, len(rows) + len(unfinished)))
    ranges = {row[3]: row for row in rows if row[0]}
    for row in rows:
        outer = ranges.get(row[4]) if row[0] and row[1] > 0 else None
        if outer and not outer[8] <= row[8] <= row[8] + row[7] <= outer[8] + outer[7]:
            problems.append("not within its parent: %s, %s" % (row, outer))
    lost = db.execute("SELECT published, delivered, missed FROM rtl_ledger WHERE stream = 'rtl.roctx' AND"
                      " (published <> delivered OR missed)").fetchall()
    if lost:
        problems.append("ledger: %s" % lost)
    print("roctx_database: %d markers" % markers)
    sys.exit("\n".join("roctx_database: %s" % problem for problem in problems) or 0)


if __name__ == "__main__":
    main()
