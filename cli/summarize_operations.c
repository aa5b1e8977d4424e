/* SPDX-License-Identifier: MIT */
/* See summarize.h: what GPUs did, rocpd_op beside rtl_dispatch. */
#include <rtl/events.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "summarize.h"

/* Kinds of operations that are kept apart; RPD's recorders know a dozen. */
#define KINDS_MAX 256
#define GPUS_MAX  1024

/* Operations of one type, by the type's id. */
struct kind {
	sqlite3_int64 id;
	bool is_kernel;
	bool is_copy; /* counted from rtl_copy */
	char *name;
	struct summary_section *section;
	struct summary_ids groups, launches; /* by the description's id */
};

struct reading {
	struct summarize *s;
	struct cursor dispatch;
	struct kind kinds[KINDS_MAX];
	size_t kind_count;
	struct kind *last_kind;
	struct summary_section *launches;
	struct summary_device *device;
	sqlite3_int64 device_number;
	/* Where rocpd_op counts GPUs from 0 (fact "gpu"): their KFD nodes, in pairs with those. */
	struct {
		sqlite3_int64 index, node;
	} gpus[GPUS_MAX];
	size_t gpu_count;
};

/* ---- kinds and names ---- */

/* Whether rtl_copy has operations of that type; by names only in outputs of rtl. */
static bool is_copy(const struct database *database, const char *name)
{
	return database->has_copies && (!strncmp(name, "Copy", 4) || !strcmp(name, "FillBuffer"));
}

static struct kind *add_kind(struct reading *r, sqlite3_int64 id)
{
	struct kind *kind = &r->kinds[r->kind_count];
	struct summary *summary = r->s->summary;

	/* Too many types: the rest go with the last. */
	if (r->kind_count == KINDS_MAX)
		return kind - 1;
	*kind = (struct kind){.id = id, .name = summarize_text(r->s->string, id)};
	if (!kind->name)
		return NULL;
	r->kind_count++;
	kind->is_kernel = !strcmp(kind->name, "KernelExecution");
	kind->is_copy = is_copy(r->s->database, kind->name);
	kind->section =
		kind->is_kernel
			? summary_section(summary, RTL_STREAM_HSA, "task", "GPU kernels")
			: summary_section(summary, "rocpd", "operation", "Other GPU operations");
	return kind->section ? kind : NULL;
}

static struct kind *find_kind(struct reading *r, sqlite3_int64 id)
{
	if (r->last_kind && r->last_kind->id == id)
		return r->last_kind;
	r->last_kind = NULL;
	for (size_t i = 0; i < r->kind_count && !r->last_kind; i++) {
		if (r->kinds[i].id == id)
			r->last_kind = &r->kinds[i];
	}
	if (!r->last_kind)
		r->last_kind = add_kind(r, id);
	return r->last_kind;
}

/* The row for a description in a section; an operation without one goes by its type. */
static struct summary_group *find_group(struct reading *r, const struct kind *kind,
					struct summary_section *section, struct summary_ids *groups,
					sqlite3_int64 description)
{
	const uint64_t key = (uint64_t)description;
	struct summary_group *group = key ? summary_ids_find(groups, key) : NULL;
	char *name;

	if (group)
		return group;
	name = summarize_text(r->s->string, description);
	if (!name)
		return NULL;
	group = summary_group(section, *name ? name : *kind->name ? kind->name : "(unnamed)");
	free(name);
	if (group && key)
		summary_ids_put(groups, key, group);
	return group;
}

/* ---- GPUs ---- */

/* row: index, node */
static void add_gpu(void *user, const char *const *row)
{
	struct reading *r = user;

	if (r->gpu_count == GPUS_MAX || !row[0] || !row[1])
		return;
	r->gpus[r->gpu_count].index = strtoll(row[0], NULL, 10);
	r->gpus[r->gpu_count++].node = strtoll(row[1], NULL, 10);
}

static int look_for_gpus(struct reading *r)
{
	char *gpu = database_fact(r->s->database, "gpu");
	int error = 0;

	if (gpu && !strcmp(gpu, "index"))
		error = database_query(r->s->database,
				       "SELECT DISTINCT i.value, n.value FROM "
				       "rtl_tracepoint_metadata AS i JOIN rtl_tracepoint_metadata "
				       "AS n USING (process, uid) WHERE i.key = 'gpu_index' AND "
				       "n.key = 'node'",
				       add_gpu, r);
	free(gpu);
	return error;
}

static sqlite3_int64 node_of(const struct reading *r, sqlite3_int64 number)
{
	for (size_t i = 0; i < r->gpu_count; i++)
		if (r->gpus[i].index == number)
			return r->gpus[i].node;
	return number;
}

static bool add_to_device(struct reading *r, sqlite3_int64 number, sqlite3_int64 start,
			  sqlite3_int64 end)
{
	if (!r->device || number != r->device_number)
		r->device = summary_device(r->s->summary, (uint32_t)node_of(r, number));
	r->device_number = number;
	if (!r->device)
		return false;
	summary_device_add(r->device, (uint64_t)start, (uint64_t)end);
	return true;
}

/* ---- rows ---- */

enum { ID, GPU, START, END, DESCRIPTION, TYPE };
#define COLUMNS "id, gpuId, start, \"end\", description_id, opType_id"
enum { PROCESS = 1, FLAGS, CORRELATION, CALL };

