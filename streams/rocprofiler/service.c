/* SPDX-License-Identifier: MIT */
#include "context.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "../hsa/harvest/harvest.h"

#define FINISH_MS      5000
#define DROP_MS        1000
#define EXIT_MS        300     /* without news at the end of the process */
#define SPIN_NS        200000u /* without news: then the service sleeps between looks */
#define SLEEP_NS       20000
#define DEFAULT_WAIT_S 10
#define HELP_NS        500000000u

/* Dispatches taken: relaxed. Those handed to the thread of handlers, those that are over, and passes over all:
 * release when it grows, acquire by who waits for that. */
static uint64_t taken, handed, over, looks;

/* The thread of handlers. */
static _Thread_local bool handles __attribute__((tls_model("initial-exec")));

uint64_t clock_hsa_ns(void)
{
	uint64_t ticks = 0;

	(void)hsa->system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &ticks);
	return runtime_ns(ticks);
}

void record_complete(rocprofiler_dispatch_record_t *record)
{
	/* Release: a tool that sees it reads the rest. */
	if (record)
		__atomic_store_n(&record->complete, clock_hsa_ns(), __ATOMIC_RELEASE);
}

static struct {
	pthread_mutex_t lock;
	pthread_cond_t more, ended_more;
	/* Oldest first: what is new; for the handlers. */
	struct work *incoming, **incoming_last, *ended, **ended_last;
	bool started;
	pid_t pid; /* of the process whose threads these are */
	/* The service's own. */
	struct work *works;
} service = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.more = PTHREAD_COND_INITIALIZER,
	.ended_more = PTHREAD_COND_INITIALIZER,
	.incoming_last = &service.incoming,
	.ended_last = &service.ended,
};

/* Asks the service to drop what is under way, which makes it false again. Release; acquire by the service. */
static bool drop;

/* Turns have ended for good: relaxed, who submits does less. */
static bool released;

bool service_released(void)
{
	return __atomic_load_n(&released, __ATOMIC_RELAXED);
}

static bool is_over(hsa_signal_t signal)
{
	return hsa->signal_load(signal) < 1;
}

/* Gives the turn to who has waited longest, if nobody has it. */
static void next_turn(struct gpu *gpu)
{
	struct work *work = gpu->first;

	if (gpu->turn || !work)
		return;
	gpu->first = work->after;
	work->after = NULL;
	work->has_turn = true;
	gpu->turn = work;
	gpu->turn_since_ns = clock_read_ns(CLOCK_MONOTONIC);
	hsa->signal_store(work->context->grant, 0);
}

/* It has the turn, or waits for it, no more. */
static void end_turn(struct work *work)
{
	struct gpu *gpu = work->gpu;
	struct work **at = gpu->turn == work ? &gpu->turn : &gpu->first;

	while (*at && *at != work)
		at = &(*at)->after;
	if (*at)
		*at = work->after;
	next_turn(gpu);
}

/* It may have been counted with others, or may never end: nobody waits for it. */
static void abandon(struct work *work)
{
	__atomic_store_n(&work->context->abandoned, true, __ATOMIC_RELEASE);
	work->counts_ended = true;
}

static void release(struct gpu *gpu)
{
	while (gpu->turn) {
		abandon(gpu->turn);
		end_turn(gpu->turn);
	}
}

static void on_arrival(struct work *work)
{
	struct work **last = &work->gpu->first;

	work->arrived = true;
	while (*last)
		last = &(*last)->after;
	*last = work;
	next_turn(work->gpu);
	if (service_released())
		release(work->gpu);
}

static void on_kernel(struct work *work)
{
	hsa_amd_profiling_dispatch_time_t time = {0};

	work->kernel_ended = true;
	if (work->record && !hsa->get_dispatch_time(work->gpu->agent, work->kernel, &time)) {
		work->record->begin = runtime_ns(time.start);
		work->record->end = runtime_ns(time.end);
	}
}

/* Its signal gets the times as well as the end: its own timing asks there. */
static void tell_program(const struct work *work)
{
	const amd_signal_t *ours = (const amd_signal_t *)(uintptr_t)work->kernel.handle;
	amd_signal_t *program = (amd_signal_t *)(uintptr_t)work->original.handle;

	if (!program)
		return;
	program->start_ts = ours->start_ts;
	program->end_ts = ours->end_ts;
	hsa->signal_subtract(work->original, 1);
}

/* There is room for as many packets in its queue's ring. */
static void note_end(const struct work *work)
{
	struct queue *queue = work->queue;

	if (!context_is_abandoned(work->context) &&
	    work->position > __atomic_load_n(&queue->ended, __ATOMIC_RELAXED))
		__atomic_store_n(&queue->ended, work->position, __ATOMIC_RELEASE);
}

/* On the thread of handlers: a handler may wait for a lock whose owner waits for a turn. */
static void deliver(struct work *work)
{
	struct context *context = work->context;
	struct pool_entry *entry = context->entry;

	if (entry) {
		pool_complete(entry);
	} else {
		if (context->handler && runtime_lasts(context->life) &&
		    !__atomic_load_n(&context->closed, __ATOMIC_ACQUIRE))
			(void)context->handler(work->group, context->handler_arg);
		__atomic_store_n(&context->busy, false, __ATOMIC_RELEASE);
	}
	context_unuse(context);
	free(work);
	__atomic_fetch_add(&over, 1, __ATOMIC_RELEASE);
}

