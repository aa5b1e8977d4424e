#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes functions.def, the table of HIP's functions, from the headers of one or more HIP versions.

    generate.py -o functions.def HEADERS:LIBRARY[:LIBRARY...] ...

HEADERS is the folder that has hip/hip_runtime_api.h, LIBRARY a libamdhip64.so or libhiprtc.so of
that version: a function is in the table if a header declares it and a library exports it. Later
versions win where names of parameters differ; where a signature differs in what the machine sees,
or an exported function has neither a declaration nor an entry in EXCLUDED or DECLARED, the
generator stops. Needs clang and nm. The table is kept in the repository: building rtl needs
neither this nor HIP's headers.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../call"))
import table as table_language  # noqa: E402

HEADERS = """#include <hip/hip_runtime_api.h>
#include <hip/hip_ext.h>
#include <hip/hiprtc.h>
#if __has_include(<hip/amd_detail/amd_hip_gl_interop.h>)
#include <hip/amd_detail/amd_hip_gl_interop.h>
#endif
"""

# Exported by a version whose headers do not declare them by that name.
DECLARED = """enum hipError_t {};
struct dim3;
struct hipDeviceProp_t;
typedef struct ihipStream_t *hipStream_t;
extern "C" {
hipError_t hipGetDeviceProperties(hipDeviceProp_t *prop, int deviceId);
hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_t *prop, int deviceId);
hipError_t hipChooseDevice(int *device, const hipDeviceProp_t *prop);
hipError_t hipChooseDeviceR0000(int *device, const hipDeviceProp_t *prop);
}
namespace hip_impl {
void hipLaunchKernelGGLImpl(unsigned long function_address, const dim3 &numBlocks,
			    const dim3 &dimBlocks, unsigned sharedMemBytes, hipStream_t stream,
			    void **kernarg);
}
"""

COMPILER = "the compiler's: registers a program's kernels and variables before main, calls nothing"
CONFIGURATION = "half of <<<>>>: hipLaunchKernel, which follows, has the same values"
TOOLS = "for tools: registers callbacks or tells names, and is no call of the program's"
OTHER = "not of HIP: helpers of the compiler and of the debugger"
EXCLUDED = {
    "__hipRegisterFatBinary": COMPILER,
    "__hipRegisterFunction": COMPILER,
    "__hipRegisterManagedVar": COMPILER,
    "__hipRegisterSurface": COMPILER,
    "__hipRegisterTexture": COMPILER,
    "__hipRegisterVar": COMPILER,
    "__hipUnregisterFatBinary": COMPILER,
    "__hipPushCallConfiguration": CONFIGURATION,
    "__hipPopCallConfiguration": CONFIGURATION,
    "__hipGetPCH": "hands the runtime compiler its own built-in header, and calls nothing",
    "hipApiName": TOOLS,
    "hipGetCmdName": TOOLS,
    "hipRegisterTracerCallback": None,  # intercepted by streams/hsa/report/tracer.c
    "hipRegisterApiCallback": TOOLS,
    "hipRemoveApiCallback": TOOLS,
    "hipRegisterActivityCallback": TOOLS,
    "hipRemoveActivityCallback": TOOLS,
    "hipInitActivityCallback": TOOLS,
    "hipEnableActivityCallback": TOOLS,
    "__gnu_f2h_ieee": OTHER,
    "__gnu_h2f_ieee": OTHER,
    "amd_dbgapi_get_build_id": OTHER,
    "amd_dbgapi_get_build_name": OTHER,
    "amd_dbgapi_get_git_hash": OTHER,
}

# Pointers to a scalar that are no single output: arrays, and what is only read.
NOT_OUTPUT = {
    "kernelParams", "extra", "args", "params", "options", "optionValues", "jitOptions",
    "jitOptionsValues", "libraryOptions", "libraryOptionValues", "dsts", "srcs", "sizes",
    "attrsIdxs", "attributes", "data", "data_sizes", "from", "to", "nodes", "pRootNodes",
    "pDependencies", "pDependentNodes", "dependencies", "kernels", "pHipDevices", "cuMask",
    "device_arr", "resources", "pBorderColor", "headers", "includeNames", "kernarg",
    # what a call that succeeds need not have written
    "pErrorNode", "hErrorNode_out", "failIdx", "pId", "id_out", "graph_out", "numDependencies_out",
}
NOT_OUTPUT_OF = {("hiprtcDestroyProgram", "prog"), ("hiprtcLinkCreate", "option_ptr"),
                 ("hiprtcLinkCreate", "option_vals_pptr"), ("hiprtcLinkAddFile", "options_ptr"),
                 ("hiprtcLinkAddFile", "option_values"), ("hiprtcLinkAddData", "options_ptr"),
                 ("hiprtcLinkAddData", "option_values")}

