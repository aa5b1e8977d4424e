/* SPDX-License-Identifier: MIT */
/* Unit tests of core/base/stream_list.c: RTL_STREAMS. */
#include <stdlib.h>
#include <string.h>

#include <rtl/stream.h>

#include "selection.h"
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

RUN_TESTS(NULL, NULL, NULL, NULL)
