/* SPDX-License-Identifier: MIT */
/* cmocka, the headers of C that most tests need, and tests that make themselves known: TEST(test_x__y__z) { ... }, in
 * the order of their file, and RUN_TESTS at its end. An argument of the program chooses tests by their names. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define UNIT_TESTS_MOST 64

static struct CMUnitTest
	unit_tests[UNIT_TESTS_MOST]; /* those that are not used are none to cmocka */
static size_t unit_count;

static inline void unit_add(const char *name, CMUnitTestFunction test, CMFixtureFunction setup)
{
	if (unit_count == UNIT_TESTS_MOST)
		abort();
	unit_tests[unit_count].name = name;
	unit_tests[unit_count].test_func = test;
	unit_tests[unit_count++].setup_func = setup;
}

/* A test with a setup of its own; NULL: that of RUN_TESTS. */
#define TEST_WITH(name_, setup_)                                                                   \
	static void name_(void **state);                                                           \
	__attribute__((constructor)) static void add_##name_(void)                                 \
	{                                                                                          \
		unit_add(#name_, name_, setup_);                                                   \
	}                                                                                          \
	static void name_(__attribute__((unused)) void **state)

#define TEST(name_) TEST_WITH(name_, NULL)

/* A test of what its setup has made: TEST_OF(name, struct thing *t). */
#define TEST_OF(name_, made_)                                                                      \
	static void of_##name_(made_);                                                             \
	TEST(name_)                                                                                \
	{                                                                                          \
		of_##name_(*state);                                                                \
	}                                                                                          \
	static void of_##name_(__attribute__((unused)) made_)

/* Random numbers, the same in each run, of each thread. */
__attribute__((unused)) static uint64_t unit_random(void)
{
	static __thread uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* main, with what is done around each test and around all of them; NULL: nothing. */
#define RUN_TESTS(setup_, teardown_, group_setup_, group_teardown_)                                \
	int main(int argc_, char **argv_)                                                          \
	{                                                                                          \
		if (argc_ > 1)                                                                     \
			cmocka_set_test_filter(argv_[1]);                                          \
		for (size_t i_ = 0; i_ < unit_count; i_++) {                                       \
			if (!unit_tests[i_].setup_func)                                            \
				unit_tests[i_].setup_func = setup_;                                \
			unit_tests[i_].teardown_func = teardown_;                                  \
		}                                                                                  \
		return cmocka_run_group_tests(unit_tests, group_setup_, group_teardown_);          \
	}