# Structs that are passed by value: their members, as types.h has them.
STRUCTS = {
    "dim3": ("struct hip_dim3", [("x", "u", 4), ("y", "u", 4), ("z", "u", 4)]),
    "hipExtent": ("struct hip_extent", [("width", "u", 8), ("height", "u", 8), ("depth", "u", 8)]),
    "hipPitchedPtr": ("struct hip_pitched_ptr", [("ptr", "a", 8), ("pitch", "u", 8),
                                                 ("xsize", "u", 8), ("ysize", "u", 8)]),
    "hipMemLocation": ("struct hip_mem_location", [("type", "i", 4), ("id", "i", 4)]),
    "hipIpcEventHandle_st": ("struct hip_ipc_handle", [("word[%d]" % i, "a", 8) for i in range(8)]),
    "hipIpcMemHandle_st": ("struct hip_ipc_handle", [("word[%d]" % i, "a", 8) for i in range(8)]),
    "hipChannelFormatDesc": ("struct hip_channel_format_desc", []),
}

SCALARS = {
    "int": ("int32_t", "i", 4), "unsigned int": ("uint32_t", "u", 4), "long": ("int64_t", "i", 8),
    "unsigned long": ("uint64_t", "u", 8), "long long": ("int64_t", "i", 8),
    "unsigned long long": ("uint64_t", "u", 8), "unsigned short": ("uint16_t", "u", 2),
    "unsigned char": ("uint8_t", "u", 1), "float": ("float", "f", 4), "double": ("double", "f", 8),
}

# The first that matches a name.
CATEGORIES = [
    (r"hiprtc|hipLink", "rtc"),
    (r"hip(Drv)?Graph(ics)", "interop"), (r"hipGL|Extern|hipSignalExt|hipWaitExt", "interop"),
    (r"Graph|Capture|hipUserObject", "graph"),
    (r"Launch(?!Attr)", "launch"),
    (r"hipIpc", "ipc"), (r"MemPool|(Malloc|Free)Async|FromPoolAsync", "pool"),
    (r"hipMem(Address|Create|Map|Unmap|Release|Retain|Export|Import|SetAccess|GetAccess|"
     r"GetAlloc|GetHandle)", "vmm"),
    (r"Tex|Surface|Mipmap", "texture"),
    (r"hip(Drv)?Memcpy|hipMemPrefetch", "copy"), (r"hip(Drv)?Memset", "memset"),
    (r"hipModule|hipLibrary|hipKernel|hipFunc|hipGetSymbol|hipGetFuncBySymbol", "module"),
    (r"hipOccupancy", "occupancy"), (r"hipStream", "stream"), (r"hipEvent", "event"),
    (r"hipCtx|PrimaryCtx", "context"), (r"Peer", "peer"),
    (r"hipMalloc|hipFree|hipHost|hipExtMalloc|hipMem|hipArray|hipPointer|hipDrvPointer", "memory"),
    (r"Error", "error"), (r"hipProfiler", "profiler"),
    (r"hipInit|hipDriver|hipRuntime|ProcAddress|EntryPoint", "init"),
    (r"Device", "device"),
    (r"", "other"),
]


class Problem(Exception):
    pass


