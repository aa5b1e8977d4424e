/* SPDX-License-Identifier: MIT */
/*
 * dispatch.c: the stream rtl.hsa. A dispatch that has ended becomes a row of rocpd_op and one of
 * rtl_dispatch with the same id. RPD's tools find the launch of a kernel by its row of
 * rocpd_api (rpd_trim deletes ops that have none, the view "kernel" shows only ops that have
 * one): where no API call is known, the submission itself is that row.
 */
#include "sub.h"
#include "tables_rocpd.h"
#include "tables_rtl.h"

#include <stdlib.h>
#include <string.h>

/* Ids of queues stay below the schema's gpu_stride as long as there are so few. */
#define MAX_QUEUE_ID 999u

/* What the first version of the stream had. */
#define DISPATCH_LEAST offsetof(struct rtl_hsa_dispatch, scope)

/* A queue of one process; queueId in rocpd_op tells those of different processes apart. */
struct queue {
	int64_t id;
	uint32_t number;
	uint32_t gpu;
	uint64_t uid, address, create_ns, destroy_ns;
	uint32_t packets, type;
};

/* Ids of queues that an earlier host has given. */
static void load_queue_ids(struct sub *sub)
{
	struct writer *w = &sub->writer;
	sqlite3_stmt *question = writer_ask(w, "SELECT queueId FROM rtl_queue");

	while (writer_next(w, question))
		if (!map_set(&sub->queue_ids, (uint64_t)sqlite3_column_int64(question, 0), 1))
			writer_error(w, SQLITE_NOMEM, "queue");
}

bool dispatch_init(struct sub *sub)
{
	struct writer *w = &sub->writer;

	sub->next_op = writer_ask_int(w, "SELECT max(id) FROM rocpd_op") + 1;
	/* ids may have been given out for calls that were yet to come: see links.h */
	sub->next_api = writer_ask_int(w, "SELECT max(ifnull((SELECT max(id) FROM rocpd_api), 0),"
					  " ifnull((SELECT max(api_id) FROM rocpd_api_ops), 0))") +
			1;
	sub->next_api_op = writer_ask_int(w, "SELECT max(id) FROM rocpd_api_ops") + 1;
	if (sub->continues)
		load_queue_ids(sub);
	return rows_init(&sub->op, w, "INSERT", &table_rocpd_op) &&
	       rows_init(&sub->api, w, "INSERT", &table_rocpd_api) &&
	       rows_init(&sub->api_ops, w, "INSERT", &table_rocpd_api_ops) &&
	       rows_init(&sub->kernelapi, w, "INSERT", &table_rocpd_kernelapi) &&
	       rows_init(&sub->dispatch, w, "INSERT", &table_rtl_dispatch);
}

static const char *dispatch_table(uint16_t type)
{
	switch (type) {
	case RTL_TASK_END:
		return "rtl_dispatch";
	case RTL_QUEUE_CREATE:
	case RTL_QUEUE_DESTROY:
		return "rtl_queue";
	default:
		return NULL;
	}
}

/* The number the process gave the queue, if no other has it; else the next free one. */
static int64_t new_queue_id(struct sub *sub, uint32_t number)
{
	int64_t id = number;

	if (!number || number > MAX_QUEUE_ID || map_get(&sub->queue_ids, number)) {
		while (map_get(&sub->queue_ids, ++sub->next_queue_id))
			;
		id = sub->next_queue_id;
	}
	if (!map_set(&sub->queue_ids, (uint64_t)id, 1))
		writer_error(&sub->writer, SQLITE_NOMEM, "queue");
	return id;
}

static void write_queue(struct sub *sub, const struct process *process, const struct queue *q)
{
	writer_begin(&sub->writer);
	writer_execf(&sub->writer,
		     "INSERT OR REPLACE INTO rtl_queue VALUES"
		     " (%lld, %u, %u, %u, %lld, %lld, %u, %u, nullif(%lld, 0), nullif(%lld, 0))",
		     (long long)q->id, process->number, q->number, q->gpu, (long long)q->uid,
		     (long long)q->address, q->packets, q->type, (long long)q->create_ns,
		     (long long)q->destroy_ns);
	sub->writer.pending_rows++;
}

