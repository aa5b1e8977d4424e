/* SPDX-License-Identifier: MIT */
/* Subscribers and their host: scenarios of test_bus_child_host.c, _ids.c and _lack.c. */

#include "test_bus_run.h"
#include "unit.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#	define SANITIZED 1
#elif defined(__has_feature)
#	if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#		define SANITIZED 1
#	endif
#endif

#define SMALL "RTL_BUFFER_SIZE=64K"

BUS_TEST(test_bus__inline_callback_publishes__delivered, "inline_publishes", "delivery=both")
BUS_TEST(test_bus__inline_callback_publishes_itself__ends_and_is_counted, "inline_recursion",
	 "delivery=both")
BUS_TEST(test_bus__inline_events_of_several_sizes__each_as_published, "inline_sizes",
	 "delivery=inline")
BUS_TEST(test_bus__callback_unsubscribes_itself__not_called_again, "unsubscribe_self", "")
BUS_TEST(test_bus__unsubscribe_while_inline_callback_runs__waits, "unsubscribe_waits", "")
BUS_TEST(test_bus__unsubscribe_within_call_while_callback_publishes__ends,
	 "unsubscribe_nested_while_ring_is_full", "", SMALL)
BUS_TEST(test_bus__unsubscribe_in_batch_while_callback_calls_host__both_end,
	 "unsubscribe_in_batch_while_callback_calls_host", "")
BUS_TEST(test_bus__unsubscribe_in_stream_while_callback_calls_host__both_end,
	 "unsubscribe_in_stream_while_callback_calls_host", "")
BUS_TEST(test_bus__unsubscribe_in_flush_while_callback_calls_host__both_end,
	 "unsubscribe_in_flush_while_callback_calls_host", "")
BUS_TEST(test_bus__two_unsubscribe_each_other__both_end, "unsubscribe_each_other", "")
BUS_TEST(test_bus__subscriptions_come_and_go__none_called_afterwards, "subscriptions_come_and_go",
	 "")
BUS_TEST(test_bus__subscriptions_come_and_go__others_want_on, "wanted_while_others_come_and_go", "")
BUS_TEST(test_bus__stream_function_publishes_more_than_fits__ends, "stream_function_publishes", "",
	 SMALL)
BUS_TEST(test_bus__strings_and_tracepoints__looked_up, "lookups", "")
BUS_TEST(test_bus__look_ups_of_two_threads__right, "lookups_of_threads", "")
BUS_TEST(test_bus__missed_things__counted_by_cause, "missed", "")
BUS_TEST(test_bus__left_out__in_the_ledger_by_cause, "left_out", "")
BUS_TEST(test_bus__many_causes__counted_for_their_stream, "missed_by_many_causes", "")
BUS_TEST(test_bus__log_line__event_of_diagnostics, "diagnostics", "streams=rtl.diagnostics")

static struct run r;

static void start(const char *scenario, const char *probe)
{
	memset(&r, 0, sizeof(r));
	r.scenario = scenario;
	r.probe = probe;
}

/* By RTL_STRICT the program does not start. */
static void run_refused(void)
{
	run(&r);
	assert_int_equal(r.status, 2);
	assert_int_equal(lines_with(r.err, "RTL_STRICT is set"), 1);
}

/* The program is not harmed, and exactly so many lines are said. */
static void run_saying(int lines)
{
	run(&r);
	if (r.status || r.signal || lines_with(r.err, "") != lines) {
		print_error("%s: status %d, signal %d, stderr:\n%s\n", r.scenario, r.status,
			    r.signal, r.err);
		run_clean(&r);
		fail();
	}
}

TEST(test_bus__failed_instance_unsubscribes__ends_well)
{
	start("unsubscribe_after_failure", "");
	run_saying(1);
}

TEST(test_bus__unsubscribe_while_callback_calls_host__both_end)
{
	start("unsubscribe_while_callback_calls_host", "");
	run_saying(1);
	assert_int_equal(lines_with(r.err, "probe error: told to fail"), 1);
}

/* ---- failing subscribers */

static void check_failure(const char *at, const char *line, int events)
{
	char probe[64];

	snprintf(probe, sizeof(probe), "detail=1&fail_at=%s", at);
	start("some_events", probe);
	run_saying(1);
	assert_int_equal(lines_with(r.err, line), 1);
	assert_int_equal(lines_with(r.out, " finish"), 1);
	assert_int_equal(lines_with(r.out, " destroy"), 1);
	assert_int_equal(lines_with(r.out, " event "), events);
	assert_int_equal(run_spools_left(&r), 0);
	run_clean(&r);
}

TEST(test_bus__a_function_fails__said_and_no_more_events)
{
	check_failure("process_begin", "its function process_begin failed", 0);
	check_failure("stream", "its function stream failed", 0);
	check_failure("batch", "told to fail: it gets no more events", 1);
	check_failure("flush", "its function flush failed", 1);
	check_failure("process_end", "its function process_end failed", 10);
	check_failure("finish", "could not finish its output", 10);
}

