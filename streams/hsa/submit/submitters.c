/* SPDX-License-Identifier: MIT */
#include "submitters.h"

#include <pthread.h>
#include <rtl/rtl.h>
#include <sched.h>
#include <stdbool.h>
#include <time.h>

#include "../../common/reserve.h"
#include "../../common/shared.h"
#include "../../common/threads.h"
#include "interceptor.h"
#include "queue.h"

/* Queues that can be noted at a time, more than a GPU has; the others' packets go by who rings. */
#define QUEUES_MAX 256u

/* Open addressing by the queue's address. The place of a queue that is gone keeps its address, so
 * that what lies behind is found, and has no submitters: the next queue that comes by takes it. */
static struct {
	const hsa_queue_t *queue;
	/* Release when it is complete, acquire where it is used. */
	struct submitter_note *notes;
	uint32_t mask;
} table[QUEUES_MAX];
STATIC_LOCK(table_lock); /* of who adds and removes */
static bool noting;

typedef uint64_t add_write_index_fn(const hsa_queue_t *queue, uint64_t value);

static struct {
	add_write_index_fn *scacq_screl, *scacquire, *relaxed, *screlease;
} next;

/* ---- noting */

__thread uint32_t submitter_tid;

bool submitter_scope(struct work_scope *within)
{
	struct rtl_scope scope;

	scope.struct_size = sizeof(scope);
	if (rtl_scope_current(&scope))
		return false;
	*within = (struct work_scope){
		.correlation = __builtin_expect(thread_context.correlation != 0, 0)
				       ? thread_context.correlation
				       : scope.correlation,
		.scope = scope.uid,
		.scope_instance = scope.instance,
		.call_ticks = thread_context.call_ticks,
		.hip_stream = thread_context.hip_stream,
		.range = thread_context.range,
	};
	return true;
}

void submitter_fill(struct submitter *submitter)
{
	submitter->tid = rtl_thread_id();
	submitter->in_scope = submitter_scope(&submitter->scope);
}

static inline unsigned home(const hsa_queue_t *queue)
{
	return (unsigned)(((uintptr_t)queue * 0x9e3779b97f4a7c15u) >> 56) % QUEUES_MAX;
}

static inline struct submitter_note *find(const hsa_queue_t *queue, uint32_t *mask)
{
	for (unsigned i = 0, at = home(queue); i < QUEUES_MAX; i++, at = (at + 1) % QUEUES_MAX) {
		const hsa_queue_t *there = __atomic_load_n(&table[at].queue, __ATOMIC_RELAXED);

		if (there == queue) {
			struct submitter_note *notes =
				__atomic_load_n(&table[at].notes, __ATOMIC_ACQUIRE);

			*mask = __atomic_load_n(&table[at].mask, __ATOMIC_RELAXED);
			return notes;
		}
		if (!there)
			break;
	}
	return NULL;
}

/* Release, after the number's: with the acquire in submitters_find. */
#define STORE(to, from) __atomic_store_n(&(to), from, __ATOMIC_RELEASE)

static inline __attribute__((always_inline)) void
write_note(struct submitter_note *note, uint64_t index, const struct submitter *from)
{
	struct submitter *to = &note->submitter;

	__atomic_store_n(&note->number, 0, __ATOMIC_RELAXED);
	STORE(to->tid, from->tid);
	STORE(to->in_scope, from->in_scope);
	if (from->in_scope) {
		STORE(to->scope.correlation, from->scope.correlation);
		STORE(to->scope.scope, from->scope.scope);
		STORE(to->scope.scope_instance, from->scope.scope_instance);
		STORE(to->scope.call_ticks, from->scope.call_ticks);
		STORE(to->scope.hip_stream, from->scope.hip_stream);
		STORE(to->scope.range, from->scope.range);
	}
	STORE(note->number, index + 1);
}

static inline uint64_t note(const hsa_queue_t *queue, uint64_t first, uint64_t count)
{
	uint32_t mask = 0;
	struct submitter_note *notes = work_wanted() ? find(queue, &mask) : NULL;
	struct submitter submitter;

	if (!notes)
		return first;
	/* In a child of fork it would be another, but the interceptor has ended there. */
	if (__builtin_expect(!submitter_tid, 0))
		submitter_tid = rtl_thread_id();
	submitter.tid = submitter_tid;
	submitter.in_scope = submitter_scope(&submitter.scope);
	if (__builtin_expect(count == 1, 1)) {
		write_note(&notes[first & mask], first, &submitter);
		return first;
	}
	for (uint64_t i = 0; i < count && i <= mask; i++)
		write_note(&notes[(first + i) & mask], first + i, &submitter);
	return first;
}

