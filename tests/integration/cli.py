#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The command line `rtl`, without ROCm. The programs that it traces are shell commands, and
RTL_TEST_PROGRAM, which publishes dispatches without a GPU (cli_program.c).
"""

import contextlib
import fcntl
import glob
import json
import os
import pty
import random
import re
import shlex
import shutil
import signal
import sqlite3
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
PYTHON = sys.executable
# Longer than anything takes on a machine that is slow and has other work: what hangs ends the test.
HANG_S = 300
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("RTL_", "HSA_"))}
# Of rtl trace: a collector with a sanitizer cannot be preloaded.
DEFAULT_MODE = "standard" if os.environ["RTL_TEST_SANITIZE"] else "hip"


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

    def environment(self, env=None):
        return {**CLEAN, "RTL_SPOOL": self.spool, **(env or {})}

    def in_spool(self):
        """The one folder that is there."""
        name, = os.listdir(self.spool)
        return os.path.join(self.spool, name)

    def wait_until(self, what, seconds=HANG_S):
        end = time.monotonic() + seconds
        while not what():
            self.assertLess(time.monotonic(), end, "it did not come")
            time.sleep(0.01)

    def path(self, name):
        return os.path.join(self.folder, name)

    def rtl(self, *arguments, env=None, **more):
        return subprocess.run([RTL, *arguments], cwd=self.folder, env=self.environment(env),
                              capture_output=True, text=True, timeout=HANG_S, check=False, **more)

    def start(self, *arguments, **more):
        return subprocess.Popen([RTL, *arguments], cwd=self.folder, env=self.environment(),
                                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

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
        database = sqlite3.connect(self.path(name))
        count = database.execute("SELECT count(*) FROM rocpd_op").fetchone()[0]
        database.close()
        return count

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)


class BadInput(Case):
    """Each bad input gives one clear line and a status; no command is run."""

    def test_command_line(self):
        self.refused(2, "no command given; `rtl --help`")
        self.refused(2, "unknown command 'trce'", "trce")
        self.refused(2, "unknown option '--foo'", "--foo")
        self.refused(2, "trace: unknown option '--foo'; `rtl trace --help`", "trace", "--foo", "true")
        self.refused(2, "trace: unknown option '-Z'", "trace", "-qZ", "true")
        self.refused(2, "--output needs a value", "trace", "-o")
        self.refused(2, "no value can be given to '--strict'", "trace", "--strict=1", "true")
        self.refused(2, "give a command to run", "trace", "-q")
        self.refused(2, "give a command to run", "trace", "--")
        self.refused(2, "name of the command is empty", "trace", "")
        self.refused(2, "give the file", "summary")
        self.refused(2, "give the file of a trace, or a folder", "info")
        self.refused(2, "one file or folder at a time; 'b'", "info", "a", "b")
        self.refused(2, "give the folder of a recording", "replay")
        self.refused(2, "one folder at a time; 'b'", "replay", "a", "b")
        self.refused(2, "recover: give the folder", "recover", "-o", "x.db")
        self.refused(2, "'x' is neither the process", "start", "x")
        self.refused(2, "one session at a time; 'b'", "stop", "a", "b")
        self.refused(2, "one file at a time", "summary", "a", "b")
        self.refused(2, "--top x", "summary", "--top", "x", "a")
        self.refused(2, "'x' is too much", "env", "x")
        self.refused(2, "unknown shell 'cmd'", "env", "--shell", "cmd")
        self.refused(2, "'x' is too much", "list-subscribers", "x")

    def test_mode(self):
        self.refused(2, "unknown mode 'fast'; the modes are lite", "trace", "-m", "fast", "true")
        self.refused(2, "unknown mode 'fast'", "env", "--mode=fast")
        self.refused(2, "unknown mode ''", "trace", "-m", "", "true")
        for command in (("trace", "true"), ("record", "true"), ("env",)):
            self.refused(2, "unknown mode 'fast' in RTL_MODE; the modes are lite", *command,
                         env={"RTL_MODE": "fast"})

    def test_mode_full(self):
        self.assertIn("RTL_MODE='full'", self.rtl("env", "-m", "full").stdout)

    def test_subscribers(self):
        def bad(status, part, spec):
            self.refused(status, part, "trace", "-s", spec, "touch", "ran")
            self.refused(status, part, "env", "-s", spec)
        bad(1, "'libnone_sub.so' not found", "libnone_sub.so")
        bad(1, "'./libnone_sub.so': there is no such file", "libstats_sub.so:./libnone_sub.so")
        bad(1, "is no subscriber", PLUGINS + "/libnosymbol_sub.so")
        bad(1, "version 7.3 of the plugin ABI", PLUGINS + "/libmajor_sub.so")
        bad(1, "libgone-for-test.so.1", PLUGINS + "/libdependent_sub.so")
        bad(1, "cannot be loaded", self.write("libtext_sub.so", "text"))
        bad(2, "no setting 'outptu'; it knows: output", "libstats_sub.so?outptu=x")
        bad(2, "bad %XX", "libstats_sub.so?output=%zz")
        bad(2, "bad %XX in its name", "libstats%_sub.so")
        bad(2, "list of subscribers is empty", "::")
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_output(self):
        def bad(status, part, *arguments):
            self.refused(status, part, "trace", *arguments, "touch", "ran")
        bad(1, "/nonexistent: No such file", "-o", "/nonexistent/x.db")
        bad(1, "is a folder", "-o", self.folder)
        bad(1, "is a folder", "-o", "new/")
        bad(1, "exists and is no trace", "-o", self.write("precious", "text"))
        sqlite3.connect(self.path("other.db")).execute("CREATE TABLE t (a)").connection.close()
        bad(1, "exists and is no trace", "-o", "other.db")
        bad(2, "no subscriber in the list takes a file", "-o", "x", "-s", "libstats_sub.so?output=y")
        # also where it is the program that would find out
        for place in ((), ("--in-process",)):
            for name in ("stats", "sqlite"):
                bad(1, "/nonexistent: No such file", *place, "-s",
                    f"lib{name}_sub.so?output=/nonexistent/%25p.x")
                bad(1, "is a folder", *place, "-s", f"lib{name}_sub.so?output=.")
        self.refused(1, "/nonexistent: No such file", "env", "-s",
                     "libstats_sub.so?output=/nonexistent/x")
        self.assertFalse(os.path.exists(self.path("ran")))
        with open(self.path("precious"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "text")

    def test_spool(self):
        self.refused(1, "cannot be created (File name too long)", "trace", "-o", "x" * 300, "true")
        self.refused(1, "cannot make a folder for the spools in /nonexistent: No such file",
                     "trace", "--spool", "/nonexistent", "touch", "ran")
        self.refused(2, "--spool: the name of the folder is empty", "trace", "--spool", "", "true")
        self.refused(1, "cannot make a folder for the spools in", "trace", "touch", "ran",
                     env={"RTL_SPOOL": self.write("file", "")})
        self.assertEqual(os.listdir(self.folder), ["file"])

    def test_folders(self):
        for verb in ("replay", "recover", "info"):
            self.refused(1, "No such file" if verb == "info" else "there is no such folder", verb,
                         "/nonexistent")
        for verb in ("replay", "recover", "info"):
            self.refused(1, "holds nothing of rtl's", verb, self.folder)
        os.mkdir(self.path("damaged"))
        self.write("damaged/control", "")
        for verb in ("replay", "recover", "info"):
            self.refused(1, "damaged is damaged, or was written by another version", verb,
                         "damaged")
        os.rename(self.path("damaged/control"), self.path("damaged/session"))
        for verb in ("replay", "recover", "info"):
            self.refused(1, "damaged is damaged, or was written by another version", verb,
                         "damaged")
        self.refused(1, "is not the folder of a running rtl", "stop", self.folder)
        self.refused(1, "no running `rtl trace` with the process number 1", "start", "1")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_output_not_writable(self):
        os.chmod(self.folder, 0o500)
        self.addCleanup(os.chmod, self.folder, 0o700)
        self.refused(1, "Permission denied", "trace", "true")

    def test_command(self):
        self.refused(127, "nonexistent-command: there is no such command in PATH", "trace",
                     "nonexistent-command")
        self.refused(127, "./none: No such file", "trace", "./none")
        self.refused(126, "Permission denied", "trace", self.write("data", "text"))
        script = self.write("script", "#!/nonexistent/interpreter\n")
        os.chmod(script, 0o755)
        self.refused(127, "interpreter that it names is not", "trace", script)
        self.refused(126, "Permission denied", "trace", self.folder)

    def test_no_trace(self):
        self.refused(1, "none.db: No such file", "summary", "none.db")
        self.refused(1, "is no trace but a folder", "summary", self.folder)
        self.refused(1, "not an SQLite database", "summary", self.write("text", "text" * 1000))
        self.refused(1, "the file is empty", "summary", self.write("empty", ""))
        sqlite3.connect(self.path("other.db")).execute("CREATE TABLE t (a)").connection.close()
        self.refused(1, "other.db is no trace: the database has no table rocpd_op", "summary",
                     "other.db")

    def test_libraries(self):
        done = self.rtl("list-streams", "./none.so")
        self.assertEqual(done.returncode, 1)
        self.assertIn("library ./none.so cannot be loaded", done.stderr)
        done = self.rtl("list-streams", PLUGINS + "/libgood_sub.so")
        self.assertEqual(done.returncode, 1)
        self.assertIn("libgood_sub.so publishes no streams", done.stderr)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_full_disk(self):
        for arguments in (["--help"], ["env"], ["list-streams"], ["trace", "--help"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([RTL, *arguments], stdout=full, stderr=subprocess.PIPE,
                                      env=CLEAN, text=True, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("cannot write to stdout: No space left", done.stderr)


class Run(Case):
    """The command runs as if rtl were not there."""

    def test_exit_status(self):
        for status in (0, 1, 3, 77, 126, 127, 255):
            done = self.rtl("trace", "sh", "-c", f"exit {status}")
            self.assertEqual(done.returncode, status)

    def test_ended_by_a_signal(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGABRT,
                       signal.SIGSEGV, signal.SIGHUP, signal.SIGPIPE):
            done = self.rtl("trace", "sh", "-c", f"kill -{int(number)} $$")
            self.assertEqual(done.returncode, -number)
            self.assertIn("nothing was recorded", done.stderr)

    def test_shell_sees_128_and_the_signal(self):
        done = subprocess.run(["sh", "-c", '"$0" trace sh -c "kill -9 \\$\\$"; echo $?', RTL],
                              cwd=self.folder, env=CLEAN, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "137\n")

    def test_no_core_of_rtl(self):
        done = subprocess.run(
            ["sh", "-c", 'ulimit -c unlimited; exec "$0" trace sh -c "ulimit -c 0; kill -SEGV \\$\\$"',
             RTL], cwd=self.folder, env=CLEAN, capture_output=True, check=False)
        self.assertEqual(done.returncode, -signal.SIGSEGV)
        self.assertEqual([f for f in os.listdir(self.folder) if "core" in f], [])

    @unittest.skipIf(os.environ["RTL_TEST_SANITIZE"], "nothing can be preloaded before a sanitizer")
    def test_allocates_nothing_between_fork_and_exec(self):
        """rtl has threads then: what they hold stays locked in the child."""
        preload = {"LD_PRELOAD": os.environ["RTL_TEST_FORK_MALLOC"]}
        done = subprocess.run([PYTHON, "-c", "import os; os.fork() or exit(); os._exit(os.wait()[1] >> 8)"],
                              env=self.environment(preload), capture_output=True, check=False)
        self.assertEqual(done.returncode, 98, done.stderr)  # it is noticed
        for way in (("trace", "-q", "-o", "run.db"), ("trace", "-q", "--in-process", "-o", "run.db"),
                    ("record", "-q", "-o", "run.rec")):
            done = self.rtl(*way, PROGRAM, "10", env=preload)
            self.assertEqual((done.returncode, done.stderr), (0, ""), way)

    @unittest.skipIf("thread" in os.environ["RTL_TEST_SANITIZE"],
                     "ThreadSanitizer writes a file of its own before main")
    def test_files_may_not_grow(self):
        """rtl says what it cannot write; the command runs, and gets its signal."""
        for blocks, status in ((0, 1), (1000, 0)):
            done = subprocess.run(["bash", "-c", 'ulimit -f $1; "$0" trace -q -o run.db true', RTL,
                                   str(blocks)], cwd=self.folder, env=self.environment(),
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, status, done.stderr)
        done = self.rtl("trace", "-q", "-o", "run.db", "bash", "-c",
                        "ulimit -f 1; exec head -c 100000 /dev/zero >large")
        self.assertEqual(done.returncode, -signal.SIGXFSZ, done.stderr)

    def test_nobody_reads(self):
        """Lines that nobody reads are no end of rtl's, nor of the command's."""
        state = "grep ^Sig[BIC] /proc/self/status"
        alone = subprocess.run(["sh", "-c", state], env=CLEAN, capture_output=True, check=True).stdout
        for way in (("trace", "-o", "run.db"), ("trace", "--in-process", "-o", "run.db"),
                    ("record", "-o", "run.rec")):
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run([RTL, *way, "sh", "-c", f'"$0" 10 >&2 && {state}', PROGRAM],
                                  cwd=self.folder, env=self.environment({"RTL_LOG": "debug"}),
                                  stdout=subprocess.PIPE, stderr=writer, timeout=HANG_S, check=False)
            os.close(writer)
            self.assertEqual((done.returncode, done.stdout), (0, alone), way)
            shutil.rmtree(self.path("run.rec"), ignore_errors=True)

    def test_listing_unread(self):
        """As any command that lists: quietly, by the signal."""
        done = subprocess.run(["bash", "-c", '"$0" list-streams | true; echo ${PIPESTATUS[0]}', RTL],
                              env=self.environment(), capture_output=True, text=True, check=True)
        self.assertIn(done.stdout, ("141\n", "0\n"))  # 0: it was faster than the other one
        self.assertEqual(done.stderr, "")

    def test_standard_files(self):
        text = "".join(f"line {i}\n" for i in range(100000))
        done = self.rtl("trace", "sh", "-c", "cat; echo to stderr >&2", input=text)
        self.assertEqual(done.stdout, text)
        self.assertIn("to stderr\n", done.stderr)

    def test_closed_standard_files(self):
        done = subprocess.run(["sh", "-c", '"$0" trace -q sh -c "exit 5" <&- >&- 2>&-', RTL],
                              cwd=self.folder, env=CLEAN, check=False)
        self.assertEqual(done.returncode, 5)

    def test_arguments_are_not_touched(self):
        arguments = ["$(touch x)", "a b", "", "*", "-o", "--", "'\"\\", "`id`", "é\n"]
        done = self.rtl("trace", "--", PYTHON, "-c", "import sys; print(sys.argv[1:])", *arguments)
        self.assertEqual(done.stdout, f"{arguments}\n")
        self.assertEqual(os.listdir(self.folder), [])

    def test_options_after_the_command_are_its_own(self):
        done = self.rtl("trace", "echo", "-o", "--strict")
        self.assertEqual(done.stdout, "-o --strict\n")

    def test_no_file_descriptors_left_open(self):
        code = "import os; print(os.listdir('/proc/self/fd'))"
        plain = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(self.rtl("trace", PYTHON, "-c", code).stdout, plain.stdout)

    def test_process_group_and_signal_state(self):
        code = ("import os, re; s = open('/proc/self/status').read(); "
                "print(os.getpgrp(), os.getsid(0), re.findall('Sig(?:Blk|Ign):.*', s))")

        def prepare():
            for number in (signal.SIGHUP, signal.SIGCHLD):
                signal.signal(number, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
            os.setpgid(0, group)

        def state(*command):
            return subprocess.run([*command, PYTHON, "-c", code], cwd=self.folder, env=CLEAN,
                                  capture_output=True, text=True, check=True,
                                  preexec_fn=prepare).stdout
        keeper = subprocess.Popen(["sleep", "60"], preexec_fn=os.setpgrp)
        group = keeper.pid
        try:
            self.assertEqual(state(RTL, "trace"), state())
        finally:
            keeper.kill()
            keeper.wait()

    def test_no_process_is_left(self):
        done = self.start("trace", "-q", "sh", "-c", "exit 0", start_new_session=True)
        done.communicate()
        with self.assertRaises(ProcessLookupError):
            os.killpg(done.pid, 0)

    def test_start_up(self):
        best = min(self.timed(RTL, "trace", "-q", "true") for _ in range(20))
        plain = min(self.timed("true") for _ in range(20))
        print(f"start-up and end: {1e3 * (best - plain):.2f} ms", file=sys.stderr)
        self.assertLess(best - plain, 2)  # it waits for nothing; tests measure no speed

    def timed(self, *command):
        begin = time.monotonic()
        subprocess.run(command, cwd=self.folder, env=CLEAN, stderr=subprocess.DEVNULL, check=True)
        return time.monotonic() - begin


# Counts each signal that it gets, prints the counts when stdin ends.
COUNTER = """
import signal, sys
counts = {}
def count(number, frame):
    name = signal.Signals(number).name if number < 32 else str(number)
    counts[name] = counts.get(name, 0) + 1
