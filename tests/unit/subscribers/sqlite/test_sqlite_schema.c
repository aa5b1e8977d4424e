/* SPDX-License-Identifier: MIT */
/* test_sqlite_schema.c: the tables and views that readers of the rocpd schema (RPD, version 3)
 * expect, by name and column; and that an output is one whole file. */
#include "test_sqlite.h"

struct expected {
	const char *type, *name, *columns;
};

static const struct expected rocpd[] = {
	{"table", "rocpd_metadata", "id,tag,value"},
	{"view", "rocpd_string", "id,string"},
	{"view", "rocpd_ustring", "id,string"},
	{"view", "rocpd_api", "id,pid,tid,start,end,apiName_id,category_id,domain_id,args_id"},
	{"view", "rocpd_op", "id,gpuId,queueId,sequenceId,start,end,description_id,opType_id"},
	{"view", "rocpd_api_ops", "id,api_id,op_id"},
	{"view", "rocpd_kernelapi",
	 "api_ptr_id,stream,gridX,gridY,gridZ,workgroupX,workgroupY,workgroupZ,"
	 "groupSegmentSize,privateSegmentSize,kernelName_id"},
	{"view", "rocpd_copyapi",
	 "api_ptr_id,stream,size,width,height,kind,dst,src,dstDevice,srcDevice,sync,pinned"},
	{"view", "rocpd_monitor", "id,deviceType,deviceId,monitorType,start,end,value"},
	{"view", "rocpd_counter", "id,value,op_id,name_id"},
	{"view", "rocpd_stackframe", "id,api_ptr_id,depth,name_id"},
	{"view", "api", "id,pid,tid,start,end,domain,category,apiName,args"},
	{"view", "op", "id,gpuId,queueId,sequenceId,start,end,description,opType"},
	{"view", "busy", "gpuId,GpuTime,WallTime,Busy"},
	{"view", "top", "Name,TotalCalls,TotalDuration_us,Ave_us,Percentage"},
	{"view", "kernel",
	 "id,gpuId,queueId,sequenceId,start,end,duration,stream,gridX,gridY,gridZ,workgroupX,"
	 "workgroupY,workgroupZ,groupSegmentSize,privateSegmentSize,kernelName"},
	{"view", "copy",
	 "id,pid,tid,start,end,apiName,stream,size,width,height,kind,dst,src,dstDevice,"
	 "srcDevice,sync,pinned"},
	{"view", "copyop",
	 "id,gpuId,queueId,sequenceId,start,end,duration,stream,size,width,height,kind,dst,src,"
	 "dstDevice,srcDevice,sync,pinned,apiName"},
	{"view", "stackframe", "id,string,depth,string:1"},
	{"view", "napi", "id,node,pid,tid,start,end,domain,category,apiName,args"},
	{"view", "nop", "id,node,gpuId,queueId,sequenceId,start,end,description,opType"},
};

#define COUNT (sizeof(rocpd) / sizeof(rocpd[0]))

TRACE_TEST(test_sqlite_schema__a_trace__has_each_table_and_view_of_rocpd)
{
	trace_begin(t, "");
	trace_end(t);
	for (size_t i = 0; i < COUNT; i++) {
		char sql[256];

		snprintf(sql, sizeof(sql), "SELECT type FROM sqlite_master WHERE name = '%s'",
			 rocpd[i].name);
		assert_sql(t, sql, rocpd[i].type);
		snprintf(sql, sizeof(sql), "SELECT group_concat(name) FROM pragma_table_info('%s')",
			 rocpd[i].name);
		assert_sql(t, sql, rocpd[i].columns);
	}
}

static void read_all_views(const char *file)
{
	for (size_t i = 0; i < COUNT; i++) {
		char sql[256];

		snprintf(sql, sizeof(sql), "SELECT * FROM %s LIMIT 5", rocpd[i].name);
		ask(file, sql);
	}
	ask(file, "SELECT * FROM rtl_dispatches LIMIT 5");
}

TRACE_TEST(test_sqlite_schema__empty_trace__views_can_be_read)
{
	assert_int_equal(trace_load(t, ""), 0);
	trace_end(t);
	read_all_views(t->file);
	assert_sql(t, "SELECT count(*) FROM top", "0");
	assert_sql(t, "SELECT count(*) FROM busy", "0");
}

