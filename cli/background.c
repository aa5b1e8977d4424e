/* SPDX-License-Identifier: MIT */
/* See background.h. */
#include "background.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

#include <rtl/publish.h>

#include "crash.h"

/* Where SCHED_IDLE is not to be had. */
#define NICE 19

void background_init(struct background *background, struct rtl_collector *collector,
		     uint32_t sleep_ms)
{
	*background = (struct background){.collector = collector, .sleep_ms = sleep_ms};
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

/* This thread alone. A thread of the program's that wakes up takes the core of one of SCHED_IDLE at once; of
 * one that is only nice it may wait for the end of a slice. */
static void yield_to_program(void)
{
	const struct sched_param none = {0};

	setpriority(PRIO_PROCESS, (id_t)rtl_thread_id(), NICE);
	(void)sched_setscheduler(0, SCHED_IDLE, &none);
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

/* With all signals blocked but those that tell of errors of its own. */
static bool start(struct background *background)
{
	sigset_t all, old;

	if (background->runs)
		return true;
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGABRT);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	background->runs = !pthread_create(&background->thread, NULL, run, background);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (background->runs)
		pthread_setname_np(background->thread, "rtl-collector");
	return background->runs;
}

uint32_t background_poll(struct background *background)
{
	if (__atomic_load_n(&background->woken, __ATOMIC_RELAXED))
		return background->met;
	if (is_short(background) || !start(background))
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
