/* SPDX-License-Identifier: MIT */
/* Unit tests of libstats_sub.so: launches of graphs, on the fake host. */
#include "events/events.h"
#include "stats_run.h"

enum {
	A = 1,
	B,
	C,
	COPY,
	LAUNCH,
	INSTANTIATE,
	DESTROY,
	OTHER,
	MEMCPY,
	BEGIN,
	STOP,
	CREATE,
	ADD,
	RECORD,
	WAIT,
	ADD_GRAPH,
	LAST
};

/* Calls with arguments, which are an array. */
static const struct rtl_field debug_fields[] = {
	{sizeof(struct rtl_field), RTL_KIND_TIME, 0, offsetof(struct rtl_hip_call, begin_ns), 8,
	 "begin_ns", "ns", ""},
	{sizeof(struct rtl_field), RTL_KIND_TIME, 0, offsetof(struct rtl_hip_call, end_ns), 8,
	 "end_ns", "ns", ""},
	{sizeof(struct rtl_field), RTL_KIND_ARGS, 0, offsetof(struct rtl_hip_call_debug, args),
	 sizeof(struct rtl_text), "args", "", ""},
};
static const struct rtl_type_info debug_types[] = {
	{sizeof(struct rtl_type_info), RTL_FUNCTION_WITH_ARGS_END, 3,
	 sizeof(struct rtl_hip_call_debug), 0, "function_with_args_end", "", debug_fields},
};
static const struct rtl_stream_info debug_stream = {
	.struct_size = sizeof(debug_stream),
	.version_major = 1,
	.name = RTL_STREAM_HIP_CALL_DEBUG,
	.types = debug_types,
	.type_count = 1,
	.number = 5,
};

static int setup_graphs(void **state)
{
	static const char *const names[] = {[A] = "a", [B] = "b", [C] = "c"};
	static const char *const functions[] = {
		[LAUNCH] = "hipGraphLaunch",       [INSTANTIATE] = "hipGraphInstantiate",
		[DESTROY] = "hipGraphExecDestroy", [OTHER] = "hipLaunchKernel",
		[MEMCPY] = "hipMemcpyAsync",       [BEGIN] = "hipStreamBeginCapture",
		[STOP] = "hipStreamEndCapture",    [CREATE] = "hipGraphCreate",
		[ADD] = "hipGraphAddKernelNode",   [RECORD] = "hipEventRecord",
		[WAIT] = "hipStreamWaitEvent",     [ADD_GRAPH] = "hipGraphAddChildGraphNode"};
	const int error = setup(state);
	struct run *run = *state;

	for (uint64_t i = A; i <= C; i++)
		fake_host_tracepoint(run->host, run->process, i, "kernel", names[i], NULL, NULL);
	fake_host_tracepoint(run->host, run->process, COPY, "copy", "CopyDeviceToHost", NULL, NULL);
	for (uint64_t i = LAUNCH; i < LAST; i++)
		fake_host_tracepoint(run->host, run->process, i, "function", functions[i], NULL,
				     NULL);
	start(run, "&format=json");
	run->copies = fake_host_stream(run->host, fake_copy_stream());
	fake_host_stream(run->host, &debug_stream);
	return error;
}

/* By a thread; of its arguments the first two are these, and the last is the first. */
static void call_of(struct run *run, uint32_t tid, uint64_t function, uint64_t first,
		    uint64_t second, struct rtl_hip_call call, uint64_t correlation)
{
	const struct with_args {
		struct rtl_hip_call_debug call;
		struct rtl_arg args[3];
	} p = {.call = {.call = call,
			.args = {offsetof(struct with_args, args), 3 * sizeof(struct rtl_arg)}},
	       .args = {{.kind = RTL_KIND_ADDRESS, .value.number = first},
			{.kind = RTL_KIND_ADDRESS, .value.number = second},
			{.kind = RTL_KIND_ADDRESS, .value.number = first}}};

	FAKE_DELIVER(run->host, &debug_stream, RTL_FUNCTION_WITH_ARGS_END, run->process, &p,
		     .uid = function, .tid = tid, .correlation = correlation);
}

