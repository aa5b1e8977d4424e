#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stub_calls.py INCLUDE FILE: for rtl/stub.h, of what the headers of publishers in INCLUDE declare: which functions are
passed on to librtl, and the names that stand in for theirs. FILE is written where it is not so already."""
import pathlib
import re
import sys

HEADERS = ["types", "stream", "tracepoint", "publish", "scope", "stash", "site", "span", "region"]
# Those that stub.h defines itself.
OWN = {"stream_register", "default_stream", "default_mark", "default_begin", "log"}
# What they return without librtl, where it is not what their type tells.
ABSENT = {"version": '""', "error_name": '""', "error_text": '""', "room_prepare": "0", "flush": "0",
          "scope_current": "RTL_ENOENT", "stash_get": "RTL_ENOENT", "stash_remove": "RTL_ENOENT",
          "tracepoint_find": "RTL_ENOENT", "tracepoint_set_user": "RTL_ENOENT",
          "stream_pending": "&rtl_stub_pending_none",
          "open_reserve": "(*open = 0, (struct rtl_record *)NULL)"}
BY_TYPE = {"int": "RTL_ENOTSUP", "bool": "false"}
# librtl does not know what stands in for nothing here.
ARGUMENTS = {("pending_release", "pending"): "(pending == &rtl_stub_pending_none ? NULL : pending)"}


def declared(include):
    """(name, result, parameters) of each function."""
    for header in HEADERS:
        text = (include / "rtl" / f"{header}.h").read_text()
        text = re.sub(r"/\*.*?\*/|^\s*#.*?$", "", text, flags=re.DOTALL | re.MULTILINE)
        for what in re.findall(r"\bRTL_API\s+([^;{]*?);", text):
            found = re.match(r"(.*?)\brtl_(\w+)\((.*?)\)(?: __attribute__.*)?$", " ".join(what.split()))
            if found:
                yield found[2], found[1].strip(), found[3]


def argument(name, parameter):
    of = re.search(r"\w+$", parameter)[0]
    if name.startswith("stream_") and of == "stream":
        return "RTL_STUB_STREAM_(stream)"
    return ARGUMENTS.get((name, of), of)


def call(name, result, parameters):
    passed = "" if parameters == "void" else ", ".join(argument(name, p) for p in parameters.split(", "))
    if result == "void":
        return f"N({name}, ({parameters}), ({passed}))"
    absent = ABSENT.get(name) or BY_TYPE.get(result) or ("NULL" if result.endswith("*") else "0")
    return f"V({name}, {result}, ({parameters}), ({passed}), {absent})"


def main(include, file):
    functions = list(declared(pathlib.Path(include)))
    text = ("/* SPDX-License-Identifier: MIT */\n/* clang-format off */\n"
            "/* For rtl/stub.h: made by cmake/stub_calls.py. Not to be edited. */\n"
            "typedef void (*rtl_at_finish_fn)(void *user);\n\n"
            "/* V(name, result, parameters, arguments, what it returns without librtl)\n"
            " * N(name, parameters, arguments) of those without a result */\n"
            "#define RTL_STUB_CALLS_(V, N)")
    text += "".join(f" \\\n\t{call(*function)}" for function in functions if function[0] not in OWN) + "\n\n"
    text += "".join(f"#define rtl_{name} rtl_stub_{name}\n" for name, _, _ in functions)
    path = pathlib.Path(file)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


main(*sys.argv[1:])
