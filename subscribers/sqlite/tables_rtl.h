/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Made by streams/events/generate.py from tables.toml and streams/events. Not to be edited. */
/* How tables of rtl are made, and a function for each that adds a row. The host's thread. */
#ifndef RTL_SQLITE_TABLES_RTL_H
#define RTL_SQLITE_TABLES_RTL_H

#include <rtl/events.h>
#include <rtl/publish.h>

#include "process.h"
#include "rows.h"

#define TABLE_RTL_POSITION \
	"CREATE TABLE IF NOT EXISTS rtl_position (" \
	" spool INTEGER NOT NULL," \
	" ring INTEGER NOT NULL," \
	" position INTEGER NOT NULL," \
	" PRIMARY KEY (spool, ring)" \
	") WITHOUT ROWID;"
static const struct table table_rtl_position = {"rtl_position", 3};

struct row_rtl_position {
	int64_t spool;
	int64_t ring;
	int64_t position;
};

/* A row of rtl_position: its cells. */
static inline struct cell *table_add_rtl_position(struct rows *rows, const struct row_rtl_position *row)
{
	struct cell *cell = rows_add(rows);

	cell_int(&cell[0], row->spool);
	cell_int(&cell[1], row->ring);
	cell_int(&cell[2], row->position);
	return cell;
}

#define TABLE_RTL_TRACEPOINT \
	"CREATE TABLE IF NOT EXISTS rtl_tracepoint (" \
	" process INTEGER NOT NULL," \
	" uid INTEGER NOT NULL," \
	" kind TEXT," \
	" name TEXT," \
	" source TEXT," \
	" line INTEGER," \
	" \"column\" INTEGER," \
	" module TEXT," \
	" module_offset INTEGER," \
	" hash INTEGER," \
	" PRIMARY KEY (process, uid)" \
	") WITHOUT ROWID;"
static const struct table table_rtl_tracepoint = {"rtl_tracepoint", 10};

struct row_rtl_tracepoint {
	int64_t process;
	int64_t uid;
	const char *kind;
	const char *name;
	const char *source;
	int64_t line;
	int64_t column;
	const char *module;
	int64_t module_offset;
	int64_t hash;
};

/* A row of rtl_tracepoint: its cells. */
static inline struct cell *table_add_rtl_tracepoint(struct rows *rows, const struct row_rtl_tracepoint *row)
{
	struct cell *cell = rows_add(rows);

	cell_int(&cell[0], row->process);
	cell_int(&cell[1], row->uid);
	cell_text(rows, &cell[2], row->kind);
	cell_text(rows, &cell[3], row->name);
	cell_text(rows, &cell[4], row->source);
	cell_int(&cell[5], row->line);
	cell_int(&cell[6], row->column);
	cell_text(rows, &cell[7], row->module);
	cell_int(&cell[8], row->module_offset);
	cell_int(&cell[9], row->hash);
	return cell;
}

#define TABLE_RTL_TRACEPOINT_METADATA \
	"CREATE TABLE IF NOT EXISTS rtl_tracepoint_metadata (" \
	" process INTEGER NOT NULL," \
	" uid INTEGER NOT NULL," \
	" key TEXT NOT NULL," \
	" value TEXT," \
	" PRIMARY KEY (process, uid, key)" \
	") WITHOUT ROWID;"
static const struct table table_rtl_tracepoint_metadata = {"rtl_tracepoint_metadata", 4};

struct row_rtl_tracepoint_metadata {
	int64_t process;
	int64_t uid;
	const char *key;
	const char *value;
};

/* A row of rtl_tracepoint_metadata: its cells. */
static inline struct cell *table_add_rtl_tracepoint_metadata(struct rows *rows, const struct row_rtl_tracepoint_metadata *row)
{
	struct cell *cell = rows_add(rows);

	cell_int(&cell[0], row->process);
	cell_int(&cell[1], row->uid);
	cell_text(rows, &cell[2], row->key);
	cell_text(rows, &cell[3], row->value);
	return cell;
}

