/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Made by streams/events/generate.py from tables.toml and streams/events. Not to be edited. */
/* The tables, and a function for each that adds a row. The host's thread. */
#ifndef RTL_CLICKHOUSE_TABLES_H
#define RTL_CLICKHOUSE_TABLES_H

#include <string.h>

#include "block.h"
#include "names.h"
#include "sub.h"

static const struct column_info rtl_schema_columns[] = {
	{"schema", "UInt32", "number of this set of tables: an rtl writes to one only", COLUMN_4},
	{"version", "UInt64", "of the row: ns since 1970", COLUMN_8},
};
static const struct table_info table_rtl_schema = {
	"rtl_schema", "schema", rtl_schema_columns, 2, true,
};

struct row_rtl_schema {
	uint32_t schema;
	uint64_t version;
};

/* A row of rtl_schema. */
static inline void table_add_rtl_schema(struct block *block, struct process *process,
	const struct row_rtl_schema *given)
{
	uint32_t row;

	if (!block_add(block, &process->columns, &row))
		return;
	block_put_uint32(block, 0, row, given->schema);
	block_put_uint64(block, 1, row, given->version);
	block_added(block);
}

static const struct column_info rtl_process_columns[] = {
	{"run", "LowCardinality(String)", "the job, the same in all of its ranks", COLUMN_RUN},
	{"day", "Date", "when it began", COLUMN_DAY},
	{"rank", "Int32", "as the launcher tells; -1: none", COLUMN_RANK},
	{"host", "LowCardinality(String)", "name of the machine", COLUMN_HOST},
	{"pid", "UInt32", "number of the process", COLUMN_PID},
	{"spool", "UInt64", "the process in this run, as in rtl_process", COLUMN_SPOOL},
	{"parent_pid", "UInt32", "its parent", COLUMN_4},
	{"program", "LowCardinality(String)", "path of the executable", COLUMN_NAME},
	{"command", "String", "command line", COLUMN_TEXT},
	{"start_ns", "UInt64", "when the bus began there, as begin_ns of events: CLOCK_BOOTTIME of its host", COLUMN_8},
	{"boot_ns", "Int64", "what to add to times of its events for ns since 1970; 0: not known (a replay)", COLUMN_8},
	{"error_ns", "UInt64", "largest uncertainty of its times", COLUMN_8},
	{"waits", "UInt64", "how often a thread waited for room in its buffer", COLUMN_8},
	{"wait_ns", "UInt64", "how long they did, all together", COLUMN_8},
	{"state", "LowCardinality(String)", "running, ended", COLUMN_NAME},
	{"rtl", "LowCardinality(String)", "version of rtl", COLUMN_NAME},
	{"mode", "LowCardinality(String)", "of the trace", COLUMN_NAME},
	{"version", "UInt64", "of the row: ns since 1970", COLUMN_8},
};
static const struct table_info table_rtl_process = {
	"rtl_process", "run, spool", rtl_process_columns, 18, true,
};

struct row_rtl_process {
	uint32_t parent_pid;
	uint32_t program;
	const char *command;
	uint64_t start_ns;
	int64_t boot_ns;
	uint64_t error_ns;
	uint64_t waits;
	uint64_t wait_ns;
	uint32_t state;
	uint32_t rtl;
	uint32_t mode;
	uint64_t version;
};

/* A row of rtl_process. */
static inline void table_add_rtl_process(struct block *block, struct process *process,
	const struct row_rtl_process *given)
{
	uint32_t row;

	if (!block_add(block, &process->columns, &row))
		return;
	block_put_uint32(block, 6, row, given->parent_pid);
	block_put_uint32(block, 7, row, given->program);
	block_put_text(block, 8, given->command, strlen(given->command));
	block_put_uint64(block, 9, row, given->start_ns);
	block_put_int64(block, 10, row, given->boot_ns);
	block_put_uint64(block, 11, row, given->error_ns);
	block_put_uint64(block, 12, row, given->waits);
	block_put_uint64(block, 13, row, given->wait_ns);
	block_put_uint32(block, 14, row, given->state);
	block_put_uint32(block, 15, row, given->rtl);
	block_put_uint32(block, 16, row, given->mode);
	block_put_uint64(block, 17, row, given->version);
	block_added(block);
}

