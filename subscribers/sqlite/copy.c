/* SPDX-License-Identifier: MIT */
/*
 * copy.c: the stream rtl.hsa.copy. Each copy is a row of rtl_copy; what a GPU did of them is a
 * row of rocpd_op as well, with the names that RPD has for them. RPD's views of copies begin with
 * a row of rocpd_api, as those of kernels do: where no API call is known, the submission is that
 * row.
 */
#include "schema.h"
#include "sub.h"
#include "tables_rocpd.h"
#include "tables_rtl.h"

/* Copies have no queue that could be told: they share this number. */
#define QUEUE_ID 0

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
		rows_init_merging(&sub->copyapi, w, &table_rocpd_copyapi,
				  "ON CONFLICT (api_ptr_id) DO UPDATE SET size = size +"
				  " excluded.size") &&
		rows_init(&sub->copy, w, "INSERT", &table_rtl_copy);
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

/* Whether a GPU did it. */
static bool is_gpu_work(const struct rtl_hsa_copy *c)
{
	return c->gpu && !(c->flags & RTL_HSA_COPY_FAILED);
}

static void write_copy(struct sub *sub, const struct process *process,
		       const struct rtl_event *event, const struct rtl_hsa_copy *c, int64_t op)
{
	const bool timed = has_times(c);

	table_add_rtl_copy(&sub->copy, process, event, sub->next_copy++, op,
			   timed ? (int64_t)c->begin_ns : 0, timed ? (int64_t)c->end_ns : 0);
}

static void write_op(struct sub *sub, struct process *process, const struct rtl_event *event,
		     const struct rtl_hsa_copy *c)
{
	table_add_rocpd_op(&sub->op,
			   &(struct row_rocpd_op){
				   .id = sub->next_op,
				   .gpuId = dispatch_gpu(sub, process, c->gpu, event->parent_uid),
				   .queueId = QUEUE_ID,
				   .sequenceId = (int64_t)event->instance,
				   .start = (int64_t)begin_of(c),
				   .end = (int64_t)end_of(c),
				   .description_id = NAMES_EMPTY,
				   .opType_id = names_string(
					   &sub->names, rtl_hsa_copy_direction_text(c->direction)),
			   });
}

static void write_call(struct sub *sub, const struct process *process, const struct rtl_hsa_copy *c)
{
	const bool sync = c->flags & RTL_HSA_COPY_CALL_TIME;
	const char *name = c->kind == RTL_HSA_COPY_FILL ? "MemoryFill" : "MemoryCopy";

	table_add_rocpd_api(&sub->api, &(struct row_rocpd_api){
					       .id = sub->next_api,
					       .pid = process->pid,
					       .tid = c->submit_tid,
					       .start = (int64_t)c->submit_ns,
					       .end = (int64_t)(sync ? end_of(c) : c->submit_ns),
					       .apiName_id = names_string(&sub->names, name),
					       .category_id = NAMES_EMPTY,
					       .domain_id = sub->names.hsa,
					       .args_id = NAMES_EMPTY,
				       });
}

/* What rocpd knows of a copy; a fill is none there. */
static void write_copyapi(struct sub *sub, const struct rtl_hsa_copy *c, int64_t api)
{
	char dst[TEXT_HEX], src[TEXT_HEX], stream[TEXT_HEX] = "";

	if (c->kind == RTL_HSA_COPY_FILL)
		return;
	text_hex(dst, c->dst);
	text_hex(src, c->src);
	if (c->hip_stream)
		text_hex(stream, c->hip_stream);
	table_add_rocpd_copyapi(&sub->copyapi,
				&(struct row_rocpd_copyapi){
					.api_ptr_id = api,
					.stream = stream,
					.size = (int64_t)c->bytes,
					.width = c->extent_x,
					.height = c->extent_y,
					.kind = c->direction < sizeof(hip_kinds)
							? hip_kinds[c->direction]
							: 4 /* "default" */,
					.dst = dst,
					.src = src,
					.dstDevice = c->dst_gpu,
					.srcDevice = c->src_gpu,
					.sync = (c->flags & RTL_HSA_COPY_CALL_TIME) != 0,
				});
}

static void write_gpu_work(struct sub *sub, struct process *process, const struct rtl_event *event,
			   const struct rtl_hsa_copy *c)
{
	int64_t api;

	write_op(sub, process, event, c);
	api = links_op(sub, process, event->correlation, sub->next_op, NULL);
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

static void take_copy(struct stream *stream, struct process *process, const struct rtl_event *event)
{
	struct sub *sub = stream->sub;
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
	sub_each(user, events, count, sizeof(struct rtl_hsa_copy), take_copy);
}

static const struct wanted copy_types[] = {
	{RTL_TRANSFER_END, sizeof(struct rtl_hsa_copy), copy_events, false},
};
const struct known_stream copy_stream = {
	{RTL_STREAM_HSA_COPY, RTL_STREAM_HSA_COPY_VERSION, WANTED(copy_types)}, copy_table};
