/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../common/threads.h"
#include "agents.h"
#include "array.h"
#include "interceptor.h"
#include "sample.h"

#define WHY 512

/* Events of SQ that tell what its level counter before them has added up; the names of those. */
#define ACCUMULATE_LOW  "SQ_ACCUM_PREV"
#define ACCUMULATE_HIGH "SQ_ACCUM_PREV_HIRES"

static struct {
	pthread_mutex_t lock;
	struct counter_gpu *first; /* release when complete, acquire */
} gpus = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(gpus, gpus.lock);

/* What a plan is made from. */
struct making {
	struct counter_gpu *gpu;
	struct counter_set *set;
	char name[65]; /* of the GPU's architecture */
	char why[WHY];
	uint32_t accumulators[3]; /* event numbers, by enum metric_accumulate */
};

/* ---- the GPU ---- */

/* The event that adds up the counter before it; 0: not known. Definitions of rocprofiler name them, and
 * these are their numbers; those of rocprofiler-sdk take them for granted. */
static uint32_t accumulator(const struct making *making, enum metric_accumulate how)
{
	const struct counter_def *def =
		counter_find(making->set, how == METRIC_LOW_RES ? ACCUMULATE_LOW : ACCUMULATE_HIGH);

	if (def && def->block)
		return def->event;
	if (how == METRIC_LOW_RES)
		return 1;
	if (!strncmp(making->name, "gfx94", 5))
		return 184;
	return !strncmp(making->name, "gfx90a", 6) ? 185 : 0;
}

static uint32_t registers_of(void *user, const char *block)
{
	return library_block(((const struct making *)user)->gpu->agent, block).registers;
}

/* ---- metrics ---- */

static bool compile(struct making *making)
{
	struct counter_gpu *gpu = making->gpu;

	gpu->metrics = calloc(counter_settings.count, sizeof(*gpu->metrics));
	for (size_t i = 0; gpu->metrics && i < counter_settings.count; i++) {
		struct counter_metric *metric = &gpu->metrics[i];

		metric->metric = metric_compile(making->set, counter_settings.names[i], making->why,
						sizeof(making->why));
		if (!metric->metric)
			return false;
		gpu->metric_count++;
		metric->is_counter = metric_is_counter(metric->metric);
		metric->values = calloc(metric->metric->input_count + 1, sizeof(*metric->values));
		metric->inputs = calloc(metric->metric->input_count + 1, sizeof(*metric->inputs));
		if (!metric->values || !metric->inputs)
			return false;
	}
	return gpu->metrics;
}

static void set_text(const struct counter_metric *metric, const char *key, const char *text,
		     uint64_t *id)
{
	if (!text || !*text)
		return;
	*id = interceptor_string(text);
	(void)rtl_tracepoint_set(metric->uid, key, text);
}

/* The same counter or metric of the same architecture is one tracepoint in all processes. */
static void describe(const struct making *making, struct counter_metric *metric)
{
	const struct counter_def *def = metric->metric->def;
	const char *name = metric->metric->name;
	char source[256];

	if (def && def->expression)
		snprintf(source, sizeof(source), "%s %s", making->name, def->expression);
	else if (def)
		snprintf(source, sizeof(source), "%s %s:%u", making->name, def->block, def->event);
	else
		snprintf(source, sizeof(source), "%s", making->name);
	metric->uid = interceptor_tracepoint("counter", name, source, 0);
	metric->name = interceptor_string(name);
	if (!def)
		return;
	metric->event = def->block ? def->event : 0;
	set_text(metric, "unit", def->unit, &metric->unit);
	set_text(metric, "block", def->block, &metric->block);
	set_text(metric, "expression", def->expression, &metric->expression);
	set_text(metric, "description", def->description, &metric->description);
	(void)rtl_tracepoint_set(metric->uid, "architecture", making->name);
}

