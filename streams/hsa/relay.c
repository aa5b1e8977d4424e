/* SPDX-License-Identifier: MIT */
/* Relays for an application's completion signals: see relay.h. */
#include "relay.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "collector.h"
#include "watch.h"

/* The driver has 4094 events for a process, and the application needs some. */
#define RELAYS_MAX   1024
#define RELAYS_BATCH 16

enum relay_state {
	RELAY_FREE,
	RELAY_TAKEN,     /* in a packet or a copy */
	RELAY_COMPLETING /* the handler thread or the harvester has it */
};

struct relay {
	hsa_signal_t signal;
	struct slot *slot;
	uint64_t theirs;  /* the application's signal */
	uint32_t runtime; /* relays.runtime when it was made */
	/* enum relay_state. Release by relay_take, after slot and theirs; acquire by who completes
	 * it. */
	_Atomic uint32_t state;
	_Atomic uint32_t uses; /* by relay_take, before state; relaxed */
	uint32_t late;         /* harvester: the use that it has seen completed and not relayed */
	struct relay *next;
	struct relay *next_made;
};

static struct {
	pthread_mutex_t lock;
	struct relay *first; /* free ones */
	/* All of them. Release by make_relay, acquire by relay_rescue. */
	_Atomic(struct relay *) made;
	uint32_t count, free;
	uint32_t runtime; /* counts the times that the runtime has ended */
} relays = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Thread id of the runtime's handler thread, 0 if not known. Relaxed: a fact by itself. */
static _Atomic uint32_t runtime_thread;

static void give_back(struct relay *relay)
{
	pthread_mutex_lock(&relays.lock);
	if (relay->runtime == relays.runtime) {
		relay->next = relays.first;
		relays.first = relay;
		relays.free++;
	}
	pthread_mutex_unlock(&relays.lock);
}

static int64_t load_value(const struct relay *relay)
{
	return __atomic_load_n(&((const amd_signal_t *)relay->signal.handle)->value,
			       __ATOMIC_ACQUIRE);
}

/*
 * Completes the application's signal if the GPU has completed the relay's and nobody else does it.
 * The value is read once the relay is ours: what the caller has seen may belong to an earlier use.
 * The slot may be the harvester's, and reused, once watch_relay has returned; the relay once it
 * is given back.
 */
static void complete(struct relay *relay)
{
	amd_signal_t *ours = (amd_signal_t *)relay->signal.handle;
	uint32_t state = RELAY_TAKEN;

	if (!atomic_compare_exchange_strong_explicit(&relay->state, &state, RELAY_COMPLETING,
						     memory_order_acquire, memory_order_relaxed))
		return;
	if (load_value(relay) >= 1) {
		/* Fails if it was given back unused meanwhile. */
		state = RELAY_COMPLETING;
		(void)atomic_compare_exchange_strong_explicit(&relay->state, &state, RELAY_TAKEN,
							      memory_order_release,
							      memory_order_relaxed);
		return;
	}
	if (relay->slot->is_copy)
		watch_relay_copy(relay->slot, relay->theirs, relay->signal.handle);
	else
		watch_relay(relay->slot, relay->theirs, ours->start_ts, ours->end_ts);
	ours->start_ts = ours->end_ts = 0;
	__atomic_store_n(&ours->value, 1, __ATOMIC_RELEASE);
	/* Relaxed: give_back's lock orders it before the next use. */
	atomic_store_explicit(&relay->state, RELAY_FREE, memory_order_relaxed);
	give_back(relay);
}

/* Runtime's handler thread. */
static bool completed(hsa_signal_value_t value, void *data)
{
	if (value < 1)
		complete(data);
	return true;
}

void relay_rescue(void)
{
	/* Pairs with the release in make_relay. */
	struct relay *relay = atomic_load_explicit(&relays.made, memory_order_acquire);

	for (; relay; relay = relay->next_made) {
		const uint32_t uses = atomic_load_explicit(&relay->uses, memory_order_relaxed);

		if (atomic_load_explicit(&relay->state, memory_order_relaxed) != RELAY_TAKEN ||
		    load_value(relay) >= 1)
			continue;
		if (relay->late == uses)
			complete(relay);
		relay->late = uses;
	}
}

