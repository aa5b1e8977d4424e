/* SPDX-License-Identifier: MIT */
/* rtl selftest: the report, for people and for programs. */
#include <string.h>

#include "cli.h"
#include "json.h"
#include "selftest.h"

static const char *const levels[] = {"agrees", "note", "not run", "DIFFERS"};
static const char *const json_levels[] = {"agrees", "note", "not_run", "differs"};
static const char *const paces[] = {"alone", "standard", "hip"};

/* What was measured: how many. */
static size_t measured(const struct selftest *test, enum selftest_pace which, double *values)
{
	size_t count = 0;

	for (size_t i = 0; i < SELFTEST_OVERHEAD_RUNS; i++)
		if (test->pace[which][i] > 0)
			values[count++] = test->pace[which][i];
	return count;
}

/* The median; 0: nothing was measured. */
static double pace(const struct selftest *test, enum selftest_pace which)
{
	double values[SELFTEST_OVERHEAD_RUNS];

	return selftest_median(values, measured(test, which, values));
}

/* Of runs that followed each other: what slows a machine for a while slows both. */
static double ratio(const struct selftest *test, enum selftest_pace which)
{
	double values[SELFTEST_OVERHEAD_RUNS];
	size_t count = 0;

	for (size_t i = 0; i < SELFTEST_OVERHEAD_RUNS; i++)
		if (test->pace[which][i] > 0 && test->pace[SELFTEST_ALONE][i] > 0)
			values[count++] = test->pace[which][i] / test->pace[SELFTEST_ALONE][i];
	return selftest_median(values, count);
}

/* ---- text ---- */

static void print_pace(const struct selftest *test, enum selftest_pace which)
{
	double values[SELFTEST_OVERHEAD_RUNS];
	size_t count = measured(test, which, values);

	if (!count)
		return;
	const double middle = selftest_median(values, count); /* sorts them */
	cli_line("  %-8s %8.0f ns a launch (%.0f to %.0f), %.2f times as long", paces[which],
		 middle, values[0], values[count - 1], ratio(test, which));
}

static void print_text(const struct selftest *test)
{
	const char *workload = "";

	cli_line("machine");
	for (size_t i = 0; i < test->fact_count; i++)
		cli_line("  %-13s %s", test->facts[i].name, test->facts[i].text);
	for (size_t i = 0; i < test->finding_count; i++) {
		const struct selftest_finding *f = &test->findings[i];

		if (strcmp(workload, f->workload))
			cli_line("%s", f->workload);
		workload = f->workload;
		cli_line("  %-8s %s", levels[f->level], f->text);
	}
	if (pace(test, SELFTEST_ALONE) > 0)
		cli_line("overhead, of a loop that only launches small kernels");
	for (int i = 0; i < SELFTEST_PACES; i++)
		print_pace(test, i);
	cli_line("%zu agree, %zu differ%s, %zu could not be run",
		 selftest_count(test, SELFTEST_AGREES), selftest_count(test, SELFTEST_DIFFERS),
		 selftest_count(test, SELFTEST_DIFFERS) == 1 ? "s" : "",
		 selftest_count(test, SELFTEST_IMPOSSIBLE));
}

/* ---- JSON ---- */

static void print_overhead(struct json *json, const struct selftest *test)
{
	json_object(json, "overhead");
	for (int i = 0; i < SELFTEST_PACES; i++) {
		json_object(json, paces[i]);
		json_real(json, "ns_a_launch", pace(test, i), 1);
		json_real(json, "ratio", ratio(test, i), 3);
		json_array(json, "runs_ns");
		for (size_t j = 0; j < SELFTEST_OVERHEAD_RUNS; j++)
			json_real(json, NULL, test->pace[i][j], 1);
		json_end(json);
		json_end(json);
	}
	json_end(json);
}

static void print_machine(struct json *json, const struct selftest *test)
{
	json_object(json, "machine");
	for (size_t i = 0; i < test->fact_count; i++)
		if (strcmp(test->facts[i].name, SELFTEST_GPU) != 0)
			json_text(json, test->facts[i].name, test->facts[i].text);
	json_array(json, "gpus");
	for (size_t i = 0; i < test->fact_count; i++)
		if (!strcmp(test->facts[i].name, SELFTEST_GPU))
			json_text(json, NULL, test->facts[i].text);
	json_end(json);
	json_end(json);
}

static void print_json(const struct selftest *test)
{
	struct json json = {.file = stdout};

	json_object(&json, NULL);
	print_machine(&json, test);
	json_number(&json, "agree", selftest_count(test, SELFTEST_AGREES));
	json_number(&json, "differ", selftest_count(test, SELFTEST_DIFFERS));
	json_number(&json, "not_run", selftest_count(test, SELFTEST_IMPOSSIBLE));
	json_array(&json, "checks");
	for (size_t i = 0; i < test->finding_count; i++) {
		const struct selftest_finding *f = &test->findings[i];

		json_object(&json, NULL);
		json_text(&json, "workload", f->workload);
		json_text(&json, "check", f->check);
		json_text(&json, "level", json_levels[f->level]);
		json_text(&json, "text", f->text);
		json_end(&json);
	}
	json_end(&json);
	if (pace(test, SELFTEST_ALONE) > 0)
		print_overhead(&json, test);
	json_end(&json);
}

void selftest_print(const struct selftest *test)
{
	if (test->as_json)
		print_json(test);
	else
		print_text(test);
}
