/* SPDX-License-Identifier: MIT */
#include "pending.h"

#include <rtl/rtl.h>
#include <sched.h>
#include <stdbool.h>
#include <time.h>

#include "interceptor.h"
#include "queue.h"

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
	pending_is_bounded = table_amd(root->amd, AMD_AIS_FILE_READ) != NULL;
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
