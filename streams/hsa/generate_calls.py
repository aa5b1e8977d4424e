#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes code of streams/hsa/calls.table, which says what its lines mean.

    generate_calls.py wrappers TABLE OUTPUT           C: a wrapper for each function, and what
                                                      calls.c needs to know of it (calls.h)
    generate_calls.py checks TABLE OUTPUT INCLUDE     C++: that the headers in INCLUDE say the same
                                                      (tests/unit/streams/hsa/test_hsa_calls.cpp)
"""
import os
import re
import sys

MOST_ARGUMENTS, MOST_TEXTS = 24, 4  # CALL_ARGUMENTS and CALL_TEXTS of call/arguments.h
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


def bits(c_type, name):
    """An argument as the 64 bits that calls.c takes."""
    if c_type == "struct call_handle":
        return name + ".handle"
    if c_type == "void *":
        return "(uint64_t)(uintptr_t)" + name
    if c_type.startswith("int"):
        return "(uint64_t)(int64_t)" + name
    return name


def write_wrapper(out, number, f):
    parameters = ", ".join("%s a%d" % (a.c_type, i) for i, a in enumerate(f.arguments)) or "void"
    names = ", ".join("a%d" % i for i in range(len(f.arguments)))
    values = ", ".join(bits(a.c_type, "a%d" % i) for i, a in enumerate(f.arguments)) or "0"
    returns = f.c_returns
    out.append("static %s %s(%s)" % (returns, f.name, parameters))
    out.append("{")
    out.append("\t%s (*const next)(%s) = (%s (*)(%s))call_next[%d];" % (
        returns, parameters, returns, parameters, number))
    out.append("")
    back = "" if returns == "void" else "return "
    if returns == "void":
        out.append("\tif (!calls_wanted()) {\n\t\tnext(%s);\n\t\treturn;\n\t}" % names)
    else:
        out.append("\tif (!calls_wanted())\n\t\treturn next(%s);" % names)
    out.append("\tuint64_t values[] = {%s};" % values)
    out.append("\tstruct call call = call_begin(%d, values);" % number)
    if returns == "void":
        out.append("\tnext(%s);" % names)
        out.append("\tcall_end(&call, %d, values, 0);" % number)
    else:
        out.append("\tconst %s result = next(%s);" % (returns, names))
        out.append("\tcall_end(&call, %d, values, %s);" % (number, bits(returns, "result")))
        out.append("\t%sresult;" % back)
    out.append("}\n")


def c_values(name):
    return "values_of_" + name if name else "NULL"


def write_arguments(out, functions):
    """One array for each function, `values` above for its enumerations."""
    for f in functions:
        out.append("static const struct call_argument arguments_of_%s[] = {" % f.name)
        for a in f.arguments:
            passed = ("ADDRESS", 8, a.kind, a.size) if a.out else (a.kind, a.size, None, 0)
            out.append('\t{"%s", %s, RTL_KIND_%s, %d, %s, %d},' % (
                a.name, c_values(a.enum), passed[0], passed[1],
                "RTL_KIND_" + passed[2] if passed[2] else "0", passed[3]))
        out.append("\t{0}};")
    out.append("")


def write_functions(out, functions):
    out.append("const struct call_function call_functions[] = {")
    for number, f in enumerate(functions):
        texts = sum(a.kind == "TEXT" for a in f.arguments)
        outs = sum(a.out for a in f.arguments)
        if len(f.arguments) > MOST_ARGUMENTS or texts > MOST_TEXTS:
            sys.exit("%s: there is no room for so many arguments" % f.name)
        yes = {True: "true", False: "false"}
        out.append('\t{"%s", (void *)%s, {arguments_of_%s, %d, %s, %s}, CALL_TABLE_%s, %d, %d, %s, %s},' % (
            f.name, f.name, f.name, len(f.arguments), yes[texts > 0], yes[texts + outs > 0],
            f.table.upper(), f.slot, f.since, yes[f.has_status()], yes[f.calls_back]))
    out.append("};\nconst uint32_t call_function_count = %d;" % len(functions))
    out.append("struct call_function_ids call_function_ids[%d];" % len(functions))
    out.append("void *call_next[%d];\n" % len(functions))


def write_enums(out, table):
    for name in table.enums:
        values = sorted(table.enums[name])
        if len({value for value, _ in values}) != len(values):
            sys.exit("%s: a value twice" % name)
        out.append("static const char values_of_%s[] =" % name)
        lines = ['\t"%d=%s' % value for value in values]
        out.append(';"\n'.join(lines) + '";')
    out.append('struct call_enumeration call_statuses = {"hsa_status_t", values_of_hsa_status_t, NULL, 0};\n')


def wrappers(table):
    out = ["/* Made by generate_calls.py from calls.table. */", '#include "calls.h"', ""]
    for number, f in enumerate(table.functions):
        write_wrapper(out, number, f)
    write_enums(out, table)
    write_arguments(out, table.functions)
    write_functions(out, table.functions)
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
    if len(sys.argv) < 4 or sys.argv[1] not in ("wrappers", "checks"):
        sys.exit(__doc__)
    table = Table(sys.argv[2])
    lines = wrappers(table) if sys.argv[1] == "wrappers" else checks(table, sys.argv[4])
    with open(sys.argv[3], "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
