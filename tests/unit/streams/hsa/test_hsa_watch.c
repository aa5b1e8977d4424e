/* SPDX-License-Identifier: MIT */
/* What becomes of dispatches that carry a signal of the application, the GPU played by hand. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../streams/hsa/harvest/signal_watch.h"
#include "../../streams/hsa/runtime/interceptor.h"

struct interceptor interceptor;

static const struct slot_kinds kinds = SLOT_KINDS();
static amd_signal_t signal_a;

#define A ((uint64_t)(uintptr_t)&signal_a)

static void subtract(hsa_signal_t signal, hsa_signal_value_t value)
{
	amd_signal_t *memory = (amd_signal_t *)signal.handle;

	/* The waiter wakes here, and finds the times. */
	memory->value -= value;
}

static int setup(void **state)
{
	(void)state;
	interceptor.hsa.signal_subtract = subtract;
	memset(&signal_a, 0, sizeof(signal_a));
	signal_a.value = 1;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return (int)signal_watch_entries();
}

static void gpu_completes(uint64_t begin, uint64_t end)
{
	signal_a.start_ts = begin;
	signal_a.end_ts = end;
	signal_a.value--;
}

/* The GPU completes a relay's signal, and its handler the application's. */
static void relay_ends(struct slot *slot, uint64_t begin, uint64_t end)
{
	amd_signal_t relay = {.start_ts = begin, .end_ts = end};

	signal_watch_relay(slot, A, (uint64_t)(uintptr_t)&relay);
	assert_int_equal(relay.end_ts, 0); /* it can be used again */
}

static void assert_times(const struct slot *slot, uint64_t begin, uint64_t end)
{
	assert_int_equal(slot->ticks.begin, begin);
	assert_int_equal(slot->ticks.end, end);
}

static void test_watch__a_signal_of_its_own__stays_and_is_read(void **state)
{
	struct slot slot = {0};

	(void)state;
	assert_int_equal(signal_watch_enter(&slot, &kinds, A, false), SLOT_WATCHED);
	assert_false(signal_watch_finished(&slot));
	gpu_completes(10, 20);
	assert_true(signal_watch_finished(&slot));
	assert_times(&slot, 10, 20);
	assert_int_equal(signal_a.value, 0);
}

static void test_watch__signal_used_again__keeps_the_first_times(void **state)
{
	struct slot first = {0}, second = {0};

	(void)state;
	assert_int_equal(signal_watch_enter(&first, &kinds, A, false), SLOT_WATCHED);
	gpu_completes(10, 20);
	signal_a.value = 1;
	assert_int_equal(signal_watch_enter(&second, &kinds, A, false), SLOT_WATCHED);
	gpu_completes(30, 40);
	assert_true(signal_watch_finished(&first));
	assert_true(signal_watch_finished(&second));
	assert_times(&first, 10, 20);
	assert_times(&second, 30, 40);
}

static void test_watch__signal_set_again_unseen__is_finished_at_the_second_look(void **state)
{
	struct slot slot = {0};

	(void)state;
	assert_int_equal(signal_watch_enter(&slot, &kinds, A, false), SLOT_WATCHED);
	gpu_completes(10, 20);
	signal_a.value = 1;
	assert_false(signal_watch_finished(&slot));
	assert_true(signal_watch_finished(&slot));
	assert_times(&slot, 10, 20);
}

static void test_watch__no_times_come__is_finished_without(void **state)
{
	struct slot slot = {0};

	(void)state;
	signal_a.start_ts = 5;
	signal_a.end_ts = 6; /* of an earlier use */
	assert_int_equal(signal_watch_enter(&slot, &kinds, A, false), SLOT_WATCHED);
	signal_a.value--;
	assert_false(signal_watch_finished(&slot));
	assert_true(signal_watch_finished(&slot));
	assert_times(&slot, 0, 0);
}

static void test_watch__signal_copied_to__keeps_the_times(void **state)
{
	struct slot slot = {0};

	(void)state;
	assert_int_equal(signal_watch_enter(&slot, &kinds, A, false), SLOT_WATCHED);
	gpu_completes(10, 20);
	signal_watch_reused(A);
	signal_a.value = 1;
	gpu_completes(70, 80);
	assert_true(signal_watch_finished(&slot));
	assert_times(&slot, 10, 20);
}

static void test_watch__signal_destroyed__keeps_the_times(void **state)
{
	struct slot slot = {0};

	(void)state;
	assert_int_equal(signal_watch_enter(&slot, &kinds, A, false), SLOT_WATCHED);
	gpu_completes(10, 20);
	signal_watch_destroyed(A);
	memset(&signal_a, 0xff, sizeof(signal_a));
	assert_true(signal_watch_finished(&slot));
	assert_times(&slot, 10, 20);
}

static void test_watch__destroyed_before_the_end__has_no_times(void **state)
{
	struct slot slot = {0};

	(void)state;
	assert_int_equal(signal_watch_enter(&slot, &kinds, A, false), SLOT_WATCHED);
	signal_watch_destroyed(A);
	assert_true(signal_watch_finished(&slot));
	assert_times(&slot, 0, 0);
}

