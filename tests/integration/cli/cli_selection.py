#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recording only what is wanted: periods, and what is refused. Kernels and ranges: tests/integration/hip."""

import sqlite3
import subprocess
import time
import unittest

from cli_kit import HANG_S, PROGRAM, RTL, Case


class Selection(Case):
    """rtl trace and rtl record with --delay, --duration, --repeat; the variables for other processes."""

    def line_until(self, child, wanted):
        """Until all, or none, of a line's events are recorded; how many lines that took."""
        lines = 1
        end = time.monotonic() + HANG_S
        while self.line(child) != wanted:
            self.assertLess(time.monotonic(), end)
            lines += 1
        return lines

    def ledger(self, name, lines):
        """Every event of so many lines is in the ledger once; how many were left out."""
        db = sqlite3.connect(self.path(name))
        published, delivered, lost = db.execute(
            "SELECT sum(published), sum(delivered), sum(discarded + abandoned + missed)"
            " FROM rtl_ledger WHERE stream = 'rtl.hsa'").fetchone()
        causes = dict(db.execute("SELECT cause, sum(count) FROM rtl_left_out GROUP BY cause"))
        rows, = db.execute("SELECT count(*) FROM rocpd_op").fetchone()
        left_out = causes.pop("outside of the periods", 0)
        self.assertEqual((published, delivered, lost, causes), (100 * lines, rows, 0, {}))
        self.assertEqual(published, delivered + left_out)
        return left_out

    def drive(self, child, *wanted):
        lines = sum(self.line_until(child, each) for each in wanted)
        _, err = child.communicate(timeout=HANG_S)
        self.assertEqual(child.returncode, 0, err)
        return lines, err

    def test_periods__recorded_left_out_recorded(self):
        child = self.start("trace", "-o", "run.db", "--delay", "0.3", "--duration", "0.3",
                           "--repeat", "0", PROGRAM, "100", "lines", stdin=subprocess.PIPE)
        lines, err = self.drive(child, 0, 100, 0, 100)
        left_out = self.ledger("run.db", lines)
        self.assertGreater(left_out, 0)
        self.assertIn(f"rtl.hsa: {100 * lines - left_out} of {100 * lines} events recorded, "
                      f"{left_out} left out, 0 lost\n", err)
        shown = self.rtl("info", "run.db").stdout
        self.assertIn(f"  left out of rtl.hsa: outside of the periods: {left_out}\n", shown)

    def test_recording__the_same(self):
        child = self.start("record", "-q", "-o", "run.rec", "--delay", "0.3", "--duration", "0.3",
                           "--repeat", "0", PROGRAM, "100", "lines", stdin=subprocess.PIPE)
        lines, _ = self.drive(child, 0, 100)
        self.assertEqual(self.rtl("replay", "-o", "run.db", "run.rec").returncode, 0)
        left_out = self.ledger("run.db", lines)
        self.assertGreater(left_out, 0)
        self.assertIn(f"    left out, outside of the periods: {left_out}\n",
                      self.rtl("info", "run.rec").stdout)

    def test_in_process__the_same(self):
        child = self.start("trace", "-q", "--in-process", "-o", "run.db", "--delay", "0.3",
                           "--duration", "0.3", "--repeat", "0", PROGRAM, "100", "lines",
                           stdin=subprocess.PIPE)
        lines, _ = self.drive(child, 0, 100, 0, 100)
        self.assertGreater(self.ledger("run.db", lines), 0)

    def test_variables__as_the_options(self):
        # a busy machine may miss the first delay
        env = {"RTL_DELAY": "0.3", "RTL_DURATION": "0.3", "RTL_REPEAT": "0"}
        child = subprocess.Popen([RTL, "trace", "-q", "-o", "run.db", PROGRAM, "100", "lines"],
                                 cwd=self.folder, env=self.environment(env), text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        lines, _ = self.drive(child, 0, 100)
        self.assertGreater(self.ledger("run.db", lines), 0)
        child = subprocess.Popen([PROGRAM, "100", "lines"], cwd=self.folder, text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, env=self.environment(
                                     {**env, "RTL_SUBSCRIBERS": "libsqlite_sub.so?output=own.db"}))
        lines, _ = self.drive(child, 0, 100)
        self.assertGreater(self.ledger("own.db", lines), 0)

    def test_nothing_in_the_periods__said_why(self):
        done = self.rtl("trace", "-o", "run.db", "--delay", "1000", PROGRAM, "10")
        self.assertEqual(done.returncode, 0)
        self.assertIn("rtl: no GPU operation was recorded: 10 events were left out by --delay\n",
                      done.stderr)
        done = self.rtl("trace", "-o", "run.db", "--delay", "1000", PROGRAM, "0", "regions")
        self.assertRegex(done.stderr, r"rtl: no GPU operation was recorded: [1-9]\d* events were left out by --delay\n")

    def test_refused(self):
        for what, status, *arguments in (
                ("'a(' is not a regular expression: ", 2, "--kernel", "a("),
                ("'[' is not a regular expression: ", 2, "--exclude", "["),
                ("the regular expression is empty", 2, "--kernel", ""),
                ("a line break is not allowed", 2, "--kernel", "a\nb"),
                ("the name of the range is empty", 2, "--range", ""),
                ("--range needs mode hip or full", 2, "--range", "a", "-m", "lite"),
                ("--delay takes a number of seconds such as 10 or 0.5, not 'soon'", 2, "--delay", "soon"),
                ("--duration takes a number of seconds", 2, "--duration", "-1"),
                ("--duration 0: nothing would be recorded", 2, "--duration", "0"),
                ("--repeat 2 needs --delay and --duration", 2, "--repeat", "2", "--duration", "1")):
            for verb in ("trace", "record"):
                self.refused(status, what, verb, *arguments, PROGRAM, "10")
        self.refused(2, "RTL_KERNEL: 'a(' is not a regular", "trace", PROGRAM, "1",
                     env={"RTL_KERNEL": "b\na("})
        self.refused(2, "RTL_DURATION takes a number of seconds", "trace", PROGRAM, "1",
                     env={"RTL_DURATION": "x"})

    def test_bad_variables_in_a_process__said_and_all_is_recorded(self):
        done = subprocess.run([PROGRAM, "10", "print"], cwd=self.folder, check=False, text=True,
                              capture_output=True, timeout=HANG_S, env=self.environment(
                                  {"RTL_DELAY": "soon", "RTL_REPEAT": "x",
                                   "RTL_SUBSCRIBERS": "libstats_sub.so"}))
        self.assertEqual((done.returncode, done.stdout), (0, "10\n"))
        self.assertIn("invalid RTL_DELAY=soon (expected a number of seconds", done.stderr)
        self.assertIn("invalid RTL_REPEAT=x (expected a number", done.stderr)


if __name__ == "__main__":
    unittest.main()
