#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Folders that somebody else may have had a hand in: nothing that they name is loaded or written with the
caller's rights. Without ROCm; the program is that of cli_kit.py.
"""

import os
import shutil
import signal
import subprocess
import unittest

from cli_kit import HANG_S, PROGRAM, Case

MARK = os.environ["RTL_TEST_MARK"]
SOMEBODY = 65534
AS_ROOT = unittest.skipUnless(os.geteuid() == 0, "only root can give a folder to another user")


class Foreign(Case):
    """rtl recover, replay, info and stop over the folder of an rtl that was killed."""

    def setUp(self):
        super().setUp()
        child = self.start("trace", "-s", f"{MARK}:libsqlite_sub.so?output={self.path('run.db')}",
                           PROGRAM, "3000", "lines", stdin=subprocess.PIPE)
        self.published = self.line(child)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.communicate(timeout=HANG_S)
        self.left = self.path("left")
        shutil.move(self.in_spool(), self.left)
        self.mark = self.path("mark")

    def mine(self, *arguments, **more):
        """What rtl says; whether it has loaded what the folder names."""
        done = self.rtl(*arguments, env={"TEST_MARK": self.mark}, **more)
        marked = os.path.exists(self.mark)
        if marked:
            os.unlink(self.mark)
        return done, marked

    def give(self, path):
        for folder, _, files in os.walk(path):
            for name in (folder, *(os.path.join(folder, file) for file in files)):
                os.chown(name, SOMEBODY, SOMEBODY, follow_symlinks=False)

    def assert_refused(self, part, *arguments):
        before = sorted(os.listdir(self.folder)), sorted(os.listdir(self.left))
        done, marked = self.mine("recover", *arguments, self.left)
        self.assertEqual((done.returncode, done.stdout, marked), (1, "", False), done.stderr)
        self.assertRegex(done.stderr, r"\Artl: recover: .*\n\Z")
        self.assertIn(part, done.stderr)
        self.assertEqual((sorted(os.listdir(self.folder)), sorted(os.listdir(self.left))), before)

    def test_own__recovered(self):
        done, marked = self.mine("recover", self.left)
        self.assertEqual((done.returncode, marked), (0, True), done.stderr)
        self.assertEqual(self.operations("run.db"), self.published)

    @AS_ROOT
    def test_of_another_user__refused(self):
        self.give(self.left)
        self.assert_refused(f"belongs to user {SOMEBODY}")
        self.assert_refused(f"belongs to user {SOMEBODY}", "-o", "other.db")

    @AS_ROOT
    def test_notes_of_another_user__refused(self):
        os.chown(os.path.join(self.left, "notes"), SOMEBODY, SOMEBODY)
        self.assert_refused(f"belongs to user {SOMEBODY}")

    def test_notes_are_a_link__refused(self):
        notes = os.path.join(self.left, "notes")
        os.rename(notes, self.path("notes"))
        os.symlink(self.path("notes"), notes)
        self.assert_refused("left/notes: ")

    def test_notes_are_a_fifo__refused(self):
        """Nor does anything wait for who writes there."""
        notes = os.path.join(self.left, "notes")
        os.unlink(notes)
        os.mkfifo(notes)
        self.assert_refused("left/notes: ")
        self.assertEqual(self.mine("info", self.left)[0].returncode, 0)

    def test_session_is_a_link__not_followed(self):
        """Somebody's file that looks like a session's is not written to."""
        session = os.path.join(self.left, "session")
        os.rename(session, self.path("precious"))
        os.symlink(self.path("precious"), session)
        with open(self.path("precious"), "rb") as file:
            before = file.read()
        self.assert_refused("left")
        self.assertEqual(self.mine("stop", self.left)[0].returncode, 1)
        with open(self.path("precious"), "rb") as file:
            self.assertEqual(file.read(), before)

    def test_others_may_write__refused(self):
        for mode in (0o720, 0o702):
            os.chmod(self.left, mode)
            self.assert_refused("other users can write to")

    @AS_ROOT
    def test_others_look__nothing_named_is_loaded_or_written(self):
        """What the folder is can be seen all the same, and is unchanged."""
        os.unlink(self.path("run.db"))
        self.give(self.left)
        done, marked = self.mine("info", self.left)
        self.assertEqual((done.returncode, marked), (0, False), done.stderr)
        done, marked = self.mine("replay", "-o", "mine.db", self.left)
        self.assertEqual((done.returncode, marked), (0, False), done.stderr)
        self.assertFalse(os.path.exists(self.path("run.db")))
        self.assertGreater(self.operations("mine.db"), 0)


if __name__ == "__main__":
    unittest.main()
