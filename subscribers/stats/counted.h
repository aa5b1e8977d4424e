/* SPDX-License-Identifier: MIT */
/*
 * Hardware counters, of dispatches by kernel and of GPUs in intervals, for the summary.
 *
 * Threads: the one that calls the subscriber.
 */
#ifndef RTL_STATS_COUNTED_H
#define RTL_STATS_COUNTED_H

#include <rtl/subscriber.h>

#include "map.h"
#include "summary.h"

struct counted_one;

struct counted {
	const struct rtl_host *host;
	struct summary *summary;
	struct map all; /* hash of what it is of and the counter -> struct counted_one * */
	struct counted_one *first; /* newest first */
	struct map ledgers;        /* hash of process and GPU -> struct counted_ledger * */
	struct counted_ledger *first_ledger;
};

/** Subscribes, if the stream is that of counters. 0, or an rtl_error. */
int counted_add_stream(struct counted *counted, const struct rtl_stream_info *stream);
/** After the last event, once kernels have been counted: what there is goes to the summary. 0, or
 *  RTL_ENOMEM. */
int counted_finish(struct counted *counted);
void counted_fini(struct counted *counted);

#endif
