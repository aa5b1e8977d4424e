/* SPDX-License-Identifier: MIT
 *
 * Events: what threads of ROCr sleep on until a signal's interrupt comes.
 *
 * Threads: set by engines and programs, waited for by programs. An event's state is atomic;
 * the lock is for making events only. A thread that waits for one event sleeps on that
 * event's own futex, one that waits for several on a futex common to all of those.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../clock.h"
#include "../engine.h"
#include "kfd.h"

#define EVENTS_MAX 8192u
#define FEW_EVENTS 64u
#define NS_PER_MS  UINT64_C(1000000)
/* Longest sleep; then a wait succeeds without an event, as ROCr expects: it looks at its signals
 * again. All queues of a process have one event that resets itself, and two that are destroyed at
 * once can miss it, with the real driver too: who looks at its signal before the event is set, and
 * sleeps after another has been woken by it and reset it, would sleep for ever. */
#define SLEEP_MOST_NS UINT64_C(1000000000)
/* Not 0: then the thunk tells programs no mailbox. */
#define PAGE_OFFSET (UINT64_C(1) << 62)

struct event {
	_Atomic bool used, set, manual;
	_Atomic uint32_t type;
	_Atomic uint32_t times_set; /* the futex of those that wait for it alone */
	_Atomic uint32_t lone_waiters;
	_Atomic uint32_t joint_waiters;
};

static struct event events[EVENTS_MAX];
static _Atomic uint32_t joint_futex;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t next_id = 1;
static _Atomic uint32_t fault_type, fault_node;
static _Atomic uint64_t fault_address;

void kfd_events_reset(void)
{
	pthread_mutex_init(&lock, NULL);
	memset(events, 0, sizeof(events));
	next_id = 1;
	fault_node = 0;
}

