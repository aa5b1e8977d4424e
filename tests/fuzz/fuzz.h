/* SPDX-License-Identifier: MIT */
/* What each target defines. libFuzzer's names; without libFuzzer, replay.c calls them with the files that it is given.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
/* libFuzzer's own. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* Input that is eaten up from its front; nothing is left: zeros. */
struct input {
	const uint8_t *at;
	size_t left;
};

static inline uint32_t input_number(struct input *in, size_t bytes)
{
	uint32_t n = 0;

	for (; bytes && in->left; bytes--, in->left--)
		n = n << 8 | *in->at++;
	return n;
}
