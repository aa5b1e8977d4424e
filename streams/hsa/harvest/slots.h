/* SPDX-License-Identifier: MIT */
/* Slots: each is one piece of work that was submitted to the GPU, until it has been published. See README.md.
 *
 * Each source has its own pool, with two rings between the submitting thread ("producer": one at a time, for a queue
 * the holder of the runtime's lock) and the harvester: free slots one way, submitted ones the other. A slot belongs to
 * one of the two at any time, so its members need no atomics; what other threads do to it goes through
 * signal_watch.c's locks and `done`.
 *
 * A slot that stays busy (a kernel that runs for ever) costs nothing but itself. The pool begins small. The harvester
 * doubles it when half of it is busy, up to its capacity and the limit for the process, and makes the signals then, so
 * that no dispatch waits for one.
 *
 * No locks. */
#pragma once

#include <hsa/amd_hsa_signal.h>
#include <rtl/stream.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slot;
struct source;

/* How the end of the work is seen. */
enum slot_signal {
	SLOT_OWN,     /* the packet carries the slot's own signal, which only the GPU changes */
	SLOT_WATCHED, /* it kept the application's signal, which we read: signal_watch.h */
	SLOT_OVER,    /* nothing more will be known of it: refused, or others share its signal */
};

/* A kind of work, with a way in which its end is seen. All is called by who makes a pass. */
struct slot_kind {
	enum slot_signal signal;
	bool is_copy; /* engines, too, leave times in its signal */
	/* Its event, at its end; NULL: it is none. */
	struct rtl_stream *const *stream;
	uint16_t end_type;
	uint32_t payload_bytes;
	/* Whether it has ended. Then its times are in the slot. */
	bool (*finished)(struct slot *slot);
	/* It has ended: publishes its event, if it is one and somebody wants it. */
	void (*publish)(struct source *source, struct slot *slot);
	/* It will not end: publishes that, if somebody wants it; NULL: no event. */
	void (*unfinished)(struct source *source, struct slot *slot);
	/* Gives it up; NULL: nothing is to be done. `looked_at`: its submitter still looks whether it has ended. */
	void (*abandon)(struct slot *slot, bool looked_at);
};

/* One kind of work, by how its end is seen; made with SLOT_KINDS (signal_watch.h). */
struct slot_kinds {
	struct slot_kind own, watched, over;
};

/* A fact (struct rtl_slot_fact) of a slot of a type; of an event's record, or of its payload of a type. */
#define SLOT_FACT_AT(slot_type, from_, to_, to_size, ...)                                          \
	{                                                                                          \
		.from = offsetof(slot_type, from_), .to = (to_),                                   \
		.from_bytes = sizeof(((slot_type *)0)->from_), .to_bytes = (to_size), __VA_ARGS__  \
	}
#define SLOT_RECORD_FACT(slot_type, from_, to_, ...)                                               \
	SLOT_FACT_AT(slot_type, from_, offsetof(struct rtl_record, to_), 8, __VA_ARGS__)
#define SLOT_FACT(slot_type, from_, type, to_, ...)                                                \
	SLOT_FACT_AT(slot_type, from_, sizeof(struct rtl_record) + offsetof(type, to_),            \
		     sizeof(((type *)0)->to_), __VA_ARGS__)
/* What a struct work_scope of the slot tells, if a flag of it says that there is one. */
#define SLOT_SCOPE_FACTS(slot_type, flag_, scope_, type)                                           \
	SLOT_FACT(slot_type, flag_, type, scope, .how = RTL_SLOT_IF),                              \
		SLOT_RECORD_FACT(slot_type, scope_.correlation, correlation),                      \
		SLOT_FACT(slot_type, scope_.scope, type, scope),                                   \
		SLOT_FACT(slot_type, scope_.scope_instance, type, scope_instance),                 \
		SLOT_FACT(slot_type, scope_.call_ticks, type, call_ns, .how = RTL_SLOT_TICKS),     \
		SLOT_FACT(slot_type, scope_.hip_stream, type, hip_stream),                         \
		SLOT_FACT(slot_type, scope_.range, type, range)