static const struct column_info rtl_gpu_columns[] = {
	{"run", "LowCardinality(String)", "the job, the same in all of its ranks", COLUMN_RUN},
	{"host", "LowCardinality(String)", "name of the machine", COLUMN_HOST},
	{"rank", "Int32", "as the launcher tells; -1: none", COLUMN_RANK},
	{"spool", "UInt64", "the process in this run, as in rtl_process", COLUMN_SPOOL},
	{"gpu", "UInt32", "KFD node id", COLUMN_4},
	{"uuid", "LowCardinality(String)", "as the driver tells it", COLUMN_NAME},
	{"name", "LowCardinality(String)", "architecture", COLUMN_NAME},
	{"product", "LowCardinality(String)", "what is sold", COLUMN_NAME},
	{"bus_id", "LowCardinality(String)", "place on the bus", COLUMN_NAME},
	{"version", "UInt64", "of the row: ns since 1970", COLUMN_8},
};
static const struct table_info table_rtl_gpu = {
	"rtl_gpu", "run, host, spool, gpu", rtl_gpu_columns, 10, true,
};

struct row_rtl_gpu {
	uint32_t gpu;
	uint32_t uuid;
	uint32_t name;
	uint32_t product;
	uint32_t bus_id;
	uint64_t version;
};

/* A row of rtl_gpu. */
static inline void table_add_rtl_gpu(struct block *block, struct process *process,
	const struct row_rtl_gpu *given)
{
	uint32_t row;

	if (!block_add(block, &process->columns, &row))
		return;
	block_put_uint32(block, 4, row, given->gpu);
	block_put_uint32(block, 5, row, given->uuid);
	block_put_uint32(block, 6, row, given->name);
	block_put_uint32(block, 7, row, given->product);
	block_put_uint32(block, 8, row, given->bus_id);
	block_put_uint64(block, 9, row, given->version);
	block_added(block);
}

static const struct column_info rtl_ledger_columns[] = {
	{"run", "LowCardinality(String)", "the job, the same in all of its ranks", COLUMN_RUN},
	{"rank", "Int32", "as the launcher tells; -1: none", COLUMN_RANK},
	{"host", "LowCardinality(String)", "name of the machine", COLUMN_HOST},
	{"spool", "UInt64", "the process in this run, as in rtl_process", COLUMN_SPOOL},
	{"stream", "LowCardinality(String)", "name of the stream", COLUMN_NAME},
	{"published", "UInt64", "events, while somebody wanted them", COLUMN_8},
	{"delivered", "UInt64", "of these, to subscribers", COLUMN_8},
	{"discarded", "UInt64", "of these, for lack of room", COLUMN_8},
	{"abandoned", "UInt64", "of these, that could not be delivered before the end", COLUMN_8},
	{"left_out", "UInt64", "of these, that the user did not select: a kernel, a period, a range", COLUMN_8},
	{"missed", "UInt64", "what happened and never became an event", COLUMN_8},
	{"version", "UInt64", "of the row: ns since 1970", COLUMN_8},
};
static const struct table_info table_rtl_ledger = {
	"rtl_ledger", "run, spool, stream", rtl_ledger_columns, 12, true,
};

struct row_rtl_ledger {
	uint32_t stream;
	uint64_t published;
	uint64_t delivered;
	uint64_t discarded;
	uint64_t abandoned;
	uint64_t left_out;
	uint64_t missed;
	uint64_t version;
};

