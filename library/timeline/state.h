/* SPDX-License-Identifier: MIT */
/* state.h: what whoever continues a timeline must know: a file of lines beside it, named as it is with STATE_SUFFIX,
 * which goes when the timeline is complete. With each commit it is replaced by another one, which is whole, so that it
 * is told at once how far the timeline goes and what of the rings is in it.
 *
 *   writer TEXT                     who writes (output_writer.h)
 *   session TEXT                    of the run
 *   base NS UNIX                    what times are relative to, and the wall clock then
 *   pid SPOOL PID                   the process of that spool in the timeline
 *   track KEY TID                   a track, and the number of its first lane
 *   resumed N                       how often somebody has continued it
 *   ring SPOOL RING POSITION        what is in the timeline
 *   commit OFFSET LATEST            where it ends, and the latest time in it
 *
 * One thread. */
#pragma once

#include "map.h"

#define STATE_SUFFIX ".unfinished"

struct state_ring {
	uint64_t spool, position;
	uint32_t ring;
};

struct state {
	char *path;
	int error;    /* errno of the first failure */
	bool changed; /* since it was written */
	char writer[768], session[128];
	int64_t unix_ns;
	uint64_t base_ns, offset, latest_ns;
	struct state_ring *rings;
	size_t ring_count;
	struct map ring_index; /* hash of spool and ring -> index + 1 */
	struct map pids;       /* spool -> pid */
	struct map tracks;     /* key of a track -> tid */
	uint32_t resumes;
};

/** For the timeline with that path. False: out of memory. */
bool state_init(struct state *state, const char *timeline);
/** Begins an empty one. False: see error. */
bool state_create(struct state *state);
/** Reads one that is there. False: there is none, or it is none (error 0). */
bool state_read(struct state *state);
void state_set_ring(struct state *state, uint64_t spool, uint32_t ring, uint64_t position);
void state_set_pid(struct state *state, uint64_t spool, uint32_t pid);
void state_set_track(struct state *state, uint64_t key, uint32_t tid);
/** The timeline holds all that up to there. */
void state_commit(struct state *state, uint64_t offset, uint64_t latest_ns);
/** Removes the file, too, where `done`. */
void state_fini(struct state *state, bool done);
