/* SPDX-License-Identifier: MIT */
/* known.c: rtl's own streams, whose payloads it knows. */
#include <stdio.h>
#include <string.h>

#include <rtl/args.h>
#include <rtl/publish.h>

#include "sub.h"

/* What the first version of rtl.hsa had of a dispatch. */
#define DISPATCH_LEAST offsetof(struct rtl_hsa_dispatch, scope)

/* ---- dispatches, copies, GPUs ---- */

static void take_dispatch(struct sub *sub, struct work_process *process,
			  const struct rtl_event *event)
{
	const struct rtl_hsa_dispatch *d = event->payload;
	struct rtl_hsa_dispatch whole = {0};
	const struct work_kernel *kernel;

	if (event->payload_size < sizeof(whole)) { /* of version 1.0: what came later is 0 */
		memcpy(&whole, event->payload, event->payload_size);
		d = &whole;
	}
	kernel = lookup_kernel(sub, event->process, event->uid, d->kernel_name);
	if (kernel)
		work_dispatch(&sub->work, process, d, kernel, event->correlation);
	if (d->flags & RTL_HSA_DISPATCH_SERIALISED)
		counters_dispatch(sub, event, d);
}

static void dispatch_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;
	struct sub *sub = stream->sub;

	sub->pending = true;
	for (size_t i = 0; i < count; i++) {
		struct work_process *process = lookup_process(sub, events[i]->process);

		if (events[i]->payload_size < DISPATCH_LEAST)
			stream->skipped++;
		else if (process)
			take_dispatch(sub, process, events[i]);
	}
}

/* A GPU's name: "gfx906, product, 0000:03:00.0", as far as that is known. */
static void name_gpu(struct sub *sub, struct work_process *process, const struct rtl_tracepoint *tp,
		     uint32_t node)
{
	const char *product = lookup_metadata(tp, "product"), *bus = lookup_metadata(tp, "bus_id");
	char name[400];

	snprintf(name, sizeof(name), "%s%s%s%s%s", tp->name, product && *product ? ", " : "",
		 product ? product : "", bus && *bus ? ", " : "", bus ? bus : "");
	work_gpu(&sub->work, process, node, name);
}

static void metadata_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;
	struct sub *sub = stream->sub;

	for (size_t i = 0; i < count; i++) {
		const struct rtl_event *event = events[i];
		const struct rtl_hsa_metadata *m = event->payload;
		struct work_process *process = lookup_process(sub, event->process);
		const struct rtl_tracepoint *tp =
			sub->host->tracepoint(sub->host, event->process, event->uid);

		if (!tp || !process)
			continue;
		if (strcmp(tp->kind, "agent") == 0)
			name_gpu(sub, process, tp, m->gpu);
		else if (strcmp(tp->kind, "kernel") == 0)
			lookup_kernel_again(sub, event->process, event->uid);
	}
}

static void copy_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;
	struct sub *sub = stream->sub;

	sub->pending = true;
	for (size_t i = 0; i < count; i++) {
		struct work_process *process = lookup_process(sub, events[i]->process);

		if (process)
			work_copy(&sub->work, process, events[i]->payload, events[i]->correlation);
	}
}

static void memory_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;
	struct sub *sub = stream->sub;

	sub->pending = true;
	for (size_t i = 0; i < count; i++) {
		const struct rtl_event *event = events[i];
		const struct rtl_hsa_mem *m = event->payload;
		struct work_process *process = lookup_process(sub, event->process);
		struct work_memory memory = {
			.function = lookup_string(sub, event->process, m->function),
			.status = lookup_string(sub, event->process, m->status),
			.is_release = event->type == RTL_MEM_RELEASE_END,
			.mem = m,
			.tid = event->tid,
		};

		if (!memory.function)
			memory.function = timeline_intern(
				&sub->timeline, memory.is_release ? "release" : "allocate");
		if (process && memory.function)
			work_memory(&sub->work, process, &memory);
	}
}

