#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hip_compare.py [--args] TRACE OUTPUT [LOG]: what text_sub wrote against what a program says it called.

OUTPUT has, among others, lines "call NAME RESULT STREAM DEVICE [PARENT]" in the order of each
thread's calls, or "thread N call ..." where there are several threads (N is the kernel's id). Every
call must be in the trace with these values, in that order, once, and no other. Of each, the begin
is not after the end, calls of a thread do not overlap unless one has the other as its parent, and
instance and correlation are those of no other.

A line "[thread N ]kernels COUNT NAME" behind a call: the GPU ran so many kernels for it whose name
has that part. Every dispatch of the trace is linked to a call of the thread that submitted it, and
begins after it; those that no line tells of are the runtime's own kernels.

With --args the trace has the arguments too, for each call once, and a line "[thread N ]args TEXT"
behind a call says which; "?" in it stands for any value.
"""
import collections
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import text_trace  # noqa: E402

CLOCK_ERROR_NS = 1000000


CALL_NUMBERS = {"tid": "@tid", "instance": "@instance", "correlation": "@correlation", "parent": "parent",
                "begin": "begin_ns", "end": "end_ns", "time": "@time", "result": "result",
                "stream": "hip_stream", "device": "device", "flags": "flags"}
DISPATCH_NUMBERS = {"gpu": "gpu", "queue": "queue", "packet": "packet_id", "tid": "submit_tid",
                    "correlation": "@correlation", "begin": "begin_ns", "end": "end_ns"}


def numbers(row, names):
    return {key: int(row[name]) for key, name in names.items()}


def read_trace(path):
    calls, dispatches, ledgers, begins = collections.defaultdict(list), [], {}, {}
    args, args_begins, around = {}, {}, {}
    for row in text_trace.read(path):
        kind = row["@type"]
        if kind == "ledger":
            ledgers[row["@stream"]] = {key: int(row[key]) for key in row if key[0] != "@"}
        elif kind == "region_end":
            around[int(row["@instance"])] = row["name"]
        elif kind == "task_end":
            dispatches.append({**numbers(row, DISPATCH_NUMBERS), "kernel": row["kernel_name"]})
        elif kind.startswith("function"):
            call = {**numbers(row, CALL_NUMBERS), "name": row["function"], "status": row["status"],
                    "category": row["@category"]}
            if "args" in row:
                place = args if kind.endswith("end") else args_begins
                place.setdefault(call["instance"], []).append((call, row["args"]))
            elif kind.endswith("end"):
                calls[call["tid"]].append(call)
            else:
                begins[call["instance"]] = call
    return calls, dispatches, ledgers, begins, args, args_begins, around


def read_output(path):
    threads, kernels, arguments = collections.defaultdict(list), {}, {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            match = re.match(r"(?:thread (\d+) )?call (\w+) (-?\d+) (\w+) (-?\d+)(?: (\w+))?$", line)
            if match:
                threads[int(match[1] or 0)].append(
                    (match[2], int(match[3]), int(match[4], 0), int(match[5]), match[6]))
            match = re.match(r"(?:thread (\d+) )?args ?(.*)$", line)
            if match:
                tid = int(match[1] or 0)
                arguments[tid, len(threads[tid]) - 1] = match[2]
            match = re.match(r"(?:thread (\d+) )?kernels (\d+) (\w+)$", line)
            if match:
                tid = int(match[1] or 0)
                kernels[tid, len(threads[tid]) - 1] = int(match[2]), match[3]
    return threads, kernels, arguments


def compare_dispatches(kernels, calls, dispatches):
    """Of what the GPU ran, against what the calls should have made it run."""
    problems, by_call = [], collections.defaultdict(list)
    by_number = {call["correlation"]: call for one in calls.values() for call in one}
    for dispatch in dispatches:
        call = by_number.get(dispatch["correlation"])
        if not call or call["tid"] != dispatch["tid"]:
            problems.append("linked to no call of its thread: %s" % dispatch)
        elif dispatch["begin"] + CLOCK_ERROR_NS < call["begin"]:
            problems.append("begins before its call: %s, %s" % (dispatch, call))
        by_call[dispatch["correlation"]].append(dispatch["kernel"])
    for (tid, number), (count, part) in kernels.items():
        call = calls[tid][number]
        names = by_call.pop(call["correlation"], [])
        if len([name for name in names if part in name]) != count:
            problems.append("%d of %s expected, ran %s for %s" % (count, part, names, call))
    for names in by_call.values():
        problems += ["not expected: %s" % n for n in names if not n.startswith("__amd_rocclr_")]
    return problems


def check_times(call, by_instance):
    problems = []
    if not 0 < call["begin"] <= call["end"]:
        problems.append("ends before it begins: %s" % call)
    parent = by_instance.get(call["parent"])
    if parent and not parent["begin"] <= call["begin"] <= call["end"] <= parent["end"]:
        problems.append("is not within its parent: %s, %s" % (call, parent))
    return problems


def compare_thread(expected, calls, by_instance, around):
    problems = []
    for number, (want, got) in enumerate(zip(expected, calls)):
        parent = by_instance.get(got["parent"])
        have = (got["name"], got["result"], got["stream"], got["device"],
                parent["name"] if parent else around.get(got["parent"]))
        if have != want:
            problems.append("call %d: called %s, traced %s" % (number, want, have))
            break
        problems += check_times(got, by_instance)
    if len(expected) != len(calls):
        problems.append("%d calls, %d in the trace" % (len(expected), len(calls)))
    return problems


def same_args(want, got):
    return re.fullmatch(re.escape(want).replace("=\\?", "=[^,]*"), got) is not None


def compare_args(arguments, calls, by_instance, args, args_begins):
    problems = []
    for instance, ends in args.items():
        call, end = by_instance.get(instance), dict(ends[0][0])
        end["time"] = call["time"] if call else 0 # a moment later
        if len(ends) != 1 or call != end:
            problems.append("not what rtl.hip.call says: %s, %s" % (ends, call))
    if set(args) != set(by_instance):
        problems.append("arguments of %d calls, there are %d" % (len(args), len(by_instance)))
    for (tid, number), want in arguments.items():
        call = calls[tid][number]
        got = args.get(call["instance"], [(None, "")])[0][1]
        if not same_args(want, got):
            problems.append("%s: called with (%s), traced (%s)" % (call["name"], want, got))
    if not arguments:
        problems.append("the program says nothing of arguments")
    for instance, begun in args_begins.items():
        # before the call all pointers are addresses
        names = re.sub(r"\*", "", re.sub(r"=('.*?'|[^,]*)", "", args[instance][0][1]))
        if len(begun) != 1 or re.sub(r"=('.*?'|[^,]*)", "", begun[0][1]) != names:
            problems.append("a begin that is not its end's: %s, %s" % (begun, args[instance]))
    return problems


def main():
    with_args = sys.argv[1] == "--args"
    paths = sys.argv[2:] if with_args else sys.argv[1:]
    calls, dispatches, ledgers, begins, args, args_begins, around = read_trace(paths[0])
    threads, kernels, arguments = read_output(paths[1])
    everything = [call for one in calls.values() for call in one]
    by_instance = {call["instance"]: call for call in everything}
    problems = []
    if not threads:
        problems.append("the program says nothing of what it called")
    if 0 in threads and len(calls) == 1: # it does not name its only thread
        tid = list(calls)[0]
        threads = {tid: threads[0]}
        arguments = {(tid, number): text for (_, number), text in arguments.items()}
        kernels = {(tid, number): what for (_, number), what in kernels.items()}
    for tid in sorted(set(threads) | set(calls)):
        problems += ["thread %d: %s" % (tid, p) for p in compare_thread(
            threads.get(tid, []), calls.get(tid, []), by_instance, around)]
    if len(by_instance) != len(everything):
        problems.append("an instance is there twice")
    for instance, call in begins.items():
        end = by_instance.get(instance)
        if not end or end["name"] != call["name"] or end["begin"] != call["begin"]:
            problems.append("begin without its end: %s" % call)
    if begins and len(begins) != len(everything):
        problems.append("%d begins, %d ends" % (len(begins), len(everything)))
    problems = problems or compare_dispatches(kernels, calls, dispatches)
    if with_args and not problems:
        problems = compare_args(arguments, calls, by_instance, args, args_begins)
    ledger = ledgers.get("rtl.hip.call", {})
    if ledger.get("published") != ledger.get("delivered") or ledger.get("missed") != 0:
        problems.append("ledger: %s" % ledger)
    if ledger.get("published") != len(everything) + len(begins):
        problems.append("ledger: %s, but %d events" % (ledger, len(everything) + len(begins)))
    for problem in problems[:20]:
        print("hip_compare: %s" % problem, file=sys.stderr)
    if not with_args and args:
        problems.append("arguments that nobody asked for")
    print("hip_compare: %d calls, %d functions, %d threads, %d dispatches" % (
        len(everything), len({call["name"] for call in everything}), len(calls), len(dispatches)))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
