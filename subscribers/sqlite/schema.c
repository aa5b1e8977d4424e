/* SPDX-License-Identifier: MIT */
/*
 * schema.c: the SQL of an output, see schema.h. Facts of the rocpd schema: the repository
 * ROCm/rocmProfileData (tables and columns, views, and what its tools ask of them).
 *
 * rocpd_kernelapi and rocpd_copyapi extend rows of rocpd_api: their key is the row's id.
 * "end" is a keyword of SQL and therefore quoted.
 */
#include "schema.h"

#include "tables_rocpd.h"
#include "tables_rtl.h"

#include <stddef.h>

/*
 * Keys as the rocpd schema has them: checked at the end of a transaction, where they are.
 *
 * RPD's tools renumber rocpd_string. They know which columns of the rocpd tables refer to it, but
 * for two; these and ours are named in rocpd_metadata, as tag and value
 * `references::rocpd_string.id` and ("table", "column"). A column that refers to rocpd_string, here
 * or in tables.toml, must be known or named.
 */
#define DEFERRED  " (id) DEFERRABLE INITIALLY DEFERRED"
#define OF_STRING " REFERENCES rocpd_string" DEFERRED
#define OF_API    " REFERENCES rocpd_api" DEFERRED
#define OF_OP     " REFERENCES rocpd_op" DEFERRED

const char schema_rocpd_tables[] =
	"CREATE TABLE rocpd_metadata (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,"
	" tag TEXT NOT NULL, value TEXT NOT NULL);" TABLE_ROCPD_STRING TABLE_ROCPD_USTRING
		TABLE_ROCPD_API TABLE_ROCPD_OP TABLE_ROCPD_API_OPS TABLE_ROCPD_KERNELAPI
			TABLE_ROCPD_COPYAPI
	"CREATE TABLE rocpd_monitor (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,"
	" deviceType TEXT NOT NULL, deviceId INTEGER NOT NULL, monitorType TEXT NOT NULL,"
	" start INTEGER NOT NULL, \"end\" INTEGER NOT NULL, value TEXT NOT NULL);"
	"CREATE TABLE rocpd_counter (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,"
	" value REAL NOT NULL, op_id INTEGER NOT NULL" OF_OP ","
	" name_id INTEGER NOT NULL" OF_STRING ");"
	"CREATE TABLE rocpd_stackframe (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,"
	" api_ptr_id INTEGER NOT NULL" OF_API ", depth INTEGER NOT NULL,"
	" name_id INTEGER NOT NULL" OF_STRING ");"
	"INSERT INTO rocpd_metadata (tag, value) VALUES"
	" ('gpu_stride', '1000'), ('pid_stride', '10000000'),"
	" ('schema_version', '" SCHEMA_ROCPD_VERSION "'), ('session_count', '1'),"
	" ('references::rocpd_string.id', '(\"rocpd_counter\", \"name_id\")'),"
	" ('references::rocpd_string.id', '(\"rocpd_stackframe\", \"name_id\")');";

/* The names behind a row of rocpd_api or rocpd_op. */
#define API_NAMES                                                                                  \
	" FROM rocpd_api AS a"                                                                     \
	" JOIN rocpd_string AS dom ON dom.id = a.domain_id"                                        \
	" JOIN rocpd_string AS cat ON cat.id = a.category_id"                                      \
	" JOIN rocpd_string AS nam ON nam.id = a.apiName_id"                                       \
	" JOIN rocpd_ustring AS arg ON arg.id = a.args_id;"
#define OP_NAMES                                                                                   \
	" FROM rocpd_op AS o"                                                                      \
	" JOIN rocpd_string AS des ON des.id = o.description_id"                                   \
	" JOIN rocpd_string AS typ ON typ.id = o.opType_id;"
/* A file that was merged of several nodes keeps the node in the high digits of its ids. */
#define PID_STRIDE "(SELECT value FROM rocpd_metadata WHERE tag = 'pid_stride')"
#define GPU_STRIDE "(SELECT value FROM rocpd_metadata WHERE tag = 'gpu_stride')"

