#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hip_chosen.py MANGLED DATABASE OUTPUT LOG: of all dispatches in the GPU's log exactly those of kernels in whose
symbol the text MANGLED stands are in the database; the others are counted as left out."""
import collections
import re
import sqlite3
import sys


def main():
    mangled, database, _, path = sys.argv[1:]
    log = collections.Counter()
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if " kind=dispatch " in line:
                log[re.search(r"\bname=(\S*)", line)[1]] += 1
    for name in [name for name in log if name.startswith("rocr_")]:
        del log[name]  # of the runtime's internal queue, which no tool can intercept
    want = {name: count for name, count in log.items() if mangled in name}
    db = sqlite3.connect(database)
    got = dict(db.execute("SELECT mangled, count(*) FROM rtl_dispatches GROUP BY 1"))
    left_out = db.execute("SELECT stream, cause, count FROM rtl_left_out").fetchall()
    others = sum(log.values()) - sum(want.values())
    ledger = db.execute("SELECT published - delivered, discarded + abandoned + missed FROM rtl_ledger"
                        " WHERE stream = 'rtl.hsa'").fetchone()
    calls = db.execute("SELECT count(*) FROM rtl_calls WHERE function LIKE '%Launch%'").fetchone()[0]
    print("hip_chosen: %d dispatches of %s, %d others, %d launches" %
          (sum(got.values()), mangled, others, calls))
    good = want and others and got == want and calls and \
        left_out == [("rtl.hsa", "a kernel that was not selected", others)] and ledger == (others, 0)
    if not good:
        print("hip_chosen: %s, expected %s; %s, %s" % (got, want, left_out, ledger), file=sys.stderr)
    sys.exit(not good)


if __name__ == "__main__":
    main()
