/* SPDX-License-Identifier: MIT */
/* The harvester, a thread: see harvest.h. What it does with the queues: harvest_queues.h. */
#include "harvest.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../common/fork_lock.h"
#include "collector.h"
#include "harvest_queues.h"
#include "queue.h"
#include "relay.h"

#define POLL_MIN_NS 100000u
#define POLL_MAX_NS 1000000u
#define NAP_NS      1000000u
#define SLEEP_NS    1000000000u
/* Time for the last pass, which may wait for room in a ring, on top of what is configured. */
#define LAST_PASS_MS 500u
/* Longest wait for a harvester that has to stop and is inside of the runtime, or gets no processor.
 */
#define LAST_WAIT_NS 5000000000u
/* Passes without anything under way before it sleeps: some 20 ms, so that a program that waits
 * for each dispatch does not have to wake it for each. */
#define LINGER_PASSES 20

_Atomic uint32_t harvest_idle;

/* Whose the queues are. */
enum turn {
	TURN_IN,  /* the thread's, which may be inside of the runtime */
	TURN_OUT, /* between harvest_out and harvest_in: of whoever takes them */
	/* The thread has been given up: */
	TURN_TAKEN, /* while it was out, by who stopped it */
	TURN_LATE   /* while it was in: what it still has it only counts as missed */
};

/* One for each thread: where one was given up, it does not know of the next one's. */
struct harvester {
	/* enum turn. Release by the thread, acq_rel by who stops it: he sees all that it has done.
	 */
	_Atomic uint32_t turn;
	_Atomic uint32_t refs; /* the thread, and who has started it; acq_rel */
	_Atomic uint32_t outs; /* how often it has been out: a sign of life; relaxed */
	/* A futex; release by the thread, acquire by who stops it. */
	_Atomic uint32_t ended;
	/* rtl_clock_ns at which to stop; 0: not. Release, acquire. */
	_Atomic uint64_t stop_at_ns;
	struct harvest_queues queues; /* of whose turn it is */
};

static struct {
	/* Starting and stopping. */
	pthread_mutex_t lock;
	struct harvester *running; /* the lock's */
	/* Futexes and what they say; release or acq_rel by the writer, acquire by the reader. */
	_Atomic uint32_t wake_count;
	_Atomic uint32_t passes;
	_Atomic uint32_t pass_waiters; /* seq_cst, with passes: no waiter is overlooked */
} harvest = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(harvest, harvest.lock);

/* NULL but in a harvester's thread. */
static __thread struct harvester *self __attribute__((tls_model("initial-exec")));

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

static void drop(struct harvester *harvester)
{
	/* acq_rel: what the other one did with it comes before it is freed. */
	if (atomic_fetch_sub_explicit(&harvester->refs, 1, memory_order_acq_rel) == 1)
		free(harvester);
}

static bool change_turn(struct harvester *harvester, uint32_t from, uint32_t to)
{
	return atomic_compare_exchange_strong_explicit(&harvester->turn, &from, to,
						       memory_order_acq_rel, memory_order_relaxed);
}

void harvest_out(void)
{
	if (!self)
		return;
	atomic_store_explicit(&self->outs,
			      atomic_load_explicit(&self->outs, memory_order_relaxed) + 1,
			      memory_order_relaxed);
	/* Fails if it was given up already. Pairs with give_up's acquire. */
	(void)change_turn(self, TURN_IN, TURN_OUT);
}

void harvest_in(void)
{
	if (self)
		(void)change_turn(self, TURN_OUT, TURN_IN);
}

bool harvest_left(void)
{
	/* Relaxed: the thread does less then, and reads nothing that the other one wrote. */
	return self && atomic_load_explicit(&self->turn, memory_order_relaxed) >= TURN_TAKEN;
}

void harvest_wake(void)
{
	const int saved = errno;

	atomic_store_explicit(&harvest_idle, 0, memory_order_relaxed);
	atomic_fetch_add_explicit(&harvest.wake_count, 1, memory_order_acq_rel);
	futex_wake(&harvest.wake_count);
	errno = saved;
}

void harvest_add(struct queue *queue)
{
	harvest_queues_add(queue);
	harvest_wake();
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
	futex_wait(&harvest.wake_count, seen, NAP_NS);
	if (!harvest_queues_waiting(&self->queues))
		futex_wait(&harvest.wake_count, seen, SLEEP_NS);
	atomic_store_explicit(&harvest_idle, 0, memory_order_relaxed);
}

static bool pass(uint32_t number)
{
	const bool progress = harvest_queues_pass(&self->queues, number);

	if (harvest_left())
		return false;
	atomic_fetch_add_explicit(&harvest.passes, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&harvest.pass_waiters, memory_order_seq_cst))
		futex_wake(&harvest.passes);
	return progress;
}

/* Whether it is time to end: asked to, and nothing is under way or there is no more time. */
static bool is_over(bool progress)
{
	const uint64_t stop_at_ns = atomic_load_explicit(&self->stop_at_ns, memory_order_acquire);

	return stop_at_ns &&
	       ((!progress && !self->queues.under_way) || rtl_clock_ns() >= stop_at_ns);
}

/* Until it has to end, or is given up. */
static void harvest_on(void)
{
	uint64_t poll_ns = POLL_MIN_NS;
	uint32_t quiet = 0;

	for (uint32_t number = 1;; number++) {
		const uint32_t seen =
			atomic_load_explicit(&harvest.wake_count, memory_order_acquire);
		const bool progress = pass(number);

		if (harvest_left())
			return;
		if (is_over(progress)) {
			(void)pass(0); /* at all of it: what has ended by now */
			return;
		}
		quiet = progress || self->queues.under_way ? 0 : quiet + 1;
		poll_ns = progress ? POLL_MIN_NS : poll_ns * 2;
		if (poll_ns > POLL_MAX_NS)
			poll_ns = POLL_MAX_NS;
		if (quiet > LINGER_PASSES)
			sleep_idle(seen);
		else
			futex_wait(&harvest.wake_count, seen, poll_ns);
	}
}

