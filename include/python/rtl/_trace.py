# SPDX-License-Identifier: MIT
"""Traces to read: the database that libsqlite_sub.so writes. What its columns mean is in docs/sqlite.md."""

import collections
import json
import os
import sqlite3
import subprocess
import urllib.parse

# Each class: its query, by which the rows of a trace become its members. Times are ns of the trace's clock.
_CALL = ("id, process, pid, tid, domain, name, begin_ns, end_ns, duration_ns, args, status, failed, unfinished, parent,"
         " instance, correlation, stream, device")
_KERNEL = ("id, process, pid, tid, name, mangled, gpu, queue, packet_id, begin_ns, end_ns, duration_ns, submit_ns,"
           " wait_ns, launch_ns, grid, workgroup, lds_bytes, scratch_bytes, stream, uid, flags, call")
_COPY = ("id, process, pid, tid, direction, kind, done_by, gpu, src_gpu, dst_gpu, bytes, begin_ns, end_ns, duration_ns,"
         " submit_ns, wait_ns, gb_per_s, src, dst, stream, status, flags, call")
_MARKER = "id, process, pid, tid, name, begin_ns, end_ns, duration_ns, is_range, level, instance, parent, unfinished"
_PROCESS = "process, pid, parent_pid, program, command, host_name, start_ns, end_ns"
_GPU = "node, name, product, uuid, bus_id, compute_units, memory_bytes"
_LOSS = "process, stream, cause, count"
_STEP = ("name, count, total_ns, mean_ns, p50_ns, p99_ns, min_ns, max_ns, gpu_busy_ns, gpu_not_submitted_ns,"
         " gpu_not_started_ns, gpu_unknown_ns, kernels, path, processes")
_STEP_PROCESS = "rank, pid, count, total_ns, mean_ns, path"
_GRAPH = "name, graph, variant, pid, executable, count, untimed, total_ns, mean_ns, p50_ns, p99_ns, min_ns, max_ns, nodes, path"
_GRAPH_NODE = "name, count, untimed, bytes, total_ns, mean_ns, p50_ns, p99_ns, min_ns, max_ns, mean_gap_ns, path_ns, call, tid, range"
_PATH = "cause, total_ns, count, longest_ns, work, range, function"
_COLLECTIVE = ("operation, ranks, communicator, count, untimed, bytes, total_ns, mean_ns, p50_ns, p99_ns, min_ns, max_ns, gb_per_s,"
               " bus_gb_per_s, skew_count, mean_skew_ns, max_skew_ns, waited_for")
_IDLE = "gpu, cause, total_ns, count, longest_ns, range, function, tid"

Call = collections.namedtuple("Call", _CALL)
Kernel = collections.namedtuple("Kernel", _KERNEL)
Copy = collections.namedtuple("Copy", _COPY)
Marker = collections.namedtuple("Marker", _MARKER)
Process = collections.namedtuple("Process", _PROCESS)
Gpu = collections.namedtuple("Gpu", _GPU)
Loss = collections.namedtuple("Loss", _LOSS)
LeftOut = collections.namedtuple("LeftOut", _LOSS)
Idle = collections.namedtuple("Idle", _IDLE)
Collective = collections.namedtuple("Collective", _COLLECTIVE)
PathPart = collections.namedtuple("PathPart", _PATH)
Step = collections.namedtuple("Step", _STEP)
StepProcess = collections.namedtuple("StepProcess", _STEP_PROCESS)
Graph = collections.namedtuple("Graph", _GRAPH)
GraphNode = collections.namedtuple("GraphNode", _GRAPH_NODE)

_CALLS = """SELECT c.api_id, c.process, c.pid, c.tid, c.domain, c.function, c.begin_ns, c.end_ns, c.duration_ns, c.args,
  c.status, c.failed, c.unfinished, c.parent, c.instance, c.correlation, c.stream, c.device FROM rtl_calls AS c"""
# In order of their ids: SQLite looks the call of each up by an index, and nothing is sorted.
_KERNELS = """SELECT d.op_id, d.process, d.pid, d.tid, d.kernel, d.mangled, d.gpu, d.queue, d.packet_id, d.begin_ns,
  d.end_ns, d.duration_ns, d.submit_ns, d.wait_ns, d.launch_ns, d.grid_x, d.grid_y, d.grid_z, d.workgroup_x,
  d.workgroup_y, d.workgroup_z, d.lds_bytes, d.scratch_bytes, d.stream, d.uid, d.flags, (SELECT l.api_id FROM
  rocpd_api_ops AS l JOIN rtl_call AS c ON c.api_id = l.api_id WHERE l.op_id = d.op_id) FROM rtl_dispatches AS d"""
