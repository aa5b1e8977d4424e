/* SPDX-License-Identifier: MIT */
/* Expressions over counters, compiled: see metrics.h. The grammar, loosest first:
 *
 *   sum      = product {("+" | "-") product}
 *   product  = unary {("*" | "/") unary}
 *   unary    = "-" unary | "(" sum ")" | number | name | name "[" number "]" | call
 *   call     = ("sum" | "avr" | "min" | "max") "(" name "," number ")"     first instances of a block
 *            | "reduce" "(" sum "," kind ["," "[" dimension {"," dimension} "]"] ")"
 *            | "select" "(" sum "," "[" dimension "=" "[" values "]" {"," ...} "]" ")"
 *            | "accumulate" "(" name "," ("LOW_RES" | "HIGH_RES" | "NONE") ")"
 *
 * v1's own expressions differ: + and - group to the right, and numbers are integers. Metrics that an
 * expression names become part of it. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "program.h"

enum {
	STEPS_MOST = 4096,
	INPUTS_MOST = 256,
	NESTED_MOST = 200, /* expressions within each other */
	METRICS_MOST = 24, /* metrics within each other */
	NAME_BYTES = 128,
};

#define ALL_DIMENSIONS ((1u << METRIC_DIMENSIONS) - 1)

struct compiler {
	const struct counter_set *set;
	struct metric *metric;
	const char *at;
	const char *whose; /* the definition that `at` is in */
	size_t stack;
	int nested, metrics;
	bool failed;
	char *message;
	size_t message_size;
};

static void __attribute__((format(printf, 2, 3))) fail(struct compiler *c, const char *format, ...)
{
	va_list args;

	if (c->failed)
		return;
	c->failed = true;
	va_start(args, format);
	vsnprintf(c->message, c->message_size, format, args);
	va_end(args);
}

static void unexpected(struct compiler *c, const char *wanted)
{
	if (*c->at)
		fail(c, "the expression of %s has '%.12s' where %s should be", c->whose, c->at,
		     wanted);
	else
		fail(c, "the expression of %s ends where %s should be", c->whose, wanted);
}

/* ---- steps ---- */

static void emit(struct compiler *c, struct step step)
{
	struct metric *metric = c->metric;
	struct step *added;

	if (c->failed)
		return;
	if (metric->step_count == STEPS_MOST)
		return fail(c, "the expression of %s is too long", c->whose);
	added = ARRAY_ADD(metric->steps, metric->step_count);
	if (!added)
		return fail(c, "out of memory");
	*added = step;
	if (step.kind <= STEP_NO_VALUE)
		c->stack++;
	else if (step.kind <= STEP_DIVIDE)
		c->stack--;
	if (c->stack > METRIC_STACK)
		return fail(c, "the expression of %s is nested too deep", c->whose);
	if (c->stack > metric->depth)
		metric->depth = c->stack;
}

static void emit_input(struct compiler *c, const struct metric_input *input)
{
	struct metric *metric = c->metric;
	struct metric_input *added;
	size_t i = 0;

	while (i < metric->input_count && !metric_input_is_same(&metric->inputs[i], input))
		i++;
	if (i == metric->input_count) {
		if (i == INPUTS_MOST)
			return fail(c, "%s needs more than %d counters", c->whose, INPUTS_MOST);
		added = ARRAY_ADD(metric->inputs, metric->input_count);
		if (!added)
			return fail(c, "out of memory");
		*added = *input;
	}
	emit(c, (struct step){.kind = STEP_INPUT, .number = (uint32_t)i});
}

static void emit_reduce(struct compiler *c, enum reduction reduction, uint32_t dimensions)
{
	emit(c, (struct step){.kind = STEP_REDUCE, .reduction = reduction, .number = dimensions});
}

/* ---- words ---- */

static void skip_space(struct compiler *c)
{
	c->at += strspn(c->at, " \t\n\r");
}

