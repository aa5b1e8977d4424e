/* SPDX-License-Identifier: MIT */
/* Unit tests of lane.h, by themselves and against all that a lane has taken. */
#include "lane.h"
#include "unit.h"

TEST(test_flat__slices_one_after_the_other__share_a_lane)
{
	struct lane lane = {0};

	assert_true(lane_take(&lane, 10, 20, LANE_FLAT));
	assert_true(lane_take(&lane, 20, 30, LANE_FLAT));
	assert_false(lane_take(&lane, 29, 31, LANE_FLAT));
	assert_false(lane_take(&lane, 12, 13, LANE_FLAT));
	assert_true(lane_take(&lane, 40, 50, LANE_FLAT));
	assert_true(lane_take(&lane, 31, 39, LANE_FLAT)); /* late, into a gap */
	lane_fini(&lane);
}

TEST(test_nested__outer_ones_come_last__share_a_lane)
{
	struct lane lane = {0};

	assert_true(lane_take(&lane, 10, 20, LANE_NESTED));
	assert_true(lane_take(&lane, 30, 40, LANE_NESTED));
	assert_true(lane_take(&lane, 5, 45, LANE_NESTED));
	assert_false(lane_take(&lane, 44, 50, LANE_NESTED)); /* in part */
	assert_true(lane_take(&lane, 45, 50, LANE_NESTED));
	assert_true(lane_take(&lane, 0, 60, LANE_NESTED));
	lane_fini(&lane);
}

TEST(test_nested__inner_one_comes_after_the_outer__fits_behind_what_is_there)
{
	struct lane lane = {0};

	assert_true(lane_take(&lane, 10, 20, LANE_NESTED));
	assert_true(lane_take(&lane, 5, 100, LANE_NESTED));
	assert_true(lane_take(&lane, 30, 100, LANE_NESTED));
	assert_false(lane_take(&lane, 15, 25, LANE_NESTED));
	lane_fini(&lane);
}

TEST(test_strict__same_begin__is_refused)
{
	struct lane lane = {0};

	assert_true(lane_take(&lane, 10, 20, LANE_STRICT));
	assert_false(lane_take(&lane, 10, 30, LANE_STRICT));
	assert_true(lane_take(&lane, 9, 20, LANE_STRICT));
	lane_fini(&lane);
}

TEST(test_nested__more_calls_than_are_kept__range_around_all_fits)
{
	struct lane lane = {0};

	for (uint64_t i = 0; i < 3 * LANE_SPANS; i++)
		assert_true(lane_take(&lane, 10 * i + 10, 10 * i + 18, LANE_NESTED));
	assert_true(lane_take(&lane, 1, 30 * (uint64_t)LANE_SPANS + 100, LANE_NESTED));
	lane_fini(&lane);
}

TEST(test_blocked__what_is_before_that__is_refused)
{
	struct lane lane = {0};

	lane_block(&lane, 100);
	assert_false(lane_take(&lane, 90, 110, LANE_NESTED));
	assert_false(lane_take(&lane, 90, 95, LANE_FLAT));
	assert_true(lane_take(&lane, 100, 110, LANE_FLAT));
	lane_fini(&lane);
}

/* ---- against all that has been taken ---- */

#define MANY 3000

static int overlap_badly(const uint64_t a[2], const uint64_t b[2], enum lane_rule rule)
{
	if (a[1] <= b[0] || b[1] <= a[0])
		return 0;
	if (rule == LANE_FLAT)
		return 1;
	if (rule == LANE_STRICT && a[0] == b[0])
		return 1;
	return !((a[0] <= b[0] && b[1] <= a[1]) || (b[0] <= a[0] && a[1] <= b[1]));
}

TEST(test_any_slices__what_is_taken__never_overlaps_badly)
{
	static uint64_t taken[MANY][2];
	const enum lane_rule rules[] = {LANE_FLAT, LANE_NESTED, LANE_STRICT};

	srand(7);
	for (int r = 0; r < 3; r++) {
		struct lane lane = {0};
		size_t count = 0;

		for (size_t i = 0; i < MANY; i++) {
			const uint64_t end = 20 * i + (uint64_t)rand() % 200 + 300;
			const uint64_t length = (uint64_t)rand() % (i % 50 ? 40 : 280) + 1;
			const uint64_t it[2] = {end - length, end};

			if (!lane_take(&lane, it[0], it[1], rules[r]))
				continue;
			for (size_t k = 0; k < count; k++)
				assert_false(overlap_badly(taken[k], it, rules[r]));
			taken[count][0] = it[0];
			taken[count++][1] = it[1];
		}
		assert_true(count > MANY / 20);
		lane_fini(&lane);
	}
}

RUN_TESTS(NULL, NULL, NULL, NULL)