static bool make_relay(void)
{
	struct relay *relay = calloc(1, sizeof(*relay));

	if (!relay)
		return false;
	pthread_mutex_lock(&relays.lock);
	relay->runtime = relays.runtime;
	pthread_mutex_unlock(&relays.lock);
	if (collector.hsa.signal_create(1, 0, NULL, &relay->signal))
		goto failed;
	if (collector.hsa.signal_async_handler(relay->signal, HSA_SIGNAL_CONDITION_LT, 1, completed,
					       relay))
		goto no_handler;
	relay->next_made = atomic_load_explicit(&relays.made, memory_order_relaxed);
	/* Pairs with the acquire in relay_rescue. */
	while (!atomic_compare_exchange_weak_explicit(&relays.made, &relay->next_made, relay,
						      memory_order_release, memory_order_relaxed))
		;
	give_back(relay);
	return true;

no_handler:
	collector.hsa.signal_destroy(relay->signal);
failed:
	free(relay);
	return false;
}

static void make_relays(uint32_t wanted)
{
	for (uint32_t i = 0; i < wanted; i++) {
		pthread_mutex_lock(&relays.lock);
		const bool room = relays.count < RELAYS_MAX;

		relays.count += room;
		pthread_mutex_unlock(&relays.lock);
		if (!room)
			return;
		if (!make_relay()) {
			pthread_mutex_lock(&relays.lock);
			relays.count--;
			pthread_mutex_unlock(&relays.lock);
			return;
		}
	}
}

static struct relay *take_free(void)
{
	struct relay *relay;

	pthread_mutex_lock(&relays.lock);
	relay = relays.first;
	if (relay) {
		relays.first = relay->next;
		relays.free--;
	}
	pthread_mutex_unlock(&relays.lock);
	return relay;
}

uint64_t relay_take(struct slot *slot)
{
	struct relay *relay = take_free();

	/* Few programs need any, so none are made before; the harvester keeps up later. */
	if (!relay) {
		make_relays(RELAYS_BATCH);
		relay = take_free();
	}
	if (!relay)
		return 0;
	relay->slot = slot;
	relay->theirs = slot->watched;
	if (slot->is_copy)
		slot->begin_ticks = (uintptr_t)relay;
	atomic_fetch_add_explicit(&relay->uses, 1, memory_order_relaxed);
	/* Pairs with the acquire in complete. */
	atomic_store_explicit(&relay->state, RELAY_TAKEN, memory_order_release);
	return relay->signal.handle;
}

void relay_untake(struct slot *slot)
{
	struct relay *relay = (struct relay *)slot->begin_ticks;

	atomic_store_explicit(&relay->state, RELAY_FREE, memory_order_relaxed);
	give_back(relay);
}

void relay_grow(void)
{
	pthread_mutex_lock(&relays.lock);
	const bool low = relays.count && relays.free < relays.count / 2;
	const uint32_t more = relays.count;

	pthread_mutex_unlock(&relays.lock);
	if (low)
		make_relays(more);
}

static bool found(hsa_signal_value_t value, void *data)
{
	(void)value;
	atomic_store_explicit(&runtime_thread, rtl_thread_id(), memory_order_relaxed);
	collector.hsa.signal_destroy((hsa_signal_t){(uint64_t)(uintptr_t)data});
	return false;
}

/* A signal whose condition holds already calls its handler at once. */
void relay_find_thread(void)
{
	hsa_signal_t signal;

	if (collector.hsa.signal_create(0, 0, NULL, &signal))
		return;
	if (collector.hsa.signal_async_handler(signal, HSA_SIGNAL_CONDITION_LT, 1, found,
					       (void *)(uintptr_t)signal.handle))
		collector.hsa.signal_destroy(signal);
}

bool relay_is_runtime_thread(void)
{
	return atomic_load_explicit(&runtime_thread, memory_order_relaxed) == rtl_thread_id();
}

void relay_forget(void)
{
	pthread_mutex_lock(&relays.lock);
	relays.first = NULL;
	/* Relaxed: the harvester has ended. */
	atomic_store_explicit(&relays.made, NULL, memory_order_relaxed);
	relays.count = relays.free = 0;
	relays.runtime++;
	pthread_mutex_unlock(&relays.lock);
	atomic_store_explicit(&runtime_thread, 0, memory_order_relaxed);
}
