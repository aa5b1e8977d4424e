/* SPDX-License-Identifier: MIT */
/* Open ranges of roctx: stacks of threads, and the table of those that were started. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../streams/roctx/ranges.h"

static struct range named(const char *name, uint64_t instance)
{
	return (struct range){
		.instance = instance, .name = name, .name_length = (uint32_t)strlen(name)};
}

static void assert_name(const struct range *range, const char *name)
{
	assert_int_equal(range->name_length, strlen(name));
	assert_memory_equal(range->name, name, range->name_length);
}

static void push(const char *name, uint64_t instance)
{
	const struct range range = named(name, instance);

	assert_true(ranges_push(&range));
}

static void test_pop__nothing_pushed__nothing(void **state)
{
	struct range range;

	(void)state;
	assert_int_equal(ranges_level(), 0);
	assert_null(ranges_top());
	assert_false(ranges_pop(&range));
	assert_int_equal(ranges_level(), 0);
}

static void test_push__many__come_back_in_reverse(void **state)
{
	enum { MANY = 5000 };
	struct range range;
	char name[RANGE_NAME_BYTES];

	(void)state;
	for (uint64_t i = 0; i < MANY; i++) {
		memset(name, 'a' + (int)(i % 26), i % 1000 + 1);
		name[i % 1000 + 1] = '\0';
		push(name, i + 1);
		assert_int_equal(ranges_top()->instance, i + 1);
		assert_int_equal(ranges_level(), i + 1);
	}
	for (uint64_t i = MANY; i-- > 0;) {
		assert_true(ranges_pop(&range));
		assert_int_equal(range.instance, i + 1);
		assert_int_equal(range.level, i);
		assert_int_equal(range.name_length, i % 1000 + 1);
		assert_int_equal(range.name[0], 'a' + (int)(i % 26));
		assert_int_equal(range.name[range.name_length - 1], 'a' + (int)(i % 26));
	}
	assert_false(ranges_pop(&range));
}

/* Recording begins and ends in between: levels stay those of the program. */
static void test_pop__some_not_recorded__only_those_that_are(void **state)
{
	struct range range;

	(void)state;
	assert_true(ranges_push(NULL));
	push("second", 2);
	assert_true(ranges_push(NULL));
	push("fourth", 4);
	assert_int_equal(ranges_level(), 4);
	assert_true(ranges_pop(&range));
	assert_name(&range, "fourth");
	assert_int_equal(range.level, 3);
	assert_false(ranges_pop(&range));
	assert_int_equal(ranges_top()->instance, 2);
	assert_true(ranges_pop(&range));
	assert_name(&range, "second");
	assert_false(ranges_pop(&range));
	assert_int_equal(ranges_level(), 0);
}

static void *other_thread(void *unused)
{
	struct range range;

	(void)unused;
	assert_int_equal(ranges_level(), 0);
	assert_false(ranges_pop(&range));
	push("left open", 1);
	return NULL;
}

static void test_push__other_thread__has_its_own(void **state)
{
	struct range range;
	pthread_t thread;

	(void)state;
	push("mine", 7);
	assert_int_equal(pthread_create(&thread, NULL, other_thread, NULL), 0);
	pthread_join(thread, NULL);
	assert_true(ranges_pop(&range));
	assert_name(&range, "mine");
}

static void test_stop__each_once(void **state)
{
	char name[RANGE_NAME_BYTES], text[32];
	struct range range;

	(void)state;
	for (uint64_t id = 1; id <= 2000; id++) {
		snprintf(text, sizeof(text), "started %u", (unsigned)id);
		range = named(text, id);
		range.id = id;
		assert_true(ranges_start(&range));
	}
	for (uint64_t id = 2000; id; id--) {
		snprintf(text, sizeof(text), "started %u", (unsigned)id);
		assert_true(ranges_stop(id, &range, name));
		assert_name(&range, text);
		assert_false(ranges_stop(id, &range, name));
	}
}

/* A library that gives a number again. */
static void test_start__same_id__the_later_one(void **state)
{
	char name[RANGE_NAME_BYTES];
	struct range range = named("first", 1);

	(void)state;
	range.id = 5;
	assert_true(ranges_start(&range));
	range = named("second", 2);
	range.id = 5;
	assert_true(ranges_start(&range));
	assert_true(ranges_stop(5, &range, name));
	assert_name(&range, "second");
	assert_false(ranges_stop(5, &range, name));
}

static void *start_and_stop(void *base)
{
	char name[RANGE_NAME_BYTES];

	for (uint64_t i = 0; i < 2000; i++) {
		struct range range = named("threads", i);

		range.id = (uint64_t)(uintptr_t)base + i;
		if (!ranges_start(&range) || !ranges_stop(range.id, &range, name))
			return (void *)1;
	}
	return NULL;
}

static void test_start__several_threads(void **state)
{
	pthread_t threads[4];
	void *failed;

	(void)state;
	for (uintptr_t i = 0; i < 4; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, start_and_stop, (void *)(i << 32)), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pop__nothing_pushed__nothing),
		cmocka_unit_test(test_push__many__come_back_in_reverse),
		cmocka_unit_test(test_pop__some_not_recorded__only_those_that_are),
		cmocka_unit_test(test_push__other_thread__has_its_own),
		cmocka_unit_test(test_stop__each_once),
		cmocka_unit_test(test_start__same_id__the_later_one),
		cmocka_unit_test(test_start__several_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
