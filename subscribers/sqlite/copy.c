/* SPDX-License-Identifier: MIT */
/*
 * copy.c: the stream rtl.hsa.copy. Each copy is a row of rtl_copy; what a GPU did of them is a
 * row of rocpd_op as well, with the names that RPD has for them. RPD's views of copies begin with
 * a row of rocpd_api, as those of kernels do: where no API call is known, the submission is that
 * row.
 */
#include "schema.h"
#include "sub.h"

#include <inttypes.h>
#include <stdio.h>

/* Copies have no queue that could be told: they share this number. */
#define QUEUE_ID 0

static const char *const op_types[] = {
	[RTL_HSA_COPY_NONE] = "FillBuffer",
	[RTL_HSA_COPY_HOST_TO_DEVICE] = "CopyHostToDevice",
	[RTL_HSA_COPY_DEVICE_TO_HOST] = "CopyDeviceToHost",
	[RTL_HSA_COPY_DEVICE_TO_DEVICE] = "CopyDeviceToDevice",
	[RTL_HSA_COPY_PEER] = "CopyPeerToPeer",
};

/* hipMemcpyKind, which rocpd_copyapi.kind is. */
static const uint8_t hip_kinds[] = {
	[RTL_HSA_COPY_HOST_TO_DEVICE] = 1,   [RTL_HSA_COPY_DEVICE_TO_HOST] = 2,
	[RTL_HSA_COPY_DEVICE_TO_DEVICE] = 3, [RTL_HSA_COPY_PEER] = 3,
	[RTL_HSA_COPY_HOST_TO_HOST] = 0,
};

bool copy_init(struct sub *sub)
{
	struct writer *w = &sub->writer;

	/* Outputs of versions without copies can be continued. */
	if (!writer_exec(w, schema_copy_tables))
		return false;
	sub->next_copy = writer_ask_int(w, "SELECT max(id) FROM rtl_copy") + 1;
	return /* Of a call that makes several, the first, and the bytes of all. */
		rows_init_merging(&sub->copyapi, w, "rocpd_copyapi", 12,
				  "ON CONFLICT (api_ptr_id) DO UPDATE SET size = size +"
				  " excluded.size") &&
		rows_init(&sub->copy, w, "INSERT", "rtl_copy", 31);
}

static const char *copy_table(uint16_t type)
{
	return type == RTL_TRANSFER_END ? "rtl_copy" : NULL;
}

static bool has_times(const struct rtl_hsa_copy *c)
{
	return !(c->flags & (RTL_HSA_COPY_NO_TIME | RTL_HSA_COPY_FAILED)) && c->begin_ns &&
	       c->end_ns;
}

/* Without times it lasts nothing, where it was submitted. */
static uint64_t begin_of(const struct rtl_hsa_copy *c)
{
	return has_times(c) ? c->begin_ns : c->submit_ns;
}

static uint64_t end_of(const struct rtl_hsa_copy *c)
{
	return has_times(c) ? c->end_ns : c->submit_ns;
}

static const char *op_type(const struct rtl_hsa_copy *c)
{
	return c->direction < sizeof(op_types) / sizeof(*op_types) && op_types[c->direction]
		       ? op_types[c->direction]
		       : "Copy";
}

/* Whether a GPU did it. */
static bool is_gpu_work(const struct rtl_hsa_copy *c)
{
	return c->gpu && !(c->flags & RTL_HSA_COPY_FAILED);
}

/* 0 is "none". */
static void cell_known(struct cell *cell, uint64_t value)
{
	if (value)
		cell_int(cell, (int64_t)value);
	else
		cell_null(cell);
}

