# SPDX-License-Identifier: MIT
"""
Reads what `rtl convert` writes for other tools, by what these read of it, and compares it value by value
with the database: rocprofv3's JSON as TraceLens, a file for HolisticTraceAnalysis, ROCm 7's rocpd by its views.
Each check returns whether something differs.
"""

import collections
import contextlib
import csv
import json
import os
import re
import sqlite3
import subprocess

from timeline_kit import check_nesting, load, plain

COPIES = {0: "MEMORY_FILL", 1: "MEMORY_COPY_HOST_TO_DEVICE", 2: "MEMORY_COPY_DEVICE_TO_HOST",
          3: "MEMORY_COPY_DEVICE_TO_DEVICE", 4: "MEMORY_COPY_DEVICE_TO_DEVICE",
          5: "MEMORY_COPY_HOST_TO_HOST"}
KINETO = {0: "Memset (Device)", 1: "Memcpy HtoD (Host -> Device)", 2: "Memcpy DtoH (Device -> Host)",
          3: "Memcpy DtoD (Device -> Device)", 4: "Memcpy PtoP (Device -> Device)",
          5: "Memcpy HtoH (Host -> Host)"}


def differ(what, expected, found):
    missing, more = collections.Counter(list(expected)), collections.Counter(list(found))
    missing, more = missing - more, more - missing
    for row in list(missing.elements())[:4]:
        print(f"{what}: not there: {str(row)[:400]}")
    for row in list(more.elements())[:4]:
        print(f"{what}: too much: {str(row)[:400]}")
    return bool(missing or more)


