/* SPDX-License-Identifier: MIT */
/* tracepoints.c: rtl_string, rtl_tracepoint and rtl_tracepoint_metadata. A tracepoint gets its row with the first event
 * that refers to it, and once more when its process ends. */
#include "sub.h"

#include "demangle.h"

/* Views know the names of tables.sql by their ids; an earlier host's have theirs, too. */
static void learn_strings(struct sub *sub)
{
	struct writer *w = &sub->writer;
	sqlite3_stmt *question = writer_ask(w, "SELECT id, string FROM rtl_string ORDER BY id");
	bool is_new;

	while (writer_next(w, question)) {
		sub->strings.next_id = sqlite3_column_int64(question, 0);
		if (!dictionary_find(&sub->strings, sqlite3_column_text(question, 1),
				     (size_t)sqlite3_column_bytes(question, 1), &is_new))
			writer_error(w, SQLITE_NOMEM, "names");
	}
}

bool tracepoints_init(struct sub *sub)
{
	struct writer *w = &sub->writer;

	learn_strings(sub);
	sub->strings.next_id = writer_ask_int(w, "SELECT max(id) FROM rtl_string") + 1;
	sub->origins.next_id = writer_ask_int(w, "SELECT max(id) FROM rtl_origin") + 1;
	return rows_init(&sub->string, w, "INSERT OR FAIL", "rtl_string", 3) &&
	       rows_init(&sub->origin, w, "INSERT OR FAIL", "rtl_origin", 5) &&
	       rows_init(&sub->tracepoint, w, "INSERT OR REPLACE", "rtl_tracepoint", 12) &&
	       rows_init(&sub->metadata, w, "INSERT OR REPLACE", "rtl_tracepoint_metadata", 6);
}

/* ---- strings ---- */

int64_t string_id(struct sub *sub, const char *text, size_t length)
{
	struct cell *cells;
	bool is_new;
	int64_t id;

	if (!length)
		return STRING_EMPTY;
	id = dictionary_find(&sub->strings, text, length, &is_new);
	if (!id)
		writer_error(&sub->writer, SQLITE_NOMEM, "name");
	if (!is_new)
		return id;
	cells = rows_add(&sub->string);
	cell_int(&cells[0], id);
	cell_text_n(&sub->string, &cells[1], text, length);
	cell_plain(&sub->string, &cells[2], text, length);
	if (cells[2].size == length && memcmp(cells[2].bytes, text, length) == 0)
		cell_null(&cells[2]); /* mostly */
	return id;
}

int64_t string_of_host(struct sub *sub, struct process *process, uint64_t string)
{
	int64_t id = (int64_t)map_get(&process->strings, string);
	const char *text;

	if (id || !string)
		return id;
	text = sub->host->string(sub->host, process->info, string);
	if (!text)
		return STRING_EMPTY; /* it may be known yet */
	id = string_id(sub, text, strlen(text));
	if (!map_set(&process->strings, string, (uint64_t)id))
		writer_error(&sub->writer, SQLITE_NOMEM, "name");
	return id;
}

static int64_t text_id(struct sub *sub, const char *text)
{
	return string_id(sub, text ? text : "", text ? strlen(text) : 0);
}

/* ---- tracepoints ---- */

static void write_pair(struct sub *sub, uint32_t process, uint64_t uid, uint32_t position,
		       const struct rtl_metadata *pair)
{
	struct cell *cells = rows_add(&sub->metadata);

	cell_int(&cells[0], process);
	cell_int(&cells[1], (int64_t)uid);
	cell_text(&sub->metadata, &cells[2], pair->key);
	cell_text(&sub->metadata, &cells[3], pair->value);
	cell_int(&cells[4], pair->kind);
	cell_int(&cells[5], position);
}

/* The readable name of a kernel, as if its publisher had said it, or the name. Texts of metadata are valid
 * until the next call into the host. */
static int64_t write_label(struct sub *sub, uint32_t process, const struct rtl_tracepoint *tp)
{
	const bool is_kernel = tp->kind && !strcmp(tp->kind, "kernel");
	const char *said = is_kernel ? rtl_tracepoint_value(tp, "demangled") : NULL;
	char *made = is_kernel && !said && tp->name ? demangle(tp->name) : NULL;
	const struct rtl_metadata pair = {
		.struct_size = sizeof(pair), .key = "demangled", .value = made};
	const int64_t id = text_id(sub, said ? said : made ? made : tp->name);

	if (made)
		write_pair(sub, process, tp->uid, tp->metadata_count, &pair);
	free(made);
	return id;
}

/* False: the host does not know it. */
static bool write_known(struct sub *sub, struct process *process, uint64_t uid)
{
	const struct rtl_tracepoint *tp = sub->host->tracepoint(sub->host, process->info, uid);
	const char *const texts[] = {tp ? tp->kind : NULL, tp ? tp->name : NULL,
				     tp ? tp->source : NULL};
	struct cell *cells;
	int64_t label, category;

	if (!tp)
		return false;
	for (uint32_t i = 0; i < tp->metadata_count; i++)
		write_pair(sub, process->number, uid, i, rtl_tracepoint_metadata(tp, i));
	label = write_label(sub, process->number, tp);
	category = text_id(sub, rtl_tracepoint_value(tp, "category"));
	cells = rows_add(&sub->tracepoint);
	cell_int(&cells[0], process->number);
	cell_int(&cells[1], (int64_t)uid);
	for (int i = 0; i < 3; i++)
		cell_text(&sub->tracepoint, &cells[2 + i], texts[i]);
	cell_int(&cells[5], tp->line);
	cell_int(&cells[6], tp->column);
	cell_text(&sub->tracepoint, &cells[7], tp->module);
	cell_int(&cells[8], (int64_t)tp->module_offset);
	cell_int(&cells[9], (int64_t)tp->hash);
	cell_int(&cells[10], label);
	cell_int(&cells[11], category);
	return true;
}

void tracepoints_write(struct sub *sub, struct process *process, uint64_t uid)
{
	(void)write_known(sub, process, uid);
	if (!map_set(&process->uids, uid, 1))
		writer_error(&sub->writer, SQLITE_NOMEM, "tracepoint");
}

void tracepoints_resume(struct sub *sub, struct process *process)
{
	struct writer *w = &sub->writer;
	sqlite3_stmt *question =
		writer_ask(w, "SELECT uid FROM rtl_tracepoint WHERE process = %u", process->number);

	while (writer_next(w, question))
		if (!map_set(&process->uids, (uint64_t)sqlite3_column_int64(question, 0), 1))
			writer_error(w, SQLITE_NOMEM, "tracepoint");
}

void tracepoints_refresh(struct sub *sub, struct process *process)
{
	for (size_t i = 0; i < process->uids.hash.capacity; i++)
		if (map_at(&process->uids, i)->value)
			(void)write_known(sub, process, map_at(&process->uids, i)->key);
}
