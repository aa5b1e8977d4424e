/* SPDX-License-Identifier: MIT */
/* See captures.h. */
#include "captures.h"

#include <stdbool.h>

#define CAPTURES_MAX 16

static uint64_t captures[CAPTURES_MAX];

void captures_note(uint64_t stream, bool begins)
{
	for (int i = 0; i < CAPTURES_MAX; i++) {
		uint64_t there = begins ? 0 : stream;

		if (__atomic_compare_exchange_n(&captures[i], &there, begins ? stream : 0, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return;
	}
}

bool captures_have(uint64_t stream)
{
	for (int i = 0; i < CAPTURES_MAX; i++)
		if (stream && __atomic_load_n(&captures[i], __ATOMIC_RELAXED) == stream)
			return true;
	return false;
}
