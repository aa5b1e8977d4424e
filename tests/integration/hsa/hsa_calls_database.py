#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hsa_calls_database.py DATABASE LOG: the calls of a database that `rtl trace --mode full` wrote
against the log of hsa_calls: rows of rocpd_api and rtl_call, with arguments and status. Getters are left out,
and counted."""
import collections
import re
import sqlite3
import sys

# What readers of the schema cannot stand in a text is something else there.
PLAIN = str.maketrans({'"': "_", "\\": "_", "'": "_"})


def main():
    db = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True)
    getters = 0
    logged, traced = collections.defaultdict(list), collections.defaultdict(list)
    with open(sys.argv[2], encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("call "):
                _, tid, _, _, what = line.rstrip("\n").split(" ", 4)
                if re.match(r"hsa_signal_load_|.*(_get_info|_index_)", what.split("(")[0]):
                    getters += 1
                else:
                    logged[int(tid)].append(what.translate(PLAIN))
    for tid, function, args, status, result, begin, end in db.execute(
            "SELECT tid, function, args, status, result, begin_ns, end_ns FROM rtl_calls"
            " ORDER BY api_id"):
        traced[tid].append(("%s(%s) %s %d" % (function, args, status or "", result)).translate(PLAIN))
        if end < begin:
            sys.exit("%s ends before it begins" % function)
    for tid in sorted(set(logged) | set(traced)):
        for a, b in zip(logged[tid], traced[tid]):
            if a != b:
                sys.exit("thread %d:\n  logged %s\n  in the database %s" % (tid, a, b))
        if len(logged[tid]) != len(traced[tid]):
            sys.exit("thread %d: %d logged, %d in the database" % (
                tid, len(logged[tid]), len(traced[tid])))
    left_out = db.execute("SELECT sum(count) FROM rtl_left_out WHERE cause LIKE '%only asks%'"
                          " AND stream = 'rtl.hsa.call.debug'").fetchone()[0]
    if not getters or left_out != getters:
        sys.exit("%d getters, %s are counted as left out" % (getters, left_out))
    domains = db.execute("SELECT DISTINCT domain FROM rtl_calls").fetchall()
    if domains != [("hsa",)]:
        sys.exit("domains: %s" % domains)
    lost = db.execute("SELECT stream, published, delivered, discarded, abandoned, missed FROM"
                      " rtl_ledger WHERE published <> delivered + left_out OR missed").fetchall()
    if lost:
        sys.exit("lost: %s" % lost)
    check_memory(db)
    print("%d calls in the database: agree" % sum(map(len, logged.values())))


def check_memory(db):
    """Allocations and releases are calls too, as many, and the last total is the sum of all."""
    pairs = db.execute("SELECT (SELECT count(*) FROM rtl_mem WHERE function = c.function), count(*),"
                       " c.function FROM rtl_calls AS c WHERE c.function IN"
                       " ('hsa_amd_memory_pool_allocate', 'hsa_memory_allocate',"
                       " 'hsa_amd_memory_lock') GROUP BY c.function").fetchall()
    if len(pairs) != 3 or any(a != b for a, b, _ in pairs):
        sys.exit("allocations: %s" % pairs)
    for node, kind, total in db.execute(
            "SELECT node, kind, sum(CASE is_release WHEN 1 THEN -bytes ELSE bytes END) FROM rtl_mem"
            " WHERE NOT flags & 6 AND kind <= 3 GROUP BY node"):
        last = db.execute("SELECT in_use_bytes FROM rtl_mem WHERE node = ? AND kind <= 3"
                          " ORDER BY id DESC LIMIT 1", (node,)).fetchone()[0]
        if last != total:
            sys.exit("in use on node %d: %d, the sum is %d" % (node, last, total))
    releases = db.execute("SELECT count(*), sum(EXISTS (SELECT 1 FROM rtl_mem AS a WHERE NOT a.is_release"
                         " AND NOT a.flags & 6 AND a.address = r.address AND a.bytes = r.bytes"
                         " AND a.begin_ns = r.allocated_ns)) FROM rtl_mem AS r"
                         " WHERE r.is_release AND NOT r.flags & 6").fetchone()
    if not releases[0] or releases[0] != releases[1]:
        sys.exit("releases, and those whose allocation is where they say: %d, %d" % releases)


if __name__ == "__main__":
    main()
