/* SPDX-License-Identifier: MIT */
/* Definitions of counters, in each format. */
#include "definitions_kit.h"

TEST(test_definitions__of_rocm_7__are_read)
{
	struct counter_set *set = load(sdk7, "gfx906:sramecc+:xnack-");
	const struct counter_def *rate = counter_find(set, "Rate");

	assert_int_equal(counter_set_count(set), 3);
	assert_string_equal(counter_find(set, "HITS")->block, "TCC");
	assert_int_equal(counter_find(set, "HITS")->event, 20);
	assert_null(counter_find(set, "HITS")->expression);
	assert_string_equal(counter_find(set, "HITS")->description, "What hits. It's fast");
	assert_string_equal(counter_find(set, "MISSES")->description, "What misses");
	assert_null(rate->block);
	assert_string_equal(rate->expression,
			    "100*reduce(HITS,sum)/ (reduce(HITS,sum)+reduce(MISSES,sum))");
	assert_string_equal(rate->description, "The percentage of requests that hit");
	assert_string_equal(rate->unit, "%");
	assert_null(counter_find(set, "HIT"));
	assert_string_equal(counter_set_at(set, 1)->name, "MISSES");
	assert_null(counter_set_at(set, 3));
	counter_set_destroy(set);

	set = load(sdk7, "gfx942");
	assert_int_equal(counter_set_count(set), 1);
	assert_int_equal(counter_find(set, "HITS")->event, 17);
	counter_set_destroy(set);
}

TEST(test_definitions__of_rocm_6__are_read)
{
	struct counter_set *set = load("WAVES:\n"
				       "  architectures:\n"
				       "    gfx906/gfx9/gfx90a:\n"
				       "      block: SQ\n"
				       "      event: 4\n"
				       "    gfx10:\n"
				       "      expression: 2 * 3\n"
				       "  description: \"a \\\"wave\\\"\"\n"
				       "  unit: waves\n",
				       "gfx90a");

	assert_int_equal(counter_find(set, "WAVES")->event, 4);
	assert_string_equal(counter_find(set, "WAVES")->description, "a \"wave\"");
	assert_string_equal(counter_find(set, "WAVES")->unit, "waves");
	counter_set_destroy(set);
}

static const char v1[] =
	"# counters\n"
	"<gfx9>\n"
	"  <metric name=\"HITS\" block=TCC event=20 descr=\"What hits > 0\" ></metric>\n"
	"  <metric name=\"MISSES\" block=TCC event=22 ></metric>\n"
	"</gfx9>\n"
	"<gfx9_expr>\n"
	"  <metric name=\"HITS_sum\" expr=sum(HITS,16) ></metric>\n"
	"</gfx9_expr>\n"
	"<!-- the GPU's -->\n"
	"<gfx906 base=\"gfx9\">\n"
	"  <metric\n"
	"    name=\"MISSES\" block=TCC event=23 descr=\"its own\"\n"
	"  ></metric>\n"
	"</gfx906>\n"
	"<gfx906 base='gfx9_expr'></gfx906>\n"
	"<global>\n"
	"  # a comment\n"
	"  <metric name=\"Rate\" expr=100*HITS_sum/(HITS_sum+MISSES)/>\n"
	"</global>\n";

TEST(test_definitions__of_v1__are_read)
{
	struct counter_set *set = load(v1, "gfx906");

	assert_int_equal(counter_set_count(set), 4);
	assert_int_equal(counter_find(set, "HITS")->event, 20);
	assert_string_equal(counter_find(set, "HITS")->description, "What hits > 0");
	assert_int_equal(counter_find(set, "MISSES")->event, 23);
	assert_string_equal(counter_find(set, "HITS_sum")->expression, "sum(HITS,16)");
	assert_string_equal(counter_find(set, "Rate")->expression,
			    "100*HITS_sum/(HITS_sum+MISSES)");
	counter_set_destroy(set);

	/* Vega has its family's; later GPUs count other events. */
	set = load(v1, "gfx900");
	assert_int_equal(counter_find(set, "MISSES")->event, 22);
	assert_null(counter_find(set, "HITS_sum"));
	counter_set_destroy(set);
	assert_null(try_load(v1, "gfx942", NULL));
	assert_non_null(strstr(message, "no counters of gfx942"));
}

