#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`rtl check-subscriber`: nothing is wrong with rtl's own; what is with others is found."""

import os
import unittest

from cli_kit import TOLD, Case

ALL = ["replay", "twins", "live", "nothing", "in-process", "give-up", "full-disk"]


class Check(Case):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("tmp"))

    def check(self, *arguments):
        """Its lines, by scenario; nothing is left of it."""
        done = self.rtl("check-subscriber", *arguments, env={"TMPDIR": self.path("tmp")})
        self.assertEqual(done.stderr, "")
        self.assertEqual(os.listdir(self.path("tmp")), [])
        lines = {}
        for line in done.stdout.splitlines():
            scenario, text = line.split(": ", 1)
            lines.setdefault(scenario, []).append(text)
        wrong = [s for s, texts in lines.items() if not texts[0].startswith(("ok (", "not tried"))]
        self.assertEqual(done.returncode, 1 if wrong else 0, done.stdout)
        return lines, wrong

    def test_own__nothing_is_wrong(self):
        for name in ("libsqlite_sub.so", "libjson_sub.so", "libstats_sub.so", TOLD):
            with self.subTest(name=name):
                lines, wrong = self.check(name)
                self.assertEqual((list(lines), wrong), (ALL, []), lines)

    def test_output_given__no_twins(self):
        lines, wrong = self.check("libjson_sub.so?output=a.json")
        self.assertEqual(wrong, [])
        self.assertEqual(lines["twins"], ["not tried, as output= is given"])

    def test_bad__is_said(self):
        events = ["replay", "twins", "live", "in-process"]
        for way, part, where in (
                ("crash&at=9", "crashes: Aborted", events),
                ("say", "prints to standard output: hello", events),
                ("complain", "prints to standard error: hello", events),
                ("fail", "error: does not like it", events),
                ("leave_file", "leaves 3 file descriptors open", ["replay"]),
                ("hang", "hangs: not finished after 2 s", ["nothing"]),
                ("end", "ends the process, with status 0", ["replay", "twins", "live", "nothing"])):
            with self.subTest(way=way):
                lines, wrong = self.check("--timeout", "2" if way == "hang" else "60", f"{TOLD}?way={way}")
                self.assertLessEqual(set(where), set(wrong), lines)
                for scenario in where:
                    self.assertIn(part, " ".join(lines[scenario]))

    def test_bad_thread__is_said(self):
        # Its code is unloaded under it, where unloading unloads.
        lines, wrong = self.check(f"{TOLD}?way=leave_thread")
        self.assertIn("replay", wrong)
        self.assertRegex(" ".join(lines["replay"]), "leaves 3 threads behind|crashes|ends the process")

    def test_bad_input__refused(self):
        for status, part, *arguments in (
                (2, "give a subscriber",), (2, "one subscriber at a time", "a", "b"),
                (2, "takes 1 to 3600", "--timeout", "0", TOLD),
                (1, "'nosuch' not found", "nosuch"), (1, "way", TOLD + "?way=none")):
            with self.subTest(part=part):
                self.refused(status, part, "check-subscriber", *arguments)


if __name__ == "__main__":
    unittest.main()
