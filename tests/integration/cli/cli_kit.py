#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
What the tests of the command line share: each is a Case, with folders of its own. They need no
ROCm. The programs that rtl traces are shell commands, and RTL_TEST_PROGRAM, which publishes
dispatches without a GPU (cli_program.c).
"""

import contextlib
import glob
import mmap
import os
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest

RTL = os.environ["RTL"]
PROGRAM = os.environ["RTL_TEST_PROGRAM"]
PLUGINS = os.environ["RTL_TEST_PLUGINS"]
# The plugin folder, as librtl finds it from its own.
BUILD_PLUGINS = os.path.join(os.path.dirname(os.path.dirname(RTL)), "lib", "rtl")
KILL_AT = os.environ.get("RTL_TEST_KILL_AT", "")  # those of the command line have it
PYTHON = sys.executable
# Longer than anything takes on a machine that is slow and has other work: what hangs ends the test.
HANG_S = 300
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("RTL_", "HSA_"))}
# Of rtl trace: an interceptor with a sanitizer cannot be preloaded.
DEFAULT_MODE = "standard" if os.environ["RTL_TEST_SANITIZE"] else "hip"
PUBLISH = os.environ.get("RECOVER_PUBLISH", "")
STREAMS, THREADS = 2, 4  # of that
TOLD = os.environ.get("RTL_TEST_TOLD", "")  # a subscriber that does what it is told
SLOW, SLOW_EVENTS, SLOW_BATCHES = (f"{TOLD}?way=slow{at}" for at in ("", "_events", "_batches"))
SANITIZED = os.environ["RTL_TEST_SANITIZE"]  # they have their own words for a crash
LONG = int(os.environ.get("RTL_TEST_LONG", 1))  # scripts/soak: so many times as many


def rounds(count):
    """How often what kills at random is tried; with sanitizers, which take ten times as long, a fourth."""
    return LONG * (max(1, count // 4) if SANITIZED else count)


NO_GROWTH = {"RTL_BUFFER_TOTAL": "128M"}  # all of it for first rings: a full one makes its thread wait


# The page of a collector, core/format/session.h: the word `ended` in it, then the collector's pid.
SESSION_ENDED, SESSION_BYTES = 65500, 65536


def session_page():
    """The page of a collector that is this process, and has not ended."""
    head = b"RTLSESSN" + struct.pack("<II", 3, 0)
    page = head + bytes(SESSION_ENDED - len(head)) + struct.pack("<IIi", 0, 0, os.getpid())
    return page + bytes(SESSION_BYTES - len(page))


def session_ends(file):
    """Has the collector say that it has ended, in its page."""
    file.seek(SESSION_ENDED)
    file.write(struct.pack("<I", 1))
    file.flush()


class Load:
    """A program that publishes as fast as it can and counts, in a file that outlives it (recover/publish.c)."""

    def __init__(self, path):
        self.path = path
        with open(path, "wb") as file:
            file.write(bytes(8 * STREAMS * THREADS + 8))
        self.file = open(path, "r+b")
        self.map = mmap.mmap(self.file.fileno(), 0)

    def counts(self):
        return struct.unpack_from(f"<{STREAMS * THREADS}Q", self.map, 0)

    def is_ready(self):
        return struct.unpack_from("<I", self.map, 8 * STREAMS * THREADS)[0]

    def processes(self):
        """Those that work for it."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    if self.path.encode() in file.read().split(b"\0"):
                        found.append(int(pid))
            except OSError:
                pass
        return found

    def kill(self, other=None):
        """All of them but one."""
        for pid in self.processes():
            if pid != other:
                os.kill(pid, signal.SIGKILL)

    def stop(self):
        struct.pack_into("<I", self.map, 8 * STREAMS * THREADS + 4, 1)

    def close(self):
        self.map.close()
        self.file.close()


def tmpfs_works():
    return shutil.which("unshare") and subprocess.run(
        ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"], check=False,
        capture_output=True).returncode == 0


TMPFS = tmpfs_works()


