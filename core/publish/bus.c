/* SPDX-License-Identifier: MIT */
#include "bus.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bus_fork.h"
#include "clock.h"
#include "deadline.h"
#include "diagnostics.h"
#include "dict.h"
#include "fate.h"
#include "futex.h"
#include "ids.h"
#include "inline.h"
#include "large_stack.h"
#include "last_thread.h"
#include "leftovers.h"
#include "log.h"
#include "open.h"
#include "session.h"
#include "settings.h"
#include "signals.h"
#include "stall.h"
#include "stream.h"
#include "termination.h"
#include "writer.h"

/* Longest time that an event waits for the consumer to look. */
#define NAP_MS 20u
/* Longest time that a registration waits for another thread to load the subscribers: that one may
 * wait for the loader's lock, which this one may hold. */
#define START_WAIT_MS 500u
#define START_STEP_MS 10u
/* Passes over what is published when publishing has been stopped. */
#define LAST_PASSES 1000

struct bus bus = {.lock = PTHREAD_MUTEX_INITIALIZER,
		  .spool = {.dir = {.fd = -1}, .lock = {.fd = -1}}};

struct at_finish {
	struct at_finish *next;
	rtl_at_finish_fn fn;
	void *user;
};

static struct at_finish *at_finish; /* under bus.lock */
/* How many forks there have been between the first process and this one. */
static uint32_t generation;
/* A lock is about to be taken, or was. Relaxed: a child sees it that inherits the lock, as it was
 * set before, on the thread that took it. */
static bool begun;
/* 1: the spool is there and streams can be registered; the subscribers are being loaded. Release by
 * the thread that starts, acquire by those that do not wait for it. */
static uint32_t loading;
static sigset_t
	start_signals; /* mask of the thread that starts the bus, before; under start_lock */
/* Held while the bus starts; recursive: a subscriber's create may register a stream. */
static pthread_mutex_t start_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

/* The consumer: the bus's thread and what it is told. */
static struct {
	pthread_t thread;
	bool running;       /* relaxed; set before the thread starts, cleared when it was joined */
	uint32_t stop;      /* release by finish, acquire by the thread */
	uint64_t requested; /* flushes asked for; under mutex, as the rest */
	uint64_t done;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
} consumer = {.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};

static __thread bool own_thread __attribute__((tls_model("initial-exec")));

/* This thread has bus.lock for certain. */
static __thread bool locked __attribute__((tls_model("initial-exec")));
static __thread int cancel_state __attribute__((tls_model("initial-exec")));
/* This thread starts the bus just now. */
static __thread bool starting __attribute__((tls_model("initial-exec")));
/* This thread has waited for another one to start the bus, in vain. */
static __thread bool impatient __attribute__((tls_model("initial-exec")));

void bus_note_begin(void)
{
	if (!__atomic_load_n(&begun, __ATOMIC_RELAXED))
		__atomic_store_n(&begun, true, __ATOMIC_SEQ_CST);
}

bool bus_has_begun(void)
{
	return __atomic_load_n(&begun, __ATOMIC_RELAXED);
}

void bus_lock(void)
{
	int state;

	bus_note_begin();
	writer_locked++;
	/* a thread that is cancelled must not take the lock with it */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&bus.lock);
	locked = true;
	cancel_state = state;
}

void bus_unlock(void)
{
	int state = cancel_state;

	locked = false;
	pthread_mutex_unlock(&bus.lock);
	pthread_setcancelstate(state, NULL);
	writer_locked--;
}

static bool running_here(void)
{
	/* acquire: with the release at the end of start; the bus is complete */
	return __atomic_load_n(&bus.state, __ATOMIC_ACQUIRE) != BUS_NEW && bus.alive &&
	       __atomic_load_n(bus.alive, __ATOMIC_RELAXED);
}

bool bus_is_own_thread(void)
{
	return own_thread;
}

void bus_ring_bell(void)
{
	if (bus.collected) { /* the same, as far as the page is there */
		futex_clear_and_wake(bus.bell);
		return;
	}
	/* Exchanges on both sides, so that one sees the other: either the consumer, which looks at
	 * the heads after its own, sees what we have published, or we see that it sleeps. */
	if (__atomic_exchange_n(bus.bell, 0, __ATOMIC_SEQ_CST))
		futex_wake(bus.bell);
}

