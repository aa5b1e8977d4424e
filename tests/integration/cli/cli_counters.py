#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl list-counters: of GPUs by name, and of those of the software GPU."""

import json
import os
import re
import subprocess
import unittest

from cli_kit import CLEAN, HANG_S, RTL, Case

DEFINITIONS = """
WAVES:
  description: What began
  unit: waves
  architectures:
    gfx906:
      block: SQ
      event: 4
FAR:
  description: Of a block that there is not
  architectures:
    gfx906:
      block: MCARB
      event: 1
HUGE:
  description: More than there are registers
  architectures:
    gfx906:
      expression: reduce(A,sum)+reduce(B,sum)+reduce(C,sum)
LOST:
  description: Of a counter that there is not
  architectures:
    gfx906:
      expression: reduce(NOPE,sum)
""" + "".join(f"{name}:\n  architectures:\n    gfx906:\n      block: GRBM\n      event: {event}\n"
              for name, event in (("A", 0), ("B", 2), ("C", 3)))


class Named(Case):
    """--arch: nothing is looked for on the machine."""

    def test_text(self):
        done = self.rtl("list-counters", "--arch", "gfx90a:xnack-")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("  definitions: rtl's own table\n", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^  L2CacheHit +% +How many requests to L2 hit\.\n"
                                      r" +needs TCC_HIT, TCC_MISS$")
        self.assertRegex(done.stdout, r"(?m)^  SQ_WAVES +waves +Waves that began\.\n"
                                      r" +SQ, event 4$")
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)

    def test_json(self):
        gpu, = json.loads(self.rtl("list-counters", "--arch", "gfx942", "--json").stdout)["gpus"]
        self.assertEqual((gpu["name"], gpu["available"]), ("gfx942", False))
        counters = {c["name"]: c for c in gpu["counters"]}
        self.assertEqual((counters["TCC_HIT"]["block"], counters["TCC_HIT"]["event"]), ("TCC", 17))
        self.assertEqual(counters["TCC_HIT_sum"]["needs"], ["TCC_HIT"])
        self.assertEqual(counters["TCC_HIT_sum"]["expression"], "reduce(TCC_HIT,sum)")
        self.assertFalse(counters["TCC_HIT"]["available"])

    def test_names(self):
        done = self.rtl("list-counters", "--arch", "gfx906", "--json", "sq_waves", "TCC_HIT*")
        gpu, = json.loads(done.stdout)["gpus"]
        self.assertEqual([c["name"] for c in gpu["counters"]], ["SQ_WAVES", "TCC_HIT", "TCC_HIT_sum"])
        done = self.rtl("list-counters", "--arch", "gfx906", "NOPE*")
        self.assertEqual(done.returncode, 1)
        self.assertIn("rtl: no counter or metric is named NOPE*\n", done.stderr)

    def test_meant(self):
        """One that there is not is never passed over; what it was meant to be is said."""
        done = self.rtl("list-counters", "--arch", "gfx906", "SQ_WAVES", "l2cachehits", "sq_wave", "SALUINSTS")
        self.assertEqual(done.returncode, 1)
        self.assertIn("SQ_WAVES", done.stdout)
        self.assertEqual(done.stderr, "".join(
            f"rtl: no counter or metric is named {name}; did you mean {meant}?\n"
            for name, meant in (("l2cachehits", "L2CacheHit"), ("sq_wave", "SQ_WAVES"))))
        for name, meant in (("sq_waves", "SQ_WAVES"), ("L2CacheHits", "L2CacheHit"), ("grbm_count", "GRBM_COUNT")):
            done = self.rtl("record", "-o", self.path("r"), "--counters", f"VALUInsts,{name}", "--", "true")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"no GPU that rtl knows has a counter or metric {name}; did you mean {meant}? ", done.stderr)

    def test_event_number_that_no_register_holds__refused(self):
        """Its lower bits would count another event."""
        for name in ("TCC:9999", "TCC[1]:1024", "SQ:512", "GRBM:64"):
            self.refused(2, f"no GPU that rtl knows has a counter or metric {name}; ", "trace", "--counters",
                         name, "true")
        for name in ("TCC:1023", "SQ:511", "GRBM:63"):
            self.assertEqual(self.rtl("trace", "--counters", name, "true").returncode, 0)

    def test_definitions(self):
        self.write("own.yaml", DEFINITIONS)
        for arguments, env in ((["--definitions", "own.yaml"], {}),
                               ([], {"RTL_COUNTERS_DEFINITIONS": "own.yaml"}),
                               ([], {"ROCP_METRICS": "own.yaml"})):
            done = self.rtl("list-counters", "--arch", "gfx906", *arguments, env=env)
            self.assertIn("  definitions: own.yaml\n", done.stdout)
            self.assertIn("\n  Cannot be had\n", done.stdout)
            self.assertRegex(done.stdout,
                             r"(?m)^  LOST +LOST needs NOPE, which is not defined for gfx906$")

    def test_errors(self):
        self.write("broken.yaml", "A: [1\n")
        for arguments, says in ((["--arch", "gfx1"], "no counters are known for gfx1: "),
                                (["--arch", "gfx906", "-d", "none"], "cannot open none: No such file"),
                                (["--arch", "gfx906", "-d", "/"], "cannot read /: Is a directory"),
                                (["--arch", "gfx906", "-d", "broken.yaml"],
                                 "broken.yaml: line 2: did not find expected ',' or ']'")):
            done = self.rtl("list-counters", *arguments)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("rtl: " + says, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


@unittest.skipUnless("RTL_TEST_SOFTGPU" in os.environ, "needs the software GPU")
class Here(Case):
    """The software GPU's."""

    def here(self, *arguments, library=True, env=None):
        env = dict(CLEAN, RTL_BUILD_DIR=os.environ["RTL_TEST_BUILD"], **(env or {}))
        if library:
            env["LD_LIBRARY_PATH"] = os.path.join(os.environ["RTL_TEST_BUILD"], "lib/aqlprofile")
        return subprocess.run([os.environ["RTL_TEST_SOFTGPU"], RTL, "list-counters", *arguments], env=env,
                              check=False, capture_output=True, text=True, timeout=HANG_S,
                              cwd=self.path(""))

    def test_text(self):
        done = self.here()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("GPU 1: gfx906, softgpu\n"), done.stdout)
        self.assertNotIn("nothing can be counted", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^ +SQ, event 4; 8 at the same time, 1 instance$")

    def test_what_cannot_be_had(self):
        self.write("own.yaml", DEFINITIONS)
        gpu, = json.loads(self.here("--json", "-d", "own.yaml").stdout)["gpus"]
        counters = {c["name"]: c for c in gpu["counters"]}
        self.assertTrue(gpu["available"])
        self.assertTrue(counters["WAVES"]["available"])
        self.assertEqual(counters["WAVES"]["registers"], 8)
        reasons = {name: c["reason"] for name, c in counters.items() if not c["available"]}
        self.assertEqual(reasons, {
            "FAR": "FAR needs block MCARB, which cannot be counted here",
            "HUGE": "HUGE needs 3 counters of block GRBM at the same time, which has 2",
            "LOST": "LOST needs NOPE, which is not defined for gfx906"})

    def test_two_gpus(self):
        gpus = json.loads(self.here("--json", env={"SOFTGPU_COUNT": "2",
                                                   "SOFTGPU_ARCH": "gfx90a"}).stdout)["gpus"]
        self.assertEqual([(g["gpu"], g["name"], g["available"]) for g in gpus],
                         [(1, "gfx90a", True), (2, "gfx90a", True)])

    def test_no_library(self):
        done = self.here(library=False)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"(?m)^  nothing can be counted here: the HSA runtime finds no "
                                      r"libhsa-amd-aqlprofile64\.so")
        gpu, = json.loads(self.here("--json", library=False).stdout)["gpus"]
        self.assertFalse(gpu["available"])
        self.assertFalse(any(c["available"] for c in gpu["counters"]))

    def test_no_gpu(self):
        done = self.here(env={"SOFTGPU_COUNT": "0"})
        self.assertEqual(done.returncode, 1)
        self.assertTrue(re.search(r"(?m)^rtl: the HSA runtime finds no GPU here; choose one, such as --arch", done.stderr),
                        done.stderr)


if __name__ == "__main__":
    unittest.main()
