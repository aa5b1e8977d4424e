/* SPDX-License-Identifier: MIT */
#include "context.h"
#include "array.h"

#include <sched.h>
#include <stdlib.h>

#define QUEUE_DEPTH      64u /* packets, at least */
#define QUEUE_DEPTH_MOST (1u << 31)
#define START_MOST_NS    UINT64_C(1000000000)

/* ---- what is to be counted ---- */

static hsa_status_t add_input(struct context *context, const struct metric_input *input)
{
	struct library_event event;
	uint32_t end;
	char why[512];

	if (!library_instances(context->gpu->agent, input, &event, &end, why, sizeof(why)))
		return fail(HSA_STATUS_ERROR, "%s", why);
	if (input->accumulate != METRIC_PLAIN)
		return fail(HSA_STATUS_ERROR,
			    "%s: counters cannot be accumulated by this interface", input->name);
	for (; event.instance < end; event.instance++)
		if (!library_has(&context->events, context->events.count, &event) &&
		    !library_add(&context->events, event))
			return fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "out of memory");
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t add_feature(struct context *context, uint32_t at)
{
	rocprofiler_feature_t *feature = &context->features[at];
	hsa_status_t status = HSA_STATUS_SUCCESS;
	char message[900];

	if (feature->kind == ROCPROFILER_FEATURE_KIND_TRACE)
		return fail(HSA_STATUS_ERROR,
			    "traces (SQTT) are not supported by rtl's rocprofiler");
	if (feature->kind != ROCPROFILER_FEATURE_KIND_METRIC)
		return fail(HSA_STATUS_ERROR, "a feature of kind %d is not supported",
			    (int)feature->kind);
	if (!feature->name)
		return fail(HSA_STATUS_ERROR, "a feature without a name");
	for (uint32_t i = 0; i < at; i++) {
		if (!strcmp(context->features[i].name, feature->name))
			return fail(HSA_STATUS_ERROR, "%s is asked for twice", feature->name);
	}
	context->metrics[at] =
		metric_compile(context->gpu->set, feature->name, message, sizeof(message));
	if (!context->metrics[at])
		return fail(HSA_STATUS_ERROR, "%s", message);
	for (size_t i = 0; i < context->metrics[at]->input_count && !status; i++)
		status = add_input(context, &context->metrics[at]->inputs[i]);
	return status;
}

/* ---- registers ---- */

static bool fits(struct context *context, const struct metric_input *input)
{
	const struct agent_block block = library_block(context->gpu->agent, input->block);
	uint32_t instance = input->instance == METRIC_ALL_INSTANCES ? 0 : input->instance, used = 0;

	for (uint32_t i = 0; i < context->events.count; i++)
		used += context->events.list[i].block == block.number &&
			context->events.list[i].instance == instance;
	return block.registers && used <= block.registers;
}

static hsa_status_t check_registers(struct context *context)
{
	for (uint32_t f = 0; f < context->feature_count; f++) {
		for (size_t i = 0; i < context->metrics[f]->input_count; i++) {
			if (!fits(context, &context->metrics[f]->inputs[i]))
				return fail(HSA_STATUS_ERROR, "Metrics list exceeds HW limits");
		}
	}
	return HSA_STATUS_SUCCESS;
}

/* ---- life ---- */

static hsa_status_t fill(struct context *context)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;
	char why[512];

	if (hsa->signal_create(0, 0, NULL, &context->done) ||
	    hsa->signal_create(1, 0, NULL, &context->ready) ||
	    hsa->signal_create(1, 0, NULL, &context->grant))
		return fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no signal is left");
	if (context->feature_count && vendor_find())
		return HSA_STATUS_ERROR;
	for (uint32_t i = 0; i < context->feature_count && !status; i++) {
		context->pointers[i] = &context->features[i];
		status = add_feature(context, i);
	}
	if (!status)
		status = check_registers(context);
	if (status || !context->events.count)
		return status;
	context->count =
		library_count_make(context->gpu->agent, &context->events, why, sizeof(why));
	return context->count ? HSA_STATUS_SUCCESS : fail(HSA_STATUS_ERROR, "%s", why);
}

