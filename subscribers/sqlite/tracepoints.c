/* SPDX-License-Identifier: MIT */
/*
 * tracepoints.c: rtl_tracepoint and rtl_tracepoint_metadata. A tracepoint gets its row with the
 * first event that refers to it, and once more when its process ends.
 */
#include "sub.h"
#include "tables_rtl.h"

#include <stdlib.h>
#include <string.h>

#include "demangle.h"

/* What map_get tells of a tracepoint in process->uids. */
#define HAS_ROW       1u
#define HAS_DEMANGLED 2u /* and its readable name has one */

bool tracepoints_init(struct sub *sub)
{
	struct writer *w = &sub->writer;

	return rows_init(&sub->tracepoint, w, "INSERT OR REPLACE", &table_rtl_tracepoint) &&
	       rows_init(&sub->metadata, w, "INSERT OR REPLACE", &table_rtl_tracepoint_metadata);
}

/* First: the host keeps metadata valid until the next call only. */
static void write_metadata(struct sub *sub, uint32_t process, const struct rtl_tracepoint *tp)
{
	for (uint32_t i = 0; i < tp->metadata_count; i++) {
		const struct rtl_metadata *metadata = rtl_tracepoint_metadata(tp, i);

		table_add_rtl_tracepoint_metadata(&sub->metadata,
						  &(struct row_rtl_tracepoint_metadata){
							  .process = process,
							  .uid = (int64_t)tp->uid,
							  .key = metadata->key,
							  .value = metadata->value,
						  });
	}
}

static void write_row(struct sub *sub, uint32_t process, const struct rtl_tracepoint *tp)
{
	table_add_rtl_tracepoint(&sub->tracepoint,
				 &(struct row_rtl_tracepoint){
					 .process = process,
					 .uid = (int64_t)tp->uid,
					 .kind = tp->kind,
					 .name = tp->name,
					 .source = tp->source,
					 .line = tp->line,
					 .column = tp->column,
					 .module = tp->module,
					 .module_offset = (int64_t)tp->module_offset,
					 .hash = (int64_t)tp->hash,
				 });
}

/* The readable name of a kernel, as if its publisher had said it. */
static void write_demangled(struct sub *sub, uint32_t process, const struct rtl_tracepoint *tp)
{
	char *text = tp->name ? demangle(tp->name) : NULL;

	if (text)
		table_add_rtl_tracepoint_metadata(&sub->metadata,
						  &(struct row_rtl_tracepoint_metadata){
							  .process = process,
							  .uid = (int64_t)tp->uid,
							  .key = "demangled",
							  .value = text,
						  });
	free(text);
}

/* NULL: the host does not know it. */
static const struct rtl_tracepoint *write_known(struct sub *sub, struct process *process,
						uint64_t uid)
{
	const struct rtl_tracepoint *tp = sub->host->tracepoint(sub->host, process->info, uid);

	if (!tp)
		return NULL;
	write_metadata(sub, process->number, tp);
	write_row(sub, process->number, tp);
	return tp;
}

void tracepoints_write(struct sub *sub, struct process *process, uint64_t uid)
{
	const struct rtl_tracepoint *tp;
	uint64_t has;

	if (!uid)
		return;
	has = map_get(&process->uids, uid) | HAS_ROW;
	tp = write_known(sub, process, uid);
	if (tp && tp->kind && !strcmp(tp->kind, "kernel") && !(has & HAS_DEMANGLED) &&
	    !rtl_tracepoint_value(tp, "demangled")) {
		write_demangled(sub, process->number, tp);
		has |= HAS_DEMANGLED;
	}
	if (!map_set(&process->uids, uid, has))
		writer_error(&sub->writer, SQLITE_NOMEM, "tracepoint");
}

void tracepoints_resume(struct sub *sub, struct process *process)
{
	struct writer *w = &sub->writer;
	sqlite3_stmt *question =
		writer_ask(w, "SELECT uid FROM rtl_tracepoint WHERE process = %u", process->number);

	while (writer_next(w, question))
		if (!map_set(&process->uids, (uint64_t)sqlite3_column_int64(question, 0), HAS_ROW))
			writer_error(w, SQLITE_NOMEM, "tracepoint");
}

void tracepoints_refresh(struct sub *sub, struct process *process)
{
	for (size_t i = 0; i < process->uids.hash.capacity; i++)
		if (map_at(&process->uids, i)->value)
			write_known(sub, process, map_at(&process->uids, i)->key);
}

const char *tracepoints_metadata(struct sub *sub, const struct rtl_process *process, uint64_t uid,
				 const char *key)
{
	return uid ? rtl_tracepoint_value(sub->host->tracepoint(sub->host, process, uid), key)
		   : NULL;
}

int64_t tracepoints_kernel_name(struct sub *sub, const struct rtl_process *process, uint64_t uid,
				uint64_t string)
{
	const struct rtl_tracepoint *tp = NULL;
	const char *name;
	char *readable;
	int64_t id;

	if (uid)
		tp = sub->host->tracepoint(sub->host, process, uid);
	name = rtl_tracepoint_value(tp, "demangled");
	if (!name || !*name)
		name = tp ? tp->name : NULL;
	if (!name || !*name)
		name = sub->host->string(sub->host, process, string);
	if (!name || !*name)
		name = "(unknown kernel)";
	readable = demangle(name);
	names_ustring(&sub->names, readable ? readable : name);
	id = names_string(&sub->names, readable ? readable : name);
	free(readable);
	return id;
}