/* Which part of the signal a copy's times are from. */
enum slot_times { SLOT_TIMES_NONE, SLOT_TIMES_SDMA, SLOT_TIMES_KERNEL };

struct slot {
	const struct slot_kind *kind;
	uint64_t signal;         /* our own; made with the slot. 0: its pool's slots have none */
	uint64_t watched;        /* the application's; 0: none, or destroyed */
	struct slot *watch_next; /* in a bucket of signal_watch.c */
	struct slot *next;       /* in the harvester's list */
	union {
		/* From its end on; 0 both: not known. */
		struct {
			uint64_t begin, end;
		} ticks;
		/* Before, of one that is watched: the ends that the signal held already. */
		struct {
			uint64_t sdma_end, end;
		} before;
	};
	/* It has ended, with its times or without any. Release after they are written, acquire in the harvester. Not of
	 * SLOT_OWN, whose signal shows it. */
	bool done;
	bool looked_over; /* SLOT_WATCHED: it looked finished once, without new times */
	/* It, or a packet before it, begins when all earlier work of its queue has ended. */
	bool behind_barrier;
	bool in_scope;    /* its submitter was within a scope, of which the source knows more */
	bool spoilt;      /* SLOT_WATCHED: others share its signal, it gets no times */
	uint8_t times_by; /* of a copy: enum slot_times */
	uint8_t value;    /* SLOT_WATCHED: the signal's when it was entered, 1 or 0 */
	/* Work that rtl_slots_describe covers, under way. Release when submitted; acquire in other processes. */
	uint8_t under_way;
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct slot) == 64, "a cache line");

struct slot_pool {
	char *slots;
	struct slot **free_ring;
	struct slot **submit_ring;
	uint32_t capacity;   /* of the rings, and most slots; a power of two */
	uint32_t slot_bytes; /* with the source's own part; whole cache lines */
	bool bare;           /* its slots have no signals of their own */

	/* The producer's line. */
	uint32_t free_head __attribute__((aligned(64))); /* relaxed: only a hint to others */
	uint32_t submit_tail; /* release by the producer, acquire by the harvester */
	uint32_t free_tail_seen;

	/* The harvester's line. */
	uint32_t free_tail __attribute__((aligned(64))); /* release, acquire by the producer */
	uint32_t submit_head;
	uint32_t count;            /* slots that exist */
	uint32_t pending;          /* how many are in the list */
	struct slot *first, *last; /* submitted and not finished, in order of submission */
};

/* Makes a pool for `capacity` slots (rounded up to a power of two), with `initial` or fewer at once. `bare`: without
 * signals. 0, or RTL_ENOMEM. */
int slots_init(struct slot_pool *pool, uint32_t slot_bytes, uint32_t capacity, uint32_t initial,
	       bool bare);

/* Says what whoever reads the spool makes of its slots: rtl_slots_describe. */
void slots_describe(const struct slot_pool *pool, const struct rtl_stream *stream,
		    const struct rtl_slot_fact *facts, uint32_t count,
		    const struct rtl_record *event);

/* Gives all back. No slot may be in the hands of the GPU or of the runtime any more. */
void slots_fini(struct slot_pool *pool);

/* Harvester: up to `wanted` more slots. Returns how many it made. */
uint32_t slots_grow(struct slot_pool *pool, uint32_t wanted);

/* Harvester: moves what was submitted to the list first ... last. Returns how many. */
uint32_t slots_collect(struct slot_pool *pool);

/* Harvester: the only slot that was submitted, if the list is empty; else NULL. It stays there until the harvester adds
 * 1 to submit_head. */
static inline struct slot *slots_only(const struct slot_pool *pool)
{
	/* Pairs with the release in slot_submit: all that the producer wrote is seen. */
	return !pool->first && __atomic_load_n(&pool->submit_tail, __ATOMIC_ACQUIRE) ==
				       pool->submit_head + 1
		       ? pool->submit_ring[pool->submit_head & (pool->capacity - 1)]
		       : NULL;
}

/* A signal as slots have them, with value 1 after slot_signal_rearm; 0 if none can be had. */
uint64_t slot_signal_make(void);
void slot_signal_destroy(uint64_t signal); /* 0 is fine */