def convert(rtl, database, path, *options):
    """Makes it, and returns what was said on stderr."""
    done = subprocess.run([rtl, "convert", database, "-o", path, *options], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


class Rows:
    """What a database has of each kind; none where it has no such table."""

    def __init__(self, path):
        self.database = sqlite3.connect(path)
        self.tables = {name for name, in self.database.execute("SELECT name FROM sqlite_master")}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.database.close()

    def ask(self, sql, *values):
        table = re.search(r"FROM (\w+)", sql)[1]
        return self.database.execute(sql, values).fetchall() if table in self.tables else []

    def processes(self):
        return self.ask("SELECT process, pid, parent_pid, start_ns, end_ns, command, host_name "
                        "FROM rtl_process ORDER BY process")

    def dispatches(self, process):
        """name, symbol, begin, end, gpu, queue, tid, grid, workgroup, lds, scratch, correlation, stream,
        registers"""
        register = ("ifnull((SELECT CAST(value AS INTEGER) FROM rtl_tracepoint_metadata AS m WHERE "
                    "m.process = d.process AND m.uid = d.uid AND key = '{}'), 0)")
        return self.ask(
            "SELECT s.string, ifnull(t.name, s.string), o.start, o.end, d.gpu, d.queue, d.tid, "
            "d.grid_x, d.grid_y, d.grid_z, d.workgroup_x, d.workgroup_y, d.workgroup_z, d.lds_bytes, "
            f"d.scratch_bytes, d.correlation, ifnull(d.stream, 0), {register.format('vgprs')}, "
            f"{register.format('sgprs')} FROM rtl_dispatch AS d "
            "JOIN rocpd_op AS o ON o.id = d.op_id JOIN rocpd_string AS s ON s.id = o.description_id "
            "LEFT JOIN rtl_tracepoint AS t USING (process, uid) WHERE d.process = ?", process)

    def copies(self, process):
        """direction, begin, end, tid, bytes, from, to, correlation, stream, kind, gpu, flags"""
        return self.ask(
            "SELECT direction, ifnull(begin_ns, submit_ns), ifnull(end_ns, submit_ns), tid, bytes, "
            "src_gpu, dst_gpu, correlation, ifnull(stream, 0), kind, gpu, flags "
            "FROM rtl_copy WHERE process = ?", process)

    def calls(self, process, is_hip):
        """function, begin, end, tid, instance, correlation, arguments, what it declares"""
        return self.ask(
            "SELECT s.string, a.start, a.end, a.tid, c.instance, c.correlation, u.string, m.value "
            "FROM rtl_call AS c JOIN rocpd_api AS a ON a.id = c.api_id JOIN rocpd_string AS s "
            "ON s.id = a.apiName_id JOIN rocpd_ustring AS u ON u.id = a.args_id "
            "LEFT JOIN rtl_tracepoint_metadata AS m ON m.process = c.process AND m.uid = c.uid "
            "AND m.key = 'arguments' WHERE c.process = ? AND (c.flags IS NOT NULL) = ?",
            process, is_hip)

    def markers(self, process):
        """name, begin, end, tid, is_range, started"""
        return self.ask(
            "SELECT u.string, a.start, a.end, a.tid, m.is_range, m.flags & 2 FROM rtl_marker AS m "
            "JOIN rocpd_api AS a ON a.id = m.api_id JOIN rocpd_ustring AS u ON u.id = a.args_id "
            "WHERE m.process = ?", process)

    def spans(self, process):
        """stream, name, text, begin, end, tid"""
        return self.ask(
            "SELECT t.name, s.string, u.string, a.start, a.end, a.tid FROM rtl_span AS x "
            "JOIN rocpd_api AS a ON a.id = x.api_id JOIN rocpd_string AS s ON s.id = a.apiName_id "
            "JOIN rocpd_ustring AS u ON u.id = a.args_id LEFT JOIN rtl_stream AS t USING (stream) "
            "WHERE x.process = ?", process)

    def counters(self, process):
        """kernel, its begin, counter, value"""
        return self.ask(
            "SELECT s.string, o.start, n.string, c.value FROM rocpd_counter AS c JOIN rtl_dispatch AS d "
            "USING (op_id) JOIN rocpd_op AS o ON o.id = d.op_id JOIN rocpd_string AS s ON "
            "s.id = o.description_id JOIN rocpd_string AS n ON n.id = c.name_id WHERE d.process = ?",
            process)

    def memory(self, process):
        """is_release, kind, begin, end, tid, node, bytes, address"""
        return self.ask("SELECT is_release, kind, begin_ns, end_ns, tid, node, bytes, address "
                        "FROM rtl_mem WHERE process = ?", process)


# ---- rocprofv3

def name_of(strings, record):
    return strings[record["kind"]]["operations"][record["operation"]]


def times(record):
    return record["start_timestamp"], record["end_timestamp"], record["thread_id"]


def check_streams(pairs):
    """Handles and numbers belong together one by one; 0 is the null stream."""
    numbers = dict(pairs)
    assert len(set(pairs)) == len(numbers) == len(set(numbers.values())), pairs
    assert all((handle == 0) == (number == 0) for handle, number in pairs), pairs


def check_rocprofv3_process(rows, process, element):
    number, pid, parent, start, end, command, host = process
    strings = element["strings"]["buffer_records"]
    kernels = {k["kernel_id"]: k for k in element["kernel_symbols"]}
    records = element["buffer_records"]
    metadata = element["metadata"]
    bad = differ("rocprofv3, metadata", [(pid, parent, start, end or start, command, host)],
                 [(metadata["pid"], metadata["ppid"], metadata["init_time"], metadata["fini_time"],
                   metadata["command"][0], metadata["node"]["hostname"])])
    found, streams = [], []
    dispatches = rows.dispatches(number)
    handles = {(d[2], d[3], d[6], d[0]): d[16] for d in dispatches}
    for d in records["kernel_dispatch"]:
        info, kernel = d["dispatch_info"], kernels[d["dispatch_info"]["kernel_id"]]
        assert name_of(strings, d) == "KERNEL_DISPATCH_COMPLETE"
        found.append((kernel["truncated_kernel_name"], kernel["kernel_name"], d["start_timestamp"],
                      d["end_timestamp"], info["agent_id"]["handle"], info["queue_id"]["handle"],
                      d["thread_id"], *info["grid_size"].values(), *info["workgroup_size"].values(),
                      info["group_segment_size"], info["private_segment_size"],
                      d["correlation_id"]["internal"], kernel["arch_vgpr_count"],
                      kernel["sgpr_count"]))
        handle = handles.get((d["start_timestamp"], d["end_timestamp"], d["thread_id"],
                              kernel["truncated_kernel_name"]))
        streams.append((handle, d["stream_id"]["handle"]))
    bad |= differ("rocprofv3, dispatches", [d[:16] + d[17:] for d in dispatches], found)
    if len(handles) == len(dispatches):  # each is told by its times
        check_streams(set(streams))
    agents = {a["id"]["handle"]: a for a in element["agents"]}
    host_agent, = (h for h, a in agents.items() if a["type"] == 1 and a["logical_node_type_id"] == 0)
    assert all(f[4] in agents for f in found)
    found = [(name_of(strings, c), *times(c), c["bytes"], c["src_agent_id"]["handle"],
              c["dst_agent_id"]["handle"], c["correlation_id"]["internal"])
             for c in records["memory_copy"]]
    bad |= differ("rocprofv3, copies",
                  [(COPIES[c[0]], *c[1:5], c[5] or host_agent, c[6] or host_agent, c[7])
                   for c in rows.copies(number) if c[9] != 4], found)
    for kind, is_hip in (("hip_api", 1), ("hsa_api", 0)):
        found = [(name_of(strings, c), *times(c), c["correlation_id"]["internal"],
                  c["correlation_id"]["ancestor"]) for c in records[kind]]
        bad |= differ(f"rocprofv3, {kind}",
                      [(*c[:4], c[5] if is_hip else c[4], 0 if is_hip else c[5])
                       for c in rows.calls(number, is_hip)], found)
    messages = {m["key"]: m["value"] for m in element["strings"]["marker_api"]}
    bad |= differ("rocprofv3, markers",
                  [(*m[:4], "roctxMarkA" if not m[4] else "roctxProcessRangeA" if m[5] else
                    "roctxThreadRangeA") for m in rows.markers(number)],
                  [(messages[m["correlation_id"]["internal"]], *times(m), name_of(strings, m))
                   for m in records["marker_api"]])
    bad |= differ("rocprofv3, memory",
                  [("MEMORY_ALLOCATION_" + ("VMEM_" if m[1] in (3, 4) else "") +
                    ("FREE" if m[0] else "ALLOCATE"), *m[2:7], hex(m[7]))
                   for m in rows.memory(number)],
                  [(name_of(strings, m), *times(m), m["agent_id"]["handle"], m["allocation_size"],
                    m["address"]) for m in records["memory_allocation"]])
    return bad


def check_rocprofv3(database, path):
    elements = load(path)["rocprofiler-sdk-tool"]
    bad = False
    with Rows(database) as rows:
        processes = {p[1]: p for p in rows.processes()}
        bad |= differ("rocprofv3, processes", list(processes), [e["metadata"]["pid"] for e in elements])
        counts = [len(e["buffer_records"]["kernel_dispatch"]) for e in elements]
        bad |= counts != sorted(counts, reverse=True)
        for element in elements:
            bad |= check_rocprofv3_process(rows, processes[element["metadata"]["pid"]], element)
    return bad


# ---- HolisticTraceAnalysis

def check_hta(database, path, rank):
    trace = load(path)
    with open(path, encoding="utf-8") as file:
        assert re.search(r'"rank":\s+(\d+)', file.read())[1] == str(rank)
    events = trace["traceEvents"]
    check_nesting(events)
    assert events[0]["ph"] == "M" and trace["distributedInfo"] == {"rank": rank}
    base = trace["baseTimeNanoseconds"]

    def read(event):
        begin = base + round(event["ts"] * 1000)
        return event["name"], begin, begin + round(event["dur"] * 1000)
    of = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            of[event["cat"]].append(event)
    with Rows(database) as rows:
        number, = {number for number, *_ in rows.processes() if rows.dispatches(number)}
        # a begin may be moved behind that of its call
        bad = differ("hta, kernels", [(d[0], d[3], d[15]) for d in rows.dispatches(number)],
                     [(plain(e["name"]), read(e)[2], e["args"]["correlation"]) for e in of["kernel"]])
        copies = [c for c in rows.copies(number) if c[10] and not c[11] & 16]
        for category, fills in (("gpu_memcpy", False), ("gpu_memset", True)):
            bad |= differ(f"hta, {category}",
                          [(KINETO[c[0]], c[2], c[4], c[7]) for c in copies if (not c[0]) == fills],
                          [(e["name"], read(e)[2], e["args"]["bytes"], e["args"]["correlation"])
                           for e in of[category]])
            bad |= differ(f"hta, {category}, GB/s",  # what its get_memory_bw_time_series reads
                          [c[4] / (c[2] - c[1]) for c in copies
                           if (not c[0]) == fills and c[2] > c[1]],
                          [e["args"]["memory bandwidth (GB/s)"] for e in of[category]
                           if "memory bandwidth (GB/s)" in e["args"]])
        calls = rows.calls(number, 1)
        bad |= differ("hta, calls", [(c[0], c[1], c[2], c[5]) for c in calls],
                      [(*read(e), e["args"]["correlation"]) for e in of["cuda_runtime"]])
        links = rows.ask(
            "SELECT s.string, count(*) FROM rocpd_api_ops AS l JOIN rtl_call AS c USING (api_id) "
            "JOIN rocpd_api AS a ON a.id = l.api_id JOIN rocpd_string AS s ON s.id = a.apiName_id "
            "WHERE c.process = ? GROUP BY 1", number) if calls else []
        called = {e["args"]["correlation"]: e["name"] for e in of["cuda_runtime"]}
        found = collections.Counter(called[e["args"]["correlation"]] for kind in
                                    ("kernel", "gpu_memcpy", "gpu_memset") for e in of[kind]
                                    if e["args"]["correlation"] in called)
        bad |= differ("hta, links", dict(links).items(), found.items())
        bad |= differ("hta, ranges", [m[:3] for m in rows.markers(number) if m[4]],
                      [(plain(read(e)[0]), *read(e)[1:]) for e in of["user_annotation"]])
    for category, there in of.items():
        on_gpu = category in ("kernel", "gpu_memcpy", "gpu_memset")
        assert all((e["args"].get("stream", 0) >= 1) == on_gpu for e in there), category
        assert on_gpu or category == "cuda_runtime" or \
            not any("correlation" in e["args"] for e in there), category
    return bad


# ---- ROCm 7's rocpd

def declared(text):
    """Types by names, of "void **ptr, size_t size"."""
    found = {}
    for one in text.split(", "):
        name = re.search(r"[^ *&]*$", one)[0]
        found[name] = one[:len(one) - len(name)].rstrip()
    return found


def pointed(name, types):
    """The type of a value called `*ptr`."""
    kind = types[name.lstrip("*")]
    return kind[:len(kind) - (len(name) - len(name.lstrip("*")))].rstrip()


def check_arguments(ask, calls):
    """The line of each call is that of its rows, with the types that are declared."""
    lines = collections.defaultdict(list)
    kinds = collections.defaultdict(dict)
    for event, name, kind, value in ask("SELECT event_id, name, type, value FROM rocpd_arg ORDER BY "
                                        "event_id, position"):
        lines[event].append(f"{name}={value}")
        kinds[event][name] = kind
    found = []
    for event, begin, end, tid, name in ask(
            "SELECT event_id, start, \"end\", tid, name FROM regions WHERE category IN "
            "('HIP_RUNTIME_API_EXT', 'HSA_CORE_API')"):
        found.append((name, begin, end, tid, ", ".join(lines[event])))
    bad = differ("rocpd7, arguments", [(*c[:4], c[6]) for c in calls], found)
    by_call = {(c[0], c[1], c[2], c[3]): declared(c[7]) for c in calls if c[7]}
    for event, begin, end, tid, name in ask(
            "SELECT event_id, start, \"end\", tid, name FROM regions"):
        types = by_call.get((name, begin, end, tid))
        for argument, kind in kinds[event].items() if types else ():
            if kind != pointed(argument, types):
                print(f"rocpd7: {argument} of {name} is a {kind}, not {pointed(argument, types)}")
                bad = True
    return bad


def check_rocpd7_process(rows, process, ask_all):
    number, pid, parent, start, end, command, host = process
    guid, machine = ask_all("SELECT guid, machine_id FROM processes WHERE pid = ?", pid)[0]
    assert re.fullmatch("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", guid)
    assert re.fullmatch("[0-9a-f]{32}", machine)

    def ask(sql):
        """Of this process alone."""
        where = " AND" if " WHERE " in sql else " WHERE"
        head, order, tail = sql.partition(" ORDER BY ")
        return ask_all(f"{head}{where} guid = ?{order}{tail}", guid)
    bad = differ("rocpd7, process", [(pid, parent, start, end or start, command, host)],
                 ask("SELECT pid, ppid, init, fini, command, hostname FROM processes"))
    dispatches = rows.dispatches(number)
    bad |= differ("rocpd7, kernels", [d[:1] + d[2:16] + d[17:] for d in dispatches],
                  ask("SELECT name, start, \"end\", agent_abs_index, queue_id, tid, grid_x, grid_y, "
                      "grid_z, workgroup_x, workgroup_y, workgroup_z, lds_size, scratch_size, "
                      "stack_id, vgpr_count, sgpr_count FROM kernels"))
    bad |= differ("rocpd7, symbols", {d[1] for d in dispatches},
                  {s for s, in ask("SELECT kernel_name FROM kernel_symbols")})
    counters = rows.counters(number)
    bad |= differ("rocpd7, counters", counters, ask("SELECT kernel_name, start, counter_name, value "
                                                    "FROM counters_collection"))
    bad |= differ("rocpd7, events of counters", counters, ask(
        "SELECT name, start, counter_name, counter_value FROM pmc_events"))
    host_agent, = {a for a, in ask("SELECT absolute_index FROM rocpd_info_agent WHERE type = 'CPU' "
                                   "AND type_index = 0")}
    bad |= differ("rocpd7, copies",
                  [(COPIES[c[0]], *c[1:5], c[5] or host_agent, c[6] or host_agent, c[7])
                   for c in rows.copies(number)],
                  ask("SELECT name, start, \"end\", tid, size, src_agent_abs_index, "
                      "dst_agent_abs_index, stack_id FROM memory_copies"))
    calls = rows.calls(number, 1) + rows.calls(number, 0)
    bad |= check_arguments(ask, calls)
    markers = rows.markers(number)
    bad |= differ("rocpd7, ranges", [m[:4] for m in markers if m[4]],
                  ask("SELECT json_extract(extdata, '$.message'), start, \"end\", tid FROM regions "
                      "WHERE category LIKE 'MARKER%'"))
    bad |= differ("rocpd7, marks", [(m[0], m[1], m[3]) for m in markers if not m[4]],
                  ask("SELECT json_extract(extdata, '$.message'), timestamp, tid FROM samples"))
    bad |= differ("rocpd7, regions of own streams",
                  [(s[0] or "", s[1], s[2] or None, *s[3:]) for s in rows.spans(number)],
                  ask("SELECT category, name, json_extract(extdata, '$.message'), start, \"end\", tid "
                      "FROM regions WHERE category NOT IN ('HIP_RUNTIME_API_EXT', 'HSA_CORE_API', "
                      "'MARKER_CORE_RANGE_API')"))
    bad |= differ("rocpd7, memory",
                  [("FREE" if m[0] else "ALLOC", "VIRTUAL" if m[1] in (3, 4) else "REAL", *m[2:])
                   for m in rows.memory(number)],
                  ask("SELECT type, level, start, \"end\", tid, agent_abs_index, size, address "
                      "FROM memory_allocations"))
    return bad


def check_rocpd7(database, path):
    with contextlib.closing(sqlite3.connect(path)) as out, Rows(database) as rows:
        def ask(sql, *values):
            return out.execute(sql, values).fetchall()
        assert ask("PRAGMA integrity_check") == [("ok",)]
        assert ask("PRAGMA foreign_key_check") == []
        views = [name for name, in ask("SELECT name FROM sqlite_master WHERE type = 'view'")]
        for view in views:
            ask(f"SELECT * FROM {view}")
        assert {"kernels", "top", "top_kernels", "busy", "regions", "memory_copies"} < set(views)
        processes = rows.processes()
        tables = [name for name, in ask("SELECT name FROM sqlite_master WHERE type = 'table' AND "
                                        "name LIKE 'rocpd_%'")]
        guids = {guid for guid, in ask("SELECT value FROM rocpd_metadata WHERE tag = 'guid'")}
        suffixes = {s for s, in ask("SELECT value FROM rocpd_metadata WHERE tag = 'uuid'")}
        assert len(guids) == len(suffixes) == len(processes)
        assert suffixes == {"_" + guid.replace("-", "_") for guid in guids}
        assert all(any(table.endswith(suffix) for suffix in suffixes) for table in tables)
        assert set(ask("SELECT value FROM rocpd_metadata WHERE tag = 'schema_version'")) == {("3.0.2",)}
        all_kernels = sum(len(rows.dispatches(p[0])) for p in processes)
        # which stream an argument is
        assert all(value == json.loads(extdata)["handle"] for value, extdata in
                   ask("SELECT arg_value, extdata FROM stream_args"))
        assert ask("SELECT count(*) FROM stream_args") == ask(
            "SELECT count(*) FROM rocpd_arg WHERE name = 'stream' AND value IN (SELECT "
            "json_extract(extdata, '$.handle') FROM rocpd_info_stream)")
        bad = all_kernels != (ask("SELECT sum(total_calls) FROM top_kernels")[0][0] or 0)
        for process in processes:
            bad |= check_rocpd7_process(rows, process, ask)
    return bad


def check_csv_counters(database, path):
    with Rows(database) as rows:
        expected = [c for p in rows.processes() for c in rows.counters(p[0])]
    path = os.path.join(path, "counter_collection.csv")
    if not expected:
        return os.path.exists(path)
    with open(path, encoding="utf-8", newline="") as file:
        return differ("counter_collection.csv", expected,
                      [(row["Kernel_Name"], int(row["Start_Timestamp"]), row["Counter_Name"],
                        float(row["Counter_Value"])) for row in csv.DictReader(file)])


def check_csv_streams(json_path, path):
    """Streams have the numbers of rocprofv3's JSON, which is of the first process."""
    dispatches = load(json_path)["rocprofiler-sdk-tool"][0]["buffer_records"]["kernel_dispatch"]
    with open(os.path.join(path, "kernel_trace.csv"), encoding="utf-8", newline="") as file:
        found = {(int(r["Start_Timestamp"]), int(r["Correlation_Id"])): int(r["Stream_Id"])
                 for r in csv.DictReader(file)}
    return any(found.get((d["start_timestamp"], d["correlation_id"]["internal"])) != d["stream_id"]["handle"]
               for d in dispatches)


def check_all(rtl, database, folder):
    """Converts to all of them and checks each. HTA's are of one process that has used a GPU."""
    def path(name):
        return os.path.join(folder, name)
    convert(rtl, database, path("r.json"), "--format", "rocprofv3")
    convert(rtl, database, path("r.json.gz"), "--format", "rocprofv3")
    convert(rtl, database, path("r.db"))
    bad = check_rocprofv3(database, path("r.json"))
    bad |= load(path("r.json")) != load(path("r.json.gz"))
    bad |= check_rocpd7(database, path("r.db"))
    convert(rtl, database, path("r.csv"))
    bad |= check_csv_counters(database, path("r.csv"))
    if os.path.exists(os.path.join(path("r.csv"), "kernel_trace.csv")):
        bad |= check_csv_streams(path("r.json"), path("r.csv"))
    with Rows(database) as rows:
        used = [p for p in rows.processes() if rows.dispatches(p[0])]
    if len(used) == 1:
        convert(rtl, database, path("h.json"), "--format", "hta", "--rank", "7")
        bad |= check_hta(database, path("h.json"), 7)
    return bad