const char schema_rocpd_views[] =
	"CREATE VIEW api AS SELECT a.id AS id, a.pid AS pid, a.tid AS tid, a.start AS start,"
	" a.\"end\" AS \"end\", dom.string AS domain, cat.string AS category,"
	" nam.string AS apiName, arg.string AS args" API_NAMES
	"CREATE VIEW op AS SELECT o.id AS id, o.gpuId AS gpuId, o.queueId AS queueId,"
	" o.sequenceId AS sequenceId, o.start AS start, o.\"end\" AS \"end\","
	" des.string AS description, typ.string AS opType" OP_NAMES
	"CREATE VIEW busy AS SELECT gpuId, GpuTime, WallTime, GpuTime * 1.0 / WallTime AS Busy"
	" FROM (SELECT gpuId, sum(\"end\" - start) AS GpuTime FROM rocpd_op GROUP BY gpuId),"
	" (SELECT max(\"end\") - min(start) AS WallTime FROM rocpd_op);"
	/* An op without a description counts under the name of its type. */
	"CREATE VIEW top AS SELECT s.string AS Name, count(*) AS TotalCalls,"
	" sum(t.ns) / 1000 AS TotalDuration_us, (sum(t.ns) / count(*)) / 1000.0 AS Ave_us,"
	" sum(t.ns) * 100.0 / (SELECT sum(\"end\" - start) FROM rocpd_op) AS Percentage"
	" FROM (SELECT CASE d.string WHEN '' THEN o.opType_id ELSE o.description_id END"
	" AS name_id, o.\"end\" - o.start AS ns"
	" FROM rocpd_op AS o JOIN rocpd_string AS d ON d.id = o.description_id) AS t"
	" JOIN rocpd_string AS s ON s.id = t.name_id"
	" GROUP BY s.string ORDER BY TotalDuration_us DESC;"
	"CREATE VIEW kernel AS SELECT o.id AS id, o.gpuId AS gpuId, o.queueId AS queueId,"
	" o.sequenceId AS sequenceId, o.start AS start, o.\"end\" AS \"end\","
	" o.\"end\" - o.start AS duration, k.stream AS stream,"
	" k.gridX AS gridX, k.gridY AS gridY, k.gridZ AS gridZ, k.workgroupX AS workgroupX,"
	" k.workgroupY AS workgroupY, k.workgroupZ AS workgroupZ,"
	" k.groupSegmentSize AS groupSegmentSize, k.privateSegmentSize AS privateSegmentSize,"
	" nam.string AS kernelName FROM rocpd_api_ops AS l JOIN rocpd_op AS o ON o.id = l.op_id"
	" JOIN rocpd_kernelapi AS k ON k.api_ptr_id = l.api_id"
	" JOIN rocpd_string AS nam ON nam.id = k.kernelName_id;"
	/* Copies with the times of the call, and with those of the GPU. */
	"CREATE VIEW copy AS SELECT a.id AS id, a.pid AS pid, a.tid AS tid, a.start AS start,"
	" a.\"end\" AS \"end\", nam.string AS apiName, c.stream AS stream, c.size AS size,"
	" c.width AS width, c.height AS height, c.kind AS kind, c.dst AS dst, c.src AS src,"
	" c.dstDevice AS dstDevice, c.srcDevice AS srcDevice, c.sync AS sync,"
	" c.pinned AS pinned FROM rocpd_copyapi AS c JOIN rocpd_api AS a ON a.id = c.api_ptr_id"
	" JOIN rocpd_string AS nam ON nam.id = a.apiName_id;"
	"CREATE VIEW copyop AS SELECT o.id AS id, o.gpuId AS gpuId, o.queueId AS queueId,"
	" o.sequenceId AS sequenceId, o.start AS start, o.\"end\" AS \"end\","
	" o.\"end\" - o.start AS duration, c.stream AS stream, c.size AS size,"
	" c.width AS width, c.height AS height, c.kind AS kind, c.dst AS dst, c.src AS src,"
	" c.dstDevice AS dstDevice, c.srcDevice AS srcDevice, c.sync AS sync,"
	" c.pinned AS pinned, nam.string AS apiName"
	" FROM rocpd_api_ops AS l JOIN rocpd_op AS o ON o.id = l.op_id"
	" JOIN rocpd_copyapi AS c ON c.api_ptr_id = l.api_id"
	" JOIN rocpd_api AS a ON a.id = l.api_id"
	" JOIN rocpd_string AS nam ON nam.id = a.apiName_id;"
	"CREATE VIEW stackframe AS SELECT a.id AS id, nam.string AS string, f.depth AS depth,"
	" fra.string AS \"string:1\" FROM rocpd_stackframe AS f"
	" JOIN rocpd_api AS a ON a.id = f.api_ptr_id"
	" JOIN rocpd_string AS nam ON nam.id = a.apiName_id"
	" JOIN rocpd_string AS fra ON fra.id = f.name_id;"
	"CREATE VIEW napi AS SELECT a.id AS id, a.pid / " PID_STRIDE " AS node,"
	" a.pid % " PID_STRIDE " AS pid, a.tid % " PID_STRIDE " AS tid,"
	" a.start AS start, a.\"end\" AS \"end\", dom.string AS domain, cat.string AS category,"
	" nam.string AS apiName, arg.string AS args" API_NAMES
	"CREATE VIEW nop AS SELECT o.id AS id, o.gpuId / " GPU_STRIDE " AS node,"
	" o.gpuId % " GPU_STRIDE " AS gpuId, o.queueId % " GPU_STRIDE " AS queueId,"
	" o.sequenceId AS sequenceId, o.start AS start, o.\"end\" AS \"end\","
	" des.string AS description, typ.string AS opType" OP_NAMES;

