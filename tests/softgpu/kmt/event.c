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
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../clock.h"
#include "../engine.h"
#include "kmt.h"

#define EVENTS_MAX 8192u
#define FEW_EVENTS 64u
/* Longest sleep; then a wait succeeds without an event, as ROCr expects: it looks at its signals
 * again. All queues of a process have one event that resets itself, and two that are destroyed at
 * once can miss it, with the real driver too: who looks at its signal before the event is set, and
 * sleeps after another has been woken by it and reset it, would sleep for ever. */
#define SLEEP_MOST_NS UINT64_C(1000000000)

struct event {
	_Atomic bool used, set, manual;
	_Atomic uint32_t type;
	_Atomic uint32_t times_set; /* the futex of those that wait for it alone */
	_Atomic uint32_t lone_waiters;
	_Atomic uint32_t joint_waiters;
};

static struct event events[EVENTS_MAX];
static uint64_t *mailboxes; /* one for each event */
static _Atomic uint32_t joint_futex;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t next_id = 1;
static _Atomic uint32_t fault_node;
static _Atomic uint64_t fault_address;

void kmt_events_reset(void)
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

void kmt_event_set(uint32_t id)
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

void kmt_memory_fault(uint32_t node, uint64_t address)
{
	atomic_store(&fault_address, address);
	atomic_store(&fault_node, node);
	for (uint32_t i = 1; i < EVENTS_MAX; i++)
		if (events[i].used && events[i].type == HSA_EVENTTYPE_MEMORY)
			kmt_event_set(i);
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

static bool make_mailboxes(void)
{
	if (!mailboxes)
		mailboxes = kmt_pages_map(EVENTS_MAX * sizeof(*mailboxes), KMT_PAGE_BYTES, -1);
	return mailboxes;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtCreateEvent(HsaEventDescriptor *descriptor, bool manual, bool set,
					   HsaEvent **out)
{
	HsaEvent *event = calloc(1, sizeof(*event));
	uint32_t id = 0;

	if (!event)
		return HSAKMT_STATUS_NO_MEMORY;
	pthread_mutex_lock(&lock);
	if (make_mailboxes())
		id = free_id();
	if (id) {
		events[id].manual = manual;
		events[id].type = descriptor->EventType;
		events[id].set = set;
		events[id].used = true;
	}
	pthread_mutex_unlock(&lock);
	if (!id) {
		KMT_TRACE("out of events");
		free(event);
		return HSAKMT_STATUS_ERROR;
	}
	event->EventId = id;
	event->EventData.EventType = descriptor->EventType;
	event->EventData.HWData1 = id;
	event->EventData.HWData2 = (uintptr_t)&mailboxes[id];
	event->EventData.HWData3 = id;
	event->EventData.EventData.SyncVar = descriptor->SyncVar;
	*out = event;
	return HSAKMT_STATUS_SUCCESS;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtDestroyEvent(HsaEvent *event)
{
	if (!event)
		return HSAKMT_STATUS_INVALID_HANDLE;
	kmt_event_set(event->EventId); /* releases whoever still waits for it */
	events[event->EventId].used = false;
	free(event);
	return HSAKMT_STATUS_SUCCESS;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtSetEvent(HsaEvent *event)
{
	if (!event)
		return HSAKMT_STATUS_INVALID_HANDLE;
	kmt_event_set(event->EventId);
	return HSAKMT_STATUS_SUCCESS;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtResetEvent(HsaEvent *event)
{
	if (!event)
		return HSAKMT_STATUS_INVALID_HANDLE;
	atomic_store(&events[event->EventId].set, false);
	return HSAKMT_STATUS_SUCCESS;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtQueryEventState(HsaEvent *event)
{
	return event ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_HANDLE;
}

/* One call of hsaKmtWaitOnMultipleEvents(). */
struct wait {
	HsaEvent **events;
	uint32_t *seen; /* times_set of each when the wait began */
	uint32_t count;
	bool all;
	uint64_t end_ns;
};

static struct event *waited_for(const struct wait *w, uint32_t i)
{
	return &events[w->events[i]->EventId];
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

static void describe_fault(HsaEvent *event)
{
	HsaMemoryAccessFault *f = &event->EventData.EventData.MemoryAccessFault;

	f->NodeId = fault_node;
	f->VirtualAddress = fault_address;
	f->Failure.NotPresent = 1;
	f->Flags = HSA_EVENTID_MEMORY_FATAL_PROCESS;
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
		if (e->type == HSA_EVENTTYPE_MEMORY && fault_node)
			describe_fault(w->events[i]);
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

KMT_EXPORT HSAKMT_STATUS hsaKmtWaitOnMultipleEvents(HsaEvent *list[], HSAuint32 count, bool all,
						    HSAuint32 ms)
{
	uint32_t few[FEW_EVENTS];
	struct wait w = {list, few, count, all, 0};
	uint64_t now_ns;
	bool ready, timed_out = false;

	if (!list)
		return HSAKMT_STATUS_INVALID_HANDLE;
	if (count > FEW_EVENTS && !(w.seen = malloc(count * sizeof(*w.seen))))
		return HSAKMT_STATUS_NO_MEMORY;
	now_ns = sg_now_ns();
	w.end_ns = now_ns + SLEEP_MOST_NS;
	if (ms * UINT64_C(1000000) <= SLEEP_MOST_NS)
		w.end_ns = now_ns + ms * UINT64_C(1000000);
	sg_engines_kick(); /* who waits may have rung a doorbell just now */
	wait_begin(&w);
	ready = wait_sleep(&w);
	wait_end(&w, ready);
	timed_out = !ready && ms * UINT64_C(1000000) <= SLEEP_MOST_NS;
	if (w.seen != few)
		free(w.seen);
	return timed_out ? HSAKMT_STATUS_WAIT_TIMEOUT : HSAKMT_STATUS_SUCCESS;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtWaitOnEvent(HsaEvent *event, HSAuint32 ms)
{
	if (!event)
		return HSAKMT_STATUS_INVALID_HANDLE;
	return hsaKmtWaitOnMultipleEvents(&event, 1, true, ms);
}
