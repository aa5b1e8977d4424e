/* SPDX-License-Identifier: MIT */
/* Unit tests of libstats_sub.so as a plugin, on the fake host. */

#include "stats_run.h"

#include <rtl/describe.h>

static void dispatch(struct run *run, uint64_t uid, uint32_t gpu, uint64_t begin, uint64_t length)
{
	struct rtl_hsa_dispatch d = {.gpu = gpu, .begin_ns = begin, .end_ns = begin + length};

	if (!length)
		d.begin_ns = d.end_ns = 0;
	FAKE_DELIVER(run->host, run->hsa, RTL_TASK_END, run->process, &d, .uid = uid);
}

TEST_OF(test_dispatches__two_kernels__table, struct run *run)
{
	start(run, "");
	fake_host_tracepoint(run->host, run->process, 1, "kernel", "_Z3addPf", "demangled",
			     "add(float*)");
	fake_host_tracepoint(run->host, run->process, 2, "kernel", "_Z3mulPf", NULL, NULL);
	for (uint64_t i = 0; i < 100; i++) {
		dispatch(run, 1, 0, 1000000 + i * 10000, 3000);
		dispatch(run, 2, 1, 1000000 + i * 10000, 1000);
	}
	end(run);
	assert_written(run, "rtl: /bin/app, process 4711\n");
	assert_written(run, "GPU kernels: 200, 400.0us in total\n");
	assert_written(run, "share  count    total     mean      min      p50      p99      max"
			    "  kernel\n");
	assert_written(run, "75.0%    100  300.0us  3.000us  3.000us  3.000us  3.000us  3.000us"
			    "  add(float*)\n");
	assert_written(run, "25.0%    100  100.0us  1.000us  1.000us  1.000us  1.000us  1.000us"
			    "  mul(float*)\n");
	assert_written(run,
		       "GPU 0: busy 300.0us of 993.0us (30.2%), idle 693.0us, 100 dispatches\n");
	assert_written(run, "GPU 1: busy 100.0us of ");
	assert_written(run, "rtl.hsa: 200 of 200 events recorded, 0 lost\n");
}

/* An agent with a node, a product and a UUID. */
static void announce_gpu(struct run *run, uint64_t uid, uint32_t node, const char *product,
			 const char *uuid)
{
	const struct rtl_metadata facts[] = {
		{sizeof(facts[0]), 0, "product", product},
		{sizeof(facts[0]), 0, "uuid", uuid},
	};
	const struct rtl_tracepoint agent = {.struct_size = sizeof(agent),
					     .uid = uid,
					     .kind = "agent",
					     .name = "gfx906",
					     .metadata_count = 2,
					     .metadata = facts};
	const struct rtl_hsa_metadata payload = {.gpu = node};

	fake_host_set_tracepoint(run->host, run->process, &agent);
	FAKE_DELIVER(run->host, run->hsa, RTL_METADATA, run->process, &payload, .uid = uid);
}

TEST_OF(test_gpus__known__named, struct run *run)
{
	start(run, "");
	announce_gpu(run, 11, 1, "Vega 20", "GPU-aabb");
	announce_gpu(run, 12, 2, "", "GPU-XX");
	announce_gpu(run, 13, 4, "has done nothing", "GPU-ccdd");
	dispatch(run, 1, 1, 1000, 500);
	dispatch(run, 1, 2, 1000, 500);
	dispatch(run, 1, 3, 1000, 500);
	end(run);
	assert_written(run, "GPU 1 (gfx906, Vega 20, GPU-aabb): busy 500ns of ");
	assert_written(run, "GPU 2 (gfx906): busy ");
	assert_written(run, "GPU 3: busy ");
	assert_null(strstr(run->text, "nothing"));
}

TEST_OF(test_gpus__one_number_on_two_machines__what_they_share, struct run *run)
{
	start(run, "&format=json");
	announce_gpu(run, 11, 1, "Vega 20", "GPU-aabb");
	announce_gpu(run, 12, 1, "Vega 20", "GPU-ccdd");
	announce_gpu(run, 11, 1, "Vega 20", "GPU-aabb");
	dispatch(run, 1, 1, 1000, 500);
	assert_contains(end(run),
			"{\"gpu\":1,\"name\":\"gfx906\",\"product\":\"Vega 20\",\"count\":1,");
}

