/* SPDX-License-Identifier: MIT */
/* Turns of dispatches on a GPU (streams/hsa/counter/turns.c). A thread stands for each queue of the GPU: it completes
 * "ready", waits for "grant", works and completes the last signal, as the packets would. The work is counted in one
 * place that is read when the turn ends. */
#include <stdatomic.h>

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "interceptor.h"
#include "plan.h"
#include "sample.h"
#include "unit.h"

#define QUEUES     4
#define DISPATCHES 200

struct interceptor interceptor;
struct counter_settings counter_settings = {.timeout_ns = 1000000000};

static struct counter_gpu gpu;

/* What runs on the GPU: its register, and how many are at work. */
static _Atomic uint64_t counted;
static _Atomic int at_work, most_at_work;

struct queue {
	pthread_t thread;
	struct turns_line line;
	struct counter_sample *samples[DISPATCHES];
	amd_signal_t signals[DISPATCHES][3]; /* ready, grant, done */
	uint64_t kept[DISPATCHES];
	_Atomic int kept_count, given_up_count;
	int64_t first_waits_for; /* a dispatch of the next queue: before its own, as by a barrier */
	int number;
};

static struct queue queues[QUEUES];

/* ---- what turns stand on ---- */

void rtl_log(enum rtl_level level, const char *who, const char *format, ...)
{
}

uint64_t rtl_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct counter_gpu *plan_first(void)
{
	return &gpu;
}

bool slot_signal_is_pending(uint64_t handle)
{
	return __atomic_load_n(&((amd_signal_t *)handle)->value, __ATOMIC_ACQUIRE) >= 1;
}

static void subtract(hsa_signal_t signal, hsa_signal_value_t value)
{
	__atomic_fetch_sub(&((amd_signal_t *)signal.handle)->value, value, __ATOMIC_ACQ_REL);
}

static struct queue *queue_of(const struct counter_sample *sample)
{
	return (struct queue *)(uintptr_t)sample->correlation;
}

void sample_keep(struct counter_sample *sample)
{
	queue_of(sample)->kept[sample->instance] = sample->spoilt ? UINT64_MAX : counted;
	queue_of(sample)->kept_count++;
}

static atomic_bool idle; /* what queues have let by has ended */

bool sample_line_is_idle(const struct turns_line *line)
{
	return idle;
}

void sample_give_up(struct counter_sample *sample)
{
	queue_of(sample)->given_up_count++;
}

static void make(struct queue *queue, int number)
{
	memset(queue, 0, sizeof(*queue));
	queue->number = number;
	queue->first_waits_for = -1;
	for (int i = 0; i < DISPATCHES; i++) {
		struct counter_sample *sample = aligned_alloc(64, sizeof(*sample));

		memset(sample, 0, sizeof(*sample));
		for (int s = 0; s < 3; s++)
			queue->signals[i][s].value = 1;
		sample->ready = (uint64_t)(uintptr_t)&queue->signals[i][0];
		sample->grant = (uint64_t)(uintptr_t)&queue->signals[i][1];
		sample->slot.signal = (uint64_t)(uintptr_t)&queue->signals[i][2];
		sample->instance = (uint64_t)i;
		sample->correlation = (uint64_t)(uintptr_t)queue;
		queue->samples[i] = sample;
	}
	assert_true(turns_join(&queue->line, &gpu));
}

static void destroy(struct queue *queue)
{
	turns_leave(&queue->line);
	turns_gone(&queue->line);
	for (int i = 0; i < DISPATCHES; i++)
		free(queue->samples[i]);
}

static void wait_for(const amd_signal_t *signal)
{
	while (slot_signal_is_pending((uint64_t)(uintptr_t)signal))
		sched_yield();
}

