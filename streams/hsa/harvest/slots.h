/* SPDX-License-Identifier: MIT */
/*
 * Slots: the record of a dispatch (or of a barrier packet, where these are wanted) or a copy from
 * its submission until it is published; a dispatch's with a signal of our own that the GPU can
 * complete in the application's stead.
 *
 * Each queue has a pool of its own. Two rings of slot numbers go between the queue's submitting
 * thread ("producer": whoever holds the runtime's lock of the queue, one at a time) and the
 * harvester: free slots one way, submitted ones the other. A slot belongs to one of the two at
 * any time, so that its members need no atomics; what the application's threads and the
 * runtime's handler thread do to it goes through signal_watch.c's locks and `done`.
 *
 * A slot that stays busy (a kernel that runs for ever) costs nothing but itself. The pool
 * begins small, and the harvester doubles it when half of it is busy, up to the capacity and
 * the limit for the process. Signals are made then, never while dispatches wait for one.
 *
 * Locks: none between producer and harvester. The cache of signals of destroyed queues has one
 * of its own, taken by slots_grow and slots_fini.
 */
#ifndef STREAMS_HSA_SLOTS_H
#define STREAMS_HSA_SLOTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel;

enum slot_kind {
	SLOT_OWN,   /* the packet carries the slot's own signal */
	SLOT_WATCH, /* the packet kept the application's signal, which we read: signal_watch.h */
	SLOT_RELAY, /* a relay's signal took the place of the application's: relay.h */
	SLOT_OVER,  /* a copy of which nothing more will be known: refused, or without times */
};

enum slot_what {
	SLOT_DISPATCH,
	SLOT_BARRIER, /* grid[0]: enum rtl_hsa_barrier_kind, grid[1]: dependencies */
	SLOT_SILENT,  /* no event: its relay keeps signals in order */
};

struct slot {
	union {
		uint64_t signal; /* our own; made with the slot */
		struct {
			uint32_t engine, parts; /* of a copy: its pool has no signals */
		};
	};
	uint64_t watched;      /* the application's signal; 0: none, or destroyed */
	uint64_t submit_ticks; /* rtl_ticks */
	uint64_t packet_id;    /* of a copy: its number */
	union {
		struct {
			uint64_t kernel_object;
			/* Of a dispatch; so are the sizes below but for grid. */
			const struct kernel *kernel;
		};
		struct {
			uint64_t src, dst; /* of a copy */
		};
	};
	uint64_t correlation;
	struct slot *watch_next; /* in a bucket of signal_watch.c */

	uint32_t submit_tid;
	uint32_t flags; /* enum rtl_hsa_dispatch_flags or rtl_hsa_copy_flags */
	union {
		struct {
			uint32_t group_bytes;
			uint32_t private_bytes;
		};
		uint64_t bytes; /* of a copy */
	};
	uint32_t grid[3]; /* of a copy: extents */
	union {
		uint16_t workgroup[3];
		struct {
			uint16_t src_node, dst_node;      /* of a copy */
			uint8_t direction, copy_function; /* and enum rtl_hsa_copy_... */
		};
	};
	uint8_t kind; /* enum slot_kind */
	/* begin and end are known (or never will be). Release after writing them, acquire in the
	 * harvester; for SLOT_OWN the signal's value says it instead. */
	atomic_bool done;
	uint32_t next;  /* in the harvester's list, SLOT_NONE at its end */
	uint16_t looks; /* SLOT_WATCH: how often it looked finished without new times */
	uint16_t node;  /* of its GPU; for slots in signal_watch.c's table */
	bool is_copy;
	uint8_t what; /* enum slot_what, unless it is a copy */
	bool in_scope;
	/* Submitted earlier packets of its queue have ended when it begins, or it is behind a
	 * packet of which that is true. */
	bool behind_barrier;
	/* Until it is done, of a copy: of SLOT_WATCH what the engine's end in the signal was
	 * before, of SLOT_RELAY its relay. */
	uint64_t begin_ticks;
	/* Until it is done, of SLOT_WATCH what the signal held before, of SLOT_RELAY the latest end
	 * that the signal has got from another relay meanwhile. Of a refused copy the status. */
	uint64_t end_ticks;

	/* Only if in_scope: what the submitting thread was within. */
	uint64_t scope;
	uint64_t scope_instance;
	uint64_t call_ticks; /* see common/call_context.h */
	uint64_t hip_stream;
	uint64_t range;
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct slot, scope) == 128, "two lines that each dispatch needs");

#define SLOT_NONE UINT32_MAX

