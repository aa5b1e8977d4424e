#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The commands in docs/guides, and in the pages for authors of tools (Authors), run as a reader would who has installed
rtl: each block that is marked `sh`, in the order of its page, in a folder with the examples. A page's blocks share a
shell; guides have the software GPU. A block that is marked `console` is not run; a comment above it says why, and so
does this test. RTL_BUILD_DIR is installed into a folder for that.
"""

import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..", "..")
GUIDES = os.path.join(TOP, "docs", "guides")
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("RTL_", "HSA_", "LD_"))}
HANG_S = 300
BUILD = "hipcc -O2 --offload-arch=gfx906 -o saxpy saxpy.hip"  # which other pages take from the first
# The program and the subscriber of which the pages for authors speak, by the lines at the tops of the examples.
AUTHORS = """cc own_stream.c -o app $(pkg-config --cflags --libs rtl) -Wl,-rpath,$(pkg-config --variable=libdir rtl)
cc -shared -fPIC print_sub.c -o libprint_sub.so $(pkg-config --cflags rtl)"""
BLOCK = re.compile(r"(?:^<!-- not run: (?P<why>[^\n]*) -->\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$",
                   re.MULTILINE | re.DOTALL)


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="rtl-guides-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.prefix = os.path.join(cls.folder, "prefix")
        subprocess.run(["cmake", "--install", os.environ["RTL_BUILD_DIR"], "--prefix", cls.prefix],
                       check=True, capture_output=True)

    def page(self, name, pages=GUIDES, setup=BUILD, on=(os.path.join(TOP, "tests", "softgpu", "run"),)):
        """Runs the blocks of a page, after setup; returns what they printed."""
        with open(os.path.join(pages, name + ".md"), encoding="utf-8") as file:
            blocks = list(BLOCK.finditer(file.read()))
        self.assertTrue(blocks)
        folder = os.path.join(self.folder, name)
        shutil.copytree(os.path.join(TOP, "docs", "examples"), folder)
        spool = os.path.join(self.folder, name + "-spool")
        os.mkdir(spool)
        script = f"set -e\n{setup}\n"
        for block in blocks:
            if block["kind"] == "sh":
                script += block["text"]
            elif block["kind"] == "console":
                self.assertTrue(block["why"], "say why it is not run:\n" + block[0])
                print(f"{name}: NOT RUN: {block['why']}:\n{block['text']}")
        pc = glob.glob(self.prefix + "/**/rtl.pc", recursive=True)[0]
        done = subprocess.run(
            [*on, "sh", "-c", script], cwd=folder,
            env={**CLEAN, "RTL_SPOOL": spool, "PKG_CONFIG_PATH": os.path.dirname(pc),
                 "PATH": os.path.join(self.prefix, "bin") + ":" + CLEAN["PATH"],
                 "RTL_BUILD_DIR": os.environ["RTL_BUILD_DIR"]},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=HANG_S, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(os.listdir(spool), [], done.stdout)
        self.made = folder
        return done.stdout

    def exists(self, *names):
        for name in names:
            path = os.path.join(self.made, name)
            self.assertTrue(os.path.exists(path) and os.path.getsize(path), name)


class Authors(Pages):
    """docs/subscribers.md and docs/publishers.md; they need no GPU."""

    def author_page(self, name):
        return self.page(name, os.path.join(TOP, "docs"), AUTHORS, ())

    def test_subscribers(self):
        out = self.author_page("subscribers")
        self.assertIn("100% tests passed", out)
        # in the process, in the collector, over a recording; and by the program while it is recorded
        self.assertEqual(out.count("residual 0.000976562\n"), 3, out)
        self.assertEqual(out.count("example.solver.task_end iteration=9count"), 3, out)

    def test_publishers(self):
        out = self.author_page("publishers")
        self.assertEqual(out.count("example.solver.task_end iteration=9count"), 1, out)
        self.assertIn("example.solver 1.0: iterations of a solver\n", out)
        self.exists("run.db")


class Guides(Pages):
    def test_first_trace(self):
        out = self.page("first-trace")
        self.assertRegex(out, r"GPU kernels: 10, ")
        self.assertIn("rtl.hsa: ", out)
        self.exists("first.db", "first.html", "first.pftrace", "new3.db")

    def test_many_processes(self):
        out = self.page("many-processes")
        self.assertEqual(out.count("saxpy: 10 steps"), 2 + 2 + 5 + 1, out)
        self.exists("all.db", "run-0.db", "run-1.db", "run.db", "server.db", "unit.db")

    def test_others_have_no_commands(self):
        """A page with commands needs a test above."""
        run = {name[len("test_"):].replace("_", "-") for name in dir(self)
               if name.startswith("test_")}
        for path in glob.glob(os.path.join(GUIDES, "*.md")):
            with open(path, encoding="utf-8") as file:
                has = any(block["kind"] == "sh" for block in BLOCK.finditer(file.read()))
            name = os.path.basename(path)[:-len(".md")]
            self.assertTrue(name in run or not has, name)


if __name__ == "__main__":
    unittest.main()
