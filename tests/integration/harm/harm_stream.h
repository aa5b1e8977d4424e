/* SPDX-License-Identifier: MIT */
/* harm_stream.h: the stream of a test that harms itself: one type of event, without a payload. */
#pragma once

#include <rtl/rtl.h>

static const struct rtl_type_info harm_types[] = {{
	.struct_size = sizeof(struct rtl_type_info),
	.type = RTL_TASK_END,
	.name = "task",
	.description = "something was done",
}};
static const struct rtl_stream_info harm_stream_info = {
	.struct_size = sizeof(harm_stream_info),
	.version_major = 1,
	.name = "harm.task",
	.description = "of a test",
	.types = harm_types,
	.type_count = 1,
};

/* Publishes an event, if somebody wants it. */
static inline void harm_publish(struct rtl_stream *stream)
{
	struct rtl_record *record = NULL;

	if (rtl_enabled(stream, RTL_TASK_END))
		record = rtl_reserve(stream, RTL_TASK_END, 0);
	if (record)
		rtl_commit(record);
}
