#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""counter_compare.py [OPTION...] DATABASE LOG NAME=BLOCK:EVENT[:INSTANCE]... NAME=EXPRESSION...

Holds a trace's counters against what the software GPU says that each dispatch has counted.

  --expect N     that many dispatches have values of each counter, in sum over processes
  --least N      at least that many
  --passes       counters take turns: a dispatch has values of some
  --cut          some may be missing: what was not recorded, or given up
  --xccs N       the samples in the stream's debug twin are those of N XCCs, each as logged
"""
import argparse
import collections
import re
import sqlite3
import sys

TICK_NS = 20
NO_TIME, SERIALISED = 2, 32  # flags of a dispatch


def read_log(path):
    """{(pid, gpu): [(start, name, {(block, event, instance): value}, {..: value of each XCC})]}, in the order of time."""
    dispatches = collections.defaultdict(dict)
    with open(path, errors="replace") as log:
        for line in log:
            if line.startswith("#") or " kind=count " not in line:
                continue
            row = dict(item.split("=", 1) for item in line.split())
            key = row["queue"], row["idx"]
            found = dispatches[row["pid"], row["gpu"]].setdefault(
                key, (int(row["start"]), row["name"], {}, {}))
            place = row["block"], row["event"], row["instance"]
            found[2][place] = int(row["value"])
            found[3][place] = row.get("xccs", row["value"]).split(",")
    return {key: sorted(of.values(), key=lambda d: d[0]) for key, of in dispatches.items()}


def read_trace(path):
    """The same with {counter: value}; start is None where the trace says NO_TIME."""
    database = sqlite3.connect(path)
    rows = database.execute("""
        SELECT p.pid, d.gpu, d.op_id, o.start, s.string, t.name, c.value, d.flags
        FROM rtl_counter AS c JOIN rtl_dispatch AS d ON d.process = c.process AND d.instance = c.dispatch
        JOIN rtl_process AS p ON p.process = d.process JOIN rocpd_op AS o ON o.id = d.op_id
        JOIN rocpd_string AS s ON s.id = o.description_id
        JOIN rtl_tracepoint AS t ON t.process = c.process AND t.uid = c.uid""")
    dispatches = collections.defaultdict(dict)
    for pid, gpu, op, start, kernel, name, value, flags in rows:
        if not flags & SERIALISED:
            sys.exit(f"op {op} has counters and no flag SERIALISED")
        start = None if flags & NO_TIME else start
        dispatches[str(pid), str(gpu)].setdefault(op, (start, kernel, {}))[2][name] = value
    lone = database.execute("""SELECT count(*) FROM rtl_counter AS c WHERE NOT EXISTS
        (SELECT 1 FROM rtl_dispatch AS d WHERE d.process = c.process AND d.instance = c.dispatch)""")
    if lone.fetchone()[0] and not arguments.cut:
        sys.exit("there are values of dispatches that are not in the trace")
    return {key: sorted(of.values(), key=lambda d: d[0] or 0) for key, of in dispatches.items()}


def read_samples(path):
    """{(start, counter): [value of each XCC]}."""
    parts = collections.defaultdict(dict)
    for start, name, xcc, value in sqlite3.connect(path).execute("""
            SELECT o.start, s.name, s.xcc, sum(s.value) FROM rtl_e_rtl_hsa_counter_debug_sample AS s
            JOIN rtl_dispatch AS d ON d.process = s.process AND d.instance = s.instance
            JOIN rocpd_op AS o ON o.id = d.op_id GROUP BY o.start, s.name, s.xcc"""):
        parts[start, name][xcc] = value
    return {key: [of.get(xcc) for xcc in range(arguments.xccs)] for key, of in parts.items()
            if len(of) <= arguments.xccs}


def compare_xccs(ours, theirs):
    """Each counter's samples of a dispatch, by XCC."""
    for name, definition in counters.items():
        block, event = definition.split(":")[:2]
        logged = [parts for place, parts in theirs[3].items() if place[:2] == (block, event)]
        by_xcc = [sum(map(int, of)) for of in zip(*logged)]
        if len(by_xcc) != arguments.xccs or samples.get((ours[0], name)) != by_xcc:
            sys.exit(f"{name} of {theirs[1]} at {ours[0]}: by XCC {samples.get((ours[0], name))}, logged {by_xcc}")


