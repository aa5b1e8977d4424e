#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what the HSA interceptor published with the software GPU's log, row by row.

    hsa_compare.py TRACE LOG [--tick NS] [--missed N] [--late] [--blind N] [--unnamed] [--own FILE]
                   [--own-copies FILE] [--copies-missed N] [--lite] [--untimed N] [--again N]

TRACE is written by text_sub, LOG is SOFTGPU_LOG's file. Every dispatch in the
log but the runtime's own (rocr_*) must be in the trace exactly once: same GPU, kernel, grid,
workgroup, LDS and scratch, and times within one tick of the GPU's clock, or be one of the copies that HIP makes
by kernels, with the same GPU and times. --missed: that many
dispatches of the log may be absent from the trace, and must have been counted as missed.
--untimed: up to so many dispatches share a signal and have no times.
--again: so many runtimes that began after the first one has ended are counted, and not traced.
--late: some dispatches are absent, and these have been counted as missed, but for one that may
have been published too late to be delivered.
--passed-on: some dispatches were passed on by the runtime's thread, and say so; the others are all of
one thread.
--owners: dispatches of one grid are of one thread, and those of others of others.
--waited: exactly N dispatches had to wait, those with 128 work-items.
--blind: nothing is traced, as that many queues are not seen, which must have been counted.
--unnamed: kernels have no names (a program with kernel objects of its own).
--own: lines `[grid=X] time THREAD N START END` in FILE are what the program read itself of dispatches:
the times must be in the log, too, with the same tick.
Copies are compared as copy_compare.py says. --copies-missed: so many have been counted as
missed, and may be in the log. --lite: no copy is traced, all are counted as missed.
--own-copies: lines `copytime BYTES SRC DST BEGIN END` are what the program read itself of copies, and
`count COPIES CALLS REFUSED WAITED` how many it made; `shared SIGNAL` is one that several copies count down.
--barriers: N barrier packets or more must be there, each once
as in the log: kind, GPU, number of dependencies, times; without it, none may be there. The
runtime's own queues have barriers, too: in the log there may be more.
Exit status 0: equal.
"""
import argparse
import pathlib
import re
import sys
from collections import Counter, defaultdict

integration = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(integration), str(integration / "trace")]
import copy_compare  # noqa: E402
import text_trace  # noqa: E402

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


def dispatches(path):
    for row in text_trace.read(path):
        if row["@type"] == "task_end":
            yield row


def ledger_missed(path, stream):
    return sum(int(row["missed"]) for row in text_trace.read(path)
               if row["@type"] == "ledger" and row["@stream"] == stream)


def shape(row, name):
    return ",".join(row[name + "_" + axis] for axis in "xyz")


def read_trace(path, unnamed):
    rows, ids, untimed = [], set(), Counter()
    for row in dispatches(path):
        key = (row["queue"], row["packet_id"])
        if key in ids:
            sys.exit("published twice: queue %s packet %s" % key)
        ids.add(key)
        what = ("?" if unnamed else row["kernel_name"], row["gpu"], shape(row, "grid"),
                shape(row, "workgroup"), row["group_segment_bytes"], row["private_segment_bytes"])
        if int(row["end_ns"]):
            rows.append((what, int(row["begin_ns"]), int(row["end_ns"])))
        else:
            untimed[what] += 1
    return rows, ledger_missed(path, "rtl.hsa"), untimed


COPY_FIELDS = {"gpu": "gpu", "bytes": "bytes", "src": "src", "dst": "dst", "begin": "begin_ns", "end": "end_ns",
               "flags": "flags", "direction": "direction", "submit": "submit_ns", "from": "src_gpu",
               "to": "dst_gpu", "signal": "signal"}


def read_copies(path):
    copies, instances = [], set()
    for row in text_trace.read(path):
        if row["@stream"] != "rtl.hsa.copy" or row["@type"] == "ledger":
            continue
        if row["@instance"] in instances:
            sys.exit("copy published twice: " + row["@instance"])
        instances.add(row["@instance"])
        copies.append({key: int(row[field]) for key, field in COPY_FIELDS.items()})
    return copies, ledger_missed(path, "rtl.hsa.copy")


def add_kernels_of_copies(path, log, trace, tick):
    """Those of HIP's kernels that are copies in the trace, each by its times; how many copies have none."""
    left = [row for row in log if row[0][0].startswith("__amd_rocclr_")]
    none = 0
    for copy in read_copies(path)[0]:
        if copy["flags"] & copy_compare.HIP:
            row = copy_compare.take(left, lambda row: row[0][1] == str(copy["gpu"]) and abs(row[1] - copy["begin"]) <= tick
                                    and abs(row[2] - copy["end"]) <= tick)
            if row:
                trace.append((row[0], copy["begin"], copy["end"]))
            else:
                print("no kernel in the log for it: %s" % copy)
            none += not row
    return none