struct slot_pool {
	struct slot *slots;
	uint32_t *free_ring;
	uint32_t *submit_ring;
	uint32_t capacity; /* of the rings, and most slots; a power of two */
	bool bare;         /* its slots have no signals of their own */

	/* The producer's line. */
	_Atomic uint32_t free_head
		__attribute__((aligned(64))); /* relaxed: only a hint to others */
	_Atomic uint32_t submit_tail; /* release by the producer, acquire by the harvester */
	uint32_t free_tail_seen;

	/* The harvester's line. */
	_Atomic uint32_t free_tail
		__attribute__((aligned(64))); /* release, acquire by the producer */
	uint32_t submit_head;
	uint32_t count;       /* slots that exist */
	uint32_t first, last; /* submitted and not finished, in order of submission */
	uint32_t pending;     /* how many these are */
};

/* Makes a pool for at most `capacity` slots (rounded up to a power of two), `initial` at once.
 * 0, or RTL_ENOMEM; a pool with fewer slots than asked for is fine. */
int slots_init(struct slot_pool *pool, uint32_t capacity, uint32_t initial);

/* The same without signals, for copies. */
int slots_init_bare(struct slot_pool *pool, uint32_t capacity, uint32_t initial);

/* Gives all back. No slot may be in the hands of the GPU or of the runtime any more. */
void slots_fini(struct slot_pool *pool);

/* The runtime has ended, and the signals with it: the pool's slots do not count any more. Its
 * memory is left to whoever may still look at it. */
void slots_forget(const struct slot_pool *pool);

/* Harvester: up to `wanted` more slots. Returns how many it made. */
uint32_t slots_grow(struct slot_pool *pool, uint32_t wanted);

/* Harvester: moves what was submitted to the list first ... last. Returns how many. */
uint32_t slots_collect(struct slot_pool *pool);

/* Harvester: makes a slot, which is in no list, ready for the next dispatch. */
void slots_recycle(struct slot_pool *pool, struct slot *slot);

/* A signal as slots have them, with value 1 after slot_signal_rearm; 0 if none can be had. And
 * gives it back. */
uint64_t slot_signal_make(void);
void slot_signal_rearm(uint64_t signal);
void slot_signal_keep(uint64_t signal);

/* Whether the GPU has not completed it. */
bool slot_signal_is_pending(uint64_t signal);

/* Destroys the signals that were kept for later: the runtime is about to end. */
void slots_free_signals(void);

/* The same where it has ended. */
void slots_forget_signals(void);

/* Any thread, a hint: how many slots wait to be taken. */
static inline uint32_t slots_free(const struct slot_pool *pool)
{
	return atomic_load_explicit(&pool->free_tail, memory_order_relaxed) -
	       atomic_load_explicit(&pool->free_head, memory_order_relaxed);
}

/* Producer: a free slot, or NULL. */
static inline struct slot *slot_take(struct slot_pool *pool)
{
	const uint32_t mask = pool->capacity - 1;
	const uint32_t head = atomic_load_explicit(&pool->free_head, memory_order_relaxed);

	if (__builtin_expect(head == pool->free_tail_seen, 0)) {
		/* Pairs with the release in slots_recycle: the slot's content is ours. */
		pool->free_tail_seen = atomic_load_explicit(&pool->free_tail, memory_order_acquire);
		if (head == pool->free_tail_seen)
			return NULL;
	}
	struct slot *slot = &pool->slots[pool->free_ring[head & mask]];

	atomic_store_explicit(&pool->free_head, head + 1, memory_order_relaxed);
	if (head + 1 != pool->free_tail_seen) {
		const struct slot *after = &pool->slots[pool->free_ring[(head + 1) & mask]];

		__builtin_prefetch(after, 1);
		__builtin_prefetch((const char *)after + 64, 1);
	}
	return slot;
}

/* Producer: gives back the slot that it took last. Its place in the ring is still its own: the
 * ring has room for all slots. */
static inline void slot_untake(struct slot_pool *pool)
{
	const uint32_t head = atomic_load_explicit(&pool->free_head, memory_order_relaxed);

	atomic_store_explicit(&pool->free_head, head - 1, memory_order_relaxed);
}

/* Producer: a slot that was taken, filled, and is now the harvester's. */
static inline void slot_submit(struct slot_pool *pool, struct slot *slot)
{
	const uint32_t tail = atomic_load_explicit(&pool->submit_tail, memory_order_relaxed);

	pool->submit_ring[tail & (pool->capacity - 1)] = (uint32_t)(slot - pool->slots);
	/* Pairs with the acquire in slots_collect. */
	atomic_store_explicit(&pool->submit_tail, tail + 1, memory_order_release);
}

#endif
