#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
docs/examples as somebody uses them who has installed rtl: each is built by the compiler line at
its top, with pkg-config, and run. RTL_BUILD_DIR is installed into a folder for that. NoRocm is for
a build without the interceptors for ROCm.
"""

import glob
import json
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "..", "docs", "examples")
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("RTL_", "HSA_", "LD_"))}
HANG_S = 300
WARNINGS = "-Wall -Wextra -Wshadow -pedantic -Werror "


def run(command, env=None, **more):
    done = subprocess.run(command, env={**CLEAN, **(env or {})}, capture_output=True, text=True,
                          timeout=HANG_S, check=False, **more)
    if done.returncode:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="rtl-examples-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        prefix = os.path.join(cls.folder, "prefix")
        run(["cmake", "--install", os.environ["RTL_BUILD_DIR"], "--prefix", prefix])
        pc = glob.glob(prefix + "/**/rtl.pc", recursive=True)[0]
        cls.lib = os.path.dirname(glob.glob(prefix + "/**/librtl.so.0", recursive=True)[0])
        cls.rtl_command = os.path.join(prefix, "bin", "rtl")
        cls.has_rocm = bool(glob.glob(prefix + "/**/librtl_rocm.so", recursive=True))
        cls.env = {"PKG_CONFIG_PATH": os.path.dirname(pc)}
        # what others have left where spools usually are is none of our business
        CLEAN["RTL_SPOOL"] = os.path.join(cls.folder, "spool")
        os.mkdir(CLEAN["RTL_SPOOL"])
        for name in ("own_stream", "print_sub", "stub_library"):
            shutil.copy(os.path.join(EXAMPLES, name + ".c"), cls.folder)
            cls.build(name)

    @classmethod
    def build(cls, name):
        """By its own line; with all warnings in C11 and C17 besides."""
        with open(os.path.join(cls.folder, name + ".c"), encoding="utf-8") as file:
            line = re.search(r"^ \* +(cc .*)$", file.read(), re.MULTILINE).group(1)
        for options in ("-std=c11 " + WARNINGS, "-std=c17 -O2 " + WARNINGS, ""):
            command = line.replace("cc ", os.environ["RTL_CC"] + " " + options, 1)
            run(["sh", "-ec", command], cls.env, cwd=cls.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def rtl(self, *arguments, env=None):
        return subprocess.run([self.rtl_command, *arguments], cwd=self.folder, text=True,
                              env={**CLEAN, "LD_LIBRARY_PATH": self.lib, **(env or {})},
                              capture_output=True, timeout=HANG_S, check=False)

    def good(self, *arguments, **more):
        done = self.rtl(*arguments, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def query(self, database, text):
        connection = sqlite3.connect(self.path(database))
        rows = connection.execute(text).fetchall()
        connection.close()
        return rows

    def own_stream(self, env):
        """Its lines, as print_sub and the program print them."""
        return run([self.path("own_stream"), "5"], {"LD_LIBRARY_PATH": self.lib, **env},
                   cwd=self.folder).stdout.splitlines()

    def check_solver(self, database):
        """By field name, from a subscriber that does not know the stream."""
        rows = self.query(database, "SELECT iteration, residual, method, rows, restarted "
                                    "FROM rtl_e_example_solver_task_end ORDER BY iteration")
        self.assertEqual(rows, [(i, 0.5 ** (i + 1), ["jacobi", "gauss-seidel"][i % 2], 1000,
                                 int(i == 0)) for i in range(5)])
        regions = self.query(database, "SELECT name, instance, uid FROM "
                                       "rtl_e_rtl_default_region_begin")
        self.assertEqual([r[0] for r in regions], ["solve"])
        ends = self.query(database, "SELECT name, instance, uid FROM rtl_e_rtl_default_region_end")
        self.assertEqual(regions, ends)
        parents = self.query(database, "SELECT DISTINCT parent_uid FROM "
                                       "rtl_e_example_solver_task_end")
        self.assertEqual(parents, [(regions[0][2],)])
        places = self.query(database, "SELECT name, kind, source FROM rtl_tracepoint "
                                      f"WHERE uid = {regions[0][2]}")
        self.assertEqual(places, [("solve", "region", "own_stream.c")])
        self.assertEqual(self.query(database, "SELECT unit FROM rtl_field WHERE name = 'rows'"),
                         [("count",)])
        self.assertEqual(self.query(database, "SELECT sum(published), sum(delivered) FROM "
                                              "rtl_ledger WHERE process = 1"), [(7, 7)])

    def test_own_stream_nobody_listens(self):
        self.assertEqual(self.own_stream({}), ["residual 0.03125"])

    def test_own_stream_in_process(self):
        self.own_stream({"RTL_SUBSCRIBERS": "libsqlite_sub.so?output=process.db"})
        self.check_solver("process.db")

    def test_own_stream_under_rtl_trace(self):
        done = self.good("trace", "-o", "trace.db", self.path("own_stream"), "5")
        self.check_solver("trace.db")
        self.assertEqual(done.stdout, "residual 0.03125\n")
        self.assertRegex(done.stderr, "(?m)^example.solver: 5 of 5 events recorded, 0 lost$")
        self.assertIn(f"\nrtl: trace: {self.path('trace.db')}\n", done.stderr)
        self.assertNotIn("no GPU operation", done.stderr)
        self.assertNotIn("not initialise", done.stderr)

    def test_own_stream_under_rtl_trace_quietly(self):
        for way in ((), ("--in-process",)):
            done = self.good("trace", "-q", *way, "-o", "quiet.db", self.path("own_stream"), "5")
            self.assertEqual(done.stderr, "")
            self.check_solver("quiet.db")

    def test_own_stream_recorded_and_replayed(self):
        self.good("record", "-o", "run.rec", self.path("own_stream"), "5")
        self.good("replay", "-o", "replay.db", "run.rec")
        self.check_solver("replay.db")

    def check_list(self, source, *arguments):
        """The program's own stream with its fields, as `rtl list-streams` tells."""
        done = self.good("list-streams", "--json", *arguments)
        streams = {s["name"]: s for s in json.loads(done.stdout)["streams"]}
        self.assertIn("rtl.default", streams)
        stream = streams["example.solver"]
        self.assertEqual((stream["version"], stream["description"], stream["from"]),
                         ("1.0", "iterations of a solver", source))
        task, = stream["types"]
        self.assertEqual((task["type"], task["name"], task["payload_size"]), (11, "task_end", 32))
        self.assertEqual([(f["name"], f["kind"], f["unit"], f["offset"], f["size"])
                          for f in task["fields"]],
                         [("iteration", "uint", "count", 0, 8), ("residual", "float", "", 8, 8),
                          ("method", "string", "", 16, 8), ("rows", "uint", "count", 24, 4),
                          ("restarted", "uint", "", 28, 4)])
        self.assertEqual(task["fields"][1]["description"], "what is left to solve")
        text = self.good("list-streams", *arguments).stdout
        self.assertIn(f"example.solver 1.0: iterations of a solver\n  from {source}\n"
                      "  task_end (type 11, 32 bytes): an iteration has ended\n", text)
        self.assertRegex(text, r"(?m)^    rows +uint32 +count +rows that were touched$")
        return done

    def test_list_streams_of_a_command(self):
        own = self.path("own_stream")
        before = sorted(os.listdir(self.folder))
        done = self.check_list(own, "--", own, "5")
        # what the command says is not in the list
        self.assertEqual(done.stderr, "residual 0.03125\n")
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        script = f"'{own}' 2; exit 3"
        done = self.rtl("list-streams", "--", "sh", "-c", script,
                        env={"RTL_STREAMS": "-example.*", "RTL_SUBSCRIBERS": "libnone_sub.so"})
        self.assertEqual(done.returncode, 3)
        self.assertIn("example.solver 1.0", done.stdout)


    def test_list_streams_of_a_trace_and_a_recording(self):
        own = self.path("own_stream")
        self.good("trace", "-q", "-o", "list.db", own, "5")
        self.check_list("list.db", "list.db")
        self.good("record", "-q", "-o", "list.rec", own, "5")
        self.check_list("list.rec", "list.rec")
        # streams of which nothing was wanted are described as well
        self.good("trace", "-q", "-o", "none.db", own, "0", env={"RTL_STREAMS": "rtl.default"})
        names = [s["name"] for s in json.loads(
            self.good("list-streams", "--json", "none.db").stdout)["streams"]]
        self.assertIn("rtl.default", names)

    def test_list_streams_of_what_has_none(self):
        for arguments, status, part in (
                (("--", "true"), 1, "true registered no stream"),
                (("--", "sh", "-c", "exit 9"), 9, "sh registered no stream"),
                (("--", "nonexistent-command"), 127, "there is no such command in PATH"),
                (("--", ""), 2, "the name of the command is empty"),
                ((self.path("own_stream"),), 1, "own_stream` runs it as a command"),
                (("own_stream.c",), 1, "own_stream.c cannot be loaded"),
                ((self.folder,), 1, "holds nothing of rtl's")):
            done = self.rtl("list-streams", *arguments)
            self.assertEqual((done.returncode, done.stdout), (status, ""), arguments)
            self.assertIn(part, done.stderr)

    def test_print_sub(self):
        with open(self.path("print_sub.c"), encoding="utf-8") as file:
            self.assertLessEqual(len(file.readlines()), 80)
        lines = self.own_stream({"RTL_SUBSCRIBERS": "./libprint_sub.so"})
        events = [line.split(" ", 2)[2] for line in lines if "example.solver" in line]
        self.assertEqual(events[1], "example.solver.task_end iteration=1count residual=0.25 "
                                    "method='gauss-seidel' rows=1000count restarted=0")
        self.assertEqual(len(events), 5)
        default = [line.split(" ", 2)[2] for line in lines if "rtl.default" in line]
        self.assertEqual(default, [f"rtl.default.region_{which} name='solve' text='' integer=0 "
                                   "number=0 kind=0" for which in ("begin", "end")])

    def test_print_sub_every_kind(self):
        """A stream with a field of each kind and size, and its values."""
        shutil.copy(os.path.join(HERE, "examples_kinds.c"), self.folder)
        run(["sh", "-ec", os.environ["RTL_CC"] + " examples_kinds.c -o kinds "
             "$(pkg-config --cflags --libs rtl)"], self.env, cwd=self.folder)
        lines = run([self.path("kinds")], {"LD_LIBRARY_PATH": self.lib,
                                           "RTL_SUBSCRIBERS": "./libprint_sub.so"},
                    cwd=self.folder).stdout.splitlines()
        kinds = [line.split(" ", 2)[2] for line in lines if " t.kinds." in line]
        self.assertEqual(kinds, [
            "t.kinds.signal u8=200 u16=60000 u32=4000000000 u64=18446744073709551615ns i8=-1 "
            "i16=-2 i32=-3 i64=-4 f32=0.5s f64=-2.25 yes=1 address=0xdeadbeef time=77 "
            "string='interned' uid=0x1234 text='a text' bytes=0001feff05060708090a"])

    def stub_main(self):
        """A program that uses the library; it knows nothing of rtl."""
        shutil.copy(os.path.join(HERE, "examples_stub_main.c"), self.folder)
        run(["sh", "-ec", os.environ["RTL_CC"] + " examples_stub_main.c -o stub_main -L. -lmatrix "
             "-Wl,-rpath,'$ORIGIN'"], cwd=self.folder)
        return [self.path("stub_main")]

    def test_stub_library(self):
        main = self.stub_main()
        dynamic = run(["readelf", "-Wd", "--dyn-syms", self.path("libmatrix.so")]).stdout
        self.assertIn("matrix_multiply", dynamic)
        self.assertNotRegex(dynamic, r"librtl|\brtl_")
        self.assertEqual(run(main).stdout, "6\n")
        self.assertEqual(run(main, {"LD_LIBRARY_PATH": self.lib}).stdout, "6\n")
        lines = run(main, {"LD_LIBRARY_PATH": self.lib, "RTL_SUBSCRIBERS": "./libprint_sub.so"},
                    cwd=self.folder).stdout.splitlines()
        calls = [line.split(" ", 2)[2] for line in lines if "example.matrix" in line]
        self.assertEqual(calls, [
            "example.matrix.multiply_begin rows=2count columns=3count norm=0",
            "example.matrix.multiply_end rows=2count columns=3count norm=6"])

    def test_stub_library_under_rtl_trace(self):
        self.good("trace", "-o", "stub.db", *self.stub_main())
        rows = self.query("stub.db", "SELECT b.instance = e.instance, b.correlation = "
                                     "e.correlation AND b.correlation > 0, e.norm FROM "
                                     "rtl_e_example_matrix_multiply_begin AS b JOIN "
                                     "rtl_e_example_matrix_multiply_end AS e")
        self.assertEqual(rows, [(1, 1, 6.0)])

    def test_stub_library_where_the_loader_does_not_look(self):
        """In a prefix of its own, and not preloaded: rtl says where librtl is."""
        command = [self.rtl_command, "trace", "-m", "standard", "-o", "private.db", *self.stub_main()]
        done = run(command, cwd=self.folder)
        self.assertNotIn("stub warning", done.stderr)
        self.assertEqual(self.query("private.db", "SELECT norm FROM rtl_e_example_matrix_multiply_end"),
                         [(6.0,)])
        env = run([self.rtl_command, "env"]).stdout
        self.assertIn("RTL_LIBRARY", env)
        done = run(["sh", "-ec", env + "RTL_SUBSCRIBERS=./libprint_sub.so ./stub_main"], cwd=self.folder)
        self.assertIn("example.matrix.multiply_end", done.stdout)


