/* SPDX-License-Identifier: MIT */
/* Counters and metrics: values, and what is counted together. */
#include "definitions_kit.h"

/* ---- values ---- */

static const char blocks[] =
	"A:\n  architectures:\n    gfx906:\n      block: SQ\n      event: 1\n"
	"B:\n  architectures:\n    gfx906:\n      block: SQ\n      event: 2\n"
	"C:\n  architectures:\n    gfx906:\n      block: TCC\n      event: 3\n"
	"G:\n  architectures:\n    gfx906:\n      block: GRBM\n      event: 0\n"
	"LOOP:\n  architectures:\n    gfx906:\n      expression: 1+LOOP\n"
	"TWICE:\n  architectures:\n    gfx906:\n      expression: 2*reduce(A,sum)\n"
	"X:\n  architectures:\n    gfx906:\n      expression: ";

/* A counts 1, 2, 3, 4 in four engines of two XCCs; B ten times that; C 5, 6, 7 in three instances; G 8. */
static const struct metric_sample samples[4][4] = {
	{{{0, 0, 0}, 1}, {{0, 0, 1}, 2}, {{1, 0, 0}, 3}, {{1, 0, 1}, 4}},
	{{{0, 0, 0}, 10}, {{0, 0, 1}, 20}, {{1, 0, 0}, 30}, {{1, 0, 1}, 40}},
	{{{0, 0, 0, 0, 0, 0}, 5}, {{0, 0, 0, 0, 0, 1}, 6}, {{0, 0, 0, 0, 0, 2}, 7}},
	{{{0}, 8}},
};
static const size_t sample_counts[4] = {4, 4, 3, 1};

static struct metric_values values_of(const struct metric_input *input)
{
	static const char *const names[4] = {"A", "B", "C", "G"};

	for (size_t i = 0; i < 4; i++) {
		if (!strcmp(names[i], input->name))
			return (struct metric_values){samples[i], sample_counts[i]};
	}
	fail_msg("%s", input->name);
	return (struct metric_values){0};
}

/* What became of an expression. */
enum outcome { VALUE, NO_VALUE, REFUSED };

static enum outcome evaluate_named(const struct counter_set *set, const char *name, double *out)
{
	struct metric *metric = metric_compile(set, name, message, sizeof(message));
	struct metric_values values[8];
	bool done;

	if (!metric)
		return REFUSED;
	for (size_t i = 0; i < metric->input_count; i++)
		values[i] = values_of(&metric->inputs[i]);
	done = metric_evaluate(metric, values, out);
	metric_destroy(metric);
	return done ? VALUE : NO_VALUE;
}

static enum outcome evaluate(const char *expression, bool as_v1, double *out)
{
	static const struct counter_property properties[] = {{"CU_NUM", 60}, {"SE_NUM", 4}};
	const struct counter_options options = {
		.properties = properties, .property_count = 2, .v1_expressions = as_v1};
	char text[8192];
	struct counter_set *set;
	enum outcome outcome;

	snprintf(text, sizeof(text), "%s'%s'\n", blocks, expression);
	set = try_load(text, "gfx906", &options);
	assert_non_null(set);
	outcome = evaluate_named(set, "X", out);
	counter_set_destroy(set);
	return outcome;
}

TEST(test_metric__of_known_counts__has_its_value)
{
	static const struct {
		const char *expression;
		double value;
	} cases[] = {
		{"1+2*3", 7},
		{"(1+2)*3", 9},
		{"10-3+2", 9},
		{"10-3-2", 5},
		{"100/10*2", 20},
		{"100/10/2", 5},
		{"-2*-3", 6},
		{"--2", 2},
		{"0.5*3", 1.5},
		{".25", 0.25},
		{"1/4", 0.25},
		{" 1 +\t2 ", 3},
		{"CU_NUM/SE_NUM", 15},
		{"reduce(A,sum)", 10},
		{"reduce(A,avr)", 2.5},
		{"reduce(A,min)", 1},
		{"reduce(A,max)", 4},
		{"reduce(G,max)", 8},
		{"reduce(A+B,max)", 44},
		{"reduce(A*2,sum)", 20},
		{"reduce(2*A,sum)", 20},
		{"reduce(B/A,max)", 10},
		{"reduce(A,sum)/reduce(G,max)", 1.25},
		{"reduce(reduce(A,sum,[DIM_SHADER_ENGINE]),max)", 7},
		{"reduce(reduce(A,sum,[DIM_XCC]),max)", 6},
		{"reduce(reduce(A,max,[DIM_XCC,DIM_SHADER_ENGINE]),sum)", 4},
		{"reduce(reduce(A,avr,[DIMENSION_XCC]),min)", 2},
		{"reduce(select(A,[DIM_XCC=[1]]),sum)", 7},
		{"reduce(select(A,[DIM_XCC=[0:1],DIM_SHADER_ENGINE=[1]]),sum)", 6},
		{"reduce(select(C,[DIM_INSTANCE=[0,2]]),sum)", 12},
		{"select(A,[DIM_XCC=[0]])+select(B,[DIM_XCC=[1]])", 73},
		{"reduce(accumulate(A,NONE),sum)", 10},
		{"reduce(accumulate(A,HIGH_RES),sum)+reduce(A,sum)", 20},
		{"sum(C,2)", 11},
		{"sum(C,16)", 18},
		{"avr(C,3)", 6},
		{"min(C,3)", 5},
		{"max(C,3)", 7},
		{"max(A,16)", 10},
		{"A", 10},
		{"C[1]", 6},
		{"TWICE+1", 21},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double value = -1;
		enum outcome outcome = evaluate(cases[i].expression, false, &value);
		if (outcome != VALUE || value != cases[i].value)
			print_message("%s: %d %g %s\n", cases[i].expression, outcome, value,
				      message);
		assert_int_equal(outcome, VALUE);
		assert_true(value == cases[i].value);
	}
}

