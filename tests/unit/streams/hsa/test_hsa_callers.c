/* SPDX-License-Identifier: MIT */
/* Who submitted work that HIP reports later. */
#include "report.h"
#include "unit.h"

#define COUNT 1024

static uint32_t thread = 7;

void submitter_fill(struct submitter *submitter)
{
	*submitter = (struct submitter){.tid = thread, .in_scope = 1, .scope.correlation = thread};
}

static uint64_t note(uint32_t tid)
{
	const uint64_t number = callers_take();

	thread = tid;
	callers_note(number, &(struct caller_facts){.src = tid});
	return number;
}

TEST(test_callers__noted__found_until_all_has_ended)
{
	const uint64_t number = note(11);
	struct caller caller;
	bool ends;

	callers_begin(number, 0);
	callers_begin(number, 1);
	assert_int_equal(callers_end(number, 1, &caller, &ends), CALLERS_FOUND);
	assert_true(ends);
	assert_int_equal(caller.submitter.tid, 11);
	assert_int_equal(caller.facts.src, 11);
	assert_int_equal(callers_end(number, 1, &caller, &ends), CALLERS_FOUND);
	assert_false(ends); /* a further part */
	assert_int_equal(callers_end(number, 0, &caller, &ends), CALLERS_FOUND);
	assert_true(ends);
}

TEST(test_callers__nothing_noted__none)
{
	struct caller caller;
	bool ends;

	assert_int_equal(callers_end(0, 0, &caller, &ends), CALLERS_NONE);
	assert_int_equal(callers_end(callers_take() + COUNT / 2, 0, &caller, &ends), CALLERS_NONE);
	assert_false(ends);
}

TEST(test_callers__busy_entry__passed_over)
{
	const uint64_t busy = note(12);
	struct caller caller;
	uint64_t number;
	bool ends;

	callers_begin(busy, 2);
	for (unsigned i = 0; i < 3 * COUNT; i++) {
		number = note(13);
		assert_int_not_equal(number % COUNT, busy % COUNT);
	}
	assert_int_equal(callers_end(busy, 2, &caller, &ends), CALLERS_FOUND);
	assert_int_equal(caller.submitter.tid, 12);
}

TEST(test_callers__entry_used_again__lost)
{
	const uint64_t first = note(14);
	struct caller caller;
	bool ends;

	for (unsigned i = 0; i < COUNT; i++)
		(void)note(15);
	assert_int_equal(callers_end(first, 0, &caller, &ends), CALLERS_LOST);
	assert_false(ends);
}

/* A graph's work is one piece that has begun, and several that end. */
TEST(test_callers__entry_used_again__what_had_begun_ends_once)
{
	const uint64_t first = note(16);
	struct caller caller;
	bool ends;

	callers_begin(first, 0);
	for (unsigned i = 0; i < 16 * COUNT; i++)
		callers_begin(note(17), 1);
	assert_int_equal(callers_end(first, 0, &caller, &ends), CALLERS_LOST);
	assert_true(ends);
	assert_int_equal(callers_end(first, 0, &caller, &ends), CALLERS_LOST);
	assert_false(ends); /* a further part */
	for (unsigned i = 1; i < 16 * COUNT; i++)
		(void)callers_end(first, 1, &caller, &ends);
}

TEST(test_callers__nobodys_work__ends_once)
{
	struct caller caller;
	bool ends;

	callers_begin(0, 2);
	assert_int_equal(callers_end(0, 2, &caller, &ends), CALLERS_LOST);
	assert_true(ends);
	assert_int_equal(callers_end(0, 2, &caller, &ends), CALLERS_NONE);
	assert_false(ends);
}

static int init(void **state)
{
	return callers_init(COUNT);
}

RUN_TESTS(NULL, NULL, init, NULL)
