/* SPDX-License-Identifier: MIT */
/*
 * Records what processes publish, without looking at it: the cheapest way to trace.
 *
 * A recording is a folder with one for each process, which is a spool (spool.h) whose `control`
 * and `dict` are copies, made when the process has ended. Its records stand in segments: files
 * `segment-N` that look like rings which nobody writes to any more (ring.h), each a piece of one
 * ring without fillers. Segments get their names when they are complete. `ring-N` has the counts of
 * a ring and no records.
 *
 * With a bound the oldest segments of the recording are deleted; their events are counted as
 * discarded.
 *
 * Threads: those of the collector: one.
 */
#ifndef RTL_CORE_RECORDER_H
#define RTL_CORE_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host.h"
#include "session_page.h"

struct recorder;

/* A recording in the folder `output`, which is made, or continued. RTL_EIO, RTL_ENOSPC (errno says
 * more), RTL_ENOMEM. limit_bytes 0: no bound. last_ns: only what is not older need be kept, and what
 * goes is left out; what describes stays. 0: all that the bound allows. */
int recorder_create(const char *output, uint64_t limit_bytes, uint64_t last_ns,
		    struct recorder **out);
void recorder_destroy(struct recorder *recorder);
/* Saves what the rings of the host's processes hold: those that are half full or whose thread
 * waits, or (`all`) everything. Returns whether there was anything. */
bool recorder_pass(struct recorder *recorder, struct host *host, bool all);
/* Completes the recordings of processes that have ended, or (`all`) of all; removes their spools.
 */
void recorder_end_gone(struct recorder *recorder, struct host *host, bool all);
/* How far back what is kept reaches, where that is not as far as last_ns; else 0. */
uint32_t recorder_kept_ms(const struct recorder *recorder);
/* Makes the snapshots of a collector's folder that its page says are asked for; `recorder` NULL: it has
 * none, which those who ask are told. *served: how many so far. */
void snapshot_serve(struct session_page *page, uint32_t *served, const char *folder,
		    struct recorder *recorder, struct host *host);
/* Removes those of them that nobody reads. */
void snapshot_remove_unread(uint32_t served, const char *folder);
/* Removes one. */
void snapshot_remove(const char *folder);
/* The name of a collector's snapshot. To be freed; NULL: out of memory. */
char *snapshot_path(const char *folder, uint32_t number);
/* Why it can record no more; NULL: it can. */
const char *recorder_failure(const struct recorder *recorder);

#endif
