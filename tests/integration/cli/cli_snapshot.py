#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The flight recorder: rtl trace --last, rtl snapshot, and what is left when either is killed."""

import os
import re
import signal
import sqlite3
import subprocess
import time
import unittest

from cli_kit import HANG_S, KILL_AT, PROGRAM, RTL, Case, rounds

OLDER = "older than what is kept"


class Snapshot(Case):
    """rtl trace --last, and snapshots of it."""

    def begin(self, *options, verb="trace"):
        child = self.start(verb, "-o", "run.db", *options, PROGRAM, "100", "lines",
                           stdin=subprocess.PIPE)
        self.lines = 0
        return child

    def line(self, child):
        self.assertEqual(super().line(child), 100)
        self.lines += 1

    def end(self, child):
        _, err = child.communicate(timeout=HANG_S)
        self.assertEqual(child.returncode, 0, err)
        return err

    def ledger(self, name, lines=None):
        """Every event of so many lines is in it once; how many were recorded."""
        db = sqlite3.connect(self.path(name))
        published, delivered, lost = db.execute(
            "SELECT sum(published), sum(delivered), sum(discarded + abandoned + missed)"
            " FROM rtl_ledger WHERE stream = 'rtl.hsa'").fetchone()
        left_out = dict(db.execute("SELECT cause, sum(count) FROM rtl_left_out GROUP BY cause"))
        rows, = db.execute("SELECT count(*) FROM rocpd_op").fetchone()
        names = {n for n, in db.execute("SELECT DISTINCT kernel FROM rtl_dispatches")}
        self.assertEqual((published, delivered, lost), (100 * (lines or self.lines), rows, 0))
        self.assertEqual(left_out, {OLDER: published - rows} if published > rows else {})
        self.assertEqual(names, {"first_kernel", "second_kernel"} if rows else set())
        return rows

    def nothing_is_left(self):
        self.assertEqual([n for n in os.listdir(self.folder) if n.startswith(".")], [])

    def test_snapshots_while_it_runs__each_of_its_moment(self):
        child = self.begin("--last", "1000")
        for n in range(1, 4):
            self.line(child)
            done = self.rtl("snapshot", "-o", f"{n}.db", "-o", f"{n}.json", self.in_spool())
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            self.assertEqual(sorted(done.stderr.splitlines()),
                             [f"rtl: snapshot: {n}.db", f"rtl: snapshot: {n}.json"])
            self.assertEqual(self.ledger(f"{n}.db"), 100 * n)
        self.line(child)
        self.end(child)
        self.assertEqual(self.ledger("run.db"), 400)
        self.assertEqual(self.ledger("1.db", 1), 100)
        self.nothing_is_left()

    def in_spool(self):
        return next(os.path.join(self.spool, n) for n in os.listdir(self.spool)
                    if not n.endswith("-last") and "-snapshot-" not in n)

    def test_old_events__left_out_and_counted(self):
        child = self.begin("--last", "0.2")
        end = time.monotonic() + HANG_S
        while True:
            self.line(child)
            time.sleep(0.05)
            self.assertEqual(self.rtl("snapshot", "-o", "now.db", str(child.pid), env={
                "TMPDIR": self.folder}).returncode, 0)
            if self.ledger("now.db") < 100 * self.lines:
                break
            self.assertLess(time.monotonic(), end)
        err = self.end(child)
        kept = self.ledger("run.db")
        self.assertLess(kept, 100 * self.lines)
        self.assertIn(f"rtl.hsa: {kept} of {100 * self.lines} events recorded, "
                      f"{100 * self.lines - kept} left out, 0 lost\n", err)

    def test_limit_reached__kept_is_said(self):
        child = self.begin("--last", "1000", "--limit", "64K")
        for _ in range(40):
            self.line(child)
        done = self.rtl("snapshot", "-o", "now.db", self.in_spool())
        self.assertRegex(done.stderr, r"rtl: it holds the last \d+\.\d{3} s: --limit left no room")
        self.assertRegex(self.end(child), r"rtl: the last \d+\.\d{3} s are kept, not 1000: there was no")
        self.assertLess(self.ledger("run.db"), 4000)
        self.assertLess(self.ledger("now.db"), 4000)

    def test_signal__snapshot_beside_the_output(self):
        child = self.begin("--last", "1000")
        self.line(child)
        for n in (1, 2):
            os.kill(child.pid, signal.SIGUSR2)
            name = f"run-snapshot-{n}.db"
            self.wait_until(lambda: os.path.exists(self.path(name)))
            self.assertEqual(self.ledger(name), 100)
        os.kill(child.pid, signal.SIGUSR2)  # it is still made when the command has ended
        err = self.end(child)
        self.assertIn(f"rtl: snapshot: {self.path('run-snapshot-3.db')}\n", err)
        self.assertEqual(self.ledger("run-snapshot-3.db"), 100)
        self.nothing_is_left()

    def test_other_signal__the_first_is_passed_on(self):
        script = f"trap 'echo got' USR2; '{PROGRAM}' 100 print; echo ready; read x"
        child = self.start("trace", "--last", "9", "--snapshot-signal", "SIGUSR1", "-o", "run.db",
                           "bash", "-c", script, stdin=subprocess.PIPE)
        self.assertEqual((child.stdout.readline(), child.stdout.readline()), ("100\n", "ready\n"))
        os.kill(child.pid, signal.SIGUSR1)
        self.wait_until(lambda: os.path.exists(self.path("run-snapshot-1.db")))
        os.kill(child.pid, signal.SIGUSR2)
        self.assertEqual(child.stdout.readline(), "got\n")
        child.communicate("x\n", timeout=HANG_S)

    def test_recording__the_last_of_it(self):
        child = self.start("record", "--last", "1000", "-o", "run.rec", PROGRAM, "100", "lines",
                           stdin=subprocess.PIPE)
        self.lines = 0
        self.line(child)
        self.assertEqual(self.rtl("snapshot", "-o", "now.db", self.in_spool()).returncode, 0)
        self.assertEqual(self.ledger("now.db"), 100)
        self.line(child)
        self.end(child)
        self.assertEqual(self.rtl("replay", "-o", "run.db", "run.rec").returncode, 0)
        self.assertEqual(self.ledger("run.db"), 200)

    def test_rtl_killed__recovered(self):
        child = self.begin("--last", "1000")
        self.line(child)
        self.rtl("snapshot", "-o", "now.db", self.in_spool())  # so that something is saved
        self.line(child)
        folder = self.in_spool()
        child.kill()
        child.stdin.close()
        child.wait()
        self.wait_until(lambda: self.rtl("info", "--json", folder).stdout.count('"alive":false'))
        done = self.rtl("recover", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"^rtl: the collector died at [^\n]*\n"
                         rf"rtl: recovered: [^\n]*-last to {re.escape(self.path('run.db'))}\n$")
        self.assertEqual(self.ledger("run.db"), 200)

    def test_refused(self):
        self.refused(2, "--last takes a number of seconds such as 30, not 'x'", "trace", "--last",
                     "x", PROGRAM, "1")
        self.refused(2, "--last takes a number of seconds", "record", "--last", "0", PROGRAM, "1")
        self.refused(2, "--limit needs --last", "trace", "--limit", "1M", PROGRAM, "1")
        self.refused(2, "--limit 1K is too small", "trace", "--last", "1", "--limit", "1K", PROGRAM,
                     "1")
        self.refused(2, "--snapshot-signal takes USR1, USR2 or none, not 'HUP'", "trace", "--last",
                     "1", "--snapshot-signal", "HUP", PROGRAM, "1")
        self.refused(2, "--snapshot-signal needs --last", "trace", "--snapshot-signal", "USR1",
                     PROGRAM, "1")
        self.refused(2, "leave --in-process out", "trace", "--in-process", "--last", "1", PROGRAM,
                     "1")
        self.refused(1, "snapshot: there is no running `rtl trace` or `rtl attach` with the process "
                     "number 1", "snapshot", "1")
        self.refused(1, "is not the folder of a running rtl", "snapshot", self.folder + "/")
        self.write("text.db", "mine")
        self.refused(1, "text.db exists and is not a trace", "trace", "--last", "1", "-o", "text.db",
                     PROGRAM, "1")
        child = self.begin("--last", "1000")
        self.line(child)
        self.refused(1, "text.db exists and is not a trace", "snapshot", "-o", "text.db",
                     self.in_spool())
        self.refused(1, "cannot be written to", "snapshot", "-o", "/proc/none/run.db",
                     self.in_spool())
        self.nothing_is_left()
        self.end(child)

    def test_outputs_that_are_there__replaced_if_traces(self):
        child = self.begin("--last", "1000")
        outputs = [part for name in ("a.csv", "a.json", "a.json.gz", "a.pftrace", "a.db") for part in ("-o", name)]
        for _ in range(2):
            self.line(child)
            done = self.rtl("snapshot", *outputs, self.in_spool())
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(self.read("a.csv/kernel_trace.csv").splitlines()), 100 * self.lines + 1)
            self.assertEqual(self.ledger("a.db"), 100 * self.lines)
            self.nothing_is_left()
        self.write("a.csv/mine", "mine")
        self.refused(1, "a.csv exists and holds something else", "snapshot", "-o", "a.csv", self.in_spool())
        self.write("text.json", "mine")
        self.refused(1, "output text.json exists and is not a trace", "snapshot", "-o", "text.json", self.in_spool())
        self.refused(2, "-o x.foo: unknown suffix", "snapshot", "-o", "x.foo", self.in_spool())
        self.refused(2, "-o %q{RTL_NONE}.db: %q{RTL_NONE} is not set", "snapshot", "-o", "%q{RTL_NONE}.db",
                     self.in_spool())
        self.nothing_is_left()
        self.end(child)

    def test_no_flight_recorder__said(self):
        child = self.begin()
        self.line(child)
        self.refused(1, "was started without --last: it is no flight recorder", "snapshot",
                     self.in_spool())
        self.end(child)
        self.nothing_is_left()

    def killed(self, count):
        """Kills a snapshot before so many system calls; how many there were, 0: that cannot be done."""
        done = subprocess.run([KILL_AT, str(count), RTL, "snapshot", "-o", "killed.db",
                               self.in_spool()], cwd=self.folder, env=self.environment(),
                              capture_output=True, text=True, timeout=HANG_S, check=False)
        return 0 if done.returncode == 77 else int(done.stdout)

    def test_snapshot_killed__nothing_under_its_name_and_the_next_is_whole(self):
        child = self.begin("--last", "1000")
        self.line(child)
        calls = self.killed(1 << 30)
        if not calls:
            self.end(child)
            self.skipTest("processes cannot be traced here")
        self.assertEqual(self.ledger("killed.db"), 100)
        os.unlink(self.path("killed.db"))
        for count in range(calls // 2, calls, max(1, calls // (2 * rounds(16)))):
            self.killed(count)
            if os.path.exists(self.path("killed.db")):  # it had got so far
                self.assertEqual(self.ledger("killed.db"), 100)
                os.unlink(self.path("killed.db"))
        self.assertEqual(self.rtl("snapshot", "-o", "now.db", self.in_spool()).returncode, 0)
        self.assertEqual(self.ledger("now.db"), 100)
        self.nothing_is_left()
        self.line(child)
        self.end(child)
        self.assertEqual(self.ledger("run.db"), 200)

    def test_many_processes__the_newest_are_in_the_ledger(self):
        script = f"for i in $(seq 280); do '{PROGRAM}' 1; done; echo ready; read x"
        child = self.start("trace", "--last", "1000", "--limit", "64K", "-o", "run.db", "sh", "-c", script,
                           stdin=subprocess.PIPE)
        self.assertEqual(child.stdout.readline(), "ready\n")
        folder = self.in_spool()
        self.wait_until(lambda: not any(n.startswith("rtl-spool-") for n in os.listdir(folder)))
        self.wait_until(lambda: len(os.listdir(folder + "-last")) < 275)
        _, err = child.communicate("x\n", timeout=HANG_S)
        self.assertIn("only the last 256 ended processes", err)
        (processes,), = self.ask("run.db", "SELECT count(*) FROM rtl_process")
        self.assertLess(processes, 275)
        self.assertGreaterEqual(processes, 256)


if __name__ == "__main__":
    unittest.main()