class Headers:
    """What one version's headers declare."""

    def __init__(self, folder):
        self.functions, self.enums = {}, {}
        self.parse(folder, HEADERS)
        self.parse(folder, DECLARED)

    def parse(self, folder, text):
        with tempfile.NamedTemporaryFile("w", suffix=".cpp") as source:
            source.write(text)
            source.flush()
            run = subprocess.run(
                ["clang", "-x", "c++", "-std=c++17", "-D__HIP_PLATFORM_AMD__", "-I", folder, "-w",
                 "-fsyntax-only", "-Xclang", "-ast-dump=json", "-Xclang", "-ast-dump-filter=hip",
                 source.name], stdout=subprocess.PIPE, text=True, check=False)
        if run.returncode:
            raise Problem("%s: clang does not parse the headers" % folder)
        decoder, at = json.JSONDecoder(), run.stdout.find("{")
        while at >= 0: # "Dumping NAME:", and the declaration
            node, end = decoder.raw_decode(run.stdout, at)
            self.walk(node)
            at = run.stdout.find("{", end)

    def walk(self, node):
        kind = node.get("kind")
        if kind == "FunctionDecl":
            self.functions.setdefault(node.get("mangledName"), node)
        elif kind == "EnumDecl" and node.get("name"):
            self.enums.setdefault(node["name"], enumerators(node))
        elif kind in ("TranslationUnitDecl", "LinkageSpecDecl", "NamespaceDecl"):
            for child in node.get("inner", []):
                self.walk(child)


def constant(node):
    """The value of an enumerator's initialiser."""
    if "value" in node:
        return int(node["value"])
    for child in node.get("inner", []):
        value = constant(child)
        if value is not None:
            return value
    return None


# Enumerators that name no value of their own: sections' ends, bounds, what is no longer used.
MARKER = re.compile(r"((Begin|End|Min|Max|First|Last|Count|Force|Unused\d*)"
                    r"|_(BEGIN|END|MIN|MAX|FIRST|LAST|COUNT|NUM|FORCE\w*|UNUSED\d*))$")


def without_markers(names):
    """Those names, but for markers where there is another one."""
    return [name for name in names if not MARKER.search(name)] or names


def enumerators(node):
    """{value: its names, in the order of the header}"""
    result, following = {}, 0
    for child in node.get("inner", []):
        if child.get("kind") != "EnumConstantDecl":
            continue
        value = constant(child)
        value = following if value is None else value
        result.setdefault(value, []).append(child["name"])
        following = value + 1
    return result


def canonical(clang_type):
    text = clang_type.get("desugaredQualType", clang_type["qualType"])
    text = re.sub(r"\b(struct|enum|union|class) ", "", text)
    return re.sub(r"^const (?!.*\*)|\s*const$", "", text).strip()


class Parameter:
    """Where it goes (C type), and what of it is recorded: a list of (text, name, kind, size)."""

    def __init__(self, name, shown, ctype, recorded, output=None):
        self.name, self.shown, self.ctype = name, shown, ctype
        self.recorded, self.output = recorded, output


def is_pointer(text):
    return text.endswith("*") or "(*)" in text or text.endswith("&")


class Reader:
    def __init__(self, headers):
        self.headers = headers
        self.used_enums = set()

    def scalar(self, text):
        """(kind, size, C type) of what fits into a slot, or None."""
        if text in SCALARS:
            ctype, kind, size = SCALARS[text]
            return kind, size, ctype
        if text in self.headers.enums:
            self.used_enums.add(text)
            return "e", 4, "int32_t"
        if is_pointer(text):
            return "a", 8, "void *"
        return None

    def pointee(self, clang_type):
        shown = clang_type["qualType"]
        if not shown.endswith("*") or shown.startswith("const"):
            return None
        inner = re.sub(r"\b(struct|enum) ", "", shown[:-1].strip())
        if inner in self.headers.enums:
            self.used_enums.add(inner)
            return ("e", 4, inner)
        if inner.startswith("const char *"):
            return None
        if is_pointer(inner):
            return ("a", 8)
        for text in (inner, self.typedefs.get(inner)):
            found = text and text not in ("char", "void", "unsigned char") and self.scalar(text)
            if found:
                return found[:2]
        return None

    def parameter(self, function, position, node):
        name = node.get("name") or "arg%d" % (position + 1)
        clang_type = node["type"]
        shown, text = clang_type["qualType"], canonical(clang_type)
        if shown == "const char *" or shown == "const char *const":
            return Parameter(name, shown, "const char *", [(name, name, "t", 8, shown)])
        if is_pointer(text):
            output = None
            if name not in NOT_OUTPUT and (function, name) not in NOT_OUTPUT_OF:
                output = self.pointee(clang_type)
            ctype = "const void *" if re.match(r"const\b", text) else "void *"
            return Parameter(name, shown, ctype, [(name, name, "a", 8, shown)], output)
        found = self.scalar(text)
        if found:
            what = text if found[0] == "e" else shown
            return Parameter(name, shown, found[2], [(name, name, found[0], found[1], what)])
        if text in STRUCTS:
            ctype, members = STRUCTS[text]
            recorded = [("%s.%s" % (name, m), "%s.%s" % (name, m), k, s,
                         {"u": "uint%d_t" % (8 * s), "i": "int%d_t" % (8 * s),
                          "a": "char[8]" if "word" in m else "void *"}[k])
                        for m, k, s in members]
            return Parameter(name, shown, ctype, recorded)
        raise Problem("%s: parameter %s has a type unknown here: %s" % (function, name, text))


