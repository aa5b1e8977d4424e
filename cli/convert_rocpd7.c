/* SPDX-License-Identifier: MIT */
/*
 * convert_rocpd7.c: the rocpd schema of ROCm 7, which its tools read and merge: for each process a
 * set of tables, filled by SQL of what is selected (convert_rows.h), and views of all sets.
 *
 * Numbers within a process: agents are KFD nodes, threads and the process have the numbers that the
 * system gave them, regions and dispatches those of the trace. Events are numbered by kind: calls
 * and ranges as their regions; dispatches, copies and memory behind them.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "convert.h"
#include "convert_args.h"
#include "convert_rocpd7_schema.h"
#include "convert_rows.h"
#include "hash.h"

#define APPLICATION_ID 0x72746c37u

struct rocpd7 {
	struct convert_rows rows;
	const struct part *part;
	struct rocpd7_id *ids;
	unsigned count;
	/* The process that is written: its number in the trace, its pid. */
	int64_t process, pid, node;
	int64_t ops, copies, mems; /* what its events' numbers begin behind */
};

/* ---- statements ---- */

static int refuse(const struct rocpd7 *out)
{
	return convert_rows_failed(&out->rows, out->part);
}

static int run(struct rocpd7 *out, const char *sql)
{
	if (sql && sqlite3_exec(out->rows.db, sql, NULL, NULL, NULL) == SQLITE_OK)
		return CLI_OK;
	return sql ? refuse(out) : cli_failed("out of memory");
}

/* Runs SQL that is freed then. */
static int run_made(struct rocpd7 *out, char *sql)
{
	const int status = run(out, sql);

	sqlite3_free(sql);
	return status;
}

static void bind(sqlite3_stmt *statement, const char *name, int64_t value)
{
	const int place = sqlite3_bind_parameter_index(statement, name);

	if (place)
		sqlite3_bind_int64(statement, place, value);
}