void bus_close_ring(struct ring_header *ring)
{
	/* release: with the consumer's acquire, which then sees the last head */
	__atomic_store_n(&ring->state, RING_CLOSED, __ATOMIC_RELEASE);
}

void bus_stop_publishing(void)
{
	static const struct stream_wants nothing;
	uint32_t i;

	for (i = 0; i < stream_count(); i++)
		stream_want(&bus.spool.control->streams[i].pub, stream_info(i), &nothing, 0xff);
}

bool bus_has_lost_consumer(void)
{
	return bus.collected ? fate_is_lost() : !__atomic_load_n(&consumer.running, __ATOMIC_RELAXED);
}

bool bus_has_consumer(void)
{
	if (bus_has_lost_consumer())
		return false;
	if (!bus.collected)
		return true;
	if (session_is_alive())
		return true;
	fate_look();
	return false;
}

uint64_t bus_progress(void)
{
	/* acquire: with the release in writer.c: rings[] is filled so far; 0 in a child */
	const uint32_t n = __atomic_load_n(&bus.ring_count, __ATOMIC_ACQUIRE);
	uint64_t sum = bus.host ? host_progress(bus.host) : 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		sum += __atomic_load_n(&bus.rings[i]->tail, __ATOMIC_RELAXED);
	return sum;
}

void bus_name_consumer(char *text, size_t size)
{
	const char *subscriber = bus.host ? host_at_work(bus.host) : NULL;

	if (bus.collected)
		snprintf(text, size, "the collector, process %d,", session_pid());
	else if (subscriber)
		snprintf(text, size, "the subscriber %s", subscriber);
	else
		snprintf(text, size, "the thread of the subscribers");
}

/* ---- the thread */

static void answer_flushes(uint64_t upto)
{
	pthread_mutex_lock(&consumer.mutex);
	consumer.done = upto;
	pthread_cond_broadcast(&consumer.cond);
	pthread_mutex_unlock(&consumer.mutex);
}

static uint64_t flushes_requested(void)
{
	uint64_t n;

	pthread_mutex_lock(&consumer.mutex);
	n = consumer.requested;
	pthread_mutex_unlock(&consumer.mutex);
	return n;
}

static void nap(void)
{
	uint32_t *asleep = &bus.spool.control->asleep;

	__atomic_exchange_n(asleep, 1, __ATOMIC_SEQ_CST); /* pairs with bus_ring_bell */
	if (!host_pass(bus.host))
		futex_wait(asleep, 1, NAP_MS);
	__atomic_store_n(asleep, 0, __ATOMIC_RELAXED);
}

static struct at_finish *take_at_finish(void)
{
	struct at_finish *entry;

	bus_lock();
	entry = at_finish;
	if (entry)
		at_finish = entry->next;
	else
		__atomic_store_n(&bus.state, BUS_FINISHED, __ATOMIC_RELEASE);
	bus_unlock();
	return entry;
}

/* Lets collectors hand in what is under way; afterwards the bus counts as finished. */
static void call_at_finish(void)
{
	struct at_finish *entry;

	while ((entry = take_at_finish())) {
		entry->fn(entry->user);
		free(entry);
	}
}

static void *consume(void *unused)
{
	uint64_t request = 0;

	(void)unused;
	own_thread = true;
	/* acquire: with the release in finish */
	while (!__atomic_load_n(&consumer.stop, __ATOMIC_ACQUIRE) && !termination_requested()) {
		/* one pass delivers all that was published before the request, however much
		 * others publish on */
		bool more, done;

		if (!host_is_interrupted(bus.host))
			request = flushes_requested();
		more = host_pass(bus.host);
		done = !host_is_interrupted(bus.host) && request != consumer.done;
		host_flush(bus.host, done);
		if (done)
			answer_flushes(request);
		if (!more) {
			nap();
			last_thread_look();
		}
	}
	if (termination_requested())
		call_at_finish(); /* no exit follows that would do it */
	host_drain(bus.host, 1);  /* all that was published before the end */
	bus_stop_publishing();
	open_hand_in();
	/* what was under way, and what subscribers published about that: but not without end */
	host_drain(bus.host, LAST_PASSES);
	host_flush(bus.host, true);
	host_finish(bus.host);
	answer_flushes(UINT64_MAX);
	if (termination_requested())
		spool_remove_files(&bus.spool);
	termination_done();
	return NULL;
}

