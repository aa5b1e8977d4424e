/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <unistd.h>

#include <rtl/describe.h>
#include <rtl/rtl.h>

#include "bus_bench.h"
#include "bus_emit.h"

static struct rtl_stream *stream = &rtl_stream_none;

#define FIELD(name) RTL_FIELD(struct bench_payload, name, RTL_KIND_UINT, "", "a number")

static const struct rtl_field fields[] = {FIELD(a), FIELD(b), FIELD(c), FIELD(d)};
static const struct rtl_type_info type = {
	.struct_size = sizeof(type),
	.type = RTL_TASK_BEGIN,
	.field_count = 4,
	.payload_size = sizeof(struct bench_payload),
	.name = "event",
	.description = "four numbers",
	.fields = fields,
};
static const struct rtl_stream_info info = {
	.struct_size = sizeof(info),
	.version_major = 1,
	.name = "bench.bus",
	.description = "events of a benchmark",
	.types = &type,
	.type_count = 1,
};

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
