#!/bin/sh
# SPDX-License-Identifier: MIT
# test_scope_headers.sh INCLUDE CC CXX GENERATED: every public header alone, and the macros and guards of
# region.h, as strict C11, C17 and C++11, without a warning; with the stub in place of rtl as well.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
options="-I$1 -I$4 -Wall -Wextra -Wshadow -Wundef -Wpointer-arith -Wwrite-strings -pedantic -Werror"
count=0

# compile COMPILER SOURCE
compile() {
  # shellcheck disable=SC2086
  $1 $options -c "$2" -o "$scratch/out.o" || { echo "FAILED: $1"; cat "$2"; exit 1; }
  count=$((count + 1))
}

# everywhere NAME: NAME.c as C and C++
everywhere() {
  cp "$scratch/$1.c" "$scratch/$1.cpp"
  for level in -O0 -O2; do
    compile "$2 -std=c11 -Wmissing-prototypes $level" "$scratch/$1.c"
    compile "$2 -std=c17 -Wstrict-prototypes $level" "$scratch/$1.c"
    compile "$3 -std=c++11 $level" "$scratch/$1.cpp"
    compile "$3 -std=c++17 $level" "$scratch/$1.cpp"
  done
}

for header in "$1"/rtl/*.h "$4"/rtl/events.h; do
  echo "#include <rtl/$(basename "$header")>" >"$scratch/alone.c"
  everywhere alone "$2" "$3"
done

for header in rtl.h stub.h; do
  cat >"$scratch/use.c" <<END
#include <rtl/$header>
#include <rtl/describe.h>
#include <rtl/subscriber.h>
#ifdef __cplusplus
#include <rtl/scope.hpp>
#endif
struct tick {
	uint64_t count, name;
	double load;
	uint32_t bytes, missed;
};
RTL_DESCRIBE_STREAM(clock_info, "my.clock", "A clock",
	RTL_SIGNAL, "tick", "the clock has ticked", struct tick,
	RTL_FIELD(struct tick, count, RTL_KIND_UINT, "", "ticks so far"),
	RTL_FIELD(struct tick, name, RTL_KIND_STRING, "", "which clock"),
	RTL_FIELD(struct tick, load, RTL_KIND_FLOAT, "", "of the processor"),
	RTL_FIELD(struct tick, bytes, RTL_KIND_UINT, "bytes", "read since the last tick"),
	RTL_FIELD(struct tick, missed, RTL_KIND_UINT, "", "ticks that were missed"));
static const struct rtl_setting_info settings[] = {
	RTL_TEXT_SETTING("output", "stderr", 1, 0, "file to write"),
	RTL_NUMBER_SETTING("depth", "3", 1, 64, "levels shown"),
	RTL_SWITCH_SETTING("colour", "no", "colours"),
	RTL_CHOICE_SETTING("format", "text", "text|json", "what is written"),
};
int main(void)
{
	struct rtl_stream *stream = &rtl_stream_none;
	struct rtl_record *record;
	struct rtl_span span;
	RTL_REGION_OF(stream, "of a stream");
	RTL_REGION(NULL);

	if (rtl_enabled(stream, RTL_SIGNAL) && (record = rtl_reserve(stream, RTL_SIGNAL, 8)))
		rtl_commit(record);
	if (rtl_span_prepare(&span, stream, RTL_TASK_BEGIN, RTL_TASK_END, 1))
		rtl_span_begin(&span, NULL, 0);
	rtl_span_end(&span, NULL, 0);
	RTL_MARK("mark");
	RTL_MARK_U64("mark", 1);
	RTL_MARK_F64("mark", 1.5);
	rtl_mark_u64("mark", 1);
	rtl_region_begin_f64(&span, "region", 0.5);
	rtl_region_end(&span);
	rtl_log(RTL_LEVEL_INFO, "who", "what %d", 1);
	if (rtl_stream_register(&clock_info, &stream))
		rtl_log(RTL_LEVEL_INFO, "who", "%s", settings[1].key);
#ifdef __cplusplus
	rtl::region region("region", 5);
	rtl::span object(stream, RTL_TASK_BEGIN, RTL_TASK_END, 3);
	region.end(2.5f);
#endif
	return rtl_stash_set(rtl_stash_key("key"), 1);
}
END
  everywhere use "$2" "$3"
done
[ "$count" -ge 80 ] || { echo "FAILED: only $count compiled"; exit 1; }
# With the stub (the last one compiled) nothing of rtl is left to the linker.
if nm "$scratch/out.o" | grep ' U rtl_'; then echo "FAILED: undefined with stub.h"; exit 1; fi
# The stub comes first, or not at all.
printf '#include <rtl/rtl.h>\n#include <rtl/stub.h>\n' >"$scratch/late.c"
if "$2" "-I$1" -c "$scratch/late.c" -o "$scratch/out.o" 2>/dev/null; then
  echo "FAILED: stub.h behind other headers is accepted"; exit 1
fi
echo "headers: $count ok"
