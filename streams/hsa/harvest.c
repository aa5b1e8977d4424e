/* SPDX-License-Identifier: MIT */
/* The harvester: see harvest.h. */
#include "harvest.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agents.h"
#include "collector.h"
#include "copy_publish.h"
#include "publish.h"
#include "queue.h"
#include "relay.h"
#include "watch.h"

#define POLL_MIN_NS 100000u
#define POLL_MAX_NS 1000000u
#define NAP_NS      1000000u
#define SLEEP_NS    1000000000u
/* Passes without anything under way before it sleeps: some 20 ms, so that a program that waits
 * for each dispatch does not have to wake it for each. */
#define LINGER_PASSES 20
/* How many unfinished slots in a row end the look at a queue; now and then it goes on. */
#define LOOK_AHEAD     64
#define FULL_LOOK_EACH 8
/* Slots that a queue gets before it needs them. */
#define SLOTS_SOON 1024

_Atomic uint32_t harvest_idle;

static struct {
	/* Starting and stopping. */
	pthread_mutex_t lock;
	bool running; /* the lock's */
	/* Futexes and what they say; release or acq_rel by the writer, acquire by the reader. */
	_Atomic uint32_t wake_count;
	_Atomic uint32_t passes;
	_Atomic uint32_t pass_waiters; /* seq_cst, with passes: no waiter is overlooked */
	_Atomic uint32_t ended;
	/* rtl_clock_ns at which to stop; 0: not. Release, acquire. */
	_Atomic uint64_t stop_at_ns;
	/* New queues, a stack: release by harvest_add, acquire by the thread. */
	_Atomic(struct queue *) added;
	/* The thread's own. */
	struct queue *queues;
	uint32_t under_way;
	bool wanted; /* metadata, at the last pass */
} harvester = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
	const struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000),
					 .tv_nsec = (long)(timeout_ns % 1000000000)};

	(void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &timeout, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void harvest_wake(void)
{
	const int saved = errno;

	atomic_store_explicit(&harvest_idle, 0, memory_order_relaxed);
	atomic_fetch_add_explicit(&harvester.wake_count, 1, memory_order_acq_rel);
	futex_wake(&harvester.wake_count);
	errno = saved;
}

void harvest_add(struct queue *queue)
{
	struct queue *first = atomic_load_explicit(&harvester.added, memory_order_relaxed);

	do {
		queue->next_added = first;
		/* Release: the queue is complete. Pairs with adopt's acquire. */
	} while (!atomic_compare_exchange_weak_explicit(
		&harvester.added, &first, queue, memory_order_release, memory_order_relaxed));
	harvest_wake();
}

static void adopt(void)
{
	struct queue *queue =
		atomic_exchange_explicit(&harvester.added, NULL, memory_order_acquire);

	while (queue) {
		struct queue *next = queue->next_added;

		queue->next_harvested = harvester.queues;
		harvester.queues = queue;
		queue = next;
	}
}

/* Whether the dispatch has ended; then its times are in the slot. */
static bool slot_finished(struct slot *slot)
{
	const amd_signal_t *signal;

	switch (slot->kind) {
	case SLOT_OWN:
		signal = (const amd_signal_t *)slot->signal;
		/* The GPU writes the times first. */
		if (__atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) >= 1)
			return false;
		slot->begin_ticks = signal->start_ts;
		slot->end_ticks = signal->end_ts;
		return true;
	case SLOT_WATCH:
		return watch_finished(slot);
	default:
		/* Pairs with the release in watch.c's finish. */
		return atomic_load_explicit(&slot->done, memory_order_acquire);
	}
}

static void prefetch(const struct slot_pool *pool, uint32_t number)
{
	if (number == SLOT_NONE)
		return;
	__builtin_prefetch(&pool->slots[number]);
	__builtin_prefetch((const char *)&pool->slots[number] + 64);
}

/* Takes a slot out of the list; `before` is SLOT_NONE for the first. */
static void take_out(struct slot_pool *pool, uint32_t before, uint32_t number)
{
	const uint32_t next = pool->slots[number].next;

	if (before == SLOT_NONE)
		pool->first = next;
	else
		pool->slots[before].next = next;
	if (pool->last == number)
		pool->last = before;
	pool->pending--;
}

/* The slot's dispatch has ended: publishes it, and makes the slot free. */
static void harvest_slot(struct queue *queue, struct slot *slot)
{
	const uint64_t taken = atomic_load_explicit(&queue->taken, memory_order_relaxed);

	if (slot->packet_id >= taken)
		atomic_store_explicit(&queue->taken, slot->packet_id + 1, memory_order_relaxed);
	if (queue->copies)
		copy_publish_end(slot);
	else
		publish_end(queue, slot);
	slots_recycle(&queue->pool, slot);
}

