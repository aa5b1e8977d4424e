/* SPDX-License-Identifier: MIT */
/*
 * The events of a trace as the page of `rtl report` wants them: tracks (of threads and of queues of
 * GPUs), each with its events by their begin, packed. One thread.
 *
 * Packed, of each event of each track, in order: the nanoseconds from the begin of the event before
 * (of the first: from `base_ns`), its duration, the index of its name; of an event of a GPU then 0,
 * or 1, the nanoseconds since the begin of the call that caused it (twice that, or, of a negative
 * one, twice less one) and the index of that call's track. Numbers are LEB128.
 */
#ifndef RTL_CLI_REPORT_EVENTS_H
#define RTL_CLI_REPORT_EVENTS_H

#include <stddef.h>
#include <stdint.h>

struct database;

struct report_track {
	int64_t gpu;   /* -1: of a thread */
	int64_t queue; /* or the thread */
	int64_t pid;   /* of a thread */
	uint64_t count;
};

struct report_name {
	char *text;
	const char *kind; /* "kernel", "copy", or the domain of a call: "hip" */
};

struct report_events {
	uint64_t base_ns, end_ns;
	struct report_track *tracks;
	size_t track_count;
	struct report_name *names;
	size_t name_count;
	unsigned char *packed;
	size_t packed_size;
	/* What is not there, as there would be too many: those that are shorter. */
	uint64_t left_out, shortest_ns;
};

/** Reads them, at most `most`. 0, or -1 after a line. To be freed in either case. */
int report_events_read(struct report_events *events, struct database *database, uint64_t most);
void report_events_fini(struct report_events *events);

#endif