static void process(struct queue *queue, int i)
{
	const int now = (subtract((hsa_signal_t){queue->samples[i]->ready}, 1),
			 wait_for(&queue->signals[i][1]), ++at_work);

	if (now > most_at_work)
		most_at_work = now;
	counted = 0; /* start */
	for (int k = 0; k <= queue->number + i % 3; k++)
		counted++;
	at_work--;
	subtract((hsa_signal_t){queue->samples[i]->slot.signal}, 1);
}

static void *run(void *data)
{
	struct queue *queue = data;

	if (queue->first_waits_for >= 0)
		wait_for(&queues[queue->number + 1].signals[queue->first_waits_for][2]);
	for (int i = 0; i < DISPATCHES; i++)
		process(queue, i);
	return NULL;
}

static void start_gpu(int count)
{
	for (int i = 0; i < count; i++)
		assert_int_equal(pthread_create(&queues[i].thread, NULL, run, &queues[i]), 0);
}

static void join_gpu(int count)
{
	for (int i = 0; i < count; i++)
		pthread_join(queues[i].thread, NULL);
}

static void submit(struct queue *queue)
{
	for (int i = 0; i < DISPATCHES; i++)
		turns_add(&queue->line, queue->samples[i]);
}

static void begin(int count)
{
	gpu.released = false;
	counted = 0;
	at_work = most_at_work = 0;
	counter_settings.timeout_ns = 60000000000u;
	for (int i = 0; i < count; i++)
		make(&queues[i], i);
}

/* What was kept is what the dispatch itself has counted. */
static void check_kept(const struct queue *queue)
{
	for (int i = 0; i < DISPATCHES; i++)
		assert_int_equal(queue->kept[i], queue->number + i % 3 + 1);
}

static void wait_until(const _Atomic int *number, int value)
{
	while (*number < value)
		sched_yield();
}

TEST(test_turns__several_queues__one_works_at_a_time)
{
	begin(QUEUES);
	start_gpu(QUEUES);
	for (int i = 0; i < QUEUES; i++)
		submit(&queues[i]);
	join_gpu(QUEUES);
	assert_int_equal(most_at_work, 1);
	for (int i = 0; i < QUEUES; i++) {
		wait_until(&queues[i].kept_count, DISPATCHES);
		check_kept(&queues[i]);
		destroy(&queues[i]);
	}
}

/* Submitted first, it can begin only after the last of the other queue. */
TEST(test_turns__earlier_waits_for_later__both_end)
{
	begin(2);
	queues[0].first_waits_for = DISPATCHES - 1;
	submit(&queues[0]);
	submit(&queues[1]);
	start_gpu(2);
	join_gpu(2);
	for (int i = 0; i < 2; i++) {
		wait_until(&queues[i].kept_count, DISPATCHES);
		check_kept(&queues[i]);
		destroy(&queues[i]);
	}
}

TEST(test_turns__released__all_go)
{
	begin(QUEUES);
	submit(&queues[0]); /* before, and the others after it */
	turns_release_all();
	for (int i = 1; i < QUEUES; i++)
		submit(&queues[i]);
	start_gpu(QUEUES);
	join_gpu(QUEUES);
	for (int i = 0; i < QUEUES; i++) {
		while (queues[i].kept_count + queues[i].given_up_count < DISPATCHES)
			sched_yield();
		destroy(&queues[i]);
	}
}

/* The first one of a queue never ends; those of the other one do, in a second. */
TEST(test_turns__one_never_ends__others_go_on)
{
	begin(2);
	counter_settings.timeout_ns = 100000000;
	turns_add(&queues[0].line, queues[0].samples[0]);
	subtract((hsa_signal_t){queues[0].samples[0]->ready}, 1);
	wait_for(&queues[0].signals[0][1]);
	submit(&queues[1]);
	assert_int_equal(pthread_create(&queues[1].thread, NULL, run, &queues[1]), 0);
	pthread_join(queues[1].thread, NULL);
	assert_true(gpu.released);
	wait_until(&queues[0].given_up_count, 1);
	wait_until(&queues[1].given_up_count, DISPATCHES);
	destroy(&queues[0]);
	destroy(&queues[1]);
}

