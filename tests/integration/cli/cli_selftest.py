#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
`rtl selftest`, installed: on the software GPU with both versions of ROCm, and where something is wrong.
RTL_TEST_RUNNER runs a command there. RTL_TEST_BUILD is installed; its program is wrapped where a test says how.
"""

import json
import os
import re
import signal
import subprocess
import tempfile
import unittest

from cli_kit import Case, CLEAN, HANG_S

BUILD = os.environ["RTL_TEST_BUILD"]
RUNNER = os.environ.get("RTL_TEST_RUNNER", "")
HOST_KERNELS = os.path.join(BUILD, "tests/programs/libhost_kernels{}.so")


class SelftestCase(Case):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.prefix = os.path.join(cls.scratch.name, "prefix")
        for component in ("lib", "trace"):
            subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.prefix, "--component",
                            component], check=True, capture_output=True)
        found = subprocess.run(["find", cls.prefix, "-path", "*/rtl/selftest"], check=True,
                               capture_output=True, text=True).stdout
        cls.program = found.strip()
        cls.rtl = os.path.join(cls.prefix, "bin/rtl")
        os.rename(cls.program, cls.program + ".real")
        cls.wrap()

    @classmethod
    def wrap(cls, lines=""):
        """Has the program run by a script: first these lines, in which $real is it."""
        with open(cls.program, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nreal={cls.program}.real\n{lines}\nexec {cls.start()} \"$@\"\n")
        os.chmod(cls.program, 0o755)

    @classmethod
    def start(cls):
        return "$real"

    def setUp(self):
        super().setUp()
        self.tmp = self.path("tmp")
        os.mkdir(self.tmp)
        self.addCleanup(self.wrap)

    def environment(self, env=None):
        return {**CLEAN, "RTL_SPOOL": self.spool, "TMPDIR": self.tmp, "RTL_BUILD_DIR": BUILD,
                **(env or {})}

    def run_it(self, *arguments, env=None, status=0):
        """The report; nothing is left behind."""
        before = [RUNNER] if RUNNER else []
        done = subprocess.run([*before, self.rtl, "selftest", "--json", *arguments],
                              env=self.environment(env), text=True, cwd=self.folder,
                              capture_output=True, timeout=HANG_S, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(os.listdir(self.tmp), [])
        self.report = json.loads(done.stdout)
        for level, number in (("agrees", "agree"), ("differs", "differ"), ("not_run", "not_run")):
            self.assertEqual(self.report[number],
                             sum(c["level"] == level for c in self.report["checks"]))
        return self.report

    def said(self, level, workload, part):
        texts = [c["text"] for c in self.report["checks"]
                 if c["level"] == level and c["workload"] == workload]
        self.assertTrue(any(part in t for t in texts), json.dumps(self.report["checks"], indent=1))

    def all_agree(self, hip):
        # a compiler that is there with the runtime is enough: there is no hiprtc
        for name in ("libhiprtc.so.7", "libhiprtc-builtins.so", "libhiprtc-builtins.so.5"):
            self.write(name, "")
        self.wrap(f"export LD_LIBRARY_PATH='{self.folder}':$LD_LIBRARY_PATH")
        report = self.run_it(env={"SOFTGPU_KERNELS": HOST_KERNELS.format("")})
        self.assertRegex(report["machine"]["hip"], hip)
        self.assertEqual(len(report["machine"]["gpus"]), 1)
        self.assertEqual((report["differ"], report["not_run"]), (0, 0))
        self.said("agrees", "kernels", "results: right")
        self.said("agrees", "kernels", "calls of HIP: 1062 of 1062 recorded")
        self.said("agrees", "kernels", "kernels with hipEvents of their own: 50, rtl ")
        self.said("agrees", "copies", "copies to the GPU: 4 of 4 recorded")
        self.said("agrees", "threads", "dispatches: 2000 of 2000 recorded")
        self.said("agrees", "graph", "dispatches: 100 of 100 recorded")
        self.said("agrees", "killed", "dispatches: 200 of 200 recorded")
        self.assertEqual(set(report["overhead"]), {"alone", "standard", "hip"})
        for pace in report["overhead"].values():
            self.assertEqual(len([ns for ns in pace["runs_ns"] if ns > 0]), 5)
        # what nobody else is to know
        text = json.dumps(report)
        for private in (os.uname().nodename, self.tmp, self.prefix):
            self.assertNotRegex(text, r"(?<![\w-])%s(?![\w-])" % re.escape(private))


class Nothing(SelftestCase):
    """Where nothing can be tested."""

    @unittest.skipIf(os.path.exists("/dev/kfd"), "there is a GPU")
    def test_no_gpu__status_1(self):
        self.run_it(status=1)
        check, = self.report["checks"]
        self.assertRegex(check["text"], "finds no GPU|no HIP runtime|failed: hipError_t")

    def test_no_runtime__status_1(self):
        self.wrap("echo 'failed no HIP runtime: libamdhip64.so.5: not there'\nexit 1")
        self.run_it(status=1)
        self.said("not_run", "gpu", "no HIP runtime: libamdhip64.so.5")

    def test_program_ends_without_a_word__is_said(self):
        self.wrap("kill -SEGV $$")
        self.run_it(status=1)
        self.said("not_run", "gpu", "without a word, with signal 11")

    def test_prepared_shell__is_refused(self):
        self.assert_refused({"HSA_TOOLS_LIB": "/x/librtl_rocm.so"}, "HSA_TOOLS_LIB names librtl_rocm.so")

    def test_no_place__is_said(self):
        self.assert_refused({"TMPDIR": "/nosuch"}, "cannot make a folder: /nosuch/")

    def test_program_missing__is_said(self):
        os.unlink(self.program)
        self.assert_refused({}, "its program cannot be run")

    def test_operand__is_refused(self):
        self.assert_refused({}, "unexpected argument 'app'", "app", status=2)

    def assert_refused(self, env, part, *arguments, status=1):
        done = subprocess.run([self.rtl, "selftest", *arguments], env=self.environment(env),
                              text=True, capture_output=True, timeout=HANG_S, check=False)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertIn(part, done.stderr)


class Softgpu(SelftestCase):
    counting = {"LD_LIBRARY_PATH": os.path.join(BUILD, "lib/aqlprofile")}

    def test_all_is_well__status_0(self):
        self.all_agree(r"^5\.2\.")

    def test_counters__waves_agree(self):
        self.wrap(self.only("waves"))
        self.run_it("--counters", env=self.counting, status=1)
        self.said("agrees", "waves", "SQ_WAVES: 256 in each of 20 dispatches; counted: 256 to 256")

    def test_wrong_counters__differ(self):
        self.wrap(self.only("waves") + """
