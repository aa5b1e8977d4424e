/* SPDX-License-Identifier: MIT */
/* A GPU's ticks as nanoseconds, against a runtime whose clock we are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../streams/hsa/runtime/gpu_clock.h"

/* 100 MHz, and 50 parts of a million wrong; calibrated so that `zero` ticks are 5 s. */
static const double rate = 10.0005;
static uint64_t zero = 1ull << 40;
static unsigned asked;
static uint64_t unknown_from = UINT64_MAX;

static uint64_t ask(hsa_agent_t agent, uint64_t ticks)
{
	assert_int_equal(agent.handle, 7);
	asked++;
	if (ticks >= unknown_from)
		return 0;
	return 5000000000u + (uint64_t)(int64_t)((double)(int64_t)(ticks - zero) * rate);
}

static uint64_t convert(struct gpu_clock *clock, uint64_t ticks)
{
	return gpu_clock_ns(clock, ask, (hsa_agent_t){7}, ticks);
}

static void assert_as_the_runtime(struct gpu_clock *clock, uint64_t ticks)
{
	const uint64_t ns = convert(clock, ticks), theirs = ask((hsa_agent_t){7}, ticks);

	assert_in_range(ns + 1 - theirs, 0, 2);
}

static void near_times_are_the_runtimes(void **state)
{
	struct gpu_clock clock = {0};
	uint64_t ticks = zero + 100000;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		assert_as_the_runtime(&clock, ticks);
		assert_as_the_runtime(&clock, ticks - 37);
		ticks += 11;
	}
}

static void the_runtime_is_asked_seldom(void **state)
{
	struct gpu_clock clock = {0};

	(void)state;
	asked = 0;
	for (uint64_t ticks = zero; ticks < zero + 1000000; ticks += 100)
		(void)convert(&clock, ticks);
	assert_in_range(asked, 2, 400);
}

/* The begin of a long kernel, of one that began before the clocks were, and none at all. */
static void old_times_are_asked_for(void **state)
{
	struct gpu_clock clock = {0};

	(void)state;
	assert_as_the_runtime(&clock, zero + 1000000000);
	assert_as_the_runtime(&clock, zero + 5);
	assert_as_the_runtime(&clock, zero + 1000000001);
	assert_as_the_runtime(&clock, 3);
	assert_int_equal(convert(&clock, 0), 0);
}

static void a_new_calibration_is_noticed(void **state)
{
	struct gpu_clock clock = {0};
	const uint64_t ticks = zero + 1000;

	(void)state;
	assert_as_the_runtime(&clock, ticks);
	zero += 60; /* the runtime's next calibration: 0.6 us */
	assert_as_the_runtime(&clock, ticks + 10000);
	assert_as_the_runtime(&clock, ticks + 10100);
	zero -= 60;
}

static void what_the_runtime_does_not_know_is_0(void **state)
{
	struct gpu_clock clock = {0};

	(void)state;
	assert_as_the_runtime(&clock, zero);
	unknown_from = zero + 50000;
	assert_int_equal(convert(&clock, zero + 50000), 0);
	assert_as_the_runtime(&clock, zero + 10);
	unknown_from = UINT64_MAX;
	assert_as_the_runtime(&clock, zero + 50000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(near_times_are_the_runtimes),
		cmocka_unit_test(the_runtime_is_asked_seldom),
		cmocka_unit_test(old_times_are_asked_for),
		cmocka_unit_test(a_new_calibration_is_noticed),
		cmocka_unit_test(what_the_runtime_does_not_know_is_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