const char schema_rtl_tables[] =
	"CREATE TABLE rtl_meta (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL)"
	" WITHOUT ROWID;"
	"CREATE TABLE rtl_process (process INTEGER PRIMARY KEY NOT NULL, pid INTEGER NOT NULL,"
	" parent_pid INTEGER NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER,"
	" program TEXT, command TEXT, host_name TEXT, spool INTEGER, rank INTEGER,"
	" api_id INTEGER NOT NULL" OF_API ", end_api_id INTEGER NOT NULL" OF_API
	");" TABLE_RTL_POSITION
	"CREATE TABLE rtl_clock (process INTEGER NOT NULL, time_ns INTEGER NOT NULL,"
	" realtime_ns INTEGER, error_ns INTEGER, pairs INTEGER, tick_error_ns INTEGER,"
	" ns_per_tick REAL, first_ns INTEGER, last_ns INTEGER);"
	"CREATE TABLE rtl_stream (stream INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL,"
	" version_major INTEGER NOT NULL, version_minor INTEGER NOT NULL, description TEXT);"
	"CREATE TABLE rtl_type (stream INTEGER NOT NULL, type INTEGER NOT NULL,"
	" name TEXT, description TEXT, payload_bytes INTEGER NOT NULL, table_name TEXT,"
	" PRIMARY KEY (stream, type)) WITHOUT ROWID;"
	"CREATE TABLE rtl_field (stream INTEGER NOT NULL, type INTEGER NOT NULL,"
	" position INTEGER NOT NULL, name TEXT, column_name TEXT, kind TEXT NOT NULL,"
	" unit TEXT, offset INTEGER NOT NULL, size_bytes INTEGER NOT NULL, description TEXT,"
	" PRIMARY KEY (stream, type, position)) WITHOUT ROWID;" TABLE_RTL_TRACEPOINT
		TABLE_RTL_TRACEPOINT_METADATA
	"CREATE TABLE rtl_queue (queueId INTEGER PRIMARY KEY NOT NULL,"
	" process INTEGER NOT NULL, queue INTEGER NOT NULL, gpu INTEGER NOT NULL,"
	" uid INTEGER, address INTEGER, packets INTEGER, type INTEGER,"
	" create_ns INTEGER, destroy_ns INTEGER);" TABLE_RTL_DISPATCH
	"CREATE TABLE rtl_ledger (process INTEGER NOT NULL, stream TEXT NOT NULL,"
	" published INTEGER NOT NULL, delivered INTEGER NOT NULL, discarded INTEGER NOT NULL,"
	" abandoned INTEGER NOT NULL, missed INTEGER NOT NULL,"
	" PRIMARY KEY (process, stream)) WITHOUT ROWID;"
	"CREATE TABLE rtl_loss (process INTEGER NOT NULL, stream TEXT NOT NULL,"
	" cause TEXT NOT NULL, count INTEGER NOT NULL,"
	" PRIMARY KEY (process, stream, cause)) WITHOUT ROWID;"
	"CREATE VIEW rtl_dispatches AS SELECT d.op_id AS op_id, p.pid AS pid, d.tid AS tid,"
	" d.gpu AS gpu, d.queue AS queue, d.packet_id AS packet_id, s.string AS kernel,"
	" t.name AS mangled, d.submit_ns AS submit_ns, o.start AS begin_ns,"
	" o.\"end\" AS end_ns, max(o.\"end\" - o.start, 0) AS duration_ns,"
	" max(o.start - d.submit_ns, 0) AS wait_ns,"
	" d.grid_x AS grid_x, d.grid_y AS grid_y, d.grid_z AS grid_z,"
	" d.workgroup_x AS workgroup_x, d.workgroup_y AS workgroup_y,"
	" d.workgroup_z AS workgroup_z, d.lds_bytes AS lds_bytes,"
	" d.scratch_bytes AS scratch_bytes, d.correlation AS correlation,"
	" d.process AS process, d.uid AS uid, d.flags AS flags,"
	" d.call_ns AS call_ns, max(o.start - d.call_ns, 0) AS launch_ns, d.stream AS stream,"
	" d.range AS range"
	" FROM rtl_dispatch AS d JOIN rocpd_op AS o ON o.id = d.op_id"
	" JOIN rocpd_string AS s ON s.id = o.description_id"
	" LEFT JOIN rtl_process AS p ON p.process = d.process"
	" LEFT JOIN rtl_tracepoint AS t ON t.process = d.process AND t.uid = d.uid;";