def counted(path):
    """Copies, calls, refused ones and those that waited that the program made, by what it says."""
    with open(path, errors="replace") as file:
        for line in file:
            if line.startswith("count "):
                return tuple(map(int, line.split()[1:5]))
    sys.exit("the program says no count")


def check_own_copies(path, copies, tick):
    """What the program says of its copies against the trace."""
    good = [c for c in copies if not c["flags"] & copy_compare.FAILED]
    calls = [c for c in good if c["flags"] & copy_compare.CALL_TIME]
    found = (len(good) - len(calls), len(calls), len(copies) - len(good), sum(c["flags"] & 1024 > 0 for c in copies))
    own = strange = 0
    with open(path, errors="replace") as file:
        for line in file:
            words = line.split()
            if not words or words[0] != "copytime":
                continue
            begin, end = map(int, words[-2:])
            what = (int(words[1]), int(words[2], 0), int(words[3], 0))
            own += 1
            if not any(abs(c["begin"] - begin) <= tick and abs(c["end"] - end) <= tick and
                       what == (c["bytes"], c["src"], c["dst"]) for c in good):
                strange += 1
                print("not traced with the times that the program has read:", line.strip())
    print("copies: %d, calls %d, refused %d, that waited %d (the program: %s); its own times: %d, not traced: %d"
          % (*found, counted(path), own, strange))
    return found == counted(path) and own and not strange


def shared_signals(path):
    with open(path, errors="replace") as file:
        return {int(line.split()[1], 0) for line in file if line.startswith("shared ")}


def compare_copies(args):
    copies, missed = read_copies(args.trace)
    found = []
    transfers = copy_compare.compare(copies, args.log, args.tick, found.append,
                                     bool(args.lite or args.copies_missed or args.again),
                                     shared_signals(args.own_copies) if args.own_copies else ())
    for text in found[:20]:
        print("copies:", text)
    for copy in copies:
        timed = not copy["flags"] & (copy_compare.NO_TIME | copy_compare.FAILED)
        if timed and not copy["begin"] <= copy["end"] or copy["bytes"] < 1:
            found.append(copy)
            print("copies: strange:", copy)
    print("copies: log %d, traced %d, missed %d, differences %d"
          % (transfers, len(copies), missed, len(found)))
    if args.lite:
        return not found and not copies and missed == sum(counted(args.own_copies)[:2])
    good = not found and missed == args.copies_missed
    if args.own_copies:
        good = check_own_copies(args.own_copies, copies, args.tick) and good
    return good


BARRIERS = ("barrier_and", "barrier_or")


def log_barriers(path):
    with open(path, errors="replace") as file:
        for line in file:
            row = dict(PAIR.findall(line))
            if not line.startswith("#") and row.get("kind") in BARRIERS:
                yield (row["kind"], row["gpu"], row["deps"]), int(row["start"]), int(row["end"])


def trace_barriers(path):
    for row in text_trace.read(path):
        if row["@type"] == "barrier_end":
            yield ((BARRIERS[int(row["kind"]) - 1], row["gpu"], row["dependencies"]),
                   int(row["begin_ns"]), int(row["end_ns"]))


def check_barriers(log_path, trace_path, tick, wanted):
    by_log, by_trace = grouped(log_barriers(log_path)), grouped(trace_barriers(trace_path))
    total = sum(map(len, by_trace.values()))
    extra = sum(compare_times(key, by_log.get(key, []), times, tick)[1]
                for key, times in by_trace.items())
    print("barriers: log %d, traced %d, extra %d"
          % (sum(map(len, by_log.values())), total, extra))
    return extra == 0 and (total > 0) == wanted


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


