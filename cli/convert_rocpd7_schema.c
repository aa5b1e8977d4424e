/* SPDX-License-Identifier: MIT */
/*
 * See convert_rocpd7_schema.h. Short forms in the texts here:
 *
 *   >table                   a key: REFERENCES that table
 *   ^table alias of.column   JOIN the row of rocpd_table whose id is there, of the same guid
 *   ~table alias of.column   the same, LEFT JOIN
 *   #of.column name          the text that the column names, as `name`
 *
 * "end" is a keyword of SQL and therefore quoted.
 */
#include "convert_rocpd7_schema.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- tables ---- */

/* Each has its id and the guid ahead of these, and all but the first two extdata behind them. */
static const struct table {
	const char *name, *columns;
} tables[] = {
	{"string", "string TEXT NOT NULL UNIQUE"},
	{"info_node",
	 "hash BIGINT NOT NULL UNIQUE, machine_id TEXT NOT NULL UNIQUE, system_name TEXT,"
	 " hostname TEXT, release TEXT, version TEXT, hardware_name TEXT, domain_name TEXT"},
	{"info_process",
	 "nid INTEGER NOT NULL >info_node, ppid INTEGER, pid INTEGER NOT NULL, init BIGINT,"
	 " fini BIGINT, start BIGINT, \"end\" BIGINT, command TEXT, environment JSONB NOT NULL"
	 " DEFAULT '{}'"},
	{"info_thread",
	 "nid INTEGER NOT NULL >info_node, ppid INTEGER, pid INTEGER NOT NULL >info_process,"
	 " tid INTEGER NOT NULL, name TEXT, start BIGINT, \"end\" BIGINT"},
	{"info_agent",
	 "nid INTEGER NOT NULL >info_node, pid INTEGER NOT NULL >info_process, type TEXT CHECK"
	 " (type IN ('CPU', 'GPU')), absolute_index INTEGER, logical_index INTEGER, type_index"
	 " INTEGER, uuid INTEGER, name TEXT, model_name TEXT, vendor_name TEXT, product_name"
	 " TEXT, user_name TEXT"},
	{"info_queue",
	 "nid INTEGER NOT NULL >info_node, pid INTEGER NOT NULL >info_process, name TEXT"},
	{"info_stream",
	 "nid INTEGER NOT NULL >info_node, pid INTEGER NOT NULL >info_process, name TEXT"},
	{"info_pmc",
	 "nid INTEGER NOT NULL >info_node, pid INTEGER NOT NULL >info_process, agent_id"
	 " INTEGER >info_agent, target_arch TEXT CHECK (target_arch IN ('CPU', 'GPU')),"
	 " event_code INT, instance_id INTEGER, name TEXT NOT NULL, symbol TEXT NOT NULL,"
	 " description TEXT, long_description TEXT DEFAULT '', component TEXT, units TEXT"
	 " DEFAULT '', value_type TEXT CHECK (value_type IN ('ABS', 'ACCUM', 'RELATIVE')),"
	 " block TEXT, expression TEXT, is_constant INTEGER, is_derived INTEGER"},
	{"info_code_object",
	 "nid INTEGER NOT NULL >info_node, pid INTEGER NOT NULL >info_process, agent_id"
	 " INTEGER >info_agent, uri TEXT, load_base BIGINT, load_size BIGINT, load_delta"
	 " BIGINT, storage_type TEXT CHECK (storage_type IN ('FILE', 'MEMORY'))"},
	{"info_kernel_symbol",
	 "nid INTEGER NOT NULL >info_node, pid INTEGER NOT NULL >info_process, code_object_id"
	 " INTEGER NOT NULL >info_code_object, kernel_name TEXT, display_name TEXT,"
	 " kernel_object INTEGER, kernarg_segment_size INTEGER, kernarg_segment_alignment"
	 " INTEGER, group_segment_size INTEGER, private_segment_size INTEGER, sgpr_count"
	 " INTEGER, arch_vgpr_count INTEGER, accum_vgpr_count INTEGER"},
	{"track", "nid INTEGER NOT NULL >info_node, pid INTEGER >info_process, tid INTEGER"
		  " >info_thread, name_id INTEGER >string"},
	{"event",
	 "category_id INTEGER >string, stack_id INTEGER, parent_stack_id INTEGER,"
	 " correlation_id INTEGER, call_stack JSONB NOT NULL DEFAULT '{}', line_info JSONB NOT"
	 " NULL DEFAULT '{}'"},
	{"arg", "event_id INTEGER NOT NULL >event, position INTEGER NOT NULL, type TEXT NOT NULL,"
		" name TEXT NOT NULL, value TEXT"},
	{"pmc_event",
	 "event_id INTEGER >event, pmc_id INTEGER NOT NULL >info_pmc, value REAL DEFAULT 0.0"},
	{"region",
	 "nid INTEGER NOT NULL >info_node, pid INTEGER NOT NULL >info_process, tid INTEGER NOT"
	 " NULL >info_thread, start BIGINT NOT NULL, \"end\" BIGINT NOT NULL, name_id INTEGER"
	 " NOT NULL >string, event_id INTEGER >event"},
	{"sample",
	 "track_id INTEGER NOT NULL >track, timestamp BIGINT NOT NULL, event_id INTEGER >event"},
	{"kernel_dispatch",
	 "nid INTEGER NOT NULL >info_node, pid INTEGER NOT NULL >info_process, tid INTEGER"
	 " >info_thread, agent_id INTEGER NOT NULL >info_agent, kernel_id INTEGER NOT NULL"
	 " >info_kernel_symbol, dispatch_id INTEGER NOT NULL, queue_id INTEGER NOT NULL"
	 " >info_queue, stream_id INTEGER NOT NULL >info_stream, start BIGINT NOT NULL, \"end\""
	 " BIGINT NOT NULL, private_segment_size INTEGER, group_segment_size INTEGER,"
	 " workgroup_size_x INTEGER NOT NULL, workgroup_size_y INTEGER NOT NULL,"
	 " workgroup_size_z INTEGER NOT NULL, grid_size_x INTEGER NOT NULL, grid_size_y INTEGER"
	 " NOT NULL, grid_size_z INTEGER NOT NULL, region_name_id INTEGER >string, event_id"
	 " INTEGER >event"},
	{"memory_copy",
	 "nid INTEGER NOT NULL >info_node, pid INTEGER NOT NULL >info_process, tid INTEGER"
	 " >info_thread, start BIGINT NOT NULL, \"end\" BIGINT NOT NULL, name_id INTEGER NOT"
	 " NULL >string, dst_agent_id INTEGER >info_agent, dst_address INTEGER, src_agent_id"
	 " INTEGER >info_agent, src_address INTEGER, size INTEGER NOT NULL, queue_id INTEGER"
	 " >info_queue, stream_id INTEGER >info_stream, region_name_id INTEGER >string,"
	 " event_id INTEGER >event"},
	{"memory_allocate",
	 "nid INTEGER NOT NULL >info_node, pid INTEGER NOT NULL >info_process, tid INTEGER"
	 " >info_thread, agent_id INTEGER >info_agent, type TEXT CHECK (type IN ('ALLOC',"
	 " 'FREE', 'REALLOC', 'RECLAIM')), level TEXT CHECK (level IN ('REAL', 'VIRTUAL',"
	 " 'SCRATCH')), start BIGINT NOT NULL, \"end\" BIGINT NOT NULL, address INTEGER, size"
	 " INTEGER NOT NULL, queue_id INTEGER >info_queue, stream_id INTEGER >info_stream,"
	 " event_id INTEGER >event"},
};

