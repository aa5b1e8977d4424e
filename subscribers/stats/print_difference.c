/* SPDX-License-Identifier: MIT */
/* See summary.h: what has changed between two runs. */
#include <math.h>

#include "json.h"
#include "model.h"

/* How often chance may make a row look different, of all rows that are compared together. */
#define CHANCE 0.001
/* Of one run of each side: a kernel must have run so often, and its mean be so many times the other. */
#define OFTEN   8
#define CLEARLY 2.0

enum verdict { SAME, SLOWER, FASTER, MORE, FEWER, UNSURE, NEW, GONE };

static const char *const verdicts[] = {
	[SAME] = "same",   [SLOWER] = "slower", [FASTER] = "faster", [MORE] = "more",
	[FEWER] = "fewer", [UNSURE] = "unsure", [NEW] = "new",       [GONE] = "gone",
};

/* One name, before and after; of either, one may have counted nothing. */
struct change {
	const struct summary_group *is[2];
	double mean_ns[2];
	double of_mean, of_median; /* 0.08: 8 % more */
	double margin;             /* of of_mean, with a confidence of 95 %; negative: not known */
	int64_t total_ns;          /* more than before, of a run */
	double confidence;         /* that the mean's is no chance; 0: there are too few to tell */
	enum verdict verdict;
};

struct changes {
	const struct summary_difference *how;
	const struct summary_section *section;
	struct change *rows;        /* the summary's */
	size_t count, same, of_all; /* of_all: rows of all sections that are compared */
	int slower;                 /* by more than what is asked for */
	uint64_t total_ns[2];       /* of a run */
};

static uint64_t things(const struct summary_group *group)
{
	return group->count + group->untimed;
}

static double growth(double before, double after)
{
	return before > 0 ? after / before - 1 : 0;
}

/* ---- samples */

/* Of a row in the runs of a side: logarithms, as what varies does so by factors. */
struct sample {
	size_t count;
	double mean, squares;
};

static double mean_of(const struct summary_group *group)
{
	return (double)group->total_ns / (double)group->count;
}

static double log_mean(const struct summary_group *group)
{
	return log(mean_of(group));
}

static double log_things(const struct summary_group *group)
{
	return log1p((double)things(group));
}

static struct sample sample_side(const struct changes *changes, int side, const char *name,
				 double (*value_of)(const struct summary_group *))
{
	const struct summary_section *section = changes->section;
	struct sample sample = {0};

	for (size_t i = 0; i < changes->how->count[side]; i++) {
		struct summary_section *of =
			summary_section(changes->how->runs[side][i], section->stream, section->kind,
					section->title);
		const struct summary_group *group = of ? summary_group(of, name) : NULL;
		const double value = group ? value_of(group) : 0, before = sample.mean;

		if (!isfinite(value)) /* there are no times */
			continue;
		sample.mean += (value - before) / (double)++sample.count;
		sample.squares += (value - before) * (value - sample.mean);
	}
	return sample;
}

/* How often Student's t lies within -t and t: its density, integrated (Simpson's rule). */
static double student(double t, double freedom)
{
	const double scale = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) /
			     sqrt(freedom * 3.14159265358979323846);
	const int steps = 2000;
	/* evenly in the angle, so that its tails are reached */
	const double end = atan(t / sqrt(freedom)), width = end / steps;
	double sum = 0;

	for (int i = 0; i <= steps; i++)
		sum += (i % steps ? 2 + i % 2 * 2 : 1) * pow(cos(i * width), freedom - 1);
	return 2 * scale * sqrt(freedom) * sum * width / 3;
}

/* Student's t-test, for which the runs of both sides vary alike. How certain it is that these differ; 0: not known. */
static double compare_samples(const struct sample *a, const struct sample *b, double *error,
			      double *freedom)
{
	const double difference = fabs(b->mean - a->mean);

	*freedom = (double)(a->count + b->count) - 2;
	if (!a->count || !b->count || *freedom < 1)
		return 0;
	*error = sqrt((a->squares + b->squares) / *freedom *
		      (1 / (double)a->count + 1 / (double)b->count));
	return *error > 0 ? student(difference / *error, *freedom) : difference > 0;
}