TEST(test_bus__create_fails__program_runs_on)
{
	start("nothing_recorded", "fail_at=create");
	run_saying(1); /* its own line */
	assert_int_equal(lines_with(r.err, "told to fail"), 1);
	assert_int_equal(run_spools_left(&r), 0);
}

TEST(test_bus__list_without_a_subscriber__said_so)
{
	start("nothing_recorded", NULL);
	r.subscribers = ":";
	run_saying(1);
	assert_int_equal(lines_with(r.err, "RTL_SUBSCRIBERS=: names no subscriber"), 1);
	assert_int_equal(run_spools_left(&r), 0);
	run_clean(&r);
	start("nothing_recorded", NULL);
	r.subscribers = ":";
	r.env[0] = "RTL_STRICT=1";
	run_refused();
}

TEST(test_bus__create_fails_strict__program_does_not_start)
{
	start("nothing_recorded", "fail_at=create");
	r.env[0] = "RTL_STRICT=1";
	run_refused();
	assert_int_equal(run_spools_left(&r), 0);
}

/* ---- several instances */

static char subscribers[2048];

/* Instances a (healthy), b (fails) and c (inline), in this order. */
static void list_three(const char *folder_of_output)
{
	snprintf(subscribers, sizeof(subscribers),
		 "%s?name=a&detail=1&output=%s:%s?name=b&fail_at=batch&output=%s:"
		 "%s?name=c&delivery=inline&output=%s",
		 PROBE_SUB, folder_of_output, PROBE_SUB, folder_of_output, PROBE_SUB,
		 folder_of_output);
}

TEST(test_bus__three_instances_one_fails__others_go_on)
{
	char path[] = P_tmpdir "/rtl-test-out-XXXXXX";
	int fd = mkstemp(path);
	FILE *file;

	assert_true(fd >= 0);
	start("some_events", NULL);
	list_three(path);
	r.subscribers = subscribers;
	run_saying(1);
	assert_int_equal(lines_with(r.err, "probe#2 error: told to fail"), 1);
	file = fdopen(fd, "r");
	r.out[fread(r.out, 1, sizeof(r.out) - 1, file)] = 0;
	fclose(file);
	unlink(path);
	assert_int_equal(lines_with(r.out, " a event "), 10);
	assert_int_equal(lines_with(r.out, " a finish 10 0"), 1);
	assert_int_equal(lines_with(r.out, " b finish 1 0"), 1);
	assert_int_equal(lines_with(r.out, " c finish 0 10"), 1);
	assert_int_equal(lines_with(r.out, " destroy"), 3);
}

/* ---- bad settings: one line each, and the program runs on */

static void check_setting(const char *variable, int lines, const char *part)
{
	start("some_events", "");
	r.env[0] = variable;
	run_saying(lines);
	assert_int_equal(lines_with(r.err, part), lines);
	assert_int_equal(lines_with(r.out, " finish 10 0"), 1);
	run_clean(&r);
	if (!lines)
		return;
	start("some_events", "");
	r.env[0] = variable;
	r.env[1] = "RTL_STRICT=1";
	run_refused();
	assert_int_equal(lines_with(r.err, part), 1);
	run_clean(&r);
}

TEST(test_bus__bad_settings__one_line_each)
{
	check_setting("RTL_BUFFER_SIZE=many", 1, "RTL_BUFFER_SIZE=many");
	check_setting("RTL_BUFFER_SIZE=1K", 1, "RTL_BUFFER_SIZE=1K");
	check_setting("RTL_CLOCK=slow", 1, "RTL_CLOCK=slow");
	check_setting("RTL_CLOCK=boottime", 0, "");
	check_setting("RTL_BUFFER_SIZE=-4M", 1, "RTL_BUFFER_SIZE=-4M");
	check_setting("RTL_BUFFER_SIZE=99999999999999999999G", 1, "RTL_BUFFER_SIZE=9");
	check_setting("RTL_BUFFER_SIZE=4MB", 1, "RTL_BUFFER_SIZE=4MB");
	check_setting("RTL_BUFFER_TOTAL=0", 1, "RTL_BUFFER_TOTAL=0");
	check_setting("RTL_BUFFER_POLICY=maybe", 1, "RTL_BUFFER_POLICY=maybe");
	check_setting("RTL_EXIT_TIMEOUT=soon", 1, "RTL_EXIT_TIMEOUT=soon");
	check_setting("RTL_EXIT_TIMEOUT=-1", 1, "RTL_EXIT_TIMEOUT=-1");
	check_setting("RTL_STALL_TIMEOUT=30s", 1, "RTL_STALL_TIMEOUT=30s");
}

