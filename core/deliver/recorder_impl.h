/* SPDX-License-Identifier: MIT */
/* What the parts of the recorder share: recorder.c, and snapshot.c. */
#ifndef RTL_CORE_RECORDER_IMPL_H
#define RTL_CORE_RECORDER_IMPL_H

#include "recorder.h"
#include "source.h"

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
/* Writes a ring's file, segment `number` with records, or else `ring-NUMBER` with its counts alone. Of the
 * header what describes the records is filled in. As recorder_write_file. */
bool recorder_write_ring(int dir_fd, uint32_t number, const struct ring_header *header,
			 const void *records, uint64_t bytes);
/* The copies that make a recording of the segments in a folder; control last. `published`: the process
 * goes on, and these are the counts of its streams at this moment; NULL: it has ended. */
bool recorder_export(struct source *source, int dir_fd, uint32_t segments,
		     const uint64_t *published);
/* How the process's folder in the recording is called. */
const char *recorder_folder_name(const struct source *source);
/* The folder, made if it is not there; -1 with errno. */
int recorder_open_folder(const struct recorder *recorder, const struct source *source);
/* Leaves of a segment's file what describes others (stream_type_describes), and takes that out of its
 * counts. False: there is nothing to keep, or no room for more. */
bool recorder_keep_describing(struct recorder *recorder, struct segment *segment, int dir_fd,
			      const char *name);

#endif
