/* SPDX-License-Identifier: MIT */
/*
 * What tools of the rocprofiler API get wrong, and ends that come early: an error or nothing, never a hang or a
 * crash. misuse TEST: one of those at the end; how HSA loads the library and what fails is in CMakeLists.txt.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <pthread.h>

#include <rocprofiler/rocprofiler.h>

#include "../../softgpu/hsa_fixture.h"
#include "check.h"

#define WAIT_S  60
#define GUARD_S 120 /* what hangs is killed */

static struct fixture fixture;
static bool runtime_ended;

static void launch(hsa_queue_t *queue, hsa_signal_t signal)
{
	const hsa_kernel_dispatch_packet_t packet = fixture_dispatch(64, signal);

	fixture_submit(queue, &packet);
}

static void run(hsa_queue_t *queue)
{
	hsa_signal_t done = fixture_signal(1);

	launch(queue, done);
	assert_true(fixture_wait(done, WAIT_S));
	HSA_OK(hsa_signal_destroy(done));
}

static hsa_queue_t *queue_of(uint32_t gpu)
{
	hsa_queue_t *queue;

	HSA_OK(hsa_queue_create(fixture.gpus[gpu], 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
				UINT32_MAX, &queue));
	return queue;
}

static rocprofiler_feature_t feature = {.name = "SQ_WAVES"};

static rocprofiler_t *open_on(hsa_queue_t *queue)
{
	rocprofiler_properties_t properties = {.queue = queue};
	rocprofiler_t *context;

	OK(rocprofiler_open(fixture.gpus[0], &feature, 1, &context,
			    queue ? ROCPROFILER_MODE_STANDALONE : 0, &properties));
	return context;
}

/* ---- on a queue ---- */

static void count_on(hsa_queue_t *queue)
{
	rocprofiler_t *context = open_on(queue);

	OK(rocprofiler_start(context, 0));
	run(queue);
	OK(rocprofiler_stop(context, 0));
	OK(rocprofiler_get_data(context, 0));
	assert_int_equal(feature.data.result_int64, 1);
	OK(rocprofiler_close(context));
}

static void calls__without_a_runtime__fail(void **state)
{
	const rocprofiler_hsa_callbacks_t callbacks = {0};
	rocprofiler_properties_t properties = {0};
	rocprofiler_pool_properties_t pool_properties = {.num_entries = 1};
	rocprofiler_t *context;
	rocprofiler_pool_t *pool;
	uint32_t count;
	uint64_t value;

	assert_fails(rocprofiler_open(fixture.gpus[0], &feature, 1, &context, 0, &properties),
		     "HSA runtime");
	assert_fails(
		rocprofiler_pool_open(fixture.gpus[0], &feature, 1, &pool, 0, &pool_properties),
		"HSA runtime");
	assert_fails(
		rocprofiler_get_info(&fixture.gpus[0], ROCPROFILER_INFO_KIND_METRIC_COUNT, &count),
		"HSA runtime");
	assert_fails(rocprofiler_iterate_info(
			     NULL, ROCPROFILER_INFO_KIND_METRIC,
			     (hsa_status_t(*)(const rocprofiler_info_data_t, void *))abort, NULL),
		     "HSA runtime");
	assert_fails(rocprofiler_get_time(ROCPROFILER_TIME_ID_CLOCK_REALTIME, 1, &value, NULL),
		     "HSA runtime");
	OK(rocprofiler_set_hsa_callbacks(callbacks, NULL));
}

