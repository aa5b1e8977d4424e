/* SPDX-License-Identifier: MIT */
/* Unit tests of core/base/clock.c: clock lines made by hand. */

#include "clock.h"
#include "unit.h"

static struct clock_line line;

static void add(uint64_t ticks, uint64_t ns)
{
	const struct clock_pair pair = {.ticks = ticks, .ns = ns};

	clock_line_add(&line, &pair);
}

static int empty(void **state)
{
	memset(&line, 0, sizeof(line));
	clock_kind = CLOCK_KIND_TSC;
	return 0;
}

TEST(test_clock__pairs__met_exactly)
{
	for (uint64_t i = 0; i < 10; i++)
		add(1000 + i * 3000, 500 + i * 1000);
	for (uint64_t i = 0; i < 10; i++)
		assert_in_range(clock_line_ns(&line, 1000 + i * 3000), 500 + i * 1000 - 1,
				500 + i * 1000);
}

TEST(test_clock__between_pairs__interpolated)
{
	add(1000, 10000);
	add(3000, 11000);
	add(4000, 13000);
	assert_int_equal(clock_line_ns(&line, 2000), 10500);
	assert_int_equal(clock_line_ns(&line, 3500), 12000);
	assert_int_equal(clock_line_ns(&line, 5000), 15000); /* behind the line: as its end */
	assert_int_equal(clock_line_ns(&line, 500), 9750);   /* before: as its beginning */
}

TEST(test_clock__one_pair__its_time)
{
	add(1000, 77);
	assert_int_equal(clock_line_ns(&line, 1000), 77);
	clock_kind = CLOCK_KIND_NS;
	assert_int_equal(clock_line_ns(&line, 1234), 1234);
}

TEST(test_clock__pair_that_goes_back__left_out)
{
	add(1000, 1000);
	add(2000, 2000);
	add(2000, 2500);
	add(1500, 2600);
	add(3000, 1999);
	assert_int_equal(line.count, 2);
	add(3000, 2000); /* a clock that stood still is none that goes back */
	assert_int_equal(line.count, 3);
	assert_int_equal(clock_line_ns(&line, 2500), 2000);
}

/* However many pairs come, and wherever they jitter: time never runs backwards, the first and the last pairs stay. */
TEST(test_clock__many_pairs__monotonic)
{
	uint64_t random = 1, ticks = 5000, ns = 100, last = 0, first = 0, t, i;

	for (i = 0; i < 1000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		ticks += 1 + (random >> 40) % 100000;
		ns += (random >> 20) % 50000;
		add(ticks, ns);
		first = i ? first : ticks;
		assert_true(line.count <= CLOCK_LINE_PAIRS);
		assert_int_equal(line.pairs[0].ticks, first);
		assert_int_equal(line.pairs[line.count - 1].ticks, ticks);
	}
	for (t = line.pairs[0].ticks; t < ticks; t += 997) {
		assert_true(clock_line_ns(&line, t) >= last);
		last = clock_line_ns(&line, t);
	}
	assert_in_range(clock_line_ns(&line, ticks), ns - 1, ns);
}

/* Ticks of a machine that has been up for years, and steps of days: no overflow. */
TEST(test_clock__large_numbers__no_overflow)
{
	const uint64_t year = 365ull * 86400 * 1000000000;

	add(3 * 20 * year, 20 * year);
	add(3 * 20 * year + 3 * year / 100, 20 * year + year / 100);
	assert_in_range(clock_line_ns(&line, 3 * 20 * year + 3 * year / 200),
			20 * year + year / 200 - 1000, 20 * year + year / 200 + 1000);
}

TEST(test_clock__real_pairs__error_is_small_and_order_kept)
{
	struct clock_pair a, b;

	for (int kind = CLOCK_KIND_NS; kind <= CLOCK_KIND_TSC; kind++) {
		clock_kind = (enum clock_kind)kind;
		clock_pair_take(&a);
		clock_pair_take(&b);
		assert_true(b.ticks >= a.ticks && b.ns >= a.ns);
		assert_true(clock_ticks_after_loads() >= b.ticks);
	}
}

RUN_TESTS(empty, NULL, NULL, NULL)
