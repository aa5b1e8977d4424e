/* SPDX-License-Identifier: MIT */
#include "bus.h"

#include <stdio.h>

#include "futex.h"
#include "parts.h"
#include "thread.h"

struct bus bus = {.lock = PTHREAD_MUTEX_INITIALIZER,
		  .spool = {.dir = {.fd = -1}, .lock = {.fd = -1}}};
__thread bool bus_own_thread __attribute__((tls_model("initial-exec")));

void bus_note_begin(void)
{
	if (!__atomic_load_n(&bus.begun, __ATOMIC_RELAXED))
		__atomic_store_n(&bus.begun, true, __ATOMIC_SEQ_CST);
}

void bus_lock(void)
{
	int state;

	bus_note_begin();
	thread_locked++;
	/* a thread that is cancelled must not take the lock with it */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&bus.lock);
	bus.cancel_state = state;
}

void bus_unlock(void)
{
	int state = bus.cancel_state;

	pthread_mutex_unlock(&bus.lock);
	pthread_setcancelstate(state, NULL);
	thread_locked--;
}

const void *bus_thread(void)
{
	return &bus_own_thread;
}

static uint32_t state_now(void)
{
	return __atomic_load_n(&bus.state, __ATOMIC_ACQUIRE);
}

bool bus_starts_elsewhere(void)
{
	const uint32_t state = state_now();

	return (state == BUS_LOADING || state == BUS_OVERDUE) &&
	       __atomic_load_n(&bus.starter, __ATOMIC_RELAXED) != bus_thread();
}

bool bus_here(void)
{
	/* acquire: with the release at the end of the start; the bus is complete */
	return state_now() >= BUS_RUNNING && bus.alive &&
	       __atomic_load_n(bus.alive, __ATOMIC_RELAXED);
}

void bus_ring_bell(void)
{
	if (bus.collected) { /* the same, as far as the page is there */
		futex_clear_and_wake(bus.bell);
		return;
	}
	/* Exchanges on both sides, so that one sees the other: either the consumer, which looks at
	 * the heads after its own, sees what we have published, or we see that it sleeps. */
	if (__atomic_exchange_n(bus.bell, 0, __ATOMIC_SEQ_CST))
		futex_wake(bus.bell);
}

void bus_close_ring(struct ring_header *ring)
{
	/* release: with the consumer's acquire, which then sees the last head */
	__atomic_store_n(&ring->state, RING_CLOSED, __ATOMIC_RELEASE);
}

void bus_stop_publishing(void)
{
	static const struct stream_wants nothing;

	for (uint32_t i = 0; i < stream_count(); i++)
		stream_want(stream_of(i), stream_info(i), &nothing, 0xff);
}

bool bus_has_lost_consumer(void)
{
	return bus.collected ? fate_is_lost()
			     : !__atomic_load_n(&bus.consumer_runs, __ATOMIC_RELAXED);
}

bool bus_has_consumer(void)
{
	if (bus_has_lost_consumer())
		return false;
	if (!bus.collected)
		return true;
	if (session_is_alive())
		return true;
	fate_look();
	return false;
}

uint64_t bus_progress(void)
{
	/* acquire: with the release in writer.c: rings[] is filled so far; 0 in a child */
	const uint32_t n = __atomic_load_n(&bus.ring_count, __ATOMIC_ACQUIRE);
	uint64_t sum = bus_ops.progress();

	for (uint32_t i = 0; i < n; i++)
		sum += __atomic_load_n(&bus.rings[i]->tail, __ATOMIC_RELAXED);
	return sum;
}

void bus_name_consumer(char *text, size_t size)
{
	const char *subscriber = bus_ops.at_work();

	if (bus.collected && session_pid())
		snprintf(text, size, "the collector, process %d,", session_pid());
	else if (subscriber)
		snprintf(text, size, "the subscriber %s", subscriber);
	else
		snprintf(text, size,
			 bus.collected ? "rtl attach" : "the thread of the subscribers");
}
