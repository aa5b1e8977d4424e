/* SPDX-License-Identifier: MIT */
/*
 * A subscriber for tests of the HSA interceptor: one line of text for each event of rtl.hsa.
 *
 *	dispatch gpu=1 queue=1 packet=0 kernel=NAME grid=64,1,1 workgroup=64,1,1 begin=NS end=NS
 *		submit=NS tid=N flags=N group=N private=N time=NS
 *	copy gpu=1 from=0 to=1 bytes=N src=ADDRESS dst=ADDRESS direction=N kind=N engine=N
 *extent=X,Y,Z parts=N begin=NS end=NS submit=NS tid=N flags=N status=N signal=ADDRESS instance=N
 *	barrier_and|barrier_or gpu=1 queue=1 packet=0 deps=N begin=NS end=NS flags=N
 *	queue_create gpu=1 queue=1 packets=1024, queue_destroy ...
 *	agent|kernel gpu=1 name=NAME KEY=VALUE ...
 *	ledger published=N delivered=N discarded=N missed=N, and for each cause: missed N CAUSE
 *	copies published=N ..., the same of rtl.hsa.copy
 *
 * Settings: output (file, default standard error), delay_us (a pause for each event: a slow
 * subscriber), stall_ms (a pause for the first dispatch), begin (1: submissions too, as "submit
 *..."). Threads: the host calls one function at a time.
 */
#include <inttypes.h>
#include <rtl/events.h>
#include <rtl/subscriber.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dump {
	const struct rtl_host *host;
	const struct rtl_stream_info *stream, *copies;
	FILE *file;
	unsigned delay_us, stall_ms;
	bool begin;
};

static const char *text(const struct dump *dump, const struct rtl_event *event, uint64_t id)
{
	const char *string = dump->host->string(dump->host, event->process, id);

	return string ? string : "?";
}

static void dump_dispatch(struct dump *dump, const struct rtl_event *event, const char *word)
{
	const struct rtl_hsa_dispatch *d = event->payload;

	fprintf(dump->file,
		"%s gpu=%u queue=%u packet=%" PRIu64 " kernel=%s grid=%u,%u,%u "
		"workgroup=%u,%u,%u begin=%" PRIu64 " end=%" PRIu64 " submit=%" PRIu64
		" tid=%u flags=%u group=%u private=%u time=%" PRIu64 "\n",
		word, d->gpu, d->queue, d->packet_id, text(dump, event, d->kernel_name), d->grid_x,
		d->grid_y, d->grid_z, d->workgroup_x, d->workgroup_y, d->workgroup_z, d->begin_ns,
		d->end_ns, d->submit_ns, d->submit_tid, d->flags, d->group_segment_bytes,
		d->private_segment_bytes, event->time_ns);
}

static void dump_copy(struct dump *dump, const struct rtl_event *event)
{
	const struct rtl_hsa_copy *c = event->payload;

	fprintf(dump->file,
		"copy gpu=%u from=%u to=%u bytes=%" PRIu64 " src=0x%" PRIx64 " dst=0x%" PRIx64
		" direction=%u kind=%u engine=%u extent=%u,%u,%u parts=%u begin=%" PRIu64
		" end=%" PRIu64 " submit=%" PRIu64 " tid=%u flags=%u status=%u signal=0x%" PRIx64
		" instance=%" PRIu64 "\n",
		c->gpu, c->src_gpu, c->dst_gpu, c->bytes, c->src, c->dst, c->direction, c->kind,
		c->engine, c->extent_x, c->extent_y, c->extent_z, c->parts, c->begin_ns, c->end_ns,
		c->submit_ns, c->submit_tid, c->flags, c->status, c->signal, event->instance);
}

static void dump_barrier(struct dump *dump, const struct rtl_event *event)
{
	const struct rtl_hsa_barrier *b = event->payload;

	fprintf(dump->file,
		"%s gpu=%u queue=%u packet=%" PRIu64 " deps=%u begin=%" PRIu64 " end=%" PRIu64
		" flags=%u\n",
		b->kind == RTL_HSA_BARRIER_AND ? "barrier_and" : "barrier_or", b->gpu, b->queue,
		b->packet_id, b->dependencies, b->begin_ns, b->end_ns, b->flags);
}

static void dump_queue(struct dump *dump, const struct rtl_event *event, const char *word)
{
	const struct rtl_hsa_queue *q = event->payload;

	fprintf(dump->file, "%s gpu=%u queue=%u packets=%u\n", word, q->gpu, q->queue, q->packets);
}

static void dump_metadata(struct dump *dump, const struct rtl_event *event)
{
	const struct rtl_hsa_metadata *m = event->payload;
	const struct rtl_tracepoint *point =
		dump->host->tracepoint(dump->host, event->process, event->uid);

	fprintf(dump->file, "%s gpu=%u name=%s", point ? point->kind : "?", m->gpu,
		text(dump, event, m->name));
	for (uint32_t i = 0; point && i < point->metadata_count; i++) {
		const struct rtl_metadata *metadata = rtl_tracepoint_metadata(point, i);
		fprintf(dump->file, " %s=%s", metadata->key, metadata->value);
	}
	fputc('\n', dump->file);
}