static void futex_wake_all(_Atomic uint32_t *futex)
{
	syscall(SYS_futex, futex, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void kfd_event_set(uint32_t id)
{
	struct event *e;

	if (!id || id >= EVENTS_MAX)
		return;
	e = &events[id];
	atomic_store(&e->set, true);
	atomic_fetch_add(&e->times_set, 1);
	if (atomic_load(&e->lone_waiters))
		futex_wake_all(&e->times_set);
	if (atomic_load(&e->joint_waiters)) {
		atomic_fetch_add(&joint_futex, 1);
		futex_wake_all(&joint_futex);
	}
}

static void report(uint32_t type, uint32_t node)
{
	atomic_store(&fault_type, type);
	atomic_store(&fault_node, node);
	for (uint32_t i = 1; i < EVENTS_MAX; i++)
		if (events[i].used && events[i].type == type)
			kfd_event_set(i);
}

void kfd_memory_fault(uint32_t node, uint64_t address)
{
	atomic_store(&fault_address, address);
	report(KFD_IOC_EVENT_MEMORY, node);
}

void kfd_hw_exception(uint32_t node)
{
	report(KFD_IOC_EVENT_HW_EXCEPTION, node);
}

/* Under the lock. 0: there are no more. */
static uint32_t free_id(void)
{
	for (uint32_t n = 0; n < sg_config.max_events; n++) {
		uint32_t id = next_id;

		next_id = id >= sg_config.max_events ? 1 : id + 1;
		if (!events[id].used)
			return id;
	}
	return 0;
}

int kfd_event_create(struct kfd_ioctl_create_event_args *args)
{
	uint32_t id;

	pthread_mutex_lock(&lock);
	id = free_id();
	if (id) {
		events[id].manual = !args->auto_reset;
		events[id].type = args->event_type;
		events[id].set = false;
		events[id].used = true;
	}
	pthread_mutex_unlock(&lock);
	if (!id)
		return ENOSPC;
	args->event_id = args->event_trigger_data = args->event_slot_index = id;
	args->event_page_offset = PAGE_OFFSET;
	return 0;
}

int kfd_event_destroy(uint32_t id)
{
	if (id >= EVENTS_MAX)
		return EINVAL;
	kfd_event_set(id); /* releases whoever still waits for it */
	events[id].used = false;
	return 0;
}

int kfd_event_reset(uint32_t id)
{
	if (id >= EVENTS_MAX)
		return EINVAL;
	atomic_store(&events[id].set, false);
	return 0;
}

/* One call of kfd_events_wait(). */
struct wait {
	struct kfd_event_data *events;
	uint32_t *seen; /* times_set of each when the wait began */
	uint32_t count;
	bool all;
	uint64_t end_ns;
};

static struct event *waited_for(const struct wait *w, uint32_t i)
{
	return &events[w->events[i].event_id % EVENTS_MAX];
}

/* Like the driver, setting an event that resets itself wakes all that wait for it. */
static bool is_ready(const struct wait *w)
{
	uint32_t ready = 0;

	for (uint32_t i = 0; i < w->count; i++) {
		struct event *e = waited_for(w, i);

		ready += atomic_load(&e->set) || atomic_load(&e->times_set) != w->seen[i];
	}
	return w->all ? ready == w->count : ready > 0;
}

static void wait_begin(const struct wait *w)
{
	for (uint32_t i = 0; i < w->count; i++) {
		struct event *e = waited_for(w, i);

		w->seen[i] = atomic_load(&e->times_set);
		atomic_fetch_add(w->count == 1 ? &e->lone_waiters : &e->joint_waiters, 1);
	}
}

static void describe_fault(struct kfd_event_data *event)
{
	event->memory_exception_data = (struct kfd_hsa_memory_exception_data){
		.failure = {.NotPresent = 1},
		.va = fault_address,
		.gpu_id = KFD_FIRST_GPU_ID + fault_node - 1,
	};
}

static void wait_end(const struct wait *w, bool ready)
{
	for (uint32_t i = 0; i < w->count; i++) {
		struct event *e = waited_for(w, i);

		atomic_fetch_sub(w->count == 1 ? &e->lone_waiters : &e->joint_waiters, 1);
		if (!ready)
			continue;
		if (!e->manual)
			atomic_store(&e->set, false);
		if (!fault_node || e->type != fault_type)
			continue;
		if (e->type == KFD_IOC_EVENT_MEMORY)
			describe_fault(&w->events[i]);
		else
			w->events[i].hw_exception_data = (struct kfd_hsa_hw_exception_data){
				.reset_cause = KFD_HW_EXCEPTION_GPU_HANG,
				.memory_lost = 1,
				.gpu_id = KFD_FIRST_GPU_ID + fault_node - 1,
			};
	}
}

/* Until it is ready (true) or its time is over. */
static bool wait_sleep(const struct wait *w)
{
	_Atomic uint32_t *futex = w->count == 1 ? &waited_for(w, 0)->times_set : &joint_futex;

	for (;;) {
		uint32_t value = atomic_load(futex);
		struct timespec left;
		uint64_t now_ns;

		if (is_ready(w))
			return true;
		now_ns = sg_now_ns();
		if (now_ns >= w->end_ns)
			return false;
		left.tv_sec = (time_t)((w->end_ns - now_ns) / SG_NS_PER_S);
		left.tv_nsec = (long)((w->end_ns - now_ns) % SG_NS_PER_S);
		syscall(SYS_futex, futex, FUTEX_WAIT_PRIVATE, value, &left, NULL, 0);
	}
}

int kfd_events_wait(struct kfd_ioctl_wait_events_args *args)
{
	const bool is_long = args->timeout * NS_PER_MS > SLEEP_MOST_NS;
	uint32_t few[FEW_EVENTS];
	struct wait w = {
		.events = (struct kfd_event_data *)(uintptr_t)args->events_ptr,
		.seen = few,
		.count = args->num_events,
		.all = args->wait_for_all,
		.end_ns = sg_now_ns() + (is_long ? SLEEP_MOST_NS : args->timeout * NS_PER_MS),
	};
	bool ready;

	if (w.count > FEW_EVENTS && !(w.seen = malloc(w.count * sizeof(*w.seen))))
		return ENOMEM;
	sg_engines_kick(); /* who waits may have rung a doorbell just now */
	wait_begin(&w);
	ready = wait_sleep(&w);
	wait_end(&w, ready);
	if (w.seen != few)
		free(w.seen);
	args->wait_result =
		ready || is_long ? KFD_IOC_WAIT_RESULT_COMPLETE : KFD_IOC_WAIT_RESULT_TIMEOUT;
	return 0;
}
