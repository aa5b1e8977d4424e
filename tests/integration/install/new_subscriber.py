#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
`rtl new-subscriber`, and subscribers in C++, as somebody uses them who has installed rtl. RTL_BUILD_DIR is installed
into a folder for that.
"""

import glob
import os
import shutil
import subprocess
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "..", "docs", "examples")
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("RTL_", "HSA_", "LD_"))}
HANG_S = 300


class NewSubscriber(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.prefix = tempfile.mkdtemp(prefix="rtl-prefix-")
        cls.addClassCleanup(shutil.rmtree, cls.prefix)
        subprocess.run(["cmake", "--install", os.environ["RTL_BUILD_DIR"], "--prefix", cls.prefix],
                       check=True, capture_output=True)
        cls.command = os.path.join(cls.prefix, "bin", "rtl")

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="rtl-new-")
        self.addCleanup(shutil.rmtree, self.folder)

    def run_in(self, *command, env=None):
        return subprocess.run(command, cwd=self.folder, env={**CLEAN, **(env or {})}, text=True,
                              capture_output=True, timeout=HANG_S, check=False)

    def good(self, *command, env=None):
        done = self.run_in(*command, env=env)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def build(self, name, *more):
        self.good("cmake", "-S", name, "-B", name + "/build", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                  "-DCMAKE_C_FLAGS=-Werror", "-DCMAKE_CXX_FLAGS=-Werror", *more)
        self.good("cmake", "--build", name + "/build")
        self.good("ctest", "--test-dir", name + "/build", "--output-on-failure")

    def test_in_c_and_cxx__builds_and_passes(self):
        for name, options in (("in_c", ()), ("in_cxx", ("--cxx",))):
            with self.subTest(name=name):
                done = self.good(self.command, "new-subscriber", *options, name)
                self.assertIn(f"lib{name}_sub.so", done.stdout)
                self.assertEqual(self.run_in("grep", "-r", "@", name).stdout, "")
                self.build(name)
                # It is found by its name once it is installed, and by rtl trace.
                self.good("cmake", "--install", name + "/build")
                listed = self.good(self.command, "list-subscribers").stdout
                self.assertIn(f"lib{name}_sub.so: {name} 0.1", listed)
                self.good(self.command, "trace", "-q", "-s", f"lib{name}_sub.so?output=counts",
                          name + "/build/publisher")
                with open(os.path.join(self.folder, "counts"), encoding="utf-8") as file:
                    self.assertIn("test.steps 3\n", file.read())
                symbols = self.good("nm", "-D", "--defined-only",
                                    f"{name}/build/lib{name}_sub.so").stdout
                self.assertIn("rtl_subscriber", symbols)
                if name == "in_c":
                    self.assertEqual(len(symbols.splitlines()), 1, symbols)

    def test_names(self):
        for name in ("", "a-b", "../x", "Ab", "1a", "a b", "a" * 41):
            done = self.run_in(self.command, "new-subscriber", name)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn("cannot be the name of a subscriber", done.stderr)
        os.mkdir(os.path.join(self.folder, "there"))
        done = self.run_in(self.command, "new-subscriber", "there")
        self.assertEqual((done.returncode, done.stderr),
                         (1, "rtl: cannot make the folder there: File exists\n"))
        self.assertEqual(self.run_in(self.command, "new-subscriber").returncode, 2)
        self.assertEqual(os.listdir(self.folder), ["there"])

    def test_cxx_example__each_standard_each_compiler(self):
        shutil.copy(os.path.join(EXAMPLES, "kernels_sub.cpp"), self.folder)
        include = glob.glob(self.prefix + "/include")[0]
        compilers = [c for c in ("g++", "clang++") if shutil.which(c)]
        self.assertTrue(compilers)
        for compiler in compilers:
            for standard in ("11", "14", "17", "20"):
                self.good(compiler, f"-std=c++{standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                          "-shared", "-fPIC", "-I", include, "kernels_sub.cpp", "-o",
                          "libkernels_sub.so", "-Wl,-z,defs")
        done = self.good(self.command, "list-subscribers")
        self.assertIn("libkernels_sub.so: kernels 1, kernels by their time", done.stdout)


if __name__ == "__main__":
    unittest.main()
