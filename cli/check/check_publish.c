/* SPDX-License-Identifier: MIT */
/* The synthetic streams of `rtl check-subscriber`: see check.h. */
#include <stddef.h>
#include <string.h>

#include <rtl/describe.h>
#include <rtl/rtl.h>

#include "check.h"

struct kinds {
	uint64_t u64, address, time_ns, string, uid;
	int64_t i64;
	double f64;
	float f32;
	uint32_t u32;
	int32_t i32;
	uint16_t u16;
	int16_t i16;
	uint8_t u8, yes;
	int8_t i8;
	uint8_t bytes[9];
	struct rtl_text text, args;
};

#define FIELD(...) RTL_FIELD(struct kinds, __VA_ARGS__)
static const struct rtl_field kind_fields[] = {
	FIELD(u64, RTL_KIND_UINT, "bytes", "any number"),
	FIELD(address, RTL_KIND_ADDRESS, "", "any address"),
	FIELD(time_ns, RTL_KIND_TIME, "ns", "any time"),
	FIELD(string, RTL_KIND_STRING, "", "an interned string, or an id that names none"),
	FIELD(uid, RTL_KIND_UID, "", "a tracepoint, or an id that names none"),
	FIELD(i64, RTL_KIND_INT, "", "any number"),
	FIELD(f64, RTL_KIND_FLOAT, "", "any number, or none"),
	FIELD(f32, RTL_KIND_FLOAT, "", "any number, or none"),
	FIELD(u32, RTL_KIND_UINT, "count", "any number"),
	FIELD(i32, RTL_KIND_INT, "", "any number"),
	FIELD(u16, RTL_KIND_UINT, "", "any number"),
	FIELD(i16, RTL_KIND_INT, "", "any number"),
	FIELD(u8, RTL_KIND_UINT, "", "any number"),
	FIELD(yes, RTL_KIND_BOOL, "", "any byte"),
	FIELD(i8, RTL_KIND_INT, "", "any number"),
	FIELD(bytes, RTL_KIND_BYTES, "", "any bytes"),
	FIELD(text, RTL_KIND_TEXT, "", "any bytes, up to what an event can hold"),
	FIELD(args, RTL_KIND_ARGS, "", "named values"),
};

static const struct rtl_type_info kind_types[] = {
	RTL_TYPE_INFO(RTL_TASK_BEGIN, "task_begin", struct kinds, kind_fields, "begins"),
	RTL_TYPE_INFO(RTL_TASK_END, "task_end", struct kinds, kind_fields, "ends"),
	RTL_TYPE_INFO(RTL_SIGNAL, "signal", struct kinds, kind_fields, "happens"),
	RTL_TYPE_INFO(RTL_METADATA, "metadata", struct kinds, kind_fields, "describes"),
};

static const struct rtl_stream_info kinds =
	RTL_STREAM_INFO("check.kinds", 1, 0, kind_types, "fields of all kinds");
static const struct rtl_stream_info late =
	RTL_STREAM_INFO("check.late", 2, 7, kind_types, "a stream that comes late");

static const char *const strings[] = {
	"plain", "",         "'; DROP TABLE x; --", "a,b\t\"c\"\\\n\r", "\xff\xfe no UTF-8",
	"%s%n",  "</script>"};
#define STRINGS (sizeof(strings) / sizeof(*strings))

/* Numbers at the ends of their ranges, too. */
static uint64_t number(unsigned n)
{
	static const uint64_t edges[] = {0, 1, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN, 255};

	return n % 3 ? n * 0x9e3779b97f4a7c15ull : edges[n / 3 % 6];
}

static void fill(struct kinds *k, unsigned n, uint64_t string, uint64_t uid, uint32_t text)
{
	const double reals[] = {0.0, -1.5, 1e308 * 10, -1e308 * 10, __builtin_nan(""), 5e-324};
	struct rtl_arg *arg = (struct rtl_arg *)(k + 1);
	char *bytes = (char *)(arg + 1);

	*k = (struct kinds){
		.u64 = number(n),
		.address = number(n + 1),
		.time_ns = number(n + 2),
		.string = n % 5 ? string : number(n),
		.uid = n % 7 ? uid : number(n),
		.i64 = (int64_t)number(n + 3),
		.f64 = reals[n % 6],
		.f32 = (float)reals[n % 6],
		.u32 = (uint32_t)number(n),
		.i32 = (int32_t)number(n),
		.u16 = (uint16_t)number(n),
		.i16 = (int16_t)number(n),
		.u8 = (uint8_t)number(n),
		.yes = (uint8_t)n,
		.i8 = (int8_t)number(n),
		.bytes = "\0\xff'\"\n",
		.text = {(uint32_t)(sizeof(*k) + sizeof(*arg)), text},
		.args = {(uint32_t)sizeof(*k), (uint32_t)sizeof(*arg)},
	};
	*arg = (struct rtl_arg){.name = string, .value.number = number(n), .kind = RTL_KIND_UINT};
	for (uint32_t i = 0; i < text; i++)
		bytes[i] = (char)(n + i);
}

static void publish(struct rtl_stream *stream, unsigned n, uint64_t string, uint64_t uid)
{
	const uint32_t fixed = (uint32_t)(sizeof(struct kinds) + sizeof(struct rtl_arg));
	const uint32_t text = n % 97 ? n % 40 : RTL_PAYLOAD_MAX - fixed;
	const struct rtl_type_info *type = &kind_types[n % 4];
	struct rtl_record *record = rtl_reserve(stream, type->type, fixed + text);

	if (!record)
		return;
	record->uid = n % 7 ? uid : 0;
	record->instance = n / 2 + 1;
	record->correlation = n % 3;
	fill(rtl_record_payload(record), n, string, uid, text);
	rtl_commit(record);
}

void check_publish(unsigned count)
{
	struct rtl_stream *stream = &rtl_stream_none;
	uint64_t string[STRINGS] = {0}, uid[STRINGS] = {0};

	rtl_stream_register(&kinds, &stream);
	for (size_t i = 0; i < STRINGS; i++) {
		const struct rtl_tracepoint_desc place = {.struct_size = sizeof(place),
							  .kind = "check",
							  .name = strings[i],
							  .source = strings[STRINGS - 1 - i],
							  .line = (uint32_t)i};

		rtl_string_intern(strings[i], &string[i]);
		if (!rtl_tracepoint_register(&place, &uid[i]))
			rtl_tracepoint_set(uid[i], strings[i], strings[STRINGS - 1 - i]);
	}
	for (unsigned i = 0; i < count; i++) {
		if (i == count / 2) {
			stream = &rtl_stream_none;
			rtl_stream_register(&late, &stream);
		}
		publish(stream, i, string[i % STRINGS], uid[i % STRINGS]);
	}
}