static int start_consumer(void)
{
	sigset_t all, old;
	int err;

	consumer.stop = 0;
	__atomic_store_n(&consumer.running, true, __ATOMIC_RELAXED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old); /* the program's signals are not ours */
	err = pthread_create(&consumer.thread, NULL, consume, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err) {
		__atomic_store_n(&consumer.running, false, __ATOMIC_RELAXED);
		log_line(RTL_LEVEL_ERROR, "bus",
			 "no thread for the subscribers (%s): nothing "
			 "will be recorded",
			 strerror(err));
		return RTL_ELIMIT;
	}
	pthread_setname_np(consumer.thread, "rtl-bus");
	return 0;
}

int rtl_flush(uint32_t timeout_ms)
{
	struct timespec until;
	uint64_t mine;
	int err = 0, state;

	if (own_thread || writer_no_wait || (writer_self->in_use && writer_self->inline_depth))
		return RTL_EBUSY;
	if (!__atomic_load_n(&consumer.running, __ATOMIC_RELAXED) || !running_here())
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

/* ---- start */

static void *wiped_page(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return NULL;
	madvise(page, 4096, MADV_WIPEONFORK);
	return page;
}

/* A new spool is to know all that the registries hold: after a fork, or what was registered
 * before the bus started. Under bus.lock. */
static void refill(void)
{
	dict_add_process(&bus.spool, host_own_process());
	ids_refill();
	stream_refill();
}

/* Nobody listens, or nobody can: publishing is off. */
static int start_silent(struct spool_control *fixed)
{
	int err;

	bus_lock(); /* there may be threads that did not wait: see loading */
	loading = 0;
	err = spool_open_private(&bus.spool, fixed);
	if (!err) {
		bus.bell = &bus.spool.control->asleep;
		refill();
	}
	bus_unlock();
	return err;
}

static void remove_spool(void)
{
	bus_lock();
	spool_remove(&bus.spool);
	bus_unlock();
}

/* Loads and hosts them. RTL_EBUSY: a signal handler has forked meanwhile, and this is the child. */
static int host_subscribers(const char *subscribers, uint32_t *failed)
{
	uint32_t before = generation;
	struct host *host = host_create(subscribers, "process", failed);

	if (before != generation) {
		if (host)
			host_forget(host);
		return RTL_EBUSY;
	}
	bus.host = host;
	if (*failed && bus.settings.strict)
		return RTL_EPLUGIN;
	if (!host || host_add_local(host))
		return RTL_EPLUGIN;
	return before == generation ? 0 : RTL_EBUSY;
}

static int load_subscribers(const char *subscribers)
{
	struct signals_of_writes held;
	uint32_t failed = 0;
	sigset_t ours;
	int err;

	/* release: with the acquire of who does not wait, and uses all that was made before */
	__atomic_store_n(&loading, 1, __ATOMIC_RELEASE);
	pthread_sigmask(SIG_SETMASK, &start_signals, &ours);
	signals_of_writes_hold(&held);
	err = host_subscribers(subscribers, &failed);
	signals_of_writes_drop(&held);
	pthread_sigmask(SIG_SETMASK, &ours, NULL);
	if (err == RTL_EBUSY)
		return err;
	if (failed && bus.settings.strict) {
		log_line(RTL_LEVEL_ERROR, "bus", "RTL_STRICT is set: the program does not start");
		remove_spool();
		_exit(2);
	}
	if (err || start_consumer()) {
		remove_spool();
		return RTL_EPLUGIN;
	}
	diagnostics_start();
	termination_init();
	leftovers_mention(bus.spool.path);
	return 0;
}

static int start_recording(const char *subscribers, struct spool_control *fixed)
{
	int err = spool_open_folder(&bus.spool, secure_getenv("RTL_SPOOL"), fixed);

	if (err)
		return err;
	bus.bell = &bus.spool.control->asleep;
	bus_lock();
	refill();
	bus_unlock();
	return load_subscribers(subscribers);
}

/* A collector drains the rings: there is nothing to host and no thread here. */
static int start_collected(struct spool_control *fixed)
{
	int err = spool_open_folder(&bus.spool, session_folder(), fixed);

	if (!err && session_has_ended()) { /* too late */
		remove_spool();
		err = RTL_ENOTSUP;
	}
	if (err == RTL_ENOTSUP) /* our spool may have kept it from going */
		rmdir(session_folder());
	if (err)
		return err;
	bus.collected = true;
	bus.bell = session_bell();
	bus_lock();
	refill();
	bus_unlock();
	diagnostics_start();
	bus_ring_bell();
	return 0;
}

/* Starts as the environment says. RTL_ENOENT: it says nothing; RTL_ENOTSUP: its collector has
 * ended. */
static int start_as_told(struct spool_control *fixed)
{
	const char *subscribers = secure_getenv("RTL_SUBSCRIBERS");
	int err = session_join();

	if (!err)
		return start_collected(fixed);
	if (err != RTL_ENOENT || !subscribers || !*subscribers)
		return err;
	if (!subscribers[strspn(subscribers, ":")]) {
		log_line(RTL_LEVEL_ERROR, "bus",
			 "RTL_SUBSCRIBERS=%s names no subscriber: nothing is recorded; "
			 "`rtl list-subscribers` shows which there are",
			 subscribers);
		return RTL_EINVAL;
	}
	return start_recording(subscribers, fixed);
}

bool bus_lock_start(uint32_t timeout_ms)
{
	const struct timespec until = deadline_in(CLOCK_REALTIME, timeout_ms);

	bus_note_begin();
	return !pthread_mutex_timedlock(&start_lock, &until);
}

void bus_unlock_start(void)
{
	pthread_mutex_unlock(&start_lock);
}

bool bus_is_locked_here(void)
{
	return locked;
}

void bus_forget_start(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&start_lock, &attr);
	pthread_mutexattr_destroy(&attr);
	consumer.running = false;
	loading = 0;
	generation++;
	own_thread = starting = impatient = false;
}