static void call(struct run *run, uint64_t function, uint64_t correlation, uint64_t executable,
		 uint32_t flags)
{
	call_of(run, 7, function, executable, 0,
		(struct rtl_hip_call){.begin_ns = 1, .end_ns = 2, .flags = flags}, correlation);
}

/* On a stream, within a range. */
static void on_stream(struct run *run, uint32_t tid, uint64_t function, uint64_t stream,
		      uint64_t first, uint64_t second, uint64_t range)
{
	call_of(run, tid, function, first, second,
		(struct rtl_hip_call){.begin_ns = 1,
				      .end_ns = 2,
				      .hip_stream = stream,
				      .parent = range,
				      .flags = stream ? RTL_HIP_CALL_STREAM : 0},
		0);
}

/* `gap` after what was before it. Queue 0: HIP has reported it. */
static uint64_t packet;

static void kernel(struct run *run, uint64_t uid, uint64_t correlation, uint32_t queue,
		   uint64_t gap, uint64_t length)
{
	struct rtl_hsa_dispatch d = {
		.gpu = 1, .queue = queue, .packet_id = packet, .scope = LAUNCH};

	d.begin_ns = run->now + gap;
	d.end_ns = run->now = d.begin_ns + length;
	d.submit_ns = queue ? d.begin_ns - 1 : 0;
	FAKE_DELIVER(run->host, run->hsa, RTL_TASK_END, run->process, &d, .uid = uid,
		     .correlation = correlation);
}

static void copy(struct run *run, uint64_t correlation, uint64_t gap, uint64_t length)
{
	struct rtl_hsa_copy c = {.gpu = 1, .bytes = 4096, .scope = LAUNCH};

	c.begin_ns = run->now + gap;
	c.end_ns = run->now = c.begin_ns + length;
	c.submit_ns = c.begin_ns - 1;
	FAKE_DELIVER(run->host, run->copies, RTL_TRANSFER_END, run->process, &c, .uid = COPY,
		     .correlation = correlation);
}

/* What is behind that part. */
static const char *behind(const char *text, const char *part)
{
	assert_contains(text, part);
	return strstr(text, part) + strlen(part);
}

TEST_OF(test_graph__same_kernel_twice__nodes_in_their_order, struct run *run)
{
	const char *text;

	for (uint64_t i = 0; i < 10; i++) {
		if (i % 2) /* the call ends before its work, or behind it */
			call(run, LAUNCH, 50 + i, 0xbeef, 0);
		kernel(run, A, 50 + i, 3, 100000, 10 + i);
		kernel(run, B, 50 + i, 3, 5, 1000);
		kernel(run, A, 50 + i, 3, 7 + i, 500);
		copy(run, 50 + i, 20, 100);
		if (!(i % 2))
			call(run, LAUNCH, 50 + i, 0xbeef, 0);
	}
	text = end(run);
	text = behind(text, "\"kind\":\"graph\",\"count\":10,");
	text = behind(text, "\"name\":\"graph 1, 4 nodes\",\"count\":10,");
	assert_contains(text, "\"mean_ns\":1651.0,\"min_ns\":1642,\"max_ns\":1660,");
	text = behind(
		text,
		"\"graph\":1,\"variant\":1,\"pid\":4711,\"executable\":\"0xbeef\",\"nodes\":[");
	text = behind(
		text,
		"{\"name\":\"a\",\"count\":10,\"total_ns\":145,\"mean_ns\":14.5,\"min_ns\":10,"
		"\"max_ns\":19,");
	assert_true(strstr(text, "mean_gap_ns") > strstr(text, "\"name\":\"b\""));
	text = behind(text, "{\"name\":\"b\",\"count\":10,\"total_ns\":10000,\"mean_ns\":1000.0,");
	text = behind(text, "\"mean_gap_ns\":5.0}");
	text = behind(text, "{\"name\":\"a\",\"count\":10,\"total_ns\":5000,");
	text = behind(text, "\"mean_gap_ns\":11.5}");
	text = behind(text, "{\"name\":\"CopyDeviceToHost\",\"count\":10,\"bytes\":40960,");
	text = behind(text, "\"mean_gap_ns\":20.0}");
	assert_null(strstr(text, "\"graph\":"));
}

