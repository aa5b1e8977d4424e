#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hip_causes.py [--unlinked|--reported] DATABASE OUTPUT LOG: what a program (tests/programs/hip/causes.hip) says that
its calls made a GPU do, against the links in the database and the software GPU's log.

Of each call: what is linked to it is what it did, in that order; the dispatches and copies know the
call's begin, the stream and the range around them, and begin after it but for the error of the clocks
that the trace itself tells. Of each dispatch and copy in the log: one call is linked to
it, and no other. Every other row of rocpd_op is linked to one row of rocpd_api.

--unlinked: work may be linked to no call (of HIP), where the runtime's threads submit it; what is
linked must be right all the same, and the summary's count of the rest is checked by the caller.
--reported: HIP has reported the work (--source runtime): what a kernel of the runtime does for a call is a copy
or a fill there, and the kernels of a graph have no grid.
Exit status 0: so it is.
"""
import collections
import re
import sqlite3
import sys

TICK_NS = 1000  # a tick of the GPU's clock, and what its conversion adds
REPORTED = 64
BY_HIP, CARRIED = 128, 256  # by a kernel of its own; passed on by another doorbell
NO_HIP_TIME = REPORTED | 2  # HIP 7.2 tells an end before the begin of some copies: they have no times
COPY_BYTES = 1 << 20  # of what the program copies and fills within the GPU
LINE = re.compile(r"thread (\d+) work (\w+) (\d+) (.*?)(?: within (\w+))? :( \{)?(.*)$")
FIELD = re.compile(r"(\w+)=(\S*)")


def read_output(path):
    """{(tid, function, nth): (range, within, ordered, [work])}"""
    work = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            match = LINE.match(line)
            if match:
                words = match[7].split()
                what = [w if w in ("runtime", "none") else (w, int(words[i + 1]))
                        for i, w in enumerate(words) if not w.isdigit()]
                work[int(match[1]), match[2], int(match[3])] = (
                    match[4], match[5], not match[6], what)
    return work


def read_log(path):
    rows = collections.Counter()
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            row = dict(FIELD.findall(line))
            if " kind=transfer " in line:
                rows["copy", int(row["bytes"])] += 1
            elif " kind=dispatch " in line and not row["name"].startswith(("rocr_", "__amd_")):
                rows["kernel", int(row["grid"].split(",")[0])] += 1
    return rows


def read_work(db):
    """{api id: [row of what it caused, in order]}"""
    found = collections.defaultdict(list)
    db.row_factory = sqlite3.Row
    for row in db.execute("""
            SELECT l.api_id, l.function, l.op_id, l.place, l.name, l.begin_ns, d.grid_x, c.bytes,
                   c.op_id IS NOT NULL AS is_copy,
                   coalesce(d.correlation, c.correlation) AS correlation,
                   coalesce(d.tid, c.tid) AS tid, coalesce(d.call_ns, c.call_ns) AS call_ns,
                   coalesce(d.stream, c.stream) AS stream, m.name AS range,
                   coalesce(d.submit_ns, c.submit_ns) AS submit_ns, ifnull(d.flags, 0) AS flags,
                   ifnull(c.flags, 0) AS copy_flags
            FROM rtl_api_ops AS l LEFT JOIN rtl_dispatch AS d ON d.op_id = l.op_id
            LEFT JOIN rtl_copy AS c ON c.op_id = l.op_id
            LEFT JOIN rtl_markers AS m ON m.process = l.process
                                       AND m.instance = coalesce(d.range, c.range)
            ORDER BY l.api_id, l.place"""):
        found[row["api_id"]].append(row)
    return found


def key_of(row):
    if row["is_copy"]:
        if row["copy_flags"] & BY_HIP or row["copy_flags"] & REPORTED and (row["bytes"] == COPY_BYTES or
                                             row["function"] == "hipGraphLaunch"):
            return "runtime"
        return "copy", row["bytes"]
    return "runtime" if row["name"].startswith("__amd_") else ("kernel", row["grid_x"])


def without_grids(said, log):
    """What is said, and in the log, where the kernels of graphs have the grid 0."""
    def work_of(function, work):
        if function != "hipGraphLaunch":
            return work
        for what in work:
            if what[0] == "kernel":
                log[what] -= 1
                log["kernel", 0] += 1
        return [("kernel", 0) if what[0] == "kernel" else what for what in work]
    said = {which: (*want[:3], work_of(which[1], want[3])) for which, want in said.items()}
    return said, +log


class Check:
    def __init__(self, unlinked, clock_error_ns):
        self.unlinked, self.problems, self.linked = unlinked, [], collections.Counter()
        self.clock_error_ns = clock_error_ns

    def complain(self, *what):
        self.problems.append(" ".join(map(str, what)))

    def work_of_call(self, call, want, rows):
        around, _, ordered, what = want
        got = [key_of(row) for row in rows]
        self.linked.update(k for k in got if k != "runtime")
        if "runtime" in what:  # however many in a row
            got = [k for i, k in enumerate(got) if k != "runtime" or got[i - 1:i] != [k]]
            good = got == what
        else:
            got = [k for k in got if k != "runtime"]  # a graph's or a launch's own
            what = [] if what == ["none"] else what
            good = got == what if ordered else sorted(got) == sorted(what)
        if not good and not (self.unlinked and not got):
            self.complain(dict(call), "did", what, "linked:", got)
        for place, row in enumerate(rows):
            if (row["place"], row["tid"], row["correlation"]) != (
                    place + 1, call["tid"], call["instance"]) or row["call_ns"] != call["begin_ns"]:
                self.complain("not of its call:", dict(row), dict(call))
            elif row["copy_flags"] & NO_HIP_TIME != NO_HIP_TIME and (
                    row["begin_ns"] + self.clock_error_ns < call["begin_ns"]):
                self.complain("begins before its call:", dict(row), dict(call))
            elif not (row["flags"] & 24 or row["copy_flags"] & CARRIED) and (
                    row["submit_ns"] > call["end_ns"] + self.clock_error_ns):
                self.complain("submitted after its call:", dict(row), dict(call))
            elif row["stream"] != (call["stream"] or 0):
                self.complain("another stream:", dict(row), dict(call))
            elif (row["range"] or "-") != around:
                self.complain("range", around, "expected:", dict(row))
        if call["work"] != len(rows) and not self.unlinked:
            self.complain("said to have submitted", call["work"], dict(call), got)


def main():
    unlinked, reported = sys.argv[1] == "--unlinked", sys.argv[1] == "--reported"
    path, output, log_path = sys.argv[1 + (unlinked or reported):]
    db = sqlite3.connect(path)
    clock_error_ns = db.execute("SELECT max(tick_error_ns) FROM rtl_clock").fetchone()[0]
    check = Check(unlinked, clock_error_ns + TICK_NS)
    said, log, work = read_output(output), read_log(log_path), read_work(db)
    seen, calls = collections.Counter(), {}
    if reported:
        said, log = without_grids(said, log)
    everything = {call["instance"]: call for call in db.execute(
        "SELECT * FROM rtl_calls WHERE domain = 'hip' ORDER BY begin_ns, api_id")}
    for call in everything.values():
        which = call["tid"], call["function"], seen[call["tid"], call["function"]]
        seen[which[:2]] += 1
        calls[which] = call
    for which, want in said.items():
        call = calls.get(which)
        if not call:
            check.complain("not recorded:", which)
            continue
        check.work_of_call(call, want, work[call["api_id"]])
        parent = everything.get(call["parent"])
        if want[1] != (parent["function"] if parent else None):
            check.complain(which, "within", want[1], "recorded:", parent and dict(parent))
    expected = collections.Counter(
        k for _, _, _, what in said.values() for k in what if isinstance(k, tuple))
    for what in set(expected) | set(check.linked) | set(log):
        counts = expected[what], log[what], check.linked[what]
        if what[0] == "copy" and not expected[what]:
            continue  # the runtime's own
        if len(set(counts[:2] if unlinked else counts)) > 1 or counts[2] > counts[0]:
            check.complain(what, "said, in the log, linked:", counts)
    one = db.execute("SELECT (SELECT count(*) FROM rocpd_op), (SELECT count(*) FROM rocpd_api_ops"
                     " AS l JOIN rocpd_api AS a ON a.id = l.api_id JOIN rocpd_op AS o"
                     " ON o.id = l.op_id), (SELECT count(DISTINCT op_id) FROM rocpd_api_ops)")
    if len(set(one.fetchone())) != 1:
        check.complain("operations without one link")
    launched = db.execute("SELECT count(*) FROM kernel").fetchone()[0]
    copied = db.execute("SELECT count(*) FROM copyop").fetchone()[0]
    for text in check.problems[:20]:
        print("hip_causes: %s" % text, file=sys.stderr)
    print("hip_causes: %d calls with work, %d of its pieces in the log, %d linked, "
          "%d in the view kernel, %d in copyop, %d problems" % (
              len(said), sum(expected.values()), sum(check.linked.values()), launched, copied,
              len(check.problems)))
    if not said or not launched or not copied or (not unlinked and not check.linked):
        sys.exit("nothing to compare")
    sys.exit(bool(check.problems))


if __name__ == "__main__":
    main()