/* A row of rtl_ledger. */
static inline void table_add_rtl_ledger(struct block *block, struct process *process,
	const struct row_rtl_ledger *given)
{
	uint32_t row;

	if (!block_add(block, &process->columns, &row))
		return;
	block_put_uint32(block, 4, row, given->stream);
	block_put_uint64(block, 5, row, given->published);
	block_put_uint64(block, 6, row, given->delivered);
	block_put_uint64(block, 7, row, given->discarded);
	block_put_uint64(block, 8, row, given->abandoned);
	block_put_uint64(block, 9, row, given->left_out);
	block_put_uint64(block, 10, row, given->missed);
	block_put_uint64(block, 11, row, given->version);
	block_added(block);
}

static const struct column_info rtl_loss_columns[] = {
	{"run", "LowCardinality(String)", "the job, the same in all of its ranks", COLUMN_RUN},
	{"rank", "Int32", "as the launcher tells; -1: none", COLUMN_RANK},
	{"host", "LowCardinality(String)", "name of the machine", COLUMN_HOST},
	{"spool", "UInt64", "the process in this run, as in rtl_process", COLUMN_SPOOL},
	{"stream", "LowCardinality(String)", "name of the stream", COLUMN_NAME},
	{"cause", "LowCardinality(String)", "why", COLUMN_NAME},
	{"count", "UInt64", "events that were discarded or missed", COLUMN_8},
	{"version", "UInt64", "of the row: ns since 1970", COLUMN_8},
};
static const struct table_info table_rtl_loss = {
	"rtl_loss", "run, spool, stream, cause", rtl_loss_columns, 8, true,
};

struct row_rtl_loss {
	uint32_t stream;
	uint32_t cause;
	uint64_t count;
	uint64_t version;
};

/* A row of rtl_loss. */
static inline void table_add_rtl_loss(struct block *block, struct process *process,
	const struct row_rtl_loss *given)
{
	uint32_t row;

	if (!block_add(block, &process->columns, &row))
		return;
	block_put_uint32(block, 4, row, given->stream);
	block_put_uint32(block, 5, row, given->cause);
	block_put_uint64(block, 6, row, given->count);
	block_put_uint64(block, 7, row, given->version);
	block_added(block);
}

static const struct column_info rtl_left_out_columns[] = {
	{"run", "LowCardinality(String)", "the job, the same in all of its ranks", COLUMN_RUN},
	{"rank", "Int32", "as the launcher tells; -1: none", COLUMN_RANK},
	{"host", "LowCardinality(String)", "name of the machine", COLUMN_HOST},
	{"spool", "UInt64", "the process in this run, as in rtl_process", COLUMN_SPOOL},
	{"stream", "LowCardinality(String)", "name of the stream", COLUMN_NAME},
	{"cause", "LowCardinality(String)", "why", COLUMN_NAME},
	{"count", "UInt64", "events that were left out", COLUMN_8},
	{"version", "UInt64", "of the row: ns since 1970", COLUMN_8},
};
static const struct table_info table_rtl_left_out = {
	"rtl_left_out", "run, spool, stream, cause", rtl_left_out_columns, 8, true,
};

struct row_rtl_left_out {
	uint32_t stream;
	uint32_t cause;
	uint64_t count;
	uint64_t version;
};

/* A row of rtl_left_out. */
static inline void table_add_rtl_left_out(struct block *block, struct process *process,
	const struct row_rtl_left_out *given)
{
	uint32_t row;

	if (!block_add(block, &process->columns, &row))
		return;
	block_put_uint32(block, 4, row, given->stream);
	block_put_uint32(block, 5, row, given->cause);
	block_put_uint64(block, 6, row, given->count);
	block_put_uint64(block, 7, row, given->version);
	block_added(block);
}