#define TABLE_RTL_CALL \
	"CREATE TABLE IF NOT EXISTS rtl_call (" \
	" api_id INTEGER PRIMARY KEY NOT NULL," \
	" process INTEGER NOT NULL," \
	" uid INTEGER NOT NULL," \
	" parent_uid INTEGER NOT NULL," \
	" instance INTEGER NOT NULL," \
	" correlation INTEGER NOT NULL," \
	" status_id INTEGER NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED," \
	" result INTEGER NOT NULL," \
	" parent INTEGER," \
	" stream INTEGER," \
	" device INTEGER," \
	" flags INTEGER," \
	" work INTEGER" \
	");"
static const struct table table_rtl_call = {"rtl_call", 13};

struct row_rtl_call {
	int64_t api_id;
	int64_t process;
	int64_t uid;
	int64_t parent_uid;
	int64_t instance;
	int64_t correlation;
	int64_t status_id;
	int64_t result;
	const int64_t *parent;
	const int64_t *stream;
	const int64_t *device;
	const int64_t *flags;
	const int64_t *work;
};

/* A row of rtl_call: its cells. */
static inline struct cell *table_add_rtl_call(struct rows *rows, const struct row_rtl_call *row)
{
	struct cell *cell = rows_add(rows);

	cell_int(&cell[0], row->api_id);
	cell_int(&cell[1], row->process);
	cell_int(&cell[2], row->uid);
	cell_int(&cell[3], row->parent_uid);
	cell_int(&cell[4], row->instance);
	cell_int(&cell[5], row->correlation);
	cell_int(&cell[6], row->status_id);
	cell_int(&cell[7], row->result);
	cell_int_or_null(&cell[8], row->parent);
	cell_int_or_null(&cell[9], row->stream);
	cell_int_or_null(&cell[10], row->device);
	cell_int_or_null(&cell[11], row->flags);
	cell_int_or_null(&cell[12], row->work);
	return cell;
}

#define TABLE_RTL_MARKER \
	"CREATE TABLE IF NOT EXISTS rtl_marker (" \
	" api_id INTEGER PRIMARY KEY NOT NULL," \
	" process INTEGER NOT NULL," \
	" is_range INTEGER NOT NULL," \
	" instance INTEGER NOT NULL," \
	" parent INTEGER NOT NULL," \
	" id INTEGER NOT NULL," \
	" level INTEGER NOT NULL," \
	" end_tid INTEGER NOT NULL," \
	" flags INTEGER NOT NULL" \
	");"
static const struct table table_rtl_marker = {"rtl_marker", 9};

struct row_rtl_marker {
	int64_t api_id;
	int64_t process;
	int64_t is_range;
	int64_t instance;
	int64_t parent;
	int64_t id;
	int64_t level;
	int64_t end_tid;
	int64_t flags;
};

/* A row of rtl_marker: its cells. */
static inline struct cell *table_add_rtl_marker(struct rows *rows, const struct row_rtl_marker *row)
{
	struct cell *cell = rows_add(rows);

	cell_int(&cell[0], row->api_id);
	cell_int(&cell[1], row->process);
	cell_int(&cell[2], row->is_range);
	cell_int(&cell[3], row->instance);
	cell_int(&cell[4], row->parent);
	cell_int(&cell[5], row->id);
	cell_int(&cell[6], row->level);
	cell_int(&cell[7], row->end_tid);
	cell_int(&cell[8], row->flags);
	return cell;
}

#define TABLE_RTL_NODE \
	"CREATE TABLE IF NOT EXISTS rtl_node (" \
	" process INTEGER NOT NULL," \
	" id INTEGER NOT NULL," \
	" graph INTEGER," \
	" name TEXT," \
	" kind TEXT," \
	" kernel TEXT," \
	" file TEXT," \
	" line INTEGER," \
	" device TEXT," \
	" queue INTEGER," \
	" time_ns INTEGER NOT NULL," \
	" tid INTEGER NOT NULL," \
	" uid INTEGER NOT NULL," \
	" instance INTEGER NOT NULL," \
	" metadata TEXT" \
	");"
