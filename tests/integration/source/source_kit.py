# SPDX-License-Identifier: MIT
"""Runs programs under `rtl trace` with each source of GPU work, and compares with the GPU's log.

A way is "queue", "callback" (the runtime's, by its callback) or "records" (by its profiler: the double
of tests/hipdouble, with what HIP_DOUBLE switches on). RTL_BUILD_DIR is the build.
"""
import collections
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ["RTL_BUILD_DIR"]
RTL = os.path.join(BUILD, "bin", "rtl")
RUN7 = os.path.join(HERE, "..", "..", "rocm7", "run")
RUN5 = os.path.join(HERE, "..", "..", "softgpu", "run")
PROGRAMS7 = os.path.join(BUILD, "tests", "programs", "rocm7")
PROGRAMS5 = os.path.join(BUILD, "tests", "programs")
ROCM7 = os.environ["RTL_ROCM7_LIBRARY_DIR"]
DOUBLES = os.path.join(BUILD, "lib", "rocm7")
KERNELS = os.path.join(BUILD, "tests", "programs", "libhost_kernels.so")
HANG_S = 240
TICK_NS = 11
LAUNCHES = ("hipLaunchKernel", "hipExtLaunchKernel", "hipModuleLaunchKernel",
            "hipExtModuleLaunchKernel", "hipLaunchCooperativeKernel", "hipGraphLaunch")
WAYS = tuple(os.environ.get("SOURCE_WAYS", "callback records").split())

Row = collections.namedtuple("Row", "gpu name begin end grid workgroup")
FIELD = re.compile(r"(\w+)=(\S*)")


def double(name="hip_double"):
    return os.path.join(DOUBLES, f"lib{name}.so")


def read_log(path):
    """(dispatches of the program, transfers): as the GPU did them, by begin."""
    dispatches, transfers = [], []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("#"):
                continue
            f = dict(FIELD.findall(line))
            if " kind=transfer " in line:
                transfers.append((int(f["gpu"]), int(f["bytes"]), int(f["start"]), int(f["end"])))
            elif " kind=dispatch " in line and not f["name"].startswith(("rocr_", "__amd_")):
                dispatches.append(Row(int(f["gpu"]), f["name"], int(f["start"]), int(f["end"]),
                                      f["grid"], f["wg"]))
    return sorted(dispatches, key=lambda row: row.begin), sorted(transfers, key=lambda t: t[2])


