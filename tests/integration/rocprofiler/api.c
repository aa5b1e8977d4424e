/* SPDX-License-Identifier: MIT */
/*
 * Every function of the rocprofiler API, on the software GPU: what it counts is what the GPU's log says.
 * api standalone | intercept | times: the way in which HSA loads the library (ROCP_HSA_INTERCEPT 0, 1, 2);
 * hang: with kernels that do not end.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <rocprofiler/rocprofiler.h>

#include "../../softgpu/hsa_fixture.h"
#include "check.h"

#define WAIT_S       60
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static struct fixture fixture;
static char log_path[] = "/tmp/rocprofiler-api-XXXXXX";

/* Their numbers on gfx906, and on later GPUs. */
static uint32_t hit_event = 20, miss_event = 22;

static void find_events(void)
{
	char name[65] = "";

	HSA_OK(hsa_agent_get_info(fixture.gpus[0], HSA_AGENT_INFO_NAME, name));
	if (strncmp(name, "gfx906", 6) != 0) {
		hit_event = 17;
		miss_event = 19;
	}
}

/* ---- the log: what a dispatch of that many work items counted ---- */

static uint64_t number(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static uint64_t logged(uint64_t items, const char *block, uint32_t event, int instance)
{
	char line[4096], wanted[64], at[128] = "";
	uint64_t sum = 0;
	FILE *file;

	for (int pass = 0; pass < 2; pass++) {
		file = fopen(log_path, "r");
		assert_non_null(file);
		while (fgets(line, sizeof(line), file)) {
			if (!pass && strstr(line, " kind=dispatch ") &&
			    number(line, " grid=") == items)
				snprintf(at, sizeof(at), " queue=%llu idx=%llu kind=count ",
					 (unsigned long long)number(line, " queue="),
					 (unsigned long long)number(line, " idx="));
			snprintf(wanted, sizeof(wanted), " block=%s ", block);
			if (pass && strstr(line, at) && strstr(line, wanted) &&
			    number(line, " event=") == event &&
			    (instance < 0 || number(line, " instance=") == (uint64_t)instance))
				sum += number(line, " value=");
		}
		fclose(file);
		if (!pass && !*at)
			fail_msg("no dispatch of %llu items", (unsigned long long)items);
	}
	return sum;
}

/* Dispatches are told apart by their size. */
static uint32_t next_items = 64;

static uint32_t launch(hsa_queue_t *queue, hsa_signal_t signal)
{
	hsa_kernel_dispatch_packet_t packet = fixture_dispatch(next_items, signal);
	uint32_t items = next_items;

	next_items += 64;
	fixture_submit(queue, &packet);
	return items;
}

static uint32_t run(hsa_queue_t *queue)
{
	hsa_signal_t done = fixture_signal(1);
	uint32_t items = launch(queue, done);

	assert_true(fixture_wait(done, WAIT_S));
	HSA_OK(hsa_signal_destroy(done));
	return items;
}

/* ---- what there is ---- */

struct listing {
	uint32_t count, counters, stop_at;
	rocprofiler_info_data_t waves, hits, rate;
};

static hsa_status_t on_info(const rocprofiler_info_data_t info, void *user)
{
	struct listing *listing = user;

	assert_int_equal(info.kind, ROCPROFILER_INFO_KIND_METRIC);
	if (!strcmp(info.metric.name, "SQ_WAVES"))
		listing->waves = info;
	if (!strcmp(info.metric.name, "TCC_HIT"))
		listing->hits = info;
	if (!strcmp(info.metric.name, "L2CacheHit"))
		listing->rate = info;
	listing->counters += !info.metric.expr;
	return ++listing->count == listing->stop_at ? HSA_STATUS_INFO_BREAK : HSA_STATUS_SUCCESS;
}

static void info__of_a_gpu__is_what_is_defined(void **state)
{
	const hsa_agent_t *gpu = &fixture.gpus[0];
	struct listing listing = {0}, all = {0}, first = {.stop_at = 3};
	rocprofiler_info_query_t query = {0};
	uint32_t count = 0, traces = 7;

	assert_int_equal(rocprofiler_version_major(), 8);
	assert_int_equal(rocprofiler_version_minor(), 0);
	OK(rocprofiler_get_info(gpu, ROCPROFILER_INFO_KIND_METRIC_COUNT, &count));
	OK(rocprofiler_get_info(gpu, ROCPROFILER_INFO_KIND_TRACE_COUNT, &traces));
	OK(rocprofiler_iterate_info(gpu, ROCPROFILER_INFO_KIND_METRIC, on_info, &listing));
	OK(rocprofiler_iterate_info(NULL, ROCPROFILER_INFO_KIND_METRIC, on_info, &all));
	OK(rocprofiler_iterate_info(gpu, ROCPROFILER_INFO_KIND_METRIC, on_info, &first));
	OK(rocprofiler_iterate_info(gpu, ROCPROFILER_INFO_KIND_TRACE, on_info, &first));
	assert_true(count > 40);
	assert_int_equal(traces, 0);
	assert_int_equal(listing.count, count);
	assert_int_equal(all.count, count * fixture.gpu_count);
	assert_int_equal(first.count, 3);
	assert_string_equal(listing.waves.metric.block_name, "SQ");
	assert_int_equal(listing.waves.metric.block_counters, 8);
	assert_int_equal(listing.waves.metric.instances, 1);
	assert_int_equal(listing.hits.metric.instances, 16);
	assert_non_null(listing.rate.metric.expr);
	OK(rocprofiler_get_info(NULL, ROCPROFILER_INFO_KIND_METRIC_COUNT, &traces));
	assert_int_equal(traces, count * fixture.gpu_count);
	assert_fails(rocprofiler_get_info(gpu, ROCPROFILER_INFO_KIND_METRIC_COUNT, NULL), "NULL");
	assert_fails(rocprofiler_get_info(&fixture.cpu, ROCPROFILER_INFO_KIND_METRIC_COUNT, &count),
		     "no GPU");
	assert_fails(rocprofiler_get_info(gpu, ROCPROFILER_INFO_KIND_METRIC, &count),
		     "unknown kind");
	assert_fails(rocprofiler_query_info(gpu, query, on_info, NULL), "not implemented");
}

static void time__of_now__is_the_clocks(void **state)
{
	uint64_t stamp, value = 0, gap = 0;
	struct timespec now;

	HSA_OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &stamp));
	clock_gettime(CLOCK_REALTIME, &now);
	OK(rocprofiler_get_time(ROCPROFILER_TIME_ID_CLOCK_REALTIME, stamp, &value, &gap));
	value -= (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	assert_true((int64_t)value < 1000000000 && (int64_t)value > -1000000000);
	assert_true(gap > 0 && gap < 1000000000);
	OK(rocprofiler_get_time(ROCPROFILER_TIME_ID_CLOCK_MONOTONIC, stamp, NULL, NULL));
	assert_fails(rocprofiler_get_time((rocprofiler_time_id_t)5, stamp, &value, &gap),
		     "no clock");
}

