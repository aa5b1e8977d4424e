/* SPDX-License-Identifier: MIT */
/* Descriptions of streams, and what is wanted of a stream. Any thread. */
#pragma once

#include <rtl/subscriber.h>

#include "spool.h"

/* What is wanted of a stream: enum spool_wanted, by the low byte of the type, as in rtl_stream. */
struct stream_wants {
	uint8_t bits[256];
};

/* Sets what is wanted of the described types, in the bits of `mask`, without a gap. Of any process. */
void stream_want(struct rtl_stream *stream, const struct rtl_stream_info *info,
		 const struct stream_wants *wants, uint8_t mask);
/* The same for a recording of all types. */
void stream_want_all(struct rtl_stream *stream, const struct rtl_stream_info *info);
/* Whether events of that type describe others: recorded whatever the user's selection leaves out. */
bool stream_type_describes(const struct rtl_stream_info *info, uint16_t type);
/* Whether events of two descriptions can be read by either. */
bool stream_same_layout(const struct rtl_stream_info *a, const struct rtl_stream_info *b);
/* Copies a description with all that it points to; NULL: out of memory. Freed with free(). */
struct rtl_stream_info *stream_info_copy(const struct rtl_stream_info *info);
/* What is wrong with a description; NULL: it is well-formed. */
const char *stream_info_flaw(const struct rtl_stream_info *info);

/* To be freed, in one piece. NULL: no memory, or it is invalid. */
struct rtl_values_info *values_parse(const char *text);