static const struct table table_rtl_node = {"rtl_node", 15};

struct row_rtl_node {
	int64_t process;
	int64_t id;
	const int64_t *graph;
	const char *name;
	const char *kind;
	const char *kernel;
	const char *file;
	const int64_t *line;
	const char *device;
	const int64_t *queue;
	int64_t time_ns;
	int64_t tid;
	int64_t uid;
	int64_t instance;
	const char *metadata;
};

/* A row of rtl_node: its cells. */
static inline struct cell *table_add_rtl_node(struct rows *rows, const struct row_rtl_node *row)
{
	struct cell *cell = rows_add(rows);

	cell_int(&cell[0], row->process);
	cell_int(&cell[1], row->id);
	cell_int_or_null(&cell[2], row->graph);
	cell_text(rows, &cell[3], row->name);
	cell_text(rows, &cell[4], row->kind);
	cell_text(rows, &cell[5], row->kernel);
	cell_text(rows, &cell[6], row->file);
	cell_int_or_null(&cell[7], row->line);
	cell_text(rows, &cell[8], row->device);
	cell_int_or_null(&cell[9], row->queue);
	cell_int(&cell[10], row->time_ns);
	cell_int(&cell[11], row->tid);
	cell_int(&cell[12], row->uid);
	cell_int(&cell[13], row->instance);
	cell_text(rows, &cell[14], row->metadata);
	return cell;
}

#define TABLE_RTL_XPTI_METADATA \
	"CREATE TABLE IF NOT EXISTS rtl_xpti_metadata (" \
	" process INTEGER NOT NULL," \
	" object INTEGER NOT NULL," \
	" key TEXT NOT NULL," \
	" kind TEXT NOT NULL," \
	" value," \
	" PRIMARY KEY (process, object, key)" \
	") WITHOUT ROWID;"
static const struct table table_rtl_xpti_metadata = {"rtl_xpti_metadata", 5};

struct row_rtl_xpti_metadata {
	int64_t process;
	int64_t object;
	const char *key;
	const char *kind;
	const struct rtl_value *value;
};

/* A row of rtl_xpti_metadata: its cells. */
static inline struct cell *table_add_rtl_xpti_metadata(struct rows *rows, const struct row_rtl_xpti_metadata *row)
{
	struct cell *cell = rows_add(rows);

	cell_int(&cell[0], row->process);
	cell_int(&cell[1], row->object);
	cell_text(rows, &cell[2], row->key);
	cell_text(rows, &cell[3], row->kind);
	cell_value(rows, &cell[4], row->value);
	return cell;
}

#define TABLE_RTL_EDGE \
	"CREATE TABLE IF NOT EXISTS rtl_edge (" \
	" process INTEGER NOT NULL," \
	" id INTEGER NOT NULL," \
	" graph INTEGER," \
	" source INTEGER NOT NULL," \
	" target INTEGER NOT NULL," \
	" name TEXT," \
	" time_ns INTEGER NOT NULL" \
	");"
static const struct table table_rtl_edge = {"rtl_edge", 7};

struct row_rtl_edge {
	int64_t process;
	int64_t id;
	const int64_t *graph;
	int64_t source;
	int64_t target;
	const char *name;
	int64_t time_ns;
};

/* A row of rtl_edge: its cells. */
static inline struct cell *table_add_rtl_edge(struct rows *rows, const struct row_rtl_edge *row)
{
	struct cell *cell = rows_add(rows);

	cell_int(&cell[0], row->process);
	cell_int(&cell[1], row->id);
	cell_int_or_null(&cell[2], row->graph);
	cell_int(&cell[3], row->source);
	cell_int(&cell[4], row->target);
	cell_text(rows, &cell[5], row->name);
	cell_int(&cell[6], row->time_ns);
	return cell;
}