static const struct column_info rtl_dispatch_columns[] = {
	{"run", "LowCardinality(String)", "the job, the same in all of its ranks", COLUMN_RUN},
	{"day", "Date", "when it began", COLUMN_DAY},
	{"rank", "Int32", "as the launcher tells; -1: none", COLUMN_RANK},
	{"host", "LowCardinality(String)", "name of the machine", COLUMN_HOST},
	{"pid", "UInt32", "number of the process", COLUMN_PID},
	{"time_ns", "UInt64", "when the event was published: after what it tells of", COLUMN_8},
	{"kernel", "LowCardinality(String)", "its name, readable", COLUMN_NAME},
	{"begin_ns", "UInt64", "GPU begin, HSA system clock; 0 in task_begin, or not known", COLUMN_8},
	{"end_ns", "UInt64", "GPU end; 0 in task_begin, or not known", COLUMN_8},
	{"wait_ns", "Int64", "from the call that launched it, or where none is known from its submission, to its begin", COLUMN_8},
	{"gpu", "UInt32", "KFD node id of the agent", COLUMN_4},
	{"gpu_uuid", "LowCardinality(String)", "the same GPU in every process; empty: not known", COLUMN_NAME},
	{"queue", "UInt32", "number of the queue in the process, from 1", COLUMN_4},
	{"tid", "UInt32", "thread that submitted", COLUMN_4},
	{"flags", "UInt32", "bits", COLUMN_4},
	{"grid_x", "UInt32", "grid size in x", COLUMN_4},
	{"grid_y", "UInt32", "grid size in y", COLUMN_4},
	{"grid_z", "UInt32", "grid size in z", COLUMN_4},
	{"workgroup_x", "UInt32", "workgroup size in x", COLUMN_4},
	{"workgroup_y", "UInt32", "workgroup size in y", COLUMN_4},
	{"workgroup_z", "UInt32", "workgroup size in z", COLUMN_4},
	{"lds_bytes", "UInt32", "LDS for each workgroup", COLUMN_4},
	{"scratch_bytes", "UInt32", "scratch for each work-item", COLUMN_4},
	{"stream", "UInt64", "the hipStream_t among that call's arguments; 0: the null stream, or none", COLUMN_8},
	{"range", "UInt64", "instance of the innermost range of roctx there; 0: none that is known", COLUMN_8},
	{"uid", "UInt64", "the kernel's universal id: the same in every process and run", COLUMN_8},
	{"correlation", "UInt64", "that of the call in rtl_call; 0: none", COLUMN_8},
	{"spool", "UInt64", "the process in this run, as in rtl_process", COLUMN_SPOOL},
	{"ring", "UInt32", "with the position: where the event stood", COLUMN_4},
	{"position", "UInt64", "in a ring of a spool each event has another one", COLUMN_8},
};
static const struct table_info table_rtl_dispatch = {
	"rtl_dispatch", "spool, time_ns", rtl_dispatch_columns, 30, false,
};

/* A row of rtl_dispatch, of an event of that process. */
static inline void table_add_rtl_dispatch(struct sub *sub, struct block *block,
	struct process *process, const struct rtl_event *event, uint32_t kernel, uint32_t gpu_uuid)
{
	const struct rtl_hsa_dispatch *p = event->payload;
	uint32_t row;

	if (!block_add(block, &process->columns, &row))
		return;
	block_put_uint64(block, 5, row, event->time_ns);
	block_put_uint32(block, 6, row, kernel);
	block_put_uint64(block, 7, row, p->begin_ns);
	block_put_uint64(block, 8, row, p->end_ns);
	block_put_int64(block, 9, row, p->begin_ns ? (int64_t)(p->begin_ns - (p->call_ns ? p->call_ns : p->submit_ns)) : 0);
	block_put_uint32(block, 10, row, p->gpu);
	block_put_uint32(block, 11, row, gpu_uuid);
	block_put_uint32(block, 12, row, p->queue);
	block_put_uint32(block, 13, row, p->submit_tid);
	block_put_uint32(block, 14, row, p->flags);
	block_put_uint32(block, 15, row, p->grid_x);
	block_put_uint32(block, 16, row, p->grid_y);
	block_put_uint32(block, 17, row, p->grid_z);
	block_put_uint32(block, 18, row, p->workgroup_x);
	block_put_uint32(block, 19, row, p->workgroup_y);
	block_put_uint32(block, 20, row, p->workgroup_z);
	block_put_uint32(block, 21, row, p->group_segment_bytes);
	block_put_uint32(block, 22, row, p->private_segment_bytes);
	block_put_uint64(block, 23, row, p->hip_stream);
	block_put_uint64(block, 24, row, p->range);
	block_put_uint64(block, 25, row, event->uid);
	block_put_uint64(block, 26, row, event->correlation);
	block_put_uint32(block, 28, row, event->ring);
	block_put_uint64(block, 29, row, event->position);
	(void)sub;
	block_added(block);
}

