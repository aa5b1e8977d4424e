#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hip_bytes.py RUNNER PROGRAM: how many bytes a launch takes, the call with its arguments and the
dispatch. In the buffers of `rtl trace --mode hip` at most 380, by the positions of its rings; in a
recording at most 450. A recording has what `rtl trace` has, for subscribers that want calls without
arguments too; with --all also what other events repeat. PROGRAM N LAUNCHES is vector_add. RTL_BUILD_DIR is
the build. Exit status 77: skipped."""
import glob
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

BUILD = os.environ["RTL_BUILD_DIR"]
RTL = os.path.join(BUILD, "bin", "rtl")
FEW, MANY = 100, 1100
RING_HEADER = 12288


def run(command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            timeout=300)
    if result.returncode == 77:
        sys.exit(77)
    if result.returncode:
        sys.exit("%s\nstatus %d\n%s" % (command, result.returncode, result.stdout[-2000:]))
    return result.stdout


def calls(path):
    """How often each function was called, with arguments or without."""
    with sqlite3.connect(path) as db:
        return db.execute("SELECT function, args <> '', status, count(*) FROM rtl_calls GROUP BY 1, 2, 3"
                          " ORDER BY 1").fetchall()


def main():
    runner = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
                          sys.argv[1], "run")
    scratch = tempfile.mkdtemp()
    problems, traced, recorded, everything = [], {}, {}, {}

    def keep(what, launches, *options):
        """A trace or a recording of that many launches."""
        path = os.path.join(scratch, "%s%d%s" % (what, launches, "".join(options)))
        run([RTL, what, "-q", "--mode", "hip", *options, "-o", path, runner, sys.argv[2], "256",
             str(launches)])
        return path

    def bytes_of(recording):
        return sum(os.path.getsize(name) - RING_HEADER
                   for name in glob.glob(os.path.join(recording, "*", "segment-*")))

    for launches in (FEW, MANY):
        path = keep("trace", launches)
        with sqlite3.connect(path) as db:
            traced[launches] = db.execute("SELECT sum(position) FROM rtl_position").fetchone()[0]
        recording = keep("record", launches)
        recorded[launches] = bytes_of(recording)
        if launches == FEW:
            everything[launches] = bytes_of(keep("record", launches, "--all"))
    for what, sizes, most in (("rtl trace", traced, 380), ("rtl record", recorded, 450)):
        each = (sizes[MANY] - sizes[FEW]) / (MANY - FEW)
        print("%s: %.1f bytes a launch" % (what, each))
        if not 0 < each <= most:
            problems.append("%s: %.1f bytes a launch are not %d" % (what, each, most))
    if everything[FEW] < 2 * recorded[FEW]:
        problems.append("--all: %d bytes, without it %d" % (everything[FEW], recorded[FEW]))

    for args in ("yes", "no"): # "no" wants the stream without arguments
        again = os.path.join(scratch, args)
        run([RTL, "replay", "-o", again, "-s", "libsqlite_sub.so?args=" + args, recording])
        expected = calls(path)
        if args == "no":
            expected = [(name, 0, status, n) for name, _, status, n in expected]
        found = [(name, with_args or 0, status, n) for name, with_args, status, n in calls(again)]
        if [(a, b or 0, c, d) for a, b, c, d in expected] != found:
            problems.append("replay, args=%s: %s instead of %s" % (args, found, expected))
    stats = run([RTL, "replay", "-s", "libstats_sub.so", recording])
    if not re.search(r"^ *[0-9.]+%% +%d .* hipLaunchKernel$" % MANY, stats, re.M):
        problems.append("statistics of the recording:\n" + stats)
    sys.exit("\n".join("hip_bytes: %s" % problem for problem in problems) or 0)


if __name__ == "__main__":
    main()