/* ---- what is refused ---- */

static void open__of_what_cannot_be_counted__says_why(void **state)
{
	static const struct {
		const char *names[9];
		const char *says;
	} cases[] = {
		{{"NOPE"}, "NOPE"},
		{{"SQ_WAVES", "SQ_WAVES"}, "twice"},
		{{NULL}, "without a name"},
		{{"TCC_HIT[99]"}, "16 instances"},
		{{"MCARB:1"}, "MCARB cannot be counted"},
		{{"SQ:1", "SQ:2", "SQ:3", "SQ:4", "SQ:5", "SQ:6", "SQ:7", "SQ:8", "SQ:9"},
		 "Metrics list exceeds HW limits"},
	};
	rocprofiler_feature_t features[9];
	rocprofiler_properties_t properties = {0};
	rocprofiler_t *context = NULL;

	for (size_t i = 0; i < COUNT(cases); i++) {
		uint32_t count = 0;
		memset(features, 0, sizeof(features));
		while (count < 9 && (cases[i].names[count] || !count)) {
			features[count].name = cases[i].names[count];
			count++;
		}
		assert_fails(rocprofiler_open(fixture.gpus[0], features, count, &context, 0,
					      &properties),
			     cases[i].says);
		assert_null(context);
	}
	features[0] = (rocprofiler_feature_t){.kind = ROCPROFILER_FEATURE_KIND_TRACE, .name = "TT"};
	assert_fails(rocprofiler_open(fixture.gpus[0], features, 1, &context, 0, &properties),
		     "SQTT");
	features[0] = (rocprofiler_feature_t){.name = "SQ_WAVES"};
	assert_fails(rocprofiler_open(fixture.gpus[0], features, 1, &context,
				      ROCPROFILER_MODE_CREATEQUEUE, &properties),
		     "invalid mode");
	assert_fails(rocprofiler_open(fixture.gpus[0], features, 1, &context,
				      ROCPROFILER_MODE_STANDALONE, &properties),
		     "without a queue");
	assert_fails(rocprofiler_open(fixture.cpu, features, 1, &context, 0, &properties),
		     "no GPU");
	OK(rocprofiler_open(fixture.gpus[0], features, 1, &context, 0, &properties));
	assert_fails(rocprofiler_start(context, 0), "no queue");
	assert_fails(rocprofiler_get_data(context, 1), "no group 1");
	assert_fails(rocprofiler_iterate_trace_data(context, NULL, NULL), "SQTT");
	OK(rocprofiler_close(context));
	OK(rocprofiler_close(NULL));
}

