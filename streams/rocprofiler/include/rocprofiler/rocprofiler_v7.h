/* SPDX-License-Identifier: MIT */
/* The rocprofiler API as its specification (version 7) has it, on the library of version 8, whose structs
 * are others. A program that was written to the specification includes this header in place of
 * rocprofiler.h, and is linked to the same library.
 *
 * Types and functions here are rocprofiler_v7_*; macros at the end give them the specification's names.
 * Where the specification's text and its examples differ, the examples count: a dispatch callback fills in
 * the group that it is given, and properties may be NULL. Where a library of tools defines OnLoadToolProp, that
 * becomes a function which gets the specification's settings (a macro at the end; ROCPROFILER_V7_ON_LOAD does the
 * same by another name, for one that also declares OnLoadToolProp).
 *
 * Threads and errors: as rocprofiler.h. */
#ifndef RTL_ROCPROFILER_V7_H
#define RTL_ROCPROFILER_V7_H

#include <stdlib.h>
#include <string.h>

#include "rocprofiler.h"

#ifdef __cplusplus
extern "C" {
#	define ROCPROFILER_V7_DEFAULT(value) = value
#else
#	define ROCPROFILER_V7_DEFAULT(value)
#endif

typedef struct {
	uint32_t intercept_mode;
	uint64_t timeout;
	uint32_t timestamp_on;
} rocprofiler_v7_settings_t;

typedef rocprofiler_parameter_t rocprofiler_feature_parameter_t;

typedef struct {
	union {
		rocprofiler_feature_kind_t type;
		rocprofiler_feature_kind_t kind; /**< as in version 8 */
	};
	const char *name;
	const rocprofiler_feature_parameter_t *parameters;
	uint32_t parameter_count;
	rocprofiler_data_t *data; /**< the caller's; NULL: the value is not wanted */
} rocprofiler_v7_feature_t;

struct rocprofiler_v7_context;
typedef struct rocprofiler_v7_context rocprofiler_v7_t;

typedef struct {
	uint32_t index;
	rocprofiler_v7_feature_t **features;
	uint32_t feature_count;
	rocprofiler_v7_t *context;
} rocprofiler_v7_group_t;

typedef void (*rocprofiler_context_callback_t)(rocprofiler_v7_group_t *group, void *arg);

typedef struct {
	rocprofiler_context_callback_t callback;
	void *callback_arg;
	hsa_queue_t *queue;
	uint32_t queue_depth;
} rocprofiler_v7_properties_t;

/** What is counted in one run: a context of the library's, and which of the features are its. */
struct rocprofiler_v7_run {
	rocprofiler_t *context;
	uint32_t first, count;
	bool has_data;
};

/** Runs, and the caller's features that their values go to. */
struct rocprofiler_v7_context {
	struct rocprofiler_v7_run *runs; /**< one or more */
	uint32_t run_count;
	rocprofiler_feature_t *features;
	rocprofiler_v7_feature_t **wanted;
	uint32_t feature_count;
	rocprofiler_context_callback_t callback;
	void *callback_arg;
};

static inline const char *rocprofiler_v7_error_string(void)
{
	const char *text = "";

	(void)rocprofiler_error_string(&text);
	return text;
}

static inline uint32_t rocprofiler_major_version(void)
{
	return 7;
}

static inline uint32_t rocprofiler_minor_version(void)
{
	return 0;
}

/* ---- contexts ---- */

/* A context without runs; it and its arrays are one block, to be freed. */
static inline rocprofiler_v7_t *rocprofiler_v7_make(rocprofiler_v7_feature_t *features,
						    uint32_t count)
{
	rocprofiler_v7_t *made = (rocprofiler_v7_t *)calloc(
		1, sizeof(*made) + count * sizeof(*made->features) + count * sizeof(*made->wanted) +
			   (count + 1u) * sizeof(*made->runs));

	if (!made)
		return NULL;
	made->feature_count = count;
	made->features = (rocprofiler_feature_t *)(made + 1);
	made->runs = (struct rocprofiler_v7_run *)(made->features + count);
	made->wanted = (rocprofiler_v7_feature_t **)(made->runs + count + 1);
	for (uint32_t i = 0; i < count; i++) {
		made->wanted[i] = &features[i];
		made->features[i].kind = features[i].kind;
		made->features[i].name = features[i].name;
		made->features[i].parameters = features[i].parameters;
		made->features[i].parameter_count = features[i].parameter_count;
	}
	return made;
}

static inline rocprofiler_v7_group_t rocprofiler_v7_group(rocprofiler_v7_t *context, uint32_t index)
{
	rocprofiler_v7_group_t group = {index, context->wanted + context->runs[index].first,
					context->runs[index].count, context};

	return group;
}

static inline bool rocprofiler_v7_on_group(rocprofiler_group_t group, void *arg)
{
	rocprofiler_v7_t *context = (rocprofiler_v7_t *)arg;
	rocprofiler_v7_group_t told;
	uint32_t index = 0;

	while (index + 1 < context->run_count && context->runs[index].context != group.context)
		index++;
	told = rocprofiler_v7_group(context, index);
	if (context->callback)
		context->callback(&told, context->callback_arg);
	return true;
}

static inline hsa_status_t rocprofiler_v7_close(rocprofiler_v7_t *context)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	for (uint32_t i = 0; context && i < context->run_count; i++) {
		hsa_status_t closed = rocprofiler_close(context->runs[i].context);
		status = status == HSA_STATUS_SUCCESS ? closed : status;
	}
	free(context);
	return status;
}

