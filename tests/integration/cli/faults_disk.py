#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Disks are full or may not be written, and what rtl says of it. Without ROCm; the program is that of
cli_kit.py.
"""

import glob
import os
import shutil
import subprocess
import unittest

from cli_kit import HANG_S, PROGRAM, RTL, TMPFS, Faults


@unittest.skipUnless(TMPFS, "no tmpfs can be mounted here")
class FullDisk(Faults):
    """A file system of 2 MiB."""

    def small(self, script):
        os.makedirs(self.path("small"), exist_ok=True)
        return subprocess.run(["unshare", "-rm", "sh", "-c",
                               f"mount -t tmpfs -o size=2M none small || exit 99\n{script}"],
                              cwd=self.folder, capture_output=True, text=True, timeout=HANG_S,
                              env=self.environment({"RTL": RTL, "PROGRAM": PROGRAM}), check=False)

    def test_database__program_runs_on_and_what_is_stored_can_be_read(self):
        for way in ("", "--in-process"):
            with self.subTest(way=way):
                done = self.small(f'"$RTL" trace {way} -o small/run.db "$PROGRAM" 300000 print; '
                                  'echo status $?; "$RTL" summary small/run.db; cp small/run.db* .')
                self.assertRegex(done.stdout, r"^\d+\nstatus 0\nsmall/run\.db\n")
                self.assertIn("the disk is full", done.stderr)
                self.assertIn("small/run.db is not complete", done.stderr)
                self.assertNotIn(" 0 lost", done.stderr + done.stdout)
                self.packets("run.db")
        self.assertEqual(os.listdir(self.spool), [])

    def test_recording__recovered_when_there_is_room(self):
        done = self.small('"$RTL" record -o small/run.rec "$PROGRAM" 300000 print; echo status $?; '
                          'rm -rf kept; cp -r small/run.rec kept')
        published = int(done.stdout.split("\n")[0])
        self.assertIn("\nstatus 0\n", done.stdout)
        self.assertRegex(done.stderr, "cannot write to .*No space left.*recording has ended")
        folder = self.in_spool()
        self.assertIn(f"run.rec is not complete; `rtl recover {folder}` completes it", done.stderr)
        self.assertNotIn("rtl replay", done.stderr)
        os.rmdir(self.path("small"))
        os.mkdir(self.path("small"))
        shutil.move(self.path("kept"), self.path("small/run.rec"))
        done = self.rtl("recover", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.rtl("replay", "-o", "run.db", "small/run.rec").returncode, 0)
        # a program that waited for room had it made by throwing events away
        all_of_them, delivered, discarded, _ = self.ledger("run.db")
        self.assertEqual((all_of_them, delivered + discarded), (published, published))
        self.assertEqual(self.operations("run.db"), delivered)

    def test_from_a_recording__nothing_is_left(self):
        """By name and by setting: what was recorded is still there, and a part of it would mislead."""
        self.assertEqual(self.rtl("record", "-o", "run.rec", PROGRAM, "100000").returncode, 0)
        for output in ("-o small/run.json", "-s 'libjson_sub.so?output=small/run.json'", "-o small/run.pftrace",
                       "-o small/run.db"):
            with self.subTest(output=output):
                done = self.small(f'"$RTL" replay {output} run.rec; echo status $?; ls -A small')
                self.assertEqual(done.stdout, "status 1\n", done.stderr)
                self.assertRegex(done.stderr, "cannot be written|the disk is full")
                self.assertNotIn("rtl: trace: ", done.stderr)

    def test_tables_from_a_recording__nothing_is_left(self):
        """No room for the database that they are made of; none for them; and a command that is not run."""
        self.assertEqual(self.rtl("record", "-o", "run.rec", PROGRAM, "30000").returncode, 0)
        commands = ("replay -o small/run.csv run.rec", 1, ""), ('trace -q -o small/run.csv "$PROGRAM" 30000', 0, "run.csv.db\n")
        for command, status, left in commands:
            done = self.small(f'mount -t tmpfs -o size=100k none small; "$RTL" {command}; echo status $?; ls -A small')
            self.assertEqual(done.stdout, f"status {status}\n", done.stderr)
            self.assertIn("the disk is full", done.stderr)
            self.assertNotIn("rtl: trace: ", done.stderr)
            folder = "small/run.csv/kernel_trace.csv.part/"  # in the place of a file
            done = self.small(f'mount -t tmpfs none small; mkdir -p {folder}x; "$RTL" {command}; echo status $?; '
                              f'rm -r {folder}; rmdir small/run.csv; ls -A small')
            self.assertEqual(done.stdout, f"status {status}\n{left}", done.stderr)
            self.assertIn("run.csv/kernel_trace.csv cannot be written", done.stderr)
            self.assertEqual("run.csv.db has the events for " in done.stderr, bool(left))
        self.rtl("trace", "-q", "-o", "old.csv", PROGRAM, "10")
        self.assertEqual(self.rtl("trace", "-o", "old.csv", "./nosuch").returncode, 127)
        self.assertEqual(sorted(os.listdir(self.path("old.csv"))), ["kernel_trace.csv", "run_facts.csv"])

    def test_timeline_of_a_snapshot__nothing_under_its_name(self):
        done = self.small('mkfifo go; "$RTL" trace -q --last 1000 -o run.db "$PROGRAM" 30000 lines < go & exec 3> go; '
                          'echo >&3; for n in $(seq 200); do sleep 0.05; folder=$(dirname "$RTL_SPOOL"/*/session); '
                          '"$RTL" snapshot -o now.db "$folder" && "$RTL" info now.db | grep -q " 30000 published" && break; done; '
                          '"$RTL" snapshot -o small/now.json "$folder"; echo status $?; ls -A small; exec 3>&-; wait')
        self.assertEqual(done.stdout, "30000\nstatus 1\n", done.stderr)

    def test_spool__program_runs_on_and_losses_are_counted(self):
        done = self.small('"$RTL" trace --spool small -o run.db "$PROGRAM" 300000 print; '
                          'echo status $?')
        self.assertRegex(done.stdout, r"^\d+\nstatus 0\n$")
        published, delivered, discarded, abandoned = self.ledger("run.db")
        self.assertEqual(published, delivered + discarded + abandoned)
        self.assertEqual(self.operations("run.db"), delivered)
        self.assertEqual(delivered + discarded, 300000)

    def test_spool_of_a_recording__valid_and_the_rest_counted(self):
        """Threads that stay, until none gets a buffer any more."""
        done = self.small('yes on | head -30 | "$RTL" record --spool '
                          'small -o run.rec "$PROGRAM" 20000 threads; echo status $?; ls small')
        recorded = sum(int(line) for line in done.stdout.split("\n")[:30])
        self.assertEqual(done.stdout.split("\n")[30:], ["status 0", ""])
        self.assertNotIn("damaged", done.stderr)
        self.assertEqual(self.rtl("replay", "-o", "run.db", "run.rec").stderr.count("damaged"), 0)
        published, delivered, discarded, abandoned = self.ledger("run.db")
        self.assertEqual((published, delivered, discarded, abandoned),
                         (600000, recorded, 600000 - recorded, 0))
        self.assertEqual(self.operations("run.db"), recorded)
        # a dispatch is less than 400 bytes
        size = sum(os.path.getsize(name) for name in glob.glob(self.path("run.rec/*/segment-*")))
        self.assertLess(size, 400 * recorded)

    def test_full_at_the_start__refused_in_a_line(self):
        done = self.small('head -c 3000000 /dev/zero >small/x 2>/dev/null; '
                          'for o in "-o small/run.db" "--spool small"; do '
                          '"$RTL" trace $o touch ran; echo $?; done')
        self.assertEqual(done.stdout, "1\n1\n", done.stderr)
        self.assertIn("small/run.db: cannot be opened as a database (database or disk is full)",
                      done.stderr)
        self.assertIn("small: No space left on device; name another folder", done.stderr)
        self.assertFalse(os.path.exists(self.path("ran")))


@unittest.skipIf(os.geteuid() == 0 and not TMPFS, "root may write everywhere")
class ReadOnly(Faults):
    """Folders in which nothing can be made."""

    def inside(self, script):
        """Runs it beside a folder `fixed`."""
        os.makedirs(self.path("fixed"), 0o500, exist_ok=True)
        mount = ["unshare", "-rm"] if TMPFS else []
        script = ("mount -t tmpfs -o ro none fixed || exit 99\n" if TMPFS else "") + script
        return subprocess.run([*mount, "sh", "-c", script], cwd=self.folder, capture_output=True,
                              env=self.environment({"RTL": RTL, "PROGRAM": PROGRAM}), text=True,
                              timeout=HANG_S, check=False)

    def refused_inside(self, part, arguments):
        done = self.inside(f'"$RTL" {arguments} touch ran; echo $?')
        self.assertEqual(done.stdout, "1\n", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(part, done.stderr)
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_output(self):
        for arguments in ("trace -o fixed/run.db", "trace --in-process -o fixed/run.db",
                          "trace -s 'libstats_sub.so?output=fixed/stats.txt'",
                          "trace --in-process -s 'libsqlite_sub.so?output=fixed/%25e.db'",
                          "record -o fixed/run.rec"):
            self.refused_inside("fixed", arguments)
        self.refused_inside("fixed", "trace --spool fixed")

    def test_working_directory(self):
        done = self.inside('cd fixed && "$RTL" trace "$PROGRAM" 10 print; echo $?')
        self.assertEqual(done.stdout, "1\n", done.stderr)
        self.assertIn("rtl-cli_program-", done.stderr)

    def test_spool_of_a_program(self):
        done = self.inside('RTL_SPOOL=fixed RTL_SUBSCRIBERS=libstats_sub.so "$PROGRAM" 10 print')
        self.assertEqual((done.returncode, done.stdout), (0, "0\n"))
        self.assertIn("cannot make a folder in fixed", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class Lines(Faults):
    """What rtl says is one line, whatever is in the values."""

    def test_control_characters__escaped(self):
        self.refused(2, r"unknown mode 'a\nb\x1b[31m\t\x7f'", "trace", "-m", "a\nb\x1b[31m\t\x7f",
                     "true")
        done = subprocess.run([PROGRAM, "1"], text=True, capture_output=True, check=True,
                              env=self.environment({"RTL_SUBSCRIBERS": "none\n\x1b[31m_sub.so"}))
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn(r"subscriber 'none\n\x1b[31m_sub.so' not found", done.stderr)


if __name__ == "__main__":
    unittest.main()
