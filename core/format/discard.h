/* SPDX-License-Identifier: MIT */
/* Counting what publishers lose, with its cause. Lock-free, from signal handlers too. */
#ifndef RTL_CORE_DISCARD_H
#define RTL_CORE_DISCARD_H

#include "spool.h"

/* The text of a cause, or NULL. */
const char *discard_text(uint32_t cause);
/* The same of what the user's selection left out (spool_stream.left_out). */
const char *left_out_text(uint32_t cause);

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