/* What a child must not share with its parent. */
static void start_anew(void)
{
	host_forget_process();
	inline_forget();
	session_leave();
	bus.host = NULL;
	if (bus.parents) {
		fate_forget();
		stall_forget();
	}
	bus.parents = false;
	bus.collected = false;
	bus.ring_count = 0;
	bus.ring_bytes_total = bus.grown_bytes = 0;
	bus.grown_count = 0;
	consumer.running = false;
	consumer.requested = consumer.done = 0;
	pthread_mutex_init(&consumer.mutex, NULL);
	pthread_cond_init(&consumer.cond, NULL);
}

/* The first start in this process, or the first after a fork. */
static int start(void)
{
	struct spool_control *fixed = bus.spool.control;
	int err;

	if (!bus.alive) {
		log_init();
		bus_fork_watch();
		/* last: a child that finds it has the rest */
		bus.alive = wiped_page();
		if (!bus.alive)
			return RTL_ENOMEM;
	}
	start_anew();
	settings_read(&bus.settings);
	err = start_as_told(fixed);
	if (!err || err == RTL_EBUSY)
		return err;
	/* a program that outlives its collector starts as it went on: unrecorded */
	if (err != RTL_ENOENT && err != RTL_ENOTSUP)
		session_count_refused();
	if (err != RTL_ENOENT && err != RTL_ENOTSUP && bus.settings.strict) {
		log_line(RTL_LEVEL_ERROR, "bus", "RTL_STRICT is set: the program does not start");
		_exit(2);
	}
	if (bus.spool.control && !bus.spool.has_files)
		fixed = bus.spool.control;
	return start_silent(fixed);
}

static void start_on_stack(void *error)
{
	*(int *)error = start();
}

bool bus_starts_elsewhere(void)
{
	return !starting && __atomic_load_n(&loading, __ATOMIC_ACQUIRE);
}

/* Takes start_lock; false: another thread loads the subscribers and does not get on, or not fast.
 * Then streams can be registered and published to all the same, and what they publish is recorded
 * as far as the rings go. */
