#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
rtl recover, record and replay, without ROCm.
"""

import fcntl
import glob
import json
import os
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import time
import unittest

from cli_kit import HANG_S, PROGRAM, RTL, Case, session_page


class Recover(Case):
    """rtl is killed; rtl recover, replay and info over what it leaves."""

    leaks = True

    def has_tables(self):
        """rtl makes them while the command starts."""
        try:
            return self.ask("run.db", "SELECT count(*) FROM rtl_dispatch")[0]
        except sqlite3.OperationalError:
            return None

    def killed(self, *command, when=None):
        """rtl was killed while the command waits for a line."""
        child = self.start("trace", "-o", "run.db", *command, stdin=subprocess.PIPE)
        published = self.line(child)
        if when:
            self.wait_until(when)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        return child, published

    def finish(self, child):
        """How many the command published after that."""
        child.stdin.write("2\n")
        out, _ = child.communicate(timeout=HANG_S)
        return int(out)

    def test_killed__command_runs_on_and_output_is_completed(self):
        child, before = self.killed(PROGRAM, "3000", "lines")
        after = self.finish(child)
        self.assertEqual(before, 3000)
        done = self.rtl("recover", self.in_spool())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"^rtl: the collector died at .*\n"
                         rf"rtl: recovered: .* to {re.escape(self.path('run.db'))}\n$")
        self.assertEqual(self.operations("run.db"), before + after)
        self.assertIn("rtl: run.db was recovered: the collector died at ",
                      self.rtl("summary", "run.db").stderr)

    def test_killed_while_it_removes_its_folder__complete_and_removed(self):
        """At each removal of a file of the last ones."""
        command = RTL, "trace", "-q", "-o", "run.db", PROGRAM, "5"
        last = self.killed_at("unlink:1000000", *command)
        left = 0
        for count in range(last - 5, last + 1):
            with self.subTest(killed_at=count, of=last):
                os.unlink(self.path("run.db"))
                self.killed_at(f"unlink:{count}", *command)
                self.assertEqual(self.operations("run.db"), 5)
                for folder in os.listdir(self.spool):
                    done = self.rtl("recover", f"{self.spool}/{folder}")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    left += "left no events" in done.stderr
                self.assertEqual(os.listdir(self.spool), [])
        self.assertGreater(left, 0)

    def test_output_of_another_version__refused_and_can_go_elsewhere(self):
        child, before = self.killed(PROGRAM, "3000", "lines", when=self.has_tables)
        after = self.finish(child)
        folder = self.in_spool()
        self.ask("run.db", "UPDATE rtl_meta SET value = '99' WHERE key = 'schema'")
        self.refused(1, "was written by another version of rtl: recover to another file, or with "
                     "that version; the version of rtl's tables is not 2 but 99", "recover", folder)
        left = self.operations("run.db")
        done = self.rtl("recover", "-o", "rest.db", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.operations("rest.db") + left, before + after)

    def test_lock_outlives_the_killed__waited_for(self):
        """As a child holds it that rtl was about to execute the command in."""
        child, before = self.killed(PROGRAM, "3000", "lines")
        after = self.finish(child)
        folder = self.in_spool()
        with open(os.path.join(folder, "session"), "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with subprocess.Popen([RTL, "recover", folder], env=self.environment(),
                                  stderr=subprocess.PIPE, text=True) as recover:
                time.sleep(0.5)
                fcntl.flock(lock, fcntl.LOCK_UN)
                _, err = recover.communicate(timeout=HANG_S)
        self.assertEqual(recover.returncode, 0, err)
        self.assertEqual(self.operations("run.db"), before + after)

    def test_process_still_runs__told_and_counted(self):
        child, before = self.killed(PROGRAM, "3000", "lines")
        done = self.rtl("recover", self.in_spool())
        self.assertIn("1 process still runs; what it does from now on", done.stderr)
        self.assertEqual(self.finish(child), 0)
        self.assertEqual(self.operations("run.db"), before)

    def test_list(self):
        self.assertEqual(self.rtl("info", self.spool).returncode, 1)
        child, _ = self.killed(PROGRAM, "10", "lines")
        self.finish(child)
        folder = self.in_spool()
        row, = [line for line in self.rtl("recover").stdout.splitlines() if line.endswith(folder)]
        self.assertRegex(row, r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +[\d.]+ KiB  cli_program +/")
        self.rtl("recover", folder)
        self.assertNotIn(folder, self.rtl("recover").stdout)

    def test_in_use__refused(self):
        child = self.start("trace", "-q", "-o", "run.db", PROGRAM, "10", "lines",
                           stdin=subprocess.PIPE)
        self.line(child)
        folder = self.in_spool()
        self.refused(1, f"recover: {folder} is in use by process {child.pid}", "recover", folder)
        self.refused(1, f"replay: {folder} is in use by process {child.pid}", "replay", folder)
        self.assertNotIn(folder, self.rtl("recover").stdout)
        info = json.loads(self.rtl("info", "--json", folder).stdout)
        self.assertEqual((info["running"], info["pid"]), (True, child.pid))
        self.assertTrue(info["processes"][0]["alive"])
        child.communicate(timeout=HANG_S)
        self.assertEqual(self.operations("run.db"), 10)

    def test_replay__as_often_as_wanted(self):
        child, before = self.killed(PROGRAM, "1000", "lines")
        after = self.finish(child)
        folder = self.in_spool()
        info = json.loads(self.rtl("info", "--json", folder).stdout)
        process, = info["processes"]
        stream, = [s for s in process["streams"] if s["stream"] == "rtl.hsa"]
        self.assertEqual((info["kind"], info["running"], process["alive"]),
                         ("collector", False, False))
        self.assertEqual(info["database"], self.path("run.db"))
        self.assertEqual(stream["published"], before + after)
        self.assertEqual(stream["delivered"] + stream["undelivered"], before + after)
        for _ in range(2):
            done = self.rtl("replay", "-o", "again.db", folder)
            self.assertEqual((done.returncode, done.stderr),
                             (0, f"rtl: trace: {self.path('again.db')}\n"))
            self.assertEqual(self.operations("again.db"), stream["undelivered"])
        text = self.rtl("replay", "-s", "libstats_sub.so", folder).stderr
        self.assertIn(f"GPU kernels: {stream['undelivered']}, ", text)
        self.rtl("recover", folder)
        self.assertEqual(self.operations("run.db"), before + after)

    def test_killed_before_its_notes__removed_and_nothing_else(self):
        """Only a collector that is dead, and whose folder has its page alone."""
        with subprocess.Popen(["true"]) as dead:
            pass
        here = {name: os.path.join(self.spool, f"rtl-{pid}-{name}") for name, pid in (
            ("aloneA", dead.pid), ("spoolA", dead.pid), ("notesA", dead.pid), ("lockeA", dead.pid),
            ("livesA", os.getpid()), ("emptyA", dead.pid))}
        for folder in here.values():
            os.mkdir(folder, 0o700)
            with open(folder + "/session", "wb") as page:
                page.write(session_page())
        os.mkdir(f"{here['spoolA']}/rtl-spool-{dead.pid}-abcdef")
        self.write(here["notesA"] + "/notes", "command true\n")
        self.write(here["emptyA"] + "/notes", "")  # just made, and not written
        with open(here["lockeA"] + "/session", "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = self.rtl("recover", here["aloneA"])
            self.assertEqual((done.returncode, done.stderr), (
                0, f"rtl: removed {here['aloneA']}: its process was killed and left no events\n"))
            done = self.rtl("recover")
        self.assertEqual(done.stderr,
                         "rtl: removed 1 folder of processes that were killed, without events\n")
        for name in ("aloneA", "lockeA", "emptyA"):
            self.assertNotIn(here[name], done.stdout)
        for name in ("spoolA", "notesA", "livesA"):
            self.assertIn(here[name], done.stdout)
        self.assertEqual(sorted(os.listdir(self.spool)), sorted(
            os.path.basename(folder) for name, folder in here.items()
            if name not in ("aloneA", "emptyA")))
        for folder in os.listdir(self.spool):
            shutil.rmtree(os.path.join(self.spool, folder))

    def test_process_that_drained_itself__output_must_be_named(self):
        subprocess.run([PROGRAM, "1000", "kill"], cwd=self.folder, check=False, env=self.environment(
            {"RTL_SUBSCRIBERS": "libstats_sub.so?output=/dev/null"}))
        folder = self.in_spool()
        self.refused(2, "names no output", "recover", folder)
        undelivered = json.loads(self.rtl("info", "--json", folder).stdout)[
            "processes"][0]["streams"]
        expected = sum(s["undelivered"] for s in undelivered if s["stream"] == "rtl.hsa")
        done = self.rtl("recover", "-o", "rest.db", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.operations("rest.db"), expected)

    def test_output_is_gone__said_and_kept(self):
        child, _ = self.killed(PROGRAM, "10", "lines")
        self.finish(child)
        for name in os.listdir(self.folder):
            os.unlink(self.path(name))
        done = self.rtl("recover", self.in_spool())
        self.assertEqual(done.returncode, 1)
        self.assertIn("run.db: is not there", done.stderr)
        self.assertEqual(self.rtl("recover", "-o", "new.db", self.in_spool()).returncode, 0)


class Record(Case):
    """rtl record, and what replay and recover make of it."""

    def test_recorded__replay_has_each_event_once(self):
        done = self.rtl("record", "-o", "run.rec", PROGRAM, "5000", "print")
        self.assertEqual((done.returncode, done.stdout), (0, "5000\n"))
        self.assertIn(self.path("run.rec"), done.stderr)
        self.assertEqual(os.listdir(self.spool), [])
        for _ in range(2):
            done = self.rtl("replay", "-o", "run.db", "run.rec")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.operations("run.db"), 5000)

    def test_rank__that_the_launcher_gave_the_process(self):
        """Also of a recording, and whatever the rank of who replays it."""
        ranks = []
        for env in ({"PMI_RANK": "3"}, {"RANK": "x"}, {}):
            self.rtl("trace", "-q", "-o", "run.db", PROGRAM, "5", env=env)
            ranks.append(self.ask("run.db", "SELECT rank FROM rtl_process"))
            self.rtl("record", "-o", "run.rec", PROGRAM, "5", env=env)
            self.rtl("replay", "-o", "again.db", "run.rec", env={"PMI_RANK": "4"})
            ranks.append(self.ask("again.db", "SELECT rank FROM rtl_process"))
            shutil.rmtree(self.path("run.rec"))
        self.assertEqual(ranks, [[(3,)], [(3,)]] + 4 * [[(None,)]])

    def test_other_version__refused_in_a_line(self):
        self.rtl("record", "-q", "-o", "run.rec", PROGRAM, "3")
        name, = os.listdir(self.path("run.rec"))
        with open(os.path.join(self.path("run.rec"), name, "control"), "r+b") as file:
            file.seek(8) # behind the magic number
            file.write(struct.pack("<I", 4))
        for verb in ("replay", "info"):
            self.refused(1, f"{name} is damaged, or was written by another version of rtl; this is ", verb,
                         "run.rec")

    def test_control_page_or_names_damaged__rest_replayed_and_said(self):
        for name in "control", "dict":
            with self.subTest(name):
                self.rtl("record", "-o", f"{name}.rec", PROGRAM, "500", "children")
                first, *_ = sorted(glob.glob(self.path(f"{name}.rec/rtl-spool-*")))
                os.truncate(os.path.join(first, name), 100)
                done = self.rtl("replay", "-o", "run.db", f"{name}.rec")
                self.assertIn("not all that was recorded could be read: the output is not complete", done.stderr)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(self.operations("run.db"), 1000)
                self.assertEqual(self.ask("run.db", "SELECT value FROM rtl_meta WHERE key = 'state'"),
                                 [("incomplete",)])

    def test_limit__oldest_events_go_and_are_counted(self):
        done = self.rtl("record", "-o", "run.rec", "--limit", "100K", PROGRAM, "100000", "print",
                        env={"RTL_BUFFER_SIZE": "64K", "RTL_BUFFER_TOTAL": "128M"})
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.rtl("replay", "-o", "run.db", "run.rec")
        self.assertEqual(done.returncode, 0, done.stderr)
        left = self.operations("run.db")
        self.assertTrue(0 < left < 100000, left)
        (published, delivered, discarded), = self.ask(
            "run.db", "SELECT published, delivered, discarded FROM rtl_ledger WHERE stream = 'rtl.hsa' AND process = 1")
        self.assertEqual((published, delivered, discarded), (100000, left, 100000 - left))

    def test_killed__recover_completes_the_recording(self):
        child = self.start("record", "-o", "run.rec", PROGRAM, "3000", "lines",
                           stdin=subprocess.PIPE)
        published = self.line(child)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.stdin.write("2\n")
        out, _ = child.communicate(timeout=HANG_S)
        done = self.rtl("recover", self.in_spool())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.spool), [])
        self.assertEqual(self.rtl("replay", "-o", "run.db", "run.rec").returncode, 0)
        self.assertEqual(self.operations("run.db"), published + int(out))

    def test_mode__as_for_trace(self):
        show = ("sh", "-c", "env | grep -E '^(LD_PRELOAD|RTL_MODE|ASAN_OPTIONS)' | sort")
        for env in ({}, {"RTL_MODE": "standard"}):
            self.assertEqual(self.rtl("record", "-q", *show, env=env).stdout,
                             self.rtl("trace", "-q", *show, env=env).stdout)
        self.rtl("record", "-q", "-o", "run.rec", PROGRAM, "3")
        self.rtl("replay", "-o", "run.db", "run.rec", env={"RTL_MODE": "lite"})
        self.assertNotIn("mode:", self.rtl("info", "run.db").stdout)

    def test_bad_input__one_line(self):
        os.mkdir(self.path("there"))
        self.refused(1, self.path("there") + " exists", "record", "-o", "there", "true")
        self.refused(2, "record: --limit 1K is too small for a recording: give 64K or more",
                     "record", "-l", "1K", "true")
        self.refused(2, "record: --limit takes a size such as 500M, not '5x'", "record", "-l",
                     "5x", "true")
        self.refused(2, "record: give a command to run", "record")
        self.refused(127, "cannot run nosuch", "record", "nosuch")
        self.refused(1, "cannot write a recording to /proc/x.rec", "record", "-o", "/proc/x.rec",
                     "true")

    def test_nothing_published__no_recording_is_left(self):
        done = self.rtl("record", "-o", "run.rec", "true")
        self.assertEqual(done.returncode, 0)
        self.assertIn("nothing was recorded", done.stderr)
        self.assertFalse(os.path.exists(self.path("run.rec")))


if __name__ == "__main__":
    unittest.main()
