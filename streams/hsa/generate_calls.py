#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes code of streams/hsa/calls.table, which says what its lines mean.

    generate_calls.py functions TABLE OUTPUT          the same in the language of tables
                                                      (../call/table.py): calls.def
    generate_calls.py checks TABLE OUTPUT INCLUDE     C++: that the headers in INCLUDE say the same
                                                      (tests/unit/streams/hsa/test_hsa_calls.cpp)
"""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../call"))
import table as table_language  # noqa: E402

# C type of the wrapper, kind of the value, bytes
SCALARS = {
    "bool": ("bool", "BOOL", 1),
    "uint8_t": ("uint8_t", "UINT", 1),
    "uint16_t": ("uint16_t", "UINT", 2),
    "uint32_t": ("uint32_t", "UINT", 4),
    "uint64_t": ("uint64_t", "UINT", 8),
    "size_t": ("uint64_t", "UINT", 8),
    "int": ("int32_t", "INT", 4),
    "hsa_file_t": ("int32_t", "INT", 4),
    "int32_t": ("int32_t", "INT", 4),
    "int64_t": ("int64_t", "INT", 8),
    "hsa_signal_value_t": ("int64_t", "INT", 8),
}
TABLES = {"core": "CoreApiTable", "amd": "AmdExtTable", "image": "ImageExtTable"}


class Argument:
    def __init__(self, table, words):
        self.out = words.startswith("out ")
        match = re.fullmatch(r"(?:out )?(.*?[\s*])(\w+)", words)
        if not match:
            raise ValueError("no argument: %r" % words)
        self.type, self.name = match.group(1).strip(), match.group(2)
        self.is_function = self.type in ("function", "later")
        self.calls_back = self.type == "function"
        target = self.type
        if self.out:
            if not target.endswith("*"):
                raise ValueError("out, and no pointer: %r" % words)
            target = target[:-1].strip()
        self.c_type, self.kind, self.size, self.enum = table.value(target)
        if self.out:
            self.c_type = "void *"


class Function:
    def __init__(self, table, name, slot, line):
        match = re.fullmatch(r"(?:from (\d+) )?(\w+) (hsa_\w+)\((.*)\)", line)
        if not match:
            raise ValueError("no function")
        self.table, self.slot = name, slot
        self.since = int(match.group(1) or 0)
        self.returns, self.name = match.group(2), match.group(3)
        self.c_returns, self.kind, _, self.enum = table.value(self.returns)
        arguments = match.group(4)
        self.arguments = [Argument(table, a) for a in arguments.split(", ")] if arguments else []

        self.calls_back = self.name in table.callers or any(a.calls_back for a in self.arguments)

    def has_status(self):
        return self.returns == "hsa_status_t"


class Table:
    def __init__(self, path):
        self.handles, self.pointers, self.callers = set(), set(), set()
        self.enums, self.functions = {}, []
        enum = name = None
        slot = 0
        with open(path, encoding="ascii") as file:
            for number, line in enumerate(file, 1):
                try:
                    if line.startswith("#") or not line.strip():
                        continue
                    words = line.split()
                    if line.startswith("\t"):
                        self.enums[enum].append((int(words[0], 0), words[1]))
                    elif words[0] == "handle":
                        self.handles.update(words[1:])
                    elif words[0] == "function":
                        self.pointers.update(words[1:])
                    elif words[0] == "calls-back":
                        self.callers.update(words[1:])
                    elif words[0] == "enum":
                        enum = words[1]
                        self.enums[enum] = []
                    elif words[0] == "table":
                        name, slot = words[1], 0
                        TABLES[name]
                    else:
                        self.functions.append(Function(self, name, slot, line.strip()))
                        slot += 1
                except (ValueError, KeyError, IndexError) as error:
                    sys.exit("%s:%d: %s: %s" % (path, number, line.strip(), error))

    def value(self, name):
        """C type, kind, bytes and enumeration of a value of that type."""
        name = name.removeprefix("const ") if not name.endswith("*") else name
        if name == "void":
            return "void", None, 0, None
        if name == "const char *":
            return "void *", "TEXT", 8, None
        if name.endswith("*") or name in self.pointers or name in ("function", "later"):
            return "void *", "ADDRESS", 8, None
        if name in self.handles:
            return "struct call_handle", "ADDRESS", 8, None
        if name in self.enums:
            return "uint32_t", "INT", 4, name
        return SCALARS[name] + (None,)

    def slots(self, table):
        return [f for f in self.functions if f.table == table]


HEAD = """/* SPDX-License-Identifier: MIT */
/*
 * The functions of the HSA runtime's tables: made by generate_calls.py from calls.table. Not to be
 * edited.
 *
""" + table_language.LANGUAGE + """ *
 * Of each function is noted its table, its slot there in the newest layout, how many entries the first
 * table has that has it (0: it was not put into the middle), and whether code of the application may
 * run inside of it.
 */