class Trace:
    def __init__(self, folder, done):
        self.folder, self.done = folder, done
        self.path, self.log_path = os.path.join(folder, "run.db"), os.path.join(folder, "log")
        self.said = done.stderr

    def rows(self, sql, *values):
        with sqlite3.connect(f"file:{self.path}?mode=ro", uri=True) as db:
            db.row_factory = sqlite3.Row
            return db.execute(sql, values).fetchall()

    def summary(self):
        return json.loads(subprocess.run([RTL, "summary", "--json", self.path], stdout=subprocess.PIPE, check=True).stdout)

    def one(self, sql, *values):
        return self.rows(sql, *values)[0][0]

    def dispatches(self):
        """Those of the program's own kernels."""
        return [Row(r["gpu"], r["mangled"] or r["kernel"], r["begin_ns"], r["end_ns"],
                    f"{r['grid_x']},{r['grid_y']},{r['grid_z']}",
                    f"{r['workgroup_x']},{r['workgroup_y']},{r['workgroup_z']}")
                for r in self.rows("SELECT * FROM rtl_dispatches ORDER BY begin_ns")
                if not r["kernel"].startswith("__amd_")]

    def lost(self, stream="rtl.hsa"):
        return self.one("SELECT coalesce(sum(discarded + abandoned + missed), 0) FROM rtl_ledger "
                        "WHERE stream = ?", stream)


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name

    def environment(self, way, switches, preload, extra):
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("RTL_", "HIP_DOUBLE")) or name == "RTL_BUILD_DIR"}
        env.update(SOFTGPU_KERNELS=KERNELS, RTL_HSA_EXIT_MS="60000")
        if preload or way == "records":
            env["LD_PRELOAD"] = preload or double()
        if switches:
            env["HIP_DOUBLE"] = switches
        env.update(extra or {})
        return env

    def trace(self, way, program, *arguments, status=0, **how):
        """Runs it under rtl trace; the status must be that. HIP 7.2.4 may abort behind its program's end, at
        work that is under way or whose stream is gone: then there are three tries. None with graphs, at whose reports
        HIP may crash."""
        for number in range(1, 4):
            trace = self.trace_once(way, program, *arguments, **how)
            done = trace.done
            aborted = done.returncode == -signal.SIGABRT or "ended with signal 6" in done.stdout + done.stderr
            if status != 0 or not aborted or how.get("runner", RUN7) != RUN7 or \
                    not re.search(r"^\w+: ok ", done.stdout, re.M) or "graph" in program:
                break
            print(f"{program}, {way}: HIP aborted behind the program's end, try {number} of 3", file=sys.stderr)
        if status is not None:
            self.assertEqual(done.returncode, status, f"{done.args}: {done.stdout[-500:]} {done.stderr[-3000:]}")
        return trace

    def trace_once(self, way, program, *arguments, switches="", preload=None, options=(), env=None,
                   runner=RUN7, mode="hip", beside=None):
        """beside(process, environment): meanwhile."""
        folder = tempfile.mkdtemp(dir=self.scratch)
        source = {"queue": "queue", "auto": "auto"}.get(way, "runtime")
        if not os.path.isabs(program):
            program = os.path.join(PROGRAMS7 if runner == RUN7 else PROGRAMS5, program)
        environment = self.environment(way, switches, preload, env)
        environment["SOFTGPU_LOG"] = os.path.join(folder, "log")
        command = [RTL, "trace", "--mode", mode, "--source", source, *options, "-o",
                   os.path.join(folder, "run.db"), "--", runner, program, *map(str, arguments)]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)
        if beside:
            threading.Thread(target=beside, args=(process, environment), daemon=True).start()
        try:
            out, err = process.communicate(timeout=HANG_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            self.fail(f"{command} hangs: {out[-500:]} {err[-3000:]}")
        done = subprocess.CompletedProcess(command, process.returncode, out, err)
        if done.returncode == 77:
            self.skipTest(err.strip() or out.strip())
        return Trace(folder, done)

    def check_dispatches(self, trace, cut=False, graphs=False):
        """Each dispatch of the log once, within a tick. Cut: the trace may lack some, and the ledger
        counts them. Graphs: their kernels have no grid, as those of modules by HIP's profiler."""
        log, _ = read_log(trace.log_path)
        rows = trace.dispatches()
        left = collections.defaultdict(list)
        for row in log:
            left[row.gpu, row.name].append(row)
        for row in rows:
            candidates = left[row.gpu, row.name]
            twin = next((r for r in candidates if abs(r.begin - row.begin) <= TICK_NS and
                         abs(r.end - row.end) <= TICK_NS), None)
            self.assertIsNotNone(twin, f"not in the log, or twice: {row}")
            candidates.remove(twin)
            if not (graphs and row.grid == "0,0,0"):
                self.assertEqual((row.grid, row.workgroup), (twin.grid, twin.workgroup), row)
        lacking = sum(map(len, left.values()))
        if cut:
            self.assertLessEqual(lacking, trace.lost())
        else:
            self.assertEqual(lacking, 0, f"{len(rows)} of {len(log)} are in the trace")
        return len(rows)

    def check_links(self, trace, submitted_before=False):
        """submitted_before: recording has just begun, and some have no call. Else: each kernel under one launch, of the thread that made it; each launch outside of graphs has
        one kernel, those of a thread's stream in order."""
        kernels = trace.rows(
            "SELECT l.api_id, c.function, c.tid, c.begin_ns AS called, c.stream AS call_stream, "
            "d.tid AS work_tid, d.begin_ns, d.stream FROM rtl_dispatches AS d "
            "LEFT JOIN rocpd_api_ops AS l ON l.op_id = d.op_id "
            "LEFT JOIN rtl_calls AS c ON c.api_id = l.api_id WHERE d.kernel NOT LIKE '\\_\\_amd%' "
            "ESCAPE '\\' ORDER BY c.begin_ns, d.begin_ns")
        before, calls = {}, collections.Counter()
        for row in kernels:
            if submitted_before and not row["function"]:
                continue
            self.assertIn(row["function"], LAUNCHES, dict(row))
            self.assertEqual(row["tid"], row["work_tid"], dict(row))
            self.assertEqual(row["call_stream"] or 0, row["stream"] or 0, dict(row))
            self.assertGreaterEqual(row["begin_ns"] + 1000000, row["called"], dict(row))
            if row["function"] == "hipGraphLaunch":
                continue
            calls[row["api_id"]] += 1
            key = row["tid"], row["stream"]
            self.assertLess(before.get(key, 0), row["begin_ns"], dict(row))
            before[key] = row["begin_ns"]
        self.assertLessEqual(max(calls.values(), default=0), 1)
        return len(kernels)

    def check_copies(self, trace):
        """Each transfer of an engine once: its begin within a tick, its bytes where the call has them."""
        _, transfers = read_log(trace.log_path)
        copies = trace.rows("SELECT * FROM rtl_copies WHERE direction <> 'fill'")
        for gpu, size, begin, _ in transfers:
            twins = [c for c in copies if c["gpu"] == gpu and c["begin_ns"] and
                     abs(c["begin_ns"] - begin) <= TICK_NS]
            self.assertEqual(len(twins), 1, f"{size} bytes at {begin}: {[dict(c) for c in twins]}")
            self.assertEqual(twins[0]["bytes"], size, dict(twins[0]))
        return len(transfers)

    def check_none_twice(self, trace):
        """No two rows for one piece of work."""
        rows = trace.rows("SELECT gpuId, queueId, start, \"end\", count(*) AS n FROM rocpd_op "
                          "GROUP BY gpuId, queueId, start, \"end\" HAVING n > 1 AND \"end\" > start")
        self.assertEqual([dict(row) for row in rows], [])
