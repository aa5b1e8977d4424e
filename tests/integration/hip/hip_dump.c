/* SPDX-License-Identifier: MIT */
/*
 * A subscriber for tests of the HIP interceptor: one line of text for each event.
 *
 *	begin|end NAME tid=N instance=N ..., args|args_begin NAME (the same) : the arguments as text
 *	range_end instance=N : NAME
 *	dispatch KERNEL gpu=N queue=N packet=N tid=N correlation=N begin=NS end=NS
 *	ledger STREAM published=N delivered=N discarded=N missed=N
 *
 * Settings: output (file, default standard error), begin (1: begins too), args (1: also
 * rtl.hip.call.debug, "args" for its ends and "args_begin" for its begins).
 * Threads: the host calls one function at a time.
 */
#include <inttypes.h>
#include <rtl/args.h>
#include <rtl/events.h>
#include <rtl/subscriber.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dump {
	const struct rtl_host *host;
	const struct rtl_stream_info *streams[8];
	size_t stream_count;
	FILE *file;
	bool begin;
	uint64_t args;
};

static const char *text(const struct dump *dump, const struct rtl_event *event, uint64_t id)
{
	const char *string = dump->host->string(dump->host, event->process, id);

	return string && *string ? string : "?";
}

static const char *metadata(const struct dump *dump, const struct rtl_event *event, const char *key)
{
	const char *value = rtl_tracepoint_value(
		dump->host->tracepoint(dump->host, event->process, event->uid), key);

	return value ? value : "?";
}

static void dump_call(const struct dump *dump, const struct rtl_event *e, const char *word)
{
	const struct rtl_hip_call *c = e->payload;

	fprintf(dump->file,
		"%s %s tid=%u instance=%" PRIu64 " correlation=%" PRIu64 " parent=%" PRIu64
		" begin=%" PRIu64 " end=%" PRIu64 " time=%" PRIu64 " result=%" PRId64
		" status=%s stream=0x%" PRIx64 " device=%d flags=%u category=%s",
		word, text(dump, e, c->function), e->tid, e->instance, e->correlation, c->parent,
		c->begin_ns, c->end_ns, e->time_ns, c->result, text(dump, e, c->status),
		c->hip_stream, c->device, c->flags, metadata(dump, e, "category"));
}

static void dump_calls(void *user, const struct rtl_event *const *events, size_t count)
{
	struct dump *dump = user;

	for (size_t i = 0; i < count; i++) {
		flockfile(dump->file); /* inline callbacks write, too */
		dump_call(dump, events[i], events[i]->type == RTL_FUNCTION_BEGIN ? "begin" : "end");
		fputc('\n', dump->file);
		funlockfile(dump->file);
	}
}

static void dump_args(void *user, const struct rtl_event *const *events, size_t count)
{
	struct dump *dump = user;

	for (size_t i = 0; i < count; i++) {
		const struct rtl_event *e = events[i];
		const struct rtl_type_info *type = e->type_info;
		char line[4096];

		flockfile(dump->file);
		dump_call(dump, e, e->type == RTL_FUNCTION_WITH_ARGS_BEGIN ? "args_begin" : "args");
		rtl_args_text(dump->host, e, rtl_type_field(type, type->field_count - 1u), line,
			      sizeof(line));
		fprintf(dump->file, " : %s\n", line);
		funlockfile(dump->file);
	}
}

static void dump_dispatches(void *user, const struct rtl_event *const *events, size_t count)
{
	struct dump *dump = user;

	for (size_t i = 0; i < count; i++) {
		const struct rtl_event *e = events[i];
		const struct rtl_hsa_dispatch *d = e->payload;

		fprintf(dump->file,
			"dispatch %s gpu=%u queue=%u packet=%" PRIu64 " tid=%u correlation=%" PRIu64
			" begin=%" PRIu64 " end=%" PRIu64 "\n",
			text(dump, e, d->kernel_name), d->gpu, d->queue, d->packet_id,
			d->submit_tid, e->correlation, d->begin_ns, d->end_ns);
	}
}

