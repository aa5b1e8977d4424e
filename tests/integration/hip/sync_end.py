#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
sync_end.py RUNNER MODE ROUNDS KERNELS SYNC[,SYNC...] END...: what a program has waited for is in the trace,
however it ends at once. RUNNER: softgpu, rocm6 or rocm7; the rest is sync_end's, with each SYNC and END in turn,
or, where SYNC is none, hsa_end's. MODE may end with -in-process: then each process has an output of its own, which
is complete, and leaves no spool.
RTL_BUILD_DIR is the build. Exit status 77: skipped.
"""

import glob
import itertools
import os
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ["RTL_BUILD_DIR"]
FOLDERS = {"softgpu": "programs", "rocm6": "programs/rocm6", "rocm7": "programs/rocm7"}


def count(path, named):
    database = sqlite3.connect(path)
    state = database.execute("SELECT value FROM rtl_meta WHERE key = 'state'").fetchone()[0]
    if state != "complete":
        sys.exit(f"{path}: state {state}")
    rows = database.execute("SELECT count(*) FROM rocpd_op o JOIN rocpd_string s "
                            "ON s.id = o.description_id WHERE s.string LIKE '%sync_end_count%'"
                            if named else "SELECT count(*) FROM rtl_dispatch").fetchone()[0]
    database.close()
    return rows


def run(runner, mode, *arguments):
    """How many kernels are in the trace."""
    program = os.path.join(BUILD, "tests", FOLDERS[runner], "sync_end")
    named = arguments[2] != "none"
    if not named:
        program = os.path.join(BUILD, "tests", "integration", "hsa_end")
        arguments = (*arguments[:2], *arguments[3:])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.db")
        spools = os.path.join(folder, "spools")
        os.mkdir(spools)
        in_process = ["--in-process"] if mode.endswith("-in-process") else []
        result = subprocess.run(
            [os.path.join(BUILD, "bin", "rtl"), "trace", "-q", *in_process, "--mode",
             mode.removesuffix("-in-process"), "-o", path, "--",
             os.path.join(HERE, "..", "..", runner, "run"), program, *arguments],
            env={**os.environ, "RTL_SPOOL": spools}, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, check=False)
        if result.returncode == 77:
            sys.exit(77)
        if result.returncode:
            sys.exit(f"{arguments}: status {result.returncode}: {result.stdout}{result.stderr[-2000:]}")
        if os.listdir(spools):
            sys.exit(f"{arguments}: left behind: {os.listdir(spools)}")
        return sum(count(path, named) for path in glob.glob(os.path.join(folder, "*.db")))


def main():
    runner, mode, rounds, kernels, syncs, *ends = sys.argv[1:]
    wanted, failed = int(rounds) * int(kernels), False
    for sync, end in itertools.product(syncs.split(","), ends):
        there = run(runner, mode, rounds, kernels, sync, end)
        print(f"{sync} {end}: {there} of {wanted} kernels")
        failed |= there != wanted
    sys.exit(failed)


if __name__ == "__main__":
    main()
