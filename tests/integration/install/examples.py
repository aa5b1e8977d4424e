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
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
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


class Case(unittest.TestCase):
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
        for name in ("own_stream.c", "print_sub.c", "stub_library.c", "prometheus_sub.c", "forward_sub.c",
                     "own_stream.cpp", "kernels_src.c"):
            shutil.copy(os.path.join(EXAMPLES, name), cls.folder)
            cls.build(name)

    @classmethod
    def build(cls, name):
        """By its own line; with all warnings in old and new standards besides."""
        with open(os.path.join(cls.folder, name), encoding="utf-8") as file:
            line = re.search(r"^(?: \*|//) +(c(?:c|\+\+) .*)$", file.read(), re.MULTILINE).group(1)
        word, line = line.split(" ", 1)
        compiler = os.environ["RTL_CC" if word == "cc" else "RTL_CXX"]
        for standard in ("c11", "c17 -O2") if word == "cc" else ("c++11", "c++20 -O2"):
            # the last of two standards counts, which is the one of the line
            command = re.sub(r"-std=\S+", "", line)
            run(["sh", "-ec", f"{compiler} -std={standard} {WARNINGS} {command}"], cls.env, cwd=cls.folder)
        run(["sh", "-ec", f"{compiler} {line}"], cls.env, cwd=cls.folder)

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


