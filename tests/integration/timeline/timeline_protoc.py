#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
timeline_protoc.py PROGRAM RTL SQLITE-PLUGIN JSON-PLUGIN: protoc reads what the subscriber and `rtl convert`
write of awkward names, by timeline.proto: every field is one that it knows, each text is UTF-8, and what it
writes of it again is the same trace.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

import pftrace

PROGRAM, RTL, SQLITE, JSON = sys.argv[1:]
HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77


def protoc(way, data):
    done = subprocess.run(["protoc", f"--{way}=timeline.Trace", f"--proto_path={HERE}",
                           os.path.join(HERE, "timeline.proto")], input=data,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


def check(path):
    with open(path, "rb") as file:
        text = protoc("decode", file.read())
    unknown = re.findall(rb"^ *\d+[: ].*", text, re.MULTILINE)
    assert not unknown, unknown[:3]
    trace = pftrace.Trace(path)
    kinds = [len(re.findall(rb"^ *type: TYPE_" + kind, text, re.MULTILINE))
             for kind in (b"SLICE_BEGIN", b"SLICE_END", b"INSTANT")]
    assert kinds[0] == kinds[1] and kinds[0] + kinds[2] == len(trace.slices) > 50, kinds
    with open(path + ".again", "wb") as file:
        file.write(protoc("encode", text))
    again = pftrace.Trace(path + ".again")
    assert again.slices == trace.slices and again.tracks == trace.tracks
    assert again.counters == trace.counters


def main():
    if not shutil.which("protoc"):
        print("SKIPPED: there is no protoc (protobuf-compiler)")
        return SKIPPED
    folder = tempfile.mkdtemp(prefix="rtl-timeline-")
    try:
        database, live, converted = (os.path.join(folder, name) for name in
                                     ("a.db", "a.pftrace", "b.pftrace"))
        subprocess.run([PROGRAM, SQLITE, database, JSON, live], check=True)
        subprocess.run([RTL, "convert", database, "-o", converted], check=True,
                       stdout=subprocess.DEVNULL)
        check(live)
        check(converted)
        return 0
    finally:
        shutil.rmtree(folder)


sys.exit(main())
