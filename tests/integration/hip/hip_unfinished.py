#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hip_unfinished.py RUNNER PROGRAM: a call and ranges that are open when their process ends are in the
trace, however it ends and however it was recorded: `rtl trace`, `rtl record` and replay, in the process and
`rtl recover`. RTL_BUILD_DIR is the build. Exit status 77: skipped."""
import glob
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

BUILD = os.environ["RTL_BUILD_DIR"]
RTL = os.path.join(BUILD, "bin", "rtl")
SQLITE = os.path.join(BUILD, "lib", "rtl", "libsqlite_sub.so")


def run(command, **settings):
    result = subprocess.run(command, env=dict(os.environ, **settings), stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, timeout=100)
    if result.returncode == 77:
        sys.exit(77)
    return result


def ended_children(pid):
    """Those of a process that it has not waited for."""
    with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
        children = file.read().split()
    for child in children:
        with open("/proc/%s/stat" % child) as file:
            if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                yield child


def run_starved(command):
    """The same, of a collector that has no processor from the call on until the program has ended."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as rtl:
        said = rtl.stdout.readline()
        if said:
            os.kill(rtl.pid, signal.SIGSTOP)
        try:
            while said and not list(ended_children(rtl.pid)):
                time.sleep(0.01)
        finally:
            os.kill(rtl.pid, signal.SIGCONT)
        out, err = rtl.communicate(timeout=100)
    return subprocess.CompletedProcess(command, rtl.returncode, said + out, err)


def look(path, result, said):
    """The problems of a trace."""
    tid, stream = re.search(r"^thread (\d+) stream (0x[0-9a-f]+)", result.stdout, re.M).groups()
    with sqlite3.connect(path) as db:
        calls = db.execute("SELECT function, tid, args, result, status, stream, duration_ns,"
                           " (SELECT name FROM rtl_markers AS m WHERE m.instance = c.parent)"
                           " FROM rtl_calls AS c WHERE unfinished").fetchall()
        ranges = db.execute("SELECT name, tid, level, end_tid, duration_ns FROM rtl_markers"
                            " WHERE unfinished ORDER BY name").fetchall()
        others = db.execute("SELECT count(*) FROM rtl_calls WHERE NOT unfinished AND function ="
                            " 'hipLaunchKernel'").fetchone()[0]
        lost = db.execute("SELECT stream, published, delivered, missed FROM rtl_ledger WHERE (stream"
                          " LIKE 'rtl.hip.%' OR stream = 'rtl.roctx') AND"
                          " (published <> delivered OR missed)").fetchall()
        done = db.execute("SELECT count(*) FROM rtl_markers WHERE NOT unfinished AND name = 'done'"
                          ).fetchone()[0]
    problems = []
    if [call[:6] + call[7:] for call in calls] != [
            ("hipStreamSynchronize", int(tid), "stream=" + stream, None, None, int(stream, 0),
             "step")]:
        problems.append("calls: %s" % calls)
    if [r[:4] for r in ranges] != [("job", int(tid), -1, 0), ("step", int(tid), 0, 0)]:
        problems.append("ranges: %s" % ranges)
    if min([0] + [row[-2] for row in calls] + [row[-1] for row in ranges]) < 0 or max(
            [0] + [row[-2] for row in calls]) < 200000000:
        problems.append("they do not end when the process does: %s %s" % (calls, ranges))
    if others != 1 or done != 1 or lost:
        problems.append("%d launches, %d ranges that ended, lost %s" % (others, done, lost))
    if said is not None:
        for pattern in (r"open when the process ended: hipStreamSynchronize \(thread %s, for" % tid,
                        r"open when the process ended: job \(thread %s, for" % tid):
            if not re.search(pattern, said):
                problems.append("not said: %s" % pattern)
    return problems


def recover(folder, program):
    """The problems of a trace that is recovered after its program, which wrote it itself, was killed."""
    path, spools = os.path.join(folder, "recovered.db"), os.path.join(folder, "spools")
    os.makedirs(spools)
    result = run([RTL, "trace", "--in-process", "-o", path] + program + ["kill"], RTL_SPOOL=spools)
    folders = glob.glob(os.path.join(spools, "*"))
    if len(folders) != 1:
        return ["in the process: left %s; %s" % (folders, result.stderr[-2000:])]
    run([RTL, "recover", "-o", path, folders[0]])
    return ["recovered: %s" % p for p in look(path, result, None)]


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    program = [os.path.join(here, "..", "..", sys.argv[1], "run"), sys.argv[2]]
    problems = []
    with tempfile.TemporaryDirectory() as scratch:
        for how in ("kill", "_exit", "exec"):
            path = os.path.join(scratch, how + ".db")
            result = run([RTL, "trace", "-o", path] + program + [how])
            found = look(path, result, result.stderr)
            summary = run([RTL, "summary", path]).stdout
            problems += ["trace, %s: %s" % (how, p) for p in found + look(path, result, summary)]

        for how in ("kill", "_exit", "exec"):
            path = os.path.join(scratch, how + "-starved.db")
            result = run_starved([RTL, "trace", "-q", "-o", path] + program + [how])
            problems += ["starved, %s: %s" % (how, p) for p in look(path, result, None)]

        recording, path = os.path.join(scratch, "recording"), os.path.join(scratch, "replayed.db")
        result = run([RTL, "record", "-o", recording] + program + ["kill"])
        run([RTL, "replay", recording, "-s", SQLITE + "?output=" + path])
        problems += ["record: %s" % p for p in look(path, result, None)]

        # The consumer in the process has the lowest priority: on a busy machine it may have looked at the
        # clock long before the end, and that is when the recovered process ends. So it has six tries.
        for attempt in range(6):
            found = recover(os.path.join(scratch, "recovered-%d" % attempt), program)
            if not found:
                break
        problems += found
    print("hip_unfinished: %d problems" % len(problems))
    sys.exit("\n".join("hip_unfinished: %s" % problem for problem in problems) or 0)


if __name__ == "__main__":
    main()