def result_of(function, node, reader):
    """(C type, kind, type shown)"""
    shown = node["type"]["qualType"].split("(")[0].strip()
    text = re.sub(r"\b(struct|enum) ", "", shown)
    if text == "void":
        return "void", "n", "void"
    if text in reader.headers.enums:
        reader.used_enums.add(text)
        return "int32_t", "e", text
    if text == "const char *":
        return "const char *", "a", shown
    if text in SCALARS:
        return SCALARS[text][0], SCALARS[text][1], shown
    if text in STRUCTS:
        return STRUCTS[text][0], "s", shown
    raise Problem("%s: returns a type unknown here: %s" % (function, text))


class Function:
    def __init__(self, symbol, node, reader):
        self.symbol = symbol
        self.name = node["name"]
        self.result = result_of(self.name, node, reader)
        nodes = [n for n in node.get("inner", []) if n["kind"] == "ParmVarDecl"]
        self.parameters = [reader.parameter(self.name, i, n) for i, n in enumerate(nodes)]
        self.versions = []

    def machine(self):
        """What the calling convention sees."""
        return [self.result[0].replace("const ", "")] + [
            p.ctype.replace("const ", "") for p in self.parameters]

    @property
    def category(self):
        return next(c for pattern, c in CATEGORIES if re.search(pattern, self.name))

    def stream(self):
        """Where the stream is among what is recorded, and the device; -1: nowhere."""
        flat = [(p, r) for p in self.parameters for r in p.recorded]
        stream = [i for i, (p, r) in enumerate(flat) if p.shown == "hipStream_t"]
        device = [i for i, (p, r) in enumerate(flat)
                  if p.shown == "hipDevice_t" or (p.shown == "int" and p.name in (
                      "device", "deviceId", "dev", "device_id", "srcDevice"))]
        return (stream + [-1])[0], (device + [-1])[0]


def exported(library):
    """[(symbol, version)] of a library's functions."""
    run = subprocess.run(["nm", "-D", "--defined-only", library], stdout=subprocess.PIPE,
                         text=True, check=True)
    for line in run.stdout.splitlines():
        kind, symbol = line.split()[-2:]
        if kind not in "Aa":
            yield symbol.split("@")[0]


def typedefs_of(folder):
    """Names of scalar typedefs, which the types of pointees are told by."""
    return {"size_t": "unsigned long", "uint32_t": "unsigned int", "uint64_t": "unsigned long",
            "hipDevice_t": "int", "unsigned": "unsigned int", "int32_t": "int"}


def read_version(spec, table, enums, missing):
    folder, *libraries = spec.split(":")
    headers = Headers(folder)
    reader = Reader(headers)
    reader.typedefs = typedefs_of(folder)
    with open(folder + "/hip/hip_version.h", encoding="utf-8") as file:
        text = file.read()
    version = ".".join(re.search(r"HIP_VERSION_%s (\d+)" % part, text)[1]
                       for part in ("MAJOR", "MINOR"))
    handles(headers, reader)
    for symbol in (s for library in libraries for s in exported(library)):
        if symbol in EXCLUDED:
            continue
        node = headers.functions.get(symbol)
        if not node:
            missing.setdefault(symbol, version)
            continue
        function = Function(symbol, node, reader)
        old = table.get(symbol)
        if old and old.machine() != function.machine():
            raise Problem("%s: %s in one version, %s in another" % (
                symbol, old.machine(), function.machine()))
        function.versions = (old.versions if old else []) + [version]
        table[symbol] = function
    for name in reader.used_enums:
        merged = enums.setdefault(name, {})
        for value, aliases in headers.enums[name].items():
            before = [n for n in merged.get(value, []) if n not in aliases]
            merged[value] = without_markers(before + without_markers(aliases)[:1])


