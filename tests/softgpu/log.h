/* SPDX-License-Identifier: MIT
 *
 * Log: one line of text for each packet that an engine has processed (README.md describes the fields). Each engine
 * writes to a piece of the file of its own, mapped shared: no system call and no lock for a line, and what is written
 * survives the process however it dies. A piece's unused rest reads as a comment, a line that begins with '#'; so does
 * a line that is only half there. What is not a regular file gets each line by write(2).
 *
 * Threads: a struct sg_log belongs to its engine's thread. Processes may share a file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_log {
	bool on;
	bool plain; /* no regular file */
	int fd;
	uint32_t pid;
	char *map;
	size_t map_bytes;
	char *line; /* where the next line goes, */
	char *end;  /* the piece's end */
	size_t piece_bytes;
};

/* What every line has. */
struct sg_log_row {
	const char *kind;
	uint32_t gpu, queue;
	uint64_t index;
	uint64_t start_ticks, end_ticks;
	uint64_t signal;
};

/* A line that is being written. */
struct sg_line {
	char *at;
};

/* Off when SOFTGPU_LOG is not set. Prints why when the file cannot be opened. */
void sg_log_init(struct sg_log *log);
void sg_log_fini(struct sg_log *log);

/* Begin a line; text_bytes is room for sg_line_text(). Then the further fields, then end. */
struct sg_line sg_log_begin(struct sg_log *log, const struct sg_log_row *row, size_t text_bytes);
void sg_line_u64(struct sg_line *line, const char *key, uint64_t value);
void sg_line_hex(struct sg_line *line, const char *key, uint64_t value);
void sg_line_xyz(struct sg_line *line, const char *key, uint32_t x, uint32_t y, uint32_t z);
void sg_line_text(struct sg_line *line, const char *key, const char *text);
void sg_log_end(struct sg_log *log, struct sg_line *line);
