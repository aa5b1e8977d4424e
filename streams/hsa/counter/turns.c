/* SPDX-License-Identifier: MIT */
#include <sys/prctl.h>

#include "../../common/threads.h"
#include "interceptor.h"
#include "sample.h"

/* Between two looks while something is under way: this part of the time since something has happened. */
#define POLL_PART 64u

static struct {
	pthread_mutex_t lock; /* of all below, of lines and of the GPUs' turns */
	pthread_cond_t more;  /* something may be under way again */
	bool started;
	struct turns_line *lines;
	uint64_t stirred_ns; /* when something has happened last */
} turns = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};
FORK_LOCK(turns, turns.lock);

/* ---- all under the lock ---- */

static struct counter_sample *take_first(struct turns_line *line)
{
	struct counter_sample *sample = line->first;

	if (sample) {
		line->first = sample->next;
		line->taken++;
	}
	line->arrived = 0;
	return sample;
}

static void let_go(struct counter_sample *sample)
{
	interceptor.hsa.signal_subtract((hsa_signal_t){sample->grant}, 1);
}

/* Whether something of it may run without a turn just now. */
static bool disturbs(struct turns_line *line)
{
	if (!line->passed || line->taken < line->passed_behind)
		return false;
	line->passed = !sample_line_is_idle(line);
	return line->passed;
}

static bool is_disturbed(const struct counter_gpu *gpu)
{
	bool disturbed = false;

	for (struct turns_line *line = turns.lines; line; line = line->next)
		disturbed |= line->gpu == gpu && line != gpu->turn.of && disturbs(line);
	return disturbed;
}

/* The turn is over: what was read is copied before the next one begins. */
static void end_turn(struct counter_gpu *gpu)
{
	struct counter_turn *turn = &gpu->turn;

	if (__atomic_load_n(&gpu->passed_by, __ATOMIC_RELAXED) != turn->passed_by ||
	    turn->disturbed || is_disturbed(gpu))
		turn->running->spoilt = true;
	sample_keep(turn->running);
	turn->running = NULL;
	turn->of = NULL;
}

static void begin_turn(struct counter_gpu *gpu, struct turns_line *line, uint64_t now_ns)
{
	struct counter_turn *turn = &gpu->turn;

	turn->running = take_first(line);
	turn->of = line;
	turn->since_ns = turns.stirred_ns = now_ns;
	turn->passed_by = __atomic_load_n(&gpu->passed_by, __ATOMIC_RELAXED);
	turn->disturbed = is_disturbed(gpu);
	let_go(turn->running);
}

/* All that wait, and all that come from now on. */
static void release(struct counter_gpu *gpu)
{
	if (gpu->turn.running) {
		gpu->turn.running->spoilt = true;
		sample_give_up(gpu->turn.running);
		gpu->turn.running = NULL;
	}
	for (struct turns_line *line = turns.lines; line; line = line->next) {
		struct counter_sample *sample;

		while (line->gpu == gpu && (sample = take_first(line))) {
			sample->spoilt = true;
			let_go(sample);
			sample_give_up(sample);
		}
	}
}

/* The queues that have come to their first sample are numbered; returns the line of the lowest number. */
static struct turns_line *next_line(struct counter_gpu *gpu)
{
	struct turns_line *next = NULL;

	for (struct turns_line *line = turns.lines; line; line = line->next) {
		if (line->gpu != gpu || !line->first)
			continue;
		if (!line->arrived && !slot_signal_is_pending(line->first->ready)) {
			line->arrived = ++gpu->turn.arrivals;
			/* It is behind all that went by. */
			line->passed &= line->taken < line->passed_behind;
		}
		if (line->arrived && (!next || line->arrived < next->arrived))
			next = line;
	}
	return next;
}

/* Without the lock: a line may take long. */
static void tell(const struct counter_gpu *gpu)
{
	rtl_log(RTL_LEVEL_WARNING, "counters",
		"GPU %u: a dispatch has not ended for %llu s while others wait for their turn "
		"(RTL_COUNTERS_TIMEOUT): all go now, and nothing more is counted",
		gpu->node, (unsigned long long)(counter_settings.timeout_ns / 1000000000u));
}

