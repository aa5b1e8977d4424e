/* SPDX-License-Identifier: MIT */
/* Streams that are being captured, and those that join them. */
#include "captures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ORIGIN = 0x1000, JOINED = 0x2000, OTHER = 0x3000, EVENT = 0x4000 };

static void test_captures__begun__until_they_end(void **state)
{
	(void)state;
	assert_false(captures_have(ORIGIN));
	captures_begin(ORIGIN);
	assert_true(captures_have(ORIGIN));
	assert_false(captures_have(OTHER));
	assert_false(captures_have(0));
	captures_end(ORIGIN);
	assert_false(captures_have(ORIGIN));
}

static void test_captures__stream_waits_for_a_captured_event__it_is_captured_as_long(void **state)
{
	(void)state;
	captures_begin(ORIGIN);
	captures_record(EVENT, ORIGIN);
	captures_wait(JOINED, EVENT);
	assert_true(captures_have(JOINED));
	captures_end(ORIGIN);
	assert_false(captures_have(JOINED));
	captures_wait(JOINED, EVENT);
	assert_false(captures_have(JOINED));
}

static void test_captures__event_recorded_again_elsewhere__nobody_joins(void **state)
{
	(void)state;
	captures_begin(ORIGIN);
	captures_record(EVENT, ORIGIN);
	captures_record(EVENT, OTHER);
	captures_wait(JOINED, EVENT);
	assert_false(captures_have(JOINED));
	assert_true(captures_have(ORIGIN));
	captures_end(ORIGIN);
}

static void test_captures__end_of_one__others_stay(void **state)
{
	(void)state;
	captures_begin(ORIGIN);
	captures_begin(OTHER);
	captures_end(ORIGIN);
	assert_true(captures_have(OTHER));
	captures_end(OTHER);
	for (uint64_t i = 1; i <= 100; i++)
		captures_begin(i);
	for (uint64_t i = 1; i <= 100; i++)
		captures_end(i);
	captures_begin(ORIGIN);
	assert_true(captures_have(ORIGIN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_captures__begun__until_they_end),
		cmocka_unit_test(
			test_captures__stream_waits_for_a_captured_event__it_is_captured_as_long),
		cmocka_unit_test(test_captures__event_recorded_again_elsewhere__nobody_joins),
		cmocka_unit_test(test_captures__end_of_one__others_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
