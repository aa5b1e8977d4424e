# SPDX-License-Identifier: MIT
"""What tests of timelines share: reading them, strictly."""

import collections
import gzip
import json
import zlib


def no_twice(pairs):
    """For json: no key comes twice."""
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), keys
    return dict(pairs)


def load(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        return json.loads(file.read().decode("utf-8"), object_pairs_hook=no_twice)


def load_cut(path):
    """One whose writer was killed, closed behind its last whole item; None: it has not even begun."""
    with open(path, "rb") as file:
        data = file.read()
    members, data = (data, b"") if path.endswith(".gz") else (b"", data)
    while members:
        inflater = zlib.decompressobj(31)
        data += inflater.decompress(members)
        members = inflater.unused_data
    if data.endswith(b"\n"):  # it was closed
        return json.loads(data, object_pairs_hook=no_twice)
    end = len(data) if data.endswith(b"}") else data.rfind(b",\n")
    return json.loads(data[:end] + b"]}", object_pairs_hook=no_twice) if b"[\n" in data[:end] else None


def plain(text):
    """What the rocpd schema's texts are without: quotes, backslashes, control characters."""
    return "".join("'" if c == '"' else "/" if c == "\\" else " " if c < " " or c == "\x7f" else c
                   for c in text)


def check_nesting(events):
    """Slices of a track lie within each other, or apart."""
    tracks = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            begin = round(event["ts"] * 1000)
            tracks[event["pid"], event["tid"]].append((begin, -(begin + round(event["dur"] * 1000))))
    for slices in tracks.values():
        stack = []
        for begin, end in sorted(slices):
            while stack and stack[-1] <= begin:
                stack.pop()
            assert not stack or -end <= stack[-1], "slices overlap"
            stack.append(-end)
