#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
What goes wrong around a traced program: folders vanish, subscribers crash, disks are full, whoever is
at work is killed. The program never notices, and what was published is in the trace, can be
recovered, or is counted. Without ROCm; the program is that of cli_kit.py.
"""

import fcntl
import os
import re
import signal
import subprocess
import time
import unittest

from cli_kit import HANG_S, NO_GROWTH, PROGRAM, RTL, SANITIZED, SLOW_EVENTS, TOLD, Faults, session_page



class Vanished(Faults):
    """Somebody removes the folder of the spools."""

    WAYS = (((), {"RTL_SUBSCRIBERS": "libsqlite_sub.so?output=run.db"}),
            ((RTL, "trace", "-o", "run.db"), {}))

    def proc(self, child, name):
        with open(f"/proc/{child.pid}/{name}", encoding="utf-8") as file:
            return file.read()

    def sleeps(self, child):
        """How often its threads have waited for something: the one that drains does after each pass."""
        return sum(int(re.search(r"(?m)^voluntary_ctxt_switches:\s+(\d+)",
                                 self.proc(child, f"task/{task}/status")).group(1))
                   for task in os.listdir(f"/proc/{child.pid}/task"))

    def is_idle(self, child):
        """Whether it has drained all: it takes no processor time while it waits for more."""
        def ticks():
            return sum(map(int, self.proc(child, "stat").rpartition(")")[2].split()[11:13]))
        before = ticks()
        time.sleep(0.1)
        return ticks() == before

    def begin(self, *command, **more):
        """A program that has published for a line; rtl, if it is there, knows all of that."""
        child = self.lines(*command, **more)
        published = self.line(child)
        self.wait_until(lambda: "/ring-0\n" in self.proc(child, "maps"))
        if command:
            before = self.sleeps(child)
            self.wait_until(lambda: self.sleeps(child) > before + 2)
            self.wait_until(lambda: self.is_idle(child))
        return child, published

    def check_ended(self, err, folder, published, wanted):
        """All that was published is there; if recording ended early, that was said."""
        self.assertEqual(self.operations("run.db"), published, err)
        if published < wanted:
            self.assertIn(f"the collector's folder {folder} was removed: recording has ended", err)
        self.assertNotIn("rtl recover", err)

    def test_while_it_runs__what_is_mapped_goes_on(self):
        for command, env in self.WAYS:
            with self.subTest(command=command):
                child, _ = self.begin(*command, env=env)
                folder = self.in_spool()
                self.clear()
                published = 1000 + self.line(child)
                err = self.end(child)
                self.assertEqual(child.returncode, 0)
                self.check_ended(err, folder, published, 2000)
                self.assertEqual(os.listdir(self.spool), [])

    def test_further_threads__counted_and_said(self):
        for command, env in self.WAYS:
            with self.subTest(command=command):
                child, _ = self.begin(*command, env=env, way="threads")
                self.clear()
                self.assertEqual([self.line(child), self.line(child)], [0, 0])
                err = self.end(child)
                self.assertEqual(child.returncode, 0)
                self.assertEqual(err.count("the spool's folder was removed): its events are "
                                           "discarded and counted"), 1, err)
                self.assertEqual(self.ledger("run.db"), (3000, 1000, 2000, 0))
                self.assertEqual(self.operations("run.db"), 1000)

    def test_under_the_collector__said_by_rtl(self):
        child, _ = self.begin(RTL, "trace", "-o", "run.db")
        folder = self.in_spool()
        self.clear()
        self.assertEqual(child.stderr.readline(),
                         f"rtl: spool error: {folder} was removed: threads and processes that "
                         "begin from now on are not recorded\n")
        self.assertIn("1000 of 1000 events recorded", self.end(child))

    def test_at_the_start(self):
        done = subprocess.run([PROGRAM, "10", "print"], cwd=self.folder, text=True, check=False,
                              env=self.environment({"RTL_SPOOL": "/nonexistent", "RTL_SUBSCRIBERS":
                                                    "libsqlite_sub.so?output=run.db"}),
                              capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (0, "0\n"))
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("cannot make a folder in /nonexistent", done.stderr)
        done = subprocess.run([PROGRAM, "10", "print"], cwd=self.folder, text=True, check=False,
                              env=self.environment({"RTL_COLLECTOR": self.spool + "/rtl-1-gone00"}),
                              capture_output=True)
        # of a program that outlives `rtl trace`: nobody's fault
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "0\n", ""))
        done = self.rtl("trace", "-o", "run.db", "sh", "-c",
                        f"rm -r '{self.spool}'/*; exec '{PROGRAM}' 10 print")
        self.assertEqual((done.returncode, done.stdout), (0, "0\n"))
        self.assertIn("was removed: threads and processes that begin from now on", done.stderr)


class Crash(Faults):
    """A subscriber crashes in rtl."""

    WAYS = [("segv", signal.SIGSEGV), ("crash", signal.SIGABRT), ("thread", signal.SIGABRT)]
    if "thread" not in SANITIZED:  # its own functions need the stack
        WAYS.append(("overflow", signal.SIGSEGV))

    def check_words(self, err, number, text):
        if not SANITIZED:
            self.assertRegex(err, rf"(?m)^rtl: {number.name}( in \S+)?: {text}")

    def crash(self, how, at):
        return f"{TOLD}?way={how}&at={at}"

    def test_in_the_collector__program_runs_on_and_the_rest_can_be_recovered(self):
        for how, number in self.WAYS:
            with self.subTest(how=how):
                child = self.lines(RTL, "trace", "-o", "run.db", "-s",
                                   "libsqlite_sub.so:" + self.crash(how, 1500))
                published = [self.line(child) for _ in range(2)]
                self.assertEqual(published, [1000, 1000])
                child.wait(timeout=HANG_S)
                if not SANITIZED:
                    self.assertEqual(child.returncode, -number)
                folder = self.in_spool()
                published.append(self.line(child))
                published.append(self.line(child))
                err = self.end(child)
                self.check_words(err, number, re.escape(
                    f"the trace is not complete; `rtl recover {folder}` completes it"))
                self.recover_without(folder, sum(published))

    def recover_without(self, folder, published):
        """With the subscribers that it had it crashes again; without that one all is well."""
        done = self.rtl("recover", folder)
        self.assertNotEqual(done.returncode, 0)
        done = self.rtl("recover", "-o", "run.db", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.packets_of_runs("run.db"), published)
        self.assertEqual(os.listdir(self.spool), [])

    def packets_of_runs(self, name):
        """Each line's dispatches are numbered from 0."""
        rows = self.ask(name, "SELECT packet_id, count(*) FROM rtl_dispatch GROUP BY packet_id ORDER BY packet_id")
        self.assertEqual([r[0] for r in rows], list(range(len(rows))))
        counts = [r[1] for r in rows]
        self.assertEqual(counts, sorted(counts, reverse=True))
        return sum(counts)

    def test_in_replay__recording_is_unchanged(self):
        self.rtl("record", "-q", "-o", "run.rec", PROGRAM, "1000")
        for how, number in self.WAYS:
            for at in (0, 500):
                with self.subTest(how=how, at=at):
                    done = self.rtl("replay", "-o", "crash.db", "-s",
                                    "libsqlite_sub.so:" + self.crash(how, at), "run.rec")
                    self.assertNotEqual(done.returncode, 0)
                    self.check_words(done.stderr, number, "the output is not complete; what is in "
                                     "run.rec is unchanged")
        self.assertEqual(self.rtl("replay", "-o", "run.db", "run.rec").returncode, 0)
        self.assertEqual(self.packets("run.db"), 1000)


