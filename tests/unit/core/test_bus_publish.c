/* SPDX-License-Identifier: MIT */
/* Publishing: scenarios of test_bus_child_publish.c, _ids.c and _threads.c. */

#include "test_bus_run.h"
#include "unit.h"

#define SMALL "RTL_BUFFER_SIZE=64K"

BUS_TEST(test_bus__event_buffered__arrives_once_with_every_field, "fields", "delivery=buffered")
BUS_TEST(test_bus__event_inline__arrives_once_with_every_field, "fields", "delivery=inline")
BUS_TEST(test_bus__event_buffered_and_inline__arrives_at_both_with_every_field, "fields",
	 "delivery=both", "BUS_BOTH=1")
BUS_TEST(test_bus__clock_without_tsc__same_fields, "fields", "delivery=both", "BUS_BOTH=1",
	 "RTL_CLOCK=boottime")
BUS_TEST(test_bus__subscription_comes_and_goes__enabled_follows, "enabled", "")
BUS_TEST(test_bus__handed_over_between_threads__cause_before_effect, "causal_order", "")
BUS_TEST(test_bus__several_threads__order_of_each_kept, "thread_order", "")
BUS_TEST(test_bus__smallest_ring_all_sizes__wraps_and_keeps_content, "wrap_around", "", SMALL)
BUS_TEST(test_bus__payload_too_large__discarded_and_counted, "too_large", "")
BUS_TEST(test_bus__payload_too_large_inline__discarded_and_counted, "too_large", "delivery=both")
BUS_TEST(test_bus__payload_below_description__not_delivered_but_counted, "malformed", "")
BUS_TEST(test_bus__payload_below_description_inline__not_delivered_but_counted, "malformed",
	 "delivery=inline")
BUS_TEST(test_bus__slow_subscriber_policy_wait__nothing_lost, "policy_wait", "slow_us=1000", SMALL)
BUS_TEST(test_bus__consumer_stands_policy_discard__ledger_adds_up, "policy_discard", "", SMALL,
	 "RTL_BUFFER_POLICY=discard")
BUS_TEST(test_bus__ring_full__try_reserve_does_not_wait, "try_reserve", "", SMALL)
BUS_TEST(test_bus__ring_full__room_says_so, "room", "", SMALL)
BUS_TEST(test_bus__ring_full_of_slow_events__flushes_in_between, "flush_within_pass", "")
BUS_TEST(test_bus__others_publish_on__flush_ends, "flush_while_publishing", "")
BUS_TEST(test_bus__flush_from_buffered_callback__busy, "flush_in_callback", "")
BUS_TEST(test_bus__flush_from_inline_callback__busy, "flush_in_callback", "delivery=inline")
BUS_TEST(test_bus__consumer_stands__flush_times_out, "flush_timeout", "")
BUS_TEST(test_bus__1000_threads_come_and_go__rings_reused, "threads_come_and_go", "", SMALL,
	 "RTL_BUFFER_TOTAL=8M")
BUS_TEST(test_bus__1000_threads_at_once__each_has_a_ring, "threads_at_once", "",
	 "RTL_BUFFER_TOTAL=256M")
BUS_TEST(test_bus__thread_data_destructors_publish__recorded, "thread_data_destructors", "", SMALL)
BUS_TEST(test_bus__thread_cancelled_inside_rtl__bus_goes_on, "thread_cancelled", "",
	 "RTL_LOG=info:/dev/null")
BUS_TEST(test_bus__numbers_of_several_threads__unique, "unique_ids", NULL)
BUS_TEST(test_bus__more_numbers_than_a_block__unique, "unique_ids_many", NULL)
BUS_TEST(test_bus__thread_id__is_the_kernels, "thread_ids", "")
BUS_TEST(test_bus__slow_paths__errno_kept, "errno_kept", "", SMALL)
BUS_TEST(test_bus__slow_paths_inline__errno_kept, "errno_kept", "delivery=both", SMALL)

TEST(test_bus__no_ring_left__discarded_counted_and_said_once)
{
	static struct run the_run, *r = &the_run;

	r->scenario = "no_ring_left";
	r->probe = "";
	r->env[0] = "RTL_BUFFER_SIZE=64K";
	r->env[1] = "RTL_BUFFER_TOTAL=128K";
	run(r);
	assert_int_equal(r->status, 0);
	assert_int_equal(lines_with(r->err, "RTL_BUFFER_TOTAL"), 1);
	assert_int_equal(lines_with(r->err, ""), 1);
	run_clean(r);
}

RUN_TESTS(NULL, NULL, NULL, NULL)