class Case(unittest.TestCase):
    """
    Each test has a folder of its own, which is the working directory of what it runs, and one for
    the spools, in memory as by default, in which nothing may be left.
    """

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="rtl test ")
        self.addCleanup(shutil.rmtree, self.folder)
        self.spool = tempfile.mkdtemp(prefix="test-rtl-",
                                      dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.addCleanup(shutil.rmtree, self.spool)
        self.addCleanup(lambda: self.assertEqual(os.listdir(self.spool), []))

    leaks = False  # looked for: it takes as long as most commands themselves, so a suite of each kind does

    def environment(self, env=None):
        asan = os.environ.get("ASAN_OPTIONS", "") + ("" if self.leaks else ":detect_leaks=0")
        return {**CLEAN, "RTL_SPOOL": self.spool, **({"ASAN_OPTIONS": asan} if SANITIZED else {}), **(env or {})}

    def in_spool(self):
        """The one folder that is there."""
        name, = os.listdir(self.spool)
        return os.path.join(self.spool, name)

    def wait_until(self, what, seconds=HANG_S):
        end = time.monotonic() + seconds
        while not what():
            self.assertLess(time.monotonic(), end, "it did not come")
            time.sleep(0.01)

    def settled(self, *pids):
        """Waits until none of these processes has a signal that it has not handled: each thread of
        theirs sleeps or is stopped, and none is pending."""
        def sleeps(task):
            try:
                with open(f"{task}/status", encoding="utf-8") as file:
                    status = dict(line.split(":\t", 1) for line in file)
            except (FileNotFoundError, ProcessLookupError):
                return False  # it has just ended: look again
            pending = int(status["SigPnd"], 16) | int(status["ShdPnd"], 16)
            return status["State"][0] in "STt" and not pending
        self.wait_until(lambda: all(sleeps(task) for pid in pids
                                    for task in glob.glob(f"/proc/{pid}/task/*")))

    def path(self, name):
        return os.path.join(self.folder, name)

    def rtl(self, *arguments, env=None, **more):
        return subprocess.run([RTL, *arguments], cwd=self.folder, env=self.environment(env),
                              capture_output=True, text=True, timeout=HANG_S, check=False, **more)

    def start(self, *arguments, env=None, **more):
        return subprocess.Popen([RTL, *arguments], cwd=self.folder, env=self.environment(env),
                                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def line(self, child):
        """Has a program that publishes for each line do it once; how many events it published."""
        child.stdin.write("on\n")
        child.stdin.flush()
        return int(child.stdout.readline())

    def killed_at(self, count, *command, env=None):
        """Kills a command, with all that it has started, at that system call (kill_at.c). How many
        calls there were."""
        done = subprocess.run([KILL_AT, str(count), *command], cwd=self.folder,
                              env=self.environment(env), stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL, timeout=HANG_S, check=False)
        if done.returncode == 77:
            self.skipTest("processes cannot be traced here (ptrace)")
        self.assertEqual(done.returncode, 0)
        return int(done.stdout.splitlines()[-1])

    def refused(self, status, part, *arguments, **more):
        """One line on stderr that contains part, and that exit status; nothing on stdout."""
        done = self.rtl(*arguments, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("rtl: "), done.stderr)
        self.assertIn(part, done.stderr)

    def operations(self, name):
        """GPU operations in a trace; each must be there once."""
        return self.ask(name, "SELECT count(*) FROM rocpd_op")[0][0]

    def ask(self, name, sql, values=()):
        """What a query of a trace answers, or does."""
        with contextlib.closing(sqlite3.connect(self.path(name))) as database, database:
            return database.execute(sql, values).fetchall()

    def script(self, name, text):
        with contextlib.closing(sqlite3.connect(self.path(name))) as database:
            database.executescript(text)

    def insert(self, name, sql, rows):
        with contextlib.closing(sqlite3.connect(self.path(name))) as database, database:
            database.executemany(sql, rows)

    def has_table(self, name, table):
        """False, too, where there is no file."""
        return os.path.exists(self.path(name)) and bool(
            self.ask(name, f"SELECT 1 FROM sqlite_master WHERE name = '{table}'"))

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)


class Faults(Case):
    def lines(self, *command, way="lines", count="1000", env=None):
        """A program that publishes for each line."""
        return subprocess.Popen([*command, PROGRAM, count, way], cwd=self.folder, text=True,
                                env=self.environment(env), start_new_session=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def end(self, child):
        _, err = child.communicate(timeout=HANG_S)
        return err

    def packets(self, name):
        """How many dispatches; each must be there once, and none be missing before the last."""
        (count, different, last), = self.ask(
            name, "SELECT count(*), count(DISTINCT packet_id), max(packet_id) FROM rtl_dispatch")
        self.assertEqual((count, different), (count, count))
        self.assertEqual(count, 0 if last is None else last + 1)
        return count

    def packets_if_any(self, name):
        """The same; 0 where there is no file, or there are no tables in it yet."""
        return self.packets(name) if self.has_table(name, "rtl_dispatch") else 0

    def ledger(self, name):
        return self.ask(name, "SELECT sum(published), sum(delivered), sum(discarded), sum(abandoned) "
                        "FROM rtl_ledger WHERE stream = 'rtl.hsa'")[0]

    def losses(self, name):
        return dict(self.ask(name, "SELECT cause, count FROM rtl_loss WHERE stream = 'rtl.hsa'"))

    def clear(self):
        for name in os.listdir(self.spool):
            shutil.rmtree(os.path.join(self.spool, name))
