/* SPDX-License-Identifier: MIT */
/* Records what processes publish, without looking at it: the cheapest way to trace.
 *
 * A recording is a folder with one for each process: a spool (spool.h) whose `control` and `dict` are copies, made when
 * the process has ended. Records stand in segments: files `segment-N`, named when complete, that look like rings
 * without a writer (ring.h), each a piece of one ring without fillers. `ring-N` has a ring's counts, no records.
 *
 * With a bound the recording's oldest segments are deleted; their events count as discarded.
 *
 * Threads: those of the collector: one. */
#pragma once

#include "folder.h"
#include "host.h"

struct recorder;

/* A recording in the folder `output`, which is made, or continued. RTL_EIO, RTL_ENOSPC (with errno), RTL_ENOMEM.
 * limit_bytes 0: no bound. last_ns: older events may go and count as left out, but for what describes; 0: the bound
 * alone decides. */
int recorder_create(const char *output, uint64_t limit_bytes, uint64_t last_ns,
		    struct recorder **out);
void recorder_destroy(struct recorder *recorder);
/* Saves what the processes' rings hold: those half full or waited for, or (`all`) everything. Whether there was
 * anything. */
bool recorder_pass(struct recorder *recorder, struct host *host, bool all);
/* Completes the recordings of ended processes, or (`all`) of all; removes their spools. */
void recorder_end_gone(struct recorder *recorder, struct host *host, bool all);
/* How far back what is kept reaches, where that is not as far as last_ns; else 0. */
uint32_t recorder_kept_ms(const struct recorder *recorder);
/* Makes the snapshots that a collector's page asks for; `recorder` NULL: who asks is told that there is none.
 * *served: made. */
void snapshot_serve(struct session_page *page, uint32_t *served, const char *folder,
		    struct recorder *recorder, struct host *host);
/* Removes those of them that nobody reads. */
void snapshot_remove_unread(uint32_t served, const char *folder);
/* Why it can record no more; NULL: it can. */
const char *recorder_failure(const struct recorder *recorder);

/* ---- what recorder.c and snapshot.c share */

/* One that is in the recording, for the bound. */
struct segment {
	struct segment *next;
	struct source *source;
	uint64_t bytes;
	uint64_t newest_ns; /* when its newest event was published, for last_ns */
	uint32_t number;
	uint32_t stream_count;
	uint32_t counts[]; /* events, by the process's stream numbers */
};

struct recorder {
	char *output;
	int dir_fd;
	uint64_t limit_bytes;
	uint64_t last_ns;    /* how long events are kept; 0: the bound alone decides */
	uint64_t bytes;      /* of the segments */
	uint64_t describing; /* besides: what is left of those that were dropped */
	uint64_t newest_ns;  /* of all events that were saved */
	uint64_t swept_ns;   /* when all was saved last */
	uint64_t dropped_ns; /* newest_ns of the last one that was dropped; 0: none was */
	uint64_t forgotten;  /* processes of which nothing is left, not even the ledger */
	struct segment *oldest, **newest;
	char failure[256];
};

/* A piece of a file. */
struct part {
	const void *data;
	size_t size;
};

/* Writes a file that appears under its name when it is whole; false with errno. */
bool recorder_write_file(int dir_fd, const char *name, const struct part *parts, size_t n);
/* Writes segment `number` with records, or else `ring-NUMBER` with its counts. Fills in what describes the records
 * in the header. As recorder_write_file. */
bool recorder_write_ring(int dir_fd, uint32_t number, const struct ring_header *header,
			 const void *records, uint64_t bytes);
/* The copies that make a recording of the segments in a folder; control last. `published`: counts of a living process's
 * streams at this moment; NULL: it has ended. */
bool recorder_export(struct source *source, int dir_fd, uint32_t segments,
		     const uint64_t *published);
/* How the process's folder in the recording is called. */
const char *recorder_folder_name(const struct source *source);
/* The folder, made if it is not there; -1 with errno. */
int recorder_open_folder(const struct recorder *recorder, const struct source *source);
/* Leaves in a segment's file what describes others (stream_type_describes), and takes that out of its counts. False:
 * nothing to keep, or no room. */
bool recorder_keep_describing(struct recorder *recorder, struct segment *segment, int dir_fd,
			      const char *name);
