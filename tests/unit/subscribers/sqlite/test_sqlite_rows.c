/* SPDX-License-Identifier: MIT */
/* test_sqlite_rows.c: what becomes of dispatches, queues, processes, tracepoints and the ledger. */
#include "test_sqlite.h"

static void deliver_queue(struct trace *t, uint16_t type, uint32_t number, uint64_t time_ns)
{
	struct rtl_hsa_queue q = {
		.address = 0x1000 * number, .gpu = 2, .queue = number, .packets = 4096, .type = 1};

	FAKE_DELIVER(t->host, t->hsa, type, t->process, &q, .uid = 70 + number, .parent_uid = 60,
		     .time_ns = time_ns);
}

TRACE_TEST(test_sqlite_rows__subscriptions__only_what_becomes_rows)
{
	trace_begin(t, "");
	assert_true(fake_host_subscribed(t->host, t->hsa, RTL_TASK_END));
	assert_true(fake_host_subscribed(t->host, t->hsa, RTL_QUEUE_CREATE));
	assert_true(fake_host_subscribed(t->host, t->hsa, RTL_QUEUE_DESTROY));
	assert_true(fake_host_subscribed(t->host, t->hsa, RTL_METADATA));
	assert_false(fake_host_subscribed(t->host, t->hsa, RTL_TASK_BEGIN));
}

TRACE_TEST(test_sqlite_rows__dispatch__has_everything)
{
	struct rtl_hsa_dispatch d = sample_dispatch(0);

	fake_host_tracepoint(t->host, t->process, UINT64_MAX - 1, "kernel", "_Z3addPf", "demangled",
			     "add(float*)");
	trace_begin(t, "");
	d.packet_id = UINT64_C(1) << 40;
	d.flags = RTL_HSA_DISPATCH_APP_SIGNAL;
	d.scope = 77;
	d.scope_instance = 78;
	d.call_ns = 4999990;
	d.hip_stream = 4096;
	d.range = 79;
	fake_host_tracepoint(t->host, t->process, 77, "call", "launch", NULL, NULL);
	FAKE_DELIVER(t->host, t->hsa, RTL_TASK_END, t->process, &d, .uid = UINT64_MAX - 1,
		     .instance = 12, .correlation = 13, .time_ns = d.end_ns);
	trace_end(t);
	assert_sql(t,
		   "SELECT op_id, process, uid, queue, gpu, packet_id, kernel_object, submit_ns, "
		   "tid, correlation, instance, flags, grid_x, grid_y, grid_z, workgroup_x, "
		   "workgroup_y, workgroup_z, lds_bytes, scratch_bytes, scope, scope_instance, "
		   "call_ns, stream, range FROM rtl_dispatch",
		   "3|1|-2|1|1|1099511627776|139637976731648|5000000|4711|13|12|1|1024|2|3|64|4|5|"
		   "4096|16|77|78|4999990|4096|79");
	assert_sql(t, "SELECT * FROM op WHERE id = 3",
		   "3|1|1|1099511627776|5000300|5000900|add(float*)|KernelExecution");
	assert_sql(t,
		   "SELECT pid, tid, gpu, queue, kernel, mangled, begin_ns, end_ns, duration_ns, "
		   "wait_ns FROM rtl_dispatches WHERE op_id = 3",
		   "4711|4711|1|1|add(float*)|_Z3addPf|5000300|5000900|600|300");
	assert_sql(t, "SELECT process, printf('%016x', uid), kind, name FROM rtl_tracepoint",
		   "1|fffffffffffffffe|kernel|_Z3addPf;1|000000000000004d|call|launch");
	assert_sql(t, "SELECT key, value FROM rtl_tracepoint_metadata", "demangled|add(float*)");
}

TRACE_TEST(test_sqlite_rows__kernel_names__fall_back_and_are_fit_for_readers)
{
	struct rtl_hsa_dispatch d = sample_dispatch(0);

	fake_host_tracepoint(t->host, t->process, 1, "kernel", "mangled_only", NULL, NULL);
	fake_host_tracepoint(t->host, t->process, 2, "kernel", "m", "demangled",
			     "operator\"\" _x<\\>\n");
	fake_host_tracepoint(t->host, t->process, 3, "kernel", "bad\xff utf8 \xc3\xa4", NULL, NULL);
	trace_begin(t, "");
	for (uint64_t uid = 1; uid <= 3; uid++)
		deliver_dispatch(t, t->process, &d, uid);
	d.kernel_name = fake_host_string(t->host, t->process, "by_string");
	deliver_dispatch(t, t->process, &d, 0);
	deliver_dispatch(t, t->process, &d, 99); /* a tracepoint nobody knows */
	d.kernel_name = 0;
	deliver_dispatch(t, t->process, &d, 0);
	trace_end(t);
	assert_sql(t, "SELECT description FROM op ORDER BY id",
		   "mangled_only;operator'' _x</> ;bad\xef\xbf\xbd utf8 "
		   "\xc3\xa4;by_string;by_string;(unknown kernel)");
}

