/* SPDX-License-Identifier: MIT */
/*
 * Texts and other bytes that a program hands to functions of an API, copied without harm: what is
 * NULL, not terminated or not there at all crashes nobody.
 *
 * Threads: any. No locks; a system call for each text.
 */
#ifndef STREAMS_COMMON_TEXT_H
#define STREAMS_COMMON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_BYTES 256u /* of a text: what is longer is cut */

struct text {
	uint32_t length;
	bool cut, there;
	char bytes[TEXT_BYTES + 1];
};

/* Copies a text from anywhere; there are bytes behind it that may not be readable. Keeps errno. */
void text_read(struct text *text, uint64_t address);

/* Copies so many bytes from anywhere. False: they are not all there. Keeps errno. */
bool text_read_bytes(void *to, uint64_t address, size_t size);

#endif
