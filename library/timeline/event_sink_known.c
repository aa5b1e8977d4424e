/* SPDX-License-Identifier: MIT */
/* event_sink_known.c: rtl's own streams, whose payloads it knows. */
#include <rtl/args.h>

#include "event_sink.h"

#define COLLECTIVES_MOST 65536u /* whose kernels may still come */

/* ---- dispatches, copies, GPUs ---- */

/* The kernel of a collective is called by it: "AllReduce, 4096 bytes"; of a group, "Send, 4096 bytes, ...". */
static void take_collective(struct stream *stream, struct work_process *process,
			    const struct rtl_event *event)
{
	struct event_sink *sink = stream->sink;
	const struct rtl_rccl *is = event->payload;
	const uint64_t key = work_flow_id(process, event->correlation);
	const struct name *operation = event_lookup_string(sink, event->process, is->operation);
	struct name *name = map_pointer(&sink->collectives, key);
	char text[300];

	if (name)
		snprintf(text, sizeof(text), "%.250s%s", name->text,
			 strstr(name->text, ", ...") ? "" : ", ...");
	else
		snprintf(text, sizeof(text), "%.250s, %" PRIu64 " bytes",
			 operation ? operation->text : "collective", is->bytes);
	if (sink->collectives.hash.count >= COLLECTIVES_MOST)
		map_fini(&sink->collectives);
	name = timeline_intern(&sink->timeline, text);
	if (event->correlation && name && !map_set(&sink->collectives, key, (uintptr_t)name))
		sink->timeline.out_of_memory = true;
	generic_events(stream, &event, 1);
}

static EVENT_SINK_EACH(collective_events, take_collective)

	static void take_dispatch(struct stream *stream, struct work_process *process,
				  const struct rtl_event *event)
{
	struct event_sink *sink = stream->sink;
	const struct rtl_hsa_dispatch *d = event->payload;
	const struct work_kernel *kernel =
		event_lookup_kernel(sink, event->process, event->uid, d->kernel_name);
	const uint64_t flow = work_flow_id(process, event->correlation);
	struct name *collective = map_pointer(&sink->collectives, flow);
	struct rtl_hsa_dispatch unfinished;
	struct work_kernel named;

	if (!kernel)
		return;
	/* HTA knows communication by the kernel's name */
	if (collective && !sink->work.is_kineto && strstr(kernel->name->text, "nccl")) {
		named = *kernel;
		named.name = collective;
		kernel = &named;
	}
	if (event->type == RTL_TASK_UNFINISHED) { /* as far as it is known */
		unfinished = *d;
		unfinished.begin_ns = d->submit_ns;
		unfinished.end_ns = event->time_ns;
		d = &unfinished;
	}
	work_dispatch(&sink->work, process, d, kernel, event->correlation);
	if (d->flags & RTL_HSA_DISPATCH_SERIALISED)
		counters_dispatch(sink, event, d, kernel);
}

static EVENT_SINK_EACH(dispatch_events, take_dispatch)

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

static EVENT_SINK_EACH(metadata_events, take_metadata)

	static void take_copy(struct stream *stream, struct work_process *process,
			      const struct rtl_event *event)
{
	struct rtl_hsa_copy copy = *(const struct rtl_hsa_copy *)event->payload;

	if (event->type == RTL_TRANSFER_UNFINISHED) { /* as far as it is known */
		copy.begin_ns = copy.submit_ns;
		copy.end_ns = event->time_ns;
	}
	work_copy(&stream->sink->work, process, &copy, event->correlation);
}

static EVENT_SINK_EACH(copy_events, take_copy)

	static const char *const mem_kinds[] = {
		[0] = "memory",
		[RTL_HSA_MEM_REGION] = "memory",
		[RTL_HSA_MEM_POOL] = "memory",
		[RTL_HSA_MEM_HANDLE] = "virtual memory",
		[RTL_HSA_MEM_ADDRESSES] = "addresses reserved",
		[RTL_HSA_MEM_LOCKED] = "host memory locked",
		[RTL_HSA_MEM_ATTACHED] = "memory of other processes",
};

