/* SPDX-License-Identifier: MIT */
/* Whose turn it is: see turn.h. */
#include "turn.h"

#include <errno.h>
#include <rtl/rtl.h>

#include "futex.h"
#include "interceptor.h"

/* How long to sleep at most before looking again. */
#define NAP_NS 1000000u
/* Longest wait for who has the turn and does not get on, without a word from a subscriber. */
#define OWNER_WAIT_NS 500000000u
/* How often to look for the end of another thread's turn before sleeping. */
#define SPINS 50

/* In whose turn this thread is, or NULL. */
static __thread struct turn *self __attribute__((tls_model("initial-exec")));

static bool change(struct turn *turn, uint32_t from, uint32_t to)
{
	return atomic_compare_exchange_strong_explicit(&turn->state, &from, to,
						       memory_order_acq_rel, memory_order_relaxed);
}

bool turn_give_up(struct turn *turn, enum turn_state from, enum turn_state to)
{
	return change(turn, from, to);
}

bool turn_none(void)
{
	return !self;
}

void turn_out(void)
{
	if (!self || self->helping)
		return;
	atomic_store_explicit(&self->outs,
			      atomic_load_explicit(&self->outs, memory_order_relaxed) + 1,
			      memory_order_relaxed);
	/* Fails if it was given up already. Pairs with turn_give_up's acquire. */
	(void)change(self, TURN_IN, TURN_OUT);
}

void turn_in(void)
{
	if (self && !self->helping)
		(void)change(self, TURN_OUT, TURN_IN);
}

bool turn_left(void)
{
	return self && turn_is_left(self);
}

bool turn_try(struct turn *turn)
{
	uint32_t none = 0;

	/* Acquire: pairs with turn_give_back, all that the last one did is seen. */
	if (atomic_load_explicit(&turn->owner, memory_order_relaxed) ||
	    !atomic_compare_exchange_strong_explicit(&turn->owner, &none, rtl_thread_id(),
						     memory_order_acquire, memory_order_relaxed))
		return false;
	self = turn;
	return true;
}

void turn_give_back(struct turn *turn)
{
	self = NULL;
	(void)atomic_exchange_explicit(&turn->owner, 0, memory_order_seq_cst);
	if (atomic_load_explicit(&turn->waiters, memory_order_seq_cst))
		futex_wake(&turn->owner);
}

/* Waits until nobody has it, or somebody else. */
static void wait_for_owner(struct turn *turn)
{
	uint32_t owner;

	atomic_fetch_add_explicit(&turn->waiters, 1, memory_order_seq_cst);
	owner = atomic_load_explicit(&turn->owner, memory_order_seq_cst);
	if (owner)
		futex_wait(&turn->owner, owner, NAP_NS);
	atomic_fetch_sub_explicit(&turn->waiters, 1, memory_order_relaxed);
}

void turn_take_for_sure(struct turn *turn)
{
	while (!turn_try(turn))
		wait_for_owner(turn);
}

static bool spin(struct turn *turn)
{
	for (int i = 0; i < SPINS; i++) {
		if (turn_try(turn))
			return true;
#ifdef __x86_64__
		__builtin_ia32_pause();
#endif
	}
	return false;
}

bool turn_is_mine(const struct turn *turn)
{
	return atomic_load_explicit(&turn->owner, memory_order_relaxed) == rtl_thread_id();
}

struct turn_patience turn_begin_waiting(const struct turn *turn)
{
	return (struct turn_patience){rtl_clock_ns(),
				      atomic_load_explicit(&turn->outs, memory_order_relaxed)};
}

bool turn_is_worth_waiting(struct turn *turn, const struct turn_patience *patience)
{
	const uint32_t outs = atomic_load_explicit(&turn->outs, memory_order_relaxed);
	const uint64_t most_ns = turn_state(turn) == TURN_OUT || outs != patience->outs
					 ? interceptor.config.wait_ms * 1000000ull
					 : OWNER_WAIT_NS;

	if (!interceptor_on() ||
	    atomic_load_explicit(&turn->stuck, memory_order_relaxed) == outs + 1)
		return false;
	if (rtl_clock_ns() - patience->since_ns < most_ns)
		return true;
	atomic_store_explicit(&turn->stuck, outs + 1, memory_order_relaxed);
	return false;
}

static __attribute__((cold, noinline)) bool take_patiently(struct turn *turn)
{
	const int saved = errno;
	struct turn_patience patience;
	bool taken = false;

	if (turn_is_mine(turn))
		return false;
	if (spin(turn))
		return true;
	patience = turn_begin_waiting(turn);
	while (!taken && turn_is_worth_waiting(turn, &patience)) {
		wait_for_owner(turn);
		taken = turn_try(turn);
	}
	errno = saved;
	return taken;
}

bool turn_take(struct turn *turn)
{
	return turn_try(turn) || take_patiently(turn);
}