/* One more run, of as many of the features from `first` on as fit. */
static inline hsa_status_t rocprofiler_v7_add_run(rocprofiler_v7_t *context, hsa_agent_t agent,
						  uint32_t first, uint32_t mode, bool single,
						  rocprofiler_properties_t *with)
{
	struct rocprofiler_v7_run *run = &context->runs[context->run_count];
	hsa_status_t status;

	run->first = first;
	run->count = context->feature_count - first;
	for (;;) {
		status = rocprofiler_open(agent, context->features + first, run->count,
					  &run->context, mode, with);
		if (status == HSA_STATUS_SUCCESS || single || run->count < 2 ||
		    !strstr(rocprofiler_v7_error_string(), "exceeds HW limits"))
			break;
		run->count--;
	}
	context->run_count += status == HSA_STATUS_SUCCESS;
	return status;
}

static inline hsa_status_t rocprofiler_v7_open(hsa_agent_t agent,
					       rocprofiler_v7_feature_t *features, uint32_t count,
					       rocprofiler_v7_t **context, uint32_t mode,
					       rocprofiler_v7_properties_t *properties)
{
	const bool single = mode & ROCPROFILER_MODE_SINGLEGROUP;
	rocprofiler_v7_t *made = rocprofiler_v7_make(features, count);
	rocprofiler_properties_t with;
	hsa_status_t status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	uint32_t next = 0;

	if (!made)
		return status;
	memset(&with, 0, sizeof(with));
	with.handler = rocprofiler_v7_on_group;
	with.handler_arg = made;
	if (properties) {
		made->callback = properties->callback;
		made->callback_arg = properties->callback_arg;
		with.queue = properties->queue;
		with.queue_depth = properties->queue_depth;
	}
	mode &= ~(uint32_t)ROCPROFILER_MODE_SINGLEGROUP; /* each run is one */
	do {
		status = rocprofiler_v7_add_run(made, agent, next, mode, single, &with);
		next += made->runs[made->run_count - (status == HSA_STATUS_SUCCESS)].count;
		mode &= ~(uint32_t)ROCPROFILER_MODE_CREATEQUEUE; /* the first has made it */
	} while (status == HSA_STATUS_SUCCESS && next < count);
	if (status != HSA_STATUS_SUCCESS) {
		(void)rocprofiler_v7_close(made);
		if (properties && with.queue && with.queue != properties->queue)
			(void)hsa_queue_destroy(with.queue);
		return status;
	}
	if (properties)
		properties->queue = with.queue;
	*context = made;
	return status;
}

static inline hsa_status_t rocprofiler_v7_group_count(rocprofiler_v7_t *context, uint32_t *count)
{
	*count = context->run_count;
	return HSA_STATUS_SUCCESS;
}