/* What is in use after it, of the process: on a GPU if the memory is one's. */
static void count_memory(struct work *work, struct work_process *process,
			 const struct rtl_hsa_mem *m)
{
	const uint32_t kind = m->kind < sizeof(mem_kinds) / sizeof(*mem_kinds) ? m->kind : 0;
	const bool on_gpu = m->flags & RTL_HSA_MEM_ON_GPU;
	struct work_gpu *gpu = on_gpu ? work_gpu(work, process, m->node, NULL) : NULL;
	struct timeline_process *owner = on_gpu ? (gpu ? gpu->process : NULL) : process->process;
	/* regions and pools of an agent are counted together */
	const uint32_t counted = kind == RTL_HSA_MEM_REGION ? RTL_HSA_MEM_POOL : kind;
	const uint64_t number =
		(uint64_t)process->number << 32 | (uint64_t)(m->node & 0xffffff) << 8 | counted;
	struct timeline_track *track;
	char name[128];

	if (!owner)
		return;
	track = timeline_find(owner, TIMELINE_COUNTER, number);
	if (!track) {
		snprintf(name, sizeof(name), "%s in use, process %d, node %" PRIu32,
			 mem_kinds[kind], process->pid, m->node);
		track = timeline_add_counter(work->timeline, owner, number, name, "bytes");
	}
	if (track)
		timeline_counter(work->timeline, track, m->end_ns, (double)m->in_use_bytes);
}

static void take_memory(struct stream *stream, struct work_process *process,
			const struct rtl_event *event)
{
	struct event_sink *sink = stream->sink;
	struct work *work = &sink->work;
	const struct rtl_hsa_mem *m = event->payload;
	struct name *status = event_lookup_string(sink, event->process, m->status);
	struct timeline_slice slice = {
		.name = event_lookup_string(sink, event->process, m->function),
		.category = work->categories[WORK_MEMORY],
		.begin_ns = m->begin_ns,
		.end_ns = m->end_ns,
	};

	if (!slice.name)
		slice.name = timeline_intern(&sink->timeline, event->type == RTL_MEM_RELEASE_END
								      ? "release"
								      : "allocate");
	if (!slice.name || !work_selects(work, NULL, &slice))
		return;
	work_begin_values(work);
	work_add(work, WORK_BYTES, TIMELINE_UINT, m->bytes);
	work_add(work, WORK_ADDRESS, TIMELINE_HEX, m->address);
	work_value(work, work->keys[WORK_AGENT], TIMELINE_NAME)->name = work_agent(work, m->node);
	work_add(work, WORK_IN_USE, TIMELINE_UINT, m->in_use_bytes);
	if (status)
		work_value(work, work->keys[WORK_STATUS], TIMELINE_NAME)->name = status;
	work_slice(work, work_thread(work, process, event->tid), &slice);
	if (work->counters && !(m->flags & (RTL_HSA_MEM_FAILED | RTL_HSA_MEM_UNKNOWN)))
		count_memory(work, process, m);
}

static EVENT_SINK_EACH(memory_events, take_memory)

	/* ---- calls ---- */

	static void take_call(struct stream *stream, struct work_process *process,
			      const struct rtl_event *event)
{
	struct event_sink *sink = stream->sink;
	struct work *work = &sink->work;
	const struct rtl_hsa_call *c = event->payload; /* HIP's begins with the same */
	const struct rtl_hip_call *hip = stream->is_hip ? event->payload : NULL;
	const bool unfinished = event->type == RTL_FUNCTION_UNFINISHED ||
				event->type == RTL_FUNCTION_WITH_ARGS_UNFINISHED;
	const struct rtl_field *field = rtl_args_field(event->type_info);
	struct name *status = event_lookup_string(sink, event->process, c->status);
	struct timeline_slice slice = {
		.name = event_lookup_function(sink, event->process, event->uid, c->function),
		.category = work->categories[hip ? WORK_HIP : WORK_HSA],
		.begin_ns = c->begin_ns,
		.end_ns = unfinished ? event->time_ns : c->end_ns,
	};
	char text[RTL_PAYLOAD_MAX];
	size_t length = 0;

	if (!slice.name || !work_selects(work, NULL, &slice))
		return;
	if (field)
		length = rtl_args_text(sink->host, event, field, text, sizeof(text));
	work_begin_values(work);
	/* readers of Kineto's names link all calls of a correlation to its work */
	if (!work->is_kineto || hip)
		work_add(work, WORK_CORR_ID, TIMELINE_UINT, event->correlation);
	work_add_times(work, &slice);
	if (status)
		work_value(work, work->keys[WORK_STATUS], TIMELINE_NAME)->name = status;
	if (c->result)
		work_value(work, work->keys[WORK_RESULT], TIMELINE_INT)->integer = c->result;
	if (unfinished)
		work_add(work, WORK_UNFINISHED, TIMELINE_BOOL, 1);
	if (length) {
		struct timeline_value *value =
			work_value(work, work->keys[WORK_ARGUMENTS], TIMELINE_TEXT);

		value->text = text;
		value->length = (uint32_t)(length < sizeof(text) ? length : sizeof(text) - 1);
	}
	if (hip && event->correlation && hip->work) {
		slice.flow = TIMELINE_FLOW_OUT;
		slice.flow_id = work_flow_id(process, event->correlation);
		slice.flow_part = hip->work;
	}
	work_slice(work, work_thread(work, process, hip && unfinished ? hip->tid : event->tid),
		   &slice);
}

