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

/* What the events of a dispatch begin with. Of an interval: the agent's id, the reading's number. */
struct counter_dispatch {
	uint64_t queue_uid, instance, correlation;
};

void counter_publish_info(uint64_t uid, uint64_t agent_uid,
			  const struct rtl_hsa_counter_info *payload);
void counter_publish_value(uint64_t uid, const struct counter_dispatch *dispatch,
			   const struct rtl_hsa_counter *payload);
void counter_publish_interval(uint64_t uid, const struct counter_dispatch *reading,
			      const struct rtl_hsa_counter_interval *payload);
/* type: RTL_SIGNAL of a dispatch, RTL_SAMPLE of an interval. */
void counter_publish_sample(uint16_t type, uint64_t uid, const struct counter_dispatch *of,
			    const struct rtl_hsa_counter_sample *payload);
void counter_publish_ledger(uint64_t agent_uid, const struct rtl_hsa_counter_ledger *payload);

#endif
