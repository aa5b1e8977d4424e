/* SPDX-License-Identifier: MIT */
/* Relays for an application's completion signals: see relay.h. */
#include "relay.h"

#include <pthread.h>
#include <stdlib.h>

#include "collector.h"
#include "watch.h"

/* The driver has 4094 events for a process, and the application needs some. */
#define RELAYS_MAX   1024
#define RELAYS_BATCH 16

struct relay {
	hsa_signal_t signal;
	struct slot *slot;
	uint64_t theirs;  /* the application's signal */
	uint32_t runtime; /* relays.runtime when it was made */
	struct relay *next;
};

static struct {
	pthread_mutex_t lock;
	struct relay *first; /* free ones */
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

/* Runtime's handler thread. The slot may be the harvester's, and reused, once watch_relay has
 * returned; the relay once it is given back. */
static bool completed(hsa_signal_value_t value, void *data)
{
	struct relay *relay = data;
	amd_signal_t *ours = (amd_signal_t *)relay->signal.handle;
	struct slot *slot = relay->slot;

	if (value >= 1 || !slot)
		return true;
	if (slot->is_copy)
		watch_relay_copy(slot, relay->theirs, relay->signal.handle);
	else
		watch_relay(slot, relay->theirs, ours->start_ts, ours->end_ts);
	relay->slot = NULL;
	ours->start_ts = ours->end_ts = 0;
	__atomic_store_n(&ours->value, 1, __ATOMIC_RELEASE);
	give_back(relay);
	return true;
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
	return relay->signal.handle;
}

void relay_untake(struct slot *slot)
{
	struct relay *relay = (struct relay *)slot->begin_ticks;

	relay->slot = NULL;
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
	relays.count = relays.free = 0;
	relays.runtime++;
	pthread_mutex_unlock(&relays.lock);
	atomic_store_explicit(&runtime_thread, 0, memory_order_relaxed);
}
