/* SPDX-License-Identifier: MIT */
/*
 * v7 standalone | intercept: a program to the specification, version 7, of the rocprofiler API; compiled as C and as C++.
 * Exit status 0 if all is as it should be.
 */
#include <rocprofiler/rocprofiler_v7.h>
#include <stdio.h>
#include <unistd.h>

#include "../../softgpu/hsa_fixture.h"

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #what,              \
				rocprofiler_error_string());                                       \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)
#define OK(call) CHECK((call) == HSA_STATUS_SUCCESS)

enum { GROUPS = 7, LAUNCHES = 10 };

static struct fixture fixture;

static void run(hsa_queue_t *queue, uint32_t items)
{
	hsa_signal_t done = fixture_signal(1);
	hsa_kernel_dispatch_packet_t packet = fixture_dispatch(items, done);

	fixture_submit(queue, &packet);
	CHECK(fixture_wait(done, 60));
	HSA_OK(hsa_signal_destroy(done));
}

static void set_features(rocprofiler_feature_t *features, rocprofiler_data_t *data)
{
	memset(features, 0, 2 * sizeof(*features));
	memset(data, 0, 2 * sizeof(*data));
	features[0].type = features[1].type = ROCPROFILER_METRIC;
	features[0].name = "SQ_WAVES";
	features[1].name = "Wavefronts";
	features[0].data = &data[0];
	features[1].data = &data[1];
}

static hsa_status_t on_info(const rocprofiler_info_data_t info, void *data)
{
	CHECK(info.kind == ROCPROFILER_INFO_KIND_METRIC && !strcmp(info.metric.block_name, "SQ"));
	++*(uint32_t *)data;
	return HSA_STATUS_SUCCESS;
}

static void query(void)
{
	rocprofiler_info_data_t wanted;
	uint32_t of_block = 0, of_name = 0, none = 0;

	memset(&wanted, 0, sizeof(wanted));
	wanted.metric.block_name = "SQ";
	OK(rocprofiler_query_info(&fixture.gpus[0], ROCPROFILER_INFO_KIND_METRIC, wanted, on_info,
				  &of_block));
	wanted.metric.name = "SQ_WAVES";
	OK(rocprofiler_query_info(&fixture.gpus[0], ROCPROFILER_INFO_KIND_METRIC, wanted, on_info,
				  &of_name));
	wanted.metric.name = "TCC_HIT";
	OK(rocprofiler_query_info(&fixture.gpus[0], ROCPROFILER_INFO_KIND_METRIC, wanted, on_info,
				  &none));
	CHECK(of_block > 10 && of_name == 1 && none == 0);
}

/* What SQ's eight registers cannot count at once: a group for each run that it takes. */
static void groups(void)
{
	static const char *const names[] = {"SQ:1", "SQ:2", "SQ:3", "SQ:4",       "SQ:5", "SQ:6",
					    "SQ:7", "SQ:8", "SQ:9", "Wavefronts", "SQ:26"};
	enum { COUNT = sizeof(names) / sizeof(*names) };
	rocprofiler_feature_t features[COUNT];
	rocprofiler_data_t data[COUNT];
	rocprofiler_properties_t properties;
	rocprofiler_group_t group;
	rocprofiler_t *context;
	hsa_queue_t *queue = fixture_queue(&fixture, 64, NULL, NULL);
	uint32_t count = 0, named = 0;

	memset(features, 0, sizeof(features));
	memset(data, 0, sizeof(data));
	memset(&properties, 0, sizeof(properties));
	for (int i = 0; i < COUNT; i++) {
		features[i].name = names[i];
		features[i].data = &data[i];
	}
	CHECK(rocprofiler_open(fixture.gpus[0], features, COUNT, &context,
			       ROCPROFILER_MODE_STANDALONE | ROCPROFILER_MODE_CREATEQUEUE |
				       ROCPROFILER_MODE_SINGLEGROUP,
			       &properties) != HSA_STATUS_SUCCESS);
	OK(rocprofiler_open(fixture.gpus[0], features, COUNT, &context,
			    ROCPROFILER_MODE_STANDALONE | ROCPROFILER_MODE_CREATEQUEUE,
			    &properties));
	OK(rocprofiler_group_count(context, &count));
	CHECK(count == 2);
	CHECK(rocprofiler_get_group(context, count, &group) != HSA_STATUS_SUCCESS);
	for (uint32_t i = 0; i < count; i++) {
		OK(rocprofiler_get_group(context, i, &group));
		CHECK(group.index == i && group.features[0] == &features[named]);
		named += group.feature_count;
		OK(rocprofiler_group_start(&group));
		run(queue, (i + 1) * 64);
		OK(rocprofiler_group_stop(&group));
		OK(rocprofiler_group_get_data(&group));
	}
	CHECK(named == COUNT);
	OK(rocprofiler_get_metrics(context));
	CHECK(data[3].result_int64 == 1);    /* waves of the first run */
	CHECK(data[9].result_double == 2.0); /* and of the second */
	OK(rocprofiler_close(context));
	HSA_OK(hsa_queue_destroy(properties.queue));
	HSA_OK(hsa_queue_destroy(queue));
}