static void compare_means(const struct changes *changes, struct change *change)
{
	const struct sample a = sample_side(changes, 0, change->is[0]->name, log_mean);
	const struct sample b = sample_side(changes, 1, change->is[0]->name, log_mean);
	double error = -1, freedom, low = 0, high = 1000;

	change->confidence = compare_samples(&a, &b, &error, &freedom);
	change->mean_ns[0] = a.count ? exp(a.mean) : 0;
	change->mean_ns[1] = b.count ? exp(b.mean) : 0;
	change->of_mean = growth(change->mean_ns[0], change->mean_ns[1]);
	change->margin = error;
	for (int i = 0; i < 40 && error > 0; i++) {
		const double middle = (low + high) / 2;

		*(student(middle, freedom) < 0.95 ? &low : &high) = middle;
	}
	if (error > 0)
		change->margin = high * error * (1 + change->of_mean);
}

/* ---- rows */

/* Nobody knows how much runs vary of which there is one. A kernel is different if its times in both are further apart
 * than those of one. */
static bool is_apart(const struct changes *changes, const struct change *change)
{
	const struct summary_group *fast = change->is[change->of_mean < 0];
	const struct summary_group *slow = change->is[change->of_mean >= 0];
	const double apart = (double)slow->min_ns - (double)fast->max_ns;

	return !strcmp(changes->section->kind, "task") && fast->count >= OFTEN &&
	       slow->count >= OFTEN && mean_of(slow) >= CLEARLY * mean_of(fast) &&
	       apart > (double)(slow->max_ns - slow->min_ns) &&
	       apart > (double)(fast->max_ns - fast->min_ns);
}

static enum verdict judge(const struct changes *changes, const struct change *change)
{
	const struct summary_difference *how = changes->how;
	const struct sample a = sample_side(changes, 0, change->is[0]->name, log_things);
	const struct sample b = sample_side(changes, 1, change->is[0]->name, log_things);
	const double sure = 1 - CHANCE / (double)changes->of_all;
	const bool is_known = how->count[0] + how->count[1] > 2; /* how much runs vary */
	double error, freedom;

	if (fabs(change->of_mean) >= how->least &&
	    (is_known ? change->confidence >= sure : is_apart(changes, change)))
		return change->of_mean > 0 ? SLOWER : FASTER;
	if (is_known ? compare_samples(&a, &b, &error, &freedom) >= sure
		     : things(change->is[0]) != things(change->is[1]))
		return a.mean <= 0 ? NEW : b.mean <= 0 ? GONE : b.mean > a.mean ? MORE : FEWER;
	return fabs(change->of_mean) >= how->least || a.mean <= 0 || b.mean <= 0 ? UNSURE : SAME;
}

static void compare(const struct changes *changes, struct change *change)
{
	uint64_t median_ns[2], total_ns[2];

	for (int i = 0; i < 2; i++) {
		const struct summary_group *group = change->is[i];

		median_ns[i] = group->count ? summary_group_quantile(group, 0.5) : 0;
		total_ns[i] = group->total_ns / changes->how->count[i];
	}
	change->total_ns = (int64_t)(total_ns[1] - total_ns[0]);
	change->of_median = growth((double)median_ns[0], (double)median_ns[1]);
	compare_means(changes, change);
	change->verdict = judge(changes, change);
}

/* What is the same last; else those by which the total changed most first. */
static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	const int64_t of_x = llabs(x->total_ns), of_y = llabs(y->total_ns);

	if ((x->verdict == SAME) != (y->verdict == SAME))
		return x->verdict == SAME ? 1 : -1;
	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	return strcmp(x->is[0]->name, y->is[0]->name);
}