hsa_status_t context_create(struct gpu *gpu, rocprofiler_feature_t *features, uint32_t count,
			    struct context **made)
{
	struct context *context;
	hsa_status_t status;

	if (count && !features)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "features are NULL");
	if (count && !gpu_set(gpu))
		return HSA_STATUS_ERROR;
	context = calloc(1, sizeof(*context));
	if (!context)
		return fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "out of memory");
	context->uses = 1;
	context->life = runtime_life();
	context->gpu = gpu;
	context->features = features;
	context->feature_count = count;
	context->pointers = calloc(count + 1, sizeof(*context->pointers));
	context->metrics = calloc(count + 1, sizeof(*context->metrics));
	status = context->pointers && context->metrics
			 ? fill(context)
			 : fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "out of memory");
	if (status)
		context_destroy(context);
	else
		*made = context;
	return status;
}

/* ---- those with a queue of the caller's ---- */

static struct {
	pthread_mutex_t lock; /* of all below */
	struct context *first;
} standalone = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void forget_standalone(const struct context *context)
{
	struct context **at;

	HOLD_LOCK(&standalone.lock);
	for (at = &standalone.first; *at && *at != context; at = &(*at)->next)
		;
	if (*at)
		*at = context->next;
}

void context_queue_is_gone(const hsa_queue_t *queue)
{
	HOLD_LOCK(&standalone.lock);
	for (struct context *at = standalone.first; at; at = at->next) {
		if (at->queue == queue)
			__atomic_store_n(&at->queue_is_gone, true, __ATOMIC_RELEASE);
	}
}

static bool queue_is_gone(const struct context *context)
{
	return __atomic_load_n(&context->queue_is_gone, __ATOMIC_ACQUIRE);
}

/* ---- end ---- */

static void destroy_signal(hsa_signal_t signal)
{
	if (signal.handle)
		(void)hsa->signal_destroy(signal);
}

/* Whether what was submitted last has ended; a line where it does not. */
static bool has_ended(const struct context *context)
{
	if (!context->done.handle ||
	    runtime_wait(context->done, "a context that is closed", service_wait_ns()))
		return true;
	complain("a read of counters has not ended for %llu s (RTL_COUNTERS_TIMEOUT): its context "
		 "is closed without it",
		 (unsigned long long)(service_wait_ns() / 1000000000u));
	return false;
}

/* Until the GPU has counted it, or it is given up; it may have to wait for its turn. */
static void wait_for_dispatch(const struct context *context)
{
	while (__atomic_load_n(&context->busy, __ATOMIC_ACQUIRE) &&
	       !context_is_abandoned(context) && hsa->signal_load(context->done) > 0)
		sched_yield();
}

/* The GPU may still write: what it has, stays where it does not end. */
static bool quiet(struct context *context)
{
	if (!runtime_lasts(context->life) || queue_is_gone(context))
		return true; /* no GPU writes there any more */
	if (context->started) {
		if (!has_ended(context))
			return false;
		(void)rocprofiler_stop(context, 0);
	}
	wait_for_dispatch(context);
	return !context_is_abandoned(context) && has_ended(context);
}

static void free_context(struct context *context)
{
	library_count_destroy(context->count);
	if (runtime_lasts(context->life)) {
		destroy_signal(context->done);
		destroy_signal(context->ready);
		destroy_signal(context->grant);
	}
	for (uint32_t i = 0; context->metrics && i < context->feature_count; i++)
		metric_destroy(context->metrics[i]);
	free(context->metrics);
	free(context->pointers);
	free(context->events.list);
	free(context->samples);
	free(context);
}

void context_unuse(struct context *context)
{
	if (__atomic_fetch_sub(&context->uses, 1, __ATOMIC_ACQ_REL) == 1)
		free_context(context);
}