const char schema_copy_tables[] = TABLE_RTL_COPY
	"CREATE VIEW IF NOT EXISTS rtl_copies AS SELECT c.id AS id, c.op_id AS op_id, p.pid AS pid,"
	" c.tid AS tid, CASE c.direction WHEN 0 THEN 'fill' WHEN 1 THEN 'host to device'"
	" WHEN 2 THEN 'device to host' WHEN 3 THEN 'device to device' WHEN 4 THEN 'peer to peer'"
	" WHEN 5 THEN 'host to host' END AS direction,"
	" CASE c.kind WHEN 1 THEN 'linear' WHEN 2 THEN 'rect' WHEN 3 THEN 'batch'"
	" WHEN 4 THEN 'fill' END AS kind,"
	" CASE WHEN c.flags & 16 THEN 'refused' WHEN c.flags & 4 THEN 'sdma'"
	" WHEN c.gpu = 0 THEN 'thread' WHEN c.flags & 8 THEN 'kernel' END AS done_by,"
	" c.gpu AS gpu, c.src_gpu AS src_gpu, c.dst_gpu AS dst_gpu, c.bytes AS bytes,"
	" c.submit_ns AS submit_ns, c.begin_ns AS begin_ns, c.end_ns AS end_ns,"
	" max(c.end_ns - c.begin_ns, 0) AS duration_ns, max(c.begin_ns - c.submit_ns, 0)"
	" AS wait_ns, c.bytes * 1.0 / nullif(max(c.end_ns - c.begin_ns, 0), 0) AS gb_per_s,"
	" c.src AS src, c.dst AS dst, c.extent_x AS extent_x, c.extent_y AS extent_y,"
	" c.extent_z AS extent_z, c.parts AS parts, c.engine AS engine, c.signal AS signal,"
	" c.correlation AS correlation, c.process AS process, c.uid AS uid, c.flags AS flags,"
	" c.status AS status, c.call_ns AS call_ns,"
	" max(c.begin_ns - c.call_ns, 0) AS launch_ns, c.stream AS stream, c.range AS range"
	" FROM rtl_copy AS c"
	" LEFT JOIN rtl_process AS p ON p.process = c.process;";

