#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hip_under_way.py RUNNER PROGRAM: kernels that do not end are seen, as the program has submitted them, by
`rtl status`, by `rtl info` after its end, and in its trace. RTL_BUILD_DIR is the build. Exit status 77: skipped."""
import collections
import glob
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

RTL = os.path.join(os.environ["RTL_BUILD_DIR"], "bin", "rtl")
LAUNCHES = 20


def rtl(*arguments):
    return subprocess.run([RTL, *arguments], stdout=subprocess.PIPE, text=True, timeout=100, check=True).stdout


def look(process, launches, mode):
    """The problems of what is said of a process: each launch once, in the order of its stream."""
    found, problems = collections.defaultdict(list), []
    calls = [u["name"] for u in process["unfinished"] if "queue" not in u]
    for kernel in sorted((u for u in process["unfinished"] if "queue" in u), key=lambda u: u["packet_id"]):
        found[kernel["hip_stream"]].append((kernel["tid"], kernel["grid_x"], kernel["grid_y"]))
        good = kernel["name"] == "hang(int*)" and kernel["age_ns"] < 100e9 and kernel["queue"] and kernel["gpu"]
        if not good or (mode == "hip" and not (kernel["correlation"] and kernel["call_ns"])):
            problems.append("kernel: %s" % kernel)
    if mode == "standard":
        launches, found = sorted(sum(launches.values(), [])), sorted(sum(found.values(), []))
    if launches != found:
        problems.append("launched %s, found %s" % (launches, dict(found) if mode == "hip" else found))
    if mode == "hip" and calls != ["hipStreamSynchronize"] * 2:
        problems.append("calls: %s" % calls)
    return problems


def stored(path, launches, mode):
    """The problems of a trace: the same, and the summary says so."""
    found = collections.defaultdict(list)
    with sqlite3.connect(path) as db:
        rows = db.execute("SELECT stream, tid, grid_x, grid_y FROM rtl_under_way WHERE kernel = 'hang(int*)' AND"
                          " age_ns BETWEEN 1e8 AND 1e11 AND flags & 128 ORDER BY queue, packet_id").fetchall()
    for row in rows:
        found[row[0]].append(row[1:])
    if mode == "standard":
        launches, found = {None: sorted(sum(launches.values(), []))}, {None: sorted(found[None])}
    said = re.search(r"^under way when the process ended: hang\(int\*\) on queue \d+ \(thread \d+, for",
                     rtl("summary", path), re.M)
    return [] if launches == found and said else ["stored: %s, %s" % (dict(found), said)]


def start(command, **settings):
    child = subprocess.Popen(command + [str(LAUNCHES)], env=dict(os.environ, **settings), stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    launches = collections.defaultdict(list)
    for line in child.stdout:
        if line == "\n":
            break
        tid, stream, x, y = line.split()
        launches[int(stream, 0)].append((int(tid), int(x), int(y)))
    else:
        sys.exit(child.wait())
    time.sleep(0.2)
    return child, launches


def trace(program, mode, scratch):
    child, launches = start([RTL, "trace", "-q", "--mode", mode, "-o", os.path.join(scratch, mode + ".db")] + program)
    session, = json.loads(rtl("status", "--json", str(child.pid)))["sessions"]
    process, = (p for p in session["processes"] if p["unfinished"])
    problems = look(process, launches, mode)
    lines = re.findall(r"^  GPU \d+, queue \d+: kernel hang\(int\*\), grid \d+x[1-4]x10000, submitted [\d.]+ m?s ago"
                       r" by thread \d+; (\d+) more behind it$", rtl("status", str(child.pid)), re.M)
    if sum(map(int, lines)) + len(lines) != 2 * LAUNCHES:
        problems.append("text: %s" % lines)
    os.kill(process["pid"], signal.SIGKILL)
    child.communicate(timeout=100)
    problems += stored(os.path.join(scratch, mode + ".db"), launches, mode)
    return ["%s: %s" % (mode, problem) for problem in problems]


def in_process(program, how, scratch):
    """The problems of what is left of a process that has drained itself, and was killed or aborts."""
    spools = os.path.join(scratch, how)
    os.makedirs(spools)
    child, launches = start([RTL, "trace", "-q", "--mode", "hip", "--in-process", "-o", spools + ".db"] + program,
                            RTL_SPOOL=spools)
    folder, = glob.glob(os.path.join(spools, "*"))
    process, = json.loads(rtl("info", "--json", folder))["processes"]
    problems = look(process, launches, "hip")
    if how == "kill":
        os.kill(process["pid"], signal.SIGKILL)
    child.communicate("abort\n" if how == "abort" else None, timeout=100)
    process, = json.loads(rtl("info", "--json", folder))["processes"]
    problems += look(process, launches, "hip")
    if "  under way on GPU " not in rtl("info", folder):
        problems.append("info: nothing under way")
    rtl("recover", "-o", spools + ".recovered.db", folder)
    problems += stored(spools + ".recovered.db", launches, "hip")
    return ["%s: %s" % (how, problem) for problem in problems]


def main():
    program = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", sys.argv[1], "run"), sys.argv[2]]
    with tempfile.TemporaryDirectory() as scratch:
        problems = [p for mode in ("standard", "hip") for p in trace(program, mode, scratch)]
        problems += [p for how in ("kill", "abort") for p in in_process(program, how, scratch)]
    print("hip_under_way: %d problems" % len(problems))
    sys.exit("\n".join("hip_under_way: %s" % problem for problem in problems) or 0)


if __name__ == "__main__":
    main()
