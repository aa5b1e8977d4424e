#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hip_under_way.py RUNNER PROGRAM [MOMENTS]: at random moments of a program, and when a kernel hangs or faults, what is under way is what the program
has submitted and the GPU's log does not have as ended: in `rtl status`, after SIGKILL and abort, after `rtl recover`. RTL_BUILD_DIR is the build.
Exit status 77: skipped."""
import array
import collections
import glob
import json
import mmap
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

RTL = os.path.join(os.environ["RTL_BUILD_DIR"], "bin", "rtl")
NUMBERS, COPY = 1 << 17, 1 << 20
WAYS = "kill abort recover hang-kill hang-abort hang-recover vm ill hw".split()


def rtl(*arguments):
    return subprocess.run([RTL, *arguments], stdout=subprocess.PIPE, text=True, timeout=100, check=True).stdout


def wait_until(fn):
    for _ in range(6000):
        if fn():
            return
        time.sleep(0.01)
    raise AssertionError("waited for a minute in vain: %s" % fn.__name__)


class Run:
    """A traced program, and what is known of it."""

    def __init__(self, runner, program, way, scratch):
        self.problems, self.scratch, self.pid = [], scratch, 0
        self.spins = (runner, way) == ("softgpu", "vm")
        os.environ["RTL_SPOOL"] = scratch
        self.mode = random.choice(("standard", "hip", "hip"))
        self.in_process = way.endswith("recover") and random.choice((False, True))
        self.log, self.db = os.path.join(scratch, "log"), os.path.join(scratch, "run.db")
        counts = os.path.join(scratch, "counts")
        with open(counts, "wb+") as file:
            file.truncate(136 + 24 * NUMBERS)
            self.counts = mmap.mmap(file.fileno(), 0)
        fault = {} if way in WAYS[:3] else {"SOFTGPU_FAULT": "%s:work@%d" % (way.split("-")[0], random.randint(1, 1500))}
        self.child = subprocess.Popen(
            [RTL, "trace", "-q", "--mode", self.mode, *["--in-process"] * self.in_process, "-o", self.db, *program, counts], stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, SOFTGPU_LOG=self.log, SOFTGPU_KERNEL_NS=random.choice(("0", "100000", "1000000")), **fault))
        self.began = random.randint(1, 3000)

    def counted(self, place):
        """Of kernels and copies, by number, and the numbers of graphs in order; place 0: begun, 1: returned."""
        at = 136 + 12 * NUMBERS * place
        found = [(i // NUMBERS, i % NUMBERS) for i, n in enumerate(array.array("I", self.counts[at:at + 12 * NUMBERS])) for _ in range(n)]
        graphs = [n for kind, n in found if kind == 2]
        return collections.Counter([key for key in found if key[0] < 2] + [(0, n % 8 + i) for n in graphs for i in (0, 8, 16)]), graphs

    def ended(self):
        """By the log."""
        found = collections.Counter()
        with open(self.log, errors="replace") as file:
            for line in file:
                row = re.match(r"gpu=.* kind=dispatch .* grid=(\d+),.* name=_Z4work|gpu=.* kind=transfer .* bytes=(\d+)", line)
                if row and (row[1] or int(row[2]) >= COPY):
                    found[(0, int(row[1]) // 64 - 1) if row[1] else (1, (int(row[2]) - COPY) // 4)] += 1
        return found

    def process(self):
        """What is said of the process that lives."""
        said = json.loads(rtl("info", "--json", *glob.glob(self.scratch + "/rtl-*")) if self.in_process else rtl("status", "--json", str(self.child.pid)))
        processes = said["processes"] if self.in_process else [p for s in said["sessions"] for p in s["processes"]]
        self.pid = processes[-1]["pid"]
        return processes[-1]

    def compare(self, under_way, published=None, exact=False):
        """Counters, of what rtl has under way, and has as ended."""
        (begun, _), (returned, graphs), ended = self.counted(0), self.counted(1), self.ended()
        known = under_way + (published or collections.Counter())
        # Behind a packet that another thread is about to write in the same queue, the last kernels of a stream have not been passed on.
        if begun - returned and not exact:
            last = {n % 8: n for kind, n in sorted(known | ended) if kind == 0 and n >= 24}
            for (kind, n), count in (returned - ended - under_way).items():
                first = n if n >= 24 else [g for g in graphs if g % 8 == n % 8][-count]
                if kind == 0 and first > last.get(n % 8, 0):
                    returned[(kind, n)] -= count
        problems = [("not under way", returned - ended - under_way), ("never submitted", known - begun),
                    ("ended, says the log", exact and under_way - (begun - ended)),
                    ("ended, says rtl alone", published and published - ended), ("lost", published is not None and (returned | ended) - known)]
        self.late = sum((under_way & ended).values())
        return ["%s: %s" % (what, dict(numbers.most_common(5))) for what, numbers in problems if numbers]

    def status(self, exact=False):
        """What `rtl status` has under way; its problems are noted."""
        found = collections.Counter()
        for u in self.process()["unfinished"]:
            if u["name"] == "work(char*)" or u.get("bytes", 0) >= COPY:
                found[self.key(u.get("grid_x"), u.get("bytes"), u["hip_stream"], u["tid"])] += 1
        return found, self.compare(found, exact=exact)

    def key(self, grid, size, stream, tid):
        """Of a kernel or copy, which is its stream's, and its thread's."""
        key = (0, grid // 64 - 1) if grid else (1, (size - COPY) // 4)
        place = key[1] % 8 * 8
        expected = [int.from_bytes(self.counts[at + place:at + place + 8], "little") for at in (0, 64)]
        if self.mode == "hip" and [stream, tid] != expected:
            self.problems.append("number %s: of stream %#x, thread %d, not %s" % (key, stream, tid, expected))
        return key

    def stored(self):
        """What the trace has under way, and as ended."""
        with sqlite3.connect(self.db) as db:
            under_way = collections.Counter(self.key(*row) for row in db.execute(
                "SELECT grid_x, bytes, stream, tid FROM rtl_under_way WHERE kernel = 'work(char*)' OR bytes >= ?", (COPY,)))
            published = collections.Counter((0, x // 64 - 1) for x, in db.execute("SELECT grid_x FROM rtl_dispatches WHERE kernel = 'work(char*)'"))
            published.update((1, (b - COPY) // 4) for b, in db.execute("SELECT bytes FROM rtl_copies WHERE bytes >= ?", (COPY,)))
        return under_way, published

    def oldest(self):
        """What the summary begins with: what the trace has under way for longest, any of those submitted at once."""
        return [line for line, in sqlite3.connect(self.db).execute(
            "SELECT printf('under way when the process ended: %s on queue %d (thread %d, for ', kernel, queue, tid)"
            " FROM (SELECT *, max(age_ns) OVER () AS most FROM rtl_under_way WHERE queue) WHERE age_ns = most")]

    def end(self, way):
        """Ends it that way, if it does not end by itself."""
        if way.endswith("recover"):
            self.child.kill()
        if way == "hang-abort":
            self.counts[132] = 1
        elif way.split("-")[-1] in ("kill", "recover", "abort"):
            os.kill(self.pid, signal.SIGABRT if way == "abort" else signal.SIGKILL)
        try:
            said = self.child.communicate(timeout=20 if self.spins else 100)[1]
            self.problems += ["said: " + said] * ("LOST" in said)
        except subprocess.TimeoutExpired:
            # Whoever waits for a signal that somebody waits for already spins for ever in ROCr 5.2: its thread for events, too, which then
            # never asks for faults. That is so without rtl as well.
            assert self.spins and " fault=vm" in open(self.log, errors="replace").read(), "has not ended"
            self.problems += self.status(True)[1]
            os.kill(self.pid, signal.SIGKILL)
            self.child.communicate(timeout=100)
        if way.endswith("recover"):
            # the process may still hold the folder
            wait_until(lambda: not subprocess.run([RTL, "recover", "-o", self.db, *glob.glob(self.scratch + "/rtl-*")], timeout=100,
                                                  stderr=subprocess.DEVNULL).returncode)

    def hung(self):
        """It has stopped, and but for what hangs the GPU has nothing to do."""
        wait_until(lambda: os.path.exists(self.log) and " fault=" in open(self.log, errors="replace").read())
        self.counts[128] = 1
        wait_until(lambda: not self.status(True)[1])
        said = rtl("info", *glob.glob(self.scratch + "/rtl-*")) if self.in_process else rtl("status")
        if not re.search(r"^  (under way on )?GPU 1, queue \d: kernel work\(char\*\), grid \d+x1x1, ", said, re.M):
            self.problems.append("not said: %s" % said)


def moment(runner, program, way, scratch):
    run = Run(runner, program, way, scratch)
    said = None
    if way.startswith("hang"):
        run.hung()
        said = run.status(True)
    elif way in WAYS[:3]:
        wait_until(lambda: run.child.poll() is not None or sum(run.counted(1)[0].values()) >= run.began)
        time.sleep(random.random() / 50)
        run.process()
        os.kill(run.pid, signal.SIGSTOP)
        wait_until(lambda: "State:\tT" in open("/proc/%d/status" % run.pid).read())
        said = run.status()
    if said:
        run.problems += said[1]
        if way == "abort":
            os.kill(run.pid, signal.SIGCONT)
    run.end(way)
    under_way, published = run.stored()
    run.problems += run.compare(under_way, published)
    if way.startswith("hang") and not any(line in rtl("summary", run.db) for line in run.oldest()):
        run.problems.append("the summary does not say so: %s" % run.oldest())
    if said and way != "abort" and under_way != said[0]:
        run.problems.append("status and trace differ: %s, %s" % (said[0] - under_way, under_way - said[0]))
    return ["%s, %s%s: %s" % (way, run.mode, ", in the process" if run.in_process else "", p) for p in run.problems], sum(under_way.values()), run.late


def main():
    program = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", sys.argv[1], "run"), sys.argv[2]]
    moments = int(sys.argv[3]) if len(sys.argv) > 3 else len(WAYS)
    ways = [way for way in WAYS if way != "hw" or sys.argv[1] != "softgpu"]
    problems, total, late = [], 0, 0
    for i in range(moments):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as scratch:
            way, seed = ways[i % len(ways)], random.getrandbits(32)
            random.seed(seed)
            print("hip_under_way: moment %d: %s, seed %d" % (i, way, seed), flush=True)
            found = moment(sys.argv[1], program, way, scratch)
        for problem in found[0]:
            print("hip_under_way: moment %d: %s" % (i, problem), flush=True)
        problems, total, late = problems + found[0], total + found[1], late + found[2]
    print("hip_under_way: %d moments, %d kernels under way, of which %d had just ended; %d problems" % (moments, total, late, len(problems)))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
