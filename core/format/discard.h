/* SPDX-License-Identifier: MIT */
/* Counting what publishers lose, with its cause. Lock-free, from signal handlers too. */
#ifndef RTL_CORE_DISCARD_H
#define RTL_CORE_DISCARD_H

#include "spool.h"

/* The texts of causes, and of why the user's selection left something out (spool_stream.left_out). */
extern const char *const discard_texts[SPOOL_DISCARD_CAUSES];
extern const char *const left_out_texts[SPOOL_LEFT_OUT_CAUSES];

static inline void discard_count(struct rtl_stream *stream, enum spool_discard cause)
{
	struct spool_stream *slot = (struct spool_stream *)(void *)stream;

	if (stream != &rtl_stream_none)
		__atomic_fetch_add(&slot->discarded[cause], 1, __ATOMIC_RELAXED);
}

static inline void left_out_count(struct rtl_stream *stream, uint32_t cause, uint64_t n)
{
	struct spool_stream *slot = (struct spool_stream *)(void *)stream;

	if (stream != &rtl_stream_none && cause < SPOOL_LEFT_OUT_CAUSES)
		__atomic_fetch_add(&slot->left_out[cause], n, __ATOMIC_RELAXED);
}

#endif
