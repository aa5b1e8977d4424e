/* SPDX-License-Identifier: MIT */
/* The 64-bit hash behind universal ids and string ids. Traces store its results and compare them between runs and
 * machines: it must never change (tests/unit/core/test_ids.c pins values).
 *
 * 8 input bytes at a time (little-endian, the tail padded with zeros) are mixed into the state by a
 * 64x64->128 multiplication whose halves are xored; the length closes it. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_u64(uint64_t state, uint64_t value)
{
	return hash_mix(state ^ 0x9fb21c651e98df25u, value ^ 0xd6e8feb86659fd93u) ^
	       (state << 23 | state >> 41);
}

static inline uint64_t hash_bytes(uint64_t state, const void *data, size_t length)
{
	const unsigned char *p = data;
	size_t left = length;
	uint64_t word;

	for (; left >= 8; left -= 8, p += 8) {
		memcpy(&word, p, 8);
		state = hash_u64(state, word);
	}
	if (left) {
		word = 0;
		memcpy(&word, p, left);
		state = hash_u64(state, word);
	}
	return hash_u64(state, length);
}

/* Ends a hash: no 0, which means "none" everywhere in rtl. */
static inline uint64_t hash_finish(uint64_t state)
{
	state = hash_u64(state, 0x2545f4914f6cdd1du);
	return state ? state : 1;
}
