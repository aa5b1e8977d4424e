/* SPDX-License-Identifier: MIT */
/*
 * A track: one kind of things on one stream that take time, and their section of the summary.
 * Which kinds a stream has follows from the description of its types alone:
 *
 * - an end event whose payload has the TIME fields begin_ns and end_ns says itself how long it
 *   took (a dispatch on the GPU); if there is a field `gpu` too and it is a task, it makes that
 *   device busy;
 *   of a transfer, `bytes` says how much was moved, and a `status` other than 0 that it was
 * refused;
 * - otherwise a begin and an end event are paired by process and instance.
 *
 * `call_ns` of a dispatch says when the call that caused it began. How long the GPU then took to begin
 * is a section of its own. The name of a range of roctx is its text, `name`.
 *
 * Events RTL_METADATA with a field `gpu` whose tracepoint has the kind "agent" say what that device
 * is called.
 *
 * The name is that of the tracepoint (its metadata "demangled" if it has that), else the first
 * string of the payload. Different tracepoints with equal names are one row.
 *
 * Threads: the one that calls the subscriber.
 */
#ifndef RTL_STATS_TRACK_H
#define RTL_STATS_TRACK_H

#include <rtl/subscriber.h>

#include "pairing.h"
#include "summary.h"

struct track;

/** What all tracks of an instance share. */
struct tracks {
	const struct rtl_host *host;
	struct summary *summary;
	struct pairing pairing;
	struct track *first;
	/* That of the event before: mostly the next one is of the same. */
	const struct rtl_process *last_process;
	struct summary_process *process;
	bool has_calls; /* calls of HIP are recorded: work that is linked to none is counted */
};

/** Makes the tracks of a stream and subscribes to what they need. 0, or an rtl_error. */
int tracks_add_stream(struct tracks *tracks, const struct rtl_stream_info *stream);
/** After the last event: what was left over is counted. */
void tracks_finish(struct tracks *tracks);
/** Frees the tracks; not host and summary. */
void tracks_fini(struct tracks *tracks);

#endif
