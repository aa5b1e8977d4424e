#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
timeline_awkward.py PROGRAM RTL SQLITE-PLUGIN JSON-PLUGIN: names with quotes, any bytes, control
characters, 10 kB and nothing in them, as timeline_events.c makes them: in the database and in the
timelines, live and converted, they are the same.
"""

import collections
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import other_formats
import pftrace
from timeline_kit import check_nesting, load, plain

PROGRAM, RTL, SQLITE, JSON = sys.argv[1:]


def ask(database, sql):
    return collections.Counter(sqlite3.connect(database).execute(sql).fetchall())


def slices_of_json(path):
    trace = load(path)
    check_nesting(trace["traceEvents"])
    base = trace["baseTimeNanoseconds"]
    return [(e["cat"], e["name"], base + round(e["ts"] * 1000),
             base + round((e["ts"] + e.get("dur", 0)) * 1000), e["args"])
            for e in trace["traceEvents"] if e["ph"] in "Xi"]


def slices_of_pftrace(path):
    return [(s["cat"], s["name"], s["begin"], s["end"], s["args"])
            for s in pftrace.Trace(path).slices if s["cat"] != "ledger"]


def compare(what, expected, found):
    for key in list((expected - found).elements())[:3] + list((found - expected).elements())[:3]:
        print(f"{what}: {str(key)[:300]}")
    return expected != found


def check(what, database, slices):
    """Whether it differs from the database."""
    of = collections.defaultdict(list)
    for category, *rest in slices:
        of[category].append(rest)
    # a live name ends at a NUL, which is U+FFFD in a database
    bad = compare(f"{what}, ranges", ask(
        database, "SELECT replace(u.string, char(65533) || 'inside', ''), start, end FROM rtl_marker JOIN "
        "rocpd_api AS a ON a.id = api_id JOIN rocpd_ustring AS u ON u.id = args_id"),
                  collections.Counter((plain(n), b, e) for n, b, e, _ in of["roctx"]))
    names = ask(database, "SELECT t.name, start, end FROM rtl_dispatch JOIN rocpd_op AS o "
                "ON o.id = op_id LEFT JOIN rtl_tracepoint AS t USING (process, uid)")
    unnamed = "(unknown kernel)"
    bad |= compare(f"{what}, kernels", collections.Counter(
        (plain(n) or unnamed, b, e) for n, b, e in names.elements()), collections.Counter(
            (plain(n), b, e) for n, b, e, _ in of["kernel_dispatch"]))
    fields = ", ".join(f.format(table="{table}") for f in (
        "{table}.name", "{table}.size", "printf('0x%x', {table}.address)", '{table}."when"',
        "{table}.share", "{table}.delta", '{table}."on"'))
    steps = ask(database, f"SELECT b.time_ns, e.time_ns, {fields.format(table='b')} FROM "
                "rtl_e_my_steps_step_begin AS b JOIN rtl_e_my_steps_step_end AS e USING (instance)")
    steps += ask(database, f"SELECT time_ns, time_ns, {fields.format(table='t')} FROM "
                 "rtl_e_my_steps_tick AS t")
    bad |= compare(f"{what}, steps", steps, collections.Counter(
        (b, e, a["name"], a["size"], a["address"], a["when"], a["share"], a["delta"], int(a["on"]))
        for _, b, e, a in of["my.steps"]))
    bad |= any(a["name"] and n != a["name"] for n, _, _, a in of["my.steps"])
    return bad or not steps


def main():
    folder = tempfile.mkdtemp(prefix="rtl-timeline-")
    try:
        database, live, compressed, protobuf = (os.path.join(folder, "a" + suffix) for suffix in
                                                (".db", ".json", ".json.gz", ".pftrace"))
        subprocess.run([PROGRAM, SQLITE, database, JSON, live, JSON, compressed, JSON, protobuf],
                       check=True)
        bad = check("json", database, slices_of_json(live))
        bad |= slices_of_json(live) != slices_of_json(compressed)
        bad |= check("pftrace", database, slices_of_pftrace(protobuf))
        for name, read, same in (("b.json", slices_of_json, live), ("b.pftrace", slices_of_pftrace, protobuf)):
            path = os.path.join(folder, name)
            subprocess.run([RTL, "convert", database, "-o", path], check=True,
                           stdout=subprocess.DEVNULL)
            bad |= compare("converted to " + name, *(collections.Counter(repr(s).replace("\ufffdinside", "") for s in read(p)) for p in (same, path)))
        return int(bad | other_formats.check_all(RTL, database, folder))
    finally:
        shutil.rmtree(folder)


sys.exit(main())
