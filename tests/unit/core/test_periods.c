/* SPDX-License-Identifier: MIT */
/* Unit tests of core/base/periods.c. */

#include "selection.h"
#include "unit.h"

#define START 1000u

/* At that time behind the start: in or not, and when that changes. */
static void expect(const struct periods *periods, uint64_t at, bool in, uint64_t change)
{
	uint64_t change_ns = 0;

	assert_int_equal(periods_are_in(periods, START, START + at, &change_ns), in);
	assert_int_equal(change_ns, change == UINT64_MAX ? change : START + change);
}

TEST(test_periods__none__always_in)
{
	const struct periods all = {0};
	const struct periods once = {.repeat = 1};

	expect(&all, 0, true, UINT64_MAX);
	expect(&once, 1u << 30, true, UINT64_MAX);
}

TEST(test_periods__delay_alone__from_then_on)
{
	const struct periods p = {.delay_ns = 10, .repeat = 1};

	expect(&p, 0, false, 10);
	expect(&p, 9, false, 10);
	expect(&p, 10, true, UINT64_MAX);
}

TEST(test_periods__duration_alone__until_then)
{
	const struct periods p = {.duration_ns = 10, .repeat = 1};

	expect(&p, 0, true, 10);
	expect(&p, 9, true, 10);
	expect(&p, 10, false, UINT64_MAX);
}

TEST(test_periods__repeated__so_many)
{
	const struct periods p = {.delay_ns = 10, .duration_ns = 5, .repeat = 2};

	expect(&p, 9, false, 10);
	expect(&p, 10, true, 15);
	expect(&p, 15, false, 25);
	expect(&p, 25, true, 30);
	expect(&p, 30, false, UINT64_MAX);
	expect(&p, 40, false, UINT64_MAX);
}

TEST(test_periods__without_end__on_and_on)
{
	const struct periods p = {.delay_ns = 10, .duration_ns = 5};

	expect(&p, 15 * 1000000 + 9, false, 15 * 1000000 + 10);
	expect(&p, 15 * 1000000 + 10, true, 15 * 1000000 + 15);
}

TEST(test_periods__before_their_start__as_at_it)
{
	const struct periods p = {.delay_ns = 10};
	uint64_t change_ns;

	assert_false(periods_are_in(&p, START, START - 1, &change_ns));
	assert_int_equal(change_ns, START + 10);
}

RUN_TESTS(NULL, NULL, NULL, NULL)
