/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include <string.h>

#include "events/events.h"

struct counter_streams counter_streams = {.values = &rtl_stream_none, .samples = &rtl_stream_none};

void counter_streams_register(void)
{
	(void)rtl_stream_register(&counter_stream_info, &counter_streams.values);
	/* Somebody who takes all streams need not pay for this one. */
	if (rtl_stream_asked(RTL_STREAM_HSA_COUNTER_DEBUG))
		(void)rtl_stream_register(&counter_debug_stream_info, &counter_streams.samples);
}

void counter_publish(struct rtl_stream *stream, uint16_t type, uint64_t uid,
		     const struct counter_dispatch *of, const void *payload, uint32_t size)
{
	struct rtl_record *record;

	if (!rtl_enabled(stream, type))
		return;
	record = rtl_reserve(stream, type, size);
	if (!record)
		return;
	record->uid = uid;
	record->parent_uid = of->parent_uid;
	record->instance = of->instance;
	record->correlation = of->correlation;
	memcpy(rtl_record_payload(record), payload, size);
	rtl_commit(record);
}
