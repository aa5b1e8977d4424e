/* SPDX-License-Identifier: MIT */
/* Events of rtl.hsa.counter: see stream.h. */
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

static void publish(struct rtl_stream *stream, uint16_t type, uint64_t uid, uint64_t parent_uid,
		    const struct counter_dispatch *dispatch, const void *payload, uint32_t size)
{
	struct rtl_record *record;

	if (!rtl_enabled(stream, type))
		return;
	record = rtl_reserve(stream, type, size);
	if (!record)
		return;
	record->uid = uid;
	record->parent_uid = parent_uid;
	record->instance = dispatch ? dispatch->instance : 0;
	record->correlation = dispatch ? dispatch->correlation : 0;
	memcpy(rtl_record_payload(record), payload, size);
	rtl_commit(record);
}

void counter_publish_info(uint64_t uid, uint64_t agent_uid,
			  const struct rtl_hsa_counter_info *payload)
{
	publish(counter_streams.values, RTL_METADATA, uid, agent_uid, NULL, payload,
		sizeof(*payload));
}

void counter_publish_value(uint64_t uid, const struct counter_dispatch *dispatch,
			   const struct rtl_hsa_counter *payload)
{
	publish(counter_streams.values, RTL_SIGNAL, uid, dispatch->queue_uid, dispatch, payload,
		sizeof(*payload));
}

void counter_publish_interval(uint64_t uid, const struct counter_dispatch *reading,
			      const struct rtl_hsa_counter_interval *payload)
{
	publish(counter_streams.values, RTL_SAMPLE, uid, reading->queue_uid, reading, payload,
		sizeof(*payload));
}

void counter_publish_sample(uint16_t type, uint64_t uid, const struct counter_dispatch *of,
			    const struct rtl_hsa_counter_sample *payload)
{
	publish(counter_streams.samples, type, uid, of->queue_uid, of, payload, sizeof(*payload));
}

void counter_publish_ledger(uint64_t agent_uid, const struct rtl_hsa_counter_ledger *payload)
{
	publish(counter_streams.values, RTL_DIAGNOSTICS, agent_uid, 0, NULL, payload,
		sizeof(*payload));
}
