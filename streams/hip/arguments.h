/* SPDX-License-Identifier: MIT */
/*
 * Arguments of calls as the payloads of rtl.hip.call.debug have them (struct rtl_arg).
 *
 * Arguments are read where the program cannot be hurt by it: what a function has written only
 * after it has succeeded, texts by text_read.
 *
 * Threads: any. The first call of a function makes its strings, under a lock.
 */
#ifndef STREAMS_HIP_ARGUMENTS_H
#define STREAMS_HIP_ARGUMENTS_H

#include <rtl/types.h>

#include "../common/text.h"
#include "functions.h"

#define HIP_TEXTS 4 /* of a call that are read */

/* The arguments of one call. On the stack. */
struct hip_arguments {
	const struct hip_function *function;
	const struct hip_known_argument *known; /* NULL: no memory, there are none */
	const uint64_t *slots;
	bool succeeded; /* what it has written can be read */
	uint32_t count;
	uint32_t text_bytes;
	struct text texts[HIP_TEXTS];
};

/* Before the record is reserved: reads the texts. Returns how many bytes hip_arguments_fill wants.
 */
uint32_t hip_arguments_read(struct hip_arguments *arguments, enum hip_id id, const uint64_t *slots,
			    bool succeeded);

/* Drops what does not fit, texts first; returns how many bytes are left. */
uint32_t hip_arguments_fit(struct hip_arguments *arguments, uint32_t room);

/* Writes them behind `offset` of the payload, a multiple of 8, and tells where in `place`. */
void hip_arguments_fill(const struct hip_arguments *arguments, void *payload, uint32_t offset,
			struct rtl_text *place);

#endif
