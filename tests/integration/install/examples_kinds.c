/* SPDX-License-Identifier: MIT */
/* Publishes one event with a field of each kind and size: see examples.py. */
#include <rtl/describe.h>
#include <rtl/rtl.h>
#include <string.h>

struct kinds {
	uint64_t u64;
	int64_t i64;
	double f64;
	uint64_t address, time, string, uid;
	struct rtl_text text;
	uint32_t u32;
	int32_t i32;
	float f32;
	uint16_t u16;
	int16_t i16;
	uint8_t u8;
	int8_t i8;
	uint8_t yes;
	uint8_t bytes[10];
};

#define FIELD(k, member, unit) RTL_FIELD(struct kinds, member, RTL_KIND_##k, unit, "")

static const struct rtl_field fields[] = {
	FIELD(UINT, u8, ""),    FIELD(UINT, u16, ""),      FIELD(UINT, u32, ""),
	FIELD(UINT, u64, "ns"), FIELD(INT, i8, ""),        FIELD(INT, i16, ""),
	FIELD(INT, i32, ""),    FIELD(INT, i64, ""),       FIELD(FLOAT, f32, "s"),
	FIELD(FLOAT, f64, ""),  FIELD(BOOL, yes, ""),      FIELD(ADDRESS, address, ""),
	FIELD(TIME, time, ""),  FIELD(STRING, string, ""), FIELD(UID, uid, ""),
	FIELD(TEXT, text, ""),  FIELD(BYTES, bytes, ""),
};

static const struct rtl_type_info types[] = {
	{sizeof(struct rtl_type_info), RTL_SIGNAL, sizeof(fields) / sizeof(*fields),
	 sizeof(struct kinds), 0, "signal", "", fields},
};

static const struct rtl_stream_info info = {sizeof(info), 1, 0, "t.kinds", "", types, 1, 0};

int main(void)
{
	struct rtl_stream *stream = &rtl_stream_none;
	struct rtl_record *record;
	struct kinds kinds = {
		UINT64_MAX,
		-4,
		-2.25,
		0xdeadbeef,
		77,
		0,
		0x1234,
		{sizeof(kinds), 6},
		4000000000u,
		-3,
		0.5f,
		60000,
		-2,
		200,
		-1,
		1,
		{0, 1, 0xfe, 0xff, 5, 6, 7, 8, 9, 10},
	};

	if (rtl_stream_register(&info, &stream) || rtl_string_intern("interned", &kinds.string))
		return 1;
	record = rtl_reserve(stream, RTL_SIGNAL, sizeof(kinds) + 6);
	if (!record)
		return 1;
	memcpy(rtl_record_payload(record), &kinds, sizeof(kinds));
	memcpy((char *)rtl_record_payload(record) + sizeof(kinds), "a text", 6);
	rtl_commit(record);
	return 0;
}
