/* SPDX-License-Identifier: MIT */
/* known.c: rtl's own streams, whose payloads have tables (tables.h). */
#include <string.h>

#include <rtl/args.h>

#include "clickhouse/tables.h"
#include "sub.h"

/* What the first version of rtl.hsa had of a dispatch. */
#define DISPATCH_LEAST offsetof(struct rtl_hsa_dispatch, scope)

static uint32_t uuid_of(const struct process *process, uint32_t node)
{
	const uint64_t name = node ? map_get(&process->gpus, node) : 0;

	return name ? (uint32_t)name - 1 : 0;
}

/* ---- dispatches, copies, memory, GPUs ---- */

static void add_dispatch(struct sub *sub, struct process *process, const struct rtl_event *event)
{
	const struct rtl_hsa_dispatch *d = event->payload;
	struct block *block = run_block(sub, sub->dispatch_table, process, event);

	if (block)
		table_add_rtl_dispatch(sub, block, process, event,
				       lookup_kernel(sub, process, event->uid, d->kernel_name),
				       uuid_of(process, d->gpu));
}

static void take_dispatch(struct stream *stream, struct process *process,
			  const struct rtl_event *event)
{
	struct rtl_hsa_dispatch whole = {0};
	struct rtl_event longer;

	if (event->payload_size < DISPATCH_LEAST) {
		stream->skipped++;
		return;
	}
	if (event->payload_size < sizeof(whole)) { /* of version 1.0: the rest is 0 */
		memcpy(&whole, event->payload, event->payload_size);
		longer = *event;
		longer.payload = &whole;
		event = &longer;
	}
	add_dispatch(stream->sub, process, event);
}

static void dispatch_events(void *user, const struct rtl_event *const *events, size_t count)
{
	sub_each(user, events, count, take_dispatch);
}

static void take_copy(struct stream *stream, struct process *process, const struct rtl_event *event)
{
	struct sub *sub = stream->sub;
	const struct rtl_hsa_copy *c = event->payload;
	struct block *block = run_block(sub, sub->copy_table, process, event);

	if (block)
		table_add_rtl_copy(sub, block, process, event,
				   names_of(&sub->names, rtl_hsa_copy_direction_text(c->direction)),
				   uuid_of(process, c->gpu));
}

static void copy_events(void *user, const struct rtl_event *const *events, size_t count)
{
	sub_each(user, events, count, take_copy);
}

static void take_memory(struct stream *stream, struct process *process,
			const struct rtl_event *event)
{
	struct block *block = run_block(stream->sub, stream->sub->mem_table, process, event);

	if (block)
		table_add_rtl_mem(stream->sub, block, process, event);
}

static void memory_events(void *user, const struct rtl_event *const *events, size_t count)
{
	sub_each(user, events, count, take_memory);
}

static void take_metadata(struct stream *stream, struct process *process,
			  const struct rtl_event *event)
{
	struct sub *sub = stream->sub;
	const struct rtl_hsa_metadata *m = event->payload;
	const struct rtl_tracepoint *tp =
		sub->host->tracepoint(sub->host, event->process, event->uid);

	if (tp && !strcmp(tp->kind, "agent") && m->gpu)
		run_gpu(sub, process, m->gpu, tp);
	else if (tp && !strcmp(tp->kind, "kernel"))
		lookup_kernel_again(sub, process, event->uid);
}

static void metadata_events(void *user, const struct rtl_event *const *events, size_t count)
{
	sub_each(user, events, count, take_metadata);
}

/* ---- calls ---- */

static void take_call(struct stream *stream, struct process *process, const struct rtl_event *event)
{
	struct sub *sub = stream->sub;
	const struct rtl_hsa_call *c = event->payload; /* HIP's begins with the same */
	const struct rtl_hip_call *hip = stream->is_hip ? event->payload : NULL;
	const bool unfinished = event->type == RTL_FUNCTION_UNFINISHED ||
				event->type == RTL_FUNCTION_WITH_ARGS_UNFINISHED;
	const struct rtl_field *field = sub->args ? rtl_args_field(event->type_info) : NULL;
	struct block *block = run_block(sub, sub->call_table, process, event);
	char text[RTL_PAYLOAD_MAX];
	size_t length = 0;

	if (!block)
		return;
	if (field)
		length = rtl_args_text(sub->host, event, field, text, sizeof(text));
	table_add_rtl_call(sub, block, process, event, stream->is_hip ? sub->hip : sub->hsa,
			   names_of_string(sub, process, c->function),
			   unfinished ? event->time_ns : c->end_ns, unfinished,
			   hip && unfinished ? hip->tid : event->tid, hip ? hip->work : 0,
			   hip ? hip->hip_stream : 0, hip ? hip->parent : 0, text,
			   length < sizeof(text) ? length : sizeof(text) - 1);
}

