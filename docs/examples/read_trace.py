#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Prints the slowest kernels of a trace, the calls that launched most of them, and what was lost.

    rtl trace -o run.db ./app
    python3 read_trace.py run.db
"""

import collections
import sys

import rtl


def show(path):
    with rtl.Trace(path) as trace:
        print("state:", trace.facts().get("state", "not known"))
        kernels = collections.defaultdict(list)
        for kernel in trace.kernels():
            kernels[kernel.name].append(kernel.duration_ns)
        for name, times in sorted(kernels.items(), key=lambda item: -sum(item[1]))[:10]:
            print(f"kernel {name}: {len(times)} times, {sum(times)} ns")

        # A link is the id of a call, and the id of a kernel that it caused.
        launched = collections.Counter(trace.call(call).name for call, _ in trace.links())
        total = collections.Counter(call.name for call in trace.calls())
        for name, count in total.most_common(10):
            print(f"call {name}: {count} times, {launched[name]} pieces of work on a GPU")

        for loss in trace.losses() or ["nothing"]:
            print("lost:", loss)
        for left_out in trace.left_out():
            print("not selected:", left_out)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: read_trace.py TRACE")
    try:
        show(sys.argv[1])
    except rtl.TraceError as error:
        sys.exit(f"read_trace.py: {error}")
