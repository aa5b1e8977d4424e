#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Two users on one machine, as SECURITY.md has it: what one records, the other can neither read, feed nor
command; and what the other has put into folders that both may write to does no harm. Needs root, which
becomes either of them. Without ROCm; the program is that of cli_kit.py.
"""

import contextlib
import glob
import json
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import unittest

from cli_kit import PROGRAM, RTL, Case

MARK = os.environ["RTL_TEST_MARK"]
OWNER, OTHER = 65533, 65534
SHORT_S = 60  # what waits at a FIFO would wait for ever
LIBRARIES = os.path.join(os.path.dirname(os.path.dirname(RTL)), "lib")


def as_user(user, function):
    """What the function, called as that user, returns or raises as an OSError."""
    there, here = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        with contextlib.suppress(BaseException):
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            try:
                answer = ["is", function()]
            except OSError as error:
                answer = ["error", error.errno]
            os.write(here, json.dumps(answer).encode())
            status = 0
        os._exit(status)
    os.close(here)
    with open(there, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    kind, answer = json.loads(text)
    if kind == "error":
        raise OSError(answer, os.strerror(answer))
    return answer


def try_to_use(paths):
    """Which of them this process can list, read, write to, remove or rename."""
    can = []
    for path in paths:
        for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):
            with contextlib.suppress(OSError):
                os.close(os.open(path, flags | os.O_NONBLOCK))
                can.append(f"open {path}")
        with contextlib.suppress(OSError):
            os.rename(path, path + "-taken")
            can.append(f"rename {path}")
    return can


@unittest.skipUnless(os.geteuid() == 0, "SKIPPED: only root can be two users")
class TwoUsers(Case):
    """Runs as root; the owner is one user, the other another."""

    @classmethod
    def setUpClass(cls):
        """The build may be where others have no access: a copy that all may use."""
        cls.tree = tempfile.mkdtemp(prefix="rtl-test-tree-")
        cls.addClassCleanup(shutil.rmtree, cls.tree)
        os.chmod(cls.tree, 0o755)
        shutil.copytree(LIBRARIES, os.path.join(cls.tree, "lib"), symlinks=True,
                        ignore=shutil.ignore_patterns("*.a", "python*"))
        os.mkdir(os.path.join(cls.tree, "bin"))
        for name in (RTL, PROGRAM):
            shutil.copy(name, os.path.join(cls.tree, "bin"))
        cls.rtl_copy = os.path.join(cls.tree, "bin", os.path.basename(RTL))
        cls.program = os.path.join(cls.tree, "bin", os.path.basename(PROGRAM))
        cls.mark_sub = os.path.join(cls.tree, "lib", os.path.basename(MARK))

    def setUp(self):
        super().setUp()
        os.chown(self.folder, OWNER, OWNER)
        os.chmod(self.folder, 0o755)
        os.chmod(self.spool, 0o1777)
        self.shared = tempfile.mkdtemp(prefix="rtl test shared ")
        self.addCleanup(shutil.rmtree, self.shared)
        os.chmod(self.shared, 0o1777)

    def environment(self, env=None):
        return {**super().environment(env), "LD_LIBRARY_PATH": os.path.join(self.tree, "lib")}

    def identity(self, user):
        return {"user": user, "group": user, "extra_groups": []}

    def run_as(self, user, *command, env=None, **more):
        return subprocess.run(command, cwd=self.folder, env=self.environment(env), text=True,
                              capture_output=True, timeout=SHORT_S, check=False,
                              stdin=subprocess.DEVNULL, **self.identity(user), **more)

    def rtl_as(self, user, *arguments, **more):
        return self.run_as(user, self.rtl_copy, *arguments, **more)

    def begin(self, *arguments, umask=0):
        """An rtl of the owner's, whose program has published something."""
        child = subprocess.Popen(
            [self.rtl_copy, *arguments, self.program, "100", "lines"], cwd=self.folder, text=True,
            env=self.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, umask=umask, **self.identity(OWNER))
        self.addCleanup(lambda: child.poll() is None and child.kill())
        self.line(child)
        return child

    def line(self, child):
        self.assertEqual(super().line(child), 100)

    def end(self, child):
        _, err = child.communicate(timeout=SHORT_S)
        self.assertEqual(child.returncode, 0, err)
        return err

    def everything(self, folder):
        for path, folders, files in os.walk(folder):
            for name in folders + files:
                yield os.path.join(path, name)


