/* SPDX-License-Identifier: MIT */
/*
 * Texts and other bytes that a program hands to functions of an API, copied without harm: what is
 * NULL, not terminated or not there at all crashes nobody.
 *
 * Threads: any. No locks; a system call for each text.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TEXT_BYTES 256u /* of a text: what is longer is cut */

struct text {
	uint32_t length;
	bool cut, there;
	char bytes[TEXT_BYTES + 1];
};

/* Copies a text from anywhere; there are bytes behind it that may not be readable. Keeps errno. */
void text_read(struct text *text, uint64_t address);

/* Copies as many of so many bytes as are there, a page at most, from anywhere; how many. Keeps errno. */
size_t text_read_bytes(void *to, uint64_t address, size_t size);

/* Reads `bytes` (1, 2, 4 or 8) from an address that can be read. */
static inline uint64_t value_load(uint64_t address, uint32_t bytes, bool is_signed)
{
	const void *from = (const void *)(uintptr_t)address;
	uint64_t value = 0;

	/* little-endian; a copy of each size is an instruction */
	if (bytes == 8)
		memcpy(&value, from, 8);
	else if (bytes == 4)
		memcpy(&value, from, 4);
	else if (bytes == 2)
		memcpy(&value, from, 2);
	else
		memcpy(&value, from, 1);
	if (is_signed && bytes < 8) {
		const uint32_t unused = 64 - 8 * bytes;

		value = (uint64_t)((int64_t)(value << unused) >> unused);
	}
	return value;
}
