/* SPDX-License-Identifier: MIT */
/* Unit tests of core/base/stream_list.c: RTL_STREAMS. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rtl/stream.h>

#include "stream_list.h"

static void test_selects__patterns__the_last_that_matches_counts(void **state)
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

	(void)state;
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

static void test_asked__by_name_not_by_a_pattern_for_any(void **state)
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

	(void)state;
	unsetenv("RTL_STREAMS");
	assert_false(rtl_stream_asked("rtl.hsa.call"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setenv("RTL_STREAMS", cases[i].list, 1);
		if (rtl_stream_asked("rtl.hsa.call") != cases[i].asked)
			fail_msg("%s", cases[i].list);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_selects__patterns__the_last_that_matches_counts),
		cmocka_unit_test(test_asked__by_name_not_by_a_pattern_for_any),
	};

	return cmocka_run_group_tests_name("stream_list", tests, NULL, NULL);
}
