/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <rtl/rtl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "../../common/threads.h"
#include "futex.h"
#include "interceptor.h"
#include "plan.h"
#include "sample.h"

/* Between two looks while something is under way: this part of the time since something has happened. */
#define POLL_PART 64u
/* The longest sleep, should a wake-up ever be lost. */
#define SLEEP_NS 100000000u

/* A GPU's turn, and who waits for it. */
struct turn_of {
	struct counter_gpu *gpu;
	struct counter_sample *running;
	struct turns_line *of; /* the line that it came from */
	uint64_t since_ns;     /* when it got its turn */
	uint64_t passed_by;    /* as of the GPU, then */
	uint64_t arrivals;
	bool disturbed; /* when it began, something ran without a turn */
	bool untold;    /* that it was given up */
};

static struct {
	pthread_mutex_t lock;
	bool started;             /* the lock's */
	struct turns_line *lines; /* the lock's */
	struct turn_of *turns;    /* the lock's */
	size_t turn_count;        /* the lock's */
	uint64_t stirred_ns;      /* the thread's: when something has happened last */
	/* 1: it sleeps until it is woken. Seq_cst, with the lines' tails. */
	uint32_t asleep;
	uint32_t wakes; /* a futex; release, acquire */
} turns = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(turns, turns.lock);

/* ---- a line ---- */

static struct counter_sample *first_of(const struct turns_line *line)
{
	const uint32_t head = __atomic_load_n(&line->head, __ATOMIC_RELAXED);

	/* Pairs with turns_add: the sample is complete, and its packets are on their way. */
	if (head == __atomic_load_n(&line->tail, __ATOMIC_SEQ_CST))
		return NULL;
	return line->ring[head & line->mask];
}

static struct counter_sample *take_first(struct turns_line *line)
{
	struct counter_sample *sample = first_of(line);

	if (sample)
		__atomic_store_n(&line->head, __atomic_load_n(&line->head, __ATOMIC_RELAXED) + 1,
				 __ATOMIC_RELEASE);
	line->arrived = 0;
	return sample;
}

/* ---- turns, by the thread, under the lock ---- */

static struct turn_of *turn_of(struct counter_gpu *gpu)
{
	for (size_t i = 0; i < turns.turn_count; i++)
		if (turns.turns[i].gpu == gpu)
			return &turns.turns[i];
	return NULL;
}

static void let_go(struct counter_sample *sample)
{
	interceptor.hsa.signal_subtract((hsa_signal_t){sample->grant}, 1);
}