#define BARE 2u

static const char metadata[] = "metadata";

/* The next @ or > in a text, or its end; what is before goes to `out`. */
static const char *copy_up_to(sqlite3_str *out, const char *text, const char *marks)
{
	const size_t length = strcspn(text, marks);

	sqlite3_str_append(out, text, (int)length);
	return text + length;
}

static void append_sql(sqlite3_str *out, const struct rocpd7_id *id, const char *sql,
		       const char *marks)
{
	while (*(sql = copy_up_to(out, sql, marks))) {
		const size_t length = strspn(sql + 1, "abcdefghijklmnopqrstuvwxyz_");
		const bool is_key = *sql == '>';

		sqlite3_str_appendf(out, "%s\"rocpd_%.*s%s\"%s", is_key ? "REFERENCES " : "",
				    (int)length, sql + 1, id->suffix,
				    is_key ? " (id) ON UPDATE CASCADE" : "");
		sql += 1 + length;
	}
}

char *rocpd7_sql(const struct rocpd7_id *id, const char *sql)
{
	sqlite3_str *out = sqlite3_str_new(NULL);

	append_sql(out, id, sql, "@");
	return sqlite3_str_finish(out);
}

char *rocpd7_tables(const struct rocpd7_id *id)
{
	sqlite3_str *out = sqlite3_str_new(NULL);

	sqlite3_str_appendf(out,
			    "CREATE TABLE o.\"rocpd_%s%s\" (id INTEGER PRIMARY KEY AUTOINCREMENT"
			    " NOT NULL, tag TEXT NOT NULL, value TEXT NOT NULL);"
			    "INSERT INTO o.\"rocpd_%s%s\" (tag, value) VALUES ('schema_version',"
			    " %Q), ('uuid', %Q), ('guid', %Q);",
			    metadata, id->suffix, metadata, id->suffix, ROCPD7_SCHEMA_VERSION,
			    id->suffix, id->guid);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		sqlite3_str_appendf(out,
				    "CREATE TABLE o.\"rocpd_%s%s\" (id INTEGER PRIMARY KEY"
				    " AUTOINCREMENT NOT NULL, guid TEXT NOT NULL DEFAULT %Q, ",
				    tables[i].name, id->suffix, id->guid);
		append_sql(out, id, tables[i].columns, ">");
		sqlite3_str_appendf(out, "%s);",
				    i < BARE ? "" : ", extdata JSONB NOT NULL DEFAULT '{}'");
	}
	return sqlite3_str_finish(out);
}

