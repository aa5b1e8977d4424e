/* SPDX-License-Identifier: MIT */
/*
 * Calls of HIP that copy or fill memory: what their arguments tell. A call that is recorded leaves that here for the
 * kernel by which HIP may do it.
 *
 * Threads: any. No locks. A call whose place others have taken meanwhile has left nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define COPY_BY_ADDRESSES UINT8_MAX /* as hipMemcpyDefault says */

struct copy_facts {
	uint64_t dst, src, bytes; /* src: of a fill 0 */
	uint8_t direction;        /* enum rtl_hsa_copy_direction, or COPY_BY_ADDRESSES */
	uint8_t kind;             /* enum rtl_hsa_copy_kind */
};

/* NULL: it does not copy, or only its structs and arrays tell how much. */
const struct copy_call *copy_call_find(const char *function);

/* slots: its arguments. */
void copy_call_read(const struct copy_call *call, const uint64_t *slots, struct copy_facts *facts);

/* That call is about to begin. */
void copy_call_leave(uint64_t correlation, const struct copy_facts *facts);

/* A kernel copies for that call; false: nothing was left. The first has all bytes, further ones none. */
bool copy_call_take(uint64_t correlation, struct copy_facts *facts);
