/* SPDX-License-Identifier: MIT */
/* A spool folder as one input: pieces of its files. What no piece covers is zero, so that sparse files stay small. A
 * piece is a header and its bytes; the last may be cut off. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum image_file { IMAGE_CONTROL, IMAGE_DICT, IMAGE_SEGMENT, IMAGE_RING, IMAGE_RING_LAST = 10 };

/* No file is made longer. */
#define IMAGE_FILE_MAX (512u << 10)
#define IMAGE_CUT      0xffffu

struct image_piece {
	uint16_t file;   /* enum image_file; modulo */
	uint16_t length; /* of the bytes that follow; IMAGE_CUT: none, the file ends at offset */
	uint32_t offset;
};

/* The name of a file; ring-N for IMAGE_RING + N. */
const char *image_name(unsigned file);
/* The next piece in data[*at, size), whose length is cut to what is there; false: none. */
bool image_next(const uint8_t *data, size_t size, size_t *at, struct image_piece *piece);
/* Makes the files in a folder, in which none of them is yet. */
void image_unpack(const uint8_t *data, size_t size, int dir_fd);
void image_remove(int dir_fd);
/* Appends the files of a folder to *data (realloc). */
void image_pack(int dir_fd, uint8_t **data, size_t *size);
