#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what the HSA collector published with the software GPU's log, row by row.

    hsa_compare.py TRACE LOG [--tick NS] [--missed N] [--blind N] [--unnamed] [--own FILE]

TRACE is written by the subscriber hsa_dump, LOG is SOFTGPU_LOG's file. Every dispatch in the
log but the runtime's own (rocr_*) must be in the trace exactly once: same GPU, kernel, grid,
workgroup, LDS and scratch, and times within one tick of the GPU's clock. --missed: that many
dispatches of the log may be absent from the trace, and must have been counted as missed.
--blind: nothing is traced, as that many queues are not seen, which must have been counted.
--unnamed: kernels have no names (a program with kernel objects of its own).
--own: lines `[grid=X] time THREAD N START END` in FILE are what the program read itself of dispatches:
the times must be in the log, too, with the same tick.
Exit status 0: equal.
"""
import argparse
import re
import sys
from collections import defaultdict

PAIR = re.compile(r"(\w+)=(\S*)")


def read_log(path, unnamed):
    rows = []
    with open(path, errors="replace") as file:
        for line in file:
            if " kind=dispatch " not in line:
                continue
            row = dict(PAIR.findall(line))
            name = row.get("name", "?")
            if name.startswith("rocr_"):
                continue
            rows.append((("?" if unnamed else name, row["gpu"], row["grid"], row["wg"],
                          row.get("group", "0"), row.get("private", "0")),
                         int(row["start"]), int(row["end"])))
    return rows


def read_trace(path, unnamed):
    rows, missed, ids = [], 0, set()
    with open(path) as file:
        for line in file:
            word = line.split(" ", 1)[0]
            row = dict(PAIR.findall(line))
            if word == "ledger":
                missed = int(row["missed"])
            if word != "dispatch":
                continue
            key = (row["queue"], row["packet"])
            if key in ids:
                sys.exit("published twice: queue %s packet %s" % key)
            ids.add(key)
            rows.append((("?" if unnamed else row["kernel"], row["gpu"], row["grid"],
                          row["workgroup"], row["group"], row["private"]),
                         int(row["begin"]), int(row["end"])))
    return rows, missed


def grouped(rows):
    groups = defaultdict(list)
    for key, begin, end in rows:
        groups[key].append((begin, end))
    for times in groups.values():
        times.sort()
    return groups


def compare_times(key, log, trace, tick):
    """Both sorted; returns (rows only in the log, rows only in the trace)."""
    i = j = absent = extra = 0
    while i < len(log) and j < len(trace):
        if abs(log[i][0] - trace[j][0]) <= tick and abs(log[i][1] - trace[j][1]) <= tick:
            i, j = i + 1, j + 1
        elif log[i] <= trace[j]:
            absent, i = absent + 1, i + 1
        else:
            print("not in the log: %s %s" % (key, trace[j]))
            extra, j = extra + 1, j + 1
    return absent + len(log) - i, extra + len(trace) - j


def check_own(path, log, tick):
    known = defaultdict(list)
    for key, begin, end in log:
        known[begin // 1000].append((key, begin, end))
    own = strange = 0
    with open(path, errors="replace") as file:
        for line in file:
            words = line.split()
            grid = words.pop(0)[5:] + "," if line.startswith("grid=") else ""
            if not words or words[0] != "time":
                continue
            begin, end = int(words[3]), int(words[4])
            near = {(begin - tick) // 1000, (begin + tick) // 1000}
            own += 1
            strange += not any(abs(b - begin) <= tick and abs(e - end) <= tick and
                               key[2].startswith(grid)
                               for place in near for key, b, e in known[place])
    print("the program's own times: %d, not in the log: %d" % (own, strange))
    return own and not strange


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace")
    parser.add_argument("log")
    parser.add_argument("--tick", type=int, default=10)
    parser.add_argument("--missed", type=int, default=0)
    parser.add_argument("--blind", type=int, default=0)
    parser.add_argument("--unnamed", action="store_true")
    parser.add_argument("--own")
    args = parser.parse_args()
    log = read_log(args.log, args.unnamed)
    trace, missed = read_trace(args.trace, args.unnamed)
    by_log, by_trace = grouped(log), grouped(trace)
    absent = extra = 0
    for key in sorted(set(by_log) | set(by_trace)):
        a, b = compare_times(key, by_log.get(key, []), by_trace.get(key, []), args.tick)
        if a or b:
            print("%s: %d in the log, %d traced; %d absent, %d extra"
                  % (key, len(by_log.get(key, [])), len(by_trace.get(key, [])), a, b))
        absent, extra = absent + a, extra + b
    print("log %d, traced %d, missed %d, absent %d, extra %d"
          % (len(log), len(trace), missed, absent, extra))
    if not log:
        sys.exit("nothing in the log")
    if args.blind:
        sys.exit(bool(trace) or missed != args.blind)
    if absent > args.missed or extra or missed < absent:
        sys.exit(1)
    if args.own and not check_own(args.own, log, args.tick):
        sys.exit(1)


if __name__ == "__main__":
    main()