/* As a library of tools defines it; here it is called as the profiler would. */
#ifdef __cplusplus
extern "C"
#endif
	__attribute__((visibility("default"))) void
	OnLoadToolProp(rocprofiler_settings_t *settings)
{
	CHECK(settings->intercept_mode == 1 && settings->timeout == 7 &&
	      settings->timestamp_on == 3);
	settings->timeout = 8;
	settings->timestamp_on = 0;
}

static void settings(void)
{
	rocprofiler_v8_settings_t whole;

	memset(&whole, 0, sizeof(whole));
	whole.intercept_mode = 1;
	whole.trace_size = 5;
	whole.timeout = 7;
	whole.timestamp_on = 3;
	(OnLoadToolProp)(&whole);
	CHECK(whole.timeout == 8 && !whole.timestamp_on && whole.trace_size == 5);
}

static void standalone(void)
{
	rocprofiler_properties_t properties;
	rocprofiler_feature_t features[2];
	rocprofiler_data_t data[2];
	rocprofiler_group_t group;
	rocprofiler_t *context;
	hsa_queue_t *queue = fixture_queue(&fixture, 64, NULL, NULL);
	uint32_t count = 0, all = 0;
	uint64_t now, value = 0;

	CHECK(rocprofiler_major_version() == 7 && rocprofiler_version_major() == 8);
	OK(rocprofiler_get_info(&fixture.gpus[0], ROCPROFILER_INFO_KIND_METRIC_COUNT, &count));
	OK(rocprofiler_get_info(NULL, ROCPROFILER_INFO_KIND_METRIC_COUNT, &all));
	CHECK(count && all == count * fixture.gpu_count);
	HSA_OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &now));
	OK(rocprofiler_get_time(ROCPROFILER_TIME_ID_CLOCK_MONOTONIC, now, &value));
	CHECK(value);
	query();
	settings();
	groups();
	data[0].result_bytes.instances = 4;
	CHECK(data[0].result_bytes.instance_count == 4);
	set_features(features, data);
	memset(&properties, 0, sizeof(properties));
	properties.queue_depth = 64;
	OK(rocprofiler_open(fixture.gpus[0], features, 2, &context,
			    ROCPROFILER_MODE_STANDALONE | ROCPROFILER_MODE_CREATEQUEUE |
				    ROCPROFILER_MODE_SINGLEGROUP,
			    &properties));
	OK(rocprofiler_group_count(context, &count));
	CHECK(count == 1 && properties.queue);
	OK(rocprofiler_get_group(context, 0, &group));
	CHECK(group.context == context && group.features[1] == &features[1]);
#ifdef __cplusplus
	OK(rocprofiler_start(context));
#else
	OK(rocprofiler_start(context, 0));
#endif
	run(queue, GROUPS * 64);
	OK(rocprofiler_group_read(&group));
	OK(rocprofiler_group_get_data(&group));
	CHECK(data[0].kind == ROCPROFILER_DATA_KIND_INT64 && data[0].result_int64 == GROUPS);
	run(queue, GROUPS * 64);
	OK(rocprofiler_stop(context, 0));
	OK(rocprofiler_get_data(context, 0));
	OK(rocprofiler_get_metrics(context));
	CHECK(data[0].result_int64 == 2 * GROUPS && data[1].result_double == 2 * GROUPS);
	OK(rocprofiler_close(context));
	HSA_OK(hsa_queue_destroy(properties.queue));
	features[0].name = "NOPE";
	CHECK(rocprofiler_open(fixture.gpus[0], features, 2, &context, 0, NULL) !=
	      HSA_STATUS_SUCCESS);
	CHECK(strstr(rocprofiler_error_string(), "NOPE"));
	HSA_OK(hsa_queue_destroy(queue));
}