/* 0, or -1. */
static int find_changes(struct summary_section *const sections[2], struct changes *changes)
{
	struct summary_section *const a = sections[0], *const b = sections[1];

	changes->rows = summary_alloc(a->summary, (a->groups.count + 1) * sizeof(*changes->rows));
	for (size_t i = 0; changes->rows && i < a->groups.capacity; i++) {
		const struct summary_group *before = section_group_at(a, i);
		struct change *row = &changes->rows[changes->count];

		if (!before)
			continue;
		*row = (struct change){.is = {before, summary_group(b, before->name)}};
		if (!row->is[1])
			return -1;
		if (!(things(before) + things(row->is[1]))) /* none had ended */
			continue;
		compare(changes, row);
		changes->count++;
		changes->same += row->verdict == SAME;
		changes->slower += changes->how->fail >= 0 && row->verdict == SLOWER &&
				   row->of_mean > changes->how->fail;
		for (int k = 0; k < 2; k++)
			changes->total_ns[k] += row->is[k]->total_ns;
	}
	if (!changes->rows)
		return -1;
	for (int k = 0; k < 2; k++)
		changes->total_ns[k] /= changes->how->count[k];
	qsort(changes->rows, changes->count, sizeof(*changes->rows), compare_changes);
	return 0;
}

/* ---- text ---- */

enum { TOTAL, DELTA, COUNT, MEAN, MEDIAN, SURENESS, VERDICT };

static void fill_row(const struct changes *changes, struct summary_row *row,
		     const struct change *change)
{
	const bool both = change->is[0]->count && change->is[1]->count;
	const size_t *runs = changes->how->count;
	const uint64_t counts[] = {things(change->is[0]) / runs[0],
				   things(change->is[1]) / runs[1]};
	char duration[SUMMARY_DURATION_SIZE];

	summary_set_ns(row->cells[TOTAL], change->is[1]->total_ns / runs[1], 4);
	summary_set(row->cells[DELTA], "%c%s", change->total_ns < 0 ? '-' : '+',
		    summary_duration(duration, (uint64_t)llabs(change->total_ns)));
	if (counts[0] == counts[1])
		summary_set(row->cells[COUNT], "%" PRIu64, counts[1]);
	else
		summary_set(row->cells[COUNT], "%" PRIu64 " -> %" PRIu64, counts[0], counts[1]);
	if (both) {
		summary_set(row->cells[MEAN], change->margin >= 0 ? "%+.1f +-%.1f%%" : "%+.1f%%",
			    change->of_mean * 100, change->margin * 100);
		summary_set(row->cells[MEDIAN], "%+.1f%%", change->of_median * 100);
		/* Rounded down: never 100 %. */
		if (change->confidence > 0)
			summary_set(row->cells[SURENESS], "%.1f%%",
				    fmin(floor(change->confidence * 1000) / 10, 99.9));
	}
	row->name = change->is[0]->name;
	summary_set(row->cells[VERDICT], "%s", verdicts[change->verdict]);
}

static void print_rows(FILE *file, const struct changes *changes)
{
	const size_t changed = changes->count - changes->same, top = changes->how->top;
	const size_t shown = top && top < changed ? top : changed;
	struct summary_row *rows = calloc(shown + 1, sizeof(*rows));

	if (!rows)
		return;
	rows[0] = (struct summary_row){{"total", "change", "count", "mean", "median", "sure"},
				       summary_name_heading(changes->section)};
	for (size_t i = 0; i < shown; i++)
		fill_row(changes, &rows[i + 1], &changes->rows[i]);
	if (shown)
		summary_print_table(file, rows, shown + 1,
				    &(struct summary_table){.columns = summary_line_width(
								    file, changes->how->columns)});
	if (shown < changed)
		fprintf(file, "(%zu more)\n", changed - shown);
	if (changes->same)
		fprintf(file, "same: %zu of %zu\n", changes->same, changes->count);
	free(rows);
}

static void print_text(FILE *file, const struct changes *changes)
{
	char before[SUMMARY_DURATION_SIZE], after[SUMMARY_DURATION_SIZE];

	if (!changes->count)
		return;
	fprintf(file, "\n%s: %s -> %s", changes->section->title,
		summary_duration(before, changes->total_ns[0]),
		summary_duration(after, changes->total_ns[1]));
	if (changes->total_ns[0])
		fprintf(file, " (%+.1f%%)",
			growth((double)changes->total_ns[0], (double)changes->total_ns[1]) * 100);
	fputc('\n', file);
	print_rows(file, changes);
}

/* ---- JSON ---- */

