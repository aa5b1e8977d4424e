/* SPDX-License-Identifier: MIT */
#include "convert_rows.h"

#include <errno.h>
#include <fnmatch.h>

#include "cli.h"
#include "database.h"
#include "embed.h"

EMBED(convert_rows_sql, RTL_CLI "/collect/convert_rows.sql");
EMBED(convert_objects_sql, RTL_CLI "/collect/convert_objects.sql");

/* Rows, by their numbers, for one statement where all would take much memory, or time without news. */
#define CHUNK       32768
#define BYTES_A_ROW 300u /* for the bar */

int convert_rows_refuse(const struct convert_rows *rows)
{
	return cli_failed("%s: %s", rows->path, sqlite3_errmsg(rows->db));
}

int convert_rows_refuse_sql(const struct convert_rows *rows)
{
	return strncmp(sqlite3_errmsg(rows->db), "no such table", 13) == 0
		       ? CLI_OK
		       : convert_rows_refuse(rows);
}

int convert_rows_failed(const struct convert_rows *rows, const struct part *part)
{
	const int error = sqlite3_errcode(rows->db) & 0xff;

	if (part && (error == SQLITE_FULL || error == SQLITE_IOERR || error == SQLITE_CANTOPEN)) {
		const int why = sqlite3_system_errno(rows->db);

		return part_failed(part, error == SQLITE_FULL || !why ? ENOSPC : why);
	}
	return convert_rows_refuse(rows);
}

/* The answer to a question, of a GPU or not; 0: none. */
static int64_t ask(sqlite3 *db, const char *sql, const char *gpu)
{
	sqlite3_stmt *question = NULL;
	int64_t number = 0;

	if (sqlite3_prepare_v2(db, sql, -1, &question, NULL) == SQLITE_OK) {
		if (gpu)
			sqlite3_bind_int64(question, 1, (int64_t)strtoul(gpu, NULL, 10));
		if (sqlite3_step(question) == SQLITE_ROW)
			number = sqlite3_column_int64(question, 0);
	}
	sqlite3_finalize(question);
	return number;
}

int64_t convert_rows_number(struct convert_rows *rows, const char *sql)
{
	return ask(rows->db, sql, NULL);
}

void convert_rows_tell(struct convert_rows *rows, uint64_t count)
{
	rows->done += count;
	if (rows->done < rows->all)
		progress_tell(&rows->progress, (rows->all - rows->done) * BYTES_A_ROW);
}

/* ---- scripts ---- */

static void bind(sqlite3_stmt *statement, const char *name, int64_t value)
{
	const int place = sqlite3_bind_parameter_index(statement, name);

	if (place)
		sqlite3_bind_int64(statement, place, value);
}

/* The columns of `of`, to the parameters of their names. */
static void bind_columns(sqlite3_stmt *statement, sqlite3_stmt *of)
{
	for (int i = 1; of && i <= sqlite3_bind_parameter_count(statement); i++)
		for (int j = 0; j < sqlite3_column_count(of); j++)
			if (!strcmp(sqlite3_bind_parameter_name(statement, i) + 1,
				    sqlite3_column_name(of, j)))
				sqlite3_bind_value(statement, i, sqlite3_column_value(of, j));
}

/* The largest number of a row of any kind. */
static int64_t most_of(struct convert_rows *rows)
{
	static const char *const tables[] = {"rocpd_api", "rocpd_op", "rocpd_counter", "rtl_copy",
					     "rtl_mem"};
	char sql[64];
	int64_t most = rows->most;

	for (size_t i = 0; !rows->most && i < sizeof(tables) / sizeof(*tables); i++) {
		snprintf(sql, sizeof(sql), "SELECT max(id) FROM i.%s", tables[i]);
		const int64_t number = convert_rows_number(rows, sql);

		most = number > most ? number : most;
	}
	return rows->most = most;
}

static int step(struct convert_rows *rows, const struct part *part, sqlite3_stmt *statement,
		const struct convert_taker *taker)
{
	const int before = sqlite3_total_changes(rows->db);
	uint64_t count = 0;
	int status = CLI_OK, result;

	while ((result = sqlite3_step(statement)) == SQLITE_ROW && !status) {
		if (taker)
			status = taker->take(taker->user, statement, count);
		if (++count % CONVERT_TELL_EVERY == 0)
			convert_rows_tell(rows, CONVERT_TELL_EVERY);
	}
	convert_rows_tell(rows, count % CONVERT_TELL_EVERY +
					(uint64_t)(sqlite3_total_changes(rows->db) - before));
	return status || result == SQLITE_DONE ? status : convert_rows_failed(rows, part);
}

