#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`--source runtime`, both ways: ends of all kinds, children, pauses, work that never ends."""
import collections
import os
import subprocess
import time
import unittest

from source_kit import Case, RTL, WAYS, read_log


class Ends(Case):
    def test_end_in_order__all_of_it(self):
        for way in WAYS:
            for end, status in (("return", 3), ("exit", 3), ("thread_exit", 3)):
                with self.subTest(f"{way} {end}"):
                    trace = self.trace(way, "exit_ways", end, 300, "sync", 3, status=status)
                    self.assertEqual(self.check_dispatches(trace), 300)
                    self.assertEqual(trace.lost(), 0)
            with self.subTest(f"{way} static_dtor"):
                trace = self.trace(way, "exit_ways", "static_dtor", 300)
                self.assertIn("ok in static destructors", trace.done.stdout)
                self.assertGreaterEqual(self.check_dispatches(trace, cut=True), 300)

    def test_end_at_once__the_ledger_counts_what_lacks(self):
        for way in WAYS:
            for end, sync, status in (
                    ("_exit", "sync", 3), ("_exit", "nosync", 3), ("kill9", "sync", -9),
                    ("kill9", "nosync", -9), ("term", "nosync", -15), ("abort", "sync", -6),
                    ("segv", "nosync", -11)):
                with self.subTest(f"{way} {end} {sync}"):
                    trace = self.trace(way, "exit_ways", end, 300, sync, 3, status=status)
                    # Reports may come late, so there is no least number, even of "sync" (docs/what-is-recorded.md).
                    self.check_dispatches(trace, cut=True)

    def test_children(self):
        for way in WAYS:
            with self.subTest(way):
                trace = self.trace(way, "fork_exec")
                self.assertGreater(self.check_dispatches(trace, cut=True), 0)
                self.check_links(trace)

    def test_streams_that_are_gone__hip_does_not_crash(self):
        """Markers that nobody wants are reported by HIP, too."""
        for options in ((), ("--paused",), ("--range", "nothing")):
            with self.subTest(options):
                trace = self.trace("callback", "stream_gone", 100, options=options)
                self.assertEqual(len(trace.dispatches()), 0 if options else 200)

    def test_work_that_never_ends__no_hang(self):
        """The program does not wait for it, and HIP itself is left by _exit."""
        for way in WAYS:
            with self.subTest(way):
                trace = self.trace(way, "faulty", "leave_at_once",
                                   env={"SOFTGPU_FAULT": "hang:bad_kernel", "RTL_HSA_EXIT_MS": "500"})
                rows = trace.one("SELECT count(*) FROM rtl_dispatches WHERE kernel LIKE '%good%'")
                launched = trace.one("SELECT count(*) FROM rtl_calls "
                                     "WHERE function = 'hipLaunchKernel'")
                self.assertEqual(launched, 302)
                self.assertGreaterEqual(rows + trace.lost(), launched)

    def test_started_and_stopped__what_is_recorded_is_right(self):
        for way in WAYS:
            with self.subTest(way):
                self.toggle(way)

    def toggle(self, way):
        """Recorded from its first dispatches on, then not, then again."""
        toggles = []

        def run(process, environment):
            path = environment["SOFTGPU_LOG"]

            def more(by):
                """The GPU does so many dispatches more, or the program ends."""
                until = done_so_far() + by
                while process.poll() is None and done_so_far() < until:
                    time.sleep(0.01)

            def done_so_far():
                if not os.path.exists(path):
                    return 0
                with open(path, "rb") as log:
                    return log.read().count(b"name=threads_count")

            more(1)
            for verb in ("start", "stop", "start"):
                done = subprocess.run([RTL, verb, str(process.pid)], env=environment,
                                      capture_output=True, text=True, check=False)
                toggles.append(done.stderr or done.returncode)
                more(500)

        trace = self.trace(way, "threads", 2, 3000, 10, options=["--paused"],
                           env={"SOFTGPU_KERNEL_NS": "200000"}, beside=run)
        self.assertEqual(toggles[:1], [0])
        log, _ = read_log(trace.log_path)
        rows = trace.dispatches()
        self.assertGreater(len(rows), 0, f"{len(log)} in the log, {toggles}: {trace.said}")
        self.assertLess(len(rows), len(log))
        self.assertEqual(self.check_links(trace, submitted_before=True), len(rows))
        begins = collections.Counter(r.begin // 8 for r in log)
        for row in rows:
            self.assertTrue(any(begins[row.begin // 8 + d] for d in (-2, -1, 0, 1, 2)), row)


if __name__ == "__main__":
    unittest.main()
