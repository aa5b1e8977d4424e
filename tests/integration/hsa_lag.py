#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
hsa_lag.py: what the GPU has finished does not stay behind a ring that is full. The collector stands
still; there is room for the dispatches in two rings, but not in the harvester's alone. The program is
killed while it submits on; nearly all is in the trace. RTL_BUILD_DIR is the build. Exit status 77:
skipped.
"""

import os
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ["RTL_BUILD_DIR"]
DISPATCHES = 7000  # a ring of 1 MiB has room for some 4,500
MOST_LOST = 150    # of the 200 that come after them


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.db")
        result = subprocess.run(
            [os.path.join(BUILD, "bin", "rtl"), "trace", "-q", "--mode", "standard", "-o", path, "--",
             os.path.join(HERE, "..", "softgpu", "run"),
             os.path.join(BUILD, "tests", "integration", "hsa_storm"), str(DISPATCHES)],
            check=False, text=True, env={**os.environ, "RTL_BUFFER_SIZE": "1M"},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if result.returncode == 77:
            sys.exit(77)
        if result.returncode not in (137, -9):
            sys.exit(f"status {result.returncode}: {result.stdout}{result.stderr[-2000:]}")
        database = sqlite3.connect(path)
        rows = database.execute("SELECT count(*) FROM rtl_dispatch").fetchone()[0]
        database.close()
    print(f"{rows} of {DISPATCHES + 200} recorded")
    sys.exit(rows < DISPATCHES + 200 - MOST_LOST)


if __name__ == "__main__":
    main()
