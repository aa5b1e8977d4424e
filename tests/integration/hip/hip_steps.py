#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hip_steps.py DATABASE OUTPUT LOG: the critical paths of ranges (tests/programs/hip/steps.hip) are what the program knows:
kernels as long as the GPU's log has them, waits by when the work was submitted, the rest on the host."""
import collections
import os
import sys

sys.path.insert(0, os.environ["RTL_PYTHON"])
os.environ["RTL"] = os.environ["RTL_BUILD_DIR"] + "/bin/rtl"

import gpu_log  # pylint: disable=wrong-import-position
import rtl  # pylint: disable=wrong-import-position


def main():
    kernels = collections.defaultdict(list)  # blocks -> (begin, end), as the GPU ran them
    for begin, end, blocks in gpu_log.dispatches(sys.argv[3], "work"):
        kernels[blocks].append((begin, end))
    with rtl.Trace(sys.argv[1]) as trace:
        steps = {step.name: step for step in trace.steps()}
        ranges = collections.defaultdict(list)
        for marker in trace.markers():
            ranges[marker.name].append(marker)
        submitted = {kernel.begin_ns: kernel.submit_ns for kernel in trace.kernels()}
        queue = {kernel.begin_ns: kernel.queue for kernel in trace.kernels()}
    want = collections.Counter()

    def walk(step, work, earlier):
        """The chain back from a kernel, of those that may have been before it; else the host was late."""
        want[step, "work"] += work[1] - work[0]
        submit = submitted[work[0]]
        before = max((e for e in earlier if submit < e[1] <= work[0]), key=lambda e: e[1], default=None)
        late = "behind_queue" if before and queue[before[0]] != queue[work[0]] else "launch_latency"
        want[step, late] += work[0] - (before[1] if before else submit)
        if before:
            walk(step, before, [e for e in earlier if e is not before])

    for aside, first, last in zip(kernels[3], kernels[1], kernels[2]):
        walk("chain", last, [aside, first])
    for first, last in zip(kernels[4], kernels[5]):
        walk("alone", last, [first])
    problems = []
    for name in ("chain", "alone", "ahead", "asleep"):
        path, whole = steps[name].path, sum(marker.duration_ns for marker in ranges[name])
        got = collections.Counter()
        for part in path:
            got[part.cause] += part.total_ns
            print(f"hip_steps: {name}: {part.cause} {part.work or part.function or part.range}: {part.total_ns}")
        checks = [("sum", sum(got.values()), whole), ("launches", len(ranges[name]), len(kernels[1]))]
        checks += [(cause, got[cause], want[name, cause]) for cause in ("work", "launch_latency", "behind_queue")]
        checks.append(("unknown", {"unknown", "not_submitted", "filtered", "lost"} & set(got), set()))
        problems += [f"{name}: {what}: {is_so}, not {should}" for what, is_so, should in checks if is_so != should]
    asleep = sum(part.total_ns for part in steps["alone"].path if part.range == "asleep")
    slept = sum(marker.duration_ns for marker in ranges["asleep"])
    if not 0.5 * slept <= asleep <= slept:
        problems.append(f"asleep: {asleep} of {slept}")
    for problem in problems:
        print(f"hip_steps: {problem}", file=sys.stderr)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
