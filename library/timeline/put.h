/* SPDX-License-Identifier: MIT */
/* put.h: numbers and texts into a buffer that has room for them; each returns the end. Any thread.
 */
#pragma once

#include "name.h"

/** The most bytes of a number, which are also written where it has less. */
#define PUT_NUMBER 20u

extern const char put_pairs[200];

static inline char *put_uint(char *to, uint64_t value)
{
	char some[2 * PUT_NUMBER];
	unsigned at = PUT_NUMBER;

	while (value >= 100) {
		const unsigned pair = (unsigned)(value % 100);

		value /= 100;
		at -= 2;
		memcpy(some + at, put_pairs + 2 * (size_t)pair, 2);
	}
	if (value >= 10) {
		at -= 2;
		memcpy(some + at, put_pairs + 2 * value, 2);
	} else {
		some[--at] = (char)('0' + value);
	}
	memcpy(to, some + at, PUT_NUMBER); /* of a length that is known: no call */
	return to + (PUT_NUMBER - at);
}

/** Whether a value is an integer that has room in 64 bits. */
static inline bool put_is_whole(double value)
{
	return value >= -9e18 && value <= 9e18 && value == (double)(int64_t)value;
}

static inline char *put_int(char *to, int64_t value)
{
	if (value < 0) {
		*to++ = '-';
		return put_uint(to, 0 - (uint64_t)value);
	}
	return put_uint(to, (uint64_t)value);
}

/** "0x" and the number. */
static inline char *put_hex(char *to, uint64_t value)
{
	static const char digits[] = "0123456789abcdef";
	int shift = value ? 60 - __builtin_clzll(value) / 4 * 4 : 0;

	*to++ = '0';
	*to++ = 'x';
	for (; shift >= 0; shift -= 4)
		*to++ = digits[value >> shift & 15];
	return to;
}

/** Microseconds with three decimals, of ns. */
static inline char *put_us(char *to, uint64_t ns)
{
	const unsigned rest = (unsigned)(ns % 1000);

	to = put_uint(to, ns / 1000);
	to[0] = '.';
	to[1] = (char)('0' + rest / 100);
	memcpy(to + 2, put_pairs + 2 * (size_t)(rest % 100), 2);
	return to + 4;
}

/** A text in blocks; up to a block more is read and written. */
static inline char *put_blocks(char *to, const char *text, size_t length)
{
	char *at = to;

	for (size_t i = 0; i < length; i += NAME_BLOCK, at += NAME_BLOCK)
		memcpy(at, text + i, NAME_BLOCK);
	return to + length;
}

static inline char *put_name(char *to, const struct name *name)
{
	return put_blocks(to, name->json, name->json_length);
}

/** A constant. */
#define PUT(to, text) ((char *)memcpy((to), (text), sizeof(text) - 1) + sizeof(text) - 1)
