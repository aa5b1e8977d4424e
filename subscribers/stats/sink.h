/* SPDX-License-Identifier: MIT */
/*
 * Counts the events of a host into a summary: what the subscriber and `rtl summary` have in common.
 * Threads: the one that calls the subscriber.
 */
#ifndef RTL_STATS_SINK_H
#define RTL_STATS_SINK_H

#include "counted.h"
#include "summary.h"
#include "track.h"

struct sink_stream;

struct sink {
	const struct rtl_host *host;
	struct summary *summary; /* not owned */
	struct tracks tracks;
	struct counted counted;
	struct sink_stream *streams;
};

void sink_init(struct sink *sink, const struct rtl_host *host, struct summary *summary);
/** Subscribes to what is counted of a stream. 0, or an rtl_error. */
int sink_add_stream(struct sink *sink, const struct rtl_stream_info *stream);
/** After the last event: what was left over, and the ledger. 0, or RTL_ENOMEM. */
int sink_finish(struct sink *sink);
void sink_fini(struct sink *sink);

#endif