/* ---- standalone ---- */

static void standalone__around_dispatches__counts_what_the_log_says(void **state)
{
	rocprofiler_feature_t features[] = {{.name = "SQ_WAVES"},     {.name = "TCC_HIT[1]"},
					    {.name = "SQ:26"},        {.name = "VALUInsts"},
					    {.name = "TCC_MISS_sum"}, {.name = "GRBM_GUI_ACTIVE"}};
	rocprofiler_properties_t properties = {.queue_depth = 128};
	hsa_queue_t *queue = fixture_queue(&fixture, 64, NULL, NULL);
	uint64_t waves = 0, hits = 0, instructions = 0, misses = 0, active = 0;
	rocprofiler_t *context, *other;
	rocprofiler_group_t group;
	hsa_agent_t agent;
	uint32_t groups = 0;

	OK(rocprofiler_open(fixture.gpus[0], features, COUNT(features), &context,
			    ROCPROFILER_MODE_STANDALONE | ROCPROFILER_MODE_CREATEQUEUE |
				    ROCPROFILER_MODE_SINGLEGROUP,
			    &properties));
	assert_non_null(properties.queue);
	OK(rocprofiler_group_count(context, &groups));
	assert_int_equal(groups, 1);
	OK(rocprofiler_get_group(context, 0, &group));
	assert_int_equal(group.feature_count, COUNT(features));
	assert_ptr_equal(group.features[1], &features[1]);
	OK(rocprofiler_get_agent(context, &agent));
	assert_int_equal(agent.handle, fixture.gpus[0].handle);
	assert_fails(rocprofiler_read(context, 0), "not been started");
	run(queue); /* not counted */
	OK(rocprofiler_start(context, 0));
	assert_fails(rocprofiler_start(context, 0), "has been started");
	for (int round = 0; round < 3; round++) {
		uint32_t items = run(queue);
		waves += logged(items, "SQ", 4, -1);
		hits += logged(items, "TCC", hit_event, 1);
		instructions += logged(items, "SQ", 26, -1);
		misses += logged(items, "TCC", miss_event, -1);
		active += logged(items, "GRBM", 2, -1);
		if (round == 0)
			OK(rocprofiler_read(context, 0));
		else if (round == 1)
			OK(rocprofiler_group_read(&group));
		else
			OK(rocprofiler_stop(context, 0));
		if (round == 1)
			OK(rocprofiler_group_get_data(&group));
		else
			OK(rocprofiler_get_data(context, 0));
		OK(rocprofiler_get_metrics(context));
		assert_true(waves > 0 && hits > 0);
		assert_int_equal(features[0].data.kind, ROCPROFILER_DATA_KIND_INT64);
		assert_int_equal(features[0].data.result_int64, waves);
		assert_int_equal(features[1].data.result_int64, hits);
		assert_int_equal(features[2].data.result_int64, instructions);
		assert_int_equal(features[3].data.kind, ROCPROFILER_DATA_KIND_DOUBLE);
		assert_true(features[3].data.result_double == (double)instructions / (double)waves);
		assert_true(features[4].data.result_double == (double)misses);
		assert_int_equal(features[5].data.result_int64, active);
	}
	/* Contexts may share an array of features: opening one leaves what another has put there. */
	OK(rocprofiler_open(fixture.gpus[0], features, COUNT(features), &other, 0, &properties));
	assert_int_equal(features[0].data.kind, ROCPROFILER_DATA_KIND_INT64);
	assert_int_equal(features[0].data.result_int64, waves);
	OK(rocprofiler_close(other));
	run(queue); /* not counted */
	OK(rocprofiler_reset(context, 0));
	OK(rocprofiler_group_start(&group));
	waves = logged(run(queue), "SQ", 4, -1);
	OK(rocprofiler_group_stop(&group));
	OK(rocprofiler_group_get_data(&group));
	assert_int_equal(features[0].data.result_int64, waves);
	/* what is under way is waited for */
	OK(rocprofiler_start(context, 0));
	OK(rocprofiler_close(context));
	/* the queue that was made is the caller's, as the original has it */
	HSA_OK(hsa_queue_destroy(properties.queue));
	HSA_OK(hsa_queue_destroy(queue));
}

