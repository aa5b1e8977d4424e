/* SPDX-License-Identifier: MIT */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bus_emit_lttng.h"

#include <unistd.h>

#include "bus_emit.h"

void emit_start(void)
{
}

__attribute__((noinline)) void emit(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		lttng_ust_tracepoint(rtl_bench, event, i, 1, 2, 3);
}

/* The consumer daemon reads the subbuffers that are full. */
void emit_drain(void)
{
	usleep(25000);
}
