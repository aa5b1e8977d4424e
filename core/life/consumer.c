/* SPDX-License-Identifier: MIT */
#include "life.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "bus.h"
#include "futex.h"
#include "host.h"
#include "inline.h"
#include "log.h"
#include "parts.h"

/* Longest time that an event waits for the consumer to look. */
#define NAP_MS 20u
/* Passes over what is published when publishing has been stopped. */
#define LAST_PASSES 1000

static struct {
	pthread_t thread;
	uint32_t stop;      /* release by consumer_end, acquire by the thread */
	uint64_t requested; /* flushes asked for; under mutex, as the rest */
	uint64_t done;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	uint64_t request; /* the thread's */
	bool concluded;   /* the thread's, until it has ended */
} consumer = {.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};

static void answer_flushes(uint64_t upto)
{
	pthread_mutex_lock(&consumer.mutex);
	consumer.done = upto;
	pthread_cond_broadcast(&consumer.cond);
	pthread_mutex_unlock(&consumer.mutex);
}

static void nap(void)
{
	uint32_t *asleep = &bus.spool.control->asleep;

	__atomic_exchange_n(asleep, 1, __ATOMIC_SEQ_CST); /* pairs with bus_ring_bell */
	if (!host_pass(bus.host))
		futex_wait(asleep, 1, NAP_MS);
	__atomic_store_n(asleep, 0, __ATOMIC_RELAXED);
}

/* ---- the last thread: the end of a program whose threads have all ended, main's by pthread_exit */

/* So many naps until the thread looks whether it is the last one. */
#define NAPS_BEFORE_LOOK 25u

/* Whether only the bus's thread is left, as main's ended by pthread_exit. With threads of a subscriber's own this is
 * not seen (docs/subscribers.md). */
static bool is_last_thread(void)
{
	char text[512];
	const char *state;
	struct stat st;

	/* "." and "..", the first thread, which stays as a zombie, and ours */
	if (stat("/proc/self/task", &st) || st.st_nlink != 4)
		return false;
	(void)read_text("/proc/self/stat", text, sizeof(text));
	state = strrchr(text, ')');
	return state && !strncmp(state, ") Z", 3);
}

static void *end_process(void *unused)
{
	exit(0); /* as the C library when the last thread ends */
}

/* Now and then looks whether the process should end, and ends it. */
static void last_thread_look(void)
{
	static uint32_t naps;
	pthread_t thread;

	if (++naps % NAPS_BEFORE_LOOK == 0 && is_last_thread())
		pthread_create(&thread, NULL, end_process, NULL);
}

static void make_turn(void)
{
	/* one pass delivers all that was published before the request */
	bool more, done;

	host_set_paused(bus.host, pause_is_on()); /* what was published before is recorded */
	host_follow_periods(bus.host, &bus.settings.periods, bus.spool.control->start_ns);
	if (!bus.host->interrupted) {
		pthread_mutex_lock(&consumer.mutex);
		consumer.request = consumer.requested;
		pthread_mutex_unlock(&consumer.mutex);
	}
	more = host_pass(bus.host);
	done = !bus.host->interrupted && consumer.request != consumer.done;
	host_flush(bus.host, done);
	if (done)
		answer_flushes(consumer.request);
	if (!more) {
		host_tidy(bus.host, false);
		nap();
		last_thread_look();
	}
}

/* ---- the thread */

static void *conclude(void *unused)
{
	bus_own_thread = true;
	bus.host->last = true;
	/* first, or threads that go on fill all their buffers once more while the rest is delivered */
	bus_stop_publishing();
	open_hand_in();
	/* what was published before, or under way: but not without end */
	host_drain(bus.host, LAST_PASSES);
	host_flush(bus.host, true);
	host_finish(bus.host);
	answer_flushes(UINT64_MAX);
	bus.keeps_spool = host_keeps(bus.host);
	if (termination_requested() && !bus.keeps_spool)
		spool_remove_files(&bus.spool);
	termination_done();
	consumer.concluded = true;
	return NULL;
}