/* *statement is NULL if the trace does not have what it reads. CLI_OK, or CLI_FAILED after a line. */
static int prepare(struct rocpd7 *out, const char *text, sqlite3_stmt **statement)
{
	char *sql = rocpd7_sql(&out->ids[out->count], text);
	const int result =
		sql ? sqlite3_prepare_v2(out->rows.db, sql, -1, statement, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	if (result != SQLITE_OK) {
		*statement = NULL;
		return convert_rows_missing(&out->rows) ? CLI_OK : refuse(out);
	}
	bind(*statement, ":process", out->process);
	bind(*statement, ":pid", out->pid);
	bind(*statement, ":node", out->node);
	bind(*statement, ":ops", out->ops);
	bind(*statement, ":copies", out->copies);
	bind(*statement, ":mems", out->mems);
	return CLI_OK;
}

/* A statement that adds rows, by ranges of their numbers in the trace if `most` is more than 0. */
static int fill(struct rocpd7 *out, const char *text, int64_t most)
{
	sqlite3_stmt *statement;
	int status = prepare(out, text, &statement);

	for (int64_t at = 0; !status && statement && at <= most; at += CONVERT_CHUNK) {
		bind(statement, ":from", at);
		bind(statement, ":to", at + CONVERT_CHUNK - 1);
		if (sqlite3_step(statement) != SQLITE_DONE)
			status = refuse(out);
		sqlite3_reset(statement);
		if (most)
			convert_rows_tell(&out->rows, (uint64_t)sqlite3_changes(out->rows.db));
	}
	sqlite3_finalize(statement);
	return status;
}

/* ---- what there is ---- */

static const char *const objects[] = {
	"INSERT INTO @string (id, string) SELECT id, string FROM i.rocpd_string",
	"INSERT OR IGNORE INTO @string (string) VALUES (''), ('KERNEL_DISPATCH'),"
	" ('MEMORY_COPY'), ('MEMORY_ALLOCATION'), ('HIP_RUNTIME_API_EXT'), ('HSA_CORE_API'),"
	" ('MARKER_CORE_RANGE_API'), ('roctxThreadRangeA'), ('roctxProcessRangeA')",
	"INSERT OR IGNORE INTO @string (string) SELECT rtl_direction(column1) FROM (VALUES (0),"
	" (1), (2), (3), (4), (5))",
	"INSERT OR IGNORE INTO @string (string) SELECT name FROM i.rtl_stream",
	"INSERT INTO @info_process (id, nid, ppid, pid, init, fini, start, \"end\", command)"
	" SELECT pid, :node, parent_pid, pid, start_ns, end_ns, start_ns, end_ns, command FROM"
	" c_process WHERE process = :process",
	"INSERT INTO @info_agent (id, nid, pid, type, absolute_index, logical_index, type_index,"
	" name, model_name, vendor_name, product_name, user_name) SELECT id, :node, :pid, CASE"
	" WHEN is_gpu THEN 'GPU' ELSE 'CPU' END, id, row_number() OVER (ORDER BY id) - 1, place,"
	" name, '', CASE WHEN is_gpu THEN 'AMD' ELSE 'CPU' END, product, product FROM c_agent"
	" WHERE process = :process",
	"INSERT INTO @info_pmc (id, nid, pid, agent_id, target_arch, name, symbol, description, "
	"component,"
	" units, value_type, block, expression, is_constant, is_derived) SELECT id, :node, :pid, "
	"gpu,"
	" 'GPU', name, name, ifnull(description, ''), 'rocm', ifnull(unit, ''), 'ABS',"
	" ifnull(block, ''), '', 0, derived FROM c_pmc WHERE process = :process",
	"INSERT INTO @info_queue (id, nid, pid, name) SELECT queue, :node, :pid, CASE queue WHEN"
	" 0 THEN 'Default Queue' ELSE 'Queue ' || queue END FROM c_queue WHERE process = :process",
	"INSERT INTO @info_stream (id, nid, pid, name, extdata) SELECT number, :node, :pid, CASE"
	" number WHEN 0 THEN 'Default Stream' ELSE 'Stream ' || number END, json_object('handle',"
	" printf('0x%x', stream)) FROM c_stream WHERE process = :process",
	"INSERT INTO @info_code_object (id, nid, pid, agent_id, uri, storage_type) SELECT"
	" min(k.id), :node, :pid, min(s.gpu), ifnull(k.code, ''), 'MEMORY' FROM c_kernel AS k"
	" JOIN c_seen AS s USING (process, uid, name_id) WHERE k.process = :process GROUP BY"
	" k.code",
	"INSERT INTO @info_kernel_symbol (id, nid, pid, code_object_id, kernel_name,"
	" display_name, kernel_object, kernarg_segment_size, kernarg_segment_alignment,"
	" group_segment_size, private_segment_size, sgpr_count, arch_vgpr_count,"
	" accum_vgpr_count, extdata) SELECT id, :node, :pid, (SELECT min(o.id) FROM c_kernel AS o"
	" WHERE o.process = k.process AND o.code IS k.code), symbol, name, object, kernarg_bytes,"
	" 0, lds_bytes, scratch_bytes, sgprs, vgprs, agprs, json_object('size', 0, 'kernel_id',"
	" id, 'kernel_code_entry_byte_offset', 0, 'formatted_kernel_name', name,"
	" 'demangled_kernel_name', name, 'truncated_kernel_name', name, 'kernel_address',"
	" json_object('handle', 0)) FROM c_kernel AS k WHERE process = :process",
};

static const char *const of_calls[] = {
	"INSERT INTO @region (id, nid, pid, tid, start, \"end\", name_id, event_id) SELECT x.id,"
	" :node, :pid, x.tid, x.begin_ns, x.end_ns, x.name_id, x.id FROM c_call AS x WHERE"
	" x.process = :process AND x.id BETWEEN :from AND :to",
	"INSERT INTO @event (id, category_id, stack_id, parent_stack_id, correlation_id) SELECT"
	" x.id, CASE WHEN x.is_hip THEN (SELECT id FROM @string WHERE string ="
	" 'HIP_RUNTIME_API_EXT') ELSE (SELECT id FROM @string WHERE string = 'HSA_CORE_API') END,"
	" x.instance, CASE WHEN x.is_hip THEN 0 ELSE x.correlation END, 0 FROM c_call AS x WHERE"
	" x.process = :process AND x.id BETWEEN :from AND :to",
	/* A range is a region, a mark a sample of a track of its thread. */
	"INSERT INTO @region (id, nid, pid, tid, start, \"end\", name_id, event_id) SELECT x.id,"
	" :node, :pid, x.tid, x.begin_ns, x.end_ns, CASE WHEN x.started THEN (SELECT id FROM"
	" @string WHERE string = 'roctxProcessRangeA') ELSE (SELECT id FROM @string WHERE string"
	" = 'roctxThreadRangeA') END, x.id FROM c_marker AS x WHERE x.is_range AND x.process ="
	" :process AND x.id BETWEEN :from AND :to",
	"INSERT OR IGNORE INTO @track (id, nid, pid, tid, name_id) SELECT DISTINCT x.tid, :node,"
	" :pid, x.tid, (SELECT id FROM @string WHERE string = 'MARKER_CORE_RANGE_API') FROM"
	" c_marker AS x WHERE NOT x.is_range AND x.process = :process AND x.id BETWEEN :from AND"
	" :to",
	"INSERT INTO @sample (id, track_id, timestamp, event_id) SELECT x.id, x.tid, x.begin_ns,"
	" x.id FROM c_marker AS x WHERE NOT x.is_range AND x.process = :process AND x.id BETWEEN"
	" :from AND :to",
	"INSERT INTO @event (id, category_id, stack_id, parent_stack_id, correlation_id,"
	" extdata) SELECT x.id, (SELECT id FROM @string WHERE string = 'MARKER_CORE_RANGE_API'),"
	" x.instance, 0, 0, json_object('message', ifnull(x.name, '')) FROM c_marker AS x WHERE"
	" x.process = :process AND x.id BETWEEN :from AND :to",
	"INSERT INTO @region (id, nid, pid, tid, start, \"end\", name_id, event_id) SELECT x.id,"
	" :node, :pid, x.tid, x.begin_ns, x.end_ns, x.name_id, x.id FROM c_span AS x WHERE"
	" x.process = :process AND x.id BETWEEN :from AND :to",
	"INSERT INTO @event (id, category_id, stack_id, parent_stack_id, correlation_id,"
	" extdata) SELECT x.id, (SELECT id FROM @string WHERE string = ifnull(x.stream, '')),"
	" x.instance, 0, 0, CASE ifnull(x.text, '') WHEN '' THEN '{}' ELSE json_object('message',"
	" x.text) END FROM c_span AS x WHERE x.process = :process AND x.id BETWEEN :from AND :to",
};

static const char *const of_dispatches[] = {
	"INSERT INTO @kernel_dispatch (id, nid, pid, tid, agent_id, kernel_id, dispatch_id,"
	" queue_id, stream_id, start, \"end\", private_segment_size, group_segment_size,"
	" workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y,"
	" grid_size_z, region_name_id, event_id) SELECT x.id, :node, :pid, x.tid, x.gpu, k.id,"
	" x.id, x.queue, s.number, x.begin_ns, x.end_ns, x.scratch_bytes, x.lds_bytes,"
	" x.workgroup_x, x.workgroup_y, x.workgroup_z, x.grid_x, x.grid_y, x.grid_z, (SELECT id"
	" FROM @string WHERE string = ''), :ops + x.id FROM c_dispatch AS x CROSS JOIN c_kernel"
	" AS k ON k.process = x.process AND k.uid = x.uid AND k.name_id = x.name_id CROSS JOIN"
	" c_stream AS s ON s.process = x.process AND s.stream = x.stream WHERE x.process ="
	" :process AND x.id BETWEEN :from AND :to",
	"INSERT INTO @event (id, category_id, stack_id, parent_stack_id, correlation_id) SELECT"
	" x.event_id, (SELECT id FROM @string WHERE string = 'KERNEL_DISPATCH'), d.correlation,"
	" d.correlation, 0 FROM @kernel_dispatch AS x JOIN i.rtl_dispatch AS d ON d.op_id = x.id"
	" WHERE 1 AND x.id BETWEEN :from AND :to",
};

static const char *const of_counters[] = {
	"INSERT INTO @pmc_event (event_id, pmc_id, value) SELECT :ops + x.op_id, p.id, x.value FROM"
	" c_counter AS x CROSS JOIN c_pmc AS p ON p.process = x.process AND p.gpu = x.gpu AND"
	" p.name_id = x.name_id WHERE x.process = :process AND x.id BETWEEN :from AND :to",
};

static const char *const of_copies[] = {
	"INSERT INTO @memory_copy (id, nid, pid, tid, start, \"end\", name_id, dst_agent_id,"
	" dst_address, src_agent_id, src_address, size, stream_id, event_id) SELECT x.id, :node,"
	" :pid, x.tid, x.begin_ns, x.end_ns, n.id, CASE WHEN x.dst_gpu THEN x.dst_gpu ELSE"
	" h.agent END, x.dst, CASE WHEN x.src_gpu THEN x.src_gpu ELSE h.agent END, x.src,"
	" x.bytes, s.number, :copies + x.id FROM c_copy AS x CROSS JOIN c_stream AS s ON"
	" s.process = x.process AND s.stream = x.stream CROSS JOIN c_host AS h ON h.process ="
	" x.process CROSS JOIN @string AS n ON n.string = x.name WHERE x.process = :process AND"
	" x.id BETWEEN :from AND :to",
	"INSERT INTO @event (id, category_id, stack_id, parent_stack_id, correlation_id) SELECT"
	" x.event_id, (SELECT id FROM @string WHERE string = 'MEMORY_COPY'), c.correlation,"
	" c.correlation, 0 FROM @memory_copy AS x JOIN i.rtl_copy AS c ON c.id = x.id WHERE 1 AND"
	" x.id BETWEEN :from AND :to",
};

static const char *const of_memory[] = {
	"INSERT INTO @memory_allocate (id, nid, pid, tid, agent_id, type, level, start, \"end\","
	" address, size, queue_id, stream_id, event_id) SELECT x.id, :node, :pid, x.tid, x.node,"
	" CASE WHEN x.is_release THEN 'FREE' ELSE 'ALLOC' END, CASE WHEN x.is_virtual THEN"
	" 'VIRTUAL' ELSE 'REAL' END, x.begin_ns, x.end_ns, x.address, x.bytes, 0, 0, :mems + x.id"
	" FROM c_mem AS x WHERE x.process = :process AND x.id BETWEEN :from AND :to",
	"INSERT INTO @event (id, category_id, stack_id, parent_stack_id, correlation_id) SELECT"
	" x.event_id, (SELECT id FROM @string WHERE string = 'MEMORY_ALLOCATION'), m.correlation,"
	" 0, 0 FROM @memory_allocate AS x JOIN i.rtl_mem AS m ON m.id = x.id WHERE 1 AND x.id"
	" BETWEEN :from AND :to",
};

/* Of all that was added. */
static const char threads[] =
	"INSERT INTO @info_thread (id, nid, ppid, pid, tid, name) SELECT tid, :node, (SELECT"
	" ppid FROM @info_process), :pid, tid, CASE tid WHEN :pid THEN 'main thread' ELSE 'thread"
	" ' || tid END FROM (SELECT tid FROM @region UNION SELECT tid FROM @track UNION SELECT"
	" tid FROM @kernel_dispatch UNION SELECT tid FROM @memory_copy UNION SELECT tid FROM"
	" @memory_allocate)";

/* ---- arguments ---- */

static void bind_text(sqlite3_stmt *statement, int place, struct convert_text text)
{
	sqlite3_bind_text(statement, place, text.text ? text.text : "", (int)text.length,
			  SQLITE_STATIC);
}

/* Of "*ptr=1" declared as "int *ptr" the value is an int. */
static struct convert_text type_of(const struct convert_arg *arg)
{
	struct convert_text type = arg->type;

	for (unsigned i = 0; i < arg->pointed && type.length; i++)
		if (type.text[type.length - 1] == '*')
			type.length--;
	while (type.length && type.text[type.length - 1] == ' ')
		type.length--;
	return type;
}

static int add_args(struct rocpd7 *out, sqlite3_stmt *add, sqlite3_stmt *call)
{
	const char *line = (const char *)sqlite3_column_text(call, 1);
	const char *declared = (const char *)sqlite3_column_text(call, 2);
	struct convert_arg args[CONVERT_ARGS_MOST];
	const size_t count = convert_args(declared ? declared : "", line, args);

	for (size_t i = 0; i < count; i++) {
		bind(add, ":event", sqlite3_column_int64(call, 0));
		bind(add, ":position", (int64_t)args[i].position);
		bind_text(add, sqlite3_bind_parameter_index(add, ":type"), type_of(&args[i]));
		bind_text(add, sqlite3_bind_parameter_index(add, ":name"), args[i].name);
		bind_text(add, sqlite3_bind_parameter_index(add, ":value"), args[i].value);
		if (sqlite3_step(add) != SQLITE_DONE)
			return refuse(out);
		sqlite3_reset(add);
	}
	return CLI_OK;
}

static int fill_args(struct rocpd7 *out)
{
	sqlite3_stmt *calls = NULL, *add = NULL;
	int result = SQLITE_DONE;
	int status = prepare(out,
			     "SELECT x.id, x.args, m.value FROM c_call AS x"
			     " LEFT JOIN i.rtl_tracepoint_metadata AS m ON m.process = x.process"
			     " AND m.uid = x.uid AND m.key = 'arguments'"
			     " WHERE x.process = :process AND x.args <> '' ORDER BY x.id",
			     &calls);

	if (!status)
		status = prepare(out,
				 "INSERT INTO @arg (event_id, position, type, name, value)"
				 " VALUES (:event, :position, :type, :name, :value)",
				 &add);
	while (!status && calls && (result = sqlite3_step(calls)) == SQLITE_ROW)
		status = add_args(out, add, calls);
	if (!status && result != SQLITE_DONE)
		status = refuse(out);
	sqlite3_finalize(calls);
	sqlite3_finalize(add);
	/* which stream an argument is, for the view stream_args */
	return status ? status
		      : fill(out,
			     "UPDATE @arg SET extdata = json_object('stream_id', (SELECT s.number"
			     " FROM c_stream AS s WHERE s.process = :process AND"
			     " printf('0x%x', s.stream) = value)) WHERE name = 'stream' AND value "
			     "IN"
			     " (SELECT printf('0x%x', stream) FROM c_stream)",
			     0);
}

/* ---- processes and machines ---- */

/* systemd's, if the process ran on this machine; else a number made of its host's name. */
static void machine_id(const char *host, char id[33])
{
	char here[256] = "";
	FILE *file = gethostname(here, sizeof(here) - 1) == 0 && strcmp(here, host) == 0
			     ? fopen("/etc/machine-id", "re")
			     : NULL;
	const uint64_t hash = hash_text(host, strlen(host));

	if (!file || fread(id, 1, 32, file) != 32 || !isxdigit((unsigned char)id[31]))
		snprintf(id, 33, "%016llx%016llx", (unsigned long long)hash,
			 (unsigned long long)hash_number(hash));
	id[32] = '\0';
	if (file)
		fclose(file);
}

/* As of version 7: begins with the time, so that files sort by it. The same process has the same. */
static struct rocpd7_id make_id(uint64_t unix_ms, uint64_t hash)
{
	const uint64_t more = hash_number(hash);
	struct rocpd7_id id;

	snprintf(id.guid, sizeof(id.guid), "%08x-%04x-7%03x-%04x-%012llx",
		 (unsigned)(unix_ms >> 16 & 0xffffffff), (unsigned)(unix_ms & 0xffff),
		 (unsigned)(hash & 0xfff), (unsigned)(0x8000 | (hash >> 12 & 0x3fff)),
		 (unsigned long long)(more & 0xffffffffffff));
	snprintf(id.suffix, sizeof(id.suffix), "_%s", id.guid);
	for (char *c = id.suffix; *c; c++)
		if (*c == '-')
			*c = '_';
	return id;
}

static int fill_node(struct rocpd7 *out, const char *host)
{
	char machine[33];
	uint64_t hash;
	char *sql, *made;
	int status;

	machine_id(host, machine);
	hash = hash_text(machine, 32) >> 1;
	out->node = (int64_t)(hash % UINT32_MAX);
	sql = sqlite3_mprintf(
		"INSERT INTO @info_node (id, hash, machine_id, system_name, hostname, release,"
		" version, hardware_name, domain_name) VALUES (%lld, %lld, %Q, 'Linux', %Q, '',"
		" '', '', '')",
		out->node, (long long)hash, machine, host);
	made = sql ? rocpd7_sql(&out->ids[out->count], sql) : NULL;
	status = run_made(out, made);
	sqlite3_free(sql);
	return status;
}

static int fill_all(struct rocpd7 *out, const char *const *statements, size_t count, int64_t most)
{
	int status = CLI_OK;

	for (size_t i = 0; !status && i < count; i++)
		status = fill(out, statements[i], most);
	return status;
}

#define FILL(out, statements, most)                                                                \
	fill_all(out, statements, sizeof(statements) / sizeof(*(statements)), most)

/* Columns: process, pid, host, what tells it apart, when it started. */
static int add_process(struct rocpd7 *out, sqlite3_stmt *row)
{
	const char *host = (const char *)sqlite3_column_text(row, 2);
	int status;

	if (out->count == ROCPD7_PROCESSES_MOST)
		return cli_failed(
			"there are more than %u processes, which the views of this format "
			"cannot join; choose some with --process",
			ROCPD7_PROCESSES_MOST);
	out->process = sqlite3_column_int64(row, 0);
	out->pid = sqlite3_column_int64(row, 1);
	out->ids[out->count] = make_id((uint64_t)sqlite3_column_int64(row, 4),
				       hash_number((uint64_t)sqlite3_column_int64(row, 3)));
	status = run_made(out, rocpd7_tables(&out->ids[out->count]));
	if (!status)
		status = fill_node(out, host ? host : "");
	if (!status)
		status = FILL(out, objects, 0);
	if (!status)
		status = FILL(out, of_calls, out->ops);
	if (!status)
		status = fill_args(out);
	if (!status)
		status = FILL(out, of_dispatches, out->copies - out->ops);
	if (!status)
		status = FILL(
			out, of_counters,
			convert_rows_number(&out->rows, "SELECT max(id) FROM i.rocpd_counter"));
	if (!status)
		status = FILL(out, of_copies, out->mems - out->copies);
	if (!status)
		status = FILL(out, of_memory,
			      convert_rows_number(&out->rows, "SELECT max(id) FROM i.rtl_mem"));
	if (!status)
		status = fill(out, threads, 0);
	out->count++;
	return status;
}

static int add_processes(struct rocpd7 *out)
{
	static const char sql[] =
		"SELECT c.process, c.pid, c.host_name, ifnull(nullif(p.spool, 0), c.start_ns *"
		" 31 + c.pid), (c.start_ns + ifnull((SELECT k.realtime_ns - k.time_ns FROM"
		" i.rtl_clock AS k WHERE k.process = c.process AND k.realtime_ns IS NOT NULL"
		" LIMIT 1), 0)) / 1000000 FROM c_process AS c JOIN i.rtl_process AS p USING"
		" (process) ORDER BY c.process";
	sqlite3_stmt *rows = NULL;
	int status = CLI_OK, result = SQLITE_DONE;

	if (sqlite3_prepare_v2(out->rows.db, sql, -1, &rows, NULL) != SQLITE_OK)
		return refuse(out);
	while (!status && (result = sqlite3_step(rows)) == SQLITE_ROW)
		status = add_process(out, rows);
	if (!status && result != SQLITE_DONE)
		status = refuse(out);
	sqlite3_finalize(rows);
	return status;
}

/* ---- the file ---- */

static int begin_file(struct rocpd7 *out)
{
	char *sql =
		sqlite3_mprintf("ATTACH %Q AS o; PRAGMA o.journal_mode = OFF;"
				"PRAGMA o.synchronous = OFF; PRAGMA o.application_id = %u; BEGIN",
				out->part->path, APPLICATION_ID);

	return run_made(out, sql);
}

static int write_all(struct rocpd7 *out)
{
	struct convert_rows *rows = &out->rows;
	int status = begin_file(out);

	out->ops = convert_rows_number(rows, "SELECT max(id) FROM i.rocpd_api");
	out->copies = out->ops + convert_rows_number(rows, "SELECT max(id) FROM i.rocpd_op");
	out->mems = out->copies + convert_rows_number(rows, "SELECT max(id) FROM i.rtl_copy");
	rows->all *= 2; /* a row and its event */
	if (!status)
		status = convert_rows_objects(rows);
	if (!status)
		status = add_processes(out);
	if (!status)
		status = run_made(out, rocpd7_views(out->ids, out->count));
	return status ? status : run(out, "COMMIT; DETACH o");
}

int convert_rocpd7(const struct part *part, const char *input,
		   const struct convert_selection *selection)
{
	struct rocpd7 out = {.part = part,
			     .ids = calloc(ROCPD7_PROCESSES_MOST, sizeof(struct rocpd7_id))};
	int status = out.ids ? convert_rows_open(&out.rows, input, selection)
			     : cli_failed("out of memory");

	if (!status)
		status = convert_rows_check(&out.rows);
	if (!status)
		status = write_all(&out);
	convert_rows_close(&out.rows);
	free(out.ids);
	return status;
}

bool convert_rocpd7_replaceable(const char *path)
{
	unsigned char header[72];
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const ssize_t n = fd >= 0 ? read(fd, header, sizeof(header)) : -1;
	const bool absent = fd < 0 && errno == ENOENT;

	if (fd >= 0)
		close(fd);
	if (absent || n == 0)
		return true;
	return n == (ssize_t)sizeof(header) && memcmp(header, "SQLite format 3", 16) == 0 &&
	       ((unsigned)header[68] << 24 | (unsigned)header[69] << 16 |
		(unsigned)header[70] << 8 | header[71]) == APPLICATION_ID;
}