/* ---- calls ---- */

static bool is_unfinished(uint16_t type)
{
	return type == RTL_FUNCTION_UNFINISHED || type == RTL_FUNCTION_WITH_ARGS_UNFINISHED;
}

static void take_call(struct stream *stream, struct work_process *process,
		      const struct rtl_event *event)
{
	struct sub *sub = stream->sub;
	const bool is_hip = stream->calls->is_hip;
	const struct rtl_hsa_call *c = event->payload; /* HIP's begins with the same */
	const struct rtl_hip_call *hip = is_hip ? event->payload : NULL;
	const bool unfinished = is_unfinished(event->type);
	const struct rtl_field *field = rtl_args_field(event->type_info);
	const struct function *function =
		lookup_function(sub, event->process, event->uid, c->function);
	char text[RTL_PAYLOAD_MAX];
	size_t length = 0;

	if (!function)
		return;
	if (field)
		length = rtl_args_text(sub->host, event, field, text, sizeof(text));
	work_call(&sub->work, process,
		  &(struct work_call){
			  .function = function->name,
			  .status = lookup_string(sub, event->process, c->status),
			  .is_hip = is_hip,
			  .unfinished = unfinished,
			  .launches = function->launches,
			  .begin_ns = c->begin_ns,
			  .end_ns = unfinished ? event->time_ns : c->end_ns,
			  .correlation = event->correlation,
			  .result = c->result,
			  .tid = hip && unfinished ? hip->tid : event->tid,
			  .work = hip ? hip->work : 0,
			  .arguments = text,
			  .arguments_length =
				  (uint32_t)(length < sizeof(text) ? length : sizeof(text) - 1),
		  });
}

static void call_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;

	stream->sub->pending = true;
	for (size_t i = 0; i < count; i++) {
		struct work_process *process = lookup_process(stream->sub, events[i]->process);

		if (process)
			take_call(stream, process, events[i]);
	}
}

/* ---- ranges ---- */

static const char *text_of(const struct rtl_event *event, const struct rtl_text *text)
{
	/* the host has seen to it that it lies in the payload */
	return (const char *)event->payload + text->offset;
}

/* As the program's text ends. */
static uint32_t length_of(const struct rtl_event *event, const struct rtl_text *text)
{
	return (uint32_t)strnlen(text_of(event, text), text->length);
}

static void take_range(struct sub *sub, struct work_process *process, const struct rtl_event *event)
{
	const struct rtl_roctx_range *r = event->payload;
	const bool unfinished = event->type == RTL_REGION_UNFINISHED;

	work_range(&sub->work, process,
		   &(struct work_range){
			   .name = text_of(event, &r->name),
			   .name_length = length_of(event, &r->name),
			   .unfinished = unfinished,
			   .started = r->flags & RTL_ROCTX_STARTED,
			   .cut = r->flags & RTL_ROCTX_CUT,
			   .begin_ns = r->begin_ns,
			   .end_ns = unfinished ? event->time_ns : r->end_ns,
			   .id = r->id,
			   .tid = r->begin_tid,
			   .end_tid = unfinished ? 0 : event->tid,
		   });
}

static void take_mark(struct sub *sub, struct work_process *process, const struct rtl_event *event)
{
	const struct rtl_roctx_mark *m = event->payload;

	work_range(&sub->work, process,
		   &(struct work_range){
			   .name = text_of(event, &m->name),
			   .name_length = length_of(event, &m->name),
			   .is_mark = true,
			   .cut = m->flags & RTL_ROCTX_CUT,
			   .begin_ns = event->time_ns,
			   .end_ns = event->time_ns,
			   .tid = event->tid,
		   });
}

/* Only threads have names of which a timeline knows the owner. */
static void take_name(struct sub *sub, struct work_process *process, const struct rtl_event *event)
{
	const struct rtl_roctx_name *n = event->payload;
	char name[256];

	if (n->kind != RTL_ROCTX_THREAD)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)n->name.length, text_of(event, &n->name));
	work_name_thread(&sub->work, process, (uint32_t)n->object, name);
}

