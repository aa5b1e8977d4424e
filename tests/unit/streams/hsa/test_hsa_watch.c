/* SPDX-License-Identifier: MIT */
/* What becomes of dispatches that carry a signal of the application, the GPU played by hand. */
#include <pthread.h>

#include "../../streams/hsa/harvest/signal_watch.h"
#include "../../streams/hsa/runtime/interceptor.h"
#include "unit.h"

struct interceptor interceptor;

static const struct slot_kinds kinds = SLOT_KINDS();
static amd_signal_t signal_a;

#define A ((uint64_t)(uintptr_t)&signal_a)

static int setup(void **state)
{
	memset(&signal_a, 0, sizeof(signal_a));
	signal_a.value = 1;
	return 0;
}

static int teardown(void **state)
{
	int left = 0;

	for (int i = 0; i < WATCH_BUCKETS; i++)
		left += signal_watch_buckets[i].first != NULL;
	return left;
}

static void gpu_completes(uint64_t begin, uint64_t end)
{
	signal_a.start_ts = begin;
	signal_a.end_ts = end;
	signal_a.value--;
}

static void assert_times(const struct slot *slot, uint64_t begin, uint64_t end)
{
	assert_int_equal(slot->ticks.begin, begin);
	assert_int_equal(slot->ticks.end, end);
}

TEST(test_watch__a_signal_of_its_own__stays_and_is_read)
{
	struct slot slot = {0};

	assert_true(signal_watch_enter(&slot, &kinds, A));
	assert_false(signal_watch_finished(&slot));
	gpu_completes(10, 20);
	assert_true(signal_watch_finished(&slot));
	assert_times(&slot, 10, 20);
	assert_int_equal(signal_a.value, 0);
}

TEST(test_watch__signal_used_again__keeps_the_first_times)
{
	struct slot first = {0}, second = {0};

	assert_true(signal_watch_enter(&first, &kinds, A));
	gpu_completes(10, 20);
	signal_a.value = 1;
	assert_true(signal_watch_enter(&second, &kinds, A));
	gpu_completes(30, 40);
	assert_true(signal_watch_finished(&first));
	assert_true(signal_watch_finished(&second));
	assert_times(&first, 10, 20);
	assert_times(&second, 30, 40);
}

TEST(test_watch__signal_set_again_unseen__is_finished_at_the_second_look)
{
	struct slot slot = {0};

	assert_true(signal_watch_enter(&slot, &kinds, A));
	gpu_completes(10, 20);
	signal_a.value = 1;
	assert_false(signal_watch_finished(&slot));
	assert_true(signal_watch_finished(&slot));
	assert_times(&slot, 10, 20);
}

TEST(test_watch__no_times_come__is_finished_without)
{
	struct slot slot = {0};

	signal_a.start_ts = 5;
	signal_a.end_ts = 6; /* of an earlier use */
	assert_true(signal_watch_enter(&slot, &kinds, A));
	signal_a.value--;
	assert_false(signal_watch_finished(&slot));
	assert_true(signal_watch_finished(&slot));
	assert_times(&slot, 0, 0);
}

TEST(test_watch__signal_copied_to__keeps_the_times)
{
	struct slot slot = {0};

	assert_true(signal_watch_enter(&slot, &kinds, A));
	gpu_completes(10, 20);
	signal_watch_reused(A);
	signal_a.value = 1;
	gpu_completes(70, 80);
	assert_true(signal_watch_finished(&slot));
	assert_times(&slot, 10, 20);
}

TEST(test_watch__signal_destroyed__keeps_the_times)
{
	struct slot slot = {0};

	assert_true(signal_watch_enter(&slot, &kinds, A));
	gpu_completes(10, 20);
	signal_watch_destroyed(A);
	memset(&signal_a, 0xff, sizeof(signal_a));
	assert_true(signal_watch_finished(&slot));
	assert_times(&slot, 10, 20);
}

TEST(test_watch__destroyed_before_the_end__has_no_times)
{
	struct slot slot = {0};

	assert_true(signal_watch_enter(&slot, &kinds, A));
	signal_watch_destroyed(A);
	assert_true(signal_watch_finished(&slot));
	assert_times(&slot, 0, 0);
}

TEST(test_watch__shared_signal__is_over_without_times)
{
	struct slot first = {0}, second = {0};

	signal_a.value = 2;
	assert_false(signal_watch_enter(&first, &kinds, A));
	assert_false(signal_watch_enter(&second, &kinds, A));
	assert_ptr_equal(first.kind, &kinds.over);
	assert_true(slot_is_done(&first) && slot_is_done(&second));
	assert_times(&first, 0, 0);
}

TEST(test_watch__second_use_under_way__neither_has_times)
{
	struct slot first = {0}, second = {0};

	assert_true(signal_watch_enter(&first, &kinds, A));
	assert_false(signal_watch_enter(&second, &kinds, A));
	assert_false(signal_watch_finished(&first));
	gpu_completes(10, 50);
	assert_true(signal_watch_finished(&first));
	assert_times(&first, 0, 0);
	/* That is over: the next one has times again. */
	signal_a.value = 1;
	assert_true(signal_watch_enter(&second, &kinds, A));
	gpu_completes(60, 70);
	assert_true(signal_watch_finished(&second));
	assert_times(&second, 60, 70);
}

/* ---- the lock of a bucket */

#define THREADS 4

/* Dispatches of a thread, with a signal of its own in the bucket of all. */
static void *use_bucket(void *own)
{
	amd_signal_t *theirs = own;
	uint64_t wrong = 0;

	for (uint64_t i = 1; i <= 20000; i++) {
		struct slot slot = {0};

		theirs->value = 1;
		if (!signal_watch_enter(&slot, &kinds, (uintptr_t)theirs))
			wrong++;
		theirs->start_ts = 2 * i;
		theirs->end_ts = 2 * i + 1;
		theirs->value = 0;
		wrong += !signal_watch_finished(&slot) || slot.ticks.begin != 2 * i ||
			 slot.ticks.end != 2 * i + 1;
	}
	return (void *)(uintptr_t)wrong;
}

TEST(test_watch__several_threads_in_a_bucket__each_has_its_times)
{
	static amd_signal_t theirs[WATCH_BUCKETS * 4 * THREADS];
	const struct signal_watch_bucket *bucket = signal_watch_bucket_of((uintptr_t)theirs);
	pthread_t threads[THREADS];
	int count = 0;

	for (size_t i = 0; i < sizeof(theirs) / sizeof(*theirs) && count < THREADS; i++)
		if (signal_watch_bucket_of((uintptr_t)&theirs[i]) == bucket)
			assert_int_equal(
				pthread_create(&threads[count++], NULL, use_bucket, &theirs[i]), 0);
	assert_int_equal(count, THREADS);
	for (int i = 0; i < THREADS; i++) {
		void *wrong;

		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
}

/* Another thread had it when the process forked. */
TEST(test_watch__forked_with_the_lock_taken__opens_it)
{
	struct slot slot = {0};

	signal_watch_bucket_of(A)->lock.owner = 1;
	signal_watch_forked();
	assert_true(signal_watch_enter(&slot, &kinds, A));
	signal_watch_leave(&slot);
}

RUN_TESTS(setup, teardown, NULL, NULL)