static void print_json_row(struct json *json, const struct changes *changes,
			   const struct change *change)
{
	const struct summary_group *before = change->is[0], *after = change->is[1];
	const size_t *runs = changes->how->count;

	json_print(json, "{name:%s count:[%lu %lu] total_ns:[%lu %lu] mean_ns:[%.1f %.1f]",
		   before->name, things(before) / runs[0], things(after) / runs[1],
		   before->total_ns / runs[0], after->total_ns / runs[1], change->mean_ns[0],
		   change->mean_ns[1]);
	if (before->count && after->count) {
		json_print(json, "mean_change:%.6f", change->of_mean);
		if (change->margin >= 0)
			json_print(json, "mean_margin:%.6f", change->margin);
		json_print(json, "median_change:%.6f confidence:%.9f", change->of_median,
			   change->confidence);
	}
	json_print(json, "verdict:%s}", verdicts[change->verdict]);
}

static void print_json(struct json *json, const struct changes *changes)
{
	const struct summary_section *section = changes->section;
	const unsigned top = changes->how->top;

	json_print(json, "{stream:%s kind:%s title:%s total_ns:[%lu %lu] rows:[", section->stream,
		   section->kind, section->title, changes->total_ns[0], changes->total_ns[1]);
	for (size_t i = 0; i < changes->count && (!top || i < top); i++)
		print_json_row(json, changes, &changes->rows[i]);
	json_print(json, "]}");
}

/* ---- both ---- */

static void print_titles(FILE *file, struct json *json, const struct summary_difference *how,
			 int side)
{
	const char *key = side ? "after" : "before";
	const bool several = how->json && how->count[side] > 1;

	if (several)
		json_array(json, key);
	for (size_t i = 0; i < how->count[side]; i++) {
		if (how->json)
			json_text(json, several ? NULL : key, how->titles[side][i]);
		else
			fprintf(file, "%s%s", i ? " " : side ? " -> " : "", how->titles[side][i]);
	}
	if (several)
		json_end(json);
}

/* Both sides, each with its runs together; the first has all sections and rows of the other, too. 0, or -1. */
static int merge_sides(struct summary *sides[2], const struct summary_difference *how)
{
	for (int i = 0; i < 2; i++) {
		sides[i] = summary_create();
		for (size_t k = 0; sides[i] && k < how->count[i]; k++)
			if (summary_merge_sections(sides[i], how->runs[i][k], false))
				return -1;
	}
	return sides[0] && sides[1] ? summary_merge_sections(sides[0], sides[1], true) : -1;
}

static int print_sections(FILE *file, struct json *json, struct summary *sides[2],
			  const struct summary_difference *how)
{
	size_t rows = 0;
	int slower = 0;

	for (const struct summary_section *s = sides[0]->sections; s; s = s->next)
		rows += !how->only || !strcmp(how->only, s->kind) ? s->groups.count : 0;
	for (struct summary_section *s = sides[0]->sections; s; s = s->next) {
		struct summary_section *const both[] = {
			s, summary_section(sides[1], s->stream, s->kind, s->title)};
		struct changes changes = {.how = how, .section = s, .of_all = rows};

		if (how->only && strcmp(how->only, s->kind) != 0)
			continue;
		if (!both[1] || find_changes(both, &changes))
			return -1;
		if (how->json)
			print_json(json, &changes);
		else
			print_text(file, &changes);
		slower += changes.slower;
	}
	return slower;
}

int summary_print_difference(FILE *file, const struct summary_difference *how)
{
	static const char single[] =
		"\n(one run a side does not tell how much runs vary: give several, such as\n"
		"rtl diff A1 A2 A3 -- B1 B2 B3)\n";
	struct json json = {.file = file};
	struct summary *sides[2] = {NULL, NULL};
	int slower = -1;

	if (how->json)
		json_object(&json, NULL);
	print_titles(file, &json, how, 0);
	print_titles(file, &json, how, 1);
	if (how->json)
		json_array(&json, "sections");
	else
		fputs(how->count[0] + how->count[1] > 2 ? "\n" : single, file);
	if (!merge_sides(sides, how))
		slower = print_sections(file, &json, sides, how);
	if (how->json)
		json_print(&json, "]}");
	summary_destroy(sides[0]);
	summary_destroy(sides[1]);
	return slower;
}
