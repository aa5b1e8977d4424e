/* SPDX-License-Identifier: MIT */
#ifndef RTL_STREAMS_COMMON_WANTED_H
#define RTL_STREAMS_COMMON_WANTED_H

#include <rtl/stream.h>

/* Not 0 if the begin or the end of a pair is wanted, whose numbers follow each other and of which
 * `begin` is even: rtl_enabled for both in one load, relaxed as that. The array begins at an even
 * place: test_abi.c. */
static inline unsigned wanted_pair(const struct rtl_stream *stream, uint16_t begin)
{
	typedef uint16_t __attribute__((may_alias)) pair;
	const pair *both = (const pair *)__builtin_assume_aligned(&stream->wanted[begin], 2);

	return __atomic_load_n(both, __ATOMIC_RELAXED);
}

#endif