/* The kernel before the stop hangs: what is closed does not wait for ever. */
static void close__of_a_read_that_does_not_end__returns(void **state)
{
	rocprofiler_feature_t feature = {.name = "SQ_WAVES"};
	rocprofiler_properties_t properties = {0};
	rocprofiler_t *context;

	properties.queue = fixture_queue(&fixture, 64, NULL, NULL);
	OK(rocprofiler_open(fixture.gpus[0], &feature, 1, &context, ROCPROFILER_MODE_STANDALONE,
			    &properties));
	OK(rocprofiler_start(context, 0));
	launch(properties.queue, (hsa_signal_t){0});
	OK(rocprofiler_read(context, 0));
	OK(rocprofiler_close(context));
	if (!strstr(error(), "has not ended in time"))
		fail_msg("'%s'", error());
}

/* ---- intercepted ---- */

enum { LAUNCHES = 40 };

static struct seen {
	rocprofiler_feature_t features[2];
	uint32_t items;
	uint64_t begin, end, complete;
	const rocprofiler_dispatch_record_t *record;
	const hsa_queue_t *queue;
} seen[LAUNCHES];
static hsa_queue_t *profiled; /* by rocprofiler_queue_create_profiled */
static atomic_int seen_count, handled;
static int created, destroyed;

static void note(struct seen *one)
{
	if (!one->record)
		return;
	one->begin = one->record->begin;
	one->end = one->record->end;
	one->complete = one->record->complete;
	free((void *)(uintptr_t)one->record); /* the tool's, as with the original */
}

static bool on_group(rocprofiler_group_t group, void *arg)
{
	struct seen *one = arg;

	OK(rocprofiler_group_get_data(&group));
	OK(rocprofiler_get_metrics(group.context));
	note(one);
	OK(rocprofiler_close(group.context));
	atomic_fetch_add(&handled, 1);
	return true;
}

