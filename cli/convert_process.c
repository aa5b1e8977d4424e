/* SPDX-License-Identifier: MIT */
/* convert_process.c: whose rows they are, and what was recorded of them: processes, GPUs, the ledger. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "convert.h"

/* Of a process that is not selected. */
#define LEFT_OUT 1u

bool convert_wants_gpu(const struct convert *convert, uint32_t gpu)
{
	return !convert->selection.gpu || strtoul(convert->selection.gpu, NULL, 10) == gpu;
}

static bool is_there(sqlite3 *db, const char *sql, const char *gpu)
{
	sqlite3_stmt *rows = NULL;
	bool there = false;

	if (sqlite3_prepare_v2(db, sql, -1, &rows, NULL) == SQLITE_OK) {
		sqlite3_bind_int64(rows, 1, (int64_t)strtoul(gpu, NULL, 10));
		there = sqlite3_step(rows) == SQLITE_ROW;
	}
	sqlite3_finalize(rows);
	return there;
}

bool convert_has_gpu(sqlite3 *db, const char *gpu)
{
	return is_there(db,
			"SELECT 1 FROM rtl_tracepoint AS t JOIN rtl_tracepoint_metadata AS m"
			" USING (process, uid) WHERE t.kind = 'agent' AND m.key = 'node' AND"
			" CAST(m.value AS INTEGER) = ?1",
			gpu) ||
	       is_there(db, "SELECT 1 FROM rtl_dispatch WHERE gpu = ?1", gpu) ||
	       is_there(db, "SELECT 1 FROM rtl_copy WHERE gpu = ?1", gpu);
}

int convert_refuse_gpu(const char *gpu)
{
	return cli_failed("--gpu %s: there is none; `rtl info` lists them", gpu);
}

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "";
}

bool convert_wants_process(const struct convert_selection *selection, int64_t pid,
			   const char *program)
{
	const char *wanted = selection->process;
	char number[24];

	snprintf(number, sizeof(number), "%lld", (long long)pid);
	return !wanted || strcmp(wanted, number) == 0 ||
	       fnmatch(wanted, base_name(program), 0) == 0;
}

/* A file for HolisticTraceAnalysis is that of one process, which has used a GPU. */
int convert_find_only_process(struct convert *convert)
{
	static const char columns[][64] = {"SELECT process, pid, program, rank FROM",
					   "SELECT process, pid, program, NULL FROM"};
	unsigned count = 0;

	for (size_t i = 0; i < convert->input_count; i++) {
		sqlite3_stmt *rows = NULL;
		char sql[256];

		/* older traces have no rank */
		for (size_t k = 0; !rows && k < 2; k++) {
			snprintf(sql, sizeof(sql),
				 "%s rtl_process AS p WHERE EXISTS (SELECT 1 FROM rtl_dispatch AS d"
				 " WHERE d.process = p.process)",
				 columns[k]);
			sqlite3_prepare_v2(convert->inputs[i].db, sql, -1, &rows, NULL);
		}
		while (rows && sqlite3_step(rows) == SQLITE_ROW) {
			if (!convert_wants_process(&convert->selection,
						   sqlite3_column_int64(rows, 1),
						   (const char *)sqlite3_column_text(rows, 2)))
				continue;
			count++;
			convert->only_input = &convert->inputs[i];
			convert->only_process = sqlite3_column_int64(rows, 0);
			convert->timeline.rank = (uint32_t)sqlite3_column_int64(rows, 3);
		}
		sqlite3_finalize(rows);
	}
	if (!count)
		return cli_failed("no process that is selected has used a GPU, so there is nothing "
				  "for --format hta; `rtl info` lists them");
	if (count > 1)
		return cli_failed(
			"%u processes have used GPUs, and a file of --format hta is that of "
			"one: choose it with --process",
			count);
	convert->timeline.has_rank = true;
	if (convert->job->has_rank)
		convert->timeline.rank = convert->job->rank;
	return CLI_OK;
}

static bool is_left_out(const struct convert *convert, const struct convert_input *input,
			int64_t process)
{
	return convert->only_input &&
	       (convert->only_input != input || convert->only_process != process);
}

static int add_process(struct convert *convert, struct convert_input *input, sqlite3_stmt *row,
		       uint64_t file)
{
	const int64_t number = sqlite3_column_int64(row, 0), pid = sqlite3_column_int64(row, 1);
	const uint64_t spool = (uint64_t)sqlite3_column_int64(row, 2);
	const char *program = (const char *)sqlite3_column_text(row, 3);
	struct work_process *process = NULL;

	if (!is_left_out(convert, input, number) &&
	    convert_wants_process(&convert->selection, pid, program))
		process = work_process(
			&convert->work, spool ? spool : hash_number(file << 32 | (uint64_t)number),
			(int32_t)pid, program, (const char *)sqlite3_column_text(row, 4));
	if (!map_set(&input->processes, (uint64_t)number,
		     process ? (uint64_t)(uintptr_t)process : LEFT_OUT))
		return cli_failed("out of memory");
	return CLI_OK;
}

struct work_process *convert_find_process(const struct convert_input *input, uint64_t number)
{
	const uint64_t found = map_get(&input->processes, number);

	return found > LEFT_OUT ? (struct work_process *)(uintptr_t)found : NULL;
}

