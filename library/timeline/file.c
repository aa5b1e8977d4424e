/* SPDX-License-Identifier: MIT */
#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define BUFFER_SIZE ((size_t)512 << 10)
#define LEVEL       1

struct file_gzip {
	z_stream deflate;
	unsigned char *out;
	size_t size;
};

static struct file_gzip *new_gzip(void)
{
	struct file_gzip *gzip = calloc(1, sizeof(*gzip));

	/* 16: with the frame of gzip */
	if (gzip &&
	    deflateInit2(&gzip->deflate, LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK)
		return gzip;
	free(gzip);
	return NULL;
}

bool file_open(struct file *file, bool compressed, int fd)
{
	*file = (struct file){.fd = fd, .size = BUFFER_SIZE};
	file->buffer = malloc(BUFFER_SIZE);
	if (file->buffer && (!compressed || (file->gzip = new_gzip())))
		return true;
	free(file->buffer);
	file->buffer = NULL;
	return false;
}

static void cut(struct file *file)
{
	if (ftruncate(file->fd, (off_t)file->offset) != 0 && !file->error)
		file->error = errno;
}

bool file_resume(struct file *file, uint64_t offset)
{
	const off_t size = lseek(file->fd, 0, SEEK_END);

	if (size < 0 || (uint64_t)size < offset)
		return false;
	file->offset = offset;
	cut(file);
	return file->error == 0;
}

static void write_out(struct file *file, const char *from, size_t length)
{
	size_t done = 0;

	while (!file->error && done < length) {
		const ssize_t n =
			pwrite(file->fd, from + done, length - done, (off_t)(file->offset + done));

		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			file->error = n < 0 ? errno : ENOSPC;
	}
	if (!file->error)
		file->offset += done;
}

/* The buffer as one member. */
static void write_packed(struct file *file)
{
	struct file_gzip *gzip = file->gzip;
	const size_t size = deflateBound(&gzip->deflate, file->used);
	unsigned char *out = size > gzip->size ? realloc(gzip->out, size) : gzip->out;

	if (!out) {
		file->error = ENOMEM;
		return;
	}
	gzip->out = out;
	gzip->size = size > gzip->size ? size : gzip->size;
	deflateReset(&gzip->deflate);
	gzip->deflate.next_in = (unsigned char *)file->buffer;
	gzip->deflate.avail_in = (unsigned)file->used;
	gzip->deflate.next_out = out;
	gzip->deflate.avail_out = (unsigned)gzip->size;
	deflate(&gzip->deflate, Z_FINISH);
	write_out(file, (char *)out, gzip->size - gzip->deflate.avail_out);
}

void file_commit(struct file *file)
{
	if (file->error || !file->used)
		return;
	if (file->gzip)
		write_packed(file);
	else
		write_out(file, file->buffer, file->used);
	file->used = 0;
}

void file_finish(struct file *file, const char *tail, size_t length)
{
	int error;
	char *to;

	file_commit(file);
	error = file->error;
	if (error) { /* what was written in part gives its room to the tail */
		cut(file);
		file->error = 0;
	}
	to = file_room(file, length);
	if (to && length) {
		memcpy(to, tail, length);
		file_take(file, length);
		file_commit(file);
	}
	if (error)
		file->error = error;
}

void file_make_room(struct file *file, size_t size)
{
	char *buffer;

	file_commit(file);
	if (file->error || file->size >= size)
		return;
	buffer = realloc(file->buffer, size + BUFFER_SIZE);
	if (buffer) {
		file->buffer = buffer;
		file->size = size + BUFFER_SIZE;
	} else {
		file->error = ENOMEM;
	}
}

void file_close(struct file *file)
{
	if (!file->buffer)
		return;
	if (file->gzip) {
		deflateEnd(&file->gzip->deflate);
		free(file->gzip->out);
		free(file->gzip);
	}
	if (close(file->fd) != 0 && !file->error)
		file->error = errno;
	free(file->buffer);
	file->buffer = NULL;
}
