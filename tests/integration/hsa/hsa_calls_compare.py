#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hsa_calls_compare.py TRACE LOG [NOT-CALLED...]: what text_sub wrote against the log of
hsa_calls: every call of every thread, in its order, with its arguments and what came back, within
the times that the program read around it. NOT-CALLED are the functions that the program cannot
call; another that it has not called is an error."""
import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import text_trace  # noqa: E402

PLAIN, DEBUG = "rtl.hsa.call", "rtl.hsa.call.debug"
# Both clocks are readings of CLOCK_BOOTTIME, the trace's by way of the processor's counter.
CLOCK_ERROR_NS = 50000

failures = []


def fail(text):
    failures.append(text)


def read_log(path):
    calls, missing = collections.defaultdict(list), []
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            kind, _, rest = line.rstrip("\n").partition(" ")
            if kind == "call":
                tid, before, after, what = rest.split(" ", 3)
                calls[int(tid)].append((what, int(before), int(after)))
            elif kind == "not-called":
                missing.append(rest)
    return calls, missing


def read_trace(path):
    events, ledgers = collections.defaultdict(list), {}
    for row in text_trace.read(path):
        if row["@type"] == "ledger":
            ledgers[row["@stream"]] = tuple(
                int(row[key]) for key in ("published", "delivered", "discarded", "missed"))
            continue
        if (row["@kind"], row["@name"]) != ("function", row["function"]):
            fail("wrong tracepoint for %s" % row["function"])
        what = "%s(%s) %s %s" % (row["function"], row.get("args", ""), row["status"], row["result"])
        events[row["@stream"], row["@type"].rpartition("_")[2], int(row["@tid"])].append(
            (what, int(row["begin_ns"]), int(row["end_ns"]), int(row["@instance"])))
    return events, ledgers


def without_arguments(what):
    name, _, rest = what.partition("(")
    return name + "()" + rest[rest.rindex(")") + 1:]


def name_of(what):
    return what.partition("(")[0]


def compare(tid, logged, debug, plain):
    for i in range(max(len(logged), len(debug), len(plain))):
        if i >= min(len(logged), len(debug), len(plain)):
            fail("thread %d: %d calls logged, %d in .debug, %d in .call; the first that is only in some: %s"
                 % (tid, len(logged), len(debug), len(plain),
                    (list(logged) + [("", 0, 0)] * (i + 1))[i][0] or (debug + plain)[-1][0]))
            return
        what, before, after = logged[i]
        traced, begin, end, instance = debug[i]
        if what != traced:
            fail("thread %d, call %d:\n  logged %s\n  traced %s" % (tid, i, what, traced))
            return
        if not before - CLOCK_ERROR_NS <= begin <= end <= after + CLOCK_ERROR_NS:
            fail("times of %s: %d %d, the program's are %d %d" % (what, begin, end, before, after))
        short, plain_begin, plain_end, plain_instance = plain[i]
        if short != without_arguments(what) or plain_instance != instance or \
                plain_begin != begin or plain_end > end:
            fail("thread %d, call %d:\n  .debug %s\n  .call %s" % (tid, i, what, short))


def compare_begins(key, begins, ends):
    """Begin events: each has its end; what has begun last ends first."""
    names = {instance: name_of(what) for what, _, _, instance in begins}
    if len(names) != len(begins):
        fail("%s: an instance twice" % (key,))
    if sorted(names.items()) != sorted((i, name_of(w)) for w, _, _, i in ends):
        fail("%s: begins and ends do not belong together" % (key,))


def main():
    logged, missing = read_log(sys.argv[2])
    events, ledgers = read_trace(sys.argv[1])
    if missing != sys.argv[3:]:
        fail("not called: %s" % " ".join(missing))
    threads = set(logged) | {key[2] for key in events}
    for tid in sorted(threads):
        compare(tid, logged.get(tid, []), events[DEBUG, "end", tid], events[PLAIN, "end", tid])
        for stream in (PLAIN, DEBUG):
            compare_begins((stream, tid), events[stream, "begin", tid], events[stream, "end", tid])
    for stream in (PLAIN, DEBUG):
        count = sum(len(found) for key, found in events.items() if key[0] == stream)
        if ledgers.get(stream) != (count, count, 0, 0):
            fail("%s: %d events, ledger %s" % (stream, count, ledgers.get(stream)))
    total = sum(map(len, logged.values()))
    if not total:
        fail("nothing was logged")
    for text in failures[:20]:
        print(text)
    print("%d calls of %d threads: %s" % (total, len(logged), "differ" if failures else "agree"))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
