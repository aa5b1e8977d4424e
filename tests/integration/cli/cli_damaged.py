#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Each verb that reads a trace, and each way in which a file is none: one clear line, a status other than 0,
and nothing under the name of the output. The same where the output cannot be written.
"""

import glob
import os
import random
import shutil
import sqlite3
import subprocess
import unittest

from cli_kit import PROGRAM, RTL, Case

PAGE = 16384
# What they write begins with "out"; {} is the file at hand.
VERBS = {
    "info": ("info", "{}"), "summary": ("summary", "{}"), "list-streams": ("list-streams", "{}"),
    "diff, before": ("diff", "{}", "good.db"), "diff, after": ("diff", "good.db", "{}"),
    "merge, first": ("merge", "-o", "out.db", "{}", "other.db"),
    "merge, second": ("merge", "-o", "out.db", "other.db", "{}"),
    "report": ("report", "-o", "out.html", "{}"),
    **{f"convert to {suffix}": ("convert", "{}", "-o", "out." + suffix)
       for suffix in ("json", "json.gz", "pftrace", "csv")},
}
WRITE = [name for name, words in VERBS.items() if "-o" in words]


class Damaged(Case):
    """What every verb does with what is not a trace."""

    def setUp(self):
        super().setUp()
        for name, count in (("good.db", "3000"), ("other.db", "30")):
            self.rtl("trace", "-q", "-o", name, PROGRAM, count)

    def run_verb(self, name, file, prefix=(), more=()):
        words = [file if word == "{}" else word for word in VERBS[name]] + [*more]
        return subprocess.run([*prefix, RTL, *words], cwd=self.folder, env=self.environment(), text=True,
                              capture_output=True, check=False)

    def outputs(self):
        return [os.path.basename(path) for path in glob.glob(self.path("out*"))]

    def bad(self, file, verbs=VERBS):
        for name in verbs:
            with self.subTest(verb=name, file=file):
                done = self.run_verb(name, file)
                self.assertGreater(done.returncode, 0, done)
                self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1), done)
                self.assertTrue(done.stderr.startswith("rtl: "), done.stderr)
                self.assertIn(file, done.stderr)
                self.assertEqual(self.outputs(), [])

    def write_bytes(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return name

    def good(self):
        with open(self.path("good.db"), "rb") as file:
            return file.read()

    def test_no_trace(self):
        os.mkdir(self.path("folder"))
        self.write("empty", "")
        self.write("text", "no database\n" * 999)
        self.write_bytes("random", random.Random(1).randbytes(60000))
        sqlite3.connect(self.path("tables.db")).execute("CREATE TABLE t (a)").connection.close()
        for file in "missing", "folder", "empty", "text", "random", "tables.db":
            self.bad(file)

    def test_truncated(self):
        data = self.good()
        for name, size in (("header", 100), ("page", PAGE), ("half", len(data) // 2 // PAGE * PAGE),
                           ("within", len(data) // 3 + 777), ("last", len(data) - PAGE)):
            self.write_bytes(name, data[:size])
            # `info` and `list-streams` read little: the last page may be none of theirs
            self.bad(name, VERBS if name != "last" else [v for v in VERBS if v in ("merge, first", "convert to csv")])

    def test_other_bytes(self):
        data, rng = bytearray(self.good()), random.Random(2)
        self.write_bytes("rubbish", bytes(data[:100]) + rng.randbytes(50000))
        for at in range(PAGE, len(data), PAGE):
            data[at:at + 200] = rng.randbytes(200)
        self.write_bytes("pages", bytes(data))
        self.bad("rubbish")
        self.bad("pages")

    def test_being_written__said_and_shown_so_far(self):
        """Status 4 and a line. What shows shows it as far as it is; what writes does so with --unfinished alone."""
        child = subprocess.Popen([RTL, "trace", "-q", "-o", "live.db", PROGRAM, "500", "stay"], cwd=self.folder,
                                 env=self.environment(), stdout=subprocess.PIPE, text=True)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        pid = int(child.stdout.readline())
        self.addCleanup(lambda: os.kill(pid, 15))
        self.wait_until(lambda: "live.db: 500 GPU operations" in self.rtl("info", "live.db").stdout)
        for name in VERBS:
            with self.subTest(verb=name):
                done = self.run_verb(name, "live.db")
                self.assertEqual((done.returncode, bool(done.stdout)), (4, name not in WRITE), done)
                self.assertRegex(done.stderr, r"^rtl: live\.db is not complete: [^\n]*process \d+ on [^\n]*\n$")
                self.assertEqual("--unfinished" in done.stderr, name in WRITE)
                self.assertEqual(self.outputs(), [])
                if name not in WRITE:
                    continue
                done = self.run_verb(name, "live.db", more=("--unfinished",))
                self.assertEqual(done.returncode, 0, done)
                self.assertRegex(done.stderr, r"^rtl: live\.db is not complete: [^\n]*process \d+ on [^\n]*\n$")
                self.assertNotEqual(self.outputs(), [])
                if name.startswith("merge"):  # nobody writes that one
                    done = self.rtl("summary", "out.db")
                    self.assertEqual(done.returncode, 0, done)
                    self.assertIn("out.db is not complete: its writer died", done.stderr)
                for output in self.outputs():
                    path = self.path(output)
                    (shutil.rmtree if os.path.isdir(path) else os.unlink)(path)

    def test_output_that_cannot_be_written(self):
        for name in WRITE:
            words = [word.replace("out.", "none/out.") for word in VERBS[name]]
            with self.subTest(verb=name):
                self.refused(1, "No such file", *[word.format("good.db") for word in words])

    def test_full_disk__no_part_of_it(self):
        limit = "ulimit -f 8; trap '' XFSZ; exec \"$@\""
        for name in WRITE:
            with self.subTest(verb=name):
                done = self.run_verb(name, "good.db", ("sh", "-c", limit, "sh"))
                self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done)
                self.assertTrue(done.stderr.startswith("rtl: "), done.stderr)
                self.assertEqual(self.outputs(), [])

    def test_output_to_a_full_device__said(self):
        """What goes to standard output."""
        for name in VERBS:
            if name in WRITE or not os.path.exists("/dev/full"):
                continue
            words = [word.format("good.db") for word in VERBS[name]]
            with self.subTest(verb=name), open("/dev/full", "wb") as full:
                done = subprocess.run([RTL, *words], cwd=self.folder, env=self.environment(), stdout=full,
                                      stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done)


if __name__ == "__main__":
    unittest.main()
