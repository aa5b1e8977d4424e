/* SPDX-License-Identifier: MIT */
/*
 * What the calling thread works for, as far as this library itself knows it: beside the thread's
 * scope (rtl/scope.h), which any publisher opens and which gives the correlation, HIP's interceptor
 * leaves here when its call began, roctx the innermost range, and the HSA interceptor counts what it
 * submits.
 *
 * Threads: each has its own; nobody else looks.
 */
#ifndef STREAMS_COMMON_CALL_CONTEXT_H
#define STREAMS_COMMON_CALL_CONTEXT_H

#include <stdint.h>

struct call_context {
	uint64_t call_ticks; /* when the innermost call of HIP that is recorded began; 0: none */
	uint64_t hip_stream; /* the hipStream_t among its arguments; 0: none */
	uint64_t range;      /* instance of the innermost pushed range that is recorded; 0: none */
	/* Of scopes of ours that are nested deeper than rtl/scope.h keeps, 0 where they are kept:
	 */
	uint64_t inner;       /* instance of the innermost */
	uint64_t correlation; /* of the innermost call among them */
	uint32_t work;  /* dispatches and copies that were submitted within the innermost call */
	uint32_t depth; /* calls of HIP that are open */
};

extern __thread struct call_context thread_context __attribute__((tls_model("initial-exec")));

#endif
