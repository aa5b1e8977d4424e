/* SPDX-License-Identifier: MIT */
/* What GPUs did and why they did nothing, against what is found out for each nanosecond by itself: random work of
 * several streams, submitted by threads that make calls and are in ranges. */
#include "model.h"
#include "unit.h"

#define WORKS   40000u
#define SPANS   60000u
#define THREADS 3u
#define NAMES   6u

enum { CALL_A, CALL_B, WAIT, GRAPH, RANGE_A, RANGE_B };

static uint64_t random_below(uint64_t end)
{
	return unit_random() % end;
}

/* Something that a thread did; in order of end, as it is delivered. */
struct done {
	uint64_t begin, end;
	uint32_t thread, name;
	bool is_range;
};

struct world {
	struct host_time host;
	struct gpu_time gpu;
	struct summary_process process;
	struct host_thread *threads[THREADS];
	struct summary_group *names[NAMES];
	struct gpu_work works[WORKS];
	struct done done[SPANS];
	size_t work_count, done_count;
	uint64_t span; /* from 1 on */
};

static int set_up(void **state)
{
	static const char *const names[NAMES] = {
		"hipMalloc",      "hipMemcpy", "hipDeviceSynchronize",
		"hipGraphLaunch", "epoch",     "step"};
	struct world *world = calloc(1, sizeof(*world));

	world->process.deeds[SUMMARY_HIP_CALLS].count = 1;
	gpu_time_init(&world->gpu, &world->host);
	for (uint32_t i = 0; i < THREADS; i++)
		world->threads[i] = host_thread(&world->host, &world->process, 100 + i);
	for (uint32_t i = 0; i < NAMES; i++) {
		world->names[i] = calloc(1, sizeof(struct summary_group) + 32);
		strcpy(world->names[i]->name, names[i]);
	}
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	gpu_time_fini(&world->gpu);
	host_time_fini(&world->host);
	for (uint32_t i = 0; i < NAMES; i++) {
		summary_group_destroy(world->names[i]);
	}
	free(world);
	return 0;
}

/* ---- random events */

static void add_done(struct world *world, uint32_t thread, uint64_t begin, uint64_t end,
		     bool is_range, uint32_t name)
{
	assert_true(world->done_count < SPANS);
	world->done[world->done_count++] = (struct done){begin, end, thread, name, is_range};
}

/* A thread's life: calls with others in them, within ranges within a long one. */
static void make_thread(struct world *world, uint32_t thread, uint64_t span, uint64_t pace)
{
	uint64_t step = 1, at = 1 + random_below(pace);

	while (at < span) {
		const uint64_t end = at + 1 + random_below(pace);
		const uint32_t name = (uint32_t)random_below(4);

		if (random_below(4) == 0 && end - at > 4)
			add_done(world, thread, at + 1, end - 2, false, CALL_B);
		add_done(world, thread, at, end, false, name);
		at = end + random_below(pace);
		if (random_below(5) == 0) {
			add_done(world, thread, step, at, true, RANGE_B);
			step = at + random_below(pace);
			at = step + 1;
		}
	}
	if (thread != 1)
		add_done(world, thread, span / 8, 2 * span, true, RANGE_A);
}

static void make_works(struct world *world, size_t count, uint64_t pace)
{
	uint64_t at = 1000;

	for (size_t i = 0; i < count; i++) {
		struct gpu_work *work = &world->works[i];
		const uint64_t before =
			random_below(3) ? random_below(pace) : random_below(8 * pace);

		at += 1 + (random_below(3) ? random_below(pace) : 0);
		*work = (struct gpu_work){
			.begin = at,
			.end = at + 1 + random_below(pace),
			.submit = at > before ? at - before : 1,
			.stream = random_below(2),
			.correlation = random_below(2) ? i / 3 + 1 : 0,
			.thread = world->threads[random_below(THREADS)],
			.queue = (uint32_t)random_below(2),
			.is_copy = random_below(4) == 0,
			.waits = random_below(2),
		};
		world->span = work->end > world->span ? work->end : world->span;
	}
	world->work_count = count;
}

