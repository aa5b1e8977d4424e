/* SPDX-License-Identifier: MIT */
/* test_sqlite_copies.c: what becomes of the stream rtl.hsa.copy. */
#include "test_sqlite.h"

static struct rtl_hsa_copy sample_copy(void)
{
	return (struct rtl_hsa_copy){
		.begin_ns = 5000300,
		.end_ns = 5000900,
		.submit_ns = 5000000,
		.bytes = 6000,
		.src = 0x7f0000001000,
		.dst = 0x7e0000002000,
		.signal = 0x5000,
		.gpu = 2,
		.dst_gpu = 2,
		.direction = RTL_HSA_COPY_HOST_TO_DEVICE,
		.kind = RTL_HSA_COPY_LINEAR,
		.submit_tid = 4712,
		.flags = RTL_HSA_COPY_APP_SIGNAL | RTL_HSA_COPY_SDMA,
		.parts = 1,
		.scope = 77,
		.scope_instance = 78,
		.call_ns = 4999990,
		.hip_stream = 4096,
		.range = 79,
	};
}

static void deliver_copy(struct trace *t, const struct rtl_hsa_copy *copy)
{
	FAKE_DELIVER(t->host, fake_copy_stream(), RTL_TRANSFER_END, t->process, copy, .uid = 70,
		     .parent_uid = 60, .instance = 12, .correlation = 13, .time_ns = copy->end_ns);
}

static void begin(struct trace *t, const char *settings)
{
	fake_host_tracepoint(t->host, t->process, 60, "agent", "gfx906", NULL, NULL);
	fake_host_tracepoint(t->host, t->process, 70, "copy", "CopyHostToDevice", NULL, NULL);
	fake_host_tracepoint(t->host, t->process, 77, "call", "hipMemcpy", NULL, NULL);
	trace_begin(t, settings);
	fake_host_stream(t->host, fake_copy_stream());
}

TRACE_TEST(test_sqlite_copies__copy__has_everything)
{
	struct rtl_hsa_copy copy = sample_copy();

	begin(t, "");
	assert_true(fake_host_subscribed(t->host, fake_copy_stream(), RTL_TRANSFER_END));
	assert_false(fake_host_subscribed(t->host, fake_copy_stream(), RTL_TRANSFER_BEGIN));
	deliver_copy(t, &copy);
	trace_end(t);
	assert_sql(t,
		   "SELECT id, op_id, begin_ns, end_ns, process, uid, gpu, src_gpu, dst_gpu, "
		   "direction, kind, bytes, src, dst, submit_ns, tid, correlation, instance, "
		   "flags, engine, extent_x, extent_y, extent_z, parts, status, signal, scope, "
		   "scope_instance, call_ns, stream, range FROM rtl_copy",
		   "3|3|5000300|5000900|1|70|2|0|2|1|1|6000|139637976731648|138538465107968|"
		   "5000000|4712|13|12|5|0|0|0|0|1|0|20480|77|78|4999990|4096|79");
	assert_sql(t, "SELECT * FROM op", "3|2|0|12|5000300|5000900||CopyHostToDevice");
	assert_sql(t,
		   "SELECT pid, tid, start, \"end\", domain, apiName FROM api WHERE domain = 'hsa'",
		   "4711|4712|5000000|5000000|hsa|MemoryCopy");
	assert_sql(t,
		   "SELECT gpuId, duration, size, kind, dst, src, dstDevice, srcDevice, sync FROM "
		   "copyop",
		   "2|600|6000|1|0x7e0000002000|0x7f0000001000|2|0|0");
	assert_sql(t, "SELECT tid, size, apiName FROM copy", "4712|6000|MemoryCopy");
	assert_sql(t,
		   "SELECT pid, direction, kind, done_by, bytes, duration_ns, wait_ns, gb_per_s "
		   "FROM rtl_copies",
		   "4711|host to device|linear|sdma|6000|600|300|10.0");
	assert_sql(t, "SELECT table_name FROM rtl_type WHERE name = 'transfer_end'",
		   "rtl_s_rtl_hsa_copy_transfer_end");
	/* An op without a description counts under its type. */
	assert_sql(t, "SELECT Name, TotalCalls FROM top", "CopyHostToDevice|1");
	assert_sql(t, "SELECT uid, kind FROM rtl_tracepoint ORDER BY uid",
		   "60|agent;70|copy;77|call");
}

TRACE_TEST(test_sqlite_copies__no_work_of_a_gpu__is_no_op)
{
	struct rtl_hsa_copy refused = sample_copy(), host = sample_copy();

	begin(t, "");
	refused.flags = RTL_HSA_COPY_APP_SIGNAL | RTL_HSA_COPY_FAILED;
	refused.begin_ns = refused.end_ns = 0;
	refused.status = 4097;
	host.gpu = host.dst_gpu = 0;
	host.direction = RTL_HSA_COPY_HOST_TO_HOST;
	host.flags = RTL_HSA_COPY_APP_SIGNAL | RTL_HSA_COPY_BLIT;
	deliver_copy(t, &refused);
	deliver_copy(t, &host);
	trace_end(t);
	assert_sql(t, "SELECT count(*) FROM rocpd_op", "0");
	assert_sql(t, "SELECT count(*) FROM rocpd_copyapi", "0");
	assert_sql(t, "SELECT direction, done_by, begin_ns IS NULL, status FROM rtl_copies",
		   "host to device|refused|1|4097;host to host|thread|0|0");
}

TRACE_TEST(test_sqlite_copies__no_times__stand_where_submitted)
{
	struct rtl_hsa_copy copy = sample_copy();

	begin(t, "");
	copy.flags = RTL_HSA_COPY_APP_SIGNAL | RTL_HSA_COPY_NO_TIME;
	copy.begin_ns = copy.end_ns = 0;
	deliver_copy(t, &copy);
	trace_end(t);
	assert_sql(t, "SELECT start, \"end\" FROM rocpd_op", "5000000|5000000");
	assert_sql(t, "SELECT begin_ns IS NULL, gb_per_s IS NULL FROM rtl_copies", "1|1");
}

TRACE_TEST(test_sqlite_copies__fill_in_a_call__is_a_call)
{
	struct rtl_hsa_copy fill = sample_copy();

	begin(t, "");
	fill.kind = RTL_HSA_COPY_FILL;
	fill.direction = RTL_HSA_COPY_NONE;
	fill.flags = RTL_HSA_COPY_CALL_TIME | RTL_HSA_COPY_BLIT;
	deliver_copy(t, &fill);
	trace_end(t);
	assert_sql(t, "SELECT opType FROM op", "FillBuffer");
	assert_sql(t, "SELECT apiName, start, \"end\" FROM api WHERE domain = 'hsa'",
		   "MemoryFill|5000000|5000900");
	assert_sql(t, "SELECT count(*) FROM rocpd_copyapi", "0");
}

RUN_TESTS(trace_setup, trace_teardown, NULL, NULL)