TEST_OF(test_dispatches__same_name_in_two_code_objects__one_row, struct run *run)
{
	start(run, "");
	fake_host_tracepoint(run->host, run->process, 1, "kernel", "twin", NULL, NULL);
	fake_host_tracepoint(run->host, run->process, 2, "kernel", "twin", NULL, NULL);
	for (uint64_t i = 0; i < 10; i++)
		dispatch(run, 1 + i % 2, 0, 1000 * (i + 1), 100);
	end(run);
	assert_written(run, "100.0%     10  1.000us");
	assert_written(run, "  twin\n");
	assert_null(strstr(strstr(run->text, "twin") + 4, "twin"));
}

static void count_waves(struct run *run, uint64_t kernel, double value, uint32_t flags)
{
	const struct rtl_hsa_counter c = {.value = value, .kernel = kernel, .flags = flags};

	FAKE_DELIVER(run->host, fake_counter_stream(), RTL_SIGNAL, run->process, &c, .uid = 100);
}

TEST_OF(test_counters__same_name_in_two_code_objects__one_row, struct run *run)
{
	start(run, "&format=json");
	fake_host_stream(run->host, fake_counter_stream());
	fake_host_tracepoint(run->host, run->process, 1, "kernel", "twin", NULL, NULL);
	fake_host_tracepoint(run->host, run->process, 2, "kernel", "twin", NULL, NULL);
	fake_host_tracepoint(run->host, run->process, 3, "kernel", "other", NULL, NULL);
	fake_host_tracepoint(run->host, run->process, 100, "counter", "SQ_WAVES", NULL, NULL);
	for (uint64_t i = 0; i < 7; i++)
		dispatch(run, 1 + i % 3, 1, 1000 * (i + 1), 100);
	count_waves(run, 1, 30, 0);
	count_waves(run, 2, 10, 0);
	count_waves(run, 1, 20, 0);
	count_waves(run, 2, 0, RTL_HSA_COUNTER_NO_VALUE);
	count_waves(run, 3, 7, 0);
	end(run);
	assert_written(run, "{\"kernel\":\"twin\",\"counter\":\"SQ_WAVES\",\"counted\":3,"
			    "\"dispatches\":5,\"mean\":20.000000,\"min\":10.000000,"
			    "\"max\":30.000000}");
	assert_written(run, "{\"kernel\":\"other\",\"counter\":\"SQ_WAVES\",\"counted\":1,"
			    "\"dispatches\":2,");
	assert_null(strstr(strstr(run->text, "\"kernel\":\"twin\"") + 1, "\"kernel\":\"twin\""));
}

TEST_OF(test_dispatches__no_times__counted_apart, struct run *run)
{
	start(run, "");
	fake_host_tracepoint(run->host, run->process, 1, "kernel", "k", NULL, NULL);
	dispatch(run, 1, 0, 1000, 50);
	dispatch(run, 1, 0, 0, 0);
	dispatch(run, 9, 0, 0, 0);
	end(run);
	assert_written(run, "GPU kernels: 3, 50ns in total, 2 without times\n");
	assert_written(run, "(uid 0000000000000009)\n");
}

TEST_OF(test_dispatches__overlap_on_one_gpu__busy_is_the_union, struct run *run)
{
	start(run, "");
	dispatch(run, 1, 3, 1000, 1000);
	dispatch(run, 1, 3, 1500, 1000);
	dispatch(run, 1, 3, 500, 100);
	assert_contains(end(run),
			"GPU 3: busy 1.600us of 2.000us (80.0%), idle 400ns, 3 dispatches");
}

static void copy(struct run *run, const struct rtl_stream_info *stream, uint64_t uid,
		 uint64_t length, uint64_t bytes, uint32_t status)
{
	const struct rtl_hsa_copy c = {.gpu = 1,
				       .begin_ns = length ? 5000 : 0,
				       .end_ns = length ? 5000 + length : 0,
				       .bytes = bytes,
				       .status = status};

	FAKE_DELIVER(run->host, stream, RTL_TRANSFER_END, run->process, &c, .uid = uid);
}

