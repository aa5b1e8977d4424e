/* SPDX-License-Identifier: MIT */
/* See background.h. */
#include "background.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "crash.h"
#include "thread_start.h"

/* The lowest: with two busy cores it gets a fiftieth of one. Not SCHED_IDLE: on a machine that others keep
 * busy it would not come for seconds, and what has ended is to be noticed. */
#define NICE 19
/* What it runs at once, from Linux 6.12 on: a thread of the program's that wakes up may have to wait so long. */
#define SLICE_NS 100000u

void background_init(struct background *background, struct rtl_collector *collector,
		     uint32_t sleep_ms, bool is_quick)
{
	*background = (struct background){
		.collector = collector, .sleep_ms = sleep_ms, .is_quick = is_quick};
	pthread_mutex_init(&background->lock, NULL);
	pthread_cond_init(&background->changed, NULL);
}

static bool is_short(const struct background *background)
{
	struct rtl_backlog backlog = {.struct_size = sizeof(backlog)};

	rtl_collector_backlog(background->collector, &backlog);
	return backlog.is_short;
}

static void drain_until_short(struct background *background)
{
	do
		background->met = rtl_collector_poll(background->collector, background->sleep_ms);
	while (!__atomic_load_n(&background->woken, __ATOMIC_RELAXED) && !is_short(background));
}

/* This thread alone. Of sched_setattr(2), which the C library lacks. */
static void yield_to_program(void)
{
	const struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attributes = {.size = 48, .policy = SCHED_BATCH, .nice = NICE, .runtime = SLICE_NS};

	if (syscall(SYS_sched_setattr, 0, &attributes, 0))
		setpriority(PRIO_PROCESS, 0, NICE);
}

static void *run(void *user)
{
	struct background *background = user;
	static char stack[CRASH_STACK];

	crash_set_stack(stack, sizeof(stack));
	yield_to_program();
	pthread_mutex_lock(&background->lock);
	while (!background->ends) {
		if (!background->lent) {
			pthread_cond_wait(&background->changed, &background->lock);
			continue;
		}
		pthread_mutex_unlock(&background->lock);
		drain_until_short(background);
		pthread_mutex_lock(&background->lock);
		background->lent = false;
		pthread_cond_broadcast(&background->changed);
	}
	pthread_mutex_unlock(&background->lock);
	return NULL;
}

static bool start(struct background *background)
{
	if (background->runs)
		return true;
	background->runs = thread_start(&background->thread, run, background);
	if (background->runs)
		pthread_setname_np(background->thread, "rtl-collector");
	return background->runs;
}

uint32_t background_poll(struct background *background)
{
	if (__atomic_load_n(&background->woken, __ATOMIC_RELAXED))
		return background->met;
	if (background->is_quick || is_short(background) || !start(background))
		return background->met =
			       rtl_collector_poll(background->collector, background->sleep_ms);
	pthread_mutex_lock(&background->lock);
	background->lent = true;
	pthread_cond_broadcast(&background->changed);
	while (background->lent)
		pthread_cond_wait(&background->changed, &background->lock);
	pthread_mutex_unlock(&background->lock);
	return background->met;
}

void background_wake(struct background *background)
{
	__atomic_store_n(&background->woken, true, __ATOMIC_RELAXED);
	rtl_collector_wake(background->collector);
}

void background_fini(struct background *background)
{
	if (background->runs) {
		pthread_mutex_lock(&background->lock);
		background->ends = true;
		pthread_cond_broadcast(&background->changed);
		pthread_mutex_unlock(&background->lock);
		pthread_join(background->thread, NULL);
	}
	pthread_cond_destroy(&background->changed);
	pthread_mutex_destroy(&background->lock);
}
