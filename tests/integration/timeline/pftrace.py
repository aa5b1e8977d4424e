# SPDX-License-Identifier: MIT
"""
Reads Perfetto's protobuf as far as timelines use it, strictly: by the numbers of the fields in
perfetto's trace_packet.proto and track_event.proto. A packet that is cut off ends a file.
"""

import struct

CATEGORY, NAME, KEY = 1, 2, 3  # tables of names


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def fields(data):
    """(number, value) of a message: ints for varints and fixed64, bytes for the rest."""
    at, found = 0, []
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif tag & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            assert len(value) == length, "a message is cut off"
        else:
            raise ValueError(f"kind {tag & 7} of field {tag >> 3}")
        found.append((tag >> 3, value))
    return found


def packets(data):
    at = 0
    while at < len(data):
        try:
            tag, at = varint(data, at)
            assert tag == 1 << 3 | 2, f"no packet at {at}"
            length, at = varint(data, at)
        except IndexError:
            return
        if at + length > len(data):
            return
        yield data[at:at + length]
        at += length


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def annotation(data, names):
    """A key and its value."""
    key = value = None
    for number, content in fields(data):
        if number == 1:
            key = names[KEY, content]
        elif number == 2:
            value = bool(content)
        elif number == 4:
            value = signed(content)
        elif number == 5:
            value = struct.unpack("<d", struct.pack("<Q", content))[0]
        elif number == 6:
            value = content.decode("utf-8")
        elif number == 7:
            value = hex(content)
        else:
            value = content
    return key, value


class Trace:
    """tracks: uuid -> {name, parent, pid...}; slices: as X of Chrome's, with their track."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        self.tracks, self.slices, self.counters, self.names = {}, [], [], {}
        self.open = {}
        events = []
        for place, packet in enumerate(packets(data)):
            events += self.packet(place, fields(packet))
        # as its readers do: by time, then by place in the file
        for time, _, event in sorted(events, key=lambda e: e[:2]):
            self.event(time, event)
        assert not any(self.open.values()), "a slice has no end"

    def packet(self, place, content):
        found = dict(content)
        sequence = found.get(10)
        assert sequence is None or sequence > 0
        if found.get(13) == 1:
            self.names[sequence] = {}
        for table, entry in fields(found.get(12, b"")):
            parts = dict(fields(entry))
            self.names[sequence][table, parts[1]] = parts[2].decode("utf-8")
        if 60 in found:
            self.track(fields(found[60]))
        if 11 not in found:
            return []
        assert found[13] == 2
        return [(found[8], place, self.decoded(fields(found[11]), self.names[sequence]))]

    def track(self, content):
        parts = dict(content)
        track = self.tracks.setdefault(parts[1], {})
        track["parent"] = parts.get(5)
        if 2 in parts:
            track["name"] = parts[2].decode("utf-8")
        if 3 in parts:
            process = dict(fields(parts[3]))
            track.update(pid=process[1], name=process[6].decode("utf-8"))
        if 4 in parts:
            thread = dict(fields(parts[4]))
            track.update(pid=thread[1], tid=thread[2], name=thread[5].decode("utf-8"))
        track["counter"] = 8 in parts

    @staticmethod
    def decoded(content, names):
        event = {"args": {}, "flows": [], "ends": []}
        for number, value in content:
            if number == 9:
                event["type"] = value
            elif number == 11:
                event["track"] = value
            elif number == 3:
                event["cat"] = names[CATEGORY, value]
            elif number == 10:
                event["name"] = names[NAME, value]
            elif number == 23:
                event["name"] = value.decode("utf-8")
            elif number == 4:
                key, text = annotation(value, names)
                assert key not in event["args"], key
                event["args"][key] = text
            elif number == 44:
                event["value"] = struct.unpack("<d", struct.pack("<Q", value))[0]
            elif number == 30:
                event["value"] = signed(value)
            elif number == 47:
                event["flows"].append(value)
            elif number == 48:
                event["ends"].append(value)
        return event

    def event(self, time, event):
        track = event["track"]
        assert track in self.tracks, "a track that nothing is known of"
        stack = self.open.setdefault(track, [])
        if event["type"] == 1:
            event["begin"] = time
            stack.append(event)
        elif event["type"] == 2:
            event = stack.pop()
            event["end"] = time
            self.slices.append(event)
        elif event["type"] == 3:
            event["begin"] = event["end"] = time
            self.slices.append(event)
        else:
            self.counters.append((track, time, event["value"]))