static void copies(struct run *run)
{
	const struct rtl_stream_info *stream = fake_host_stream(run->host, fake_copy_stream());

	fake_host_tracepoint(run->host, run->process, 1, "copy", "CopyHostToDevice", NULL, NULL);
	fake_host_tracepoint(run->host, run->process, 2, "copy", "CopyHostToHost", NULL, NULL);
	copy(run, stream, 1, 1000, 4000, 0);
	copy(run, stream, 1, 3000, 16000, 0);
	copy(run, stream, 1, 0, 1000, 4097);
	copy(run, stream, 2, 0, 123, 0);
}

TEST_OF(test_copies__bytes_and_rate__in_a_table_of_their_own, struct run *run)
{
	start(run, "");
	dispatch(run, 9, 1, 1000, 500);
	copies(run);
	end(run);
	assert_written(run, "GPU copies: 3, 4.000us in total, 1 without times, 1 more refused\n");
	assert_written(run, "bytes   rate  copy\n");
	assert_written(run, "20kB  5GB/s  CopyHostToDevice\n");
	assert_written(run, "123B      -  CopyHostToHost\n");
	assert_written(run, "GPU 1: busy 3.500us of 7.000us (50.0%), idle 3.500us, "
			    "1 dispatches, 2 copies\n"
			    "  kernels 500ns, copies 3.000us, both at once 0ns\n");
}

TEST_OF(test_copies__json__with_bytes_and_rate, struct run *run)
{
	start(run, "&format=json");
	copies(run);
	end(run);
	assert_written(run, "\"refused\":1,");
	assert_written(run, "\"name\":\"CopyHostToDevice\",\"count\":2,\"bytes\":20000,"
			    "\"total_ns\":4000,");
	assert_written(run, "\"gb_per_s\":5.000000,");
}

/* A call's payload and description, as far as the subscriber looks. */
RTL_DESCRIBE_STREAM(call_stream, RTL_STREAM_HIP_CALL, "", RTL_FUNCTION_END, "function_end", "",
		    struct rtl_hip_call,
		    RTL_FIELD(struct rtl_hip_call, begin_ns, RTL_KIND_TIME, "ns", ""),
		    RTL_FIELD(struct rtl_hip_call, end_ns, RTL_KIND_TIME, "ns", ""),
		    RTL_FIELD(struct rtl_hip_call, flags, RTL_KIND_UINT, "", ""));

static void hip_call(struct run *run, uint64_t uid, bool failed)
{
	const struct rtl_hip_call c = {
		.begin_ns = 1000, .end_ns = 2000, .flags = failed ? RTL_HIP_CALL_FAILED : 0};

	FAKE_DELIVER(run->host, &call_stream, RTL_FUNCTION_END, run->process, &c, .uid = uid);
}

static void launched(struct run *run, uint64_t call_ns, uint64_t begin_ns)
{
	const struct rtl_hsa_dispatch d = {
		.gpu = 1, .begin_ns = begin_ns, .end_ns = begin_ns + 10, .call_ns = call_ns};

	FAKE_DELIVER(run->host, run->hsa, RTL_TASK_END, run->process, &d, .uid = 1,
		     .correlation = call_ns);
}

TEST_OF(test_calls__failed__named_with_count, struct run *run)
{
	fake_host_tracepoint(run->host, run->process, 7, "function", "hipMalloc", NULL, NULL);
	fake_host_tracepoint(run->host, run->process, 8, "function", "hipFree", NULL, NULL);
	start(run, "");
	fake_host_stream(run->host, &call_stream);
	hip_call(run, 7, true);
	hip_call(run, 7, false);
	hip_call(run, 7, true);
	hip_call(run, 8, false);
	end(run);
	assert_written(run, "HIP calls: 4, ");
	assert_written(run, "\nfailed: hipMalloc 2\n");
	assert_null(strstr(run->text, "linked to no call"));
}

