#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
rtl report: what its page holds, against the database and `rtl summary`; and the page itself in a
browser that shows it to nobody (chromium --headless).
"""

import base64
import collections
import html
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import unittest
import zlib

from cli_kit import HANG_S, PROGRAM, RTL, Case
from cli_show import RPD

CHROMIUM = shutil.which("chromium")
AWKWARD = ['</script><b>"', "back\\slash", "new\nline", "\u00fcml\u00e4ut \u4e2d", "<!-- --", "k" * 10000]
CALLS = """
CREATE TABLE rocpd_ustring (id INTEGER PRIMARY KEY, string TEXT NOT NULL);
CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER, "end" INTEGER,
  apiName_id INTEGER, category_id INTEGER, domain_id INTEGER, args_id INTEGER);
CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER);
INSERT INTO rocpd_string VALUES (20, 'hipLaunchKernel'), (21, 'hip'), (22, 'UserMarker'), (23, 'roctx'),
  (24, 'rtl'), (25, 'Process');
INSERT INTO rocpd_ustring VALUES (1, ''), (2, 'a range');
"""


class Packed:
    """Numbers in LEB128, one after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def next(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value


def block(page, name):
    return re.search(f'<script [^>]*id="{name}">(.*?)</script>', page, re.S).group(1)


def events(page):
    """Of calls and of GPU work: a sorted list of tuples, times as in the database."""
    trace = json.loads(block(page, "rtl-trace"))
    packed = Packed(zlib.decompress(base64.b64decode(block(page, "rtl-events"), validate=True)))
    calls, work = [], []
    for track in trace["tracks"]:
        at = trace["base_ns"]
        for _ in range(track["count"]):
            at += packed.next()
            end = at + packed.next()
            name, kind = trace["names"][packed.next()]
            if "pid" in track:
                calls.append((track["pid"], track["tid"], at, end, name, kind))
                continue
            cause = None
            if packed.next():
                code = packed.next()
                caller = trace["tracks"][packed.next()]
                cause = (caller["tid"], at - (-(code + 1) // 2 if code % 2 else code // 2))
            work.append((track["gpu"], track["queue"], at, end, name, kind, cause))
    assert packed.at == len(packed.data)
    return sorted(calls), sorted(work, key=repr)


class Report(Case):
    """rtl report"""

    def make(self, operations=200, seed=1):
        """A trace as RPD writes them; what its page must hold of calls and of GPU work."""
        rng, database = random.Random(seed), sqlite3.connect(self.path("run.db"))
        database.executescript(RPD + CALLS)
        database.executemany("INSERT INTO rocpd_string VALUES (?, ?)", enumerate(AWKWARD, 30))
        calls, work = [], []
        for i in range(operations):
            tid, begin, kernel = rng.choice((7, 8)), 10**15 + rng.randrange(10**9), rng.randrange(len(AWKWARD))
            end, start = begin + rng.randrange(50000), begin + rng.randrange(-500, 90000)
            stop, gpu, linked = start + rng.randrange(2 * 10**6), rng.choice((1, 2)), rng.random() < .8
            is_range = rng.random() < .2
            database.execute("INSERT INTO rocpd_api VALUES (?, 7, ?, ?, ?, ?, 1, ?, ?)",
                             (i + 5, tid, begin, end, 22 if is_range else 20, 23 if is_range else 21,
                              2 if is_range else 1))
            calls.append((7, tid, begin, end, *(("a range", "roctx") if is_range else ("hipLaunchKernel", "hip"))))
            is_copy = rng.random() < .2
            database.execute("INSERT INTO rocpd_op VALUES (?, ?, ?, 0, '', ?, ?, ?, ?)",
                             (i + 9, gpu, 0 if is_copy else 3, start, stop, 1 if is_copy else 30 + kernel,
                              3 if is_copy else 2))
            if linked:
                database.execute("INSERT INTO rocpd_api_ops VALUES (NULL, ?, ?)", (i + 5, i + 9))
            work.append((gpu, 0 if is_copy else 3, start, stop,
                         *(("CopyDeviceToHost", "copy") if is_copy else (AWKWARD[kernel], "kernel")),
                         (tid, begin) if linked else None))
        # The extent of a process is no call.
        database.execute("INSERT INTO rocpd_api VALUES (1, 7, 7, 1, 1, 25, 1, 24, 1)")
        database.commit()
        database.close()
        return sorted(calls), sorted(work, key=repr)

    def test_every_event__as_in_the_database(self):
        calls, work = self.make()
        done = self.rtl("report", "run.db")
        self.assertEqual((done.returncode, done.stdout), (0, "run.html: open it in a browser\n"))
        self.assertEqual(events(self.read("run.html")), (calls, work))
        self.assertEqual(json.loads(block(self.read("run.html"), "rtl-summary")),
                         json.loads(self.rtl("summary", "--json", "run.db").stdout))

    def test_traced_program(self):
        self.rtl("trace", "-q", "-o", "run.db", PROGRAM, "100")
        self.rtl("report", "-o", "page.htm", "run.db")
        calls, work = events(self.read("page.htm"))
        self.assertEqual((len(work), {w[5] for w in work}), (100, {"kernel"}))
        self.assertEqual(len(calls), 100)  # the submissions
        self.assertTrue(all(w[6] for w in work))
        trace = json.loads(block(self.read("page.htm"), "rtl-trace"))
        self.assertEqual((trace["state"], trace["file"]), ("complete", "run.db"))
        self.assertIn(PROGRAM, trace["processes"][0]["command"])

    def test_programs_own_streams__regions_and_marks(self):
        self.rtl("trace", "-q", "-o", "run.db", PROGRAM, "10", "regions")
        self.script(
            "run.db", "INSERT INTO rtl_stream VALUES (50, 'own', 1, 0, '');"
            "INSERT INTO rtl_type VALUES (50, 7, 'tick', '', 0, 0, 'rtl_s_own');"
            "CREATE TABLE rtl_s_own AS SELECT id + 1000000 AS id, origin, time_ns, instance, correlation FROM rtl_s_rtl_hsa_task_end;")
        self.rtl("report", "run.db")
        names = collections.Counter((call[5] == "own" or call[4], call[5]) for call in events(self.read("run.html"))[0])
        self.assertEqual(names, {(True, "own"): 10, ("even", "rtl.default"): 5, ("odd", "rtl.default"): 5,
                                 ("inner", "rtl.default"): 10, ("open", "rtl.default"): 1, ("KernelDispatch", "hsa"): 10})

    def test_recording__as_its_database(self):
        self.rtl("record", "-q", "-o", "run.rec", PROGRAM, "100")
        self.rtl("replay", "-o", "replayed.db", "run.rec")
        for trace in ("run.rec", "replayed.db"):
            self.assertEqual(self.rtl("report", trace).returncode, 0)
        calls, work = events(self.read("run.html"))
        self.assertEqual((calls, work), events(self.read("replayed.html")))
        self.assertEqual((len(calls), len(work)), (100, 100))

    def test_too_many__the_longest_of_each_track_and_counts(self):
        calls, work = self.make()
        self.rtl("report", "--events", "60", "run.db")
        kept = events(self.read("run.html"))
        tracks = json.loads(block(self.read("run.html"), "rtl-trace"))["tracks"]
        self.assertEqual(sum(t["left_out"] for t in tracks), 400 - len(kept[0]) - len(kept[1]))
        self.assertLessEqual(len(kept[0]) + len(kept[1]), 60)
        for all_of, kept_of in zip((calls, work), kept):
            for track in {e[:2] for e in all_of}:
                left = sorted(e[3] - e[2] for e in set(all_of) - set(kept_of) if e[:2] == track)
                stay = sorted(e[3] - e[2] for e in kept_of if e[:2] == track)
                self.assertGreaterEqual(len(stay), min(10, len(stay) + len(left)) - 1)  # a sixth of all, or all
                if left:
                    self.assertLessEqual(left[-1] * 62 / 64, stay[0])

    def test_too_many_alike__some_of_them_over_all_of_the_time(self):
        self.rtl("trace", "-q", "-o", "run.db", PROGRAM, "1000")
        self.rtl("report", "--events", "100", "run.db")
        calls, work = events(self.read("run.html"))
        self.assertEqual((len(calls), len(work)), (50, 50))
        begins = [w[2] for w in sorted(work, key=lambda w: w[2])]
        self.assertLess(max(b - a for a, b in zip(begins, begins[1:])), (begins[-1] - begins[0]) / 4)

    def test_nothing_recorded(self):
        self.script("run.db", RPD)
        self.rtl("report", "run.db")
        self.assertEqual(events(self.read("run.html")), ([], []))

    def test_bad_input__one_line_and_no_page(self):
        self.make(10)
        self.refused(2, "give the file of a trace", "report")
        self.refused(2, "one file at a time", "report", "run.db", "run.db")
        self.refused(2, "--events 0", "report", "--events", "0", "run.db")
        self.refused(1, "mine.txt exists and is not a page", "report", "-o", self.write("mine.txt", "mine"), "run.db")
        self.rtl("report", "-o", "again.page", "run.db")
        self.assertEqual(self.rtl("report", "-o", "again.page", "run.db").returncode, 0)
        self.refused(1, "No such file", "report", "missing.db")
        self.refused(1, "not a trace", "report", "-o", "page.html", self.write("text", "x" * 9999))
        self.refused(1, "cannot be written: No such file", "report", "-o", "missing/page.html", "run.db")
        self.refused(1, "is the trace", "report", "-o", "run.db", "run.db")
        with open(self.path("run.db"), "rb+") as file:
            file.seek(4096)
            file.write(os.urandom(8192))
        self.refused(1, "run.db", "report", "run.db")
        self.assertEqual([n for n in os.listdir(self.folder) if "html" in n], [])

    def test_full_disk__no_page(self):
        self.make()
        done = subprocess.run(["sh", "-c", f"ulimit -f 8; trap '' XFSZ; '{RTL}' report run.db"], cwd=self.folder,
                              env=self.environment(), text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 1, done)
        self.assertRegex(done.stderr, r"^rtl: run.html cannot be written: [^\n]*\n$")
        self.assertEqual([n for n in os.listdir(self.folder) if "html" in n], [])


class Browser(Case):
    """The page as a browser shows it."""

    def setUp(self):
        super().setUp()
        if not CHROMIUM:
            self.skipTest("chromium is not there: scripts/test installs it")

    def shown(self, script=""):
        """The text of the page's elements after its script has run, and a test's."""
        page = self.read("run.html")
        self.write("test.html", page.replace(
            "</html>", "<script>(function wait() {\n"
            " if (!document.documentElement.dataset.ready) { setTimeout(wait, 20); return; }\n"
            f" {script} }})();</script></html>"))
        done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu",
                               f"--user-data-dir={self.folder}/chromium", "--virtual-time-budget=20000",
                               "--dump-dom", "file://" + self.path("test.html")],
                              text=True, capture_output=True, check=True, timeout=HANG_S)
        self.assertTrue('data-ready="' in done.stdout, done.stderr[-2000:])
        return done.stdout

    def body(self, script):
        """The tag <body> with what the script noted there."""
        return re.search("<body[^>]*>", self.shown(script)).group()

    def make(self):
        return Report.make(self)

    def test_tables__as_rtl_summary(self):
        self.make()
        self.rtl("report", "run.db")
        rows = [[html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall(r"<td.*?</td>", row, re.S)]
                for row in re.findall(r"<tr.*?</tr>", self.shown(), re.S)]
        shown = {(row[0], row[1]) for row in rows if row}
        sections = json.loads(self.rtl("summary", "--json", "run.db").stdout)["sections"]
        for section in sections:
            for row in section["rows"]:
                self.assertIn((row["name"], str(row["count"])), shown)
        self.assertIn("GPU kernels", [s["title"] for s in sections])

    def test_gaps_and_processes__as_rtl_summary(self):
        self.make()
        self.ask("run.db", "INSERT INTO rocpd_api VALUES (2, 9, 9, 10, 90, 20, 1, 21, 1)")
        self.rtl("report", "run.db")
        shown = self.body("""
            const rows = id => [...$(id).tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent).join("/")).join(";");
            document.body.dataset.gaps = rows("gap_table");
            document.body.dataset.processes = rows("process_table");
            document.body.dataset.bars = [...$("bars").children].map(c => c.className ? "" : c.textContent).filter(t => t).join(";");
            document.body.dataset.ranks = $("ranks") !== null;
            document.body.dataset.cells = [...$("gap_table").tBodies[0].rows[0].cells].map(c =>
                [getComputedStyle(c).textAlign, getComputedStyle(c).overflowX]).join();
          """)
        summary = json.loads(self.rtl("summary", "--json", "run.db").stdout)
        gaps = sorted((g["begin_ns"] - g["end_ns"], d["gpu"]) for d in summary["devices"] for g in d["gaps"])
        found = [row.split("/") for row in re.search(r'data-gaps="([^"]*)"', shown).group(1).split(";")]
        self.assertEqual(len(found), min(len(gaps), 12))
        self.assertEqual([row[0] for row in found], [f"GPU {gpu}" for _, gpu in gaps[:12]])
        self.assertIn('data-processes="', shown)
        self.assertEqual(len(re.search(r'data-processes="([^"]*)"', shown).group(1).split(";")),
                         len(summary["processes"]))
        self.assertRegex(shown, r'data-bars="GPU 1, [^"]*;GPU 2, [^"]*;GPU kernels, [^"]*;HIP calls, ')
        self.assertIn('data-ranks="false"', shown)
        self.assertIn('data-cells="right,visible,right,visible,right,visible,left,hidden"', shown)

    def test_graph_and_step__drawn_with_nodes_and_paths_and_ranks(self):
        self.make()
        self.rtl("report", "run.db")
        page = self.read("run.html")
        summary, trace = (json.loads(block(page, name)) for name in ("rtl-summary", "rtl-trace"))
        summary["sections"].append({"kind": "graph", "title": "Graph launches", "count": 2, "total_ns": 4000, "rows": [
            {"name": "graph 1, 2 nodes", "count": 2, "total_ns": 4000, "mean_ns": 2000, "share": 1, "nodes": [
                {"name": "first", "count": 2, "mean_ns": 900, "path_ns": 1800, "call": "hipLaunchKernel", "tid": 7, "range": ""},
                {"name": "last", "count": 2, "mean_ns": 1000, "mean_gap_ns": 100, "path_ns": 2000, "call": None, "tid": None,
                 "range": None}],
             "path": [{"cause": "work", "work": "last", "total_ns": 2000}, {"cause": "in_graph", "total_ns": 2000}]}]})
        trace["processes"][0]["rank"] = 3
        step, = [row for s in summary["sections"] if s["title"] == "Ranges" for row in s["rows"]]
        step["processes"] = [{"pid": 7, "count": 9, "mean_ns": 50, "path": [{"cause": "outside_hip", "total_ns": 450}]}]
        for name, value in ("rtl-summary", summary), ("rtl-trace", trace):
            page = page.replace(block(page, name), json.dumps(value).replace("<", "\\u003c"))
        self.write("run.html", page)
        shown = self.body("""
            const widths = [...$("graph_nodes").querySelector(".bar").children].map(i => i.style.width).join(" ");
            document.body.dataset.nodes = widths + ";" + [...$("graph_nodes").querySelectorAll("tbody tr")].map(r =>
                [0, 2, 4, 6, 7, 8].map(i => r.cells[i].textContent).join("/")).join(";");
            document.body.dataset.path = [...$("graph_nodes").querySelectorAll(".keys > span")].map(k => k.textContent).join(";");
            document.body.dataset.step = [...$("step_path").children].filter(c => !c.className).map(c => c.textContent).join(";");
            document.body.dataset.label = track_label(order[0]);
          """)
        self.assertIn('data-nodes="0% 45% 5% 50%;first/900 ns//hipLaunchKernel/7/;last/1.000 \u00b5s/100 ns/unknown/unknown/unknown"',
                      shown)
        self.assertIn('data-path="last 50.0 %;between nodes of a graph 50.0 %"', shown)
        self.assertRegex(shown, r'data-step="Critical path of a range: \d+ times, [^;]*;rank 3, process 7: 9 times, 50 ns on average"')
        self.assertIn('data-label="rank 3, process 7, thread 7"', shown)

    def test_ruler__ticks_differ(self):
        self.make()
        self.rtl("report", "run.db")
        shown = self.body("""
            document.body.dataset.ticks = [[1.405e9, 100], [1.405e9, 2e6], [999, 1], [0, 5e8]].map(([time, step]) =>
                [0, 1, 2].map(i => tick_text(time + i * step, step)).join(",")).join(";");
          """)
        self.assertIn('data-ticks="1.4050000 s,1.4050001 s,1.4050002 s;1.405 s,1.407 s,1.409 s;'
                      '999 ns,1.000 \u00b5s,1.001 \u00b5s;0 ns,500 ms,1.0 s"', shown)

    def test_search__steps_through_every_match(self):
        calls, _ = self.make()
        ranges = sum(call[4] == "a range" for call in calls)
        self.rtl("report", "run.db")
        shown = self.body("""
            find("a range");
            const seen = new Set();
            for (let i = 0; i < 500; i++) { seen.add(picked.t.tid + " " + picked.i); step(1); }
            document.body.dataset.seen = seen.size;
            document.body.dataset.matches = $("matches").textContent;
            document.body.dataset.picked = $("picked").textContent;
          """)
        self.assertIn(f'data-seen="{ranges}" data-matches="{ranges} matches" data-picked="a range: ', shown)

    def test_click__tells_what_it_is_and_who_called(self):
        _, work = self.make()
        self.rtl("report", "run.db")
        shown = self.body("""
            const t = order.find(t => t.gpu === 1 && t.queue), i = t.from.findIndex(f => f >= 0);
            fit({t, i}); draw();
            const box = canvas.getBoundingClientRect(), at = {pointerId: 1,
              clientX: box.left + ((t.begin[i] + t.end[i]) / 2 - view.from) / (view.to - view.from) * box.width,
              clientY: box.top + t.y + HEAD + t.row[i] * ROW + 5 - $("lanes").scrollTop};
            canvas.setPointerCapture = () => {};
            canvas.dispatchEvent(new PointerEvent("pointerdown", at));
            canvas.dispatchEvent(new PointerEvent("pointerup", at));
            document.body.dataset.same = picked && picked.t === t && picked.i === i;
            document.body.dataset.begin = t.begin[i] + trace.base_ns;
            document.body.dataset.picked = $("picked").textContent;
          """)
        self.assertIn('data-same="true"', shown)
        begin = int(re.search(r'data-begin="(\d+)"', shown).group(1))
        self.assertIn(begin, [w[2] for w in work if w[0] == 1])
        self.assertRegex(shown, r'data-picked="[^"]*, GPU 1, queue 3; called [^"]* before, by process 7, thread \d"')

    def test_gaps__where_no_work_was(self):
        _, work = self.make()
        self.rtl("report", "run.db")
        shown = self.body("""
            document.body.dataset.gaps = [1, 2].map(gpu => busy_of(gpu).join(" ")).join(";");
          """)
        base = min(w[2] for w in work)
        for gpu, text in zip((1, 2), re.search(r'data-gaps="([^"]*)"', shown).group(1).split(";")):
            numbers, merged = [int(n) for n in text.split()], []
            for _, _, begin, end, *_ in sorted((w for w in work if w[0] == gpu), key=lambda w: w[2]):
                if merged and begin <= merged[-1]:
                    merged[-1] = max(merged[-1], end)
                else:
                    merged += [begin, end]
            shift = merged[0] - numbers[0]
            self.assertLessEqual(shift, base)
            self.assertEqual(numbers, [m - shift for m in merged])


if __name__ == "__main__":
    unittest.main()
