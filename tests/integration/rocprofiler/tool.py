#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
tool.py RUN TOOL BAD-TOOL HSA-PROGRAM PROGRAM [ARGUMENT]...: a HIP program with a tool library of the rocprofiler API,
against the software GPU's log; and what is said of settings that cannot be had. TOOL_TESTS names tests.
"""

import collections
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

RUN, TOOL, BAD, HSA_PROGRAM, *PROGRAM = sys.argv[1:]


class Tool(unittest.TestCase):
    SHORT = [HSA_PROGRAM, "-n", "1"]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.output, self.log = (os.path.join(folder.name, n) for n in ("output", "log"))

    def clean(self):
        os.remove(self.log)
        os.remove(self.output)

    def run_program(self, program=None, before=(), status=0, **env):
        env = {**os.environ, "ROCP_TOOL_LIB": TOOL, "TOOL_OUTPUT": self.output, "SOFTGPU_LOG": self.log, **env}
        done = subprocess.run([*before, RUN, *(program or PROGRAM)], env=env, check=False, capture_output=True,
                              text=True, timeout=300)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def lines(self, path, kind):
        with open(path, encoding="utf-8") as file:
            return [line.strip() for line in file if line.startswith(kind) or f" kind={kind} " in line]

    def compare(self, least, times=1):
        counted = collections.Counter(int(re.search(rf"waves=(\d+) times={times} ", line)[1])
                                      for line in self.lines(self.output, "dispatch"))
        logged = collections.Counter(int(re.search(r" value=(\d+)", line)[1])
                                     for line in self.lines(self.log, "count")
                                     if " block=SQ " in line and " event=4 " in line)
        self.assertEqual(counted, logged)
        self.assertGreaterEqual(sum(counted.values()), least)

    def test_counts_are_the_logs(self):
        self.run_program()
        self.compare(40)

    def test_opt_mode(self):
        """As in the original: no name of the kernel, and no times."""
        self.run_program(TOOL_OPT_MODE="1")
        self.compare(40, times=0)
        self.assertEqual({line.split(" name=")[1] for line in self.lines(self.output, "dispatch")}, {"unknown"})

    def test_beside_rtl_trace(self):
        """Both see each dispatch."""
        trace = self.log + ".db"
        self.run_program(before=[os.path.join(os.environ["RTL_BUILD_DIR"], "bin/rtl"), "trace", "-o", trace, "--"])
        self.compare(40)
        self.assertEqual(sqlite3.connect(trace).execute(
            "SELECT count(*) FROM rtl_dispatch JOIN rocpd_op ON rocpd_op.id = op_id JOIN rocpd_string AS s"
            " ON s.id = description_id WHERE s.string = 'vector_add'").fetchone(), (40,))

    def test_counts_of_streams_graphs_gpus_and_processes_are_the_logs(self):
        folder = os.path.dirname(PROGRAM[0])
        for name in ("streams_events", "graph_launch", "two_gpus", "fork_exec"):
            with self.subTest(name):
                self.run_program([os.path.join(folder, name)], SOFTGPU_COUNT="2")
                self.compare(2)
                self.clean()

    def test_ends_in_flight(self):
        """However the process ends, with dispatches under way: no hang, and its own status."""
        program = os.path.join(os.path.dirname(PROGRAM[0]), "exit_ways")
        for way, status in (("exit", 3), ("_exit", 3), ("abort", 128 + 6), ("kill9", 128 + 9)):
            with self.subTest(way):
                self.run_program(["sh", "-c", f'"{program}" {way} 200 nosync 3; exit $?'], status=status,
                                 SOFTGPU_KERNEL_NS="50000")
                self.clean()

    def test_no_library_of_the_vendors(self):
        """The program runs; one line says what is not counted and why."""
        said = self.run_program([os.path.join(os.path.dirname(PROGRAM[0]), "streams_events")],
                                ROCP_HSA_INTERCEPT="0", LD_LIBRARY_PATH="")
        self.assertEqual(re.findall(r"rocprofiler: .*", said),
                         ["rocprofiler: the HSA runtime finds no libhsa-amd-aqlprofile64.so (AMD's package hsa-amd-aqlprofile,"
                          " or libhsa-amd-aqlprofile64-1-dev); queues' work is not counted"])

    def test_full_rings_wait(self):
        """Batches larger than the ring, and rings that are full: every dispatch is counted."""
        for arguments in ("-n 60 -t 3 -r 2 -b 32 -B 5 -s 64", "-n 400 -t 2 -b 200 -s 1024"):
            with self.subTest(arguments):
                self.run_program([HSA_PROGRAM, *arguments.split()])
                self.compare(360)
                self.clean()

    def test_slow_handlers_at_the_end_of_the_runtime(self):
        """The program ends the runtime before the tool has read all: what it reads then are the counts, too."""
        self.run_program([HSA_PROGRAM, *"-n 10 -t 2 -r 1".split()], TOOL_SLOW="1")
        self.compare(20)

    def test_slow_handlers_at_the_end_of_the_process(self):
        """HIP does not end the runtime: the process's end waits, as long as there is news."""
        self.run_program(TOOL_SLOW="1")
        self.compare(40)

    def test_the_programs_own_times_and_handlers_work(self):
        """HIP waits, in a handler of the runtime's, for a kernel that waits for its turn."""
        self.run_program([os.path.join(os.path.dirname(PROGRAM[0]), "timing")])
        self.compare(100)

    def test_a_kernel_that_hangs_lets_the_others_go(self):
        said = self.run_program([os.path.join(os.path.dirname(PROGRAM[0]), "faulty"), "leave"],
                                RTL_COUNTERS_TIMEOUT="1", SOFTGPU_FAULT="hang:bad_kernel")
        self.assertIn("rocprofiler: a kernel that is counted has not ended for 1 s", said)

    def test_what_the_tool_is_told(self):
        self.assertIn("rocprofiler: HSA callbacks are told of code objects and kernels alone",
                      self.run_program(TOOL_MEMCOPY="1"))
        settings, = self.lines(self.output, "settings")
        self.assertEqual(settings, "settings intercept=1 code=1 trace=33554432 local=1 "
                                   "timeout=ffffffffffffffff times=0")
        told, = self.lines(self.output, "told")
        numbers = dict((k, int(v)) for k, v in re.findall(r"(\w+)=(\d+)", told))
        self.assertTrue(all(numbers[key] > 0 for key in
                            ("ksymbol", "codeobj")), told)
        symbols = self.lines(self.output, "symbol")
        names = {line.split(" name=")[1] for line in self.lines(self.output, "dispatch")}
        self.assertTrue(names <= {s.removeprefix("symbol ") for s in symbols}, names)
        self.assertIn("vector_add.kd", names)

    def test_the_runtimes_end_unloads_the_tool(self):
        """Four threads and their queues: the end waits for what is under way."""
        self.run_program([HSA_PROGRAM, "-n", "50", "-t", "4"])
        self.assertEqual(self.lines(self.output, "end"), ["end unload"])
        self.assertEqual(len(self.lines(self.output, "dispatch")), 200)
        self.assertIn("name=void hsa_test::add<2u>(unsigned int*, unsigned int) [clone .kd]",
                      " ".join(self.lines(self.output, "dispatch")))

    def test_no_tool(self):
        self.assertIn("rocprofiler: ROCP_TOOL_LIB: /none.so: cannot open",
                      self.run_program(self.SHORT, ROCP_TOOL_LIB="/none.so"))
        self.assertIn("is no tool: it needs OnLoadTool or OnLoadToolProp, and OnUnloadTool",
                      self.run_program(self.SHORT, ROCP_TOOL_LIB=BAD))

    def test_settings_that_cannot_be_had(self):
        refused = [f"ROCP_{n}" for n in ("MCOPY_DATA", "PROXY_QUEUE", "DUMP_CODEOBJ", "ONLOAD_TRACE")] + [
            "ROCPROFILER_TRACE", "ROCPROFILER_SESS", "ROCPROFILER_LOG"]
        said = self.run_program(self.SHORT, **{name: "1" for name in refused})
        for name in refused:
            self.assertIn(f"rocprofiler: {name} is not supported\n", said)
        self.assertIn("rocprofiler: ROCP_HSA_INTERCEPT is '3': 0, 1",
                      self.run_program(self.SHORT, ROCP_HSA_INTERCEPT="3"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *os.environ.get("TOOL_TESTS", "").split()], verbosity=2)