static void write_copy(struct sub *sub, const struct process *process,
		       const struct rtl_event *event, const struct rtl_hsa_copy *c, int64_t op)
{
	struct cell *cell = rows_add(&sub->copy);
	const int64_t values[] = {
		process->number,
		(int64_t)event->uid,
		c->gpu,
		c->src_gpu,
		c->dst_gpu,
		c->direction,
		c->kind,
		(int64_t)c->bytes,
		(int64_t)c->src,
		(int64_t)c->dst,
		(int64_t)c->submit_ns,
		c->submit_tid,
		(int64_t)event->correlation,
		(int64_t)event->instance,
		c->flags,
		c->engine,
		c->extent_x,
		c->extent_y,
		c->extent_z,
		c->parts,
		c->status,
		(int64_t)c->signal,
	};

	cell_int(&cell[0], sub->next_copy++);
	cell_known(&cell[1], (uint64_t)op);
	cell_known(&cell[2], has_times(c) ? c->begin_ns : 0);
	cell_known(&cell[3], has_times(c) ? c->end_ns : 0);
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		cell_int(&cell[4 + i], values[i]);
	cell_known(&cell[26], c->scope);
	cell_known(&cell[27], c->scope ? c->scope_instance : 0);
	cell_known(&cell[28], c->call_ns);
	cell_null(&cell[29]);
	if (c->call_ns)
		cell_int(&cell[29], (int64_t)c->stream);
	cell_known(&cell[30], c->range);
}

static void write_op(struct sub *sub, struct process *process, const struct rtl_event *event,
		     const struct rtl_hsa_copy *c)
{
	struct cell *cell = rows_add(&sub->op);

	cell_int(&cell[0], sub->next_op);
	cell_int(&cell[1], dispatch_gpu(sub, process, c->gpu, event->parent_uid));
	cell_int(&cell[2], QUEUE_ID);
	cell_int(&cell[3], (int64_t)event->instance);
	cell_int(&cell[4], (int64_t)begin_of(c));
	cell_int(&cell[5], (int64_t)end_of(c));
	cell_int(&cell[6], NAMES_EMPTY);
	cell_int(&cell[7], names_string(&sub->names, op_type(c)));
}

static void write_call(struct sub *sub, const struct process *process, const struct rtl_hsa_copy *c)
{
	const bool sync = c->flags & RTL_HSA_COPY_CALL_TIME;
	struct cell *cell = rows_add(&sub->api);

	cell_int(&cell[0], sub->next_api);
	cell_int(&cell[1], process->pid);
	cell_int(&cell[2], c->submit_tid);
	cell_int(&cell[3], (int64_t)c->submit_ns);
	cell_int(&cell[4], (int64_t)(sync ? end_of(c) : c->submit_ns));
	cell_int(&cell[5], names_string(&sub->names, c->kind == RTL_HSA_COPY_FILL ? "MemoryFill"
										  : "MemoryCopy"));
	cell_int(&cell[6], NAMES_EMPTY);
	cell_int(&cell[7], sub->names.hsa);
	cell_int(&cell[8], NAMES_EMPTY);
}

/* What rocpd knows of a copy; a fill is none there. */
static void write_copyapi(struct sub *sub, const struct rtl_hsa_copy *c, int64_t api)
{
	struct cell *cell;
	char text[3][24] = {{0}};

	if (c->kind == RTL_HSA_COPY_FILL)
		return;
	cell = rows_add(&sub->copyapi);
	snprintf(text[0], sizeof(text[0]), "0x%" PRIx64, c->dst);
	snprintf(text[1], sizeof(text[1]), "0x%" PRIx64, c->src);
	if (c->stream)
		snprintf(text[2], sizeof(text[2]), "0x%" PRIx64, c->stream);
	cell_int(&cell[0], api);
	cell_text(&sub->copyapi, &cell[1], text[2]);
	cell_int(&cell[2], (int64_t)c->bytes);
	cell_int(&cell[3], c->extent_x);
	cell_int(&cell[4], c->extent_y);
	cell_int(&cell[5],
		 c->direction < sizeof(hip_kinds) ? hip_kinds[c->direction] : 4 /* "default" */);
	cell_text(&sub->copyapi, &cell[6], text[0]);
	cell_text(&sub->copyapi, &cell[7], text[1]);
	cell_int(&cell[8], c->dst_gpu);
	cell_int(&cell[9], c->src_gpu);
	cell_int(&cell[10], c->flags & RTL_HSA_COPY_CALL_TIME ? 1 : 0);
	cell_int(&cell[11], 0);
}