TEST_OF(test_launches__latency__by_kernel_never_negative, struct run *run)
{
	fake_host_tracepoint(run->host, run->process, 1, "kernel", "k", NULL, NULL);
	start(run, "&format=json");
	fake_host_stream(run->host, &call_stream);
	hip_call(run, 7, false);
	launched(run, 5000, 5400);
	launched(run, 6000, 6600);
	launched(run, 7000, 6990); /* by the clocks' error */
	launched(run, 0, 8000);    /* no call known */
	end(run);
	assert_written(run, "\"kind\":\"launch\",\"count\":3,\"total_ns\":1000");
	assert_written(run, "\"min_ns\":0,\"max_ns\":600");
	assert_written(run, "\"count\":4,\"total_ns\":40,\"names\":1,\"unlinked\":1");
}

/* The kernels of a graph are launched by one call, and each waits for the one before it in its queue. */
TEST_OF(test_launches__nodes_of_a_graph__from_the_kernel_before, struct run *run)
{
	fake_host_tracepoint(run->host, run->process, 1, "kernel", "k", NULL, NULL);
	start(run, "&format=json");
	fake_host_stream(run->host, &call_stream);
	hip_call(run, 7, false);
	launched(run, 5000, 5400);
	launched(run, 5000, 5413); /* the one before has ended at 5410 */
	launched(run, 5000, 9423);
	launched(run, 9000, 9600);
	end(run);
	assert_written(run, "\"kind\":\"launch\",\"count\":4,\"total_ns\":5003");
	assert_written(run, "\"min_ns\":3,\"max_ns\":4000");
}

TEST_OF(test_ledger__losses__named_with_causes, struct run *run)
{
	const struct rtl_ledger ledger = {sizeof(ledger), 0, 1000, 990, 7, 3, 5, 0};

	start(run, "");
	fake_host_set_ledger(run->host, run->hsa, &ledger);
	fake_host_add_loss(run->host, run->hsa, "ring full", 7);
	fake_host_add_loss(run->host, run->hsa, "no signal left", 5);
	assert_contains(end(run), "rtl.hsa: 990 of 1005 events recorded, 15 LOST: 7 discarded, "
				  "3 abandoned, 5 missed (no signal left: 5, ring full: 7)\n");
}

TEST_OF(test_top__fewer_rows_than_names__rest_in_one, struct run *run)
{
	char name[16];

	start(run, "&top=2");
	for (uint64_t i = 1; i <= 5; i++) {
		snprintf(name, sizeof(name), "k%u", (unsigned)i);
		fake_host_tracepoint(run->host, run->process, i, "kernel", name, NULL, NULL);
		dispatch(run, i, 0, 1000 * i, i);
	}
	end(run);
	assert_written(run, "  k5\n");
	assert_written(run, "  k4\n");
	assert_null(strstr(run->text, "  k3\n"));
	assert_written(run, "  (3 more)\n");
}

TEST_OF(test_json__two_kernels__one_document, struct run *run)
{
	start(run, "&format=json");
	fake_host_tracepoint(run->host, run->process, 1, "kernel", "a\"b", NULL, NULL);
	dispatch(run, 1, 0, 1000, 50);
	dispatch(run, 1, 0, 2000, 60);
	end(run);
	assert_written(run, "{\"name\":\"a\\\"b\",\"count\":2,\"total_ns\":110,\"mean_ns\":55.0,"
			    "\"min_ns\":50,\"max_ns\":60,\"p50_ns\":50,");
	assert_written(run,
		       "{\"gpu\":0,\"count\":2,\"copies\":0,\"span_ns\":1060,\"recorded_ns\":1060,"
		       "\"busy_ns\":110,\"kernels_ns\":110,\"copies_ns\":0,\"both_ns\":0,"
		       "\"idle_ns\":950,\"unknown_ns\":0,\"uncertain_ns\":0,\"idle\":[");
	assert_written(run,
		       "{\"cause\":\"unknown\",\"total_ns\":950,\"count\":1,\"longest_ns\":950}]");
	assert_written(run, "\"gap_count\":1,\"gaps\":[");
	assert_written(run, "{\"begin_ns\":1050,\"end_ns\":2000,\"causes\":[");
	assert_written(run, "\"stream\":\"rtl.hsa\",\"published\":2,\"delivered\":2,");
}