/* ---- each dispatch with a context of its own, as the specification's example has it ---- */

static rocprofiler_feature_t features_of[LAUNCHES][2];
static rocprofiler_data_t data_of[LAUNCHES][2];
static int seen;
static volatile int handled;

static void on_context(rocprofiler_group_t *group, void *arg)
{
	OK(rocprofiler_group_get_data(group));
	OK(rocprofiler_get_metrics(group->context));
	CHECK(arg == &handled);
	OK(rocprofiler_close(group->context));
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELEASE);
}

static hsa_status_t on_dispatch(const rocprofiler_callback_data_t *data, void *user,
				rocprofiler_group_t *group)
{
	rocprofiler_properties_t properties;
	rocprofiler_t *context;
	int at = seen++;

	CHECK(user == &seen && data->packet->grid_size_x == (uint32_t)(at + 1) * 64);
	memset(&properties, 0, sizeof(properties));
	properties.callback = on_context;
	properties.callback_arg = (void *)&handled;
	set_features(features_of[at], data_of[at]);
	OK(rocprofiler_open(data->agent, features_of[at], 2, &context, ROCPROFILER_MODE_SINGLEGROUP,
			    &properties));
	return rocprofiler_get_group(context, 0, group);
}

static rocprofiler_pool_t *pool;
static rocprofiler_feature_t pool_features[2];
static rocprofiler_data_t pool_data[2];

static bool on_entry(const rocprofiler_pool_entry_t *entry, void *arg)
{
	int at = *(const int *)entry->payload;

	CHECK(arg == &pool);
	OK(rocprofiler_get_data(entry->context, 0));
	OK(rocprofiler_get_metrics(entry->context));
	CHECK(pool_data[0].result_int64 == (uint64_t)at + 1);
	CHECK(pool_data[1].result_double == at + 1);
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELEASE);
	return true;
}

static hsa_status_t on_pool_dispatch(const rocprofiler_callback_data_t *data, void *user,
				     rocprofiler_group_t *group)
{
	rocprofiler_pool_entry_t entry;

	OK(rocprofiler_pool_fetch(pool, &entry));
	*(int *)entry.payload = (int)(data->packet->grid_size_x / 64) - 1;
	return rocprofiler_get_group(entry.context, 0, group);
}

static void intercept(void)
{
	rocprofiler_pool_properties_t properties;
	rocprofiler_pool_entry_t entry;
	hsa_queue_t *queue = fixture_queue(&fixture, 256, NULL, NULL);

	OK(rocprofiler_add_dispatch_callback(on_dispatch, &seen));
	for (uint32_t i = 0; i < LAUNCHES; i++)
		run(queue, (i + 1) * 64);
	for (int i = 0; i < 60000 && __atomic_load_n(&handled, __ATOMIC_ACQUIRE) < LAUNCHES; i++)
		usleep(1000);
	CHECK(handled == LAUNCHES);
	for (uint32_t i = 0; i < LAUNCHES; i++)
		CHECK(data_of[i][0].result_int64 == i + 1 && data_of[i][1].result_double == i + 1);
	OK(rocprofiler_remove_dispatch_callback());

	set_features(pool_features, pool_data);
	memset(&properties, 0, sizeof(properties));
	properties.num_entries = 3;
	properties.payload_bytes = sizeof(int);
	properties.handler = on_entry;
	properties.handler_arg = &pool;
	OK(rocprofiler_pool_open(fixture.gpus[0], pool_features, 2, &pool,
				 ROCPROFILER_MODE_SINGLEGROUP, &properties));
	OK(rocprofiler_pool_fetch(pool, &entry));
	OK(rocprofiler_pool_release(&entry));
	OK(rocprofiler_add_dispatch_callback(on_pool_dispatch, NULL));
	for (uint32_t i = 0; i < LAUNCHES; i++)
		run(queue, (i + 1) * 64);
	OK(rocprofiler_pool_flush(pool));
	CHECK(handled == 2 * LAUNCHES);
	OK(rocprofiler_pool_fetch(pool, &entry)); /* never used */
	OK(rocprofiler_pool_close(pool));
	OK(rocprofiler_remove_intercepting());
	HSA_OK(hsa_queue_destroy(queue));
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	fixture_open(&fixture);
	if (!strcmp(argv[1], "standalone"))
		standalone();
	else
		intercept();
	fixture_close();
	return 0;
}
