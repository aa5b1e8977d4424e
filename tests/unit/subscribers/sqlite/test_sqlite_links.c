/* SPDX-License-Identifier: MIT */
/* test_sqlite_links.c: calls of HIP and what they made a GPU do, delivered in any order: each operation is linked to
 * its call's row, once. */
#include "test_sqlite.h"

enum { UID_LAUNCH = 501, UID_GRAPH, UID_KERNEL };

static void begin(struct trace *t, const char *settings)
{
	fake_host_tracepoint(t->host, t->process, UID_LAUNCH, "function", "hipLaunchKernel",
			     "category", "launch");
	fake_host_tracepoint(t->host, t->process, UID_GRAPH, "function", "hipGraphLaunch",
			     "category", "graph");
	fake_host_tracepoint(t->host, t->process, UID_KERNEL, "kernel", "k", NULL, NULL);
	trace_begin(t, settings);
	fake_host_stream(t->host, fake_call_stream());
	fake_host_stream(t->host, fake_copy_stream());
}

/* The call with that number, which lasts from 1000 * number on. */
static void call(struct trace *t, uint64_t uid, uint64_t number, uint32_t work)
{
	const struct rtl_hip_call payload = {
		.begin_ns = 1000 * number,
		.end_ns = 1000 * number + 500,
		.function =
			fake_host_string(t->host, t->process,
					 uid == UID_GRAPH ? "hipGraphLaunch" : "hipLaunchKernel"),
		.device = -1,
		.work = work,
	};

	FAKE_DELIVER(t->host, fake_call_stream(), RTL_FUNCTION_END, t->process, &payload,
		     .uid = uid, .tid = 4712, .instance = number, .correlation = number,
		     .time_ns = payload.end_ns);
}

/* Its place-th dispatch. */
static void dispatch(struct trace *t, uint64_t uid, uint64_t number, uint64_t place)
{
	struct rtl_hsa_dispatch d = sample_dispatch(place);

	d.submit_ns = 1000 * number + place;
	d.call_ns = 1000 * number;
	d.scope = uid;
	d.scope_instance = number;
	d.grid_x = (uint32_t)(64 * number);
	d.hip_stream = 4096;
	FAKE_DELIVER(t->host, t->hsa, RTL_TASK_END, t->process, &d, .uid = UID_KERNEL,
		     .instance = number << 20 | place, .correlation = number, .time_ns = d.end_ns);
}

static void copy(struct trace *t, uint64_t number, uint64_t bytes)
{
	const struct rtl_hsa_copy c = {
		.begin_ns = 1000 * number + 600,
		.end_ns = 1000 * number + 700,
		.submit_ns = 1000 * number + 1,
		.bytes = bytes,
		.gpu = 1,
		.dst_gpu = 1,
		.direction = RTL_HSA_COPY_HOST_TO_DEVICE,
		.kind = RTL_HSA_COPY_LINEAR,
		.call_ns = 1000 * number,
	};

	FAKE_DELIVER(t->host, fake_copy_stream(), RTL_TRANSFER_END, t->process, &c,
		     .instance = number, .correlation = number, .time_ns = c.end_ns);
}

/* Each operation has one link, to a row that is there. */
static void assert_whole(const struct trace *t)
{
	assert_sql(t,
		   "SELECT (SELECT count(*) FROM rocpd_op) - count(DISTINCT l.op_id), count(*) - "
		   "count(DISTINCT l.op_id) FROM rocpd_api_ops AS l JOIN rocpd_api AS a ON a.id = "
		   "l.api_id",
		   "0|0");
	assert_sql(t, "SELECT count(*) - count(DISTINCT id) FROM rocpd_api", "0");
}

/* Function, begin, place and grid of everything, in order of calls. */
#define LINKS                                                                                      \
	"SELECT l.function, a.start, l.place, d.grid_x FROM rtl_api_ops AS l"                      \
	" JOIN rocpd_api AS a ON a.id = l.api_id JOIN rtl_dispatch AS d ON d.op_id = l.op_id"      \
	" ORDER BY a.start, l.place"

TRACE_TEST(test_sqlite_links__call_first__is_linked)
{
	begin(t, "");
	call(t, UID_LAUNCH, 1, 1);
	call(t, UID_LAUNCH, 2, 1);
	dispatch(t, UID_LAUNCH, 2, 0);
	dispatch(t, UID_LAUNCH, 1, 0);
	trace_end(t);
	assert_sql(t, LINKS, "hipLaunchKernel|1000|1|64;hipLaunchKernel|2000|1|128");
	assert_sql(t, "SELECT gridX, stream FROM kernel ORDER BY 1", "64|0x1000;128|0x1000");
	assert_sql(t, "SELECT launch_ns FROM rtl_dispatches WHERE grid_x = 64", "4999300");
	assert_whole(t);
}

