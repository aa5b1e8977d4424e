/* SPDX-License-Identifier: MIT */
/*
 * file.h: a file that is complete after each commit, whatever kills its writer.
 *
 *   FILE_TEXT   items of text and, behind them, a tail that closes it (JSON). Ahead of the items
 *               there is room of blanks, and the tail is a page behind that. No item lies on two
 *               pages unless it is larger than one. A write that is cut off ends between two pages:
 *               what is there is whole items, then blanks, then the tail. Only when the room is
 *               extended the tail moves, by one call (file_pair.c).
 *   FILE_GZIP   the same text as members of gzip. The last one holds the tail. The next ones are
 *               written over it, in one write. A write that is cut off leaves no tail.
 *   FILE_PLAIN  bytes without a tail until they are finished: nobody reads them before, or readers
 *               ignore an item that is cut off.
 *
 * Items are made in a buffer: file_room, write there, file_take. A failure is kept until it is
 * asked for; after one nothing is written. One thread.
 */
#ifndef RTL_TIMELINE_FILE_H
#define RTL_TIMELINE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The longest tail of a file that goes on. */
#define FILE_TAIL_MAX 4096u

enum file_kind { FILE_TEXT, FILE_GZIP, FILE_PLAIN };

struct file_gzip;

struct file {
	enum file_kind kind;
	int fd;
	int error;       /**< errno of the first failure, 0: none */
	uint64_t offset; /**< in the file, of the buffer's begin
			  */
	uint64_t end;    /**< of the file with its tail */
	char *buffer;
	size_t used, size;
	size_t tail_length;
	char tail[FILE_TAIL_MAX];
	size_t written_length; /**< of the tail that is in a text */
	char written[FILE_TAIL_MAX];
	struct file_gzip *gzip;
};

/** Opens an empty file for that descriptor, which it owns from here on. False: out of memory. */
bool file_open(struct file *file, enum file_kind kind, int fd);
/** Goes on with a file that somebody has left, at a place that he had reached with file_place;
 *  what is behind it is removed. False: it cannot, see error (0: it is not as it was left). */
bool file_resume(struct file *file, uint64_t offset, uint64_t used);
/** Where the next item goes, for file_resume; after a commit. */
void file_place(const struct file *file, uint64_t *offset, uint64_t *used);
/** What closes the file from now on; at most FILE_TAIL_MAX - 1 bytes are taken. */
void file_set_tail(struct file *file, const char *tail, size_t length);
/** Writes what is in the buffer. */
void file_commit(struct file *file);
/** Writes all of it with a last tail, of any length. */
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

/* Moves an item to the next page. */
void file_move(struct file *file, size_t length);

#define FILE_PAGE 4096u

/** The item is that long. */
static inline void file_take(struct file *file, size_t length)
{
	const size_t at = file->used % FILE_PAGE;

	if (file->kind == FILE_TEXT && __builtin_expect(at + length > FILE_PAGE && at != 0, 0))
		file_move(file, length);
	file->used += length;
}

/* file_pair.c: writes in two places by one call. */
struct file_piece {
	const void *bytes;
	size_t length;
	uint64_t offset;
};
void file_write_pair(struct file *file, const struct file_piece pieces[2]);

/* file_gzip.c */

bool file_gzip_open(struct file *file);
void file_gzip_commit(struct file *file, const char *tail, size_t length);
void file_gzip_close(struct file *file);
/* For both: 0, or -1 with file->error. */
int file_write(struct file *file, const void *from, size_t length, uint64_t offset);

#endif
