/* SPDX-License-Identifier: MIT */
/* event_sink_known.c: rtl's own streams, whose payloads it knows. */
#include <stdio.h>
#include <string.h>

#include <rtl/args.h>
#include <rtl/publish.h>

#include "event_sink.h"

/* What the first version of rtl.hsa had of a dispatch. */
#define DISPATCH_LEAST offsetof(struct rtl_hsa_dispatch, scope)

/* ---- dispatches, copies, GPUs ---- */

static void take_dispatch(struct stream *stream, struct work_process *process,
			  const struct rtl_event *event)
{
	struct event_sink *sink = stream->sink;
	const struct rtl_hsa_dispatch *d = event->payload;
	struct rtl_hsa_dispatch whole = {0};
	const struct work_kernel *kernel;

	if (event->payload_size < DISPATCH_LEAST) {
		stream->skipped++;
		return;
	}
	if (event->payload_size < sizeof(whole)) { /* of version 1.0: what came later is 0 */
		memcpy(&whole, event->payload, event->payload_size);
		d = &whole;
	}
	kernel = event_lookup_kernel(sink, event->process, event->uid, d->kernel_name);
	if (!kernel)
		return;
	work_dispatch(&sink->work, process, d, kernel, event->correlation);
	if (d->flags & RTL_HSA_DISPATCH_SERIALISED)
		counters_dispatch(sink, event, d, kernel);
}

static void dispatch_events(void *user, const struct rtl_event *const *events, size_t count)
{
	event_sink_each(user, events, count, take_dispatch);
}

/* A GPU's name: "gfx906, product, 0000:03:00.0", as far as that is known. */
static void name_gpu(struct event_sink *sink, struct work_process *process,
		     const struct rtl_tracepoint *tp, uint32_t node)
{
	const char *product = rtl_tracepoint_value(tp, "product"),
		   *bus = rtl_tracepoint_value(tp, "bus_id");
	char name[400];

	snprintf(name, sizeof(name), "%s%s%s%s%s", tp->name, product && *product ? ", " : "",
		 product ? product : "", bus && *bus ? ", " : "", bus ? bus : "");
	if (!sink->work.selection || !sink->work.selection->has_gpu ||
	    sink->work.selection->gpu == node)
		work_gpu(&sink->work, process, node, name);
}

static void take_metadata(struct stream *stream, struct work_process *process,
			  const struct rtl_event *event)
{
	struct event_sink *sink = stream->sink;
	const struct rtl_hsa_metadata *m = event->payload;
	const struct rtl_tracepoint *tp =
		sink->host->tracepoint(sink->host, event->process, event->uid);

	if (tp && strcmp(tp->kind, "agent") == 0)
		name_gpu(sink, process, tp, m->gpu);
	else if (tp && strcmp(tp->kind, "kernel") == 0)
		event_lookup_kernel_again(sink, event->process, event->uid);
}

static void metadata_events(void *user, const struct rtl_event *const *events, size_t count)
{
	event_sink_each(user, events, count, take_metadata);
}

static void take_copy(struct stream *stream, struct work_process *process,
		      const struct rtl_event *event)
{
	work_copy(&stream->sink->work, process, event->payload, event->correlation);
}

static void copy_events(void *user, const struct rtl_event *const *events, size_t count)
{
	event_sink_each(user, events, count, take_copy);
}

static void take_memory(struct stream *stream, struct work_process *process,
			const struct rtl_event *event)
{
	struct event_sink *sink = stream->sink;
	const struct rtl_hsa_mem *m = event->payload;
	struct work_memory memory = {
		.function = event_lookup_string(sink, event->process, m->function),
		.status = event_lookup_string(sink, event->process, m->status),
		.is_release = event->type == RTL_MEM_RELEASE_END,
		.mem = m,
		.tid = event->tid,
	};

	if (!memory.function)
		memory.function = timeline_intern(&sink->timeline,
						  memory.is_release ? "release" : "allocate");
	if (memory.function)
		work_memory(&sink->work, process, &memory);
}

static void memory_events(void *user, const struct rtl_event *const *events, size_t count)
{
	event_sink_each(user, events, count, take_memory);
}

/* ---- calls ---- */

static bool is_unfinished(uint16_t type)
{
	return type == RTL_FUNCTION_UNFINISHED || type == RTL_FUNCTION_WITH_ARGS_UNFINISHED;
}

