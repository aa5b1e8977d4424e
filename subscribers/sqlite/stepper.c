/* SPDX-License-Identifier: MIT */
/* stepper.c: see stepper.h. */
#include "stepper.h"

#include <sched.h>
#include <sys/resource.h>

#include "thread_start.h"

/* Steps one without the lock, unless one before has failed. */
static void step_next(struct stepper *stepper)
{
	sqlite3_stmt *stmt = stepper->jobs[stepper->done % STEPPER_JOBS];
	int result = stepper->result;

	if (result == SQLITE_OK) {
		pthread_mutex_unlock(&stepper->lock);
		sqlite3_step(stmt);
		result = sqlite3_reset(stmt);
		pthread_mutex_lock(&stepper->lock);
	}
	stepper->result = result;
	stepper->done++;
	pthread_cond_broadcast(&stepper->changed);
}

static void *run(void *user)
{
	struct stepper *stepper = user;

	pthread_setname_np(pthread_self(), "rtl-sqlite");
	pthread_mutex_lock(&stepper->lock);
	for (;;)
		if (stepper->done != stepper->added)
			step_next(stepper);
		else if (stepper->ends)
			break;
		else
			pthread_cond_wait(&stepper->changed, &stepper->lock);
	pthread_mutex_unlock(&stepper->lock);
	return NULL;
}

static bool is_one_core(void)
{
	cpu_set_t cores;

	return !sched_getaffinity(0, sizeof(cores), &cores) && CPU_COUNT(&cores) == 1;
}

static bool start(struct stepper *stepper)
{
	stepper->failed_to_start = is_one_core();
	if (stepper->failed_to_start)
		return false;
	pthread_mutex_init(&stepper->lock, NULL);
	pthread_cond_init(&stepper->changed, NULL);
	stepper->ends = false;
	stepper->runs = thread_start(&stepper->thread, run, stepper);
	stepper->failed_to_start = !stepper->runs;
	return stepper->runs;
}

/* Whether the calling thread goes before no other: then a thread that it starts would not either. */
static bool has_low_priority(void)
{
	return getpriority(PRIO_PROCESS, 0) >= 19 || sched_getscheduler(0) == SCHED_IDLE;
}

bool stepper_ready(struct stepper *stepper)
{
	if (stepper->failed_to_start || has_low_priority())
		return false;
	return stepper->runs || start(stepper);
}

uint64_t stepper_add(struct stepper *stepper, sqlite3_stmt *stmt)
{
	uint64_t number;

	pthread_mutex_lock(&stepper->lock);
	while (stepper->added - stepper->done == STEPPER_JOBS)
		pthread_cond_wait(&stepper->changed, &stepper->lock);
	stepper->jobs[stepper->added % STEPPER_JOBS] = stmt;
	number = ++stepper->added;
	pthread_cond_broadcast(&stepper->changed);
	pthread_mutex_unlock(&stepper->lock);
	return number;
}

void stepper_wait(struct stepper *stepper, uint64_t number)
{
	if (!stepper->runs)
		return;
	pthread_mutex_lock(&stepper->lock);
	while (stepper->done < number)
		pthread_cond_wait(&stepper->changed, &stepper->lock);
	pthread_mutex_unlock(&stepper->lock);
}

int stepper_settle(struct stepper *stepper)
{
	int result;

	if (!stepper->runs)
		return SQLITE_OK;
	stepper_wait(stepper, stepper->added); /* the owner's own */
	result = stepper->result;
	stepper->result = SQLITE_OK;
	return result;
}

void stepper_fini(struct stepper *stepper)
{
	if (!stepper->runs)
		return;
	pthread_mutex_lock(&stepper->lock);
	stepper->ends = true;
	pthread_cond_broadcast(&stepper->changed);
	pthread_mutex_unlock(&stepper->lock);
	pthread_join(stepper->thread, NULL);
	pthread_mutex_destroy(&stepper->lock);
	pthread_cond_destroy(&stepper->changed);
	stepper->runs = false;
}