#define ADD_WRITE_INDEX(order)                                                                     \
	static uint64_t order(const hsa_queue_t *queue, uint64_t value)                            \
	{                                                                                          \
		pending_bound(queue, value);                                                       \
		return note(queue, next.order(queue, value), value);                               \
	}
ADD_WRITE_INDEX(scacq_screl)
ADD_WRITE_INDEX(scacquire)
ADD_WRITE_INDEX(relaxed)
ADD_WRITE_INDEX(screlease)

#define HOOK(order)                                                                                \
	table_hook(root, ENTRY_hsa_queue_add_write_index_##order, (void *)order, &next.order)

void submitters_hook(struct root_table *root, bool notes)
{
	noting = HOOK(scacq_screl) && HOOK(scacquire) && HOOK(relaxed) && HOOK(screlease) && notes;
}

/* ---- queues */

static bool put(const hsa_queue_t *queue, struct submitter_note *notes)
{
	HOLD_LOCK(&table_lock);
	for (unsigned i = 0, at = home(queue); i < QUEUES_MAX; i++, at = (at + 1) % QUEUES_MAX) {
		if (__atomic_load_n(&table[at].notes, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&table[at].mask, submitters_count(queue->size) - 1,
				 __ATOMIC_RELAXED);
		__atomic_store_n(&table[at].queue, queue, __ATOMIC_RELAXED);
		__atomic_store_n(&table[at].notes, notes, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

static size_t notes_size(uint32_t packets)
{
	return (size_t)submitters_count(packets) * sizeof(struct submitter_note);
}

struct submitter_note *submitters_add(const hsa_queue_t *queue)
{
	struct submitter_note *notes = noting ? memory_reserve(notes_size(queue->size)) : NULL;

	if (!notes || put(queue, notes))
		return notes;
	submitters_free(notes, queue->size);
	return NULL;
}

void submitters_remove(const hsa_queue_t *queue)
{
	HOLD_LOCK(&table_lock);
	for (unsigned at = 0; at < QUEUES_MAX; at++)
		if (__atomic_load_n(&table[at].queue, __ATOMIC_RELAXED) == queue)
			__atomic_store_n(&table[at].notes, NULL, __ATOMIC_RELAXED);
}

void submitters_free(struct submitter_note *notes, uint32_t packets)
{
	if (notes)
		munmap(notes, notes_size(packets));
}

/* ---- packets whose places are taken */

#define WAIT_NS 1000000000u

bool pending_is_bounded;

/*
 * Where somebody has waited in vain: the queue, and what it had processed. Nobody waits there again
 * until it has gone on. Relaxed: a hint, and a wait more or less is no harm.
 */
static struct {
	const hsa_queue_t *queue;
	uint64_t read;
} stuck;

void pending_init(struct root_table *root)
{
	pending_is_bounded = table_entry(root, ENTRY_hsa_amd_ais_file_read) != NULL;
}

static bool is_stuck(const hsa_queue_t *queue, uint64_t read)
{
	return __atomic_load_n(&stuck.queue, __ATOMIC_RELAXED) == queue &&
	       __atomic_load_n(&stuck.read, __ATOMIC_RELAXED) == read;
}

static void give_up(const hsa_queue_t *queue, uint64_t read)
{
	static bool said;

	__atomic_store_n(&stuck.queue, queue, __ATOMIC_RELAXED);
	__atomic_store_n(&stuck.read, read, __ATOMIC_RELAXED);
	if (!__atomic_test_and_set(&said, __ATOMIC_RELAXED))
		rtl_log(RTL_LEVEL_WARNING, "hsa",
			"a queue has taken no packet for a second, with %u places taken in it: "
			"this runtime may crash when more than %u become valid at once",
			PENDING_MOST, PENDING_BUFFER);
}

/* A yield first: mostly a thread that is about to fill its place lacks the processor. */
static void pause_for(unsigned round)
{
	if (round < 16)
		sched_yield();
	else
		nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

__attribute__((cold, noinline)) void pending_wait(const hsa_queue_t *queue, uint64_t count)
{
	const uint64_t begin = rtl_clock_ns();
	uint64_t read, pending;

	if (!queue_is_intercepted(queue, PENDING_BUFFER))
		return;
	for (unsigned round = 0;; round++) {
		pending = pending_count(queue, &read);
		if (!pending || pending + count <= PENDING_MOST || is_stuck(queue, read))
			return;
		if (rtl_clock_ns() - begin >= WAIT_NS)
			break;
		interceptor.hsa.signal_store(queue->doorbell_signal,
					     (hsa_signal_value_t)(read + pending - 1));
		pause_for(round);
	}
	give_up(queue, read);
}
