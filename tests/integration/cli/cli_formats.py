#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
`rtl convert` to the formats of other tools, without ROCm: which one, what is selected, what is refused, and
what is there when it could not be made. Their values: other_formats.py.
"""

import csv
import os
import random
import sqlite3
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "timeline"))
from cli_kit import Case, KILL_AT, PROGRAM, RTL, rounds  # pylint: disable=wrong-import-position
import other_formats  # pylint: disable=wrong-import-position
from timeline_kit import load  # pylint: disable=wrong-import-position

KINDS = (("b.json",), ("b.json.gz",), ("b.pftrace",), ("b.csv",), ("b.db",),
         ("b.json", "-f", "rocprofv3"), ("b.json.gz", "-f", "rocprofv3"))


def names_of_rocprofv3(path):
    names = []
    for element in load(path)["rocprofiler-sdk-tool"]:
        kernels = {k["kernel_id"]: k["truncated_kernel_name"] for k in element["kernel_symbols"]}
        names += [kernels[d["dispatch_info"]["kernel_id"]]
                  for d in element["buffer_records"]["kernel_dispatch"]]
    return sorted(names)


def names_of_rocpd7(path):
    database = sqlite3.connect(path)
    names = sorted(name for name, in database.execute("SELECT name FROM kernels"))
    database.close()
    return names


def names_of_csv(path):
    path += "/kernel_trace.csv"
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return sorted(row["Kernel_Name"] for row in csv.DictReader(file))


def names_of_hta(path):
    return sorted(e["name"] for e in load(path)["traceEvents"] if e.get("cat") == "kernel")


class Formats(Case):
    def setUp(self):
        super().setUp()
        self.rtl("trace", "-q", "-o", "a.db", PROGRAM, "1000", "children")
        self.pids = [pid for pid, in self.ask("a.db", "SELECT pid FROM rtl_process ORDER BY process")]

    def convert(self, *options):
        done = self.rtl("convert", "a.db", "-o", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_several_processes__all_in_it(self):
        said = self.convert("b.json", "--format", "rocprofv3")
        self.assertRegex(said, r"^rtl: TraceLens reads only the first of 3 processes, pid \d+; "
                         "--process chooses another\n$")
        self.assertFalse(other_formats.check_rocprofv3(self.path("a.db"), self.path("b.json")))
        self.assertEqual(self.convert("b.db"), "")
        self.assertFalse(other_formats.check_rocpd7(self.path("a.db"), self.path("b.db")))
        one = self.ask("b.db", "SELECT guid FROM processes ORDER BY 1")
        self.assertEqual(self.convert("b.db", "--format", "rocpd7"), "")
        self.assertEqual(self.ask("b.db", "SELECT guid FROM processes ORDER BY 1"), one)
        # rank 5 of a launcher
        self.rtl("trace", "-q", "-o", "r.db", PROGRAM, "10", env={"RANK": "5"})
        self.assertEqual(self.rtl("convert", "r.db", "-o", "h.json", "-f", "hta").returncode, 0)
        self.assertFalse(other_formats.check_hta(self.path("r.db"), self.path("h.json"), 5))

    def test_ending_pauses_and_losses__in_each(self):
        self.script("a.db", "INSERT OR REPLACE INTO rtl_meta VALUES ('ended', 'by signal 9'), ('pauses', '5-7 ');"
                    "INSERT INTO rtl_loss VALUES (1, 'rtl.hsa', 'no \"room\"', 3), (2, 'rtl.hsa', 'no \"room\"', 4);"
                    "INSERT INTO rtl_left_out VALUES (1, 'rtl.hip.call', 'outside', 2);")
        facts = {"ended": "by signal 9", "pauses": "5-7 ", 'lost of rtl.hsa: no "room"': "7",
                 "left out of rtl.hip.call: outside": "2"}
        for name, *options in KINDS + (("b.rpd",), ("h.json", "-f", "hta", "--process", str(self.pids[0]))):
            self.convert(name, *options)
        for database, table in ("b.db", "rocpd_metadata"), ("b.rpd", "rocpd_metadata"):
            rows = self.ask(database, f"SELECT DISTINCT substr(tag, 5), value FROM {table} WHERE tag GLOB 'rtl_*'")
            self.assertLessEqual(facts.items(), dict(rows).items())
        with open(self.path("b.csv/run_facts.csv"), encoding="utf-8", newline="") as file:
            self.assertEqual({row["Fact"]: row["Value"] for row in csv.DictReader(file)}, facts)
        for element in load(self.path("b.json.gz"))["rocprofiler-sdk-tool"]:
            self.assertEqual(element["metadata"]["rtl"], facts)
        self.convert("b.json")
        for name in "b.json", "h.json":
            told = load(self.path(name))["metadata"]["rtl"]
            self.assertEqual((told["ended"], told["pauses"]), (facts["ended"], facts["pauses"]))
            self.assertEqual([row["count"] for row in told["losses"] if row["cause"] == 'no "room"'][:1], [3])
        self.convert("b.pftrace")
        with open(self.path("b.pftrace"), "rb") as file:
            text = file.read()
        self.assertTrue(all(part in text for part in (b"by signal 9", b"5-7 ")))
        self.script("a.db", "DROP TABLE rtl_left_out")  # an older one
        self.convert("b.json", "-f", "rocprofv3")
        self.assertTrue(load(self.path("b.json"))["rocprofiler-sdk-tool"])

    def test_selection__that_part(self):
        pid = str(self.pids[1])
        all_names = names_of_rocprofv3((self.convert("b.json", "-f", "rocprofv3"), self.path("b.json"))[1])
        self.assertEqual(len(all_names), 3000)
        for options, expected in (
                (("--name", "second*"), [n for n in all_names if n.startswith("second")]),
                (("--gpu", "0"), all_names),
                (("--process", pid), None), (("--process", "cli_prog*"), all_names)):
            for name, read in (("b.json", names_of_rocprofv3), ("b.db", names_of_rocpd7),
                               ("b.csv", names_of_csv)):
                with self.subTest(options=options, name=name):
                    self.convert(name, *options, *(["-f", "rocprofv3"] if name == "b.json" else []))
                    found = read(self.path(name))
                    self.assertEqual(found, expected) if expected is not None else \
                        self.assertEqual(len(found), 1000)
        self.assertEqual(self.rtl("convert", "a.db", "-o", "b.csv").stdout, "b.csv: a folder of tables\n")
        self.convert("h.json", "-f", "hta", "--process", pid, "--name", "second*")
        self.assertEqual(set(names_of_hta(self.path("h.json"))), {"second_kernel"})

    def test_selection_of_nothing__one_line_and_no_file(self):
        pid = str(self.pids[0])
        for name, *options in KINDS + (("b.json", "-f", "hta", "--process", pid),):
            for more, said in ((("--gpu", "7"), "--gpu 7: no GPU has that node; `rtl info` lists them"),
                               (("--name", "nosuch"), "--name, so nothing is written"),
                               (("--name", "nosuch", "--gpu", "0"), "--gpu, --name, so nothing is written"),
                               (("--from", "100s"), "nothing is selected by --from"),
                               (("--from", "100s", "--to", "200s"), "nothing is selected by --from, --to")):
                with self.subTest(name=name, options=more):
                    self.refused(1, said, "convert", "a.db", "-o", name, *options, *more)
                    self.assertEqual(os.listdir(self.folder), ["a.db"])
        self.convert("b.json")
        before = os.stat(self.path("b.json"))
        self.refused(1, "nothing is selected by --name", "convert", "a.db", "-o", "b.json", "--name", "nosuch")
        self.assertEqual(os.stat(self.path("b.json")).st_ino, before.st_ino)

    def test_bad_input__one_line(self):
        def bad(part, *options):
            self.refused(2, part, "convert", "a.db", "-o", *options)
        bad("known are perfetto, rocprofv3, hta, rocpd7", "b.json", "-f", "chrome")
        bad("known are .csv, .json, .json.gz, .pftrace, .db", "b.txt", "-f", "hta")
        bad("--format hta ends in .json, .json.gz", "b.db", "-f", "hta")
        bad("--format rocprofv3 ends in .json, .json.gz, .csv", "b.pftrace", "-f", "rocprofv3")
        bad("--rank is for --format hta only", "b.json", "--rank", "1")
        bad("--rank x: give a number", "b.json", "-f", "hta", "--rank", "x")
        for output in (("b.db",), ("b.csv",), ("b.json", "-f", "rocprofv3")):
            self.refused(2, "`rtl merge` makes one", "convert", "a.db", "a.db", "-o", *output)
            self.refused(1, "--process nobody: no process has", "convert", "a.db", "-o", *output,
                         "--process", "nobody")
            self.refused(1, "none.db", "convert", "none.db", "-o", *output)
            self.refused(1, "No such file", "convert", "a.db", "-o", "none/" + output[0], *output[1:])
        self.refused(1, "3 processes have used GPUs", "convert", "a.db", "-o", "b.json", "-f", "hta")
        self.refused(1, "no process that is selected", "convert", "a.db", "-o", "b.json", "-f", "hta",
                     "--process", "nobody")
        self.write("full.json", "[1]")
        for options in (("rocprofv3",), ("hta", "--process", str(self.pids[0]))):
            self.refused(1, "exists and is not a timeline", "convert", "a.db", "-o", "full.json", "-f", *options)
        self.rtl("trace", "-q", "-o", "other.db", PROGRAM, "1")
        self.refused(1, "exists and is not a database", "convert", "a.db", "-o", "other.db")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.db", "full.json", "other.db"])

    def test_killed_at_a_system_call__nothing_under_its_name_unless_whole(self):
        for name, *options in KINDS:
            command = [KILL_AT, "1000000", RTL, "convert", "a.db", "-o", name, *options]
            self.convert(name, *options)
            whole = {f: os.path.getsize(self.path(f"{name}/{f}")) for f in os.listdir(self.path(name))} \
                if name == "b.csv" else os.path.getsize(self.path(name))
            done = subprocess.run(command, cwd=self.folder, env=self.environment(),
                                  capture_output=True, text=True, check=False)
            if done.returncode == 77:
                self.skipTest("processes cannot be traced here (ptrace)")
            calls = int(done.stdout.splitlines()[-1])
            for _ in range(rounds(3)):
                subprocess.run(["rm", "-rf", self.path(name)], check=True)
                command[1] = str(random.randrange(1, calls))
                with self.subTest(name=name, options=options, killed_at=command[1], of=calls):
                    subprocess.run(command, cwd=self.folder, env=self.environment(),
                                   capture_output=True, check=False)
                    if os.path.isdir(self.path(name)):
                        for there in set(os.listdir(self.path(name))) & set(whole):
                            self.assertEqual(os.path.getsize(self.path(f"{name}/{there}")), whole[there])
                    elif os.path.exists(self.path(name)):
                        self.assertEqual(os.path.getsize(self.path(name)), whole)
                    self.convert(name, *options)
                    self.assertFalse(os.path.exists(self.path(name + ".part")))


if __name__ == "__main__":
    unittest.main()
