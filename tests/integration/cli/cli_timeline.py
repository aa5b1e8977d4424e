#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Timelines by `rtl trace -o`, `rtl replay` and `rtl recover`, without ROCm: which files, and what is in
them, value by value beside the database of the same run.
"""

import collections
import csv
import functools
import os
import random
import re
import sqlite3
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "timeline"))
from cli_kit import Case, PROGRAM, RTL, rounds  # pylint: disable=wrong-import-position
import pftrace  # pylint: disable=wrong-import-position
from timeline_kit import check_nesting, load, load_cut  # pylint: disable=wrong-import-position

KILLS = rounds(24)  # for each format


def dispatches_of_json(path):
    return dispatches_of(load(path))


def dispatches_of(trace):
    check_nesting(trace["traceEvents"])
    base = trace["baseTimeNanoseconds"]
    found = []
    for event in trace["traceEvents"]:
        if event.get("cat") == "kernel_dispatch":
            args = event["args"]
            begin = base + round(event["ts"] * 1000)
            found.append((event["name"], begin, begin + round(event["dur"] * 1000),
                          args["packet"], args["queue"], args["agent"], args["grid"],
                          args["workgroup"], args["submit_ns"], args["submit_tid"]))
    return sorted(found)


def dispatches_of_pftrace(path):
    found = []
    for piece in pftrace.Trace(path).slices:
        if piece["cat"] == "kernel_dispatch":
            args = piece["args"]
            found.append((piece["name"], piece["begin"], piece["end"], args["packet"],
                          args["queue"], args["agent"], args["grid"], args["workgroup"],
                          args["submit_ns"], args["submit_tid"]))
    return sorted(found)


def dispatches_of_database(path):
    database = sqlite3.connect(path)
    rows = database.execute(
        "SELECT string, start, end, packet_id, queue, 'Agent ' || gpu, grid_x || 'x' || grid_y || 'x' || "
        "grid_z, workgroup_x || 'x' || workgroup_y || 'x' || workgroup_z, submit_ns, tid "
        "FROM rtl_dispatch JOIN rocpd_op AS o ON o.id = op_id "
        "JOIN rocpd_string AS s ON s.id = description_id").fetchall()
    database.close()
    return sorted(rows)


class Timeline(Case):
    def names(self):
        return sorted(os.listdir(self.folder))

    def test_all_suffixes_at_once__as_the_database(self):
        done = self.rtl("trace", "-o", "a.db", "-o", "a.json", "-o", "a.json.gz", "-o", "a.pftrace",
                        PROGRAM, "3000", "children")
        self.assertEqual(done.returncode, 0)
        for name in ("a.db", "a.json", "a.json.gz", "a.pftrace"):
            self.assertIn(f"rtl: trace: {self.path(name)}\n", done.stderr)
        expected = dispatches_of_database(self.path("a.db"))
        self.assertEqual(len(expected), 9000)
        self.assertEqual(dispatches_of_json(self.path("a.json")), expected)
        self.assertEqual(dispatches_of_json(self.path("a.json.gz")), expected)
        self.assertEqual(dispatches_of_pftrace(self.path("a.pftrace")), expected)
        self.assertEqual(self.names(), ["a.db", "a.json", "a.json.gz", "a.pftrace"])
        self.assertIn('"ended":"with status 0","pauses":null', self.read("a.json"))
        with open(self.path("a.pftrace"), "rb") as file:
            self.assertIn(b"with status 0", file.read())

    def test_csv__tables_at_the_end(self):
        done = self.rtl("trace", "-o", "a.csv", PROGRAM, "100")
        self.assertIn("GPU kernels: 100", done.stderr)
        self.assertTrue(done.stderr.endswith(f"rtl: trace: {self.path('a.csv')}\n"), done.stderr)
        done = self.rtl("trace", "-o", "b.db", "-o", "b.csv", PROGRAM, "100")
        self.assertIn(f"rtl: trace: {self.path('b.csv')}\n", done.stderr)
        self.rtl("trace", "-o", "c.csv", "true")
        self.assertEqual(self.names(), ["a.csv", "b.csv", "b.db"])
        for folder in ("a.csv", "b.csv"):
            self.assertEqual(len(self.read(folder + "/kernel_trace.csv").splitlines()), 101)
        self.refused(2, "with `rtl convert`", "trace", "--in-process", "-o", "d.csv", "true")
        self.refused(2, "%p and %e cannot", "trace", "-o", "d%p.csv", "true")
        os.rename(self.path("b.db"), self.path("a.csv/b.db"))
        self.refused(1, "holds something else", "trace", "-o", "a.csv", "true")
        self.assertEqual(sorted(os.listdir(self.path("a.csv"))), ["b.db", "kernel_trace.csv", "run_facts.csv"])
        os.rename(self.path("a.csv/b.db"), self.path("a.csv/c_own.csv"))  # not one of ours, by its name too
        self.refused(1, "holds something else", "trace", "-o", "a.csv", "true")

    def rows(self, name):
        with open(self.path(name), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def test_csv__programs_own_streams(self):
        self.rtl("trace", "-q", "-o", "a.csv", PROGRAM, "0", "regions")
        self.rtl("trace", "-q", "-o", "b.csv", PROGRAM, "2", "regions")
        begins, ends = (f"rtl_e_rtl_default_region_{way}.csv" for way in ("begin", "end"))
        self.assertEqual(sorted(os.listdir(self.path("a.csv"))), ["region_trace.csv", begins, "run_facts.csv"])
        self.assertEqual(sorted(os.listdir(self.path("b.csv"))),
                         ["kernel_trace.csv", "region_trace.csv", begins, ends, "run_facts.csv"])
        names = ["even", "inner", "odd", "inner", "open"]
        self.assertEqual([row["Name"] for row in self.rows("b.csv/" + begins)], names)
        regions = self.rows("b.csv/region_trace.csv")
        self.assertEqual(sorted(row["Name"] for row in regions), sorted(names))
        by_instance = {row["Instance"]: row for row in regions}
        for row in self.rows("b.csv/" + begins):
            self.assertEqual((row["Name"], row["Timestamp"]), (
                by_instance[row["Instance"]]["Name"], by_instance[row["Instance"]]["Start_Timestamp"]))
        for row in self.rows("b.csv/" + ends):
            self.assertEqual(row["Timestamp"], by_instance[row["Instance"]]["End_Timestamp"])
        self.rtl("trace", "-q", "-o", "b.csv", PROGRAM, "1")  # older tables go
        self.assertEqual(sorted(os.listdir(self.path("b.csv"))), ["kernel_trace.csv", "run_facts.csv"])

    def test_csv__nothing_for_it__said_and_no_folder(self):
        said = "rtl: " + self.path("a.csv") + " was not written: its tables would be empty\n"
        for options in (("--paused",), ("-q", "--paused")):
            done = self.rtl("trace", *options, "-o", "a.csv", PROGRAM, "10")
            self.assertTrue(done.stderr.endswith(said), done.stderr)
            self.assertNotIn("trace: ", done.stderr)
            self.assertEqual(self.names(), [])
        self.rtl("record", "-q", "-o", "run.rec", PROGRAM, "0")
        self.refused(1, said[5:-1], "replay", "-o", "a.csv", "run.rec")
        self.rtl("replay", "-o", "run.db", "run.rec")
        self.refused(1, "b.csv was not written: run.db has no rows for tables", "convert", "-o", "b.csv", "run.db")
        self.rtl("trace", "-q", "-o", "b.csv", PROGRAM, "1")
        self.refused(1, "b.csv was not written", "convert", "-o", "b.csv", "run.db")
        self.assertEqual(sorted(os.listdir(self.path("b.csv"))), ["kernel_trace.csv", "run_facts.csv"])
        self.assertEqual(self.names(), ["b.csv", "run.db", "run.rec"])

    def test_subscriber_without_a_name_for_its_file__said_where_it_is(self):
        def said(done, suffix):
            path, = re.findall(r"^rtl: trace: (.*)\n", done.stderr, re.MULTILINE)
            self.assertRegex(path, rf"^{re.escape(self.folder)}/[^/]*{suffix}$")
            return path

        done = self.rtl("trace", "-s", "libjson_sub.so", PROGRAM, "100")
        self.assertEqual(len(dispatches_of_json(said(done, r"rtl-cli_program-\d+\.json"))), 100)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertEqual(self.rtl("trace", "-q", "-s", "libjson_sub.so", PROGRAM, "1").stderr, "")
        self.rtl("record", "-q", "-o", "run.rec", PROGRAM, "10")
        done = self.rtl("replay", "-s", "libjson_sub.so", "run.rec")
        self.assertEqual(len(dispatches_of_json(said(done, "run.rec.json"))), 10)
        # -o is that of the first
        done = self.rtl("trace", "-o", "a.json", "-s", "libjson_sub.so:libsqlite_sub.so", PROGRAM, "10")
        self.assertIn(f"rtl: trace: {self.path('a.json')}\n", done.stderr)
        path, = re.findall(r"^rtl: trace: (.*\.db)\n", done.stderr, re.MULTILINE)
        self.assertEqual(len(dispatches_of_database(path)), 10)
        done = self.rtl("trace", "--in-process", "-s", "libjson_sub.so", PROGRAM, "10")
        self.assertEqual(len(dispatches_of_json(said(done, ".json"))), 10)

    def test_names__percent_signs(self):
        self.rtl("trace", "-q", "-o", "%e-r%r-%q{MY}-%p.json", "-o", "50%x%%.db", PROGRAM, "10",
                 env={"RANK": "3", "MY": "a/b"})
        one, two = self.names()
        self.assertEqual(one, "50%x%.db")
        self.assertRegex(two, r"^cli_program-r3-a_b-\d+\.json$")
        self.assertEqual(len(dispatches_of_json(self.path(two))), 10)
        for variable in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
            self.rtl("trace", "-q", "-o", "rank%r.json", PROGRAM, "10", env={variable: "7"})
            self.assertIn("rank7.json", self.names())
            os.unlink(self.path("rank7.json"))
        self.refused(2, "%q{NOT_SET} is not set", "trace", "-o", "%q{NOT_SET}.json", "true")

    def test_something_else_is_there__it_stays(self):
        self.write("a.json", "{}")
        done = self.rtl("trace", "-o", "a.json", PROGRAM, "10")
        self.assertIn("exists and is not a trace", done.stderr)
        self.assertEqual(self.read("a.json"), "{}")


class Convert(Case):
    """`rtl convert`: what it takes and refuses. Its values: timeline_gpu.py."""

    leaks = True

    def setUp(self):
        super().setUp()
        self.rtl("trace", "-q", "-o", "a.db", PROGRAM, "1000", "children")

    def converted(self, *options):
        done = self.rtl("convert", "a.db", "-o", "b.json", *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return dispatches_of_json(self.path("b.json"))

    def test_all_formats__as_the_database(self):
        expected = dispatches_of_database(self.path("a.db"))
        self.assertEqual(self.converted(), expected)
        for name, read in (("b.json.gz", dispatches_of_json), ("b.pftrace", dispatches_of_pftrace)):
            self.assertEqual(self.rtl("convert", "a.db", "-o", name).returncode, 0)
            self.assertEqual(read(self.path(name)), expected)
        self.assertEqual(self.rtl("convert", "a.db", "-o", "b.csv").returncode, 0)
        self.assertEqual(sorted(os.listdir(self.path("b.csv"))), ["kernel_trace.csv", "run_facts.csv"])
        with open(self.path("b.csv/kernel_trace.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(sorted((r["Kernel_Name"], int(r["Start_Timestamp"]), int(r["End_Timestamp"]))
                                for r in rows), [d[:3] for d in expected])
        self.assertEqual(sorted(os.listdir(self.folder)),
                         ["a.db", "b.csv", "b.json", "b.json.gz", "b.pftrace"])

    def test_selection__that_part(self):
        expected = self.converted()
        self.assertEqual(self.converted("--name", "second*"),
                         [d for d in expected if d[0] == "second_kernel"])
        self.refused(1, "--gpu 7: no GPU has that node", "convert", "a.db", "-o", "none.json", "--gpu", "7")
        self.assertEqual(self.converted("--gpu", "0"), expected)
        self.rtl("trace", "-q", "-o", "regions.db", PROGRAM, "2", "regions")
        self.assertEqual(self.rtl("convert", "regions.db", "-o", "b.csv", "--name", "od*").returncode, 0)
        self.assertEqual(sorted(os.listdir(self.path("b.csv"))),
                         ["region_trace.csv", "rtl_e_rtl_default_region_begin.csv", "run_facts.csv"])
        self.refused(1, "nothing is selected by --name", "convert", "regions.db", "-o", "b.csv", "--name", "x")
        self.assertEqual(len(os.listdir(self.path("b.csv"))), 3)
        self.assertEqual(self.converted("--process", "cli_prog*"), expected)
        (pid,), = self.ask("a.db", "SELECT min(pid) FROM rtl_process")
        self.assertEqual(len(self.converted("--process", str(pid))), 1000)
        # the program's times are of its own making, before it started
        self.refused(1, "nothing is selected by --from", "convert", "a.db", "-o", "b.json", "--from", "1ms")

    def test_gpu__of_programs_own_streams_too(self):
        fields = "".join(f"INSERT INTO rtl_field VALUES (50, 7, {i}, '{name}', '{column}', '', '{kind}', '', {8 * i}, {size}, '');"
                         for i, (name, column, kind, size) in enumerate((
                             ("begin_ns", "begin_ns_rel", "time", 8), ("end_ns", "end_ns_rel", "time", 8),
                             ("gpu", "gpu", "uint", 4))))
        # the first dispatch is of GPU 1, the others of GPU 2
        self.script(
            "a.db", "INSERT INTO rtl_s_rtl_hsa_task_end_g2 SELECT 900 + id, 1, queue, submit_tid, flags, scope, hip_stream"
            " FROM rtl_s_rtl_hsa_task_end_g2; UPDATE rtl_s_rtl_hsa_task_end_g2 SET gpu = 2 WHERE id < 900;"
            "UPDATE rtl_s_rtl_hsa_task_end SET g2 = 900 + g2 WHERE id = (SELECT min(id) FROM rtl_s_rtl_hsa_task_end);"
            "INSERT INTO rtl_stream VALUES (50, 'own', 1, 0, '');"
            "INSERT INTO rtl_type VALUES (50, 7, 'work', '', 24, 0, 'rtl_s_own');" + fields +
            "INSERT INTO rtl_origin SELECT 900, process, tid, 0, 0 FROM rtl_origin LIMIT 1;"
            "CREATE TABLE rtl_s_own AS SELECT e.id + 1000000 AS id, 900 AS origin, time_ns, instance, correlation, begin_ns_rel,"
            " end_ns_rel, gpu FROM rtl_s_rtl_hsa_task_end AS e JOIN rtl_s_rtl_hsa_task_end_g2 AS g ON g.id = e.g2"
            " GROUP BY gpu;")
        for options, gpus in (((), [1, 2]), (("--gpu", "1"), [1]), (("--gpu", "2"), [2])):
            self.converted(*options)
            events = load(self.path("b.json"))["traceEvents"]
            self.assertEqual(sorted(e["args"]["gpu"] for e in events if e.get("name") == "work"), gpus)

    def test_bad_input__one_line(self):
        self.write("text.db", "no database")
        sqlite3.connect(self.path("other.db")).execute("CREATE TABLE t (x)").close()
        self.write("full.json", "[1]")
        bad = functools.partial(self.refused, 2)
        bad("give a trace", "convert", "-o", "b.json")
        bad("give -o FILE", "convert", "a.db")
        bad(".csv, .json, .json.gz, .pftrace", "convert", "a.db", "-o", "b.xyz")
        bad("the trace itself", "convert", "a.db", "-o", "./a.db")
        bad("--from soon: give seconds", "convert", "a.db", "-o", "b.json", "--from", "soon")
        bad("not later than --from", "convert", "a.db", "-o", "b.json", "--from", "2", "--to", "1")
        bad("--gpu x: give a number", "convert", "a.db", "-o", "b.json", "--gpu", "x")
        self.refused(1, "--process nobody: no process has", "convert", "a.db", "-o", "b.json",
                     "--process", "nobody")
        for name in ("text.db", "other.db", "none.db"):
            self.refused(1, name, "convert", name, "-o", "b.json")
        self.refused(1, "exists and is not a timeline", "convert", "a.db", "-o", "full.json")
        self.refused(1, "No such file", "convert", "a.db", "-o", "none/b.json")
        self.assertEqual(sorted(os.listdir(self.folder)),
                         ["a.db", "full.json", "other.db", "text.db"])


class TimelineKilled(Case):
    """rtl is killed at a random moment."""

    def recovered(self, name, read):
        folders = os.listdir(self.spool)
        for folder in folders:
            folder = os.path.join(self.spool, folder)
            done = self.rtl("recover", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
        if not os.path.exists(self.path(name)):
            return 0  # nothing had been recorded
        found = read(self.path(name))
        packets = collections.Counter(d[3] for d in found)
        self.assertLessEqual(set(packets.values()), {1})
        self.assertEqual(len(packets), max(packets, default=-1) + 1)
        self.assertFalse(os.path.exists(self.path(name) + ".unfinished"))
        return len(found)

    def left(self, name, read):
        """How many dispatches are in what a killed writer has left."""
        path = self.path(name)
        if not os.path.exists(path) or not os.path.getsize(path):
            return 0
        if name.endswith(".pftrace"):
            return len(read(path))
        trace = load_cut(path) if os.path.exists(path + ".unfinished") else load(path)
        return len(dispatches_of(trace)) if trace else 0

    def check_killed(self, name, read):
        """What is there is whole events, and complete after recovery."""
        before = self.left(name, read)
        self.rtl("recover")  # takes away those that were killed while they were made
        if os.listdir(self.spool) or before:
            self.assertGreaterEqual(self.recovered(name, read), before)
        self.assertEqual(os.listdir(self.spool), [])

    def test_each_format__killed_at_a_system_call__whole_events_and_complete_after_recovery(self):
        for suffix, read in ((".json", dispatches_of_json), (".json.gz", dispatches_of_json),
                             (".pftrace", dispatches_of_pftrace)):
            command = RTL, "trace", "-q", "-o", "a" + suffix, PROGRAM, "3000"
            calls = self.killed_at(1000000, *command)
            step = max(1, calls // KILLS)
            for count in range(1 + random.randrange(step), calls + 1, step):
                for name in os.listdir(self.folder):
                    os.unlink(self.path(name))
                with self.subTest(suffix=suffix, killed_at=count, of=calls):
                    self.killed_at(count, *command)
                    self.check_killed("a" + suffix, read)

    def test_killed_at_each_removal_of_a_file__complete_or_recovered(self):
        command = RTL, "trace", "-q", "-o", "a.json", PROGRAM, "5"
        for count in range(1, self.killed_at("unlink:1000000", *command) + 1):
            for name in os.listdir(self.folder):
                os.unlink(self.path(name))
            with self.subTest(killed_at=count):
                self.killed_at(f"unlink:{count}", *command)
                self.check_killed("a.json", dispatches_of_json)


if __name__ == "__main__":
    unittest.main()
