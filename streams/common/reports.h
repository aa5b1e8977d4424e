/* SPDX-License-Identifier: MIT */
/*
 * What HIP's interceptor tells whoever asks HIP itself for its work (hsa/report/profiler.c): NULL where
 * nobody does.
 *
 * Threads: set when the library is loaded, or in hsa_init; relaxed by who looks.
 */
#ifndef STREAMS_COMMON_REPORTS_H
#define STREAMS_COMMON_REPORTS_H

#include <stdbool.h>
#include <stdint.h>

struct reports {
	/* The program is about to call a function of HIP's that it has not called before. */
	void (*before_first_call)(void);
	/* A call that is followed has returned; its scope is open still. id: the function's number.
	 * slots: its arguments. */
	void (*call_ended)(uint32_t id, const char *function, const uint64_t *slots,
			   bool succeeded);
};

extern struct reports reports;

#endif
