#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hip_graphs.py DATABASE OUTPUT LOG: what rtl says of launches of graphs (tests/programs/hip/graph_launch.hip) is what the
GPU's log has: how often each node ran, how long, and the gap before it."""
import collections
import os
import re
import sqlite3
import statistics
import subprocess
import sys

sys.path.insert(0, os.environ["RTL_PYTHON"])
os.environ["RTL"] = os.environ["RTL_BUILD_DIR"] + "/bin/rtl"

import gpu_log  # pylint: disable=wrong-import-position
import rtl  # pylint: disable=wrong-import-position

WORK = """SELECT a.args, l.api_id, w.name, w.begin_ns, w.end_ns, w.submit_ns, w.queue, w.packet_id FROM rocpd_api_ops AS l
  JOIN rtl_calls AS a USING (api_id) JOIN (
    SELECT op_id, kernel AS name, begin_ns, end_ns, submit_ns, queue, packet_id FROM rtl_dispatches UNION ALL
    SELECT op_id, 'copy', begin_ns, end_ns, submit_ns, 0, 0 FROM rtl_copies) AS w USING (op_id)
  WHERE a.function = 'hipGraphLaunch' ORDER BY l.api_id, w.submit_ns, w.queue, w.packet_id, w.begin_ns"""


def read_launches(database):
    """(executable, names of nodes in order) -> launches, each a list of (begin, end, queue, packet)"""
    launches = collections.defaultdict(list)
    for row in database.execute(WORK):
        launches[row[1], re.search(r"graphExec=(\w+)", row[0]).group(1)].append(row[2:5] + row[6:8])
    kinds = collections.defaultdict(list)
    for (_, executable), works in launches.items():
        kinds[executable, tuple(work[0] for work in works)].append([work[1:] for work in works])
    return kinds


def gap(works, i):
    """Behind what is before it in its queue: copies are in all."""
    before = next((w for w in reversed(works[:i]) if w[2] == works[i][2] or not w[2] or not works[i][2]), None)
    return max(0, works[i][0] - before[1]) if before else None


def path(works):
    """The numbers of the nodes on the critical path of a launch."""
    at = max(range(len(works)), key=lambda i: works[i][1])
    while at is not None:
        yield at
        begin, _, queue, packet = works[at]
        ended = sorted((w[1], i) for i, w in enumerate(works) if w[1] <= begin and i != at)
        own = [i for _, i in ended if works[i][2] == queue]
        behind = queue and own and works[own[-1]][3] + 1 == packet
        at = own[-1] if behind else ended[-1][1] if ended else None