/* What the queue has now come to is behind all that went by. */
static void has_passed(struct turns_line *line)
{
	uint64_t passed = __atomic_load_n(&line->passed, __ATOMIC_ACQUIRE);
	const uint32_t head = __atomic_load_n(&line->head, __ATOMIC_RELAXED);

	if (passed && (int32_t)(head - (uint32_t)passed) >= 0)
		(void)__atomic_compare_exchange_n(&line->passed, &passed, 0, false,
						  __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Whether something of it may run without a turn just now. */
static bool disturbs(struct turns_line *line)
{
	uint64_t passed = __atomic_load_n(&line->passed, __ATOMIC_ACQUIRE);
	const uint32_t head = __atomic_load_n(&line->head, __ATOMIC_RELAXED);

	if (!passed || (int32_t)(head - (uint32_t)passed) < 0)
		return false;
	return !sample_line_is_idle(line) ||
	       !__atomic_compare_exchange_n(&line->passed, &passed, 0, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
}

static bool is_disturbed(const struct turn_of *turn)
{
	bool disturbed = false;

	for (struct turns_line *line = turns.lines; line; line = line->next)
		disturbed |= line->gpu == turn->gpu && line != turn->of && disturbs(line);
	return disturbed;
}

/* Its turn is over: what was read is copied before the next one has it. */
static void end_turn(struct turn_of *turn)
{
	struct counter_sample *sample = turn->running;
	struct counter_gpu *gpu = turn->gpu;

	if (__atomic_load_n(&gpu->passed_by, __ATOMIC_RELAXED) != turn->passed_by ||
	    turn->disturbed || is_disturbed(turn))
		sample->spoilt = true;
	sample_keep(sample);
	turn->running = NULL;
	turn->of = NULL;
}

static void begin_turn(struct turn_of *turn, struct turns_line *line, uint64_t now_ns)
{
	turn->running = take_first(line);
	turn->of = line;
	turn->since_ns = turns.stirred_ns = now_ns;
	turn->passed_by = __atomic_load_n(&turn->gpu->passed_by, __ATOMIC_RELAXED);
	turn->disturbed = is_disturbed(turn);
	let_go(turn->running);
}

/* All that wait, and all that come from now on. */
static void release(struct turn_of *turn)
{
	if (turn->running) {
		turn->running->spoilt = true;
		sample_give_up(turn->running);
		turn->running = NULL;
	}
	for (struct turns_line *line = turns.lines; line; line = line->next) {
		struct counter_sample *sample;

		while (line->gpu == turn->gpu && (sample = take_first(line))) {
			sample->spoilt = true;
			let_go(sample);
			sample_give_up(sample);
		}
	}
}

/* Those whose queues have come to them get their places; the first of them all. */
static struct turns_line *next_line(struct turn_of *turn)
{
	struct turns_line *next = NULL;

	for (struct turns_line *line = turns.lines; line; line = line->next) {
		const struct counter_sample *first;

		if (line->gpu != turn->gpu || !(first = first_of(line)))
			continue;
		if (!line->arrived && !slot_signal_is_pending(first->ready)) {
			line->arrived = ++turn->arrivals;
			has_passed(line);
		}
		if (line->arrived && (!next || line->arrived < next->arrived))
			next = line;
	}
	return next;
}

static void give_up(struct turn_of *turn)
{
	turn->untold = !__atomic_exchange_n(&turn->gpu->released, true, __ATOMIC_RELAXED);
}

/* Without the lock: a line may take long. */
static void tell(const struct counter_gpu *gpu)
{
	rtl_log(RTL_LEVEL_WARNING, "counters",
		"GPU %u: a dispatch has not ended for %llu s while others wait for their turn "
		"(RTL_COUNTERS_TIMEOUT): all go now, and nothing more is counted",
		gpu->node, (unsigned long long)(counter_settings.timeout_ns / 1000000000u));
}

static void look_at(struct turn_of *turn, uint64_t now_ns)
{
	struct turns_line *next;

	if (__atomic_load_n(&turn->gpu->released, __ATOMIC_RELAXED)) {
		release(turn);
		return;
	}
	if (turn->running && !slot_signal_is_pending(turn->running->slot.signal))
		end_turn(turn);
	next = next_line(turn);
	if (next && !turn->running)
		begin_turn(turn, next, now_ns);
	else if (next && now_ns - turn->since_ns > counter_settings.timeout_ns)
		give_up(turn);
}

/* Whether something is under way. */
static bool is_busy(void)
{
	bool busy = false;

	for (size_t i = 0; i < turns.turn_count; i++)
		busy |= turns.turns[i].running != NULL;
	for (const struct turns_line *line = turns.lines; line; line = line->next)
		busy |= first_of(line) != NULL;
	return busy;
}

/* ---- the thread ---- */

/* How long to wait before the next look; 0: nothing is under way. */
static uint64_t look(void)
{
	const uint64_t now_ns = rtl_clock_ns();
	const struct counter_gpu *untold = NULL;
	uint64_t wait_ns;

	pthread_mutex_lock(&turns.lock);
	for (size_t i = 0; i < turns.turn_count; i++) {
		look_at(&turns.turns[i], now_ns);
		if (turns.turns[i].untold)
			untold = turns.turns[i].gpu;
		turns.turns[i].untold = false;
	}
	wait_ns = is_busy() ? turns_poll_ns(now_ns - turns.stirred_ns, POLL_PART) : 0;
	pthread_mutex_unlock(&turns.lock);
	if (untold)
		tell(untold);
	return wait_ns;
}

/* What comes after the second look wakes it: both store first, and then look. */
static void sleep_idle(void)
{
	const uint32_t wakes = __atomic_load_n(&turns.wakes, __ATOMIC_ACQUIRE);
	bool busy;

	__atomic_store_n(&turns.asleep, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_lock(&turns.lock);
	busy = is_busy();
	pthread_mutex_unlock(&turns.lock);
	if (!busy)
		futex_wait(&turns.wakes, wakes, SLEEP_NS);
	__atomic_store_n(&turns.asleep, 0, __ATOMIC_RELAXED);
}

static void *run(void *data)
{
	static uint32_t nobody; /* a futex that nobody wakes */

	pthread_setname_np(pthread_self(), "rtl-counters");
	(void)prctl(PR_SET_TIMERSLACK, 1000ul, 0, 0, 0);
	for (;;) {
		const uint64_t wait_ns = look();

		if (wait_ns) {
			futex_wait(&nobody, 0, wait_ns);
			continue;
		}
		sleep_idle();
		turns.stirred_ns = rtl_clock_ns();
	}
	return NULL;
}

/* ---- joining and leaving ---- */

static bool add_turn(struct counter_gpu *gpu)
{
	struct turn_of *more;

	if (turn_of(gpu))
		return true;
	more = realloc(turns.turns, (turns.turn_count + 1) * sizeof(*more));
	if (!more)
		return false;
	turns.turns = more;
	more[turns.turn_count++] = (struct turn_of){.gpu = gpu};
	return true;
}

int turns_join(struct turns_line *line, struct counter_gpu *gpu, uint32_t room)
{
	uint32_t size = 64;
	bool good;

	while (size < room)
		size *= 2;
	*line = (struct turns_line){.gpu = gpu, .mask = size - 1};
	line->ring = calloc(size, sizeof(struct counter_sample *));
	if (!line->ring)
		return RTL_ENOMEM;
	pthread_mutex_lock(&turns.lock);
	good = add_turn(gpu) && (turns.started || !own_thread_start(run, NULL));
	if (good) {
		turns.started = true;
		line->next = turns.lines;
		turns.lines = line;
	}
	pthread_mutex_unlock(&turns.lock);
	if (good)
		return 0;
	free(line->ring);
	line->ring = NULL;
	return RTL_ENOMEM;
}

void turns_leave(struct turns_line *line)
{
	struct turns_line **link = &turns.lines;

	pthread_mutex_lock(&turns.lock);
	while (*link && *link != line)
		link = &(*link)->next;
	if (*link)
		*link = line->next;
	for (struct counter_sample *sample; (sample = take_first(line));)
		sample_give_up(sample);
	pthread_mutex_unlock(&turns.lock);
}

void turns_gone(struct turns_line *line)
{
	struct turn_of *turn;

	pthread_mutex_lock(&turns.lock);
	turn = turn_of(line->gpu);
	if (turn && turn->of == line && turn->running) {
		turn->running->spoilt = true;
		end_turn(turn);
	}
	pthread_mutex_unlock(&turns.lock);
}

void turns_add(struct turns_line *line, struct counter_sample *sample)
{
	const uint32_t tail = __atomic_load_n(&line->tail, __ATOMIC_RELAXED);

	line->ring[tail & line->mask] = sample;
	/* With the load of `asleep`, and sleep_idle the other way round: one sees the other. */
	__atomic_store_n(&line->tail, tail + 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&turns.asleep, __ATOMIC_SEQ_CST))
		futex_notify(&turns.wakes);
}

void turns_pass_by(struct turns_line *line)
{
	const uint32_t tail = __atomic_load_n(&line->tail, __ATOMIC_RELAXED);

	/* Pairs with the acquire in disturbs. */
	__atomic_store_n(&line->passed, TURNS_PASSED | tail, __ATOMIC_RELEASE);
}

void turns_release_all(void)
{
	for (struct counter_gpu *gpu = plan_first(); gpu; gpu = gpu->next)
		__atomic_store_n(&gpu->released, true, __ATOMIC_RELAXED);
	futex_notify(&turns.wakes);
}

void turns_forget(void)
{
	pthread_mutex_lock(&turns.lock);
	turns.lines = NULL;
	turns.turn_count = 0;
	pthread_mutex_unlock(&turns.lock);
}
