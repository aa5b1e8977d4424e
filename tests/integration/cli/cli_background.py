#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
How the thread that drains the traced processes goes before others: its class of scheduling.
"""

import contextlib
import glob
import os
import shutil
import subprocess
import unittest

from cli_kit import HANG_S, PROGRAM, RTL, Case

# Both give a process the right to take back what it gave up of its priority.
WITHOUT = ["prlimit", "--nice=0:0", "setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"]
UNTIL_GO = ["sh", "-c", "until test -e go; do sleep 0.02; done"]


def is_privileged():
    """Whether a process here may take back what it gave up of its priority."""
    return subprocess.run(["nice", "-n", "-1", "true"], capture_output=True, check=False).stderr == b""


class Background(Case):
    def setUp(self):
        super().setUp()
        self.assertEqual(os.sched_getscheduler(0), os.SCHED_OTHER, "run the tests at the usual priority")

    @contextlib.contextmanager
    def traced(self, *prefix, command=(*UNTIL_GO,)):
        """What tells the class of the thread that drains: None, there is none yet."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path("go"))
        child = subprocess.Popen([*prefix, RTL, "trace", "-q", "-o", "run.db", "--", *command],
                                 cwd=self.folder, env=self.environment(), stderr=subprocess.DEVNULL)

        def drains():
            for task in glob.glob(f"/proc/{child.pid}/task/*"):
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    with open(f"{task}/comm", encoding="utf-8") as file:
                        if file.read() == "rtl-collector\n":
                            return os.sched_getscheduler(int(os.path.basename(task)))
            return None
        try:
            yield drains
        finally:
            self.write("go", "")
            try:
                child.wait(HANG_S)
            finally:
                child.kill()
                child.wait()

    def comes_to(self, drains, policy):
        self.wait_until(lambda: drains() == policy)

    @unittest.skipUnless(is_privileged(), "SKIPPED, NOT TESTED: this user may not set negative nice values")
    def test_privileged__gives_way_at_once(self):
        with self.traced() as drains:
            self.comes_to(drains, os.SCHED_IDLE)
        with self.traced("nice", "-n", "5") as drains:
            self.comes_to(drains, os.SCHED_IDLE)

    @unittest.skipUnless(is_privileged(), "SKIPPED, NOT TESTED: this user may not set negative nice values")
    def test_privileged_on_busy_machine__is_not_starved(self):
        with contextlib.ExitStack() as stack:
            for _ in range(4 * os.cpu_count()):
                spins = stack.enter_context(subprocess.Popen(["sh", "-c", "while :; do :; done"]))
                stack.callback(spins.kill)
            with self.traced(command=("sh", "-c", f"until test -e go; do '{PROGRAM}' 20000; done")) as drains:
                self.comes_to(drains, os.SCHED_BATCH)
                self.write("go", "")
        self.assertGreater(self.operations("run.db"), 0)
        self.assertEqual(self.operations("run.db") % 20000, 0)

    @unittest.skipUnless(shutil.which("setpriv"), "SKIPPED, NOT TESTED: no setpriv here")
    def test_not_privileged__never_of_a_class_that_it_may_not_leave(self):
        prefix = WITHOUT if os.geteuid() == 0 else WITHOUT[:2]
        with self.traced(*prefix) as drains:
            self.comes_to(drains, os.SCHED_BATCH)
        for way in (("chrt", "-i", "0"), ("chrt", "-b", "0"), ("nice", "-n", "19")):
            with self.traced(*way) as drains:
                self.comes_to(drains, os.SCHED_IDLE if "-i" in way else os.SCHED_BATCH)


if __name__ == "__main__":
    unittest.main()