def check(graph, launches):
    """Yields (what, as rtl says, as it is)."""
    spans = [max(w[1] for w in works) - min(w[0] for w in works) for works in launches]
    yield "launches", graph.count, len(launches)
    yield "mean", graph.mean_ns, round(statistics.fmean(spans), 1)
    yield "least", graph.min_ns, min(spans)
    yield "most", graph.max_ns, max(spans)
    paths = [set(path(works)) for works in launches]
    yield "path", sum(part.total_ns for part in graph.path), sum(spans)
    yield "work on the path", sum(part.total_ns for part in graph.path if part.cause == "work"), \
        sum(node.path_ns for node in graph.nodes)
    for i, node in enumerate(graph.nodes):
        yield f"node {i}: path", node.path_ns, sum(w[i][1] - w[i][0] for w, on in zip(launches, paths) if i in on)
        times = [works[i][1] - works[i][0] for works in launches]
        gaps = [gap(works, i) for works in launches if gap(works, i) is not None]
        yield f"node {i}: count", node.count, len(times)
        yield f"node {i}: total", node.total_ns, sum(times)
        yield f"node {i}: mean", node.mean_ns, round(statistics.fmean(times), 1)
        yield f"node {i}: p99", abs(node.p99_ns - sorted(times)[-1 - len(times) // 100]) <= 0.01 * node.p99_ns, True
        yield f"node {i}: gap", node.mean_gap_ns, round(statistics.fmean(gaps), 1) if gaps else None


def check_origins(graph):
    """Yields the same: the program captures the first graph, and adds the nodes of the others."""
    for i, node in enumerate(graph.nodes):
        kind = "kernel" if "graph_" in node.name else "memset" if "fill" in node.name.lower() else "copy"
        call = ({"kernel": "hipLaunchKernel", "copy": "hipMemcpyAsync"} if graph.graph == 1 else
                {"kernel": "hipGraphAddKernelNode", "copy": "hipGraphAddMemcpyNode1D", "memset": "hipGraphAddMemsetNode"})[kind]
        yield f"node {i}: origin", (node.call, node.tid, node.range), (call, graph.pid, "")


def check_rocpd7(database, graphs):
    """The kernels and copies of ROCm 7's rocpd are those of the graphs and nodes, and so are its launches."""
    path = database + ".rocpd7.db"
    subprocess.run([os.environ["RTL"], "convert", database, "-o", path], check=True, stdout=subprocess.DEVNULL)
    nodes, launches = collections.Counter(), collections.Counter()  # of a node how often and long, less what is found
    for graph in graphs:
        launches[graph.graph, sum(node.bytes is None for node in graph.nodes)] += graph.count
        for i, node in enumerate(graph.nodes):
            key = (graph.graph, i + 1, node.name if node.bytes is None else "copy")
            nodes[key, "count"] += node.count
            nodes[key, "total"] += node.total_ns
    with sqlite3.connect(path) as out:
        for *key, count, total in out.execute(
                "SELECT graph_exec_id, graph_node_id, name, count(*), sum(duration) FROM kernels WHERE graph_exec_id "
                "GROUP BY 1, 2, 3 UNION ALL SELECT graph_exec_id, graph_node_id, 'copy', count(*), sum(duration) "
                "FROM memory_copies WHERE graph_exec_id GROUP BY 1, 2"):
            nodes[tuple(key), "count"] -= count
            nodes[tuple(key), "total"] -= total
        seen = collections.Counter(dict((row[:2], row[2]) for row in out.execute(
            "SELECT graph_exec_id, kernel_dispatch_count, count(*) FROM graph_launches GROUP BY 1, 2")))
    yield "rocpd of ROCm 7, nodes", {key: value for key, value in nodes.items() if value}, {}
    yield "rocpd of ROCm 7, launches", seen, launches


def main():
    launches = int(re.search(r"launches=(\d+)", open(sys.argv[2], encoding="utf-8").read()).group(1)) // 2
    with rtl.Trace(sys.argv[1]) as trace:
        graphs = trace.graphs()
    with sqlite3.connect(sys.argv[1]) as database:
        kinds = read_launches(database)
    problems, logged = [], collections.Counter(work[:2] for work in gpu_log.dispatches(sys.argv[3], "graph_"))
    kernels = collections.Counter(tuple(work[:2]) for (_, names), of in kinds.items() for works in of
                                  for name, work in zip(names, works) if "graph_" in name)
    if kernels != logged:
        problems.append(f"kernels: {len(kernels)} recorded, {len(logged)} in the log")
    for graph in graphs:
        names = tuple("copy" if node.bytes is not None else node.name for node in graph.nodes)
        of = kinds.pop((graph.executable, names), None)
        print(f"hip_graphs: {graph.name}: {graph.count} launches, {names}")
        if not of:
            problems.append(f"{graph.name}: no such launches: {graph.executable} {names}")
            continue
        problems += [f"{graph.name}: {what}: {got}, not {want}" for what, got, want in
                     [*check(graph, of), *check_origins(graph)] if got != want]
    problems += [f"not there: {kind}" for kind in kinds]
    problems += [f"{what}: {got}, not {want}" for what, got, want in check_rocpd7(sys.argv[1], graphs) if got != want]
    seen = [(graph.variant, graph.count, sum("graph_" in node.name for node in graph.nodes))
            for graph in sorted(graphs, key=lambda g: (g.graph, g.variant))]
    if seen != [(1, launches, 4), (1, launches, 3), (1, 2, 2), (2, launches - 2, 2)]:
        problems.append(f"variants, launches, kernels: {seen}")
    text = subprocess.run([os.environ["RTL"], "summary", sys.argv[1]], capture_output=True, check=True, text=True,
                          env={**os.environ, "COLUMNS": "50"}).stdout
    if "\nNodes of graph 3, 2 nodes, variant 2 (process " not in text or "  void graph_mul" in text:
        problems.append(f"the variant is not in the text, or short names have a result: {text}")
    lines = text.split("\n")
    latency, = [i for i, line in enumerate(lines) if line.startswith("Launch latency")]
    if "total" in lines[latency + 1] or any(len(line) > 80 for line in lines if line.startswith("GPU 1 (")):
        problems.append(f"latencies are summed up, or the line of the GPU is too long: {text}")
    sys.exit("\n".join("hip_graphs: %s" % problem for problem in problems) or 0)


if __name__ == "__main__":
    main()