TRACE_TEST(test_sqlite_rows__mangled_kernel__is_demangled_here)
{
	struct rtl_hsa_dispatch d = sample_dispatch(0);

	fake_host_tracepoint(t->host, t->process, 5, "kernel", "_Z3incPii", NULL, NULL);
	fake_host_tracepoint(t->host, t->process, 6, "function", "_Z3decPii", NULL, NULL);
	trace_begin(t, "");
	deliver_dispatch(t, t->process, &d, 5);
	trace_end(t);
	assert_sql(t, "SELECT description FROM op ORDER BY id", "inc(int*, int)");
	assert_sql(t, "SELECT kernel, mangled FROM rtl_dispatches WHERE uid",
		   "inc(int*, int)|_Z3incPii");
	assert_sql(t, "SELECT DISTINCT kernelName FROM kernel ORDER BY 1", "inc(int*, int)");
	assert_sql(t, "SELECT uid, key, value FROM rtl_tracepoint_metadata",
		   "5|demangled|inc(int*, int)");
}

TRACE_TEST(test_sqlite_rows__metadata_event__brings_a_better_name)
{
	struct rtl_hsa_dispatch d = sample_dispatch(0);
	struct rtl_hsa_metadata m = {.address = 0x500, .gpu = 2};

	fake_host_tracepoint(t->host, t->process, 5, "kernel", "_Z1f", NULL, NULL);
	trace_begin(t, "");
	deliver_dispatch(t, t->process, &d, 5);
	fake_host_tracepoint(t->host, t->process, 5, "kernel", "_Z1f", "demangled", "f()");
	m.name = fake_host_string(t->host, t->process, "f.kd");
	FAKE_DELIVER(t->host, t->hsa, RTL_METADATA, t->process, &m, .uid = 5);
	deliver_dispatch(t, t->process, &d, 5);
	trace_end(t);
	assert_sql(t, "SELECT description FROM op ORDER BY id", "f();f()");
	assert_sql(t, "SELECT uid, address, name, gpu FROM rtl_e_rtl_hsa_metadata",
		   "5|1280|f.kd|2");
	assert_sql(t, "SELECT value FROM rtl_tracepoint_metadata", "f()");
}

TRACE_TEST(test_sqlite_rows__metadata_set_late__is_there_at_the_end)
{
	struct rtl_hsa_dispatch d = sample_dispatch(0);

	fake_host_tracepoint(t->host, t->process, 5, "kernel", "k", NULL, NULL);
	trace_begin(t, "");
	deliver_dispatch(t, t->process, &d, 5);
	fake_host_flush(t->host);
	fake_host_tracepoint(t->host, t->process, 5, "kernel", "k", "vgprs", "64");
	trace_end(t);
	assert_sql(t, "SELECT key, value FROM rtl_tracepoint_metadata", "vgprs|64");
}

TRACE_TEST(test_sqlite_rows__no_gpu_time__is_an_instant_at_submission)
{
	struct rtl_hsa_dispatch d = sample_dispatch(0);

	trace_begin(t, "");
	d.begin_ns = d.end_ns = 0;
	d.flags = RTL_HSA_DISPATCH_NO_TIME;
	deliver_dispatch(t, t->process, &d, 100);
	trace_end(t);
	assert_sql(t, "SELECT start, \"end\" FROM rocpd_op", "5000000|5000000");
	assert_sql(t, "SELECT flags FROM rtl_dispatch", "2");
}

TRACE_TEST(test_sqlite_rows__two_processes__queues_stay_apart)
{
	struct rtl_process *other = fake_host_process(t->host, 2, 4712, "/bin/rank1");
	struct rtl_hsa_dispatch d = sample_dispatch(0); /* queue 1 */

	fake_host_tracepoint(t->host, t->process, 100, "kernel", "in_one", NULL, NULL);
	fake_host_tracepoint(t->host, other, 100, "kernel", "in_two", NULL, NULL);
	trace_begin(t, "");
	fake_host_begin(t->host, other);
	deliver_dispatch(t, t->process, &d, 100);
	deliver_dispatch(t, other, &d, 100);
	d.queue = 4000000000u;
	deliver_dispatch(t, other, &d, 100);
	deliver_dispatch(t, t->process, &d, 100);
	trace_end(t);
	assert_sql(t, "SELECT queueId, description FROM op ORDER BY id",
		   "1|in_one;3|in_two;4|in_two;2|in_one");
	assert_sql(t, "SELECT queueId, process, queue FROM rtl_queue ORDER BY queueId",
		   "1|1|1;2|1|4000000000;3|2|1;4|2|4000000000");
	assert_sql(t, "SELECT pid, apiName, args FROM api WHERE domain = 'rtl' ORDER BY pid",
		   "4711|Process|/usr/bin/app;4711|ProcessEnd|/usr/bin/app;4712|Process|/bin/"
		   "rank1;4712|ProcessEnd|/bin/rank1");
	assert_sql(t, "SELECT process, pid, program FROM rtl_process ORDER BY process",
		   "1|4711|/usr/bin/app;2|4712|/bin/rank1");
}

