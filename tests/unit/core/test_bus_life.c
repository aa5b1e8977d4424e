/* SPDX-License-Identifier: MIT */
/* The life of a process: scenarios of test_bus_child_life.c. */

#include "test_bus_run.h"
#include "unit.h"

BUS_TEST(test_bus__registered_before_main__published_until_after_main, "before_and_after_main",
	 "detail=1")
BUS_TEST(test_bus__at_finish__last_registered_first, "at_finish", "")
BUS_TEST(test_bus__threads_publish_on__exit_ends_with_a_final_ledger, "exit_while_publishing", "")
BUS_TEST(test_bus__threads_publish_on_inline__no_callback_after_finish, "exit_while_publishing",
	 "delivery=both")
BUS_TEST(test_bus__threads_publish_on_slow_subscriber__exit_ends, "exit_while_publishing",
	 "slow_us=1000", "RTL_BUFFER_SIZE=64K")
BUS_TEST(test_bus__subscriber_publishes_without_end__flush_and_exit_end, "subscriber_publishes", "")
BUS_TEST(test_bus__exit_from_thread__complete, "exit_from_thread", "")
BUS_TEST(test_bus__ring_given_back__next_thread_takes_it, "ring_taken_again", "")
BUS_TEST(test_bus__main_thread_ends_first__complete, "main_ends_first", "")
BUS_TEST(test_bus__exit_in_inline_callback__ends, "exit_in_inline_callback", "delivery=inline")
BUS_TEST(test_bus__fork__child_has_its_own_bus, "fork_publish", "")
BUS_TEST(test_bus__child_registers_first__parents_spool_untouched, "fork_register", "")
BUS_TEST(test_bus__fork_while_threads_publish__children_work, "fork_of_threads", "")
BUS_TEST(test_bus__fork_while_threads_publish_inline__children_work, "fork_of_threads",
	 "delivery=both")
BUS_TEST(test_bus__fork_while_subscriber_works__child_finds_no_lock_held,
	 "fork_while_subscriber_works", "")
BUS_TEST(test_bus__fork_in_inline_callback__child_goes_on, "fork_in_inline_callback",
	 "delivery=both")
BUS_TEST(test_bus__fork_in_buffered_callback__child_goes_on, "fork_in_buffered_callback", "")
BUS_TEST(test_bus__child_publishes_nothing__nothing_of_it, "fork_silent_child", "")
BUS_TEST(test_bus__fork_vfork_spawn_and_exec__each_its_own, "other_programs", "")
BUS_TEST(test_bus__fork_at_begin_of_start_without_subscribers__child_has_its_own_bus,
	 "fork_while_bus_starts", NULL, "BUS_STOP=RTL_LOG")
BUS_TEST(test_bus__fork_at_begin_of_start__child_has_its_own_bus, "fork_while_bus_starts", "",
	 "BUS_STOP=RTL_LOG")
BUS_TEST(test_bus__fork_before_spool_is_made__child_has_its_own_bus, "fork_while_bus_starts", "",
	 "BUS_STOP=RTL_SPOOL")
BUS_TEST(test_bus__fork_while_subscriber_is_created__child_has_its_own_bus, "fork_while_bus_starts",
	 "", "BUS_STOP=create")
BUS_TEST(test_bus__fork_in_fork__all_go_on, "fork_in_fork", "")
BUS_TEST(test_bus__quick_ends_told__outputs_complete_and_no_spool_left, "quick_ends_told", "")

BUS_TEST(test_bus__constructor_registers_while_bus_loads__nothing_lost,
	 "constructor_registers_while_bus_loads", "", "BUS_LIBRARY=" BUS_DLOPENED)

TEST(test_bus__constructor_registers_at_any_time__nothing_lost)
{
	static struct run r;

	for (int i = 0; i < 40; i++) {
		memset(&r, 0, sizeof(r));
		r.scenario = "constructor_registers_at_any_time";
		r.probe = "";
		r.env[0] = "BUS_LIBRARY=" BUS_DLOPENED;
		run_well(&r);
		run_clean(&r);
	}
}

/* A scenario that may leave its spool behind. */
static void run_leaving(struct run *r, const char *scenario, const char *probe, int spools)
{
	memset(r, 0, sizeof(*r));
	r->scenario = scenario;
	r->probe = probe;
	r->env[0] = "RTL_EXIT_TIMEOUT=200";
	run(r);
	assert_int_equal(r->status, 0);
	assert_int_equal(run_spools_left(r), spools);
}

static struct run the_run;

TEST(test_bus__registered_before_main__each_event_once)
{
	run_leaving(&the_run, "before_and_after_main", "detail=1", 0);
	assert_int_equal(lines_with(the_run.out, " event t.main"), 4);
	assert_int_equal(lines_with(the_run.out, " finish 4 0"), 1);
	assert_int_equal(lines_with(the_run.out, " destroy"), 1);
}

TEST(test_bus__quick_end__no_finish_and_spool_stays)
{
	run_leaving(&the_run, "quick_end", "", 1);
	assert_int_equal(lines_with(the_run.out, " finish"), 0);
	assert_string_equal(the_run.err, "");
}

TEST(test_bus__exec__spool_stays_and_program_has_its_own)
{
	run_leaving(&the_run, "exec_self", "", 1);
	assert_int_equal(lines_with(the_run.out, " create"), 2);
	assert_int_equal(lines_with(the_run.out, " finish 1 0"), 1);
}

TEST(test_bus__stuck_subscriber__exit_says_so_and_ends)
{
	run_leaving(&the_run, "stuck_subscriber", "", 1);
	assert_int_equal(lines_with(the_run.err, "made no progress for 200 ms"), 1);
	assert_int_equal(lines_with(the_run.err, ""), 1);
}

TEST(test_bus__exit_in_buffered_callback__ends)
{
	run_leaving(&the_run, "exit_in_buffered_callback", "", 1);
}

static int clean(void **state)
{
	run_clean(&the_run);
	return 0;
}

RUN_TESTS(NULL, clean, NULL, NULL)