[ $1 = waves ] && { $real "$@" | sed 's/^waves 256/waves 255/'; exit; }""")
        self.run_it("--counters", env=self.counting, status=3)
        self.said("differs", "waves", "SQ_WAVES: 255 in each of 20")

    def test_no_library_for_counters__could_not_be_run(self):
        self.wrap(self.only("waves"))
        self.run_it("--counters", status=1)
        self.said("not_run", "waves", "libhsa-amd-aqlprofile64.so")

    def test_gpu_tells_wrong_times__differ(self):
        self.wrap(self.only("kernels"))
        for fault, part in (("long:around", "some of rtl's are longer than what is around them"),
                            ("short:around", "rtl's are too short")):
            self.run_it(env={"SOFTGPU_FAULT": fault.replace(":", ":rtl_selftest_"),
                           "SOFTGPU_KERNEL_NS": "300000"}, status=3)
            self.said("differs", "kernels", part)
            self.said("agrees", "kernels", "kernels with hipEvents of their own")

    def test_wrong_results__differ(self):
        self.wrap(self.only("kernels"))
        self.run_it(env={"SOFTGPU_KERNELS": HOST_KERNELS.format("_wrong")}, status=3)
        self.said("differs", "kernels", "results are wrong, alone as well")

    def test_what_is_not_recorded_as_it_was__differs(self):
        self.wrap("""
case $LD_PRELOAD in *librtl_*) traced=1 ;; *) traced= ;; esac
[ "$traced" ] && case $1 in
copies) LD_PRELOAD=$(echo "$LD_PRELOAD" | tr ' :' '\\n\\n' | grep softgpu) ;;
threads) unset HSA_TOOLS_LIB ;;
graph) $real "$@" >/dev/null ;;
killed) $real "$@"; exit 0 ;;
esac""" + self.only("kernels copies threads graph killed"))
        self.run_it(status=3)
        self.said("agrees", "kernels", "dispatches: 100 of 100 recorded")
        self.said("differs", "copies", "calls of HIP of hipMemcpyAsync: 8, recorded: 0")
        self.said("differs", "threads", "dispatches of rtl_selftest_thread: 2000, recorded: 0")
        self.said("differs", "graph", "dispatches of rtl_selftest_graph: 100, recorded: 200")
        self.said("differs", "killed", "alone the program ends with signal 9, traced with status 0")

    def test_text__sections_and_a_sum(self):
        self.wrap(self.only("kernels"))
        done = subprocess.run([RUNNER, self.rtl, "selftest"], env=self.environment(), text=True,
                              capture_output=True, timeout=HANG_S, check=False)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "machine")
        self.assertIn("kernels", lines)
        self.assertRegex(lines[-1], r"^\d+ agree, 0 differ, \d+ could not be run$")

    def test_interrupted__nothing_is_left(self):
        process = subprocess.Popen([RUNNER, self.rtl, "selftest"], env=self.environment(),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not os.listdir(self.tmp):
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=HANG_S)
        self.assertEqual((process.returncode, out), (1, ""), err)
        self.assertIn("selftest: interrupted", err)
        self.assertEqual(os.listdir(self.tmp), [])

    @staticmethod
    def only(workloads):
        """For the wrapper: the others fail alone, so they are not traced: the status is 1, if not 3."""
        wanted = "|".join(["about", *workloads.split()])
        return f"\ncase $1 in {wanted}) ;; *) echo failed left out; exit 1 ;; esac"


class Rocm7(SelftestCase):
    @classmethod
    def setUpClass(cls):
        fetch = os.path.join(os.path.dirname(RUNNER), "fetch")
        if subprocess.run([fetch, "--check"], check=False).returncode:
            raise SystemExit(77)
        root = subprocess.run([fetch, "--dir"], check=True, capture_output=True, text=True).stdout
        cls.libraries = os.path.join(root.strip(), "x/usr/lib/x86_64-linux-gnu")
        super().setUpClass()

    @classmethod
    def start(cls):
        return f"{cls.libraries}/ld-linux-x86-64.so.2 --library-path \"$LD_LIBRARY_PATH:{cls.libraries}\" $real"

    def test_all_is_well__status_0(self):
        self.all_agree(r"^7\.")


if __name__ == "__main__":
    unittest.main()
