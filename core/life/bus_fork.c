/* SPDX-License-Identifier: MIT */
/* See bus_fork.h. */
#include "bus_fork.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "bus.h"
#include "deadline.h"
#include "guard.h"
#include "writer.h"

/* Longest time that a fork waits for a subscriber that is at work. */
#define FORK_WAIT_MS 1000u

/*
 * Two sets of handlers. Those of the constructor are there before anything of rtl's can have begun:
 * a fork may meet the first start. Those of the first start run before what allocators have
 * registered in between, who take their locks before a fork: a thread that has bus.lock may wait
 * for one. The first to run does all.
 */
enum handlers { NOBODY, OF_CONSTRUCTOR, OF_START };

/* What prepare has done: for the same thread in the parent, and for the child. */
static __thread struct {
	enum handlers by; /* NOBODY: no fork is under way */
	uint32_t depth;   /* of forks by signal handlers that have interrupted one */
	bool prepared;    /* else nothing of rtl's had begun */
	bool look_held;
	bool start_held;
	bool host_held;
	bool bus_held;
	bool bus_unknown; /* the child's: another thread may have it */
	void *ring; /* in which this thread may have a record under way; NULL: none */
	size_t ring_size;
	void *dict; /* the same for the dictionary */
	size_t dict_size;
} fork_state __attribute__((tls_model("initial-exec")));

/* Held by whoever looks at what is loaded: see bus_fork_keep_off. */
static pthread_mutex_t look_lock = PTHREAD_MUTEX_INITIALIZER;

static bool lock_look(void)
{
	const struct timespec until = deadline_in(CLOCK_REALTIME, FORK_WAIT_MS);

	return !pthread_mutex_timedlock(&look_lock, &until);
}

bool bus_fork_keep_off(void)
{
	bus_note_begin();
	writer_locked++;
	return lock_look();
}

void bus_fork_let(bool kept_off)
{
	if (kept_off)
		pthread_mutex_unlock(&look_lock);
	writer_locked--;
}

static void finish_in_parent(void)
{
	if (fork_state.bus_held)
		pthread_mutex_unlock(&bus.lock);
	if (fork_state.host_held)
		host_resume(bus.host);
	if (fork_state.start_held)
		bus_unlock_start();
	if (fork_state.look_held)
		pthread_mutex_unlock(&look_lock);
	writer_locked--;
}

/* A signal handler that has interrupted rtl where it has a lock, or is about to: if this thread has
 * it, it is left alone. */
static bool lock_bus_within(void)
{
	const struct timespec until = deadline_in(CLOCK_REALTIME, FORK_WAIT_MS);

	return !bus_is_locked_here() && !pthread_mutex_timedlock(&bus.lock, &until);
}

/* The child shares the subscribers' code and its static data: none of them may be at work. But
 * a slow one does not stop the program for longer than that. */
static void prepare(void)
{
	const struct writer *writer = writer_self;

	if (writer_locked++) {
		fork_state.bus_held = lock_bus_within();
		fork_state.dict = bus.spool.dict;
		fork_state.dict_size = bus.spool.dict_bytes;
	} else {
		fork_state.look_held = lock_look();
		/* the thread that starts the bus may want what this one holds: the host's lock, the
		 * loader's */
		fork_state.start_held = bus_lock_start(FORK_WAIT_MS);
		fork_state.host_held = bus.host && host_pause(bus.host, FORK_WAIT_MS);
		pthread_mutex_lock(&bus.lock);
		fork_state.bus_held = true;
	}
	fork_state.ring = writer->in_use ? writer->ring : NULL;
	/* its header also where it only fills what is open there, which nothing says */
	fork_state.ring_size = RING_HEADER_SIZE;
	if (fork_state.ring && writer->busy)
		fork_state.ring_size += writer->ring->capacity;
}

/* Memory of the child's own in the place of what it does not inherit. */
static void put_memory(void *at, size_t size)
{
	if (at)
		mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		     0);
}

/* What this thread was doing when the handler came it finishes in the child as well: not in the
 * parent's control page, and not in its dictionary. */
static void take_copies(void)
{
	const size_t size = sizeof *bus.spool.control;
	void *copy;

	put_memory(fork_state.dict, fork_state.dict_size);
	if (!bus.spool.control)
		return;
	copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return;
	memcpy(copy, bus.spool.control, size);
	mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, bus.spool.control);
}

/* A lock as it is in a child: given back if the forking thread has taken it before the fork, else
 * made anew, as another thread may have had it. */
static void open_lock(pthread_mutex_t *lock, bool held)
{
	if (held)
		pthread_mutex_unlock(lock);
	else
		pthread_mutex_init(lock, NULL);
}

/* Of the parent's bus a child keeps the registries. The rest starts anew with its first event;
 * what the parent's subscribers own is not touched. */
static void finish_in_child(void)
{
	open_lock(&look_lock, fork_state.look_held);
	if (fork_state.bus_held || fork_state.bus_unknown)
		open_lock(&bus.lock, fork_state.bus_held);
	if (--writer_locked)
		take_copies();
	/* the record that was under way is the parent's; it can be finished, and forgotten */
	put_memory(fork_state.ring, fork_state.ring_size);
	if (bus.alive)
		*bus.alive = 0; /* where the kernel could not wipe it */
	__atomic_store_n(&bus.state, BUS_NEW, __ATOMIC_RELAXED);
	/* the parent's rings and dictionary are not mapped here */
	if (bus.host)
		host_forget(bus.host);
	bus.host = NULL;
	bus.ring_count = 0;
	spool_forget(
		&bus.spool); /* whose lock is the parent's: it is not ours to say that it lives */
	bus_forget_start();
	guard_forked();
	bus.parents = true;
	writer_no_wait = 0;
	writer_forget_all();
}

static void before_fork(enum handlers by)
{
	if (fork_state.by == by)
		fork_state.depth++;
	if (fork_state.by != NOBODY)
		return;
	memset(&fork_state, 0, sizeof fork_state);
	fork_state.by = by;
	fork_state.depth = 1;
	fork_state.prepared = bus_has_begun();
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
	if (!fork_state.prepared && !bus_has_begun())
		return;             /* not a page is touched: that costs more than all the rest */
	if (!fork_state.prepared) { /* it has begun since, and may have the lock */
		writer_locked++;
		fork_state.bus_unknown = true;
	}
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

void bus_fork_watch(void)
{
	pthread_atfork(starts_before, starts_parent, starts_child);
}
