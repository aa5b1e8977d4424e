#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hip_by.py DATABASE OUTPUT LOG: `rtl summary --by KEY` and the kernels within ranges are what the rows of the database
(of tests/programs/hip/causes.hip, which hip_causes.py compares with the log) add up to."""
import collections
import json
import os
import sqlite3
import subprocess
import sys

KEYS = {"range": "range", "stream": "stream", "thread": "tid", "process": "pid", "gpu": "gpu"}
WORK = """SELECT kernel, duration_ns, tid, pid, gpu, CASE WHEN call_ns THEN stream END AS stream, range, (
  SELECT l.api_id FROM rocpd_api_ops AS l JOIN rtl_calls AS c USING (api_id)
  WHERE l.op_id = d.op_id AND c.function = 'hipGraphLaunch') AS launch, op_id FROM rtl_dispatches AS d"""
PROBLEMS = []


def summary(database, *options):
    done = subprocess.run([os.environ["RTL_BUILD_DIR"] + "/bin/rtl", "summary", "--json", *options, database],
                          capture_output=True, check=True)
    return json.loads(done.stdout)["sections"]


def compare(what, got, want):
    print(f"hip_by: {what}: {len(got)} keys")
    if got != want or not got:
        PROBLEMS.append(f"{what}: {got}, not {want}")


def by_key(works, key):
    """key -> kernel -> [count, total]"""
    keys = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    for work in works:
        row = keys[key(work)][work["kernel"]]
        row[0] += 1
        row[1] += work["duration_ns"]
    return {name: dict(rows) for name, rows in keys.items()}


def contents(keys):
    """Where names of keys are rtl's own."""
    return sorted(sorted(rows.items()) for rows in keys.values())


def main():
    with sqlite3.connect(sys.argv[1]) as database:
        database.row_factory = sqlite3.Row
        works = database.execute(WORK).fetchall()
        ranges = {row["instance"]: (row["name"], row["parent"])
                  for row in database.execute("SELECT * FROM rtl_markers WHERE is_range")}
        # one executable after the other, perhaps at the same address
        graphs = dict(map(tuple, database.execute(
            "SELECT api_id, (SELECT count(*) FROM rtl_calls AS i WHERE i.function LIKE 'hipGraphInstantiate%'"
            " AND i.begin_ns < c.begin_ns) FROM rtl_calls AS c WHERE function = 'hipGraphLaunch'")))
    truth = {key: (lambda work, column=column: work[column]) for key, column in KEYS.items()}
    truth["range"] = lambda work: ranges[work["range"]][0] if work["range"] else "(no range)"
    truth["graph"] = lambda work: graphs.get(work["launch"])
    for key, of in truth.items():
        kernels, = [s for s in summary(sys.argv[1], "--by", key) if s["title"] == "GPU kernels"]
        got = collections.defaultdict(dict)
        for row in kernels["rows"]:
            got[row["key"]][row["name"]] = [row["count"], row["total_ns"]]
        want = by_key(works, of)
        if key == "thread":
            want = {f"thread {tid}": rows for tid, rows in want.items()}
        compare(key, *((dict(got), want) if key in ("range", "thread") else (contents(got), contents(want))))
        totals = {k["name"]: k["total_ns"] for k in kernels["keys"]}
        compare(f"{key}: totals", totals, {k: sum(r[1] for r in rows.values()) for k, rows in got.items()})
        if [*totals] != [*dict.fromkeys(row["key"] for row in kernels["rows"])]:
            PROBLEMS.append(f"{key}: rows are in another order than keys")

    within = collections.defaultdict(collections.Counter)
    for work in works:
        at = work["range"]
        while at in ranges:
            within[ranges[at][0]][work["kernel"]] += work["duration_ns"]
            at = ranges[at][1]
    steps, = [s for s in summary(sys.argv[1]) if s["title"] == "Ranges"]
    compare("kernels within ranges", {row["name"]: [(k["name"], k["total_ns"], k["share"]) for k in row["kernels"]]
                                      for row in steps["rows"] if "kernels" in row},
            {name: [(kernel, ns, round(ns / sum(all_of.values()), 6))
                    for kernel, ns in sorted(all_of.items(), key=lambda item: (-item[1], item[0]))[:3]]
             for name, all_of in within.items() if name in {row["name"] for row in steps["rows"]}})
    for problem in PROBLEMS:
        print(f"hip_by: {problem}"[:2000], file=sys.stderr)
    sys.exit(bool(PROBLEMS))


if __name__ == "__main__":
    main()
