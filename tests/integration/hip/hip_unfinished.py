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


def has_zombie(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
        return any("\nState:\tZ" in open("/proc/%s/status" % child).read() for child in file.read().split())


def run(command, starved=False, **settings):
    """Starved: from the call on until the program has ended, the collector has no processor."""
    with subprocess.Popen(command, env=dict(os.environ, **settings), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as child:
        said = child.stdout.readline() if starved else ""
        if said:
            os.kill(child.pid, signal.SIGSTOP)
            try:
                while not has_zombie(child.pid):
                    time.sleep(0.01)
            finally:
                os.kill(child.pid, signal.SIGCONT)
        out, err = child.communicate(timeout=100)
    if child.returncode == 77:
        sys.exit(77)
    return said + out, err


def look(path, out, said=""):
    """The problems of a trace."""
    tid, stream = re.search(r"^thread (\d+) stream (0x[0-9a-f]+)", out, re.M).groups()
    with sqlite3.connect(path) as db:
        calls = db.execute("SELECT function, tid, args, result, status, stream, (SELECT name FROM rtl_markers AS m WHERE"
                           " m.instance = c.parent), duration_ns FROM rtl_calls AS c WHERE unfinished").fetchall()
        ranges = db.execute("SELECT name, tid, level, end_tid, duration_ns FROM rtl_markers WHERE unfinished"
                            " ORDER BY name").fetchall()
        others = db.execute("SELECT (SELECT count(*) FROM rtl_calls WHERE NOT unfinished AND function = 'hipLaunchKernel'),"
                            " (SELECT count(*) FROM rtl_markers WHERE NOT unfinished AND name = 'done')").fetchall()
        lost = db.execute("SELECT stream, published, delivered, missed FROM rtl_ledger WHERE (stream LIKE 'rtl.hip.%'"
                          " OR stream = 'rtl.roctx') AND (published <> delivered OR missed)").fetchall()
    problems = []
    if [row[:-1] for row in calls + ranges] != [
            ("hipStreamSynchronize", int(tid), "stream=" + stream, None, None, int(stream, 0), "step"),
            ("job", int(tid), -1, 0), ("step", int(tid), 0, 0)]:
        problems.append("open: %s %s" % (calls, ranges))
    if min([0] + [row[-1] for row in calls + ranges]) < 0 or max([0] + [row[-1] for row in calls]) < 200000000:
        problems.append("they do not end when the process does: %s %s" % (calls, ranges))
    if others != [(1, 1)] or lost:
        problems.append("launches and ranges that ended: %s, lost %s" % (others, lost))
    for name in ("hipStreamSynchronize", "job") if said else ():
        if "open when the process ended: %s (thread %s, for" % (name, tid) not in said:
            problems.append("not said of %s: %s" % (name, said))
    return problems


def recover(scratch, path, program):
    """The problems of a trace that is recovered after its program, which wrote it itself, was killed."""
    spools = tempfile.mkdtemp(dir=scratch)
    out, err = run([RTL, "trace", "--in-process", "-o", path] + program + ["kill"], RTL_SPOOL=spools)
    folders = glob.glob(os.path.join(spools, "*"))
    if len(folders) != 1:
        return ["in the process: left %s; %s" % (folders, err[-2000:])]
    run([RTL, "recover", "-o", path, folders[0]])
    return ["recovered: %s" % p for p in look(path, out)]


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    program = [os.path.join(here, "..", "..", sys.argv[1], "run"), sys.argv[2]]
    problems = []
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "run.db")
        for how in ("kill", "_exit", "exec"):
            out, err = run([RTL, "trace", "-o", path] + program + [how])
            found = look(path, out, err) + look(path, out, run([RTL, "summary", path])[0])
            problems += ["trace, %s: %s" % (how, p) for p in found]
            out, _ = run([RTL, "trace", "-q", "-o", path] + program + [how], starved=True)
            problems += ["starved, %s: %s" % (how, p) for p in look(path, out)]

        recording = os.path.join(scratch, "recording")
        out, _ = run([RTL, "record", "-o", recording] + program + ["kill"])
        run([RTL, "replay", recording, "-s", SQLITE + "?output=" + path])
        problems += ["record: %s" % p for p in look(path, out)]

        # The consumer in the process has the lowest priority: on a busy machine it may have looked at the
        # clock long before the end, and that is when the recovered process ends. So it has six tries.
        for _ in range(6):
            found = recover(scratch, path, program)
            if not found:
                break
        problems += found
    print("hip_unfinished: %d problems" % len(problems))
    sys.exit("\n".join("hip_unfinished: %s" % problem for problem in problems) or 0)


if __name__ == "__main__":
    main()
