#!/bin/sh
# SPDX-License-Identifier: MIT
# test_hsa_calls_generated.sh PYTHON: streams/hsa/calls.def is what the generator makes of calls.table.
set -eu
hsa=$(cd "$(dirname "$0")/../../../../streams/hsa" && pwd)
made=$(mktemp)
trap 'rm -f "$made"' EXIT
"$1" "$hsa/generate_calls.py" functions "$hsa/calls.table" "$made"
diff -u "$hsa/calls.def" "$made" || {
  echo "calls.def differs: run streams/hsa/generate_calls.py functions streams/hsa/calls.table streams/hsa/calls.def"
  exit 1
}
