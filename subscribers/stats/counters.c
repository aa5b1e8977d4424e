/* SPDX-License-Identifier: MIT */
/* See summary.h: hardware counters by kernel. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "model.h"

#define NAME_COLUMNS 20u

static void counter_free(struct summary_counter *counter)
{
	free(counter->kernel);
	free(counter->name);
	free(counter->unit);
	free(counter);
}

int summary_add_counter(struct summary *summary, const char *kernel, const char *name,
			const char *unit, const struct summary_counted *counted)
{
	struct summary_counter **end = &summary->counters, *counter = calloc(1, sizeof(*counter));

	if (!counter)
		return RTL_ENOMEM;
	counter->kernel = strdup(kernel);
	counter->name = strdup(name);
	counter->unit = strdup(unit ? unit : "");
	counter->counted = *counted;
	if (!counter->kernel || !counter->name || !counter->unit) {
		counter_free(counter);
		return RTL_ENOMEM;
	}
	while (*end)
		end = &(*end)->next;
	*end = counter;
	return 0;
}

void summary_add_count_ledger(struct summary *summary, const struct summary_count_ledger *ledger)
{
	struct summary_count_ledger *sum = &summary->count_ledger;

	sum->dispatches += ledger->dispatches;
	sum->counted += ledger->counted;
	sum->not_asked += ledger->not_asked;
	sum->given_up += ledger->given_up;
	sum->refused += ledger->refused;
}

void summary_forget_counters(struct summary *summary)
{
	summary->count_ledger = (struct summary_count_ledger){0};
	for (struct summary_counter *next, *c = summary->counters; c; c = next) {
		next = c->next;
		counter_free(c);
	}
	summary->counters = NULL;
}

enum { COUNTED, MEAN, LEAST, MOST, COUNTER, CELLS };

static const char *const headings[CELLS] = {"counted", "mean", "min", "max", "counter"};

struct row {
	char cells[CELLS][96];
	const struct summary_counter *counter;
};

/* Counts in full, metrics in five digits. */
static void format_value(char *text, size_t size, double value)
{
	snprintf(text, size, value == floor(value) && fabs(value) < 1e12 ? "%.0f" : "%.5g", value);
}

static void fill(struct row *row, const struct summary_counter *counter)
{
	const struct summary_counted *c = &counter->counted;
	const double values[] = {c->mean, c->min, c->max};

	row->counter = counter;
	snprintf(row->cells[COUNTED], sizeof(row->cells[0]),
		 c->count == c->of ? "%" PRIu64 : "%" PRIu64 " of %" PRIu64, c->count, c->of);
	for (int i = 0; i < 3; i++)
		format_value(row->cells[MEAN + i], sizeof(row->cells[0]), values[i]);
	snprintf(row->cells[COUNTER], sizeof(row->cells[0]),
		 *counter->unit ? "%.60s [%.30s]" : "%.60s", counter->name, counter->unit);
}

static bool is_same_kernel(const struct summary_counter *a, const struct summary_counter *b)
{
	return a && b && !strcmp(a->kernel, b->kernel);
}

/* Rows of the first kernels, as many as may be shown. */
static size_t count_rows(const struct summary *summary, unsigned kernels)
{
	const struct summary_counter *before = NULL;
	unsigned seen = 0;
	size_t count = 0;

	for (const struct summary_counter *c = summary->counters; c; before = c, c = c->next) {
		seen += !is_same_kernel(before, c);
		if (kernels && seen > kernels)
			break;
		count++;
	}
	return count;
}

/* A process that was killed has told it a second before; the stream's losses then say what is missing. */
static bool is_whole(const struct summary_count_ledger *ledger)
{
	return ledger->dispatches && ledger->dispatches == ledger->counted + ledger->not_asked +
								   ledger->given_up +
								   ledger->refused;
}

static void print_ledger(FILE *file, const struct summary_count_ledger *ledger)
{
	const struct {
		uint64_t count;
		const char *what;
	} rest[] = {
		{ledger->not_asked, "of kernels that were not asked for"},
		{ledger->given_up, "given up"},
		{ledger->refused, "refused"},
	};

	if (!is_whole(ledger) || ledger->counted == ledger->dispatches)
		return;
	fprintf(file,
		"\nHardware counters were collected for %" PRIu64 " of %" PRIu64 " dispatches",
		ledger->counted, ledger->dispatches);
	for (size_t i = 0; i < sizeof(rest) / sizeof(*rest); i++)
		if (rest[i].count)
			fprintf(file, ", %" PRIu64 " %s", rest[i].count, rest[i].what);
	fputc('\n', file);
}

static void print_table(FILE *file, const struct summary *summary, unsigned columns, unsigned top)
{
	const size_t count = count_rows(summary, top);
	struct row *rows = calloc(count + 1, sizeof(*rows));
	const struct summary_counter *counter = summary->counters;
	size_t widths[CELLS], used = 2;

	if (!rows || !count) {
		free(rows);
		return;
	}
	for (size_t i = 0; i < count; i++, counter = counter->next)
		fill(&rows[i], counter);
	fputs("\nHardware counters, for each dispatch; GPUs ran one at a time, so times above are "
	      "those of "
	      "such a run\n",
	      file);
	for (int cell = 0; cell < CELLS; cell++) {
		widths[cell] = strlen(headings[cell]);
		for (size_t i = 0; i < count; i++)
			if (strlen(rows[i].cells[cell]) > widths[cell])
				widths[cell] = strlen(rows[i].cells[cell]);
		used += widths[cell] + 2;
		fprintf(file, cell == COUNTER ? "%-*s  " : "%*s  ", (int)widths[cell],
			headings[cell]);
	}
	fputs("kernel\n", file);
	for (size_t i = 0; i < count; i++) {
		for (int cell = 0; cell < CELLS; cell++)
			fprintf(file, cell == COUNTER ? "%-*s  " : "%*s  ", (int)widths[cell],
				rows[i].cells[cell]);
		summary_print_name(file, rows[i].counter->kernel,
				   columns > used + NAME_COLUMNS ? columns - used : NAME_COLUMNS,
				   0);
		fputc('\n', file);
	}
	if (counter)
		fputs("(more kernels: --top 0)\n", file);
	free(rows);
}

void summary_print_counters(FILE *file, const struct summary *summary, unsigned columns,
			    unsigned top)
{
	print_table(file, summary, columns, top);
	print_ledger(file, &summary->count_ledger);
}

void summary_print_counters_json(struct json *json, const struct summary *summary)
{
	const struct summary_count_ledger *ledger = &summary->count_ledger;

	json_array(json, "counters");
	for (const struct summary_counter *c = summary->counters; c; c = c->next) {
		json_object(json, NULL);
		json_text(json, "kernel", c->kernel);
		json_text(json, "counter", c->name);
		if (*c->unit)
			json_text(json, "unit", c->unit);
		json_number(json, "counted", c->counted.count);
		json_number(json, "dispatches", c->counted.of);
		json_real(json, "mean", c->counted.mean, 6);
		json_real(json, "min", c->counted.min, 6);
		json_real(json, "max", c->counted.max, 6);
		json_end(json);
	}
	json_end(json);
	if (!is_whole(ledger))
		return;
	json_object(json, "counter_ledger");
	json_number(json, "dispatches", ledger->dispatches);
	json_number(json, "counted", ledger->counted);
	json_number(json, "not_asked", ledger->not_asked);
	json_number(json, "given_up", ledger->given_up);
	json_number(json, "refused", ledger->refused);
	json_end(json);
}
