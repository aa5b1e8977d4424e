/* SPDX-License-Identifier: MIT */
/* Pools of slots of the HSA interceptor, with signals that are plain memory. */
#include <pthread.h>
#include <sched.h>

#include "../../streams/hsa/harvest/slots.h"
#include "../../streams/hsa/runtime/interceptor.h"
#include "unit.h"

struct interceptor interceptor;
static const struct slot_kind own = {.signal = SLOT_OWN};

/* A slot with what a source puts behind it. */
struct numbered {
	struct slot slot;
	uint64_t number;
} __attribute__((aligned(64)));

static int signals_alive, signals_left;

static hsa_status_t create_signal(hsa_signal_value_t value, uint32_t consumer_count,
				  const hsa_agent_t *consumers, uint64_t attributes,
				  hsa_signal_t *signal)
{
	amd_signal_t *memory;

	assert_int_equal(attributes, HSA_AMD_SIGNAL_AMD_GPU_ONLY);
	if (!signals_left)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	signals_left--;
	signals_alive++;
	memory = aligned_alloc(64, sizeof(*memory));
	*memory = (amd_signal_t){.value = value};
	signal->handle = (uint64_t)(uintptr_t)memory;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t destroy_signal(hsa_signal_t signal)
{
	signals_alive--;
	free((void *)(uintptr_t)signal.handle);
	return HSA_STATUS_SUCCESS;
}

static int setup(void **state)
{
	interceptor.hsa.amd_signal_create = create_signal;
	interceptor.hsa.signal_destroy = destroy_signal;
	interceptor.config.slots = 100000;
	signals_left = 1000000;
	return 0;
}

static int teardown(void **state)
{
	return signals_alive;
}

TEST(test_slots_take__until_none_is_left__gives_each_once)
{
	struct slot_pool pool;
	bool seen[100] = {false};

	assert_int_equal(slots_init(&pool, sizeof(struct numbered), 100, 100, false), 0);
	assert_int_equal(pool.capacity, 128);
	for (int i = 0; i < 100; i++) {
		struct slot *slot = slot_take(&pool);

		assert_non_null(slot);
		const size_t number = (size_t)((char *)slot - pool.slots) / sizeof(struct numbered);

		assert_false(seen[number]);
		seen[number] = true;
		assert_int_equal(((amd_signal_t *)slot->signal)->value, 1);
	}
	assert_null(slot_take(&pool));
	slots_fini(&pool);
}

TEST(test_slots_untake__gives_the_same_again)
{
	struct slot_pool pool;
	struct slot *slot;

	assert_int_equal(slots_init(&pool, sizeof(struct numbered), 64, 64, false), 0);
	(void)slot_take(&pool);
	slot = slot_take(&pool);
	slot_untake(&pool);
	assert_ptr_equal(slot_take(&pool), slot);
	slots_fini(&pool);
}

TEST(test_slots_grow__at_the_limit__stops)
{
	struct slot_pool pool, other;

	interceptor.config.slots = 70;
	assert_int_equal(slots_init(&pool, sizeof(struct numbered), 1024, 50, false), 0);
	assert_int_equal(slots_grow(&pool, 50), 20);
	assert_int_equal(slots_init(&other, sizeof(struct numbered), 1024, 10, false), 0);
	assert_null(slot_take(&other));
	slots_fini(&pool);
	assert_int_equal(slots_grow(&other, 10), 10);
	slots_fini(&other);
}

TEST(test_slots_grow__no_signal__leaves_the_pool_usable)
{
	struct slot_pool pool;

	signals_left = 3;
	assert_int_equal(slots_init(&pool, sizeof(struct numbered), 64, 10, false), 0);
	assert_int_equal(pool.count, 3);
	signals_left = 2;
	assert_int_equal(slots_grow(&pool, 10), 2);
	for (int i = 0; i < 5; i++)
		assert_non_null(slot_take(&pool));
	assert_null(slot_take(&pool));
	slots_fini(&pool);
}

TEST(test_slots_recycle__arms_the_signal_again)
{
	struct slot_pool pool;
	struct slot *slot;
	amd_signal_t *signal;

	assert_int_equal(slots_init(&pool, sizeof(struct numbered), 64, 1, false), 0);
	slot = slot_take(&pool);
	slot->kind = &own;
	signal = (amd_signal_t *)slot->signal;
	signal->value = 0;
	signal->end_ts = 5;
	slot_submit(&pool, slot);
	assert_int_equal(slots_collect(&pool), 1);
	assert_int_equal(pool.pending, 1);
	slots_recycle(&pool, slot);
	assert_int_equal(signal->value, 1);
	assert_int_equal(signal->end_ts, 0);
	assert_ptr_equal(slot_take(&pool), slot);
	slots_fini(&pool);
}

#define MANY 200000

static void *produce(void *data)
{
	struct slot_pool *pool = data;

	for (uint64_t i = 0; i < MANY;) {
		struct slot *slot = slot_take(pool);

		if (!slot) {
			sched_yield();
			continue;
		}
		slot->kind = &own;
		((struct numbered *)slot)->number = i++;
		slot_submit(pool, slot);
	}
	return NULL;
}

TEST(test_slots__producer_and_harvester_at_once__pass_on_each_in_order)
{
	struct slot_pool pool;
	pthread_t thread;

	assert_int_equal(slots_init(&pool, sizeof(struct numbered), 128, 16, false), 0);
	assert_int_equal(pthread_create(&thread, NULL, produce, &pool), 0);
	for (uint64_t expected = 0; expected < MANY;) {
		if (!slots_collect(&pool))
			sched_yield();
		if (expected > MANY / 2)
			slots_grow(&pool, 1);
		while (pool.first) {
			struct slot *slot = pool.first;

			assert_int_equal(((struct numbered *)slot)->number, expected++);
			pool.first = slot->next;
			if (!pool.first)
				pool.last = NULL;
			pool.pending--;
			slots_recycle(&pool, slot);
		}
	}
	pthread_join(thread, NULL);
	slots_fini(&pool);
}

RUN_TESTS(setup, teardown, NULL, NULL)
