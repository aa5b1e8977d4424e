#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""counter_intervals.py [OPTION...] DATABASE LOG NAME=BLOCK:EVENT[:INSTANCE]... NAME=EXPRESSION...

Holds a trace's counters in intervals (--counters-sample) against what the software GPU has counted.

  --least N      at least that many intervals of each GPU have work in them
  --passes       counters take turns: only that all of them have values
  --cut          some of the work may be missing: what was not recorded
"""
import argparse
import collections
import re
import sqlite3
import sys

TICK_NS = 20


def read_log(path):
    """{(pid, gpu): {(block, event, instance): [(start, end, value)]}}"""
    counted = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(path, errors="replace") as log:
        for line in log:
            if line.startswith("#") or " kind=count " not in line:
                continue
            row = dict(item.split("=", 1) for item in line.split())
            counted[row["pid"], row["gpu"]][row["block"], row["event"], row["instance"]].append(
                (int(row["start"]), int(row["end"]), int(row["value"])))
    return counted


def read_trace(database):
    """{(pid, gpu): {counter: [(begin, end, value)]}}"""
    intervals = collections.defaultdict(lambda: collections.defaultdict(list))
    for pid, gpu, name, begin, end, value in database.execute(
            "SELECT pid, gpu, counter, begin_ns, end_ns, value FROM rtl_counter_intervals ORDER BY end_ns"):
        intervals[str(pid), str(gpu)][name].append((begin, end, value))
    return intervals


def places(counted, definition):
    """What has been counted of BLOCK:EVENT[:INSTANCE]."""
    place = definition.split(":")
    return [one for (block, event, instance), all_of in counted.items()
            if place[:2] == [block, event] and place[2:] in ([], [instance]) for one in all_of]


def check_times(key, name, intervals):
    last = 0
    for begin, end, _ in intervals:
        if begin >= end or begin < last:
            sys.exit(f"{key} {name}: {begin} to {end} is no interval after {last}")
        if begin != last and last and not arguments.passes and not arguments.cut:
            sys.exit(f"{key} {name}: there is a gap between {last} and {begin}")
        last = end


def check_counter(key, name, definition, intervals, counted):
    """No more has been counted than the GPU had done by then; in the end all of it."""
    work = places(counted, definition)
    total = 0
    for _, end, value in intervals:
        if arguments.passes:  # what a dispatch counts in one that has gone by is not in the log
            break
        total += value
        most = sum(v // 2 * (start <= end + TICK_NS) + (v - v // 2) * (stop <= end + TICK_NS)
                   for start, stop, v in work)
        # each engine or instance rounds for itself
        if total > most + 64 * len(work):
            sys.exit(f"{key} {name}: {total} by {end}, when the GPU had counted {most}")
    everything = sum(v for _, _, v in work)
    # a dispatch is in the log when it has ended; half of its work is counted at its begin, also of one that a kill cut off
    dispatches = collections.Counter()
    for start, _, v in work:
        dispatches[start] += v - v // 2
    under_way = max(dispatches.values(), default=0)
    if not arguments.passes and total != everything and not (arguments.cut and total <= everything + under_way):
        sys.exit(f"{key} {name}: {total} in {len(intervals)} intervals, and not {everything}")
    busy = sum(value > 0 for _, _, value in intervals)
    if busy < arguments.least:
        sys.exit(f"{key} {name}: work in {busy} of {len(intervals)} intervals, and not in {arguments.least}")
    return len(intervals)


def check_metric(key, name, definition, intervals):
    """Of the counters that were read at once; no value where there is none, and where there was work there is one."""
    for at, (begin, end, value) in enumerate(intervals):
        def counter(match, begin=begin, end=end):
            found = [v for b, e, v in trace[key][by_definition[match.group(0)]] if (b, e) == (begin, end)]
            if len(found) != 1:
                sys.exit(f"{key} {name}: {match.group(0)} was not read with it")
            return str(found[0])
        try:
            expected = eval(re.sub(r"[A-Z]+:\d+", counter, definition))
        except ZeroDivisionError:
            expected = None
        if (value is None) != (expected is None) or (
                value is not None and abs(value - expected) > 1e-9 * abs(expected)):
            sys.exit(f"{key} interval {at}: {name} is {value} and not {expected}")
    with_value = sum(value is not None for _, _, value in intervals)
    if with_value < arguments.least:
        sys.exit(f"{key} {name}: a value in {with_value} of {len(intervals)} intervals, and not in {arguments.least}")


def check_monitors(database):
    """RPD's rows are those with a value, and its tools can paste each into JSON."""
    ours = database.execute("SELECT gpu, counter, begin_ns, end_ns, value FROM rtl_counter_intervals"
                            " WHERE value NOT NULL ORDER BY 1, 2, 3, 4, 5").fetchall()
    rows = database.execute("SELECT deviceId, monitorType, start, \"end\", value, deviceType, typeof(value)"
                            " FROM rocpd_monitor").fetchall()
    if any(row[5:] != ("gpu", "text") for row in rows):
        sys.exit("rocpd_monitor has rows of something else")
    if [o[:4] for o in ours] != sorted(r[:4] for r in rows):
        sys.exit(f"rocpd_monitor has {len(rows)} rows, and not the {len(ours)} intervals with a value")
    theirs = sorted((r[:4] + (float(r[4]),)) for r in rows)
    if any(abs(a[4] - b[4]) > 1e-12 * abs(a[4]) for a, b in zip(ours, theirs)):
        sys.exit("rocpd_monitor has other values")


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--least", type=int, default=1)
parser.add_argument("--passes", action="store_true")
parser.add_argument("--cut", action="store_true")
parser.add_argument("database")
parser.add_argument("log")
parser.add_argument("counters", nargs="+")
arguments = parser.parse_args()
counters = dict(c.split("=") for c in arguments.counters)
by_definition = {d: n for n, d in counters.items()}
db = sqlite3.connect(arguments.database)
log, trace = read_log(arguments.log), read_trace(db)
if set(log) - set(trace) and not arguments.cut:
    sys.exit(f"not in the trace: {set(log) - set(trace)}")
if not trace:
    sys.exit("there are no intervals")
count = 0
for of, named in trace.items():
    for counter_name, what in counters.items():
        if counter_name not in named:
            sys.exit(f"{of}: there is no {counter_name}")
        check_times(of, counter_name, named[counter_name])
        if "(" in what:
            check_metric(of, counter_name, what, named[counter_name])
        elif of in log:
            count += check_counter(of, counter_name, what, named[counter_name], log[of])
check_monitors(db)
print(f"{count} intervals of {len(trace)} GPUs and processes, as logged")
