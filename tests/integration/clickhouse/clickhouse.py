#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
libclickhouse_sub.so against a real server (server.py): rows as in the database of the same run, each
once whatever dies, and a line where something is wrong.
"""

import http.server
import os
import random
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
import cli_kit
import server as servers

SERVER = None


def setUpModule():
    global SERVER
    if not servers.executable():
        print("SKIPPED: clickhouse-server is not installed (Debian: apt-get install clickhouse-server)")
        sys.exit(77)
    SERVER = servers.Server()
    SERVER.start()


def tearDownModule():
    SERVER.remove()


class Case(cli_kit.Case):
    def setUp(self):
        super().setUp()
        self.database = f"t{random.getrandbits(48):x}"
        SERVER.ask(f"CREATE DATABASE {self.database}")
        self.addCleanup(self.drop)

    def drop(self):
        SERVER.ask(f"DROP DATABASE {self.database}")

    def sub(self, **settings):
        given = {"server": "127.0.0.1", "port": SERVER.port, "database": self.database, **settings}
        return "libclickhouse_sub.so?" + "&".join(f"{k}={v}" for k, v in given.items())

    def ask(self, statement):
        return SERVER.rows(statement, database=self.database)

    def number(self, statement):
        return int(self.ask(statement)[0][0])

    def fine(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def load(self, *command, threads=2, **more):
        load = cli_kit.Load(self.path("counts"))
        self.addCleanup(load.close)
        child = self.start(*command, cli_kit.PUBLISH, load.path, str(threads), **more)
        self.wait_until(lambda: load.is_ready() and sum(load.counts()[:cli_kit.THREADS]))  # of the stream that is not known
        return load, child

    def is_exact(self, load):
        """Each event that was counted is there once, and none that was not, but for the one that each
        thread may have had under way."""
        counts = load.counts()
        self.assertGreater(sum(counts), 0)
        tables = {0: ("rtl_e_recover_notes_note", "thread", "number"),
                  1: ("rtl_dispatch", "submit_tid", "begin_ns / 1000")}
        names = dict(self.ask("SELECT name, name FROM system.tables WHERE database = currentDatabase()"))
        for stream, (table, thread, number) in tables.items():
            thread = "tid" if stream else thread
            rows = {int(t): tuple(map(int, rest)) for t, *rest in self.ask(
                f"SELECT {thread} AS t, count(), uniqExact({number}), max({number}), "
                f"uniqExact((spool, ring, position)) FROM {table} GROUP BY t")} if table in names else {}
            for t in range(cli_kit.THREADS):
                counted = counts[stream * cli_kit.THREADS + t]
                count, different, last, places = rows.get(t, (0, 0, 0, 0))
                self.assertEqual((count, count, count), (different, last, places), (table, t))
                self.assertIn(count - counted, (0, 1), (table, t, count, counted))


class Rows(Case):
    def test_trace__rows_are_those_of_the_database(self):
        self.fine(self.rtl("trace", "-s", f"libsqlite_sub.so:{self.sub(run='job 1')}", "-o", "run.db",
                           cli_kit.PROGRAM, "3000", env={"RANK": "7"}))
        database = sqlite3.connect(self.path("run.db"))
        wanted = database.execute(
            "SELECT s.string, o.start, o.end, d.submit_ns, d.queue, d.grid_x, d.uid & 1048575 FROM rtl_dispatch d "
            "JOIN rocpd_op o ON o.id = d.op_id JOIN rocpd_string s ON s.id = o.description_id "
            "ORDER BY o.start").fetchall()
        database.close()
        got = self.ask("SELECT kernel, begin_ns, end_ns, begin_ns - wait_ns, queue, grid_x, bitAnd(uid, 1048575) "
                       "FROM rtl_dispatch ORDER BY begin_ns")
        self.assertEqual(len(wanted), 3000)
        self.assertEqual([tuple(map(str, row)) for row in wanted], got)
        self.assertEqual(self.ask("SELECT DISTINCT run, rank, host FROM rtl_dispatch"),
                         [("job 1", "7", socket.gethostname())])
        self.assertEqual(self.ask("SELECT state, ended, pauses, rank, program FROM rtl_process FINAL"),
                         [("ended", "with status 0", "", "7", cli_kit.PROGRAM)])
        self.assertEqual(self.ask("SELECT stream, published, delivered, discarded, abandoned FROM rtl_ledger FINAL "
                                  "WHERE stream = 'rtl.hsa'"), [("rtl.hsa", "3000", "3000", "0", "0")])

    def test_unknown_stream__a_table_by_its_description(self):
        load, child = self.load("trace", "-s", self.sub())
        load.stop()
        self.assertEqual(child.wait(cli_kit.HANG_S), 0, child.stderr.read())
        child.communicate()
        self.is_exact(load)
        self.assertEqual(self.ask("SELECT name, type FROM system.columns WHERE database = currentDatabase() AND "
                                  "table = 'rtl_e_recover_notes_note' AND name IN ('number', 'thread', 'name')"),
                         [("number", "UInt64"), ("name", "LowCardinality(String)"), ("thread", "UInt32")])
        self.assertEqual(self.number("SELECT countIf(name != concat('name-', toString(intDiv(number, 512)))) "
                                     "FROM rtl_e_recover_notes_note"), 0)

    def test_unknown_stream__other_columns_are_there__another_table(self):
        SERVER.ask("CREATE TABLE rtl_e_recover_notes_note (spool UInt64, position UInt64) ENGINE = MergeTree "
                   "ORDER BY spool", database=self.database)
        load, child = self.load("trace", "-s", self.sub())
        load.stop()
        self.assertEqual(child.wait(cli_kit.HANG_S), 0, child.stderr.read())
        child.communicate()
        (name,), = self.ask("SELECT name FROM system.tables WHERE database = currentDatabase() AND "
                            "name LIKE 'rtl_e_recover_notes_note_%'")
        self.assertEqual(self.number(f"SELECT count() FROM {name}"), sum(load.counts()[:cli_kit.THREADS]))

    def test_replay__twice__once(self):
        self.fine(self.rtl("record", "-o", "recording", cli_kit.PROGRAM, "2000", "children"))
        for _ in range(2):
            self.fine(self.rtl("replay", "-s", self.sub(), "recording"))
        self.assertEqual(self.number("SELECT count() FROM rtl_dispatch"), 6000)
        self.fine(self.rtl("replay", "-s", self.sub(run="again"), "recording"))
        self.assertEqual(self.ask("SELECT run = 'again', count(), uniqExact(spool) FROM rtl_dispatch GROUP BY run "
                                  "ORDER BY run = 'again'"), [("0", "6000", "3"), ("1", "6000", "3")])

    def test_replay_and_snapshot__the_run_in_which_it_was_recorded(self):
        """Without run= it is the job's, or the session's, as `rtl trace` itself would have it."""
        for name, env in (("job", {"SLURM_JOB_ID": "4711"}), ("one", {}), ("two", {})):
            self.fine(self.rtl("record", "-o", name, cli_kit.PROGRAM, "20", env=env))
            self.fine(self.rtl("replay", "-s", self.sub(), name, env={"SLURM_JOB_ID": "99"}))
        (job,), *sessions = self.ask("SELECT run FROM rtl_dispatch GROUP BY run ORDER BY run = '4711' DESC")
        self.assertEqual((job, len(sessions)), ("4711", 2), sessions)
        for session, in sessions:
            self.assertNotIn(session, ("99", "run"))
        child = self.start("trace", "-q", "--last", "1000", "-s", self.sub(), cli_kit.PROGRAM, "30", "stay")
        pid = int(child.stdout.readline())  # all is published then
        self.fine(self.rtl("snapshot", "-s", self.sub(), str(child.pid)))
        os.kill(pid, 15)
        child.communicate(timeout=cli_kit.HANG_S)
        self.assertEqual(self.ask("SELECT uniqExact(run), count() FROM rtl_dispatch WHERE pid = %d" % pid), [("1", "30")])

    def test_left_out__counted_with_its_cause(self):
        self.fine(self.rtl("trace", "-s", self.sub(), "--delay", "1000", cli_kit.PROGRAM, "70"))
        self.assertEqual(self.ask("SELECT published, delivered, left_out FROM rtl_ledger FINAL WHERE stream = 'rtl.hsa'"),
                         [("70", "0", "70")])
        self.assertEqual(self.ask("SELECT stream, cause, count FROM rtl_left_out FINAL"),
                         [("rtl.hsa", "outside of the periods", "70")])

    def test_in_process__rows(self):
        done = subprocess.run([cli_kit.PROGRAM, "1500"], env=self.environment(
            {"RTL_SUBSCRIBERS": self.sub()}), capture_output=True, text=True, check=False)
        self.fine(done)
        self.assertEqual(self.number("SELECT count() FROM rtl_dispatch"), 1500)

    def test_password_from_the_environment(self):
        self.fine(self.rtl("trace", "-s", self.sub(user="rtl"), cli_kit.PROGRAM, "10",
                           env={"RTL_CLICKHOUSE_PASSWORD": "se'cret/1"}))
        self.assertEqual(self.number("SELECT count() FROM rtl_dispatch"), 10)


class Proxy:
    """Stands between, and loses answers to INSERTs: the server has them, we do not hear of it; and then
    answers to so many questions."""

    def __init__(self, port, questions=0):
        self.port, self.lost, self.lose = port, 0, True
        self.questions, self.unheard = questions, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.own_port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.pass_on, args=(client,), daemon=True).start()

    def pass_on(self, client):
        behind = socket.create_connection(("127.0.0.1", self.port))
        state = {"insert": False}

        def up():
            try:
                while data := client.recv(1 << 16):
                    if b"POST " in data:  # so the answer before has been heard, whole
                        self.lose |= state["insert"]
                        state["insert"] = False
                    state["insert"] |= b"INSERT" in data
                    behind.sendall(data)
                behind.shutdown(socket.SHUT_WR)
            except OSError:
                pass
        threading.Thread(target=up, daemon=True).start()
        try:
            while data := behind.recv(1 << 16):
                if state["insert"] and self.lose:
                    self.lost += 1
                    self.lose, self.unheard = False, self.questions
                    break
                if self.unheard and not state["insert"]:
                    self.unheard -= 1
                    break
                client.sendall(data)
        except OSError:
            pass
        for s in (client, behind):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            s.close()

    def close(self):
        self.listener.close()


class Exact(Case):
    """Each event once, whoever dies."""

    def test_answers_are_lost__each_row_once(self):
        proxy = Proxy(SERVER.port)
        self.addCleanup(proxy.close)
        load, child = self.load("trace", "-s", self.sub(port=proxy.own_port, interval=0))
        self.wait_until(lambda: proxy.lost >= 4)
        load.stop()
        _, err = child.communicate(timeout=cli_kit.HANG_S)
        self.assertNotIn("not stored", err)
        self.is_exact(load)

    def test_answers_are_lost_at_the_end__waits_as_long_as_rows_are_stored(self):
        # a loss takes 6.5 s, as the pauses between tries double from 0.1 s; two take longer than `wait`
        proxy = Proxy(SERVER.port, questions=6)
        self.addCleanup(proxy.close)
        load, child = self.load("trace", "-s", self.sub(port=proxy.own_port, interval=3600, wait=10))
        load.stop()
        _, err = child.communicate(timeout=cli_kit.HANG_S)
        self.assertGreaterEqual(proxy.lost, 2)
        self.assertNotIn("not stored", err)
        self.is_exact(load)

    def test_server_is_killed_under_load__waits_and_each_row_once(self):
        load, child = self.load("trace", "-s", self.sub(interval=0))
        for _ in range(2):
            before = sum(load.counts())
            self.wait_until(lambda before=before: sum(load.counts()) > before + 20000)
            SERVER.kill()
            time.sleep(random.random() / 2)
            SERVER.start()
        load.stop()
        _, err = child.communicate(timeout=cli_kit.HANG_S)
        self.assertEqual(child.returncode, 0, err)
        self.assertIn("events are kept in the program's buffers", err)
        self.is_exact(load)

    def test_server_hangs__waits_and_each_row_once(self):
        load, child = self.load("trace", "-s", self.sub(interval=0, timeout=1))
        SERVER.send_signal(signal.SIGSTOP)
        time.sleep(1.5)
        SERVER.send_signal(signal.SIGCONT)
        load.stop()
        _, err = child.communicate(timeout=cli_kit.HANG_S)
        self.assertEqual(child.returncode, 0, err)
        self.is_exact(load)

    def test_rtl_is_killed__recover_completes_it(self):
        for round_ in range(3)[-cli_kit.rounds(3):]:
            load, child = self.load("trace", "-s", self.sub(interval=round_ % 2, run=f"r{round_}"), threads=1 + round_ % 3)
            time.sleep(random.random() * 0.8)
            child.kill()
            child.wait()
            time.sleep(0.1)
            load.stop()
            folder = self.in_spool()
            child.communicate()  # which the publisher's end ends
            self.wait_until(lambda load=load: not load.processes())
            if round_ == 2:  # a recovery that is killed as well
                again = self.start("recover", folder)
                time.sleep(random.random() * 0.3)
                again.kill()
                again.communicate()
            if os.path.exists(folder):
                self.fine(self.rtl("recover", folder))
            self.is_exact(load)
            self.assertEqual(self.ask("SELECT state, count() FROM rtl_process FINAL GROUP BY state"), [("ended", "1")])
            for name, in self.ask("SELECT name FROM system.tables WHERE database = currentDatabase() AND "
                                  "name != 'rtl_schema' AND engine != 'View'"):
                SERVER.ask(f"TRUNCATE TABLE {name}", database=self.database)


class Away(Case):
    def test_away_at_the_start__is_waited_for(self):
        SERVER.kill()
        child = self.start("trace", "-s", self.sub(), cli_kit.PROGRAM, "500")
        time.sleep(0.5)
        SERVER.start()
        _, err = child.communicate(timeout=cli_kit.HANG_S)
        self.assertEqual(child.returncode, 0, err)
        self.assertIn(f"http://127.0.0.1:{SERVER.port}/: ", err)
        self.assertIn("the server is back", err)
        self.assertEqual(self.number("SELECT count() FROM rtl_dispatch"), 500)

    def test_away_to_the_end__what_is_kept_is_recovered(self):
        SERVER.kill()
        done = self.rtl("trace", "-s", self.sub(wait=0), cli_kit.PROGRAM, "500")
        SERVER.start()
        self.assertEqual(done.returncode, 0, done.stderr)  # the program's
        self.assertIn("rows are not stored", done.stderr)
        folder = self.in_spool()
        self.assertIn(f"rtl recover {folder}", done.stderr)
        self.fine(self.rtl("recover", folder))
        self.assertEqual(self.number("SELECT count() FROM rtl_dispatch"), 500)

    def test_in_process__away__the_program_is_not_held_up_and_can_be_recovered(self):
        SERVER.kill()
        begin = time.monotonic()
        done = subprocess.run([cli_kit.PROGRAM, "300", "print"], env=self.environment(
            {"RTL_SUBSCRIBERS": self.sub()}), capture_output=True, text=True, check=False)
        took = time.monotonic() - begin
        SERVER.start()
        self.assertEqual((done.returncode, done.stdout), (0, "300\n"), done.stderr)
        self.assertLess(took, 30)
        self.fine(self.rtl("recover", "-s", self.sub(), self.in_spool()))
        self.assertEqual(self.number("SELECT count() FROM rtl_dispatch"), 300)

    def test_away_and_buffers_are_full__the_program_goes_on_and_the_rest_is_counted(self):
        SERVER.kill()
        child = self.start("trace", "-s", self.sub(), cli_kit.PROGRAM, "200000",
                           env={"RTL_BUFFER_SIZE": "1M", "RTL_BUFFER_TOTAL": "1M", "RTL_BUFFER_POLICY": "discard"})
        time.sleep(1)
        SERVER.start()
        _, err = child.communicate(timeout=cli_kit.HANG_S)
        self.assertEqual(child.returncode, 0, err)
        (published, delivered, discarded), = self.ask("SELECT published, delivered, discarded FROM rtl_ledger FINAL "
                                                      "WHERE stream = 'rtl.hsa'")
        self.assertEqual(int(published), 200000)
        self.assertEqual(int(delivered) + int(discarded), 200000)
        self.assertGreater(int(discarded), 0)
        self.assertEqual(self.number("SELECT count() FROM rtl_dispatch"), int(delivered))
        self.assertEqual(self.number("SELECT sum(count) FROM rtl_loss FINAL WHERE stream = 'rtl.hsa'"), int(discarded))

    def start(self, *arguments, env=None, **more):
        return subprocess.Popen([cli_kit.RTL, *arguments], cwd=self.folder, env=self.environment(env), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


class Refused(Case):
    """One line, and the program is not run."""

    def said(self, part, status=1, **settings):
        done = self.rtl("trace", "-s", self.sub(**settings), cli_kit.PROGRAM, "1", "print")
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(part, done.stderr)

    def test_wrong_password(self):
        self.said("refuses the user 'rtl' or its password", user="rtl", password="x")
        self.said("refuses the user 'nobody' or its password", user="nobody")

    def test_no_such_database(self):
        self.said("there is no database 'nowhere': make it", database="nowhere")

    def test_may_not_write(self):
        self.said("the user 'reader' may not write to the database", user="reader")

    def test_tables_of_another_schema(self):
        self.fine(self.rtl("trace", "-s", self.sub(), cli_kit.PROGRAM, "1"))
        SERVER.ask("INSERT INTO rtl_schema VALUES (5, 1)", database=self.database)
        self.said("are of schema 5, and this rtl writes schema 4", database=self.database)

    def test_no_clickhouse(self):
        for answer in (b"", b"<html>welcome</html>\n", b"0"):
            self.no_clickhouse(answer)

    def no_clickhouse(self, answer):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                if not answer:
                    return self.send_error(404)
                self.send_response(200)
                self.end_headers()
                return self.wfile.write(answer)

            def log_message(self, *_):
                pass
        other = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=other.serve_forever, daemon=True).start()
        self.addCleanup(other.server_close)
        self.addCleanup(other.shutdown)
        self.said("this is no ClickHouse, or its HTTP port is another one", port=other.server_address[1])

    def test_bad_settings(self):
        self.said("port=0: give a number from 1 to 65535", 2, port=0)
        self.said("interval=soon", 2, interval="soon")

    def test_run_without_a_meaning__is_said(self):
        done = self.rtl("trace", "-s", self.sub(run="%25q{RTL_NO_SUCH_VARIABLE}"), cli_kit.PROGRAM, "1")
        self.assertIn("what stands behind a percent sign is not set", done.stderr)


class Special(unittest.TestCase):
    """With servers of their own."""

    def test_tls(self):
        other = servers.Server(tls=True)
        self.addCleanup(other.remove)
        other.start()
        settings = f"libclickhouse_sub.so?server=localhost&port={other.tls_port}&tls=yes"
        case = Case("run")
        case.setUp()
        self.addCleanup(case.doCleanups)
        done = case.rtl("trace", "-s", settings, cli_kit.PROGRAM, "40")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertIn("give the certificate's authority with ca=", done.stderr)
        done = case.rtl("trace", "-s", f"{settings}&ca={other.ca}", cli_kit.PROGRAM, "40")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(other.ask("SELECT count() FROM rtl_dispatch"), "40\n")
        done = case.rtl("trace", "-s", f"libclickhouse_sub.so?port={other.port}&tls=yes&wait=0", cli_kit.PROGRAM, "1")
        self.assertIn("no TLS there", done.stderr)
        for name in os.listdir(case.spool):
            cli_kit.shutil.rmtree(os.path.join(case.spool, name))

    @unittest.skipUnless(cli_kit.TMPFS, "no tmpfs for us here")
    def test_full_disk__is_said_and_rows_come_when_there_is_room(self):
        other = servers.Server(disk_bytes=16 << 20)
        self.addCleanup(other.remove)
        other.start()
        case = Case("run")
        case.setUp()
        self.addCleanup(case.doCleanups)
        settings = f"libclickhouse_sub.so?server=127.0.0.1&port={other.port}&interval=0"
        self.assertEqual(case.rtl("trace", "-s", settings, cli_kit.PROGRAM, "1").returncode, 0)
        other.fill_disk()
        child = case.start("trace", "-s", settings, cli_kit.PROGRAM, "5000")
        said = []
        for line in child.stderr:  # to its end, if it never comes
            said.append(line)
            if "events are kept in the program's buffers" in line:
                break
        other.empty_disk()
        _, err = child.communicate(timeout=cli_kit.HANG_S)
        self.assertEqual(child.returncode, 0, err)
        self.assertIn("events are kept in the program's buffers", said[-1] if said else "nothing was said")
        self.assertEqual(other.ask("SELECT count(), uniqExact((spool, position)) FROM rtl_dispatch"), "5001\t5001\n")


@unittest.skipUnless(os.environ.get("RTL_TEST_GPU_RUN"), "no software GPU here")
class Gpu(Case):
    """A HIP program on the software GPU: what is stored is what the database of the same run has."""

    def test_snapshot_and_the_end_in_one_run__each_event_once(self):
        script = ("import ctypes, sys; roctx = ctypes.CDLL(None); say = {'push': lambda: roctx.roctxRangePushA(b'range'),"
                  " 'pop': roctx.roctxRangePop, 'mark': lambda: roctx.roctxMarkA(b'mark')}\n"
                  "for line in sys.stdin: [say[word]() for word in line.split()]; print('done', flush=True)")
        sub = self.sub(run="one")
        child = self.start("trace", "-q", "--mode", "hip", "--last", "1000", "-s", sub, sys.executable, "-c", script,
                           stdin=subprocess.PIPE)

        def say(words):
            child.stdin.write(words + "\n")
            child.stdin.flush()
            self.assertEqual(child.stdout.readline(), "done\n")
        say("mark push push push")
        for _ in range(2):  # what is open is the same in both
            self.fine(self.rtl("snapshot", "-s", sub, str(child.pid)))
        say("mark mark mark mark pop pop pop mark")
        _, err = child.communicate(timeout=cli_kit.HANG_S)
        self.assertEqual((child.returncode, err), (0, ""))
        self.assertEqual(self.ask("SELECT kind, count(), uniqExact((ring, position)) FROM rtl_range GROUP BY kind ORDER BY kind"),
                         [("mark", "6", "6"), ("pushed", "3", "3"), ("unfinished", "3", "3")])

    def test_graphs_in_mode_full__rows_are_those_of_the_database(self):
        done = subprocess.run(
            [os.environ["RTL_TEST_GPU_RUN"], cli_kit.RTL, "trace", "-q", "-m", "full", "-s",
             f"libsqlite_sub.so?output=run.db:{self.sub(args='yes')}", os.environ["RTL_TEST_GPU_PROGRAM"]],
            cwd=self.folder, capture_output=True, text=True, check=False, env=self.environment(
                {"RTL_BUILD_DIR": os.path.dirname(os.path.dirname(cli_kit.RTL)), "RTL_HSA_EXIT_MS": "60000"}))
        self.fine(done)
        database = sqlite3.connect(self.path("run.db"))
        for ours, theirs in (
                ("SELECT kernel, begin_ns, end_ns, begin_ns - wait_ns, gpu, queue, tid, grid_x, correlation FROM "
                 "rtl_dispatch",
                 "SELECT s.string, o.start, o.end, ifnull(d.call_ns, d.submit_ns), d.gpu, d.queue, d.tid, d.grid_x, "
                 "d.correlation FROM rtl_dispatch d JOIN rocpd_op o ON o.id = d.op_id JOIN rocpd_string s ON "
                 "s.id = o.description_id"),
                ("SELECT begin_ns, end_ns, bytes, src_gpu, dst_gpu, kind, tid, flags, correlation FROM rtl_copy",
                 "SELECT begin_ns, end_ns, bytes, src_gpu, dst_gpu, kind, tid, flags, correlation FROM rtl_copy"),
                ("SELECT function, segment, status, begin_ns, end_ns, address, bytes, is_release FROM rtl_mem",
                 "SELECT function, ifnull(segment, ''), ifnull(status, ''), begin_ns, end_ns, address, bytes, is_release "
                 "FROM rtl_mem"),
                ("SELECT function, begin_ns, end_ns, tid, status, result, instance, correlation, work FROM rtl_call",
                 "SELECT f.string, a.start, a.end, a.tid, s.string, c.result, c.instance, c.correlation, ifnull(c.work, 0) "
                 "FROM rtl_call c JOIN rocpd_api a ON a.id = c.api_id JOIN rocpd_string f ON f.id = a.apiName_id "
                 "JOIN rocpd_string s ON s.id = c.status_id")):
            wanted = sorted(tuple(map(str, row)) for row in database.execute(theirs))
            self.assertGreater(len(wanted), 10)
            self.assertEqual(sorted(self.ask(ours)), wanted)
        database.close()
        self.assertEqual(self.number("SELECT countIf(gpu_uuid NOT LIKE 'GPU-%') FROM rtl_dispatch"), 0)
        self.assertEqual(self.ask("SELECT DISTINCT gpu_uuid FROM rtl_dispatch"), self.ask("SELECT uuid FROM rtl_gpu FINAL"))
        self.assertGreater(self.number("SELECT countIf(args LIKE '%sizeBytes=%') FROM rtl_call"), 0)
        self.assertEqual(self.number("SELECT sum(delivered) FROM rtl_ledger FINAL WHERE stream = 'rtl.hip.call.debug'"),
                         self.number("SELECT count() FROM rtl_call WHERE api = 'hip'"))


def blocks(path):
    """Each query of the guide with the result that stands behind it."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return re.findall(r"```sql\n(.*?)```\n\n(?:```text\n(.*?)```)?", text, flags=re.S)


