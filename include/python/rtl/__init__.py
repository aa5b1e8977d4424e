# SPDX-License-Identifier: MIT
"""
rtl in Python: traces to read, and marks and regions of Python programs in the trace of their run. Needs the
standard library alone; tables are pandas.DataFrame where pandas is asked for.

    import rtl

    with rtl.Trace("run.db") as trace:
        for kernel in trace.kernels():
            print(kernel.name, kernel.duration_ns, kernel.call and kernel.call.name)

    with rtl.region("forward"):
        rtl.mark("loss", 0.25)
"""

from ._regions import enabled, mark, region
from ._trace import (Call, Copy, Gpu, Graph, GraphNode, Idle, Kernel, LeftOut, Loss, Marker, PathPart, Process, Step,
                     Trace, TraceError)

__all__ = ["Call", "Copy", "Gpu", "Graph", "GraphNode", "Idle", "Kernel", "LeftOut", "Loss", "Marker", "PathPart", "Process",
           "Step", "Trace", "TraceError", "enabled", "mark", "region"]
