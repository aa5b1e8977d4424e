#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
How rtl runs a command, and what it refuses to run.
"""

import contextlib
import glob
import os
import pty
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

from cli_kit import CLEAN, HANG_S, PLUGINS, PROGRAM, PYTHON, RTL, SLOW_BATCHES, Case

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


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def children(pid):
    found = []
    for task in glob.glob(f"/proc/{pid}/task/*/children"):
        with open(task, encoding="utf-8") as file:
            found += map(int, file.read().split())
    return found


class BadInput(Case):
    """Each bad input gives one clear line and a status; no command is run."""

    def test_library_of_another_project_of_that_name__is_refused(self):
        for verb in (["trace", "--", "true"], ["record", "--", "true"], ["env"]):
            for value in ("/opt/lite/librtl.so", "librtl.so"):
                self.refused(1, f"HSA_TOOLS_LIB names {value}, which is rocm-trace-lite's or another", *verb,
                             env={"HSA_TOOLS_LIB": value})
            # the loader has a word on it, too: it is not there
            done = self.rtl(*verb, env={"LD_PRELOAD": "/opt/lite/librtl.so"})
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("rtl: LD_PRELOAD names /opt/lite/librtl.so, which is rocm", done.stderr)

    def test_command_line(self):
        self.refused(2, "no command given; `rtl --help`")
        self.refused(2, "unknown command 'trce'; did you mean `rtl trace`?", "trce")
        self.refused(2, "unknown command 'sum'; did you mean `rtl summary`?", "sum")
        self.refused(2, "unknown command 'xyz'; `rtl --help`", "xyz")
        self.refused(2, "unknown command 'reprot'; did you mean `rtl report`?", "help", "reprot")
        self.refused(2, "unknown option '--outp'; did you mean --output?", "trace", "--outp", "x")
        self.refused(1, "'sqlite' not found; did you mean libsqlite_sub.so?", "trace", "-s",
                     "sqlite", "true")
        for name in ("libsqlit_sub.so", "libsqlite_sub", "libsqlite.so", "sqlit", "libsql_sub.so?output=x"):
            self.refused(1, "not found; did you mean libsqlite_sub.so?", "trace", "-s", name, "true")
        self.refused(1, "give its path, or name its folder in RTL_PLUGIN_PATH", "trace", "-s",
                     "libother_sub.so", "true")
        self.write("libsqlit_sub.so", "")
        self.refused(1, "cannot be loaded: file too short", "trace", "-s", "libsqlit_sub.so", "true")
        self.assertEqual(self.rtl("help").stdout, self.rtl("--help").stdout)
        self.assertEqual(self.rtl("help", "trace").stdout, self.rtl("trace", "--help").stdout)
        self.refused(2, "unknown option '--foo'", "--foo")
        self.refused(2, "trace: unknown option '--foo'; `rtl trace --help`", "trace", "--foo", "true")
        self.refused(2, "trace: unknown option '-Z'", "trace", "-qZ", "true")
        self.refused(2, "--output needs a value", "trace", "-o")
        self.refused(2, "--range needs a value", "trace", "--range", "--", "true")
        self.refused(2, "trace: --subscribers is given twice; give it once, as --subscribers LIST",
                     "trace", "-s", "libsqlite_sub.so", "-s", "libstats_sub.so", "true")
        self.refused(2, "--limit is given twice", "record", "--limit=1G", "-l1G", "true")
        self.refused(2, "no value can be given to '--strict'", "trace", "--strict=1", "true")
        self.refused(2, "give a command to run", "trace", "-q")
        self.refused(2, "give a command to run", "trace", "--")
        self.refused(2, "name of the command is empty", "trace", "")
        self.refused(2, "give the file", "summary")
        self.refused(2, "give the file of a trace, or a folder", "info")
        self.refused(2, "one file or folder at a time; 'b'", "info", "a", "b")
        self.refused(2, "replay: give a recording", "replay")
        self.refused(2, "one trace at a time; 'b'", "replay", "a", "b")
        self.refused(2, "recover: give the folder", "recover", "-o", "x.db")
        self.refused(2, "'x' is neither the process", "start", "x")
        self.refused(2, "one session at a time; 'b'", "stop", "a", "b")
        self.refused(2, "one file at a time", "summary", "a", "b")
        self.refused(2, "--top x", "summary", "--top", "x", "a")
        self.refused(2, "unexpected argument 'x'", "env", "x")
        self.refused(2, "unknown shell 'cmd'", "env", "--shell", "cmd")
        self.refused(2, "unexpected argument 'x'", "list-subscribers", "x")
        for setting, wanted in (("top=x", "give a number"), ("format=xml", "give text or json"),
                                ("output=", "give a text that is not empty")):
            self.refused(2, f"subscriber 'libstats_sub.so': {setting}: {wanted}", "trace", "-s",
                         "libstats_sub.so?" + setting, "true")

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
        bad(1, "exists and is not a trace", "-o", self.write("precious", "text"))
        sqlite3.connect(self.path("other.db")).execute("CREATE TABLE t (a)").connection.close()
        bad(1, "exists and is not a trace", "-o", "other.db")
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
        self.assertEqual(self.read("precious"), "text")

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
            self.refused(1, "No such file" if verb == "info" else "there is no such file or folder", verb,
                         "/nonexistent")
        for verb in ("replay", "recover", "info"):
            self.refused(1, "rtl wrote nothing in", verb, self.folder)
        self.refused(1, "is a file, not the folder of a recording", "recover", PROGRAM)
        self.refused(1, "no plugin reads it", "replay", PROGRAM)
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
        self.refused(1, "no running `rtl trace` or `rtl attach` with the process number 1", "start", "1")

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

    def test_libraries(self):
        done = self.rtl("list-streams", "./none.so")
        self.assertEqual(done.returncode, 1)
        self.assertIn("library ./none.so cannot be loaded", done.stderr)
        done = self.rtl("list-streams", PLUGINS + "/libgood_sub.so")
        self.assertEqual(done.returncode, 1)
        self.assertIn("libgood_sub.so publishes no streams", done.stderr)


class Run(Case):
    """The command runs as if rtl were not there."""

    leaks = True

    def test_ended_by_a_signal(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGABRT,
                       signal.SIGSEGV, signal.SIGHUP, signal.SIGPIPE):
            done = self.rtl("trace", "sh", "-c", f"kill -{int(number)} $$")
            self.assertEqual(done.returncode, -number)
            self.assertIn("nothing was recorded", done.stderr)

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
        for blocks, status in ((0, 1), (8000, 0)):
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
        """The counts when there are so many, and no further signal is on its way."""
        self.wait_until(lambda: sum(self.show(child).values()) >= expected)
        self.settled(child.pid, *children(child.pid))
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
            self.settled(child.pid, *children(child.pid))
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
        self.settled(child.pid, *children(child.pid))  # rtl would have ended
        out, _ = child.communicate("go\n", timeout=HANG_S)
        self.assertEqual((out, child.returncode), ("off\n", 0))

    def test_command_dies_of_it__rtl_too(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            child = self.start("trace", "sh", "-c", "echo on; exec sleep 300")
            child.stdout.readline()
            os.kill(child.pid, number)
            _, err = child.communicate(timeout=HANG_S)
            self.assertEqual(child.returncode, -number)
            self.assertIn("nothing was recorded", err)

    def test_rtl_is_killed__command_runs_on(self):
        child = self.start("trace", "sh", "-c", "echo on; read x; echo done > end",
                           start_new_session=True, stdin=subprocess.PIPE)
        child.stdout.readline()
        os.kill(child.pid, signal.SIGKILL)
        child.wait(HANG_S)
        child.communicate("go\n", timeout=HANG_S)
        self.assertEqual(self.read("end"), "done\n")
        self.assertEqual(self.rtl("recover", self.in_spool()).returncode, 0)

    def test_command_is_stopped_by_another__rtl_is_not(self):
        child = self.start("trace", "-q", "sh", "-c", "echo $$; read x; exit 6",
                           start_new_session=True, stdin=subprocess.PIPE)
        pid = int(child.stdout.readline())
        os.kill(pid, signal.SIGSTOP)
        self.wait_until(lambda: state(pid) == "T")
        self.settled(child.pid)
        self.assertEqual((child.poll(), state(child.pid)), (None, "S"))
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
            self.wait_until(lambda: state(command) == "T")
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

    def traced_settled(self):
        """No signal is on its way to rtl and its command, which the shell runs."""
        rtl, = children(self.shell)
        self.settled(rtl, *children(rtl))

    def counter(self, *numbers):
        self.write("counter.py", COUNTER)
        self.type(f"'{RTL}' trace -q {PYTHON} counter.py {' '.join(str(int(n)) for n in numbers)}\n")
        self.wait_for("ready")

    def test_interrupt_from_the_keyboard__once(self):
        self.counter(signal.SIGINT, signal.SIGQUIT)
        self.type("\x03")
        self.wait_for("'SIGINT'", ask="show\n")
        self.traced_settled()
        self.type("\x1c")
        self.wait_for("'SIGQUIT'", ask="show\n")
        self.traced_settled()
        self.type("show now\n")
        self.wait_for("'SIGINT': 1, 'SIGQUIT': 1} now")
        self.type("\x04")
        self.wait_for("PROMPT")

    def test_interrupt__ends_both(self):
        self.type(f"'{RTL}' trace sh -c 'echo is-up''-now; exec sleep 300'\n")
        self.wait_for("is-up-now")
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
        self.traced_settled()  # a second one would have come
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
        self.write("go", "")
        self.wait_for("status 9", ask="bg; wait %1; echo status $?\n", every=5)

    def left_to_write(self):
        """A trace whose command has ended, with a subscriber that is far behind."""
        self.type(f"TERM=xterm '{RTL}' trace -s libsqlite_sub.so:{SLOW_BATCHES} -o run.db "
                  f"'{PROGRAM}' 200000\n")
        self.wait_for("writing what is left [")
        self.wait_for("`rtl recover` completes")

    def test_much_is_left__shown_and_completed(self):
        self.left_to_write()
        self.write("go", "")
        self.wait_for("200000 of 200000 events recorded")
        self.wait_for("PROMPT")
        self.assertEqual(self.operations("run.db"), 200000)

    def test_interrupt_while_much_is_left__stops_and_can_be_recovered(self):
        self.left_to_write()
        self.type("\x03")
        self.wait_for(f"the trace is not complete; `rtl recover {self.in_spool()}` completes it")
        self.wait_for("PROMPT")
        self.assertLess(self.operations("run.db"), 200000)
        self.type(f"TERM=xterm '{RTL}' recover '{self.in_spool()}'\n")
        self.wait_for("reading [")
        self.write("go", "")
        self.wait_for("PROMPT")
        self.assertEqual(self.operations("run.db"), 200000)

    def test_command_reads_the_terminal(self):
        self.type(f"'{RTL}' trace -q sh -c 'echo o''n; read a; echo got:$a; test -t 0 -a -t 1 "
                  "-a -t 2'; echo =$?\n")
        self.wait_for("on")
        self.type("some words\n")
        self.wait_for("got:some words")
        self.wait_for("=0")


if __name__ == "__main__":
    unittest.main()