/* A group's context, in which it is group 0. One that is not there is none of the first one's, either. */
static inline rocprofiler_t *rocprofiler_v7_run_of(const rocprofiler_v7_t *context, uint32_t *group)
{
	const uint32_t index = *group < context->run_count ? *group : 0;

	*group -= index;
	return context->runs[index].context;
}

static inline hsa_status_t rocprofiler_v7_get_group(rocprofiler_v7_t *context, uint32_t index,
						    rocprofiler_v7_group_t *group)
{
	rocprofiler_group_t found;
	uint32_t of_run = index;
	rocprofiler_t *run = rocprofiler_v7_run_of(context, &of_run);
	hsa_status_t status = rocprofiler_get_group(run, of_run, &found);

	if (status == HSA_STATUS_SUCCESS)
		*group = rocprofiler_v7_group(context, index);
	return status;
}

static inline void rocprofiler_v7_take_data(const rocprofiler_v7_t *context,
					    const struct rocprofiler_v7_run *run)
{
	for (uint32_t i = run->first; i < run->first + run->count; i++) {
		if (context->wanted[i]->data)
			*context->wanted[i]->data = context->features[i].data;
	}
}

/** Of all groups whose data has been got. */
static inline hsa_status_t rocprofiler_v7_get_metrics(rocprofiler_v7_t *context)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	for (uint32_t i = 0; i < context->run_count && status == HSA_STATUS_SUCCESS; i++) {
		if (!context->runs[i].has_data && context->run_count > 1)
			continue;
		status = rocprofiler_get_metrics(context->runs[i].context);
		rocprofiler_v7_take_data(context, &context->runs[i]);
	}
	return status;
}

static inline hsa_status_t
rocprofiler_v7_iterate_trace_data(const rocprofiler_v7_t *context,
				  rocprofiler_trace_data_callback_t callback, void *data)
{
	return rocprofiler_iterate_trace_data(context->runs[0].context, callback, data);
}

/* ---- sampling ---- */

#define ROCPROFILER_V7_SUBMIT(name)                                                                \
	static inline hsa_status_t rocprofiler_v7_##name(rocprofiler_v7_t *context,                \
							 uint32_t group ROCPROFILER_V7_DEFAULT(0)) \
	{                                                                                          \
		rocprofiler_t *run = rocprofiler_v7_run_of(context, &group);                       \
                                                                                                   \
		return rocprofiler_##name(run, group);                                             \
	}
ROCPROFILER_V7_SUBMIT(start)
ROCPROFILER_V7_SUBMIT(stop)
ROCPROFILER_V7_SUBMIT(read)

static inline hsa_status_t rocprofiler_v7_get_data(rocprofiler_v7_t *context,
						   uint32_t group ROCPROFILER_V7_DEFAULT(0))
{
	struct rocprofiler_v7_run *run = &context->runs[group < context->run_count ? group : 0];
	rocprofiler_t *of = rocprofiler_v7_run_of(context, &group);
	hsa_status_t status = rocprofiler_get_data(of, group);

	if (status == HSA_STATUS_SUCCESS) {
		run->has_data = true;
		rocprofiler_v7_take_data(context, run);
	}
	return status;
}

#define ROCPROFILER_V7_OF_GROUP(name)                                                              \
	static inline hsa_status_t rocprofiler_v7_group_##name(rocprofiler_v7_group_t *group)      \
	{                                                                                          \
		return rocprofiler_v7_##name(group->context, group->index);                        \
	}
ROCPROFILER_V7_OF_GROUP(start)
ROCPROFILER_V7_OF_GROUP(stop)
ROCPROFILER_V7_OF_GROUP(read)
ROCPROFILER_V7_OF_GROUP(get_data)

/* ---- time ---- */

typedef enum {
	ROCPROFILER_V7_TIME_ID_CLOCK_REALTIME = 0,
	ROCPROFILER_V7_TIME_ID_CLOCK_MONOTONIC = 1
} rocprofiler_v7_time_id_t;