/* NULL: out of memory, the writer has failed. */
static struct queue *add_queue(struct sub *sub, struct process *process, uint32_t number)
{
	struct queue *q = calloc(1, sizeof(*q));

	if (!q || !map_set(&process->queues, number, (uintptr_t)q)) {
		free(q);
		writer_error(&sub->writer, SQLITE_NOMEM, "queue");
		return NULL;
	}
	q->number = number;
	return q;
}

/* As add_queue, if there is none. */
static struct queue *find_queue(struct sub *sub, struct process *process, uint32_t number,
				uint32_t gpu, bool *is_new)
{
	struct queue *q = (struct queue *)(uintptr_t)map_get(&process->queues, number);

	*is_new = !q;
	if (q)
		return q;
	q = add_queue(sub, process, number);
	if (q) {
		q->id = new_queue_id(sub, number);
		q->gpu = gpu;
	}
	return q;
}

void dispatch_process_resume(struct sub *sub, struct process *process)
{
	struct writer *w = &sub->writer;
	sqlite3_stmt *question =
		writer_ask(w,
			   "SELECT queueId, queue, gpu, uid, address, packets, type, create_ns,"
			   " destroy_ns FROM rtl_queue WHERE process = %u",
			   process->number);

	while (writer_next(w, question)) {
		struct queue *q =
			add_queue(sub, process, (uint32_t)sqlite3_column_int64(question, 1));

		if (!q)
			continue;
		q->id = sqlite3_column_int64(question, 0);
		q->gpu = (uint32_t)sqlite3_column_int64(question, 2);
		q->uid = (uint64_t)sqlite3_column_int64(question, 3);
		q->address = (uint64_t)sqlite3_column_int64(question, 4);
		q->packets = (uint32_t)sqlite3_column_int64(question, 5);
		q->type = (uint32_t)sqlite3_column_int64(question, 6);
		q->create_ns = (uint64_t)sqlite3_column_int64(question, 7);
		q->destroy_ns = (uint64_t)sqlite3_column_int64(question, 8);
	}
}

static int64_t queue_id(struct sub *sub, struct process *process, const struct rtl_hsa_dispatch *d)
{
	struct queue *q = process->last_queue;
	bool is_new;

	if (q && q->number == d->queue)
		return q->id;
	q = find_queue(sub, process, d->queue, d->gpu, &is_new);
	if (!q)
		return 0;
	if (is_new)
		write_queue(sub, process, q);
	process->last_queue = q;
	return q->id;
}

static void take_queue(struct stream *stream, struct process *process,
		       const struct rtl_event *event)
{
	struct sub *sub = stream->sub;
	const struct rtl_hsa_queue *payload = event->payload;
	bool is_new;
	struct queue *q = find_queue(sub, process, payload->queue, payload->gpu, &is_new);

	if (!q)
		return;
	q->gpu = payload->gpu;
	q->uid = event->uid;
	q->address = payload->address;
	q->packets = payload->packets;
	q->type = payload->type;
	if (event->type == RTL_QUEUE_CREATE)
		q->create_ns = event->time_ns;
	else
		q->destroy_ns = event->time_ns;
	tracepoints_need(sub, process, event->uid);
	tracepoints_need(sub, process, event->parent_uid);
	write_queue(sub, process, q);
}

/* Id of the kernel's name in rocpd_string. */
static int64_t kernel_name(struct sub *sub, struct process *process, uint64_t uid, uint64_t string)
{
	struct map *map = uid ? &process->kernels : &process->kernel_names;
	uint64_t key = uid ? uid : string;
	int64_t id = (int64_t)map_get(map, key);

	if (__builtin_expect(id != 0, 1))
		return id;
	tracepoints_need(sub, process, uid);
	id = tracepoints_kernel_name(sub, process->info, uid, string);
	if (!map_set(map, key, (uint64_t)id))
		writer_error(&sub->writer, SQLITE_NOMEM, "kernel name");
	return id;
}