static bool wait_to_start(void)
{
	uint32_t waited;

	for (waited = 0; !bus_lock_start(START_STEP_MS); waited += START_STEP_MS) {
		impatient |= waited >= START_WAIT_MS;
		if (impatient && bus_starts_elsewhere())
			return false;
	}
	return true;
}

int bus_start(void)
{
	uint32_t before;
	int err = 0, state;

	/* the consumer never waits for the thread that starts it and waits for the host */
	if (running_here() || starting || own_thread)
		return 0;
	if (impatient && bus_starts_elsewhere())
		return 0;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (!wait_to_start())
		goto out;
	if (!running_here()) {
		starting = true;
		before = generation;
		signals_block(&start_signals);
		large_stack_call(start_on_stack, &err);
		signals_restore(&start_signals);
		if (before != generation) {
			err = RTL_EBUSY; /* a child: see host_subscribers */
			goto out;
		}
		__atomic_store_n(&loading, 0, __ATOMIC_RELEASE);
		starting = false;
		if (!err) {
			__atomic_store_n(bus.alive, (uint32_t)getpid(), __ATOMIC_RELAXED);
			/* release: with the acquire in running_here */
			__atomic_store_n(&bus.state, BUS_RUNNING, __ATOMIC_RELEASE);
		}
	}
	bus_unlock_start();
out:
	pthread_setcancelstate(state, NULL);
	return err;
}

bool bus_here(void)
{
	return running_here();
}

/* ---- end */

int rtl_at_finish(rtl_at_finish_fn fn, void *user)
{
	struct at_finish *entry = malloc(sizeof *entry);
	int err = 0;

	if (!entry)
		return RTL_ENOMEM;
	*entry = (struct at_finish){.fn = fn, .user = user};
	bus_lock();
	if (bus.state == BUS_FINISHED) {
		err = RTL_EBUSY;
	} else {
		entry->next = at_finish;
		at_finish = entry;
	}
	bus_unlock();
	if (err)
		free(entry);
	return err;
}

/* Waits for the thread as long as it gets ahead, and exit_timeout_ms longer. */
static bool join_consumer(void)
{
	uint64_t progress = host_progress(bus.host), now, since = clock_ns();
	struct timespec until;

	for (;;) {
		until = deadline_in(CLOCK_REALTIME, 1000);
		if (!pthread_timedjoin_np(consumer.thread, NULL, &until))
			return true;
		now = host_progress(bus.host);
		if (now != progress) {
			progress = now;
			since = clock_ns();
		} else if (clock_ns() - since > (uint64_t)bus.settings.exit_timeout_ms * 1000000u) {
			return false;
		}
	}
}

/* As late as a library can: after main, atexit and static destructors of the program. */
__attribute__((destructor)) static void finish(void)
{
	if (!running_here())
		return;
	/* a signal may be ending the bus just now: that is waited for */
	if (__atomic_load_n(&bus.state, __ATOMIC_RELAXED) == BUS_FINISHED &&
	    !termination_requested())
		return;
	call_at_finish();
	if (bus.collected) {
		bus_stop_publishing();
		open_hand_in();
		/* release: with the acquire of the collector, which then sees the last heads */
		__atomic_store_n(&bus.spool.control->finished, 1, __ATOMIC_RELEASE);
		bus_ring_bell();
	}
	if (!__atomic_load_n(&consumer.running, __ATOMIC_RELAXED) || own_thread)
		return;
	inline_leave();
	/* release: with the acquire in consume */
	__atomic_store_n(&consumer.stop, 1, __ATOMIC_RELEASE);
	bus_ring_bell();
	if (!join_consumer()) {
		log_line(RTL_LEVEL_ERROR, "bus",
			 "a subscriber has not moved for %u ms: the "
			 "program ends without it, what it had not written is lost",
			 bus.settings.exit_timeout_ms);
		return; /* it may still use all of this */
	}
	__atomic_store_n(&consumer.running, false, __ATOMIC_RELAXED);
	bus_lock(); /* somebody may be making a ring */
	spool_remove_files(&bus.spool);
	bus_unlock();
}
