/* SPDX-License-Identifier: MIT */
/*
 * timeline_events PLUGIN OUTPUT [PLUGIN OUTPUT]...: gives the same events to each subscriber on the
 * fake host: kernels, ranges, marks and events of a stream of its own, whose names are awkward.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rtl/describe.h>

#include "fake_host.h"

#include "events/events.h"

#define LONG_NAME 10000

static char long_name[LONG_NAME];

#define NAME(text)                                                                                 \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}
static const struct {
	const char *text;
	uint32_t length;
} names[] = {
	NAME(""),
	NAME("plain"),
	NAME("a \"quoted\" \\ name / with 'all' `of` it"),
	NAME("lines\nand\ttabs\r\b\f"),
	NAME("\x01\x02\x1f\x7f controls"),
	NAME("gr\xc3\xbc\xc3\x9f \xe4\xb8\xad \xf0\x9f\x98\x80"),
	NAME("\xff\xfe\xc3 bytes \x80"),
	NAME("\xed\xa0\xbd\xed\xb8\x80 surrogates \xc0\xaf overlong"),
	NAME("nul\0inside"),
	NAME("</script><b>%s%n${x};DROP TABLE"),
	NAME("\\ud83d\\ude00 {\"ph\":\"X\"}],"),
	{long_name, LONG_NAME},
};

#define NAMES (sizeof(names) / sizeof(*names))

struct step {
	struct rtl_text name;
	uint64_t size, address, when;
	double share;
	int16_t delta;
	uint8_t on;
	uint8_t raw[5];
};

static const struct rtl_field step_fields[] = {
	RTL_FIELD(struct step, name, RTL_KIND_TEXT, "", "what it is called"),
	RTL_FIELD(struct step, size, RTL_KIND_UINT, "bytes", "how large"),
	RTL_FIELD(struct step, address, RTL_KIND_ADDRESS, "", "where"),
	RTL_FIELD(struct step, when, RTL_KIND_TIME, "ns", "when"),
	RTL_FIELD(struct step, share, RTL_KIND_FLOAT, "", "how much"),
	RTL_FIELD(struct step, delta, RTL_KIND_INT, "", "how much more"),
	RTL_FIELD(struct step, on, RTL_KIND_BOOL, "", "whether"),
};

static const struct rtl_type_info step_types[] = {
	RTL_TYPE_INFO(RTL_REGION_BEGIN, "step_begin", struct step, step_fields, "a step begins"),
	RTL_TYPE_INFO(RTL_REGION_END, "step_end", struct step, step_fields, "a step has ended"),
	RTL_TYPE_INFO(RTL_SIGNAL, "tick", struct step, step_fields, "something happened"),
};

static const struct rtl_stream_info step_stream =
	RTL_STREAM_INFO("my.steps", 1, 0, step_types, "steps");

/* A payload with a text behind it. */
static char payload[16384];

static void deliver(struct fake_host *host, const struct rtl_stream_info *stream, uint16_t type,
		    const struct rtl_process *process, const void *from, size_t size,
		    struct rtl_text *text, size_t i, struct rtl_event event)
{
	struct rtl_event e;

	*text = (struct rtl_text){(uint32_t)size, names[i].length};
	memcpy(payload, from, size);
	memcpy(payload + size, names[i].text, names[i].length);
	e = fake_event(stream, type, process, payload, (uint32_t)size + names[i].length);
	e.time_ns = event.time_ns;
	e.instance = event.instance;
	e.tid = 4711;
	fake_host_deliver_one(host, &e);
}

static void deliver_ranges(struct fake_host *host, const struct rtl_process *process)
{
	for (size_t i = 0; i < NAMES; i++) {
		const uint64_t now = 1000000 + 10000 * i;
		struct rtl_roctx_range range = {
			.begin_ns = now, .end_ns = now + 5001, .begin_tid = 4711, .id = i};
		struct rtl_roctx_mark mark = {0};

		deliver(host, &roctx_stream_info, RTL_REGION_END, process, &range, sizeof(range),
			&range.name, i, (struct rtl_event){.time_ns = now + 5001});
		deliver(host, &roctx_stream_info, RTL_SIGNAL, process, &mark, sizeof(mark),
			&mark.name, i, (struct rtl_event){.time_ns = now + 6000});
	}
}

static void deliver_steps(struct fake_host *host, const struct rtl_process *process)
{
	for (size_t i = 0; i < NAMES; i++) {
		const uint64_t now = 2000000 + 10000 * i;
		struct step step = {.size = UINT64_C(1) << (5 * i),
				    .address = 0x7f0000000000 + i,
				    .when = now,
				    .share = 1.0 / (double)(i + 3),
				    .delta = (int16_t)(-300 * (int)i),
				    .on = i & 1};

		deliver(host, &step_stream, RTL_REGION_BEGIN, process, &step, sizeof(step),
			&step.name, i, (struct rtl_event){.time_ns = now, .instance = i + 1});
		deliver(host, &step_stream, RTL_SIGNAL, process, &step, sizeof(step), &step.name, i,
			(struct rtl_event){.time_ns = now + 100});
		deliver(host, &step_stream, RTL_REGION_END, process, &step, sizeof(step),
			&step.name, i,
			(struct rtl_event){.time_ns = now + 7003, .instance = i + 1});
	}
}

/* Names of kernels are terminated texts. */
static void deliver_kernels(struct fake_host *host, const struct rtl_process *process)
{
	for (size_t i = 0; i < NAMES; i++) {
		const uint64_t now = 3000000 + 10000 * i;
		const struct rtl_hsa_dispatch d = {.begin_ns = now,
						   .end_ns = now + 3 + 12000 * (i % 2),
						   .submit_ns = now - 7,
						   .packet_id = i,
						   .gpu = 1,
						   .queue = 1,
						   .submit_tid = 4711,
						   .grid_x = 64,
						   .grid_y = 1,
						   .grid_z = 1};
		struct rtl_event e =
			fake_event(&hsa_stream_info, RTL_TASK_END, process, &d, sizeof(d));
		char *name = strndup(names[i].text, names[i].length);

		fake_host_tracepoint(host, process, 100 + i, "kernel", name, NULL, NULL);
		e.uid = 100 + i;
		e.time_ns = d.end_ns;
		fake_host_deliver_one(host, &e);
		fake_host_flush(host);
		free(name);
	}
}

static int run(const char *plugin, const char *output)
{
	struct fake_host *host = fake_host_create();
	const struct rtl_process *process = fake_host_process(host, 1, 4711, "/bin/\"app\"\xff");
	char settings[4096];
	int error;

	snprintf(settings, sizeof(settings), "output=%s", output);
	error = fake_host_load(host, plugin, settings);
	if (!error) {
		fake_host_stream(host, &hsa_stream_info);
		fake_host_stream(host, &roctx_stream_info);
		fake_host_stream(host, &step_stream);
		fake_host_begin(host, process);
		deliver_ranges(host, process);
		deliver_steps(host, process);
		deliver_kernels(host, process);
		error = fake_host_end(host);
	}
	if (error)
		fprintf(stderr, "%s: error %d, %s\n", plugin, error,
			fake_host_reports(host) ? fake_host_report(host, 0, NULL) : "");
	fake_host_destroy(host);
	return error;
}

int main(int argc, char **argv)
{
	memset(long_name, 'x', sizeof(long_name));
	memcpy(long_name + 5000, "\xc3\xa4", 2);
	for (int i = 1; i + 1 < argc; i += 2)
		if (run(argv[i], argv[i + 1]))
			return 1;
	return argc < 3;
}