_COPIES = """SELECT x.id, x.process, x.pid, x.tid, x.direction, x.kind, x.done_by, x.gpu, x.src_gpu, x.dst_gpu, x.bytes,
  x.begin_ns, x.end_ns, x.duration_ns, x.submit_ns, x.wait_ns, x.gb_per_s, x.src, x.dst, x.stream, x.status, x.flags,
  (SELECT l.api_id FROM rocpd_api_ops AS l JOIN rtl_call AS c ON c.api_id = l.api_id WHERE l.op_id = x.op_id)
  FROM rtl_copies AS x"""
_MARKERS = """SELECT api_id, process, pid, tid, name, begin_ns, end_ns, duration_ns, is_range, level, instance, parent,
  unfinished FROM rtl_markers"""
_PROCESSES = """SELECT process, pid, parent_pid, program, command, host_name, start_ns, end_ns FROM rtl_process
  ORDER BY process"""
_GPUS = """SELECT cast(max(CASE m.key WHEN 'node' THEN m.value END) AS INTEGER), min(t.name),
  max(CASE m.key WHEN 'product' THEN m.value END), max(CASE m.key WHEN 'uuid' THEN m.value END),
  max(CASE m.key WHEN 'bus_id' THEN m.value END),
  cast(max(CASE m.key WHEN 'compute_units' THEN m.value END) AS INTEGER),
  cast(max(CASE m.key WHEN 'memory_bytes' THEN m.value END) AS INTEGER)
  FROM rtl_tracepoint AS t JOIN rtl_tracepoint_metadata AS m USING (process, uid)
  WHERE t.kind = 'agent' GROUP BY t.uid HAVING max(m.key = 'node') ORDER BY 1"""
_LOSSES = """SELECT l.process, l.stream, ifnull(x.cause, ''), ifnull(x.count, l.discarded + l.abandoned + l.missed)
  FROM rtl_ledger AS l LEFT JOIN rtl_loss AS x USING (process, stream)
  WHERE l.stream <> 'rtl.diagnostics' AND l.discarded + l.abandoned + l.missed > 0 ORDER BY 1, 2, 3"""
_LEFT_OUT = "SELECT process, stream, cause, count FROM rtl_left_out ORDER BY 1, 2, 3"


class TraceError(Exception):
    """A file that is no trace of rtl, or cannot be read."""


def _with_path(row):
    return {**row, "path": [PathPart(*(part.get(key) for key in PathPart._fields)) for part in row.get("path", ())]}