static bool accept(struct compiler *c, char token)
{
	skip_space(c);
	if (*c->at != token)
		return false;
	c->at++;
	return true;
}

static void expect(struct compiler *c, char token)
{
	char wanted[4] = {'\'', token, '\'', '\0'};

	if (!c->failed && !accept(c, token))
		unexpected(c, wanted);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void read_name(struct compiler *c, char name[NAME_BYTES])
{
	size_t length;

	skip_space(c);
	name[0] = '\0';
	length = strspn(c->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
	if (!length || is_digit(*c->at))
		return unexpected(c, "a name");
	if (length >= NAME_BYTES)
		return fail(c, "the expression of %s has a name that is too long", c->whose);
	memcpy(name, c->at, length);
	name[length] = '\0';
	c->at += length;
}

static uint32_t read_count(struct compiler *c)
{
	uint64_t value = 0;

	skip_space(c);
	if (!is_digit(*c->at))
		unexpected(c, "a number");
	while (is_digit(*c->at) && value < UINT32_MAX)
		value = 10 * value + (uint64_t)(*c->at++ - '0');
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX - 1;
}

static double read_number(struct compiler *c)
{
	double value = 0, place = 1;

	while (is_digit(*c->at))
		value = 10 * value + (*c->at++ - '0');
	if (*c->at != '.')
		return value;
	if (c->set->v1_expressions) {
		unexpected(c, "an integer");
		return 0;
	}
	for (c->at++; is_digit(*c->at); c->at++) {
		place /= 10;
		value += place * (*c->at - '0');
	}
	return value;
}

/* The place of a word in a list that ends with NULL; -1 after a line. */
static int read_word(struct compiler *c, const char *const *words, const char *wanted)
{
	const char *before = c->at;
	char name[NAME_BYTES];

	read_name(c, name);
	for (int i = 0; !c->failed && words[i]; i++) {
		if (!strcmp(words[i], name))
			return i;
	}
	c->at = before;
	unexpected(c, wanted);
	return -1;
}

static const char *const reductions[] = {"sum", "avr", "min", "max", NULL};

/* A dimension, as rocprofiler-sdk names it; METRIC_DIMENSIONS: one that has one value only. */
static uint32_t read_dimension(struct compiler *c)
{
	static const struct {
		const char *name;
		uint32_t dimension;
	} names[] = {
		{"XCC", METRIC_XCC},
		{"AID", METRIC_AID},
		{"SHADER_ENGINE", METRIC_SE},
		{"SE", METRIC_SE},
		{"SA", METRIC_SA},
		{"SHADER_ARRAY", METRIC_SA},
		{"WGP", METRIC_WGP},
		{"INSTANCE", METRIC_INSTANCE},
		{"AGENT", METRIC_DIMENSIONS},
	};
	const char *before = c->at, *behind;
	char name[NAME_BYTES];

	read_name(c, name);
	behind = strchr(name, '_');
	for (size_t i = 0; behind && i < sizeof(names) / sizeof(*names); i++) {
		if (!strncmp(name, "DIM", 3) && !strcmp(behind + 1, names[i].name))
			return names[i].dimension;
	}
	c->at = before;
	unexpected(c, "a dimension such as DIM_XCC");
	return METRIC_DIMENSIONS;
}

/* ---- names ---- */

static void read_sum(struct compiler *c, bool raw);

static void compile_text(struct compiler *c, const struct counter_def *def)
{
	const char *at = c->at, *whose = c->whose;

	if (++c->metrics > METRICS_MOST)
		fail(c, "%s needs itself", c->metric->name);
	c->at = def->expression;
	c->whose = def->name;
	if (!c->failed)
		read_sum(c, false);
	skip_space(c);
	if (*c->at)
		unexpected(c, "its end");
	c->metrics--;
	c->at = at;
	c->whose = whose;
}

/* Properties that expressions may name, known for this GPU or not. */
static const char properties[] =
	"CU_NUM/SIMD_NUM/SE_NUM/XCC_NUM/MAX_WAVE_SIZE/LDS_SIZE/simd_count/simd_per_cu/"
	"wave_front_size/max_waves_per_simd/num_xcc/array_count/cu_count/num_shader_banks/"
	"simd_arrays_per_engine/cu_per_simd_array/cu_per_engine/lds_size_in_kb/gds_size_in_kb/"
	"max_engine_clk_fcompute/max_slots_scratch_cu/cpu_cores_count/mem_banks_count/caches_count/"
	"max_waves_per_cu/workgroup_max_size/local_mem_size";

static void emit_property(struct compiler *c, const char *name)
{
	const struct counter_set *set = c->set;

	for (size_t i = 0; i < set->property_count; i++) {
		if (!strcmp(set->properties[i].name, name))
			return emit(c, (struct step){.kind = STEP_NUMBER,
						     .value = set->properties[i].value});
	}
	if (text_has_name(properties, name))
		return emit(c, (struct step){.kind = STEP_NO_VALUE});
	fail(c, "%s needs %s, which is not defined for %s", c->whose, name, set->gfx);
}

static struct metric_input input_of(const struct counter_def *def)
{
	return (struct metric_input){.name = def->name,
				     .block = def->block,
				     .event = def->event,
				     .instance = METRIC_ALL_INSTANCES};
}

/* A counter that must be one: what a function takes. */
static bool read_counter(struct compiler *c, struct metric_input *input)
{
	char name[NAME_BYTES];
	const struct counter_def *def;

	read_name(c, name);
	if (c->failed)
		return false;
	def = counter_find(c->set, name);
	if (!def)
		return fail(c, "%s needs %s, which is not defined for %s", c->whose, name,
			    c->set->gfx),
		       false;
	if (!def->block)
		return fail(c, "%s needs %s to be a counter, and it is a metric", c->whose, name),
		       false;
	*input = input_of(def);
	return true;
}

/* raw: what is counted in all places, not its sum. */
static void compile_name(struct compiler *c, const char *name, bool raw)
{
	const struct counter_def *def = counter_find(c->set, name);
	struct metric_input input;
	bool indexed = accept(c, '[');
	uint32_t instance = METRIC_ALL_INSTANCES;

	if (indexed) {
		instance = read_count(c);
		expect(c, ']');
	}
	if (c->failed)
		return;
	if (!def && !indexed)
		return emit_property(c, name);
	if (!def || (!def->block && indexed))
		return fail(c, "%s needs the counter %s, which is not defined for %s", c->whose,
			    name, c->set->gfx);
	if (!def->block)
		return compile_text(c, def);
	input = input_of(def);
	input.instance = instance;
	if (c->set->v1_expressions && !indexed && !raw)
		input.instance = 0;
	emit_input(c, &input);
	if (c->set->sums && !raw)
		emit_reduce(c, REDUCE_SUM, ALL_DIMENSIONS);
}

/* ---- functions ---- */

/* sum(NAME,count): of the sums of the first instances. */
static void read_first(struct compiler *c, enum reduction reduction)
{
	struct metric_input input;

	if (!read_counter(c, &input))
		return;
	emit_input(c, &input);
	expect(c, ',');
	emit(c, (struct step){.kind = STEP_LIMIT, .number = read_count(c)});
	emit_reduce(c, REDUCE_SUM, ALL_DIMENSIONS & ~(1u << METRIC_INSTANCE));
	emit_reduce(c, reduction, ALL_DIMENSIONS);
}

static void read_reduce(struct compiler *c)
{
	uint32_t dimensions = ALL_DIMENSIONS;
	int reduction;

	read_sum(c, true);
	expect(c, ',');
	reduction = read_word(c, reductions, "sum, avr, min or max");
	if (!c->failed && accept(c, ',')) {
		expect(c, '[');
		dimensions = 0;
		do
			dimensions |= 1u << read_dimension(c);
		while (!c->failed && accept(c, ','));
		expect(c, ']');
	}
	emit_reduce(c, (enum reduction)reduction, dimensions & ALL_DIMENSIONS);
}

/* [0], [0,2] or [0:3] */
static uint64_t read_values(struct compiler *c)
{
	uint64_t values = 0;

	expect(c, '[');
	do {
		uint32_t first = read_count(c), last = first;
		if (!c->failed && accept(c, ':'))
			last = read_count(c);
		if (c->failed)
			return 0;
		if (first > last || last > 63) {
			fail(c, "the expression of %s selects what no GPU has", c->whose);
			return 0;
		}
		for (uint32_t i = first; i <= last; i++)
			values |= UINT64_C(1) << i;
	} while (accept(c, ','));
	expect(c, ']');
	return values;
}

static void read_select(struct compiler *c)
{
	read_sum(c, true);
	expect(c, ',');
	expect(c, '[');
	do {
		struct step step = {.kind = STEP_SELECT};
		step.number = read_dimension(c);
		expect(c, '=');
		step.selection = c->failed ? 0 : read_values(c);
		if (step.number < METRIC_DIMENSIONS)
			emit(c, step);
	} while (!c->failed && accept(c, ','));
	expect(c, ']');
}

static void read_accumulate(struct compiler *c, bool raw)
{
	static const char *const words[] = {"NONE", "LOW_RES", "HIGH_RES", NULL};
	struct metric_input input;
	int word;

	if (!read_counter(c, &input))
		return;
	expect(c, ',');
	word = c->failed ? -1 : read_word(c, words, "LOW_RES, HIGH_RES or NONE");
	if (word < 0)
		return;
	input.accumulate = (enum metric_accumulate)word;
	emit_input(c, &input);
	if (c->set->sums && !raw)
		emit_reduce(c, REDUCE_SUM, ALL_DIMENSIONS);
}

static void read_call(struct compiler *c, const char *name, bool raw)
{
	if (!strcmp(name, "reduce")) {
		read_reduce(c);
	} else if (!strcmp(name, "select")) {
		read_select(c);
	} else if (!strcmp(name, "accumulate")) {
		read_accumulate(c, raw);
	} else {
		int i = 0;
		while (i < 4 && strcmp(reductions[i], name) != 0)
			i++;
		if (i == 4)
			return fail(c, "the expression of %s has a function %s, which is not known",
				    c->whose, name);
		read_first(c, (enum reduction)i);
	}
	expect(c, ')');
}

/* ---- operators ---- */

static void read_unary(struct compiler *c, bool raw)
{
	char name[NAME_BYTES];

	if (c->failed)
		return;
	if (++c->nested > NESTED_MOST)
		fail(c, "the expression of %s is nested too deep", c->whose);
	skip_space(c);
	if (!c->failed && accept(c, '-')) {
		read_unary(c, raw);
		emit(c, (struct step){.kind = STEP_NEGATE});
	} else if (!c->failed && accept(c, '(')) {
		read_sum(c, raw);
		expect(c, ')');
	} else if (!c->failed && (is_digit(*c->at) || *c->at == '.')) {
		double value = read_number(c);
		emit(c, (struct step){.kind = STEP_NUMBER, .value = value});
	} else if (!c->failed) {
		read_name(c, name);
		if (!c->failed && accept(c, '('))
			read_call(c, name, raw);
		else if (!c->failed)
			compile_name(c, name, raw);
	}
	c->nested--;
}

static void read_product(struct compiler *c, bool raw)
{
	read_unary(c, raw);
	while (!c->failed) {
		enum step_kind kind = STEP_MULTIPLY;
		if (accept(c, '/'))
			kind = STEP_DIVIDE;
		else if (!accept(c, '*'))
			return;
		read_unary(c, raw);
		emit(c, (struct step){.kind = kind});
	}
}

static void read_sum(struct compiler *c, bool raw)
{
	if (++c->nested > NESTED_MOST)
		fail(c, "the expression of %s is nested too deep", c->whose);
	read_product(c, raw);
	while (!c->failed) {
		enum step_kind kind = STEP_ADD;
		if (accept(c, '-'))
			kind = STEP_SUBTRACT;
		else if (!accept(c, '+'))
			break;
		if (c->set->v1_expressions)
			read_sum(c, raw);
		else
			read_product(c, raw);
		emit(c, (struct step){.kind = kind});
	}
	c->nested--;
}

/* ---- metrics ---- */

/* The greatest number that fits into the field of a block's select register. AMD's library takes any, and what
 * does not fit would count another event. */
static uint32_t last_event(const char *block)
{
	return !strcmp(block, "GRBM") ? 0x3f : !strcmp(block, "SQ") ? 0x1ff : 0x3ff;
}

/* BLOCK:event or BLOCK[instance]:event, and nothing else. */
static bool compile_block(struct compiler *c, const char *name)
{
	struct metric_input input = {.name = c->metric->name,
				     .instance = c->set->v1_expressions ? 0 : METRIC_ALL_INSTANCES};
	size_t length = strcspn(name, "[:");
	char *block = strndup(name, length);

	if (!block)
		return fail(c, "out of memory"), true;
	c->metric->block = block;
	input.block = block;
	c->at = name + length;
	if (accept(c, '[')) {
		input.instance = read_count(c);
		expect(c, ']');
	}
	if (c->failed || !length || !accept(c, ':'))
		return false;
	input.event = read_count(c);
	if (c->failed || *c->at)
		return false;
	if (input.event > last_event(block))
		return fail(c, "%s: events of block %s are 0 to %u", name, block,
			    last_event(block)),
		       true;
	emit_input(c, &input);
	return true;
}

static void compile(struct compiler *c, const char *name)
{
	struct metric *metric = c->metric;
	char plain[NAME_BYTES];
	size_t length = strcspn(name, "[:");

	metric->def = counter_find(c->set, name);
	if (!metric->def && name[length] == '[' && !strchr(name, ':') && length < sizeof(plain)) {
		memcpy(plain, name, length);
		plain[length] = '\0';
		metric->def = counter_find(c->set, plain);
		c->at = name + length;
		if (metric->def)
			return compile_name(c, plain, true);
	}
	if (metric->def && metric->def->block) {
		struct metric_input input = input_of(metric->def);
		if (c->set->v1_expressions)
			input.instance = 0;
		return emit_input(c, &input);
	}
	if (metric->def)
		return compile_text(c, metric->def);
	if (name[length] && compile_block(c, name))
		return;
	c->failed = false;
	fail(c, "there is no counter or metric '%s' for %s (definitions: %s)", name, c->set->gfx,
	     c->set->source);
}

struct metric *metric_compile(const struct counter_set *set, const char *name, char *message,
			      size_t size)
{
	struct metric *metric = calloc(1, sizeof(*metric));
	struct compiler c = {.set = set,
			     .metric = metric,
			     .whose = name,
			     .at = "",
			     .message = message,
			     .message_size = size};

	if (metric)
		metric->name = strdup(name);
	if (!metric || !metric->name) {
		fail(&c, "out of memory");
		metric_destroy(metric);
		return NULL;
	}
	metric->zero_divide = set->v1_expressions;
	compile(&c, name);
	if (!c.failed && *c.at)
		unexpected(&c, "its end");
	if (!c.failed && metric->step_count)
		return metric;
	fail(&c, "%s has no expression", name);
	metric_destroy(metric);
	return NULL;
}

void metric_destroy(struct metric *metric)
{
	if (!metric)
		return;
	free(metric->name);
	free(metric->block);
	free(metric->inputs);
	free(metric->steps);
	free(metric->scratch);
	free(metric);
}