static void contexts__after_the_runtimes_end__are_closed(void **state)
{
	static rocprofiler_feature_t metric = {.name = "TCC_HIT_sum"};
	rocprofiler_pool_properties_t pool_properties = {.num_entries = 2};
	rocprofiler_properties_t properties = {0};
	hsa_queue_t *queue;
	rocprofiler_t *started, *read, *idle;
	rocprofiler_pool_t *pool;
	rocprofiler_pool_entry_t entry;
	rocprofiler_group_t group;

	calls__without_a_runtime__fail(state);
	fixture_open(&fixture);
	queue = queue_of(0);
	properties.queue = queue;
	started = open_on(queue);
	OK(rocprofiler_open(fixture.gpus[0], &metric, 1, &read, ROCPROFILER_MODE_STANDALONE,
			    &properties));
	idle = open_on(NULL);
	OK(rocprofiler_pool_open(fixture.gpus[0], &feature, 1, &pool, 0, &pool_properties));
	OK(rocprofiler_pool_fetch(pool, &entry));
	OK(rocprofiler_start(read, 0));
	run(queue);
	OK(rocprofiler_stop(read, 0));
	OK(rocprofiler_get_data(read, 0));
	OK(rocprofiler_start(started, 0));
	HSA_OK(hsa_shut_down());
	calls__without_a_runtime__fail(state);
	assert_fails(rocprofiler_read(started, 0), "has ended");
	assert_fails(rocprofiler_stop(started, 0), "has ended");
	assert_fails(rocprofiler_get_data(read, 0), "has ended");
	assert_fails(rocprofiler_get_metrics(read), "has ended");
	OK(rocprofiler_group_count(idle, &group.index));
	OK(rocprofiler_get_group(idle, 0, &group));
	OK(rocprofiler_group_get_data(&group)); /* always, as the original */
	OK(rocprofiler_close(idle));
	/* What is left may be closed when the runtime has begun again, too. */
	fixture_open(&fixture);
	queue = queue_of(0);
	count_on(queue);
	assert_fails(rocprofiler_start(read, 0), "has ended");
	OK(rocprofiler_close(started));
	OK(rocprofiler_close(read));
	OK(rocprofiler_pool_close(pool));
	count_on(queue);
	HSA_OK(hsa_queue_destroy(queue));
}

static void queue__destroyed_before_its_context__is_not_used(void **state)
{
	hsa_queue_t *queue = queue_of(0), *other = queue_of(0);
	hsa_signal_t gate = fixture_signal(1);
	const hsa_barrier_and_packet_t barrier = fixture_barrier_and(gate, (hsa_signal_t){0});
	rocprofiler_t *started = open_on(queue), *waiting = open_on(other);

	OK(rocprofiler_start(started, 0));
	run(queue);
	fixture_submit(other, &barrier);
	OK(rocprofiler_start(waiting, 0));
	OK(rocprofiler_stop(waiting, 0));
	HSA_OK(hsa_queue_destroy(queue));
	HSA_OK(hsa_queue_destroy(other));
	assert_fails(rocprofiler_read(started, 0), "destroyed");
	assert_fails(rocprofiler_stop(started, 0), "destroyed");
	assert_fails(rocprofiler_get_data(waiting, 0), "destroyed");
	OK(rocprofiler_close(started));
	OK(rocprofiler_close(waiting));
	queue = queue_of(0);
	count_on(queue);
	HSA_OK(hsa_queue_destroy(queue));
	HSA_OK(hsa_signal_destroy(gate));
}

static atomic_bool opened;

static void *open_gate(void *arg)
{
	usleep(100000);
	atomic_store(&opened, true);
	hsa_signal_store_screlease(*(hsa_signal_t *)arg, 0);
	return NULL;
}

/* A kernel on another queue comes next, and is counted. */
static void start__of_a_queue_that_is_late__is_waited_for(void **state)
{
	hsa_queue_t *queue = queue_of(0), *other = queue_of(0);
	hsa_signal_t gate = fixture_signal(1);
	const hsa_barrier_and_packet_t barrier = fixture_barrier_and(gate, (hsa_signal_t){0});
	rocprofiler_t *context = open_on(queue);
	pthread_t opener;

	fixture_submit(queue, &barrier);
	assert_int_equal(pthread_create(&opener, NULL, open_gate, &gate), 0);
	OK(rocprofiler_start(context, 0));
	assert_true(atomic_load(&opened));
	pthread_join(opener, NULL);
	run(other);
	OK(rocprofiler_stop(context, 0));
	OK(rocprofiler_get_data(context, 0));
	assert_int_equal(feature.data.result_int64, 1);
	OK(rocprofiler_close(context));
	HSA_OK(hsa_queue_destroy(queue));
	HSA_OK(hsa_queue_destroy(other));
}

static void queue__of_a_depth_that_no_queue_has__is_refused(void **state)
{
	rocprofiler_properties_t properties = {.queue_depth = UINT32_MAX};
	rocprofiler_t *context;

	assert_fails(rocprofiler_open(fixture.gpus[0], &feature, 1, &context,
				      ROCPROFILER_MODE_STANDALONE | ROCPROFILER_MODE_CREATEQUEUE,
				      &properties),
		     "queue");
}

/* ---- dispatches ---- */

/* What the next dispatch is counted with. */
static struct asked {
	rocprofiler_pool_t *pool;
	rocprofiler_feature_t *features;
	uint32_t count;
	rocprofiler_t *context;
	rocprofiler_handler_t handler;
} asked;
static atomic_int told, entries_told;