void context_destroy(struct context *context)
{
	bool is_quiet;

	if (!context)
		return;
	forget_standalone(context);
	is_quiet = quiet(context);
	/* In any case: what its handler is given may be gone from here on. */
	__atomic_store_n(&context->closed, true, __ATOMIC_RELEASE);
	if (is_quiet)
		context_unuse(context);
}

static hsa_status_t take_queue(struct context *context, uint32_t mode,
			       rocprofiler_properties_t *properties)
{
	uint32_t depth = 1;
	hsa_status_t status;

	if (mode & ROCPROFILER_MODE_CREATEQUEUE) {
		while ((depth < properties->queue_depth && depth < QUEUE_DEPTH_MOST) ||
		       depth < QUEUE_DEPTH)
			depth *= 2;
		runtime_own_call = true;
		status = hsa->queue_create(context->gpu->agent, depth, HSA_QUEUE_TYPE_MULTI, NULL,
					   NULL, UINT32_MAX, UINT32_MAX, &context->queue);
		runtime_own_call = false;
		if (status)
			return fail(status, "a queue cannot be created");
		properties->queue = context->queue; /* the caller's: close leaves it */
	}
	context->queue = properties->queue;
	return context->queue
		       ? HSA_STATUS_SUCCESS
		       : fail(HSA_STATUS_ERROR_INVALID_QUEUE, "standalone mode without a queue");
}

hsa_status_t rocprofiler_open(hsa_agent_t agent, rocprofiler_feature_t *features,
			      uint32_t feature_count, rocprofiler_t **handle, uint32_t mode,
			      rocprofiler_properties_t *properties)
{
	struct context *context;
	struct gpu *gpu;
	hsa_status_t status;

	if (!handle || !properties)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "open: NULL");
	if (mode && !(mode & ROCPROFILER_MODE_STANDALONE))
		return fail(HSA_STATUS_ERROR, "invalid mode (%u)", mode);
	gpu = gpu_of(agent);
	if (!gpu)
		return HSA_STATUS_ERROR;
	status = context_create(gpu, features, feature_count, &context);
	if (status)
		return status;
	context->handler = properties->handler;
	context->handler_arg = properties->handler_arg;
	if (mode) {
		status = take_queue(context, mode, properties);
		if (status) {
			context_destroy(context);
			return status;
		}
		HOLD_LOCK(&standalone.lock);
		context->next = standalone.first;
		standalone.first = context;
	}
	*handle = context;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t rocprofiler_close(rocprofiler_t *handle)
{
	context_destroy(handle);
	return HSA_STATUS_SUCCESS;
}

/* ---- standalone ---- */

static hsa_status_t check(const struct context *context, uint32_t group)
{
	if (!context)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "no context");
	if (group)
		return fail(HSA_STATUS_ERROR_INVALID_INDEX, "there is no group %u", group);
	return HSA_STATUS_SUCCESS;
}

/* The same, for what uses memory and signals of the runtime. */
static hsa_status_t check_lasts(const struct context *context, uint32_t group)
{
	hsa_status_t status = check(context, group);

	if (!status && !runtime_lasts(context->life))
		status = fail(HSA_STATUS_ERROR_NOT_INITIALIZED,
			      "the HSA runtime has ended since the context was opened");
	return status;
}

static hsa_status_t check_standalone(const struct context *context, uint32_t group)
{
	hsa_status_t status = check_lasts(context, group);

	if (!status && !context->queue)
		status = fail(HSA_STATUS_ERROR,
			      "the context has no queue: it was not opened standalone");
	if (!status && queue_is_gone(context))
		status = fail(HSA_STATUS_ERROR_INVALID_QUEUE,
			      "the queue of the context has been destroyed");
	if (!status && !context->count)
		status = fail(HSA_STATUS_ERROR, "the context has no features");
	return status;
}