static EVENT_SINK_EACH(call_events, take_call)

	/* ---- ranges ---- */

	static const char *text_of(const struct rtl_event *event, const struct rtl_text *text)
{
	/* the host has seen to it that it lies in the payload */
	return (const char *)event->payload + text->offset;
}

/* Ranges that are pushed are within each other; those that are started may end anywhere. */
static struct timeline_track *range_track(struct work *work, struct work_process *process,
					  uint32_t tid, bool started)
{
	struct timeline_track *track;
	char name[64];

	if (!started)
		return work_thread(work, process, tid);
	track = timeline_find(process->process, TIMELINE_STARTED, tid);
	if (track)
		return track;
	snprintf(name, sizeof(name), "ranges that thread %" PRIu32 " started", tid);
	return timeline_add(work->timeline, process->process, TIMELINE_STARTED, tid, name);
}

/* A range, or a mark: that has no end. */
static void show_range(struct stream *stream, struct work_process *process,
		       const struct rtl_event *event, const struct rtl_text *name, uint32_t flags,
		       const struct rtl_roctx_range *r)
{
	struct work *work = &stream->sink->work;
	const bool unfinished = event->type == RTL_REGION_UNFINISHED;
	const uint32_t tid = r ? r->begin_tid : event->tid;
	struct timeline_slice slice = {
		.text = text_of(event, name),
		/* as the program's text ends */
		.text_length = (uint32_t)strnlen(text_of(event, name), name->length),
		.category = work->categories[WORK_MARKER],
		.begin_ns = r ? r->begin_ns : event->time_ns,
		.end_ns = r && !unfinished ? r->end_ns : event->time_ns,
		.is_mark = !r,
	};

	if (!work_selects(work, NULL, &slice))
		return;
	work_begin_values(work);
	work_add(work, WORK_BEGIN_NS, TIMELINE_TIME, slice.begin_ns);
	if (r)
		work_add(work, WORK_END_NS, TIMELINE_TIME, slice.end_ns);
	if (r && r->id)
		work_add(work, WORK_ID, TIMELINE_UINT, r->id);
	if (!unfinished && event->tid && event->tid != tid)
		work_add(work, WORK_END_TID, TIMELINE_UINT, event->tid);
	if (unfinished)
		work_add(work, WORK_UNFINISHED, TIMELINE_BOOL, 1);
	if (flags & RTL_ROCTX_CUT)
		work_add(work, WORK_CUT, TIMELINE_BOOL, 1);
	work_slice(work, range_track(work, process, tid, r && flags & RTL_ROCTX_STARTED), &slice);
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
	const struct rtl_roctx_range *range = event->payload;
	const struct rtl_roctx_mark *mark = event->payload;

	if (event->type == RTL_SIGNAL)
		show_range(stream, process, event, &mark->name, mark->flags, NULL);
	else if (event->type == RTL_METADATA)
		take_name(stream, process, event);
	else
		show_range(stream, process, event, &range->name, range->flags, range);
}

static EVENT_SINK_EACH(roctx_events, take_roctx)

	/* ---- subscribing ---- */

	static const struct wanted hsa[] = {
		{RTL_TASK_END, sizeof(struct rtl_hsa_dispatch), dispatch_events, false},
		{RTL_TASK_UNFINISHED, sizeof(struct rtl_hsa_dispatch), dispatch_events, true},
		{RTL_METADATA, offsetof(struct rtl_hsa_metadata, bytes), metadata_events, true},
		{RTL_BARRIER_END, 0, generic_events, true},
		{RTL_DIAGNOSTICS, 0, generic_events, true},
};
static const struct wanted copy[] = {
	{RTL_TRANSFER_END, sizeof(struct rtl_hsa_copy), copy_events, false},
	{RTL_TRANSFER_UNFINISHED, sizeof(struct rtl_hsa_copy), copy_events, true},
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
static const struct wanted rccl[] = {
	{RTL_SIGNAL, sizeof(struct rtl_rccl), collective_events, false},
	{RTL_METADATA, 0, generic_events, true},
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
	{RTL_STREAM_RCCL, RTL_STREAM_RCCL_VERSION, WANTED(rccl)},
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
