/* SPDX-License-Identifier: MIT */
/* Signal handlers: scenarios of test_bus_child_signals.c. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test_bus_run.h"

#define SMALL "RTL_BUFFER_SIZE=64K"

TEST(test_bus__interrupted_at_each_instruction__recorded_or_counted, "step_publish", "", NULL)
TEST(test_bus__interrupted_at_each_instruction_inline__recorded_or_counted, "step_publish",
     "delivery=both", NULL)
TEST(test_bus__interrupted_at_each_instruction_small_ring__recorded_or_counted,
     "step_publish_large", "", SMALL)
TEST(test_bus__inline_event_interrupted_at_each_instruction__as_published, "step_inline",
     "delivery=inline", NULL)
TEST(test_bus__first_event_interrupted__recorded_or_counted, "step_first_event", "", SMALL)
TEST(test_bus__malloc_interrupted__first_event_recorded, "step_malloc", "", SMALL)
TEST(test_bus__unique_id_interrupted__unique, "step_unique_id", NULL, NULL)
TEST(test_bus__publishing_interrupted_by_fork__goes_on, "step_fork", "", SMALL)
TEST(test_bus__timer_storm__recorded_or_counted, "timer_storm", "", NULL)
TEST(test_bus__timer_storm_small_rings__recorded_or_counted, "timer_storm", "delivery=both", SMALL)

static void test_bus__exit_while_sigterm_is_handled__outputs_complete(void **state)
{
	static struct run the_run, *r = &the_run;

	(void)state;
	r->scenario = "exit_while_terminated";
	r->probe = "";
	run(r);
	assert_true(r->status == 0 || r->signal == SIGTERM);
	assert_int_equal(lines_with(r->out, " destroy"), 1);
	run_clean(r);
}

TEST(test_bus__nobody_reads_its_lines__program_goes_on, "lines_unread", "", NULL)
TEST(test_bus__files_may_not_grow__program_goes_on, "files_may_not_grow", "", NULL)
TEST(test_bus__subscriber_may_not_write__program_goes_on, "subscriber_may_not_write", "", NULL)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bus__interrupted_at_each_instruction__recorded_or_counted),
		cmocka_unit_test(
			test_bus__interrupted_at_each_instruction_inline__recorded_or_counted),
		cmocka_unit_test(
			test_bus__interrupted_at_each_instruction_small_ring__recorded_or_counted),
		cmocka_unit_test(
			test_bus__inline_event_interrupted_at_each_instruction__as_published),
		cmocka_unit_test(test_bus__first_event_interrupted__recorded_or_counted),
		cmocka_unit_test(test_bus__malloc_interrupted__first_event_recorded),
		cmocka_unit_test(test_bus__unique_id_interrupted__unique),
		cmocka_unit_test(test_bus__publishing_interrupted_by_fork__goes_on),
		cmocka_unit_test(test_bus__timer_storm__recorded_or_counted),
		cmocka_unit_test(test_bus__timer_storm_small_rings__recorded_or_counted),
		cmocka_unit_test(test_bus__exit_while_sigterm_is_handled__outputs_complete),
		cmocka_unit_test(test_bus__nobody_reads_its_lines__program_goes_on),
		cmocka_unit_test(test_bus__files_may_not_grow__program_goes_on),
		cmocka_unit_test(test_bus__subscriber_may_not_write__program_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
