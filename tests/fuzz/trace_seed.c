/* SPDX-License-Identifier: MIT */
/* Makes the trace that fuzz_trace spoils: some events of each type of each stream, with each field filled as its
 * description says, stored by the SQLite subscriber. Usage: fuzz_trace_seed SUBSCRIBER DATABASE */
#include <stdio.h>
#include <string.h>

#include <rtl/args.h>

#include "fake_host.h"

#include "events/events.h"

#define EVENTS 3u

static const struct rtl_stream_info *const streams[] = {EVENTS_STREAMS, &diagnostics_stream_info};

static struct fake_host *host;
static const struct rtl_process *process;
static union {
	uint8_t bytes[4096];
	struct rtl_arg aligned;
} payload;
static uint32_t used;

/* Puts something behind the payload. */
static struct rtl_text append(const void *data, uint32_t size)
{
	const struct rtl_text place = {used, size};

	memcpy(payload.bytes + used, data, size);
	used = (used + size + 7) & ~7u;
	return place;
}

static void fill(const struct rtl_field *field, uint64_t now, uint32_t n)
{
	const struct rtl_arg arg = {.name = fake_host_string(host, process, "an argument"),
				    .value.number = n,
				    .kind = RTL_KIND_UINT};
	const uint64_t values[2] = {n, n};
	const float half = 0.5f * (float)n;
	const double real = 0.5 * n;
	uint64_t number = n;
	struct rtl_text place;
	const void *from = &number;

	switch (field->kind) {
	case RTL_KIND_TIME:
		number = now + field->offset;
		break;
	case RTL_KIND_STRING:
		number = fake_host_string(host, process, field->name);
		break;
	case RTL_KIND_FLOAT:
		from = field->size == 4 ? (const void *)&half : &real;
		break;
	case RTL_KIND_TEXT:
		place = append("some text", 9);
		from = &place;
		break;
	case RTL_KIND_ARGS:
		place = append(&arg, sizeof(arg));
		from = &place;
		break;
	case RTL_KIND_VALUES:
		place = append(values, sizeof(values));
		from = &place;
		break;
	default:
		break;
	}
	memcpy(payload.bytes + field->offset, from, field->size < 8 ? field->size : 8);
}

static void deliver(const struct rtl_stream_info *stream, const struct rtl_type_info *type,
		    uint32_t n)
{
	const uint64_t now = 1000000u * n;
	struct rtl_event event;

	memset(&payload, 0, sizeof(payload));
	used = (type->payload_size + 7) & ~7u;
	for (uint16_t i = 0; i < type->field_count; i++)
		fill(rtl_type_field(type, i), now, n);
	event = fake_event(stream, type->type, process, payload.bytes, used);
	event.time_ns = now + 1000;
	event.tid = 4711;
	event.uid = event.instance = event.correlation = n;
	fake_host_deliver_one(host, &event);
}

int main(int argc, char **argv)
{
	char output[4096];

	if (argc != 3)
		return 2;
	remove(argv[2]);
	snprintf(output, sizeof(output), "output=%s", argv[2]);
	host = fake_host_create();
	process = fake_host_process(host, 1, 4711, "/bin/app");
	if (fake_host_load(host, argv[1], output))
		return 1;
	for (size_t i = 0; i < sizeof(streams) / sizeof(*streams); i++)
		fake_host_stream(host, streams[i]);
	fake_host_begin(host, process);
	for (uint32_t n = 1; n <= EVENTS; n++)
		fake_host_tracepoint(host, process, n, n % 2 ? "kernel" : "function", "_Z4workPi",
				     RTL_VALUES_KEY, "size:u64 kind:u32{1=ONE;2=TWO}");
	for (size_t i = 0; i < sizeof(streams) / sizeof(*streams); i++)
		for (uint32_t k = 0; k < EVENTS * streams[i]->type_count; k++)
			deliver(streams[i], rtl_stream_type(streams[i], k / EVENTS),
				k % EVENTS + 1);
	if (fake_host_end(host)) {
		fprintf(stderr, "%s\n", fake_host_report(host, 0, NULL));
		return 1;
	}
	fake_host_destroy(host);
	return 0;
}