/* One statement; a range of rows after the other if it has the parameters :from and :to. */
static int run(struct convert_rows *rows, const struct part *part, sqlite3_stmt *statement,
	       const struct convert_taker *taker)
{
	const bool ranges = sqlite3_bind_parameter_index(statement, ":from") != 0;
	const int64_t most = ranges ? most_of(rows) : 0;
	int status = CLI_OK;

	for (int64_t at = 0; !status && at <= most; at += CHUNK) {
		bind(statement, ":from", at);
		bind(statement, ":to", at + CHUNK - 1);
		status = step(rows, part, statement, taker);
		sqlite3_reset(statement);
	}
	return status;
}

int convert_rows_script(struct convert_rows *rows, const struct part *part, const char *sql,
			sqlite3_stmt *of, const struct convert_taker *taker)
{
	int status = CLI_OK;

	while (!status && *sql) {
		const char *end = strstr(sql, ";\n");
		sqlite3_stmt *statement = NULL;

		end = end ? end + 2 : sql + strlen(sql);
		if (sqlite3_prepare_v2(rows->db, sql, (int)(end - sql), &statement, NULL) ==
		    SQLITE_OK) {
			bind_columns(statement, of);
			status = statement ? run(rows, part, statement, taker) : CLI_OK;
			sqlite3_finalize(statement);
		} else {
			status = convert_rows_refuse_sql(rows);
		}
		sql = end;
	}
	return status;
}