static const struct column_info rtl_copy_columns[] = {
	{"run", "LowCardinality(String)", "the job, the same in all of its ranks", COLUMN_RUN},
	{"day", "Date", "when it began", COLUMN_DAY},
	{"rank", "Int32", "as the launcher tells; -1: none", COLUMN_RANK},
	{"host", "LowCardinality(String)", "name of the machine", COLUMN_HOST},
	{"pid", "UInt32", "number of the process", COLUMN_PID},
	{"time_ns", "UInt64", "when the event was published: after what it tells of", COLUMN_8},
	{"direction", "LowCardinality(String)", "from where to where", COLUMN_NAME},
	{"begin_ns", "UInt64", "GPU begin, HSA system clock; 0 in transfer_begin, or not known", COLUMN_8},
	{"end_ns", "UInt64", "GPU end; 0 in transfer_begin, or not known", COLUMN_8},
	{"wait_ns", "Int64", "from the call that made it, or where none is known from its submission, to its begin", COLUMN_8},
	{"bytes", "UInt64", "all that is written", COLUMN_8},
	{"gpu", "UInt32", "KFD node id of the GPU that does it; 0: none", COLUMN_4},
	{"gpu_uuid", "LowCardinality(String)", "of the GPU that does it; empty: none, or not known", COLUMN_NAME},
	{"src_gpu", "UInt32", "KFD node id of the source's GPU; 0: host memory", COLUMN_4},
	{"dst_gpu", "UInt32", "KFD node id of the destination's GPU; 0: host memory", COLUMN_4},
	{"kind", "UInt32", "which function was called", COLUMN_4},
	{"engine", "UInt32", "hsa_amd_sdma_engine_id_t as asked for; 0: the runtime's choice", COLUMN_4},
	{"tid", "UInt32", "thread that submitted", COLUMN_4},
	{"flags", "UInt32", "bits", COLUMN_4},
	{"parts", "UInt32", "copies in it: of a batch, more than 1 may share a signal", COLUMN_4},
	{"status", "UInt32", "hsa_status_t of a refused one; else 0", COLUMN_4},
	{"stream", "UInt64", "the hipStream_t among that call's arguments; 0: the null stream, or none", COLUMN_8},
	{"range", "UInt64", "instance of the innermost range of roctx there; 0: none that is known", COLUMN_8},
	{"correlation", "UInt64", "that of the call in rtl_call; 0: none", COLUMN_8},
	{"spool", "UInt64", "the process in this run, as in rtl_process", COLUMN_SPOOL},
	{"ring", "UInt32", "with the position: where the event stood", COLUMN_4},
	{"position", "UInt64", "in a ring of a spool each event has another one", COLUMN_8},
};
static const struct table_info table_rtl_copy = {
	"rtl_copy", "spool, time_ns", rtl_copy_columns, 27, false,
};

/* A row of rtl_copy, of an event of that process. */
static inline void table_add_rtl_copy(struct sub *sub, struct block *block,
	struct process *process, const struct rtl_event *event, uint32_t direction, uint32_t gpu_uuid)
{
	const struct rtl_hsa_copy *p = event->payload;
	uint32_t row;