const char schema_call_tables[] = TABLE_RTL_CALL
	"INSERT INTO rocpd_metadata (tag, value) SELECT 'references::rocpd_string.id',"
	" '(\"rtl_call\", \"status_id\")' EXCEPT SELECT tag, value FROM rocpd_metadata;"
	"CREATE VIEW IF NOT EXISTS rtl_calls AS SELECT c.api_id AS api_id, a.pid AS pid,"
	" a.tid AS tid, dom.string AS domain, nullif(cat.string, '') AS category,"
	" nam.string AS function, a.start AS begin_ns,"
	" a.\"end\" AS end_ns, a.\"end\" - a.start AS duration_ns, arg.string AS args,"
	" nullif(sta.string, '') AS status, CASE WHEN c.flags & 4 THEN NULL ELSE c.result END"
	" AS result, c.process AS process,"
	" c.uid AS uid, c.parent_uid AS parent_uid, c.instance AS instance,"
	" c.correlation AS correlation, c.parent AS parent, c.stream AS stream,"
	" c.device AS device, c.flags & 1 AS failed, c.work AS work,"
	" ifnull(c.flags >> 2 & 1, 0) AS unfinished FROM rtl_call AS c"
	" JOIN rocpd_api AS a ON a.id = c.api_id"
	" JOIN rocpd_string AS dom ON dom.id = a.domain_id"
	" JOIN rocpd_string AS cat ON cat.id = a.category_id"
	" JOIN rocpd_string AS nam ON nam.id = a.apiName_id"
	" JOIN rocpd_ustring AS arg ON arg.id = a.args_id"
	" JOIN rocpd_string AS sta ON sta.id = c.status_id;";

const char schema_link_views[] =
	"CREATE VIEW IF NOT EXISTS rtl_api_ops AS SELECT l.api_id AS api_id,"
	" fun.string AS function, l.op_id AS op_id,"
	" row_number() OVER (PARTITION BY l.api_id ORDER BY w.submit_ns,"
	" w.packet_id, w.instance) AS place, typ.string AS type, des.string AS name,"
	" w.submit_ns AS submit_ns, o.start AS begin_ns, o.\"end\" AS end_ns,"
	" w.process AS process, w.correlation AS correlation FROM rocpd_api_ops AS l"
	" JOIN rocpd_api AS a ON a.id = l.api_id"
	" JOIN rocpd_string AS fun ON fun.id = a.apiName_id"
	" JOIN rocpd_op AS o ON o.id = l.op_id"
	" JOIN rocpd_string AS typ ON typ.id = o.opType_id"
	" JOIN rocpd_string AS des ON des.id = o.description_id"
	" JOIN (SELECT op_id, process, correlation, submit_ns, packet_id, instance"
	" FROM rtl_dispatch UNION ALL SELECT op_id, process, correlation, submit_ns, 0, instance"
	" FROM rtl_copy) AS w ON w.op_id = l.op_id;";

