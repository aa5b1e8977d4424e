/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "config.h"

#define FIELDS_MAX_BYTES    640u /* a line without texts */
#define FIRST_PIECE_BYTES   (4u << 10)
#define LARGEST_PIECE_BYTES (256u << 10)
#define PAGE_BYTES          4096u

static bool is_plain(int fd)
{
	struct stat st;

	return fstat(fd, &st) || !S_ISREG(st.st_mode);
}

void sg_log_init(struct sg_log *log)
{
	const char *path = sg_config.log_path;

	*log = (struct sg_log){.fd = -1};
	if (!path)
		return;
	log->fd = strcmp(path, "-") == 0
			  ? dup(STDERR_FILENO)
			  : open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (log->fd < 0) {
		fprintf(stderr, "softgpu: SOFTGPU_LOG: %s: %m\n", path);
		return;
	}
	log->on = true;
	log->pid = (uint32_t)getpid();
	log->plain = is_plain(log->fd);
	log->piece_bytes = FIRST_PIECE_BYTES;
}

void sg_log_fini(struct sg_log *log)
{
	if (log->map && !log->plain)
		munmap(log->map, log->map_bytes);
	else
		free(log->map);
	if (log->fd >= 0)
		close(log->fd);
	*log = (struct sg_log){.fd = -1};
}

/* Appends a comment of that size to the file. Its offset, or -1. */
static off_t append_piece(int fd, size_t bytes)
{
	char *blank = malloc(bytes);
	off_t end = -1;

	if (!blank)
		return -1;
	memset(blank, ' ', bytes);
	blank[0] = '#';
	blank[bytes - 1] = '\n';
	/* O_APPEND keeps other writers out of it and leaves our position at its end. */
	if (write(fd, blank, bytes) == (ssize_t)bytes)
		end = lseek(fd, 0, SEEK_CUR);
	free(blank);
	return end < 0 ? -1 : end - (off_t)bytes;
}

static bool map_piece(struct sg_log *log, size_t bytes)
{
	off_t offset = append_piece(log->fd, bytes);
	size_t lead = (size_t)offset % PAGE_BYTES;

	if (offset < 0)
		return false;
	if (log->map)
		munmap(log->map, log->map_bytes);
	log->map_bytes = lead + bytes;
	log->map = mmap(NULL, log->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			log->fd, offset - (off_t)lead);
	if (log->map == MAP_FAILED) {
		log->map = NULL;
		return false;
	}
	madvise(log->map, log->map_bytes, MADV_DONTFORK);
	log->line = log->map + lead;
	log->end = log->line + bytes;
	return true;
}

static bool plain_buffer(struct sg_log *log, size_t bytes)
{
	char *grown = realloc(log->map, bytes);

	if (!grown)
		return false;
	log->map = log->line = grown;
	log->end = grown + bytes;
	return true;
}

/* Room for a line of that many bytes and for what must follow it. */
static void make_room(struct sg_log *log, size_t bytes)
{
	bool made;

	while (log->piece_bytes < bytes)
		log->piece_bytes *= 2;
	made = log->plain ? plain_buffer(log, bytes) : map_piece(log, log->piece_bytes);
	if (!made) {
		fprintf(stderr, "softgpu: SOFTGPU_LOG: cannot write: %m\n");
		abort(); /* an oracle that leaves out lines is worse than none */
	}
	if (log->piece_bytes < LARGEST_PIECE_BYTES)
		log->piece_bytes *= 2;
}

static char *put_text(char *p, const char *text)
{
	size_t len = strlen(text);

	memcpy(p, text, len);
	return p + len;
}

static char *put_decimal(char *p, uint64_t value)
{
	char digits[20], *d = digits + sizeof(digits);

	do
		*--d = (char)('0' + value % 10);
	while (value /= 10);
	memcpy(p, d, (size_t)(digits + sizeof(digits) - d));
	return p + (digits + sizeof(digits) - d);
}

static char *put_hex(char *p, uint64_t value)
{
	int shift = value ? (63 - __builtin_clzll(value)) / 4 * 4 : 0;

	p = put_text(p, "0x");
	for (; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[value >> shift & 15];
	return p;
}

void sg_line_u64(struct sg_line *line, const char *key, uint64_t value)
{
	line->at = put_decimal(put_text(line->at, key), value);
}

void sg_line_hex(struct sg_line *line, const char *key, uint64_t value)
{
	line->at = put_hex(put_text(line->at, key), value);
}

void sg_line_xyz(struct sg_line *line, const char *key, uint32_t x, uint32_t y, uint32_t z)
{
	sg_line_u64(line, key, x);
	sg_line_u64(line, ",", y);
	sg_line_u64(line, ",", z);
}

void sg_line_text(struct sg_line *line, const char *key, const char *text)
{
	line->at = put_text(put_text(line->at, key), text);
}

struct sg_line sg_log_begin(struct sg_log *log, const struct sg_log_row *row, size_t text_bytes)
{
	struct sg_line line;

	if (!log->line || (size_t)(log->end - log->line) < FIELDS_MAX_BYTES + text_bytes)
		make_room(log, FIELDS_MAX_BYTES + text_bytes);
	/* The line's first byte stays '#' until the line is whole. */
	line.at = put_text(log->line + 1, "pu=");
	line.at = put_decimal(line.at, row->gpu);
	sg_line_u64(&line, " queue=", row->queue);
	sg_line_u64(&line, " idx=", row->index);
	sg_line_text(&line, " kind=", row->kind);
	sg_line_u64(&line, " start=", sg_clock_ns(row->start_ticks));
	sg_line_u64(&line, " end=", sg_clock_ns(row->end_ticks));
	sg_line_hex(&line, " signal=", row->signal);
	sg_line_u64(&line, " pid=", log->pid);
	return line;
}

static void write_line(struct sg_log *log, size_t bytes)
{
	log->line[0] = 'g';
	if (write(log->fd, log->line, bytes) != (ssize_t)bytes)
		log->on = false; /* nobody reads any more */
}

void sg_log_end(struct sg_log *log, struct sg_line *line)
{
	*line->at++ = '\n';
	if (log->plain) {
		write_line(log, (size_t)(line->at - log->line));
		return;
	}
	if (line->at < log->end - 1)
		*line->at = '#'; /* the rest of the piece is a comment again */
	__atomic_store_n(log->line, 'g', __ATOMIC_RELEASE);
	log->line = line->at;
}
