#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The source librpd_src.so: files in RPD's shape, of each version of its schema, as events.
"""

import contextlib
import json
import os
import random
import sqlite3
import unittest

from cli_kit import Case

KEY = '"id" integer NOT NULL PRIMARY KEY AUTOINCREMENT'
KERNEL = ("gridX", "gridY", "gridZ", "workgroupX", "workgroupY", "workgroupZ", "groupSegmentSize", "privateSegmentSize")
COPY = ("size", "width", "height", "kind", "dst", "src", "dstDevice", "srcDevice", "sync", "pinned")
T = 10**12


class Trace:
    """A file as RPD's tracer makes it. Version 1 has what was launched and copied by operations, 2 by calls; 3 has domains,
    categories, and texts of their own for arguments."""

    def __init__(self, path, version=3):
        self.version, self.db, self.ids = version, sqlite3.connect(path), {}
        self.of = "op" if version == 1 else "api"
        self.arguments = "rocpd_ustring" if version == 3 else "rocpd_string"
        stream = [] if version == 1 else ["stream"]
        for table, columns in {
                "rocpd_string": ["string"], **({"rocpd_ustring": ["string"]} if version == 3 else {}),
                "rocpd_api": ["pid", "tid", "start", "end", "apiName_id", "args_id",
                              *(["category_id", "domain_id"] if version == 3 else [])],
                "rocpd_op": ["gpuId", "queueId", "sequenceId", "start", "end", "description_id", "opType_id",
                             *([] if version == 3 else ["completionSignal"])],
                "rocpd_api_ops": ["api_id", "op_id"], "rocpd_metadata": ["tag", "value"]}.items():
            self.db.execute(f"CREATE TABLE {table} ({KEY}, " + ", ".join(f'"{c}"' for c in columns) + ")")
        for table, columns in ((f"rocpd_kernel{self.of}", [*stream, *KERNEL, "kernelName_id"]),
                               (f"rocpd_copy{self.of}", [*stream, *COPY])):
            self.db.execute(f'CREATE TABLE {table} ("{self.of}_ptr_id" bigint NOT NULL PRIMARY KEY, {", ".join(columns)})')
        self.text("")
        self.text("", self.arguments)

    def insert(self, table, **values):
        return self.db.execute(f"INSERT INTO {table} (" + ", ".join(f'"{k}"' for k in values) + ") VALUES (" +
                               ", ".join("?" * len(values)) + ")", tuple(values.values())).lastrowid

    def text(self, text, table="rocpd_string"):
        if (table, text) not in self.ids:
            self.ids[table, text] = self.insert(table, string=text)
        return self.ids[table, text]

    def call(self, name, start, end, pid=7, tid=8, domain="hip", category="", args=""):
        more = {"domain_id": self.text(domain), "category_id": self.text(category)} if self.version == 3 else {}
        return self.insert("rocpd_api", pid=pid, tid=tid, start=T + start, end=T + end, apiName_id=self.text(name),
                           args_id=self.text(args, self.arguments), **more)

    def operation(self, kind, start, end, name="", call=None, gpu=2, queue=5, packet=0):
        more = {} if self.version == 3 else {"completionSignal": ""}
        op = self.insert("rocpd_op", gpuId=gpu, queueId=queue, sequenceId=packet, start=T + start, end=T + end,
                         description_id=self.text(name), opType_id=self.text(kind), **more)
        if call:
            self.insert("rocpd_api_ops", api_id=call, op_id=op)
        return op

    def details(self, kind, call, op, values, **more):
        stream = {} if self.version == 1 else {"stream": "0x7f10"}
        columns = KERNEL if kind == "kernel" else COPY
        self.insert(f"rocpd_{kind}{self.of}", **{f"{self.of}_ptr_id": op if self.of == "op" else call}, **stream,
                    **dict(zip(columns, values)), **more)

    def close(self):
        self.db.commit()
        self.db.close()


def fill(trace):
    """Something of each kind, not in order."""
    launch = trace.call("hipLaunchKernel", 0, 100, category="launch")
    kernel = trace.operation("KernelExecution", 150, 250, "a_kernel", launch, packet=33)
    trace.details("kernel", launch, kernel, (256, 2, 1, 64, 1, 1, 1024, 16), kernelName_id=trace.text("a_kernel"))
    trace.operation("KernelExecution", 350, 400, "b_kernel")
    copy = trace.call("hipMemcpy", 50, 90, tid=9)
    op = trace.operation("CopyHostToDevice", 60, 80, call=copy, queue=0)
    trace.details("copy", copy, op, (4096, 0, 0, 1, "0x1000", "0x2000", 2, 0, 1, 0))
    trace.call("UserMarker", 10, 200, pid=19, tid=19, domain="", args="a range")
    trace.call("UserMarker", 20, 20, pid=19, tid=19, domain="", args="a mark")


class Rpd(Case):
    """rtl replay of such files."""

    maxDiff = None

    def stats(self, name):
        done = self.rtl("replay", name, "-s", "libstats_sub.so?format=json&output=stats.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(self.read("stats.json"))

    def rows(self, name):
        return {s["title"]: {r["name"]: (r["count"], r.get("total_ns", 0)) for r in s["rows"]}
                for s in self.stats(name)["sections"] if s["rows"]}

    def make(self, name, version=3, filled=fill):
        trace = Trace(self.path(name), version)
        filled(trace)
        trace.close()

    def replayed(self, name, sql):
        """What a query of a database of it answers."""
        done = self.rtl("replay", name, "-o", name + ".db")
        self.assertEqual((done.returncode, done.stderr), (0, f"rtl: trace: {self.path(name)}.db\n"))
        return self.ask(name + ".db", sql)

    def test_each_version__the_same_events(self):
        for version in 1, 2, 3:
            name = f"v{version}.rpd"
            self.make(name, version)
            self.assertEqual(self.rows(name), {
                "GPU kernels": {"a_kernel": (1, 100), "b_kernel": (1, 50)}, "GPU copies": {"CopyHostToDevice": (1, 20)},
                "HIP calls": {"hipLaunchKernel": (1, 100), "hipMemcpy": (1, 40)}, "Ranges": {"a range": (1, 190)},
                "Launch latency (API call to start on the GPU)": {"a_kernel": (1, 150)}})
            stream = 0 if version == 1 else 0x7f10
            self.assertEqual(self.replayed(name, "SELECT pid, gpu, queue, packet_id, tid, grid_x, grid_y, workgroup_x, lds_bytes,"
                                           " scratch_bytes, call_ns, stream, kernel FROM rtl_dispatches ORDER BY begin_ns"),
                             [(7, 2, 5, 33, 8, 256, 2, 64, 1024, 16, T, stream, "a_kernel"),
                              (0, 2, 5, 0, 0, 0, 0, 0, 0, 0, None, None, "b_kernel")])
            self.assertEqual(self.ask(name + ".db", "SELECT pid, gpu, bytes, src, dst, dst_gpu, direction, tid FROM rtl_copies"),
                             [(7, 2, 4096, 0x2000, 0x1000, 2, "host to device", 9)])
            self.assertEqual(self.ask(name + ".db", "SELECT function, type, place FROM rtl_api_ops WHERE function LIKE 'hip%' "
                                      "ORDER BY begin_ns"),
                             [("hipMemcpy", "CopyHostToDevice", 1), ("hipLaunchKernel", "KernelExecution", 1)])
            self.assertEqual(self.ask(name + ".db", "SELECT pid, tid, name, begin_ns, end_ns, is_range FROM rtl_markers "
                                      "ORDER BY end_ns"),
                             [(19, 19, "a mark", T + 20, T + 20, 0), (19, 19, "a range", T + 10, T + 200, 1)])

    def test_submission_not_known__no_wait(self):
        def filled(trace):
            for at in 10**6, 3 * 10**6:
                trace.operation("KernelExecution", at, at + 10**6, "k", trace.call("hipLaunchKernel", at - 500, at - 400))
                trace.operation("CopyHostToDevice", at, at + 10**6)
        self.make("run.rpd", filled=filled)
        self.assertEqual(self.replayed("run.rpd", "SELECT wait_ns FROM rtl_dispatches UNION ALL SELECT wait_ns FROM rtl_copies"),
                         [(None,)] * 4)

    def test_events__in_the_order_of_their_ends(self):
        rng, ends = random.Random(5), []

        def filled(trace):
            for _ in range(3000):
                start = rng.randrange(10**6)
                ends.append(start + rng.randrange(50))
                call = trace.call("hipLaunchKernel", start, ends[-1])
                trace.operation("KernelExecution", ends[-1], ends[-1] + 7, "k", call)
        self.make("run.rpd", filled=filled)
        calls = self.replayed("run.rpd", "SELECT time_ns FROM rtl_e_rtl_hip_call_function_end ORDER BY id")
        self.assertEqual(calls, [(T + end,) for end in sorted(ends)])
        self.assertEqual(self.ask("run.rpd.db", "SELECT count(*) FROM rtl_api_ops WHERE op_id < api_id"), [(0,)])
        self.assertEqual(self.ask("run.rpd.db", "SELECT DISTINCT work FROM rtl_calls"), [(1,)])

    def test_domains_and_odd_operations(self):
        def filled(trace):
            trace.call("hsa_init", 0, 10, domain="hsa")
            trace.call("sqrt", 0, 30, domain="libm")
            trace.call("Process", 0, 0, domain="rtl", args="./app")
            # Of one call there is one row of details.
            call = trace.call("hipGraphLaunch", 0, 5)
            first = trace.operation("Memcpy", 10, 20, "hipMemcpyDefault", call)
            trace.operation("MEMORY_COPY_DEVICE_TO_HOST", 20, 40, call=call)
            trace.details("copy", call, first, (100, 0, 0, 2, "", "", -1, -1, 0, 0))
            trace.operation("MEMORY_COPY_HOST_TO_DEVICE", 40, 45)
            trace.operation("FillBuffer", 50, 51)
            trace.operation("Barrier", 60, 61)
            kernel = trace.operation("KernelExecution", 0, 7, "in a graph", call)
            trace.details("kernel", call, kernel, (64, 1, 1, 64, 1, 1, 0, 0), kernelName_id=trace.text("in a graph"))
            trace.operation("KernelExecution", 7, 8, "another", call)
            trace.operation("KernelExecution", -T, -T, "no times")
        self.make("run.rpd", filled=filled)
        self.assertEqual(self.rows("run.rpd"), {
            "HSA calls": {"hsa_init": (1, 10)}, "HIP calls": {"hipGraphLaunch": (1, 5)}, "rpd.call, function": {"sqrt": (1, 30)},
            "GPU kernels": {"in a graph": (1, 7), "another": (1, 1), "Barrier": (1, 1), "no times": (1, 0)},
            "GPU copies": {"CopyDeviceToHost": (2, 30), "CopyHostToDevice": (1, 5), "FillBuffer": (1, 1)},
            "Launch latency (API call to start on the GPU)": {"in a graph": (1, 0), "another": (1, 0)}})  # it waits for the one before
        self.assertEqual(self.replayed("run.rpd", "SELECT sum(bytes) FROM rtl_copy"), [(100,)])
        self.assertEqual(self.ask("run.rpd.db", "SELECT kernel, grid_x FROM rtl_dispatches WHERE grid_x"), [("in a graph", 64)])
        self.assertEqual(self.ask("run.rpd.db", "SELECT pid, program FROM rtl_process"), [(7, "./app")])

    def test_texts__whole_or_cut(self):
        long = "\u00fc" * 3000

        def filled(trace):
            for i, name in enumerate(("", "it's \"x\" \\ \x1b[31m\n \u00e9", long)):
                trace.call("UserMarker", i, i + 1, args=name)
                trace.operation("KernelExecution", i, i + 1, name)
        self.make("run.rpd", filled=filled)
        names = {"(unnamed)": (1, 1), "it's \"x\" \\ \x1b[31m\n \u00e9": (1, 1), long[:1024]: (1, 1)}
        rows = self.rows("run.rpd")
        self.assertEqual(rows["Ranges"], names)
        self.assertEqual(set(rows["GPU kernels"]), {"KernelExecution", "it's \"x\" \\ \x1b[31m\n \u00e9", long})

    def test_operations_without_calls__and_calls_without_operations(self):
        self.make("ops.rpd")
        self.make("calls.rpd")
        for name, table in ("ops.rpd", "rocpd_api"), ("calls.rpd", "rocpd_op"):
            self.ask(name, f"DROP TABLE {table}")
        self.assertEqual(self.rows("ops.rpd"), {"GPU kernels": {"a_kernel": (1, 100), "b_kernel": (1, 50)},
                                                "GPU copies": {"CopyHostToDevice": (1, 20)}})
        self.assertEqual(self.rows("calls.rpd"), {
            "HIP calls": {"hipLaunchKernel": (1, 100), "hipMemcpy": (1, 40)}, "Ranges": {"a range": (1, 190)}})

    def test_no_rows__nothing(self):
        for version in 1, 2, 3:
            self.make("run.rpd", version, lambda trace: None)
            self.assertEqual(self.stats("run.rpd")["sections"], [])
            os.remove(self.path("run.rpd"))

    def test_rows_of_rtl__what_stands_for_a_call_is_none(self):
        def filled(trace):
            trace.call("Process", 3, 3, domain="rtl", args="./app")
            trace.operation("KernelExecution", 20, 30, "k", trace.call("KernelDispatch", 5, 5, tid=6, domain="hsa", args="k"))
            trace.operation("CopyHostToDevice", 20, 30, call=trace.call("MemoryCopy", 7, 7, tid=6, domain="hsa"))
            trace.call("ProcessEnd", 90, 90, domain="rtl")
        self.make("run.rpd", filled=filled)
        self.assertEqual(self.rows("run.rpd"), {"GPU kernels": {"k": (1, 10)}, "GPU copies": {"CopyHostToDevice": (1, 10)}})
        for work, submit in ("rtl_dispatch", 5), ("rtl_copy", 7):
            self.assertEqual(self.replayed("run.rpd", f"SELECT tid, submit_ns, call_ns, correlation FROM {work}"),
                             [(6, T + submit, None, 0)])
        self.assertEqual(self.ask("run.rpd.db", "SELECT pid, program FROM rtl_process"), [(7, "./app")])

    def test_cut_off__what_was_written(self):
        path = self.path("source.rpd")
        self.make("source.rpd")
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA journal_mode = wal")
            database.execute("UPDATE rocpd_op SET \"end\" = \"end\" + 1")
            database.commit()
            for end in "", "-wal":
                with open(path + end, "rb") as source, open(self.path("run.rpd" + end), "wb") as copy:
                    copy.write(source.read())
        self.assertEqual(self.rows("run.rpd")["GPU kernels"], {"a_kernel": (1, 101), "b_kernel": (1, 51)})

    def test_what_is_none__one_line(self):
        self.write("text.rpd", "no database at all, but long enough for its header" * 50)
        self.write("empty.rpd", "")
        self.ask("other.rpd", "CREATE VIEW rocpd_api AS SELECT 1 AS id")
        for name in "text.rpd", "empty.rpd", "other.rpd":
            self.refused(1, "no plugin reads it", "replay", name, "-s", "libstats_sub.so?output=stats.txt")
        self.refused(1, "text.rpd cannot be read: file is not a database", "replay", "-i", "librpd_src.so", "text.rpd",
                     "-s", "libstats_sub.so?output=stats.txt")

    def test_damaged__read_or_said(self):
        def filled(trace):
            for _ in range(500):
                fill(trace)
        self.make("run.rpd", filled=filled)
        with open(self.path("run.rpd"), "rb") as file:
            whole = file.read()
        for seed in range(40):
            rng, data = random.Random(seed), bytearray(whole)
            for _ in range(rng.choice((1, 30))):
                at = rng.randrange(100, len(data))
                data[at:at + rng.choice((1, 60, 4096))] = rng.randbytes(1) * rng.choice((1, 60, 4096))
            with open(self.path("damaged.rpd"), "wb") as file:
                file.write(data[:rng.randrange(len(data)) if seed % 4 == 0 else len(data)])
            done = self.rtl("replay", "damaged.rpd", "-s", "libstats_sub.so?output=stats.txt")
            self.assertIn(done.returncode, (0, 1), (seed, done.stderr))
            self.assertEqual(bool(done.stderr), done.returncode == 1, (seed, done.stderr))


if __name__ == "__main__":
    unittest.main()
