/* SPDX-License-Identifier: MIT */
/* exact.c: each event once, over the death of hosts. rtl_position has, for each ring of each
 * spool, how far its events are in the database; it is written in the transaction that stores
 * them. A host that recovers is told, and goes on from there; what an earlier host has left in
 * the database is found again here: processes by their spool, streams by their fields (run.c). */
#include "output_writer.h"
#include "sub.h"

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

	if (!info || !info->spool_id)
		return; /* none of its events was given to us */
	cells = rows_add(&sub->position);
	cell_int(&cells[0], (int64_t)info->spool_id);
	cell_int(&cells[1], ring);
	cell_int(&cells[2], (int64_t)position);
}

void exact_positions(struct sub *sub)
{
	if (!sub->writer.failed)
		sub->host->positions(sub->host, write_position, sub);
}

int exact_resume(struct sub *sub, const struct rtl_process *info)
{
	const struct rtl_host *host = sub->host;
	struct writer *w = &sub->writer;
	sqlite3_stmt *question;
	int result = 0;

	if (!sub->continues || !info->spool_id)
		return 0;
	question = writer_ask(w, "SELECT ring, position FROM rtl_position WHERE spool = %lld",
			      (long long)info->spool_id);
	while (writer_next(w, question))
		if (result == 0)
			result = host->resume(host, info,
					      (uint32_t)sqlite3_column_int64(question, 0),
					      (uint64_t)sqlite3_column_int64(question, 1));
	if (result != 0)
		host_say(host, RTL_LEVEL_ERROR,
			 "%s: the host cannot go on where this output ends (error %d): nothing is "
			 "added to it",
			 sub->output.path, result);
	return result;
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
	uint64_t spool = process->info->spool_id;
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
