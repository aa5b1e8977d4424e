/* SPDX-License-Identifier: MIT */
/*
 * file_gzip.c: the part of file.h that compresses: each commit adds a member with what is in the
 * buffer, and one with the tail, which the next commit overwrites.
 */
#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define LEVEL 1

struct file_gzip {
	z_stream deflate;
	unsigned char *out;
	size_t size, used;
};

bool file_gzip_open(struct file *file)
{
	struct file_gzip *gzip = calloc(1, sizeof(*gzip));

	if (!gzip)
		return false;
	/* 16: with the frame of gzip */
	if (deflateInit2(&gzip->deflate, LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK) {
		free(gzip);
		return false;
	}
	file->gzip = gzip;
	return true;
}

void file_gzip_close(struct file *file)
{
	if (!file->gzip)
		return;
	deflateEnd(&file->gzip->deflate);
	free(file->gzip->out);
	free(file->gzip);
	file->gzip = NULL;
}

/* One member, behind what is there. */
static void add_member(struct file *file, const char *text, size_t length)
{
	struct file_gzip *gzip = file->gzip;

	deflateReset(&gzip->deflate);
	gzip->deflate.next_in = (unsigned char *)(size_t)text;
	gzip->deflate.avail_in = (unsigned)length;
	gzip->deflate.next_out = gzip->out + gzip->used;
	gzip->deflate.avail_out = (unsigned)(gzip->size - gzip->used);
	deflate(&gzip->deflate, Z_FINISH);
	gzip->used = gzip->size - gzip->deflate.avail_out;
}

static bool make_room(struct file *file, size_t text)
{
	struct file_gzip *gzip = file->gzip;
	const size_t size = deflateBound(&gzip->deflate, text) + 4096 /* two members */;
	unsigned char *out = size > gzip->size ? realloc(gzip->out, size) : gzip->out;

	if (!out) {
		file->error = ENOMEM;
		return false;
	}
	gzip->out = out;
	gzip->size = size > gzip->size ? size : gzip->size;
	gzip->used = 0;
	return true;
}

/* What could not be written whole is taken away, so that there is room for the tail. */
static void close_after_failure(struct file *file, const char *tail, size_t length)
{
	const int error = file->error;

	file->error = 0;
	file->gzip->used = 0;
	add_member(file, tail, length);
	if (ftruncate(file->fd, (off_t)file->offset) == 0)
		file_write(file, file->gzip->out, file->gzip->used, file->offset);
	file->error = error;
}

void file_gzip_commit(struct file *file, const char *tail, size_t length)
{
	struct file_gzip *gzip = file->gzip;
	size_t stays = 0;
	uint64_t end;

	if (file->error || !make_room(file, file->used + length))
		return;
	if (file->used) {
		add_member(file, file->buffer, file->used);
		stays = gzip->used;
	}
	add_member(file, tail, length);
	end = file->offset + gzip->used;
	file_write(file, gzip->out, gzip->used, file->offset);
	if (!file->error && end < file->end && ftruncate(file->fd, (off_t)end) != 0)
		file->error = errno;
	if (file->error) {
		close_after_failure(file, tail, length);
		return;
	}
	file->end = end;
	file->offset += stays;
	file->used = 0;
}