static inline hsa_status_t rocprofiler_v7_get_time(rocprofiler_v7_time_id_t id, uint64_t timestamp,
						   uint64_t *value_ns)
{
	return rocprofiler_get_time(id == ROCPROFILER_V7_TIME_ID_CLOCK_MONOTONIC
					    ? ROCPROFILER_TIME_ID_CLOCK_MONOTONIC
					    : ROCPROFILER_TIME_ID_CLOCK_REALTIME,
				    timestamp, value_ns, NULL);
}

/* ---- dispatches ---- */

typedef struct {
	hsa_agent_t agent;
	uint32_t agent_index;
	const hsa_queue_t *queue;
	uint64_t queue_index;
	const hsa_kernel_dispatch_packet_t *packet;
	const char *kernel_name;
	const rocprofiler_dispatch_record_t *record;
} rocprofiler_v7_callback_data_t;

typedef hsa_status_t (*rocprofiler_v7_callback_t)(
	const rocprofiler_v7_callback_data_t *callback_data, void *user_data,
	rocprofiler_v7_group_t *group);

typedef struct {
	rocprofiler_v7_callback_t dispatch;
	hsa_status_t (*destroy)(hsa_queue_t *queue, void *data);
} rocprofiler_v7_queue_callbacks_t;

/* What was set last: the library passes it on. One for each file that includes this. */
static struct rocprofiler_v7_set {
	rocprofiler_v7_queue_callbacks_t functions;
	void *data;
} rocprofiler_v7_callbacks;

static inline hsa_status_t rocprofiler_v7_on_dispatch(const rocprofiler_callback_data_t *data,
						      void *user, rocprofiler_group_t *group)
{
	struct rocprofiler_v7_set *callbacks = (struct rocprofiler_v7_set *)user;
	rocprofiler_v7_callback_data_t told = {
		data->agent,  data->agent_index, data->queue, data->queue_index,
		data->packet, data->kernel_name, data->record};
	rocprofiler_v7_group_t asked = {0, NULL, 0, NULL};
	hsa_status_t status;

	status = callbacks->functions.dispatch(&told, callbacks->data, &asked);
	if (status == HSA_STATUS_SUCCESS && asked.context)
		status = rocprofiler_get_group(rocprofiler_v7_run_of(asked.context, &asked.index),
					       asked.index, group);
	return status;
}

static inline hsa_status_t rocprofiler_v7_on_destroy(hsa_queue_t *queue, void *user)
{
	struct rocprofiler_v7_set *callbacks = (struct rocprofiler_v7_set *)user;

	return callbacks->functions.destroy ? callbacks->functions.destroy(queue, callbacks->data)
					    : HSA_STATUS_SUCCESS;
}

static inline hsa_status_t
rocprofiler_v7_set_queue_callbacks(rocprofiler_v7_queue_callbacks_t functions, void *data)
{
	rocprofiler_queue_callbacks_t callbacks = {functions.dispatch ? rocprofiler_v7_on_dispatch
								      : NULL,
						   NULL, rocprofiler_v7_on_destroy};

	rocprofiler_v7_callbacks.functions = functions;
	rocprofiler_v7_callbacks.data = data;
	return rocprofiler_set_queue_callbacks(callbacks, &rocprofiler_v7_callbacks);
}

static inline hsa_status_t rocprofiler_add_dispatch_callback(rocprofiler_v7_callback_t dispatch,
							     void *data)
{
	rocprofiler_v7_queue_callbacks_t functions = {dispatch, NULL};

	return rocprofiler_v7_set_queue_callbacks(functions, data);
}

/* ---- what there is ---- */

struct rocprofiler_v7_query {
	rocprofiler_info_data_t wanted;
	hsa_status_t (*callback)(const rocprofiler_info_data_t info, void *data);
	void *data;
};

static inline bool rocprofiler_v7_is_wanted(const char *wanted, const char *text)
{
	return !wanted || (text && !strcmp(wanted, text));
}