static int compare_done(const void *a, const void *b)
{
	const struct done *x = a, *y = b;

	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return (x->begin < y->begin) - (x->begin > y->begin);
}

static int compare_ends(const void *a, const void *b)
{
	const struct gpu_work *x = a, *y = b;

	return (x->end > y->end) - (x->end < y->end);
}

static int compare_begins(const void *a, const void *b)
{
	const struct gpu_work *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

/* Delivers what threads did and what the GPU did by the times of their ends. */
static void deliver(struct world *world)
{
	size_t d = 0;

	qsort(world->done, world->done_count, sizeof(*world->done), compare_done);
	qsort(world->works, world->work_count, sizeof(*world->works), compare_ends);
	for (size_t w = 0; w <= world->work_count; w++) {
		const uint64_t until = w < world->work_count ? world->works[w].end : UINT64_MAX;

		for (; d < world->done_count && world->done[d].end <= until; d++) {
			const struct done *done = &world->done[d];

			struct host_thread *thread = world->threads[done->thread];
			struct summary_group *name = world->names[done->name];

			assert_true(done->is_range
					    ? host_time_add_range(&world->host, thread, done->begin,
								  done->end, name)
					    : host_time_add_call(&world->host, thread, done->begin,
								 done->end, name));
		}
		if (w < world->work_count)
			assert_true(gpu_time_add(&world->gpu, &world->works[w]));
	}
	assert_true(gpu_time_settle(&world->gpu));
	host_time_close(&world->host);
	path_take_steps(&world->host, true);
	for (uint32_t i = 0; i < NAMES; i++)
		for (struct summary_part *p = world->names[i]->parts; p; p = p->next)
			assert_true(idle_rows_merge(&world->names[i]->path, &p->path));
	gpu_time_close(&world->gpu, IDLE_CAUSES, false);
}

/* ---- the truth, nanosecond by nanosecond */

/* What a thread was in then: the call that began first, the range that began last. Names from 1; 0: none. */
static uint8_t *paint(const struct world *world, uint32_t thread, bool ranges)
{
	uint8_t *is = calloc(world->span + 1, 1);

	/* a call is around those in it, a range within those around it: as they end */
	for (size_t i = 0; i < world->done_count; i++) {
		const struct done *done = &world->done[i];

		if (done->thread != thread || done->is_range != ranges)
			continue;
		for (uint64_t t = done->begin; t < done->end && t < world->span; t++)
			if (!ranges || !is[t])
				is[t] = (uint8_t)(done->name + 1);
	}
	return is;
}

static enum idle_cause late_cause(const struct gpu_work *before, const struct gpu_work *next,
				  const uint8_t *call)
{
	if (next->correlation && next->correlation == before->correlation &&
	    next->thread == before->thread && call[next->submit] == GRAPH + 1)
		return IDLE_GRAPH;
	if (!next->waits || next->submit > before->end)
		return IDLE_LATENCY;
	if (before->is_copy)
		return IDLE_COPY;
	return (before->queue && next->queue ? before->queue != next->queue
					     : before->stream != next->stream)
		       ? IDLE_QUEUE
		       : IDLE_LATENCY;
}

struct truth {
	uint64_t busy, kernels, copies, gaps;
	uint8_t *is; /* of each ns: 1 busy, 2 and more: idle, of a group; 0: before the first */
	uint64_t causes[IDLE_CAUSES][THREADS + 1][NAMES + 1]; /* thread, name: from 1 */
};

/* Recording was, in a part of a gap. */
static bool is_paused(const struct world *world, uint64_t begin, uint64_t end)
{
	for (size_t i = 0; i < world->host.pause_count; i++)
		if (world->host.pauses[i].begin < end && world->host.pauses[i].end > begin)
			return true;
	return false;
}

static void find_truth(const struct world *world, const struct gpu_work *works, struct truth *truth)
{
	const size_t count = world->work_count;
	const struct gpu_work *before = NULL;
	uint8_t *busy = calloc(world->span + 1, 1), *calls[THREADS], *ranges[THREADS];
	size_t *first = calloc(count + 1, sizeof(*first)), next = 0;

	for (size_t i = 0; i < count; i++)
		for (uint64_t t = works[i].begin; t < works[i].end; t++)
			busy[t] |= works[i].is_copy ? 2 : 1;
	for (uint32_t i = 0; i < THREADS; i++) {
		calls[i] = paint(world, i, false);
		ranges[i] = paint(world, i, true);
	}
	for (size_t i = count; i--;)
		first[i] = i + 1 < count && works[first[i + 1]].submit < works[i].submit
				   ? first[i + 1]
				   : i;
	for (uint64_t t = works[0].begin; t < world->span; t++) {
		enum idle_cause cause;
		uint32_t thread = 0, name = 0, by;

		truth->busy += busy[t] != 0;
		truth->is[t] = 1;
		truth->kernels += busy[t] & 1;
		truth->copies += busy[t] >> 1;
		for (; next < count && works[next].begin <= t; next++)
			if (!before || works[next].end >= before->end)
				before = &works[next];
		if (busy[t])
			continue;
		truth->gaps += busy[t - 1] != 0;
		const struct gpu_work *w = &works[next], *p = &works[first[next]];
		by = p->thread->tid - 100;
		if (is_paused(world, before->end, w->begin)) {
			cause = IDLE_PAUSED;
		} else if (t >= p->submit) {
			cause = t < w->submit ? p->waits ? IDLE_EVENT : IDLE_LATENCY
					      : late_cause(before, w, calls[w->thread->tid - 100]);
		} else if (calls[by][t]) {
			name = calls[by][t];
			cause = name == WAIT + 1 ? IDLE_WAIT : IDLE_CALL;
		} else {
			cause = IDLE_OUTSIDE;
			thread = by + 1;
			name = ranges[by][t];
		}
		truth->causes[cause][thread][name]++;
		truth->is[t] = (uint8_t)(2 + idle_group_of(cause));
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		free(calls[i]);
		free(ranges[i]);
	}
	free(busy);
	free(first);
}

/* The parts of critical paths of a range add up to its time. */
static void check_paths(const struct world *world)
{
	uint64_t whole[NAMES] = {0};

	for (size_t i = 0; i < world->done_count; i++)
		if (world->done[i].is_range)
			whole[world->done[i].name] += world->done[i].end - world->done[i].begin;
	for (uint32_t i = 0; i < NAMES; i++) {
		const struct idle_rows *rows = &world->names[i]->path;

		for (uint32_t k = 0; k < rows->count; k++)
			whole[i] -= rows->list[k].total_ns;
		assert_int_equal(whole[i], 0);
	}
}

/* What the GPU did within ranges, each for itself. */
static void check_steps(const struct world *world, const struct truth *truth)
{
	uint64_t inside[NAMES][2 + IDLE_GROUPS] = {0};

	for (size_t i = 0; i < world->done_count; i++) {
		const struct done *done = &world->done[i];

		for (uint64_t t = done->begin; done->is_range && t < done->end && t < world->span;
		     t++)
			inside[done->name][truth->is[t]]++;
	}
	for (uint32_t i = RANGE_A; i < NAMES; i++) {
		assert_int_equal(world->names[i]->busy_ns, inside[i][1]);
		for (int k = 0; k < IDLE_GROUPS; k++)
			assert_int_equal(world->names[i]->idle_ns[k], inside[i][2 + k]);
	}
}

static uint32_t name_of(const struct world *world, const struct summary_group *group)
{
	for (uint32_t i = 0; group && i < NAMES; i++)
		if (world->names[i] == group)
			return i + 1;
	return 0;
}

static void check(struct world *world, bool steps)
{
	struct truth *truth = calloc(1, sizeof(*truth));
	struct gpu_work *works = malloc(world->work_count * sizeof(*works));
	const struct gpu_time *gpu = &world->gpu;
	uint64_t sum = 0;

	memcpy(works, world->works, world->work_count * sizeof(*works));
	qsort(works, world->work_count, sizeof(*works), compare_begins);
	truth->is = calloc(world->span + 1, 1);
	find_truth(world, works, truth);
	if (steps)
		check_steps(world, truth);
	check_paths(world);
	assert_int_equal(gpu->busy_ns, truth->busy);
	assert_int_equal(gpu->kernels_ns, truth->kernels);
	assert_int_equal(gpu->copies_ns, truth->copies);
	assert_int_equal(gpu->gaps.count, truth->gaps);
	assert_int_equal(gpu->busy_ns + gpu->idle_ns, gpu->last - gpu->first);
	for (uint32_t i = 0; i < gpu->rows.count; i++) {
		const struct idle_row *row = &gpu->rows.list[i];

		sum += row->total_ns;
		assert_int_equal(row->total_ns,
				 truth->causes[row->cause][row->thread ? row->thread->tid - 99 : 0]
					      [name_of(world, row->what)]);
	}
	assert_int_equal(sum, gpu->idle_ns);
	for (size_t i = 0; i < gpu->gaps.kept; i++) {
		const struct gap *gap = &gpu->gaps.longest[i];
		uint64_t parts = 0;

		for (size_t k = 0; k < GAP_PARTS; k++) {
			assert_true(!gap->parts[k].ns == !gap->parts[k].row);
			parts += gap->parts[k].ns;
		}
		assert_in_range(parts, (gap->end - gap->begin) / GAP_PARTS, gap->end - gap->begin);
	}
	free(works);
	free(truth->is);
	free(truth);
}

static void make(struct world *world, size_t works, uint64_t pace)
{
	make_works(world, works, pace);
	for (uint32_t i = 0; i < THREADS; i++)
		make_thread(world, i, world->span, pace * (1 + i));
}

/* ---- tests */

TEST(test_idle__random_events__each_ns_has_its_cause)
{
	for (uint32_t i = 0; i < 40; i++) {
		if (i)
			tear_down(state), set_up(state);
		make(*state, 1 + random_below(300), 2 + random_below(100));
		deliver(*state);
		check(*state, true);
	}
}

/* What was told is told long before the ranges around it end. */
TEST(test_idle__more_than_the_window__each_ns_has_its_cause)
{
	make(*state, WORKS, 20);
	deliver(*state);
	check(*state, false); /* the long ranges began long before what is still exact */
}

TEST(test_idle__pauses__no_statement)
{
	struct world *world = *state;

	make(world, 300, 50);
	host_time_add_pause(&world->host, world->span / 2, world->span / 2 + 700, NULL);
	for (uint64_t at = 1100; at < world->span / 2; at += 200)
		host_time_add_pause(&world->host, at, at + 20, NULL);
	deliver(world);
	check(world, true);
	assert_true(gpu_time_unknown(&world->gpu, true));
}

TEST(test_idle__work_is_missing__no_statement)
{
	struct world *world = *state;

	make(world, 300, 50);
	deliver(world);
	assert_int_equal(gpu_time_unknown(&world->gpu, false), 0);
	gpu_time_close(&world->gpu, IDLE_FILTERED, false);
	assert_int_equal(gpu_time_unknown(&world->gpu, false), world->gpu.idle_ns);
}

static void add(struct world *world, uint64_t begin, uint64_t end)
{
	assert_true(gpu_time_add(&world->gpu, &(struct gpu_work){.begin = begin,
								 .end = end,
								 .submit = 1,
								 .thread = world->threads[0]}));
}

static uint64_t sum_of_rows(const struct gpu_time *gpu)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < gpu->rows.count; i++)
		sum += gpu->rows.list[i].total_ns;
	return sum;
}

