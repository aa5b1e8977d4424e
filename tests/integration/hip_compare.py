#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hip_compare.py TRACE OUTPUT: what hip_dump wrote against what a program says it called.

OUTPUT has, among others, lines "call NAME RESULT STREAM DEVICE [PARENT]" in the order of each
thread's calls, or "thread N call ..." where there are several threads (N is the kernel's id). Every
call must be in the trace with these values, in that order, once, and no other. Of each, the begin
is not after the end, calls of a thread do not overlap unless one has the other as its parent, and
instance and correlation are those of no other.
"""
import collections
import re
import sys


def fields(line):
    return dict(re.findall(r"(\w+)=(\S+)", line))


def read_trace(path):
    calls, dispatches, ledgers, begins = collections.defaultdict(list), [], {}, {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[0] in ("end", "begin"):
                call = {k: v if k in ("category", "status") else int(v, 0) for k, v in fields(line).items()}
                call["name"] = words[1]
                if words[0] == "begin":
                    begins[call["instance"]] = call
                else:
                    calls[call["tid"]].append(call)
            elif words[0] == "dispatch":
                dispatches.append({k: int(v) for k, v in fields(line).items()})
                dispatches[-1]["kernel"] = words[1]
            elif words[0] == "ledger":
                ledgers[words[1]] = {k: int(v) for k, v in fields(line).items()}
    return calls, dispatches, ledgers, begins


def read_output(path):
    threads = collections.defaultdict(list)
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            match = re.match(r"(?:thread (\d+) )?call (\w+) (-?\d+) (\w+) (-?\d+)(?: (\w+))?$", line)
            if match:
                threads[int(match[1] or 0)].append(
                    (match[2], int(match[3]), int(match[4], 0), int(match[5]), match[6]))
    return threads


def check_times(call, by_instance):
    problems = []
    if not 0 < call["begin"] <= call["end"]:
        problems.append("ends before it begins: %s" % call)
    parent = by_instance.get(call["parent"])
    if parent and not parent["begin"] <= call["begin"] <= call["end"] <= parent["end"]:
        problems.append("is not within its parent: %s, %s" % (call, parent))
    return problems


def compare_thread(expected, calls, by_instance):
    problems = []
    for number, (want, got) in enumerate(zip(expected, calls)):
        parent = by_instance.get(got["parent"])
        have = (got["name"], got["result"], got["stream"], got["device"],
                parent["name"] if parent else None)
        if have != want:
            problems.append("call %d: called %s, traced %s" % (number, want, have))
            break
        problems += check_times(got, by_instance)
    if len(expected) != len(calls):
        problems.append("%d calls, %d in the trace" % (len(expected), len(calls)))
    return problems


def main():
    calls, _, ledgers, begins = read_trace(sys.argv[1])
    threads = read_output(sys.argv[2])
    everything = [call for one in calls.values() for call in one]
    by_instance = {call["instance"]: call for call in everything}
    problems = []
    if not threads:
        problems.append("the program says nothing of what it called")
    if 0 in threads:
        threads = {tid: threads[0] for tid in list(calls)[:1]} if len(calls) == 1 else threads
    for tid in sorted(set(threads) | set(calls)):
        problems += ["thread %d: %s" % (tid, p) for p in compare_thread(
            threads.get(tid, []), calls.get(tid, []), by_instance)]
    if len(by_instance) != len(everything):
        problems.append("an instance is there twice")
    for instance, call in begins.items():
        end = by_instance.get(instance)
        if not end or end["name"] != call["name"] or end["begin"] != call["begin"]:
            problems.append("begin without its end: %s" % call)
    if begins and len(begins) != len(everything):
        problems.append("%d begins, %d ends" % (len(begins), len(everything)))
    ledger = ledgers.get("rtl.hip.call", {})
    if ledger.get("published") != ledger.get("delivered") or ledger.get("missed") != 0:
        problems.append("ledger: %s" % ledger)
    if ledger.get("published") != len(everything) + len(begins):
        problems.append("ledger: %s, but %d events" % (ledger, len(everything) + len(begins)))
    for problem in problems[:20]:
        print("hip_compare: %s" % problem, file=sys.stderr)
    print("hip_compare: %d calls, %d functions, %d threads" % (
        len(everything), len({call["name"] for call in everything}), len(calls)))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