for number in map(int, sys.argv[1:]):
    signal.signal(number, count)
print("ready", flush=True)
while True:
    line = sys.stdin.readline()
    if line.startswith("show"):
        print(counts, *line.split()[1:], flush=True)
    elif not line:
        break
"""


class Signals(Case):
    """Signals reach the command, once."""

    def counter(self, *numbers, **more):
        child = self.start("trace", "-q", PYTHON, "-c", COUNTER, *map(str, map(int, numbers)),
                           stdin=subprocess.PIPE, start_new_session=True, **more)
        self.addCleanup(self.finish, child)
        self.assertEqual(child.stdout.readline(), "ready\n")
        return child

    def finish(self, child):
        child.stdin.close()
        child.wait(HANG_S)
        child.stdout.close()
        child.stderr.close()

    def show(self, child):
        child.stdin.write("show\n")
        child.stdin.flush()
        return eval(child.stdout.readline())

    def counts(self, child, expected):
        """The counts when there are so many, and some time more has passed."""
        end = time.monotonic() + HANG_S
        while sum(self.show(child).values()) < expected and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(0.2)
        return self.show(child)

    SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1,
               signal.SIGUSR2, signal.SIGALRM, signal.SIGWINCH, signal.SIGCONT)

    def test_sent_to_rtl__passed_on_once(self):
        child = self.counter(*self.SIGNALS)
        for number in self.SIGNALS:
            os.kill(child.pid, number)
        self.assertEqual(self.counts(child, len(self.SIGNALS)),
                         {n.name: 1 for n in self.SIGNALS})

    def test_sent_to_the_group__once(self):
        child = self.counter(*self.SIGNALS)
        for number in self.SIGNALS:
            os.killpg(child.pid, number)
            time.sleep(0.02)
        self.assertEqual(self.counts(child, len(self.SIGNALS)),
                         {n.name: 1 for n in self.SIGNALS})
        os.killpg(child.pid, signal.SIGINT)
        self.counts(child, len(self.SIGNALS) + 1)
        os.kill(child.pid, signal.SIGINT)
        self.assertEqual(self.counts(child, len(self.SIGNALS) + 2)["SIGINT"], 3)

    def test_command_ignores_it__rtl_stays(self):
        child = self.start("trace", "-q", "sh", "-c", "trap '' TERM; echo on; read x; echo off",
                           start_new_session=True, stdin=subprocess.PIPE)
        self.assertEqual(child.stdout.readline(), "on\n")
        os.kill(child.pid, signal.SIGTERM)
        time.sleep(0.3)  # rtl would end
        out, _ = child.communicate("go\n", timeout=HANG_S)
        self.assertEqual((out, child.returncode), ("off\n", 0))

    def test_command_handles_it__its_status(self):
        child = self.start("trace", "-q", PYTHON, "-c",
                           "import signal, sys; signal.signal(15, lambda *a: sys.exit(42)); "
                           "print('on', flush=True); signal.pause()")
        self.assertEqual(child.stdout.readline(), "on\n")
        os.kill(child.pid, signal.SIGTERM)
        child.communicate(timeout=HANG_S)
        self.assertEqual(child.returncode, 42)

    def test_command_dies_of_it__rtl_too(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            child = self.start("trace", "sh", "-c", "echo on; exec sleep 300")
            child.stdout.readline()
            os.kill(child.pid, number)
            _, err = child.communicate(timeout=HANG_S)
            self.assertEqual(child.returncode, -number)
            self.assertIn("nothing was recorded", err)

    def test_group_is_interrupted__summary_and_death(self):
        child = self.start("trace", "sh", "-c", "echo on; exec sleep 300", start_new_session=True)
        child.stdout.readline()
        os.killpg(child.pid, signal.SIGINT)
        _, err = child.communicate(timeout=HANG_S)
        self.assertEqual(child.returncode, -signal.SIGINT)
        self.assertIn("nothing was recorded", err)

    def test_command_is_killed(self):
        child = self.start("trace", "sh", "-c", "echo $$; exec sleep 300")
        os.kill(int(child.stdout.readline()), signal.SIGKILL)
        child.communicate(timeout=HANG_S)
        self.assertEqual(child.returncode, -signal.SIGKILL)

    def test_rtl_is_killed__command_runs_on(self):
        child = self.start("trace", "sh", "-c", "echo on; read x; echo done > end",
                           start_new_session=True, stdin=subprocess.PIPE)
        child.stdout.readline()
        os.kill(child.pid, signal.SIGKILL)
        child.wait(HANG_S)
        child.communicate("go\n", timeout=HANG_S)
        with open(self.path("end"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "done\n")
        self.assertEqual(self.rtl("recover", self.in_spool()).returncode, 0)

    def test_command_is_stopped_by_another__rtl_is_not(self):
        child = self.start("trace", "-q", "sh", "-c", "echo $$; read x; exit 6",
                           start_new_session=True, stdin=subprocess.PIPE)
        pid = int(child.stdout.readline())
        os.kill(pid, signal.SIGSTOP)
        time.sleep(0.5)
        self.assertIsNone(child.poll())
        os.kill(pid, signal.SIGCONT)
        child.communicate("go\n", timeout=HANG_S)
        self.assertEqual(child.returncode, 6)

    def test_real_time_signal__passed_on(self):
        child = self.counter(signal.SIGRTMIN + 3)
        os.kill(child.pid, signal.SIGRTMIN + 3)
        self.assertEqual(list(self.counts(child, 1).values()), [1])


class Hangup(Case):
    """A terminal that goes away, of which nobody but the session's leader is told: rtl."""

    def ended_by(self, pid):
        """The signal, once it has ended."""
        status = 0

        def has_ended():
            nonlocal status
            done, status = os.waitpid(pid, os.WNOHANG)
            return done
        self.wait_until(has_ended)
        return os.WIFSIGNALED(status) and os.WTERMSIG(status)

    def hang_up(self, prepare):
        leader, terminal = pty.fork()
        if not leader:
            os.chdir(self.folder)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            os.execve(RTL, ["rtl", "trace", "-o", "run.db", PROGRAM, "10", "stay"],
                      self.environment())
        seen = b""
        while not re.search(rb"(\d+)\r?\n", seen):
            seen += os.read(terminal, 4096)
        command = int(re.search(rb"(\d+)\r?\n", seen).group(1))
        self.addCleanup(self.kill_quietly, command)
        prepare(command)
        os.close(terminal)
        self.assertEqual(self.ended_by(leader), signal.SIGHUP)
        self.assertEqual(self.operations("run.db"), 10)
        self.assertIn("state: complete\n", self.rtl("info", "run.db").stdout)

    @staticmethod
    def kill_quietly(pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def test_terminal_is_gone__both_end(self):
        self.hang_up(lambda command: None)

    def test_terminal_is_gone_while_the_command_is_stopped__both_end(self):
        def stop(command):
            os.kill(command, signal.SIGSTOP)

            def is_stopped():
                with open(f"/proc/{command}/stat", encoding="utf-8") as file:
                    return file.read().rsplit(")", 1)[1].split()[0] == "T"
            self.wait_until(is_stopped)
        self.hang_up(stop)


class Terminal(Case):
    """A shell with job control on a terminal."""

    def setUp(self):
        super().setUp()
        self.shell, self.terminal = pty.fork()
        if not self.shell:
            os.chdir(self.folder)
            os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "-i"],
                      {**self.environment(), "PS1": "PROMPT\\n", "TERM": "dumb", "HISTFILE": ""})
        self.seen = ""
        self.addCleanup(self.end_shell)
        self.wait_for("PROMPT")

    def end_shell(self):
        os.kill(self.shell, signal.SIGKILL)
        os.close(self.terminal)
        os.waitpid(self.shell, 0)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait_for(self, part, seconds=HANG_S, ask="", every=0.3):
        """Reads until part has been seen, and types `ask` now and then; forgets what came before."""
        os.set_blocking(self.terminal, False)
        end = time.monotonic() + seconds
        asked = 0
        while part not in self.seen:
            if time.monotonic() > end:
                self.fail(f"{part!r} did not come: {self.seen!r}")
            if ask and time.monotonic() > asked + every:
                asked = time.monotonic()
                self.type(ask)
            try:
                self.seen += os.read(self.terminal, 4096).decode(errors="replace")
            except BlockingIOError:
                time.sleep(0.01)
        self.seen = self.seen.split(part, 1)[1]

    def wait_for_stop(self):
        """What is typed soon after may be thrown away with what the terminal had, so ask again."""
        self.wait_for("Stopped")
        self.wait_for("PROMPT")

    def counter(self, *numbers):
        with open(self.path("counter.py"), "w", encoding="utf-8") as file:
            file.write(COUNTER)
        self.type(f"'{RTL}' trace -q {PYTHON} counter.py {' '.join(str(int(n)) for n in numbers)}\n")
        self.wait_for("ready")

    def test_interrupt_from_the_keyboard__once(self):
        self.counter(signal.SIGINT, signal.SIGQUIT)
        self.type("\x03")
        time.sleep(0.3)
        self.type("\x1c")
        time.sleep(0.3)
        self.type("show\n")
        self.wait_for("'SIGINT': 1, 'SIGQUIT': 1")
        self.type("\x04")
        self.wait_for("PROMPT")

    def test_interrupt__ends_both(self):
        self.type(f"'{RTL}' trace sh -c 'echo o''n; exec sleep 300'\n")
        self.wait_for("on")
        self.type("\x03")
        self.wait_for("nothing was recorded")
        self.wait_for("PROMPT")
        self.type("echo status $?\n")
        self.wait_for("status 130")

    def test_stop_and_continue(self):
        self.counter(signal.SIGCONT)
        self.type("\x1a")
        self.wait_for_stop()
        self.wait_for("counter.py", ask="fg\n", every=5)
        self.wait_for("'SIGCONT'", ask="show\n")
        time.sleep(0.3)  # a second one would come
        self.type("show now\n")
        self.wait_for("'SIGCONT': 1} now")
        self.type("\x1a")
        self.wait_for_stop()
        # The shell sends it to the group, and continues that.
        self.wait_for("nothing was recorded", ask="kill %1\n", every=5)
        self.wait_for("Terminated", ask="\n")  # the shell tells at its next prompt

    def test_stop_and_go_on_in_the_background(self):
        self.type(f"'{RTL}' trace -q sh -c 'echo re''ady; until test -e go; do sleep 0.1; done; "
                  "exit 9'\n")
        self.wait_for("ready")
        self.type("\x1a")
        self.wait_for_stop()
        with open(self.path("go"), "w", encoding="utf-8"):
            pass
        self.wait_for("status 9", ask="bg; wait %1; echo status $?\n", every=5)

    def test_command_reads_the_terminal(self):
        self.type(f"'{RTL}' trace -q sh -c 'echo o''n; read a; echo got:$a; test -t 0 -a -t 1 "
                  "-a -t 2'; echo =$?\n")
        self.wait_for("on")
        self.type("some words\n")
        self.wait_for("got:some words")
        self.wait_for("=0")


