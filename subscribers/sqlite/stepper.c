/* SPDX-License-Identifier: MIT */
/* stepper.c: see stepper.h. */
#include "stepper.h"

#include <sched.h>
#include <sys/resource.h>

#include "thread_start.h"

/* Runs one without the lock, unless one before has failed. */
static void run_next(struct stepper *stepper)
{
	const struct stepper_job job = stepper->jobs[stepper->done % STEPPER_JOBS];
	int result = stepper->result;

	if (result == SQLITE_OK) {
		pthread_mutex_unlock(&stepper->lock);
		result = job.run(job.user);
		pthread_mutex_lock(&stepper->lock);
	}
	stepper->result = result;
	if (++stepper->done == stepper->awaited)
		pthread_cond_signal(&stepper->finished);
}

/* Until there is something to do. */
static void sleep_idle(struct stepper *stepper)
{
	stepper->idle = true;
	pthread_cond_wait(&stepper->changed, &stepper->lock);
	stepper->idle = false;
}

/* Wakes the thread if it sleeps: both run on, and each wake-up costs as much as some hundred rows. */
static void wake(struct stepper *stepper)
{
	if (stepper->idle)
		pthread_cond_signal(&stepper->changed);
}

/* The owner, under the lock: until so many are done. */
static void sleep_until(struct stepper *stepper, uint64_t done)
{
	stepper->awaited = done;
	while (stepper->done < done)
		pthread_cond_wait(&stepper->finished, &stepper->lock);
	stepper->awaited = UINT64_MAX;
}

static void *run(void *user)
{
	struct stepper *stepper = user;

	pthread_setname_np(pthread_self(), "rtl-sqlite");
	pthread_mutex_lock(&stepper->lock);
	for (;;)
		if (stepper->done != stepper->added)
			run_next(stepper);
		else if (stepper->ends)
			break;
		else
			sleep_idle(stepper);
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
	pthread_cond_init(&stepper->finished, NULL);
	stepper->awaited = UINT64_MAX;
	stepper->idle = stepper->ends = false;
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

uint64_t stepper_add(struct stepper *stepper, struct stepper_job job)
{
	uint64_t number;

	pthread_mutex_lock(&stepper->lock);
	if (stepper->added - stepper->done == STEPPER_JOBS)
		sleep_until(stepper, stepper->done + STEPPER_JOBS / 2);
	stepper->jobs[stepper->added % STEPPER_JOBS] = job;
	number = ++stepper->added;
	wake(stepper);
	pthread_mutex_unlock(&stepper->lock);
	return number;
}

bool stepper_has_done(struct stepper *stepper, uint64_t number)
{
	bool has;

	if (!stepper->runs)
		return true;
	pthread_mutex_lock(&stepper->lock);
	has = stepper->done >= number;
	pthread_mutex_unlock(&stepper->lock);
	return has;
}

void stepper_wait(struct stepper *stepper, uint64_t number)
{
	if (!stepper->runs)
		return;
	pthread_mutex_lock(&stepper->lock);
	if (stepper->done < number)
		sleep_until(stepper, number);
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
	wake(stepper);
	pthread_mutex_unlock(&stepper->lock);
	pthread_join(stepper->thread, NULL);
	pthread_mutex_destroy(&stepper->lock);
	pthread_cond_destroy(&stepper->changed);
	pthread_cond_destroy(&stepper->finished);
	stepper->runs = false;
}
