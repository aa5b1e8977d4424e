/* SPDX-License-Identifier: MIT */
/* Unit tests of libstats_sub.so: tables by a key, and the kernels within ranges, on the fake host. */
#include "events/events.h"
#include "stats_run.h"

enum { A = 1, B, LAUNCH }; /* tracepoints */

static struct rtl_stream_info roctx_info, calls_info;

static void start_named(struct run *run, const char *more)
{
	start(run, more);
	run->other = fake_host_process(run->host, 2, 4712, "/bin/other");
	roctx_info = roctx_stream_info;
	roctx_info.number = 7;
	run->roctx = fake_host_stream(run->host, &roctx_info);
	calls_info = hip_call_stream_info;
	calls_info.number = 8;
	fake_host_stream(run->host, &calls_info);
	fake_host_begin(run->host, run->other);
	for (int i = 0; i < 2; i++) {
		struct rtl_process *process = i ? run->other : run->process;

		fake_host_tracepoint(run->host, process, A, "kernel", "a_gemm", NULL, NULL);
		fake_host_tracepoint(run->host, process, B, "kernel", "b_norm", NULL, NULL);
		fake_host_tracepoint(run->host, process, LAUNCH, "function", "hipGraphLaunch", NULL,
				     NULL);
	}
}

/* Fields of the payload are as the caller sets them, but its GPU counts from 1. */
static void kernel(struct run *run, struct rtl_process *process, uint64_t uid, uint64_t length,
		   struct rtl_hsa_dispatch d)
{
	d.gpu += 1;
	d.begin_ns = run->now;
	d.end_ns = run->now += length;
	FAKE_DELIVER(run->host, run->hsa, RTL_TASK_END, process, &d, .uid = uid,
		     .correlation = run->correlation);
}

#define KERNEL(process, uid, length, ...)                                                          \
	kernel(run, process, uid, length, (struct rtl_hsa_dispatch){__VA_ARGS__})

static void name_it(struct run *run, uint32_t kind, uint64_t object, const char *name)
{
	struct {
		struct rtl_roctx_name is;
		char name[16];
	} payload = {.is = {.object = object, .kind = kind}};

	payload.is.name = (struct rtl_text){sizeof(payload.is), (uint32_t)strlen(name)};
	strcpy(payload.name, name);
	FAKE_DELIVER(run->host, run->roctx, RTL_METADATA, run->process, &payload);
}

static void call(struct run *run, uint64_t uid, uint64_t correlation, uint64_t length, bool works)
{
	const struct rtl_hip_call c = {.begin_ns = 1, .end_ns = 1 + length, .work = works};

	run->correlation = correlation;
	FAKE_DELIVER(run->host, &calls_info, RTL_FUNCTION_END, run->process, &c, .uid = uid,
		     .correlation = correlation);
}

/* A row under a key. */
static void assert_row(const struct run *run, const char *key, const char *name, unsigned count,
		       unsigned total)
{
	char row[256];

	snprintf(row, sizeof(row), "{\"key\":\"%s\",\"name\":\"%s\",\"count\":%u,\"total_ns\":%u,",
		 key, name, count, total);
	assert_written(run, row);
}

TEST_OF(test_by_range__kernels_before_and_behind_its_end__innermost_range, struct run *run)
{
	start_named(run, "&format=json&by=range");
	KERNEL(run->process, A, 10, .range = 21);
	KERNEL(run->process, A, 20, .range = 20);
	KERNEL(run->process, B, 5, .range = 0);
	range(run, "inner", 21, 20);
	KERNEL(run->process, B, 40, .range = 21);
	KERNEL(run->other, B, 7, .range = 21);
	range(run, "step", 20, 0);
	KERNEL(run->process, A, 300, .range = 21);
	end(run);
	assert_written(run, "\"by\":\"range\",\"keys\":[");
	assert_written(run, "{\"name\":\"inner\",\"count\":3,\"total_ns\":350,");
	assert_row(run, "inner", "a_gemm", 2, 310);
	assert_row(run, "inner", "b_norm", 1, 40);
	assert_row(run, "step", "a_gemm", 1, 20);
	assert_row(run, "(no range)", "b_norm", 1, 5);
	assert_row(run, "(unknown range)", "b_norm", 1, 7);
	assert_written(run, "\"kind\":\"task\",\"count\":6,\"total_ns\":382,");
}