class Trace(Case):
    """What comes of a run, in files and words."""

    def test_dispatches__database_and_summary(self):
        done = self.rtl("trace", "-o", "run.db", PROGRAM, "1000")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertEqual(self.operations("run.db"), 1000)
        self.assertRegex(done.stderr, r"75\.0% +750 +1\.875ms .* first_kernel\n")
        self.assertRegex(done.stderr, r"25\.0% +250 .* second_kernel\n")
        self.assertIn("GPU 0: busy 2.500ms of 9.992ms (25.0%), idle 7.492ms, 1000 dispatches\n",
                      done.stderr)
        self.assertIn("rtl.hsa: 1000 of 1000 events recorded, 0 lost\n", done.stderr)
        self.assertTrue(done.stderr.endswith(f"\nrtl: trace: {self.path('run.db')}\n"), done.stderr)

    def test_output_as_a_setting__summary_of_that_file(self):
        for way in ((), ("--in-process",)):
            for output, pattern in (("x y.db", "x y.db"), ("a%25%25%25h.db", "a%*.db"),
                                    ("of%25p%25%25*.db", "of*%*.db"),
                                    (self.path("%25e-%25p.db"), "cli_program-*.db")):
                done = self.rtl("trace", *way, "-s",
                                f"libstats_sub.so?output=/dev/null:libsqlite_sub.so?output={output}",
                                PROGRAM, "100")
                self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
                name, = (os.path.basename(path) for path in glob.glob(self.path(pattern)))
                self.assertEqual(self.operations(name), 100)
                self.assertIn("GPU kernels: 100, ", done.stderr)
                self.assertTrue(done.stderr.endswith(f"\nrtl: trace: {self.path(name)}\n"),
                                done.stderr)
                os.unlink(self.path(name))

    def test_output_as_a_setting__older_trace_is_not_taken_for_it(self):
        setting = ("-s", "libsqlite_sub.so?output=x.db")
        self.rtl("trace", *setting, PROGRAM, "10")
        done = self.rtl("trace", *setting, "true")
        self.assertIn("nothing was recorded: no process of the command", done.stderr)
        self.assertNotIn("GPU kernels", done.stderr)

    def test_output_as_a_setting__of_each_process(self):
        done = self.rtl("trace", "--in-process", "-s", "libsqlite_sub.so?output=%25p.db", "sh", "-c",
                        f"'{PROGRAM}' 10; '{PROGRAM}' 20")
        files = glob.glob(self.path("*.db"))
        self.assertEqual(len(files), 2)
        self.assertEqual({f"{kind}: {path}" for path in files for kind in
                          ("trace", "trace of another process")} -
                         set(re.findall(r"rtl: (trace.*: .*)\n", done.stderr)),
                         set(f"{kind}: {path}" for kind, path in
                             zip(("trace of another process", "trace"), sorted(files))))

    def test_default_output__named_after_the_command(self):
        self.rtl("trace", PROGRAM, "10")
        name, = os.listdir(self.folder)
        self.assertRegex(name, r"^rtl-cli_program-\d+\.db$")

    def test_odd_names__written_as_given(self):
        for name in ("a b.db", "100%p.db", "x:y&z=?#.db", "'\"$(id).db", "é.db"):
            done = self.rtl("trace", "-q", "-o", name, PROGRAM, "5")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(self.operations(name), 5)

    def test_relative_output__not_moved_by_chdir(self):
        os.mkdir(self.path("sub"))
        self.rtl("trace", "-o", "run.db", "sh", "-c", f"cd sub && exec '{PROGRAM}' 7")
        self.assertEqual(self.operations("run.db"), 7)

    def test_older_trace__replaced(self):
        self.rtl("trace", "-o", "run.db", PROGRAM, "10")
        self.rtl("trace", "-o", "run.db", PROGRAM, "20")
        self.assertEqual(self.operations("run.db"), 20)

    def test_nothing_recorded__older_trace_is_not_taken_for_it(self):
        self.rtl("trace", "-o", "run.db", PROGRAM, "10")
        for way in ("-q", "--in-process"):
            done = self.rtl("trace", way, "-o", "run.db", "true")
            self.assertIn("nothing was recorded: no process of the command", done.stderr)
            self.assertNotIn("GPU kernels", done.stderr)

    def test_output_is_there_and_empty__written(self):
        for way in ("-q", "--in-process"):
            done = self.rtl("trace", way, "-o", self.write("run.db", ""), PROGRAM, "10")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.operations("run.db"), 10)

    def test_output_is_being_written__other_name_is_said(self):
        first = self.start("trace", "-q", "-o", "run.db", PROGRAM, "10", "lines",
                           stdin=subprocess.PIPE)
        first.stdin.write("1\n")
        first.stdin.flush()
        first.stdout.readline()
        done = self.rtl("trace", "-o", "run.db", PROGRAM, "20")
        name = re.search(r"\nrtl: trace: (.*)\n$", done.stderr).group(1)
        self.assertRegex(done.stderr, "^rtl: sqlite warning: .*run.db: is being written by another "
                                      f"process; writing to {re.escape(name)}\n")
        self.assertIn("GPU kernels: 20, ", done.stderr)
        self.assertEqual(self.operations(name), 20)
        nothing = self.rtl("trace", "-o", "run.db", "true")
        self.assertIn("nothing was recorded", nothing.stderr)
        _, err = first.communicate(timeout=HANG_S)
        self.assertEqual((first.returncode, err), (0, ""))
        self.assertEqual(self.operations("run.db"), 10)
        self.assertEqual(sorted(os.listdir(self.folder)), [os.path.basename(name), "run.db"])

    def test_output_is_taken_away__said_so(self):
        for away, part in ((lambda: os.unlink(self.path("run.db")), "was removed meanwhile"),
                           (lambda: os.rename(self.write("other", "text"), self.path("run.db")),
                            "was replaced meanwhile")):
            child = self.start("trace", "-o", "run.db", PROGRAM, "10", "lines",
                               stdin=subprocess.PIPE)
            child.stdin.write("1\n")
            child.stdin.flush()
            child.stdout.readline()
            away()
            _, err = child.communicate(timeout=HANG_S)
            self.assertEqual(child.returncode, 0)
            # where it went before there were tables, the subscriber has said so first
            self.assertRegex(err, f"(?m)^rtl: there is no trace: .*run.db .*{part}\n\\Z")

    def test_within_another__the_inner_one_records(self):
        for way in ((), ("--in-process",)):
            done = self.rtl("trace", "-o", "outer.db", RTL, "trace", *way, "-o", "inner.db",
                            PROGRAM, "10")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.operations("inner.db"), 10)
            self.assertFalse(os.path.exists(self.path("outer.db")))
            os.unlink(self.path("inner.db"))

    def test_nothing_recorded__no_file(self):
        self.rtl("trace", "-o", "run.db", "true")
        self.assertEqual(os.listdir(self.folder), [])

    def test_command_not_there__older_trace_stays(self):
        self.rtl("trace", "-o", "run.db", PROGRAM, "10")
        self.refused(127, "no such command", "trace", "-o", "run.db", "nonexistent-command")
        self.assertEqual(self.operations("run.db"), 10)

    def test_no_dispatch__said_so(self):
        done = self.rtl("trace", "-o", "run.db", PROGRAM, "0")
        self.assertIn("no GPU operation was recorded", done.stderr)

    def test_cut_off__complete(self):
        for way, status in (("kill", -signal.SIGKILL), ("exit", 0)):
            done = self.rtl("trace", "-o", "run.db", PROGRAM, "1000", way)
            self.assertEqual(done.returncode, status)
            self.assertIn("1000 of 1000 events recorded", done.stderr)
            self.assertTrue(done.stderr.endswith(f"rtl: trace: {self.path('run.db')}\n"))

    def test_cut_off_in_process__said_so(self):
        """Unless the trace is complete all the same; the line to complete it does so."""
        for way, status, reason in (("kill", -signal.SIGKILL, "SIGKILL ended the command"),
                                    ("exit", 0, "ended by _exit")):
            done = self.rtl("trace", "--in-process", "-o", "run.db", PROGRAM, "200000", way)
            self.assertEqual(done.returncode, status)
            self.assertNotIn("nothing was recorded", done.stderr)
            self.assertNotIn("no GPU operation", done.stderr)
            if "200000 of 200000 events recorded" not in done.stderr:
                self.assertRegex(done.stderr, r"^rtl: .*run\.db is not complete: .*" + reason)
                self.assertNotIn("0 lost", done.stderr)
                self.assertNotIn("0 lost", self.rtl("summary", "run.db").stdout)
                line = re.search("(?m)^rtl: what is missing can be had: rtl (.*)$", done.stderr)
                self.rtl(*shlex.split(line.group(1)))
            self.assertEqual(self.operations("run.db"), 200000)
            self.assertIn("200000 of 200000 events recorded", self.rtl("summary", "run.db").stdout)
            self.assertEqual(os.listdir(self.spool), [])

    def test_quiet__nothing_said(self):
        done = self.rtl("trace", "-q", "-o", "run.db", PROGRAM, "10")
        self.assertEqual(done.stderr, "")

    def test_children__one_output(self):
        done = self.rtl("trace", "-o", "run.db", PROGRAM, "10", "children")
        self.assertEqual(os.listdir(self.folder), ["run.db"])
        self.assertEqual(self.operations("run.db"), 30)
        self.assertIn("30 of 30 events recorded", done.stderr)

    def test_children_in_process__files_of_their_own_are_named(self):
        done = self.rtl("trace", "--in-process", "-o", "run.db", PROGRAM, "10", "children")
        files = sorted(f for f in os.listdir(self.folder) if f.endswith(".db"))
        self.assertEqual(len(files), 3, files)
        self.assertEqual(sum(map(self.operations, files)), 30)
        for name in files:
            if name != "run.db":
                self.assertIn(f"trace of another process: {self.path(name)}\n", done.stderr)

    def test_other_subscribers(self):
        done = self.rtl("trace", "-s", "libstats_sub.so?top=1", PROGRAM, "100")
        self.assertEqual(done.returncode, 0)
        self.assertIn("GPU kernels: 100, 250.0us in total", done.stderr)
        self.assertIn("(1 more)", done.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_output_of_another_subscriber(self):
        self.rtl("trace", "-s", "libstats_sub.so?format=json", "-o", "a%20:&.json", PROGRAM, "100")
        with open(self.path("a%20:&.json"), encoding="utf-8") as file:
            rows = json.load(file)["sections"][0]["rows"]
        self.assertEqual([(r["name"], r["count"]) for r in rows],
                         [("first_kernel", 75), ("second_kernel", 25)])

    def test_both_subscribers__same_table(self):
        done = self.rtl("trace", "-s", "libstats_sub.so:libsqlite_sub.so?output=x.db:"
                        "libstats_sub.so?output=stats.txt", PROGRAM, "1000")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("stats.txt"), encoding="utf-8") as file:
            table = file.read().split("\n", 1)[1]
        self.assertIn(table, done.stderr)
        summary = self.rtl("summary", "x.db").stdout.split("\n", 1)[1]
        self.assertEqual(summary, table)

    def test_environment(self):
        done = self.rtl("trace", "-q", "--strict", "-m", "lite", "sh", "-c", "env",
                        env={"HSA_TOOLS_LIB": "libother.so"})
        values = dict(line.split("=", 1) for line in done.stdout.splitlines())
        other, tool = values["HSA_TOOLS_LIB"].split(" ")
        self.assertEqual(other, "libother.so")
        self.assertTrue(os.path.isfile(tool) and tool.endswith("/librtl_rocm.so"))
        self.assertEqual(values["HSA_TOOLS_ROCPROFILER_V1_TOOLS"], "1")
        self.assertEqual((values["RTL_MODE"], values["RTL_STRICT"]), ("lite", "1"))
        self.assertNotIn("RTL_SUBSCRIBERS", values)
        self.assertFalse(os.path.exists(values["RTL_COLLECTOR"]))
        again = self.rtl("trace", "-q", "sh", "-c", "env")
        session = re.search("RTL_SESSION=(.*)", again.stdout).group(1)
        self.assertNotEqual(session, values["RTL_SESSION"])

    @unittest.skipIf(os.environ["RTL_TEST_SANITIZE"],
                     "a library with a sanitizer cannot be preloaded into a shell without")
    def test_environment__modes_with_calls_are_preloaded(self):
        for arguments, env in ((["-m", "hip"], {}), (["-m", "full"], {}), ([], {"RTL_MODE": "hip"}),
                               ([], {})):
            done = self.rtl("trace", "-q", *arguments, "sh", "-c", "env",
                            env={"LD_PRELOAD": "libc.so.6", **env})
            values = dict(line.split("=", 1) for line in done.stdout.splitlines())
            other, ours = values["LD_PRELOAD"].split(":")
            self.assertEqual(other, "libc.so.6")
            self.assertEqual(ours, values["HSA_TOOLS_LIB"])
            again = self.rtl("trace", "-q", *arguments, "sh", "-c", "env",
                             env={"LD_PRELOAD": f"libc.so.6 {ours}", **env})
            self.assertIn(f"\nLD_PRELOAD=libc.so.6 {ours}\n", "\n" + again.stdout)
        for arguments, env in ((["-m", "standard"], {}), ([], {"RTL_MODE": "standard"})):
            done = self.rtl("trace", "-q", *arguments, "sh", "-c", "env", env=env)
            self.assertNotIn("LD_PRELOAD", done.stdout)
            self.assertNotIn("RTL_MODE_FALLBACK", done.stdout)
        done = self.rtl("trace", "-q", "sh", "-c", "env")
        self.assertIn("\nRTL_MODE=hip\n", done.stdout)
        self.assertIn("\nRTL_MODE_FALLBACK=1\n", done.stdout)

    def test_environment_in_process(self):
        done = self.rtl("trace", "-q", "--in-process", "sh", "-c", "env")
        values = dict(line.split("=", 1) for line in done.stdout.splitlines())
        self.assertRegex(values["RTL_SUBSCRIBERS"], r"^/.*/libsqlite_sub\.so\?output=/")
        self.assertNotIn("RTL_COLLECTOR", values)

    def test_subscribers_in_the_environment__taken_away_with_a_line(self):
        done = self.rtl("trace", "-q", "-o", "run.db", "sh", "-c",
                        f"env | grep -c RTL_SUBSCRIBERS; exec '{PROGRAM}' 10",
                        env={"RTL_SUBSCRIBERS": "libnone_sub.so"})
        self.assertEqual(done.stdout, "0\n")
        self.assertRegex(done.stderr, r"^rtl: RTL_SUBSCRIBERS is set and not used: .*\n$")
        self.assertEqual(self.operations("run.db"), 10)

    def test_relative_plugin__passed_on_as_absolute(self):
        shutil.copy(PLUGINS + "/libgood_sub.so", self.path("libhere_sub.so"))
        done = self.rtl("trace", "-q", "--in-process", "-s", "libhere_sub.so", "sh", "-c", "echo $RTL_SUBSCRIBERS")
        self.assertEqual(done.stdout, self.path("libhere_sub.so") + "\n")


    def test_plugin_in_a_folder_with_an_odd_name(self):
        """Colons and question marks have a meaning in the list; so has %XX, in names too."""
        folder = self.path("a:b?c=d&e%41 f")
        os.mkdir(folder)
        for name in ("sqlite", "stats"):
            shutil.copy(f"{BUILD_PLUGINS}/lib{name}_sub.so", folder)
        spec = folder.replace("%", "%25").replace(":", "%3A").replace("?", "%3f")
        for place in ((), ("--in-process",)):
            done = self.rtl("trace", *place, "-o", "run.db", "-s",
                            f"{spec}/libsqlite_sub.so:{spec}/libstats_sub.so?output=stats.txt",
                            PROGRAM, "100")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.operations("run.db"), 100, done.stderr)
            with open(self.path("stats.txt"), encoding="utf-8") as file:
                self.assertIn("GPU kernels: 100, ", file.read())
            os.unlink(self.path("stats.txt"))
        # and found by a name without a slash in such a folder
        done = subprocess.run([RTL, "trace", "-q", "--in-process", "-o", "../own.db", "sh", "-c",
                               f"cd / && exec '{PROGRAM}' 7"], cwd=folder, text=True,
                              env=self.environment(), capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.operations("own.db"), 7)

    def test_output_of_stats__a_file_for_each_process(self):
        self.rtl("trace", "--in-process", "-s", "libstats_sub.so?output=%25e-%25p-%25h%25%25.txt",
                 PROGRAM, "100", "children")
        files = os.listdir(self.folder)
        self.assertEqual(len(files), 3, files)
        for name in files:
            self.assertRegex(name, rf"^cli_program-\d+-{re.escape(os.uname().nodename)}%\.txt$")
            with open(self.path(name), encoding="utf-8") as file:
                self.assertIn("GPU kernels: 100, ", file.read())