/* As ROCm's own: gfx906 has its expressions, not those that gfx9 inherits later. */
static const char overriding[] =
	"<gfx9><metric name=HITS block=TCC event=20 ></metric></gfx9>\n"
	"<gfx906 base=gfx9 ><metric name=MORE block=TCC event=21 ></metric></gfx906>\n"
	"<gfx9_expr><metric name=SIZE expr=HITS*32 ></metric>"
	"<metric name=BOTH expr=HITS ></metric></gfx9_expr>\n"
	"<gfx906_expr base=gfx9_expr ><metric name=SIZE expr=HITS*32+MORE "
	"></metric></gfx906_expr>\n"
	"<gfx9 base=gfx9_expr ></gfx9>\n"
	"<gfx906 base=gfx906_expr ></gfx906>\n";

TEST(test_definitions__that_override_their_bases__count)
{
	struct counter_set *set = load(overriding, "gfx906");

	assert_string_equal(counter_find(set, "SIZE")->expression, "HITS*32+MORE");
	assert_non_null(counter_find(set, "BOTH"));
	counter_set_destroy(set);
	set = load(overriding, "gfx900");
	assert_string_equal(counter_find(set, "SIZE")->expression, "HITS*32");
	counter_set_destroy(set);
}

TEST(test_definitions__that_inherit_without_end__are_refused)
{
	static const char again[] = "<gfx906 base=gfx906 ></gfx906>\n";
	const size_t length = sizeof(again) - 1, times = 40;
	char *text = malloc(times * length + 1);

	for (size_t i = 0; i < times; i++)
		memcpy(text + i * length, again, length);
	text[times * length] = '\0';
	assert_null(try_load(text, "gfx906", NULL));
	assert_non_null(strstr(message, "too often"));
	free(text);
}

TEST(test_definitions__that_include_others__have_theirs)
{
	char folder[] = "/tmp/rtl-metrics-XXXXXX", path[64], other[64];
	struct counter_options options = {0};
	struct counter_set *set;
	FILE *file;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/metrics.xml", folder);
	snprintf(other, sizeof(other), "%s/gfx_metrics.xml", folder);
	file = fopen(path, "w");
	fputs("#include \"gfx_metrics.xml\"\n<global><metric name=X expr=A ></metric></global>",
	      file);
	fclose(file);
	assert_null(load_file(path, "gfx906", &options));
	assert_non_null(strstr(message, other));
	file = fopen(other, "w");
	fputs("<gfx906><metric name=A block=SQ event=4 ></metric></gfx906>", file);
	fclose(file);
	set = load_file(path, "gfx906", &options);
	assert_non_null(set);
	assert_int_equal(counter_set_count(set), 2);
	counter_set_destroy(set);
	file = fopen(other, "w");
	fputs("#include \"metrics.xml\"\n", file);
	fclose(file);
	assert_null(load_file(path, "gfx906", &options));
	assert_non_null(strstr(message, "include each other"));
	unlink(path);
	unlink(other);
	rmdir(folder);
}

/* What is wrong, and where: one line. */
TEST(test_definitions__with_an_error__are_refused)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"<gfx906><metric name=A block=SQ event=x ></metric></gfx906>",
		 "event is not a number"},
		{"<gfx906>\n<metric name=A ></metric></gfx906>", "line 2: a metric with neither"},
		{"<gfx906>", "ends within an element"},
		{"<gfx906></gfx906></gfx906>", "was not opened"},
		{"<gfx906 x></gfx906>", "a name without a value"},
		{"<gfx906 x=\"></gfx906>", "a tag has no end"},
		{"<gfx906", "a tag has no end"},
		{"<gfx906>text</gfx906>", "text outside of tags"},
		{"<!-- ", "a comment has no end"},
		{"#include \"gone.xml\"\n", "cannot open /proc/self/fd/gone.xml"},
		{"A: 'x", "line 1: found unexpected end of stream"},
		{"A:\n  B", "a counter without architectures"},
		{"A:\n  architectures:\n    gfx906:\n      block: SQ\n",
		 "line 4: a definition's event"},
		{"A:\n  architectures:\n    gfx906:\n      x: SQ\n", "neither a block nor"},
		{"A: 'x'\n  B: 2\n", "line 2: did not find expected key"},
		{"  A: 1\nB: 2\n", "a counter without architectures"},
		{"A: [1, 2\n", "line 2: did not find expected ',' or ']'"},
		{"A: 'x' y\n", "did not find expected key"},
		{"- 1\n- 2\n", "no definitions"},
		{"", "no counters of gfx906"},
		{"rocprofiler-sdk: 1\n", "without counters"},
		{"rocprofiler-sdk:\n  counters:\n  - 1\n", "without name and definitions"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_null(try_load(cases[i].text, "gfx906", NULL));
		if (!strstr(message, cases[i].says))
			print_message("'%s': %s\n", cases[i].text, message);
		assert_non_null(strstr(message, cases[i].says));
	}
}

