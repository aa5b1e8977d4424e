#!/bin/sh
# SPDX-License-Identifier: MIT
# test_hip_table.sh: streams/hip/functions.def and table.def are what the generators make of HIP's headers.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
hip=$here/../../../../streams/hip
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
version() {
  sed -n 's/^#define HIP_VERSION_\(MAJOR\|MINOR\) //p' "$1/hip/hip_version.h" 2>/dev/null | paste -sd.
}
rocm7=$("$hip/../../tests/rocm7/fetch" --dir)/x/usr/include
found="$(version /usr/include) and $(version "$rocm7")"
made=$(sed -n 's/.*from the headers of HIP \(.*\)\. Not.*/\1/p' "$hip/functions.def")
command -v clang >/dev/null && [ "$found" = "$made" ] || {
  echo "SKIPPED: needs clang and the headers of HIP $made, there are: $found"
  exit 77
}
"$hip/regenerate" "$scratch"
for file in "$hip/functions.def" "$hip/table.def"; do
  diff -u "$file" "$scratch/$(basename "$file")" || {
    echo "$file differs: run streams/hip/regenerate"
    exit 1
  }
done
