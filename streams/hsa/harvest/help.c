/* SPDX-License-Identifier: MIT */
/* Threads of the program that publish in the harvester's stead: see harvest.h. */
#include <errno.h>
#include <rtl/rtl.h>

#include "handler_thread.h"
#include "harvest.h"
#include "harvester.h"
#include "interceptor.h"

/* How much a submitting thread does of what the harvester is behind with. Where it cannot, it gives
 * way to the harvester for a while: from LATE times the harvester's patience on. At STUCK times it
 * stops doing so. */
#define CATCH_UP_MOST 256u
#define LATE          2u
#define GIVE_WAY_NS   5000000u
#define STUCK         200u

/* The one to help; NULL: there is nothing to do, or not for this thread. */
static inline struct harvester *to_help(void)
{
	struct harvester *harvester = harvester_current();

	return !harvester || !turn_none() || !interceptor_on() ? NULL : harvester;
}

/* In a pass: publishes what has finished, as sources_help. There is no cancellation point in
 * this, and errno stays. */
static inline int help(struct harvester *harvester, uint32_t most)
{
	int room;

	/* Acquire: pairs with start, where it is used again. */
	if (__atomic_load_n(&harvester->ended, __ATOMIC_ACQUIRE) || turn_is_left(&harvester->turn))
		return 0;
	harvester->turn.helping = true;
	room = sources_help(&harvester->sources, most);
	harvester->turn.helping = false;
	return room;
}

/* Until the harvester has published what there was no room for here. */
static __attribute__((cold, noinline)) void wait_for_harvester(struct harvester *harvester)
{
	const struct turn_patience patience = turn_begin_waiting(&harvester->turn);
	const uint32_t passes = harvest_passes();
	const int saved = errno;

	/* One pass may have been half done. */
	while (harvest_passes() - passes < 2 && turn_is_worth_waiting(&harvester->turn, &patience))
		harvest_wait_pass();
	errno = saved;
}

bool harvest_help(void)
{
	const uint32_t thread = rtl_thread_id();
	const bool may_wait = handler_thread_id() != thread;
	struct harvester *harvester = to_help();
	int room;

	if (!harvester || !(may_wait ? turn_take(&harvester->turn, thread)
				     : turn_take_spinning(&harvester->turn, thread)))
		return false;
	room = help(harvester, UINT32_MAX);
	turn_give_back(&harvester->turn);
	/* Not for inline callbacks: they may need what this thread's caller has locked. */
	if (__builtin_expect(room < 0 && room != RTL_ENOTSUP && may_wait, 0))
		wait_for_harvester(harvester);
	return !room;
}

/* How late the harvester is, in times of the patience that one may have. */
static uint64_t lateness(void)
{
	const uint64_t looked = __atomic_load_n(&harvest_signs.looked_ticks, __ATOMIC_RELAXED);

	return (rtl_ticks() - looked) /
	       __atomic_load_n(&harvest_signs.patience_ticks, __ATOMIC_RELAXED);
}

/* Tries to; false: another one makes a pass, or there is no room. */
static bool catch_up(struct harvester *harvester)
{
	const uint64_t now_ticks = rtl_ticks();
	int room;

	if (!turn_try(&harvester->turn, rtl_thread_id()))
		return false;
	room = help(harvester, CATCH_UP_MOST);
	turn_give_back(&harvester->turn);
	if (!room)
		__atomic_store_n(&harvest_signs.looked_ticks, now_ticks, __ATOMIC_RELAXED);
	return room >= 0;
}

__attribute__((cold)) void harvest_catch_up(void)
{
	struct harvester *harvester = to_help();
	const int saved = errno;

	if (!harvester || handler_thread_is_this() || turn_is_mine(&harvester->turn) ||
	    catch_up(harvester))
		return;
	/* Where it has been stuck for long, it is not the processor that it lacks. */
	while (interceptor.config.wait_ms && interceptor_on() && lateness() >= LATE &&
	       lateness() < STUCK) {
		harvest_wait_for_pass(GIVE_WAY_NS);
		if (catch_up(harvester))
			break;
	}
	errno = saved;
}
