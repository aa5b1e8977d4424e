#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
hsa_lag.py [ROUNDS]: a program that submits without pause shares one processor with others that need it,
and is killed. What had finished 20 ms before, by the GPU's log, is in the trace: whatever the harvester
gets of the processor. RTL_BUILD_DIR is the build. Exit status 77: skipped.
"""

import os
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ["RTL_BUILD_DIR"]
LATE_NS = 20_000_000
CORE = min(os.sched_getaffinity(0))
RIVALS = 3


def run(folder):
    """The time when it was killed."""
    program = [os.path.join(HERE, "..", "softgpu", "run"), "taskset", "-c", str(CORE),
               os.path.join(BUILD, "tests", "integration", "hsa_storm"), "700"]
    result = subprocess.run(
        [os.path.join(BUILD, "bin", "rtl"), "trace", "-q", "--mode", "standard", "-o",
         os.path.join(folder, "run.db"), "--", *program], check=False, text=True,
        env={**os.environ, "SOFTGPU_LOG": os.path.join(folder, "log"), "SOFTGPU_KERNEL_NS": "0"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode == 77:
        sys.exit(77)
    if not result.stdout.strip().isdigit():
        sys.exit(f"status {result.returncode}: {result.stdout}{result.stderr[-2000:]}")
    return int(result.stdout)


def finished(folder):
    """Packet by packet, when it ended."""
    ends = {}
    with open(os.path.join(folder, "log"), encoding="utf-8") as log:
        for line in log:
            if line.startswith("gpu=") and " kind=dispatch " in line:
                words = dict(word.split("=", 1) for word in line.split())
                if not words["name"].startswith("rocr_"):
                    ends[int(words["idx"])] = int(words["end"])
    return ends


def recorded(folder):
    database = sqlite3.connect(os.path.join(folder, "run.db"))
    rows = {row[0] for row in database.execute("SELECT packet_id FROM rtl_dispatch")}
    database.close()
    return rows


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    failed = False
    for _ in range(rounds):
        rivals = [subprocess.Popen(["taskset", "-c", str(CORE), sys.executable, "-c",
                                    "while True: pass"]) for _ in range(RIVALS)]
        try:
            with tempfile.TemporaryDirectory() as folder:
                killed_ns = run(folder)
                ends, there = finished(folder), recorded(folder)
        finally:
            for rival in rivals:
                rival.kill()
                rival.wait()
        lost = [end for packet, end in ends.items() if packet not in there]
        late_ns = killed_ns - min(lost) if lost else 0
        print(f"{len(ends)} ended, {len(lost)} lost, the first {late_ns / 1e6:.1f} ms before the end")
        failed |= late_ns > LATE_NS
    sys.exit(failed)


if __name__ == "__main__":
    main()