TEST(test_definitions__that_are_nested_without_end__are_refused)
{
	char text[4096];

	for (size_t i = 0; i < sizeof(text) - 1; i++)
		text[i] = i % 2 ? ' ' : '-';
	text[sizeof(text) - 1] = '\0';
	assert_null(try_load(text, "gfx906", NULL));
	assert_non_null(strstr(message, "no definitions"));
}

static struct counter_set *load_needed(const char *list, const char *names)
{
	char *needed = definitions_needed(list, names);
	const struct counter_options options = {.list = needed};
	struct counter_set *set = counter_set_load("gfx906", &options, message, sizeof(message));

	assert_null(strchr(needed, '\n'));
	free(needed);
	assert_non_null(set);
	return set;
}

/* What a program is handed: with what a metric needs, and no more. */
TEST(test_definitions__that_are_needed__are_enough)
{
	static const char *const names[] = {"Rate", "HITS[3],MISSES", "TCC:7"};
	static const size_t counts[] = {4, 2, 2};
	char path[] = "/tmp/rtl-metrics-XXXXXX", *list, *first, *rest, all[64];
	int fd = mkstemp(path);

	write_all(fd, v1);
	close(fd);
	list = definitions_list(path, message, sizeof(message));
	unlink(path);
	assert_non_null(list);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct counter_set *set = load_needed(list, names[i]);

		assert_int_equal(counter_set_count(set), counts[i]);
		assert_string_equal(counter_set_source(set), path);
		strcpy(all, names[i]);
		for (rest = all; (first = strsep(&rest, ","));) {
			struct metric *metric =
				metric_compile(set, first, message, sizeof(message));

			assert_non_null(metric);
			metric_destroy(metric);
		}
		counter_set_destroy(set);
	}
	free(list);
}

/* Without `rtl`, a program reads lists only. */
TEST(test_definitions__in_a_program__are_a_list)
{
	char path[] = "/tmp/rtl-metrics-XXXXXX";
	int fd = mkstemp(path);
	struct counter_set *set;

	setenv("RTL_COUNTERS_DEFINITIONS", path, 1);
	write_all(fd, sdk7);
	assert_null(counter_set_load("gfx906", NULL, message, sizeof(message)));
	assert_non_null(strstr(message, "is no list of counters: `rtl list-counters --compile`"));
	assert_int_equal(ftruncate(fd, 0), 0);
	lseek(fd, 0, SEEK_SET);
	write_all(fd, COUNTER_LIST_HEAD "\nsource|one\ngfx90a|A|SQ|1||\n"
					"source|two\ngfx9|A|SQ|2||\ngfx900/gfx906|A|SQ|3||\n"
					"source|three\ngfx906|A|SQ|4||\n");
	set = counter_set_load("gfx906", NULL, message, sizeof(message));
	assert_non_null(set);
	assert_string_equal(counter_set_source(set), "two");
	assert_int_equal(counter_set_count(set), 1);
	assert_int_equal(counter_find(set, "A")->event, 3);
	counter_set_destroy(set);
	unsetenv("RTL_COUNTERS_DEFINITIONS");
	close(fd);
	unlink(path);
}

/* Nothing installed and nothing named: each GPU of the table has all that its metrics need. */
TEST(test_definitions__of_rtl__are_whole)
{
	static const char *const gpus[] = {"gfx906", "gfx908", "gfx90a",
					   "gfx940", "gfx941", "gfx942"};
	static const char *const asked[] = {"SQ_WAVES",    "VALUInsts",       "VALUBusy",
					    "FETCH_SIZE",  "WRITE_SIZE",      "L2CacheHit",
					    "TCC_HIT_sum", "GRBM_GUI_ACTIVE", "LDSBankConflict"};

	for (size_t g = 0; g < sizeof(gpus) / sizeof(*gpus); g++) {
		struct counter_set *set = counter_set_load(gpus[g], NULL, message, sizeof(message));
		assert_non_null(set);
		for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++)
			assert_non_null(counter_find(set, asked[i]));
		for (size_t i = 0; i < counter_set_count(set); i++) {
			const struct counter_def *def = counter_set_at(set, i);
			struct metric *metric =
				metric_compile(set, def->name, message, sizeof(message));
			assert_non_null(metric);
			assert_true(*def->unit && *def->description);
			metric_destroy(metric);
		}
		counter_set_destroy(set);
	}
}

RUN_TESTS(NULL, NULL, forget_environment, NULL)
