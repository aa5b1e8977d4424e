/* SPDX-License-Identifier: MIT */
#include "life.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bus.h"
#include "dict.h"
#include "futex.h"
#include "host.h"
#include "inline.h"
#include "log.h"
#include "parts.h"

/* Longest time that a registration waits for another thread to load the subscribers: that may want the loader's
 * lock. */
#define WAIT_MS 500u
#define STEP_MS 10u

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static sigset_t signals; /* mask of the thread that starts the bus, before; under the lock */

static void set_state(enum bus_state state)
{
	/* release: with the acquire of threads that do not wait, and use all that was made before */
	__atomic_store_n(&bus.state, state, __ATOMIC_RELEASE);
}

static void *wiped_page(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return NULL;
	madvise(page, 4096, MADV_WIPEONFORK);
	return page;
}

/* Fills a new spool with the registries: after a fork, or what came before the start. Under bus.lock. */
static void refill(void)
{
	dict_add_process(&bus.spool, process_self());
	ids_refill();
	stream_refill();
}

/* Nobody listens, or nobody can: publishing is off. */
static int start_silent(struct spool_control *fixed)
{
	int err;

	bus_lock(); /* there may be threads that did not wait: see BUS_LOADING */
	set_state(BUS_NEW);
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

void start_refuse(void)
{
	log_line(RTL_LEVEL_ERROR, "bus", "RTL_STRICT is set: the program does not start");
	_exit(2);
}

static int host_subscribers(const char *subscribers, uint32_t *failed)
{
	bus.host = host_create(NULL, subscribers, "process", failed);
	if (!bus.host || (*failed && bus.settings.strict))
		return RTL_EPLUGIN;
	host_set_paused(bus.host, pause_is_on());
	host_follow_periods(bus.host, &bus.settings.periods, bus.spool.control->start_ns);
	return own_process_add(bus.host) ? RTL_EPLUGIN : 0;
}

static int load_subscribers(const char *subscribers)
{
	struct signals_of_writes held;
	uint32_t failed = 0;
	sigset_t ours;
	int err;

	set_state(BUS_LOADING);
	pthread_sigmask(SIG_SETMASK, &signals, &ours);
	signals_of_writes_hold(&held);
	err = host_subscribers(subscribers, &failed);
	signals_of_writes_drop(&held);
	pthread_sigmask(SIG_SETMASK, &ours, NULL);
	if (failed && bus.settings.strict) {
		remove_spool();
		start_refuse();
	}
	if (err || consumer_start()) {
		remove_spool();
		return RTL_EPLUGIN;
	}
	diagnostics_start();
	termination_init();
	return 0;
}

/* The spool, with all registries. RTL_ENOTSUP: the collector has ended and removed its folder. */
static int open_spool(const char *base, struct spool_control *fixed)
{
	char message[PATH_MAX + 128];
	int err = spool_open_folder(&bus.spool, base, fixed, message, sizeof(message));

	if (session_has_ended()) {
		if (!err)
			remove_spool();
		return RTL_ENOTSUP;
	}
	if (err) {
		log_line(RTL_LEVEL_ERROR, "spool",
			 "%s: nothing will be recorded; name another folder with RTL_SPOOL",
			 message);
		return err;
	}
	bus.collected = session_folder() != NULL;
	bus.bell = bus.collected ? session_bell() : &bus.spool.control->asleep;
	rings_tell_budget();
	bus_lock();
	refill();
	bus_unlock();
	return 0;
}

/* A collector drains the rings: there is nothing to host and no thread here. */
static int start_collected(struct spool_control *fixed)
{
	int err = open_spool(session_folder(), fixed);

	if (err == RTL_ENOTSUP) /* our spool may have kept it from going */
		rmdir(session_folder());
	if (err)
		return err;
	diagnostics_start();
	bus_ring_bell();
	return 0;
}

/* Asleep until a collector comes to us. */
static int start_attachable(struct spool_control *fixed)
{
	int err = session_make(secure_getenv("RTL_SPOOL"));

	if (!err && (err = start_collected(fixed)))
		session_remove_own();
	return err;
}

/* Starts as the environment says. RTL_ENOENT: it says nothing; RTL_ENOTSUP: its collector has ended. */
static int start_as_told(struct spool_control *fixed)
{
	const char *subscribers = secure_getenv("RTL_SUBSCRIBERS");
	const char *attachable = secure_getenv("RTL_ATTACHABLE");
	int err = session_join();

	if (!err)
		return start_collected(fixed);
	if (err == RTL_ENOENT && (!subscribers || !*subscribers) && attachable && *attachable)
		return start_attachable(fixed);
	if (err != RTL_ENOENT || !subscribers || !*subscribers)
		return err;
	if (!subscribers[strspn(subscribers, ":")]) {
		log_line(RTL_LEVEL_ERROR, "bus",
			 "RTL_SUBSCRIBERS=%s names no subscriber: nothing is recorded; `rtl "
			 "list-subscribers` lists them",
			 subscribers);
		return RTL_EINVAL;
	}
	pause_join();
	err = open_spool(secure_getenv("RTL_SPOOL"), fixed);
	return err ? err : load_subscribers(subscribers);
}

bool start_lock(uint32_t timeout_ms)
{
	const struct timespec until = deadline_in(CLOCK_REALTIME, timeout_ms);

	bus_note_begin();
	return !pthread_mutex_timedlock(&lock, &until);
}

void start_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void start_forget(void)
{
	lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	bus.starter = NULL;
	bus.consumer_runs = bus_own_thread = false;
}

/* What a child must not share with its parent. */
static void start_anew(void)
{
	process_forget();
	inline_forget();
	session_leave();
	pause_leave();
	fate_forget();
	stall_forget();
	consumer_forget();
	bus.host = NULL;
	bus.collected = false;
	bus.ring_count = 0;
	bus.ring_bytes_total = bus.grown_bytes = 0;
	bus.grown_count = 0;
}

/* The first start in this process, or the first after a fork. */
static int start(void)
{
	struct spool_control *fixed = bus.spool.control;
	int err;

	if (!bus.alive) {
		log_init();
		fork_watch();
		/* last: a child that finds it has the rest */
		bus.alive = wiped_page();
		if (!bus.alive)
			return RTL_ENOMEM;
	}
	start_anew();
	settings_read(&bus.settings);
	err = start_as_told(fixed);
	if (!err)
		return 0;
	/* a program that outlives its collector starts as it went on: unrecorded */
	if (err != RTL_ENOENT && err != RTL_ENOTSUP) {
		session_count_refused();
		if (bus.settings.strict)
			start_refuse();
	}
	if (bus.spool.control && !bus.spool.has_files)
		fixed = bus.spool.control;
	return start_silent(fixed);
}

static void start_on_stack(void *error)
{
	*(int *)error = start();
}

/* False: another thread loads the subscribers, slowly. Streams can be registered and recorded all the same. */
static bool wait_to_start(void)
{
	for (uint32_t waited = 0; !start_lock(STEP_MS); waited += STEP_MS) {
		uint32_t loading = BUS_LOADING;

		/* relaxed: nothing comes with it that did not come with BUS_LOADING */
		if (waited >= WAIT_MS)
			__atomic_compare_exchange_n(&bus.state, &loading, BUS_OVERDUE, false,
						    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
		if (__atomic_load_n(&bus.state, __ATOMIC_ACQUIRE) == BUS_OVERDUE)
			return false;
	}
	return true;
}

/* With the lock. */
static int start_here(void)
{
	int err;

	__atomic_store_n(&bus.starter, bus_thread(), __ATOMIC_RELAXED);
	signals_block(&signals);
	large_stack_call(start_on_stack, &err);
	signals_restore(&signals);
	if (!err)
		__atomic_store_n(bus.alive, (uint32_t)getpid(), __ATOMIC_RELAXED);
	set_state(err ? BUS_NEW : BUS_RUNNING);
	__atomic_store_n(&bus.starter, NULL, __ATOMIC_RELAXED);
	return err;
}

int start_bus(void)
{
	int err = 0, state;

	/* the consumer never waits for the thread that starts it and waits for the host */
	if (bus_here() || bus_own_thread ||
	    __atomic_load_n(&bus.starter, __ATOMIC_RELAXED) == bus_thread() ||
	    __atomic_load_n(&bus.state, __ATOMIC_ACQUIRE) == BUS_OVERDUE)
		return 0;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (wait_to_start()) {
		if (!bus_here())
			err = start_here();
		start_unlock();
	}
	pthread_setcancelstate(state, NULL);
	return err;
}
