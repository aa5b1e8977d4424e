#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the times that `timing ... print` has read by HIP events with the software GPU's log.

    elapsed_compare.py LOG OUTPUT [--tick NS]

- `copy I MS`: events around the copy of 1 MiB + 4 KiB * I bytes.
- `around I MS`, then `within I MS`: events around a kernel, and those of an extended launch, which
  HIP records by packets of their own before and after the kernel.

Each time must be as long as the GPU took, or longer (the program itself says when one is too long
for its run). Exit status 0: all are.
"""
import argparse
import re
import sys

PAIR = re.compile(r"(\w+)=(\S*)")
MIB = 1 << 20


def read_log(path):
    """({bytes: ns of the transfer}, [ns of the program's kernels in their order])"""
    transfers, kernels = {}, []
    with open(path, errors="replace") as file:
        for line in file:
            if line.startswith("#"):
                continue
            row = dict(PAIR.findall(line))
            kind = row.get("kind")
            if kind == "transfer" and int(row["bytes"]) >= MIB:
                if int(row["bytes"]) in transfers:
                    sys.exit("two transfers of %s bytes" % row["bytes"])
                transfers[int(row["bytes"])] = int(row["end"]) - int(row["start"])
            elif kind == "dispatch" and "timing_step" in row["name"]:
                kernels.append((int(row["start"]), int(row["end"])))
    return transfers, [end - start for start, end in sorted(kernels)]


def read_output(path):
    times = {"copy": [], "around": [], "within": []}
    with open(path) as file:
        for line in file:
            words = line.split()
            if words[0] in times and words[-1] == "ms":
                assert int(words[1]) == len(times[words[0]])
                times[words[0]].append(float(words[2]) * 1e6)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log")
    parser.add_argument("output")
    parser.add_argument("--tick", type=int, default=10)
    args = parser.parse_args()
    transfers, kernels = read_log(args.log)
    times = read_output(args.output)
    by_program = times["copy"] + times["around"] + times["within"]
    by_gpu = [transfers[MIB + 4096 * i] for i in range(len(times["copy"]))] + kernels
    if not times["copy"] or not times["within"] or len(by_program) != len(by_gpu):
        sys.exit("%d copies, %d + %d kernels timed; %d transfers and %d kernels in the log"
                 % (*map(len, times.values()), len(transfers), len(kernels)))
    wrong = [i for i in range(len(by_gpu)) if by_program[i] < by_gpu[i] - 2 * args.tick]
    for i in wrong:
        print("time %d: the program has read %.0f ns, the GPU's log says %d"
              % (i, by_program[i], by_gpu[i]))
    print("times read: %d, too short: %d" % (len(by_program), len(wrong)))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
