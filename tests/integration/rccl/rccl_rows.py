#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rccl_rows.py RTL LIBRARY DOUBLE USERS: what rccl_double tells librtl_rccl.so is in the database, by each version of
the interface, and reaches a plugin of the user's, which has version 2. LIBRARY: NCCL_PROFILER_PLUGIN is set to it in
mode standard, else rtl trace sets it; ROCm may not be preloaded."""
import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

RTL, LIBRARY, DOUBLE, USERS = sys.argv[1:]
os.environ["RTL"] = RTL
sys.path.insert(0, os.environ["RTL_PYTHON"])

import rtl  # pylint: disable=wrong-import-position

MODE = "standard" if LIBRARY else "hip"
ENV = {**os.environ, **({"NCCL_PROFILER_PLUGIN": LIBRARY} if LIBRARY else {})}
PLUGIN = "RTL_RCCL_PLUGIN" if LIBRARY else "NCCL_PROFILER_PLUGIN"


def output(command, **env):
    return subprocess.run(command, env={**ENV, **env}, stdout=subprocess.PIPE, text=True, check=True).stdout


def expected(version):
    ranks = 2 if version > 3 else 0
    for rank in range(2):
        for name, parts in (("AllReduce", 1), ("AllGather", ranks or 1)):
            yield (name, "ncclFloat32", "RING", "SIMPLE", 1000, 4000 * parts, 0xabc, ranks, rank, rank, -1, 3, 7)
        for name in ("Send", "(unknown)"):
            yield (name, "ncclBfloat16", None, None, 10, 20, 0xabc, ranks, rank, -1, 1 - rank, int(version > 3), 0)


def check(newest, took, said=(), **env):
    """took: the version of the interface that is used; said: by the user's plugin."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "run.db")
        out = output([RTL, "trace", "-q", "--mode", MODE, "-o", file, "--", DOUBLE, str(newest)], **env)
        assert out.splitlines() == [f"version {took}", *said], out
        summary = json.loads(output([RTL, "summary", "--json", file]))
        with contextlib.closing(sqlite3.connect(file)) as db:
            rows = db.execute(
                "SELECT operation, datatype, algorithm, protocol, count, bytes, communicator, ranks, rank, root, peer,"
                " channels, sequence FROM rtl_e_rtl_rccl_operation").fetchall()
            comms = db.execute("SELECT communicator, name, ranks, rank, nodes FROM rtl_e_rtl_rccl_communicator"
                               ).fetchall() if took > 3 else None
    assert sorted(rows, key=repr) == sorted(expected(took), key=repr), rows
    assert took < 4 or comms == [(0xabc, "world", 2, 0, 1), (0xabc, "world", 2, 1, 1)], comms
    row = next(row for section in summary["sections"] if section["kind"] == "collective"
               for row in section["rows"] if row["name"].startswith("AllReduce"))
    assert (row["count"], row["bytes"]) == (2, 8000), row
    # where the ranks are known: 1 came after 0
    assert took < 4 or (row["skew_count"], [late["rank"] for late in row["waited_for"]]) == (1, [1]), row


def check_merged():
    """Each rank has a process and a trace: who came last, and by how much, is known once they are merged."""
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, name) for name in ("0.db", "1.db", "all.db")]
        for rank in (1, 0):
            output([RTL, "trace", "-q", "--mode", MODE, "-o", files[rank], "--", DOUBLE, "5", str(rank)])
        with rtl.Trace(files[0]) as trace:
            assert {c.skew_count for c in trace.collectives()} == {None}
        output([RTL, "merge", "-o", files[2], *files[:2]])
        with rtl.Trace(files[2]) as trace:
            times = dict(trace.sql("SELECT rank, time_ns FROM rtl_e_rtl_rccl_operation WHERE operation = 'AllGather'"))
            found = {c.operation: c for c in trace.collectives()}
    assert set(found) == {"AllGather", "AllReduce", "(unknown)", "Send"} and found["Send"].skew_count is None, found
    is_ = found["AllGather"]
    assert is_[:6] == ("AllGather", 2, 0xabc, 2, 2, 16000), is_
    skew = times[0] - times[1]
    assert (is_.skew_count, is_.max_skew_ns, is_.waited_for) == (1, skew, [{"rank": 0, "count": 1, "ns": skew}]), is_


for number in range(2, 6):
    check(number, number)
check(5, 2, ["starts 11, stops 11, states 2"], **{PLUGIN: USERS})  # of rank 1 it wants no collectives and groups
check(3, 2, ["starts 7, stops 7, states 1"], **{PLUGIN: USERS, "USERS_PLUGIN_FAILS": "1"})
check(4, 4, **{PLUGIN: "none"})
check_merged()
check(4, 4, **{PLUGIN: "/there/is/none.so"})