/* All of it has ended. The handlers come first, then the program's signal: see harvest_help. */
static void hand_over(struct work *work)
{
	const struct work ended = *work; /* which the handlers' thread frees */

	note_end(work);
	record_complete(work->record);
	__atomic_fetch_sub(&work->queue->under_way, 1, __ATOMIC_RELEASE);
	work->next = NULL;
	pthread_mutex_lock(&service.lock);
	*service.ended_last = work;
	service.ended_last = &work->next;
	pthread_cond_signal(&service.ended_more);
	pthread_mutex_unlock(&service.lock);
	__atomic_fetch_add(&handed, 1, __ATOMIC_RELEASE);
	if (ended.kernel.handle) {
		tell_program(&ended);
		(void)hsa->signal_destroy(ended.kernel);
	}
}

static void *call_handlers(void *unused)
{
	handles = true;
	pthread_setname_np(pthread_self(), "rtl-rocprof-cb");
	for (;;) {
		struct work *work;

		pthread_mutex_lock(&service.lock);
		while (!service.ended)
			pthread_cond_wait(&service.ended_more, &service.lock);
		work = service.ended;
		service.ended = work->next;
		if (!service.ended)
			service.ended_last = &service.ended;
		pthread_mutex_unlock(&service.lock);
		deliver(work);
	}
	return unused;
}

/* Its queue is gone, and what it waited for never ends. */
static void give_up(struct work *work)
{
	abandon(work);
	if (!work->kernel_ended)
		work->kernel.handle = 0; /* the GPU's, should it still write */
	work->kernel_ended = true;
	if (work->counts)
		end_turn(work);
}

/* Whether there was news. */
static bool look(struct work *work)
{
	const bool arrives = work->counts && !work->arrived && is_over(work->context->ready);
	const bool ends = work->kernel.handle && !work->kernel_ended && is_over(work->kernel);
	const bool counted = work->counts && work->has_turn && !work->counts_ended &&
			     is_over(work->context->done);
	const bool is_gone = !arrives && !ends && !counted &&
			     __atomic_load_n(&work->queue->destroyed, __ATOMIC_ACQUIRE);

	if (arrives)
		on_arrival(work);
	if (ends)
		on_kernel(work);
	work->counts_ended |= counted;
	if (counted)
		end_turn(work);
	if (is_gone)
		give_up(work);
	return arrives || ends || counted || is_gone;
}

/* A turn does not end: all dispatches go on, on all GPUs, and nothing more is counted. */
static void release_all(void)
{
	struct gpu *gpu;

	complain("a kernel that is counted has not ended for %llu s (RTL_COUNTERS_TIMEOUT): the "
		 "others go on, and nothing more is counted",
		 (unsigned long long)(service_wait_ns() / 1000000000u));
	__atomic_store_n(&released, true, __ATOMIC_RELAXED);
	for (uint32_t i = 0; (gpu = gpu_at(i)); i++)
		release(gpu);
}

static void watch(void)
{
	struct gpu *gpu;
	const uint64_t now = clock_read_ns(CLOCK_MONOTONIC);

	for (uint32_t i = 0; !service_released() && (gpu = gpu_at(i)); i++) {
		if (gpu->turn && now > gpu->turn_since_ns + service_wait_ns())
			release_all();
	}
}

static void take_incoming(void)
{
	struct work **last = &service.works;

	while (*last)
		last = &(*last)->next;
	HOLD_LOCK(&service.lock);
	while (!service.works && !service.incoming)
		pthread_cond_wait(&service.more, &service.lock);
	*last = service.incoming;
	service.incoming = NULL;
	service.incoming_last = &service.incoming;
}

static bool pass(void)
{
	struct work **at = &service.works;
	bool news = false;

	while (*at) {
		struct work *work = *at;
		news |= look(work);
		if ((work->counts && !work->counts_ended) ||
		    (work->kernel.handle && !work->kernel_ended)) {
			at = &work->next;
			continue;
		}
		*at = work->next;
		hand_over(work);
	}
	__atomic_fetch_add(&looks, 1, __ATOMIC_RELEASE);
	return news;
}

static void drop_all(void)
{
	uint64_t dropped = 0;

	for (struct work *work = service.works; work; work = work->next) {
		abandon(work);
		record_complete(work->record);
		dropped++;
	}
	service.works = NULL; /* the GPU may still write what they name: it stays */
	__atomic_store_n(&drop, false, __ATOMIC_RELAXED);
	__atomic_fetch_add(&handed, dropped, __ATOMIC_RELAXED);
	__atomic_fetch_add(&over, dropped, __ATOMIC_RELEASE);
}

