/* SPDX-License-Identifier: MIT */
/* Dispatches and copies that carry a completion signal of the application, which stays in the packet: see README.md. We
 * read its times before the application reuses or destroys the signal, which it can do only through functions and
 * packets that we see. A hash table has all such work under way, by its signal.
 *
 * The private part of the signal, in which an SDMA engine leaves its times, has been the same from ROCm 5.0 to 7.2, and
 * is recognized by a constant; without that, copies have no times.
 *
 * Threads: any. Locks: one for each bucket of the table, held for some loads and stores. */
#pragma once

#include "futex.h"
#include "slots.h"

struct root_table;

#define WATCH_BUCKETS 256

/* A line of its own: the harvester empties it while threads that submit fill others. */
struct signal_watch_bucket {
	struct futex_owner lock; /* taken by 1 */
	/* The lock's, but for signal_watch_is_used: written with relaxed atomic stores. */
	struct slot *first;
} __attribute__((aligned(64)));

extern struct signal_watch_bucket signal_watch_buckets[WATCH_BUCKETS];

static inline struct signal_watch_bucket *signal_watch_bucket_of(uint64_t signal)
{
	return &signal_watch_buckets[(signal * 0x9e3779b97f4a7c15u) >> 56];
}

/* Whether something under way may have that signal. Relaxed: the application orders its uses of a signal. */
static inline bool signal_watch_is_used(uint64_t signal)
{
	return signal &&
	       __atomic_load_n(&signal_watch_bucket_of(signal)->first, __ATOMIC_RELAXED) != NULL;
}

/* Begins to fetch what signal_watch_enter is going to touch; the harvester may have had it last. */
static inline void signal_watch_prefetch(uint64_t signal)
{
	__builtin_prefetch(signal_watch_bucket_of(signal), 1);
	__builtin_prefetch((const void *)signal);
}

static inline bool signal_holds(hsa_signal_value_t value, hsa_signal_condition_t condition,
				hsa_signal_value_t compared)
{
	switch (condition) {
	case HSA_SIGNAL_CONDITION_EQ:
		return value == compared;
	case HSA_SIGNAL_CONDITION_NE:
		return value != compared;
	case HSA_SIGNAL_CONDITION_LT:
		return value < compared;
	default:
		return value >= compared;
	}
}

/* Of the application, for which something of it is about to wait. */
static inline int64_t signal_value(hsa_signal_t signal)
{
	return __atomic_load_n(&((const amd_signal_t *)signal.handle)->value, __ATOMIC_RELAXED);
}

/* How many of these it has to wait for, now. NULL handles are none. */
static inline uint32_t signals_waiting(const hsa_signal_t *signals, uint32_t count)
{
	uint32_t waiting = 0;

	for (uint32_t i = 0; signals && i < count; i++)
		waiting += signals[i].handle && signal_value(signals[i]);
	return waiting;
}

/* Hooks the function that destroys signals. */
void signal_watch_hook(struct root_table *root);

/* In the child of a fork, with one thread: opens the locks. The slots are the parent's. */
void signal_watch_forked(void);

/* A packet or copy with that signal is about to be submitted: enters the slot, as one of `kinds`. False: others share
 * the signal; then all of them are without times. */
bool signal_watch_enter(struct slot *slot, const struct slot_kinds *kinds, uint64_t signal);

/* Takes the slot out again: it was not submitted, or is given up. */
void signal_watch_leave(struct slot *slot);

/* Harvester: whether a SLOT_WATCHED has finished; then it has its times, and is out of the table. */
bool signal_watch_finished(struct slot *slot);

/* Harvester: gives a SLOT_WATCHED up. If its submitter still looks at it, it stays in the table. */
void signal_watch_abandon(struct slot *slot, bool looked_at);

/* Submitting thread: whether the packet of its slot has ended, as far as the signal shows. Changes nothing. */
bool signal_watch_seems_over(struct slot *slot);

void signal_watch_used_slowly(uint64_t signal, bool is_destroyed);

/* The signal is about to be used by something else than what is watched. */
static inline void signal_watch_reused(uint64_t signal)
{
	if (signal_watch_is_used(signal))
		signal_watch_used_slowly(signal, false);
}

/* The signal is about to be destroyed. */
static inline void signal_watch_destroyed(uint64_t signal)
{
	if (signal_watch_is_used(signal))
		signal_watch_used_slowly(signal, true);
}

/* A struct slot_kinds, from the members of struct slot_kind that do not depend on how an end is seen. */
#define SLOT_KINDS(...)                                                                            \
	{                                                                                          \
		.own = {.signal = SLOT_OWN, .finished = slot_own_finished, __VA_ARGS__},           \
		.watched = {.signal = SLOT_WATCHED,                                                \
			    .finished = signal_watch_finished,                                     \
			    .abandon = signal_watch_abandon,                                       \
			    __VA_ARGS__},                                                          \
		.over = {.signal = SLOT_OVER, .finished = slot_is_done, __VA_ARGS__},              \
	}
