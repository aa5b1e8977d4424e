#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program that does by turns what a GPU can be asked for (tests/programs/hip/mix.hip), with each source against
the GPU's log, and with one source against another."""
import collections
import unittest

from source_kit import Case, RUN5, TICK_NS, WAYS, read_log

THREADS, ROUNDS = 4, 8
GRAPHS = THREADS * ROUNDS // 4 * 2  # launches


class Mix(Case):
    def mix(self, way, **how):
        trace = self.trace(way, "mix", THREADS, ROUNDS, **how)
        kernels = self.check_dispatches(trace, graphs=True)
        self.assertEqual(kernels, 5 * THREADS * ROUNDS + 3 * GRAPHS + 2 * ROUNDS)
        self.assertEqual(self.check_links(trace), kernels)
        if way == "queue":
            self.check_copies(trace)
        else:
            self.check_some_copies(trace)
        self.assertEqual((trace.lost(), trace.lost("rtl.hsa.copy")), (0, 0))
        self.check_none_twice(trace)
        return trace

    def check_some_copies(self, trace):
        """Those behind a wait for another stream have no times, as HIP 7.2.4 tells wrong ones of them."""
        transfers = collections.Counter(t[1] for t in read_log(trace.log_path)[1])
        copies = trace.rows("SELECT * FROM rtl_copies WHERE direction IN ('host to device', 'device to host')")
        self.assertEqual(collections.Counter(c["bytes"] for c in copies), transfers)
        begins = [t[2] for t in read_log(trace.log_path)[1]]
        for copy in copies:
            self.assertLessEqual(copy["begin_ns"] or 0, copy["end_ns"] or 0, dict(copy))
            self.assertTrue(copy["direction"] == "device to host" if not copy["begin_ns"] else
                            sum(abs(copy["begin_ns"] - begin) <= TICK_NS for begin in begins) == 1, dict(copy))

    def work(self, trace):
        """How often which function made which kernel, copy or fill; copies that are nodes of graphs by no function, as
        HIP does them by kernels of its own."""
        kernels = collections.Counter(
            (r["function"], r["kernel"]) for r in trace.rows(
                "SELECT c.function, d.kernel FROM rtl_dispatches AS d "
                "JOIN rocpd_api_ops AS l ON l.op_id = d.op_id "
                "JOIN rtl_calls AS c ON c.api_id = l.api_id WHERE d.kernel NOT LIKE '\\_\\_amd%' ESCAPE '\\'"))
        copies = collections.Counter(
            (r["function"], r["direction"], r["bytes"]) for r in trace.rows(
                "SELECT c.function, o.direction, o.bytes FROM rtl_copies AS o "
                "JOIN rocpd_api_ops AS l ON l.op_id = o.op_id "
                "JOIN rtl_calls AS c ON c.api_id = l.api_id "
                "WHERE o.direction <> 'fill' AND c.function <> 'hipGraphLaunch'"))
        calls = collections.Counter(r[0] for r in trace.rows("SELECT function FROM rtl_calls"))
        return kernels, copies, calls

    def test_both_sources__as_in_the_log_and_the_same_rows(self):
        queue = self.work(self.mix("queue"))
        for way in WAYS:
            with self.subTest(way):
                for there, here in zip(queue, self.work(self.mix(way))):
                    self.assertEqual(there, here)

    def test_more_under_way_than_is_kept__the_ledger_counts_each_once(self):
        """Graphs of three kernels, launched far ahead; HIP tells of each kernel, but of one command."""
        for way in WAYS:
            with self.subTest(way):
                trace = self.trace(way, "mix", 1, 0, 2500, env={"SOFTGPU_KERNEL_NS": "100000", "RTL_HSA_SLOTS": "64"})
                kernels = self.check_dispatches(trace, cut=True, graphs=True)
                self.assertEqual(kernels + trace.lost(), 3 * 2500)

    def test_stream_that_is_destroyed_while_others_work__waits_for_its_own(self):
        for way in WAYS:
            for mode in ("hip", "standard"):
                with self.subTest(f"{way} {mode}"):
                    trace = self.trace(way, "destroy_busy", 5, mode=mode,
                                       env={"SOFTGPU_KERNEL_NS": "20000", "TEST_HANG_S": "60"})
                    self.check_dispatches(trace)

    def test_queues_on_rocm_5(self):
        self.mix("queue", runner=RUN5)


if __name__ == "__main__":
    unittest.main()
