/* SPDX-License-Identifier: MIT */
/* See origins.h. */
#include "origins.h"

#include <pthread.h>
#include <rtl/rtl.h>
#include <rtl/scope.h>
#include <sys/mman.h>

#include "../common/cause.h"

/* Queues that can be noted at a time, more than a GPU has; the others' packets go by who rings. */
#define QUEUES_MAX 256u

/* Open addressing by the queue's address. The place of a queue that is gone keeps its address, so
 * that what lies behind is found, and has no origins: the next queue that comes by takes it. */
static struct {
	_Atomic(const hsa_queue_t *) queue;
	/* Release when it is complete, acquire where it is used. */
	_Atomic(struct origin *) origins;
	_Atomic uint32_t mask;
} table[QUEUES_MAX];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER; /* of who adds and removes */
static bool hooked;

typedef uint64_t add_write_index_fn(const hsa_queue_t *queue, uint64_t value);

static struct {
	add_write_index_fn *scacq_screl, *scacquire, *relaxed, *screlease;
} next;

/* ---- noting */

void origin_fill(struct origin *origin)
{
	struct rtl_scope scope;

	scope.struct_size = sizeof(scope);
	origin->in_scope = !rtl_scope_current(&scope);
	origin->tid = rtl_thread_id();
	if (!origin->in_scope)
		return;
	origin->correlation = __builtin_expect(thread_cause.correlation != 0, 0)
				      ? thread_cause.correlation
				      : scope.correlation;
	origin->scope = scope.uid;
	origin->scope_instance = scope.instance;
	origin->call_ticks = thread_cause.call_ticks;
	origin->stream = thread_cause.stream;
	origin->range = thread_cause.range;
}

static inline unsigned home(const hsa_queue_t *queue)
{
	return (unsigned)(((uintptr_t)queue * 0x9e3779b97f4a7c15u) >> 56) % QUEUES_MAX;
}

static inline struct origin *find(const hsa_queue_t *queue, uint32_t *mask)
{
	for (unsigned i = 0, at = home(queue); i < QUEUES_MAX; i++, at = (at + 1) % QUEUES_MAX) {
		const hsa_queue_t *there =
			atomic_load_explicit(&table[at].queue, memory_order_relaxed);

		if (there == queue) {
			struct origin *origins =
				atomic_load_explicit(&table[at].origins, memory_order_acquire);

			*mask = atomic_load_explicit(&table[at].mask, memory_order_relaxed);
			return origins;
		}
		if (!there)
			break;
	}
	return NULL;
}

static inline uint64_t note(const hsa_queue_t *queue, uint64_t first, uint64_t count)
{
	uint32_t mask = 0;
	struct origin *origins = find(queue, &mask);

	for (uint64_t i = 0; origins && i < count && i <= mask; i++) {
		struct origin *origin = &origins[(first + i) & mask];

		origin_fill(origin);
		atomic_store_explicit(&origin->number, first + i + 1, memory_order_release);
	}
	return first;
}

static uint64_t scacq_screl(const hsa_queue_t *queue, uint64_t value)
{
	return note(queue, next.scacq_screl(queue, value), value);
}

static uint64_t scacquire(const hsa_queue_t *queue, uint64_t value)
{
	return note(queue, next.scacquire(queue, value), value);
}

static uint64_t relaxed(const hsa_queue_t *queue, uint64_t value)
{
	return note(queue, next.relaxed(queue, value), value);
}

static uint64_t screlease(const hsa_queue_t *queue, uint64_t value)
{
	return note(queue, next.screlease(queue, value), value);
}

static bool hook(struct root_table *root, enum core_entry number, add_write_index_fn *ours,
		 add_write_index_fn **theirs)
{
	void **entry = table_core(root->core, number);

	if (!entry || !*entry)
		return false;
	*(void **)theirs = *entry;
	*entry = (void *)ours;
	return true;
}

void origins_hook(struct root_table *root)
{
	hooked = hook(root, CORE_QUEUE_ADD_WRITE_INDEX_SCACQ_SCREL, scacq_screl,
		      &next.scacq_screl) &&
		 hook(root, CORE_QUEUE_ADD_WRITE_INDEX_SCACQUIRE, scacquire, &next.scacquire) &&
		 hook(root, CORE_QUEUE_ADD_WRITE_INDEX_RELAXED, relaxed, &next.relaxed) &&
		 hook(root, CORE_QUEUE_ADD_WRITE_INDEX_SCRELEASE, screlease, &next.screlease);
}

/* ---- queues */

static bool put(const hsa_queue_t *queue, struct origin *origins)
{
	for (unsigned i = 0, at = home(queue); i < QUEUES_MAX; i++, at = (at + 1) % QUEUES_MAX) {
		if (atomic_load_explicit(&table[at].origins, memory_order_relaxed))
			continue;
		atomic_store_explicit(&table[at].mask, queue->size - 1, memory_order_relaxed);
		atomic_store_explicit(&table[at].queue, queue, memory_order_relaxed);
		atomic_store_explicit(&table[at].origins, origins, memory_order_release);
		return true;
	}
	return false;
}

struct origin *origins_add(const hsa_queue_t *queue)
{
	struct origin *origins;
	bool good;

	if (!hooked)
		return NULL;
	origins = mmap(NULL, (size_t)queue->size * sizeof(*origins), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (origins == MAP_FAILED)
		return NULL;
	pthread_mutex_lock(&table_lock);
	good = put(queue, origins);
	pthread_mutex_unlock(&table_lock);
	if (good)
		return origins;
	origins_free(origins, queue->size);
	return NULL;
}

void origins_remove(const hsa_queue_t *queue)
{
	pthread_mutex_lock(&table_lock);
	for (unsigned at = 0; at < QUEUES_MAX; at++)
		if (atomic_load_explicit(&table[at].queue, memory_order_relaxed) == queue)
			atomic_store_explicit(&table[at].origins, NULL, memory_order_relaxed);
	pthread_mutex_unlock(&table_lock);
}

void origins_free(struct origin *origins, uint32_t packets)
{
	if (origins)
		munmap(origins, (size_t)packets * sizeof(*origins));
}
