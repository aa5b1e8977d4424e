/* SPDX-License-Identifier: MIT */
#include "engine.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "config.h"

#define FIRST_NAP_NS  20000u
#define SHORT_NAP_NS  100000u /* the longest nap while the idle time is short */
#define SHORT_IDLE_NS 20000000u
#define WAKE_EARLY_NS 10000u

static _Atomic uint32_t kicks; /* futex of all that sleep */
static _Atomic uint32_t sleepers;

uint32_t sg_queue_next_id(void)
{
	static _Atomic uint32_t last;

	return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

void sg_engines_kick(void)
{
	/* The pair of nap(): either we see the sleeper or it sees the kick. */
	atomic_fetch_add(&kicks, 1);
	if (atomic_load(&sleepers))
		syscall(SYS_futex, &kicks, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static void nap(uint32_t kicks_seen, uint64_t ns)
{
	struct timespec t = {(time_t)(ns / SG_NS_PER_S), (long)(ns % SG_NS_PER_S)};

	atomic_fetch_add(&sleepers, 1);
	syscall(SYS_futex, &kicks, FUTEX_WAIT_PRIVATE, kicks_seen, &t, NULL, 0);
	atomic_fetch_sub(&sleepers, 1);
}

static bool step_all(struct sg_engine *engine, uint64_t *wake_ns)
{
	bool moved = false;

	if (atomic_load_explicit(&engine->lock_wanted, memory_order_relaxed))
		sched_yield();
	pthread_mutex_lock(&engine->lock);
	for (struct sg_queue *q = engine->queues; q; q = q->next)
		moved |= engine->step(engine, q, wake_ns);
	pthread_mutex_unlock(&engine->lock);
	return moved;
}

/* How long to sleep, 0 for not at all. */
static uint64_t nap_ns(uint64_t now_ns, uint64_t idle_since_ns, uint64_t wake_ns, uint64_t last_ns)
{
	uint64_t idle_ns = now_ns - idle_since_ns;
	uint64_t longest_ns = idle_ns < SHORT_IDLE_NS ? SHORT_NAP_NS : sg_config.sleep_ns;
	uint64_t ns = last_ns ? last_ns * 2 : FIRST_NAP_NS;

	if (wake_ns < now_ns + 2 * WAKE_EARLY_NS || idle_ns < sg_config.spin_ns)
		return 0;
	if (ns > longest_ns)
		ns = longest_ns;
	return wake_ns - now_ns < ns ? wake_ns - now_ns - WAKE_EARLY_NS : ns;
}

static void *engine_main(void *arg)
{
	struct sg_engine *engine = arg;
	uint64_t idle_since_ns = 0, ns = 0;

	prctl(PR_SET_TIMERSLACK, 1000ul);
	pthread_setname_np(pthread_self(), engine->name);
	while (!atomic_load_explicit(&engine->quit, memory_order_acquire)) {
		uint32_t kicks_seen = atomic_load(&kicks);
		uint64_t wake_ns = UINT64_MAX, now_ns;

		if (step_all(engine, &wake_ns)) {
			idle_since_ns = ns = 0;
			continue;
		}
		now_ns = sg_now_ns();
		if (!idle_since_ns)
			idle_since_ns = now_ns;
		ns = nap_ns(now_ns, idle_since_ns, wake_ns, ns);
		if (ns)
			nap(kicks_seen, ns);
		else
			__builtin_ia32_pause();
	}
	return NULL;
}

void sg_engine_init(struct sg_engine *engine, sg_step *step, uint32_t gpu, const char *suffix)
{
	memset(engine, 0, sizeof(*engine));
	engine->step = step;
	snprintf(engine->name, sizeof(engine->name), "softgpu%u-%s", gpu, suffix);
	pthread_mutex_init(&engine->lock, NULL);
}

int sg_engine_start(struct sg_engine *engine)
{
	sigset_t all, old;
	int err;

	if (engine->running)
		return 0;
	atomic_store(&engine->quit, false);
	sg_log_init(&engine->log);
	sigfillset(&all); /* the program's signals are not ours to take */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&engine->thread, NULL, engine_main, engine);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	engine->running = err == 0;
	if (err)
		sg_log_fini(&engine->log);
	return err;
}

void sg_engine_stop(struct sg_engine *engine)
{
	if (!engine->running)
		return;
	atomic_store_explicit(&engine->quit, true, memory_order_release);
	sg_engines_kick();
	pthread_join(engine->thread, NULL);
	engine->running = false;
	sg_log_fini(&engine->log);
}

/* The engine takes its lock again at once after it has let it go: ask it to yield. */
static void engine_lock(struct sg_engine *engine)
{
	atomic_fetch_add(&engine->lock_wanted, 1);
	pthread_mutex_lock(&engine->lock);
	atomic_fetch_sub(&engine->lock_wanted, 1);
}

void sg_engine_add(struct sg_engine *engine, struct sg_queue *queue)
{
	queue->engine = engine;
	engine_lock(engine);
	queue->next = engine->queues;
	engine->queues = queue;
	pthread_mutex_unlock(&engine->lock);
}

void sg_engine_remove(struct sg_queue *queue)
{
	struct sg_engine *engine = queue->engine;
	struct sg_queue **p;

	engine_lock(engine);
	for (p = &engine->queues; *p && *p != queue; p = &(*p)->next)
		;
	if (*p)
		*p = queue->next;
	pthread_mutex_unlock(&engine->lock);
}