static void call_events(void *user, const struct rtl_event *const *events, size_t count)
{
	sub_each(user, events, count, take_call);
}

/* ---- ranges ---- */

static void add_range(struct sub *sub, struct process *process, const struct rtl_event *event,
		      const char *kind, uint64_t end_ns)
{
	const struct rtl_roctx_range *r = event->payload;
	struct block *block = run_block(sub, sub->range_table, process, event);
	/* the host has seen to it that the text lies in the payload */
	const char *name = (const char *)event->payload + r->name.offset;

	if (block)
		table_add_rtl_range(sub, block, process, event, name, strnlen(name, r->name.length),
				    end_ns, names_of(&sub->names, kind), r->begin_tid);
}

/* A mark is a range without a length. */
static void add_roctx_mark(struct sub *sub, struct process *process, const struct rtl_event *event)
{
	const struct rtl_roctx_mark *m = event->payload;
	struct {
		struct rtl_roctx_range range;
		char name[RTL_PAYLOAD_MAX];
	} whole;
	struct rtl_event longer = *event;

	whole.range = (struct rtl_roctx_range){
		.begin_ns = event->time_ns,
		.parent = m->parent,
		.begin_tid = event->tid,
		.level = -1,
		.name = {sizeof(whole.range), m->name.length},
	};
	memcpy(whole.name, (const char *)event->payload + m->name.offset, m->name.length);
	longer.payload = &whole;
	add_range(sub, process, &longer, "mark", event->time_ns);
}

static void take_roctx(struct stream *stream, struct process *process,
		       const struct rtl_event *event)
{
	const struct rtl_roctx_range *r = event->payload;

	if (event->type == RTL_SIGNAL)
		add_roctx_mark(stream->sub, process, event);
	else if (event->type == RTL_REGION_UNFINISHED)
		add_range(stream->sub, process, event, "unfinished", event->time_ns);
	else
		add_range(stream->sub, process, event,
			  r->flags & RTL_ROCTX_STARTED ? "started" : "pushed", r->end_ns);
}

static void roctx_events(void *user, const struct rtl_event *const *events, size_t count)
{
	sub_each(user, events, count, take_roctx);
}

/* ---- subscribing ---- */

static const struct wanted hsa[] = {
	{RTL_TASK_END, DISPATCH_LEAST, dispatch_events, false},
	{RTL_METADATA, offsetof(struct rtl_hsa_metadata, bytes), metadata_events, true},
	{RTL_BARRIER_END, 0, generic_events, true},
};
static const struct wanted copy[] = {
	{RTL_TRANSFER_END, sizeof(struct rtl_hsa_copy), copy_events, false},
};
static const struct wanted memory[] = {
	{RTL_MEM_ALLOC_END, sizeof(struct rtl_hsa_mem), memory_events, false},
	{RTL_MEM_RELEASE_END, sizeof(struct rtl_hsa_mem), memory_events, false},
};
static const struct wanted roctx[] = {
	{RTL_REGION_END, sizeof(struct rtl_roctx_range), roctx_events, false},
	{RTL_SIGNAL, sizeof(struct rtl_roctx_mark), roctx_events, false},
	{RTL_REGION_UNFINISHED, sizeof(struct rtl_roctx_range), roctx_events, true},
};
static const struct wanted_stream streams[] = {
	{RTL_STREAM_HSA, RTL_STREAM_HSA_VERSION, WANTED(hsa)},
	{RTL_STREAM_HSA_COPY, RTL_STREAM_HSA_COPY_VERSION, WANTED(copy)},
	{RTL_STREAM_HSA_MEM, RTL_STREAM_HSA_MEM_VERSION, WANTED(memory)},
	{RTL_STREAM_ROCTX, RTL_STREAM_ROCTX_VERSION, WANTED(roctx)},
};

int known_subscribe(struct sub *sub, struct stream *stream)
{
	const struct wanted_stream *known = wanted_find(WANTED(streams), stream->info->name);
	const int calls = wanted_call_stream(stream->info->name);

	stream->is_hip = calls >= 0 && calls & WANTED_HIP;
	if (calls >= 0)
		return wanted_subscribe_calls(sub->host, stream->info, calls, sub->args,
					      call_events, stream,
					      stream->is_hip ? &sub->hip_calls : &sub->hsa_calls);
	return known ? wanted_subscribe(sub->host, stream->info, known, stream, NULL) : RTL_ENOTSUP;
}
