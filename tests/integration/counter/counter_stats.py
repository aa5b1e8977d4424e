#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""counter_stats.py BUILD RUNNER "OPTIONS" PROGRAM [ARGUMENT...]: what libstats_sub.so says of hardware counters is what
`rtl summary` says of the database of the same recording; and so is its CSV. OPTIONS: of rtl record."""
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile

build, runner, options, *program = sys.argv[1:]
rtl = f"{build}/bin/rtl"
env = dict(os.environ, LD_LIBRARY_PATH=f"{build}/lib/aqlprofile")


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **more)
    if done.returncode:
        sys.exit(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def near(a, b):
    return abs(a - b) <= 1e-9 * abs(b) + 1e-6 if isinstance(a, float) and isinstance(b, float) else a == b


with tempfile.TemporaryDirectory(prefix="rtl-counter-") as scratch:
    folder, stats, database = (str(pathlib.Path(scratch) / name) for name in ("recording", "stats.json", "trace.db"))
    run(rtl, "record", "-o", folder, *options.split(), "--", runner, *program, env=env)
    run(rtl, "replay", folder, "-s", f"libstats_sub.so?format=json&output={stats}")
    run(rtl, "replay", folder, "-o", database)
    live = json.loads(pathlib.Path(stats).read_text())
    summary = json.loads(run(rtl, "summary", "--json", database))
    for what in ("counters", "counter_intervals"):
        ours, theirs = live[what], summary[what]
        if len(ours) != len(theirs):
            sys.exit(f"{what}: {len(ours)} rows live, {len(theirs)} of the database")
        for a, b in zip(ours, theirs):
            if a.keys() != b.keys() or not all(near(a[key], b[key]) for key in a):
                sys.exit(f"{what}: {a} live, {b} of the database")
    if live.get("counter_ledger") != summary.get("counter_ledger"):
        sys.exit(f"{live.get('counter_ledger')} live, {summary.get('counter_ledger')} of the database")
    expected = summary["counters"] + summary["counter_intervals"]
    rows = [row for row in csv.DictReader(io.StringIO(run(rtl, "summary", "--csv", database))) if row["counter"]]
    shown = [(row["name"], row["counter"], row["unit"], int(row["count"]), int(row["of"])) for row in rows]
    if not expected or shown != [(c.get("kernel") or f"GPU {c['gpu']}", c["counter"], c.get("unit", ""), c["counted"],
                                  c.get("dispatches", c.get("intervals"))) for c in expected]:
        sys.exit(f"--csv: {shown}, and not {expected}")
    for row, c in zip(rows, expected):
        if [row[key] for key in ("mean", "min", "max")] != ["", "", ""] if not c["counted"] else not all(
                abs(float(row[key]) - c[key]) <= 1e-6 * abs(c[key]) + 1e-6 for key in ("mean", "min", "max")):
            sys.exit(f"--csv: {row}, and not {c}")
    never = [c for c in expected if not c["counted"]]
    text = run(rtl, "summary", database)
    for c in expected:
        if c["counter"] not in text:
            sys.exit(f"{c['counter']} is not in the text:\n{text}")
    print(f"{len(expected)} rows, {len(never)} without a value")
    if os.environ.get("EXPECT_NEVER") and {c["counter"] for c in never} != {os.environ["EXPECT_NEVER"]}:
        sys.exit(f"without a value: {never}")
