#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
timeline_gpu.py MODE RUNNER PROGRAM...: traces PROGRAM on a software GPU into a database and timelines
at once, and compares them value by value: JSON, compressed JSON and protobuf with each other, all of
them with what `rtl convert` makes of the database, and flows with rocpd_api_ops; and the formats of other
tools with the database.
"""

import collections
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import other_formats
import pftrace
from timeline_kit import check_nesting, load

BUILD = os.environ["RTL_BUILD_DIR"]
RTL = os.path.join(BUILD, "bin", "rtl")
HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77


def events_of(trace):
    """All that happened, as a multiset: kind, category, name, begin, duration, flow, values."""
    base = trace["baseTimeNanoseconds"]
    return collections.Counter(
        (e["ph"], e["cat"], e["name"], base + round(e["ts"] * 1000), round(e.get("dur", 0) * 1000),
         e.get("bind_id"), json.dumps(e.get("args", {}), sort_keys=True))
        for e in trace["traceEvents"] if e["ph"] in "Xi")


def differ(what, one, other):
    missing, more = one - other, other - one
    for event in list(missing.elements())[:5]:
        print(f"{what}: only in the first: {event}")
    for event in list(more.elements())[:5]:
        print(f"{what}: only in the second: {event}")
    return bool(missing or more)


def plain_events(trace):
    base = trace["baseTimeNanoseconds"]
    return collections.Counter(
        (e["cat"], e["name"], base + round(e["ts"] * 1000), round(e.get("dur", 0) * 1000))
        for e in trace["traceEvents"] if e["ph"] in "Xi")


def check_pftrace(path, trace):
    """Its slices are those of the JSON, and each end of a flow has one begin."""
    read = pftrace.Trace(path)
    found = collections.Counter((s["cat"], s["name"], s["begin"], s["end"] - s["begin"])
                                for s in read.slices if s["cat"] != "ledger")
    begins = collections.Counter(flow for s in read.slices for flow in s["flows"])
    ends = collections.Counter(flow for s in read.slices for flow in s["ends"])
    bad = differ("pftrace", plain_events(trace), found)
    if set(begins.values()) | set(ends.values()) - {1}:
        bad |= max(begins.values(), default=1) > 1 or max(ends.values(), default=1) > 1
    if set(ends) - set(begins):
        print(f"pftrace: {len(set(ends) - set(begins))} flows end that do not begin")
        bad = True
    return bad


def check_flows(path, trace):
    """From which call each operation comes: (name of the call, its begin, begin of the work)."""
    base = trace["baseTimeNanoseconds"]
    calls, ends, found = {}, set(), collections.Counter()
    for event in trace["traceEvents"]:
        if event.get("flow_out"):
            assert event["bind_id"] not in calls
            calls[event["bind_id"]] = (event["name"], base + round(event["ts"] * 1000))
    for event in trace["traceEvents"]:
        if event.get("flow_in"):
            ends.add(event["bind_id"])
            found[calls.get(event["bind_id"], ()) + (event["args"]["begin_ns"],)] += 1
    database = sqlite3.connect(path)
    rows = database.execute(
        "SELECT s.string, a.start, o.start FROM rocpd_api_ops AS l JOIN rocpd_api AS a "
        "ON a.id = l.api_id JOIN rtl_call USING (api_id) JOIN rocpd_op AS o ON o.id = l.op_id "
        "JOIN rocpd_string AS s ON s.id = a.apiName_id WHERE NOT EXISTS "
        "(SELECT 1 FROM rtl_dispatch AS d WHERE d.op_id = o.id AND d.flags & 16 UNION ALL "
        "SELECT 1 FROM rtl_copy AS c WHERE c.op_id = o.id AND c.flags & 256)").fetchall()
    database.close()
    print(f"{len(calls)} flows, {len(rows)} operations of calls")
    if set(calls) != ends:
        print(f"flows that do not end: {len(set(calls) - ends)}; that do not begin: {len(ends - set(calls))}")
        return True
    return differ("flows", collections.Counter(rows), found)


def trace_program(folder, mode, runner, program):
    outputs = [os.path.join(folder, "a" + suffix) for suffix in (".db", ".json", ".json.gz",
                                                                 ".pftrace")]
    done = subprocess.run(
        [RTL, "trace", "-q", "-m", mode, "--spool", folder,
         *(word for path in outputs for word in ("-o", path)), "--", runner, *program],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode or not os.path.exists(outputs[0]):
        print(f"exit status {done.returncode}: {done.stdout[-2000:]}")
        sys.exit(1)
    return outputs


def convert(folder, database, name):
    path = os.path.join(folder, name)
    subprocess.run([RTL, "convert", database, "-o", path], check=True, stdout=subprocess.DEVNULL)
    return path


def compare(folder, outputs):
    database, *timelines = outputs
    trace = load(timelines[0])
    check_nesting(trace["traceEvents"])
    bad = differ("gz", events_of(trace), events_of(load(timelines[1])))
    bad |= check_pftrace(timelines[2], trace)
    bad |= check_flows(database, trace)
    converted = load(convert(folder, database, "b.json"))
    check_nesting(converted["traceEvents"])
    bad |= check_pftrace(convert(folder, database, "b.pftrace"), converted)
    bad |= differ("converted", events_of(trace), events_of(converted))
    bad |= other_formats.check_all(RTL, database, folder)
    for stream in trace["metadata"]["rtl"]["ledger"]:
        if stream["published"] != stream["delivered"] + stream.get("left_out", 0):
            print(f"ledger: {stream}")
            bad = True
    count = sum(events_of(trace).values())
    print(f"{count} events compared")
    return bad or not count


def main():
    mode, runner, *program = sys.argv[1:]
    if runner == "rocm7" and subprocess.run([os.path.join(HERE, "..", "..", "rocm7", "fetch"),
                                             "--check"], check=False).returncode:
        print("SKIPPED: ROCm 7 is not fetched here (tests/rocm7/fetch says why)")
        return SKIPPED
    folder = tempfile.mkdtemp(prefix="rtl-timeline-")
    try:
        outputs = trace_program(folder, mode, os.path.join(HERE, "..", "..", runner, "run"),
                                program)
        return int(compare(folder, outputs))
    finally:
        shutil.rmtree(folder)


sys.exit(main())
