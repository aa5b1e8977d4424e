#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
A program publishes as fast as it can, from threads that come and go. It, its collector or a recovery is killed at a
random moment, or in a flush, before or after the database has committed: each event that the program had counted is
in the database, once and in its place.
"""

import glob
import os
import random
import subprocess
import time
import unittest

from cli_kit import HANG_S, PUBLISH, RTL, SANITIZED, THREADS, TOLD, Case, Load, rounds

SQLITE = "libsqlite_sub.so?output=run.db"
SLOWER = 5 if SANITIZED else 1
NOTES = "rtl_e_recover_notes_note"
EVENTS = f"SELECT thread, number, id FROM {NOTES}", "SELECT tid AS thread, instance AS number, op_id AS id FROM rtl_dispatch"
PLACES = ("SELECT thread, count(*), max(number), sum(number <> place) FROM (SELECT thread, number, "
          "row_number() OVER (PARTITION BY thread ORDER BY id) AS place FROM ({})) GROUP BY thread")
OPERATIONS = "(SELECT count(*) FROM rocpd_op)"
NOTHING = (  # what there is none of
    "FROM pragma_integrity_check WHERE integrity_check <> 'ok'", "FROM pragma_foreign_key_check",
    # where it was killed before its first event, nothing is left to recover
    "FROM rtl_meta WHERE key = 'state' AND value NOT IN ('complete', 'recovered') AND EXISTS (SELECT 1 FROM rtl_process)",
    f"FROM (SELECT count(*) AS n FROM rtl_dispatch) WHERE n <> {OPERATIONS}",
    f"FROM (SELECT count(*) AS n FROM rocpd_api_ops) WHERE n <> {OPERATIONS}",
    f"FROM (SELECT count(*) AS n FROM rocpd_kernelapi) WHERE n <> {OPERATIONS}",
    f"FROM (SELECT count(*) AS n FROM rocpd_api) WHERE n <> {OPERATIONS} + 2 * (SELECT count(*) FROM rtl_process)",
    "FROM (SELECT count(*) AS n FROM rtl_process) WHERE n > 1",
    "FROM rtl_queue GROUP BY queue HAVING count(*) > 1",
    "FROM rtl_ledger WHERE published <> delivered + discarded + abandoned OR abandoned NOT BETWEEN 0 AND 4",
    "FROM rtl_ledger WHERE stream = 'rtl.hsa' AND delivered <> (SELECT count(*) FROM rtl_dispatch)")
NO_NOTES = (f"FROM {NOTES} WHERE name IS NOT 'name-' || (number / 512)",
            f"FROM rtl_ledger WHERE stream LIKE 'recover.%' AND delivered <> (SELECT count(*) FROM {NOTES})")


class UnderLoad(Case):
    def subscribers(self):
        """Of one that is killed: in a flush, or from outside."""
        killer = f"{TOLD}?way=kill&at={random.randint(1, 6)}"
        return random.choice((SQLITE, SQLITE, f"{killer}:{SQLITE}", f"{SQLITE}:{killer}"))

    def begin(self, *command, subscribers=""):
        """Mostly until it runs, with small rings: threads wait for room, and positions go round."""
        for name in glob.glob(self.folder + "/run.db*"):
            os.unlink(name)
        load = Load(self.path("counts"))
        self.addCleanup(load.close)
        child = subprocess.Popen([*command, PUBLISH, load.path, random.choice("14")], cwd=self.folder, env=self.environment(
            {"RTL_BUFFER_SIZE": "131072", "RTL_SUBSCRIBERS": subscribers}), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        if random.randrange(8):
            self.wait_until(lambda: load.is_ready() or child.poll() is not None)
        time.sleep(random.random() * 0.09 * SLOWER)
        return load, child

    def recover(self, load):
        for folder in glob.glob(self.spool + "/*"):
            for _ in range(random.randrange(3)):
                again = self.start("recover", "-s", self.subscribers(), folder)
                time.sleep(random.random() * 0.06 * SLOWER)
                again.kill()
                again.communicate()
            self.rtl("recover")  # takes away what was killed while it was made
            if os.path.exists(folder):
                done = self.rtl("recover", "-s", SQLITE, folder)
                self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.spool), [])
        self.check(load)

    def check(self, load):
        """Perhaps with the one event that each thread had under way."""
        notes, recorded = self.has_table("run.db", NOTES), self.has_table("run.db", "rtl_ledger")
        for stream, there in enumerate((notes, recorded)):
            rows = {t: rest for t, *rest in self.ask("run.db", PLACES.format(EVENTS[stream]))} if there else {}
            for thread in range(THREADS):
                counted = load.counts()[stream * THREADS + thread]
                count, last, misplaced = rows.get(thread, (0, 0, 0))
                self.assertEqual((count, misplaced), (last, 0), (stream, thread))
                self.assertIn(last - counted, (0, 1), (stream, thread))
        for nothing in (NOTHING if recorded else ()) + (NO_NOTES if notes else ()):
            self.assertEqual(self.ask("run.db", "SELECT * " + nothing), [], nothing)

    def test_program_is_killed__the_trace_is_whole(self):
        for _ in range(rounds(12)):
            load, child = self.begin(RTL, "trace", "-q", "-s", SQLITE)
            load.kill(child.pid)
            load.stop()  # one that had not begun
            child.wait(HANG_S)
            self.check(load)

    def test_collector_is_killed__recovered(self):
        for _ in range(rounds(12)):
            load, child = self.begin(RTL, "trace", "-q", "-s", self.subscribers())
            child.kill()
            child.wait()
            time.sleep(random.random() * 0.003)
            if random.randrange(2):
                load.kill()
            load.stop()
            self.wait_until(lambda load=load: not load.processes())
            self.recover(load)

    def test_program_that_drains_itself_is_killed__recovered(self):
        for _ in range(rounds(12)):
            load, child = self.begin(subscribers=self.subscribers())
            child.kill()
            child.wait()
            self.recover(load)


if __name__ == "__main__":
    unittest.main()
