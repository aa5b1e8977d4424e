/* SPDX-License-Identifier: MIT */
#include "source.h"

#include "agents.h"
#include "harvest.h"
#include "interceptor.h"
#include "turn.h"

/* How many unfinished slots in a row end the look at a source; now and then it goes on. */
#define LOOK_AHEAD     64
#define FULL_LOOK_EACH 8
/* A helper looks at all of what ends in any order where there is not more of it. */
#define HELP_ALL 1024
/* Slots that a source gets before it needs them. */
#define SLOTS_SOON 1024

/* New sources, a stack: release by sources_add, acquire by adopt. */
static struct source *added;

void sources_add(struct source *source)
{
	struct source *first = __atomic_load_n(&added, __ATOMIC_RELAXED);

	do {
		source->next_added = first;
		/* Release: the source is complete. Pairs with adopt's acquire. */
	} while (!__atomic_compare_exchange_n(&added, &first, source, true, __ATOMIC_RELEASE,
					      __ATOMIC_RELAXED));
}

void sources_adopt(struct sources *sources)
{
	struct source *source = __atomic_exchange_n(&added, NULL, __ATOMIC_ACQUIRE);

	while (source) {
		struct source *next = source->next_added;

		source->next_harvested = sources->first;
		sources->first = source;
		source = next;
	}
}

/* Takes a slot out of the list; `before` is NULL for the first. */
static void take_out(struct slot_pool *pool, struct slot *before, struct slot *slot)
{
	if (before)
		before->next = slot->next;
	else
		pool->first = slot->next;
	if (pool->last == slot)
		pool->last = before;
	pool->pending--;
}

/* The work has ended: publishes it, and makes its slot free. False: that is not ours any more. */
static inline bool harvest_slot(struct source *source, struct slot *slot)
{
	const struct slot_kind *kind = slot->kind;

	kind->publish(source, slot);
	/* Release, behind the event: a process killed while it waits for room or a page has the work under way. */
	__atomic_store_n(&slot->under_way, 0, __ATOMIC_RELEASE);
	if (kind->stream)
		rtl_pending_end(source->pending, 1);
	if (turn_left())
		return false;
	slots_recycle(&source->pool, slot);
	return true;
}

/* What is published in a pass: no more than this, and, unless it may wait, while there is room. */
struct allowed {
	uint32_t most;
	bool may_wait;
	int left; /* 0: nothing was left out; 1: there was more than `most`; what rtl_room says */
};

static inline bool may_publish(struct allowed *allowed, const struct slot_kind *kind)
{
	if (allowed->may_wait)
		return true;
	turn_gets_on();
	allowed->left = !allowed->most ? 1
			: !kind->stream
				? 0
				: rtl_room(*kind->stream, kind->end_type, kind->payload_bytes);
	allowed->most -= !allowed->left;
	return !allowed->left;
}

/* Publishes what has finished; returns how many that were. Unless `all`, it skips what waits behind a barrier. */
static uint32_t harvest_finished(struct source *source, bool all, struct allowed *allowed)
{
	struct slot_pool *pool = &source->pool;
	struct slot *before = NULL, *slot = pool->first;
	uint32_t finished = 0, in_a_row = 0;
	bool behind = false; /* an unfinished one that a barrier waits for */

	while (slot && (all || in_a_row < LOOK_AHEAD)) {
		struct slot *next = slot->next;

		behind |= slot->behind_barrier && before;
		if (behind && !all && !source->disordered)
			break;
		__builtin_prefetch(next); /* NULL does no harm */
		__builtin_prefetch(next + 1);
		if (slot->kind->finished(slot)) {
			if (!may_publish(allowed, slot->kind))
				break;
			source->disordered |= behind;
			take_out(pool, before, slot);
			if (!harvest_slot(source, slot))
				break;
			finished++;
			in_a_row = 0;
		} else {
			before = slot;
			in_a_row++;
		}
		slot = next;
	}
	return finished;
}

static void grow(struct source *source)
{
	struct slot_pool *pool = &source->pool;

	if (pool->count < SLOTS_SOON)
		slots_grow(pool, SLOTS_SOON - pool->count);
	else if (slots_free(pool) < pool->count / 2)
		slots_grow(pool, pool->count);
}

/* Gives up what is left of a source, and says how much that was. */
static void abandon(struct source *source, const char *cause)
{
	const bool dead = __atomic_load_n(&source->dead, __ATOMIC_RELAXED);
	/* Threads may still look at what they have submitted, as at the end of the process (room.c). */
	const bool looked_at =
		!dead && __atomic_load_n(&interceptor.state, __ATOMIC_RELAXED) == INTERCEPTOR_ENDED;
	struct slot_pool *pool = &source->pool;
	struct slot *next;
	uint32_t lost = 0;

	(void)slots_collect(pool);
	for (struct slot *slot = pool->first; slot; slot = next) {
		next = slot->next;
		lost += slot->kind->stream != NULL;
		if (slot->kind->unfinished && !dead)
			slot->kind->unfinished(source, slot);
		__atomic_store_n(&slot->under_way, 0, __ATOMIC_RELEASE);
		if (slot->kind->abandon)
			slot->kind->abandon(slot, looked_at);
	}
	pool->first = pool->last = NULL;
	pool->pending = 0;
	if (lost)
		rtl_stream_count_missed(*source->kind->stream, cause, lost);
	rtl_pending_end(source->pending, lost);
}

