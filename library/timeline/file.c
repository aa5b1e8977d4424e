/* SPDX-License-Identifier: MIT */
/* See file.h. */
#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_SIZE ((size_t)512 << 10)
/* Room of blanks that is made at a time: an eighth of the file, within these. */
#define ROOM_LEAST ((uint64_t)64 << 10)
#define ROOM_MOST  ((uint64_t)8 << 20)

int file_write(struct file *file, const void *from, size_t length, uint64_t offset)
{
	while (!file->error && length > 0) {
		ssize_t n = pwrite(file->fd, from, length, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			file->error = n < 0 ? errno : ENOSPC;
			return -1;
		}
		from = (const char *)from + n;
		length -= (size_t)n;
		offset += (uint64_t)n;
	}
	return file->error ? -1 : 0;
}

bool file_open(struct file *file, enum file_kind kind, int fd)
{
	*file = (struct file){.kind = kind, .fd = fd, .size = BUFFER_SIZE};
	/* a page more: an item is moved by less than that */
	file->buffer = malloc(BUFFER_SIZE + FILE_PAGE);
	if (!file->buffer || (kind == FILE_GZIP && !file_gzip_open(file))) {
		free(file->buffer);
		file->buffer = NULL;
		return false;
	}
	return true;
}

static void cut(struct file *file, uint64_t end)
{
	if (!file->error && ftruncate(file->fd, (off_t)end) != 0)
		file->error = errno;
	file->end = end;
}

static void write_blanks(struct file *file, uint64_t from, uint64_t to);

/* What stands on the page before the place is kept, what is behind it becomes blank; the page of
 * the tail is not touched. */
static bool resume_text(struct file *file, uint64_t size, uint64_t used)
{
	const uint64_t rest = file->offset + (used ? FILE_PAGE : 0);
	uint64_t end = (size + FILE_PAGE - 1) / FILE_PAGE * FILE_PAGE;

	if (used > FILE_PAGE || file->offset % FILE_PAGE ||
	    pread(file->fd, file->buffer, used, (off_t)file->offset) != (ssize_t)used)
		return false;
	file->used = used;
	file->end = end > rest ? end : rest + FILE_PAGE;
	write_blanks(file, file->offset + used, file->end - FILE_PAGE);
	return true;
}

bool file_resume(struct file *file, uint64_t offset, uint64_t used)
{
	const off_t size = lseek(file->fd, 0, SEEK_END);

	if (size < 0 || (uint64_t)size < offset)
		return false;
	file->offset = offset;
	if (file->kind == FILE_TEXT && !resume_text(file, (uint64_t)size, used))
		return false;
	if (file->kind != FILE_TEXT)
		cut(file, offset);
	return file->error == 0;
}

void file_place(const struct file *file, uint64_t *offset, uint64_t *used)
{
	*offset = file->offset;
	*used = file->used;
}

void file_set_tail(struct file *file, const char *tail, size_t length)
{
	file->tail_length = length < FILE_TAIL_MAX ? length : FILE_TAIL_MAX - 1;
	memcpy(file->tail, tail, file->tail_length);
}

void file_move(struct file *file, size_t length)
{
	const size_t pad = FILE_PAGE - file->used % FILE_PAGE;
	char *at = file->buffer + file->used;

	memmove(at + pad, at, length);
	memset(at, ' ', pad);
	file->used += pad;
}

/* ---- text ---- */

/* The page of the tail that is in the file, which is its own. */
static void make_tail(const struct file *file, char page[FILE_PAGE])
{
	memset(page, ' ', FILE_PAGE);
	memcpy(page, file->written, file->written_length);
	page[FILE_PAGE - 1] = '\n';
}

/* The tail from now on: what it tells of is in the file. */
static void use_tail(struct file *file)
{
	memcpy(file->written, file->tail, file->tail_length);
	file->written_length = file->tail_length;
}

static const char *blank_page(void)
{
	static char page[FILE_PAGE];

	memset(page, ' ', sizeof(page));
	return page;
}

static void write_tail(struct file *file)
{
	char page[FILE_PAGE];

	use_tail(file);
	make_tail(file, page);
	file_write(file, page, sizeof(page), file->end - FILE_PAGE);
}

static void write_blanks(struct file *file, uint64_t from, uint64_t to)
{
	static const size_t piece = (size_t)256 << 10;
	char *blanks = from < to ? malloc(piece) : NULL;

	if (!blanks) {
		if (from < to)
			file->error = ENOMEM;
		return;
	}
	memset(blanks, ' ', piece);
	for (; from < to && !file->error; from += piece)
		file_write(file, blanks, to - from < piece ? (size_t)(to - from) : piece, from);
	free(blanks);
}

/* The first bytes of the file, blanks and the tail, by one write: it is closed from the first on. */
static void begin_text(struct file *file, uint64_t end)
{
	const size_t length = (size_t)(end - file->offset);
	char *text = malloc(length);

	if (!text) {
		file->error = ENOMEM;
		return;
	}
	memcpy(text, file->buffer, file->used);
	memset(text + file->used, ' ', length - file->used);
	use_tail(file);
	make_tail(file, text + length - FILE_PAGE);
	if (file_write(file, text, length, file->offset) == 0)
		file->end = end;
	free(text);
}