def missed(path):
    """How many values the ledger calls missed: of a process that was killed before the first."""
    return sqlite3.connect(path).execute(
        "SELECT coalesce(sum(missed), 0) FROM rtl_ledger WHERE stream = 'rtl.hsa.counter'").fetchone()[0]


def expected(counted, definition):
    if "(" in definition:
        return eval(re.sub(r"[A-Z]+:\d+", lambda m: str(expected(counted, m.group(0))), definition))
    place = definition.split(":")
    values = [value for (block, event, instance), value in counted.items()
              if place[:2] == [block, event] and place[2:] in ([], [instance])]
    return sum(values) if values else None


def pairs(key, traced, logged):
    """Each dispatch of the trace with that of the log which began then, to a tick. One without times (its signal was
    still that of a dispatch of a queue just destroyed): with one that counted as much, and is no other's."""
    at = 0
    left = {theirs[0]: theirs for theirs in logged}
    for ours in (ours for ours in traced if ours[0] is not None):
        while at < len(logged) and logged[at][0] < ours[0] - TICK_NS:
            at += 1
        if at == len(logged) or logged[at][0] > ours[0] + TICK_NS:
            sys.exit(f"{key}: no dispatch was counted that began at {ours[0]} ({ours[1]})")
        left.pop(logged[at][0], None)
        yield ours, logged[at]
    for ours in (ours for ours in traced if ours[0] is None):
        same = [theirs for theirs in left.values() if all(
            ours[2].get(name) == expected(theirs[2], definition) for name, definition in counters.items())]
        if not same:
            sys.exit(f"{key}: {ours[1]}, without times: no other dispatch counted {ours[2]}")
        yield ours, left.pop(same[0][0])


def compare(key, traced, logged):
    """How many values are right; ends with a word if one is not."""
    right = 0
    if len(traced) != len(logged) and not (arguments.cut and len(traced) < len(logged)):
        sys.exit(f"{key}: {len(traced)} dispatches have values, {len(logged)} were counted")
    for number, (ours, theirs) in enumerate(pairs(key, traced, logged)):
        if arguments.xccs:
            compare_xccs(ours, theirs)
        for name, definition in counters.items():
            value = expected(theirs[2], definition)
            if value is None and arguments.passes and name not in ours[2]:
                continue
            if value is None:
                sys.exit(f"{key} dispatch {number} ({theirs[1]}): {name} was not counted")
            if ours[2].get(name) is None or abs(ours[2][name] - value) > 1e-9 * abs(value):
                sys.exit(f"{key} dispatch {number} ({theirs[1]}): {name} is "
                         f"{ours[2].get(name)} and not {value}")
            right += 1
    return right


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--expect", type=int)
parser.add_argument("--least", type=int)
parser.add_argument("--passes", action="store_true")
parser.add_argument("--cut", action="store_true")
parser.add_argument("--xccs", type=int)
parser.add_argument("database")
parser.add_argument("log")
parser.add_argument("counters", nargs="+")
arguments = parser.parse_args()
counters = dict(c.split("=") for c in arguments.counters)
log, trace = read_log(arguments.log), read_trace(arguments.database)
samples = read_samples(arguments.database) if arguments.xccs else {}
if set(trace) - set(log):
    sys.exit(f"not in the log: {set(trace) - set(log)}")
if set(log) - set(trace) and not arguments.cut:
    sys.exit(f"not in the trace: {set(log) - set(trace)}")
total = sum(compare(key, trace[key], log[key]) for key in trace)
dispatches = sum(len(of) for of in trace.values())
print(f"{dispatches} dispatches of {len(trace)} GPUs and processes, {total} values as logged")
if arguments.expect is not None and dispatches != arguments.expect:
    sys.exit(f"{dispatches} dispatches have values, and not {arguments.expect}")
if arguments.least is not None and dispatches < arguments.least:
    sys.exit(f"{dispatches} dispatches have values, less than {arguments.least}")
if not total and not (arguments.cut and missed(arguments.database)):
    sys.exit("nothing was compared")
