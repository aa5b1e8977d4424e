/* SPDX-License-Identifier: MIT */
/** @file describe.h
 * Macros that write down the description of a stream (rtl/types.h). A stream with one type of event:
 *
 *	struct tick { uint64_t count; uint32_t bytes, reserved; };
 *	RTL_DESCRIBE_STREAM(clock_info, "my.clock", "A clock",
 *		RTL_SIGNAL, "tick", "the clock has ticked", struct tick,
 *		RTL_FIELD(struct tick, count, RTL_KIND_UINT, "", "ticks so far"),
 *		RTL_FIELD(struct tick, bytes, RTL_KIND_UINT, "bytes", "read since the last tick"));
 *
 * Others are put together of RTL_FIELD, RTL_TYPE_INFO and RTL_STREAM_INFO. C11 and C++11; no member of a description is
 * left out, and none has an address that is not constant. */
#ifndef RTL_DESCRIBE_H
#define RTL_DESCRIBE_H

#include <rtl/types.h>

/** An initializer of struct rtl_field.
 * payload: the struct; member: one of its members, whose name is the field's; kind: enum rtl_kind;
 * unit: "ns", "bytes", ..., or ""; text: one line. */
#define RTL_FIELD(payload, member, kind, unit, text)                                               \
	RTL_FIELD_OF(0, payload, member, kind, unit, text)

/** The same of a field that repeats together with those of its group: rtl_field.group. */
#define RTL_FIELD_OF(group, payload, member, kind, unit, text)                                     \
	{                                                                                          \
		(uint32_t)sizeof(struct rtl_field), (kind), (group),                               \
			(uint32_t)offsetof(payload, member),                                       \
			(uint32_t)sizeof(((payload *)0)->member), #member, (unit), (text)          \
	}

/** An initializer of struct rtl_type_info.
 * number: enum rtl_type, or RTL_TYPE_USER; name: of the type in the stream; payload: the struct;
 * field_array: an array of struct rtl_field; text: one line. */
#define RTL_TYPE_INFO(number, name, payload, field_array, text)                                    \
	RTL_TYPE_INFO_REPEATED(number, 0, name, payload, field_array, text)

/** The same of a type that another one repeats; by: as rtl_type_info.repeated_by. */
#define RTL_TYPE_INFO_REPEATED(number, by, name, payload, field_array, text)                       \
	{                                                                                          \
		(uint32_t)sizeof(struct rtl_type_info), (number),                                  \
			(uint16_t)(sizeof(field_array) / sizeof((field_array)[0])),                \
			(uint32_t)sizeof(payload), (by), (name), (text), (field_array)             \
	}

/** An initializer of struct rtl_stream_info.
 * name: dotted, "my.clock"; major, minor: its version; type_array: an array of struct
 * rtl_type_info; text: one line. */
#define RTL_STREAM_INFO(name, major, minor, type_array, text)                                      \
	{                                                                                          \
		(uint32_t)sizeof(struct rtl_stream_info), (major), (minor), (name), (text),        \
			(type_array), (uint32_t)(sizeof(type_array) / sizeof((type_array)[0])), 0  \
	}

/** Defines `id`, the constant struct rtl_stream_info of a stream in version 1.0 that has one type of
 * event; beside it id_fields and id_types.
 * name, text: of the stream; number, type_name, type_text, payload: of its type, as in
 * RTL_TYPE_INFO; then a RTL_FIELD for each field. */
#define RTL_DESCRIBE_STREAM(id, name, text, number, type_name, type_text, payload, ...)            \
	static const struct rtl_field id##_fields[] = {__VA_ARGS__};                               \
	static const struct rtl_type_info id##_types[] = {                                         \
		RTL_TYPE_INFO(number, type_name, payload, id##_fields, type_text)};                \
	static const struct rtl_stream_info id = RTL_STREAM_INFO(name, 1, 0, id##_types, text)

#endif
