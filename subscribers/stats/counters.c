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

static struct summary_counter *add(struct summary_counter **end, const char *kernel,
				   const char *name, const char *unit)
{
	struct summary_counter *counter = calloc(1, sizeof(*counter));

	if (!counter)
		return NULL;
	counter->kernel = kernel ? strdup(kernel) : NULL;
	counter->name = strdup(name);
	counter->unit = strdup(unit ? unit : "");
	if ((kernel && !counter->kernel) || !counter->name || !counter->unit) {
		counter_free(counter);
		return NULL;
	}
	while (*end)
		end = &(*end)->next;
	*end = counter;
	return counter;
}

int summary_add_counter(struct summary *summary, const char *kernel, const char *name,
			const char *unit, const struct summary_counted *counted)
{
	struct summary_counter *counter = add(&summary->counters, kernel, name, unit);

	if (!counter)
		return RTL_ENOMEM;
	counter->counted = *counted;
	return 0;
}

int summary_add_sampled(struct summary *summary, const char *name, const char *unit,
			const struct summary_sampled *sampled)
{
	struct summary_counter *counter = add(&summary->samples, NULL, name, unit);

	if (!counter)
		return RTL_ENOMEM;
	counter->sampled = *sampled;
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

static void forget(struct summary_counter **list)
{
	for (struct summary_counter *next, *c = *list; c; c = next) {
		next = c->next;
		counter_free(c);
	}
	*list = NULL;
}

void summary_forget_counters(struct summary *summary)
{
	summary->count_ledger = (struct summary_count_ledger){0};
	forget(&summary->counters);
	forget(&summary->samples);
}

/* ---- text ---- */

/* GPU or SUM: of intervals. */
enum { COUNTED, MEAN, LEAST, MOST, SUM, GPU, COUNTER, CELLS };

static const char *const headings[CELLS] = {"counted", "mean", "min",    "max",
					    "sum",     "GPU",  "counter"};

struct row {
	char cells[CELLS][96];
	const struct summary_counter *counter;
};

/* Counts in full, metrics in five digits. */
static void format_value(char *text, size_t size, double value)
{
	snprintf(text, size, value == floor(value) && fabs(value) < 1e12 ? "%.0f" : "%.5g", value);
}

/* Without a value in any of them there is nothing to be said but that. */
static void fill_values(struct row *row, uint64_t count, uint64_t of, const double values[4])
{
	snprintf(row->cells[COUNTED], sizeof(row->cells[0]),
		 count == of ? "%" PRIu64 : "%" PRIu64 " of %" PRIu64, count, of);
	for (int i = 0; i < 4; i++) {
		if (count)
			format_value(row->cells[MEAN + i], sizeof(row->cells[0]), values[i]);
		else
			strcpy(row->cells[MEAN + i], "-");
	}
	snprintf(row->cells[COUNTER], sizeof(row->cells[0]),
		 *row->counter->unit ? "%.60s [%.30s]" : "%.60s", row->counter->name,
		 row->counter->unit);
}

static void fill(struct row *row, const struct summary_counter *counter)
{
	const struct summary_counted *c = &counter->counted;
	const struct summary_sampled *s = &counter->sampled;

	row->counter = counter;
	if (counter->kernel) {
		fill_values(row, c->count, c->of, (const double[]){c->mean, c->min, c->max, 0});
		return;
	}
	fill_values(
		row, s->count, s->of,
		(const double[]){s->count ? s->sum / (double)s->count : 0, s->min, s->max, s->sum});
	if (s->is_metric)
		strcpy(row->cells[SUM], "-");
	snprintf(row->cells[GPU], sizeof(row->cells[0]), "%u", s->gpu);
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

static size_t print_headings(FILE *file, const struct row *rows, size_t count, bool of_kernels,
			     size_t widths[CELLS])
{
	size_t used = 2;

	for (int cell = 0; cell < CELLS; cell++) {
		widths[cell] = strlen(headings[cell]);
		if (of_kernels && (cell == SUM || cell == GPU))
			continue;
		for (size_t i = 0; i < count; i++)
			if (strlen(rows[i].cells[cell]) > widths[cell])
				widths[cell] = strlen(rows[i].cells[cell]);
		used += widths[cell] + 2;
		if (cell == COUNTER && !of_kernels)
			fputs(headings[cell], file);
		else
			fprintf(file, "%*s  ",
				cell == COUNTER ? -(int)widths[cell] : (int)widths[cell],
				headings[cell]);
	}
	fputs(of_kernels ? "kernel\n" : "\n", file);
	return used;
}

static void print_rows(FILE *file, const struct row *rows, size_t count, unsigned columns)
{
	const bool of_kernels = rows->counter->kernel;
	size_t widths[CELLS];
	const size_t used = print_headings(file, rows, count, of_kernels, widths);

	for (size_t i = 0; i < count; i++) {
		for (int cell = 0; cell < COUNTER; cell++)
			if (!of_kernels || (cell != SUM && cell != GPU))
				fprintf(file, "%*s  ", (int)widths[cell], rows[i].cells[cell]);
		if (of_kernels) {
			fprintf(file, "%-*s  ", (int)widths[COUNTER], rows[i].cells[COUNTER]);
			summary_print_name(
				file, rows[i].counter->kernel,
				columns > used + NAME_COLUMNS ? columns - used : NAME_COLUMNS, 0);
		} else {
			fputs(rows[i].cells[COUNTER], file);
		}
		fputc('\n', file);
	}
}

/* As many as that of a list. */
static void print_table(FILE *file, const char *title, const struct summary_counter *list,
			size_t count, unsigned columns)
{
	struct row *rows = calloc(count + 1, sizeof(*rows));

	if (rows && count) {
		for (size_t i = 0; i < count; i++, list = list->next)
			fill(&rows[i], list);
		fputs(title, file);
		print_rows(file, rows, count, columns);
		if (list)
			fputs("(more kernels: --top 0)\n", file);
	}
	free(rows);
}

void summary_print_counters(FILE *file, const struct summary *summary, unsigned columns,
			    unsigned top)
{
	size_t samples = 0;

	for (const struct summary_counter *s = summary->samples; s; s = s->next)
		samples++;
	print_table(
		file,
		"\nHardware counters, for each dispatch; GPUs ran one at a time, so times above "
		"are those of such a run\n",
		summary->counters, count_rows(summary, top), columns);
	print_table(file, "\nHardware counters of GPUs, in intervals\n", summary->samples, samples,
		    columns);
	print_ledger(file, &summary->count_ledger);
}

/* ---- for programs ---- */

static void print_values_json(struct json *json, const struct summary_counter *c, uint64_t count,
			      double mean, double min, double max)
{
	if (*c->unit)
		json_text(json, "unit", c->unit);
	if (!count)
		return;
	json_real(json, "mean", mean, 6);
	json_real(json, "min", min, 6);
	json_real(json, "max", max, 6);
}

static void print_counted_json(struct json *json, const struct summary_counter *c)
{
	const struct summary_counted *counted = &c->counted;

	json_object(json, NULL);
	json_text(json, "kernel", c->kernel);
	json_text(json, "counter", c->name);
	json_number(json, "counted", counted->count);
	json_number(json, "dispatches", counted->of);
	print_values_json(json, c, counted->count, counted->mean, counted->min, counted->max);
	json_end(json);
}

static void print_sampled_json(struct json *json, const struct summary_counter *c)
{
	const struct summary_sampled *s = &c->sampled;

	json_object(json, NULL);
	json_number(json, "gpu", s->gpu);
	json_text(json, "counter", c->name);
	json_number(json, "counted", s->count);
	json_number(json, "intervals", s->of);
	print_values_json(json, c, s->count, s->count ? s->sum / (double)s->count : 0, s->min,
			  s->max);
	if (s->count && !s->is_metric)
		json_real(json, "sum", s->sum, 6);
	json_end(json);
}

void summary_print_counters_json(struct json *json, const struct summary *summary)
{
	const struct summary_count_ledger *ledger = &summary->count_ledger;

	json_array(json, "counters");
	for (const struct summary_counter *c = summary->counters; c; c = c->next)
		print_counted_json(json, c);
	json_end(json);
	json_array(json, "counter_intervals");
	for (const struct summary_counter *c = summary->samples; c; c = c->next)
		print_sampled_json(json, c);
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

/* Behind the columns of sections. */
static void print_csv(FILE *file, const char *table, const char *name,
		      const struct summary_counter *c, uint64_t count, uint64_t of,
		      const double values[3])
{
	summary_print_csv_cell(file, table);
	fputs("\"rtl.hsa.counter\",\"counter\",", file);
	summary_print_csv_cell(file, name);
	fprintf(file, "%" PRIu64 ",,,,,,,,,,,", count);
	summary_print_csv_cell(file, c->name);
	summary_print_csv_cell(file, c->unit);
	fprintf(file, "%" PRIu64, of);
	for (int i = 0; i < 3; i++)
		fprintf(file, count ? ",%.15g" : ",", values[i]);
	fputc('\n', file);
}

void summary_print_counters_csv(FILE *file, const struct summary *summary, unsigned top)
{
	const struct summary_counter *c = summary->counters;
	char gpu[32];

	for (size_t i = count_rows(summary, top); i; i--, c = c->next)
		print_csv(file, "Hardware counters", c->kernel, c, c->counted.count, c->counted.of,
			  (const double[]){c->counted.mean, c->counted.min, c->counted.max});
	for (c = summary->samples; c; c = c->next) {
		const struct summary_sampled *s = &c->sampled;

		snprintf(gpu, sizeof(gpu), "GPU %u", s->gpu);
		print_csv(
			file, "Hardware counters, in intervals", gpu, c, s->count, s->of,
			(const double[]){s->count ? s->sum / (double)s->count : 0, s->min, s->max});
	}
}