	if (!block_add(block, &process->columns, &row))
		return;
	block_put_uint64(block, 5, row, event->time_ns);
	block_put_uint32(block, 6, row, direction);
	block_put_uint64(block, 7, row, p->begin_ns);
	block_put_uint64(block, 8, row, p->end_ns);
	block_put_int64(block, 9, row, p->begin_ns ? (int64_t)(p->begin_ns - (p->call_ns ? p->call_ns : p->submit_ns)) : 0);
	block_put_uint64(block, 10, row, p->bytes);
	block_put_uint32(block, 11, row, p->gpu);
	block_put_uint32(block, 12, row, gpu_uuid);
	block_put_uint32(block, 13, row, p->src_gpu);
	block_put_uint32(block, 14, row, p->dst_gpu);
	block_put_uint32(block, 15, row, p->kind);
	block_put_uint32(block, 16, row, p->engine);
	block_put_uint32(block, 17, row, p->submit_tid);
	block_put_uint32(block, 18, row, p->flags);
	block_put_uint32(block, 19, row, p->parts);
	block_put_uint32(block, 20, row, p->status);
	block_put_uint64(block, 21, row, p->hip_stream);
	block_put_uint64(block, 22, row, p->range);
	block_put_uint64(block, 23, row, event->correlation);
	block_put_uint32(block, 25, row, event->ring);
	block_put_uint64(block, 26, row, event->position);
	(void)sub;
	block_added(block);
}

static const struct column_info rtl_mem_columns[] = {
	{"run", "LowCardinality(String)", "the job, the same in all of its ranks", COLUMN_RUN},
	{"day", "Date", "when it began", COLUMN_DAY},
	{"rank", "Int32", "as the launcher tells; -1: none", COLUMN_RANK},
	{"host", "LowCardinality(String)", "name of the machine", COLUMN_HOST},
	{"pid", "UInt32", "number of the process", COLUMN_PID},
	{"time_ns", "UInt64", "when the event was published: after what it tells of", COLUMN_8},
	{"is_release", "UInt8", "1: a release, 0: an allocation", COLUMN_1},
	{"begin_ns", "UInt64", "when the function was called; 0 in a begin", COLUMN_8},
	{"end_ns", "UInt64", "when it returned; 0 in a begin", COLUMN_8},
	{"function", "LowCardinality(String)", "name of the function that was called", COLUMN_NAME},
	{"segment", "LowCardinality(String)", "what memory the pool has; 0: no pool", COLUMN_NAME},
	{"status", "LowCardinality(String)", "the hsa_status_t that it returned; 0 in a begin", COLUMN_NAME},
	{"address", "UInt64", "of the memory, or its handle; 0 where an allocation begins", COLUMN_8},
	{"bytes", "UInt64", "as asked for; of a release as when it was allocated; 0: not known", COLUMN_8},
	{"in_use_bytes", "UInt64", "in use after it on that agent; without an agent, of that kind", COLUMN_8},
	{"pool", "UInt64", "handle of the pool or region; 0: none, or not known", COLUMN_8},
	{"node", "UInt32", "KFD node id of the pool's agent", COLUMN_4},
	{"kind", "UInt32", "what was allocated", COLUMN_4},
	{"flags", "UInt32", "bits", COLUMN_4},
	{"allocated_ns", "UInt64", "of a release: when the call that allocated it began; 0: not known; since 1.1", COLUMN_8},
	{"tid", "UInt32", "thread", COLUMN_4},
	{"correlation", "UInt64", "that of the call in rtl_call; 0: none", COLUMN_8},
	{"spool", "UInt64", "the process in this run, as in rtl_process", COLUMN_SPOOL},
	{"ring", "UInt32", "with the position: where the event stood", COLUMN_4},
	{"position", "UInt64", "in a ring of a spool each event has another one", COLUMN_8},
};
static const struct table_info table_rtl_mem = {
	"rtl_mem", "spool, time_ns", rtl_mem_columns, 25, false,
};

/* A row of rtl_mem, of an event of that process. */
static inline void table_add_rtl_mem(struct sub *sub, struct block *block,
	struct process *process, const struct rtl_event *event)
{
	const struct rtl_hsa_mem *p = event->payload;
	uint32_t row;

