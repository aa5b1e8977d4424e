# SPDX-License-Identifier: MIT
"""For generate.py: clickhouse/tables.h of the build, the tables of the ClickHouse subscriber and a
function for each that adds a row.

  [payload.clickhouse]  of a payload: name, columns: names of fields, or {name, type, doc, c}; without
                        `c`, the C expression, the function takes it as an argument. Rows are sorted as
                        they come, by process and time: else the server had to
  tables.toml           beside the subscriber: [[table]] name, order, columns = [[name, type, doc]];
                        a row is a struct, and replaces those with the same order

A type is a kind of number (u8 to u64, i8 to i64, f32, f64), a text, or a name: a text that many rows
share, by the number that names.h gives it. Of run, day, rank, host, pid and spool the process of a row
knows the value: such a column is [name] alone, and each payload's table has them all.
"""

TYPES = {"u8": "UInt8", "u16": "UInt16", "u32": "UInt32", "u64": "UInt64", "i8": "Int8", "i16": "Int16",
         "i32": "Int32", "i64": "Int64", "f32": "Float32", "f64": "Float64", "bool": "UInt8",
         "address": "UInt64", "time": "UInt64", "uid": "UInt64", "string": "LowCardinality(String)",
         "name": "LowCardinality(String)", "text": "String"}
CTYPES = {"u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t", "i8": "int8_t",
          "i16": "int16_t", "i32": "int32_t", "i64": "int64_t", "f32": "float", "f64": "double",
          "bool": "uint8_t", "address": "uint64_t", "time": "uint64_t", "uid": "uint64_t",
          "string": "uint32_t", "name": "uint32_t"}
PROCESS = {"run": ("LowCardinality(String)", "the job, the same in all of its ranks"),
           "day": ("Date", "when it began"), "rank": ("Int32", "as the launcher tells; -1: none"),
           "host": ("LowCardinality(String)", "name of the machine"), "pid": ("UInt32", "number of the process"),
           "spool": ("UInt64", "the process in this run, as in rtl_process")}
BEFORE = ["run", "day", "rank", "host", "pid"]
PAYLOAD_KEYS, PLAIN_KEYS = {"name", "columns"}, {"name", "order", "columns"}
ORDER = "spool, time_ns"


class Column:
    def __init__(self, name, kind, doc, c):
        self.name, self.kind, self.doc, self.c = name, kind, doc, c
        self.type = PROCESS[name][0] if kind == "process" else TYPES[kind]
        size = {"text": "TEXT", "name": "NAME", "string": "NAME"}.get(kind)
        self.how = name.upper() if kind == "process" else size or str(CTYPES_BYTES[CTYPES[kind]])


CTYPES_BYTES = {"uint8_t": 1, "int8_t": 1, "uint16_t": 2, "int16_t": 2, "uint32_t": 4, "int32_t": 4,
                "float": 4, "uint64_t": 8, "int64_t": 8, "double": 8}


def of_process(name):
    return Column(name, "process", PROCESS[name][1], None)


def payload_columns(payload, wrong, described):
    raw = payload.clickhouse
    fields = {f.name: f for _, f in described(payload)}
    out = [of_process(name) for name in BEFORE]
    out.append(Column("time_ns", "u64", "when the event was published: after what it tells of", "event->time_ns"))
    for given in raw["columns"]:
        if isinstance(given, dict):
            if given.get("type") not in TYPES:
                raise wrong(f"{payload.name}: {given.get('name')} is of type {given.get('type')}; there are "
                            + ", ".join(TYPES))
            out.append(Column(given["name"], given["type"], given["doc"], given.get("c")))
        elif given not in fields:
            raise wrong(f"{payload.name}: there is no field {given} for a column of ClickHouse")
        else:
            f = fields[given]
            c = f"p->{f.name}"
            if f.kind == "string":
                c = f"names_of_string(sub, process, {c})"
            out.append(Column(f.column or f.name, f.kind, f.doc, c))
    if wrong_names := {c.name for c in out[len(BEFORE) + 1:]} & set(PROCESS):
        raise wrong(f"{payload.name}: {', '.join(wrong_names)} is a column already")
    return out + [of_process("spool"), Column("ring", "u32", "with the position: where the event stood", "event->ring"),
                  Column("position", "u64", "in a ring of a spool each event has another one", "event->position")]


def quoted(text):
    return '"' + " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"') + '"'


