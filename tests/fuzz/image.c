/* SPDX-License-Identifier: MIT */
#include "image.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Zeros that are worth a new piece. */
#define GAP 16u

const char *image_name(unsigned file)
{
	static char name[16];

	if (file == IMAGE_CONTROL)
		return "control";
	if (file == IMAGE_DICT)
		return "dict";
	if (file == IMAGE_SEGMENT)
		return "segment-000000";
	snprintf(name, sizeof(name), "ring-%u", file - IMAGE_RING);
	return name;
}

bool image_next(const uint8_t *data, size_t size, size_t *at, struct image_piece *piece)
{
	if (*at > size || size - *at < sizeof(*piece))
		return false;
	memcpy(piece, data + *at, sizeof(*piece));
	*at += sizeof(*piece);
	piece->file %= IMAGE_RING_LAST + 1;
	piece->offset %= IMAGE_FILE_MAX;
	if (piece->length != IMAGE_CUT && piece->length > size - *at)
		piece->length = (uint16_t)(size - *at);
	return true;
}

void image_unpack(const uint8_t *data, size_t size, int dir_fd)
{
	int fds[IMAGE_RING_LAST + 1], fd;
	struct image_piece piece;
	size_t at = 0, i;

	memset(fds, -1, sizeof(fds));
	while (image_next(data, size, &at, &piece)) {
		fd = fds[piece.file];
		if (fd < 0)
			fd = fds[piece.file] = openat(dir_fd, image_name(piece.file),
						      O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0)
			abort();
		if (piece.length == IMAGE_CUT) {
			if (ftruncate(fd, piece.offset))
				abort();
			continue;
		}
		if (pwrite(fd, data + at, piece.length, piece.offset) != piece.length)
			abort();
		at += piece.length;
	}
	for (i = 0; i <= IMAGE_RING_LAST; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

void image_remove(int dir_fd)
{
	for (unsigned i = 0; i <= IMAGE_RING_LAST; i++)
		unlinkat(dir_fd, image_name(i), 0);
}

static void append(uint8_t **data, size_t *size, const void *bytes, size_t n)
{
	*data = realloc(*data, *size + n);
	if (!*data)
		abort();
	memcpy(*data + *size, bytes, n);
	*size += n;
}

/* How many bytes from `from` on belong to one piece: up to the next gap. */
static size_t piece_length(const uint8_t *bytes, size_t from, size_t size)
{
	size_t end = from, zeros = 0, at;

	for (at = from; at < size && zeros < GAP && at - from < IMAGE_CUT - 1; at++) {
		zeros = bytes[at] ? 0 : zeros + 1;
		if (bytes[at])
			end = at + 1;
	}
	return end - from;
}

static void pack_file(const uint8_t *bytes, size_t file_size, unsigned file, uint8_t **data,
		      size_t *size)
{
	struct image_piece piece = {.file = (uint16_t)file};
	size_t at = 0;

	piece.length = IMAGE_CUT;
	piece.offset = (uint32_t)file_size;
	append(data, size, &piece, sizeof(piece));
	while (at < file_size) {
		if (!bytes[at]) {
			at++;
			continue;
		}
		at &= ~(size_t)7;
		piece.offset = (uint32_t)at;
		piece.length = (uint16_t)piece_length(bytes, at, file_size);
		if (!piece.length) /* zeros at its beginning */
			piece.length = 8;
		append(data, size, &piece, sizeof(piece));
		append(data, size, bytes + at, piece.length);
		at += piece.length;
	}
}

void image_pack(int dir_fd, uint8_t **data, size_t *size)
{
	static uint8_t bytes[IMAGE_FILE_MAX];

	for (unsigned i = 0; i <= IMAGE_RING_LAST; i++) {
		int fd = openat(dir_fd, image_name(i), O_RDONLY | O_CLOEXEC);
		ssize_t n;

		if (fd < 0)
			continue;
		memset(bytes, 0, sizeof(bytes));
		n = read(fd, bytes, sizeof(bytes) - 8);
		close(fd);
		if (n >= 0)
			pack_file(bytes, (size_t)n, i, data, size);
	}
}
