/* SPDX-License-Identifier: MIT */
/*
 * Events of rtl.hsa.counter and its debug twin.
 *
 * Threads: counter_streams_register in OnLoad; the others any. No locks. The record may wait for room in a
 * ring, as the policy says.
 */
#ifndef STREAMS_HSA_COUNTER_STREAM_H
#define STREAMS_HSA_COUNTER_STREAM_H

#include <rtl/events.h>
#include <rtl/publish.h>
#include <stdbool.h>

struct counter_streams {
	struct rtl_stream *values;  /* rtl.hsa.counter */
	struct rtl_stream *samples; /* rtl.hsa.counter.debug */
};

extern struct counter_streams counter_streams;

void counter_streams_register(void);

/* Whether somebody wants to know what counters of dispatches were. */
static inline bool counter_is_wanted(void)
{
	return rtl_enabled(counter_streams.values, RTL_SIGNAL) ||
	       rtl_enabled(counter_streams.samples, RTL_SIGNAL);
}

/* The same of a GPU in intervals. */
static inline bool counter_intervals_are_wanted(void)
{
	return rtl_enabled(counter_streams.values, RTL_SAMPLE) ||
	       rtl_enabled(counter_streams.samples, RTL_SAMPLE);
}

/* What events have in common: of a dispatch, its queue, number and call; of an interval, the agent and the reading's
 * number. */
struct counter_dispatch {
	uint64_t parent_uid, instance, correlation;
};

/* payload: of the stream's type. */
void counter_publish(struct rtl_stream *stream, uint16_t type, uint64_t uid,
		     const struct counter_dispatch *of, const void *payload, uint32_t size);

#endif