TEST_OF(test_graph__two_queues__gaps_within_each, struct run *run)
{
	const char *text;

	call(run, LAUNCH, 50, 0xbeef, 0);
	kernel(run, A, 50, 1, 0, 100);
	kernel(run, B, 50, 2, 0, 100);
	kernel(run, A, 50, 1, 30, 100);
	kernel(run, B, 50, 2, 0, 100);
	text = behind(end(run), "\"name\":\"graph 1, 4 nodes\"");
	text = behind(text, "\"name\":\"a\""); /* both first ones have no gap */
	text = behind(behind(text, "\"name\":\"b\""), "\"name\":\"a\"");
	assert_contains(text, "\"mean_gap_ns\":130.0}");
	assert_contains(behind(text, "\"name\":\"b\""), "\"mean_gap_ns\":130.0}");
}

/* a in queue 1, behind it one that begins when b in queue 2 has ended too: if a barrier is between. */
TEST_OF(test_graph__critical_path__over_a_barrier_to_the_other_queue, struct run *run)
{
	const char *text;

	for (uint64_t i = 0; i < 2; i++) {
		call(run, LAUNCH, 50 + i, 0xbeef, 0);
		packet = 7;
		kernel(run, A, 50 + i, 1, 10, 100);
		run->now -= 80;
		kernel(run, B, 50 + i, 2, 0, 200);
		packet = 8 + i; /* in the first launch right behind a */
		kernel(run, C, 50 + i, 1, 5, 30);
	}
	text = behind(end(run), "\"name\":\"graph 1, 3 nodes\",\"count\":2,\"total_ns\":510,");
	assert_contains(behind(text, "\"name\":\"a\""), "\"path_ns\":100}");
	assert_contains(behind(text, "\"name\":\"b\""), "\"path_ns\":200}");
	assert_contains(behind(text, "\"name\":\"c\""), "\"path_ns\":60,");
	assert_contains(behind(text, "\"path\":["),
			"{\"cause\":\"work\",\"work\":\"b\",\"total_ns\":200,");
}

TEST_OF(test_graph__updated__a_variant, struct run *run)
{
	const char *text;

	for (uint64_t i = 0; i < 5; i++) {
		call(run, LAUNCH, 50 + i, 0xbeef, 0);
		kernel(run, A, 50 + i, 3, 10, 100);
		kernel(run, i < 3 ? B : C, 50 + i, 3, 10, 200);
	}
	/* in another order, as HIP reports branches: the same */
	call(run, LAUNCH, 60, 0xbeef, 0);
	kernel(run, C, 60, 0, 10, 600);
	kernel(run, A, 60, 0, 10, 100);
	text = end(run);
	assert_contains(text, "\"kind\":\"graph\",\"count\":6,\"total_ns\":2260,\"names\":2");
	assert_contains(text, "\"name\":\"graph 1, 2 nodes\",\"count\":3,");
	text = behind(text, "\"name\":\"graph 1, 2 nodes, variant 2\",\"count\":3,");
	text = behind(text, "\"graph\":1,\"variant\":2,");
	text = behind(text, "{\"name\":\"a\",\"count\":3,\"total_ns\":300,");
	assert_contains(text, "{\"name\":\"c\",\"count\":3,\"total_ns\":1000,");
}

