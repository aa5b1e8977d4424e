#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""generate_table.py HEADER OUTPUT: the order of HIP's dispatch table, of hip/amd_detail/hip_api_trace.hpp.
Functions are added at its end only (see the header): the newest serves all."""
import re
import sys

HEAD = """/* SPDX-License-Identifier: MIT */
/*
 * The entries of HIP's dispatch table (struct HipDispatchTable) behind its size, in order: made by
 * generate_table.py from hip_api_trace.hpp of HIP 7.2. Not to be edited.
 */
/* clang-format off */
"""


def main():
    header, output = sys.argv[1:]
    with open(header, encoding="utf-8") as file:
        table = re.search(r"^struct HipDispatchTable \{(.*?)^\};", file.read(), re.M | re.S)
    names = re.findall(r"\bt_\w+\s+(\w+)_fn;", table[1])
    if len(names) < 400:
        sys.exit("generate_table.py: %d entries are too few" % len(names))
    with open(output, "w", encoding="utf-8") as file:
        file.write(HEAD + "".join("HIP_TABLE(%s)\n" % name for name in names))


if __name__ == "__main__":
    main()
