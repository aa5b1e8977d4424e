/* SPDX-License-Identifier: MIT */
/*
 * work.h: whether anybody wants to know of work on the GPU. Then calls of HIP and ranges of roctx are
 * followed, recorded or not: a dispatch says by which call and in which range it was submitted.
 *
 * Any thread.
 */
#ifndef RTL_STREAMS_COMMON_WORK_H
#define RTL_STREAMS_COMMON_WORK_H

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

/* rtl_stream_none until they are registered. Release by who does, acquire by who looks. */
struct work_streams {
	struct rtl_stream *dispatches, *copies;
};

extern struct work_streams work_streams;

static inline void work_streams_set(struct rtl_stream *dispatches, struct rtl_stream *copies)
{
	__atomic_store_n(&work_streams.dispatches, dispatches, __ATOMIC_RELEASE);
	__atomic_store_n(&work_streams.copies, copies, __ATOMIC_RELEASE);
}

static inline bool work_wanted(void)
{
	return (wanted_pair(__atomic_load_n(&work_streams.dispatches, __ATOMIC_ACQUIRE),
			    RTL_TASK_BEGIN) |
		wanted_pair(__atomic_load_n(&work_streams.copies, __ATOMIC_ACQUIRE),
			    RTL_TRANSFER_BEGIN)) != 0;
}

#endif
