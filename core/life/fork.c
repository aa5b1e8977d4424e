/* SPDX-License-Identifier: MIT */
#include "life.h"

#include "bus.h"
#include "guard.h"
#include "host.h"
#include "parts.h"
#include "writer.h"

/* Longest time that a fork waits for a subscriber that is at work. */
#define FORK_WAIT_MS 1000u

/* Two sets of handlers. The constructor's are there before anything of rtl's has begun: a fork may meet the first
 * start. The first start's run before those that allocators registered in between, which take their locks: a thread
 * that has bus.lock may wait for one. The first to run does all. */
enum handlers { NOBODY, OF_CONSTRUCTOR, OF_START };

/* What prepare has done: for the same thread in the parent, and for the child. */
static __thread struct {
	enum handlers by; /* NOBODY: no fork is under way */
	uint32_t depth;   /* of forks by signal handlers that have interrupted one */
	bool prepared;    /* else nothing of rtl's had begun */
	bool loaded_held;
	bool start_held;
	bool host_held;
	bool bus_held;
} fork_state __attribute__((tls_model("initial-exec")));

/* The child shares the subscribers' code and data: none may be at work; a slow one is not waited for longer. */
static void prepare(void)
{
	if (thread_locked++)
		return; /* a handler has interrupted rtl, where this thread may hold any of them */
	fork_state.loaded_held = loaded_lock();
	/* the thread that starts the bus may want the loader's lock, or the host's, which this one holds */
	fork_state.start_held = start_lock(FORK_WAIT_MS);
	fork_state.host_held = bus.host && host_lock_patiently(bus.host, FORK_WAIT_MS);
	pthread_mutex_lock(&bus.lock);
	fork_state.bus_held = true;
}

static void finish_in_parent(void)
{
	if (fork_state.bus_held)
		pthread_mutex_unlock(&bus.lock);
	if (fork_state.host_held)
		host_unlock(bus.host);
	if (fork_state.start_held)
		start_unlock();
	if (fork_state.loaded_held)
		loaded_unlock();
	thread_locked--;
}

/* A child keeps the registries; the rest starts anew with its first event. Subscribers' things are not touched. */
static void finish_in_child(void)
{
	loaded_reopen(fork_state.loaded_held);
	if (fork_state.bus_held)
		pthread_mutex_unlock(&bus.lock);
	else
		pthread_mutex_init(&bus.lock, NULL);
	if (fork_state.prepared)
		thread_locked--;
	if (bus.alive)
		*bus.alive = 0; /* where the kernel could not wipe it */
	__atomic_store_n(&bus.state, BUS_NEW, __ATOMIC_RELAXED);
	/* the parent's rings and dictionary are not mapped here */
	if (bus.host)
		host_forget(bus.host);
	bus.host = NULL;
	bus.ring_count = 0;
	spool_forget(&bus.spool); /* its lock is the parent's */
	start_forget();
	guard_forked();
	thread_no_wait = 0;
	rings_forget();
	slots_forget();
	writer_forget_all();
}

/* Relaxed: see bus.begun. */
static bool has_begun(void)
{
	return __atomic_load_n(&bus.begun, __ATOMIC_RELAXED);
}

static void before_fork(enum handlers by)
{
	if (fork_state.by == by)
		fork_state.depth++;
	if (fork_state.by != NOBODY)
		return;
	memset(&fork_state, 0, sizeof(fork_state));
	fork_state.by = by;
	fork_state.depth = 1;
	fork_state.prepared = has_begun();
	if (fork_state.prepared)
		prepare();
}

static void after_in_parent(enum handlers by)
{
	if (fork_state.by != by || --fork_state.depth)
		return;
	if (fork_state.prepared)
		finish_in_parent();
	fork_state.by = NOBODY;
}

static void after_in_child(enum handlers by)
{
	if (fork_state.by != by)
		return;
	fork_state.by = NOBODY;
	/* it may have begun since; else not a page is touched: that costs more than all the rest */
	if (fork_state.prepared || has_begun())
		finish_in_child();
}

#define HANDLERS(name, by)                                                                         \
	static void name##_before(void)                                                            \
	{                                                                                          \
		before_fork(by);                                                                   \
	}                                                                                          \
	static void name##_parent(void)                                                            \
	{                                                                                          \
		after_in_parent(by);                                                               \
	}                                                                                          \
	static void name##_child(void)                                                             \
	{                                                                                          \
		after_in_child(by);                                                                \
	}

HANDLERS(constructors, OF_CONSTRUCTOR)
HANDLERS(starts, OF_START)

__attribute__((constructor(102))) static void watch_from_the_beginning(void)
{
	pthread_atfork(constructors_before, constructors_parent, constructors_child);
}

void fork_watch(void)
{
	pthread_atfork(starts_before, starts_parent, starts_child);
}
