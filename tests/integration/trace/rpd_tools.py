#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A trace in the hands of RPD's tools.

    rpd_tools.py RTL RUN PROGRAM...

Traces PROGRAM on a software GPU (RUN) and does with the file what RPD's tools do, in SQL of the same
meaning: time by name; strings without duplicates, renumbered (rocpd.strings --dedupe); a trace cut
by time (rpd_trim); queries for GPUs from 0 on. Then rtl's own tables must say what they said, and
`rtl summary` and `rtl info` what is gone.
"""
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

# The columns that the tools know to refer to rocpd_string.
KNOWN = [("rocpd_op", "description_id"), ("rocpd_op", "opType_id"), ("rocpd_api", "domain_id"),
         ("rocpd_api", "category_id"), ("rocpd_api", "apiName_id"),
         ("rocpd_kernelapi", "kernelName_id")]

found = 0


def check(fine, what):
    global found
    if not fine:
        found += 1
        print(f"rpd_tools: {what}", file=sys.stderr)


def ask(path, sql):
    db = sqlite3.connect(path)
    rows = db.execute(sql).fetchall()
    db.close()
    return rows


def dedupe(db):
    """Leaves each string once, if something refers to it, with numbers from 1 on."""
    users = list(KNOWN)
    for value, in db.execute("SELECT value FROM rocpd_metadata WHERE tag ="
                             " 'references::rocpd_string.id'").fetchall():
        match = re.fullmatch(r'\("(\w+)", "(\w+)"\)', value)
        check(match, f"no table and column: {value}")
        if match.groups() not in users:
            users.append(match.groups())
    used = {row[0] for table, column in users
            for row in db.execute(f"SELECT DISTINCT {column} FROM {table}")}
    kept, numbers = {}, {}
    for number, text in db.execute("SELECT id, string FROM rocpd_string ORDER BY id"):
        if number in used:
            numbers[number] = kept.setdefault(text, len(kept) + 1)
    db.execute("DROP TABLE rocpd_string")
    db.execute("CREATE TABLE rocpd_string (id integer NOT NULL PRIMARY KEY AUTOINCREMENT,"
               " string varchar(4096) NOT NULL)")
    db.executemany("INSERT INTO rocpd_string VALUES (?, ?)", ((n, s) for s, n in kept.items()))
    db.execute("CREATE TEMP TABLE renumbered (before INTEGER PRIMARY KEY, after INTEGER)")
    db.executemany("INSERT INTO renumbered VALUES (?, ?)", numbers.items())
    for table, column in users:
        db.execute(f"UPDATE {table} SET {column} ="
                   f" (SELECT after FROM renumbered WHERE before = {column})")
    db.commit()


def trim(db, first, last):
    """Leaves calls that begin between two times, and what they caused; in percent of the calls."""
    starts = [s for s, in db.execute("SELECT start FROM rocpd_api ORDER BY start")]
    db.execute("DELETE FROM rocpd_api WHERE start < ? OR start > ?",
               [starts[(len(starts) - 1) * percent // 100] for percent in (first, last)])
    db.execute("DELETE FROM rocpd_api_ops WHERE api_id NOT IN (SELECT id FROM rocpd_api)")
    db.execute("DELETE FROM rocpd_op WHERE id NOT IN (SELECT op_id FROM rocpd_api_ops)")
    db.commit()
    dedupe(db)


TABLES = {
    "calls": "SELECT api_id, domain, category, function, args, status, result FROM rtl_calls"
             " ORDER BY api_id",
    "dispatches": "SELECT op_id, kernel, mangled, gpu, begin_ns FROM rtl_dispatches ORDER BY op_id",
    "links": "SELECT * FROM rtl_api_ops ORDER BY api_id, op_id",
    "operations": "SELECT * FROM op ORDER BY id",
    "calls of rocpd": "SELECT * FROM api ORDER BY id",
}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout, done.stderr, file=sys.stderr)
        sys.exit(f"rpd_tools: {' '.join(command)}: status {done.returncode}")
    return done


def trace(rtl, folder, name, program, settings=""):
    path = os.path.join(folder, name)
    run(rtl, "trace", "-q", "-s", f"libsqlite_sub.so?output={path}{settings}", "--", *program)
    return path


def check_time_by_name(path):
    start, end = ask(path, 'SELECT min(start), max("end") FROM rocpd_api')[0]
    first, last = ask(path, 'SELECT min(start), max("end") FROM rocpd_op')[0]
    check(start <= first and last <= end, "rocpd_api does not span the trace")
    own = ask(path, "SELECT apiName, count(*), sum(\"end\" - start) FROM api"
                    " WHERE domain = 'rtl' GROUP BY apiName ORDER BY apiName")
    check(own == [("Process", 1, 0), ("ProcessEnd", 1, 0)], f"what rtl adds takes time: {own}")
    least = ask(path, "SELECT count(*) FROM rocpd_api WHERE args_id NOT IN"
                      " (SELECT id FROM rocpd_ustring)")
    check(least == [(0,)], "calls without arguments")


def check_dedupe(path, folder):
    copy = shutil.copy(path, os.path.join(folder, "deduped.db"))
    db = sqlite3.connect(copy)
    # so that there is something to drop before all that is in use
    db.execute("UPDATE rocpd_string SET id = -id")
    db.execute("UPDATE rocpd_string SET id = 100 - id")
    for table, column in KNOWN + [("rtl_call", "status_id")]:
        db.execute(f"UPDATE {table} SET {column} = {column} + 100")
    db.commit()
    dedupe(db)
    db.close()
    for what, sql in TABLES.items():
        check(ask(path, sql) and ask(path, sql) == ask(copy, sql), f"{what} are others after that")


def check_trimmed(rtl, path, folder):
    def removed(file):
        return json.loads(run(rtl, "info", "--json", file).stdout)["removed"]

    check(removed(path) is None, f"info of a whole trace: {removed(path)}")
    check("removed" not in run(rtl, "summary", path).stderr, "summary of a whole trace")
    for first, last in ((30, 70), (30, 100), (0, 70)):
        copy = shutil.copy(path, os.path.join(folder, f"trimmed-{first}-{last}.db"))
        db = sqlite3.connect(copy)
        trim(db, first, last)
        calls, copies, ops, kernels = db.execute(
            "SELECT (SELECT count(*) FROM rtl_call WHERE api_id NOT IN (SELECT id FROM rocpd_api)),"
            " (SELECT count(*) FROM rtl_copy WHERE op_id NOT IN (SELECT id FROM rocpd_op)),"
            " (SELECT count(*) FROM rocpd_op), (SELECT count(*) FROM op WHERE opType ="
            " 'KernelExecution')").fetchone()
        db.close()
        line = f"{calls} of {ask(path, 'SELECT count(*) FROM rtl_call')[0][0]} calls"
        for how, said in (("info", run(rtl, "info", copy).stdout), ("info --json", removed(copy)),
                          ("summary", run(rtl, "summary", copy).stderr)):
            check(said and line in said, f"{how} of a trace cut to {first}-{last}: {said}")
            check(said and f"{copies} of " in said, f"{how}: copies: {said}")
        sections = json.loads(run(rtl, "summary", "--json", copy).stdout)["sections"]
        counted = {s["kind"]: sum(r["count"] for r in s["rows"]) for s in sections
                   if s["kind"] in ("task", "transfer")}
        check(kernels, "nothing is left")
        hosts = ask(copy, "SELECT count(*) FROM rtl_copy WHERE op_id IS NULL")[0][0]
        check(counted.get("task", 0) == kernels, f"kernels of a cut trace: {counted}, {kernels}")
        check(counted.get("transfer", 0) == ops - kernels + hosts,
              f"copies of a cut trace: {counted}, {ops - kernels}")


def check_gpus(rtl, program, path, folder):
    by_index = trace(rtl, folder, "index.db", program, "&gpu=index")
    for file, expected in ((path, [1, 2]), (by_index, [0, 1])):
        numbers = [n for n, in ask(file, "SELECT DISTINCT gpuId FROM rocpd_op ORDER BY gpuId")]
        check(numbers == expected, f"numbers of GPUs: {numbers}, not {expected}")
        pairs = ask(file, "SELECT DISTINCT o.gpuId, w.gpu FROM rocpd_op AS o JOIN (SELECT op_id, gpu"
                          " FROM rtl_dispatch UNION ALL SELECT op_id, gpu FROM rtl_copy) AS w"
                          " ON w.op_id = o.id ORDER BY 1")
        check(pairs == list(zip(expected, [1, 2])), f"gpuId and gpu: {pairs}")
        links = ask(file, "SELECT (SELECT count(*) FROM rocpd_op), count(*) FROM rtl_api_ops")[0]
        check(links[0] == links[1], f"operations and links: {links}")
        summary = run(rtl, "summary", file).stdout
        for node in 1, 2:
            check(re.search(rf"^GPU {node} \(gfx", summary, re.M), f"GPU {node}: {summary}")
        check("GPU 0" not in summary, f"summary: {summary}")
        nodes = [g["node"] for g in json.loads(run(rtl, "info", "--json", file).stdout)["gpus"]]
        check(nodes == [1, 2], f"info: {nodes}")


def check_args(rtl, program, folder):
    """rocpd.subclass makes columns of arguments: at "|", each a name and a value."""
    path = trace(rtl, folder, "args.db", program, "&args=rpd")
    columns, calls = {}, ask(path, "SELECT apiName, args FROM api WHERE domain = 'hip' AND args <> ''")
    for function, args in calls:
        for part in args.split("|"):
            key, _, value = part.partition("=")
            columns.setdefault(function, {})[key.strip()] = value.strip()
    check(columns, "no arguments")
    for function, found in columns.items():
        for key, value in found.items():
            check(re.fullmatch(r"[\w.]+", key) and value and ", *" not in value, f"{function}: {key}={value}")
    pointer, size = columns.get("hipMalloc", {}).get("ptr", ""), columns.get("hipMalloc", {}).get("size", "")
    check(re.fullmatch("0x[0-9a-f]+", pointer) and size.isdigit(), f"hipMalloc: {columns.get('hipMalloc')}")


def check_joins(path):
    plan = " ".join(str(row) for row in ask(path, "EXPLAIN QUERY PLAN SELECT d.op_id FROM rtl_calls AS c"
                                                  " JOIN rtl_dispatches AS d ON d.process = c.process"
                                                  " AND d.correlation = c.correlation WHERE c.api_id = 9"))
    check("rtl_index_dispatch_correlation" in plan, f"from a call to its dispatches: {plan}")


def main():
    rtl, *program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        path = trace(rtl, folder, "trace.db", program)
        check_time_by_name(path)
        check_dedupe(path, folder)
        check_trimmed(rtl, path, folder)
        check_gpus(rtl, program, path, folder)
        check_args(rtl, program, folder)
        check_joins(path)
    print(f"rpd_tools: {found} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
