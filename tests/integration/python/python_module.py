#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python module: traces against their databases, regions against what a program says it did."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

BUILD, MODULE = os.environ["RTL_BUILD_DIR"], os.environ["RTL_PYTHON"]
RTL = os.path.join(BUILD, "bin", "rtl")
PROGRAM = os.path.join(BUILD, "bin", "cli_program")
LIB = os.path.join(BUILD, "lib")
sys.path.insert(0, MODULE)

import rtl  # pylint: disable=wrong-import-position

CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("RTL_", "HSA_", "LD_"))}

REGIONS = """
import rtl, threading
@rtl.region("load")
def load(depth=2):
    rtl.mark("depth", depth)
    if depth:
        load(depth - 1)
assert rtl.enabled() == WANTED
for i in range(100):
    with rtl.region("epoch \u00e9 \\0" + "x" * 2000, i):
        rtl.mark("loss", i / 4)
        rtl.mark("negative", -i)
        rtl.mark("nothing")
threads = [threading.Thread(target=load) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
try:
    with rtl.region("fails"):
        raise KeyError
except KeyError:
    pass
try:
    rtl.mark("text", "x")
    assert not WANTED
except TypeError:
    pass
loaded = [line for line in open("/proc/self/maps") if "librtl.so" in line]
assert bool(loaded) == WANTED, loaded
"""