class Collector(Case):
    """rtl trace with the subscribers in rtl."""

    SLOW = os.environ["RTL_TEST_SLOW"]

    def traced(self, *arguments, **more):
        return self.start("trace", "-o", "run.db", *arguments, start_new_session=True, **more)

    def test_streams_by_name__only_those(self):
        for patterns, operations in (("rtl.*", 100), ("-rtl.diagnostics", 100), ("*:-rtl.hsa", 0),
                                     ("-*,rtl.h?a", 100), ("other", 0)):
            for place in ((), ("--in-process",)):
                done = self.rtl("trace", *place, "-o", "run.db", PROGRAM, "100", "print",
                                env={"RTL_STREAMS": patterns})
                self.assertEqual(done.returncode, 0, done.stderr)
                with self.subTest(patterns=patterns, place=place):
                    self.assertEqual(self.operations("run.db"), operations)
                    self.assertEqual(f"operation was recorded: RTL_STREAMS={patterns} leaves out"
                                     in done.stderr, not operations)

    def test_four_children_at_once__one_output(self):
        done = self.rtl("trace", "-o", "run.db", "sh", "-c",
                        f"for i in 1 2 3 4; do '{PROGRAM}' 25000 & done; wait")
        self.assertIn("100000 of 100000 events recorded", done.stderr)
        self.assertEqual(self.operations("run.db"), 100000)

    def test_exec__both_programs(self):
        self.rtl("trace", "-o", "run.db", PROGRAM, "1000", "exec")
        self.assertEqual(self.operations("run.db"), 2000)

    def test_spool_option__used(self):
        os.mkdir(self.path("here"))
        done = self.rtl("trace", "-q", "--spool", "here", "sh", "-c", "echo $RTL_COLLECTOR",
                        env={"RTL_SPOOL": "/nonexistent"})
        self.assertTrue(done.stdout.startswith(self.path("here") + "/rtl-"), done.stdout)
        self.assertEqual(os.listdir(self.path("here")), [])

    def test_interrupted__complete(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            child = self.traced(PROGRAM, "1000", "stay")
            child.stdout.readline()
            os.killpg(child.pid, number)
            _, err = child.communicate(timeout=HANG_S)
            self.assertEqual(child.returncode, -number)
            self.assertIn("1000 of 1000 events recorded", err)

    def test_rtl_terminated__complete(self):
        child = self.traced(PROGRAM, "1000", "stay")
        child.stdout.readline()
        os.kill(child.pid, signal.SIGTERM)
        _, err = child.communicate(timeout=HANG_S)
        self.assertEqual(child.returncode, -signal.SIGTERM)
        self.assertIn("1000 of 1000 events recorded", err)

    def test_process_outlives_the_command__told_counted_nothing_left(self):
        child = self.traced("sh", "-c", f"'{PROGRAM}' 5 stay >pid 2>/dev/null & "
                            "until test -s pid; do sleep 0.01; done")
        _, err = child.communicate(timeout=HANG_S)
        with open(self.path("pid"), encoding="utf-8") as file:
            os.kill(int(file.read()), signal.SIGKILL)
        self.assertEqual(child.returncode, 0)
        self.assertIn("rtl: 1 process of the command still runs; what it does from now on is not "
                      "recorded\n", err)
        self.assertEqual(self.operations("run.db"), 5)

    def test_daemon__neither_waited_for_nor_harmed(self):
        os.mkfifo(self.path("fifo"))
        for options in ((), ("--strict",)):
            script = f"echo >begun; read x <fifo; '{PROGRAM}' 7 print >daemon; echo $? >status"
            child = self.traced(*options, "sh", "-c",
                                f"setsid sh -c {shlex.quote(script)} </dev/null >/dev/null 2>err & "
                                "until test -e begun; do sleep 0.01; done")
            child.communicate(timeout=HANG_S)
            self.assertEqual(child.returncode, 0)
            with open(self.path("fifo"), "w", encoding="utf-8") as file:
                file.write("go\n")
            self.wait_until(lambda: os.path.exists(self.path("status"))
                            and os.path.getsize(self.path("status")))
            texts = []
            for name in ("daemon", "status", "err"):
                with open(self.path(name), encoding="utf-8") as file:
                    texts.append(file.read())
                os.unlink(self.path(name))
            self.assertEqual(texts, ["0\n", "0\n", ""])
            os.unlink(self.path("begun"))

    def slow(self):
        """A trace that is being completed, its command has ended."""
        child = self.traced("-s", f"{self.SLOW}:libsqlite_sub.so", "sh", "-c",
                            f"'{PROGRAM}' 100; exit 3")
        self.wait_until(lambda: os.path.exists(self.path("finishing")))
        return child

    def test_signal_while_completing__completed(self):
        child = self.slow()
        os.killpg(child.pid, signal.SIGINT)
        self.assertIn("the command has ended, its trace is being completed",
                      child.stderr.readline())
        self.write("go", "")
        _, err = child.communicate(timeout=HANG_S)
        self.assertEqual(child.returncode, 3)
        self.assertIn("100 of 100 events recorded", err)

    def test_two_signals_while_completing__ends_and_can_be_recovered(self):
        child = self.slow()
        os.killpg(child.pid, signal.SIGINT)
        child.stderr.readline()
        os.killpg(child.pid, signal.SIGINT)
        _, err = child.communicate(timeout=HANG_S)
        self.assertEqual(child.returncode, -signal.SIGINT)
        self.assertEqual(err, f"rtl: the trace is not complete; `rtl recover {self.in_spool()}` "
                         "completes it\n")
        self.write("go", "")
        done = self.rtl("recover", self.in_spool())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.operations("run.db"), 100)
        self.assertNotIn("not complete", self.rtl("summary", "run.db").stderr)

    def test_idle__no_processor_time(self):
        pid = os.spawnve(os.P_NOWAIT, RTL, [RTL, "trace", "-q", "-o", self.path("idle.db"), "sh",
                                            "-c", f"'{PROGRAM}' 10; exec sleep 3"],
                         self.environment())
        _, status, usage = os.wait4(pid, 0)
        self.assertEqual(status, 0)
        used = usage.ru_utime + usage.ru_stime
        print(f"processor time in 3 s: {1e3 * used:.1f} ms", file=sys.stderr)
        self.assertLess(used, 1)

    def test_subscriber_fails_later__command_is_not_harmed(self):
        done = self.rtl("trace", "-s", PLUGINS + "/libgood_sub.so", PROGRAM, "10", "print")
        self.assertEqual((done.returncode, done.stdout), (0, "0\n"))


