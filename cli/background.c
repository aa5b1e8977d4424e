/* SPDX-License-Identifier: MIT */
/* See background.h. */
#include "background.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "crash.h"
#include "thread_start.h"

/* How the thread goes before others. */
enum sched_class {
	/* SCHED_IDLE: the kernel takes its core for an idle one, where a thread of the program's that wakes up is
	 * sent, and goes on at once. But on a machine that others keep busy it gets no processor for seconds. So
	 * only where it can be taken back, which takes the privilege. */
	CLASS_IDLE,
	/* The lowest priority: with two busy cores it gets a fiftieth of one. */
	CLASS_NICE,
	CLASS_PROGRAM, /* as the caller */
};

#define NICE 19
/* What CLASS_NICE runs at once, from Linux 6.12 on: a thread of the program's that wakes up may have to wait so
 * long. */
#define SLICE_NS 100000u
/* Starved: for so long no poll has ended, nor has it had a hundredth of a core. Polls that find nothing end every
 * background.sleep_ms. */
#define STARVED_MS 200
#define STARVED_NS (STARVED_MS * 1000000u / 100)
/* Then it is of CLASS_NICE for so long. */
#define NICE_NS 2000000000u

void background_init(struct background *background, struct rtl_collector *collector,
		     uint32_t sleep_ms, bool is_quick)
{
	pthread_condattr_t monotonic;

	*background = (struct background){.collector = collector,
					  .sleep_ms = sleep_ms,
					  .is_quick = is_quick,
					  .nice = getpriority(PRIO_PROCESS, 0)};
	pthread_mutex_init(&background->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&background->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

static uint64_t clock_now_ns(clockid_t clock)
{
	struct timespec now = {0, 0};

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_short(const struct background *background)
{
	struct rtl_backlog backlog = {.struct_size = sizeof(backlog)};

	rtl_collector_backlog(background->collector, &backlog);
	return backlog.is_short;
}

/* Of sched_setattr(2), which the C library lacks. tid 0: the calling thread. */
static bool set_class(uint32_t tid, enum sched_class class, int nice)
{
	static const uint32_t policies[] = {SCHED_IDLE, SCHED_BATCH, SCHED_OTHER};
	const struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attributes = {.size = 48,
			.policy = policies[class],
			.nice = class == CLASS_PROGRAM ? nice : NICE,
			.runtime = class == CLASS_NICE ? SLICE_NS : 0};

	return !syscall(SYS_sched_setattr, tid, &attributes, 0);
}

/* Nothing, if that is not to be had. */
static void change_class(const struct background *background, enum sched_class class)
{
	const uint32_t tid = __atomic_load_n(&background->tid, __ATOMIC_SEQ_CST);

	if (tid)
		set_class(tid, class, background->nice);
}

static bool is_woken(const struct background *background)
{
	return __atomic_load_n(&background->woken, __ATOMIC_SEQ_CST);
}

static void drain_until_short(struct background *background)
{
	do {
		background->met = rtl_collector_poll(background->collector, background->sleep_ms);
		__atomic_store_n(&background->turns, background->turns + 1, __ATOMIC_RELAXED);
	} while (!is_woken(background) && !is_short(background));
}

/* Unless it is woken. Seq_cst: tid is stored and `woken` loaded here after the change, and background_wake stores
 * `woken` and then loads tid, so one of both sees the other and the class is the program's in the end. */
static void lower_class(const struct background *background, enum sched_class class)
{
	change_class(background, class);
	if (is_woken(background))
		change_class(background, CLASS_PROGRAM);
}

/* Not under the lock: from a thread of CLASS_IDLE nobody might get that for seconds. Other locks that it takes
 * meanwhile nobody else wants. */
static void drain_low(struct background *background, enum sched_class class)
{
	lower_class(background, class);
	drain_until_short(background);
	change_class(background, CLASS_PROGRAM);
}

/* Gives up this thread's priority, for good where it cannot be had back. */
static void yield_to_program(struct background *background)
{
	const int policy = sched_getscheduler(0);
	const bool is_plain = policy == SCHED_OTHER && background->nice < NICE;

	if (policy == SCHED_IDLE)
		return;
	if (!set_class(0, CLASS_NICE, 0))
		setpriority(PRIO_PROCESS, 0, NICE);
	else if (is_plain && set_class(0, CLASS_PROGRAM, background->nice))
		__atomic_store_n(&background->tid, (uint32_t)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
}

/* As was found when it was looked after last. Under the lock. */
static enum sched_class low_class(const struct background *background)
{
	return clock_now_ns(CLOCK_MONOTONIC) < background->nice_until_ns ? CLASS_NICE : CLASS_IDLE;
}

static void *run(void *user)
{
	struct background *background = user;
	static char stack[CRASH_STACK];
	enum sched_class class;

	crash_set_stack(stack, sizeof(stack));
	crash_expect_thread(true);
	yield_to_program(background);
	pthread_mutex_lock(&background->lock);
	while (!background->ends) {
		if (!background->lent) {
			pthread_cond_wait(&background->changed, &background->lock);
			continue;
		}
		class = low_class(background);
		pthread_mutex_unlock(&background->lock);
		drain_low(background, class);
		pthread_mutex_lock(&background->lock);
		/* it may have been looked after just before */
		change_class(background, CLASS_PROGRAM);
		background->lent = false;
		pthread_cond_broadcast(&background->changed);
	}
	__atomic_store_n(&background->tid, 0, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&background->lock);
	crash_expect_thread(false);
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

/* What of a processor's time the thread has had. */
static uint64_t thread_ns(const struct background *background)
{
	clockid_t clock;

	return pthread_getcpuclockid(background->thread, &clock) ? 0 : clock_now_ns(clock);
}

/* Waits until the collector is given back, at most STARVED_MS; false: it is not. Under the lock. */
static bool wait_for_turn(struct background *background)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += STARVED_MS * 1000000;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	while (background->lent)
		if (pthread_cond_timedwait(&background->changed, &background->lock, &end))
			return !background->lent;
	return true;
}

/* Under the lock. */
static void wait_until_given_back(struct background *background)
{
	uint64_t had_ns = thread_ns(background), now_ns;
	uint32_t turns = __atomic_load_n(&background->turns, __ATOMIC_RELAXED), now_turns;

	while (!wait_for_turn(background)) {
		now_ns = thread_ns(background);
		now_turns = __atomic_load_n(&background->turns, __ATOMIC_RELAXED);
		if (now_turns == turns && now_ns - had_ns < STARVED_NS &&
		    low_class(background) == CLASS_IDLE)
			background->nice_until_ns = clock_now_ns(CLOCK_MONOTONIC) + NICE_NS;
		lower_class(background, low_class(background));
		had_ns = now_ns;
		turns = now_turns;
	}
}

uint32_t background_poll(struct background *background)
{
	if (is_woken(background))
		return background->met;
	if (background->is_quick || is_short(background) || !start(background))
		return background->met =
			       rtl_collector_poll(background->collector, background->sleep_ms);
	pthread_mutex_lock(&background->lock);
	background->lent = true;
	pthread_cond_broadcast(&background->changed);
	wait_until_given_back(background);
	pthread_mutex_unlock(&background->lock);
	return background->met;
}

void background_wake(struct background *background)
{
	__atomic_store_n(&background->woken, true, __ATOMIC_SEQ_CST);
	change_class(background, CLASS_PROGRAM);
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