/* A stream that the plugin has never heard of. */
static const struct rtl_type_info call_types[] = {
	{sizeof(call_types[0]), RTL_FUNCTION_BEGIN, 0, 0, 0, "function_begin", "a call", NULL},
	{sizeof(call_types[0]), RTL_FUNCTION_END, 0, 0, 0, "function_end", "its end", NULL},
	{sizeof(call_types[0]), RTL_SIGNAL, 0, 0, 0, "signal", "no pair", NULL},
};
static const struct rtl_stream_info calls = {sizeof(calls), 1,          0, "my.calls",
					     "calls",       call_types, 3, 2};

static void call(struct run *run, uint16_t type, uint64_t uid, uint64_t instance, uint64_t time)
{
	struct rtl_event event = fake_event(&calls, type, run->process, NULL, 0);

	event.uid = uid;
	event.instance = instance;
	event.time_ns = time;
	fake_host_deliver_one(run->host, &event);
}

TEST_OF(test_pairs__any_stream__by_instance, struct run *run)
{
	start(run, "");
	fake_host_stream(run->host, &calls);
	assert_true(fake_host_subscribed(run->host, &calls, RTL_FUNCTION_BEGIN));
	assert_false(fake_host_subscribed(run->host, &calls, RTL_SIGNAL));
	fake_host_tracepoint(run->host, run->process, 1, "function", "outer", NULL, NULL);
	fake_host_tracepoint(run->host, run->process, 2, "function", "inner", NULL, NULL);
	call(run, RTL_FUNCTION_BEGIN, 1, 1, 1000);
	call(run, RTL_FUNCTION_BEGIN, 2, 2, 1100);
	call(run, RTL_FUNCTION_END, 2, 2, 1200);
	call(run, RTL_FUNCTION_END, 1, 1, 1500);
	call(run, RTL_FUNCTION_BEGIN, 1, 3, 2000); /* no end */
	call(run, RTL_FUNCTION_END, 1, 4, 2000);   /* no begin */
	end(run);
	assert_written(run, "my.calls, function: 2, 600ns in total, 2 more without begin or end\n");
	assert_written(run, "83.3%      1  500ns  500ns  500ns  500ns  500ns  500ns  outer\n");
	assert_written(run, "16.7%      1  100ns  100ns  100ns  100ns  100ns  100ns  inner\n");
}

/* As rtl.default has it: the name stands in the begin only, interned or as a text. */
struct region {
	uint64_t name;
	struct rtl_text text;
};

static const struct rtl_field region_fields[] = {
	{sizeof(struct rtl_field), RTL_KIND_STRING, 0, offsetof(struct region, name), 8, "name", "",
	 ""},
	{sizeof(struct rtl_field), RTL_KIND_TEXT, 0, offsetof(struct region, text),
	 sizeof(struct rtl_text), "text", "", ""},
};
static const struct rtl_type_info region_types[] = {
	{sizeof(region_types[0]), RTL_REGION_BEGIN, 2, sizeof(struct region), 0, "region_begin",
	 "it begins", region_fields},
	{sizeof(region_types[0]), RTL_REGION_END, 2, sizeof(struct region), 0, "region_end",
	 "it ends", region_fields},
};
static const struct rtl_stream_info regions = {sizeof(regions), 1, 0, "my.regions", "regions",
					       region_types,    2, 3};

static void region(struct run *run, uint16_t type, const char *name, uint64_t instance,
		   uint64_t time)
{
	struct {
		struct region region;
		char text[16];
	} payload = {0};

	if (name)
		payload.region.text = (struct rtl_text){sizeof(struct region), strlen(name)};
	memcpy(payload.text, name ? name : "", name ? strlen(name) : 0);
	FAKE_DELIVER(run->host, &regions, type, run->process, &payload, .instance = instance,
		     .time_ns = time);
}