static inline hsa_status_t rocprofiler_v7_on_info(const rocprofiler_info_data_t info, void *user)
{
	const struct rocprofiler_v7_query *query = (const struct rocprofiler_v7_query *)user;
	const rocprofiler_info_data_t *wanted = &query->wanted;

	if (!rocprofiler_v7_is_wanted(wanted->metric.name, info.metric.name) ||
	    !rocprofiler_v7_is_wanted(wanted->metric.expr, info.metric.expr) ||
	    !rocprofiler_v7_is_wanted(wanted->metric.description, info.metric.description) ||
	    !rocprofiler_v7_is_wanted(wanted->metric.block_name, info.metric.block_name))
		return HSA_STATUS_SUCCESS;
	return query->callback(info, query->data);
}

/** Metrics whose texts are those of the query; a text that is NULL matches all. */
static inline hsa_status_t rocprofiler_v7_query_info(
	const hsa_agent_t *agent, rocprofiler_info_kind_t kind, rocprofiler_info_data_t wanted,
	hsa_status_t (*callback)(const rocprofiler_info_data_t info, void *data), void *data)
{
	struct rocprofiler_v7_query query = {wanted, callback, data};

	return rocprofiler_iterate_info(agent, kind, rocprofiler_v7_on_info, &query);
}

/* ---- pools ---- */

typedef struct {
	rocprofiler_v7_t *context;
	void *payload;
} rocprofiler_v7_pool_entry_t;

typedef bool (*rocprofiler_v7_pool_handler_t)(const rocprofiler_v7_pool_entry_t *entry, void *arg);

typedef struct {
	uint32_t num_entries;
	uint32_t payload_bytes;
	rocprofiler_v7_pool_handler_t handler;
	void *handler_arg;
} rocprofiler_v7_pool_properties_t;

/** All entries' contexts share the features of one that has no runs. An entry's payload begins with its own. */
typedef struct {
	rocprofiler_pool_t *pool;
	rocprofiler_v7_t *shared;
	rocprofiler_v7_pool_handler_t handler;
	void *handler_arg;
} rocprofiler_v7_pool_t;

struct rocprofiler_v7_own {
	rocprofiler_v7_t context;
	struct rocprofiler_v7_run run;
};

/* Keeps the caller's payload aligned. */
#define ROCPROFILER_V7_ALIGNED(bytes) (((uint32_t)(bytes) + 15u) & ~15u)
#define ROCPROFILER_V7_PAYLOAD_AT     ROCPROFILER_V7_ALIGNED(sizeof(struct rocprofiler_v7_own))

static inline rocprofiler_v7_pool_entry_t
rocprofiler_v7_entry(const rocprofiler_pool_entry_t *entry)
{
	rocprofiler_v7_pool_entry_t made = {&((struct rocprofiler_v7_own *)entry->payload)->context,
					    (char *)entry->payload + ROCPROFILER_V7_PAYLOAD_AT};

	return made;
}

static inline bool rocprofiler_v7_on_entry(const rocprofiler_pool_entry_t *entry, void *arg)
{
	const rocprofiler_v7_pool_t *pool = (const rocprofiler_v7_pool_t *)arg;
	rocprofiler_v7_pool_entry_t told = rocprofiler_v7_entry(entry);

	return pool->handler ? pool->handler(&told, pool->handler_arg) : true;
}

static inline hsa_status_t rocprofiler_v7_pool_open(hsa_agent_t agent,
						    rocprofiler_v7_feature_t *features,
						    uint32_t count, rocprofiler_v7_pool_t **pool,
						    uint32_t mode,
						    rocprofiler_v7_pool_properties_t *properties)
{
	rocprofiler_v7_pool_t *made = (rocprofiler_v7_pool_t *)calloc(1, sizeof(*made));
	rocprofiler_pool_properties_t with = {
		properties->num_entries,
		ROCPROFILER_V7_PAYLOAD_AT + ROCPROFILER_V7_ALIGNED(properties->payload_bytes),
		rocprofiler_v7_on_entry, made};
	hsa_status_t status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;

	if (made)
		made->shared = rocprofiler_v7_make(features, count);
	if (!made || !made->shared) {
		free(made);
		return status;
	}
	made->handler = properties->handler;
	made->handler_arg = properties->handler_arg;
	mode &= ~(uint32_t)ROCPROFILER_MODE_SINGLEGROUP;
	status = rocprofiler_pool_open(agent, made->shared->features, count, &made->pool, mode,
				       &with);
	if (status != HSA_STATUS_SUCCESS) {
		free(made->shared);
		free(made);
		return status;
	}
	*pool = made;
	return status;
}

