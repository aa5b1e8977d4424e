/* SPDX-License-Identifier: MIT */
/* known.c: rtl's own streams, whose payloads have tables (tables.h). */
#include <string.h>

#include <rtl/args.h>

#include "sub.h"
#include "tables.h"

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

static void dispatch_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;
	struct sub *sub = stream->sub;

	for (size_t i = 0; i < count; i++) {
		const struct rtl_event *event = events[i];
		struct process *process = lookup_process(sub, event->process);
		struct rtl_hsa_dispatch whole = {0};
		struct rtl_event longer;

		if (event->payload_size < DISPATCH_LEAST) {
			stream->skipped++;
			continue;
		}
		if (event->payload_size < sizeof(whole)) { /* of version 1.0: the rest is 0 */
			memcpy(&whole, event->payload, event->payload_size);
			longer = *event;
			longer.payload = &whole;
			event = &longer;
		}
		if (process)
			add_dispatch(sub, process, event);
	}
}

static void copy_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;
	struct sub *sub = stream->sub;

	for (size_t i = 0; i < count; i++) {
		const struct rtl_hsa_copy *c = events[i]->payload;
		struct process *process = lookup_process(sub, events[i]->process);
		struct block *block =
			process ? run_block(sub, sub->copy_table, process, events[i]) : NULL;

		if (block)
			table_add_rtl_copy(
				sub, block, process, events[i],
				names_of(&sub->names, rtl_hsa_copy_direction_text(c->direction)),
				uuid_of(process, c->gpu));
	}
}

static void memory_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;
	struct sub *sub = stream->sub;

	for (size_t i = 0; i < count; i++) {
		struct process *process = lookup_process(sub, events[i]->process);
		struct block *block =
			process ? run_block(sub, sub->mem_table, process, events[i]) : NULL;

		if (block)
			table_add_rtl_mem(sub, block, process, events[i]);
	}
}

static void metadata_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;
	struct sub *sub = stream->sub;

	for (size_t i = 0; i < count; i++) {
		const struct rtl_event *event = events[i];
		const struct rtl_hsa_metadata *m = event->payload;
		struct process *process = lookup_process(sub, event->process);
		const struct rtl_tracepoint *tp =
			sub->host->tracepoint(sub->host, event->process, event->uid);

		if (!tp || !process)
			continue;
		if (!strcmp(tp->kind, "agent") && m->gpu)
			run_gpu(sub, process, m->gpu, tp);
		else if (!strcmp(tp->kind, "kernel"))
			lookup_kernel_again(sub, process, event->uid);
	}
}

/* ---- calls ---- */

static void add_call(struct stream *stream, struct process *process, const struct rtl_event *event)
{
	struct sub *sub = stream->sub;
	const struct rtl_hsa_call *c = event->payload; /* HIP's begins with the same */
	const struct rtl_hip_call *hip = stream->calls->is_hip ? event->payload : NULL;
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
	table_add_rtl_call(sub, block, process, event, stream->calls->api,
			   names_of_string(sub, process, c->function),
			   unfinished ? event->time_ns : c->end_ns, unfinished,
			   hip && unfinished ? hip->tid : event->tid, hip ? hip->work : 0,
			   hip ? hip->hip_stream : 0, hip ? hip->parent : 0, text,
			   length < sizeof(text) ? length : sizeof(text) - 1);
}

static void call_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;

	for (size_t i = 0; i < count; i++) {
		struct process *process = lookup_process(stream->sub, events[i]->process);

		if (process)
			add_call(stream, process, events[i]);
	}
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

static void roctx_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;
	struct sub *sub = stream->sub;

	for (size_t i = 0; i < count; i++) {
		const struct rtl_event *event = events[i];
		const struct rtl_roctx_range *r = event->payload;
		struct process *process = lookup_process(sub, event->process);

		if (!process)
			continue;
		if (event->type == RTL_SIGNAL)
			add_roctx_mark(sub, process, event);
		else if (event->type == RTL_REGION_UNFINISHED)
			add_range(sub, process, event, "unfinished", event->time_ns);
		else
			add_range(sub, process, event,
				  r->flags & RTL_ROCTX_STARTED ? "started" : "pushed", r->end_ns);
	}
}

/* ---- subscribing ---- */

static uint32_t size_of(const struct rtl_stream_info *info, uint16_t type)
{
	for (uint32_t i = 0; i < info->type_count; i++)
		if (rtl_stream_type(info, i)->type == type)
			return rtl_stream_type(info, i)->payload_size;
	return 0;
}

/* Types of a stream, each with the payload that it has at least. */
struct wanted {
	uint16_t type;
	size_t size;
	rtl_events_fn take; /* NULL: by its description */
	bool optional;      /* older versions do not have it */
};

static int subscribe(struct stream *stream, const struct wanted *wanted, size_t count,
		     struct rtl_subscription **taken)
{
	const struct rtl_host *host = stream->sub->host;
	int result = 0;