int convert_rows_begin(struct convert_rows *rows, const struct part *part, unsigned application)
{
	char *sql =
		cli_need(sqlite3_mprintf("ATTACH %Q AS o; PRAGMA o.journal_mode = OFF;"
					 "PRAGMA o.synchronous = OFF; PRAGMA o.application_id = %u;"
					 "BEGIN",
					 part->path, application));
	int status = CLI_OK;

	if (sqlite3_exec(rows->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		status = convert_rows_failed(rows, part);
	sqlite3_free(sql);
	return status;
}

/* ---- what is selected ---- */

bool convert_selects(const struct convert_selection *s)
{
	return s->from_ns || s->to_ns || s->process || s->name || s->gpu;
}

struct work_selection convert_select(const struct convert_selection *s, uint64_t first_ns)
{
	return (struct work_selection){
		.from_ns = s->from_ns ? first_ns + s->from_ns : 0,
		.to_ns = s->to_ns ? first_ns + s->to_ns : 0,
		.name = s->name,
		.has_gpu = s->gpu,
		.gpu = s->gpu ? (uint32_t)strtoul(s->gpu, NULL, 10) : 0,
	};
}

int convert_refuse_empty(const struct convert_selection *s)
{
	const struct {
		const char *name;
		bool given;
	} options[] = {{"--from", s->from_ns != 0},
		       {"--to", s->to_ns != 0},
		       {"--process", s->process != NULL},
		       {"--gpu", s->gpu != NULL},
		       {"--name", s->name != NULL}};
	char list[64] = "";

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (options[i].given) {
			strcat(list, *list ? ", " : "");
			strcat(list, options[i].name);
		}
	return cli_failed("nothing is selected by %s, so nothing is written; `rtl summary` shows "
			  "what there is",
			  list);
}

bool convert_has_gpu(sqlite3 *db, const char *gpu)
{
	return ask(db,
		   "SELECT 1 FROM rtl_tracepoint AS t JOIN rtl_tracepoint_metadata AS m"
		   " USING (process, uid) WHERE t.kind = 'agent' AND m.key = 'node' AND"
		   " CAST(m.value AS INTEGER) = ?1",
		   gpu) ||
	       ask(db, "SELECT 1 FROM rtl_dispatch WHERE gpu = ?1", gpu) ||
	       ask(db, "SELECT 1 FROM rtl_copy WHERE gpu = ?1", gpu);
}

int convert_refuse_gpu(const char *gpu)
{
	return cli_failed("--gpu %s: no GPU has that node; `rtl info` lists them", gpu);
}

bool convert_wants_process(const struct convert_selection *selection, int64_t pid,
			   const char *program)
{
	const char *wanted = selection->process;
	char number[24];

	snprintf(number, sizeof(number), "%lld", (long long)pid);
	return !wanted || strcmp(wanted, number) == 0 ||
	       fnmatch(wanted, cli_base_name(cli_text(program)), 0) == 0;
}

int convert_refuse_foreign(const char *path)
{
	return cli_failed(
		"%s: has no tables of rtl's, another tool wrote it; only traces of rtl can "
		"be converted",
		path);
}

/* rtl_all(): whether nothing is left out. */
static void all(sqlite3_context *context, int count, sqlite3_value **values)
{
	const struct convert_rows *rows = sqlite3_user_data(context);

	sqlite3_result_int(context, !convert_selects(rows->selection));
}

/* rtl_selected(name, begin, end[, GPU]), of a process that is. */
static void selected(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct convert_rows *rows = sqlite3_user_data(context);
	const char *name = (const char *)sqlite3_value_text(values[0]);
	const uint32_t gpu = count < 4 ? 0 : (uint32_t)sqlite3_value_int64(values[3]);

	sqlite3_result_int(context,
			   work_fits(&rows->chosen, count < 4 ? NULL : &gpu, name ? name : "",
				     (uint64_t)sqlite3_value_int64(values[1]),
				     (uint64_t)sqlite3_value_int64(values[2])));
}

/* rtl_direction(number): what a copy is called. */
static void direction(sqlite3_context *context, int count, sqlite3_value **values)
{
	sqlite3_result_text(context, work_direction_name((uint32_t)sqlite3_value_int64(values[0])),
			    -1, SQLITE_STATIC);
}

/* rtl_wants_process(pid, program) */
static void wants_process(sqlite3_context *context, int count, sqlite3_value **values)
{
	const struct convert_rows *rows = sqlite3_user_data(context);

	sqlite3_result_int(context,
			   convert_wants_process(rows->selection, sqlite3_value_int64(values[0]),
						 (const char *)sqlite3_value_text(values[1])));
}

bool convert_rows_are_none(struct convert_rows *rows)
{
	static const char *const views[] = {"c_dispatch", "c_copy",    "c_call",     "c_marker",
					    "c_span",     "c_counter", "c_interval", "c_mem"};
	char sql[64];

	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
		snprintf(sql, sizeof(sql), "SELECT 1 FROM %s LIMIT 1", views[i]);
		if (convert_rows_number(rows, sql))
			return false;
	}
	return true;
}

int convert_rows_check(struct convert_rows *rows)
{
	const struct convert_selection *s = rows->selection;

	return convert_selects(s) && convert_rows_are_none(rows) ? convert_refuse_empty(s) : CLI_OK;
}

/* Whether there is what a selection names. */
static int check_names(struct convert_rows *rows)
{
	const struct convert_selection *s = rows->selection;

	if (s->process && !convert_rows_number(rows, "SELECT count(*) FROM c_process"))
		return cli_failed("--process %s: no process has that pid or program; `rtl "
				  "info` lists them",
				  s->process);
	return s->gpu && !convert_has_gpu(rows->db, s->gpu) ? convert_refuse_gpu(s->gpu) : CLI_OK;
}

/* ---- the trace ---- */

static int attach(struct convert_rows *rows)
{
	/* as a URI, in which three characters have a meaning */
	char *sql = cli_need(sqlite3_mprintf(
		"ATTACH 'file:' || replace(replace(replace(%Q, '%%', '%%25'), '?', '%%3F'),"
		" '#', '%%23') || '?mode=ro' AS i",
		rows->path));
	int status = CLI_OK;

	if (sqlite3_exec(rows->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		status = convert_rows_refuse(rows);
	sqlite3_free(sql);
	if (!status &&
	    sqlite3_exec(rows->db, "SELECT 1 FROM i.rtl_process", NULL, NULL, NULL) != SQLITE_OK)
		status = convert_refuse_foreign(rows->path);
	return status;
}

void convert_rows_function(struct convert_rows *rows, const char *name, int arguments,
			   void (*function)(sqlite3_context *, int, sqlite3_value **))
{
	sqlite3_create_function(rows->db, name, arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC, rows,
				function, NULL, NULL);
}

int convert_rows_open(struct convert_rows *rows, const char *path,
		      const struct convert_selection *selection)
{
	struct database *database = database_open(path, false);
	int status;

	*rows = (struct convert_rows){.path = path, .selection = selection};
	if (!database)
		return CLI_FAILED;
	status = database_refuse_unfinished(database, selection->unfinished);
	database_close(database);
	if (status)
		return status;
	if (sqlite3_open_v2(":memory:", &rows->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI |
				    SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		return convert_rows_refuse(rows);
	convert_rows_function(rows, "rtl_all", 0, all);
	convert_rows_function(rows, "rtl_selected", -1, selected);
	convert_rows_function(rows, "rtl_direction", 1, direction);
	convert_rows_function(rows, "rtl_wants_process", 2, wants_process);
	status = attach(rows);
	rows->chosen = convert_select(
		selection,
		(uint64_t)convert_rows_number(rows, "SELECT min(start_ns) FROM i.rtl_process"));
	if (!status)
		status = convert_rows_script(rows, NULL, convert_rows_sql, NULL, NULL);
	if (!status)
		status = check_names(rows);
	progress_init(&rows->progress, "converting", false);
	rows->progress.stops = "Ctrl-C stops";
	rows->all = (uint64_t)convert_rows_number(
		rows, "SELECT (SELECT ifnull(max(id), 0) FROM i.rocpd_api) +"
		      " (SELECT ifnull(max(id), 0) FROM i.rocpd_op)");
	return status;
}

void convert_rows_close(struct convert_rows *rows)
{
	progress_clear(&rows->progress);
	sqlite3_close(rows->db);
	rows->db = NULL;
}

int convert_rows_objects(struct convert_rows *rows)
{
	return convert_rows_script(rows, NULL, convert_objects_sql, NULL, NULL);
}