#define TABLE_RTL_SPAN \
	"CREATE TABLE IF NOT EXISTS rtl_span (" \
	" api_id INTEGER PRIMARY KEY NOT NULL," \
	" process INTEGER NOT NULL," \
	" stream INTEGER NOT NULL," \
	" type TEXT NOT NULL," \
	" object INTEGER NOT NULL," \
	" parent INTEGER NOT NULL," \
	" uid INTEGER NOT NULL," \
	" parent_uid INTEGER NOT NULL," \
	" instance INTEGER NOT NULL," \
	" correlation INTEGER NOT NULL," \
	" result INTEGER," \
	" unfinished INTEGER NOT NULL" \
	");"
static const struct table table_rtl_span = {"rtl_span", 12};

struct row_rtl_span {
	int64_t api_id;
	int64_t process;
	int64_t stream;
	const char *type;
	int64_t object;
	int64_t parent;
	int64_t uid;
	int64_t parent_uid;
	int64_t instance;
	int64_t correlation;
	const int64_t *result;
	int64_t unfinished;
};

/* A row of rtl_span: its cells. */
static inline struct cell *table_add_rtl_span(struct rows *rows, const struct row_rtl_span *row)
{
	struct cell *cell = rows_add(rows);

	cell_int(&cell[0], row->api_id);
	cell_int(&cell[1], row->process);
	cell_int(&cell[2], row->stream);
	cell_text(rows, &cell[3], row->type);
	cell_int(&cell[4], row->object);
	cell_int(&cell[5], row->parent);
	cell_int(&cell[6], row->uid);
	cell_int(&cell[7], row->parent_uid);
	cell_int(&cell[8], row->instance);
	cell_int(&cell[9], row->correlation);
	cell_int_or_null(&cell[10], row->result);
	cell_int(&cell[11], row->unfinished);
	return cell;
}

#define TABLE_RTL_DISPATCH \
	"CREATE TABLE IF NOT EXISTS rtl_dispatch (" \
	" op_id INTEGER PRIMARY KEY NOT NULL," \
	" process INTEGER NOT NULL," \
	" uid INTEGER NOT NULL," \
	" submit_ns INTEGER NOT NULL," \
	" packet_id INTEGER NOT NULL," \
	" kernel_object INTEGER NOT NULL," \
	" gpu INTEGER NOT NULL," \
	" queue INTEGER NOT NULL," \
	" tid INTEGER NOT NULL," \
	" flags INTEGER NOT NULL," \
	" grid_x INTEGER NOT NULL," \
	" grid_y INTEGER NOT NULL," \
	" grid_z INTEGER NOT NULL," \
	" workgroup_x INTEGER NOT NULL," \
	" workgroup_y INTEGER NOT NULL," \
	" workgroup_z INTEGER NOT NULL," \
	" lds_bytes INTEGER NOT NULL," \
	" scratch_bytes INTEGER NOT NULL," \
	" scope INTEGER," \
	" scope_instance INTEGER," \
	" call_ns INTEGER," \
	" stream INTEGER," \
	" range INTEGER," \
	" correlation INTEGER NOT NULL," \
	" instance INTEGER NOT NULL" \
	");"
static const struct table table_rtl_dispatch = {"rtl_dispatch", 25};

