/* SPDX-License-Identifier: MIT */
/* Counting what publishers lose, with its cause. Lock-free, from signal handlers too. */
#ifndef RTL_CORE_DISCARD_H
#define RTL_CORE_DISCARD_H

#include "spool.h"

void discard_count(struct rtl_stream *stream, enum spool_discard cause);
/* The text of a cause, or NULL. */
const char *discard_text(uint32_t cause);

#endif