const char schema_marker_tables[] = TABLE_RTL_MARKER
	"CREATE VIEW IF NOT EXISTS rtl_markers AS SELECT m.api_id AS api_id, a.pid AS pid,"
	" a.tid AS tid, arg.string AS name, a.start AS begin_ns, a.\"end\" AS end_ns,"
	" a.\"end\" - a.start AS duration_ns, m.is_range AS is_range, m.level AS level,"
	" m.end_tid AS end_tid, m.process AS process, m.instance AS instance,"
	" m.parent AS parent, m.id AS id, m.flags AS flags,"
	" m.flags >> 2 & 1 AS unfinished FROM rtl_marker AS m"
	" JOIN rocpd_api AS a ON a.id = m.api_id"
	" JOIN rocpd_ustring AS arg ON arg.id = a.args_id;";

const char schema_wait_tables[] =
	"CREATE TABLE IF NOT EXISTS rtl_wait (process INTEGER PRIMARY KEY NOT NULL,"
	" waits INTEGER NOT NULL, waited_ns INTEGER NOT NULL);";

const char schema_left_out_tables[] =
	"CREATE TABLE IF NOT EXISTS rtl_left_out (process INTEGER NOT NULL, stream TEXT NOT NULL,"
	" cause TEXT NOT NULL, count INTEGER NOT NULL,"
	" PRIMARY KEY (process, stream, cause)) WITHOUT ROWID;";

const char schema_memory_tables[] = TABLE_RTL_MEM
	"CREATE VIEW IF NOT EXISTS rtl_mem_in_use AS SELECT process, CASE WHEN kind <= 3"
	" THEN CASE WHEN flags & 1 THEN 'GPU ' ELSE 'CPU ' END || node"
	" WHEN kind = 4 THEN 'addresses' WHEN kind = 5 THEN 'locked' ELSE 'attached' END AS place,"
	" end_ns AS time_ns, in_use_bytes FROM rtl_mem WHERE NOT flags & 6;";

const char schema_counter_tables[] = TABLE_RTL_COUNTER TABLE_RTL_COUNTER_INTERVAL
	"INSERT INTO rocpd_metadata (tag, value) SELECT 'references::rocpd_string.id',"
	" '(\"rtl_counter\", \"name_id\")' EXCEPT SELECT tag, value FROM rocpd_metadata;"
	"INSERT INTO rocpd_metadata (tag, value) SELECT 'references::rocpd_string.id',"
	" '(\"rtl_counter_interval\", \"name_id\")' EXCEPT SELECT tag, value FROM rocpd_metadata;"
	"CREATE VIEW IF NOT EXISTS rtl_counter_intervals AS SELECT p.pid AS pid, c.gpu AS gpu,"
	" nam.string AS counter, c.begin_ns AS begin_ns, c.end_ns AS end_ns, c.value AS value,"
	" uni.value AS unit, c.value * 1e9 / nullif(c.end_ns - c.begin_ns, 0) AS per_second,"
	" c.pass AS pass, c.flags & 1 AS derived, c.process AS process, c.reading AS reading,"
	" c.uid AS uid FROM rtl_counter_interval AS c"
	" JOIN rocpd_string AS nam ON nam.id = c.name_id"
	" JOIN rtl_process AS p ON p.process = c.process"
	" LEFT JOIN rtl_tracepoint_metadata AS uni ON uni.process = c.process AND uni.uid = c.uid"
	" AND uni.key = 'unit';"
	"CREATE VIEW IF NOT EXISTS rtl_counters AS SELECT d.op_id AS op_id, p.pid AS pid,"
	" c.gpu AS gpu, d.queue AS queue, d.packet_id AS packet_id, ker.string AS kernel,"
	" nam.string AS counter, c.value AS value, uni.value AS unit, c.pass AS pass,"
	" c.flags & 1 AS derived, c.process AS process, c.dispatch AS dispatch, c.uid AS uid"
	" FROM rtl_counter AS c JOIN rocpd_string AS nam ON nam.id = c.name_id"
	" JOIN rtl_process AS p ON p.process = c.process"
	" LEFT JOIN rtl_dispatch AS d ON d.process = c.process AND d.instance = c.dispatch"
	" LEFT JOIN rocpd_op AS o ON o.id = d.op_id"
	" LEFT JOIN rocpd_string AS ker ON ker.id = o.description_id"
	" LEFT JOIN rtl_tracepoint_metadata AS uni ON uni.process = c.process AND uni.uid = c.uid"
	" AND uni.key = 'unit';"
	/* RPD's. */
	"CREATE VIEW IF NOT EXISTS counter AS SELECT c.op_id AS op_id, ker.string AS kernelName,"
	" nam.string AS counterName, c.value AS value FROM rocpd_counter AS c"
	" JOIN rocpd_op AS o ON o.id = c.op_id JOIN rocpd_string AS ker ON ker.id = "
	"o.description_id"
	" JOIN rocpd_string AS nam ON nam.id = c.name_id;"
	"CREATE VIEW IF NOT EXISTS counter_summary AS SELECT kernelName, counterName,"
	" count(*) AS dispatches, avg(value) AS avg, min(value) AS min, max(value) AS max"
	" FROM counter GROUP BY kernelName, counterName;";

