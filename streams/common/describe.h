/* SPDX-License-Identifier: MIT */
/* To write down the descriptions of streams (rtl/types.h): fields from members of their structs. */
#ifndef STREAMS_COMMON_DESCRIBE_H
#define STREAMS_COMMON_DESCRIBE_H

#include <rtl/types.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define FIELD(type, member, field_kind, field_unit, text)                                          \
	{                                                                                          \
		.struct_size = sizeof(struct rtl_field), .kind = field_kind,                       \
		.offset = offsetof(type, member), .size = sizeof(((type *)0)->member),             \
		.name = #member, .unit = field_unit, .description = text,                          \
	}

#define TYPE(number, type_name, payload, type_fields, text)                                        \
	{                                                                                          \
		.struct_size = sizeof(struct rtl_type_info), .type = number,                       \
		.field_count = COUNT(type_fields), .payload_size = sizeof(payload),                \
		.name = type_name, .description = text, .fields = type_fields,                     \
	}

#endif
