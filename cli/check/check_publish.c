/* SPDX-License-Identifier: MIT */
/* The synthetic streams of `rtl check-subscriber`: see check.h. */
#include <stddef.h>
#include <string.h>

#include <rtl/describe.h>
#include <rtl/rtl.h>

#include "check.h"

/* F(type, array, name, kind, unit, description, what it is in the n-th event) */
#define KINDS(F)                                                                                   \
	F(uint64_t, , u64, UINT, "bytes", "any number", number(n))                                 \
	F(uint64_t, , address, ADDRESS, "", "any address", number(n + 1))                          \
	F(uint64_t, , time_ns, TIME, "ns", "any time", number(n + 2))                              \
	F(uint64_t, , string, STRING, "", "an interned string, or an id that names none",          \
	  n % 5 ? string : number(n))                                                              \
	F(uint64_t, , uid, UID, "", "a tracepoint, or an id that names none",                      \
	  n % 7 ? uid : number(n))                                                                 \
	F(int64_t, , i64, INT, "", "any number", (int64_t)number(n + 3))                           \
	F(double, , f64, FLOAT, "", "any number, or none", reals[n % 6])                           \
	F(float, , f32, FLOAT, "", "any number, or none", (float)reals[n % 6])                     \
	F(uint32_t, , u32, UINT, "count", "any number", (uint32_t)number(n))                       \
	F(int32_t, , i32, INT, "", "any number", (int32_t)number(n))                               \
	F(uint16_t, , u16, UINT, "", "any number", (uint16_t)number(n))                            \
	F(int16_t, , i16, INT, "", "any number", (int16_t)number(n))                               \
	F(uint8_t, , u8, UINT, "", "any number", (uint8_t)number(n))                               \
	F(uint8_t, , yes, BOOL, "", "any byte", (uint8_t)n)                                        \
	F(int8_t, , i8, INT, "", "any number", (int8_t)number(n))                                  \
	F(uint8_t, [9], bytes, BYTES, "", "any bytes", "\0\xff'\"\n")                              \
	F(struct rtl_text, , text, TEXT, "", "any bytes, up to what an event can hold",            \
	  {(uint32_t)(sizeof(*k) + sizeof(*arg)), text})                                           \
	F(struct rtl_text, , args, ARGS, "", "named values",                                       \
	  {(uint32_t)sizeof(*k), (uint32_t)sizeof(*arg)})

#define MEMBER(type, array, name, ...) type name array;
struct kinds {
	KINDS(MEMBER)
};

#define FIELD(type, array, name, kind, unit, description, ...)                                     \
	RTL_FIELD(struct kinds, name, RTL_KIND_##kind, unit, description),
static const struct rtl_field kind_fields[] = {KINDS(FIELD)};

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

#define VALUE(type, array, name, kind, unit, description, ...) .name = __VA_ARGS__,
	*k = (struct kinds){KINDS(VALUE)};
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