TEST_OF(test_steps__kernels__by_share_with_those_of_inner_ranges, struct run *run)
{
	const char *text;

	start_named(run, "&format=json");
	for (uint64_t i = 0; i < 3; i++) { /* of each step one kernel comes late */
		KERNEL(run->process, A, 50, .range = 20 + 2 * i);
		KERNEL(run->process, B, 30, .range = 21 + 2 * i);
		range(run, "inner", 21 + 2 * i, 20 + 2 * i);
		range(run, "step", 20 + 2 * i, 0);
		KERNEL(run->process, B, 120, .range = 21 + 2 * i);
	}
	text = end(run);
	assert_null(strstr(text, "\"by\""));
	text = strstr(strstr(text, "\"name\":\"inner\""), "\"kernels\":[");
	assert_contains(text, "{\"name\":\"b_norm\",\"total_ns\":450,\"share\":1.000000}]");
	text = strstr(strstr(text, "\"name\":\"step\""), "\"kernels\":[");
	assert_contains(text, "{\"name\":\"b_norm\",\"total_ns\":450,\"share\":0.750000},");
	assert_contains(text, "{\"name\":\"a_gemm\",\"total_ns\":150,\"share\":0.250000}]");
}

static void two_ranks(struct run *run, const char *more)
{
	struct rtl_process *const first = run->process;

	start_named(run, more);
	run->other->rank = 1;
	first->rank = 0;
	KERNEL(run->process, A, 100, .submit_tid = 5, .submit_ns = run->now - 50);
	range(run, "forward of layer 17, which has a name", 20, 0);
	run->process = run->other;
	KERNEL(run->process, A, 300, .submit_tid = 5, .submit_ns = run->now - 50);
	run->now += 200;
	range(run, "forward of layer 17, which has a name", 21, 0);
	run->process = first;
	KERNEL(run->process, A, 5, .submit_tid = 5, .submit_ns = run->now - 50);
}

TEST(test_steps__two_ranks__slowest_first_with_its_path)
{
	const char *text;

	two_ranks(*state, "&format=json");
	text = strstr(end(*state), "\"processes\":[");
	assert_non_null(text);
	assert_true(strstr(text, "{\"rank\":1,\"pid\":4712,\"count\":1,\"total_ns\":1599,") <
		    strstr(text, "{\"rank\":0,\"pid\":4711,\"count\":1,\"total_ns\":1099,"));
	assert_contains(text, "{\"cause\":\"work\",\"work\":\"a_gemm\",\"total_ns\":300,");
}

TEST(test_steps__two_ranks__text_names_the_slowest_in_lines_that_fit)
{
	const char *text;

	setenv("COLUMNS", "80", 1);
	two_ranks(*state, "");
	text = end(*state);
	unsetenv("COLUMNS");
	assert_contains(
		text,
		"\nRange forward o...s a name by process: slowest rank 1, 18.5% above mean\n");
	assert_contains(text, "\nCritical path of range forward o...s a name, 2 times, 2.698us\n");
	assert_contains(text, "\nrank 1       1  1.599us  18.8%   78.1%  host not recorded\n");
	assert_contains(text, "\nrank 0       1  1.099us   9.1%   86.4%  host not recorded\n");
}

/* Very many ranges that nobody names do not pile up, and of those that are still used none is lost. */
TEST_OF(test_by_range__names_never_come__counted_as_unknown, struct run *run)
{
	start_named(run, "&format=json&by=range");
	for (uint64_t i = 0; i < 200000; i++) {
		KERNEL(run->process, A, 1, .range = 100 + i);
		if (!(i % 10000))
			KERNEL(run->process, B, 1, .range = 1);
	}
	range(run, "long", 1, 0);
	end(run);
	assert_row(run, "(unknown range)", "a_gemm", 200000, 200000);
	assert_row(run, "long", "b_norm", 20, 20);
}

