/* SPDX-License-Identifier: MIT */
/* What the user selects: RTL_STREAMS, and the periods. */

#include <rtl/stream.h>

#include "selected.h"
#include "unit.h"

TEST(test_selects__patterns__the_last_that_matches_counts)
{
	static const struct {
		const char *list, *stream;
		bool selected;
	} cases[] = {
		{"", "a", true},
		{"a", "a", true},
		{"a", "ab", false},
		{"rtl.*", "rtl.hsa.copy", true},
		{"rtl.hsa:b,c", "c", true},
		{"rtl.hsa:b,c", "d", false},
		{"-b", "a", true},
		{"-b", "b", false},
		{"-b:b", "b", true},
		{"*:-rtl.hsa*:rtl.hsa.copy", "rtl.hsa", false},
		{"*:-rtl.hsa*:rtl.hsa.copy", "rtl.hsa.copy", true},
		{"*:-rtl.hsa*:rtl.hsa.copy", "x", true},
		{"::,a,", "a", true},
		{"::,a,", "b", false},
		{"-", "a", true},
		{"[", "[", true},
	};
	char longer[400];

	unsetenv("RTL_STREAMS");
	assert_true(stream_list_selects("a"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setenv("RTL_STREAMS", cases[i].list, 1);
		if (stream_list_selects(cases[i].stream) != cases[i].selected)
			fail_msg("%s: %s", cases[i].list, cases[i].stream);
	}
	memset(longer, 'a', sizeof(longer) - 1);
	memcpy(longer + sizeof(longer) - 3, ":b", 3);
	setenv("RTL_STREAMS", longer, 1);
	assert_true(stream_list_selects("b"));
	assert_false(stream_list_selects("a"));
}

TEST(test_asked__by_name_not_by_a_pattern_for_any)
{
	static const struct {
		const char *list;
		bool asked;
	} cases[] = {
		{"", false},
		{"rtl.hsa.call", true},
		{"rtl.hsa.call*", true},
		{"*", false},
		{"rtl.*", false},
		{"a:b,rtl.hsa.call.debug", true},
		{"-rtl.hsa.call", false},
	};

	unsetenv("RTL_STREAMS");
	assert_false(rtl_stream_asked("rtl.hsa.call"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setenv("RTL_STREAMS", cases[i].list, 1);
		if (rtl_stream_asked("rtl.hsa.call") != cases[i].asked)
			fail_msg("%s", cases[i].list);
	}
}

#define START 1000u
#define NEVER UINT64_MAX

/* At that time behind the start: in or not, and when that changes. */
TEST(test_periods__in_or_not__and_when_that_changes)
{
	static const struct periods all = {0}, once = {.repeat = 1}, later = {.delay_ns = 10},
				    later_once = {.delay_ns = 10, .repeat = 1},
				    until = {.duration_ns = 10, .repeat = 1},
				    two = {.delay_ns = 10, .duration_ns = 5, .repeat = 2},
				    endless = {.delay_ns = 10, .duration_ns = 5};
	static const struct {
		const struct periods *periods;
		int64_t at;
		bool in;
		uint64_t change;
	} cases[] = {
		{&all, 0, true, NEVER},
		{&once, 1 << 30, true, NEVER},
		{&later, -1, false, 10},
		{&later_once, 0, false, 10},
		{&later_once, 9, false, 10},
		{&later_once, 10, true, NEVER},
		{&until, 0, true, 10},
		{&until, 9, true, 10},
		{&until, 10, false, NEVER},
		{&two, 9, false, 10},
		{&two, 10, true, 15},
		{&two, 15, false, 25},
		{&two, 25, true, 30},
		{&two, 30, false, NEVER},
		{&two, 40, false, NEVER},
		{&endless, 15000009, false, 15000010},
		{&endless, 15000010, true, 15000015},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint64_t now = START + (uint64_t)cases[i].at;
		const uint64_t change = cases[i].change == NEVER ? 0 : START + cases[i].change;
		uint64_t change_ns = 0;

		if (periods_are_in(cases[i].periods, START, now, &change_ns) != cases[i].in)
			fail_msg("case %zu", i);
		assert_int_equal(change_ns, change ? change : NEVER);
	}
}

RUN_TESTS(NULL, NULL, NULL, NULL)
