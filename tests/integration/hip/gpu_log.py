# SPDX-License-Identifier: MIT
"""The software GPU's log."""
import re


def dispatches(path, name):
    """(begin, end, blocks of 64) of the kernels whose mangled names contain that, in the order of their begins."""
    with open(path, encoding="utf-8", errors="replace") as file:
        rows = (dict(re.findall(r"(\w+)=(\S*)", line)) for line in file)
        return sorted((int(row["start"]), int(row["end"]), int(row["grid"].split(",")[0]) // 64) for row in rows
                      if row.get("kind") == "dispatch" and name in row["name"])
