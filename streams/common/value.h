/* SPDX-License-Identifier: MIT */
/* Values that a function of an API has written to its caller's memory, as 64 bits. Any thread. */
#ifndef STREAMS_COMMON_VALUE_H
#define STREAMS_COMMON_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

#endif