	if (!block_add(block, &process->columns, &row))
		return;
	block_put_uint64(block, 5, row, event->time_ns);
	block_put_uint8(block, 6, row, event->type == RTL_MEM_RELEASE_END);
	block_put_uint64(block, 7, row, p->begin_ns);
	block_put_uint64(block, 8, row, p->end_ns);
	block_put_uint32(block, 9, row, names_of_string(sub, process, p->function));
	block_put_uint32(block, 10, row, names_of_string(sub, process, p->segment));
	block_put_uint32(block, 11, row, names_of_string(sub, process, p->status));
	block_put_uint64(block, 12, row, p->address);
	block_put_uint64(block, 13, row, p->bytes);
	block_put_uint64(block, 14, row, p->in_use_bytes);
	block_put_uint64(block, 15, row, p->pool);
	block_put_uint32(block, 16, row, p->node);
	block_put_uint32(block, 17, row, p->kind);
	block_put_uint32(block, 18, row, p->flags);
	block_put_uint64(block, 19, row, p->allocated_ns);
	block_put_uint32(block, 20, row, event->tid);
	block_put_uint64(block, 21, row, event->correlation);
	block_put_uint32(block, 23, row, event->ring);
	block_put_uint64(block, 24, row, event->position);
	(void)sub;
	block_added(block);
}

static const struct column_info rtl_call_columns[] = {
	{"run", "LowCardinality(String)", "the job, the same in all of its ranks", COLUMN_RUN},
	{"day", "Date", "when it began", COLUMN_DAY},
	{"rank", "Int32", "as the launcher tells; -1: none", COLUMN_RANK},
	{"host", "LowCardinality(String)", "name of the machine", COLUMN_HOST},
	{"pid", "UInt32", "number of the process", COLUMN_PID},
	{"time_ns", "UInt64", "when the event was published: after what it tells of", COLUMN_8},
	{"api", "LowCardinality(String)", "hip or hsa", COLUMN_NAME},
	{"function", "LowCardinality(String)", "its name", COLUMN_NAME},
	{"begin_ns", "UInt64", "when it was called; 0 in a begin", COLUMN_8},
	{"end_ns", "UInt64", "when it returned; of an unfinished one when its process ended", COLUMN_8},
	{"unfinished", "UInt8", "1: it had not returned when its process ended", COLUMN_1},
	{"status", "LowCardinality(String)", "the hsa_status_t that it returned; 0: it returns none", COLUMN_NAME},
	{"result", "Int64", "what it returned, as a number; 0: nothing", COLUMN_8},
	{"tid", "UInt32", "thread", COLUMN_4},
	{"work", "UInt32", "dispatches and copies that it had caused when it returned; of HIP", COLUMN_4},
	{"stream", "UInt64", "the hipStream_t among its arguments; of HIP", COLUMN_8},
	{"parent", "UInt64", "instance of the call or region around it; of HIP", COLUMN_8},
	{"instance", "UInt64", "of the event", COLUMN_8},
	{"correlation", "UInt64", "that of the work which it causes", COLUMN_8},
	{"args", "String", "the arguments, with the setting args", COLUMN_TEXT},
	{"spool", "UInt64", "the process in this run, as in rtl_process", COLUMN_SPOOL},
	{"ring", "UInt32", "with the position: where the event stood", COLUMN_4},
	{"position", "UInt64", "in a ring of a spool each event has another one", COLUMN_8},
};
static const struct table_info table_rtl_call = {
	"rtl_call", "spool, time_ns", rtl_call_columns, 23, false,
};

/* A row of rtl_call, of an event of that process. */
static inline void table_add_rtl_call(struct sub *sub, struct block *block,
	struct process *process, const struct rtl_event *event, uint32_t api, uint32_t function, uint64_t end_ns, uint8_t unfinished, uint32_t tid, uint32_t work, uint64_t stream, uint64_t parent, const char *args, size_t args_length)
{
	const struct rtl_hsa_call *p = event->payload;
	uint32_t row;

