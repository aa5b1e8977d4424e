#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""counter_timeline.py [--intervals] RTL DATABASE SCRATCH LIVE: what `rtl convert` makes of a trace's counters
has all of their values: rocprofv3's table and JSON, and tracks of both kinds of timelines; so has the timeline LIVE,
which was written as the program ran. --intervals: those of --counters-sample."""
import collections
import csv
import json
import pathlib
import sqlite3
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "timeline"))
import pftrace

intervals = sys.argv[1] == "--intervals"
rtl, database, scratch, live = sys.argv[-4], sys.argv[-3], pathlib.Path(sys.argv[-2]), pathlib.Path(sys.argv[-1])
expected = collections.defaultdict(list)
for name, value in sqlite3.connect(database).execute(
        "SELECT counter || ', process ' || pid, value FROM rtl_counter_intervals WHERE value NOT NULL" if intervals else
        "SELECT s.string, c.value FROM rocpd_counter AS c JOIN rocpd_string AS s ON s.id = c.name_id"):
    expected[name].append(value)


def convert(suffix, *options):
    path = scratch / f"counters{suffix}"
    subprocess.run([rtl, "convert", database, "-o", path, *options], check=True, stderr=subprocess.DEVNULL)
    return path


def compare(what, found):
    for name, values in expected.items():
        # tracks are 0 between dispatches
        ours, values = sorted(v for v in found[name] if v), sorted(v for v in values if v)
        if len(ours) != len(values) or any(abs(a - b) > 1e-6 * abs(b) + 1e-6
                                           for a, b in zip(ours, values)):
            sys.exit(f"{what}: {name} has {len(ours)} values ({ours[:3]}), and not "
                     f"{len(values)} ({values[:3]})")


def compare_dispatches():
    rows = collections.defaultdict(list)
    with open(convert(".csv") / "counter_collection.csv", encoding="utf-8") as table:
        for row in csv.DictReader(table):
            rows[row["Counter_Name"]].append(float(row["Counter_Value"]))
    compare("counter_collection.csv", rows)

    rows = collections.defaultdict(list)
    for process in json.loads(convert(".rocprofv3.json", "--format", "rocprofv3").read_text())["rocprofiler-sdk-tool"]:
        names = {counter["id"]["handle"]: counter["name"] for counter in process["counters"]}
        times = {d["dispatch_info"]["dispatch_id"]: (d["start_timestamp"], d["end_timestamp"], d["dispatch_info"])
                 for d in process["buffer_records"]["kernel_dispatch"]}
        for record in process["callback_records"]["counter_collection"]:
            data = record["dispatch_data"]
            mine = data["start_timestamp"], data["end_timestamp"], data["dispatch_info"]
            if mine != times[data["dispatch_info"]["dispatch_id"]]:
                sys.exit(f"rocprofv3's JSON: {mine} is no dispatch")
            for one in record["records"]:
                rows[names[one["counter_id"]["handle"]]].append(one["value"])
    compare("rocprofv3's JSON", rows)


def compare_intervals():
    rows = collections.defaultdict(list)
    path = convert(".csv") / "counter_intervals.csv"
    if not expected and not path.exists():  # killed before the first interval
        return
    with open(path, encoding="utf-8") as table:
        for row in csv.DictReader(table):
            rows[f"{row['Counter_Name']}, process {row['Process_Id']}"].append(float(row["Counter_Value"] or 0))
            if int(row["Start_Timestamp"]) >= int(row["End_Timestamp"]):
                sys.exit(f"counter_intervals.csv: {row} is no interval")
    compare("counter_intervals.csv", rows)


def compare_json(what, path):
    tracks = collections.defaultdict(list)
    for event in json.loads(path.read_text())["traceEvents"]:
        if event["ph"] == "C" and event["name"] in expected:
            tracks[event["name"]] += event["args"].values()
    compare(what, tracks)


if intervals:
    compare_intervals()
else:
    compare_dispatches()
compare_json("json", convert(".json"))
compare_json("the live timeline", live)

tracks = collections.defaultdict(list)
trace = pftrace.Trace(convert(".pftrace"))
for track, _, value in trace.counters:
    tracks[trace.tracks[track]["name"]].append(value)
compare("pftrace", tracks)
