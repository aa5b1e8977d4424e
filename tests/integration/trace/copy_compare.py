# SPDX-License-Identifier: MIT
"""Compares copies that were traced with the software GPU's log, row by row.

For hsa_compare.py and compare_trace.py. What an SDMA engine did has a `transfer` row in the log:
same GPU, bytes, addresses and times, each exactly once. What a kernel of the runtime did has a
`rocr_copy...` dispatch there: same GPU and times; of a synchronous call it lies within the call.
The runtime uses such kernels for itself as well (code objects, its own memory): these complete
signals of its own, which it keeps. So a row that is left over is one of those only if its signal
is none that a traced copy's kernel has completed.
"""
import re
from collections import defaultdict

PAIR = re.compile(r"(\w+)=(\S*)")
NO_TIME, SDMA, BLIT, FAILED, CALL_TIME, HIP = 2, 4, 8, 16, 32, 128


def read_log(path):
    """(transfers, kernels of the runtime that copy or fill): dicts with numbers."""
    transfers, kernels = [], []
    with open(path, errors="replace") as file:
        for line in file:
            transfer = " kind=transfer " in line
            if not transfer and not re.search(r" name=rocr_(copy|fill)", line):
                continue
            row = dict(PAIR.findall(line))
            kept = {key: int(row[key]) for key in ("pid", "gpu", "start", "end")}
            kept["signal"] = int(row["signal"], 16)
            if transfer:
                kept.update(bytes=int(row["bytes"]), src=int(row["src"], 16),
                            dst=int(row["dst"], 16))
            (transfers if transfer else kernels).append(kept)
    return transfers, kernels


def is_near(copy, row, tick):
    return abs(copy["begin"] - row["start"]) <= tick and abs(copy["end"] - row["end"]) <= tick


def take(rows, fits):
    """Takes out the first row that fits; None: there is none."""
    for i, row in enumerate(rows):
        if fits(row):
            return rows.pop(i)
    return None


def transfer_key(row):
    return row["gpu"], row["bytes"], row["src"], row["dst"]


def compare_sdma(copies, transfers, tick, complain, cut):
    by_key = defaultdict(list)
    for row in transfers:
        by_key[transfer_key(row)].append(row)
    for copy in copies:
        if not take(by_key[transfer_key(copy)], lambda row: is_near(copy, row, tick) and
                    copy.get("pid", row["pid"]) == row["pid"]):
            complain(f"not in the log: {copy}")
    for rows in by_key.values() if not cut else ():
        for row in rows:
            complain(f"not traced: {row}")


def compare_kernels(copies, calls, kernels, tick, complain, cut):
    by_gpu = defaultdict(list)
    for row in sorted(kernels, key=lambda row: row["start"]):
        by_gpu[row["gpu"]].append(row)
    signals = set()
    for copy in copies:
        row = take(by_gpu[copy["gpu"]], lambda row: is_near(copy, row, tick))
        if row:
            signals.add((row["pid"], row["signal"]))
        else:
            complain(f"no kernel for it in the log: {copy}")
    for call in calls:
        if not take(by_gpu[call["gpu"]], lambda row: call["begin"] <= row["start"] + tick and
                    row["end"] <= call["end"] + tick):
            complain(f"no kernel within the call in the log: {call}")
    for rows in by_gpu.values() if not cut else ():
        for row in rows:
            if (row["pid"], row["signal"]) in signals:
                complain(f"not traced: {row}")


def compare(copies, path, tick, complain, cut=False, shared=()):
    """copies: dicts with gpu, bytes, src, dst, begin, end, flags, and pid if that is known. cut:
    the trace may lack some. shared: signals that several copies have, which have no times then. Returns how many
    the log has of those that an SDMA engine did."""
    transfers, kernels = read_log(path)
    timed = [c for c in copies if not c["flags"] & (FAILED | NO_TIME | HIP)]
    begins = {c["begin"] // tick + i for c in timed for i in (-1, 0, 1)}

    def is_untimed(row, copy):
        return row["signal"] == copy["signal"] and row["start"] // tick not in begins

    for copy in copies:
        if copy["flags"] & NO_TIME and copy["gpu"] and not copy["flags"] & FAILED and not (
                copy.get("signal") in shared and
                (take(transfers, lambda row: transfer_key(row) == transfer_key(copy) and
                      is_untimed(row, copy)) or
                 take(kernels, lambda row: is_untimed(row, copy)))):
            complain(f"no times: {copy}")
    compare_sdma([c for c in timed if c["flags"] & SDMA], transfers, tick, complain, cut)
    compare_kernels([c for c in timed if c["flags"] & BLIT and c["gpu"] and
                     not c["flags"] & CALL_TIME],
                    [c for c in timed if c["flags"] & CALL_TIME], kernels, tick, complain,
                    cut)
    return len(transfers)
