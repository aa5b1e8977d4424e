#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hsa_memory_compare.py TRACE LOG THUNK: the memory events that text_sub wrote, against the log
of hsa_memory (each allocation and release in its order, with sizes, nodes and running totals) and,
where the software GPU's thunk says what it allocates (SOFTGPU_TRACE), against that."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import text_trace  # noqa: E402

failures = []


def fail(text):
    failures.append(text)


def read_log(path):
    expected, kinds, several = [], {}, 0
    for line in open(path, encoding="utf-8"):
        words = line.split()
        if words[0] == "pool":
            kinds[int(words[2])] = words[3]
        elif words[0] in ("alloc", "release"):
            address = 0 if words[2] == "(nil)" else int(words[2], 16)
            expected.append((words[0], words[1], address, int(words[3]), int(words[4]),
                             int(words[5]), words[6] == "ok"))
        elif words[0] == "threads":
            several = int(words[1])
    return expected, kinds, several


NUMBERS = {"tid": "@tid", "begin": "begin_ns", "end": "end_ns", "address": "address", "bytes": "bytes",
           "in_use": "in_use_bytes", "node": "node", "kind": "kind", "flags": "flags"}
TEXTS = {"function": "function", "status": "status", "agent": "@parent", "segment": "segment",
         "instance": "@instance"}


def read_trace(path):
    begins, ends, ledger = {}, [], None
    for row in text_trace.read(path):
        if row["@type"] == "ledger":
            ledger = tuple(int(row[key]) for key in ("published", "delivered", "discarded", "missed"))
            continue
        _, what, which = row["@type"].split("_")
        event = {"what": what, **{key: int(row[name]) for key, name in NUMBERS.items()},
                 **{key: row[name] for key, name in TEXTS.items()}}
        if which == "begin":
            begins[event["instance"]] = event
        else:
            ends.append(event)
    return begins, ends, ledger


def counted_as(kind, node):
    """What a total is of: an agent, or a kind where there is none."""
    return ("node", node) if kind <= 3 else ("kind", kind)


def check_one(number, expected, event, kinds, totals):
    what, function, address, size, node, kind, good = expected
    if good:
        key = counted_as(kind, node)
        totals[key] = totals.get(key, 0) + (size if what == "alloc" else -size)
    key = counted_as(kind, node)
    flags = (1 if kind <= 3 and kinds.get(node) == "gpu" else 0) | (0 if good else 4)
    wanted = {"what": what, "function": function, "address": address, "bytes": size, "node": node,
              "kind": kind, "flags": flags}
    if good:
        wanted["in_use"] = totals[key]
        wanted["status"] = "HSA_STATUS_SUCCESS"
    for name, value in wanted.items():
        if event[name] != value:
            fail("event %d (%s): %s is %s, should be %s" % (number, function, name, event[name], value))
    if not good and not event["status"].startswith("HSA_STATUS_ERROR"):
        fail("event %d: status %s" % (number, event["status"]))
    if kind <= 3 and (event["agent"] != "agent" or not event["segment"].startswith("global")):
        fail("event %d: %s of a %s" % (number, event["segment"], event["agent"]))


def check_threads(events, several, kinds):
    """Order and totals of the threads are not known, but for the end, and that sums are right."""
    if sum(e["what"] == "alloc" for e in events) != several or len(events) != 2 * several:
        fail("threads: %d events for %d allocations" % (len(events), several))
    live = {}
    for event in sorted(events, key=lambda e: (e["end"] if e["what"] == "alloc" else e["begin"])):
        if event["flags"] & ~1 or (event["flags"] & 1) != (kinds[event["node"]] == "gpu"):
            fail("threads: flags %d of %s" % (event["flags"], event["function"]))
        if event["what"] == "alloc":
            live[event["address"]] = event
            continue
        was = live.pop(event["address"], None)
        if not was or (was["bytes"], was["node"]) != (event["bytes"], event["node"]):
            fail("threads: release of %x says %d bytes on %d" % (event["address"], event["bytes"],
                                                                 event["node"]))
    if live:
        fail("threads: %d never released" % len(live))


def check_thunk(path, events):
    """What is too large for the runtime to have put it together with others."""
    allocated = {}
    for line in open(path, encoding="utf-8", errors="replace"):
        match = re.search(r"alloc node (\d+) (\d+) flags \w+ -> (0x[0-9a-f]+)", line)
        if match:
            allocated.setdefault(int(match.group(3), 16), []).append(
                (int(match.group(1)), int(match.group(2))))
    if not allocated:
        return 0
    found = 0
    for event in events:
        if event["what"] != "alloc" or event["bytes"] < 8 << 20 or event["flags"] & 4 or event["kind"] > 3:
            continue
        found += 1
        if not any(node == event["node"] and size >= event["bytes"]
                   for node, size in allocated.get(event["address"], [])):
            fail("the thunk has not allocated %d bytes at %x on node %d: %s" % (
                event["bytes"], event["address"], event["node"], allocated.get(event["address"])))
    return found


def main():
    expected, kinds, several = read_log(sys.argv[2])
    begins, ends, ledger = read_trace(sys.argv[1])
    totals = {}
    for number, one in enumerate(expected):
        if number >= len(ends):
            fail("%d events, %d were logged" % (len(ends), len(expected)))
            break
        check_one(number, one, ends[number], kinds, totals)
    rest = ends[len(expected):]
    check_threads(rest, several, kinds)
    last = {}
    for event in ends:
        last[counted_as(event["kind"], event["node"])] = event["in_use"]
        begun = begins.pop(event["instance"], None)
        if not begun or (begun["what"], begun["function"], begun["bytes"], begun["tid"]) != (
                event["what"], event["function"], event["bytes"], event["tid"]):
            fail("no begin, or another, for %s" % event)
    if begins:
        fail("begins without an end: %s" % list(begins.values())[:3])
    if any(totals.values()):
        fail("in use by the log at the end: %s" % totals)
    if max((e["in_use"] for e in rest), default=0) <= 0 or min(e["in_use"] for e in ends) < 0:
        fail("totals: %s" % last)
    if ledger != (2 * len(ends), 2 * len(ends), 0, 0):
        fail("%d events, ledger %s" % (2 * len(ends), ledger))
    by_thunk = check_thunk(sys.argv[3], ends)
    for text in failures[:20]:
        print(text)
    print("%d allocations and releases, %d of them in the thunk's log: %s" % (
        len(ends), by_thunk, "differ" if failures else "agree"))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