int convert_add_processes(struct convert *convert, struct convert_input *input)
{
	sqlite3_stmt *rows = NULL;
	int status = CLI_OK, result;

	if (sqlite3_prepare_v2(input->db,
			       "SELECT process, pid, spool, program, host_name FROM rtl_process"
			       " ORDER BY process",
			       -1, &rows, NULL) != SQLITE_OK)
		return convert_refuse(input);
	while (!status && (result = sqlite3_step(rows)) == SQLITE_ROW)
		status = add_process(convert, input, rows, (uint64_t)(input - convert->inputs));
	if (!status && result != SQLITE_DONE)
		status = convert_refuse(input);
	sqlite3_finalize(rows);
	return status;
}

/* Without them a GPU has its number alone. */
void convert_name_gpus(struct convert *convert, struct convert_input *input)
{
	static const char sql[] =
		"SELECT t.process, n.value, t.name || ifnull(', ' || p.value, '')"
		" || ifnull(', ' || b.value, '') FROM rtl_tracepoint AS t"
		" JOIN rtl_tracepoint_metadata AS n USING (process, uid)"
		" LEFT JOIN rtl_tracepoint_metadata AS p ON p.process = t.process AND p.uid = t.uid"
		" AND p.key = 'product' AND p.value <> ''"
		" LEFT JOIN rtl_tracepoint_metadata AS b ON b.process = t.process AND b.uid = t.uid"
		" AND b.key = 'bus_id' AND b.value <> '' WHERE t.kind = 'agent' AND n.key = 'node'";
	sqlite3_stmt *rows = NULL;

	if (sqlite3_prepare_v2(input->db, sql, -1, &rows, NULL) != SQLITE_OK)
		return;
	while (sqlite3_step(rows) == SQLITE_ROW) {
		struct work_process *process =
			convert_find_process(input, (uint64_t)sqlite3_column_int64(rows, 0));
		const uint32_t node = (uint32_t)sqlite3_column_int64(rows, 1);
		const char *name = (const char *)sqlite3_column_text(rows, 2);

		if (process && convert_wants_gpu(convert, node))
			work_gpu(&convert->work, process, node, name ? name : "");
	}
	sqlite3_finalize(rows);
}

/* ---- the ledger ---- */

static void add_ledger(struct convert *convert, sqlite3_stmt *row)
{
	struct timeline_ledger *l =
		reallocarray(convert->ledgers, convert->ledger_count + 1, sizeof(*l));

	if (!l)
		return;
	convert->ledgers = l;
	l += convert->ledger_count;
	*l = (struct timeline_ledger){strdup((const char *)sqlite3_column_text(row, 0)),
				      (uint64_t)sqlite3_column_int64(row, 1),
				      (uint64_t)sqlite3_column_int64(row, 2),
				      (uint64_t)sqlite3_column_int64(row, 3),
				      (uint64_t)sqlite3_column_int64(row, 4),
				      (uint64_t)sqlite3_column_int64(row, 5),
				      0};
	convert->ledger_count += l->stream != NULL;
}

/* stream, how many */
static void add_left_out(struct convert *convert, sqlite3_stmt *row)
{
	const char *stream = (const char *)sqlite3_column_text(row, 0);

	for (size_t i = convert->ledger_count; i--;) {
		struct timeline_ledger *l = &convert->ledgers[i];

		if (stream && !strcmp(l->stream, stream)) {
			l->left_out += (uint64_t)sqlite3_column_int64(row, 1);
			return;
		}
	}
}

static void add_loss(struct convert *convert, sqlite3_stmt *row)
{
	struct timeline_loss *l =
		reallocarray(convert->losses, convert->loss_count + 1, sizeof(*l));

	if (!l)
		return;
	convert->losses = l;
	l += convert->loss_count;
	*l = (struct timeline_loss){strdup((const char *)sqlite3_column_text(row, 0)),
				    strdup((const char *)sqlite3_column_text(row, 1)),
				    (uint64_t)sqlite3_column_int64(row, 2)};
	if (l->stream && l->cause) {
		convert->loss_count++;
		return;
	}
	free(l->stream);
	free(l->cause);
}

static void each_row(struct convert *convert, struct convert_input *input, const char *sql,
		     void (*take)(struct convert *convert, sqlite3_stmt *row))
{
	sqlite3_stmt *rows = NULL;

	if (sqlite3_prepare_v2(input->db, sql, -1, &rows, NULL) != SQLITE_OK)
		return;
	while (sqlite3_step(rows) == SQLITE_ROW)
		take(convert, rows);
	sqlite3_finalize(rows);
}

void convert_add_ledgers(struct convert *convert)
{
	for (size_t i = 0; i < convert->input_count; i++) {
		each_row(convert, &convert->inputs[i],
			 "SELECT stream, sum(published), sum(delivered), sum(discarded),"
			 " sum(abandoned), sum(missed) FROM rtl_ledger GROUP BY stream",
			 add_ledger);
		each_row(convert, &convert->inputs[i],
			 "SELECT stream, sum(count) FROM rtl_left_out GROUP BY stream",
			 add_left_out);
		each_row(convert, &convert->inputs[i],
			 "SELECT stream, cause, sum(count) FROM rtl_loss GROUP BY stream, cause",
			 add_loss);
	}
	convert->timeline.ledgers = convert->ledgers;
	convert->timeline.ledger_count = convert->ledger_count;
	convert->timeline.losses = convert->losses;
	convert->timeline.loss_count = convert->loss_count;
}
