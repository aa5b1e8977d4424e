/* SPDX-License-Identifier: MIT */
/* harm_stream.h: the stream of a test that harms itself: one type of event, without a payload. */
#pragma once

#include <rtl/describe.h>
#include <rtl/rtl.h>

static const struct rtl_type_info harm_types[] = {
	{sizeof(struct rtl_type_info), RTL_TASK_END, 0, 0, 0, "task", "something was done", NULL}};
static const struct rtl_stream_info harm_stream_info =
	RTL_STREAM_INFO("harm.task", 1, 0, harm_types, "of a test");

/* Publishes an event, if somebody wants it. */
static inline void harm_publish(struct rtl_stream *stream)
{
	struct rtl_record *record = NULL;

	if (rtl_enabled(stream, RTL_TASK_END))
		record = rtl_reserve(stream, RTL_TASK_END, 0);
	if (record)
		rtl_commit(record);
}
