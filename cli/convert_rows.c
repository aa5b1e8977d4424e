/* SPDX-License-Identifier: MIT */
/* See convert_rows.h. */
#include "convert_rows.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "database.h"

#define BYTES_A_ROW 300u /* for the bar */

int convert_rows_refuse(const struct convert_rows *rows)
{
	return cli_failed("%s: %s", rows->path, sqlite3_errmsg(rows->db));
}

int convert_rows_failed(const struct convert_rows *rows, const struct part *part)
{
	const int error = sqlite3_errcode(rows->db) & 0xff;

	if (error == SQLITE_FULL || error == SQLITE_IOERR || error == SQLITE_CANTOPEN) {
		const int why = sqlite3_system_errno(rows->db);

		return part_failed(part, error == SQLITE_FULL || !why ? ENOSPC : why);
	}
	return convert_rows_refuse(rows);
}

bool convert_rows_missing(const struct convert_rows *rows)
{
	return strncmp(sqlite3_errmsg(rows->db), "no such table", 13) == 0;
}

int convert_rows_run(struct convert_rows *rows, const char *sql)
{
	if (sqlite3_exec(rows->db, sql, NULL, NULL, NULL) == SQLITE_OK ||
	    convert_rows_missing(rows))
		return CLI_OK;
	return convert_rows_refuse(rows);
}

int64_t convert_rows_number(struct convert_rows *rows, const char *sql)
{
	sqlite3_stmt *question = NULL;
	int64_t number = 0;

	if (sqlite3_prepare_v2(rows->db, sql, -1, &question, NULL) == SQLITE_OK &&
	    sqlite3_step(question) == SQLITE_ROW)
		number = sqlite3_column_int64(question, 0);
	sqlite3_finalize(question);
	return number;
}

void convert_rows_tell(struct convert_rows *rows, uint64_t count)
{
	rows->done += count;
	if (rows->done < rows->all)
		progress_tell(&rows->progress, (rows->all - rows->done) * BYTES_A_ROW);
}

/* ---- what is selected ---- */

/* rtl_matches(pattern, text), as the shell's. */
static void matches(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *pattern = (const char *)sqlite3_value_text(values[0]);
	const char *text = (const char *)sqlite3_value_text(values[1]);

	(void)count;
	sqlite3_result_int(context, fnmatch(pattern ? pattern : "", text ? text : "", 0) == 0);
}

/* rtl_direction(number): what a copy is called. */
static void direction(sqlite3_context *context, int count, sqlite3_value **values)
{
	(void)count;
	sqlite3_result_text(context, work_direction_name((uint32_t)sqlite3_value_int64(values[0])),
			    -1, SQLITE_STATIC);
}

/* rtl_wants_process(pid, program) */
static void wants_process(sqlite3_context *context, int count, sqlite3_value **values)
{
	(void)count;
	sqlite3_result_int(context,
			   convert_wants_process(sqlite3_user_data(context),
						 sqlite3_value_int64(values[0]),
						 (const char *)sqlite3_value_text(values[1])));
}

char *convert_rows_condition(const struct convert_rows *rows, const char *gpu, const char *name,
			     const char *begin, const char *end)
{
	const struct convert_selection *s = rows->selection;
	sqlite3_str *text = sqlite3_str_new(rows->db);

	sqlite3_str_appendall(text, "1");
	if (s->process)
		sqlite3_str_appendall(text, " AND x.process IN (SELECT process FROM c_process)");
	if (s->from_ns)
		sqlite3_str_appendf(text, " AND %s >= %llu", end, rows->first_ns + s->from_ns);
	if (s->to_ns)
		sqlite3_str_appendf(text, " AND %s < %llu", begin, rows->first_ns + s->to_ns);
	if (s->gpu && gpu)
		sqlite3_str_appendf(text, " AND %s = %s", gpu, s->gpu);
	if (s->name)
		sqlite3_str_appendf(text, " AND rtl_matches(%Q, %s)", s->name, name);
	return sqlite3_str_finish(text);
}

/* What a span is called: RPD's tools know the marks of programs by one name, and theirs is the text. */
#define SPAN_NAME "CASE s.string WHEN 'UserMarker' THEN ifnull(u.string, '') ELSE s.string END"