static void *serve(void *unused)
{
	uint64_t news_ns = clock_read_ns(CLOCK_MONOTONIC);

	pthread_setname_np(pthread_self(), "rtl-rocprof");
	for (;;) {
		take_incoming();
		if (__atomic_load_n(&drop, __ATOMIC_ACQUIRE)) {
			drop_all();
			continue; /* the runtime goes: its GPUs are not looked at */
		}
		if (pass()) {
			news_ns = clock_read_ns(CLOCK_MONOTONIC);
			continue;
		}
		watch();
		if (clock_read_ns(CLOCK_MONOTONIC) - news_ns < SPIN_NS)
			sched_yield();
		else
			nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
	}
	return unused;
}

uint64_t service_wait_ns(void)
{
	static uint64_t known; /* s; relaxed: any thread may find it out, the same */
	uint64_t seconds = __atomic_load_n(&known, __ATOMIC_RELAXED);
	const char *text = seconds ? NULL : secure_getenv("RTL_COUNTERS_TIMEOUT");
	char *end = NULL;

	if (seconds)
		return seconds * UINT64_C(1000000000);
	seconds = text && *text ? strtoul(text, &end, 10) : DEFAULT_WAIT_S;
	if (!seconds || seconds > 3600 || (end && *end)) {
		complain("RTL_COUNTERS_TIMEOUT is '%s': 1 to 3600 seconds were expected", text);
		seconds = DEFAULT_WAIT_S;
	}
	__atomic_store_n(&known, seconds, __ATOMIC_RELAXED);
	return seconds * UINT64_C(1000000000);
}

static bool are_over(uint64_t count)
{
	return __atomic_load_n(&over, __ATOMIC_ACQUIRE) >= count;
}

static bool may_help_on(uint64_t *until_ns, uint64_t *stuck)
{
	const uint64_t now = clock_read_ns(CLOCK_MONOTONIC),
		       done = __atomic_load_n(&over, __ATOMIC_ACQUIRE);

	if (handles || __atomic_load_n(stuck, __ATOMIC_RELAXED) == done)
		return false;
	if (!*until_ns)
		*until_ns = now + HELP_NS;
	if (now > *until_ns)
		__atomic_store_n(stuck, done, __ATOMIC_RELAXED);
	sched_yield();
	return now <= *until_ns;
}

/* The program has seen work end (harvest/harvest.h): the tool is told before the program goes on. A handler may want
 * a lock of this thread: it gets half a second, and no more until it has got on. */
bool harvest_help(void)
{
	static uint64_t stuck = UINT64_MAX; /* relaxed: who misses it waits once more */
	const uint64_t count = __atomic_load_n(&taken, __ATOMIC_RELAXED);
	const uint64_t look = __atomic_load_n(&looks, __ATOMIC_ACQUIRE) + 2; /* begins later */
	uint64_t until = 0, ended;
	bool looked;

	do {
		looked = __atomic_load_n(&looks, __ATOMIC_ACQUIRE) >= look;
		ended = __atomic_load_n(&handed, __ATOMIC_ACQUIRE);
	} while (ended < count && !looked && may_help_on(&until, &stuck));
	if (ended < count && !looked)
		return false;
	while (!are_over(ended < count ? ended : count)) {
		if (!may_help_on(&until, &stuck))
			return false;
	}
	return true;
}

/* Waits until what was taken before is over, as long as there is news in `idle_ms`, and `most_ms` at most. */
static bool wait_for_all(int idle_ms, int most_ms)
{
	const uint64_t count = __atomic_load_n(&taken, __ATOMIC_RELAXED);
	uint64_t before = 0, now;

	for (int idle = 0, i = 0; idle < idle_ms && i < most_ms && !are_over(count); idle++, i++) {
		now = __atomic_load_n(&over, __ATOMIC_RELAXED);
		if (now != before)
			idle = 0;
		before = now;
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	return are_over(count);
}

/* A program may exit right after its last kernel, and HIP never ends the runtime: tells the tool of what was counted.
 * Does not wait for kernels that still run. */
static void at_exit(void)
{
	if (getpid() == service.pid)
		(void)wait_for_all(EXIT_MS, INT_MAX);
}

static bool start_service(void)
{
	if (service.started)
		return true;
	service.started = !own_thread_start(call_handlers, NULL) && !own_thread_start(serve, NULL);
	service.pid = getpid();
	if (service.started && atexit(at_exit))
		complain("out of memory: what has not been told at the end of the process is lost");
	return service.started;
}

bool service_take(struct work *work)
{
	HOLD_LOCK(&service.lock);
	if (!start_service()) {
		complain("cannot start a thread; a dispatch is not counted");
		return false;
	}
	__atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&work->queue->under_way, 1, __ATOMIC_RELAXED);
	*service.incoming_last = work;
	service.incoming_last = &work->next;
	pthread_cond_signal(&service.more);
	return true;
}

bool service_wait(void)
{
	return wait_for_all(FINISH_MS, FINISH_MS);
}

void service_finish(void)
{
	if (service_wait())
		return;
	complain("dispatches have not ended; their counts are lost");
	__atomic_store_n(&drop, true, __ATOMIC_RELEASE);
	(void)wait_for_all(DROP_MS, DROP_MS);
}