/* A row of rtl_dispatch, of an event of that process. */
static inline void table_add_rtl_dispatch(struct rows *rows, const struct process *process,
	const struct rtl_event *event, int64_t op_id)
{
	const struct rtl_hsa_dispatch *p = event->payload;
	struct cell *cell = rows_add(rows);

	cell_int(&cell[0], (int64_t)(op_id));
	cell_int(&cell[1], (int64_t)(process->number));
	cell_int(&cell[2], (int64_t)(event->uid));
	cell_int(&cell[3], (int64_t)(p->submit_ns));
	cell_int(&cell[4], (int64_t)(p->packet_id));
	cell_int(&cell[5], (int64_t)(p->kernel_object));
	cell_int(&cell[6], (int64_t)(p->gpu));
	cell_int(&cell[7], (int64_t)(p->queue));
	cell_int(&cell[8], (int64_t)(p->submit_tid));
	cell_int(&cell[9], (int64_t)(p->flags));
	cell_int(&cell[10], (int64_t)(p->grid_x));
	cell_int(&cell[11], (int64_t)(p->grid_y));
	cell_int(&cell[12], (int64_t)(p->grid_z));
	cell_int(&cell[13], (int64_t)(p->workgroup_x));
	cell_int(&cell[14], (int64_t)(p->workgroup_y));
	cell_int(&cell[15], (int64_t)(p->workgroup_z));
	cell_int(&cell[16], (int64_t)(p->group_segment_bytes));
	cell_int(&cell[17], (int64_t)(p->private_segment_bytes));
	cell_int_if(&cell[18], p->scope, (int64_t)(p->scope));
	cell_int_if(&cell[19], p->scope, (int64_t)(p->scope_instance));
	cell_int_if(&cell[20], p->call_ns, (int64_t)(p->call_ns));
	cell_int_if(&cell[21], p->call_ns, (int64_t)(p->hip_stream));
	cell_int_if(&cell[22], p->range, (int64_t)(p->range));
	cell_int(&cell[23], (int64_t)(event->correlation));
	cell_int(&cell[24], (int64_t)(event->instance));
}

#define TABLE_RTL_COPY \
	"CREATE TABLE IF NOT EXISTS rtl_copy (" \
	" id INTEGER PRIMARY KEY NOT NULL," \
	" op_id INTEGER," \
	" begin_ns INTEGER," \
	" end_ns INTEGER," \
	" process INTEGER NOT NULL," \
	" uid INTEGER NOT NULL," \
	" submit_ns INTEGER NOT NULL," \
	" bytes INTEGER NOT NULL," \
	" src INTEGER NOT NULL," \
	" dst INTEGER NOT NULL," \
	" signal INTEGER NOT NULL," \
	" gpu INTEGER NOT NULL," \
	" src_gpu INTEGER NOT NULL," \
	" dst_gpu INTEGER NOT NULL," \
	" direction INTEGER NOT NULL," \
	" kind INTEGER NOT NULL," \
	" engine INTEGER NOT NULL," \
	" tid INTEGER NOT NULL," \
	" flags INTEGER NOT NULL," \
	" extent_x INTEGER NOT NULL," \
	" extent_y INTEGER NOT NULL," \
	" extent_z INTEGER NOT NULL," \
	" parts INTEGER NOT NULL," \
	" status INTEGER NOT NULL," \
	" scope INTEGER," \
	" scope_instance INTEGER," \
	" call_ns INTEGER," \
	" stream INTEGER," \
	" range INTEGER," \
	" correlation INTEGER NOT NULL," \
	" instance INTEGER NOT NULL" \
	");"
static const struct table table_rtl_copy = {"rtl_copy", 31};