static void dump_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct dump *dump = user;

	for (size_t i = 0; i < count; i++) {
		if (dump->delay_us)
			usleep(dump->delay_us);
		if (dump->stall_ms && events[i]->type == RTL_TASK_END) {
			usleep(dump->stall_ms * 1000);
			dump->stall_ms = 0;
		}
		switch (events[i]->type) {
		case RTL_TASK_BEGIN:
			dump_dispatch(dump, events[i], "submit");
			break;
		case RTL_TASK_END:
			dump_dispatch(dump, events[i], "dispatch");
			break;
		case RTL_TRANSFER_END:
			dump_copy(dump, events[i]);
			break;
		case RTL_BARRIER_END:
			dump_barrier(dump, events[i]);
			break;
		case RTL_QUEUE_CREATE:
		case RTL_QUEUE_DESTROY:
			dump_queue(dump, events[i], events[i]->type_info->name);
			break;
		case RTL_METADATA:
			dump_metadata(dump, events[i]);
			break;
		}
	}
}

enum { OUTPUT, DELAY, STALL, BEGIN };

static const struct rtl_setting_info infos[] = {
	[OUTPUT] = RTL_TEXT_SETTING("output", NULL, 1, 0, "file to write; stderr if not given"),
	[DELAY] = RTL_NUMBER_SETTING("delay_us", "0", 0, 1000000, "pause for each event"),
	[STALL] = RTL_NUMBER_SETTING("stall_ms", "0", 0, 600000, "pause for the first dispatch"),
	[BEGIN] = RTL_NUMBER_SETTING("begin", "0", 0, 1, "1: submissions too"),
};

static int dump_create(const struct rtl_host *host, const struct rtl_setting *settings,
		       size_t count, void **instance)
{
	struct dump *dump = calloc(1, sizeof(*dump));

	if (!dump)
		return RTL_ENOMEM;
	dump->host = host;
	dump->file = stderr;
	if (rtl_setting_at(settings, OUTPUT)->given)
		dump->file = fopen(rtl_setting_at(settings, OUTPUT)->value, "w");
	dump->delay_us = (unsigned)rtl_setting_at(settings, DELAY)->number;
	dump->stall_ms = (unsigned)rtl_setting_at(settings, STALL)->number;
	dump->begin = rtl_setting_at(settings, BEGIN)->number;
	if (!dump->file) {
		free(dump);
		host->report(host, 1, "cannot write the output");
		return RTL_EIO;
	}
	*instance = dump;
	return 0;
}

static int dump_stream(void *instance, const struct rtl_stream_info *stream)
{
	static const uint16_t types[] = {RTL_TASK_END, RTL_BARRIER_END, RTL_QUEUE_CREATE,
					 RTL_QUEUE_DESTROY, RTL_METADATA};
	struct dump *dump = instance;
	const struct rtl_host *host = dump->host;
	int error = 0;

	if (strcmp(stream->name, RTL_STREAM_HSA_COPY) == 0) {
		dump->copies = stream;
		return host->subscribe(host, stream, RTL_TRANSFER_END, RTL_BUFFERED, dump_events,
				       dump, NULL);
	}
	if (strcmp(stream->name, RTL_STREAM_HSA) != 0)
		return 0;
	dump->stream = stream;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]) && !error; i++)
		error = host->subscribe(host, stream, types[i], RTL_BUFFERED, dump_events, dump,
					NULL);
	if (dump->begin && !error)
		error = host->subscribe(host, stream, RTL_TASK_BEGIN, RTL_BUFFERED, dump_events,
					dump, NULL);
	return error;
}

static void dump_loss(void *user, const char *cause, uint64_t count)
{
	struct dump *dump = user;

	fprintf(dump->file, "missed %" PRIu64 " %s\n", count, cause);
}

static void dump_ledger(struct dump *dump, const struct rtl_stream_info *stream, const char *word)
{
	struct rtl_ledger ledger = {.struct_size = sizeof(ledger)};

	if (!stream)
		return;
	if (!dump->host->ledger(dump->host, NULL, stream, &ledger))
		fprintf(dump->file,
			"%s published=%" PRIu64 " delivered=%" PRIu64 " discarded=%" PRIu64
			" missed=%" PRIu64 "\n",
			word, ledger.published, ledger.delivered, ledger.discarded, ledger.missed);
	dump->host->losses(dump->host, NULL, stream, dump_loss, dump);
}

static int dump_finish(void *instance)
{
	struct dump *dump = instance;

	dump_ledger(dump, dump->stream, "ledger");
	dump_ledger(dump, dump->copies, "copies");
	fflush(dump->file);
	return 0;
}

static void dump_destroy(void *instance)
{
	struct dump *dump = instance;

	if (dump->file != stderr)
		fclose(dump->file);
	free(dump);
}

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "hsa_dump",
	.version = "1",
	.description = "text of rtl.hsa for tests",
	.settings = infos,
	.setting_count = 4,
	.create = dump_create,
	.stream = dump_stream,
	.finish = dump_finish,
	.destroy = dump_destroy,
};
