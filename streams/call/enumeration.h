/* SPDX-License-Identifier: MIT */
/*
 * Names of the values of an enumeration that a function returns, as interned strings. (Those of
 * arguments readers find, see RTL_ARGS_KEY.)
 *
 * Threads: any. Preparing makes its strings once, under a lock; looking up takes none.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct call_enumerator;

struct call_enumeration {
	const char *type;
	const char *values; /* "value=name;value=name", ascending */
	struct call_enumerator *enumerators;
	uint32_t count; /* release when they are there, acquire by who looks up; 0: not yet */
};

/* Makes its strings. False: no memory. Not on a hot path. */
bool call_enumeration_prepare(struct call_enumeration *enumeration);

/* The string of a value's name; 0: it has none, or is not prepared. enumeration may be NULL. */
uint64_t call_enumeration_name(const struct call_enumeration *enumeration, int64_t value);
