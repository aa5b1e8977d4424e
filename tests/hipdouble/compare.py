#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare.py RECORDS LOG [--v02]: the records of the profiler's double against the GPU's log.

Each dispatch of the log stands in one record, under a launch on a thread all of whose kernels have
one grid, or in the list of a graph's launch; its times are those of the log within a tick. Other
work (copies, fills) has times that the log has, too. Calls of a thread do not overlap.
"""
import collections
import re
import sys

TICK_NS = 10
FIELD = re.compile(r"(\w+)=(\S*)")


def read(path, kinds):
    rows = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.split(" ", 1)[0] in kinds or (kinds == "log" and not line.startswith("#")):
                row = dict(FIELD.findall(line))
                row["word"], row["last"] = line.split()[0], line.split()[-1]
                rows.append(row)
    return rows


def near(op, row):
    if abs(int(op["begin"]) - int(row["start"])) > TICK_NS:
        return False
    # HIP 7.2.4 has the barrier's end of a copy that waits for one.
    return (abs(int(op["end"]) - int(row["end"])) <= TICK_NS or
            op["op"] == "1" and int(op["end"]) < int(op["begin"]))


def main():
    rows = read(sys.argv[1], ("record", "op"))
    log = [row for row in read(sys.argv[2], "log") if row["kind"] in ("dispatch", "transfer")]
    problems = []
    records = {row["slot"]: row for row in rows if row["word"] == "record"}
    ops = [row for row in rows if row["word"] == "op" and row["op"] != "2"]

    by_start = collections.defaultdict(list)
    for row in log:
        by_start[int(row["start"]) // 1000].append(row)
    taken, grids = set(), collections.defaultdict(set)
    for op in ops:
        near_rows = [row for key in (-1, 0, 1)
                     for row in by_start[int(op["begin"]) // 1000 + key] if near(op, row)]
        if op["op"] == "0":
            near_rows = [row for row in near_rows if row.get("name") == op["name"]]
        if not near_rows:
            problems.append(f"not in the log: {op}")
            continue
        record, row = records[op["slot"]], near_rows[0]
        taken.add(id(row))
        if row["gpu"] != op["node"]:
            problems.append(f"another GPU than {row['gpu']}: {op}")
        if op["op"] == "0" and record["last"] == "hipLaunchKernel":
            blocks = int(row["grid"].split(",")[0]) // int(row["wg"].split(",")[0])
            if int(op["grid"]) != blocks:
                problems.append(f"the grid is {blocks}: {op}")
            if "--v02" in sys.argv and op["vgprs"] != "32":
                problems.append(f"no registers: {op}")
            grids[record["tid"]].add(blocks)
        elif op["op"] == "0" and record["last"] != "hipGraphLaunch":
            problems.append(f"a kernel of {record['last']}: {op}")
    for row in log:
        if row["kind"] == "dispatch" and id(row) not in taken and \
                not row["name"].startswith(("rocr_", "__amd_rocclr_")):
            problems.append(f"not recorded: {row}")
    for tid, blocks in grids.items():
        if len(blocks) != 1:
            problems.append(f"kernels of several threads under calls of {tid}: {blocks}")
    threads = collections.defaultdict(list)
    for record in records.values():
        threads[record["tid"]].append(record)
    for calls in threads.values():
        for before, call in zip(calls, calls[1:]):
            if not int(before["start"]) <= int(before["end"]) <= int(call["start"]):
                problems.append(f"overlap: {before}, {call}")
    for problem in problems[:10]:
        print(problem, file=sys.stderr)
    kernels = sum(op["op"] == "0" for op in ops)
    print(f"{len(records)} records, {kernels} kernels, {len(ops) - kernels} copies, "
          f"{len(log)} in the log")
    sys.exit(bool(problems) or not kernels)


if __name__ == "__main__":
    main()
