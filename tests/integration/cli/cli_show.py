#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The verbs that show things: what is in a trace, what there is, what a shell must export.
"""

import csv
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import unittest

from cli_kit import CLEAN, DEFAULT_MODE, PLUGINS, PROGRAM, RTL, Case

RPD = """
CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, string TEXT NOT NULL);
CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, gpuId INTEGER NOT NULL,
  queueId INTEGER NOT NULL, sequenceId INTEGER NOT NULL, completionSignal TEXT NOT NULL,
  start INTEGER NOT NULL, "end" INTEGER NOT NULL, description_id INTEGER NOT NULL,
  opType_id INTEGER NOT NULL);
INSERT INTO rocpd_string VALUES (1, ''), (2, 'KernelExecution'), (3, 'CopyDeviceToHost'),
  (4, 'a_kernel'), (5, 'b_kernel');
"""


class Info(Case):
    """rtl info of a database."""

    def test_trace(self):
        self.rtl("trace", "-o", "run.db", PROGRAM, "100", "children")
        text = self.rtl("info", "run.db").stdout
        for line in ("run.db: 300 GPU operations", f"mode: {DEFAULT_MODE}", "where: collector",
                     "state: complete"):
            self.assertIn(line + "\n", text)
        self.assertRegex(text, r"(?m)^ledger of rtl.hsa: 300 published, 300 delivered, 0 disc")
        self.assertEqual(len(re.findall("(?m)^ledger of ", text)), 1)  # of those with events
        self.assertEqual(len(re.findall(r"(?m)^process \d: pid \d+ of \d+, host .* s: /", text)), 3)
        info = json.loads(self.rtl("info", "--json", "run.db").stdout)
        self.assertEqual((info["operations"], len(info["processes"])), (300, 3))
        ledger, = [s for s in info["ledger"] if s["stream"] == "rtl.hsa"]
        self.assertEqual((ledger["published"], ledger["delivered"]), (300, 300))
        self.assertEqual(info["losses"], [])
        self.rtl("record", "-o", "run.rec", PROGRAM, "100")
        self.assertEqual(len(re.findall("(?m)^  .* published", self.rtl("info", "run.rec").stdout)), 1)

    def test_control_characters__shown_as_escapes(self):
        odd = "x\x1b[31m\n\a"
        self.rtl("trace", "-o", "run.db", PROGRAM, "3", odd)
        self.rtl("record", "-o", "run.rec", PROGRAM, "3", odd)
        for name in ("run.db", "run.rec"):
            text = self.rtl("info", name).stdout
            self.assertIn("3 x\\x1b[31m\\n\\a\n", text)
            self.assertNotIn("\x1b", text)

    def test_plain_rpd(self):
        self.script("trace.rpd", RPD)
        done = self.rtl("info", "trace.rpd")
        self.assertEqual((done.returncode, done.stdout), (0, "trace.rpd: 0 GPU operations\n"))
        info = json.loads(self.rtl("info", "--json", "trace.rpd").stdout)
        self.assertEqual((info["version"], info["processes"]), (None, []))


class Env(Case):
    """The exports of rtl env."""

    def test_eval__program_is_traced(self):
        script = (f"eval \"$('{RTL}' env)\"; "
                  f"RTL_SUBSCRIBERS=libsqlite_sub.so?output=run.db:libstats_sub.so '{PROGRAM}' 100")
        done = subprocess.run(["sh", "-c", script], cwd=self.folder, env=CLEAN, text=True,
                              capture_output=True, check=True)
        self.assertIn("GPU kernels: 100, ", done.stderr)
        self.assertIn("GPU kernels: 100, ", self.rtl("summary", "run.db").stdout)

    def test_default_mode__does_not_let_other_modes_fall_back(self):
        """The variable stays in the shell, for commands that ask for a mode."""
        done = self.rtl("env")
        self.assertRegex(done.stdout, "RTL_MODE='(hip|standard)'")  # the second where rtl is built without HIP
        self.assertNotIn("RTL_MODE_FALLBACK", done.stdout)

    def test_variable_of_another_tracer__a_line(self):
        variables = {"RTL_OUTPUT": "x.db", "RTL_SUBSCRIBERS": ""}
        line = "rtl: RTL_OUTPUT is not read by this rtl: name the file with -o\n"
        self.assertEqual(self.rtl("env", env=variables).stderr, line)
        done = self.rtl("trace", "-q", "-o", "y.db", PROGRAM, "5", env=variables)
        self.assertEqual(done.stderr, line)

    def test_no_subscribers__not_set(self):
        self.assertNotIn("RTL_SUBSCRIBERS", self.rtl("env").stdout)
        self.assertEqual(self.rtl("env", "-o", "x", "-s", "libsqlite_sub.so?").stdout,
                         self.rtl("env", "-o", "x", "-s", "libsqlite_sub.so").stdout)
        # the mode that `rtl trace` has
        self.assertIn(f"RTL_MODE='{DEFAULT_MODE}'", self.rtl("env").stdout)
        self.assertIn("RTL_MODE='lite'", self.rtl("env", "-m", "lite").stdout)

    def test_twice__as_once(self):
        script = f"eval \"$('{RTL}' env)\"; env | grep HSA_ | sort"
        once = subprocess.run(["sh", "-c", script], env=CLEAN, text=True, capture_output=True,
                              check=True).stdout
        twice = subprocess.run(["sh", "-c", script.replace("; env", f"; eval \"$('{RTL}' env)\"; env")],
                               env=CLEAN, text=True, capture_output=True, check=True).stdout
        self.assertEqual(once, twice)
        self.assertEqual(len(once.splitlines()), 2)

    def test_quoting__survives_the_shell(self):
        tricky = "it's $HOME `id` \"x\" \\ !1 a*b"
        done = self.rtl("env", "-s", "libstats_sub.so?output=" + tricky)
        shown = subprocess.run(["sh", "-c", done.stdout + 'printf %s "$RTL_SUBSCRIBERS"'],
                               env=CLEAN, text=True, capture_output=True, check=True).stdout
        self.assertTrue(shown.endswith("libstats_sub.so?output=" + tricky), shown)

    def test_shells(self):
        self.assertIn("setenv HSA_TOOLS_ROCPROFILER_V1_TOOLS '1';\n",
                      self.rtl("env", "--shell", "csh").stdout)
        self.assertIn("set -gx HSA_TOOLS_ROCPROFILER_V1_TOOLS '1';\n",
                      self.rtl("env", "--shell=fish").stdout)
        self.assertEqual(self.rtl("env", "--shell", "zsh").stdout, self.rtl("env").stdout)

    def test_output__subscriber_with_it(self):
        done = self.rtl("env", "-o", "a b.db")
        self.assertIn(f"/libsqlite_sub.so?output={self.path('a b.db')}'", done.stdout)


class Lists(Case):
    """rtl list-streams, rtl list-subscribers, help."""

    def test_streams(self):
        text = self.rtl("list-streams")
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertRegex(text.stdout, r"(?m)^rtl\.hsa \d+\.\d+: ")
        self.assertRegex(text.stdout, r"(?m)^  task_end \(type 11, \d+ bytes\): ")
        self.assertRegex(text.stdout, r"(?m)^    begin_ns +time +ns +\S")
        streams = json.loads(self.rtl("list-streams", "--json").stdout)["streams"]
        hsa, = [s for s in streams if s["name"] == "rtl.hsa"]
        end, = [t for t in hsa["types"] if t["name"] == "task_end"]
        field = end["fields"][0]
        self.assertEqual((field["name"], field["kind"], field["unit"], field["offset"]),
                         ("begin_ns", "time", "ns", 0))

    def test_subscribers(self):
        text = self.rtl("list-subscribers").stdout
        self.assertRegex(text, r"(?m)^libstats_sub\.so: stats \d")
        self.assertRegex(text, r"(?m)^  output=stderr +file")
        plugins = json.loads(self.rtl("list-subscribers", "--json").stdout)["subscribers"]
        self.assertTrue({"sqlite", "stats"} <= {p["name"] for p in plugins})
        stats, = [p for p in plugins if p["name"] == "stats"]
        shape, = [s for s in stats["settings"] if s["key"] == "format"]
        self.assertEqual((shape["default"], shape["values"]), ("text", "text or json"))
        self.assertRegex(text, r"(?m)^  format=text +text, a table.* \(text or json\)$")

    def test_subscribers__shadowed_and_unusable(self):
        shutil.copy(PLUGINS + "/libgood_sub.so", self.path("libstats_sub.so"))
        self.write("libbad_sub.so", "text")
        done = self.rtl("list-subscribers", env={"RTL_PLUGIN_PATH": PLUGINS})
        self.assertEqual(done.returncode, 0)
        self.assertIn("libbad_sub.so: cannot be used\n  subscriber ./libbad_sub.so cannot be "
                      "loaded: file too short\n", done.stdout)
        self.assertIn("  shadowed: that name finds ./libstats_sub.so\n", done.stdout)
        self.assertIn("version 7.3 of the plugin ABI", done.stdout)
        plugins = json.loads(self.rtl("list-subscribers", "--json").stdout)["subscribers"]
        own, = [p for p in plugins if p["file"].endswith("lib/rtl/libstats_sub.so")]
        self.assertEqual(own["shadowed_by"], "./libstats_sub.so")
        bad, = [p for p in plugins if p["file"] == "./libbad_sub.so"]
        self.assertIn("file too short", bad["error"])

    def complete(self, *words):
        """What bash offers for the last of these words."""
        script = (f"source <('{RTL}' completion bash); COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); "
                  "_rtl; printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = subprocess.run(["bash", "-ec", script, "bash", *words], env=CLEAN, text=True,
                              cwd=self.folder, capture_output=True, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_completion(self):
        self.write("file.db", "")
        self.assertEqual(self.complete(RTL, "tra"), ["trace"])
        self.assertEqual(self.complete(RTL, "trace", "--outp"), ["--output"])
        self.assertEqual(self.complete(RTL, "trace", "-o", "fi"), ["file.db"])
        self.assertIn("true", self.complete(RTL, "trace", "-o", "x", "tru"))
        self.assertEqual(self.complete(RTL, "summary", "fi"), ["file.db"])
        self.assertEqual(self.complete(RTL, "trace", "true", "fi"), ["file.db"])
        self.assertIn("#compdef rtl\n", self.rtl("completion", "zsh").stdout)
        done = self.rtl("completion", "tcsh")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))
        self.assertEqual(self.rtl("completion").returncode, 2)

    def test_help(self):
        verbs = re.findall(r"(?m)^  ([a-z][a-z-]+) ", self.rtl("--help").stdout)
        self.assertEqual(set(verbs),
                         {"trace", "record", "summary", "report", "diff", "merge", "convert", "info", "start", "stop", "status", "top", "replay",
                          "recover", "env", "attach", "ps", "doctor", "selftest", "snapshot", "list-counters", "list-streams", "list-subscribers", "new-subscriber", "check-subscriber"})
        for verb in verbs:
            done = self.rtl(verb, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(done.stdout.startswith(f"usage: rtl {verb} "), done.stdout)
            self.assertLessEqual(max(map(len, done.stdout.splitlines())), 90)
        for words, verb in (("list streams", "list-streams"), ("list counters", "list-counters"),
                            ("list subscribers", "list-subscribers"), ("plugin new", "new-subscriber"),
                            ("plugin check", "check-subscriber")):
            self.assertEqual(self.rtl(*words.split(), "--help").stdout, self.rtl(verb, "--help").stdout)
            self.assertEqual(self.rtl("help", *words.split()).stdout, self.rtl(verb, "--help").stdout)
        self.assertIn("list: give streams, counters or subscribers", self.rtl("list").stderr)
        self.assertIn("plugin: give new or check", self.rtl("plugin", "make").stderr)
        self.assertRegex(self.rtl("--version").stdout, r"^rtl \d+\.\d+\.\d+\n$")


class Summary(Case):
    """rtl summary over databases made here."""

    leaks = True

    def database(self, rows, more=""):
        """rows: (gpu, start, end, description_id, opType_id)"""
        self.script("trace.rpd", RPD + more)
        self.insert("trace.rpd", 'INSERT INTO rocpd_op (gpuId, queueId, sequenceId, completionSignal, start, "end", '
                    "description_id, opType_id) VALUES (?, 0, 0, '', ?, ?, ?, ?)", rows)

    def summary(self):
        done = self.rtl("summary", "--json", "trace.rpd")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_plain_rpd(self):
        self.database([(0, 1000, 2000, 4, 2), (0, 1500, 4500, 4, 2), (1, 9000, 10000, 5, 2),
                       (0, 100, 600, 1, 3)])
        done = self.rtl("summary", "trace.rpd")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "trace.rpd")
        self.assertEqual(lines[2], "GPU kernels: 3, 5.000us in total")
        # Percentiles are within 1 %.
        self.assertRegex(lines[4], r"^80\.0% +2 +4\.000us +2\.000us +1\.000us +1\.00.us +"
                                   r"(2\.9..|3\.000)us +3\.000us +a_kernel$")
        self.assertIn("GPU copies: 1, 500ns in total", lines)
        self.assertEqual([line for line in lines if line.startswith("GPU ") and "busy" in line], [
            "GPU 0: busy 4.000us of 4.400us (90.9%), idle 400ns, 2 dispatches, 1 copies",
            "GPU 1: busy 1.000us of 1.000us (100.0%), idle 0ns, 1 dispatches"])

    def test_sort_and_csv(self):
        # a_kernel: twice 1 us; b_kernel: 5 us; the operation without a name: 2 us.
        self.database([(0, 0, 1000, 4, 2), (0, 2000, 3000, 4, 2), (0, 4000, 9000, 5, 2)])
        for key, first in (("total", "b_kernel"), ("count", "a_kernel"), ("mean", "b_kernel"), ("max", "b_kernel"),
                           ("min", "b_kernel"), ("p50", "b_kernel"), ("p99", "b_kernel"), ("name", "a_kernel")):
            rows = list(csv.DictReader(io.StringIO(
                self.rtl("summary", "--csv", "--sort", key, "trace.rpd").stdout)))
            self.assertEqual([row["name"] for row in rows],
                             [first] + [n for n in ("a_kernel", "b_kernel") if n != first], key)
            by_json = json.loads(self.rtl("summary", "--json", "--sort", key, "trace.rpd").stdout)
            section, = [s for s in by_json["sections"] if s["rows"]]
            for row, same in zip(rows, section["rows"]):
                self.assertEqual(row["table"], section["title"])
                for column in ("name", "count", "total_ns", "mean_ns", "min_ns", "p50_ns", "p99_ns", "max_ns"):
                    self.assertEqual(row[column], str(same[column]))
        self.refused(2, "--sort size: give total, ", "summary", "--sort", "size", "trace.rpd")

    def test_csv__any_name(self):
        odd = 'a "name", with\na line'
        self.database([(0, 0, 1000, 9, 2)])
        self.ask("trace.rpd", "INSERT INTO rocpd_string VALUES (9, ?)", (odd,))
        row, = csv.DictReader(io.StringIO(self.rtl("summary", "--csv", "trace.rpd").stdout, newline=""))
        self.assertEqual(row["name"], odd)

    def test_long_names__cut_on_a_terminal_only(self):
        name = "k" * 300
        self.database([(0, 0, 1000, 9, 2)])
        self.ask("trace.rpd", "INSERT INTO rocpd_string VALUES (9, ?)", (name,))
        self.assertIn(name, self.rtl("summary", "trace.rpd").stdout)
        narrow = {"COLUMNS": "100"}
        self.assertEqual(max(map(len, self.rtl("summary", "trace.rpd", env=narrow).stdout.splitlines())), 100)
        self.assertIn(name, self.rtl("summary", "--full-names", "trace.rpd", env=narrow).stdout)

    def test_narrow__numbers_that_do_not_fit_are_left_out(self):
        self.database([(0, 0, 1234567, 9, 2), (0, 2000000, 4200000, 9, 2)])
        self.ask("trace.rpd", "INSERT INTO rocpd_string VALUES (9, ?)", ("name" * 10,))
        for columns, left_out in ((130, []), (80, ["min", "p50"]), (60, ["min", "p50", "share", "p99"])):
            lines = self.rtl("summary", "trace.rpd", env={"COLUMNS": str(columns)}).stdout.splitlines()
            wanted = "share count total mean min p50 p99 max kernel".split()
            self.assertEqual(lines[3].split(), [word for word in wanted if word not in left_out])
            self.assertEqual(len(lines[4].split()), len(lines[3].split()))
            self.assertLessEqual(max(map(len, lines[:5])), columns)

    def test_gpus_that_the_trace_knows__named(self):
        self.rtl("trace", "-q", "-s", "libsqlite_sub.so?output=trace.rpd", PROGRAM, "2")
        # the second dispatch is of GPU 2, the first of GPU 1
        self.script("trace.rpd", """
            INSERT INTO rtl_s_rtl_hsa_task_end_g2 SELECT 900 + id, 2, queue, submit_tid, flags, scope, hip_stream
              FROM rtl_s_rtl_hsa_task_end_g2;
            UPDATE rtl_s_rtl_hsa_task_end_g2 SET gpu = 1 WHERE id < 900;
            UPDATE rtl_s_rtl_hsa_task_end SET g2 = 900 + g2 WHERE id = (SELECT max(id) FROM rtl_s_rtl_hsa_task_end);
            INSERT INTO rtl_tracepoint (process, uid, kind, name, label, category) VALUES (1, 7, 'agent', 'gfx90a', 1, 1),
              (1, 8, 'kernel', 'k', 1, 1);
            INSERT INTO rtl_tracepoint_metadata VALUES (1, 7, 'node', '1', 0, 0), (1, 7, 'product', 'Some GPU', 0, 1),
              (1, 7, 'bus_id', '0000:c1:00.0', 0, 2), (1, 7, 'uuid', 'GPU-77', 0, 3), (1, 8, 'node', '2', 0, 0);
            INSERT INTO rtl_origin VALUES (900, 1, 1, 7, 0), (901, 1, 1, 8, 0);
            INSERT INTO rtl_s_rtl_hsa_metadata (id, origin, time_ns, instance, gpu, flags)
              VALUES (900, 900, 1, 0, 1, 0), (901, 901, 1, 0, 2, 0);
            UPDATE rtl_type SET table_name = 'rtl_s_rtl_hsa_metadata' WHERE payload_bytes = 32 AND type = 26;
            UPDATE rtl_field SET column_name = name WHERE type = 26 AND stream = (SELECT stream FROM rtl_type
              WHERE table_name = 'rtl_s_rtl_hsa_metadata');""")
        lines = self.rtl("summary", "trace.rpd").stdout.splitlines()
        self.assertEqual([line.split(": busy")[0] for line in lines if ": busy" in line],
                         ["GPU 1 (gfx90a, Some GPU, 0000:c1:00.0)", "GPU 2"])
        first, second = self.summary()["devices"]
        self.assertEqual((first["name"], first["product"], first["bus_id"], first["uuid"]),
                         ("gfx90a", "Some GPU", "0000:c1:00.0", "GPU-77"))
        self.assertNotIn("name", second)

    def test_json(self):
        self.database([(0, 1000 + i, 1000 + 2 * i, 4, 2) for i in range(1, 1001)])
        row, = self.summary()["sections"][0]["rows"]
        self.assertEqual((row["count"], row["total_ns"], row["min_ns"], row["max_ns"]),
                         (1000, 500500, 1, 1000))
        self.assertAlmostEqual(row["p50_ns"], 500, delta=5)
        self.assertAlmostEqual(row["p99_ns"], 990, delta=9.9)
        self.assertEqual(row["mean_ns"], 500.5)

    def test_no_operations(self):
        self.database([])
        self.assertEqual(self.rtl("summary", "trace.rpd").stdout, "trace.rpd\n")
        self.assertEqual(self.summary()["devices"], [])

    def test_busy__rows_in_any_order__exact(self):
        rows = [(0, 1000 + 20 * i, 1000 + 20 * i + 8, 4, 2) for i in range(100000)]
        self.database(rows[1::2] + rows[0::2] + rows[::-1])
        device, = self.summary()["devices"]
        self.assertEqual((device["busy_ns"], device["uncertain_ns"]), (800000, 0))

    def test_inverted_times__no_duration(self):
        self.database([(0, 2000, 1000, 4, 2), (0, 1000, 1500, 4, 2)])
        row, = self.summary()["sections"][0]["rows"]
        self.assertEqual((row["total_ns"], row["min_ns"]), (500, 0))

    def test_ledger_and_times_not_known(self):
        self.rtl("trace", "-q", "-s", "libsqlite_sub.so?output=trace.rpd", PROGRAM, "3")
        self.script("trace.rpd", """
            UPDATE rtl_s_rtl_hsa_task_end SET begin_ns_rel = NULL, end_ns_rel = NULL
              WHERE id = (SELECT max(id) FROM rtl_s_rtl_hsa_task_end);
            UPDATE rtl_ledger SET published = 15, delivered = 11, discarded = 3, abandoned = 1, missed = 2
              WHERE stream = 'rtl.hsa';
            INSERT INTO rtl_loss VALUES (1, 'rtl.hsa', 'ring full', 3), (1, 'rtl.hsa', 'no signal', 2);""")
        text = self.rtl("summary", "trace.rpd").stdout
        self.assertIn("GPU kernels: 3, 5.000us in total, 1 without times\n", text)
        self.assertIn("rtl.hsa: 11 of 17 events recorded, 6 LOST: 3 discarded, 1 abandoned, "
                      "2 missed (ring full: 3, no signal: 2)\n", text)
        self.assertNotIn("rtl.hip", text)

    def test_top(self):
        self.database([(0, 1000, 2000 + i, 10 + i, 2) for i in range(30)], "".join(
            f"INSERT INTO rocpd_string VALUES ({10 + i}, 'k{i}');" for i in range(30)))
        self.assertIn("(10 more)", self.rtl("summary", "trace.rpd").stdout)
        self.assertIn("(25 more)", self.rtl("summary", "--top=5", "trace.rpd").stdout)
        self.assertNotIn("more)", self.rtl("summary", "--top", "0", "trace.rpd").stdout)

    def test_tensile_names__problem_and_tile(self):
        name = "Cijk_Alik_Bljk_HB_MT{}x16x16_SN_1LDSB0_APM1_ABV0" + "_ACED0_AF0EM1" * 30 + "_WGM4"
        self.database([(0, 1000, 2000, 9, 2), (0, 1000, 2000, 10, 2)])
        self.ask("trace.rpd", "INSERT INTO rocpd_string VALUES (9, ?), (10, ?)", (name.format(16), name.format(128)))
        text = self.rtl("summary", "trace.rpd", env={"COLUMNS": "100"}).stdout
        self.assertRegex(text, r"(?m)  Cijk_Alik_Bljk_HB_MT16x16x16$")
        self.assertRegex(text, r"(?m)  Cijk_Alik_Bljk_HB_MT128x16x16$")
        self.assertIn(name.format(16), self.rtl("summary", "--full-names", "trace.rpd").stdout)

    def test_odd_strings(self):
        name = "it's \"x\" \\ \x1b[31m\n é " + "long " * 100
        self.database([(0, 1000, 2000, 9, 2), (0, 1000, 2000, 12345, 2)])
        self.ask("trace.rpd", "INSERT INTO rocpd_string VALUES (9, ?)", (name,))
        rows = self.summary()["sections"][0]["rows"]
        self.assertEqual({r["name"] for r in rows}, {name, "KernelExecution"})
        text = self.rtl("summary", "trace.rpd", env={"COLUMNS": "120"}).stdout
        self.assertNotIn("\x1b", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 120)

    def test_cut_off_database(self):
        """Its writer died: there is a -wal, and it says who wrote."""
        source = sqlite3.connect(self.path("source.db"))
        source.executescript("PRAGMA journal_mode = wal;" + RPD)
        source.executescript("CREATE TABLE rtl_meta (key, value);"
                             "INSERT INTO rtl_meta VALUES ('writer', 'me');"
                             "INSERT INTO rocpd_op VALUES (1, 0, 0, 0, '', 1000, 2000, 4, 2);")
        for suffix in ("", "-wal"):
            shutil.copy(self.path("source.db") + suffix, self.path("trace.rpd") + suffix)
        source.close()
        done = self.rtl("summary", "trace.rpd")
        self.assertEqual(done.returncode, 0)
        self.assertIn("GPU kernels: 1, 1.000us in total", done.stdout)
        self.assertIn("trace.rpd is not complete", done.stderr)

    def test_damaged_database(self):
        self.database([(0, 1000 + i, 2000 + i, 4, 2) for i in range(10000)])
        size = os.path.getsize(self.path("trace.rpd"))
        with open(self.path("trace.rpd"), "r+b") as file:
            file.seek(size // 2)
            file.write(b"\xff" * 40000)
        self.refused(1, "trace.rpd cannot be read: database disk image is malformed", "summary", "trace.rpd")


if __name__ == "__main__":
    unittest.main()