/* How long it was from the call to the GPU. */
static int add_launch(struct reading *r, struct kind *kind, sqlite3_stmt *row)
{
	const sqlite3_int64 start = sqlite3_column_int64(row, START);
	const sqlite3_int64 call = sqlite3_column_int64(r->dispatch.rows, CALL);
	struct summary_group *group;

	if (!r->launches)
		r->launches =
			summary_section(r->s->summary, RTL_STREAM_HSA, "launch", SUMMARY_LAUNCHES);
	group = r->launches ? find_group(r, kind, r->launches, &kind->launches,
					 sqlite3_column_int64(row, DESCRIPTION))
			    : NULL;
	if (!group)
		return summarize_out_of_memory();
	summary_group_add(group, start > call ? (uint64_t)(start - call) : 0);
	return 0;
}

/* What rtl_dispatch says of an operation besides. */
static int add_dispatch(struct reading *r, struct kind *kind, sqlite3_stmt *row,
			uint64_t duration_ns)
{
	sqlite3_stmt *dispatch = r->dispatch.rows;
	struct summary_process *process =
		summarize_process(r->s, sqlite3_column_int64(dispatch, PROCESS));

	if (!process)
		return -1;
	summary_process_add(process, SUMMARY_KERNELS, duration_ns);
	if (r->s->has_hip && !sqlite3_column_int64(dispatch, CORRELATION))
		summary_section_add_unlinked(kind->section, 1);
	if (sqlite3_column_type(dispatch, CALL) == SQLITE_NULL ||
	    sqlite3_column_int64(dispatch, FLAGS) & RTL_HSA_DISPATCH_NO_TIME)
		return 0;
	return add_launch(r, kind, row);
}

static int add_operation(void *user, sqlite3_stmt *row)
{
	struct reading *r = user;
	struct kind *kind = find_kind(r, sqlite3_column_int64(row, TYPE));
	const sqlite3_int64 start = sqlite3_column_int64(row, START);
	const sqlite3_int64 end = sqlite3_column_int64(row, END);
	const uint64_t duration = end > start ? (uint64_t)(end - start) : 0;
	struct summary_group *group;
	int error = 0;
	bool found;

	if (start)
		summary_begins(r->s->summary, (uint64_t)start);
	if (kind && kind->is_copy)
		return 0;
	group = kind ? find_group(r, kind, kind->section, &kind->groups,
				  sqlite3_column_int64(row, DESCRIPTION))
		     : NULL;
	if (!group)
		return summarize_out_of_memory();
	found = cursor_find(&r->dispatch, r->s, sqlite3_column_int64(row, ID), &error);
	if (!error && found)
		error = add_dispatch(r, kind, row, duration);
	if (start == end && (!start || (found && sqlite3_column_int64(r->dispatch.rows, FLAGS) &
							 RTL_HSA_DISPATCH_NO_TIME))) {
		summary_group_add_untimed(group);
		return error;
	}
	summary_group_add(group, duration);
	if (kind->is_kernel && !add_to_device(r, sqlite3_column_int64(row, GPU), start, end))
		return summarize_out_of_memory();
	return error;
}

static int add_again(void *user, sqlite3_stmt *row)
{
	struct reading *r = user;
	struct kind *kind = find_kind(r, sqlite3_column_int64(row, TYPE));
	const sqlite3_int64 start = sqlite3_column_int64(row, START);
	const sqlite3_int64 end = sqlite3_column_int64(row, END);

	if (!kind || !kind->is_kernel)
		return kind ? 0 : summarize_out_of_memory();
	return add_to_device(r, sqlite3_column_int64(row, GPU), start, end)
		       ? 0
		       : summarize_out_of_memory();
}

/* Busy times once more, in order: only where they came too far out of it. */
static int add_devices_in_order(struct reading *r)
{
	char sql[400];

	summary_forget_devices(r->s->summary);
	r->device = NULL;
	snprintf(
		sql, sizeof(sql),
		"SELECT " COLUMNS " FROM rocpd_op AS o WHERE NOT (start = \"end\" AND (start = 0"
		"%s)) ORDER BY gpuId, start",
		r->s->database->has_dispatches
			? " OR EXISTS (SELECT 1 FROM rtl_dispatch WHERE op_id = o.id AND flags & 2)"
			: "");
	return summarize_rows(r->s, sql, add_again, r);
}

int summarize_operations(struct summarize *s)
{
	struct reading *r = calloc(1, sizeof(*r));
	int error = 0;

	if (!r)
		return summarize_out_of_memory();
	r->s = s;
	/* It is there also where nothing is in it. */
	if (!summary_section(s->summary, RTL_STREAM_HSA, "task", "GPU kernels"))
		error = summarize_out_of_memory();
	if (!error)
		error = look_for_gpus(r);
	if (!error)
		error = cursor_open(&r->dispatch, s, "rtl_dispatch",
				    "SELECT op_id, process, flags, correlation, call_ns FROM"
				    " rtl_dispatch ORDER BY op_id");
	if (!error)
		error = summarize_rows(s, "SELECT " COLUMNS " FROM rocpd_op ORDER BY id",
				       add_operation, r);
	if (!error && (summary_uncertain_ns(s->summary) || summary_gaps_uncertain(s->summary)))
		error = add_devices_in_order(r);
	cursor_close(&r->dispatch);
	for (size_t i = 0; i < r->kind_count; i++) {
		summary_ids_fini(&r->kinds[i].groups);
		summary_ids_fini(&r->kinds[i].launches);
		free(r->kinds[i].name);
	}
	free(r);
	return error;
}