TEST(test_metric__that_cannot_be_computed__has_no_value)
{
	static const char *const cases[] = {
		"1/0",
		"reduce(A,sum)/(reduce(G,max)-8)",
		"1+0*(1/0)",
		"SIMD_NUM",
		"reduce(A+C,sum)",
		"select(A,[DIM_XCC=[7]])",
		"C[9]",
	};
	double value = -1;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		enum outcome outcome = evaluate(cases[i], false, &value);
		if (outcome != NO_VALUE)
			print_message("%s: %d %g\n", cases[i], outcome, value);
		assert_int_equal(outcome, NO_VALUE);
		assert_true(value == -1);
	}
}

TEST(test_metric__that_is_wrong__is_refused)
{
	static const struct {
		const char *expression, *says;
	} cases[] = {
		{"", "ends where a name"},
		{"1+", "ends where a name"},
		{"(1", "ends where ')'"},
		{"1)", "has ')' where its end"},
		{"1 2", "has '2' where its end"},
		{"NOPE", "X needs NOPE, which is not defined for gfx906"},
		{"sum(A)", "has ')' where ','"},
		{"sum(TWICE,2)", "needs TWICE to be a counter"},
		{"sum(NOPE,2)", "needs NOPE"},
		{"reduce(A,mode)", "where sum, avr, min or max"},
		{"reduce(A,sum,[DIM_PLANET])", "where a dimension"},
		{"select(A,[DIM_XCC=[64]])", "selects what no GPU has"},
		{"accumulate(A,MID_RES)", "where LOW_RES"},
		{"sqrt(A)", "a function sqrt"},
		{"LOOP", "needs itself"},
		{"NOPE[1]", "needs the counter NOPE"},
		{"A % B", "has '% B' where its end"},
	};
	double value;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		enum outcome outcome = evaluate(cases[i].expression, false, &value);
		if (outcome != REFUSED || !strstr(message, cases[i].says))
			print_message("'%s': %d %s\n", cases[i].expression, outcome, message);
		assert_int_equal(outcome, REFUSED);
		assert_non_null(strstr(message, cases[i].says));
	}
}

TEST(test_metric__that_is_nested_without_end__is_refused)
{
	char text[4097];
	double value;

	memset(text, '(', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(evaluate(text, false, &value), REFUSED);
	assert_non_null(strstr(message, "nested too deep"));
	memset(text, '-', sizeof(text) - 1);
	assert_int_equal(evaluate(text, false, &value), REFUSED);
}

/* What the tools that know rocprofiler v1 expect. */
TEST(test_metric__as_v1_has_it__groups_to_the_right)
{
	static const struct {
		const char *expression;
		double value;
	} cases[] = {
		{"10-3+2", 5},      {"10-3-2", 9},    {"100/10*2", 20}, {"7+1/0", 0},
		{"100*A/(G-8)", 0}, {"sum(C,3)", 18}, {"C", 5},         {"C[2]", 7},
	};
	double value;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		enum outcome outcome = evaluate(cases[i].expression, true, &value);
		if (outcome != VALUE || value != cases[i].value)
			print_message("%s: %d %g %s\n", cases[i].expression, outcome, value,
				      message);
		assert_int_equal(outcome, VALUE);
		assert_true(value == cases[i].value);
	}
	assert_int_equal(evaluate("0.5*2", true, &value), REFUSED);
}

/* Asked for by its name alone, or by block and event: instance 0, as the expression has it. */
TEST(test_metric__as_v1_has_it__is_of_one_instance)
{
	const struct counter_options options = {.v1_expressions = true};
	static const char *const names[] = {"HITS", "TCC:20"};
	struct counter_set *set = try_load(sdk7, "gfx906", &options);

	for (size_t i = 0; i < 2; i++) {
		struct metric *metric = metric_compile(set, names[i], message, sizeof(message));
		assert_int_equal(metric->inputs[0].instance, 0);
		metric_destroy(metric);
	}
	counter_set_destroy(set);
}