TRACE_TEST(test_sqlite_schema__filled_trace__views_say_what_they_mean)
{
	fake_host_tracepoint(t->host, t->process, 100, "kernel", "_Z3addPf", "demangled",
			     "add(float*)");
	trace_begin(t, "");
	for (uint64_t i = 0; i < 4; i++) {
		struct rtl_hsa_dispatch d = sample_dispatch(i);

		deliver_dispatch(t, t->process, &d, 100);
	}
	trace_end(t);
	read_all_views(t->file);
	/* 4 kernels of 600 ns, from 5000300 to 5003900. */
	assert_sql(t, "SELECT * FROM top", "add(float*)|4|2|0.6|100.0");
	assert_sql(t, "SELECT * FROM busy ORDER BY gpuId",
		   "1|1200|3600|0.333333333333333;2|1200|3600|0.333333333333333");
	assert_sql(t, "SELECT * FROM op WHERE id = 4",
		   "4|2|2|1|5001300|5001900|add(float*)|KernelExecution");
	assert_sql(t, "SELECT * FROM kernel WHERE id = 4",
		   "4|2|2|1|5001300|5001900|600||1024|2|3|64|4|5|4096|16|add(float*)");
	assert_sql(t, "SELECT * FROM api WHERE id = 4",
		   "4|4711|4711|5001000|5001000|hsa||KernelDispatch|add(float*)");
	assert_sql(t, "SELECT * FROM nop WHERE id = 3",
		   "3|0|1|1|0|5000300|5000900|add(float*)|KernelExecution");
	assert_sql(t, "SELECT node, pid, tid FROM napi WHERE id = 4", "0|4711|4711");
}

TRACE_TEST(test_sqlite_schema__metadata__say_version_and_run)
{
	trace_begin(t, "");
	trace_end(t);
	assert_sql(t,
		   "SELECT value FROM rocpd_metadata WHERE tag IN ('gpu_stride', 'pid_stride', "
		   "'schema_version') ORDER BY tag",
		   "1000;10000000;3");
	assert_sql(t, "SELECT id, string FROM rocpd_string WHERE id = 1", "1|");
	assert_sql(t, "SELECT id, string FROM rocpd_ustring WHERE id = 1", "1|");
	assert_sql(t, "SELECT * FROM rtl_meta ORDER BY key",
		   "clock|CLOCK_BOOTTIME, "
		   "ns;gpu|node;mode|standard;schema|2;session|test-session;state|complete;version|"
		   "0.1.0;where|process");
	assert_sql(t, "SELECT value FROM rocpd_metadata WHERE tag = 'rtl_session'", "test-session");
}

TRACE_TEST(test_sqlite_schema__finished__is_one_file_without_traces_of_writing)
{
	trace_begin(t, "");
	deliver_dispatches(t, 2000);
	trace_end(t);
	assert_false(file_exists(in_folder(t, "t.db-wal")));
	assert_false(file_exists(in_folder(t, "t.db-shm")));
	assert_sql(t, "PRAGMA journal_mode", "delete");
	assert_sql(t, "PRAGMA page_size", "16384");
	assert_sql(t, "PRAGMA integrity_check", "ok");
	assert_sql(t, "PRAGMA foreign_key_check", "");
	assert_sql(t, "SELECT count(*) FROM sqlite_master WHERE sql LIKE '%rtl_memory%'", "0");
}

/* Each query that the documentation offers, as it stands there. */
TRACE_TEST(test_sqlite_schema__queries_of_the_documentation__can_be_run)
{
	FILE *f = fopen(SQLITE_DOCUMENT, "r");
	char line[512], sql[4096];
	int queries = 0;
	bool inside = false;

	assert_non_null(f);
	trace_begin(t, "");
	deliver_dispatches(t, 100);
	trace_end(t);
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, "```", 3) == 0) {
			if (inside) {
				queries++;
				ask(t->file, sql);
			}
			inside = strncmp(line, "```sql", 6) == 0;
			sql[0] = '\0';
		} else if (inside) {
			assert_true(strlen(sql) + strlen(line) < sizeof(sql));
			strcat(sql, line);
		}
	}
	fclose(f);
	assert_int_equal(queries, 12);
}

RUN_TESTS(trace_setup, trace_teardown, NULL, NULL)