TEST_OF(test_pairs__name_as_text_in_the_begin__row_of_that_name, struct run *run)
{
	start(run, "");
	fake_host_stream(run->host, &regions);
	region(run, RTL_REGION_BEGIN, "solve", 1, 1000);
	region(run, RTL_REGION_BEGIN, "a\033step", 2, 1100);
	region(run, RTL_REGION_END, NULL, 2, 1200);
	region(run, RTL_REGION_END, NULL, 1, 1500);
	region(run, RTL_REGION_BEGIN, NULL, 3, 2000);
	region(run, RTL_REGION_END, NULL, 3, 2400);
	region(run, RTL_REGION_BEGIN, "never ends", 4, 3000);
	end(run);
	assert_written(run, "500ns  500ns  500ns  500ns  500ns  500ns  solve\n");
	assert_written(run, "100ns  100ns  100ns  100ns  100ns  100ns  a?step\n");
	assert_written(run, "400ns  400ns  400ns  400ns  400ns  400ns  (unnamed)\n");
	assert_null(strstr(run->text, "never ends"));
}

TEST_OF(test_settings__bad__refused_with_reason, struct run *run)
{
	static const struct {
		const char *settings, *reason;
	} cases[] = {
		{"top=many", "top=many: give a number"},
		{"top=-1", "top=-1: give a number"},
		{"top=99999999999999999999", "give a number"},
		{"format=xml", "format=xml: give text or json"},
		{"output=", "output=: give a text that is not empty"},
		{"output=/nonexistent/a", "cannot write /nonexistent/a: No such file or directory"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fake_host *host = fake_host_create();
		assert_true(fake_host_load(host, STATS_SUB, cases[i].settings) < 0);
		if (!fake_host_reported(host, cases[i].reason))
			fail_msg("no report of: %s", cases[i].reason);
		fake_host_destroy(host);
	}
	start(run, "");
	end(run);
}

TEST_OF(test_output__relative__not_moved_by_chdir, struct run *run)
{
	assert_int_equal(chdir("/tmp"), 0);
	memmove(run->path, run->path + strlen("/tmp/"), strlen(run->path + strlen("/tmp/")) + 1);
	start(run, "");
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(fake_host_end(run->host), 0);
	assert_int_equal(chdir("/tmp"), 0);
	assert_contains(end(run), "rtl: /bin/app");
}

TEST_OF(test_output__cannot_be_written_at_end__reported, struct run *run)
{
	assert_int_equal(fake_host_load(run->host, STATS_SUB, "output=/dev/full"), 0);
	fake_host_begin(run->host, run->process);
	assert_true(fake_host_end(run->host) < 0);
	assert_true(fake_host_reported(run->host, "cannot write /dev/full: No space left"));
}

TEST_OF(test_output__names_of_the_process__in_its_name, struct run *run)
{
	char folder[] = "/tmp/rtl-test-stats-XXXXXX", settings[128], path[128];

	fake_host_set_property(run->host, "where", "collector");
	assert_non_null(mkdtemp(folder));
	snprintf(settings, sizeof(settings), "output=%s/%%e-%%p%%%%.txt", folder);
	assert_int_equal(fake_host_load(run->host, STATS_SUB, settings), 0);
	fake_host_begin(run->host, run->process);
	assert_int_equal(fake_host_end(run->host), 0);
	snprintf(path, sizeof(path), "%s/app-4711%%.txt", folder);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0); /* nothing else was made */
}

TEST_OF(test_events__many__all_counted, struct run *run)
{
	enum { BATCH = 256, BATCHES = 4000 };
	static struct rtl_hsa_dispatch payloads[BATCH];
	static struct rtl_event events[BATCH];
	const struct rtl_event *pointers[BATCH];

	start(run, "");
	for (uint64_t i = 1; i <= 16; i++)
		fake_host_tracepoint(run->host, run->process, i, "kernel", "k", NULL, NULL);
	for (uint64_t n = 0; n < BATCHES; n++) {
		for (uint64_t i = 0; i < BATCH; i++) {
			uint64_t begin = 1000 * (n * BATCH + i + 1);
			payloads[i].begin_ns = begin;
			payloads[i].end_ns = begin + 500 + i;
			events[i] = fake_event(run->hsa, RTL_TASK_END, run->process, &payloads[i],
					       sizeof(payloads[i]));
			events[i].uid = 1 + i % 16;
			pointers[i] = &events[i];
		}
		fake_host_deliver(run->host, pointers, BATCH);
	}
	assert_contains(end(run), "1024000");
}

RUN_TESTS(setup, teardown, NULL, NULL)