static hsa_status_t on_dispatch(const rocprofiler_callback_data_t *data, void *user,
				rocprofiler_group_t *group)
{
	int at = atomic_fetch_add(&seen_count, 1);
	struct seen *one = &seen[at % LAUNCHES];
	rocprofiler_properties_t properties = {.handler = on_group, .handler_arg = one};
	rocprofiler_t *context;

	assert_ptr_equal(user, seen);
	assert_int_equal(data->agent.handle, fixture.gpus[0].handle);
	assert_non_null(data->kernel_name);
	assert_int_equal(data->thread_id, gettid());
	memset(one, 0, sizeof(*one));
	one->items = data->packet->grid_size_x;
	one->record = data->record;
	one->queue = data->queue;
	one->features[0].name = "SQ_WAVES";
	one->features[1].name = "TCC_HIT_sum";
	OK(rocprofiler_open(data->agent, one->features, 2, &context, 0, &properties));
	OK(rocprofiler_get_group(context, 0, group));
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_create(hsa_queue_t *queue, void *user)
{
	assert_ptr_equal(user, seen);
	created++;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_destroy(hsa_queue_t *queue, void *user)
{
	assert_ptr_equal(user, seen);
	destroyed++;
	return HSA_STATUS_SUCCESS;
}

static void await_handled(int count)
{
	for (int i = 0; i < WAIT_S * 1000 && atomic_load(&handled) < count; i++)
		usleep(1000);
	assert_int_equal(atomic_load(&handled), count);
}

static bool with_times;

static void check_seen(int count)
{
	for (int i = 0; i < count; i++) {
		const struct seen *one = &seen[i];
		assert_int_equal(one->features[0].data.result_int64,
				 logged(one->items, "SQ", 4, -1));
		assert_true(one->features[1].data.result_double ==
			    (double)logged(one->items, "TCC", hit_event, -1));
		if (with_times || (profiled && one->queue == profiled))
			assert_true(one->begin && one->begin < one->end &&
				    one->end <= one->complete);
		else
			assert_null(one->record);
	}
}

/* Two queues at the same time, whose kernels are counted one at a time. */
static void intercept__of_two_queues__counts_each_dispatch(void **state)
{
	const rocprofiler_queue_callbacks_t callbacks = {on_dispatch, on_create, on_destroy};
	hsa_queue_t *queues[2];
	hsa_signal_t signals[LAUNCHES];

	OK(rocprofiler_set_queue_callbacks(callbacks, seen));
	assert_fails(rocprofiler_set_queue_callbacks(callbacks, seen), "set already");
	queues[0] = fixture_queue(&fixture, 256, NULL, NULL);
	OK(rocprofiler_queue_create_profiled(fixture.gpus[0], 256, HSA_QUEUE_TYPE_MULTI, NULL, NULL,
					     UINT32_MAX, UINT32_MAX, &queues[1]));
	profiled = queues[1];
	assert_int_equal(created, 2);
	for (int i = 0; i < LAUNCHES; i++) {
		signals[i] = fixture_signal(1);
		launch(queues[i % 2], signals[i]);
	}
	for (int i = 0; i < LAUNCHES; i++) {
		hsa_amd_profiling_dispatch_time_t time;
		assert_true(fixture_wait(signals[i], WAIT_S));
		HSA_OK(hsa_amd_profiling_get_dispatch_time(fixture.gpus[0], signals[i], &time));
		assert_true(time.start && time.start < time.end);
		HSA_OK(hsa_signal_destroy(signals[i]));
	}
	await_handled(LAUNCHES);
	check_seen(LAUNCHES);
	OK(rocprofiler_stop_queue_callbacks());
	run(queues[0]);
	assert_int_equal(atomic_load(&seen_count), LAUNCHES);
	OK(rocprofiler_start_queue_callbacks());
	run(queues[0]);
	await_handled(LAUNCHES + 1);
	HSA_OK(hsa_queue_destroy(queues[0]));
	HSA_OK(hsa_queue_destroy(queues[1]));
	profiled = NULL;
	assert_int_equal(destroyed, 2);
	OK(rocprofiler_remove_queue_callbacks());
	assert_fails(rocprofiler_start_queue_callbacks(), "no queue callbacks");
}

/* By the kernel's own signal, by that of a barrier behind it, and by looking at that: the values are there when the
 * program goes on. */
static void intercept__waited_for__has_been_told(void **state)
{
	const rocprofiler_queue_callbacks_t callbacks = {on_dispatch, NULL, NULL};
	hsa_queue_t *queue;

	atomic_store(&seen_count, 0);
	atomic_store(&handled, 0);
	OK(rocprofiler_set_queue_callbacks(callbacks, seen));
	queue = fixture_queue(&fixture, 256, NULL, NULL);
	for (int i = 0; i < LAUNCHES; i++) {
		const hsa_signal_t done = fixture_signal(1), none = {0};
		hsa_barrier_and_packet_t barrier = fixture_barrier_and(none, done);

		launch(queue, i % 3 ? none : done);
		if (i % 3)
			fixture_submit(queue, &barrier);
		if (i % 3 == 2) {
			while (hsa_signal_load_relaxed(done) > 0)
				sched_yield();
		} else {
			assert_true(fixture_wait(done, WAIT_S));
		}
		assert_int_equal(atomic_load(&handled), i + 1);
		HSA_OK(hsa_signal_destroy(done));
	}
	check_seen(LAUNCHES);
	HSA_OK(hsa_queue_destroy(queue));
	OK(rocprofiler_remove_queue_callbacks());
}

/* ---- a tool that asks for data and closes with the lock that its handlers want, as rocprof's does ---- */

enum { LOCKED = 3 };

static struct locked {
	rocprofiler_feature_t feature;
	rocprofiler_t *context;
	rocprofiler_group_t group;
} locked[LOCKED];
static pthread_mutex_t tool_lock = PTHREAD_MUTEX_INITIALIZER;
static int locked_count;
static atomic_int entered;

static bool on_locked(rocprofiler_group_t group, void *arg)
{
	struct locked *one = arg;

	atomic_fetch_add(&entered, 1);
	pthread_mutex_lock(&tool_lock);
	assert_null(one->context); /* it was closed meanwhile */
	pthread_mutex_unlock(&tool_lock);
	return true;
}

static hsa_status_t on_locked_dispatch(const rocprofiler_callback_data_t *data, void *user,
				       rocprofiler_group_t *group)
{
	struct locked *one = &locked[locked_count++];
	rocprofiler_properties_t properties = {.handler = on_locked, .handler_arg = one};

	one->feature.name = "SQ_WAVES";
	OK(rocprofiler_open(data->agent, &one->feature, 1, &one->context, 0, &properties));
	OK(rocprofiler_get_group(one->context, 0, group));
	one->group = *group;
	return HSA_STATUS_SUCCESS;
}

static void intercept__closed_with_the_handlers_lock__ends(void **state)
{
	const rocprofiler_queue_callbacks_t callbacks = {on_locked_dispatch, NULL, NULL};
	hsa_queue_t *queue;
	uint32_t items[LOCKED];

	OK(rocprofiler_set_queue_callbacks(callbacks, NULL));
	queue = fixture_queue(&fixture, 256, NULL, NULL);
	pthread_mutex_lock(&tool_lock);
	items[0] = launch(queue, (hsa_signal_t){0});
	while (!atomic_load(&entered))
		usleep(100);
	for (int i = 1; i < LOCKED; i++)
		items[i] = launch(queue, (hsa_signal_t){0});
	for (int i = 0; i < LOCKED; i++) {
		OK(rocprofiler_get_data(locked[i].context, 0));
		assert_int_equal(locked[i].feature.data.result_int64,
				 logged(items[i], "SQ", 4, -1));
		OK(rocprofiler_close(locked[i].context));
		locked[i].context = NULL;
	}
	pthread_mutex_unlock(&tool_lock);
	HSA_OK(hsa_queue_destroy(queue));
	OK(rocprofiler_remove_queue_callbacks());
}

/* ---- without a handler: as the specification's example has it ---- */

static rocprofiler_group_t plain_groups[LAUNCHES];
static rocprofiler_feature_t plain_features[LAUNCHES];
static uint32_t plain_items[LAUNCHES];
static int plain_count;

static hsa_status_t on_plain_dispatch(const rocprofiler_callback_data_t *data, void *user,
				      rocprofiler_group_t *group)
{
	rocprofiler_properties_t properties = {0};
	rocprofiler_t *context;
	int at = plain_count++;

	plain_items[at] = data->packet->grid_size_x;
	plain_features[at].name = "SQ_WAVES";
	OK(rocprofiler_open(data->agent, &plain_features[at], 1, &context, 0, &properties));
	assert_fails(rocprofiler_get_data(context, 0), "nothing has been read");
	OK(rocprofiler_get_group(context, 0, group));
	plain_groups[at] = *group;
	return HSA_STATUS_SUCCESS;
}

static void intercept__without_a_handler__waits_for_the_data(void **state)
{
	const rocprofiler_queue_callbacks_t callbacks = {on_plain_dispatch, NULL, NULL};
	hsa_queue_t *queue;

	OK(rocprofiler_set_queue_callbacks(callbacks, NULL));
	queue = fixture_queue(&fixture, 256, NULL, NULL);
	for (int i = 0; i < LAUNCHES; i++)
		launch(queue, (hsa_signal_t){0});
	for (int i = 0; i < LAUNCHES; i++) {
		OK(rocprofiler_get_data(plain_groups[i].context, 0));
		assert_int_equal(plain_features[i].data.result_int64,
				 logged(plain_items[i], "SQ", 4, -1));
		OK(rocprofiler_close(plain_groups[i].context));
	}
	HSA_OK(hsa_queue_destroy(queue));
	OK(rocprofiler_remove_queue_callbacks());
}

/* ---- pools ---- */

static rocprofiler_pool_t *pool;
static rocprofiler_feature_t pool_features[2];
static int order[LAUNCHES];

struct payload {
	int at;
	uint32_t items;
};

static bool on_entry(const rocprofiler_pool_entry_t *entry, void *arg)
{
	const struct payload *payload = entry->payload;
	rocprofiler_group_t group;
	int at = atomic_load(&handled);

	assert_ptr_equal(arg, order);
	OK(rocprofiler_get_group(entry->context, 0, &group));
	OK(rocprofiler_group_get_data(&group));
	OK(rocprofiler_get_metrics(entry->context));
	memcpy(seen[payload->at].features, pool_features, sizeof(pool_features));
	note(&seen[payload->at]);
	order[at] = payload->at;
	atomic_store(&handled, at + 1);
	return true;
}

static hsa_status_t on_pool_dispatch(const rocprofiler_callback_data_t *data, void *user,
				     rocprofiler_group_t *group)
{
	int at = atomic_fetch_add(&seen_count, 1);
	rocprofiler_pool_entry_t entry;
	struct payload *payload;

	if (at >= LAUNCHES)
		return HSA_STATUS_ERROR; /* not counted */
	OK(rocprofiler_pool_fetch(pool, &entry));
	payload = entry.payload;
	payload->at = at;
	seen[at].items = data->packet->grid_size_x;
	seen[at].record = data->record;
	return rocprofiler_get_group(entry.context, 0, group);
}

static hsa_status_t count_entries(rocprofiler_pool_entry_t *entry, void *user)
{
	assert_non_null(entry->context);
	++*(int *)user;
	return HSA_STATUS_SUCCESS;
}

static void pool__of_few_entries__hands_each_out_again_in_order(void **state)
{
	const rocprofiler_queue_callbacks_t callbacks = {on_pool_dispatch, NULL, NULL};
	rocprofiler_pool_properties_t properties = {4, sizeof(struct payload), on_entry, order};
	rocprofiler_pool_entry_t entry;
	hsa_queue_t *queue;
	int entries = 0;

	atomic_store(&seen_count, 0);
	atomic_store(&handled, 0);
	memset(seen, 0, sizeof(seen));
	pool_features[0] = (rocprofiler_feature_t){.name = "SQ_WAVES"};
	pool_features[1] = (rocprofiler_feature_t){.name = "TCC_HIT_sum"};
	OK(rocprofiler_pool_open(fixture.gpus[0], pool_features, 2, &pool, 0, &properties));
	OK(rocprofiler_pool_iterate(pool, count_entries, &entries));
	assert_int_equal(entries, 0);
	OK(rocprofiler_pool_fetch(pool, &entry));
	OK(rocprofiler_pool_iterate(pool, count_entries, &entries));
	assert_int_equal(entries, 1); /* they are made when they are fetched */
	OK(rocprofiler_pool_release(&entry));
	assert_fails(rocprofiler_pool_release(&entry), "no entry that was fetched");
	OK(rocprofiler_set_queue_callbacks(callbacks, NULL));
	queue = fixture_queue(&fixture, 256, NULL, NULL);
	for (int i = 0; i < LAUNCHES; i++)
		launch(queue, (hsa_signal_t){0});
	run(queue);
	OK(rocprofiler_pool_flush(pool));
	assert_int_equal(atomic_load(&handled), LAUNCHES);
	for (int i = 0; i < LAUNCHES; i++)
		assert_int_equal(order[i], i);
	check_seen(LAUNCHES);
	OK(rocprofiler_pool_close(pool));
	HSA_OK(hsa_queue_destroy(queue));
	OK(rocprofiler_remove_queue_callbacks());
	properties.num_entries = 0;
	assert_fails(
		rocprofiler_pool_open(fixture.gpus[0], pool_features, 2, &pool, 0, &properties),
		"no entries");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest everywhere[] = {
		cmocka_unit_test(info__of_a_gpu__is_what_is_defined),
		cmocka_unit_test(time__of_now__is_the_clocks),
		cmocka_unit_test(open__of_what_cannot_be_counted__says_why),
		cmocka_unit_test(standalone__around_dispatches__counts_what_the_log_says),
	};
	const struct CMUnitTest intercepted[] = {
		cmocka_unit_test(intercept__of_two_queues__counts_each_dispatch),
		cmocka_unit_test(intercept__waited_for__has_been_told),
		cmocka_unit_test(intercept__closed_with_the_handlers_lock__ends),
		cmocka_unit_test(intercept__without_a_handler__waits_for_the_data),
		cmocka_unit_test(pool__of_few_entries__hands_each_out_again_in_order),
	};
	const struct CMUnitTest hanging[] = {
		cmocka_unit_test(close__of_a_read_that_does_not_end__returns),
	};
	const int file = mkstemp(log_path);
	int failed;

	if (argc != 2 || file < 0)
		return 2;
	close(file);
	setenv("SOFTGPU_LOG", log_path, 1);
	with_times = !strcmp(argv[1], "times");
	fixture_open(&fixture);
	find_events();
	if (!strcmp(argv[1], "standalone"))
		failed = cmocka_run_group_tests(everywhere, NULL, NULL);
	else if (!strcmp(argv[1], "hang"))
		failed = cmocka_run_group_tests(hanging, NULL, NULL);
	else
		failed = cmocka_run_group_tests(intercepted, NULL, NULL);
	fixture_close();
	unlink(log_path);
	return failed;
}