static const struct view {
	const char *name, *columns, *from, *gpu, *shown, *begin, *end;
} views[] = {
	{"c_dispatch",
	 "x.op_id AS id, x.process, x.uid, o.description_id AS name_id, s.string AS name,"
	 " o.start AS begin_ns, o.\"end\" AS end_ns, x.gpu, x.queue, x.tid, x.grid_x, x.grid_y,"
	 " x.grid_z, x.workgroup_x, x.workgroup_y, x.workgroup_z, x.lds_bytes, x.scratch_bytes,"
	 " ifnull(x.stream, 0) AS stream, x.correlation, x.kernel_object",
	 "i.rtl_dispatch AS x JOIN i.rocpd_op AS o ON o.id = x.op_id"
	 " JOIN i.rocpd_string AS s ON s.id = o.description_id",
	 "x.gpu", "s.string", "o.start", "o.\"end\""},
	{"c_copy",
	 "x.id, x.process, rtl_direction(x.direction) AS name, ifnull(x.begin_ns, x.submit_ns) AS"
	 " begin_ns, ifnull(x.end_ns, x.submit_ns) AS end_ns, x.tid, x.bytes, x.src, x.dst,"
	 " x.src_gpu, x.dst_gpu, ifnull(x.stream, 0) AS stream, x.correlation, x.kind, x.direction",
	 "i.rtl_copy AS x", "x.gpu", "rtl_direction(x.direction)",
	 "ifnull(x.begin_ns, x.submit_ns)", "ifnull(x.end_ns, x.submit_ns)"},
	{"c_call",
	 "x.api_id AS id, x.process, x.uid, x.flags IS NOT NULL AS is_hip, a.apiName_id AS"
	 " name_id, s.string AS name, a.start AS begin_ns, a.\"end\" AS end_ns, a.pid, a.tid,"
	 " x.instance, x.correlation, u.string AS args",
	 "i.rtl_call AS x JOIN i.rocpd_api AS a ON a.id = x.api_id"
	 " JOIN i.rocpd_string AS s ON s.id = a.apiName_id"
	 " LEFT JOIN i.rocpd_ustring AS u ON u.id = a.args_id",
	 NULL, "s.string", "a.start", "a.\"end\""},
	{"c_marker",
	 "x.api_id AS id, x.process, x.is_range, x.flags & 2 AS started, u.string AS name,"
	 " a.start AS begin_ns, a.\"end\" AS end_ns, a.pid, a.tid, x.instance",
	 "i.rtl_marker AS x JOIN i.rocpd_api AS a ON a.id = x.api_id"
	 " LEFT JOIN i.rocpd_ustring AS u ON u.id = a.args_id",
	 NULL, "u.string", "a.start", "a.\"end\""},
	{"c_span",
	 "x.api_id AS id, x.process, t.name AS stream, a.apiName_id AS name_id, s.string AS "
	 "name, " SPAN_NAME
	 " AS shown, u.string AS text, a.start AS begin_ns, a.\"end\" AS end_ns, a.tid, x.instance,"
	 " x.correlation",
	 "i.rtl_span AS x JOIN i.rocpd_api AS a ON a.id = x.api_id"
	 " JOIN i.rocpd_string AS s ON s.id = a.apiName_id"
	 " LEFT JOIN i.rocpd_ustring AS u ON u.id = a.args_id"
	 " LEFT JOIN i.rtl_stream AS t ON t.stream = x.stream",
	 NULL, SPAN_NAME, "a.start", "a.\"end\""},
	{"c_counter", "x.id, d.process, d.id AS op_id, d.gpu, x.name_id, n.string AS name, x.value",
	 "i.rocpd_counter AS x JOIN c_dispatch AS d ON d.id = x.op_id JOIN i.rocpd_string AS n ON"
	 " n.id = x.name_id",
	 NULL, NULL, NULL, NULL},
	{"c_interval",
	 "x.rowid AS id, x.process, p.pid, x.gpu, n.string AS name, x.value, x.begin_ns, x.end_ns",
	 "i.rtl_counter_interval AS x JOIN i.rocpd_string AS n ON n.id = x.name_id"
	 " JOIN c_process AS p ON p.process = x.process",
	 "x.gpu", "n.string", "x.begin_ns", "x.end_ns"},
	{"c_mem",
	 "x.id, x.process, x.is_release, x.begin_ns, x.end_ns, x.tid, x.node, x.flags & 1 AS"
	 " on_gpu, x.kind IN (3, 4) AS is_virtual, x.bytes, x.address, x.correlation",
	 "i.rtl_mem AS x", NULL, "x.function", "x.begin_ns", "x.end_ns"},
};