class Recover(Case):
    """rtl is killed; rtl recover, replay and info over what it leaves."""

    def has_tables(self):
        """rtl makes them while the command starts."""
        try:
            with contextlib.closing(sqlite3.connect(self.path("run.db"))) as database:
                return database.execute("SELECT count(*) FROM rtl_dispatch").fetchone()
        except sqlite3.OperationalError:
            return None

    def killed(self, *command, when=None):
        """rtl was killed while the command waits for a line."""
        child = self.start("trace", "-o", "run.db", *command, stdin=subprocess.PIPE)
        child.stdin.write("1\n")
        child.stdin.flush()
        published = int(child.stdout.readline())
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

    def test_killed_at_random__each_event_once(self):
        for _ in range(8):
            child = self.start("trace", "-o", "run.db", PROGRAM, "300000", "print")
            self.wait_until(lambda: glob.glob(self.spool + "/rtl-*/rtl-spool-*") or
                            child.poll() is not None)
            time.sleep(random.random() * 0.2)
            child.kill()
            out, _ = child.communicate(timeout=HANG_S)
            if not os.listdir(self.spool):
                continue  # it had ended already
            done = self.rtl("recover", self.in_spool())
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.operations("run.db"), int(out))

    def test_output_of_another_version__refused_and_can_go_elsewhere(self):
        child, before = self.killed(PROGRAM, "3000", "lines", when=self.has_tables)
        after = self.finish(child)
        folder = self.in_spool()
        database = sqlite3.connect(self.path("run.db"))
        database.execute("ALTER TABLE rtl_dispatch DROP COLUMN scope_instance")
        database.commit()
        database.close()
        self.refused(1, "was written by another version of rtl: recover to another file, or with "
                     "that version; the columns differ in rtl_dispatch", "recover", folder)
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
        child.stdin.write("1\n")
        child.stdin.flush()
        child.stdout.readline()
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

    def test_process_that_drained_itself__output_must_be_named(self):
        subprocess.run([PROGRAM, "1000", "kill"], cwd=self.folder, check=False, env=self.environment(
            {"RTL_SUBSCRIBERS": "libstats_sub.so?output=/dev/null"}))
        folder = self.in_spool()
        self.refused(2, "does not say where its events went", "recover", folder)
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

    def test_control_page_gone__rest_replayed_and_said(self):
        self.rtl("record", "-o", "run.rec", PROGRAM, "500", "children")
        first, *_ = sorted(glob.glob(self.path("run.rec/rtl-spool-*")))
        os.unlink(os.path.join(first, "control"))
        done = self.rtl("replay", "-o", "run.db", "run.rec")
        self.assertIn(f"{os.path.basename(first)} has no control page: what was recorded there cannot be read",
                      done.stderr)
        self.assertEqual(self.operations("run.db"), 1000)

    def test_limit__oldest_events_go_and_are_counted(self):
        done = self.rtl("record", "-o", "run.rec", "--limit", "100K", PROGRAM, "100000", "print",
                        env={"RTL_BUFFER_SIZE": "64K", "RTL_BUFFER_TOTAL": "256M"})
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.rtl("replay", "-o", "run.db", "run.rec")
        self.assertEqual(done.returncode, 0, done.stderr)
        left = self.operations("run.db")
        self.assertTrue(0 < left < 100000, left)
        database = sqlite3.connect(self.path("run.db"))
        published, delivered, discarded = database.execute(
            "SELECT published, delivered, discarded FROM rtl_ledger "
            "WHERE stream = 'rtl.hsa' AND process = 1").fetchone()
        database.close()
        self.assertEqual((published, delivered, discarded), (100000, left, 100000 - left))

    def test_killed__recover_completes_the_recording(self):
        child = self.start("record", "-o", "run.rec", PROGRAM, "3000", "lines",
                           stdin=subprocess.PIPE)
        child.stdin.write("1\n")
        child.stdin.flush()
        published = int(child.stdout.readline())
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


