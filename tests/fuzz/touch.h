/* SPDX-License-Identifier: MIT */
/* Reads what a parser has made, to its last byte. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include <rtl/types.h>

static volatile uint64_t touched;

static inline void touch_text(const char *text)
{
	if (!text)
		abort();
	touched += strlen(text);
}

static inline void touch_type(const struct rtl_type_info *type)
{
	touch_text(type->name);
	touch_text(type->description);
	for (uint16_t k = 0; k < type->field_count; k++) {
		const struct rtl_field *f = rtl_type_field(type, k);

		touch_text(f->name);
		touch_text(f->unit);
		touch_text(f->description);
		if ((uint64_t)f->offset + f->size > type->payload_size)
			abort();
	}
}

static inline void touch_stream(const struct rtl_stream_info *info)
{
	touch_text(info->name);
	touch_text(info->description);
	for (uint32_t i = 0; i < info->type_count; i++)
		touch_type(rtl_stream_type(info, i));
}