static bool choose_passes(struct making *making)
{
	struct counter_gpu *gpu = making->gpu;
	struct metric **metrics = calloc(gpu->metric_count, sizeof(*metrics));
	size_t *pass_of = calloc(gpu->metric_count, sizeof(*pass_of)), refused = 0;

	for (uint32_t i = 0; metrics && i < gpu->metric_count; i++)
		metrics[i] = gpu->metrics[i].metric;
	if (metrics && pass_of)
		gpu->pass_count = (uint32_t)passes_choose(metrics, gpu->metric_count, registers_of,
							  making, pass_of, &refused, making->why,
							  sizeof(making->why));
	for (uint32_t i = 0; gpu->pass_count && i < gpu->metric_count; i++)
		gpu->metrics[i].pass = (uint32_t)pass_of[i];
	free(metrics);
	free(pass_of);
	if (gpu->pass_count > 1 && !counter_settings.rotate) {
		snprintf(making->why, sizeof(making->why),
			 "the counters need %u passes, as the GPU has not registers enough for all "
			 "at once, and RTL_COUNTERS_PASSES (--counters-passes) is fail",
			 gpu->pass_count);
		gpu->pass_count = 0;
	}
	return gpu->pass_count != 0;
}

/* ---- a pass ---- */

/* The pass's input for that of a metric, a new one if there is none. */
static uint32_t input_get(struct counter_pass *pass, const struct metric_input *wanted,
			  uint64_t uid)
{
	struct counter_input *added;

	for (uint32_t i = 0; i < pass->input_count; i++)
		if (metric_input_is_same(&pass->inputs[i].wanted, wanted))
			return i;
	added = ARRAY_ADD(pass->inputs, pass->input_count);
	if (!added)
		return PLAN_NO_INPUT;
	*added = (struct counter_input){
		.wanted = *wanted,
		.name = interceptor_string(wanted->name),
		.block = interceptor_string(wanted->block),
		.uid = uid,
	};
	return pass->input_count - 1;
}

/* The events of one instance. The library gives the registers of a block in this order. */
static bool add_instance(struct making *making, struct counter_pass *pass,
			 struct library_event event)
{
	const struct metric_input *wanted = &pass->inputs[event.input].wanted;
	struct library_event level = event;

	if (wanted->accumulate == METRIC_PLAIN)
		return library_has(&pass->events, pass->events.count, &event) ||
		       library_add(&pass->events, event);
	level.input = PLAN_NO_INPUT;
	event.event = making->accumulators[wanted->accumulate];
	return library_add(&pass->events, level) && library_add(&pass->events, event);
}

static bool add_input(struct making *making, struct counter_pass *pass, uint32_t number)
{
	struct counter_input *input = &pass->inputs[number];
	const enum metric_accumulate how = input->wanted.accumulate;
	struct library_event event;
	uint32_t end;

	if (how != METRIC_PLAIN && !making->accumulators[how]) {
		snprintf(making->why, sizeof(making->why), "%s has no event %s", making->name,
			 how == METRIC_LOW_RES ? ACCUMULATE_LOW : ACCUMULATE_HIGH);
		return false;
	}
	if (!library_instances(making->gpu->agent, &input->wanted, &event, &end, making->why,
			       sizeof(making->why)))
		return false;
	input->block_number = event.block;
	event.input = number;
	for (; event.instance < end; event.instance++)
		if (!add_instance(making, pass, event))
			return false;
	return true;
}

static bool make_pass(struct making *making, struct counter_pass *pass)
{
	struct counter_gpu *gpu = making->gpu;

	pass->metrics = calloc(gpu->metric_count, sizeof(*pass->metrics));
	if (!pass->metrics)
		return false;
	for (uint32_t i = 0; i < gpu->metric_count; i++) {
		struct counter_metric *metric = &gpu->metrics[i];

		if (metric->pass != pass->number)
			continue;
		pass->metrics[pass->metric_count++] = metric;
		for (size_t k = 0; k < metric->metric->input_count; k++) {
			metric->inputs[k] =
				input_get(pass, &metric->metric->inputs[k], metric->uid);
			if (metric->inputs[k] == PLAN_NO_INPUT)
				return false;
		}
	}
	for (uint32_t i = 0; i < pass->input_count; i++)
		if (!add_input(making, pass, i))
			return false;
	pass->count =
		library_count_make(gpu->agent, &pass->events, making->why, sizeof(making->why));
	if (pass->count && pass->count->bytes > gpu->output_bytes)
		gpu->output_bytes = (uint32_t)pass->count->bytes;
	return pass->count;
}

static bool make_passes(struct making *making)
{
	struct counter_gpu *gpu = making->gpu;
	const uint32_t count = gpu->pass_count;

	gpu->passes = calloc(count, sizeof(*gpu->passes));
	gpu->pass_count = 0; /* until all are there */
	if (!gpu->passes)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		gpu->passes[i].number = i;
		if (!make_pass(making, &gpu->passes[i]))
			return false;
	}
	gpu->pass_count = count;
	return true;
}

