/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include <stdio.h>

#include "bus.h"
#include "clock.h"
#include "log.h"

/* After that time a line says which thread waits, and for what. */
#define SAY_NS 2000000000u
/* Waiting threads look every 100 ms. A longer gap is not the consumer's: nobody waited, or the process was stopped. */
#define STEP_NS 200000000u
/* So often at most threads that do not wait look whether the consumer moves again. */
#define LOOK_NS 20000000u

/* All relaxed: nothing else depends on them, and a look that is lost is made up by the next one. */
static struct {
	uint64_t progress;  /* the sum of the tails, and of the batches, at the last look */
	uint64_t looked_ns; /* when that was */
	uint64_t idle_ns;   /* since it changed */
	bool on;
	bool said_full, said_waits, said_gives_up, said_moves;
} stall;

void stall_forget(void)
{
	memset(&stall, 0, sizeof(stall));
}

bool stall_is_on(void)
{
	return __atomic_load_n(&stall.on, __ATOMIC_RELAXED);
}

/* The first time: *who is whom it is about. */
static bool is_news(bool *said, char (*who)[128])
{
	if (__atomic_exchange_n(said, true, __ATOMIC_RELAXED))
		return false;
	bus_name_consumer(*who, sizeof(*who));
	return true;
}

void stall_say_full(bool waits)
{
	char who[128];

	if (!is_news(&stall.said_full, &who))
		return;
	log_line(RTL_LEVEL_WARNING, "bus",
		 waits ? "the buffers of process %d are full (RTL_BUFFER_TOTAL): threads wait for "
			 "%s from now on, nothing is lost; `rtl info` tells how long they waited"
		       : "the buffers of process %d are full (RTL_BUFFER_TOTAL): events that find "
			 "no room are discarded and counted (RTL_BUFFER_POLICY), as %s is behind",
		 (int)getpid(), who);
}

static void say_waits(void)
{
	const uint32_t limit_ms = bus.settings.stall_timeout_ms;
	char who[128], then[96] = "the program waits on (RTL_STALL_TIMEOUT is 0)";

	if (!is_news(&stall.said_waits, &who))
		return;
	if (limit_ms)
		snprintf(then, sizeof(then),
			 "after %u ms (RTL_STALL_TIMEOUT) the program goes on without it",
			 limit_ms);
	log_line(RTL_LEVEL_WARNING, "bus",
		 "thread %u of process %d has waited for 2 s: its buffer is full, and %s does not "
		 "drain it; %s",
		 rtl_thread_id(), (int)getpid(), who, then);
}

/* Adds what has passed since the last look; returns the time without progress, 0: there is some. */
static uint64_t add_up(uint64_t now)
{
	const uint64_t progress = bus_progress();
	const uint64_t before = __atomic_exchange_n(&stall.looked_ns, now, __ATOMIC_RELAXED);
	uint64_t step = before && now > before ? now - before : 0;

	if (__atomic_exchange_n(&stall.progress, progress, __ATOMIC_RELAXED) != progress) {
		__atomic_store_n(&stall.idle_ns, 0, __ATOMIC_RELAXED);
		return 0;
	}
	step = step < STEP_NS ? step : STEP_NS;
	return __atomic_add_fetch(&stall.idle_ns, step, __ATOMIC_RELAXED);
}

bool stall_may_wait(void)
{
	const uint64_t limit_ns = (uint64_t)bus.settings.stall_timeout_ms * 1000000u;
	const uint64_t now = clock_ns();
	uint64_t idle_ns;
	char who[128];

	if (stall_is_on() && now - __atomic_load_n(&stall.looked_ns, __ATOMIC_RELAXED) < LOOK_NS)
		return false;
	idle_ns = add_up(now);
	if (!idle_ns) {
		if (__atomic_exchange_n(&stall.on, false, __ATOMIC_RELAXED) &&
		    is_news(&stall.said_moves, &who))
			log_line(RTL_LEVEL_WARNING, "bus",
				 "%s drains events again: process %d waits for it as before", who,
				 (int)getpid());
		return true;
	}
	if (limit_ns && idle_ns >= limit_ns) {
		__atomic_store_n(&stall.on, true, __ATOMIC_RELAXED);
		if (is_news(&stall.said_gives_up, &who))
			log_line(RTL_LEVEL_WARNING, "bus",
				 "%s has drained nothing for %u ms (RTL_STALL_TIMEOUT): process %d "
				 "goes on, events that find no room are discarded and counted",
				 who, bus.settings.stall_timeout_ms, (int)getpid());
		return false;
	}
	if (idle_ns >= SAY_NS)
		say_waits();
	return true;
}

void stall_look_again(void)
{
	if (stall_is_on())
		stall_may_wait();
}
