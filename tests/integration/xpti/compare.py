#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare.py DATABASE RECORD [killed|debug|crash|many|race]: whether the database has, row by row, what publisher.c has written down.

A publisher that was killed has left no end of its streams. debug: all was told on the debug streams.
crash: it ended in the middle, before it had written all down; then what is recorded adds up.
"""
import glob
import sqlite3
import sys

faults = []


def check(what, ok):
    if not ok:
        faults.append(what)
        print("compare.py: " + what, file=sys.stderr)


def read(record):
    rows = {}
    for name in sorted(glob.glob(glob.escape(record) + ".*")):
        process = int(name.rsplit(".", 2)[1])
        for line in open(name):
            kind, *fields = line.rstrip("\n").split("\t")
            rows.setdefault(kind, []).append((process, *fields))
    return rows


def same(what, told, found):
    found = [tuple("" if v is None else str(v) for v in row) for row in found]
    told = [tuple(str(v) for v in row) for row in told]
    missing, extra = list(told), []
    counts = {}
    for row in found:
        counts[row] = counts.get(row, 0) + 1
    missing = []
    for row in told:
        if counts.get(row, 0):
            counts[row] -= 1
        else:
            missing.append(row)
    extra = [row for row, n in counts.items() for _ in range(n)]
    check(f"{what}: {len(told)} told, {len(found)} rows; not there: {missing[:3]}; too much: {extra[:3]}",
          not missing and not extra)


def ledger(db):
    for stream, published, delivered, discarded, abandoned, missed in db.execute(
            "SELECT stream, sum(published), sum(delivered), sum(discarded), sum(abandoned), sum(missed)"
            " FROM rtl_ledger GROUP BY stream"):
        check(f"{stream}: {published} published, {delivered} delivered, {discarded}, {abandoned}, {missed}",
              published == delivered and discarded == abandoned == missed == 0)


def main():
    db = sqlite3.connect(sys.argv[1])
    how = sys.argv[3] if len(sys.argv) > 3 else "exit"
    killed = how == "killed"
    if how == "crash":
        check("99 tasks have ended, one has not", db.execute(
            "SELECT count(*) - sum(unfinished), sum(unfinished) FROM rtl_spans WHERE type = 'task'").fetchone() == (99, 1))
        check("100 nodes", db.execute("SELECT count(*) FROM rtl_node").fetchone()[0] == 100)
        ledger(db)
        return 1 if faults else 0
    if how == "many":
        # librtl has 256 streams, its own among them
        count = db.execute("SELECT count(*) FROM rtl_ledger WHERE stream LIKE 'stream_20%' AND delivered = 2").fetchone()[0]
        check(f"{count} streams with their version and an event", 240 <= count <= 254)
        ledger(db)
        return 1 if faults else 0
    if how == "race":
        same("events of each stream", [(f"stream_20{i}", 2) for i in range(100)], db.execute(
            "SELECT stream, delivered FROM rtl_ledger WHERE stream LIKE 'stream_20%'"))
        ledger(db)
        return 1 if faults else 0
    rows = read(sys.argv[2])
    pid = "(SELECT pid FROM rtl_process AS p WHERE p.process = t.process)"
    debug = db.execute("SELECT count(*) FROM rtl_spans WHERE stream = 'sycl.debug'").fetchone()[0] > 0
    sycl = "sycl_debug" if debug else "sycl"
    check("the debug streams are used where they were asked for", debug == (how == "debug"))
    check("nothing was told", rows.get("N"))

    same("nodes", rows["N"], db.execute(
        f"SELECT {pid}, id, graph, name, kind, kernel, file, line, device, queue, instance, tid FROM rtl_node AS t"))
    same("edges", rows.get("E", []), db.execute(
        f"SELECT {pid}, id, graph, source, target, name FROM rtl_edge AS t"))
    same("spans", rows["S"], db.execute(
        f"SELECT {pid}, type, name, text, object, parent, instance, result, tid, stream FROM rtl_spans AS t"
        " WHERE NOT unfinished"))
    same("unfinished", rows.get("U", []), db.execute(
        f"SELECT {pid}, type, name, text, object, parent, instance, result, tid, stream FROM rtl_spans AS t"
        " WHERE unfinished"))
    check("tasks, calls and waits that have not ended were told", bool(rows.get("U")) == killed)
    # the publisher has slept for 300 ms then
    check("they end when the process does", db.execute(
        "SELECT count(*) FROM rtl_spans AS s JOIN rtl_process AS p USING (process) WHERE unfinished"
        " AND (s.end_ns > p.end_ns OR duration_ns < 100000000)").fetchone()[0] == 0)
    if debug:
        same("functions of calls", [("urEnqueueKernelLaunch", 7)], db.execute(
            "SELECT DISTINCT text, function FROM rtl_e_ur_call_debug_function_with_args_end"))
    same("signals", rows["H"], db.execute(f"SELECT {pid}, object, user FROM rtl_e_{sycl}_signal AS t"))
    same("memory", rows["M"], db.execute(
        f"SELECT {pid}, instance, pointer, bytes, tid FROM rtl_e_sycl_experimental_mem_alloc_mem_alloc_end AS t"))
    same("queues", rows["Q"], [
        (p, o, text, dict(v.split("=") for v in m.split(", "))["queue_id"], tid)
        for p, o, text, m, tid in db.execute(
            f"SELECT {pid}, object, text, metadata, tid FROM rtl_e_{sycl}_queue_create AS t")])
    buffers = []
    for table, column in (("sycl_experimental_buffer_construct", "element"),
                          ("sycl_experimental_image_construct", "element")):
        buffers += list(db.execute(
            f"SELECT {pid}, '{table}', handle, {column}, range_x, range_y, filtering FROM rtl_e_{table} AS t"))
    same("buffers", rows["B"], buffers)
    same("own events", rows["O"], db.execute(
        f"SELECT {pid}, type, object, instance, tid FROM rtl_e_my_20own_2fstream_other AS t"))

    check("the text of nodes has all metadata", db.execute(
        "SELECT count(*) FROM rtl_node WHERE metadata NOT LIKE '%kernel_name=''%' OR metadata NOT LIKE '%real=0.5%'"
    ).fetchone()[0] == 0)
    types = {"kernel_name": ("text", "text"), "queue_id": ("uint", "integer"), "real": ("float", "real"),
             "late": ("int", "integer"), "is_inorder": ("bool", "integer")}
    check("metadata have their types", {key: (kind, stored) for key, kind, stored in db.execute(
        "SELECT DISTINCT key, kind, typeof(value) FROM rtl_xpti_metadata") if key in types} == types)
    same("values of a key of an object", [], db.execute(
        "SELECT process, object, key, count(*) AS n FROM rtl_xpti_metadata GROUP BY 1, 2, 3 HAVING n > 1"))
    check("a kernel's arguments and sizes are texts", db.execute(
        "SELECT count(*) FROM rtl_node AS n WHERE (SELECT count(*) FROM rtl_xpti_metadata AS m"
        " WHERE m.process = n.process AND m.object = n.id AND CASE key"
        " WHEN 'arg0' THEN value = 'kind 3, size 8, index 0, at 0x7f00' WHEN 'enqueue_kernel_data'"
        " THEN value = 'global 64x2x1, local 32x1x1, offset 0,0,0, arguments 1' END) <> 2").fetchone()[0] == 0)
    check("nodes have all their metadata, and what was added later", db.execute(
        "SELECT count(*) FROM rtl_node AS n WHERE (SELECT count(*) FROM rtl_xpti_metadata AS m"
        " WHERE m.process = n.process AND m.object = n.id AND CASE key WHEN 'real' THEN value = 0.5"
        " WHEN 'late' THEN value = -5 WHEN 'queue_id' THEN value = n.queue WHEN 'kernel_name' THEN value = n.kernel END)"
        " <> 4").fetchone()[0] == 0)
    check("ends tell of begins", db.execute(
        "SELECT count(*) FROM rtl_spans WHERE begin_ns > end_ns OR duration_ns = 0").fetchone()[0]
        <= len(rows["S"]) // 10)
    # begins are converted by the program, ends by the collector, each by a line of its own through the two clocks; how far
    # these lines may be apart on a starved machine is not known
    check("a call lies within its task", db.execute(
        "SELECT count(*) FROM rtl_spans AS c WHERE c.type = 'call' AND NOT c.unfinished AND EXISTS (SELECT 1"
        " FROM rtl_spans AS s WHERE s.type = 'task' AND s.process = c.process AND s.tid = c.tid"
        " AND s.begin_ns <= c.begin_ns + 20000 AND s.end_ns >= c.end_ns - 20000)"
    ).fetchone()[0] == sum(1 for r in rows["S"] if r[1] == "call"))
    # one tracepoint for a place, whatever the address in the text
    check("waits have a name without address", db.execute(
        "SELECT count(*) FROM rtl_tracepoint WHERE name = 'queue.wait'").fetchone()[0] >= 1)
    check("the stream's own name is kept", db.execute(
        "SELECT count(*) FROM rtl_stream WHERE name = 'my_20own_2fstream' AND description LIKE '%\"My own/Stream\"%'"
    ).fetchone()[0] == 1)
    check("versions are there", db.execute(
        "SELECT count(*) FROM rtl_e_sycl_metadata WHERE text = '8.0 test'").fetchone()[0] >= 1)
    check("what the runtime had to say", db.execute(
        f"SELECT count(*) FROM rtl_e_{sycl}_diagnostics WHERE text = 'something is odd'").fetchone()[0] == 1)
    if not killed:
        check("the stream has ended", db.execute(
            "SELECT count(*) FROM rtl_e_sycl_stream_end").fetchone()[0] >= 1)
    ledger(db)
    return 1 if faults else 0


sys.exit(main())