static void settle(struct source *source)
{
	if (source->kind->settle)
		source->kind->settle(source);
}

/* Frees sources that are dead. */
static void bury(struct sources *sources, struct allowed *allowed)
{
	for (struct source **link = &sources->first; *link;) {
		struct source *source = *link;

		/* Pairs with the release by who ends it: what was submitted has been. */
		if (!__atomic_load_n(&source->dead, __ATOMIC_ACQUIRE)) {
			link = &source->next_harvested;
			continue;
		}
		(void)slots_collect(&source->pool);
		/* A watched signal that the program has set again is believed the second time, and this is the last. */
		for (int looks = 0; looks < 2 && !turn_left(); looks++)
			(void)harvest_finished(source, true, allowed);
		if (turn_left() || allowed->left)
			return;
		*link = source->next_harvested;
		settle(source);
		abandon(source, "queue destroyed before the dispatch had finished");
		source->kind->free(source);
	}
}

/* Recording was started: publishes again what describes later events. */
static void announce(struct sources *sources)
{
	uint8_t *at = &interceptor.stream->wanted[RTL_METADATA & 0xff];
	const uint8_t wanted = __atomic_load_n(at, __ATOMIC_RELAXED);

	if (wanted && (!sources->wanted || wanted & RTL_WANTED_AGAIN)) {
		__atomic_fetch_and(at, (uint8_t)~RTL_WANTED_AGAIN, __ATOMIC_RELAXED);
		turn_out();
		agents_publish();
		turn_in();
	}
	sources->wanted = wanted;
}

static void look_at(struct sources *sources, struct source *source, bool all, bool *progress,
		    struct allowed *allowed)
{
	*progress |= slots_collect(&source->pool) != 0;
	*progress |= harvest_finished(source, all, allowed) != 0;
	if (turn_left())
		return;
	settle(source);
	grow(source);
	sources->under_way += source->pool.pending;
	__atomic_store_n(&source->unfinished, source->pool.pending, __ATOMIC_RELAXED);
}

bool sources_pass(struct sources *sources, uint32_t number, bool may_wait, bool *all)
{
	struct allowed allowed = {.most = UINT32_MAX, .may_wait = may_wait};
	bool progress = false;

	announce(sources);
	if (turn_left())
		return false;
	turn_may_wait(may_wait);
	sources_adopt(sources);
	bury(sources, &allowed);
	sources->under_way = 0;
	for (struct source *source = sources->first; source && !turn_left();
	     source = source->next_harvested)
		look_at(sources, source, number % FULL_LOOK_EACH == 0, &progress, &allowed);
	*all = !allowed.left;
	return progress;
}

static bool is_pending(const struct source *source)
{
	const struct slot_pool *pool = &source->pool;

	return pool->pending ||
	       __atomic_load_n(&pool->submit_tail, __ATOMIC_RELAXED) != pool->submit_head;
}

/* How many are under way then. */
static uint32_t help_with_all(struct source *source, struct allowed *allowed)
{
	struct slot_pool *pool = &source->pool;

	(void)slots_collect(pool);
	(void)harvest_finished(source, source->kind->in_any_order && pool->pending <= HELP_ALL,
			       allowed);
	return pool->pending;
}

/* The same of the only one, as a program has it that waits for each. It is in no list, and stays so
 * if it has not finished. */
static uint32_t help_with_one(struct source *source, struct slot *slot, struct allowed *allowed)
{
	if (!slot->kind->finished(slot) || !may_publish(allowed, slot->kind))
		return 1;
	source->pool.submit_head++;
	(void)harvest_slot(source, slot);
	return 0;
}

int sources_help(struct sources *sources, uint32_t most)
{
	struct allowed allowed = {.most = most};

	turn_may_wait(false);
	/* a short recording may end before the harvester's next pass */
	if (__atomic_load_n(&interceptor.stream->wanted[RTL_METADATA & 0xff], __ATOMIC_RELAXED) &
		    RTL_WANTED_AGAIN &&
	    !rtl_room(interceptor.stream, RTL_METADATA, RTL_PAYLOAD_MAX))
		announce(sources);
	if (__atomic_load_n(&added, __ATOMIC_RELAXED))
		sources_adopt(sources);
	for (struct source *source = sources->first; source && !allowed.left;
	     source = source->next_harvested) {
		struct slot *only;
		uint32_t left;

		if (!is_pending(source))
			continue;
		only = slots_only(&source->pool);
		left = only ? help_with_one(source, only, &allowed)
			    : help_with_all(source, &allowed);
		if (turn_left())
			return 0;
		__atomic_store_n(&source->unfinished, left, __ATOMIC_RELAXED);
	}
	return allowed.left;
}

bool sources_waiting(const struct sources *sources)
{
	if (__atomic_load_n(&added, __ATOMIC_RELAXED))
		return true;
	for (struct source *source = sources->first; source; source = source->next_harvested)
		if (is_pending(source) || __atomic_load_n(&source->dead, __ATOMIC_RELAXED))
			return true;
	return false;
}

void sources_abandon(struct sources *sources, const char *cause)
{
	for (struct source *source = sources->first; source; source = source->next_harvested) {
		settle(source);
		abandon(source, cause);
	}
	sources->first = NULL;
	sources->under_way = 0;
}