class DeadCollector(Faults):
    """The collector is killed, and the program runs on: it records as far as its buffers go."""

    BUFFERS = {"RTL_BUFFER_SIZE": "256K", "RTL_BUFFER_TOTAL": "1M"}
    CAUSE = "the collector died, and the buffers were full"

    def has_met(self, child):
        """Whether the collector has found the program."""
        with open(f"/proc/{child.pid}/maps", encoding="utf-8") as file:
            return "/ring-0" in file.read()

    def outlive(self, *command, env=None, lines=3):
        """A program that publishes 20000 events for each line, whose collector is killed after the
        first one; returns how many it recorded, and its folder."""
        child = self.lines(*command, count="20000", env={**self.BUFFERS, **(env or {})})
        recorded = self.line(child)
        self.wait_until(lambda: self.has_met(child))
        child.kill()
        child.wait()
        if "RTL_BUFFER_POLICY" in (env or {}):
            time.sleep(0.2)  # who does not wait looks every 100 ms
        for _ in range(lines):
            recorded += self.line(child)
        return child, recorded, self.in_spool()

    def fact(self, name, key):
        found = self.ask(name, "SELECT value FROM rtl_meta WHERE key = ?", (key,))
        return found[0][0] if found else None

    def check(self, name, recorded, all_of_them):
        published, delivered, discarded, abandoned = self.ledger(name)
        self.assertEqual((published, delivered, abandoned), (all_of_them, recorded, 0))
        self.assertEqual(self.operations(name), recorded)
        self.assertEqual(published, delivered + discarded)
        if discarded:
            self.assertEqual(self.fact(name, "state"), "recovered")
        self.assertRegex(self.fact(name, "interrupted"), r"^the collector died at \d{4}-\d\d-\d\d "
                         r"\d\d:\d\d:\d\d UTC, \d+\.\d{3} s after the program began")
        return self.losses(name)

    def test_program_runs_on__fills_its_budget_then_counts(self):
        for policy in ("wait", "discard"):
            with self.subTest(policy=policy):
                child, recorded, folder = self.outlive(RTL, "trace", "-o", "run.db",
                                                       env={"RTL_BUFFER_POLICY": policy})
                err = self.end(child)
                self.assertEqual(err.count("the collector is gone"), 1, err)
                self.assertRegex(self.rtl("info", folder).stdout, r"(?m)^interrupted: the collector "
                                 r"died at .* s after the program began; \d+ later events")
                done = self.rtl("recover", folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("the collector died at ", done.stderr)
                losses = self.check("run.db", recorded, 80000)
                self.assertIn(f"; {losses[self.CAUSE]} later events found no room\n", done.stderr)
                self.assertGreater(losses[self.CAUSE], 0)
                # a dispatch is more than 100 and less than 400 bytes
                least = 20000 if policy == "wait" else 0
                self.assertGreater(recorded, least + (1 << 20) // 400)
                info = self.rtl("info", "run.db").stdout
                self.assertIn("state: recovered\ninterrupted: the collector died at ", info)
                self.assertNotIn("complete", info)
                self.assertIn("was recovered: the collector died at",
                              self.rtl("summary", "run.db").stderr)
                os.unlink(self.path("run.db"))

    def test_long_after_the_death__nobody_is_said_to_wait(self):
        child, _, folder = self.outlive(RTL, "trace", "-o", "run.db",
                                        env={"RTL_STALL_TIMEOUT": "1000"})
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            self.line(child)
        self.assertNotIn("RTL_STALL_TIMEOUT", self.end(child))
        self.assertEqual(self.rtl("recover", folder).returncode, 0)

    def test_recovered_while_it_runs__said_in_the_trace(self):
        child, recorded, folder = self.outlive(RTL, "trace", "-o", "run.db")
        done = self.rtl("recover", folder)
        self.assertIn("1 process still runs; what it does from now on", done.stderr)
        self.assertEqual(self.line(child), 0)
        self.end(child)
        self.check("run.db", recorded, 80000)
        self.assertTrue(self.fact("run.db", "interrupted").endswith(
            "; 1 process still ran when this was recovered"))


class Stalled(Faults):
    """The collector is stopped, or a subscriber hangs: the program waits, says so, and goes on."""

    CAUSE = "the collector or a subscriber was stuck"

    def check(self, name, recorded, all_of_them):
        """What the program was told was recorded is there, the rest is counted by its cause."""
        published, delivered, discarded, abandoned = self.ledger(name)
        self.assertEqual((published, delivered, discarded, abandoned),
                         (all_of_them, recorded, all_of_them - recorded, 0))
        self.assertEqual(self.losses(name), {self.CAUSE: discarded})

    def until_waited_for(self, child):
        """Lines until the program waits for room again; how many, and what they recorded."""
        recorded = [self.line(child)]
        while recorded[-1] < 20000:
            recorded.append(self.line(child))
        return len(recorded), sum(recorded)

    def test_collector_is_stopped__waited_for_again_when_it_goes_on(self):
        child = self.lines(RTL, "trace", "-q", "-o", "run.db", count="20000",
                           env={"RTL_BUFFER_SIZE": "256K", "RTL_STALL_TIMEOUT": "200", **NO_GROWTH})
        recorded = self.line(child)
        os.kill(child.pid, signal.SIGSTOP)
        before = self.line(child)
        self.assertLess(before, 20000)
        os.kill(child.pid, signal.SIGCONT)
        lines, after = self.until_waited_for(child)
        err = self.end(child)
        self.assertEqual(child.returncode, 0, err)
        self.check("run.db", recorded + before + after, 20000 * (2 + lines))
        who = rf"rtl: bus warning: the collector, process {child.pid}, "
        self.assertRegex(err, rf"(?m)^{who}has drained nothing for 200 ms \(RTL_STALL_TIMEOUT\): "
                         r"process \d+ goes on, events that find no room are discarded and counted$")
        self.assertRegex(err, rf"(?m)^{who}drains events again: process \d+ waits for it as before$")
        self.assertIn(f"  lost of rtl.hsa: {self.CAUSE}: ", self.rtl("info", "run.db").stdout)

    def test_collector_does_nothing__said_after_two_seconds(self):
        """The collector is this test: see EndsInOrder.blocked."""
        folder = os.path.join(self.spool, "rtl-1-abcdef")
        os.mkdir(folder)
        with open(folder + "/session", "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(session_page())
            file.flush()
            done = subprocess.run([PROGRAM, "300000", "print"], cwd=self.folder, text=True,
                                  env=self.environment({"RTL_COLLECTOR": folder,
                                                        "RTL_STALL_TIMEOUT": "2500",
                                                        **NO_GROWTH}),
                                  capture_output=True, check=False, timeout=HANG_S)
        self.assertEqual(done.returncode, 0)
        who = f"the collector, process {os.getpid()},"
        self.assertRegex(done.stderr, r"^rtl: bus warning: thread \d+ of process \d+ has waited for "
                         rf"2 s: its buffer is full, and {who} does not drain it; after 2500 ms "
                         r"\(RTL_STALL_TIMEOUT\) the program goes on without it\n"
                         rf"rtl: bus warning: {who} has drained nothing for 2500 ms .*\n$")
        self.assertEqual(self.rtl("recover", "-o", "run.db", folder).returncode, 0)
        self.check("run.db", int(done.stdout), 300000)

    def test_subscriber_hangs_in_the_process(self):
        child = self.lines(count="20000", env={
            "RTL_SUBSCRIBERS": f"libsqlite_sub.so?output=run.db:{SLOW_EVENTS}",
            "RTL_BUFFER_SIZE": "256K", "RTL_STALL_TIMEOUT": "200", **NO_GROWTH})
        recorded = self.line(child)
        self.assertLess(recorded, 20000)
        self.write("go", "")
        lines, after = self.until_waited_for(child)
        err = self.end(child)
        self.assertEqual(child.returncode, 0, err)
        self.assertIn("warning: the subscriber told has drained nothing for 200 ms", err)
        self.assertEqual(err.count("drains events again"), 1, err)
        self.check("run.db", recorded + after, 20000 * (1 + lines))


if __name__ == "__main__":
    unittest.main()
