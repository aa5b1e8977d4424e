#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Variables of rtl that make no sense, whoever set them: the program does what it would have done, a line or
two say what is wrong, nothing takes long, and no more memory than usual. Without ROCm.
"""

import os
import resource
import subprocess
import unittest

from cli_kit import PROGRAM, RTL, SANITIZED, Case

SHORT_S = 120
MOST = 4 << 30  # bytes of address space: what is asked for is not simply taken

TEXTS = {
    "long": b"x" * 100_000,
    "long path": b"/" + b"y/" * 40_000,
    "lines": b"a\nrtl: error: b\r\n\x1b[31mc",
    "bytes": b"\xff\xfe\x80%n%s%",
    "separators": b":::;;,,&&??==",
    "groups": b"(" * 20_000,
}
NUMBERS = {
    "long": b"x" * 100_000,
    "negative": b"-1",
    "2^63": str(1 << 63).encode(),
    "2^64": str(1 << 64).encode(),
    "2^64 + 65536": str((1 << 64) + 65536).encode(),
    "many digits": b"9" * 5_000,
    "huge": b"1099511627776G",
    "float": b"1e308",
    "not a number": b"nan",
    "blank": b" ",
}
IN_PROGRAM = {
    "RTL_BUFFER_SIZE": NUMBERS, "RTL_BUFFER_TOTAL": NUMBERS, "RTL_EXIT_TIMEOUT": NUMBERS,
    "RTL_DELAY": NUMBERS, "RTL_REPEAT": NUMBERS, "RTL_BUFFER_POLICY": TEXTS, "RTL_SPOOL": TEXTS,
    "RTL_LOG": TEXTS, "RTL_COLLECTOR": TEXTS, "RTL_CONTROL": TEXTS, "RTL_SUBSCRIBERS": TEXTS,
}
OF_COMMAND = {
    "RTL_BUFFER_TOTAL": NUMBERS, "RTL_DURATION": NUMBERS, "RTL_MODE": TEXTS, "RTL_SPOOL": TEXTS,
    "RTL_SUBSCRIBERS": TEXTS, "RTL_KERNEL": TEXTS, "RTL_STREAMS": TEXTS, "RTL_COUNTERS": TEXTS,
}


def limit():
    if not SANITIZED:  # they map far more
        resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))


class Absurd(Case):
    def run_with(self, command, variable, value, **more):
        env = {os.fsencode(k): os.fsencode(v) for k, v in self.environment().items()}
        env.update({os.fsencode(k): os.fsencode(v) for k, v in more.items()})
        env[variable.encode()] = value
        return subprocess.run(command, cwd=self.folder, env=env, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=SHORT_S, check=False,
                              preexec_fn=limit)

    def assert_text(self, err):
        """Lines of a size, and nothing in them that a terminal would take as a command."""
        self.assertLess(len(err), 20_000)
        self.assertNotIn(b"\x1b", err)
        self.assertNotIn(b"\nrtl: error: b", err)

    def test_in_a_program__it_does_what_it_would_have_done(self):
        for variable, values in IN_PROGRAM.items():
            for name, value in values.items():
                with self.subTest(variable=variable, value=name):
                    done = self.run_with([PROGRAM, "10"], variable, value, **(
                        {} if variable == "RTL_SUBSCRIBERS" else
                        {"RTL_SUBSCRIBERS": "libstats_sub.so?output=stats.txt"}))
                    self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr[:2000])
                    self.assert_text(done.stderr)

    def test_of_rtl_trace__the_command_runs_or_a_line_says_why_not(self):
        for variable, values in OF_COMMAND.items():
            for name, value in values.items():
                with self.subTest(variable=variable, value=name):
                    done = self.run_with([RTL, "trace", "-q", "-o", "run.db", PROGRAM, "10",
                                          "print"], variable, value)
                    self.assertIn(done.returncode, (0, 1, 2), done.stderr[:2000])
                    self.assert_text(done.stderr)
                    if done.returncode:
                        self.assertRegex(done.stderr, rb"\Artl: ")
                    else:
                        self.assertTrue(done.stdout.endswith(b"\n"))


if __name__ == "__main__":
    unittest.main()