TEST(test_bus__good_settings__nothing_said)
{
	check_setting("RTL_BUFFER_SIZE=100000", 0, "");
	check_setting("RTL_BUFFER_SIZE=1m", 0, "");
	check_setting("RTL_BUFFER_SIZE=1G", 0, "");
	check_setting("RTL_BUFFER_TOTAL=64K", 0, "");
	check_setting("RTL_BUFFER_POLICY=discard", 0, "");
	check_setting("RTL_STRICT=0", 0, "");
	check_setting("RTL_EXIT_TIMEOUT=1000", 0, "");
	check_setting("RTL_BUFFER_SIZE=", 0, "");
}

TEST(test_bus__no_such_subscriber__one_line)
{
	start("nothing_recorded", NULL);
	r.subscribers = "libno_such_sub.so";
	run_saying(1);
	assert_int_equal(lines_with(r.err, "libno_such_sub.so"), 1);
	assert_int_equal(run_spools_left(&r), 0);
}

/* ---- spools that cannot be had */

static void check_no_spool(const char *variable, const char *part)
{
	start("nothing_recorded", "");
	r.env[0] = variable;
	run_saying(1);
	assert_int_equal(lines_with(r.err, part), 1);
	run_clean(&r);
}

TEST(test_bus__no_folder_for_the_spool__one_line)
{
	check_no_spool("RTL_SPOOL=/no/such/folder", "RTL_SPOOL");
	check_no_spool("RTL_SPOOL=/dev/null", "RTL_SPOOL");
	check_no_spool("RTL_SPOOL=/proc", "RTL_SPOOL");
}

TEST(test_bus__no_folder_for_the_spool_strict__does_not_start)
{
	start("nothing_recorded", "");
	r.env[0] = "RTL_SPOOL=/no/such/folder";
	r.env[1] = "RTL_STRICT=1";
	run(&r);
	assert_int_equal(r.status, 2);
}

TEST(test_bus__no_descriptors_left__counted_and_said)
{
	start("no_descriptors", "");
	run_saying(1);
	assert_int_equal(lines_with(r.err, "no ring for thread"), 1);
}

TEST(test_bus__no_descriptors_at_start__program_runs_on)
{
	start("no_descriptors_at_start", "");
	run_saying(1);
}

TEST(test_bus__file_size_limited__program_lives)
{
	start("small_files", "");
	run(&r);
	assert_int_equal(r.signal, 0);
	assert_int_equal(r.status, 0);
}

TEST(test_bus__spool_folder_fills_up__counted)
{
	start("full_folder", "");
	r.tmpfs = "size=1m";
	run(&r);
	if (r.status == SKIPPED)
		skip();
	assert_int_equal(r.signal, 0);
	assert_int_equal(r.status, 0);
}

TEST(test_bus__spool_folder_too_small_from_the_start__said)
{
	start("nothing_recorded", "");
	r.tmpfs = "size=64k";
	run(&r);
	if (r.status == SKIPPED)
		skip();
	assert_int_equal(r.status, 0);
	assert_int_equal(lines_with(r.err, "cannot write"), 1);
	assert_int_equal(lines_with(r.err, ""), 1);
}

/* ---- allocations that fail */

/* Each allocation fails once, and, the second time, it and all after it: the program lives, and
 * what was not recorded is counted (see the scenario). */
static void fail_each(const char *and_after)
{
	char variable[32];
	int n;

#ifdef SANITIZED
	skip(); /* its runtime has to come before what is preloaded */
#endif
	for (n = 1; n < 2000; n += and_after ? 1 + n / 30 : 1) {
		start("failing_allocation", "delivery=both");
		snprintf(variable, sizeof(variable), "FAIL_NTH=%d", n);
		r.env[0] = variable;
		r.env[1] = SMALL;
		r.env[2] = and_after;
		r.preload = BUS_FAILING;
		run(&r);
		if (r.status == SKIPPED)
			skip();
		if (r.status == 79)
			break;
		if (r.status) {
			print_error("allocation %d: status %d, signal %d\n%s", n, r.status,
				    r.signal, r.err);
			fail();
		}
		run_clean(&r);
	}
	assert_in_range(n, 20, 1999);
}

TEST(test_bus__each_allocation_fails__program_lives)
{
	fail_each(NULL);
}

TEST(test_bus__all_allocations_fail_from_some_on__program_lives)
{
	fail_each("FAIL_ON=1");
}

/* ---- ids */

TEST(test_bus__two_processes_at_other_addresses__same_ids)
{
	static char first[4096];
	char where[2][64];

	for (int i = 0; i < 2; i++) {
		start("print_ids", NULL);
		r.env[0] = "BUS_WHERE=1";
		run_saying(0);
		assert_int_equal(lines_with(r.out, ""), 4);
		snprintf(where[i], sizeof(where[i]), "%s", strstr(r.out, " at "));
		*strstr(r.out, " at ") = 0;
		if (i)
			assert_string_equal(r.out, first);
		strcpy(first, r.out);
		run_clean(&r);
	}
	if (!strcmp(where[0], where[1]))
		skip(); /* address space is not randomized here */
}

static int clean(void **state)
{
	run_clean(&r);
	return 0;
}

RUN_TESTS(NULL, clean, NULL, NULL)