	if (!block_add(block, &process->columns, &row))
		return;
	block_put_uint64(block, 5, row, event->time_ns);
	block_put_uint32(block, 6, row, api);
	block_put_uint32(block, 7, row, function);
	block_put_uint64(block, 8, row, p->begin_ns);
	block_put_uint64(block, 9, row, end_ns);
	block_put_uint8(block, 10, row, unfinished);
	block_put_uint32(block, 11, row, names_of_string(sub, process, p->status));
	block_put_int64(block, 12, row, p->result);
	block_put_uint32(block, 13, row, tid);
	block_put_uint32(block, 14, row, work);
	block_put_uint64(block, 15, row, stream);
	block_put_uint64(block, 16, row, parent);
	block_put_uint64(block, 17, row, event->instance);
	block_put_uint64(block, 18, row, event->correlation);
	block_put_text(block, 19, args, args_length);
	block_put_uint32(block, 21, row, event->ring);
	block_put_uint64(block, 22, row, event->position);
	(void)sub;
	block_added(block);
}

static const struct column_info rtl_range_columns[] = {
	{"run", "LowCardinality(String)", "the job, the same in all of its ranks", COLUMN_RUN},
	{"day", "Date", "when it began", COLUMN_DAY},
	{"rank", "Int32", "as the launcher tells; -1: none", COLUMN_RANK},
	{"host", "LowCardinality(String)", "name of the machine", COLUMN_HOST},
	{"pid", "UInt32", "number of the process", COLUMN_PID},
	{"time_ns", "UInt64", "when the event was published: after what it tells of", COLUMN_8},
	{"name", "String", "what the program calls it", COLUMN_TEXT},
	{"begin_ns", "UInt64", "when it was pushed or started", COLUMN_8},
	{"end_ns", "UInt64", "when it was popped or stopped; of an unfinished one when its process ended; of a mark its time", COLUMN_8},
	{"kind", "LowCardinality(String)", "pushed, started, mark; unfinished: it had not ended when its process did", COLUMN_NAME},
	{"tid", "UInt32", "thread that pushed or started it", COLUMN_4},
	{"level", "Int32", "how many pushed ranges were around it; -1: it was started", COLUMN_4},
	{"parent", "UInt64", "instance of the range or call around it; 0: none", COLUMN_8},
	{"id", "UInt64", "of a started range, the program's roctx_range_id_t; else 0", COLUMN_8},
	{"instance", "UInt64", "of the event", COLUMN_8},
	{"spool", "UInt64", "the process in this run, as in rtl_process", COLUMN_SPOOL},
	{"ring", "UInt32", "with the position: where the event stood", COLUMN_4},
	{"position", "UInt64", "in a ring of a spool each event has another one", COLUMN_8},
};
static const struct table_info table_rtl_range = {
	"rtl_range", "spool, time_ns", rtl_range_columns, 18, false,
};

/* A row of rtl_range, of an event of that process. */
static inline void table_add_rtl_range(struct sub *sub, struct block *block,
	struct process *process, const struct rtl_event *event, const char *name, size_t name_length, uint64_t end_ns, uint32_t kind, uint32_t tid)
{
	const struct rtl_roctx_range *p = event->payload;
	uint32_t row;

	if (!block_add(block, &process->columns, &row))
		return;
	block_put_uint64(block, 5, row, event->time_ns);
	block_put_text(block, 6, name, name_length);
	block_put_uint64(block, 7, row, p->begin_ns);
	block_put_uint64(block, 8, row, end_ns);
	block_put_uint32(block, 9, row, kind);
	block_put_uint32(block, 10, row, tid);
	block_put_int32(block, 11, row, p->level);
	block_put_uint64(block, 12, row, p->parent);
	block_put_uint64(block, 13, row, p->id);
	block_put_uint64(block, 14, row, event->instance);
	block_put_uint32(block, 16, row, event->ring);
	block_put_uint64(block, 17, row, event->position);
	(void)sub;
	block_added(block);
}

#endif
