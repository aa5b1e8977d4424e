/* SPDX-License-Identifier: MIT */
#include "sample.h"

#include <stdlib.h>
#include <sys/prctl.h>

#include "../../common/shared.h"
#include "../../common/threads.h"
#include "futex.h"
#include "interceptor.h"

/* Packets of ours that are in a queue at once, at most: read, stop, start. */
#define QUEUE_PACKETS 64u
/* Between two looks while a reading is under way: this part of the time since it began. */
#define POLL_PART 16u
/* While no GPU is sampled. */
#define IDLE_NS 10000000000u

/* A GPU that is sampled. All but `next` is the thread's once it is in the list. */
struct sampled {
	struct sampled *next; /* the lock's */
	struct counter_gpu *gpu;
	hsa_queue_t *queue;
	uint64_t signal; /* of the last packet of a reading */
	uint32_t pass;   /* that counts now */
	bool failed;     /* nothing is read any more */
	bool waiting;    /* for a reading */
	bool stops;      /* it is the last one */
	/* When the counters that count now were started, or read before; 0: while recording was paused. */
	uint64_t begin_ns;
	uint64_t submitted_ns, due_ns;
	void *before; /* what was left at that reading; of a single pass */
	bool has_before;
};

static struct {
	pthread_mutex_t lock;
	struct sampled *first; /* the lock's */
	bool started;          /* the lock's */
	uint64_t readings;     /* the thread's */
	bool ends;             /* all is to be read once more, and stopped; release, acquire */
	/* 1: the end has come. Release by the thread, acquire by who waits; a futex. */
	uint32_t ended;
	uint32_t wakes;          /* a futex; release, acquire */
	pthread_mutex_t runtime; /* the thread has it while it is in the runtime */
	bool over;               /* that lock's: the runtime is touched no more; for good */
} sampler = {.lock = PTHREAD_MUTEX_INITIALIZER, .runtime = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(sampler, sampler.lock);
FORK_LOCK(sampler_runtime, sampler.runtime);

/* ---- the runtime ---- */

/* Whether the runtime is there, and stays until untouch. */
static bool touch(void)
{
	pthread_mutex_lock(&sampler.runtime);
	if (!sampler.over)
		return true;
	pthread_mutex_unlock(&sampler.runtime);
	return false;
}

static void untouch(void)
{
	pthread_mutex_unlock(&sampler.runtime);
}

static struct counter_pass *pass_of(const struct sampled *sampled)
{
	return &sampled->gpu->passes[sampled->pass];
}

/* The last of the packets tells that all have ended. */
static void submit(struct sampled *sampled, struct library_packet *packets, uint32_t count)
{
	slot_signal_rearm(sampled->signal);
	packets[count - 1].signal = sampled->signal;
	library_submit(sampled->queue, packets, count);
	sampled->submitted_ns = rtl_clock_ns();
}

static bool is_pending(const struct sampled *sampled)
{
	if (slot_signal_is_pending(sampled->signal))
		return true;
	slot_signal_acquire();
	return false;
}

/* ---- a GPU ---- */

static void fail(struct sampled *sampled, const char *why)
{
	sampled->failed = true;
	rtl_log(RTL_LEVEL_WARNING, "counters", "GPU %u: nothing is sampled any more: %s",
		sampled->gpu->node, why);
}

static bool wait_for_start(const struct sampled *sampled)
{
	const uint64_t deadline = sampled->submitted_ns + counter_settings.timeout_ns;

	while (is_pending(sampled)) {
		if (rtl_clock_ns() > deadline)
			return false;
		nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
	}
	return true;
}

/* Has a queue, and counters that count. */
static void begin(struct sampled *sampled)
{
	struct counter_gpu *gpu = sampled->gpu;
	struct library_packet start = gpu->passes[0].count->start;

	sampled->before = malloc(gpu->output_bytes);
	sampled->signal = slot_signal_make();
	if (!sampled->before || !sampled->signal ||
	    interceptor.hsa.queue_create(gpu->agent, QUEUE_PACKETS, HSA_QUEUE_TYPE_MULTI, NULL,
					 NULL, UINT32_MAX, UINT32_MAX, &sampled->queue)) {
		fail(sampled, "the runtime has no queue for it");
		return;
	}
	if (interceptor.hsa.queue_set_priority)
		(void)interceptor.hsa.queue_set_priority(sampled->queue,
							 HSA_AMD_QUEUE_PRIORITY_HIGH);
	submit(sampled, &start, 1);
	if (!wait_for_start(sampled)) {
		fail(sampled, "the counters do not start (RTL_COUNTERS_TIMEOUT)");
		return;
	}
	sampled->begin_ns = rtl_clock_ns();
	sampled->due_ns = sampled->begin_ns + counter_settings.sample_ns;
}

/* If there are several passes, the next one begins. */
static void submit_reading(struct sampled *sampled)
{
	const struct counter_gpu *gpu = sampled->gpu;
	const struct counter_pass *next = &gpu->passes[(sampled->pass + 1) % gpu->pass_count];
	struct library_packet packets[3] = {pass_of(sampled)->count->read,
					    pass_of(sampled)->count->stop, next->count->start};

	submit(sampled, packets, sampled->stops ? 2 : gpu->pass_count > 1 ? 3 : 1);
	sampled->waiting = true;
}

static void count_missed(const struct counter_pass *pass, const char *cause)
{
	rtl_stream_count_missed(counter_streams.values, cause, pass->metric_count);
}

/* What a pass has counted since its counters were started, or read before: NULL, or why it is not known. */
static const char *take(struct sampled *sampled, const struct counter_pass *pass)
{
	const void *output = pass->count->output;
	const char *why = NULL;

	if (!values_read(pass, output))
		why = "counters of a GPU could not be read";
	else if (sampled->has_before && !values_subtract(pass, sampled->before))
		why = "counters of a GPU were reset by somebody else";
	sampled->has_before = sampled->gpu->pass_count == 1;
	if (sampled->has_before)
		memcpy(sampled->before, output, pass->count->bytes);
	return why;
}

/* A reading has ended. */
static void finish_reading(struct sampled *sampled)
{
	const struct counter_pass *pass = pass_of(sampled);
	const uint64_t begin_ns = sampled->begin_ns, end_ns = rtl_clock_ns();
	const bool wanted = counter_intervals_are_wanted() && !is_paused();
	const char *why = take(sampled, pass);

	sampled->waiting = false;
	sampled->pass = (sampled->pass + 1) % sampled->gpu->pass_count;
	sampled->begin_ns = wanted ? end_ns : 0;
	untouch();
	if (!wanted || !begin_ns)
		return;
	if (why)
		count_missed(pass, why);
	else
		values_publish(sampled->gpu, pass, RTL_SAMPLE,
			       &(struct publish_ids){.parent_uid = sampled->gpu->agent_uid,
						     .instance = ++sampler.readings},
			       0, begin_ns, end_ns);
}

/* ---- the thread ---- */

/* Goes as far as it can; how long nothing is to be done for that GPU. */
static uint64_t look_at(struct sampled *sampled, bool ends)
{
	const uint64_t now_ns = rtl_clock_ns();

	if (sampled->failed || (sampled->stops && !sampled->waiting) || !touch())
		return IDLE_NS;
	if (sampled->waiting && !is_pending(sampled)) {
		finish_reading(sampled);
		return POLL_NS;
	}
	if (!sampled->waiting && (ends || now_ns >= sampled->due_ns)) {
		sampled->stops = ends;
		/* The next one is due on the same beat, unless that has gone by. */
		sampled->due_ns += counter_settings.sample_ns;
		if (sampled->due_ns <= now_ns)
			sampled->due_ns = now_ns + counter_settings.sample_ns;
		submit_reading(sampled);
	}
	untouch();
	if (!sampled->waiting)
		return sampled->due_ns - now_ns;
	if (now_ns > sampled->submitted_ns + counter_settings.timeout_ns) {
		count_missed(pass_of(sampled), "a GPU's counters were not read in time");
		fail(sampled, "a reading took longer than RTL_COUNTERS_TIMEOUT");
	}
	return turns_poll_ns(now_ns > sampled->submitted_ns ? now_ns - sampled->submitted_ns : 0,
			     POLL_PART);
}

static struct sampled *first_sampled(void)
{
	HOLD_LOCK(&sampler.lock);
	return sampler.first;
}

/* Whether all is read that will be. */
static bool is_quiet(const struct sampled *first)
{
	for (const struct sampled *sampled = first; sampled; sampled = sampled->next)
		if (!sampled->failed && (sampled->waiting || !sampled->stops))
			return false;
	return true;
}

/* How long to sleep before the next look. */
static uint64_t look(void)
{
	const bool ends = __atomic_load_n(&sampler.ends, __ATOMIC_ACQUIRE);
	struct sampled *const first = first_sampled();
	uint64_t wait_ns = IDLE_NS;

	for (struct sampled *sampled = first; sampled; sampled = sampled->next) {
		const uint64_t ns = look_at(sampled, ends);

		wait_ns = ns < wait_ns ? ns : wait_ns;
	}
	if (ends && is_quiet(first)) {
		/* Pairs with the acquire in sampler_stop. */
		__atomic_store_n(&sampler.ended, 1, __ATOMIC_RELEASE);
		futex_wake(&sampler.ended);
		return IDLE_NS;
	}
	return wait_ns;
}

static void *run(void *data)
{
	pthread_setname_np(pthread_self(), "rtl-sampler");
	(void)prctl(PR_SET_TIMERSLACK, 1000ul, 0, 0, 0);
	for (;;) {
		const uint32_t wakes = __atomic_load_n(&sampler.wakes, __ATOMIC_ACQUIRE);

		futex_wait(&sampler.wakes, wakes, look());
	}
	return NULL;
}

/* ---- beginning and end ---- */

/* Counters are started while the lock is held: the queues of two threads may be a GPU's first. */
static struct sampled *find(struct counter_gpu *gpu)
{
	struct sampled *sampled = sampler.first;

	while (sampled && sampled->gpu != gpu)
		sampled = sampled->next;
	if (sampled)
		return sampled;
	sampled = calloc(1, sizeof(*sampled));
	if (!sampled)
		return NULL;
	sampled->gpu = gpu;
	begin(sampled);
	if (!sampler.started && own_thread_start(run, NULL))
		fail(sampled, "no thread can be made");
	else
		sampler.started = true;
	sampled->next = sampler.first;
	sampler.first = sampled;
	return sampled;
}

void sampler_add_queue(struct counter_gpu *gpu, hsa_queue_t *queue)
{
	const struct library_packet *enable = NULL;
	struct sampled *sampled;
	char why[256] = "no memory";

	if (!gpu->pass_count)
		return;
	pthread_mutex_lock(&sampler.lock);
	sampled = find(gpu);
	if (sampled)
		enable = library_enable(gpu->agent, why, sizeof(why));
	pthread_mutex_unlock(&sampler.lock);
	if (enable)
		library_submit(queue, enable, 1);
	else
		rtl_log(RTL_LEVEL_WARNING, "counters",
			"GPU %u: the work of a queue is not counted: %s", gpu->node, why);
	futex_notify(&sampler.wakes);
}

void sampler_stop(uint32_t timeout_ms)
{
	uint64_t now_ns = rtl_clock_ns();
	const uint64_t end_ns = now_ns + timeout_ms * 1000000ull;

	if (!first_sampled())
		return;
	__atomic_store_n(&sampler.ended, 0, __ATOMIC_RELAXED);
	/* Pairs with the acquire in look. */
	__atomic_store_n(&sampler.ends, true, __ATOMIC_RELEASE);
	futex_notify(&sampler.wakes);
	while (!__atomic_load_n(&sampler.ended, __ATOMIC_ACQUIRE) &&
	       (now_ns = rtl_clock_ns()) < end_ns)
		futex_wait(&sampler.ended, 0, end_ns - now_ns);
	/* The thread waits for nobody between touch and untouch. */
	HOLD_LOCK(&sampler.runtime);
	sampler.over = true;
}