static void *consume(void *unused)
{
	bus_own_thread = true;
	/* acquire: with the release in consumer_end */
	while (!__atomic_load_n(&consumer.stop, __ATOMIC_ACQUIRE) && !termination_requested())
		make_turn();
	if (!termination_requested())
		return NULL;
	finish_call(); /* no exit follows that would do it */
	return conclude(unused);
}

static int start_thread(void *(*run)(void *))
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old); /* the program's signals are not ours */
	err = pthread_create(&consumer.thread, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		pthread_setname_np(consumer.thread, "rtl-bus");
	return err;
}

int consumer_start(void)
{
	int err;

	consumer.stop = 0;
	consumer.concluded = false;
	__atomic_store_n(&bus.consumer_runs, true, __ATOMIC_RELAXED);
	err = start_thread(consume);
	if (err) {
		__atomic_store_n(&bus.consumer_runs, false, __ATOMIC_RELAXED);
		log_line(RTL_LEVEL_ERROR, "bus",
			 "no thread for the subscribers (%s): nothing will be recorded",
			 strerror(err));
		return RTL_ELIMIT;
	}
	return 0;
}

int rtl_flush(uint32_t timeout_ms)
{
	struct timespec until;
	uint64_t mine;
	int err = 0, state;

	if (bus_own_thread || thread_no_wait ||
	    (writer_self()->in_use && writer_self()->inline_depth))
		return RTL_EBUSY;
	if (!__atomic_load_n(&bus.consumer_runs, __ATOMIC_RELAXED) || !bus_here())
		return 0;
	until = deadline_in(CLOCK_MONOTONIC, timeout_ms);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&consumer.mutex);
	mine = ++consumer.requested;
	bus_ring_bell();
	while (consumer.done < mine && !err)
		err = pthread_cond_clockwait(&consumer.cond, &consumer.mutex, CLOCK_MONOTONIC,
					     &until);
	pthread_mutex_unlock(&consumer.mutex);
	pthread_setcancelstate(state, NULL);
	return err ? RTL_EBUSY : 0;
}

bool consumer_gets_ahead(struct patience *patience)
{
	const uint64_t progress = host_progress(bus.host), now = clock_ns();

	if (!patience->since_ns || progress != patience->progress)
		*patience = (struct patience){progress, now};
	return now - patience->since_ns <= (uint64_t)bus.settings.exit_timeout_ms * 1000000u;
}

/* Waits for the thread as long as it gets ahead. */
static bool join(void)
{
	struct patience patience = {0};
	struct timespec until;

	do {
		until = deadline_in(CLOCK_REALTIME, 1000);
		if (!pthread_timedjoin_np(consumer.thread, NULL, &until))
			return true;
	} while (consumer_gets_ahead(&patience));
	return false;
}

bool consumer_end(void)
{
	inline_leave();
	/* release: with the acquire in consume */
	__atomic_store_n(&consumer.stop, 1, __ATOMIC_RELEASE);
	bus_ring_bell();
	if (!join())
		return false;
	/* The rest by a thread with this one's priority: threads of the program may run on, and nobody waits but it. */
	if (!consumer.concluded) {
		if (start_thread(conclude))
			conclude(NULL);
		else if (!join())
			return false;
	}
	__atomic_store_n(&bus.consumer_runs, false, __ATOMIC_RELAXED);
	return true;
}

void consumer_forget(void)
{
	bus.consumer_runs = false;
	consumer.requested = consumer.done = 0;
	pthread_mutex_init(&consumer.mutex, NULL);
	pthread_cond_init(&consumer.cond, NULL);
}

/* ---- pausing */

/* Others may cut the file off: what is behind is looked at through the kernel. */
static struct session_page *page;
static bool page_lost;

void pause_join(void)
{
	const char *folder = secure_getenv("RTL_CONTROL");
	int fd;

	pause_leave();
	if (!folder || !*folder)
		return;
	page_lost = session_join_page("RTL_CONTROL", folder, &page, &fd);
	if (!page_lost)
		close(fd);
}

void pause_leave(void)
{
	if (page)
		munmap(page, sizeof(*page));
	page = NULL;
	page_lost = false;
}

bool pause_is_on(void)
{
	return page ? futex_is(&page->paused, 1) : page_lost;
}
