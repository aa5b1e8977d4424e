#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
What `rtl trace` and `rtl record` say at the end where there is nothing of a GPU in the trace: what is
known, and no more. Without ROCm; the program is that of cli_kit.py, and says how it ends.
"""

import os
import signal
import subprocess
import unittest

from cli_kit import HANG_S, PROGRAM, RTL, TMPFS, Case

MARK = os.environ["RTL_TEST_MARK"]
NOTHING = "nothing was recorded: "
NO_OPERATION = "no GPU operation was recorded: "
PUBLISHED_NOTHING = NOTHING + "no process of the command published anything: it used no GPU, "
WROTE_NOTHING = NOTHING + "no process of the command wrote a trace: it used no GPU, "
PAUSED = "recording was paused when the command "
UNFINISHED = " had not ended when the process did"

# What was run and how -> what is said. What is not known must not be said: all else that could be.
ENDINGS = (
    (("trace",), ("true",), 0, PUBLISHED_NOTHING),
    (("trace", "-q"), ("true",), 0, PUBLISHED_NOTHING),
    (("trace", "--in-process"), ("true",), 0, WROTE_NOTHING),
    (("trace", "-s", "libstats_sub.so"), ("true",), 0, PUBLISHED_NOTHING),
    (("record",), ("true",), 0, PUBLISHED_NOTHING),
    (("trace",), (PROGRAM, "0"), 0,
     NO_OPERATION + "the command submitted no kernel and no copy that rtl sees"),
    (("trace", "--in-process"), (PROGRAM, "0"), 0,
     NO_OPERATION + "the command submitted no kernel and no copy that rtl sees"),
    (("trace", "--paused"), (PROGRAM, "10"), 0,
     NO_OPERATION + PAUSED + "began and when it ended; `rtl start`"),
    (("record", "--paused"), (PROGRAM, "10"), 0, PAUSED + "began and when it ended\n"),
    (("trace", "--paused", "-s", "libstats_sub.so"), (PROGRAM, "10"), 0,
     NO_OPERATION + PAUSED + "began and when it ended; `rtl start`"),
    (("trace", "--paused", "-q", "-s", "libjson_sub.so"), (PROGRAM, "10"), 0,
     NO_OPERATION + PAUSED + "began and when it ended; `rtl start`"),
    (("trace", "--in-process", "--paused", "-s", "libstats_sub.so"), (PROGRAM, "10"), 0,
     PAUSED + "began and when it ended\n"),
    (("trace", "-s", "libjson_sub.so"), (PROGRAM, "0"), 0,
     NO_OPERATION + "the command submitted no kernel and no copy that rtl sees"),
    (("trace", "-s", "libjson_sub.so"), (PROGRAM, "7", "missed"), -signal.SIGKILL,
     NO_OPERATION + "7 lost (of the test: 7), 7" + UNFINISHED + "\n"),
    (("trace",), (PROGRAM, "104", "cut"), -signal.SIGKILL, NO_OPERATION + "104" + UNFINISHED + "\n"),
    (("trace", "-q"), (PROGRAM, "104", "cut"), -signal.SIGKILL, NO_OPERATION + "104" + UNFINISHED + "\n"),
    (("trace",), (PROGRAM, "7", "missed"), -signal.SIGKILL, NO_OPERATION + "7 lost (of the test: 7), 7" + UNFINISHED + "\n"),
)
REASONS = ("used no GPU", "submitted no kernel", PAUSED, UNFINISHED, " lost (", "could not make a spool",
           "RTL_STREAMS", "HSA runtime", "none has ended")
XPTI = "; no XPTI event came: the command has no SYCL runtime that reports any, or a DT_RPATH to another libxptifw.so"


class Endings(Case):
    def assert_said(self, text, err):
        """That, once, and nothing that contradicts it."""
        self.assertEqual(("\n" + err).count("\nrtl: " + text), 1, err)
        for reason in REASONS:
            if reason not in text:
                self.assertNotIn("recorded: " + reason, err)
                self.assertNotIn(reason, err.replace(text, ""))

    def test_its_time_is_over__ends_as_timeout_does(self):
        begun = "the command has not ended after 1 s (--timeout): SIGTERM"
        ended = "The command ended by signal 15 (SIGTERM): --timeout 1\n"
        for options, command, said in (
                (("trace", "-o", "t.json"), (PROGRAM, "5", "hang"), ended),
                (("trace", "--in-process"), ("sleep", "100"), begun),
                (("record", "-q"), ("sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"), "it still runs: SIGKILL\n")):
            done = self.rtl(*options, "--timeout", "1", "--", *command)
            self.assertEqual(done.returncode, 124, done.stderr)
            self.assertIn("rtl: " + begun, done.stderr)
            self.assertIn("\n" + said, "\n" + done.stderr.replace("rtl: ", ""))

    def test_each__said_as_it_is(self):
        for options, command, status, text in ENDINGS:
            with self.subTest(options=options, command=command):
                done = self.rtl(*options, "-o", "out", *command) if "-s" not in options else \
                    self.rtl(*options, *command)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assert_said(text, done.stderr)
                subprocess.run(["rm", "-rf", self.path("out")], check=True)

    def test_xpti_asked_for__said_that_nothing_came_by_it(self):
        for options, said in (("--xpti",), 1), ((), 0):
            err = self.rtl("trace", *options, "-o", "out", "true").stderr
            self.assertEqual(err.count(XPTI), said, err)

    def test_something_recorded__no_word_of_it(self):
        for options in ((), ("--in-process",), ("-q",)):
            done = self.rtl("trace", *options, "-o", "run.db", PROGRAM, "10")
            self.assertNotIn("recorded: ", done.stderr)

    def test_quiet__what_was_lost_and_nothing_else(self):
        said = "rtl: rtl.hsa: 10 of 20 events LOST (of the test: 10)\n"
        for options in (("-o", "run.db"), ("-o", "run.json"), ("-s", "libjson_sub.so"),
                        ("--in-process", "-o", "own.db")):
            for cause, line in (("of the test", said), ("mode lite: of the test", "")):
                with self.subTest(options=options, cause=cause):
                    done = self.rtl("trace", "-q", *options, PROGRAM, "10", "lost", cause)
                    self.assertEqual((done.returncode, done.stderr), (0, line))
        done = self.rtl("trace", "-s", "libjson_sub.so", PROGRAM, "10", "lost", "of the test")
        self.assertTrue(done.stderr.startswith(said), done.stderr)
        done = self.rtl("trace", "-o", "run.db", PROGRAM, "10", "lost", "mode lite: of the test")
        self.assertIn("10 of 20 events recorded, 10 LOST", done.stderr)

    def test_subscriber_that_wants_nothing__no_word_of_the_command(self):
        self.assertEqual(self.rtl("trace", "-s", MARK, PROGRAM, "10").stderr, "")
        self.assert_said(NO_OPERATION + PAUSED + "began",
                         self.rtl("trace", "--paused", "-s", MARK, PROGRAM, "10").stderr)

    def test_streams_left_out__may_be_why(self):
        done = self.rtl("trace", "-o", "run.db", PROGRAM, "10", env={"RTL_STREAMS": "other"})
        self.assert_said(NO_OPERATION + "RTL_STREAMS=other leaves out all that", done.stderr)

    def test_stopped_later__said(self):
        child = self.start("trace", "-o", "run.db", "sh", "-c", f"read x; '{PROGRAM}' 10",
                           stdin=subprocess.PIPE)
        self.wait_until(lambda: os.listdir(self.spool))
        self.wait_until(lambda: self.rtl("stop", self.in_spool()).returncode == 0)
        _, err = child.communicate("go\n", timeout=HANG_S)
        self.assert_said(NO_OPERATION + PAUSED + "ended; ", err)

    def test_stopped_after_something_was_recorded__said(self):
        for verb, output in ("trace", "run.db"), ("record", "recording"):
            with self.subTest(verb):
                child = self.start(verb, "-o", output, "sh", "-c",
                                   f"'{PROGRAM}' 10; echo done; read x; '{PROGRAM}' 10", stdin=subprocess.PIPE)
                self.assertEqual(child.stdout.readline(), "done\n")
                self.assertEqual(self.rtl("stop", self.in_spool()).returncode, 0)
                _, err = child.communicate("go\n", timeout=HANG_S)
                self.assertRegex(err, "recording was (stopped|paused) when the command ended")
        self.assertIn("run.db: recording was stopped when it ended", self.rtl("summary", "run.db").stderr)

    def test_unfinished_only__summary_says_so_too(self):
        self.rtl("trace", "-o", "run.db", PROGRAM, "104", "cut")
        done = self.rtl("summary", "run.db")
        self.assertIn("rtl.hsa: 0 of 104 events recorded, 104%s, 0 lost\n" % UNFINISHED, done.stdout)

    def without_room(self, verb, command):
        """rtl has its folder; then the file system is full."""
        os.makedirs(self.path("small"), exist_ok=True)
        return subprocess.run(
            ["unshare", "-rm", "sh", "-c",
             'mount -t tmpfs -o size=2M none small || exit 99; '
             '"$RTL" "$1" -q --spool small -o out sh -c "$2"',
             "sh", verb, f"cat /dev/zero >small/x 2>/dev/null; {command}; exit 3"],
            cwd=self.folder, capture_output=True, text=True, timeout=HANG_S, check=False,
            env=self.environment({"RTL": RTL, "PROGRAM": PROGRAM}))

    @unittest.skipUnless(TMPFS, "no tmpfs can be mounted here")
    def test_no_room_for_some_spools__said_how_many(self):
        for verb in ("trace", "record"):
            done = self.without_room(verb, '"$PROGRAM" 10; rm small/x; "$PROGRAM" 10')
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertTrue(done.stderr.endswith(
                "\nrtl: 1 process of the command could not make a spool for its events: what it did "
                "was not recorded\n"), done.stderr)
            self.assertNotIn("recorded: ", done.stderr.replace("nothing will be recorded", ""))
            subprocess.run(["rm", "-rf", self.path("out")], check=True)

    @unittest.skipUnless(TMPFS, "no tmpfs can be mounted here")
    def test_no_room_for_a_spool__that_is_why(self):
        """Two processes cannot make theirs; neither of them is taken for one that used no GPU."""
        for verb in ("trace", "record"):
            done = self.without_room(verb, '"$PROGRAM" 10; "$PROGRAM" 10')
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertEqual(done.stderr.count("nothing will be recorded"), 2, done.stderr)
            self.assert_said(NOTHING + "2 processes of the command could not make a spool for their "
                             "events, and printed why\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