static inline void slot_signal_rearm(uint64_t handle)
{
	amd_signal_t *signal = (amd_signal_t *)handle;

	/* Relaxed: room.c may look, and whoever gets the slot gets it by a release. */
	__atomic_store_n(&signal->value, 1, __ATOMIC_RELAXED);
	signal->start_ts = 0;
	signal->end_ts = 0;
}

/* Harvester: a slot that the producer may take. */
static inline void slot_push_free(struct slot_pool *pool, struct slot *slot)
{
	const uint32_t tail = __atomic_load_n(&pool->free_tail, __ATOMIC_RELAXED);

	pool->free_ring[tail & (pool->capacity - 1)] = slot;
	/* Pairs with the acquire in slot_take. */
	__atomic_store_n(&pool->free_tail, tail + 1, __ATOMIC_RELEASE);
}

/* Harvester: makes a slot, which is in no list, ready for the next piece of work. */
static inline void slots_recycle(struct slot_pool *pool, struct slot *slot)
{
	if (slot->kind->signal == SLOT_OWN)
		slot_signal_rearm(slot->signal);
	slot_push_free(pool, slot);
}

/* Whether the GPU has not completed it. */
bool slot_signal_is_pending(uint64_t signal);

/* After a signal was seen: what the GPU wrote before it is seen, too. Acquire; with the GPU's release. */
static inline void slot_signal_acquire(void)
{
#ifdef __SANITIZE_THREAD__ /* knows no fences, nor what GPUs write */
	__atomic_signal_fence(__ATOMIC_ACQUIRE);
#else
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

/* Any thread, a hint: how many slots wait to be taken. */
static inline uint32_t slots_free(const struct slot_pool *pool)
{
	return __atomic_load_n(&pool->free_tail, __ATOMIC_RELAXED) -
	       __atomic_load_n(&pool->free_head, __ATOMIC_RELAXED);
}

/* Producer: a free slot, or NULL. */
static inline struct slot *slot_take(struct slot_pool *pool)
{
	const uint32_t mask = pool->capacity - 1;
	const uint32_t head = __atomic_load_n(&pool->free_head, __ATOMIC_RELAXED);

	if (__builtin_expect(head == pool->free_tail_seen, 0)) {
		/* Pairs with the release in slots_recycle: the slot's content is ours. */
		pool->free_tail_seen = __atomic_load_n(&pool->free_tail, __ATOMIC_ACQUIRE);
		if (head == pool->free_tail_seen)
			return NULL;
	}
	struct slot *slot = pool->free_ring[head & mask];

	__atomic_store_n(&pool->free_head, head + 1, __ATOMIC_RELAXED);
	if (head + 1 != pool->free_tail_seen) {
		const struct slot *after = pool->free_ring[(head + 1) & mask];

		__builtin_prefetch(after, 1);
		__builtin_prefetch(after + 1, 1);
	}
	return slot;
}

/* Producer: gives back the slot that it took last, whose place in the ring is still free. */
static inline void slot_untake(struct slot_pool *pool)
{
	const uint32_t head = __atomic_load_n(&pool->free_head, __ATOMIC_RELAXED);

	__atomic_store_n(&pool->free_head, head - 1, __ATOMIC_RELAXED);
}

/* Producer: a slot that was taken, filled, and is now the harvester's. */
static inline void slot_submit(struct slot_pool *pool, struct slot *slot)
{
	const uint32_t tail = __atomic_load_n(&pool->submit_tail, __ATOMIC_RELAXED);

	pool->submit_ring[tail & (pool->capacity - 1)] = slot;
	/* Pairs with the acquire in slots_collect. */
	__atomic_store_n(&pool->submit_tail, tail + 1, __ATOMIC_RELEASE);
}

/* Parts of kinds. */
bool slot_own_finished(struct slot *slot);
bool slot_is_done(struct slot *slot);

/* Nothing is known of it, and nothing will be. Before it is submitted, which releases it. */
static inline void slot_set_over(struct slot *slot)
{
	slot->ticks.begin = slot->ticks.end = 0;
	slot->times_by = SLOT_TIMES_NONE;
	__atomic_store_n(&slot->done, true, __ATOMIC_RELAXED);
}