/* A queue goes while it has the turn: once it is gone, and not before, the next one gets it. */
TEST(test_turns__queue_leaves_in_its_turn__others_go_on)
{
	begin(2);
	turns_add(&queues[0].line, queues[0].samples[0]);
	turns_add(&queues[0].line, queues[0].samples[1]);
	subtract((hsa_signal_t){queues[0].samples[0]->ready}, 1);
	wait_for(&queues[0].signals[0][1]);
	submit(&queues[1]);
	subtract((hsa_signal_t){queues[1].samples[0]->ready}, 1);
	turns_leave(&queues[0].line);
	assert_int_equal(queues[0].given_up_count, 1);
	/* The thread looks many times meanwhile. */
	for (int i = 0; i < 50; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		assert_true(slot_signal_is_pending(queues[1].samples[0]->grant));
	}
	assert_int_equal(queues[0].kept_count, 0);
	destroy(&queues[0]);
	assert_int_equal(queues[0].kept_count, 1);
	assert_true(queues[0].kept[0] == UINT64_MAX);
	queues[1].signals[0][0].value = 1; /* which its queue completes again */
	assert_int_equal(pthread_create(&queues[1].thread, NULL, run, &queues[1]), 0);
	pthread_join(queues[1].thread, NULL);
	wait_until(&queues[1].kept_count, DISPATCHES);
	check_kept(&queues[1]);
	destroy(&queues[1]);
}

/* What went by without a turn spoils what had one. */
TEST(test_turns__something_passes_by__is_given_up)
{
	begin(1);
	turns_add(&queues[0].line, queues[0].samples[0]);
	subtract((hsa_signal_t){queues[0].samples[0]->ready}, 1);
	wait_for(&queues[0].signals[0][1]);
	gpu.passed_by++;
	subtract((hsa_signal_t){queues[0].samples[0]->slot.signal}, 1);
	wait_until(&queues[0].kept_count, 1);
	assert_true(queues[0].kept[0] == UINT64_MAX);
	destroy(&queues[0]);
}

/* One of the first queue goes by behind its sample: from that one's end on others are given up, until the
 * queue has come to its next sample, or is idle. */
TEST(test_turns__something_runs_behind_a_turn__others_are_given_up)
{
	begin(2);
	idle = false;
	turns_add(&queues[0].line, queues[0].samples[0]);
	turns_pass_by(&queues[0].line);
	for (int i = 0; i < 4; i++)
		turns_add(&queues[1].line, queues[1].samples[i]);
	process(&queues[1], 0); /* before */
	process(&queues[0], 0);
	wait_until(&queues[0].kept_count, 1);
	process(&queues[1], 1); /* beside it */
	wait_until(&queues[1].kept_count, 2);
	idle = true;
	process(&queues[1], 2);
	wait_until(&queues[1].kept_count, 3);
	idle = false;
	turns_pass_by(&queues[0].line);
	turns_add(&queues[0].line, queues[0].samples[1]);
	process(&queues[0], 1); /* it has come to that */
	wait_until(&queues[0].kept_count, 2);
	process(&queues[1], 3);
	wait_until(&queues[1].kept_count, 4);
	assert_int_equal(queues[0].kept[0], 1);
	assert_int_equal(queues[0].kept[1], 2);
	assert_int_equal(queues[1].kept[0], 2);
	assert_true(queues[1].kept[1] == UINT64_MAX);
	assert_int_equal(queues[1].kept[2], 4);
	assert_int_equal(queues[1].kept[3], 2);
	destroy(&queues[0]);
	destroy(&queues[1]);
}

static int set_up(void **state)
{
	interceptor.hsa.signal_subtract = subtract;
	return 0;
}

RUN_TESTS(NULL, NULL, set_up, NULL)