	for (size_t i = 0; i < count; i++)
		if (!wanted[i].optional && size_of(stream->info, wanted[i].type) < wanted[i].size)
			return RTL_ENOTSUP;
	for (size_t i = 0; i < count && result == 0; i++) {
		const uint32_t has = size_of(stream->info, wanted[i].type);

		if (wanted[i].optional && (!has || has < wanted[i].size))
			continue;
		result = wanted[i].take
				 ? host->subscribe(host, stream->info, wanted[i].type, RTL_BUFFERED,
						   wanted[i].take, stream, taken ? &taken[i] : NULL)
				 : generic_subscribe(stream->sub, stream, wanted[i].type);
	}
	return result;
}

static int subscribe_hsa(struct stream *stream)
{
	static const struct wanted wanted[] = {
		{RTL_TASK_END, DISPATCH_LEAST, dispatch_events, false},
		{RTL_METADATA, offsetof(struct rtl_hsa_metadata, bytes), metadata_events, true},
		{RTL_BARRIER_END, 0, NULL, true},
	};

	return subscribe(stream, wanted, 3, NULL);
}

static int subscribe_copy(struct stream *stream)
{
	static const struct wanted wanted[] = {
		{RTL_TRANSFER_END, sizeof(struct rtl_hsa_copy), copy_events, false},
	};

	return subscribe(stream, wanted, 1, NULL);
}

static int subscribe_memory(struct stream *stream)
{
	static const struct wanted wanted[] = {
		{RTL_MEM_ALLOC_END, sizeof(struct rtl_hsa_mem), memory_events, false},
		{RTL_MEM_RELEASE_END, sizeof(struct rtl_hsa_mem), memory_events, false},
	};

	return subscribe(stream, wanted, 2, NULL);
}

static int subscribe_roctx(struct stream *stream)
{
	static const struct wanted wanted[] = {
		{RTL_REGION_END, sizeof(struct rtl_roctx_range), roctx_events, false},
		{RTL_SIGNAL, sizeof(struct rtl_roctx_mark), roctx_events, false},
		{RTL_REGION_UNFINISHED, sizeof(struct rtl_roctx_range), roctx_events, true},
	};

	return subscribe(stream, wanted, 3, NULL);
}

static size_t call_size(const struct calls *calls)
{
	return calls->is_hip ? sizeof(struct rtl_hip_call) : sizeof(struct rtl_hsa_call);
}

static int subscribe_plain(struct stream *stream)
{
	struct calls *calls = stream->calls;
	const struct wanted wanted[] = {
		{RTL_FUNCTION_END, call_size(calls), call_events, false},
		{RTL_FUNCTION_UNFINISHED, call_size(calls), call_events, true},
	};

	return calls->have_args ? 0 : subscribe(stream, wanted, 2, calls->plain);
}

/* Both streams tell of the same calls: where there are arguments, the other one is given up. */
static int subscribe_debug(struct stream *stream)
{
	struct calls *calls = stream->calls;
	const struct wanted wanted[] = {
		{RTL_FUNCTION_WITH_ARGS_END, call_size(calls), call_events, false},
		{RTL_FUNCTION_WITH_ARGS_UNFINISHED, call_size(calls), call_events, true},
	};
	int result;

	if (!stream->sub->args)
		return 0;
	result = subscribe(stream, wanted, 2, NULL);
	if (result == RTL_ENOTSUP)
		return 0; /* of another version; the calls are stored without */
	calls->have_args = result == 0;
	for (int i = 0; result == 0 && i < 2; i++) {
		if (calls->plain[i])
			stream->sub->host->unsubscribe(stream->sub->host, calls->plain[i]);
		calls->plain[i] = NULL;
	}
	return result;
}

int known_subscribe(struct sub *sub, struct stream *stream)
{
	const struct {
		const char *name;
		uint16_t version;
		int (*subscribe)(struct stream *stream);
		struct calls *calls;
	} streams[] = {
		{RTL_STREAM_HSA, RTL_STREAM_HSA_VERSION, subscribe_hsa, NULL},
		{RTL_STREAM_HSA_COPY, RTL_STREAM_HSA_COPY_VERSION, subscribe_copy, NULL},
		{RTL_STREAM_HSA_MEM, RTL_STREAM_HSA_MEM_VERSION, subscribe_memory, NULL},
		{RTL_STREAM_ROCTX, RTL_STREAM_ROCTX_VERSION, subscribe_roctx, NULL},
		{RTL_STREAM_HSA_CALL, RTL_STREAM_HSA_CALL_VERSION, subscribe_plain,
		 &sub->hsa_calls},
		{RTL_STREAM_HSA_CALL_DEBUG, RTL_STREAM_HSA_CALL_DEBUG_VERSION, subscribe_debug,
		 &sub->hsa_calls},
		{RTL_STREAM_HIP_CALL, RTL_STREAM_HIP_CALL_VERSION, subscribe_plain,
		 &sub->hip_calls},
		{RTL_STREAM_HIP_CALL_DEBUG, RTL_STREAM_HIP_CALL_DEBUG_VERSION, subscribe_debug,
		 &sub->hip_calls},
	};

	for (size_t i = 0; i < sizeof(streams) / sizeof(*streams); i++) {
		if (strcmp(stream->info->name, streams[i].name) != 0)
			continue;
		stream->calls = streams[i].calls;
		return stream->info->version_major == streams[i].version
			       ? streams[i].subscribe(stream)
			       : RTL_ENOTSUP;
	}
	return RTL_ENOTSUP;
}