class Python(unittest.TestCase):
    """import rtl"""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def trace(self, *command, **env):
        subprocess.run([RTL, "trace", "-q", "-o", self.path("run.db"), "--", *command], check=True, cwd=self.folder,
                       env={**CLEAN, **env}, capture_output=True)
        return self.path("run.db")

    def ask(self, sql):
        database = sqlite3.connect(self.path("run.db"))
        rows = database.execute(sql).fetchall()
        database.close()
        return rows

    def test_kernels__as_in_the_database(self):
        with rtl.Trace(self.trace(PROGRAM, "100")) as trace:
            kernels = list(trace.kernels())
            self.assertEqual(len(kernels), 100)
            self.assertEqual([(k.id, k.name, k.begin_ns, k.end_ns, k.grid[0], k.gpu) for k in kernels],
                             self.ask("SELECT op_id, kernel, begin_ns, end_ns, grid_x, gpu FROM rtl_dispatches"))
            name = kernels[0].name
            self.assertEqual(len(list(trace.kernels(name))), sum(k.name == name for k in kernels))
            self.assertEqual(trace.losses(), [])
            self.assertEqual(trace.facts()["state"], "complete")
            self.assertEqual(trace.processes()[0].program, PROGRAM)
            self.assertIn("rtl.hsa", trace.streams())
            self.assertEqual([list(trace.copies()), list(trace.calls()), list(trace.markers()), list(trace.links()),
                              trace.call(7)], [[], [], [], [], None])

    def test_left_out__by_cause(self):
        path = self.path("run.db")
        subprocess.run([RTL, "trace", "-q", "-o", path, "--delay", "1000", PROGRAM, "70"], check=True, env=CLEAN)
        with rtl.Trace(path) as trace:
            self.assertEqual((trace.left_out(), trace.losses()),
                             ([rtl.LeftOut(1, "rtl.hsa", "outside of the periods", 70)], []))
        with rtl.Trace(self.trace(PROGRAM, "2")) as trace:
            self.assertEqual(trace.left_out(), [])
        database = sqlite3.connect(path)
        database.execute("DROP TABLE rtl_left_out")
        database.close()
        with rtl.Trace(path) as trace:
            self.assertEqual(trace.left_out(), [])

    def test_idle__adds_up(self):
        with unittest.mock.patch.dict(os.environ, {"RTL": RTL}), rtl.Trace(self.trace(PROGRAM, "100")) as trace:
            devices, idle = trace.summary()["devices"], trace.idle()
        for device in devices:
            self.assertEqual(sum(row.total_ns for row in idle if row.gpu == device["gpu"]),
                             device["span_ns"] - device["busy_ns"])
        self.assertTrue(all(row.cause and row.total_ns for row in idle))

    def test_graphs__none_without_launches(self):
        with unittest.mock.patch.dict(os.environ, {"RTL": RTL}), rtl.Trace(self.trace(PROGRAM, "2")) as trace:
            self.assertEqual(trace.graphs(), [])
            self.assertEqual(trace.summary(by="gpu")["sections"][0]["by"], "gpu")

    def test_a_call_and_its_work__linked(self):
        """The rows that HIP's calls make, put there by hand."""
        path = self.trace(PROGRAM, "2")
        database = sqlite3.connect(path)
        database.executescript("""
            INSERT INTO rtl_string VALUES (900, 'hipLaunchKernel', NULL), (901, 'hipSuccess', NULL);
            INSERT INTO rtl_args VALUES (900, 'a=1', NULL, NULL);
            INSERT INTO rtl_origin VALUES (900, 1, 6, 2, 0);
            INSERT INTO rtl_s_rtl_hip_call_debug_function_with_args_end_g1 (id, function, status, result, flags)
              VALUES (1, 900, 901, 0, 0);
            INSERT INTO rtl_s_rtl_hip_call_debug_function_with_args_end
              (id, origin, time_ns, instance, correlation, g1, begin_ns_rel, end_ns_rel, args)
              VALUES (900, 900, 30, 3, 4, 1, -20, 0, 900);
            UPDATE rtl_s_rtl_hsa_task_end SET correlation = 4
              WHERE id = (SELECT min(id) FROM rtl_s_rtl_hsa_task_end);""")
        pid, = database.execute("SELECT pid FROM rtl_process").fetchone()
        database.close()
        with rtl.Trace(path) as trace:
            kernels = list(trace.kernels())
            self.assertEqual([k.call for k in kernels], [900, None])
            self.assertEqual(trace.call(900)[:10],
                             (900, 1, pid, 6, "hip", "hipLaunchKernel", 10, 30, 20, "a=1"))
            self.assertEqual([c.id for c in trace.calls("hipLaunchKernel")], [900])
            self.assertEqual(list(trace.links()), [(900, kernels[0].id)])

    def test_regions__as_the_program_made_them(self):
        env = {"PYTHONPATH": MODULE, "LD_LIBRARY_PATH": LIB}
        with rtl.Trace(self.trace(sys.executable, "-B", "-c", "WANTED = True\n" + REGIONS, **env)) as trace:
            events = list(trace.events("rtl.default"))
        text = [(e["type"], e.get("text") or e.get("name")) for e in events]
        marks = [e for e in events if (e.get("text") or e.get("name")) == "loss"]
        self.assertEqual([e["number"] for e in marks], [i / 4 for i in range(100)])
        self.assertEqual([e["number"] for e in events if (e.get("text") or e.get("name")) == "negative"],
                         [-i for i in range(100)])
        begins = [name for _, name in text if name and name.startswith("epoch \u00e9 ")]
        self.assertEqual(len(begins), 100)
        self.assertEqual(sorted(e["integer"] for e in events if (e.get("text") or e.get("name")) == "depth"),
                         [0] * 4 + [1] * 4 + [2] * 4)
        self.assertEqual(sum(name == "load" for _, name in text), 12)
        self.assertEqual(sum(name == "fails" for _, name in text), 1)

    def test_regions__not_traced__nothing_is_loaded(self):
        subprocess.run([sys.executable, "-B", "-c", "WANTED = False\n" + REGIONS], check=True,
                       env={**CLEAN, "PYTHONPATH": MODULE, "LD_LIBRARY_PATH": LIB})

    def test_no_trace__one_error(self):
        for name, content in (("empty", b""), ("text", b"x" * 9999)):
            with open(self.path(name), "wb") as file:
                file.write(content)
        sqlite3.connect(self.path("other.db")).execute("CREATE TABLE t (a)").connection.close()
        for name in ("missing", "empty", "text", "other.db"):
            with self.assertRaisesRegex(rtl.TraceError, name):
                rtl.Trace(self.path(name))
        self.assertFalse(os.path.exists(self.path("missing")))

    def test_table__without_pandas_or_with(self):
        with rtl.Trace(self.trace(PROGRAM, "10")) as trace:
            with self.assertRaisesRegex(ValueError, "no table 'kernel': there are kernels,"):
                trace.table("kernel")
            try:
                import pandas  # pylint: disable=import-outside-toplevel,unused-import
            except ImportError:
                self.skipTest("pandas is not there")
            self.assertEqual(len(trace.table("kernels")), 10)


if __name__ == "__main__":
    unittest.main()
