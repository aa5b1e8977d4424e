#!/bin/sh
# SPDX-License-Identifier: MIT
# test_abi_exports.sh INCLUDE LIBRARY CC GENERATED: librtl exports what the headers declare and nothing else
# (that none of it goes, tests/abi sees); and a library that includes <rtl/stub.h> can use all that publishers
# may, and needs none of it.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# declared HEADER...: RTL_API is followed by a declaration, whose name is the last word before '('
# or ';'
declared() {
  cat "$@" | tr '\n' ' ' | grep -o 'RTL_API [^;(]*[(;]' | grep -v 'RTL_API __attribute__' |
    grep -o '[a-z_0-9]*[ ]*[(;]$' | tr -d '(; ' | sort -u
}

{ declared "$1"/rtl/*.h; echo rtl_publisher_streams; } | # the latter: see plugin.h
  sort -u >"$scratch/declared"
nm -D --defined-only "$2" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
  grep -v -E '^__(asan|ubsan|tsan|odr)_' | sort -u >"$scratch/exported"
test "$(wc -l <"$scratch/declared")" -gt 20 || { echo "no declarations found in $1"; exit 1; }
diff "$scratch/declared" "$scratch/exported" || {
  echo "< declared but not exported, > exported but not declared"
  exit 1
}
# Structs begin with struct_size: the rule and its exceptions stand in rtl/types.h.
for header in "$1"/rtl/*.h; do
  awk '/^struct rtl_[a-z_]+ \{/ { name = $2; inside = 1; next }
    inside && /^\t[^\/ ]/ { if ($0 !~ /struct_size;/) print name; inside = 0 }' "$header"
done | sort >"$scratch/without_size"
sort >"$scratch/exceptions" <<END
rtl_arg
rtl_args
rtl_args_line
rtl_enumerator
rtl_pending
rtl_record
rtl_slot_fact
rtl_stub_calls
rtl_subscriber
rtl_source
rtl_text
rtl_value
END
diff "$scratch/exceptions" "$scratch/without_size" || {
  echo "> does not begin with struct_size and is no exception of rtl/types.h; < is none any more"
  exit 1
}

{
  echo '#include <rtl/stub.h>'
  echo 'const void *all(int i);'
  echo 'const void *all(int i) {'
  echo '	const void *const names[] = {'
  for header in publish region scope site span stash stream tracepoint; do
    declared "$1/rtl/$header.h"
  done |
    sed 's/.*/		(const void *)\&&,/'
  echo '	};'
  echo '	return names[i];'
  echo '}'
} >"$scratch/stub.c"
"$3" -std=c11 -fPIC -w -I "$1" -I "$4" -c -o "$scratch/stub.o" "$scratch/stub.c"
if nm -u "$scratch/stub.o" | grep -w 'rtl_[a-z_0-9]*'; then
  echo "^ left undefined by a library that includes <rtl/stub.h>"
  exit 1
fi
