#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
rtl trace, start and stop, without ROCm.
"""

import contextlib
import glob
import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

from cli_kit import BUILD_PLUGINS, HANG_S, NO_GROWTH, PLUGINS, PROGRAM, RTL, SLOW, SLOW_BATCHES, TMPFS, Case


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

    def test_faults__where_the_address_lies(self):
        done = self.rtl("trace", "-o", "run.db", PROGRAM, "10", "fault")
        summary, info = (json.loads(self.rtl(verb, "--json", "run.db").stdout) for verb in ("summary", "info"))
        where = f"allocate of %d bytes by thread {info['processes'][0]['pid']} in range layer 3"
        small, large = where % 4096, where % 4194304
        said = [fault["memory"] for fault in summary["faults"]]
        self.assertRegex(said.pop(3), rf"^in {large}, freed \d+\.\d\d\d ms before by thread \d+$")
        self.assertEqual(said, [f"in {small}", f"128 bytes behind {small}", f"256 bytes before {small}",
                                "within 256 MiB of no memory in use"])
        self.assertEqual([f["memory"] for f in info["faults"]], [f["memory"] for f in summary["faults"]])
        for text in done.stderr, self.rtl("summary", "run.db").stdout:
            self.assertRegex(text, rf"GPU 1 .* memory access fault at 0x20001080: page not present\n  128 bytes behind {small}\n")
        self.assertIn(f" at 0x20000010: page not present: in {small}\n", self.rtl("info", "run.db").stdout)

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

    def test_default_output__named_after_the_command(self):
        self.rtl("trace", PROGRAM, "10")
        name, = os.listdir(self.folder)
        self.assertRegex(name, r"^rtl-cli_program-\d+\.db$")

    def test_odd_names__written_as_given(self):
        for name in ("a b.db", "100%x.db", "x:y&z=?#.db", "'\"$(id).db", "é.db"):
            done = self.rtl("trace", "-q", "-o", name, PROGRAM, "5")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(self.operations(name), 5)

    def test_relative_output__not_moved_by_chdir(self):
        os.mkdir(self.path("sub"))
        self.rtl("trace", "-o", "run.db", "sh", "-c", f"cd sub && exec '{PROGRAM}' 7")
        self.assertEqual(self.operations("run.db"), 7)

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
        self.line(first)
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
        for away, part in ((lambda: os.unlink(self.path("run.db")), "or was removed"),
                           (lambda: os.rename(self.write("other", "text"), self.path("run.db")),
                            "was replaced meanwhile")):
            child = self.start("trace", "-o", "run.db", PROGRAM, "10", "lines",
                               stdin=subprocess.PIPE)
            self.line(child)
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

    def test_command_not_there__older_trace_stays(self):
        self.rtl("trace", "-o", "run.db", PROGRAM, "10")
        self.refused(127, "no such command", "trace", "-o", "run.db", "nonexistent-command")
        self.assertEqual(self.operations("run.db"), 10)

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
                line = re.search("(?m)^rtl: to add what is missing: rtl (.*)$", done.stderr)
                self.rtl(*shlex.split(line.group(1)))
            self.assertEqual(self.operations("run.db"), 200000)
            self.assertIn("200000 of 200000 events recorded", self.rtl("summary", "run.db").stdout)
            self.assertEqual(os.listdir(self.spool), [])

    def test_children_in_process__files_of_their_own_are_named(self):
        done = self.rtl("trace", "--in-process", "-o", "run.db", PROGRAM, "10", "children")
        files = sorted(f for f in os.listdir(self.folder) if f.endswith(".db"))
        self.assertEqual(len(files), 3, files)
        self.assertEqual(sum(map(self.operations, files)), 30)
        for name in files:
            if name != "run.db":
                self.assertIn(f"trace of another process: {self.path(name)}\n", done.stderr)

    def test_both_subscribers__same_table(self):
        done = self.rtl("trace", "-s", "libstats_sub.so:libsqlite_sub.so?output=x.db:"
                        "libstats_sub.so?output=stats.txt", PROGRAM, "1000")
        self.assertEqual(done.returncode, 0, done.stderr)
        table = self.read("stats.txt").split("\n", 1)[1]
        self.assertIn(table, done.stderr)
        summary = self.rtl("summary", "x.db").stdout.split("\n", 1)[1]
        self.assertEqual(summary, table)

    def test_environment(self):
        done = self.rtl("trace", "-q", "--strict", "-m", "lite", "sh", "-c", "env",
                        env={"HSA_TOOLS_LIB": "libother.so"})
        values = dict(line.split("=", 1) for line in done.stdout.splitlines())
        tool, other = values["HSA_TOOLS_LIB"].split(" ")
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
            done = self.rtl("trace", "-q", *arguments, "sh", "-c", "env",
                            env={"LD_PRELOAD": "librocprofiler-sdk.so.1", **env})
            self.assertIn("/librtl_rocm.so:librocprofiler-sdk.so.1\n", done.stdout)
        done = self.rtl("trace", "-q", "sh", "-c", "env")
        self.assertIn("\nRTL_MODE=hip\n", done.stdout)
        self.assertIn("\nRTL_MODE_FALLBACK=1\n", done.stdout)

    def test_environment_of_papi__names_no_file(self):
        """Else PAPI takes rtl's library for rocprofiler's and fails; it names that in its place."""
        done = self.rtl("trace", "-q", "sh", "-c", "env", env={"PAPI_ROCM_ROOT": "/opt/rocm"})
        values = dict(line.split("=", 1) for line in done.stdout.splitlines())
        first, second = values["HSA_TOOLS_LIB"].split(" ")
        self.assertEqual((first, os.path.basename(first)), (second, "librtl_rocm.so"))
        again = self.rtl("trace", "-q", "sh", "-c", "env", env=values)
        self.assertIn(f"\nHSA_TOOLS_LIB={first} {second}\n", again.stdout)

    def test_subscribers_in_the_environment__taken_away_with_a_line(self):
        done = self.rtl("trace", "-q", "-o", "run.db", "sh", "-c",
                        f"env | grep -c RTL_SUBSCRIBERS; exec '{PROGRAM}' 10",
                        env={"RTL_SUBSCRIBERS": "libnone_sub.so"})
        self.assertEqual(done.stdout, "0\n")
        self.assertRegex(done.stderr, r"^rtl: RTL_SUBSCRIBERS is ignored: .*\n$")
        self.assertEqual(self.operations("run.db"), 10)

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
            self.assertIn("GPU kernels: 100, ", self.read("stats.txt"))
            os.unlink(self.path("stats.txt"))
        # and found by a name without a slash in such a folder
        done = subprocess.run([RTL, "trace", "-q", "--in-process", "-o", "../own.db", "sh", "-c",
                               f"cd / && exec '{PROGRAM}' 7"], cwd=folder, text=True,
                              env=self.environment(), capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.operations("own.db"), 7)


def used_ticks(pid):
    """Processor time of a process."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


