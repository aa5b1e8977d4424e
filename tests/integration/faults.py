#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
What goes wrong around a traced program: folders vanish, subscribers crash, disks are full, whoever is
at work is killed. The program never notices, and what was published is in the trace, can be
recovered, or is counted. Without ROCm; the program is that of cli.py.
"""

import fcntl
import glob
import os
import random
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import time
import unittest

from cli import HANG_S, PROGRAM, RTL, Case

CRASH = os.environ["RTL_TEST_CRASH"]
SLOW = os.environ["RTL_TEST_SLOW"]
TWINS = os.environ["RTL_TEST_TWINS"].split(":")
LATE_FOLDER = os.environ["RTL_TEST_LATE_FOLDER"]
KILL_AT = os.environ["RTL_TEST_KILL_AT"]
SANITIZED = os.environ["RTL_TEST_SANITIZE"]  # they have their own words for a crash
LONG = int(os.environ.get("RTL_TEST_LONG", 1))  # scripts/soak: so many times as many
ROUNDS = LONG * (3 if SANITIZED else 8)
STEPS = LONG * (8 if SANITIZED else 25)
NO_GROWTH = {"RTL_BUFFER_TOTAL": "256M"}  # all of it for first rings: a full one makes its thread wait


# Leaves a database in the middle of a transaction.
CUT_OFF = """
import os, signal, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA cache_size = 2")
database.execute("BEGIN")
database.execute("CREATE TABLE large (bytes)")
for _ in range(100):
    database.execute("INSERT INTO large VALUES (zeroblob(10000))")