/* clang-format off */
"""
KINDS = {"UINT": "CALL_UNSIGNED", "INT": "CALL_SIGNED", "BOOL": "CALL_BOOL", "TEXT": "CALL_TEXT",
         "ADDRESS": "CALL_ADDRESS"}


def argument(a):
    """One of them in the language of tables."""
    if a.out and a.enum:
        return table_language.argument("CALL_OUTPUT_ENUM", a.name, a.type, a.enum)
    if a.out:
        return table_language.argument("CALL_OUTPUT", a.name, a.type, a.kind, a.size)
    if a.enum:
        return table_language.argument("CALL_ENUM", a.name, a.enum)
    if a.c_type == "struct call_handle":
        return table_language.argument("CALL_HANDLE", a.name, a.type)
    return table_language.argument(KINDS[a.kind], a.name, a.type, a.size)


def line_of(f):
    kind = "n" if f.returns == "void" else "e" if f.has_status() else "i"
    return table_language.function(
        f.name, f.name, f.name, "", (f.c_returns, kind, f.returns),
        (f.table.upper(), f.slot, f.since, "true" if f.calls_back else "false"),
        [(a.c_type, a.name) for a in f.arguments], [argument(a) for a in f.arguments])


def functions(table):
    out = [HEAD]
    out += [line_of(f) + "\n" for f in table.functions]
    for name in table.enums:
        values = sorted(table.enums[name])
        if len({value for value, _ in values}) != len(values):
            sys.exit("%s: a value twice" % name)
        out.append(table_language.enumeration(name, values))
    return out


def headers_text(include):
    text = ""
    for name in ("hsa.h", "hsa_ext_amd.h", "hsa_ext_image.h", "hsa_api_trace.h"):
        with open(os.path.join(include, "hsa", name), encoding="utf-8", errors="replace") as file:
            text += file.read()
    return text


def checks(table, include):
    text = headers_text(include)
    out = ["/* Made by generate_calls.py from calls.table. */"]
    for name, struct in TABLES.items():
        entries = [f for f in table.slots(name)
                   if re.search(r"\b%s_fn;" % f.name, text)]
        out.append("COUNT(%s, %d)" % (struct, len(entries)))
        for slot, f in enumerate(entries):
            types = ["any_function" if a.is_function else a.type for a in f.arguments]
            out.append("SLOT(%s, %s, %d, %d)" % (struct, f.name, slot, f.since))
            out.append("TYPES(%s, %s, %s)" % (struct, f.name, ", ".join([f.returns] + types)))
    for handle in sorted(table.handles):
        if re.search(r"\b%s\b" % handle, text):
            out.append("HANDLE(%s)" % handle)
    for name, values in table.enums.items():
        if re.search(r"\b%s\b" % name, text):
            out.append("ENUM(%s)" % name)
        out.extend("VALUE(%d, %s)" % value for value in values
                   if re.search(r"\b%s\b" % value[1], text))
    return out


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in ("functions", "checks"):
        sys.exit(__doc__)
    table = Table(sys.argv[2])
    lines = functions(table) if sys.argv[1] == "functions" else checks(table, sys.argv[4])
    with open(sys.argv[3], "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
