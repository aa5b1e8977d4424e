#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hip_order.py DATABASE OUTPUT LOG: rebuilds, from a trace alone, what a program's streams waited for
(tests/programs/hip/streams_events.hip), as a consumer of the database would: calls of HIP with
their arguments, the work linked to them, and the stream of each.

hipEventRecord marks what its stream had been given by then, hipStreamWaitEvent makes another stream's
later work wait for that mark. The rebuilt graph must be the one that the program makes, and no
kernel or copy may have begun before one that it waited for had ended. Exit status 0: so it is.
"""
import collections
import re
import sqlite3
import sys

TICK_NS = 1000  # a tick of the GPU's clock, and what its conversion adds


def argument(args, name):
    return re.search(r"\b%s=([^,]*)" % name, args)[1]


def read_calls(db):
    """[(function, arguments, stream, [(what, begin, end)])], in the order of the calls."""
    work = collections.defaultdict(list)
    for api, name, kind, begin, end in db.execute(
            "SELECT api_id, name, type, begin_ns, end_ns FROM rtl_api_ops ORDER BY api_id, place"):
        work[api].append((name or kind, begin, end))
    return [(function, args, stream, work[api]) for api, function, args, stream in db.execute(
        "SELECT api_id, function, args, stream FROM rtl_calls WHERE domain = 'hip' ORDER BY begin_ns")]


def rebuild(calls):
    """Each piece of work with those that it waited for: (name, stream, begin, end, [before])."""
    done = collections.defaultdict(list)    # stream: what it was given
    marks = {}                              # event: what lies before it
    waits = collections.defaultdict(list)   # stream: marks that its next work waits for
    pieces, edges = [], 0
    for function, args, stream, work in calls:
        if function == "hipEventRecord":
            marks[argument(args, "event")] = list(done[stream][-1:]) + waits[stream]
        elif function == "hipStreamWaitEvent":
            waits[stream] += marks.get(argument(args, "event"), [])
            edges += 1
        for name, begin, end in work:
            before = waits.pop(stream, []) + done[stream][-1:]
            piece = (name, stream, begin, end, before)
            pieces.append(piece)
            done[stream].append(piece)
    return pieces, edges


def check(pieces, edges, streams, rounds):
    wrong = []
    produced = [p for p in pieces if "produce" in p[0]]
    scaled = [p for p in pieces if "scale" in p[0]]
    copied = [p for p in pieces if "scale" not in p[0] and "produce" not in p[0]]
    if (len(produced), len(scaled), edges) != (rounds, rounds * streams, 2 * rounds * streams):
        wrong.append(f"{len(produced)} produced, {len(scaled)} scaled, {edges} waits")
    if len(copied) != rounds * streams:
        wrong.append(f"{len(copied)} copies")
    if len({p[1] for p in produced}) != 1 or len({p[1] for p in scaled}) != streams:
        wrong.append("not the streams that the program has")
    for i, (name, stream, begin, _, before) in enumerate(pieces):
        for other in before:
            if begin + TICK_NS < other[3]:
                wrong.append(f"{i}: {name} began {other[3] - begin} ns before the end of {other[0]}")
    for piece in scaled:  # for the producer's stream, and for its own
        if not any("produce" in other[0] for other in piece[4]):
            wrong.append(f"{piece[0]} of stream {piece[1]} waited for no producer")
    for piece in produced[1:]:  # for all of the round before
        if len([other for other in piece[4] if "scale" in other[0]]) != streams:
            wrong.append(f"a producer waited for {[other[0] for other in piece[4]]}")
    for piece in copied:  # behind its own kernel
        if [other[0] for other in piece[4] if other[1] == piece[1]] == []:
            wrong.append(f"{piece[0]} has nothing before it on its stream")
    return wrong


def main():
    db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
    with open(sys.argv[2], encoding="utf-8") as output:
        said = re.search(r"streams=(\d+) rounds=(\d+)", output.read())
    pieces, edges = rebuild(read_calls(db))
    wrong = check(pieces, edges, int(said[1]), int(said[2]))
    for line in wrong[:20]:
        print(line, file=sys.stderr)
    print(f"{len(pieces)} pieces of work, {edges} waits, {len(wrong)} differences")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