os.kill(os.getpid(), signal.SIGKILL)
"""


def tmpfs_works():
    return shutil.which("unshare") and subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"], check=False,
                          capture_output=True).returncode == 0


TMPFS = tmpfs_works()


class Faults(Case):
    def lines(self, *command, way="lines", count="1000", env=None):
        """A program that publishes for each line."""
        return subprocess.Popen([*command, PROGRAM, count, way], cwd=self.folder, text=True,
                                env=self.environment(env), start_new_session=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def line(self, child):
        child.stdin.write("on\n")
        child.stdin.flush()
        return int(child.stdout.readline())

    def end(self, child):
        _, err = child.communicate(timeout=HANG_S)
        return err

    def packets(self, name):
        """How many dispatches; each must be there once, and none be missing before the last."""
        database = sqlite3.connect(self.path(name))
        count, different, last = database.execute(
            "SELECT count(*), count(DISTINCT packet_id), max(packet_id) FROM rtl_dispatch"
            ).fetchone()
        database.close()
        self.assertEqual((count, different), (count, count))
        self.assertEqual(count, 0 if last is None else last + 1)
        return count

    def packets_if_any(self, name):
        """The same; 0 where there is no file, or nothing in it."""
        there = os.path.exists(self.path(name)) and os.path.getsize(self.path(name))
        return self.packets(name) if there else 0

    def ledger(self, name):
        database = sqlite3.connect(self.path(name))
        rows = database.execute("SELECT sum(published), sum(delivered), sum(discarded), "
                                "sum(abandoned) FROM rtl_ledger WHERE stream = 'rtl.hsa'")
        row = rows.fetchone()
        database.close()
        return row

    def losses(self, name):
        database = sqlite3.connect(self.path(name))
        rows = database.execute("SELECT cause, count FROM rtl_loss WHERE stream = 'rtl.hsa'")
        losses = dict(rows.fetchall())
        database.close()
        return losses

    def clear(self):
        for name in os.listdir(self.spool):
            shutil.rmtree(os.path.join(self.spool, name))


class Vanished(Faults):
    """Somebody removes the folder of the spools."""

    WAYS = (((), {"RTL_SUBSCRIBERS": "libsqlite_sub.so?output=run.db"}),
            ((RTL, "trace", "-o", "run.db"), {}))

    def proc(self, child, name):
        with open(f"/proc/{child.pid}/{name}", encoding="utf-8") as file:
            return file.read()

    def sleeps(self, child):
        """How often the first thread has waited for something: rtl does after each pass."""
        return int(re.search(r"(?m)^voluntary_ctxt_switches:\s+(\d+)",
                             self.proc(child, "status")).group(1))

    def begin(self, *command, **more):
        """A program that has published for a line; rtl, if it is there, knows all of that."""
        child = self.lines(*command, **more)
        published = self.line(child)
        self.wait_until(lambda: "/ring-0\n" in self.proc(child, "maps"))
        if command:
            before = self.sleeps(child)
            self.wait_until(lambda: self.sleeps(child) > before + 2)
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

    def test_session_is_cut_off__all_goes_on(self):
        for size, way in ((0, "lines"), (10, "lines"), (0, "threads")):
            with self.subTest(size=size, way=way):
                child, published = self.begin(RTL, "trace", "-o", "run.db", way=way,
                                              env={"RTL_BUFFER_SIZE": "256K", **NO_GROWTH})
                os.truncate(os.path.join(self.in_spool(), "session"), size)
                for _ in range(20):  # so many that rings end, too
                    published += self.line(child)
                err = self.end(child)
                self.assertEqual((child.returncode, published), (0, 21000), err)
                self.assertEqual(self.operations("run.db"), 21000)
                self.assertEqual(err.count("session was cut off: recording goes on"), 1, err)
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

    def test_more_than_the_ring_holds__program_is_not_held_up(self):
        child, published = self.begin(RTL, "trace", "-o", "run.db", count="300000")
        folder = self.in_spool()
        self.clear()
        more = self.line(child)
        err = self.end(child)
        self.assertEqual(child.returncode, 0)
        self.assertEqual(published, 300000)
        self.check_ended(err, folder, published + more, 600000)

    def test_during_a_recording(self):
        child, _ = self.begin(RTL, "record", "-o", "run.rec")
        folder = self.in_spool()
        self.clear()
        published = 1000 + self.line(child)
        err = self.end(child)
        self.assertIn("recording: ", err)
        self.assertEqual(self.rtl("replay", "-o", "run.db", "run.rec").returncode, 0)
        self.check_ended(err, folder, published, 2000)

    def test_the_recording_itself(self):
        child = self.lines(RTL, "record", "-o", "run.rec")
        self.line(child)
        self.wait_until(lambda: os.path.isdir(self.path("run.rec")))
        shutil.rmtree(self.path("run.rec"))
        self.assertEqual(self.line(child), 1000)
        err = self.end(child)
        self.assertEqual(child.returncode, 0)
        if not os.path.isdir(self.path("run.rec")):
            self.assertRegex(err, r"(?m)^rtl: .*run\.rec")
        self.clear()

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

    WAYS = [("segv", signal.SIGSEGV), ("abort", signal.SIGABRT)]
    if "thread" not in SANITIZED:  # its own functions need the stack
        WAYS.append(("overflow", signal.SIGSEGV))

    def check_words(self, err, number, text):
        if not SANITIZED:
            self.assertRegex(err, rf"(?m)^rtl: {number.name}( in \S+)?: {text}")

    def crash(self, how, at):
        return f"{CRASH}?how={how}&at={at}"

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
        database = sqlite3.connect(self.path(name))
        rows = database.execute("SELECT packet_id, count(*) FROM rtl_dispatch GROUP BY packet_id "
                                "ORDER BY packet_id").fetchall()
        database.close()
        self.assertEqual([r[0] for r in rows], list(range(len(rows))))
        counts = [r[1] for r in rows]
        self.assertEqual(counts, sorted(counts, reverse=True))
        return sum(counts)

    def test_at_the_end_of_the_collector(self):
        for how, number in self.WAYS:
            with self.subTest(how=how):
                done = self.rtl("trace", "-o", "run.db", "-s", self.crash(how, 0) +
                                ":libsqlite_sub.so", PROGRAM, "1000", "print")
                self.assertEqual(done.stdout, "1000\n")
                self.assertNotEqual(done.returncode, 0)
                folder = self.in_spool()
                self.check_words(done.stderr, number, "the trace is not complete; `rtl recover ")
                done = self.rtl("recover", "-o", "run.db", folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.packets("run.db"), 1000)

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

    def outlive(self, *command, env=None, lines=3):
        """A program that publishes 20000 events for each line, whose collector is killed after the
        first one; returns how many it recorded, and its folder."""
        child = self.lines(*command, count="20000", env={**self.BUFFERS, **(env or {})})
        recorded = self.line(child)
        child.kill()
        child.wait()
        if "RTL_BUFFER_POLICY" in (env or {}):
            time.sleep(0.2)  # who does not wait looks every 100 ms
        for _ in range(lines):
            recorded += self.line(child)
        return child, recorded, self.in_spool()

    def fact(self, name, key):
        database = sqlite3.connect(self.path(name))
        row = database.execute("SELECT value FROM rtl_meta WHERE key = ?", (key,)).fetchone()
        database.close()
        return row and row[0]

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

    def test_there_was_room_for_all__nothing_is_missing(self):
        child, recorded, folder = self.outlive(RTL, "trace", "-o", "run.db", lines=1,
                                               env={"RTL_BUFFER_TOTAL": "64M"})
        self.end(child)
        self.assertEqual(recorded, 40000)
        self.assertEqual(self.rtl("recover", folder).returncode, 0)
        self.assertEqual(self.check("run.db", recorded, 40000), {})
        self.assertTrue(self.fact("run.db", "interrupted").endswith(" after the program began"))

    def test_recovered_while_it_runs__said_in_the_trace(self):
        child, recorded, folder = self.outlive(RTL, "trace", "-o", "run.db")
        done = self.rtl("recover", folder)
        self.assertIn("1 process still runs; what it does from now on", done.stderr)
        self.assertEqual(self.line(child), 0)
        self.end(child)
        self.check("run.db", recorded, 80000)
        self.assertTrue(self.fact("run.db", "interrupted").endswith(
            "; 1 process still ran when this was recovered"))

    def test_recorder_killed__said_in_replays(self):
        child, recorded, folder = self.outlive(RTL, "record", "-o", "run.rec")
        self.end(child)
        done = self.rtl("recover", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.rtl("replay", "-o", "run.db", "run.rec")
        self.assertIn("the collector died at ", done.stderr)
        self.assertGreater(self.check("run.db", recorded, 80000)[self.CAUSE], 0)

    def test_subscriber_crashes__said_too(self):
        child = self.lines(RTL, "trace", "-o", "run.db", "-s",
                           f"libsqlite_sub.so:{CRASH}?how=abort&at=1500", count="20000",
                           env=self.BUFFERS)
        recorded = self.line(child)
        child.wait(timeout=HANG_S)
        recorded += self.line(child)
        self.end(child)
        done = self.rtl("recover", "-o", "run.db", self.in_spool())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check("run.db", recorded, 40000)


class Stalled(Faults):
    """The collector is stopped, or a subscriber hangs: the program waits, says so, and goes on."""

    CAUSE = "the collector or a subscriber did not get on"

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
        self.assertRegex(err, rf"(?m)^{who}has taken nothing for 200 ms \(RTL_STALL_TIMEOUT\): "
                         r"process \d+ goes on, events that find no room are discarded and counted$")
        self.assertRegex(err, rf"(?m)^{who}takes events again: process \d+ waits for it as before$")
        self.assertIn(f"  lost of rtl.hsa: {self.CAUSE}: ", self.rtl("info", "run.db").stdout)

    def test_collector_does_nothing__said_after_two_seconds(self):
        """The collector is this test: see EndsInOrder.blocked."""
        folder = os.path.join(self.spool, "rtl-1-abcdef")
        os.mkdir(folder)
        with open(folder + "/session", "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(EndsInOrder.PAGE + struct.pack("<IIi", 0, 0, os.getpid()))
            file.flush()
            done = subprocess.run([PROGRAM, "300000", "print"], cwd=self.folder, text=True,
                                  env=self.environment({"RTL_COLLECTOR": folder,
                                                        "RTL_STALL_TIMEOUT": "2500",
                                                        **NO_GROWTH}),
                                  capture_output=True, check=False, timeout=HANG_S)
        self.assertEqual(done.returncode, 0)
        who = f"the collector, process {os.getpid()},"
        self.assertRegex(done.stderr, r"^rtl: bus warning: thread \d+ of process \d+ has waited for "
                         rf"2 s: its buffer is full, and {who} takes nothing out; after 2500 ms "
                         r"\(RTL_STALL_TIMEOUT\) the program goes on without it\n"
                         rf"rtl: bus warning: {who} has taken nothing for 2500 ms .*\n$")
        self.assertEqual(self.rtl("recover", "-o", "run.db", folder).returncode, 0)
        self.check("run.db", int(done.stdout), 300000)

    def test_subscriber_hangs_in_the_process(self):
        child = self.lines(count="20000", env={
            "RTL_SUBSCRIBERS": f"libsqlite_sub.so?output=run.db:{SLOW}?at=events",
            "RTL_BUFFER_SIZE": "256K", "RTL_STALL_TIMEOUT": "200", **NO_GROWTH})
        recorded = self.line(child)
        self.assertLess(recorded, 20000)
        with open(self.path("go"), "w", encoding="utf-8"):
            pass
        lines, after = self.until_waited_for(child)
        err = self.end(child)
        self.assertEqual(child.returncode, 0, err)
        self.assertIn("warning: the subscriber slow has taken nothing for 200 ms", err)
        self.assertEqual(err.count("takes events again"), 1, err)
        self.check("run.db", recorded + after, 20000 * (1 + lines))


class Plugins(Faults):
    """Plugins that look alike."""

    def twins(self, specs, *way):
        done = self.rtl("trace", "-q", *way, "-s", ":".join(specs), PROGRAM, "100")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(self.path("twins"), encoding="utf-8") as file:
            lines = sorted(file.read().splitlines())
        os.unlink(self.path("twins"))
        return lines

    def test_two_files_of_one_name__each_its_own_code(self):
        self.assertEqual(*map(os.path.basename, TWINS))
        for way in ((), ("--in-process",)):
            self.assertEqual(self.twins(TWINS, *way), ["one - 100", "two - 100"])

    def test_two_instances_of_one__each_its_own_settings(self):
        specs = [f"{TWINS[0]}?tag=a", f"{TWINS[0]}?tag=b%3Ac", TWINS[1]]
        for way in ((), ("--in-process",)):
            self.assertEqual(self.twins(specs, *way), ["one a 100", "one b:c 100", "two - 100"])


class Killed(Faults):
    """SIGKILL at any moment; ROUNDS times each."""

    def recover_all(self, name):
        """Recovers whatever was left, with the subscribers that it had or to that file; a second
        `rtl recover` finds nothing."""
        self.rtl("recover")  # takes away those that were killed while they were made
        for folder in glob.glob(self.spool + "/rtl-*"):
            done = self.rtl("recover", folder)
            if done.returncode == 2:
                done = self.rtl("recover", "-o", name, folder)
            if done.returncode and not os.path.exists(self.path(name)):
                # killed before there was an output: then there is no event either
                self.assertIn("is not there", done.stderr)
                done = self.rtl("recover", "-o", "other.db", folder)
                self.assertEqual(self.packets("other.db"), 0)
                os.unlink(self.path("other.db"))
            self.assertEqual(done.returncode, 0, done.stderr)
        done = self.rtl("recover")
        self.assertNotIn(self.spool, done.stdout)
        self.assertEqual(os.listdir(self.spool), [], done.stderr)

    def test_program_and_rtl_at_once__each_event_once(self):
        for _ in range(4):
            child = self.lines(RTL, "trace", "-o", "run.db", count="20000")
            published = self.line(child)
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate(timeout=HANG_S)
            self.assertEqual(self.rtl("recover", self.in_spool()).returncode, 0)
            self.assertEqual(published, 20000)
            self.assertEqual(self.packets("run.db"), 20000)

    def killed_at_random(self, longest, command, count, env=None):
        """Kills the whole group after a random time; nothing if it has ended before."""
        child = subprocess.Popen([*command, PROGRAM, count], cwd=self.folder,
                                 env=self.environment(env), start_new_session=True,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            child.wait(timeout=random.random() * longest)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()

    def rounds(self, longest, command, count, env=None):
        events = []
        for _ in range(ROUNDS):
            for name in glob.glob(self.folder + "/run.db*"):
                os.unlink(name)
            self.killed_at_random(longest, command, count, env)
            self.recover_all("run.db")
            events.append(self.packets_if_any("run.db"))
        print("events:", *events)

    def test_while_it_starts(self):
        self.rounds(0.02, (RTL, "trace", "-q", "-o", "run.db"), "1000")

    def test_while_it_runs_and_ends(self):
        self.rounds(0.3, (RTL, "trace", "-q", "-o", "run.db"), "200000")

    def test_while_one_that_drains_itself_starts(self):
        self.rounds(0.02, (), "1000", {"RTL_SUBSCRIBERS": "libsqlite_sub.so?output=run.db"})

    def test_while_one_that_drains_itself_runs_and_ends(self):
        self.rounds(0.3, (), "200000", {"RTL_SUBSCRIBERS": "libsqlite_sub.so?output=run.db"})

    def check_recording(self):
        """What is left can be recovered, and what there is of the recording be replayed."""
        self.recover_all("none.db")
        if glob.glob(self.path("run.rec/*")):
            done = self.rtl("replay", "-o", "run.db", "run.rec")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.packets("run.db")
            shutil.rmtree(self.path("run.rec"))

    def test_while_it_records(self):
        for _ in range(ROUNDS):
            self.killed_at_random(0.2, (RTL, "record", "-q", "-o", "run.rec"), "100000")
            self.check_recording()
            shutil.rmtree(self.path("run.rec"), ignore_errors=True)

    def killed_at(self, count, *command, env=None):
        """Kills the whole group at that system call. Returns how many calls there were."""
        done = subprocess.run([KILL_AT, str(count), *command], cwd=self.folder,
                              env=self.environment(env), stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL, timeout=HANG_S, check=False)
        if done.returncode == 77:
            self.skipTest("processes cannot be traced here (ptrace)")
        self.assertEqual(done.returncode, 0)
        return int(done.stdout.splitlines()[-1])

    def at_system_calls(self, prepare, check, *command, env=None):
        """Some of the calls that the command makes: kills it there, and then checks."""
        prepare()
        calls = self.killed_at(1000000, *command, env=env)
        step = max(1, calls // STEPS)
        for count in range(1 + random.randrange(step), calls + 1, step):
            self.clear()
            for name in glob.glob(self.folder + "/*.db*"):
                os.unlink(name)
            with self.subTest(command=command, killed_at=count, of=calls):
                prepare()
                self.killed_at(count, *command, env=env)
                check()

    def trace_again(self):
        """Whatever is left of run.db, it can be replaced; of a copy, as it is recovered later."""
        for name in glob.glob(self.folder + "/run.db*"):
            shutil.copy(name, name.replace("run.db", "again.db"))
        done = self.rtl("trace", "-q", "-o", "again.db", PROGRAM, "5")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.packets("again.db"), 5)

    def check_what_is_left(self):
        self.trace_again()
        self.recover_all("run.db")
        self.assertLessEqual(self.packets_if_any("run.db"), 10)

    def test_at_system_calls(self):
        self.at_system_calls(lambda: None, self.check_what_is_left,
                             RTL, "trace", "-q", "-o", "run.db", PROGRAM, "10")

    def test_at_system_calls_of_one_that_drains_itself(self):
        self.at_system_calls(lambda: None, self.check_what_is_left, PROGRAM, "10",
                             env={"RTL_SUBSCRIBERS": "libsqlite_sub.so?output=run.db"})

    def test_output_cut_off_in_its_first_transaction(self):
        """Then a journal lies beside it that a reader has to roll back."""
        subprocess.run([sys.executable, "-c", CUT_OFF, "run.db"], cwd=self.folder, check=False)
        self.assertTrue(os.path.getsize(self.path("run.db-journal")))
        self.trace_again()
        self.clear()
        child = self.lines(env={"RTL_SUBSCRIBERS": "libsqlite_sub.so?output=other.db"})
        self.line(child)
        child.kill()
        child.communicate(timeout=HANG_S)
        done = self.rtl("recover", "-o", "run.db", self.in_spool())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLessEqual(self.operations("run.db"), 1000)  # other.db has got some of them

    def test_record_at_system_calls(self):
        self.at_system_calls(lambda: shutil.rmtree(self.path("run.rec"), ignore_errors=True),
                             self.check_recording,
                             RTL, "record", "-q", "-o", "run.rec", PROGRAM, "10")

    def test_recover_at_system_calls(self):
        """However often it is begun: each event is there once in the end."""
        child = self.lines(RTL, "trace", "-o", "run.db", count="10")
        self.line(child)
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate(timeout=HANG_S)
        folder = self.in_spool()
        shutil.copytree(self.folder, self.path("left/output"))
        shutil.copytree(folder, self.path("left/spool"))

        def prepare():
            shutil.copytree(self.path("left/output"), self.folder, dirs_exist_ok=True)
            shutil.copytree(self.path("left/spool"), folder, dirs_exist_ok=True)

        def check():
            self.recover_all("run.db")
            self.assertEqual(self.packets("run.db"), 10)

        self.at_system_calls(prepare, check, RTL, "recover", folder)


class Leftovers(Faults):
    """What killed processes have left is mentioned, and found."""

    def leave(self, count=1):
        for _ in range(count):
            subprocess.run([PROGRAM, "1000", "kill"], cwd=self.folder, check=False,
                           capture_output=True, env=self.environment(
                               {"RTL_SUBSCRIBERS": "libstats_sub.so?output=/dev/null"}))

    def test_rtl_says_so__until_it_is_recovered(self):
        self.leave(2)
        line = "rtl: 2 processes were killed before all events were stored, "
        for verb in (("trace", "true"), ("record", "true"), ("env",), ("list-subscribers",)):
            done = self.rtl(*verb)
            self.assertTrue(done.stderr.startswith(line), done.stderr)
            self.assertIn("`rtl recover` lists them\n", done.stderr)
        self.assertNotIn(line, self.rtl("trace", "-q", "true").stderr)
        for folder in os.listdir(self.spool):
            self.assertIn(folder, self.rtl("recover").stdout)
            self.rtl("recover", "-o", "rest.db", f"{self.spool}/{folder}")
        self.assertEqual(self.rtl("env").stderr, "")

    def test_next_program_says_so__once(self):
        self.leave()
        said = []
        for _ in range(3):
            done = subprocess.run([PROGRAM, "10"], cwd=self.folder, text=True, check=True,
                                  env=self.environment({"RTL_SUBSCRIBERS": "libstats_sub.so"
                                                        "?output=stats.txt"}), capture_output=True)
            said.append(done.stderr)
        self.assertEqual(said, [f"rtl: spool warning: 1 process was killed and left events in "
                                f"{self.spool}: `rtl recover` lists them\n", "", ""])
        self.assertEqual(self.rtl("recover", "-o", "rest.db", self.in_spool()).returncode, 0)

    def test_living_ones__not_mentioned(self):
        child = self.lines(env={"RTL_SUBSCRIBERS": "libstats_sub.so?output=stats.txt"})
        self.line(child)
        self.assertEqual(self.rtl("env").stderr, "")
        done = subprocess.run([PROGRAM, "10"], cwd=self.folder, text=True, check=True,
                              env=self.environment({"RTL_SUBSCRIBERS": "libstats_sub.so"
                                                    "?output=stats.txt"}), capture_output=True)
        self.assertEqual(done.stderr, "")
        self.end(child)

    def test_folders_without_events__taken_away(self):
        dead = subprocess.Popen(["true"])
        dead.wait()
        for name in (f"rtl-spool-{dead.pid}-abcdef", f"rtl-{dead.pid}-abcdef"):
            os.mkdir(os.path.join(self.spool, name))
        with open(os.path.join(self.spool, f"rtl-{dead.pid}-abcdef", "session"), "w",
                  encoding="utf-8"):
            pass
        # killed while it removed its spool
        os.mkdir(os.path.join(self.spool, f"rtl-spool-{dead.pid}-uvwxyz"))
        for name in ("removed", "ring-0"):
            self.write(os.path.join(self.spool, f"rtl-spool-{dead.pid}-uvwxyz", name), "")
        kept = {"rtl-notes", "rtl-5-x", f"rtl-{os.getpid()}-abcdef"}
        for name in kept:
            os.mkdir(os.path.join(self.spool, name))
        self.assertIn("removed 3 folders of processes that were killed",
                      self.rtl("recover").stderr)
        self.assertEqual(set(os.listdir(self.spool)), kept)
        self.clear()


class EndsInOrder(Faults):
    """A process that outlives rtl."""

    def test_rtl_has_finished__process_is_silent(self):
        done = self.rtl("trace", "-o", "run.db", "-q", "sh", "-c",
                        f"(read x <go; '{PROGRAM}' 400000 print >late 2>late.err; mv late late.out)"
                        f" </dev/null >/dev/null 2>&1 & "
                        f"(echo on; exec '{PROGRAM}' 1000000 stay) >on 2>stay.err & "
                        "until test -s on; do sleep 0.01; done",
                        preexec_fn=lambda: os.mkfifo(self.path("go")))
        self.assertEqual(done.returncode, 0)
        with open(self.path("go"), "w", encoding="utf-8") as file:
            file.write("go\n")
        self.wait_until(lambda: os.path.exists(self.path("late.out")))
        # it publishes until its ring is full, then looks, and goes on
        self.wait_until(lambda: self.read("on").count("\n") == 2)
        os.kill(int(self.read("on").split("\n")[1]), signal.SIGKILL)
        self.assertEqual((self.read("stay.err"), self.read("late.err")), ("", ""))
        self.assertEqual(self.read("late.out"), "0\n")

    @unittest.skipIf(SANITIZED, "nothing can be preloaded before a sanitizer")
    def test_rtl_finishes_while_process_makes_its_spool(self):
        """It goes on unrecorded, and says nothing: it is not its fault."""
        for when in ("before", "after"):
            script = (f"(LATE_FOLDER={when} LD_PRELOAD='{LATE_FOLDER}' '{PROGRAM}' 100 print & "
                      "echo $! >pid; wait; mv late late.out) >late 2>late.err </dev/null & "
                      "until test -s pid && grep -q /session /proc/$(cat pid)/maps; "
                      "do sleep 0.01; done")
            done = self.rtl("trace", "-q", "-o", "run.db", "sh", "-c", script)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.wait_until(lambda: os.path.exists(self.path("late.out")))
            self.assertEqual((self.read("late.out"), self.read("late.err")), ("0\n", ""))
            os.unlink(self.path("pid"))
            os.unlink(self.path("late.out"))

    @unittest.skipIf(SANITIZED, "nothing can be preloaded before a sanitizer")
    def test_process_makes_a_ring_while_its_spool_is_removed(self):
        done = self.rtl("trace", "-q", "-o", "run.db", PROGRAM, "100",
                        env={"LD_PRELOAD": LATE_FOLDER, "LATE_FILE": "1"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(os.listdir(self.spool), [])

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def test_program_begins_when_the_collector_has_ended__leaves_nothing(self):
        folder = os.path.join(self.spool, "rtl-1-abcdef")
        os.mkdir(folder)
        with open(folder + "/session", "wb") as file:
            file.write(self.PAGE + struct.pack("<IIi", 1, 0, os.getpid()))
        done = subprocess.run([PROGRAM, "100", "print"], cwd=self.folder, text=True, check=False,
                              env=self.environment({"RTL_COLLECTOR": folder}), capture_output=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "0\n", ""))
        self.assertEqual(os.listdir(folder), ["session"])
        self.clear()

    # The page of a collector, core/format/session.h, up to its `ended`.
    PAGE = b"RTLSESSN" + struct.pack("<II", 2, 0) + bytes(65536 - 28)

    def blocked(self, ended, unlink=False, **env):
        """What a program says that waits for room when its collector ends. The collector is this
        test: a folder with a page, which is locked as long as it lives."""
        folder = os.path.join(self.spool, "rtl-1-abcdef")
        os.mkdir(folder)
        with open(folder + "/session", "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(self.PAGE + struct.pack("<IIi", 0, 0, os.getpid()))
            file.flush()
            child = subprocess.Popen([PROGRAM, "300000", "print"], cwd=self.folder, text=True,
                                     env=self.environment({"RTL_COLLECTOR": folder, **NO_GROWTH, **env}),
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.wait_until(lambda: glob.glob(folder + "/rtl-spool-*/ring-0"))
            file.seek(len(self.PAGE))
            file.write(struct.pack("<I", ended))
            file.flush()
            if unlink:
                self.clear()
        out, err = child.communicate(timeout=HANG_S)
        self.assertEqual(child.returncode, 0)
        self.assertLess(int(out), 300000)
        self.clear()
        return err.replace(folder, "FOLDER")

    def test_program_that_waits_for_room__silent_if_it_was_in_order(self):
        self.assertEqual(self.blocked(1), "")
        self.assertEqual(self.blocked(1, unlink=True), "")
        self.assertEqual(self.blocked(0, RTL_BUFFER_TOTAL="4M").split("\n")[0],
                         "rtl: bus warning: the collector is gone: recording goes on as far as "
                         "RTL_BUFFER_TOTAL goes, then events are discarded and counted; `rtl "
                         "recover FOLDER` completes the trace")
        self.assertEqual(self.blocked(0, unlink=True), "rtl: bus warning: the collector's folder "
                         "FOLDER was removed: recording has ended\n")


@unittest.skipUnless(TMPFS, "no tmpfs can be mounted here")
class FullDisk(Faults):
    """A file system of 2 MiB."""

    def small(self, script):
        os.makedirs(self.path("small"), exist_ok=True)
        return subprocess.run(["unshare", "-rm", "sh", "-c",
                               f"mount -t tmpfs -o size=2M none small || exit 99\n{script}"],
                              cwd=self.folder, capture_output=True, text=True, timeout=HANG_S,
                              env=self.environment({"RTL": RTL, "PROGRAM": PROGRAM}), check=False)

    def test_database__program_runs_on_and_what_is_stored_can_be_read(self):
        for way in ("", "--in-process"):
            with self.subTest(way=way):
                done = self.small(f'"$RTL" trace {way} -o small/run.db "$PROGRAM" 300000 print; '
                                  'echo status $?; "$RTL" summary small/run.db; cp small/run.db* .')
                self.assertRegex(done.stdout, r"^\d+\nstatus 0\nsmall/run\.db\n")
                self.assertIn("the disk is full", done.stderr)
                self.assertIn("small/run.db is not complete", done.stderr)
                self.assertNotIn("0 lost", done.stderr + done.stdout)
                self.packets("run.db")
        self.assertEqual(os.listdir(self.spool), [])

    def test_recording__recovered_when_there_is_room(self):
        done = self.small('"$RTL" record -o small/run.rec "$PROGRAM" 300000 print; echo status $?; '
                          'rm -rf kept; cp -r small/run.rec kept')
        published = int(done.stdout.split("\n")[0])
        self.assertIn("\nstatus 0\n", done.stdout)
        self.assertRegex(done.stderr, "cannot write to .*No space left.*recording has ended")
        folder = self.in_spool()
        self.assertIn(f"run.rec is not complete; `rtl recover {folder}` completes it", done.stderr)
        self.assertNotIn("rtl replay", done.stderr)
        os.rmdir(self.path("small"))
        os.mkdir(self.path("small"))
        shutil.move(self.path("kept"), self.path("small/run.rec"))
        done = self.rtl("recover", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.rtl("replay", "-o", "run.db", "small/run.rec").returncode, 0)
        # a program that waited for room had it made by throwing events away
        all_of_them, delivered, discarded, _ = self.ledger("run.db")
        self.assertEqual((all_of_them, delivered + discarded), (published, published))
        self.assertEqual(self.operations("run.db"), delivered)

    def test_spool__program_runs_on_and_losses_are_counted(self):
        done = self.small('"$RTL" trace --spool small -o run.db "$PROGRAM" 300000 print; '
                          'echo status $?')
        self.assertRegex(done.stdout, r"^\d+\nstatus 0\n$")
        published, delivered, discarded, abandoned = self.ledger("run.db")
        self.assertEqual(published, delivered + discarded + abandoned)
        self.assertEqual(self.operations("run.db"), delivered)
        self.assertEqual(delivered + discarded, 300000)

    def test_spool_of_a_recording__valid_and_the_rest_counted(self):
        """Threads that stay, until none gets a buffer any more."""
        done = self.small('yes on | head -30 | "$RTL" record --spool '
                          'small -o run.rec "$PROGRAM" 20000 threads; echo status $?; ls small')
        recorded = sum(int(line) for line in done.stdout.split("\n")[:30])
        self.assertEqual(done.stdout.split("\n")[30:], ["status 0", ""])
        self.assertNotIn("damaged", done.stderr)
        self.assertEqual(self.rtl("replay", "-o", "run.db", "run.rec").stderr.count("damaged"), 0)
        published, delivered, discarded, abandoned = self.ledger("run.db")
        self.assertEqual((published, delivered, discarded, abandoned),
                         (600000, recorded, 600000 - recorded, 0))
        self.assertEqual(self.operations("run.db"), recorded)
        # a dispatch is less than 400 bytes
        size = sum(os.path.getsize(name) for name in glob.glob(self.path("run.rec/*/segment-*")))
        self.assertLess(size, 400 * recorded)

    def test_no_room_for_the_tables__program_runs_on_and_is_told(self):
        done = self.small('head -c 1900000 /dev/zero >small/x; '
                          '"$RTL" trace -o small/run.db "$PROGRAM" 1000 print; echo status $?; '
                          'rm small/x; ls small')
        # as many as it publishes until nobody listens any more
        self.assertRegex(done.stdout, r"^\d+\nstatus 0\n$")
        self.assertIn("the disk is full", done.stderr)
        self.assertIn("there is no trace: ", done.stderr)
        self.assertNotIn("HSA runtime", done.stderr)
        self.assertEqual(os.listdir(self.spool), [])

    def test_full_at_the_start__refused_in_a_line(self):
        done = self.small('head -c 3000000 /dev/zero >small/x 2>/dev/null; '
                          'for o in "-o small/run.db" "--spool small"; do '
                          '"$RTL" trace $o touch ran; echo $?; done')
        self.assertEqual(done.stdout, "1\n1\n", done.stderr)
        self.assertIn("small/run.db: cannot be opened as a database (database or disk is full)",
                      done.stderr)
        self.assertIn("small: No space left on device; name another folder", done.stderr)
        self.assertFalse(os.path.exists(self.path("ran")))


@unittest.skipIf(os.geteuid() == 0 and not TMPFS, "root may write everywhere")
class ReadOnly(Faults):
    """Folders in which nothing can be made."""

    def inside(self, script):
        """Runs it beside a folder `fixed`."""
        os.makedirs(self.path("fixed"), 0o500, exist_ok=True)
        mount = ["unshare", "-rm"] if TMPFS else []
        script = ("mount -t tmpfs -o ro none fixed || exit 99\n" if TMPFS else "") + script
        return subprocess.run([*mount, "sh", "-c", script], cwd=self.folder, capture_output=True,
                              env=self.environment({"RTL": RTL, "PROGRAM": PROGRAM}), text=True,
                              timeout=HANG_S, check=False)

    def refused_inside(self, part, arguments):
        done = self.inside(f'"$RTL" {arguments} touch ran; echo $?')
        self.assertEqual(done.stdout, "1\n", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(part, done.stderr)
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_output(self):
        for arguments in ("trace -o fixed/run.db", "trace --in-process -o fixed/run.db",
                          "trace -s 'libstats_sub.so?output=fixed/stats.txt'",
                          "trace --in-process -s 'libsqlite_sub.so?output=fixed/%25e.db'",
                          "record -o fixed/run.rec"):
            self.refused_inside("fixed", arguments)
        self.refused_inside("fixed", "trace --spool fixed")

    def test_working_directory(self):
        done = self.inside('cd fixed && "$RTL" trace "$PROGRAM" 10 print; echo $?')
        self.assertEqual(done.stdout, "1\n", done.stderr)
        self.assertIn("rtl-cli_program-", done.stderr)

    def test_spool_of_a_program(self):
        done = self.inside('RTL_SPOOL=fixed RTL_SUBSCRIBERS=libstats_sub.so "$PROGRAM" 10 print')
        self.assertEqual((done.returncode, done.stdout), (0, "0\n"))
        self.assertIn("cannot make a folder in fixed", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class Lines(Faults):
    """What rtl says is one line, whatever is in the values."""

    def test_control_characters__escaped(self):
        self.refused(2, r"unknown mode 'a\nb\x1b[31m\t\x7f'", "trace", "-m", "a\nb\x1b[31m\t\x7f",
                     "true")
        done = subprocess.run([PROGRAM, "1"], text=True, capture_output=True, check=True,
                              env=self.environment({"RTL_SUBSCRIBERS": "none\n\x1b[31m_sub.so"}))
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn(r"subscriber 'none\n\x1b[31m_sub.so' not found", done.stderr)

    def test_long_line__cut_and_marked(self):
        done = subprocess.run([PROGRAM, "1"], text=True, capture_output=True, check=True,
                              env=self.environment({"RTL_SUBSCRIBERS": "é" * 3000}))
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertTrue(done.stderr.endswith("é...\n"), done.stderr[-20:])
        self.assertGreater(len(done.stderr.encode()), 1900)


if __name__ == "__main__":
    unittest.main()
