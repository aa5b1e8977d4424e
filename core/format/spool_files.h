/* SPDX-License-Identifier: MIT */
/* Maps the spool of another process, alive or dead. Nothing in it is trusted: sizes are checked against the files
 * first, and whoever reads what may change checks it again. One thread at a time. */
#pragma once

#include "ring.h"

/* What a spool is opened for. */
enum spool_use {
	SPOOL_READ,    /* nothing in its files changes */
	SPOOL_ATTACH,  /* likewise; what came before is not looked at */
	SPOOL_RECOVER, /* its rings are drained, in the place of a consumer that has died */
	SPOOL_COLLECT, /* as its process goes on, which reports to us */
};

struct spool_files {
	int dir_fd;
	bool shared; /* what is written goes to the files; else it stays here */
	struct spool_control *control;
	uint8_t *dict;     /* a copy: what was checked stays so */
	size_t dict_bytes; /* read */
	uint32_t dict_room;
	bool dict_short; /* the file is shorter than it should be */
	struct ring_header **rings;
	size_t *ring_bytes;
	uint32_t ring_count; /* mapped; one that cannot be is NULL */
	uint32_t ring_room;
	/* Of a recording, mapped one by one (mappings are limited), in the order of rings and positions. */
	struct spool_segment *segments;
	uint64_t segment_bytes; /* of their records */
	uint32_t segment_count;
	uint32_t segments_lost; /* files that are none, or whose ring there cannot be */
	uint32_t segments_end;  /* behind the greatest number, of those too */
	bool segments_known;
};

struct spool_segment {
	uint64_t origin; /* position of its first record in its ring */
	uint64_t length; /* bytes of its records */
	uint32_t ring;
	uint32_t number; /* of its file */
};

/* RTL_ENOENT, RTL_EFORMAT (*why says what), RTL_EIO, RTL_ENOMEM. */
int spool_files_open(struct spool_files *files, const char *path, bool shared, const char **why);
/* Maps the rings that are new. */
void spool_files_map_rings(struct spool_files *files);
/* Looks for the segments in the folder of a recording; once. */
void spool_files_find_segments(struct spool_files *files);
/* Maps one of them; NULL: it is no longer what it was. */
struct ring_header *spool_files_map_segment(const struct spool_files *files, uint32_t segment,
					    size_t *bytes);
/* Lets go of it; returns whether something of it was missing. */
bool spool_files_unmap_segment(void *at, size_t bytes);
/* Notes for the next reader that all of it has been delivered. Only where files are shared. */
void spool_files_settle_segment(const struct spool_files *files, uint32_t segment);
/* Maps slots-N; NULL: there is none. spool_files_unmap_segment lets go of it. */
struct spool_slots *spool_files_map_slots(const struct spool_files *files, uint32_t number,
					  size_t *bytes);
/* Reads what is new in the dictionary. Returns how many bytes of it are valid. */
uint64_t spool_files_read_dict(struct spool_files *files);
void spool_files_close(struct spool_files *files);
