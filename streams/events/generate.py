#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""generate.py: everything that follows from the descriptions of streams, FILE.toml here.

  generate.py FOLDER    writes, for the build:
                          FOLDER/include/rtl/events.h, FOLDER/include/rtl/events/FILE.h
                                                         structs and constants
                          FOLDER/events/FILE.c, FOLDER/events/events.h
                                                         what the streams say of themselves

A description (keys that have a default may be left out):

  title                 what the file is about, one line
  library               the library that publishes it (default: rocm)
  order                 number: where its streams stand among those of the others
  [[stream]]            name, macro, version = [major, minor], info (C name of its
                        rtl_stream_info), description, doc
    [[stream.type]]     type (enum rtl_type), name, payload, description
                        repeated: the type that says all of it again, "TYPE", or "TYPE in debug"
  [[constant]]          name, value (a text), doc: a macro of the header
  [[enum]]              name, prefix, doc, values = [{name, value, doc, text}]
                        other: what a value that is not known is called; with it all values,
                        from 0, have a text, and the header a function that tells it
  [[payload]]           name, doc (with what the event's own members mean),
                        fields = [{name, kind, ...}]
  fields                kind: u8 to u64, i8 to i64, f32, f64, bool, address, time, string, uid,
                        text, args, values; "reserved" (u32, in no description); "embed" (payload = a
                        struct whose fields come first)
                        unit (default by the name's ending: _ns ns, _bytes bytes), doc (one line),
                        more (a paragraph for the header), flags or values (an enum's name)
                        group: name of the group of fields that repeat together: who stores
                        events may store them once (rtl_field.group)
"""
import pathlib
import re
import sys
import textwrap

try:
    import tomllib
except ImportError:
    try:
        import tomli as tomllib
    except ImportError:
        sys.exit("generate.py: this needs Python 3.11, or the module tomli for an older one")

HERE = pathlib.Path(__file__).resolve().parent

# kind: (C type, bytes, RTL_KIND_...)
KINDS = {
    "u8": ("uint8_t", 1, "UINT"),
    "u16": ("uint16_t", 2, "UINT"),
    "u32": ("uint32_t", 4, "UINT"),
    "u64": ("uint64_t", 8, "UINT"),
    "i8": ("int8_t", 1, "INT"),
    "i16": ("int16_t", 2, "INT"),
    "i32": ("int32_t", 4, "INT"),
    "i64": ("int64_t", 8, "INT"),
    "f32": ("float", 4, "FLOAT"),
    "f64": ("double", 8, "FLOAT"),
    "bool": ("uint8_t", 1, "BOOL"),
    "address": ("uint64_t", 8, "ADDRESS"),
    "time": ("uint64_t", 8, "TIME"),
    "string": ("uint64_t", 8, "STRING"),
    "uid": ("uint64_t", 8, "UID"),
    "text": ("struct rtl_text", 8, "TEXT"),
    "args": ("struct rtl_text", 8, "ARGS"),
    "values": ("struct rtl_text", 8, "VALUES"),
    "reserved": ("uint32_t", 4, None),
}
KEYS = {
    "file": {"title", "order", "library", "stream", "constant", "enum", "payload"},
    "constant": {"name", "value", "doc"},
    "stream": {"name", "macro", "version", "info", "description", "doc", "type"},
    "type": {"type", "name", "payload", "description", "repeated"},
    "enum": {"name", "prefix", "doc", "values", "other"},
    "value": {"name", "value", "doc", "text"},
    "payload": {"name", "doc", "fields"},
    "field": {"name", "kind", "group", "unit", "doc", "more", "flags", "values", "payload"},
}


class Wrong(Exception):
    """What is wrong with a description, in one line."""


def check_keys(what, where, table):
    for key in table:
        if key not in KEYS[what]:
            raise Wrong(f"{where}: {what} has no key {key}; there are "
                        + ", ".join(sorted(KEYS[what])))


class Field:
    def __init__(self, where, raw, payloads):
        check_keys("field", where, raw)
        self.raw = raw
        self.name = raw.get("name")
        self.kind = raw.get("kind")
        if not self.name or not self.kind:
            raise Wrong(f"{where}: a field has no name or no kind: {raw}")
        self.embedded = None
        if self.kind == "embed":
            self.embedded = payloads.get(raw.get("payload"))
            if not self.embedded:
                raise Wrong(f"{where}: {self.name} embeds {raw.get('payload')}, which is not there")
            self.ctype, self.size = "struct " + self.embedded.name, self.embedded.size
            self.align = self.embedded.align
        elif self.kind in KINDS:
            self.ctype, self.size, self.rtl_kind = KINDS[self.kind]
            self.align = 4 if self.ctype == "struct rtl_text" else self.size
        else:
            raise Wrong(f"{where}: {self.name} is of kind {self.kind}; there are "
                        + ", ".join(list(KINDS) + ["embed"]))
        self.doc = raw.get("doc", "")
        if self.is_described() and not self.doc:
            raise Wrong(f"{where}: {self.name} has no doc")
        self.unit = raw.get("unit", self.default_unit())

    def is_described(self):
        return self.kind not in ("reserved", "embed")

    def default_unit(self):
        for unit in ("ns", "bytes"):
            if self.name.endswith("_" + unit):
                return unit
        return ""


class Payload:
    def __init__(self, where, raw, payloads):
        check_keys("payload", where, raw)
        self.name, self.doc = raw["name"], raw.get("doc", "").strip()
        where = f"{where}: {self.name}"
        self.fields = []
        offset = self.align = 0
        for raw_field in raw["fields"]:
            field = Field(where, raw_field, payloads)
            if offset % field.align:
                raise Wrong(f"{where}: {field.name} would begin behind a hole: say what is there")
            offset += field.size
            self.align = max(self.align, field.align)
            self.fields.append(field)
        if offset % self.align:
            raise Wrong(f"{where}: ends with a hole: say what is there")
        self.size = offset


def described(payload):
    """(payload, field) of each field that is described, embedded ones among them."""
    for field in payload.fields:
        if field.embedded:
            yield from described(field.embedded)
        elif field.is_described():
            yield payload, field


class Description:
    def __init__(self, path):
        self.name = path.stem
        try:
            raw = tomllib.loads(path.read_text())
        except tomllib.TOMLDecodeError as error:
            raise Wrong(f"{path.name}: {error}") from error
        check_keys("file", path.name, raw)
        self.title, self.order = raw["title"], raw["order"]
        self.library = raw.get("library", "rocm")
        self.constants = raw.get("constant", [])
        for constant in self.constants:
            check_keys("constant", path.name, constant)
        self.enums = raw.get("enum", [])
        for enum in self.enums:
            check_keys("enum", path.name, enum)
            for value in enum["values"]:
                check_keys("value", f"{path.name}: {enum['name']}", value)
        self.payloads = {}
        for payload in raw.get("payload", []):
            self.payloads[payload["name"]] = Payload(path.name, payload, self.payloads)
        self.streams = raw["stream"]
        for stream in self.streams:
            check_keys("stream", path.name, stream)
            for type_ in stream["type"]:
                check_keys("type", f"{path.name}: {stream['name']}", type_)
                if type_["payload"] not in self.payloads:
                    raise Wrong(f"{path.name}: {stream['name']}, {type_['name']}: there is no "
                                f"payload {type_['payload']}")


# ---- C

def note(origin):
    return f"/* Made by streams/events/generate.py from {origin}. Not to be edited. */\n"


def comment(text, indent="", doxygen=True):
    """A comment of C, of one line if it fits."""
    begin = "/** " if doxygen else "/* "
    text = text.strip()
    one = f"{indent}{begin}{' '.join(text.split())} */"
    tabs = len(indent) * 7
    if "\n\n" not in text and len(one) + tabs <= 100:
        return one + "\n"
    out = [indent + begin.rstrip()]
    for n, paragraph in enumerate(re.split(r"\n\s*\n", text)):
        if n:
            out.append(indent + " *")
        for line in textwrap.wrap(" ".join(paragraph.split()), 100 - 3 - 8 * len(indent)):
            out.append(f"{indent} * {line}")
    out.append(indent + " */")
    return "\n".join(out) + "\n"


def member_text(member, doc):
    """A member of an enum or struct, its doc beside it or, where that is too long, above."""
    beside = f"\t{member} /**< {doc} */"
    if not doc:
        return f"\t{member}\n"
    if len(beside) + 7 <= 100:
        return beside + "\n"
    return comment(doc, "\t") + f"\t{member}\n"


def texts_of(enum):
    """The function that tells what a value is called."""
    values = enum["values"]
    if [v["value"] for v in values] != list(range(len(values))) or not all("text" in v for v in values):
        raise Wrong(f"{enum['name']}: with `other`, values count from 0 and each has a text")
    return (f"/** What a value is called; one that is not known: \"{enum['other']}\". */\n"
            f"static inline const char *{enum['name']}_text(uint32_t value)\n{{\n"
            f"\tstatic const char *const texts[] = {{\n"
            + "".join(f"\t\t\"{v['text']}\",\n" for v in values)
            + f"\t}};\n\n\treturn value < {len(values)} ? texts[value] : \"{enum['other']}\";\n}}\n")


def enum_text(enum):
    out = comment(enum["doc"]) + f"enum {enum['name']} {{\n"
    for value in enum["values"]:
        out += member_text(f"{enum['prefix']}{value['name']} = {value['value']},", value.get("doc"))
    out += "};\n"
    return out + "\n" + texts_of(enum) if "other" in enum else out


def struct_text(payload):
    out = comment(payload.doc) + f"struct {payload.name} {{\n"
    for field in payload.fields:
        doc = field.doc
        if field.unit and field.unit not in ("ns", "bytes"):
            doc += f", {field.unit}"
        enum = field.raw.get("flags") or field.raw.get("values")
        if enum:
            doc += f": enum {enum}"
        if field.raw.get("more"):
            doc += ". " + field.raw["more"].strip()
        out += member_text(f"{field.ctype} {field.name};", doc)
    return out + "};\n"


def header(description):
    guard = f"RTL_EVENTS_{description.name.upper()}_H"
    out = "/* SPDX-License-Identifier: MIT */\n/* clang-format off */\n"
    out += note(f"{description.name}.toml")
    out += comment(f"@file {description.name}.h\n\n{description.title}")
    out += f"#ifndef {guard}\n#define {guard}\n\n#include <rtl/types.h>\n\n"
    out += '#ifdef __cplusplus\nextern "C" {\n#endif\n\n'
    for stream in description.streams:
        if stream.get("doc"):
            out += comment(stream["doc"])
        major, minor = stream["version"]
        macro = stream["macro"]
        out += f'#define {macro} "{stream["name"]}"\n'
        out += f"#define {macro}_VERSION {major}\n#define {macro}_VERSION_MINOR {minor}\n\n"
    for constant in description.constants:
        out += comment(constant["doc"])
        out += f'#define {constant["name"]} "{constant["value"]}"\n\n'
    for enum in description.enums:
        out += enum_text(enum) + "\n"
    for payload in description.payloads.values():
        out += struct_text(payload) + "\n"
    return out + f"#ifdef __cplusplus\n}}\n#endif\n\n#endif\n"


def quoted(text):
    return '"' + " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"') + '"'


def enumerators(enums, field):
    """ "1 linear, 2 rect" of a field that is an enum's. """
    name = field.raw.get("flags") or field.raw.get("values")
    if not name:
        return ""
    enum = next((e for e in enums if e["name"] == name), None)
    if not enum:
        raise Wrong(f"{field.name}: there is no enum {name}")
    return ", ".join(f"{v['value']} {v['name'].lower().replace('_', ' ')}" for v in enum["values"])


def field_doc(enums, field):
    listed = enumerators(enums, field)
    return field.doc + (f": {listed}" if listed else "")


def group_number(payload, field):
    """Groups are numbered from 1 in the order in which a payload's fields name them."""
    names = list(dict.fromkeys(f.raw["group"] for _, f in described(payload) if "group" in f.raw))
    return names.index(field.raw["group"]) + 1 if "group" in field.raw else 0


def source(description):
    out = "/* SPDX-License-Identifier: MIT */\n/* clang-format off */\n"
    out += note(f"{description.name}.toml")
    out += f'#include <rtl/describe.h>\n#include <rtl/events/{description.name}.h>\n\n'
    out += '#include "events/events.h"\n\n'
    out += "/* The layout is part of what subscribers are compiled with: nothing lies between members. */\n"
    for payload in description.payloads.values():
        out += f'_Static_assert(sizeof(struct {payload.name}) == {payload.size}, "{payload.name}");\n'
    out += "\n"
    embedded = {field.embedded.name for payload in description.payloads.values() for field in payload.fields
                if field.embedded}
    for payload in description.payloads.values():
        rows = []
        for field in payload.fields:
            if field.embedded:
                rows.append(f"{field.embedded.name.upper()}_FIELDS")
            elif field.is_described():
                rows.append(f"RTL_FIELD_OF({group_number(payload, field)}, struct {payload.name}, {field.name}, "
                            f'RTL_KIND_{field.rtl_kind}, "{field.unit}", {quoted(field_doc(description.enums, field))})')
        if payload.name in embedded:
            macro = f"{payload.name.upper()}_FIELDS"
            out += f"#define {macro} \\\n\t" + ", \\\n\t".join(rows) + "\n\n"
            rows = [macro]
        out += f"static const struct rtl_field {payload.name}_fields[] = {{\n\t" + ",\n\t".join(rows) + ",\n};\n\n"
    for stream in description.streams:
        types = stream["info"].removesuffix("_info") + "_types"
        out += f"static const struct rtl_type_info {types}[] = {{\n"
        for type_ in stream["type"]:
            by = type_.get("repeated", "")
            by = re.sub(r"^(\w+) in debug$", r"RTL_IN_DEBUG | \1", by)
            macro = f'RTL_TYPE_INFO_REPEATED({type_["type"]}, {by}' if by else f'RTL_TYPE_INFO({type_["type"]}'
            out += (f'\t{macro}, "{type_["name"]}", '
                    f'struct {type_["payload"]}, {type_["payload"]}_fields, '
                    f'{quoted(type_["description"])}),\n')
        out += "};\n\n"
        macro = stream["macro"]
        out += (f'const struct rtl_stream_info {stream["info"]} =\n'
                f"\tRTL_STREAM_INFO({macro}, {macro}_VERSION, {macro}_VERSION_MINOR, {types}, "
                f'{quoted(stream["description"])});\n\n')
    return out.rstrip("\n") + "\n"


def declarations(descriptions):
    out = "/* SPDX-License-Identifier: MIT */\n/* clang-format off */\n"
    out += note("the descriptions beside it")
    out += comment("What the streams of rtl's libraries say of themselves. Constant.", doxygen=False)
    out += "#ifndef STREAMS_EVENTS_H\n#define STREAMS_EVENTS_H\n\n#include <rtl/types.h>\n\n"
    for description in descriptions:
        for stream in description.streams:
            out += f'extern const struct rtl_stream_info {stream["info"]};\n'
    out += "\n/* Addresses of those of librtl_rocm.so, for an initializer. */\n#define EVENTS_STREAMS"
    for description in descriptions:
        for stream in description.streams if description.library == "rocm" else []:
            out += f' \\\n\t&{stream["info"]},'
    return out.rstrip(",") + "\n\n#endif\n"


def umbrella(descriptions):
    out = "/* SPDX-License-Identifier: MIT */\n/* clang-format off */\n"
    out += note("the descriptions beside it")
    out += comment("""@file events.h

Payloads of the streams that rtl's interceptors publish, for subscribers that know them; a
subscriber that does not can use the descriptions that come with each stream. `rtl list-streams`
prints the same.

A payload may be longer than the struct here, where a newer interceptor published it. Check once per
stream that version_major is the one here and payload_size of the type at least sizeof(struct).""")
    out += "#ifndef RTL_EVENTS_H\n#define RTL_EVENTS_H\n\n"
    for description in descriptions:
        out += f"#include <rtl/events/{description.name}.h>\n"
    return out + "\n#endif\n"


def read():
    return sorted((Description(path) for path in sorted(HERE.glob("*.toml"))),
                  key=lambda description: description.order)


def sources(descriptions):
    made = {}
    for description in descriptions:
        made[f"include/rtl/events/{description.name}.h"] = header(description)
        made[f"events/{description.name}.c"] = source(description)
    made["events/events.h"] = declarations(descriptions)
    made["include/rtl/events.h"] = umbrella(descriptions)
    return made


def main(arguments):
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: generate.py FOLDER", file=sys.stderr)
        return 2
    folder = pathlib.Path(arguments[0])
    try:
        made = sources(read())
    except Wrong as error:
        print(f"generate.py: {error}", file=sys.stderr)
        return 1
    for name, text in made.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
