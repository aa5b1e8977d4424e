/* SPDX-License-Identifier: MIT */
#include "slabs.h"

#include "settings.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLIENTS_MAX  8
#define SLABS        100000u
#define SLABS_BEHIND 4 /* as many later slabs wait for a slab's turn */

static _Atomic(struct hip_record *) *slabs; /* SLABS of them; it never moves */
static _Atomic uint64_t slots;              /* taken; relaxed: a count */
static _Atomic uint32_t chunk_ids;          /* relaxed: a count of its own, as the profiler's */
static uint64_t slabs_made;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t due = PTHREAD_COND_INITIALIZER;
static struct {
	hip_chunk_callback *callback;
	void *arg;
} clients[CLIENTS_MAX];
static unsigned client_count;
static pid_t client_pid;
static uint64_t handed_out; /* slabs; the lock's, as the next one */
static uint64_t reached;    /* the last slab of which work has completed */

/* Under the lock. */
static struct hip_record *make_slab(uint64_t number)
{
	size_t size = settings.slab * sizeof(struct hip_record);
	struct hip_record *slab = malloc(size);

	if (!slab)
		abort();
	memset(slab, settings.clean ? 0 : 0xa5, size);
	if (number >= slabs_made)
		slabs_made = number + 1;
	/* release: with the acquire in slabs_record and of who reads the array */
	atomic_store_explicit(&slabs[number], slab, memory_order_release);
	return slab;
}

/* Whoever comes first, under the lock. */
static void make_array(void)
{
	if (!slabs)
		slabs = calloc(SLABS, sizeof(*slabs));
	if (!slabs)
		abort();
}

static struct hip_record *slab_of(uint64_t slot)
{
	uint64_t number = slot / settings.slab % SLABS;
	struct hip_record *slab;

	pthread_mutex_lock(&lock);
	make_array();
	slab = atomic_load_explicit(&slabs[number], memory_order_relaxed);
	if (!slab)
		slab = make_slab(number);
	pthread_mutex_unlock(&lock);
	return slab;
}

uint64_t slabs_take_slot(void)
{
	uint64_t slot = atomic_fetch_add_explicit(&slots, 1, memory_order_relaxed);
	struct hip_record *record = &slab_of(slot)[slot % settings.slab];

	memset(record, 0, sizeof(*record));
	record->chunk_id = atomic_fetch_add_explicit(&chunk_ids, 1, memory_order_relaxed);
	return slot;
}

struct hip_record *slabs_record(uint64_t slot)
{
	struct hip_record *slab;

	if (!slabs)
		return NULL;
	/* acquire: with make_slab's release */
	slab = atomic_load_explicit(&slabs[slot / settings.slab % SLABS], memory_order_acquire);
	return slab ? &slab[slot % settings.slab] : NULL;
}

uint64_t slabs_total(void)
{
	return atomic_load_explicit(&slots, memory_order_relaxed);
}

/* The first piece of work stands in the record; `internal` is the last one of the list. */
static void append(struct hip_record *record, const struct hip_gpu_op *op)
{
	if (!record->gpu.count) {
		struct hip_gpu_op launch = record->gpu; /* grid, arguments: before the launch */

		record->gpu = *op;
		record->gpu.next = NULL;
		if ((op->flags & 7) == HIP_OP_DISPATCH) {
			memcpy(record->gpu.grid, launch.grid, sizeof(launch.grid));
			memcpy(record->gpu.block, launch.block, sizeof(launch.block));
			record->gpu.args = launch.args;
			record->gpu.args_size = launch.args_size;
		} else if ((op->flags & 7) == HIP_OP_COPY) {
			record->gpu.src = record->memory2;
			record->gpu.dst = record->memory1;
		}
		record->gpu.count = 1;
		record->internal = (uint64_t)(uintptr_t)&record->gpu;
		/* release: a reader that sees the flag sees the work */
		__atomic_fetch_or(&record->flags, HIP_RECORD_HAS_GPU, __ATOMIC_RELEASE);
		return;
	}
	struct hip_gpu_op *node = malloc(sizeof(*node));
	struct hip_gpu_op *last = (struct hip_gpu_op *)(uintptr_t)record->internal;
	if (!node)
		abort();
	*node = *op;
	node->next = NULL;
	node->count = 0;
	record->internal = (uint64_t)(uintptr_t)node;
	/* release: with readers of the list, who know no lock */
	__atomic_store_n(&last->next, node, __ATOMIC_RELEASE);
	__atomic_fetch_add(&record->gpu.count, 1, __ATOMIC_RELEASE);
}

void slabs_add_op(uint64_t slot, const struct hip_gpu_op *op)
{
	pthread_mutex_lock(&lock);
	struct hip_record *record = slabs_record(slot);
	if (record)
		append(record, op);
	if (slot / settings.slab > reached)
		reached = slot / settings.slab;
	if (client_count && reached >= handed_out + SLABS_BEHIND)
		pthread_cond_signal(&due);
	pthread_mutex_unlock(&lock);
}

static void free_parts(struct hip_record *slab, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		struct hip_gpu_op *node = slab[i].gpu.next;

		if ((slab[i].gpu.flags & 7) == HIP_OP_DISPATCH)
			free(slab[i].gpu.args);
		while (node) {
			struct hip_gpu_op *next = node->next;

			free(node);
			node = next;
		}
	}
}

/* Calls all clients, without the lock. */
static void hand_out(struct hip_record *slab, uint64_t count, uint64_t number)
{
	for (unsigned i = 0; i < client_count; i++)
		clients[i].callback(slab, (uint32_t)count, (uint32_t)number, clients[i].arg);
}

static void *run_clients(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		while (reached < handed_out + SLABS_BEHIND)
			pthread_cond_wait(&due, &lock);
		uint64_t number = handed_out++;
		struct hip_record *slab = slabs_record(number * settings.slab);
		pthread_mutex_unlock(&lock);
		if (!slab)
			continue;
		hand_out(slab, settings.slab, number);
		pthread_mutex_lock(&lock);
		/* relaxed: a reader that still has the pointer finds memory that stays */
		atomic_store_explicit(&slabs[number % SLABS], NULL, memory_order_relaxed);
		free_parts(slab, settings.slab);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int slabs_add_client(hip_chunk_callback *callback, void *arg)
{
	pthread_t thread;
	int error = 0;

	if (!callback)
		return 1; /* hipErrorInvalidValue: nobody is unregistered */
	pthread_mutex_lock(&lock);
	if (client_count == CLIENTS_MAX) {
		error = 2; /* hipErrorOutOfMemory */
	} else {
		clients[client_count].callback = callback;
		clients[client_count++].arg = arg;
		client_pid = getpid();
		if (client_count == 1) {
			error = pthread_create(&thread, NULL, run_clients, NULL) ? 2 : 0;
			if (!error)
				pthread_detach(thread);
		}
	}
	pthread_mutex_unlock(&lock);
	return error;
}

void slabs_get(const struct hip_record *const **chunks, size_t *count, size_t *chunk_size,
	       size_t *total)
{
	pthread_mutex_lock(&lock);
	make_array();
	pthread_mutex_unlock(&lock);
	*chunks = (const struct hip_record *const *)(void *)slabs;
	*chunk_size = settings.slab;
	*total = slabs_total();
	*count = slabs_made;
}

void slabs_end(void)
{
	if (!client_count)
		return;
	if (getpid() != client_pid)
		abort();
	uint64_t total = slabs_total(), count = total % settings.slab;
	struct hip_record *slab = slabs_record(total / settings.slab * settings.slab);
	if (slab && count)
		hand_out(slab, count, total / settings.slab);
}
