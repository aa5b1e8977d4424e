#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
formats_counters.py PROGRAM...: traces PROGRAM on the software GPU with hardware counters; each format that has a
place for them has those of the database.
"""

import os
import shutil
import subprocess
import sys
import tempfile

import other_formats

RTL = os.path.join(os.environ["RTL_BUILD_DIR"], "bin", "rtl")
RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "softgpu", "run")


def main():
    folder = tempfile.mkdtemp(prefix="rtl-timeline-")
    try:
        database = os.path.join(folder, "a.db")
        subprocess.run([RTL, "trace", "-q", "--spool", folder, "-o", database, "--counters",
                        "SQ_WAVES,GRBM_GUI_ACTIVE", "--", RUN, *sys.argv[1:]], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with other_formats.Rows(database) as rows:
            process, = (p[0] for p in rows.processes())
            count = len(rows.counters(process))
            assert count == 2 * len(rows.dispatches(process)) > 0, count
        return int(other_formats.check_all(RTL, database, folder))
    finally:
        shutil.rmtree(folder)


sys.exit(main())
