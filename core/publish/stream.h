/* SPDX-License-Identifier: MIT */
/*
 * The registry of streams. Entries are complete before their number is handed out, and never
 * change or go: looking them up by number takes no lock.
 */
#ifndef RTL_CORE_STREAM_H
#define RTL_CORE_STREAM_H

#include "spool.h"

/* Description of a registered stream by number. */
const struct rtl_stream_info *stream_info(uint32_t number);
/* One of its types, or NULL. */
const struct rtl_type_info *stream_type_info(uint32_t number, uint16_t type);
/* How many are registered; acquire: all lower numbers are complete. */
uint32_t stream_count(void);
/* What is wanted of a stream: enum spool_wanted, by the low byte of the type, as in rtl_stream. */
struct stream_wants {
	uint8_t bits[256];
};

/* Makes what is wanted of the types described what `wants` says, in the bits of `mask`; what is
 * wanted already and stays so is wanted all the time. The stream may be that of another process. */
void stream_want(struct rtl_stream *stream, const struct rtl_stream_info *info,
		 const struct stream_wants *wants, uint8_t mask);
/* All types of one of this process's streams are to be recorded for now. */
void stream_want_all(uint32_t number);
/* Whether events of two descriptions can be read by either. */
bool stream_same_layout(const struct rtl_stream_info *a, const struct rtl_stream_info *b);
/* In a child after fork, when a new control page is in place: fill it. Under the bus's lock. */
void stream_refill(void);
/* Copies a description with all that it points to; NULL: out of memory. Freed with free(). */
struct rtl_stream_info *stream_info_copy(const struct rtl_stream_info *info);
/* Whether a description is well-formed; *why gets a text if not. */
bool stream_info_valid(const struct rtl_stream_info *info, const char **why);

#endif
