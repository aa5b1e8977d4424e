/* SPDX-License-Identifier: MIT */
/* own_sub.h: a collector in the test itself (rtl/collector.h), with a subscriber of the test's own that takes one
 * stream. One test at a time; own_reset begins one. */
#pragma once

#include <rtl/collector.h>
#include <rtl/subscriber.h>

/* What the subscriber does and has seen. */
extern struct own {
	const char *wanted;          /* name of the stream */
	rtl_events_fn on_events;     /* gets all its events; it counts them itself, in `events` */
	void (*while_created)(void); /* NULL: nothing */
	int flush_result, finish_result;
	uint64_t limit_bytes; /* of a recording */
	bool keeps;           /* in each flush, unless it is asked to store now and `yields` */
	bool yields;

	const struct rtl_host *host;
	const struct rtl_stream_info *stream; /* NULL: it did not come */
	uint64_t events;
	uint64_t kept;         /* flushes that kept what was delivered */
	uint64_t begun, ended; /* processes */
	uint64_t finished, destroyed;
	struct rtl_ledger ledger; /* at the finish, as are: */
	uint64_t losses, causes;  /* events, and how many causes */
	char cause[64];           /* the last one */
} own;

void own_reset(const char *wanted, rtl_events_fn on_events);

/* A collector of that kind, with the subscriber, and for RTL_RECORD* with `output` and without it.
 * own_try: 0 or an error with its message; own_collector fails the test. */
int own_try(uint32_t kind, const char *folder, const char *output, struct rtl_collector **collector,
	    char *message, size_t size);
struct rtl_collector *own_collector(uint32_t kind, const char *folder, const char *output);

/* Finishes and destroys it; no process may be left. Returns whether all could be stored. */
bool own_finish(struct rtl_collector *collector);
