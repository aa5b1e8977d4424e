#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hip_idle.py DATABASE OUTPUT LOG: why rtl says the GPU was idle is what the program (tests/programs/hip/idle.hip)
knows, and what the GPU's log has: busy time, the gaps within launches of graphs, and the sum exactly."""
import json
import os
import re
import sqlite3
import subprocess
import sys

import gpu_log


def union(intervals):
    total, until = 0, 0
    for begin, end in sorted(intervals):
        total += max(0, end - max(begin, until))
        until = max(until, end)
    return total


def main():
    done = subprocess.run([os.environ["RTL_BUILD_DIR"] + "/bin/rtl", "summary", "--json", sys.argv[1]],
                          capture_output=True, check=True)
    device, = json.loads(done.stdout)["devices"]
    with open(sys.argv[2], encoding="utf-8") as file:
        known = {cause: (int(least), int(most))
                 for cause, least, most in re.findall(r"^idle (\w+) (\d+) (\d+)$", file.read(), re.M)}
    kernels = gpu_log.dispatches(sys.argv[3], "work")
    # one kernel of each pause is in the log alone: between it and the next are no others
    rounds = sum(blocks == 2 for _, _, blocks in kernels)
    per_round = 2 + 2 + 4 + 3  # asleep, calls, a graph, a pause
    recorded = [kernel[:2] for i, kernel in enumerate(kernels) if not i or (i - 1) % per_round != per_round - 2]
    causes, problems = {}, []
    for row in device["idle"]:
        causes[row["cause"]] = causes.get(row["cause"], 0) + row["total_ns"]
    with sqlite3.connect(sys.argv[1]) as database:
        submitted = dict(database.execute("SELECT begin_ns, submit_ns FROM rtl_dispatches"))
    # before a node was submitted, the host was in the call
    graph = sum(max(0, kernels[i + 1][0] - max(kernels[i][1], submitted[kernels[i + 1][0]]))
                for i in range(len(kernels) - 1)
                if kernels[i][2] >= 2 and kernels[i + 1][2] == kernels[i][2] + 1)
    for what, got, want in (
            ("kernels", device["count"], len(recorded)),
            ("busy", device["busy_ns"], union(recorded)),
            ("kernels' time", device["kernels_ns"], union(recorded)),
            ("span", device["span_ns"], recorded[-1][1] - recorded[0][0]),
            ("busy and idle", device["busy_ns"] + device["idle_ns"] + device["unknown_ns"], device["span_ns"]),
            ("recorded", device["recorded_ns"], device["span_ns"] - causes.get("paused", 0)),
            ("sum of causes", sum(causes.values()), device["span_ns"] - device["busy_ns"]),
            ("in graphs", causes.get("in_graph"), graph),
            ("not known", {"unknown", "not_submitted", "lost", "filtered"} & set(causes), set())):
        print(f"hip_idle: {what}: {got}")
        if got != want:
            problems.append(f"{what}: {got}, not {want}")
    asleep = sum(row["total_ns"] for row in device["idle"] if row.get("range") == "asleep")
    for cause, (least, most) in known.items():
        got = asleep if cause == "outside_hip" else causes.get(cause, 0)
        if cause in ("in_call", "in_wait"):  # also calls that launch, and the ends of waits for kernels
            most = device["idle_ns"] - asleep - graph
        print(f"hip_idle: {cause}: {got}, from {least} to {most}")
        if not least <= got <= most or not got:
            problems.append(f"{cause}: {got}, not {least} to {most}")
    if rounds < 1:
        problems.append("the log has no graph")
    sys.exit("\n".join("hip_idle: %s" % problem for problem in problems) or 0)


if __name__ == "__main__":
    main()
