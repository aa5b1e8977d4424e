/* SPDX-License-Identifier: MIT */
/* Relays for an application's completion signals: see relay.h. */
#include "relay.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "../../common/fork_lock.h"
#include "interceptor.h"
#include "signal_watch.h"

/* The driver has 4094 events for a process, and the application needs some. */
#define RELAYS_MAX   1024
#define RELAYS_BATCH 16

struct relay {
	hsa_signal_t signal;
	uint32_t runtime; /* relays.runtime when it was made */
	/* The lock's: */
	bool taken;         /* in a packet or a copy */
	bool seen_complete; /* by a pass of the harvester */
	uint32_t lane;
	struct slot *slot;
	uint64_t theirs;           /* the application's signal */
	struct relay *next, *prev; /* of the free ones (next only), or of those taken */
};

static struct {
	pthread_mutex_t lock;
	struct relay *first;                    /* free ones */
	struct relay *first_taken, *last_taken; /* in the order of submission */
	uint32_t count, free;
	uint32_t runtime; /* counts the times that the runtime has ended */
} relays = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(relays, relays.lock);

uint32_t relay_lanes[RELAY_LANES];

/* All below that is not public and takes a relay: under the lock. */

static void make_free(struct relay *relay)
{
	relay->next = relays.first;
	relays.first = relay;
	relays.free++;
}

static void append(struct relay *relay)
{
	relay->taken = true;
	relay->seen_complete = false;
	relay->next = NULL;
	/* Relaxed: for this thread, or who follows it in the runtime's lock of the queue. */
	if (relay->lane != RELAY_NO_LANE)
		__atomic_fetch_add(&relay_lanes[relay->lane % RELAY_LANES], 1, __ATOMIC_RELAXED);
	relay->prev = relays.last_taken;
	if (relays.last_taken)
		relays.last_taken->next = relay;
	else
		relays.first_taken = relay;
	relays.last_taken = relay;
}

/* Out of those taken, to the free ones. */
static void release(struct relay *relay)
{
	if (relay->prev)
		relay->prev->next = relay->next;
	else
		relays.first_taken = relay->next;
	if (relay->next)
		relay->next->prev = relay->prev;
	else
		relays.last_taken = relay->prev;
	relay->taken = false;
	/* Pairs with the acquire in relay_in_lane: the application's signal has been completed. */
	if (relay->lane != RELAY_NO_LANE)
		__atomic_fetch_sub(&relay_lanes[relay->lane % RELAY_LANES], 1, __ATOMIC_RELEASE);
	make_free(relay);
}

static bool is_complete(const struct relay *relay)
{
	return __atomic_load_n(&((const amd_signal_t *)relay->signal.handle)->value,
			       __ATOMIC_ACQUIRE) < 1;
}

/* The slot may be the harvester's, and reused, once signal_watch_relay has returned. */
static void complete(struct relay *relay)
{
	amd_signal_t *ours = (amd_signal_t *)relay->signal.handle;

	signal_watch_relay(relay->slot, relay->theirs, relay->signal.handle);
	__atomic_store_n(&ours->value, 1, __ATOMIC_RELEASE);
	release(relay);
}

/* Completes the application's signal, and before it those of earlier packets of the same queue that
 * have ended: nobody may see the later one without them. */
static void complete_in_order(struct relay *last)
{
	for (struct relay *relay = relays.first_taken, *next; relay; relay = next) {
		const bool is_last = relay == last;

		next = relay->next;
		if (is_last || (relay->lane == last->lane && last->lane != RELAY_NO_LANE &&
				is_complete(relay)))
			complete(relay);
		if (is_last)
			return;
	}
}

/* Runtime's handler thread. The relay may have been completed, and be in use again. */
static bool completed(hsa_signal_value_t value, void *data)
{
	struct relay *relay = data;

	(void)value;
	pthread_mutex_lock(&relays.lock);
	if (relay->runtime == relays.runtime && relay->taken && is_complete(relay))
		complete_in_order(relay);
	pthread_mutex_unlock(&relays.lock);
	return true;
}

void relay_rescue(void)
{
	pthread_mutex_lock(&relays.lock);
	for (struct relay *relay = relays.first_taken, *next; relay; relay = next) {
		next = relay->next;
		if (!is_complete(relay))
			continue;
		if (relay->seen_complete)
			complete_in_order(relay);
		else
			relay->seen_complete = true;
	}
	pthread_mutex_unlock(&relays.lock);
}

static bool make_relay(void)
{
	struct relay *relay = calloc(1, sizeof(*relay));

	if (!relay)
		return false;
	pthread_mutex_lock(&relays.lock);
	relay->runtime = relays.runtime;
	pthread_mutex_unlock(&relays.lock);
	if (interceptor.hsa.signal_create(1, 0, NULL, &relay->signal))
		goto failed;
	if (interceptor.hsa.signal_async_handler(relay->signal, HSA_SIGNAL_CONDITION_LT, 1,
						 completed, relay))
		goto no_handler;
	pthread_mutex_lock(&relays.lock);
	make_free(relay);
	pthread_mutex_unlock(&relays.lock);
	return true;

no_handler:
	interceptor.hsa.signal_destroy(relay->signal);
failed:
	free(relay);
	return false;
}

static void make_relays(uint32_t wanted)
{
	for (uint32_t i = 0; i < wanted; i++) {
		pthread_mutex_lock(&relays.lock);
		const bool allowed = relays.count < RELAYS_MAX;

		relays.count += allowed;
		pthread_mutex_unlock(&relays.lock);
		if (!allowed)
			return;
		if (!make_relay()) {
			pthread_mutex_lock(&relays.lock);
			relays.count--;
			pthread_mutex_unlock(&relays.lock);
			return;
		}
	}
}

static struct relay *take_free(struct slot *slot, uint32_t lane)
{
	struct relay *relay;

	pthread_mutex_lock(&relays.lock);
	relay = relays.first;
	if (relay) {
		relays.first = relay->next;
		relays.free--;
		relay->slot = slot;
		relay->theirs = slot->watched;
		relay->lane = lane;
		append(relay);
	}
	pthread_mutex_unlock(&relays.lock);
	return relay;
}

uint64_t relay_take(struct slot *slot, uint32_t lane)
{
	struct relay *relay = take_free(slot, lane);

	/* Few programs need any, so none are made before; the harvester keeps up later. */
	if (!relay) {
		make_relays(RELAYS_BATCH);
		relay = take_free(slot, lane);
	}
	if (!relay)
		return 0;
	slot->relayed.relay = relay;
	return relay->signal.handle;
}

void relay_untake(struct slot *slot)
{
	pthread_mutex_lock(&relays.lock);
	release(slot->relayed.relay);
	pthread_mutex_unlock(&relays.lock);
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

void relay_forget(void)
{
	pthread_mutex_lock(&relays.lock);
	relays.first = relays.first_taken = relays.last_taken = NULL;
	for (int i = 0; i < RELAY_LANES; i++)
		__atomic_store_n(&relay_lanes[i], 0, __ATOMIC_RELAXED);
	relays.count = relays.free = 0;
	relays.runtime++;
	pthread_mutex_unlock(&relays.lock);
}
