#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hip_attach.py RUNNER PROGRAM: rtl attach against the software GPU's log. Threads of PROGRAM (threads.hip) launch all
the time, each on a stream of its own: what is recorded in each period is, of each queue, what the log has from the
first to the last of it, once, named and linked. RTL_BUILD_DIR is the build. Exit status 77: skipped."""
import contextlib
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
    (unlinked, late, other, waited, gpus), = db.execute(
        "WITH linked(queue, first) AS (SELECT queue, min(submit_ns) FROM rtl_dispatches WHERE correlation GROUP BY queue)"
        " SELECT count(*) FILTER (WHERE NOT correlation AND NOT flags & 16),"
        " count(*) FILTER (WHERE NOT correlation AND NOT flags & 16 AND submit_ns > first),"
        " count(*) FILTER (WHERE kernel <> 'threads_count'), count(*) FILTER (WHERE flags & 256),"
        " (SELECT count(*) FROM rtl_tracepoint_metadata WHERE key = 'node') FROM rtl_dispatches LEFT JOIN linked USING (queue)")
    (calls,), = db.execute("SELECT count(*) FROM rtl_calls WHERE function = 'hipLaunchKernel'")
    # at its begin a call is under way, or several whose packets came together (16) or wait while one thread, which
    # hands all on, makes the spool; at its end kernels are, and some that end while rtl leaves
    if not count or other or waited or not gpus or late > THREADS or unlinked > THREADS * (SYNC_EVERY + 1) or abs(calls - count) > 2 * THREADS * (SYNC_EVERY + 1):
        problems.append("%s: %d kernels, %d calls, %d unlinked, %d of them late, %d others, %d that waited, %d GPUs"
                        % (path, count, calls, unlinked, late, other, waited, gpus))
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


def has_harvester(pid):
    return any(open(path, encoding="utf-8").read() == "rtl-hsa\n" for path in glob.glob("/proc/%d/task/*/comm" % pid))


@contextlib.contextmanager
def started(command, env, ready):
    """The program, killed at the end, however that comes."""
    shell = 'eval "$("$0" env --attachable)"; exec "$@"'
    with subprocess.Popen(["sh", "-c", shell, RTL, *map(str, command)], env=env) as child:
        try:
            while not ready(child.pid):
                if child.poll() is not None:
                    sys.exit(child.returncode or "hip_attach: it has ended")
                time.sleep(0.1)
            yield child.pid
        finally:
            child.kill()


def attach(path, pid, env):
    subprocess.run([RTL, "attach", "-q", "--duration", "0.7", "-o", path, str(pid)], env=env, check=True)


def knows_gpu(program, env):
    """Whether the trace of a program does that only makes calls while it is attached to."""
    path = env["RTL_SPOOL"] + "/calls.db"
    with started([*program, 1, 1, 2], {**env, "SOFTGPU_LOG": path + ".log"}, has_harvester) as pid:
        slept = sleeps(pid)
        attach(path, pid, env)
    (gpus, calls), = sqlite3.connect(path).execute("SELECT count(*), (SELECT count(*) FROM rtl_calls) FROM rtl_tracepoint_metadata"
                                                   " WHERE key = 'node'")
    return slept and gpus and calls


def main():
    runner = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", sys.argv[1], "run")
    program, problems = [runner, sys.argv[2]], []
    with tempfile.TemporaryDirectory() as folder:
        log, paths = folder + "/log", ["%s/%d.db" % (folder, i) for i in range(4)]
        env = {**os.environ, "SOFTGPU_LOG": log, "RTL_SPOOL": folder}
        with started([*program, THREADS, 100000000, SYNC_EVERY], env, lambda _: os.path.exists(log) and read_log(log)) as pid:
            if not sleeps(pid):
                problems.append("a thread wakes though nobody is attached")
            for path in paths:
                attach(path, pid, env)
                time.sleep(0.1)
        counts = [look(path, read_log(log), problems) for path in paths]
        if not knows_gpu(program, env):
            problems.append("the GPU is not known of a program that only makes calls")
    print("hip_attach: %s kernels" % counts)
    sys.exit("\n".join("hip_attach: %s" % problem for problem in problems) or 0)


if __name__ == "__main__":
    main()