TEST_OF(test_graph__address_used_again__another_graph, struct run *run)
{
	for (uint64_t i = 0; i < 4; i++) {
		if (i)
			call(run, i % 2 ? INSTANTIATE : DESTROY, 90 + i, 0xbeef, 0);
		call(run, LAUNCH, 50 + i, 0xbeef, 0);
		kernel(run, A, 50 + i, 3, 10, 100);
	}
	call(run, INSTANTIATE, 99, 0xbeef, RTL_HIP_CALL_FAILED);
	call(run, LAUNCH, 60, 0xbeef, 0);
	kernel(run, A, 60, 3, 10, 100);
	end(run);
	assert_written(run, "\"name\":\"graph 3, 1 node\",\"count\":1,");
	assert_written(run, "\"name\":\"graph 4, 1 node\",\"count\":2,");
}

TEST_OF(test_graph__work_without_its_call__told_apart_by_nodes, struct run *run)
{
	for (uint64_t i = 0; i < 4; i++)
		kernel(run, i % 2 ? A : B, 50 + i, 3, 10, 100);
	end(run);
	assert_written(run, "\"name\":\"graph 1, 1 node\",\"count\":2,");
	assert_written(run, "\"graph\":2,\"variant\":1,\"pid\":4711,\"executable\":null,");
}

TEST_OF(test_graph__nothing_recorded_of_it__a_launch_without_times, struct run *run)
{
	call(run, LAUNCH, 50, 0xbeef, 0);
	call(run, LAUNCH, 51, 0xbeef, RTL_HIP_CALL_FAILED);
	assert_contains(end(run), "\"name\":\"graph 1, 0 nodes\",\"count\":1,\"untimed\":1,");
}

TEST_OF(test_no_graph__no_table, struct run *run)
{
	struct rtl_hsa_dispatch d = {.gpu = 1, .begin_ns = 10, .end_ns = 20, .scope = OTHER};

	FAKE_DELIVER(run->host, run->hsa, RTL_TASK_END, run->process, &d, .uid = A,
		     .correlation = 50);
	call(run, OTHER, 50, 0xbeef, 0);
	assert_null(strstr(end(run), "graph"));
}

TEST_OF(test_graph__very_many_launches__each_counted, struct run *run)
{
	for (uint64_t i = 1; i <= 200000; i++) {
		call(run, LAUNCH, i, 0xbeef, 0);
		kernel(run, A, i, 3, 10, 100);
		kernel(run, B, i, 3, 10, 200);
	}
	end(run);
	assert_written(run,
		       "\"kind\":\"graph\",\"count\":200000,\"total_ns\":62000000,\"names\":1");
	assert_contains(behind(run->text, "\"nodes\":["), "{\"name\":\"a\",\"count\":200000,");
}

static void launch(struct run *run, uint64_t correlation, uint64_t executable, const char *kernels)
{
	call(run, LAUNCH, correlation, executable, 0);
	for (; *kernels; kernels++)
		if (*kernels == 'c')
			copy(run, correlation, 10, 100);
		else
			kernel(run, *kernels == 'a' ? A : B, correlation, 3, 10, 100);
}

