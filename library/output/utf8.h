/* SPDX-License-Identifier: MIT */
/* utf8.h: texts come from traced programs and may hold any bytes; outputs hold valid UTF-8. A byte that belongs to no
 * valid sequence, and NUL, becomes U+FFFD in every output. Any thread. */
#pragma once

#include <stddef.h>
#include <string.h>

/** U+FFFD, the replacement character. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/** Bytes of the valid UTF-8 sequence at `s`, 0 if there is none (RFC 3629); left > 0. */
static inline size_t utf8_length(const unsigned char *s, size_t left)
{
	size_t n;

	if (s[0] < 0x80)
		return s[0] != 0;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (left < n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

/** Copies one sequence, or U+FFFD (3 bytes) for a byte that belongs to none. *used: bytes of `from`.
 *  Returns the end. */
static inline char *utf8_copy(char *to, const unsigned char *from, size_t left, size_t *used)
{
	const size_t n = utf8_length(from, left);

	memcpy(to, n ? (const char *)from : UTF8_REPLACEMENT, n ? n : 3);
	*used = n ? n : 1;
	return to + (n ? n : 3);
}