def check_submitters(path):
    """Threads of dispatches that were passed on by the runtime, and of the others."""
    threads = (set(), set())
    for row in dispatches(path):
        threads[bool(int(row["flags"]) & 8)].add(row["submit_tid"])
    print("submitted by threads %s, passed on by %s" % threads)
    return len(threads[0]) == len(threads[1]) == 1 and threads[0] != threads[1]


def check_owners(path):
    """Each grid is one thread's, and each thread has one grid."""
    pairs = {(shape(row, "grid"), row["submit_tid"]) for row in dispatches(path)}
    grids, threads = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
    print("grids %d, threads %d, pairs of both %d" % (len(grids), len(threads), len(pairs)))
    return len(grids) > 1 and len(grids) == len(threads) == len(pairs)


def check_waited(path, count):
    waited = [(int(row["flags"]) & 256 > 0, shape(row, "grid") == "128,1,1") for row in dispatches(path)]
    print("%d have waited; wrong of %d" % (waited.count((True, True)), sum(a != b for a, b in waited)))
    return waited.count((True, True)) == count and all(a == b for a, b in waited)


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
    parser.add_argument("--passed-on", action="store_true")
    parser.add_argument("--owners", action="store_true")
    parser.add_argument("--waited", type=int, metavar="N")
    parser.add_argument("--late", action="store_true")
    parser.add_argument("--blind", type=int, default=0)
    parser.add_argument("--untimed", type=int, default=0)
    parser.add_argument("--again", type=int, default=0)
    parser.add_argument("--unnamed", action="store_true")
    parser.add_argument("--own")
    parser.add_argument("--barriers", type=int, default=0, metavar="N",
                        help="how many there must be at least")
    parser.add_argument("--own-copies")
    parser.add_argument("--lite", action="store_true")
    parser.add_argument("--copies-missed", type=int, default=0)
    args = parser.parse_args()
    if not compare_copies(args):
        sys.exit(1)
    if args.own_copies:  # a program without dispatches
        return
    log = read_log(args.log, args.unnamed)
    trace, missed, untimed = read_trace(args.trace, args.unnamed)
    absent, extra = 0, add_kernels_of_copies(args.trace, log, trace, args.tick)
    by_log, by_trace = grouped(log), grouped(trace)
    for key in sorted(set(by_log) | set(by_trace) | set(untimed)):
        a, b = compare_times(key, by_log.get(key, []), by_trace.get(key, []), args.tick)
        a, b = max(a - untimed[key], 0), b + max(untimed[key] - a, 0)
        if a or b:
            print("%s: %d in the log, %d traced; %d absent, %d extra"
                  % (key, len(by_log.get(key, [])), len(by_trace.get(key, [])), a, b))
        absent, extra = absent + a, extra + b
    print("log %d, traced %d, without times %d, missed %d, absent %d, extra %d"
          % (len(log), len(trace), sum(untimed.values()), missed, absent, extra))
    if not log:
        sys.exit("nothing in the log")
    if sum(untimed.values()) > args.untimed:
        sys.exit("%d dispatches without times" % sum(untimed.values()))
    if args.again:
        sys.exit(bool(extra) or not trace or missed != args.again)
    if args.blind:
        sys.exit(bool(trace) or missed != args.blind)
    if args.late:
        # One may have been published, but was not delivered any more.
        sys.exit(bool(extra) or not absent or absent - missed not in (0, 1))
    if absent > args.missed or extra or missed < absent:
        sys.exit(1)
    barriers = list(trace_barriers(args.trace))
    if not check_barriers(args.log, args.trace, args.tick, args.barriers > 0) or \
            len(barriers) < args.barriers:
        sys.exit(1)
    if args.waited is not None and not check_waited(args.trace, args.waited):
        sys.exit(1)
    if args.passed_on and not check_submitters(args.trace):
        sys.exit(1)
    if args.owners and not check_owners(args.trace):
        sys.exit(1)
    if args.own and not check_own(args.own, log, args.tick):
        sys.exit(1)


if __name__ == "__main__":
    main()
