/* SPDX-License-Identifier: MIT */
/* The benchmark's event as a tracepoint of LTTng-UST. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER rtl_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./bus_emit_lttng.h"

#if !defined(RTL_BENCH_BUS_EMIT_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#	define RTL_BENCH_BUS_EMIT_LTTNG_H

#	include <lttng/tracepoint.h>
#	include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(
	rtl_bench, event, LTTNG_UST_TP_ARGS(uint64_t, a, uint64_t, b, uint64_t, c, uint64_t, d),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, a, a)
				    lttng_ust_field_integer(uint64_t, b, b)
					    lttng_ust_field_integer(uint64_t, c, c)
						    lttng_ust_field_integer(uint64_t, d, d)))

#endif
#include <lttng/tracepoint-event.h>