/* ---- views ---- */

static const struct table views[] = {
	{"code_objects",
	 "SELECT c.id, c.guid, c.nid, p.pid, a.absolute_index AS agent_abs_index, c.uri,"
	 " c.load_base, c.load_size, c.load_delta, c.storage_type AS storage_type_str,"
	 " json_extract(c.extdata, '$.size') AS code_object_size, json_extract(c.extdata,"
	 " '$.storage_type') AS storage_type, json_extract(c.extdata, '$.memory_base') AS"
	 " memory_base, json_extract(c.extdata, '$.memory_size') AS memory_size FROM"
	 " rocpd_info_code_object AS c ^info_agent a c.agent_id ^info_process p c.pid"},
	{"kernel_symbols",
	 "SELECT k.id, k.guid, k.nid, p.pid, k.code_object_id, k.kernel_name, k.display_name,"
	 " k.kernel_object, k.kernarg_segment_size, k.kernarg_segment_alignment,"
	 " k.group_segment_size, k.private_segment_size, k.sgpr_count, k.arch_vgpr_count,"
	 " k.accum_vgpr_count, json_extract(k.extdata, '$.size') AS kernel_symbol_size,"
	 " json_extract(k.extdata, '$.kernel_id') AS kernel_id, json_extract(k.extdata,"
	 " '$.kernel_code_entry_byte_offset') AS kernel_code_entry_byte_offset,"
	 " json_extract(k.extdata, '$.formatted_kernel_name') AS formatted_kernel_name,"
	 " json_extract(k.extdata, '$.demangled_kernel_name') AS demangled_kernel_name,"
	 " json_extract(k.extdata, '$.truncated_kernel_name') AS truncated_kernel_name,"
	 " json_extract(k.extdata, '$.kernel_address.handle') AS kernel_address FROM"
	 " rocpd_info_kernel_symbol AS k ^info_process p k.pid"},
	{"processes",
	 "SELECT n.id AS nid, n.machine_id, n.system_name, n.hostname, n.release AS"
	 " system_release, n.version AS system_version, p.guid, p.ppid, p.pid, p.init, p.start,"
	 " p.\"end\", p.fini, p.command FROM rocpd_info_process AS p ^info_node n p.nid"},
	{"threads",
	 "SELECT n.id AS nid, n.machine_id, n.system_name, n.hostname, n.release AS"
	 " system_release, n.version AS system_version, p.guid, p.ppid, p.pid, h.tid, h.start,"
	 " h.\"end\", h.name FROM rocpd_info_thread AS h ^info_process p h.pid ^info_node n"
	 " h.nid"},
	{"regions",
	 "SELECT r.id, r.guid, #e.category_id category, s.string AS name, r.nid, p.pid, h.tid,"
	 " r.start AS start, r.\"end\" AS \"end\", r.\"end\" - r.start AS duration, r.event_id,"
	 " e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id, e.extdata, e.call_stack,"
	 " e.line_info FROM rocpd_region AS r ^event e r.event_id ^string s r.name_id"
	 " ^info_process p r.pid ^info_thread h r.tid"},
	{"region_args",
	 "SELECT r.id, r.guid, r.nid, p.pid, a.type, a.name, a.value FROM rocpd_region AS r"
	 " ^event e r.event_id JOIN rocpd_arg AS a ON a.event_id = e.id AND a.guid = r.guid"
	 " ^info_process p r.pid"},
	{"samples",
	 "SELECT r.id, r.guid, #e.category_id category, #k.name_id name, k.nid, p.pid, h.tid,"
	 " r.timestamp, r.event_id, e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id,"
	 " e.extdata, e.call_stack, e.line_info FROM rocpd_sample AS r ^track k r.track_id"
	 " ^event e r.event_id ^info_process p k.pid ^info_thread h k.tid"},
	{"sample_regions",
	 "SELECT id, guid, category, name, nid, pid, tid, timestamp AS start, timestamp AS"
	 " \"end\", 0 AS duration, event_id, stack_id, parent_stack_id, corr_id, extdata,"
	 " call_stack, line_info FROM samples"},
	{"regions_and_samples", "SELECT * FROM regions UNION ALL SELECT * FROM sample_regions"},
	{"kernels",
	 "SELECT d.id, d.guid, h.tid, #e.category_id category, r.string AS region,"
	 " k.display_name AS name, d.nid, p.pid, a.absolute_index AS agent_abs_index,"
	 " a.logical_index AS agent_log_index, a.type_index AS agent_type_index, a.type AS"
	 " agent_type, k.code_object_id, d.kernel_id, d.dispatch_id, d.stream_id, d.queue_id,"
	 " q.name AS queue, s.name AS stream, d.start AS start, d.\"end\" AS \"end\", d.\"end\""
	 " - d.start AS duration, d.grid_size_x AS grid_x, d.grid_size_y AS grid_y,"
	 " d.grid_size_z AS grid_z, d.workgroup_size_x AS workgroup_x, d.workgroup_size_y AS"
	 " workgroup_y, d.workgroup_size_z AS workgroup_z, d.group_segment_size AS lds_size,"
	 " d.private_segment_size AS scratch_size, k.arch_vgpr_count AS vgpr_count,"
	 " k.accum_vgpr_count, k.sgpr_count, k.group_segment_size AS static_lds_size,"
	 " k.private_segment_size AS static_scratch_size, e.stack_id, e.parent_stack_id,"
	 " e.correlation_id AS corr_id FROM rocpd_kernel_dispatch AS d ^info_agent a d.agent_id"
	 " ^event e d.event_id ^string r d.region_name_id ^info_kernel_symbol k d.kernel_id"
	 " ~info_stream s d.stream_id ~info_queue q d.queue_id ^info_process p q.pid"
	 " ^info_thread h d.tid"},
	{"pmc_info",
	 "SELECT c.id, c.guid, c.nid, p.pid, a.absolute_index AS agent_abs_index,"
	 " c.is_constant, c.is_derived, c.name, c.description, c.block, c.expression FROM"
	 " rocpd_info_pmc AS c ^info_agent a c.agent_id ^info_process p c.pid"},
	{"pmc_events",
	 "SELECT v.id, v.guid, v.pmc_id, e.id AS event_id, #e.category_id category,"
	 " k.display_name AS name, d.nid, p.pid, d.dispatch_id, d.start AS start, d.\"end\" AS"
	 " \"end\", d.\"end\" - d.start AS duration, c.name AS counter_name, v.value AS"
	 " counter_value FROM rocpd_pmc_event AS v ^info_pmc c v.pmc_id ^event e v.event_id"
	 " JOIN rocpd_kernel_dispatch AS d ON d.event_id = v.event_id AND d.guid = v.guid"
	 " ^info_process p d.pid ~info_kernel_symbol k d.kernel_id"},
	{"events_args",
	 "SELECT e.id AS event_id, #e.category_id category, e.stack_id, e.parent_stack_id,"
	 " e.correlation_id, a.position AS arg_position, a.type AS arg_type, a.name AS"
	 " arg_name, a.value AS arg_value, e.call_stack, e.line_info, a.extdata FROM"
	 " rocpd_event AS e JOIN rocpd_arg AS a ON a.event_id = e.id AND a.guid = e.guid"},
	{"stream_args",
	 "SELECT a.id AS argument_id, a.event_id, a.position AS arg_position, a.type AS"
	 " arg_type, a.value AS arg_value, json_extract(a.extdata, '$.stream_id') AS stream_id,"
	 " s.nid, p.pid, s.name AS stream_name, s.extdata FROM rocpd_arg AS a JOIN"
	 " rocpd_info_stream AS s ON s.id = json_extract(a.extdata, '$.stream_id') AND s.guid ="
	 " a.guid ^info_process p s.pid WHERE a.name = 'stream'"},
	{"memory_copies",
	 "SELECT c.id, c.guid, #e.category_id category, c.nid, p.pid, h.tid, c.start AS start,"
	 " c.\"end\" AS \"end\", c.\"end\" - c.start AS duration, n.string AS name, r.string AS"
	 " region_name, c.stream_id, c.queue_id, s.name AS stream_name, q.name AS queue_name,"
	 " c.size, t.name AS dst_device, t.absolute_index AS dst_agent_abs_index,"
	 " t.logical_index AS dst_agent_log_index, t.type_index AS dst_agent_type_index, t.type"
	 " AS dst_agent_type, c.dst_address, f.name AS src_device, f.absolute_index AS"
	 " src_agent_abs_index, f.logical_index AS src_agent_log_index, f.type_index AS"
	 " src_agent_type_index, f.type AS src_agent_type, c.src_address, e.stack_id,"
	 " e.parent_stack_id, e.correlation_id AS corr_id FROM rocpd_memory_copy AS c ^string n"
	 " c.name_id ~string r c.region_name_id ^info_agent t c.dst_agent_id ^info_agent f"
	 " c.src_agent_id ~info_queue q c.queue_id ~info_stream s c.stream_id ^event e"
	 " c.event_id ^info_process p c.pid ^info_thread h c.tid"},
	{"memory_allocations",
	 "SELECT m.id, m.guid, #e.category_id category, m.nid, p.pid, h.tid, m.start AS start,"
	 " m.\"end\" AS \"end\", m.\"end\" - m.start AS duration, m.type, m.level, a.name AS"
	 " agent_name, a.absolute_index AS agent_abs_index, a.logical_index AS agent_log_index,"
	 " a.type_index AS agent_type_index, a.type AS agent_type, m.address, m.size,"
	 " m.queue_id, q.name AS queue_name, m.stream_id, s.name AS stream_name, e.stack_id,"
	 " e.parent_stack_id, e.correlation_id AS corr_id FROM rocpd_memory_allocate AS m"
	 " ~info_agent a m.agent_id ~info_queue q m.queue_id ~info_stream s m.stream_id ^event"
	 " e m.event_id ^info_process p m.pid ^info_thread h m.tid"},
	{"scratch_memory",
	 "SELECT m.id, m.guid, m.nid, p.pid, m.type AS operation, a.name AS agent_name,"
	 " a.absolute_index AS agent_abs_index, a.logical_index AS agent_log_index,"
	 " a.type_index AS agent_type_index, a.type AS agent_type, m.queue_id, h.tid,"
	 " json_extract(m.extdata, '$.flags') AS alloc_flags, m.start, m.\"end\", m.\"end\""
	 " - m.start AS duration, m.size, m.address, e.correlation_id, e.stack_id, "
	 "e.parent_stack_id, e.correlation_id AS"
	 " corr_id, #e.category_id category, e.extdata AS event_extdata FROM"
	 " rocpd_memory_allocate AS m ~info_agent a m.agent_id ~info_queue q m.queue_id ^event"
	 " e m.event_id ^info_process p m.pid ^info_thread h m.tid WHERE m.level = 'SCRATCH'"
	 " ORDER BY m.start"},
	{"counters_collection",
	 "SELECT min(v.id) AS id, v.guid, d.dispatch_id, d.kernel_id, e.id AS event_id,"
	 " e.correlation_id, e.stack_id, e.parent_stack_id, p.pid, h.tid, d.agent_id,"
	 " a.absolute_index AS agent_abs_index, a.logical_index AS agent_log_index,"
	 " a.type_index AS agent_type_index, a.type AS agent_type, d.queue_id, d.grid_size_x,"
	 " d.grid_size_y, d.grid_size_z, d.grid_size_x * d.grid_size_y * d.grid_size_z AS"
	 " grid_size, k.display_name AS kernel_name, #d.region_name_id kernel_region,"
	 " d.workgroup_size_x, d.workgroup_size_y, d.workgroup_size_z, d.workgroup_size_x *"
	 " d.workgroup_size_y * d.workgroup_size_z AS workgroup_size, d.group_segment_size AS"
	 " lds_block_size, d.private_segment_size AS scratch_size, k.arch_vgpr_count AS"
	 " vgpr_count, k.accum_vgpr_count, k.sgpr_count, c.name AS counter_name, c.symbol AS"
	 " counter_symbol, c.component, c.description, c.block, c.expression, c.value_type,"
	 " c.id AS counter_id, sum(v.value) AS value, d.start, d.\"end\", c.is_constant,"
	 " c.is_derived, d.\"end\" - d.start AS duration, #e.category_id category, d.nid,"
	 " e.extdata, k.code_object_id FROM rocpd_pmc_event AS v ^info_pmc c v.pmc_id ^event e"
	 " v.event_id JOIN rocpd_kernel_dispatch AS d ON d.event_id = v.event_id AND d.guid ="
	 " v.guid ^info_agent a d.agent_id ^info_kernel_symbol k d.kernel_id ^info_process p"
	 " d.pid ^info_thread h d.tid GROUP BY v.guid, d.dispatch_id, c.name, d.agent_id"},
	{"top_kernels",
	 "SELECT name, count(*) AS total_calls, sum(duration) / 1000.0 AS total_duration,"
	 " sum(duration) / count(*) / 1000.0 AS average, sum(duration) * 100.0 / (SELECT"
	 " sum(duration) FROM kernels) AS percentage FROM kernels GROUP BY name ORDER BY"
	 " total_duration DESC"},
	{"busy",
	 "SELECT g.agent_id, a.type, g.busy AS GpuTime, w.wall AS WallTime, g.busy * 1.0 /"
	 " w.wall AS Busy FROM (SELECT agent_id, guid, sum(\"end\" - start) AS busy FROM"
	 " (SELECT agent_id, guid, \"end\", start FROM rocpd_kernel_dispatch UNION ALL SELECT"
	 " dst_agent_id, guid, \"end\", start FROM rocpd_memory_copy) GROUP BY agent_id, guid)"
	 " AS g JOIN (SELECT max(\"end\") - min(start) AS wall FROM (SELECT \"end\", start FROM"
	 " rocpd_kernel_dispatch UNION ALL SELECT \"end\", start FROM rocpd_memory_copy)) AS w"
	 " JOIN rocpd_info_agent AS a ON a.id = g.agent_id AND a.guid = g.guid"},
	{"top",
	 "WITH operations AS (SELECT name, duration FROM kernels UNION ALL SELECT name,"
	 " duration FROM memory_copies UNION ALL SELECT name, duration FROM regions) SELECT"
	 " name, count(*) AS total_calls, sum(duration) / 1000.0 AS total_duration,"
	 " sum(duration) / count(*) / 1000.0 AS average, sum(duration) * 100.0 / (SELECT"
	 " sum(duration) FROM operations) AS percentage FROM operations GROUP BY name ORDER BY"
	 " total_duration DESC"},
};