/* Sees to it that items may go up to there. Behind the tail blanks do no harm, so only its own page
 * is ever in the way. */
static void extend(struct file *file, uint64_t need)
{
	const uint64_t old = file->end;
	uint64_t room = need / 8 < ROOM_LEAST  ? ROOM_LEAST
			: need / 8 > ROOM_MOST ? ROOM_MOST
					       : need / 8;
	const uint64_t end = (need + room + FILE_PAGE - 1) / FILE_PAGE * FILE_PAGE + FILE_PAGE;
	char tail[FILE_PAGE];

	if (old && need <= old - FILE_PAGE)
		return;
	if (!old) {
		begin_text(file, end);
		return;
	}
	/* who goes on with a file does not know what its tail tells */
	if (!file->written_length)
		use_tail(file);
	/* up to the end: the move needs no more room on the disk */
	write_blanks(file, old, end);
	make_tail(file, tail);
	file_write_pair(file, (struct file_piece[2]){{tail, FILE_PAGE, end - FILE_PAGE},
						     {blank_page(), FILE_PAGE, old - FILE_PAGE}});
	if (!file->error)
		file->end = end;
}

/* Whole pages; what is on the last one stays in the buffer. */
static void write_text(struct file *file)
{
	const size_t rest = file->used % FILE_PAGE, whole = file->used - rest;

	if (!file->used)
		return;
	extend(file, file->offset + whole + FILE_PAGE);
	if (rest)
		memset(file->buffer + file->used, ' ', FILE_PAGE - rest);
	file_write(file, file->buffer, whole + (rest ? FILE_PAGE : 0), file->offset);
	memmove(file->buffer, file->buffer + whole, rest);
	file->offset += whole;
	file->used = rest;
}

static void write_plain(struct file *file)
{
	file_write(file, file->buffer, file->used, file->offset);
	file->offset += file->used;
	file->end = file->offset;
	file->used = 0;
}

/* ---- both ---- */

void file_commit(struct file *file)
{
	if (file->error)
		return;
	if (file->kind == FILE_TEXT) {
		write_text(file);
		if (!file->error && file->end)
			write_tail(file);
	} else if (file->kind == FILE_GZIP) {
		file_gzip_commit(file, file->tail, file->tail_length);
	} else {
		write_plain(file);
	}
}

/* What reaches into the page of the old tail takes all of that, by one write. */
static void write_over(struct file *file, const char *tail, size_t length, uint64_t at)
{
	const size_t all = at + length < file->end ? (size_t)(file->end - at) : length;
	char *text = malloc(all);

	if (!text) {
		file->error = ENOMEM;
		return;
	}
	memcpy(text, tail, length);
	memset(text + length, ' ', all - length);
	file_write(file, text, all, at);
	free(text);
}

/* The last tail, where the items end, instead of the one that stands there. */
static void finish_text(struct file *file, const char *tail, size_t length)
{
	const uint64_t at = file->offset + file->used;
	const uint64_t old = file->end - FILE_PAGE;

	/* room for it first: where the disk is full the file stays as it is */
	write_blanks(file, file->end, at + length);
	if (!file->end) { /* nothing was ever committed */
		file_write(file, tail, length, at);
	} else if (at + length <= old) {
		file_write_pair(file, (struct file_piece[2]){{tail, length, at},
							     {blank_page(), FILE_PAGE, old}});
	} else {
		write_over(file, tail, length, at);
	}
	if (!file->error)
		cut(file, at + length);
}

void file_finish(struct file *file, const char *tail, size_t length)
{
	if (file->kind == FILE_GZIP) {
		file_gzip_commit(file, tail, length);
		return;
	}
	file_commit(file);
	if (file->kind == FILE_TEXT && !file->error)
		finish_text(file, tail, length);
	else
		file_write(file, tail, length, file->offset);
}

void file_make_room(struct file *file, size_t size)
{
	if (file->error)
		return;
	if (file->kind == FILE_TEXT)
		write_text(file);
	else if (file->kind == FILE_PLAIN)
		write_plain(file);
	else
		file_gzip_commit(file, file->tail, file->tail_length);
	if (!file->error && file->size - file->used < size) {
		const size_t more = file->used + size + BUFFER_SIZE;
		char *buffer = realloc(file->buffer, more + FILE_PAGE);

		if (buffer) {
			file->buffer = buffer;
			file->size = more;
		} else {
			file->error = ENOMEM;
		}
	}
}

void file_close(struct file *file)
{
	if (!file->buffer)
		return;
	if (file->kind == FILE_GZIP)
		file_gzip_close(file);
	if (close(file->fd) != 0 && !file->error)
		file->error = errno;
	free(file->buffer);
	file->buffer = NULL;
}
