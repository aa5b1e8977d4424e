/* SPDX-License-Identifier: MIT */
/* stub.h: two libraries with a stub, without rtl, with it, and where it comes late: scenarios of
 * test_stub_child.c. And what the linker sees of such libraries. */

#include "test_bus_run.h"
#include "unit.h"

#define WITH_LIBRTL "LD_LIBRARY_PATH=" LIBRTL_FOLDER
#define ALL         "streams=&detail=1"

/* Runs a scenario; it has to end well and silently. */
static struct run *run_scenario(const char *scenario, const char *probe, const char *env,
				const char *preload)
{
	struct run *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	r->scenario = scenario;
	r->probe = probe;
	r->env[0] = env;
	r->preload = preload;
	run_well(r);
	run_clean(r);
	return r;
}

static void arrived(const struct run *r, int signals, int marks)
{
	assert_int_equal(lines_with(r->out, "event t.stub_c 16 "), signals);
	assert_int_equal(lines_with(r->out, "event t.stub_cpp 16 "), signals);
	assert_int_equal(lines_with(r->out, "event rtl.default "), marks);
}

TEST(test_stub__without_rtl__does_nothing)
{
	free(run_scenario("absent", NULL, NULL, NULL));
	free(run_scenario("absent", NULL, WITH_LIBRTL, NULL)); /* there, but not asked for */
	free(run_scenario("absent", NULL, "RTL_SUBSCRIBERS=", NULL));
}

TEST(test_stub__subscribers_given__librtl_loaded_and_events_arrive)
{
	struct run *r = run_scenario("traced", ALL, WITH_LIBRTL, NULL);

	arrived(r, 100, 16);
	free(r);
}

TEST(test_stub__mark_first__librtl_loaded_and_events_arrive)
{
	struct run *r = run_scenario("marks_only", ALL, WITH_LIBRTL, NULL);

	arrived(r, 0, 16);
	free(r);
}

TEST(test_stub__several_threads_first__all_published)
{
	struct run *r = run_scenario("threads", ALL, WITH_LIBRTL, NULL);

	arrived(r, 8, 0);
	free(r);
}

TEST(test_stub__librtl_comes_late__works_from_the_next_look)
{
	struct run *r = run_scenario("late", NULL, "STUB_LIBRTL=" LIBRTL, NULL);

	arrived(r, 100, 16);
	free(r);
}

TEST(test_stub__asked_for_but_not_there__one_line)
{
	struct run *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	r->scenario = "missing";
	r->probe = ALL;
	r->env[0] = "LD_LIBRARY_PATH=";
	run(r);
	run_clean(r);
	assert_int_equal(r->status, 0);
	assert_int_equal(lines_with(r->err, ""), 1);
	assert_int_equal(lines_with(r->err, "RTL_SUBSCRIBERS is set, but librtl"), 1);
	free(r);
}

/* Used before librtl's own constructors have run. */
TEST(test_stub__preloaded_used_in_constructors__events_arrive)
{
	struct run *r;

	if (SANITIZED)
		skip(); /* the sanitizer wants to come first */
	r = run_scenario("constructors", ALL, "STUB_CONSTRUCTOR=1", LIBRTL);
	arrived(r, 20, 0);
	free(r);
}

/* ---- what the linker sees */

static int symbols_with(const char *command, const char *part)
{
	char line[4096];
	int n = 0, all = 0;
	FILE *out = popen(command, "r");

	assert_non_null(out);
	while (fgets(line, sizeof(line), out)) {
		n += strstr(line, part) != NULL;
		all++;
	}
	assert_int_equal(pclose(out), 0);
	assert_in_range(all, 5, 100000); /* it has said something */
	return n;
}

TEST(test_stub__linked__no_symbol_and_no_dependency)
{
	static const char *const libraries[] = {STUB_C, STUB_CPP};
	char command[1024];

	for (int i = 0; i < 2; i++) {
		snprintf(command, sizeof(command), "readelf -W --dyn-syms '%s'", libraries[i]);
		assert_int_equal(symbols_with(command, " rtl_"), 0);
		assert_int_not_equal(symbols_with(command, " stub_library_c"), 0);
		snprintf(command, sizeof(command), "readelf -W -d '%s'", libraries[i]);
		assert_int_equal(symbols_with(command, "librtl"), 0);
		assert_int_not_equal(symbols_with(command, "NEEDED"), 0);
	}
	snprintf(command, sizeof(command), "ldd '%s'", BUS_CHILD);
	assert_int_equal(symbols_with(command, "librtl"), 0);
	assert_int_equal(symbols_with(command, "libstub_test_c"), 2);
}

RUN_TESTS(NULL, NULL, NULL, NULL)
