/* SPDX-License-Identifier: MIT */
/* See captures.h. */
#include "captures.h"

#include <stdatomic.h>

#define CAPTURES_MAX 16

static _Atomic uint64_t captures[CAPTURES_MAX];

void captures_note(uint64_t stream, bool begins)
{
	for (int i = 0; i < CAPTURES_MAX; i++) {
		uint64_t there = begins ? 0 : stream;

		if (atomic_compare_exchange_strong_explicit(
			    &captures[i], &there, begins ? stream : 0, memory_order_relaxed,
			    memory_order_relaxed))
			return;
	}
}

bool captures_have(uint64_t stream)
{
	for (int i = 0; i < CAPTURES_MAX; i++)
		if (stream && atomic_load_explicit(&captures[i], memory_order_relaxed) == stream)
			return true;
	return false;
}