const char schema_counter_settle[] =
	"DELETE FROM rocpd_counter;"
	"INSERT INTO rocpd_counter (value, op_id, name_id) SELECT c.value, d.op_id, c.name_id"
	" FROM rtl_counter AS c JOIN rtl_dispatch AS d ON d.process = c.process"
	" AND d.instance = c.dispatch WHERE c.value NOT NULL ORDER BY d.op_id, c.rowid;";

/* As RPD's monitors of a device: its tools draw each monitorType of a GPU, and paste values into JSON. */
#define MONITOR(gpu)                                                                               \
	"DELETE FROM rocpd_monitor WHERE deviceType = 'gpu';"                                      \
	"INSERT INTO rocpd_monitor (deviceType, deviceId, monitorType, start, \"end\", value)"     \
	" SELECT 'gpu', " gpu ", n.string, c.begin_ns, c.end_ns,"                                  \
	" CASE WHEN c.value = CAST(c.value AS INTEGER) THEN CAST(CAST(c.value AS INTEGER) AS"      \
	" TEXT) ELSE printf('%.15g', c.value) END FROM rtl_counter_interval AS c"                  \
	" JOIN rocpd_string AS n ON n.id = c.name_id WHERE c.value NOT NULL"                       \
	" ORDER BY c.end_ns, c.rowid;"

const char schema_monitor_by_node[] = MONITOR("c.gpu");
const char schema_monitor_by_index[] = MONITOR(
	"ifnull((SELECT CAST(i.value AS INTEGER) FROM rtl_tracepoint_metadata AS d"
	" JOIN rtl_tracepoint AS t USING (process, uid) JOIN rtl_tracepoint_metadata AS i"
	" USING (process, uid) WHERE d.process = c.process AND d.key = 'node' AND"
	" CAST(d.value AS INTEGER) = c.gpu AND t.kind = 'agent' AND i.key = 'gpu_index'), c.gpu)");

/* Of a node's work some was submitted within a call of HIP, some not; ranges and calls may lie
 * between (scopes). The innermost node has it. */