/* Publishes what has finished; returns how many that were. */
static uint32_t harvest_finished(struct queue *queue, bool all)
{
	struct slot_pool *pool = &queue->pool;
	uint32_t before = SLOT_NONE, number = pool->first, finished = 0, in_a_row = 0;

	while (number != SLOT_NONE && (all || in_a_row < LOOK_AHEAD)) {
		struct slot *slot = &pool->slots[number];
		const uint32_t next = slot->next;

		prefetch(pool, next);
		if (slot_finished(slot)) {
			take_out(pool, before, number);
			harvest_slot(queue, slot);
			finished++;
			in_a_row = 0;
		} else {
			before = number;
			in_a_row++;
		}
		number = next;
	}
	return finished;
}

static void grow(struct queue *queue)
{
	struct slot_pool *pool = &queue->pool;

	if (pool->count < SLOTS_SOON)
		slots_grow(pool, SLOTS_SOON - pool->count);
	else if (slots_free(pool) < pool->count / 2)
		slots_grow(pool, pool->count);
}

/* Gives up what is left of a queue, and says how much that was. A relay's slot stays: the
 * runtime may still complete it. Returns whether nothing is left. */
static bool abandon(struct queue *queue, const char *cause)
{
	struct slot_pool *pool = &queue->pool;
	uint32_t before = SLOT_NONE, number = pool->first, lost = 0;
	bool empty = true;

	while (number != SLOT_NONE) {
		struct slot *slot = &pool->slots[number];
		const uint32_t next = slot->next;

		lost++;
		if (slot->kind == SLOT_RELAY) {
			empty = false;
			before = number;
		} else {
			if (slot->kind == SLOT_WATCH)
				watch_leave(slot);
			take_out(pool, before, number);
		}
		number = next;
	}
	if (lost)
		rtl_stream_count_missed(queue->copies ? collector.copies : collector.stream, cause,
					lost);
	return empty;
}

/* What mode lite has passed on since the last time: counting each by itself would cost the
 * submitting thread more than the rest. */
static void count_lite(struct queue *queue)
{
	const uint64_t lite = atomic_load_explicit(&queue->lite, memory_order_relaxed);

	if (lite == queue->lite_counted)
		return;
	rtl_stream_count_missed(collector.stream, "mode lite: dispatch has a completion signal",
				lite - queue->lite_counted);
	queue->lite_counted = lite;
}

/* Frees queues that have been destroyed. */
static void bury(void)
{
	for (struct queue **link = &harvester.queues; *link;) {
		struct queue *queue = *link;

		/* Pairs with the release in queue_destroy: what was submitted has been. */
		if (!atomic_load_explicit(&queue->dead, memory_order_acquire)) {
			link = &queue->next_harvested;
			continue;
		}
		*link = queue->next_harvested;
		(void)slots_collect(&queue->pool);
		(void)harvest_finished(queue, true);
		count_lite(queue);
		if (abandon(queue, "queue destroyed before the dispatch had finished"))
			queue_free(queue);
	}
}

/* Recording was started: what describes later events and was published while nobody listened comes
 * once more. */
static void announce(void)
{
	const bool wanted = rtl_enabled(collector.stream, RTL_METADATA);

	if (wanted && !harvester.wanted)
		agents_publish();
	harvester.wanted = wanted;
}

/* Once through all queues; whether something had finished or begun. */
static bool pass(uint32_t number)
{
	bool progress = false;

	announce();
	adopt();
	bury();
	relay_rescue();
	harvester.under_way = 0;
	for (struct queue *queue = harvester.queues; queue; queue = queue->next_harvested) {
		progress |= slots_collect(&queue->pool) != 0;
		progress |= harvest_finished(queue, number % FULL_LOOK_EACH == 0) != 0;
		count_lite(queue);
		grow(queue);
		harvester.under_way += queue->pool.pending;
		atomic_store_explicit(&queue->unfinished, queue->pool.pending,
				      memory_order_relaxed);
	}
	relay_grow();
	atomic_fetch_add_explicit(&harvester.passes, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&harvester.pass_waiters, memory_order_seq_cst))
		futex_wake(&harvester.passes);
	return progress;
}

static bool something_submitted(void)
{
	if (atomic_load_explicit(&harvester.added, memory_order_relaxed))
		return true;
	for (struct queue *queue = harvester.queues; queue; queue = queue->next_harvested) {
		if (atomic_load_explicit(&queue->pool.submit_tail, memory_order_relaxed) !=
			    queue->pool.submit_head ||
		    atomic_load_explicit(&queue->dead, memory_order_relaxed))
			return true;
	}
	return false;
}

/*
 * Sleeps until harvest_wake. The submitting thread stores its slot and then loads harvest_idle
 * without a fence between, so that its slot may become visible only after we have looked; but a
 * store is not held back for a millisecond: after such a nap, we either see the slot, or the
 * thread has seen that we sleep. (membarrier would do, too, but registering for it can take
 * tens of milliseconds.) The long sleep ends now and then, should this ever be wrong.
 */