class StartStop(Case):
    """rtl start, rtl stop, rtl trace --paused."""

    def line(self, child):
        child.stdin.write("1\n")
        child.stdin.flush()
        return int(child.stdout.readline())

    def publisher(self, *options):
        child = self.start("trace", "-q", "-o", f"run{len(os.listdir(self.spool))}.db", *options,
                           PROGRAM, "100", "lines", stdin=subprocess.PIPE)
        return child, self.line(child)

    def line_until(self, child, wanted):
        """Until all, or none, of a line's events are published; how many were in all."""
        total, got = 0, -1
        end = time.monotonic() + HANG_S
        while got != wanted:
            self.assertLess(time.monotonic(), end)
            got = self.line(child)
            total += got
        return total

    def good(self, *arguments):
        done = self.rtl(*arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_paused_start_stop__only_what_was_published_between(self):
        child, total = self.publisher("--paused")
        self.assertEqual(total, 0)
        self.good("start", self.in_spool())  # not any: other tests may be tracing, too
        total += self.line_until(child, 100)
        self.good("stop", str(child.pid))
        total += self.line_until(child, 0)
        self.assertEqual(self.line(child), 0)
        self.good("start", self.in_spool())
        total += self.line_until(child, 100)
        child.communicate(timeout=HANG_S)
        self.assertEqual(self.operations("run0.db"), total)

    def test_process_that_begins_while_stopped__told(self):
        child = self.start("trace", "-o", "run.db", "sh", "-c", f"read x; '{PROGRAM}' 10 print",
                           stdin=subprocess.PIPE)
        self.wait_until(lambda: os.listdir(self.spool))
        self.wait_until(lambda: self.rtl("stop", self.in_spool()).returncode == 0)
        out, err = child.communicate("go\n", timeout=HANG_S)
        self.assertEqual(out, "0\n")
        self.assertIn("no GPU operation was recorded", err)

    def test_several__refused_and_listed(self):
        first, _ = self.publisher()
        second, _ = self.publisher()
        done = self.rtl("stop")
        self.assertEqual(done.returncode, 2)
        self.assertIn("stop: more than one `rtl trace` runs", done.stderr)
        for child in (first, second):
            self.assertIn(f"rtl: process {child.pid}: {self.spool}/rtl-{child.pid}-", done.stderr)
        self.assertEqual(self.line(first), 100)
        self.good("stop", str(second.pid))
        self.line_until(second, 0)
        self.assertEqual(self.line(first), 100)
        for child in (first, second):
            child.communicate(timeout=HANG_S)

    def test_dead_collector__said_so(self):
        child, _ = self.publisher()
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        self.refused(1, "`rtl recover ", "start", self.in_spool())
        child.communicate(timeout=HANG_S)
        self.assertEqual(self.rtl("recover", self.in_spool()).returncode, 0)


class Info(Case):
    """rtl info of a database."""

    def test_trace(self):
        self.rtl("trace", "-o", "run.db", PROGRAM, "100", "children")
        text = self.rtl("info", "run.db").stdout
        for line in ("run.db: 300 GPU operations", f"mode: {DEFAULT_MODE}", "where: collector",
                     "state: complete"):
            self.assertIn(line + "\n", text)
        self.assertRegex(text, r"(?m)^ledger of rtl.hsa: 300 published, 300 delivered, 0 disc")
        self.assertEqual(len(re.findall(r"(?m)^process \d: pid \d+ of \d+, host .* s: /", text)), 3)
        info = json.loads(self.rtl("info", "--json", "run.db").stdout)
        self.assertEqual((info["operations"], len(info["processes"])), (300, 3))
        ledger, = [s for s in info["ledger"] if s["stream"] == "rtl.hsa"]
        self.assertEqual((ledger["published"], ledger["delivered"]), (300, 300))
        self.assertEqual(info["losses"], [])

    def test_control_characters__shown_as_escapes(self):
        odd = "x\x1b[31m\n\a"
        self.rtl("trace", "-o", "run.db", PROGRAM, "3", odd)
        self.rtl("record", "-o", "run.rec", PROGRAM, "3", odd)
        for name in ("run.db", "run.rec"):
            text = self.rtl("info", name).stdout
            self.assertIn("3 x\\x1b[31m\\n\\a\n", text)
            self.assertNotIn("\x1b", text)

    def test_plain_rpd(self):
        database = sqlite3.connect(self.path("trace.rpd"))
        database.executescript(RPD)
        database.close()
        done = self.rtl("info", "trace.rpd")
        self.assertEqual((done.returncode, done.stdout), (0, "trace.rpd: 0 GPU operations\n"))
        info = json.loads(self.rtl("info", "--json", "trace.rpd").stdout)
        self.assertEqual((info["version"], info["processes"]), (None, []))

    def test_no_trace(self):
        self.refused(1, "the file is empty", "info", self.write("empty", ""))


class Env(Case):
    """The exports of rtl env."""

    def test_eval__program_is_traced(self):
        script = (f"eval \"$('{RTL}' env)\"; "
                  f"RTL_SUBSCRIBERS=libsqlite_sub.so?output=run.db:libstats_sub.so '{PROGRAM}' 100")
        done = subprocess.run(["sh", "-c", script], cwd=self.folder, env=CLEAN, text=True,
                              capture_output=True, check=True)
        self.assertIn("GPU kernels: 100, ", done.stderr)
        self.assertIn("GPU kernels: 100, ", self.rtl("summary", "run.db").stdout)

    def foreign_group(self):
        """A group that a file can be given to and that is not this process's."""
        for group in [*os.getgroups(), *([65534] if os.geteuid() == 0 else [])]:
            if group != os.getegid():
                return group
        return self.skipTest("there is no group to give a program to")

    def test_program_with_rights_of_its_own__variables_do_not_count(self):
        """Else whoever may start it had it load what he likes, and write where he likes."""
        group, program = self.foreign_group(), shutil.copy(PROGRAM, self.path("program"))
        if os.statvfs(self.folder).f_flag & os.ST_NOSUID:
            self.skipTest("set-group-ID does not count here")
        os.chown(program, -1, group)
        for mode, published in ((0o755, 5), (0o2755, 0)):
            os.chmod(program, mode)
            done = subprocess.run([program, "5", "print"], capture_output=True, text=True,
                                  timeout=HANG_S, check=True, cwd=self.folder,
                                  env=self.environment({
                                      "RTL_SUBSCRIBERS": f"libsqlite_sub.so?output=run{mode}.db",
                                      "RTL_LOG": f"debug:log{mode}"}))
            self.assertEqual(done.stdout, f"{published}\n")
            for name in (f"run{mode}.db", f"log{mode}"):
                self.assertEqual(os.path.exists(self.path(name)), published > 0, name)
        self.assertRegex(done.stderr, r"^rtl: bus warning: the program has other rights than who "
                                      r"started it: .*\n$")

    def test_no_subscribers__not_set(self):
        self.assertNotIn("RTL_SUBSCRIBERS", self.rtl("env").stdout)
        self.assertEqual(self.rtl("env", "-o", "x", "-s", "libsqlite_sub.so?").stdout,
                         self.rtl("env", "-o", "x", "-s", "libsqlite_sub.so").stdout)
        self.assertNotIn("RTL_MODE", self.rtl("env").stdout)

    def test_twice__as_once(self):
        script = f"eval \"$('{RTL}' env)\"; env | grep HSA_ | sort"
        once = subprocess.run(["sh", "-c", script], env=CLEAN, text=True, capture_output=True,
                              check=True).stdout
        twice = subprocess.run(["sh", "-c", script.replace("; env", f"; eval \"$('{RTL}' env)\"; env")],
                               env=CLEAN, text=True, capture_output=True, check=True).stdout
        self.assertEqual(once, twice)
        self.assertEqual(len(once.splitlines()), 2)

    def test_quoting__survives_the_shell(self):
        tricky = "it's $HOME `id` \"x\" \\ !1 a*b"
        done = self.rtl("env", "-s", "libstats_sub.so?output=" + tricky)
        shown = subprocess.run(["sh", "-c", done.stdout + 'printf %s "$RTL_SUBSCRIBERS"'],
                               env=CLEAN, text=True, capture_output=True, check=True).stdout
        self.assertTrue(shown.endswith("libstats_sub.so?output=" + tricky), shown)

    def test_shells(self):
        self.assertIn("setenv HSA_TOOLS_ROCPROFILER_V1_TOOLS '1';\n",
                      self.rtl("env", "--shell", "csh").stdout)
        self.assertIn("set -gx HSA_TOOLS_ROCPROFILER_V1_TOOLS '1';\n",
                      self.rtl("env", "--shell=fish").stdout)
        self.assertEqual(self.rtl("env", "--shell", "zsh").stdout, self.rtl("env").stdout)

    def test_output__subscriber_with_it(self):
        done = self.rtl("env", "-o", "a b.db")
        self.assertIn(f"/libsqlite_sub.so?output={self.path('a b.db')}'", done.stdout)


class Lists(Case):
    """rtl list-streams, rtl list-subscribers, help."""

    def test_streams(self):
        text = self.rtl("list-streams")
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertRegex(text.stdout, r"(?m)^rtl\.hsa \d+\.\d+: ")
        self.assertRegex(text.stdout, r"(?m)^  task_end \(type 11, \d+ bytes\): ")
        self.assertRegex(text.stdout, r"(?m)^    begin_ns +time +ns +\S")
        streams = json.loads(self.rtl("list-streams", "--json").stdout)["streams"]
        hsa, = [s for s in streams if s["name"] == "rtl.hsa"]
        end, = [t for t in hsa["types"] if t["name"] == "task_end"]
        field = end["fields"][0]
        self.assertEqual((field["name"], field["kind"], field["unit"], field["offset"]),
                         ("begin_ns", "time", "ns", 0))

    def test_subscribers(self):
        text = self.rtl("list-subscribers").stdout
        self.assertRegex(text, r"(?m)^libstats_sub\.so: stats \d")
        self.assertRegex(text, r"(?m)^  output=stderr +file")
        plugins = json.loads(self.rtl("list-subscribers", "--json").stdout)["subscribers"]
        self.assertTrue({"sqlite", "stats"} <= {p["name"] for p in plugins})

    def test_subscribers__shadowed_and_unusable(self):
        shutil.copy(PLUGINS + "/libgood_sub.so", self.path("libstats_sub.so"))
        self.write("libbad_sub.so", "text")
        done = self.rtl("list-subscribers", env={"RTL_PLUGIN_PATH": PLUGINS})
        self.assertEqual(done.returncode, 0)
        self.assertIn("libbad_sub.so: cannot be used\n  subscriber ./libbad_sub.so cannot be "
                      "loaded: file too short\n", done.stdout)
        self.assertIn("  shadowed: that name finds ./libstats_sub.so\n", done.stdout)
        self.assertIn("version 7.3 of the plugin ABI", done.stdout)
        plugins = json.loads(self.rtl("list-subscribers", "--json").stdout)["subscribers"]
        own, = [p for p in plugins if p["file"].endswith("lib/rtl/libstats_sub.so")]
        self.assertEqual(own["shadowed_by"], "./libstats_sub.so")
        bad, = [p for p in plugins if p["file"] == "./libbad_sub.so"]
        self.assertIn("file too short", bad["error"])

    def test_help(self):
        verbs = re.findall(r"(?m)^  ([a-z][a-z-]+) ", self.rtl("--help").stdout)
        self.assertEqual(set(verbs),
                         {"trace", "record", "summary", "info", "start", "stop", "replay",
                          "recover", "env", "list-streams", "list-subscribers"})
        for verb in verbs:
            done = self.rtl(verb, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(done.stdout.startswith(f"usage: rtl {verb} "), done.stdout)
            self.assertLessEqual(max(map(len, done.stdout.splitlines())), 90)
        self.assertRegex(self.rtl("--version").stdout, r"^rtl \d+\.\d+\.\d+\n$")


RPD = """
CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, string TEXT NOT NULL);
CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, gpuId INTEGER NOT NULL,
  queueId INTEGER NOT NULL, sequenceId INTEGER NOT NULL, completionSignal TEXT NOT NULL,
  start INTEGER NOT NULL, "end" INTEGER NOT NULL, description_id INTEGER NOT NULL,
  opType_id INTEGER NOT NULL);
INSERT INTO rocpd_string VALUES (1, ''), (2, 'KernelExecution'), (3, 'CopyDeviceToHost'),
  (4, 'a_kernel'), (5, 'b_kernel');
"""


class Summary(Case):
    """rtl summary over databases made here."""

    def database(self, rows, more=""):
        """rows: (gpu, start, end, description_id, opType_id)"""
        database = sqlite3.connect(self.path("trace.rpd"))
        database.executescript(RPD + more)
        database.executemany(
            'INSERT INTO rocpd_op (gpuId, queueId, sequenceId, completionSignal, start, "end", '
            "description_id, opType_id) VALUES (?, 0, 0, '', ?, ?, ?, ?)", rows)
        database.commit()
        database.close()

    def summary(self):
        done = self.rtl("summary", "--json", "trace.rpd")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_plain_rpd(self):
        self.database([(0, 1000, 2000, 4, 2), (0, 1500, 4500, 4, 2), (1, 9000, 10000, 5, 2),
                       (0, 100, 600, 1, 3)])
        done = self.rtl("summary", "trace.rpd")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "trace.rpd")
        self.assertEqual(lines[2], "GPU kernels: 3, 5.000us in total")
        # Percentiles are within 1 %.
        self.assertRegex(lines[4], r"^80\.0% +2 +4\.000us +2\.000us +1\.000us +1\.00.us +"
                                   r"(2\.9..|3\.000)us +3\.000us +a_kernel$")
        self.assertIn("Other GPU operations: 1, 500ns in total", lines)
        self.assertEqual(lines[-2:], [
            "GPU 0: busy 3.500us of 3.500us (100.0%), idle 0ns, 2 dispatches",
            "GPU 1: busy 1.000us of 1.000us (100.0%), idle 0ns, 1 dispatches"])

    def test_gpus_that_the_trace_knows__named(self):
        self.database([(1, 1000, 2000, 4, 2), (2, 1000, 2000, 4, 2)], """
            CREATE TABLE rtl_tracepoint (process, uid, kind, name);
            CREATE TABLE rtl_tracepoint_metadata (process, uid, key, value);
            INSERT INTO rtl_tracepoint VALUES (1, 7, 'agent', 'gfx90a'), (2, 7, 'agent', 'gfx90a'),
              (1, 8, 'kernel', 'k');
            INSERT INTO rtl_tracepoint_metadata VALUES (1, 7, 'node', '1'),
              (1, 7, 'product', 'Some GPU'), (1, 7, 'bus_id', '0000:c1:00.0'),
              (1, 7, 'uuid', 'GPU-77'), (2, 7, 'node', '1'), (2, 7, 'product', 'Some GPU'),
              (1, 8, 'node', '2');
            """)
        lines = self.rtl("summary", "trace.rpd").stdout.splitlines()
        self.assertEqual([line.split(": busy")[0] for line in lines[-2:]],
                         ["GPU 1 (gfx90a, Some GPU, 0000:c1:00.0)", "GPU 2"])
        first, second = self.summary()["devices"]
        self.assertEqual((first["name"], first["product"], first["bus_id"], first["uuid"]),
                         ("gfx90a", "Some GPU", "0000:c1:00.0", "GPU-77"))
        self.assertNotIn("name", second)

    def test_json(self):
        self.database([(0, 1000 + i, 1000 + 2 * i, 4, 2) for i in range(1, 1001)])
        row, = self.summary()["sections"][0]["rows"]
        self.assertEqual((row["count"], row["total_ns"], row["min_ns"], row["max_ns"]),
                         (1000, 500500, 1, 1000))
        self.assertAlmostEqual(row["p50_ns"], 500, delta=5)
        self.assertAlmostEqual(row["p99_ns"], 990, delta=9.9)
        self.assertEqual(row["mean_ns"], 500.5)

    def test_no_operations(self):
        self.database([])
        self.assertEqual(self.rtl("summary", "trace.rpd").stdout, "trace.rpd\n")
        self.assertEqual(self.summary()["devices"], [])

    def test_busy__rows_in_any_order__exact(self):
        rows = [(0, 1000 + 20 * i, 1000 + 20 * i + 8, 4, 2) for i in range(100000)]
        self.database(rows[1::2] + rows[0::2] + rows[::-1])
        device, = self.summary()["devices"]
        self.assertEqual((device["busy_ns"], device["uncertain_ns"]), (800000, 0))

    def test_inverted_times__no_duration(self):
        self.database([(0, 2000, 1000, 4, 2), (0, 1000, 1500, 4, 2)])
        row, = self.summary()["sections"][0]["rows"]
        self.assertEqual((row["total_ns"], row["min_ns"]), (500, 0))

    def test_ledger_and_times_not_known(self):
        self.database([(0, 1000, 2000, 4, 2), (0, 3000, 3000, 4, 2), (0, 3000, 3000, 4, 2)], """
            CREATE TABLE rtl_dispatch (op_id INTEGER PRIMARY KEY, flags INTEGER);
            INSERT INTO rtl_dispatch VALUES (1, 0), (2, 2), (3, 1);
            CREATE TABLE rtl_ledger (process, stream, published, delivered, discarded, abandoned,
              missed);
            INSERT INTO rtl_ledger VALUES (1, 'rtl.hsa', 10, 6, 3, 1, 0),
              (2, 'rtl.hsa', 5, 5, 0, 0, 2), (1, 'quiet', 0, 0, 0, 0, 0);
            CREATE TABLE rtl_loss (process, stream, cause, count);
            INSERT INTO rtl_loss VALUES (1, 'rtl.hsa', 'ring full', 3), (2, 'rtl.hsa', 'no signal', 2);
            """)
        text = self.rtl("summary", "trace.rpd").stdout
        self.assertIn("GPU kernels: 3, 1.000us in total, 1 without times\n", text)
        self.assertIn("rtl.hsa: 11 of 17 events recorded, 6 LOST: 3 discarded, 1 abandoned, "
                      "2 missed (no signal: 2, ring full: 3)\n", text)
        self.assertNotIn("quiet", text)

    def test_top(self):
        self.database([(0, 1000, 2000 + i, 10 + i, 2) for i in range(30)], "".join(
            f"INSERT INTO rocpd_string VALUES ({10 + i}, 'k{i}');" for i in range(30)))
        self.assertIn("(10 more)", self.rtl("summary", "trace.rpd").stdout)
        self.assertIn("(25 more)", self.rtl("summary", "--top=5", "trace.rpd").stdout)
        self.assertNotIn("more)", self.rtl("summary", "--top", "0", "trace.rpd").stdout)

    def test_odd_strings(self):
        name = "it's \"x\" \\ \x1b[31m\n é " + "long " * 100
        self.database([(0, 1000, 2000, 9, 2), (0, 1000, 2000, 12345, 2)])
        database = sqlite3.connect(self.path("trace.rpd"))
        database.execute("INSERT INTO rocpd_string VALUES (9, ?)", (name,))
        database.commit()
        database.close()
        rows = self.summary()["sections"][0]["rows"]
        self.assertEqual({r["name"] for r in rows}, {name, "KernelExecution"})
        text = self.rtl("summary", "trace.rpd").stdout
        self.assertNotIn("\x1b", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 120)

    def test_cut_off_database(self):
        """Its writer died: there is a -wal, and it says who wrote."""
        source = sqlite3.connect(self.path("source.db"))
        source.executescript("PRAGMA journal_mode = wal;" + RPD)
        source.executescript("CREATE TABLE rtl_meta (key, value);"
                             "INSERT INTO rtl_meta VALUES ('writer', 'me');"
                             "INSERT INTO rocpd_op VALUES (1, 0, 0, 0, '', 1000, 2000, 4, 2);")
        for suffix in ("", "-wal"):
            shutil.copy(self.path("source.db") + suffix, self.path("trace.rpd") + suffix)
        source.close()
        done = self.rtl("summary", "trace.rpd")
        self.assertEqual(done.returncode, 0)
        self.assertIn("GPU kernels: 1, 1.000us in total", done.stdout)
        self.assertIn("trace.rpd is not complete", done.stderr)

    def test_damaged_database(self):
        self.database([(0, 1000 + i, 2000 + i, 4, 2) for i in range(10000)])
        size = os.path.getsize(self.path("trace.rpd"))
        with open(self.path("trace.rpd"), "r+b") as file:
            file.seek(size // 2)
            file.write(b"\xff" * 40000)
        self.refused(1, "trace.rpd is damaged", "summary", "trace.rpd")


if __name__ == "__main__":
    unittest.main()
