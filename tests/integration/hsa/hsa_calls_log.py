#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hsa_calls_log.py TABLE OUTPUT INCLUDE: of the functions in TABLE (streams/hsa/calls.table) that
the headers in INCLUDE have, makes a C header for hsa_calls.c: for each NAME a function logged_NAME
that calls it and writes a line of the program's own log, with types and enumerators as the
headers have them."""
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "streams", "hsa"))
import generate_calls  # noqa: E402


def declare(argument):
    if argument.is_function:
        return "void *" + argument.name
    return argument.type + ("" if argument.type.endswith("*") else " ") + argument.name


def log_value(table, argument, expression, what):
    """A line that logs a value; what: 0, or 1 if the function has written it."""
    kind = {"UINT": "uint", "INT": "int", "BOOL": "bool", "ADDRESS": "address", "TEXT": "text"}
    if argument.enum:
        return 'log_name("%s", %d, name_of_%s(%s), (int)%s);' % (
            argument.name, what, argument.enum, expression, expression)
    if argument.c_type == "struct call_handle" or what and table_is_handle(table, argument):
        expression = "(uintptr_t)%s.handle" % expression
    elif argument.kind == "ADDRESS":
        expression = "(uintptr_t)" + expression
    return 'log_%s("%s", %d, %s);' % (kind[argument.kind], argument.name, what, expression)


def table_is_handle(table, argument):
    return argument.type[:-1].strip() in table.handles


def write_enum(out, name, values, text):
    out.append("static inline const char *name_of_%s(%s value)\n{" % (name, name))
    out.append("\tswitch ((int)value) {")
    out.extend('\tcase %s:\n\t\treturn "%s";' % (n, n) for _, n in values
               if re.search(r"\b%s\b" % n, text))
    out.append("\tdefault:\n\t\treturn NULL;\n\t}\n}\n")


def write_function(out, table, number, f):
    parameters = ", ".join(declare(a) for a in f.arguments) or "void"
    names = ", ".join("(void *)" + a.name if a.is_function else a.name for a in f.arguments)
    out.append("static inline %s logged_%s(%s)\n{" % (f.returns, f.name, parameters))
    out.append("\tconst uint64_t before_ns = log_begin(%d);" % number)
    if f.returns == "void":
        out.append("\t%s(%s);" % (f.name, names))
        out.append('\tlog_line("%s", before_ns);' % f.name)
    else:
        out.append("\tconst %s came_back = %s(%s);" % (f.returns, f.name, names))
        out.append('\tlog_line("%s", before_ns);' % f.name)
    for a in f.arguments:
        if a.out:
            out.append("\tif (%s && %s)" % ("!came_back" if f.has_status() else "0", a.name))
            out.append("\t\t" + log_value(table, a, "*" + a.name if not
                                          table_is_handle(table, a) else "(*%s)" % a.name, 1))
            out.append("\telse\n\t\tlog_address(\"%s\", 0, (uintptr_t)%s);" % (a.name, a.name))
        else:
            out.append("\t" + log_value(table, a, a.name, 0))
    if f.has_status():
        out.append("\tlog_status(name_of_hsa_status_t(came_back), (int)came_back);")
    elif f.returns != "void":
        out.append("\tlog_result((int64_t)came_back);")
    else:
        out.append("\tlog_nothing();")
    if f.returns != "void":
        out.append("\treturn came_back;")
    out.append("}\n")


def main():
    table = generate_calls.Table(sys.argv[1])
    text = generate_calls.headers_text(sys.argv[3])
    functions = [f for f in table.functions if re.search(r"\b%s_fn;" % f.name, text)]
    out = ["/* Made by hsa_calls_log.py. */"]
    for name, values in table.enums.items():
        if re.search(r"\b%s\b" % name, text):
            write_enum(out, name, values, text)
    # Those that the headers declare for tools only
    callable_ones = [f for f in functions if f.name not in (
        "hsa_amd_queue_intercept_create", "hsa_amd_queue_intercept_register",
        "hsa_amd_runtime_queue_create_register")]
    for number, f in enumerate(callable_ones):
        write_function(out, table, number, f)
    out.append("static const char *const logged_names[] = {")
    out.extend('\t"%s",' % f.name for f in callable_ones)
    out.append("};")
    with open(sys.argv[2], "w", encoding="ascii") as file:
        file.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
