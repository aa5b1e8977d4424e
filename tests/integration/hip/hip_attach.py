#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hip_attach.py RUNNER PROGRAM: rtl attach against the software GPU's log. Threads of PROGRAM (threads.hip) launch all
the time, each on a stream of its own: what is recorded in each period is, of each queue, what the log has from the
first to the last of it, once, named and linked. RTL_BUILD_DIR is the build. Exit status 77: skipped."""
import glob
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

RTL = os.path.join(os.environ["RTL_BUILD_DIR"], "bin", "rtl")
THREADS, SYNC_EVERY = 4, 20


def read_log(path):
    """Of each queue what begins and ends when, in its order."""
    queues = {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for row in re.findall(r"^gpu=\d+ queue=(\d+) .*kind=dispatch start=(\d+) end=(\d+).* name=threads_count$", file.read(), re.M):
            queues.setdefault(row[0], []).append((int(row[1]), int(row[2])))
    return queues


def look(path, log, problems):
    db = sqlite3.connect(path)
    rows = {}
    for queue, begin, end in db.execute("SELECT queue, begin_ns, end_ns FROM rtl_dispatches WHERE kernel = 'threads_count'"
                                        " ORDER BY begin_ns"):
        rows.setdefault(queue, []).append((begin, end))
    count = sum(map(len, rows.values()))
    for queue, got in rows.items():
        same = [k for k in log.values() if any(abs(begin - got[0][0]) < 20 and abs(end - got[0][1]) < 20 for begin, end in k)]
        want = [k for k in (same or [[]])[0] if got[0][0] - 20 < k[0] < got[-1][0] + 20]
        if len(want) != len(got) or any(abs(a - b) > 20 for w, g in zip(want, got) for a, b in zip(w, g)):
            problems.append("%s: queue %d: %d kernels, the log has %d" % (path, queue, len(got), len(want)))
    (unlinked, other, gpus), = db.execute(
        "SELECT count(*) FILTER (WHERE NOT correlation AND NOT flags & 16), count(*) FILTER (WHERE kernel <> 'threads_count'),"
        " (SELECT count(*) FROM rtl_tracepoint_metadata WHERE key = 'node') FROM rtl_dispatches")
    (calls,), = db.execute("SELECT count(*) FROM rtl_calls WHERE function = 'hipLaunchKernel'")
    # at its begin a call is under way, or several whose packets came together (16), at its end kernels are, and some
    # that end while rtl leaves
    if not count or other or not gpus or unlinked > THREADS or abs(calls - count) > 2 * THREADS * (SYNC_EVERY + 1):
        problems.append("%s: %d kernels, %d calls, %d unlinked, %d others, %d GPUs" % (path, count, calls, unlinked, other, gpus))
    for row in db.execute("SELECT * FROM rtl_ledger WHERE published <> delivered OR discarded + abandoned + missed"):
        problems.append("%s: ledger: %s" % (path, row))
    return count


def wakes(pid):
    """How often our thread has woken."""
    status, = (text for text in (open(path, encoding="utf-8").read() for path in glob.glob("/proc/%d/task/*/status" % pid))
               if "\trtl-hsa\n" in text)
    return re.search(r"\nvoluntary_ctxt_switches:.*", status)[0]


def sleeps(pid):
    """Whether it does, for two seconds, as nobody is attached."""
    return any((wakes(pid), time.sleep(2))[0] == wakes(pid) for _ in range(9))


def main():
    runner = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", sys.argv[1], "run")
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        log, paths = folder + "/log", ["%s/%d.db" % (folder, i) for i in range(4)]
        env = {**os.environ, "SOFTGPU_LOG": log, "RTL_SPOOL": folder}
        shell = 'eval "$("$0" env --attachable)"; exec "$@"'
        with subprocess.Popen(["sh", "-c", shell, RTL, runner, sys.argv[2], str(THREADS), "100000000", str(SYNC_EVERY)],
                              env=env) as child:
            while child.poll() is None and not (os.path.exists(log) and read_log(log)):
                time.sleep(0.1)
            if child.poll() is not None:
                sys.exit(child.returncode)
            if not sleeps(child.pid):
                problems.append("a thread wakes though nobody is attached")
            for path in paths:
                subprocess.run([RTL, "attach", "-q", "--duration", "0.7", "-o", path, str(child.pid)], env=env, check=True)
                time.sleep(0.1)
            child.kill()
        counts = [look(path, read_log(log), problems) for path in paths]
    print("hip_attach: %s kernels" % counts)
    sys.exit("\n".join("hip_attach: %s" % problem for problem in problems) or 0)


if __name__ == "__main__":
    main()