static void roctx_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;
	struct sub *sub = stream->sub;

	sub->pending = true;
	for (size_t i = 0; i < count; i++) {
		struct work_process *process = lookup_process(sub, events[i]->process);

		if (!process)
			continue;
		if (events[i]->type == RTL_SIGNAL)
			take_mark(sub, process, events[i]);
		else if (events[i]->type == RTL_METADATA)
			take_name(sub, process, events[i]);
		else
			take_range(sub, process, events[i]);
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

/* What a stream is shown by: its types, each with the payload that it has at least. */
struct wanted {
	uint16_t type;
	size_t size; /* 0: by its description */
	rtl_events_fn take;
	bool optional; /* older versions do not have it */
};

static int subscribe(struct sub *sub, struct stream *stream, const struct wanted *wanted,
		     size_t count, struct rtl_subscription **taken)
{
	const struct rtl_host *host = sub->host;
	int result = 0;

	if (stream->info->version_major != stream->version)
		return RTL_ENOTSUP;
	for (size_t i = 0; i < count; i++)
		if (!wanted[i].optional && size_of(stream->info, wanted[i].type) < wanted[i].size)
			return RTL_ENOTSUP;
	for (size_t i = 0; i < count && result == 0; i++) {
		const uint32_t has = size_of(stream->info, wanted[i].type);

		if (wanted[i].optional && (!has || has < wanted[i].size))
			continue;
		result = wanted[i].size
				 ? host->subscribe(host, stream->info, wanted[i].type, RTL_BUFFERED,
						   wanted[i].take, stream, taken ? &taken[i] : NULL)
				 : generic_subscribe(sub, stream, wanted[i].type);
	}
	return result;
}

static int subscribe_hsa(struct sub *sub, struct stream *stream)
{
	static const struct wanted wanted[] = {
		{RTL_TASK_END, DISPATCH_LEAST, dispatch_events, false},
		{RTL_METADATA, offsetof(struct rtl_hsa_metadata, bytes), metadata_events, true},
		{RTL_BARRIER_END, 0, NULL, true},
	};

	return subscribe(sub, stream, wanted, 3, NULL);
}

static int subscribe_copy(struct sub *sub, struct stream *stream)
{
	static const struct wanted wanted[] = {
		{RTL_TRANSFER_END, sizeof(struct rtl_hsa_copy), copy_events, false},
	};

	return subscribe(sub, stream, wanted, 1, NULL);
}

static int subscribe_memory(struct sub *sub, struct stream *stream)
{
	static const struct wanted wanted[] = {
		{RTL_MEM_ALLOC_END, sizeof(struct rtl_hsa_mem), memory_events, false},
		{RTL_MEM_RELEASE_END, sizeof(struct rtl_hsa_mem), memory_events, false},
	};

	return subscribe(sub, stream, wanted, 2, NULL);
}

static int subscribe_counter(struct sub *sub, struct stream *stream)
{
	static const struct wanted wanted[] = {
		{RTL_SIGNAL, sizeof(struct rtl_hsa_counter), counters_values, false},
		{RTL_SAMPLE, sizeof(struct rtl_hsa_counter_interval), counters_intervals, true},
		{RTL_METADATA, 0, NULL, true},
		{RTL_DIAGNOSTICS, 0, NULL, true},
	};
	int result = sub->counters ? counters_init(sub) : 0;

	if (result)
		return result;
	/* Without tracks of counters only what describes them is shown. */
	return subscribe(sub, stream, sub->counters ? wanted : wanted + 2, sub->counters ? 4 : 2,
			 NULL);
}

static int subscribe_roctx(struct sub *sub, struct stream *stream)
{
	static const struct wanted wanted[] = {
		{RTL_REGION_END, sizeof(struct rtl_roctx_range), roctx_events, false},
		{RTL_SIGNAL, sizeof(struct rtl_roctx_mark), roctx_events, false},
		{RTL_REGION_UNFINISHED, sizeof(struct rtl_roctx_range), roctx_events, true},
		{RTL_METADATA, sizeof(struct rtl_roctx_name), roctx_events, true},
	};

	return subscribe(sub, stream, wanted, 4, NULL);
}

static size_t call_size(const struct calls *calls)
{
	return calls->is_hip ? sizeof(struct rtl_hip_call) : sizeof(struct rtl_hsa_call);
}

static int subscribe_plain(struct sub *sub, struct stream *stream)
{
	struct calls *calls = stream->calls;
	const struct wanted wanted[] = {
		{RTL_FUNCTION_END, call_size(calls), call_events, false},
		{RTL_FUNCTION_UNFINISHED, call_size(calls), call_events, true},
	};

	if (calls->have_args)
		return 0;
	return subscribe(sub, stream, wanted, 2, calls->plain);
}

/* Both streams tell of the same calls: where there are arguments, the other one is given up. */
static int subscribe_debug(struct sub *sub, struct stream *stream)
{
	struct calls *calls = stream->calls;
	const struct wanted wanted[] = {
		{RTL_FUNCTION_WITH_ARGS_END, call_size(calls), call_events, false},
		{RTL_FUNCTION_WITH_ARGS_UNFINISHED, call_size(calls), call_events, true},
	};
	int result;

	if (!sub->args)
		return 0;
	result = subscribe(sub, stream, wanted, 2, NULL);
	if (result == RTL_ENOTSUP)
		return 0; /* of another version; the calls are shown without */
	calls->have_args = result == 0;
	for (int i = 0; result == 0 && i < 2; i++) {
		if (calls->plain[i])
			sub->host->unsubscribe(sub->host, calls->plain[i]);
		calls->plain[i] = NULL;
	}
	return result;
}

int known_subscribe(struct sub *sub, struct stream *stream)
{
	const struct {
		const char *name;
		uint16_t version;
		int (*subscribe)(struct sub *sub, struct stream *stream);
		struct calls *calls;
	} streams[] = {
		{RTL_STREAM_HSA, RTL_STREAM_HSA_VERSION, subscribe_hsa, NULL},
		{RTL_STREAM_HSA_COPY, RTL_STREAM_HSA_COPY_VERSION, subscribe_copy, NULL},
		{RTL_STREAM_HSA_MEM, RTL_STREAM_HSA_MEM_VERSION, subscribe_memory, NULL},
		{RTL_STREAM_ROCTX, RTL_STREAM_ROCTX_VERSION, subscribe_roctx, NULL},
		{RTL_STREAM_HSA_COUNTER, RTL_STREAM_HSA_COUNTER_VERSION, subscribe_counter, NULL},
		{RTL_STREAM_HSA_CALL, RTL_STREAM_HSA_CALL_VERSION, subscribe_plain,
		 &sub->hsa_calls},
		{RTL_STREAM_HSA_CALL_DEBUG, RTL_STREAM_HSA_CALL_DEBUG_VERSION, subscribe_debug,
		 &sub->hsa_calls},
		{RTL_STREAM_HIP_CALL, RTL_STREAM_HIP_CALL_VERSION, subscribe_plain,
		 &sub->hip_calls},
		{RTL_STREAM_HIP_CALL_DEBUG, RTL_STREAM_HIP_CALL_DEBUG_VERSION, subscribe_debug,
		 &sub->hip_calls},
	};

	for (size_t i = 0; i < sizeof(streams) / sizeof(*streams); i++)
		if (strcmp(stream->info->name, streams[i].name) == 0) {
			stream->calls = streams[i].calls;
			stream->version = streams[i].version;
			return streams[i].subscribe(sub, stream);
		}
	return RTL_ENOTSUP;
}
