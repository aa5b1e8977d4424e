/* SPDX-License-Identifier: MIT */
/*
 * exact.c: each event once, over the death of hosts. rtl_position has, for each ring of each
 * spool, how far its events are in the database; it is written in the transaction that stores
 * them. A host that recovers is told, and goes on from there; what an earlier host has left in
 * the database is found again here: processes by their spool, streams by their fields.
 */
#include "output_look.h"
#include "output_writer.h"
#include "sub.h"

#include <stdio.h>
#include <string.h>

bool exact_init(struct sub *sub)
{
	return rows_init(&sub->position, &sub->writer, "INSERT OR REPLACE", "rtl_position", 3);
}

/* Positions. */

static void write_position(void *user, const struct rtl_process *info, uint32_t ring,
			   uint64_t position)
{
	struct sub *sub = user;
	struct cell *cells;

	if (!info || !process_spool(info))
		return; /* none of its events was given to us */
	cells = rows_add(&sub->position);
	cell_int(&cells[0], (int64_t)process_spool(info));
	cell_int(&cells[1], ring);
	cell_int(&cells[2], (int64_t)position);
}

void exact_positions(struct sub *sub)
{
	if (sub->exact && !sub->writer.failed)
		sub->host->positions(sub->host, write_position, sub);
}

static int cannot_resume(struct sub *sub, int result)
{
	host_say(sub->host, RTL_LEVEL_ERROR,
		 "%s: the host cannot go on where this output ends (error %d): nothing is added to "
		 "it",
		 sub->output.path, result);
	return result;
}

int exact_resume(struct sub *sub, const struct rtl_process *info)
{
	const struct rtl_host *host = sub->host;
	struct writer *w = &sub->writer;
	sqlite3_stmt *question;
	int result = 0;

	if (!sub->continues || !process_spool(info))
		return 0;
	question = writer_ask(w, "SELECT ring, position FROM rtl_position WHERE spool = %lld",
			      (long long)process_spool(info));
	while (writer_next(w, question))
		if (result == 0)
			result = host->resume(host, info,
					      (uint32_t)sqlite3_column_int64(question, 0),
					      (uint64_t)sqlite3_column_int64(question, 1));
	return result == 0 ? 0 : cannot_resume(sub, result);
}

/* What is there. */

void exact_take_over(struct sub *sub)
{
	struct writer *w = &sub->writer;
	char self[768];

	output_writer(self, sizeof(self));
	writer_execf(w, "INSERT OR REPLACE INTO rtl_meta VALUES ('%s', %Q), ('state', 'writing')",
		     OUTPUT_WRITER_KEY, self);
	sub->settings.gpu_index = writer_ask_int(
		w, "SELECT count(*) FROM rtl_meta WHERE key = 'gpu' AND value = 'index'");
	writer_exec(w, "INSERT OR REPLACE INTO rtl_meta SELECT 'recovered',"
		       " ifnull((SELECT value FROM rtl_meta WHERE key = 'recovered'), 0) + 1");
}

uint32_t exact_find_process(struct sub *sub, struct process *process)
{
	struct writer *w = &sub->writer;
	uint64_t spool = process_spool(process->info);
	sqlite3_stmt *question;
	uint32_t number = 0;

	if (!spool)
		return 0;
	question = writer_ask(
		w, "SELECT process, first_ns, last_ns FROM rtl_process WHERE spool = %lld",
		(long long)spool);
	while (writer_next(w, question)) {
		number = (uint32_t)sqlite3_column_int64(question, 0);
		process->first_ns = (uint64_t)sqlite3_column_int64(question, 1);
		process->last_ns = (uint64_t)sqlite3_column_int64(question, 2);
	}
	return number;
}

/* How many of the type's fields stand in rtl_field as they are. */
static int64_t same_fields(struct sub *sub, int64_t stream, const struct rtl_type_info *type)
{
	struct writer *w = &sub->writer;
	int64_t same = 0;

	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct rtl_field *f = rtl_type_field(type, i);
		sqlite3_stmt *question =
			writer_ask(w,
				   "SELECT 1 FROM rtl_field WHERE stream = %lld AND type = %u AND"
				   " position = %u AND name = %Q AND kind = %Q AND offset = %u AND"
				   " size_bytes = %u",
				   (long long)stream, type->type, i, f->name ? f->name : "",
				   run_kind_name(f->kind), f->offset, f->size);

		while (writer_next(w, question))
			same++;
	}
	return same;
}

/* Whether a stream in the database has the types and fields of this one, and no others. */
static bool same_layout(struct sub *sub, int64_t stream, const struct rtl_stream_info *info)
{
	struct writer *w = &sub->writer;
	int64_t fields = 0, same = 0;
	char sql[256];

	for (uint32_t i = 0; i < info->type_count; i++) {
		const struct rtl_type_info *type = rtl_stream_type(info, i);

		fields += type->field_count;
		same += same_fields(sub, stream, type);
		snprintf(sql, sizeof(sql),
			 "SELECT count(*) FROM rtl_type WHERE stream = %lld AND type = %u AND"
			 " payload_bytes = %u",
			 (long long)stream, type->type, type->payload_size);
		if (writer_ask_int(w, sql) != 1)
			return false;
	}
	snprintf(sql, sizeof(sql),
		 "SELECT (SELECT count(*) FROM rtl_type WHERE stream = %lld) = %u AND"
		 " (SELECT count(*) FROM rtl_field WHERE stream = %lld) = %lld",
		 (long long)stream, info->type_count, (long long)stream, (long long)fields);
	return same == fields && writer_ask_int(w, sql) == 1;
}

int64_t exact_find_stream(struct sub *sub, const struct rtl_stream_info *info)
{
	struct writer *w = &sub->writer;
	int64_t found = 0;
	sqlite3_stmt *question =
		writer_ask(w,
			   "SELECT stream FROM rtl_stream WHERE name = %Q AND version_major = %u"
			   " AND version_minor = %u",
			   info->name ? info->name : "", info->version_major, info->version_minor);

	while (writer_next(w, question)) {
		int64_t stream = sqlite3_column_int64(question, 0);

		if (!found && same_layout(sub, stream, info))
			found = stream;
	}
	return found;
}
