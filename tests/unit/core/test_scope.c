/* SPDX-License-Identifier: MIT */
/* Scopes, stash, spans, regions and marks: scenarios of test_scope_child.c, test_scope_events.c and
 * test_scope_guards.cpp, each in a process of its own. */

#include "test_bus_run.h"
#include "unit.h"

#define DEFAULT "streams=rtl.default"

BUS_TEST(test_scope__nested__innermost_is_current, "scope_nesting", NULL)
BUS_TEST(test_scope__too_deep__counted_and_outer_stays, "scope_overflow", NULL)
BUS_TEST(test_scope__inner_left_open__closed_with_outer, "scope_left_open", NULL)
BUS_TEST(test_scope__threads__own_and_given_back, "scope_threads", NULL)
BUS_TEST(test_scope__used_in_thread_destructors__works, "scope_thread_destructors", NULL)
BUS_TEST(test_scope__fork__child_goes_on, "scope_fork", NULL)
BUS_TEST(test_scope__signal_handlers__always_consistent, "scope_signals", NULL)
BUS_TEST(test_scope__first_use_in_handler__works, "scope_first_use_in_handler", NULL)
BUS_TEST(test_scope__in_use__no_allocation_errno_kept, "scope_no_allocation", NULL)
BUS_TEST(test_stash__keys__set_replaced_removed_limited, "stash_keys", NULL)
BUS_TEST(test_scope__reserve_in_scope__parent_and_correlation, "reserve_in_scope", "")
BUS_TEST(test_span__begin_and_end__paired_and_nested, "span_pair", "")
BUS_TEST(test_span__detached__any_order_any_thread, "span_detached", "")
BUS_TEST(test_span__end_wanted_only__end_published, "span_half_wanted", "type=25")
BUS_TEST(test_span__not_wanted__nothing_done, "span_not_wanted", NULL)
BUS_TEST(test_region__call_sites__tracepoint_once_events_each_time, "region_sites", "")
BUS_TEST(test_region__sites_registered_by_threads__same_ids, "region_sites_threads", "")
BUS_TEST(test_region__cpp_exceptions_and_objects__paired, "guards_in_cpp", "")
BUS_TEST(test_default__marks__text_name_value, "default_marks", DEFAULT)
BUS_TEST(test_default__long_text__cut_off, "default_long_text", DEFAULT)
BUS_TEST(test_default__regions__paired_with_values, "default_regions", DEFAULT)
BUS_TEST(test_default__first_used_by_threads__registered_once, "default_registered_by_all", DEFAULT)
BUS_TEST(test_default__cpp_objects__paired, "guards_in_cpp_default", DEFAULT)

TEST(test_region__two_runs__same_id)
{
	struct run *r = calloc(2, sizeof(*r));

	assert_non_null(r);
	for (int i = 0; i < 2; i++) {
		r[i].scenario = "region_site_id";
		run(&r[i]);
		run_clean(&r[i]);
		assert_int_equal(r[i].status, 0);
		assert_int_equal(strncmp(r[i].err, "uid ", 4), 0);
	}
	assert_string_equal(r[0].err, r[1].err);
	free(r);
}

RUN_TESTS(NULL, NULL, NULL, NULL)