TRACE_TEST(test_sqlite_rows__queue_events__make_one_row)
{
	fake_host_tracepoint(t->host, t->process, 73, "queue", "queue 3", "priority", "high");
	trace_begin(t, "");
	deliver_queue(t, RTL_QUEUE_CREATE, 3, 1500000);
	deliver_queue(t, RTL_QUEUE_DESTROY, 3, 1900000);
	trace_end(t);
	assert_sql(t, "SELECT * FROM rtl_queue", "3|1|3|2|73|12288|4096|1|1500000|1900000");
	assert_sql(t, "SELECT uid, kind, name FROM rtl_tracepoint", "73|queue|queue 3");
}

TRACE_TEST(test_sqlite_rows__process__is_marked_by_rows_of_api_that_last_nothing)
{
	trace_begin(t, "");
	deliver_dispatches(t, 1000);
	fake_host_flush(t->host);
	trace_end(t);
	assert_sql(t, "SELECT apiName, start, \"end\" FROM api WHERE domain = 'rtl'",
		   "Process|1000000|1000000;ProcessEnd|5999900|5999900");
	assert_sql(t, "SELECT min(start), max(\"end\") FROM rocpd_api", "1000000|5999900");
	assert_sql(t,
		   "SELECT a.start, z.start FROM rtl_process AS p JOIN rocpd_api AS a ON a.id = "
		   "p.api_id JOIN rocpd_api AS z ON z.id = p.end_api_id",
		   "1000000|5999900");
	assert_sql(t, "SELECT min(start) >= 1000000, max(\"end\") <= 5999900 FROM rocpd_op", "1|1");
	assert_sql(t, "SELECT start_ns, end_ns FROM rtl_process", "1000000|5999900");
	assert_int_equal(ask_int(t->file, "SELECT count(*) FROM rtl_clock WHERE error_ns >= 0"), 2);
}

TRACE_TEST(test_sqlite_rows__ledger_and_losses__as_the_host_says)
{
	struct rtl_ledger ledger = {.published = 100,
				    .delivered = 90,
				    .discarded = 7,
				    .abandoned = 3,
				    .missed = 5,
				    .left_out = 2};

	trace_begin(t, "");
	fake_host_set_ledger(t->host, t->hsa, &ledger);
	fake_host_add_loss(t->host, t->hsa, "no signal left", 5);
	fake_host_add_loss(t->host, t->hsa, "ring's full", 7);
	trace_end(t);
	assert_sql(t, "SELECT * FROM rtl_ledger", "1|rtl.hsa|100|90|7|3|5|2");
	assert_sql(t, "SELECT * FROM rtl_loss ORDER BY cause",
		   "1|rtl.hsa|no signal left|5;1|rtl.hsa|ring's full|7");
}

TRACE_TEST(test_sqlite_rows__fields__are_described)
{
	trace_begin(t, "");
	deliver_dispatches(t, 1);
	trace_end(t);
	assert_answer(
		t->file,
		"SELECT s.name, t.name, t.table_name, f.name, f.kind, f.unit, f.size_bytes"
		" FROM rtl_field f JOIN rtl_type t USING (stream, type)"
		" JOIN rtl_stream s USING (stream) WHERE f.name = 'lds' OR f.name = 'begin_ns'"
		" AND t.type = 11",
		"rtl.hsa|task_end|rtl_s_rtl_hsa_task_end|begin_ns|time|ns|8");
}

TRACE_TEST(test_sqlite_rows__short_payload__is_counted_not_read)
{
	struct rtl_hsa_dispatch d = sample_dispatch(0);
	struct rtl_event e = fake_event(t->hsa, RTL_TASK_END, t->process, &d, 8);

	trace_begin(t, "");
	fake_host_deliver_one(t->host, &e);
	trace_end(t);
	assert_sql(t, "SELECT count(*) FROM rocpd_op", "0");
	assert_sql(t, "SELECT stream, cause, count FROM rtl_loss",
		   "rtl.hsa|sqlite: not as described|1");
}

