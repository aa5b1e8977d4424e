/* SPDX-License-Identifier: MIT */
/* Counting what publishers lose, with its cause. Lock-free, from signal handlers too. */
#ifndef RTL_CORE_DISCARD_H
#define RTL_CORE_DISCARD_H

#include "spool.h"

/* The text of a cause, or NULL. */
const char *discard_text(uint32_t cause);

static inline void discard_count(struct rtl_stream *stream, enum spool_discard cause)
{
	struct spool_stream *slot = (struct spool_stream *)(void *)stream;

	if (stream != &rtl_stream_none)
		__atomic_fetch_add(&slot->discarded[cause], 1, __ATOMIC_RELAXED);
}

#endif