static void test_watch__shared_signal__is_relayed(void **state)
{
	struct slot first = {0}, second = {0};

	(void)state;
	signal_a.value = 2;
	assert_int_equal(signal_watch_enter(&first, &kinds, A, false), SLOT_RELAYED);
	assert_int_equal(signal_watch_enter(&second, &kinds, A, false), SLOT_RELAYED);
	relay_ends(&second, 30, 40);
	assert_int_equal(signal_a.value, 1);
	assert_int_equal(signal_a.start_ts, 30);
	assert_int_equal(signal_a.end_ts, 40);
	/* The runtime tells of the first one last: the signal keeps the last one's times. */
	relay_ends(&first, 10, 20);
	assert_int_equal(signal_a.value, 0);
	assert_int_equal(signal_a.start_ts, 30);
	assert_int_equal(signal_a.end_ts, 40);
	assert_true(first.done && second.done);
	assert_times(&first, 10, 20);
	assert_times(&second, 30, 40);
}

static void test_watch__shared_by_two_gpus__has_the_times_of_the_last(void **state)
{
	struct slot first = {.node = 1}, second = {.node = 2};

	(void)state;
	signal_a.value = 2;
	assert_int_equal(signal_watch_enter(&first, &kinds, A, false), SLOT_RELAYED);
	assert_int_equal(signal_watch_enter(&second, &kinds, A, false), SLOT_RELAYED);
	relay_ends(&second, 3000, 4000); /* another clock */
	relay_ends(&first, 10, 20);
	assert_int_equal(signal_a.end_ts, 20);
}

static void test_watch__second_use_under_way__relays_and_does_not_mix_times(void **state)
{
	struct slot first = {0}, second = {0};

	(void)state;
	assert_int_equal(signal_watch_enter(&first, &kinds, A, false), SLOT_WATCHED);
	signal_a.value = 2; /* the application makes it a counter only now */
	assert_int_equal(signal_watch_enter(&second, &kinds, A, false), SLOT_RELAYED);
	relay_ends(&second, 30, 40);
	assert_int_equal(signal_a.value, 1);
	assert_false(signal_watch_finished(&first));
	gpu_completes(10, 50);
	assert_true(signal_watch_finished(&first));
	assert_times(&first, 10, 50);
	assert_times(&second, 30, 40);
}

static void test_watch__relayed_signal_destroyed__is_not_touched(void **state)
{
	struct slot slot = {0};

	(void)state;
	signal_a.value = 2;
	assert_int_equal(signal_watch_enter(&slot, &kinds, A, false), SLOT_RELAYED);
	signal_watch_destroyed(A);
	relay_ends(&slot, 10, 20);
	assert_int_equal(signal_a.value, 2);
	assert_int_equal(signal_a.end_ts, 0);
	assert_times(&slot, 10, 20);
}

static void test_watch__packets_elsewhere_unseen__relays(void **state)
{
	struct slot slot = {0};

	(void)state;
	interceptor.blind = true;
	assert_int_equal(signal_watch_enter(&slot, &kinds, A, false), SLOT_RELAYED);
	interceptor.blind = false;
	signal_watch_leave(&slot);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

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
		if (signal_watch_enter(&slot, &kinds, (uintptr_t)theirs, false) != SLOT_WATCHED)
			wrong++;
		theirs->start_ts = 2 * i;
		theirs->end_ts = 2 * i + 1;
		theirs->value = 0;
		wrong += !signal_watch_finished(&slot) || slot.ticks.begin != 2 * i ||
			 slot.ticks.end != 2 * i + 1;
	}
	return (void *)(uintptr_t)wrong;
}

static void test_watch__several_threads_in_a_bucket__each_has_its_times(void **state)
{
	static amd_signal_t theirs[WATCH_BUCKETS * 4 * THREADS];
	const struct signal_watch_bucket *bucket = signal_watch_bucket_of((uintptr_t)theirs);
	pthread_t threads[THREADS];
	int count = 0;

	(void)state;
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
static void test_watch__forked_with_the_lock_taken__opens_it(void **state)
{
	struct slot slot = {0};

	(void)state;
	signal_watch_bucket_of(A)->lock.owner = 1;
	signal_watch_forked();
	assert_int_equal(signal_watch_enter(&slot, &kinds, A, false), SLOT_WATCHED);
	signal_watch_leave(&slot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_watch__a_signal_of_its_own__stays_and_is_read),
		TEST(test_watch__signal_used_again__keeps_the_first_times),
		TEST(test_watch__signal_set_again_unseen__is_finished_at_the_second_look),
		TEST(test_watch__no_times_come__is_finished_without),
		TEST(test_watch__signal_copied_to__keeps_the_times),
		TEST(test_watch__signal_destroyed__keeps_the_times),
		TEST(test_watch__destroyed_before_the_end__has_no_times),
		TEST(test_watch__shared_signal__is_relayed),
		TEST(test_watch__shared_by_two_gpus__has_the_times_of_the_last),
		TEST(test_watch__second_use_under_way__relays_and_does_not_mix_times),
		TEST(test_watch__relayed_signal_destroyed__is_not_touched),
		TEST(test_watch__packets_elsewhere_unseen__relays),
		TEST(test_watch__several_threads_in_a_bucket__each_has_its_times),
		TEST(test_watch__forked_with_the_lock_taken__opens_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