static void *run(void *data)
{
	self = data;
	pthread_setname_np(pthread_self(), "rtl-hsa");
	relay_find_thread();
	self->queues.wanted = rtl_enabled(collector.stream, RTL_METADATA);
	harvest_on();
	/* New ones may be the next harvester's if this one is late. */
	if (!harvest_left())
		harvest_queues_adopt(&self->queues);
	/* Relaxed: what it was set to while the thread was out, it has seen in harvest_in. */
	if (atomic_load_explicit(&self->turn, memory_order_relaxed) != TURN_TAKEN)
		harvest_queues_abandon(&self->queues, "not finished at exit");
	atomic_store_explicit(&self->ended, 1, memory_order_release);
	futex_wake(&self->ended);
	drop(self);
	return NULL;
}

/* With all signals blocked: handlers of the application run on its own threads. */
static int create_thread(struct harvester *harvester)
{
	sigset_t all, old;
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&thread, &attributes, run, harvester);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}

/* Under the lock. */
static int start(void)
{
	struct harvester *harvester = calloc(1, sizeof(*harvester));
	int error;

	if (!harvester)
		return ENOMEM;
	atomic_store_explicit(&harvester->refs, 2, memory_order_relaxed);
	error = create_thread(harvester);
	if (error)
		free(harvester);
	else
		harvest.running = harvester;
	return error;
}

int harvest_start(void)
{
	bool stopped;
	int error = 0;

	pthread_mutex_lock(&harvest.lock);
	/* Whoever stops it has said so before he took the lock. */
	stopped = !collector_on();
	if (!stopped && !harvest.running)
		error = start();
	pthread_mutex_unlock(&harvest.lock);
	if (error)
		rtl_log(RTL_LEVEL_ERROR, "hsa", "cannot start a thread (%d)", error);
	return error || stopped ? RTL_ENOMEM : 0;
}

uint32_t harvest_passes(void)
{
	return atomic_load_explicit(&harvest.passes, memory_order_seq_cst);
}

void harvest_wait_pass(void)
{
	uint32_t passes;

	atomic_fetch_add_explicit(&harvest.pass_waiters, 1, memory_order_seq_cst);
	passes = harvest_passes();
	harvest_wake();
	futex_wait(&harvest.passes, passes, POLL_MAX_NS);
	atomic_fetch_sub_explicit(&harvest.pass_waiters, 1, memory_order_seq_cst);
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

/* Takes the queues from a harvester that waits for a subscriber; false: it does not. */
static bool give_up(struct harvester *harvester)
{
	if (!change_turn(harvester, TURN_OUT, TURN_TAKEN))
		return false;
	harvest_queues_adopt(&harvester->queues);
	harvest_queues_abandon(&harvester->queues, "not finished, or not taken by a slow "
						   "subscriber, at exit");
	rtl_log(RTL_LEVEL_WARNING, "hsa",
		"a subscriber is too slow: what it has not taken at the end is missed");
	return true;
}

static bool is_out(const struct harvester *harvester)
{
	return atomic_load_explicit(&harvester->turn, memory_order_relaxed) == TURN_OUT;
}

/*
 * Until the harvester has ended; or, after patient_until_ns, it waits for a subscriber; or, after
 * until_ns, it is somewhere else for long, in the runtime or without a processor. There it should
 * not be: the runtime must not end under its hands.
 */
static void wait_until_ended(struct harvester *harvester, uint64_t until_ns,
			     uint64_t patient_until_ns)
{
	uint64_t alive_ns = until_ns;
	uint32_t seen = 0;

	while (!atomic_load_explicit(&harvester->ended, memory_order_acquire)) {
		const uint32_t outs = atomic_load_explicit(&harvester->outs, memory_order_relaxed);
		const uint64_t now = rtl_clock_ns();

		if ((outs != seen || is_out(harvester)) && now > alive_ns)
			alive_ns = now;
		seen = outs;
		if (now >= patient_until_ns && give_up(harvester))
			return;
		if (now >= alive_ns + LAST_WAIT_NS && change_turn(harvester, TURN_IN, TURN_LATE))
			return;
		futex_wait(&harvester->ended, 0, 10000000);
	}
}

void harvest_stop(uint32_t timeout_ms)
{
	const uint64_t now = rtl_clock_ns();
	struct harvester *harvester;
	uint64_t least_ms, most_ms;

	pthread_mutex_lock(&harvest.lock);
	harvester = harvest.running;
	harvest.running = NULL;
	if (harvester) {
		atomic_store_explicit(&harvester->stop_at_ns, now + timeout_ms * 1000000ull + 1,
				      memory_order_release);
		harvest_wake();
		/* For what is under way, then for the last pass; and if it waits for a subscriber,
		 * as long as a submitting thread would. */
		least_ms = (uint64_t)timeout_ms + LAST_PASS_MS;
		most_ms = least_ms > collector.config.wait_ms ? least_ms : collector.config.wait_ms;
		wait_until_ended(harvester, now + least_ms * 1000000, now + most_ms * 1000000);
		drop(harvester);
	}
	pthread_mutex_unlock(&harvest.lock);
}

void harvest_forked(void)
{
	/* The thread is not here; what it had is left to the parent. */
	harvest.running = NULL;
	atomic_store_explicit(&harvest_idle, 0, memory_order_relaxed);
}
