#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hip_reported.py [--split] [--profiler] DATABASE LOG [QUEUE-DATABASE]: what HIP has reported against the GPU's log.

Each kernel of the log (the runtime's own apart) is a dispatch of the trace, once, on the same GPU, with
the same name and times within a tick, and with the log's grid and workgroup where they are known. Each
transfer, and each kernel by which HIP copies or fills, is a copy or fill, once, with its times. All are linked to the call that submitted them, on whose thread they are, and which began before. What HIP cannot
tell is 0. Nothing is lost.

QUEUE-DATABASE is of another run of the program with intercepted queues. It must have the same kernels
(universal id, name, GPU, device, stream or none, calling function, number of the thread), and as many
copies of each calling function. --split: HIP makes several transfers of a copy, some by kernels.
--profiler: its profiler may know segments, too.
"""
import collections
import re
import sqlite3
import sys

TICK_NS = 10
PAIR = re.compile(r"(\w+)=(\S*)")
REPORTED, NO_TIME = 64, 2


def rows_of(db, query):
    cursor = db.execute(query)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row)) for row in cursor]


DISPATCHES = """
SELECT d.*, o.start AS begin_ns, o.end AS end_ns, o.gpuId AS op_gpu, n.string AS kernel, t.name AS mangled,
       a.start AS api_start, a.tid AS api_tid, f.string AS function
FROM rtl_dispatch AS d JOIN rocpd_op AS o ON o.id = d.op_id JOIN rocpd_string AS n ON n.id = o.description_id
     LEFT JOIN rtl_tracepoint AS t ON t.uid = d.uid AND t.process = d.process
     LEFT JOIN rocpd_api_ops AS l ON l.op_id = d.op_id LEFT JOIN rocpd_api AS a ON a.id = l.api_id
     LEFT JOIN rocpd_string AS f ON f.id = a.apiName_id"""
COPIES = """
SELECT c.*, a.start AS api_start, a.tid AS api_tid, f.string AS function
FROM rtl_copy AS c LEFT JOIN rocpd_api_ops AS l ON l.op_id = c.op_id LEFT JOIN rocpd_api AS a ON a.id = l.api_id
     LEFT JOIN rocpd_string AS f ON f.id = a.apiName_id"""


def read_log(path):
    kernels, copies, barriers = [], [], []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            row = dict(PAIR.findall(line))
            name = row.get("name", "")
            if line.startswith("#") or row.get("kind") not in ("dispatch", "transfer", "barrier_and") or \
                    name.startswith("rocr_"):
                continue
            row["begin"], row["last"] = int(row["start"]), int(row["end"])
            if row["kind"] == "barrier_and":
                barriers.append(row)
                continue
            is_copy = row["kind"] == "transfer" or name.startswith("__amd_rocclr_")
            (copies if is_copy else kernels).append(row)
    return kernels, copies, barriers


def match(traced, logged, what, same, problems):
    """Pairs rows by their times."""
    near = collections.defaultdict(list)
    for row in logged:
        near[row["begin"] // 1000].append(row)
    for row in traced:
        found = [one for key in (-1, 0, 1) for one in near[row["begin_ns"] // 1000 + key]
                 if abs(one["begin"] - row["begin_ns"]) <= TICK_NS
                 and abs(one["last"] - row["end_ns"]) <= TICK_NS and "taken" not in one and same(row, one)]
        if found:
            found[0]["taken"] = True
        else:
            problems.append("%s is not in the log: %s" % (what, row))
    return [row for row in logged if "taken" not in row]


def match_split(copies, logged, barriers, problems):
    """Copies of which HIP makes several: they begin with a part and end with one, and all parts are within. The
    barrier that orders a part behind another is one, too, to HIP."""
    begins = {one["begin"] + i for one in logged + barriers for i in range(-TICK_NS, TICK_NS + 1)}
    ends = {one["last"] + i for one in logged + barriers for i in range(-TICK_NS, TICK_NS + 1)}
    for row in copies:
        if row["begin_ns"] not in begins or row["end_ns"] not in ends:
            problems.append("a copy has times of no part: %s" % row)
    return [one for one in logged
            if not any(row["begin_ns"] - TICK_NS <= one["begin"] and one["last"] <= row["end_ns"] + TICK_NS
                       for row in copies)]


def same_kernel(row, one):
    grid = [str(row["grid_" + axis]) for axis in "xyz"]
    workgroup = [str(row["workgroup_" + axis]) for axis in "xyz"]
    return row["mangled"] == one["name"] and row["gpu"] == int(one["gpu"]) and (
        grid == ["0"] * 3 or grid == one["grid"].split(",") and workgroup == one["wg"].split(","))


def check_row(row, unknown, problems):
    if not row["flags"] & REPORTED or any(row[name] for name in unknown):
        problems.append("what HIP cannot tell is there: %s" % row)
    if row["function"] is None or row["api_tid"] != row["tid"]:
        problems.append("linked to no call of its thread: %s" % row)
    elif row["begin_ns"] and row["begin_ns"] + 1000000 < row["api_start"]:
        problems.append("begins before its call: %s" % row)
    elif row["call_ns"] is None:
        problems.append("does not tell its call's time: %s" % row)


def thread_numbers(rows):
    """Threads in the order of their kernels' names and numbers, which no scheduling changes."""
    counts = collections.Counter((row["tid"], row["kernel"]) for row in rows)
    threads = collections.defaultdict(list)
    for (tid, kernel), count in counts.items():
        threads[tid].append((kernel, count))
    order = sorted(threads, key=lambda tid: sorted(threads[tid]))
    return {tid: number for number, tid in enumerate(order)}


def compare_sources(dispatches, copies, other, problems):
    theirs = [row for row in rows_of(other, DISPATCHES) if not row["kernel"].startswith("__amd_rocclr_")]
    sets = []
    for rows in (dispatches, theirs):
        numbers = thread_numbers(rows)
        sets.append(collections.Counter(
            (row["uid"], row["kernel"], row["gpu"], row["op_gpu"], bool(row["stream"]), row["function"],
             numbers[row["tid"]]) for row in rows))
    for row in sets[0] - sets[1]:
        problems.append("only HIP has reported: %s" % (row,))
    for row in sets[1] - sets[0]:
        problems.append("HIP has not reported: %s" % (row,))
    blits = [row for row in rows_of(other, DISPATCHES) if row["kernel"].startswith("__amd_rocclr_")]
    counts = [collections.Counter(row["function"] for row in rows)
              for rows in (copies, rows_of(other, COPIES) + blits)]
    if copies and counts[0] != counts[1]:
        problems.append("copies by call: reported %s, intercepted %s" % tuple(map(dict, counts)))


def main():
    split, profiler = "--split" in sys.argv, "--profiler" in sys.argv
    sys.argv = [argument for argument in sys.argv if not argument.startswith("--")]
    db = sqlite3.connect(sys.argv[1])
    kernels, transfers, barriers = read_log(sys.argv[2])
    dispatches, copies = rows_of(db, DISPATCHES), rows_of(db, COPIES)
    problems = []
    for row in dispatches:
        check_row(row, ("submit_ns", "packet_id", "kernel_object", "queue") +
                  (() if profiler else ("lds_bytes", "scratch_bytes")), problems)
    for row in copies:
        check_row(row, ("submit_ns", "signal", "engine"), problems)
        if row["dst"] and not row["bytes"]:
            problems.append("a copy of nothing: %s" % row)
    for row in match(dispatches, kernels, "a kernel", same_kernel, problems):
        problems.append("a kernel is not in the trace: %s" % row)
    timed = [row for row in copies if not row["flags"] & NO_TIME]
    if split:
        left = match_split(timed, transfers, barriers, problems)
    else:
        left = match(timed, transfers, "a copy", lambda row, one: row["gpu"] == int(one["gpu"]), problems)
    # HIP 7.2 confuses the end of some copies with that of the barrier before them. Each stands for one of the
    # log, or for parts of no more bytes.
    untimed = [row for row in copies if row["flags"] & NO_TIME]
    left_bytes = sum(int(row.get("bytes", 0)) for row in left)
    if len(left) > len(untimed) and not (split and untimed) or left_bytes > sum(row["bytes"] for row in untimed):
        problems += ["a copy is not in the trace: %s" % row for row in left]
    lost = rows_of(db, "SELECT * FROM rtl_loss") + rows_of(
        db, "SELECT * FROM rtl_ledger WHERE published <> delivered OR missed")
    problems += ["lost: %s" % row for row in lost]
    if len(sys.argv) > 3:
        compare_sources(dispatches, [] if split else copies, sqlite3.connect(sys.argv[3]), problems)
    if not dispatches:
        problems.append("there are no kernels")
    for problem in problems[:20]:
        print("hip_reported: %s" % problem, file=sys.stderr)
    print("hip_reported: %d kernels, %d copies, %d without times" %
          (len(dispatches), len(copies), len(copies) - len(timed)))
    sys.exit(bool(problems))


main()
