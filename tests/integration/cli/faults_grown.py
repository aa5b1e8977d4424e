#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Buffers that have grown because nobody took anything out: the program does not wait before the budget is used
up, and what lies in further rings is delivered once, in order, whoever dies. Without ROCm; the program is
that of cli_kit.py.
"""

import glob
import os
import signal
import time
import unittest

from cli_kit import RTL, SANITIZED, SLOW_EVENTS, TOLD, Faults

COUNT = 20000  # events of a line: more than 50 rings
# rtl passes SIGCONT on, which undoes the SIGSTOP by which a leak check that is just beginning stops its process: both
# would wait for ever.
SMALL = {"RTL_BUFFER_SIZE": "64K", "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}


class Grown(Faults):
    """Lines that are published while whoever would drain them is stopped."""

    def stopped(self, *arguments, lines=3):
        """rtl, stopped; its program, which has published lines meanwhile; how many events."""
        child = self.lines(RTL, *arguments, count=str(COUNT), env=SMALL)
        published = self.line(child)
        os.kill(child.pid, signal.SIGSTOP)
        published += sum(self.line(child) for _ in range(lines))
        self.assertEqual(published, COUNT * (1 + lines))  # at once, and nothing was discarded
        return child, published

    def program_of(self, child):
        with open(f"/proc/{child.pid}/task/{child.pid}/children", encoding="utf-8") as file:
            return int(file.read().split()[0])

    def check(self, published):
        """Each event once, in order: they are numbered anew in each line."""
        self.assertEqual(self.ledger("run.db"), (published, published, 0, 0))
        self.assertEqual(self.losses("run.db"), {})
        rows = self.ask("run.db", "SELECT packet_id FROM rtl_dispatch ORDER BY rowid")
        self.assertEqual([n for n, in rows], list(range(COUNT)) * (published // COUNT))

    def test_collector_is_stopped__program_does_not_wait(self):
        child, published = self.stopped("trace", "-q", "-o", "run.db")
        os.kill(child.pid, signal.SIGCONT)
        published += self.line(child)
        self.assertEqual(self.end(child), "")
        self.assertEqual(child.returncode, 0)
        self.check(published)

    def test_subscriber_takes_nothing__program_does_not_wait(self):
        child = self.lines(count=str(COUNT), env={
            "RTL_SUBSCRIBERS": f"libsqlite_sub.so?output=run.db:{SLOW_EVENTS}", **SMALL})
        published = sum(self.line(child) for _ in range(4))
        self.assertEqual(published, COUNT * 4)
        self.write("go", "")
        self.assertEqual(self.end(child), "")
        self.check(published)

    def busy(self, *arguments):
        """rtl, in which the nice thread delivers; its threads' nice values; how many events, of at most 55 lines."""
        child = self.lines(RTL, "trace", "-q", *arguments, count=str(COUNT), env={**SMALL, "RTL_BUFFER_TOTAL": "400M"})
        threads, published = {}, 0

        def is_there():
            nonlocal published
            published += self.line(child)
            time.sleep(0.02 if published < 25 * COUNT else 2)  # a fifth of the room; then so that a slow rtl keeps up
            self.assertLess(published, 55 * COUNT, "it did not come")
            for name in glob.glob(f"/proc/{child.pid}/task/*/stat"):
                with open(name, encoding="utf-8") as file:
                    fields = file.read().replace("(", ")").split(")")
                threads[fields[1]] = int(fields[2].split()[16])
            return "rtl-nice" in threads
        self.wait_until(is_there)
        return child, threads, published

    def test_much_is_published__command_goes_first_while_there_is_room(self):
        child, threads, published = self.busy("-o", "run.db")
        self.assertEqual((threads["rtl"], threads["rtl-nice"]), (os.nice(0), 19))
        published += sum(self.line(child) for _ in range(40))  # beyond a quarter of the room, and back
        self.assertEqual(self.end(child), "")
        self.check(published)

    def test_subscriber_ends_the_nice_thread__rtl_says_so_and_ends(self):
        child, _, published = self.busy("-s", f"libsqlite_sub.so:{TOLD}?way=thread&at={56 * COUNT}", "-o", "run.db")
        while published < 56 * COUNT:
            published += self.line(child)
        self.wait_until(lambda: child.poll() is not None)
        if not SANITIZED:
            self.assertEqual(child.returncode, -signal.SIGABRT)
        self.assertIn("a subscriber has ended the thread that called it", self.end(child))
        self.assertEqual(self.rtl("recover", "-o", "run.db", self.in_spool()).returncode, 0)

    def recover(self):
        done = self.rtl("recover", self.in_spool())
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_both_are_killed__all_is_recovered(self):
        child, published = self.stopped("trace", "-q", "-o", "run.db")
        os.kill(self.program_of(child), signal.SIGKILL)
        os.kill(child.pid, signal.SIGKILL)
        self.end(child)
        self.recover()
        self.check(published)

    def test_recorder_is_stopped__all_is_in_the_recording(self):
        child, published = self.stopped("record", "-q", "-o", "run.rec")
        os.kill(child.pid, signal.SIGCONT)
        self.end(child)
        self.assertEqual(self.rtl("replay", "-o", "run.db", "run.rec").returncode, 0)
        self.check(published)


if __name__ == "__main__":
    unittest.main()