class Collector(Case):
    """rtl trace with the subscribers in rtl."""

    def until_gone(self, name):
        """Until the process whose number is in that file has ended, and its parent knows it."""
        self.wait_until(lambda: os.path.exists(self.path(name)) and self.read(name)
                        and not os.path.exists("/proc/" + self.read(name).strip()))

    def traced(self, *arguments, **more):
        return self.start("trace", "-o", "run.db", *arguments, start_new_session=True, **more)

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

    def test_process_outlives_the_command__told_counted_nothing_left(self):
        child = self.traced("sh", "-c", f"'{PROGRAM}' 5 stay >pid 2>/dev/null & "
                            "until test -s pid; do sleep 0.01; done")
        _, err = child.communicate(timeout=HANG_S)
        os.kill(int(self.read("pid")), signal.SIGKILL)
        self.assertEqual(child.returncode, 0)
        self.assertIn("rtl: 1 process of the command still ran when it ended; what it did from then on "
                      "is not recorded", err)
        self.assertEqual(self.operations("run.db"), 5)

    def test_wait_children__daemons_too__all_recorded(self):
        """A daemon that begins to publish when the command has ended, and starts another one."""
        os.mkfifo(self.path("fifo"))
        for verb, output in (("trace", "run.db"), ("record", "run.rec")):
            script = f"read x <fifo; '{PROGRAM}' 7 & (setsid '{PROGRAM}' 5 &)"
            child = subprocess.Popen([RTL, verb, "--wait-children", "-o", output, "sh", "-c",
                                      f"setsid sh -c {shlex.quote(script)} & echo $$ >begun; exit 3"],
                                     cwd=self.folder, env=self.environment(), text=True,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            self.until_gone("begun")
            self.write("fifo", "go\n")
            _, err = child.communicate(timeout=HANG_S)
            self.assertEqual((child.returncode, "still ran" in err), (3, False), err)
            if verb == "record":
                self.rtl("replay", "-o", "run.db", output)
            self.assertEqual(self.operations("run.db"), 12)
            for name in "run.db", "begun":
                os.unlink(self.path(name))

    def test_wait_children__terminated__ends_the_wait(self):
        child = self.traced("--wait-children", "sh", "-c", f"'{PROGRAM}' 5 stay >pid 2>/dev/null & "
                            "until test -s pid; do sleep 0.01; done; echo $$ >ended")
        self.until_gone("ended")
        child.send_signal(signal.SIGTERM)
        _, err = child.communicate(timeout=HANG_S)
        os.kill(int(self.read("pid")), signal.SIGKILL)
        self.assertEqual(child.returncode, 0)
        self.assertIn("rtl: 1 process of the command still ran when it ended", err)
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
            self.write("fifo", "go\n")
            self.wait_until(lambda: os.path.exists(self.path("status"))
                            and os.path.getsize(self.path("status")))
            texts = []
            for name in ("daemon", "status", "err"):
                texts.append(self.read(name))
                os.unlink(self.path(name))
            self.assertEqual(texts, ["0\n", "0\n", ""])
            os.unlink(self.path("begun"))

    def slow(self):
        """A trace that is being completed, its command has ended."""
        child = self.traced("-s", f"{SLOW}:libsqlite_sub.so", "sh", "-c",
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

    def test_buffers_are_full__how_long_threads_waited_is_said(self):
        slow = f"libsqlite_sub.so:{SLOW_BATCHES}"
        done = self.rtl("trace", "-o", "run.db", "-s", slow, PROGRAM, "40000", env=NO_GROWTH)
        self.assertIn("40000 of 40000 events recorded", done.stderr)
        said = re.search(r"process (\d+) waited (\d+) times for rtl, ([0-9.]+) s in all",
                         done.stderr)
        self.assertTrue(said, done.stderr)
        self.assertIn(f"process 1: its threads waited {said[2]} times for room in their buffers, "
                      f"{said[3]} s in all", self.rtl("info", "run.db").stdout)
        waits, = json.loads(self.rtl("info", "--json", "run.db").stdout)["waits"]
        self.assertEqual((waits["process"], waits["waits"]), (1, int(said[2])))

    def test_idle__no_processor_time(self):
        """While its command does nothing, rtl does next to nothing."""
        child = self.start("trace", "-q", "-o", "idle.db", PROGRAM, "100", "lines", stdin=subprocess.PIPE)
        self.line(child)
        time.sleep(1)  # it has stored what there was
        before = used_ticks(child.pid)
        time.sleep(3)
        used = (used_ticks(child.pid) - before) / os.sysconf("SC_CLK_TCK")
        child.communicate()
        self.assertLess(used, 0.5)

    def test_subscriber_fails_later__command_is_not_harmed(self):
        done = self.rtl("trace", "-s", PLUGINS + "/libgood_sub.so", PROGRAM, "10", "print")
        self.assertEqual((done.returncode, done.stdout), (0, "0\n"))


class Status(Case):
    """rtl status."""

    def test_nobody__said(self):
        done = self.rtl("status")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = self.rtl("status", "1")
        self.assertEqual((done.returncode, done.stderr),
                         (1, "rtl: status: process 1 is not being traced, or is not yours\n"))
        self.assertEqual(self.rtl("status", "me").returncode, 2)

    def test_hanging_process__its_range_and_what_is_under_way(self):
        for how in (("trace", "-q", "-o", "run.db"), ("trace", "-q", "--last", "9", "-o", "run.db"),
                    ("record", "-q", "-o", "run.rtl")):
            with self.subTest(how=how):
                child = self.start(*how, PROGRAM, "7", "hang")
                pid = int(child.stdout.readline())
                time.sleep(0.02)
                for asked in pid, child.pid:
                    found = json.loads(self.rtl("status", "--json", str(asked)).stdout)
                    session, = found["sessions"]
                    process, = session["processes"]
                    opened, = process["unfinished"]
                    self.assertEqual((session["pid"], process["pid"]), (child.pid, pid))
                    self.assertEqual((opened["name"], opened["tid"], opened["stream"]), ("layer 3", pid, "rtl.roctx"))
                    self.assertTrue(20e6 < opened["age_ns"] < HANG_S * 1e9)
                    stream, = (s for s in process["streams"] if s["stream"] == "rtl.hsa")
                    self.assertEqual(stream["losses"], [{"cause": "under way when the process ended", "count": 7}])
                text = self.rtl("status", str(pid)).stdout
                self.assertRegex(text, rf"  thread {pid}: [\d.]+ m?s in range layer 3\n")
                self.assertIn("  rtl.hsa: 0 recorded, 7 under way, 0 lost\n", text)
                self.assertRegex(text, r"\n  buffers: \d+ events\n")
                os.kill(pid, signal.SIGKILL)
                child.communicate(timeout=HANG_S)

    def test_session_ends_between_two_looks__is_left_out(self):
        for command in ("top", "--count", "1"), ("status",):
            session = self.start("trace", "-q", "-o", "run.db", PROGRAM, "100", "lines", stdin=subprocess.PIPE)
            self.line(session)
            looks = self.start(*command, str(session.pid))
            time.sleep(0.1)
            session.communicate(timeout=HANG_S)
            self.assertEqual(looks.communicate(timeout=HANG_S), ("no program of yours is being traced\n", ""))

    def test_status_of_thousands_under_way__the_work_of_thousands(self):
        began = [{"stream": "rtl.hsa", "tid": 1, "begin_ns": i, "age_ns": 9000 - i, "name": "k", "gpu": 1, "queue": 1, "packet_id": i}
                 for i in range(4000)]

        def look(recorded):
            return [{"pid": 1, "processes": [{"pid": 2, "alive": True, "unfinished": began, "waits": 3, "waited_ns": 25e8, "streams": [
                {"stream": "rtl.hsa", "published": recorded, "undelivered": 40, "losses": []}]}]}]
        memory = [{"pid": 2, "place": "GPU 1", "bytes": 5e6}, {"pid": 2, "place": "CPU 0", "bytes": 1}]
        asked = json.dumps({"before": look(100), "top": False, "period_ns": 2e8, "now_ns": 9000, "sessions": look(300),
                            "recent": [{"database": True, "last": [], "memory": memory, "work": []}]})
        with open(os.path.join(os.path.dirname(__file__), "../../../cli/read/status.sql")) as sql, \
                contextlib.closing(sqlite3.connect(":memory:")) as db:
            db.set_progress_handler(lambda: 1, 5000000)  # so many steps, then it is interrupted
            lines = [line for line, in db.execute(sql.read(), (asked,))]
        self.assertIn("; 3999 more behind it", str(lines))
        self.assertEqual(lines[-3:], ["  rtl.hsa: 300 recorded, 1000 a second, 0 lost",
                                      "  buffers: 40 events; threads waited 3 times for room, 2.500 s in all",
                                      "  memory in use: GPU 1 5.0 MB, CPU 0 0.0 MB"])

    def test_ranks_of_a_merged_trace__where_each_was(self):
        for rank in range(4):
            child = self.start("trace", "-q", "-o", f"{rank}.db", PROGRAM, "7", "regions" if rank == 2 else "hang", env={"RANK": str(rank)})
            if rank != 2:
                os.kill(int(child.stdout.readline()), signal.SIGKILL)
            child.communicate(timeout=HANG_S)
        self.rtl("merge", "-o", "all.db", *(f"{rank}.db" for rank in range(4)))
        ranks, = json.loads(self.rtl("info", "--json", "all.db").stdout)["ranks"]
        self.assertEqual((ranks["ranks"], ranks["open"], ranks["kernel"]), ("0-1, 3", "range layer 3", None))
        self.assertRegex(ranks["line"], r"^ranks 0-1, 3 had been in range layer 3 for \d+\.\d s$")
        self.assertEqual(json.loads(self.rtl("summary", "--json", "all.db").stdout)["rank_states"], [ranks])
        self.rtl("report", "all.db")
        self.assertIn(json.dumps(ranks["line"]), self.read("all.html"))
        for command in "info", "summary":
            self.assertIn(ranks["line"], self.rtl(command, "all.db").stdout.splitlines()[:9])
        self.assertEqual(json.loads(self.rtl("info", "--json", "0.db").stdout)["ranks"], [])

    def test_top__what_ended_in_the_period(self):
        child = self.start("trace", "-q", "-o", "run.db", PROGRAM, "1000", "now", stdin=subprocess.PIPE)
        self.wait_until(lambda: glob.glob(self.spool + "/*/session"))
        with subprocess.Popen([RTL, "top", "--json", "-n", "1", "--watch", "5", str(child.pid)], env=self.environment(),
                              stdout=subprocess.PIPE, text=True) as top:
            end = time.monotonic() + 3  # so that a slow rtl has written all when it looks again
            while time.monotonic() < end:
                self.assertEqual(self.line(child), 1000)
                time.sleep(0.1)
            page = json.loads(top.communicate(timeout=HANG_S)[0])
        (session,), (recent,), until = page["sessions"], page["recent"], page["now_ns"] - 100000000
        text = self.rtl("top", "-n", "1", str(session["processes"][0]["pid"])).stdout
        child.communicate(timeout=HANG_S)
        kernels = self.ask("run.db", "SELECT kernel, count(*), sum(duration_ns) FROM rtl_dispatches WHERE end_ns > ? AND end_ns <= ?"
                           " GROUP BY kernel", (until - page["period_ns"], until))
        last, = self.ask("run.db", "SELECT kernel, max(end_ns) FROM rtl_dispatches WHERE queue = 1")
        found = {w["name"]: (w["count"], w["total_ns"]) for w in recent["work"] if w["what"] == "kernel"}
        busy, = (w for w in recent["work"] if w["what"] == "busy")
        self.assertGreater(len(kernels), 1)
        self.assertEqual(found, {k[0]: k[1:] for k in kernels})
        self.assertEqual((busy["count"], busy["total_ns"]), tuple(map(sum, zip(*found.values()))))
        self.assertEqual([(q["kernel"], q["end_ns"]) for q in recent["last"]], [last])
        self.assertRegex(text, r"(?m)^  \d+ launches a second$")
        self.assertIn(f"  GPU 0, queue 1: kernel {last[0]} was the last to end, ", text)

    def test_top__without_a_database__said(self):
        child = self.start("record", "-q", "-o", "run.rtl", PROGRAM, "7", "hang")
        pid = child.stdout.readline().strip()
        text = self.rtl("top", "-n", "1", pid).stdout
        self.assertIn("  no database is being written, so ended work is not shown\n", text)
        self.assertRegex(text, rf"  0 launches a second\n  thread {pid}: [\d.]+ m?s in range layer 3\n")
        self.assertNotIn("rtl.hsa", text)
        os.kill(int(pid), signal.SIGKILL)
        child.communicate(timeout=HANG_S)
        self.assertEqual(self.rtl("top", "1").stderr, "rtl: top: process 1 is not being traced, or is not yours\n")


class StartStop(Case):
    """rtl start, rtl stop, rtl trace --paused."""

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
        pauses, = self.ask("run0.db", "SELECT value FROM rtl_meta WHERE key = 'pauses'")
        for options in (("run0.json",), ("run0.pftrace",), ("run7.db", "-f", "rocpd7")):
            self.assertEqual(self.rtl("convert", "run0.db", "-o", *options).returncode, 0)
            with open(self.path(options[0]), "rb") as file:
                self.assertIn(pauses[0].encode(), file.read())

    def test_several__refused_and_listed(self):
        first, _ = self.publisher()
        second, _ = self.publisher()
        done = self.rtl("stop")
        self.assertEqual(done.returncode, 2)
        self.assertIn("stop: more than one `rtl trace` or `rtl attach` runs", done.stderr)
        for child in (first, second):
            self.assertIn(f"rtl: process {child.pid}: {self.spool}/rtl-{child.pid}-", done.stderr)
        self.assertEqual(self.line(first), 100)
        self.good("stop", str(second.pid))
        self.line_until(second, 0)
        self.assertEqual(self.line(first), 100)
        for child in (first, second):
            child.communicate(timeout=HANG_S)

    def test_one__need_not_be_named_and_is_said(self):
        if not TMPFS:
            self.skipTest("needs a /dev/shm of its own")
        done = subprocess.run(
            ["unshare", "-rm", "sh", "-c", "mount -t tmpfs none /dev/shm && exec \"$@\"", "sh",
             RTL, "trace", "-q", "--paused", "-o", "run.db", "sh", "-c",
             f"'{PROGRAM}' 100 print; '{RTL}' start; until test \"$('{PROGRAM}' 100 print)\" = 100; "
             "do :; done"],
            check=False, cwd=self.folder, capture_output=True, text=True, timeout=HANG_S,
            env=self.environment({"TMPDIR": self.folder, "XDG_RUNTIME_DIR": self.folder,
                                  "RTL_SPOOL": ""}))
        self.assertEqual((done.returncode, done.stdout), (0, "0\n"))
        self.assertRegex(done.stderr, r"^rtl: process \d+ records: /dev/shm/rtl-\d+-\w+\n$")

    def test_in_process_paused__as_in_the_collector(self):
        child = self.start("trace", "-q", "--in-process", "--paused", "-o", "run.db", PROGRAM, "100",
                           "lines", stdin=subprocess.PIPE)
        self.assertEqual((self.line(child), self.line(child)), (0, 0))
        self.good("start", str(child.pid))
        total = self.line_until(child, 100)
        self.good("stop", str(child.pid))
        total += self.line_until(child, 0)
        self.good("start", str(child.pid))
        total += self.line_until(child, 100)
        child.communicate(timeout=HANG_S)
        self.assertEqual(self.operations("run.db"), total)

    def test_dead_collector__said_so(self):
        child, _ = self.publisher()
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        self.refused(1, "`rtl recover ", "start", self.in_spool())
        child.communicate(timeout=HANG_S)
        self.assertEqual(self.rtl("recover", self.in_spool()).returncode, 0)


if __name__ == "__main__":
    unittest.main()