@unittest.skipUnless(os.environ.get("RTL_TEST_GUIDE"), "without its guide")
class Fleet(Case):
    """64 ranks, 8 in each of 8 rtl: the guide's queries find what is wrong with them."""

    def job(self, run, *arguments):
        script = ("for i in 0 1 2 3 4 5 6 7; do RANK=$(($FIRST + $i)) "
                  f"{os.environ['RTL_TEST_FLEET']} {' '.join(arguments)} & done; wait")
        nodes = [subprocess.Popen([cli_kit.RTL, "trace", "-q", "-s", self.sub(run=run), "sh", "-c", script], cwd=self.folder,
                                  env=self.environment({"FIRST": str(8 * node)}), stderr=subprocess.PIPE, text=True)
                 for node in range(8)]
        for node in nodes:
            _, err = node.communicate(timeout=cli_kit.HANG_S)
            self.assertEqual((node.returncode, err), (0, ""))

    def test_queries_of_the_guide__results_are_as_they_stand_there(self):
        guide = os.environ["RTL_TEST_GUIDE"]
        self.job("before", "300")
        self.job("after", "300", "12")
        found = blocks(guide)
        self.assertGreater(len(found), 4)
        for query, result in found:
            answer = SERVER.ask(query + " FORMAT TabSeparatedWithNames",
                                database=self.database)
            if os.environ.get("RTL_TEST_SHOW"):
                print(f"{query}\n{table(answer)}")
            else:
                self.assertEqual(table(answer), result, query)


def table(answer):
    """As it stands in the guide: columns beside each other, numbers to the right."""
    rows = [line.split("\t") for line in answer.splitlines()]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "".join("  ".join(value.rjust(width) if rows[1][i][:1].isdigit() else value.ljust(width)
                             for i, (value, width) in enumerate(zip(row, widths))).rstrip() + "\n" for row in rows)


if __name__ == "__main__":
    unittest.main()
