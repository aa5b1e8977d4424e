#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`rtl doctor`: which sources of GPU work are possible with the HIP that is here, and why."""
import json
import os
import subprocess
import unittest

from source_kit import BUILD, Case, PROGRAMS7, ROCM7, RTL, RUN5, RUN7

# rtl itself, with the libraries of ROCm 7.
RTL7 = (os.path.join(ROCM7, "ld-linux-x86-64.so.2"), "--library-path",
        os.path.join(BUILD, "lib") + ":" + ROCM7, RTL)


class Doctor(Case):
    def sources(self, *rtl, options=(), env=None):
        """(level, text) of the check, one for each HIP."""
        done = subprocess.run([*rtl, "doctor", "--json", *options], text=True, capture_output=True,
                              env=self.environment("queue", None, None, env), check=False)
        report = json.loads(done.stdout)
        self.assertEqual(done.returncode, 1 if report["faults"] else 0)
        return [(c["level"], c["text"], c["remedy"]) for c in report["checks"]
                if c["check"] == "source"]

    def test_hip_that_does_not_name_kernels(self):
        (level, text, _), = self.sources(RUN5, RTL)
        self.assertEqual(level, "ok")
        self.assertRegex(text, "^with HIP 5.* the source queue is possible, and auto takes it; runtime "
                         "is not: HIP before 5.4")

    def test_what_is_asked_for_is_not_possible__a_fault(self):
        (level, text, remedy), = self.sources(RUN5, RTL, options=["--source", "runtime"])
        self.assertEqual(level, "fault")
        self.assertRegex(text, "^with HIP 5.* the source runtime is not possible: HIP before 5.4")
        self.assertEqual(remedy, "use --source queue, or auto")
        (level, _, _), = self.sources(RUN5, RTL, options=["--source", "auto"])
        self.assertEqual(level, "ok")

    def test_runtime_is_possible(self):
        (level, text, _), = self.sources(*RTL7, options=["--source", "runtime"])
        self.assertEqual(level, "ok")
        self.assertRegex(text, r"^with HIP 7\.2.* queue and runtime \(through its callback .*\) are "
                         "possible, and auto takes queue: HIP 7.2 may crash")

    def test_command_that_loads_another_hip__is_said(self):
        """By its own loader and RPATH; what the loader of rtl finds is the system's."""
        def told(program):
            done = subprocess.run([RUN7, RTL, "doctor", "--json", "--", program, "64", "1"], text=True,
                                  capture_output=True, env=self.environment("queue", None, None, None), check=False)
            return [c["text"] for c in json.loads(done.stdout)["checks"] if c["check"] == "hip_runtime"]
        hip = os.path.realpath(os.path.join(ROCM7, "libamdhip64.so.7"))
        self.assertIn(f"the command loads another HIP than those above: {hip}",
                      told(os.path.join(PROGRAMS7, "vector_add")))
        self.assertNotIn("the command loads", " ".join(told("/bin/true")))

    def test_as_a_program_finds_it(self):
        """What the doctor says is what then happens."""
        program = os.path.join(PROGRAMS7, "vector_add")
        trace = self.trace("auto", program, 65536, 3)
        info = subprocess.run([RTL, "info", trace.path], capture_output=True, text=True, check=True)
        self.assertIn(": queue, not runtime: HIP 7.2 may crash", info.stdout)


if __name__ == "__main__":
    unittest.main()