class Trace:
    """
    A trace, for reading; it may still be written. Not for several threads at a time.

    What iterates reads as it goes: memory does not depend on the trace's length. Members are those of the named tuples
    of this module.
    """

    def __init__(self, path):
        self.path = str(path)
        try:
            # A trace whose writer was killed can only be read by who may write: so not read-only.
            self._database = sqlite3.connect("file:" + urllib.parse.quote(self.path) + "?mode=rw", uri=True)
            found = self._database.execute("SELECT count(*) FROM sqlite_master WHERE name IN"
                                           " ('rtl_dispatches', 'rtl_process', 'rtl_meta')").fetchone()[0]
        except sqlite3.Error as error:
            raise TraceError(f"{self.path}: {error}") from error
        if found != 3:
            self._database.close()
            raise TraceError(f"{self.path}: no trace of rtl: tables of rtl are missing")

    def close(self):
        """Closes it; what iterates ends."""
        self._database.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()
        return False

    # ---- what happened ----

    def sql(self, query, parameters=()):
        """Rows of any query, as tuples."""
        try:
            yield from self._database.execute(query, parameters)
        except sqlite3.Error as error:
            raise TraceError(f"{self.path}: {error}") from error

    def _rows(self, kind, query, where="", parameters=()):
        return map(kind._make, self.sql(query + where, parameters))

    def kernels(self, name=None):
        """Kernels, in the order in which they ended; of that name. grid and workgroup are (x, y, z); call is the id of the
        Call that launched it, None if none is known."""
        for row in self.sql(_KERNELS + (" WHERE d.kernel = ?" if name else ""), (name,) if name else ()):
            yield Kernel(*row[:15], tuple(row[15:18]), tuple(row[18:21]), *row[21:])

    def copies(self):
        """Copies and fills; those that the runtime refused have done_by "refused"."""
        return self._rows(Copy, _COPIES)

    def calls(self, name=None):
        """Calls of HIP and, in mode full, of HSA; of that function."""
        return self._rows(Call, _CALLS, " WHERE c.function = ?" if name else "", (name,) if name else ())

    def call(self, number):
        """The Call of an id; None: there is none."""
        return next(self._rows(Call, _CALLS, " WHERE c.api_id = ?", (number,)), None)

    def markers(self):
        """Ranges and marks of roctx."""
        return self._rows(Marker, _MARKERS)

    def links(self):
        """Pairs of a Call's id and a Kernel's: what each call made a GPU do, each by its row of rocpd_op."""
        return self.sql("SELECT l.api_id, l.op_id FROM rocpd_api_ops AS l JOIN rtl_call AS c ON c.api_id = l.api_id")

    def events(self, stream):
        """Events of a stream, of a program for example: dicts with type, process, tid,
        time_ns, uid, parent_uid, instance, correlation, and the fields of the payload."""
        types = list(self.sql("SELECT t.name, 'rtl_e_' || substr(t.table_name, 7) FROM rtl_type AS t JOIN rtl_stream AS s"
                              " USING (stream) WHERE s.name = ? AND t.table_name NOT NULL", (stream,)))
        for kind, view in types:
            yield from self._table(kind, view)

    def _table(self, kind, table):
        cursor = self._database.execute(f'SELECT * FROM "{table}"')
        names = [column[0] for column in cursor.description]
        for row in cursor:
            yield {"type": kind, **dict(zip(names, row))}

    # ---- what it is ----

    def processes(self):
        """The processes in it."""
        return list(self._rows(Process, _PROCESSES))

    def gpus(self):
        """The GPUs that its processes saw, by node."""
        return list(self._rows(Gpu, _GPUS))

    def streams(self):
        """Names of the streams that were published."""
        return [name for name, in self.sql("SELECT name FROM rtl_stream ORDER BY stream")]

    def facts(self):
        """What the trace says of itself: state ("complete", ...), mode, version and others."""
        return dict(self.sql("SELECT key, value FROM rtl_meta"))

    def losses(self):
        """What was lost, by cause; an empty list: nothing."""
        return list(self._rows(Loss, _LOSSES))

    def left_out(self):
        """What was not selected when the trace was recorded, by cause; an empty list: all was."""
        if not next(self.sql("SELECT 1 FROM sqlite_master WHERE name = 'rtl_left_out'"), None):
            return []  # of an older rtl, which had no selection
        return list(self._rows(LeftOut, _LEFT_OUT))

    # ---- where the time went ----

    def summary(self, by=None):
        """What `rtl summary --json` prints, as rtl-stats(7) describes it; by: as its option --by. Runs the command rtl: that
        of the variable RTL, else of PATH."""
        options = ["--by", by] if by else []
        try:
            done = subprocess.run([os.environ.get("RTL", "rtl"), "summary", "--json", *options, self.path],
                                  check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                                  errors="replace")
        except OSError as error:
            raise TraceError(f"{self.path}: cannot run rtl: {error}") from error
        if not done.stdout:
            raise TraceError(f"{self.path}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def idle(self):
        """Why GPUs were idle, of each GPU the longest first; of a GPU the times add up to that in which it was not busy."""
        return [Idle(device["gpu"], *(row.get(key) for key in Idle._fields[1:]))
                for device in self.summary()["devices"] for row in device["idle"]]

    def steps(self):
        """Ranges of roctx by their names, what GPUs did within them, as dicts the kernels with most time in them, and the critical
        path: what determined when they ended. If several processes have them, so of each, that with the greatest mean first."""
        rows = [_with_path(row) for section in self.summary()["sections"] if section["title"] == "Ranges"
                for row in section["rows"]]
        for row in rows:
            row["processes"] = [StepProcess(*(_with_path(part).get(key) for key in StepProcess._fields))
                                for part in row.get("processes", ())]
        return [Step(*(row.get(key) for key in Step._fields)) for row in rows]

    def collectives(self):
        """Collectives, sends and receives of RCCL, by operation and communicator. The members of skew are None where not all
        ranks are in the trace; waited_for lists, as dicts, the ranks that came last."""
        rows = [row for section in self.summary()["sections"] if section["kind"] == "collective" for row in section["rows"]]
        for row in rows:  # "AllReduce, 2 ranks, communicator abc"; "(other names)" where there are very many
            parts = row["name"].split(", ")
            row["operation"] = parts[0]
            if len(parts) == 3:
                row.update(ranks=int(parts[1].split()[0]), communicator=int(parts[2].split()[1], 16))
        return [Collective(*(row.get(key) for key in Collective._fields)) for row in rows]

    def graphs(self):
        """Launches of executable graphs, from the begin of the first node to the end of the last, with their nodes in order.
        Launches of a graph whose nodes were others are a Graph of their own: its variant is not 1."""
        rows = [row for section in self.summary()["sections"] if section["kind"] == "graph" for row in section["rows"]
                if "nodes" in row]
        for row in rows:
            row["nodes"] = [GraphNode(*(node.get(key) for key in GraphNode._fields)) for node in row["nodes"]]
        return [Graph(*(_with_path(row).get(key) for key in Graph._fields)) for row in rows]

    def table(self, what, **parameters):
        """A pandas.DataFrame of "kernels", "copies", "calls" or "markers"; needs pandas, and the memory for all rows."""
        kinds = {"kernels": Kernel, "copies": Copy, "calls": Call, "markers": Marker}
        if what not in kinds:
            raise ValueError(f"no table {what!r}: there are {', '.join(kinds)}")
        import pandas  # pylint: disable=import-outside-toplevel
        return pandas.DataFrame(getattr(self, what)(**parameters), columns=kinds[what]._fields)
