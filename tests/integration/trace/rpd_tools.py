#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A trace in the hands of RPD's tools.

    rpd_tools.py RTL RUN PROGRAM...

Traces PROGRAM on a software GPU (RUN), and does with it what RPD's tools do, in SQL of the same meaning. Those that
read have the trace itself: time by name, queries for GPUs from 0 on, columns of arguments. Those that change a file, or
make indexes, have what `rtl convert` makes for them: strings without duplicates, renumbered (rocpd.strings
--dedupe), and a trace cut by time (rpd_trim). What was not removed must say what it said.
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


TABLES = ["rocpd_string", "rocpd_op", "rocpd_api_ops", "rocpd_kernelapi", "rocpd_copyapi", "rocpd_monitor", "rocpd_counter",
          "rocpd_stackframe"]
VIEWS = ["api", "op", "napi", "nop", "busy", "top", "kernel", "copy", "copyop", "stackframe", "counter", "counter_summary"]


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


def read(path, name):
    return sorted(ask(path, f"SELECT * FROM {name}"))


def check_tables(rtl, path, folder):
    """A file of tables, which has what the trace's views have."""
    tables = os.path.join(folder, "tables.rpd")
    run(rtl, "convert", path, "-o", tables)
    for name in TABLES + VIEWS:
        check(read(path, name) == read(tables, name), f"{name} is another in a file of tables")
    check(all(read(tables, name) for name in ("api", "op", "kernel", "copy")), "nothing is in it")
    db = sqlite3.connect(tables)
    check(db.execute("SELECT min(id) > 0 FROM rocpd_ustring").fetchone()[0], "numbers that none can be added to")
    db.execute("CREATE INDEX a ON rocpd_api_ops (op_id)")
    db.execute("CREATE INDEX b ON rocpd_string (string)")
    check(db.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "integrity")
    check(not db.execute("PRAGMA foreign_key_check").fetchall(), "rows refer to rows that are not there")
    db.close()
    return tables


def check_traced(rtl, program, folder):
    """`rtl trace -o FILE.rpd` makes the same, of a database that goes then; what is there and is not a trace stays."""
    path = os.path.join(folder, "traced.rpd")
    run(rtl, "trace", "-q", "-o", path, "--", *program)
    types = dict(ask(path, "SELECT name, type FROM sqlite_master"))
    check(all(types.get(name) == "table" for name in TABLES) and all(types.get(name) == "view" for name in VIEWS)
          and not any(name.startswith("rtl_") for name in types), f"in {path}: {types}")
    check(read(path, "op"), "nothing was traced")
    check(not os.path.exists(path + ".db"), "the database beside it is still there")
    with open(path, "w", encoding="utf-8") as file:
        file.write("something else\n")
    for command in ["trace", "-o", path, "true"], ["convert", os.path.join(folder, "trace.db"), "-o", path]:
        done = subprocess.run([rtl, *command], capture_output=True, text=True, check=False)
        check(done.returncode == 1 and "exists and is not a trace" in done.stderr, f"{command}: {done.stderr}")
    check(open(path, encoding="utf-8").read() == "something else\n", "a file that is not a trace was written over")
    os.unlink(path)
    for command, said in ((["trace", "--in-process", "-o", path, "true"], "`rtl convert`"),
                          (["convert", "a.db", "b.db", "-o", path], "are made of one trace"),
                          (["convert", "a.db", "-o", path, "--from", "1"], "has the whole trace")):
        done = subprocess.run([rtl, *command], capture_output=True, text=True, check=False)
        check(done.returncode == 2 and said in done.stderr and not os.path.exists(path), f"{command}: {done.stderr}")


def check_dedupe(tables, folder):
    copy = shutil.copy(tables, os.path.join(folder, "deduped.rpd"))
    db = sqlite3.connect(copy)
    # so that there is something to drop before all that is in use
    db.execute("UPDATE rocpd_string SET id = -id")
    db.execute("UPDATE rocpd_string SET id = 100 - id")
    for table, column in KNOWN:
        db.execute(f"UPDATE {table} SET {column} = {column} + 100")
    db.commit()
    dedupe(db)
    db.close()
    for view in VIEWS:
        check(read(tables, view) == read(copy, view), f"{view} is another after that")


def check_trimmed(tables, folder):
    for first, last in ((30, 70), (30, 100), (0, 70)):
        copy = shutil.copy(tables, os.path.join(folder, f"trimmed-{first}-{last}.rpd"))
        db = sqlite3.connect(copy)
        trim(db, first, last)
        db.close()
        for view in "api", "op", "kernel", "copy":
            left, before = read(copy, view), read(tables, view)
            check(set(left) <= set(before), f"{view}, cut to {first}-{last}: rows that were not there")
            check(view not in ("api", "op") or 0 < len(left) < len(before), f"{view}, cut to {first}-{last}: {len(left)} rows")


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


def main():
    rtl, *program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        path = trace(rtl, folder, "trace.db", program)
        tables = check_tables(rtl, path, folder)
        check_time_by_name(path)
        check_time_by_name(tables)
        check_traced(rtl, program, folder)
        check_dedupe(tables, folder)
        check_trimmed(tables, folder)
        check_gpus(rtl, program, path, folder)
        check_args(rtl, program, folder)
    print(f"rpd_tools: {found} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
