/* SPDX-License-Identifier: MIT */
/* The spool of this process: its folder and control page. Format: spool.h, ring.h. Threads: under the bus's lock.
 * The mappings stay until the process ends: publishers hold pointers into them. */
#pragma once

#include <limits.h>

#include "files.h"
#include "ring.h"

#define SPOOL_PREFIX "rtl-spool-" /* of the folders' names */
/* A file in a folder whose removal has begun: the control or the session page, under another name. */
#define SPOOL_REMOVED "removed"

struct spool {
	char path[PATH_MAX];
	bool has_files; /* else it is private; relaxed where the bus's lock is not held */
	struct kept_fd dir;
	struct kept_fd lock; /* of `control`, which tells others that we live */
	struct spool_control *control;
	uint8_t *dict;     /* see dict.h */
	size_t dict_bytes; /* of the file, and mapped */
};

/* A control page in private memory, if nothing is to be recorded. `fixed`: an earlier one to replace in place, or
 * NULL. */
int spool_open_private(struct spool *spool, struct spool_control *fixed);

/* A folder in `base` (NULL: the best there is) with a control page. RTL_EIO, RTL_ENOSPC, and a message. */
int spool_open_folder(struct spool *spool, const char *base, struct spool_control *fixed,
		      char *message, size_t size);

/* Whether rings, which have `taken` bytes, may take more of the file system: at most half of what was free. */
bool spool_may_take(const struct spool *spool, size_t taken, size_t bytes);

/* A ring of `capacity` bytes, ready for thread `tid`; NULL with errno. */
struct ring_header *spool_ring_create(struct spool *spool, uint32_t index, size_t capacity,
				      uint32_t tid);

/* In a child after fork: forgets the parent's spool without touching its files. */
void spool_forget(struct spool *spool);

/* Makes the dictionary's file `bytes` long if it is not; false: it cannot. */
bool spool_grow_dict(struct spool *spool, size_t bytes);

/* ring_prepare for a ring of this process; any thread. */
bool spool_ring_prepare(const struct spool *spool, struct ring_header *ring, uint64_t bytes,
			bool alone);

/* slots-N (index), of so many bytes with its header; NULL with errno. */
struct spool_slots *spool_slots_create(struct spool *spool, uint32_t index, size_t bytes);
/* Gives a part of it its blocks; 0 bytes: removes the file. False: that cannot be. */
bool spool_slots_reserve(const struct spool *spool, uint32_t index, uint64_t from, uint64_t bytes);

/* Removes the files; mappings stay. */
void spool_remove(struct spool *spool);
/* The same, but descriptors stay open too: threads may still use them. */
void spool_remove_files(struct spool *spool);
/* Removes a folder and the files in it. */
void spool_remove_folder(const char *path);
/* The id of this boot; zeros if it is not known. */
void spool_boot_id(uint8_t id[16]);
/* The folder for spools if none is named. */
const char *spool_default_folder(void);