/* In v1's files a counter's name stands for its sum. */
TEST(test_metric__of_v1s_file__adds_up_its_counters)
{
	struct counter_set *set = load(
		"<gfx906><metric name=A block=SQ event=1 ></metric>"
		"<metric name=G block=GRBM event=0 ></metric></gfx906>"
		"<global><metric name=X expr=A/G ></metric><metric name=Y expr=reduce(A,max)+1 >"
		"</metric></global>",
		"gfx906");
	double value;

	assert_int_equal(evaluate_named(set, "X", &value), VALUE);
	assert_true(value == 1.25);
	assert_int_equal(evaluate_named(set, "Y", &value), VALUE);
	assert_true(value == 5);
	counter_set_destroy(set);
}

TEST(test_metric__by_block_and_event__needs_no_definition)
{
	static const char *const wrong[] = {"TCC:",    ":3",   "TCC:3x",  "TCC[1:3",
					    "TCC[]:3", "NOPE", "NOPE[1]", "TWICE[0]"};
	struct counter_set *set = load(sdk7, "gfx906");
	struct metric *metric = metric_compile(set, "TCP[3]:60", message, sizeof(message));
	const struct metric_input *input;

	assert_non_null(metric);
	assert_int_equal(metric->input_count, 1);
	input = &metric->inputs[0];
	assert_string_equal(input->block, "TCP");
	assert_int_equal(input->event, 60);
	assert_int_equal(input->instance, 3);
	assert_string_equal(input->name, "TCP[3]:60");
	assert_true(metric_is_counter(metric));
	assert_null(metric->def);
	metric_destroy(metric);
	metric = metric_compile(set, "HITS[15]", message, sizeof(message));
	assert_non_null(metric);
	assert_int_equal(metric->inputs[0].instance, 15);
	assert_ptr_equal(metric->def, counter_find(set, "HITS"));
	metric_destroy(metric);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_null(metric_compile(set, wrong[i], message, sizeof(message)));
	counter_set_destroy(set);
}

/* A metric that two ways lead to the same counters needs them once. */
TEST(test_metric__that_names_a_counter_twice__needs_it_once)
{
	struct counter_set *set = load(sdk7, "gfx906");
	struct metric *metric = metric_compile(set, "Rate", message, sizeof(message));

	assert_int_equal(metric->input_count, 2);
	assert_false(metric_is_counter(metric));
	metric_destroy(metric);
	counter_set_destroy(set);
}

/* ---- passes ---- */

static uint32_t registers(void *user, const char *block)
{
	const uint32_t *more = user;

	if (!strcmp(block, "SQ"))
		return 2 + *more;
	return strcmp(block, "TCC") ? 0 : 1 + *more;
}

/* The passes of some names, as digits; or what refused them. */
static const char *passes_of(const char *const *names, size_t count, uint32_t more)
{
	static char text[32];
	char definitions[2048];
	struct metric *metrics[8];
	size_t pass_of[8], refused = 99, passes;
	struct counter_set *set;

	snprintf(definitions, sizeof(definitions),
		 "%s'reduce(accumulate(A,HIGH_RES),sum)+reduce(B,sum)'\n", blocks);
	set = load(definitions, "gfx906");
	for (size_t i = 0; i < count; i++)
		metrics[i] = metric_compile(set, names[i], message, sizeof(message));
	passes = passes_choose(metrics, count, registers, &more, pass_of, &refused, message,
			       sizeof(message));
	if (passes)
		for (size_t i = 0; i < count; i++)
			snprintf(text + i, sizeof(text) - i, "%zu", pass_of[i]);
	else
		snprintf(text, sizeof(text), "refused %zu", refused);
	for (size_t i = 0; i < count; i++)
		metric_destroy(metrics[i]);
	counter_set_destroy(set);
	return text;
}

#define PASSES(more, ...)                                                                          \
	passes_of((const char *const[]){__VA_ARGS__},                                              \
		  sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), more)

TEST(test_passes__of_what_fits__are_few)
{
	assert_string_equal(PASSES(0, "A", "B", "C"), "000");
	assert_string_equal(PASSES(0, "A", "B", "SQ:9", "C", "TCC:4"), "00101");
	/* what is there already takes no register */
	assert_string_equal(PASSES(0, "A", "TWICE", "B", "SQ:1"), "0000");
	/* a metric is counted as a whole, and what adds up over time takes one more */
	assert_string_equal(PASSES(1, "SQ:7", "X", "A", "B"), "0100");
	assert_string_equal(PASSES(1, "X", "B"), "00");
}

TEST(test_passes__of_what_never_fits__say_what)
{
	assert_string_equal(PASSES(0, "A", "X"), "refused 1");
	assert_string_equal(message,
			    "X needs 3 counters of block SQ at the same time, which has 2");
	assert_string_equal(PASSES(0, "G"), "refused 0");
	assert_string_equal(message, "G needs block GRBM, which cannot be counted here");
}

RUN_TESTS(NULL, NULL, forget_environment, NULL)
