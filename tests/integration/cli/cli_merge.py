#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl merge: what is in the merged trace, against the traces that it was made of."""

import json
import os
import unittest

from cli_kit import PROGRAM, Case
from cli_show import RPD

OTHER_UUID = "GPU-00000000000000ff"
# As of RPD's views: pids of node n are n times this one on, numbers of GPUs n times the other.
PID_STRIDE, GPU_STRIDE = 10000000, 1000


class Merge(Case):
    """rtl merge"""

    leaks = True

    def make(self, *names):
        for name, count in zip(names, (100, 70, 30)):
            self.rtl("trace", "-q", "-o", name, PROGRAM, str(count), *(["children"] if count == 70 else []))

    def other_host(self, name, shift_ns):
        """Makes it a trace of another host, whose clock began so much later."""
        times = {"rtl_s_rtl_hsa_task_end": ("time_ns",), "rtl_process": ("start_ns", "end_ns", "first_ns", "last_ns"),
                 "rtl_clock": ("time_ns",)}
        self.script(name, "".join(f'UPDATE {table} SET "{column}" = "{column}" - {shift_ns};'
                                  for table, columns in times.items() for column in columns) +
                    "UPDATE rtl_process SET host_name = 'other';"
                    f"UPDATE rtl_tracepoint_metadata SET value = '{OTHER_UUID}' WHERE key = 'uuid';")

    DISPATCHES = ("SELECT pid, gpu, queue, packet_id, kernel, mangled, submit_ns, begin_ns, end_ns, grid_x, tid,"
                  " correlation, uid, flags FROM rtl_dispatches ORDER BY 1, 3, 4")

    def assert_sound(self, name):
        self.assertEqual(self.ask(name, "PRAGMA foreign_key_check"), [])
        self.assertEqual(self.ask(name, "PRAGMA integrity_check"), [("ok",)])

    def test_one_host__every_row_and_the_ledger(self):
        self.make("a.db", "b.db", "c.db")
        done = self.rtl("merge", "-o", "all.db", "a.db", "b.db", "c.db")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "all.db: 3 traces\n", ""))
        self.assert_sound("all.db")
        parts = [row for name in ("a.db", "b.db", "c.db") for row in self.ask(name, self.DISPATCHES)]
        self.assertEqual(len(parts), 100 + 3 * 70 + 30)
        self.assertEqual(self.ask("all.db", self.DISPATCHES), sorted(parts, key=lambda r: (r[0], r[2], r[3])))
        # The same GPU; the queues of each process are its own.
        self.assertEqual(self.ask("all.db", "SELECT count(DISTINCT gpuId), count(DISTINCT queueId) FROM rocpd_op"),
                         [(1, sum(n for name in ("a.db", "b.db", "c.db")
                                  for n, in self.ask(name, "SELECT count(DISTINCT queueId) FROM rocpd_op")))])
        links = "SELECT a.pid, o.start FROM rocpd_api_ops l JOIN rocpd_api a ON a.id = api_id JOIN rocpd_op o ON o.id = op_id"
        self.assertEqual(sorted(self.ask("all.db", links)),
                         sorted(row for name in ("a.db", "b.db", "c.db") for row in self.ask(name, links)))
        info = json.loads(self.rtl("info", "--json", "all.db").stdout)
        ledger, = [s for s in info["ledger"] if s["stream"] == "rtl.hsa"]
        self.assertEqual((ledger["delivered"], len(info["processes"])), (340, 5))

    def test_stream_without_events_first__those_of_the_next_are_in_the_views(self):
        for name, count in ("none.db", 0), ("five.db", 5):
            self.rtl("trace", "-q", "-o", name, PROGRAM, str(count))
        self.assertEqual(self.rtl("merge", "-o", "all.db", "none.db", "five.db").returncode, 0)
        self.assertEqual(self.ask("all.db", self.DISPATCHES), self.ask("five.db", self.DISPATCHES))
        self.assertEqual(len(self.ask("all.db", self.DISPATCHES)), 5)

    def test_two_hosts__gpus_apart_and_clocks_aligned(self):
        self.make("a.db", "b.db")
        before = self.ask("b.db", self.DISPATCHES)
        self.other_host("b.db", 10**15)
        self.script("a.db", "INSERT OR REPLACE INTO rtl_meta VALUES ('ended', 'with status 0'), ('pauses', '5-7 ')")
        self.script("b.db", "INSERT OR REPLACE INTO rtl_meta VALUES ('ended', 'by signal 9'), ('pauses', '1-2 30-40 ')")
        self.rtl("merge", "-o", "all.db", "a.db", "b.db")
        self.assert_sound("all.db")
        gpu = self.ask("a.db", "SELECT DISTINCT gpuId FROM rocpd_op")[0][0]
        self.assertEqual(self.ask("all.db", "SELECT DISTINCT gpuId FROM rocpd_op ORDER BY 1"),
                         [(gpu,), (gpu + GPU_STRIDE,)])
        pids = {row[0] for row in before}
        moved = [row for row in self.ask("all.db", self.DISPATCHES) if row[0] - PID_STRIDE in pids]
        self.assertEqual(len(moved), len(before))
        # Each clock's reading is known to less than a millisecond, and to no more.
        shift = moved[0][7] - before[0][7]
        self.assertLess(abs(shift), 10**9)
        self.assertEqual(self.ask("all.db", "SELECT key, value FROM rtl_meta WHERE key IN ('ended', 'pauses') ORDER BY 1"),
                         [("ended", "with status 0, by signal 9"),
                          ("pauses", "5-7 %d-%d %d-%d " % (*(10**15 + shift + ns for ns in (1, 2, 30, 40)),))])
        for was, now in zip(before, moved):
            self.assertEqual(now[1], was[1] + GPU_STRIDE)
            self.assertEqual([now[i] - was[i] for i in (6, 7, 8)], [shift] * 3)
            self.assertEqual(now[2:6] + now[9:], was[2:6] + was[9:])
        nodes = self.ask("all.db", "SELECT DISTINCT node, pid FROM napi WHERE domain = 'hsa' ORDER BY 1, 2")
        self.assertEqual({pid for node, pid in nodes if node == 1}, pids)
        summary = json.loads(self.rtl("summary", "--json", "all.db").stdout)
        self.assertEqual(sorted(d["gpu"] for d in summary["devices"]), [gpu, gpu + GPU_STRIDE])

    def test_align_collectives__clocks_by_when_they_ended(self):
        self.make("a.db", "b.db", "c.db")
        for name in ("a.db", "b.db", "c.db"):
            self.script(name, "UPDATE rtl_s_rtl_hsa_task_end SET correlation = id; CREATE VIEW rtl_e_rtl_rccl_operation AS"
                              " SELECT process, correlation, 7 AS communicator, 'AllReduce' AS operation,"
                              " correlation / 2 AS sequence, correlation % 2 - 1 AS peer FROM rtl_dispatches;")
        self.other_host("b.db", 10**15)
        self.other_host("c.db", 10**15)
        ends = [dict(self.ask(name, "SELECT correlation / 2, max(end_ns) FROM rtl_dispatches WHERE correlation % 2 = 0"
                                    " GROUP BY 1")) for name in ("a.db", "b.db")]
        differ = sorted(ends[0][n] - ends[1][n] for n in ends[0] if n in ends[1])
        starts = "SELECT pid % 10000000, start_ns FROM rtl_process ORDER BY 1"
        was = dict(self.ask("b.db", starts) + self.ask("c.db", starts))
        self.assertEqual(self.rtl("merge", "--align-collectives", "-o", "all.db", "a.db", "b.db", "c.db").returncode, 0)
        self.assertEqual({now - was[pid] for pid, now in self.ask("all.db", starts) if pid in was},
                         {differ[len(differ) // 2]})
        self.script("b.db", "DROP VIEW rtl_e_rtl_rccl_operation")
        self.refused(1, "b.db: shares no collective", "merge", "--align-collectives", "-o", "x.db", "a.db", "b.db")

    def test_gpus_without_uuid__apart(self):
        self.make("a.db", "b.db")
        self.other_host("b.db", 10**15)
        for name in ("a.db", "b.db"):
            self.script(name, "INSERT INTO rtl_tracepoint_metadata SELECT process, max(uid), key, value, 0, 0 FROM rtl_tracepoint,"
                        " (SELECT 'uuid' AS key, 'GPU-XX' AS value UNION SELECT 'node', gpu FROM rtl_dispatches) GROUP BY 1, 3")
        self.rtl("merge", "-o", "all.db", "a.db", "b.db")
        self.assertEqual(self.ask("all.db", "SELECT count(DISTINCT gpuId) FROM rocpd_op"), [(2,)])

    def test_merged_and_one_more(self):
        self.make("a.db", "b.db", "c.db")
        self.other_host("b.db", 10**15)
        self.other_host("c.db", 10**15)
        self.rtl("merge", "-o", "ab.db", "a.db", "b.db")
        self.rtl("merge", "-o", "abc.db", "ab.db", "c.db")
        self.rtl("merge", "-o", "all.db", "a.db", "b.db", "c.db")
        self.assertEqual(self.ask("abc.db", self.DISPATCHES), self.ask("all.db", self.DISPATCHES))
        self.assertEqual(self.ask("abc.db", "SELECT DISTINCT node FROM napi ORDER BY 1"), [(0,), (1,)])
        self.refused(1, "merged of several hosts", "merge", "-o", "x.db", "c.db", "ab.db")

    def test_incomplete__so_is_the_whole(self):
        self.make("a.db", "b.db")
        self.script("b.db", "UPDATE rtl_meta SET value = 'recovered' WHERE key = 'state'")
        self.rtl("merge", "-o", "all.db", "a.db", "b.db")
        self.assertEqual(self.ask("all.db", "SELECT value FROM rtl_meta WHERE key = 'state'"), [("recovered",)])

    def test_bad_input__one_line_and_no_output(self):
        self.make("a.db", "b.db")
        self.refused(2, "-o FILE", "merge", "a.db", "b.db")
        self.refused(2, "two traces or more", "merge", "-o", "x.db", "a.db")
        self.refused(2, "one of the traces", "merge", "-o", "a.db", "a.db", "b.db")
        self.refused(1, "that an earlier trace holds, too", "merge", "-o", "x.db", "a.db", "a.db")
        self.refused(1, "x.txt exists and is not a trace", "merge", "-o", self.write("x.txt", "mine"), "a.db", "b.db")
        self.refused(1, "No such file", "merge", "-o", "x.db", "a.db", "missing.db")
        self.refused(1, "not a trace", "merge", "-o", "x.db", "a.db", self.write("text", "x" * 9999))
        self.script("rpd.db", RPD)
        self.refused(1, "merge those of one kind", "merge", "-o", "x.db", "a.db", "rpd.db")
        self.script("b.db", "UPDATE rtl_meta SET value = 'index' WHERE key = 'gpu'")
        self.refused(1, "differs from the first trace", "merge", "-o", "x.db", "a.db", "b.db")
        self.refused(1, "", "merge", "-o", "missing/x.db", "a.db", "b.db")
        self.assertEqual([n for n in os.listdir(self.folder) if n.startswith("x.db")], [])


if __name__ == "__main__":
    unittest.main()
