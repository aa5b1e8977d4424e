#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares a trace with the software GPU's log, row by row.

    compare_trace.py LOG DATABASE... [--clock-hz N] [--expect N] [--cut|--paused]

Every dispatch that the GPU executed (the log; without the runtime's own rocr_* kernels) must be
in the databases exactly once, with the kernel's name, its GPU, its queue, its place in the queue,
grid, workgroup, segment sizes, kernel object, and times within one tick of the GPU's clock; and
the databases must hold nothing else. So must every copy, as copy_compare.py says, with its bytes,
addresses, GPU and times, and with the rows that RPD's view of copies is made of. A copy that HIP made by a kernel
of its own stands for that dispatch. Exit status 1 and the first differences if not.

--cut: the program ended before all that the GPU executed could be published: of each queue the
databases may lack dispatches, and copies, but hold no other and none twice, and the ledger must
count what is lacking.
--paused: recording was off for a part of the run; the same, but that is not counted.
"""
import argparse
import collections
import math
import re
import sqlite3
import sys

import copy_compare

Row = collections.namedtuple(
    "Row", "index name start end grid workgroup group private object")
FIELD = re.compile(r"(\w+)=(\S*)")


def read_log(path):
    """{(pid, gpu, hardware queue): [Row in the order of the packets]}"""
    queues = collections.defaultdict(list)
    with open(path, encoding="utf-8", errors="replace") as log:
        for line in log:
            if line.startswith("#") or " kind=dispatch " not in line:
                continue
            f = dict(FIELD.findall(line))
            if f["name"].startswith("rocr_"):
                continue
            queues[int(f["pid"]), int(f["gpu"]), int(f["queue"])].append(Row(
                int(f["idx"]), f["name"], int(f["start"]), int(f["end"]), f["grid"], f["wg"],
                int(f["group"]), int(f["private"]), int(f["object"], 0)))
    for rows in queues.values():
        rows.sort()
    return queues


def read_traces(paths):
    """The same of the databases, by rtl's own queue numbers."""
    queues = collections.defaultdict(list)
    for path in paths:
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        for r in db.execute("""
                SELECT v.pid, v.gpu, v.queue, v.packet_id, v.mangled, v.begin_ns, v.end_ns,
                       v.grid_x || ',' || v.grid_y || ',' || v.grid_z,
                       v.workgroup_x || ',' || v.workgroup_y || ',' || v.workgroup_z,
                       v.lds_bytes, v.scratch_bytes, d.kernel_object
                FROM rtl_dispatches v JOIN rtl_dispatch d ON d.op_id = v.op_id"""):
            queues[r[0], r[1], r[2]].append(Row(*r[3:]))
        db.close()
    for rows in queues.values():
        rows.sort()
    return queues


def without_copies(log, paths, tick, complain):
    """The log without the kernels that are HIP's copies and fills in the databases."""
    kernels = collections.defaultdict(list)
    for key, rows in log.items():
        for row in rows:
            if row.name.startswith("__amd_rocclr_"):
                kernels[key[:2]].append((key, row))
    for path in paths:
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        for pid, gpu, begin, end in db.execute(
                f"SELECT pid, gpu, begin_ns, end_ns FROM rtl_copies WHERE flags & {copy_compare.HIP}"):
            found = copy_compare.take(kernels[pid, gpu], lambda of: near(of[1].start, begin, tick) and
                                      near(of[1].end, end, tick))
            if found:
                log[found[0]].remove(found[1])
            else:
                complain(f"no kernel of HIP's for the copy of {pid} on GPU {gpu} at {begin}")
        db.close()
    return {key: rows for key, rows in log.items() if rows}


def read_lost(paths):
    """What the ledgers of rtl.hsa know to be lost."""
    lost = 0
    for path in paths:
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        lost += db.execute("SELECT coalesce(sum(discarded + abandoned + missed), 0) FROM rtl_ledger "
                           "WHERE stream = 'rtl.hsa'").fetchone()[0]
        db.close()
    return lost


def read_copies(paths, complain):
    copies = []
    for path in paths:
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        db.row_factory = sqlite3.Row
        for r in db.execute("""
                SELECT v.*, o.id AS op, o.gpuId AS op_gpu, o.start AS op_start, o."end" AS op_end,
                       c.size AS size, (
                         SELECT sum(c2.bytes) FROM rocpd_api_ops AS l1
                         JOIN rocpd_api_ops AS l2 ON l2.api_id = l1.api_id
                         JOIN rtl_copy AS c2 ON c2.op_id = l2.op_id AND c2.kind <> 4
                         WHERE l1.op_id = v.op_id) AS of_call
                FROM rtl_copies v LEFT JOIN rocpd_op o ON o.id = v.op_id
                LEFT JOIN copyop c ON c.id = v.op_id"""):
            copy = {key: r[key] for key in ("pid", "gpu", "bytes", "src", "dst", "flags")}
            copy["begin"], copy["end"] = r["begin_ns"] or 0, r["end_ns"] or 0
            copies.append(copy)
            done = r["gpu"] and not r["flags"] & copy_compare.FAILED
            if bool(r["op"]) != bool(done):
                complain(f"rocpd_op has a row for what no GPU did, or none: {copy}")
            elif done and (r["op_gpu"] != r["gpu"] or not r["flags"] & copy_compare.NO_TIME and
                           (r["op_start"], r["op_end"]) != (copy["begin"], copy["end"])):
                complain(f"rocpd_op and rtl_copy differ: {copy}")
            elif done and r["kind"] != "fill" and r["size"] != r["of_call"]:
                complain(f"the view copyop does not have it: {copy}")
        db.close()
    return copies


def near(a, b, tick):
    return abs(a - b) <= tick


def pair_queues(log, trace, tick):
    """Matches each queue of the log with the one of the trace that is most like it."""
    left = dict(trace)
    for key, rows in sorted(log.items()):
        twins = [k for k, r in left.items() if k[:2] == key[:2]
                 and near(r[0].start, rows[0].start, tick) and r[0].name == rows[0].name]
        twin = min(twins, default=None, key=lambda k: (
            abs(len(left[k]) - len(rows)), abs(left[k][0].start - rows[0].start)))
        yield key, rows, twin, left.pop(twin, [])
    for key, rows in left.items():
        yield None, [], key, rows


def differences(a, b, tick):
    if not near(a.start, b.start, tick) or not near(a.end, b.end, tick):
        yield f"times {a.start}-{a.end}, {b.start}-{b.end}"
    for what in ("name", "grid", "workgroup", "group", "private", "object"):
        if getattr(a, what) != getattr(b, what):
            yield f"{what} {getattr(a, what)}, {getattr(b, what)}"


def compare_queue(key, log_rows, twin, trace_rows, tick, complain):
    if len(log_rows) != len(trace_rows):
        complain(f"queue {key} of the log has {len(log_rows)} dispatches, "
                 f"queue {twin} of the trace {len(trace_rows)}")
    for a, b in zip(log_rows, trace_rows):
        for d in differences(a, b, tick):
            complain(f"log {key} packet {a.index}, trace {twin} packet {b.index}: {d}")


def cut(log, trace, tick):
    """The log without the rows that the trace lacks. Each row is given once."""
    left = collections.Counter()
    for key, rows in trace.items():
        left.update((key[:2], r.name, r.start // (8 * tick)) for r in rows)

    def take(key, row):
        for slot in (0, -1, 1):
            k = key[:2], row.name, row.start // (8 * tick) + slot
            if left[k]:
                left[k] -= 1
                return True
        return False
    rest = {key: [r for r in rows if take(key, r)] for key, rows in log.items()}
    return {key: rows for key, rows in rest.items() if rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log")
    parser.add_argument("database", nargs="+")
    parser.add_argument("--clock-hz", type=int, default=100_000_000, help="GPU clock; tick = 1/it")
    parser.add_argument("--expect", type=int, help="how many dispatches there must be at least")
    parser.add_argument("--cut", action="store_true", help="the program's end was not in order")
    parser.add_argument("--paused", action="store_true", help="recording was off for a time")
    args = parser.parse_args()
    some = args.cut or args.paused
    tick = math.ceil(1e9 / args.clock_hz) + 1  # and the rounding to ns at both ends
    trace = read_traces(args.database)
    found = 0

    def complain(text):
        nonlocal found
        found += 1
        if found <= 20:
            print(f"compare_trace: {text}", file=sys.stderr)

    log = without_copies(read_log(args.log), args.database, tick, complain)
    executed = total = sum(map(len, log.values()))
    if some:
        log = cut(log, trace, tick)
        total = sum(map(len, log.values()))
    for key, log_rows, twin, trace_rows in pair_queues(log, trace, tick):
        compare_queue(key, log_rows, twin, trace_rows, tick, complain)
    if (not total and not some) or (args.expect and total < args.expect):
        complain(f"the log has {total} dispatches, {args.expect or 1} or more were expected")
    if args.cut and executed - total > read_lost(args.database):
        complain(f"{executed - total} dispatches are lacking, but the ledger counts only "
                 f"{read_lost(args.database)} as lost")
    copies = read_copies(args.database, complain)
    transfers = copy_compare.compare(copies, args.log, tick, complain, some)
    print(f"compare_trace: {total} dispatches on {len(log)} queues, {len(copies)} copies, "
          f"{transfers} of them by SDMA engines, {found} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