static bool on_group(rocprofiler_group_t group, void *arg)
{
	(void)rocprofiler_group_get_data(&group);
	atomic_fetch_add(&told, 1);
	return true;
}

static bool on_entry(const rocprofiler_pool_entry_t *entry, void *arg)
{
	(void)rocprofiler_get_data(entry->context, 0);
	atomic_fetch_add(&entries_told, 1);
	return true;
}

static hsa_status_t on_dispatch(const rocprofiler_callback_data_t *data, void *user,
				rocprofiler_group_t *group)
{
	rocprofiler_properties_t properties = {.handler = on_group};
	rocprofiler_pool_entry_t entry;

	if (asked.pool) {
		OK(rocprofiler_pool_fetch(asked.pool, &entry));
		asked.context = entry.context;
	} else {
		OK(rocprofiler_open(data->agent, asked.features, asked.count, &asked.context, 0,
				    &properties));
	}
	return rocprofiler_get_group(asked.context, 0, group);
}

static rocprofiler_pool_t *open_pool(uint32_t entries, uint32_t features)
{
	rocprofiler_pool_properties_t properties = {.num_entries = entries, .handler = on_entry};
	rocprofiler_pool_t *pool;

	OK(rocprofiler_pool_open(fixture.gpus[0], features ? &feature : NULL, features, &pool, 0,
				 &properties));
	return pool;
}

static void set_callbacks(void)
{
	const rocprofiler_queue_callbacks_t callbacks = {on_dispatch, NULL, NULL};

	asked = (struct asked){.features = &feature, .count = 1};
	atomic_store(&told, 0);
	atomic_store(&entries_told, 0);
	OK(rocprofiler_set_queue_callbacks(callbacks, NULL));
}

/* Neither counts nor times: nobody is told, and its entry is there for the next. */
static void pool__of_dispatches_that_are_not_counted__has_its_entries_again(void **state)
{
	hsa_queue_t *queue = queue_of(0);

	set_callbacks();
	asked.pool = open_pool(2, 0);
	for (int i = 0; i < 5; i++)
		run(queue);
	OK(rocprofiler_pool_flush(asked.pool));
	assert_int_equal(atomic_load(&entries_told), 0);
	OK(rocprofiler_pool_close(asked.pool));
	OK(rocprofiler_remove_queue_callbacks());
	HSA_OK(hsa_queue_destroy(queue));
}

/* As in the original, which waits for nothing there. */
static void pool__with_an_entry_that_is_not_used__is_flushed(void **state)
{
	rocprofiler_pool_t *pool = open_pool(2, 1);
	rocprofiler_pool_entry_t entry;

	OK(rocprofiler_pool_fetch(pool, &entry));
	OK(rocprofiler_pool_flush(pool));
	OK(rocprofiler_pool_close(pool));
}

static void pool__whose_dispatches_queue_is_destroyed__counts_on(void **state)
{
	hsa_queue_t *queue = queue_of(0), *other = queue_of(0);
	hsa_signal_t gate = fixture_signal(1);
	const hsa_barrier_and_packet_t barrier = fixture_barrier_and(gate, (hsa_signal_t){0});
	rocprofiler_pool_entry_t entry;

	set_callbacks();
	asked.pool = open_pool(1, 1);
	fixture_submit(queue, &barrier);
	launch(queue, (hsa_signal_t){0});
	entry.context = asked.context;
	assert_fails(rocprofiler_pool_release(&entry), "under way");
	HSA_OK(hsa_queue_destroy(queue));
	for (int i = 0; i < 3; i++) {
		run(other);
		OK(rocprofiler_pool_flush(asked.pool));
		assert_int_equal(feature.data.result_int64, 1);
	}
	assert_int_equal(atomic_load(&entries_told), 4);
	OK(rocprofiler_pool_close(asked.pool));
	OK(rocprofiler_remove_queue_callbacks());
	HSA_OK(hsa_queue_destroy(other));
	HSA_OK(hsa_signal_destroy(gate));
}