/* Whether counting has ended for that GPU just now. */
static bool look_at(struct counter_gpu *gpu, uint64_t now_ns)
{
	struct counter_turn *turn = &gpu->turn;
	struct turns_line *next;

	if (__atomic_load_n(&gpu->released, __ATOMIC_RELAXED)) {
		release(gpu);
		return false;
	}
	if (turn->running && !slot_signal_is_pending(turn->running->slot.signal))
		end_turn(gpu);
	next = next_line(gpu);
	if (next && !turn->running)
		begin_turn(gpu, next, now_ns);
	else if (next && now_ns - turn->since_ns > counter_settings.timeout_ns)
		return !__atomic_exchange_n(&gpu->released, true, __ATOMIC_RELAXED);
	return false;
}

/* Whether something is under way. */
static bool is_busy(void)
{
	bool busy = false;

	for (const struct counter_gpu *gpu = plan_first(); gpu; gpu = gpu->next)
		busy |= gpu->turn.running != NULL;
	for (const struct turns_line *line = turns.lines; line; line = line->next)
		busy |= line->first != NULL;
	return busy;
}

/* ---- the thread ---- */

/* Waits until something is under way. Returns how long to wait before the next look. */
static uint64_t look(void)
{
	const struct counter_gpu *untold = NULL;
	uint64_t now_ns, wait_ns;

	pthread_mutex_lock(&turns.lock);
	while (!is_busy()) {
		pthread_cond_wait(&turns.more, &turns.lock);
		turns.stirred_ns = rtl_clock_ns();
	}
	now_ns = rtl_clock_ns();
	for (struct counter_gpu *gpu = plan_first(); gpu; gpu = gpu->next)
		if (look_at(gpu, now_ns))
			untold = gpu;
	wait_ns = turns_poll_ns(now_ns - turns.stirred_ns, POLL_PART);
	pthread_mutex_unlock(&turns.lock);
	if (untold)
		tell(untold);
	return wait_ns;
}

static void *run(void *data)
{
	pthread_setname_np(pthread_self(), "rtl-counters");
	(void)prctl(PR_SET_TIMERSLACK, 1000ul, 0, 0, 0);
	for (;;)
		nanosleep(&(struct timespec){.tv_nsec = (long)look()}, NULL);
	return NULL;
}

/* ---- joining and leaving ---- */

bool turns_join(struct turns_line *line, struct counter_gpu *gpu)
{
	HOLD_LOCK(&turns.lock);
	turns.started = turns.started || !own_thread_start(run, NULL);
	if (!turns.started)
		return false;
	*line = (struct turns_line){.gpu = gpu, .next = turns.lines};
	turns.lines = line;
	return true;
}

void turns_leave(struct turns_line *line)
{
	struct turns_line **link = &turns.lines;

	HOLD_LOCK(&turns.lock);
	while (*link && *link != line)
		link = &(*link)->next;
	if (*link)
		*link = line->next;
	for (struct counter_sample *sample; (sample = take_first(line));)
		sample_give_up(sample);
}

void turns_gone(struct turns_line *line)
{
	struct counter_turn *turn = &line->gpu->turn;

	HOLD_LOCK(&turns.lock);
	if (turn->of == line && turn->running) {
		turn->running->spoilt = true;
		end_turn(line->gpu);
	}
}

void turns_add(struct turns_line *line, struct counter_sample *sample)
{
	HOLD_LOCK(&turns.lock);
	if (!line->first)
		line->last = &line->first;
	*line->last = sample;
	line->last = &sample->next;
	sample->next = NULL;
	line->added++;
	pthread_cond_signal(&turns.more);
}

void turns_pass_by(struct turns_line *line)
{
	HOLD_LOCK(&turns.lock);
	line->passed = true;
	line->passed_behind = line->added;
}

void turns_release_all(void)
{
	for (struct counter_gpu *gpu = plan_first(); gpu; gpu = gpu->next)
		__atomic_store_n(&gpu->released, true, __ATOMIC_RELAXED);
}

void turns_forget(void)
{
	HOLD_LOCK(&turns.lock);
	turns.lines = NULL;
	for (struct counter_gpu *gpu = plan_first(); gpu; gpu = gpu->next)
		gpu->turn.running = NULL;
}
