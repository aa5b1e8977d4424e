/* SPDX-License-Identifier: MIT */
/* See summary.h: hardware counters by kernel. */
#include <math.h>

#include "json.h"
#include "model.h"

/* ---- text ---- */

/* GPU or SUM: of intervals. */
enum { COUNTED, MEAN, LEAST, MOST, SUM, GPU, COUNTER };

static double mean_of(const struct summary_counter *c)
{
	return c->count ? c->sum / (double)c->count : 0;
}

/* Without a value in any of them there is nothing to be said but that. */
static void fill(struct summary_row *row, const struct summary_counter *c)
{
	const double values[] = {mean_of(c), c->min, c->max, c->sum};

	summary_set(row->cells[COUNTED], c->count == c->of ? "%" PRIu64 : "%" PRIu64 " of %" PRIu64,
		    c->count, c->of);
	for (int i = 0; i < (c->kernel ? 3 : 4); i++) {
		const bool is_whole = values[i] == floor(values[i]) && fabs(values[i]) < 1e12;

		/* counts in full, metrics in five digits */
		if (c->count && !(MEAN + i == SUM && c->is_metric))
			summary_set(row->cells[MEAN + i], is_whole ? "%.0f" : "%.5g", values[i]);
		else
			strcpy(row->cells[MEAN + i], "-");
	}
	if (!c->kernel)
		summary_set(row->cells[GPU], "%u", c->gpu);
	summary_set(row->cells[COUNTER], *c->unit ? "%.60s [%.30s]" : "%.60s", c->name, c->unit);
	row->name = c->kernel;
}

/* Rows of the first kernels, as many as may be shown. */
static size_t count_rows(const struct summary *summary, unsigned kernels)
{
	const char *before = "";
	unsigned seen = 0;
	size_t count = 0;

	for (const struct summary_counter *c = summary->counters; c && c->kernel; c = c->next) {
		seen += !count || strcmp(before, c->kernel) != 0;
		if (kernels && seen > kernels)
			break;
		before = c->kernel;
		count++;
	}
	return count;
}

/* A process that was killed has told it a second before; the stream's losses then say what is missing. */
static bool is_whole(const struct rtl_hsa_counter_ledger *ledger)
{
	return ledger->dispatches && ledger->dispatches == ledger->counted + ledger->not_asked +
								   ledger->given_up +
								   ledger->refused;
}

static void print_ledger(FILE *file, const struct rtl_hsa_counter_ledger *ledger)
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

/* The first ones of a list. */
static void print_table(FILE *file, const char *title, const struct summary_counter *list,
			size_t count, unsigned columns)
{
	const struct summary_table table = {.columns = columns, .left = 1 << COUNTER};
	struct summary_row *rows = calloc(count + 1, sizeof(*rows));

	if (rows && count) {
		rows[0] = (struct summary_row){
			{"counted", "mean", "min", "max", "sum", "GPU", "counter"},
			list->kernel ? "kernel" : NULL};
		for (size_t i = 0; i < count; i++, list = list->next)
			fill(&rows[i + 1], list);
		fputs(title, file);
		summary_print_table(file, rows, count + 1, &table);
		if (list && list->kernel)
			fputs("(more kernels: --top 0)\n", file);
	}
	free(rows);
}

static const struct summary_counter *samples_of(const struct summary *summary)
{
	const struct summary_counter *c = summary->counters;

	while (c && c->kernel)
		c = c->next;
	return c;
}

void summary_print_counters(FILE *file, const struct summary *summary, unsigned columns,
			    unsigned top)
{
	static const char title[] =
		"\nHardware counters, for each dispatch; GPUs ran one at a time, "
		"so times above are those of such a run\n";
	size_t samples = 0;

	for (const struct summary_counter *s = samples_of(summary); s; s = s->next)
		samples++;
	print_table(file, title, summary->counters, count_rows(summary, top), columns);
	print_table(file, "\nHardware counters of GPUs, in intervals\n", samples_of(summary),
		    samples, columns);
	print_ledger(file, &summary->count_ledger);
}

/* ---- for programs ---- */

static void print_counter_json(struct json *json, const struct summary_counter *c)
{
	if (c->kernel)
		json_print(json, "{kernel:%s", c->kernel);
	else
		json_print(json, "{gpu:%u", c->gpu);
	json_print(json, "counter:%s counted:%lu", c->name, c->count);
	json_number(json, c->kernel ? "dispatches" : "intervals", c->of);
	json_print(json, "?unit:%s", *c->unit ? c->unit : NULL);
	if (c->count)
		json_print(json, "mean:%.6f min:%.6f max:%.6f", mean_of(c), c->min, c->max);
	if (c->count && !c->kernel && !c->is_metric)
		json_print(json, "sum:%.6f", c->sum);
	json_end(json);
}

void summary_print_counters_json(struct json *json, const struct summary *summary, unsigned top)
{
	const struct rtl_hsa_counter_ledger *ledger = &summary->count_ledger;
	const struct summary_counter *counter = summary->counters;

	json_array(json, "counters");
	for (size_t i = count_rows(summary, top); i; i--, counter = counter->next)
		print_counter_json(json, counter);
	json_print(json, "] counter_intervals:[");
	for (const struct summary_counter *c = samples_of(summary); c; c = c->next)
		print_counter_json(json, c);
	json_end(json);
	if (is_whole(ledger))
		json_print(json,
			   "counter_ledger:{dispatches:%lu counted:%lu not_asked:%lu given_up:%lu"
			   " refused:%lu}",
			   ledger->dispatches, ledger->counted, ledger->not_asked, ledger->given_up,
			   ledger->refused);
}