TEST(test_by_other_keys__same_kernels__each_its_rows)
{
	static const struct {
		const char *by, *keys[3];
	} cases[] = {
		{"stream", {"stream 1 (fast)", "stream 0", "stream 1, process 4712"}},
		{"thread", {"thread 7 (loader)", "thread 8", "thread 7, process 4712"}},
		{"process", {"app (4711)", "app (4711)", "other (4712)"}},
		{"gpu", {"GPU 1", "GPU 2", "GPU 1"}},
		{"group", {"GEMM", "norm", "norm"}},
	};
	struct run *run = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *const *keys = cases[i].keys;
		const bool gpu = !strcmp(cases[i].by, "gpu"), group = !strcmp(cases[i].by, "group");
		char more[64];

		snprintf(more, sizeof(more), "&format=json&by=%s", cases[i].by);
		start_named(run, more);
		name_it(run, RTL_ROCTX_THREAD, 7, "loader");
		name_it(run, RTL_ROCTX_STREAM, 0xa0, "fast");
		call(run, LAUNCH, 49, 300, true);     /* its work does not come */
		call(run, LAUNCH, 50, 7, false);      /* another thread submits it */
		for (uint64_t c = 0; c < 300000; c++) /* push none out */
			call(run, A, 1000 + c, 1, false);
		run->correlation = 50;
		KERNEL(run->process, A, 100, .hip_stream = 0xa0, .call_ns = 900, .submit_tid = 7);
		run->correlation = 51;
		KERNEL(run->process, B, 30, .gpu = 1, .call_ns = 900, .submit_tid = 8);
		call(run, LAUNCH, 51, 20, true);
		KERNEL(run->other, B, 4, .hip_stream = 0xa0, .call_ns = 900, .submit_tid = 7);
		end(run);
		if (gpu) {
			assert_row(run, "GPU 1", "hipGraphLaunch", 1, 7);
			assert_row(run, "GPU 2", "hipGraphLaunch", 1, 20);
			assert_row(run, "(no GPU known)", "hipGraphLaunch", 1, 300);
			assert_row(run, "(no GPU known)", "a_gemm", 300000, 300000);
		}
		assert_row(run, keys[0], "a_gemm", 1, 100);
		assert_row(run, keys[1], "b_norm", group ? 2 : 1, group ? 34 : 30);
		assert_row(run, keys[2], "b_norm", group ? 2 : 1, group ? 34 : 4);
		assert_written(run, gpu ? "\"total_ns\":104," : "\"by\":");
		teardown(state);
		setup(state);
		run = *state;
	}
}

TEST_OF(test_by_graph__launches_and_more__its_number, struct run *run)
{
	start_named(run, "&by=graph&format=json");
	for (uint64_t i = 0; i < 4; i++) {
		call(run, i < 2 ? LAUNCH : B, 50 + i, 7, true);
		KERNEL(run->process, A, 10, .scope = LAUNCH);
		KERNEL(run->process, B, 1, .scope = LAUNCH);
		KERNEL(run->process, B, 100, .scope = 0);
	}
	call(run, LAUNCH, 53, 20, true);
	end(run);
	assert_row(run, "graph 1", "hipGraphLaunch", 3, 34);
	assert_row(run, "(no graph)", "b_norm", 2, 14);
	assert_row(run, "graph 1", "a_gemm", 4, 40);
	assert_row(run, "graph 1", "b_norm", 4, 4);
	assert_row(run, "(no graph)", "b_norm", 4, 400);
}

static void write_groups(struct run *run, const char *text)
{
	FILE *file = fopen(run->groups, "w");

	fputs(text, file);
	fclose(file);
}

TEST_OF(test_by_group__users_file__before_the_table_of_rtl, struct run *run)
{
	char more[160];

	write_groups(run, "# mine\n\n  *_NORM my norms\nb_ never\n");
	snprintf(more, sizeof(more), "&by=group&groups=%s", run->groups);
	start_named(run, more);
	KERNEL(run->process, A, 3000, .range = 0);
	KERNEL(run->process, B, 1000, .range = 0);
	end(run);
	assert_written(run, "group     share  count    total");
	assert_written(run, "GEMM      75.0%      1  3.000us");
	assert_written(run, "my norms  25.0%      1  1.000us");
}

TEST_OF(test_by_group__line_without_group__one_error, struct run *run)
{
	char more[160];

	write_groups(run, "gemm GEMM\nattn\n");
	snprintf(more, sizeof(more), "&by=group&groups=%s", run->groups);
	assert_int_equal(load(run, more), RTL_EINVAL);
	assert_true(fake_host_reported(run->host, ", line 2: expected PATTERN GROUP"));
}

RUN_TESTS(setup, teardown, NULL, NULL)