static void write_gpu_work(struct sub *sub, struct process *process, const struct rtl_event *event,
			   const struct rtl_hsa_copy *c)
{
	int64_t api;

	write_op(sub, process, event, c);
	api = links_op(sub, process, event->correlation, sub->next_op);
	if (api) {
		write_copyapi(sub, c, api);
	} else if (sub->settings.links) {
		write_call(sub, process, c);
		write_copyapi(sub, c, sub->next_api);
		dispatch_write_link(sub, sub->next_api, sub->next_op);
		sub->next_api++;
	}
	sub->next_op++;
}

void copy_stand_in(struct sub *sub)
{
	writer_execf(&sub->writer,
		     "INSERT INTO rocpd_api SELECT g.api_id, p.pid, c.tid, c.submit_ns,"
		     " CASE WHEN c.flags & %d THEN c.end_ns ELSE c.submit_ns END,"
		     " CASE c.kind WHEN %d THEN %lld ELSE %lld END, %d, %lld, %d"
		     " FROM temp.dangling AS g JOIN rtl_copy AS c ON c.op_id = g.op_id"
		     " JOIN rtl_process AS p ON p.process = c.process",
		     RTL_HSA_COPY_CALL_TIME, RTL_HSA_COPY_FILL,
		     (long long)names_string(&sub->names, "MemoryFill"),
		     (long long)names_string(&sub->names, "MemoryCopy"), NAMES_EMPTY,
		     (long long)sub->names.hsa, NAMES_EMPTY);
	writer_execf(&sub->writer,
		     "INSERT INTO rocpd_copyapi SELECT g.api_id, '', c.bytes, c.extent_x,"
		     " c.extent_y, CASE c.direction WHEN 4 THEN 3 WHEN 5 THEN 0"
		     " ELSE c.direction END, printf('0x%%x', c.dst), printf('0x%%x', c.src),"
		     " c.dst_gpu, c.src_gpu, (c.flags & %d) <> 0, 0 FROM temp.dangling AS g"
		     " JOIN rtl_copy AS c ON c.op_id = g.op_id WHERE c.kind <> %d",
		     RTL_HSA_COPY_CALL_TIME, RTL_HSA_COPY_FILL);
}

static void copy_ended(struct sub *sub, struct process *process, const struct rtl_event *event)
{
	const struct rtl_hsa_copy *c = event->payload;
	const bool gpu_work = is_gpu_work(c);

	tracepoints_need(sub, process, event->uid);
	tracepoints_need(sub, process, event->parent_uid);
	tracepoints_need(sub, process, c->scope);
	write_copy(sub, process, event, c, gpu_work ? sub->next_op : 0);
	if (gpu_work)
		write_gpu_work(sub, process, event, c);
	process_span(process, c->submit_ns, end_of(c));
}

static void copy_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;
	struct sub *sub = stream->sub;

	sub->events_pending = true;
	for (size_t i = 0; i < count && !sub->writer.failed; i++) {
		struct process *process = sub_process(sub, events[i]->process);

		if (!process)
			return;
		if (events[i]->payload_size < sizeof(struct rtl_hsa_copy))
			stream->skipped++;
		else
			copy_ended(sub, process, events[i]);
		writer_commit_if_full(&sub->writer);
	}
}

int copy_subscribe(struct sub *sub, struct stream *stream)
{
	const struct rtl_host *host = sub->host;

	if (stream->info->version_major != RTL_STREAM_HSA_COPY_VERSION ||
	    dispatch_payload_size(stream->info, RTL_TRANSFER_END) < sizeof(struct rtl_hsa_copy))
		return RTL_ENOTSUP;
	stream->table = copy_table;
	return host->subscribe(host, stream->info, RTL_TRANSFER_END, RTL_BUFFERED, copy_events,
			       stream, NULL);
}
