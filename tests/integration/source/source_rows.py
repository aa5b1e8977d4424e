#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`rtl trace --source runtime`, both ways: rows against the GPU's log, and against --source queue."""
import collections
import os
import unittest

from source_kit import BUILD, FIELD, Case, PROGRAMS5, RUN5, RUN7, TICK_NS, WAYS, read_log


class Rows(Case):
    def check(self, way, *program, graphs=False, **how):
        trace = self.trace(way, *program, **how)
        count = self.check_dispatches(trace, graphs=graphs)
        self.assertEqual(self.check_links(trace), count)
        self.assertGreater(count, 0)
        self.assertEqual(trace.lost(), 0)
        self.check_none_twice(trace)
        return trace

    def test_launches_and_copies__as_in_the_log(self):
        for way in WAYS:
            with self.subTest(way):
                trace = self.check(way, "vector_add", 65536, 20)
                self.assertEqual(self.check_copies(trace), 3)

    def test_four_threads_and_100000_launches__each_once(self):
        for way in WAYS:
            with self.subTest(way):
                trace = self.check(way, "threads", 4, 25000, env={"SOFTGPU_KERNEL_NS": "0"})
                self.assertEqual(len(trace.dispatches()), 100000)

    def test_small_slabs__and_records_with_registers(self):
        if "records" in WAYS:
            self.check("records", "threads", 4, 2000, switches="slab=97")
            self.check("records", "threads", 2, 20, switches="v02")

    def test_work_that_is_reported_late__has_its_call(self):
        """More calls than RTL_HSA_SLOTS are made before HIP reports the first one's work."""
        if "records" in WAYS:
            self.check("records", "threads", 1, 1500,
                       env={"SOFTGPU_KERNEL_NS": "200000", "RTL_HSA_SLOTS": "64"})

    def test_thread_without_a_processor__has_its_call(self):
        """As it returns from a launch, others make 70000 calls."""
        if "records" in WAYS:
            self.check("records", "threads", 1, 20, switches="crowd=70000")

    def test_graphs__each_nodes_work(self):
        for way in WAYS:
            with self.subTest(way):
                trace = self.check(way, "graph_launch", 20, graphs=True)
                calls = trace.one("SELECT count(DISTINCT api_id) FROM rtl_api_ops "
                                  "WHERE function = 'hipGraphLaunch'")
                self.assertEqual(calls, 40)
                graphs, = (s for s in trace.summary()["sections"] if s["kind"] == "graph")
                self.assertEqual([row["count"] for row in graphs["rows"]], [20, 20])
                nodes = collections.defaultdict(int)
                for node in (n for row in graphs["rows"] for n in row["nodes"] if "bytes" not in n):
                    self.assertEqual(node["count"], 20)
                    nodes[node["name"]] += node["total_ns"]
                self.assertEqual(nodes, {r[0]: r[1] for r in trace.rows(
                    "SELECT kernel, sum(duration_ns) FROM rtl_dispatches GROUP BY kernel")})

    def test_graph_that_begins_with_a_copy__in_mode_lite(self):
        for way in WAYS:
            with self.subTest(way):
                trace = self.trace(way, "graph_launch", 5, mode="lite")
                self.assertEqual(self.check_dispatches(trace, graphs=True), 35)
                self.assertEqual(trace.lost(), 0)

    def test_modules_and_streams(self):
        for way in WAYS:
            for program in ("module_launch", "streams_events", "copies"):
                with self.subTest(f"{way} {program}"):
                    self.check(way, program, graphs=way == "records")

    def test_kernels_that_were_chosen__others_are_counted(self):
        for way in WAYS:
            with self.subTest(way):
                trace = self.trace(way, "causes", 1, 5, options=["--kernel", "^void.work<float>"])
                rows = trace.rows("SELECT kernel FROM rtl_dispatches")
                self.assertEqual({r["kernel"] for r in rows}, {"void work<float>(float*)"})
                left_out = trace.one("SELECT sum(count) FROM rtl_left_out WHERE stream = 'rtl.hsa'")
                self.assertEqual(len(rows) + left_out, len(read_log(trace.log_path)[0]))

    def test_copies_behind_kernels__times_are_right_or_none(self):
        trace = self.trace("callback", "copies_behind", env={"SOFTGPU_KERNEL_NS": "1000000"})
        transfers = read_log(trace.log_path)[1]
        copies = trace.rows("SELECT * FROM rtl_copies")
        self.assertEqual([(c["direction"], c["gpu"], c["op_id"]) for c in copies[32:]],
                         [("host to host", 0, None)] * 2)
        timed = [c for c in copies[:32] if c["begin_ns"]]
        self.assertGreaterEqual(len(timed), 8)
        for copy in timed:
            parts = [t for t in transfers if copy["begin_ns"] - TICK_NS <= t[2] and t[3] <= copy["end_ns"] + TICK_NS]
            self.assertEqual(sum(t[1] for t in parts), copy["bytes"], dict(copy))
            self.assertLessEqual(abs(parts[0][2] - copy["begin_ns"]), TICK_NS, dict(copy))
            self.assertLessEqual(abs(parts[-1][3] - copy["end_ns"]), TICK_NS, dict(copy))

    def test_queues__copies_by_kernels_of_hip_are_copies(self):
        """Their bytes and directions are what the program asked for; who wants copies alone gets the same."""
        for rocm, run in ((5, RUN5), (6, RUN7.replace("rocm7", "rocm6")), (7, RUN7)):
            program = os.path.join(PROGRAMS5, f"rocm{rocm}" if rocm > 5 else "", "copies")
            for size in 63, 65537:
                with self.subTest(rocm=rocm, size=size):
                    self.check_copies_by_kernels(run, program, size)

    def check_copies_by_kernels(self, run, program, size):
        trace = self.trace("queue", program, size, runner=run)
        within, copies = "device to device", collections.defaultdict(collections.Counter)
        for row in trace.rows("SELECT a.function, a.args, c.* FROM rtl_calls AS a JOIN rtl_copies AS c "
                              "USING (correlation) WHERE c.flags & 128"):
            copies[row["function"]][row["direction"]] += row["bytes"]
            if row["function"] in ("hipMemcpyDtoDAsync", "hipMemcpyWithStream"):
                self.assertTrue(f"{row['src']:#x}" in row["args"] and f"{row['dst']:#x}" in row["args"], dict(row))
        for function, expected in {
                "hipMemcpy": {within: size}, "hipMemcpyDtoDAsync": {within: size}, "hipMemset": {"fill": size},
                "hipMemcpy2DAsync": {within: min(size, 300) * 3}, "hipMemcpy3DAsync": {within: min(size, 300) * 9 * 3},
                "hipMemsetD8": {"fill": 512 * 10 * 3}, "hipMemsetD32Async": {"fill": size // 4 * 4},
                "hipGraphLaunch": {within: 2 * (size + 64), "fill": 2 * ((size + 1) // 2)}}.items():
            self.assertEqual({way: copies[function][way] for way in expected}, expected, function)
        self.assertEqual(trace.one("SELECT count(*) FROM rtl_dispatches WHERE kernel LIKE '%rocclr%'"), 0)
        self.assertEqual(trace.lost() + trace.lost("rtl.hsa.copy"), 0)
        bytes_ = [row[0] for row in trace.rows("SELECT bytes FROM rtl_copies WHERE flags & 128 ORDER BY 1")]
        alone = self.trace("queue", program, size, runner=run, mode="standard", options=(
            "-s", f"{BUILD}/tests/integration/libtext_sub.so?streams=rtl.hsa.copy&begin=1"))
        with open(alone.path, encoding="utf-8") as file:
            events = [dict(FIELD.findall(line)) for line in file]
        for kind in "transfer_begin", "transfer_end":
            self.assertEqual(bytes_, sorted(int(event["bytes"]) for event in events
                                            if event["type"] == kind and int(event["flags"]) & 128))

    def test_both_sources__same_rows(self):
        """But for what the runtime does not know: queues, registers, when work was submitted."""
        def rows(way):
            trace = self.check(way, "causes", 1, 10, graphs=True)
            kernels = collections.Counter(
                (r["mangled"], r["function"], *(() if "Module" in r["function"] else (
                    r["grid_x"], r["workgroup_x"]))) for r in trace.rows(
                    "SELECT d.*, c.function FROM rtl_dispatches AS d "
                    "JOIN rocpd_api_ops AS l ON l.op_id = d.op_id "
                    "JOIN rtl_calls AS c ON c.api_id = l.api_id "
                    "WHERE d.kernel NOT LIKE '\\_\\_amd%' ESCAPE '\\' "
                    "AND c.function <> 'hipGraphLaunch'"))
            calls = collections.Counter(r[0] for r in trace.rows("SELECT function FROM rtl_calls"))
            graphs = collections.Counter(r[0] for r in trace.rows(
                "SELECT name FROM rtl_api_ops WHERE function = 'hipGraphLaunch' "
                "AND name LIKE '%work%'"))
            return kernels, calls, graphs
        queue = rows("queue")
        for way in WAYS:
            with self.subTest(way):
                for there, here in zip(queue, rows(way)):
                    self.assertEqual(there, here)


if __name__ == "__main__":
    unittest.main()