/* ---- a plan ---- */

static bool make(struct making *making)
{
	const hsa_agent_t agent = making->gpu->agent;

	if (interceptor.config.mode == CONFIG_LITE && !counter_settings.sample_ns) {
		snprintf(making->why, sizeof(making->why),
			 "mode lite does not follow all dispatches; use mode standard");
		return false;
	}
	if (!library_find(making->why, sizeof(making->why)))
		return false;
	(void)interceptor.hsa.agent_get_info(agent, HSA_AGENT_INFO_NAME, making->name);
	making->set = agent_counters_load(interceptor.hsa.agent_get_info, agent, NULL, making->why,
					  sizeof(making->why));
	if (!making->set)
		return false;
	making->accumulators[METRIC_LOW_RES] = accumulator(making, METRIC_LOW_RES);
	making->accumulators[METRIC_HIGH_RES] = accumulator(making, METRIC_HIGH_RES);
	if (!compile(making) || !choose_passes(making))
		return false;
	for (uint32_t i = 0; i < making->gpu->metric_count; i++)
		describe(making, &making->gpu->metrics[i]);
	return make_passes(making);
}

static void say(const struct making *making, bool good)
{
	const struct counter_gpu *gpu = making->gpu;

	if (!good) {
		rtl_log(RTL_LEVEL_ERROR, "counters", "GPU %u: nothing is counted: %s", gpu->node,
			*making->why ? making->why : "no memory");
		if (interceptor.config.strict)
			_exit(2);
		return;
	}
	if (!counter_settings.sample_ns)
		rtl_log(RTL_LEVEL_WARNING, "counters",
			"GPU %u (%s): dispatches go one at a time while counters are collected: "
			"times and latencies are not those of a run without",
			gpu->node, making->name);
	if (gpu->pass_count > 1)
		rtl_log(RTL_LEVEL_WARNING, "counters",
			counter_settings.sample_ns
				? "GPU %u: the counters need %u passes, which take turns from "
				  "interval to interval: each counter has values of a part of the "
				  "intervals"
				: "GPU %u: the counters need %u passes, which take turns from "
				  "dispatch to dispatch of a kernel: each counter has values of a "
				  "part of the dispatches",
			gpu->node, gpu->pass_count);
}

/* What describes the GPU's counters. */
static void publish(const struct counter_gpu *gpu)
{
	for (uint32_t i = 0; gpu->pass_count && i < gpu->metric_count; i++) {
		const struct counter_metric *metric = &gpu->metrics[i];

		const struct publish_ids ids = {.uid = metric->uid, .parent_uid = gpu->agent_uid};
		const struct rtl_hsa_counter_info info = {
			.name = metric->name,
			.unit = metric->unit,
			.block = metric->block,
			.expression = metric->expression,
			.description = metric->description,
			.gpu = gpu->node,
			.event = metric->event,
			.pass = metric->pass,
			.passes = gpu->pass_count,
		};

		publish_payload(counter_streams.values, RTL_METADATA, &ids, &info, sizeof(info));
	}
}

static struct counter_gpu *plan_make(hsa_agent_t handle)
{
	const struct agent *agent = agents_find(handle);
	struct counter_gpu *gpu = calloc(1, sizeof(*gpu));
	struct making making = {.gpu = gpu};

	if (!gpu)
		return NULL;
	gpu->agent = handle;
	gpu->node = agent ? agent->node : 0;
	gpu->agent_uid = agent ? agent->uid : 0;
	say(&making, make(&making));
	/* Metrics refer to texts of the set: it stays, as the plan does. */
	publish(gpu);
	return gpu;
}

struct counter_gpu *plan_first(void)
{
	return __atomic_load_n(&gpus.first, __ATOMIC_ACQUIRE);
}

struct counter_gpu *plan_get(hsa_agent_t agent)
{
	struct counter_gpu *gpu;

	HOLD_LOCK(&gpus.lock);
	gpu = __atomic_load_n(&gpus.first, __ATOMIC_RELAXED);
	while (gpu && gpu->agent.handle != agent.handle)
		gpu = gpu->next;
	if (!gpu && (gpu = plan_make(agent))) {
		gpu->next = __atomic_load_n(&gpus.first, __ATOMIC_RELAXED);
		/* Pairs with the acquire in plan_first. */
		__atomic_store_n(&gpus.first, gpu, __ATOMIC_RELEASE);
	}
	return gpu;
}
