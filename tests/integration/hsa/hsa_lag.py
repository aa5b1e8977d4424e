#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
hsa_lag.py: what the GPU has finished does not stay behind a ring that is full. The collector stands
still. Where buffers do not grow, there is room for the dispatches in two rings, but not in the
harvester's alone; where they do, for any number. The program is killed while it submits on; nearly all
is in the trace. RTL_BUILD_DIR is the build. Exit status 77: skipped.
"""

import os
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ["RTL_BUILD_DIR"]
MOST_LOST = 150  # of the 200 that come after them


def run(dispatches, total):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.db")
        result = subprocess.run(
            [os.path.join(BUILD, "bin", "rtl"), "trace", "-q", "--mode", "standard", "-o", path, "--",
             os.path.join(HERE, "..", "..", "softgpu", "run"),
             os.path.join(BUILD, "tests", "integration", "hsa_storm"), str(dispatches)],
            check=False, text=True,
            env={**os.environ, "RTL_BUFFER_SIZE": "1M", "RTL_BUFFER_TOTAL": total},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if result.returncode == 77:
            sys.exit(77)
        if result.returncode not in (137, -9):
            sys.exit(f"status {result.returncode}: {result.stdout}{result.stderr[-2000:]}")
        database = sqlite3.connect(path)
        rows = database.execute("SELECT count(*) FROM rtl_dispatch").fetchone()[0]
        database.close()
    print(f"{total}: {rows} of {dispatches + 200} recorded")
    return rows >= dispatches + 200 - MOST_LOST


def main():
    # a ring of 1 MiB has room for some 4,500
    fine = [run(7000, "128M"), run(60000, "1G")]
    sys.exit(not all(fine))


if __name__ == "__main__":
    main()