static inline hsa_status_t rocprofiler_v7_pool_fetch(rocprofiler_v7_pool_t *pool,
						     rocprofiler_v7_pool_entry_t *entry)
{
	rocprofiler_pool_entry_t fetched;
	struct rocprofiler_v7_own *own;
	hsa_status_t status = rocprofiler_pool_fetch(pool->pool, &fetched);

	if (status != HSA_STATUS_SUCCESS)
		return status;
	own = (struct rocprofiler_v7_own *)fetched.payload;
	memset(own, 0, sizeof(*own));
	own->context = *pool->shared;
	own->context.runs = &own->run;
	own->context.run_count = 1;
	own->run.context = fetched.context;
	own->run.count = pool->shared->feature_count;
	*entry = rocprofiler_v7_entry(&fetched);
	return status;
}

static inline hsa_status_t rocprofiler_v7_pool_release(rocprofiler_v7_pool_entry_t *entry)
{
	rocprofiler_pool_entry_t given = {entry->context->runs[0].context,
					  (char *)entry->payload - ROCPROFILER_V7_PAYLOAD_AT};

	return rocprofiler_pool_release(&given);
}

struct rocprofiler_v7_each {
	hsa_status_t (*callback)(rocprofiler_v7_pool_entry_t *entry, void *data);
	void *data;
};

static inline hsa_status_t rocprofiler_v7_iterate(rocprofiler_pool_entry_t *entry, void *user)
{
	const struct rocprofiler_v7_each *iteration = (const struct rocprofiler_v7_each *)user;
	rocprofiler_v7_pool_entry_t told = rocprofiler_v7_entry(entry);

	return iteration->callback(&told, iteration->data);
}

static inline hsa_status_t rocprofiler_v7_pool_iterate(
	rocprofiler_v7_pool_t *pool,
	hsa_status_t (*callback)(rocprofiler_v7_pool_entry_t *entry, void *data), void *data)
{
	struct rocprofiler_v7_each iteration = {callback, data};

	return rocprofiler_pool_iterate(pool->pool, rocprofiler_v7_iterate, &iteration);
}

static inline hsa_status_t rocprofiler_v7_pool_flush(rocprofiler_v7_pool_t *pool)
{
	return rocprofiler_pool_flush(pool->pool);
}

/** Waits for what is under way; an entry that was fetched and not used need not be released. */
static inline hsa_status_t rocprofiler_v7_pool_close(rocprofiler_v7_pool_t *pool)
{
	hsa_status_t status = rocprofiler_pool_close(pool->pool);

	free(pool->shared);
	free(pool);
	return status;
}

/* ---- libraries of tools ---- */

/** Defines OnLoadToolProp, which calls a function of the specification's type:
 *  ROCPROFILER_V7_ON_LOAD(my_on_load) with void my_on_load(rocprofiler_settings_t *settings). */
#ifdef __cplusplus
#	define ROCPROFILER_V7_EXPORT extern "C" __attribute__((visibility("default")))
#else
#	define ROCPROFILER_V7_EXPORT __attribute__((visibility("default")))
#endif
typedef rocprofiler_settings_t rocprofiler_v8_settings_t;
#define ROCPROFILER_V7_ON_LOAD(function)                                                           \
	ROCPROFILER_V7_EXPORT void(OnLoadToolProp)(rocprofiler_v8_settings_t * settings);          \
	ROCPROFILER_V7_EXPORT void(OnLoadToolProp)(rocprofiler_v8_settings_t * settings)           \
	{                                                                                          \
		rocprofiler_v7_settings_t told = {settings->intercept_mode, settings->timeout,     \
						  settings->timestamp_on};                         \
		function(&told);                                                                   \
		settings->intercept_mode = told.intercept_mode;                                    \
		settings->timeout = told.timeout;                                                  \
		settings->timestamp_on = told.timestamp_on;                                        \
	}

