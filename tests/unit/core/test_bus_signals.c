/* SPDX-License-Identifier: MIT */
/* Signal handlers: scenarios of test_bus_child_signals.c. */
#include <signal.h>

#include "test_bus_run.h"
#include "unit.h"

#define SMALL "RTL_BUFFER_SIZE=64K"

BUS_TEST(test_bus__interrupted_at_each_instruction__recorded_or_counted, "step_publish", "")
BUS_TEST(test_bus__interrupted_at_each_instruction_inline__recorded_or_counted, "step_publish",
	 "delivery=both")
BUS_TEST(test_bus__interrupted_at_each_instruction_small_ring__recorded_or_counted,
	 "step_publish_large", "", SMALL)
BUS_TEST(test_bus__inline_event_interrupted_at_each_instruction__as_published, "step_inline",
	 "delivery=inline")
BUS_TEST(test_bus__first_event_interrupted__recorded_or_counted, "step_first_event", "", SMALL)
BUS_TEST(test_bus__malloc_interrupted__first_event_recorded, "step_malloc", "", SMALL)
BUS_TEST(test_bus__unique_id_interrupted__unique, "step_unique_id", NULL)
BUS_TEST(test_bus__publishing_interrupted_by_fork__goes_on, "step_fork", "", SMALL)
BUS_TEST(test_bus__timer_storm__recorded_or_counted, "timer_storm", "")
BUS_TEST(test_bus__timer_storm_small_rings__recorded_or_counted, "timer_storm", "delivery=both",
	 SMALL)

TEST(test_bus__exit_while_sigterm_is_handled__outputs_complete)
{
	static struct run the_run, *r = &the_run;

	r->scenario = "exit_while_terminated";
	r->probe = "";
	run(r);
	assert_true(r->status == 0 || r->signal == SIGTERM);
	assert_int_equal(lines_with(r->out, " destroy"), 1);
	run_clean(r);
}

BUS_TEST(test_bus__nobody_reads_its_lines__program_goes_on, "lines_unread", "")
BUS_TEST(test_bus__files_may_not_grow__program_goes_on, "files_may_not_grow", "")
BUS_TEST(test_bus__subscriber_may_not_write__program_goes_on, "subscriber_may_not_write", "")

RUN_TESTS(NULL, NULL, NULL, NULL)
