/* SPDX-License-Identifier: MIT */
/* file.h: a file to which items are appended, and at last what closes it. Where its writer is killed, who goes on cuts
 * off what is behind the last commit that he knows of. Compressed, each write is a member of gzip.
 *
 * Items are made in a buffer: file_room, write there, file_take. A failure is kept until it is asked for; after one
 * only file_finish writes. One thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_gzip;

struct file {
	int fd;
	int error;       /**< errno of the first failure, 0: none */
	uint64_t offset; /**< where the buffer goes; after a commit it is where an item ends */
	char *buffer;
	size_t used, size;
	struct file_gzip *gzip; /**< NULL: not compressed */
};

/** Opens an empty file for that descriptor, which it owns from here on. False: out of memory. */
bool file_open(struct file *file, bool compressed, int fd);
/** Goes on with a file that somebody has left, at an offset that he had after a commit; what is behind
 *  it is removed. False: it cannot, see error (0: it is not as it was left). */
bool file_resume(struct file *file, uint64_t offset);
/** Writes what is in the buffer. */
void file_commit(struct file *file);
/** Writes it with the bytes that close the file; after a failure those behind what was whole. */
void file_finish(struct file *file, const char *tail, size_t length);
void file_close(struct file *file);

/* Called by file_room. */
void file_make_room(struct file *file, size_t size);

/** Room for an item of at most that size; the same room until file_take. NULL: it has failed. */
static inline char *file_room(struct file *file, size_t size)
{
	if (__builtin_expect(file->size - file->used < size, 0))
		file_make_room(file, size);
	return __builtin_expect(file->error != 0, 0) ? NULL : file->buffer + file->used;
}

/** The item is that long. */
static inline void file_take(struct file *file, size_t length)
{
	file->used += length;
}