hsa_status_t rocprofiler_start(rocprofiler_t *handle, uint32_t group)
{
	struct context *context = handle;
	struct library_packet packet;
	hsa_status_t status = check_standalone(context, group);

	if (status)
		return status;
	if (context->started)
		return fail(HSA_STATUS_ERROR, "the group has been started");
	packet = context->count->start;
	packet.signal = context->ready.handle;
	hsa->signal_store(context->ready, 1);
	library_submit(context->queue, &packet, 1);
	context->started = true;
	/* A kernel of another queue may come next. Not for ever: the packet may be behind work that waits for us. */
	(void)hsa->signal_wait(context->ready, HSA_SIGNAL_CONDITION_LT, 1,
			       runtime_ticks(START_MOST_NS), HSA_WAIT_STATE_BLOCKED);
	return HSA_STATUS_SUCCESS;
}

/* Reads, and stops if asked: each tells by `done`, which the read before has told by then. */
static hsa_status_t submit_read(struct context *context, bool stops)
{
	struct library_packet packets[2] = {context->count->read, context->count->stop};

	if (!context->started)
		return fail(HSA_STATUS_ERROR, "the group has not been started");
	if (!runtime_wait(context->done, "a read", UINT64_MAX))
		return HSA_STATUS_ERROR;
	hsa->signal_store(context->done, 1);
	packets[stops ? 1 : 0].signal = context->done.handle;
	library_submit(context->queue, packets, stops ? 2 : 1);
	context->has_data = true;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t rocprofiler_read(rocprofiler_t *handle, uint32_t group)
{
	hsa_status_t status = check_standalone(handle, group);

	return status ? status : submit_read(handle, false);
}

hsa_status_t rocprofiler_stop(rocprofiler_t *handle, uint32_t group)
{
	struct context *context = handle;
	hsa_status_t status = check_standalone(context, group);

	if (!status)
		status = submit_read(context, true);
	if (!status)
		context->started = false;
	return status;
}

/* ---- values ---- */

static void on_sample(void *user, const struct library_sample *sample)
{
	struct context *context = user;
	struct library_sample *added = ARRAY_ADD(context->samples, context->sample_count);

	if (added)
		*added = *sample;
}

/* The samples of an input: at most so many as there are. */
static size_t samples_of(const struct context *context, const struct metric_input *input,
			 struct metric_sample *out)
{
	const uint32_t number = library_block(context->gpu->agent, input->block).number;
	size_t count = 0;

	for (size_t i = 0; i < context->sample_count; i++) {
		const struct library_sample *sample = &context->samples[i];
		const struct library_event *event = &context->events.list[sample->event];
		if (event->block != number || event->event != input->event)
			continue;
		out[count] = (struct metric_sample){.value = sample->value};
		out[count].at[METRIC_XCC] = (uint16_t)sample->xcc;
		out[count].at[METRIC_SE] = (uint16_t)sample->engine;
		out[count++].at[METRIC_INSTANCE] = (uint16_t)event->instance;
	}
	return count;
}

/* The sum of 64 bits, which a double would round. */
static uint64_t sum_of(const struct metric_input *input, const struct metric_values *values)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < values->count; i++)
		sum += values->samples[i].at[METRIC_INSTANCE] == input->instance
			       ? values->samples[i].value
			       : 0;
	return sum;
}

/* False: it has no value, or there is no memory. */
static bool evaluate(const struct context *context, struct metric *metric, rocprofiler_data_t *data)
{
	const bool is_counter = metric_is_counter(metric);
	size_t inputs = metric->input_count;
	struct metric_sample *samples =
		calloc(inputs * context->sample_count + 1, sizeof(*samples));
	struct metric_values *values = calloc(inputs + 1, sizeof(*values));
	bool done = samples && values;

	for (size_t i = 0; done && i < inputs; i++) {
		values[i].samples = samples + i * context->sample_count;
		values[i].count = samples_of(context, &metric->inputs[i],
					     samples + i * context->sample_count);
	}
	if (done && is_counter)
		data->result_int64 = sum_of(metric->inputs, values);
	else if (done)
		done = metric_evaluate(metric, values, &data->result_double);
	if (done)
		data->kind =
			is_counter ? ROCPROFILER_DATA_KIND_INT64 : ROCPROFILER_DATA_KIND_DOUBLE;
	free(samples);
	free(values);
	return done;
}

