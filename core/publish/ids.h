/* SPDX-License-Identifier: MIT */
/* Look-ups in this process's registries of strings and tracepoints, for the host. */
#ifndef RTL_CORE_IDS_H
#define RTL_CORE_IDS_H

#include <rtl/subscriber.h>

/* Copies what is known of a tracepoint to *out, with its metadata in an array that replaces the
 * one in *metadata (malloc; room for *room). False if there is none, or no memory. */
bool ids_tracepoint(uint64_t uid, struct rtl_tracepoint *out, struct rtl_metadata **metadata,
		    uint32_t *room);

/* Writes all strings, tracepoints and metadata to the dictionary of a new spool. Under the bus's
 * lock. */
void ids_refill(void);

#endif
