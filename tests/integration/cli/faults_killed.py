#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Whoever is at work is killed, or ends before the others: what was published can be recovered, once.
Without ROCm; the program is that of cli_kit.py.
"""

import fcntl
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import unittest

from cli_kit import HANG_S, NO_GROWTH, PROGRAM, RTL, SANITIZED, Faults, rounds, session_ends, session_page

LATE_FOLDER = os.environ["RTL_TEST_LATE_FOLDER"]
STEPS = rounds(20)

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


class Killed(Faults):
    """SIGKILL at any moment; some STEPS times each."""

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

    def check_recording(self):
        """What is left can be recovered, and what there is of the recording be replayed."""
        self.recover_all("none.db")
        if glob.glob(self.path("run.rec/*")):
            done = self.rtl("replay", "-o", "run.db", "run.rec")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.packets("run.db")
            shutil.rmtree(self.path("run.rec"))

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

    def test_next_rtl_trace_says_so__once(self):
        self.leave()
        line = "rtl: 1 process was killed before all events were stored, "
        for verb in (("env",), ("list-subscribers",), ("diff", "--help"), ("trace", "-q", "true")):
            self.assertNotIn("killed", self.rtl(*verb).stderr)
        done = self.rtl("record", "true")
        self.assertTrue(done.stderr.startswith(line), done.stderr)
        self.assertIn("`rtl recover` lists them\n", done.stderr)
        self.assertNotIn("killed", self.rtl("trace", "true").stderr)
        child = self.lines(RTL, "trace", "-o", "run.db")
        self.line(child)
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate(timeout=HANG_S)
        self.assertIn("rtl: 1 process was killed", self.rtl("trace", "true").stderr)
        self.assertNotIn("killed", self.rtl("trace", "true").stderr)
        for folder in os.listdir(self.spool):
            self.assertIn(folder, self.rtl("recover").stdout)
            self.rtl("recover", "-o", "rest.db", f"{self.spool}/{folder}")
        self.assertEqual(self.rtl("env").stderr, "")

    def test_living_ones__not_mentioned(self):
        child = self.lines(env={"RTL_SUBSCRIBERS": "libstats_sub.so?output=stats.txt"})
        self.line(child)
        self.assertEqual(self.rtl("env").stderr, "")
        done = subprocess.run([PROGRAM, "10"], cwd=self.folder, text=True, check=True,
                              env=self.environment({"RTL_SUBSCRIBERS": "libstats_sub.so"
                                                    "?output=stats.txt"}), capture_output=True)
        self.assertEqual(done.stderr, "")
        self.end(child)


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
        self.write("go", "go\n")
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

    def test_program_begins_when_the_collector_has_ended__leaves_nothing(self):
        folder = os.path.join(self.spool, "rtl-1-abcdef")
        os.mkdir(folder)
        with open(folder + "/session", "wb") as file:
            file.write(session_page())
            session_ends(file)
        done = subprocess.run([PROGRAM, "100", "print"], cwd=self.folder, text=True, check=False,
                              env=self.environment({"RTL_COLLECTOR": folder}), capture_output=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "0\n", ""))
        self.assertEqual(os.listdir(folder), ["session"])
        self.clear()

    def blocked(self, ended, unlink=False, **env):
        """What a program says that waits for room when its collector ends. The collector is this
        test: a folder with a page, which is locked as long as it lives."""
        folder = os.path.join(self.spool, "rtl-1-abcdef")
        os.mkdir(folder)
        with open(folder + "/session", "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(session_page())
            file.flush()
            child = subprocess.Popen([PROGRAM, "300000", "print"], cwd=self.folder, text=True,
                                     env=self.environment({"RTL_COLLECTOR": folder, **NO_GROWTH, **env}),
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.wait_until(lambda: glob.glob(folder + "/rtl-spool-*/ring-0"))
            if ended:
                session_ends(file)
            if unlink:
                self.clear()
        out, err = child.communicate(timeout=HANG_S)
        self.assertEqual(child.returncode, 0)
        self.assertLess(int(out), 300000)
        self.clear()
        # said where this test had no processor so long: true, and not what it is about
        err = re.sub(r"rtl: bus warning: thread \d+ of process \d+ has waited for 2 s: .*\n", "", err)
        return err.replace(folder, "FOLDER")

    def test_program_that_waits_for_room__silent_if_it_was_in_order(self):
        self.assertEqual(self.blocked(True), "")
        self.assertEqual(self.blocked(True, unlink=True), "")
        self.assertEqual(self.blocked(False, RTL_BUFFER_TOTAL="4M").split("\n")[0],
                         "rtl: bus warning: the collector is gone: recording goes on until "
                         "RTL_BUFFER_TOTAL is used up, then events are discarded and counted; `rtl "
                         "recover FOLDER` completes the trace")
        self.assertEqual(self.blocked(False, unlink=True), "rtl: bus warning: the collector's folder "
                         "FOLDER was removed: recording has ended\n")


if __name__ == "__main__":
    unittest.main()
