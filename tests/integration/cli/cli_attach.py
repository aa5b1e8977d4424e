#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl env --attachable, rtl ps, rtl attach: programs that sleep until somebody looks into them."""

import glob
import json
import os
import shutil
import signal
import subprocess
import threading
import time
import unittest

from cli_kit import HANG_S, PROGRAM, RTL, SANITIZED, TOLD, Faults, rounds

PREFIX = "rtlasleep-"


class Attach(Faults):
    """A program that is attached to again and again."""

    def environment(self, env=None):
        return super().environment({"RTL_ATTACHABLE": "1", **(env or {})})

    def begin(self, *command, way="lines", count="100", env=None):
        child = self.lines(*command, way=way, count=count, env=env)
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        return child

    def ps(self):
        done = self.rtl("ps", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {p["pid"]: p for p in json.loads(done.stdout)["processes"] if p["program"] == "cli_program"}

    def attach(self, child, *options):
        rtl = self.start("attach", "-o", "x.db", *options, str(child.pid))
        self.addCleanup(rtl.communicate)
        self.addCleanup(rtl.kill)
        self.assertIn(f"attached to process {child.pid}, cli_program", rtl.stderr.readline())
        # nothing was wanted before it has met the streams
        self.wait_until(lambda: self.line(child))
        return rtl

    def detach(self, rtl):
        rtl.send_signal(signal.SIGINT)
        _, err = rtl.communicate(timeout=HANG_S)
        self.assertEqual(rtl.returncode, 0, err)
        return err

    def recorded(self):
        """How many, with those that --last has dropped; the ledger says so, too."""
        (published, delivered, lost), = self.ask(
            "x.db", "SELECT sum(published), sum(delivered), sum(discarded + abandoned + missed)"
            " FROM rtl_ledger WHERE stream = 'rtl.hsa'")
        (dropped,), = self.ask("x.db", "SELECT ifnull(sum(count), 0) FROM rtl_left_out")
        self.assertEqual((published - dropped, delivered, lost), (delivered, self.operations("x.db"), 0))
        self.assertEqual({n for n, in self.ask("x.db", "SELECT DISTINCT kernel FROM rtl_dispatches")},
                         {"first_kernel", "second_kernel"})
        return published

    def held(self, child):
        """Descriptors, threads, and that buffers are small."""
        rings = glob.glob(self.in_spool() + "/rtl-spool-*/ring-*")
        return [*(len(os.listdir(f"/proc/{child.pid}/{what}")) for what in ("fd", "task")),
                sum(os.stat(ring).st_blocks for ring in rings) < 1024]

    def test_again_and_again__each_period_alone(self):
        child = self.begin()
        self.assertEqual(self.line(child), 0)
        held = self.held(child)
        for n in range(rounds(20)):
            rtl = self.attach(child)
            for _ in range(n % 5):
                self.assertEqual(self.line(child), 100)
            err = self.detach(rtl)
            self.assertIn("first_kernel", err)
            self.assertEqual(self.recorded(), 100 + n % 5 * 100)
            self.assertEqual(self.line(child), 0)
            self.assertEqual(self.held(child), held)
        self.assertEqual(self.end(child), "")

    def test_under_load(self):
        child = self.begin(count="20000")
        counts, over = [], threading.Event()

        def work():
            while not over.is_set():
                counts.append(self.line(child))

        self.line(child)
        thread = threading.Thread(target=work)
        thread.start()
        sums = []
        try:
            for _ in range(rounds(8)):
                done = self.rtl("attach", "-q", "-o", "x.db", "--duration", "0.3", str(child.pid))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                sums.append(self.recorded())
                time.sleep(0.05)
        finally:
            over.set()
            thread.join()
        self.assertEqual(sum(counts), sum(sums))
        # on a busy machine a thread may have to wait for the collector
        self.assertRegex(self.end(child), r"^(rtl: bus warning: the buffers of process \d+ are full .* nothing is lost; .*\n)?$")

    def kill(self, rtl, guard):
        """Its guard, too, which is its only child."""
        with open(f"/proc/{rtl.pid}/task/{rtl.pid}/children", encoding="utf-8") as children:
            for child in children.read().split() if guard else ():
                os.kill(int(child), signal.SIGKILL)
        rtl.kill()
        rtl.wait()

    def test_collector_killed__then_again(self):
        # at once, or else when the buffer is full, which takes a minute for the large one
        for guard, size in (False, "64M"), (True, "64K"):
            child = self.begin(env={"RTL_BUFFER_SIZE": size, "RTL_BUFFER_TOTAL": size})
            self.line(child)
            for n in range(rounds(4)):
                self.kill(self.attach(child, *(() if guard or n % 2 else ("--last", "9"))), guard)
                self.wait_until(lambda: not self.line(child), 20)
                self.wait_until(lambda: not self.ps()[child.pid]["attached"])
                self.in_spool()
                rtl = self.attach(child)
                self.assertEqual(self.line(child), 100)
                self.detach(rtl)
                self.assertEqual(self.recorded(), 200)
            self.end(child)

    def test_subscriber_crashes__says_so_and_the_process_goes_on(self):
        child = self.begin()
        self.line(child)
        rtl = self.attach(child, "-s", f"libsqlite_sub.so:{TOLD}?way=segv&at=150")
        self.line(child)
        self.assertIn("the trace is not complete; the process goes on" if not SANITIZED else "", rtl.communicate(timeout=HANG_S)[1])
        self.assertNotEqual(rtl.returncode, 0)
        self.wait_until(lambda: not self.line(child), 20)
        self.end(child)

    def test_process_ends_while_attached(self):
        for kill in False, True:
            child = self.begin()
            self.line(child)
            rtl = self.attach(child)
            self.wait_until(lambda: "_kernel was the last to end, " in self.rtl("status", str(child.pid)).stdout)
            if kill:
                child.kill()
            self.end(child)
            _, err = rtl.communicate(timeout=HANG_S)
            self.assertEqual(rtl.returncode, 0, err)
            self.assertIn(f"rtl: process {child.pid} has ended\n", err)
            self.assertEqual(self.recorded(), 100)
            self.assertEqual(os.listdir(self.spool), [])

    def test_last(self):
        child = self.begin()
        self.line(child)
        self.detach(self.attach(child))
        for seconds in "1000", "0.2", "1000":
            rtl = self.attach(child, "--last", seconds)
            for _ in range(12):
                self.assertEqual(self.line(child), 100)
                time.sleep(0.05)
            self.detach(rtl)
            self.assertEqual((self.line(child), self.recorded()), (0, 1300))
            self.assertEqual(self.operations("x.db") < 1300, seconds == "0.2")
        rtl = self.attach(child, "--last", "1000")
        said = self.rtl("status", str(rtl.pid)).stdout
        self.assertRegex(said, rf"^rtl, process {rtl.pid}: .*, attached: what began before is not known\nprocess {child.pid}:")
        self.assertNotIn("the last to end", said)
        self.assertEqual(self.rtl("snapshot", "-o", "now.db", str(rtl.pid)).stderr, "rtl: snapshot: now.db\n")
        self.assertEqual(self.operations("now.db"), 100)
        child.kill()
        rtl.communicate(timeout=HANG_S)
        self.assertEqual((rtl.returncode, self.recorded()), (0, 100))

    def test_listed_and_refused(self):
        if not self.ps():
            self.assertIn("no program of yours can be attached to", self.rtl("ps").stdout)
        first, second = self.begin(), self.begin()
        for child in first, second:
            self.line(child)
        self.assertLessEqual({first.pid, second.pid}, set(self.ps()))
        self.refused(2, "processes are 'cli_program'", "attach", "cli_program")
        rtl = self.attach(first)
        self.assertEqual(self.ps()[first.pid]["attached"], rtl.pid)
        self.refused(1, f"process {rtl.pid} is already attached to it", "attach", str(first.pid))
        self.detach(rtl)
        self.end(first)
        self.assertNotIn(first.pid, self.ps())
        self.refused(1, f"there is no process {first.pid}", "attach", str(first.pid))
        self.refused(1, f"process {os.getpid()} cannot be attached to", "attach", str(os.getpid()))
        self.refused(1, "no program 'none'", "attach", "none")
        self.refused(2, "attach: --duration takes seconds", "attach", "--duration", "x", str(second.pid))
        second.kill()
        self.end(second)
        self.assertEqual(len(os.listdir(self.spool)), 1)
        self.assertNotIn(second.pid, self.ps())  # and what it has left is removed
        self.assertEqual(os.listdir(self.spool), [])

    def test_another_user(self):
        if os.geteuid() or not shutil.which("setpriv"):
            self.skipTest("needs root")
        child = self.begin()
        self.line(child)
        done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", RTL, "attach", str(child.pid)],
                              cwd="/", env=self.environment(), capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, f"rtl: attach: process {child.pid} belongs to user 0\n")
        self.end(child)

    def test_damaged_page__the_program_goes_on(self):
        child = self.begin()
        self.line(child)
        page = os.path.join(self.in_spool(), "session")
        for size in 0, 100, 65535:
            os.truncate(page, size)
            self.assertEqual(self.rtl("attach", "-q", str(child.pid)).returncode, 1)
            self.assertEqual(self.line(child), 0)
        shutil.rmtree(self.in_spool())
        self.assertEqual(self.line(child), 0)
        self.assertEqual(self.end(child), "")
        self.assertEqual(child.returncode, 0)

    def test_page_cut_off_while_attached(self):
        child = self.begin()
        self.line(child)
        rtl = self.attach(child)
        os.truncate(os.path.join(self.in_spool(), "session"), 0)
        self.assertEqual(self.line(child), 100)
        self.detach(rtl)
        self.assertEqual(self.line(child), 0)
        self.end(child)
        self.assertEqual(child.returncode, 0)
        self.clear()

    def test_children_and_exec(self):
        done = subprocess.run([PROGRAM, "10", "children"], env=self.environment(), check=False)
        self.assertEqual((done.returncode, os.listdir(self.spool)), (0, []))
        self.assertEqual(subprocess.run([PROGRAM, "10", "exec"], env=self.environment(), check=False).returncode, 0)
        self.ps()
        self.assertEqual(os.listdir(self.spool), [])

    def test_traced_in_such_a_shell(self):
        self.assertIn("export RTL_ATTACHABLE='1';\n", self.rtl("env", "--attachable").stdout)
        self.refused(2, "takes no -o or -s", "env", "--attachable", "-o", "x.db")
        self.assertEqual(self.rtl("trace", "-q", "-o", "x.db", PROGRAM, "100").returncode, 0)
        self.assertEqual(self.recorded(), 100)


if __name__ == "__main__":
    unittest.main()