static void close_gpu(struct world *world)
{
	const struct gpu_time *gpu = &world->gpu;

	assert_true(gpu_time_settle(&world->gpu));
	host_time_close(&world->host);
	gpu_time_close(&world->gpu, IDLE_CAUSES, false);
	assert_int_equal(gpu->busy_ns + gpu->idle_ns, gpu->last - gpu->first);
	assert_int_equal(sum_of_rows(gpu), gpu->idle_ns);
}

TEST(test_late__long_one_last__covers_all)
{
	struct world *world = *state;

	for (uint64_t i = 0; i < 3 * WORKS; i++)
		add(world, 1000 + 10 * i, 1000 + 10 * i + 3);
	add(world, 500, 20000000);
	close_gpu(world);
	assert_int_equal(world->gpu.busy_ns, 20000000 - 500);
	assert_int_equal(world->gpu.uncertain_ns, 0);
	assert_int_equal(world->gpu.gaps.kept, 0);
}

/* Work of a time that was told comes late: sums stay whole, and the truth within the bounds. */
TEST(test_late__any_disorder__bounds_hold)
{
	for (uint64_t length = 4; length < 40000; length *= 7) {
		struct world *world;
		uint8_t *busy = calloc(1, 500000);
		uint64_t truth = 0;

		tear_down(state), set_up(state);
		world = *state;
		for (uint32_t i = 0; i < 2 * WORKS; i++) {
			const uint64_t begin = 1 + random_below(400000);
			const uint64_t end = begin + 1 + random_below(length);

			memset(busy + begin, 1, end - begin);
			add(world, begin, end);
		}
		for (uint32_t t = 0; t < 500000; t++)
			truth += busy[t];
		close_gpu(world);
		assert_in_range(truth, world->gpu.busy_ns,
				world->gpu.busy_ns + world->gpu.uncertain_ns);
		free(busy);
	}
}

