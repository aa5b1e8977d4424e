/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "array.h"
#include "events/events.h"
#include "plan.h"

/* Samples of a reading on their way to the inputs. */
struct taking {
	const struct counter_pass *pass;
	bool subtracts, fell;
};

static bool is_fed(const struct counter_pass *pass, uint32_t input, uint32_t event)
{
	const struct metric_input *wanted = &pass->inputs[input].wanted;
	const struct library_event *counted = &pass->events.list[event];

	if (wanted->accumulate != METRIC_PLAIN)
		return counted->input == input;
	if (counted->block != pass->inputs[input].block_number || counted->event != wanted->event ||
	    (wanted->instance != METRIC_ALL_INSTANCES && counted->instance != wanted->instance))
		return false;
	return !library_has(&pass->events, event, counted); /* else for another's sake */
}

static void add_sample(struct counter_input *input, const struct metric_sample *sample)
{
	struct metric_sample *added =
		ARRAY_REFILL(input->samples, input->sample_count, input->sample_made);

	if (added) /* else there is no value: the numbers of samples differ */
		*added = *sample;
}

static void subtract_sample(struct taking *taking, struct counter_input *input,
			    const struct metric_sample *before)
{
	struct metric_sample *now = &input->samples[input->subtracted];

	/* The library tells of the same places in the same order. */
	if (input->subtracted == input->sample_count || now->value < before->value) {
		taking->fell = true;
		return;
	}
	now->value -= before->value;
	input->subtracted++;
}

static void found(void *user, const struct library_sample *from)
{
	struct taking *taking = user;
	const struct counter_pass *pass = taking->pass;
	const struct metric_sample sample = {
		.at[METRIC_XCC] = (uint16_t)from->xcc,
		.at[METRIC_SE] = (uint16_t)from->engine,
		.at[METRIC_INSTANCE] = (uint16_t)pass->events.list[from->event].instance,
		.value = from->value,
	};

	for (uint32_t i = 0; i < pass->input_count; i++) {
		if (!is_fed(pass, i, from->event))
			continue;
		if (taking->subtracts)
			subtract_sample(taking, &pass->inputs[i], &sample);
		else
			add_sample(&pass->inputs[i], &sample);
	}
}

bool values_read(const struct counter_pass *pass, const void *output)
{
	struct taking taking = {.pass = pass};

	for (uint32_t i = 0; i < pass->input_count; i++)
		pass->inputs[i].sample_count = 0;
	return library_count_samples(pass->count, output, found, &taking);
}

bool values_subtract(const struct counter_pass *pass, const void *before)
{
	struct taking taking = {.pass = pass, .subtracts = true};

	for (uint32_t i = 0; i < pass->input_count; i++)
		pass->inputs[i].subtracted = 0;
	return library_count_samples(pass->count, before, found, &taking) && !taking.fell;
}

/* Of a metric, and whether it has one. */
static bool value_of(const struct counter_pass *pass, const struct counter_metric *metric,
		     double *value)
{
	const size_t count = metric->metric->input_count;

	for (size_t i = 0; i < count; i++) {
		const struct counter_input *input = &pass->inputs[metric->inputs[i]];

		metric->values[i] = (struct metric_values){input->samples, input->sample_count};
	}
	*value = 0;
	return metric_evaluate(metric->metric, metric->values, value);
}

static void publish_parts(const struct counter_gpu *gpu, const struct counter_pass *pass,
			  uint16_t type, const struct publish_ids *of)
{
	if (!rtl_enabled(counter_streams.samples, type))
		return;
	for (uint32_t i = 0; i < pass->input_count; i++) {
		const struct counter_input *input = &pass->inputs[i];
		struct publish_ids ids = *of;

		ids.uid = input->uid;
		for (uint32_t k = 0; k < input->sample_count; k++) {
			const struct metric_sample *sample = &input->samples[k];
			const struct rtl_hsa_counter_sample payload = {
				.value = sample->value,
				.name = input->name,
				.block = input->block,
				.event = input->wanted.event,
				.gpu = gpu->node,
				.xcc = sample->at[METRIC_XCC],
				.engine = sample->at[METRIC_SE],
				.part = sample->at[METRIC_INSTANCE],
				.pass = pass->number,
			};

			publish_payload(counter_streams.samples, type, &ids, &payload,
					sizeof(payload));
		}
	}
}

void values_publish(const struct counter_gpu *gpu, const struct counter_pass *pass, uint16_t type,
		    const struct publish_ids *of, uint64_t kernel, uint64_t begin_ns,
		    uint64_t end_ns)
{
	struct publish_ids ids = *of;

	for (uint32_t i = 0; i < pass->metric_count; i++) {
		const struct counter_metric *metric = pass->metrics[i];
		struct rtl_hsa_counter_interval interval = {
			.name = metric->name,
			.begin_ns = begin_ns,
			.end_ns = end_ns,
			.gpu = gpu->node,
			.pass = pass->number,
			.flags = metric->is_counter ? 0 : RTL_HSA_COUNTER_DERIVED,
		};

		if (!value_of(pass, metric, &interval.value))
			interval.flags |= RTL_HSA_COUNTER_NO_VALUE;
		const struct rtl_hsa_counter counter = {.value = interval.value,
							.name = metric->name,
							.kernel = kernel,
							.gpu = gpu->node,
							.pass = pass->number,
							.flags = interval.flags};

		ids.uid = metric->uid;
		if (type == RTL_SIGNAL)
			publish_payload(counter_streams.values, type, &ids, &counter,
					sizeof(counter));
		else
			publish_payload(counter_streams.values, type, &ids, &interval,
					sizeof(interval));
	}
	publish_parts(gpu, pass, type, of);
}

/* ---- events */

struct counter_streams counter_streams = {.values = &rtl_stream_none, .samples = &rtl_stream_none};

void counter_streams_register(void)
{
	(void)rtl_stream_register(&counter_stream_info, &counter_streams.values);
	/* Somebody who takes all streams need not pay for this one. */
	if (rtl_stream_asked(RTL_STREAM_HSA_COUNTER_DEBUG))
		(void)rtl_stream_register(&counter_debug_stream_info, &counter_streams.samples);
}
