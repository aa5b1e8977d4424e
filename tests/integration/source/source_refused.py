#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`--source runtime` and `auto` where the runtime cannot be the source: one line, the program unharmed."""
import os
import subprocess
import unittest

from source_kit import BUILD, Case, PROGRAMS7, ROCM7, RTL, RUN5, WAYS, double, read_log

GRAPHS = "DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING"
# Behind rtl, which asks what comes next.
TRACER = os.path.join(BUILD, "lib", "librtl_rocm.so") + ":" + double("hip_tracer_double")
MODULE = os.path.join(PROGRAMS7, "module_add.gfx942.co")


class Refused(Case):
    def sources(self, trace):
        """What `rtl info` says of each process."""
        done = subprocess.run([RTL, "info", trace.path], capture_output=True, text=True, check=True)
        return [line.split(": ", 1)[1] for line in done.stdout.splitlines()
                if line.startswith("source of process ")]

    def refused(self, trace, why):
        """That reason, in one line of the log and in rtl info; no GPU work."""
        lines = [line for line in trace.said.splitlines() if "source: " in line]
        self.assertEqual(len(lines), 1, trace.said)
        self.assertIn(f"runtime is not available, GPU work is not traced: {why}", lines[0])
        self.assertEqual([why in source for source in self.sources(trace)], [True])
        self.assertEqual(trace.dispatches(), [])

    def fell_back(self, trace, why):
        """`auto` took queues, for that reason; nothing is lacking."""
        self.assertNotIn("source: ", trace.said)
        self.assertEqual(self.sources(trace), [f"queue, not runtime: {why}"])
        self.check_dispatches(trace)

    def test_hip_that_does_not_name_kernels(self):
        why = "HIP before 5.4 does not report the names of kernels"
        self.refused(self.trace("callback", "vector_add", 65536, 3, runner=RUN5), why)
        self.fell_back(self.trace("auto", "vector_add", 65536, 3, runner=RUN5), why)

    def given_up(self, trace, why):
        """That reason, in one line, when it shows; the program is unharmed, and the ledger does not say that all is there."""
        lines = [line for line in trace.said.splitlines() if "source: " in line]
        self.assertEqual(len(lines), 1, trace.said)
        self.assertIn(f"runtime is given up, GPU work is not traced from here on: {why}", lines[0])
        self.assertIn("vector_add: ok", trace.done.stdout)
        self.assertGreater(trace.lost(), 0)

    def test_hip_that_does_not_announce_work(self):
        """ROCm 7.2 before 7.2.4: the first work that it reports shows it."""
        trace = self.trace("callback", "vector_add", 65536, 20, preload=TRACER,
                           env={"HIP_TRACER": "silent"})
        self.given_up(trace, "this HIP 7.2 does not tell tracers which work it will report")
        self.assertEqual(trace.dispatches(), [])

    def test_other_releases_of_hip__by_their_number(self):
        for version, why in ((50421153, "HIP 5.4 does not tell tracers which work it will report"),
                             (70125424, "HIP 7.1 does not tell tracers which work it will report"),
                             (70900000, "HIP 7.9 hands tracers data whose layout is not known here")):
            with self.subTest(version):
                trace = self.trace("callback", "vector_add", 65536, 3, preload=TRACER,
                                   env={"HIP_TRACER": f"version={version}"})
                self.given_up(trace, why)

    def test_double_of_the_callback__is_taken(self):
        trace = self.trace("callback", "vector_add", 65536, 3, preload=TRACER)
        self.check_dispatches(trace)

    def said_once(self, said, info=None, **how):
        """That, in one line and in rtl info (or info there); the program is unharmed."""
        trace = self.trace("records", "vector_add", 4096, 3, **how)
        lines = [line for line in trace.said.splitlines() if line.startswith("rtl: hsa ")]
        self.assertEqual([said in line for line in lines], [True], trace.said)
        self.assertIn("vector_add: ok", trace.done.stdout)
        self.assertIn(info or said, "\n".join(self.sources(trace)))
        return trace

    def test_profilers_of_another_layout(self):
        for library in ("a", "b", "c", "early"):
            with self.subTest(library):
                trace = self.said_once("development version", preload=double(f"hip_double_{library}"))
                self.assertEqual(trace.dispatches(), [])

    def test_profilers_with_faults(self):
        for switches, said in (("shifted", "unknown layout"), ("enable_fails", "error 801"),
                               ("no_start", "where its records begin"), ("bad_op", "unknown kind"),
                               ("bad_node", "GPU that there is not"), ("bad_times", "ends before it begins"),
                               ("bad_name", "does not have"), ("last_error", "last error")):
            with self.subTest(switches):
                self.said_once(said, switches=switches)
        self.said_once("ends without HIP's own end", info="runtime", switches="disable_hangs",
                       env={"RTL_HSA_EXIT_MS": "300"})
        self.said_once("RTL_SOURCE_MEMORY", info="runtime", env={"RTL_SOURCE_MEMORY": "1K"})

    def test_quirks_of_some_versions__do_no_harm(self):
        trace = self.trace("records", "vector_add", 4096, 3, switches="hashed_tid,no_end,clean,exit_hangs")
        self.assertNotIn("rtl: hsa ", trace.said)
        self.assertEqual(self.check_dispatches(trace, graphs=True), 3)

    def test_strict__the_program_is_not_run(self):
        trace = self.trace("callback", "vector_add", 65536, 3, runner=RUN5, status=None,
                           env={"RTL_STRICT": "1"})
        self.assertNotEqual(trace.done.returncode, 0)
        self.assertNotIn("vector_add: ok", trace.done.stdout)

    def test_program_without_hip(self):
        why = "no HIP is in the process when HSA begins"
        trace = self.trace("callback", "hsa_dispatch", "-n", 50)
        self.refused(trace, why)
        self.assertEqual(len(read_log(trace.log_path)[0]), 50)
        self.fell_back(self.trace("auto", "hsa_dispatch", "-n", 50), why)

    def test_auto__takes_queues_as_hip_may_crash(self):
        self.fell_back(self.trace("auto", "vector_add", 65536, 3), "HIP 7.2 may crash where streams are "
                       "destroyed while it has still to report what ran on them")

    def test_graphs_that_crash_hip__are_not_met(self):
        trace = self.trace("callback", "graph_launch", 20, env={GRAPHS: "1"})
        self.assertIn("graph_launch: ok", trace.done.stdout)
        self.assertIn("runtime is given up, GPU work is not traced from here on", trace.said)
        self.assertGreater(trace.lost(), 0)

    def test_hip_for_the_program_alone__and_given_back(self):
        program = os.path.join(BUILD, "tests", "integration", "two_hips")
        for way in WAYS:
            for close in ((), ("close",)):
                with self.subTest(f"{way} {close}"):
                    trace = self.trace(way, program, os.path.join(ROCM7, "libamdhip64.so.7"), MODULE,
                                       *close)
                    self.assertEqual(self.check_dispatches(trace, graphs=way == "records"), 10)

    def test_two_hips__the_program_runs_and_a_line_says_what_is_not_traced(self):
        program = os.path.join(BUILD, "tests", "integration", "two_hips_linked")
        if not os.path.exists(program):
            self.skipTest("there is one HIP only")
        trace = self.trace("callback", program, os.path.join(ROCM7, "libamdhip64.so.7"), MODULE)
        self.assertIn("two_hips: ok", trace.done.stdout)
        if len(trace.dispatches()) != 10:
            self.refused(trace, "HIP ")

    def test_counters__need_queues(self):
        trace = self.trace("callback", "vector_add", 65536, 3, status=2,
                           options=["--counters", "SQ_WAVES"])
        self.assertIn("counters need intercepted queues", trace.said)

    def test_memory_that_is_no_size__is_said(self):
        for size in ("1.5G", "17179869184G", "99999999999999999999"):
            with self.subTest(size):
                trace = self.trace("records", "vector_add", 65536, 3, env={"RTL_SOURCE_MEMORY": size})
                self.assertIn(f"RTL_SOURCE_MEMORY={size}: must be a size", trace.said)
                self.check_dispatches(trace)

    def test_unknown_source__is_said(self):
        done = subprocess.run([RTL, "trace", "--source", "hip", "--", "true"], text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown source 'hip'", done.stderr)


if __name__ == "__main__":
    unittest.main()
