/* SPDX-License-Identifier: MIT */
/* The events of a trace as the page of `rtl report` wants them: what a timeline shows, in tracks (of threads and of
 * queues of GPUs), each with its events by their begin, packed. A writer of timelines, whose file is what `end` makes.
 * One thread.
 *
 * Packed, of each event of each track, in order: the nanoseconds from the begin of the event before (of the first: from
 * `base_ns`), its duration, the index of its name; of an event of a GPU then 0, or 1, the nanoseconds since the begin
 * of the call that caused it (twice that, or, of a negative one, twice less one) and the index of that call's track.
 * Numbers are LEB128. */
#pragma once

#include "event_sink.h"

struct report_track {
	int64_t gpu;     /* -1: of a thread */
	uint32_t number; /* of the queue, 0: copies; or of the thread */
	uint32_t pid;    /* of a thread */
	size_t count;
	uint64_t left_out, shortest_ns; /* what is shorter, and others about as long, is left out */
	struct report_event *events;
};

struct report {
	struct event_sink sink;
	/* Set by the owner. */
	uint64_t most; /* events: of tracks that have many, what is shorter is left out */
	/** What closes the file, to be freed; NULL: after a line. */
	char *(*end)(struct report *report, size_t *size);
	void *user;
	/* The result. */
	uint64_t base_ns, end_ns;
	struct report_track *tracks;
	size_t track_count;
	struct report_name {
		const struct name *text, *kind; /* kind: "kernel", "copy", "hip"... */
	} * names;
	size_t name_count;
	unsigned char *packed;
	size_t packed_size;
	/* Its own. */
	size_t count;
	struct map track_of, name_of; /* index + 1 */
};

extern const struct timeline_writer report_writer;

/** Before the sink gets anything. is_foreign: of another tool, which counts GPUs from 0. False: out of memory. */
bool report_init(struct report *report, bool is_foreign);
/** Frees it. */
void report_fini(struct report *report);
