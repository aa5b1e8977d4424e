/* SPDX-License-Identifier: MIT */
#include "turn.h"

#include <errno.h>

#include "interceptor.h"

/* Longest wait for who has the turn and does not get on, without a word from a subscriber. */
#define OWNER_WAIT_NS 500000000u

__thread struct turn *turn_self __attribute__((tls_model("initial-exec")));

bool turn_change(struct turn *turn, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&turn->state, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

void turn_go_out(struct turn *turn)
{
	__atomic_store_n(&turn->outs, __atomic_load_n(&turn->outs, __ATOMIC_RELAXED) + 1,
			 __ATOMIC_RELAXED);
	/* Fails if it was given up already. Pairs with the acquire of who gives it up. */
	(void)turn_change(turn, TURN_IN, TURN_OUT);
}

void turn_come_in(struct turn *turn)
{
	(void)turn_change(turn, TURN_OUT, TURN_IN);
}

void turn_take_for_sure(struct turn *turn)
{
	while (!turn_try(turn, rtl_thread_id()))
		futex_nap(&turn->by);
}

bool turn_is_mine(const struct turn *turn)
{
	return __atomic_load_n(&turn->by.owner, __ATOMIC_RELAXED) == rtl_thread_id();
}

struct turn_patience turn_begin_waiting(const struct turn *turn)
{
	return (struct turn_patience){rtl_clock_ns(),
				      __atomic_load_n(&turn->outs, __ATOMIC_RELAXED)};
}

bool turn_is_worth_waiting(struct turn *turn, const struct turn_patience *patience)
{
	const uint32_t outs = __atomic_load_n(&turn->outs, __ATOMIC_RELAXED);
	const uint64_t most_ns = turn_state(turn) == TURN_OUT || outs != patience->outs
					 ? interceptor.config.wait_ms * 1000000ull
					 : OWNER_WAIT_NS;

	if (!interceptor_on() || __atomic_load_n(&turn->stuck, __ATOMIC_RELAXED) == outs + 1)
		return false;
	if (rtl_clock_ns() - patience->since_ns < most_ns)
		return true;
	__atomic_store_n(&turn->stuck, outs + 1, __ATOMIC_RELAXED);
	return false;
}

__attribute__((cold)) bool turn_take_patiently(struct turn *turn, bool also_out)
{
	const int saved = errno;
	struct turn_patience patience;
	bool taken = false;

	if (turn_is_mine(turn))
		return false;
	if (futex_take_spinning(&turn->by, rtl_thread_id())) {
		turn_self = turn;
		return true;
	}
	patience = turn_begin_waiting(turn);
	while (!taken && (also_out || turn_state(turn) != TURN_OUT) &&
	       turn_is_worth_waiting(turn, &patience)) {
		futex_nap(&turn->by);
		taken = turn_try(turn, rtl_thread_id());
	}
	errno = saved;
	return taken;
}
