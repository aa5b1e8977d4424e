/* SPDX-License-Identifier: MIT */
/* Whose the records of HIP's profiler are. */
#include "notes.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define THREADS     4
#define EACH        5000
#define RECORDS     (THREADS * EACH)
#define LAST_SHARES 32 /* what threads may leave of the notes that they took */

static void *add(void *number)
{
	const uint64_t thread = (uintptr_t)number;

	for (uint64_t i = 0; i < EACH - LAST_SHARES; i++) {
		const uint64_t record = i * THREADS + thread;
		const struct note note = {.submitter.tid = (uint32_t)record + 1,
					  .begun = {(uint32_t)record, 1}};

		if (!notes_add(record, &note))
			return number;
	}
	return NULL;
}

static void test_notes__threads_add__each_record_has_its_own(void **state)
{
	pthread_t threads[THREADS];
	void *failed;

	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add, (void *)i), 0);
	/* Meanwhile: none, or all of it. */
	for (uint64_t record = 0; record < RECORDS; record++) {
		const struct note *note = notes_find(record);

		if (note)
			assert_int_equal(note->submitter.tid, record + 1);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	for (uint64_t record = 0; record < THREADS * (EACH - LAST_SHARES); record++) {
		const struct note *note = notes_find(record);

		assert_non_null(note);
		assert_int_equal(note->submitter.tid, record + 1);
		assert_int_equal(note->begun[NOTE_DISPATCHES], record);
	}
}

static void test_notes__beyond_the_records__refused(void **state)
{
	const struct note note = {0};

	(void)state;
	assert_false(notes_add(RECORDS, &note));
	assert_null(notes_find(RECORDS));
	assert_null(notes_find(RECORDS - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notes__threads_add__each_record_has_its_own),
		cmocka_unit_test(test_notes__beyond_the_records__refused),
	};

	return notes_init(RECORDS) ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