/* Kernels that end after RTL_COUNTERS_TIMEOUT; what they were counted with is closed by then. */
static void handlers__of_what_is_closed__are_not_called(void **state)
{
	hsa_queue_t *queues[] = {queue_of(0), queue_of(0)};
	hsa_signal_t done[] = {fixture_signal(1), fixture_signal(1)};
	rocprofiler_pool_t *pool = open_pool(2, 1);
	rocprofiler_t *context;

	set_callbacks();
	launch(queues[0], done[0]);
	context = asked.context;
	asked.pool = pool;
	launch(queues[1], done[1]);
	OK(rocprofiler_close(context));
	OK(rocprofiler_pool_close(pool));
	for (int i = 0; i < 2; i++) {
		assert_true(hsa_signal_load_scacquire(done[i]));
		assert_true(fixture_wait(done[i], WAIT_S));
		HSA_OK(hsa_queue_destroy(queues[i]));
		HSA_OK(hsa_signal_destroy(done[i]));
	}
	OK(rocprofiler_remove_queue_callbacks());
	fixture_close(); /* waits for handlers */
	runtime_ended = true;
	assert_int_equal(atomic_load(&told), 0);
	assert_int_equal(atomic_load(&entries_told), 0);
}

/* Kernels hang on two GPUs, on the second one a little later: neither is waited for. */
static void kernels__that_hang_on_two_gpus__let_all_go(void **state)
{
	static rocprofiler_feature_t features[2] = {{.name = "SQ_WAVES"}, {.name = "SQ_WAVES"}};
	rocprofiler_t *contexts[2];

	assert_int_equal(fixture.gpu_count, 2);
	set_callbacks();
	for (uint32_t i = 0; i < 2; i++) {
		asked.features = &features[i];
		launch(queue_of(i), (hsa_signal_t){0});
		contexts[i] = asked.context;
		usleep(300000);
	}
	for (int i = 0; i < 2; i++) {
		assert_fails(rocprofiler_get_data(contexts[i], 0), "has not ended in time");
		OK(rocprofiler_close(contexts[i]));
	}
	OK(rocprofiler_remove_queue_callbacks());
}

/* ---- times alone ---- */

#define LATE_S 10 /* less than what waits for room in a ring does */

static atomic_bool submitted, was_late;

static void *open_gate_late(void *arg)
{
	const time_t until = time(NULL) + LATE_S;

	while (time(NULL) < until && !atomic_load(&submitted))
		usleep(1000);
	atomic_store(&was_late, !atomic_load(&submitted));
	hsa_signal_store_screlease(*(hsa_signal_t *)arg, 0);
	return NULL;
}

/* The program opens the gate behind what it submits: more than the ring holds has ended before. */
static void times__of_more_than_a_ring__do_not_wait(void **state)
{
	hsa_queue_t *queue = queue_of(0);
	hsa_signal_t gate = fixture_signal(1), done = fixture_signal(2);
	const hsa_barrier_and_packet_t barrier = fixture_barrier_and(gate, (hsa_signal_t){0});
	pthread_t opener;

	set_callbacks();
	asked = (struct asked){0};
	for (uint32_t i = 0; i < 2 * queue->size; i++)
		run(queue);
	fixture_submit(queue, &barrier);
	assert_int_equal(pthread_create(&opener, NULL, open_gate_late, &gate), 0);
	launch(queue, done);
	launch(queue, done);
	atomic_store(&submitted, true);
	pthread_join(opener, NULL);
	assert_false(atomic_load(&was_late));
	assert_true(fixture_wait(done, WAIT_S));
	HSA_OK(hsa_queue_destroy(queue));
	OK(rocprofiler_remove_queue_callbacks());
}

#define TEST(test)                                                                                 \
	{                                                                                          \
#		test, test, NULL, NULL, NULL                                                      \
	}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		TEST(contexts__after_the_runtimes_end__are_closed),
		TEST(queue__destroyed_before_its_context__is_not_used),
		TEST(start__of_a_queue_that_is_late__is_waited_for),
		TEST(queue__of_a_depth_that_no_queue_has__is_refused),
		TEST(pool__of_dispatches_that_are_not_counted__has_its_entries_again),
		TEST(pool__with_an_entry_that_is_not_used__is_flushed),
		TEST(pool__whose_dispatches_queue_is_destroyed__counts_on),
		TEST(handlers__of_what_is_closed__are_not_called),
		TEST(kernels__that_hang_on_two_gpus__let_all_go),
		TEST(times__of_more_than_a_ring__do_not_wait),
	};
	int failed;

	if (argc != 2)
		return 2;
	alarm(GUARD_S);
	if (!strstr(argv[1], "runtimes_end"))
		fixture_open(&fixture);
	cmocka_set_test_filter(argv[1]);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	if (!runtime_ended)
		fixture_close();
	return failed;
}
