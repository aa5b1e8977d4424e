#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
rtl is killed while it writes a database: at any moment the file can be read, and has what its own ledger
says; after `rtl recover` it has each event once.
"""

import collections
import os
import random
import shutil
import signal
import time
import unittest

from cli_kit import PROGRAM, Case, SANITIZED, rounds


class DatabaseKilled(Case):
    def killed(self, name, seconds):
        child = self.start("trace", "-q", "-o", name, PROGRAM, "3000", "regions")
        self.wait_until(lambda: child.poll() is not None or
                        os.path.exists(self.path(name)) and os.path.getsize(self.path(name)))
        time.sleep(seconds)
        child.send_signal(signal.SIGKILL)
        child.communicate()  # the program goes on, and ends

    def check_readable(self, name):
        """How many dispatches it has; None: it was killed before it had made the tables."""
        self.assertEqual(self.ask(name, "PRAGMA integrity_check"), [("ok",)])
        if not self.ask(name, "SELECT 1 FROM sqlite_master WHERE name = 'rtl_ledger'"):
            return None
        self.assertEqual(self.ask(name, "PRAGMA foreign_key_check"), [])
        tables = {t for t, in self.ask(name, "SELECT name FROM sqlite_master WHERE type = 'view'")}
        begins, ends = (self.ask(name, f"SELECT count(*) FROM {table}")[0][0] if table in tables else 0
                        for table in ("rtl_e_rtl_default_region_begin", "rtl_e_rtl_default_region_end"))
        dispatches = self.ask(name, "SELECT count(*) FROM rtl_dispatch JOIN rocpd_op ON op_id = rocpd_op.id")[0][0]
        for stream, found in ("rtl.hsa", dispatches), ("rtl.default", begins + ends):
            delivered, = self.ask(name, "SELECT ifnull(sum(delivered), 0) FROM rtl_ledger"
                                        f" WHERE stream = '{stream}'")[0]
            self.assertGreaterEqual(found, delivered, stream)
        # ends and spans are written together
        self.assertEqual(self.ask(name, "SELECT count(*) FROM rtl_span WHERE NOT unfinished"), [(ends,)])
        done = self.rtl("summary", "--json", name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return dispatches

    def check_recovered(self, name):
        for folder in os.listdir(self.spool):
            done = self.rtl("recover", os.path.join(self.spool, folder))
            if done.returncode == 2:  # killed before it has said where its events go
                done = self.rtl("recover", "-o", name, os.path.join(self.spool, folder))
            self.assertEqual(done.returncode, 0, done.stderr)
            if "left no events" in done.stderr and not self.has_table(name, "rtl_ledger"):
                return  # killed before it has begun to record
        packets = collections.Counter(p for p, in self.ask(name, "SELECT packet_id FROM rtl_dispatch"))
        self.assertLessEqual(set(packets.values()), {1})
        self.assertEqual(len(packets), max(packets, default=-1) + 1)
        spans = self.ask(name, "SELECT type, process, instance, count(*) AS n FROM rtl_span GROUP BY 1, 2, 3 HAVING n > 1")
        self.assertEqual(spans, [])
        regions, ends = self.ask(name, "SELECT (SELECT count(*) FROM rtl_span),"
                                       " (SELECT count(*) FROM rtl_span WHERE NOT unfinished)")[0]
        self.assertLessEqual(regions - ends, 2)
        self.check_readable(name)

    def test_readable_and_as_its_ledger_says(self):
        some = 0
        least = window = 1.5 if SANITIZED else 0.12
        for i in range(rounds(60)):
            name = f"{i}.db"
            self.killed(name, random.random() * window)
            window *= 1.2  # a busy machine may need longer until it has written anything
            if not os.path.exists(self.path(name)) or not os.path.getsize(self.path(name)):
                continue
            if self.check_readable(name):
                some += 1
                window = max(window / 1.4, least)
            if i % 5 == 0:
                self.check_recovered(name)
            else:
                for folder in os.listdir(self.spool):
                    shutil.rmtree(os.path.join(self.spool, folder))
            for part in (name, name + "-wal", name + "-shm"):
                if os.path.exists(self.path(part)):
                    os.unlink(self.path(part))
        self.assertGreater(some, 0)


if __name__ == "__main__":
    unittest.main()
