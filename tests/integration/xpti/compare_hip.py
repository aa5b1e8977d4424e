#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare_hip.py DATABASE RECORD: whether kernels and copies name the node that xpti_hip has made them for."""
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
told = sorted(tuple(map(int, line.split())) for line in open(sys.argv[2]))
kernels = sorted(db.execute(
    "SELECT n.node, d.grid_x, n.line FROM rtl_node_ops AS n JOIN rtl_dispatch AS d USING (op_id)"))
copies = sorted(row[0] for row in db.execute(
    "SELECT n.node FROM rtl_node_ops AS n JOIN rtl_copy AS c USING (op_id)"))
edges = db.execute(
    "SELECT count(*) FROM rtl_edge AS e JOIN rtl_node AS a ON a.id = e.source AND a.process = e.process"
    " JOIN rtl_node AS b ON b.id = e.target AND b.process = e.process WHERE b.line = a.line + 1").fetchone()[0]
alone = db.execute("SELECT count(*) FROM rtl_dispatches WHERE kernel LIKE 'alone%'").fetchone()[0]
mode = db.execute("SELECT value FROM rtl_meta WHERE key = 'mode'").fetchone()[0]
ranges = db.execute("SELECT count(*) FROM rtl_markers WHERE name = 'within'").fetchone()[0]
wrong = []
if kernels != [row[:3] for row in told]:
    wrong.append(f"kernels: told {[row[:3] for row in told]}, found {kernels}")
if copies != [row[0] for row in told if row[3]]:
    wrong.append(f"copies: told {[row[0] for row in told if row[3]]}, found {copies}")
if edges != len(told) - 2:
    wrong.append(f"{edges} edges between nodes that follow each other, not {len(told) - 2}")
if alone != len(told):
    wrong.append(f"{alone} kernels outside of any task, not {len(told)}")
if ranges != (0 if mode == "standard" else 12):
    wrong.append(f"{ranges} ranges within tasks in mode {mode}")
for line in wrong:
    print("compare_hip.py: " + line, file=sys.stderr)
sys.exit(1 if wrong or not told else 0)
