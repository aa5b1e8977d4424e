#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
rtl summary: what GPUs did not do, what threads did, and who did it: against traces of known content.
"""

import csv
import io
import json
import random
import unittest

from cli_kit import PROGRAM, Case
from cli_report import CALLS
from cli_show import RPD


class Whose(Case):
    """Gaps, calls, processes, ranks, regions."""

    def summary(self, name="run.db"):
        done = self.rtl("summary", "--json", name)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def section(self, title, name="run.db"):
        found, = [s for s in self.summary(name)["sections"] if s["title"] == title]
        return {row["name"]: row["count"] for row in found["rows"]}

    def database(self, ops, calls):
        """ops: (gpu, start, end); calls: (tid, start, end, name, domain)"""
        self.script("run.db", RPD + CALLS)
        texts = sorted({text for call in calls for text in call[3:]})
        self.insert("run.db", "INSERT INTO rocpd_string VALUES (?, ?)", enumerate(texts, 100))
        self.insert("run.db", 'INSERT INTO rocpd_op (gpuId, queueId, sequenceId, completionSignal, start, "end", '
                    "description_id, opType_id) VALUES (?, 0, 0, '', ?, ?, 4, 2)", ops)
        self.insert("run.db", 'INSERT INTO rocpd_api (pid, tid, start, "end", apiName_id, category_id, domain_id,'
                    " args_id) VALUES (?, ?, ?, ?, ?, 1, ?, 1)",
                    [(7 + tid % 2, tid, start, end, 100 + texts.index(name), 100 + texts.index(domain))
                     for tid, start, end, name, domain in calls])

    def test_gaps__longest(self):
        rng, ops = random.Random(4), []
        for gpu in 0, 1:
            at = 10**9
            for _ in range(5000):
                at += rng.choice((0, 5, 50)) + (rng.randrange(10**6) if rng.random() < .01 else 0)
                ops.append((gpu, at, at + rng.randrange(1, 400)))
                at += rng.randrange(-100, 400)
        rng.shuffle(ops)
        self.database(ops, [])
        summary = self.summary()
        for device in summary["devices"]:
            gaps, until = [], None
            for _, start, end in sorted(o for o in ops if o[0] == device["gpu"]):
                if until is not None and start > until:
                    gaps.append((until, start))
                until = max(until or 0, end)
            self.assertEqual(device["gap_count"], len(gaps))
            self.assertEqual(device["idle_ns"], sum(end - begin for begin, end in gaps))
            gaps.sort(key=lambda gap: gap[0] - gap[1])
            self.assertEqual([g["end_ns"] - g["begin_ns"] for g in device["gaps"]],
                             [end - begin for begin, end in gaps[:16]])
            for gap in device["gaps"]:
                self.assertIn((gap["begin_ns"], gap["end_ns"]), gaps)
        text = self.rtl("summary", "run.db").stdout
        self.assertIn("\nLargest idle gaps of the GPUs\nshare  ", text)
        self.assertEqual(len(text.split("Largest idle gaps")[1].split("\n\n")[0].splitlines()), 2 + 8)

    def test_calls_of_a_trace_without_operations(self):
        """API-only recordings of RPD."""
        self.database([], [(1, 1000, 1100, "hipMalloc", "hip"), (1, 1200, 1250, "hipMalloc", "hip"),
                           (2, 1000, 1030, "hsa_init", "hsa"), (2, 1000, 1040, "sqrt", "libm"),
                           (2, 1050, 1090, "UserMarker", "roctx")])
        self.assertEqual(self.section("HIP calls"), {"hipMalloc": 2})
        self.assertEqual(self.section("HSA calls"), {"hsa_init": 1})
        self.assertEqual(self.section("rpd.call, function"), {"sqrt": 1})
        self.assertEqual(self.section("Ranges"), {"(unnamed)": 1})
        by_pid = {p["pid"]: p for p in self.summary()["processes"]}
        self.assertEqual(by_pid[8]["hip_calls"], {"count": 2, "total_ns": 150})
        self.assertEqual(by_pid[7]["other_calls"], {"count": 1, "total_ns": 30})
        text = self.rtl("summary", "run.db").stdout
        self.assertIn("\nProcesses: 2\n", text)
        self.assertIn("HIP calls: 2, 150ns in total", text)

    def test_processes_and_ranks(self):
        names = []
        for rank, count in enumerate((10, 20, 30)):
            names.append(f"rank{rank}.db")
            self.rtl("trace", "-q", "-o", names[-1], PROGRAM, str(count), *(["children"] if rank == 1 else []),
                     env={"PMI_RANK": str(rank)})
        self.assertEqual(self.rtl("merge", "-o", "run.db", *names).returncode, 0)
        summary = self.summary()
        self.assertEqual([(p["rank"], p["kernels"]) for p in summary["processes"]],
                         [(rank, {"count": count, "total_ns": count * 2500})
                          for rank, count in ((0, 10), (1, 20), (1, 20), (1, 20), (2, 30))])
        self.assertEqual([(r["rank"], r["processes"], r["kernels"]["count"]) for r in summary["ranks"]],
                         [(0, 1, 10), (1, 3, 60), (2, 1, 30)])
        text = self.rtl("summary", "run.db").stdout
        self.assertRegex(text, r"(?m)^Processes: 5\nrank  +pid  kernels  +on GPUs .*\n"
                               r"   0  +\d+  +10  25\.00us .*: cli_program$")
        self.assertRegex(text, r"(?m)^Ranks: 3\nrank  processes  kernels  +on GPUs .*\n"
                               r"   0  +1  +10  25\.00us .*\n   1  +3  +60  150\.0us ")
        lines = self.rtl("summary", "run.db", env={"COLUMNS": "60"}).stdout.split("\nProcesses: 5")[1].splitlines()
        self.assertLessEqual(max(map(len, lines)), 60)
        # one that says nothing new is not there
        self.assertNotIn("Ranks", self.rtl("summary", "rank1.db").stdout)
        self.assertNotIn("Processes", self.rtl("summary", "rank0.db").stdout)

    def test_several_files__how_to_make_one(self):
        self.refused(2, "one file at a time (rtl merge makes one of several)", "summary", "a.db", "b.db")

    def test_details__what_info_prints_follows(self):
        self.assertEqual(self.rtl("trace", "-q", "-o", "run.db", PROGRAM, "3").returncode, 0)
        plain, info, both = (self.rtl(*words, "run.db") for words in (("summary",), ("info",), ("summary", "--details")))
        self.assertEqual((both.returncode, both.stdout), (0, plain.stdout + "\n" + info.stdout))
        done = self.rtl("summary", "--details", "--json", "run.db")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)

    def test_by__live_and_database_and_recording_alike(self):
        self.rtl("record", "-o", "run.rec", PROGRAM, "20", "children")
        self.rtl("replay", "-o", "run.db", "run.rec")
        for by in "thread", "process", "gpu", "group":
            settings = f"output=live.json&format=json&by={by}"
            self.rtl("replay", "-s", f"libstats_sub.so?{settings}", "run.rec")
            kernels = json.loads(self.read("live.json"))["sections"][0]
            done = self.rtl("summary", "--json", "--by", by, "run.db")
            self.assertEqual(json.loads(done.stdout)["sections"][0], kernels, done.stderr)
            self.assertEqual((kernels["by"], sum(key["count"] for key in kernels["keys"])), (by, kernels["count"]))
            rows = [row for row in csv.DictReader(io.StringIO(self.rtl("summary", "--csv", "--by", by, "run.db").stdout))
                    if row["kind"] == "task"]
            self.assertEqual([(row["key"], row["name"]) for row in rows],
                             [(row["key"], row["name"]) for row in kernels["rows"]])
            self.rtl("trace", "-q", "-s", f"libstats_sub.so?{settings}", PROGRAM, "20", "children")
            live = json.loads(self.read("live.json"))["sections"][0]
            self.assertEqual([(key["count"], key["total_ns"]) for key in live["keys"]],
                             [(key["count"], key["total_ns"]) for key in kernels["keys"]])

    def test_by__what_is_wrong_is_said(self):
        self.rtl("trace", "-q", "-o", "run.db", PROGRAM, "2")
        self.write("groups", "first_ *\n")
        self.assertRegex(self.rtl("summary", "--by", "group", "--groups", "groups", "run.db").stdout, r"(?m)^\*  .*first_")
        self.write("groups", "first_\n")
        self.refused(2, "groups, line 1: expected PATTERN GROUP", "summary", "--by", "group", "run.db",
                     env={"RTL_GROUPS": "groups"})
        self.refused(2, "cannot read none: No such file", "summary", "--by", "group", "--groups", "none", "run.db")
        self.refused(2, "is for a breakdown by group", "summary", "--groups", "groups", "run.db")
        self.refused(2, "--by kernel: give range, stream,", "summary", "--by", "kernel", "run.db")

    def test_regions_of_a_programs_own_stream__as_live(self):
        self.rtl("trace", "-q", "-s", "libsqlite_sub.so?output=run.db:libstats_sub.so?output=live.json&format=json",
                 PROGRAM, "10", "regions")
        live = json.loads(self.read("live.json"))
        pairs = []
        for sections in live["sections"], self.summary()["sections"]:
            found, = [s for s in sections if s["title"] == "rtl.default, region"]
            pairs.append((found["stream"], found["kind"], found["rows"]))
        self.assertEqual(pairs[0], pairs[1])
        self.assertEqual(self.section("rtl.default, region"), {"even": 5, "odd": 5, "inner": 10})
        self.assertIn(", 1 more without begin or end\n", self.rtl("summary", "run.db").stdout)
        # as RPD's tools see them
        self.assertEqual(self.ask("run.db", "SELECT args, count(*) FROM api WHERE apiName = 'UserMarker'"
                                            " GROUP BY args ORDER BY args"),
                         [("even", 5), ("inner", 10), ("odd", 5), ("open", 1)])


if __name__ == "__main__":
    unittest.main()
