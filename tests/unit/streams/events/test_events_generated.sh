#!/bin/sh
# SPDX-License-Identifier: MIT
# test_events_generated.sh: a wrong description of a stream is refused in one line that names it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../../../..
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "SKIPPED: streams/events/generate.py needs Python 3.11 (tomllib)"
  exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/streams"
cp -r "$top/streams/events" "$scratch/streams/"
cd "$scratch/streams/events"

# refused LINE OF SED, PART OF THE MESSAGE
refused() {
  cp "$top/streams/events/roctx.toml" .
  sed -i "$1" roctx.toml
  if ./generate.py made >out 2>&1; then
    echo "not refused: $1"
    exit 1
  fi
  [ "$(wc -l <out)" = 1 ] && grep -q "$2" out || {
    echo "not said as it should be ($2):"
    cat out
    exit 1
  }
}
refused 's/kind = "i32"/kind = "int"/' 'roctx.toml: rtl_roctx_range: level is of kind int; there are'
refused 's/kind = "reserved" },$/kind = "u8", doc = "x" },/' 'roctx.toml: rtl_roctx_range: name would begin behind a hole'
refused 's/^description = "a mark"/descripton = "a mark"/' 'roctx.toml: rtl.roctx: type has no key descripton'
refused 's/payload = "rtl_roctx_mark"/payload = "rtl_roctx_mrak"/' 'there is no payload rtl_roctx_mrak'
refused 's/values = "rtl_roctx_kind"/values = "rtl_roctx_knid"/' 'there is no enum rtl_roctx_knid'
refused 's/^title = /title /' 'roctx.toml: '
