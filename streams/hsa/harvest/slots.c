/* SPDX-License-Identifier: MIT */
#include "slots.h"

#include <stdlib.h>
#include <string.h>

#include "interceptor.h"

/* Slots of all pools: relaxed, a limit and nothing more. */
static uint32_t total;

/* A signal that only the GPU changes and nobody waits for: it needs no event of the driver (of
 * which a process has 4094) and raises no interrupt. */
uint64_t slot_signal_make(void)
{
	hsa_signal_t signal = {0};

	if (interceptor.hsa.amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &signal))
		return 0;
	return signal.handle;
}

void slot_signal_destroy(uint64_t handle)
{
	if (handle)
		(void)interceptor.hsa.signal_destroy((hsa_signal_t){handle});
}

bool slot_signal_is_pending(uint64_t handle)
{
	const amd_signal_t *signal = (const amd_signal_t *)handle;

	/* Relaxed: whether it is over, and nothing of what it wrote. */
	return __atomic_load_n(&signal->value, __ATOMIC_RELAXED) >= 1;
}

bool slot_own_finished(struct slot *slot)
{
	const amd_signal_t *signal = (const amd_signal_t *)slot->signal;

	/* The GPU writes the times first. */
	if (__atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) >= 1)
		return false;
	slot->ticks.begin = signal->start_ts;
	slot->ticks.end = signal->end_ts;
	return true;
}

bool slot_is_done(struct slot *slot)
{
	/* Pairs with the release in signal_watch.c's finish. */
	return __atomic_load_n(&slot->done, __ATOMIC_ACQUIRE);
}

static struct slot *slot_at(const struct slot_pool *pool, uint32_t number)
{
	return (struct slot *)(pool->slots + (size_t)number * pool->slot_bytes);
}

uint32_t slots_grow(struct slot_pool *pool, uint32_t wanted)
{
	const uint64_t most = (uint64_t)pool->count + wanted;
	uint32_t made = 0;

	if (wanted)
		rtl_slots_ready(pool->slots,
				(most < pool->capacity ? most : pool->capacity) * pool->slot_bytes);
	while (made < wanted && pool->count < pool->capacity) {
		struct slot *slot = slot_at(pool, pool->count);

		if (__atomic_fetch_add(&total, 1, __ATOMIC_RELAXED) >= interceptor.config.slots)
			goto full;
		if (!pool->bare) {
			slot->signal = slot_signal_make();
			if (!slot->signal)
				goto full;
			slot_signal_rearm(slot->signal);
		}
		pool->count++;
		slot_push_free(pool, slot);
		made++;
	}
	return made;
full:
	__atomic_fetch_sub(&total, 1, __ATOMIC_RELAXED);
	return made;
}

static uint32_t power_of_two(uint32_t least)
{
	uint32_t power = 64;

	while (power < least && power < 1u << 30)
		power *= 2;
	return power;
}

int slots_init(struct slot_pool *pool, uint32_t slot_bytes, uint32_t capacity, uint32_t initial,
	       bool bare)
{
	memset(pool, 0, sizeof(*pool));
	pool->bare = bare;
	pool->slot_bytes = slot_bytes;
	pool->capacity = power_of_two(capacity);
	pool->slots = rtl_slots_create((size_t)pool->capacity * slot_bytes);
	pool->free_ring = calloc(pool->capacity, sizeof(struct slot *));
	pool->submit_ring = calloc(pool->capacity, sizeof(struct slot *));
	if (!pool->slots || !pool->free_ring || !pool->submit_ring) {
		slots_fini(pool);
		return RTL_ENOMEM;
	}
	slots_grow(pool, initial);
	return 0;
}

void slots_describe(const struct slot_pool *pool, const struct rtl_stream *stream,
		    const struct rtl_slot_fact *facts, uint32_t count,
		    const struct rtl_record *event)
{
	const struct rtl_slots_info info = {.struct_size = sizeof(info),
					    .slot_bytes = pool->slot_bytes,
					    .under_way = offsetof(struct slot, under_way),
					    .fact_count = count,
					    .facts = facts,
					    .event = event};

	rtl_slots_describe(pool->slots, stream, &info);
}

void slots_fini(struct slot_pool *pool)
{
	for (uint32_t i = 0; i < pool->count && !pool->bare; i++)
		slot_signal_destroy(slot_at(pool, i)->signal);
	__atomic_fetch_sub(&total, pool->count, __ATOMIC_RELAXED);
	rtl_slots_destroy(pool->slots, (size_t)pool->capacity * pool->slot_bytes);
	free(pool->free_ring);
	free(pool->submit_ring);
	memset(pool, 0, sizeof(*pool));
}

uint32_t slots_collect(struct slot_pool *pool)
{
	/* Pairs with the release in slot_submit: all that the producer wrote is seen. */
	const uint32_t tail = __atomic_load_n(&pool->submit_tail, __ATOMIC_ACQUIRE);
	uint32_t collected = 0;

	for (; pool->submit_head != tail; pool->submit_head++, collected++) {
		struct slot *slot = pool->submit_ring[pool->submit_head & (pool->capacity - 1)];

		slot->next = NULL;
		if (pool->last)
			pool->last->next = slot;
		else
			pool->first = slot;
		pool->last = slot;
	}
	pool->pending += collected;
	return collected;
}