static int add_views(struct convert_rows *rows)
{
	int status = CLI_OK;

	rows->first_ns =
		(uint64_t)convert_rows_number(rows, "SELECT min(start_ns) FROM i.rtl_process");

	for (size_t i = 0; !status && i < sizeof(views) / sizeof(*views); i++) {
		const struct view *v = &views[i];
		/* what is of another view is selected there */
		char *where =
			v->begin ? convert_rows_condition(rows, v->gpu, v->shown, v->begin, v->end)
				 : sqlite3_mprintf("1");
		char *sql =
			where ? sqlite3_mprintf("CREATE TEMP VIEW %s AS SELECT %s FROM %s WHERE %s",
						v->name, v->columns, v->from, where)
			      : NULL;

		status = sql ? convert_rows_run(rows, sql) : cli_failed("out of memory");
		sqlite3_free(where);
		sqlite3_free(sql);
	}
	return status;
}

bool convert_rows_are_none(struct convert_rows *rows)
{
	char sql[64];

	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
		snprintf(sql, sizeof(sql), "SELECT 1 FROM %s LIMIT 1", views[i].name);
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

static int check_gpu(const char *gpu, struct convert_rows *rows)
{
	return gpu && !convert_has_gpu(rows->db, gpu) ? convert_refuse_gpu(gpu) : CLI_OK;
}

static int add_processes(struct convert_rows *rows)
{
	const char *wanted = rows->selection->process;
	const int status = convert_rows_run(
		rows, "CREATE TEMP TABLE c_process AS SELECT process, pid, parent_pid, start_ns,"
		      " ifnull(end_ns, start_ns) AS end_ns, program, command, host_name FROM"
		      " i.rtl_process WHERE rtl_wants_process(pid, program) ORDER BY process");

	if (!status && wanted && !convert_rows_number(rows, "SELECT count(*) FROM c_process"))
		return cli_failed("--process %s: there is none with that pid or program; `rtl "
				  "info` lists them",
				  wanted);
	return status;
}

/* ---- the trace ---- */

/* A path in a URI, to be freed. */
static char *uri_of(const char *path)
{
	sqlite3_str *uri = sqlite3_str_new(NULL);

	sqlite3_str_appendall(uri, "file:");
	for (; *path; path++)
		if (strchr("?#%", *path))
			sqlite3_str_appendf(uri, "%%%02X", (unsigned)(unsigned char)*path);
		else
			sqlite3_str_appendchar(uri, 1, *path);
	sqlite3_str_appendall(uri, "?mode=ro");
	return sqlite3_str_finish(uri);
}

static int attach(struct convert_rows *rows)
{
	char *uri = uri_of(rows->path);
	char *sql = uri ? sqlite3_mprintf("ATTACH %Q AS i", uri) : NULL;
	int status = sql ? CLI_OK : cli_failed("out of memory");

	if (sql && sqlite3_exec(rows->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		status = convert_rows_refuse(rows);
	sqlite3_free(sql);
	sqlite3_free(uri);
	if (!status &&
	    sqlite3_exec(rows->db, "SELECT 1 FROM i.rtl_process", NULL, NULL, NULL) != SQLITE_OK)
		status = convert_refuse_foreign(rows->path);
	return status;
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
	sqlite3_create_function(rows->db, "rtl_matches", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
				NULL, matches, NULL, NULL);
	sqlite3_create_function(rows->db, "rtl_direction", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
				NULL, direction, NULL, NULL);
	sqlite3_create_function(rows->db, "rtl_wants_process", 2, SQLITE_UTF8,
				(void *)(size_t)selection, wants_process, NULL, NULL);
	status = attach(rows);
	if (!status)
		status = convert_rows_run(rows, "PRAGMA temp_store = MEMORY");
	if (!status)
		status = add_processes(rows);
	if (!status)
		status = add_views(rows);
	if (!status)
		status = check_gpu(selection->gpu, rows);
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

/* ---- what is in the views ---- */

/* One pass over the dispatches tells of all that they refer to, a range at a time: a sorter would
 * keep all of them. */
static const char seen[] =
	"CREATE TEMP TABLE c_seen (process, uid, name_id, gpu, queue, stream, tid, object, kernels,"
	" PRIMARY KEY (process, uid, name_id, gpu, queue, stream, tid))";
static const char see[] =
	"INSERT INTO c_seen SELECT process, uid, name_id, gpu, queue, stream, tid,"
	" max(kernel_object), count(*) FROM c_dispatch WHERE id BETWEEN ?1 AND ?2"
	" GROUP BY 1, 2, 3, 4, 5, 6, 7 ON CONFLICT DO UPDATE SET kernels = kernels +"
	" excluded.kernels, object = max(object, excluded.object)";

static const char kernels[] =
	"CREATE TEMP TABLE c_kernel AS SELECT row_number() OVER () AS id, s.process, s.uid,"
	" s.name_id, n.string AS name, ifnull(t.name, n.string) AS symbol, m.code,"
	" ifnull(s.object, 0) AS object, ifnull(m.vgprs, 0) AS vgprs, ifnull(m.agprs, 0) AS"
	" agprs, ifnull(m.sgprs, 0) AS sgprs, ifnull(m.lds_bytes, 0) AS lds_bytes,"
	" ifnull(m.scratch_bytes, 0) AS scratch_bytes, ifnull(m.kernarg_bytes, 0) AS"
	" kernarg_bytes FROM (SELECT process, uid, name_id, max(object) AS object FROM c_seen"
	" GROUP BY 1, 2, 3) AS s JOIN i.rocpd_string AS n ON n.id = s.name_id LEFT JOIN"
	" i.rtl_tracepoint AS t ON t.process = s.process AND t.uid = s.uid LEFT JOIN (SELECT"
	" process, uid, max(CASE key WHEN 'code_object' THEN value END) AS code, max(CASE key"
	" WHEN 'vgprs' THEN CAST(value AS INTEGER) END) AS vgprs, max(CASE key WHEN 'agprs' THEN"
	" CAST(value AS INTEGER) END) AS agprs, max(CASE key WHEN 'sgprs' THEN CAST(value AS"
	" INTEGER) END) AS sgprs, max(CASE key WHEN 'group_segment_bytes' THEN CAST(value AS"
	" INTEGER) END) AS lds_bytes, max(CASE key WHEN 'private_segment_bytes' THEN CAST(value"
	" AS INTEGER) END) AS scratch_bytes, max(CASE key WHEN 'kernarg_segment_bytes' THEN"
	" CAST(value AS INTEGER) END) AS kernarg_bytes FROM i.rtl_tracepoint_metadata GROUP BY"
	" process, uid) AS m ON m.process = s.process AND m.uid = s.uid;CREATE UNIQUE INDEX"
	" temp.c_kernel_of ON c_kernel (process, uid, name_id)";

/* Those that the process sees; then those that are referred to only. */
static const char *const agents[] = {
	"CREATE TEMP TABLE c_agent (process, id, is_gpu, place, name, product, uuid, bus_id,"
	" compute_units, wavefront_size, clock_mhz, memory_bytes, PRIMARY KEY (process, id))",
	"INSERT OR IGNORE INTO c_agent SELECT t.process, m.node, 1, 0, t.name, ifnull(m.product,"
	" ''), ifnull(m.uuid, ''), ifnull(m.bus_id, ''), ifnull(m.compute_units, 0),"
	" ifnull(m.wavefront_size, 0), ifnull(m.clock_mhz, 0), ifnull(m.memory_bytes, 0) FROM"
	" i.rtl_tracepoint AS t JOIN c_process AS c USING (process) JOIN (SELECT process, uid,"
	" max(CASE key WHEN 'node' THEN CAST(value AS INTEGER) END) AS node, max(CASE key WHEN"
	" 'product' THEN value END) AS product, max(CASE key WHEN 'uuid' THEN value END) AS uuid,"
	" max(CASE key WHEN 'bus_id' THEN value END) AS bus_id, max(CASE key WHEN 'compute_units'"
	" THEN CAST(value AS INTEGER) END) AS compute_units, max(CASE key WHEN 'wavefront_size'"
	" THEN CAST(value AS INTEGER) END) AS wavefront_size, max(CASE key WHEN 'clock_mhz' THEN"
	" CAST(value AS INTEGER) END) AS clock_mhz, max(CASE key WHEN 'memory_bytes' THEN"
	" CAST(value AS INTEGER) END) AS memory_bytes FROM i.rtl_tracepoint_metadata GROUP BY"
	" process, uid) AS m ON m.process = t.process AND m.uid = t.uid WHERE t.kind = 'agent'"
	" AND m.node IS NOT NULL",
	"INSERT OR IGNORE INTO c_agent SELECT DISTINCT process, gpu, 1, 0, 'gpu', '', '', '', 0,"
	" 0, 0, 0 FROM c_seen",
	"INSERT OR IGNORE INTO c_agent SELECT DISTINCT process, gpu, 1, 0, 'gpu', '', '', '', 0,"
	" 0, 0, 0 FROM (SELECT process, src_gpu AS gpu FROM c_copy UNION SELECT process, dst_gpu"
	" FROM c_copy) WHERE gpu",
	/* Host memory is node 0, unless that is a GPU, as in traces that no machine made. */
	"CREATE TEMP TABLE c_host AS SELECT process, (SELECT CASE WHEN sum(id = 0) THEN max(id)"
	" + 1 ELSE 0 END FROM c_agent AS a WHERE a.process = c.process) AS agent FROM c_process"
	" AS c",
	"UPDATE c_host SET agent = 0 WHERE agent IS NULL",
	"INSERT OR IGNORE INTO c_agent SELECT process, agent, 0, 0, 'CPU', '', '', '', 0, 0, 0,"
	" 0 FROM c_host",
	"INSERT OR IGNORE INTO c_agent SELECT DISTINCT process, node, on_gpu, 0, CASE WHEN"
	" on_gpu THEN 'gpu' ELSE 'CPU' END, '', '', '', 0, 0, 0, 0 FROM c_mem",
	"UPDATE c_agent SET place = (SELECT count(*) FROM c_agent AS o WHERE o.process ="
	" c_agent.process AND o.is_gpu = c_agent.is_gpu AND o.id < c_agent.id)",
};

static const char *const numbers[] = {
	"CREATE TEMP TABLE c_stream (process, stream, number, PRIMARY KEY (process, stream))",
	"INSERT OR IGNORE INTO c_stream SELECT process, 0, 0 FROM c_process",
	"INSERT OR IGNORE INTO c_stream SELECT DISTINCT process, stream, 0 FROM c_seen",
	"INSERT OR IGNORE INTO c_stream SELECT DISTINCT process, stream, 0 FROM c_copy",
	("UPDATE c_stream SET number = (SELECT count(*) FROM c_stream AS o WHERE o.process ="
	 " c_stream.process AND o.stream AND o.stream <= c_stream.stream) WHERE stream"),
	("CREATE TEMP TABLE c_pmc (id INTEGER PRIMARY KEY, process, gpu, name_id, name, derived,"
	 " unit, block, description, UNIQUE (process, gpu, name_id))"),
	("INSERT OR IGNORE INTO c_pmc (process, gpu, name_id, name, derived, unit, block,"
	 " description) SELECT q.process, q.gpu, q.name_id, n.string, q.derived, u.value, b.value,"
	 " d.value FROM (SELECT DISTINCT process, gpu, name_id, uid, flags & 1 AS derived FROM"
	 " i.rtl_counter) AS q JOIN i.rocpd_string AS n ON n.id = q.name_id LEFT JOIN"
	 " i.rtl_tracepoint_metadata AS u ON u.process = q.process AND u.uid = q.uid AND u.key ="
	 " 'unit' LEFT JOIN i.rtl_tracepoint_metadata AS b ON b.process = q.process AND b.uid ="
	 " q.uid AND b.key = 'block' LEFT JOIN i.rtl_tracepoint_metadata AS d ON d.process ="
	 " q.process AND d.uid = q.uid AND d.key = 'description'"),
	"CREATE TEMP TABLE c_queue (process, queue, PRIMARY KEY (process, queue))",
	"INSERT OR IGNORE INTO c_queue SELECT process, 0 FROM c_process",
	"INSERT OR IGNORE INTO c_queue SELECT DISTINCT process, queue FROM c_seen",
};

static int run_all(struct convert_rows *rows, const char *const *statements, size_t count)
{
	int status = CLI_OK;

	for (size_t i = 0; !status && i < count; i++)
		status = convert_rows_run(rows, statements[i]);
	return status;
}

static int see_dispatches(struct convert_rows *rows)
{
	const int64_t most = convert_rows_number(rows, "SELECT max(id) FROM i.rocpd_op");
	sqlite3_stmt *statement = NULL;
	int status = convert_rows_run(rows, seen);

	if (!status && sqlite3_prepare_v2(rows->db, see, -1, &statement, NULL) != SQLITE_OK)
		return convert_rows_missing(rows) ? CLI_OK : convert_rows_refuse(rows);
	for (int64_t at = 0; !status && at <= most; at += CONVERT_CHUNK) {
		sqlite3_bind_int64(statement, 1, at);
		sqlite3_bind_int64(statement, 2, at + CONVERT_CHUNK - 1);
		if (sqlite3_step(statement) != SQLITE_DONE)
			status = convert_rows_refuse(rows);
		sqlite3_reset(statement);
	}
	sqlite3_finalize(statement);
	return status;
}

int convert_rows_objects(struct convert_rows *rows)
{
	int status = see_dispatches(rows);

	if (!status)
		status = convert_rows_run(rows, kernels);
	if (!status)
		status = run_all(rows, agents, sizeof(agents) / sizeof(*agents));
	return status ? status : run_all(rows, numbers, sizeof(numbers) / sizeof(*numbers));
}
