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

struct recorder;

/* A recording in the folder `output`, which is made, or continued. RTL_EIO, RTL_ENOSPC (errno says
 * more), RTL_ENOMEM. limit_bytes 0: no bound. */
int recorder_create(const char *output, uint64_t limit_bytes, struct recorder **out);
void recorder_destroy(struct recorder *recorder);
/* Saves what the rings of the host's processes hold: those that are half full or whose thread
 * waits, or (`all`) everything. Returns whether there was anything. */
bool recorder_pass(struct recorder *recorder, struct host *host, bool all);
/* Completes the recordings of processes that have ended, or (`all`) of all; removes their spools.
 */
void recorder_end_gone(struct recorder *recorder, struct host *host, bool all);
/* Why it can record no more; NULL: it can. */
const char *recorder_failure(const struct recorder *recorder);

#endif