def handles(headers, reader):
    """Handles are pointers: a pointer to one is a pointer to an address."""
    for node in headers.functions.values():
        for parameter in node.get("inner", []):
            if parameter["kind"] != "ParmVarDecl":
                continue
            shown = parameter["type"]["qualType"]
            if is_pointer(canonical(parameter["type"])) and not is_pointer(shown):
                reader.typedefs[shown] = "void *"


def resolve(table, missing):
    """Symbols that only another version's headers declare, and C++ twins of C functions."""
    for symbol, version in list(missing.items()):
        if symbol in table:
            table[symbol].versions.append(version)
            del missing[symbol]
    if missing:
        raise Problem("exported, but neither declared nor excluded: " + " ".join(sorted(missing)))


def c_name(function):
    """An identifier of its own for each symbol."""
    return function.name if function.symbol == function.name else function.name + "_cpp"


KINDS = {"a": "ADDRESS", "u": "UINT", "i": "INT", "f": "FLOAT"}
ARGUMENT = {"a": "CALL_ADDRESS", "u": "CALL_UNSIGNED", "i": "CALL_SIGNED", "f": "CALL_FLOAT",
            "t": "CALL_TEXT"}


def argument(recorded, output):
    _, name, kind, size, what = recorded
    if output and output[0] == "e":
        return table_language.argument("CALL_OUTPUT_ENUM", name, what, output[2])
    if output:
        return table_language.argument("CALL_OUTPUT", name, what, KINDS[output[0]], output[1])
    if kind == "e":
        return table_language.argument("CALL_ENUM", name, what)
    return table_language.argument(ARGUMENT[kind], name, what, size)


def line_of(function):
    return table_language.function(
        c_name(function), function.name, function.symbol, function.category, function.result,
        function.stream(), [(p.ctype, p.name) for p in function.parameters],
        [argument(r, p.output) for p in function.parameters for r in p.recorded])


HEAD = """/* SPDX-License-Identifier: MIT */
/*
 * The functions of HIP's C API: made by generate.py from the headers of HIP %s. Not to be edited.
 *
""" + table_language.LANGUAGE + """ *
 * Of each function is noted which argument is the stream, and which the device; -1: none. Enums are
 * int32_t, structs that are passed by value are in types.h. Between names that versions disagree on
 * stands "|". HIP_EXCLUDED(symbol, reason) is exported by HIP and not intercepted.
 */
/* clang-format off */
"""


def write(path, table, enums, versions):
    with open(path, "w", encoding="utf-8") as out:
        out.write(HEAD % " and ".join(versions))
        for symbol in sorted(table, key=lambda s: (table[s].name, s)):
            out.write("\n/* %s */\n%s\n" % (", ".join(table[symbol].versions),
                                            line_of(table[symbol])))
        out.write("\n")
        for name in sorted(enums):
            out.write(table_language.enumeration(name, [
                (value, "|".join(names)) for value, names in sorted(enums[name].items())]) + "\n")
        out.write("\n")
        for symbol in sorted(symbol for symbol, reason in EXCLUDED.items() if reason):
            out.write("HIP_EXCLUDED(\"%s\",\n\t\"%s\")\n" % (symbol, EXCLUDED[symbol]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("versions", nargs="+", metavar="HEADERS:LIBRARY...")
    args = parser.parse_args()
    table, enums, missing, versions = {}, {}, {}, []
    try:
        for spec in args.versions:
            read_version(spec, table, enums, missing)
        resolve(table, missing)
    except Problem as problem:
        sys.exit("generate.py: %s" % problem)
    for function in table.values():
        for version in function.versions:
            if version not in versions:
                versions.append(version)
    write(args.output, table, enums, versions)


if __name__ == "__main__":
    main()