/* A row of rtl_copy, of an event of that process. */
static inline void table_add_rtl_copy(struct rows *rows, const struct process *process,
	const struct rtl_event *event, int64_t id, int64_t op_id, int64_t begin_ns, int64_t end_ns)
{
	const struct rtl_hsa_copy *p = event->payload;
	struct cell *cell = rows_add(rows);

	cell_int(&cell[0], (int64_t)(id));
	cell_int_if(&cell[1], op_id, (int64_t)(op_id));
	cell_int_if(&cell[2], begin_ns, (int64_t)(begin_ns));
	cell_int_if(&cell[3], end_ns, (int64_t)(end_ns));
	cell_int(&cell[4], (int64_t)(process->number));
	cell_int(&cell[5], (int64_t)(event->uid));
	cell_int(&cell[6], (int64_t)(p->submit_ns));
	cell_int(&cell[7], (int64_t)(p->bytes));
	cell_int(&cell[8], (int64_t)(p->src));
	cell_int(&cell[9], (int64_t)(p->dst));
	cell_int(&cell[10], (int64_t)(p->signal));
	cell_int(&cell[11], (int64_t)(p->gpu));
	cell_int(&cell[12], (int64_t)(p->src_gpu));
	cell_int(&cell[13], (int64_t)(p->dst_gpu));
	cell_int(&cell[14], (int64_t)(p->direction));
	cell_int(&cell[15], (int64_t)(p->kind));
	cell_int(&cell[16], (int64_t)(p->engine));
	cell_int(&cell[17], (int64_t)(p->submit_tid));
	cell_int(&cell[18], (int64_t)(p->flags));
	cell_int(&cell[19], (int64_t)(p->extent_x));
	cell_int(&cell[20], (int64_t)(p->extent_y));
	cell_int(&cell[21], (int64_t)(p->extent_z));
	cell_int(&cell[22], (int64_t)(p->parts));
	cell_int(&cell[23], (int64_t)(p->status));
	cell_int_if(&cell[24], p->scope, (int64_t)(p->scope));
	cell_int_if(&cell[25], p->scope, (int64_t)(p->scope_instance));
	cell_int_if(&cell[26], p->call_ns, (int64_t)(p->call_ns));
	cell_int_if(&cell[27], p->call_ns, (int64_t)(p->hip_stream));
	cell_int_if(&cell[28], p->range, (int64_t)(p->range));
	cell_int(&cell[29], (int64_t)(event->correlation));
	cell_int(&cell[30], (int64_t)(event->instance));
}

#define TABLE_RTL_MEM \
	"CREATE TABLE IF NOT EXISTS rtl_mem (" \
	" id INTEGER PRIMARY KEY NOT NULL," \
	" process INTEGER NOT NULL," \
	" tid INTEGER NOT NULL," \
	" is_release INTEGER NOT NULL," \
	" begin_ns INTEGER NOT NULL," \
	" end_ns INTEGER NOT NULL," \
	" address INTEGER NOT NULL," \
	" bytes INTEGER NOT NULL," \
	" in_use_bytes INTEGER NOT NULL," \
	" pool INTEGER NOT NULL," \
	" function TEXT," \
	" segment TEXT," \
	" status TEXT," \
	" node INTEGER NOT NULL," \
	" kind INTEGER NOT NULL," \
	" flags INTEGER NOT NULL," \
	" allocated_ns INTEGER," \
	" instance INTEGER NOT NULL," \
	" correlation INTEGER NOT NULL" \
	");"
static const struct table table_rtl_mem = {"rtl_mem", 19};

/* A row of rtl_mem, of an event of that process. */
static inline void table_add_rtl_mem(struct rows *rows, const struct rtl_host *host, const struct process *process,
	const struct rtl_event *event, int64_t id)
{
	const struct rtl_hsa_mem *p = event->payload;
	struct cell *cell = rows_add(rows);

	cell_int(&cell[0], (int64_t)(id));
	cell_int(&cell[1], (int64_t)(process->number));
	cell_int(&cell[2], (int64_t)(event->tid));
	cell_int(&cell[3], (int64_t)(event->type == RTL_MEM_RELEASE_END));
	cell_int(&cell[4], (int64_t)(p->begin_ns));
	cell_int(&cell[5], (int64_t)(p->end_ns));
	cell_int(&cell[6], (int64_t)(p->address));
	cell_int(&cell[7], (int64_t)(p->bytes));
	cell_int(&cell[8], (int64_t)(p->in_use_bytes));
	cell_int(&cell[9], (int64_t)(p->pool));
	cell_text(rows, &cell[10], p->function ? host->string(host, process->info, p->function) : NULL);
	cell_text(rows, &cell[11], p->segment ? host->string(host, process->info, p->segment) : NULL);
	cell_text(rows, &cell[12], p->status ? host->string(host, process->info, p->status) : NULL);
	cell_int(&cell[13], (int64_t)(p->node));
	cell_int(&cell[14], (int64_t)(p->kind));
	cell_int(&cell[15], (int64_t)(p->flags));
	cell_int_if(&cell[16], p->allocated_ns, (int64_t)(p->allocated_ns));
	cell_int(&cell[17], (int64_t)(event->instance));
	cell_int(&cell[18], (int64_t)(event->correlation));
}