class Foreigners(TwoUsers):
    """What another user can do to a session."""

    def assert_private(self):
        paths = list(self.everything(self.spool))
        self.assertGreater(len(paths), 3)
        self.assertEqual(as_user(OTHER, lambda: try_to_use(paths)), [])
        self.assertEqual([p for p in paths if os.path.dirname(p) == self.spool
                          and stat.S_IMODE(os.stat(p).st_mode) & 0o077], [])

    def test_spool__is_the_owners_alone(self):
        child = self.begin("trace", "-q", "-o", "run.db")
        self.assert_private()
        self.end(child)
        self.assertEqual(self.operations("run.db"), 100)

    def test_recording_and_flight_recorder__are_the_owners_alone(self):
        child = self.begin("trace", "-q", "--last", "1000", "-o", "run.db")
        self.wait_until(lambda: any(n.endswith("-last") for n in os.listdir(self.spool)))
        self.assert_private()
        self.end(child)
        child = self.begin("record", "-q", "-o", "run.rec")
        self.assert_private()
        self.end(child)

    def test_outputs__have_what_the_umask_gives(self):
        self.end(self.begin("trace", "-q", "-o", "run.db", "-o", "run.json", "-s",
                            "libsqlite_sub.so:libjson_sub.so:libstats_sub.so?output=run.txt",
                            umask=0o077))
        self.end(self.begin("record", "-q", "-o", "run.rec", umask=0o077))
        done = self.run_as(OWNER, "sh", "-c", f"umask 077; '{self.rtl_copy}' convert -o run.csv run.db &&"
                           f"'{self.rtl_copy}' report -o run.html run.db")
        self.assertEqual(done.returncode, 0, done.stderr)
        paths = list(self.everything(self.folder))
        self.assertGreaterEqual(len(paths), 8, paths)
        self.assertEqual([p for p in paths if os.lstat(p).st_mode & 0o077], [])

    def test_commands_of_another__refused_and_without_effect(self):
        child = self.begin("trace", "-q", "--last", "1000", "-o", "run.db")
        session = next(os.path.join(self.spool, n) for n in os.listdir(self.spool)
                       if not n.endswith("-last"))
        os.chmod(self.folder, 0o777)  # the other may write there
        for verb in ("start", "stop", "snapshot", "recover", "info", "replay"):
            with self.subTest(verb=verb):
                done = self.rtl_as(OTHER, verb, session)
                self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
                self.assertRegex(done.stderr, rf"\Artl: {verb}: .*\n\Z")
        for verb in ("start", "stop", "snapshot"):
            with self.subTest(verb=verb, named="none"):
                done = self.rtl_as(OTHER, verb)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn("of yours", done.stderr)
        done = self.rtl_as(OTHER, "recover")
        self.assertEqual((done.returncode, done.stdout),
                         (0, "There is nothing to recover.\n"), done.stderr)
        self.line(child)
        self.end(child)
        self.assertEqual(self.operations("run.db"), 200)

    def test_program_of_another__does_not_feed(self):
        child = self.begin("trace", "-q", "-o", "run.db")
        done = self.run_as(OTHER, self.program, "50", "print",
                           env={"RTL_COLLECTOR": self.in_spool()})
        self.assertEqual((done.returncode, done.stdout), (0, "0\n"))
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.end(child)
        self.assertEqual(self.operations("run.db"), 100)

    def foreign_session(self):
        """One of the other's, open to all: who joins it gives away what he does."""
        child = subprocess.Popen(
            [self.rtl_copy, "trace", "-q", "-o", "theirs.db", "sleep", "1000"], cwd=self.shared,
            env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            **self.identity(OTHER))
        def stop():
            child.terminate()
            child.wait(SHORT_S)
        self.addCleanup(stop)
        self.wait_until(lambda: glob.glob(os.path.join(self.spool, "*", "notes")))
        session = self.in_spool()
        os.chmod(session, 0o777)
        os.chmod(os.path.join(session, "session"), 0o666)
        return session

    def test_session_of_another__is_not_joined(self):
        session = self.foreign_session()
        before = sorted(os.listdir(session))
        for user in (OWNER, 0):
            with self.subTest(user=user):
                done = self.run_as(user, self.program, "50", "print",
                                   env={"RTL_COLLECTOR": session})
                self.assertEqual((done.returncode, done.stdout), (0, "0\n"))
                self.assertIn(f"belongs to user {OTHER}", done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertEqual(sorted(os.listdir(session)), before)

    def test_switch_of_another__is_not_heeded(self):
        """RTL_CONTROL: the page by which `rtl stop` reaches a program that drains itself."""
        session = self.foreign_session()
        self.assertEqual(self.rtl_as(OTHER, "stop", session).returncode, 0)
        done = self.run_as(OWNER, self.program, "50", "print", env={
            "RTL_CONTROL": session, "RTL_SUBSCRIBERS": "libsqlite_sub.so?output=run.db"})
        self.assertEqual((done.returncode, done.stdout), (0, "0\n"), done.stderr)
        self.assertIn(f"RTL_CONTROL={session} belongs to user {OTHER}", done.stderr)

    def test_spool_of_another_in_a_session__is_not_read(self):
        """Where a folder is open to all by mistake."""
        child = self.begin("trace", "-q", "-o", "run.db")
        session = self.in_spool()
        own, = [n for n in os.listdir(session) if n.startswith("rtl-spool-")]
        theirs = os.path.join(session, f"rtl-spool-{os.getpid()}-abcdef")
        os.chmod(session, 0o777)
        os.mkdir(theirs, 0o777)
        for name in os.listdir(os.path.join(session, own)):
            shutil.copy(os.path.join(session, own, name), theirs)
        for path in (theirs, *self.everything(theirs)):
            os.chown(path, OTHER, OTHER)
            os.chmod(path, 0o777)
        self.line(child)
        _, err = child.communicate(timeout=SHORT_S)
        self.assertIn("belongs to another user", err)
        self.assertEqual(self.operations("run.db"), 200)
        shutil.rmtree(session, ignore_errors=True)


class Planted(TwoUsers):
    """What another user has put at names that rtl uses, in folders that both may write to."""

    def setUp(self):
        super().setUp()
        self.precious = self.path("precious")
        os.mkdir(self.precious)
        with open(os.path.join(self.precious, "file"), "w", encoding="utf-8") as file:
            file.write("precious\n")
        spool = os.path.join(self.precious, "rtl-spool-1-abcdef")
        os.mkdir(spool)
        with open(os.path.join(spool, "control"), "w", encoding="utf-8") as file:
            file.write("precious\n")
        for path in (self.precious, *self.everything(self.precious)):
            os.chown(path, OWNER, OWNER)
        self.before = self.state(self.precious)

    def state(self, folder):
        found = {}
        for path in self.everything(folder):
            found[path] = None
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    found[path] = file.read()
        return found

    def plant(self, kind, path):
        def do():
            os.umask(0)
            if kind == "link":
                os.symlink(os.path.join(self.precious, "file"), path)
            elif kind == "folder link":
                os.symlink(self.precious, path)
            elif kind == "dangling link":
                os.symlink(os.path.join(self.precious, "new"), path)
            elif kind == "FIFO":
                os.mkfifo(path)
            elif kind == "file":
                with open(path, "wb"):
                    pass
            elif kind == "folder":
                os.mkdir(path)
        as_user(OTHER, do)

    def assert_harmless(self, done, planted="/"):
        """Nothing of the owner's has changed, and nothing of his is in what the other can read."""
        self.assertEqual(self.state(self.precious), self.before)
        self.assertNotIn(done.returncode, (-signal.SIGABRT, -signal.SIGSEGV), done.stderr)
        if os.path.isfile(planted) and not os.path.islink(planted) and \
           os.lstat(planted).st_uid == OTHER:
            self.assertEqual(os.path.getsize(planted), 0)
        if os.path.isdir(planted) and not os.path.islink(planted) and \
           os.lstat(planted).st_uid == OTHER:
            self.assertEqual(os.listdir(planted), [])
        if done.returncode:
            self.assertRegex(done.stderr, r"(?m)^rtl: .")

    def test_outputs__not_followed_not_fed_and_nobody_waits(self):
        run = self.path("run.db")
        self.assertEqual(self.rtl_as(OWNER, "trace", "-q", "-o", run, self.program,
                                     "10").returncode, 0)
        self.assertEqual(self.rtl_as(OWNER, "trace", "-q", "-o", self.path("two.db"),
                                     self.program, "10").returncode, 0)
        trace = ["trace", "-q"]
        program = [self.program, "10"]
        jobs = {
            "out.db": (["-wal", "-shm", "-journal"],
                       lambda out: [*trace, "-o", out, *program]),
            "out.json": ([".unfinished", ".unfinished.new"],
                         lambda out: [*trace, "-s", "libjson_sub.so", "-o", out, *program]),
            "out.txt": ([], lambda out: [*trace, "-s", f"libstats_sub.so?output={out}", *program]),
            "out.rec": ([], lambda out: ["record", "-q", "-o", out, *program]),
            "out.html": ([".part"], lambda out: ["report", "-o", out, run]),
            "out.pftrace": ([".part"], lambda out: ["convert", "-o", out, run]),
            "out.csv": ([], lambda out: ["convert", "-o", out, run]),
            "out7.db": ([".part"], lambda out: ["convert", "--format", "rocpd7", "-o", out, run]),
            "all.db": ([".part", ".part-journal"],
                       lambda out: ["merge", "-o", out, run, self.path("two.db")]),
        }
        for name, (suffixes, command) in jobs.items():
            for suffix in ("", *suffixes):
                for kind in ("link", "dangling link", "folder link", "FIFO", "file", "folder"):
                    with self.subTest(name=name + suffix, kind=kind):
                        out = os.path.join(self.shared, name)
                        self.plant(kind, out + suffix)
                        done = self.rtl_as(OWNER, *command(out), umask=0)
                        self.assert_harmless(done, out + suffix)
                    self.before = self.state(self.precious)
                    for left in os.listdir(self.shared):
                        left = os.path.join(self.shared, left)
                        if os.path.isdir(left) and not os.path.islink(left):
                            shutil.rmtree(left)
                        else:
                            os.unlink(left)

    def test_tables__refused_before_the_program_runs(self):
        out = os.path.join(self.shared, "out.csv")
        self.plant("folder", out)
        done = self.rtl_as(OWNER, "trace", "-q", "-o", out, self.program, "10", "print")
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertRegex(done.stderr, rf"\Artl: output {out}: .*user {OTHER}.*\n\Z")
        self.assertEqual(os.listdir(self.shared), ["out.csv"])

    def test_log__not_through_a_link_of_anothers_nor_into_a_fifo(self):
        out = os.path.join(self.shared, "log")
        for kind in ("link", "dangling link", "FIFO", "file"):
            with self.subTest(kind=kind):
                self.plant(kind, out)
                done = self.run_as(OWNER, self.program, "10", "print", env={
                    "RTL_LOG": f"debug:{out}", "RTL_SUBSCRIBERS": "libstats_sub.so:missing"})
                self.assertEqual((done.returncode, done.stdout), (0, "10\n"), done.stderr)
                self.assertEqual(self.state(self.precious), self.before)
                self.assertEqual(os.lstat(out).st_size if kind == "file" else 0, 0)
                os.unlink(out)

    def test_places_of_spools__passed_over(self):
        """Links, FIFOs and folders that look like somebody's session."""
        for number, kind in enumerate(("link", "folder link", "FIFO", "file", "folder")):
            for pattern in ("rtl-{}-abcdef", "rtl-spool-{}-abcdef"):
                self.plant(kind, os.path.join(self.spool, pattern.format(4000000 + number)))
        inside = os.path.join(self.spool, "rtl-4000009-abcdef")
        self.plant("folder", inside)
        for name in ("control", "session", "dict", "notes"):
            self.plant("FIFO", os.path.join(inside, name))
        names = sorted(os.listdir(self.spool))
        for arguments in (["recover"], ["stop"], ["info", inside], ["recover", inside],
                          ["replay", "-o", "mine.db", inside]):
            with self.subTest(arguments=arguments):
                self.assert_harmless(self.rtl_as(OWNER, *arguments))
        done = self.rtl_as(OWNER, "trace", "-q", "-o", "run.db", self.program, "10")
        self.assertEqual((done.returncode, self.operations("run.db")), (0, 10), done.stderr)
        self.assertEqual(sorted(os.listdir(self.spool)), names)
        for name in names:
            path = os.path.join(self.spool, name)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)

    def test_snapshots__made_anew_or_not_at_all(self):
        for kind in ("folder link", "dangling link", "folder", "FIFO"):
            for suffix in ("-snapshot-1", "-snapshot-1.new"):
                with self.subTest(kind=kind, suffix=suffix):
                    child = self.begin("trace", "-q", "--last", "1000", "-o", "run.db")
                    session = next(os.path.join(self.spool, n) for n in os.listdir(self.spool)
                                   if not n.endswith("-last"))
                    self.plant(kind, session + suffix)
                    done = self.rtl_as(OWNER, "snapshot", "-o", "snap.db", session)
                    self.assert_harmless(done, session + suffix)
                    self.end(child)
                    self.assertEqual(self.state(self.precious), self.before)
                    for name in os.listdir(self.spool):
                        path = os.path.join(self.spool, name)
                        self.assertEqual(os.lstat(path).st_uid, OTHER)
                        (os.rmdir if os.path.isdir(path) and not os.path.islink(path)
                         else os.unlink)(path)


