#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`--source runtime` by HIP's profiler: what was begun and is not reported is in the ledger, by its kind."""
import unittest

from source_kit import Case, read_log

NOT_REPORTED = "GPU work that HIP did not report"
COPIES = "copies without a report of HIP's; some need no GPU"


class Ledger(Case):
    def missed(self, trace):
        return {(r["stream"], r["cause"]): r["count"] for r in trace.rows("SELECT * FROM rtl_loss")}

    def check(self, switches, mode, *program, kernels=0, copies=0):
        """So many are lost, and the ledger has them; whatever else the log has is in the trace."""
        trace = self.trace("records", *program, switches=switches, mode=mode)
        log, transfers = read_log(trace.log_path)
        self.assertEqual(len(trace.dispatches()), len(log) - kernels)
        there = trace.one("SELECT count(*) FROM rtl_copies WHERE direction <> 'fill'")
        expected = {}
        if kernels:
            expected["rtl.hsa", NOT_REPORTED] = kernels
        if mode == "lite":
            self.assertEqual(there, 0)
        else:
            self.assertEqual(there, len(transfers) - copies)
            if copies:
                expected["rtl.hsa.copy", COPIES] = copies
        missed = self.missed(trace)
        if mode == "lite":
            missed.pop(("rtl.hsa.copy", "mode lite: copy"))
        self.assertEqual(missed, expected)
        return trace

    def test_nothing_is_lost__nothing_is_missed(self):
        for mode in ("lite", "standard", "full"):
            with self.subTest(mode):
                self.check("", mode, "vector_add", 65536, 3)

    def test_kernels_and_copies_that_hip_loses(self):
        for mode in ("lite", "standard", "hip"):
            with self.subTest(mode):
                self.check("lost_kernel=7,lost_copy=2", mode, "vector_add", 65536, 20, kernels=2, copies=1)

    def test_nodes_of_graphs_that_hip_loses(self):
        """Of 20 launches of four kernels and two copies, and 20 of three kernels, a fill and a copy, the first
        piece of each is reported."""
        for mode in ("standard", "hip"):
            with self.subTest(mode):
                trace = self.trace("records", "graph_launch", 20, switches="lost_graph", mode=mode)
                kernels, copies = len(trace.dispatches()), trace.one("SELECT count(*) FROM rtl_copies")
                missed = self.missed(trace)
                self.assertEqual(missed, {("rtl.hsa", NOT_REPORTED): 140 - kernels,
                                          ("rtl.hsa.copy", COPIES): 80 - copies})
                self.assertEqual(kernels + copies, 40)

    def test_records_without_threads__what_had_begun_is_unknown(self):
        trace = self.trace("records", "vector_add", 65536, 3, switches="hashed_tid")
        self.check_dispatches(trace)
        self.assertEqual(list(self.missed(trace)),
                         [("rtl.hsa", "unknown: what had begun, as records have no threads")])


if __name__ == "__main__":
    unittest.main()