class NoRocm(Examples):
    """The same with an rtl that has no interceptors for ROCm, and what it says of that."""

    MISSING = "this rtl has no interceptors for ROCm, "


    def test_it_has_none(self):
        self.assertFalse(self.has_rocm)

    def test_said_once_where_something_was_recorded(self):
        for verb, output in (("trace", "said.db"), ("record", "said.rec")):
            done = self.good(verb, "-o", output, self.path("own_stream"), "5")
            line = "rtl: work on the GPU was not traced: " + self.MISSING + self.lib
            self.assertEqual(done.stderr.count(line), 1, done.stderr)
            self.assertEqual(done.stderr.count(self.MISSING), 1, done.stderr)

    def test_said_where_nothing_was_recorded(self):
        for verb in ("trace", "record"):
            done = self.good(verb, "-q", "-o", "nothing", "true")
            self.assertIn("rtl: nothing was recorded: ", done.stderr)
            self.assertIn("rtl: work on the GPU was not traced: ", done.stderr)
            self.assertNotIn("HSA", done.stderr)
            self.assertFalse(os.path.exists(self.path("nothing")))

    def test_refused_where_it_was_asked_for(self):
        for arguments in (("trace", "-m", "lite"), ("trace", "--strict"),
                          ("record", "-m", "standard")):
            done = self.rtl(*arguments, "touch", "ran")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(self.MISSING, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
        self.assertFalse(os.path.exists(self.path("ran")))
        self.good("trace", "-q", "-m", "lite", "-o", "fallback.db", self.path("own_stream"), "5",
                  env={"RTL_MODE_FALLBACK": "1"})
        self.check_solver("fallback.db")

    def test_environment_has_nothing_of_the_runtime(self):
        done = self.good("trace", "-q", "-o", "env.db", "sh", "-c", f"env; '{self.path('own_stream')}' 5",
                         env={"HSA_TOOLS_LIB": "libother.so"})
        self.assertIn("\nHSA_TOOLS_LIB=libother.so\n", "\n" + done.stdout)
        self.assertNotIn("ROCPROFILER", done.stdout)
        done = self.good("env", "-s", "libsqlite_sub.so")
        self.assertRegex(done.stdout, r"^export RTL_SUBSCRIBERS='.*libsqlite_sub.so';\n$")
        self.assertIn(self.MISSING, done.stderr)

    def test_list_streams_of_rtl_itself(self):
        done = self.good("list-streams")
        self.assertIn("rtl.default 1.0", done.stdout)
        self.assertNotIn("rtl.hsa", done.stdout)
        self.assertIn(self.MISSING, done.stderr)


if __name__ == "__main__":
    unittest.main()