TRACE_TEST(test_sqlite_rows__unknown_version__has_tables_of_its_own)
{
	struct rtl_stream_info newer = *t->hsa;
	struct rtl_hsa_dispatch d = sample_dispatch(3);

	newer.version_major = RTL_STREAM_HSA_VERSION + 1;
	t->hsa = &newer;
	trace_begin(t, "");
	deliver_dispatch(t, t->process, &d, 100);
	trace_end(t);
	assert_sql(t, "SELECT begin_ns, gpu, queue, grid_x FROM rtl_e_rtl_hsa_task_end_2",
		   "5003300|2|1|1024");
	assert_sql(t, "SELECT count(*) FROM rocpd_op", "0");
}

TRACE_TEST(test_sqlite_rows__newer_minor_version__is_in_the_views)
{
	struct rtl_stream_info newer = *t->hsa;
	const struct rtl_type_info *known = rtl_stream_find_type(t->hsa, RTL_TASK_END);
	struct {
		struct rtl_hsa_dispatch dispatch;
		uint64_t more;
	} payload = {sample_dispatch(3), 7};
	struct rtl_field *fields = calloc(known->field_count + 1u, sizeof(*fields));
	struct rtl_type_info type = *known;

	for (uint32_t i = 0; i < known->field_count; i++)
		fields[i] = *rtl_type_field(known, i);
	fields[type.field_count++] = (struct rtl_field){.struct_size = sizeof(*fields),
							.kind = RTL_KIND_UINT,
							.offset = sizeof(payload.dispatch),
							.size = 8,
							.name = "more"};
	type.payload_size = sizeof(payload);
	type.fields = fields;
	newer.version_minor++;
	newer.types = &type;
	newer.type_count = 1;
	t->hsa = &newer;
	trace_begin(t, "");
	FAKE_DELIVER(t->host, &newer, RTL_TASK_END, t->process, &payload);
	trace_end(t);
	assert_sql(t, "SELECT gpu, packet_id FROM rtl_dispatch", "2|3");
	free(fields);
}

TRACE_TEST(test_sqlite_rows__older_minor_version__is_in_the_views)
{
	struct rtl_stream_info older = *t->hsa;
	const struct rtl_type_info *known = rtl_stream_find_type(t->hsa, RTL_TASK_END);
	struct rtl_hsa_dispatch payload = sample_dispatch(3);
	struct rtl_type_info type = *known;
	const struct rtl_field *missing = rtl_type_field(known, --type.field_count);
	char question[256];
	struct rtl_event e;

	memset((char *)&payload + missing->offset, 0xff, sizeof(payload) - missing->offset);
	type.payload_size = missing->offset;
	older.version_minor--;
	older.types = &type;
	older.type_count = 1;
	t->hsa = &older;
	trace_begin(t, "");
	e = fake_event(&older, RTL_TASK_END, t->process, &payload, missing->offset);
	fake_host_deliver_one(t->host, &e);
	trace_end(t);
	assert_sql(t, "SELECT gpu, packet_id FROM rtl_dispatch", "2|3");
	snprintf(question, sizeof(question), "SELECT \"%s\" FROM rtl_e_rtl_hsa_task_end",
		 missing->name);
	assert_sql(t, question, "0");
	assert_sql(t, "SELECT count(*) FROM sqlite_master WHERE name GLOB '*_2'", "0");
}

static void assert_all_in_order(const struct trace *t)
{
	assert_sql(t,
		   "SELECT count(*), min(id), max(id), sum(sequenceId = id - 3), sum(start = "
		   "4997300 + id * 1000) FROM rocpd_op",
		   "100000|3|100002|100000|100000");
	assert_sql(t,
		   "SELECT count(*), sum(instance = op_id - 2), sum(packet_id = op_id - 3) FROM "
		   "rtl_dispatch",
		   "100000|100000|100000");
	assert_sql(t, "SELECT count(*) FROM kernel", "100000");
	assert_sql(t,
		   "SELECT count(*), sum(a.start = o.start - 300) FROM rocpd_api_ops l JOIN "
		   "rocpd_api a ON a.id = l.api_id JOIN rocpd_op o ON o.id = l.op_id",
		   "100000|100000");
	assert_sql(t, "PRAGMA integrity_check", "ok");
}

TRACE_TEST(test_sqlite_rows__many_dispatches__each_once_and_in_order)
{
	trace_begin(t, "");
	deliver_dispatches(t, 100000);
	fake_host_flush(t->host);
	trace_end(t);
	assert_all_in_order(t);
}

TRACE_TEST(test_sqlite_rows__after_a_flush__others_can_read_along)
{
	trace_begin(t, "");
	deliver_dispatches(t, 500);
	fake_host_flush(t->host);
	assert_sql(t, "SELECT count(*) FROM rocpd_op", "500");
	assert_sql(t, "SELECT value FROM rtl_meta WHERE key = 'state'", "writing");
	assert_sql(t, "SELECT published FROM rtl_ledger", "500");
	trace_end(t);
}

RUN_TESTS(trace_setup, trace_teardown, NULL, NULL)