static void dump_ranges(void *user, const struct rtl_event *const *events, size_t count)
{
	struct dump *dump = user;

	for (size_t i = 0; i < count; i++) {
		const struct rtl_roctx_range *r = events[i]->payload;

		fprintf(dump->file, "range_end instance=%" PRIu64 " : %.*s\n", events[i]->instance,
			(int)r->name.length, (const char *)r + r->name.offset);
	}
}

enum { OUTPUT, BEGIN, ARGS };

static const struct rtl_setting_info infos[] = {
	[OUTPUT] = RTL_TEXT_SETTING("output", NULL, 1, 0, "file to write; stderr if not given"),
	[BEGIN] = RTL_NUMBER_SETTING("begin", "0", 0, 1, "1: begins of calls too"),
	[ARGS] = RTL_NUMBER_SETTING("args", "0", 0, 2, "1: arguments too; 2: inline"),
};

static int create(const struct rtl_host *host, const struct rtl_setting *settings, size_t count,
		  void **instance)
{
	struct dump *dump = calloc(1, sizeof(*dump));

	if (!dump)
		return RTL_ENOMEM;
	dump->host = host;
	dump->file = stderr;
	if (rtl_setting_at(settings, OUTPUT)->given)
		dump->file = fopen(rtl_setting_at(settings, OUTPUT)->value, "w");
	dump->begin = rtl_setting_at(settings, BEGIN)->number;
	dump->args = rtl_setting_at(settings, ARGS)->number;
	if (!dump->file) {
		free(dump);
		return RTL_EIO;
	}
	*instance = dump;
	return 0;
}

static int subscribe(struct dump *dump, const struct rtl_stream_info *info, uint16_t begin,
		     uint16_t end, enum rtl_delivery delivery, rtl_events_fn fn)
{
	const struct rtl_host *host = dump->host;
	int err = 0;

	if (begin)
		err = host->subscribe(host, info, begin, delivery, fn, dump, NULL);
	return err ? err : host->subscribe(host, info, end, delivery, fn, dump, NULL);
}

static int stream(void *instance, const struct rtl_stream_info *info)
{
	struct dump *dump = instance;
	const bool begin = dump->begin;

	if (dump->stream_count < 8)
		dump->streams[dump->stream_count++] = info;
	if (!strcmp(info->name, RTL_STREAM_HSA))
		return subscribe(dump, info, 0, RTL_TASK_END, RTL_BUFFERED, dump_dispatches);
	if (!strcmp(info->name, RTL_STREAM_ROCTX))
		return subscribe(dump, info, 0, RTL_REGION_END, RTL_BUFFERED, dump_ranges);
	if (dump->args && !strcmp(info->name, RTL_STREAM_HIP_CALL_DEBUG))
		return subscribe(dump, info, begin ? RTL_FUNCTION_WITH_ARGS_BEGIN : 0,
				 RTL_FUNCTION_WITH_ARGS_END,
				 dump->args == 2 ? RTL_INLINE : RTL_BUFFERED, dump_args);
	if (!strcmp(info->name, RTL_STREAM_HIP_CALL))
		return subscribe(dump, info, begin ? RTL_FUNCTION_BEGIN : 0, RTL_FUNCTION_END,
				 RTL_BUFFERED, dump_calls);
	return 0;
}

static int finish(void *instance)
{
	struct dump *dump = instance;

	for (size_t i = 0; i < dump->stream_count; i++) {
		struct rtl_ledger ledger = {.struct_size = sizeof(ledger)};

		if (dump->host->ledger(dump->host, NULL, dump->streams[i], &ledger))
			continue;
		fprintf(dump->file,
			"ledger %s published=%" PRIu64 " delivered=%" PRIu64 " discarded=%" PRIu64
			" missed=%" PRIu64 "\n",
			dump->streams[i]->name, ledger.published, ledger.delivered,
			ledger.discarded, ledger.missed);
	}
	return fflush(dump->file) ? RTL_EIO : 0;
}

static void destroy(void *instance)
{
	struct dump *dump = instance;

	if (dump->file != stderr)
		fclose(dump->file);
	free(dump);
}

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "hip_dump",
	.version = "1",
	.description = "calls of HIP as text, for tests",
	.settings = infos,
	.setting_count = 3,
	.create = create,
	.stream = stream,
	.finish = finish,
	.destroy = destroy,
};
