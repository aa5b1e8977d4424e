/* SPDX-License-Identifier: MIT */
/*
 * The registry of streams. Entries are complete before their number is handed out, and never
 * change or go: looking them up by number takes no lock.
 */
#ifndef RTL_CORE_STREAM_H
#define RTL_CORE_STREAM_H

#include "stream_info.h"

/* Description of a registered stream by number. */
const struct rtl_stream_info *stream_info(uint32_t number);
/* One of its types, or NULL. */
const struct rtl_type_info *stream_type_info(uint32_t number, uint16_t type);
/* How many are registered. Acquire: all lower numbers are complete. */
uint32_t stream_count(void);
/* In the control page: what publishers hold. */
struct rtl_stream *stream_of(uint32_t number);
/* In a child after fork, when a new control page is in place: fill it. Under the bus's lock. */
void stream_refill(void);

#endif