TRACE_TEST(test_sqlite_links__operation_first__is_linked)
{
	begin(t, "");
	copy(t, 7, 100);
	dispatch(t, UID_LAUNCH, 5, 0);
	fake_host_flush(t->host);
	call(t, UID_LAUNCH, 5, 1);
	call(t, UID_LAUNCH, 7, 2);
	copy(t, 7, 20);
	trace_end(t);
	assert_sql(t, LINKS, "hipLaunchKernel|5000|1|320");
	assert_sql(t, "SELECT start, size FROM copy", "7000|120");
	assert_sql(t, "SELECT count(*) FROM rtl_api_ops WHERE function = 'hipLaunchKernel'", "3");
	assert_whole(t);
}

/* Another thread's doorbell took some of their packets along: before, and after they had returned.
 */
TRACE_TEST(test_sqlite_links__threads_counted_too_few__work_is_what_came)
{
	begin(t, "");
	dispatch(t, UID_LAUNCH, 1, 0);
	call(t, UID_LAUNCH, 1, 0);
	call(t, UID_LAUNCH, 2, 0);
	dispatch(t, UID_LAUNCH, 2, 0);
	dispatch(t, UID_LAUNCH, 3, 0);
	call(t, UID_LAUNCH, 3, 1);
	dispatch(t, UID_LAUNCH, 3, 1);
	call(t, UID_LAUNCH, 4, 1);
	dispatch(t, UID_LAUNCH, 4, 0);
	dispatch(t, UID_LAUNCH, 4, 1);
	call(t, UID_LAUNCH, 5, 0);
	call(t, UID_LAUNCH, 6, 1); /* what it did was not recorded */
	trace_end(t);
	assert_sql(t, "SELECT group_concat(work) FROM rtl_call", "1,1,2,2,0,1");
	assert_whole(t);
}

/* Its process ended within it: the row has that end, its own thread and what it has done. */
TRACE_TEST(test_sqlite_links__call_has_not_ended__is_a_row_all_the_same)
{
	const struct rtl_hip_call payload = {
		.begin_ns = 1000,
		.function = 0,
		.device = -1,
		.flags = RTL_HIP_CALL_UNFINISHED,
		.tid = 4713,
	};

	begin(t, "");
	dispatch(t, UID_LAUNCH, 1, 0);
	FAKE_DELIVER(t->host, fake_call_stream(), RTL_FUNCTION_UNFINISHED, t->process, &payload,
		     .uid = UID_LAUNCH, .tid = 1, .instance = 1, .correlation = 1, .time_ns = 9000);
	dispatch(t, UID_LAUNCH, 1, 1);
	trace_end(t);
	assert_sql(t,
		   "SELECT tid, begin_ns, end_ns, unfinished, failed, result IS NULL, work FROM "
		   "rtl_calls",
		   "4713|1000|9000|1|0|1|2");
	assert_sql(t, "SELECT count(*) FROM rtl_api_ops", "2");
	assert_whole(t);
}

TRACE_TEST(test_sqlite_links__graph__has_order_and_no_kernelapi)
{
	begin(t, "");
	dispatch(t, UID_GRAPH, 3, 2);
	dispatch(t, UID_GRAPH, 3, 0);
	call(t, UID_GRAPH, 3, 4);
	dispatch(t, UID_GRAPH, 3, 3);
	dispatch(t, UID_GRAPH, 3, 1);
	trace_end(t);
	assert_sql(t,
		   "SELECT l.function, l.place, d.submit_ns FROM rtl_api_ops AS l JOIN "
		   "rtl_dispatch AS d ON d.op_id = l.op_id ORDER BY l.place",
		   "hipGraphLaunch|1|3000;hipGraphLaunch|2|3001;hipGraphLaunch|3|3002;"
		   "hipGraphLaunch|4|3003");
	assert_sql(t, "SELECT count(*) FROM kernel", "0");
	assert_sql(t, "SELECT work FROM rtl_calls", "4");
	assert_whole(t);
}

TRACE_TEST(test_sqlite_links__no_call_recorded__submission_stands)
{
	begin(t, "");
	dispatch(t, UID_LAUNCH, 9, 0); /* its process died in the call */
	dispatch(t, UID_LAUNCH, 9, 1);
	copy(t, 8, 50);
	dispatch(t, UID_LAUNCH, 0, 0); /* by another thread */
	trace_end(t);
	assert_sql(t,
		   "SELECT apiName, domain, count(*) FROM api WHERE domain = 'hsa' GROUP BY "
		   "apiName ORDER BY 1",
		   "KernelDispatch|hsa|3;MemoryCopy|hsa|1");
	assert_sql(t, "SELECT count(*) FROM kernel", "3");
	assert_sql(t, "SELECT size FROM copyop", "50");
	assert_whole(t);
}

RUN_TESTS(trace_setup, trace_teardown, NULL, NULL)
