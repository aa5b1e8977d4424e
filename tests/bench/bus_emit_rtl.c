/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <unistd.h>

#include <rtl/describe.h>
#include <rtl/rtl.h>

#include "bus_bench.h"
#include "bus_emit.h"

static struct rtl_stream *stream = &rtl_stream_none;

#define FIELD(name) RTL_FIELD(struct bench_payload, name, RTL_KIND_UINT, "", "a number")

RTL_DESCRIBE_STREAM(info, "bench.bus", "events of a benchmark", RTL_TASK_BEGIN, "event",
		    "four numbers", struct bench_payload, FIELD(a), FIELD(b), FIELD(c), FIELD(d));

void emit_start(void)
{
	if (rtl_stream_register(&info, &stream))
		abort();
}

static inline void publish(uint64_t i)
{
	struct rtl_record *record =
		rtl_reserve(stream, RTL_TASK_BEGIN, sizeof(struct bench_payload));

	if (!record)
		return;
	*(struct bench_payload *)rtl_record_payload(record) = (struct bench_payload){i, 1, 2, 3};
	rtl_commit(record);
}

__attribute__((noinline)) void emit(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (rtl_enabled(stream, RTL_TASK_BEGIN))
			publish(i);
}

/* A collector cannot be asked; it comes round every 20 ms at least. */
void emit_drain(void)
{
	if (getenv("RTL_COLLECTOR"))
		usleep(25000);
	else
		rtl_flush(60000);
}