/* Its definition: what stands before it, then declares the function that its body becomes. */
#define OnLoadToolProp(...)                                                                        \
	rocprofiler_v7_on_load_tool(__VA_ARGS__);                                                  \
	ROCPROFILER_V7_ON_LOAD(rocprofiler_v7_on_load_tool)                                        \
	ROCPROFILER_V7_EXPORT void rocprofiler_v7_on_load_tool(__VA_ARGS__)

#ifdef __cplusplus
}
#endif

/* ---- the specification's names */

#define ROCPROFILER_METRIC ROCPROFILER_FEATURE_KIND_METRIC
#define ROCPROFILER_TRACE  ROCPROFILER_FEATURE_KIND_TRACE

#define rocprofiler_settings_t               rocprofiler_v7_settings_t
#define rocprofiler_feature_t                rocprofiler_v7_feature_t
#define rocprofiler_t                        rocprofiler_v7_t
#define rocprofiler_group_t                  rocprofiler_v7_group_t
#define rocprofiler_properties_t             rocprofiler_v7_properties_t
#define rocprofiler_time_id_t                rocprofiler_v7_time_id_t
#define ROCPROFILER_TIME_ID_CLOCK_REALTIME   ROCPROFILER_V7_TIME_ID_CLOCK_REALTIME
#define ROCPROFILER_TIME_ID_CLOCK_MONOTONIC  ROCPROFILER_V7_TIME_ID_CLOCK_MONOTONIC
#define rocprofiler_callback_data_t          rocprofiler_v7_callback_data_t
#define rocprofiler_callback_t               rocprofiler_v7_callback_t
#define rocprofiler_queue_callbacks_t        rocprofiler_v7_queue_callbacks_t
#define rocprofiler_intercepting_t           rocprofiler_v7_queue_callbacks_t
#define rocprofiler_pool_t                   rocprofiler_v7_pool_t
#define rocprofiler_pool_entry_t             rocprofiler_v7_pool_entry_t
#define rocprofiler_pool_handler_t           rocprofiler_v7_pool_handler_t
#define rocprofiler_pool_properties_t        rocprofiler_v7_pool_properties_t
#define rocprofiler_error_string             rocprofiler_v7_error_string
#define rocprofiler_open                     rocprofiler_v7_open
#define rocprofiler_close                    rocprofiler_v7_close
#define rocprofiler_group_count              rocprofiler_v7_group_count
#define rocprofiler_get_group                rocprofiler_v7_get_group
#define rocprofiler_get_metrics              rocprofiler_v7_get_metrics
#define rocprofiler_iterate_trace_data       rocprofiler_v7_iterate_trace_data
#define rocprofiler_start                    rocprofiler_v7_start
#define rocprofiler_stop                     rocprofiler_v7_stop
#define rocprofiler_read                     rocprofiler_v7_read
#define rocprofiler_get_data                 rocprofiler_v7_get_data
#define rocprofiler_group_start              rocprofiler_v7_group_start
#define rocprofiler_group_stop               rocprofiler_v7_group_stop
#define rocprofiler_group_read               rocprofiler_v7_group_read
#define rocprofiler_group_get_data           rocprofiler_v7_group_get_data
#define rocprofiler_get_time                 rocprofiler_v7_get_time
#define rocprofiler_set_queue_callbacks      rocprofiler_v7_set_queue_callbacks
#define rocprofiler_set_intercepting         rocprofiler_v7_set_queue_callbacks
#define rocprofiler_remove_intercepting      rocprofiler_remove_queue_callbacks
#define rocprofiler_remove_dispatch_callback rocprofiler_remove_queue_callbacks
#define rocprofiler_query_info               rocprofiler_v7_query_info
#define rocprofiler_pool_open                rocprofiler_v7_pool_open
#define rocprofiler_pool_close               rocprofiler_v7_pool_close
#define rocprofiler_pool_fetch               rocprofiler_v7_pool_fetch
#define rocprofiler_pool_release             rocprofiler_v7_pool_release
#define rocprofiler_pool_iterate             rocprofiler_v7_pool_iterate
#define rocprofiler_pool_flush               rocprofiler_v7_pool_flush

#endif