uint32_t dispatch_gpu(struct sub *sub, struct process *process, uint32_t node, uint64_t uid)
{
	uint64_t number;
	const char *text;

	if (!sub->settings.gpu_index)
		return node;
	number = map_get(&process->gpus, (uint64_t)node + 1);
	if (number)
		return (uint32_t)(number - 1);
	/* recordings of versions that did not tell have nodes */
	text = tracepoints_metadata(sub, process->info, uid, "gpu_index");
	number = text ? strtoul(text, NULL, 10) : node;
	if (!map_set(&process->gpus, (uint64_t)node + 1, number + 1))
		writer_error(&sub->writer, SQLITE_NOMEM, "GPU");
	return (uint32_t)number;
}

static void write_op(struct sub *sub, const struct rtl_hsa_dispatch *d, uint32_t gpu, int64_t queue,
		     int64_t name)
{
	const bool timed = !(d->flags & RTL_HSA_DISPATCH_NO_TIME) && d->end_ns;

	table_add_rocpd_op(&sub->op,
			   &(struct row_rocpd_op){
				   .id = sub->next_op,
				   .gpuId = gpu,
				   .queueId = queue,
				   .sequenceId = (int64_t)d->packet_id,
				   /* Without GPU times it lasts nothing, where it was submitted. */
				   .start = (int64_t)(timed ? d->begin_ns : d->submit_ns),
				   .end = (int64_t)(timed ? d->end_ns : d->submit_ns),
				   .description_id = name,
				   .opType_id = sub->names.kernel_execution,
			   });
}

static void write_kernelapi(struct sub *sub, const struct rtl_hsa_dispatch *d, int64_t api,
			    int64_t name, uint64_t stream)
{
	char text[TEXT_HEX] = "";

	if (stream)
		text_hex(text, stream);
	table_add_rocpd_kernelapi(&sub->kernelapi,
				  &(struct row_rocpd_kernelapi){
					  .api_ptr_id = api,
					  .stream = text,
					  .gridX = d->grid_x,
					  .gridY = d->grid_y,
					  .gridZ = d->grid_z,
					  .workgroupX = d->workgroup_x,
					  .workgroupY = d->workgroup_y,
					  .workgroupZ = d->workgroup_z,
					  .groupSegmentSize = d->group_segment_bytes,
					  .privateSegmentSize = d->private_segment_bytes,
					  .kernelName_id = name,
				  });
}

static void write_submission(struct sub *sub, const struct process *process,
			     const struct rtl_hsa_dispatch *d, int64_t name)
{
	table_add_rocpd_api(&sub->api, &(struct row_rocpd_api){
					       .id = sub->next_api,
					       .pid = process->pid,
					       .tid = d->submit_tid,
					       .start = (int64_t)d->submit_ns,
					       .end = (int64_t)d->submit_ns,
					       .apiName_id = sub->names.kernel_dispatch,
					       .category_id = NAMES_EMPTY,
					       .domain_id = sub->names.hsa,
					       .args_id = name, /* the same id in rocpd_ustring */
				       });
	write_kernelapi(sub, d, sub->next_api, name, 0);
}

void dispatch_write_link(struct sub *sub, int64_t api, int64_t op)
{
	table_add_rocpd_api_ops(&sub->api_ops, &(struct row_rocpd_api_ops){
						       .id = sub->next_api_op++,
						       .api_id = api,
						       .op_id = op,
					       });
}

/* What a call has launched. rocpd has room for one kernel of each call: so none for those that
 * launch many (a graph), the first for the few that launch some more for the runtime. */