static void sleep_idle(uint32_t seen)
{
	atomic_store_explicit(&harvest_idle, 1, memory_order_seq_cst);
	futex_wait(&harvester.wake_count, seen, NAP_NS);
	if (!something_submitted())
		futex_wait(&harvester.wake_count, seen, SLEEP_NS);
	atomic_store_explicit(&harvest_idle, 0, memory_order_relaxed);
}

static void abandon_all(void)
{
	for (struct queue *queue = harvester.queues; queue; queue = queue->next_harvested)
		(void)abandon(queue, "not finished at exit");
	harvester.queues = NULL;
}

/* Whether it is time to end: asked to, and nothing is under way or there is no more time. */
static bool is_over(bool progress)
{
	const uint64_t stop_at_ns =
		atomic_load_explicit(&harvester.stop_at_ns, memory_order_acquire);

	return stop_at_ns && ((!progress && !harvester.under_way) || rtl_clock_ns() >= stop_at_ns);
}

static void *run(void *data)
{
	uint64_t poll_ns = POLL_MIN_NS;
	uint32_t quiet = 0;

	(void)data;
	pthread_setname_np(pthread_self(), "rtl-hsa");
	relay_find_thread();
	harvester.wanted = rtl_enabled(collector.stream, RTL_METADATA);
	for (uint32_t number = 1;; number++) {
		const uint32_t seen =
			atomic_load_explicit(&harvester.wake_count, memory_order_acquire);
		const bool progress = pass(number);

		if (is_over(progress))
			break;
		quiet = progress || harvester.under_way ? 0 : quiet + 1;
		poll_ns = progress ? POLL_MIN_NS : poll_ns * 2;
		if (poll_ns > POLL_MAX_NS)
			poll_ns = POLL_MAX_NS;
		if (quiet > LINGER_PASSES)
			sleep_idle(seen);
		else
			futex_wait(&harvester.wake_count, seen, poll_ns);
	}
	abandon_all();
	atomic_store_explicit(&harvester.ended, 1, memory_order_release);
	futex_wake(&harvester.ended);
	return NULL;
}

/* With all signals blocked: handlers of the application run on its own threads. */
static int create_thread(void)
{
	sigset_t all, old;
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&thread, &attributes, run, NULL);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}

int harvest_start(void)
{
	int error = 0;

	pthread_mutex_lock(&harvester.lock);
	if (!harvester.running) {
		atomic_store_explicit(&harvester.ended, 0, memory_order_relaxed);
		atomic_store_explicit(&harvester.stop_at_ns, 0, memory_order_relaxed);
		error = create_thread();
		harvester.running = !error;
	}
	pthread_mutex_unlock(&harvester.lock);
	if (error)
		rtl_log(RTL_LEVEL_ERROR, "hsa", "cannot start a thread (%d)", error);
	return error ? RTL_ENOMEM : 0;
}

uint32_t harvest_passes(void)
{
	return atomic_load_explicit(&harvester.passes, memory_order_seq_cst);
}

void harvest_wait_pass(void)
{
	uint32_t passes;

	atomic_fetch_add_explicit(&harvester.pass_waiters, 1, memory_order_seq_cst);
	passes = harvest_passes();
	harvest_wake();
	futex_wait(&harvester.passes, passes, POLL_MAX_NS);
	atomic_fetch_sub_explicit(&harvester.pass_waiters, 1, memory_order_seq_cst);
}

void harvest_drain(struct queue *queue, uint32_t timeout_ms)
{
	const uint64_t deadline = rtl_clock_ns() + timeout_ms * 1000000ull;
	const uint32_t passes = harvest_passes();

	/* One pass may have been half done: the second one has seen all that was submitted. */
	while ((harvest_passes() - passes < 2 ||
		atomic_load_explicit(&queue->unfinished, memory_order_relaxed)) &&
	       rtl_clock_ns() < deadline && collector_on())
		harvest_wait_pass();
}

void harvest_stop(uint32_t timeout_ms)
{
	const uint64_t now = rtl_clock_ns();

	pthread_mutex_lock(&harvester.lock);
	if (harvester.running) {
		/* Time for the last pass, which may wait for room in a ring, is on top. */
		const uint64_t give_up = now + (timeout_ms + 500) * 1000000ull;

		atomic_store_explicit(&harvester.stop_at_ns, now + timeout_ms * 1000000ull + 1,
				      memory_order_release);
		harvest_wake();
		while (!atomic_load_explicit(&harvester.ended, memory_order_acquire) &&
		       rtl_clock_ns() < give_up)
			futex_wait(&harvester.ended, 0, 10000000);
		harvester.running = false;
	}
	pthread_mutex_unlock(&harvester.lock);
}

void harvest_forked(void)
{
	/* The lock may have been held in the parent: a new one. */
	pthread_mutex_init(&harvester.lock, NULL);
	harvester.running = false;
	atomic_store_explicit(&harvest_idle, 0, memory_order_relaxed);
}