static void take_call(struct stream *stream, struct work_process *process,
		      const struct rtl_event *event)
{
	struct event_sink *sink = stream->sink;
	const bool is_hip = stream->is_hip;
	const struct rtl_hsa_call *c = event->payload; /* HIP's begins with the same */
	const struct rtl_hip_call *hip = is_hip ? event->payload : NULL;
	const bool unfinished = is_unfinished(event->type);
	const struct rtl_field *field = rtl_args_field(event->type_info);
	const struct function *function =
		event_lookup_function(sink, event->process, event->uid, c->function);
	char text[RTL_PAYLOAD_MAX];
	size_t length = 0;

	if (!function)
		return;
	if (field)
		length = rtl_args_text(sink->host, event, field, text, sizeof(text));
	work_call(&sink->work, process,
		  &(struct work_call){
			  .function = function->name,
			  .status = event_lookup_string(sink, event->process, c->status),
			  .is_hip = is_hip,
			  .unfinished = unfinished,
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
	event_sink_each(user, events, count, take_call);
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

static void take_range(struct stream *stream, struct work_process *process,
		       const struct rtl_event *event)
{
	const struct rtl_roctx_range *r = event->payload;
	const bool unfinished = event->type == RTL_REGION_UNFINISHED;

	work_range(&stream->sink->work, process,
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

static void take_mark(struct stream *stream, struct work_process *process,
		      const struct rtl_event *event)
{
	const struct rtl_roctx_mark *m = event->payload;

	work_range(&stream->sink->work, process,
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
static void take_name(struct stream *stream, struct work_process *process,
		      const struct rtl_event *event)
{
	const struct rtl_roctx_name *n = event->payload;
	char name[256];

	if (n->kind != RTL_ROCTX_THREAD)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)n->name.length, text_of(event, &n->name));
	work_name_thread(&stream->sink->work, process, (uint32_t)n->object, name);
}

static void take_roctx(struct stream *stream, struct work_process *process,
		       const struct rtl_event *event)
{
	if (event->type == RTL_SIGNAL)
		take_mark(stream, process, event);
	else if (event->type == RTL_METADATA)
		take_name(stream, process, event);
	else
		take_range(stream, process, event);
}

static void roctx_events(void *user, const struct rtl_event *const *events, size_t count)
{
	event_sink_each(user, events, count, take_roctx);
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
	{RTL_METADATA, sizeof(struct rtl_roctx_name), roctx_events, true},
};
static const struct wanted counter[] = {
	{RTL_SIGNAL, sizeof(struct rtl_hsa_counter), counters_values, false},
	{RTL_SAMPLE, sizeof(struct rtl_hsa_counter_interval), counters_intervals, true},
	{RTL_METADATA, 0, generic_events, true},
	{RTL_DIAGNOSTICS, 0, generic_events, true},
};
static const struct wanted_stream streams[] = {
	{RTL_STREAM_HSA, RTL_STREAM_HSA_VERSION, WANTED(hsa)},
	{RTL_STREAM_HSA_COPY, RTL_STREAM_HSA_COPY_VERSION, WANTED(copy)},
	{RTL_STREAM_HSA_MEM, RTL_STREAM_HSA_MEM_VERSION, WANTED(memory)},
	{RTL_STREAM_ROCTX, RTL_STREAM_ROCTX_VERSION, WANTED(roctx)},
	{RTL_STREAM_HSA_COUNTER, RTL_STREAM_HSA_COUNTER_VERSION, WANTED(counter)},
};
/* Without tracks of counters only what describes them is shown. */
static const struct wanted_stream no_counters = {RTL_STREAM_HSA_COUNTER,
						 RTL_STREAM_HSA_COUNTER_VERSION, counter + 2, 2};

static int subscribe_calls(struct event_sink *sink, struct stream *stream, int which)
{
	int result;

	stream->is_hip = which & WANTED_HIP;
	result = wanted_subscribe_calls(sink->host, stream->info, which, sink->args, call_events,
					stream,
					stream->is_hip ? &sink->hip_calls : &sink->hsa_calls);
	/* of another version: the calls are shown without arguments */
	return result == RTL_ENOTSUP && which & WANTED_DEBUG ? 0 : result;
}

int known_subscribe(struct event_sink *sink, struct stream *stream)
{
	const struct wanted_stream *known = wanted_find(WANTED(streams), stream->info->name);
	const int calls = wanted_call_stream(stream->info->name);
	int result = 0;

	if (calls >= 0)
		return subscribe_calls(sink, stream, calls);
	if (!known)
		return RTL_ENOTSUP;
	if (known->types == counter && sink->counters)
		result = counters_init(sink);
	else if (known->types == counter)
		known = &no_counters;
	return result ? result : wanted_subscribe(sink->host, stream->info, known, stream, NULL);
}