/* A thread's call from begin to end, or a range. */
static void did(struct world *world, uint64_t begin, uint64_t end, uint32_t name)
{
	add_done(world, 0, begin, end, name >= RANGE_A, name);
}

/* In stream = queue, 0 for a copy. */
static void work(struct world *world, uint64_t submit, uint64_t begin, uint64_t end, uint32_t queue,
		 bool waits, uint32_t name)
{
	world->works[world->work_count++] = (struct gpu_work){.begin = begin,
							      .end = end,
							      .submit = submit,
							      .stream = queue,
							      .waits = waits,
							      .what = world->names[name],
							      .thread = world->threads[0],
							      .queue = queue,
							      .is_copy = !queue};
}

/* How much of the paths of a range that is. */
static uint64_t on_path(const struct world *world, uint32_t range, enum idle_cause cause,
			int32_t name)
{
	const struct idle_rows *rows = &world->names[range]->path;

	for (uint32_t i = 0; i < rows->count; i++)
		if (rows->list[i].cause == cause &&
		    name_of(world, rows->list[i].what) == (uint32_t)(name + 1))
			return rows->list[i].total_ns;
	return 0;
}

TEST(test_path__two_queues_a_copy_and_the_host__what_each_waited_for)
{
	struct world *world = *state;

	/* a in queue 1, b behind a barrier in queue 2; c is too early; then a copy, and a kernel behind it */
	work(world, 1010, 1020, 1120, 1, false, CALL_A);
	work(world, 1012, 1021, 1060, 2, false, CALL_B);
	work(world, 1030, 1123, 1200, 2, true, CALL_B);
	work(world, 1040, 1130, 1140, 1, false, CALL_A);
	work(world, 1050, 1210, 1250, 0, true, GRAPH);
	work(world, 1060, 1254, 1300, 1, true, CALL_A);
	did(world, 1005, 1011, CALL_A);
	did(world, 1065, 1310, WAIT);
	/* the thread waited for all; then it slept, and launched without waiting */
	work(world, 1510, 1515, 1525, 1, false, CALL_A);
	work(world, 1511, 1526, 1540, 1, false, CALL_B);
	did(world, 1400, 1500, RANGE_B);
	did(world, 1505, 1515, CALL_B);
	did(world, 1530, 1560, WAIT);
	did(world, 1002, 1600, RANGE_A);
	work(world, 2000, 2001, 2002, 1, false, CALL_B);
	world->span = 2002;
	deliver(world);
	/* back from 1600: wait, b, a, its latency, the launch, outside, the wait, a, the copy, b, a */
	assert_int_equal(on_path(world, RANGE_A, IDLE_CALL, WAIT), 20 + 10);
	assert_int_equal(on_path(world, RANGE_A, PATH_WORK, CALL_B), 14 + 77);
	assert_int_equal(on_path(world, RANGE_A, PATH_WORK, CALL_A), 10 + 46 + 100);
	assert_int_equal(on_path(world, RANGE_A, PATH_WORK, GRAPH), 40);
	assert_int_equal(on_path(world, RANGE_A, IDLE_LATENCY, -1), 1 + 5 + 10);
	assert_int_equal(on_path(world, RANGE_A, IDLE_COPY, -1), 4);
	assert_int_equal(on_path(world, RANGE_A, IDLE_QUEUE, -1), 10 + 3);
	assert_int_equal(on_path(world, RANGE_A, IDLE_CALL, CALL_A), 5);
	assert_int_equal(on_path(world, RANGE_A, IDLE_CALL, CALL_B), 5);
	assert_int_equal(on_path(world, RANGE_A, IDLE_OUTSIDE, RANGE_B), 100);
	assert_int_equal(on_path(world, RANGE_A, IDLE_OUTSIDE, RANGE_A), 3 + 90 + 5 + 40);
	/* nothing was awaited in the inner one */
	assert_int_equal(on_path(world, RANGE_B, IDLE_OUTSIDE, RANGE_B), 100);
	check_paths(world);
}