class Privileged(TwoUsers):
    """Programs that have other rights than who starts them."""

    def setUp(self):
        super().setUp()
        self.privileged = os.path.join(self.folder, "privileged")
        shutil.copy(self.program, self.privileged)
        self.mark = os.path.join(self.shared, "mark")

    def run_privileged(self, mode, **variables):
        os.chown(self.privileged, 0, OTHER)
        os.chmod(self.privileged, mode)
        env = {**self.environment({"TEST_MARK": self.mark}), **variables}
        return subprocess.run([self.privileged, "10", "print"], cwd=self.folder, env=env, text=True,
                              capture_output=True, timeout=SHORT_S, check=False)

    def works(self):
        """The program with its rights as they are: the mark is made."""
        done = self.run_privileged(0o755, RTL_SUBSCRIBERS=self.mark_sub)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.path.exists(self.mark))
        os.unlink(self.mark)

    def test_variables__not_heeded(self):
        """By a group: root may load the libraries of any build."""
        self.works()
        log = os.path.join(self.shared, "log")
        done = self.run_privileged(0o2755, RTL_SUBSCRIBERS=self.mark_sub,
                                   RTL_LOG=f"debug:{log}")
        if done.returncode == 127 and "librtl.so" in done.stderr:
            self.skipTest("SKIPPED: the program finds no librtl without LD_LIBRARY_PATH")
        self.assertEqual((done.returncode, done.stdout), (0, "0\n"), done.stderr)
        self.assertEqual(os.listdir(self.shared), [])
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("set-user-ID program: RTL_* variables are ignored", done.stderr)

    def test_collector__not_joined(self):
        child = subprocess.Popen([RTL, "trace", "-q", "-o", "run.db", PROGRAM, "100", "lines"],
                                 cwd=self.folder, env=self.environment(), text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        self.line(child)
        done = self.run_privileged(0o2755, RTL_COLLECTOR=self.in_spool(), RTL_STRICT="1")
        self.assertEqual((done.returncode, done.stdout), (0, "0\n"), done.stderr)
        self.end(child)
        self.assertEqual(self.operations("run.db"), 100)


if __name__ == "__main__":
    unittest.main()