static void write_launch(struct sub *sub, struct process *process, const struct rtl_hsa_dispatch *d,
			 int64_t api, int64_t name)
{
	if (call_category(sub, process, d->scope) == sub->names.launch)
		write_kernelapi(sub, d, api, name, d->hip_stream);
}

/* The event's payload is whole. */
static void dispatch_ended(struct sub *sub, struct process *process, const struct rtl_event *event)
{
	const struct rtl_hsa_dispatch *d = event->payload;
	int64_t name = kernel_name(sub, process, event->uid, d->kernel_name), api;
	bool first = false;

	write_op(sub, d, dispatch_gpu(sub, process, d->gpu, event->parent_uid),
		 queue_id(sub, process, d), name);
	tracepoints_need(sub, process, d->scope);
	table_add_rtl_dispatch(&sub->dispatch, process, event, sub->next_op);
	api = links_op(sub, process, event->correlation, sub->next_op, &first);
	if (api) {
		if (first)
			write_launch(sub, process, d, api, name);
	} else if (sub->settings.links) {
		write_submission(sub, process, d, name);
		dispatch_write_link(sub, sub->next_api, sub->next_op);
		sub->next_api++;
	}
	sub->next_op++;
	process_span(process, d->submit_ns, d->end_ns ? d->end_ns : d->submit_ns);
}

/* Recordings of version 1.0 lack what came later: it is 0. */
static __attribute__((cold)) void short_dispatch_ended(struct sub *sub, struct process *process,
						       const struct rtl_event *event)
{
	struct rtl_hsa_dispatch whole = {0};
	struct rtl_event copy = *event;

	memcpy(&whole, event->payload, event->payload_size);
	copy.payload = &whole;
	dispatch_ended(sub, process, &copy);
}

static void take_dispatch(struct stream *stream, struct process *process,
			  const struct rtl_event *event)
{
	if (event->payload_size < sizeof(struct rtl_hsa_dispatch))
		short_dispatch_ended(stream->sub, process, event);
	else
		dispatch_ended(stream->sub, process, event);
}

static void dispatch_events(void *user, const struct rtl_event *const *events, size_t count)
{
	sub_each(user, events, count, DISPATCH_LEAST, take_dispatch);
}

static void queue_events(void *user, const struct rtl_event *const *events, size_t count)
{
	sub_each(user, events, count, sizeof(struct rtl_hsa_queue), take_queue);
}

/* Its tracepoint may say more than before. */
static void take_metadata(struct stream *stream, struct process *process,
			  const struct rtl_event *event)
{
	struct sub *sub = stream->sub;
	const uint64_t uid = event->uid;

	if (!uid)
		return;
	tracepoints_write(sub, process, uid);
	if (map_get(&process->kernels, uid))
		map_set(&process->kernels, uid,
			(uint64_t)tracepoints_kernel_name(sub, process->info, uid, 0));
}

/* What an object is, is a row like any event's. */
static void metadata_events(void *user, const struct rtl_event *const *events, size_t count)
{
	generic_events(user, events, count);
	sub_each(user, events, count, 0, take_metadata);
}

static const struct wanted dispatch_types[] = {
	{RTL_TASK_END, DISPATCH_LEAST, dispatch_events, false},
	{RTL_QUEUE_CREATE, 0, queue_events, true},
	{RTL_QUEUE_DESTROY, 0, queue_events, true},
	{RTL_BARRIER_END, 0, generic_events, true},
	{RTL_METADATA, 0, metadata_events, true},
};
const struct known_stream dispatch_stream = {
	{RTL_STREAM_HSA, RTL_STREAM_HSA_VERSION, WANTED(dispatch_types)}, dispatch_table};

void dispatch_process_fini(struct process *process)
{
	for (size_t i = 0; i < process->queues.hash.capacity; i++)
		free((void *)(uintptr_t)map_at(&process->queues, i)->value);
	map_fini(&process->queues);
	process->last_queue = NULL;
}
