/* SPDX-License-Identifier: MIT */
/* Whose turn it is to make a pass over the sources: the harvester's or a helper's, one at a time. The owner may be
 * inside the runtime. While it waits for a subscriber it is out, and the sources can be taken from it.
 *
 * Threads: any. Nobody waits for a turn without end. No locks. */
#pragma once

#include <stddef.h>

#include "futex.h"

/* Whose the sources are. */
enum turn_state {
	TURN_IN,  /* of who has the turn */
	TURN_OUT, /* between turn_out and turn_in: of whoever takes them */
	/* Thread and helpers have been given up: */
	TURN_TAKEN, /* while one was out, by who stopped it */
	TURN_LATE   /* while one was in: what is still there the thread only counts as missed */
};

/* All 0: nobody has it. */
struct turn {
	struct futex_owner by; /* the id of the thread that has it */
	/* enum turn_state. Release by the owner, acq_rel by who stops it and then sees all that it did. */
	uint32_t state;
	uint32_t outs; /* how often one has been out: a sign of life; relaxed */
	/* One more than `outs` was when somebody has waited for the owner in vain; relaxed. */
	uint32_t stuck;
	bool helping; /* the owner's: it is a helper, which waits for nothing */
	bool waits;   /* the owner's: it is not, and publishes where there may be no room */
};

/* In whose turn this thread is, or NULL. */
extern __thread struct turn *turn_self __attribute__((tls_model("initial-exec")));

/* Takes it, if nobody has it, for the calling thread: `thread` is its id. */
static inline bool turn_try(struct turn *turn, uint32_t thread)
{
	if (!futex_take(&turn->by, thread))
		return false;
	turn_self = turn;
	return true;
}

bool turn_take_patiently(struct turn *turn, bool also_out);

/* Takes it, and waits as long as that is worth it; also_out: while its owner is out, too. False: it was not, or a signal
 * handler interrupted its owner. */
static inline bool turn_take(struct turn *turn, uint32_t thread, bool also_out)
{
	return turn_try(turn, thread) || turn_take_patiently(turn, also_out);
}

/* Takes it, however long that takes: whoever has it gives it back. */
void turn_take_for_sure(struct turn *turn);

static inline void turn_give_back(struct turn *turn)
{
	turn_self = NULL;
	futex_give_up(&turn->by);
}

bool turn_is_mine(const struct turn *turn);

/* Around what may wait for a subscriber. In between, the owner touches nothing of the runtime and nothing that is freed
 * before the process ends. They do nothing on other threads and on helpers. */
void turn_go_out(struct turn *turn);
void turn_come_in(struct turn *turn);

static inline void turn_out(void)
{
	if (turn_self && !turn_self->helping)
		turn_go_out(turn_self);
}

static inline void turn_in(void)
{
	if (turn_self && !turn_self->helping)
		turn_come_in(turn_self);
}

/* The same around one event for which sources.c has asked for room, and which waits only in some passes. Returns the
 * turn for turn_in_with_room. */
static inline struct turn *turn_out_for_room(void)
{
	struct turn *turn = turn_self;

	if (__builtin_expect(!turn || !turn->waits, 1))
		return NULL;
	turn_go_out(turn);
	return turn;
}

static inline void turn_in_with_room(struct turn *turn)
{
	if (__builtin_expect(turn != NULL, 0))
		turn_come_in(turn);
}

/* In a turn: what is published from now on may wait, or not. */
static inline void turn_may_wait(bool may_wait)
{
	if (turn_self)
		turn_self->waits = may_wait && !turn_self->helping;
}

/* In a turn, now and then where it does not go out: its owner gets on. Relaxed, as in turn_go_out. */
static inline void turn_gets_on(void)
{
	if (turn_self && !turn_self->helping)
		__atomic_store_n(&turn_self->outs, turn_self->outs + 1, __ATOMIC_RELAXED);
}

static inline enum turn_state turn_state(const struct turn *turn)
{
	/* Relaxed: who has the turn does less then, and reads nothing that the other one wrote. */
	return (enum turn_state)__atomic_load_n(&turn->state, __ATOMIC_RELAXED);
}

static inline bool turn_is_left(const struct turn *turn)
{
	return turn_state(turn) >= TURN_TAKEN;
}

/* In a turn: whether it has been given up, and leaves everything as it is. Else false. */
static inline bool turn_left(void)
{
	return turn_self && turn_is_left(turn_self);
}

/* True if it was in state `from` (enum turn_state). Then it is in state `to`; by whoever stops it, given up. */
bool turn_change(struct turn *turn, uint32_t from, uint32_t to);

/* How long a thread that has waited for the GPU waits for the owner: as long as a submitting thread would while the
 * owner waits for a subscriber, else shortly. Nobody waits again for an owner that has made no progress since. */
struct turn_patience {
	uint64_t since_ns;
	uint32_t outs;
};

struct turn_patience turn_begin_waiting(const struct turn *turn);
bool turn_is_worth_waiting(struct turn *turn, const struct turn_patience *patience);