const char schema_xpti_tables[] = TABLE_RTL_NODE TABLE_RTL_XPTI_METADATA TABLE_RTL_EDGE
	"CREATE INDEX IF NOT EXISTS rtl_index_node ON rtl_node (id, process);"
	"CREATE VIEW IF NOT EXISTS rtl_node_ops AS WITH RECURSIVE scopes (process, scope, parent)"
	" AS (SELECT process, instance, parent FROM rtl_marker UNION ALL"
	" SELECT process, instance, parent FROM rtl_call WHERE instance IN"
	" (SELECT parent FROM rtl_marker UNION SELECT parent FROM rtl_call)),"
	" inside (process, scope, node) AS (SELECT s.process, s.scope, n.id FROM scopes AS s"
	" JOIN rtl_node AS n ON n.id = s.parent AND n.process = s.process"
	" UNION SELECT s.process, s.scope, i.node FROM inside AS i"
	" JOIN scopes AS s ON s.parent = i.scope AND s.process = i.process)"
	" SELECT n.process AS process, n.id AS node,"
	" n.name AS name, n.kernel AS kernel, n.file AS file, n.line AS line, w.op_id AS op_id,"
	" o.start AS begin_ns, o.\"end\" AS end_ns FROM"
	" (SELECT DISTINCT d.op_id, d.process, ifnull(i.node, d.scope) AS node FROM"
	" (SELECT op_id, process, scope_instance AS scope FROM rtl_dispatch"
	" UNION ALL SELECT op_id, process, scope_instance FROM rtl_copy WHERE op_id IS NOT NULL"
	" UNION ALL SELECT l.op_id, c.process, c.parent FROM rtl_call AS c"
	" JOIN rocpd_api_ops AS l ON l.api_id = c.api_id) AS d"
	" LEFT JOIN inside AS i ON i.process = d.process AND i.scope = d.scope) AS w"
	" JOIN rtl_node AS n ON n.process = w.process AND n.id = w.node"
	" JOIN rocpd_op AS o ON o.id = w.op_id;";

const char schema_span_tables[] = TABLE_RTL_SPAN
	"CREATE VIEW IF NOT EXISTS rtl_spans AS SELECT s.api_id AS api_id, a.pid AS pid,"
	" a.tid AS tid, s.type AS type, CASE nam.string WHEN 'UserMarker' THEN arg.string"
	" ELSE nam.string END AS name, arg.string AS text,"
	" a.start AS begin_ns, a.\"end\" AS end_ns, a.\"end\" - a.start AS duration_ns,"
	" s.process AS process, s.object AS object, s.parent AS parent, s.uid AS uid,"
	" s.instance AS instance, s.result AS result, t.name AS stream,"
	" s.unfinished AS unfinished FROM rtl_span AS s"
	" JOIN rocpd_api AS a ON a.id = s.api_id"
	" JOIN rocpd_string AS nam ON nam.id = a.apiName_id"
	" JOIN rocpd_ustring AS arg ON arg.id = a.args_id"
	" LEFT JOIN rtl_stream AS t ON t.stream = s.stream;";

#define SEQUENCE(table)     "SELECT '" table "' AS name, (SELECT max(id) FROM " table ") AS seq"
#define AND_SEQUENCE(table) " UNION ALL " SEQUENCE(table)

/* Of ids that were given without a look at what is there (append.h). Each max(id) is a question of its own:
 * else SQLite looks at every row. */
const char schema_sequences[] =
	"DELETE FROM sqlite_sequence WHERE name IN ('rocpd_api', 'rocpd_op', 'rocpd_api_ops',"
	" 'rocpd_string', 'rocpd_ustring');"
	"INSERT INTO sqlite_sequence (name, seq) SELECT name, seq FROM (" SEQUENCE("rocpd_api")
		AND_SEQUENCE("rocpd_op") AND_SEQUENCE("rocpd_api_ops") AND_SEQUENCE("rocpd_string")
			AND_SEQUENCE("rocpd_ustring") ") WHERE seq NOT NULL";

const char *const schema_indexes[] = {
	"CREATE INDEX IF NOT EXISTS rtl_index_string ON rocpd_string (string)",
	"CREATE INDEX IF NOT EXISTS rtl_index_ustring ON rocpd_ustring (string)",
	"CREATE INDEX IF NOT EXISTS rtl_index_copy_op ON rtl_copy (op_id)",
	NULL,
};

/* The last: from a call to its dispatches; without calls there is nothing to look for. */
const struct index_spec schema_link_indexes[SCHEMA_LINK_INDEXES] = {
	{"rtl_index_api_ops_api", "rocpd_api_ops", {"api_id", "op_id"}},
	{"rtl_index_api_ops_op", "rocpd_api_ops", {"op_id", NULL}},
	{"rtl_index_dispatch_correlation", "rtl_dispatch", {"correlation", "process"}},
};
