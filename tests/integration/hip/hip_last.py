#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hip_last.py RUNNER PROGRAM: the flight recorder against the software GPU's log. PROGRAM (hip_last.hip) launches for
a while, asks for a snapshot while a range is open, and launches again. The last kernels are in the trace, every one
of the log is recorded or left out, and what describes them is there although it is older. RTL_BUILD_DIR is the
build. Exit status 77: skipped."""
import collections
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

import gpu_log

RTL = os.path.join(os.environ["RTL_BUILD_DIR"], "bin", "rtl")
HERE = os.path.dirname(os.path.abspath(__file__))


def look(name, problems):
    db = sqlite3.connect(name)
    got = [n for n, in db.execute("SELECT grid_x / 64 FROM rtl_dispatches WHERE kernel = 'numbered'"
                                  " ORDER BY end_ns, grid_x")]
    left_out = collections.Counter(dict(db.execute(
        "SELECT stream, count FROM rtl_left_out WHERE cause = 'older than what is kept'")))
    for stream, published, delivered, lost in db.execute(
            "SELECT stream, published, delivered, discarded + abandoned + missed FROM rtl_ledger"):
        if lost or published != delivered + left_out[stream]:
            problems.append("%s: ledger of %s: %d, %d, %d lost, %d left out" % (
                name, stream, published, delivered, lost, left_out[stream]))
    described = db.execute(
        "SELECT count(*), count(DISTINCT d.queue), (SELECT count(*) FROM rtl_queue),"
        " (SELECT count(*) FROM rtl_tracepoint_metadata WHERE key = 'node')"
        " FROM rtl_dispatches AS d JOIN rtl_queue AS q ON q.process = d.process AND q.queue = d.queue"
        " WHERE d.kernel = 'numbered'").fetchone()
    if described[0] != len(got) or not described[1] or not described[3]:
        problems.append("%s: queues and GPUs: %s of %d" % (name, described, len(got)))
    open_ranges = [n for n, in db.execute("SELECT name FROM rtl_markers WHERE unfinished")]
    return got, left_out, open_ranges


def main():
    runner, program = sys.argv[1:]
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "SOFTGPU_LOG": folder + "/log", "RTL": RTL, "SNAPSHOT": folder + "/now.db"}
        done = subprocess.run([RTL, "trace", "--last", "1", "-o", folder + "/run.db",
                               os.path.join(HERE, "..", "..", runner, "run"), program],
                              check=False, capture_output=True, text=True, env=environment)
        if done.returncode:
            print(done.stdout, done.stderr, file=sys.stderr)
            sys.exit(done.returncode)
        log = [n for _, n in sorted(kernel[1:] for kernel in gpu_log.dispatches(folder + "/log", "numbered"))]
        at_snapshot = int(re.search(r"^launched (\d+)$", done.stdout, re.M)[1])
        now, now_left, now_open = look(folder + "/now.db", problems)
        last, last_left, last_open = look(folder + "/run.db", problems)
    # those at its begin may be incomplete: each thread's are thrown away by themselves
    for what, got, want in (("snapshot", now, log[:at_snapshot]), ("trace", last, log)):
        if len(set(got)) != len(got) or not set(got) < set(want) or not set(want[-100:]) <= set(got):
            problems.append("%s: %d kernels %s..%s, the log has %d" % (
                what, len(got), got[:3], got[-3:], len(want)))
    if not now_left["rtl.hsa"] or not last_left["rtl.hsa"]:
        problems.append("left out: %s, %s" % (now_left, last_left))
    if "is damaged" in done.stderr:
        problems.append("nothing is damaged: %s" % done.stderr)
    if now_open != ["open now"] or last_open:
        problems.append("open: %s, %s" % (now_open, last_open))
    print("hip_last: %d and %d of %d kernels kept" % (len(now), len(last), len(log)))
    sys.exit("\n".join("hip_last: %s" % problem for problem in problems) or 0)


if __name__ == "__main__":
    main()