def declare(name, order, columns, replaces):
    out = f"static const struct column_info {name}_columns[] = {{\n"
    for c in columns:
        out += f'\t{{"{c.name}", "{c.type}", {quoted(c.doc)}, COLUMN_{c.how}}},\n'
    out += "};\n"
    return out + (f"static const struct table_info table_{name} = {{\n\t\"{name}\", \"{order}\", {name}_columns, "
                  f"{len(columns)}, {'true' if replaces else 'false'},\n}};\n\n")


def setters(columns, value):
    out = ""
    for n, c in enumerate(columns):
        if c.kind == "process":
            continue
        v = value(c)
        if c.kind == "text":
            out += f"\tblock_put_text(block, {n}, {v}, {v}_length);\n"
        else:
            out += f"\tblock_put_{CTYPES[c.kind].removesuffix('_t')}(block, {n}, row, {v});\n"
    return out


def adder(payload, columns):
    name = payload.clickhouse["name"]
    out = f"/* A row of {name}, of an event of that process. */\n"
    out += (f"static inline void table_add_{name}(struct sub *sub, struct block *block,\n"
            "\tstruct process *process, const struct rtl_event *event")
    for c in columns:
        if c.kind != "process" and not c.c:
            out += f", const char *{c.name}, size_t {c.name}_length" if c.kind == "text" else f", {CTYPES[c.kind]} {c.name}"
    out += f")\n{{\n\tconst struct {payload.name} *p = event->payload;\n\tuint32_t row;\n\n"
    out += "\tif (!block_add(block, &process->columns, &row))\n\t\treturn;\n"
    out += setters(columns, lambda c: c.c or c.name)
    return out + "\t(void)sub;\n\tblock_added(block);\n}\n\n"


def plain(raw, wrong):
    columns = []
    for given in raw["columns"]:
        if len(given) == 1 and given[0] in PROCESS:
            columns.append(of_process(given[0]))
        elif len(given) == 3 and given[1] in TYPES:
            columns.append(Column(*given, None))
        else:
            raise wrong(f"tables.toml: {raw['name']}: {given} is no column")
    name = raw["name"]
    out = declare(name, raw["order"], columns, True) + f"struct row_{name} {{\n"
    for c in columns:
        if c.kind == "text":
            out += f"\tconst char *{c.name};\n"
        elif c.kind != "process":
            out += f"\t{CTYPES[c.kind]} {c.name};\n"
    out += f"}};\n\n/* A row of {name}. */\n"
    out += (f"static inline void table_add_{name}(struct block *block, struct process *process,\n"
            f"\tconst struct row_{name} *given)\n{{\n\tuint32_t row;\n\n")
    out += "\tif (!block_add(block, &process->columns, &row))\n\t\treturn;\n"
    for n, c in enumerate(columns):
        if c.kind == "text":
            out += f"\tblock_put_text(block, {n}, given->{c.name}, strlen(given->{c.name}));\n"
        elif c.kind != "process":
            out += f"\tblock_put_{CTYPES[c.kind].removesuffix('_t')}(block, {n}, row, given->{c.name});\n"
    return out + "\tblock_added(block);\n}\n\n"


def header(descriptions, plain_tables, note, described, wrong):
    out = "/* SPDX-License-Identifier: MIT */\n/* clang-format off */\n"
    out += note("tables.toml and streams/events")
    out += "/* The tables, and a function for each that adds a row. The host's thread. */\n"
    out += "#ifndef RTL_CLICKHOUSE_TABLES_H\n#define RTL_CLICKHOUSE_TABLES_H\n\n"
    out += '#include <string.h>\n\n#include "block.h"\n#include "names.h"\n#include "sub.h"\n\n'
    for raw in plain_tables:
        if set(raw) != PLAIN_KEYS:
            raise wrong(f"tables.toml: a table has {', '.join(sorted(PLAIN_KEYS))}, and nothing else")
        out += plain(raw, wrong)
    for d in descriptions:
        for payload in d.payloads.values():
            if not payload.clickhouse:
                continue
            if set(payload.clickhouse) != PAYLOAD_KEYS:
                raise wrong(f"{payload.name}: clickhouse has {', '.join(sorted(PAYLOAD_KEYS))}, and nothing else")
            columns = payload_columns(payload, wrong, described)
            out += declare(payload.clickhouse["name"], ORDER, columns, False)
            out += adder(payload, columns)
    return out.rstrip("\n") + "\n\n#endif\n"