/* Of the features that are counters, or of the others. */
static hsa_status_t write_values(const struct context *context, bool counters)
{
	for (uint32_t i = 0; i < context->feature_count; i++)
		if (metric_is_counter(context->metrics[i]) == counters &&
		    !evaluate(context, context->metrics[i], &context->features[i].data))
			return fail(HSA_STATUS_ERROR, "%s has no value", context->features[i].name);
	return HSA_STATUS_SUCCESS;
}

/* Reads the GPU's memory; the values of counters go to the features. */
hsa_status_t rocprofiler_get_data(rocprofiler_t *handle, uint32_t group)
{
	struct context *context = handle;
	hsa_status_t status = check_lasts(context, group);

	if (status)
		return status;
	/* Without a handler of the context's nobody else tells when its dispatch has ended. */
	if (!context->queue)
		wait_for_dispatch(context);
	if (!context->has_data && context->count)
		return fail(HSA_STATUS_ERROR, "nothing has been read");
	if (queue_is_gone(context) && hsa->signal_load(context->done) > 0)
		return fail(HSA_STATUS_ERROR_INVALID_QUEUE,
			    "the queue was destroyed before a read had ended");
	if (context->queue && !runtime_wait(context->done, "a read", UINT64_MAX))
		return HSA_STATUS_ERROR;
	if (!context->count)
		return HSA_STATUS_SUCCESS;
	if (context_is_abandoned(context))
		return fail(HSA_STATUS_ERROR, "the dispatch has not ended in time");
	context->sample_count = 0;
	if (!library_count_samples(context->count, context->count->output, on_sample, context))
		return fail(HSA_STATUS_ERROR, "the counts cannot be read");
	return write_values(context, true);
}

hsa_status_t rocprofiler_get_metrics(const rocprofiler_t *handle)
{
	hsa_status_t status = check_lasts(handle, 0);

	return status ? status : write_values(handle, false);
}

/* ---- groups ---- */

hsa_status_t rocprofiler_group_count(const rocprofiler_t *handle, uint32_t *count)
{
	if (!handle || !count)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "group_count: NULL");
	*count = 1;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t rocprofiler_get_group(rocprofiler_t *handle, uint32_t index,
				   rocprofiler_group_t *group)
{
	struct context *context = handle;
	hsa_status_t status = check(context, index);

	if (!status && !group)
		status = fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "get_group: NULL");
	if (!status)
		*group = (rocprofiler_group_t){0, context->pointers, context->feature_count,
					       context};
	return status;
}

hsa_status_t rocprofiler_get_agent(rocprofiler_t *handle, hsa_agent_t *agent)
{
	const struct context *context = handle;

	if (!context || !agent)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "get_agent: NULL");
	*agent = context->gpu->agent;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t rocprofiler_reset(rocprofiler_t *handle, uint32_t group)
{
	struct context *context = handle;
	hsa_status_t status = check(context, group);

	if (!status && __atomic_load_n(&context->busy, __ATOMIC_ACQUIRE))
		status = fail(HSA_STATUS_ERROR, "the group is under way");
	if (!status) {
		context->sample_count = 0;
		context->has_data = false;
	}
	return status;
}

/* As in the original they return success, whatever happened; rocprofiler_error_string has the error. */
#define GROUP_FUNCTION(name)                                                                       \
	hsa_status_t rocprofiler_group_##name(rocprofiler_group_t *group)                          \
	{                                                                                          \
		if (!group)                                                                        \
			return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "group_" #name ": NULL");   \
		(void)rocprofiler_##name(group->context, group->index);                            \
		return HSA_STATUS_SUCCESS;                                                         \
	}
GROUP_FUNCTION(start)
GROUP_FUNCTION(stop)
GROUP_FUNCTION(read)
GROUP_FUNCTION(get_data)

hsa_status_t rocprofiler_iterate_trace_data(rocprofiler_t *handle,
					    rocprofiler_trace_data_callback_t callback, void *data)
{
	return fail(HSA_STATUS_ERROR, "traces (SQTT) are not supported by rtl's rocprofiler");
}