TEST(test_path__of_very_much_work__what_is_forgotten_is_not_known)
{
	struct world *world = *state;

	assert_true(host_time_add_call(&world->host, world->threads[0], 2, 4 * PATH_ENDED, NULL));
	for (uint64_t i = 1; i <= 2 * PATH_ENDED; i++)
		assert_true(
			gpu_time_add(&world->gpu, &(struct gpu_work){.begin = 2 * i,
								     .end = 2 * i + 1,
								     .submit = 1,
								     .queue = 1,
								     .thread = world->threads[0],
								     .what = world->names[0]}));
	world->done[world->done_count++] = (struct done){1, 4 * PATH_ENDED + 1, 0, RANGE_A, true};
	world->process.deeds[SUMMARY_HIP_CALLS].count = 0;
	deliver(world);
	check_paths(world);
	assert_in_range(on_path(world, RANGE_A, PATH_WORK, CALL_A), PATH_ENDED / 2, PATH_ENDED);
	assert_in_range(on_path(world, RANGE_A, IDLE_UNKNOWN, -1), 2 * PATH_ENDED,
			3 * PATH_ENDED + 2);
}

/* Two pieces of work in each of many queues: the last waited for the first of its own. */
TEST(test_path__many_queues__each_is_known)
{
	enum { QUEUES = 3000 };
	struct world *world = *state;

	assert_true(host_time_add_call(&world->host, world->threads[0], 2, 40000, NULL));
	for (uint64_t i = 0; i < 2 * QUEUES; i++)
		assert_true(gpu_time_add(
			&world->gpu,
			&(struct gpu_work){.begin = 10 + 2 * i,
					   .end = 10 + 2 * i + (i == QUEUES ? 9000 : 1),
					   .submit = 1,
					   .stream = 1 + i % QUEUES,
					   .queue = 1 + i % QUEUES,
					   .thread = world->threads[0],
					   .what = world->names[i < QUEUES ? CALL_A : CALL_B]}));
	world->done[world->done_count++] = (struct done){1, 40000, 0, RANGE_A, true};
	world->process.deeds[SUMMARY_HIP_CALLS].count = 0;
	deliver(world);
	check_paths(world);
	assert_int_equal(on_path(world, RANGE_A, PATH_WORK, CALL_A), 1);
	assert_int_equal(on_path(world, RANGE_A, PATH_WORK, CALL_B), 9000);
}

RUN_TESTS(set_up, tear_down, NULL, NULL)