TEST_OF(test_captured_stream__calls_in_order__origin_of_each_node, struct run *run)
{
	struct rtl_stream_info roctx_info = roctx_stream_info;
	const char *text;

	roctx_info.number = 7;
	run->roctx = fake_host_stream(run->host, &roctx_info);
	on_stream(run, 7, OTHER, 0x10, 1, 0, 20); /* before the capture */
	on_stream(run, 7, BEGIN, 0x10, 0x10, 0, 0);
	on_stream(run, 7, OTHER, 0x10, 1, 0, 21);
	on_stream(run, 7, OTHER, 0x20, 1, 0, 21); /* not captured */
	on_stream(run, 7, MEMCPY, 0x10, 1, 0, 0);
	on_stream(run, 7, OTHER, 0x10, 1, 0, 22);
	on_stream(run, 7, STOP, 0x10, 0x10, 0x77, 0);
	on_stream(run, 7, OTHER, 0x10, 1, 0, 20);
	range(run, "inner", 21, 0);
	on_stream(run, 7, INSTANTIATE, 0, 0xbeef, 0x77, 0);
	launch(run, 50, 0xbeef, "acb");
	launch(run, 51, 0xbeef, "acba"); /* not all are known */
	text = behind(end(run), "\"name\":\"graph 1, 4 nodes, variant 2\"");
	text = behind(text, "\"call\":null,\"tid\":null,\"range\":null,");
	assert_contains(text, "\"call\":\"hipMemcpyAsync\",");
	text = behind(text, "\"name\":\"graph 1, 3 nodes\"");
	text = behind(
		behind(text, "\"name\":\"a\""),
		"\"call\":\"hipLaunchKernel\",\"tid\":7,\"range\":\"inner\",\"path_ns\":100}");
	text = behind(behind(text, "\"CopyDeviceToHost\""),
		      "\"call\":\"hipMemcpyAsync\",\"tid\":7,\"range\":\"\",");
	text = behind(behind(text, "\"name\":\"b\""),
		      "\"call\":\"hipLaunchKernel\",\"tid\":7,\"range\":null,");
}

/* Of two streams, and of nodes that were added, it is known what they have in common. */
TEST_OF(test_graph_of_branches__in_no_known_order__what_its_calls_have_in_common, struct run *run)
{
	const char *text;

	on_stream(run, 7, BEGIN, 0x10, 0x10, 0, 0);
	on_stream(run, 7, RECORD, 0x10, 0xe, 0, 0);
	on_stream(run, 7, WAIT, 0x20, 0x20, 0xe, 0);
	on_stream(run, 7, OTHER, 0x20, 1, 0, 0);
	on_stream(run, 8, OTHER, 0x10, 1, 0, 5);
	on_stream(run, 7, STOP, 0x10, 0x10, 0x77, 0);
	on_stream(run, 7, OTHER, 0x20, 1, 0, 0);
	on_stream(run, 7, INSTANTIATE, 0, 0xbeef, 0x77, 0);
	on_stream(run, 7, CREATE, 0, 0x78, 0, 0);
	for (uint64_t i = 1; i < 3; i++)
		on_stream(run, 9, ADD, 0, i, 0x78, 0);
	on_stream(run, 7, INSTANTIATE, 0, 0xcafe, 0x78, 0);
	on_stream(run, 7, CREATE, 0, 0x79, 0, 0);
	on_stream(run, 9, ADD, 0, 3, 0x79, 0);
	on_stream(run, 8, ADD_GRAPH, 0, 0x78, 0x79, 0);
	on_stream(run, 7, INSTANTIATE, 0, 0xfeed, 0x79, 0);
	on_stream(run, 9, ADD, 0, 3, 0x78, 0); /* not in those */
	launch(run, 50, 0xbeef, "ba");
	launch(run, 51, 0xcafe, "ab");
	launch(run, 52, 0xfeed, "abb");
	text = behind(end(run), "\"graph\":3,");
	for (int i = 0; i < 3; i++) /* its child's, too */
		text = behind(text, "\"call\":\"hipGraphAddKernelNode\",\"tid\":9,\"range\":\"\",");
	text = behind(text, "\"graph\":1,");
	for (int i = 0; i < 2; i++)
		text = behind(text, "\"call\":\"hipLaunchKernel\",\"tid\":null,\"range\":null,");
	text = behind(text, "\"graph\":2,");
	for (int i = 0; i < 2; i++)
		text = behind(text, "\"call\":\"hipGraphAddKernelNode\",\"tid\":9,\"range\":\"\",");
}

RUN_TESTS(setup_graphs, teardown, NULL, NULL)
