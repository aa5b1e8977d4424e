/* SPDX-License-Identifier: MIT */
/* See captures.h. */
#include "captures.h"

#include <stdbool.h>

#define CAPTURES_MAX 64

static struct {
	uint64_t who;    /* a stream or event; 0: the place is free */
	uint64_t origin; /* the stream whose capture it is in */
} captures[CAPTURES_MAX];
/* Places from there on have never been used: most programs capture nothing. */
static uint32_t used;

static uint64_t origin_of(uint64_t who)
{
	const uint32_t count = __atomic_load_n(&used, __ATOMIC_RELAXED);

	for (uint32_t i = 0; who && i < count; i++)
		if (__atomic_load_n(&captures[i].who, __ATOMIC_RELAXED) == who)
			return __atomic_load_n(&captures[i].origin, __ATOMIC_RELAXED);
	return 0;
}

static void add(uint64_t who, uint64_t origin)
{
	for (uint32_t i = 0; i < CAPTURES_MAX; i++) {
		uint64_t there = 0;
		uint32_t seen = __atomic_load_n(&used, __ATOMIC_RELAXED);

		if (!__atomic_compare_exchange_n(&captures[i].who, &there, who, false,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&captures[i].origin, origin, __ATOMIC_RELAXED);
		while (seen <= i &&
		       !__atomic_compare_exchange_n(&used, &seen, i + 1, true, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED))
			;
		return;
	}
}

void captures_begin(uint64_t stream)
{
	if (stream && !origin_of(stream))
		add(stream, stream);
}

/* Those of that capture; but if who is not 0, that one alone. */
static void forget(uint64_t origin, uint64_t who)
{
	const uint32_t count = __atomic_load_n(&used, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < count; i++) {
		if (__atomic_load_n(&captures[i].origin, __ATOMIC_RELAXED) != origin ||
		    (who && __atomic_load_n(&captures[i].who, __ATOMIC_RELAXED) != who))
			continue;
		__atomic_store_n(&captures[i].origin, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&captures[i].who, 0, __ATOMIC_RELAXED);
	}
}

void captures_end(uint64_t stream)
{
	if (stream)
		forget(stream, 0);
}

void captures_record(uint64_t event, uint64_t stream)
{
	const uint64_t origin = origin_of(stream), before = origin_of(event);

	if (before && before != origin)
		forget(before, event);
	if (origin && before != origin)
		add(event, origin);
}

void captures_wait(uint64_t stream, uint64_t event)
{
	const uint64_t origin = origin_of(event);

	if (stream && origin && !origin_of(stream))
		add(stream, origin);
}

bool captures_have(uint64_t stream)
{
	return origin_of(stream);
}
