#!/bin/sh
# SPDX-License-Identifier: MIT
# test_abi_exports.sh INCLUDE LIBRARY: librtl exports what the headers declare, and nothing else.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# RTL_API is followed by a declaration, whose name is the last word before '(' or ';'
cat "$1"/rtl/*.h | tr '\n' ' ' | grep -o 'RTL_API [^;(]*[(;]' | grep -v 'RTL_API __attribute__' |
  grep -o '[a-z_0-9]*[ ]*[(;]$' | tr -d '(; ' | sort -u >"$scratch/declared"
echo rtl_publisher_streams >>"$scratch/declared" # a convention of plugin.h: see there
sort -u -o "$scratch/declared" "$scratch/declared"
nm -D --defined-only "$2" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
  grep -v -E '^__(asan|ubsan|tsan|odr)_' | sort -u >"$scratch/exported"
test "$(wc -l <"$scratch/declared")" -gt 20 || { echo "no declarations found in $1"; exit 1; }
diff "$scratch/declared" "$scratch/exported" || {
  echo "< declared but not exported, > exported but not declared"
  exit 1
}