static void append_union(sqlite3_str *out, const struct rocpd7_id *ids, unsigned count,
			 const char *table)
{
	sqlite3_str_appendf(out, "CREATE VIEW o.rocpd_%s AS", table);
	for (unsigned i = 0; i < count; i++)
		sqlite3_str_appendf(out, "%s SELECT * FROM \"rocpd_%s%s\"", i ? " UNION ALL" : "",
				    table, ids[i].suffix);
	sqlite3_str_appendall(out, ";");
}

static void append_view(sqlite3_str *out, const struct table *view)
{
	const char *sql = view->columns;

	sqlite3_str_appendf(out, "CREATE VIEW o.%s AS ", view->name);
	while (*(sql = copy_up_to(out, sql, "^~#"))) {
		char table[24] = "", alias[24] = "", of[8] = "", column[24] = "";
		int length = 0;

		if (*sql == '#') {
			sscanf(sql, "#%7[a-z].%23[a-z_] %23[a-z_]%n", of, column, alias, &length);
			sqlite3_str_appendf(out,
					    "(SELECT t.string FROM rocpd_string AS t WHERE t.id ="
					    " %s.%s AND t.guid = %s.guid) AS %s",
					    of, column, of, alias);
		} else {
			sscanf(sql + 1, "%23[a-z_] %23[a-z] %7[a-z].%23[a-z_]%n", table, alias, of,
			       column, &length);
			sqlite3_str_appendf(out,
					    "%sJOIN rocpd_%s AS %s ON %s.id = %s.%s AND %s.guid ="
					    " %s.guid",
					    *sql == '~' ? "LEFT " : "", table, alias, alias, of,
					    column, alias, of);
			length++;
		}
		sql += length;
	}
	sqlite3_str_appendall(out, ";");
}

char *rocpd7_views(const struct rocpd7_id *ids, unsigned count)
{
	sqlite3_str *out = sqlite3_str_new(NULL);

	append_union(out, ids, count, metadata);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		append_union(out, ids, count, tables[i].name);
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++)
		append_view(out, &views[i]);
	return sqlite3_str_finish(out);
}