#define TABLE_RTL_COUNTER \
	"CREATE TABLE IF NOT EXISTS rtl_counter (" \
	" process INTEGER NOT NULL," \
	" dispatch INTEGER NOT NULL," \
	" uid INTEGER NOT NULL," \
	" name_id INTEGER NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED," \
	" value REAL," \
	" kernel INTEGER NOT NULL," \
	" gpu INTEGER NOT NULL," \
	" pass INTEGER NOT NULL," \
	" flags INTEGER NOT NULL" \
	");"
static const struct table table_rtl_counter = {"rtl_counter", 9};

/* A row of rtl_counter, of an event of that process. */
static inline void table_add_rtl_counter(struct rows *rows, const struct process *process,
	const struct rtl_event *event, int64_t name_id)
{
	const struct rtl_hsa_counter *p = event->payload;
	struct cell *cell = rows_add(rows);

	cell_int(&cell[0], (int64_t)(process->number));
	cell_int(&cell[1], (int64_t)(event->instance));
	cell_int(&cell[2], (int64_t)(event->uid));
	cell_int(&cell[3], (int64_t)(name_id));
	if (!(p->flags & RTL_HSA_COUNTER_NO_VALUE))
		cell_real(&cell[4], (p->value));
	else
		cell_null(&cell[4]);
	cell_int(&cell[5], (int64_t)(p->kernel));
	cell_int(&cell[6], (int64_t)(p->gpu));
	cell_int(&cell[7], (int64_t)(p->pass));
	cell_int(&cell[8], (int64_t)(p->flags));
}

#define TABLE_RTL_COUNTER_INTERVAL \
	"CREATE TABLE IF NOT EXISTS rtl_counter_interval (" \
	" process INTEGER NOT NULL," \
	" reading INTEGER NOT NULL," \
	" uid INTEGER NOT NULL," \
	" name_id INTEGER NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED," \
	" value REAL," \
	" begin_ns INTEGER NOT NULL," \
	" end_ns INTEGER NOT NULL," \
	" gpu INTEGER NOT NULL," \
	" pass INTEGER NOT NULL," \
	" flags INTEGER NOT NULL" \
	");"
static const struct table table_rtl_counter_interval = {"rtl_counter_interval", 10};

/* A row of rtl_counter_interval, of an event of that process. */
static inline void table_add_rtl_counter_interval(struct rows *rows, const struct process *process,
	const struct rtl_event *event, int64_t name_id)
{
	const struct rtl_hsa_counter_interval *p = event->payload;
	struct cell *cell = rows_add(rows);

	cell_int(&cell[0], (int64_t)(process->number));
	cell_int(&cell[1], (int64_t)(event->instance));
	cell_int(&cell[2], (int64_t)(event->uid));
	cell_int(&cell[3], (int64_t)(name_id));
	if (!(p->flags & RTL_HSA_COUNTER_NO_VALUE))
		cell_real(&cell[4], (p->value));
	else
		cell_null(&cell[4]);
	cell_int(&cell[5], (int64_t)(p->begin_ns));
	cell_int(&cell[6], (int64_t)(p->end_ns));
	cell_int(&cell[7], (int64_t)(p->gpu));
	cell_int(&cell[8], (int64_t)(p->pass));
	cell_int(&cell[9], (int64_t)(p->flags));
}

#endif