class Examples(Case):
    def test_source__kernels_of_rocprofv3__any_subscriber_runs_over_them(self):
        with open(self.path("run_kernel_trace.csv"), "w", encoding="utf-8") as file:
            file.write('"Kind","Agent_Id","Queue_Id","Thread_Id","Kernel_Name","Start_Timestamp","End_Timestamp"\n')
            for begin, end, name in (1000, 3000, "gemm<3, 4>(float*, int)"), (4000, 4500, "axpy"), (5000, 6500, "axpy"):
                file.write(f'"KERNEL_DISPATCH","Agent 4",1,77,"{name}",{begin},{end}\n')
        env = {"RTL_PLUGIN_PATH": self.folder}
        table = self.good("replay", "run_kernel_trace.csv", "-s", "libstats_sub.so?format=json", env=env).stderr
        section = next(s for s in json.loads(table)["sections"] if s["stream"] == "rtl.hsa")
        self.assertEqual({row["name"]: (row["count"], row["total_ns"]) for row in section["rows"]},
                         {"gemm<3, 4>(float*, int)": (1, 2000), "axpy": (2, 2000)})
        printed = self.good("replay", "run_kernel_trace.csv", "-s", self.path("libprint_sub.so"), env=env).stdout
        self.assertEqual(re.findall(r"kernel_name='(.*?)' gpu=(\d+)", printed),
                         [("gemm<3, 4>(float*, int)", "4"), ("axpy", "4"), ("axpy", "4")])
        # what no source reads, a source that is none, and a file that ends in the middle
        done = self.rtl("replay", "print_sub.c")
        self.assertEqual((done.returncode, "no plugin reads it" in done.stderr), (1, True), done.stderr)
        done = self.rtl("replay", "print_sub.c", "--input", self.path("libprint_sub.so"))
        self.assertEqual((done.returncode, "is no source" in done.stderr), (1, True), done.stderr)
        with open(self.path("run_kernel_trace.csv"), "a", encoding="utf-8") as file:
            file.write('"KERNEL_DISPATCH"\n')
        done = self.rtl("replay", "run_kernel_trace.csv", "-s", "libstats_sub.so", env=env)
        self.assertEqual((done.returncode, "not complete" in done.stderr), (1, True), done.stderr)

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

    def test_list_streams_of_what_has_none(self):
        for arguments, status, part in (
                (("--", "true"), 1, "true registered no stream"),
                (("--", "sh", "-c", "exit 9"), 9, "sh registered no stream"),
                (("--", "nonexistent-command"), 127, "there is no such command in PATH"),
                (("--", ""), 2, "the name of the command is empty"),
                ((self.path("own_stream"),), 1, "own_stream` runs it as a command"),
                (("own_stream.c",), 1, "own_stream.c cannot be loaded"),
                ((self.folder,), 1, "rtl wrote nothing in")):
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

    def test_own_stream_in_cxx(self):
        done = self.good("trace", "-q", "-o", "cxx.db", self.path("own_stream_cpp"), "5")
        self.assertEqual(done.stdout, "2033 bytes, 1 failed\n")
        rows = self.query("cxx.db", "SELECT e.block, e.packed_bytes FROM rtl_e_example_packer_task_end AS e JOIN "
                                    "rtl_e_example_packer_task_begin AS b USING (instance, block) ORDER BY e.block")
        self.assertEqual(rows, [(0, 1000), (1, 500), (2, 333), (3, 0), (4, 200)])
        parents = self.query("cxx.db", "SELECT count(DISTINCT parent_uid), min(parent_uid) <> 0 FROM "
                                       "rtl_e_example_packer_task_end")
        self.assertEqual(parents, [(1, 1)])
        self.assertEqual(run([self.path("own_stream_cpp"), "5"], {"LD_LIBRARY_PATH": self.lib}).stdout, done.stdout)

    # Asks until all has been counted, which is while the program that does this is traced itself.
    SCRAPE = """
import socket, sys, time
for _ in range(3000):
    at = socket.socket(socket.AF_UNIX) if "/" in sys.argv[1] else socket.socket()
    at.connect(sys.argv[1] if "/" in sys.argv[1] else ("127.0.0.1", int(sys.argv[1])))
    at.sendall(b"GET /metrics HTTP/1.1\\r\\n\\r\\n")
    text = b"".join(iter(lambda: at.recv(4096), b"")).decode()
    if '"example.solver",type="task_end"} 5' in text and 'type="region_end"} 1' in text:
        print(text.replace("\\r", ""), end="")
        break
    time.sleep(0.02)
"""

    def scraped(self, address):
        script = f"'{self.path('own_stream')}' 5; python3 -c '{self.SCRAPE}' {address}".replace(
            self.SCRAPE, self.SCRAPE.replace("'", "'\"'\"'"))
        done = self.good("trace", "-s", f"./libprometheus_sub.so?listen={address}", "sh", "-c", script)
        self.assertNotIn("error", done.stderr)
        return done.stdout

    def test_prometheus_sub__asked_while_the_program_runs__counts(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        for address in (self.path("metrics.sock"), port):
            with self.subTest(address=address):
                head, body = self.scraped(address).split("residual 0.03125\n")[1].split("\n\n", 1)
                self.assertRegex(head, r"^HTTP/1\.0 200 OK\nContent-Type: text/plain; version=0\.0\.4\n")
                self.assertIn(f"\nContent-Length: {len(body)}", head)
                lines = body.splitlines()
                self.assertIn('rtl_events_total{stream="example.solver",type="task_end"} 5', lines)
                self.assertIn('rtl_events_lost_total{stream="example.solver"} 0', lines)
                self.assertEqual(len(lines), len(set(lines)), body)
        self.assertFalse(os.path.exists(self.path("metrics.sock")))

    def test_prometheus_sub__bad_address__said(self):
        for address, why in (("nine", "nine: give a port from 1 to 65535, or a path"), ("70000", "70000: give a port"),
                             ("/none/x", "/none/x: No such file")):
            done = self.rtl("trace", "-s", f"./libprometheus_sub.so?listen={address}", "true")
            self.assertIn(why, done.stderr)

    def listen(self, name, read=True):
        """A thread that reads what comes to the socket of that name, and a list that gets it."""
        listener, got = socket.socket(socket.AF_UNIX), []
        listener.bind(self.path(name))
        listener.listen()

        def take():
            client, _ = listener.accept()
            with listener, client:
                while read and (data := client.recv(4096)):
                    got.append(data)

        thread = threading.Thread(target=take)
        thread.start()
        return thread, got

    def test_forward_sub__somebody_listens__gets_the_stream_alone(self):
        thread, got = self.listen("events.sock")
        self.good("trace", "-s", "./libforward_sub.so?stream=example.solver&type=task_*&to=events.sock",
                  self.path("own_stream"), "5")
        thread.join(HANG_S)
        events = [json.loads(line) for line in b"".join(got).splitlines()]
        self.assertEqual([(e["type"], e["iteration"], e["residual"], e["method"], e["rows"]) for e in events],
                         [("task_end", i, 0.5 ** (i + 1), ["jacobi", "gauss-seidel"][i % 2], 1000)
                          for i in range(5)])

    def test_forward_sub__nobody_listens_any_more__said_and_the_program_goes_on(self):
        done = self.rtl("trace", "-s", "./libforward_sub.so?to=nobody.sock", self.path("own_stream"), "5")
        self.assertIn("nobody listens at nobody.sock: No such file or directory", done.stderr)
        thread, _ = self.listen("gone.sock", read=False)
        done = self.good("trace", "-s", "./libforward_sub.so?stream=example.solver&to=gone.sock", "sh", "-c",
                         f"while [ ! -e away ]; do sleep 0.02; done; exec '{self.path('own_stream')}' 5",
                         env=self.away_when(thread))
        self.assertIn("the listener has gone", done.stderr)
        self.assertIn("residual 0.03125\n", done.stdout)

    def away_when(self, thread):
        """The environment; makes the file `away` once the thread has ended."""
        def wait():
            thread.join(HANG_S)
            with open(self.path("away"), "w", encoding="utf-8"):
                pass
        threading.Thread(target=wait).start()
        return {}

    def test_read_trace(self):
        self.good("trace", "-q", "-o", "read.db", self.path("own_stream"), "5")
        module = glob.glob(os.path.join(os.path.dirname(self.rtl_command), "..", "**", "dist-packages"),
                           recursive=True)[0]
        read = [sys.executable, "-B", os.path.join(EXAMPLES, "read_trace.py")]
        done = run([*read, self.path("read.db")], {"PYTHONPATH": module})
        self.assertEqual(done.stdout, "state: complete\nlost: nothing\n")
        program = os.path.join(os.environ["RTL_BUILD_DIR"], "bin", "cli_program")
        if self.has_rocm and os.path.exists(program):
            self.good("trace", "-q", "-o", "kernels.db", program, "25")
            done = run([*read, self.path("kernels.db")], {"PYTHONPATH": module})
            times = re.findall(r"(?m)^kernel .*: (\d+) times, \d+ ns$", done.stdout)
            self.assertEqual(sum(map(int, times)), 25, done.stdout)
        done = subprocess.run([*read, "/none.db"], env={**CLEAN, "PYTHONPATH": module}, capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertIn("/none.db", done.stderr)

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

    def test_stub_library_where_the_loader_does_not_look(self):
        """In a prefix of its own, and not preloaded: rtl says where librtl is."""
        mode = ["-m", "standard"] if self.has_rocm else []
        command = [self.rtl_command, "trace", *mode, "-o", "private.db", *self.stub_main()]
        done = run(command, cwd=self.folder)
        self.assertNotIn("stub warning", done.stderr)
        self.assertEqual(self.query("private.db", "SELECT norm FROM rtl_e_example_matrix_multiply_end"),
                         [(6.0,)])
        env = run([self.rtl_command, "env"]).stdout
        self.assertIn("RTL_LIBRARY", env)
        done = run(["sh", "-ec", env + "RTL_SUBSCRIBERS=./libprint_sub.so ./stub_main"], cwd=self.folder)
        self.assertIn("example.matrix.multiply_end", done.stdout)


class NoRocm(Case):
    """An rtl that has no interceptors for ROCm, and what it says of that."""

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
        names = re.findall(r"(?m)^export (\w+)=", done.stdout)
        self.assertIn(sorted(names), (["RTL_LIBRARY", "RTL_SUBSCRIBERS"],
                                      ["RTL_LIBRARY", "RTL_MODE", "RTL_SUBSCRIBERS"]))
        self.assertIn(self.MISSING, done.stderr)

    def test_list_streams_of_rtl_itself(self):
        done = self.good("list-streams")
        self.assertIn("rtl.default 1.0", done.stdout)
        self.assertNotIn("rtl.hsa", done.stdout)
        self.assertIn(self.MISSING, done.stderr)


if __name__ == "__main__":
    unittest.main()
